"""What `init` proposes is usable at once: a verdict on the file itself, and rules that a bad run would break.

Over every real file and folder that a reader takes, here and in the shared collection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import yaml
from documented import DAY, FILES, FORMATS

from gateline.comparison import Comparison
from gateline.errors import GatelineError, InputError
from gateline.gate import check, compare
from gateline.inspection import inspect_run
from gateline.pairing import SideValues
from gateline.policy import PolicyFile, load_policy
from gateline.proposal import propose_policy
from gateline.readers import read_run
from gateline.samples import Run

TOOLS = sorted(path.name for path in FILES.iterdir() if path.is_dir())


@cache
def runs_of(tool: str) -> list[tuple[Path, Run]]:
    """Return what a reader takes of a tool's files, files of the same bytes once."""
    found: dict[str, tuple[Path, Run]] = {}
    for folder in (FILES / tool, FORMATS / tool):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
            try:
                run = read_run(str(path))
            except GatelineError:
                continue
            found.setdefault(run.sha256, (path, run))
    return list(found.values())


def propose(run: Run, folder: Path) -> tuple[Path, PolicyFile] | None:
    """Write the policy that is proposed for a run; None where init refuses, which it may for these reasons only."""
    try:
        text = propose_policy(run)
    except InputError as error:
        values = [column.values for column in inspect_run(run).numbers if not column.is_diagnosis]
        # one value of several questions is none to judge by
        is_unjudgeable = run.unpaired or max(values, default=0) < min(2, len(run))
        assert is_unjudgeable or "no fall could be shown" in str(error), error
        return None
    policy = folder / "first.yml"
    policy.write_text(text, encoding="utf-8")
    return policy, load_policy(policy)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_first_policy_has_a_verdict_on_its_own_file(tool: str, tmp_path: Path) -> None:
    judged = 0
    for path, run in runs_of(tool):
        proposed = propose(run, tmp_path)
        if proposed is None:
            continue
        verdict = check(proposed[0], path, path, on=DAY)
        assert verdict.verdict == "pass", (path, verdict.problems, proposed[0].read_text())
        judged += 1
    assert judged


def with_candidate(comparison: Comparison, change: Callable[[str, SideValues], SideValues]) -> Comparison:
    """Return the comparison with each metric's values of the candidate changed."""
    metrics = {
        name: replace(values, candidate=change(name, values.candidate))
        for name, values in comparison.pairs.metrics.items()
    }
    pairs = replace(comparison.pairs, metrics=metrics, identical=False)
    return Comparison(pairs, comparison.metrics, comparison.settings)


def jitter(comparison: Comparison) -> Comparison:
    """Return the comparison with times and costs of the candidate other by a thousandth; nothing else changed."""
    rng = np.random.default_rng(1)

    def change(name: str, side: SideValues) -> SideValues:
        if comparison.metrics[name].range is None and comparison.metrics[name].unit:
            return replace(side, value=side.value * (1 + rng.uniform(-1e-3, 1e-3, len(side.value))))
        return side

    return with_candidate(comparison, change)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_run_in_which_only_times_differ_a_little_passes_every_check(tool: str, tmp_path: Path) -> None:
    """A first gate that warns of a run that changed nothing is one that people learn to ignore."""
    for path, run in runs_of(tool):
        proposed = propose(run, tmp_path)
        if proposed is None:
            continue
        again = jitter(compare(proposed[1], path, path))
        told = [finding for rule in proposed[1].policy.rules for finding in rule.check(again)]
        wrong = [(one.rule, one.status) for one in told if one.warns or one.blocks]
        assert wrong == [], (path, proposed[0].read_text())


def ruin(comparison: Comparison) -> Comparison:
    """Return the comparison with every value of the candidate as bad as can be."""

    def change(name: str, side: SideValues) -> SideValues:
        metric = comparison.metrics[name]
        worst = metric.worst_value
        bad = side.value - metric.sign * 10 * (np.nanmax(np.abs(side.value)) + 1)
        return replace(side, value=bad if worst is None else np.where(side.usable, worst, side.value))

    return with_candidate(comparison, change)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_rule_of_a_first_policy_can_fail(tool: str, tmp_path: Path) -> None:
    for path, run in runs_of(tool):
        proposed = propose(run, tmp_path)
        if proposed is None:
            continue
        ruined = ruin(compare(proposed[1], path, path))
        for rule in proposed[1].policy.rules:
            told = [finding.status.value for finding in rule.check(ruined)]
            assert "fail" in told, (path, rule, told)


def test_no_slice_is_proposed_by_a_fact_in_which_runs_must_agree():
    """Such as which metrics an MTEB main score is: in part of the tasks it may be another one."""
    run = read_run(next((FILES / "mteb" / "results").iterdir()))
    assert run.must_agree
    slices = yaml.safe_load(propose_policy(run, name="first")).get("slices", {}).get("by", [])
    assert not set(slices) & set(run.must_agree)
