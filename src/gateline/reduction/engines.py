"""The engines that run the statement: each shows the log's files as the relation `log` and runs SQL.

What differs between them is how files are opened and names are quoted, and nothing else. It knows no policy.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from gateline.errors import InputError
from gateline.reduction.logs import Column, Log

Row = tuple[Any, ...]


class Engine(Protocol):
    """Runs SQL over a log."""

    def show(self, log: Log, columns: Sequence[Column]) -> None:
        """Make the relation `log`."""

    def run(self, sql: str) -> tuple[list[str], list[Row]]:
        """Return the names of the columns and the rows; an InputError where the log can't be read."""

    def close(self) -> None:
        """Give back what was taken."""


def start_engine(name: str, *, memory: str | None = None) -> Engine:
    """Return an engine by its name; an InputError that says what to install where it isn't there."""
    return DuckDB(memory) if name == "duckdb" else Spark(memory)


class DuckDB:
    """DuckDB inside this process; what does not fit into its memory goes to a folder for the while."""

    def __init__(self, memory: str | None = None):
        try:
            duckdb: Any = importlib.import_module("duckdb")
        except ImportError:
            raise InputError(
                "reducing needs DuckDB",
                hint="pip install duckdb pyarrow (or gateline with its extra 'reduce'), or --engine spark",
            ) from None
        self._error = duckdb.Error
        self._connection = duckdb.connect()
        self._connection.execute("SET preserve_insertion_order = false")
        if memory is not None:
            try:
                self._connection.execute(f"SET memory_limit = {_quoted(memory)}")
            except duckdb.Error as error:
                raise InputError(f"--memory: {_first_line(error)}", hint="such as 4GB") from None
        # Spark has this function; here it is a macro, so that the statement is the same.
        self._connection.execute("CREATE MACRO conv(digits, ground, other) AS CAST('0x' || digits AS BIGINT)")

    def show(self, log: Log, columns: Sequence[Column]) -> None:
        """Make the relation `log`."""
        files = "[" + ", ".join(_quoted(re.sub(r"([*?[])", r"[\1]", file)) for file in log.files) + "]"
        # A folder called `name=value` is no column: it would take the place of what stands in the file.
        if log.form == "parquet":
            source = f"read_parquet({files}, hive_partitioning = false)"
        else:
            types = ", ".join(f"{_quoted(name)}: {_quoted(kind)}" for name, kind in self._json_types(columns))
            source = (
                f"read_json({files}, format = 'newline_delimited', columns = {{{types}}}, "
                "maximum_object_size = 67108864, ignore_errors = false, hive_partitioning = false)"
            )
        shown = ", ".join(f"{self._expression(column, log)} AS {column.name}" for column in columns)
        try:
            self._connection.execute(f"CREATE OR REPLACE TEMP VIEW log AS SELECT {shown} FROM {source}")
        except self._error as error:
            raise InputError(f"can't be read by DuckDB: {_first_line(error)}", log.files[0]) from None

    def _json_types(self, columns: Sequence[Column]) -> list[tuple[str, str]]:
        plain, parts = _split_paths(columns)
        types = [(name, "VARCHAR") for name in plain if name not in parts]
        for name, inside in parts.items():
            fields = ", ".join(f"{_identifier(one)} VARCHAR" for one in inside)
            types.append((name, f"STRUCT({fields})"))
        return types

    def _expression(self, column: Column, log: Log) -> str:
        texts = [_path(path, log, '"') for path in column.paths]
        return _cast(texts, column, "VARCHAR")

    def run(self, sql: str) -> tuple[list[str], list[Row]]:
        """Return the names of the columns and the rows."""
        try:
            result = self._connection.execute(sql)
            return [one[0] for one in result.description or []], result.fetchall()
        except self._error as error:
            raise InputError(f"DuckDB could not read the log: {_first_line(error)}") from None

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


class Spark:
    """Spark: the session that spark-submit or the settings of a cluster make, else one on this machine."""

    def __init__(self, memory: str | None = None):
        try:
            spark: Any = importlib.import_module("pyspark.sql")
            errors: Any = importlib.import_module("pyspark.errors")
        except ImportError:
            raise InputError(
                "--engine spark needs pyspark", hint="pip install 'pyspark>=4', and Java 17"
            ) from None
        builder: Any = spark.SparkSession.builder.appName("gateline reduce")
        if memory is not None:
            builder = builder.config("spark.driver.memory", memory)
        # Errors of a statement are told in a sentence; Spark would log its whole plan as well.
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        try:
            self._session = builder.getOrCreate()
        except Exception as error:  # Java that isn't there is an error of any kind
            raise InputError(
                f"Spark did not start: {_first_line(error)}", hint="it needs Java 17 or newer"
            ) from None
        self._session.sparkContext.setLogLevel("OFF")
        self._session.conf.set("spark.sql.ansi.enabled", "true")
        self._error: type[Exception] = errors.PySparkException

    def show(self, log: Log, columns: Sequence[Column]) -> None:
        """Make the relation `log`."""
        files = [_spark_path(file) for file in log.files]
        try:
            if log.form == "parquet":
                frame = self._session.read.parquet(*files)
            else:
                reader = self._session.read.schema(self._json_schema(columns)).option("mode", "FAILFAST")
                frame = reader.json(files)
            shown = [f"{self._expression(column, log)} AS {column.name}" for column in columns]
            frame.selectExpr(*shown).createOrReplaceTempView("log")
        except self._error as error:
            raise InputError(f"can't be read by Spark: {_first_line(error)}", log.files[0]) from None

    def _json_schema(self, columns: Sequence[Column]) -> Any:
        types: Any = importlib.import_module("pyspark.sql.types")
        plain, parts = _split_paths(columns)
        schema = types.StructType()
        for name in plain:
            if name not in parts:
                schema = schema.add(name, types.StringType())
        for name, inside in parts.items():
            struct = types.StructType()
            for one in inside:
                struct = struct.add(one, types.StringType())
            schema = schema.add(name, struct)
        return schema

    def _expression(self, column: Column, log: Log) -> str:
        texts = [_path(path, log, "`") for path in column.paths]
        return _cast(texts, column, "STRING")

    def run(self, sql: str) -> tuple[list[str], list[Row]]:
        """Return the names of the columns and the rows."""
        try:
            frame = self._session.sql(sql)
            return list(frame.columns), [tuple(row) for row in frame.collect()]
        except self._error as error:
            raise InputError(f"Spark could not read the log: {_first_line(error)}") from None

    def close(self) -> None:
        """End the session."""
        with contextlib.suppress(Exception):
            self._session.stop()


def _spark_path(file: str) -> str:
    """Return where a file is; Spark decodes no `%20`, and takes a name for a pattern unless it is escaped."""
    if "://" in file:
        return file
    return "file://" + re.sub(r"([*?\[\]{}\\])", r"\\\1", Path(file).absolute().as_posix())


def _split_paths(columns: Sequence[Column]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the names at the top of a record, and those inside each object."""
    plain: dict[str, None] = {}
    parts: dict[str, dict[str, None]] = {}
    for column in columns:
        for path in column.paths:
            if len(path) == 1:
                plain[path[0]] = None
            else:
                parts.setdefault(path[0], {})[path[1]] = None
    return list(plain), {name: list(inside) for name, inside in parts.items()}


def _path(path: tuple[str, ...], log: Log, mark: str) -> str:
    if log.form == "parquet" and len(path) == 2 and (".".join(path),) in log.columns:
        path = (".".join(path),)
    return ".".join(mark + part.replace(mark, mark * 2) + mark for part in path)


def _cast(texts: Sequence[str], column: Column, text_type: str) -> str:
    if not texts:
        return f"CAST(NULL AS {text_type})"
    if column.kind == "number":
        # Whole numbers stay whole where they are names; as a value they are read as doubles.
        return f"CAST({texts[0]} AS DOUBLE)" if column.name.startswith("raw") else _name(texts[0], text_type)
    inner = [f"CAST({text} AS {text_type})" for text in texts]
    return inner[0] if len(inner) == 1 else f"coalesce({', '.join(inner)})"


def _name(number: str, text_type: str) -> str:
    """Return a number as the text that `number_text` makes of it: 1 for 1.0, and nothing for NaN."""
    text = f"CAST({number} AS {text_type})"
    whole = f"CAST(CAST({number} AS BIGINT) AS {text_type})"
    is_whole = f"abs({number}) < 9.0e15 AND floor({number}) = {number}"
    return f"CASE WHEN lower({text}) = 'nan' THEN NULL WHEN {is_whole} THEN {whole} ELSE {text} END"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _first_line(error: Exception) -> str:
    """Return the first sentence of an engine's error: some append a plan or a stack."""
    text = str(error).strip()
    with contextlib.suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text)["exception_message"])
    return re.split(r"\n|;$", text)[0][:300]
