"""Numbers as people read them: points, percent, units, and as many digits as the outcome needs.

A shown number never contradicts the outcome: where rounding would put a number on its bound, more digits are
shown. This module knows numbers only; sentences are made in `wording`, and the words of units are the language's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from gateline.texts import Texts, load

if TYPE_CHECKING:
    from gateline.findings import Finding
    from gateline.verdict import ChangedSample, WorstSample

MINUS = "−"
UNKNOWN = "—"
MOST_DECIMALS = 9
"""Enough to tell any two numbers apart that differ in `verdict.json`."""

_TINY, _HUGE = 1e-6, 1e15

Kind = Literal["number", "percent", "points"]
"""What a number is: in the metric's own unit, a percentage, or a change of one."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How numbers of one kind are shown."""

    factor: float
    """100 for percent and points, else 1."""
    unit: str
    """What follows the number, with its blank; empty for a bare number."""
    decimals: int
    """Digits after the point."""
    kind: Kind = "number"
    """What the unit means, whatever it is called."""

    def bare(self, value: float | None, *, sign: bool = False) -> str:
        """Return the number without its unit; `sign` puts a plus before a positive one."""
        return spell(None if value is None else value * self.factor, self.decimals, sign=sign)

    def full(self, value: float | None, *, sign: bool = False) -> str:
        """Return the number with its unit."""
        return UNKNOWN if value is None else self.bare(value, sign=sign) + self.unit

    def showing(self, value: float) -> Scale:
        """Return the scale with decimals enough for two digits of a number, so that it never looks like zero."""
        size = abs(value * self.factor)
        if not size or not math.isfinite(size):
            return self
        two = min(1 - math.floor(math.log10(size)), MOST_DECIMALS)
        return replace(self, decimals=max(self.decimals, two))


def spell(value: float | None, decimals: int, *, sign: bool = False) -> str:
    """Return a number with a true minus sign and commas between thousands.

    None and NaN are a dash; zero, also a rounded one, has no sign; very small and very large numbers are
    written as `1.2e−7`.
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return f"{MINUS if value < 0 else ''}∞"
    size = abs(value)
    if size and not _TINY <= size < _HUGE:
        digits, _, exponent = f"{size:.3g}".partition("e")
        digits += f"e{exponent}".replace("e-0", f"e{MINUS}").replace("e-", f"e{MINUS}").replace("e+", "e")
    else:
        digits = f"{_without_noise(size):,.{decimals}f}"
    if not any(digit in "123456789" for digit in digits):
        return digits
    return (MINUS if value < 0 else "+" if sign else "") + digits


def number(value: float, *, sign: bool = False) -> str:
    """Return a number with three digits, for the axis of a drawing and the curves of a time."""
    return spell(value, _without_common_zeros([value], _three_digits([value])), sign=sign)


def about(count: int) -> str:
    """Return a count with two digits, rounded up: an estimate has no more. `1,262` is about `1,300`."""
    step = 10 ** max(len(str(count)) - 2, 0)
    return f"{-(-count // step) * step:,}"


def confidence_text(level: float, texts: Texts | None = None) -> str:
    """Return a confidence as `95 %`, with as many nines as it has: `99.79 %`."""
    rest = (1 - level) * 100
    decimals = 0 if rest <= 0 else max(0, 1 - math.floor(math.log10(rest) + 1e-9))
    digits = f"{_without_noise(level * 100):.{min(decimals, MOST_DECIMALS)}f}"
    if level < 1 and float(digits) >= 100:  # no interval is certain
        digits = f"99.{'9' * MOST_DECIMALS}"
    shown = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return shown + (texts or load()).say("unit.percent")


def scale_of_values(finding: Finding, unit: str | None, texts: Texts | None = None) -> Scale:
    """Return how the metric's own values are shown, for a limit also its bound and interval."""
    values = [finding.baseline, finding.candidate]
    kept_apart = [(finding.baseline, finding.candidate)]
    if finding.judged == "candidate":
        values += _judged_numbers(finding)
        kept_apart += _comparisons(finding)
    kind = _kind(finding, "percent")
    return _scale(kind, _suffix(kind, unit, texts), values, kept_apart, exact=_exact(finding, "candidate"))


def scale_of_gains(finding: Finding, unit: str | None, texts: Texts | None = None) -> Scale:
    """Return how a gain in the metric's unit is shown: in points for a percent metric."""
    values = [finding.gain]
    kept_apart: list[tuple[float | None, float | None]] = [(finding.gain, 0.0)]
    if finding.judged == "gain":
        values += _judged_numbers(finding)
        kept_apart += _comparisons(finding)
    kind = _kind(finding, "points")
    return _scale(kind, _suffix(kind, unit, texts), values, kept_apart, exact=_exact(finding, "gain"))


def scale_of_shares(finding: Finding, texts: Texts | None = None) -> Scale:
    """Return how a gain relative to the baseline is shown."""
    kept_apart: list[tuple[float | None, float | None]] = [(finding.relative_gain, 0.0)]
    values = [finding.relative_gain]
    if finding.judged == "relative_gain":
        values += _judged_numbers(finding)
        kept_apart += _comparisons(finding)
    suffix = _suffix("percent", None, texts)
    return _scale("percent", suffix, values, kept_apart, exact=_exact(finding, "relative_gain"))


def judged_scale(finding: Finding, unit: str | None, texts: Texts | None = None) -> Scale:
    """Return the scale of the number that is held against the bound."""
    if finding.judged == "candidate":
        return scale_of_values(finding, unit, texts)
    return (
        scale_of_gains(finding, unit, texts) if finding.judged == "gain" else scale_of_shares(finding, texts)
    )


def scale_for(bound: float, finding: Finding, unit: str | None, texts: Texts | None = None) -> Scale:
    """Return how a bound of the policy is shown that is not the one judged: exactly, in the metric's unit."""
    own = finding.at_most is not None or finding.at_least is not None
    kind = _kind(finding, "percent" if own else "points")
    factor = 1.0 if kind == "number" else 100.0
    return Scale(factor, _suffix(kind, unit, texts), _decimals_of(bound * factor, 6), kind)


def scales_of_sample(
    sample: WorstSample | ChangedSample,
    finding: Finding | None,
    unit: Callable[[str], str],
    texts: Texts | None = None,
) -> tuple[Scale, Scale]:
    """Return how the values and the change of one question are shown; `finding` is one of the same metric."""
    percent = finding is not None and finding.show_as == "percent"
    factor = 100.0 if percent else 1.0
    numbers = [sample.baseline, sample.candidate, sample.gain]
    known = [number * factor for number in numbers if math.isfinite(number)]
    decimals = _without_common_zeros(known, 1 if percent else _three_digits(known))
    own = unit(finding.unit) if finding is not None and finding.unit else None
    values: Kind = "percent" if percent else "number"
    gains: Kind = "points" if percent else "number"
    return (
        Scale(factor, _suffix(values, own, texts), decimals, values),
        Scale(factor, _suffix(gains, own, texts), decimals, gains),
    )


def judged_value(finding: Finding) -> float | None:
    """Return the number that is held against the bound."""
    if finding.judged == "candidate":
        return finding.candidate
    return finding.gain if finding.judged == "gain" else finding.relative_gain


def ends_of(finding: Finding) -> tuple[float, float] | None:
    """Return both ends of the interval, None unless both are known."""
    found = finding.interval
    if found is None or found.low is None or found.high is None:
        return None
    return found.low, found.high


def points(texts: Texts | None = None) -> str:
    """Return the unit of a change of a percentage, with its blank."""
    return _suffix("points", None, texts)


def _kind(finding: Finding, if_percent: Kind) -> Kind:
    return if_percent if finding.show_as == "percent" else "number"


def _suffix(kind: Kind, unit: str | None, texts: Texts | None) -> str:
    """Return what follows a number: the metric's own unit, or the language's word for percent or points."""
    if kind == "number":
        return f" {unit}" if unit else ""
    return (texts or load()).say("unit.percent" if kind == "percent" else "unit.points")


def _judged_numbers(finding: Finding) -> list[float | None]:
    return [finding.threshold, *(ends_of(finding) or ())]


def _comparisons(finding: Finding) -> list[tuple[float | None, float | None]]:
    """Return the pairs of numbers whose order the outcome rests on."""
    numbers = [judged_value(finding), *(ends_of(finding) or ())]
    return [(number, finding.threshold) for number in numbers]


def _exact(finding: Finding, judged: str) -> float | None:
    """Return the bound where it stands on this scale, because it is shown as the policy has it."""
    return finding.threshold if finding.judged == judged else None


def _scale(
    kind: Kind,
    unit: str,
    values: Iterable[float | None],
    kept_apart: Iterable[tuple[float | None, float | None]],
    *,
    exact: float | None,
) -> Scale:
    """Choose the digits: the usual ones, then more until the bound is exact and no two numbers look alike."""
    factor, usual = (1.0, None) if kind == "number" else (100.0, 1)
    known = [value * factor for value in values if value is not None and math.isfinite(value)]
    decimals = _three_digits(known) if usual is None else usual
    if exact is not None and math.isfinite(exact):
        decimals = max(decimals, _decimals_of(exact * factor, 6))
    for first, second in kept_apart:
        if first is None or second is None:
            continue
        decimals = _tell_apart(first * factor, second * factor, decimals)
    if usual is None:
        decimals = _without_common_zeros(known, decimals)
    return Scale(factor, unit, decimals, kind)


def _three_digits(values: list[float]) -> int:
    """Return the decimals that show three digits of the largest number."""
    largest = max((abs(value) for value in values), default=0.0)
    if largest == 0:
        return 0
    return min(max(2 - math.floor(math.log10(largest)), 0), MOST_DECIMALS)


def _decimals_of(value: float, most: int) -> int:
    """Return the fewest decimals that show the number exactly, at most `most`."""
    value = _without_noise(value)
    return next((d for d in range(most) if math.isclose(round(value, d), value, rel_tol=1e-12)), most)


def _tell_apart(first: float, second: float, decimals: int) -> int:
    """Return the decimals from `decimals` on at which two different numbers look different."""
    if math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-10):
        return decimals
    if abs(first - second) >= 10.0**-decimals:
        return decimals
    for more in range(decimals, MOST_DECIMALS):
        if spell(first, more) != spell(second, more):
            return more
    return MOST_DECIMALS


def _without_common_zeros(values: list[float], decimals: int) -> int:
    """Drop the decimals that are 0 in all numbers: `12` and `13`, not `12.0` and `13.0`."""
    texts = [f"{_without_noise(value):.{decimals}f}" for value in values]
    while decimals and all(text.endswith("0") for text in texts):
        texts = [text[:-1] for text in texts]
        decimals -= 1
    return decimals


def _without_noise(value: float) -> float:
    """Return the number as its first 12 digits say, so that 0.285 × 100 is 28.5."""
    return float(f"{value:.12g}")
