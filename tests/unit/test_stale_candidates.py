"""A candidate that was not evaluated again proves nothing, whole or in part: measured times and ids of runs tell."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateline.pairing import Pairs
from gateline.pairing.carried import _last_digits
from gateline.reports import render
from gateline.verdict import Verdict
from runs import SHARED, TOLERANCE, check_gate, make_pairs, make_run, write_gate, write_run

Records = list[dict[str, Any]]
BY_VALUE = TOLERANCE[:-1] + ", decide_by: value}"


def measured(seed: int, number: int = 60, digits: int = 4, failed: int = 4) -> Records:
    """Return records as an evaluation has them: a score by question, and a time of so many digits that it measured."""
    times = np.random.default_rng(seed).lognormal(6.5, 0.3, number)
    return [
        {
            "id": f"q{row}",
            "metrics": {"score": float(row % failed > 0)},
            "latency_ms": float(f"{time:.{digits}g}"),
        }
        for row, time in enumerate(times)
    ]


def pairs_of(before: Records, after: Records) -> Pairs:
    return make_pairs((make_run(before, "b"), make_run(after, "c")))


def decide(
    folder: Path, before: Records, after: Records, header: tuple[Any, Any] = (None, None), **options: Any
) -> Verdict:
    write_gate(folder, (before, after), BY_VALUE)
    for name, side, facts in (("baseline", before, header[0]), ("candidate", after, header[1])):
        write_run(folder / f"{name}.jsonl", side, facts)
    return check_gate(folder, **options)


def test_a_second_run_of_a_deterministic_system_is_another_run(tmp_path: Path) -> None:
    verdict = decide(tmp_path, measured(1), measured(2), require_fresh=True)
    assert (verdict.verdict, verdict.warns, verdict.notices) == ("pass", False, [])


def test_the_baseline_again_is_told_at_the_top_and_is_no_fresh_run(tmp_path: Path) -> None:
    verdict = decide(tmp_path, measured(1), measured(1)[::-1], ({"app.commit": "a"}, {"app.commit": "b"}))
    assert (verdict.verdict, verdict.exit_code, verdict.warns) == ("pass", 0, True)
    assert verdict.pairing is not None
    assert (verdict.pairing.identical, verdict.pairing.carried_over) == (True, 60)
    told = "The candidate was not evaluated again"
    assert told in render("text", verdict, width=200)
    assert told in render("markdown", verdict)
    assert "候选没有重新评测" in render("markdown", verdict, language="zh")
    # another commit in the header makes no other run of the same times
    strict = decide(
        tmp_path, measured(1), measured(1), ({"app.commit": "a"}, {"app.commit": "b"}), require_fresh=True
    )
    assert (strict.verdict, strict.exit_code) == ("invalid", 2)
    assert str(strict.problems[0].message) == (
        "60 of 60 records are the baseline's in every field, measured times or ids of runs among them: 'q0', 'q1', "
        "'q10', 'q11', 'q12' and 55 more"
    )


def test_the_baselines_records_for_what_failed_are_told(tmp_path: Path) -> None:
    """The kind of mixture that hides a regression: 15 of 60 questions got worse, and stand there as they were."""
    before = measured(1, failed=100)
    after = measured(2, failed=100)
    after[::4] = copy.deepcopy(before[::4])
    verdict = decide(tmp_path, before, after)
    assert (verdict.verdict, verdict.warns) == ("pass", True)
    assert "15 of 60 questions were not answered again" in render("text", verdict, width=200)
    (told,) = [one for one in verdict.notices if "15 of 60 records are the baseline's" in one]
    assert Path(told.partition(": ")[0]).name == "candidate.jsonl"
    assert decide(tmp_path, before, after, require_fresh=True).verdict == "invalid"


def test_records_from_a_cache_say_so_themselves() -> None:
    before, after = measured(1), measured(1)
    for record in after:
        record["cached"] = True
    assert pairs_of(before, after).carried == []


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(latency_ms=record["latency_ms"] + 0.001),
        lambda record: record["metrics"].update(score=1 - record["metrics"]["score"]),
        lambda record: record.update(answer="another"),
    ],
)
def test_whatever_differs_makes_another_record(change: Callable[[dict[str, Any]], None]) -> None:
    before, after = measured(1), measured(1)
    for record in before:
        record["answer"] = "one"
    for place, record in enumerate(after):
        record["answer"] = "one"
        if place % 2:
            change(record)
    pairs = pairs_of(before, after)
    assert [pairs.ids[place] for place in pairs.carried] == sorted(f"q{row}" for row in range(0, 60, 2))


@pytest.mark.parametrize("name", ["run_id", "trace_id"])
def test_one_run_of_the_system_has_one_id(name: str) -> None:
    before = [{"id": f"q{row}", "metrics": {"score": 1}, name: f"r{row}"} for row in range(10)]
    after = [{"id": f"q{row}", "metrics": {"score": 1}, name: f"s{row}"} for row in range(10)]
    assert pairs_of(before, after).carried == []
    after[3][name] = "r3"
    assert pairs_of(before, after).carried == [3]
    for record in [*before, *after]:  # an id of the whole run tells no record from another
        record[name] = "all"
    assert pairs_of(before, after).carried == []


def test_equal_scores_alone_are_no_proof_of_an_old_run(tmp_path: Path) -> None:
    plain = [{"id": f"q{row}", "metrics": {"score": 1.0}} for row in range(30)]
    verdict = decide(tmp_path, plain, plain, ({"app.commit": "a"}, {"app.commit": "b"}), require_fresh=True)
    assert (verdict.verdict, verdict.notices) == (
        "pass",
        ["both files hold the same records: nothing changed"],
    )
    verdict = decide(tmp_path, plain, plain, require_fresh=True)
    assert verdict.exit_code == 2
    told = "holds the baseline's records, and nothing in it says that it is another run"
    assert [problem.message for problem in verdict.problems] == [told]


def measured_twice(generator: np.random.Generator, number: int, digits: int, middle: float) -> list[Records]:
    """Return two runs whose times of one question lie within three hundredths of each other, about e^middle."""
    times = generator.lognormal(middle, 0.3, number)
    return [
        [
            {"id": f"q{row}", "metrics": {"score": 1.0}, "latency_ms": float(f"{time:.{digits}g}")}
            for row, time in enumerate(times * generator.lognormal(0, 0.02, number))
        ]
        for _ in range(2)
    ]


@pytest.mark.parametrize("middle", [4.7, 6.5])
@pytest.mark.parametrize("digits", [1, 2, 3, 4, 5])
def test_times_that_come_again_by_chance_are_no_carried_records(digits: int, middle: float) -> None:
    """Few questions too: the rule of four standard errors told one run of a hundred, where one time is expected in 30.

    Times that begin with a 1 come again the most often, as a step of the last digit is the largest share of them.
    """
    generator = np.random.default_rng([digits, int(10 * middle)])
    for _ in range(120):
        number = int(generator.choice([20, 30, 60, 200], p=[0.5, 0.3, 0.15, 0.05]))
        assert pairs_of(*measured_twice(generator, number, digits, middle)).carried == []


@pytest.mark.parametrize(("digits", "copied"), [(3, 25), (4, 8), (5, 4), (6, 2)])
def test_few_copies_of_a_fine_time_are_more_than_chance(digits: int, copied: int) -> None:
    generator = np.random.default_rng(digits)
    for _ in range(20):
        before, after = measured_twice(generator, 60, digits, 6.5)
        rows = generator.choice(60, copied, replace=False).tolist()
        for row in rows:
            after[row] = copy.deepcopy(before[row])
        pairs = pairs_of(before, after)
        assert {f"q{row}" for row in rows} <= {pairs.ids[place] for place in pairs.carried}


def identified(ids: list[str | None], other: str | None = None) -> Records:
    records = [{"id": f"q{row:02}", "metrics": {"score": 1.0}, "run_id": one} for row, one in enumerate(ids)]
    return records if other is None else [{**record, other: "x"} for record in records]


def test_a_time_of_0_and_an_id_that_is_blank_were_not_measured() -> None:
    """The kind of value that stands for none: equal in both runs, it carries nothing over."""
    before, after = measured(1), measured(2)
    for row in range(0, 60, 3):
        after[row] = copy.deepcopy(before[row])
        before[row]["latency_ms"] = after[row]["latency_ms"] = 0.0
    assert pairs_of(before, after).carried == []
    names = [None if row % 2 else f"r{row}" for row in range(20)]
    others = [name and f"s{name}" for name in names]
    assert pairs_of(identified(names), identified(others)).carried == []
    others[4] = "r4"
    assert pairs_of(identified(names), identified(others)).carried == [4]


def test_what_one_run_alone_tells_makes_no_other_record() -> None:
    names = [f"r{row}" for row in range(10)]
    for before, after in (("was", None), (None, "now"), ("was", "now")):
        assert pairs_of(identified(names, before), identified(names, after)).carried == list(range(10))


def test_what_is_left_after_all_columns_must_be_more_than_chance_too() -> None:
    """Eight equal times of three digits are too many, but one record that is the same in all is not."""
    before, after = measured(1, digits=3), measured(2, digits=3)
    for row in range(0, 60, 3):
        after[row] = copy.deepcopy(before[row])
        after[row]["answer"], before[row]["answer"] = "now", "was" if row else "now"
    assert pairs_of(before, after).carried == []


def test_any_measured_column_tells_a_copy_where_the_others_are_blank() -> None:
    before, after = measured(1, digits=9), measured(2, digits=9)
    for row in range(60):
        before[row]["run_id"], after[row]["run_id"] = (f"b{row}", f"c{row}") if row % 3 else (None, None)
    after[6], after[7] = copy.deepcopy(before[6]), copy.deepcopy(before[7])
    after[8] = {**copy.deepcopy(before[8]), "latency_ms": 0.0}
    before[8]["latency_ms"] = 0.0
    pairs = pairs_of(before, after)
    assert {pairs.ids[place] for place in pairs.carried} == {"q6", "q7", "q8"}


def test_a_column_of_one_run_or_one_that_repeats_in_either_tells_nothing() -> None:
    names = [f"r{row}" for row in range(12)]
    before, after = identified(names), identified([f"s{row}" for row in range(12)])
    after[3]["run_id"] = "r3"
    for number, record in enumerate(before):
        record["latency_ms"] = 1.25 + number
    assert pairs_of(before, after).carried == [3]  # the candidate has no times
    for record in before:
        record["run_id"] = "r3"
    assert pairs_of(before, after).carried == []
    twice = identified([f"r{row // 2}" for row in range(12)])
    assert pairs_of(twice, copy.deepcopy(twice)).carried == []


def test_times_are_found_under_the_name_that_the_policy_gives_them() -> None:
    before, after = measured(1, digits=9), measured(2, digits=9)
    after[5] = copy.deepcopy(before[5])
    for record in (*before, *after):
        record["took"] = record.pop("latency_ms")
    score = "score: {better: higher, range: [0, 1]}"
    for time, found in (
        (", waited: {better: lower, unit: ms, field: took}", ["q5"]),
        (", took: {better: lower, unit: ms}", ["q5"]),
        (", took: {better: lower}", []),  # nothing says that it is a time
        ("", []),
    ):
        pairs = make_pairs((make_run(before, "b"), make_run(after, "c")), metrics=f"{{{score}{time}}}")
        assert [pairs.ids[place] for place in pairs.carried] == found


def test_a_number_that_both_records_lack_is_the_same_in_both() -> None:
    before, after = measured(1, digits=9), measured(2, digits=9)
    for row in range(60):
        before[row]["tokens"] = after[row]["tokens"] = 5
    for row in (3, 7):
        before[row]["tokens"] = None
        after[row] = copy.deepcopy(before[row])
    after[8], after[9] = copy.deepcopy(before[8]), copy.deepcopy(before[9])
    after[8]["tokens"] = before[9]["tokens"] = None
    pairs = pairs_of(before, after)
    assert {pairs.ids[place] for place in pairs.carried} == {"q3", "q7"}


def test_a_few_copies_are_found_among_thousands() -> None:
    before, after = measured(1, 3_500, digits=12), measured(2, 3_500, digits=12)
    after[77], after[3_000] = copy.deepcopy(before[77]), copy.deepcopy(before[3_000])
    pairs = pairs_of(before, after)
    assert {pairs.ids[place] for place in pairs.carried} == {"q77", "q3000"}


@pytest.mark.parametrize(("sizes", "steps"), [
    ([0.812, 0.81, 0.9, 0.777, 0.123], [0.001] * 5),  # thousandths, of which some end in zeros
    ([1234.0, 56.78, 0.9012, 1.23e7, 4320.0], [1.0, 0.01, 0.0001, 1e4, 1.0]),  # four digits
    ([1005.1, 12.5, 0.1, 20.0, 333.3], [0.1] * 5),
    ([70.0], [10.0]),
])  # fmt: skip
def test_the_last_digit_is_that_of_the_column(sizes: list[float], steps: list[float]) -> None:
    assert _last_digits(np.array(sizes)) == pytest.approx(steps)


def test_a_refusal_names_the_candidate_and_what_to_do(tmp_path: Path) -> None:
    plain = [{"id": f"q{row}", "metrics": {"score": 1.0}} for row in range(30)]
    for records, hint in (
        (measured(1), "evaluate the candidate again, all of it"),
        (plain, "evaluate the candidate again, and have"),
    ):
        (problem,) = decide(tmp_path, records, records, require_fresh=True).problems
        assert problem.where.endswith("candidate.jsonl")
        assert problem.hint.startswith(hint)


@given(st.integers(0, 10_000), st.sets(st.integers(0, 59), min_size=1))
def test_records_with_fine_times_are_found_each(seed: int, chosen: set[int]) -> None:
    before, after = measured(seed, digits=9), measured(seed + 1, digits=9)
    for row in chosen:
        after[row] = copy.deepcopy(before[row])
    pairs = pairs_of(before, after)
    assert {pairs.ids[place] for place in pairs.carried} == {f"q{row}" for row in chosen}


@pytest.mark.parametrize(
    "file",
    [
        "deepeval/{}.test_run.json",
        "langsmith/{}.csv",
        "promptfoo/{}.json",
        "phoenix/{}.csv",
        "inspect/{}.json",
    ],
)
def test_real_runs_are_told_from_their_copies(file: str) -> None:
    from gateline.pairing.carried import find_carried
    from gateline.pairing.join import group_ids, make_side
    from gateline.pairing.settings import Samples
    from gateline.readers import read_run

    sides = []
    for run in (read_run(SHARED / "formats" / file.format(side)) for side in ("baseline", "candidate")):
        groups = group_ids(run, Samples())
        sides.append(make_side(run, groups, sorted(groups), Samples()))
    assert find_carried(*sides, {}) == []
    assert find_carried(sides[0], sides[0], {}) == list(range(len(sides[0].first)))


def test_an_older_verdict_is_read_as_before(tmp_path: Path) -> None:
    verdict = decide(tmp_path, measured(1), measured(2))
    data = json.loads(verdict.to_json())
    del data["pairing"]["carried_over"]
    assert Verdict.model_validate(data).warns is False
