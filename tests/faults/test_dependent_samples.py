"""Dependent samples: questions that rise and fall together count as one, however many there are."""

from __future__ import annotations

import pytest
from drawn import EIGHTHS, QUICK, make_both, tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.findings import Finding
from runs import judge_one

RULE = "{kind: tolerance, metric: score, worse_by_at_most: 0.1}"


def judge(rows: list[tuple[float, float]], copies: int, *, cluster: bool) -> Finding:
    """Judge documents of `copies` questions each, all of which come out alike."""
    each = [row for row in rows for _ in range(copies)]
    documents = [f"doc{number}" for number in range(len(rows)) for _ in range(copies)]
    samples = "{at_least: 1, cluster: doc_id}" if cluster else "{at_least: 1}"
    runs = make_both([one for one, _ in each], [two for _, two in each], doc_id=documents)
    return judge_one(runs, RULE, samples=samples, **QUICK)


@tries(15)
@given(st.lists(st.tuples(EIGHTHS, EIGHTHS), min_size=3, max_size=12), st.integers(2, 9))
def test_more_questions_of_the_same_documents_prove_nothing_more(
    rows: list[tuple[float, float]], copies: int
) -> None:
    one, many = judge(rows, 1, cluster=True), judge(rows, copies, cluster=True)
    assert (one.samples, one.clusters) == (len(rows), len(rows))
    assert (many.samples, many.clusters) == (len(rows) * copies, len(rows))
    assert many.status == one.status
    assert one.interval is not None and many.interval is not None
    assert (many.interval.low, many.interval.high) == pytest.approx(
        (one.interval.low, one.interval.high), abs=1e-9
    )


@tries(15)
@given(st.lists(st.tuples(EIGHTHS, EIGHTHS), min_size=4, max_size=12), st.integers(4, 9))
def test_questions_taken_as_independent_would_seem_to_prove_more(
    rows: list[tuple[float, float]], copies: int
) -> None:
    """The same files without the name of the cluster: the interval is narrower by about the root of the copies."""
    whole, torn = judge(rows, copies, cluster=True), judge(rows, copies, cluster=False)
    assert torn.clusters == len(rows) * copies
    assert whole.interval is not None and torn.interval is not None
    assert whole.interval.low is not None and torn.interval.low is not None
    assert whole.interval.high is not None and torn.interval.high is not None
    assert whole.interval.high - whole.interval.low > 1.3 * (torn.interval.high - torn.interval.low)
