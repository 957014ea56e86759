from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gateline import readers
from gateline.errors import InputError, PolicyError
from gateline.readers import read_run


def test_every_reader_keeps_the_contract():
    found = readers.readers()
    assert set(found) >= {"jsonl", "json", "csv", "parquet"}
    for name, reader in found.items():
        assert name == reader.NAME
        first = (reader.__doc__ or "").partition("\n")[0]
        assert first.endswith((".", ":")) or "." in first, name
        assert reader.looks_like(b"", Path("nothing")) is False
        assert reader.looks_like(b"\x00\xff\x00", Path("nothing.bin")) is False
        assert callable(reader.read)


def test_importing_the_readers_loads_nothing_heavy():
    code = (
        "import sys; from gateline.readers import readers; readers();"
        "print(sorted({'pyarrow', 'pandas', 'orjson', 'pydantic', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_reader_can_be_forced(write):
    path = write("a.dat", '{"id": 1, "s": 2}')
    assert read_run(path, read_as="jsonl").ids == ["1"]
    with pytest.raises(PolicyError, match="did you mean 'json"):
        read_run(path, read_as="jsno")


def test_the_path_may_be_a_text_and_is_shown_as_given(write, monkeypatch):
    path = write("a.jsonl", '{"id": 1}\n')
    monkeypatch.chdir(path.parent)
    assert read_run("a.jsonl").place(0) == "a.jsonl:1"


def test_the_digest_is_of_the_bytes(write):
    import hashlib

    content = b'\xef\xbb\xbf{"id": 1}\r\n'
    assert read_run(write("a.jsonl", content)).sha256 == hashlib.sha256(content).hexdigest()


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match=r"^not found: .*nowhere\.jsonl$"):
        read_run(tmp_path / "nowhere.jsonl")
    with pytest.raises(InputError, match="no reader knows this folder"):
        read_run(tmp_path)
    with pytest.raises(InputError, match="is a folder"):
        read_run(tmp_path, read_as="jsonl")
    with pytest.raises(InputError, match="cannot be read"):
        read_run("a\0b.jsonl")


@pytest.mark.parametrize("content", [b"", b" \n\r\n\t ", b"\n" * 100_000])
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.json", "a"])
def test_an_empty_file_has_no_samples(refuse, name, content):
    (problem,) = refuse(name, content)
    assert problem == f"{name}: 0 samples: the file is empty ({len(content)} bytes)"


def test_an_unknown_file_tells_what_was_looked_for(refuse):
    (problem,) = refuse("a.bin", b"\x7fELF\x02")
    assert "looked for" in problem
    for word in ("jsonl", "json", "csv", "parquet", "--read-as", "samples: {id:"):
        assert word in problem


def test_two_claims_are_an_error_and_a_tool_comes_before_the_general_readers(write, monkeypatch):
    path = write("a.jsonl", '{"id": 1}\n')
    own = SimpleNamespace(
        NAME="own", looks_like=lambda head, path: True, read=readers.readers()["jsonl"].read
    )
    other = SimpleNamespace(NAME="other", looks_like=lambda head, path: True, read=own.read)
    known = dict(readers.readers())
    monkeypatch.setattr(readers, "readers", lambda: known | {"own": own})
    assert read_run(path).ids == ["1"]
    monkeypatch.setattr(readers, "readers", lambda: known | {"own": own, "other": other})
    with pytest.raises(InputError, match="looks like own, other alike"):
        read_run(path)


@pytest.mark.parametrize(
    ("name", "content", "format_name"),
    [
        ("a.json", '{"id": 1, "metrics": {"f": 1}}\n{"id": 2}\n', "gateline-jsonl"),
        ("a.json", '{"id": 1}\n', "jsonl"),
        ("a.txt", '{"x": 1, "id": 2}\n{"x": 2, "id": 3}\n', "jsonl"),
        ("a.jsonl", '[{"id": 1}]', "json"),
        ("a.jsonl", '{"results": [{"id": 1}]}', "json"),
        ("a.jsonl", '{\n"results": [{"id": 1}]\n}', "json"),
        ("a.json", '{"results": [{"x": 1}], "id": 1}\n{"results": [{"x": 2}], "id": 2}\n', "jsonl"),
        ("a.jsonl", '{"data": [{"x": 1}], "id": 1}\n{"data": [], "id": 2}\n', "jsonl"),
        ("a.txt", "id\ts\nx\t1\n", "tsv"),
        ("a.csv", '"id","s"\n"{x}",1\n', "csv"),
        ("a.jsonl", '{"id": 1, "context": "' + "x" * 200_000 + '"}\n{"id": 2}\n', "jsonl"),
    ],
)
def test_content_decides(read, name, content, format_name):
    assert read(name, content).format == format_name


def test_the_collector_is_as_it_was(write, refuse):
    assert gc.isenabled()
    read_run(write("a.jsonl", '{"id": 1}\n'))
    refuse("b.jsonl", "{broken\n")
    assert gc.isenabled()


def test_what_is_no_file_is_refused_before_it_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for special in ("/dev/zero", "/dev/urandom", str(tmp_path / "pipe")):
        for reader in (None, "jsonl", "csv"):
            with pytest.raises(InputError, match="is a pipe, a device or a socket, not a file"):
                read_run(special, read_as=reader)


def test_a_name_that_no_file_can_have_is_no_crash():
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        read_run("x" * 5000)
    with pytest.raises(InputError, match=r"cannot be read: .*null byte"):
        read_run("a\0b")


def test_a_file_that_does_not_fit_into_memory_is_told(write, monkeypatch):
    def fill(*_):
        raise MemoryError

    monkeypatch.setattr(readers.readers()["jsonl"], "read", fill)
    path = write("a.jsonl", '{"id": 1, "s": 2}')
    with pytest.raises(InputError, match=r"a\.jsonl: does not fit into memory"):
        read_run(path, read_as="jsonl")


def test_a_file_without_ids_is_told_how_to_name_them(write):
    path = write("a.jsonl", '{"question_id": 1, "s": 2}')
    with pytest.raises(InputError, match=r"--id question_id, in a policy as samples: \{id: question_id\}"):
        read_run(path)
