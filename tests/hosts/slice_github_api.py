"""Cuts GitHub's own OpenAPI description down to the calls that gateline makes, for the tests of the host.

    npm install @octokit/openapi
    python tests/hosts/slice_github_api.py node_modules/@octokit/openapi/generated/api.github.com.json

Texts, examples and everything that no validator reads is left out. Licence of the description: MIT, see data/README.md.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

CALLS = {
    "/repos/{owner}/{repo}/issues/{issue_number}/comments": ["get", "post"],
    "/repos/{owner}/{repo}/issues/comments/{comment_id}": ["patch", "delete"],
    "/repos/{owner}/{repo}/contents/{path}": ["get"],
    "/repos/{owner}/{repo}/actions/artifacts": ["get"],
    "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}": ["get"],
    "/repos/{owner}/{repo}/actions/runs/{run_id}": ["get"],
    "/repos/{owner}/{repo}/git/commits/{commit_sha}": ["get"],
    "/repos/{owner}/{repo}/pulls": ["get"],
    "/user": ["get"],
}
TEXTS = {
    "description",
    "summary",
    "example",
    "examples",
    "externalDocs",
    "title",
    "tags",
    "x-github",
    "x-webhooks",
}
SLICE = Path(__file__).parent / "data" / "github-api.json"


def shorten(value, holds_names=False, holds_responses=False):
    """Leave texts out; in an object whose keys are names, such as properties, every key stays."""
    if isinstance(value, list):
        return [shorten(item) for item in value]
    if not isinstance(value, dict):
        return value
    names = ("properties", "schemas", "headers", "responses", "parameters")
    shortened = {
        key: shorten(item, key in names, key == "responses")
        for key, item in value.items()
        if holds_names or key not in TEXTS
    }
    if holds_responses:  # a response without any description is not one
        return {
            key: item if "$ref" in item else {"description": "", **item} for key, item in shortened.items()
        }
    return shortened


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def follow(description, reference):
    for part in reference.removeprefix("#/").split("/"):
        description = description[part.replace("~1", "/").replace("~0", "~")]
    return description


def cut(description):
    paths = {
        path: {
            key: shorten(item)
            for key, item in description["paths"][path].items()
            if key in [*methods, "parameters"]
        }
        for path, methods in CALLS.items()
    }
    components, open_ones = {}, list(references(paths))
    while open_ones:
        reference = open_ones.pop()
        _, _, kind, name = reference.split("/", 3)
        if name not in components.setdefault(kind, {}):
            components[kind].update(
                shorten({name: follow(description, reference)}, True, kind == "responses")
            )
            open_ones += references(components[kind][name])
    info = {
        "title": "GitHub",
        "version": description["info"]["version"],
        "license": description["info"]["license"],
    }
    return {"openapi": description["openapi"], "info": info, "servers": [{"url": "https://api.github.com"}],
            "paths": paths,
            "components": {kind: dict(sorted(part.items())) for kind, part in components.items()}}  # fmt: skip


if __name__ == "__main__":
    whole = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    SLICE.write_text(json.dumps(cut(whole), separators=(",", ":"), sort_keys=False) + "\n", encoding="utf-8")
    print(f"{SLICE.name}: {SLICE.stat().st_size:,} bytes")
