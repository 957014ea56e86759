"""Files that `golden` is given and that are no golden set: a run's outputs, and what harvest kept of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.cli import run
from gateline.golden.quality import review

ROOT = Path(__file__).parents[2]
DATA = ROOT / "gates" / "data"
QUESTIONS = [{"id": f"q{n}", "question": f"what is thing number {n} called?"} for n in range(40)]
LABELS = {
    "relevant": ["d1"], "evidence_groups": [["d1"]], "reference_answer": "so", "required_claims": ["so"],
    "forbidden_claims": ["no"], "answerable": False,
}  # fmt: skip
OUTPUTS = {
    "answer": "so", "response": "so", "retrieved": ["d1"], "metrics": {"correct": 1}, "latency_ms": 12.5,
    "retrieved_contexts": ["text"],
}  # fmt: skip


def write(folder, name, records):
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("file", ["refchecker/candidate.jsonl", "xstest/baseline.jsonl"])
def test_a_run_is_no_golden_set_and_says_so_with_exit_code_1(file, capsys):
    assert run(["golden", str(DATA / file)]) == 1
    shown = capsys.readouterr().out
    assert "is no golden set: it has" in " ".join(shown.split())
    assert "refusals" not in shown


@given(
    labels=st.sets(st.sampled_from(sorted(LABELS))),
    outputs=st.sets(st.sampled_from(sorted(OUTPUTS))),
    labelled=st.integers(0, 39),
)
def test_one_label_of_one_question_makes_a_golden_set_whatever_else_stands_there(
    tmp_path_factory, labels, outputs, labelled
):
    records = [{**one, **{name: OUTPUTS[name] for name in outputs}} for one in QUESTIONS]
    records[labelled] = {**records[labelled], **{name: LABELS[name] for name in labels}}
    found = review([write(tmp_path_factory.mktemp("set"), "set.jsonl", records)])
    told = [note for note in found.notes if note.check == "no labels"]
    assert len(told) == (bool(outputs) and not labels)
    assert all(note.level == "error" for note in told)


def harvest(folder):
    """Keep what the shipped gate saw fail, with the questions' texts out of a golden set of all of them."""
    files = [str(DATA / "refchecker" / f"{side}.jsonl") for side in ("baseline", "candidate")]
    policy = str(ROOT / "gates" / "rag.yml")
    out = str(folder / "out")
    run(
        [
            "check",
            "--policy",
            policy,
            "--baseline",
            files[0],
            "--candidate",
            files[1],
            "--output-dir",
            out,
            "-q",
        ]
    )
    ids = [json.loads(line)["id"] for line in Path(files[0]).read_text().splitlines()[1:]]
    golden = write(
        folder, "golden.jsonl",
        [{"id": one, "question": f"what does {one} say?", "reference_answer": "so"} for one in ids],
    )  # fmt: skip
    kept = str(folder / "kept.jsonl")
    assert run(["harvest", f"{out}/verdict.json", "-o", kept, "--golden", golden]) == 0
    return golden, kept


def test_what_harvest_keeps_is_a_copy_and_no_leak(tmp_path, capsys):
    golden, kept = harvest(tmp_path)
    records = [json.loads(line) for line in Path(kept).read_text().splitlines()]
    assert records and all(record["question"] for record in records)
    capsys.readouterr()
    for files in ([golden, kept], [kept, golden], [kept]):
        assert run(["golden", *files]) == 0
        assert "regression set of gateline harvest" in capsys.readouterr().out
    assert not [note for note in review([golden, kept]).notes if "leak" in note.check]
    # the same records without what was seen are a split like any other
    split = write(tmp_path, "split.jsonl", [{k: v for k, v in one.items() if k != "seen"} for one in records])
    assert run(["golden", golden, split]) == 1
    assert "leak" in capsys.readouterr().out


def test_a_copy_within_a_regression_set_is_told(tmp_path, capsys):
    _, kept = harvest(tmp_path)
    first = json.loads(Path(kept).read_text().splitlines()[0])
    with Path(kept).open("a", encoding="utf-8") as file:
        file.write(json.dumps({**first, "id": "another"}) + "\n")
    assert run(["golden", kept]) == 1
    assert "duplicate" in capsys.readouterr().out
