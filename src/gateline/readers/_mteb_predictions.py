"""MTEB's predictions: the documents that a model ranked for each query, without scores of how good that is.

It computes no metric and must not look for files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from gateline.errors import InputError
from gateline.readers._source import Source
from gateline.samples import Run

META = "mteb_model_meta"


def make_prediction_run(files: Sequence[tuple[Source, Mapping[str, object]]], name: str, sha256: str) -> Run:
    """Return a record for each query of one or more tasks, with its documents in the field `retrieved`.

    The id is that of the query, as in the labels; where there are several subsets, splits or tasks, they stand
    before it. An InputError names a query whose ranking is none.
    """
    rankings = [
        (_task_of(source), subset, str(split), str(query), rank(ranking, str(query), source), source.name)
        for source, value in files
        for subset, splits in value.items()
        if subset != META and isinstance(splits, dict)
        for split, queries in splits.items()
        if isinstance(queries, dict)
        for query, ranking in queries.items()
    ]
    parts = {ranking[:3] for ranking in rankings}
    tasks = {task for task, _, _ in parts}
    ids = [
        query if len(parts) == 1 else "/".join([*([task] if len(tasks) > 1 else []), subset, split, query])
        for task, subset, split, query, _, _ in rankings
    ]
    return Run(
        file=name,
        sha256=sha256,
        format="mteb-predictions",
        ids=ids,
        lines=np.zeros(len(ids), dtype=np.int64),
        origins=[place for *_, place in rankings],
        slices={
            "task": [ranking[0] for ranking in rankings],
            "subset": [ranking[1] for ranking in rankings],
            "split": [ranking[2] for ranking in rankings],
        },
        fields={"retrieved": [ranking[4] for ranking in rankings]},
        provenance=_state([value.get(META) for _, value in files]),
        id_field="id of the query",
        made_ids=True,
    )


def rank(ranking: object, query: str, source: Source) -> list[str]:
    """Return the documents of a query, best first; equal scores by document, descending, as trec_eval has them."""
    if not isinstance(ranking, dict):
        raise InputError(
            f"the ranking of the query '{query}' is no object of documents and scores", source.name
        )
    for document, score in ranking.items():
        if (
            isinstance(score, bool)
            or not isinstance(score, int | float)
            or (isinstance(score, float) and math.isnan(score))
        ):
            raise InputError(f"the score of '{document}' for the query '{query}' is no number", source.name)
    return sorted(ranking, key=lambda document: (ranking[document], document), reverse=True)


def _task_of(source: Source) -> str:
    return source.path.name.removesuffix(".json").removesuffix("_predictions")


def _state(metas: Sequence[object]) -> dict[str, object]:
    """Return the model, as the first file has it."""
    meta = next((one for one in metas if isinstance(one, dict)), {})
    facts = {"model": meta.get("model_name"), "model_revision": meta.get("revision")}
    return {name: value for name, value in facts.items() if value is not None}
