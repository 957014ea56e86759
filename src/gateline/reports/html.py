"""The verdict as one HTML file that needs nothing else: no script, no font, no picture from elsewhere.

The template says where things stand, the style sheet beside it how they look; this module says what stands there.
Every text from a file is escaped before it is joined with anything. It computes no number.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from gateline.reports import charts, facts, html_tables
from gateline.reports.diagnosis import Pointer, diagnose
from gateline.reports.escape import IN_HTML, clean, html_name
from gateline.reports.headline import (
    BLOCKED,
    NO_VERDICT,
    PASSED,
    WARNED,
    counts_line,
    headline,
    loosening,
    outcome,
    unblock,
)
from gateline.reports.layers import SUBTITLES, Section, sections, worse_slices
from gateline.reports.page_texts import PAGE
from gateline.wording import describe, found, from_to, interval, needed, plural, subject

if TYPE_CHECKING:
    import jinja2

    from gateline.findings import Finding
    from gateline.verdict import StatedProblem, Verdict

NAME = "html"

_TONES = {BLOCKED: "fail", PASSED: "pass", WARNED: "warn", NO_VERDICT: "invalid"}
_SIGNS = {BLOCKED: "✕", PASSED: "✓", WARNED: "!", NO_VERDICT: "?"}


def render(verdict: Verdict) -> str:
    """Return the page; the same verdict makes the same bytes."""
    word = outcome(verdict)
    return _template().render(
        say=PAGE,
        style=Markup(_read("report.css")),
        title=f"{clean(verdict.policy.name)}: {word}",
        policy_name=clean(verdict.policy.name),
        word=word,
        tone=_TONES[word],
        sign=_SIGNS[word],
        headline=Markup(headline(verdict, IN_HTML)),
        facts_line=" ".join(_facts(verdict)),
        unblock=Markup(unblock(verdict, IN_HTML)),
        loosened=_loosened(verdict),
        problems=[_problem(problem) for problem in verdict.problems] if len(verdict.problems) > 1 else [],
        notices=_notices(verdict),
        forest=_forest(verdict),
        pointers=[_pointer(pointer) for pointer in diagnose(verdict)],
        runs=_runs(verdict),
        provenance=html_tables.provenance(verdict),
        layers=_layers(verdict),
        slices=html_tables.checks(worse_slices(verdict), "Slices that are shown to have got worse"),
        worst=html_tables.worst_samples(verdict),
        changed=html_tables.changed_samples(verdict),
        left_out=[Markup(line) for line in facts.left_out(verdict, IN_HTML)],
        counts=counts_line(verdict),
        method=Markup(facts.method(verdict, IN_HTML)),
        command=clean(facts.command(verdict), 4_000),
        made_by=f"gateline {clean(verdict.gateline)}, judged on {clean(verdict.judged_on)}",
    )


def _facts(verdict: Verdict) -> list[str]:
    lines = [
        f"{counts_line(verdict)}." if verdict.findings else "",
        f"{facts.compared(verdict)}." if verdict.pairing else "",
        "" if loosening(verdict) else facts.policy_line(verdict),
    ]
    return [line for line in lines if line]


def _loosened(verdict: Verdict) -> dict[str, Any] | None:
    if not loosening(verdict):
        return None
    changes = [Markup(facts.policy_change(change, IN_HTML)) for change in verdict.policy.changes]
    return {"under_base": Markup(facts.under_base(verdict, IN_HTML)), "changes": changes}


def _notices(verdict: Verdict) -> list[str]:
    notices = [clean(notice, 1_000) for notice in verdict.notices]
    if verdict.verdict == "fail" and verdict.exit_code == 0:
        notices.insert(0, "The exit code is 0 because fail-on is never.")
    return notices


def _problem(problem: StatedProblem) -> Markup:
    """Return one reason for no verdict: place, message, hint."""
    where = f"{html_name(problem.where, 200)}: " if problem.where else ""
    hint = f" ({IN_HTML.text(problem.hint)})" if problem.hint else ""
    return Markup(f"{where}{IN_HTML.text(problem.message)}{hint}")


def _forest(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the checks by rule, each with its slices, in the order of the findings."""
    rules: dict[str, list[Finding]] = {}
    for finding in verdict.findings:
        rules.setdefault(finding.rule, []).append(finding)
    groups = []
    for number, findings in enumerate(rules.values()):
        rows = [
            {
                "status": html_tables.status(finding),
                "name": Markup(subject(finding, IN_HTML)),
                "bar": charts.forest_row(finding, f"forest-{number}-{place}"),
                "found": html_tables.kept_together(found(finding, IN_HTML)),
                "interval": html_tables.span(finding),
                "needed": html_tables.kept_together(needed(finding, IN_HTML)),
            }
            for place, finding in enumerate(findings)
        ]
        first = findings[0]
        hard = ", hard" if first.hard else ""
        groups.append({"rule": clean(first.rule), "kind": f"{first.kind}{hard}", "rows": rows})
    return groups


def _pointer(pointer: Pointer) -> dict[str, Any]:
    where = None if pointer.place is None else Markup(IN_HTML.name(pointer.place))
    evidence = [
        Markup(f"{html_name(f.rule)}: {subject(f, IN_HTML)} {from_to(f, IN_HTML)}, {_span(f)}")
        for f in pointer.evidence
    ]
    return {"sentence": pointer.sentence, "where": where, "evidence": evidence}


def _span(finding: Finding) -> str:
    """Return `−14.4 [−24.5 … −5.4]`."""
    span = interval(finding, IN_HTML)
    return found(finding, IN_HTML, with_unit=not span) + (f" [{span}]" if span else "")


def _runs(verdict: Verdict) -> list[tuple[str, Markup]]:
    rows = [
        ("Baseline", facts.run_facts(verdict.baseline, IN_HTML)),
        ("Candidate", facts.run_facts(verdict.candidate, IN_HTML)),
        ("Policy", facts.policy_file(verdict, IN_HTML)),
        ("Age", facts.baseline_line(verdict, IN_HTML)),
    ]
    return [(name, Markup(text)) for name, text in rows if text]


def _layers(verdict: Verdict) -> list[dict[str, Any]]:
    return [_layer(section, verdict) for section in sections(verdict)]


def _layer(section: Section, verdict: Verdict) -> dict[str, Any]:
    """Return the checks of a layer with the spreads of its metrics and, for times, the curves."""
    spreads = [
        {"metric": clean(spread.metric), "chart": charts.spread_chart(spread, f"{section.layer}-spread-{at}")}
        for at, spread in enumerate(verdict.spreads)
        if spread.metric in section.metrics
    ]
    curves = [
        {
            "field": clean(curve.field),
            "chart": charts.curve_chart(curve, f"{section.layer}-curve-{at}"),
            "table": html_tables.curve_table(curve),
            "has_baseline": curve.baseline is not None,
        }
        for at, curve in enumerate(verdict.curves)
        if curve.metric in section.metrics
    ]
    return {
        "id": section.layer,
        "title": section.title,
        "subtitle": SUBTITLES[section.layer],
        "checks": html_tables.checks(
            section.findings, f"{section.title}: {plural(len(section.findings), 'check')}"
        ),
        "notes": [Markup(describe(f, IN_HTML)) for f in section.findings if f.status.value != "pass"],
        "spreads": spreads,
        "curves": curves,
    }


def _read(name: str) -> str:
    from importlib.resources import files

    return files("gateline.reports").joinpath(f"templates/{name}").read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    """Return the template, in a sandbox in which every value is escaped unless it is finished."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=True,
    )
    return environment.from_string(_read("report.html.j2"))
