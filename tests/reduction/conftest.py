"""What the tests of `reduce` share: engines, and runs of the command."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gateline.policy import load_policy
from gateline.reduction.engines import Engine, start_engine
from gateline.reduction.file import to_bytes
from gateline.reduction.plan import make_plan
from gateline.reduction.summing import sum_up

Reduce = Callable[..., str]
IS_SPARK_ASKED_FOR = os.environ.get("GATELINE_ENGINE_TESTS") == "1"
"""Read here: while a test runs, no variable of gateline is set."""


@pytest.fixture(scope="session")
def duckdb() -> Iterator[Engine]:
    pytest.importorskip("duckdb", reason="reduce needs DuckDB: pip install 'gateline[reduce]'")
    engine = start_engine("duckdb")
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def spark() -> Iterator[Engine]:
    """Spark takes ten seconds to start: only where it is asked for."""
    if not IS_SPARK_ASKED_FOR:
        pytest.skip(
            "GATELINE_ENGINE_TESTS=1 also runs the tests on Spark: pip install --group engines, Java 17"
        )
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip(
            "pyspark or Java isn't here: pip install --group engines, apt install openjdk-17-jre-headless"
        )
    engine = start_engine("spark")
    yield engine
    engine.close()


@pytest.fixture
def reduce_log(tmp_path: Path, duckdb: Engine) -> Reduce:
    """Return a function that reduces a log and returns the path of the reduced file."""

    def reduce_it(
        log: str, policy: str, *, engine: Engine | None = None, suffix: str = ".json", **options: Any
    ) -> str:
        path = tmp_path / f"{Path(log).stem}-reduced{len(list(tmp_path.iterdir()))}{suffix}"
        plan = make_plan(load_policy(policy), **{"groups": 1 << 20, **options})
        sums = sum_up(plan, [log], engine or duckdb)
        path.write_bytes(to_bytes(sums.statement, sums.columns, sums.sketches, path))
        return str(path)

    return reduce_it
