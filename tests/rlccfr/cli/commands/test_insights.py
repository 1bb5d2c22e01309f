from __future__ import annotations

import math

import pytest

from rlccfr.cli.commands.insights import _said


@pytest.mark.parametrize("plain", ["measured", "failed", "not measured"])
def test_times_that_are_none_are_told_apart(plain):
    """A time that was not reached was measured; one that is missing says why."""
    assert _said(math.inf, plain) == "not reached"
    assert _said(math.nan, plain) == plain
    assert _said(0.5, plain) == 0.5
    assert _said("cfr", plain) == "cfr"
