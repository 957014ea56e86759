"""Files are whole or not there, and readable by all; streams that are gone end nothing."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.cli import output, run
from gateline.cli.output import print_problems, wants_colour, write_together, write_whole
from gateline.errors import InputError, PolicyError, Problem


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000])
def test_files_and_folders_are_readable_by_all_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_whole(tmp_path / "a" / "b" / "c.txt", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "b" / "c.txt").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o755


def test_an_older_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_text("an older and longer text")
    path.chmod(0o600)
    write_whole(path, "new\n")
    assert path.read_bytes() == b"new\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_symbolic_link_in_the_output_folder_is_replaced_and_not_followed(tmp_path: Path) -> None:
    """A pull request may bring a link; what it points at must not be written over."""
    (tmp_path / "precious").write_text("keep")
    (tmp_path / "verdict.json").symlink_to(tmp_path / "precious")
    write_together({tmp_path / "verdict.json": "new"})
    assert (tmp_path / "precious").read_text() == "keep"
    assert not (tmp_path / "verdict.json").is_symlink()


def test_a_lone_surrogate_does_not_stop_a_file(tmp_path: Path) -> None:
    write_whole(tmp_path / "c.txt", "id \ud800 here")
    assert (tmp_path / "c.txt").read_text() == "id ? here"


def test_where_a_file_cannot_be_written_the_others_are_not_either(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").write_text("old")
    with pytest.raises(InputError) as raised:
        write_together({tmp_path / "a": "new", tmp_path / "b": "new", tmp_path / "c": "new"})
    assert str(raised.value) == (
        f"{tmp_path / 'b'}: can't be written: Is a directory  (give another --output-dir or --output)"
    )
    assert (tmp_path / "a").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_folder_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="can't be written: Not a directory"):
        write_whole(tmp_path / "file" / "x" / "c.txt", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_folders_made_for_nothing_are_taken_away_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output.tempfile, "mkstemp", refuse)
    with pytest.raises(InputError, match="No space left on device"):
        write_whole(tmp_path / "a" / "b" / "c.txt", "text")
    assert list(tmp_path.iterdir()) == []


@given(st.integers(0, 2))
def test_a_stop_at_any_rename_leaves_each_file_old_or_new(stop: int) -> None:
    """Renaming is the only step that changes what stands under a name."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / letter for letter in "abc"]
        for path in paths:
            path.write_text("old")
        real, done = Path.replace, []

        def replace(self: Path, target: Path) -> Path:
            if len(done) == stop:
                raise KeyboardInterrupt
            done.append(target)
            return real(self, target)

        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Path, "replace", replace)
            write_together(dict.fromkeys(paths, "new and whole"))
        assert [path.read_text() for path in paths] == ["new and whole"] * stop + ["old"] * (3 - stop)


def test_what_is_no_file_is_written_to_and_not_replaced(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_whole(Path("/dev/stdout"), "straight out\n")
    assert capfd.readouterr().out == "straight out\n"
    assert Path("/dev/stdout").is_symlink()
    link = tmp_path / "device"  # by a link, so that a fault here costs no machine its device
    link.symlink_to(os.devnull)
    write_together({link: b"gone", tmp_path / "file": "kept"})
    assert link.is_symlink()
    assert stat.S_ISCHR(link.stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["device", "file"]


@pytest.mark.parametrize(
    ("environment", "is_terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_says_otherwise(
    environment: dict[str, str], is_terminal: bool, wanted: bool
) -> None:
    assert wants_colour(environment, is_terminal) is wanted


def test_one_problem_is_one_line_and_many_have_a_headline(capsys: pytest.CaptureFixture[str]) -> None:
    print_problems(InputError("is wrong", "f:1", "mend it"))
    print_problems(
        PolicyError("in p.yml", problems=[Problem("a", "p.yml:1"), Problem("b\nforged", "p.yml:2")])
    )
    print_problems(PolicyError("two things", problems=[Problem("a"), Problem("b")]))
    assert capsys.readouterr().err == (
        "gateline: no verdict: f:1: is wrong  (mend it)\n"
        "gateline: no verdict: 2 problems in p.yml\n  p.yml:1: a\n  p.yml:2: b⏎forged\n"
        "gateline: no verdict: 2 problems: two things\n  a\n  b\n"
    )


POLICY_WITH_PROBLEMS = """\
version: 1
name: x
metrics:
  a: {better: lwer}
rules:
  - {kind: limit, metric: a, at_moost: 3}
"""


def on_terminal(command: list[str], columns: int) -> str:
    """Run a command with all its streams on a terminal of so many columns and return what stands there."""
    import fcntl
    import pty
    import struct
    import subprocess
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")
    }
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, "NO_COLOR": "1"}
    )
    os.close(theirs)
    read = b""
    with contextlib.suppress(OSError):  # a terminal that nobody has open any more ends so
        while piece := os.read(ours, 65536):
            read += piece
    process.wait()
    os.close(ours)
    return read.decode().replace("\r\n", "\n")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.parametrize("columns", [40, 60, 100, 300])
@pytest.mark.parametrize("command", ["lint", "check"])
def test_errors_are_set_into_lines_on_a_terminal_and_stay_whole_elsewhere(
    tmp_path: Path, columns: int, command: str
) -> None:
    """The same words in the same order; in a pipe each problem is one line, which editors and scripts read."""
    import subprocess

    policy = tmp_path / "p.yml"
    policy.write_text(POLICY_WITH_PROBLEMS, encoding="utf-8")
    runs = ["--policy", str(policy), "--baseline", "b.jsonl", "--candidate", "c.jsonl"]
    asked = [sys.executable, "-m", "gateline", command, *(runs if command == "check" else [str(policy)])]
    shown = on_terminal(asked, columns)
    longest_word = max(map(len, shown.split()))
    assert max(map(len, shown.splitlines())) <= max(columns, longest_word + 4)
    piped = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert piped.returncode == 2
    assert len(piped.stderr.splitlines()) == 3
    assert piped.stderr.split() == shown.split()


@pytest.mark.parametrize("count", [49, 50, 51, 405])
@pytest.mark.parametrize("command", ["lint", "explain", "check", "check --format json"])
def test_of_very_many_problems_the_first_are_shown_and_the_rest_counted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    count: int,
    command: str,
) -> None:
    """A terminal and a job's log stay readable; -v and the verdict as JSON have them all."""
    rules = "".join(f"  - {{kind: limit, metric: a, at_moost: {number}}}\n" for number in range(count))
    text = f"version: 1\nname: x\nmetrics:\n  a: {{better: higher}}\nrules:\n{rules}"
    (tmp_path / "p.yml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    name, *options = command.split()
    asked = [
        name,
        *options,
        *(["--policy", "p.yml", "--baseline", "b", "--candidate", "c"] if name == "check" else []),
    ]
    asked += [] if name == "check" else ["p.yml"]
    told = []
    for verbosity in ([], ["-v"]):
        assert run([*asked, *verbosity]) == 2
        out, err = capsys.readouterr()
        told.append(err)
        if "json" in command:
            assert len(json.loads(out)["problems"]) == count
    assert told[0].count("at_moost") == 2 * min(count, 50)  # each line names the path and the field
    assert ("and 355 more" in told[0]) == (count == 405)
    assert ("more" in told[0]) == (count > 50)
    if "json" not in command:
        assert told[1].count("at_moost") == 2 * count
