from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.field_names import guess_better, guess_kind, guess_unit, says_how_made, words_of
from gateline.inspection import inspect_run, render_text, to_json
from gateline.reports.escape import display_width
from gateline.samples import Column, MetricFacts, Run


def run_of(metrics=None, slices=None, fields=None, ids=None, **rest) -> Run:
    def columns(part) -> dict[str, Column]:
        return {
            name: np.array(values, dtype=float) if all(isinstance(v, float) for v in values) else list(values)
            for name, values in (part or {}).items()
        }

    size = len(next(iter((metrics or slices or fields or {"": ids}).values())))
    ids = ids or [f"q{row}" for row in range(size)]
    return Run("runs/a.jsonl", "0123" * 16, "gateline-jsonl", ids, np.arange(1, size + 1),
               metrics=columns(metrics), slices=columns(slices), fields=columns(fields), **rest)  # fmt: skip


def column(run: Run, name: str):
    return next(one for one in inspect_run(run).numbers if one.name == name)


NAN = float("nan")


def test_numbers_by_hand():
    found = column(run_of({"faithfulness": [0.25, 0.5, NAN, 1.0, 0.75, 0.0]}), "faithfulness")
    assert (found.values, found.missing) == (5, {"null": 1})
    assert (found.low, found.median, found.mean, found.high) == (0.0, 0.5, 0.5, 1.0)
    assert found.deviation == pytest.approx(math.sqrt((0.25 + 0.0625) * 2 / 4))
    assert found.p95 == pytest.approx(0.95)
    assert (found.kind, found.better, found.range, found.is_pass_fail) == (
        "score",
        "higher",
        (0.0, 1.0),
        False,
    )


def test_missing_by_cause():
    run = run_of(
        {"correct": [1.0, 0.0, NAN, 1.0, NAN, 1.0]},
        fields={
            "error": [None, "judge_failed", "no_answer", None, None, None],
            "cached": [False, False, False, True, False, False],
            "latency_ms": [5.0, 6.0, 7.0, 8.0, 9.0, 9.0],
            "cost_usd": [0.0, 0.1, 0.1, 0.1, NAN, 0.1],
            "tokens.total": [5.0, 5.0, 5.0, 5.0, 5.0, 5.0],
        },
    )
    assert column(run, "correct").missing == {"error": 1, "no_answer": 1, "null": 1}
    assert column(run, "latency_ms").missing == {"error": 1, "no_answer": 1, "cached": 1}
    assert column(run, "cost_usd").missing == {"price_unknown": 2, "error": 1, "no_answer": 1, "cached": 1}
    assert column(run, "cost_usd").values == 1
    warnings = inspect_run(run).warnings
    assert "1 record has an error and a score beside it, which is not used: q1" in warnings
    assert any(
        warning.startswith("cost_usd is 0 or empty for 2 records that spent tokens") for warning in warnings
    )


@pytest.mark.parametrize(
    ("values", "guess"),
    [
        ([0.0, 1.0, 0.5], (0.0, 1.0)),
        ([0.2, 1.0000000002], (0.0, 1.0)),
        ([1.0, 5.0, 3.0], (1.0, 5.0)),
        ([40.5, 99.0, 71.0], (0.0, 100.0)),
        ([-0.2, 0.7], (-1.0, 1.0)),
        ([-5.0, 200.0], None),
    ],
)
def test_the_range_is_guessed(values, guess):
    assert column(run_of({"accuracy": values}), "accuracy").range == guess


def test_what_is_odd():
    run = run_of(
        {
            "accuracy": [0.5] * 40,
            "recall": [0.5] * 30 + [50.0] * 10,
            "mrr": [NAN] * 40,
            "rating": ["4/5"] * 40,
        },
        fields={"judge": ["a"] * 20 + ["b"] * 20, "comma": ["0,91"] * 40, "quoted": ["1,234"] * 40},
        ids=["q1", "q1", *(f"q{row}" for row in range(2, 40))],
        warnings=("said by the reader",),
    )
    told = "\n".join(inspect_run(run).warnings)
    assert told.startswith("said by the reader\n")
    for part in (
        "judge is not the same for the whole run: a (20), b (20)",
        "1 id stands more than once and no field 'attempt' tells the records apart: q1",
        "accuracy is 0.5 in all 40 records",
        "recall goes up to 50 while 30 values are 1 or less: two scales?",
        "mrr has no usable value",
        "rating can't be a metric: 40 of 40 values of rating",
        "comma holds texts such as '0,91'",
        "quoted holds texts such as '1,234'",
    ):
        assert part in told, part


def test_nothing_is_odd_about_a_good_run():
    rng = np.random.default_rng(1)
    run = run_of(
        {"accuracy": rng.random(100).tolist()},
        {"lang": ["de", "en"] * 50},
        {"attempt": [1.0, 2.0] * 50, "judge": ["j"] * 100},
        ids=[f"q{row // 2}" for row in range(100)],
    )
    found = inspect_run(run)
    assert found.warnings == []
    assert (found.samples, found.distinct_ids, found.attempts) == (100, 50, 2)
    assert found.provenance == {"judge": "j"}


def test_labels_and_texts():
    rows = 60
    run = run_of(
        {"m": [1.0] * rows},
        {"lang": ["de"] * 40 + ["en"] * 15 + [None] * 5, "tags": [["x", "y"]] * 30 + [[]] * 30},
        {
            "question": [f"text {row}" for row in range(rows)],
            "topic": [f"t{row % 20}" for row in range(rows)],
        },
    )
    found = inspect_run(run)
    labels = {label.name: label for label in found.labels}
    assert (labels["lang"].counts, labels["lang"].blank, labels["lang"].is_slice) == (
        {"de": 40, "en": 15},
        5,
        True,
    )
    assert (labels["tags"].counts, labels["tags"].blank) == ({"x": 30, "y": 30}, 30)
    assert (labels["topic"].different, labels["topic"].is_slice) == (20, False)
    assert found.texts == ["question"]
    text = render_text(found)
    assert "lang: de 40, en 15, (none) 5" in text
    assert "and 8 more" in " ".join(text.split())


def test_the_terminal_text_as_a_whole():
    run = run_of(
        {"faithfulness": [0.5, 0.75, NAN], "answer_correct": [1.0, 0.0, 1.0]},
        {"lang": ["de", "de", "en"]},
        {"latency_ms": [812.0, 1500.0, 3000.0], "error": [None, None, "judge_failed"], "model": ["m-1"] * 3},
    )
    assert render_text(inspect_run(run), 60) == (
        "runs/a.jsonl\n"
        "  gateline-jsonl, 3 records, identified by 'id'\n"
        "  sha256 01230123012301230123012301230123…\n"
        "\n"
        "numbers               values missing    mean     min     max\n"
        "  faithfulness             2       1   0.625     0.5    0.75\n"
        "    missing: 1 with an error\n"
        "  answer_correct           2       1     0.5       0       1\n"
        "    missing: 1 with an error\n"
        "  latency_ms               2       1    1156     812    1500\n"
        "    missing: 1 with an error\n"
        "\n"
        "labels\n"
        "  lang: de 2, en 1\n"
        "  error: judge_failed 1, (none) 2\n"
        "\n"
        "the whole run\n"
        "  model: m-1\n"
        "\n"
        "to look at\n"
        "- 1 record has an error and a score beside it, which is not\n"
        "    used: q2\n"
        "- more than 2 % missing, which by default gives no verdict:\n"
        "    faithfulness, answer_correct: 1 of 3 (gateline init\n"
        "    allows for it)\n"
        "- 3 samples: a policy asks for 30 pairs unless it says\n"
        "    otherwise\n"
    )


def test_what_is_guessed_is_marked_and_a_count_is_no_pass_or_fail():
    """Whatever the file does not say itself; a count of 0 and 1 says nothing of passing."""
    run = run_of(
        {"recall": [0.0, 1.0, 1.0], "stated": [0.0, 1.0, 1.0], "claims": [0.0, 1.0, 1.0]},
        fields={"requests": [1.0, 0.0, 1.0]},
        metric_facts={"stated": MetricFacts("lower", (0.0, 1.0))},
    )
    lines = {
        line.split()[0]: line for line in render_text(inspect_run(run), 100).splitlines() if line.strip()
    }
    assert lines["recall"].endswith("higher, pass/fail ?")
    assert lines["stated"].endswith("lower, 0 to 1")
    assert "pass" not in lines["claims"] + lines["requests"]
    assert lines["?"] == "  ? guessed from names and values: the file does not say it"


hostile = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=30)


@given(hostile, hostile, hostile, st.integers(1, 200))
def test_any_text_stays_within_its_line(name, label, value, width):
    run = run_of(
        {name: [0.5, 1.0]}, {label: [value, value]}, {f"x{name}": [value, value]}, provenance={label: value}
    )
    text = render_text(inspect_run(run), width)
    assert all(
        character == "\n" or character.isprintable() or character in "\u2060\u200c\u200d"
        for character in text
    )
    if all(display_width(one) == len(one) for one in (name, label, value)):
        assert all(len(line) <= max(60, min(width, 120)) for line in text.split("\n"))


@given(st.lists(st.floats(), min_size=1, max_size=5), hostile)
def test_json_is_strict_and_whole(values, name):
    found = inspect_run(run_of({name: values}))
    data = json.loads(to_json(found), parse_constant=pytest.fail)
    assert data["samples"] == len(values)
    assert set(data) >= {"file", "sha256", "format", "numbers", "labels", "texts", "provenance", "warnings"}
    assert data["numbers"][0]["name"] == name


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("faithfulness", "higher"), ("recall@5", "higher"), ("ndcg@10", "higher"), ("MRR", "higher"), ("map", "higher"),
        ("answer_correct", "higher"), ("answerCorrectness", "higher"), ("pass_rate", "higher"), ("f1", "higher"),
        ("exact_match", "higher"), ("hit_rate@3", "higher"), ("refused_correctly", "higher"), ("reward", "higher"),
        ("context_relevancy", "higher"), ("factual_correctness(mode=f1)", "higher"), ("win_prob", "higher"),
        ("hallucination_rate", "lower"), ("severe_error", "lower"), ("toxicity", "lower"), ("latency_ms", "lower"),
        ("cost_usd", "lower"), ("tokens.input", "lower"), ("refused_wrongly", "lower"), ("unsupported_claims", "lower"),
        ("noise_sensitivity(mode=relevant)", "lower"), ("violations", "lower"),
        ("rating", None), ("bias", None), ("length", None), ("error_recall", None), ("mapping", None), ("", None),
    ],
)  # fmt: skip
def test_directions_by_name(name, better):
    assert guess_better(name) == better


def test_kinds_and_units_by_name():
    assert guess_kind("latency_ms", is_metric=True) == "time"
    assert guess_kind("total_cost", is_metric=False) == "cost"
    assert guess_kind("tokens.output", is_metric=False) == "tokens"
    assert guess_kind("unsupported_claims", is_metric=True) == "number"
    assert guess_kind("rating", is_metric=True) == "score"
    assert guess_kind("rating", is_metric=False) == "number"
    assert guess_kind("faithfulness", is_metric=False) == "score"
    assert (guess_unit("latency_ms"), guess_unit("cost_usd"), guess_unit("tokens")) == ("ms", "USD", None)
    assert says_how_made("judge.model")
    assert says_how_made("golden_set.version")
    assert not says_how_made("language")
    assert words_of("recallAt5") >= {"recall"}
