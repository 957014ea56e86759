"""A file that no reader knows: the error says what it seems to be, what was looked for, and what to do."""

from __future__ import annotations

import gzip
import json
import pickle
import sqlite3
import zipfile
from pathlib import Path

import pytest
from documented import FILES, judge

from gateline.cli import run as run_command
from gateline.errors import InputError
from gateline.readers import read_run, readers
from gateline.readers._unknown import MAPPING_HINT

RECORDS = [{"question": "a", "score": 1}]
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
TEXTS = {
    "leaderboard.json": '{"app": "rag", "leaderboard": {"v1": {"grounded": 0.9}}}',
    "summary.json": '{"accuracy": 0.83, "f1": 0.71, "n": 300}',
    "nested.json": '{"experiment": {"rows": [{"question": "a", "score": 1}]}}',
    "by_id.json": '{"q1": {"label": "a", "score": 1}, "q2": {"label": "b", "score": 0}}',
    "numbers.json": "[0.1, 0.2]",
    "cut.json": '{"meta": {"a": "x"},\n "rows": [1, 2',
    "report.html": "<!DOCTYPE html><table><tr><td>q1</td></tr></table>",
    "results.yaml": "---\nresults:\n- {id: q1, score: 0.5}\n",
    "notes.md": "# Results\n\n| id | score |\n|---|---|\n| q1 | 0.5 |\n",
    "run.log": "2026-01-01 INFO q1 ... 0.5\n2026-01-01 INFO q2 ... 0.7\n",
    "export.txt": "question\tscore\nWho?\t0.5\n",
}
TOLD = {
    "leaderboard.json": ("a JSON object without records, with app, leaderboard", "can't show a change"),
    "summary.json": ("a JSON object without records, with accuracy, f1, n", "hand over the samples"),
    "nested.json": (
        "JSON with records under 'experiment.rows', which have question, score",
        "a file of its own",
    ),
    "by_id.json": ("a JSON object of objects, called q1, q2", "a list of the objects, each with its id"),
    "numbers.json": ("a JSON list of something else than objects", "field:"),
    "cut.json": ("JSON that breaks off or is wrong in line 2", "field:"),
    "report.html": ("an HTML page", "field:"),
    "results.yaml": ("YAML", "field:"),
    "notes.md": ("text that begins with '# Results'", "field:"),
    "run.log": ("text that begins with '2026-01-01 INFO q1", "field:"),
    "export.txt": ("a table with the columns question, score", "--read-as csv"),
}
"""What each is said to be, and what is advised."""


def write_bytes(folder: Path) -> dict[str, tuple[Path, str]]:
    """Write files that are no text."""
    connection = sqlite3.connect(folder / "runs.db")
    connection.execute("create table runs (id text, score real)")
    connection.commit()
    connection.close()
    with zipfile.ZipFile(folder / "results.zip", "w") as archive:
        archive.writestr("results.csv", "id,score\nq1,0.5\n")
    (folder / "frame.pkl").write_bytes(pickle.dumps(RECORDS))
    (folder / "chart.png").write_bytes(PNG)
    (folder / "model.bin").write_bytes(b"\x01\x02\x03\x04\0\0\xff" * 20)
    kinds = {
        "runs.db": "an SQLite database",
        "results.zip": "a zip file",
        "frame.pkl": "a pickle, which is never opened",
        "chart.png": "an image",
        "model.bin": "no text",
    }
    return {name: (folder / name, kind) for name, kind in kinds.items()}


def check_message(path: Path, kind: str, advice: str) -> None:
    with pytest.raises(InputError) as caught:
        read_run(path)
    (problem,) = caught.value.problems
    assert problem.where == str(path)
    assert f"it seems to be {kind}" in problem.message
    for name in readers():
        assert name in problem.message.partition("looked for ")[2]
    assert advice in problem.hint
    assert MAPPING_HINT in problem.hint


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_no_reader_knows(name, tmp_path):
    (tmp_path / name).write_text(TEXTS[name])
    check_message(tmp_path / name, *TOLD[name])


@pytest.mark.parametrize("name", ["gate.yml", "gate.yaml"])
def test_a_policy_is_told_from_results(name, tmp_path):
    (tmp_path / name).write_text("# A first policy, and more\nversion: 1, 2\n")
    check_message(tmp_path / name, "YAML, as a policy is", "gateline lint checks a policy")


@pytest.mark.parametrize("name", ["runs.db", "frame.pkl", "chart.png", "model.bin"])
def test_a_file_that_is_no_text(name, tmp_path):
    path, kind = write_bytes(tmp_path)[name]
    check_message(path, kind, "--read-as")


def test_a_packed_file_is_to_be_unpacked(tmp_path):
    path, _ = write_bytes(tmp_path)["results.zip"]
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"id,score\na,1\n"))
    (tmp_path / "a.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"\x00\xff" * 40)
    kinds = {
        path: "a zip file",
        tmp_path / "a.csv.gz": "a gzip file",
        tmp_path / "a.jsonl.zst": "a zstandard file",
    }
    for packed, kind in kinds.items():
        with pytest.raises(InputError, match=f"it seems to be {kind}") as caught:
            read_run(packed)
        assert caught.value.problems[0].hint == "unpack it first, and hand over what is in it"


def test_the_advice_works(tmp_path):
    """Each way out that a message names leads to a run."""
    (tmp_path / "export.txt").write_text(TEXTS["export.txt"])
    assert read_run(tmp_path / "export.txt", read_as="csv", id_field="question").ids == ["Who?"]
    (tmp_path / "rows.json").write_text(json.dumps(RECORDS))
    assert read_run(tmp_path / "rows.json", id_field="question").numbers("score").tolist() == [1]
    objects = json.loads(TEXTS["by_id.json"])
    (tmp_path / "list.json").write_text(json.dumps([{"id": name} | one for name, one in objects.items()]))
    assert read_run(tmp_path / "list.json").ids == ["q1", "q2"]
    policy = {
        "version": 1,
        "name": "mapped",
        "samples": {"at_least": 1, "id": "question"},
        "metrics": {"mine": {"field": "score", "better": "higher"}},
        "rules": [{"id": "holds", "kind": "tolerance", "metric": "mine", "worse_by_at_most": 1}],
    }
    verdict = judge(
        json.dumps(policy), tmp_path / "export.txt", tmp_path / "export.txt", tmp_path, read_as="csv"
    )
    assert verdict.verdict == "pass", verdict.because


def test_ids_as_keys_with_a_number_first_are_no_ranking(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"q1": {"score": 1, "label": "a"}}))
    with pytest.raises(InputError, match="write a list of the samples, each with its id"):
        read_run(path)


def test_a_folder_of_parts_is_answered_with_its_pattern(tmp_path, monkeypatch, capsys):
    for row in range(3):
        (tmp_path / f"part-{row}.jsonl").write_text(f'{{"id": "q{row}", "s": {row}}}\n')
    (tmp_path / "README.txt").write_text("parts of a run")
    with pytest.raises(InputError) as caught:
        read_run(tmp_path)
    hint = caught.value.problems[0].hint
    pattern = str(tmp_path / "*.jsonl")
    assert f"it has 3 .jsonl files: as parts of one run give them as a pattern, '{pattern}'" in hint
    assert read_run(pattern).ids == ["q0", "q1", "q2"]
    monkeypatch.chdir(tmp_path.parent)
    assert run_command(["inspect", tmp_path.name]) == 2
    assert f"'{tmp_path.name}/*.jsonl'" in " ".join(capsys.readouterr().err.split())


def test_an_empty_folder_and_a_file_of_no_bytes(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no reader knows this folder; looked for"):
        read_run(tmp_path / "empty")
    (tmp_path / "empty.json").write_text("")
    with pytest.raises(InputError, match="0 samples: the file is empty"):
        read_run(tmp_path / "empty.json")


FOREIGN = [
    "langsmith/baseline.csv", "langsmith/baseline.json", "langfuse/baseline.scores.csv", "phoenix/baseline.json",
    "ragas/baseline.csv", "ragas/baseline.parquet", "trec/baseline.run", "trec/baseline.pytrec_eval.json",
    "evalscope/candidate", "mteb/own", "promptfoo/baseline.json", "inspect/baseline.eval",
    "pytest/baseline.junit.xml", "deepeval/baseline.test_run.json", "ragchecker/baseline.json",
]  # fmt: skip


@pytest.mark.parametrize("reader", readers())
def test_a_file_forced_on_another_reader_is_read_or_an_error_that_names_it(reader):
    for name in FOREIGN:
        try:
            run = read_run(FILES / name, read_as=reader)
        except InputError as error:
            assert name.rpartition("/")[2] in str(error), name
        else:
            assert len(run), name
