"""An EvalScope report, held against the reviews beside it: where they have other means, some samples were changed.

Nothing here makes a run.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from gateline.errors import InputError, Problem
from gateline.readers._evalscope_reports import Report, ReportedMetric, allowed_error, find_names
from gateline.readers._json_document import number_of, object_of

_HINT = "keep the reports and reviews of one run, as EvalScope wrote them, whole and unchanged"

Records = Mapping[tuple[str, str, int], Mapping[str, object]]
_Scores = Mapping[str, list[float]]


def hold_reports(records: Records, reports: Sequence[Report], unscored: Container[str], file: str) -> None:
    """Raise an InputError where a plain mean of a report is not that of its samples, or is of more than there are.

    `unscored` are the metrics that EvalScope could not compute everywhere, and counted as 0.
    """
    scores: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    counted: dict[tuple[str, str], int] = defaultdict(int)
    for (dataset, subset, _), record in records.items():
        values = object_of(record.get("metrics"))
        counted[dataset, subset] += bool(values)
        for name, value in values.items():
            number = number_of(value)
            if number is not None:
                scores[dataset, subset][name].append(number)
    problems: list[Problem] = []
    for report in reports:
        for (dataset, subset), values_of in scores.items():
            if dataset == report.dataset:
                told = _hold_subset(report, subset, values_of, counted[dataset, subset], unscored)
                problems += [Problem(f"{what} in {dataset}/{subset}", file, _HINT) for what in told]
    if problems:
        raise InputError("the report is not that of the reviews", problems=problems)


def _hold_subset(
    report: Report, subset: str, scores: _Scores, samples: int, unscored: Container[str]
) -> list[str]:
    found = []
    allowed = allowed_error(one for metric in report.metrics for one in metric.subsets.values())
    for name, metric in find_names(report, list(scores)).items():
        if subset not in metric.subsets or not metric.is_mean or name in unscored:
            continue
        told, mean = metric.subsets[subset], math.fsum(scores[name]) / len(scores[name])
        if abs(told - mean) > allowed:
            found.append(f"{name} is {told:g} in the report, and {mean:.4f} by its reviews")
        elif _number(metric, subset) > samples:
            found.append(
                f"{name} is of {_number(metric, subset)} samples in the report, and {samples} have a review"
            )
    return found


def _number(metric: ReportedMetric, subset: str) -> int:
    return metric.numbers.get(subset, 0)
