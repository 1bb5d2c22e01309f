"""Sizes of networks and of their training, as hyperparameters and by name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rlccfr.errors import ComponentError
from rlccfr.networks.settings import Approximator, Networks


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """Sizes of networks and of their training; the hyperparameters that every deep rule has.

    Attributes:
        hidden, layers: width and number of hidden layers.
        traversals: number of walks per player and iteration, if the sampler walks.
        train_steps, policy_steps: number of steps per fit of advantages, and per fit of the average policy.
        batch_size: number of infosets per step; all of them if there are fewer.
        memory: number of rows kept for each network by reservoir sampling.
        learning_rate: learning rate of Adam.
        retrain_from_scratch: whether each fit of advantages begins with new weights.
        train_every: number of iterations between fits, after the fit that follows the first iteration.
    """

    hidden: int = 64
    layers: int = 2
    traversals: int = 400
    train_steps: int = 40
    policy_steps: int = 20
    batch_size: int = 512
    memory: int = 1_000_000
    learning_rate: float = 1e-3
    retrain_from_scratch: bool = False
    train_every: int = 5

    def networks(self, model: str = "mlp", average: str = "network", device: str = "cpu") -> Networks:
        """Return :class:`Networks` with these settings.

        Args:
            model: ``"mlp"``, or ``"table"``: an exact table in place of each network.
            average: ``"network"``, ``"value_networks"`` (all are kept, weighted with their reach) or ``"table"``.
            device: ``"cpu"``, ``"cuda"`` or ``"auto"``.

        Raises:
            ComponentError: an invalid value.
        """
        value = Approximator(
            kind=model,  # type: ignore[arg-type]  # checked there
            hidden=self.hidden,
            layers=self.layers,
            learning_rate=self.learning_rate,
            train_steps=self.train_steps,
            batch_size=self.batch_size,
            from_scratch=self.retrain_from_scratch,
            device=device,
        )
        return Networks(
            value=value,
            policy=replace(value, train_steps=self.policy_steps, from_scratch=False),
            average=average,  # type: ignore[arg-type]  # checked there
            traversals=self.traversals,
            memory=self.memory,
            train_every=self.train_every,
        )


FAST = NetworkSettings()
NETWORK_SETTINGS = {
    "sweep": replace(FAST, traversals=100, batch_size=128, learning_rate=3e-3, train_every=10),
    "fast": FAST,
    "paper": replace(
        FAST, layers=3, traversals=1500, train_steps=750, policy_steps=50, batch_size=2048, retrain_from_scratch=True,
        train_every=1,
    ),
}  # fmt: skip
"""Network settings by name, for little, normal and plenty of time.

``paper`` has Steinberger's settings for Leduc poker, except for the network of the average policy. His is trained from
scratch at each measured iteration, for 5,000 steps. Here it continues from its last weights, for ``policy_steps`` after
each fit. His data have linear weights, as in deep_lcfr.
"""


def network_settings(preset: str) -> NetworkSettings:
    """Return network settings by name.

    Raises:
        ComponentError: an unknown name.
    """
    if preset not in NETWORK_SETTINGS:
        raise ComponentError(f"preset must be one of {', '.join(NETWORK_SETTINGS)}, not {preset!r}")
    return NETWORK_SETTINGS[preset]
