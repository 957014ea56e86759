"""The audit on labels that people and judges really gave: against counts by hand, statsmodels and scipy."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from gateline.audit import Question, review_judge

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "judges"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the labelled sets lie beside the repository")


def items(name):
    return [
        json.loads(line) for line in (DATA / name / "items.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def audit(name, judge, **options):
    file = str(DATA / name / "items.jsonl")
    return review_judge(Question(file, file, metric="human", judge_metric=f"judges.{judge}", **options))


@pytest.mark.parametrize("judge", ["gpt4", "string"])
def test_refusals_of_xstest(judge):
    found = audit("judge_xstest_llama2", judge, slices=("system", "expected"))
    for part in (found.overall, *found.slices):
        chosen = [
            (one["human"], one["judges"][judge])
            for one in items("judge_xstest_llama2")
            if not part.label or one["slices"][part.label] == part.value
        ]
        counts = Counter(chosen)
        assert part.confusion.true_positives == counts[1, 1]
        assert part.confusion.false_negatives == counts[1, 0]
        assert part.confusion.false_positives == counts[0, 1]
        assert part.confusion.true_negatives == counts[0, 0]
        human, said = np.array(chosen).T
        assert part.measures["bias"].value == pytest.approx(said.mean() - human.mean(), abs=1e-12)
        table = np.array([[counts[0, 0], counts[0, 1]], [counts[1, 0], counts[1, 1]]])
        if min(table.sum(axis=1)) > 0:
            expected = cohens_kappa(table)
            kappa = part.measures["kappa"]
            assert kappa.value == pytest.approx(expected.kappa, abs=1e-12)
            assert kappa.low == pytest.approx(expected.kappa_low, abs=0.02)
            assert kappa.high == pytest.approx(expected.kappa_upp, abs=0.02)
    assert found.is_better_than_chance


def test_verdicts_of_pandalm():
    found = audit("judge_pandalm", "gpt35")
    known = [(one["human"], one["judges"]["gpt35"]) for one in items("judge_pandalm")]
    assert found.overall.missing == {"no label": sum(said is None for _, said in known)} == {"no label": 25}
    counts = Counter(known)
    table = [[counts[row, column] for column in found.categories] for row in found.categories]
    assert found.overall.table == table
    expected = cohens_kappa(np.array(table))
    kappa = found.overall.measures["kappa"]
    assert kappa.value == pytest.approx(expected.kappa, abs=1e-12)
    assert (kappa.low, kappa.high) == pytest.approx((expected.kappa_low, expected.kappa_upp), abs=0.005)


@pytest.mark.parametrize(("judge", "better"), [("factcc", True), ("dep_entail", True), ("qags", False)])
def test_metrics_of_factuality(judge, better):
    """QAGS knows nothing of people's labels of these summaries; the others know a little."""
    from scipy import stats

    found = audit("judge_frank_bbc", judge)
    pairs = [(one["human"], one["judges"][judge]) for one in items("judge_frank_bbc")]
    human, said = np.array([(human, said) for human, said in pairs if said is not None]).T
    assert found.overall.measures["spearman"].value == pytest.approx(
        stats.spearmanr(human, said).statistic, abs=1e-9
    )
    assert found.overall.measures["bias"].value == pytest.approx((said - human).mean(), abs=1e-9)
    assert found.is_better_than_chance is better


def test_a_judge_that_is_sure_of_a_wrong_number_is_corrected(tmp_path):
    """The judge overlooks a third of the refusals; 80 labels of people bring the number back, narrower than alone."""
    rows = [one for one in items("judge_xstest_llama2") if one["slices"]["system"] == "llama2new"]
    labelled = np.random.default_rng(1).permutation(len(rows)) < 80
    lines = [
        json.dumps({"id": one["id"], "human": one["human"] if known else None, "j": one["judges"]["gpt4"]})
        for one, known in zip(rows, labelled, strict=True)
    ]
    file = tmp_path / "labels.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    correction = review_judge(
        Question(str(file), str(file), metric="human", judge_metric="j")
    ).overall.correction
    truth = np.mean([one["human"] for one in rows])
    assert correction.judge.value == pytest.approx(np.mean([one["judges"]["gpt4"] for one in rows]))
    assert correction.judge.high < truth
    for found in (correction.prediction_powered, correction.corrected_rate):
        assert found.low <= truth <= found.high
    powered, alone = correction.prediction_powered, correction.human
    assert powered.high - powered.low < alone.high - alone.low
