"""An examination as one HTML file that needs nothing else. It computes nothing but where lines are drawn."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from gateline.doctor.conclusion import can_decide, place_of, say_needs
from gateline.doctor.facts import CheckFacts, Examination, PowerFacts
from gateline.doctor.text import alarm_sentences, copies_sentence, heading, power_sentence, rows_of
from gateline.reports.escape import clean
from gateline.reports.sandbox import make_template

if TYPE_CHECKING:
    import jinja2

_WIDE, _HIGH, _LEFT, _TOP = 200.0, 90.0, 38.0, 8.0


def render_page(found: Examination) -> str:
    """Return the page; the same examination makes the same bytes."""
    return _template().render(
        found=found,
        name=clean(found.policy),
        style=Markup(_read("doctor.css")),
        heading=heading(found),
        copies=copies_sentence(found),
        alarms=[clean(sentence, 1_000) for sentence in alarm_sentences(found)],
        compared=power_sentence(found),
        conclusion=_group(found.conclusion),
        curves=[{"name": clean(name), "drawing": _draw(name, drops)} for name, drops in rows_of(found)],
        checks=[_row(check) for check in found.checks],
    )


def _group(sentences: list[str]) -> list[dict[str, Any]]:
    """Return the sentences of the conclusion, each with those that belong to it."""
    groups: list[dict[str, Any]] = []
    for sentence in sentences:
        if sentence.startswith("- "):
            groups[-1]["parts"].append(clean(sentence[2:], 1_000))
        else:
            groups.append({"sentence": clean(sentence, 1_000), "parts": []})
    return groups


def _row(check: CheckFacts) -> dict[str, Any]:
    return {
        "rule": clean(check.rule),
        "place": clean(place_of(check.metric, check.slice)),
        "passes": _percent(check.passes.share),
        "fails": _percent(check.fails.share),
        "unproven": _percent(check.blocks_unshown.share),
        "decides": can_decide(check),
        "verdict": f"{'' if can_decide(check) else 'never: '}{say_needs(check)}",
    }


def _draw(name: str, drops: list[PowerFacts]) -> Markup:
    """Return the curve of one metric and slice: drop across, chance up."""
    most = max(drop.drop for drop in drops) or 1.0
    known = [drop for drop in drops if drop.blocked is not None and drop.shown is not None]
    said = ", ".join(f"{100 * one.drop:g}: {_percent(one.blocked.share)}" for one in known if one.blocked)
    blocked = [(_across(one.drop / most), _up(one.blocked.share)) for one in known if one.blocked]
    shown = [(_across(one.drop / most), _up(one.shown.share)) for one in known if one.shown]
    frame = Markup('<rect class="frame" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>')
    parts = [
        Markup("<title>{}</title>").format(f"{clean(name)}, chance to block by how much worse: {said}"),
        frame.format(_LEFT, _TOP, _WIDE, _HIGH),
        *(_text(_LEFT - 4, _up(share) + 4, "end", _percent(share)) for share in (0.0, 0.5, 1.0)),
        *(
            _text(_across(one.drop / most), _TOP + _HIGH + 13, "middle", f"{100 * one.drop:g}")
            for one in drops
        ),
        _line("shown", shown),
        _line("curve", blocked),
        *(
            Markup('<circle class="point" cx="{:.1f}" cy="{:.1f}" r="3"/>').format(*point)
            for point in blocked
        ),
    ]
    return Markup('<svg viewBox="0 0 {:g} {:g}" role="img">{}</svg>').format(
        _LEFT + _WIDE + 12, _TOP + _HIGH + 18, Markup("").join(parts)
    )


def _text(x: float, y: float, anchor: str, text: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:g}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def _line(kind: str, points: list[tuple[float, float]]) -> Markup:
    where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return Markup('<polyline class="{}" points="{}"/>').format(kind, where)


def _across(share: float) -> float:
    return _LEFT + 8 + share * (_WIDE - 16)


def _up(share: float) -> float:
    return _TOP + _HIGH * (1.0 - share)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


@cache
def _template() -> jinja2.Template:
    return make_template(_read("doctor.html.j2"), autoescape=True)


def _read(name: str) -> str:
    return files("gateline.doctor").joinpath("templates", name).read_text(encoding="utf-8")
