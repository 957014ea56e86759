"""A result of promptfoo's JSON and JSON Lines as a record: scores, the cause of an error, time, cost, tokens.

An error is written as a score of 0, a price that nobody knows as a cost of 0, so neither is taken at its word. Nothing
here reads a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gateline.readers._json_document import first_line, measure, number_of, object_of, objects_of, text_of
from gateline.readers._promptfoo_tests import Answered, digest

ERROR = 2
"""`failureReason` of a test that could not be run or graded."""
NO_ASSERTIONS = "No assertions"
_JUDGED = frozenset({
    "llm-rubric", "model-graded-closedqa", "model-graded-factuality", "factuality", "g-eval", "answer-relevance",
    "context-recall", "context-relevance", "context-faithfulness", "conversation-relevance", "pi", "similar",
    "classifier", "moderation", "select-best", "search-rubric", "agent-rubric",
})  # fmt: skip
"""Types of assertions that a model decides."""
_OF_THE_RUN = frozenset({"sessionId", "session_id"})
"""Variables that promptfoo sets anew in each run."""

Result = Mapping[str, object]
Record = dict[str, object]


def read_test(result: Result, line: int) -> Answered:
    """Return which test a result is of."""
    case = object_of(result.get("testCase"))
    provider, prompt = object_of(result.get("provider")), object_of(result.get("prompt"))
    number = result.get("testIdx")
    return Answered(
        variables=keep_variables(object_of(result.get("vars")) or object_of(case.get("vars"))),
        provider=text_of(provider.get("label"))
        or text_of(provider.get("id"))
        or text_of(result.get("provider")),
        prompt=text_of(prompt.get("label")) or text_of(prompt.get("display")) or text_of(prompt.get("raw")),
        description=text_of(case.get("description")),
        metadata=object_of(case.get("metadata")),
        assertions=digest([case.get("assert"), case.get("threshold")] if case.get("assert") else None),
        test_number=number if isinstance(number, int) and not isinstance(number, bool) else None,
        line=line,
    )


def keep_variables(variables: Mapping[str, object]) -> dict[str, object]:
    """Return the variables that a person set: not those of the run, nor promptfoo's own."""
    return {
        name: value
        for name, value in variables.items()
        if name not in _OF_THE_RUN and not name.startswith("_")
    }


def read_result(result: Result) -> Record:
    """Return the scores of a result, its error and what it took.

    NaN and truth values are no scores. A test without assertions passes in promptfoo; nothing was looked at, so
    here it has no score.
    """
    error = _find_error(result)
    response = object_of(result.get("response"))
    record: Record = {"metrics": {}, "error": error, "answer": _answer(response)}
    if error is None:
        record["metrics"] = _read_scores(result)
    failed = error is not None
    cost, latency = measure(result.get("cost")), measure(result.get("latencyMs"))
    usage = object_of(result.get("tokenUsage"))
    has_usage = "tokenUsage" in response or any(measure(usage.get(name)) for name in ("total", "prompt"))
    total = measure(usage.get("total"))
    parts = [measure(usage.get(name)) for name in ("prompt", "completion")]
    if total and not any(parts):  # an answer from the cache is counted as a whole
        parts = [None, None]
    record |= {
        "latency_ms": None if failed and not latency else latency,
        "cost_usd": cost if cost or ("cost" in response and not failed) else None,
        "cached": True if response.get("cached") is True else None,
        "tokens.input": parts[0] if has_usage else None,
        "tokens.output": parts[1] if has_usage else None,
        "tokens.total": total if has_usage else None,
        "error_message": first_line(text_of(result.get("error"))) or None if failed else None,
    }
    return record


def _find_error(result: Result) -> str | None:
    """Return the cause: `no_answer` where the provider failed, `grading_failed` where there is an answer.

    A failed assertion fills `error` too, so only the reason of the failure counts; old files have none, and there an
    error without a grading is one.
    """
    reason = result.get("failureReason")
    if reason is None and (not result.get("error") or result.get("gradingResult")):
        return None
    if reason not in (None, ERROR):
        return None
    response = object_of(result.get("response"))
    answered = response.get("output") not in (None, "") and not response.get("error")
    return "grading_failed" if answered else "no_answer"


def _answer(response: Mapping[str, object]) -> object:
    output = response.get("output")
    return output if isinstance(output, str) and output else None


def _read_scores(result: Result) -> Record:
    grading = object_of(result.get("gradingResult"))
    named = object_of(result.get("namedScores")) or object_of(grading.get("namedScores"))
    scores: Record = {"pass": _truth(result.get("success")), "score": number_of(result.get("score"))}
    if looked_at_nothing(result):
        return {**dict.fromkeys(scores), **{name: number_of(value) for name, value in named.items()}}
    scores = {**scores, **{name: number_of(value) for name, value in named.items()}}
    components = list(_components(grading))
    broken = [one for one in components if object_of(one.get("metadata")).get("graderError") is True]
    if broken:  # promptfoo counts a judge that failed as 0
        scores["score"] = None
        if all(one in broken for one in components if one.get("pass") is False):
            scores["pass"] = None
        scores |= dict.fromkeys(_find_broken(grading) & named.keys())
    return scores


def looked_at_nothing(result: Result) -> bool:
    """Say whether no assertion was looked at: such a test passes in promptfoo.

    Results without the grading (it can be stripped from an export) were graded where their test has assertions.
    Files of the first versions have neither, and there `success` is taken at its word.
    """
    if result.keys().isdisjoint({"gradingResult", "testCase"}):
        return False
    grading, case = object_of(result.get("gradingResult")), object_of(result.get("testCase"))
    if text_of(grading.get("reason")) == NO_ASSERTIONS:
        return True
    if case.get("assert") or objects_of(grading.get("componentResults")):
        return False
    return not grading or "assert" in case


def _truth(value: object) -> float | None:
    return float(value) if isinstance(value, bool) else None


def _components(grading: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Give the results of single assertions, also of those in a set."""
    for one in objects_of(grading.get("componentResults")):
        inner = objects_of(one.get("componentResults"))
        if inner:
            yield from _components(one)
        else:
            yield one


def _find_broken(grading: Mapping[str, object]) -> set[str]:
    """Return the named scores that a failed judge is part of: of its assertion, and of the set that this is in."""
    found: set[str] = set()
    for one in objects_of(grading.get("componentResults")):
        metadata = object_of(one.get("metadata"))
        inside = _find_broken(one)
        is_broken = any(
            object_of(part.get("metadata")).get("graderError") is True for part in _components(one)
        )
        if is_broken or metadata.get("graderError") is True:
            holders = (one.get("assertion"), metadata.get("assertionSet"))
            found |= inside | {text_of(object_of(holder).get("metric")) for holder in holders}
    return found


def count_broken(results: Sequence[Result]) -> int:
    """Return how many assertions promptfoo counted as 0 because their judge failed."""
    return sum(
        object_of(one.get("metadata")).get("graderError") is True
        for result in results
        for one in _components(object_of(result.get("gradingResult")))
    )


def find_judges(results: Sequence[Result]) -> list[str]:
    """Return the models that decided assertions, sorted; `promptfoo's default` where a test names none."""
    found: set[str] = set()
    for result in results:
        case = object_of(result.get("testCase"))
        ours = _provider_name(object_of(case.get("options")).get("provider"))
        for assertion in _assertions(case.get("assert")):
            kind = text_of(assertion.get("type")).removeprefix("not-")
            if kind in _JUDGED:
                found.add(_provider_name(assertion.get("provider")) or ours or "promptfoo's default")
    return sorted(found)


def _assertions(value: object) -> Iterator[Mapping[str, object]]:
    for one in objects_of(value):
        yield one
        yield from _assertions(one.get("assert"))


def _provider_name(value: object) -> str:
    """Return a provider's name and nothing else of it: its settings may hold a key."""
    if isinstance(value, dict):
        return text_of(value.get("id")) or _provider_name(value.get("text"))
    return text_of(value)
