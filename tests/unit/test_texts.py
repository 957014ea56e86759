"""The catalogue of texts: every language has the same keys and fields, its forms are right, and it is used whole."""

from __future__ import annotations

import re
import string
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import gateline
from gateline import texts
from gateline.texts import Texts, languages, load

SOURCE = Path(gateline.__file__).parent
KEYS = sorted(load()._templates)


def templates(language: str, key: str) -> Mapping[str, str]:
    """The templates of a key by form."""
    found = load(language)._templates[key]
    return {"other": found} if isinstance(found, str) else found


def fields(template: str) -> Iterator[str]:
    for _, name, form, conversion in string.Formatter().parse(template):
        if name is not None:
            assert re.fullmatch("[a-z_]+", name), f"{template!r}: a field has a name and nothing else"
            assert not form and not conversion, f"{template!r}: a field is shown as it is"
            yield name


def test_the_languages_are_the_files_of_the_folder() -> None:
    assert languages() == ("en", "zh")
    with pytest.raises(KeyError, match="no language is called 'xx'; known: en, zh"):
        load("xx")


def test_only_the_language_asked_for_is_read() -> None:
    import subprocess

    code = "import sys; from gateline.texts import load; load(); print('gateline.texts.zh' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"


@pytest.mark.parametrize("language", languages())
def test_every_language_has_the_same_keys(language: str) -> None:
    assert sorted(load(language)._templates) == KEYS


@pytest.mark.parametrize("language", languages())
def test_a_text_has_the_fields_of_the_english_one(language: str) -> None:
    """Each of its forms, too; only the count may be left out, where a language says it otherwise."""
    for key in KEYS:
        wanted = {name for text in templates("en", key).values() for name in fields(text)}
        for template in templates(language, key).values():
            assert set(fields(template)) | {"count"} == wanted | {"count"}, key


@pytest.mark.parametrize("language", languages())
def test_a_text_with_forms_has_all_that_the_language_knows(language: str) -> None:
    known = {*load(language)._forms, "other"}
    for key in KEYS:
        found = load(language)._templates[key]
        assert isinstance(found, str) or set(found) == known, key


@pytest.mark.parametrize("language", languages())
def test_texts_are_words_without_any_markup(language: str) -> None:
    """They stand in Markdown, HTML, XML and workflow commands as they are."""
    for key in KEYS:
        if key.startswith(("problem.", "hint.", "note.", "notice.")):
            continue  # these hold texts from files, so they are escaped as a whole
        for template in templates(language, key).values():
            words = re.sub(r"\{[a-z_]+\}", "", template)
            assert not re.search(r"[<>&`*_#|\\~^$\n\r]|::|!\[", words), (key, words)


USED = re.compile(r'">?([a-z]+(?:[.-][\w-]+)*)"|f"([a-z-]+\.)\{|f"([a-z-]+\.[a-z-]+-)\{')


def test_no_text_is_there_for_nothing() -> None:
    """Each key stands in the code as it is, or begins as a key does that the code puts together."""
    whole: set[str] = set()
    begun: set[str] = set()
    for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.j2")]:
        if path.parent.name == "texts":
            continue
        for exact, *parts in USED.findall(path.read_text(encoding="utf-8").replace("'", '"')):
            whole.add(exact)
            begun |= {part for part in parts if part}
    unused = [key for key in KEYS if key not in whole and not key.startswith(tuple(begun))]
    assert unused == []


SAID = re.compile(r'\b(?:say|said|_say|_more|Note)\(\s*"([\w.-]+)"')


def test_every_text_that_is_asked_for_is_there() -> None:
    asked = {
        key
        for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.j2")]
        for key in SAID.findall(path.read_text(encoding="utf-8"))
    }
    assert len(asked) > 150
    assert sorted(key for key in asked - set(KEYS) if "." in key) == []


COUNTS = {
    # CLDR's samples of whole numbers
    "n = 1": ([1], [0, 2, 11, 21]),
    "n = 0,1": ([0, 1], [2, 10]),
    "n % 10 = 1 and n % 100 != 11": ([1, 21, 101, 1001], [0, 5, 11, 111]),
    "n % 10 = 2..4 and n % 100 != 12..14": ([2, 3, 4, 22, 104, 1002], [0, 1, 5, 12, 14, 112]),
    "n = 0 or n % 100 = 2..10": ([0, 2, 10, 102], [1, 11, 20, 101]),
}


@pytest.mark.parametrize("rule", COUNTS)
def test_plural_rules_are_read_as_cldr_writes_them(rule: str) -> None:
    one = Texts("xx", "xx", {"key": {"few": "few", "other": "other"}}, {"few": rule})
    inside, outside = COUNTS[rule]
    assert {one.say("key", count=count) for count in inside} == {"few"}
    assert {one.say("key", count=count) for count in outside} == {"other"}


def test_a_rule_that_is_not_understood_is_refused() -> None:
    for rule in ("n > 1", "i = 1", "n = 1 und n = 2", ""):
        with pytest.raises(ValueError, match="not a relation of a plural rule"):
            Texts("xx", "xx", {}, {"one": rule})


def test_values_are_put_in_and_never_read_as_templates() -> None:
    one = Texts("xx", "xx", {"key": "{b} before {a}: {{kept}}"}, {})
    assert one.say("key", a="{b}", b="{a.__class__}") == "{a.__class__} before {b}: {kept}"
    with pytest.raises(KeyError):
        one.say("key", a="only one")


def test_counts_have_commas_between_thousands() -> None:
    assert load().say("count.checks", count=1) == "1 check"
    assert load().say("count.checks", count=1_200) == "1,200 checks"
    assert load("zh").say("count.checks", count=1_200) == "1,200 项检查"


GERMAN = '''"""German, made up for a test."""
from gateline.texts.en import TEXTS as ENGLISH
TAG = "de"
FORMS = {"one": "n = 1"}
BREAKS_BETWEEN_CHARACTERS = False
TEXTS = {**ENGLISH, "outcome.blocked": "blockiert", "unit.points": " Punkte", "joint.list": " / "}
'''


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A third language is one file."""
    (tmp_path / "de.py").write_text(GERMAN, encoding="utf-8")
    monkeypatch.setattr(texts, "__path__", [*texts.__path__, str(tmp_path)])
    languages.cache_clear()
    yield
    languages.cache_clear()
    load.cache_clear()
    sys.modules.pop("gateline.texts.de", None)


def test_a_third_language_is_one_file(german: None, tmp_path: Path) -> None:
    from reports.verdicts import design_verdict

    from gateline import reports
    from gateline.cli.arguments import make_parser

    assert languages() == ("de", "en", "zh")
    page = reports.render("html", design_verdict(), language="de")
    assert '<html lang="de">' in page and "blockiert" in page and "14.4 Punkte worse" in page
    assert "14.4 Punkte worse" in reports.render("text", design_verdict(), language="de")
    options = make_parser().parse_args(["check", "--policy", "p", "--candidate", "c", "--lang", "de"])
    assert options.lang == "de"
