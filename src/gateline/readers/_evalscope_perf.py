"""EvalScope's stress tests: a record for each setting, with its means and percentiles in one set of units.

Up to 1.6 the tool writes the time to the first token in seconds, later in milliseconds; here all are milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gateline.errors import InputError
from gateline.readers._json_document import number_of
from gateline.samples import Column, MetricFacts, Run

_NAMES: tuple[tuple[str, str, float], ...] = (
    ("Avg Latency (s)", "latency_ms", 1000.0),
    ("Average latency (s)", "latency_ms", 1000.0),
    ("Avg TTFT (ms)", "ttft_ms", 1.0),
    ("Average time to first token (s)", "ttft_ms", 1000.0),
    ("Avg TPOT (ms)", "tpot_ms", 1.0),
    ("Average time per output token (s)", "tpot_ms", 1000.0),
    ("Avg ITL (ms)", "itl_ms", 1.0),
    ("Average inter-token latency (s)", "itl_ms", 1000.0),
    ("Output Throughput (tok/s)", "output_tokens_per_s", 1.0),
    ("Output token throughput (tok/s)", "output_tokens_per_s", 1.0),
    ("Req Throughput (req/s)", "requests_per_s", 1.0),
    ("Request throughput (req/s)", "requests_per_s", 1.0),
    ("Avg Input Tokens", "tokens.input", 1.0),
    ("Average input tokens per request", "tokens.input", 1.0),
    ("Avg Output Tokens", "tokens.output", 1.0),
    ("Average output tokens per request", "tokens.output", 1.0),
)
"""Key of the summary, name here, factor."""
_TOTAL = ("Total Requests", "Total requests")
_FAILED = ("Failed Requests", "Failed requests")
_SUCCEEDED = ("Success Requests", "Succeed requests")
_SHARE = "failed_share"
_CONCURRENCY = ("Concurrency", "Number of concurrency")
_RATE = ("Request Rate (req/s)", "Request rate (req/s)")
_SETTINGS = ("model", "dataset", "api", "stream", "max_tokens", "min_tokens", "temperature", "seed", "rate",
             "max_prompt_length", "min_prompt_length", "prefix_length")  # fmt: skip
_TIMED = re.compile(r"(Latency|TTFT|ITL|TPOT) \((s|ms)\)")
_PERCENTILE = re.compile(r"([0-9.]+)%")
_SETTING = re.compile(r"parallel_([0-9]+)_number_([0-9]+)")


@dataclass(frozen=True)
class LoadTest:
    """The numbers of one setting."""

    id: str
    numbers: dict[str, float]
    place: str
    concurrency: str = ""
    in_seconds: bool = False
    """Whether it was written up to 1.6."""


def read_test(
    summary: Mapping[str, object] | None, percentiles: object, place: str, setting: str
) -> LoadTest:
    """Return the numbers of one setting; `setting` is its name where no summary has its concurrency.

    Raises InputError where neither file has a number.
    """
    summary = summary or {}
    numbers: dict[str, float] = {}
    for key, name, factor in _NAMES:
        value = number_of(summary.get(key))
        if value is not None:
            numbers[name] = value * factor
    total = _first(summary, _TOTAL)
    numbers |= _count_requests(summary, total, place)
    numbers |= _read_percentiles(percentiles)
    if not numbers:
        raise InputError("has no number of a stress test", place)
    concurrency, rate = _first(summary, _CONCURRENCY), _first(summary, _RATE)
    if concurrency is not None and total is not None:
        setting = f"parallel_{concurrency:g}_number_{total:g}" + (
            f"_rate_{rate:g}" if rate and rate > 0 else ""
        )
    keys = {key for row in _rows(percentiles) for key in row} | set(summary)
    return LoadTest(
        setting,
        numbers,
        place,
        "" if concurrency is None else f"{concurrency:g}",
        in_seconds="Average latency (s)" in keys or "TTFT (s)" in keys,
    )


def _count_requests(summary: Mapping[str, object], total: float | None, place: str) -> dict[str, float]:
    """Return how many requests there were and failed; an InputError where the numbers do not add up."""
    failed, succeeded = _first(summary, _FAILED), _first(summary, _SUCCEEDED)
    if not total:
        return {}
    if failed is None and succeeded is not None:
        failed = total - succeeded
    failed = failed or 0.0
    if not 0 <= failed <= total or (succeeded is not None and failed + succeeded != total):
        told = f"{total:g} requests in all, {failed:g} failed"
        told += "" if succeeded is None else f" and {succeeded:g} succeeded"
        raise InputError(f"says {told}", place, "hand over the summary as EvalScope wrote it")
    return {
        "total_requests": total,
        "failed_requests": failed,
        _SHARE: failed / total,
        "success_rate": 1 - failed / total,
    }


def _read_percentiles(percentiles: object) -> dict[str, float]:
    found = {}
    for row in _rows(percentiles):
        match = _PERCENTILE.fullmatch(str(row.get("Percentiles")))
        if match is None:  # min and max
            continue
        for key, item in row.items():
            timed, value = _TIMED.fullmatch(key), number_of(item)
            if timed and value is not None:
                found[f"{timed[1].lower()}_p{match[1]}_ms"] = value * (1000.0 if timed[2] == "s" else 1.0)
    return found


def make_run(tests: Sequence[LoadTest], file: str, sha256: str, arguments: Mapping[str, object]) -> Run:
    """Return a record for each setting."""
    names = list(dict.fromkeys(name for test in tests for name in test.numbers))
    columns: dict[str, Column] = {
        name: np.array([test.numbers.get(name, np.nan) for test in tests]) for name in names
    }
    fields = {
        name for name in names if name.startswith("tokens.") or name.endswith("_requests") or name == _SHARE
    }
    warnings = []
    failed = {
        test.id: test.numbers["failed_requests"] for test in tests if test.numbers.get("failed_requests")
    }
    if failed:
        told = ", ".join(f"{number:g} in {name}" for name, number in failed.items())
        warnings.append(f"requests failed and are not in the means and percentiles: {told}")
    warnings.append("a setting is one record, so a change of its mean has no interval")
    return Run(
        file=file,
        sha256=sha256,
        format="evalscope-perf",
        format_version="up to 1.6" if any(test.in_seconds for test in tests) else "1.7 or later",
        ids=[test.id for test in tests],
        lines=np.zeros(len(tests), dtype=np.int64),
        origins=[test.place for test in tests],
        metrics={name: column for name, column in columns.items() if name not in fields},
        slices={"concurrency": [test.concurrency or None for test in tests]},
        fields={name: columns[name] for name in names if name in fields},
        provenance=_state(arguments),
        id_field="setting",
        made_ids=True,
        warnings=tuple(warnings),
        metric_facts={name: _facts(name) for name in names if name not in fields or name == _SHARE},
        aliases={"latency_avg_ms": "latency_ms"} if "latency_ms" in names else {},
        must_agree={"total_requests": "exactly"},
    )


def _facts(name: str) -> MetricFacts:
    if name == "success_rate":
        return MetricFacts("higher", (0.0, 1.0))
    if name == _SHARE:
        return MetricFacts(None)
    return MetricFacts("higher" if name.endswith("_per_s") else "lower", failed=_SHARE)


def _state(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return what shapes the load; addresses, headers and keys stay where they are."""
    return {name: arguments[name] for name in _SETTINGS if arguments.get(name) is not None}


def find_setting(folder: str) -> str:
    """Return the setting that a folder is named after, or that it is one of all requests."""
    return folder if _SETTING.fullmatch(folder) else "all requests"


def _rows(percentiles: object) -> list[Mapping[str, object]]:
    return [row for row in percentiles if isinstance(row, dict)] if isinstance(percentiles, list) else []


def _first(summary: Mapping[str, object], keys: Sequence[str]) -> float | None:
    return next((value for key in keys if (value := number_of(summary.get(key))) is not None), None)
