"""Sizes of networks and of their training, as hyperparameters and by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from rlccfr.errors import ComponentError
from rlccfr.networks.settings import Approximator, Average, FullMemory, Kind, Networks


@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """Options of networks and of their training; hyperparameters that every deep rule has.

    Attributes:
        model: ``"mlp"``; ``"cards"``, for card games: a branch for cards and one for bets, whose numbers of layers are
            fixed; or ``"table"``, an exact table in place of each network.
        average: form of the average policy: ``"network"``, a policy network; ``"value_networks"``, the value networks
            of all fits, each weighted by the player's reach under its policy; or ``"table"``, the sampled average, as
            in a tabular rule.
        device: ``"cpu"``, ``"cuda"`` or ``"auto"``.
        fallback: policy where no advantage is positive: ``"argmax"``, the action with the largest advantage; or
            ``"uniform"``.
        full_memory: which rows are kept once the memory is full: ``"reservoir"``, a random sample of all rows; or
            ``"window"``, the newest rows.
        kept_networks: largest number of each player's value networks that ``average="value_networks"`` keeps, by
            reservoir sampling; 0 keeps all.
        retrain: probability that a fit of advantages takes place when it is due after iteration t: ``"always"``, 1;
            ``"linear"``, 1 - t/retrain_horizon; or ``"exponential"``, 2^(-t/retrain_horizon). (Meyer 2021.)
        retrain_horizon: number of iterations in the two formulas of ``retrain``.
        skipped_steps: number of training steps that replace a fit that does not take place. These steps use only the
            data since the last fit; with ``model="table"``, the means of these data replace the table's entries at
            their infosets.
    """

    model: Kind = "mlp"
    average: Average = "network"
    device: str = "cpu"
    fallback: Literal["argmax", "uniform"] = "argmax"
    full_memory: FullMemory = "reservoir"
    kept_networks: int = 0
    retrain: Literal["always", "linear", "exponential"] = "always"
    retrain_horizon: int = 100
    skipped_steps: int = 0

    def probability(self, iteration: int) -> float:
        """Return the probability that a fit that is due after the given iteration takes place."""
        if self.retrain == "linear":
            return max(0.0, 1.0 - iteration / self.retrain_horizon)
        if self.retrain == "exponential":
            return float(2.0 ** (-iteration / self.retrain_horizon))
        return 1.0


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """Sizes of networks and of their training; the hyperparameters that every deep rule has.

    Attributes:
        hidden, layers: width and number of hidden layers.
        traversals: number of walks per player and iteration, if the sampler walks.
        train_steps, policy_steps: number of training steps per fit of advantages, and per fit of the average policy.
        batch_size: number of rows of data per training step; all rows if there are fewer.
        memory: largest number of rows kept for each network.
        learning_rate: learning rate of Adam at the beginning of each fit.
        final_rate: learning rate at the end of each fit, as a share of ``learning_rate``; it falls linearly in between.
        retrain_from_scratch: whether each fit of advantages begins with new weights.
        train_every: number of iterations between fits; one more fit follows the first iteration.
    """

    hidden: int = 64
    layers: int = 2
    traversals: int = 400
    train_steps: int = 40
    policy_steps: int = 20
    batch_size: int = 512
    memory: int = 1_000_000
    learning_rate: float = 1e-3
    final_rate: float = 1.0
    retrain_from_scratch: bool = False
    train_every: int = 5

    def networks(self, options: NetworkOptions | None = None) -> Networks:
        """Return :class:`Networks` with these settings and the given options, by default ``NetworkOptions()``.

        Raises:
            ComponentError: an invalid value.
        """
        options = options or NetworkOptions()
        value = Approximator(
            kind=options.model,
            hidden=self.hidden,
            layers=self.layers,
            learning_rate=self.learning_rate,
            final_rate=self.final_rate,
            train_steps=self.train_steps,
            batch_size=self.batch_size,
            from_scratch=self.retrain_from_scratch,
            device=options.device,
        )
        return Networks(
            value=value,
            # Only fits of advantages may begin with new weights; the average's network continues from its last ones.
            policy=replace(value, train_steps=self.policy_steps, from_scratch=False),
            average=options.average,
            traversals=self.traversals,
            memory=self.memory,
            full_memory=options.full_memory,
            kept_networks=options.kept_networks,
            train_every=self.train_every,
            retrain=None if options.retrain == "always" else options.probability,
            skipped_steps=options.skipped_steps,
        )


FAST = NetworkSettings()
PAPER = replace(
    FAST,
    layers=3,
    traversals=1500,
    train_steps=750,
    policy_steps=50,
    batch_size=2048,
    retrain_from_scratch=True,
    train_every=1,
)
NETWORK_SETTINGS = {
    "sweep": replace(FAST, traversals=100, batch_size=128, learning_rate=3e-3, train_every=10),
    "fast": FAST,
    "paper": PAPER,
    "steinberger": replace(PAPER, retrain_from_scratch=False),
    "holdem": replace(
        FAST,
        layers=3,
        traversals=30_000,
        train_steps=600,
        policy_steps=200,
        batch_size=4096,
        memory=4_000_000,
        train_every=1,
        final_rate=0.0,
    ),
    "states": replace(FAST, layers=3, traversals=200, train_steps=100, policy_steps=100, train_every=1),
}
"""Network settings by name.

``sweep``, ``fast`` and ``paper`` are for little, normal and plenty of time. ``paper`` and ``steinberger`` have
Steinberger's (2019) sizes for Leduc poker, and differ in the start of value networks. With ``paper``, each fit begins
with new weights, as in Brown et al. With ``steinberger``, each fit begins with the weights of the previous fit, as in
Steinberger. Both differ from Steinberger in the network of the average policy: there, it is trained from scratch at
each measured iteration, for 5,000 steps; here, it continues from its last weights, for ``policy_steps`` steps at each
fit. Steinberger's data have linear weights, as in deep_lcfr.

``states`` is for games represented by OpenSpiel's states, in which walks take most of the time. ``holdem`` is for games
with millions of infosets, few of which are visited twice; use it with ``model="cards"``. Its learning rate falls to 0
in each fit: on flop hold'em, runs of 20 iterations and more then end at a lower exploitability than one with a constant
rate (``rlccfr reproduce deep-holdem``).
"""


def network_settings(preset: str) -> NetworkSettings:
    """Return network settings by name.

    Raises:
        ComponentError: an unknown name.
    """
    if preset not in NETWORK_SETTINGS:
        raise ComponentError(f"preset must be one of {', '.join(NETWORK_SETTINGS)}, not {preset!r}")
    return NETWORK_SETTINGS[preset]
