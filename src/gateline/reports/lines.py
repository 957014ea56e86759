"""Sentences set into lines of a terminal, by the columns that characters take there.

It looks at no terminal: the width is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gateline.reports.escape import display_width, wrap_points


def wrap_page(text: str, width: int) -> str:
    """Return lines with each that is too wide broken between words, what goes on set in by two more columns."""
    lines: list[str] = []
    for line in text.split("\n"):
        if display_width(line) <= width:
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        lines += wrap(split_words(line.lstrip(), True), width, indent, f"{indent}  ")
    return "\n".join(one.rstrip() for one in lines)


def split_words(sentence: str, between_characters: bool) -> list[tuple[str, str]]:
    """Return the pieces that a line may end between, each with the blank before it, if any."""
    if not between_characters:
        return [(" ", word) for word in re.split(" (?!%)", sentence)]
    words = re.split(r"(?<!\d) (?!%)|(?<=\d) (?=[!-$&-~])", sentence)  # a number keeps its measure word
    return [
        ("" if number else " ", piece)
        for word in words
        for number, piece in enumerate(wrap_points(word) or [""])
    ]


def wrap(words: Iterable[tuple[str, str]], width: int, first: str = "", hanging: str = "") -> list[str]:
    """Set pieces into lines by display width; a longer one stays whole."""
    lines: list[str] = []
    line, used, empty = first, display_width(first), True
    for blank, word in words:
        room = display_width(word) + (0 if empty else len(blank))
        if not empty and used + room > width:
            lines.append(line)
            line, used, empty = hanging, display_width(hanging), True
            room = display_width(word)
        line += word if empty else f"{blank}{word}"
        used += room
        empty = False
    return [*lines, line]
