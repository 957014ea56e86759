"""The guard: what a change does to its own policy, and whether that lets more through.

A change is told to loosen where it surely or possibly lets through what was not let through before; only what surely
does not is told to tighten or to be neutral.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from gateline.metric import MONEY, TIMES
from gateline.policy import Policy
from gateline.verdict import PolicyChange

_PRESENT = "present"
_SEVERITY = {"pass": 0, "warn": 1, "fail": 2}
# bounds whose larger number asks for more, and whose larger number asks for less
_STRICTER_UP = frozenset({"at_least", "better_by_at_least"})
_STRICTER_DOWN = frozenset({"at_most", "worse_by_at_most"})


def compare_policies(base: Policy, now: Policy) -> list[PolicyChange]:
    """Return the differences between two policies by key path, loosening ones first."""
    before, after = _flatten(_meaning(base)), _flatten(_meaning(now))
    changes = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old != new and not _holder_differs(path, before, after):
            loosens = _loosens(path, before, after)
            changes.append(PolicyChange(path=path, base=_say(old), now=_say(new), loosens=loosens))
    return sorted(changes, key=lambda change: not change.loosens)


def _meaning(policy: Policy) -> dict[str, Any]:
    """Return a policy as plain data; what a rule leaves to its kind's default is filled in."""
    data = policy.model_dump(mode="json")
    data["rules"] = [
        rule.model_dump(mode="json") | {"decide_by": rule.decides_by, "on_inconclusive": rule.if_inconclusive}
        for rule in policy.rules
    ]
    return data


def _flatten(data: dict[str, Any]) -> dict[str, Any]:
    """Return leaves by dotted path; rules and waivers by name, so that their order plays no part."""
    flat: dict[str, Any] = {}
    for section, value in data.items():
        if section in ("rules", "waivers", "metrics"):
            named = _name_items(section, value)
        elif section == "slices":
            named = _name_items("slices.named", value["named"])
            flat |= {f"slices.{key}": item for key, item in value.items() if key != "named"}
        else:
            pairs = value.items() if isinstance(value, dict) else [(None, value)]
            flat |= {f"{section}.{key}" if key else section: item for key, item in pairs}
            continue
        for name, item in named.items():
            flat[name] = _PRESENT
            flat |= {f"{name}.{key}": one for key, one in item.items()}
    return flat


def _name_items(section: str, items: Any) -> dict[str, dict[str, Any]]:
    if isinstance(items, dict):
        return {f"{section}.{name}": item for name, item in items.items()}
    seen: Counter[str] = Counter()
    named = {}
    for item in sorted(items, key=str):
        name = f"{section}.{item.get('id', item.get('rule'))}"
        if section == "waivers" and item["slice"]:
            name += f" in {item['slice']}"
        seen[name] += 1
        # two waivers of one rule must not hide each other
        full = name if seen[name] == 1 else f"{name} ({seen[name]})"
        named[full] = {key: one for key, one in item.items() if key not in ("id", "rule")}
    return named


def _holder_differs(path: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether the rule, waiver, metric or slice that holds `path` is new or gone, which then says it all."""
    return any(
        (holder in before) != (holder in after) and _PRESENT in (before.get(holder), after.get(holder))
        for holder in _holders(path)
    )


def _holders(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def _loosens(path: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether a change may let more through; what nobody thought of may."""
    old, new = before.get(path), after.get(path)
    section = path.split(".", maxsplit=1)[0]
    if _PRESENT in (old, new):
        return (new is not None) if section == "waivers" else new is None
    holder, _, leaf = path.rpartition(".")
    if isinstance(old, list) and isinstance(new, list) and leaf in ("by", "must_match", "same_input"):
        # more labels make more slices, and an interval that is widened over them shows less
        return set(old) != set(new) if leaf == "by" else not set(old) <= set(new)
    if path == "provenance.may_change":  # it also lets facts differ in which runs must agree by their tool
        return not set(new or []) <= set(old or [])
    judge = {
        "rules": _rule_loosens,
        "waivers": _waiver_loosens,
        "metrics": _metric_loosens,
        "samples": _terms_loosen,
        "missing": _terms_loosen,
    }.get(section)
    if judge is not None:
        return judge(
            leaf, old, new, (before.get(f"{holder}.on_inconclusive"), after.get(f"{holder}.on_inconclusive"))
        )
    # all of `statistics` may: a higher confidence turns harm that was shown into harm that is not
    return path not in ("version", "name", "description")


def _rule_loosens(leaf: str, old: Any, new: Any, burden: tuple[Any, Any]) -> bool:
    if leaf == "hard":
        return not new
    if leaf == "on_inconclusive":
        return _SEVERITY[new] < _SEVERITY[old]
    if leaf == "decide_by":
        # what the interval leaves open is decided by value from now on, or the other way round
        return bool(burden[0] == "fail" if new == "value" else burden[1] != "fail")
    before, after = _number(old), _number(new)
    if before is not None and after is not None and isinstance(old, str) == isinstance(new, str):
        if leaf in _STRICTER_UP:
            return after < before
        if leaf in _STRICTER_DOWN:
            return after > before
    return True


def _waiver_loosens(leaf: str, old: Any, new: Any, _: tuple[Any, Any]) -> bool:
    if leaf == "until":
        return str(new) > str(old)
    return leaf not in ("by", "reason")


def _metric_loosens(leaf: str, old: Any, new: Any, _: tuple[Any, Any]) -> bool:
    if leaf == "unit":  # money and time are missing where a call was cached or has no price
        return not {old, new}.isdisjoint(MONEY | TIMES)
    return leaf not in ("show_as", "layer")


def _terms_loosen(leaf: str, old: Any, new: Any, _: tuple[Any, Any]) -> bool:
    if leaf == "at_least":
        return bool(new < old)
    if leaf == "drop_at_most":
        return bool(new > old)
    return bool(new != "refuse")


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
    if isinstance(value, list):
        return "[" + ", ".join(str(item) for item in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)
