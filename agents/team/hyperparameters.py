"""How the selectors learn and explore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rlccfr.errors import RLCCFRError


@dataclass(frozen=True)
class Hyperparameters:
    """Of the three DQNs and of the team's exploration.

    Few episodes are measured, so each is learned from hard: small networks, many gradient steps, no discount.

    Attributes:
        hidden: widths of the networks' hidden layers.
        learning_rate: Adam's at the start of a training; it falls linearly to a twentieth.
        gamma: discount between the decision points of an episode.
        batch_size: transitions a gradient step.
        gradient_steps: of each agent in a round of learning, one of which follows each measured episode.
        settling: rounds of learning after the last.
        buffer_size: choices each agent learns from in a round; of more, so many drawn at random.
        epsilon: share of measured episodes that go to a cell drawn at random; what else is tried is drawn around the
            best, so none need be.

    Raises:
        RLCCFRError: a value out of range.
    """

    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 2e-3
    gamma: float = 1.0
    batch_size: int = 64
    gradient_steps: int = 20
    settling: int = 100
    buffer_size: int = 2**15
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, Sequence) or isinstance(self.hidden, str):
            raise RLCCFRError(f"hidden must be the widths of layers, such as (64, 64), not {self.hidden!r}")
        object.__setattr__(self, "hidden", tuple(self.hidden))
        whole = (*self.hidden, self.batch_size, self.gradient_steps, self.buffer_size)
        if not all(isinstance(value, int) and value >= 1 for value in whole):
            raise RLCCFRError("hidden, batch_size, gradient_steps and buffer_size must be at least 1")
        if not (isinstance(self.settling, int) and self.settling >= 0):
            raise RLCCFRError("settling must be a whole number of at least 0")
        if not self.learning_rate > 0:
            raise RLCCFRError(f"learning_rate must be positive, not {self.learning_rate!r}")
        if not all(0 <= value <= 1 for value in (self.gamma, self.epsilon)):
            raise RLCCFRError("gamma and epsilon must lie in [0, 1]")
