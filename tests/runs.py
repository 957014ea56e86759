"""A tiny language for runs in tests, and short ways to judge them.

    q1 en 1>1  q2 de risk=high 1>0  q3 de 0>?  q4 1>!  q5 1>-  a*30 en 1>1

An id, labels, then the value before and after the change. A bare label is a language, any other is `name=value`.
`?` is no score, `!` no answer, `-` no record; `1,0` are two attempts; `a*30` makes a1 … a30. Fields beside the score
are added by hand.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gateline.comparison import Comparison
from gateline.findings import Finding
from gateline.gate import Options, check
from gateline.pairing import Pairs, pair, refuse_missing
from gateline.policy import PolicyFile, read_policy
from gateline.samples import Column, Run
from gateline.verdict import Verdict

Record = dict[str, Any]
DAY = datetime.date(2026, 6, 1)
SHARED = Path(__file__).resolve().parents[2] / "shared"


def records(text: str, metric: str = "score") -> tuple[list[Record], list[Record]]:
    """Return the baseline's and the candidate's records of a text in the tiny language."""
    before: list[Record] = []
    after: list[Record] = []
    name, labels = "", {}
    for word in text.split():
        if ">" in word:
            for one in _repeat(name):
                for side, values in zip((before, after), word.split(">"), strict=True):
                    side.extend(_attempts(one, dict(labels), values, metric))
            name, labels = "", {}
        elif not name:
            name = word
        else:
            label, equals, value = word.partition("=")
            labels[label if equals else "language"] = value if equals else label
    assert not name, f"no values after {name}"
    return before, after


def _repeat(name: str) -> list[str]:
    start, star, number = name.partition("*")
    return [f"{start}{place}" for place in range(1, int(number) + 1)] if star else [name]


def _attempts(name: str, labels: dict[str, str], values: str, metric: str) -> list[Record]:
    if values == "-":
        return []
    texts = values.split(",")
    made = []
    for number, text in enumerate(texts, 1):
        record: Record = {"id": name, "slices": dict(labels), "metrics": {metric: None}}
        if text == "!":
            record["error"] = "no_answer"
        elif text != "?":
            record["metrics"] = {metric: float(text)}
        if len(texts) > 1:
            record["attempt"] = number
        made.append(record)
    return made


def set_field(side: Iterable[Record], **values: Any) -> None:
    """Give every record of a side the same fields."""
    for record in side:
        record.update(values)


def set_metric(side: Sequence[Record], name: str, values: Iterable[float | None]) -> None:
    """Give the records of a side another metric, one value each."""
    for record, value in zip(side, values, strict=True):
        record["metrics"][name] = value


def make_run(
    side: Sequence[Record], file: str = "candidate.jsonl", header: dict[str, Any] | None = None
) -> Run:
    """Return records as a run in memory, in the form that readers give it."""
    metrics, slices, fields = {}, {}, {}
    for name in _names(record.get("metrics", {}) for record in side):
        metrics[name] = _column([record.get("metrics", {}).get(name) for record in side])
    for name in _names(record.get("slices", {}) for record in side):
        slices[name] = _column([record.get("slices", {}).get(name) for record in side], as_text=True)
    for name in _names(side):
        if name not in ("id", "metrics", "slices"):
            fields[name] = _column([record.get(name) for record in side])
    return Run(
        file=file,
        sha256=f"sha of {file} {json.dumps([header, *side], sort_keys=True)}",
        format="gateline-jsonl",
        ids=[record["id"] for record in side],
        lines=np.arange(len(side), dtype=np.int64) + (1 if header is None else 2),
        metrics=metrics,
        slices=slices,
        fields=fields,
        provenance=header or {},
    )


def _names(sections: Iterable[Record]) -> list[str]:
    return list(dict.fromkeys(name for section in sections for name in section))


def _column(values: list[Any], *, as_text: bool = False) -> Column:
    numbers = all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values
    )
    if numbers and not as_text and any(value is not None for value in values):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return values


def make_runs(text: str, metric: str = "score") -> tuple[Run, Run]:
    """Return a text in the tiny language as two runs in memory."""
    before, after = records(text, metric)
    return make_run(before, "baseline.jsonl"), make_run(after)


def policy_text(*rules: str, **parts: str) -> str:
    """Return a policy: rules and parts as YAML in flow style; the metric `score` is between 0 and 1."""
    written = {
        "metrics": "{score: {better: higher, range: [0, 1]}}",
        "samples": "{at_least: 1}",
        "slices": "{at_least: 1}",
        **parts,
    }
    lines = ["version: 1", "name: gate", *(f"{name}: {text}" for name, text in written.items() if text)]
    return "\n".join([*lines, "rules:", *(f"  - {rule}" for rule in rules)]) + "\n"


LIMIT = "{id: floor, kind: limit, metric: score, at_least: 0.5}"
TOLERANCE = "{id: holds, kind: tolerance, metric: score, worse_by_at_most: 0.1}"


def read(*rules: str, **parts: str) -> PolicyFile:
    """Return a policy of these rules and parts, read."""
    return read_policy(policy_text(*rules, **parts), "policy.yml")


def make_pairs(
    runs: str | Sequence[Run | None], *rules: str, golden: Run | None = None, **parts: str
) -> Pairs:
    """Pair two runs under a policy of these rules and parts."""
    baseline, candidate = make_runs(runs) if isinstance(runs, str) else runs
    assert candidate is not None
    terms = read(*(rules or (LIMIT,)), **parts).terms()
    pairs = pair(baseline, candidate, golden, terms)
    refuse_missing(pairs, terms)
    return pairs


def judge(runs: str | Sequence[Run | None], *rules: str, **parts: str) -> list[Finding]:
    """Return the findings of these rules on two runs, in the policy's order."""
    policy = read(*rules, **parts)
    comparison = Comparison(
        make_pairs(runs, *rules, **parts), policy.policy.metrics, policy.policy.statistics
    )
    return [finding for rule in policy.policy.rules for finding in rule.check(comparison)]


def judge_one(runs: str | Sequence[Run | None], rule: str, **parts: str) -> Finding:
    """Return the one finding of one rule."""
    (finding,) = judge(runs, rule, **parts)
    return finding


def write_run(path: Path, side: Sequence[Record], header: dict[str, Any] | None = None) -> Path:
    """Write records as gateline's own JSON Lines."""
    lines = [] if header is None else [{"gateline": 1, "run": header}]
    path.write_text("".join(json.dumps(one) + "\n" for one in [*lines, *side]), encoding="utf-8")
    return path


def write_gate(
    folder: Path, runs: str | tuple[Sequence[Record], Sequence[Record]], *rules: str, **parts: str
) -> Path:
    """Write policy.yml, baseline.jsonl and candidate.jsonl to a folder, and return the folder."""
    before, after = records(runs) if isinstance(runs, str) else runs
    write_run(folder / "baseline.jsonl", before)
    write_run(folder / "candidate.jsonl", after)
    (folder / "policy.yml").write_text(policy_text(*rules, **parts), encoding="utf-8")
    return folder


def check_gate(
    folder: Path,
    *,
    on: datetime.date = DAY,
    base_policy: Path | None = None,
    baseline: bool = True,
    **options: Any,
) -> Verdict:
    """Run the whole gate on the files of a folder."""
    return check(
        folder / "policy.yml",
        folder / "baseline.jsonl" if baseline else None,
        folder / "candidate.jsonl",
        on=on,
        base_policy=base_policy,
        options=Options(**options),
    )
