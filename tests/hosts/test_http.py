"""The client of the hosts' APIs: when it tries again, whom it shows the token, and what it never says."""

from __future__ import annotations

import contextlib
import traceback
import urllib.error
import urllib.parse

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stand_in import TOKEN

from gateline.errors import HostError
from gateline.hosts._addresses import quoted
from gateline.hosts._http import Client, RefusedError, Reply, Request, Secret, UnclearError
from gateline.hosts._waiting import seconds_to_wait

BASE = "https://git.example/api/v3/"
NOW = 1_700_000_000.0


class Answers:
    """Gives one answer after the other and keeps what was asked."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []

    def __call__(self, request: Request) -> Reply:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def client(*answers, base=BASE):
    waited = []
    transport = Answers(*answers)
    made = Client(
        base, {"X-Ours": "1"}, ("Authorization: Bearer {}", Secret(TOKEN)), transport, pause=waited.append
    )
    return made, transport, waited


def reply(status, body=b"{}", **headers):
    return Reply(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


# --- when a request is sent again


@pytest.mark.parametrize(
    ("answer", "wait"),
    [
        (reply(200), None),
        (
            reply(
                403, b'{"message": "Resource not accessible by integration"}', x_ratelimit_remaining="4999"
            ),
            None,
        ),
        (reply(404), None),
        (reply(422), None),
        (reply(429, retry_after="7"), 7),
        (reply(429), 2),
        (reply(403, retry_after="3"), 3),
        (reply(403, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(NOW) + 30)), 30.5),
        (
            reply(
                403, b'{"message": "You have exceeded a secondary rate limit."}', x_ratelimit_remaining="50"
            ),
            60,
        ),
        (reply(429, ratelimit_reset=str(int(NOW) + 5)), 5.5),
        (reply(503, retry_after="Tue, 14 Nov 2023 22:13:30 GMT"), 10),
        (reply(503, retry_after="soon"), 1),
        (reply(502), 1),
        (None, 1),
    ],
)
def test_only_what_may_pass_is_tried_again_and_after_the_time_that_was_asked_for(answer, wait):
    assert seconds_to_wait(answer, 1, NOW) == wait


def test_a_limit_is_waited_out():
    one, transport, waited = client(reply(429, retry_after="2"), reply(200, b'{"a": 1}'))
    assert one.read("/user") == {"a": 1}
    assert (len(transport.requests), waited) == (2, [2])


def test_trouble_that_stays_is_told_after_three_tries():
    one, transport, waited = client(*[reply(502, b'{"message": "bad gateway"}')] * 9)
    with pytest.raises(RefusedError, match="GET /api/v3/user answered 502: bad gateway"):
        one.read("/user")
    assert (len(transport.requests), waited) == (3, [1, 2])


def test_a_wait_longer_than_the_patience_is_not_begun():
    one, transport, waited = client(*[reply(403, retry_after="3600")] * 3)
    with pytest.raises(RefusedError, match="403"):
        one.write("POST", "/x", {})
    assert (len(transport.requests), waited) == (1, [])


def test_the_patience_is_for_all_requests_together():
    one, _, waited = client(*[reply(429, retry_after="25"), reply(200)] * 5)
    one.read("/a")
    one.read("/b")
    with pytest.raises(RefusedError):
        one.read("/c")
    assert waited == [25, 25]


@pytest.mark.parametrize(
    "lost", [TimeoutError("timed out"), ConnectionResetError(104, "reset"), reply(502), reply(504)]
)
def test_a_post_without_a_clear_answer_is_not_sent_again(lost):
    one, transport, _ = client(lost, reply(201))
    with pytest.raises(UnclearError):
        one.write("POST", "/x", {"body": "b"})
    assert len(transport.requests) == 1
    again, transport, _ = client(lost, reply(200))
    again.write("PATCH", "/x", {"body": "b"})
    assert len(transport.requests) == 2


def test_a_post_that_was_surely_not_done_is_sent_again():
    one, transport, _ = client(
        reply(429, retry_after="1"), reply(403, retry_after="1"), reply(201, b'{"id": 5}')
    )
    assert one.write("POST", "/x", {"body": "b"}) == {"id": 5}
    assert len(transport.requests) == 3


def test_no_answer_names_the_reason():
    one, _, _ = client(*[TimeoutError()] * 3)
    with pytest.raises(HostError, match=r"GET /api/v3/x: no answer \(time-out\)"):
        one.read("/x")


# --- pages


@pytest.mark.parametrize(
    ("first", "pages"),
    [
        (reply(200, b"[1]", x_next_page="2"), 2),
        (reply(200, b"[1]", x_next_page=""), 1),
        (reply(200, b"[1]", link='<https://elsewhere.example/?page=2>; rel="next"'), 2),
        (reply(200, b"[1]", link='<https://git.example/?page=1>; rel="prev"'), 1),
        (reply(200, b"[1]"), 1),
        (reply(200, b"[" + b"1," * 99 + b"1]"), 2),
    ],
)
def test_pages_are_followed_to_the_end_on_this_host_only(first, pages):
    one, transport, _ = client(first, reply(200, b"[]"))
    assert len(list(one.pages("/list", {"sort": "asc"}))) == pages
    assert all(
        request.url.startswith("https://git.example/api/v3/list?sort=asc&") for request in transport.requests
    )
    assert [f"page={number + 1}" in request.url for number, request in enumerate(transport.requests)] == [
        True
    ] * pages


def test_endless_pages_end():
    class Endless(Answers):
        def __call__(self, request):
            return reply(200, b"[1]", x_next_page="2")

    one = Client(BASE, {}, None, Endless(), pause=lambda _: None)
    with pytest.raises(HostError, match="more than 300 pages"):
        list(one.pages("/list", {}))


# --- the token


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("https://git.example/api/v3/other", True),
        ("/api/v3/other", True),
        ("https://git.example:8443/x", False),
        ("https://store.example/x?sig=1", False),
        ("https://git.example.evil.example/x", False),
    ],
)
def test_a_redirect_takes_the_token_to_no_other_host(target, told):
    one, transport, _ = client(reply(302, location=target), reply(200))
    one.get("/zip")
    first, second = transport.requests
    assert "Authorization" in first.headers
    assert ("Authorization" in second.headers, "X-Ours" in second.headers) == (told, told)


def test_no_redirect_leads_from_https_to_http_or_round_and_round():
    one, _, _ = client(reply(302, location="http://git.example/x"))
    with pytest.raises(HostError, match="from https to http"):
        one.get("/zip")
    one, _, _ = client(*[reply(302, location="/again")] * 9)
    with pytest.raises(HostError, match="redirected more than 5 times"):
        one.get("/zip")
    one, _, _ = client(reply(301, location="file:///etc/passwd"))
    with pytest.raises(HostError, match="to no web address"):
        one.get("/zip")


def test_a_write_is_not_redirected():
    one, transport, _ = client(reply(307, location="https://store.example/x"))
    with pytest.raises(RefusedError, match="307"):
        one.write("PATCH", "/x", {})
    assert len(transport.requests) == 1


def test_the_token_is_in_no_text_that_python_makes_of_these():
    secret = Secret(TOKEN)
    request = Request("GET", BASE, {"Authorization": f"Bearer {TOKEN}"})
    assert TOKEN not in f"{secret} {secret!r} {request!r} {[secret]} {reply(200, TOKEN.encode())!r}"


@given(before=st.text(max_size=30), after=st.text(max_size=30), status=st.sampled_from([401, 403, 422, 500]))
def test_a_server_that_repeats_the_token_does_not_make_us_say_it(before, after, status):
    import json

    body = json.dumps({"message": f"{before}{TOKEN}{after}", "errors": [TOKEN]}).encode()
    one, _, _ = client(*[reply(status, body)] * 3)
    with pytest.raises(HostError) as raised:
        one.read("/user")
    assert TOKEN not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("text", ["", "  ", "two words", "line\nbreak", "tab\there", "ключ", "a\x00b"])
def test_a_token_that_no_header_can_hold_is_refused_without_being_shown(text):
    with pytest.raises(HostError, match="plain characters") as raised:
        Secret(text)
    assert not text.strip() or text not in str(raised.value)


def test_a_line_break_after_the_token_does_no_harm():
    assert Secret(f"{TOKEN}\n").sent_as("Bearer {}") == f"Bearer {TOKEN}"


# --- addresses and answers


@pytest.mark.parametrize("base", ["https://git.example/api/v3/", "https://git.example/api/v3"])
def test_the_path_of_the_address_stays_with_or_without_a_last_slash(base):
    one, transport, _ = client(reply(200), base=base)
    one.read("/user", {"a": "b c"})
    assert transport.requests[0].url == "https://git.example/api/v3/user?a=b+c"


@pytest.mark.parametrize(
    "base", ["ftp://x.example", "file:///etc", "https://user:word@x.example", "x.example", ""]
)
def test_an_address_that_is_no_plain_web_address_is_refused(base):
    with pytest.raises(HostError, match="not a plain http or https address") as raised:
        client(base=base)
    assert "word" not in str(raised.value)


PIECES = st.lists(
    st.sampled_from(
        ["http:", "https:", "//", "/", "[", "]", "::1", "x.example", ":", "abc", "99999", "0", "-1", "@", "?", "#", "%",
         "file:", "\x00", " ", "\n", "\ud800", "ü", "𝓰", "℀", ""]
    ), max_size=6,
).map("".join)  # fmt: skip


@given(location=PIECES)
@example(location="http://[")
@example(location="http://x:abc/")
@example(location="http://127.0.0.1:99999/")
def test_wherever_a_redirect_leads_it_is_followed_or_trouble_of_the_host(location):
    one, transport, _ = client(reply(302, location=location), reply(200))
    try:
        one.get("/zip")
    except HostError as error:
        assert "redirected" in str(error)
        assert len(transport.requests) == 1
    else:
        assert transport.requests[1].url.startswith(("http://", "https://"))


@given(base=PIECES)
@example(base="http://[::1")
@example(base="http://h:port/")
def test_whatever_the_address_is_it_can_be_asked_or_is_trouble_of_the_host(base):
    with contextlib.suppress(HostError):
        one, transport, _ = client(reply(200), base=base)
        one.read("/user")
        assert transport.requests[0].url.startswith(("http://", "https://"))


@pytest.mark.parametrize(
    "base", ["user:{}@host/api", "https:u:{}@h", "http://u:{}@h", "http://{}@h", "http://h/?t={}", "http://h/#{}",
             "{}", "http://{}\n/", "ftp://u:{}@h/"],
)  # fmt: skip
def test_an_address_with_a_token_in_it_is_refused_without_being_shown(base):
    with pytest.raises(HostError) as raised:
        client(base=base.format("SECRET-word-0123"))
    assert "secret-word" not in str(raised.value).lower()


@pytest.mark.parametrize(
    "error",
    [
        OSError(f"Tunnel connection failed: 407 Proxy {TOKEN}"),
        urllib.error.URLError(OSError(f"Tunnel connection failed: 407 Password1 {TOKEN}")),
        OSError(f"odd {TOKEN} Password1"[:40]),
    ],
)
def test_what_a_proxy_repeats_is_not_said(error):
    one, _, _ = client(*[error] * 3)
    with pytest.raises(HostError, match="no answer") as raised:
        one.read("/user")
    assert TOKEN not in str(raised.value)
    assert "Password1" not in str(raised.value)


@given(path=st.text(max_size=8), query=st.text(max_size=8))
@example(path="a\ud800", query="b\ud800")
@example(path=b"n\xe4me.yml".decode("utf-8", "surrogateescape"), query="")
def test_a_text_is_asked_for_or_is_trouble_of_the_host(path, query):
    with contextlib.suppress(HostError):
        one, transport, _ = client(reply(200))
        one.read(f"/x/{quoted(path)}", {"ref": query})
        told = urllib.parse.urlsplit(transport.requests[0].url)
        name = told.path.removeprefix("/api/v3/x/")
        assert urllib.parse.unquote_to_bytes(name) == path.encode("utf-8", "surrogateescape")
        assert urllib.parse.parse_qs(told.query, keep_blank_values=True) == {"ref": [query]}


@pytest.mark.parametrize("body", [b"<html>sign in</html>", b"", b"[" * 100_000])
def test_an_answer_that_is_not_json_is_told(body):
    one, _, _ = client(reply(200, body))
    with pytest.raises(HostError, match="not JSON"):
        one.read("/user")


def test_a_long_or_odd_reason_is_cut_to_one_line():
    one, _, _ = client(reply(400, b'{"message": {"note": ["is too long\\n(maximum is 1000000)"]}}'))
    with pytest.raises(RefusedError, match=r"answered 400: .*too long") as raised:
        one.write("POST", "/x", {})
    assert "\n" not in str(raised.value)
    one, _, _ = client(reply(400, b'{"message": "' + b"x" * 10_000 + b'"}'))
    with pytest.raises(RefusedError) as raised:
        one.write("POST", "/x", {})
    assert len(str(raised.value)) < 300


def test_a_text_with_half_a_character_can_be_sent():
    one, transport, _ = client(reply(201))
    one.write("POST", "/x", {"body": "a\ud800b"})
    assert transport.requests[0].body.decode("utf-8") == '{"body": "a?b"}'
