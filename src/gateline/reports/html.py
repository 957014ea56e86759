"""The verdict as one HTML file that needs nothing else: no script, no font, no picture from elsewhere.

The template says where things stand, the style sheet beside it how they look; this module says what stands there.
Every text from a file is escaped before it is joined with anything. It computes no number.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from gateline.amounts import found, from_to, interval, needed
from gateline.reports import charts, facts, html_tables, language_of
from gateline.reports.diagnosis import Pointer, diagnose
from gateline.reports.escape import IN_HTML, clean, guard_lines, html_name
from gateline.reports.headline import (
    BLOCKED,
    NO_VERDICT,
    PASSED,
    WARNED,
    counts_line,
    headline,
    hint_of,
    loosening,
    message_of,
    outcome,
    outcome_word,
    unblock,
)
from gateline.reports.layers import Section, sections, worse_slices
from gateline.reports.sandbox import make_template
from gateline.reports.tables import section_title
from gateline.wording import describe, subject

if TYPE_CHECKING:
    import jinja2

    from gateline.findings import Finding
    from gateline.spelling import Spelling
    from gateline.verdict import StatedProblem, Verdict

NAME = "html"

_TONES = {BLOCKED: "fail", PASSED: "pass", WARNED: "warn", NO_VERDICT: "invalid"}
_SIGNS = {BLOCKED: "✕", PASSED: "✓", WARNED: "!", NO_VERDICT: "?"}


def render(verdict: Verdict, *, language: str | None = None) -> str:
    """Return the page; the same verdict and language make the same bytes."""
    key = outcome(verdict)
    texts = language_of(verdict, language)
    spelling = IN_HTML.speaking(texts)
    word = outcome_word(verdict, spelling)
    name = clean(verdict.policy.name)
    page = _template().render(
        say=texts.say,
        language=texts.tag,
        style=Markup(_read("report.css")),
        title=texts.say("joint.named", name=name, text=word),
        policy_name=name,
        word=word,
        tone=_TONES[key],
        sign=_SIGNS[key],
        headline=Markup(headline(verdict, spelling)),
        facts_line=Markup(spelling.join_sentences(_facts(verdict, spelling))),
        unblock=Markup(unblock(verdict, spelling)),
        has_verdict=key != NO_VERDICT,
        loosened=_loosened(verdict, spelling),
        problems=[_problem(one, spelling) for one in verdict.problems] if len(verdict.problems) > 1 else [],
        notices=_notices(verdict, spelling),
        forest=_forest(verdict, spelling),
        pointers=[_pointer(pointer, spelling) for pointer in diagnose(verdict)],
        runs=_runs(verdict, spelling),
        provenance=html_tables.provenance(verdict, spelling),
        layers=[_layer(section, verdict, spelling) for section in sections(verdict)],
        slices=html_tables.checks(worse_slices(verdict), spelling.say("html.worse-slices-caption"), spelling),
        worst=html_tables.worst_samples(verdict, spelling),
        changed=html_tables.changed_samples(verdict, spelling),
        left_out=[Markup(line) for line in facts.left_out(verdict, spelling)],
        counts=spelling.sentence(counts_line(verdict, spelling)),
        method=Markup(facts.method(verdict, spelling)),
        command=clean(facts.command(verdict), 4_000),
        made_by=texts.say("html.made-by", version=clean(verdict.gateline), day=clean(verdict.judged_on)),
    )
    return guard_lines(page).replace("##[", "&#35;#[")  # a command of the runner, should it be on a job's log


def _facts(verdict: Verdict, spelling: Spelling) -> list[str]:
    return [
        spelling.sentence(counts_line(verdict, spelling)) if verdict.findings else "",
        facts.compared(verdict, spelling),
        facts.too_small(verdict, spelling),
        "" if loosening(verdict) else facts.policy_line(verdict, spelling),
    ]


def _loosened(verdict: Verdict, spelling: Spelling) -> dict[str, Any] | None:
    if not loosening(verdict):
        return None
    changes = [Markup(facts.policy_change(change, spelling)) for change in verdict.policy.changes]
    said = (
        "" if verdict.verdict == "pass" else facts.under_base(verdict, spelling)
    )  # a pass has it in its headline
    return {"under_base": Markup(said), "changes": changes}


def _notices(verdict: Verdict, spelling: Spelling) -> list[str]:
    notices = [clean(notice, 1_000) for notice in facts.notices(verdict, spelling)]
    if verdict.verdict == "fail" and verdict.exit_code == 0:
        notices.insert(0, facts.never_fails("fail-on", "never", spelling))
    return notices


def _problem(problem: StatedProblem, spelling: Spelling) -> Markup:
    """Return one reason for no verdict: place, message, hint."""
    message = spelling.text(message_of(problem, spelling))
    if problem.where:
        message = spelling.say("joint.named", name=html_name(problem.where, 200), text=message)
    if problem.hint:
        message = spelling.say(
            "joint.with-aside", text=message, aside=spelling.text(hint_of(problem, spelling))
        )
    return Markup(message)


def _forest(verdict: Verdict, spelling: Spelling) -> list[dict[str, Any]]:
    """Return the checks by rule, each with its slices, in the order of the findings."""
    rules: dict[str, list[Finding]] = {}
    for finding in verdict.findings:
        rules.setdefault(finding.rule, []).append(finding)
    groups = []
    for number, findings in enumerate(rules.values()):
        rows = [
            {
                "status": html_tables.status(finding, spelling),
                "name": Markup(subject(finding, spelling)),
                "bar": charts.forest_row(
                    finding, f"forest-{number}-{place}", spelling.texts, verdict.fail_on
                ),
                "found": html_tables.kept_together(found(finding, spelling)),
                "interval": html_tables.span(finding, spelling),
                "needed": html_tables.kept_together(needed(finding, spelling)),
            }
            for place, finding in enumerate(findings)
        ]
        groups.append({"rule": clean(findings[0].rule), "kind": _kind(findings[0], spelling), "rows": rows})
    return groups


def _kind(finding: Finding, spelling: Spelling) -> str:
    """Return the kind of a rule, and that it is hard; a kind that is not known goes by its name."""
    key = f"kind.{finding.kind}"
    kind = spelling.say(key) if spelling.texts.knows(key) else clean(finding.kind)
    return spelling.say("kind-and-hard", kind=kind) if finding.hard else kind


def _pointer(pointer: Pointer, spelling: Spelling) -> dict[str, Any]:
    where = None
    if pointer.place is not None:
        where = Markup(spelling.say("pointer.within", slice=spelling.name(pointer.place)))
    evidence = [
        Markup(
            spelling.say(
                "pointer.check-in-list",
                rule=spelling.name(finding.rule),
                subject=subject(finding, spelling),
                values=from_to(finding, spelling),
                found=_found(finding, spelling),
            )
        )
        for finding in pointer.evidence
    ]
    return {"sentence": pointer.sentence(spelling), "where": where, "evidence": evidence}


def _found(finding: Finding, spelling: Spelling) -> str:
    """Return `−14.4 [−24.5 … −5.4]`."""
    span = interval(finding, spelling)
    return found(finding, spelling, with_unit=not span) + (f" [{span}]" if span else "")


def _runs(verdict: Verdict, spelling: Spelling) -> list[tuple[str, Markup]]:
    rows = [
        ("title.baseline", facts.run_facts(verdict.baseline, spelling)),
        ("title.candidate", facts.run_facts(verdict.candidate, spelling)),
        ("title.policy", facts.policy_file(verdict, spelling)),
        ("title.age", facts.baseline_line(verdict, spelling)),
    ]
    return [(spelling.say(name), Markup(text)) for name, text in rows if text]


def _layer(section: Section, verdict: Verdict, spelling: Spelling) -> dict[str, Any]:
    """Return the checks of a layer with the spreads of its metrics and, for times, the curves."""
    texts = spelling.texts
    spreads = [
        {
            "metric": clean(spread.metric),
            "chart": charts.spread_chart(spread, f"{section.layer}-spread-{at}", texts),
        }
        for at, spread in enumerate(verdict.spreads)
        if spread.metric in section.metrics
    ]
    curves = [
        {
            "field": clean(curve.field),
            "chart": charts.curve_chart(curve, f"{section.layer}-curve-{at}", texts),
            "table": html_tables.curve_table(curve, spelling),
            "has_baseline": curve.baseline is not None,
        }
        for at, curve in enumerate(verdict.curves)
        if curve.metric in section.metrics
    ]
    unsettled = [finding for finding in section.findings if finding.status.value != "pass"]
    return {
        "id": section.layer,
        "title": section.title(spelling),
        "subtitle": Markup(section.question(spelling)),
        "checks": html_tables.checks(section.findings, section_title(section, spelling), spelling),
        "notes": [Markup(describe(finding, spelling, fail_on=verdict.fail_on)) for finding in unsettled],
        "spreads": spreads,
        "curves": curves,
    }


def _read(name: str) -> str:
    from importlib.resources import files

    return files("gateline.reports").joinpath(f"templates/{name}").read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    """Return the template, in a sandbox in which every value is escaped unless it is finished."""
    return make_template(_read("report.html.j2"), autoescape=True)
