"""One small HTTP client for the hosts' APIs: bounded retries, bounded answers, and tokens that are never shown.

The standard library is enough for the few calls that are made: PyGithub, python-gitlab, httpx or requests would each
cost more to import (0.08 to 0.24 s of CPU) than a whole `gateline --help`. It knows nothing of comments or verdicts.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

import gateline
from gateline.errors import HostError
from gateline.hosts._addresses import encoded_query, origin_of, place_of, split_address
from gateline.hosts._waiting import MOST_TRIES, is_limited, seconds_to_wait

MOST_BYTES = 32 * 1024 * 1024
"""Of one answer of an API."""
PATIENCE = 60.0
"""Seconds that one client waits in all before it tries again."""
_MOST_REDIRECTS = 5
_MOST_PAGES = 300
_MOST_OF_REASON = 200


class Secret:
    """A token: it can be sent, and it is not shown by printing, formatting or a traceback."""

    __slots__ = ("_text",)

    def __init__(self, text: str):
        """Take the token's text. Raises HostError where it can't be sent in a header, without showing it."""
        text = text.strip()
        if not text or not text.isascii() or not text.isprintable() or " " in text:
            raise HostError("the token is not one word of plain characters, so it can't be sent")
        self._text = text

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def sent_as(self, pattern: str) -> str:
        """Return the header's value: the token in the place of `{}`."""
        return pattern.format(self._text)

    def hidden_in(self, text: str) -> str:
        """Return a text in which the token is replaced, should a server have repeated it."""
        return text.replace(self._text, "…")


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    """Holds the token, so it is not shown."""
    body: bytes | None = None
    most: int = MOST_BYTES
    """Bytes of the answer that are read at most."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes = field(repr=False)


class Transport(Protocol):
    """Sends one request. Raises OSError where no answer came, HostError where it is too large."""

    def __call__(self, request: Request) -> Reply:
        """Return the reply, whatever its status."""


class RefusedError(HostError):
    """The server answered, and the answer is no."""

    def __init__(self, message: str, status: int):
        """Take the message, and the HTTP status."""
        super().__init__(message)
        self.status = status


class UnclearError(HostError):
    """Something was to be written and no clear answer came: it may have been done all the same."""


class Client:
    """Speaks with one API. Sends the token to that API's own address only."""

    def __init__(
        self,
        base: str,
        headers: Mapping[str, str],
        token: tuple[str, Secret] | None,
        transport: Transport,
        *,
        pause: Callable[[float], None] = time.sleep,
    ):
        """Take the API's address, headers for each request, and (`Name: Bearer {}`, secret) for the token."""
        parts = split_address(base)
        plain = parts is not None and not (parts.username or parts.password or parts.query or parts.fragment)
        if not plain:
            # only the server's name is shown: anything else may be a token in the wrong place
            server = f": {parts.hostname}" if parts is not None else ""
            raise HostError(f"the API's address is not a plain http or https address{server}")
        self._base = base.rstrip("/")
        self._headers = {"User-Agent": f"gateline/{gateline.__version__}", **headers}
        self._token = token
        self._transport = transport
        self._pause = pause
        self._patience = PATIENCE

    def read(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:
        """Return the JSON at a path."""
        return self._json(self.get(path, query), path)

    def read_object(self, path: str) -> Mapping[str, Any]:
        """Return the JSON object at a path. Raises HostError also where it is none."""
        content = self.read(path)
        if not isinstance(content, dict):
            raise HostError(f"{place_of('GET', path)} answered with something that is no JSON object")
        return content

    def get(
        self,
        path: str,
        query: Mapping[str, str | int] | None = None,
        *,
        accept: str = "",
        most: int = MOST_BYTES,
    ) -> Reply:
        """Return the reply at a path, after redirects. Raises RefusedError, or HostError where none came."""
        headers = {**self._headers, **({"Accept": accept} if accept else {})}
        url = self._base + path + (f"?{encoded_query(query)}" if query else "")
        for _ in range(_MOST_REDIRECTS):
            reply = self._try(Request("GET", url, self._signed(url, headers), most=most), repeatable=True)
            if reply.status not in (301, 302, 303, 307, 308):
                return self._accepted(reply, "GET", url)
            url = self._next_url(url, reply)
        raise HostError(f"{place_of('GET', url)} was redirected more than {_MOST_REDIRECTS} times")

    def pages(self, path: str, query: Mapping[str, str | int], each: int = 100) -> Iterator[Any]:
        """Yield the JSON of every page, one after the other.

        Pages are counted rather than followed by the answer's links, which may name another host. Raises HostError
        where any page fails: half a list is worse than none.
        """
        page = 1
        while page:
            if page > _MOST_PAGES:
                raise HostError(f"{place_of('GET', path)} has more than {_MOST_PAGES} pages")
            reply = self.get(path, {**query, "per_page": each, "page": page})
            content = self._json(reply, path)
            yield content
            page = _next_page(reply, page, content, each)

    def write(self, method: str, path: str, data: Mapping[str, Any] | None = None) -> Any:
        """Send JSON and return the JSON that comes back, or None where nothing does.

        What can be repeated without harm is; a POST is repeated only where the server said that it did nothing. Raises
        RefusedError, or UnclearError where a POST may have been done.
        """
        url = self._base + path
        body = None if data is None else json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")
        headers = dict(self._headers) | ({"Content-Type": "application/json"} if body is not None else {})
        request = Request(method, url, self._signed(url, headers), body)
        reply = self._accepted(self._try(request, repeatable=method != "POST"), method, url)
        return self._json(reply, path) if reply.body.strip() else None

    def _try(self, request: Request, *, repeatable: bool) -> Reply:
        """Send a request, again after a while where that may help; return the last reply."""
        place = place_of(request.method, request.url)
        for attempt in range(1, MOST_TRIES + 1):
            begun = time.monotonic()
            try:
                reply = self._transport(request)
            except OSError as error:
                # what was waited for in vain is waited, or else a server that never ends would hold each request
                self._patience -= time.monotonic() - begun
                said = f"{place}: no answer ({self._hidden(_reason_of(error))})"
                wait = seconds_to_wait(None, attempt, time.time()) if repeatable else None
                failure: HostError = HostError(said) if repeatable else UnclearError(said)
            else:
                wait = seconds_to_wait(reply, attempt, time.time())
                if wait is None:
                    return reply
                if not repeatable and not is_limited(reply):
                    raise UnclearError(self._said(reply, place))
                failure = RefusedError(self._said(reply, place), reply.status)
            if wait is None or attempt == MOST_TRIES or wait > self._patience:
                raise failure
            self._patience -= wait
            self._pause(wait)
        raise AssertionError("the last try returns or raises")

    def _signed(self, url: str, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers with the token, or without everything that is ours where the address is another host's."""
        if origin_of(url) != origin_of(self._base):
            return {"User-Agent": headers["User-Agent"]}
        if self._token is None:
            return dict(headers)
        name, _, pattern = self._token[0].partition(": ")
        return {**headers, name: self._token[1].sent_as(pattern)}

    def _next_url(self, url: str, reply: Reply) -> str:
        try:
            target = urljoin(url, reply.headers.get("location", ""))
        except ValueError:
            target = ""
        after = split_address(target)
        if after is None:
            raise HostError(f"{place_of('GET', url)} was redirected to no web address")
        if (urlsplit(url).scheme, after.scheme) == ("https", "http"):
            raise HostError(
                f"{place_of('GET', url)} was redirected from https to http, which is not followed"
            )
        return target

    def _accepted(self, reply: Reply, method: str, url: str) -> Reply:
        if 200 <= reply.status < 300:
            return reply
        raise RefusedError(self._said(reply, place_of(method, url)), reply.status)

    def _said(self, reply: Reply, place: str) -> str:
        """Return `GET /path answered 403: the server's own reason`."""
        reason = self._hidden(_reason_in(reply.body))
        return f"{place} answered {reply.status}" + (f": {reason[:_MOST_OF_REASON]}" if reason else "")

    def _hidden(self, text: str) -> str:
        return text if self._token is None else self._token[1].hidden_in(text)

    @staticmethod
    def _json(reply: Reply, path: str) -> Any:
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError):
            raise HostError(f"{place_of('GET', path)} answered with something that is not JSON") from None


def _next_page(reply: Reply, page: int, content: object, each: int) -> int:
    """Return the number of the next page, or 0 after the last.

    GitLab says it in X-Next-Page, GitHub in Link; where neither is there, a full page may have a next one.
    https://docs.gitlab.com/api/rest/#offset-based-pagination
    https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
    """
    told = reply.headers.get("x-next-page")
    if told is not None:
        return page + 1 if told.strip() else 0
    link = reply.headers.get("link")
    if link is not None:
        return page + 1 if 'rel="next"' in link else 0
    items = content if isinstance(content, list) else []
    return page + 1 if len(items) >= each else 0


def _reason_in(body: bytes) -> str:
    """Return on one line what an answer gives as its reason; empty where it is not JSON that gives one."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(content, dict):
        return ""
    parts = [content.get("message") or content.get("error"), content.get("errors")]
    texts = [
        part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in parts if part
    ]
    return " ".join(" ".join(texts).split())


def _reason_of(error: OSError) -> str:
    """Return why no answer came, without what a proxy said of its own: it may repeat its password."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return "time-out"
    if refused := re.match(r"Tunnel connection failed: (\d{3})", str(reason)):
        return f"the proxy answered {refused[1]}"
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return " ".join(str(text).split())[:_MOST_OF_REASON]
