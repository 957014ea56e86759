# ruff: noqa: E501  (lines of output stand here whole)
"""Facts of runs that were joined from files: held question by question, number by number, or as one; and told whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateline.errors import NotComparable
from gateline.pairing.provenance import compare_provenance, list_changes, state_facts
from gateline.pairing.settings import Provenance
from gateline.samples import JoinedFile, Run
from runs import make_run, records

RERUN = "  (rerun one of them, so that both are made alike)"


def make(file: str, text: str = "q*4 1>1", header: dict | None = None, **columns: list) -> Run:
    """Return a run with these fields beside each of its records."""
    side, _ = records(text)
    for name, values in columns.items():
        for record, value in zip(side, values, strict=True):
            record[name] = value
    return make_run(side, file, header)


def of_parts(run: Run, *names: str, silent: tuple[str, ...] = ()) -> Run:
    """Return the run as joined from two parts, each with these facts of its own."""
    parts = tuple(
        JoinedFile(
            f"{run.file}-{at}",
            f"{at}",
            frozenset({"score"}),
            frozenset(),
            frozenset(names),
            frozenset(silent),
        )
        for at in range(2)
    )
    return replace(run, parts=parts)


def of_numbers(run: Run, name: str, stated: dict[str, str], *more: str) -> Run:
    """Return the run as joined from one file for each number, each of which states a fact of it."""
    parts = tuple(
        JoinedFile(
            f"{run.file}-{at}",
            f"{at}",
            frozenset({number, *more}),
            frozenset(),
            stated={name: text} if text else {},
        )
        for at, (number, text) in enumerate(stated.items())
    )
    return replace(run, parts=parts)


def refused(baseline: Run, candidate: Run, *must_match: str) -> list[str]:
    try:
        compare_provenance(baseline, candidate, Provenance(must_match=list(must_match)))
    except NotComparable as error:
        assert error.headline == "the two runs were not made alike"
        return [str(problem) for problem in error.problems]
    return []


def changes(
    baseline: Run, candidate: Run, **provenance: list[str]
) -> list[tuple[str, str | None, str | None]]:
    return [
        (one.field, one.baseline, one.candidate)
        for one in list_changes(baseline, candidate, Provenance(**provenance))
    ]


# --- question by question


@pytest.mark.parametrize("turned", [False, True])
def test_one_run_of_parts_is_held_question_by_question_against_one_of_one_piece(turned: bool) -> None:
    parts = of_parts(make("p", dataset=["nq", "nq", "hotpot", "hotpot"]), "dataset")
    whole = make("w", dataset=["nq"] * 4)
    runs = (whole, parts) if turned else (parts, whole)
    before, after = ("nq", "hotpot") if turned else ("hotpot", "nq")
    assert refused(*runs, "dataset") == [
        f"{runs[1].file}: provenance.must_match: dataset is '{before}' in the baseline and '{after}' in the candidate, for 'q3', 'q4'{RERUN}"
    ]
    assert [name for name, _, _ in changes(*runs)] == ["dataset"]
    header = make("h", header={"dataset": "nq"})
    assert len(refused(*((header, parts) if turned else (parts, header)), "dataset")) == 1


def test_each_fact_is_held_by_itself_whichever_way_it_is_said() -> None:
    """One of parts, one of numbers and plain ones: none hides the next, in whatever order they are listed."""

    def run(file: str, dataset: str, judge: str, app: str) -> Run:
        made = make(
            file, header={"app": app, "judge": judge, "same": "x"}, dataset=["nq", "nq", dataset, dataset]
        )
        parts = of_numbers(made, "judge", {"score": judge, "other": "j0"}).parts
        return replace(made, parts=tuple(replace(part, facts=frozenset({"dataset"})) for part in parts))

    runs = run("b", "hotpot", "j1", "a1"), run("c", "trivia", "j2", "a2")
    told = {
        "dataset": "dataset is 'hotpot' in the baseline and 'trivia' in the candidate, for 'q3', 'q4'",
        "judge": "judge is 'j1' in the baseline and 'j2' in the candidate, for 'score'",
        "app": "app is 'a1' in the baseline and 'a2' in the candidate",
    }
    for names in (
        ("dataset", "judge", "app"),
        ("app", "judge", "dataset"),
        ("judge", "dataset", "app"),
        ("same", "app"),
    ):
        assert refused(*runs, *names) == [
            f"c: provenance.must_match: {told[name]}{RERUN}" for name in names if name in told
        ]


def test_more_than_three_questions_are_cut_and_counted() -> None:
    first = of_parts(make("b", "q*9 1>1", dataset=["nq"] * 2 + ["hotpot"] * 7), "dataset")
    second = of_parts(make("c", "q*9 1>1", dataset=["nq"] * 2 + ["trivia"] * 5 + ["web"] * 2), "dataset")
    (told,) = refused(first, second, "dataset")
    assert (
        "dataset is 'hotpot' in the baseline and 'trivia' in the candidate, for 'q3', 'q4', 'q5' and 4 more"
        in told
    )


def test_a_record_that_is_silent_makes_the_run_mixed() -> None:
    """What a part does not say can not be held question by question."""
    said = of_parts(make("b", dataset=["nq", "nq", "hotpot", "hotpot"]), "dataset")
    lacking = of_parts(make("c", dataset=["nq", "nq", "hotpot", None]), "dataset")
    assert refused(said, lacking, "dataset")[-1] == (
        "c: provenance.must_match: dataset is not the same for the whole of c: mixed (hotpot, nq, nothing)"
    )
    assert refused(said, make("c"), "dataset")[0].startswith(
        "c: provenance.must_match: c does not say its dataset"
    )


def test_what_the_header_says_counts_where_a_record_is_silent() -> None:
    whole = make("b", header={"dataset": "nq"})
    some = of_parts(make("c", header={"dataset": "nq"}, dataset=[None, "nq", None, "nq"]), "dataset")
    assert refused(whole, some, "dataset") == []
    other = of_parts(make("c", header={"dataset": "nq"}, dataset=[None, "web", None, "web"]), "dataset")
    (told,) = refused(whole, other, "dataset")
    assert "dataset is 'nq' in the baseline and 'web' in the candidate, for 'q2', 'q4'" in told


def test_all_that_the_attempts_at_a_question_say_is_held_and_told() -> None:
    first = of_parts(make("b", "q1 1,1>1 q2 1,1>1", dataset=["nq", "web", "nq", "nq"]), "dataset")
    turned = of_parts(make("c", "q1 1,1>1 q2 1,1>1", dataset=["web", "nq", "nq", "nq"]), "dataset")
    other = of_parts(make("c", "q1 1,1>1 q2 1,1>1", dataset=["web", "web", "nq", "nq"]), "dataset")
    assert refused(first, turned, "dataset") == []
    assert refused(first, other, "dataset") == [
        f"c: provenance.must_match: dataset is 'nq, web' in the baseline and 'web' in the candidate, for 'q1'{RERUN}"
    ]
    assert "is 'web' in the baseline and 'nq, web' in the candidate" in refused(other, first, "dataset")[0]


def test_questions_of_one_run_alone_are_held_against_none() -> None:
    first = of_parts(make("b", "q1 1>1 q2 1>1", dataset=["nq", "web"]), "dataset")
    second = of_parts(make("c", "q2 1>1 q3 1>1", dataset=["web", "trivia"]), "dataset")
    assert refused(first, second, "dataset") == []


# --- number by number


def test_each_judge_is_held_for_its_own_scores() -> None:
    header = {"judge": ["j4", "j5"]}
    numbers = {name: [1.0] * 4 for name in ("f", "g", "h")}
    first, second = make("b", header=header, **numbers), make("c", header=header, **numbers)
    before = of_numbers(first, "judge", {"f": "j4", "g": "j5", "h": "j5"})
    assert refused(before, of_numbers(second, "judge", {"h": "j5", "f": "j4", "g": "j5"}), "judge") == []
    swapped = of_numbers(second, "judge", {"f": "j5", "g": "j4", "h": "j4"})
    assert refused(before, swapped, "judge") == [
        f"c: provenance.must_match: judge is 'j4' in the baseline and 'j5' in the candidate, for 'f'{RERUN}",
        f"c: provenance.must_match: judge is 'j5' in the baseline and 'j4' in the candidate, for 'g', 'h'{RERUN}",
    ]


def test_many_numbers_of_one_judge_are_cut_and_counted() -> None:
    names = [f"m{at}" for at in range(7)]
    runs = [
        of_numbers(make(file, header={"judge": ["j1", judge]}, **{name: [1.0] * 4 for name in names}), "judge",
                   {"score": "j1", **dict.fromkeys(names, judge)})
        for file, judge in (("b", "j2"), ("c", "j3"))
    ]  # fmt: skip
    (told,) = refused(runs[0], runs[1], "judge")
    assert (
        "judge is 'j2' in the baseline and 'j3' in the candidate, for 'm0', 'm1', 'm2', 'm3', 'm4' and 2 more"
        in told
    )


def test_a_run_of_one_file_says_its_fact_for_each_of_its_numbers() -> None:
    numbers = {name: [1.0] * 4 for name in ("f", "g")}
    one = make("b", header={"judge": "j4"}, **numbers)
    two = of_numbers(make("c", header={"judge": ["j4", "j5"]}, **numbers), "judge", {"f": "j4", "g": "j5"})
    (told,) = refused(one, two, "judge")
    assert "judge is 'j4' in the baseline and 'j5' in the candidate, for 'g'" in told
    (told,) = refused(replace(two, file="b"), replace(one, file="c"), "judge")
    assert told.startswith(
        "c: provenance.must_match: judge is 'j5' in the baseline and 'j4' in the candidate, for 'g'"
    )


def test_a_score_of_a_file_that_states_no_judge_is_not_stated_and_a_time_need_not_be() -> None:
    def run(file: str, stated: dict[str, str]) -> Run:
        made = make(file, header={"judge": "j4"}, seconds=[1.0] * 4)
        made.metrics["f"] = made.metrics["g"] = made.metrics["score"]
        return of_numbers(made, "judge", stated)

    whole = run("b", {"f": "j4", "g": "j4", "seconds": ""})
    assert refused(whole, run("c", {"f": "j4", "g": "j4", "seconds": ""}), "judge") == []
    assert refused(whole, run("c", {"f": "j4", "g": "", "seconds": ""}), "judge") == [
        f"c: provenance.must_match: judge is 'j4' in the baseline and 'not stated' in the candidate, for 'g'{RERUN}"
    ]
    assert (
        refused(
            make("b", header={"judge": "j4"}, seconds=[1.0] * 4),
            run("c", {"score": "j4", "seconds": ""}),
            "judge",
        )
        == []
    )


def test_where_all_files_state_one_thing_it_is_held_as_one() -> None:
    def run(file: str, judge: str) -> Run:
        made = make(file, header={"judge": judge}, f=[1.0] * 4)
        return of_numbers(made, "judge", {"score": judge, "f": judge})

    assert refused(run("b", "j1"), run("c", "j1"), "judge") == []
    assert refused(run("b", "j1"), run("c", "j2"), "judge") == [
        f"c: provenance.must_match: judge is 'j1' in the baseline and 'j2' in the candidate{RERUN}"
    ]


# --- what is told of a change


def test_a_fact_of_the_header_is_told_without_the_records_field_of_that_name() -> None:
    runs = [
        make(file, header={"judge": judge}, judge=["x", "y"] * 2)
        for file, judge in (("b", "j1"), ("c", "j2"))
    ]
    assert changes(*runs) == [("judge", "j1", "j2")]
    assert changes(runs[0], make("c", judge=["x", "y"] * 2)) == [("judge", "j1", None)]


def test_a_field_that_only_the_records_of_one_run_have_is_no_change() -> None:
    assert changes(make("b", note=["n"] * 4), make("c")) == []
    assert changes(make("b"), make("c", note=["n"] * 4)) == []
    assert changes(make("b", note=["n"] * 4), make("c", note=["m"] * 4)) == [("note", "n", "m")]


def test_a_part_that_does_not_say_a_fact_of_the_run_is_told_as_nothing() -> None:
    silent = of_parts(make("c", header={"judge": "j1"}), silent=("judge",))
    assert changes(make("b", header={"judge": "j1"}), silent) == [("judge", "j1", "mixed (j1, nothing)")]


def test_more_than_five_values_are_cut() -> None:
    run = make("c", "q*7 1>1", judge=[f"j{at}" for at in range(7)])
    assert refused(make("b", "q*7 1>1", judge=["j"] * 7), run, "judge") == [
        "c: provenance.must_match: judge is not the same for the whole of c: mixed (j0, j1, j2, j3, j4, …)"
    ]
    five = make("c", "q*5 1>1", judge=[f"j{at}" for at in range(5)])
    assert refused(make("b", "q*5 1>1", judge=["j"] * 5), five, "judge")[0].endswith(
        "mixed (j0, j1, j2, j3, j4)"
    )


@pytest.mark.parametrize("name", ["question", "error", "answer", "reference", "reference_answer"])
def test_what_belongs_to_a_sample_is_no_fact_of_the_run(name: str) -> None:
    assert state_facts(make("b", **{name: ["same"] * 4})) == {}


def test_a_fact_is_what_every_record_says_alike() -> None:
    run = make(
        "b", a=["x"] * 4, b=["x", "x", "x", None], c=["  "] * 4, d=[5.0] * 4, e=[["x"]] * 4, header={"a": "h"}
    )
    assert state_facts(run) == {"a": "h"}
    assert state_facts(make("b", a=[" x "] * 4)) == {"a": "x"}
    named = replace(make("b", key=["x"] * 4), id_field="key")
    assert state_facts(named) == {}


@pytest.mark.parametrize("turned", [False, True])
def test_runs_that_say_the_same_of_other_questions_are_told_as_changed(turned: bool) -> None:
    """As texts both are mixed alike; only question by question they differ, whichever run is of parts."""
    parts = of_parts(make("p", dataset=["nq", "nq", "hotpot", "hotpot"]), "dataset")
    other = make("w", dataset=["hotpot", "hotpot", "nq", "nq"])
    mixed = "mixed (hotpot, nq)"
    assert changes(*((other, parts) if turned else (parts, other))) == [("dataset", mixed, mixed)]
    same = make("w", dataset=["nq", "nq", "hotpot", "hotpot"])
    assert changes(*((same, parts) if turned else (parts, same))) == []


def test_a_score_that_two_files_have_is_told_with_all_that_they_state() -> None:
    before = of_numbers(
        make("b", header={"judge": ["j1", "j2"]}, f=[1.0] * 4), "judge", {"f": "j1", "x": "j2"}, "score"
    )
    after = of_numbers(
        make("c", header={"judge": ["j1", "j2"]}, f=[1.0] * 4), "judge", {"f": "j1", "score": "j1", "y": "j2"}
    )
    assert refused(before, after, "judge") == [
        f"c: provenance.must_match: judge is 'j1, j2' in the baseline and 'j1' in the candidate, for 'score'{RERUN}"
    ]


def test_a_field_without_any_text_says_nothing() -> None:
    (told,) = refused(make("b", judge=["j1"] * 4), make("c", judge=["", None, " ", ""]), "judge")
    assert told.startswith("c: provenance.must_match: c does not say its judge")
