"""What a start imports: `--help` and `--version` wait for nothing, a check for nothing that it doesn't need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import gateline

SOURCE = Path(gateline.__file__).parents[1]
LOADED = "import json, sys; print(json.dumps(sorted(sys.modules)))"


def loaded_by(code: str, *, with_site: bool) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after some code."""
    path = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); "
    flags = ["-E", "-s"] if with_site else ["-E", "-S"]
    done = subprocess.run(
        [sys.executable, *flags, "-c", path + code + "; " + LOADED], capture_output=True, check=True
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return set(found)


def test_the_parser_of_arguments_needs_no_slow_module() -> None:
    loaded = loaded_by("from gateline.cli import make_parser; make_parser()", with_site=False)
    assert "argparse" in loaded
    assert loaded.isdisjoint(
        {"typing", "pathlib", "dataclasses", "inspect", "pydantic", "numpy", "yaml", "jinja2"}
    )


def test_the_gate_needs_neither_the_slow_parts_of_scipy_nor_optional_packages() -> None:
    loaded = loaded_by("import gateline.gate, gateline.reports.text", with_site=True)
    assert {"numpy", "scipy.special", "pydantic", "yaml"} <= loaded
    assert loaded.isdisjoint({"scipy.stats", "scipy.optimize", "pandas", "pyarrow", "orjson", "jinja2"})


def test_a_gate_without_people_waits_for_no_audit() -> None:
    loaded = loaded_by("import gateline.gate, gateline.rules as rules; rules.find_rules()", with_site=True)
    assert "gateline.rules.calibration" in loaded
    assert loaded.isdisjoint(
        {"gateline.audit", "gateline.statistics.prediction_powered", "gateline.statistics.kappa"}
    )
