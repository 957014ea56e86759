from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, FORMATS, judge, write_policies
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.inspection import inspect_run
from gateline.policy import load_policy
from gateline.readers import read_run, readers

SCOPE = FILES / "evalscope"
RUNS = ["baseline", "candidate", "v1_baseline", "v1_candidate"]
POLICY = """\
version: 1
name: gate
samples: {at_least: 1}
metrics: {Rouge-L-R: {better: higher, range: [0, 1]}}
rules: [{id: holds, kind: tolerance, metric: Rouge-L-R, worse_by_at_most: 0.3}]
"""


def report_of(run: str) -> dict:
    (path,) = (SCOPE / run / "reports").rglob("*.json")
    return json.loads(path.read_text())


def reviews_of(run: str) -> list[dict]:
    return [
        json.loads(line)
        for path in sorted((SCOPE / run / "reviews").rglob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]


def review(index: int, subset_value: dict, **more) -> dict:
    score = {"value": subset_value, "prediction": "a", "metadata": {}} | more.pop("score", {})
    sample = {"score": score, "sample_id": index, "group_id": index, "sample_metadata": {}} | more
    return {"index": index, "target": "t", "input": f"**User**: \nQ{index}", "sample_score": sample}


def write_reviews(folder: Path, *lines: dict, name: str = "qa_default") -> Path:
    path = folder / "reviews" / "m" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def copy_run(run: str, folder: Path) -> Path:
    return shutil.copytree(SCOPE / run, folder / run)


@pytest.mark.parametrize("run_name", RUNS)
def test_means_of_samples_are_those_of_the_report(run_name):
    """Each metric of the report over each subset, to its four decimals, and over all, which it sums up from these."""
    run = read_run(SCOPE / run_name)
    subsets = np.array(run.texts("subset"))
    compared = 0
    for metric in report_of(run_name)["metrics"]:
        identity = metric.get("identity")
        key = metric["name"] if identity is None else identity["name"] + ":" + identity["aggregation"]
        if identity and identity["dimensions"]:
            key += "[" + ",".join(f"{k}={v}" for k, v in sorted(identity["dimensions"].items())) + "]"
        values = run.numbers(key)
        if key.startswith("bleu"):
            assert np.isnan(values).all()  # the report has 0: not computed
            continue
        assert np.nanmean(values) == pytest.approx(metric["score"], abs=1.1e-4)
        for category in metric["categories"]:
            for subset in category["subsets"]:
                chosen = values[(subsets == subset["name"]) & ~np.isnan(values)]
                assert len(chosen) == subset["num"]
                assert chosen.mean() == pytest.approx(subset["score"], abs=5.1e-5)
                compared += 1
    assert compared == 45


@pytest.mark.parametrize("run_name", RUNS)
def test_every_score_of_every_sample(run_name):
    run = read_run(SCOPE / run_name)
    found = {
        (question, name): run.numbers(name)[row]
        for row, question in enumerate(run.texts("question"))
        for name in run.metrics
    }
    for line in reviews_of(run_name):
        asked = (
            line["messages"][0]["content"]
            if "messages" in line
            else line["input"].removeprefix("**User**: \n")
        )
        for name, value in line["sample_score"]["score"]["value"].items():
            np.testing.assert_equal(found[asked, name], np.nan if name.startswith("bleu") else value)


def test_latency_and_tokens_are_those_of_the_report():
    run = read_run(SCOPE / "baseline")
    perf = report_of("baseline")["perf_metrics"]["summary"]
    seconds = run.numbers("latency_ms") / 1000
    assert seconds.mean() == pytest.approx(perf["latency"]["mean"], abs=1e-4)
    assert seconds.max() == pytest.approx(perf["latency"]["max"], abs=1e-6)
    assert run.numbers("tokens.input").sum() == perf["usage"]["total_input_tokens"]
    assert run.numbers("tokens.output").sum() == perf["usage"]["total_output_tokens"]
    assert "latency_ms" not in read_run(SCOPE / "v1_baseline").fields


def test_what_is_said_of_a_run():
    run = read_run(SCOPE / "baseline")
    assert (run.format, run.format_version, run.id_field) == (
        "evalscope",
        "1.14.1",
        "dataset, subset and index",
    )
    assert run.provenance["model"] == "rag-baseline"
    assert run.provenance["evaluation_version.general_qa"] == "v1.1"
    assert not any("key" in name or "url" in name for name in run.provenance)
    assert run.find_facts("Rouge-L-R").range == (0, 1)
    assert read_run(SCOPE / "v1_baseline").find_facts("Rouge-L-R") is None
    assert set(run.labels("subset")) == {("hr",), ("it",), ("operations",), ("finance",), ("customer",)}
    assert run.place(0).endswith("general_qa_customer.jsonl:2")


def test_a_zero_that_stands_for_an_error_is_no_score(tmp_path):
    run = read_run(SCOPE / "baseline")
    for name in ("bleu-1", "bleu-4"):
        assert np.isnan(run.numbers(name)).all()
    (told,) = [warning for warning in run.warnings if "could not compute a metric" in warning]
    assert "bleu-1 30x" in told
    assert "LookupError" in told
    errors = {"metadata": {"metric_errors": {"acc": "boom"}}}
    write_reviews(
        tmp_path, review(0, {"acc": 0.0, "accuracy": 0.0, "acc-2": 0.0}, score=errors), review(1, {"acc": 1})
    )
    run = read_run(tmp_path)
    np.testing.assert_array_equal(run.numbers("acc"), [np.nan, 1])
    np.testing.assert_array_equal(run.numbers("acc-2"), [np.nan, np.nan])
    np.testing.assert_array_equal(run.numbers("accuracy"), [0, np.nan])


def test_a_lost_sample_is_no_answer_where_the_report_tells_it():
    run = read_run(SCOPE / "candidate")
    failed = [run.ids[row] for row, error in enumerate(run.fields["error"]) if error]
    assert failed == ["general_qa/customer/2"]
    assert run.fields["error"].count("no_answer") == 1


def test_a_lost_sample_counts_as_the_worst(tmp_path):
    verdict = judge(POLICY, SCOPE / "baseline", SCOPE / "candidate", tmp_path)
    assert verdict.verdict in {"pass", "fail"}
    (left,) = [one for one in verdict.pairing.no_answer if one.run == "candidate"]
    assert (left.ids, left.counted_as) == (["general_qa/customer/2"], "worst")
    kept = [line["sample_score"]["score"]["value"]["Rouge-L-R"] for line in reviews_of("candidate")]
    assert verdict.findings[0].candidate == pytest.approx(sum(kept) / 30)


def test_a_lost_sample_of_schema_1_ends_in_no_verdict(tmp_path):
    verdict = judge(POLICY, SCOPE / "v1_baseline", SCOPE / "v1_candidate", tmp_path)
    assert verdict.verdict == "invalid"
    assert "general_qa/customer/2" in verdict.because[0]


def test_gaps_that_do_not_settle_who_failed_are_told(tmp_path):
    folder = copy_run("candidate", tmp_path)
    (path,) = (folder / "reports").rglob("*.json")
    report = json.loads(path.read_text())
    report["execution_summary"]["subsets"]["customer"]["errored"] = 2
    path.write_text(json.dumps(report))
    run = read_run(folder)
    assert len(run) == 29
    assert any("2 samples of the subset customer failed" in warning for warning in run.warnings)


def test_both_generations_pair_and_have_the_same_scores(tmp_path):
    old, new = read_run(SCOPE / "v1_baseline"), read_run(SCOPE / "baseline")
    assert old.ids == new.ids
    assert old.texts("question") == new.texts("question")
    for name in old.metrics:
        np.testing.assert_allclose(old.numbers(name), new.numbers(name), atol=1e-12)
    policy = POLICY.replace("Rouge-L-R: {", 'Rouge-L-R: {field: "rouge:mean[statistic=recall,variant=l]", ')
    assert judge(policy, SCOPE / "baseline", SCOPE / "baseline", tmp_path).verdict == "pass"


def test_order_of_lines_is_nothing(tmp_path):
    folder = copy_run("baseline", tmp_path)
    for path in folder.rglob("*.jsonl"):
        lines = path.read_text().splitlines()
        random.Random(3).shuffle(lines)
        path.write_text("\n".join(lines) + "\n")
    before, after = read_run(SCOPE / "baseline"), read_run(folder)
    assert before.ids == after.ids
    for name in [*before.metrics, "latency_ms"]:
        np.testing.assert_array_equal(before.numbers(name), after.numbers(name))


def test_of_samples_written_twice_the_last_counts(tmp_path):
    write_reviews(tmp_path, review(0, {"acc": 0}), review(1, {"acc": 1}), review(0, {"acc": 0.5}))
    run = read_run(tmp_path)
    assert run.numbers("acc").tolist() == [0.5, 1]
    assert any("1 sample stands twice" in warning for warning in run.warnings)


def test_repeats_are_attempts(tmp_path):
    lines = [
        review(2 * group + attempt, {"acc": float(attempt)}, group_id=group, generation_index=attempt)
        for group in range(2)
        for attempt in range(2)
    ]
    write_reviews(tmp_path, *lines)
    run = read_run(tmp_path)
    assert run.ids == ["qa_default/0", "qa_default/0", "qa_default/1", "qa_default/1"]
    assert run.texts("attempt") == ["1", "2", "1", "2"]
    for line in lines:
        del line["sample_score"]["generation_index"]
    write_reviews(tmp_path, *lines)
    assert read_run(tmp_path).texts("attempt") == ["1", "2", "1", "2"]


@pytest.mark.parametrize(
    ("status", "is_used"),
    [("success", True), ("fallback", True), ("degraded", True), ("parse_error", False), ("transport_error", False),
     ("invalid_session", False), ("excluded", False)],
)  # fmt: skip
def test_statuses_of_a_score(tmp_path, status, is_used):
    write_reviews(tmp_path, review(0, {"acc": True}, score={"status": status}), review(1, {"acc": 0}))
    run = read_run(tmp_path)
    np.testing.assert_array_equal(run.numbers("acc"), [1.0 if is_used else np.nan, 0])
    assert run.texts("error") == (None if is_used else [status, ""])
    assert bool(run.warnings) == (status in {"fallback", "degraded"})


def test_predictions_without_a_review_and_with_an_error(tmp_path):
    write_reviews(tmp_path, review(0, {"acc": 1}), review(1, {"acc": 0}))
    path = tmp_path / "predictions" / "m" / "qa_default.jsonl"
    path.parent.mkdir(parents=True)
    outputs = [
        {"choices": [], "time": 0.5, "error": None, "usage": {"total_tokens": 3}},
        {"choices": [], "time": None, "error": "HTTP 500", "perf_metrics": {"latency": 0.25}},
        {"choices": [], "time": 1.0, "error": None},
    ]
    path.write_text(
        "".join(json.dumps({"index": n, "model_output": out}) + "\n" for n, out in enumerate(outputs))
    )
    run = read_run(tmp_path)
    np.testing.assert_array_equal(run.numbers("acc"), [1, np.nan, np.nan])
    np.testing.assert_array_equal(run.numbers("latency_ms"), [500, 250, 1000])
    assert run.texts("error") == ["", "no_answer", "not_scored"]
    alone = read_run(path)
    assert not alone.metrics
    assert alone.ids == ["qa_default/0", "qa_default/1", "qa_default/2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"index": "0", "sample_score": {"score": {"value": {}}, "sample_id": 0}}',
            "index must be a whole number",
        ),
        (
            '{"index": 0, "sample_score": {"score": {"value": null}, "sample_id": 0}}',
            "has no sample_score.score.value",
        ),
        ('{"index": 0, "sample_score": {"sc', "is not JSON"),
    ],
)
def test_a_review_that_is_wrong_is_placed(tmp_path, line, message):
    path = write_reviews(tmp_path, review(0, {"acc": 1}))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match=rf"qa_default\.jsonl:2: {message}"):
        read_run(tmp_path)


def test_subsets_and_datasets_with_underscores(tmp_path):
    folder = copy_run("baseline", tmp_path)
    (path,) = (folder / "reviews").glob("*/general_qa_hr.jsonl")
    path.rename(path.with_name("general_qa_human_resources.jsonl"))
    shutil.rmtree(folder / "predictions")
    run = read_run(folder)
    assert ("human_resources",) in run.labels("subset")
    assert set(run.labels("dataset")) == {("general_qa",)}


def test_another_judge_is_not_compared(tmp_path):
    folders = [copy_run("baseline", tmp_path / side) for side in ("a", "b")]
    for folder, model in zip(folders, ("judge-1", "judge-2"), strict=True):
        path = folder / "configs" / "task_config.yaml"
        path.write_text(path.read_text().replace("models: []", f"models: [{{model_id: {model}}}]"))
    verdict = judge(POLICY, *folders, tmp_path)
    assert verdict.verdict == "invalid"
    assert "judge is 'judge-1' in the baseline and 'judge-2' in the candidate" in verdict.because[0]
    allowed = judge(POLICY + "provenance: {may_change: [judge]}\n", *folders, tmp_path)
    assert allowed.verdict == "pass"


@pytest.mark.parametrize(
    ("before", "after", "fact"),
    [
        ("evaluation_version: v1.1", "evaluation_version: v2", "evaluation_version.general_qa"),
        ("evalscope_version: 1.14.1", "evalscope_version: 2.0.0", "evalscope_version"),
    ],
)
def test_another_version_of_the_evaluation_is_not_compared(tmp_path, before, after, fact):
    folder = copy_run("baseline", tmp_path)
    path = folder / "configs" / "task_config.yaml"
    path.write_text(path.read_text().replace(before, after))
    verdict = judge(POLICY, SCOPE / "baseline", folder, tmp_path)
    assert verdict.verdict == "invalid"
    assert verdict.because[0].count(fact) >= 1


def test_another_question_under_one_index_is_not_compared(tmp_path):
    before = write_reviews(tmp_path / "a", review(0, {"Rouge-L-R": 1}), review(1, {"Rouge-L-R": 1}))
    lines = [review(0, {"Rouge-L-R": 1}), review(1, {"Rouge-L-R": 1}) | {"input": "**User**: \nother"}]
    after = write_reviews(tmp_path / "b", *lines)
    verdict = judge(POLICY, before, after, tmp_path)
    assert "has another question in the candidate: 'other'" in verdict.because[0]


@pytest.mark.parametrize("run_name", ["candidate", "v1_candidate"])
def test_a_report_alone(run_name):
    (path,) = (SCOPE / run_name / "reports").rglob("*.json")
    run, report = read_run(path), report_of(run_name)
    assert run.ids == [f"general_qa/{name}" for name in ("hr", "it", "operations", "finance", "customer")]
    metric = next(one for one in report["metrics"] if "Rouge-L-R" in json.dumps(one) or
                  one.get("identity", {}).get("dimensions") == {"statistic": "recall", "variant": "l"})  # fmt: skip
    expected = [subset["score"] for subset in metric["categories"][0]["subsets"]]
    assert run.numbers("Rouge-L-R").tolist() == expected
    assert any("means of subsets and no samples" in warning for warning in run.warnings)
    failed = [warning for warning in run.warnings if "1 of 30 samples failed" in warning]
    assert len(failed) == (run_name == "candidate")


@pytest.mark.parametrize("run_name", RUNS)
@settings(max_examples=8, deadline=None)
@given(chosen=st.sets(st.integers(0, 28), min_size=1, max_size=6), is_lost=st.booleans())
def test_failures_hidden_in_reviews_give_no_verdict(run_name, chosen, is_lost, tmp_path_factory):
    """Raised or taken away in the reviews, while the report of the same run has the means of before."""
    folder = copy_run(run_name, tmp_path_factory.mktemp("hidden"))
    place = 0
    for path in sorted((folder / "reviews").rglob("*.jsonl")):
        kept = []
        for line in map(json.loads, path.read_text().splitlines()):
            value = line["sample_score"]["score"]["value"]
            if place not in chosen:
                kept.append(line)
            elif not is_lost or len(kept) == 0:  # of each subset one stays
                value["Rouge-L-R"] = value["Rouge-L-R"] + 0.5
                kept.append(line)
            place += 1
        path.write_text("".join(json.dumps(line) + "\n" for line in kept))
    with pytest.raises(InputError) as caught:
        read_run(folder)
    assert "by its reviews in general_qa/" in str(caught.value) or "have a review in general_qa/" in str(
        caught.value
    )


@pytest.mark.parametrize("run_name", RUNS)
def test_the_report_is_held_only_against_what_it_is_of(run_name, tmp_path):
    """Sums of subsets, another aggregation, and metrics that could not be computed are no contradiction."""
    folder = copy_run(run_name, tmp_path)
    (path,) = (folder / "reports").rglob("*.json")
    report = json.loads(path.read_text())
    for metric in report["metrics"]:
        metric["categories"][0]["subsets"].append(
            {"name": "all", "score": 0.99, "num": 99, "is_aggregate": True}
        )
        if "identity" in metric and metric["identity"]["dimensions"].get("variant") == "l":
            metric["identity"]["aggregation"] = "max"
            (category,) = metric["categories"]
            category["subsets"][0]["score"] = 1.0
            parts = [
                one for one in category["subsets"] if "is_aggregate" not in one or not one["is_aggregate"]
            ]
            category["score"] = round(sum(one["score"] * one["num"] for one in parts) / category["num"], 4)
    path.write_text(json.dumps(report))
    assert len(read_run(folder)) == len(read_run(SCOPE / run_name))


def change_report(folder: Path, errored: int | None, num: int) -> Path:
    """Write the real report with so many of 8 samples of the first subset failed, or just a mean of fewer."""
    report = report_of("baseline")
    if errored is not None:
        report["execution_summary"]["subsets"]["hr"] = {
            "requested": 8, "succeeded": 8 - errored, "errored": errored,
        }  # fmt: skip
    for metric in report["metrics"]:
        metric["categories"][0]["subsets"][0]["num"] = num
    (folder / "c.json").write_text(json.dumps(report))
    return folder / "c.json"


@pytest.mark.parametrize(
    ("errored", "num", "most", "message"),
    [
        (0, 8, "0%", ""),
        (7, 1, "2%", "is missing for 1 of 5 samples (17.5%)"),
        (7, 1, "20%", ""),
        (1, 7, "2%", "is missing for 1 of 5 samples (2.5%)"),
        (None, 1, "100%", "n_samples is '8' in the baseline and '1' in the candidate"),
    ],
)
def test_a_report_alone_says_of_how_many_its_means_are(tmp_path, errored, num, most, message):
    (before,) = (SCOPE / "baseline" / "reports").rglob("*.json")
    after = change_report(tmp_path, errored, num)
    policy = POLICY + f"missing: {{drop_at_most: {most}}}\n"
    verdict = judge(policy, before, after, tmp_path)
    assert (verdict.verdict == "invalid") == bool(message), verdict.because
    assert message in verdict.because[0]
    columns = {column.name: column for column in inspect_run(read_run(after)).numbers}
    assert columns["n_samples"].is_diagnosis


def test_metrics_of_one_subset_over_other_numbers_of_samples(tmp_path):
    path = change_report(tmp_path, 0, 8)
    report = json.loads(path.read_text())
    report["metrics"][-1]["categories"][0]["subsets"][0]["num"] = 3
    path.write_text(json.dumps(report))
    told = read_run(path).texts("n_samples")
    assert told[1:] == ["6", "6", "5", "5"]
    assert "3 of rouge" in told[0]
    assert "8 of rouge" in told[0]


def test_aggregates_among_the_subsets_are_left_out(tmp_path):
    (source,) = (SCOPE / "baseline" / "reports").rglob("*.json")
    report = json.loads(source.read_text())
    for metric in report["metrics"]:
        metric["categories"][0]["subsets"].append(
            {"name": "all", "score": 0.5, "num": 30, "is_aggregate": True}
        )
    (tmp_path / "r.json").write_text(json.dumps(report))
    assert "general_qa/all" not in read_run(tmp_path / "r.json").ids
    report["schema_version"] = 3
    (tmp_path / "r.json").write_text(json.dumps(report))
    with pytest.raises(InputError, match="report schema 3 is not known"):
        read_run(tmp_path / "r.json")


def test_several_models_or_runs_are_no_run(tmp_path):
    copy_run("baseline", tmp_path)
    copy_run("candidate", tmp_path)
    with pytest.raises(InputError, match="holds 2 runs: baseline, candidate"):
        read_run(tmp_path)
    write_reviews(tmp_path / "baseline", review(0, {"acc": 1}))
    with pytest.raises(InputError, match="holds the results of 2 models: m, rag-baseline"):
        read_run(tmp_path / "baseline")


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)
ODD = ["seed: 2026-13-45\n", f"seed: {'9' * 5000}\n", "seed: 0777\n", "seed: !!python/name:x 1\n", "? [a]\n: 1\n",
       "datasets: [{a: 1}]\njudge: 3\ngeneration_config: [1]\n", "resolved_benchmarks: {1: 2}\n",
       "judge_model_args: {model_id: [1]}\n"]  # fmt: skip
UNREADABLE = [f"seed: {'[' * 5000}\n", f"{BOMB}datasets: *a9\n", "a: &a [*a]\n", "\x00", "- 1", "", "a: {"]


@pytest.mark.parametrize(
    ("text", "is_read"), [*((text, True) for text in ODD), *((text, False) for text in UNREADABLE)]
)
def test_settings_that_are_odd_lose_no_sample_and_end_in_time(tmp_path, text, is_read):
    folder = copy_run("baseline", tmp_path)
    (folder / "configs" / "task_config.yaml").write_text(text)
    run = read_run(folder)
    assert len(run) == 30
    assert len(inspect_run(run).numbers) > 5
    assert all(len(str(value)) < 6000 for value in run.provenance.values())
    told = [
        warning
        for warning in run.warnings
        if "no YAML that can be read, so nothing of it is known" in warning
    ]
    assert len(told) == (not is_read)


@pytest.mark.parametrize(
    ("before", "after", "fact"),
    [
        ("models: []", "models: [{model_id: other}]", ""),
        ("evaluation_version: v1.1", "evaluation_version: v2", "evaluation_version.general_qa"),
        ("evalscope_version: 1.14.1", "evalscope_version: 2.0.0", "evalscope_version"),
        ("evalscope_version: 1.14.1", "evalscope_version: 1.15.0", ""),
        ("model: rag-baseline", "model: another", "model"),
        ("temperature: 0.0", "temperature: 1.0", ""),
    ],
)
@pytest.mark.parametrize("name", ["task_config_0.yaml", "task_config_zz.yaml"])
def test_settings_of_two_runs_in_one_folder(tmp_path, before, after, fact, name):
    """Whichever name is the last one: what a run has once is refused, of the rest all values count."""
    folder = copy_run("baseline", tmp_path)
    text = (folder / "configs" / "task_config.yaml").read_text()
    assert before in text
    (folder / "configs" / name).write_text(text.replace(before, after))
    if fact:
        with pytest.raises(InputError, match=rf"{fact} is '.*' here and '.*' in .*task_config"):
            read_run(folder)
    else:
        told = read_run(folder).provenance
        assert told.get("judge") == (["other"] if "other" in after else None)
        assert sorted(np.atleast_1d(told["temperature"])) == ([0.0, 1.0] if "temp" in after else [0.0])


def test_two_judges_in_one_folder_are_no_run(tmp_path):
    folder = copy_run("baseline", tmp_path)
    text = (folder / "configs" / "task_config.yaml").read_text()
    for model in ("old", "new"):
        path = folder / "configs" / f"task_config_{model}.yaml"
        path.write_text(text.replace("models: []", f"models: [{{model_id: {model}}}]"))
    with pytest.raises(InputError, match=r"judge is 'old' here and 'new' in .*task_config_new\.yaml"):
        read_run(folder)


@pytest.mark.parametrize("part", ["reviews", "reports", "predictions", "configs"])
@pytest.mark.parametrize("above", [".", "20260101_000000"])
def test_a_later_run_is_not_passed_over(tmp_path, part, above):
    """Not one below this, nor one beside it, however little of it is there."""
    copy_run("baseline", tmp_path)
    shutil.copytree(tmp_path / "baseline", tmp_path / "out" / above, dirs_exist_ok=True)
    assert len(read_run(tmp_path / "out")) == 30
    shutil.copytree(SCOPE / "candidate" / part, tmp_path / "out" / "20260601_000000" / part)
    with pytest.raises(InputError, match=rf"holds 2 runs: {above.replace('.', '[.]')}, 20260601_000000"):
        read_run(tmp_path / "out")


def test_a_run_beside_a_stress_test_is_told_apart(tmp_path):
    copy_run("baseline", tmp_path)
    shutil.copytree(SCOPE / "perf" / "candidate", tmp_path / "load")
    with pytest.raises(InputError, match=r"holds 2 runs: baseline, load.rag-candidate"):
        read_run(tmp_path)


# Stress tests


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_a_stress_test(side):
    folder = SCOPE / "perf" / side
    run = read_run(folder)
    assert run.ids == ["parallel_1_number_20", "parallel_4_number_60"]
    for row, name in enumerate(run.ids):
        (path,) = folder.glob(f"*/{name}")
        summary = json.loads((path / "benchmark_summary.json").read_text())
        rows = {
            one["Percentiles"]: one for one in json.loads((path / "benchmark_percentile.json").read_text())
        }
        assert run.numbers("latency_ms")[row] == pytest.approx(summary["Avg Latency (s)"] * 1000)
        assert run.numbers("ttft_ms")[row] == summary["Avg TTFT (ms)"]
        assert run.numbers("latency_p95_ms")[row] == pytest.approx(rows["95%"]["Latency (s)"] * 1000)
        assert run.numbers("ttft_p50_ms")[row] == rows["50%"]["TTFT (ms)"]
        assert run.numbers("success_rate")[row] == summary["Success Requests"] / summary["Total Requests"]
        assert run.numbers("output_tokens_per_s")[row] == summary["Output Throughput (tok/s)"]
    assert run.labels("concurrency") == [("1",), ("4",)]
    assert run.find_facts("output_tokens_per_s").better == "higher"
    assert run.find_facts("itl_p99_ms").better == "lower"
    assert any("requests failed" in warning for warning in run.warnings) == (side == "candidate")
    assert "url" not in run.provenance


def test_seconds_and_milliseconds_by_version(tmp_path):
    """One test as 1.4.2 and as 1.14.1 write it."""
    old = {
        "Time taken for tests (s)": 4.8, "Number of concurrency": 1, "Total requests": 20, "Succeed requests": 19,
        "Failed requests": 1, "Average latency (s)": 0.25, "Average time to first token (s)": 0.117,
        "Average time per output token (s)": 0.0137, "Average inter-token latency (s)": 0.011,
        "Output token throughput (tok/s)": 46.5, "Request throughput (req/s)": 4.1,
    }  # fmt: skip
    new = {
        "Test Duration (s)": 4.8, "Concurrency": 1, "Total Requests": 20, "Success Requests": 19, "Failed Requests": 1,
        "Avg Latency (s)": 0.25, "Avg TTFT (ms)": 117.0, "Avg TPOT (ms)": 13.7, "Avg ITL (ms)": 11.0,
        "Output Throughput (tok/s)": 46.5, "Req Throughput (req/s)": 4.1,
    }  # fmt: skip
    percentiles = [
        [{"Percentiles": "50%", "Latency (s)": 0.2, "TTFT (s)": 0.1, "ITL (s)": float("nan")}],
        [{"Percentiles": "50%", "Latency (s)": 0.2, "TTFT (ms)": 100.0, "ITL (ms)": float("nan")}],
    ]
    runs = []
    for name, summary, rows in zip(("old", "new"), (old, new), percentiles, strict=True):
        (tmp_path / name).mkdir()
        (tmp_path / name / "benchmark_summary.json").write_text(json.dumps(summary))
        (tmp_path / name / "benchmark_percentile.json").write_text(json.dumps(rows))
        runs.append(read_run(tmp_path / name))
    assert [run.format_version for run in runs] == ["up to 1.6", "1.7 or later"]
    assert runs[0].ids == runs[1].ids == ["parallel_1_number_20"]
    assert list(runs[0].metrics) == list(runs[1].metrics)
    for name in runs[0].metrics:
        np.testing.assert_allclose(runs[0].numbers(name), runs[1].numbers(name))
    assert "itl_p50_ms" not in runs[0].metrics
    for name in ("benchmark_summary.json", "benchmark_percentile.json"):
        assert readers()["evalscope"].looks_like((tmp_path / "old" / name).read_bytes(), Path(name))


LOAD = """\
version: 1
name: load
samples: {{at_least: 1}}
missing: {{drop_at_most: {most}}}
metrics: {{m: {{field: {metric}, better: {better}}}}}
provenance: {{may_change: [model]}}
rules: [{{id: r, kind: tolerance, metric: m, worse_by_at_most: 1000000, decide_by: value}}]
"""


def write_load(folder: Path, *failed: int) -> Path:
    """Write the two settings of the real stress test, with so many failed requests each."""
    shutil.copytree(SCOPE / "perf" / "baseline", folder)
    for path, number in zip(sorted(folder.rglob("benchmark_summary.json")), failed, strict=True):
        summary = json.loads(path.read_text())
        summary["Failed Requests"] = number
        summary["Success Requests"] = summary["Total Requests"] - number
        path.write_text(json.dumps(summary))
    return folder


@given(
    failed=st.tuples(st.integers(0, 20), st.integers(0, 60)), most=st.integers(0, 100),
    metric=st.sampled_from(["latency_ms", "ttft_p50_ms", "output_tokens_per_s", "success_rate"]),
)  # fmt: skip
@settings(max_examples=25)
def test_failed_requests_are_missing_from_what_was_measured(tmp_path_factory, failed, most, metric):
    """Of each setting its share counts; only the success rate is a number of all requests."""
    folder = tmp_path_factory.mktemp("load")
    better = "lower" if metric.endswith("_ms") else "higher"
    policy = LOAD.format(most=f"{most}%", metric=metric, better=better)
    after = write_load(folder / "c", *failed)
    share = (failed[0] / 20 + failed[1] / 60) / 2
    verdict = judge(policy, SCOPE / "perf" / "baseline", after, folder)
    is_missing = metric != "success_rate" and share > most / 100 + 1e-9
    assert (verdict.verdict == "invalid") == is_missing
    if is_missing:
        assert f"({share:.1%})" in verdict.because[0]
        assert "of which a part failed and is not in the mean" in verdict.because[0]


@pytest.mark.parametrize(("changes", "message"), [
    ({"Failed Requests": 0, "Success Requests": 2}, "says 20 requests in all, 0 failed and 2 succeeded"),
    ({"Failed Requests": 21, "Success Requests": None}, "says 20 requests in all, 21 failed"),
    ({"Failed Requests": None, "Success Requests": 5}, ""),
])  # fmt: skip
def test_requests_that_do_not_add_up(tmp_path, changes, message):
    folder = write_load(tmp_path / "c", 0, 0)
    path = min(folder.rglob("benchmark_summary.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    if message:
        with pytest.raises(InputError, match=message):
            read_run(folder)
    else:
        assert read_run(folder).numbers("success_rate")[0] == 0.25


def test_a_stress_test_of_other_numbers_of_requests_is_not_compared(tmp_path):
    """Where the setting does not tell: its folder is named as one likes, and it has no concurrency."""
    paths = []
    for side, total in (("b", 20), ("c", 2)):
        (tmp_path / side).mkdir()
        paths.append(tmp_path / side / "benchmark_summary.json")
        paths[-1].write_text(
            json.dumps({"Total Requests": total, "Failed Requests": 0, "Avg Latency (s)": 0.5})
        )
    verdict = judge(LOAD.format(most="2%", metric="latency_ms", better="lower"), *paths, tmp_path)
    assert verdict.verdict == "invalid"
    assert "total_requests is '20' in the baseline and '2' in the candidate" in verdict.because[0]


def test_files_of_a_stress_test_alone():
    folder = SCOPE / "perf" / "baseline" / "rag-baseline" / "parallel_4_number_60"
    whole = read_run(folder)
    summary, percentiles = (read_run(folder / f"benchmark_{name}.json") for name in ("summary", "percentile"))
    assert summary.ids == percentiles.ids == whole.ids
    joined = read_run([folder / "benchmark_summary.json", folder / "benchmark_percentile.json"])
    for name in whole.metrics:
        np.testing.assert_array_equal(joined.numbers(name), whole.numbers(name))


def test_inspect_shows_what_the_report_states():
    columns = {column.name: column for column in inspect_run(read_run(SCOPE / "candidate")).numbers}
    assert columns["Rouge-L-R"].missing == {"no_answer": 1}
    assert columns["Rouge-L-R"].is_stated
    assert columns["bleu-1"].missing == {"null": 29, "no_answer": 1}


def test_the_documented_policies(tmp_path):
    samples, load = write_policies("evalscope.md", tmp_path)
    load_policy(samples)
    verdict = judge(samples, SCOPE / "baseline", SCOPE / "candidate")
    assert verdict.verdict in {"pass", "fail"}, verdict.because
    assert verdict.pairing.paired == 30
    load_policy(load)
    verdict = judge(load, SCOPE / "perf" / "baseline", SCOPE / "perf" / "candidate")
    assert verdict.verdict == "pass", verdict.because
    strict = load.read_text().replace("at_least: 95%", "at_least: 97%")
    verdict = judge(strict, SCOPE / "perf" / "baseline", SCOPE / "perf" / "candidate", tmp_path)
    assert verdict.verdict == "fail"


@pytest.mark.skipif(not FORMATS.is_dir(), reason="the shared files are not beside this work tree")
def test_results_of_rageval_are_those_of_its_backends():
    folder = FORMATS / "evalscope"
    mteb = [read_run(folder / f"rageval_mteb_{side}") for side in ("baseline", "candidate")]
    assert [run.format for run in mteb] == ["mteb", "mteb"]
    assert mteb[0].ids == mteb[1].ids
    ragas = read_run(folder / "rageval_ragas_baseline_score.json")
    assert ragas.format == "ragas"
    assert np.isnan(ragas.numbers("semantic_similarity")).all()
    with pytest.raises(InputError, match="no scores"):
        read_run(folder / "rageval_ragas_baseline.json")


@pytest.mark.parametrize("run_name", RUNS)
@pytest.mark.parametrize("decimals", [None, 3, 2])
@given(place=st.integers(0, 4), by=st.sampled_from([0.3, -0.3]))
@settings(max_examples=5, deadline=None)
def test_subsets_of_a_report_that_come_to_another_score_give_no_verdict(
    run_name, decimals, place, by, tmp_path_factory
):
    """A score that was raised in a report whose reviews are not there; rounded as a whole it stays what it was."""
    report = report_of(run_name)
    if decimals is not None:
        report = json.loads(json.dumps(report), parse_float=lambda text: round(float(text), decimals))
    path = tmp_path_factory.mktemp("changed") / "r.json"
    path.write_text(json.dumps(report))
    whole = read_run(path)
    metric = report["metrics"][-1]
    metric["categories"][0]["subsets"][place]["score"] += by
    path.write_text(json.dumps(report))
    with pytest.raises(InputError, match=r"in the category default, and .* by the subsets in it"):
        read_run(path)
    metric["categories"][0]["score"] = metric["score"] = (
        0.5  # a metric's own may be another, a category's not
    )
    path.write_text(json.dumps(report))
    with pytest.raises(InputError, match="in the category default"):
        read_run(path)
    assert len(whole) == 5


@pytest.mark.parametrize("value", [None, "x", [], True, float("nan"), 10**400, -1])
@pytest.mark.parametrize("key", ["score", "num"])
@pytest.mark.parametrize("whose", ["category", "subset"])
def test_a_category_that_does_not_show_all_is_held_against_nothing(value, key, whose, tmp_path):
    report = report_of("v1_candidate")
    (category,) = report["metrics"][0]["categories"]
    (category if whose == "category" else category["subsets"][1])[key] = value
    path = tmp_path / "r.json"
    path.write_text(json.dumps(report))
    if (whose, key, value) in (("category", "score", -1), ("subset", "score", -1)):
        with pytest.raises(InputError, match="in the category default"):
            read_run(path)
    else:
        assert len(read_run(path)) == 5
