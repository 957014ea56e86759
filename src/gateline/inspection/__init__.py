"""What is in a result file, for a person who is about to write a policy for it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from gateline.inspection.facts import Inspection, LabelColumn, NumberColumn, find_facts
from gateline.inspection.oddities import find_oddities
from gateline.inspection.text import render_text
from gateline.samples import Run

__all__ = ["Inspection", "LabelColumn", "NumberColumn", "inspect_run", "render_text", "to_json"]


def inspect_run(run: Run, reader: str = "") -> Inspection:
    """Return what is in a run, with warnings of what is odd; `reader` is the name of what read it."""
    facts = find_facts(run, reader)
    return replace(facts, warnings=[*run.warnings, *find_oddities(run, facts)])


def to_json(inspection: Inspection) -> str:
    """Return an inspection as strict JSON with a line feed at the end."""
    return json.dumps(asdict(inspection), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
