"""Work that is shared out comes back whole and in order, and no process outlives the one that started it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateline.doctor.processes import share_out
from gateline.errors import InputError

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def square(number: int) -> int:
    time.sleep(0.02 if number % 3 == 0 else 0.0)
    return number * number


def fail_at_four(number: int) -> int:
    if number == 4:
        raise ValueError("four")
    return number


def die_at_four(number: int) -> int:
    if number == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def tell_process(_: int) -> tuple[int, bool]:
    return os.getpid(), signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.parametrize("processes", [1, 2, 3, 50])
@pytest.mark.parametrize("parts", [0, 1, 2, 23])
def test_results_come_in_the_order_of_the_parts(processes: int, parts: int) -> None:
    assert list(share_out(square, range(parts), processes)) == [number * number for number in range(parts)]
    assert multiprocessing.active_children() == []


def test_what_goes_wrong_in_a_process_is_raised_after_what_went_well() -> None:
    found: Iterator[int] = share_out(fail_at_four, range(9), 2)
    seen = []
    with pytest.raises(ValueError, match="four"):
        seen.extend(found)
    assert seen == list(range(len(seen)))
    assert multiprocessing.active_children() == []


@POSIX
def test_a_process_that_is_ended_from_outside_is_an_error_and_nobody_waits_for_it() -> None:
    with pytest.raises(InputError, match="ended before it was done"):
        list(share_out(die_at_four, range(9), 2))
    assert multiprocessing.active_children() == []


def test_who_stops_listening_ends_the_processes() -> None:
    found: Iterator[int] = share_out(square, range(1_000), 2)
    assert next(found) == 0
    assert len(multiprocessing.active_children()) == 2
    found.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []


@POSIX
def test_an_interrupt_is_for_the_one_that_started_them() -> None:
    told = list(share_out(tell_process, range(6), 2))
    assert os.getpid() not in {process for process, _ in told}
    assert all(ignores for _, ignores in told)


SCRIPT = """
import os, sys, time
from pathlib import Path
from gateline.doctor.processes import share_out

def work(number):
    Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(0.1)

for number, _ in enumerate(share_out(work, range(100_000), 2)):
    if number == 3:
        print("working", flush=True)
"""


@POSIX
@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("whole_group", [True, False])
def test_whatever_ends_the_one_that_started_them_ends_all(
    tmp_path: Path, ended_by: signal.Signals, whole_group: bool
) -> None:
    script, seen = tmp_path / "script.py", tmp_path / "seen"
    script.write_text(SCRIPT)
    seen.mkdir()
    with subprocess.Popen(
        [sys.executable, script, seen],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"working\n"
        os.killpg(started.pid, ended_by) if whole_group else os.kill(started.pid, ended_by)
        assert started.wait(60) != 0
    processes = [int(path.name) for path in seen.iterdir()]
    assert len(processes) == 2
    until = time.monotonic() + 60
    while any(map(_is_running, processes)):
        assert time.monotonic() < until, "a process goes on"
        time.sleep(0.05)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")
