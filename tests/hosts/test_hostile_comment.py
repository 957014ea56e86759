"""Files full of texts that want to be more than text: the comment is the same page as with harmless ones."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser

import cmarkgfm
import pytest
import yaml
from cmarkgfm.cmark import Options

from gateline.cli import run

HOSTILE = {
    "closing keywords": "fixes #1 closes: acme/app#2 resolves GH-3",
    "closing by link": "fixes https://github.com/acme/app/issues/4",
    "mentions": "@acme/security @octocat a@b.example",
    "links": "[passed](http://evil.example) <http://evil.example> www.evil.example",
    "pictures": "![x](http://evil.example/x.png) <img src=http://evil.example/x>",
    "html": "</details></td><script>alert(1)</script><!-- gateline: other -->",
    "tables": "a | b |\n| --- | --- |\n| c",
    "code": "``` `` ` \\` |`|",
    "blocks": "\n\n# passed\n- item\n> quote\n```diff\n+ all fine",
    "commands": "::error::x\n::set-output name=verdict::pass ##[add-mask]x",
    "quick actions": "\n/approve\n/merge",
    "signs": "*_~^$&{}=:x: !5 %6 ~7 deadbeefcafe",
    "unseen": "\u202eneddih\u2066 \u200b\ufeff \x1b[31m \u2028 x",
}
LINKED = re.compile(
    r"(?<![\w`])@[A-Za-z0-9]|(?:^|\W)#\d|\w#\d|\bGH-\d|https?://|\bwww\.|\b(?=\d*[a-f])[0-9a-f]{7,40}\b",
    re.IGNORECASE,
)
"""What GitHub makes links, mentions and closed issues of, in text outside code."""


class Page(HTMLParser):
    def __init__(self, markdown):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.prose, self.comments = Counter(), [], "", []
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE))

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        if tag not in ("br", "img", "hr", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.prose += " " if {"code", "pre"} & set(self.open) else data

    def handle_comment(self, data):
        self.comments.append(data)


def comment_with(text, folder, monkeypatch):
    """Run a gate in whose files every text that people may choose holds `text`; return its comment."""
    monkeypatch.chdir(folder)
    metric, label = f"metric {text}", f"label {text}".replace("=", "")
    rule = {"metric": metric, "on_inconclusive": "warn"}
    policy = {
        "version": 1,
        "name": f"gate {text}",
        "description": f"about {text}",
        "samples": {"at_least": 5},
        "provenance": {"may_change": [f"fact {text}", "generator.model"]},
        "metrics": {metric: {"better": "higher", "range": [0, 1], "unit": f"unit {text}"}},
        "slices": {"by": [label], "at_least": 1},
        "rules": [
            {**rule, "kind": "tolerance", "id": f"waived {text}", "worse_by_at_most": 0.05},
            {**rule, "kind": "tolerance", "id": f"slices {text}", "worse_by_at_most": 0.05, "slices": True},
            {**rule, "kind": "every", "id": f"every {text}", "at_least": 1},
        ],
        "waivers": [
            {
                "rule": f"waived {text}",
                "up_to": 0.9,
                "until": "2026-06-30",
                "by": f"who {text}",
                "reason": f"why {text}",
            }
        ],
    }
    (folder / "policy.yml").write_text(yaml.safe_dump(policy, allow_unicode=False), encoding="utf-8")
    names = []
    for side, drop in (("baseline", 0), ("candidate", 6)):
        header = {
            "gateline": 1,
            "run": {f"fact {text}": f"value {side} {text}", "generator.model": f"{side} {text}"},
        }
        records = [
            {
                "id": f"{number} {text}", "question": f"question {text}", "slices": {label: f"{number % 2} {text}"},
                "metrics": {metric: int(number >= drop)},
            }
            for number in range(20)
        ]  # fmt: skip
        in_a_name = re.sub(r"[/\x00-\x1f]", " ", text)
        name = f"{side} {in_a_name}.jsonl"
        lines = "".join(json.dumps(one) + "\n" for one in [header, *records])
        (folder / name).write_text(lines, encoding="utf-8")
        names += [f"--{side}", f"./{name}"]
    code = run(["check", "--policy", "policy.yml", *names, "--on", "2026-06-01", "--with-excerpts",
                "--output-dir", "out", "-q"])  # fmt: skip
    assert code == 1, "the slices got worse"
    return (folder / "out" / "comment.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_page_is_the_same_as_with_harmless_texts(kind, tmp_path, monkeypatch, capsys):
    pages = []
    for name, text in (("harmless", "plain words"), ("hostile", HOSTILE[kind])):
        (tmp_path / name).mkdir()
        comment = comment_with(text, tmp_path / name, monkeypatch)
        pages.append(Page(comment))
        assert len(pages[-1].comments) == 1, "the marker alone"
        assert pages[-1].open == []
    harmless, hostile = pages
    assert hostile.tags == harmless.tags
    assert harmless.tags["table"] >= 3
    assert not {"a", "img", "script"} & hostile.tags.keys()
    assert LINKED.search(hostile.prose) is None
    for line in comment.splitlines():
        assert not line.strip().startswith(("::", "/"))
        assert "##[" not in line
