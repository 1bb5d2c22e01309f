"""Settings of the models that components may use in place of tables; they are data, like the components."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rlccfr.errors import ComponentError

Kind = Literal["mlp", "cards", "table"]
Average = Literal["network", "value_networks", "table"]
FullMemory = Literal["reservoir", "window"]


@dataclass(frozen=True, kw_only=True)
class Approximator:
    """Settings of a function that is fitted to targets by least squares.

    Args:
        kind: ``"mlp"``, a network of ReLU layers trained by Adam; ``"cards"``, a network with a branch for cards, which
            has a fixed number of layers and always runs on the CPU; or ``"table"``, which fits every target exactly, to
            show what a network's fitting error costs.
        hidden, layers: width and number of hidden layers. ``"cards"`` needs a width of at least 2; without layers, a
            network is linear, which networks for hold'em can't be.
        learning_rate: learning rate of Adam at the beginning of each fit.
        final_rate: learning rate at the end of each fit, as a share of ``learning_rate``; it falls linearly in between.
        train_steps: number of steps per fit.
        batch_size: number of rows per step, drawn in proportion to their weights. If there are no more rows than that,
            each step takes all. Runs without tables (on hold'em's public tree, and on games represented by OpenSpiel's
            states) draw rows uniformly, and the loss weights them.
        from_scratch: whether each fit begins with new weights instead of those of the previous fit.
        device: ``"cpu"``, ``"cuda"``, or ``"auto"``: CUDA if it is available.

    Raises:
        ComponentError: a value is unknown or out of range.
    """

    kind: Kind = "mlp"
    hidden: int = 64
    layers: int = 2
    learning_rate: float = 1e-3
    final_rate: float = 1.0
    train_steps: int = 10
    batch_size: int = 128
    from_scratch: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        _check_one_of("model", self.kind, get_args(Kind))
        _check_one_of("device", self.device, ("cpu", "cuda", "auto"))
        for name in ("hidden", "train_steps", "batch_size"):
            _check_at_least_one(name, getattr(self, name))
        if self.kind == "cards" and self.hidden < 2:  # a row's numbers are divided by their standard deviation
            raise ComponentError(f"hidden must be at least 2 with model='cards', not {self.hidden!r}")
        if not 0.0 <= self.final_rate <= 1.0:
            raise ComponentError(f"final_rate must be from 0 to 1, not {self.final_rate!r}")

    def steps_of_fit(self, times: int) -> int:
        """Return the number of training steps of one fit.

        Args:
            times: factor on the number of steps; ignored if each fit begins with new weights.
        """
        return self.train_steps * (1 if self.from_scratch else times)

    def rate_at(self, step: int, steps: int) -> float:
        """Return the learning rate of a training step, from 0, of a fit that has ``steps`` steps.

        Step number ``steps``, which a fit no longer takes, would have the share :attr:`final_rate` of the rate. If that
        is below 1, a network that continues from its last weights has a warm restart at each fit (Loshchilov and
        Hutter, SGDR, ICLR 2017), with a linear fall in place of their cosine.

        Examples:
            >>> settings = Approximator(learning_rate=0.1, final_rate=0.5)
            >>> [round(settings.rate_at(step, 4), 4) for step in range(4)]
            [0.1, 0.0875, 0.075, 0.0625]
        """
        return self.learning_rate * (1.0 - (1.0 - self.final_rate) * step / steps)


@dataclass(frozen=True, kw_only=True)
class HistoryNetwork:
    """Settings of a network that values histories for a sampler; see :class:`rlccfr.components.Sampler`.

    At each visited history where a player moves, the target is the mean of the children's values under the current
    policies. The value of a terminal child is its payoff; the value of a chance node is the mean of its outcomes'
    values; all other values are the network's own. In games represented by OpenSpiel's states, targets come from
    separate walks instead; see :func:`rlccfr.engine.walked.paths.value_walks`.

    Args:
        model: settings of the model.
        traversals: number of walks per player and iteration; not used if the update rule's networks or the abstraction
            set a number of their own. In games represented by OpenSpiel's states, it is the number of separate walks
            for values.
        train_every: number of iterations between fits; one more fit follows the first iteration in which the sampler is
            used.

    Raises:
        ComponentError: a value is out of range.
    """

    model: Approximator
    traversals: int = 1
    train_every: int = 1

    def __post_init__(self) -> None:
        for name in ("traversals", "train_every"):
            _check_at_least_one(name, getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class Networks:
    """Settings of the networks that learn an update rule's advantages: their targets, data and reservoir.

    The value model V is the mean of all advantages, each weighted by the reach of chance and the opponent (the mass).
    So regret = N V, where N is the mass of all data. With an exact fit after every iteration, a rule with networks
    equals the same rule without them, unless ``bootstrapped``.

    Args:
        value: settings of the model of advantages.
        policy: settings of the model of the average policy.
        relabel: whether data older than the last fit take that fit's values as targets, with the rule's discounts and
            floor. Otherwise they keep their original targets.
        bootstrapped: whether V, not N V, takes the place of the regret. V is then fitted to the newest data only,
            and its target is the old V, discounted and floored, plus the newest advantages: their mean, times the
            number of iterations since the last fit.
        action_weight: function from mean advantages (player's sequences,), in units of the payoff range, to factors on
            regrets and policies.
        mean_arrays: names of the rule's own tables of regret sums and of mass sums. A run that was tabular before takes
            its mean advantages from them.
        average: form of the average policy. ``"network"`` is the policy model. ``"value_networks"`` keeps the value
            models, and weights each one's policy by its exact reach. ``"table"`` is the sampled average, as in a
            tabular rule.
        traversals: number of walks per player and iteration, if the sampler walks.
        memory: largest number of rows in each model's reservoir; a row holds one infoset's data from one fit. In
            runs without tables, it holds one visit.
        full_memory: which rows a full reservoir keeps: a random sample of all (``"reservoir"``), or the newest
            (``"window"``).
        kept_networks: largest number of value models that ``average="value_networks"`` keeps, by reservoir sampling;
            0 keeps all.
        train_every: number E of iterations between fits; one more fit follows the first iteration. The policy stays
            the same until the next fit. An update then takes the regrets of E iterations, so there are 1/E as many
            updates, each E times as large. This costs a factor of at most sqrt(E) in CFR's bound.
        retrain: function from an iteration to the probability that a fit which is due takes place; None if it always
            takes place. The fit after the first iteration always takes place.
        skipped_steps: number of training steps that replace a fit that does not take place. They use only the data
            since the last fit.

    Raises:
        ComponentError: a value is unknown or out of range.
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
    full_memory: FullMemory = "reservoir"
    kept_networks: int = 0
    train_every: int = 1
    retrain: Callable[[int], float] | None = None
    skipped_steps: int = 0

    def __post_init__(self) -> None:
        _check_one_of("average", self.average, get_args(Average))
        _check_one_of("full_memory", self.full_memory, get_args(FullMemory))
        if self.kept_networks and self.average != "value_networks":
            raise ComponentError("kept_networks needs average='value_networks': no other average keeps networks")
        if self.skipped_steps and (self.relabel or self.bootstrapped):
            raise ComponentError("skipped_steps needs a rule whose data keep their original targets, such as deep_cfr")
        for name in ("traversals", "memory", "train_every"):
            _check_at_least_one(name, getattr(self, name))


def _check_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ComponentError(f"{name} must be one of {', '.join(choices)}, not {value!r}")


def _check_at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise ComponentError(f"{name} must be at least 1, not {value!r}")
