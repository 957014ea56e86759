"""Rows for `all` queries in a table of measures, held against the rows of the single queries.

Where a mean is not that of its rows, rows were changed, added or taken away. Nothing here makes a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateline.errors import InputError, Problem, count_of
from gateline.readers._told_sums import count_decimals
from gateline.samples import read_number

_SUMS = frozenset({"num_ret", "num_rel", "num_rel_ret"})
_SLACK = 1e-9
_HINT = "hand over the table as the tool wrote it; rows of two runs or of other labels are not one run"


@dataclass
class Written:
    """What a table says of one measure."""

    values: dict[str, float] = field(default_factory=dict)
    """Of each query."""
    decimals: int = 0
    """Most digits behind the point among them."""

    def take(self, query: str, value: float, text: str) -> None:
        """Take the value of a query, which the table has as `text`."""
        self.values[query] = value
        self.decimals = max(self.decimals, count_decimals(text))


def count_queries(means: Mapping[str, str], rows: int, file: str) -> int:
    """Return how many queries the means are over; an InputError where `rows` queries are more than they counted."""
    counted = read_number(means.get("num_q", ""))
    if counted is None or not math.isfinite(counted):
        return rows
    if counted < rows:
        queries = f"{counted:g} {'query' if counted == 1 else 'queries'}"
        raise InputError(f"its means count {queries}, and {count_of(rows, 'has', 'have')} rows", file, _HINT)
    return int(counted)


def hold_means(
    measures: Mapping[str, Written], means: Mapping[str, str], shares: frozenset[str], queries: int, file: str
) -> None:
    """Raise an InputError for each measure whose mean over `queries` is not that of its rows, beyond rounding.

    `shares` are the measures of which the tools write plain means. A query that was counted and has no row had no
    result, and counts as 0 (trec_eval -c). Counts of documents are sums, and are held where every query has a row.
    """
    problems = []
    for name, told in means.items():
        written, said = measures.get(name), read_number(told)
        if written is None or said is None or not math.isfinite(said):
            continue
        total = math.fsum(written.values.values())
        if name in _SUMS and len(written.values) == queries:
            found, what, allowed = total, "sum", _SLACK
        elif name in shares:
            found, what = total / queries, "mean"
            allowed = 0.5 * 10.0**-written.decimals + 0.5 * 10.0 ** -count_decimals(told) + _SLACK
        else:
            continue
        if abs(found - said) > allowed:
            shown = f"{found:.{written.decimals}f}"
            rows = f"the rows of {count_of(len(written.values), 'query', 'queries')}"
            problems.append(
                Problem(
                    f"the {what} of {name} is {told} in its row for all, and {shown} by {rows}", file, _HINT
                )
            )
    if problems:
        raise InputError(f"rows and means of {file} are not of one run", problems=problems[:5])
