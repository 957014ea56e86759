"""A first policy judges a small slice only where that shows more than a look at its pairs would."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path

import numpy as np
import pytest

from gateline import check
from gateline.policy import read_policy
from gateline.proposal import propose_policy
from gateline.proposal.choices import FEWEST_IN_SLICE
from gateline.readers import read_run

DAY = datetime.date(2026, 1, 5)


def write_run(path: Path, size: int, right: list[bool], labels: int) -> Path:
    """Write a run of 160 questions beside a slice of some, of which these are right."""
    lines = []
    for number in range(size + 160):
        is_high = number < size
        slices = {"risk": "high" if is_high else "low"}
        if labels > 1:
            slices |= {"lang": "abcd"[number % 4], "topic": "uvwxyz"[number % 6]}
        value = float(right[number] if is_high else number % 10 > 0)
        lines.append(json.dumps({"id": f"q{number}", "slices": slices, "metrics": {"correct": value}}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("labels", [1, 3])
@pytest.mark.parametrize("wrong", [0, 2])
@pytest.mark.parametrize("size", [10, 11, 12, 14, 18, 24])
def test_whatever_loss_of_three_quarters_a_small_slice_has_blocks_where_a_first_policy_judges_it(
    size: int, wrong: int, labels: int, tmp_path: Path
) -> None:
    """Not only a loss of everything: an interval over few groups is another one where all of them differ.

    A slice that is not judged is named where it plainly fell, so that judging one must not let more through.
    """
    rng = np.random.default_rng([size, wrong, labels])
    right = [True] * (size - wrong) + [False] * wrong
    before = write_run(tmp_path / "before.jsonl", size, right, labels)
    policy = tmp_path / "policy.yml"
    policy.write_text(propose_policy(read_run(before)), encoding="utf-8")
    at_least = read_policy(policy.read_text(encoding="utf-8"), "policy.yml").policy.slices.at_least
    assert size <= at_least <= FEWEST_IN_SLICE
    had = size - wrong
    for lost in range(math.ceil(0.75 * had), had + 1):
        kept = set(rng.permutation(had)[lost:].tolist())
        after = write_run(tmp_path / "after.jsonl", size, [number in kept for number in range(size)], labels)
        found = [one for one in check(policy, before, after, on=DAY).findings if one.slice == "risk=high"]
        if at_least <= size:
            assert any(one.blocks for one in found), lost
        else:
            assert any(one.fell_unjudged for one in found), lost


def test_the_policy_says_what_its_floor_still_shows(tmp_path: Path) -> None:
    before = write_run(tmp_path / "before.jsonl", 20, [True] * 20, 1)
    assert (
        "at_least: 20    # below the default of 30: a loss of three quarters of what a slice has is still shown"
        in (propose_policy(read_run(before)))
    )
