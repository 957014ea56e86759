"""A report that a program around its tool has rounded, to two decimals or more, is still that of its samples.

Real reports are rounded as a whole: then they are read as before. Rounded to fewer decimals, changed by more than
rounding can, or with one number that has all its digits, they are held to what they say.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from documented import FILES
from test_inspect import as_json, members_of

from gateline.errors import InputError
from gateline.readers import read_run

Change = Callable[[float], float]
TOLD = r"in the (results|report|log|category default),? and"


def change_numbers(value: object, keys: tuple[str, ...], change: Change) -> object:
    """Return a report with `change` made to each number under one of the keys (all of them, where none is named)."""
    if isinstance(value, list):
        return [change_numbers(one, keys, change) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: change(one)
        if isinstance(one, float) and (key in keys or not keys)
        else change_numbers(one, keys, change)
        for key, one in value.items()
    }


def copy_lm_eval(folder: Path, change: Change) -> Path:
    shutil.copytree(FILES / "lm_eval" / "baseline", folder)
    (path,) = folder.rglob("results_*.json")
    value = json.loads(path.read_text())
    path.write_text(json.dumps(value | {"results": change_numbers(value["results"], (), change)}))
    return folder


def copy_evalscope(folder: Path, change: Change) -> Path:
    shutil.copytree(FILES / "evalscope" / "baseline", folder)
    (path,) = (folder / "reports").rglob("*.json")
    path.write_text(
        json.dumps(change_numbers(json.loads(path.read_text()), ("score", "macro_score"), change))
    )
    return folder


@cache
def inspect_log() -> str:
    return json.dumps(as_json(members_of(FILES / "inspect" / "baseline.eval")))


def copy_inspect(folder: Path, change: Change) -> Path:
    value = json.loads(inspect_log())
    folder.mkdir()
    (folder / "log.json").write_text(
        json.dumps(value | {"results": change_numbers(value["results"], ("value",), change)})
    )
    return folder / "log.json"


COPIES = {"lm_eval": copy_lm_eval, "evalscope": copy_evalscope, "inspect": copy_inspect}


@pytest.mark.parametrize("decimals", [2, 3, 4, 6])
@pytest.mark.parametrize("name", COPIES)
def test_a_rounded_report_is_read_as_before(name, decimals, tmp_path):
    before = read_run(COPIES[name](tmp_path / "whole", float))
    after = read_run(COPIES[name](tmp_path / "rounded", lambda number: round(number, decimals)))
    assert (after.format, after.ids, list(after.metrics)) == (name, before.ids, list(before.metrics))
    for one in after.metrics:
        np.testing.assert_array_equal(after.numbers(one), before.numbers(one))


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda number: round(number, 1), id="one decimal"),
        pytest.param(lambda number: round(number, 2) + 0.01, id="more than rounding"),
        pytest.param(lambda number: round(number, 3) + 0.001, id="more than rounding to three"),
        pytest.param(lambda number: number + 0.0011, id="not rounded"),
    ],
)
def test_a_report_that_rounding_does_not_explain_is_refused(name, change, tmp_path):
    with pytest.raises(InputError, match=TOLD):
        read_run(COPIES[name](tmp_path / "run", change))


@pytest.mark.parametrize("name", COPIES)
def test_one_number_with_all_its_digits_shows_that_none_was_rounded(name, tmp_path):
    with pytest.raises(InputError, match=TOLD):
        read_run(COPIES[name](tmp_path / "run", lambda number: number if number > 0.6 else round(number, 2)))
