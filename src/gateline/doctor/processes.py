"""Work shared out over processes that end with the one that started them, however that ends.

It knows nothing of what the work is. The pools of the standard library share queues, whose locks a process that is
ended may hold for ever; here each process has a pipe of its own, so that any can be ended at any time.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from gateline.errors import InputError

Part = TypeVar("Part")
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Helper:
    """A process, and the pipe to it."""

    process: BaseProcess
    pipe: Connection


def share_out(work: Callable[[Part], Result], parts: Sequence[Part], processes: int) -> Iterator[Result]:
    """Return what the work makes of each part, in the order of the parts.

    Whatever ends the caller, Ctrl-C among it, ends the processes too. What goes wrong in one is raised here;
    InputError where one was ended from outside.
    """
    helpers: list[_Helper] = []
    try:
        with _interrupts_held():
            helpers.extend(_start(work) for _ in range(min(processes, len(parts))))
        yield from _collect([helper.pipe for helper in helpers], parts)
    finally:
        for helper in helpers:
            helper.pipe.close()
            helper.process.terminate()
            helper.process.join()


def _collect(pipes: Sequence[Connection], parts: Sequence[Any]) -> Iterator[Any]:
    """Give each process a part at a time, and return the results in their order."""
    numbers = iter(range(len(parts)))
    busy: dict[Connection, int] = {}
    done: dict[int, Any] = {}

    def give(pipe: Connection) -> None:
        number = next(numbers, None)
        if number is not None:
            busy[pipe] = number
            with suppress(OSError):  # one that is gone is noticed where its result is missed
                pipe.send(parts[number])

    for pipe in pipes:
        give(pipe)
    for number in range(len(parts)):
        while number not in done:
            ready = wait(list(busy))
            for pipe in [one for one in busy if one in ready]:
                done[busy.pop(pipe)] = _receive(pipe)
                give(pipe)
        yield done.pop(number)


def _receive(pipe: Connection) -> Any:
    try:
        result, error = pipe.recv()
    except (EOFError, OSError):
        hint = "where memory is short, it was ended for that: free some, or try fewer questions"
        raise InputError("a process that tries copies was ended before it was done", hint=hint) from None
    if error is not None:
        raise error
    return result


def _start(work: Callable[[Any], Any]) -> _Helper:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(work, there, here), daemon=True)
    process.start()
    there.close()  # only the process holds it now: when that ends, so does the pipe
    return _Helper(process, here)


def _serve(work: Callable[[Any], Any], pipe: Connection, others: Connection) -> None:
    """Do what comes until nobody is there to ask for more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where there is no mask to inherit
    others.close()
    with suppress(EOFError, OSError):
        while True:
            part = pipe.recv()
            try:
                result, error = work(part), None
            except Exception as raised:
                result, error = None, raised
            pipe.send((result, error))


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait while processes are started, which inherit that they never see it: it reaches all at once.

    In the middle of a fork it is lost.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
