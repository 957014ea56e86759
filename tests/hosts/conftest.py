"""What the tests of the hosts share: a GitHub that remembers, a job on it, and no waiting."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from stand_in import API, PULL_REQUEST, REPOSITORY, TOKEN, GitHub


@pytest.fixture
def waits(monkeypatch):
    """The seconds that were waited, none of them for real."""
    waited = []
    monkeypatch.setattr("gateline.hosts._http.Client.__init__.__kwdefaults__", {"pause": waited.append})
    return waited


@pytest.fixture
def github(waits):
    return GitHub()


@pytest.fixture
def environment(tmp_path):
    """The variables of a job for pull request 7."""
    event = tmp_path / "event.json"
    event.write_text(json.dumps(PULL_REQUEST), encoding="utf-8")
    files = {name: tmp_path / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for path in files.values():
        path.touch()
    return {
        "GITHUB_ACTIONS": "true", "GITHUB_API_URL": API, "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": REPOSITORY, "GITHUB_RUN_ID": "4242", "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event), "GATELINE_TOKEN": TOKEN, **{name: str(path) for name, path in files.items()},
    }  # fmt: skip
