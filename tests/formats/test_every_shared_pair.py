"""Every pair of the shared files goes through inspect and check: it is judged, or the reason why not is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from documented import FORMATS, judge

from gateline.errors import InputError
from gateline.inspection import inspect_run, render_text, to_json
from gateline.readers import read_run

pytestmark = pytest.mark.skipif(not FORMATS.is_dir(), reason="the shared files are not beside this work tree")

MEANS = "only means of the whole run"
JUDGED = ""
SIDES = ("baseline", "candidate")
RAGAS = {
    "baseline.csv": JUDGED,
    "baseline.jsonl": JUDGED,
    "baseline.records.json": JUDGED,
    "baseline.records_nan.json": JUDGED,
    "baseline.columns.json": JUDGED,
    "baseline.custom_wrapper.json": JUDGED,
    "baseline.scores.json": "scores without questions",
    "baseline.summary.json": MEANS,
    "baseline.metric_score.csv": MEANS,
    "baseline.repr_string.json": MEANS,
    "exp_csv/experiments/baseline.csv": "1 of 29 questions of the baseline are not in the candidate",
    "exp_csv/experiments/baseline-dictrows.csv": JUDGED,
    "exp_jsonl/experiments/baseline.jsonl": "1 of 29 questions of the baseline are not in the candidate",
    "exp_jsonl/experiments/baseline-dictrows.jsonl": JUDGED,
}
MTEB = {
    "own/baseline.model_result.json": JUDGED,
    "own/baseline.benchmark_results.json": JUDGED,
    "own/baseline.dataframe.csv": JUDGED,
    "own/results/harbor__baseline": JUDGED,
}
EVALSCOPE = {
    "baseline": JUDGED,
    "v1_baseline": "1 of 30 questions of the baseline are not in the candidate",
    "perf/baseline": JUDGED,
    "rageval_mteb_baseline": JUDGED,
    "rageval_ragas_baseline_score.json": JUDGED,
}
RAGCHECKER = {"baseline.json": JUDGED}
LM_EVAL = {"baseline": JUDGED}
INSPECT = {
    "baseline.eval": JUDGED,
    "baseline.deflate.eval": JUDGED,
    "baseline.json": JUDGED,
    "baseline.samples_df.csv": JUDGED,
}
DEEPEVAL = {
    "baseline.test_run.json": JUDGED,
    "baseline.latest_test_run.json": JUDGED,
}
TREC = {
    "baseline.pytrec_eval.json": "1 of 29 questions of the baseline are not in the candidate",
    "baseline.trec_eval908_q.txt": "1 of 28 questions",
    "baseline.trec_eval908_qc.txt": "1 of 28 questions",
    "baseline.trec_eval100_qc.txt": JUDGED,
    "baseline.ir_measures.tsv": JUDGED,
    "baseline.ir_measures_cli.txt": JUDGED,
}
LANGSMITH = {"baseline.csv": JUDGED, "baseline.json": JUDGED}
PHOENIX = {"baseline.csv": JUDGED, "baseline.json": JUDGED}
LANGFUSE = {
    "baseline.traces.csv": JUDGED,
    "baseline.traces.json": JUDGED,
    "baseline.scores.csv": "a trace gets another id in each run",
    "baseline.scores.json": "a trace gets another id in each run",
}
PROMPTFOO = {
    "baseline.json": JUDGED,
    "baseline.jsonl": JUDGED,
    "baseline.csv": JUDGED,
    "baseline.junit.xml": JUDGED,
}
PYTEST = {
    "baseline.junit.xml": JUDGED,
    "baseline.ctrf.json": JUDGED,
    "baseline.pytest-json-report.json": JUDGED,
}
OF_THE_TOOL = {
    "trec": TREC,
    "langsmith": LANGSMITH,
    "phoenix": PHOENIX,
    "langfuse": LANGFUSE,
    "ragas": RAGAS,
    "mteb": MTEB,
    "evalscope": EVALSCOPE,
    "ragchecker": RAGCHECKER,
    "inspect": INSPECT,
    "lm_eval": LM_EVAL,
    "deepeval": DEEPEVAL,
    "promptfoo": PROMPTFOO,
    "pytest": PYTEST,
}
PAIRS = [(tool, name, reason) for tool, pairs in OF_THE_TOOL.items() for name, reason in pairs.items()]


def check_pair(baseline: Path, candidate: Path, reason: str, folder: Path) -> None:
    run = read_run(baseline)
    found = inspect_run(run)
    assert render_text(found, 80).startswith(str(baseline)[:20])
    assert json.loads(to_json(found))["samples"] == len(run)
    metric = next(
        name for name, column in run.metrics.items() if not all(value != value for value in run.numbers(name))
    )
    facts = run.find_facts(metric)
    better = facts.better if facts and facts.better else "higher"
    policy = {
        "version": 1,
        "name": "gate",
        "samples": {"at_least": 1},
        "missing": {"drop_at_most": 0.2},
        "metrics": {metric: {"better": better}},
        "rules": [{"id": "holds", "kind": "tolerance", "metric": metric, "worse_by_at_most": 10_000}],
    }
    verdict = judge(json.dumps(policy), baseline, candidate, folder)
    if reason:
        assert verdict.verdict == "invalid"
        assert reason in verdict.because[0]
    else:
        assert verdict.verdict in {"pass", "fail"}, verdict.because
        assert verdict.pairing.paired == len(run)
        (finding,) = verdict.findings
        assert finding.baseline == pytest.approx(
            sum(v for v in run.numbers(metric) if v == v) / finding.samples, rel=0.2
        )


@pytest.mark.parametrize(("tool", "name", "reason"), PAIRS, ids=[f"{tool}-{name}" for tool, name, _ in PAIRS])
def test_a_pair(tool, name, reason, tmp_path):
    baseline = FORMATS / tool / name
    check_pair(baseline, FORMATS / tool / name.replace("baseline", "candidate"), reason, tmp_path)


@pytest.mark.parametrize("number", range(22))
def test_a_saved_task_of_the_real_models(number, tmp_path):
    large, small = (
        sorted(path for path in model.rglob("*.json") if path.name != "model_meta.json")
        for model in sorted((FORMATS / "mteb" / "results").iterdir())
    )
    assert len(large) == len(small) == 22
    check_pair(large[number], small[number], JUDGED, tmp_path)


@pytest.mark.parametrize("end", ["run", "beir_run.txt", "ranx.trec", "ranx.json", "ranx.parquet"])
@pytest.mark.parametrize("labels", ["harbor.qrels", "harbor.ranx.qrels.json", "beir/harbor"])
def test_rankings_with_labels(end, labels, tmp_path):
    """However rankings and labels are written, the verdict rests on the same numbers."""
    assert json.loads(to_json(inspect_run(read_run(FORMATS / "trec" / f"baseline.{end}"))))["samples"]
    policy = {
        "version": 1,
        "name": "gate",
        "samples": {"at_least": 1, "golden_set": str(FORMATS / "trec" / labels)},
        "metrics": {"recall@5": {"better": "higher", "range": [0, 1]}},
        "rules": [{"id": "holds", "kind": "tolerance", "metric": "recall@5", "worse_by_at_most": 0.9}],
    }
    files = [FORMATS / "trec" / f"{side}.{end}" for side in SIDES]
    verdict = judge(json.dumps(policy), *files, tmp_path)
    assert verdict.verdict == "pass", verdict.because
    assert verdict.pairing.paired == 29
    found = [verdict.findings[0].baseline, verdict.findings[0].candidate]
    if end == "beir_run.txt":  # other rankings, with means of its own, in 5 decimals
        tool = [json.loads((FORMATS / "trec" / f"{side}.beir_results.json").read_text()) for side in SIDES]
        means = [of["recall"]["Recall@5"] for of in tool]
    else:
        exact = [json.loads((FORMATS / "trec" / f"{side}.pytrec_eval.json").read_text()) for side in SIDES]
        means = [sum(values["recall_5"] for values in queries.values()) / 29 for queries in exact]
    assert found == pytest.approx(means, abs=5.1e-6)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("baseline.trec_eval100_q.txt", "trec_eval stopped before its end"),
        ("candidate.trec_eval100_q.txt", "trec_eval stopped before its end"),
        ("baseline.beir_results.json", "means over all queries only"),
        ("candidate.beir_results.json", "means over all queries only"),
    ],
)
def test_what_retrieval_tools_wrote_and_can_not_be_judged(name, reason):
    with pytest.raises(InputError, match=reason):
        read_run(FORMATS / "trec" / name)
