"""The text of a GitHub workflow that runs a policy on every pull request."""

from __future__ import annotations

import gateline
from gateline.proposal.yaml_words import quote

# Actions are pinned by commit, as a tag can be moved; the version stands behind it for people and update bots.
CHECKOUT = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683  # v4.2.2"
SETUP_PYTHON = "actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065  # v5.6.0"
UPLOAD_ARTIFACT = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02  # v4.6.2"


def workflow_text(
    policy: str, *, baseline: str = "results/baseline.jsonl", candidate: str = "results/candidate.jsonl"
) -> str:
    """Return a workflow that evaluates and then gates; the step that evaluates is the user's to fill in."""
    return f"""\
# Holds every pull request against {quote(policy)}.
# Fill in the step "Evaluate". The baseline is a result file of the base branch: one kept in the repository, or an
# artifact or release file that this step fetches.
name: gateline

on:
  pull_request:

permissions: {{}}

jobs:
  gate:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: read
    env:
      POLICY: {quote(policy)}
      BASELINE: {quote(baseline)}
      CANDIDATE: {quote(candidate)}
    steps:
      - uses: {CHECKOUT}
        with:
          persist-credentials: false
      - uses: {SETUP_PYTHON}
        with:
          python-version: "3.12"
      - name: Install gateline
        run: python -m pip install "gateline=={gateline.__version__}"
      - name: Evaluate
        run: |
          echo "Put the command here that evaluates this change and writes $CANDIDATE."
          test -f "$CANDIDATE"
      - name: Gate
        run: gateline check --policy "$POLICY" --baseline "$BASELINE" --candidate "$CANDIDATE" --output-dir gate
      - name: Show the report
        if: always()
        run: |
          if [ -f gate/comment.md ]; then cat gate/comment.md >> "$GITHUB_STEP_SUMMARY"; fi
      - name: Keep the verdict
        if: always()
        uses: {UPLOAD_ARTIFACT}
        with:
          name: gateline-verdict
          path: gate
          if-no-files-found: ignore
"""
