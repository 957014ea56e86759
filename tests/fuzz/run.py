"""Fuzzing by coverage, with atheris: policies, result files of every reader, and verdict.json.

    python tests/fuzz/run.py policy|readers|verdict [--seconds N] [--runs N] [--corpus FOLDER] [--only TOOL] [--few]

Ends with libFuzzer's exit code: 0 where nothing was found; else the input stands in `crash-…`, and running the same
command with that file as the last argument shows it again. New inputs that reach new code are kept in the corpus.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
LARGEST = 60_000
"""Bytes of an input; larger fixtures are left to the tests by damage."""

import atheris  # type: ignore[import-not-found]  # noqa: E402

with atheris.instrument_imports(include=["gateline"]):
    import damage
    import targets

    from gateline import reports
    from gateline.errors import GatelineError
    from gateline.inspection import inspect_run, render_text, to_json
    from gateline.policy import load_policy
    from gateline.readers import read_run, readers

    readers()
    reports.names()


class Result:
    """A result file in its place, written anew for each input; the first two bytes of an input say which."""

    def __init__(self, folder: Path, only: str | None, *, few: bool):
        groups = [only] if only else list(targets.GROUPS)
        found = [one for group in groups for one in targets.fixtures(group)]
        self.fixtures = [one for one in found if _size_of(one) <= LARGEST]
        if few:
            smallest = {one.group: one for one in sorted(self.fixtures, key=_size_of, reverse=True)}
            self.fixtures = list(smallest.values())
        self.folder = folder
        self.laid: dict[int, Path] = {}

    def seeds(self) -> list[bytes]:
        return [place.to_bytes(2, "big") + one.part.read_bytes() for place, one in enumerate(self.fixtures)]

    def examine(self, data: bytes) -> None:
        place = int.from_bytes(data[:2], "big") % len(self.fixtures)
        fixture = self.fixtures[place]
        if place not in self.laid:
            home = self.folder / str(place)
            home.mkdir()
            if fixture.root != fixture.part:
                shutil.copytree(fixture.root, home / fixture.root.name)
            self.laid[place] = home / fixture.root.name
        root = self.laid[place]
        (root / fixture.part.relative_to(fixture.root)).write_bytes(data[2:])
        try:
            run = read_run(root)
            found = inspect_run(run)
            render_text(found, 80)
            to_json(found)
            for name in run.metrics:
                run.numbers(name)
        except GatelineError as error:
            assert str(error)


def _size_of(fixture: targets.Fixture) -> int:
    return fixture.part.stat().st_size


def examine_policy(data: bytes) -> None:
    """Read a policy as lint does; one that is read is explained too."""
    from gateline.explanation import explain

    Path("policy.yml").write_bytes(data)
    try:
        policy = load_policy("policy.yml")
    except GatelineError as error:
        assert str(error)
        return
    explain(policy)


@cache
def seeds_of(what: str) -> list[bytes]:
    """Return whole files to begin with."""
    if what == "policy":
        return [path.read_bytes() for path in sorted((targets.ROOT / "gates").glob("*.yml"))]
    golden = targets.ROOT / "tests" / "golden"
    return [(golden / name).read_bytes() for name in ("blocked.json", "no-verdict.json")]


def mutate(data: bytes, most: int, seed: int, skipped: int) -> bytes:
    """Damage the file within an input as `damage.py` does, or as libFuzzer does."""
    chance = random.Random(seed)
    if chance.random() < 0.4:
        return bytes(atheris.Mutate(data, len(data))) if data else data
    head, content = data[:skipped], data[skipped:]
    kinds = list(damage.KINDS)
    done = [
        damage.Damage(chance.choice(kinds), *(chance.randrange(damage.FULL + 1) for _ in range(4)))
        for _ in range(chance.randint(1, 3))
    ]
    try:
        return (head + damage.damage_file(content, done))[:most]
    except Exception:  # an archive or a Parquet file that is damaged already
        return (head + damage.damage(content, done))[:most]


def main() -> None:
    """Fuzz as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["policy", "readers", "verdict"])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, default=-1)
    parser.add_argument("--corpus")
    parser.add_argument("--only", choices=targets.GROUPS)
    parser.add_argument("--few", action="store_true", help="one file of each tool")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("input", nargs="*")
    options = parser.parse_args()
    corpus = Path(options.corpus or tempfile.mkdtemp(prefix="gateline-corpus-")).resolve()
    inputs = [str(Path(one).resolve()) for one in options.input]
    artifacts = f"{Path.cwd()}{os.sep}"
    with targets.own_folder() as folder:
        examine: Callable[[bytes], object]
        skipped = 0
        if options.what == "readers":
            result = Result(folder, options.only, few=options.few)
            examine, seeds, skipped = result.examine, result.seeds(), 2
        else:
            examine = examine_policy if options.what == "policy" else targets.render_verdict
            seeds = seeds_of(options.what)
        corpus.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds):
            (corpus / f"seed-{number:03d}").write_bytes(seed)
        settings = [
            f"-max_total_time={options.seconds}", f"-runs={options.runs}", f"-max_len={LARGEST + 1000}",
            f"-seed={options.seed}", "-rss_limit_mb=3000", "-timeout=120", f"-artifact_prefix={artifacts}",
            "-print_final_stats=1", "-verbosity=1",
        ]  # fmt: skip
        atheris.Setup(
            [sys.argv[0], *settings, *(inputs or [str(corpus)])],
            examine,
            custom_mutator=lambda data, most, seed: mutate(data, most, seed, skipped),
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
