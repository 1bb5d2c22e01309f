"""The abstractions of the paper's catalog: what stands for the opponent and for the regret table."""

from __future__ import annotations

from rlccfr.components import Abstraction
from rlccfr.registry import abstraction


@abstraction("cfr_br", source="Johanson et al., Finding optimal abstract strategies in extensive-form games, AAAI 2012")
def cfr_br() -> Abstraction:
    """CFR-BR: each player learns against an exact best response to its own current policy."""
    return Abstraction(best_response=True)


@abstraction("none", source="Zinkevich et al., NIPS 2007 (the unabstracted game)")
def none() -> Abstraction:
    """The game as it is, against the opponent's current policy."""
    return Abstraction()
