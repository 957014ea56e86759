"""When no verdict can rest on two reduced runs: other questions, empty slices, other scales, too much that is missing.

It refuses and says why; it tells nothing of runs that can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateline.errors import NotComparable, PolicyError, Problem
from gateline.pairing import Terms
from gateline.reduction.plan import Plan
from gateline.reduction.records import CAUSES, COUNTED_WORST
from gateline.reduction.sides import ReducedSide
from gateline.remark import said


def refuse_other_questions(sides: Sequence[ReducedSide]) -> None:
    """Raise NotComparable where the runs have other questions, slices, inputs or attempts."""
    before, after = sides
    file = after.reduced.file
    counts = [side.count("questions", None) for side in sides]
    if before.fingerprint(None) != after.fingerprint(None):
        raise NotComparable(
            f"the two runs did not answer the same questions: {counts[0]:,} in the baseline, {counts[1]:,} in the "
            "candidate, and the checksums of their ids or clusters differ",
            file,
            "log the same questions in both; or, where they are meant to be others, say so in the policy: "
            "samples: {on_mismatch: independent}",
        )  # fmt: skip
    moved = [
        place
        for place in sorted({*before.places, *after.places})
        if before.fingerprint(place) != after.fingerprint(place)
    ]
    if moved:
        raise NotComparable(
            f"the runs disagree on labels: other questions are in {', '.join(moved[:5])}",
            file, "labels belong to the golden set and must be the same in both runs",
        )  # fmt: skip
    inputs = [[side.count(name, None) for name in ("inputs", "hash3")] for side in sides]
    asked_for = before.plan.policy.policy.samples.same_input
    if all(one[0] for one in inputs) and inputs[0] != inputs[1]:
        raise NotComparable(
            "one id stands for different inputs in the two runs, or an input is missing in one of them",
            file, "gateline check on the logs themselves, or on a part of them, names the ids",
        )  # fmt: skip
    if asked_for and not all(one[0] for one in inputs):
        raise NotComparable(f"samples.same_input: a run has no {', '.join(asked_for)}", file)
    if before.count("hash4", None) != after.count("hash4", None):  # of each id with its number of attempts
        raise NotComparable(
            "the two runs tried the questions a different number of times",
            file,
            "make as many attempts at each question in both",
        )


def refuse_uneven_attempts(sides: Sequence[ReducedSide], terms: Terms) -> None:
    """Raise NotComparable where a run tries some questions more often than others by more than may be missing.

    Repeating only what failed lifts every mean. Runs of the same questions need not be asked: they tried each question
    equally often.
    """
    if terms.samples.uneven_attempts == "allow":
        return
    most = terms.missing.drop_at_most
    problems = [
        Problem(
            said("problem.uneven-tries", times=side.most_tries, questions=side.count("questions", None)),
            side.reduced.file,
            said("hint.uneven-attempts"),
        )
        for side in sides
        if side.untried_share > most + 1e-12
    ]
    if problems:
        raise NotComparable("questions were not tried equally often", problems=problems)


def refuse_empty_slices(sides: Sequence[ReducedSide], terms: Terms) -> None:
    """Raise PolicyError for a slice that a rule names and no sample carries: a slip of the pen."""
    problems = [
        Problem(f"no sample is in {name}", where, "look for a slip of the pen in its label and value")
        for name, where in terms.slice_lines.items()
        if not any(len(side.rows(name)) for side in sides)
    ]
    if problems:
        raise PolicyError("the policy names slices that no sample carries", problems=problems)


def refuse_scales(sides: Sequence[ReducedSide], plan: Plan) -> None:
    """Raise NotComparable for a score without a range that is a share in one run and a percentage in the other."""
    for name, metric in plan.metrics.items():
        is_score = not (metric.range or metric.ratio or metric.is_cost(name) or metric.is_time(name))
        if len(sides) < 2 or not is_score:
            continue
        both = [side.sums(name, None) for side in sides]
        if not all(one.size for one in both):
            continue
        small, large = sorted(both, key=lambda one: one.most)
        means = [one.value.sum() / one.size for one in (small, large)]
        if small.most <= 1 < large.most and means[0] > 0 and 30 <= means[1] / means[0] <= 300:
            raise NotComparable(
                said(
                    "problem.share-and-percent",
                    metric=name,
                    before=f"{both[0].most:g}",
                    after=f"{both[1].most:g}",
                ),
                sides[-1].reduced.file,
                said("hint.share-and-percent", metric=name),
            )


def refuse_missing(sides: Sequence[ReducedSide], terms: Terms) -> None:
    """Raise NotComparable where more values are left out than the policy allows, overall or in a hard slice."""
    most, problems = terms.missing.drop_at_most, []
    hint = said("hint.drop-at-most", share=f"{most * 100:g}") if most else said("hint.drop-none")
    for name in terms.metrics:
        for side in sides:
            for place in (None, *terms.hard_slices(side.family, name)):
                due, lost = side.due(name, place), side.lost(name, place)
                counts = side.causes(name, place)
                counts.pop(COUNTED_WORST, None)
                refused = [CAUSES[code] for code in counts if _is_refused(CAUSES[code], terms)]
                where = "" if place is None else f" in {place}"
                told = ", ".join(f"{number:,} {CAUSES[code]}" for code, number in counts.items())
                if terms.metrics[name].ratio and place is None and _is_undefined(side, name) and most < 1.0:
                    said_of = (
                        f"{name}: a ratio without a value, as the denominator is 0 in all {due:,} questions"
                    )
                    problems.append(Problem(said_of, side.reduced.file, hint))
                elif refused:
                    problems.append(
                        Problem(
                            f"{name}{where}: {told}, and missing.{refused[0]} is refuse", side.reduced.file
                        )
                    )
                elif due and lost / due > most + 1e-12:
                    share = f"{lost:,.6g} of {due:,} values are missing ({lost / due:.1%}; {told})"
                    problems.append(Problem(f"{name}{where}: {share}", side.reduced.file, hint))
    if problems:
        raise NotComparable("too many values are missing for a verdict", problems=problems)


def _is_undefined(side: ReducedSide, name: str) -> bool:
    """Say whether the denominators of all questions that have one are 0: then the ratio has no value at all."""
    return bool(side.sums(name, None).size) and not side.weighed(name, None).any()


def _is_refused(cause: str, terms: Terms) -> bool:
    return (terms.missing.no_answer if cause == "no_answer" else terms.missing.no_score) == "refuse"
