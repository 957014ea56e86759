"""A sentence that remembers how it was made, so that a report can say it again in another language.

Notes, notices and problems are made far below the reports, and stand in `verdict.json` in English. Beside them stands
the same as key and values; what is said in a language is put together here and nowhere parsed. This module escapes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gateline.errors import nearest
from gateline.record import Record
from gateline.texts import ENGLISH, Texts, load

Value = int | float | str
"""What may stand in a sentence: a count, a number as it is shown, a name or a text."""


class Remark(Record):
    """A sentence by its key in the catalogue of texts."""

    key: str
    """Key of the sentence."""
    values: dict[str, Value | Remark | list[Remark | str]]
    """What stands in it, by the name of the field; a list is joined as the language joins one."""


class Said(str):
    """An English sentence that knows its key and values; for everything else it is a plain text."""

    __slots__ = ("remark",)
    remark: Remark

    def __new__(cls, remark: Remark) -> Said:
        """Say a remark in English."""
        said = super().__new__(cls, say_remark(remark, load()))
        said.remark = remark
        return said


def said(key: str, /, **values: Value | Said | Sequence[str]) -> Said:
    """Return a sentence in English; `count` chooses its form. Other sentences may stand in it.

    Raises KeyError where the catalogue has no such key, or its text has a field that is not given.
    """
    return Said(Remark(key=key, values={name: _as_value(value) for name, value in values.items()}))


def name_some(names: Iterable[str], most: int = 5) -> Said:
    """Return up to `most` names in quotes, and how many more there are: `'q1', 'q2' and 3 more`."""
    return list_some([f"'{name}'" for name in names], most)


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known name, else the known names, else nothing."""
    names = sorted(known)
    close = nearest(name, names)
    if close:
        return said("hint.did-you-mean", name=close)
    return said("hint.known", names=list_some(names, 12)) if names else ""


def list_some(names: Sequence[str], most: int = 5) -> Said:
    """Return up to `most` names as they are, and how many more there are: `q1, q2 and 3 more`."""
    if len(names) <= most:
        return said("list.all", list=names)
    return said("list.more", list=names[:most], count=len(names) - most)


def remark_of(text: str) -> Remark | None:
    """Return key and values of a sentence, None for one that has only its text."""
    return text.remark if isinstance(text, Said) else None


def remarks_of(texts: Iterable[str]) -> list[Remark | None]:
    """Return key and values of each sentence, in their order."""
    return [remark_of(text) for text in texts]


def say_all(texts: Sequence[str], remarks: Sequence[Remark | None], language: Texts) -> list[str]:
    """Return sentences in a language; each that has no remark, or one that can't be said, as it stands."""
    known = [*remarks, *[None] * (len(texts) - len(remarks))]
    return [say_again(text, remark, language) for text, remark in zip(texts, known, strict=False)]


def say_again(text: str, remark: Remark | None, language: Texts) -> str:
    """Return one sentence in a language; the text itself in English, or where there is no remark that can be said.

    A verdict may come from another version of gateline, so its keys and values are not trusted to be known.
    """
    if remark is None or language.language == ENGLISH:
        return text
    try:
        return say_remark(remark, language)
    except (KeyError, ValueError, IndexError, RecursionError):
        return text


def say_remark(remark: Remark, language: Texts) -> str:
    """Return a remark in a language. Raises KeyError for a key or a field that is not known."""
    return language.say(remark.key, **_fields(remark.values, language))  # type: ignore[arg-type]


def _fields(values: Mapping[str, Value | Remark | list[Remark | str]], language: Texts) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, Remark):
            fields[name] = say_remark(value, language)
        elif isinstance(value, list):
            items = [one if isinstance(one, str) else say_remark(one, language) for one in value]
            fields[name] = language.say("joint.list").join(items)
        else:
            fields[name] = value
    count = fields.get("count")
    if count is not None and not isinstance(count, int):
        raise ValueError("a count is a whole number")
    return fields


def _as_value(value: Value | Said | Sequence[str]) -> Value | Remark | list[Remark | str]:
    if isinstance(value, Said):
        return value.remark
    if isinstance(value, str | int | float):
        return value
    return [one.remark if isinstance(one, Said) else one for one in value]
