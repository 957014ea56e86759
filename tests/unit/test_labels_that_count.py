"""Which labels of people correct a judge: enough of them, of the answers that are judged, chosen by chance.

Whatever they lack, a fail of the judge stands: naming labels in a policy never makes a verdict greener by itself.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.gate import check
from gateline.guard import compare_policies
from gateline.policy import load_policy
from gateline.reports.tables import counted
from gateline.spelling import PLAIN
from gateline.texts import load
from gateline.verdict import Verdict
from gateline.wording import describe

N = 300
TOLERANCE = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 0.05}"
FLOOR = "{id: floor, kind: limit, metric: score, at_least: 0.8}"
HARD = "{id: red-line, kind: limit, metric: score, at_least: 0.8, hard: true}"
METRIC = "{better: higher, range: [0, 1], show_as: percent}"
Record = dict[str, Any]
SEVERITY = {"pass": 0, "inconclusive": 1, "fail": 2}


def write(file: Path, records: list[Record]) -> None:
    file.write_text("".join(json.dumps(record) + "\n" for record in records))


def read(folder: Path, run: str) -> list[Record]:
    return [json.loads(line) for line in (folder / f"{run}.jsonl").read_text().splitlines()]


def answers_of(folder: Path) -> dict[str | None, list[str]]:
    return {run: [record["answer"] for record in read(folder, run)] for run in ("baseline", "candidate")}


def runs(folder: Path, answers: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Write two runs in which the judge sees the candidate 34 points worse, and return what it says of them.

    Where the runs hold answers, the candidate's differ from the baseline's in the second half.
    """
    draw = np.random.default_rng(3)
    before = (draw.random(N) < 0.9).astype(int)
    after = before * (draw.random(N) < 0.65)
    for name, values in (("baseline", before), ("candidate", after)):
        records: list[Record] = [
            {"id": f"q{row}", "metrics": {"score": int(values[row])}} for row in range(N)
        ]
        if answers:
            for row, record in enumerate(records):
                record["answer"] = f"answer {row}" if row < N // 2 else f"answer {row} of the {name}"
        write(folder / f"{name}.jsonl", records)
    return before, after


def labels(
    folder: Path,
    rows: Any,
    value: Callable[[int], float | None],
    sides: tuple[str | None, ...] = ("baseline", "candidate"),
    head: Mapping[str, object] | None = None,
    more: Callable[[int, str | None], Record] | None = None,
) -> None:
    records: list[Record] = [] if head is None else [{"gateline": 1, "run": dict(head)}]
    for row in rows:
        for side in sides:
            record: Record = {"id": f"q{row}", "metrics": {"score": value(int(row))}}
            record |= {} if side is None else {"run": side}
            records.append(record | (more(int(row), side) if more else {}))
    write(folder / "human.jsonl", records)


def judge(
    folder: Path, *rules: str, calibration: str = "{human: human.jsonl, metric: score}", metric: str = METRIC,
    terms: str = "",
) -> Verdict:  # fmt: skip
    lines = "".join(f"  - {rule}\n" for rule in rules or (TOLERANCE, FLOOR))
    called = f"calibration: {calibration}\n" if calibration else ""
    (folder / "policy.yml").write_text(
        f"version: 1\nname: p\n{terms}metrics:\n  score: {metric}\n{called}rules:\n{lines}"
    )
    files = folder / "baseline.jsonl", folder / "candidate.jsonl"
    return check(folder / "policy.yml", *files, on=datetime.date(2026, 11, 30))


def statuses(verdict: Verdict) -> list[str]:
    return [finding.status.value for finding in sorted(verdict.findings, key=lambda one: one.rule)]


# Too few


def test_labels_without_a_value_leave_the_judges_fail_as_it_was(tmp_path: Path) -> None:
    runs(tmp_path)
    alone = judge(tmp_path, calibration="")
    labels(tmp_path, range(5), lambda row: None)
    found = judge(tmp_path)
    assert (found.verdict, statuses(found)) == (alone.verdict, statuses(alone)) == ("fail", ["fail", "fail"])
    for mine, judges in zip(found.findings, alone.findings, strict=True):
        assert (mine.baseline, mine.candidate, mine.gain) == (judges.baseline, judges.candidate, judges.gain)
        assert mine.interval == judges.interval
        assert mine.calibration is not None and not mine.calibration.corrects
        assert "that is the judge alone, and its fail stands" in mine.message
    assert any("holds no label that counts" in notice for notice in found.notices)


@pytest.mark.parametrize("count", [1, 2, 9, 29, 30])
def test_fewer_labels_than_asked_for_decide_nothing_by_value_or_interval(tmp_path: Path, count: int) -> None:
    runs(tmp_path)
    draw = np.random.default_rng(1)
    labels(tmp_path, draw.choice(N, count, replace=False), lambda row: 1.0)
    rules = (TOLERANCE, FLOOR, HARD)
    found = judge(tmp_path, *rules)
    corrects = {one.calibration.corrects for one in found.findings if one.calibration}
    assert corrects == {count >= 30}
    if count < 30:
        assert statuses(found) == ["fail"] * 3
        assert all(f"people labelled {count} independent sample" in one.message for one in found.findings)
    else:
        floor = next(one for one in found.findings if one.rule == "floor")
        assert "from 30 labels of people and 300 samples of the judge" in floor.message


def test_what_the_judge_passes_is_not_passed_on_few_labels(tmp_path: Path) -> None:
    runs(tmp_path)
    write(tmp_path / "candidate.jsonl", [one | {"note": "new"} for one in read(tmp_path, "baseline")])
    assert judge(tmp_path, calibration="").verdict == "pass"
    labels(tmp_path, range(5), lambda row: 1.0)
    found = judge(tmp_path)
    assert statuses(found) == ["inconclusive", "inconclusive"]
    assert all(one.candidate is None and one.gain is None for one in found.findings)


def test_how_many_are_enough_is_the_policys_to_say(tmp_path: Path) -> None:
    runs(tmp_path)
    labels(tmp_path, np.random.default_rng(1).choice(N, 12, replace=False), lambda row: 1.0)
    asked = "{human: human.jsonl, metric: score, at_least: 12}"
    judge(tmp_path)
    base = load_policy(tmp_path / "policy.yml").policy
    assert all(
        one.calibration and one.calibration.corrects for one in judge(tmp_path, calibration=asked).findings
    )
    (change,) = compare_policies(base, load_policy(tmp_path / "policy.yml").policy)
    assert (change.path, change.loosens, change.now) == ("calibration.score", True, "human.jsonl at_least 12")


def test_labels_in_few_clusters_are_few(tmp_path: Path) -> None:
    """40 labels of one document are one independent label."""
    runs(tmp_path)
    for name in ("baseline", "candidate"):
        records = [one | {"doc": f"d{row // 40}"} for row, one in enumerate(read(tmp_path, name))]
        write(tmp_path / f"{name}.jsonl", records)
    labels(tmp_path, range(40), lambda row: 1.0)
    found = judge(tmp_path, terms="samples: {cluster: doc}\n")
    assert {one.calibration.labelled_clusters for one in found.findings if one.calibration} == {1}
    assert {one.calibration.corrects for one in found.findings if one.calibration} == {False}


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_naming_labels_never_softens_a_fail_that_they_do_not_justify(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Up to 29 labels, whoever chose them and whatever they say."""
    folder = tmp_path_factory.mktemp("world")
    runs(folder)
    alone = judge(folder, TOLERANCE, FLOOR, HARD, calibration="")
    rows = data.draw(st.lists(st.integers(0, N - 1), unique=True, max_size=29))
    values = data.draw(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=len(rows), max_size=len(rows))
    )
    sides = data.draw(st.sampled_from([("baseline",), ("candidate",), ("baseline", "candidate"), (None,)]))
    value = dict(zip(rows, values, strict=True))
    labels(folder, rows or [0], value.get, sides)
    found = judge(folder, TOLERANCE, FLOOR, HARD)
    assert found.verdict != "pass"
    for mine, judges in zip(statuses(found), statuses(alone), strict=True):
        assert SEVERITY[mine] >= SEVERITY[judges]


# Of other answers


@pytest.mark.parametrize("carry", ["answer", "response", "review.answer_sha256"])
def test_a_label_of_an_older_answer_does_not_count_for_a_new_one(tmp_path: Path, carry: str) -> None:
    """People labelled the answers of a run that is gone; half of its answers are still given."""
    runs(tmp_path, answers=True)

    def of_old(row: int, side: str | None) -> Record:
        text = f"answer  {row}\n" if row < N // 2 else f"answer {row} of old"
        if carry == "review.answer_sha256":
            words = " ".join(text.split())
            return {
                "review": {"sampling": "random", "answer_sha256": hashlib.sha256(words.encode()).hexdigest()}
            }
        return {carry: text}

    labels(tmp_path, range(0, N, 2), lambda row: 1.0, more=of_old)
    found = judge(tmp_path)
    assert statuses(found) == ["fail", "fail"]
    notices = "\n".join(found.notices)
    assert "people labelled 75 answers of the candidate and 75 of the baseline" in notices
    assert "75 labels are of other answers than these runs hold" in notices and "'q150'" in notices
    assert "name no answer" not in notices
    assert "75 of 150 labels of people are of other answers" in found.findings[0].message


def test_a_run_that_was_scored_anew_keeps_its_labels(tmp_path: Path) -> None:
    """The digest is another, and the answers are the same."""
    runs(tmp_path, answers=True)
    answers = answers_of(tmp_path)
    labels(
        tmp_path, range(0, N, 2), lambda row: 1.0, head={"review.candidate_sha256": "0" * 64},
        more=lambda row, side: {"answer": answers[side][row]},
    )  # fmt: skip
    found = judge(tmp_path)
    assert not any("other answers" in notice or "name no answer" in notice for notice in found.notices)
    assert all(one.calibration and one.calibration.corrects for one in found.findings)


def test_a_few_labels_of_other_answers_are_let_be_as_far_as_missing_values_are(tmp_path: Path) -> None:
    runs(tmp_path, answers=True)
    answers = answers_of(tmp_path)
    told = {side: list(texts) for side, texts in answers.items()}
    for changed, corrects in ((3, True), (4, False)):  # 2 % of 150 are 3
        for texts in told.values():
            texts[: 2 * changed] = ["another"] * 2 * changed
        labels(tmp_path, range(0, N, 2), lambda row: 1.0, more=lambda row, side: {"answer": told[side][row]})
        found = judge(tmp_path)
        assert {one.calibration.corrects for one in found.findings if one.calibration} == {corrects}


def test_labels_that_name_neither_run_nor_answer_count_only_where_both_runs_answer_alike(
    tmp_path: Path,
) -> None:
    runs(tmp_path, answers=True)
    labels(tmp_path, range(0, N, 2), lambda row: 1.0, sides=(None,))
    found = judge(tmp_path)
    notices = "\n".join(found.notices)
    assert "people labelled 75 answers of the candidate and 0 of the baseline" in notices
    assert (
        "75 labels are of other answers than these runs hold, or don't say of which run they are" in notices
    )
    assert "75 labels that count name no answer" in notices
    assert statuses(found) == ["fail", "fail"]


def test_without_answers_in_the_runs_labels_count_with_a_warning(tmp_path: Path) -> None:
    runs(tmp_path)
    labels(tmp_path, range(0, N, 2), lambda row: 1.0)
    found = judge(tmp_path)
    assert any("300 labels that count name no answer" in notice for notice in found.notices)


def test_a_file_that_says_no_run_is_of_the_run_whose_answers_it_holds(tmp_path: Path) -> None:
    runs(tmp_path, answers=True)
    answers = answers_of(tmp_path)["baseline"]
    labels(
        tmp_path, range(0, N, 2), lambda row: 1.0, sides=(None,), more=lambda row, _: {"answer": answers[row]}
    )  # fmt: skip
    assert any("0 answers of the candidate and 150 of the baseline" in one for one in judge(tmp_path).notices)


def test_a_new_label_stands_beside_the_one_of_the_older_answer(tmp_path: Path) -> None:
    """They are of two answers, so they contradict nothing, and the older one leaves no gap."""
    runs(tmp_path, answers=True)
    answers = answers_of(tmp_path)
    labels(tmp_path, range(0, N, 2), lambda row: 1.0, more=lambda row, side: {"answer": answers[side][row]})
    old = [
        {"id": f"q{row}", "run": "candidate", "answer": "old", "metrics": {"score": 0}}
        for row in range(0, N, 2)
    ]
    with (tmp_path / "human.jsonl").open("a") as file:
        file.writelines(json.dumps(one) + "\n" for one in old)
    found = judge(tmp_path)
    assert all(one.calibration and one.calibration.corrects for one in found.findings)


def test_a_queue_of_gateline_is_tied_to_its_answers_also_without_the_texts(tmp_path: Path) -> None:
    from gateline.review import Request, review

    runs(tmp_path, answers=True)
    queue = review(judge(tmp_path, calibration=""), Request(number=60, random_share="100%")).text
    lines = [json.loads(line) for line in queue.splitlines()]
    for line in lines[1:]:
        line["metrics"]["score"] = 1
        del line["answer"]
    write(tmp_path / "human.jsonl", lines)
    found = judge(tmp_path, FLOOR)
    assert any("people labelled 60 answers of the candidate" in notice for notice in found.notices)
    assert not any("name no answer" in notice for notice in found.notices)
    for name in ("baseline", "candidate"):
        write(tmp_path / f"{name}.jsonl", [
            one | {"answer": "new " + one["answer"]} for one in read(tmp_path, name)
        ])  # fmt: skip
    assert any("60 labels are of other answers" in notice for notice in judge(tmp_path, FLOOR).notices)


# Not by chance, on another scale, left out


def test_where_few_labels_leave_it_to_the_judge_it_is_asked_in_the_rules_own_place(tmp_path: Path) -> None:
    """Of its slice, and for a floor over all that the candidate has: what the baseline lacks is no excuse."""
    for name in ("baseline", "candidate"):
        records: list[Record] = []
        for row in range(N):
            language = ("de", "en", "fr")[row % 3]
            right = language == "de" or name == "baseline"
            score = None if (name, language) == ("baseline", "fr") else int(right)
            records.append(
                {"id": f"q{row:03}", "slices": {"language": language}, "metrics": {"score": score}}
            )
        write(tmp_path / f"{name}.jsonl", records)
    write(tmp_path / "human.jsonl", [{"id": "q000", "run": "candidate", "metrics": {"score": 1}}])
    terms = "missing: {drop_at_most: 1}\nslices: {by: [language]}\n"
    places = {
        "language=de": ("inconclusive", None),  # one label says little, and the judge finds nothing wrong
        "language=en": ("fail", 0.0),
        "language=fr": ("fail", 0.0),
    }
    rules = [
        FLOOR.replace("floor", f"f{number}")[:-1] + f", slice: {place}}}"
        for number, place in enumerate(places)
    ]
    found = judge(tmp_path, *rules, FLOOR, terms=terms).findings
    told = {one.slice: (one.status.value, one.candidate) for one in found}
    assert told == {**places, None: ("fail", pytest.approx(1 / 3))}
    assert {one.slice: one.samples for one in found} == {**dict.fromkeys(places, N // 3), None: N}


def test_labels_of_the_good_answers_alone_correct_nothing(tmp_path: Path) -> None:
    _, after = runs(tmp_path)
    labels(tmp_path, np.flatnonzero(after == 1)[:60], lambda row: 1.0)
    found = judge(tmp_path, TOLERANCE, FLOOR, HARD)
    assert statuses(found) == ["fail"] * 3
    assert all("no random part" in one.message for one in found.findings)


def test_labels_by_chance_are_seldom_taken_for_others(tmp_path: Path) -> None:
    """At 99 % in each of two rules: of 40 draws 5 or more are refused with a chance below 0.1 %."""
    runs(tmp_path)
    refused = 0
    for seed in range(40):
        labels(tmp_path, np.random.default_rng(seed).choice(N, 60, replace=False), lambda row: float(row % 2))
        found = judge(tmp_path)
        refused += any(one.calibration and not one.calibration.corrects for one in found.findings)
    assert refused < 5


def test_labels_on_another_scale_give_no_verdict(tmp_path: Path) -> None:
    """A toxicity from 0 to 100 that people label 0 or 1 would be corrected to almost none."""
    for name in ("baseline", "candidate"):
        write(tmp_path / f"{name}.jsonl", [
            {"id": f"q{row}", "metrics": {"score": 40 + row % 30}} for row in range(N)
        ])  # fmt: skip
    labels(tmp_path, range(0, N, 2), lambda row: float(row % 4 == 0))
    rule = "{kind: limit, metric: score, at_most: 10}"
    found = judge(tmp_path, rule, metric="{better: lower, range: [0, 100]}")
    assert found.verdict == "invalid"
    assert "lie between 0 and 1, and the judge says up to 68 of the same answers" in found.problems[0].message
    none = judge(tmp_path, rule, metric="{better: lower}")
    assert "needs a range" in none.problems[0].message


def test_labels_of_a_scale_that_is_turned_round_correct_nothing(tmp_path: Path) -> None:
    """People wrote 1 for what is wrong: 14 % that are right would be corrected to 86 %."""
    _, after = runs(tmp_path)
    write(tmp_path / "candidate.jsonl", [
        {"id": f"q{row}", "metrics": {"score": int(after[row] and row % 4 == 0)}} for row in range(N)
    ])  # fmt: skip
    said = {row: 1.0 - int(after[row] and row % 4 == 0) for row in range(N)}
    chosen = np.random.default_rng(2).choice(N, 100, replace=False)
    labels(tmp_path, chosen, said.__getitem__, sides=("candidate",))
    found = judge(tmp_path, FLOOR, HARD)
    assert statuses(found) == ["fail", "fail"]
    assert all(
        "people see the opposite of the judge (correlation -1.00)" in one.message for one in found.findings
    )


def test_labels_out_of_a_table_with_other_line_breaks_are_tied(tmp_path: Path) -> None:
    runs(tmp_path, answers=True)
    answers = answers_of(tmp_path)
    rows = [f'q{row},{run},1,"{texts[row].replace(" ", chr(10), 1)} "' for run, texts in answers.items()
            for row in range(0, N, 2)]  # fmt: skip
    (tmp_path / "human.csv").write_text("id,run,score,response\n" + "\n".join(rows) + "\n")
    found = judge(tmp_path, calibration="{human: human.csv, metric: score}")
    assert any("150 answers of the candidate and 150 of the baseline" in one for one in found.notices)
    assert not any("name no answer" in one or "other answers" in one for one in found.notices)


def test_values_that_are_left_out_are_not_hidden_by_the_labels_of_others(tmp_path: Path) -> None:
    """Every answer that is labelled is good, and 6 of 300 have no score: were they bad, 98 % would be good."""
    runs(tmp_path)
    for name in ("baseline", "candidate"):
        values = [None if name == "candidate" and row < 6 else 1 for row in range(N)]
        write(tmp_path / f"{name}.jsonl", [
            {"id": f"q{row}", "metrics": {"score": value}} for row, value in enumerate(values)
        ])  # fmt: skip
    labels(tmp_path, range(10, 110), lambda row: 1.0)
    rule = "{{kind: limit, metric: score, at_least: {}, hard: true}}"
    assert judge(tmp_path, rule.format(0.98)).verdict == "pass"
    assert judge(tmp_path, rule.format(0.981)).verdict == "invalid"


# The judge of each run


def test_a_judge_right_on_the_baseline_and_wrong_on_the_candidate_does_not_hide(tmp_path: Path) -> None:
    before, after = runs(tmp_path)
    wrong = np.random.default_rng(7).random(N) < 0.3
    people = {"baseline": before, "candidate": np.where(wrong, 1 - after, after)}
    write(tmp_path / "human.jsonl", [
        {"id": f"q{row}", "run": side, "metrics": {"score": int(values[row])}}
        for side, values in people.items() for row in range(0, N, 2)
    ])  # fmt: skip
    rule = "{{kind: calibration, metric: score, measure: {}, {}, decide_by: value, otherwise: fail}}"
    agreed = 1 - wrong[::2].mean()
    assert agreed < 0.8 < (1 + agreed) / 2  # pooled over both runs it would hold
    found = judge(tmp_path, rule.format("agreement", "at_least: 80%")).findings[0]
    assert (found.status.value, found.samples) == ("fail", 150)
    assert found.candidate == pytest.approx(agreed)
    assert any(f"1 over 150 labels of the baseline, {agreed:.3g} over 150" in note for note in found.notes)
    said = people["candidate"][::2] == 1
    sensitivity = after[::2][said].mean()
    found = judge(tmp_path, rule.format("sensitivity", "at_least: 95%")).findings[0]
    assert found.candidate == pytest.approx(sensitivity) and found.samples == said.sum()


@pytest.mark.parametrize(
    ("count", "measure", "status"),
    [(1, "agreement", "inconclusive"), (29, "agreement", "inconclusive"), (30, "agreement", "pass"),
     (30, "false_positive_rate", "inconclusive")],
)  # fmt: skip
def test_a_judge_is_not_found_good_by_value_on_few_labels(
    tmp_path: Path, count: int, measure: str, status: str
) -> None:
    _, after = runs(tmp_path)
    rows = np.random.default_rng(1).choice(N, count, replace=False)
    labels(tmp_path, rows, lambda row: float(after[row]), sides=("candidate",))
    bound = "at_most" if measure == "false_positive_rate" else "at_least"
    rule = f"{{kind: calibration, metric: score, measure: {measure}, {bound}: 50%, decide_by: value"
    assert statuses(judge(tmp_path, rule + ", otherwise: fail, on_inconclusive: warn}")) == [status]
    refused = judge(tmp_path, rule + "}")
    assert refused.verdict == ("pass" if status == "pass" else "invalid")
    if status != "pass":
        assert "of the candidate" in refused.problems[0].message and "needed" in refused.problems[0].message


@pytest.mark.parametrize("language", ["en", "zh"])
def test_reports_say_on_how_many_labels_a_number_rests(tmp_path: Path, language: str) -> None:
    runs(tmp_path)
    labels(tmp_path, np.random.default_rng(1).choice(N, 40, replace=False), lambda row: float(row % 3 > 0))
    found = judge(tmp_path, TOLERANCE, FLOOR, terms=f"lang: {language}\n")
    cells = {"en": "of 300, 40 labels", "zh": "/ 300，40 个标注"}
    spelling = PLAIN.speaking(load(language))
    assert [cells[language] in counted(one, spelling) for one in found.findings if one.rule == "holds"] == [
        True
    ]
    said = {"en": "from 40 labels of people", "zh": "依据 40 个人工标注"}
    assert all(said[language] in describe(one, spelling) for one in found.findings)
    labels(tmp_path, range(4), lambda row: 1.0)
    few = judge(tmp_path, TOLERANCE, FLOOR, terms=f"lang: {language}\n")
    assert not any("4 labels" in counted(one, spelling) for one in few.findings)
    stands = {"en": "people labelled 4 independent samples", "zh": "只有 4 个独立样本"}
    assert all(stands[language] in describe(one, spelling) for one in few.findings)
