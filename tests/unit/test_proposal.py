from __future__ import annotations

import dataclasses
import datetime
import json
import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gateline
from gateline import check
from gateline.cli import run as run_command
from gateline.convert import write_jsonl
from gateline.errors import InputError
from gateline.inspection import inspect_run
from gateline.policy import Policy, read_policy
from gateline.proposal import propose_policy, workflow_text
from gateline.proposal.choices import ProposedMetric, choose_cluster, list_candidates
from gateline.proposal.repetition import drop_redundant
from gateline.proposal.tolerances import Sample, choose_tolerance
from gateline.proposal.yaml_words import quote, round_down, round_up, round_up_to_two_digits
from gateline.readers import read_run
from gateline.samples import Column, Run
from gateline.statistics import cluster_keys


def run_of(size: int = 60, *, metrics=None, slices=None, fields=None, **rest) -> Run:
    def columns(part) -> dict[str, Column]:
        return {
            name: np.array(values, dtype=float)
            if all(isinstance(v, int | float) for v in values)
            else list(values)
            for name, values in (part or {}).items()
        }

    ids, lines = [f"q{row}" for row in range(size)], np.arange(size) + 1
    return Run(
        "runs/baseline.jsonl", "0" * 64, "gateline-jsonl", ids, lines,
        metrics=columns(metrics), slices=columns(slices), fields=columns(fields), **rest,
    )  # fmt: skip


def rag_run() -> Run:
    rng = np.random.default_rng(7)
    size = 120
    return run_of(
        size,
        metrics={
            "answer_correct": (rng.random(size) < 0.8).astype(float).tolist(),
            "faithfulness": rng.random(size).tolist(),
            "hallucination_rate": rng.random(size).tolist(),
            "rating": rng.integers(1, 6, size).tolist(),
        },
        slices={"language": ["de"] * 70 + ["en"] * 40 + ["fr"] * 10, "one": ["x"] * size},
        fields={
            "latency_ms": np.linspace(100, 2000, size).tolist(),
            "cost_usd": [0.004] * size,
            "tokens": [900] * size,
            "doc_id": [f"d{row // 4}" for row in range(size)],
            "question": [f"what is {row}?" for row in range(size)],
        },
        provenance={
            "judge.model": "judge-4",
            "generator.model": "g",
            "golden_set.version": "v1",
            "app.commit": "b81d",
        },
    )


def propose(run: Run) -> Policy:
    return read_policy(propose_policy(run), "first.yml").policy


def test_a_rag_run():
    policy = propose(rag_run())
    assert policy.samples.cluster == "doc_id"
    assert policy.provenance.must_match == ["judge.model", "golden_set.version"]
    assert policy.provenance.may_change == ["generator.model", "app.commit"]
    assert {name: metric.better for name, metric in policy.metrics.items()} == {
        "answer_correct": "higher",
        "faithfulness": "higher",
        "hallucination_rate": "lower",
        "latency_p95": "lower",
        "cost": "lower",
    }
    assert policy.metrics["faithfulness"].range == (0, 1)
    assert (policy.metrics["latency_p95"].field, policy.metrics["latency_p95"].summary) == (
        "latency_ms",
        "p95",
    )
    assert (policy.metrics["cost"].field, policy.metrics["cost"].unit) == ("cost_usd", "USD")
    assert policy.slices.by == ["language"]
    rules = {rule.id: rule for rule in policy.rules}
    assert rules["latency_p95-line"].at_most.number == pytest.approx(
        2400, abs=0.1
    )  # 1.25 x 1905, to two digits
    assert rules["cost-line"].at_most.number == 0.005
    assert rules["answer_correct-by-slice"].slices is True


def test_what_is_not_known_is_said():
    text = propose_policy(rag_run())
    assert "# rating: {better: higher}  # or lower?" in text
    assert "# CAUTION: too few questions to be judged as a slice: language=fr (10)." in text
    assert "Further numbers: tokens" in text
    assert "25 % of head-room" in text


def test_few_questions_and_lost_scores_are_said():
    run = run_of(20, metrics={"faithfulness": [0.5] * 15 + [math.nan] * 5})
    text = propose_policy(run)
    assert "# faithfulness has 15 values." in text
    assert "CHECK: faithfulness has no value for 5 of 20 samples of this run (25.0%)" in text
    policy = read_policy(text, "first.yml").policy
    assert (policy.samples.at_least, policy.missing.drop_at_most) == (14, 0.3)


def test_what_too_many_records_lack_is_left_out_with_the_reason():
    run = run_of(
        60,
        metrics={"faithfulness": [0.5, 0.9] * 20 + [math.nan] * 20, "recall": [0.2, 0.9] * 30},
        fields={"undefined.faithfulness": [None] * 40 + ["no statements were given"] * 20},
    )
    text = propose_policy(run)
    assert (
        "# faithfulness: left out: no value in 33% of its samples, because no statements were given" in text
    )
    assert set(read_policy(text, "first.yml").policy.metrics) == {"recall"}


@pytest.mark.parametrize(
    ("without", "strays", "part"),
    [
        (5, 0, "answerable_true"),  # a twentieth, and the label tells each of them
        (12, 0, "answerable_true"),
        (30, 0, "answerable_true"),
        (12, 1, None),  # one that answers all the same: few are missing, and the label does not tell which
        (4, 0, None),  # so few may be chance
    ],
)
def test_a_metric_applies_where_a_label_tells_that_it_is_defined(without: int, strays: int, part: str | None):
    size = 120
    values = [float(row % 3 > 0) for row in range(size)]
    for row in range(without):
        values[row] = math.nan
    labels = ["true" if row >= without + strays else "false" for row in range(size)]
    policy = propose(run_of(size, metrics={"correct": values}, slices={"answerable": labels}))
    assert policy.metrics["correct"].applies_to == part
    if part is not None:
        assert policy.missing.drop_at_most <= 0.02 + 1e-9


def test_a_direction_that_nothing_tells_is_marked():
    text = propose_policy(run_of(40, fields={"zork": np.linspace(-3, 9, 40).tolist()}))
    assert "CHECK: the name does not say which way is better" in text
    assert read_policy(text, "first.yml").policy.metrics["zork"].better == "higher"


def test_nothing_to_judge():
    with pytest.raises(InputError, match="has no numbers"):
        propose_policy(run_of(3, fields={"answer": ["a", "b", "c"]}))


@pytest.mark.parametrize(
    "text", ["q1 Q0 d1 1 2.5 tag\nq2 Q0 d1 1 2.5 tag\n", "q1 0 d1 1\nq2 0 d1 1\n"], ids=["run", "labels"]
)
def test_a_file_that_has_its_numbers_only_with_another_one_is_told_how_to_get_them(text: str, tmp_path: Path):
    file = tmp_path / "rankings"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        propose_policy(read_run(file))
    assert "gateline score LABELS RUN" in str(caught.value)


def test_another_id_field_is_kept():
    assert propose(run_of(40, metrics={"recall": [0.5] * 40}, id_field="query id")).samples.id == "query id"


def test_labels_of_a_table_are_slices_but_not_outcomes_or_origins():
    fields = {
        "faithfulness": np.linspace(0, 1, 80).tolist(),
        "lang": ["de"] * 40 + ["en"] * 40,
        "error_type": ["a"] * 40 + ["b"] * 40,
        "model": ["a"] * 40 + ["b"] * 40,
        "answer": [f"text {row}" for row in range(80)],
    }
    assert propose(run_of(80, fields=fields)).slices.by == ["lang"]


def tolerance_of(values: list[float], name: str = "accuracy"):
    column = inspect_run(run_of(len(values), metrics={name: values})).numbers[0]
    sample = Sample(
        np.array(values), np.arange(len(values)), cluster_keys([f"q{row}" for row in range(len(values))])
    )
    return choose_tolerance(ProposedMetric(name, column, column.better or "higher"), sample)


@pytest.mark.parametrize("size", [30, 100, 1000, 20_000])
def test_tolerances_are_what_a_test_of_that_size_can_show(size):
    """Against the normal theory of the smallest detectable change with 80 % power at two-sided 5 %."""
    from scipy.stats import norm

    values = np.tile([0.0, 1.0, 1.0, 1.0, 1.0], size // 5 + 1)[:size].tolist()
    deviates = norm.ppf(0.975) + norm.ppf(0.8)
    detectable = deviates * np.std(values, ddof=1) / math.sqrt(size)
    tolerance = tolerance_of(values)
    assert tolerance.shows == pytest.approx(detectable, rel=0.01)
    if tolerance.is_widened:  # 30 equal pairs are shown equal to 10.8 points
        assert size == 30
        assert 0.108 < tolerance.bound <= 0.12
    elif detectable > 0.1:  # wider than a person would accept: how many would show the bound is told instead
        assert tolerance.bound == 0.1
        assert deviates * np.std(values, ddof=1) / math.sqrt(tolerance.needed) == pytest.approx(0.1, rel=0.01)
    else:
        assert 0.99 * detectable <= tolerance.bound <= 2.55 * detectable
        assert tolerance.needed is None


@given(
    st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=200),
    st.sampled_from(["accuracy", "hallucination"]),
)
def test_a_tolerance_leaves_room_to_fail(values, name):
    """The bound is at most a tenth of the range, or what few questions settle, and the run can fall by more."""
    tolerance = tolerance_of(values, name)
    room = float(np.mean(values)) if name == "accuracy" else 1 - float(np.mean(values))
    if tolerance is None:
        assert room == 0 or len(values) >= 30
        return
    assert 0 < tolerance.bound <= min(0.2 if tolerance.is_widened else 0.1, room)


def test_all_passed_is_not_certainty():
    assert 0.02 <= tolerance_of([1.0] * 50).bound <= 0.1
    constant = tolerance_of([7.0] * 50)
    assert (constant.bound, constant.is_share) == (0.1, True)


def test_one_number_is_held_by_its_value():
    alone = tolerance_of([0.6])
    assert (alone.bound, alone.by_value) == (0.02, True)


def test_clusters_are_fields_that_repeat():
    run = run_of(
        6,
        metrics={"recall": [1] * 6},
        fields={"group": ["a", "a", "b", None, None, "c"], "doc_id": list("abcdef")},
    )
    assert choose_cluster(run) == ("group", 5)
    assert choose_cluster(run_of(4, metrics={"recall": [1] * 4})) == (None, 4)


names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(str.strip)
numbers = st.floats(allow_nan=True, allow_infinity=False, width=32)


def is_unfit(run: Run, column) -> bool:
    """Say whether no policy could see this number fall: none, a time below 0, or the worst there is throughout."""
    if not column.values or column.refused or (column.kind in ("time", "cost") and column.low < 0):
        return True
    worst = 1.0 if column.better == "lower" else 0.0
    return column.range == (0.0, 1.0) and abs(column.mean - worst) < 1e-9


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    metrics=st.dictionaries(names, st.lists(numbers, min_size=3, max_size=3), max_size=4),
    label=names,
    word=names,
    fields=st.dictionaries(
        st.sampled_from(["latency_ms", "cost_usd", "accuracy", "cost"]),
        st.lists(numbers, min_size=3, max_size=3),
    ),
    name=names,
)
def test_any_run_gives_a_policy_that_loads(metrics, label, word, fields, name):
    run = run_of(
        120,
        metrics={key: np.tile(values, 40).tolist() for key, values in metrics.items()},
        slices={label: [word] * 60 + ["other"] * 60},
        fields={key: np.tile(values, 40).tolist() for key, values in fields.items()},
        provenance={label: word, "judge": word},
        id_field=name,
    )
    try:
        text = propose_policy(run, name=name)
    except InputError as error:
        assert all(is_unfit(run, column) for column in inspect_run(run).numbers), error
        return
    file = read_policy(text, "first.yml")
    assert file.policy.name == name
    known = {*metrics, *fields, "latency_p95"}
    assert {metric.field or key for key, metric in file.policy.metrics.items()} <= known


def test_a_run_passes_the_policy_proposed_from_it(tmp_path):
    run = rag_run()
    (tmp_path / "run.jsonl").write_text("".join(write_jsonl(run)), encoding="utf-8")
    (tmp_path / "policy.yml").write_text(propose_policy(run), encoding="utf-8")
    verdict = check(
        tmp_path / "policy.yml", tmp_path / "run.jsonl", tmp_path / "run.jsonl", on=datetime.date(2026, 1, 1)
    )
    assert verdict.verdict == "pass"
    assert len(verdict.findings) > 5


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12))
def test_quoted_texts_are_read_as_themselves(text):
    assert yaml.safe_load(quote(text)) == text
    assert yaml.safe_load(f"{{{quote(text)}: [{quote(text)}]}}") == {text: [text]}


@pytest.mark.parametrize(
    "word",
    ["yes", "NO", "on", "null", "y", "true", "1e3", "12", "2026-01-01", "-", "a: b", "a #b", "*x", "é"],
)
def test_words_that_yaml_would_misread(word):
    assert yaml.safe_load(quote(word)) == word


@given(st.floats(1e-12, 1e12))
def test_rounding_up(value):
    assert value / 2.5 * (1 - 1e-9) <= round_down(value) <= value * (1 + 1e-9)
    for rounded, most in ((round_up(value), 2.5), (round_up_to_two_digits(value), 1.1)):
        assert value * (1 - 1e-9) <= rounded <= value * most * (1 + 1e-9)
    digits = f"{round_up(value):.6e}".partition("e")[0]
    assert float(digits) in (1, 2, 5)
    assert len(f"{round_up_to_two_digits(value):.9e}".partition("e")[0].rstrip("0").replace(".", "")) <= 2


def test_the_workflow():
    """It hands the action what it takes, holds against the base branch's baseline, and installs no package by name."""
    text = workflow_text("gates/ü: x.yml", candidate="out/run.jsonl")
    workflow = yaml.safe_load(text)
    job = workflow["jobs"]["gate"]
    assert workflow["permissions"] == {}
    (gate,) = [step for step in job["steps"] if step.get("id") == "gate"]
    assert gate["uses"] == f"OWNER/gateline@v{gateline.__version__}"
    assert gate["with"] == {
        "policy": "gates/ü: x.yml",
        "baseline": "base/results/baseline.jsonl",
        "candidate": "out/run.jsonl",
    }
    action = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8"))
    assert set(gate["with"]) <= set(action["inputs"])
    (base,) = [step["with"] for step in job["steps"] if step.get("with", {}).get("path") == "base"]
    assert base["ref"] == "${{ github.event.merge_group.base_sha || github.base_ref }}"
    for step in job["steps"]:
        assert "${{" not in step.get("run", "")  # nothing is pasted into a shell line
        assert "pip install" not in step.get("run", "")
        if "uses" in step and step is not gate:
            action, _, commit = step["uses"].partition("@")
            assert action.startswith("actions/")
            assert len(commit) == 40
            assert int(commit, 16)
    json.dumps(workflow["jobs"])


def test_what_says_the_same_again_is_left_out_with_the_reason_and_the_deepest_rank_stays():
    rng = np.random.default_rng(3)
    first, deep = rng.random(80).round(1).tolist(), rng.random(80).round(2).tolist()
    metrics = {
        "precision_at_1": first,
        "recall_at_1": first,
        "candidate_recall": deep,
        "recall_at_5": deep,
        "ndcg_at_1": first,
        "faithfulness": rng.random(80).round(1).tolist(),
    }
    slices = {"topic": ["a"] * 40 + ["b"] * 40, "twin": ["x"] * 40 + ["y"] * 40, "one": ["z"] * 80}
    text = propose_policy(run_of(80, metrics=metrics, slices=slices))
    policy = read_policy(text, "first.yml").policy
    assert set(policy.metrics) == {"recall_at_5", "ndcg_at_1", "faithfulness"}
    assert "precision_at_1: left out: the same values as ndcg_at_1 in all samples" in text
    assert policy.slices.by == ["topic"]


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=30, max_size=60))
@settings(max_examples=25, deadline=None)
def test_a_pass_that_its_parts_decide_is_no_metric_of_its_own_and_one_that_they_contradict_is(parts):
    parts = [*parts, (10, 10)]  # which passes, and fails in the contradiction, though nothing is better
    one, two = (np.array(column) / 10 for column in zip(*parts, strict=True))
    derived = ((one >= 0.5) & (two >= 0.3)).astype(float)
    if derived.min() == derived.max() or any(np.array_equal(derived, part) for part in (one, two)):
        return
    for passed, follows in ((derived, True), (1 - derived, False)):
        told: dict[str, str] = {}
        run = run_of(
            len(parts),
            metrics={"pass": passed.tolist(), "relevance": one.tolist(), "faithfulness": two.tolist()},
        )
        run = dataclasses.replace(run, format="promptfoo")  # whose pass is made of its scores
        kept = drop_redundant(list_candidates(inspect_run(run).numbers), run, told)
        assert ("pass" in {metric.name for metric in kept}) != follows
        assert ("follows from the other scores" in told.get("pass", "")) == follows


def test_tests_that_all_fail_by_what_they_scored_nothing_for_are_blocked_by_a_first_policy(tmp_path: Path):
    """A test that failed by a low score in one run may fail by anything in the next: its outcome is judged too."""

    def report(name: str, *, broken: bool) -> Path:
        cases = ""
        for number in range(60):
            low = number % 12 == 0
            failure = '<failure message="AssertionError">why</failure>' if low or broken else ""
            cases += (
                f'<testcase classname="t" name="q{number}"><properties><property name="word_recall" '
                f'value="{0.2 if low else 0.5 + number / 200}"/></properties>{failure}</testcase>'
            )
        file = tmp_path / name
        file.write_text(f'<testsuites><testsuite name="pytest">{cases}</testsuite></testsuites>')
        return file

    baseline = report("baseline.xml", broken=False)
    policy = tmp_path / "policy.yml"
    policy.write_text(propose_policy(read_run(baseline)))
    day = datetime.date(2026, 12, 1)
    assert check(policy, baseline, baseline, on=day).verdict == "pass"
    assert check(policy, baseline, report("candidate.xml", broken=True), on=day).verdict == "fail"


@pytest.mark.parametrize("lacking", [0, 2])
@pytest.mark.parametrize("failing", [0, 1, 4, 8, 40])
def test_a_candidate_whose_requests_fail_has_a_verdict_where_times_and_costs_are_judged(
    tmp_path, lacking, failing
):
    """Failed requests have neither; that must not end without a verdict, nor let more scores go missing unseen."""

    def write(name: str, fails: int, bare: int) -> Path:
        rows = []
        for row in range(60):
            record = {"id": f"q{row}", "metrics": {"correct": float(row % 6 > 0)}}
            record |= {"latency_ms": 500 + 7 * row, "cost_usd": 0.002 + row * 1e-5} if row >= bare else {}
            rows.append(
                {"id": f"q{row}", "metrics": {}, "error": "no_answer"} if row >= 60 - fails else record
            )
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    baseline = write("before.jsonl", 0, lacking)
    text = propose_policy(read_run(baseline))
    policy = tmp_path / "p.yml"
    policy.write_text(text, encoding="utf-8")
    proposed = read_policy(text, "p.yml").policy
    assert proposed.missing.drop_at_most == (0.1 if lacking else 0.02)
    assert ("requests of this run have no time or no cost" in text) == bool(lacking)
    assert all(
        (metric.worst is None) == (bool(lacking) or name == "correct")
        for name, metric in proposed.metrics.items()
    )
    found = check(policy, baseline, write("after.jsonl", failing, lacking), on=datetime.date(2026, 1, 5))
    if not lacking:
        assert found.verdict == ("pass" if failing <= 1 else "fail")
        assert not [part for part in found.pairing.no_answer if part.counted_as != "worst"]


@pytest.mark.parametrize(
    "fields", [{}, {"cost_usd": np.linspace(0.1, 0.2, 60).tolist()}], ids=["scores", "a cost"]
)
def test_no_more_may_be_left_out_than_the_default_where_nothing_is_missing(fields):
    run = run_of(60, metrics={"faithfulness": np.linspace(0, 1, 60).tolist()}, fields=fields)
    assert propose(run).missing.drop_at_most == 0.02
    assert "the default, as this run lacks so little" in propose_policy(run)


def test_few_questions_are_told_at_the_top_from_which_loss_on_they_catch_one():
    text = propose_policy(run_of(30, metrics={"faithfulness": np.linspace(0, 1, 30).tolist()}))
    assert "# 30 independent questions catch a loss of about " in text.partition("version: 1")[0]
    many = propose_policy(run_of(900, metrics={"faithfulness": np.linspace(0, 1, 900).tolist()}))
    assert "can't settle less" not in many


@pytest.mark.parametrize("size", [2, 5, 29, 30, 60])
def test_a_policy_made_of_too_few_questions_says_so_first_and_does_not_let_one_decide(size, tmp_path, capsys):
    """In its head and on the terminal; from 30 on, the least that a policy asks for by default, nothing is said."""
    rows = [{"id": f"q{n}", "metrics": {"correct": int(n != 1), "faithfulness": 0.5}} for n in range(size)]
    for name, records in (("run", rows), ("one", rows[-1:])):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    policy = tmp_path / "p.yml"
    assert run_command(["init", str(tmp_path / "run.jsonl"), "-o", str(policy)]) == 0
    told = capsys.readouterr().err
    head = policy.read_text(encoding="utf-8").partition("version: 1")[0]
    for text in (told, head):
        assert (f"CAUTION: {size} questions are too few to gate with" in text) == (size < 30)
    day = datetime.date(2026, 1, 5)
    for name, verdict in (("run", "pass"), ("one", "invalid")):
        assert check(policy, *[tmp_path / f"{name}.jsonl"] * 2, on=day).verdict == verdict


@pytest.mark.parametrize("size", [2, 7, 9, 12, 15, 20, 25, 29, 30, 40])
@pytest.mark.parametrize("score", [0.5, 0.9, 0.97])
def test_no_slice_of_a_first_policy_can_collapse_unseen(size, score, tmp_path, capsys):
    """Each value of a label is judged, so that a collapse there blocks, or it is named in the policy and by init."""
    rng = np.random.default_rng(size)
    risk = ["high"] * size + ["low"] * 160
    rows = [
        {
            "id": f"q{n}",
            "slices": {"risk": name},
            "metrics": {"correct": float(rng.random() < score or n == 0)},
        }
        for n, name in enumerate(risk)
    ]
    worse = [row if name == "low" else {**row, "metrics": {"correct": 0.0}} for row, name in zip(rows, risk)]  # noqa: B905
    for name, records in (("run", rows), ("worse", worse)):
        text = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    policy = tmp_path / "p.yml"
    assert run_command(["init", str(tmp_path / "run.jsonl"), "-o", str(policy)]) == 0
    told, text = capsys.readouterr().err, policy.read_text(encoding="utf-8")
    assert check(policy, *[tmp_path / "run.jsonl"] * 2, on=datetime.date(2026, 1, 5)).verdict == "pass"
    is_named = f"risk=high ({size})" in told
    assert is_named == (f"risk=high ({size})" in text)
    if size >= read_policy(text, "p.yml").policy.slices.at_least:
        assert not is_named
        found = check(policy, tmp_path / "run.jsonl", tmp_path / "worse.jsonl", on=datetime.date(2026, 1, 5))
        blocking = [one for one in found.findings if one.slice == "risk=high" and one.blocks]
        before = sum(row["metrics"]["correct"] for row in rows[:size]) / size
        assert blocking or before < 0.9  # half of a slice that was half right to begin with is a smaller loss
    else:
        assert is_named


def test_a_slice_of_twenty_is_judged_where_they_can_show_a_collapse():
    metrics = {"correct": [1.0] * 18 + [0.0] * 2 + ([1.0] * 9 + [0.0]) * 18}
    text = propose_policy(run_of(200, metrics=metrics, slices={"risk": ["high"] * 20 + ["low"] * 180}))
    assert read_policy(text, "first.yml").policy.slices.at_least == 20
    assert "CAUTION" not in text


@pytest.mark.parametrize("values", [10, 20, 29, 30, 45])
def test_a_metric_of_few_questions_does_not_lower_what_all_are_asked_for(values):
    """Of a run of many it is left out and named; a run as small as it is asks for what it has."""
    scores = [1.0, 1.0, 0.0] * 200
    rare = [*scores[:values], *[math.nan] * (200 - values)]
    kinds = ["rare"] * values + ["usual"] * (200 - values)
    many = run_of(200, metrics={"answer_correct": scores[:200], "faithfulness": rare}, slices={"kind": kinds})
    policy = propose(many)
    assert policy.samples.at_least >= 29
    assert ("faithfulness" in policy.metrics) == (values >= 30)
    if values < 30:
        assert f"a value for {values} samples only, where a check asks for 30" in propose_policy(many)
    few = run_of(values, metrics={"faithfulness": scores[:values]})
    assert propose(few).samples.at_least in (values, values - 1, 30)


@pytest.mark.parametrize("size", [2, 3, 9])
def test_one_value_of_several_questions_makes_no_policy(size):
    """Else `samples.at_least` would be 1, and whatever one question says would pass."""
    run = run_of(size, metrics={"answer_correct": [1.0] + [math.nan] * (size - 1)})
    with pytest.raises(InputError, match="no numbers that a policy could judge"):
        propose_policy(run)
