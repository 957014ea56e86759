"""The page docs/metrics.md, made of the docstrings of the metrics and the names of the fields.

It must say nothing that the code does not; what only a person can explain stands in the two texts below.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

from gateline.golden.questions import ID_FIELDS, NAMES, SLICES
from gateline.scoring import families
from gateline.scoring._definitions import Definition
from gateline.scoring._material import OUTPUTS

PARTS = ("Formula", "Denominator", "Undefined", "Source", "Beware")
GOLDEN = {
    "relevant": "relevant ids: a list (grade 1), id → grade, or objects with an id and a grade; above 0 is relevant",
    "required_evidence_groups": "lists of ids: one id of each list must be found",
    "required_claims": "claims that the answer must make: texts, or objects with id and text",
    "forbidden_claims": "claims that it must not make",
    "answerable": "whether the sources hold an answer; also becomes a label of slices",
    "reference_answer": "the right answer as a text; no metric reads it, `gateline golden` asks for it",
    "question": "the text of the question",
    "reference_statements": "the statements of the reference answer; how many there are is checked",
    "answer_clusters": "groups of reference answers, where sources disagree",
    "answer_set": "reference answers, where there are several",
    "reasons": "reasons that an answer should give",
    "split": "the part of the set that a question belongs to",
    "source_snapshot": "the state of the sources that the question was written for",
}
OUTPUT = {
    "retrieved": "ids that the retriever returned, best first: a list, or objects with an id. The order of the list "
    "counts, scores in it are not looked at",
    "contexts": "what was sent to the model, in its order: ids, or objects with an id and verdicts `useful`, "
    "`useful_with_reference`, `useful_without_reference`",
    "statements": "statements of the answer: objects with `label` (supported, unsupported, contradicted, "
    "unverifiable), and where known `id`, `correct`, `needs_citation`, `citations`; or bare truth values",
    "reference_statements": "for each statement of the reference, whether the context supports it",
    "citations": "objects with `claim` (the statement's id, or its place counted from 0) and `supports`",
    "covered_claims": "ids or texts of the required claims that the answer makes",
    "stated_forbidden_claims": "ids or texts of the forbidden claims that it makes",
    "covered_clusters": "which of `answer_clusters` it covers",
    "covered_answers": "which of `answer_set` it covers",
    "covered_reasons": "which of `reasons` it gives",
    "refused": "whether the system declined to answer",
    "similarity": "similarity of the answer to the reference, 0 to 1",
    "factual": "an object with `tp`, `fp` and `fn`, where claims were matched elsewhere",
}
KEPT = """Numbers and texts of the outputs, such as `latency_ms`, `tokens`, `cost_usd`, `cached` and `attempt`, stay in
the result."""
HEAD = """# Metrics from labels

<!-- Made from the docstrings. To write it anew:
python -c "from gateline.scoring._reference import write_page; write_page('docs/metrics.md')" -->

`gateline score GOLDEN OUTPUTS -o RUN.jsonl [--k 1,3,5,10]` computes every metric for which the two files hold what it
needs, without any model. `RUN.jsonl` goes straight into `check`; so do TREC run files, if the policy names the labels
with `samples: {golden_set: qrels.txt}`.

- A value that is not defined is `null`, with the reason under `undefined.NAME`; it is never 0, and never left out
  silently: `check` counts it as missing. Where a metric is not defined for some questions, say so in the policy with
  `applies_to`, for example a slice by the label `answerable`.
- Numerators and denominators stand beside the values under the names given below. A policy can take the ratio of
  their sums over the run: `hallucination_rate_claim: {better: lower, ratio: [unsupported_claims, claims]}`.
- A question without an output counts as one for which nothing was retrieved, and is named; in JSON Lines it also has
  `error: no_answer`. An output for a question that the golden set doesn't have is named and left out.
- Equal scores in a run file are ordered by document id, descending, as trec_eval does. An id that stands twice in one
  ranking is an error.
- The digest of the golden set is part of the result (`golden_set.sha256`), so that a comparison across different
  labels does not go unnoticed; `provenance: {must_match: [golden_set.sha256]}` refuses it.
- A golden set that contradicts itself is refused, with the ids; so is a field that can only be a misspelt label
  (`relevnt`), in however few records. A field that may be meant, such as a plural, is a warning.
- What could not be computed is named with the labels that no record has; where no metric has what it needs, that is
  an error and nothing is written.
- `gateline init RUN.jsonl` proposes a policy with `applies_to` for metrics that some questions only have.
"""


def metrics_page() -> str:
    """Return the page."""
    parts = [HEAD, _fields(), _overview()]
    for name, family in families().items():
        text = inspect.getdoc(importlib.import_module(f"gateline.scoring.{name}")) or ""
        parts.append(
            f"## {text.strip().replace(chr(10), ' ').partition('. ')[0].partition(':')[0]}\n\n{_flow(text)}\n"
        )
        parts += [_describe(definition) for definition in family]
    return "\n".join(parts)


def write_page(path: str) -> None:
    """Write the page to a file."""
    Path(path).write_text(metrics_page(), encoding="utf-8", newline="\n")


def parts_of(definition: Definition) -> tuple[str, dict[str, str]]:
    """Return the first sentence of a metric's docstring, and its named parts."""
    first, *lines = (inspect.getdoc(definition.compute) or "").split("\n")
    named: dict[str, str] = {}
    for line in lines:
        name, colon, text = line.partition(": ")
        if colon and name in PARTS:
            named[name] = text
    return first, named


def _flow(text: str) -> str:
    """Return a module's docstring behind its title, each paragraph in one line."""
    _, _, first = text.partition(": ")
    paragraphs = [" ".join(one.split()) for one in first.split("\n\n")]
    return "\n\n".join([paragraphs[0][:1].upper() + paragraphs[0][1:], *paragraphs[1:]])


def _fields() -> str:
    lines = [
        "## What the files hold",
        "",
        f"A question is identified by {_codes(ID_FIELDS)}, or the field of `--id`.",
    ]
    for title, names, texts in (("Golden set", NAMES, GOLDEN), ("Outputs", OUTPUTS, OUTPUT)):
        lines += ["", f"### {title}", "", "| field | holds |", "|---|---|"]
        lines += [f"| {_codes(names[name])} | {texts[name]} |" for name in names]
    lines += ["", f"Labels of slices: {_codes(SLICES)}, `answerable`, and all under `slices`.", "", KEPT]
    return "\n".join(lines) + "\n"


def _overview() -> str:
    lines = ["## Overview", "", "| metric | better | |", "|---|---|---|"]
    lines += [
        f"| `{definition.name}` | {definition.better} | {parts_of(definition)[0]} |"
        for family in families().values()
        for definition in family
    ]
    return "\n".join(lines) + "\n"


def _describe(definition: Definition) -> str:
    first, named = parts_of(definition)
    lines = [f"### {definition.name}", "", first, "", *(f"- {name}: {text}" for name, text in named.items())]
    lines += list(_tell_counts(definition))
    return "\n".join(lines) + "\n"


def _tell_counts(definition: Definition) -> Iterator[str]:
    if definition.counts:
        yield f"- Counts in the result: `{definition.counts[0]}` over `{definition.counts[1]}`"
    unit = definition.unit or "a share of 0 to 1"
    yield f"- Better: {definition.better}; unit: {unit}"


def _codes(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
