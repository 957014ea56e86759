"""The text of a GitHub workflow that runs a policy on every pull request, as docs/github.md has it."""

from __future__ import annotations

import gateline
from gateline.proposal.yaml_words import quote

# Actions are pinned by commit, as a tag can be moved; the version stands behind it for people and update bots.
CHECKOUT = "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683  # v4.2.2"
UPLOAD_ARTIFACT = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02  # v4.6.2"


def workflow_text(
    policy: str, *, baseline: str = "results/baseline.jsonl", candidate: str = "results/candidate.jsonl"
) -> str:
    """Return a workflow that evaluates and then gates; what evaluates and where gateline lives are the user's to say.

    It installs nothing from a registry: a package of this name there need not be this program.
    """
    return f"""\
# Holds every pull request against {quote(policy)}.
# To fill in: OWNER, where gateline's repository lives (and best its commit in place of the tag), and the step
# "Evaluate". The baseline is the base branch's, which a pull request can't change: keep one there, under
# {quote(baseline)}.
name: gateline

on: [pull_request, merge_group]

permissions: {{}}

jobs:
  gate:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: read
      pull-requests: write  # for the comment only
    steps:
      - uses: {CHECKOUT}
        with:
          persist-credentials: false
      - uses: {CHECKOUT}
        with:
          ref: ${{{{ github.event.merge_group.base_sha || github.base_ref }}}}
          path: base
          persist-credentials: false
      - name: Evaluate
        env:
          CANDIDATE: {quote(candidate)}
        run: |
          echo "Put the command here that evaluates this change and writes $CANDIDATE."
          test -f "$CANDIDATE"
      - name: Gate
        id: gate
        uses: OWNER/gateline@v{gateline.__version__}
        with:
          policy: {quote(policy)}
          baseline: {quote(f"base/{baseline}")}
          candidate: {quote(candidate)}
      - name: Keep the verdict
        if: always() && steps.gate.outputs.verdict-file
        uses: {UPLOAD_ARTIFACT}
        with:
          name: gateline
          path: gateline-out
"""
