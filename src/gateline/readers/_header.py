"""What the header of gateline's own format says of a run beside its provenance: of metrics, names and comparisons.

`convert` writes it so that a converted run is held to the same as the file it came from. It must not read records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

from gateline.errors import InputError
from gateline.readers._building import describe
from gateline.samples import Agreement, MetricFacts, Run

KEYS = ("metrics", "aliases", "must_agree", "unpaired")


def write_statements(run: Run) -> dict[str, object]:
    """Return the keys of the header for a run; none where there is nothing to say."""
    said: dict[str, object] = {
        "metrics": {name: _write_facts(facts) for name, facts in run.metric_facts.items()},
        "aliases": dict(run.aliases),
        "must_agree": dict(run.must_agree),
        "unpaired": run.unpaired,
    }
    return {name: value for name, value in said.items() if value}


def _write_facts(facts: MetricFacts) -> dict[str, object]:
    said: dict[str, object] = {"better": facts.better}
    if facts.range is not None:
        said["range"] = list(facts.range)
    if facts.definition:
        said["definition"] = facts.definition
    if facts.failed:
        said["failed"] = facts.failed
    return said


def read_statements(header: Mapping[str, object], place: str) -> dict[str, Any]:
    """Return fields of a `Run` from the keys of a header; an InputError for a value that is none."""
    said: dict[str, Any] = {}
    if "metrics" in header:
        said["metric_facts"] = {
            name: _read_facts(name, value, place) for name, value in _object(header, "metrics", place).items()
        }
    for key, allowed in (("aliases", None), ("must_agree", get_args(Agreement))):
        if key in header:
            said[key] = _object(header, key, place)
            for name, value in said[key].items():
                if not isinstance(value, str) or (allowed is not None and value not in allowed):
                    wanted = " or ".join(allowed) if allowed else "a text"
                    raise InputError(f"{key}.{name} must be {wanted}, not {describe(value)}", place)
    if "unpaired" in header:
        if not isinstance(header["unpaired"], str):
            raise InputError(f"'unpaired' must be a text, not {describe(header['unpaired'])}", place)
        said["unpaired"] = header["unpaired"]
    return said


def _object(header: Mapping[str, object], key: str, place: str) -> dict[str, object]:
    value = header[key]
    if not isinstance(value, dict):
        raise InputError(f"'{key}' of the header must be an object, not {describe(value)}", place)
    return value


def _read_facts(name: str, value: object, place: str) -> MetricFacts:
    said = value if isinstance(value, dict) else {}
    better, ends, definition = said.get("better"), said.get("range"), said.get("definition", "")
    failed = said.get("failed", "")
    is_range = ends is None or (isinstance(ends, list) and len(ends) == 2 and all(map(_is_number, ends)))
    are_texts = isinstance(definition, str) and isinstance(failed, str)
    if not said or better not in (None, "higher", "lower") or not is_range or not are_texts:
        raise InputError(
            f"metrics.{name} of the header must be such as {{better: higher, range: [0, 1]}}, not {describe(value)}",
            place,
        )
    return MetricFacts(better, None if ends is None else (float(ends[0]), float(ends[1])), definition, failed)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
