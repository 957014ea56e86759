"""What makes two runs' numbers mean different things ends in no verdict, in every format whose files say it.

Each case changes one fact in a copy of a tool's file, and nothing else.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from documented import DAY, FILES

from gateline.gate import check
from gateline.readers import read_run, readers
from gateline.verdict import Verdict

MTEB = "mteb/results/codefuse-ai__F2LLM-v2-80M/35baae5091e26211dbe628f1723448c146fafdf2"
HEADER = {
    "gateline": 1,
    "run": {"judge": "a", "tool": "1.9"},
    "must_agree": {"judge": "exactly", "tool": "major version"},
}
OWN = "".join(json.dumps(line) + "\n" for line in (HEADER, {"id": "q1", "metrics": {"s": 0.5}}))


@dataclass(frozen=True)
class Change:
    """One fact of a file, and another value for it."""

    fact: str
    file: str
    """A file or folder of the fixtures; several files of one run are apart by a blank."""
    metric: str
    old: str
    """A pattern of which the first place in the changed file is replaced."""
    new: str
    within: str = ""
    """Where the file is a folder: a pattern of the file that changes."""


CHANGES = [
    Change(
        "dataset_revision",
        MTEB,
        "main_score",
        r'"dataset_revision": "\w+"',
        '"dataset_revision": "other"',
        "*Class*.json",
    ),
    Change("main_score_is", MTEB, "ndcg@10", r'"main_score": 0\.', '"main_score": 0.0', "NFCorpus.json"),
    Change(
        "mteb_version", MTEB, "main_score", r'"mteb_version": "2\.', '"mteb_version": "3.', "*Class*.json"
    ),
    Change("judge_llm", "ragas/baseline.custom_wrapper.json", "faithfulness", "fake-judge-1", "fake-judge-2"),
    Change(
        "reference",
        "ragas/baseline.csv",
        "faithfulness",
        "Full-time staff receive 28 days of paid leave each year.",
        "Another.",
    ),
    Change(
        "evaluation_version.general_qa",
        "evalscope/baseline",
        "Rouge-L-R",
        r"evaluation_version: v1\.1",
        "evaluation_version: v2",
        "task_config.yaml",
    ),
    Change(
        "evalscope_version",
        "evalscope/baseline",
        "Rouge-L-R",
        r"evalscope_version: 1\.14\.1",
        "evalscope_version: 2.0.0",
        "task_config.yaml",
    ),
    Change(
        "judge",
        "evalscope/baseline",
        "Rouge-L-R",
        r"models: \[\]",
        "models: [{model_id: NEW}]",
        "task_config.yaml",
    ),
    Change(
        "reference",
        "evalscope/baseline",
        "Rouge-L-R",
        r'"target": \["[^"]*"',
        '"target": ["another"',
        "*_hr.jsonl",
    ),
    Change("judge", "deepeval/baseline.test_run.json", "Faithfulness", "fake-judge-1", "fake-judge-2"),
    Change(
        "reference",
        "deepeval/baseline.test_run.json",
        "Faithfulness",
        r'"expectedOutput": "[^"]*"',
        '"expectedOutput": "another"',
    ),
    Change(
        "vars.reference",
        "promptfoo/baseline.json",
        "score",
        r'"reference":\s*"[^"]*"',
        '"reference": "another"',
    ),
    Change("assertions", "promptfoo/baseline.json", "score", r'"type":\s*"(\w|-)+"', '"type": "equals"'),
    Change(
        "task_version",
        "inspect/candidate_epochs2.json",
        "retrieval_hit",
        r'"task_version": 3',
        '"task_version": 4',
    ),
    Change(
        "dataset",
        "inspect/candidate_epochs2.json",
        "retrieval_hit",
        r'"dataset": \{\s*"name": "[^"]*"',
        '"dataset": {"name": "other"',
    ),
    Change("task", "inspect/candidate_epochs2.json", "retrieval_hit", r'"task": "harbor"', '"task": "other"'),
    Change(
        "reference",
        "inspect/candidate_epochs2.json",
        "retrieval_hit",
        r'"target": "[^"]*"',
        '"target": "another"',
    ),
    Change(
        "dataset",
        "lm_eval/baseline",
        "exact_match",
        r'"dataset_path": "json"',
        '"dataset_path": "other"',
        "results_*.json",
    ),
    Change(
        "task_version",
        "lm_eval/baseline",
        "exact_match",
        r'("versions": \{\s*"[^"]*": )1(\.0)?',
        r"\g<1>2",
        "results_*.json",
    ),
    Change(
        "num_fewshot",
        "lm_eval/baseline",
        "exact_match",
        r'("n-shot": \{\s*"[^"]*": )0',
        r"\g<1>5",
        "results_*.json",
    ),
    Change(
        "target_hash",
        "lm_eval/baseline",
        "exact_match",
        r'"target_hash": "\w+"',
        '"target_hash": "other"',
        "samples_*.jsonl",
    ),
    Change("reference", "ragchecker/baseline.json", "f1", r'"gt_answer": "[^"]*"', '"gt_answer": "another"'),
    Change(
        "reference.answer",
        "langsmith/baseline.json",
        "word_recall",
        r'"reference\.answer":"[^"]*"',
        '"reference.answer":"another"',
    ),
    Change(
        "reference_output.answer",
        "phoenix/baseline.json",
        "judge",
        r'("reference_output": \{\s*"answer": )"[^"]*"',
        r'\g<1>"another"',
    ),
    Change(
        "annotation_judge_annotator_kind",
        "phoenix/baseline.json",
        "judge",
        r'("name": "judge",\s*"annotator_kind": )"CODE"',
        r'\g<1>"LLM"',
    ),
    Change(
        "source.word_recall",
        "langfuse/baseline.scores.csv langfuse/baseline.dataset_run_items.csv",
        "word_recall",
        '"API"',
        '"EVAL"',
    ),
    Change(
        "dataset",
        "langfuse/baseline.dataset_run_items.json langfuse/baseline.scores.json",
        "word_recall",
        '"datasetName": "harbor"',
        '"datasetName": "other"',
    ),
    Change("judge", "own.jsonl", "s", '"judge": "a"', '"judge": "b"'),
    Change("tool", "own.jsonl", "s", '"tool": "1.9"', '"tool": "2.0"'),
]
EVERYWHERE = {("langfuse", "dataset"), ("promptfoo", "vars.reference"), ("promptfoo", "assertions")}
"""Facts that a file states in several places, all of which change together."""


def copies(change: Change, folder: Path) -> list[Path]:
    """Return a copy of the files of a change in a folder."""
    found = []
    for name in change.file.split():
        target = folder / Path(name).name
        if name == "own.jsonl":
            folder.mkdir(exist_ok=True)
            target.write_text(OWN)
        elif (FILES / name).is_dir():
            shutil.copytree(FILES / name, target)
        else:
            folder.mkdir(exist_ok=True)
            shutil.copy(FILES / name, target)
        found.append(target)
    return found


def apply(change: Change, paths: list[Path], new: str) -> None:
    """Write the other value into the first of the files in which the fact stands."""
    for path in paths:
        files = sorted(path.rglob(change.within)) if path.is_dir() else [path]
        for file in files:
            text = file.read_text(encoding="utf-8")
            times = 0 if (change.file.partition("/")[0], change.fact) in EVERYWHERE else 1
            changed, found = re.subn(change.old, new, text, count=times)
            if found:
                assert changed != text
                file.write_text(changed, encoding="utf-8")
                return
    raise AssertionError(f"nothing to change: {change.old}")


def judge_copies(
    change: Change, folder: Path, before: list[Path], after: list[Path], *allowed: str
) -> Verdict:
    policy = {
        "version": 1,
        "name": "gate",
        "samples": {"at_least": 1},
        "missing": {"drop_at_most": 1.0},
        "metrics": {change.metric: {"better": "higher"}},
        "provenance": {"may_change": list(allowed)},
        "rules": [{"id": "holds", "kind": "tolerance", "metric": change.metric, "worse_by_at_most": 1e6}],
    }
    (folder / "policy.yml").write_text(json.dumps(policy))
    sides = ["\n".join(map(str, paths)) for paths in (before, after)]
    return check(folder / "policy.yml", *sides, on=DAY)


@pytest.mark.parametrize(
    "change", CHANGES, ids=lambda change: f"{change.file.partition('/')[0]}-{change.fact}"
)
def test_another_value_of_a_fact_ends_in_no_verdict(change, tmp_path):
    before, after = copies(change, tmp_path / "a"), copies(change, tmp_path / "b")
    same = judge_copies(change, tmp_path, before, after)
    assert same.verdict in {"pass", "fail"}, same.because
    if "NEW" in change.new:  # a fact that the fixture does not state
        apply(change, before, change.new.replace("NEW", "one"))
    apply(change, after, change.new.replace("NEW", "two"))
    verdict = judge_copies(change, tmp_path, before, after)
    assert verdict.verdict == "invalid"
    assert f"{change.fact} is '" in " ".join(verdict.because)
    allowed = judge_copies(change, tmp_path, before, after, change.fact)
    assert allowed.verdict in {"pass", "fail"}, allowed.because


def test_every_fact_that_a_fixture_states_is_among_the_cases():
    covered = {(change.file.partition("/")[0].partition(".")[0], change.fact) for change in CHANGES}
    alike = re.compile(r"reference(_output)?\.gold_ids|annotation_\w+_annotator_kind|scoring|judge")
    seen: set[str] = set()
    for files in sorted({change.file for change in CHANGES}):
        if files == "own.jsonl":
            continue
        tool = files.partition("/")[0]
        run = read_run([FILES / name for name in files.split()])
        assert run.must_agree, tool
        for fact in run.must_agree:
            assert (tool, fact) in covered or alike.fullmatch(fact), (tool, fact)
        seen.add(tool)
    tools = {"csv", "json", "jsonl", "parquet", "trec", "trec-eval", "ctrf", "junit", "pytest-json-report"}
    assert {name.replace("-", "_") for name in set(readers()) - tools} <= seen, (
        "formats of which no file states a fact"
    )


@pytest.mark.parametrize(
    ("first", "second", "metric", "told"),
    [
        (
            "user_input,response,reference,context_precision\nQ,r,x,0.5\n",
            "user_input,response,context_precision\nQ,r,0.5\n",
            "context_precision",
            "context_precision is another metric in the two files",
        ),
        (
            '{"gateline": 1, "metrics": {"s": {"better": "higher"}}}\n{"id": "q1", "metrics": {"s": 1}}\n',
            '{"gateline": 1, "metrics": {"s": {"better": "lower"}}}\n{"id": "q1", "metrics": {"s": 1}}\n',
            "s",
            "s: higher is better in the baseline, lower in the candidate",
        ),
        (
            '{"gateline": 1, "metrics": {"s": {"better": "higher", "range": [0, 1]}}}\n{"id": "q1", "s": 1}\n',
            '{"gateline": 1, "metrics": {"s": {"better": "higher", "range": [0, 5]}}}\n{"id": "q1", "s": 1}\n',
            "s",
            "s is on another scale: 0 to 1 in the baseline, 0 to 5 in the candidate",
        ),
    ],
    ids=["definition", "direction", "scale"],
)
def test_another_meaning_of_a_metric_ends_in_no_verdict(first, second, metric, told, tmp_path):
    ending = "csv" if first.startswith("user_input") else "jsonl"
    paths = [tmp_path / f"{name}.{ending}" for name in ("a", "b")]
    for path, text in zip(paths, (first, second), strict=True):
        path.write_text(text)
    change = Change("", "", metric, "", "")
    for before, after in (paths, paths[::-1]):
        verdict = judge_copies(change, tmp_path, [before], [after])
        assert verdict.verdict == "invalid"
    assert told in " ".join(judge_copies(change, tmp_path, [paths[0]], [paths[1]]).because)


def test_a_fact_that_only_one_run_states_is_told(tmp_path):
    change = next(one for one in CHANGES if one.file == "own.jsonl")
    before, after = copies(change, tmp_path / "a"), copies(change, tmp_path / "b")
    after[0].write_text(OWN.replace('"judge": "a", ', ""))
    verdict = judge_copies(change, tmp_path, before, after)
    assert verdict.verdict == "pass"
    assert any(
        "does not say its judge, so it is not known whether it changed" in one for one in verdict.notices
    )
