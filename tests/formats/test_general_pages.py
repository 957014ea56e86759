"""The pages of formats that belong to no tool: what they say is so, and their policies run."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, ROOT, judge, write_policies

from gateline.errors import InputError
from gateline.inspection import inspect_run
from gateline.policy import load_policy
from gateline.readers import read_run, readers
from gateline.samples import MISSING_TEXTS

TREC = FILES / "trec"
SIDES = ("baseline", "candidate")
ROWS = [
    {"question_id": "a", "graded correct": 1, "correct": 1, "seconds": 0.5, "language": "de", "commit": "1"},
    {"question_id": "b", "graded correct": 0, "correct": 0, "seconds": 1.5, "language": "en", "commit": "1"},
    {"question_id": "c", "graded correct": 1, "correct": 1, "seconds": 2.5, "language": "en", "commit": "1"},
]


@pytest.fixture
def trec_policies(tmp_path):
    shutil.copy(TREC / "harbor.qrels", tmp_path / "qrels.txt")
    shutil.copytree(TREC / "beir" / "harbor", tmp_path / "harbor")
    return write_policies("trec.md", tmp_path)


@pytest.mark.parametrize("end", ["run", "ranx.json", "ranx.parquet"])
def test_rankings_and_labels(trec_policies, end):
    for path in trec_policies[:2]:
        load_policy(path)
        verdict = judge(path, *(TREC / f"{side}.{end}" for side in SIDES))
        assert verdict.verdict in {"pass", "fail"}, verdict.because
        assert verdict.pairing.paired == 29
    verdict = judge(trec_policies[0], *(TREC / f"{side}.{end}" for side in SIDES))
    expected = {side: json.loads((TREC / f"{side}.pytrec_eval.json").read_text()) for side in SIDES}
    for finding, measure in zip(verdict.findings, ("ndcg_cut_10", "recall_5"), strict=True):
        # The tool leaves out queries without a ranking; the labels say that 29 were asked.
        means = [sum(values[measure] for values in expected[side].values()) / 29 for side in SIDES]
        assert [finding.baseline, finding.candidate] == pytest.approx(means, abs=1e-12)


@pytest.mark.parametrize("end", ["pytrec_eval.json", "trec_eval908_qc.txt"])
def test_values_that_a_tool_computed(trec_policies, end):
    load_policy(trec_policies[2])
    verdict = judge(trec_policies[2], *(TREC / f"{side}.{end}" for side in SIDES))
    assert verdict.verdict in {"pass", "fail"}, verdict.because
    exact = {side: json.loads((TREC / f"{side}.pytrec_eval.json").read_text()) for side in SIDES}
    runs = [read_run(TREC / f"{side}.{end}") for side in SIDES]
    both = [name for name in runs[0].ids if name in runs[1].ids]
    assert verdict.pairing.paired == len(both)
    means = [np.mean([exact[side][name]["map"] for name in both]) for side in SIDES]
    found = [verdict.findings[0].baseline, verdict.findings[0].candidate]
    assert found == pytest.approx(means, abs=5.1e-5)
    refusing = trec_policies[2].read_text().replace("on_mismatch: intersect", "on_mismatch: refuse")
    trec_policies[2].write_text(refusing)
    assert judge(trec_policies[2], *(TREC / f"{side}.{end}" for side in SIDES)).verdict == "invalid"


def test_direction_and_range_of_measures():
    for end in ("pytrec_eval.json", "trec_eval908_qc.txt", "ir_measures.tsv"):
        run = read_run(TREC / f"baseline.{end}")
        for name in run.metrics:
            facts = run.find_facts(name)
            if facts and facts.range:
                values = run.numbers(name)
                assert (np.nan_to_num(values) >= 0).all(), name
                assert (np.nan_to_num(values) <= 1).all(), name
    text = read_run(TREC / "baseline.trec_eval908_qc.txt")
    better = {name: facts.better for name, facts in text.metric_facts.items()}
    assert better["map"] == better["P_5"] == better["Rprec"] == "higher"
    assert better["num_ret"] is better["num_rel_ret"] is None
    assert "utility" not in better
    kinds = {column.name: column.kind for column in inspect_run(text).numbers}
    assert (kinds["num_ret"], kinds["map"]) == ("number", "score")


def test_means_alone_are_refused():
    with pytest.raises(InputError, match="means over all queries only, as BEIR writes them"):
        read_run(TREC / "baseline.beir_results.json")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("q1", "d1", 0.5), ("q1", "d1", 0.4)], "query 'q1' has document 'd1' twice"),
        ([("q1", "d1", 0.5), ("q1", "d2", None)], "query 'q1' has a document or a score that is missing"),
        ([("q1", "d1", float("nan"))], "query 'q1' has a score or grade that is not a number"),
    ],
)
def test_a_table_of_ranx_that_is_wrong(tmp_path, rows, message):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = dict(zip(("q_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "a.parquet")


def test_labels_of_ranx_as_a_table_are_those_of_its_json(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    labels = json.loads((TREC / "harbor.ranx.qrels.json").read_text())
    rows = [(query, document, grade) for query, of in labels.items() for document, grade in of.items()]
    columns = dict(zip(("q_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))
    parquet.write_table(pyarrow.table(columns), tmp_path / "qrels.parquet")
    run = read_run(tmp_path / "qrels.parquet")
    assert run.format == "trec-qrels"
    assert dict(zip(run.ids, run.fields["relevant"], strict=True)) == labels
    more = pyarrow.table({**columns, "id": [str(row) for row in range(len(rows))]})
    parquet.write_table(more, tmp_path / "own.parquet")
    assert read_run(tmp_path / "own.parquet").format == "parquet"


# JSON Lines, JSON, CSV, Parquet


def test_the_example_of_json_lines(tmp_path):
    text = (ROOT / "docs" / "formats" / "jsonl.md").read_text()
    (example,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    path = tmp_path / "run.jsonl"
    path.write_text(example)
    run = read_run(path)
    assert run.ids == ["q1", "q2"]
    np.testing.assert_array_equal(run.numbers("correct"), [1, np.nan])
    assert run.texts("error") == ["", "judge_failed"]
    (policy,) = write_policies("jsonl.md", tmp_path)
    verdict = judge(policy, path, path)
    assert verdict.verdict in {"pass", "fail"}, verdict.because
    assert verdict.pairing.paired == 2
    path.with_name("b.jsonl").write_text(example.replace("judge-4", "judge-5"))
    assert judge(policy, path, path.with_name("b.jsonl")).verdict == "invalid"


def write_table(path: Path, separator: str = ",") -> Path:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ROWS[0], delimiter=separator)
        writer.writeheader()
        writer.writerows(ROWS)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_policy_for_tables(tmp_path, separator):
    (policy,) = write_policies("csv.md", tmp_path)
    path = write_table(tmp_path / "a.csv", separator)
    verdict = judge(policy, path, path)
    assert verdict.verdict == "pass", verdict.because
    assert verdict.pairing.paired == 3
    marked = tmp_path / "b.csv"
    marked.write_text(f"sep={separator}\n" + path.read_text())
    assert read_run(marked, id_field="question_id").ids == ["a", "b", "c"]


def json_forms() -> dict[str, object]:
    names = list(ROWS[0])
    return {
        "list": ROWS,
        "wrapped": {"run": {"commit": "1"}, "results": ROWS},
        "columns": {name: {str(place): row[name] for place, row in enumerate(ROWS)} for name in names},
        "lists": {name: [row[name] for row in ROWS] for name in names},
        "split": {"columns": names, "index": [0, 1, 2], "data": [list(row.values()) for row in ROWS]},
    }


@pytest.mark.parametrize("form", json_forms())
def test_the_policy_for_json(tmp_path, form):
    (policy,) = write_policies("json.md", tmp_path)
    path = tmp_path / "a.json"
    path.write_text(json.dumps(json_forms()[form], indent=1))
    verdict = judge(policy, path, path)
    assert verdict.verdict == "pass", verdict.because
    assert verdict.pairing.paired == 3
    assert verdict.findings[0].baseline == pytest.approx(2 / 3)


def test_a_frame_with_its_ids_as_index_is_not_taken_for_a_table(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"correct": {"q1": 1, "q2": 0}, "score": {"q1": 0.5, "q2": 1}}))
    assert not readers()["json"].looks_like(path.read_bytes(), path)
    assert "correct" not in read_run(path).metrics


def test_the_policy_for_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (policy,) = write_policies("parquet.md", tmp_path)
    for part, rows in enumerate((ROWS[:1], ROWS[1:])):
        parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / f"part-{part}.parquet")
    verdict = judge(policy, tmp_path / "part-*.parquet", tmp_path / "part-*.parquet")
    assert verdict.verdict == "pass", verdict.because
    assert verdict.pairing.paired == 3


@pytest.mark.parametrize("page", ["jsonl.md", "csv.md"])
def test_pages_name_the_texts_that_mean_missing(page):
    text = (ROOT / "docs" / "formats" / page).read_text()
    paragraph = next(part for part in text.split("- **") if part.startswith("Missing"))
    named = set(re.findall(r"`([^`]*)`", paragraph)) - {'""', "null", "NaN", "error", "no_answer"} | {
        "",
        "null",
    }
    assert named == MISSING_TEXTS - {"-nan"}
