"""Files of the baseline among those of the candidate: what the candidate lost would be filled up with them.

Files of one run are joined before anything is known of the other run; here both are known. It changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from gateline.errors import NotComparable, Problem
from gateline.metric import Metric
from gateline.remark import list_some, said
from gateline.samples import JoinedFile, Run


def refuse_joined_baseline(baseline: Run, candidate: Run, metrics: Mapping[str, Metric]) -> None:
    """Raise NotComparable where a file with a metric of the policy is in both runs, which are not the same as a whole.

    A file that has only the same content, under another name, is one where another of the candidate's files has the
    same metric for the same records: parts of a run may come out alike, and a file of labels may serve both.
    """
    before, after = _parts(baseline), _parts(candidate)
    if len(after) < 2 or {part.sha256 for part in before} == {part.sha256 for part in after}:
        return
    fields = {
        known
        for name, metric in metrics.items()
        for field in metric.ratio or (metric.field or name,)
        for known in (field, candidate.aliases.get(field, field))
    }
    digests = {part.sha256 for part in before}
    paths = {os.path.realpath(part.file) for part in before}
    problems = []
    for part in after:
        filled = part.names if os.path.realpath(part.file) in paths else part.elsewhere
        found = sorted(fields & filled) if part.sha256 in digests else []
        if found:
            what = said("problem.joined-baseline", fields=list_some(found))
            problems.append(Problem(what, part.file, said("hint.joined-baseline")))
    if problems:
        raise NotComparable("the candidate is joined with files of the baseline", problems=problems)


def _parts(run: Run) -> tuple[JoinedFile, ...]:
    names = frozenset([*run.metrics, *run.fields])
    return run.parts or (JoinedFile(run.file, run.sha256, names, frozenset()),)
