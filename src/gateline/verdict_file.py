"""Reads a verdict.json that another run made: a verdict that agrees with itself, or refused.

It may come from a fork, so nothing in it is believed beyond that. It judges nothing anew.
"""

from __future__ import annotations

import json
import math
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gateline.contradictions import Circumstances, find_contradiction
from gateline.errors import InputError
from gateline.files import SPECIAL, is_special
from gateline.verdict import SCHEMA, Verdict, count, decide

MOST_BYTES = 32 * 1024 * 1024
_MOST_PROBLEMS = 3
_MOST_DIGITS = 18
_FARTHEST = 1e300
"""Of an end of a bar: beyond it a hundred times as much is no number any more."""


def read_verdict(path: str | PathLike[str]) -> Verdict:
    """Return the verdict in a file. Raises InputError where it is none, or contradicts itself."""
    file = str(path)
    if is_special(path):
        raise InputError(f"the verdict {SPECIAL}", file)
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"verdict not found: {file}", file) from None
    except OSError as error:
        raise InputError(f"the verdict can't be read: {error.strerror}", file) from None
    if len(content) > MOST_BYTES:
        raise InputError(f"a verdict of more than {MOST_BYTES:,} bytes is not read", file)
    try:
        data = json.loads(
            content.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_read_float,
            parse_int=_read_int,
            object_pairs_hook=_refuse_twins,
        )
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is not strict JSON: {str(error)[:200]}", file) from None
    return _read(data, content, file)


def _read(data: Any, content: bytes, file: str) -> Verdict:
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise InputError(f"this is not a verdict: `schema` is not {SCHEMA}", file)
    try:
        verdict = Verdict.model_validate_json(content, strict=True)
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
        said = "; ".join(problems[:_MOST_PROBLEMS]) + more
        raise InputError(f"this is not a verdict of {SCHEMA}: {said[:500]}", file) from None
    _refuse_contradictions(verdict, file)
    return verdict


def _refuse_contradictions(verdict: Verdict, file: str) -> None:
    """Refuse a verdict whose word, exit code or counts are not those of its findings, or a finding that can't be."""
    if verdict.counts != count(verdict.findings):
        raise InputError("the counts are not those of the findings", file)
    told = verdict.verdict, verdict.exit_code
    if verdict.problems:
        expected: tuple[str, int] = ("invalid", 2)
    else:
        expected = decide(verdict.findings, verdict.fail_on)
    if told != expected:
        raise InputError(
            f"the verdict is {told[0]} with exit code {told[1]}, but its findings make {expected[0]}, {expected[1]}",
            file,
        )
    identical = verdict.pairing is not None and verdict.pairing.identical
    told_beside = Circumstances(verdict.first_run, identical, verdict.judged_on)
    for finding in verdict.findings:
        wrong = find_contradiction(finding, told_beside)
        if wrong:
            raise InputError(
                f"the {finding.status.value} of {finding.rule} contradicts itself: it {wrong}", file
            )
    _refuse_broken_drawings(verdict, file)


def _refuse_broken_drawings(verdict: Verdict, file: str) -> None:
    """Refuse what can't be drawn: bars without both their ends, counts below 0, times without their shares."""
    for spread in verdict.spreads:
        ends, bars = spread.edges, [*spread.worse_bars, *spread.better_bars]
        fits = len(spread.worse_bars) == len(spread.better_bars) == len(ends) - 1 > 0
        if not fits or min(bars) < 0 or ends != sorted(ends) or not 0 <= ends[0] <= ends[-1] <= _FARTHEST:
            raise InputError(
                f"the spread of {spread.metric} can't be drawn: its bars are not those of its edges", file
            )
    for curve in verdict.curves:
        runs = [curve.candidate] + ([] if curve.baseline is None else [curve.baseline])
        shares = curve.probabilities
        if (
            not shares
            or any(len(run) != len(shares) for run in runs)
            or not all(0 <= one <= 1 for one in shares)
        ):
            raise InputError(
                f"the curve of {curve.field} can't be drawn: its times are not those of its shares", file
            )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _read_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _read_int(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number is too large")
    return int(text)


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found
