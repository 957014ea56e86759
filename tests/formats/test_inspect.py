from __future__ import annotations

import io
import json
import random
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, FORMATS, judge, write_policies
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.inspection import inspect_run
from gateline.policy import load_policy
from gateline.readers import _zip_members, read_run, readers
from gateline.readers._source import Source
from gateline.readers._zip_members import ZipMembers

zstandard = pytest.importorskip("zstandard")

LOGS = FILES / "inspect"
NAN = float("nan")
POLICY = """\
version: 1
name: gate
samples: {at_least: 1}
missing: {drop_at_most: 10%}
metrics: {retrieval_hit: {better: higher, range: [0, 1]}}
rules: [{id: holds, kind: tolerance, metric: retrieval_hit, worse_by_at_most: 0.5, on_inconclusive: pass}]
"""


def pack(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip file; members of method 93 are compressed by zstandard in two frames, then written as such."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED if method == 93 else method) as archive:
        for name, content in members.items():
            half = len(content) // 2
            frames = [zstandard.compress(part) for part in (content[:half], content[half:])]
            archive.writestr(name, b"".join(frames) if method == 93 else content)
    data = bytearray(stream.getvalue())
    if method == 93:
        for name, content in members.items():
            patch(data, name, method=93, size=len(content), crc=zipfile.crc32(content))
    return bytes(data)


def patch(data: bytearray, name: str, *, method=None, size=None, crc=None, flags=None) -> None:
    """Change what the directory says of a member."""
    place = data.rindex(b"PK\x01\x02", 0, data.rindex(name.encode()))
    for offset, form, value in ((10, "<H", method), (24, "<I", size), (16, "<I", crc), (8, "<H", flags)):
        if value is not None:
            struct.pack_into(form, data, place + offset, value)


def members_of(path: Path) -> dict[str, bytes]:
    members = ZipMembers(Source(str(path)))
    return {name: members.read(name) for name in members.names}


def as_json(members: dict[str, bytes]) -> dict:
    """Return the log as INSPECT_LOG_FORMAT=json writes it."""
    samples = [json.loads(content) for name, content in members.items() if name.startswith("samples/")]
    return json.loads(members["header.json"]) | {
        "samples": sorted(samples, key=lambda sample: sample["id"]),
        "reductions": json.loads(members["reductions.json"]),
    }


def sample(name="1", **more):
    return {
        "id": name, "epoch": 1, "input": f"Q{name}", "target": "t", "output": {"completion": "a"}, "metadata": {},
        "scores": {"retrieval_hit": {"value": "C"}}, "model_usage": {},
    } | more  # fmt: skip


def log(*samples, **more):
    plan = {"run_id": "r", "task": "t", "model": "m", "config": {"epochs": 1}, **more.pop("eval", {})}
    return {"version": 2, "status": "success", "eval": plan, "plan": {}, "samples": list(samples)} | more


def write(folder, *samples, name="log.json", **more):
    path = folder / name
    path.write_text(json.dumps(log(*samples, **more)))
    return path


def expect_same(one, other, *, names=None):
    assert one.ids == other.ids
    assert sorted(one.metrics) == sorted(other.metrics)
    for name in names or [*one.metrics, "latency_ms", "total_time_ms", "tokens.input", "tokens.total"]:
        np.testing.assert_allclose(one.numbers(name), other.numbers(name), atol=1e-9)
    for name in ("question", "reference", "error", "topic"):
        assert one.texts(name) == other.texts(name)


# Numbers of the tool


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_means_are_those_of_the_log(side):
    run, results = (
        read_run(LOGS / f"{side}.eval"),
        json.loads(members_of(LOGS / f"{side}.eval")["header.json"])["results"],
    )
    compared = 0
    for result in results["scores"]:
        values = run.numbers(result["name"])  # short names too
        assert np.isfinite(values).sum() == result["scored_samples"]
        for name in ("mean", "accuracy"):
            if name in result["metrics"]:
                assert np.nanmean(values) == pytest.approx(result["metrics"][name]["value"], abs=1e-12)
                compared += 1
    assert compared == 4
    assert run.warnings == ()
    assert (
        sum(error is None for error in run.fields.get("error", [None] * 30)) == results["completed_samples"]
    )


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_every_score_is_that_of_the_reductions(side):
    """Inspect writes letters reduced to numbers there."""
    run = read_run(LOGS / f"{side}.eval")
    for reduction in json.loads(members_of(LOGS / f"{side}.eval")["reductions.json"]):
        for item in reduction["samples"]:
            row = run.ids.index(item["sample_id"])
            value = item["value"] if isinstance(item["value"], dict) else {"": item["value"]}
            for part, number in value.items():
                if part or not isinstance(run.find_column(reduction["scorer"]), type(None)):
                    name = f"{reduction['scorer']}.{part}".removesuffix(".")
                    np.testing.assert_equal(run.numbers(name)[row], number)


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_tokens_are_those_of_the_log(side):
    run = read_run(LOGS / f"{side}.eval")
    (usage,) = json.loads(members_of(LOGS / f"{side}.eval")["header.json"])["stats"]["model_usage"].values()
    for name in ("input", "output", "total"):
        assert np.nansum(run.numbers(f"tokens.{name}")) == usage[f"{name}_tokens"]


def test_times_are_milliseconds():
    run, members = read_run(LOGS / "baseline.eval"), members_of(LOGS / "baseline.eval")
    for row, name in enumerate(run.ids):
        stored = json.loads(members[f"samples/{name}_epoch_1.json"])
        assert run.numbers("latency_ms")[row] == pytest.approx(1000 * stored["working_time"])
        assert run.numbers("total_time_ms")[row] == pytest.approx(1000 * stored["total_time"])
        assert run.place(row).endswith(f"baseline.eval/samples/{name}_epoch_1.json")


# Kinds of files


@pytest.mark.parametrize("side", ["baseline", "candidate"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
def test_the_method_of_compression_is_nothing(tmp_path, side, method):
    members = members_of(LOGS / f"{side}.eval")
    (tmp_path / "x.eval").write_bytes(pack(members, method))
    expect_same(read_run(tmp_path / "x.eval"), read_run(LOGS / f"{side}.eval"))


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_json_holds_the_same_run(tmp_path, side):
    (tmp_path / "x.json").write_text(json.dumps(as_json(members_of(LOGS / f"{side}.eval"))))
    one, other = read_run(tmp_path / "x.json"), read_run(LOGS / f"{side}.eval")
    expect_same(one, other)
    assert one.provenance == other.provenance
    assert one.texts("answer") == other.texts("answer")
    assert one.labels("context_ids") == other.labels("context_ids")


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_the_table_has_the_same_scores(side):
    """Of another run of the same pipeline, so that times differ."""
    table, whole = read_run(LOGS / f"{side}.samples_df.csv"), read_run(LOGS / f"{side}.eval")
    assert table.ids == whole.ids
    expect_same(table, whole, names=[*whole.metrics, "tokens.input", "tokens.output", "tokens.total"])
    assert table.lines[0] == 2
    assert table.labels("gold") == whole.labels("gold")
    assert (table.numbers("latency_ms") > 50).all()
    assert table.provenance == {}


def test_bare_nan_is_read_without_orjson_too(monkeypatch):
    before = read_run(LOGS / "candidate.eval")
    monkeypatch.setitem(sys.modules, "orjson", None)
    expect_same(read_run(LOGS / "candidate.eval"), before)
    row = before.ids.index("q030")
    assert np.isnan(before.numbers("rag_scores.recall")[row])
    assert before.numbers("retrieval_hit")[row] == 0  # N
    assert before.texts("error")[row] == ""


def test_a_killed_run_is_read_as_far_as_it_goes(tmp_path):
    members = members_of(LOGS / "baseline.eval")
    kept = {
        name: content
        for name, content in members.items()
        if "/" in name and "q03" not in name and "q02" not in name
    }
    (tmp_path / "x.eval").write_bytes(pack(kept))
    run = read_run(tmp_path / "x.eval")
    assert run.ids == [f"q{number:03}" for number in range(1, 20)]
    assert run.provenance["task"] == "harbor"
    assert run.warnings == (
        "the run did not end well: its status is 'started'",
        "11 of 30 planned samples are not in the log",
    )
    assert (
        "11 of 30 questions"
        in judge(POLICY, LOGS / "baseline.eval", tmp_path / "x.eval", tmp_path).because[0]
    )


def test_a_folder_with_one_log(tmp_path):
    (tmp_path / "2026-01-01T00-00-00_t_x.eval").write_bytes((LOGS / "baseline.eval").read_bytes())
    expect_same(read_run(tmp_path), read_run(LOGS / "baseline.eval"))
    (tmp_path / "2026-01-02T00-00-00_t_y.json").write_text(json.dumps(log(sample())))
    with pytest.raises(InputError, match=r"holds 2 logs: 2026-01-01.*name one of them"):
        read_run(tmp_path)


@pytest.mark.parametrize("name", ["baseline.eval", "candidate.samples_df.csv", "candidate_epochs2.json"])
def test_one_reader_claims_a_file(name):
    path = LOGS / name
    head = Source(str(path)).head
    assert [
        one.NAME
        for one in readers().values()
        if one.looks_like(head, path) and not getattr(one, "GENERAL", False)
    ] == ["inspect"]


def test_another_zip_file_is_not_ours(tmp_path):
    (tmp_path / "a.zip").write_bytes(pack({"a.txt": b"1"}))
    with pytest.raises(InputError, match="no reader knows this file"):
        read_run(tmp_path / "a.zip")
    with pytest.raises(InputError, match=r"is a zip file without header\.json"):
        read_run(tmp_path / "a.zip", read_as="inspect")


def test_nothing_heavy_is_loaded_to_look_for_a_reader():
    script = "import sys, gateline.readers as r; r.readers(); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"zipfile", "lzma", "zstandard"} & set(loaded)


# Zip files that are broken or meant to harm


def test_a_log_cut_short(tmp_path):
    (tmp_path / "x.eval").write_bytes((LOGS / "baseline.eval").read_bytes()[:-500])
    with pytest.raises(InputError, match="is not a whole zip file"):
        read_run(tmp_path / "x.eval")


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
@pytest.mark.parametrize("change", [
    {"size": 3}, {"size": 200}, {"crc": 5}, {"flags": 1}, {"method": 12}, {"size": 1 << 29},
])  # fmt: skip
def test_a_member_that_is_not_what_the_directory_says(tmp_path, method, change):
    data = bytearray(pack({"header.json": json.dumps(log(sample()), indent=2).encode()}, method))
    patch(data, "header.json", **change)
    (tmp_path / "x.eval").write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"x\.eval/header\.json: (is damaged|is encrypted|is compressed with method 12|"
                                         "unpacks to 536,870,912 bytes; at most 268,435,456 are read)"):  # fmt: skip
        read_run(tmp_path / "x.eval")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, 93])
def test_a_bomb_is_not_unpacked_beyond_what_its_entry_says(tmp_path, method):
    """50 MB of blanks that say they are 10 bytes."""
    data = bytearray(pack({"header.json": b" " * 50_000_000}, method))
    assert len(data) < 100_000
    patch(data, "header.json", size=10)
    (tmp_path / "x.eval").write_bytes(bytes(data))
    with pytest.raises(InputError, match="is damaged, or unpacks to another size"):
        read_run(tmp_path / "x.eval")


def test_all_members_together_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(_zip_members, "MOST_IN_ALL", 20_000)
    with pytest.raises(InputError, match="unpack to more than that; at most 20,000 are read"):
        read_run(LOGS / "baseline.eval")


def test_without_zstandard_the_message_says_what_to_install(monkeypatch, tmp_path):
    members = members_of(LOGS / "baseline.eval")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(InputError, match=r"pip install zstandard"):
        read_run(LOGS / "baseline.eval")
    (tmp_path / "x.eval").write_bytes(pack(members))
    assert len(read_run(tmp_path / "x.eval")) == 30


@given(st.dictionaries(st.text("abc/.", min_size=1, max_size=8).filter(lambda name: not name.endswith("/")),
                       st.binary(max_size=300), min_size=1, max_size=4),
       st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93]))  # fmt: skip
def test_members_are_unpacked_as_they_were_packed(tmp_path_factory, members, method):
    path = tmp_path_factory.getbasetemp() / "members.zip"
    path.write_bytes(pack(members, method) if method != 93 or len(members) == 1 else pack(members))
    assert members_of(path) == members


@given(st.data())
def test_a_changed_byte_never_crashes_and_never_changes_a_score(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "changed.eval"
    good = pack(
        {"header.json": json.dumps(log()).encode(), "samples/1_epoch_1.json": json.dumps(sample()).encode()}
    )
    place = data.draw(st.integers(4, len(good) - 1))
    changed = bytearray(good)
    changed[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(changed))
    try:
        run = read_run(path, read_as="inspect")
    except InputError:
        return
    assert run.ids == ["1"]
    assert run.numbers("retrieval_hit").tolist() == [1]


# Scores


@pytest.mark.parametrize(("value", "number"), [
    ("C", 1), ("I", 0), ("P", 0.5), ("N", 0), (True, 1), (False, 0), ("yes", 1), ("No", 0), ("TRUE", 1), ("false", 0),
    (0.25, 0.25), (3, 3), ("0.5", 0.5), ("-1e1", -10), (NAN, NAN), (None, NAN), ("nan", NAN),
])  # fmt: skip
def test_values_become_the_numbers_of_value_to_float(tmp_path, value, number):
    """Inspect's own table of cases; NaN is what it leaves out of every mean."""
    items = sample("1", scores={"s": {"value": value}}), sample("2", scores={"s": {"value": 1.0}})
    np.testing.assert_equal(read_run(write(tmp_path, *items)).numbers("s")[0], number)


def test_a_text_that_is_no_number_is_no_score(tmp_path):
    run = read_run(write(tmp_path, sample("1", scores={"s": {"value": "good"}}), sample("2")))
    assert np.isnan(run.numbers("s")).all()
    assert run.warnings == (
        "Inspect counts a text that is no number as 0; those are no scores here: s 1x (such as 'good')",
    )


def test_grades_have_a_direction_and_numbers_none(tmp_path):
    scores = {
        "grade": {"value": "C"},
        "number": {"value": 1},
        "parts": {"value": {"yes": True, "length": 17}},
    }
    run = read_run(write(tmp_path, sample("1", scores=scores), sample("2", scores={"grade": {"value": "N"}})))
    assert {name for name in run.metrics if run.find_facts(name)} == {"grade", "parts.yes"}
    assert (run.find_facts("grade").better, run.find_facts("grade").range) == ("higher", (0, 1))
    assert run.find_column("length") is run.metrics["parts.length"]


def test_lists_and_dicts_of_scores(tmp_path):
    scores = {"a": {"value": [1, "C"]}, "b": {"value": {"x": 0.5, "y": None}}, "c": {"value": {"x": 2}}}
    run = read_run(write(tmp_path, sample("1", scores=scores), sample("2", scores={"b": {"value": NAN}})))
    expected = {"a.0": [1, NAN], "a.1": [1, NAN], "b.x": [0.5, NAN], "b.y": [NAN, NAN], "c.x": [2, NAN]}
    np.testing.assert_equal({name: run.numbers(name).tolist() for name in run.metrics}, expected)
    assert run.find_column("x") is None  # of two scorers
    assert run.find_column("y") is run.metrics["b.y"]


def test_a_mean_that_its_samples_do_not_give_is_told(tmp_path):
    """A scorer may count N as -1."""
    result = {"name": "retrieval_hit", "scorer": "retrieval_hit", "metrics": {"accuracy": {"value": 0.0}}}
    items = sample("1"), sample("2", scores={"retrieval_hit": {"value": "N"}})
    run = read_run(write(tmp_path, *items, results={"scores": [result]}))
    assert run.warnings[0].startswith("the accuracy of retrieval_hit is 0 in the log and 0.5 by its samples")
    at_least = {**result, "reducer": "at_least_1"}
    assert not read_run(write(tmp_path, *items, results={"scores": [at_least]})).warnings


# Errors


@pytest.mark.parametrize(("change", "cause"), [
    ({"error": {"message": "boom"}, "output": {"choices": [], "completion": ""}, "scores": {}}, "no_answer"),
    ({"error": {"message": "judge: 500\nmore"}}, "judge: 500"),
    ({"error": {"message": "CancelledError('x')"}, "output": {}}, "cancelled"),
    ({"scores": {}}, "not_scored"),
    ({"scores": None, "limit": {"type": "time", "limit": 5}, "output": {}}, "no_answer"),
    ({"scores": None, "limit": {"type": "operator", "limit": 1}, "output": {}}, "not_scored"),
    ({"limit": {"type": "token", "limit": 5}}, ""),
    ({"invalidation": {"author": "x"}}, "invalidated"),
])  # fmt: skip
def test_what_an_error_means(tmp_path, change, cause):
    run = read_run(write(tmp_path, sample("1", **change), sample("2", error={"message": "x"})))
    assert run.texts("error")[0] == cause


def test_a_failed_sample_counts_as_the_worst(tmp_path):
    verdict = judge(POLICY, LOGS / "baseline.eval", LOGS / "candidate.eval", tmp_path)
    (left,) = verdict.pairing.no_answer
    assert (left.run, left.ids, left.counted_as) == ("candidate", ["q004"], "worst")
    results = json.loads(members_of(LOGS / "candidate.eval")["header.json"])["results"]["scores"]
    (said,) = [one for one in results if one["name"] == "retrieval_hit"]
    assert verdict.findings[0].candidate == pytest.approx(said["metrics"]["accuracy"]["value"] * 29 / 30)


def test_a_run_in_which_all_samples_failed_is_no_success(tmp_path):
    """The log says status: success, and has no results."""
    members = members_of(LOGS / "candidate.eval")
    broken = as_json(members)
    (failed,) = [one for one in broken["samples"] if one.get("error")]
    for one in broken["samples"]:
        one |= {"scores": {}, "error": failed["error"], "output": failed["output"]}
    del broken["results"], broken["reductions"]
    (tmp_path / "x.json").write_text(json.dumps(broken))
    run = read_run(tmp_path / "x.json")
    assert list(run.metrics) == ["rag_scores.recall", "rag_scores.groundedness", "retrieval_hit", "f1"]
    assert run.texts("error") == ["no_answer"] * 30
    verdict = judge(POLICY, LOGS / "baseline.eval", tmp_path / "x.json", tmp_path)
    assert verdict.verdict == "fail"
    assert verdict.findings[0].candidate == 0


# Identity and attempts


def test_epochs_are_attempts():
    run = read_run(LOGS / "candidate_epochs2.json")
    assert run.ids == ["q001", "q001", "q002", "q002", "q003", "q003", "q004", "q004"]
    assert run.texts("attempt") == ["1", "2"] * 4
    assert run.texts("error") == [""] * 6 + ["no_answer"] * 2
    assert run.warnings == ()  # the means of its results are those of its samples
    assert read_run(LOGS / "baseline.eval").texts("attempt") is None


def test_attempts_pair_with_one_try(tmp_path):
    once = as_json(members_of(LOGS / "baseline.eval"))
    once["samples"] = once["samples"][:4]
    once["eval"]["dataset"]["sample_ids"] = once["eval"]["dataset"]["sample_ids"][:4]
    del once["results"]  # of all samples
    (tmp_path / "once.json").write_text(json.dumps(once))
    verdict = judge(POLICY, tmp_path / "once.json", LOGS / "candidate_epochs2.json", tmp_path)
    assert verdict.pairing.paired == 4
    assert verdict.pairing.attempts
    assert verdict.findings[0].candidate == 0.75


def test_order_is_nothing(tmp_path):
    items = [sample(str(number), scores={"s": {"value": number / 10}}) for number in range(10)]
    before = read_run(write(tmp_path, *items, name="a.json"))
    random.Random(3).shuffle(items)
    after = read_run(write(tmp_path, *items, name="b.json"))
    assert before.ids == after.ids
    assert before.numbers("s").tolist() == after.numbers("s").tolist()


def test_numbers_that_inspect_gave_as_ids_do_not_hide_another_question(tmp_path):
    before = write(tmp_path, sample(1, input="a"), sample(2, input="b"), name="a.json")
    after = write(tmp_path, sample(1, input="b"), sample(2, input="c"), name="b.json")
    assert "has another question in the candidate" in judge(POLICY, before, after, tmp_path).because[0]


def test_metadata_may_identify(tmp_path):
    items = [sample(number, metadata={"qid": f"x{number}", "long": "y" * 300}) for number in (1, 2)]
    assert read_run(write(tmp_path, *items), id_field="qid").ids == ["x1", "x2"]
    assert "long" not in read_run(tmp_path / "log.json").slices


def test_messages_are_asked_as_one_question(tmp_path):
    asked = [{"role": "system", "content": "be brief"}, {"role": "user", "content": [{"type": "text", "text": "a"}]},
             {"role": "user", "content": "b"}]  # fmt: skip
    assert read_run(write(tmp_path, sample("1", input=asked, target=["x", "y"]))).texts("question") == [
        "a\nb"
    ]


# What is said of the whole run


def test_what_is_said_of_a_run():
    run = read_run(LOGS / "candidate.eval")
    assert (run.format, run.format_version, run.id_field, run.made_ids) == ("inspect", "0.3.285", "id", False)
    assert run.provenance["dataset"] == "harbor-handbook"
    assert run.provenance["metadata.pipeline"] == "candidate"
    assert run.labels("topic")[0] == ("hr",)
    columns = {column.name: column for column in inspect_run(run).numbers}
    assert columns["retrieval_hit"].is_stated
    assert columns["rag_scores.recall"].missing == {"no_answer": 1, "null": 1}


def test_secrets_of_the_arguments_stay_where_they_are(tmp_path):
    arguments = {"api_key": "x", "base_url": "y", "top": 3, "nested": {"a": 1}}
    run = read_run(write(tmp_path, sample(), eval={"task_args": arguments, "model_args": {"token": "z"}}))
    assert {name for name in run.provenance if "args" in name} == {"task_args.top"}


@pytest.mark.parametrize("form", ["text", "object", "list"])
def test_a_judge_is_known_in_each_form_and_its_arguments_are_not_repeated(tmp_path, form):
    """`model_graded_qa(model=get_model(...))` logs the model as an object."""
    judge = {"model": "judge-1", "base_url": "http://x", "model_args": {"api_key": "s3cret"}, "config": {}}
    asked = {"text": "judge-1", "object": judge, "list": [judge, "judge-1"]}[form]
    scorers = [
        {
            "name": "graded",
            "options": {"model": asked, "parts": {"n": 1, "checkers": [judge], "api-key": "s3cret"}},
        }
    ]
    run = read_run(write(tmp_path, sample(), eval={"scorers": scorers}))
    assert run.provenance["judge"] == ["judge-1"]
    assert run.provenance["scorer_options.graded"] == '{"parts": {"checkers": ["judge-1"], "n": 1}}'
    assert "s3cret" not in str(run.provenance)
    assert "http" not in str(run.provenance)


@pytest.mark.parametrize(("change", "fact"), [
    ({"task_version": 4}, "task_version"),
    ({"dataset": {"name": "other"}}, "dataset"),
    ({"task": "other"}, "task"),
    ({"model_roles": {"grader": {"model": "judge-2"}}}, "judge"),
    ({"scorers": [{"name": "retrieval_hit", "options": {"template": "b"}}]}, "scorer_options.retrieval_hit"),
])  # fmt: skip
def test_runs_that_are_not_scored_alike_are_not_compared(tmp_path, change, fact):
    plan = {
        "task_version": 3, "dataset": {"name": "one"}, "model_roles": {"grader": {"model": "judge-1"}},
        "scorers": [{"name": "retrieval_hit", "options": {"template": "a"}}],
    }  # fmt: skip
    before = write(tmp_path, sample(), name="a.json", eval=plan)
    after = write(tmp_path, sample(), name="b.json", eval={**plan, **change})
    assert fact in judge(POLICY, before, after, tmp_path).because[0]
    allowed = POLICY + f"provenance: {{may_change: [{fact}]}}\n"
    assert judge(allowed, before, after, tmp_path).verdict == "pass"


def test_tokens_are_those_of_the_model_under_test(tmp_path):
    usage = {
        "m": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 17, "input_tokens_cache_read": 10,
              "total_cost": 0.5},
        "judge": {"input_tokens": 100, "output_tokens": 100, "total_tokens": 200, "total_cost": 9.0},
    }  # fmt: skip
    others = {"x": {"input_tokens": 1, "total_cost": 1.0}, "y": {"input_tokens": 2}}
    run = read_run(write(tmp_path, sample("1", model_usage=usage), sample("2", model_usage=others)))
    assert run.numbers("tokens.input").tolist() == [13, 3]
    np.testing.assert_array_equal(run.numbers("tokens.output"), [4, NAN])
    np.testing.assert_array_equal(run.numbers("cost_usd"), [0.5, NAN])


# Tables and files that are wrong


def test_a_table_with_details_and_very_long_cells(tmp_path):
    text = "x" * 200_000
    (tmp_path / "t.csv").write_text(
        "sample_id,eval_id,id,epoch,input,score_a,score_a_answer,score_a_metadata,metadata_flag,model_usage,error\n"
        f'u1,e,q1,1,"{text}",C,42,"{{""n"": 1}}",True,"{{""m"": {{""input_tokens"": 3}}}}",\n'
        'u2,e,q2,1,b,I,,,False,{},TimeoutError()\n'
    )  # fmt: skip
    run = read_run(tmp_path / "t.csv")
    assert list(run.metrics) == ["a"]
    np.testing.assert_array_equal(run.numbers("a"), [1, 0])
    assert run.labels("flag") == [("true",), ("false",)]
    assert run.texts("error") == ["", "no_answer"]
    assert len(run.texts("question")[0]) == 200_000
    (tmp_path / "t.csv").write_text("sample_id,eval_id,id,epoch,score_a\nu1,e,1,1,C\nu2,f,1,1,C\n")
    with pytest.raises(InputError, match="holds the samples of 2 logs: e, f"):
        read_run(tmp_path / "t.csv")


@pytest.mark.parametrize(("text", "message"), [
    (json.dumps(log()), "holds no samples"),
    (json.dumps(log(sample()))[:-20], "is not JSON"),
    (json.dumps(log(sample("1", id=None), sample("2"))), "no 'id' in this record"),
])  # fmt: skip
def test_a_wrong_log_is_placed(tmp_path, text, message):
    (tmp_path / "log.json").write_text(text)
    with pytest.raises(InputError, match=rf"log\.json.*{message}"):
        read_run(tmp_path / "log.json")


def test_the_documented_policy(tmp_path):
    (policy,) = write_policies("inspect.md", tmp_path)
    load_policy(policy)
    verdict = judge(policy, LOGS / "baseline.eval", LOGS / "candidate.eval")
    assert verdict.verdict == "pass", verdict.because
    assert verdict.pairing.paired == 30
    strict = policy.read_text().replace("at_most: 2000", "at_most: 500")
    assert judge(strict, LOGS / "baseline.eval", LOGS / "candidate.eval", tmp_path).verdict == "fail"


@pytest.mark.skipif(not FORMATS.is_dir(), reason="the shared files are not beside this work tree")
def test_the_shared_log_in_which_all_samples_failed(tmp_path):
    path = FORMATS / "inspect" / "all_samples_errored.eval"
    run = read_run(path)
    assert run.texts("error") == ["no_answer"] * 30
    assert judge(POLICY, LOGS / "baseline.eval", path, tmp_path).verdict == "fail"


def test_the_order_of_keys_says_nothing(tmp_path):
    whole = as_json(members_of(LOGS / "baseline.eval"))
    for name, keys in (("reversed", sorted(whole, reverse=True)), ("sorted", sorted(whole))):
        (tmp_path / f"{name}.json").write_text(json.dumps({key: whole[key] for key in keys}))
        run = read_run(tmp_path / f"{name}.json")
        assert run.format == "inspect"
        expect_same(run, read_run(LOGS / "baseline.eval"))


@pytest.mark.parametrize("wrong", [["q"], {"a": 1}, [], True, 1.5, [["q"]]])
def test_an_id_that_identifies_nothing_is_told(tmp_path, wrong):
    with pytest.raises(InputError, match=r"id must be a text or a whole number, not|no 'id' in this record"):
        read_run(write(tmp_path, sample(wrong), sample("2")))


def test_samples_that_an_error_had_before_they_were_answered_are_told(tmp_path):
    """`--retry-on-error`: a system that fails more often looks as good as before, as only the last try counts."""
    tries = {"error_retries": [{"message": "timed out"}]}
    cases = [sample("1", **tries), sample("2"), sample("3", **tries, error={"message": "timed out"})]
    run = read_run(write(tmp_path, *cases))
    told = "1 sample was answered only when tried again, after an error; the scores count"
    assert told in run.warnings
    assert not any("tried again" in one for one in read_run(write(tmp_path, sample("2"))).warnings)
