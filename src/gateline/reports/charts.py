"""The drawings of the HTML report as SVG: intervals on one axis, spreads of differences, curves of times.

Across, everything stands in percent of the width, so that text keeps its size on a phone. Colours come from the
page's classes, and each drawing says in words what it shows. This module draws; it computes no number that is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from gateline import figures
from gateline.reports.bars import Place, place
from gateline.reports.escape import IN_TERMINAL, terminal_name, terminal_text
from gateline.spelling import Spelling
from gateline.texts import Texts
from gateline.wording import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateline.findings import Finding
    from gateline.verdict import Curve, Spread

_HALF = 12.0
"""Columns of `bars` on each side of the axis."""
_PERCENT = 48 / _HALF
_LEFT, _WIDE, _TOP, _HIGH = 11.0, 84.0, 12.0, 150.0
"""Where the field of a curve stands: percent across, pixels down."""


def forest_row(finding: Finding, key: str, texts: Texts, fail_on: str = "fail") -> Markup:
    """Return the interval of one check; `key` makes the ids of its texts unique in the page, `fail_on` is the run's."""
    said = describe(finding, IN_TERMINAL.speaking(texts), fail_on=fail_on)
    return Markup('<svg class="bar {}" role="img" aria-labelledby="{}" height="24">{}{}</svg>').format(
        finding.status.value,
        key,
        Markup('<title id="{}">{}</title>').format(key, said),
        _marks(place(finding)),
    )


def _marks(where: Place | None) -> Markup:
    """Return what is drawn for the numbers of a check: allowed side, axis, bound, interval, value."""
    axis = Markup('<line class="axis" x1="50%" x2="50%" y1="0" y2="24"/>')
    if where is None:
        return axis
    edge = _across(where.bound or 0.0)
    parts = [
        Markup('<rect class="allowed" x="{}%" width="{}%" y="0" height="24"/>').format(
            _short(edge), _short(100 - edge)
        ),
        axis,
    ]
    if where.bound is not None:
        parts.append(Markup('<line class="bound" x1="{0}%" x2="{0}%" y1="0" y2="24"/>').format(_short(edge)))
    if where.low is not None and where.high is not None:
        parts.append(
            Markup('<line class="span" x1="{}%" x2="{}%" y1="12" y2="12"/>').format(
                _short(_across(where.low)), _short(_across(where.high))
            )
        )
        parts += [_end(where.low), _end(where.high)]
    if abs(where.value) <= _HALF:
        parts.append(
            Markup('<circle class="dot" cx="{}%" cy="12" r="5"/>').format(_short(_across(where.value)))
        )
    elif where.low is None:
        parts.append(_end(where.value))
    return Markup("").join(parts)


def _end(distance: float) -> Markup:
    """Return the cap of an interval, or an arrow where it goes on beyond the drawing."""
    x = _short(_across(distance))
    if abs(distance) <= _HALF:
        return Markup('<line class="span" x1="{0}%" x2="{0}%" y1="7" y2="17"/>').format(x)
    points = "0,12 9,6 9,18" if distance < 0 else "0,12 -9,6 -9,18"
    return Markup('<svg class="tip" x="{}%"><polygon points="{}"/></svg>').format(
        "0" if distance < 0 else "100", points
    )


def spread_chart(spread: Spread, key: str, texts: Texts) -> Markup:
    """Return the spread of paired differences: worse to the left, better to the right, unchanged pairs in words."""
    spelling = IN_TERMINAL.speaking(texts)
    counts: dict[str, Any] = {
        "worse": f"{spread.worse:,}",
        "same": f"{spread.same:,}",
        "better": f"{spread.better:,}",
    }
    pairs = spelling.say("count.pairs", count=spread.samples)
    largest = spread.edges[-1]
    return Markup(
        '<svg class="spread" role="img" aria-labelledby="{key}" height="146"><title id="{key}">{says}</title>'
        '<text class="worse" x="1%" y="14">{worse}</text>'
        '<text x="50%" y="14" text-anchor="middle">{same}</text>'
        '<text class="better" x="99%" y="14" text-anchor="end">{better}</text>'
        '{bars}<line class="axis" x1="0" x2="100%" y1="124" y2="124"/>'
        '<line class="axis" x1="50%" x2="50%" y1="22" y2="128"/>'
        '<text x="1%" y="142">{low}</text><text x="50%" y="142" text-anchor="middle">0</text>'
        '<text x="99%" y="142" text-anchor="end">{high}</text></svg>'
    ).format(
        key=key,
        says=spelling.say("spread.says", metric=terminal_name(spread.metric), pairs=pairs, **counts),
        worse=spelling.say("spread.worse", number=counts["worse"]),
        same=spelling.say("spread.same", number=counts["same"]),
        better=spelling.say("spread.better", number=counts["better"]),
        bars=Markup("").join(_spread_bars(spread, spelling)),
        low=_gain(-largest, spread, texts),
        high=_gain(largest, spread, texts),
    )


def _spread_bars(spread: Spread, spelling: Spelling) -> list[Markup]:
    """Return the bars of a spread, each with its count and reach in words."""
    top = max([*spread.worse_bars, *spread.better_bars])
    bars = []
    for side, counts in ((-1, spread.worse_bars), (1, spread.better_bars)):
        step = 46 / len(counts)
        for number, count in enumerate(counts):
            if not count:
                continue
            height = max(100 * count / top, 2)
            start = 50 + side * (2 + number * step) - (step if side < 0 else 0)
            span = " … ".join(
                _gain(side * spread.edges[at], spread, spelling.texts) for at in (number, number + 1)
            )
            last = number == len(counts) - 1
            pairs = spelling.say("count.pairs", count=count)
            says = spelling.say("spread.last-bar" if last else "spread.bar", pairs=pairs, span=span)
            bars.append(
                Markup(
                    '<rect class="{}" x="{}%" width="{}%" y="{}" height="{}"><title>{}</title></rect>'
                ).format(
                    "worse" if side < 0 else "better",
                    _short(start + 0.15),
                    _short(step - 0.3),
                    _short(124 - height),
                    _short(height),
                    says,
                )
            )
    return bars


def curve_chart(curve: Curve, key: str, texts: Texts) -> Markup:
    """Return which share of the answers came within a time, for both runs."""
    runs = [values for values in (curve.baseline, curve.candidate) if values is not None]
    longest = max(values[-1] for values in runs) or 1.0
    lines = [
        _polyline(name, values, curve.probabilities, longest)
        for name, values in (("before", curve.baseline), ("after", curve.candidate))
        if values is not None
    ]
    marks = [_level(share, name) for share, name in ((0.5, "P50"), (0.95, "P95"))]
    unit = terminal_text(curve.unit or "")
    says = texts.say("curve.says" if len(runs) > 1 else "curve.says-alone", field=terminal_name(curve.field))
    return Markup(
        '<svg class="curve" role="img" aria-labelledby="{key}" height="186"><title id="{key}">{says}</title>'
        '{marks}<svg x="{left}%" width="{wide}%" y="{top}" height="{high}" viewBox="0 0 100 100" '
        'preserveAspectRatio="none" overflow="visible">{lines}</svg>'
        '<line class="axis" x1="{left}%" x2="{right}%" y1="{bottom}" y2="{bottom}"/>'
        '<text x="{left}%" y="180">0</text><text x="{right}%" y="180" text-anchor="end">{longest}</text></svg>'
    ).format(
        key=key,
        says=says,
        marks=Markup("").join(marks),
        lines=Markup("").join(lines),
        left=_short(_LEFT),
        right=_short(_LEFT + _WIDE),
        wide=_short(_WIDE),
        top=_short(_TOP),
        high=_short(_HIGH),
        bottom=_short(_TOP + _HIGH),
        longest=f"{figures.number(longest)} {unit}".rstrip(),
    )


def _polyline(name: str, values: Sequence[float], shares: Sequence[float], longest: float) -> Markup:
    points = " ".join(
        f"{_short(100 * max(value, 0.0) / longest)},{_short(100 * (1 - share))}"
        for value, share in zip(values, shares, strict=True)
    )
    return Markup('<polyline class="{}" points="{}" vector-effect="non-scaling-stroke"/>').format(
        name, points
    )


def _level(share: float, name: str) -> Markup:
    y = _short(_TOP + _HIGH * (1 - share))
    return Markup(
        '<line class="grid" x1="{}%" x2="{}%" y1="{y}" y2="{y}"/>'
        '<text x="{}%" y="{y}" dy="4" text-anchor="end">{}</text>'
    ).format(_short(_LEFT), _short(_LEFT + _WIDE), _short(_LEFT - 1), name, y=y)


def _gain(gain: float, spread: Spread, texts: Texts) -> str:
    """Return a difference as people read it: in points for a percent metric."""
    if spread.show_as == "percent":
        return figures.number(gain * 100, sign=True) + figures.points(texts)
    return f"{figures.number(gain, sign=True)} {terminal_text(spread.unit or '')}".rstrip()


def _across(distance: float) -> float:
    """Return where a distance from the axis stands, in percent of the width."""
    return 50 + _PERCENT * min(max(distance, -_HALF), _HALF)


def _short(number: float) -> str:
    """Return a coordinate with two digits: the same bytes everywhere."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
