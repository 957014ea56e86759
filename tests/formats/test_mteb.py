from __future__ import annotations

import csv
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, FORMATS, judge, write_policies
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.inspection import inspect_run, render_text
from gateline.policy import load_policy
from gateline.proposal import propose_policy
from gateline.readers import read_run
from gateline.readers.mteb import looks_like

MTEB = FILES / "mteb"
LARGE, SMALL = sorted((MTEB / "results").iterdir())
OWN = MTEB / "own" / "results"
POLICY = """\
version: 1
name: gate
samples: {at_least: 1}
metrics: {main_score: {better: higher}}
rules: [{id: main, kind: tolerance, metric: main_score, worse_by_at_most: 1}]
"""


def tasks_of(folder: Path) -> dict[str, dict]:
    files = [path for path in folder.rglob("*.json") if path.name != "model_meta.json"]
    return {path.stem: json.loads(path.read_text()) for path in files}


def write_task(folder: Path, name: str = "T.json", **changes) -> Path:
    """Write a task's result as mteb 2 does, with changes; None takes a key away."""
    entry = {"ndcg_at_10": 0.5, "main_score": 0.5, "hf_subset": "default", "languages": ["eng-Latn"]}
    task = {
        "dataset_revision": "r1",
        "task_name": "T",
        "mteb_version": "2.6.7",
        "scores": {"test": [entry]},
        "evaluation_time": 1.5,
        "kg_co2_emissions": None,
    } | changes
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({key: value for key, value in task.items() if value is not None}))
    return folder / name


@pytest.mark.parametrize("folder", [LARGE, SMALL, *sorted(OWN.iterdir())], ids=lambda path: path.name)
def test_every_number_of_a_results_folder_arrives(folder):
    run = read_run(folder)
    expected = {
        f"{name}/{entry['hf_subset']}/{split}": entry
        for name, task in tasks_of(folder).items()
        for split, entries in task["scores"].items()
        for entry in entries
    }
    assert set(run.ids) == set(expected)
    for row, identity in enumerate(run.ids):
        numbers = {key: value for key, value in expected[identity].items() if isinstance(value, float)}
        assert numbers
        for name, value in numbers.items():
            np.testing.assert_equal(run.numbers(name)[row], value)
        absent = (set(run.metrics) | set(run.fields)) - set(numbers) - {"evaluation_time"}
        for name in absent & set(run.metrics):
            assert math.isnan(run.numbers(name)[row]), name


@pytest.mark.skipif(not FORMATS.is_dir(), reason="the shared files are not beside this work tree")
def test_the_whole_saved_pair_with_376_languages():
    folders = sorted((FORMATS / "mteb" / "results").iterdir())
    runs = [read_run(folder) for folder in folders]
    assert runs[0].ids == runs[1].ids
    assert len(runs[0]) == 397
    belebele = tasks_of(folders[0])["BelebeleRetrieval"]["scores"]["test"]
    row_of = {identity: row for row, identity in enumerate(runs[0].ids)}
    for entry in belebele:
        row = row_of[f"BelebeleRetrieval/{entry['hf_subset']}/test"]
        assert runs[0].numbers("ndcg@10")[row] == entry["ndcg_at_10"]
        assert runs[0].labels("languages")[row] == tuple(dict.fromkeys(entry["languages"]))
    assert runs[0].provenance["model"] == "codefuse-ai/F2LLM-v2-160M"
    assert "nauc_map_at_1_diff1" not in runs[0].metrics


def test_what_is_said_of_a_run():
    run = read_run(LARGE)
    assert (run.format, run.format_version, run.made_ids) == ("mteb", "2.6.7", True)
    assert run.labels("task") == [(identity.split("/")[0],) for identity in run.ids]
    families = dict(zip(run.ids, run.labels("scored_as"), strict=True))
    assert families["SciFact/default/test"] == ("ranking",)
    assert families["Banking77Classification/default/test"] == ("classification",)
    assert families["STSBenchmark/default/test"] == ("similarity",)
    meta = read_run(OWN / "harbor__baseline").provenance
    assert meta["model"] == "harbor/baseline"
    assert meta["model_revision"] == "v1"
    assert meta["encode_kwargs.batch_size"] == 32
    assert meta["transformers_version"] == "5.24.0"
    assert run.find_facts("ndcg@10").range == (0, 1)
    assert run.find_facts("cosine_spearman").range == (-1, 1)
    assert run.find_facts("nauc_ndcg_at_10_max").better is None
    assert run.find_facts("main_score").better == "higher"


def test_names_that_changed_and_names_by_custom():
    old, new = read_run(LARGE), read_run(OWN / "harbor__candidate")
    for name in ("cv_recall_at_10", "hit_rate_at_10", "hit_rate@10", "cv_recall@10"):
        assert old.find_column(name) is old.metrics["cv_recall_at_10"]
        assert new.find_column(name) is new.metrics["hit_rate_at_10"]
    assert new.find_column("ndcg@7") is None


def test_the_mean_of_a_benchmark_is_the_tools():
    """mteb's own table has the mean over subsets and splits; here each task has one of both."""
    with (MTEB / "own" / "baseline.dataframe.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    table = read_run(MTEB / "own" / "baseline.dataframe.csv")
    run = read_run(OWN / "harbor__baseline")
    assert table.ids == [row["task_name"] for row in rows]
    assert table.numbers("main_score").tolist() == [float(row["harbor/baseline"]) for row in rows]
    np.testing.assert_array_equal(table.numbers("main_score"), run.numbers("main_score"))


def test_bundles_are_the_same_as_the_folder():
    folder = read_run(OWN / "harbor__candidate")
    bundle = read_run(MTEB / "own" / "candidate.model_result.json")
    assert bundle.ids == folder.ids
    for name in folder.metrics:  # a result's own file has six decimals, the bundle all
        np.testing.assert_allclose(bundle.numbers(name), folder.numbers(name), rtol=0, atol=5.1e-7)
    assert bundle.provenance["model"] == "harbor/candidate"
    many = read_run(MTEB / "own" / "baseline.benchmark_results.json")
    assert many.numbers("main_score").tolist() == [0.96552]


def test_predictions_rank_as_trec_eval_does(tmp_path):
    run = read_run(MTEB / "own" / "predictions_baseline" / "HarborHandbookRetrieval_predictions.json")
    written = json.loads(
        (MTEB / "own/predictions_baseline/HarborHandbookRetrieval_predictions.json").read_text()
    )
    queries = written["default"]["test"]
    assert run.ids == list(queries)
    for query, ranked in zip(run.ids, run.fields["retrieved"], strict=True):
        scores = [queries[query][document] for document in ranked]
        assert scores == sorted(queries[query].values(), reverse=True)
    tied = {
        "mteb_model_meta": {},
        "de": {"test": {"q": {"a": 1, "c": 1.0, "b": 2}}},
        "en": {"test": {"q": {}}},
    }
    (tmp_path / "T_predictions.json").write_text(json.dumps(tied))
    run = read_run(tmp_path / "T_predictions.json")
    assert run.ids == ["de/test/q", "en/test/q"]
    assert run.fields["retrieved"] == [["b", "c", "a"], []]
    assert run.labels("task") == [("T",)] * 2
    shutil.copy(tmp_path / "T_predictions.json", tmp_path / "U_predictions.json")
    assert read_run(tmp_path).ids == ["T/de/test/q", "T/en/test/q", "U/de/test/q", "U/en/test/q"]


@pytest.mark.parametrize(("metric", "name"), [("ndcg@10", "ndcg_at_10"), ("recall@5", "recall_at_5")])
def test_predictions_scored_against_labels_have_the_tools_means(tmp_path, metric, name):
    policy = (
        "version: 1\nname: gate\nsamples: {at_least: 1, golden_set: "
        + str(MTEB / "own" / "harbor.qrels")
        + "}\n"
        f"metrics: {{{metric}: {{better: higher, range: [0, 1]}}}}\n"
        f"rules: [{{id: holds, kind: tolerance, metric: {metric}, worse_by_at_most: 0.5}}]\n"
    )
    files = [
        MTEB / "own" / f"predictions_{side}" / "HarborHandbookRetrieval_predictions.json"
        for side in ("baseline", "candidate")
    ]
    (finding,) = judge(policy, *files, tmp_path).findings
    means = [read_run(OWN / f"harbor__{side}").numbers(name)[0] for side in ("baseline", "candidate")]
    assert [finding.baseline, finding.candidate] == pytest.approx(means, abs=5.1e-6)
    assert finding.interval is not None


@pytest.mark.parametrize("scores", [[1, 10**400], [10**400, 10**400 + 1], [-(10**400), 0.5, 10**309]])
def test_predictions_beyond_a_double_are_ranked(tmp_path, scores):
    ranking = {f"d{number}": score for number, score in enumerate(scores)}
    (tmp_path / "p.json").write_text(
        json.dumps({"mteb_model_meta": {}, "default": {"test": {"q1": ranking}}})
    )
    assert read_run(tmp_path / "p.json").fields["retrieved"] == [
        sorted(ranking, key=ranking.get, reverse=True)
    ]


@pytest.mark.parametrize("key", ["model_name", "revision"])
def test_predictions_of_several_models_are_no_run(tmp_path, key):
    for name, told in (("A", "one"), ("B", "other"), ("C", None)):
        meta = {} if told is None else {"model_name": "m", "revision": "r"} | {key: told}
        (tmp_path / f"{name}_predictions.json").write_text(
            json.dumps({"mteb_model_meta": meta, "default": {"test": {"q1": {"d": 1}}}})
        )
    with pytest.raises(InputError, match=r"2 models or revisions: one in .*A_pred.*, other in .*B_pred"):
        read_run(tmp_path)
    (tmp_path / "B_predictions.json").unlink()
    assert read_run(tmp_path).provenance["model" if key == "model_name" else "model_revision"] == "one"


@pytest.mark.parametrize("score", ["true", '"1"', "NaN", "null"])
def test_a_prediction_without_a_number(tmp_path, score):
    path = tmp_path / "p.json"
    path.write_text(f'{{"mteb_model_meta": {{}}, "default": {{"test": {{"q1": {{"d1": {score}}}}}}}}}')
    with pytest.raises(InputError, match="the score of 'd1' for the query 'q1' is no number"):
        read_run(path)


def test_bare_nan_is_no_value_and_splits_stay_apart():
    run = read_run(MTEB / "old" / "main_score_nan_AFQMC.json")
    assert run.ids == ["AFQMC/default/test", "AFQMC/default/validation"]
    np.testing.assert_array_equal(run.numbers("main_score"), [np.nan, 0.35586367340629843])
    assert any(
        "several splits" in warning and "AFQMC: test, validation" in warning for warning in run.warnings
    )


def test_keys_of_a_hand_made_upload_are_no_metrics():
    run = read_run(MTEB / "old" / "extra_keys_mteb_dataset_name_CQADupstackGis-VN.json")
    assert run.numbers("main_score").tolist() == [0.31907]
    assert "evaluation_time" not in run.metrics
    assert run.provenance["mteb_version"] == "1.38.41"


def test_results_from_before_1_11(tmp_path):
    """Splits on the top level, metrics directly in them or by language, `main_score` there or not."""
    old = {
        "mteb_dataset_name": "Old",
        "dataset_revision": "r1",
        "mteb_version": "1.1.1",
        "test": {
            "de": {"accuracy": 0.5, "main_score": 0.5},
            "en": {"accuracy": 0.7, "main_score": 0.7},
            "evaluation_time": 3.0,
        },
        "validation": {"main_score": 0.4, "cosine": {"ap": 0.3}, "evaluation_time": 1.0},
    }
    path = tmp_path / "Old.json"
    path.write_text(json.dumps(old))
    run = read_run(path)
    assert run.ids == ["Old/de/test", "Old/en/test", "Old/default/validation"]
    assert run.numbers("main_score").tolist() == [0.5, 0.7, 0.4]
    np.testing.assert_array_equal(run.numbers("cosine.ap"), [np.nan, np.nan, 0.3])


def test_the_first_rank_identity_is_looked_at(tmp_path):
    entry = {"mrr_at_1": 0.871, "precision_at_1": 0.212, "main_score": 0.212}
    (warning,) = read_run(write_task(tmp_path, scores={"test": [entry]})).warnings
    assert "0.871 and 0.212" in warning
    assert not read_run(LARGE).warnings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": {"test": [{"ndcg_at_10": 0.5}]}}, "T/default/test has no main_score"),
        ({"scores": {"test": [{"main_score": "0.5"}]}}, "main_score of T/default/test is the text '0.5'"),
        ({"scores": {"test": {"main_score": 0.5}}}, "must be a list of objects, not an object"),
        ({"scores": {}}, "T: no scores"),
        ({"scores": {"test": [{"main_score": 1}, {"main_score": 0}]}}, "T/default/test stands twice"),
        ({"task_name": ""}, "without task_name"),
    ],
)
def test_a_result_that_is_wrong(tmp_path, changes, message):
    with pytest.raises(InputError, match=message):
        read_run(write_task(tmp_path, **changes))


def test_a_file_cut_off(tmp_path):
    path = tmp_path / "T.json"
    whole = write_task(tmp_path).read_text()
    path.write_text(whole[:-20])
    with pytest.raises(InputError, match=r"T\.json:1: is not JSON"):
        read_run(path)


def test_several_models_are_no_run(tmp_path):
    with pytest.raises(InputError, match=r"holds 2 folders with results: .*80M.*a run is one model"):
        read_run(MTEB / "results")
    bundle = json.loads((MTEB / "own" / "baseline.benchmark_results.json").read_text())
    bundle["model_results"] *= 2
    (tmp_path / "all.json").write_text(json.dumps(bundle))
    with pytest.raises(InputError, match="holds the results of 2 models"):
        read_run(tmp_path / "all.json")
    (tmp_path / "table.csv").write_text(",task_name,a/b,c/d\n0,T,0.5,0.6\n")
    with pytest.raises(InputError, match="holds the results of 2 models: a/b, c/d"):
        read_run(tmp_path / "table.csv")


def test_the_digest_of_a_folder_changes_with_any_file_of_it(tmp_path):
    folder = shutil.copytree(OWN / "harbor__baseline", tmp_path / "copy")
    before = read_run(folder).sha256
    assert before == read_run(shutil.copytree(folder, tmp_path / "again")).sha256
    digests = {before}
    for path in sorted(folder.rglob("*.json*")):
        path.write_bytes(path.read_bytes() + b"\n")
        digests.add(read_run(folder).sha256)
    assert len(digests) == 4


@pytest.mark.parametrize("folder", [LARGE, SMALL, *sorted(OWN.iterdir())], ids=lambda path: path.name)
def test_which_metric_the_main_score_is(folder):
    """By mteb's own choice of metric for each of these tasks; equal values leave several."""
    chosen = {"Banking77Classification": "accuracy", "STSBenchmark": "cosine_spearman"}
    run = read_run(folder)
    for task, names in zip(run.texts("task"), run.labels("main_score_is"), strict=True):
        assert chosen.get(task, "ndcg_at_10") in names
        assert "main_score" not in names


ENTRY = st.fixed_dictionaries(
    {
        name: st.sampled_from([0.1, 0.2, 0.3, 1.0])
        for name in ("ndcg_at_10", "recall_at_100", "cv_recall_at_5")
    }
)


@given(before=ENTRY, after=ENTRY, names=st.tuples(st.sampled_from(sorted({"ndcg_at_10", "recall_at_100"})),
                                                  st.sampled_from(["ndcg_at_10", "recall_at_100", ""])))  # fmt: skip
def test_main_scores_of_another_metric_are_not_compared(tmp_path_factory, before, after, names):
    """Never where the same metric may be meant, and always where none can be, whatever equals what."""
    folder = tmp_path_factory.mktemp("main")
    paths, equal = [], []
    for side, entry, name in zip("bc", (before, after), names, strict=True):
        main = entry.get(name, 0.7)
        entries = [entry | {"main_score": main, "hf_subset": "de"}]
        paths.append(write_task(folder / side, scores={"test": entries}))
        equal.append({key for key, value in entry.items() if value == main})
    verdict = judge(POLICY, *paths, folder)
    assert (verdict.verdict == "invalid") == equal[0].isdisjoint(equal[1])
    if verdict.verdict == "invalid":
        assert "main_score_is is '" in verdict.because[0]
        allowed = judge(POLICY + "provenance: {may_change: [main_score_is]}\n", *paths, folder)
        assert allowed.verdict != "invalid"


def test_all_subsets_of_a_task_tell_which_metric_its_main_score_is(tmp_path):
    """And a metric that was renamed in between is the same."""
    scores = [{"main_score": 0.5, "ndcg_at_10": 0.5, "cv_recall_at_5": 0.5, "hf_subset": "de"},
              {"main_score": 0.3, "ndcg_at_10": 0.4, "cv_recall_at_5": 0.3, "hf_subset": "en"}]  # fmt: skip
    run = read_run(write_task(tmp_path, scores={"test": scores}))
    assert run.labels("main_score_is") == [("hit_rate_at_5",)] * 2
    alone = read_run(write_task(tmp_path, scores={"test": [{"main_score": 0.3}]}))
    assert alone.texts("main_score_is") == [""]


@given(values=st.lists(st.sampled_from([0.1, 0.3, 0.25, 0.75, -0.5]), min_size=1, max_size=3),
       main=st.sampled_from([0.1 + 0.2, 0.25, -0.5, 0.9, None]))  # fmt: skip
def test_a_main_score_that_is_a_copy_of_nothing_is_told(tmp_path_factory, values, main):
    """By hand, or by a tool around mteb; told in the verdict too, also where it is so in both runs."""
    folder = tmp_path_factory.mktemp("strange")
    names = ["ndcg_at_10", "cosine.spearman", "recall_at_5"]
    entry = {**dict(zip(names, values, strict=False)), "nauc_ndcg_at_10_std": main, "main_score": main}
    entries = [{**entry, "hf_subset": subset} for subset in ("de", "en")]
    path = write_task(folder, scores={"test": entries})
    run = read_run(path)
    is_copy = main is None or any(abs(main - value) < 1e-12 for value in values)
    told = [one for one in run.warnings if "is a copy of none" in one]
    assert len(told) == (not is_copy)
    if told:
        assert f"T/de/test has {main}" in told[0]
        assert "1 task " in told[0]
        verdict = judge(POLICY, path, path, folder)
        assert verdict.verdict == "pass"
        assert any("is a copy of none" in notice for notice in verdict.notices)


@pytest.mark.parametrize("below", ["later", "a/b", "model/revision"])
def test_results_below_other_results_are_not_passed_over(tmp_path, below):
    write_task(tmp_path)
    write_task(tmp_path / below, scores={"test": [{"main_score": 0.1}]})
    with pytest.raises(InputError, match=rf"holds 2 folders with results: \., {below}"):
        read_run(tmp_path)


@pytest.mark.parametrize("text", ["", "{", '{"dataset_revision": "r", "task_name": "U", "mte', "[]", "null"])
def test_a_task_that_was_cut_off_is_not_passed_over(tmp_path, text):
    write_task(tmp_path)
    (tmp_path / "notes.json").write_text('{"by": "me"}')
    assert len(read_run(tmp_path)) == 1
    (tmp_path / "U.json").write_text(text)
    with pytest.raises(InputError, match=r"U\.json: lies among results of MTEB and is none: empty, cut off"):
        read_run(tmp_path)


@pytest.mark.parametrize("lost", ["task_name", "dataset_revision", "mteb_version", "scores"])
def test_a_task_without_one_of_its_keys_is_no_lost_question(tmp_path, lost):
    write_task(tmp_path)
    write_task(tmp_path, "U.json", **({"task_name": "U"} | {lost: None}))
    if lost in ("task_name", "scores"):
        with pytest.raises(InputError, match=r"U\.json"):
            read_run(tmp_path)
    else:
        assert read_run(tmp_path).ids == ["T/default/test", "U/default/test"]
        assert read_run(tmp_path / "U.json").format == "mteb"


def test_settings_of_other_experiments_are_not_mixed_in(tmp_path):
    write_task(tmp_path)
    write_task(tmp_path / "experiments" / "k_5", scores={"test": [{"main_score": 0.9}]})
    assert read_run(tmp_path).numbers("main_score").tolist() == [0.5]


def test_what_is_not_mtebs(tmp_path):
    assert not looks_like(b'{"task_name": "x", "results": []}', Path("a.json"))
    assert not looks_like(b'{"scores": {"a": 1}, "id": 1}\n{"scores": {"a": 2}, "id": 2}', Path("a.jsonl"))
    assert not looks_like(b"id,task_name,score\n1,T,0.5\n", Path("a.csv"))
    assert not looks_like(b"", tmp_path)


def test_another_data_revision_is_not_compared(tmp_path):
    before, after = write_task(tmp_path / "a"), write_task(tmp_path / "b", dataset_revision="r2")
    verdict = judge(POLICY, before, after, tmp_path)
    assert verdict.verdict == "invalid"
    assert "dataset_revision is 'r1' in the baseline and 'r2' in the candidate" in verdict.because[0]
    assert "'T/default/test'" in verdict.because[0]
    allowed = judge(POLICY + "provenance: {may_change: [dataset_revision]}\n", before, after, tmp_path)
    assert allowed.verdict != "invalid"
    assert [(one.field, one.rule) for one in allowed.changed] == [("dataset_revision", "may_change")]


@pytest.mark.parametrize(
    ("version", "is_refused"), [("1.12.40", True), ("2.18.0", False), ("20.1", True), (None, False)]
)
def test_another_major_version_is_not_compared(tmp_path, version, is_refused):
    before, after = write_task(tmp_path / "a"), write_task(tmp_path / "b", mteb_version=version)
    verdict = judge(POLICY, before, after, tmp_path)
    assert (verdict.verdict == "invalid") == is_refused
    if is_refused:
        assert f"mteb_version is '2.6.7' in the baseline and '{version}'" in verdict.because[0]
    else:
        assert any(one.field == "mteb_version" for one in verdict.changed)


def test_a_version_that_is_not_stated_is_a_notice(tmp_path):
    before, after = write_task(tmp_path / "a"), write_task(tmp_path / "b", mteb_version=None)
    notices = judge(POLICY, before, after, tmp_path).notices
    assert any("b/T.json does not say its mteb_version" in notice for notice in notices)


def test_inspect_and_init_know_direction_and_range():
    run = read_run(LARGE)
    found = inspect_run(run)
    columns = {column.name: column for column in found.numbers}
    assert (columns["ndcg_at_10"].better, columns["ndcg_at_10"].range) == ("higher", (0.0, 1.0))
    assert columns["nauc_ndcg_at_10_max"].is_diagnosis
    text = render_text(found, 110)
    assert "mteb 2.6.7, 6 records, identified by task, subset and split" in text
    assert "higher, 0 to 1" in text
    proposed = propose_policy(run)
    ranked = "applies_to: scored_as_ranking}"
    assert f"  ndcg_at_10: {{better: higher, range: [0, 1], show_as: percent, {ranked}" in proposed
    assert "    scored_as_ranking: {scored_as: ranking}" in proposed
    assert "nauc" not in proposed


@pytest.mark.parametrize("policy", ["mteb.md"])
def test_the_documented_policy(policy, tmp_path):
    for path in write_policies(policy, tmp_path):
        load_policy(path)
        verdict = judge(path, LARGE, SMALL)
        assert verdict.verdict in {"pass", "fail"}, verdict.because
        assert verdict.pairing.paired == 6
        same = judge(path, LARGE, LARGE)
        assert same.verdict == "pass"
