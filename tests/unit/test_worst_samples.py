"""The worst samples are a part of those that got worse: reports say of how many, and show no column without a cell."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest

from gateline import check
from gateline.conclusion import Options
from gateline.reports import html, markdown
from gateline.verdict import Verdict

POLICY = """\
version: 1
name: worst
samples: {at_least: 5}
metrics:
  correct: {better: higher, range: [0, 1]}
  wrong: {better: lower, range: [0, 1]}
slices: {by: [kind], at_least: 5}
rules:
  - {kind: tolerance, metric: correct, worse_by_at_most: 0.001, decide_by: value}
"""
BY_SLICE = "  - {kind: tolerance, metric: wrong, slices: true, worse_by_at_most: 0.001, decide_by: value}\n"


def decide(folder: Path, worse: int, *, rules: str = "", question: str | None = None) -> Verdict:
    """Hold a run of 60 against one in which both metrics got worse for some, and one question got better."""
    sides: tuple[list[str], list[str]] = ([], [])
    for number in range(60):
        for late, lines in enumerate(sides):
            is_bad = late * (number < worse) or (1 - late) * (number == 59)
            record = {
                "id": f"q{number}",
                "slices": {"kind": "c" if number == 59 else "a" if number % 2 else "b"},
                "metrics": {"correct": 1 - is_bad, "wrong": int(is_bad)},
            }
            lines.append(json.dumps(record | ({"question": question} if question else {})))
    for name, lines in zip(("before", "after"), sides, strict=True):
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "p.yml").write_text(POLICY + rules, encoding="utf-8")
    files = (folder / "p.yml", folder / "before.jsonl", folder / "after.jsonl")
    return check(*files, on=datetime.date(2026, 1, 5), options=Options(with_excerpts=question is not None))


@pytest.mark.parametrize("worse", [2, 5, 6, 40])
@pytest.mark.parametrize("rules", ["", BY_SLICE], ids=["one metric", "two metrics, one by slice"])
def test_how_many_samples_got_worse_is_said_beside_how_many_are_shown(
    tmp_path: Path, worse: int, rules: str
) -> None:
    verdict = decide(tmp_path, worse, rules=rules)
    assert verdict.worse_samples == worse * (2 if rules else 1)
    shown = len(verdict.worst)
    title = f"The {shown} samples that got worse most, of {verdict.worse_samples}"
    if shown == verdict.worse_samples:
        title = f"All {shown} samples that got worse"
    comment, page = markdown.render(verdict), html.render(verdict)
    assert f"<summary>{title}</summary>" in comment
    assert f"<caption>{title}</caption>" in page


def test_nothing_that_got_worse_is_no_number(tmp_path: Path) -> None:
    verdict = decide(tmp_path, 0)
    assert (verdict.verdict, verdict.worst, verdict.worse_samples) == ("pass", [], None)


@pytest.mark.parametrize("rules", ["", BY_SLICE], ids=["no slice", "slices"])
@pytest.mark.parametrize("question", [None, "Why?"])
def test_no_column_is_empty_throughout(tmp_path: Path, rules: str, question: str | None) -> None:
    verdict = decide(tmp_path, 7, rules=rules, question=question)
    tables = re.findall(r"(?:^\|.*\|\n)+", markdown.render(verdict), re.MULTILINE)
    rows = [[row.strip("|").split("|") for row in table.strip().split("\n")] for table in tables]
    pages = re.findall(r"<table>.*?</table>", html.render(verdict), re.DOTALL)
    rows += [
        [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in page.split("<tr>")[1:]] for page in pages
    ]
    assert len(rows) > 4
    for table in rows:
        assert len({len(row) for row in table}) == 1
        body = [row for row in table[1:] if set("".join(row)) - set("-: ")]
        assert all(any(cell.strip() for cell in column) for column in zip(*body, strict=True)), table[0]
    heads = " ".join(cell for table in rows for cell in table[0])
    assert ("slice" in heads) == bool(rules)
    assert ("text" in heads) == (question is not None)
