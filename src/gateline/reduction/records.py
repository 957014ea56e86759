"""The inner part of the statement: records are read, missing values settled, attempts made questions.

What a missing value means here is what it means in `pairing.values`. It runs nothing and knows no engine.
"""

from __future__ import annotations

from gateline.metric import Metric
from gateline.reduction.columns import Kind, input_fields
from gateline.reduction.expressions import bin_of, double, mean, quote, strip
from gateline.reduction.plan import Plan
from gateline.samples import MISSING_TEXTS

SMALLEST, LARGEST = 1e-9, 1e12
"""Sizes between which a value can be summed up here."""
LOST_UNIT = 1 << 20
"""Units of the part of a question's attempts that is lost."""
CAUSES = {1: "no_answer", 2: "no_score", 3: "cached", 4: "price_unknown", 5: "no_answer"}
COUNTED_WORST = 5
BAD = {
    1: "is not a number",
    2: f"can't be summed up: its size is not between {SMALLEST:g} and {LARGEST:g}",
    3: "lies outside the range of the metric",
    4: "is below 0, and it is a time, a cost or a denominator",
}


class Questions:
    """Makes the text of the common tables up to `questions`, one row a question with its groups and bins.

    Where no id is `repeated`, a record is a question as it stands: nothing has to be grouped by id, which is what
    costs most.
    """

    def __init__(self, plan: Plan, kinds: dict[str, Kind], *, repeated: bool = True):
        self.plan = plan
        self.kinds = kinds
        self.repeated = repeated
        self.metrics = list(plan.metrics.items())
        self.missing = plan.policy.policy.missing
        self.named = list(plan.named)
        self.tops = [
            at for at, (name, metric) in enumerate(self.metrics) if self._counts_slowest(name, metric)
        ]

    def _counts_slowest(self, name: str, metric: Metric) -> bool:
        """Whether a failed request counts at least as the worst one that was answered."""
        measured = metric.is_cost(name) or metric.is_time(name)
        return measured and self.missing.no_answer == "worst" and metric.worst_value is None

    def text(self) -> str:
        """Return the common tables, the last of which is `questions`."""
        parts = [f"read_in AS (\n{self._read()}\n)", f"marked AS (\n{self._mark()}\n)"]
        source = "marked"
        if self.tops:
            parts.append(f"top AS (\n{self._top()}\n)")
            source = "marked CROSS JOIN top"
        parts.append(f"records AS (\n{self._settle(source)}\n)")
        by_question = self._by_question() if self.repeated else self._each_a_question()
        parts.append(f"asked AS (\n{by_question}\n)")
        parts.append(f"questions AS (\n{self._place()}\n)")
        return "WITH " + ",\n".join(parts) + "\n"

    def count_ids(self) -> str:
        """Return a statement that finds the number of records, the most that any id has, and that of header lines."""
        head = (
            f"CASE WHEN {self._text('id')} IS NULL AND {self._text('header')} IS NOT NULL THEN 1 ELSE 0 END"
        )
        named = f"SELECT {self._id()} AS id, {head} AS head FROM log"
        counted = (
            f"SELECT id, count(*) - sum(head) AS tries, sum(head) AS heads FROM ({named}) named GROUP BY id"
        )
        return (
            "SELECT CAST(sum(tries) AS BIGINT) AS records, CAST(max(tries) AS BIGINT) AS most, "
            f"CAST(sum(heads) AS BIGINT) AS heads FROM ({counted}) counted"
        )

    # -- records -------------------------------------------------------------------------------------------

    def _read(self) -> str:
        columns = [
            f"{self._id()} AS id",
            f"coalesce(trim({self._text('attempt')}), '') AS attempt",
            f"coalesce(trim({self._text('error')}), '') AS error",
            f"lower(coalesce(trim({self._text('cached')}), '')) AS cached",
            f"{self._cluster()} AS cluster_name",
            f"{self._input()} AS input_text",
        ]
        columns += [f"{self._label(f'label{at}')} AS label{at}" for at in range(len(self.plan.labels))]
        columns += [
            f"coalesce(trim({self._text(f'fact{at}')}), '') AS fact{at}" for at in range(len(self.plan.facts))
        ]
        for at, (_, metric) in enumerate(self.metrics):
            for part in "vw" if metric.ratio else "v":
                columns += self._number(f"{at}{part}")
        return "  SELECT " + ",\n    ".join(columns) + f"\n  {self._from_log()}"

    def _id(self) -> str:
        return f"coalesce(trim({self._text('id')}), '')"

    def _from_log(self) -> str:
        """The log without the line that says how the run was made."""
        return f"FROM log WHERE {self._text('id')} IS NOT NULL OR {self._text('header')} IS NULL"

    def _text(self, name: str) -> str:
        if self.kinds[name] == "absent":
            return "CAST(NULL AS STRING)"
        return name if self.kinds[name] == "text" else f"CAST({name} AS STRING)"

    def _label(self, name: str) -> str:
        return f"coalesce(nullif({strip(self._text(name))}, ''), '(none)')"

    def _cluster(self) -> str:
        own = f"concat('id=', trim({self._text('id')}))"
        field = self.plan.policy.policy.samples.cluster
        if field is None:
            return own
        stripped = strip(self._text("cluster"))
        named = f"concat({quote(field + '=')}, nullif({stripped}, ''))"
        # concat of a missing value differs between the engines, so it is asked for before.
        return f"CASE WHEN coalesce({stripped}, '') = '' THEN {own} ELSE {named} END"

    def _input(self) -> str:
        texts = [f"coalesce({self._text(f'input{at}')}, '')" for at in range(len(input_fields(self.plan)))]
        joined = "concat(" + ", chr(31), ".join([*texts, "''"]) + ")"
        return f"CASE WHEN replace({joined}, chr(31), '') = '' THEN CAST(NULL AS STRING) ELSE {joined} END"

    def _number(self, key: str) -> list[str]:
        raw, kind = f"raw{key}", self.kinds[f"raw{key}"]
        if kind == "number":
            # As text: where the statistics of a Parquet column, which know no NaN, say that there is none, DuckDB
            # 2.0.1 takes isnan and comparisons for false.
            no_value = f"lower(CAST({raw} AS STRING)) = 'nan'"
            return [
                f"CASE WHEN {no_value} THEN CAST(NULL AS DOUBLE) ELSE {raw} END AS x{key}",
                f"0 AS text{key}",
            ]
        text = f"trim({self._text(f'raw{key}')})"
        none = ", ".join(quote(one) for one in sorted(MISSING_TEXTS))
        form = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$"
        value = f"TRY_CAST(CASE WHEN lower({text}) IN ({none}) THEN NULL ELSE {text} END AS DOUBLE) AS x{key}"
        no_number = f"regexp_replace({text}, '{form}', '') <> '' AND lower({text}) NOT IN ({none})"
        return [value, f"CASE WHEN {text} IS NOT NULL AND {no_number} THEN 1 ELSE 0 END AS text{key}"]

    def _mark(self) -> str:
        columns = ["*", *[f"CASE WHEN {self._condition(name)} THEN 1 ELSE 0 END AS in{k}"
                          for k, name in enumerate(self.named)]]  # fmt: skip
        columns.append("CASE WHEN error = 'no_answer' THEN 1 ELSE 0 END AS failed")
        harmless = ", ".join(
            quote(one) for one in sorted({*MISSING_TEXTS, "false", "0", "0.0", "200.0", "[]"})
        )
        harmless = f"error = 'no_answer' OR lower(error) IN ({harmless})"
        columns.append(f"CASE WHEN {harmless} THEN 0 ELSE 1 END AS erred")
        inner = "  SELECT " + ",\n    ".join(columns) + "\n  FROM read_in"
        outer = ["*"]
        for at, (name, metric) in enumerate(self.metrics):
            outer.append(f"CASE WHEN {self._within(metric)} THEN 1 ELSE 0 END AS due{at}")
            outer.append(f"{self._cause(at, name, metric)} AS cause{at}")
        return "  SELECT " + ",\n    ".join(outer) + f"\n  FROM (\n{inner}\n  ) flagged"

    def _condition(self, place: str) -> str:
        conditions = self.plan.conditions(place)
        return " AND ".join(
            f"label{self.plan.labels.index(label)} IN ({', '.join(quote(value) for value in values)})"
            for label, values in conditions.items()
        )

    def _within(self, metric: Metric) -> str:
        return "1 = 1" if metric.applies_to is None else self._condition(metric.applies_to)

    def _cause(self, at: int, name: str, metric: Metric) -> str:
        void = f"x{at}v IS NULL" + (f" OR x{at}w IS NULL" if metric.ratio else "")
        if metric.is_cost(name) or metric.is_time(name):
            cases = ["WHEN cached IN ('true', '1', '1.0', 'yes') THEN 3"]
            if metric.is_cost(name) and not metric.free:
                # Nothing tells here whether tokens were spent: a price of 0 is no price.
                cases.append(f"WHEN x{at}v = 0 THEN 4")
            cases.append(f"WHEN failed = 1 AND ({void} OR x{at}v < 0) THEN 1")
            if self.missing.no_answer != "worst" or metric.worst_value is not None:
                cases.append("WHEN failed = 1 THEN 1")
            cases.append(f"WHEN {void} THEN 2")
        else:
            cases = ["WHEN failed = 1 THEN 1", "WHEN erred = 1 THEN 2", f"WHEN {void} THEN 2"]
        return f"CASE {' '.join(cases)} ELSE 0 END"

    def _top(self) -> str:
        columns = []
        for at in self.tops:
            worst = "max" if self.metrics[at][1].better == "lower" else "min"
            answered = f"{worst}(CASE WHEN cause{at} = 0 AND failed = 0 THEN x{at}v END)"
            columns.append(
                f"coalesce({answered}, {worst}(CASE WHEN cause{at} = 0 THEN x{at}v END)) AS top{at}"
            )
        return "  SELECT " + ",\n    ".join(columns) + "\n  FROM marked"

    def _settle(self, source: str) -> str:
        columns = ["id", "attempt", "cluster_name", "input_text"]
        columns += [f"label{at}" for at in range(len(self.plan.labels))]
        columns += [f"in{k}" for k in range(len(self.named))]
        for at in range(len(self.plan.facts)):
            # A record with an error need not have come so far as to say it.
            silent = f"fact{at} = '' AND failed = 0 AND erred = 0"
            columns += [f"fact{at}", f"CASE WHEN {silent} THEN 1 ELSE 0 END AS silent{at}"]
        columns.append(f"CASE WHEN {self._odd()} THEN 1 ELSE 0 END AS odd")
        for at, (_, metric) in enumerate(self.metrics):
            columns += self._settle_metric(at, metric)
        return "  SELECT " + ",\n    ".join(columns) + f"\n  FROM {source}"

    def _odd(self) -> str:
        """Records that can't be read as such: no id, or a list or object where a text belongs."""
        texts = ["error", *[f"label{at}" for at in range(len(self.plan.labels))]]
        nested = " OR ".join(f"(substr({name}, 1, 1) IN ('[', '{{') AND {name} <> '[]')" for name in texts)
        return f"id = '' OR {nested}"

    def _settle_metric(self, at: int, metric: Metric) -> list[str]:
        worst = metric.worst_value
        counted = []
        if worst is not None and self.missing.no_answer == "worst":
            counted.append("1")
        if worst is not None and self.missing.no_score == "worst":
            counted += ["2", "3", "4"]
        as_worst = f"cause{at} IN ({', '.join(counted)})" if counted else "1 = 0"
        value = f"x{at}v"
        if metric.range is not None and metric.ratio is None:
            low, high = (double(end) for end in metric.range)
            value = f"least(greatest(x{at}v, {low}), {high})"
        slowest = "1 = 0"
        if at in self.tops:
            slowest = f"cause{at} = 0 AND failed = 1"
            pick = "greatest" if metric.better == "lower" else "least"
            value = f"CASE WHEN failed = 1 THEN {pick}({value}, top{at}) ELSE {value} END"
        # A value of another size is an error; until that is told it must not be summed up.
        sized = " AND ".join(
            f"abs(x{at}{part}) < {double(LARGEST)}" for part in ("vw" if metric.ratio else "v")
        )
        used = f"due{at} = 1 AND cause{at} = 0 AND {sized}"
        filled = (
            f"WHEN due{at} = 1 AND {as_worst} THEN {double(worst)} " if worst is not None and counted else ""
        )
        columns = [
            f"due{at}",
            f"CASE WHEN {used} THEN {value} {filled}ELSE CAST(NULL AS DOUBLE) END AS value{at}",
            f"CASE WHEN due{at} = 0 THEN 0 WHEN {as_worst} OR ({slowest}) THEN 5 ELSE cause{at} END AS cause{at}",
            f"{self._bad(at, metric, used)} AS bad{at}",
        ]
        if metric.ratio:
            columns.append(f"CASE WHEN {used} THEN x{at}w ELSE CAST(NULL AS DOUBLE) END AS weight{at}")
        return columns

    def _bad(self, at: int, metric: Metric, used: str) -> str:
        name = self.metrics[at][0]
        cases = []
        for part in "vw" if metric.ratio else "v":
            x = f"x{at}{part}"
            cases.append(f"WHEN text{at}{part} = 1 THEN 1")
            cases.append(
                f"WHEN abs({x}) >= {double(LARGEST)} OR (abs({x}) < {double(SMALLEST)} AND {x} <> 0) THEN 2"
            )
        if metric.ratio:
            cases.append(f"WHEN x{at}w < 0 THEN 4")
        if (metric.is_cost(name) or metric.is_time(name)) and metric.range is None:
            cases.append(f"WHEN {used} AND x{at}v < 0 THEN 4")
        if metric.range is not None:
            slack = 1e-6 * (metric.range[1] - metric.range[0])
            low, high = double(metric.range[0] - slack), double(metric.range[1] + slack)
            single = f"x{at}v" if metric.ratio is None else f"x{at}v / nullif(x{at}w, CAST(0 AS DOUBLE))"
            cases.append(f"WHEN {used} AND ({single} < {low} OR {single} > {high}) THEN 3")
        return f"CASE {' '.join(cases)} ELSE 0 END"

    # -- questions -----------------------------------------------------------------------------------------

    def _by_question(self) -> str:
        columns = ["id", "count(*) AS tries", "max(odd) AS odd"]
        same = ["cluster_name", "input_text", *[f"label{at}" for at in range(len(self.plan.labels))]]
        differs = " OR ".join(f"min({name}) <> max({name})" for name in same)
        columns.append(f"CASE WHEN {differs} THEN 1 ELSE 0 END AS differs")
        columns += [f"min({name}) AS {name}" for name in same]
        columns += [f"max(in{k}) AS in{k}" for k in range(len(self.named))]
        for at in range(len(self.plan.facts)):
            columns += [f"min(nullif(fact{at}, '')) AS least{at}", f"max(nullif(fact{at}, '')) AS most{at}",
                        f"sum(silent{at}) AS silent{at}"]  # fmt: skip
        for at, (_, metric) in enumerate(self.metrics):
            columns += [f"max(due{at}) AS due{at}", f"count(value{at}) AS used{at}", f"max(cause{at}) AS cause{at}",
                        f"max(bad{at}) AS bad{at}", f"{mean(f'value{at}')} AS value{at}"]  # fmt: skip
            if metric.ratio:
                columns.append(f"{mean(f'weight{at}')} AS weight{at}")
        return "  SELECT " + ",\n    ".join(columns) + "\n  FROM records GROUP BY id"

    def _each_a_question(self) -> str:
        """What `_by_question` makes of records with an id of their own."""
        columns = ["id", "1 AS tries", "odd", "0 AS differs", "cluster_name", "input_text"]
        columns += [f"label{at}" for at in range(len(self.plan.labels))]
        columns += [f"in{k}" for k in range(len(self.named))]
        for at in range(len(self.plan.facts)):
            fact = f"nullif(fact{at}, '')"
            columns += [f"{fact} AS least{at}", f"{fact} AS most{at}", f"silent{at}"]
        for at, (_, metric) in enumerate(self.metrics):
            columns += [f"due{at}", f"CASE WHEN value{at} IS NULL THEN 0 ELSE 1 END AS used{at}",
                        f"cause{at}", f"bad{at}", f"value{at}"]  # fmt: skip
            if metric.ratio:
                columns.append(f"weight{at}")
        return "  SELECT " + ",\n    ".join(columns) + "\n  FROM records"

    def _place(self) -> str:
        number = "CAST(conv(substr(md5({}), {}, {}), 16, 10) AS BIGINT)"
        columns = [
            "*",
            f"{number.format('cluster_name', 1, 12)} % {self.plan.groups} AS grp",
            f"{number.format('id', 1, 8)} AS hash1",
            f"{number.format('id', 9, 8)} AS hash2",
            "CASE WHEN input_text IS NULL THEN 0 ELSE 1 END AS has_input",
            number.format("concat(id, chr(31), coalesce(input_text, ''))", 1, 8) + " AS hash3",
            number.format("concat(id, chr(31), CAST(tries AS STRING))", 1, 8) + " AS hash4",
        ]
        for at, (name, _) in enumerate(self.metrics):
            if name in self.plan.sketched:
                columns.append(f"{bin_of(f'value{at}')} AS bin{at}")
        return "  SELECT " + ",\n    ".join(columns) + "\n  FROM asked"
