"""Multiple comparisons: the more slices are looked at, the more each must show, and the file says how many."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import EIGHTHS, QUICK, make_both, tries
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from gateline.findings import Finding, Status
from runs import judge

RULE = "{kind: tolerance, metric: score, slices: [topic], worse_by_at_most: 0, on_inconclusive: pass}"
ROWS = st.tuples(st.sampled_from("ABCDE"), EIGHTHS, EIGHTHS)


def judge_topics(topics: list[str], before: list[float], after: list[float]) -> dict[str, Finding]:
    labels = [{"topic": topic} for topic in topics]
    found = judge(make_both(before, after, slices=labels), RULE, slices="{by: [topic], at_least: 1}", **QUICK)
    return {str(finding.slice): finding for finding in found}


@tries(8)
@given(st.lists(ROWS, min_size=4, max_size=20))
def test_a_slice_more_never_makes_another_one_fail(rows: list[tuple[str, float, float]]) -> None:
    together = judge_topics([topic for topic, _, _ in rows], [x for _, x, _ in rows], [y for _, _, y in rows])
    for topic in {topic for topic, _, _ in rows}:
        own = [row for row in rows if row[0] == topic]
        (alone,) = judge_topics([topic] * len(own), [x for _, x, _ in own], [y for _, _, y in own]).values()
        beside = together[f"topic={topic}"]
        assert (beside.gain, beside.samples) == (alone.gain, alone.samples)
        if beside.status is Status.FAIL:
            assert alone.status is Status.FAIL
        if beside.interval is not None and alone.interval is not None:
            assert beside.family == len(together)
            assert beside.interval.level == pytest.approx(1 - 0.05 / len(together))
            assert beside.interval.low is not None and beside.interval.high is not None
            assert alone.interval.low is not None and alone.interval.high is not None
            assert beside.interval.low <= alone.interval.low + 1e-12
            assert beside.interval.high >= alone.interval.high - 1e-12


def test_noise_in_many_slices_blocks_no_more_often_than_in_one() -> None:
    """24 topics of 15 samples without any change, 40 times.

    Uncorrected intervals of 95 % would block about 1 - 0.975^24 = 46 % of these; the policy allows 5 %.
    """
    generator, times, blocked = np.random.default_rng(14), 40, 0
    topics = [f"t{number:02d}" for number in range(24) for _ in range(15)]
    for _ in range(times):
        before = generator.uniform(0.3, 0.7, len(topics))
        noise = generator.uniform(-0.2, 0.2, len(topics))
        found = judge_topics(topics, before.tolist(), (before + noise).tolist())
        assert len(found) == 24
        blocked += any(finding.status is Status.FAIL for finding in found.values())
    assert blocked <= binom.ppf(0.999, times, 0.05)
    assert binom.ppf(0.999, times, 0.05) < binom.ppf(0.001, times, 1 - 0.975**24)  # the test can tell the two
