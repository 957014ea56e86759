"""gateline as a process: pipes that close, full disks, closed streams, sudden ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateline.__main__ import main
from runs import TOLERANCE, write_gate

PASS, FAIL = "a*60 1>1", "a*30 1>1 b*30 1>0"
GATE = "check --policy policy.yml --baseline baseline.jsonl --candidate candidate.jsonl"
GATELINE = f"{sys.executable} -m gateline"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and signals of a POSIX shell")


def shell(folder: Path, line: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        check=False,
    )


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    return write_gate(tmp_path, FAIL, TOLERANCE)


@pytest.fixture
def passing(tmp_path: Path) -> Path:
    return write_gate(tmp_path, PASS, TOLERANCE)


def test_the_process_ends_with_the_exit_code_of_the_verdict(failing: Path) -> None:
    done = shell(failing, f"{GATELINE} {GATE}")
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.endswith(b"\n")


@pytest.mark.parametrize("reader", ["head -n 1", "true", "head -c 1"])
def test_a_reader_that_stops_early_changes_no_exit_code_and_is_no_trouble(failing: Path, reader: str) -> None:
    done = shell(failing, f"{GATELINE} {GATE} --format json | {reader}")
    assert done.returncode == 1
    assert done.stderr == b""


@pytest.mark.parametrize("command", ["--help", "schema", "schema verdict"])
def test_help_into_a_closed_pipe_is_no_trouble(tmp_path: Path, command: str) -> None:
    done = shell(tmp_path, f"{GATELINE} {command} | true")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_report_that_finds_no_room_is_no_pass(passing: Path) -> None:
    done = shell(passing, f"{GATELINE} {GATE} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == b"gateline: the report could not be printed: No space left on device\n"
    for command in ("schema", "lint policy.yml", "explain policy.yml", "inspect baseline.jsonl"):
        assert shell(passing, f"{GATELINE} {command} > /dev/full").returncode == 2


def test_a_fail_stays_a_fail_where_the_report_finds_no_room(failing: Path) -> None:
    assert shell(failing, f"{GATELINE} {GATE} > /dev/full").returncode == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_closed_streams_change_nothing(failing: Path, closed: str) -> None:
    done = shell(failing, f"{GATELINE} {GATE} --output-dir out {closed}")
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert json.loads((failing / "out" / "verdict.json").read_text())["verdict"] == "fail"


def test_no_colour_in_a_pipe_and_colour_on_demand(failing: Path) -> None:
    assert b"\x1b[" not in shell(failing, f"{GATELINE} {GATE}").stdout
    assert b"\x1b[" in shell(failing, f"{GATELINE} {GATE}", FORCE_COLOR="1").stdout
    assert b"\x1b[" not in shell(failing, f"{GATELINE} {GATE}", FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_utf8_keeps_every_sign_of_a_number(failing: Path, encoding: str) -> None:
    """A loss must not lose its minus: each sign of a report is the same or has a plain one in its place."""
    plain = {"−": "-", "≤": "<=", "≥": ">=", "→": "->"}
    whole = shell(failing, f"{GATELINE} {GATE} -v").stdout.decode("utf-8")
    done = shell(failing, f"{GATELINE} {GATE} -v", PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C")
    assert (done.returncode, done.stderr) == (1, b"")
    shown = done.stdout.decode(encoding)
    assert "?" not in shown
    assert any(sign in whole for sign in plain)
    for sign, instead in plain.items():
        assert shown.count(instead) >= whole.count(sign)


def test_a_sign_that_nothing_stands_for_is_a_question_mark_and_no_error(failing: Path) -> None:
    done = shell(
        failing, f"{GATELINE} {GATE} --lang zh", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C"
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"?" in done.stdout


def test_a_file_whose_name_is_no_utf8_is_told_and_no_crash(failing: Path) -> None:
    name = b"\xff\xfe.jsonl"
    (failing / os.fsdecode(name)).write_bytes((failing / "candidate.jsonl").read_bytes())
    arguments = [part.encode() for part in f"{GATELINE} {GATE} --output-dir out".split()]
    arguments[arguments.index(b"candidate.jsonl")] = name
    done = subprocess.run(arguments, cwd=failing, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    json.loads((failing / "out" / "verdict.json").read_bytes().decode("utf-8"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_kill_at_any_time_leaves_each_report_as_it_was_or_as_it_will_be(
    failing: Path, number: signal.Signals
) -> None:
    """Killed at many moments: under each name stands the old text or the new one, never none and never a part."""
    old, new = _reports_of_two_days(failing)
    for child in _started_again_and_again(failing, number):
        assert child.returncode in (-number, 1)
        for name, text in old.items():
            assert (failing / "out" / name).read_bytes() in (text, new[name])


def test_an_interrupted_run_says_so_and_leaves_no_report_of_an_earlier_run_alone(failing: Path) -> None:
    """Who stops a run by Ctrl-C is answered: what stands there afterwards is new or gone."""
    _, new = _reports_of_two_days(failing)
    for child in _started_again_and_again(failing, signal.SIGINT):
        for name in new if child.returncode == 2 else ():
            path = failing / "out" / name
            assert not path.exists() or path.read_bytes() == new[name]


def _reports_of_two_days(folder: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    reports = []
    for day, name in (("2026-01-01", "out"), ("2026-01-02", "new")):
        assert shell(folder, f"{GATELINE} {GATE} --on {day} --output-dir {name}").returncode == 1
        reports.append({path.name: path.read_bytes() for path in (folder / name).iterdir()})
    return reports[0], reports[1]


def _started_again_and_again(folder: Path, number: signal.Signals) -> Iterator[subprocess.Popen[bytes]]:
    """Run the gate of the second day over the files of the first, ended by a signal at ever later moments."""
    started = time.monotonic()
    shell(folder, f"{GATELINE} {GATE} --on 2026-01-02")
    whole = time.monotonic() - started
    for share in (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05):
        shell(folder, f"{GATELINE} {GATE} --on 2026-01-01 --output-dir out")
        child = subprocess.Popen(
            f"{GATELINE} {GATE} --on 2026-01-02 --output-dir out".split(),
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(whole * share)
        child.send_signal(number)
        child.wait()
        yield child


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the C library by its Linux name")
@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["check"], 2)])
def test_a_library_that_aborts_at_the_end_of_the_process_does_not_change_its_code(
    arguments: list[str], code: int
) -> None:
    """Threads of C++ that still stand then do so now and then; here, the C library is told to abort each time."""
    script = (
        "import ctypes, sys\n"
        "from gateline.__main__ import main, start\n"
        "library = ctypes.CDLL(None)\n"
        "library.__cxa_atexit(ctypes.cast(library.abort, ctypes.c_void_p), None, None)\n"
        f"sys.argv = ['gateline', *{arguments!r}]\n"
    )
    ends = [
        subprocess.run([sys.executable, "-c", script + last], capture_output=True, text=True, check=False)
        for last in ("start()", "sys.exit(main())")
    ]
    assert [one.returncode for one in ends] == [code, -signal.SIGABRT]
    assert ends[0].stdout == ends[1].stdout
    assert ends[0].stderr == ends[1].stderr


def test_the_entry_point_is_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["gateline", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("gateline ")
