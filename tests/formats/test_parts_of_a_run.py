"""Parts of one run, each with its own questions: what differs between them is compared question by question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from documented import FILES, judge
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.convert import write_jsonl
from gateline.errors import InputError, NotComparable
from gateline.pairing.provenance import compare_provenance
from gateline.pairing.settings import Provenance
from gateline.readers import read_run
from gateline.samples import Run

MTEB = sorted((FILES / "mteb" / "results").glob("*/*"))
EPOCHS = FILES / "inspect" / "candidate_epochs2.json"


def write(path: Path, questions: list[str], metric: str = "f", value: float = 1.0, **facts: object) -> Path:
    lines: list[dict[str, object]] = [{"gateline": 1, "run": facts}] if facts else []
    lines += [{"id": name, "metrics": {metric: value}} for name in questions]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def policy(metric: str, must: str = "") -> str:
    provenance = f"provenance: {{must_match: [{must}]}}\n" if must else ""
    return (
        f"version: 1\nname: gate\nsamples: {{at_least: 1}}\n{provenance}metrics:\n"
        f"  {metric}: {{better: higher, range: [0, 1]}}\n"
        f"rules:\n  - {{id: holds, kind: tolerance, metric: {metric}, worse_by_at_most: 0.5, decide_by: value}}\n"
    )


@pytest.mark.parametrize("folder", MTEB, ids=lambda folder: folder.parent.name)
def test_the_task_files_of_mteb_are_its_folder(folder):
    """Joined by name or read as a folder, a run states the same of each record."""
    files = sorted(path for path in folder.glob("*.json") if path.name != "model_meta.json")
    joined, whole = read_run(files), read_run(folder)
    assert len(files) > 2
    assert len({*joined.texts("dataset_revision")}) > 2
    order = [whole.ids.index(name) for name in joined.ids]
    assert len(order) == len(whole)
    for name in ("dataset_revision", "mteb_version", "task"):
        assert joined.texts(name) == [whole.texts(name)[row] for row in order], name
    assert joined.must_agree == whole.must_agree
    assert "dataset_revision" not in joined.provenance


@pytest.mark.parametrize("must", ["", "dataset_revision"])
def test_task_files_of_mteb_are_compared_question_by_question(tmp_path, must):
    def copy(folder: Path, name: str, revision: str = "") -> Path:
        document = json.loads((folder / f"{name}.json").read_text())
        document["dataset_revision"] = revision or document["dataset_revision"]
        path = tmp_path / folder.parent.name / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document))
        return path

    before, after = ["\n".join(str(copy(folder, name)) for name in ("SciFact", "SCIDOCS")) for folder in MTEB]
    assert judge(policy("main_score", must), before, after, tmp_path).verdict == "pass"
    copy(MTEB[1], "SciFact", "another")
    verdict = judge(policy("main_score", must), before, after, tmp_path)
    told = " ".join(verdict.because)
    assert (verdict.verdict, "dataset_revision" in told, "SciFact" in told) == ("invalid", True, True)


def log(folder: Path, task: str, **more: object) -> Path:
    """Write the log of another task: its own questions, and what it says of task and data."""
    text = EPOCHS.read_text(encoding="utf-8").replace('"q00', f'"{task}-q00')
    document = json.loads(text)
    document["eval"] |= {"task": task} | more
    document["eval"]["dataset"]["name"] = f"{task}-data"
    folder.mkdir(exist_ok=True)
    (folder / f"{task}.json").write_text(json.dumps(document))
    return folder / f"{task}.json"


def test_two_logs_of_inspect_are_two_tasks_of_one_run(tmp_path):
    old, new = (
        [log(tmp_path / side, "harbor"), log(tmp_path / side, "ferry")]
        for side in ("old", "new")
    )  # fmt: skip
    run = read_run(new)
    assert run.labels("task") == [(name.partition("-")[0],) for name in run.ids]
    assert run.labels("dataset") == [(f"{name.partition('-')[0]}-data",) for name in run.ids]
    before, after = "\n".join(map(str, old)), "\n".join(map(str, new))
    metric = "rag_scores.recall" if "rag_scores.recall" in run.metrics else next(iter(run.metrics))
    text = policy("m").replace("m: {", f"m: {{field: {metric}, ")
    assert judge(text, before, after, tmp_path).verdict == "pass"
    log(tmp_path / "new", "ferry", task_version=4)
    verdict = judge(text, before, after, tmp_path)
    told = " ".join(verdict.because)
    assert (verdict.verdict, "task_version" in told) == ("invalid", True)
    assert "ferry-q001" in told
    assert "harbor-q001" not in told


@pytest.mark.parametrize(
    "name", ["dataset", "golden_set", "corpus.name", "index.revision", "golden_set.version"]
)
def test_parts_with_their_own_data(tmp_path, name):
    """Named as the same parts in both runs they are comparable; else it is told, and refused where it must match."""

    def parts(side: str, *facts: str) -> str:
        return "\n".join(
            str(write(tmp_path / f"{side}-{at}.jsonl", [f"q{at}", f"r{at}"], **{name: fact}))
            for at, fact in enumerate(facts)
        )

    old = parts("old", "nq", "hotpot")
    same, swapped, newer, merged = (
        parts(side, *facts)
        for side, facts in (("same", ("nq", "hotpot")), ("swapped", ("hotpot", "nq")), ("newer", ("nq", "hotpot-2")),
                            ("merged", ("nq", "nq")))
    )  # fmt: skip
    write(tmp_path / "same-0.jsonl", ["q0", "r0"], value=0.9, **{name: "nq"})
    assert judge(policy("f", name), old, same, tmp_path).verdict == "pass"
    assert not judge(policy("f"), old, same, tmp_path).changed
    for other in (swapped, newer, merged):
        for one, two in ((old, other), (other, old)):
            verdict = judge(policy("f", name), one, two, tmp_path)
            assert (verdict.verdict, name in " ".join(verdict.because)) == ("invalid", True)
            assert [change.field for change in judge(policy("f"), one, two, tmp_path).changed] == [name]


@pytest.mark.parametrize("name", ["model", "generator.model", "app.revision", "judge.model"])
def test_parts_made_by_two_systems_or_judges_are_no_run(tmp_path, name):
    files = [write(tmp_path / f"{at}.jsonl", [f"q{at}"], **{name: f"v{at}"}) for at in range(2)]
    with pytest.raises(InputError, match=rf"1\.jsonl: {name} is 'v1' here and 'v0' in .*0\.jsonl"):
        read_run(files)


def test_a_third_file_of_one_part_takes_its_fact_from_it(tmp_path):
    files = [
        write(tmp_path / "a.jsonl", ["q1"], dataset="nq"),
        write(tmp_path / "b.jsonl", ["q2"], dataset="hotpot"),
        write(tmp_path / "times.jsonl", ["q2", "q1"], "seconds"),
    ]
    for order in (files, files[::-1]):
        run = read_run(order)
        assert dict(zip(run.ids, run.texts("dataset"), strict=True)) == {"q1": "nq", "q2": "hotpot"}
        assert not run.warnings
    write(
        files[2], ["q2", "q1"], "seconds", dataset="nq"
    )  # shares a question with the part of another data set
    with pytest.raises(InputError, match="dataset is"):
        read_run(files)


def test_a_converted_run_of_parts_says_the_same_of_each_record(tmp_path):
    run = read_run(
        [write(tmp_path / f"{name}.jsonl", [f"q-{name}"], dataset=name) for name in ("nq", "hotpot")]
    )
    (tmp_path / "run.jsonl").write_text("".join(write_jsonl(run)), encoding="utf-8")
    again = read_run(tmp_path / "run.jsonl")
    assert again.texts("dataset") == run.texts("dataset") == ["nq", "hotpot"]


def test_the_model_of_answers_and_that_of_their_judge(tmp_path):
    answers = write(tmp_path / "answers.jsonl", ["q1", "q2"], "answered", model="rag-v2")
    judged = write(tmp_path / "judged.jsonl", ["q1", "q2"], "f", model="gpt-4o-judge")
    run = read_run([answers, judged])
    assert run.provenance == {"model": ["rag-v2", "gpt-4o-judge"]}
    assert run.warnings == (f"{judged}: model is 'gpt-4o-judge' here and 'rag-v2' in {answers}",)
    write(answers, ["q1", "q2"], "f", model="rag-v2")
    with pytest.raises(InputError, match="model is"):
        read_run([answers, judged])


@pytest.mark.parametrize("name", ["judge.model", "app.commit", "dataset"])
def test_a_part_that_does_not_say_a_fact_is_told_or_refused(tmp_path, name):
    """As a record without it is; a file that only adds to records of the others need not say it again."""
    old = write(tmp_path / "old.jsonl", ["q1", "q2"], **{name: "x"})
    first = write(tmp_path / "first.jsonl", ["q1"], **{name: "x"})
    second = write(tmp_path / "second.jsonl", ["q2"])
    times = write(tmp_path / "times.jsonl", ["q1", "q2", "q3"], "seconds")
    told = (f"{second}: {name} is not said here, and is 'x' in {first}",)
    for files in ([first, second], [second, first], [first, times, second]):
        run = read_run(files)
        assert run.warnings == (told if name != "app.commit" else ())
    for files in ([first, second], [second, first]):
        candidate = "\n".join(map(str, files))
        verdict = judge(policy("f", name), old, candidate, tmp_path)
        assert (verdict.verdict, "mixed (x, nothing)" in " ".join(verdict.because)) == ("invalid", True)
        (change,) = judge(policy("f"), old, candidate, tmp_path).changed
        assert (change.field, change.candidate) == (name, "mixed (x, nothing)")
    whole = write(tmp_path / "whole.jsonl", ["q1", "q2"], value=0.9, **{name: "x"})
    write(times, ["q1", "q2"], "seconds")
    assert judge(policy("f", name), old, f"{whole}\n{times}", tmp_path).verdict == "pass"
    assert not read_run([whole, times]).warnings


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=6))
def test_a_fact_of_parts_must_match_for_each_question(tmp_path_factory, facts):
    """Oracle: the two runs agree where each question has one and the same value in both."""
    folder = tmp_path_factory.mktemp("parts")
    runs: list[Run] = []
    for side in range(2):
        files = [
            write(folder / f"{side}-{at}.jsonl", [f"q{at}"], dataset=pair[side])
            for at, pair in enumerate(facts)
        ]
        runs.append(read_run(files))
    agree = all(before == after for before, after in facts)
    try:
        compare_provenance(*runs, Provenance(must_match=["dataset"]))
    except NotComparable as error:
        assert not agree, error
    else:
        assert agree


METRICS = ("f", "g", "h")


@settings(max_examples=40, deadline=None)
@given(
    before=st.dictionaries(st.sampled_from(METRICS), st.sampled_from(["j4", "j5", ""]), min_size=1),
    after=st.dictionaries(st.sampled_from(METRICS), st.sampled_from(["j4", "j5", ""]), min_size=1),
    data=st.data(),
)
def test_two_judges_are_held_score_by_score_in_whatever_order_the_files_are_named(
    before, after, data, tmp_path_factory
):
    """`f` judged by the one and `g` by the other is not `f` by the other and `g` by the one."""
    folder = tmp_path_factory.mktemp("judges")
    before, after = {"f": "j4", **before}, {"f": "j4", **after}
    named = []
    for side, judges in (("old", before), ("new", after)):
        files = [
            write(
                folder / f"{side}-{metric}.jsonl",
                ["q1", "q2"],
                metric,
                value=0.5 if side == "old" else 0.75,
                **({"judge.model": one} if one else {}),
            )
            for metric, one in judges.items()
        ]
        named.append("\n".join(map(str, data.draw(st.permutations(files)))))
    verdict = judge(policy("f", "judge.model"), *named, folder)
    is_known = all(any(judges.values()) for judges in (before, after))
    common = before.keys() & after.keys()
    is_alike = is_known and all(before[metric] == after[metric] for metric in common)
    assert (verdict.verdict == "pass") == is_alike
    is_of_files = any(len({*judges.values()}) > 1 for judges in (before, after))
    if is_known and not is_alike and is_of_files:
        other = next(metric for metric in sorted(common) if before[metric] != after[metric])
        assert f"'{other}'" in " ".join(verdict.because)
