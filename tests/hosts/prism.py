"""prism as a proxy that holds every request and answer against GitHub's own description, and names what is wrong."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from node import NotThereError, find_program
from stand_in import RAW

SLICE = Path(__file__).parent / "data" / "github-api.json"


@pytest.fixture(scope="session")
def prism_program(request):
    """The program, installed for the tests where npm is there."""
    try:
        return find_program("@stoplight/prism-cli", "5.14.2", "prism", request.config.cache.mkdir("npm"))
    except NotThereError as error:
        pytest.skip(f"prism is not here: {error}")


def with_raw_files():
    """Return the description with what it does not say of files: their bytes as they are, and folders.

    GitHub's server takes a path with folders, but a template of OpenAPI matches no slash.
    """
    whole = json.loads(SLICE.read_text(encoding="utf-8"))
    path = "/repos/{owner}/{repo}/contents/{path}"
    flat = whole["paths"][path]
    flat["get"]["responses"]["200"]["content"] = {
        RAW["content-type"].partition(";")[0]: {"schema": {"type": "string"}}
    }
    nested = json.loads(json.dumps(flat))
    nested["get"]["parameters"].append(
        {"name": "folder", "in": "path", "required": True, "schema": {"type": "string"}}
    )
    nested["get"]["operationId"] += "-in-a-folder"
    whole["paths"][path.replace("{path}", "{folder}/{path}")] = nested
    return json.dumps(whole)


@contextmanager
def validating(program, github, upstream, log):
    """Put prism between a client and a stand-in that is served at `upstream`; `github.base` is its address then."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    github.base = f"http://127.0.0.1:{port}"
    described = log.with_suffix(".json")
    described.write_text(with_raw_files(), encoding="utf-8")
    with log.open("w") as lines:
        child = subprocess.Popen(
            [program, "proxy", "--errors", "-h", "127.0.0.1", "-p", str(port), str(described), upstream],
            stdout=lines,
            stderr=lines,
        )
        try:
            for _ in range(300):
                if child.poll() is not None:
                    pytest.fail(log.read_text())
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.1)
            yield
        finally:
            child.terminate()
            child.wait(10)
