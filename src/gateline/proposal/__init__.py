"""A first policy, and the workflow that runs it, proposed from one result file.

A proposal is a text for a person to read and change; what was guessed is said in its comments. Nothing here reads or
writes files.
"""

from gateline.proposal.policy_text import propose_policy
from gateline.proposal.workflow_text import workflow_text

__all__ = ["propose_policy", "workflow_text"]
