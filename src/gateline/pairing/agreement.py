"""In what two runs must agree because their tools say so: else the same numbers mean different things.

What the policy asks for stands in `provenance.py`; here it can only allow more, by provenance.may_change.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateline.errors import NotComparable, Problem, name_some
from gateline.metric import Metric
from gateline.pairing.join import Side
from gateline.pairing.provenance import state_facts
from gateline.pairing.settings import Provenance
from gateline.samples import Agreement, MetricFacts, Run

_MOST_IDS = 3


def check_agreement(baseline: Side, candidate: Side, ids: Sequence[str], provenance: Provenance) -> list[str]:
    """Return notices on facts that one run does not state.

    Raises NotComparable where a fact that must agree differs and the policy does not let it change.
    """
    problems, notices = [], []
    must = {**baseline.run.must_agree, **candidate.run.must_agree}
    for name, agreement in must.items():
        if name in provenance.may_change:
            continue
        before, after = _values(baseline, name), _values(candidate, name)
        differing = [
            position
            for position, (old, new) in enumerate(zip(before, after, strict=True))
            if old and new and _compared(old, agreement) != _compared(new, agreement)
        ]
        if differing:
            problems.append(_tell(name, agreement, differing, (before, after), ids, candidate.run))
        silent = [
            side.run.file
            for side, values, others in ((baseline, before, after), (candidate, after, before))
            if any(others) and not any(values)
        ]
        notices += [
            f"{file} does not say its {name}, so it is not known whether it changed" for file in silent
        ]
    if problems:
        raise NotComparable("the numbers of the two runs do not mean the same", problems=problems)
    return notices


def check_definitions(baseline: Run, candidate: Run, metrics: dict[str, Metric]) -> list[str]:
    """Return notices on metrics that the policy reads the other way than their tool.

    Raises NotComparable where a metric of the policy is defined differently in the two runs.
    """
    problems, notices = [], []
    for name, metric in metrics.items():
        for field in metric.ratio or (metric.field or name,):
            before, after = baseline.find_facts(field), candidate.find_facts(field)
            if before and after:
                problems += _compare_facts(field, before, after, candidate.file)
            said = {facts.better for facts in (before, after) if facts and facts.better}
            if not metric.ratio and said and metric.better not in said:
                notices.append(
                    f"{name}: the policy says {metric.better} is better, the tool that wrote it says "
                    f"{', '.join(sorted(said))}"
                )
    if problems:
        raise NotComparable("a metric is not the same in the two runs", problems=problems)
    return notices


def _compare_facts(field: str, before: MetricFacts, after: MetricFacts, file: str) -> list[Problem]:
    found = []
    if before.definition != after.definition:
        said = [facts.definition or "not stated" for facts in (before, after)]
        found.append(f"{field} is another metric in the two files: {said[0]} in the baseline, {said[1]} in")
    if before.better and after.better and before.better != after.better:
        found.append(f"{field}: {before.better} is better in the baseline, {after.better} in")
    if before.range and after.range and before.range != after.range:
        shown = [f"{facts[0]:g} to {facts[1]:g}" for facts in (before.range, after.range)]
        found.append(f"{field} is on another scale: {shown[0]} in the baseline, {shown[1]} in")
    hint = "evaluate both with one version and the same settings of the tool"
    return [Problem(f"{text} the candidate", file, hint) for text in found]


def _values(side: Side, name: str) -> list[str]:
    """Return the fact for each paired question: of its record, or else of the whole run; "" where not stated."""
    texts = side.run.texts(name) if name not in side.run.provenance else None
    if texts is None:
        return [state_facts(side.run).get(name, "")] * len(side.first)
    return [texts[row] for row in side.first]


def _compared(value: str, agreement: Agreement) -> str:
    return value.partition(".")[0] if agreement == "major version" else value


def _tell(
    name: str,
    agreement: Agreement,
    differing: Sequence[int],
    values: tuple[Sequence[str], Sequence[str]],
    ids: Sequence[str],
    candidate: Run,
) -> Problem:
    first = differing[0]
    what = f"{name} is '{_cut(values[0][first])}' in the baseline and '{_cut(values[1][first])}' in the candidate"
    if len(differing) < len(ids) or len(ids) == 1:
        what += f", for {name_some([repr(ids[position]) for position in differing], _MOST_IDS)}"
    if agreement == "major version":
        what += "; they must agree in the major version"
    return Problem(
        what,
        candidate.file,
        f"rerun one of them, so that both are made alike; or let it differ: provenance: {{may_change: [{name}]}}",
    )


def _cut(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
