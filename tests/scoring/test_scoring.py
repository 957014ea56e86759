"""Golden set and outputs joined, written as a run, and judged by check: what is missing is never rewarded."""

from __future__ import annotations

import datetime
import json
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline.convert import write_jsonl
from gateline.errors import InputError, PolicyError
from gateline.gate import check
from gateline.golden import read_golden, read_records
from gateline.readers import read_run
from gateline.scoring import cutoffs_of, read_cutoffs, score

DAY = datetime.date(2026, 6, 1)


@pytest.fixture
def files(tmp_path):
    """Write files by name: text, or records as JSON Lines. Returns the folder."""

    def write(**contents):
        for name, content in contents.items():
            path = tmp_path / name.replace("__", ".")
            text = content if isinstance(content, str) else "".join(json.dumps(one) + "\n" for one in content)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def scored_file(folder: Path, golden: str, outputs: str, to: str, cutoffs=(10,)) -> Path:
    scores = score(read_golden(folder / golden), read_records(folder / outputs), cutoffs)
    (folder / to).write_text("".join(write_jsonl(scores.run)), encoding="utf-8")
    return folder / to


QRELS = "".join(f"q{number} 0 good{number} 1\n" for number in range(40))


def run_text(found: int, of: int = 40) -> str:
    """A run that finds the relevant document of the first `found` queries, and has results for `of`."""
    return "".join(
        f"q{number} Q0 {'good' if number < found else 'bad'}{number} 1 1.0 t\n" for number in range(of)
    )


POLICY = """
version: 1
name: gate
samples: {{at_least: 1{golden}}}
metrics:
  {metric}
rules:
  - {{id: holds, kind: tolerance, metric: {name}, worse_by_at_most: 0.05, decide_by: value}}
"""


def policy(folder: Path, metric: str, *, golden: str = "") -> Path:
    name = metric.partition(":")[0]
    path = folder / "policy.yml"
    path.write_text(
        POLICY.format(metric=metric, name=name, golden=f", golden_set: {golden}" if golden else "")
    )
    return path


def test_what_was_written_reads_back_as_what_was_computed(files):
    folder = files(
        golden__jsonl=[
            {"query_id": "a", "question": "A?", "relevant_chunk_ids": {"d1": 2, "d2": 1}, "difficulty": "hard",
             "answerable": True, "slice_tags": ["x", "y"], "doc_id": "s1"},
            {"query_id": "b", "question": "B?", "relevant_chunk_ids": [], "answerable": False, "doc_id": "s1"},
        ],
        outputs__jsonl=[
            {"id": "b", "retrieved": ["d9"], "latency_ms": 20, "answer": "no", "metrics": {"own": 0.25},
             "slices": {"host": "eu"}},
            {"id": "a", "retrieved": ["d2", "d9", "d1"], "latency_ms": 10, "answer": "yes", "metrics": {"own": 0.5},
             "slices": {"host": "eu"}},
        ],
    )  # fmt: skip
    scores = score(read_golden(folder / "golden.jsonl"), read_records(folder / "outputs.jsonl"), (1, 3))
    (folder / "run.jsonl").write_text("".join(write_jsonl(scores.run)))
    back = read_run(folder / "run.jsonl")
    assert back.ids == ["a", "b"], "in the order of the golden set"
    for name, measured in scores.measured.items():
        if scores.definitions[name].summary == "mean":
            np.testing.assert_array_equal(back.numbers(name), measured.value, err_msg=name)
    assert back.numbers("relevant").tolist() == [2, 0]
    assert back.numbers("own").tolist() == [0.5, 0.25]
    assert back.numbers("latency_ms").tolist() == [10, 20]
    assert back.labels("undefined.recall@3") == [(), ("no id is relevant",)]
    assert back.labels("difficulty") == [("hard",), ()]
    assert back.labels("slice_tags") == [("x", "y"), ()]
    assert back.labels("answerable") == [("true",), ("false",)]
    assert back.labels("host") == [("eu",), ("eu",)]
    assert back.labels("doc_id") == [("s1",), ("s1",)]
    assert back.texts("question") == ["A?", "B?"]
    assert back.provenance["golden_set.sha256"] == read_golden(folder / "golden.jsonl").run.sha256


@pytest.mark.parametrize(
    "relevant",
    [
        ["d1", "d2"],
        {"d1": 1, "d2": 1, "d3": 0},
        [{"id": "d1"}, {"chunk_id": "d2", "grade": 1}],
        '["d1", "d2"]',
    ],
)
def test_relevant_ids_in_every_spelling(files, relevant):
    folder = files(
        g__jsonl=[{"id": "q", "relevant": relevant}], o__jsonl=[{"id": "q", "retrieved": ["x", "d2"]}]
    )
    found = score(read_golden(folder / "g.jsonl"), read_records(folder / "o.jsonl"))
    assert found.measured["recall@10"].value.tolist() == [0.5]
    assert found.measured["mrr"].value.tolist() == [0.5]


def test_ids_that_are_numbers_and_ids_that_are_texts_are_one(files):
    folder = files(g__jsonl=[{"id": 1, "relevant": [7, "8"]}], o__jsonl=[{"id": "1", "retrieved": ["7", 8]}])
    found = score(read_golden(folder / "g.jsonl"), read_records(folder / "o.jsonl"))
    assert found.measured["recall@10"].value.tolist() == [1.0]


def test_a_golden_set_as_a_table(files):
    folder = files(
        g__csv='query_id,relevant,answerable\nq1,"[""d1"", ""d2""]",yes\nq2,[],no\n',
        o__jsonl=[
            {"id": "q1", "retrieved": ["d1"], "refused": False},
            {"id": "q2", "retrieved": [], "refused": True},
        ],
    )
    found = score(read_golden(folder / "g.csv"), read_records(folder / "o.jsonl"))
    assert found.measured["recall@10"].value[0] == 0.5
    assert math.isnan(found.measured["recall@10"].value[1])
    assert found.measured["refused_correctly"].value[1] == 1


def test_attempts_are_kept_apart(files):
    golden = [{"id": "q", "relevant": ["d1"]}]
    twice = [{"id": "q", "retrieved": ["d1"]}, {"id": "q", "retrieved": ["d2"]}]
    folder = files(g__jsonl=golden, o__jsonl=twice,
                   a__jsonl=[{**one, "attempt": number} for number, one in enumerate(twice)])  # fmt: skip
    with pytest.raises(InputError, match="the id 'q' stands 2 times, in lines 1, 2"):
        score(read_golden(folder / "g.jsonl"), read_records(folder / "o.jsonl"))
    found = score(read_golden(folder / "g.jsonl"), read_records(folder / "a.jsonl"))
    assert found.measured["recall@10"].value.tolist() == [1, 0]
    assert found.run.numbers("attempt").tolist() == [0, 1]


def test_an_id_twice_in_a_ranking_names_the_sample_and_the_ranks(files):
    folder = files(
        g__jsonl=[{"id": "q", "relevant": ["d"]}], o__jsonl=[{"id": "q", "retrieved": ["x", "d", "d"]}]
    )
    with pytest.raises(InputError, match=r"retrieved of 'q' has 'd' more than once, at ranks 2, 3"):
        score(read_golden(folder / "g.jsonl"), read_records(folder / "o.jsonl"))


def test_several_ids_in_one_text_are_not_taken_for_one_id(files):
    folder = files(g__csv="id,relevant\nq1,d1\n", o__jsonl=[{"id": "q1", "retrieved": "d1 d2"}])
    with pytest.raises(InputError, match="retrieved of 'q1' must be a list"):
        score(read_golden(folder / "g.csv"), read_records(folder / "o.jsonl"))
    folder = files(o__jsonl=[{"id": "q1", "retrieved": "d1"}])
    found = score(read_golden(folder / "g.csv"), read_records(folder / "o.jsonl"))
    assert found.measured["recall@10"].value.tolist() == [1.0]


def test_a_question_without_an_output_is_told_and_counts(files):
    folder = files(
        g__jsonl=[{"id": "q1", "relevant": ["d"]}, {"id": "q2", "relevant": ["d"]}],
        o__jsonl=[{"id": "q1", "retrieved": ["d"], "statements": [True]}, {"id": "q9", "retrieved": ["d"]}],
    )
    found = score(read_golden(folder / "g.jsonl"), read_records(folder / "o.jsonl"))
    assert found.measured["recall@10"].value.tolist() == [1, 0]
    assert found.measured["faithfulness"].reasons() == [None, "no output"]
    assert found.run.fields["error"] == [None, "no_answer"]
    told = " ".join(found.run.warnings)
    assert "no results for 1 of 2 questions" in told
    assert "q2" in told
    assert "1 question is not in the golden set and is left out: q9" in told


def test_nothing_recorded_is_not_nothing_found(files):
    """A null ranking is unknown, an empty one found nothing."""
    folder = files(
        g__jsonl=[{"id": name, "relevant": ["d"]} for name in ("a", "b", "c")],
        o__jsonl=[
            {"id": "a", "retrieved": None},
            {"id": "b", "retrieved": []},
            {"id": "c", "retrieved": ["d"]},
        ],
    )
    found = score(read_golden(folder / "g.jsonl"), read_records(folder / "o.jsonl"))
    recall = found.measured["recall@10"]
    assert recall.reasons() == ["the retrieved ids were not recorded", None, None]
    assert recall.value[1:].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            {"required_claims": ["28 days"], "forbidden_claims": ["28  Days."]},
            "requires and forbids the same claim",
        ),
        ({"answerable": False, "relevant": ["d1"]}, "is unanswerable and has relevant ids: d1"),
        (
            {"answerable": False, "required_evidence_groups": [["d1"]]},
            "is unanswerable and requires evidence",
        ),
    ],
)
def test_golden_sets_that_contradict_themselves_are_refused_with_ids(files, record, said):
    folder = files(g__jsonl=[{"id": "fine", "relevant": ["d1"]}, {"id": "odd", **record}],
                   o__jsonl=[{"id": "fine", "retrieved": ["d1"]}])  # fmt: skip
    with pytest.raises(InputError) as refused:
        score(read_golden(folder / "g.jsonl"), read_records(folder / "o.jsonl"))
    assert f"'odd' {said}" in str(refused.value)
    assert "g.jsonl:2" in str(refused.value)


def test_one_question_answerable_and_not_is_refused(files):
    folder = files(
        g__jsonl=[{"id": "a", "question": "Is it so?", "answerable": True},
                  {"id": "b", "question": "is it so", "answerable": False}, {"id": "a", "question": "Other?"}],
        o__jsonl=[{"id": "a", "refused": True}],
    )  # fmt: skip
    with pytest.raises(InputError) as refused:
        score(read_golden(folder / "g.jsonl"), read_records(folder / "o.jsonl"))
    assert "'b' asks the same as 'a', and only one of them is answerable" in str(refused.value)
    assert "the id 'a' stands twice" in str(refused.value)


def test_files_in_the_wrong_place_are_told(files):
    folder = files(qrels__txt=QRELS, a__run=run_text(3), o__jsonl=[{"id": "other", "retrieved": ["x"]}])
    with pytest.raises(InputError, match="is a run file, not a golden set"):
        read_golden(folder / "a.run")
    with pytest.raises(InputError, match="is a set of labels, not of outputs"):
        score(read_golden(folder / "qrels.txt"), read_records(folder / "qrels.txt"))
    with pytest.raises(InputError, match="no output belongs to a question"):
        score(read_golden(folder / "qrels.txt"), read_records(folder / "o.jsonl"))


def test_cutoffs(files):
    assert read_cutoffs("10,1, 5,5") == [1, 5, 10]
    for wrong in ("", "0", "1,", "ten", "-1", "1.5", "1000000"):
        with pytest.raises(PolicyError, match="--k must be whole numbers"):
            read_cutoffs(wrong)
    from gateline.metric import Metric

    named = {"recall@5": Metric(better="higher"), "r": Metric(better="higher", field="ndcg@20"),
             "s": Metric(better="higher", ratio=("relevant_retrieved@3", "relevant"))}  # fmt: skip
    assert cutoffs_of(named) == [3, 5, 20]
    assert cutoffs_of({"mrr": Metric(better="higher")}) == [10]


def test_run_files_go_straight_into_check_and_agree_with_scored_files(files):
    folder = files(qrels__txt=QRELS, b__run=run_text(36), c__run=run_text(30))
    before = scored_file(folder, "qrels.txt", "b.run", "b.jsonl", (5,))
    after = scored_file(folder, "qrels.txt", "c.run", "c.jsonl", (5,))
    scored = check(policy(folder, "recall@5: {better: higher}"), before, after, on=DAY)
    direct = check(policy(folder, "recall@5: {better: higher}", golden="qrels.txt"), folder / "b.run",
                   folder / "c.run", on=DAY)  # fmt: skip
    mixed = check(
        policy(folder, "recall@5: {better: higher}", golden="qrels.txt"), before, folder / "c.run", on=DAY
    )
    for verdict in (scored, direct, mixed):
        assert verdict.verdict == "fail"
        assert (verdict.findings[0].baseline, verdict.findings[0].candidate) == (36 / 40, 30 / 40)
        assert verdict.findings[0].interval == scored.findings[0].interval


def test_a_run_file_without_labels_is_told_what_it_needs(files):
    folder = files(b__run=run_text(3), c__run=run_text(3))
    verdict = check(policy(folder, "recall@5: {better: higher}"), folder / "b.run", folder / "c.run", on=DAY)
    assert verdict.verdict == "invalid"
    assert "golden_set" in verdict.problems[0].hint


def test_queries_without_results_are_never_rewarded(files):
    """The candidate drops the queries that it does badly on: over its own queries it would be better."""
    folder = files(qrels__txt=QRELS, b__run=run_text(20), c__run=run_text(20, of=20))
    verdict = check(policy(folder, "mrr: {better: higher}", golden="qrels.txt"), folder / "b.run", folder / "c.run",
                    on=DAY)  # fmt: skip
    assert verdict.findings[0].candidate == 20 / 40
    assert any("no results for 20 of 40 questions" in notice for notice in verdict.notices)
    worse = files(d__run=run_text(15, of=15))
    verdict = check(policy(folder, "mrr: {better: higher}", golden="qrels.txt"), folder / "b.run", worse / "d.run",
                    on=DAY)  # fmt: skip
    assert verdict.verdict == "fail"


def test_taking_labels_away_is_never_silent(files):
    """Half of the labels of the failing queries go: the candidate's score would rise from 0.5 to 0.67."""
    fewer = "".join(f"q{number} 0 good{number} 1\n" for number in range(30))
    folder = files(qrels__txt=QRELS, fewer__txt=fewer, a__run=run_text(20))
    before = scored_file(folder, "qrels.txt", "a.run", "b.jsonl")
    after = scored_file(folder, "fewer.txt", "a.run", "c.jsonl")
    verdict = check(policy(folder, "recall@10: {better: higher}"), before, after, on=DAY)
    assert verdict.verdict == "invalid", "the questions differ"
    emptied = QRELS.replace("good35 1", "good35 0").replace("good36 1", "good36 0")
    folder = files(emptied__txt=emptied)
    after = scored_file(folder, "emptied.txt", "a.run", "d.jsonl")
    verdict = check(policy(folder, "recall@10: {better: higher}"), before, after, on=DAY)
    assert verdict.verdict == "invalid", "two values of 40 are missing, more than the 2 % allowed"
    changed = QRELS.replace("good35 1", "bad35 1")
    folder = files(changed__txt=changed)
    after = scored_file(folder, "changed.txt", "a.run", "e.jsonl")
    verdict = check(policy(folder, "recall@10: {better: higher}"), before, after, on=DAY)
    assert "golden_set.sha256" in verdict.model_dump_json()
    strict = policy(folder, "recall@10: {better: higher}")
    strict.write_text(strict.read_text() + "provenance: {must_match: [golden_set.sha256]}\n")
    assert check(strict, before, after, on=DAY).verdict == "invalid"


def test_ratio_metrics_go_straight_into_check(files):
    """9 right of 10 and 0 of 1 before; 10 of 10 and 0 of 1 after: 2/11 and 1/11 over the claims."""

    def outputs(first):  # fmt: skip
        return [
            {
                "id": f"a{number}",
                "statements": [{"label": "supported"}] * first + [{"label": "unsupported"}] * (10 - first),
            }
            for number in range(10)
        ] + [{"id": f"b{number}", "statements": [{"label": "contradicted"}]} for number in range(10)]

    golden = [
        {"id": f"{name}{number}", "question": f"{name}{number}"} for name in "ab" for number in range(10)
    ]
    folder = files(g__jsonl=golden, b__jsonl=outputs(9), c__jsonl=outputs(10))
    before = scored_file(folder, "g.jsonl", "b.jsonl", "bs.jsonl")
    after = scored_file(folder, "g.jsonl", "c.jsonl", "cs.jsonl")
    gate = policy(folder, "hallucination_rate_claim: {better: lower, ratio: [unsupported_claims, claims]}")
    verdict = check(gate, before, after, on=DAY)
    assert verdict.verdict == "pass"
    assert verdict.findings[0].baseline == pytest.approx(2 / 11)
    assert verdict.findings[0].candidate == pytest.approx(1 / 11)
    averaged = policy(folder, "hallucination_rate_claim: {better: lower}")
    assert check(averaged, before, after, on=DAY).verdict == "invalid", "micro and macro are never mixed"


def test_a_metric_defined_for_some_questions_is_judged_where_it_applies(files):
    golden = [{"id": f"q{number}", "relevant": ["d"] if number < 30 else [], "answerable": number < 30}
              for number in range(60)]  # fmt: skip
    outputs = [{"id": f"q{number}", "retrieved": ["d"], "refused": number >= 30} for number in range(60)]
    folder = files(g__jsonl=golden, o__jsonl=outputs)
    run = scored_file(folder, "g.jsonl", "o.jsonl", "r.jsonl")
    gate = policy(folder, "recall@10: {better: higher, applies_to: known}")
    assert check(gate, run, run, on=DAY).verdict == "invalid", "no such slice"
    gate.write_text(gate.read_text() + "slices: {named: {known: {answerable: true}}}\n")
    verdict = check(gate, run, run, on=DAY)
    assert verdict.verdict == "pass"
    assert verdict.findings[0].samples == 30
    assert check(policy(folder, "recall@10: {better: higher}"), run, run, on=DAY).verdict == "invalid"


labels = st.one_of(st.none(), st.lists(st.sampled_from("abcd"), unique=True, max_size=3))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(labels, labels, st.sampled_from([None, True, False])), min_size=1, max_size=6))
def test_no_undefined_value_becomes_a_number(tmp_path_factory, rows):
    """Whatever is labelled and recorded: a value has a denominator above 0, and no value has a reason."""
    folder = tmp_path_factory.mktemp("any")
    golden, outputs = [], []
    for number, (relevant, retrieved, refused) in enumerate(rows):
        golden.append({"id": f"q{number}", "relevant": relevant, "note": "x"})
        outputs.append({"id": f"q{number}", "retrieved": retrieved, "refused": refused,
                        "statements": None if refused is None else [refused]})  # fmt: skip
    for name, records in (("g.jsonl", golden), ("o.jsonl", outputs)):
        (folder / name).write_text("".join(json.dumps(one) + "\n" for one in records))
    found = score(read_golden(folder / "g.jsonl"), read_records(folder / "o.jsonl"), (1, 3))
    for name, measured in found.measured.items():
        for value, below, reason in zip(
            measured.value, measured.denominator, measured.reasons(), strict=True
        ):
            assert math.isnan(value) == (reason is not None), name
            if not math.isnan(value):
                assert below > 0, name
                assert 0 <= value <= 1 + 1e-12, name
    for number, (relevant, retrieved, _) in enumerate(rows):
        if "recall@3" in found.measured:
            value = found.measured["recall@3"].value[number]
            assert math.isnan(value) == (not relevant or retrieved is None)


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_ids_of_another_kind_are_told_and_ids_that_are_labelled_never(data):
    """Where no id of a run is labelled, scores of 0 say nothing of it: told of ids retrieved and of ids sent."""
    ids = st.sampled_from("abcdefgh")
    relevant = data.draw(st.lists(st.dictionaries(ids, st.sampled_from([0, 1, 2])), min_size=3, max_size=3))
    outputs = []
    for number in range(3):
        ranking = data.draw(st.lists(ids, unique=True))
        outputs.append({"id": f"q{number}", "retrieved": ranking, "contexts": ranking[:2]})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        golden = [{"id": f"q{number}", "relevant": one} for number, one in enumerate(relevant)]
        for file, records in (("golden", golden), ("outputs", outputs)):
            text = "".join(json.dumps(one) + "\n" for one in records)
            (folder / f"{file}.jsonl").write_text(text, encoding="utf-8")
        run = score(read_golden(folder / "golden.jsonl"), read_records(folder / "outputs.jsonl")).run
    labelled = {one for grades in relevant for one in grades}
    for field, words in (("retrieved", "none of the ids retrieved"), ("contexts", "none of the ids sent")):
        found = {one for record in outputs for one in record[field]}
        told = [warning for warning in run.warnings if words in warning]
        assert bool(told) == (bool(labelled) and bool(found) and not labelled & found)


def test_a_baseline_whose_ids_are_of_another_kind_does_not_make_a_silent_pass(files):
    folder = files(
        golden__jsonl=[{"id": f"q{n}", "relevant": [f"d{n}"]} for n in range(40)],
        old__jsonl=[{"id": f"q{n}", "retrieved": [f"doc-{n}"]} for n in range(40)],
        new__jsonl=[{"id": f"q{n}", "retrieved": [f"d{n}"]} for n in range(40)],
        policy__yml="version: 1\nname: g\nsamples: {at_least: 1}\nmetrics: {mrr: {better: higher, range: [0, 1]}}\n"
        "rules: [{kind: tolerance, metric: mrr, worse_by_at_most: 0.1}]\n",
    )
    old, new = (
        scored_file(folder, "golden.jsonl", f"{one}.jsonl", f"{one}.run.jsonl") for one in ("old", "new")
    )
    verdict = check(str(folder / "policy.yml"), str(old), str(new), on=DAY)
    assert any("none of the ids retrieved (doc-0" in notice for notice in verdict.notices)
