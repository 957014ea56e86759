"""The same statement on both engines: the same bytes; and runs of other questions, as traffic has them."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pytest
from logs_of_runs import make_records, policy_text, write_log

from conftest import Reduce
from gateline.errors import InputError
from gateline.gate import check
from gateline.policy import load_policy
from gateline.reduction.columns import columns_of
from gateline.reduction.engines import DuckDB, Engine, Row
from gateline.reduction.expressions import STEPS, bin_of, edges_of_bin
from gateline.reduction.logs import choose_columns, open_log
from gateline.reduction.plan import make_plan
from gateline.reduction.sql import make_count, make_sketches, make_sums
from gateline.reduction.summing import sum_up

DAY = datetime.date(2026, 1, 1)


# A socket of py4j that is collected before it is closed is none of our business.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("suffix", [".json", ".parquet"])
@pytest.mark.parametrize("cluster", [None, "doc"])
def test_spark_and_duckdb_write_the_same_bytes(
    tmp_path: Path, reduce_log: Reduce, spark: Engine, suffix: str, cluster: str | None
) -> None:
    policy = tmp_path / "policy.yml"
    policy.write_text(policy_text(cluster=cluster))
    log = write_log(tmp_path / "log.jsonl", make_records(1, harsh=True))
    files = [reduce_log(log, str(policy), engine=one, suffix=suffix, groups=256) for one in (None, spark)]
    assert Path(files[0]).read_bytes() == Path(files[1]).read_bytes()


@pytest.mark.parametrize("cluster", [None, "doc"])
@pytest.mark.parametrize("harsh", [True, False])
def test_records_of_their_own_are_summed_up_as_if_ids_could_repeat(
    tmp_path: Path, duckdb: Engine, cluster: str | None, harsh: bool
) -> None:
    """Where no id is repeated nothing is grouped by id, and no digit of sums or sketches may differ for that."""
    policy, each = tmp_path / "policy.yml", {one["id"]: one for one in make_records(1, harsh=harsh)}
    policy.write_text(policy_text(cluster=cluster))
    log = open_log([write_log(tmp_path / "log.jsonl", list(each.values()))])
    plan = make_plan(load_policy(str(policy)), groups=64)
    columns = choose_columns(log, columns_of(plan))
    kinds = {column.name: column.kind for column in columns}
    duckdb.show(log, columns)
    assert duckdb.run(make_count(plan, kinds))[1] == [(len(each), 1, 1)]
    for make in (make_sums, make_sketches):
        found = [duckdb.run(make(plan, kinds, repeated=repeated)) for repeated in (True, False)]
        assert len(found[0][1]) > 64
        assert found[0][0] == found[1][0] and sorted(found[0][1], key=str) == sorted(found[1][1], key=str)


def test_a_log_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="reduce needs DuckDB: pip install 'gateline[reduce]'")
    policy, path = tmp_path / "policy.yml", tmp_path / "log.jsonl"
    policy.write_text(policy_text())
    records = make_records(1)
    write_log(path, records[:-1])

    class Growing(DuckDB):
        def run(self, sql: str) -> tuple[list[str], list[Row]]:
            found = super().run(sql)
            write_log(path, records)
            return found

    engine = Growing()
    with pytest.raises(InputError, match="log changed while it was read"):
        sum_up(make_plan(load_policy(str(policy))), [str(path)], engine)
    assert sum_up(make_plan(load_policy(str(policy))), [str(path)], engine).statement["records"] == len(
        records
    )
    engine.close()


def test_the_order_of_records_changes_no_byte(tmp_path: Path, reduce_log: Reduce) -> None:
    policy = tmp_path / "policy.yml"
    policy.write_text(policy_text(cluster="doc"))
    records = make_records(1, harsh=True)
    logs = [write_log(tmp_path / f"{at}.jsonl", one) for at, one in enumerate((records, records[::-1]))]
    files = [Path(reduce_log(log, str(policy), groups=64)).read_bytes() for log in logs]
    assert files[0] == files[1]


def test_a_value_lies_in_its_bin_also_beside_a_power_of_two(duckdb: Engine) -> None:
    powers = 2.0 ** np.arange(-29, 40)
    values = np.concatenate(
        [powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf), -powers, [0.0, 0.1, 3e11]]
    )
    rows = ", ".join(f"(CAST('{value!r}' AS DOUBLE))" for value in values.tolist())
    _, found = duckdb.run(f"SELECT x, {bin_of('x')} FROM (VALUES {rows}) AS t(x)")
    assert len(found) == len(values)
    for value, code in found:
        low, high = edges_of_bin(code)
        assert low <= value <= high
        assert high - low <= abs(value) / STEPS * (1 + 1e-12)


def test_runs_of_other_questions_are_compared_as_independent(tmp_path: Path, reduce_log: Reduce) -> None:
    """Against the normal interval of a difference of two means, which 1,500 questions a side come close to."""
    policy = tmp_path / "policy.yml"
    policy.write_text(policy_text())
    runs = []
    for seed in (1, 2):
        records = make_records(seed, questions=1500)
        for one in records:
            one["id"] = f"run{seed}-{one['id']}"
        runs.append(records)
    logs = [write_log(tmp_path / f"{at}.jsonl", one) for at, one in enumerate(runs)]
    text = "\n".join(line for line in policy_text().splitlines() if "metric: spent, worse" not in line)
    independent = text.replace("{at_least: 30}", "{at_least: 30, on_mismatch: independent}")
    assert independent != text
    policy.write_text(independent + "\n")
    files = [reduce_log(log, str(policy)) for log in logs]
    verdict = check(str(policy), *files, on=DAY)
    assert verdict.problems == []
    finding = next(one for one in verdict.findings if one.rule == "good-tolerance")
    first, second = (np.array([one["metrics"]["good"] for one in run], dtype=float) for run in runs)
    error = np.sqrt(first.var(ddof=1) / 1500 + second.var(ddof=1) / 1500)
    assert finding.gain == pytest.approx(second.mean() - first.mean(), abs=1e-12)
    assert finding.interval is not None
    wanted = [finding.gain - 1.96 * error, finding.gain + 1.96 * error]
    assert [finding.interval.low, finding.interval.high] == pytest.approx(wanted, abs=0.1 * error)
    relative = next(one for one in verdict.findings if one.rule == "cost-tolerance")
    assert relative.interval is not None and relative.interval.of == "relative_gain"
    policy.write_text(text + "\n")
    assert check(str(policy), *(reduce_log(log, str(policy)) for log in logs), on=DAY).verdict == "invalid"
