"""Labels of people for single samples, as the policy's `calibration` names them, beside the paired runs.

It reads and checks the labels, and says which sample of which run each is of, and which are of answers that neither run
holds. It corrects no number and judges nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from gateline.errors import InputError, Problem, did_you_mean
from gateline.metric import Metric
from gateline.pairing import Pairs, Rows
from gateline.readers import read_run
from gateline.remark import Said, name_some, said
from gateline.samples import Floats, Run, read_number
from gateline.settings import Name, Part
from gateline.tied_labels import Ties

SAMPLING = "review.sampling"
MOST_SHOWN = 10
ENOUGH_LABELS = 30
"""Labels from which on they decide, as `samples.at_least` asks of samples: they are the samples that a corrected number
rests on. A judge that is right on all of 30 may still be wrong on 9.5 % (exact binomial, 95 %), of 10 on 26 %."""
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
    """The run that lines without a field `run` are of; the one whose answers they hold when left out."""
    at_least: int = Field(ENOUGH_LABELS, ge=1)
    """Fewest independent labels for them to correct the judge, overall and in each slice that is judged."""


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PeopleLabels:
    """People's labels of one metric for each pair (pairs), NaN where nobody has looked."""

    baseline: Floats
    candidate: Floats
    baseline_elsewhere: Flags
    """Whether there is a label of another answer than the baseline holds now."""
    candidate_elsewhere: Flags
    at_least: int
    """Fewest independent labels for them to correct the judge."""
    elsewhere_at_most: float
    """Largest share of labels that may be of other answers: those that are left are no random part any more."""

    @staticmethod
    def none(pairs: int, at_least: int, elsewhere_at_most: float) -> PeopleLabels:
        """Return room for the labels of so many pairs."""
        empty, nowhere = np.full(pairs, np.nan), np.zeros(pairs, dtype=bool)
        return PeopleLabels(empty, empty.copy(), nowhere, nowhere.copy(), at_least, elsewhere_at_most)

    def of_run(self, run: RunName) -> tuple[Floats, Flags]:
        """Return the labels of one run, and of which samples there is a label of another answer."""
        if run == "baseline":
            return self.baseline, self.baseline_elsewhere
        return self.candidate, self.candidate_elsewhere

    def at(self, rows: Rows | Flags) -> PeopleLabels:
        """Return the labels of some pairs."""
        return replace(
            self,
            baseline=self.baseline[rows],
            candidate=self.candidate[rows],
            baseline_elsewhere=self.baseline_elsewhere[rows],
            candidate_elsewhere=self.candidate_elsewhere[rows],
        )


def read_labels(
    sources: Sequence[tuple[CalibrationSource, Path]],
    pairs: Pairs,
    metrics: Mapping[str, Metric],
    id_field: str,
) -> tuple[dict[str, PeopleLabels], list[Said]]:
    """Return the labels of each calibrated metric, and what a person should know of them.

    Lines that a review queue asked for for a reason (`review.sampling` other than `random`) are left out: only labels
    drawn by chance say how often the judge is wrong. So are labels of other answers than the runs hold (`Ties`), which
    are counted and named. Raises InputError for a label that is no number, outside the
    metric's range, of an id that its run lacks, or that contradicts another; and where runs have several attempts at
    one question, as a label is of one answer.
    """
    found: dict[str, PeopleLabels] = {}
    notices: list[Said] = []
    for source, file in sources:
        _refuse_attempts(pairs, source)
        if source.metric not in found:
            least = max(one.at_least for one, _ in sources if one.metric == source.metric)
            allowed = pairs.labels.terms.missing.drop_at_most
            found[source.metric] = PeopleLabels.none(len(pairs.ids), least, allowed)
        labels = _LabelFile(source, _read(file, id_field), pairs, metrics[source.metric])
        notices += labels.put_into(found[source.metric])
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

    def put_into(self, found: PeopleLabels) -> list[Said]:
        """Add the labels to those of the metric, and say what a person should know of them."""
        problems: list[Problem] = []
        told = _Told()
        values = self._values(problems)
        sides = self._sides(problems)
        place = {name: position for position, name in enumerate(self.pairs.ids)}
        sampling = self.run.texts(SAMPLING)
        seen: dict[tuple[str, str], int] = {}
        put: set[tuple[str, str]] = set()
        for row, name in enumerate(self.run.ids):
            side, value = sides[row], values[row]
            if side not in self._runs or math.isnan(value):
                continue
            tie = self._ties.tie(row, side, said=self._is_said[row])
            by_chance = sampling is None or sampling[row] in ("random", "")
            if tie == "elsewhere":
                told.elsewhere[name] = None
                if by_chance and name in place:
                    getattr(found, f"{side}_elsewhere")[place[name]] = True
                continue
            if name not in self._known[side]:
                hint = "labels are of the answers of these two runs; 'run' says which one"
                message = f"'{name}' has a label and is not in the {side}"
                problems.append(Problem(message, self.run.place(row), hint))
                continue
            first = seen.setdefault((side, name), row)
            if values[first] != value:
                message = f"'{name}' of the {side} has two labels, {values[first]:g} and {value:g}"
                hint = f"the other is in {self.run.place(first)}; write the one that people agree on"
                problems.append(Problem(message, self.run.place(row), hint))
            elif not by_chance:
                told.chosen += 1
            elif name in place and (side, name) not in put:
                put.add((side, name))
                self._put(getattr(found, side), place[name], row, value, side, problems)
                told.counted[side] += 1
                told.untied += tie == "untied"
        if problems:
            raise InputError("people's labels can't be used", problems=problems[:MOST_SHOWN])
        self._refuse_another_scale(found)
        return told.say(self.run.file, self.source.metric)

    def _put(
        self, labels: Floats, position: int, row: int, value: float, side: str, problems: list[Problem]
    ) -> None:
        """Put one label in its place; a problem where another file has said something else of that answer."""
        before = labels[position]
        if not math.isnan(before) and before != value:
            message = (
                f"'{self.run.ids[row]}' of the {side} has the label {value:g}, and {before:g} in another file"
            )
            problems.append(Problem(message, self.run.place(row), "write the one that people agree on"))
        labels[position] = value

    def _refuse_another_scale(self, found: PeopleLabels) -> None:
        """Raise InputError for labels of 0 to 1 beside a judge that says more than 1 of most of the same answers."""
        low, high = self.metric.range or (0.0, 1.0)
        if high < 2.0 or low > 0.0:
            return
        values = self.pairs.metrics[self.source.metric]
        sides = [(found.candidate, values.candidate)]
        if values.baseline is not None:
            sides.append((found.baseline, values.baseline))
        both = [~np.isnan(labels) & judge.usable for labels, judge in sides]
        human = np.concatenate([labels[rows] for (labels, _), rows in zip(sides, both, strict=True)])
        judge = np.concatenate([side.value[rows] for (_, side), rows in zip(sides, both, strict=True)])
        if human.any() and (human <= 1.0).all() and np.mean(judge > 1.0) > 0.5:
            raise InputError(
                f"people's labels of {self.source.metric} lie between 0 and 1, and the judge says up to "
                f"{judge.max():g} of the same answers, in the range [{low:g}, {high:g}]",
                self.run.file,
                "label in the metric's own scale, or make a metric of 0 and 1",
            )

    @cached_property
    def _runs(self) -> dict[str, Run]:
        """The runs by name, the baseline first."""
        return dict(zip(self._names(), (side.run for side in self.pairs.sides), strict=True))

    @cached_property
    def _known(self) -> dict[str, set[str]]:
        return {name: set(run.ids) for name, run in self._runs.items()}

    @cached_property
    def _ties(self) -> Ties:
        return Ties(self.run, self._runs)

    @cached_property
    def _is_said(self) -> list[bool]:
        """Whether policy or file say of which run each line is."""
        told = self.run.texts("run") or [""] * len(self.run)
        return [bool(text) or self.source.run is not None for text in told]

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
            usual = self._ties.find_run() or "candidate"
        sides = [text or str(usual) for text in told or [""] * len(self.run)]
        for row, side in enumerate(sides):
            if side not in ("baseline", "candidate"):
                message = f"run of '{self.run.ids[row]}' must be baseline or candidate, not '{side:.40}'"
                problems.append(Problem(message, self.run.place(row)))
        return sides


class _Told:
    """What is counted while a file's labels are read."""

    def __init__(self) -> None:
        self.counted = {"baseline": 0, "candidate": 0}
        self.chosen = 0
        self.untied = 0
        self.elsewhere: dict[str, None] = {}

    def say(self, file: str, metric: str) -> list[Said]:
        """Return what a person should know."""
        notices = []
        if any(self.counted.values()):
            notices.append(
                said("notice.calibration", file=file, metric=metric, chosen=str(self.chosen),
                     baseline=str(self.counted["baseline"]), candidate=str(self.counted["candidate"]))
            )  # fmt: skip
        else:
            notices.append(said("notice.no-labels", file=file, metric=metric, chosen=str(self.chosen)))
        if self.elsewhere:
            ids = name_some(self.elsewhere)
            notices.append(said("notice.labels-elsewhere", file=file, count=len(self.elsewhere), ids=ids))
        if self.untied:
            notices.append(said("notice.labels-untied", file=file, count=self.untied))
        return notices
