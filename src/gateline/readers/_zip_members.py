"""The members of a zip file, unpacked one at a time and bounded; nothing is written to disk.

Python's `zipfile` knows members compressed with zstandard (method 93) only from 3.14 on, so it reads the directory
here, and the members are taken out by their place in the file. It must not know a format.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from gateline.errors import InputError, name_some
from gateline.readers._source import Source

if TYPE_CHECKING:
    import zipfile

MAGIC = b"PK\x03\x04"
MOST_BYTES = 1 << 28
"""Of one member, unpacked."""
MOST_IN_ALL = 1 << 33
"""Of all members that are read, unpacked."""
_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_ENCRYPTED = 1
_LOCAL_HEADER = 30


def member_names(path: Path) -> frozenset[str]:
    """Return the names in a zip file; none where it can't be read."""
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(archive.namelist())
    except (OSError, ValueError, EOFError, NotImplementedError, struct.error, zipfile.BadZipFile):
        return frozenset()


class ZipMembers:
    """The members of a zip file."""

    def __init__(self, source: Source):
        """Read the directory; an InputError where the file is no whole zip, or two members have one name."""
        import zipfile

        self._source = source
        self._unpacked = 0
        try:
            with zipfile.ZipFile(BytesIO(source.data)) as archive:
                entries = archive.infolist()
        except (OSError, ValueError, EOFError, NotImplementedError, struct.error, zipfile.BadZipFile):
            raise InputError(
                "is not a whole zip file: its directory, which stands at the end, can't be read",
                source.name,
                "was it copied while it was written?",
            ) from None
        self._entries = {entry.filename: entry for entry in entries}
        if len(self._entries) < len(entries):
            names = Counter(entry.filename for entry in entries)
            twice = [name for name, times in names.items() if times > 1]
            raise InputError(
                f"holds members of one name twice: {name_some(twice, 5)}",
                source.name,
                "which of them count? write the log again",
            )

    @property
    def names(self) -> list[str]:
        """Return the names of the members in the order of the directory."""
        return list(self._entries)

    def __contains__(self, name: str) -> bool:
        """Say whether there is a member of that name."""
        return name in self._entries

    def place(self, name: str) -> str:
        """Return how messages name a member."""
        return f"{self._source.name}/{name}"

    def read(self, name: str) -> bytes:
        """Return a member, unpacked.

        Raises InputError where it is damaged, encrypted, compressed in an unknown way, or larger than `MOST_BYTES`,
        and where all that was read is larger than `MOST_IN_ALL`.
        """
        entry = self._entries[name]
        if entry.flag_bits & _ENCRYPTED:
            raise InputError("is encrypted", self.place(name))
        self._unpacked += entry.file_size
        if entry.file_size > MOST_BYTES:
            raise self._refuse_size(name, f"unpacks to {entry.file_size:,} bytes", MOST_BYTES)
        if self._unpacked > MOST_IN_ALL:
            raise self._refuse_size(name, "and the members before it unpack to more than that", MOST_IN_ALL)
        packed = self._find(entry)
        if entry.compress_type == _STORED:
            content = packed
        elif entry.compress_type == _DEFLATED:
            content = self._inflate(packed, entry)
        elif entry.compress_type == _ZSTANDARD:
            content = self._decompress(packed, entry)
        else:
            raise InputError(
                f"is compressed with method {entry.compress_type}, which is not read", self.place(name)
            )
        # A member that unpacks to more than its entry says was cut one byte behind that.
        if len(content) != entry.file_size or zlib.crc32(content) != entry.CRC:
            raise self._refuse_damage(name)
        return content

    def _find(self, entry: zipfile.ZipInfo) -> bytes:
        """Return the bytes of a member as they stand in the file."""
        data, start = self._source.data, entry.header_offset
        header = data[start : start + _LOCAL_HEADER]
        if len(header) < _LOCAL_HEADER or not header.startswith(MAGIC):
            raise self._refuse_damage(entry.filename)
        name, extra = struct.unpack("<HH", header[26:])
        start += _LOCAL_HEADER + name + extra
        return data[start : start + entry.compress_size]

    def _inflate(self, packed: bytes, entry: zipfile.ZipInfo) -> bytes:
        try:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, entry.file_size + 1)
        except zlib.error:
            raise self._refuse_damage(entry.filename) from None

    def _decompress(self, packed: bytes, entry: zipfile.ZipInfo) -> bytes:
        try:
            import zstandard
        except ImportError:
            raise InputError(
                "is compressed with zstandard, which needs the package of that name",
                self.place(entry.filename),
                "pip install zstandard (or gateline with its extra 'inspect'); "
                "or write the log as JSON: inspect log convert --to json",
            ) from None
        try:
            # Large members are several frames.
            with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
                return bytes(stream.read(entry.file_size + 1))
        except (zstandard.ZstdError, MemoryError):
            raise self._refuse_damage(entry.filename) from None

    def _refuse_damage(self, name: str) -> InputError:
        return InputError("is damaged, or unpacks to another size than the zip file says", self.place(name))

    def _refuse_size(self, name: str, what: str, most: int) -> InputError:
        return InputError(f"{what}; at most {most:,} are read", self.place(name), "is this a log at all?")
