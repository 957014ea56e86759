"""The guard: what a change does to its own policy, and whether that lets more through.

A change is told to loosen where it surely or possibly lets through what was not let through before; only what surely
does not is told to tighten or to be neutral.
"""

from __future__ import annotations

from typing import Any

from gateline.policy import Policy
from gateline.verdict import PolicyChange

_KEYED = {"rules": "id", "waivers": "rule"}
_NAMED = frozenset({"metrics", "slices.named"})
_PRESENT = "present"
_NEUTRAL = frozenset({"show_as", "unit"})
_SEVERITY = {"pass": 0, "warn": 1, "fail": 2}
# fields whose larger number asks for more, and whose larger number asks for less
_STRICTER_UP = frozenset({"at_least", "better_by_at_least", "confidence", "resamples"})
_STRICTER_DOWN = frozenset({"at_most", "worse_by_at_most", "drop_at_most", "up_to"})


def compare_policies(base: Policy, now: Policy) -> list[PolicyChange]:
    """Return the differences between two policies by key path, loosening ones first."""
    before, after = _flatten(base.model_dump(mode="json")), _flatten(now.model_dump(mode="json"))
    changes = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old != new and not _parent_differs(path, before, after):
            changes.append(
                PolicyChange(path=path, base=_say(old), now=_say(new), loosens=_loosens(path, old, new))
            )
    return sorted(changes, key=lambda change: not change.loosens)


def _flatten(value: Any, path: str = "") -> dict[str, Any]:
    """Return leaves by dotted path; rules and waivers by their id, so that order plays no part."""
    flat: dict[str, Any] = {}
    if path in _NAMED and isinstance(value, dict):
        flat |= {f"{path}.{key}": _PRESENT for key in value}
    if isinstance(value, dict):
        for key, item in value.items():
            flat |= _flatten(item, f"{path}.{key}" if path else str(key))
        return flat
    if path in _KEYED and isinstance(value, list):
        for item in value:
            here = f"{path}.{item[_KEYED[path]]}" + (
                f" in {item['slice']}" if path == "waivers" and item["slice"] else ""
            )
            flat[here] = _PRESENT
            flat |= _flatten({key: one for key, one in item.items() if key != _KEYED[path]}, here)
        return flat
    return {path: value}


def _parent_differs(path: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether the rule or waiver that holds `path` is new or gone, which then says it all."""
    for side, other in ((before, after), (after, before)):
        holder = next(
            (key for key, value in side.items() if value == _PRESENT and path.startswith(f"{key}.")), None
        )
        if holder is not None and holder not in other:
            return True
    return False


def _loosens(path: str, old: Any, new: Any) -> bool:
    section, *_, leaf = path.split(".")
    if section == "waivers":
        return new is not None
    if _PRESENT in (old, new):
        return new is None  # a rule, a metric or a named slice is gone
    if leaf in _NEUTRAL or path in ("version", "name", "description"):
        return False
    if leaf == "hard":
        return not new
    if leaf == "on_inconclusive":
        return _SEVERITY.get(str(new), -1) < _SEVERITY.get(str(old), -1)
    before, after = _number(old), _number(new)
    if before is not None and after is not None and isinstance(old, str) == isinstance(new, str):
        if leaf in _STRICTER_UP:
            return after < before
        if leaf in _STRICTER_DOWN:
            return after > before
    if leaf in ("must_match", "same_input", "by") and isinstance(old, list) and isinstance(new, list):
        return not set(old) <= set(new)
    return True


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
