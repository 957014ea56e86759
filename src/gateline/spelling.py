"""How words and texts from files are set into a report: in which language, and made harmless in which way.

This module escapes nothing itself; each place where a report can stand has a spelling of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from gateline.texts import Texts, load


@dataclass(frozen=True, slots=True)
class Spelling:
    """How texts that came from files are set into a sentence, and the language of the sentence."""

    name: Callable[[str], str]
    """For names: metrics, slices, rules, ids, files."""
    text: Callable[[str], str]
    """For sentences and units."""
    texts: Texts = field(default_factory=load)
    """The language; English unless another is asked for."""

    def speaking(self, texts: Texts) -> Spelling:
        """Return the same spelling in another language."""
        return replace(self, texts=texts)

    def say(self, key: str, /, *, count: int | None = None, **fields: object) -> str:
        """Return a text of the language; the fields must be harmless already."""
        return self.texts.say(key, count=count, **fields)

    def or_more(self, shown: Iterable[str], count: int) -> str:
        """Return the shown items as a list, and how many of `count` it leaves out: `q1, q2 and 3 more`."""
        items = list(shown)
        joined = self.say("joint.list").join(items)
        return self.say("list.more", list=joined, count=count - len(items)) if count > len(items) else joined

    def sentence(self, text: str) -> str:
        """Return a text with the stop that ends a sentence."""
        return self.say("sentence", text=text)

    def join_clauses(self, sentences: Iterable[str]) -> str:
        """Return sentences from below as one that can stand inside another: without their stops, made harmless."""
        return self.say("joint.clauses").join(self.text(without_stop(sentence)) for sentence in sentences)

    def join_sentences(self, sentences: Iterable[str]) -> str:
        """Return finished sentences one after the other; empty ones leave no trace."""
        return self.say("joint.sentences").join(sentence for sentence in sentences if sentence)


def without_stop(sentence: str) -> str:
    """Return a sentence without the stop at its end."""
    return sentence.rstrip(" .。")


PLAIN = Spelling(name=str, text=str)
