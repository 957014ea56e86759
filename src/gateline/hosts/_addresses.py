"""Addresses of APIs: taken apart and put together, and what can't be one is trouble of the host, no fault of ours."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from gateline.errors import HostError


def quoted(text: str, kept: str = "") -> str:
    """Return a text as one part of a path, slashes included unless they are `kept`.

    A file's name in bytes that are no UTF-8 goes as these bytes. Raises HostError where a text can't be sent.
    """
    try:
        return quote(text, safe=kept, errors="surrogateescape")
    except UnicodeEncodeError:
        raise HostError("a text with half a character can't be asked for") from None


def split_address(url: str) -> SplitResult | None:
    """Return the parts of a web address; None for what is none, such as one with a port that can't be."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        url.encode("ascii")
    except ValueError:
        return None
    return parts if known and url.isprintable() and " " not in url else None


def encoded_query(query: Mapping[str, str | int]) -> str:
    """Return what stands behind the question mark. Raises HostError where a text can't be sent."""
    try:
        return urlencode(query)
    except UnicodeEncodeError:
        raise HostError("a text with half a character can't be asked for") from None


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Return scheme, server and port of a web address: what may see a token is one of these."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def place_of(method: str, url: str) -> str:
    """Return the request without its query: the address of a download carries its own secret there."""
    return f"{method} {urlsplit(url).path}"
