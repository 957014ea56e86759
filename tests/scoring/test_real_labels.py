"""Claims, citations and refusals on labels that people gave, against the numbers that came with them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from retrieval_collections import SHARED

from gateline.golden import GoldenSet
from gateline.readers import read_run
from gateline.scoring import score

DATA = SHARED / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the labelled sets lie beside the repository")


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def scored(tmp_path):
    """Score outputs against a golden set, both given as records."""

    def score_records(golden, outputs):
        for name, records in (("g.jsonl", golden), ("o.jsonl", outputs)):
            (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
        return score(GoldenSet(read_run(tmp_path / "g.jsonl")), read_run(tmp_path / "o.jsonl")).measured

    return score_records


@pytest.mark.parametrize("pair", ["refchecker_chatgpt_to_gpt4", "refchecker_alpaca_to_davinci"])
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_claims_of_refchecker(scored, pair, side):
    """Rates per answer as the set has them, null where an answer makes no claim; micro rates from the raw labels."""
    expected = read_lines(DATA / "pairs" / pair / f"{side}.jsonl")
    labelled = {
        one["id"]: one["claims"] for one in read_lines(DATA / "pairs" / pair / f"claims_{side}.jsonl")
    }
    found = scored(
        [{"id": one["id"], "question": one["id"]} for one in expected],
        [{"id": one["id"], "claims": labelled[one["id"]]} for one in expected],
    )
    undefined = 0
    for row, one in enumerate(expected):
        rates = one["metrics"]
        faithfulness = float(found["faithfulness"].value[row])
        answer = float(found["hallucination_rate_answer"].value[row])
        if rates.get("supported_rate") is None:
            undefined += 1
            assert math.isnan(faithfulness)
            assert math.isnan(answer)
            continue
        assert faithfulness == pytest.approx(rates["supported_rate"], abs=1e-6)
        assert answer == 1 - rates["faithful"]
    assert undefined > 0
    labels = [claim["label"] for claims in labelled.values() for claim in claims]
    by_claim = found["hallucination_rate_claim"]
    assert by_claim.denominator.sum() == len(labels)
    assert by_claim.numerator.sum() == len(labels) - labels.count("supported")


def test_citations_of_expertqa(scored):
    """Shares of completely supported claims, of all and of those cited: recall and precision, per system."""
    responses = read_lines(DATA / "other" / "expertqa_claims" / "responses.jsonl")
    summary = json.loads((DATA / "other" / "expertqa_claims" / "summary.json").read_text())
    for system, numbers in summary.items():
        own = [one for one in responses if one["system"] == system]
        outputs = []
        for one in own:
            statements = [
                {
                    "needs_citation": True,
                    "citations": [{"supports": claim["support"] == "Complete"}]
                    if claim["n_evidence"]
                    else [],
                }
                for claim in one["claims"]
            ]
            outputs.append({"id": one["id"], "statements": statements})
        found = scored([{"id": one["id"], "question": one["id"]} for one in own], outputs)
        recall, precision = found["citation_recall"], found["citation_precision"]
        assert recall.denominator.sum() == numbers["claims"]
        cited = numbers["cited_share"] * numbers["claims"]
        assert np.nansum(precision.denominator) == pytest.approx(cited)
        known = precision.denominator > 0
        share = precision.numerator[known].sum() / precision.denominator[known].sum()
        assert share == pytest.approx(numbers["complete_share_of_cited"], abs=1e-9)
        assert recall.numerator.sum() / recall.denominator.sum() == pytest.approx(
            numbers["complete_share_of_all"], abs=1e-9
        )


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_refusals_of_xstest(scored, side):
    records = read_lines(DATA / "pairs" / "xstest_llama2orig_to_new" / f"{side}.jsonl")
    found = scored(
        [{"id": one["id"], "answerable": one["slices"]["expected"] == "comply"} for one in records],
        [{"id": one["id"], "refused": one["metrics"]["refused"]} for one in records],
    )
    for name, expected in (("refused_wrongly", "comply"), ("refused_correctly", "refuse")):
        rows = [row for row, one in enumerate(records) if one["slices"]["expected"] == expected]
        assert rows
        assert found[name].value[rows].tolist() == [records[row]["metrics"]["refused"] for row in rows]
        others = [row for row in range(len(records)) if row not in set(rows)]
        assert all(math.isnan(value) for value in found[name].value[others])
