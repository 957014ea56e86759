"""`inspect` names the reader as `--read-as` wants it, whatever it calls what it recognised."""

from __future__ import annotations

import json
import re

import pytest
from documented import FILES

from gateline.cli import run
from gateline.readers import find_reader, read_run, readers

SOME = [
    "trec/baseline.run", "trec/baseline.pytrec_eval.json", "trec/baseline.ir_measures.tsv", "ragas/baseline.csv",
    "deepeval/baseline.test_run.json", "promptfoo/baseline.json", "langsmith/baseline.csv",
    "pytest/baseline.junit.xml",
]  # fmt: skip


@pytest.mark.parametrize("name", SOME)
def test_the_reader_that_is_named_reads_the_same(name, capsys):
    path = str(FILES / name)
    assert run(["inspect", path]) == 0
    head = capsys.readouterr().out.splitlines()[1].strip()
    told = re.search(r"\(--read-as ([\w-]+)\)", head)
    reader = told[1] if told else head.split()[0].rstrip(",")
    assert reader == find_reader(path)
    assert reader in readers()
    found, forced = read_run(path), read_run(path, read_as=reader)
    assert (found.ids, found.format, list(found.metrics)) == (forced.ids, forced.format, list(forced.metrics))
    assert run(["inspect", path, "--read-as", reader, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reader"] == reader


def test_own_records_are_called_as_they_are_forced(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text('{"id": "q", "metrics": {"correct": 1}}\n', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"id": "r", "correct": 1}\n', encoding="utf-8")
    run(["inspect", "a.jsonl"])
    assert "gateline-jsonl (--read-as jsonl), 1 record, identified by 'id'" in capsys.readouterr().out
    run(["inspect", "b.jsonl"])
    assert "jsonl, 1 record, identified by 'id'" in capsys.readouterr().out
    assert run(["inspect", "?.jsonl"]) == 0  # several files have no reader in common to name
    assert "--read-as" not in capsys.readouterr().out.splitlines()[1]
