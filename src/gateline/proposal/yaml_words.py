"""Names and numbers as YAML that every parser reads as what they are."""

from __future__ import annotations

import math
import re

from gateline.reports.escape import clean

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_@./+-]*")
_TAKEN = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"})


def quote(text: str) -> str:
    """Return a text as a YAML scalar: plain where nothing can be mistaken, else in quotation marks."""
    if _PLAIN.fullmatch(text) and text.lower() not in _TAKEN:
        return text
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(character: str) -> str:
    if character in {'"', "\\"}:
        return "\\" + character
    code = ord(character)
    if character.isprintable() and code != 0xFEFF:
        return character
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def comment(text: str) -> str:
    """Return a text from a file as one that can stand in a comment."""
    return clean(text)


def round_up(value: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below a positive `value`."""
    power = math.floor(math.log10(value))
    candidates = [float(f"{step}e{power}") for step in (1, 2, 5, 10)]
    return next((one for one in candidates if one >= value * (1 - 1e-12)), float(f"1e{power + 1}"))


def round_down(value: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above a positive `value`."""
    power = math.floor(math.log10(value))
    candidates = [float(f"{step}e{power}") for step in (5, 2, 1)]
    return next((one for one in candidates if one <= value * (1 + 1e-12)), float(f"5e{power - 1}"))


def round_up_to_two_digits(value: float) -> float:
    """Return the smallest number of two digits and zeros that is not below a positive `value`."""
    power = math.floor(math.log10(value)) - 1
    return float(f"{math.ceil(float(f'{value:.9e}') / float(f'1e{power}') - 1e-9)}e{power}")


def number(value: float) -> str:
    """Return a number as YAML."""
    return f"{value:.12g}"
