from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest
from documented import DAY, FILES, judge, write_policies

from gateline.convert import write_jsonl
from gateline.errors import InputError
from gateline.gate import check
from gateline.policy import load_policy
from gateline.readers import read_run, readers

LANGFUSE = FILES / "langfuse"
SIDES = ("baseline", "candidate")
SUFFIXES = ("csv", "json")
KINDS = ("dataset_run_items", "scores", "traces")
POLICY = """version: 1
name: gate
samples: {at_least: 1}
metrics:
  word_recall: {better: higher, range: [0, 1]}
rules:
  - {id: holds, kind: tolerance, metric: word_recall, worse_by_at_most: 0.9}
"""


def rows_of(side: str, kind: str) -> list[dict]:
    return json.loads((LANGFUSE / f"{side}.{kind}.json").read_text())


def item(number: int, **more) -> dict:
    return {
        "id": f"i{number}",
        "datasetItemId": f"q{number}",
        "traceId": f"t{number}",
        "datasetName": "d",
    } | more


def score(number: int, value: object = 0.5, **more) -> dict:
    made = {"id": "s", "traceId": f"t{number}", "source": "API", "name": "word_recall", "dataType": "NUMERIC"}
    return made | {"value": value, "stringValue": None, "traceTags": []} | more


def trace(number: int, *scores: object, **more) -> dict:
    made = {
        "id": f"t{number}",
        "input": {"question": f"Q{number}"},
        "output": "A",
        "level": "DEFAULT",
        "errorCount": 0,
    }
    made |= {"observationCount": 1, "defaultCount": 1, "latency": 0.5, "totalCost": 0.01}
    return made | ({"word_recall": list(scores)} if scores else {}) | more


def write_json(path: Path, *rows: dict) -> Path:
    path.write_text(json.dumps(rows))
    return path


def write_files(folder: Path, **rows: list[dict]) -> list[Path]:
    return [write_json(folder / f"{name}.json", *of) for name, of in rows.items()]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_number_of_the_traces(side, suffix):
    run = read_run(LANGFUSE / f"{side}.traces.{suffix}")
    rows = rows_of(side, "traces")
    expected = {
        "word_recall": [one["word_recall"][0] for one in rows],
        "latency_ms": [1000 * one["latency"] for one in rows],
        "cost_usd": [one["totalCost"] for one in rows],
        "tokens.input": [one["inputTokens"] for one in rows],
        "tokens.output": [one["outputTokens"] for one in rows],
        "tokens.total": [one["usage"]["totalTokens"] for one in rows],
    }
    for name, values in expected.items():
        assert run.numbers(name).tolist() == pytest.approx(values, rel=1e-12), name
    assert run.labels("tags") == [tuple(one["tags"]) for one in rows]
    assert run.labels("verdict") == [tuple(text for text in one["verdict"] or []) for one in rows]
    assert run.labels("qid") == [(one["metadata"]["qid"],) for one in rows]
    assert run.texts("question") == [one["input"]["question"] for one in rows]
    assert run.made_ids
    assert "matched by the text of their input" in run.warnings[0]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_items_scores_and_traces_are_one_run(side, suffix):
    """In any order of the files, and alike from CSV and JSON."""
    paths = [LANGFUSE / f"{side}.{kind}.{suffix}" for kind in KINDS]
    items = {one["traceId"]: one["datasetItemId"] for one in rows_of(side, "dataset_run_items")}
    scores = {items[one["traceId"]]: one["value"] for one in rows_of(side, "scores")}
    times = {items[one["id"]]: 1000 * one["latency"] for one in rows_of(side, "traces")}
    for order in (paths, paths[::-1], [paths[1], paths[2], paths[0]]):
        run = read_run(order)
        assert (run.id_field, run.made_ids, run.unpaired) == ("datasetItemId", False, "")
        assert sorted(run.ids) == [f"q{number:03}" for number in range(1, 31)]
        assert dict(zip(run.ids, run.numbers("word_recall"), strict=True)) == scores
        assert dict(zip(run.ids, run.numbers("latency_ms"), strict=True)) == pytest.approx(times)
        assert not any("matched by the text" in warning for warning in run.warnings)


def test_two_of_three_are_enough(tmp_path):
    for pair in (KINDS[:2], KINDS[::2]):
        baseline, candidate = ([str(LANGFUSE / f"{side}.{kind}.csv") for kind in pair] for side in SIDES)
        (tmp_path / "policy.yml").write_text(POLICY)
        verdict = check(tmp_path / "policy.yml", "\n".join(baseline), "\n".join(candidate), on=DAY)
        assert verdict.pairing.paired == 30
        means = [np.mean([one["value"] for one in rows_of(side, "scores")]) for side in SIDES]
        (finding,) = verdict.findings
        assert [finding.baseline, finding.candidate] == pytest.approx(means)


def test_scores_and_traces_without_items_are_matched_by_text():
    run = read_run([LANGFUSE / "baseline.scores.csv", LANGFUSE / "baseline.traces.csv"])
    assert run.ids == read_run(LANGFUSE / "baseline.traces.csv").ids
    assert run.made_ids
    assert sum("matched by the text" in warning for warning in run.warnings) == 1


def test_scores_alone_can_be_looked_at_and_not_compared(tmp_path):
    run = read_run(LANGFUSE / "baseline.scores.csv")
    assert run.numbers("word_recall").tolist() == [one["value"] for one in rows_of("baseline", "scores")]
    verdict = judge(POLICY, *(LANGFUSE / f"{side}.scores.csv" for side in SIDES), tmp_path)
    assert verdict.verdict == "invalid"
    assert "a trace gets another id in each run" in verdict.because[0]
    with pytest.raises(InputError, match="can't be joined with other files"):
        read_run([LANGFUSE / f"{side}.scores.csv" for side in SIDES])


def test_items_without_a_score_are_missing_values_and_foreign_traces_are_told(tmp_path):
    files = write_files(
        tmp_path,
        items=[item(number) for number in range(4)],
        scores=[score(number, number / 4) for number in (0, 1, 3, 7, 8)],
    )
    run = read_run(files)
    assert run.ids == ["q0", "q1", "q2", "q3"]
    np.testing.assert_array_equal(run.numbers("word_recall"), [0, 0.25, np.nan, 0.75])
    assert any("2 of 5 records are of no traceId that" in warning for warning in run.warnings)
    (tmp_path / "policy.yml").write_text(POLICY)
    both = "\n".join(map(str, files))
    verdict = check(tmp_path / "policy.yml", both, both, on=DAY)
    assert verdict.verdict == "invalid"
    assert "word_recall is missing for 1 of 4 samples" in verdict.because[0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            {"items": [item(1), item(1, traceId="t9")]},
            "datasetItemId stands more than once: 'q1'.*one run only",
        ),
        ({"items": [item(1), item(2, traceId="t1")]}, "traceId stands more than once: 't1'"),
        ({"items": [item(1), item(2, datasetItemId="")]}, "1 of 2 records has no datasetItemId"),
        ({"traces": [trace(1, 1.0), trace(1, 0.5)]}, "id stands more than once: 't1'"),
        ({"scores": [score(1, "high")]}, "the score 'word_recall' is no number, but the text 'high'"),
        ({"scores": [score(1, name="")]}, "the score has no name"),
        ({"scores": [score(1, traceId=None)]}, "0 samples: no score of a trace"),
        ({"items": [item(1)], "scores": [score(7)]}, "has no traceId in common with"),
        ({"traces": [trace(1, 1.0, latency="slow")]}, "latency must be a number, not the text 'slow'"),
        (
            {"items": [item(1)], "other": [item(1, datasetItemId="q5")]},
            "traceId 't1' stands for 'q1' and for 'q5'",
        ),
        (
            {"observations": [{"id": "o", "traceId": "t1", "startTime": "x", "endTime": "y", "score": [1]}]},
            "is an export of observations",
        ),
    ],
)
def test_exports_that_are_wrong(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_run(write_files(tmp_path, **rows))


def test_several_scores_of_one_name_are_their_mean_and_told(tmp_path):
    rows = [score(1, 1.0), score(1, 0.0, source="EVAL"), score(2, 0.5), score(2, None)]
    run = read_run(write_files(tmp_path, items=[item(1), item(2)], scores=rows))
    assert run.numbers("word_recall").tolist() == [0.5, 0.5]
    assert any("the mean is taken: word_recall (1)" in warning for warning in run.warnings)
    assert run.texts("source.word_recall") == ["API, EVAL", "API"]
    traces = read_run(write_json(tmp_path / "t.json", trace(1, 1.0, 0.0), trace(2, 0.5)))
    assert traces.numbers("word_recall").tolist() == [0.5, 0.5]


def test_kinds_of_scores(tmp_path):
    rows = [
        score(1, 1, name="ok", dataType="BOOLEAN", stringValue="True"),
        score(2, None, name="ok", dataType="BOOLEAN", stringValue="False"),
        score(1, None, name="tone", dataType="CATEGORICAL", stringValue="kind"),
        score(2, None, name="note", dataType="TEXT", stringValue="a text"),
        score(2, 0.5, traceId=None, sessionId="s1"),
    ]
    run = read_run(write_json(tmp_path / "scores.json", *rows))
    assert list(run.metrics) == ["ok"]
    assert run.numbers("ok").tolist() == [1, 0]
    assert run.labels("tone") == [("kind",), ()]
    assert run.warnings == (
        "1 score is of the type TEXT, and is left out",
        "1 score is of no trace, but of a session or a whole run, and is left out",
    )


def test_another_source_or_data_set_is_not_compared(tmp_path):
    (tmp_path / "policy.yml").write_text(POLICY)
    sides = {}
    for name, changed in (("a", {}), ("b", {"source": "ANNOTATION"}), ("c", {})):
        folder = tmp_path / name
        folder.mkdir()
        data_set = {"datasetName": "other"} if name == "c" else {}
        files = write_files(folder, items=[item(1, **data_set)], scores=[score(1, **changed)])
        sides[name] = "\n".join(map(str, files))
    told = {
        name: check(tmp_path / "policy.yml", sides["a"], sides[name], on=DAY).because[0]
        for name in ("b", "c")
    }
    assert "source.word_recall is 'API' in the baseline and 'ANNOTATION' in the candidate" in told["b"]
    assert "dataset is 'd' in the baseline and 'other' in the candidate" in told["c"]
    assert check(tmp_path / "policy.yml", sides["a"], sides["a"], on=DAY).verdict == "pass"


def test_a_trace_without_output_has_no_answer_and_one_that_recovered_has(tmp_path):
    rows = [
        trace(1, 1.0),
        trace(2, 0.0, output=None, level="ERROR", errorCount=1),
        trace(3, 0.5, level="ERROR", errorCount=2),
    ]
    run = read_run(write_json(tmp_path / "a.json", *rows))
    assert run.texts("error") == ["", "no_answer", ""]
    assert any("1 trace has an answer and an error on the way to it" in one for one in run.warnings)
    unlogged = read_run(
        write_json(tmp_path / "b.json", trace(1, 1.0, output=None), trace(2, 1.0, output=None))
    )
    assert "error" not in unlogged.fields


def test_a_score_called_like_a_column_stands_in_its_place(tmp_path):
    run = read_run(
        write_json(tmp_path / "a.json", trace(1, 1.0, latency=[0.25]), trace(2, 0.5, latency=[0.75]))
    )
    assert run.numbers("latency").tolist() == [0.25, 0.75]
    assert "latency_ms" not in run.fields
    assert any("in the place of the export's own columns: latency" in one for one in run.warnings)


def test_traces_without_input_need_the_items(tmp_path):
    traces = [trace(1, 1.0, input=None), trace(2, 0.5)]
    alone = read_run(write_json(tmp_path / "traces.json", *traces))
    assert "1 of its traces have no input" in alone.unpaired
    run = read_run(write_files(tmp_path, items=[item(1), item(2)], traces=traces))
    assert (run.ids, run.numbers("word_recall").tolist()) == (["q1", "q2"], [1.0, 0.5])


def test_a_key_of_the_metadata_identifies(tmp_path):
    run = read_run(LANGFUSE / "candidate.traces.csv", id_field="qid")
    assert run.ids == [one["metadata"]["qid"] for one in rows_of("candidate", "traces")]
    with pytest.raises(InputError, match=r"has the ids datasetItemId, and .* has qid.*leave out samples"):
        read_run(
            [LANGFUSE / "candidate.traces.csv", LANGFUSE / "candidate.dataset_run_items.csv"], id_field="qid"
        )


def test_order_is_nothing_and_questions_that_repeat_are_told(tmp_path):
    rows = [trace(number, number / 20) for number in range(20)]
    before = write_json(tmp_path / "a.json", *rows)
    after = write_json(tmp_path / "b.json", *random.Random(3).sample(rows, 20))
    assert judge(POLICY, before, after, tmp_path).findings[0].gain == 0
    twice = [trace(1, 1.0), trace(2, 0.5, input={"question": " Q1 "})]
    assert "1 text stands more than once" in read_run(write_json(tmp_path / "c.json", *twice)).warnings[0]


def test_tokens_of_usage_only(tmp_path):
    rows = [trace(1, 1.0, usage={"promptTokens": 7, "completionTokens": 2, "totalTokens": 9})]
    run = read_run(write_json(tmp_path / "a.json", *rows))
    assert [run.numbers(f"tokens.{part}")[0] for part in ("input", "output", "total")] == [7, 2, 9]


def test_json_lines_are_read_too(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows_of("baseline", "traces")))
    run = read_run(path)
    assert (run.format, run.format_version) == ("langfuse", "traces")
    assert run.numbers("word_recall").tolist() == read_run(LANGFUSE / "baseline.traces.csv").numbers(
        "word_recall"
    ).tolist()  # fmt: skip


def test_the_tables_own_columns_are_those_of_the_export():
    with (LANGFUSE / "baseline.traces.csv").open(newline="") as stream:
        names = next(csv.reader(stream))
    assert list(read_run(LANGFUSE / "baseline.traces.csv").metrics) == ["word_recall"]
    assert {"word_recall", "verdict", "comments", "tags"} <= set(names)


@pytest.mark.parametrize(
    "content",
    ['[{"traceId": "t", "score": 1}]', '[{"datasetItemId": "q", "score": 1}]', '[{"id": "a", "latency": 1}]'],
)
def test_what_is_not_of_langfuse(content):
    assert not readers()["langfuse"].looks_like(content.encode(), Path("a.json"))


def test_a_converted_run_is_the_same(tmp_path):
    run = read_run([LANGFUSE / f"candidate.{kind}.csv" for kind in KINDS])
    (tmp_path / "run.jsonl").write_text("".join(write_jsonl(run)))
    again = read_run(tmp_path / "run.jsonl")
    assert again.ids == run.ids
    assert (again.must_agree, again.aliases) == (run.must_agree, run.aliases)
    np.testing.assert_array_equal(again.numbers("word_recall"), run.numbers("word_recall"))
    assert again.labels("tags") == run.labels("tags")


def test_the_documented_policy(tmp_path):
    for path in write_policies("langfuse.md", tmp_path):
        load_policy(path)
        sides = [
            "\n".join(str(LANGFUSE / f"{side}.{kind}.csv") for kind in ("dataset_run_items", "traces"))
            for side in SIDES
        ]
        verdict = check(path, *sides, on=DAY)
        assert verdict.verdict in {"pass", "fail"}, verdict.because
        assert verdict.pairing.paired == 30
        assert check(path, sides[0], sides[0], on=DAY).verdict == "pass"
