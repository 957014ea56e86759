from __future__ import annotations

import hashlib
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, judge, write_policies
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.inspection import inspect_run
from gateline.policy import load_policy
from gateline.readers import read_run, readers
from gateline.readers._source import Source

HARNESS = FILES / "lm_eval"
NAN = float("nan")
TIME = "2026-01-02T03-04-05.678901"
SIDES = ["baseline", "candidate"]
POLICY = """\
version: 1
name: gate
samples: {at_least: 1}
metrics: {acc: {better: higher, range: [0, 1]}}
rules: [{id: holds, kind: tolerance, metric: acc, worse_by_at_most: 0.5, on_inconclusive: pass}]
"""


def file_of(side: str, kind: str) -> Path:
    (path,) = (HARNESS / side).rglob(f"{kind}_*")
    return path


def lines_of(side: str) -> list[dict]:
    return [json.loads(line) for line in file_of(side, "samples").read_text().splitlines()]


def sample(number: int = 0, **more) -> dict:
    doc = {"question": f"Q{number}", "topic": "hr" if number % 2 else "it", "key": f"k{number}"}
    line = {
        "doc_id": number, "doc": doc, "target": f"t{number}", "arguments": {}, "resps": [["a"]],
        "filtered_resps": ["a"], "filter": "none", "metrics": ["acc"],
        "doc_hash": hashlib.sha256(str(number).encode()).hexdigest(), "target_hash": f"{number:x}", "acc": 1.0,
    }  # fmt: skip
    return line | more


def results(**tasks: dict) -> dict:
    """Return a results file of tasks, each given as its row of results and, under `_`, what is said of it elsewhere."""
    said = {name: {"versions": 1.0, "n-shot": 0, **row.pop("_", {})} for name, row in tasks.items()}
    value: dict = {"results": tasks, "group_subtasks": {}, "configs": {}, "lm_eval_version": "0.4.13"}
    for part in ("configs", "versions", "n-shot", "higher_is_better", "n-samples"):
        value[part] = {name: parts[part] for name, parts in said.items() if part in parts}
    return value


def write(folder: Path, value: dict | None = None, **samples: list[dict]) -> Path:
    """Write a run; return its folder."""
    folder.mkdir(exist_ok=True, parents=True)
    if value is not None:
        (folder / f"results_{TIME}.json").write_text(json.dumps(value))
    for task, lines in samples.items():
        path = folder / f"samples_{task}_{TIME}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


# Numbers of the tool


@pytest.mark.parametrize("side", SIDES)
def test_means_are_those_of_the_results(side):
    run, said = read_run(HARNESS / side), json.loads(file_of(side, "results").read_text())
    row, compared = said["results"]["harbor_qa"], 0
    for key, mean in row.items():
        name, _, chosen = key.partition(",")
        if chosen and not name.endswith("_stderr"):
            values = run.numbers(key)  # by the tool's full name too
            assert np.mean(values) == pytest.approx(mean, abs=1e-12)
            assert values is run.numbers(name)
            error = row[f"{name}_stderr,none"]
            assert np.std(values, ddof=1) / np.sqrt(len(values)) == pytest.approx(error, rel=1e-9)
            compared += 1
    assert compared == 3
    assert set(run.metrics) == {"exact_match", "word_recall", "answer_len"}
    assert len(run) == said["n-samples"]["harbor_qa"]["effective"]
    assert run.warnings == ()


@pytest.mark.parametrize("side", SIDES)
def test_every_score_of_every_sample(side):
    run = read_run(HARNESS / side)
    for line in lines_of(side):
        row = run.texts("qid").index(line["doc"]["qid"])
        assert {name: run.numbers(name)[row] for name in line["metrics"]} == {
            name: line[name] for name in line["metrics"]
        }
        assert run.ids[row] == f"harbor_qa/{line['doc_hash'][:16]}"
        assert (run.texts("question")[row], run.texts("reference")[row]) == (
            line["doc"]["question"],
            line["target"],
        )
        assert run.texts("answer")[row] == line["filtered_resps"][0].strip()
        assert run.place(row).endswith(f".jsonl:{line['doc_id'] + 1}")


@pytest.mark.parametrize("side", SIDES)
def test_without_a_hash_the_document_is_hashed_as_the_tool_does_it(side, tmp_path):
    old = []
    for line in lines_of(side):
        written = line.pop("doc_hash")
        text = json.dumps(line["doc"], indent=2, ensure_ascii=False)
        assert hashlib.sha256(text.encode()).hexdigest() == written
        old.append(line)
    assert sorted(read_run(write(tmp_path, harbor_qa=old)).ids) == sorted(read_run(HARNESS / side).ids)


def test_what_is_said_of_a_run():
    run = read_run(HARNESS / "candidate")
    assert (run.format, run.format_version, run.id_field) == ("lm_eval", "0.4.13", "task and document")
    assert run.provenance["model"] == "rag-candidate"
    assert run.provenance["task_version"] == "1.0"
    assert run.provenance["num_fewshot"] == "0"
    assert not any("url" in name or "key" in name for name in run.provenance)
    assert not any("http" in str(value) for value in run.provenance.values())
    assert {name: (facts.better, facts.range) for name, facts in run.metric_facts.items()} == {
        "exact_match": ("higher", None), "word_recall": ("higher", None), "answer_len": ("lower", None),
    }  # fmt: skip
    assert set(run.slices) == {"qid", "topic", "task"}
    columns = {column.name: column for column in inspect_run(run).numbers}
    assert set(columns) == {"exact_match", "word_recall", "answer_len"}
    assert columns["answer_len"].better == "lower"


# Kinds of files


def test_results_take_the_samples_of_their_time_with_them():
    whole = read_run(HARNESS / "baseline")
    for path in (file_of("baseline", "results"), file_of("baseline", "results").parent):
        again = read_run(path)
        assert again.ids == whole.ids
        assert again.sha256 == whole.sha256
    alone = read_run(file_of("baseline", "samples"))
    assert alone.ids == whole.ids
    assert alone.metric_facts == {}
    assert alone.provenance == {}
    joined = read_run([file_of("baseline", "results"), file_of("baseline", "samples")])
    assert sorted(joined.ids) == sorted(whole.ids)


def test_samples_of_another_time_are_not_taken(tmp_path):
    folder = write(tmp_path, results(a={"acc,none": 0.5}), a=[sample()])
    (folder / f"samples_a_{TIME}.jsonl").rename(folder / "samples_a_2026-01-02T03-04-06.000000.jsonl")
    assert read_run(folder / f"results_{TIME}.json").ids == ["a"]


def test_several_runs_are_no_run(tmp_path):
    shutil.copytree(HARNESS / "baseline", tmp_path / "a")
    shutil.copytree(HARNESS / "candidate", tmp_path / "b")
    with pytest.raises(
        InputError, match=r"holds 2 runs: a.rag-baseline.results.*name the results file of one"
    ):
        read_run(tmp_path)
    for path in tmp_path.rglob("results_*"):
        path.unlink()
    with pytest.raises(InputError, match=r"holds 2 runs: a.rag-baseline.samples"):
        read_run(tmp_path)


LATER = "2027-01-02T03-04-05.678901"


@pytest.mark.parametrize(
    "name", [f"results_{LATER}.json", f"samples_a_{LATER}.jsonl", f"samples_b_{TIME}.jsonl"]
)
@pytest.mark.parametrize("text", ["", "{", '{"resu', '{"a": 1}', "[]"])
@pytest.mark.parametrize("below", [".", "m"])
def test_a_file_of_a_run_that_can_not_be_read_is_not_passed_over(tmp_path, name, text, below):
    """Of a newer run, or of a task of this one: the run that is left says nothing of the one that broke."""
    folder = write(tmp_path / "run", results(a={"acc,none": 1.0}), a=[sample(0)])
    assert len(read_run(folder)) == 1
    (folder / below).mkdir(exist_ok=True)
    (folder / below / name).write_text(text)
    with pytest.raises(
        InputError, match=rf"{name}: is named like a file of a run and is none.*take it out of .*run"
    ):
        read_run(folder)


def test_newer_samples_without_results_are_a_run_of_their_own(tmp_path):
    """As a run leaves them that broke off before it wrote its results."""
    folder = write(tmp_path, results(a={"acc,none": 1.0}), a=[sample(0)])
    (folder / f"samples_a_{LATER}.jsonl").write_text(json.dumps(sample(0, acc=0.0)) + "\n")
    with pytest.raises(InputError, match=rf"holds 2 runs: results_{TIME}\.json, samples_a_{LATER}\.jsonl"):
        read_run(folder)
    assert read_run(folder / f"results_{TIME}.json").numbers("acc").tolist() == [1]


def test_what_other_programs_call_results_is_left_alone(tmp_path):
    folder = write(tmp_path, results(a={"acc,none": 1.0}), a=[sample(0)])
    for name in ("results.json", "my_results.json", "notes_2026.json"):
        (folder / name).write_text("[1, 2]")
    assert len(read_run(folder)) == 1


def test_means_alone_are_a_record_a_task(tmp_path):
    row = {"alias": "a", "acc,none": 0.25, "acc_stderr,none": "N/A", "em,strict": 0.5, "sample_len": 4}
    value = results(a={**row, "_": {"higher_is_better": {"acc": True, "em": False}}}, b={"acc,none": 0.75})
    run = read_run(write(tmp_path, value))
    assert run.ids == ["a", "b"]
    np.testing.assert_array_equal(run.numbers("acc"), [0.25, 0.75])
    np.testing.assert_array_equal(run.numbers("em,strict"), [0.5, NAN])
    assert set(run.metrics) == {"acc", "em,strict"}
    assert run.find_facts("em,strict").better == "lower"
    assert any("means of tasks and no samples" in warning for warning in run.warnings)
    verdict = judge(POLICY, tmp_path, tmp_path, tmp_path)
    assert verdict.pairing.paired == 2


def test_results_of_old_versions(tmp_path):
    """0.3: no filters, no directions."""
    old = {
        "results": {"arc": {"acc": 0.25, "acc_stderr": 0.01}},
        "versions": {"arc": 0},
        "config": {"model": "hf"},
    }
    (tmp_path / "results.json").write_text(json.dumps(old))
    run = read_run(tmp_path / "results.json")
    assert (run.ids, list(run.metrics), run.numbers("acc").tolist()) == (["arc"], ["acc"], [0.25])
    assert run.find_facts("acc") is None
    old["config"]["model_args"] = "pretrained=org/m,dtype=float16,api_key=x"
    (tmp_path / "results.json").write_text(json.dumps(old))
    facts = read_run(tmp_path / "results.json").provenance
    assert (facts["model"], facts["model.dtype"]) == ("org/m", "float16")
    assert "x" not in facts.values()


def test_samples_within_the_results_and_as_a_list(tmp_path):
    """As `simple_evaluate` returns them, and as 0.4.0 wrote them."""
    value = results(a={"acc,none": 0.5}) | {"samples": {"a": [sample(0), sample(1, acc=0.0)]}}
    (tmp_path / "r.json").write_text(json.dumps(value))
    inside = read_run(tmp_path / "r.json")
    (tmp_path / f"samples_a_{TIME}.jsonl").write_text(json.dumps([sample(0), sample(1, acc=0.0)], indent=2))
    listed = read_run(tmp_path / f"samples_a_{TIME}.jsonl")
    assert inside.ids == listed.ids
    assert inside.numbers("acc").tolist() == listed.numbers("acc").tolist() == [1, 0]


@pytest.mark.parametrize("kind", ["results", "samples"])
def test_one_reader_claims_a_file(kind):
    path = file_of("baseline", kind)
    head = Source(str(path)).head
    claims = [one for one in readers().values() if one.looks_like(head, path)]
    assert [one.NAME for one in claims if not getattr(one, "GENERAL", False)] == ["lm_eval"]


def test_results_of_very_many_tasks_are_known_by_the_names_of_their_scores(tmp_path):
    tasks = {
        f"task_{number}": {"alias": f"task {number}", "acc,none": 0.5, "acc_stderr,none": 0.1}
        for number in range(2000)
    }
    run = read_run(write(tmp_path, results(**tasks)) / f"results_{TIME}.json")
    assert (run.format, len(run)) == ("lm_eval", 2000)


# Tasks, filters, groups


def test_filters_are_metrics_of_their_own(tmp_path):
    lines = [
        sample(number, filter=chosen, metrics=["exact_match"], exact_match=float(number == hit), acc=9)
        for number in range(2)
        for chosen, hit in (("strict-match", 0), ("flexible-extract", 1))
    ]
    value = results(gsm={"exact_match,strict-match": 0.5, "exact_match,flexible-extract": 0.5})
    run = read_run(write(tmp_path, value, gsm=lines))
    assert len(run) == 2
    assert list(run.metrics) == ["exact_match,strict-match", "exact_match,flexible-extract"]
    assert run.numbers("exact_match,strict-match").tolist() == [1, 0]
    assert run.numbers("exact_match,flexible-extract").tolist() == [0, 1]


def test_tasks_with_metrics_and_directions_of_their_own(tmp_path):
    way = {"higher_is_better": {"acc": True}}
    value = results(**{
        "a": {"acc,none": 1.0, "_": way}, "b/x": {"score,none": 2.0, "_": {"higher_is_better": {"acc": False}}},
    })  # fmt: skip
    run = read_run(write(tmp_path, value, a=[sample(0)], b_x=[sample(0, metrics=["score", "acc"], score=2)]))
    assert run.labels("task") == [("a",), ("b/x",)]
    np.testing.assert_array_equal(run.numbers("score"), [NAN, 2])
    assert run.find_facts("acc") is None
    assert any("higher is better in some tasks and lower in others: acc" in told for told in run.warnings)


def test_groups_are_labels_and_no_records(tmp_path):
    value = results(
        mmlu={"acc,none": 0.5}, mmlu_stem={"acc,none": 0.5}, a={"acc,none": 1.0}, b={"acc,none": 0.0}
    )
    value["group_subtasks"] = {"mmlu": ["mmlu_stem", "b"], "mmlu_stem": ["a"], "a": [], "b": []}
    value["groups"] = {"mmlu": {"acc,none": 0.5}}
    means = read_run(write(tmp_path / "m", value))
    assert means.ids == ["a", "b"]
    assert means.labels("group") == [("mmlu", "mmlu_stem"), ("mmlu",)]
    run = read_run(write(tmp_path / "s", value, a=[sample(0)], b=[sample(0, acc=0.0)]))
    assert run.labels("group") == means.labels("group")
    assert len(set(run.ids)) == 2  # one document in two tasks


def test_what_is_no_score_of_a_sample_is_left_out(tmp_path):
    line = sample(0, metrics=["acc", "word_perplexity", "bypass"], word_perplexity=[-12.5, 7], bypass=999)
    run = read_run(write(tmp_path, results(a={"acc,none": 1.0, "bypass,none": 999}), a=[line]))
    assert list(run.metrics) == ["acc"]
    assert any("word_perplexity 1x" in warning for warning in run.warnings)


def test_missing_scores_stay_missing(tmp_path):
    folder = write(
        tmp_path, results(a={"acc,none": NAN}), a=[sample(0, acc=NAN), sample(1, acc=None), sample(2)]
    )
    np.testing.assert_array_equal(read_run(folder).numbers("acc"), [NAN, NAN, 1])


MEAN = {"configs": {"metric_list": [{"metric": "acc", "aggregation": "mean"}]}}


def counted(number: int) -> dict:
    return {"n-samples": {"original": 9, "effective": number}}


@given(
    values=st.lists(
        st.one_of(st.sampled_from([0.0, 1.0]), st.integers(0, 999).map(lambda parts: parts / 999)),
        min_size=1,
        max_size=6,
    ),
    changed=st.sets(st.integers(0, 5)),
    left_out=st.integers(0, 2),
)
def test_samples_that_are_not_those_of_the_results_give_no_run(tmp_path_factory, values, changed, left_out):
    """The harness writes the mean of what it logs (`mean` in lm_eval.api.metrics), and how many documents it ran."""
    folder = tmp_path_factory.mktemp("means")
    kept = [1.0 if row in changed else value for row, value in enumerate(values)][left_out:]
    if not kept:
        return
    value = results(a={"acc,none": sum(values) / len(values), "_": MEAN | counted(len(values))})
    write(folder, value, a=[sample(row, acc=one) for row, one in enumerate(kept)])
    difference = abs(float(np.mean(kept)) - float(np.mean(values)))
    if difference > 2e-6:
        with pytest.raises(
            InputError, match=r"acc of a is [\d.e-]+ in the results, and [\d.e-]+ by its samples"
        ):
            read_run(folder)
    elif difference < 1e-9:
        told = read_run(folder).warnings
        shown = "1 sample" if len(kept) == 1 else f"{len(kept)} samples"
        assert told == ((f"a has {shown}, and {len(values)} by the results",) if left_out else ())


@pytest.mark.parametrize(
    ("number", "is_checked", "is_read"), [(3, True, True), (3, False, False), (1, True, False)]
)
def test_another_number_of_samples_than_the_results_say(tmp_path, number, is_checked, is_read):
    """With `--samples` the harness says that it ran the whole task; nothing else explains another number."""
    value = results(a={"acc,none": 1.0, "_": (MEAN if is_checked else {}) | counted(number)})
    folder = write(tmp_path, value, a=[sample(0), sample(1)])
    if is_read:
        assert read_run(folder).warnings == (f"a has 2 samples, and {number} by the results",)
    else:
        with pytest.raises(InputError, match=f"a has 2 samples, and {number} by the results"):
            read_run(folder)


def test_a_metric_of_some_documents_and_a_task_without_samples(tmp_path):
    other = sample(1, metrics=["em"], em=0.0)
    value = results(a={"acc,none": 1.0, "_": MEAN}, b={"acc,none": 1.0})
    assert read_run(write(tmp_path, value, a=[sample(0), other])).warnings == (
        "1 task of the results has no samples and is left out: b",
    )


@pytest.mark.parametrize("side", SIDES)
def test_failures_hidden_in_real_samples_give_no_verdict(side, tmp_path):
    folder = shutil.copytree(HARNESS / side, tmp_path / "c")
    (path,) = folder.rglob("samples_*")
    path.write_text(path.read_text().replace('"exact_match": 0.0', '"exact_match": 1.0'))
    verdict = judge(POLICY.replace("acc", "exact_match"), HARNESS / "baseline", folder, tmp_path)
    assert verdict.verdict == "invalid"
    assert "exact_match of harbor_qa is" in verdict.because[0]


@pytest.mark.parametrize(
    ("before", "after", "is_compared"), [(29, 3, False), (29, 29, True), (29, None, True)]
)
def test_means_of_other_numbers_of_documents_are_not_compared(tmp_path, before, after, is_compared):
    """A mean of three documents, with --limit, says nothing against one of all."""
    folders = []
    for side, number in (("b", before), ("c", after)):
        count = {} if number is None else counted(number)
        value = results(a={"acc,none": 0.75, "_": MEAN | count}, b={"acc,none": 0.5, "_": MEAN | counted(7)})
        folders.append(write(tmp_path / side, value))
    verdict = judge(POLICY, *folders, tmp_path)
    assert (verdict.verdict != "invalid") == is_compared
    if not is_compared:
        assert "n_samples is '29' in the baseline and '3' in the candidate" in verdict.because[0]
        allowed = judge(POLICY + "provenance: {may_change: [n_samples]}\n", *folders, tmp_path)
        assert allowed.verdict != "invalid"
    columns = {column.name: column for column in inspect_run(read_run(folders[0])).numbers}
    assert columns["n_samples"].is_diagnosis


# Identity


def test_place_and_order_are_nothing(tmp_path):
    lines = lines_of("candidate")
    random.Random(5).shuffle(lines)
    moved = [line | {"doc_id": number} for number, line in enumerate(lines)]
    shuffled, before = read_run(write(tmp_path, harbor_qa=moved)), read_run(HARNESS / "candidate")
    assert sorted(shuffled.ids) == sorted(before.ids)
    values = dict(zip(before.ids, before.numbers("word_recall"), strict=True))
    assert [values[name] for name in shuffled.ids] == shuffled.numbers("word_recall").tolist()


def test_equal_documents_get_a_counter_and_are_told(tmp_path):
    known = sample(0)["doc_hash"]
    run = read_run(write(tmp_path, a=[sample(0), sample(1, doc_hash=known), sample(2)]))
    assert run.ids == [f"a/{known[:16]}", f"a/{known[:16]}#2", f"a/{sample(2)['doc_hash'][:16]}"]
    assert any("1 document stands in a task more than once" in warning for warning in run.warnings)


def test_a_field_of_the_document_may_identify(tmp_path):
    folder = write(tmp_path, a=[sample(0), sample(1)])
    assert read_run(folder, id_field="key").ids == ["k0", "k1"]
    assert read_run(folder).labels("topic") == [("it",), ("hr",)]


def test_long_and_nested_fields_and_the_question_are_no_labels(tmp_path):
    doc = {"question": "Q", "answer": "t", "passage": "x" * 300, "choices": ["a"], "year": 2020, "none": None}
    run = read_run(write(tmp_path, a=[sample(0, doc=doc, target="t")]))
    assert set(run.slices) == {"year", "task"}


@pytest.mark.parametrize(("change", "fact"), [
    ({"versions": 2.0}, "task_version"),
    ({"n-shot": 5}, "num_fewshot"),
    ({"configs": {"dataset_path": "other", "metric_list": []}}, "dataset"),
    ({"configs": {"dataset_path": "one", "metric_list": [{"metric": "acc", "ignore_case": True}]}}, "scoring"),
])  # fmt: skip
def test_tasks_that_are_not_alike_are_not_compared(tmp_path, change, fact):
    said = {"configs": {"dataset_path": "one", "metric_list": []}}
    plain = {"acc,none": 1.0}
    before = write(
        tmp_path / "a", results(a={**plain, "_": said}, b={**plain, "_": said}), a=[sample(0)], b=[sample(0)]
    )
    after = write(tmp_path / "b", results(a={**plain, "_": said | change}, b={**plain, "_": said}), a=[sample(0)],
                  b=[sample(0)])  # fmt: skip
    verdict = judge(POLICY, before, after, tmp_path)
    assert verdict.verdict == "invalid"
    assert fact in verdict.because[0]
    allowed = POLICY + f"provenance: {{may_change: [{fact}]}}\n"
    assert judge(allowed, before, after, tmp_path).verdict == "pass"


def test_addresses_of_functions_do_not_make_two_runs_differ(tmp_path):
    folders = []
    for side, address in (("a", "0x7b5ae43817e0"), ("b", "0x7b5ae43d31c0")):
        config = {"metric_list": [{"metric": f"<function f at {address}>", "aggregation": "mean"}]}
        folders.append(
            write(tmp_path / side, results(a={"acc,none": 1.0, "_": {"configs": config}}), a=[sample(0)])
        )
    assert judge(POLICY, *folders, tmp_path).verdict == "pass"


def test_another_target_of_a_document_is_not_compared(tmp_path):
    before = write(tmp_path / "a", a=[sample(0), sample(1)])
    after = write(tmp_path / "b", a=[sample(0), sample(1, target_hash="other")])
    assert (
        "target_hash is '1' in the baseline and 'other'" in judge(POLICY, before, after, tmp_path).because[0]
    )


# What is wrong


@pytest.mark.parametrize(("lines", "message"), [
    ([sample(0), sample(0)], r"jsonl:2: doc_id 0 stands twice for the filter 'none'"),
    ([sample(0, doc_id="0")], r"jsonl:1: doc_id must be a whole number, not the text '0'"),
    ([sample(0, doc={}, doc_hash=None)], r"jsonl:1: has neither doc_hash nor doc"),
])  # fmt: skip
def test_a_wrong_line_is_placed(tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        read_run(write(tmp_path, a=lines))


def test_a_file_cut_short_is_placed(tmp_path):
    path = write(tmp_path, a=[sample(0), sample(1)]) / f"samples_a_{TIME}.jsonl"
    path.write_text(path.read_text()[:-30])
    with pytest.raises(InputError, match=r"jsonl:2: .*the file ends in the middle"):
        read_run(path)
    value = write(tmp_path / "r", results(a={"alias": "a"}))
    with pytest.raises(InputError, match="has no task with a score"):
        read_run(value)


def test_the_documented_policy(tmp_path):
    (policy,) = write_policies("lm_eval.md", tmp_path)
    load_policy(policy)
    verdict = judge(policy, HARNESS / "baseline", HARNESS / "candidate")
    assert verdict.verdict == "pass", verdict.because
    assert verdict.pairing.paired == 29
    strict = policy.read_text().replace(
        "worse_by_at_most: 0.25", "worse_by_at_most: 0.0, on_inconclusive: fail"
    )
    assert judge(strict, HARNESS / "baseline", HARNESS / "candidate", tmp_path).verdict == "fail"
