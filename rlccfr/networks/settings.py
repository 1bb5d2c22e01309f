"""How components learn a function of an infoset's features in place of a table. Data, like the components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rlccfr.errors import ComponentError

Kind = Literal["mlp", "table"]
Average = Literal["network", "value_networks", "table"]


@dataclass(frozen=True, kw_only=True)
class Approximator:
    """A function that is fitted to targets by least squares.

    Args:
        kind: ``"mlp"``, a network of ReLU layers trained by Adam; or ``"table"``, which fits every target exactly,
            to see what the network's fit costs.
        hidden, layers: width and number of hidden layers.
        learning_rate, train_steps, batch_size: of a fit. Batches are drawn by weight; where as many rows as a batch
            has are all there is, each step takes all of them.
        from_scratch: start each fit from new weights, not from those of the fit before.
        device: ``"cpu"``, ``"cuda"``, or ``"auto"``: CUDA where there is any.

    Raises:
        ComponentError: a value that makes no sense.
    """

    kind: Kind = "mlp"
    hidden: int = 64
    layers: int = 2
    learning_rate: float = 1e-3
    train_steps: int = 10
    batch_size: int = 128
    from_scratch: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        _one_of("model", self.kind, get_args(Kind))
        _one_of("device", self.device, ("cpu", "cuda", "auto"))
        for name in ("hidden", "train_steps", "batch_size"):
            _at_least_one(name, getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class Networks:
    """How an update rule learns advantages: what is fitted to what, and from which memory.

    The value model V is a mean advantage weighted with the reach of chance and the opponent (the mass), so that
    regret = N V, with N the mass of all data: with an exact fit each rule is its tabular one.

    Args:
        value: the model of advantages.
        policy: the model of the average policy.
        relabel: data older than the last fit have the last fit's values as targets, discounted and floored as the
            rule says; without, they keep their own.
        bootstrapped: instead of all that: V is the rule's regret, old V discounted and floored plus the newest
            advantage, fitted on the newest data only.
        action_weight: from mean advantages in units of the payoff range, (m,), to factors of regrets and policies.
        mean_arrays: names of the rule's own tables (sums of regrets, and of their masses) from which a run that was
            tabular before takes its mean advantages.
        average: ``"network"``, the policy model; ``"value_networks"``, every value model is kept and weighed by its
            exact reach; ``"table"``, the sampled average as a tabular rule has it.
        traversals: walks of each player an iteration.
        memory: rows kept for each model, by reservoir sampling; a row is one infoset in the data of one fit.
        train_every: iterations between fits, of which one follows the first iteration too; the policy stays until the
            next. Regrets of E iterations are then one step's, E times as large but E times as few, which costs a factor
            of at most sqrt(E) in CFR's bound.

    Raises:
        ComponentError: a value that makes no sense.
    """

    value: Approximator
    policy: Approximator
    relabel: bool = False
    bootstrapped: bool = False
    action_weight: Callable[[np.ndarray], np.ndarray] | None = None
    mean_arrays: tuple[str, ...] = ()
    average: Average = "network"
    traversals: int = 1
    memory: int = 1_000_000
    train_every: int = 1

    def __post_init__(self) -> None:
        _one_of("average", self.average, get_args(Average))
        for name in ("traversals", "memory", "train_every"):
            _at_least_one(name, getattr(self, name))


def _one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ComponentError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def _at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise ComponentError(f"{name} must be at least 1, not {value!r}")
