"""The architecture as a test: who may import whom, who may print, how large a module may be."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1] / "src" / "gateline"
MODULES = {
    ".".join(("gateline", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}

LAYERS = [
    [
        "gateline.errors",
        "gateline.files",
        "gateline.record",
        "gateline.settings",
        "gateline.statistics",
        "gateline.described_schema",
        "gateline.texts",
    ],
    [
        "gateline.bounds",
        "gateline.git",
        "gateline.reduced_mark",
        "gateline.remark",
        "gateline.spelling",
        "gateline.samples",
        "gateline.yaml_text",
    ],
    ["gateline.agreement", "gateline.metric"],
    ["gateline.field_names", "gateline.pairing", "gateline.tied_labels"],
    ["gateline.findings", "gateline.lost_samples", "gateline.readers"],
    ["gateline.calibration", "gateline.estimate"],
    ["gateline.corrected"],
    ["gateline.figures", "gateline.comparison", "gateline.convert", "gateline.golden"],
    ["gateline.amounts", "gateline.audit"],
    ["gateline.wording", "gateline.rules", "gateline.scoring"],
    ["gateline.waivers", "gateline.verdict", "gateline.contradictions"],
    ["gateline.policy_problems", "gateline.verdict_file"],
    [
        "gateline.policy",
        "gateline.reports",
        "gateline.harvest",
        "gateline.hosts",
        "gateline.movements",
        "gateline.losses",
    ],
    [
        "gateline.guard",
        "gateline.explanation",
        "gateline.conclusion",
        "gateline.baselines",
        "gateline.inspection",
        "gateline.reduction",
    ],
    ["gateline.gate", "gateline.proposal"],
    ["gateline.review"],
    ["gateline.doctor"],
    ["gateline", "gateline.cli"],
    ["gateline.__main__"],
]
"""From below; a module may import from its own package and from what stands in a line above it in this list."""

FORBIDDEN = {
    "gateline.statistics": {"gateline"},
    "gateline.errors": {"gateline"},
    "gateline.samples": {"gateline.pairing", "gateline.policy", "gateline.readers"},
    "gateline.readers": {"gateline.policy", "gateline.pairing", "gateline.metric"},
    "gateline.pairing": {"gateline.verdict", "gateline.findings", "gateline.rules", "gateline.policy"},
    "gateline.reports": {
        "gateline.policy", "gateline.pairing", "gateline.rules", "gateline.comparison", "gateline.statistics",
        "gateline.readers", "gateline.gate", "gateline.hosts", "gateline.samples", "gateline.waivers",
    },
    "gateline.hosts": {
        "gateline.policy", "gateline.pairing", "gateline.rules", "gateline.comparison", "gateline.statistics",
        "gateline.readers", "gateline.gate", "gateline.samples", "gateline.waivers",
    },
}  # fmt: skip
"""Beyond the order: what a package must know nothing of. A whole package stands for all of it but itself."""

MOST_LINES = 340
LARGE = {
    "gateline.statistics.gamma_sums": 380,  # one distribution, told in one piece
    "gateline.cli.arguments": 400,  # every option of every command
    **{name: 900 for name in MODULES if name.startswith("gateline.texts.")},  # a language, one mapping
}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def package_of(module: str) -> str:
    """Return the layer that a module belongs to: `gateline.cli.output` to `gateline.cli`."""
    return ".".join(module.split(".")[:2])


def imports(module: str) -> set[str]:
    """Return what a module imports of gateline, also inside functions, but not what only type checkers read."""
    found: set[str] = set()
    skipped: set[int] = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            skipped |= {id(inner) for child in node.body for inner in ast.walk(child)}
    for node in ast.walk(tree(module)):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in names}
        elif isinstance(node, ast.ImportFrom):
            raise AssertionError(f"{module} imports relatively, which this test does not follow")
    return {name for name in found if name.split(".")[0] == "gateline"}


def layer_of(package: str) -> int:
    return next(number for number, layer in enumerate(LAYERS) if package in layer)


def test_every_module_has_its_place() -> None:
    placed = {name for layer in LAYERS for name in layer}
    assert {package_of(module) for module in MODULES} <= placed


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_layers_below(module: str) -> None:
    own = package_of(module)
    if module == "gateline":
        return  # the public names, each loaded on first use
    wrong = [
        name
        for name in imports(module)
        if package_of(name) != own and name != "gateline" and layer_of(package_of(name)) >= layer_of(own)
    ]
    assert wrong == []


@pytest.mark.parametrize("package", FORBIDDEN)
def test_a_package_knows_nothing_of_what_is_none_of_its_business(package: str) -> None:
    for module in MODULES:
        if package_of(module) != package:
            continue
        for name in imports(module):
            known = {package_of(name), name} if name != "gateline" else {name}
            if "gateline" in FORBIDDEN[package]:
                assert package_of(name) == package, f"{module} imports {name}"
            assert not known & FORBIDDEN[package], f"{module} imports {name}"


def test_a_package_does_not_import_itself_in_a_circle() -> None:
    """Within a package, too, data flows one way."""
    for module in MODULES:
        seen, todo = set(), [name for name in imports(module) if package_of(name) == package_of(module)]
        while todo:
            name = todo.pop()
            assert name != module, f"{module} imports itself through {sorted(seen)}"
            if name not in seen and name in MODULES and not MODULES[name].name.startswith("__"):
                seen.add(name)
                todo += [one for one in imports(name) if package_of(one) == package_of(module)]


OUTSIDE_THE_COMMAND_LINE = [
    name for name in MODULES if package_of(name) not in ("gateline.cli", "gateline.__main__")
]


@pytest.mark.parametrize("module", OUTSIDE_THE_COMMAND_LINE)
def test_nothing_but_the_command_line_prints_exits_or_reads_the_environment(module: str) -> None:
    for node in ast.walk(tree(module)):
        text = ast.unparse(node) if isinstance(node, ast.Call | ast.Attribute) else ""
        assert not text.startswith(
            ("print(", "exit(", "quit(", "sys.exit", "os._exit", "sys.stdout", "sys.stderr")
        ), f"{module}:{getattr(node, 'lineno', 0)} {text}"
        if package_of(module) != "gateline.hosts":
            assert text not in ("os.environ", "os.getenv"), f"{module}:{getattr(node, 'lineno', 0)} {text}"


NO_CLOCK = [
    name
    for name in OUTSIDE_THE_COMMAND_LINE
    if package_of(name) not in ("gateline.hosts", "gateline.baselines")
]


@pytest.mark.parametrize("module", NO_CLOCK)
def test_a_verdict_knows_no_clock_and_no_global_randomness(module: str) -> None:
    clocks = (
        ".now(",
        ".today(",
        ".utcnow(",
        "time.time(",
        "np.random.seed(",
        "np.random.rand(",
        "default_rng()",
        "random.random(",
    )
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call):
            text = ast.unparse(node)
            assert not any(clock in text for clock in clocks), f"{module}:{node.lineno} {text}"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_small(module: str) -> None:
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= LARGE.get(module, MOST_LINES)


@pytest.mark.parametrize("module", MODULES)
def test_every_module_and_public_part_says_what_it_is_for(module: str) -> None:
    assert ast.get_docstring(tree(module)), module
    bare = [
        node.name
        for holder in [tree(module), *(one for one in tree(module).body if isinstance(one, ast.ClassDef))]
        for node in holder.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not (isinstance(holder, ast.ClassDef) and holder.name.startswith("_"))
        and not ast.get_docstring(node)
    ]
    assert bare == []


HEAVY = ("duckdb", "scipy.stats", "scipy.optimize", "pandas", "pyarrow", "orjson", "jinja2", "yaml")


def loaded_by(code: str) -> set[str]:
    import subprocess
    import sys

    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    return set(
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        ).stdout.split()
    )


def test_the_start_is_not_burdened_with_what_only_some_need() -> None:
    assert not {"scipy.stats", "scipy.optimize", "pandas", "pyarrow"} & loaded_by("import gateline.gate")
    assert not {"numpy", "pydantic", *HEAVY} & loaded_by(
        "from gateline.cli.arguments import make_parser; make_parser()"
    )
    assert not {"numpy", "pydantic", *HEAVY} & loaded_by("import gateline; gateline.__version__")


def test_the_public_names_load_on_first_use() -> None:
    import gateline
    from gateline.gate import check
    from gateline.policy import load_policy
    from gateline.verdict import Verdict

    assert sorted(gateline.__all__) == ["Verdict", "__version__", "check", "load_policy"]
    assert (gateline.check, gateline.load_policy, gateline.Verdict) == (check, load_policy, Verdict)
    with pytest.raises(AttributeError, match="module 'gateline' has no attribute 'chekc'"):
        gateline.chekc  # noqa: B018
