"""The SQL statements that make the sums and the sketches, in the dialect that DuckDB and Spark share.

They read a relation `log` with one row a record and the columns that `columns_of` names; nothing is run here.
All sums are sums of whole numbers, so that neither the engine nor the order of rows changes a digit: a value is its
floor and the rest in units of 2^-44. From inside outwards: records are read and their missing values settled
(`records`), attempts become questions (`questions`), questions are summed up by group and slice, and counted by bin
of a sketch.
"""

from __future__ import annotations

from gateline.reduction.columns import Kind
from gateline.reduction.expressions import quote, split_sum
from gateline.reduction.plan import Plan
from gateline.reduction.records import CAUSES, LOST_UNIT, Questions


def make_count(plan: Plan, kinds: dict[str, Kind]) -> str:
    """Return the statement that counts records, and the most of one id; `kinds` says how columns are read."""
    return Questions(plan, kinds).count_ids()


def make_sums(plan: Plan, kinds: dict[str, Kind], *, repeated: bool) -> str:
    """Return the statement that sums questions up; `repeated` says whether an id has several records."""
    return Questions(plan, kinds, repeated=repeated).text() + _Sums(plan).text()


def make_sketches(plan: Plan, kinds: dict[str, Kind], *, repeated: bool) -> str:
    """Return the statement that counts the values in the bins of sketches; empty where no rule asks for one."""
    counts = _Sums(plan).sketches()
    return Questions(plan, kinds, repeated=repeated).text() + counts if counts else ""


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
    """Makes the outer part over `questions`: sums by group and slice, and counts by group, slice and bin."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.metrics = list(plan.metrics.items())
        self.named = list(plan.named)

    def text(self) -> str:
        places = [f"label{self.plan.labels.index(name)}" for name in self.plan.families]
        places += [f"in{k}" for k in range(len(self.named))]
        return self._group([["grp", place] if place else ["grp"] for place in ["", *places]], self._sums())

    def sketches(self) -> str:
        """Counts only, and apart from the sums: there are a hundred times as many bins as groups."""
        sketched = [(at, name) for at, (name, _) in enumerate(self.metrics) if name in self.plan.sketched]
        sets = [
            [column for column in ("grp", place, f"bin{at}") if column]
            for at, name in sketched
            for place in self._sketched_places(name)
        ]
        if not sets:
            return ""
        bins = [f"bin{at}" for at, _ in sketched]
        columns = [f"{_which(bins)} AS sketch", f"{_code(bins)} AS bin", "count(*) AS questions"]
        return self._group(sets, columns) + " AND bin IS NOT NULL"

    def _group(self, sets: list[list[str]], columns: list[str]) -> str:
        shown = [f"{self._place_text({column for one in sets for column in one})} AS place", "grp", *columns]
        return (
            "SELECT * FROM (\nSELECT "
            + ",\n  ".join(shown)
            + "\nFROM questions\nGROUP BY GROUPING SETS (\n  "
            + ",\n  ".join(f"({', '.join(one)})" for one in sets)
            + ")\n) summed WHERE place IS NOT NULL"
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

    def _place_text(self, grouped: set[str]) -> str:
        """The name of a row's slice, told from which of the `grouped` columns it was made by."""
        names = {}
        for label in self.plan.families:
            column = f"label{self.plan.labels.index(label)}"
            names[column] = f"concat({quote(label + '=')}, {column})"
        for k, name in enumerate(self.named):
            names[f"in{k}"] = f"CASE WHEN in{k} = 1 THEN {quote(name)} END"
        cases = [
            f"WHEN GROUPING({column}) = 0 THEN {text}" for column, text in names.items() if column in grouped
        ]
        return f"CASE {' '.join(cases)} ELSE '' END" if cases else "''"

    def _sums(self) -> list[str]:
        columns = [
            "count(*) AS questions",
            "CAST(sum(tries) AS BIGINT) AS records",
            "CAST(max(tries) AS BIGINT) AS attempts",
            "count(CASE WHEN tries > 1 THEN 1 END) AS repeated",
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
                f"count(CASE WHEN used{at} > 0 THEN 1 END) AS used{at}",
                f"CAST(sum(CASE WHEN due{at} = 0 THEN 0 ELSE {lost} END) AS BIGINT) AS lost{at}",
                f"count(CASE WHEN bad{at} > 0 THEN 1 END) AS bad{at}",
                *split_sum(f"value{at}"),
                f"min(value{at}) AS min{at}",
                f"max(value{at}) AS max{at}",
            ]
            columns += [
                f"count(CASE WHEN cause{at} = {code} THEN 1 END) AS cause{at}_{code}" for code in CAUSES
            ]
            if metric.ratio:
                columns += [
                    *split_sum(f"weight{at}"),
                    f"max(weight{at}) AS heaviest{at}",
                    f"count(CASE WHEN weight{at} > 0 THEN 1 END) AS weighed{at}",
                ]
        return columns


def _which(bins: list[str]) -> str:
    cases = [f"WHEN GROUPING({name}) = 0 THEN {name.removeprefix('bin')}" for name in bins]
    return f"CASE {' '.join(cases)} ELSE -1 END" if cases else "-1"


def _code(bins: list[str]) -> str:
    cases = [f"WHEN GROUPING({name}) = 0 THEN {name}" for name in bins]
    return f"CASE {' '.join(cases)} ELSE 0 END" if cases else "0"
