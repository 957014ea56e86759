"""A policy in plain sentences, and what is worth a second thought in it though it is valid."""

from __future__ import annotations

from collections.abc import Iterable

from gateline.errors import count_of
from gateline.field_names import guess_better_of_metric
from gateline.metric import Metric
from gateline.policy import Policy, PolicyFile
from gateline.rules import Rule

_BURDEN = {
    "fail": "what the data can't settle blocks",
    "warn": "what the data can't settle is let through with a warning",
    "pass": "only shown harm blocks",
}
_NO_ANSWER = {"worst": "counts as the worst value", "drop": "is left out", "refuse": "ends without a verdict"}


def explain(file: PolicyFile) -> str:
    """Return the policy as a text that reads from top to bottom as an argument."""
    policy = file.policy
    parts = [
        [f"The gate {policy.name}" + (f": {policy.description}" if policy.description else "")],
        ["What is compared:", *_bullets(_say_samples(policy))],
        [
            "What is measured:",
            *_bullets(_say_metric(name, metric) for name, metric in policy.metrics.items()),
        ],
        *_say_calibration(policy),
        ["What a missing value means:", *_bullets(_say_missing(policy))],
        *_say_slices(policy),
        ["What must hold:", *_bullets(f"{rule.id}: {_say_rule(rule, policy)}" for rule in policy.rules)],
    ]
    if policy.waivers:
        parts.append(
            [
                "What is let through for now:",
                *_bullets(
                    f"{one.rule}{f' in {one.slice}' if one.slice else ''} up to {one.up_to} "
                    f"until {one.until.isoformat()} ({one.by}: {one.reason})"
                    for one in policy.waivers
                ),
            ]
        )
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def review(file: PolicyFile) -> list[str]:
    """Return what is valid and yet worth a thought."""
    policy = file.policy
    judged = {rule.metric for rule in policy.rules}
    looked_at = {rule.slice for rule in policy.rules} | {
        metric.applies_to for metric in policy.metrics.values()
    }
    notes = [
        f"metrics.{name} is measured but no rule judges it" for name in policy.metrics if name not in judged
    ]
    notes += [
        f"slices.{part}.{name} is named but no rule looks at it"
        for part in ("named", "files")
        for name in getattr(policy.slices, part)
        if name not in looked_at
    ]
    if policy.slices.by and not any(rule.slices for rule in policy.rules):
        notes.append("slices.by lists labels but no rule has 'slices: true'")
    for name, metric in policy.metrics.items():
        if (
            metric.range is None
            and not metric.is_cost(name)
            and not metric.is_time(name)
            and metric.quantile is None
        ):
            notes.append(
                f"metrics.{name} has no range: a value out of range can't be noticed, and small slices get "
                "narrower intervals than they should"
            )
    notes += [
        f"metrics.{name} says 'better: {metric.better}', and by its name {usual} is better"
        for name, metric in policy.metrics.items()
        if (usual := guess_better_of_metric(metric.field or name)) not in (None, metric.better)
    ]
    return notes + [
        note for rule in policy.rules for note in _notes_on(rule, policy.metrics.get(rule.metric))
    ]


def _notes_on(rule: Rule, metric: Metric | None) -> Iterable[str]:
    """Yield what is odd about one rule."""
    if rule.kind == "tolerance" and rule.decides_by == "value" and not rule.hard:
        yield (
            f"rules.{rule.id} decides by value: noise alone can break it or hide a loss; "
            "'decide_by: interval' says how sure"
        )
    bounds = rule.bound_fields()
    if metric is None or rule.kind == "calibration":  # which way is better for a judge, its measure says
        return
    wrong_way = "at_least" if metric.better == "lower" else "at_most"
    if wrong_way in bounds:
        yield f"rules.{rule.id} has {wrong_way}, but {metric.better} is better: it guards the good end"
    for name in ("worse_by_at_most", "better_by_at_least"):
        written = bounds.get(name)
        for one in written if isinstance(written, list) else [written]:
            if isinstance(one, str) and metric.show_as == "percent":
                points = float(one.rstrip("%"))
                yield (
                    f"rules.{rule.id}: {name} {one} is a share of the baseline; {points:g} points would be "
                    f"{points / 100:g}"
                )


def _say_samples(policy: Policy) -> Iterable[str]:
    samples = policy.samples
    if samples.on_mismatch == "independent":
        yield (
            "the two runs answered other questions and are taken as independent, from reduced files; below "
            f"{count_of(samples.at_least, 'question', 'questions')} in either there is no verdict"
        )
        yield (
            f"a candidate with over {policy.missing.drop_at_most * 100:g} % fewer questions than the baseline, overall "
            "or in a slice of a hard rule, ends without a verdict; in any other slice nothing passes then"
        )
    else:
        yield (
            f"the two runs are joined on the field '{samples.id}'; below "
            f"{count_of(samples.at_least, 'pair', 'pairs')} there is no verdict"
        )
        yield (
            "ids in one run only end without a verdict"
            if samples.on_mismatch == "refuse"
            else "ids in one run only are left out and reported"
        )
    if samples.golden_set:
        yield f"both runs must answer the golden set {samples.golden_set}"
    if samples.cluster:
        yield f"samples with the same '{samples.cluster}' rise and fall together and count as one cluster"
    if policy.provenance.must_match:
        yield f"both runs must have been made with the same {', '.join(policy.provenance.must_match)}"
    settings = policy.statistics
    yield f"intervals are at {settings.confidence * 100:g} %, method {settings.method}, seed {settings.seed}"


def _say_metric(name: str, metric: Metric) -> str:
    source = f"{metric.ratio[0]} / {metric.ratio[1]}" if metric.ratio else metric.field or name
    ends = f", between {metric.range[0]:g} and {metric.range[1]:g}" if metric.range else ""
    where = f", only for {metric.applies_to}" if metric.applies_to else ""
    unit = f" in {metric.unit}" if metric.unit else ""
    return f"{name}: the {metric.summary_name} of '{source}'{unit}{ends}{where}; {metric.better} is better"


def _say_calibration(policy: Policy) -> list[list[str]]:
    """Return what people's labels correct, as a part of its own; nothing where there are none."""
    if not policy.calibration:
        return []
    lines = [
        f"{one.metric}: rules decide on what people would say, from their labels in {one.human} and the judge's "
        f"everywhere, from {count_of(one.at_least, 'label', 'labels')} by chance on; with fewer the judge's fail "
        "stands, and nothing else is settled"
        for one in policy.calibration
    ]
    return [["What people's labels correct:", *_bullets(lines)]]


def _say_missing(policy: Policy) -> Iterable[str]:
    missing = policy.missing
    yield f"a sample without an answer {_NO_ANSWER[missing.no_answer]}"
    yield f"a sample without a score {_NO_ANSWER[missing.no_score]}"
    yield (
        f"past {missing.drop_at_most * 100:g} % left out of a metric in one run, overall or in a slice of a hard "
        "rule, there is no verdict"
    )


def _say_slices(policy: Policy) -> list[list[str]]:
    """Return from how many pairs on a slice is judged, as a part of its own; nothing where no rule looks at one."""
    least = count_of(policy.slices.at_least, "pair", "pairs")
    lines = []
    if any(rule.slices and not rule.hard for rule in policy.rules):
        lines.append(
            f"where a rule looks at each value of a label, one with fewer than {least} is not judged "
            "(slices.at_least): its numbers are shown, and block nothing"
        )
    if any(rule.slice and not rule.hard and rule.kind != "every" for rule in policy.rules):
        lines.append(
            f"a slice that a rule names is not settled below {least} (slices.at_least), and the rule says "
            "what that does"
        )
    return [["How small a slice may be:", *_bullets(lines)]] if lines else []


def _say_rule(rule: Rule, policy: Policy) -> str:
    metric = policy.metrics[rule.metric]
    labels = rule.labels(policy.slices.by)
    where = f" in {rule.slice}" if rule.slice else f" for each value of {', '.join(labels)}" if labels else ""
    if rule.slice in policy.slices.files:
        where += f", the questions of {policy.slices.files[rule.slice]}"
    if rule.hard:
        how = "hard: by the plain value, however few the samples, never waived"
    elif rule.kind == "every":
        how = "each sample by itself"
    elif rule.decides_by == "value":
        how = "by the plain value"
    else:
        how = f"by the whole interval; {_BURDEN[rule.if_inconclusive]}"
    return f"{rule.sentence(metric)}{where} ({how})"


def _bullets(lines: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in lines]
