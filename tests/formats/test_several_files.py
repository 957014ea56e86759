from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, ROOT, judge, write_policies

from gateline.cli import run as run_command
from gateline.cli.arguments import make_parser
from gateline.convert import write_jsonl
from gateline.errors import InputError
from gateline.readers import read_run, readers

RAGAS = FILES / "ragas"


def write(path: Path, *records: dict) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def score(name: str, value: float | None, **more) -> dict:
    return {"id": name, "metrics": {"f": value}} | more


def test_metrics_in_one_file_and_latency_in_another(tmp_path):
    scores = write(tmp_path / "scores.jsonl", *(score(f"q{row}", row / 10) for row in range(10)))
    times = write(
        tmp_path / "times.jsonl", *({"id": f"q{row}", "latency_ms": row} for row in reversed(range(10)))
    )
    run = read_run([scores, times])
    assert run.ids == [f"q{row}" for row in range(10)]
    assert run.numbers("f").tolist() == [row / 10 for row in range(10)]
    assert run.numbers("latency_ms").tolist() == list(range(10))
    assert run.file == f"{scores} + {times}"
    assert run.place(3) == f"{scores}:4"
    turned = read_run([times, scores])
    assert turned.sha256 != run.sha256
    assert dict(zip(turned.ids, turned.numbers("f"), strict=True)) == dict(
        zip(run.ids, run.numbers("f"), strict=True)
    )


def test_parts_of_the_questions_in_each(tmp_path):
    first = write(tmp_path / "a.jsonl", score("q1", 1.0, lang="de"), score("q2", None))
    second = write(tmp_path / "b.jsonl", score("q3", 0.5), score("q4", 0.25))
    run = read_run([first, second])
    assert run.ids == ["q1", "q2", "q3", "q4"]
    np.testing.assert_array_equal(run.numbers("f"), [1, np.nan, 0.5, 0.25])
    assert run.labels("lang") == [("de",), (), (), ()]


@pytest.mark.parametrize("section", ["metrics", ""])
def test_what_one_file_says_is_missing_is_not_taken_from_another(tmp_path, section):
    def record(name: str, **values: object) -> dict:
        return {"id": name} | ({section: values} if section else values)

    a = write(tmp_path / "a.jsonl", record("q1", f=1), record("q2", f=None), record("q3", f=None))
    b = write(tmp_path / "b.jsonl", record("q2", f=0), record("q3", f=None), record("q1", f=1))
    for files in ([a, b], [b, a]):
        with pytest.raises(
            InputError, match=r"a\.jsonl: f is missing here and a number in another file, for 'q2'"
        ):
            read_run(files)
    absent = write(tmp_path / "c.jsonl", record("q1", g=1), record("q2", g=2), record("q3", g=None))
    np.testing.assert_array_equal(read_run([absent, b]).numbers("f"), [1, 0, np.nan])


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ({"better": "higher"}, {"better": "lower"}, "f is stated with better 'lower' here and 'higher' in"),
        ({"range": [0, 1]}, {"range": [0, 100]}, r"f is stated with range \[0, 100\] here and \[0, 1\] in"),
        ({"definition": "a"}, {"definition": "b"}, "f is stated with definition 'b' here and 'a' in"),
        ({"better": "higher"}, {"better": "higher", "range": [0, 1]}, None),
    ],
)
def test_files_of_one_run_that_state_another_metric(tmp_path, before, after, message):
    files = []
    for name, facts in (("a", before), ("b", after)):
        header = {"gateline": 1, "metrics": {"f": {"better": None} | facts}}
        files.append(write(tmp_path / f"{name}.jsonl", header, score(f"q{name}", 1.0)))
    if message is None:
        for order in (files, files[::-1]):
            facts = read_run(order).find_facts("f")
            assert (facts.better, facts.range) == ("higher", (0, 1))
    else:
        with pytest.raises(InputError, match=message):
            read_run(files)


def test_attempts_join_on_their_number(tmp_path):
    scores = write(tmp_path / "a.jsonl", *(score("q1", number / 4, attempt=number) for number in (1, 2)))
    times = write(
        tmp_path / "b.jsonl", *({"id": "q1", "attempt": number, "latency_ms": number} for number in (2, 1))
    )
    run = read_run([scores, times])
    assert run.numbers("f").tolist() == [0.25, 0.5]
    assert run.numbers("latency_ms").tolist() == [1, 2]
    plain = write(tmp_path / "c.jsonl", {"id": "q1", "latency_ms": 1})
    with pytest.raises(
        InputError, match="has several attempts at one id, and this file does not number attempts"
    ):
        read_run([scores, plain])


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([score("q1", 0.5)], "f of 'q1' is 0.5 here and 1 in another file"),
        (
            [{"id": "x1", "latency_ms": 1}],
            "has no question in common with the other files of the run; it has 'x1'",
        ),
        ([{"id": "q1", "t": 1}, {"id": "q1", "t": 2}], r"b\.jsonl:2: the id 'q1' stands twice"),
    ],
)
def test_files_that_are_not_of_one_run(tmp_path, records, message):
    first = write(tmp_path / "a.jsonl", score("q1", 1.0), score("q2", 0.0))
    with pytest.raises(InputError, match=message):
        read_run([first, write(tmp_path / "b.jsonl", *records)])


def of_run(path: Path, metric: str, must: dict | None = None, **facts: str) -> Path:
    header = {"gateline": 1, "run": facts, "must_agree": must or {}}
    return write(
        path, header, {"id": path.stem, "metrics": {metric: 1.0}}, {"id": "q", "metrics": {metric: 1.0}}
    )


@pytest.mark.parametrize(
    ("name", "must", "metrics", "is_refused"),
    [
        ("model", {}, "ff", True),
        ("model", {}, "fg", False),  # the system's in one, the judge's in the other
        ("model", {"model": "exactly"}, "ff", True),
        ("generator.model", {}, "fg", True),
        ("generator.model", {}, "ff", True),
        ("dataset_revision", {}, "fg", True),
        ("judge.model", {}, "ff", True),
        ("judge.model", {}, "fg", False),  # each from another tool
        ("seed", {}, "ff", False),
        ("seed", {"seed": "exactly"}, "ff", True),
        ("tool_version", {"tool_version": "major version"}, "ff", False),
    ],
)
def test_files_of_one_run_that_were_made_otherwise(tmp_path, name, must, metrics, is_refused):
    values = ("1.2", "1.3")
    files = [
        of_run(tmp_path / f"{file}.jsonl", metric, must, **{name: value, "corpus": "c1"})
        for file, metric, value in zip("ab", metrics, values, strict=True)
    ]
    told = rf"b\.jsonl: {name} is '1\.3' here and '1\.2' in .*a\.jsonl"
    if is_refused:
        with pytest.raises(InputError, match=told):
            read_run(files)
    else:
        run = read_run(files)
        assert run.provenance == {name: list(values), "corpus": "c1"}
        (warning,) = run.warnings
        assert re.search(told, warning)


def gate(folder: Path, baseline: str, candidate: str):
    (folder / "policy.yml").write_text(
        "version: 1\nname: gate\nsamples: {at_least: 1}\nmetrics:\n  f: {better: higher, range: [0, 1]}\n"
        "rules:\n  - {id: holds, kind: tolerance, metric: f, worse_by_at_most: 0.5, decide_by: value}\n"
    )
    verdict = judge(folder / "policy.yml", baseline, candidate)
    return verdict.verdict, " ".join(verdict.because)


def test_a_file_of_the_baseline_is_none_of_the_candidate(tmp_path):
    """By its path, or a copy of it that fills up what the candidate lost; never the same labels for both."""
    rows = [score(f"q{row:02}", float(row % 2)) for row in range(40)]
    old = write(tmp_path / "old.jsonl", *rows)
    new = write(tmp_path / "new.jsonl", *rows[10:])
    copy = tmp_path / "copy.jsonl"
    shutil.copy(old, copy)
    labels = write(tmp_path / "labels.jsonl", *({"id": f"q{row:02}", "lang": "de"} for row in range(40)))
    told = "is a file of the baseline, and its f stands in for the candidate's"
    for extra in (old, copy):
        outcome, because = gate(tmp_path, f"{old}", f"{new}\n{extra}")
        assert (outcome, told in because, extra.name in because) == ("invalid", True, True)
    whole = write(tmp_path / "whole.jsonl", *({**row, "latency_ms": 1} for row in rows))
    assert gate(tmp_path, f"{old}\n{labels}", f"{whole}\n{labels}")[0] == "pass"
    assert (
        gate(tmp_path, f"{old}\n{labels}", f"{old}\n{labels}")[0] == "pass"
    )  # a run with itself, which is told


def test_parts_that_came_out_the_same_are_no_copies(tmp_path):
    rows = [score(f"q{row:02}", float(row % 2)) for row in range(40)]
    for folder, second in (("old", rows[20:]), ("new", [score(row["id"], 1.0) for row in rows[20:]])):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "part-0.jsonl", *rows[:20])
        write(tmp_path / folder / "part-1.jsonl", *second)
    outcome, because = gate(tmp_path, f"{tmp_path}/old/*.jsonl", f"{tmp_path}/new/*.jsonl")
    assert outcome == "pass", because


def test_a_pattern_and_lines_of_one_text(tmp_path, monkeypatch):
    for row in range(3):
        write(tmp_path / f"part-{row}.jsonl", score(f"q{row}", row / 4))
    monkeypatch.chdir(tmp_path)
    assert read_run("part-*.jsonl").ids == ["q0", "q1", "q2"]
    assert read_run("part-2.jsonl\npart-0.jsonl\n").ids == ["q2", "q0"]
    with pytest.raises(InputError, match=r"not found: no file matches nothing-\*\.jsonl"):
        read_run("nothing-*.jsonl")
    write(tmp_path / "a[1].jsonl", score("q9", 1.0))
    assert read_run("a[1].jsonl").ids == ["q9"]


def test_ragas_scores_and_a_table_of_times_with_the_same_questions(tmp_path):
    """A second file of the run has the same questions, and what Ragas does not write."""
    with (RAGAS / "baseline.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    times = [{"user_input": row["user_input"], "response": row["response"], "faithfulness": row["faithfulness"],
              "latency_ms": 100 + place} for place, row in enumerate(rows)]  # fmt: skip
    (tmp_path / "times.json").write_text(json.dumps(times[::-1]))
    run = read_run([RAGAS / "baseline.csv", tmp_path / "times.json"])
    assert len(run) == 30
    assert run.numbers("latency_ms").tolist() == [100 + place for place in range(30)]
    assert run.find_facts("faithfulness").better == "higher"


def test_given_several_times_on_the_command_line(tmp_path, monkeypatch, capsys):
    scores = [score(f"q{row:02}", row % 2) for row in range(30)]
    write(tmp_path / "base.jsonl", *scores)
    write(tmp_path / "scores.jsonl", *scores)
    write(tmp_path / "times.jsonl", *({"id": f"q{row:02}", "latency_ms": 900} for row in range(30)))
    (tmp_path / "policy.yml").write_text(
        "version: 1\nname: gate\nmetrics:\n  f: {better: higher, range: [0, 1]}\n"
        "  latency_ms: {better: lower}\nrules:\n"
        "  - {id: holds, kind: tolerance, metric: f, worse_by_at_most: 0.5}\n"
        "  - {id: line, kind: every, metric: latency_ms, at_most: 1000}\n"
    )
    monkeypatch.chdir(tmp_path)
    arguments = ["check", "--policy", "policy.yml", "--baseline", "scores.jsonl", "--baseline", "times.jsonl"]
    arguments += ["--candidate", "scores.jsonl", "--candidate", "times.jsonl"]
    assert run_command(arguments) == 0
    assert "30 questions in both runs" in capsys.readouterr().out
    assert run_command(arguments[:-2]) == 2
    monkeypatch.setenv("GATELINE_CANDIDATE", "scores.jsonl\ntimes.jsonl")
    assert run_command(arguments[:-4]) == 0
    monkeypatch.setenv("GATELINE_CANDIDATE", "elsewhere.jsonl")
    assert make_parser().parse_args(arguments).candidate == "scores.jsonl\ntimes.jsonl"


def test_no_two_readers_claim_a_file():
    """Every file and folder of the fixtures is known to at most one reader of a tool."""
    claimed = {}
    for path in [*FILES.rglob("*"), FILES]:
        if path.suffix == ".md":
            continue
        head = b"" if path.is_dir() else path.read_bytes()[: 1 << 16]
        names = [
            name
            for name, reader in readers().items()
            if not getattr(reader, "GENERAL", False)
            and (path.is_dir() or head)
            and reader.looks_like(head, path)
        ]
        if path.is_file():
            assert len(names) <= 1, (path, names)
        claimed[path] = names
    assert {name for names in claimed.values() for name in names} >= {"mteb", "ragas", "evalscope", "trec"}


def test_an_unknown_file_says_what_was_looked_for_and_how_to_map_columns(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\x00\x01")
    with pytest.raises(InputError) as caught:
        read_run(tmp_path / "a.bin")
    message = str(caught.value)
    for word in ("mteb", "ragas", "evalscope", "jsonl", "csv", "--read-as", "samples: {id: ...}", "field:"):
        assert word in message


def test_every_page_is_listed_and_its_example_of_any_format_works(tmp_path):
    pages = {path.name for path in (ROOT / "docs" / "formats").glob("*.md")} - {"README.md"}
    listed = (ROOT / "docs" / "formats" / "README.md").read_text()
    for page in pages:
        assert f"({page})" in listed
    (policy,) = write_policies("README.md", tmp_path)
    write(tmp_path / "a.jsonl", *({"query_id": row, "graded_correct": row % 2} for row in range(4)))
    shutil.copy(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert judge(policy, tmp_path / "a.jsonl", tmp_path / "b.jsonl").pairing.paired == 4


@pytest.mark.parametrize("path", ["mteb/results/codefuse-ai__F2LLM-v2-80M", "ragas/baseline.csv", "evalscope/candidate",
                                  "ragas/baseline.scores.json", "inspect/candidate.eval",
                                  "inspect/candidate_epochs2.json", "lm_eval/candidate",
                                  "ragchecker/baseline.json"])  # fmt: skip
def test_a_converted_run_is_held_to_the_same(tmp_path, path):
    run = read_run(FILES / path)
    converted = tmp_path / "run.jsonl"
    converted.write_text("".join(write_jsonl(run)), encoding="utf-8")
    again = read_run(converted)
    assert again.ids == run.ids
    for name in ("metric_facts", "aliases", "must_agree", "unpaired", "warnings"):
        assert getattr(again, name) == getattr(run, name), name
    for name in run.metrics:
        np.testing.assert_array_equal(again.numbers(name), run.numbers(name))
    for name in run.slices:
        assert again.labels(name) == run.labels(name)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("metrics", [], "'metrics' of the header must be an object, not a list"),
        ("metrics", {"f": {"better": "up"}}, "metrics.f of the header must be such as"),
        ("metrics", {"f": {"better": None, "range": [0]}}, "metrics.f of the header must be such as"),
        (
            "must_agree",
            {"judge": "nearly"},
            "must_agree.judge must be exactly or major version or one in common, not the text 'nearly'",
        ),
        ("aliases", {"f": 1}, "aliases.f must be a text, not the number 1"),
        ("unpaired", True, "'unpaired' must be a text, not true"),
    ],
)
def test_a_header_that_states_nonsense(tmp_path, key, value, message):
    path = write(tmp_path / "a.jsonl", {"gateline": 1, key: value}, score("q1", 1.0))
    with pytest.raises(InputError, match=rf"a\.jsonl:1: {message}"):
        read_run(path)
