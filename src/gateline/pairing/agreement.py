"""In what two runs must agree because their tools say so: else the same numbers mean different things.

What the policy asks for stands in `provenance.py`; here it can only allow more, by provenance.may_change.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateline.agreement import texts_agree
from gateline.errors import NotComparable, Problem, cut
from gateline.metric import Metric
from gateline.pairing.join import Side
from gateline.pairing.joined import refuse_joined_baseline
from gateline.pairing.provenance import state_facts
from gateline.pairing.settings import Provenance
from gateline.remark import Said, name_some, said
from gateline.samples import Agreement, MetricFacts, Run

_MOST_IDS = 3


def check_agreement(baseline: Side, candidate: Side, ids: Sequence[str], provenance: Provenance) -> list[str]:
    """Return notices on facts that one run does not state, or not for all questions.

    Raises NotComparable where a fact that must agree differs and the policy does not let it change.
    """
    problems: list[Problem] = []
    notices: list[str] = []
    must = {**baseline.run.must_agree, **candidate.run.must_agree}
    for name, agreement in must.items():
        if name in provenance.may_change:
            continue
        before, after = _values(baseline, name), _values(candidate, name)
        differing = [
            position
            for position, (old, new) in enumerate(zip(before, after, strict=True))
            if old and new and not texts_agree(old, new, agreement)
        ]
        if differing:
            problems.append(_tell(name, agreement, differing, (before, after), ids, candidate.run))
        silent = [
            side.run.file
            for side, values, others in ((baseline, before, after), (candidate, after, before))
            if any(others) and not any(values)
        ]
        notices += [said("notice.fact-not-said", file=file, field=name) for file in silent]
        notices += _tell_gaps(name, (baseline, candidate), (before, after), ids)
    if problems:
        raise NotComparable("the numbers of the two runs do not mean the same", problems=problems)
    return notices


def _tell_gaps(
    name: str, sides: tuple[Side, Side], values: tuple[Sequence[str], Sequence[str]], ids: Sequence[str]
) -> list[str]:
    """Return notices on a run that does not say a fact for some questions for which the other run does."""
    notices: list[str] = []
    for side, own, others in zip(sides, values, values[::-1], strict=True):
        gaps = [at for at, (one, other) in enumerate(zip(own, others, strict=True)) if other and not one]
        if gaps and any(own):
            shown = name_some((ids[at] for at in gaps), _MOST_IDS)
            counts = {"missing": len(gaps), "asked": len(ids)}
            notices.append(
                said("notice.fact-not-said-for", file=side.run.file, field=name, ids=shown, **counts)
            )
    return notices


def check_definitions(baseline: Run, candidate: Run, metrics: dict[str, Metric]) -> list[str]:
    """Return notices on metrics that the policy reads the other way than their tool.

    Raises NotComparable where a metric of the policy is defined differently in the two runs, or stands for the
    candidate in a file of the baseline.
    """
    refuse_joined_baseline(baseline, candidate, metrics)
    problems: list[Problem] = []
    notices: list[str] = []
    for name, metric in metrics.items():
        for field in metric.ratio or (metric.field or name,):
            before, after = baseline.find_facts(field), candidate.find_facts(field)
            if before and after:
                problems += _compare_facts(field, before, after, candidate.file)
            told = {facts.better for facts in (before, after) if facts and facts.better}
            if not metric.ratio and told and metric.better not in told:
                notices.append(
                    said(
                        "notice.other-direction",
                        metric=name,
                        policy=said(f"direction.{metric.better}"),
                        tool=[said(f"direction.{way}") for way in sorted(told)],
                    )
                )
    if problems:
        raise NotComparable("a metric is not the same in the two runs", problems=problems)
    return notices


def _compare_facts(field: str, before: MetricFacts, after: MetricFacts, file: str) -> list[Problem]:
    found: list[Said] = []
    if before.definition != after.definition:
        told = [facts.definition or said("word.not-stated") for facts in (before, after)]
        found.append(said("problem.another-metric", field=field, before=told[0], after=told[1]))
    if before.better and after.better and before.better != after.better:
        ways = [said(f"direction.{facts.better}") for facts in (before, after)]
        found.append(said("problem.another-direction", field=field, before=ways[0], after=ways[1]))
    if before.range and after.range and before.range != after.range:
        ends = [
            said("span.values", low=f"{ends[0]:g}", high=f"{ends[1]:g}")
            for ends in (before.range, after.range)
        ]
        found.append(said("problem.another-scale", field=field, before=ends[0], after=ends[1]))
    return [Problem(text, file, said("hint.one-version")) for text in found]


def _values(side: Side, name: str) -> list[str]:
    """Return the fact for each paired question: of its record, or else of the whole run; "" where not stated."""
    texts = side.run.texts(name) if name not in side.run.provenance else None
    if texts is None:
        return [state_facts(side.run).get(name, "")] * len(side.first)
    return [texts[row] for row in side.first]


def _tell(
    name: str,
    agreement: Agreement,
    differing: Sequence[int],
    values: tuple[Sequence[str], Sequence[str]],
    ids: Sequence[str],
    candidate: Run,
) -> Problem:
    first = differing[0]
    before, after = cut(values[0][first]), cut(values[1][first])
    what = said("problem.fact-differs", field=name, before=before, after=after)
    if len(differing) < len(ids) or len(ids) == 1:
        what = said(
            "problem.fact-differs-for", what=what, ids=name_some((ids[at] for at in differing), _MOST_IDS)
        )
    if agreement == "major version":
        what = said("problem.major-version", what=what)
    return Problem(what, candidate.file, said("hint.rerun-or-let-differ", field=name))
