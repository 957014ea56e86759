"""The traps that files of many tools share. Each test says one in general, then shows it on files of the tools."""

from __future__ import annotations

import ast
import csv
import json
import math
import random
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, ROOT, judge

from gateline.convert import write_jsonl
from gateline.errors import InputError
from gateline.inspection import inspect_run
from gateline.readers import read_run
from gateline.samples import Run

SIDES = ("baseline", "candidate")


def policy_for(metric: str, *, better: str = "higher", at_most: float = 0.9, **more: object) -> str:
    return json.dumps(
        {
            "version": 1,
            "name": "gate",
            "samples": {"at_least": 1},
            "metrics": {metric: {"better": better, "range": [0, 1]}},
            "rules": [{"id": "holds", "kind": "tolerance", "metric": metric, "worse_by_at_most": at_most}],
        }
        | more
    )


def strict(text: str) -> object:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def values_of(run: Run, metric: str) -> dict[str, float]:
    return dict(zip(run.ids, run.numbers(metric).tolist(), strict=True))


def write_rows(path: Path, rows: list[dict]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_lines(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


# 1 Bare NaN and Infinity in JSON

BARE = re.compile(rb"[:\[,]\s*-?(NaN|Infinity)\b")
WITH_BARE = [path for path in sorted(FILES.rglob("*.json*")) if BARE.search(path.read_bytes())]


@pytest.mark.parametrize("path", WITH_BARE, ids=lambda path: path.name)
def test_bare_nan_is_read_as_no_value_and_never_written(path, tmp_path):
    run = read_run(path)
    missing = sum(int(np.isnan(run.numbers(name)).sum()) for name in run.metrics)
    assert missing >= len(BARE.findall(path.read_bytes())) - 1  # mteb repeats a metric as main_score
    converted = "".join(write_jsonl(run))
    for line in converted.splitlines():
        strict(line)
    verdict = judge(policy_for(next(iter(run.metrics)), missing={"drop_at_most": 1.0}), path, path, tmp_path)
    strict(verdict.model_dump_json())


def test_the_tools_that_write_bare_nan_are_among_the_files():
    assert {path.relative_to(FILES).parts[0] for path in WITH_BARE} >= {"mteb", "ragas"}


@pytest.mark.parametrize("word", ["Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize(
    "form", ['{{"id": "q1", "s": {}}}', '[{{"id": "q1", "s": {}}}]', '{{"id": ["q1"], "s": [{}]}}']
)
def test_an_infinite_number_is_read_and_no_metric(tmp_path, word, form):
    path = write_lines(tmp_path / "a.json", form.format(word))
    assert np.isinf(read_run(path).find_column("s")[0])
    verdict = judge(policy_for("s"), path, path, tmp_path)
    assert verdict.verdict == "invalid"
    assert "s of sample 'q1' is not a number: an infinite number" in verdict.because[0]


# 2 Missing has many spellings, and none of them is a number

HEADER = "id,s"
LINES = ('{"id": "q0", "s": 0.1}', '{"id": "q1", "s": 0.2}', '{"id": "q2", "s": 0.3}')
CELLS = (HEADER, "q0,0.1", "q1,0.2", "q2,0.3")
SPELLINGS: dict[str, tuple[str, ...]] = {
    "an empty cell": (*CELLS, "q3,"),
    "the text nan": (*CELLS, "q3,nan"),
    "the text N/A": (*CELLS, "q3,N/A"),
    "null": (*LINES, '{"id": "q3", "s": null}'),
    "bare NaN": (*LINES, '{"id": "q3", "s": NaN}'),
    "an absent key": (*LINES, '{"id": "q3"}'),
    "no scores and an error": (
        '{"id": "q0", "metrics": {"s": 0.1}}',
        '{"id": "q1", "metrics": {"s": 0.2}}',
        '{"id": "q2", "metrics": {"s": 0.3}}',
        '{"id": "q3", "metrics": {}, "error": "judge failed"}',
    ),
}


@pytest.fixture
def whole(tmp_path):
    return write_lines(tmp_path / "whole.csv", HEADER, "q0,0.1", "q1,0.2", "q2,0.3", "q3,0.9")


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_missing_is_missing(spelling, whole, tmp_path):
    after = write_lines(tmp_path / "after", *SPELLINGS[spelling])
    read_as = "csv" if SPELLINGS[spelling][0] == HEADER else "jsonl"
    after = after.rename(after.with_suffix(f".{read_as}"))
    assert math.isnan(values_of(read_run(after), "s")["q3"])
    refused = judge(policy_for("s"), whole, after, tmp_path)
    assert refused.verdict == "invalid"
    assert "'q3'" in refused.because[0]
    let = judge(policy_for("s", missing={"drop_at_most": 0.5}), whole, after, tmp_path)
    (finding,) = let.findings
    assert (finding.samples, finding.baseline, finding.candidate) == (
        3,
        pytest.approx(0.2),
        pytest.approx(0.2),
    )
    assert [(one.run, one.samples, one.ids) for one in let.pairing.no_score] == [("candidate", 1, ["q3"])]


def test_a_row_that_is_absent_is_a_lost_question(whole, tmp_path):
    after = write_lines(tmp_path / "after.csv", *CELLS)
    verdict = judge(policy_for("s"), whole, after, tmp_path)
    assert verdict.verdict == "invalid"
    assert "'q3'" in verdict.because[0]
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match="0 samples: the file is empty"):
        read_run(tmp_path / "empty.csv")


# 3 An error written as 0.0 is not a score of 0


def of_langsmith() -> tuple[Path, str, list[tuple[float, bool]]]:
    rows = json.loads((FILES / "langsmith" / "candidate.json").read_text())
    return (
        FILES / "langsmith" / "candidate.csv",
        "word_recall",
        [(row["feedback.word_recall"], bool(row["error"])) for row in rows],
    )


def of_phoenix() -> tuple[Path, str, list[tuple[float, bool]]]:
    rows = json.loads((FILES / "phoenix" / "candidate.json").read_text())
    scores = [
        next(given["score"] for given in row["annotations"] if given["name"] == "word_recall") for row in rows
    ]
    return (
        FILES / "phoenix" / "candidate.csv",
        "word_recall",
        [(score, bool(row["error"])) for score, row in zip(scores, rows, strict=True)],
    )


def of_promptfoo() -> tuple[Path, str, list[tuple[float, bool]]]:
    path = FILES / "promptfoo" / "candidate.json"
    rows = json.loads(path.read_text())["results"]["results"]
    return path, "score", [(row["score"], row["failureReason"] == 2) for row in rows]


def of_any_tool() -> tuple[Path, str, list[tuple[float, bool]]]:
    return Path("own.jsonl"), "s", [(0.0, row == 2) if row % 2 == 0 else (1.0, False) for row in range(10)]


@pytest.mark.parametrize(
    "tool", [of_langsmith, of_phoenix, of_promptfoo, of_any_tool], ids=lambda of: of.__name__
)
def test_a_zero_beside_an_error_is_no_score(tool, tmp_path):
    path, metric, scores = tool()
    if not path.is_absolute():
        lines = [
            json.dumps({"id": f"q{row}", metric: score, "error": "timeout" if failed else None})
            for row, (score, failed) in enumerate(scores)
        ]
        path = write_lines(tmp_path / path, *lines)
    zeros = [score for score, failed in scores if failed]
    assert zeros
    assert set(zeros) == {0.0}, "the trap is there"
    policy = policy_for(metric, missing={"no_answer": "drop", "drop_at_most": 0.2})
    verdict = judge(policy, path, path, tmp_path)
    (finding,) = verdict.findings
    kept = [score for score, failed in scores if not failed]
    assert finding.samples == len(kept)
    assert finding.candidate == pytest.approx(np.mean(kept))
    assert finding.candidate > np.mean([score for score, _ in scores])
    assert (
        judge(
            policy_for(metric, missing={"no_answer": "refuse", "no_score": "refuse"}), path, path, tmp_path
        ).verdict
        == "invalid"
    )


def test_a_zero_for_what_could_not_be_computed_is_no_score(tmp_path):
    """EvalScope writes 0 and names the metric that failed; RAGChecker writes 0 where it found no claims."""
    run = read_run(FILES / "evalscope" / "candidate")
    review = (
        next((FILES / "evalscope" / "candidate" / "reviews").rglob("*.jsonl")).read_text().splitlines()[0]
    )
    assert json.loads(review)["sample_score"]["score"]["value"]["bleu-1"] == 0.0
    assert np.isnan(run.numbers("bleu-1")).all()
    value = json.loads((FILES / "ragchecker" / "candidate.json").read_text())
    value["results"][0] |= {
        "response_claims": [],
        "answer2response": [],
        "retrieved2response": [],
        "response2answer": [],
    }
    value["results"][0]["metrics"] = dict.fromkeys(value["results"][0]["metrics"], 0.0)
    del value["metrics"]  # the summary, which would know that this query had other numbers
    (tmp_path / "a.json").write_text(json.dumps(value))
    assert math.isnan(read_run(tmp_path / "a.json").numbers("precision")[0])


def test_ragas_writes_zeros_without_a_context_and_that_is_told():
    """Its files have no error to tell them by."""
    warned = " ".join(read_run(FILES / "ragas" / "baseline.csv").warnings)
    assert "Ragas writes 0 there also where it had nothing to judge" in warned


# 4 Aggregates skip what is missing


@pytest.mark.parametrize("form", ["csv", "jsonl", "langsmith"])
def test_a_run_does_not_gain_by_failing_on_hard_questions(form, tmp_path):
    scores = [1.0] * 6 + [0.0] * 4
    paths = []
    for name, values in (("a", scores), ("b", [score or None for score in scores])):
        if form == "jsonl":
            lines = [json.dumps({"id": f"q{row}", "s": value}) for row, value in enumerate(values)]
            paths.append(write_lines(tmp_path / f"{name}.jsonl", *lines))
        elif form == "csv":
            rows = [{"id": f"q{row}", "s": value} for row, value in enumerate(values)]
            paths.append(write_rows(tmp_path / f"{name}.csv", rows))
        else:
            rows = [
                {"inputs.q": f"Q{row}", "outputs.a": "A", "example_id": f"q{row}", "feedback.s": value,
                 "execution_time": 1} for row, value in enumerate(values)
            ]  # fmt: skip
            paths.append(write_rows(tmp_path / f"{name}.csv", rows))
    before, after = (np.nanmean(read_run(path).numbers("s")) for path in paths)
    assert after > before, "the aggregate of the tool goes up"
    verdict = judge(policy_for("s"), *paths, tmp_path)
    assert verdict.verdict == "invalid"
    assert "s is missing for 4 of 10 samples" in verdict.because[0]
    (finding,) = judge(policy_for("s", missing={"no_score": "worst"}), *paths, tmp_path).findings
    assert finding.gain == 0
    (finding,) = judge(policy_for("s", missing={"drop_at_most": 0.5}), *paths, tmp_path).findings
    assert (finding.samples, finding.gain) == (6, 0), "only what both runs have"


def test_a_retrieval_tool_leaves_out_what_was_not_found(tmp_path):
    """pytrec_eval's mean is over 28 queries, where the labels ask 29."""
    tool = json.loads((FILES / "trec" / "candidate.pytrec_eval.json").read_text())
    shutil.copy(FILES / "trec" / "harbor.qrels", tmp_path / "qrels.txt")
    policy = policy_for("recall@5", samples={"at_least": 1, "golden_set": "qrels.txt"})
    verdict = judge(policy, *(FILES / "trec" / f"{side}.run" for side in SIDES), tmp_path)
    found = sum(values["recall_5"] for values in tool.values())
    assert len(tool) == 28
    assert verdict.findings[0].candidate == pytest.approx(found / 29)
    assert verdict.findings[0].candidate < found / 28


# 5 No stable id, and an order that is that of completion

Shuffle = Callable[[Path, Path], Path]


def shuffle_table(path: Path, folder: Path) -> Path:
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return write_rows(folder / path.name, random.Random(7).sample(rows, len(rows)))


def shuffle_lines(path: Path, folder: Path) -> Path:
    lines = path.read_text(encoding="utf-8").splitlines()
    return write_lines(folder / path.name, *random.Random(7).sample(lines, len(lines)))


def shuffle_folder(path: Path, folder: Path) -> Path:
    shutil.copytree(path, folder / "run")
    for file in (folder / "run").rglob("*.jsonl"):
        shuffle_lines(file, file.parent)
    return folder / "run"


def shuffle_list(path: Path, folder: Path) -> Path:
    value = json.loads(path.read_text(encoding="utf-8"))
    holder = value if isinstance(value, list) else value["results"]
    rows = holder if isinstance(holder, list) else holder["results"]
    random.Random(7).shuffle(rows)
    (folder / path.name).write_text(json.dumps(value))
    return folder / path.name


ORDERS: dict[str, tuple[str, Shuffle, str]] = {
    "Ragas, a frame": ("ragas/candidate.csv", shuffle_table, "bleu_score"),
    "Ragas, an experiment": ("ragas/exp_jsonl/experiments/candidate.jsonl", shuffle_lines, "answer_overlap"),
    "promptfoo": ("promptfoo/candidate.json", shuffle_list, "answer_recall"),
    "EvalScope": ("evalscope/candidate", shuffle_folder, "Rouge-L-R"),
    "RAGChecker": ("ragchecker/candidate.json", shuffle_list, "f1"),
    "LangSmith": ("langsmith/candidate.csv", shuffle_table, "word_recall"),
    "Langfuse": ("langfuse/candidate.traces.csv", shuffle_table, "word_recall"),
    "Phoenix": ("phoenix/candidate.json", shuffle_list, "judge"),
    "Inspect": ("inspect/candidate.samples_df.csv", shuffle_table, "f1"),
}


@pytest.mark.parametrize("tool", ORDERS)
def test_rows_in_another_order_are_the_same_run(tool, tmp_path):
    name, shuffle, metric = ORDERS[tool]
    path = FILES / name
    if "experiments" in name:  # known as such by the folders
        (tmp_path / "datasets").mkdir()
        (tmp_path / "experiments").mkdir()
        shuffled = shuffle(path, tmp_path / "experiments")
    else:
        shuffled = shuffle(path, tmp_path)
    before, after = read_run(path), read_run(shuffled)
    if path.is_file():
        assert path.read_bytes() != shuffled.read_bytes(), "the order is another"
    np.testing.assert_equal(values_of(after, metric), values_of(before, metric))
    verdict = judge(policy_for(metric, missing={"drop_at_most": 0.5}), path, shuffled, tmp_path)
    (finding,) = verdict.findings
    assert (finding.gain, verdict.pairing.paired) == (0, len(before))


def test_without_ids_the_text_identifies_and_the_verdict_says_so(tmp_path):
    """LangSmith without example ids: questions that stand twice are counted, blanks don't matter."""
    rows = [
        {"inputs.q": text, "outputs.a": "A", "feedback.s": 0.5}
        for text in ("Who?", " Who? ", "When  is\u00a0it?")
    ]
    path = write_rows(tmp_path / "a.csv", rows)
    ids = read_run(path).ids
    assert (len(set(ids)), ids[1]) == (3, f"{ids[0]}#2")
    notices = judge(policy_for("s"), path, path, tmp_path).notices
    assert any("matched by the text" in one and "1 text stands more than once" in one for one in notices)


# 6 Scales and units differ inside one tool


def test_shares_beside_percentages_are_refused(tmp_path):
    lines = {
        name: [json.dumps({"id": f"q{row}", "s": row / 10 * factor}) for row in range(11)]
        for name, factor in (("share", 1), ("percent", 100))
    }
    paths = [write_lines(tmp_path / f"{name}.jsonl", *of) for name, of in lines.items()]
    for pair in (paths, paths[::-1]):
        assert judge(policy_for("s"), *pair, tmp_path).verdict == "invalid"


def test_a_summary_in_percent_is_not_held_against_queries_from_0_to_1(tmp_path):
    whole = FILES / "ragchecker" / "candidate.json"
    summary = json.loads(whole.read_text())["metrics"]
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    queries, means = read_run(whole), read_run(tmp_path / "summary.json")
    assert queries.find_facts("f1").range == (0, 1)
    assert means.find_facts("f1").range == (0, 100)
    assert 100 * queries.numbers("f1").mean() == pytest.approx(means.numbers("f1")[0], abs=0.0501)
    assert judge(policy_for("f1"), whole, tmp_path / "summary.json", tmp_path).verdict == "invalid"


def test_every_latency_is_milliseconds():
    """LangSmith and Langfuse write seconds, Phoenix and promptfoo milliseconds, EvalScope seconds."""
    raw = {
        "langsmith/baseline.json": lambda rows: [1000 * row["execution_time"] for row in rows],
        "langfuse/baseline.traces.json": lambda rows: [1000 * row["latency"] for row in rows],
        "phoenix/baseline.json": lambda rows: [row["latency_ms"] for row in rows],
        "promptfoo/baseline.json": lambda value: [row["latencyMs"] for row in value["results"]["results"]],
    }
    for name, times in raw.items():
        path = FILES / name
        expected = times(json.loads(path.read_text()))
        assert read_run(path).numbers("latency_ms").tolist() == pytest.approx(expected), name


# 7 The direction of one metric changes with the version of its tool


def run_of_deepeval(path: Path, *scored: tuple[float, bool | None], threshold: float | None = 0.5) -> Path:
    cases = [
        {
            "name": f"q{row}", "input": f"Q{row}", "actualOutput": "a", "success": passed, "order": row,
            "metricsData": [{"name": "Hallucination", "score": score, "success": passed, "threshold": threshold,
                             "strictMode": False, "evaluationModel": "m", "error": None}],
        }
        for row, (score, passed) in enumerate(scored)
    ]  # fmt: skip
    value = {
        "testCases": cases,
        "conversationalTestCases": [],
        "metricsScores": [],
        "testPassed": 1,
        "testFailed": 1,
    }
    path.write_text(json.dumps(value))
    return path


def test_a_direction_that_changed_with_the_version_is_seen_or_not_said(tmp_path):
    """A low hallucination passed before DeepEval 4.2.0, and a high one since; the file carries no version."""
    old = run_of_deepeval(tmp_path / "old.json", (0.1, True), (0.9, False))
    new = run_of_deepeval(tmp_path / "new.json", (0.1, False), (0.9, True))
    silent = run_of_deepeval(tmp_path / "silent.json", (0.1, None), (0.9, None), threshold=None)
    assert read_run(old).find_facts("Hallucination").better == "lower"
    assert read_run(new).find_facts("Hallucination").better == "higher"
    (column,) = [one for one in inspect_run(read_run(silent)).numbers if one.name == "Hallucination"]
    assert column.better is None
    assert "better: lower" in " ".join(read_run(silent).warnings)
    for pair in ((old, new), (new, old)):
        verdict = judge(policy_for("Hallucination", better="lower"), *pair, tmp_path)
        assert verdict.verdict == "invalid"
        assert "4.2.0" in verdict.because[0]


# 8 Artefacts of floating point


def test_a_perfect_score_is_perfect_and_digits_cut_off_are_no_change(tmp_path):
    rows = [
        {"user_input": f"Q{row}", "response": "r", "reference": "r", "context_precision": value}
        for row, value in enumerate((0.9999999999, 0.49999999995, 1.0))
    ]
    exact = [row | {"context_precision": value} for row, value in zip(rows, (1, 0.5, 1), strict=True)]
    paths = [write_rows(tmp_path / f"{name}.csv", of) for name, of in (("a", rows), ("b", exact))]
    assert read_run(paths[0]).numbers("context_precision").tolist() == [1.0, 0.5, 1.0]
    assert judge(policy_for("context_precision"), *paths, tmp_path).findings[0].gain == 0


def test_the_same_scores_with_four_digits_are_within_four_digits(tmp_path):
    """trec_eval prints 4 digits of what pytrec_eval writes in full."""
    files = [FILES / "trec" / name for name in ("baseline.pytrec_eval.json", "baseline.trec_eval908_qc.txt")]
    policy = policy_for(
        "map",
        at_most=1e-4,
        samples={"at_least": 1, "on_mismatch": "intersect"},
        missing={"drop_at_most": 0.05},
    )
    verdict = judge(policy, *files, tmp_path)
    assert verdict.verdict == "pass", verdict.because
    assert abs(verdict.findings[0].gain) <= 5e-5


# 9 Tables as text

TABLES = {
    "csv": (None, "s", "note"),
    "ragas": ("ragas/baseline.csv", "bleu_score", "response"),
    "langsmith": ("langsmith/baseline.csv", "word_recall", "outputs.answer"),
    "langfuse": ("langfuse/baseline.traces.csv", "word_recall", "output"),
    "phoenix": ("phoenix/baseline.csv", "judge", "output"),
    "promptfoo": ("promptfoo/baseline.csv", "score", "Comment"),
    "inspect": ("inspect/baseline.samples_df.csv", "f1", "target"),
}


def table_of(tool: str) -> tuple[list[list[str]], str, str]:
    name, metric, text = TABLES[tool]
    if name is None:
        return [["id", "s", "note"], *([f"q{row}", str(row / 10), "x"] for row in range(5))], metric, text
    with (FILES / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream)), metric, text


def write_cells(path: Path, rows: list[list[str]], *, mark: bool = False, ends: str = "\n") -> Path:
    with path.open("w", newline="", encoding="utf-8-sig" if mark else "utf-8") as stream:
        csv.writer(stream, lineterminator=ends).writerows(rows)
    return path


@pytest.mark.parametrize("tool", TABLES)
def test_a_mark_long_cells_line_feeds_and_windows_ends_change_nothing(tool, tmp_path):
    rows, metric, text = table_of(tool)
    plain = read_run(write_cells(tmp_path / "a.csv", rows))
    place = rows[0].index(text)
    long = [[*row[:place], row[place] + "\n" + "x, " * 50_000, *row[place + 1 :]] for row in rows[1:]]
    assert len(long[0][place]) > 131_072
    odd = read_run(write_cells(tmp_path / "b.csv", [rows[0], *long], mark=True, ends="\r\n"))
    assert (odd.format, odd.ids, list(odd.metrics)) == (plain.format, plain.ids, list(plain.metrics))
    np.testing.assert_array_equal(odd.numbers(metric), plain.numbers(metric))


@pytest.mark.parametrize("tool", [tool for tool in TABLES if tool != "promptfoo"])
def test_a_first_column_without_a_name_holds_row_numbers(tool, tmp_path):
    """pandas writes them unless told not to; promptfoo writes its tables itself."""
    rows, metric, _ = table_of(tool)
    plain = read_run(write_cells(tmp_path / "a.csv", rows))
    numbered = [[str(place - 1) if place else "", *row] for place, row in enumerate(rows)]
    run = read_run(write_cells(tmp_path / "b.csv", numbered))
    assert (run.format, run.ids) == (plain.format, plain.ids)
    np.testing.assert_array_equal(run.numbers(metric), plain.numbers(metric))


def test_a_header_that_repeats_is_an_error_but_where_the_tool_repeats_it(tmp_path):
    with pytest.raises(InputError, match=r"a\.csv:1: columns stand twice in the header: s"):
        read_run(write_cells(tmp_path / "a.csv", [["id", "s", "s"], ["q1", "1", "0"]]))
    rows, metric, _ = table_of("promptfoo")
    place = rows[0].index("Status")
    group = slice(place - 1, len(rows[0]))  # the columns of a prompt or provider: output, status, score, …
    twice = [[*row, *row[group]] for row in rows]
    twice[0][len(rows[0])] = rows[0][place - 1].replace("[rag-pipeline]", "[other]")
    assert len(set(twice[0])) < len(twice[0])
    once, both = (
        read_run(write_cells(tmp_path / name, of)) for name, of in (("b.csv", rows), ("c.csv", twice))
    )
    assert len(both) == 2 * len(once)
    assert np.sort(both.numbers(metric)).tolist() == np.sort(np.repeat(once.numbers(metric), 2)).tolist()


@pytest.mark.parametrize(
    "name", ["recall(mode=f1)", "a,b", "v1.5 score", "x=y", "ä score", " padded ", 'say "x"']
)
def test_a_header_may_hold_any_character(name, tmp_path):
    path = write_cells(tmp_path / "a.csv", [["id", name], *([f"q{row}", str(row / 10)] for row in range(5))])
    policy = policy_for("metric", metrics={"metric": {"field": name.strip(), "better": "higher"}})
    (finding,) = judge(policy, path, path, tmp_path).findings
    assert finding.candidate == pytest.approx(0.2)


@pytest.mark.parametrize(
    "cell", ["['a', \"it's\"]", "['a'\n \"it's\"]", '["a", "it\'s"]'], ids=["Python", "numpy", "JSON"]
)
def test_a_list_in_a_cell_is_its_items_by_whomever_it_was_written(cell, tmp_path):
    rows = [{"user_input": "Q", "response": "r", "retrieved_contexts": cell, "faithfulness": 0.5}]
    assert read_run(write_rows(tmp_path / "a.csv", rows)).labels("retrieved_contexts") == [("a", "it's")]
    rows = [{"inputs.q": "Q", "outputs.docs": cell, "feedback.s": 0.5}]
    assert read_run(write_rows(tmp_path / "b.csv", rows)).labels("outputs.docs") == [("a", "it's")]


# 10 No text of a file is ever code

HOSTILE = [
    "__import__('pathlib').Path('pwned').touch()",
    "[__import__('pathlib').Path('pwned').touch()]",
    "MetricResult(value=__import__('pathlib').Path('pwned').touch(), reason='')",
    "{'a': __import__('pathlib').Path('pwned').touch()}",
    "[" * 100_000,
    "[" * 100_000 + "]" * 100_000,
    "[" * 900 + "]" * 900,
    '{"a":' * 900 + "1" + "}" * 900,
    "['" + "\\x27" * 5 + "']",
    "!!python/object/apply:pathlib.Path.touch [pwned]",
]


@pytest.mark.parametrize("tool", TABLES)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_cell_is_never_run(tool, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, metric, _ = table_of(tool)
    for place in range(len(rows[0])):
        changed = [rows[0], [*rows[1][:place], text, *rows[1][place + 1 :]], *rows[2:]]
        try:
            run = read_run(write_cells(tmp_path / "a.csv", changed))
            run.numbers(metric)
        except InputError as error:
            assert "a.csv" in str(error)
        except KeyError:
            pass  # the column is a label now
    assert not (tmp_path / "pwned").exists()


DEEP = "[" * 900 + "]" * 900
OF_TOOLS = ["langsmith", "langfuse", "phoenix", "promptfoo", "ragas", "ragchecker", "deepeval", "pytest"]
DOCUMENTS = [path for tool in OF_TOOLS for path in sorted((FILES / tool).glob("baseline*.json"))]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_value_nested_beyond_reason_ends_in_words(path, tmp_path):
    """Wherever it stands in the first records, it is an error of the file or left alone."""

    def places(value: object, levels: int) -> list[tuple[dict | list, object]]:
        if levels == 0 or not isinstance(value, dict | list):
            return []
        keys = list(value) if isinstance(value, dict) else list(range(min(len(value), 1)))
        return [(value, key) for key in keys] + [
            one for key in keys for one in places(value[key], levels - 1)
        ]

    value = json.loads(path.read_text(encoding="utf-8"))
    found = places(value, 5)
    assert found
    for holder, key in found:
        kept, holder[key] = holder[key], "DEEP"
        (tmp_path / path.name).write_text(json.dumps(value).replace('"DEEP"', DEEP))
        holder[key] = kept
        try:
            run = read_run(tmp_path / path.name)
            inspect_run(run)
        except InputError as error:
            assert path.name in str(error), key


def test_no_reader_evaluates_or_unpickles():
    refused = {"eval", "exec", "literal_eval", "compile", "__import__", "loads_pickle"}
    modules = {"pickle", "marshal", "shelve", "dill", "cloudpickle"}
    for path in sorted((ROOT / "src" / "gateline" / "readers").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = (
                    node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                )
                owner = getattr(getattr(node.func, "value", None), "id", "")
                assert name not in refused or owner == "re", f"{path.name}:{node.lineno} {name}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", "") or ""}
                assert not names & modules, f"{path.name}:{node.lineno}"


# 11 Members of a zip file that Python's own zipfile can't unpack


def test_members_compressed_by_zstandard_are_read():
    """Inspect's logs: method 93. The tool's own table of the same run has the same scores."""
    pytest.importorskip("zstandard")
    for side in SIDES:
        path = FILES / "inspect" / f"{side}.eval"
        with zipfile.ZipFile(path) as archive:
            assert {member.compress_type for member in archive.infolist()} == {93}
        log, table = read_run(path), read_run(FILES / "inspect" / f"{side}.samples_df.csv")
        assert set(log.metrics) == set(table.metrics)
        for name in log.metrics:
            np.testing.assert_equal(values_of(log, name), values_of(table, name))
