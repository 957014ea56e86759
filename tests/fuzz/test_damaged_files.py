"""Result files, policies and verdicts damaged in every way that comes to mind: a verdict or a reason, never a crash.

A few examples each; GATELINE_PROPERTY_EXAMPLES asks for more. The fuzzers by coverage (`run.py`) use the same checks.
"""

from __future__ import annotations

import datetime
import json
import math
from functools import cache
from typing import Any

import pytest
from damage import damage, damage_file, damages
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from targets import (
    GROUPS,
    ROOT,
    call,
    expect_whole,
    fixtures,
    judge_policy,
    judge_result_file,
    own_folder,
    render_verdict,
)

from gateline.gate import check
from gateline.readers import readers
from gateline.readers._source import Source
from tries import make_tries

tries = make_tries(HealthCheck.data_too_large)


@pytest.mark.parametrize("group", GROUPS)
@tries(5)
@given(data=st.data())
def test_a_damaged_result_file_is_read_or_refused_with_a_reason(group: str, data: st.DataObject) -> None:
    fixture = data.draw(st.sampled_from(fixtures(group)))
    done = data.draw(damages())
    judge_result_file(fixture, damage_file(fixture.part.read_bytes(), done))


@pytest.mark.parametrize("group", GROUPS)
def test_an_undamaged_file_is_read(group: str) -> None:
    """The checks are not passed by files that nothing reads."""
    fixture = fixtures(group)[0]
    assert judge_result_file(fixture, fixture.part.read_bytes()) != "unreadable"


def test_every_reader_has_files_to_damage() -> None:
    claimed = set()
    for group in GROUPS:
        for fixture in fixtures(group):
            source = Source(str(fixture.root))
            claims = {name for name, one in readers().items() if one.looks_like(source.head, source.path)}
            special = {name for name in claims if not getattr(readers()[name], "GENERAL", False)}
            claimed |= special or claims
    assert claimed == set(readers())


# ---- an independent reading


IDS = [f"q{number}" for number in range(8)]
SCORES = [1.0, 0.75, 0.5, 1.0, 0.25, 1.0, 0.0, 0.5]
STRICT = """
version: 1
name: strict
samples: {at_least: 8}
missing: {drop_at_most: 0}
metrics: {score: {better: higher, range: [0, 1]}}
rules:
  - {kind: tolerance, metric: score, worse_by_at_most: 0, decide_by: value}
"""


def read_lines(content: bytes) -> dict[str, list[float]] | None:
    """Read JSON Lines with Python's own parser: the scores of each id; None where a line is no record."""
    scores: dict[str, list[float]] = {}
    for line in content.decode("utf-8-sig").split("\n"):
        if not line.strip():
            continue
        record = json.loads(line)
        if "gateline" in record:
            continue
        value = record.get("metrics", record).get("score")
        scores.setdefault(str(record["id"]), []).append(math.nan if value is None else float(value))
    return scores


@tries(120)
@given(damages(2), st.booleans())
def test_what_passes_is_what_another_parser_reads(done: list[Any], nested: bool) -> None:
    """A damaged candidate passes only where all samples are in it and are no worse, by an independent reading."""
    records = [
        {"id": name, "metrics": {"score": score}} if nested else {"id": name, "score": score}
        for name, score in zip(IDS, SCORES, strict=True)
    ]
    good = "".join(json.dumps(record) + "\n" for record in records).encode()
    content = damage(good, done)
    with own_folder() as folder:
        (folder / "policy.yml").write_text(STRICT, encoding="utf-8")
        (folder / "baseline.jsonl").write_bytes(good)
        (folder / "candidate.jsonl").write_bytes(content)
        code, _, _ = call(
            "check", "--policy", "policy.yml", "--baseline", "baseline.jsonl", "--candidate",
            "candidate.jsonl", "--output-dir", "out",
        )  # fmt: skip
        expect_whole(folder / "out", code)
    if code == 0:
        found = read_lines(content)
        assert found is not None
        assert set(IDS) <= found.keys()
        values = [sum(found[name]) / len(found[name]) for name in IDS]
        assert all(0 <= value <= 1 for value in values)
        assert sum(values) >= sum(SCORES) - 1e-9


# ---- policies and verdicts


@cache
def policies() -> list[bytes]:
    """Return the gates shipped here."""
    return [path.read_bytes() for path in sorted((ROOT / "gates").glob("*.yml"))]


@tries(40)
@given(st.data())
def test_a_damaged_policy_is_a_policy_or_refused_with_a_reason(data: st.DataObject) -> None:
    policy = data.draw(st.sampled_from(policies()))
    judge_policy(damage(policy, data.draw(damages(2))))


@cache
def verdicts() -> list[bytes]:
    """Return whole verdicts: of a shipped gate that blocks, and of one that gives none."""
    data = ROOT / "gates" / "data" / "refchecker"
    runs = (str(data / "baseline.jsonl"), str(data / "candidate.jsonl"))
    blocked = check(ROOT / "gates" / "rag.yml", *runs, on=datetime.date(2026, 1, 1)).to_json()
    return [blocked.encode(), (ROOT / "tests" / "golden" / "no-verdict.json").read_bytes()]


@tries(150)
@given(st.data())
def test_a_damaged_verdict_is_refused_or_every_report_of_it_is_whole(data: st.DataObject) -> None:
    content = data.draw(st.sampled_from(verdicts()))
    render_verdict(damage(content, data.draw(damages(2))))


@pytest.mark.parametrize("number", range(2))
def test_an_undamaged_verdict_is_read(number: int) -> None:
    assert render_verdict(verdicts()[number]) == "read"
