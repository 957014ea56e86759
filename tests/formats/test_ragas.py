from __future__ import annotations

import ast
import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, judge, write_policies
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.inspection import inspect_run
from gateline.policy import load_policy
from gateline.proposal import propose_policy
from gateline.readers import read_run, readers
from gateline.readers._python_text import read_list, read_result, read_turns

RAGAS = FILES / "ragas"
SIDES = ["baseline", "candidate"]
FRAMES = ["baseline.csv", "baseline.columns.json", "baseline.parquet"]
POLICY = """\
version: 1
name: gate
samples: {{at_least: 1}}
metrics: {{{metric}: {{better: higher}}}}
rules: [{{id: holds, kind: tolerance, metric: {metric}, worse_by_at_most: 1}}]
"""


def scores_of(side: str) -> list[dict]:
    """Return what the tool wrote as raw scores, in the order of the samples."""
    return json.loads((RAGAS / f"{side}.scores.json").read_text())


def write_csv(path: Path, *rows: dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def sample(question: str = "Who?", **more) -> dict:
    return {"user_input": question, "response": "Me.", "reference": "Me.", "faithfulness": 1.0} | more


@pytest.mark.parametrize(
    ("file", "side"),
    [*((frame, "baseline") for frame in FRAMES), ("candidate.csv", "candidate"),
     ("baseline.records_nan.json", "baseline"), ("candidate.records_nan.json", "candidate")],
)  # fmt: skip
def test_every_export_has_the_raw_scores(file, side):
    """Against `result.scores`; pandas' JSON keeps ten decimals, and Ragas' epsilon is taken away."""
    pytest.importorskip("pyarrow")
    run = read_run(RAGAS / file)
    expected = scores_of(side)
    assert list(run.metrics) == list(expected[0])
    for name in run.metrics:
        np.testing.assert_allclose(
            run.numbers(name),
            [np.nan if row[name] is None else row[name] for row in expected],
            rtol=0,
            atol=2e-10,
        )


@pytest.mark.parametrize("side", SIDES)
def test_means_are_the_tools_own(side):
    run = read_run(RAGAS / f"{side}.csv")
    means = json.loads((RAGAS / f"{side}.summary.json").read_text())
    assert set(means) == set(run.metrics)
    for name, mean in means.items():
        assert np.nanmean(run.numbers(name)) == pytest.approx(mean, abs=2e-10)


def test_all_exports_pair_with_each_other():
    pytest.importorskip("pyarrow")
    first = read_run(RAGAS / "candidate.csv")
    for name in FRAMES:
        run = read_run(RAGAS / name)
        assert run.ids == first.ids
        assert len(set(run.ids)) == 30
        assert run.texts("question") == first.texts("question")
        assert run.fields["retrieved_context_ids"][0] == ["hr-01", "fi-04", "hr-05", "fi-05"]
        assert run.find_column("retrieved") is run.fields["retrieved_context_ids"]
    assert read_run(RAGAS / "multi_turn.csv").ids == read_run(RAGAS / "multi_turn.jsonl").ids


def test_a_mark_at_the_beginning_and_row_numbers_of_pandas_change_nothing(tmp_path):
    plain = (RAGAS / "baseline.csv").read_text(encoding="utf-8")
    marked = tmp_path / "bom.csv"
    marked.write_bytes(b"\xef\xbb\xbf" + plain.encode())
    rows = list(csv.reader(plain.splitlines(keepends=True)))
    numbered = tmp_path / "index.csv"
    with numbered.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(
            [[str(place - 1) if place else "", *row] for place, row in enumerate(rows)]
        )
    expected = read_run(RAGAS / "baseline.csv")
    for path in (marked, numbered):
        run = read_run(path)
        assert run.ids == expected.ids
        assert list(run.metrics) == list(expected.metrics)
        assert run.fields.keys() == expected.fields.keys()


def test_order_is_nothing(tmp_path):
    with (RAGAS / "baseline.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    random.Random(1).shuffle(rows)
    shuffled = write_csv(tmp_path / "shuffled.csv", *rows)
    verdict = judge(POLICY.format(metric="bleu_score"), RAGAS / "baseline.csv", shuffled, tmp_path)
    assert verdict.pairing.identical
    assert verdict.findings[0].gain == 0


def test_the_identity_is_the_text_and_never_shows_it(tmp_path):
    rows = [sample("Wo  ist\nes?"), sample("Zu\u0308rich?"), sample("Who?")]
    other = [sample("Who?"), sample(" Wo ist es?"), sample("Z\u00fcrich?")]
    before, after = write_csv(tmp_path / "a.csv", *rows), write_csv(tmp_path / "b.csv", *other)
    runs = read_run(before), read_run(after)
    assert set(runs[0].ids) == set(runs[1].ids)
    assert runs[0].ids[2] == runs[1].ids[0]
    assert "ist" not in "".join(runs[0].ids)
    verdict = judge(POLICY.format(metric="faithfulness"), before, after, tmp_path)
    assert verdict.verdict == "pass"
    notices = [notice for notice in verdict.notices if "matched by the text of user_input" in notice]
    assert len(notices) == 2


def test_equal_questions_are_told_apart_by_reference_and_then_counted(tmp_path):
    rows = [
        sample(reference=text, faithfulness=score) for text, score in (("b", 0.1), ("a", 0.2), ("b", 0.3))
    ]
    run = read_run(write_csv(tmp_path / "a.csv", *rows))
    assert run.ids[0] == run.ids[1] + "#2"
    assert run.ids[2] == run.ids[1] + "#3"
    assert any("1 text stands more than once" in warning for warning in run.warnings)


def test_another_reference_is_another_task(tmp_path):
    before = write_csv(tmp_path / "a.csv", sample(reference="In 2 days."))
    after = write_csv(tmp_path / "b.csv", sample(reference="In 3 days."))
    verdict = judge(POLICY.format(metric="faithfulness"), before, after, tmp_path)
    assert verdict.verdict == "invalid"
    assert "reference is 'In 2 days.' in the baseline and 'In 3 days.' in the candidate" in verdict.because[0]
    policy = POLICY.format(metric="faithfulness") + "provenance: {may_change: [reference]}\n"
    assert judge(policy, before, after, tmp_path).verdict != "invalid"


def test_ids_that_are_there_are_taken(tmp_path):
    rows = [sample("Who?", row_id="r7", id="007"), sample("Who?", row_id="r8", id="08")]
    path = write_csv(tmp_path / "a.csv", *rows)
    run = read_run(path)
    assert (run.ids, run.id_field, run.warnings) == (["007", "08"], "id", ())
    run = read_run(path, id_field="row_id")
    assert (run.ids, run.id_field) == (["r7", "r8"], "row_id")
    with pytest.raises(InputError, match=r"no record has the field 'rowid'.*did you mean 'row_id'"):
        read_run(path, id_field="rowid")


def test_spellings_of_missing(tmp_path):
    spelled = ["", "nan", "NaN", "null", "None", "N/A", " "]
    rows = [sample(f"Q{row}", faithfulness=text) for row, text in enumerate([*spelled, "0.5"])]
    np.testing.assert_array_equal(
        read_run(write_csv(tmp_path / "a.csv", *rows)).numbers("faithfulness"), [np.nan] * 7 + [0.5]
    )
    lines = ['"faithfulness": NaN', '"faithfulness": null', '"other": 1', '"faithfulness": 0.5']
    path = tmp_path / "a.jsonl"
    path.write_text(
        "".join(f'{{"user_input": "Q{n}", "response": "r", {line}}}\n' for n, line in enumerate(lines))
    )
    np.testing.assert_array_equal(read_run(path).numbers("faithfulness"), [np.nan] * 3 + [0.5])


def test_missing_scores_do_not_lift_a_mean_unseen(tmp_path):
    """Ragas' own mean skips what is missing; here the loss of a third of the scores is no verdict."""
    before = write_csv(
        tmp_path / "a.csv", *(sample(f"Q{row}", faithfulness=row % 3 / 2) for row in range(30))
    )
    after = write_csv(
        tmp_path / "b.csv", *(sample(f"Q{row}", faithfulness=row % 3 / 2 or "") for row in range(30))
    )
    assert np.nanmean(read_run(after).numbers("faithfulness")) > np.nanmean(
        read_run(before).numbers("faithfulness")
    )
    verdict = judge(POLICY.format(metric="faithfulness"), before, after, tmp_path)
    assert verdict.verdict == "invalid"
    assert "faithfulness is missing for 10 of 30 samples" in verdict.because[0]


def test_the_trace_of_the_epsilon(tmp_path):
    values = [0.9999999999, 0.49999999995, 1 / 3, 0.33333333329, 0.0, 0.99999]
    rows = [sample(f"Q{row}", context_precision=value, other=value) for row, value in enumerate(values)]
    run = read_run(write_csv(tmp_path / "a.csv", *rows))
    assert run.numbers("context_precision").tolist() == [1.0, 0.5, 1 / 3, 0.33333333329, 0.0, 0.99999]
    assert run.numbers("other").tolist() == values


def test_zeros_beside_an_empty_context_are_told():
    baseline, candidate = (read_run(RAGAS / f"{side}.csv") for side in SIDES)
    (told,) = [warning for warning in baseline.warnings if "no retrieved context" in warning]
    assert told.startswith("1 record has")
    assert "faithfulness" in told
    assert not [warning for warning in candidate.warnings if "no retrieved context" in warning]


def test_a_blank_answer_is_no_answer(tmp_path):
    rows = [sample("A", response=""), sample("B"), sample("C", response="nan")]
    run = read_run(write_csv(tmp_path / "a.csv", *rows))
    assert run.fields["error"] == ["no_answer", None, None]
    retrieval_only = [sample("A", response=""), sample("B", response="")]
    assert "error" not in read_run(write_csv(tmp_path / "b.csv", *retrieval_only)).fields


def test_metrics_and_inputs_are_told_apart(tmp_path):
    rows = [
        {"user_id": 7, "user_input": "Q1", "turns": 3, "response": "r", "reference": "r", "faithfulness": 0.5,
         "my_critic": 1, "latency_s": 0.3, "category": "hr", "total_tokens": 12},
        {"user_id": 8, "user_input": "Q2", "turns": 4, "response": "r", "reference": "r", "faithfulness": "",
         "my_critic": 0, "latency_s": 0.4, "category": "it", "total_tokens": 13},
    ]  # fmt: skip
    run = read_run(write_csv(tmp_path / "a.csv", *rows))
    assert list(run.metrics) == ["faithfulness", "my_critic"]
    assert run.labels("category") == [("hr",), ("it",)]
    assert run.numbers("latency_s").tolist() == [0.3, 0.4]


def test_a_metric_that_failed_everywhere_stays_known(tmp_path):
    rows = [sample(f"Q{row}", semantic_similarity="") for row in range(3)]
    run = read_run(write_csv(tmp_path / "a.csv", *rows))
    assert np.isnan(run.numbers("semantic_similarity")).all()
    assert "semantic_similarity has no usable value" in inspect_run(run).warnings


def test_direction_range_and_definition():
    run = read_run(RAGAS / "baseline.csv")
    said = {name: run.find_facts(name) for name in run.metrics}
    assert {name for name, facts in said.items() if facts is None} == {"conciseness"}
    assert said["noise_sensitivity(mode=relevant)"].better == "lower"
    assert said["answer_relevancy"].range == (-1, 1)
    assert said["llm_context_precision_with_reference"].definition == "with a reference"
    proposed = propose_policy(run)
    assert 'noise_sensitivity(mode=relevant)": {better: lower, range: [0, 1]' in proposed
    assert "answer_relevancy: {better: higher, range: [-1, 1]}" in proposed


def test_names_of_all_generations(tmp_path):
    new = read_run(write_csv(tmp_path / "new.csv", sample("Q", retrieved_contexts="['c']")))
    old = read_run(
        write_csv(
            tmp_path / "old.csv",
            {
                "question": "Q",
                "contexts": "['c']",
                "answer": "Me.",
                "ground_truth": "Me.",
                "faithfulness": 1.0,
            },
        )
    )
    oldest = read_run(
        write_csv(
            tmp_path / "oldest.csv",
            {
                "question": "Q",
                "ground_truths": "['Me.']",
                "answer": "Me.",
                "contexts": "['c']",
                "faithfulness": 1.0,
            },
        )
    )
    assert [run.format_version for run in (new, old, oldest)] == ["0.2 or later", "0.1", "0.0"]
    assert new.ids == old.ids == oldest.ids
    for run in (new, old, oldest):
        assert run.texts("response") == run.texts("answer") == ["Me."]
        assert run.texts("reference") == ["Me."]
        assert run.texts("retrieved_contexts") == ["c"]
    verdict = judge(
        POLICY.format(metric="faithfulness"), tmp_path / "oldest.csv", tmp_path / "new.csv", tmp_path
    )
    assert verdict.pairing.paired == 1


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("factual_correctness", "factual_correctness(mode=f1)"),
        ("semantic_similarity", "answer_similarity"),
        ("rouge_score", "rouge_score(mode=fmeasure)"),
    ],
)
def test_one_metric_by_two_names(tmp_path, name, other):
    before = write_csv(tmp_path / "a.csv", sample(**{name: 0.5}))
    after = write_csv(tmp_path / "b.csv", sample(**{other: 0.75}))
    verdict = judge(POLICY.format(metric=f'"{name}"'), before, after, tmp_path)
    assert verdict.findings[0].gain == pytest.approx(0.25)
    assert read_run(before).find_column("factual_correctness(mode=recall)") is None


def test_context_precision_with_and_without_a_reference(tmp_path):
    with_reference = write_csv(tmp_path / "a.csv", sample(context_precision=0.5))
    without = {name: value for name, value in sample(context_precision=0.5).items() if name != "reference"}
    before = write_csv(tmp_path / "b.csv", without)
    verdict = judge(POLICY.format(metric="context_precision"), before, with_reference, tmp_path)
    assert verdict.verdict == "invalid"
    assert "without a reference in the baseline, with a reference in the candidate" in verdict.because[0]
    assert judge(POLICY.format(metric="faithfulness"), before, with_reference, tmp_path).verdict != "invalid"
    named = write_csv(tmp_path / "c.csv", sample(llm_context_precision_without_reference=0.5))
    missing = judge(POLICY.format(metric="context_precision"), with_reference, named, tmp_path)
    assert "no record has a field 'context_precision'" in missing.because[0]


def test_a_policy_that_reads_a_metric_the_other_way_is_told(tmp_path):
    path = write_csv(tmp_path / "a.csv", sample(noise_sensitivity=0.5))
    notices = judge(POLICY.format(metric="noise_sensitivity"), path, path, tmp_path).notices
    assert any(
        "the policy says higher is better, the tool that wrote it says lower" in one for one in notices
    )


@pytest.mark.parametrize("name", SIDES)
@pytest.mark.parametrize(("folder", "suffix"), [("exp_csv", "csv"), ("exp_jsonl", "jsonl")])
def test_experiments(folder, suffix, name):
    """The same experiment as CSV and JSON Lines: words and truth values become numbers, in any order."""
    run = read_run(RAGAS / folder / "experiments" / f"{name}.{suffix}")
    plain = [
        json.loads(line) for line in (RAGAS / f"exp_jsonl/experiments/{name}.jsonl").read_text().splitlines()
    ]
    expected = {row["row_id"]: (float(row["correctness"] == "pass"), row["answer_overlap"], float(row["hit"]))
                for row in plain}  # fmt: skip
    assert list(run.metrics) == ["correctness", "answer_overlap", "hit"]
    for row, name_of_row in enumerate(run.texts("row_id")):
        found = [run.numbers(metric)[row] for metric in run.metrics]
        np.testing.assert_array_equal(found, expected[name_of_row])
    assert len(run) == len(expected) == 29
    assert run.labels("correctness")[0] in {("pass",), ("fail",)}
    assert "latency_s" in run.fields


def test_results_of_metrics_as_text():
    run = read_run(RAGAS / "exp_csv" / "experiments" / "baseline-dictrows.csv")
    text = (RAGAS / "exp_csv" / "experiments" / "baseline-dictrows.csv").read_text()
    assert run.numbers("correctness").sum() == text.count("MetricResult(value=pass,")
    assert run.numbers("answer_overlap").max() == 1.0


def test_a_sample_that_failed_in_an_experiment_is_lost_coverage(tmp_path):
    files = [RAGAS / "exp_csv" / "experiments" / f"{side}.csv" for side in SIDES]
    verdict = judge(POLICY.format(metric="correctness") + "", *files, tmp_path)
    assert verdict.verdict == "invalid"
    assert "1 of 29 questions of the baseline are not in the candidate" in verdict.because[0]
    policy = POLICY.format(metric="correctness").replace("at_least: 1", "at_least: 1, id: row_id")
    verdict = judge(policy, *files, tmp_path)
    assert "'q007'" in verdict.because[0]


def test_raw_scores_can_be_looked_at_and_not_paired(tmp_path):
    run = read_run(RAGAS / "baseline.scores.json")
    assert np.nanmean(run.numbers("faithfulness")) == pytest.approx(0.9655172413793104)
    files = [RAGAS / f"{side}.scores.json" for side in SIDES]
    verdict = judge(POLICY.format(metric="faithfulness"), *files, tmp_path)
    assert verdict.verdict == "invalid"
    assert "scores without questions" in verdict.because[0]
    with pytest.raises(InputError, match="can't be joined"):
        read_run(files)


def test_a_wrapper_made_by_hand(tmp_path):
    run = read_run(RAGAS / "baseline.custom_wrapper.json")
    value = json.loads((RAGAS / "baseline.custom_wrapper.json").read_text())
    assert run.provenance == {"ragas_version": "0.4.3", "judge_llm": "fake-judge-1"}
    for name, means in value["aggregate_scores"].items():
        assert np.nanmean(run.numbers(name)) == pytest.approx(means["mean"], abs=1e-4)
    value["judge_llm"] = "fake-judge-2"
    (tmp_path / "b.json").write_text(json.dumps(value))
    verdict = judge(
        POLICY.format(metric="faithfulness"),
        RAGAS / "baseline.custom_wrapper.json",
        tmp_path / "b.json",
        tmp_path,
    )
    assert "judge_llm is 'fake-judge-1' in the baseline and 'fake-judge-2'" in verdict.because[0]


@pytest.mark.parametrize(
    ("file", "name", "digits"),
    [("summary.json", "context_recall", 16), ("metric_score.csv", "context_recall", 16),
     ("repr_string.json", "context_recall", 4)],
)  # fmt: skip
def test_means_are_one_record(tmp_path, file, name, digits):
    for side in SIDES:
        mean = np.nanmean([row[name] for row in scores_of(side)])
        run = read_run(RAGAS / f"{side}.{file}")
        assert len(run) == 1
        assert run.numbers(name)[0] == pytest.approx(mean, abs=0.51 * 10.0**-digits)
    verdict = judge(POLICY.format(metric=name), *(RAGAS / f"{side}.{file}" for side in SIDES), tmp_path)
    assert verdict.verdict == "invalid"
    assert "only means of the whole run" in verdict.because[0]


def test_an_input_is_no_result(tmp_path):
    path = tmp_path / "in.json"
    path.write_text(json.dumps([{"user_input": "Q", "response": "r", "retrieved_contexts": ["c"]}]))
    with pytest.raises(InputError, match="has samples of Ragas and no scores"):
        read_run(path)


def test_a_record_without_a_question(tmp_path):
    path = write_csv(tmp_path / "a.csv", sample("Q"), sample(""), sample("  "))
    with pytest.raises(InputError, match=r"2 records have no user_input.*a\.csv:3, .*a\.csv:4"):
        read_run(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "id,question,answer,score\n1,Q,A,0.5\n"),
        (
            "a.jsonl",
            '{"id": "1", "question": "Q", "answer": "A", "contexts": [], "metrics": {"faithfulness": 1}}\n'
            * 2,
        ),
        ("a.jsonl", '{"gateline": 1, "run": {}}\n{"id": "1", "user_input": "Q", "response": "r"}\n'),
        ("a.json", '{"exact_match": 0.5}'),
        ("a.csv", "metric,score\nprecision,0.5\n"),
        ("a.json", '[{"id": 1, "faithfulness": 0.5}]'),
    ],
)
def test_what_is_not_of_ragas(name, content):
    assert not readers()["ragas"].looks_like(content.encode(), Path(name))


def test_big_cells(tmp_path):
    contexts = repr(["x" * 200_000, "it's", 'a "b"'])
    run = read_run(write_csv(tmp_path / "a.csv", sample(retrieved_contexts=contexts)))
    assert [len(text) for text in run.fields["retrieved_contexts"][0]] == [200_000, 4, 5]


# Cells of Python text


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"]))))
def test_a_list_as_python_writes_it(items):
    assert read_list(repr(items)) == items == ast.literal_eval(repr(items))


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"]))))
def test_a_list_as_json_writes_it(items):
    assert read_list(json.dumps(items)) == items


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1), min_size=1, max_size=6))
def test_a_list_as_numpy_writes_it(items):
    text = str(np.array(items, dtype=object))  # without commas: Python would join the texts
    assert read_list(text) == items


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 'a', None, nan]", ["1", "a", "None", "nan"]),
        ("[np.str_('a'), np.str_(\"b's\")]", ["a", "b's"]),
        ("['a' 'b' ... 'c']", None),
        ("['a', __import__('os').getcwd()]", None),
        ("[open('x')]", None),
        ("no list", None),
        ("['a'", None),
        ("[]", []),
    ],
)
def test_other_lists(text, expected):
    assert read_list(text) == expected


def test_messages_as_python_text():
    turns = [
        {"content": "it's\nhere", "type": "human"},
        {
            "content": 'say "x"',
            "type": "ai",
            "tool_calls": [{"name": "f", "args": {"content": "no", "q": "type"}}],
        },
        {"content": "end", "type": "human"},
    ]
    assert read_turns(repr(turns)) == [("human", "it's\nhere"), ("ai", 'say "x"'), ("human", "end")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("MetricResult(value=pass, reason='a, reason=b')", "pass"),
        ("MetricResult(value=0.5)", "0.5"),
        ("MetricResult(value='x y', reason='line\nline')", "x y"),
        ("pass", "pass"),
    ],
)
def test_a_result_as_text(text, value):
    assert read_result(text) == value


def test_the_documented_policy(tmp_path):
    for path in write_policies("ragas.md", tmp_path):
        load_policy(path)
        verdict = judge(path, *(RAGAS / f"{side}.csv" for side in SIDES))
        assert verdict.verdict in {"pass", "fail"}, verdict.because
        assert verdict.pairing.paired == 30
        assert judge(path, RAGAS / "baseline.csv", RAGAS / "baseline.csv").verdict == "pass"


@pytest.mark.parametrize(
    "file",
    ["promptfoo/baseline.json", "pytest/baseline.ctrf.json", "trec/baseline.run", "trec/baseline.trec_eval908_qc.txt",
     "trec/baseline.ir_measures.tsv", "trec/baseline.pytrec_eval.json", "pytest/baseline.junit.xml"],
)  # fmt: skip
def test_what_has_no_column_of_ragas_is_not_read_by_force(file):
    """A table without a header would lose its first row as one."""
    with pytest.raises(
        InputError, match=r"none of its columns is one that Ragas writes|neither samples nor means|no score"
    ):
        read_run(FILES / file, read_as="ragas")
