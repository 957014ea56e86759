"""GitLab's code quality report: its format, its severities, fingerprints that stay while numbers move."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.reports import render
from gateline.verdict import Verdict

BLOCKED = json.loads((Path(__file__).parents[1] / "golden" / "blocked.json").read_text(encoding="utf-8"))
NONE = json.loads((Path(__file__).parents[1] / "golden" / "no-verdict.json").read_text(encoding="utf-8"))


def issues(data):
    return json.loads(render("codequality", Verdict.model_validate(data)))


def with_finding(**changed):
    return {**BLOCKED, "findings": [{**BLOCKED["findings"][0], **changed}]}


def test_every_issue_has_what_gitlab_needs():
    found = issues(BLOCKED)
    assert found
    for issue in found:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert len(issue["fingerprint"]) == 64
        assert set(issue["location"]) == {"path", "lines"}
        assert not issue["location"]["path"].startswith("./")
        assert issue["location"]["lines"]["begin"] >= 1


def test_what_holds_is_no_issue_and_what_blocks_comes_first():
    statuses = [finding["status"] for finding in BLOCKED["findings"]]
    found = issues(BLOCKED)
    assert len(found) == len([status for status in statuses if status not in ("pass", "skipped")])
    blocking = sum(finding["blocks"] for finding in BLOCKED["findings"])
    assert [issue["severity"] in ("major", "critical") for issue in found] == [True] * blocking + [False] * (
        len(found) - blocking
    )
    assert found[0]["location"]["lines"]["begin"] == BLOCKED["findings"][0]["line"]


@pytest.mark.parametrize(
    ("changed", "severity"),
    [
        ({"status": "fail", "blocks": True, "hard": True}, "critical"),
        ({"status": "fail", "blocks": True, "hard": False}, "major"),
        ({"status": "inconclusive", "blocks": False, "on_inconclusive": "warn"}, "minor"),
        ({"status": "inconclusive", "blocks": False, "on_inconclusive": "pass"}, "info"),
        ({"status": "waived", "blocks": False}, "minor"),
    ],
)
def test_severities(changed, severity):
    assert [issue["severity"] for issue in issues(with_finding(**changed))] == [severity]


@pytest.mark.parametrize("status", ["pass", "skipped"])
def test_nothing_to_say_is_an_empty_list(status):
    assert render("codequality", Verdict.model_validate(with_finding(status=status, blocks=False))) == "[]\n"


def test_no_verdict_is_one_blocker():
    assert [issue["severity"] for issue in issues(NONE)] == ["blocker"]


def test_the_fingerprint_stays_while_numbers_and_lines_move():
    before, after = (
        issues(with_finding(candidate=value, line=line, message=str(value)))[0]
        for value, line in ((0.5, 3), (0.6, 9))
    )
    assert before["fingerprint"] == after["fingerprint"]
    others = [issues(with_finding(**{key: "another"}))[0] for key in ("rule", "metric", "slice")]
    assert len({one["fingerprint"] for one in (before, *others)}) == 4


def test_twins_have_fingerprints_of_their_own():
    data = {**BLOCKED, "findings": [BLOCKED["findings"][0]] * 3}
    assert len({issue["fingerprint"] for issue in issues(data)}) == 3


@given(st.text(max_size=40))
def test_texts_from_files_stay_on_one_line(text):
    issue = issues(
        {
            **with_finding(rule=text, metric=text, slice=text),
            "policy": {**BLOCKED["policy"], "name": text, "file": text},
        }
    )[0]
    texts = [issue["description"], issue["check_name"], issue["location"]["path"]]
    assert all(one.isprintable() or not any(char in one for char in "\n\r\x1b\u202e\u2028") for one in texts)
