"""EvalScope's samples: scores from `reviews`, latency and tokens from `predictions`, joined on subset and index.

Lines stand in the order of completion, so the index in the file's own words counts, never the line. Nothing here
looks for files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gateline.errors import InputError, count_of, name_some
from gateline.readers._building import RunBuilder, describe
from gateline.readers._evalscope_reports import Report, find_names, state
from gateline.readers._json_document import measure, object_of
from gateline.readers._json_lines import read_object
from gateline.readers._json_text import JsonProblemError
from gateline.readers._source import ReadOptions, Source
from gateline.samples import MetricFacts, Run, read_number

USABLE = frozenset({"success", "fallback", "degraded"})
"""Statuses of a score that counts; any other leaves the mean."""
_SECOND = 1000.0
MOST_REQUESTED = 1_000_000
"""Samples of a subset up to which those that failed are looked for by their place."""
_SPOKEN_BY = "**User**: \n"

Record = dict[str, object]


@dataclass
class Samples:
    """Samples as they are read, by dataset, subset and index."""

    records: dict[tuple[str, str, int], Record] = field(default_factory=dict)
    places: dict[tuple[str, str, int], tuple[str, int]] = field(default_factory=dict)
    """File and line of each sample's score, or else of its answer."""
    repeated: int = 0
    """Lines that a resumed run wrote again."""
    unscored: Counter[str] = field(default_factory=Counter)
    """How many zeros of each metric stand for one that could not be computed."""
    reason: str = ""
    """Why, of the first of them."""
    fallback: int = 0
    """Scores that a judge gave only by a fallback."""

    def add_reviews(self, source: Source, dataset: str, subset: str) -> None:
        """Take the scores of a file."""
        seen: set[int] = set()
        for line, value in read_lines(source):
            index = _index(value, source, line)
            self.repeated += index in seen
            seen.add(index)
            key = (dataset, subset, index)
            self.records[key] = {**self.records.get(key, {}), **self._read_review(value, key, source, line)}
            self.places[key] = (source.name, line)

    def add_predictions(self, source: Source, dataset: str, subset: str) -> None:
        """Take latency, tokens and errors of a file; of samples that no review scores, too."""
        for line, value in read_lines(source):
            key = (dataset, subset, _index(value, source, line))
            taken = _read_prediction(value)
            if key not in self.records:
                self.records[key] = {**_identity(key), "error": "not_scored"}
                self.places[key] = (source.name, line)
            if taken.get("error"):
                self.records[key].pop("metrics", None)
            self.records[key] |= {name: item for name, item in taken.items() if item is not None}

    def add_failed(self, report: Report) -> list[str]:
        """Add the samples that failed and stand in no file, where the report lets them be known; else tell it.

        A report of schema 2 says how many of a subset were asked for and failed. Indices count from 0, so the gaps
        are those that failed if there are as many gaps.
        """
        told = []
        for subset, failed in report.errored.items():
            found = {key[2] for key in self.records if key[:2] == (report.dataset, subset)}
            requested = report.requested.get(subset, 0)
            # what a report claims is not believed beyond what a run can be
            gaps = sorted(set(range(requested)) - found) if requested <= MOST_REQUESTED else []
            if failed and len(gaps) == failed:
                for index in gaps:
                    key = (report.dataset, subset, index)
                    self.records[key] = {**_identity(key), "error": "no_answer"}
            elif failed:
                asked, there = report.requested.get(subset), len(found)
                told.append(
                    f"the report says that {count_of(failed, 'sample', 'samples')} of the subset {subset} "
                    f"failed, of {asked}; {there} are in "
                    "the files, so which ones failed can't be told"
                )
        return told

    def warnings(self) -> list[str]:
        """Return what a person should know."""
        found = []
        if self.unscored:
            shown = name_some([f"{name} {times}x" for name, times in sorted(self.unscored.items())], 4)
            found.append(
                f"EvalScope could not compute a metric and wrote 0; those are no scores here: {shown} ({self.reason})"
            )
        if self.repeated:
            found.append(
                f"{count_of(self.repeated, 'sample stands', 'samples stand')} twice, as in a resumed run; "
                "the last line counts"
            )
        if self.fallback:
            found.append(
                f"{count_of(self.fallback, 'score is', 'scores are')} a fallback of the judge, or degraded"
            )
        return found

    def _read_review(
        self, value: Mapping[str, object], key: tuple[str, str, int], source: Source, line: int
    ) -> Record:
        sample = value.get("sample_score")
        score = sample.get("score") if isinstance(sample, dict) else None
        if (
            not isinstance(sample, dict)
            or not isinstance(score, dict)
            or not isinstance(score.get("value"), dict)
        ):
            raise InputError("has no sample_score.score.value", f"{source.name}:{line}")
        record = _identity(key)
        group, attempt = sample.get("group_id"), sample.get("generation_index")
        if isinstance(group, int):
            record["id"] = f"{key[0]}/{key[1]}/{group}".lstrip("/")
            record["attempt"] = attempt + 1 if isinstance(attempt, int) else None
        status = str(score.get("status") or "success")
        self.fallback += status in {"fallback", "degraded"}
        record["metrics"] = self._read_scores(score, usable=status in USABLE)
        record["error"] = None if status in USABLE else status
        metadata = sample.get("sample_metadata")
        if isinstance(metadata, dict):
            labels = {name: item for name, item in metadata.items() if isinstance(item, str | bool | int)}
            record["slices"] = {**labels, **_labels(key)}
        record["question"] = _question(value)
        record["answer"] = score.get("prediction")
        record["reference"] = value.get("target")
        return record

    def _read_scores(self, score: Mapping[str, object], *, usable: bool) -> dict[str, object]:
        metadata = score.get("metadata")
        errors = metadata.get("metric_errors") if isinstance(metadata, dict) else None
        failed = {str(name): str(text) for name, text in errors.items()} if isinstance(errors, dict) else {}
        scores: dict[str, object] = {}
        values = score["value"]
        assert isinstance(values, dict)
        for name, item in values.items():
            cause = next((text for metric, text in failed.items() if _belongs(name, metric)), None)
            if cause is not None:
                self.unscored[name] += 1
                self.reason = self.reason or cause.strip().partition("\n")[0].strip(" :")[:80]
            kept = usable and cause is None and isinstance(item, int | float)
            scores[name] = read_number(float(item) if isinstance(item, bool) else item) if kept else None
        return scores


def read_lines(source: Source) -> Iterator[tuple[int, dict[str, object]]]:
    """Give line and object of each line that is not blank; an InputError for what is no object."""
    for line, text in enumerate(source.data[source.text_start :].split(b"\n"), 1):
        if text.strip():
            try:
                yield line, read_object(text)
            except JsonProblemError as error:
                raise InputError(str(error), f"{source.name}:{line}") from None


def make_run(
    samples: Samples, reports: Sequence[Report], file: str, sha256: str, facts: Mapping[str, object]
) -> Run:
    """Return the samples as a run, with what the reports say of metrics."""
    warnings = [warning for report in reports for warning in samples.add_failed(report)]
    keys = sorted(samples.records)
    if not keys:
        raise InputError("0 samples: no line in reviews or predictions", file)
    records = [samples.records[key] for key in keys]
    if len({record["id"] for record in records}) == len(records):
        for record in records:
            record.pop("attempt", None)
    else:
        _number_attempts(records)
    if not any(record.get("error") for record in records):
        for record in records:
            record.pop("error", None)
    builder = RunBuilder(Source(file), ReadOptions(), "evalscope")
    places = [samples.places.get(key, (file, 0)) for key in keys]
    builder.add(records, np.array([line for _, line in places], dtype=np.int64))
    return _describe(builder, samples, reports, facts, sha256, [name for name, _ in places], warnings)


def _describe(
    builder: RunBuilder,
    samples: Samples,
    reports: Sequence[Report],
    facts: Mapping[str, object],
    sha256: str,
    origins: list[str],
    warnings: Sequence[str],
) -> Run:
    builder.sha256 = sha256
    run = builder.finish()
    metric_facts: dict[str, MetricFacts] = {}
    aliases: dict[str, str] = {}
    for report in reports:
        for name, metric in find_names(report, list(run.metrics)).items():
            if metric.facts is not None:
                metric_facts[name] = metric.facts
            aliases[metric.key] = name
    provenance: dict[str, object] = {}
    for report in reports:
        provenance |= state(report)
    if len(reports) > 1:
        provenance["dataset"] = [report.dataset for report in reports]
    return replace(
        run,
        origins=origins,
        provenance={**provenance, **facts},
        id_field="dataset, subset and index",
        made_ids=True,
        warnings=(*samples.warnings(), *warnings),
        metric_facts=metric_facts,
        aliases={name: known for name, known in aliases.items() if name not in run.metrics},
    )


def _number_attempts(records: Sequence[Record]) -> None:
    """Number the attempts at one question by their index where the file does not."""
    counted: Counter[object] = Counter()
    for record in records:
        counted[record["id"]] += 1
        if record.get("attempt") is None:
            record["attempt"] = counted[record["id"]]


def _identity(key: tuple[str, str, int]) -> Record:
    return {"id": f"{key[0]}/{key[1]}/{key[2]}".lstrip("/"), "slices": _labels(key)}


def _labels(key: tuple[str, str, int]) -> dict[str, object]:
    return {"dataset": key[0] or None, "subset": key[1]}


def _index(value: Mapping[str, object], source: Source, line: int) -> int:
    index = value.get("index")
    if isinstance(index, bool) or not isinstance(index, int):
        raise InputError(f"index must be a whole number, not {describe(index)}", f"{source.name}:{line}")
    return index


def _belongs(name: str, metric: str) -> bool:
    """Say whether a score is of the metric that failed: `bleu-1` is of `BLEU`."""
    score, failed = name.casefold(), metric.casefold()
    return score == failed or (score.startswith(failed) and not score[len(failed)].isalnum())


def _question(value: Mapping[str, object]) -> str | None:
    """Return what the user asked."""
    messages = value.get("messages")
    if not isinstance(messages, list):
        asked = value.get("input")
        return asked.removeprefix(_SPOKEN_BY) if isinstance(asked, str) else None
    said = [
        message.get("content")
        for message in messages
        if isinstance(message, dict) and message.get("role") == "user"
    ]
    parts = [part for content in said for part in (content if isinstance(content, list) else [content])]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def _read_prediction(value: Mapping[str, object]) -> Record:
    output = object_of(value.get("model_output"))
    measured, usage = object_of(output.get("perf_metrics")), object_of(output.get("usage"))
    seconds = output.get("time")
    if seconds is None:
        seconds = measured.get("latency")
    return {
        "latency_ms": measure(seconds, _SECOND),
        "ttft_ms": measure(measured.get("ttft"), _SECOND),
        "tokens.input": usage.get("input_tokens"),
        "tokens.output": usage.get("output_tokens"),
        "tokens.total": usage.get("total_tokens"),
        "error": "no_answer" if output.get("error") else None,
    }
