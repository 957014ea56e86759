"""Texts that want to be more than text, and what a page shows of them."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import cmarkgfm
from cmarkgfm.cmark import Options
from hypothesis import strategies as st

from gateline.reports.escape import JOINER
from gateline.verdict import Verdict

ATTACKS = [
    (
        "@acme/security | **all green** | [details](http://evil.example/x) <img src=x> <!-- gateline: support-rag --> "
        "`code` ![p](http://evil.example/p.png) #1 \n## Gate: PASS"
    ),
    "</details>\n\n# passed\n",
    "``` \n```\n# out",
    "|a|b|\n|---|---|\n|c|d|",
    "\\| \\` \\\\|",
    "`|`",
    "::error file=x::y\n::set-output name=verdict::pass",
    "##[add-mask]secret",
    "\x1b[31mred\x1b[0m\r\n\x07\x00",
    "\u202etxet neddih\u2066\u2069\ufeff\u200b",
    "http://evil.example www.evil.example a@evil.example mailto:a@evil.example ftp://x.example",
    "GH-12 acme/app#12 #34 !5 &6 %7 $8 ~9 :x: :+1: deadbeefcafe",
    "]]> <![CDATA[ &amp; &#0; &lt;",
    "--> <!-- - -->",
    "- item\n1. item\n> quote\n=====\n    code",
    "_www.evil.example",
    "    code after four blanks",
    "$x$ $`y`$ ~~gone~~ _em_ *em* [x]: y",
    "%0A::error::x %25",
    "{{ 7 * 7 }} {% raw %} {# no #}",
    "语言=中文 ｗｉｄｅ 👩‍👩‍👧 é" + "́" * 30,
    "x" * 5000,
    " leading and trailing ",
    "",
    "\ud800 lone \ufffe \uffff",
    "eu\nEOF\nverdict=pass\nexit_code=0\nx<<EOF",
]

fragments = st.sampled_from(
    ["`", "``", "|", "\\", "*", "_", "[", "](", ")", "<", ">", "<b", "<!--", "-->", "\n", "\n\n", "\r", "#", "# ", "@a",
     "::", "\n::", "##[", "&", "&lt;", "~~", "$", "!", "http://x.y", "www.x.y", "a@b.co", "\t", "\x1b[1m", "\u202e",
     "\u2028", "1. ", "- ", "+ ", "=", "\x00", "ÿ", "中", "%", ",", "\"", "'", "{{", "}}", "abcdef0", ":a:", "GH-1"]
)  # fmt: skip
texts = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(max_size=40),
    st.lists(fragments | st.text("ab \\", max_size=3), max_size=12).map("".join),
)


class Page(HTMLParser):
    """The tags of a page, and its text outside code and inside it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.open: list[str] = []
        self.text = ""
        self.prose = ""
        self.comments: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag not in ("img", "br", "hr", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        self.prose += "□" if {"code", "pre"} & set(self.open) else data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def show(markdown: str) -> Page:
    """Render as GitHub does, but with HTML let through: what would be left to its sanitizer is seen here."""
    html = cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)
    return Page(html)


REFERENCES = re.compile(
    r"(?<![A-Za-z0-9_])@[A-Za-z0-9]"  # GitHub: a mention
    r"|(?:^|\W)#\d|\bGH-\d|\w#\d"  # an issue
    r"|https?://|\bwww\."  # a link
    r"|:[a-z0-9_+-]+:"  # emoji
    r"|\b(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"  # a commit
    r"|[!&%~$]\d"  # GitLab: merge request, epic, milestone, label, snippet
)
"""What GitHub and GitLab make links of in the text of a page, after Markdown."""


def unjoined(text: str) -> str:
    return text.replace(JOINER, "")


_FIXED = {"kind", "status", "direction", "show_as", "judged", "of", "decide_by", "on_inconclusive", "verdict",
          "fail_on", "run", "counted_as", "schema", "layer"}  # fmt: skip
_FREE_KEYS = {"provenance", "slices"}
_RULES = {"must_match", "may_change", "unlisted"}


def with_text(value: Any, text: str) -> Any:
    """The same data with every free text replaced, however deep it lies, names of facts and slices too."""
    if isinstance(value, dict):
        changed = {key: item if key in _FIXED else with_text(item, text) for key, item in value.items()}
        for key in _FREE_KEYS & changed.keys():
            values = list(changed[key].values())
            changed[key] = dict.fromkeys([text], values[0]) if values else {}
        return changed
    if isinstance(value, list):
        return [with_text(item, text) for item in value]
    return text if isinstance(value, str) and value not in _RULES else value


def replace_texts(verdict: Verdict, text: str) -> Verdict:
    """The same verdict, every text of which came from the same file."""
    return Verdict(**with_text(verdict.model_dump(mode="json", by_alias=True), text))
