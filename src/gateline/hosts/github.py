"""GitHub Actions: step summary, step outputs and annotations on the policy's lines."""

from __future__ import annotations

from pathlib import Path

from gateline.reports import annotations, markdown
from gateline.verdict import Verdict

NAME = "github"


def here(environment: dict[str, str]) -> bool:
    """Return whether a GitHub runner started this job."""
    return environment.get("GITHUB_ACTIONS") == "true" or "GITHUB_STEP_SUMMARY" in environment


def commands(verdict: Verdict) -> str:
    """Return the annotations, as workflow commands that the runner reads on standard output."""
    return annotations.render(verdict)


def publish(verdict: Verdict, folder: Path, environment: dict[str, str]) -> list[str]:
    """Append the step summary and the step outputs to the runner's files; return what could not be written."""
    troubles = []
    texts = {
        "GITHUB_STEP_SUMMARY": markdown.render_summary(verdict),
        "GITHUB_OUTPUT": outputs(verdict, folder),
    }
    for variable, text in texts.items():
        path = environment.get(variable)
        if not path:
            continue
        try:
            with Path(path).open("a", encoding="utf-8", newline="\n") as stream:
                stream.write(text if text.endswith("\n") else text + "\n")
        except OSError as error:
            troubles.append(f"{variable} can't be written: {error.strerror}")
    return troubles


def outputs(verdict: Verdict, folder: Path) -> str:
    """Return the step outputs, a line each: single words, numbers and paths, no text from a file."""
    values = {
        "verdict": verdict.verdict,
        "failed": str(verdict.counts["fail"]),
        "inconclusive": str(verdict.counts["inconclusive"]),
        "verdict-file": (folder / "verdict.json").as_posix(),
        "comment-file": (folder / "comment.md").as_posix(),
    }
    return "".join(f"{name}={' '.join(value.splitlines())}\n" for name, value in values.items())
