"""May two runs be compared at all? Then joins them on id, and settles clusters, slices and missing values.

Everything that makes a comparison meaningless ends here in NotComparable; rules never see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gateline.errors import InputError, NotComparable, Problem
from gateline.pairing.agreement import check_agreement, check_definitions
from gateline.pairing.allowance import refuse_missing
from gateline.pairing.attempts import tell_attempts
from gateline.pairing.carried import find_carried
from gateline.pairing.constant import tell_constant
from gateline.pairing.facts import ChangedField, LeftOutIds, LeftOutValues, Pairing
from gateline.pairing.inputs import choose_inputs
from gateline.pairing.join import (
    Codes,
    Side,
    check_same_input,
    group_ids,
    make_side,
    match_ids,
    records_are_the_same,
)
from gateline.pairing.labels import NONE, Labels, Rows
from gateline.pairing.marks import find_errors
from gateline.pairing.provenance import compare_provenance, list_changes, state_facts
from gateline.pairing.settings import Terms
from gateline.pairing.spellings import tell_spellings
from gateline.pairing.stale import refuse_stale, tell_carried
from gateline.pairing.values import (
    CAUSE_NAMES,
    COUNTED_WORST,
    OK,
    MetricValues,
    SideValues,
    check_fields,
    settle,
)
from gateline.remark import name_some, said
from gateline.samples import Run

__all__ = [
    "NONE",
    "MetricValues",
    "Pairs",
    "Rows",
    "SideValues",
    "Terms",
    "list_changes",
    "pair",
    "refuse_missing",
    "refuse_stale",
    "state_facts",
]


@dataclass
class Pairs:
    """The questions that are compared."""

    ids: Sequence[str]
    """Ids, sorted (pairs)."""
    sides: tuple[Side, ...]
    """Baseline and candidate; the candidate alone in a first run."""
    cluster: Codes
    """Cluster of each pair, a position among `cluster_names` (pairs)."""
    cluster_names: list[str]
    labels: Labels
    metrics: dict[str, MetricValues]
    identical: bool
    """Whether both files hold the same records."""
    changed: list[ChangedField] = field(default_factory=list)
    carried: list[int] = field(default_factory=list)
    """Pairs that were not answered again (`carried.find_carried`)."""
    facts: Pairing | None = None
    notices: list[str] = field(default_factory=list)

    @property
    def first_run(self) -> bool:
        """Return whether there is no baseline."""
        return len(self.sides) == 1


def pair(
    baseline: Run | None,
    candidate: Run,
    golden: Run | None,
    terms: Terms,
    files: Mapping[str, Run] | None = None,
) -> Pairs:
    """Join two runs, or take the candidate alone where `baseline` is None.

    `files` holds the questions of each slice that a file names.
    Raises NotComparable, InputError or PolicyError where no verdict can rest on them.
    """
    lost: list[str] = []
    new: list[str] = []
    runs = [candidate] if baseline is None else [baseline, candidate]
    _refuse_unpaired(runs, golden)
    if baseline is not None and terms.samples.on_mismatch == "independent":
        raise NotComparable(said("problem.not-reduced"), candidate.file, said("hint.not-reduced"))
    changed = [] if baseline is None else compare_provenance(baseline, candidate, terms.provenance)
    groups = [group_ids(run, terms.samples) for run in runs]
    if baseline is None:
        ids = sorted(groups[0])
    else:
        ids, lost, new = match_ids(groups[0], groups[1], terms.samples, (baseline.file, candidate.file))
    unasked: list[str] = []
    if golden is not None:
        _check_golden(golden, runs, groups, terms)
        asked = set(golden.ids)
        unasked = [name for name in ids if name not in asked]
        ids = [name for name in ids if name in asked]
    sides = tuple(make_side(run, group, ids, terms.samples) for run, group in zip(runs, groups, strict=True))
    away = lost if golden is None else sorted(set(golden.ids) - groups[-1].keys())
    labels = Labels(ids, sides, golden, terms, away, files or {})
    labels.check_slices()
    check_fields(terms.metrics, sides)
    agreed: list[str] = []
    if baseline is not None:
        usual, told = choose_inputs(sides[0], sides[1], terms)
        check_same_input(sides[0], sides[1], ids, terms.samples, usual)
        agreed = [*told, *check_agreement(sides[0], sides[1], ids, terms.provenance)]
        agreed += check_definitions(baseline, candidate, terms.metrics)
    if len(ids) < terms.samples.at_least:
        raise NotComparable(
            said("problem.too-few-pairs", count=len(ids), least=str(terms.samples.at_least)),
            candidate.file,
            said("hint.too-few-pairs"),
        )
    cluster, names = labels.clusters()
    metrics = {name: settle(name, metric, sides, labels, terms) for name, metric in terms.metrics.items()}
    identical = baseline is not None and records_are_the_same(baseline, candidate)
    carried = [] if baseline is None else find_carried(sides[0], sides[1], terms.metrics)
    pairs = Pairs(ids, sides, cluster, names, labels, metrics, identical, changed, carried)
    pairs.facts = _tell_pairing(pairs, lost, new, terms)
    pairs.notices = [*_notice(pairs, terms), *agreed]
    if golden is not None and unasked:
        named = name_some(unasked)
        pairs.notices.append(
            said("notice.not-in-golden-set", count=len(unasked), file=golden.file, ids=named)
        )
    return pairs


def _refuse_unpaired(runs: Sequence[Run], golden: Run | None) -> None:
    """Raise NotComparable for a run whose records nothing identifies; alone it can be held to fixed limits."""
    problems = [Problem(run.unpaired, run.file) for run in runs if run.unpaired]
    if problems and (len(runs) > 1 or golden is not None):
        raise NotComparable("records that nothing identifies can't be paired", problems=problems)


def _check_golden(
    golden: Run, runs: Sequence[Run], groups: Sequence[dict[str, list[int]]], terms: Terms
) -> None:
    asked: dict[str, int] = {}
    for row, name in enumerate(golden.ids):
        if asked.setdefault(name, row) != row:
            raise InputError(
                said("problem.twice-in-golden-set", id=name, line=str(golden.lines[asked[name]])),
                golden.place(row),
            )
    problems = []
    for run, group in zip(runs, groups, strict=True):
        missing = [name for name in asked if name not in group]
        if missing and (terms.samples.on_mismatch == "refuse" or len(missing) == len(asked)):
            message = said(
                "problem.golden-set-not-answered",
                missing=len(missing),
                asked=len(asked),
                file=golden.file,
                ids=name_some(missing, 10),
            )
            problems.append(Problem(message, run.file))
    if problems:
        raise NotComparable("a run does not answer the golden set", problems=problems)


def _tell_pairing(pairs: Pairs, lost: Sequence[str], new: Sequence[str], terms: Terms) -> Pairing:
    no_answer: list[LeftOutValues] = []
    no_score: list[LeftOutValues] = []
    looked_at = _slices_looked_at(pairs, terms)
    for name, values in pairs.metrics.items():
        runs = ["candidate"] if pairs.first_run else ["baseline", "candidate"]
        for run, read in zip(runs, values.sides, strict=True):
            if not (read.cause != OK).any():
                continue
            for place in [None, *looked_at]:
                for told in _tell_left_out(name, run, place, read, values, pairs):
                    (no_answer if told.cause == "no_answer" else no_score).append(told)
    return Pairing(
        paired=len(pairs.ids),
        clusters=len(np.unique(pairs.cluster)),
        attempts=any(side.repeated for side in pairs.sides),
        identical=pairs.identical,
        carried_over=len(pairs.carried),
        only_in_baseline=_tell_ids(lost, pairs.sides[0].run, pairs.labels, terms),
        only_in_candidate=_tell_ids(new, pairs.sides[-1].run, pairs.labels, terms),
        no_answer=no_answer,
        no_score=no_score,
        slices={name: len(pairs.labels.rows(name)) for name in looked_at},
    )


def _slices_looked_at(pairs: Pairs, terms: Terms) -> list[str]:
    families = [name for label in terms.family_labels for name in pairs.labels.family(label)]
    return list(dict.fromkeys([*terms.slice_lines, *families]))


def _tell_left_out(
    name: str, run: str, place: str | None, read: SideValues, values: MetricValues, pairs: Pairs
) -> list[LeftOutValues]:
    rows = values.expected if place is None else values.expected_in(pairs.labels.rows(place))
    told = []
    for cause, word in CAUSE_NAMES.items():
        found = rows[read.cause[rows] == cause]
        if len(found):
            told.append(
                LeftOutValues(
                    metric=name,
                    run=run,
                    slice=place,
                    cause=word,
                    counted_as="worst" if cause == COUNTED_WORST else "left out",
                    samples=len(found),
                    of=len(rows),
                    ids=[pairs.ids[row] for row in found[:5]],
                )
            )
    return told


def _tell_ids(ids: Sequence[str], run: Run, labels: Labels, terms: Terms) -> LeftOutIds:
    passed = None
    first = next(((name, metric) for name, metric in terms.metrics.items() if not metric.ratio), None)
    if ids and first is not None:
        name, metric = first
        wanted = set(ids)
        values = run.numbers(metric.field or name)[[row for row, one in enumerate(run.ids) if one in wanted]]
        scored = values[~np.isnan(values)]
        if len(scored) and np.isin(scored, (0.0, 1.0)).all():
            passed = int((scored == (1 if metric.better == "higher" else 0)).sum())
    counts = labels.count_by_slice(ids, run) if ids else {}
    return LeftOutIds(samples=len(ids), ids=list(ids[:20]), slices=counts, passed=passed)


def _notice(pairs: Pairs, terms: Terms) -> list[str]:
    notices: list[str] = []
    notices += tell_attempts(pairs.sides, pairs.ids)
    for side in pairs.sides:
        notices += [f"{side.run.file}: {warning}" for warning in side.run.warnings]
        _, other = find_errors(side.run)
        names = [
            name
            for name, metric in terms.metrics.items()
            if not (metric.ratio or metric.is_time(name) or metric.is_cost(name))
        ]
        scored = np.zeros(len(side.run), dtype=bool)
        for name in names:
            scored |= ~np.isnan(side.run.numbers(terms.metrics[name].field or name))
        number = int((other & scored).sum())
        if number:
            notices.append(said("notice.score-and-error", file=side.run.file, count=number))
    for name in terms.slice_lines:
        if name in pairs.labels.files and (away := pairs.labels.lost_in(name)):
            run = pairs.labels.files[name]
            counts = {"missing": len(away), "asked": len(run)}
            notices.append(
                said("notice.not-compared", slice=name, file=run.file, ids=name_some(away), **counts)
            )
    notices += tell_spellings(pairs.labels, terms)
    return [*notices, *tell_constant(pairs.metrics), *tell_carried(pairs)]
