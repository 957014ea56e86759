"""Files of the baseline among those of the candidate: by their path, or as copies that fill up what it lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gateline.errors import NotComparable
from gateline.metric import Metric
from gateline.pairing.joined import refuse_joined_baseline
from gateline.samples import JoinedFile, Run
from runs import make_pairs, make_runs

F = {"f": Metric.model_validate({"better": "higher"})}


def part(file: str, *names: str, sha: str = "", elsewhere: tuple[str, ...] = ()) -> JoinedFile:
    return JoinedFile(file, sha or f"sha of {file}", frozenset(names), frozenset(elsewhere))


def run(*parts: JoinedFile, aliases: dict[str, str] | None = None) -> Run:
    return replace(make_runs("a 1>1")[1], parts=parts, aliases=aliases or {})


def told(baseline: Run, candidate: Run, metrics: dict[str, Metric] = F) -> list[str]:
    try:
        refuse_joined_baseline(baseline, candidate, metrics)
    except NotComparable as problem:
        assert problem.headline == "the candidate is joined with files of the baseline"
        return [str(one) for one in problem.problems]
    return []


def says(file: str, fields: str = "f") -> str:
    return (
        f"{file}: is a file of the baseline, and its {fields} stands in for the candidate's"
        "  (name the candidate's own files only; a pattern may match too many)"
    )


NEW = part("new.jsonl", "f")


def test_a_file_of_the_baseline_by_its_path_is_refused_whatever_else_the_candidate_has() -> None:
    old = part("old.jsonl", "f")
    other = part("new.jsonl", "g")
    assert told(run(old, part("more.jsonl", "g")), run(other, old)) == [says("old.jsonl")]
    assert told(run(old), run(other, replace(old, file=str(Path("old.jsonl").resolve())))) == [
        says(str(Path("old.jsonl").resolve()))
    ]


def test_the_one_file_of_a_baseline_is_among_the_candidates() -> None:
    """A run of one file has no parts: it is the part."""
    baseline, candidate = make_runs("a*30 1>1", "f")
    parts = (part("new.jsonl", "f"), part(baseline.file, "f", sha=baseline.sha256))
    with pytest.raises(
        NotComparable, match=rf"^{baseline.file}: is a file of the baseline, and its f stands"
    ):
        make_pairs(
            (baseline, replace(candidate, parts=parts)),
            "{kind: limit, metric: f, at_least: 0.5}",
            metrics="{f: {better: higher}}",
        )


def test_a_copy_is_refused_only_where_it_has_what_another_file_of_the_candidate_has() -> None:
    """Parts of a run may come out alike; a copy that holds other records fills up nothing."""
    baseline = run(part("old.jsonl", "f"))
    copy = part("copy.jsonl", "f", sha="sha of old.jsonl")
    assert told(baseline, run(NEW, copy)) == []
    assert told(baseline, run(NEW, replace(copy, elsewhere=frozenset({"f"})))) == [says("copy.jsonl")]
    assert told(baseline, run(NEW, replace(copy, elsewhere=frozenset({"g"})))) == []
    assert told(baseline, run(NEW, part("more.jsonl", "f", elsewhere=("f",)))) == []  # another content


def test_a_file_of_the_baseline_that_was_written_anew_is_the_candidates() -> None:
    """One path, another content: the run before overwrote it, or the run after did."""
    assert told(run(part("out.jsonl", "f", sha="1")), run(part("out.jsonl", "f", sha="2"), NEW)) == []


def test_a_file_of_labels_may_serve_both() -> None:
    labels = part("labels.jsonl", "language", "g")
    assert told(run(part("old.jsonl", "f"), labels), run(NEW, labels)) == []


@pytest.mark.parametrize(
    ("metric", "fields"),
    [
        ({"better": "higher"}, "f"),
        ({"better": "higher", "field": "g"}, "g"),
        ({"better": "higher", "ratio": ["h", "g"]}, "g, h"),
        ({"better": "higher", "field": "short"}, "long"),
    ],
)
def test_what_stands_in_is_named_by_the_fields_that_the_policy_reads(metric: dict, fields: str) -> None:
    """Also under the name that the file has for what the policy calls by a shorter one."""
    old = part("old.jsonl", "f", "g", "h", "long")
    found = told(run(old), run(NEW, old, aliases={"short": "long"}), {"f": Metric.model_validate(metric)})
    assert found == [says("old.jsonl", fields)]


def test_every_file_that_stands_in_is_told() -> None:
    both = part("old-1.jsonl", "f"), part("old-2.jsonl", "f", "g")
    assert told(run(*both), run(NEW, *both)) == [says("old-1.jsonl"), says("old-2.jsonl")]


def test_the_same_files_in_both_are_one_run_held_against_itself() -> None:
    both = part("a.jsonl", "f"), part("b.jsonl", "f", elsewhere=("f",))
    assert told(run(*both), run(*both[::-1])) == []
    assert told(run(both[0]), run(both[0])) == []
