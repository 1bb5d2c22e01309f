"""The abstractions of the paper's catalog: what a learner plays against, and what replaces the regret table."""

from __future__ import annotations

from rlccfr.components import Abstraction, Guarantee
from rlccfr.networks.settings import Approximator
from rlccfr.registry import abstraction


@abstraction(
    "cfr_br",
    source="Johanson et al., Finding optimal abstract strategies in extensive-form games, AAAI 2012",
    guarantee=Guarantee(
        exact="Johanson et al. 2012", sampled_open="sampled regrets against best responses: no published theorem"
    ),
    aliases=("CFR-BR",),
)
def cfr_br() -> Abstraction:
    """CFR-BR: each player learns against an exact best response to its own current policy."""
    return Abstraction(best_response=True)


@abstraction(
    "rcfr",
    source="Waugh et al., Solving games with functional regret estimation, AAAI 2015; Morrill, Using regret estimation "
    "to solve games compactly, 2016",
    bounds={
        **dict.fromkeys(("hidden", "traversals", "train_steps", "batch_size"), (1.0, 1e9)),
        "learning_rate": (1e-9, 1e300),
    },
    guarantee=Guarantee(
        exact="Waugh et al. 2015 and Morrill 2016", sampled_open="fits of sampled regrets: no published theorem"
    ),
    aliases=("RCFR", "regression CFR"),
)
def rcfr(
    model: str = "mlp",
    hidden: int = 64,
    layers: int = 2,
    traversals: int = 100,
    train_steps: int = 10,
    batch_size: int = 128,
    learning_rate: float = 3e-3,
    bootstrap: bool = False,
    device: str = "cpu",
) -> Abstraction:
    """Regression CFR: the policy follows from a function f(infoset, action) that is fitted to the regrets.

    f is one model per player, which sees the information state tensor and the action. It is trained on R / max |R|
    after every update, where R are the rule's regrets; with bootstrap, the fitted values then replace R. A fit costs as
    much as thousands of walks, so an iteration makes many walks before the next fit. The average weights each policy by
    its exact reach. Under a deep rule, the rule's networks take the form of f: they give one number per infoset and
    action, instead of one vector per infoset. They keep the rule's settings, and the settings of rcfr are not used.
    Differs from the first source in using networks instead of regression trees. Differs from both sources in that f may
    be combined with other rules and samplers.
    """
    regressor = Approximator(
        kind=model,  # type: ignore[arg-type]  # checked there
        hidden=hidden,
        layers=layers,
        train_steps=train_steps,
        batch_size=batch_size,
        learning_rate=learning_rate,
        device=device,
    )
    return Abstraction(regressor=regressor, bootstrap=bootstrap, traversals=traversals)


@abstraction(
    "none",
    source="Zinkevich et al., NIPS 2007 (the unabstracted game)",
    guarantee=Guarantee(exact="it leaves the game as it is", sampled="it leaves the game as it is"),
)
def none() -> Abstraction:
    """The game as it is, against the opponent's current policy."""
    return Abstraction()
