"""Can these be values of the metric? Ranges, signs, and one scale in both files.

It refuses and changes nothing. What a missing value means is for `values`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gateline.errors import InputError, NotComparable, Problem
from gateline.metric import Metric
from gateline.pairing.marks import Flags, counts_tokens
from gateline.remark import list_some, said
from gateline.samples import Floats, Run

ROUNDING = 1e-6
"""A value outside its range by less than this part of the width is rounding noise and counts as the end."""
SHARE_ELSEWHERE = 0.2
"""From this part of the samples on, values of another size are another scale and no outliers."""
HUNDREDFOLD = 0.75
"""From this part of the values above 1 on, values that are a hundred times their partner's are percentages."""
FASTER = 50
"""A run of which every answer came so many times faster was timed in another unit, or answered from a cache."""

FEWEST_MEASURED = 10
"""Pairs in which the baseline measured something, from which on zeros of the candidate are looked at."""
MOSTLY_MEASURED = 0.9
"""Share of its pairs in which it must have done so: what is often 0 may be 0 more often."""
SHARE_UNMEASURED = 0.5
"""From this share of them on, a candidate's zeros tell that nothing was measured."""
_SPENT_ON_THE_SIDE = ("reason", "think", "cache")
"""Parts of names of tokens that an answer can do without."""


def known_range(name: str, metric: Metric, runs: Sequence[Run]) -> tuple[float, float] | None:
    """Return the range that values must lie in: the policy's, else the one that the tool of a run states.

    Raises NotComparable where the policy's goes beyond what the tool says can be: then it is of another scale, and so
    are the rules. A narrower one is the policy's to ask for.
    """
    if metric.ratio:
        return metric.range
    for run in runs:
        facts = run.find_facts(metric.field or name)
        if facts is None or facts.range is None:
            continue
        if metric.range is None:
            return facts.range
        slack = ROUNDING * (facts.range[1] - facts.range[0])
        if metric.range[0] < facts.range[0] - slack or metric.range[1] > facts.range[1] + slack:
            policy, tool = (
                said("span.values", low=f"{low:g}", high=f"{high:g}")
                for low, high in (metric.range, facts.range)
            )
            raise NotComparable(
                said("problem.wider-than-the-tool", metric=name, policy=policy, tool=tool),
                run.file,
                said(
                    "hint.wider-than-the-tool",
                    metric=name,
                    low=f"{facts.range[0]:g}",
                    high=f"{facts.range[1]:g}",
                ),
            )
    return metric.range


def check_range(name: str, ends: tuple[float, float], run: Run, value: Floats, looked_at: Flags) -> None:
    """Raise InputError for values (records) outside the range, beyond rounding."""
    slack = ROUNDING * (ends[1] - ends[0])
    with np.errstate(invalid="ignore"):
        outside = looked_at & ((value < ends[0] - slack) | (value > ends[1] + slack))
    shown = {"metric": name, "low": f"{ends[0]:g}", "high": f"{ends[1]:g}"}
    _refuse(
        f"{{}} values of {name} lie outside its range",
        ("problem.outside-range", shown),
        said("hint.outside-range", metric=name),
        (run, value, outside),
    )


def check_positive(name: str, field: str, run: Run, value: Floats, looked_at: Flags) -> None:
    """Raise InputError for times or costs (records) below 0: a usual way to write that there is none."""
    with np.errstate(invalid="ignore"):
        negative = looked_at & (value < 0)
    _refuse(
        f"{{}} values of {field} are below 0, and it is a time or a cost",
        ("problem.below-zero", {"metric": field}),
        said("hint.below-zero", metric=name),
        (run, value, negative),
    )


def _refuse(
    headline: str, sentence: tuple[str, dict[str, str]], hint: str, found: tuple[Run, Floats, Flags]
) -> None:
    """Raise InputError that names the first records; the sentence is a key and what stands in it beside the value."""
    run, value, refused = found
    rows = np.flatnonzero(refused)
    if not len(rows):
        return
    problems = [
        Problem(
            said(sentence[0], **sentence[1], id=run.ids[row], value=f"{value[row]:g}"),
            run.place(int(row)),
            "" if number else hint,
        )
        for number, row in enumerate(rows[:5])
    ]
    if len(rows) > 5:
        problems.append(
            Problem(said("problem.likewise", ids=list_some([run.ids[row] for row in rows[5:]], 10)), run.file)
        )
    raise InputError(headline.format(len(rows)), problems=problems)


def check_weights(name: str, field: str, run: Run, weight: Floats) -> None:
    """Raise InputError for a denominator below 0 (records)."""
    with np.errstate(invalid="ignore"):
        negative = np.flatnonzero(weight < 0)
    if len(negative):
        row = int(negative[0])
        raise InputError(
            said(
                "problem.negative-denominator",
                field=field,
                metric=name,
                value=f"{weight[row]:g}",
                id=run.ids[row],
            ),
            run.place(row),
            said("hint.negative-denominator"),
        )


def check_scale(
    name: str, before: Floats, after: Floats, file: str, *, fewer_is_better: bool = False
) -> None:
    """Raise NotComparable for a score that is 0 to 1 in one file and 0 to 100 in the other (pairs), or in parts.

    A few values of another size where less is better are outliers to be judged, such as two requests that timed out.
    """
    if not len(before):
        return
    if _are_share_and_percent(np.abs(before), np.abs(after)) or _change_scale_within(
        before, after, few=not fewer_is_better
    ):
        raise NotComparable(
            said(
                "problem.share-and-percent",
                metric=name,
                before=f"{np.abs(before).max():g}",
                after=f"{np.abs(after).max():g}",
            ),
            file,
            said("hint.share-and-percent", metric=name),
        )


def _are_share_and_percent(before: Floats, after: Floats) -> bool:
    """Return whether one side holds shares and the other, by its mean or by its size, percentages.

    A count that rises from 0 or 1 to 30 is none: shares have decimals.
    """
    small, large = sorted((before, after), key=lambda side: float(side.max()))
    if not small.max() <= 1 < large.max():
        return False
    if small.mean() > 0 and 30 <= large.mean() / small.mean() <= 300:
        return True
    has_decimals = bool((small % 1 != 0).any())
    return has_decimals and 10 < large.max() <= 100 and bool((large > 1).mean() >= SHARE_ELSEWHERE)


def _change_scale_within(before: Floats, after: Floats, *, few: bool) -> bool:
    """Return whether a part of the samples is a share in one file and about a hundred times that in the other.

    A fifth of them is that; a `few` are where one file is all shares, and three in four of the values beyond them in
    the other are about a hundred times their partner, as outliers would not be.
    """
    small, large = np.minimum(before, after), np.maximum(before, after)
    if small.min() < 0 or large.max() > 100:
        return False
    is_share = ((small > 0) & (small < 1)) | ((small == 1) & (large == 100))
    hundredfold = is_share & (large > 1) & (large >= 30 * small) & (large <= 300 * small)
    if int((hundredfold & (large > 10)).sum()) >= max(2.0, SHARE_ELSEWHERE * len(small)):
        return True
    if not few:
        return False
    shares, other = sorted((before, after), key=lambda side: float(side.max()))
    has_decimals = bool(((shares > 0) & (shares < 1)).any())
    count, beyond = int(hundredfold.sum()), int((other > 1).sum())
    return shares.max() <= 1 and has_decimals and count >= 2 and count >= HUNDREDFOLD * beyond


def check_unit(name: str, before: Floats, after: Floats, file: str) -> None:
    """Raise NotComparable for times that are in seconds in one file and in milliseconds in the other (pairs).

    So it is where the middle ratio of the pairs is near 1000 or 1/1000 (a factor of four either way; a candidate that
    seems at least `FASTER` times as fast may hide one that became ten times slower), and nine in ten of them lie within
    a factor of ten of the middle. A range in the policy says that such a difference is meant.
    """
    timed = (before > 0) & (after > 0)
    if not timed.any() or timed.sum() < len(before) / 2:
        return
    powers = np.log10(after[timed] / before[timed])
    middle = float(np.median(powers))
    is_even = float((np.abs(powers - middle) <= 1).mean()) >= 0.9
    slack = 3 - np.log10(FASTER) if middle < 0 else np.log10(4)
    if abs(abs(middle) - 3) <= slack and is_even:
        raise NotComparable(
            said(
                "problem.other-unit",
                metric=name,
                before=f"{np.median(before[timed]):.4g}",
                after=f"{np.median(after[timed]):.4g}",
                factor=f"{10 ** abs(middle):.2g}"
                if abs(middle) < 2
                else f"{round(10 ** abs(middle), -1):.0f}",
            ),
            file,
            said("hint.other-unit", metric=name),
        )


def can_be_no_zero(name: str, metric: Metric) -> bool:
    """Return whether the metric is a time, a cost or a count of tokens: each answer takes some, however good it is.

    Counts of errors and the like are none, as a better system brings them to 0. A range in the policy, or `free`, says
    that 0 is meant.
    """
    if metric.better == "higher" or metric.range is not None or metric.free:
        return False
    field = metric.ratio[0] if metric.ratio else metric.field or name
    is_tokens = counts_tokens(field) and not any(part in field.lower() for part in _SPENT_ON_THE_SIDE)
    return is_tokens or metric.is_time(name) or metric.is_cost(name)


def check_measured(name: str, before: Floats, after: Floats, file: str, *, is_cost: bool) -> None:
    """Raise NotComparable where a candidate's times, costs or tokens are 0 and the baseline's are not (pairs).

    A price table that lacks the model, and a clock that was not started, write 0, and nothing is as cheap. So it is
    where the baseline's are above 0 in `FEWEST_MEASURED` pairs and in nine of ten, and half of these are 0 in the
    candidate.
    """
    measured = before > 0
    count = int(measured.sum())
    zeros = int((measured & (after == 0)).sum())
    if count < FEWEST_MEASURED or count < MOSTLY_MEASURED * len(before) or zeros < SHARE_UNMEASURED * count:
        return
    raise NotComparable(
        said(
            "problem.not-measured",
            metric=name,
            zeros=zeros,
            count=count,
            before=f"{np.median(before[measured]):.4g}",
        ),
        file,
        said("hint.price-unknown" if is_cost else "hint.not-measured", metric=name),
    )
