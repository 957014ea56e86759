"""YAML is read as a person reads it, and every trap of YAML 1.1 is a problem with its line."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateline.errors import PolicyError
from gateline.yaml_text import MOST_NODES, path_text, read_yaml


def data(text: str) -> object:
    document = read_yaml(text, "p.yml")
    assert document.problems == []
    return document.data


def problems(text: str) -> list[str]:
    return [str(problem) for problem in read_yaml(text, "p.yml").problems]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("NO", "NO"),
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("'~'", "~"),
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e-3", 0.001),
        ("1E-3", 0.001),
        ("1e4", 10000),
        ("'12'", "12"),
        ('"007"', "007"),
        ("2026-12-31", "2026-12-31"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("10%", "10%"),
        ("v1.3", "v1.3"),
        ("=", "="),
    ],
)
def test_a_plain_value_is_what_a_person_means(written: str, meant: object) -> None:
    found = data(f"key: {written}")
    assert found == {"key": meant}
    assert type(found["key"]) is type(meant)  # type: ignore[index]


def test_whole_numbers_in_exponent_form_are_whole() -> None:
    assert type(data("a: 1e4")["a"]) is int  # type: ignore[index]


@pytest.mark.parametrize("written", ["010", "-010", "0x1F", "0o17", "0b1", "00"])
def test_octal_and_the_like_are_refused_with_both_ways_out(written: str) -> None:
    (problem,) = problems(f"a: 1\nb: {written}")
    assert problem.startswith(
        f"p.yml:2  b: '{written}' can be read as a text, a decimal or an octal number  (write "
    )
    assert f"'{written}' in quotes for the text" in problem


@pytest.mark.parametrize(
    "written", [".nan", ".NaN", "nan", ".inf", "-.inf", "+.INF", "inf", "Infinity", "NaN"]
)
def test_nan_and_infinity_are_refused(written: str) -> None:
    assert problems(f"bound: {written}") == [
        f"p.yml:1  bound: must be a finite number, not '{written}'  (leave the key out for no bound)"
    ]


def test_a_number_beyond_all_bounds_is_refused() -> None:
    assert problems("bound: 1e999") == ["p.yml:1  bound: '1e999' is too large a number"]


def test_a_name_may_be_nan_or_inf() -> None:
    assert data("name: nan\nreason: inf") == {"name": "nan", "reason": "inf"}


def test_a_key_that_stands_twice_names_both_lines() -> None:
    assert problems("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n") == [
        "p.yml:5  b.c: 'c' stands twice here, first in line 3  (only one of them can be meant)"
    ]


def test_the_same_key_in_two_mappings_is_no_problem() -> None:
    assert data("[{a: 1}, {a: 2}]") == [{"a": 1}, {"a": 2}]


def test_merge_keys_tags_and_keys_that_are_no_text_are_refused() -> None:
    text = "base: &base {a: 1}\nsub:\n  <<: *base\nb: !!python/object:os.system x\n? [1]\n: 2\n"
    assert problems(text) == [
        "p.yml:3  sub: merge keys ('<<') are not supported  (write the values out)",
        "p.yml:4  b: the tag tag:yaml.org,2002:python/object:os.system is not allowed here  (leave it out)",
        "p.yml:5: a key must be a text",
    ]


def test_an_alias_is_what_it_stands_for() -> None:
    assert data("a: &x [1, 2]\nb: *x") == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a0: &a0 [1,1,1,1,1,1,1,1,1]\n"
        + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)),
    ],
)
def test_an_alias_that_multiplies_ends_at_once(text: str) -> None:
    with pytest.raises(PolicyError, match="too many or too deeply nested values"):
        read_yaml(text, "p.yml")


@pytest.mark.parametrize("text", ["[" * 200_000, "{a: " * 100_000, "- " * 100_000])
def test_nesting_without_end_is_an_error_and_no_crash(text: str) -> None:
    with pytest.raises(PolicyError, match="not YAML"):
        read_yaml(text, "p.yml")


def test_a_long_flat_list_stays_under_the_limit_of_values() -> None:
    assert len(data("[" + "1," * (MOST_NODES - 2) + "]")) == MOST_NODES - 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: [", "p.yml:3: not YAML: did not find expected node content"),
        ("a: 1\n\tb: 1", "p.yml:2: not YAML: found"),
        ("a: b\n---\nc: d", "p.yml:2: not YAML: but found another document"),
        ("a: *none", "p.yml:1: not YAML: found undefined alias"),
        ("a: \x00", "p.yml: not YAML: "),
    ],
)
def test_what_is_no_yaml_names_the_line(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        read_yaml(text, "p.yml")
    assert str(raised.value).startswith(said)


def test_every_key_and_item_knows_its_line() -> None:
    document = read_yaml("# comment\na: 1\nb:\n  - x: 1\n    y: 2\n  - 3\n", "p.yml")
    assert document.line(("a",)) == 2
    assert document.line(("b", 0, "y")) == 5
    assert document.line(("b", 1)) == 6
    assert document.line(("b", 0, "not there")) == 4
    assert document.place(("b", 0, "y")) == "p.yml:5  b[0].y"
    assert document.place(()) == "p.yml:2"
    assert document.raw[("b", 1)] == "3"


def test_a_path_is_written_like_code() -> None:
    assert path_text(("rules", 0, "at_most")) == "rules[0].at_most"


PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(
        st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\x85\u2028\u2029\ufeff"),
        max_size=12,
    ).filter(
        lambda text: text.lower().lstrip("+-") not in ("inf", "infinity", "nan")
    ),  # refused: a bound may be meant
)
KEYS = st.text("abcdefgh_", min_size=1, max_size=5)


@given(
    st.recursive(
        PLAIN,
        lambda part: st.lists(part, max_size=4) | st.dictionaries(KEYS, part, max_size=4),
        max_leaves=12,
    )
)
def test_what_pyyaml_writes_is_read_back(value: object) -> None:
    """The oracle is PyYAML's own writer: it quotes whatever YAML 1.1 would read otherwise."""
    document = read_yaml(yaml.safe_dump(value, allow_unicode=True), "p.yml")
    assert document.problems == []
    assert document.data == value


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but a PolicyError may come out, whatever the file holds."""
    try:
        read_yaml(text.encode("utf-8", "ignore").decode(), "p.yml")
    except PolicyError as error:
        assert str(error).startswith("p.yml")
