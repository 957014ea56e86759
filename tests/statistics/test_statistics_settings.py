"""The `statistics` part of a policy refuses what makes no interval."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from gateline.statistics import Settings


def test_the_defaults_are_those_of_the_documents():
    assert Settings().model_dump() == {
        "confidence": 0.95,
        "resamples": 10_000,
        "seed": 1,
        "method": "bayesian",
    }


@pytest.mark.parametrize("confidence", [0.0, 0.5, 1.0, 1.5, 95, -0.9, math.nan, math.inf])
def test_a_confidence_outside_of_half_to_one_is_refused(confidence):
    with pytest.raises(ValidationError, match="must be above 50 % and below 100 %"):
        Settings(confidence=confidence)


@pytest.mark.parametrize(
    "fields",
    [
        {"resamples": 999},
        {"resamples": 1_000_001},
        {"resamples": 10_000.5},
        {"resamples": True},
        {"seed": -1},
        {"seed": 2**64},
        {"method": "bootstrap"},
        {"confidance": 0.9},
    ],
)
def test_other_fields_are_closed_too(fields):
    with pytest.raises(ValidationError):
        Settings(**fields)


def test_settings_do_not_change():
    with pytest.raises(ValidationError):
        Settings().seed = 2
