"""The guard: what a change does to its own policy, and whether that lets more through.

A change is told to loosen where it surely or possibly lets through what was not let through before; only what surely
does not is told to tighten or to be neutral.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from gateline.calibration import ENOUGH_LABELS
from gateline.metric import MONEY, TIMES
from gateline.policy import Policy
from gateline.verdict import PolicyChange

Path = tuple[str, ...]
"""The keys from the top of a policy to a value; names may have dots in them, so it is joined for people only."""

_PRESENT = object()  # what stands for a rule, waiver, metric or slice itself; equal to nothing in a policy
_SEVERITY = {"pass": 0, "warn": 1, "fail": 2}
# bounds whose larger number asks for more, and whose larger number asks for less
_STRICTER_UP = frozenset({"at_least", "better_by_at_least"})
_STRICTER_DOWN = frozenset({"at_most", "worse_by_at_most"})
# what gives no verdict instead of one, where it is `refuse`
_REFUSING = frozenset({"on_mismatch", "repeats", "uneven_attempts", "no_answer", "no_score"})


def compare_policies(base: Policy, now: Policy) -> list[PolicyChange]:
    """Return the differences between two policies by key path, loosening ones first."""
    before, after = _flatten(_meaning(base)), _flatten(_meaning(now))
    changes = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old != new and not _holder_differs(path, before, after):
            loosens = _loosens(path, before, after)
            changes.append(PolicyChange(path=_show(path), base=_say(old), now=_say(new), loosens=loosens))
    return sorted(changes, key=lambda change: not change.loosens)


def _meaning(policy: Policy) -> dict[str, Any]:
    """Return a policy as plain data; what a rule leaves to its kind's default is filled in."""
    data = policy.model_dump(mode="json")
    data["rules"] = [
        rule.model_dump(mode="json") | {"decide_by": rule.decides_by, "on_inconclusive": rule.if_inconclusive}
        for rule in policy.rules
    ]
    return data


def _flatten(data: dict[str, Any]) -> dict[Path, Any]:
    """Return leaves by path; rules and waivers by name, so that their order plays no part."""
    flat: dict[Path, Any] = {}
    for section, value in data.items():
        if section in ("rules", "waivers", "metrics"):
            named = _name_items(section, value)
        elif section == "calibration":
            # all sources of a metric are one value, so that none can hide another
            for metric in {one["metric"] for one in value}:
                flat[section, metric] = tuple(
                    sorted(_name_source(one) for one in value if one["metric"] == metric)
                )
            continue
        elif section == "slices":
            named = {("slices", "named", name): item for name, item in value["named"].items()}
            named |= {("slices", "files", name): {"file": item} for name, item in value["files"].items()}
            flat |= {("slices", key): item for key, item in value.items() if key not in ("named", "files")}
        else:
            flat |= (
                {(section, key): item for key, item in value.items()}
                if isinstance(value, dict)
                else {(section,): value}
            )
            continue
        for holder, item in named.items():
            flat[holder] = _PRESENT
            flat |= {(*holder, key): one for key, one in item.items()}
    return flat


def _name_source(source: dict[str, Any]) -> tuple[str, ...]:
    """Return the file of people's labels, their field, their run and how many are enough; blank where not said."""
    least = source["at_least"]
    enough = "" if least == ENOUGH_LABELS else f"at_least {least}"
    return (*(source[key] or "" for key in ("human", "label", "run")), enough)


def _name_items(section: str, items: Any) -> dict[Path, dict[str, Any]]:
    """Return rules, waivers or metrics by path; a waiver's is its rule, its slice and its number among equals."""
    if isinstance(items, dict):
        return {(section, name): item for name, item in items.items()}
    if section == "rules":
        return {(section, item["id"]): item for item in items}
    seen: Counter[Path] = Counter()
    named: dict[Path, dict[str, Any]] = {}
    for item in sorted(items, key=str):
        place = (section, item["rule"], item["slice"] or "")
        seen[place] += 1
        # two waivers of one rule must not hide each other
        named[*place, str(seen[place])] = {key: one for key, one in item.items() if key != "rule"}
    return named


def _show(path: Path) -> str:
    """Return `rules.floor.at_least`, or `waivers.floor in de (2).up_to`."""
    if path[0] == "waivers":
        section, rule, place, number, *rest = path
        name = f"{rule} in {place}" if place else rule
        path = (section, name if number == "1" else f"{name} ({number})", *rest)
    return ".".join(path)


def _holder_differs(path: Path, before: dict[Path, Any], after: dict[Path, Any]) -> bool:
    """Return whether the rule, waiver, metric or slice that holds `path` is new or gone, which then says it all."""
    holders = (path[:end] for end in range(1, len(path)))
    return any((holder in before) != (holder in after) for holder in holders)


def _loosens(path: Path, before: dict[Path, Any], after: dict[Path, Any]) -> bool:
    """Return whether a change may let more through; what nobody thought of may."""
    old, new = before.get(path), after.get(path)
    section, leaf = path[0], path[-1]
    if old is _PRESENT or new is _PRESENT:
        return (new is not None) if section == "waivers" else new is None
    if path == ("slices", "by"):
        # more labels make more slices, and an interval that is widened over them shows less
        return set(old or []) != set(new or [])
    if path in (("provenance", "must_match"), ("samples", "same_input")):
        return old is None or new is None or not set(old) <= set(new)
    if path == ("provenance", "may_change"):
        # it also lets facts differ in which runs must agree by their tool
        return not set(new or []) <= set(old or [])
    if section == "rules":
        return _rule_loosens(path, before, after)
    judge = {
        "waivers": _waiver_loosens,
        "metrics": _metric_loosens,
        "samples": _terms_loosen,
        "missing": _terms_loosen,
    }.get(section)
    if judge is not None:
        return judge(leaf, old, new)
    # all of `statistics` may: a higher confidence turns harm that was shown into harm that is not; and so may
    # slices.at_least: smaller slices are judged no more, and in a larger family an interval shows less
    return path not in (("version",), ("name",), ("description",), ("lang",))


def _rule_loosens(path: Path, before: dict[Path, Any], after: dict[Path, Any]) -> bool:
    old: Any = before.get(path)
    new: Any = after.get(path)
    leaf, rule = path[-1], path[:-1]
    burden = before.get((*rule, "on_inconclusive"))
    if leaf == "hard":
        # hard rules decide in small slices too, where what can't be settled blocked; `every` always does
        return not new or (burden == "fail" and after.get((*rule, "kind")) != "every")
    if leaf == "on_inconclusive":
        return _SEVERITY[new] < _SEVERITY[old]
    if leaf == "decide_by":
        # what the interval leaves open is decided by value from now on, or the other way round
        return burden == "fail" if new == "value" else after.get((*rule, "on_inconclusive")) != "fail"
    was, now = _number(old), _number(new)
    if was is not None and now is not None and isinstance(old, str) == isinstance(new, str):
        if leaf in _STRICTER_UP:
            return now < was
        if leaf in _STRICTER_DOWN:
            return now > was
    return True


def _waiver_loosens(leaf: str, old: Any, new: Any) -> bool:
    if leaf == "until":
        return str(new) > str(old)
    return leaf not in ("by", "reason")


def _metric_loosens(leaf: str, old: Any, new: Any) -> bool:
    if leaf == "unit":  # money and time are missing where a call was cached or has no price
        return not {old, new}.isdisjoint(MONEY | TIMES)
    return leaf not in ("show_as", "layer")


def _terms_loosen(leaf: str, old: Any, new: Any) -> bool:
    # at_least may in both directions: fewer pairs get a verdict, or a fail that rests on few is settled no more
    if leaf == "drop_at_most":
        return bool(new > old)
    return not (leaf in _REFUSING and new == "refuse")


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and value.endswith("%"):
        return float(value[:-1])
    return None


def _say(value: Any) -> str | None:
    if value is None:
        return None
    if value is _PRESENT:
        return "present"
    if isinstance(value, tuple):  # sources of people's labels
        return ", ".join(" ".join(part for part in source if part) for source in value)
    if isinstance(value, list):
        return "[" + ", ".join(str(item) for item in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)
