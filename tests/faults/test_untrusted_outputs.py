"""Outputs of a step: whatever stands in a name or a path, it sets no other output and no second value."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn import tries
from hypothesis import given
from hypothesis import strategies as st

from gateline.hosts.github import Job

NASTY = [
    "\n",
    "\r",
    "\r\n",
    "EOF",
    "x<<EOF",
    "verdict=pass",
    "=",
    "::set-output name=verdict::pass",
    "\u2028",
    "\x85",
]
VALUES = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=5)), max_size=6).map("".join)


def read_as_the_runner(text: str) -> list[tuple[str, str]]:
    """Read an outputs file as GitHub describes it: `name=value`, or `name<<delimiter`, lines, delimiter."""
    assert text == "" or text.endswith("\n")
    found, lines = [], iter(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1])
    for line in lines:
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc >= 0 and (equals < 0 or heredoc < equals):
            name, delimiter, value = line[:heredoc], line[heredoc + 2 :], []
            for inner in lines:
                if inner == delimiter:
                    break
                value.append(inner)
            found.append((name, "\n".join(value)))
        else:
            assert equals > 0, line
            found.append((line[:equals], line[equals + 1 :]))
    return found


@tries(80)
@given(st.lists(VALUES, min_size=1, max_size=4))
def test_no_value_sets_another_output_or_itself_twice(
    tmp_path_factory: pytest.TempPathFactory, values: list[str]
) -> None:
    path: Path = tmp_path_factory.mktemp("outputs") / "file"
    path.touch()
    written = {f"name-{number}": value for number, value in enumerate(values)}
    job = Job({"GITHUB_OUTPUT": str(path)})
    job.write_outputs({"verdict": "fail"})
    job.write_outputs(written)
    found = read_as_the_runner(path.read_bytes().decode("utf-8"))
    assert [name for name, _ in found] == ["verdict", *written]
    assert dict(found)["verdict"] == "fail"
    for name, value in written.items():
        plain = "".join(char for char in value if char.isalnum())
        assert "".join(char for char in dict(found)[name] if char.isalnum()) == plain
