"""A GitHub that remembers: comments, pull requests, runs, artifacts and files, with the failures that a test asks for.

It answers in-process as a transport, or over HTTP. Its replies have every field that GitHub's own description requires.
"""

from __future__ import annotations

import io
import json
import re
import threading
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from gateline.hosts._http import Reply, Request

REPOSITORY = "acme/rag-app"
API = "https://api.github.example"
STORE = "https://store.example"
TOKEN = "ghs_a-token-for-tests-0123456789"
PULL_REQUEST = {
    "number": 7,
    "pull_request": {
        "number": 7,
        "head": {"sha": "a" * 40, "ref": "feature", "repo": {"full_name": REPOSITORY}},
        "base": {"sha": "b" * 40, "ref": "main", "repo": {"full_name": REPOSITORY}},
    },
    "repository": {"full_name": REPOSITORY},
}


RAW = {"content-type": "application/vnd.github.v3.raw; charset=utf-8"}


def user(login, kind="User"):
    names = ("avatar_url", "url", "html_url", "followers_url", "following_url", "gists_url", "starred_url",
             "subscriptions_url", "organizations_url", "repos_url", "events_url", "received_events_url")  # fmt: skip
    return {
        "login": login, "id": 1, "node_id": "U_1", "gravatar_id": "", "type": kind, "site_admin": False,
        **dict.fromkeys(names, f"{API}/users/x"),
    }  # fmt: skip


def account(login):
    """Return what a token's own user is told of itself."""
    empty = dict.fromkeys(("name", "company", "blog", "location", "email", "hireable", "bio"))
    counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
    return {
        **user(login),
        **empty,
        **counts,
        "created_at": "2026-01-05T10:00:00Z",
        "updated_at": "2026-01-05T10:00:00Z",
    }


@cache
def description():
    """Return GitHub's own description of the calls that gateline makes."""
    return json.loads((Path(__file__).parent / "data" / "github-api.json").read_text(encoding="utf-8"))


def filled(schema, values):
    """Return the smallest value that a schema of the description allows, with `values` laid over its parts."""
    if "$ref" in schema:
        return filled(description()["components"]["schemas"][schema["$ref"].rpartition("/")[2]], values)
    if schema.get("nullable") and values is None:
        return None
    for whole in ("allOf", "anyOf", "oneOf"):
        if whole in schema:
            return filled(schema[whole][0], values)
    if schema.get("type") == "object" or "properties" in schema:
        parts, given = schema.get("properties", {}), values or {}
        named = [
            *schema.get("required", []),
            *(name for name in given if name not in schema.get("required", [])),
        ]
        return {name: filled(parts.get(name, {}), given.get(name)) for name in named}
    if values is not None:
        return values
    if "enum" in schema:
        return schema["enum"][0]
    text = {"date-time": "2026-01-05T10:00:00Z", "uri": f"{API}/x"}.get(schema.get("format"), "x")
    return {"string": text, "integer": 1, "number": 1, "boolean": False, "array": []}.get(schema.get("type"))


def zipped(**files):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


@dataclass
class GitHub:
    """The stand-in. `me` is the token's user; an app's token has none and writes as github-actions[bot]."""

    me: str | None = None
    repository: str = REPOSITORY
    number: int = 7
    """Of the pull request."""
    may_write: bool = True
    comments: list[dict] = field(default_factory=list)
    pulls: list[dict] = field(default_factory=list)
    artifacts: list[dict] = field(default_factory=list)
    zips: dict[int, bytes] = field(default_factory=dict)
    runs: dict[int, dict] = field(default_factory=dict)
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    """Of commits."""
    log: list[tuple[str, str]] = field(default_factory=list)
    tokens_seen_by: set[str] = field(default_factory=set)
    trouble: list = field(default_factory=list)
    """Replies, or errors to raise, that are used up one after the other by the requests that `when` picks."""
    when: str = ""
    done_before_trouble: bool = False
    """Whether the request is carried out all the same, and only its answer is lost."""
    base: str = API
    direct: str = API
    """Its own address, where `base` is that of something before it."""
    store: str = STORE
    next_id: int = 1000

    def __call__(self, request: Request) -> Reply:
        """Be a transport."""
        parts = urlsplit(request.url)
        place = f"{request.method} {parts.path}"
        self.log.append((request.method, parts.path))
        if any(TOKEN in value for value in request.headers.values()):
            self.tokens_seen_by.add(f"{parts.scheme}://{parts.netloc}")
        picked = self.trouble and re.search(self.when, place)
        if picked and not self.done_before_trouble:
            return self._fail()
        reply = self._answer(
            request.method, parts.path, dict(parse_qsl(parts.query)), request.body, parts.netloc
        )
        return self._fail() if picked else reply

    def _fail(self):
        trouble = self.trouble.pop(0)
        if isinstance(trouble, Exception):
            raise trouble
        return trouble

    def add_comment(self, body, login="github-actions[bot]", kind="Bot"):
        self.next_id += 1
        number = self.next_id
        self.comments.append({
            "id": number, "node_id": f"IC_{number}", "url": f"{API}/x", "html_url": f"https://github.example/{number}",
            "body": body, "user": user(login, kind), "created_at": "2026-01-05T10:00:00Z", "issue_url": f"{API}/x",
            "updated_at": "2026-01-05T10:00:00Z", "author_association": "NONE",
        })  # fmt: skip
        return self.comments[-1]

    def add_artifact(
        self,
        name,
        content,
        *,
        branch="main",
        fork=False,
        conclusion="success",
        event="push",
        day="2026-01-05",
    ):
        self.next_id += 1
        number, run = self.next_id, self.next_id + 50_000
        self.artifacts.append({
            "id": number, "node_id": "A", "name": name, "size_in_bytes": len(content), "url": f"{API}/x",
            "expired": False,
            "archive_download_url": f"{API}/x", "created_at": f"{day}T10:00:00Z", "expires_at": f"{day}T10:00:00Z",
            "updated_at": f"{day}T10:00:00Z", "digest": None,
            "workflow_run": {"id": run, "repository_id": 7, "head_repository_id": 8 if fork else 7,
                             "head_branch": branch,
                             "head_sha": f"{number:040x}"},
        })  # fmt: skip
        self.zips[number] = content
        run_facts = {"id": run, "conclusion": conclusion, "event": event, "head_sha": f"{number:040x}"}
        self.runs[run] = filled({"$ref": "#/components/schemas/workflow-run"}, run_facts)
        return number

    def add_pull(self, number, commit, repository, branch):
        owner = repository.partition("/")[0]
        head = {"label": f"{owner}:{branch}", "ref": branch, "sha": commit, "repo": {"full_name": repository}}
        facts = {"number": number, "state": "open", "head": head}
        self.pulls.append(filled({"$ref": "#/components/schemas/pull-request-simple"}, facts))

    def _answer(self, method, path, query, body, host):
        kept = urlsplit(self.store)  # on another host, or in a test with one server in a folder of its own
        if path.startswith(f"{kept.path}/") if kept.path else kept.netloc == host:
            return Reply(200, {}, self.zips[int(path.rpartition("/")[2])])
        path = path.removeprefix(urlsplit(self.base).path)
        data = json.loads(body) if body else {}
        root = f"/repos/{self.repository}"
        if path == "/user":
            return (
                self._said(403, "Resource not accessible by integration")
                if self.me is None
                else _json(200, account(self.me))
            )
        if re.fullmatch(rf"{root}/issues/{self.number}/comments", path):
            return self._page(self.comments, query) if method == "GET" else self._add(data)
        if found := re.fullmatch(rf"{root}/issues/comments/(\d+)", path):
            return self._change(method, int(found[1]), data)
        if path == f"{root}/pulls":
            return self._page([one for one in self.pulls if one["head"]["label"] == query["head"]], query)
        if path == f"{root}/actions/artifacts":
            named = [one for one in self.artifacts if one["name"] == query.get("name")]
            return self._page(named, query, lambda part: {"total_count": len(named), "artifacts": part})
        if found := re.fullmatch(rf"{root}/actions/artifacts/(\d+)/zip", path):
            return Reply(302, {"location": f"{self.store}/{found[1]}?sig=secret"}, b"")
        if found := re.fullmatch(rf"{root}/actions/runs/(\d+)", path):
            return _json(200, self.runs[int(found[1])])
        if (found := re.fullmatch(rf"{root}/git/commits/(.+)", path)) and found[1] in self.parents:
            parents = [
                {"sha": one, "url": f"{API}/x", "html_url": f"{API}/x"} for one in self.parents[found[1]]
            ]
            return _json(
                200,
                filled({"$ref": "#/components/schemas/git-commit"}, {"sha": found[1], "parents": parents}),
            )
        if found := re.fullmatch(rf"{root}/contents/(.+)", path):
            commit, place = query.get("ref", ""), unquote(found[1])
            content = self.files.get((commit, place))
            if content is not None:
                return Reply(200, RAW, content)
            inside = [
                name
                for at, name in self.files
                if at == commit and name.rpartition("/")[0] == place.rstrip("/")
            ]
            entries = [{"type": "file", "name": name.rpartition("/")[2], "path": name} for name in inside]
            return _json(200, entries) if entries else self._said(404, "Not Found")
        return self._said(404, "Not Found")

    def _page(self, items, query, wrap=list):
        each, page = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        more = page * each < len(items)
        headers = {"link": f'<{self.base}/?page={page + 1}>; rel="next"'} if more else {}
        return _json(200, wrap(items[(page - 1) * each : page * each]), headers)

    def _add(self, data):
        if not self.may_write:
            return self._said(
                403, "Resource not accessible by integration", {"x-ratelimit-remaining": "4999"}
            )
        if len(data["body"]) > 65_536:
            return self._said(422, "Validation Failed")
        login = self.me or "github-actions[bot]"
        return _json(201, self.add_comment(data["body"], login, "User" if self.me else "Bot"))

    def _change(self, method, number, data):
        if not self.may_write:
            return self._said(403, "Resource not accessible by integration")
        found = [one for one in self.comments if one["id"] == number]
        if not found:
            return self._said(404, "Not Found")
        if method == "DELETE":
            self.comments.remove(found[0])
            return Reply(204, {}, b"")
        found[0]["body"] = data["body"]
        return _json(200, found[0])

    @staticmethod
    def _said(status, message, headers=None):
        said = {"message": message, "documentation_url": "https://docs.github.example", "status": str(status)}
        return _json(status, said, headers)

    def bodies(self):
        return [one["body"] for one in self.comments]


def _json(status, value, headers=None):
    return Reply(status, {"content-type": "application/json", **(headers or {})}, json.dumps(value).encode())


@contextmanager
def serving(transport):
    """Serve a transport over HTTP on a free port of this machine; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def _go(self):
            size = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(size) if size else None
            reply = transport(Request(self.command, f"{address}{self.path}", dict(self.headers), body))
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.status != 204:
                self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _go  # noqa: N815  (the server's names)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
