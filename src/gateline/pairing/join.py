"""Which record of one run belongs to which of the other: by id, never by position."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, NotComparable, Problem, cut
from gateline.pairing.settings import Samples
from gateline.remark import Said, name_some, said
from gateline.samples import Column, Run

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One run, with the question of each record."""

    run: Run
    code: Codes
    """Position of each record's id among the paired ids (records); -1 for a record that is not compared, such as all
    attempts but the last where that one counts."""
    first: Codes
    """One record of each paired id (pairs)."""
    repeated: bool
    """Whether several records of an id are compared."""
    tried: Codes = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """How many records each paired id has, compared or not (pairs)."""


def group_ids(run: Run, samples: Samples) -> dict[str, list[int]]:
    """Return the records of each id, where the last attempt counts that one first.

    Raises InputError where one id stands twice and nothing tells the attempts apart.
    """
    if len(set(run.ids)) == len(run.ids):
        return {name: [row] for row, name in enumerate(run.ids)}
    rows: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(run.ids):
        rows[name].append(row)
    repeated = {name: found for name, found in rows.items() if len(found) > 1}
    attempts = run.texts(samples.repeat_field)
    if samples.repeats == "refuse" or attempts is None:
        raise _refuse_repeats(run, repeated, samples)
    for name, found in repeated.items():
        told = [attempts[row] for row in found]
        if len(set(told)) < len(told) or "" in told:
            raise _refuse_repeats(run, {name: found}, samples)
    if samples.repeats == "last":
        for found in rows.values():
            found.sort(key=lambda row: _attempt_key(attempts[row]), reverse=True)
    return dict(rows)


def match_ids(
    baseline: dict[str, list[int]], candidate: dict[str, list[int]], samples: Samples, files: tuple[str, str]
) -> tuple[list[str], list[str], list[str]]:
    """Return the ids in both runs, in the baseline only and in the candidate only, each sorted.

    Raises NotComparable where ids stand in one run only and the policy does not leave them out.
    """
    both = sorted(baseline.keys() & candidate.keys())
    lost = sorted(baseline.keys() - candidate.keys())
    new = sorted(candidate.keys() - baseline.keys())
    if not both:
        raise NotComparable(
            said("problem.nothing-in-common"),
            files[1],
            _find_alike(lost, new)
            or said("hint.nothing-in-common", baseline=name_some(lost, 3), candidate=name_some(new, 3)),
        )
    if (lost or new) and samples.on_mismatch == "refuse":
        problems = []
        if lost:
            problems.append(
                Problem(
                    said(
                        "problem.not-in-candidate",
                        missing=len(lost),
                        asked=len(baseline),
                        ids=name_some(lost, 10),
                    ),
                    files[1],
                )
            )
        if new:
            problems.append(
                Problem(
                    said(
                        "problem.not-in-baseline",
                        missing=len(new),
                        asked=len(candidate),
                        ids=name_some(new, 10),
                    ),
                    files[0],
                )
            )
        hint = _find_alike(lost, new) or _how_to_compare(len(both), len(lost), samples)
        problems[-1] = Problem(problems[-1].message, problems[-1].where, hint)
        raise NotComparable("the two runs did not answer the same questions", problems=problems)
    return both, lost, new


def _find_alike(lost: Sequence[str], new: Sequence[str]) -> Said | None:
    """Return what to do where an id of either run is one that a person takes for the other's; None where none is."""
    by_look = {_look_of(name): name for name in reversed(new)}
    for name in lost:
        other = by_look.get(_look_of(name))
        if other is not None:
            return said("hint.ids-alike", baseline=cut(name), candidate=cut(other))
    return None


def _look_of(name: str) -> str:
    """Return an id without what is easily overlooked: blanks, capitals, zeros of a number, how signs are composed."""
    text = "".join(unicodedata.normalize("NFC", name).split()).casefold()
    return text.removesuffix(".0").lstrip("0") or "0"


def _how_to_compare(both: int, lost: int, samples: Samples) -> Said:
    """Return what makes runs comparable: leaving ids out with all that it takes, and only where enough are left."""
    if both < samples.at_least:
        return said("hint.too-few-in-common", both=f"{both:,}", least=f"{samples.at_least:,}")
    if not lost:
        return said("hint.same-golden-set")
    share = math.ceil(round(lost / (both + lost) * 1000, 6)) / 10
    return said("hint.same-golden-set-or-drop", share=f"{share:g}")


def make_side(run: Run, groups: dict[str, list[int]], ids: Sequence[str], samples: Samples) -> Side:
    """Return the run with the position of each record among `ids`."""
    code = np.full(len(run), -1, dtype=np.int64)
    first = np.empty(len(ids), dtype=np.int64)
    tried = np.empty(len(ids), dtype=np.int64)
    counted = 1 if samples.repeats == "last" else None
    for position, name in enumerate(ids):
        found = groups[name]
        first[position], tried[position] = found[0], len(found)
        for row in found[:counted]:
            code[row] = position
    repeated = counted is None and bool((tried > 1).any())
    return Side(run, code, first, repeated, tried)


def check_same_input(
    baseline: Side, candidate: Side, ids: Sequence[str], samples: Samples, usual: Sequence[str]
) -> None:
    """Raise InputError where one id stands for two different inputs, in two runs or in two attempts.

    The `usual` fields are compared where the policy names none; of those beside the first, only texts that are there.
    """
    asked = samples.same_input
    problems: list[Problem] = []
    differing: list[str] = []
    for name in usual if asked is None else asked:
        is_guess = asked is None and name != usual[0]
        wanted, given = baseline.run.texts(name), candidate.run.texts(name)
        if wanted is None or given is None:
            if asked is not None:
                run = baseline.run if wanted is None else candidate.run
                raise InputError(said("problem.no-input-field", field=name), run.file)
            continue
        for side, word, found in zip(
            (baseline, candidate), ("word.baseline", "word.candidate"), (wanted, given), strict=True
        ):
            for row in _compared_rows(side):
                position = int(side.code[row])
                before, after = wanted[baseline.first[position]], found[row]
                if before != after and not (
                    (is_guess and not (before and after))
                    or _is_silent(side.run, row, after)
                    or _is_silent(baseline.run, int(baseline.first[position]), before)
                ):
                    differing.append(ids[position])
                    problems.append(
                        Problem(
                            said(
                                "problem.another-input",
                                id=ids[position],
                                field=name,
                                run=said(word),
                                found=cut(after),
                                wanted=cut(before),
                            ),
                            side.run.place(row),
                        )
                    )
    if problems:
        more = differing[5:]
        rest = (
            [Problem(said("problem.likewise", ids=name_some(more, 20)), candidate.run.file)] if more else []
        )
        hint = said("hint.same-input")
        last = problems[min(4, len(problems) - 1)]
        shown = [*problems[:4][: len(problems) - 1], Problem(last.message, last.where, hint), *rest]
        raise InputError("one id stands for different inputs", problems=shown)


def _is_silent(run: Run, row: int, text: str) -> bool:
    """Return whether a record lacks the text because it failed: some tools then write nothing but that."""
    if text:
        return False
    errors = run.texts("error")
    return errors is not None and bool(errors[row])


def _compared_rows(side: Side) -> list[int]:
    """Return the records that are compared, in the order of the paired ids."""
    order = np.argsort(side.code, kind="stable")
    return [int(row) for row in order[side.code[order] >= 0]]


def records_are_the_same(baseline: Run, candidate: Run) -> bool:
    """Return whether both files hold the same records, in whatever order."""
    if baseline.sha256 == candidate.sha256:
        return True
    if sorted(baseline.ids) != sorted(candidate.ids):
        return False
    pairs: list[tuple[Column, Column]] = []
    for section in ("metrics", "fields", "slices"):
        before, after = getattr(baseline, section), getattr(candidate, section)
        if before.keys() != after.keys():
            return False
        pairs += [(before[name], after[name]) for name in before]
    if not all(_same_numbers(before, after) for before, after in pairs):
        return False
    orders = [
        _order_records(baseline.ids, [before for before, _ in pairs]),
        _order_records(candidate.ids, [after for _, after in pairs]),
    ]
    return all(_same_column(before, after, orders) for before, after in pairs)


def _order_records(ids: Sequence[str], columns: Sequence[Column]) -> list[int]:
    """Return the records ordered by id, those of one id by all that they hold: nothing else tells them apart."""
    times = Counter(ids)

    def read(row: int) -> tuple[str, ...]:
        alone = times[ids[row]] == 1
        return (ids[row],) if alone else (ids[row], *(repr(column[row]) for column in columns))

    return sorted(range(len(ids)), key=read)


def _same_numbers(before: Column, after: Column) -> bool:
    """Return whether two columns of numbers hold the same ones; said first, since it is soon said."""
    if not isinstance(before, np.ndarray) or not isinstance(after, np.ndarray):
        return isinstance(before, list) and isinstance(after, list)
    return bool(np.array_equal(np.sort(before), np.sort(after), equal_nan=True))


def _same_column(before: Column, after: Column, orders: Sequence[Sequence[int]]) -> bool:
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        return bool(
            np.array_equal(before[np.asarray(orders[0])], after[np.asarray(orders[1])], equal_nan=True)
        )
    if isinstance(before, list) and isinstance(after, list):
        return all(before[a] == after[b] for a, b in zip(*orders, strict=True))
    return False


def _refuse_repeats(run: Run, repeated: dict[str, list[int]], samples: Samples) -> InputError:
    name, rows = next(iter(repeated.items()))
    lines = ", ".join(str(int(run.lines[row])) for row in rows[:5]) + (", …" if len(rows) > 5 else "")
    others = len(repeated) - 1
    message = said("problem.repeated", id=name, times=len(rows), lines=lines)
    if others:
        message = said("problem.repeated-and-others", first=message, count=others)
    if samples.repeats == "refuse":
        return InputError(message, run.place(rows[1]), said("hint.no-attempts"))
    return InputError(message, run.place(rows[1]), said("hint.number-attempts", field=samples.repeat_field))


def _attempt_key(text: str) -> tuple[int, float, str]:
    """Order attempts by number, then by text; what is no finite number is a text: NaN has no place in an order."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    return (0, number, text) if math.isfinite(number) else (1, 0.0, text)
