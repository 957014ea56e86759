"""How two texts of one fact must agree, such as a tool's version: said once, for one run's files and for two runs.

It knows no run; which facts must agree is for the readers to say and for pairing to hold.
"""

from __future__ import annotations

from gateline.samples import Agreement


def texts_agree(one: str, other: str, agreement: Agreement) -> bool:
    """Return whether two texts agree; several values of one fact are a text with `, ` between them."""
    if agreement == "one in common":
        return not set(one.split(", ")).isdisjoint(other.split(", "))
    if agreement == "major version":
        one, other = one.partition(".")[0], other.partition(".")[0]
    return one == other
