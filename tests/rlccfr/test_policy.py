"""Values of policies, and what is no policy."""

from __future__ import annotations

from rlccfr.policy import Values


def test_rounding_takes_no_nash_conv_below_zero():
    assert Values.of(0.5, 0.5 - 1e-16, -0.5).nash_conv == 0.0
    assert Values.of(0.5, 0.25, -0.5).nash_conv == -0.25
