"""What all tests share: a clean environment, so that a CI host's variables change nothing, and no deadlines."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("no deadline", deadline=None)  # a busy machine is no fault
settings.load_profile("no deadline")

_READ_BY_GATELINE = re.compile(r"GATELINE_|GITHUB_|GITLAB_|CI$|CI_|NO_COLOR$|FORCE_COLOR$|COLUMNS$|TERM$")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away every variable that gateline reads."""
    for name in list(os.environ):
        if _READ_BY_GATELINE.match(name):
            monkeypatch.delenv(name)
