"""The regression set: each question once, the same bytes whatever the order, and guarded for ever after."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.cli import run
from gateline.errors import InputError, PolicyError
from gateline.golden import read_golden
from gateline.harvest import harvest
from gateline.verdict import Origin, Verdict
from gateline.verdict_file import read_verdict
from runs import Record, check_gate, records, set_field, set_metric, write_gate, write_run

HOLDS = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 1}"
EVERY = "{id: stay-fixed, kind: every, metric: score, at_least: 0.5, hard: true}"
GERMAN = "{id: german, kind: every, metric: score, slice: language=de, at_least: 0.5, hard: true}"


def judge(
    folder: Path, runs: str | tuple[list[Record], list[Record]], *rules: str, **options: Any
) -> Verdict:
    folder.mkdir(exist_ok=True)
    write_gate(folder, runs, *(rules or (HOLDS,)), missing="{drop_at_most: 100%}")
    return check_gate(folder, **options)


def lines(text: str) -> list[Record]:
    return [json.loads(line) for line in text.splitlines()]


def keep(file: Path, verdict: Verdict, **sources: Any) -> str:
    found = harvest(verdict, file, **sources)
    file.write_text(found.text, encoding="utf-8")
    return found.text


def test_a_whole_set_letter_for_letter(tmp_path: Path) -> None:
    before, after = records("a*40 en 1>1 b de 1>0 c de 0.9>0.6")
    write_gate(tmp_path, (before, after), HOLDS, GERMAN)
    write_run(tmp_path / "candidate.jsonl", after, {"app.commit": "b81d0e7"})
    golden = [{"id": "b", "question": "Wer?", "relevant": ["d1"], "slices": {"language": "de"}}]
    write_run(tmp_path / "golden.jsonl", golden)
    verdict = check_gate(tmp_path)
    found = harvest(verdict, tmp_path / "new.jsonl", golden=tmp_path / "golden.jsonl")
    assert verdict.policy.sha256 and verdict.baseline and verdict.candidate
    digests = (
        f'"policy_sha256": "{verdict.policy.sha256}", "baseline_sha256": "{verdict.baseline.sha256}", '
        f'"candidate_sha256": "{verdict.candidate.sha256}"'
    )
    values = '"baseline": 1.0, "candidate": 0.0, "commit": "b81d0e7", "judged_on": "2026-06-01"'
    assert found.text == (
        '{"id": "b", "question": "Wer?", "relevant": ["d1"], "slices": {"language": "de"}, "seen": ['
        '{"why": "hard rule", "gate": "gate", "rule": "german", "metric": "score", "slice": "language=de", '
        f'"slices": ["language=de"], {values}, {digests}}}, '
        '{"why": "much worse", "gate": "gate", "rule": null, "metric": "score", "slice": null, '
        f'"slices": ["language=de"], {values}, {digests}}}]}}\n'
    )
    assert (found.added, found.updated, found.total, found.notices) == (["b"], [], 1, [])


SCORES = st.lists(st.sampled_from([0.0, 0.4, 0.5, 1.0]), min_size=12, max_size=12)


@given(st.lists(SCORES, min_size=2, max_size=3), st.booleans())
@settings(max_examples=30, deadline=None)
def test_harvesting_twice_is_once_and_the_order_of_verdicts_plays_no_part(
    tmp_path_factory: pytest.TempPathFactory, candidates: list[list[float]], with_golden: bool
) -> None:
    folder = tmp_path_factory.mktemp("harvest")
    verdicts = []
    for number, scores in enumerate(candidates):
        before, after = records("q*12 1>1")
        set_metric(after, "score", scores)
        verdicts.append(judge(folder / str(number), (before, after), HOLDS, EVERY))
    write_run(
        folder / "golden.jsonl", [{"id": f"q{at}", "question": f"What is {at}?"} for at in range(1, 13)]
    )
    golden = folder / "golden.jsonl" if with_golden else None
    results = set()
    for order in itertools.permutations(verdicts):
        file = folder / "set.jsonl"
        file.unlink(missing_ok=True)
        for verdict in order:
            once = keep(file, verdict, golden=golden)
            assert keep(file, verdict, golden=golden) == once
            assert not harvest(verdict, file, golden=golden).changed
        results.add(file.read_bytes())
    (text,) = results
    kept = [record["id"] for record in lines(text.decode())]
    assert kept == sorted(
        f"q{at + 1}" for at in range(12) if any(scores[at] <= 0.5 for scores in candidates)
    )  # half of the range is much, and what is below 0.5 fails the hard rule as well


def test_the_order_of_the_records_plays_no_part(tmp_path: Path) -> None:
    before, after = records("a 1>0 b 1>0.2 c*40 1>1")
    first = harvest(judge(tmp_path / "1", (before, after), EVERY), tmp_path / "none")
    again = harvest(judge(tmp_path / "2", (before[::-1], after[::-1]), EVERY), tmp_path / "none")
    for record in (mine := lines(first.text)) + (theirs := lines(again.text)):
        for entry in record["seen"]:  # the files themselves differ
            del entry["baseline_sha256"], entry["candidate_sha256"]
    assert mine == theirs


@pytest.mark.parametrize(
    ("worse_by", "kept"),
    [
        (None, ["half", "much"]),
        ("0.2", ["bit", "half", "much"]),
        ("0.6", ["much"]),
        ("score=0.2", ["bit", "half", "much"]),
        ("0.2,score=0.6", ["much"]),
        (" score = 0.6 ", ["much"]),
    ],
)
def test_how_much_worse_is_much(tmp_path: Path, worse_by: str | None, kept: list[str]) -> None:
    verdict = judge(tmp_path, "bit 0.9>0.7 half 0.9>0.4 much 1>0.3 better 0>1 a*40 1>1")
    assert harvest(verdict, tmp_path / "none", worse_by=worse_by).added == kept


@pytest.mark.parametrize(
    ("worse_by", "said"),
    [
        ("x", "must be a number above 0"),
        ("0", "must be a number above 0"),
        ("-1", "must be a number above 0"),
        ("nan", "must be a number above 0"),
        ("score=", "must be a number above 0"),
        ("skore=0.1", "judges no metric 'skore'"),
        ("0.1,0.2", "says two things"),
        ("words=3", "names no questions of words"),
    ],
)
def test_a_wrong_measure_of_much_is_refused(tmp_path: Path, worse_by: str, said: str) -> None:
    before, after = records("a*40 1>0")
    set_field(before, words=1)
    set_field(after, words=9)
    rule = "{kind: tolerance, metric: words, worse_by_at_most: 1}"
    metrics = "{score: {better: higher, range: [0, 1]}, words: {better: lower}}"
    write_gate(tmp_path, (before, after), HOLDS, rule, metrics=metrics)
    with pytest.raises(PolicyError, match=said):
        harvest(check_gate(tmp_path), tmp_path / "none", worse_by=worse_by)


def test_what_is_there_stays_letter_for_letter(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    by_hand = '{"seen":[{"by":"Ana","note":"\\u00e4"}] ,"id":"z", "weight": 1.50, "question" : "Why?"}'
    header = '{"gateline": 1, "run": {"golden_set.version": "r1"}}'
    file.write_bytes(f"{header}\r\n\n{by_hand}\n".encode())
    text = keep(file, judge(tmp_path / "1", "b 1>0 a*40 1>1"))
    assert text.splitlines()[::2] == [header, by_hand]
    assert [record["id"] for record in lines(text)[1:]] == ["b", "z"]

    write_run(tmp_path / "golden.jsonl", [{"id": "z", "question": "Why?", "relevant": ["new"]}])
    verdict = judge(tmp_path / "2", "z 1>0 a*40 1>1")
    record = lines(keep(file, verdict, golden=tmp_path / "golden.jsonl"))[2]
    seen = record.pop("seen")
    assert record == {"id": "z", "weight": 1.5, "question": "Why?"}  # the golden set does not relabel it
    assert seen[0] == {"by": "Ana", "note": "ä"}
    assert [one["why"] for one in seen[1:]] == ["much worse"]


def test_a_text_that_was_not_known_is_filled_in_later(tmp_path: Path) -> None:
    file, verdict = tmp_path / "set.jsonl", judge(tmp_path / "1", "b 1>0 a*40 1>1")
    without = harvest(verdict, file)
    assert without.notices == [
        "the text of 1 question is not known, kept by id alone: 'b' (--golden or --candidate give it)"
    ]
    file.write_text(without.text)
    write_run(tmp_path / "golden.jsonl", [{"id": "b", "question": "Who?", "answerable": True}])
    found = harvest(verdict, file, golden=tmp_path / "golden.jsonl")
    assert (found.added, found.updated, found.notices) == ([], ["b"], [])
    file.write_text(found.text)
    assert list(lines(found.text)[0]) == ["id", "question", "answerable", "seen"]
    assert harvest(verdict, file).notices == []


def test_what_was_given_and_lacks_the_text_is_not_asked_for_again(tmp_path: Path) -> None:
    verdict = judge(tmp_path, "b 1>0 a*40 1>1")
    golden, candidate = tmp_path / "golden.jsonl", tmp_path / "candidate.jsonl"
    write_run(golden, [{"id": "b", "answerable": True}])
    hints = {
        (golden, None): f"(not in {golden}: --candidate gives it, where the run holds its questions)",
        (None, candidate): f"(not in {candidate}: --golden gives it)",
        (golden, candidate): f"(not in {golden} or {candidate}: a golden set that has it gives it)",
    }
    for (one, other), hint in hints.items():
        (notice,) = harvest(verdict, tmp_path / "set.jsonl", golden=one, candidate=other).notices
        assert notice.endswith(f"'b' {hint}")


def test_the_same_evidence_judged_on_another_day_is_kept_once(tmp_path: Path) -> None:
    file, verdict = tmp_path / "set.jsonl", judge(tmp_path / "1", "b 1>0 a*40 1>1")
    later = verdict.model_copy(update={"judged_on": "2026-07-01"})
    keep(file, later)
    assert lines(keep(file, verdict))[0]["seen"][0]["judged_on"] == "2026-06-01"
    assert len(lines(keep(file, later))[0]["seen"]) == 1


def test_a_question_that_fails_again_in_another_run_is_one_line_with_two_entries(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    keep(file, judge(tmp_path / "1", "b 1>0 a*40 1>1"))
    found = harvest(judge(tmp_path / "2", "b 1>0.1 a*40 1>1"), file)
    assert (found.added, found.updated, found.total) == ([], ["b"], 1)
    assert [one["candidate"] for one in lines(found.text)[0]["seen"]] == [0.0, 0.1]


def test_questions_and_labels_come_from_golden_set_run_and_verdict(tmp_path: Path) -> None:
    before, after = records("a*40 1>1 b en 1>0 c de 1>0 d de 1>0")
    for record in [*before, *after]:
        record["question"] = f"{record['id']}?"
        record["answer"] = "text of the run"
    verdict = judge(tmp_path / "gate", (before, after), HOLDS, with_excerpts=True)
    write_run(
        tmp_path / "golden.jsonl",
        [{"query_id": "b", "query": "b?", "answerable": False, "metrics": {"x": 1}}],
    )
    file = tmp_path / "none"
    found = harvest(
        verdict, file, golden=tmp_path / "golden.jsonl", candidate=tmp_path / "gate/candidate.jsonl"
    )
    told = {
        record.pop("id"): {key: one for key, one in record.items() if key != "seen"}
        for record in lines(found.text)
    }
    assert told == {
        "b": {"question": "b?", "answerable": False, "slices": {"language": "en"}},
        "c": {"slices": {"language": "de"}, "question": "c?"},
        "d": {"slices": {"language": "de"}, "question": "d?"},
    }
    assert found.notices == [f"not in the golden set {tmp_path}/golden.jsonl: 2 questions, 'c', 'd'"]
    excerpts = lines(harvest(verdict, file).text)
    assert [record["question"] for record in excerpts] == ["b?", "c?", "d?"]


def test_labels_come_from_a_table_and_from_qrels_too(tmp_path: Path) -> None:
    verdict = judge(tmp_path / "gate", "7 1>0 a*40 1>1")
    (tmp_path / "golden.csv").write_text("id,question,reference_answer\n7,Who?,She\n8,Where?,\n")
    (tmp_path / "qrels.txt").write_text("7 0 d1 1\n8 0 d2 1\n")
    (tmp_path / "queries.jsonl").write_text('{"_id": "7", "text": "Who?", "metadata": {}}\n')
    queries = lines(harvest(verdict, tmp_path / "none", golden=tmp_path / "queries.jsonl").text)[0]
    assert (queries["question"], "text" in queries, "_id" in queries) == ("Who?", False, False)
    table = lines(harvest(verdict, tmp_path / "none", golden=tmp_path / "golden.csv").text)[0]
    assert (table["question"], table["reference_answer"]) == ("Who?", "She")
    (tmp_path / "set.jsonl").write_text(
        harvest(verdict, tmp_path / "none", golden=tmp_path / "qrels.txt").text
    )
    assert read_golden(tmp_path / "set.jsonl").relevant == [{"d1": 1.0}]


def test_what_is_kept_is_a_golden_set(tmp_path: Path) -> None:
    verdict = judge(tmp_path / "gate", "b 1>0 c 1>0 a*40 1>1")
    golden = [
        {
            "id": "b",
            "question": "Who?",
            "required_claims": [{"id": "c1", "claim": "She did"}],
            "answerable": True,
        },
        {"id": "c", "question": "When?", "relevant": ["d1", "d2"], "answerable": True},
    ]
    write_run(tmp_path / "golden.jsonl", golden)
    keep(tmp_path / "set.jsonl", verdict, golden=tmp_path / "golden.jsonl")
    kept = read_golden(tmp_path / "set.jsonl")
    assert (kept.ids, kept.questions, kept.answerable) == (["b", "c"], ["Who?", "When?"], [True, True])
    assert kept.claims("required_claims") == [{"c1": "She did"}, None]
    assert kept.relevant == [None, {"d1": 1.0, "d2": 1.0}]


def test_a_commit_is_taken_from_where_the_run_was_fetched_or_from_what_it_says(tmp_path: Path) -> None:
    verdict = judge(tmp_path, "b 1>0 a*40 1>1")
    assert verdict.candidate is not None
    for update, commit in [
        ({}, None),
        ({"provenance": {"git.commit": "f00"}}, "f00"),
        ({"provenance": {"git.commit": "f00"}, "origin": Origin(source="artifact:x", commit="abc")}, "abc"),
    ]:
        made = verdict.model_copy(update={"candidate": verdict.candidate.model_copy(update=update)})
        assert lines(harvest(made, tmp_path / "none").text)[0]["seen"][0]["commit"] == commit


def test_what_the_verdict_does_not_name_is_said(tmp_path: Path) -> None:
    verdict = judge(tmp_path, "b*150 1>0 a*40 1>1", HOLDS, EVERY)
    found = harvest(verdict, tmp_path / "none")
    assert found.total == 150  # the hard rule names them all
    assert found.notices[0] == (
        "150 questions got worse in score; the verdict names the 100 worst, and only they are kept"
    )
    few = judge(tmp_path, "b*5 1>0 c*150 0.5>0.4 a*40 1>1")
    found = harvest(few, tmp_path / "none")
    assert found.total == 5
    assert len(found.notices) == 1  # those not named are not much worse


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"id": "b"}\n{"id": "c"}\n{"id": "b"}\n', ":3: the id 'b' stands twice, first in "),
        ('{"id": "b"}\nnope\n', ":2: is not JSON"),
        ('["b"]\n', ":1: must be an object, not a list"),
        ('{"question": "Who?"}\n', ":1: id must be a text or a whole number, not null"),
        ('{"id": 1.5}\n', ":1: id must be a text"),
        ('{"id": "b", "id": "c"}\n', ":1: the key 'id' stands twice"),
        ('{"id": "b", "seen": 3}\n', ":1: seen must be a list of objects, not the number 3"),
        (
            '{"id": "b", "question": "Where?"}\n',
            ":1: the id 'b' is another question in the set: 'Where?', now 'Who?'",
        ),
        ('{"id": "b", "weight": NaN}\n', ":1: holds NaN"),
        (
            '{"gateline": 1}\n{"id": "x", "metrics": {"score": 1}}\n',
            ":2: is the record of a run, with metrics",
        ),
        (b'{"id": "\xff"}\n', ":1: the set is not UTF-8"),
    ],
)
def test_a_set_that_contradicts_itself_is_refused_with_its_lines_and_stays(
    tmp_path: Path, content: str | bytes, said: str
) -> None:
    verdict = judge(tmp_path / "gate", "b 1>0 a*40 1>1")
    write_run(tmp_path / "golden.jsonl", [{"id": "b", "question": "Who?"}])
    file = tmp_path / "set.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as raised:
        harvest(verdict, file, golden=tmp_path / "golden.jsonl")
    assert f"{file}{said}" in str(raised.value)


def test_all_that_is_wrong_with_a_set_is_told_at_once(tmp_path: Path) -> None:
    verdict = judge(tmp_path / "gate", "b 1>0 a*40 1>1")
    file = tmp_path / "set.jsonl"
    file.write_text("".join('{"id": "b"}\n' for _ in range(30)))
    with pytest.raises(InputError) as raised:
        harvest(verdict, file)
    assert len(raised.value.problems) == 21
    assert raised.value.problems[-1].message == "and 9 more"


def test_a_golden_set_that_contradicts_itself_or_the_run_is_refused(tmp_path: Path) -> None:
    before, after = records("b 1>0 a*40 1>1")
    for side in (before, after):
        set_field(side, question="Who?")
    verdict = judge(tmp_path / "gate", (before, after))
    golden, candidate = tmp_path / "golden.jsonl", tmp_path / "gate/candidate.jsonl"
    write_run(golden, [{"id": "b", "question": "Where?"}])
    with pytest.raises(InputError, match="'b' is another question in the golden set than in the run"):
        harvest(verdict, tmp_path / "none", golden=golden, candidate=candidate)
    write_run(golden, [{"id": "b", "question": "Who?"}, {"id": "b", "question": "Who?"}])
    with pytest.raises(InputError, match="'b' stands twice"):
        harvest(verdict, tmp_path / "none", golden=golden)
    with pytest.raises(InputError, match="is not the candidate that was judged"):
        harvest(verdict, tmp_path / "none", candidate=tmp_path / "gate/baseline.jsonl")


def test_a_verdict_that_is_none_gives_nothing(tmp_path: Path) -> None:
    verdict = judge(tmp_path, "a*40 1>1", HOLDS.replace("score", "skore"))
    assert verdict.verdict == "invalid"
    with pytest.raises(InputError, match=r"nothing was judged, so nothing can be kept: .*skore"):
        harvest(verdict, tmp_path / "none")


def test_a_verdict_of_a_version_that_named_no_losses_is_refused(tmp_path: Path) -> None:
    data = json.loads(judge(tmp_path, "b 1>0 a*40 1>1").to_json())
    del data["losses"]
    (tmp_path / "old.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"named no losses .*judge the runs again"):
        harvest(read_verdict(tmp_path / "old.json"), tmp_path / "none")


# The command


def write_verdict(folder: Path, runs: str, *rules: str) -> Path:
    path = folder / "verdict.json"
    path.write_text(judge(folder, runs, *rules).to_json(), encoding="utf-8")
    return path


def test_the_command_writes_the_set_and_says_what_is_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(Path("golden.jsonl"), [{"id": "b", "question": "Who?"}])
    verdict = write_verdict(tmp_path, "b 1>0 a*40 1>1")
    arguments = ["harvest", str(verdict), "-o", "gates/golden/regression.jsonl", "--golden", "golden.jsonl"]
    assert run(arguments) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (
        "", "gateline: wrote gates/golden/regression.jsonl: 1 new (b); 1 question\n",
    )  # fmt: skip
    before = Path("gates/golden/regression.jsonl").stat()
    assert run(arguments) == 0
    assert capsys.readouterr().err == "gateline: nothing new for gates/golden/regression.jsonl (1 question)\n"
    after = Path("gates/golden/regression.jsonl").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert [path.name for path in Path("gates/golden").iterdir()] == ["regression.jsonl"]


def test_nothing_to_keep_makes_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = write_verdict(tmp_path, "a*40 1>1")
    assert run(["harvest", str(verdict), "-o", str(tmp_path / "set.jsonl")]) == 0
    assert not (tmp_path / "set.jsonl").exists()
    assert "nothing new" in capsys.readouterr().err


@pytest.mark.parametrize("content", ['{"id": "x"}\n{"id": "x"}\n', "{", "\x00"])
def test_what_cannot_be_read_is_2_and_the_set_stays_as_it_was(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict, file = write_verdict(tmp_path, "b 1>0 a*40 1>1"), tmp_path / "set.jsonl"
    file.write_text(content)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert run(["harvest", str(verdict), "-o", str(file)]) == 2
    assert capsys.readouterr().err.startswith("gateline: error: ")
    assert file.read_text() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("wrong", ["missing.json", "set.jsonl"])
def test_no_verdict_in_the_file_is_2(tmp_path: Path, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "set.jsonl").write_text('{"id": "x"}\n')
    assert run(["harvest", str(tmp_path / wrong), "-o", str(tmp_path / "out.jsonl")]) == 2
    assert not (tmp_path / "out.jsonl").exists()
    assert wrong in capsys.readouterr().err


def test_a_stop_in_the_middle_of_writing_leaves_the_old_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict, file = write_verdict(tmp_path, "b 1>0 a*40 1>1"), tmp_path / "set.jsonl"
    file.write_text('{"id": "x"}\n')

    def stop(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", stop)
    assert run(["harvest", str(verdict), "-o", str(file)]) == 2
    assert file.read_text() == '{"id": "x"}\n'
    assert not list(tmp_path.glob(".set.jsonl*"))


def test_a_question_that_regressed_once_is_guarded_for_ever_after(tmp_path: Path) -> None:
    """From the first loss, through harvest and policy, to the gate that says no to the second."""
    others = "a*60 1>1 c*40 0>1"
    verdict = write_verdict(tmp_path, f"{others} b 1>0")
    assert judge(tmp_path, f"{others} b 1>0").verdict == "pass"  # one of 101 is lost in the mean
    assert run(["harvest", str(verdict), "-o", str(tmp_path / "regression.jsonl")]) == 0

    guard = (
        "{id: old-bugs-stay-fixed, kind: every, metric: score, slice: regression, at_least: 1, hard: true}"
    )

    def gate(runs: str, **parts: str) -> Verdict:
        slices = "{at_least: 1, files: {regression: regression.jsonl}}"
        write_gate(tmp_path, runs, HOLDS, guard, slices=slices, **parts)
        return check_gate(tmp_path)

    assert gate(f"{others} b 0>1").verdict == "pass"
    again = gate(f"{others} b 1>0")
    assert (again.verdict, [one.failing for one in again.findings if one.blocks]) == ("fail", [["b"]])
    assert gate(f"{others} b 0>0").verdict == "fail"  # also where the baseline is no better
    assert gate(f"{others} b 1>?").verdict == "invalid"  # a judge that is silent on it
    assert gate(f"{others} b 1>!").verdict == "fail"  # no answer counts as the worst
    assert gate(others).verdict == "invalid"  # and so does leaving the question out
    assert gate(f"{others} b 1>-", samples="{on_mismatch: intersect}").verdict == "invalid"
