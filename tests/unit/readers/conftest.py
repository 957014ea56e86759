from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gateline.errors import InputError
from gateline.readers import read_run
from gateline.samples import Run

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of the given name and content (text as UTF-8), and return its path."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def read(write: Write) -> Callable[..., Run]:
    """Write a file and read it as a run."""

    def read_content(name: str, content: str | bytes, **options: str) -> Run:
        return read_run(write(name, content), **options)

    return read_content


@pytest.fixture
def refuse(write: Write) -> Callable[..., list[str]]:
    """Write a file that must be refused, and return the problems as `file:line: message  (hint)`."""

    def refuse_content(name: str, content: str | bytes, **options: str) -> list[str]:
        path = write(name, content)
        with pytest.raises(InputError) as caught:
            read_run(path, **options)
        return [str(problem).replace(str(path), name) for problem in caught.value.problems]

    return refuse_content


@pytest.fixture(params=["orjson", "json"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read once with orjson and once as if it were not installed."""
    if request.param == "json":
        monkeypatch.setitem(__import__("sys").modules, "orjson", None)
    else:
        pytest.importorskip("orjson")
    return str(request.param)
