"""`gateline doctor`: what a policy does to a user's own data, tried on many copies.

How often does it block though nothing changed, and how often does it see a drop? Rules, pairing and intervals are
those of the gate; nothing is judged anew here.
"""

from gateline.doctor.examination import DROPS, Plan, examine
from gateline.doctor.facts import CheckFacts, Examination, PowerFacts, Rate

__all__ = ["DROPS", "CheckFacts", "Examination", "Plan", "PowerFacts", "Rate", "examine"]
