"""From two files and a policy to every report: the same verdict and the same numbers in each, whatever the names."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gateline import gate, reports
from gateline.amounts import found, interval
from gateline.reports import markdown
from gateline.verdict import Verdict

from .hostile import ATTACKS, show

POLICY = """\
version: 1
name: support-rag
samples: {at_least: 20}
metrics:
  faithfulness: {better: higher, range: [0, 1]}
slices:
  by: [region]
  at_least: 5
rules:
  - {id: faithfulness-holds, kind: tolerance, metric: faithfulness, worse_by_at_most: 0.02}
  - {id: regions-hold, kind: tolerance, metric: faithfulness, slices: true, worse_by_at_most: 0.02}
  - {id: floor, kind: limit, metric: faithfulness, at_least: 0.1}
"""


def judge(folder: Path, region: str, loss: float) -> Verdict:
    """The verdict over 40 questions, half of them in a region of the given name."""
    for name, shift in (("baseline", 0.0), ("candidate", -loss)):
        records = [
            {
                "id": f"q{number}",
                "slices": {"region": region if number % 2 else "us"},
                "metrics": {"faithfulness": round(0.5 + 0.01 * (number % 17) + shift * (1 + number % 3), 4)},
            }
            for number in range(40)
        ]
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "policy.yml").write_text(POLICY, encoding="utf-8")
    files = [str(folder / name) for name in ("policy.yml", "baseline.jsonl", "candidate.jsonl")]
    return gate.check(*files, on=datetime.date(2026, 9, 1))


@pytest.mark.parametrize(
    "region", [attack for attack in ATTACKS if attack.strip() and "\ud800" not in attack]
)
def test_a_slice_of_any_name_is_only_a_name(tmp_path: Path, region: str) -> None:
    verdict = judge(tmp_path, region, loss=0.05)
    assert verdict.verdict == "fail"
    assert f"region={region.strip()}" in [
        finding["slice"] for finding in json.loads(verdict.to_json())["findings"]
    ]
    harmless = judge(tmp_path, "eu", loss=0.05)
    comment = markdown.render(verdict)
    assert show(comment).tags == show(markdown.render(harmless)).tags
    assert comment.count("<!-- gateline: support-rag -->") == 1
    for width in (60, 100):
        for line in reports.render("text", verdict, width=width, verbose=True).split("\n"):
            assert not line.strip().startswith(("::", "## "))
    ElementTree.fromstring(reports.render("junit", verdict))


@pytest.mark.parametrize("loss", [0.0, 0.004, 0.0102, 0.05])
def test_all_reports_show_the_same_numbers(tmp_path: Path, loss: float) -> None:
    """Case 094: text, JSON, Markdown and JUnit carry one verdict and one set of numbers."""
    verdict = judge(tmp_path, "eu", loss)
    summary, text, xml = (
        markdown.render_summary(verdict),
        " ".join(reports.render("text", verdict, verbose=True, width=10_000).split()),
        ElementTree.fromstring(reports.render("junit", verdict)),
    )
    data = json.loads(verdict.to_json())
    for finding, told, case in zip(verdict.findings, data["findings"], xml.iter("testcase"), strict=True):
        cell = f"{found(finding)} [{interval(finding)}]".replace(" ", "\u00a0")
        assert cell in summary or finding.interval is None
        assert told["message"] in text
        assert (case.find("failure") is not None) == finding.blocks
        if finding.blocks:
            assert (case[0].text or "") == told["message"]
    word = {"pass": "passed", "fail": "blocked"}[verdict.verdict]
    assert f"support-rag: {word}" in summary
    assert f"support-rag: {word}" in text
    assert data["exit_code"] == (verdict.verdict == "fail")
