"""Values of policies, and what is no policy."""

from __future__ import annotations

from support import game

import rlccfr
from rlccfr.policy import Values


def test_a_policy_tells_its_game_and_size():
    assert repr(rlccfr.Policy.uniform(game("kuhn"))) == "Policy('kuhn', infosets=12, sequences=24)"
    public = rlccfr.load_game("holdem(ranks=4,suits=2)")
    size = f"infosets={public.num_infosets:,}, sequences={public.num_sequences:,}"
    assert repr(rlccfr.PublicPolicy.uniform(public)) == f"PublicPolicy('holdem(ranks=4,suits=2)', {size})"


def test_rounding_takes_no_nash_conv_below_zero():
    assert Values.of(0.5, 0.5 - 1e-16, -0.5).nash_conv == 0.0
    assert Values.of(0.5, 0.25, -0.5).nash_conv == -0.25
