"""Labels of people and of a judge put side by side, by id; with the clusters and slices of each sample.

Ids that only one file has are an error that names them, unless the caller says that the judge has seen more. Nothing
is measured here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gateline.audit.kinds import Kind, understand
from gateline.audit.reading import LabelFile, choose_names, read_file, take_labels
from gateline.errors import InputError, PolicyError, Problem, count_of, did_you_mean, name_some
from gateline.samples import Floats, Run
from gateline.statistics import cluster_keys
from gateline.statistics.prediction_powered import JudgedSamples

SAMPLING = "review.sampling"
"""Field in which a review queue says how a line was chosen: `random` lines are a simple random sample of all."""


@dataclass(frozen=True)
class Question:
    """What to hold against what: two files, and how to read them."""

    human: str
    judge: str
    metric: str | None = None
    judge_metric: str | None = None
    slices: Sequence[str] = ()
    cluster: str | None = None
    threshold: float | None = None
    judge_everywhere: bool = False
    """Whether the judge may have seen samples that people have not."""
    read_as: str | None = None
    id_field: str | None = None


@dataclass(frozen=True)
class Matched:
    """n samples that the judge was asked about, in the order of its file.

    `human` and `judge` hold NaN where there is no label; `causes` says why the judge has none ("" where it has).
    `slices` holds the values of each label that was asked for.
    """

    human_file: LabelFile
    judge_file: LabelFile
    kind: Kind
    ids: list[str]
    human: Floats
    judge: Floats
    causes: list[str]
    categories: tuple[str, ...]
    cluster: NDArray[np.int64]
    cluster_names: list[str]
    bounds: tuple[float, float]
    by_chance: NDArray[np.bool_]
    """Whether a label of people, if there is one, was asked for by chance and not for a reason (n)."""
    slices: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Whether the judge has a label (n)."""
        return ~np.isnan(self.judge)

    @property
    def both(self) -> NDArray[np.bool_]:
        """Whether both have a label (n)."""
        return self.judged & ~np.isnan(self.human)

    def take(self, rows: NDArray[np.bool_]) -> JudgedSamples:
        """Return some samples for the statistics; all of them must have a judge's label."""
        keys = cluster_keys(self.cluster_names)
        return JudgedSamples(self.judge[rows], self.human[rows], self.cluster[rows], keys)

    def take_by_chance(self, rows: NDArray[np.bool_]) -> JudgedSamples:
        """Return some samples with the labels that were asked for by chance; with all labels where none is missing."""
        samples = self.take(rows)
        if samples.has_label.all():
            return samples
        return replace(samples, human=np.where(self.by_chance[rows], samples.human, math.nan))

    def missing(self, rows: NDArray[np.bool_]) -> dict[str, int]:
        """Count the judge's missing labels by cause, the most frequent first."""
        counted = Counter(
            cause for cause, used in zip(self.causes, rows.tolist(), strict=True) if used and cause
        )
        return dict(counted.most_common())


def match(question: Question) -> Matched:
    """Read both files and put their labels side by side."""
    if question.threshold is not None and not math.isfinite(question.threshold):
        raise PolicyError("must be a number", "--threshold")
    human_run = read_file(question.human, read_as=question.read_as, id_field=question.id_field)
    judge_run = read_file(question.judge, read_as=question.read_as, id_field=question.id_field)
    first, second = choose_names(human_run, judge_run, question.metric, question.judge_metric)
    human, judge = take_labels(human_run, first), take_labels(judge_run, second)
    people_rows, judge_rows = human.rows(), judge.rows()
    _refuse_different_ids(people_rows, judge_rows, human, judge, question)
    found = understand(human, judge, question.threshold)
    ids = judge.run.ids
    where = [people_rows.get(name) for name in ids]
    people = np.array([math.nan if row is None else found.human[row] for row in where])
    if not (~np.isnan(people) & ~np.isnan(found.judge)).any():
        raise InputError("no sample has a label of people and of the judge", judge.run.file)
    by_chance, notes = _find_chosen(human_run, where, people)
    slices = {name: _labels(name, judge_run, human_run, where, "--slices") for name in question.slices}
    names = list(ids)
    if question.cluster:
        groups = _labels(question.cluster, judge_run, human_run, where, "--cluster")
        names = [f"{question.cluster}={', '.join(values)}" if values else name
                 for name, values in zip(ids, groups, strict=True)]  # fmt: skip
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return Matched(
        human_file=human,
        judge_file=judge,
        kind=found.kind,
        ids=ids,
        human=people,
        judge=found.judge,
        causes=found.causes,
        categories=found.categories,
        cluster=np.array([codes[name] for name in names], dtype=np.int64),
        cluster_names=list(codes),
        bounds=_bounds(found.kind, people, found.judge, human, judge),
        by_chance=by_chance,
        slices=slices,
        warnings=(*human_run.warnings, *judge_run.warnings, *found.warnings, *notes),
    )


def _find_chosen(
    human: Run, where: Sequence[int | None], people: Floats
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Return which labels were asked for by chance, as a review queue says of its lines; all where nothing says so."""
    sampling = human.texts(SAMPLING)
    if sampling is None:
        return np.ones(people.size, dtype=bool), ()
    by_chance = np.array([row is None or sampling[row] in ("random", "") for row in where])
    chosen = int((~by_chance & ~np.isnan(people)).sum())
    note = (
        f"{human.file}: targeted labels ({SAMPLING}): {chosen:,}; what people would say of all rests on the others "
        "alone, the judge's errors are counted over both"
    )
    return by_chance, (note,) if chosen else ()


def _refuse_different_ids(
    people: dict[str, int], said: dict[str, int], human: LabelFile, judge: LabelFile, question: Question
) -> None:
    unjudged = [name for name in people if name not in said]
    unseen = [] if question.judge_everywhere else [name for name in said if name not in people]
    problems = []
    if unjudged:
        problems.append(
            Problem(
                f"{len(unjudged)} of {count_of(len(people), 'id', 'ids')} with a human label "
                f"{'is' if len(unjudged) == 1 else 'are'} not in {judge.run.file}: "
                f"{name_some([repr(name) for name in unjudged])}",
                human.run.place(people[unjudged[0]]),
                "let the judge score them too; a score it could not give is null",
            )
        )
    if unseen:
        problems.append(
            Problem(
                f"{len(unseen)} of {count_of(len(said), 'id', 'ids')} of the judge "
                f"{'is' if len(unseen) == 1 else 'are'} not in {human.run.file}: "
                f"{name_some([repr(name) for name in unseen])}",
                judge.run.place(said[unseen[0]]),
                "--judge-everywhere, if people were only asked about some, chosen at random",
            )
        )
    if problems:
        raise InputError("the two files are not about the same samples", problems=problems)


def _labels(
    name: str, judge: Run, human: Run, where: Sequence[int | None], option: str
) -> list[tuple[str, ...]]:
    """Return a label of each sample, from the judge's file or else from people's."""
    labels = judge.labels(name)
    if labels is not None:
        return labels
    theirs = human.labels(name)
    if theirs is None:
        known = dict.fromkeys([*judge.slices, *human.slices, *judge.fields, *human.fields])
        raise PolicyError(f"neither file has a label '{name}'", option, did_you_mean(name, known))
    return [() if row is None else theirs[row] for row in where]


def _bounds(
    kind: Kind, people: Floats, said: Floats, human: LabelFile, judge: LabelFile
) -> tuple[float, float]:
    """Return the range of the labels: what the tool says, 0 to 1 where all lie inside, else what was seen."""
    if kind == "pass/fail":
        return 0.0, 1.0
    low = min(float(np.nanmin(people)), float(np.nanmin(said)))
    high = max(float(np.nanmax(people)), float(np.nanmax(said)))
    for file in (human, judge):
        facts = file.run.find_facts(file.name)
        if facts is not None and facts.range is not None:
            return min(low, facts.range[0]), max(high, facts.range[1])
    return (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)
