"""Labels of people for single samples, as the policy's `calibration` names them, beside the paired runs.

It reads and checks the labels, and says which sample of which run each is of. It corrects no number and judges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from gateline.errors import InputError, Problem, did_you_mean
from gateline.metric import Metric
from gateline.pairing import Pairs, Rows
from gateline.readers import read_run
from gateline.remark import Said, said
from gateline.samples import Floats, Run, read_number
from gateline.settings import Name, Part

SAMPLING = "review.sampling"
DIGEST = "review.candidate_sha256"
MOST_SHOWN = 10
RunName = Literal["baseline", "candidate"]


class CalibrationSource(Part):
    """Labels of people that correct what a judge says of one metric."""

    human: Name
    """File of people's labels, as `gateline review` writes it. A relative path starts at the policy's folder, or else
    at the working folder."""
    metric: Name
    """The metric that the judge gives."""
    label: Name | None = None
    """Field that holds people's labels; the metric's field when left out."""
    run: RunName | None = None
    """The run that lines without a field `run` are of; the candidate when left out."""


@dataclass(frozen=True)
class PeopleLabels:
    """People's labels of one metric for each pair (pairs), NaN where nobody has looked."""

    baseline: Floats
    candidate: Floats

    def values(self, rows: Rows) -> tuple[Floats, Floats]:
        """Return the labels of both runs for some pairs."""
        return self.baseline[rows], self.candidate[rows]


def read_labels(
    sources: Sequence[tuple[CalibrationSource, Path]],
    pairs: Pairs,
    metrics: Mapping[str, Metric],
    id_field: str,
) -> tuple[dict[str, PeopleLabels], list[Said]]:
    """Return the labels of each calibrated metric, and what a person should know of them.

    Lines that a review queue asked for for a reason (`review.sampling` other than `random`) are left out: only labels
    drawn by chance say how often the judge is wrong. Raises InputError for a label that is no number, outside the
    metric's range, of an id that its run lacks, or that contradicts another; and where runs have several attempts at
    one question, as a label is of one answer.
    """
    found: dict[str, PeopleLabels] = {}
    notices: list[Said] = []
    for source, file in sources:
        _refuse_attempts(pairs, source)
        if source.metric not in found:
            nothing = np.full(len(pairs.ids), np.nan)
            found[source.metric] = PeopleLabels(nothing, nothing.copy())
        notices.append(
            _LabelFile(source, _read(file, id_field), pairs, metrics[source.metric]).put_into(found)
        )
    return found, notices


def _refuse_attempts(pairs: Pairs, source: CalibrationSource) -> None:
    for side in pairs.sides:
        if side.repeated:
            raise InputError(
                f"has several records of one id, and labels of people for {source.metric} are of one answer each",
                side.run.file,
                "calibrate runs with one record of each id, or take the calibration out of the policy",
            )


def _read(file: Path, id_field: str) -> Run:
    try:
        if id_field != "id":
            with suppress(InputError):
                return read_run(file, id_field=id_field)
        return read_run(file)
    except InputError as error:
        first = error.problems[0]
        hint = first.hint or "gateline review writes a queue to be filled in"
        raise InputError(f"calibration: {first.message}", first.where or str(file), hint) from None


@dataclass
class _LabelFile:
    """One file of labels, against the runs it is of."""

    source: CalibrationSource
    run: Run
    pairs: Pairs
    metric: Metric

    def put_into(self, found: Mapping[str, PeopleLabels]) -> Said:
        """Add the labels to those of the metric, and say how many there are."""
        problems: list[Problem] = []
        values = self._values(problems)
        sides = self._sides(problems)
        place = {name: position for position, name in enumerate(self.pairs.ids)}
        known: dict[str, set[str]] = dict(
            zip(self._names(), (set(s.run.ids) for s in self.pairs.sides), strict=True)
        )
        sampling = self.run.texts(SAMPLING)
        counted = {"baseline": 0, "candidate": 0}
        chosen = 0
        seen: dict[tuple[str, str], int] = {}
        for row, name in enumerate(self.run.ids):
            side, value = sides[row], values[row]
            if side not in known or math.isnan(value):
                continue
            if name not in known[side]:
                hint = "labels are of the answers of these two runs; 'run' says which one"
                problems.append(
                    Problem(f"'{name}' has a label and is not in the {side}", self.run.place(row), hint)
                )
                continue
            first = seen.setdefault((side, name), row)
            if values[first] != value:
                message = f"'{name}' of the {side} has two labels, {values[first]:g} and {value:g}"
                hint = f"the other is in {self.run.place(first)}; write the one that people agree on"
                problems.append(Problem(message, self.run.place(row), hint))
                continue
            if sampling is not None and sampling[row] not in ("random", ""):
                chosen += 1
            elif name in place and first == row:
                labels = getattr(found[self.source.metric], side)
                before = labels[place[name]]
                if not math.isnan(before) and before != value:
                    message = (
                        f"'{name}' of the {side} has the label {value:g}, and {before:g} in another file"
                    )
                    problems.append(
                        Problem(message, self.run.place(row), "write the one that people agree on")
                    )
                labels[place[name]] = value
                counted[side] += 1
        if problems:
            raise InputError("people's labels can't be used", problems=problems[:MOST_SHOWN])
        return said("notice.calibration", file=self.run.file, metric=self.source.metric, chosen=str(chosen),
                    baseline=str(counted["baseline"]), candidate=str(counted["candidate"]))  # fmt: skip

    def _names(self) -> list[str]:
        return ["candidate"] if self.pairs.first_run else ["baseline", "candidate"]

    def _values(self, problems: list[Problem]) -> list[float]:
        name = self.source.label or self.metric.field or self.source.metric
        column = self.run.find_column(name)
        if column is None:
            names = [*self.run.metrics, *self.run.fields]
            hint = did_you_mean(name, names) or "name the field of people's labels with calibration.label"
            raise InputError(f"no record has a label '{name}'", self.run.file, hint)
        values: list[float] = []
        for row, raw in enumerate(column):
            number = float(raw) if isinstance(raw, bool) else read_number(raw)
            label = f"{name} of '{self.run.ids[row]}'"
            if number is None or math.isinf(number):
                message = f"{label} must be a number or null, not {raw!r:.60}"
                problems.append(Problem(message, self.run.place(row), "null is not labelled yet"))
                number = math.nan
            elif (
                not math.isnan(number)
                and self.metric.range
                and not (self.metric.range[0] <= number <= self.metric.range[1])
            ):
                low, high = self.metric.range
                message = (
                    f"{label} is {number:g}, outside the range [{low:g}, {high:g}] of {self.source.metric}"
                )
                problems.append(Problem(message, self.run.place(row), "label in the metric's own scale"))
            values.append(math.nan if math.isnan(number) else number)
        return values

    def _sides(self, problems: list[Problem]) -> list[str]:
        """Return the run that each line is of."""
        told = self.run.texts("run")
        usual: str | None = self.source.run
        if usual is None and (told is None or "" in told):
            usual = self._queue_of()
        sides = [text or str(usual) for text in told or [""] * len(self.run)]
        for row, side in enumerate(sides):
            if side not in ("baseline", "candidate"):
                message = f"run of '{self.run.ids[row]}' must be baseline or candidate, not '{side:.40}'"
                problems.append(Problem(message, self.run.place(row)))
        return sides

    def _queue_of(self) -> str:
        """Return the run that a review queue was made of, by its digest; the candidate where the file has none."""
        digest = self.run.provenance.get(DIGEST)
        if digest is None:
            return "candidate"
        for name, side in zip(self._names(), self.pairs.sides, strict=True):
            if side.run.sha256 == digest:
                return name
        raise InputError(
            "these labels are of the answers of another run: its digest is neither the candidate's nor the baseline's",
            self.run.file,
            "label answers of these runs (gateline review), or say with calibration.run whose answers they are",
        )
