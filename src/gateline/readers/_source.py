"""The file that a reader reads: its bytes once, their digest, and what may be asked of the reader.

Nothing here knows a format.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gateline.errors import InputError
from gateline.files import SPECIAL, is_folder, is_special

HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class ReadOptions:
    """What the policy says about reading."""

    id_field: str | None = None
    """The field that identifies a question; None lets the reader take its format's own."""
    numbered: bool = False
    """Whether records get their number as identity, for a reader that then gives them another."""


@dataclass(frozen=True)
class Source:
    """A file as the user named it."""

    name: str
    """The path as given; messages show this."""

    @property
    def path(self) -> Path:
        """Return the path for the file system."""
        return Path(self.name)

    @cached_property
    def data(self) -> bytes:
        """Return the bytes of the file, read once; an InputError where it is absent, unreadable or no file."""
        if is_special(self.name):
            raise InputError(SPECIAL, self.name, "save what it gives in a file first")
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            raise InputError(f"not found: {self.name}") from None
        except IsADirectoryError:
            raise InputError("is a folder, not a file", self.name) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"cannot be read: {reason}", self.name) from error

    @property
    def is_folder(self) -> bool:
        """Return whether the path leads to a folder."""
        return is_folder(self.name)

    @cached_property
    def head(self) -> bytes:
        """Return the beginning of the file, at least the whole first line; empty for a folder."""
        if self.is_folder:
            return b""
        end = self.data.find(b"\n", HEAD_BYTES)
        return self.data[: end + 1] if end >= 0 else self.data

    @cached_property
    def sha256(self) -> str:
        """Return the digest of the file's bytes in hexadecimal."""
        import hashlib

        return hashlib.sha256(self.data).hexdigest()

    @property
    def text_start(self) -> int:
        """Return where the text begins: behind the UTF-8 byte order mark, if there is one."""
        return len(codecs.BOM_UTF8) if self.data.startswith(codecs.BOM_UTF8) else 0

    def refuse_other_encodings(self) -> None:
        """Raise an InputError for UTF-16 and UTF-32, known by byte order marks or by zero bytes."""
        begin = self.data[:4]
        if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)) or (
            len(begin) == 4 and begin.count(0) in (2, 3)
        ):
            raise InputError(
                "is UTF-16 or UTF-32 text, and only UTF-8 is read", self.name, "save it as UTF-8"
            )

    def decode(self) -> str:
        """Return the text without byte order mark; an InputError names the line of the first bad byte."""
        self.refuse_other_encodings()
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            # `error.object` lacks the byte order mark that `utf-8-sig` took away.
            line = error.object.count(b"\n", 0, error.start) + 1
            raise InputError(
                f"byte 0x{error.object[error.start]:02x} is not UTF-8",
                f"{self.name}:{line}",
                "save it as UTF-8",
            ) from None


def digest_of(sources: Sequence[Source]) -> str:
    """Return the digest of several files: of theirs, in order."""
    import hashlib

    return hashlib.sha256("\n".join(source.sha256 for source in sources).encode()).hexdigest()


def without_mark(head: bytes) -> bytes:
    """Return the head of a file without byte order mark and blank lines before the first."""
    return head.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n")
