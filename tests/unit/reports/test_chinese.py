"""Reports in Chinese: nothing is left in English but names, units and keys, and texts line up by their width."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from gateline import reports
from gateline.remark import Remark
from gateline.reports import markdown
from gateline.reports.escape import JOINER, display_width, wrap_points
from gateline.texts import languages, load
from gateline.verdict import Verdict

from .hostile import ATTACKS, replace_texts
from .layered import whole_system_verdict
from .verdicts import (
    design_verdict,
    every,
    fine_verdict,
    latency,
    loosened_verdict,
    make_finding,
    make_verdict,
    many_kinds_verdict,
    unlike_verdict,
)

VERDICTS: dict[str, Callable[[], Verdict]] = {
    "blocked": design_verdict,
    "passed": fine_verdict,
    "loosened": loosened_verdict,
    "many kinds": many_kinds_verdict,
    "no verdict": unlike_verdict,
    "all layers": whole_system_verdict,
}
REPORTS: dict[str, dict[str, Any]] = {
    "text": {"verbose": True, "width": 10_000},
    "markdown": {},
    "html": {},
    "junit": {},
    "annotations": {},
    "codequality": {},
}
COMMAND = {"gateline", "check", "policy", "baseline", "candidate", "on", "fail", "never"}
NAMES_IN_TEXTS = COMMAND | {
    "verdict",
    "json",
    "layer",
    "v",
    "slices",
    "at_least",
    "provenance",
    "must_match",
    "P",
}
"""The command to run it again, files, keys and options that one types, and P50."""


def strings(value: Any) -> set[str]:
    """All texts in a verdict: what stands in reports as a name."""
    if isinstance(value, dict):
        return {text for item in value.values() for text in strings(item)}
    if isinstance(value, list):
        return {text for item in value for text in strings(item)}
    return {value} if isinstance(value, str) else set()


def names_of(verdict: Verdict) -> set[str]:
    """Names, ids, files, units and reasons, but none of the sentences that the program made in English."""
    data = json.loads(verdict.to_json())
    for finding in data["findings"]:
        for sentence in ("message", "notes", "kind", "status", "direction", "summary", "show_as", "layer"):
            finding.pop(sentence)
    for part in ("because", "notices", "verdict", "counts", "fail_on", "changed"):
        data.pop(part)
    for problem in data["problems"]:
        problem.pop("message"), problem.pop("hint")
    under = data["policy"].pop("under_base") or {}
    changed = {field.field for field in verdict.changed} | {
        value for field in verdict.changed for value in (field.baseline, field.candidate) if value
    }
    own = {name for run in (verdict.baseline, verdict.candidate) if run for name in run.provenance}
    runs = {name for part in (verdict.pairing.slices if verdict.pairing else {},) for name in part}
    if verdict.pairing:
        runs |= set(verdict.pairing.only_in_baseline.slices)
    known = strings(data) | changed | own | runs | set(under.get("because", []))
    return {word for text in known for word in re.findall("[A-Za-z_]+", text)}


def visible(kind: str, text: str) -> str:
    """What people read of a report."""
    if kind == "html":
        text = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
        text = re.sub(r'\b(?:aria-label|data-label)="([^"]*)"', r">\1<", text)
        text = re.sub(r"<[^>]*>", " ", text)
    if kind == "markdown":
        text = re.sub(r"<!--.*?-->|</?\w+>|```\w*|\[!CAUTION\]", " ", text)
        text = re.sub(r"\ngateline check .*", "", text).replace("\\", "").replace(JOINER, "")
    if kind == "junit":
        text = re.sub(r'\btype="[^"]*"', " ", text)  # for programs, like the tags
        text = re.sub(r'<\?.*?\?>|</?[\w-]+|\b(?:name|classname|file|line|time)=|\w+="\d+"|/>', " ", text)
    if kind == "annotations":
        text = re.sub(r"^::\w+ file=|,line=\d+,title=|%[0-9A-F]{2}", " ", text, flags=re.MULTILINE)
    if kind == "codequality":
        text = " ".join(issue["description"] for issue in json.loads(text))
    text = re.sub(r"&\w+;|sha256|重新运行：[^。]*", " ", text)
    return re.sub(r"(?:error|message|skipped|tests|failures|errors)=", " ", text)


@pytest.mark.parametrize("kind", REPORTS)
@pytest.mark.parametrize("verdict", VERDICTS)
def test_no_english_is_left_but_names_and_keys(verdict: str, kind: str) -> None:
    made = VERDICTS[verdict]()
    text = visible(kind, reports.render(kind, made, language="zh", **REPORTS[kind]))
    names = names_of(made)
    left = set(re.findall("[A-Za-z_]+", text)) - names - NAMES_IN_TEXTS
    cut = {word for word in left for name in names if name.startswith(word) or name.endswith(word)}
    assert left - (cut if "…" in text else set()) == set()
    assert kind == "annotations" or verdict == "passed" or re.search("[\u4e00-\u9fff]", text)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_the_comment_is_found_by_the_same_marker(verdict: str) -> None:
    made = VERDICTS[verdict]()
    first = {markdown.render(made, language=language).splitlines()[0] for language in languages()}
    assert first == {markdown.marker(made.policy.name)}


@pytest.mark.parametrize("kind", REPORTS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_texts_are_as_harmless_as_in_english(attack: str, kind: str) -> None:
    """Both languages have as much structure: lines, tags, commands; English is looked at elsewhere."""
    hostile = replace_texts(design_verdict(), attack)
    english, chinese = (
        reports.render(kind, hostile, language=language, **REPORTS[kind]) for language in ("en", "zh")
    )
    assert chinese.count("\n") == english.count("\n")
    if kind in ("html", "junit"):
        assert chinese.count("<") == english.count("<")
    assert len(re.findall("^ *::", chinese, re.M)) == len(re.findall("^ *::", english, re.M))


def tags(markdown_text: str) -> list[str]:
    """The tags that GitHub's own parser makes of a comment, in their order."""
    from cmarkgfm import github_flavored_markdown_to_html
    from cmarkgfm.cmark import Options

    page = github_flavored_markdown_to_html(markdown_text, options=Options.CMARK_OPT_UNSAFE)
    return re.findall(r"</?[a-z][\w-]*", re.sub("<!--.*?-->", "", page))


@pytest.mark.parametrize("attack", [*ATTACKS, "abc", "语言=中文"])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_parser_sees_the_same_structure_in_both_languages(verdict: str, attack: str) -> None:
    """Bold sentences end before Chinese marks, too, and nothing in a name opens or closes anything."""
    made = replace_texts(VERDICTS[verdict](), attack)
    seen = {}
    for language in languages():
        counts = Counter(tags(markdown.render(made, language=language, short_when_fine=False)))
        in_sentences = ("<code", "</code", "<em", "</em")  # word order decides how often a name is told
        seen[language] = {tag: number for tag, number in counts.items() if tag not in in_sentences}
    assert seen["zh"] == seen["en"]


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_lines_keep_to_the_width_and_begin_with_no_closing_mark(verdict: str, width: int) -> None:
    text = reports.render("text", VERDICTS[verdict](), language="zh", width=width, verbose=True)
    for line in text.splitlines():
        assert not line.lstrip(" ").startswith(tuple("，。；：、）！？%"))
        if (
            display_width(line) > width
        ):  # only where it could not be parted: one long name or path, or a problem
            assert (
                verdict == "no verdict" or max(map(display_width, re.split("[ ，；：（]", line))) > width - 12
            )


@pytest.mark.parametrize("language", languages())
def test_bars_line_up_with_chinese_names_in_any_language(language: str) -> None:
    findings = [
        make_finding(rule="正确率", metric="回答正确率", slice="语言=中文"),
        make_finding(rule="b", metric="answer_correct"),
        latency(metric="延迟", slice="地区=上海", unit="毫秒"),
    ]
    text = markdown.render(make_verdict(*findings), language=language)
    rows = text.split("```diff\n")[1].split("\n```")[0].splitlines()
    axis = {display_width(re.split("[│┼]", row)[0]) for row in rows[1:]}
    assert len(axis) == 1
    assert display_width(rows[0].split("0")[0]) == axis.pop()
    ends = [display_width(row[: row.rindex("≥")]) for row in rows[1:]]
    assert len(set(ends)) == 1


def test_a_line_never_ends_before_a_closing_mark() -> None:
    assert wrap_points("（样本）太少，q-0173。") == ["（样", "本）", "太", "少，", "q-0173。"]
    assert wrap_points("、9 对样本") == ["、", "9 对", "样", "本"]
    assert "".join(wrap_points("切片 language=de 的 a")) == "切片 language=de 的 a"
    assert wrap_points("answer_correct") == ["answer_correct"]


def test_the_policy_chooses_and_the_command_line_overrules_it() -> None:
    verdict = design_verdict()
    chinese = verdict.model_copy(update={"policy": verdict.policy.model_copy(update={"lang": "zh"})})
    assert "已拦截" in reports.render("text", chinese)
    assert "blocked" in reports.render("text", chinese, language="en")
    unknown = verdict.model_copy(update={"policy": verdict.policy.model_copy(update={"lang": "tlh"})})
    assert reports.render("text", unknown) == reports.render("text", verdict)
    with pytest.raises(KeyError, match="known: en, zh"):
        reports.render("text", verdict, language="tlh")


def test_the_verdict_itself_is_the_same_in_every_language() -> None:
    verdict = many_kinds_verdict()
    assert {reports.render("json", verdict, language=language) for language in languages()} == {
        verdict.to_json()
    }


def test_a_note_of_another_version_is_said_as_it_stands() -> None:
    """Keys and values come from a file, so one that is unknown or does not fit must not end the report."""
    odd: list[Remark | None] = [
        Remark(key="note.of-the-future", values={}),
        Remark(key="note.small-slice", values={"count": "many"}),
        Remark(key="note.small-slice", values={}),
        Remark(key="sentence", values={"text": Remark(key="gone", values={})}),
        None,
    ]
    notes = [f"english {number}" for number in range(7)]
    finding = make_finding(status="inconclusive", blocks=False, notes=notes, notes_said=odd)
    text = reports.render("text", make_verdict(finding), language="zh")
    assert all(note in text.replace("\n", " ") for note in notes)


def test_a_published_verdict_is_said_in_chinese_too() -> None:
    """What is read back from verdict.json has kept keys and values."""
    verdict = unlike_verdict()
    again = Verdict.model_validate_json(verdict.to_json(), strict=True)
    text = reports.render("text", again, language="zh")
    assert "基线的 212 道题中有 4 道不在候选中：'q-0000'、'q-0001'、'q-0002'、'q-0003'" in text
    assert text == reports.render("text", verdict, language="zh")


def test_every_and_counts_are_natural() -> None:
    say = load("zh").say
    assert say("count.pairs", count=1) == "1 对样本"
    verdict = make_verdict(every(status="fail"))
    text = reports.render("text", verdict, language="zh", width=200)
    assert "40 个样本（切片 regression_set）中有 3 个的 answer_correct 未达到“不低于 100%”" in text
