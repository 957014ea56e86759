"""What a comment stresses is stressed: GitHub's own parser leaves no mark of emphasis over, whatever the language."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from gateline.hosts._github_event import WorkflowRun
from gateline.hosts._github_run import describe_run
from gateline.reports import markdown
from gateline.reports.escape import Markdown
from gateline.texts import load
from gateline.verdict import BaseVerdict, Verdict

from .layered import whole_system_verdict
from .verdicts import (
    design_verdict,
    fine_verdict,
    invalid_verdict,
    loosened_verdict,
    make_finding,
    many_kinds_verdict,
)


def loosened_and(base: BaseVerdict, make: Callable[[], Verdict]) -> Verdict:
    policy = loosened_verdict().policy.model_copy(update={"under_base": base})
    return make().model_copy(update={"policy": policy})


BLOCKED = BaseVerdict(verdict="fail", because=["worse"], worst=make_finding())
PASSES = BaseVerdict(verdict="pass", because=["2 of 2 checks hold"])
MAKERS: dict[str, Callable[[], Verdict]] = {
    "blocked": design_verdict,
    "fine": fine_verdict,
    "undecided": invalid_verdict,
    "kinds": many_kinds_verdict,
    "layers": whole_system_verdict,
    "loosened": loosened_verdict,
    "loosened and blocked": partial(loosened_and, BLOCKED, design_verdict),
    "loosened and undecided": partial(loosened_and, BLOCKED, invalid_verdict),
    "loosened where it was let through": partial(loosened_and, PASSES, design_verdict),
}
RUN = WorkflowRun(1, "pull_request", "a" * 40, "feature", "someone/fork", ())


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("short", [True, False])
def test_no_mark_of_emphasis_is_left_over(kind: str, language: str, short: bool) -> None:
    cmark = pytest.importorskip("cmarkgfm")
    preface = Markdown(describe_run("acme/app", RUN, load(language)))
    page = markdown.render(MAKERS[kind](), language=language, short_when_fine=short, preface=preface)
    shown = re.sub(
        r"<code>.*?</code>|<pre.*?</pre>", "", cmark.github_flavored_markdown_to_html(page), flags=re.S
    )
    assert page.count("**") >= 4
    assert "**" not in shown
    assert shown.count("<strong>") >= 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_base_policy_that_lets_all_through_needs_no_reason(language: str) -> None:
    """The count that stands in `because` is the gate's own English, and of one check it is no sentence."""
    verdict = loosened_and(PASSES, design_verdict)
    for short in (True, False):
        assert "checks hold" not in markdown.render(verdict, language=language, short_when_fine=short)
