"""MTEB's predictions: the documents that a model ranked for each query, without scores of how good that is.

It computes no metric and must not look for files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from gateline.errors import InputError, name_some
from gateline.readers._json_document import object_of
from gateline.readers._source import Source
from gateline.samples import Run

META = "mteb_model_meta"


def make_prediction_run(files: Sequence[tuple[Source, Mapping[str, object]]], name: str, sha256: str) -> Run:
    """Return a record for each query of one or more tasks, with its documents in the field `retrieved`.

    The id is that of the query, as in the labels; where there are several subsets, splits or tasks, they stand
    before it. An InputError names a query whose ranking is none, and the files where they are of several models.
    """
    facts = _state(files)
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
        provenance=facts,
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


def _state(files: Sequence[tuple[Source, Mapping[str, object]]]) -> dict[str, object]:
    """Return the model and its revision, each as far as a file says it; they must be the same in all files."""
    facts: dict[str, object] = {}
    for fact, key in (("model", "model_name"), ("model_revision", "revision")):
        told: dict[str, str] = {}
        for source, value in files:
            stated = object_of(value.get(META)).get(key)
            if stated is not None:
                told.setdefault(str(stated), source.name)
                facts[fact] = stated
        if len(told) > 1:
            shown = name_some([f"{name} in {file}" for name, file in told.items()], 4)
            raise InputError(
                f"the predictions are of {len(told)} models or revisions: {shown}",
                files[0][0].name,
                "a run is one model at one revision: hand over the files of one",
            )
    return facts
