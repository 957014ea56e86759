"""Two runs agree where their tools say so, or nothing is decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateline.errors import InputError, NotComparable
from gateline.samples import MetricFacts, Run
from runs import make_pairs, make_runs


def pair_with(before: dict, after: dict, **parts: str) -> list[str]:
    """Return the notices on two equal runs, of which some attributes are changed."""
    baseline, candidate = make_runs("a*30 1>1")
    return make_pairs((replace(baseline, **before), replace(candidate, **after)), **parts).notices


def of_records(name: str, *values: str | None) -> dict:
    """Return a field of the records in which runs must agree, its values by turns."""
    return {
        "fields": {name: [values[row % len(values)] for row in range(30)]},
        "must_agree": {name: "exactly"},
    }


def test_a_fact_of_the_whole_run():
    same = {"provenance": {"judge": "j1"}, "must_agree": {"judge": "exactly"}}
    other = {"provenance": {"judge": "j2"}}
    assert not any("judge" in notice for notice in pair_with(same, same))
    for before, after in ((same, other), (other, same)):
        with pytest.raises(NotComparable, match=r"judge is 'j.' in the baseline and 'j.' in the candidate"):
            pair_with(before, after)
    pair_with(same, other, provenance="{may_change: [judge]}")


def test_a_fact_of_each_record_is_compared_question_by_question():
    pair_with(of_records("revision", "r1", "r2"), of_records("revision", "r1", "r2"))
    with pytest.raises(
        NotComparable, match=r"'r2' in the baseline and 'r3'.*, for 'a10', 'a12', 'a14' and 12 more"
    ):
        pair_with(of_records("revision", "r1", "r2"), of_records("revision", "r1", "r3"))


@pytest.mark.parametrize(
    ("before", "after", "agrees"),
    [("2.6.7", "2.18.0", True), ("1.12.40", "2.7.1", False), ("2", "2.1", True), ("2.0", "20.0", False)],
)
def test_a_major_version(before, after, agrees):
    runs = [{"provenance": {"v": one}, "must_agree": {"v": "major version"}} for one in (before, after)]
    if agrees:
        pair_with(*runs)
    else:
        with pytest.raises(NotComparable, match="they must agree in the major version"):
            pair_with(*runs)


def test_what_one_run_does_not_say_is_a_notice():
    said = {"provenance": {"judge": "j1"}, "must_agree": {"judge": "exactly"}}
    notice = "candidate.jsonl does not say its judge, so it is not known whether it changed"
    assert notice in pair_with(said, {})
    assert not any("does not say" in one for one in pair_with({"must_agree": {"judge": "exactly"}}, {}))


@pytest.mark.parametrize(("first", "second", "file"), [(None, "r1", "baseline"), ("r1", None, "candidate")])
def test_what_one_run_does_not_say_of_some_questions_is_a_notice(first, second, file):
    told = f"{file}.jsonl does not say the revision of 15 of 30 questions ('a10', 'a12', 'a14' and 12 more)"
    runs = [of_records("revision", "r1", one) for one in (first, second)]
    assert [told in notice for notice in pair_with(*runs) if "does not say" in notice] == [True]
    assert not any("does not say" in one for one in pair_with(runs[0], runs[0]))  # neither says it
    with pytest.raises(NotComparable, match="'r1' in the baseline and 'r2' in the candidate"):
        pair_with(of_records("revision", "r1", None), of_records("revision", "r2", "r2"))
    assert not any("does not say" in one for one in pair_with(*runs, provenance="{may_change: [revision]}"))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            MetricFacts("higher", (0, 1), "with a reference"),
            MetricFacts("higher", (0, 1), "without"),
            "another metric",
        ),
        (
            MetricFacts("higher"),
            MetricFacts("lower"),
            "higher is better in the baseline, lower in the candidate",
        ),
        (
            MetricFacts("higher", (0, 1)),
            MetricFacts("higher", (0, 100)),
            "another scale: 0 to 1 in the baseline, 0 to 100",
        ),
        (MetricFacts("higher", (0, 1)), MetricFacts("higher"), None),
        (MetricFacts("higher"), None, None),
    ],
)
def test_a_metric_that_is_another_one(before, after, message):
    sides = [{"metric_facts": {} if facts is None else {"score": facts}} for facts in (before, after)]
    if message is None:
        pair_with(*sides)
    else:
        with pytest.raises(NotComparable, match=message):
            pair_with(*sides)
    pair_with(*({"metric_facts": {"unused": facts} if facts else {}} for facts in (before, after)))


def test_a_policy_that_turns_a_metric_round_is_told():
    said = {"metric_facts": {"score": MetricFacts("lower")}}
    assert any("the policy says higher is better" in notice for notice in pair_with(said, said))


def problems_with(before: dict, after: dict, **parts: str) -> tuple[str, list[str]]:
    """Return the headline and the problems of two runs that do not agree."""
    with pytest.raises(NotComparable) as raised:
        pair_with(before, after, **parts)
    return raised.value.headline, [str(problem) for problem in raised.value.problems]


def test_every_fact_is_held_and_told_by_itself():
    """One that may change hides none behind it; each names the questions for which it differs, if not all."""
    must = {"must_agree": dict.fromkeys(("a", "b", "c"), "exactly")}
    before = {"provenance": {"a": "1", "b": "1"}, "fields": {"c": ["1", "2", "3"] * 10}, **must}
    after = {"provenance": {"a": "2", "b": "2"}, "fields": {"c": ["1", "2", "4"] * 10}, **must}
    hint = (
        "  (rerun one of them, so that both are made alike; or let it differ: provenance: {may_change: [%s]})"
    )
    assert problems_with(before, after, provenance="{may_change: [a]}") == (
        "the numbers of the two runs do not mean the same",
        [
            "candidate.jsonl: b is '1' in the baseline and '2' in the candidate" + hint % "b",
            "candidate.jsonl: c is '3' in the baseline and '4' in the candidate, for 'a12', 'a15', 'a18' and 7 more"
            + hint % "c",
        ],
    )


def test_of_one_question_alone_the_question_is_named():
    runs = [replace(run, provenance={"judge": f"j{number}"}, must_agree={"judge": "exactly"})
            for number, run in enumerate(make_runs("q1 1>1"))]  # fmt: skip
    with pytest.raises(
        NotComparable, match=r"judge is 'j0' in the baseline and 'j1' in the candidate, for 'q1'"
    ):
        make_pairs(runs)


def test_what_the_header_says_counts_before_what_records_say():
    """A field of records under the name of a fact of the header is another thing, such as a judge's remarks."""
    must = {"must_agree": {"judge": "exactly"}}
    same, other = {"judge": ["x", "y"] * 15}, {"judge": ["y", "x"] * 15}
    pair_with(*({"provenance": {"judge": "j1"}, "fields": one, **must} for one in (same, other)))
    with pytest.raises(NotComparable, match="judge is 'j1' in the baseline and 'j2' in the candidate"):
        pair_with(*({"provenance": {"judge": one}, "fields": same, **must} for one in ("j1", "j2")))


def test_each_fact_that_a_run_does_not_say_is_a_notice():
    must = {"must_agree": {"a": "exactly", "b": "exactly"}}
    before = {"provenance": {"a": "1", "b": "1"}, **must}
    found = [notice for notice in pair_with(before, must) if "does not say" in notice]
    assert found == [
        f"candidate.jsonl does not say its {name}, so it is not known whether it changed" for name in "ab"
    ]


def test_all_that_differs_in_the_metrics_of_two_tools_is_told():
    metrics = "{score: {better: higher}, rate: {better: higher, ratio: [bad, claims]}}"
    facts = {
        "score": [MetricFacts("higher", (0, 1), "exact match"), MetricFacts("lower", (0, 1))],
        "claims": [MetricFacts("higher", (0, 5)), MetricFacts("higher", (0, 9))],
    }
    runs = []
    for side in (0, 1):
        run = make_runs("a*30 0.5>0.5")[side]
        numbers = {"bad": run.metrics["score"], "claims": run.metrics["score"]}
        runs.append(
            replace(
                run,
                metrics=run.metrics | numbers,
                metric_facts={name: one[side] for name, one in facts.items()},
            )
        )
    with pytest.raises(NotComparable) as raised:
        make_pairs(runs, metrics=metrics)
    hint = "  (evaluate both with one version and the same settings of the tool)"
    assert raised.value.headline == "a metric is not the same in the two runs"
    assert [str(problem) for problem in raised.value.problems] == [
        "candidate.jsonl: score is another metric in the two files: exact match in the baseline, "
        "not stated in the candidate" + hint,
        "candidate.jsonl: score: higher is better in the baseline, lower in the candidate" + hint,
        "candidate.jsonl: claims is on another scale: 0 to 5 in the baseline, 0 to 9 in the candidate" + hint,
    ]


def test_the_direction_of_the_parts_of_a_ratio_is_not_that_of_the_ratio():
    """More claims may be better, and a lower share of bad ones too; and who says no direction contradicts none."""
    metrics = "{score: {better: higher}, rate: {better: lower, ratio: [bad, claims]}}"
    runs = []
    for run in make_runs("a*30 0.5>0.5"):
        facts = {
            "claims": MetricFacts("higher"),
            "bad": MetricFacts("higher"),
            "score": MetricFacts(None, (0, 1)),
        }
        numbers = {"bad": run.metrics["score"], "claims": run.metrics["score"]}
        runs.append(replace(run, metrics=run.metrics | numbers, metric_facts=facts))
    assert not any("is better" in notice for notice in make_pairs(runs, metrics=metrics).notices)


def test_records_that_nothing_identifies():
    run: Run = replace(make_runs("a*30 1>1")[1], unpaired="only their place tells them apart")
    with pytest.raises(NotComparable, match="only their place tells them apart"):
        make_pairs((run, run))
    assert len(make_pairs((None, run)).ids) == 30


SCORE = "{score: {better: higher%s}}"


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("value", [1.5, -0.25])
def test_without_a_range_in_the_policy_the_tool_s_counts(side, value):
    """Whichever run states it, and in whichever a value lies outside."""
    for stating in (0, 1):
        runs = list(make_runs("a*30 0.5>0.5"))
        runs[stating] = replace(runs[stating], metric_facts={"score": MetricFacts("higher", (0, 1))})
        runs[side].metrics["score"][7] = value
        with pytest.raises(InputError, match=rf"score of sample 'a8' is {value}, outside its range \[0, 1\]"):
            make_pairs(tuple(runs), metrics=SCORE % "")
        with pytest.raises(InputError, match=r"outside its range"):
            make_pairs((None, replace(runs[side], metric_facts={"score": MetricFacts("higher", (0, 1))})),
                       metrics=SCORE % "")  # fmt: skip
    make_pairs(make_runs("a*29 0.5>0.5 b 0.5>1.5"), metrics=SCORE % "")  # nobody states one


@pytest.mark.parametrize(
    ("policy", "tool", "agrees"),
    [
        ((0, 1), (0, 1), True),
        ((0, 1), (-1, 1), True),  # narrower: what lies outside is an error anyway
        ((0, 100), (0, 1), False),
        ((-1, 1), (0, 1), False),
        ((0, 1), (0, 100), True),
    ],
)
def test_a_range_of_the_policy_beyond_the_tool_s(policy, tool, agrees):
    metrics = SCORE % f", range: [{policy[0]}, {policy[1]}]"
    said = {"metric_facts": {"score": MetricFacts("higher", tool)}}
    for before, after in ((said, {}), ({}, said), (said, said)):
        if agrees:
            pair_with(before, after, metrics=metrics)
        else:
            with pytest.raises(
                NotComparable, match=r"the policy's range of score is .*the tool that wrote it says"
            ):
                pair_with(before, after, metrics=metrics)
