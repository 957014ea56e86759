"""The text of a proposed policy, with the reasons as comments."""

from __future__ import annotations

from collections.abc import Sequence

import gateline
from gateline.errors import count_of, name_some
from gateline.field_names import words_of
from gateline.inspection import Inspection, inspect_run
from gateline.pairing.inputs import WITH_TEMPLATE, find_input_field
from gateline.pairing.spellings import find_spellings, say_spellings
from gateline.proposal.choices import FEWEST_IN_SLICE
from gateline.proposal.floors import Floor
from gateline.proposal.rule_lines import choose_worst, find_floor, propose_rules
from gateline.proposal.selection import (
    Chosen,
    Selection,
    fewest_values,
    lacks_red_lines,
    select,
    share_left_out,
)
from gateline.proposal.yaml_words import comment, number, quote
from gateline.reports.escape import clean
from gateline.samples import Run

CAUTION = "# CAUTION: "
"""What a line of the policy begins with that is said aloud as well."""
FEWEST_PAIRS = 30
"""Pairs below which a policy gives no verdict by default."""
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
    """Return a policy as YAML that gives a verdict on the run held against itself.

    Raises InputError where the file has no number to judge, none that a rule could see fall, or records that can't
    be paired.
    """
    found = inspect_run(run)
    selection = select(run, found)
    floor = find_floor(selection)
    parts = [
        _propose_head(found, name, selection, floor),
        _propose_samples(found, selection, find_input_field(run)),
        _propose_provenance(found),
        _propose_metrics(found, selection),
        _propose_missing(selection),
        _propose_slices(selection, floor),
        propose_rules(selection),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _propose_head(found: Inspection, name: str, selection: Selection, floor: Floor) -> list[str]:
    return [
        f"# A first policy, proposed by gateline {gateline.__version__} from {comment(found.file)}.",
        "# What it could not know it guessed: read each line, and change what is not meant.",
        "# gateline lint checks it, gateline explain says it in sentences.",
        *([f"{CAUTION}{say_too_few(selection.questions)}."] if selection.questions < FEWEST_PAIRS else []),
        *([f"{CAUTION}{_say_unjudged(floor)}."] if floor.unjudged else []),
        *[f"{CAUTION}{told}." for told in _say_split(selection)],
        *_say_what_few_settle(selection),
        "version: 1",
        f"name: {quote(name)}",
    ]


def say_too_few(questions: int) -> str:
    """Return what a run of so few questions is worth; the default of `samples.at_least` asks for more."""
    return (
        f"{count_of(questions, 'question is', 'questions are')} too few to gate with: chance alone may pass a worse "
        f"system or block an equal one; evaluate {FEWEST_PAIRS} at least, and write this again"
    )


def _say_unjudged(floor: Floor) -> str:
    """Return which slices nothing judges, and what makes a rule see them."""
    named = name_some([f"{comment(place)} ({size})" for place, size in floor.unjudged.items()], 5)
    return (
        f"too few questions to be judged as a slice: {named}. A loss there is shown and blocks nothing: ask more "
        "there, or write a rule of kind every for each question that must hold"
    )


def _say_split(selection: Selection) -> list[str]:
    """Return the labels of slices that have one value in several spellings, and so split its questions."""
    return [
        f"{comment(label.name)} has one value in several spellings, each a slice of its own: "
        f"{comment(name_some(told, 5))}; write them alike before this policy is used"
        for label in selection.labels
        if (told := say_spellings(find_spellings(label.counts)))
    ]


def _say_what_few_settle(selection: Selection) -> list[str]:
    """Return from which loss on so few questions catch one; a rule sees it where it shows beyond the tolerance."""
    told = [one.tolerance for one in selection.metrics if one.tolerance is not None]
    if not any(one.is_widened or one.by_value for one in told):
        return []
    caught = [one.bound + one.shows for one in told if one.is_widened and one.shows is not None]
    size = f"# {selection.independent:,} independent questions"
    if not caught:
        return [
            f"{size} are too few to tell noise from a loss; more questions are worth more than any setting."
        ]
    return [
        f"{size} catch a loss of about {min(caught):.2g} four times in five, where the metric is steadiest:",
        "# this gate can't settle less. More questions are worth more than any setting.",
    ]


def _propose_samples(found: Inspection, selection: Selection, asked: str | None) -> list[str]:
    settings = []
    if found.id_field != "id" and not found.made_ids:
        settings.append(f"  id: {quote(found.id_field)}")
    if selection.cluster is not None:
        groups = f"{selection.independent} groups of questions that rise and fall together"
        settings.append(f"  cluster: {quote(selection.cluster)}  # {groups}")
    if asked is not None:
        template = "; leave it out if it holds a template, too" if asked in WITH_TEMPLATE else ""
        settings.append(f"  same_input: [{asked}]  # one id, one question{template}")
    fewest = fewest_values(selection.metrics)
    if fewest < FEWEST_PAIRS:
        least = min(selection.metrics, key=lambda one: len(one.sample))
        settings += [
            f"  # {comment(least.metric.name)} has {count_of(len(least.sample), 'value', 'values')}. By default 30 are",
            "  # asked for, and so few show large changes only: more samples are worth more than any setting.",
            f"  at_least: {fewest}",
        ]
    return ["samples:", *settings] if settings else []


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


def _propose_metrics(found: Inspection, selection: Selection) -> list[str]:
    used = {one.metric.column.name for one in selection.metrics}
    rest = [one for one in found.numbers if one.name not in used and not one.is_diagnosis]
    left_out = selection.left_out
    lines = ["metrics:", *map(_define, selection.metrics)]
    for reason in dict.fromkeys(left_out.values()):
        names = [quote(comment(name)) for name in left_out if left_out[name] == reason]
        lines.append(f"  # {name_some(names, 8)}: left out: {clean(reason, 200)}")
    for column in rest:
        name = quote(comment(column.name))
        if column.name in left_out:
            continue
        if column.refused or not column.values:
            lines.append(f"  # {name}: no usable numbers in this file")
        elif column.kind == "score" and column.better is None:
            lines.append(f"  # {name}: {{better: higher}}  # or lower? Its name does not say")
    others = [
        comment(one.name)
        for one in rest
        if one.name not in left_out and one.values and not one.refused and (one.kind != "score" or one.better)
    ]
    if others:
        more = f" and {len(others) - 10} more" if len(others) > 10 else ""
        lines.append(f"  # Further numbers: {', '.join(others[:10])}{more}")
    return lines


def _define(one: Chosen) -> str:
    metric = one.metric
    settings = metric.as_defined()
    parts = [f"better: {metric.better}"]
    if settings.field is not None:
        parts.append(f"field: {quote(settings.field)}")
    note = ""
    if settings.range == (0.0, 1.0):
        parts += ["range: [0, 1]", "show_as: percent"]
    elif settings.range is not None:
        parts.append(f"range: [{', '.join(map(number, settings.range))}]")
    elif metric.column.range is not None:
        low, high = map(number, metric.column.range)
        note = f"  # looks like a scale from {low} to {high}: then add range: [{low}, {high}]"
    if settings.unit:
        parts.append(f"unit: {settings.unit}")
    if metric.summary != "mean":
        parts.append(f"summary: {metric.summary}")
    if one.part is not None:
        parts.append(f"applies_to: {quote(one.part.name)}")
    worst = choose_worst(one)
    if worst is not None:
        parts.append(f"worst: {number(worst)}")
        note = "  # worst: what a request counts that failed, and so has none"
    if metric.is_guess:
        note = "  # CHECK: the name does not say which way is better"
    return f"  {quote(metric.name)}: {{{', '.join(parts)}}}{note}"


def _propose_missing(selection: Selection) -> list[str]:
    share = share_left_out(selection.metrics)
    lines = [
        "missing:",
        "  no_answer: worst    # the system failed: that counts against it",
        "  no_score: drop      # the judge failed: nothing is known, the pair is left out",
    ]
    lines += [
        f"  # CHECK: {comment(one.metric.name)} has no value for {one.missing} of {one.expected} samples of this run"
        f" ({one.left_out:.1%})"
        for one in selection.metrics
        if one.left_out > 0.02
    ]
    why = "past this share there is no verdict; the default, as this run lacks so little"
    if lacks_red_lines(selection.metrics):
        why = "past this share there is no verdict; requests of this run have no time or no cost, and more may fail"
    elif share > 0.02:
        why = "past this share there is no verdict; what this run lacks, and room for one sample more"
    lines.append(f"  drop_at_most: {share * 100:g}%    # {why}")
    return lines


def _propose_slices(selection: Selection, floor: Floor) -> list[str]:
    labels = selection.labels
    named = [
        f"    {quote(part.name)}: {{{quote(part.label)}: {_list_values(part.values)}}}"
        for part in selection.parts
    ]
    if named:
        named = [
            "  named:  # where some metrics are defined; elsewhere they have no value, or mostly none",
            *named,
        ]
    if not labels:
        return [*(["slices:"] if named else []), *named,
            f"# No label has two values of which one has {FEWEST_IN_SLICE} samples: with labels such as language or",
            "# risk in the records, slices: {by: [language]} looks at each of their values.",
        ]  # fmt: skip
    lines = [
        "slices:",
        f"  by: [{', '.join(quote(label.name) for label in labels)}]",
        *named,
        f"  at_least: {floor.at_least}" + _say_why(floor),
    ]
    if floor.unjudged:
        lines.append("  # Slices that are smaller are shown, and not judged: see CAUTION above.")
    return lines


def _say_why(floor: Floor) -> str:
    if floor.at_least == FEWEST_IN_SLICE:
        return "    # pairs of a slice that is judged; a smaller one is shown, and blocks nothing"
    return "    # below the default of 30: a loss of three quarters of what a slice has is still shown, less may not be"


def _list_values(values: Sequence[str]) -> str:
    return quote(values[0]) if len(values) == 1 else f"[{', '.join(map(quote, values))}]"
