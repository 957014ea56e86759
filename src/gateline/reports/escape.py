"""Makes texts that came from files harmless in Markdown, fences, terminals, XML and workflow commands.

Every name, id, reason, path and unit of a report passes through here, once for each place it stands in. What
it must hold: a text of any content stays one piece of plain text on one line. It knows nothing of verdicts.
"""

from __future__ import annotations

import re
import unicodedata

from gateline.spelling import Spelling

MOST_OF_NAME = 60
"""Columns that a name from a file may take."""
MOST_OF_SENTENCE = 1_000
"""Columns that a sentence holding texts from files may take."""

JOINER = "\u2060"
"""Word joiner: unseen, not a blank; put where a host would otherwise see a mention, a reference or a link."""

_LINE_BREAKS = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
_KEPT_FORMATS = "\u200c\u200d"
"""Joiners that Persian, Hindi and emoji are spelled with."""
_UNSEEN = {"Cc", "Cf", "Cs", "Cn", "Co"}
_MOST_MARKS = 3
"""Combining marks on one letter; more is a prank that runs over the lines above."""


_OPENING = " （〔［｛《〈「『【“‘([{"
_CLOSING = "，。、；：？！）〕］｝》〉」』】”’…％·,.;:?!)]}%"
"""Marks after which, and before which, no line of Chinese or Japanese ends (as in GB/T 15834 and JIS X 4051)."""


class Markdown(str):
    """A piece of Markdown that is finished: made by this package, or escaped."""

    __slots__ = ()


class Commands(str):
    """Workflow commands that are meant as such: lines made by this package, their texts escaped."""

    __slots__ = ()


def clean(text: str, most: int = MOST_OF_NAME) -> str:
    """Return a text on one line without control, bidi and other unseen characters, cut to `most` columns.

    Line breaks become `⏎`, other blanks a space, unseen characters `�`; East Asian wide characters count 2.
    """
    shortened = text if len(text) <= 8 * most else text[: 4 * most] + "…" + text[-4 * most :]
    if shortened.isascii() and shortened.isprintable():
        return cut(shortened, most)
    kept: list[str] = []
    marks = 0
    for character in shortened.replace("\r\n", "\n"):
        category = unicodedata.category(character)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks > _MOST_MARKS:
            continue
        if character in _LINE_BREAKS:
            kept.append("⏎")
        elif character == "\t" or category == "Zs":
            kept.append(" ")
        elif category in _UNSEEN and character not in _KEPT_FORMATS:
            kept.append("�")
        else:
            kept.append(character)
    return cut("".join(kept), most)


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` columns, with `…` in the middle: names differ at both ends."""
    if (len(text) if text.isascii() else sum(map(_columns, text))) <= most:
        return text
    head_room = most // 2
    head, used = "", 0
    for character in text:
        if used + _columns(character) > head_room:
            break
        head += character
        used += _columns(character)
    tail = ""
    for character in reversed(text):
        if used + _columns(character) > most - 1:
            break
        tail = character + tail
        used += _columns(character)
    while tail and unicodedata.category(tail[0]) in ("Mn", "Me", "Cf"):
        tail = tail[1:]
    return f"{head}…{tail}"


def wrap_points(text: str) -> list[str]:
    """Return a text in the pieces that a line may end between where words are not parted by blanks.

    That is beside each wide character, but never before a closing mark, after an opening one or after a blank.
    """
    pieces: list[str] = []
    for character in text:
        last = pieces[-1][-1] if pieces else ""
        parts = last and (_columns(last) == 2 or _columns(character) == 2)
        if parts and last not in _OPENING and character not in _CLOSING:
            pieces.append(character)
        elif pieces:
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def display_width(text: str) -> int:
    """Return how many columns a text takes where all characters are equally wide."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else _columns(c) for c in text)


def markdown_text(text: str, most: int = MOST_OF_SENTENCE) -> Markdown:
    """Return a text that Markdown, and what GitHub and GitLab do to it afterwards, leave as it is."""
    joined = _keep_apart(clean(text, most).strip())
    escaped = re.sub(r"[\\`*_{}\[\]()#!~^]", r"\\\g<0>", joined.replace("&", "&amp;"))
    escaped = escaped.replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;").replace("$", "&#36;")
    escaped = re.sub(r"^(\s*)([-+=])", r"\1\\\2", escaped)
    return Markdown(re.sub(r"^(\s*\d+)([.)])(?=\s|$)", r"\1\\\2", escaped))


def markdown_name(text: str, most: int = MOST_OF_NAME) -> Markdown:
    """Return a name as code, also inside a table cell."""
    name = clean(text, most)
    if name != name.strip() or not name:
        name = f'"{name}"'
    if "`" in name or "|" in name or "\\" in name:
        return Markdown(f"<code>{markdown_text(name, most + 2)}</code>")
    return Markdown(f"`{_break_source(name)}`")


_COMMANDS = "audit|check|ci|convert|doctor|explain|golden|harvest|init|inspect|lint|publish|reduce|review|schema|score"
_PARTS = "calibration|metrics|missing|provenance|rules|samples|slices|statistics|waivers"
_ANSWERS = "allow|drop|fail|false|independent|intersect|interval|last|mean|pass|refuse|true|value|warn|worst"
_FILE = r"[\w./-]+\.(?:jsonl?|parquet|ya?ml)"
_TYPED = re.compile(
    rf"""(?<![\w.@/-])(?:
        [a-z][a-z_.]*:[ ]\{{[^{{}}]*(?:\{{[^{{}}]*\}}[^{{}}]*)*\}}         # samples: {{on_mismatch: intersect}}
        | gateline[ ](?:{_COMMANDS})\b(?:[ ](?:[A-Z][A-Z_]+|--?[a-z-]+|{_FILE}))*  # gateline score GOLDEN OUTPUTS
        | --[a-z]+(?:-[a-z]+)*                                           # --require-fresh
        | [a-z]+(?:_[a-z]+)+:[ ](?:{_ANSWERS})\b                         # on_inconclusive: fail
        | (?:{_PARTS})\.[a-z]+(?:[_.][a-z]+)*                            # samples.at_least
        | [a-z]+(?:_[a-z]+)+(?:\.[a-z]+)*                                # answer_correct
    )(?![\w@/-])""",
    re.VERBOSE,
)
"""What a person types, as it stands in the sentences of this program: words of policies, commands and options."""


def markdown_sentence(text: str, most: int = MOST_OF_SENTENCE) -> Markdown:
    """Return a text as `markdown_text` does, in which words of policies, commands and options stand as code.

    A text from a file may hold such words too: each piece is made harmless by itself, so it does not matter.
    """
    shown, told, end = clean(text, most).strip(), "", 0
    for typed in _TYPED.finditer(shown):
        told += _piece(shown[end : typed.start()]) + markdown_name(typed[0], most)
        end = typed.end()
    return markdown_text(shown, most) if not end else Markdown(told + _piece(shown[end:]))


def _piece(text: str) -> str:
    """Return a part of a sentence with the blanks at its ends, which say where a word begins."""
    inner = text.strip(" ")
    before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :] if inner else ""
    return f"{before}{markdown_text(inner, MOST_OF_SENTENCE)}{after}"


def fence_text(text: str, most: int = MOST_OF_NAME) -> str:
    """Return a text for a line of a fenced block, where it must not stand first."""
    source = _break_source(clean(text, most)).replace("::", f":{JOINER}:")
    return source.replace("```", f"`{JOINER}`{JOINER}`")


def terminal_text(text: str, most: int = MOST_OF_SENTENCE) -> str:
    """Return a text for a terminal or a job log: no control characters, no `##[command]`."""
    return clean(text, most).replace("##[", f"##{JOINER}[")


def terminal_name(text: str) -> str:
    """Return a name for a terminal or a job log."""
    return terminal_text(text, MOST_OF_NAME)


def guard_lines(text: str) -> str:
    """Return a text of which no line is a workflow command; a runner takes `::error::` also after blanks."""
    return re.sub(r"(^|\r)(\s*)::", rf"\1\2{JOINER}::", text, flags=re.MULTILINE)


def guard_log(text: str) -> str:
    """Return a text in which a runner that reads it on a job's log finds no command."""
    return guard_lines(text).replace("##[", f"##{JOINER}[")


def guard_json(text: str) -> str:
    """Return JSON that says the same, in which a runner finds no command: no line of it begins with a string's text."""
    return text.replace("##[", "\\u0023#[")


def xml_text(text: str, most: int = 10_000) -> str:
    """Return a text for XML 1.0 content or a quoted attribute."""
    return _entities(clean(text, most))


def html_text(text: str, most: int = MOST_OF_SENTENCE) -> str:
    """Return a text for the content of an HTML element or a quoted attribute."""
    return _entities(clean(text, most)).replace("'", "&#39;").replace("##[", "&#35;#[")


def html_name(text: str, most: int = MOST_OF_NAME) -> str:
    """Return a name as code, for the content of an HTML element."""
    return f"<code>{html_text(text, most)}</code>"


def command_text(text: str) -> str:
    """Return a message for a GitHub workflow command.

    Source: actions/toolkit, packages/core/src/command.ts, escapeData.
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """Return a property, such as a file or a title, for a GitHub workflow command.

    Source: actions/toolkit, packages/core/src/command.ts, escapeProperty.
    """
    return command_text(text).replace(":", "%3A").replace(",", "%2C")


def _columns(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def _entities(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;")


_APART = (
    # Mentions of people and teams, e-mail addresses: @acme/security, a@b.example
    (re.compile(r"(?<![A-Za-z0-9_])@(?=\w)|@(?=[\w-]+\.\w)"), f"@{JOINER}"),
    # Issues: #12, acme/app#12, GH-12; GitLab's !12, &12, %12, ~12, $12, ^12, ~"a label"
    (re.compile(r"#(?=[\d#])"), f"#{JOINER}"),
    (re.compile(r"\b(GH-)(?=\d)", re.IGNORECASE), rf"\1{JOINER}"),
    (re.compile(r"([!&%~$^])(?=[\w\"])"), rf"\1{JOINER}"),
    # Links: https://…, www.…, mailto:…
    (re.compile(r":(?=//)"), f":{JOINER}"),
    (re.compile(r"(www|mailto|xmpp)(?=[.:])", re.IGNORECASE), rf"\1{JOINER}"),
    # Emoji and workflow commands: :x:, ::error::
    (re.compile(r":(?=[\w+-]*(?::|$))"), f":{JOINER}"),
)


_COMMIT = re.compile(r"\b(?=\d*[a-f])[0-9a-f]{7,}\b", re.IGNORECASE)
"""7 to 40 hexadecimal digits, at least one of them a letter; taken apart into pieces that are too short."""


def _keep_apart(text: str) -> str:
    """Put a joiner where a host would turn plain text into a mention, a reference, a link or a picture."""
    for pattern, apart in _APART:
        text = pattern.sub(apart, text)
    return _COMMIT.sub(lambda digits: JOINER.join(re.findall(".{1,6}", digits[0])), text)


def _break_source(text: str) -> str:
    """Put a joiner where even code would carry something on: a reader of the source, or another program.

    Nothing in code is interpreted, so that names stay copyable but for these.
    """
    text = re.sub(r"(?<![A-Za-z0-9_])@(?=\w)", f"@{JOINER}", text)
    text = re.sub(r"<(?=[A-Za-z!/?])", f"<{JOINER}", text)
    return text.replace("](", f"]{JOINER}(").replace("##[", f"##{JOINER}[").replace("-->", f"--{JOINER}>")


IN_MARKDOWN = Spelling(name=markdown_name, text=markdown_sentence)
IN_FENCE = Spelling(name=fence_text, text=fence_text)
IN_TERMINAL = Spelling(name=terminal_name, text=terminal_text)
IN_HTML = Spelling(name=html_name, text=html_text)
