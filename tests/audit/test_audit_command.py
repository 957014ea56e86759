"""`gateline audit` as a user runs it: files, streams, exit codes, whole outputs."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from gateline.cli import run as gateline

WORKED = """\
judge.jsonl (supported) against people in human.jsonl (supported): pass/fail labels, 4 of 4 samples
  have both

            judge 1  judge 0
  people 1     TP 2     FN 0
  people 0     FP 1     TN 1

                              found  95 % interval
  sensitivity               100.0 %    0.0 … 100.0
  false-positive rate        50.0 %    0.0 … 100.0
  sensitivity − f.-p. rate    +50.0  −91.4 … +99.8
  rate by people             50.0 %     1.4 … 98.6
  rate by judge              75.0 %     6.0 … 99.9
  bias (judge − people)       +25.0  −85.8 … +96.6
  agreement                  75.0 %     6.0 … 99.9
  Cohen's kappa                0.50   −0.47 … 1.00

  what people would say of all   found    interval
  judge alone, 4                75.0 %  6.0 … 99.9
  people alone, 4               50.0 %  1.4 … 98.6
  Rogan–Gladen                       —
  prediction-powered                 —
  Rogan–Gladen: the judge is not shown to be better than chance
  prediction-powered: people have labelled every sample: their own number needs no correction

✗ the judge is not shown to be better than chance, so nothing can be corrected: sensitivity − f.-p.
  rate +50.0; 95 % interval −91.4 … +99.8
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write labels as JSON Lines, `{id: label}`, with further fields of all or of each record."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def write_labels(name, labels, metric="supported", **fields):
        lines = []
        for row, (one, label) in enumerate(labels.items()):
            more = {key: value[row] if isinstance(value, list) else value for key, value in fields.items()}
            lines.append(json.dumps({"id": one, "metrics": {metric: label}, **more}) + "\n")
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")

    return write_labels


def audit(*options):
    return gateline(["audit", "--human", "human.jsonl", "--judge", "judge.jsonl", *options])


def found(capsys, *options, code=None):
    ended = audit("--json", *options)
    assert code is None or ended == code
    return json.loads(capsys.readouterr().out)


def many(count, seed=1, right=0.9, rate=0.5):
    """Return labels of people and of a judge that is right that often."""
    generator = np.random.default_rng(seed)
    human = (generator.random(count) < rate).astype(int)
    judge = np.where(generator.random(count) < right, human, 1 - human)
    ids = [f"q{row}" for row in range(count)]
    return dict(zip(ids, human.tolist(), strict=True)), dict(zip(ids, judge.tolist(), strict=True))


@pytest.fixture
def worked(write):
    write("human.jsonl", {"c1": 1, "c2": 1, "c3": 0, "c4": 0})
    write("judge.jsonl", {"c4": 0, "c3": 1, "c2": 1, "c1": 1})


def test_the_worked_example_whole(worked, capsys):
    assert audit() == 1
    shown = capsys.readouterr()
    assert shown.out == WORKED
    assert shown.err == ""


def test_the_worked_example_digit_for_digit(worked, capsys):
    part = found(capsys, code=1)["overall"]
    assert part["confusion"] == {
        "true_positives": 2, "false_negatives": 0, "false_positives": 1, "true_negatives": 1,
    }  # fmt: skip
    values = {name: one["value"] for name, one in part["measures"].items()}
    assert values == {
        "sensitivity": 1.0, "false_positive_rate": 0.5, "separation": 0.5, "human_rate": 0.5, "judge_rate": 0.75,
        "bias": 0.25, "agreement": 0.75, "kappa": 0.5,
    }  # fmt: skip
    a, b, rate = (values[name] for name in ("sensitivity", "false_positive_rate", "human_rate"))
    assert b + (a - b) * rate == values["judge_rate"] == 0.75


def test_a_good_judge_ends_with_0_and_a_coin_with_1(write, capsys):
    for right, code, said in ((0.9, 0, "✓ the judge is better than chance"), (0.5, 1, "✗ the judge is not shown"),
                              (0.05, 1, "✗ the judge is worse than chance")):  # fmt: skip
        human, judge = many(200, right=right)
        write("human.jsonl", human)
        write("judge.jsonl", judge)
        assert audit() == code
        assert said in capsys.readouterr().out


@pytest.mark.parametrize("label", [1, 0])
def test_a_class_that_is_absent_has_no_rate_and_a_reason(write, capsys, label):
    write("human.jsonl", {f"q{row}": label for row in range(30)})
    write("judge.jsonl", {f"q{row}": row % 5 and label for row in range(30)})
    part = found(capsys, code=1)["overall"]
    absent = "false_positive_rate" if label else "sensitivity"
    reason = f"no sample with the human label {1 - label}"
    assert part["measures"][absent] == {
        "value": None,
        "low": None,
        "high": None,
        "samples": 0,
        "reason": reason,
    }
    assert part["measures"]["separation"]["value"] is None
    assert part["correction"]["corrected_rate"]["reason"] == reason
    audit()
    assert f"no sensitivity − f.-p. rate, {reason}" in capsys.readouterr().out.replace("\n  ", " ")


def test_missing_labels_are_counted_by_cause_and_never_0(write, capsys):
    human, judge = many(100)
    judge |= {"q3": None, "q4": None, "q5": "I can't tell.", "q6": 1}
    errors = [("timeout" if row == 6 else "judge_failed" if row == 4 else None) for row in range(100)]
    write("human.jsonl", human)
    write("judge.jsonl", judge, error=errors)
    part = found(capsys, code=0)["overall"]
    assert part["missing"] == {"no label": 1, "judge_failed": 1, "unreadable": 1, "timeout": 1}
    assert part["both"] == 96
    assert sum(part["confusion"].values()) == 96
    assert part["human_where_missing"] == pytest.approx(np.mean([human[f"q{row}"] for row in (3, 4, 5, 6)]))
    audit()
    assert "no judge's label: 4 (4.0 %): no label 1, judge_failed 1, unreadable 1" in capsys.readouterr().out


def test_people_who_have_not_looked_leave_the_judge_more_samples(write, capsys):
    human, judge = many(400, seed=3)
    write(
        "human.jsonl", {one: label if row < 100 else None for row, (one, label) in enumerate(human.items())}
    )
    write("judge.jsonl", judge)
    part = found(capsys, code=0)["overall"]
    correction = part["correction"]
    assert (part["both"], part["without_human"]) == (100, 300)
    assert (correction["samples"], correction["labelled"]) == (400, 100)
    powered, alone = correction["prediction_powered"], correction["human"]
    assert powered["high"] - powered["low"] < alone["high"] - alone["low"]
    assert 0.5 < correction["trust"] <= 1.0


def test_a_judge_that_has_seen_more_must_be_meant(write, capsys):
    human, judge = many(400, seed=3)
    write("human.jsonl", dict(list(human.items())[:100]))
    write("judge.jsonl", judge)
    assert audit() == 2
    said = capsys.readouterr().err
    assert (
        "300 of 400 ids of the judge are not in human.jsonl: 'q100', 'q101', 'q102', 'q103', 'q104'" in said
    )
    assert "judge.jsonl:101" in said
    assert "--judge-everywhere" in said
    part = found(capsys, "--judge-everywhere", code=0)["overall"]
    assert part["without_human"] == 300


def test_ids_that_the_judge_has_not_seen_are_always_an_error(write, capsys):
    human, judge = many(50)
    write("human.jsonl", human | {"extra": 1})
    write("judge.jsonl", judge | {"other": 1})
    for options in ((), ("--judge-everywhere",)):
        assert audit(*options) == 2
        said = capsys.readouterr()
        assert "1 of 51 ids with a human label is not in judge.jsonl: 'extra'" in said.err
        assert said.out == ""


def test_labelled_samples_that_are_no_random_part_are_told(write, capsys):
    human, judge = many(400, seed=4, rate=0.5)
    order = sorted(human, key=lambda one: -judge[one])
    write("human.jsonl", {one: human[one] for one in order[:100]})
    write("judge.jsonl", judge)
    audit("--judge-everywhere")
    said = capsys.readouterr().err
    assert "the judge's mean is 1 over the samples that people labelled and 0." in said
    assert "no correction holds" in said


def test_labels_that_a_queue_asked_for_for_a_reason_do_not_shift_the_corrected_number(write, capsys):
    """Half of the labels are where the judge fails most; only those chosen by chance say something of all samples."""
    human, judge = many(500, seed=6, right=0.85)
    wrong = [one for one in human if human[one] == 1 and judge[one] == 0][:30]
    chance = [one for row, one in enumerate(human) if row % 6 == 0 and one not in wrong]
    write("judge.jsonl", judge)
    chosen = {one: human[one] for one in [*wrong, *chance]}
    sampling = [{"sampling": "targeted"}] * len(wrong) + [{"sampling": "random"}] * len(chance)
    write("human.jsonl", chosen, review=sampling)
    told = found(capsys, "--judge-everywhere", code=0)
    assert told["overall"]["both"] == len(chosen)
    assert any("targeted labels (review.sampling): 30" in one for one in told["warnings"])
    write("human.jsonl", {one: human[one] for one in chance})
    by_chance = found(capsys, "--judge-everywhere", code=0)
    assert told["overall"]["correction"] == by_chance["overall"]["correction"]


def test_an_id_with_two_labels_is_an_error(write, tmp_path, capsys):
    human, judge = many(10)
    write("human.jsonl", human)
    write("judge.jsonl", judge)
    (tmp_path / "judge.jsonl").write_text((tmp_path / "judge.jsonl").read_text() * 2, encoding="utf-8")
    assert audit() == 2
    said = capsys.readouterr().err
    assert "judge.jsonl:11: 'q0' has a second label, the first is in judge.jsonl:1" in said
    assert "ids with several labels: q0, q1, q2, q3, q4 and 5 more" in said


def test_a_label_of_people_that_can_not_be_read_is_an_error(write, capsys):
    human, judge = many(10)
    write("human.jsonl", human | {"q4": "perhaps"})
    write("judge.jsonl", judge)
    assert audit() == 2
    said = capsys.readouterr().err
    assert "human.jsonl:5: supported of 'q4' must be a number as others are, not the text 'perhaps'" in said


def test_words_and_truth_values_are_pass_and_fail(write, capsys):
    words = {1: "Supported", 0: "not supported"}
    human, judge = many(60)
    write("human.jsonl", {one: words[label] for one, label in human.items()})
    write("judge.jsonl", {one: bool(label) for one, label in judge.items()})
    by_words = found(capsys)
    write("human.jsonl", human)
    write("judge.jsonl", judge)
    by_numbers = found(capsys)
    assert by_words["kind"] == "pass/fail"
    assert by_words["overall"] == by_numbers["overall"]


def test_a_threshold_makes_scores_pass_or_fail(write, capsys):
    human, judge = many(80)
    scores = {one: 0.7 if label else 0.4 for one, label in judge.items()}
    write("human.jsonl", human)
    write("judge.jsonl", judge)
    plain = found(capsys)
    write("judge.jsonl", scores)
    assert found(capsys, "--threshold", "0.5")["overall"] == plain["overall"]
    assert found(capsys, "--threshold", "0.7")["overall"] == plain["overall"]
    assert found(capsys, "--threshold", "0.8")["overall"]["measures"]["judge_rate"]["value"] == 0.0
    graded = found(capsys)
    assert graded["kind"] == "graded"
    assert "--threshold makes both pass or fail" in graded["warnings"][0]


def test_grades_have_bias_error_correlations_and_a_weighted_kappa(write, capsys):
    generator = np.random.default_rng(5)
    human = generator.integers(1, 6, 120)
    judge = np.clip(human + generator.integers(-1, 3, 120), 1, 5)
    ids = [f"q{row}" for row in range(120)]
    write("human.jsonl", dict(zip(ids, human.tolist(), strict=True)))
    write("judge.jsonl", dict(zip(ids, judge.tolist(), strict=True)))
    measures = found(capsys, code=0)["overall"]["measures"]
    from scipy import stats
    from statsmodels.stats.inter_rater import cohens_kappa, to_table

    expected = {
        "bias": (judge - human).mean(),
        "absolute_error": np.abs(judge - human).mean(),
        "spearman": stats.spearmanr(human, judge).statistic,
        "pearson": stats.pearsonr(human, judge).statistic,
        "weighted_kappa": cohens_kappa(
            to_table(np.column_stack([human, judge]))[0], wt="quadratic", return_results=False
        ).item(),
    }
    for name, value in expected.items():
        assert measures[name]["value"] == pytest.approx(value, abs=1e-9), name
        assert measures[name]["low"] < value < measures[name]["high"]


def test_categories_have_a_table_and_kappa_and_no_correction(write, capsys):
    people = ["First", "second", "tie"] * 20
    said = [*people[:50], *["second"] * 8, "both bad", None]
    ids = [f"q{row}" for row in range(60)]
    write("human.jsonl", dict(zip(ids, people, strict=True)), metric="winner")
    write("judge.jsonl", dict(zip(ids, said, strict=True)), metric="winner")
    result = found(capsys, code=0)
    assert result["categories"] == ["both bad", "first", "second", "tie"]
    assert result["warnings"] == ["labels that only the judge gives: both bad"]
    table = np.array(result["overall"]["table"])
    assert table.sum() == 59
    assert table[:, 0].tolist() == [0, 0, 1, 0]
    from statsmodels.stats.inter_rater import cohens_kappa

    expected = cohens_kappa(table, return_results=False).item()
    assert result["overall"]["measures"]["kappa"]["value"] == pytest.approx(expected, abs=1e-12)
    assert result["overall"]["correction"] is None


def test_slices_are_audits_of_their_own(write, capsys):
    human, judge = many(120)
    language = ["de" if row % 3 else "en" for row in range(120)]
    tags = [["long", "hard"] if row % 2 else [] for row in range(120)]
    write("human.jsonl", human)
    write(
        "judge.jsonl",
        judge,
        slices=[{"language": one, "tags": some} for one, some in zip(language, tags, strict=True)],
    )
    parts = {
        (one["label"], one["value"]): one for one in found(capsys, "--slices", "language, tags")["slices"]
    }
    assert set(parts) == {("language", "de"), ("language", "en"), ("tags", "hard"), ("tags", "long")}
    write("human.jsonl", {f"q{row}": human[f"q{row}"] for row in range(120) if row % 3})
    write("judge.jsonl", {f"q{row}": judge[f"q{row}"] for row in range(120) if row % 3})
    alone = found(capsys)["overall"]
    assert alone | {"label": "language", "value": "de"} == parts["language", "de"]


def test_clusters_widen_the_intervals(write, capsys):
    human, judge = many(40, right=0.8)
    copies = [f"{one}/{copy}" for one in human for copy in range(5)]
    write("human.jsonl", {one: human[one.split("/")[0]] for one in copies})
    write(
        "judge.jsonl",
        {one: judge[one.split("/")[0]] for one in copies},
        doc=[one.split("/")[0] for one in copies],
    )
    apart, together = found(capsys), found(capsys, "--cluster", "doc")
    assert together["overall"]["clusters"] == 40
    for name in ("agreement", "kappa", "bias", "separation", "sensitivity"):
        narrow, wide = (one["overall"]["measures"][name] for one in (apart, together))
        assert wide["value"] == narrow["value"]
        assert wide["high"] - wide["low"] > 1.6 * (narrow["high"] - narrow["low"]), name


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--metric", "suported"], "there is no column 'suported'  (did you mean 'supported'?)"),
        (["--judge-metric", "nope"], "judge.jsonl: there is no column 'nope'"),
        (["--slices", "langage"], "--slices: neither file has a label 'langage'"),
        (["--cluster", "doc"], "--cluster: neither file has a label 'doc'"),
        (["--threshold", "half"], "--threshold: must be a number, not 'half'"),
        (["--threshold", "nan"], "--threshold: must be a number"),
        (["--confidence", "95"], "--confidence: must be above 0.5 and below 1, not 95  (0.95 is usual)"),
        (["--human", "nowhere.jsonl"], "not found: nowhere.jsonl"),
        (["--read-as", "xml"], "there is no reader 'xml'"),
    ],
)
def test_wrong_options_are_named_and_decide_nothing(worked, capsys, options, said):
    assert audit(*options) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


def test_several_metrics_ask_for_a_name(write, tmp_path, capsys):
    human, judge = many(20)
    write("human.jsonl", human)
    lines = [
        json.dumps({"id": one, "metrics": {"faithful": label, "relevant": label}})
        for one, label in judge.items()
    ]
    (tmp_path / "judge.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert audit() == 2
    said = capsys.readouterr().err
    assert (
        "judge.jsonl: has several metrics; which column holds the labels? found: faithful, relevant" in said
    )
    assert "--judge-metric" in said
    assert audit("--judge-metric", "faithful") == 0


def test_tables_and_other_formats_are_read(write, tmp_path, capsys):
    human, judge = many(60)
    write("judge.jsonl", judge)
    write("human.jsonl", human)
    expected = found(capsys)["overall"]
    with (tmp_path / "human.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("id", "label"), *human.items()])
    assert gateline(["audit", "--human", "human.csv", "--judge", "judge.jsonl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["overall"] == expected


def test_nothing_in_common_is_an_error(write, capsys):
    write("human.jsonl", {"a": 1, "b": None})
    write("judge.jsonl", {"a": None, "b": 1})
    assert audit() == 2
    assert "no sample has a label of people and of the judge" in capsys.readouterr().err


def test_many_texts_are_no_categories(write, capsys):
    write("human.jsonl", {f"q{row}": f"a sentence, number {row}" for row in range(40)})
    write("judge.jsonl", {f"q{row}": "yes" for row in range(40)})
    assert audit() == 2
    assert "hold 41 different texts; that many are no categories" in capsys.readouterr().err


def test_grades_that_never_change_have_no_interval_of_no_length(write, capsys):
    write("human.jsonl", dict.fromkeys(["a", "b", "c"], 3))
    write("judge.jsonl", dict.fromkeys(["a", "b", "c"], 3))
    measures = found(capsys, code=1)["overall"]["measures"]
    for name in ("human_mean", "judge_mean", "absolute_error"):
        assert (measures[name]["low"], measures[name]["high"]) == (None, None)
        assert measures[name]["reason"] == "one value is all that was seen, and no range is known"
    assert measures["bias"]["low"] < 0 < measures["bias"]["high"]
    assert measures["spearman"]["value"] is None


def test_numbers_beyond_computing_are_refused_of_people_and_counted_of_the_judge(write, capsys):
    human, judge = many(30)
    write("human.jsonl", human)
    write("judge.jsonl", judge | {"q7": 1e200, "q8": "1e999"})
    assert found(capsys, code=0)["overall"]["missing"] == {"unreadable": 2}
    write("human.jsonl", human | {"q7": 1e200})
    assert audit() == 2
    assert "human.jsonl:8: supported of 'q7' must be a number as others are" in capsys.readouterr().err


def test_a_narrow_terminal_and_hostile_names(write, monkeypatch, capsys):
    human, judge = many(60)
    evil = "x\x1b[31m\nnew line " + "wide " * 40
    write("human.jsonl", human)
    write("judge.jsonl", judge, slices={"kind": evil})
    monkeypatch.setenv("COLUMNS", "60")
    assert audit("--slices", "kind") == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 60
    assert "kind=x" in shown
    assert not any(line.startswith("new line") for line in shown.splitlines())


def test_the_same_files_give_the_same_bytes_whatever_the_order(write, capsys):
    human, judge = many(80)
    outputs = []
    for order in (1, -1):
        write("human.jsonl", dict(list(human.items())[::order]))
        write("judge.jsonl", dict(list(judge.items())[::order]))
        audit("--json")
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
