"""The HTML report: well formed, alone, harmless, readable, and showing nothing but the verdict's numbers."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateline import gate, reports
from gateline.reports import charts, html
from gateline.texts import load
from gateline.verdict import Curve, Spread, Verdict
from gateline.wording import describe
from runs import DAY

from .hostile import ATTACKS, replace_texts, texts
from .layered import whole_system_verdict
from .verdicts import (
    design_verdict,
    every,
    fine_verdict,
    huge_verdict,
    improvement,
    invalid_verdict,
    loosened_verdict,
    make_finding,
    many_kinds_verdict,
    span,
)

ROOT = Path(__file__).resolve().parents[3]
STYLE = (Path(html.__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
MAKERS = [
    design_verdict,
    fine_verdict,
    loosened_verdict,
    invalid_verdict,
    many_kinds_verdict,
    whole_system_verdict,
]
VOID = {"meta", "br", "link", "img", "input", "hr"}
EMPTY_SVG = {"line", "rect", "circle", "polygon", "polyline"}


class Tree(HTMLParser):
    """A page as a list of elements, checked for balance while it is read."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str], tuple[str, ...]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.comments: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute stands twice on {tag}"
        self.elements.append((tag, {name: value or "" for name, value in attrs}, tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open and "pre" not in self.open:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes, _ in self.elements if name == tag]


@pytest.mark.parametrize("make", MAKERS)
def test_a_page_is_well_formed_and_can_be_found_through(make: Any) -> None:
    page = Tree(html.render(make()))
    ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes, _ in page.elements:
        for word in attributes.get("aria-labelledby", "").split():
            assert word in ids
        if tag == "a":
            assert attributes["href"].removeprefix("#") in ids
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("main")) == len(page.all("h1")) == len(page.all("title")) - count_drawn(page) == 1


def count_drawn(page: Tree) -> int:
    """Titles that stand inside of drawings."""
    return sum(tag == "title" and "svg" in inside for tag, _, inside in page.elements)


@pytest.mark.parametrize("make", MAKERS)
def test_tables_and_drawings_say_what_they_are(make: Any) -> None:
    page = html.render(make())
    tree = Tree(page)
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        assert re.search(r"<caption>\s*\S", table)
        assert re.search(r"<th scope=", table)
        assert not re.search(r"<th(?! scope=|ead)", table)
        widths = {row.count("<td") for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)} - {0}
        assert widths == {len(re.findall(r'scope="col"', table))}
    for tag, attributes, inside in tree.elements:
        if tag == "svg" and "svg" not in inside:
            assert attributes.get("aria-hidden") == "true" or (
                attributes["role"] == "img" and attributes["aria-labelledby"]
            )


@pytest.mark.parametrize("make", MAKERS)
def test_a_page_needs_nothing_from_elsewhere_and_runs_nothing(make: Any) -> None:
    page = html.render(make())
    tree = Tree(page)
    policy = tree.all("meta")[1]
    assert policy["http-equiv"] == "Content-Security-Policy"
    rules = dict(part.strip().split(" ", 1) for part in policy["content"].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == "'unsafe-inline'"
    assert "script-src" not in rules
    forbidden = {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "use",
        "image",
        "base",
        "form",
        "foreignobject",
    }
    assert not forbidden & {tag for tag, _, _ in tree.elements}
    for tag, attributes, _ in tree.elements:
        for name, value in attributes.items():
            assert not name.startswith("on"), f"{tag} {name}"
            assert name not in ("src", "srcset", "style", "xlink:href", "action")
            assert "://" not in value
    assert not re.search(r"url\(|@import|expression\(|://", STYLE)
    assert tree.comments == []


@pytest.mark.parametrize("make", MAKERS)
def test_the_same_verdict_makes_the_same_bytes(make: Any) -> None:
    verdict = make()
    assert html.render(verdict) == html.render(make())
    assert html.render(Verdict.model_validate_json(verdict.to_json())) == html.render(
        Verdict.model_validate_json(verdict.to_json())
    )
    assert reports.render("html", verdict) == html.render(verdict)


@pytest.mark.parametrize("attack", ATTACKS)
def test_texts_from_files_stay_texts(attack: str) -> None:
    for make in (design_verdict, whole_system_verdict, loosened_verdict, invalid_verdict):
        check_harmless(make(), attack)


@settings(max_examples=40)
@given(texts)
def test_any_text_stays_a_text(text: str) -> None:
    check_harmless(whole_system_verdict(), text)


def check_harmless(verdict: Verdict, text: str) -> None:
    """The page has the elements and attributes that it has with a harmless text, and no character that hides."""
    page = html.render(replace_texts(verdict, text))
    page.encode("utf-8")
    hostile, harmless = Tree(page), Tree(html.render(replace_texts(verdict, "abc")))
    assert shape(hostile) - shape(harmless) <= Counter({"br": 0})
    assert hostile.comments == []
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]", page)


def shape(tree: Tree) -> Counter[Any]:
    """Every element with the names of its attributes, and the values of those that no text may reach."""
    return Counter(
        (tag, *sorted(attributes), attributes.get("class"), attributes.get("href"), attributes.get("content"))
        for tag, attributes, _ in tree.elements
    )


def numbers_of(value: Any) -> list[float]:
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int | float):
        return [float(value)]
    if isinstance(value, str):
        return [float(word.replace(",", "")) for word in re.findall(r"\d[\d,]*(?:\.\d+)?", value)]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [number for key, item in items for number in (*numbers_of(str(key)), *numbers_of(item))]


@pytest.mark.parametrize("make", [design_verdict, fine_verdict, whole_system_verdict, loosened_verdict])
def test_every_number_on_the_page_stands_in_the_verdict(make: Any) -> None:
    verdict = make()
    data = json.loads(verdict.to_json())
    known = {abs(number) for number in numbers_of(data)}
    known |= {
        abs(f.threshold * f.baseline) for f in verdict.findings if f.threshold and f.baseline
    }  # 10 % of it
    listed = {float(count) for count in range(len(verdict.findings) + 1)}  # how many rows stand in a table
    rounded = [(number, factor) for number in known for factor in (1.0, 100.0)]
    page = re.sub(r"P(50|90|95|99)\b", "", Tree(html.render(verdict)).text)
    for word in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*[a-z])", page):
        shown = float(word.replace(",", ""))
        decimals = len(word.partition(".")[2])
        step = 0.5 * 10.0**-decimals + 1e-9
        three_digits = 0.005 * abs(shown)
        assert shown in listed or any(
            abs(number * factor - shown) <= max(step, three_digits * (decimals == 0 and shown >= 1000))
            for number, factor in rounded
        ), f"{word} stands on the page only"


def palette(scheme: str) -> dict[str, str]:
    """The colours of the style sheet in the light or the dark."""
    parts = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    light = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", parts[0]))
    return (
        light if scheme == "light" else {**light, **dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", parts[1]))}
    )


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """WCAG 2.2, contrast ratio."""
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_formula_of_contrast_knows_black_and_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read_and_drawings_be_seen(scheme: str) -> None:
    colours = palette(scheme)
    for ground in ("page", "card", "soft"):
        for ink in ("text", "quiet", "accent", "fail", "warn", "pass", "other"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for tone in ("fail", "warn", "pass"):
        assert contrast(colours[tone], colours[f"{tone}-soft"]) >= 4.5
        assert contrast(colours[tone], colours["allowed"]) >= 3
    assert contrast(colours["text"], colours["fail-soft"]) >= 4.5
    assert contrast(colours["text"], colours["allowed"]) >= 3
    assert palette("light").keys() == palette("dark").keys()


def test_paper_is_light_and_colours_come_from_the_palette() -> None:
    dark = STYLE.index("prefers-color-scheme: dark")
    assert STYLE[:dark].endswith("@media screen and (")
    assert "@media print" in STYLE
    rules = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    assert set(re.findall(r"#[0-9a-f]{3,8}\b", rules)) <= {"#ffffff"}
    used = set(re.findall(r"var\(--([\w-]+)\)", STYLE))
    assert used <= palette("light").keys()


@pytest.mark.parametrize("make", [design_verdict, many_kinds_verdict, whole_system_verdict])
def test_every_check_and_sample_is_there(make: Any) -> None:
    verdict = make()
    page = Tree(html.render(verdict))
    assert len([one for one in page.all("svg") if one.get("class", "").startswith("bar ")]) == len(
        verdict.findings
    )
    for finding in verdict.findings:
        assert describe(finding).replace("  ", " ") in page.text
    for sample in (*verdict.worst, *verdict.changed_samples):
        assert sample.id in page.text


def test_the_parts_stand_in_the_order_of_the_diagnosis() -> None:
    page = Tree(html.render(whole_system_verdict()))
    ids = [attributes["id"] for tag, attributes, _ in page.elements if tag == "section"]
    assert ids == ["glance", "diagnosis", "compared", "retrieval", "context", "generation", "citation", "system",
                   "other", "slices", "samples", "next"]  # fmt: skip
    assert "look at retrieval" in page.text


def test_no_verdict_says_why_and_shows_no_empty_parts() -> None:
    page = Tree(html.render(invalid_verdict()))
    assert "must be 'higher' or 'lower', not 'lwer'" in page.text
    assert "did you mean 'at_most'?" in page.text
    assert [one["id"] for one in page.all("section")] == ["compared", "next"]


def test_many_checks_still_make_a_page() -> None:
    verdict = huge_verdict(900, wide=True)
    page = Tree(html.render(verdict))
    assert len(page.all("svg")) >= 900


def bar(**changed: Any) -> str:
    return str(charts.forest_row(make_finding(**changed), "k", load()))


def across(svg: str, kind: str) -> list[float]:
    return [float(x) for x in re.findall(rf'class="{kind}"[^>]*? c?x1?="([\d.]+)%"', svg)]


gains = st.floats(-0.19, 0.19, allow_nan=False).filter(lambda gain: abs(gain) > 1e-3)


@given(st.tuples(gains, gains, gains))
def test_a_bar_stands_where_its_numbers_are(numbers: tuple[float, float, float]) -> None:
    """The bound of −0.05 is an eighth of the width left of the middle, so all places follow by proportion."""
    low, value, high = sorted(numbers)
    svg = bar(gain=value, interval=span(low, high))
    place = {"dot": value, "bound": -0.05}
    for kind, number in place.items():
        assert across(svg, kind) == [pytest.approx(50 + number / 0.05 * 12, abs=0.006)]
    assert across(svg, "span")[0] == pytest.approx(50 + low / 0.05 * 12, abs=0.006)
    assert across(svg, "allowed") == across(svg, "bound")


def test_a_bar_that_leaves_the_drawing_ends_in_an_arrow() -> None:
    svg = bar(gain=-0.3, interval=span(-0.9, -0.1))
    assert svg.count("<polygon") == 1
    assert 'class="dot"' not in svg
    assert bar(gain=-0.1, interval=span(-0.9, 0.9)).count("<polygon") == 2


def test_what_has_no_number_has_an_axis_only() -> None:
    svg = str(charts.forest_row(every(), "k", load()))
    assert re.findall('class="(\\w+)"', svg) == ["axis"]


def test_an_improvement_is_allowed_from_its_bound_on() -> None:
    svg = str(charts.forest_row(improvement(), "k", load()))
    assert across(svg, "allowed") == across(svg, "bound") == [62.0]


def test_bars_of_a_spread_are_as_high_as_their_counts() -> None:
    spread = Spread(metric="m", show_as="percent", unit=None, samples=20, same=3, worse=12, better=5,
                    edges=[0.0, 0.5, 1.0], worse_bars=[4, 8], better_bars=[5, 0], farthest_worse=-1.0,
                    farthest_better=0.4)  # fmt: skip
    svg = str(charts.spread_chart(spread, "k", load()))
    found = re.findall(r'<rect class="(\w+)" x="([\d.]+)%" .*? height="([\d.]+)"><title>(.*?)<', svg)
    assert [(name, float(height)) for name, _, height, _ in found] == [
        ("worse", 50.0), ("worse", 100.0), ("better", 62.5)
    ]  # fmt: skip
    assert float(found[1][1]) < float(found[0][1]) < 50 < float(found[2][1])
    assert found[1][3] == "8 pairs: −50 points … −100 points and beyond"


def test_a_curve_rises_and_ends_at_its_longest_time() -> None:
    curve = Curve(metric="p95", field="latency_ms", unit="ms", samples=9, probabilities=[0.1, 0.5, 0.9],
                  baseline=[10.0, 20.0, 40.0], candidate=[20.0, 40.0, 80.0])  # fmt: skip
    svg = str(charts.curve_chart(curve, "k", load()))
    lines = dict(re.findall(r'<polyline class="(\w+)" points="([^"]*)"', svg))
    assert lines == {"before": "12.5,90 25,50 50,10", "after": "25,90 50,50 100,10"}
    assert "80 ms" in svg
    alone = str(charts.curve_chart(curve.model_copy(update={"baseline": None}), "k", load()))
    assert 'class="before"' not in alone


def test_the_real_gate_makes_a_page_with_its_own_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    data = "gates/data/refchecker"
    verdict = gate.check("gates/rag.yml", f"{data}/baseline.jsonl", f"{data}/candidate.jsonl", on=DAY)
    page = Tree(html.render(verdict))
    assert {finding.layer for finding in verdict.findings} == {"generation", "citation", "system"}
    assert "More questions that could be answered are declined" in page.text
    assert "In text_given" in page.text.replace(" .", ".")
    for spread in verdict.spreads:
        assert f"{spread.worse:,} worse" in page.text
    assert len(verdict.because) >= 1
    assert all(sentence in page.text for sentence in verdict.because)


def test_the_template_says_nothing_of_its_own() -> None:
    """All fixed words come from the catalogue, so that another language replaces all of them."""
    source = (Path(html.__file__).parent / "templates" / "report.html.j2").read_text(encoding="utf-8")
    assert all(load().knows(key) for key in re.findall(r'say\("([^"]+)"\)', source))
    bare = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", source, flags=re.DOTALL)
    assert re.findall(r"[A-Za-z]{2,}", re.sub(r"<[^>]*>", " ", bare)) == []
    labels = re.findall(r'(?:aria-label|data-label|title)="([^"]*)"', source)
    assert all(label.startswith("{{") for label in labels)
