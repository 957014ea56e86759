"""gateline: a regression gate for RAG systems.

The public names load on first use, so that ``gateline --version`` need not wait for numpy.
"""

from __future__ import annotations

# Type checkers take it for true; the module typing would take longer than all else here.
TYPE_CHECKING = False

__version__ = "0.1.0"
__all__ = ["Verdict", "__version__", "check", "load_policy"]

if TYPE_CHECKING:
    from gateline.gate import check
    from gateline.policy import load_policy
    from gateline.verdict import Verdict


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it (PEP 562)."""
    if name == "check":
        from gateline.gate import check

        return check
    if name == "load_policy":
        from gateline.policy import load_policy

        return load_policy
    if name == "Verdict":
        from gateline.verdict import Verdict

        return Verdict
    raise AttributeError(f"module 'gateline' has no attribute {name!r}")
