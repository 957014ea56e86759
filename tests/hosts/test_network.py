"""The real transport, against real servers on this machine: every status is a reply, no redirect of its own, bounds."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time

import pytest
from stand_in import TOKEN, serving

from gateline.errors import HostError
from gateline.hosts._http import Client, RefusedError, Reply, Request, Secret
from gateline.hosts._network import Network


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def ask(base, **options):
    return Client(base, {}, ("PRIVATE-TOKEN: {}", Secret(TOKEN)), Network(), pause=lambda _: None, **options)


@pytest.mark.parametrize("status", [200, 201, 302, 403, 404, 422, 429, 500])
def test_every_status_is_a_reply(status):
    with serving(lambda _: Reply(status, {"X-Thing": "a"}, b"{}")) as address:
        reply = Network()(Request("GET", f"{address}/x", {}))
    assert (reply.status, reply.headers["x-thing"], reply.body) == (status, "a", b"{}")


def test_what_is_sent_arrives():
    seen = []

    def answer(request):
        seen.append(request)
        return Reply(201, {}, b'{"id": 1}')

    with serving(answer) as address:
        assert ask(address).write("POST", "/x", {"body": "ä`€"}) == {"id": 1}
    headers = {name.lower(): value for name, value in seen[0].headers.items()}
    assert (seen[0].method, seen[0].body.decode()) == ("POST", '{"body": "ä`€"}')
    assert headers["private-token"] == TOKEN
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"].startswith("gateline/")


def test_a_real_redirect_to_another_host_carries_no_token():
    seen = []

    def store(request):
        seen.append(request)
        return Reply(200, {}, b"zip")

    with (
        serving(store) as elsewhere,
        serving(lambda _: Reply(302, {"location": f"{elsewhere}/z?sig=1"}, b"")) as address,
    ):
        assert ask(address).get("/zip").body == b"zip"
    assert TOKEN not in str(dict(seen[0].headers))


def test_a_longer_answer_than_wanted_is_refused():
    with serving(lambda _: Reply(200, {}, b"x" * 100_000)) as address:
        assert len(ask(address).get("/x", most=100_000).body) == 100_000
        with pytest.raises(HostError, match="longer than 99,999 bytes"):
            ask(address).get("/x", most=99_999)


def test_a_server_that_is_silent_or_gone_is_told(monkeypatch):
    monkeypatch.setattr("gateline.hosts._network.SECONDS_OF_SILENCE", 0.1)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(HostError, match=r"no answer .time-out"),
    ):
        ask(f"http://127.0.0.1:{silent.getsockname()[1]}").read("/x")
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with pytest.raises(HostError, match=r"no answer .Connection refused"):
        ask(f"http://127.0.0.1:{port}").read("/x")


@pytest.mark.parametrize(
    "said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"]
)
def test_a_server_that_breaks_off_is_told(said):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def talk():
            for _ in range(3):
                client, _ = server.accept()
                with client:
                    client.recv(10_000)
                    client.sendall(said)

        thread = threading.Thread(target=talk, daemon=True)
        thread.start()
        with pytest.raises(HostError, match="no answer"):
            ask(f"http://127.0.0.1:{server.getsockname()[1]}").read("/x")
        thread.join(5)


def dripping(head, drop):
    """A server that is never silent: it sends a drop every 20 ms until nobody listens any more."""
    server = socket.create_server(("127.0.0.1", 0))

    def talk():
        with server:
            while True:
                client, _ = server.accept()
                with client, contextlib.suppress(OSError):
                    client.recv(10_000)
                    client.sendall(head)
                    while True:
                        client.sendall(drop)
                        time.sleep(0.02)

    threading.Thread(target=talk, daemon=True).start()
    return f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nx: ", b"y"),
        (b"", b"H"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
def test_a_server_that_never_ends_is_left(monkeypatch, head, drop):
    """Wherever in its answer it drips; and what was waited in vain is not waited three times."""
    monkeypatch.setattr("gateline.hosts._network.SECONDS_IN_ALL", 0.2)
    monkeypatch.setattr("gateline.hosts._http.PATIENCE", 0.1)
    address = dripping(head, drop)
    asked = []

    def network(request):
        asked.append(request)
        return Network()(request)

    with pytest.raises(HostError, match="no answer"):
        Client(address, {}, None, network, pause=lambda _: None).read("/x")
    assert len(asked) == 1


@pytest.mark.parametrize(
    "url", ["http://[", "http://x:abc/", "nonsense", "http://h/\x00", "http://127.0.0.1:99999/"]
)
@pytest.mark.parametrize("proxy", [None, "user:word@@@::", "http://["])
def test_what_is_no_address_is_no_answer(monkeypatch, url, proxy):
    if proxy:
        monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(OSError) as raised:
        Network()(Request("GET", url, {}))
    assert "word" not in str(raised.value)


def test_the_environment_s_proxy_is_used(monkeypatch):
    seen = []

    def proxy(request):
        seen.append(request.url)
        return Reply(200, {}, b"{}")

    with serving(proxy) as address:
        monkeypatch.setenv("http_proxy", address)
        ask("http://git.example").read("/user")
        assert seen == [f"{address}http://git.example/user"]
        monkeypatch.setenv("no_proxy", "git.example")
        with pytest.raises(HostError, match="no answer"):
            ask("http://git.example").read("/user")


def test_certificates_of_one_s_own(tmp_path):
    with pytest.raises(HostError, match="can't be read"):
        Network(str(tmp_path / "none.pem"))
    (tmp_path / "bad.pem").write_text("no certificate")
    with pytest.raises(HostError, match="can't be read"):
        Network(str(tmp_path / "bad.pem"))


def test_a_refusal_is_told_with_its_reason():
    with (
        serving(lambda _: Reply(422, {}, b'{"message": "Validation Failed"}')) as address,
        pytest.raises(RefusedError, match="POST /x answered 422: Validation Failed"),
    ):
        ask(address).write("POST", "/x", {})


def test_nothing_of_the_network_is_loaded_before_it_is_needed():
    code = (
        "import sys; import gateline.cli.job; from gateline.hosts import find_host;"
        "find_host({'GITHUB_ACTIONS': 'true'});"
        "print([name for name in ('urllib.request', 'ssl', 'http.client') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
