"""Slices and clusters of the paired questions, from the labels that both runs agree on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gateline.errors import InputError, NotComparable, PolicyError, Problem
from gateline.pairing.join import Codes, Side
from gateline.pairing.settings import Terms
from gateline.remark import name_some, said, suggest
from gateline.samples import Run

Rows = npt.NDArray[np.int64]

NONE = "(none)"
"""The value that stands for a label which is absent, null or blank."""


@dataclass
class Labels:
    """The labels of the paired questions."""

    ids: Sequence[str]
    sides: tuple[Side, ...]
    golden: Run | None
    """Golden set, whose labels count before those of the runs."""
    terms: Terms
    lost: Sequence[str] = ()
    """Questions that the candidate was to answer and has no record of: of the golden set, else of the baseline."""
    files: Mapping[str, Run] = field(default_factory=dict)
    """Slices whose questions are the ids in a file, by name."""
    _texts: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    _rows: dict[str | None, Rows] = field(default_factory=dict)
    _families: dict[str, list[str]] = field(default_factory=dict)

    def values(self, name: str) -> list[tuple[str, ...]]:
        """Return the texts of a label for each pair (n); the empty tuple where it is blank.

        Raises NotComparable where the runs disagree, or where they agree and the golden set says something else: a
        change that relabels a question would move it out of a slice that a rule guards. Where the golden set is
        silent, what the runs say counts.
        """
        if name not in self._texts:
            golden = self._golden_values(name)
            agreed = self._agreed_values(name, golden)
            asked = zip(self.ids, golden, agreed, strict=True)
            self._refuse_relabelled(name, [(one, told, said) for one, told, said in asked if told and said])
            self._texts[name] = [told or said for told, said in zip(golden, agreed, strict=True)]
        return self._texts[name]

    def rows(self, name: str | None) -> Rows:
        """Return the pairs of a slice: None for all, a named slice, or `label=value`."""
        if name not in self._rows:
            self._rows[name] = self._find_rows(name)
        return self._rows[name]

    def family(self, label: str) -> list[str]:
        """Return the slices of a label, one a value, sorted, the blank one last."""
        if label not in self._families:
            members: dict[str, list[int]] = {}
            for position, texts in enumerate(self.values(label)):
                for text in texts or (NONE,):
                    members.setdefault(text, []).append(position)
            for texts in self._lost_values(label):  # a slice does not go away with its last question
                for text in texts or (NONE,):
                    members.setdefault(text, [])
            values = sorted(members, key=lambda value: (value == NONE, value))
            self._families[label] = [f"{label}={value}" for value in values]
            for name, value in zip(self._families[label], values, strict=True):
                self._rows[name] = np.asarray(members[value], dtype=np.int64)
        return self._families[label]

    def lost_in(self, name: str | None) -> list[str]:
        """Return the lost questions of a slice: None for all, a named slice, or `label=value`.

        Of a slice that a file names, those that are not compared, for whatever reason: it never shrinks in silence.
        """
        if name is not None and name in self.files:
            compared = set(self.ids)
            return sorted(one for one in self.files[name].ids if one not in compared)
        if name is None or not self.lost:
            return list(self.lost)
        columns = [
            (self._lost_values(label), {*wanted}) for label, wanted in self.terms.conditions(name).items()
        ]
        return [
            one
            for position, one in enumerate(self.lost)
            if all(wanted.intersection(column[position] or (NONE,)) for column, wanted in columns)
        ]

    def clusters(self) -> tuple[Codes, list[str]]:
        """Return the cluster of each pair (n) as a position among the names, and the names.

        A name tells the field and its value, or the id where there is none, so that it is the same in every run.
        """
        name = self.terms.samples.cluster
        if name is None:
            return np.arange(len(self.ids), dtype=np.int64), list(self.ids)
        if not any(side.run.find_label(name) is not None for side in self._sources()):
            raise PolicyError(
                said("problem.no-cluster-field", field=name),
                self.sides[-1].run.file,
                suggest(name, _known_labels(self._sources())),
            )
        texts = self.values(name)
        names = [
            f"{name}={', '.join(found)}" if found else f"id={self.ids[position]}"
            for position, found in enumerate(texts)
        ]
        distinct = sorted(set(names))
        code_of = {text: code for code, text in enumerate(distinct)}
        return np.array([code_of[text] for text in names], dtype=np.int64), distinct

    def check_slices(self) -> None:
        """Raise PolicyError for a slice or label that no record of either run carries: a typing slip."""
        problems = [self._check_label(label, where) for label, where in self.terms.family_labels.items()]
        for name, where in self.terms.slice_lines.items():
            if name in self.files:
                problems.append(self._check_file(name, where))
                continue
            problems += [
                self._check_condition(label, values, where)
                for label, values in self.terms.conditions(name).items()
            ]
        found = [problem for problem in problems if problem]
        if found:
            raise PolicyError(
                "the policy names slices that no sample carries", problems=list(dict.fromkeys(found))
            )

    def count_by_slice(self, ids: Sequence[str], run: Run) -> dict[str, int]:
        """Return how many of a run's `ids` stand in each slice that a rule looks at."""
        wanted = set(ids)
        rows = [row for row, name in enumerate(run.ids) if name in wanted]
        counts: dict[str, int] = {}
        for name in self.terms.slice_lines:
            if name in self.files:
                counts[name] = len(wanted.intersection(self.files[name].ids))
                continue
            conditions = self.terms.conditions(name)
            columns = {label: run.labels(label) or [()] * len(run) for label in conditions}
            counts[name] = len(
                {
                    run.ids[row]
                    for row in rows
                    if all(set(columns[label][row]) & set(values) for label, values in conditions.items())
                }
            )
        for label in self.terms.family_labels:
            column = run.labels(label) or [()] * len(run)
            members: dict[str, set[str]] = {}
            for row in rows:
                for text in column[row] or (NONE,):
                    members.setdefault(f"{label}={text}", set()).add(run.ids[row])
            counts |= {name: len(found) for name, found in sorted(members.items())}
        return {name: number for name, number in counts.items() if number}

    def _sources(self) -> list[Side]:
        return list(self.sides) + ([_as_side(self.golden)] if self.golden is not None else [])

    def _lost_values(self, name: str) -> list[tuple[str, ...]]:
        """Return the texts of a label for each lost question, as the golden set has it, else the baseline."""
        if not self.lost:
            return []
        golden, run = _labels_by_id(self.golden, name), _labels_by_id(self.sides[0].run, name)
        both = [one for one in self.lost if golden.get(one) and run.get(one)]
        self._refuse_relabelled(name, [(one, golden[one], run[one]) for one in both])
        return [golden.get(one) or run.get(one, ()) for one in self.lost]

    def _golden_values(self, name: str) -> list[tuple[str, ...]]:
        if self.golden is None:
            return [()] * len(self.ids)
        of_id = _labels_by_id(self.golden, name)
        return [of_id.get(one, ()) for one in self.ids]

    def _refuse_relabelled(
        self, name: str, told: Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]]
    ) -> None:
        """Raise NotComparable where of (id, golden label, label of the runs) the two labels differ."""
        differing = [one for one in told if set(one[1]) != set(one[2])]
        if not differing or self.golden is None:
            return
        row_of = {one: row for row, one in enumerate(self.golden.ids)}
        problems = [
            Problem(
                said(
                    "problem.relabelled-in-runs",
                    id=one,
                    golden=f"{name}={', '.join(golden)}",
                    runs=f"{name}={', '.join(told_by_runs)}",
                ),
                self.golden.place(row_of[one]),
            )
            for one, golden, told_by_runs in differing[:5]
        ]
        what = said("problem.another-label-in-runs", label=name, count=len(differing))
        rest = [one for one, _, _ in differing[5:]]
        if rest:
            what = said("problem.and-likewise", what=what, ids=name_some(rest, 20))
        hint = Problem(what, self.golden.file, said("hint.another-label-in-runs"))
        raise NotComparable(
            f"the golden set and the runs disagree on the label {name}", problems=[*problems, hint]
        )

    def _agreed_values(self, name: str, golden: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """Return what the runs say of each pair (n); where they disagree the golden set counts, if it speaks."""
        found = [
            texts
            for texts in (self._side_values(side, name, golden) for side in self.sides)
            if texts is not None
        ]
        if len(found) < 2:
            return found[0] if found else [()] * len(self.ids)
        agreed, problems = [], []
        for position, (before, after) in enumerate(zip(*found, strict=True)):
            differs = bool(before and after and set(before) != set(after))
            if differs and not golden[position]:
                problems.append(
                    Problem(
                        said(
                            "problem.relabelled",
                            id=self.ids[position],
                            candidate=f"{name}={', '.join(after)}",
                            baseline=f"{name}={', '.join(before)}",
                        ),
                        self.sides[-1].run.place(int(self.sides[-1].first[position])),
                    )
                )
            agreed.append(golden[position] if differs else before or after)
        if problems:
            hint = Problem(
                said("problem.another-label", label=name, differing=len(problems), asked=len(self.ids)),
                self.sides[-1].run.file,
                said("hint.another-label"),
            )
            raise NotComparable(f"the runs disagree on the label {name}", problems=[*problems[:5], hint])
        return agreed

    def _side_values(
        self, side: Side, name: str, golden: Sequence[tuple[str, ...]]
    ) -> list[tuple[str, ...]] | None:
        texts = side.run.labels(name)
        if texts is None:
            return None
        if not side.repeated:
            return [texts[row] for row in side.first]
        found: list[tuple[str, ...]] = [()] * len(self.ids)
        for row in np.flatnonzero(side.code >= 0).tolist():
            code = side.code[row]
            differs = bool(texts[row] and found[code] and set(texts[row]) != set(found[code]))
            if differs and not golden[code]:
                raise InputError(
                    said(
                        "problem.attempts-labelled",
                        id=self.ids[code],
                        first=f"{name}={', '.join(found[code])}",
                        second=f"{name}={', '.join(texts[row])}",
                    ),
                    side.run.place(row),
                )
            found[code] = golden[code] if differs else found[code] or texts[row]
        return found

    def _find_rows(self, name: str | None) -> Rows:
        if name is None:
            return np.arange(len(self.ids), dtype=np.int64)
        if name in self.files:
            members = set(self.files[name].ids)
            return np.flatnonzero([one in members for one in self.ids]).astype(np.int64)
        keep = np.ones(len(self.ids), dtype=bool)
        for label, values in self.terms.conditions(name).items():
            wanted = set(values)
            keep &= np.fromiter(
                (bool(wanted.intersection(texts or (NONE,))) for texts in self.values(label)),
                dtype=bool,
                count=len(self.ids),
            )
        return np.flatnonzero(keep).astype(np.int64)

    def _check_label(self, label: str, where: str) -> Problem | None:
        if any(side.run.find_label(label) is not None for side in self._sources()):
            return None
        return Problem(
            said("problem.no-label", label=label),
            where,
            suggest(label, _known_labels(self._sources())),
        )

    def _check_file(self, name: str, where: str) -> Problem | None:
        if len(self.rows(name)):
            return None
        run = self.files[name]
        what = said(
            "problem.slice-not-compared",
            count=len(run),
            slice=name,
            file=run.file,
            ids=name_some(run.ids, 3),
        )
        return Problem(what, where, said("hint.slice-not-compared"))

    def _check_condition(self, label: str, values: Sequence[str], where: str) -> Problem | None:
        missing = self._check_label(label, where)
        if missing:
            return missing
        known: set[str] = set()
        for side in self._sources():
            for texts in side.run.labels(label) or []:
                known.update(texts or (NONE,))
        absent = [value for value in values if value not in known]
        if not absent:
            return None
        return Problem(
            said("problem.no-label-value", label=label, value=absent[0]), where, suggest(absent[0], known)
        )


def _labels_by_id(run: Run | None, name: str) -> dict[str, tuple[str, ...]]:
    """Return the first label of each id that isn't blank."""
    found: dict[str, tuple[str, ...]] = {}
    for one, texts in zip(run.ids, run.labels(name) or [], strict=False) if run is not None else ():
        found[one] = found.get(one) or texts
    return found


def _known_labels(sources: Sequence[Side]) -> list[str]:
    return list(dict.fromkeys(name for side in sources for name in [*side.run.slices, *side.run.fields]))


def _as_side(run: Run) -> Side:
    return Side(run, np.empty(0, np.int64), np.empty(0, np.int64), repeated=False)
