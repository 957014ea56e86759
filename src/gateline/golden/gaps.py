"""What is missing from a golden set: labels, unanswerable questions, one state of the sources, a version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gateline.errors import name_some
from gateline.golden.notes import Note
from gateline.golden.questions import GoldenSet
from gateline.golden.slips import find_golden_slips, say_slip

OUTPUTS = frozenset({
    "answer", "response", "output", "actual_output", "retrieved", "retrieved_ids", "retrieved_doc_ids",
    "retrieved_chunk_ids", "retrieved_contexts", "latency_ms", "cost_usd",
})  # fmt: skip
"""Fields that a system's outputs have, and no golden set needs."""


def find_gaps(golden: GoldenSet) -> list[Note]:
    """Return what is missing from a golden set, each with what it means for metrics."""
    if is_harvested(golden):  # what was seen of questions that stand in a golden set, which has the labels
        return []
    outputs = list(_find_outputs(golden))  # then all else that is missing goes without saying
    rest = outputs or [*_find_empty_labels(golden), *_find_unknown(golden)]
    return [*_find_misspelt(golden), *rest]


def is_harvested(golden: GoldenSet) -> bool:
    """Return whether this is a regression set of `gateline harvest`: each record says where it was seen to fail."""
    seen = golden.run.fields.get("seen")
    return isinstance(seen, list) and all(isinstance(one, list) and one for one in seen)


def _find_outputs(golden: GoldenSet) -> Iterator[Note]:
    """Give an error for a file without any label that holds what a system put out, or its scores."""
    if golden.answerable or any(kind is not None and any(kind) for kind in _kinds_of_labels(golden)):
        return
    run = golden.run
    found = [*run.metrics, *(name for name in run.fields if name in OUTPUTS)]
    if found:
        said = (
            f"is no golden set: it has {name_some(found, 4)}, as outputs or scores have, and no label; a reference "
            "answer is called reference_answer"
        )
        yield Note("error", "no labels", said, [], run.file)


def _kinds_of_labels(golden: GoldenSet) -> list[Sequence[object] | None]:
    """Return what can be scored against, each kind by question (n); None where no question has it."""
    claims = ("required_claims", "forbidden_claims", "answer_clusters", "answer_set")
    return [
        golden.relevant,
        golden.evidence_groups,
        golden.reference_answers,
        *(golden.claims(name) for name in claims),
    ]


def _find_misspelt(golden: GoldenSet) -> Iterator[Note]:
    run = golden.run
    for slip in find_golden_slips(run):
        ids = [golden.ids[row] for row in slip.records]
        said = f"{say_slip(slip)}; did you mean '{slip.meant}'?"
        yield Note(
            "error" if slip.is_sure else "warning", "unknown field", said, ids, run.place(slip.records[0])
        )


def _find_empty_labels(golden: GoldenSet) -> Iterator[Note]:
    file = golden.run.file
    texts = golden.questions or golden.ids
    blank = [name for name, text in zip(golden.ids, texts, strict=True) if not (text or "").strip()]
    if blank:
        yield Note("error", "empty label", "the question is empty", blank, file)
    kinds = _kinds_of_labels(golden)
    nothing, empty = [], []
    for row, name in enumerate(golden.ids):
        if golden.answerable and golden.answerable[row] is False:
            continue
        if not any(kind[row] for kind in kinds if kind is not None):
            nothing.append(name)
        grades = golden.relevant[row] if golden.relevant else None
        if grades and not any(grade > 0 for grade in grades.values()):
            empty.append(name)
    if nothing:
        said = "no relevant ids, reference or claims: nothing can be scored against"
        yield Note("warning", "empty label", said, nothing, file)
    if empty:
        said = "ids are judged and none is relevant: recall is undefined"
        yield Note("warning", "empty label", said, empty, file)


def _find_unknown(golden: GoldenSet) -> Iterator[Note]:
    file = golden.run.file
    if not golden.answerable or False not in golden.answerable:
        said = "no question is labelled unanswerable: nothing can be said of correct refusals"
        yield Note("warning", "refusals", said, [], file)
    kept = Counter(text for text in golden.snapshots or [] if text)
    if len(kept) > 1:
        named = ", ".join(f"{name} ({number})" for name, number in kept.most_common(5))
        yield Note("warning", "snapshots", f"questions of {len(kept)} source snapshots: {named}", [], file)
    if version_of(golden) is None:
        said = "has no version, in the header (golden_set.version) or a field 'version'; only its digest names it"
        yield Note("warning", "version", said, [], file)


def version_of(golden: GoldenSet) -> str | None:
    """Return the version that a golden set says it has, all of them where it says several, None where none."""
    named = [golden.run.provenance.get("golden_set.version"), golden.run.provenance.get("version")]
    found = {str(value) for value in named if value} or set(filter(None, golden.run.texts("version") or []))
    return " and ".join(sorted(found)) if found else None
