"""What the tests with containers share: an engine, the image built from this tree, a checkout, a GitHub to talk to.

Unset, GATELINE_CONTAINER_TESTS uses an engine that is at hand; `try` starts one where there is none and it can; both
skip with the reason where nothing helps. 1 is `try` that fails with the reason. 0 skips without asking.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "hosts"))

from engine import NoEngineError, answers, build, docker, engine, make_base
from prism import prism_program, validating
from running import IMAGE, OWNER, ROOT
from stand_in import GitHub, serving

__all__ = ["prism_program"]

WANTED = os.environ.get("GATELINE_CONTAINER_TESTS", "")  # read now: each test's environment is a clean one
BASE = "python:3.13-slim-bookworm"


def give_up(reason):
    if WANTED == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def engine_name():
    """The engine, by how it was found: at hand, or started for these tests."""
    if WANTED == "0":
        pytest.skip("GATELINE_CONTAINER_TESTS=0")
    if not answers()[0]:
        if WANTED == "":
            pytest.skip(
                f"no Docker engine ({answers()[1]}); GATELINE_CONTAINER_TESTS=1 starts one where that can be done"
            )
        if os.environ.get("PYTEST_XDIST_WORKER"):
            give_up("an engine of its own is started by one process only: run these tests with -n 0")
    try:
        with engine() as name:
            yield name
    except NoEngineError as error:
        give_up(str(error))


@pytest.fixture(scope="session")
def base(engine_name, request):
    """The image that ours is built from."""
    with _only_one(request):
        try:
            make_base(BASE, request.config.cache.mkdir("base-image"))
        except NoEngineError as error:
            give_up(str(error))
    return BASE


@pytest.fixture(scope="session")
def image(base, request):
    """The image, built once: of several test processes the first builds, the others find its layers."""
    with _only_one(request):
        built = build(ROOT, IMAGE, check=False)
    if built.returncode:
        pytest.fail(built.stderr.strip()[-1500:])
    return IMAGE


def _only_one(request):
    """Return a lock that is held until it is closed."""
    lock = (Path(request.config.cache.mkdir("base-image")) / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


@pytest.fixture
def workspace(image, tmp_path):
    """A checkout that belongs to an ordinary user, as on a runner."""
    folder = tmp_path / "workspace"
    shutil.copytree(ROOT / "gates", folder / "gates")
    (folder / "reports").mkdir()
    give_to_owner(folder)
    return folder


def give_to_owner(folder):
    if os.geteuid() == 0:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, OWNER, OWNER)


@pytest.fixture
def github(tmp_path, request):
    """A GitHub that remembers, on a port of this machine; behind GitHub's own description where prism is there."""
    hub = GitHub()
    try:
        program = request.getfixturevalue("prism_program")
    except pytest.skip.Exception:
        program = None
    with serving(hub) as address:
        hub.base = hub.direct = address
        if program is None:
            yield hub
            return
        with validating(program, hub, address, tmp_path / "prism.log"):
            yield hub


@pytest.fixture
def bridge(engine_name):
    """Whether containers have a network of their own here."""
    return "bridge" in docker("network", "ls", "--format", "{{.Name}}").stdout.split()
