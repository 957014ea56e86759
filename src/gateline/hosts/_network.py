"""The real transport: urllib with the system's certificates and the proxies of the environment.

It follows no redirect and gives up no status to an exception: what to do with a reply is the client's business.
"""

from __future__ import annotations

import ssl
import threading
import time
import urllib.request
from http.client import HTTPResponse
from queue import Empty, SimpleQueue
from typing import cast

import gateline.hosts._http as http
from gateline.errors import HostError

SECONDS_OF_SILENCE = 20.0
"""GitHub ends a request after ten seconds itself."""
SECONDS_IN_ALL = 120.0
"""From the look-up of the server's name to the last byte."""


class Network:
    """Sends requests over the network."""

    def __init__(self, certificates: str | None = None):
        """Take a file of further authorities to trust, as self-managed GitLab names one in CI_SERVER_TLS_CA_FILE."""
        context = ssl.create_default_context()
        if certificates:
            try:
                context.load_verify_locations(certificates)
            except OSError as error:
                raise HostError(
                    f"the certificates can't be read: {error.strerror or error}", certificates
                ) from None
        self._opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(),
            urllib.request.HTTPHandler(),
            urllib.request.HTTPSHandler(context=context),
            urllib.request.UnknownHandler(),
        ):
            self._opener.add_handler(handler)

    def __call__(self, request: http.Request) -> http.Reply:
        """Return the reply. Raises OSError where none came, HostError where it is longer than `request.most`.

        A server that sends a byte now and then is never silent, so the whole is bounded from outside: the thread that
        waits for it is left alone after `SECONDS_IN_ALL`, and ends with its next byte or with the process.
        """
        ended: SimpleQueue[http.Reply | Exception] = SimpleQueue()
        deadline = time.monotonic() + SECONDS_IN_ALL
        threading.Thread(target=lambda: ended.put(self._outcome(request, deadline)), daemon=True).start()
        try:
            outcome = ended.get(timeout=SECONDS_IN_ALL)
        except Empty:
            raise TimeoutError from None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _outcome(self, request: http.Request, deadline: float) -> http.Reply | Exception:
        """Return the reply, or the OSError or HostError that says why there is none."""
        try:
            return self._send(request, deadline)
        except (OSError, HostError) as error:
            return error
        except Exception as error:  # addresses, headers and proxies that can't be are no fault of ours
            return ConnectionError(type(error).__name__)

    def _send(self, request: http.Request, deadline: float) -> http.Reply:
        asked = urllib.request.Request(request.url, data=request.body, method=request.method)
        for name, value in request.headers.items():
            # unredirected: should anything ever follow a redirect, the token stays here
            asked.add_unredirected_header(name, value)
        with cast("HTTPResponse", self._opener.open(asked, timeout=SECONDS_OF_SILENCE)) as answer:
            body = _read(answer, request.most, deadline)
            headers = {name.lower(): value for name, value in answer.headers.items()}
            return http.Reply(answer.status, headers, body)


def _read(answer: HTTPResponse, most: int, deadline: float) -> bytes:
    """Return the body, read until its end, a size or a time that is too late."""
    parts, size = [], 0
    while part := answer.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > most:
            raise HostError(f"the answer is longer than {most:,} bytes, so it was not read")
        if time.monotonic() > deadline:
            raise TimeoutError
    if answer.length:
        # reading in parts ends quietly where the connection does; half an answer is none
        raise ConnectionError(f"it broke off {answer.length:,} bytes early")
    return b"".join(parts)
