"""When a request is sent again, and after how long: pure, from the reply's status and headers.

GitHub: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
GitLab: https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateline.hosts._http import Reply

MOST_TRIES = 3
"""Of one request, the first included."""
_WITHOUT_ADVICE = 60.0
"""Seconds that GitHub asks for where a limit was hit and no header says how long."""
_SIGNS = (b"rate limit", b"abuse detection")


def seconds_to_wait(reply: Reply | None, attempt: int, now: float) -> float | None:
    """Return how long to wait before sending a request again, or None where that would not help.

    `reply` is None where no answer came. `attempt` counts from 1; `now` is seconds since 1970.
    """
    if reply is None:
        return float(2 ** (attempt - 1))
    if is_limited(reply):
        advised = _advised(reply, now)
        return _WITHOUT_ADVICE if advised is None and reply.status == 403 else advised or float(2**attempt)
    if reply.status >= 500 or reply.status == 408:
        advised = _advised(reply, now)
        return float(2 ** (attempt - 1)) if advised is None else advised
    return None


def is_limited(reply: Reply) -> bool:
    """Return whether the server did nothing because it was asked too often.

    GitHub answers 429, or 403 with signs in the headers or the text; a plain 403 is a lack of rights.
    """
    if reply.status == 429:
        return True
    if reply.status != 403:
        return False
    if "retry-after" in reply.headers or reply.headers.get("x-ratelimit-remaining") == "0":
        return True
    return any(sign in reply.body[:2000].lower() for sign in _SIGNS)


def _advised(reply: Reply, now: float) -> float | None:
    """Return the seconds that the headers ask to wait; None where they don't say."""
    after = reply.headers.get("retry-after", "").strip()
    if after.isdecimal():
        return float(after)
    if after:
        until = _read_date(after)
        if until is not None:
            return max(0.0, until - now)
    if reply.headers.get("x-ratelimit-remaining", "0") == "0":
        reset = (reply.headers.get("x-ratelimit-reset") or reply.headers.get("ratelimit-reset") or "").strip()
        if reset.isdecimal():
            # the reset is a whole second, so a little later is surely after it
            return max(0.0, float(reset) - math.floor(now)) + 0.5
    return None


def _read_date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
