"""No file is claimed by two readers of tools, also where the text of one looks like another's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from documented import FILES, FORMATS

from gateline.errors import InputError
from gateline.readers import read_run, readers
from gateline.readers._source import Source


def claims_of(path: Path) -> list[str]:
    source = Source(str(path))
    return [
        name
        for name, reader in readers().items()
        if not getattr(reader, "GENERAL", False) and reader.looks_like(source.head, path)
    ]


FILES_OF_TOOLS = [
    path
    for root in (FILES, FORMATS)
    if root.is_dir()
    for path in sorted(root.rglob("*"))
    if path.is_file() and path.suffix not in {".md", ".txt", ".yaml"}
]


@pytest.mark.parametrize("path", FILES_OF_TOOLS, ids=lambda path: "/".join(path.parts[-4:]))
def test_a_file_is_claimed_once_at_most(path):
    assert len(claims_of(path)) <= 1


@pytest.mark.parametrize("path", FILES_OF_TOOLS, ids=lambda path: "/".join(path.parts[-4:]))
def test_a_reader_of_a_tool_that_is_forced_onto_another_s_file_gives_no_run(path):
    """Else its rules would hold for numbers that it knows nothing of; the general readers take any file."""
    claims = claims_of(path)
    for name, reader in readers().items():
        if claims and name not in claims and not getattr(reader, "GENERAL", False):
            with pytest.raises(InputError):
                read_run(path, read_as=name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # columns that any evaluation may have, and none of Ragas' own scores
        ("ragas", "question,answer,score\nwhat,this,0.5\n"),
        ("ragas", '{"user_input": "what", "my_score": 0.5}\n{"user_input": "who", "my_score": 1}\n'),
        # own measures in the form of pytrec_eval, some of them not there for a query
        ("trec-eval", '{"q1": {"mine": 0.5, "other": 1}, "q2": {"mine": 0.1}, "q3": {"other": 0.2}}'),
        ("trec-eval", '{"q1": {"d1": 0.5}}'),
        # documents some of which are called like a measure
        ("trec", '{"q1": {"map": 0.5, "d2": 0.3}, "q2": {"map": 0.1}}'),
    ],
)
def test_a_reader_that_is_forced_reads_what_nothing_shows_to_be_another_s(tmp_path, name, text):
    path = tmp_path / "run"
    path.write_text(text)
    assert len(read_run(path, read_as=name)) > 0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("trec", '{"q1": {"map": 0.5, "P_10": 0.3}, "q2": {"map": 0.1}}', "scores of measures, and no documents"),
        ("trec-eval", '{"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}, "q3": {"d4": 1}}', "seem to be documents"),
        ("ragas", "inputs.question,reference.answer,feedback.x,execution_time,example_id,id\nw,t,1,0.1,1,2\n",
         "it looks like langsmith"),
    ],
)  # fmt: skip
def test_what_is_another_s_says_whose_it_seems_to_be(tmp_path, name, text, message):
    path = tmp_path / "run"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_run(path, read_as=name)


OWN = {"deepeval": "*.json", "promptfoo": "*.[jc]s*", "pytest": "*.*"}


@pytest.mark.parametrize(
    "path", [path for path in FILES_OF_TOOLS if path.parent.name in OWN], ids=lambda path: path.name
)
def test_a_file_is_claimed_by_its_reader(path):
    by_ending = {"junit.xml": "junit", "ctrf.json": "ctrf", "pytest-json-report.json": "pytest-json-report"}
    expected = next(
        (name for ending, name in by_ending.items() if path.name.endswith(ending)), path.parent.name
    )
    assert claims_of(path) == [expected]


HOSTILE = [
    "{'faithfulness': 0.9, 'answer_relevancy': 0.4}",
    '{"sample_score": {"score": {"value": 1}, "sample_id": 1}}',
    "<testsuites><testsuite/></testsuites>",
    "Status,Score,Named Scores",
    '"testRunData": {"testCases": []}',
    "q1 Q0 d1 1 0.5 tag",
    "runid all x",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_an_answer_says_does_not_change_whose_file_it_is(tmp_path, text):
    deep = json.loads((FILES / "deepeval" / "baseline.test_run.json").read_text())
    foo = json.loads((FILES / "promptfoo" / "baseline.json").read_text())
    report = json.loads((FILES / "pytest" / "baseline.ctrf.json").read_text())
    outcomes = json.loads((FILES / "pytest" / "baseline.pytest-json-report.json").read_text())
    deep["testCases"][0]["actualOutput"] = text
    foo["results"]["results"][0]["response"]["output"] = text
    report["results"]["tests"][0]["message"] = text
    outcomes["tests"][0]["metadata"]["topic"] = text
    for name, value in (
        ("deepeval", deep),
        ("promptfoo", foo),
        ("ctrf", report),
        ("pytest-json-report", outcomes),
    ):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(value))
        assert claims_of(path) == [name]
        assert read_run(path).format == name


@pytest.mark.parametrize("name", ["deepeval", "promptfoo", "ctrf", "pytest-json-report"])
def test_whose_file_it_is_shows_at_its_beginning(tmp_path, name):
    """Long answers push what follows beyond the bytes that are looked at."""
    long = "word " * 40_000
    if name == "deepeval":
        value = json.loads((FILES / "deepeval" / "baseline.test_run.json").read_text())
        value["testCases"][0]["actualOutput"] = long
    elif name == "promptfoo":
        value = json.loads((FILES / "promptfoo" / "baseline.json").read_text())
        value["results"]["prompts"][0]["raw"] = long
    elif name == "ctrf":
        value = json.loads((FILES / "pytest" / "baseline.ctrf.json").read_text())
        value["results"]["tests"][0]["message"] = long
    else:
        value = json.loads((FILES / "pytest" / "baseline.pytest-json-report.json").read_text())
        value["tests"][0]["metadata"]["note"] = long
    (tmp_path / "a.json").write_text(json.dumps(value))
    assert claims_of(tmp_path / "a.json") == [name]


@pytest.mark.parametrize("path", FILES_OF_TOOLS, ids=lambda path: "/".join(path.parts[-4:]))
def test_lm_eval_reads_no_numbers_of_other_tools_even_by_force(path):
    """Sums of promptfoo and CTRF stand under `results`, too, and are no means of tasks."""
    if claims_of(path) == ["lm_eval"]:
        return
    with pytest.raises(InputError):
        read_run(path, read_as="lm_eval")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"results": {"a": {"acc,none": 0.5}, "stats": [1]}}, r"'results\.stats' is a list, and no task"),
        ({"results": [{"acc": 1}]}, "'results' is a list"),
        ({"groups": {}}, "there is no object 'results'"),
    ],
)
def test_results_that_are_none_of_tasks_are_told_with_what_they_are(tmp_path, value, told):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(value))
    with pytest.raises(
        InputError, match=f"results.json: is no results file of lm-evaluation-harness: {told}"
    ):
        read_run(path, read_as="lm_eval")
