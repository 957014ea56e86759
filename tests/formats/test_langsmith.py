from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, judge, write_policies

from gateline.convert import write_jsonl
from gateline.errors import InputError
from gateline.policy import load_policy
from gateline.readers import read_run, readers

LANGSMITH = FILES / "langsmith"
SIDES = ("baseline", "candidate")
POLICY = """version: 1
name: gate
samples: {{at_least: 1}}
metrics:
  {metric}: {{better: higher, range: [0, 1]}}
rules:
  - {{id: holds, kind: tolerance, metric: {metric}, worse_by_at_most: 0.9}}
"""


def rows_of(side: str) -> list[dict]:
    return json.loads((LANGSMITH / f"{side}.json").read_text())


def row(question: str = "Who?", *, example: str | None = None, **more) -> dict:
    made = {
        "inputs.question": question,
        "outputs.answer": "Me.",
        "error": None,
        "reference.answer": "Me.",
        "feedback.recall": 0.5,
        "execution_time": 0.25,
    }
    return (
        made
        | ({"example_id": example} if example else {})
        | {name.replace("__", "."): value for name, value in more.items()}
    )


def write_json(path: Path, *rows: dict) -> Path:
    path.write_text(json.dumps(rows))
    return path


@pytest.mark.parametrize("side", SIDES)
def test_every_number_is_the_tools(side):
    run = read_run(LANGSMITH / f"{side}.json")
    rows = rows_of(side)
    assert run.ids == [one["example_id"] for one in rows]
    assert run.numbers("word_recall").tolist() == [one["feedback.word_recall"] for one in rows]
    assert run.numbers("retrieval_hit").tolist() == [float(one["feedback.retrieval_hit"]) for one in rows]
    assert run.numbers("latency_ms").tolist() == pytest.approx([1000 * one["execution_time"] for one in rows])
    assert run.labels("verdict") == [(one["feedback.verdict"],) for one in rows]
    assert run.texts("question") == [one["inputs.question"] for one in rows]
    assert run.labels("reference.gold_ids") == [tuple(one["reference.gold_ids"]) for one in rows]
    assert (run.format, run.format_version, run.id_field, run.made_ids) == (
        "langsmith", "to_pandas", "example_id", False,
    )  # fmt: skip


@pytest.mark.parametrize("side", SIDES)
def test_table_and_json_are_one_run(side, tmp_path):
    """So are JSON Lines, columns by row number and columns of lists, as pandas writes them."""
    rows = rows_of(side)
    columns = {name: {str(place): one[name] for place, one in enumerate(rows)} for name in rows[0]}
    lists = {name: [one[name] for one in rows] for name in rows[0]}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    (tmp_path / "columns.json").write_text(json.dumps(columns))
    (tmp_path / "lists.json").write_text(json.dumps(lists, indent=1))
    expected = read_run(LANGSMITH / f"{side}.json")
    for path in (LANGSMITH / f"{side}.csv", *tmp_path.iterdir()):
        run = read_run(path)
        assert run.format == "langsmith", path
        assert run.ids == expected.ids
        for name in ("word_recall", "retrieval_hit", "latency_ms"):
            np.testing.assert_allclose(
                run.numbers(name), expected.numbers(name), rtol=0, atol=1e-10
            )  # to_json's digits
        assert run.fields.keys() == expected.fields.keys()
        for name in ("error", "question", "feedback.verdict", "outputs.context_ids", "reference.gold_ids"):
            assert run.labels(name) == expected.labels(name), (path, name)


def test_a_run_that_failed_has_no_answer_though_evaluators_gave_it_a_zero(tmp_path):
    """LangSmith's evaluators score the failed run: 0.0 and false stand beside its error."""
    rows = rows_of("candidate")
    (failed,) = [place for place, one in enumerate(rows) if one["error"]]
    assert rows[failed]["feedback.word_recall"] == 0.0
    run = read_run(LANGSMITH / "candidate.csv")
    errors = run.texts("error")
    assert errors[failed] == "no_answer"
    assert [text for place, text in enumerate(errors) if place != failed] == [""] * 29
    assert run.texts("error_message")[failed] == "RuntimeError('vector store timed out')"
    files = [LANGSMITH / f"{side}.csv" for side in SIDES]
    (finding,) = judge(POLICY.format(metric="word_recall"), *files, tmp_path).findings
    assert finding.candidate == pytest.approx(np.mean([one["feedback.word_recall"] for one in rows]))
    policy = POLICY.format(metric="word_recall") + "missing: {no_answer: drop, drop_at_most: 0.1}\n"
    (finding,) = judge(policy, *files, tmp_path).findings
    others = [one["feedback.word_recall"] for one in rows if not one["error"]]
    assert finding.candidate == pytest.approx(np.mean(others))


def test_an_error_beside_an_answer_leaves_the_score_unknown(tmp_path):
    path = write_json(
        tmp_path / "a.json",
        row(example="e1"),
        row(example="e2", error="ValueError('late')\n\nTraceback", feedback__recall=0.0),
    )
    run = read_run(path)
    assert run.texts("error") == ["", "ValueError('late')"]
    policy = POLICY.format(metric="recall") + "missing: {drop_at_most: 0.6}\n"
    verdict = judge(policy, path, path, tmp_path)
    assert (verdict.findings[0].samples, verdict.findings[0].candidate) == (1, 0.5)


def test_a_target_that_gave_nothing_has_no_answer(tmp_path):
    path = write_json(tmp_path / "a.json", row(example="e1"), row(example="e2", outputs__answer=None))
    assert read_run(path).texts("error") == ["", "no_answer"]
    retrieval_only = [row(example=name, outputs__answer=None) for name in ("e1", "e2")]
    assert "error" not in read_run(write_json(tmp_path / "b.json", *retrieval_only)).fields


def test_repetitions_are_attempts(tmp_path):
    rows = [row(example=name, feedback__recall=score) for name, score in (("e1", 0), ("e2", 1), ("e1", 1))]
    run = read_run(write_json(tmp_path / "a.json", *rows))
    assert run.texts("attempt") == ["1", "1", "2"]
    verdict = judge(POLICY.format(metric="recall"), tmp_path / "a.json", tmp_path / "a.json", tmp_path)
    assert verdict.pairing.attempts
    assert verdict.findings[0].candidate == 0.75  # e1: half, e2: one


def test_without_examples_the_text_of_the_inputs_identifies(tmp_path):
    rows = [row(f"Q{number}", feedback__recall=number / 10, inputs__locale="de") for number in range(10)]
    shuffled = random.Random(1).sample(rows, 10)
    before, after = write_json(tmp_path / "a.json", *rows), write_json(tmp_path / "b.json", *shuffled)
    verdict = judge(POLICY.format(metric="recall"), before, after, tmp_path)
    assert verdict.findings[0].gain == 0
    assert verdict.pairing.paired == 10
    assert sum("matched by the text of the inputs" in one for one in verdict.notices) == 2
    run = read_run(before)
    assert run.made_ids
    assert run.texts("question")[0] == '{"locale": "de", "question": "Q0"}'
    assert "Q0" not in "".join(run.ids)
    assert read_run(before, id_field="inputs.question").ids == [f"Q{number}" for number in range(10)]
    with pytest.raises(InputError, match="2 records have neither example_id nor inputs"):
        read_run(write_json(tmp_path / "c.json", row(""), row("  "), row("Q")))


def test_a_field_of_the_policy_identifies():
    run = read_run(LANGSMITH / "baseline.csv", id_field="inputs.question")
    assert run.ids == [one["inputs.question"] for one in rows_of("baseline")]


def test_rows_of_which_one_has_no_example(tmp_path):
    path = write_json(tmp_path / "a.json", row(example="e1"), row("Other?"))
    with pytest.raises(InputError, match=r"a\.json: 1 of 2 records has no example_id"):
        read_run(path)


def test_names_of_get_test_results(tmp_path):
    old = {name.replace("inputs.", "input."): value for name, value in row(example="e1").items()}
    run = read_run(write_json(tmp_path / "a.json", old))
    assert (run.format, run.format_version) == ("langsmith", "get_test_results")
    assert run.texts("question") == ["Who?"]
    assert run.numbers("feedback.recall").tolist() == [0.5]


def test_feedback_in_words_is_a_label_and_no_metric(tmp_path):
    files = [LANGSMITH / f"{side}.json" for side in SIDES]
    verdict = judge(POLICY.format(metric="verdict"), *files, tmp_path)
    assert verdict.verdict == "invalid"
    assert "verdict" in verdict.because[0]
    words = [row(example="e1", feedback__recall="good"), row(example="e2", feedback__recall="bad")]
    with pytest.raises(
        InputError, match=r"no feedback that is a number.*its feedback is text: feedback\.recall"
    ):
        read_run(write_json(tmp_path / "a.json", *words))
    passed = [row(example="e1", feedback__recall="pass"), row(example="e2", feedback__recall="FAIL")]
    assert read_run(write_json(tmp_path / "b.json", *passed)).numbers("recall").tolist() == [1, 0]


def test_feedback_that_is_called_like_a_field(tmp_path):
    """A score `error` is a score, not a failure of the run."""
    rows = [row(example=f"e{place}", feedback__error=place % 2, feedback__id=1) for place in range(4)]
    path = write_json(tmp_path / "a.json", *rows)
    run = read_run(path)
    assert run.ids == ["e0", "e1", "e2", "e3"]
    assert run.numbers("feedback.error").tolist() == [0, 1, 0, 1]
    verdict = judge(POLICY.format(metric="recall"), path, path, tmp_path)
    assert verdict.findings[0].samples == 4


def test_missing_feedback_is_no_score(tmp_path):
    rows = [row(example="e1", feedback__recall=None), row(example="e2", feedback__recall=0.5)]
    (tmp_path / "a.json").write_text(json.dumps(rows).replace("null", "NaN"))
    np.testing.assert_array_equal(read_run(tmp_path / "a.json").numbers("recall"), [np.nan, 0.5])


def test_another_reference_is_another_task(tmp_path):
    before = write_json(tmp_path / "a.json", row(example="e1"))
    after = write_json(tmp_path / "b.json", row(example="e1", reference__answer="You."))
    verdict = judge(POLICY.format(metric="recall"), before, after, tmp_path)
    assert verdict.verdict == "invalid"
    assert "reference.answer is 'Me.' in the baseline and 'You.' in the candidate" in verdict.because[0]


def test_a_time_that_is_no_number_is_placed(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, row(example="e1"))
        writer.writeheader()
        writer.writerows([row(example="e1"), row(example="e2", execution_time="fast")])
    with pytest.raises(InputError, match=r"a\.csv:3: execution_time must be a number, not the text 'fast'"):
        read_run(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "id,inputs.question,score\n1,Q,0.5\n"),
        ("a.json", '[{"id": 1, "feedback.score": 0.5}]'),
        ("a.json", '[{"id": 1, "example_id": 1, "execution_time": 0.5}]'),
        ("a.jsonl", '{"id": "1", "metrics": {"feedback.a": 1}, "inputs": {"q": 1}}\n' * 2),
    ],
)
def test_what_is_not_of_langsmith(name, content):
    assert not readers()["langsmith"].looks_like(content.encode(), Path(name))


@pytest.mark.parametrize("side", SIDES)
def test_a_converted_run_is_the_same(side, tmp_path):
    run = read_run(LANGSMITH / f"{side}.csv")
    (tmp_path / "run.jsonl").write_text("".join(write_jsonl(run)))
    again = read_run(tmp_path / "run.jsonl")
    assert again.ids == run.ids
    assert (again.must_agree, again.aliases, again.warnings) == (run.must_agree, run.aliases, run.warnings)
    np.testing.assert_array_equal(again.numbers("word_recall"), run.numbers("word_recall"))
    assert again.texts("error") == run.texts("error") or set(run.texts("error") or [""]) == {""}


def test_the_documented_policy(tmp_path):
    for path in write_policies("langsmith.md", tmp_path):
        load_policy(path)
        for suffix in ("csv", "json"):
            verdict = judge(path, *(LANGSMITH / f"{side}.{suffix}" for side in SIDES))
            assert verdict.verdict in {"pass", "fail"}, verdict.because
            assert verdict.pairing.paired == 30
        assert judge(path, LANGSMITH / "baseline.csv", LANGSMITH / "baseline.csv").verdict == "pass"
