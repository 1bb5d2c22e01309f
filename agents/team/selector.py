"""One agent of the team. A restored agent answers from its network's weights alone; torch is loaded when it learns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np

from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from stable_baselines3 import DQN

    from rlccfr.agents.team.selector_dqn import ReplayMemory


class Selector:
    """The Q-values of an agent's choices given its observation, from the network of a Stable-Baselines3 DQN.

    Args:
        observation_size: length of an observation.
        actions: number of choices.
        hyperparameters: hyperparameters of the network and of learning.
        seed: seed of the initial weights and of the samples from the memory.
    """

    def __init__(self, observation_size: int, actions: int, hyperparameters: Hyperparameters, seed: int) -> None:
        self.actions, self.hyperparameters, self._seed = actions, hyperparameters, seed
        self._sizes = (observation_size, *hyperparameters.hidden, actions)
        self._layers = range(0, 2 * len(self._sizes) - 2, 2)  # torch numbers the activations between them, too
        self._weights: dict[str, np.ndarray] | None = None  # until there is a model
        self._learning: Mapping[str, np.ndarray] = {}

    @cached_property
    def model(self) -> DQN:
        """The DQN, made at first use, because torch takes seconds to import."""
        from rlccfr.agents.team.selector_dqn import new_dqn, restore_learning, weights_of

        model = new_dqn(self._sizes[0], self.actions, self.hyperparameters, self._seed)
        if self._weights is not None:
            for name, array in weights_of(model).items():
                array[...] = self._weights[name]
            model.q_net_target.load_state_dict(model.q_net.state_dict())
            self._weights = None
        if self._learning:
            restore_learning(model, self._learning)
        return model

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Weights of the network by torch's names, without a copy."""
        if self._weights is not None:
            return self._weights
        from rlccfr.agents.team.selector_dqn import weights_of

        return weights_of(self.model)

    @property
    def buffer(self) -> ReplayMemory:
        """The replay memory, filled anew for each round; the joint DQN learns from it."""
        return cast("ReplayMemory", self.model.replay_buffer)

    @property
    def loss(self) -> float:
        """Mean loss over the gradient steps of the last round of learning; NaN before the first."""
        return float(self.model.logger.name_to_value.get("train/loss", math.nan))

    def q_values(self, observation: np.ndarray) -> np.ndarray:
        """Return the Q-value of each choice, shape (..., actions), for observations of shape (..., size).

        A single observation is evaluated without torch; its Q-values are the same bit for bit with any number of
        threads.
        """
        if observation.ndim > 1:
            from rlccfr.agents.team.selector_dqn import evaluate

            return evaluate(self.model, observation)
        weights, values = self.weights, observation
        for layer in self._layers:
            values = np.maximum(values, 0) if layer > 0 else values
            values = np.einsum("oi,i->o", weights[f"q_net.{layer}.weight"], values) + weights[f"q_net.{layer}.bias"]
        return values.astype(np.float64)

    def learn(self, progress_remaining: float, steps: int) -> None:
        """Take gradient steps on the memory's contents.

        Args:
            progress_remaining: share of the training that is left, from 1 to 0; the learning rate falls with it.
            steps: number of gradient steps.
        """
        self.model._current_progress_remaining = progress_remaining
        self.model.train(steps, self.hyperparameters.batch_size)

    def state(self) -> dict[str, np.ndarray]:
        """Return a copy of the network's weights, by name."""
        return {name: array.copy() for name, array in self.weights.items()}

    def learning(self) -> dict[str, np.ndarray]:
        """Return the training state apart from the weights, by name; empty before training."""
        if "model" not in vars(self):
            return dict(self._learning)
        from rlccfr.agents.team.selector_dqn import learning_of

        return learning_of(self.model)

    def restore(self, state: Mapping[str, np.ndarray], learning: Mapping[str, np.ndarray] | None = None) -> None:
        """Take over the weights that :meth:`state` returned.

        Args:
            state: weights by name.
            learning: training state that :meth:`learning` returned, so that learning goes on as if it had never
                stopped. Without it, the optimiser and the memory's random state start anew. A target network that it
                lacks, and any without it, begins with the weights.

        Raises:
            RLCCFRError: the arrays have other names, shapes or types.
        """
        shapes, learning = self._shapes(), dict(learning or {})
        if learning:
            learning = {f"target/{name}": array for name, array in state.items()} | learning
        moments = {f"{number}/{name}": shape for number, shape in enumerate(shapes.values())
                   for name in ("exp_avg", "exp_avg_sq")}  # fmt: skip
        moments |= {f"{number}/step": () for number in range(len(shapes))} | {"draws": ()}
        moments |= {f"target/{name}": shape for name, shape in shapes.items()}
        for found, expected in ((state, shapes), (learning, moments if learning else {})):
            for name in sorted(found.keys() | expected.keys()):
                array = found.get(name)
                kind = np.str_ if name == "draws" else np.float32
                if array is None or array.shape != expected.get(name) or array.dtype.type != kind:
                    raise RLCCFRError(f"the saved networks do not fit: {name} is missing or wrong; train a new team")
        vars(self).pop("model", None)  # made again at the next use
        self._weights = {name: array.copy() for name, array in state.items()}
        self._learning = learning

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, in torch's order."""
        shapes: dict[str, tuple[int, ...]] = {}
        for layer, (inputs, outputs) in zip(self._layers, pairwise(self._sizes), strict=True):
            shapes |= {f"q_net.{layer}.weight": (outputs, inputs), f"q_net.{layer}.bias": (outputs,)}
        return shapes

    def adopt(self, source: Selector, rows: Mapping[int, int], low: float) -> None:
        """Take over the network of another selector, which may have fewer choices in another order.

        Args:
            source: the other selector, with the same hidden layers.
            rows: map from the index of each shared choice to its index in the other selector.
            low: initial Q-value of the choices that the other selector does not have.
        """
        state = source.state()
        weight, bias = (f"q_net.{self._layers[-1]}.{part}" for part in ("weight", "bias"))
        new_weight = np.zeros((self.actions, state[weight].shape[1]), dtype=np.float32)
        new_bias = np.full(self.actions, low, dtype=np.float32)
        for own, other in rows.items():
            new_weight[own], new_bias[own] = state[weight][other], state[bias][other]
        state[weight], state[bias] = new_weight, new_bias
        self.restore(state)
