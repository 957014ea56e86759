from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, judge, write_policies

from gateline.convert import write_jsonl
from gateline.errors import InputError
from gateline.policy import load_policy
from gateline.readers import read_run, readers

PHOENIX = FILES / "phoenix"
SIDES = ("baseline", "candidate")
POLICY = """version: 1
name: gate
samples: {{at_least: 1}}
metrics:
  {metric}: {{better: higher, range: [0, 1]}}
missing: {{drop_at_most: 0.1}}
rules:
  - {{id: holds, kind: tolerance, metric: {metric}, worse_by_at_most: 0.9}}
"""


def rows_of(side: str) -> list[dict]:
    return json.loads((PHOENIX / f"{side}.json").read_text())


def annotation(score: float | None = 1.0, **more) -> dict:
    return {"name": "judge", "annotator_kind": "LLM", "label": None, "score": score, "error": None} | more


def row(example: str, *annotations: dict, **more) -> dict:
    made = {"example_id": example, "repetition_number": 1, "input": {"question": "Who?"}, "error": None}
    return made | {"output": "Me.", "latency_ms": 5.0, "annotations": list(annotations)} | more


def write_json(path: Path, *rows: dict) -> Path:
    path.write_text(json.dumps(rows))
    return path


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_every_number_is_the_tools(side, suffix):
    run = read_run(PHOENIX / f"{side}.{suffix}")
    rows = rows_of(side)
    assert run.ids == [one["example_id"] for one in rows]
    for name in ("judge", "retrieval_hit", "word_recall"):
        scores = [
            next((given["score"] for given in one["annotations"] if given["name"] == name), None)
            for one in rows
        ]
        np.testing.assert_array_equal(run.numbers(name), [np.nan if one is None else one for one in scores])
        np.testing.assert_array_equal(run.numbers(f"annotation_{name}_score"), run.numbers(name))
    assert run.numbers("latency_ms").tolist() == [one["latency_ms"] for one in rows]
    assert run.texts("question") == [one["input"]["question"] for one in rows]
    assert run.labels("reference_output.gold_ids") == [
        tuple(one["reference_output"]["gold_ids"]) for one in rows
    ]
    assert (run.format, run.id_field, run.made_ids) == ("phoenix", "example_id", False)


def test_only_the_table_has_metadata():
    run = read_run(PHOENIX / "baseline.csv")
    assert run.labels("qid")[:2] == [("q001",), ("q002",)]
    assert set(run.slices) == {"qid", "topic"}
    assert read_run(PHOENIX / "baseline.json").slices == {}
    assert read_run(PHOENIX / "baseline.csv", id_field="qid").ids == [
        f"q{place:03}" for place in range(1, 31)
    ]
    questions = [one["input"]["question"] for one in rows_of("baseline")]
    assert read_run(PHOENIX / "baseline.json", id_field="question").ids == questions


def test_a_task_that_failed_has_no_answer_though_evaluators_gave_it_a_zero(tmp_path):
    rows = rows_of("candidate")
    (failed,) = [place for place, one in enumerate(rows) if one["error"]]
    assert [given["score"] for given in rows[failed]["annotations"]] == [0.0] * 3
    for suffix in ("csv", "json"):
        run = read_run(PHOENIX / f"candidate.{suffix}")
        assert [place for place, text in enumerate(run.texts("error")) if text] == [failed]
        assert run.texts("error")[failed] == "no_answer"
        assert run.texts("error_message")[failed] == "RuntimeError('vector store timed out')"
    files = [PHOENIX / f"{side}.csv" for side in SIDES]
    policy = POLICY.format(metric="word_recall").replace(
        "drop_at_most: 0.1", "no_answer: drop, drop_at_most: 0.1"
    )
    (finding,) = judge(policy, *files, tmp_path).findings
    kept = [
        next(given["score"] for given in one["annotations"] if given["name"] == "word_recall")
        for one in rows
        if not one["error"]
    ]
    assert finding.candidate == pytest.approx(np.mean(kept))


def test_an_evaluator_that_failed_gave_no_score_whatever_stands_there(tmp_path):
    run = read_run(PHOENIX / "baseline.csv")
    assert np.isnan(run.numbers("judge")[29])
    assert run.texts("annotation_judge_error")[29] == "ValueError('judge returned invalid JSON')"
    assert run.numbers("word_recall")[29] == 0.0
    path = write_json(
        tmp_path / "a.json", row("e1", annotation(0.0, error="Timeout()")), row("e2", annotation(0.5))
    )
    np.testing.assert_array_equal(read_run(path).numbers("judge"), [np.nan, 0.5])


def test_repetitions_are_attempts_by_their_number(tmp_path):
    rows = [row("e1", annotation(score), repetition_number=number) for number, score in ((2, 1.0), (1, 0.0))]
    path = write_json(tmp_path / "a.json", *rows)
    assert read_run(path).texts("attempt") == ["2", "1"]
    policy = POLICY.format(metric="judge").replace("at_least: 1", "at_least: 1, repeats: last")
    assert judge(policy, path, path, tmp_path).findings[0].candidate == 1.0
    assert judge(POLICY.format(metric="judge"), path, path, tmp_path).findings[0].candidate == 0.5
    assert "attempt" not in read_run(PHOENIX / "baseline.csv").fields


def test_labels_without_scores_are_no_metric(tmp_path):
    rows = [
        row(f"e{place}", annotation(0.5), annotation(None, name="tone", label=label))
        for place, label in enumerate(("kind", "cold"))
    ]
    run = read_run(write_json(tmp_path / "a.json", *rows))
    assert list(run.metrics) == ["judge"]
    assert run.labels("annotation_tone_label") == [("kind",), ("cold",)]
    with pytest.raises(InputError, match="has no scores: no evaluator gave a number: tone"):
        read_run(write_json(tmp_path / "b.json", row("e1", annotation(None, name="tone", label="kind"))))
    with pytest.raises(InputError, match="has no scores: no evaluator has run"):
        read_run(write_json(tmp_path / "c.json", row("e1")))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"annotations": [annotation(annotator_kind="HUMAN")]},
            "annotation_judge_annotator_kind is 'LLM' in the baseline and 'HUMAN' in the candidate",
        ),
        (
            {"reference_output": {"answer": "You."}},
            "reference_output.answer is 'Me.' in the baseline and 'You.' in the candidate",
        ),
    ],
)
def test_what_must_agree(tmp_path, changes, message):
    same = row("e1", annotation(), reference_output={"answer": "Me."})
    before = write_json(tmp_path / "a.json", same)
    verdict = judge(
        POLICY.format(metric="judge"), before, write_json(tmp_path / "b.json", same | changes), tmp_path
    )
    assert verdict.verdict == "invalid"
    assert message in verdict.because[0]


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        ([annotation(), annotation()], "example 'e1' has the annotation 'judge' twice"),
        ([annotation(name="")], "example 'e1' has an annotation without a name"),
    ],
)
def test_annotations_that_are_wrong(tmp_path, annotations, message):
    with pytest.raises(InputError, match=message):
        read_run(write_json(tmp_path / "a.json", row("e1", *annotations)))


def test_an_evaluator_called_error_is_no_error(tmp_path):
    rows = [row(f"e{place}", annotation(place % 2, name="error")) for place in range(4)]
    path = write_json(tmp_path / "a.json", *rows)
    verdict = judge(POLICY.format(metric="error"), path, path, tmp_path)
    assert (verdict.findings[0].samples, verdict.findings[0].candidate) == (4, 0.5)


def test_an_output_that_is_a_text_or_missing(tmp_path):
    path = write_json(
        tmp_path / "a.json", row("e1", annotation()), row("e2", annotation(), output={"answer": ""})
    )
    assert read_run(path).texts("error") == ["", "no_answer"]


def test_a_record_without_an_example(tmp_path):
    with pytest.raises(InputError, match=r"1 of 2 records has no example_id: line 1"):
        read_run(write_json(tmp_path / "a.json", row("e1", annotation()), row("", annotation())))


@pytest.mark.parametrize("content", ['[{"example_id": "a", "score": 1}]', '[{"id": "a", "annotations": []}]'])
def test_what_is_not_of_phoenix(content):
    assert not readers()["phoenix"].looks_like(content.encode(), Path("a.json"))


@pytest.mark.parametrize("side", SIDES)
def test_a_converted_run_is_the_same(side, tmp_path):
    run = read_run(PHOENIX / f"{side}.csv")
    (tmp_path / "run.jsonl").write_text("".join(write_jsonl(run)))
    again = read_run(tmp_path / "run.jsonl")
    assert again.ids == run.ids
    assert (again.must_agree, again.aliases) == (run.must_agree, run.aliases)
    np.testing.assert_array_equal(again.numbers("judge"), run.numbers("judge"))
    assert again.labels("topic") == run.labels("topic")


def test_the_documented_policy(tmp_path):
    for path in write_policies("phoenix.md", tmp_path):
        load_policy(path)
        verdict = judge(path, *(PHOENIX / f"{side}.csv" for side in SIDES))
        assert verdict.verdict in {"pass", "fail"}, verdict.because
        assert verdict.pairing.paired == 30
        assert judge(path, PHOENIX / "baseline.csv", PHOENIX / "baseline.csv").verdict == "pass"
