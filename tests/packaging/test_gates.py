"""The policies and the data in gates/: they say what they claim to say, and ship only what they may."""

from __future__ import annotations

import json
import re
from statistics import fmean, stdev

import pytest
from readme import ROOT, run_gateline

from gateline.policy import load_policy

GATES = ROOT / "gates"
ORIGIN = ROOT.parent / "shared" / "data" / "pairs"
needs_origin = pytest.mark.skipif(not ORIGIN.is_dir(), reason=f"the data's origin is not here: {ORIGIN}")
DATA = {"rag": "refchecker", "short": "refchecker", "refusals": "xstest"}


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def judge(gate):
    data = f"gates/data/{DATA[gate]}"
    runs = f"--baseline {data}/baseline.jsonl --candidate {data}/candidate.jsonl"
    done = run_gateline(f"gateline check --policy gates/{gate}.yml {runs} --format json --on 2026-12-01")
    return done.returncode, json.loads(done.stdout)


def test_every_policy_has_data():
    assert {path.stem for path in GATES.glob("*.yml")} == set(DATA)


@pytest.mark.parametrize("gate", DATA)
def test_policy_is_clean(gate):
    done = run_gateline(f"gateline lint gates/{gate}.yml")
    rules = len(load_policy(GATES / f"{gate}.yml").policy.rules)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"gates/{gate}.yml: fine: {rules} {'rule' if rules == 1 else 'rules'}\n"


def test_the_lines_to_uncomment_are_clean_too(tmp_path):
    text = (GATES / "rag.yml").read_text(encoding="utf-8")
    offered = r"^(\s*)# (?=(?:recall@5|latency_p95|cost|cluster|same_input):|- \{id|waivers:|  - \{rule)"
    whole, count = re.subn(offered, r"\1", text, flags=re.MULTILINE)
    file = tmp_path / "whole.yml"
    file.write_text(whole, encoding="utf-8")
    assert count == 11
    assert run_gateline(f"gateline lint {file}").stdout == f"{file}: fine: 13 rules\n"


def test_rag_blocks_although_the_mean_rises():
    code, verdict = judge("rag")
    assert (code, verdict["verdict"]) == (1, "fail")
    assert [one["rule"] for one in verdict["findings"] if one["blocks"]] == [
        "answers-hold-where-text-is-given"
    ]
    gained = next(one for one in verdict["findings"] if one["rule"] == "supported-gain")
    assert (gained["status"], round(gained["gain"], 3)) == ("pass", 0.133)


def test_short_passes_on_the_same_data():
    code, verdict = judge("short")
    assert (code, verdict["verdict"], verdict["counts"]["pass"]) == (0, "pass", 1)


def test_refusals_pass_with_one_warning():
    code, verdict = judge("refusals")
    assert (code, verdict["verdict"]) == (0, "pass")
    open_ones = [
        one["rule"]
        for one in verdict["findings"]
        if one["status"] == "inconclusive" and one["slice"] == "unsafe"
    ]
    assert open_ones == ["full-refusals-hold"]
    assert next(one for one in verdict["findings"] if one["hard"])["status"] == "pass"


@pytest.mark.parametrize("gate", DATA)
def test_numbers_agree_with_a_computation_by_hand(gate):
    """Means, gains, counts, and the interval's width against Student's, from the files alone."""
    policy = load_policy(GATES / f"{gate}.yml").policy
    before, after = (
        read(GATES / "data" / DATA[gate] / f"{side}.jsonl")[1:] for side in ("baseline", "candidate")
    )
    found = {record["id"]: record for record in after}
    pairs = [(record, found.pop(record["id"])) for record in before]
    assert not found
    checked = 0
    for finding in judge(gate)[1]["findings"]:
        metric = policy.metrics[finding["metric"]]
        if metric.ratio or metric.summary != "mean":
            continue
        wanted = policy.slices.named.get(finding["slice"] or "", {})
        if finding["slice"] and not wanted:
            label, _, value = finding["slice"].partition("=")
            wanted = {label: (value,)}
        field = metric.field or finding["metric"]
        rows = [
            (old["metrics"][field], new["metrics"][field])
            for old, new in pairs
            if all(old["slices"][label] in values for label, values in wanted.items())
        ]
        gains = [metric.sign * (new - old) for old, new in rows]
        assert finding["samples"] == len(rows)
        assert finding["baseline"] == pytest.approx(fmean(old for old, _ in rows), abs=1e-6)
        assert finding["candidate"] == pytest.approx(fmean(new for _, new in rows), abs=1e-6)
        assert (finding["better"], finding["worse"]) == (sum(g > 0 for g in gains), sum(g < 0 for g in gains))
        if (
            finding["kind"] == "tolerance"
            and len(rows) >= 100
            and sum(map(bool, gains)) >= 10
            and finding["slice"] is None
        ):
            width = finding["interval"]["high"] - finding["interval"]["low"]
            assert width == pytest.approx(2 * 1.97 * stdev(gains) / len(rows) ** 0.5, rel=0.1)
        checked += 1
    assert checked >= 1


@pytest.mark.parametrize("name", sorted(set(DATA.values())))
def test_data_hold_labels_and_numbers_but_no_texts(name):
    told = (GATES / "data" / "README.md").read_text(encoding="utf-8")
    section = told.split(f"## {name}\n")[1].split("\n## ")[0]
    assert re.search(r"\*\*Origin:\*\*.+commit\s+[0-9a-f]{12}", section, re.DOTALL)
    assert re.search(r"\*\*Licence:\*\* (Apache-2\.0|\[CC-BY-4\.0\])", section)
    for side in ("baseline", "candidate"):
        head, *records = read(GATES / "data" / name / f"{side}.jsonl")
        assert set(head) == {"gateline", "run"}
        for record in records:
            assert set(record) == {"id", "slices", "metrics"}
            assert all(type(value) is int for value in record["metrics"].values())
        named = {*records[0]["metrics"], *(f"slices.{label}" for label in records[0]["slices"])}
        assert named == set(re.findall(r"^\| `(.+?)` \|", section, re.MULTILINE))


@needs_origin
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_refchecker_is_what_people_said(side):
    origin = ORIGIN / "refchecker_chatgpt_to_gpt4"
    expected = []
    for claimed, scored in zip(
        read(origin / f"claims_{side}.jsonl"), read(origin / f"{side}.jsonl"), strict=True
    ):
        labels = [claim["label"] for claim in claimed["claims"]]
        assert claimed["id"] == scored["id"]
        metrics = {
            "answered": int(bool(labels)),
            "fully_supported": int(set(labels) == {"supported"}),
            "claims": len(labels),
            "unsupported_claims": len(labels) - labels.count("supported"),
            "contradicted_claims": labels.count("contradicted"),
            "answer_words": scored["metrics"]["response_words"],
        }
        expected.append({"id": scored["id"], "slices": {"setting": claimed["setting"]}, "metrics": metrics})
    assert read(GATES / "data" / "refchecker" / f"{side}.jsonl")[1:] == expected


@needs_origin
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_xstest_is_what_people_said(side):
    shipped = read(GATES / "data" / "xstest" / f"{side}.jsonl")[1:]
    origin = read(ORIGIN / "xstest_llama2orig_to_new" / f"{side}.jsonl")
    for mine, theirs in zip(shipped, origin, strict=True):
        assert (mine["id"], mine["slices"]) == (theirs["id"], theirs["slices"])
        words = theirs["metrics"].pop("response_words")
        assert mine["metrics"] == {
            **{k: theirs["metrics"][k] for k in ("appropriate", "refused", "full_refusal")},
            "answer_words": words,
        }
