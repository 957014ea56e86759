"""Which metrics a first policy rests on: those that the run itself can be judged by, as the gate would pair it.

What a gate would refuse or could not decide is left out here, with the reason. It makes no text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gateline.errors import GatelineError, InputError
from gateline.inspection import Inspection, LabelColumn
from gateline.pairing import Pairs, Rows, Terms, pair
from gateline.pairing.settings import Missing, Provenance, Samples, Slices
from gateline.pairing.values import COUNTED_WORST
from gateline.proposal.choices import (
    FEWEST_IN_SLICE,
    REASONS,
    ProposedMetric,
    choose_cluster,
    choose_labels,
    list_candidates,
    list_guesses,
)
from gateline.proposal.parts import MOST_MISSING, Part, find_part, name_apart
from gateline.proposal.repetition import drop_redundant, drop_repeated_labels
from gateline.proposal.tolerances import Sample, Tolerance, choose_tolerance
from gateline.samples import Run
from gateline.statistics import cluster_keys

Keys = npt.NDArray[np.uint64]

MOST_SCORES = 12
FEWEST_VALUES = 30
"""Values below which a metric of a run with twice as many questions is left out: with it, `samples.at_least` would have
to fall for all metrics."""
AT_WORST = "so near its worst value that no fall could be shown"
FEWEST_FOR_ONE_MORE = 20
"""Samples of which one more may be missing than in this run."""


ROOM_OF_RED_LINES = 0.1
"""Share that may be left out where a time or a cost is judged that requests of this run don't have."""


@dataclass(frozen=True)
class SmallSlice:
    """A slice that has fewer questions than a check asks for by default."""

    asked: int
    """Questions in which the metric is defined there."""
    sample: Sample
    """The values that count."""


@dataclass(frozen=True)
class Chosen:
    """A metric of the policy, and how it stands in the run."""

    metric: ProposedMetric
    part: Part | None
    """Where it is defined; None for everywhere."""
    expected: int
    """Questions for which it is defined."""
    missing: int
    """How many of them have no value, in one attempt at least."""
    left_out: float
    """Share of the values that is left out."""
    has_failed: bool
    """Whether a question for which it is defined was not answered, and counts as the worst."""
    sample: Sample
    """The values that count (questions), attempts averaged, what the system failed to answer as its worst."""
    large: dict[str, Sample]
    """Slice -> its values, of each that is large enough to be judged."""
    small: dict[str, SmallSlice]
    """Slice -> what it has, of each that is smaller."""
    tolerance: Tolerance | None
    """By how much it may become worse; None for what gets a limit, and where no fall could be shown."""


@dataclass(frozen=True)
class Selection:
    """What the policy looks at."""

    metrics: list[Chosen]
    left_out: dict[str, str]
    """Column -> why no rule can rest on it."""
    cluster: str | None
    labels: list[LabelColumn]
    questions: int
    independent: int

    @property
    def parts(self) -> list[Part]:
        """Return the parts in which metrics are defined, each once."""
        return list(dict.fromkeys(one.part for one in self.metrics if one.part is not None))


def select(run: Run, found: Inspection) -> Selection:
    """Return what a policy for this run can rest on.

    Raises InputError where it can rest on nothing: no numbers, none that can be judged, or records that can't be
    told apart.
    """
    cluster, independent = choose_cluster(run)
    # in what must agree two runs may differ in part, and a slice by it would compare other questions
    labels = [label for label in choose_labels(found, cluster) if label.name not in run.must_agree]
    labels = drop_repeated_labels(labels, run)
    refused: dict[str, str] = {}
    listed = drop_redundant(list_candidates(found.numbers), run, refused)
    candidates = _settle(run, found, listed, cluster, labels, refused)
    chosen = _pick(candidates, run, refused)
    if not chosen:
        guesses = _settle(run, found, list_guesses(found.numbers)[:MOST_SCORES], cluster, labels, refused)
        chosen = _pick(guesses, run, refused)[:1] or _least_missing([*candidates, *guesses])
    if not chosen:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(refused.items())[:3])
        said = f"has no numbers that a policy could judge{f' ({reasons})' if reasons else ''}"
        raise InputError(said, run.file, _what_to_do(run))
    kept = {one.metric.column.name for one in chosen}
    left_out = {name: reason for name, reason in refused.items() if name not in kept}
    return Selection(chosen, left_out, cluster, labels, len(set(run.ids)), independent)


def _what_to_do(run: Run) -> str:
    """Return what makes a run one that a policy can be proposed for: rankings and labels become numbers together."""
    if run.texts("retrieved") is not None:
        return "rankings have numbers once they are scored: gateline score LABELS RUN -o SCORED.jsonl, then init that"
    if run.texts("relevant") is not None:
        return "these are labels: gateline score LABELS RUN -o SCORED.jsonl scores a run with them, then init that"
    return "gateline inspect shows what it has"


def _pick(candidates: Sequence[Chosen], run: Run, refused: dict[str, str]) -> list[Chosen]:
    """Return the scores that enough records have, one time and one cost."""
    chosen: list[Chosen] = []
    for one in candidates:
        kind, name = one.metric.column.kind, one.metric.column.name
        if one.left_out > MOST_MISSING:
            refused[name] = _say_missing(one, run)
        elif not one.metric.is_red_line and one.tolerance is None:
            refused[name] = AT_WORST
        elif len(one.sample) < min(FEWEST_VALUES, len(set(run.ids)) / 2):
            samples = f"{len(one.sample)} samples" if len(one.sample) > 1 else "one sample"
            refused[name] = f"a value for {samples} only, where a check asks for {FEWEST_VALUES}"
        elif one.metric.is_red_line:
            if not one.sample.values.max() > 0:
                refused[name] = "0 in all samples"
            elif all(other.metric.column.kind != kind for other in chosen):
                chosen.append(one)
        elif sum(not other.metric.is_red_line for other in chosen) < MOST_SCORES:
            chosen.append(one)
    return chosen


def _least_missing(candidates: Sequence[Chosen]) -> list[Chosen]:
    """Return those that lack fewest values, where all lack many; one value of several questions is none to judge by."""
    usable = [
        one
        for one in candidates
        if (one.metric.is_red_line or one.tolerance is not None) and len(one.sample) >= min(2, one.expected)
    ]
    least = min((one.left_out for one in usable), default=1.0)
    found = {one.metric.column.name: one for one in usable if one.left_out == least < 1.0}
    return list(found.values())[:MOST_SCORES]


def _say_missing(one: Chosen, run: Run) -> str:
    said = f"no value in {one.left_out:.0%} of its samples"
    told = Counter(filter(None, run.texts(f"{REASONS}{one.metric.column.name}") or []))
    if told:
        reason = told.most_common(1)[0][0]
        said += f", {'mostly ' if len(told) > 1 else ''}because {reason}"
    return said


def _settle(
    run: Run,
    found: Inspection,
    metrics: Sequence[ProposedMetric],
    cluster: str | None,
    labels: Sequence[LabelColumn],
    refused: dict[str, str],
) -> list[Chosen]:
    """Return how metrics stand in the run paired with itself; what pairing refuses goes to `refused`."""
    if not metrics:
        return []
    _refuse_unfit(run, cluster)
    found_parts = name_apart(find_part(metric, run, found) for metric in metrics)
    parts = {metric.name: part for metric, part in zip(metrics, found_parts, strict=True)}
    try:
        together = _pair(run, metrics, parts, cluster)
        pairs = dict.fromkeys(parts, together)
    except GatelineError:
        pairs = {}
        for metric in metrics:
            try:
                pairs[metric.name] = _pair(run, [metric], parts, cluster)
            except GatelineError as error:
                refused[metric.column.name] = error.problems[0].message
    keys = cluster_keys(next(iter(pairs.values())).cluster_names) if pairs else np.array([], dtype=np.uint64)
    settled = [
        _tell(one, parts[one.name], pairs[one.name], labels, keys) for one in metrics if one.name in pairs
    ]
    for one in settled:
        if not len(one.sample):
            refused[one.metric.column.name] = "no value that can be used"
    return [one for one in settled if len(one.sample)]


def _pair(
    run: Run, metrics: Sequence[ProposedMetric], parts: dict[str, Part | None], cluster: str | None
) -> Pairs:
    named = {part.name: {part.label: part.values} for part in parts.values() if part is not None}
    defined = {}
    for metric in metrics:
        part = parts[metric.name]
        defined[metric.name] = metric.as_defined(part.name if part else None)
    terms = Terms(
        Samples(cluster=cluster, at_least=1),
        Provenance(),
        Missing(drop_at_most=1.0),
        Slices.model_validate({"named": named}),
        defined,
    )
    return pair(run, run, None, terms)


def _refuse_unfit(run: Run, cluster: str | None) -> None:
    """Raise InputError for what is wrong with the run as a whole and no fault of a metric."""
    try:
        _pair(run, [], {}, cluster)
    except GatelineError as error:
        raise InputError(error.headline, problems=error.problems) from None


def _tell(
    metric: ProposedMetric, part: Part | None, pairs: Pairs, labels: Sequence[LabelColumn], keys: Keys
) -> Chosen:
    values = pairs.metrics[metric.name]
    side, expected = values.candidate, values.expected

    def sample_of(rows: Rows) -> Sample:
        usable = rows[side.usable[rows]]
        return Sample(side.value[usable], pairs.cluster[usable], keys)

    places = {
        place: values.expected_in(pairs.labels.rows(place))
        for label in labels
        if part is None or label.name != part.label
        for place in pairs.labels.family(label.name)
    }
    lost, sample = side.missing[expected], sample_of(expected)
    tolerance = choose_tolerance(metric, sample) if len(sample) and not metric.is_red_line else None
    return Chosen(
        metric,
        part,
        expected=len(expected),
        missing=int((lost > 0).sum()),
        left_out=float(lost.mean()) if len(lost) else 1.0,
        has_failed=bool((side.cause[expected] == COUNTED_WORST).any()),
        sample=sample,
        large={place: sample_of(rows) for place, rows in places.items() if len(rows) >= FEWEST_IN_SLICE},
        small={
            place: SmallSlice(len(rows), sample_of(rows))
            for place, rows in places.items()
            if 0 < len(rows) < FEWEST_IN_SLICE
        },
        tolerance=tolerance,
    )


def fewest_values(chosen: Sequence[Chosen]) -> int:
    """Return from how many values on a check may be settled: 30, or as many as all metrics have here.

    Where one value may be missing, it is one less.
    """
    counts = [len(one.sample) - (one.expected >= FEWEST_FOR_ONE_MORE) for one in chosen]
    return max(1, min([FEWEST_IN_SLICE, *counts]))


def lacks_red_lines(chosen: Sequence[Chosen]) -> bool:
    """Return whether requests of this run have no time or no cost though the policy judges it."""
    return any(one.metric.is_red_line and one.left_out > 0 for one in chosen)


def share_left_out(chosen: Sequence[Chosen]) -> float:
    """Return the largest share that is left out of a metric, and one sample more, in whole percent; 2 or 10 % at least.

    Where requests of this run have no time or no cost, as failed ones do, more may: a candidate that breaks shall fail,
    not have no verdict. Where none lacks them, a failed one counts as the worst instead, and nothing need be left out.

    Without the one more, of 40 samples none could be missing. Of very few samples it would be a large share.
    """
    shares = [
        one.left_out + (1 / one.expected if one.expected >= FEWEST_FOR_ONE_MORE else 0) for one in chosen
    ]
    least = ROOM_OF_RED_LINES if lacks_red_lines(chosen) else 0.02
    return max(least, min(1.0, math.ceil(round(max(shares, default=0.0) * 100, 6)) / 100))
