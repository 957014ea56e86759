"""DeepEval's metrics: their range, and which way is better, also where that depends on the version.

Up to 4.1 a low Hallucination, Bias, Toxicity or Misuse was good; since 4.2.0 a high one is. Files name no version, but
whether a score passed its threshold tells it. Nothing here reads a file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from gateline.readers._identity import normalise
from gateline.readers._json_document import number_of, text_of
from gateline.samples import MetricFacts

TURNED = frozenset({"Hallucination", "Bias", "Toxicity", "Misuse"})
"""Metrics whose direction 4.2.0 turned round."""
UNKNOWN = "not known which way"
_KNOWN = frozenset({
    "Answer Relevancy", "Faithfulness", "Contextual Precision", "Contextual Recall", "Contextual Relevancy",
    "Summarization", "Prompt Alignment", "Json Correctness", "Exact Match", "Pattern Match", "Tool Correctness",
    "Argument Correctness", "Task Completion", "Goal Accuracy", "Topic Adherence", "Tool Use", "Plan Quality",
    "Plan Adherence", "Step Efficiency", "Role Adherence", "Role Violation", "Knowledge Retention",
    "Conversation Completeness", "Turn Relevancy", "Turn Faithfulness", "Turn Contextual Precision",
    "Turn Contextual Recall", "Turn Contextual Relevancy", "PII Leakage", "Non-Advice", "Citation Faithfulness",
})  # fmt: skip
"""Metrics of DeepEval of which a high score is good in every version, from 0 to 1."""
_ASKED = re.compile(
    r"Criteria:\n(.*?) \n \nEvaluation Steps:\n(.*?) \n \nRubric:\n(.*?) \n \nScore:", re.DOTALL
)
"""What the log of a user's own metric says of it: criteria or steps, and a rubric; `None` for what there is not."""
_KIND = re.compile(r" \[(?:GEval|DAG|Conversational ?GEval|Conversational ?DAG)\]$")
"""What DeepEval writes behind the name of a metric that the user defined, scored from 0 to 1."""


def find_direction(name: str, results: Sequence[Mapping[str, object]]) -> str:
    """Return `higher` or `lower`, as what passed and failed its threshold shows; "" where that shows nothing.

    Results that show both are `both`: two versions wrote the file, or the metric has a rule of its own.
    """
    shown = {word for result in results if (word := _shown_by(name, result))}
    return shown.pop() if len(shown) == 1 else "both" if shown else ""


def _shown_by(name: str, result: Mapping[str, object]) -> str:
    score, threshold = number_of(result.get("score")), number_of(result.get("threshold"))
    passed = result.get("success")
    if threshold is not None and result.get("strictMode") is True and name in TURNED:
        # In strict mode only a perfect score passes, so the threshold is the perfect score.
        return {0.0: "lower", 1.0: "higher"}.get(threshold, "")
    if score is None or threshold is None or not isinstance(passed, bool) or score == threshold:
        return ""
    return "higher" if passed == (score > threshold) else "lower"


def find_facts(name: str, results: Sequence[Mapping[str, object]]) -> MetricFacts | None:
    """Return what DeepEval says of a metric by its name and its results; None for a user's own that shows nothing.

    A turned metric whose direction the file does not show gets none, so that nobody guesses it by its name.
    """
    shown = find_direction(name, results)
    direction = {"higher": "higher", "lower": "lower"}.get(shown)
    if name in TURNED:
        if direction == "lower":
            return MetricFacts("lower", (0.0, 1.0), "lower is better, as before DeepEval 4.2.0")
        if direction == "higher":
            return MetricFacts("higher", (0.0, 1.0), "higher is better, as since DeepEval 4.2.0")
        return MetricFacts(None, (0.0, 1.0), UNKNOWN)
    if name in _KNOWN or _KIND.search(name):
        return MetricFacts("higher", (0.0, 1.0)) if shown in ("higher", "") else None
    if direction is None:
        return None
    return MetricFacts("higher" if direction == "higher" else "lower")


def find_version(facts: Mapping[str, MetricFacts]) -> str:
    """Return what the directions of the turned metrics tell of DeepEval's version; "" where nothing."""
    shown = {facts[name].better for name in TURNED & facts.keys() if facts[name].better}
    return (
        {"lower": "before 4.2", "higher": "4.2 or later"}.get(shown.pop() or "", "")
        if len(shown) == 1
        else ""
    )


def find_warnings(
    facts: Mapping[str, MetricFacts | None], results: Mapping[str, Sequence[Mapping[str, object]]]
) -> list[str]:
    """Return what a person must settle: directions that the file does not show, or shows two ways."""
    found = []
    for name in sorted(results):
        said = facts.get(name)
        if name in TURNED and said is not None and said.better is None:
            found.append(
                f"{name}: DeepEval 4.2.0 turned its direction round, and the file does not show which one this is; "
                "in the policy, write better: lower for files of an older version, better: higher for others"
            )
        elif find_direction(name, results[name]) == "both":
            found.append(
                f"{name} passed its threshold from above and from below, as with two versions or a rule of its own: "
                "which way is better is for the policy to say"
            )
    return found


def find_aliases(names: Sequence[str]) -> dict[str, str]:
    """Return names as a policy may write them, `answer_relevancy` for `Answer Relevancy`, where they mean one."""
    plain: dict[str, list[str]] = {}
    for name in names:
        bare = re.sub(r"[^a-z0-9]+", "_", _KIND.sub("", name).lower()).strip("_")
        plain.setdefault(bare, []).append(name)
    return {bare: found[0] for bare, found in plain.items() if bare and len(found) == 1 and bare not in names}


def find_criteria(results: Sequence[Mapping[str, object]]) -> str:
    """Return a short digest of what a user's own metric asks of its judge; "" where the file does not tell one thing.

    Steps count only where there are no criteria: DeepEval lets a model write them from the criteria, anew in each run.
    """
    found = set()
    for result in results:
        match = _ASKED.match(text_of(result.get("verboseLogs")))
        if match:
            criteria, steps, rubric = (normalise(part) for part in match.groups())
            asked = "\n".join([steps if criteria == "None" else criteria, rubric])
            found.add(hashlib.sha256(asked.encode()).hexdigest()[:12])
    return found.pop() if len(found) == 1 else ""


def judges_of(results: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the models that judged, each once, sorted."""
    return sorted({name for result in results if (name := text_of(result.get("evaluationModel")))})
