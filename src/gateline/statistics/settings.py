"""The `statistics` part of a policy: how sure an interval must be, and how it is made.

It holds numbers and refuses bad ones. It must not read YAML nor know what a percent sign means.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Settings(BaseModel):
    """How sure the intervals must be, and how they are made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    confidence: float = 0.95
    """Two-sided confidence of an interval, above 50 % and below 100 %; each side decides at half the rest."""

    resamples: int = Field(default=10_000, ge=1_000, le=1_000_000, strict=True)
    """Draws where an interval has to be drawn; they rise by themselves where a tail needs more."""

    seed: int = Field(default=1, ge=0, lt=2**64, strict=True)
    """The one source of randomness."""

    method: Literal["bayesian", "percentile", "bca"] = "bayesian"
    """`bayesian` holds in small samples too; `percentile` and `bca` are the classical bootstrap intervals."""

    @field_validator("confidence")
    @classmethod
    def _lies_between_half_and_one(cls, confidence: float) -> float:
        if math.isnan(confidence) or not 0.5 < confidence < 1.0:
            raise ValueError(f"must be above 50 % and below 100 %, not {confidence * 100:.6g} %")
        return confidence
