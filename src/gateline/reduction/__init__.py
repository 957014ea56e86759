"""Beyond one machine: logs of any size become a small file of sums by group, and `check` compares two of those.

One SQL text makes the sums on an engine that is there already (DuckDB, Spark). It has no statistics of its own.
"""
