"""A zip of files that an earlier run kept: one file is taken out, bounded; nothing is unpacked by its own paths."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from io import BytesIO

from gateline.errors import HostError, name_some

MOST_BYTES = 256 * 1024 * 1024
"""Of the zip."""
MOST_UNPACKED = 1024 * 1024 * 1024
"""Of the file in it."""
_MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a run kept."""

    name: str
    content: bytes = field(repr=False)
    """The zip."""
    branch: str
    """The branch that the run was on."""
    commit: str | None = None
    made_on: str | None = None
    """Day, YYYY-MM-DD."""
    run: int | None = None


def take_file(artifact: Artifact, wanted: str | None, like: str) -> tuple[str, bytes]:
    """Return the path within the zip and the bytes of one file.

    `wanted` is its path; without it, the only file is taken, or the only one with the name `like`. Raises HostError
    where that does not tell, or the zip is broken or unpacks to more than `MOST_UNPACKED` bytes.
    """
    try:
        with zipfile.ZipFile(BytesIO(artifact.content)) as archive:
            entry = _choose(artifact, archive.infolist(), wanted, like)
            with archive.open(entry) as stream:
                # the size that the entry tells may be a lie, so it is counted
                content = stream.read(MOST_UNPACKED + 1)
    except HostError:
        raise
    except (
        Exception
    ) as error:  # the decompressors raise errors of their own, such as zlib.error and lzma.LZMAError
        said = f"the artifact {artifact.name} can't be unpacked: {type(error).__name__}: {error}"
        raise HostError(said) from None
    if len(content) > MOST_UNPACKED:
        raise HostError(
            f"{entry.filename} in the artifact {artifact.name} has more than {MOST_UNPACKED:,} bytes"
        )
    return entry.filename, content


def _choose(
    artifact: Artifact, listed: list[zipfile.ZipInfo], wanted: str | None, like: str
) -> zipfile.ZipInfo:
    entries = [entry for entry in listed if not entry.is_dir()]
    if len(entries) > _MOST_ENTRIES:
        raise HostError(f"the artifact {artifact.name} holds more than {_MOST_ENTRIES:,} files")
    if wanted is not None:
        found = [entry for entry in entries if entry.filename == wanted]
    elif len(entries) == 1:
        found = entries
    else:
        found = [entry for entry in entries if entry.filename.rpartition("/")[2] == like]
    if len(found) == 1:
        return found[0]
    what = "no file" if not found else f"{len(found)} files"
    listed_names = name_some(sorted(entry.filename for entry in entries), 10) or "nothing"
    raise HostError(
        f"the artifact {artifact.name} holds {what} called {wanted or like}; it holds {listed_names}",
        hint=f"name one as artifact:{artifact.name}:PATH",
    )
