"""`gateline score` and `gateline golden` as a user runs them: files, streams, exit codes."""

from __future__ import annotations

import json

import pytest

from gateline.cli import run as gateline
from gateline.policy import load_policy
from gateline.readers import read_run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 D1#1 2\nq1 0 D1#2 1\nq2 0 D2#1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 D1#2 1 9 t\nq1 Q0 D1#1 2 8 t\nq7 Q0 x 1 1 t\n")
    return tmp_path


def test_score_writes_a_run_and_shows_its_means(folder, capsys):
    assert gateline(["score", "qrels.txt", "a.run", "-o", "out/r.jsonl", "--k", "1,2"]) == 0
    shown = capsys.readouterr()
    run = read_run("out/r.jsonl")
    assert run.ids == ["q1", "q2"]
    assert run.numbers("recall@1").tolist() == [0.5, 0]
    assert run.numbers("recall@2").tolist() == [1, 0]
    assert "recall@10" not in run.metrics
    lines = {line.split()[0]: line.split()[1:] for line in shown.out.splitlines()}
    assert lines["recall@2"] == ["0.5000", "2", "of", "2"]
    assert lines["precision_returned@2"] == ["1.0000", "1", "of", "2", "1", "nothing", "was", "retrieved"]
    assert "a.run: no results for 1 of 2 questions of the golden set, counted as 0 retrieved: q2" in shown.err
    assert "1 question is not in the golden set and is left out: q7" in shown.err
    assert "wrote 2 records to out/r.jsonl" in shown.err


def test_what_score_noticed_is_still_told_by_inspect(folder, capsys):
    gateline(["score", "qrels.txt", "a.run", "-o", "r.jsonl"])
    capsys.readouterr()
    assert gateline(["inspect", "r.jsonl", "--json"]) == 0
    assert "no results for 1 of 2 questions" in " ".join(json.loads(capsys.readouterr().out)["warnings"])


def test_the_default_cutoff_is_10_and_the_environment_sets_another(folder, monkeypatch):
    gateline(["score", "qrels.txt", "a.run", "-o", "r.jsonl"])
    assert "recall@10" in read_run("r.jsonl").metrics
    monkeypatch.setenv("GATELINE_K", "7")
    gateline(["score", "qrels.txt", "a.run", "-o", "s.jsonl"])
    assert "recall@7" in read_run("s.jsonl").metrics


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["score", "qrels.txt", "a.run"], "required: --output"),
        (["score", "qrels.txt", "a.run", "-o", "r.jsonl", "--k", "x"], "--k must be whole numbers"),
        (["score", "nowhere.txt", "a.run", "-o", "r.jsonl"], "not found: nowhere.txt"),
        (["score", "a.run", "qrels.txt", "-o", "r.jsonl"], "the golden set comes first"),
        (["golden", "nowhere.txt"], "not found: nowhere.txt"),
        (["golden", "a.run"], "is a run file, not a golden set"),
    ],
)
def test_what_can_t_be_done_ends_with_2_and_writes_nothing(folder, capsys, arguments, said):
    assert gateline(arguments) == 2
    assert said in capsys.readouterr().err
    assert not (folder / "r.jsonl").exists()


def test_a_repeated_document_ends_with_2_and_says_where(folder, capsys):
    (folder / "b.run").write_text("q1 Q0 D1#1 1 9 t\nq1 Q0 D1#1 2 8 t\n")
    assert gateline(["score", "qrels.txt", "b.run", "-o", "r.jsonl"]) == 2
    assert "b.run:2: query 'q1' has document 'D1#1' twice, in lines 1 and 2" in capsys.readouterr().err


GOLDEN = [
    {
        "query_id": "a",
        "question": "Who may carry leave over?",
        "relevant": ["d1"],
        "answerable": True,
        "language": "en",
    },
    {
        "query_id": "b",
        "question": "Wie lange ist der Urlaub?",
        "relevant": ["d2"],
        "answerable": True,
        "language": "de",
    },
    {"query_id": "c", "question": "Who rules Mars?", "answerable": False, "language": "en"},
]


def write_golden(folder, records, name="g.jsonl"):
    head = {"gateline": 1, "run": {"golden_set.version": "v2"}}
    (folder / name).write_text(
        "\n".join(json.dumps(one, ensure_ascii=False) for one in [head, *records]) + "\n"
    )


def test_golden_ends_with_0_for_a_sound_set(folder, capsys):
    write_golden(folder, GOLDEN)
    assert gateline(["golden", "g.jsonl"]) == 0
    shown = capsys.readouterr().out
    assert "g.jsonl: 3 questions, version v2, sha256 " in shown
    assert "labelled: relevant ids 2, answerable or not 3, unanswerable 1" in shown
    assert "language=en" in shown
    assert shown.rstrip().endswith("0 errors, 1 warning")


def test_golden_ends_with_1_where_something_must_be_mended(folder, capsys):
    write_golden(folder, [*GOLDEN, {**GOLDEN[0], "query_id": "z"}])
    assert gateline(["golden", "g.jsonl"]) == 1
    shown = capsys.readouterr().out
    assert "✗ duplicate: g.jsonl:5: the same question stands more than once (a, z)" in shown


def test_golden_looks_across_files(folder, capsys):
    write_golden(folder, GOLDEN, "dev.jsonl")
    write_golden(folder, [{**GOLDEN[1], "query_id": "y"}], "test.jsonl")
    assert gateline(["golden", "dev.jsonl", "test.jsonl", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["errors"] == 1
    leak = next(note for note in found["notes"] if note["check"] == "leak")
    assert leak["ids"] == ["b", "y"]
    assert [facts["questions"] for facts in found["files"]] == [3, 1]
    assert found["files"][0]["slices"][0]["visible_change"] is None


def test_hostile_texts_can_t_command_the_terminal_or_the_runner(folder, capsys):
    odd = {
        "query_id": "\x1b[31mred\n::error::x",
        "question": "Q?",
        "answerable": True,
        "language": "a\x1b]0;x\x07\n::warning::y",
    }
    write_golden(folder, [*GOLDEN, odd, {**odd, "query_id": "two"}])
    assert gateline(["golden", "g.jsonl"]) == 1
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())


def test_what_score_writes_can_be_gated_by_what_init_proposes(folder, capsys):
    """A metric that is defined for some questions only is held over these, and not missing from the others."""
    golden, outputs = [], []
    for number in range(160):
        answerable = number % 4 != 0
        question = {"query_id": f"q{number}", "question": f"What is {number}?", "answerable": answerable}
        output = {
            "query_id": f"q{number}",
            "retrieved": [f"d{number}" if number % 5 else "x", "y"],
            "refused": not answerable if number % 7 else answerable,
        }
        if answerable:
            question |= {
                "relevant": [f"d{number}"],
                "required_claims": [{"id": "c", "text": f"It is {number}."}],
            }
        if not output["refused"]:
            output |= {"statements": [{"text": "s", "supported": bool(number % 6)}]}
            output |= {"covered_claims": ["c"] if answerable and number % 3 else []}
        golden.append(question)
        outputs.append(output)
    write_golden(folder, golden)
    (folder / "o.jsonl").write_text("".join(json.dumps(one) + "\n" for one in outputs))
    assert gateline(["score", "g.jsonl", "o.jsonl", "-o", "r.jsonl"]) == 0
    assert gateline(["init", "r.jsonl", "-o", "p.yml"]) == 0
    assert gateline(["lint", "p.yml"]) == 0
    metrics = load_policy("p.yml").policy.metrics
    assert metrics["refused_correctly"].applies_to == "answerable_false"
    assert metrics["refused_wrongly"].applies_to == metrics["recall@10"].applies_to == "answerable_true"
    given = ["check", "--policy", "p.yml", "--baseline", "r.jsonl"]
    assert gateline([*given, "--candidate", "r.jsonl"]) == 0

    def answers_all(one):
        return {
            **one,
            "refused": False,
            "statements": [{"text": "s", "supported": False}],
            "covered_claims": [],
        }

    (folder / "bad.jsonl").write_text("".join(json.dumps(answers_all(one)) + "\n" for one in outputs))
    assert gateline(["score", "g.jsonl", "bad.jsonl", "-o", "bad-run.jsonl"]) == 0
    capsys.readouterr()
    assert gateline([*given, "--candidate", "bad-run.jsonl", "-v"]) == 1
    shown = capsys.readouterr().out
    assert "- refused_correctly" in shown


SLIPS = ["relevnt", "Relevant", "relevant-ids", "answerabel", "requiered_claims", "reference_contxt_ids"]


def misspell(records, right, wrong, rows):
    return [
        {wrong if key == right and number in rows else key: value for key, value in one.items()}
        for number, one in enumerate(records)
    ]


@pytest.mark.parametrize("rows", [{0}, {0, 1}, {0, 1, 2}])
@pytest.mark.parametrize("wrong", SLIPS)
def test_a_misspelt_label_of_a_golden_set_is_refused_with_what_was_meant(folder, capsys, wrong, rows):
    """In however few records: what they say would be lost without a word."""
    right = "answerable" if wrong == "answerabel" else "relevant"
    write_golden(folder, misspell(GOLDEN, right, wrong, rows))
    (folder / "o.jsonl").write_text(
        "".join(json.dumps({"id": name, "retrieved": ["d1"]}) + "\n" for name in "abc")
    )
    assert gateline(["score", "g.jsonl", "o.jsonl", "-o", "r.jsonl"]) == 2
    told = capsys.readouterr().err
    assert f"g.jsonl:2: the field '{wrong}' of " in told
    assert "did you mean '" in told
    assert not (folder / "r.jsonl").exists()
    assert gateline(["golden", "g.jsonl"]) == 1
    assert f"✗ unknown field: g.jsonl:2: the field '{wrong}' of" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("wrong", ["retreived", "retrieved_id_s", "refusd"])
def test_a_misspelt_field_of_the_outputs_is_refused(folder, capsys, wrong):
    write_golden(folder, GOLDEN)
    (folder / "o.jsonl").write_text("".join(json.dumps({"id": name, wrong: ["d1"]}) + "\n" for name in "abc"))
    assert gateline(["score", "g.jsonl", "o.jsonl", "-o", "r.jsonl"]) == 2
    assert f"o.jsonl:1: the field '{wrong}' of 3 records is no label that is known" in capsys.readouterr().err


def test_a_field_that_may_be_meant_is_a_warning(folder, capsys):
    """A plural, or a field beside the label it resembles, may be something else."""
    write_golden(folder, [{**one, "answer_sets": [1], "relevants": [2]} for one in GOLDEN])
    (folder / "o.jsonl").write_text(
        "".join(json.dumps({"id": name, "retrieved": ["d1"]}) + "\n" for name in "abc")
    )
    assert gateline(["score", "g.jsonl", "o.jsonl", "-o", "r.jsonl"]) == 0
    assert (
        "the field 'relevants' of 3 records is no label that is known; is 'relevant' meant?"
        in capsys.readouterr().err
    )
    assert gateline(["golden", "g.jsonl"]) == 0


@pytest.mark.parametrize(
    "usual",
    ["reason", "context", "answers", "tags", "topic", "source", "note", "doc_id", "category", "author"],
)
def test_a_field_of_its_own_is_no_slip(folder, capsys, usual):
    write_golden(folder, [{**one, usual: "x"} for one in GOLDEN])
    assert gateline(["golden", "g.jsonl"]) == 0
    assert "unknown field" not in capsys.readouterr().out


def test_what_no_record_has_is_said(folder, capsys):
    write_golden(
        folder, [{key: value for key, value in one.items() if key != "answerable"} for one in GOLDEN]
    )
    (folder / "o.jsonl").write_text(
        "".join(json.dumps({"id": name, "retrieved": ["d1"]}) + "\n" for name in "abc")
    )
    assert gateline(["score", "g.jsonl", "o.jsonl", "-o", "r.jsonl"]) == 0
    told = capsys.readouterr().err
    assert "not computed, for want of labels: " in told
    assert (
        "no record of the golden set has required_evidence_groups, required_claims, forbidden_claims, answerable"
        in told
    )
    assert "no record of the outputs has contexts, statements, " in told
    gateline(["golden", "g.jsonl"])
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "labelled nowhere: evidence groups, reference answer, required claims, forbidden claims, answerable"
        in shown
    )


def test_nothing_to_score_is_an_error(folder, capsys):
    (folder / "g.jsonl").write_text('{"id": "a", "question": "Who?"}\n')
    (folder / "o.jsonl").write_text('{"id": "a", "latency_ms": 3}\n')
    assert gateline(["score", "g.jsonl", "o.jsonl", "-o", "r.jsonl"]) == 2
    told = capsys.readouterr().err
    assert "no metric has the labels that it needs: no record of the golden set has relevant, " in told
    assert not (folder / "r.jsonl").exists()
