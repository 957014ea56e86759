"""The text of a proposed policy, with the reasons as comments."""

from __future__ import annotations

from collections.abc import Sequence

import gateline
from gateline.errors import InputError
from gateline.field_names import guess_unit, words_of
from gateline.inspection import Inspection, LabelColumn, inspect_run
from gateline.proposal.choices import (
    FEWEST_IN_SLICE,
    ProposedMetric,
    choose_cluster,
    choose_labels,
    choose_metrics,
    finest_tolerance,
    smallest_slice,
)
from gateline.proposal.yaml_words import comment, number, quote, round_up_to_two_digits
from gateline.samples import Run

HEADROOM = 1.25
MOST_BY_SLICE = 3
"""Metrics that are also judged slice by slice."""
MUST_MATCH = frozenset({"corpus", "dataset", "golden", "judge", "questions", "snapshot"})
MAY_CHANGE = frozenset(
    {
        "chunk",
        "commit",
        "embedder",
        "embedding",
        "generator",
        "index",
        "model",
        "prompt",
        "reranker",
        "retriever",
    }
)


def propose_policy(run: Run, *, name: str = "first-gate") -> str:
    """Return a policy as YAML that loads as it stands; an InputError where the file has no number to judge."""
    found = inspect_run(run)
    metrics = choose_metrics(found.numbers)
    if not metrics:
        raise InputError(
            "has no numbers that a policy could judge", run.file, "gateline inspect shows what it has"
        )
    cluster, independent = choose_cluster(run)
    labels = choose_labels(found, cluster)
    parts = [
        _propose_head(found, name),
        _propose_samples(found, cluster, independent),
        _propose_provenance(found),
        _propose_metrics(found, metrics),
        _propose_missing(found, metrics),
        _propose_slices(labels),
        _propose_rules(metrics, labels, independent),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _propose_head(found: Inspection, name: str) -> list[str]:
    return [
        f"# A first policy, proposed by gateline {gateline.__version__} from {comment(found.file)}.",
        "# What it could not know it guessed: read each line, and change what is not meant.",
        "# gateline lint checks it, gateline explain says it in sentences.",
        "version: 1",
        f"name: {quote(name)}",
    ]


def _propose_samples(found: Inspection, cluster: str | None, independent: int) -> list[str]:
    settings = []
    if found.id_field != "id" and not found.made_ids:
        settings.append(f"  id: {quote(found.id_field)}")
    if cluster is not None:
        settings.append(
            f"  cluster: {quote(cluster)}  # {independent} groups of questions that rise and fall together"
        )
    lines = ["samples:", *settings] if settings else []
    if found.distinct_ids < 30:
        lines += [
            f"# There are {found.distinct_ids} questions. Below 30 pairs there is no verdict, unless samples.at_least",
            "# is set lower; so few questions show only large changes.",
        ]
    return lines


def _propose_provenance(found: Inspection) -> list[str]:
    must = [name for name in found.provenance if words_of(name) & MUST_MATCH]
    may = [name for name in found.provenance if words_of(name) & MAY_CHANGE and name not in must]
    if not must and not may:
        return [
            "# The file does not say how the run was made. Runs that name their golden set, corpus and judge can be",
            "# held to it: provenance: {must_match: [golden_set.version, corpus.snapshot, judge.model]}",
        ]
    lines = ["provenance:"]
    if must:
        lines.append(f"  must_match: [{', '.join(map(quote, must))}]")
    if may:
        lines.append(f"  may_change: [{', '.join(map(quote, may))}]")
    return lines


def _propose_metrics(found: Inspection, metrics: Sequence[ProposedMetric]) -> list[str]:
    used = {metric.column.name for metric in metrics}
    left = [column for column in found.numbers if column.name not in used]
    lines = ["metrics:", *map(_define, metrics)]
    for column in left:
        name = quote(comment(column.name))
        if column.refused or not column.values:
            lines.append(f"  # {name}: no usable numbers in this file")
        elif column.kind == "score" and column.better is None:
            lines.append(f"  # {name}: {{better: higher}}  # or lower? Its name does not say")
    others = [
        comment(column.name)
        for column in left
        if column.values and not column.is_diagnosis and (column.kind != "score" or column.better)
    ]
    if others:
        lines.append(f"  # Further numbers: {', '.join(others[:10])}")
    return lines


def _define(metric: ProposedMetric) -> str:
    column = metric.column
    parts = [f"better: {metric.better}"]
    if metric.name != column.name:
        parts.append(f"field: {quote(column.name)}")
    note = ""
    if column.range == (0.0, 1.0):
        parts += ["range: [0, 1]", "show_as: percent"]
    elif column.range is not None and column.is_stated:
        parts.append(f"range: [{', '.join(map(number, column.range))}]")
    elif column.range is not None:
        low, high = map(number, column.range)
        note = f"  # looks like a scale from {low} to {high}: then add range: [{low}, {high}]"
    unit = guess_unit(column.name)
    if metric.is_red_line and unit:
        parts.append(f"unit: {unit}")
    if metric.summary != "mean":
        parts.append(f"summary: {metric.summary}")
    if metric.is_guess:
        note = "  # CHECK: the name does not say which way is better"
    return f"  {quote(metric.name)}: {{{', '.join(parts)}}}{note}"


def _propose_missing(found: Inspection, metrics: Sequence[ProposedMetric]) -> list[str]:
    lines = [
        "missing:",
        "  no_answer: worst    # the system failed: that counts against it",
        "  no_score: drop      # the judge failed: nothing is known, the pair is left out",
        "  drop_at_most: 2%    # and past this share there is no verdict",
    ]
    for metric in metrics:
        lost = sum(times for cause, times in metric.column.missing.items() if cause != "no_answer")
        if lost > 0.02 * found.samples:
            lines.append(
                f"  # {comment(metric.name)} has no score in {lost / found.samples:.0%} of this run's records"
            )
    return lines


def _propose_slices(labels: Sequence[LabelColumn]) -> list[str]:
    if not labels:
        return [
            f"# No label has two values of which one has {FEWEST_IN_SLICE} samples: with labels such as language or",
            "# risk in the records, slices: {by: [language]} looks at each of their values.",
        ]
    lines = ["slices:", f"  by: [{', '.join(quote(label.name) for label in labels)}]", "  at_least: 30"]
    for label in labels:
        small = [comment(text) for text, times in label.counts.items() if times < FEWEST_IN_SLICE]
        if small:
            named = ", ".join(small[:5]) + (" …" if len(small) > 5 else "")
            lines.append(f"  # too few to be judged in {comment(label.name)}: {named}")
    return lines


def _propose_rules(
    metrics: Sequence[ProposedMetric], labels: Sequence[LabelColumn], independent: int
) -> list[str]:
    scores = [metric for metric in metrics if not metric.is_red_line]
    lines = ["rules:"]
    if scores:
        lines += [
            f"  # Not worse than the baseline by more than {independent} independent questions can show: 2.8 standard",
            "  # errors, rounded up, as if the two runs' scores correlated by one half.",
        ]
    lines += [_hold(metric, independent, "holds") for metric in scores]
    if labels and scores:
        lines += [
            "  # In each slice only a shown loss blocks; what a small slice can't settle passes.",
            *(
                _hold(metric, smallest_slice(labels), "by-slice", ", slices: true, on_inconclusive: pass")
                for metric in scores[:MOST_BY_SLICE]
            ),
        ]
    lines += [line for metric in metrics if metric.is_red_line for line in _draw_line(metric)]
    return lines


def _hold(metric: ProposedMetric, independent: int, word: str, settings: str = "") -> str:
    tolerance = finest_tolerance(metric.column, independent)
    bound = "10%" if tolerance is None else number(tolerance)
    rule = quote(f"{metric.name}-{word}")
    return f"  - {{id: {rule}, kind: tolerance, metric: {quote(metric.name)}{settings}, worse_by_at_most: {bound}}}"


def _draw_line(metric: ProposedMetric) -> list[str]:
    """Return a limit with head-room above what this run took."""
    column = metric.column
    seen = column.p95 if metric.summary == "p95" else column.mean
    name, rule = quote(metric.name), quote(f"{metric.name}-line")
    if seen is None or seen <= 0:
        return [f"  - {{id: {rule}, kind: tolerance, metric: {name}, worse_by_at_most: 10%}}"]
    limit = round_up_to_two_digits(seen * HEADROOM)
    shown = f"{metric.summary} of this run: {seen:.4g}, and 25 % of head-room"
    return [f"  - {{id: {rule}, kind: limit, metric: {name}, at_most: {number(limit)}}}  # {shown}"]
