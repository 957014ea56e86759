from __future__ import annotations

import builtins
import re
from pathlib import Path

import numpy as np
import pytest
from documented import FILES, judge, write_policies
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import InputError
from gateline.policy import load_policy
from gateline.readers import read_run, readers

PYTEST = FILES / "pytest"
FOO = FILES / "promptfoo"
SIDES = ["baseline", "candidate"]
POLICY = """\
version: 1
name: gate
samples: {at_least: 1}
missing: {drop_at_most: 100%}
metrics: {pass: {better: higher, range: [0, 1]}}
rules: [{id: holds, kind: tolerance, metric: pass, worse_by_at_most: 1}]
"""
pytest.importorskip("defusedxml")


def write(folder: Path, *cases: str, name: str = "a.xml", suite: str = 'name="s"', root: str = "") -> Path:
    path = folder / name
    path.write_text(
        f"<?xml version='1.0'?><testsuites {root}><testsuite {suite}>{''.join(cases)}</testsuite></testsuites>"
    )
    return path


def one(name: str, inside: str = "", more: str = 'classname="c" time="0.5"') -> str:
    return f'<testcase name="{name}" {more}>{inside}</testcase>'


@pytest.mark.parametrize("side", SIDES)
def test_counts_are_the_reports_own(side):
    path = PYTEST / f"{side}.junit.xml"
    run, text = read_run(path), path.read_text()
    told = {
        name: int(number) for name, number in re.findall(r'(tests|failures|errors|skipped)="(\d+)"', text)
    }
    passed = run.numbers("pass")
    assert len(run) == told["tests"] == 32
    assert (passed == 0).sum() == told["failures"]
    errors = [text for text in run.texts("error") or [] if text]
    assert len(errors) == told["errors"]
    assert np.isnan(passed).sum() == told["errors"] + told["skipped"]
    assert any(f"skipped tests have no score: {told['skipped']}" in warning for warning in run.warnings)
    assert not any("the report says" in warning for warning in run.warnings)


@pytest.mark.parametrize("side", SIDES)
def test_what_tests_recorded(side):
    path = PYTEST / f"{side}.junit.xml"
    run, text = read_run(path), path.read_text()
    for name in ("word_recall", "latency_ms"):
        recorded = re.findall(rf'<property name="{name}" value="([^"]*)"', text)
        values = run.numbers(name)
        assert values[~np.isnan(values)].tolist() == [float(value) for value in recorded]
    topics = re.findall(r'<property name="topic" value="([^"]*)"', text)
    assert [text for text in run.texts("topic") if text] == topics
    assert "topic" in run.slices
    times = [float(value) * 1000 for value in re.findall(r'<testcase [^>]*time="([^"]*)"', text)]
    ran = ~np.isnan(run.numbers("pass"))
    np.testing.assert_allclose(run.numbers("duration_ms")[ran], np.array(times)[ran])
    assert np.isnan(run.numbers("duration_ms")[~ran]).all()
    assert run.ids[0] == "gen.pt.test_rag::test_answer[q001]"


def test_a_failure_an_error_and_a_skip():
    run = read_run(PYTEST / "candidate.junit.xml")
    found = dict(
        zip(
            run.ids,
            zip(run.numbers("pass"), run.texts("error"), run.texts("message"), strict=True),
            strict=True,
        )
    )
    name = "gen.pt.test_rag::test_{}".format
    assert found[name("answer[q004]")] == (0, "", "ConnectionError: vector store timed out")
    passed, error, message = found[name("index_size")]
    assert np.isnan(passed)
    assert error == message == 'failed on setup with "RuntimeError: fixture set-up failed"'
    for skipped in ("answer[q030]", "german"):
        assert np.isnan(found[name(skipped)][0])
        assert found[name(skipped)][1] == ""


@pytest.mark.parametrize("side", SIDES)
def test_promptfoo_agrees_with_its_json(side):
    """Tests are numbered in the report; what stands behind the number is the description."""
    report, whole = read_run(FOO / f"{side}.junit.xml"), read_run(FOO / f"{side}.json")
    assert report.ids == whole.texts("description")
    np.testing.assert_array_equal(report.numbers("pass"), whole.numbers("pass"))
    assert report.texts("error") == whole.texts("error")
    answered = [not text for text in whole.texts("error") or [""] * 30]
    np.testing.assert_allclose(report.numbers("latency_ms")[answered], whole.numbers("latency_ms")[answered])


def test_promptfoo_without_descriptions_is_not_compared(tmp_path):
    path = write(tmp_path, one("test 1: named"), one("test 2"), root='name="promptfoo"')
    verdict = judge(POLICY, path, path, tmp_path)
    assert verdict.verdict == "invalid"
    assert "1 test of promptfoo has no description" in verdict.because[0]
    assert len(read_run(path)) == 2


def test_several_prompts_of_promptfoo_keep_their_suite(tmp_path):
    text = ""
    for provider in ("[x] prompt 1", "[y] prompt 1"):
        case = one("test 1: a", more=f'classname="{provider}"')
        text += f'<testsuite name="{provider}">{case}</testsuite>'
    (tmp_path / "a.xml").write_text(f'<testsuites name="promptfoo">{text}</testsuites>')
    assert read_run(tmp_path / "a.xml").ids == ["a | [x] prompt 1", "a | [y] prompt 1"]


def test_other_shapes_of_reports(tmp_path):
    """One suite as the root, suites in suites, a namespace, times with marks between thousands, values as text."""
    path = tmp_path / "a.xml"
    path.write_text(
        '<?xml version="1.0"?><!-- made by hand --><testsuite xmlns="http://example.org/x" name="outer" tests="3">'
        '<properties><property name="model" value="m-1"/><property name="user" value="x"/></properties>'
        '<testsuite name="inner"><testcase name="a" time="1,234.5"><properties><property name="f1">0.25</property>'
        '<property name="tag" value="x"/><property name="tag" value="y"/></properties></testcase></testsuite>'
        '<testcase name="b" time="fast"><failure/><error message="in tear-down"/></testcase>'
        '<testcase name="b" classname="k" file="t.py"><system-out>x</system-out></testcase></testsuite>'
    )
    run = read_run(path)
    assert run.ids == ["outer / inner::a", "outer::b", "k::b"]
    np.testing.assert_array_equal(run.numbers("pass"), [1, 0, 1])
    np.testing.assert_array_equal(run.numbers("latency_ms"), [1_234_500, np.nan, np.nan])
    assert run.numbers("f1")[0] == 0.25
    assert run.labels("tag")[0] == ("x", "y")
    assert run.labels("suite") == [("outer / inner",), ("outer",), ("outer",)]
    assert run.provenance == {"model": "m-1"}
    assert not run.warnings


def test_properties_of_the_machine_say_nothing(tmp_path):
    many = "".join(f'<property name="a{number}.version" value="1"/>' for number in range(51))
    assert read_run(write(tmp_path, f"<properties>{many}</properties>", one("a"))).provenance == {}


def test_a_report_that_was_cut_by_a_tool_is_told(tmp_path):
    run = read_run(write(tmp_path, one("a"), root='tests="3"'))
    assert run.warnings == ("the report says that it has 3 tests, and 1 are in it",)


def test_repeated_names_are_attempts(tmp_path):
    path = write(tmp_path, one("a"), one("a", "<failure/>"), one("b"))
    run = read_run(path)
    assert (run.ids, run.texts("attempt")) == (["c::a", "c::a", "c::b"], ["1", "2", "1"])
    verdict = judge(POLICY, path, path, tmp_path)
    assert verdict.findings[0].candidate == 0.75
    assert any("taken for attempts at one test: 1" in notice for notice in verdict.notices)


@given(
    ends=st.lists(st.sampled_from(["", "<failure/>", "<error/>", "<skipped/>"]), min_size=2, max_size=4),
    others=st.integers(2, 6),
)
def test_a_test_with_several_entries_among_many_counts_once_and_as_the_worst(tmp_path_factory, ends, others):
    """So pytest writes a test that fails and breaks in its tear-down, and others one that was tried again."""
    rest = [one(f"b{number}") for number in range(others)]
    path = write(tmp_path_factory.mktemp("twice"), *(one("a", end) for end in ends), *rest)
    run = read_run(path)
    assert (len(run.ids), run.texts("attempt")) == (1 + others, None)
    expected = 0 if "<failure/>" in ends else 1 if set(ends) == {""} else np.nan
    np.testing.assert_array_equal(run.numbers("pass"), [expected, *[1] * others])
    assert any("count once and as the worst of them: 1 (c::a)" in warning for warning in run.warnings)


@pytest.mark.parametrize("word", ["metadata", "traits", "parameters", "links", "rerun", "warning", "item"])
def test_what_only_informs_takes_no_score(tmp_path, word):
    inside = f"<{word}/>" if word == "item" else f"<{word} message='m'><x>text</x></{word}>"
    run = read_run(write(tmp_path, one("a", inside), one("b", f"{inside}<failure/>")))
    np.testing.assert_array_equal(run.numbers("pass"), [1, 0])


@pytest.mark.parametrize("attribute", ['success="False"', 'passed="false"'])
def test_an_attribute_that_says_no_is_a_failure(tmp_path, attribute):
    run = read_run(write(tmp_path, one("a", more=attribute), one("b", more='success="True" passed="true"')))
    np.testing.assert_array_equal(run.numbers("pass"), [0, 1])


def test_what_passed_when_tried_again_is_told(tmp_path):
    run = read_run(
        write(tmp_path, one("a", "<flakyFailure/><flakyError/>"), one("b", "<failure/><rerunFailure/>"))
    )
    assert run.numbers("retries").tolist() == [2, 1]
    assert "tests that passed only when tried again count as passed: 1" in run.warnings


def test_recorded_and_measured_latencies_are_not_compared(tmp_path):
    recorded = '<properties><property name="latency_ms" value="3"/></properties>'
    paths = [write(tmp_path, one("a", recorded), name="a.xml"), write(tmp_path, one("a"), name="b.xml")]
    policy = POLICY.replace("pass", "latency_ms").replace(", range: [0, 1]", "").replace("higher", "lower")
    verdict = judge(policy, *paths, tmp_path)
    assert verdict.verdict == "invalid"
    assert "as the tests recorded it in the baseline, time of the whole test" in verdict.because[0]
    assert judge(policy, paths[0], paths[0], tmp_path).verdict == "pass"


def test_recorded_names_that_mean_something_else(tmp_path):
    names = ("id", "error", "attempt", "metrics", "pass", "note")
    inside = "".join(f'<property name="{name}" value="{name}-1"/>' for name in names)
    run = read_run(write(tmp_path, one("a", f"<properties>{inside}</properties>"), one("b")))
    assert run.ids == ["c::a", "c::b"]
    assert run.texts("property.id") == ["id-1", ""]
    assert "error" not in run.fields
    assert run.labels("note") == [("note-1",), ()]
    np.testing.assert_array_equal(run.numbers("pass"), [1, 1])


LOL = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LOL + "<testsuites><testsuite name='&c;'/></testsuites>", "has a document type or entities"),
        ("<!DOCTYPE t SYSTEM 'file:///etc/passwd'><testsuite/>", "has a document type or entities"),
        (
            "<!DOCTYPE t [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><testsuite name='&x;'/>",
            "has a document type",
        ),
        (
            "<testsuite>\n<testcase name='&x;'/></testsuite>",
            r"a\.xml:2: is not whole XML at column 1: undefined entity",
        ),
        ("<testsuites>\n<testsuite><testcase name='a'>", r"a\.xml:2: is not whole XML .*no element found"),
        ("<testsuites>\n<testcase name='\x01'/></testsuites>", r"a\.xml:2: is not whole XML .*invalid token"),
        ("<?xml version='1.0' encoding='x-none'?><testsuite/>", "is not (whole XML|XML that can be read)"),
        ("<testsuites/>", "no test case in the report"),
        ("<testsuites><a><testcase name='x'/></a></testsuites>", "no test case in the report"),
        ("<html><body/></html>", "no reader knows this file"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path, text, message):
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "a.xml")


def test_other_encodings_are_the_parsers_business(tmp_path):
    (tmp_path / "a.xml").write_bytes(
        "<?xml version='1.0' encoding='ISO-8859-1'?><testsuite><testcase name='Zürich'/></testsuite>".encode(
            "latin-1"
        )
    )
    assert read_run(tmp_path / "a.xml").ids == ["Zürich"]


def test_suites_may_be_nested_deeply(tmp_path):
    (tmp_path / "a.xml").write_text("<testsuite>" * 3000 + one("a") + "</testsuite>" * 3000)
    assert read_run(tmp_path / "a.xml").ids == ["c::a"]


def test_without_the_parser_it_says_what_to_install(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("defusedxml"):
            raise ImportError(name)
        return real(name, *rest)

    path = write(tmp_path, one("a"))
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"needs defusedxml  \(pip install defusedxml"):
        read_run(path)


OUTCOMES = {"": 1.0, "<failure/>": 0.0, "<error/>": np.nan, "<skipped/>": np.nan}


NAMES = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Cn")), max_size=8)


@given(st.lists(st.tuples(NAMES, st.sampled_from(sorted(OUTCOMES))), min_size=1, max_size=12))
def test_any_names_and_outcomes(tmp_path_factory, cases):
    from xml.sax.saxutils import quoteattr

    lines = [
        f"<testcase name={quoteattr(f'{number}-{name}')}>{inside}</testcase>"
        for number, (name, inside) in enumerate(cases)
    ]
    path = tmp_path_factory.mktemp("any") / "a.xml"
    path.write_text(f"<testsuite tests='{len(cases)}'>{''.join(lines)}</testsuite>", encoding="utf-8")
    run = read_run(path)
    np.testing.assert_array_equal(run.numbers("pass"), [OUTCOMES[inside] for _, inside in cases])
    assert run.ids == [f"{number}-{name}".strip() for number, (name, _) in enumerate(cases)]


def test_gatelines_own_report_is_a_report_too(tmp_path):
    from gateline.reports.junit import render

    verdict = judge(POLICY, *(PYTEST / f"{side}.junit.xml" for side in SIDES), tmp_path)
    text = render(verdict)
    (tmp_path / "own.xml").write_text(text)
    assert readers()["junit"].looks_like(text.encode(), Path("own.xml"))
    assert len(read_run(tmp_path / "own.xml")) == text.count("<testcase")


def test_the_documented_policy(tmp_path):
    (policy,) = write_policies("junit.md", tmp_path)
    load_policy(policy)
    verdict = judge(policy, *(PYTEST / f"{side}.junit.xml" for side in SIDES))
    assert verdict.verdict in {"pass", "fail"}, verdict.because
    assert verdict.pairing.paired == 32
    strict = policy.read_text() + "  - {id: none-breaks, kind: every, metric: pass, worse_by_at_most: 0}\n"
    verdict = judge(strict, *(PYTEST / f"{side}.junit.xml" for side in SIDES), tmp_path)
    assert verdict.verdict == "fail"


SAID = {
    "notrun": np.nan, "disabled": np.nan, "suppressed": np.nan, "skipped": np.nan, "Not_Run": np.nan,
    "failed": 0, "FAIL": 0, "failure": 0, "error": np.nan, "aborted": np.nan, "cancelled": np.nan,
    "run": 1, "completed": 1, "passed": 1, "": 1,
}  # fmt: skip


@pytest.mark.parametrize("word", SAID)
@pytest.mark.parametrize("attribute", ["status", "result"])
def test_what_a_status_says_counts_without_an_element(tmp_path, word, attribute):
    """GoogleTest marks what it left out by attributes alone; others write failures there."""
    path = write(tmp_path, one("a", more=f'{attribute}="{word}"'), one("b"))
    np.testing.assert_array_equal(read_run(path).numbers("pass"), [SAID[word], 1])
    beside = write(tmp_path, one("a", "<failure/>", more=f'{attribute}="{word}"'), one("b"))
    np.testing.assert_array_equal(read_run(beside).numbers("pass"), [0, 1])


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ("<Failure message='x'/>", None),
        ("<oddity>what</oddity>", "<oddity>"),
        ("<oddity message='what'/>", "<oddity>"),
        ("<assertionFailed/>", "<assertionFailed>"),
        ('<testcase name="b"><failure/></testcase>', "<testcase>"),
    ],
)
def test_an_element_that_is_not_known_is_no_pass(tmp_path, inside, told):
    run = read_run(write(tmp_path, one("a", inside), one("b", "<system-out>x</system-out><properties/>")))
    np.testing.assert_array_equal(run.numbers("pass"), [0 if told is None else np.nan, 1])
    named = [warning for warning in run.warnings if "not known here" in warning]
    assert [told in warning for warning in named] == ([] if told is None else [True])


HARMLESS = {
    "properties", "system-out", "system-err", "stdout", "stderr", "output", "log", "logs", "attachments", "attachment",
    "description", "tags", "comment", "steps", "assertions", "stacktrace", "flakyFailure", "flakyError", "rerunFailure",
    "rerunError", "passed", "pass", "ok", "success", "successful", "run", "completed", "executed",
    "metadata", "traits", "parameters", "links", "rerun", "warning", "ran", "expected", "fixed", "xpass", "xpassed",
    "flaky",
}  # fmt: skip
WORDS = st.from_regex(r"[A-Za-z][A-Za-z_-]{0,11}", fullmatch=True)


@given(word=WORDS, as_status=st.booleans())
def test_only_what_is_known_to_be_a_pass_is_one(tmp_path_factory, word, as_status):
    """Whatever a writer may call the end of a test: a score of 1 is only for words that are known to say so."""
    plain = {re.sub("[^a-z]", "", known.lower()) for known in HARMLESS}
    case = one("a", more=f'status="{word}"') if as_status else one("a", f"<{word}>said</{word}>")
    passed = read_run(write(tmp_path_factory.mktemp("word"), case, one("b"))).numbers("pass")[0]
    if passed == 1:
        assert re.sub("[^a-z]", "", word.lower()) in plain | {""}


def test_names_that_are_only_places_are_told(tmp_path):
    """pytest numbers parameters that have no text of their own; put one in between, and the others move."""
    told = "parameters of tests are named by their place in a list"

    def warns(*parameters: str) -> bool:
        cases = [one(f"test_rag[{name}]") for name in parameters]
        return any(told in warning for warning in read_run(write(tmp_path, *cases)).warnings)

    assert warns("case0", "case1", "case2")
    assert warns("de-case0", "de-case1", "en-case0", "en-case1")
    assert not warns("q001", "q002")
    assert not warns("case1", "case2")
    assert not warns("what is 1", "what is 2")
    assert not warns("0.1", "0.2")
    assert not warns("case0")
    paths = [write(tmp_path, *(one(f"t[c{n}]") for n in range(3)), name=name) for name in ("a.xml", "b.xml")]
    assert any("t[c0]" in notice for notice in judge(POLICY, *paths, tmp_path).notices)


def test_properties_whose_names_are_data_are_refused_before_they_are_laid_out(tmp_path):
    cases = [one(f"t{n}", f'<properties><property name="p{n}" value="1"/></properties>') for n in range(2001)]
    with pytest.raises(
        InputError, match="record 2001 different properties, more than 2000; their names seem to be data"
    ):
        read_run(write(tmp_path, *cases))
    assert len(read_run(write(tmp_path, *cases[:1900]))) == 1900


SUITES = ['suite=name="pytest" root=', 'suite=name="mine" root=name="pytest tests"']
"""What pytest writes, also under a name of its own for the suite (`junit_suite_name`)."""


@pytest.mark.parametrize("names", SUITES)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=2, max_size=8))
def test_the_tries_of_a_test_in_pytest_are_no_attempts_that_passed(tmp_path_factory, names, tests):
    """pytest-rerunfailures leaves tries that failed as they would be had they passed: the last one counts."""
    suite, root = re.fullmatch("suite=(.*) root=(.*)", names).groups()
    cases = [
        one(f"t{number}", "<failure message='no'/>" if failed and place == tries else "")
        for number, (tries, failed) in enumerate(tests)
        for place in range(tries + 1)
    ]
    failures = sum(failed for _, failed in tests)
    root += f' failures="{failures}" tests="{len(cases) - 1}"'
    run = read_run(write(tmp_path_factory.mktemp("tries"), *cases, suite=suite, root=root))
    assert run.ids == [f"c::t{number}" for number in range(len(tests))]
    assert run.numbers("pass").tolist() == [float(not failed) for _, failed in tests]
    again = sum(tries > 0 and not failed for tries, failed in tests)
    told = f"tests that passed only when tried again count as passed: {again}"
    assert (told in run.warnings) == (again > 0)
    assert run.texts("attempt") is None


def test_tries_are_told_by_their_ends_where_the_suite_has_another_name(tmp_path):
    """Older versions of pytest name themselves in the suite alone, and that name may be the user's."""
    tried = [one(name, end) for name in "abc" for end in ("", "", "<failure/>")]
    run = read_run(write(tmp_path, *tried, one("d"), suite='name="mine"'))
    assert run.numbers("pass").tolist() == [0, 0, 0, 1]
    assert any("of which only the last ever failed" in warning for warning in run.warnings)
    varied = [one(name, end) for name in "abc" for end in ("", "<failure/>", "")]
    run = read_run(write(tmp_path, *varied, suite='name="mine"', name="b.xml"))
    assert run.texts("attempt") == ["1", "2", "3"] * 3


def test_runs_of_pytest_in_one_file_are_attempts(tmp_path):
    path = tmp_path / "merged.xml"
    run_of = '<testsuite name="pytest">{}</testsuite>'
    runs = [run_of.format(one("a") + one("b")), run_of.format(one("a", "<failure/>") + one("b"))]
    path.write_text(f"<testsuites>{''.join(runs)}</testsuites>")
    run = read_run(path)
    assert sorted(zip(run.ids, run.texts("attempt"), run.numbers("pass").tolist(), strict=True)) == [
        ("c::a", "1", 1), ("c::a", "2", 0), ("c::b", "1", 1), ("c::b", "2", 1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (["", "<error message='failed on teardown'/>"], np.nan),
        (["<failure/>", "<error/>"], 0),
        (["", "", "<failure/>", "<error/>"], 0),
        (["<failure/>", "<failure/>"], 0),
    ],
)
def test_what_broke_in_the_tear_down_and_subtests_are_no_further_tries(tmp_path, ends, expected):
    cases = [one("a", end) for end in ends]
    run = read_run(write(tmp_path, *cases, one("b"), suite='name="pytest"'))
    np.testing.assert_array_equal(run.numbers("pass"), [expected, 1])
    assert not any("when tried again" in warning for warning in run.warnings)
