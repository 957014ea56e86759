"""DeepEval: the file of a test run, from the results folder or from `.deepeval`.

A record is a test case. What the file does not say (DeepEval's version, when a run was made) stays unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers._building import RunBuilder, describe
from gateline.readers._copies import refuse_copies, trace_of
from gateline.readers._deepeval_cases import Identity, find_question, identify_cases
from gateline.readers._deepeval_metrics import (
    find_aliases,
    find_criteria,
    find_facts,
    find_version,
    find_warnings,
    judges_of,
)
from gateline.readers._deepeval_sums import hold_cases, refuse_two_results
from gateline.readers._json_document import (
    first_line,
    measure,
    number_of,
    object_of,
    objects_of,
    parse_document,
    text_of,
)
from gateline.readers._shape import shape_of
from gateline.readers._source import ReadOptions, Source
from gateline.samples import Agreement, MetricFacts, Run

NAME = "deepeval"
_SECOND = 1000.0
_JUDGE_COST = "evaluation_cost_usd"

Record = dict[str, object]
Case = Mapping[str, object]


def looks_like(head: bytes, path: Path) -> bool:
    """Say whether this is a test run of DeepEval, or its link or cache, which hold no results."""
    shape = shape_of(head)
    if shape.kind != "object" or shape.goes_on:
        return False
    inner = shape.inner.get("testCases", frozenset())
    return (
        bool({"testRunData", "testRunLink", "test_cases_lookup_map"} & shape.keys)
        or {"testCases", "metricsScores"} <= shape.keys
        or {"testCases", "conversationalTestCases"} <= shape.keys
        or {"name", "input"} <= inner
    )


def read(source: Source, options: ReadOptions) -> Run:
    """Return a record for each test case.

    Raises InputError where the file has none, where it knows of failures that its test cases do not show, and where one
    has two results of a metric.
    """
    run = _find_run(parse_document(source), source)
    cases = [*objects_of(run.get("testCases")), *objects_of(run.get("conversationalTestCases"))]
    if not cases:
        raise InputError("0 samples: the test run has no test case", source.name)
    hold_cases(cases, run, source.name)
    refuse_two_results(cases, source.name)
    cases = sorted(cases, key=lambda case: number_of(case.get("order")) or 0)
    results: dict[str, list[Mapping[str, object]]] = {}
    for case in cases:
        for result in objects_of(case.get("metricsData")):
            results.setdefault(_name_of(result, source), []).append(result)
    if not results:
        raise InputError("no test case has a score (metricsData)", source.name)
    questions = [find_question(case) for case in cases]
    identity = identify_cases(cases, questions, source.name)
    records = [_read_case(case, question) for case, question in zip(cases, questions, strict=True)]
    _mark_unanswered(records)
    for record, name in zip(records, identity.ids, strict=True):
        record["id"] = name
    refuse_copies(source.name, identity.ids, [_trace(case) for case in cases])
    _number_attempts(records)
    builder = RunBuilder(source, ReadOptions(), NAME)
    builder.add(records, np.zeros(len(records), dtype=np.int64))
    unscored = [text for record in records for text in record["metric_errors"] or ()]  # type: ignore[attr-defined]
    described = _describe(builder.finish(), run, results, identity, unscored)
    return replace(
        described, made_ids=identity.is_made or options.id_field not in (None, "id", identity.field)
    )


def _find_run(value: object, source: Source) -> Mapping[str, object]:
    document = object_of(value)
    run = object_of(document.get("testRunData")) or document
    if "testCases" in run or "conversationalTestCases" in run:
        return run
    if "testRunLink" in document:
        raise InputError(
            "holds a link to Confident AI and no results",
            source.name,
            "set DEEPEVAL_RESULTS_FOLDER and hand over the test_run_… file that DeepEval writes there",
        )
    if "test_cases_lookup_map" in document:
        raise InputError(
            "is DeepEval's cache and not a test run", source.name, "hand over the test_run_… file"
        )
    raise InputError(
        "has no test cases", source.name, "a test run of DeepEval has testCases and metricsScores"
    )


def _name_of(result: Mapping[str, object], source: Source) -> str:
    name = result.get("name")
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"a result in metricsData has no name but {describe(name)}", source.name)
    return name


def _read_case(case: Case, question: str) -> Record:
    results = objects_of(case.get("metricsData"))
    scores = {str(result["name"]): number_of(result.get("score")) for result in results}
    errors = {str(result["name"]): text_of(result.get("error")) for result in results if result.get("error")}
    metadata = object_of(case.get("metadata")) or object_of(case.get("additionalMetadata"))
    labels = {name: item for name, item in metadata.items() if isinstance(item, str | bool | int | float)}
    tags = case.get("tags")
    return {
        "metrics": {"pass": _passed(case, results), **scores, **dict.fromkeys(errors)},
        "slices": {**labels, "tags": tags if isinstance(tags, list) else None},
        "question": question or None,
        "answer": _last_answer(case),
        "reference": case.get("expectedOutput") or case.get("expectedOutcome"),
        "latency_ms": measure(case.get("completionTime"), _SECOND),
        "cost_usd": measure(case.get("tokenCost")),
        "tokens.input": measure(case.get("inputTokenCount")),
        "tokens.output": measure(case.get("outputTokenCount")),
        _JUDGE_COST: measure(case.get("evaluationCost")),
        "metric_errors": [f"{name}: {first_line(text)}" for name, text in errors.items()] or None,
    }


def _trace(case: Case) -> str | None:
    """Return all that a test case holds but its name and place, which `--repeat` gives anew."""
    held = {name: value for name, value in case.items() if name not in ("name", "order")}
    return trace_of(held, [case.get("completionTime"), case.get("runDuration")])


def _last_answer(case: Case) -> object:
    turns = objects_of(case.get("turns"))
    said = [turn.get("content") for turn in turns if turn.get("role") == "assistant"]
    return said[-1] if said else case.get("actualOutput")


def _passed(case: Case, results: Sequence[Mapping[str, object]]) -> float | None:
    """Return whether a case passed; None where only metrics that could not be computed let it fail."""
    passed = case.get("success")
    if not isinstance(passed, bool):
        return None
    deciding = [one for one in results if one.get("flaky") is not True and one.get("success") is False]
    if not passed and deciding and all(one.get("error") for one in deciding):
        return None
    return float(passed)


def _mark_unanswered(records: Sequence[Record]) -> None:
    """Set `no_answer` as error of records whose answer is blank, where others have one."""
    answered = [bool(text_of(record["answer"])) for record in records]
    if any(answered) and not all(answered):
        for record, has in zip(records, answered, strict=True):
            record["error"] = None if has else "no_answer"


def _number_attempts(records: Sequence[Record]) -> None:
    times = Counter(record["id"] for record in records)
    counted: Counter[object] = Counter()
    if len(times) < len(records):
        for record in records:
            counted[record["id"]] += 1
            record["attempt"] = counted[record["id"]]


def _describe(
    run: Run,
    document: Mapping[str, object],
    results: Mapping[str, Sequence[Mapping[str, object]]],
    identity: Identity,
    unscored: Sequence[str],
) -> Run:
    facts = {name: said for name in results if (said := find_facts(name, results[name])) is not None}
    known = {
        "pass": MetricFacts("higher", (0.0, 1.0), _thresholds(results)),
        _JUDGE_COST: MetricFacts(None),
    }
    provenance = _state(document, results)
    must: dict[str, Agreement] = {
        name: "exactly"
        for name in provenance
        if name in ("judge", "dataset_version") or name.startswith("criteria.")
    }
    warnings = [identity.warning] if identity.warning else []
    if unscored:
        warnings.append(
            f"scores that DeepEval could not compute are missing: {len(unscored)} ({name_some(unscored, 2)})"
        )
    kept = {name: column for name, column in run.fields.items() if not _is_blank(column)}
    return replace(
        run,
        format_version=find_version(facts),
        fields=kept,
        slices={name: column for name, column in run.slices.items() if not _is_blank(column)},
        id_field=identity.field,
        warnings=(*warnings, *find_warnings(facts, results)),
        provenance=provenance,
        metric_facts={
            **facts,
            **{name: said for name, said in known.items() if name in (*run.metrics, *kept)},
        },
        aliases=find_aliases(list(results)),
        must_agree={**must, **({"reference": "exactly"} if "reference" in kept else {})},
    )


def _is_blank(column: object) -> bool:
    if isinstance(column, np.ndarray):
        return bool(np.isnan(column).all())
    return isinstance(column, list) and all(value is None for value in column)


def _thresholds(results: Mapping[str, Sequence[Mapping[str, object]]]) -> str:
    """Return what a case must reach to pass, as runs with other thresholds can't be compared by what passed."""
    told = []
    for name in sorted(results):
        limits = sorted(
            {limit for one in results[name] if (limit := number_of(one.get("threshold"))) is not None}
        )
        told.append(f"{name} {', '.join(f'{limit:g}' for limit in limits) or 'without a threshold'}")
    return "all of " + "; ".join(told)


def _state(
    document: Mapping[str, object], results: Mapping[str, Sequence[Mapping[str, object]]]
) -> dict[str, object]:
    """Return how the run was made: the user's hyperparameters, the judge, the dataset, prompts by name and version."""
    facts: dict[str, object] = {
        name: value
        for name, value in object_of(document.get("hyperparameters")).items()
        if isinstance(value, str | int | float | bool)
    }
    prompts = [
        "@".join(str(prompt[key]) for key in ("alias", "version") if prompt.get(key))
        for prompt in objects_of(document.get("prompts"))
    ]
    facts |= {
        "identifier": document.get("identifier"),
        "dataset": document.get("datasetAlias") or document.get("datasetId"),
        "dataset_version": document.get("datasetVersion"),
        "prompts": [prompt for prompt in prompts if prompt],
        **{f"criteria.{name}": find_criteria(found) for name, found in results.items()},
        "judge": judges_of([one for found in results.values() for one in found]),
    }
    return {name: value for name, value in facts.items() if value not in (None, "", [])}
