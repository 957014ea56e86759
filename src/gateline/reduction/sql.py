"""The one SQL statement that makes the sums, in the dialect that DuckDB and Spark share.

It reads a relation `log` with one row a record and the columns that `columns_of` names, and runs nothing itself.
All sums are sums of whole numbers, so that neither the engine nor the order of rows changes a digit: a value is its
floor and the rest in units of 2^-44. From inside outwards: records are read and their missing values settled
(`records`), attempts become questions (`questions`), questions are summed up by group, slice and bin of a sketch.
"""

from __future__ import annotations

from gateline.reduction.expressions import quote, split_sum
from gateline.reduction.plan import Plan
from gateline.reduction.records import CAUSES, LOST_UNIT, Kind, Questions


def make_sql(plan: Plan, kinds: dict[str, Kind]) -> str:
    """Return the statement; `kinds` says for each column of `log` how it is read."""
    return Questions(plan, kinds).text() + _Sums(plan).text()


def make_search(
    plan: Plan, kinds: dict[str, Kind], condition: str, *, shown: str = "tries", most: int = 5
) -> str:
    """Return a statement that finds questions for a message: their ids and one more column."""
    return (
        Questions(plan, kinds).text()
        + f"SELECT id, {shown} FROM questions WHERE {condition} ORDER BY id LIMIT {most}"
    )


def make_attempts_search(plan: Plan, kinds: dict[str, Kind]) -> str:
    """Return a statement that finds ids with two records that nothing tells apart."""
    return Questions(plan, kinds).text() + (
        "SELECT id, count(*) AS tries FROM records GROUP BY id "
        "HAVING count(*) > 1 AND (count(DISTINCT attempt) < count(*) OR min(attempt) = '') ORDER BY id LIMIT 5"
    )


class _Sums:
    """Makes the outer part: sums by group, slice and bin in one pass over `questions`."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.metrics = list(plan.metrics.items())
        self.named = list(plan.named)

    def text(self) -> str:
        places = [f"label{self.plan.labels.index(name)}" for name in self.plan.families]
        places += [f"in{k}" for k in range(len(self.named))]
        bins = [f"bin{at}" for at, (name, _) in enumerate(self.metrics) if name in self.plan.sketched]
        sets = [f"grp, {place}" if place else "grp" for place in ["", *places]]
        for at, (name, _) in enumerate(self.metrics):
            sets += [f"grp, {place}, bin{at}".replace(" ,", "") for place in self._sketched_places(name)]
        columns = [f"{self._place_text()} AS place", "grp", f"{_which(bins)} AS sketch",
                   f"{_code(bins)} AS bin", *self._sums()]  # fmt: skip
        return (
            "SELECT * FROM (\nSELECT "
            + ",\n  ".join(columns)
            + "\nFROM questions\nGROUP BY GROUPING SETS (\n  "
            + ",\n  ".join(f"({one})" for one in sets)
            + ")\n) summed WHERE place IS NOT NULL AND bin IS NOT NULL"
        )

    def _sketched_places(self, metric: str) -> list[str]:
        """Return the columns of the slices in which a rule looks at a quantile; the empty one is the whole run."""
        found: dict[str, None] = {}
        for place in self.plan.sketched.get(metric, ()):
            if place in self.named:
                found[f"in{self.named.index(place)}"] = None
            else:
                found[f"label{self.plan.labels.index(place)}" if place else ""] = None
        return list(found)

    def _place_text(self) -> str:
        cases = []
        for label in self.plan.families:
            column = f"label{self.plan.labels.index(label)}"
            cases.append(f"WHEN GROUPING({column}) = 0 THEN concat({quote(label + '=')}, {column})")
        for k, name in enumerate(self.named):
            cases.append(f"WHEN GROUPING(in{k}) = 0 THEN CASE WHEN in{k} = 1 THEN {quote(name)} END")
        return f"CASE {' '.join(cases)} ELSE '' END" if cases else "''"

    def _sums(self) -> list[str]:
        columns = [
            "count(*) AS questions",
            "CAST(sum(tries) AS BIGINT) AS records",
            "CAST(max(tries) AS BIGINT) AS attempts",
            "CAST(sum(CASE WHEN tries > 1 THEN 1 ELSE 0 END) AS BIGINT) AS repeated",
            "CAST(sum(odd) AS BIGINT) AS odd",
            "CAST(sum(differs) AS BIGINT) AS differing",
            "CAST(sum(hash1) AS BIGINT) AS hash1",
            "CAST(sum(hash2) AS BIGINT) AS hash2",
            "CAST(sum(CASE WHEN has_input = 1 THEN hash3 ELSE 0 END) AS BIGINT) AS hash3",
            "CAST(sum(hash4) AS BIGINT) AS hash4",
            "CAST(sum(has_input) AS BIGINT) AS inputs",
        ]
        for at in range(len(self.plan.facts)):
            columns += [f"min(least{at}) AS least{at}", f"max(most{at}) AS most{at}",
                        f"CAST(sum(silent{at}) AS BIGINT) AS silent{at}"]  # fmt: skip
        for at, (_, metric) in enumerate(self.metrics):
            share = f"(tries - used{at}) * CAST({LOST_UNIT} AS DOUBLE) / tries"
            lost = f"CAST(floor({share} + 0.5) AS BIGINT)"
            columns += [
                f"CAST(sum(due{at}) AS BIGINT) AS due{at}",
                f"CAST(sum(CASE WHEN used{at} > 0 THEN 1 ELSE 0 END) AS BIGINT) AS used{at}",
                f"CAST(sum(CASE WHEN due{at} = 0 THEN 0 ELSE {lost} END) AS BIGINT) AS lost{at}",
                f"CAST(sum(CASE WHEN bad{at} > 0 THEN 1 ELSE 0 END) AS BIGINT) AS bad{at}",
                *split_sum(f"value{at}"),
                f"min(value{at}) AS min{at}",
                f"max(value{at}) AS max{at}",
            ]
            columns += [f"CAST(sum(CASE WHEN cause{at} = {code} THEN 1 ELSE 0 END) AS BIGINT) AS cause{at}_{code}"
                        for code in CAUSES]  # fmt: skip
            if metric.ratio:
                columns += [*split_sum(f"weight{at}"), f"max(weight{at}) AS heaviest{at}"]
        return columns


def _which(bins: list[str]) -> str:
    cases = [f"WHEN GROUPING({name}) = 0 THEN {name.removeprefix('bin')}" for name in bins]
    return f"CASE {' '.join(cases)} ELSE -1 END" if cases else "-1"


def _code(bins: list[str]) -> str:
    cases = [f"WHEN GROUPING({name}) = 0 THEN {name}" for name in bins]
    return f"CASE {' '.join(cases)} ELSE 0 END" if cases else "0"
