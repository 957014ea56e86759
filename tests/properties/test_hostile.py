"""Whatever stands in the files: there is a verdict, its files are well-formed, and nothing passes by accident."""

from __future__ import annotations

import io
import json
import os
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml
from hypothesis import given
from hypothesis import strategies as st
from worlds import ON, World, files_of, policy_of, to_lines, tries

from gateline.cli import run
from gateline.gate import check
from gateline.verdict import Verdict

NASTY = (
    "\x00", "\x1b[31mred\x1b[0m", "\r\n::error::owned", "::set-output name=verdict::pass", "a|b|c", "`" * 5, "<script>",
    "</details>", "<!-- gateline -->", "-->", "]]>", "&amp;", "@everyone #1 GH-2", "http://example.org", "[x](y)",
    "~~~",
    "\u202eevil", "\u2028", "\ufeff", "\ud7ff", "日本語", "e\u0301", "\U0001f600", "\t", "  ", "=", "a=b", "(none)",
    "null", "NaN", "no", "1e5", "007", "{{ 7*7 }}", "{% raw %}", "%s %d", "..\\..\\x", "../../x", "'", '"', "\\",
    "|", "\n", "# heading", "- item", "> quote", "\x7f", "\x9b31m", "ÿ" * 300,
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
    st.lists(st.sampled_from(NASTY), min_size=2, max_size=4).map("".join),
)
NAMES = TEXTS.filter(lambda text: bool(text.strip()))


@st.composite
def hostile_worlds(draw: st.DrawFn) -> World:
    """Draw two runs and a policy in which every text is hostile."""
    number = draw(st.integers(2, 5))
    ids = draw(st.lists(NAMES, min_size=number, max_size=number, unique=True))
    metric, label = draw(NAMES), draw(NAMES.filter(lambda text: "=" not in text))
    values = [draw(TEXTS) for _ in ids]
    questions = [draw(TEXTS) for _ in ids]
    facts = {draw(NAMES): draw(TEXTS), "model": draw(TEXTS)}

    def side(scores: list[int]) -> list[dict[str, Any]]:
        return [
            {"id": one, "slices": {label: value}, "metrics": {metric: score}, "question": asked, "note": value, **error}
            for one, value, asked, score, error in zip(ids, values, questions, scores, errors, strict=True)
        ]  # fmt: skip

    errors = [
        draw(st.sampled_from([{}, {}, {"error": "x" + draw(TEXTS)}, {"error": "no_answer"}])) for _ in ids
    ]
    header = [{"gateline": 1, "run": facts}]
    drawn = [
        {"kind": "tolerance", "metric": metric, "worse_by_at_most": 0.1, "slices": True},
        {"kind": "limit", "metric": metric, "at_least": 0.5},
        {"kind": "every", "metric": metric, "at_least": 1},
    ]
    names = draw(st.lists(NAMES, min_size=3, max_size=3, unique=True))
    policy = policy_of(
        [{**rule, "id": name} for rule, name in zip(drawn, names, strict=True)],
        name=draw(NAMES),
        description=draw(TEXTS),
        metrics={metric: {"better": "higher", "range": [0, 1], "unit": draw(NAMES)}},
        slices={"by": [label], "at_least": 1},
        provenance={"may_change": [draw(NAMES)]},
    )
    if draw(st.booleans()):
        policy["waivers"] = [
            {"rule": names[1], "up_to": 0.1, "until": "2026-06-05", "by": draw(NAMES), "reason": draw(NAMES)}
        ]
    scores = draw(st.lists(st.integers(0, 1), min_size=number, max_size=number))
    return World([*header, *side([1] * number)], [*header, *side(scores)], policy)


def _runs_whole(world: World, *arguments: str) -> tuple[int, str, str]:
    """Run the command line in this process on the world's files, and return exit code and both streams."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(["check", "--policy", "policy.yml", "--baseline", "baseline.jsonl", "--candidate", "candidate.jsonl",
                    "--on", ON.isoformat(), *arguments])  # fmt: skip
    return code, out.getvalue(), err.getvalue()


def _write_policy(world: World, unicode: bool) -> None:
    """Write the policy as a person's tools do: JSON's pairs of surrogates are no YAML."""
    text = yaml.safe_dump(world.policy, allow_unicode=unicode, sort_keys=False)
    Path("policy.yml").write_text(text, encoding="utf-8", newline="")


@tries(50)
@given(hostile_worlds(), st.booleans())
def test_any_text_in_any_field_leaves_every_file_well_formed(world: World, unicode: bool) -> None:
    with files_of(world):
        _write_policy(world, unicode)
        code, out, err = _runs_whole(world, "--output-dir", "out", "--with-excerpts")
        assert "bug in gateline" not in out + err
        texts = {path.name: path.read_bytes().decode("utf-8") for path in Path("out").iterdir()}
    assert texts.keys() == {"verdict.json", "comment.md", "junit.xml", "report.html"}
    told = json.loads(texts["verdict.json"], parse_constant=_refuse, object_pairs_hook=_refuse_repeats)
    assert told["exit_code"] == code
    assert Verdict.model_validate(told).to_json() == texts["verdict.json"]
    ElementTree.fromstring(texts["junit.xml"])
    assert len(texts["comment.md"].encode()) < 65_536
    for text in (out, texts["comment.md"]):
        _expect_harmless(text)
    if told["verdict"] != "invalid":
        _expect_kept(told, world)


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def _expect_harmless(text: str) -> None:
    assert not any(ord(char) < 32 and char != "\n" for char in text)
    assert not any(char in text for char in "\x7f\x9b\u2028\u202e")
    for line in text.split("\n"):
        assert not line.startswith("::")


def _expect_kept(told: dict[str, Any], world: World) -> None:
    """In verdict.json every text is as it was."""
    assert told["policy"]["name"] == world.policy["name"]
    assert {finding["rule"] for finding in told["findings"]} == {rule["id"] for rule in world.policy["rules"]}
    assert {finding["metric"] for finding in told["findings"]} == set(world.policy["metrics"])
    known = {record["id"] for record in world.candidate[1:]}
    assert {one for finding in told["findings"] for one in finding["failing"]} <= known


@tries(40)
@given(hostile_worlds(), st.sampled_from(["text", "markdown", "json", "junit"]))
def test_every_report_on_stdout_is_whole_whatever_the_texts_are(world: World, form: str) -> None:
    with files_of(world):
        _write_policy(world, unicode=True)
        code, out, err = _runs_whole(world, "--format", form)
    assert code in (0, 1, 2)
    assert "bug in gateline" not in out + err
    if form == "json":
        assert json.loads(out, parse_constant=_refuse)["exit_code"] == code
    if form == "junit":
        ElementTree.fromstring(out)


# ---- bytes

BASE = policy_of(
    [{"kind": "limit", "metric": "ok", "at_least": 0.0}],
    metrics={"ok": {"better": "higher", "range": [0, 1]}},
)
LINES = to_lines([{"id": f"q{number}", "metrics": {"ok": 1}} for number in range(4)]).encode()
CSV = b"id,ok\nq0,1\nq1,1\nq2,1\nq3,1\n"
GOOD = {"policy": json.dumps(BASE).encode(), "baseline": LINES, "candidate": LINES}
PIECES = (
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"\n", b"\r\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"PAR1",
    b"PK\x03\x04", b"\x1f\x8b",
    b"id", b'{"id": "q1", "metrics": {"ok": 1}}', b"null", b"NaN", b"-Infinity", b"1e999",
    b"- &a [*a, *a]",
    b"!!python/object:os.system", b"<<: *a", b"---\n", b"%YAML 9.9\n", b"\t", b"version: 1\n", b"? [a]\n",
    b"9" * 5000,
    b"[" * 3000, b"\xed\xa0\x80", b'"\\ud800"', b"sep=;\n", b"id;ok\n", b"\xc3",
)  # fmt: skip
RAW = st.one_of(
    st.binary(max_size=80),
    st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=6)), max_size=12).map(b"".join),
)


@st.composite
def damaged(draw: st.DrawFn, good: bytes) -> bytes:
    """Draw arbitrary bytes, or a good file with a hole, a flip or something put in."""
    if draw(st.booleans()):
        return draw(RAW)
    start = draw(st.integers(0, len(good)))
    end = min(len(good), start + draw(st.integers(0, 40)))
    return good[:start] + draw(RAW) + good[end:]


@tries(200)
@given(
    st.data(),
    st.sampled_from(["policy", "baseline", "candidate", "golden set"]),
    st.sampled_from([LINES, CSV]),
)
def test_arbitrary_bytes_never_crash_and_never_pass_unseen(
    data: st.DataObject, which: str, form: bytes
) -> None:
    """A file that is damaged gives no verdict, unless what is left of it is a whole file of the same samples."""
    texts = {**GOOD, "baseline": form, "candidate": form}
    if which == "golden set":
        policy = {**BASE, "samples": {"at_least": 2, "golden_set": "golden.jsonl"}}
        texts |= {"policy": json.dumps(policy).encode(), "golden set": LINES}
    texts[which] = data.draw(damaged(texts[which]))
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="gateline-property-") as folder:
        try:
            os.chdir(folder)
            names = {
                "policy": "policy.yml",
                "baseline": "b.jsonl",
                "candidate": "c.jsonl",
                "golden set": "golden.jsonl",
            }
            for role, content in texts.items():
                Path(names[role]).write_bytes(content)
            verdict = check("policy.yml", "b.jsonl", "c.jsonl", on=ON)
        finally:
            os.chdir(here)
    json.loads(verdict.to_json(), parse_constant=_refuse)
    if verdict.verdict == "invalid":
        assert verdict.exit_code == 2
        assert verdict.problems
    elif which in ("baseline", "candidate"):
        facts = verdict.candidate if which == "candidate" else verdict.baseline
        assert facts is not None
        assert facts.samples is not None
        assert facts.samples >= 4
        assert all(f"q{number}".encode() in texts[which] for number in range(4))
