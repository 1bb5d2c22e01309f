from __future__ import annotations

import math

import pytest

from rlccfr.cli.commands.insights import _in_words


@pytest.mark.parametrize("plain", ["measured", "failed", "not measured"])
def test_times_that_are_none_are_told_apart(plain):
    """A time that was not reached was measured; one that is missing says why."""
    assert _in_words(math.inf, plain) == "not reached"
    assert _in_words(math.nan, plain) == plain
    assert _in_words(0.5, plain) == 0.5
    assert _in_words("cfr", plain) == "cfr"
