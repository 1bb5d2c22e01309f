"""One agent of the team. A restored agent computes Q-values without torch, which is loaded only for learning."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from stable_baselines3.dqn.policies import DQNPolicy


class Selector:
    """One agent of a team: given an observation, it returns the Q-value of each of its choices.

    The Q-network is that of a ``DQNPolicy`` of Stable-Baselines3.

    Args:
        observation_size: length of an observation.
        actions: number of choices.
        hyperparameters: hyperparameters of the network and of learning.
        seed: seed of the initial weights, and of :attr:`generator`.

    Attributes:
        actions, hyperparameters: the arguments.
        generator: random generator for callers that train only this agent; a team uses a generator of its own.
        loss: mean loss over the gradient steps of the last round of learning; NaN before the first.
    """

    def __init__(self, observation_size: int, actions: int, hyperparameters: Hyperparameters, seed: int) -> None:
        self.actions = actions
        self.hyperparameters = hyperparameters
        self.loss = math.nan
        self._seeds = tuple(map(int, np.random.SeedSequence(seed).generate_state(2)))
        self.generator = np.random.default_rng(self._seeds[1])
        self._sizes = (observation_size, *hyperparameters.hidden, actions)
        self._layers = range(0, 2 * len(self._sizes) - 2, 2)  # torch also numbers the activations between them
        # Restored arrays, until a policy is made that holds them.
        self._weights: dict[str, np.ndarray] | None = None
        self._learning: dict[str, np.ndarray] = {}

    @cached_property
    def policy(self) -> DQNPolicy:
        """The Q-network, its target and the optimiser, made at first use, because torch takes seconds to import."""
        from rlccfr.agents.q_networks import new_policy, restore_optimizer, set_weights
        from rlccfr.networks.torch_state import contained_randomness

        schedule = self.hyperparameters.learning_rate_at
        with contained_randomness(self._seeds[0]):
            policy = new_policy(self._sizes[0], self.actions, self.hyperparameters.hidden, schedule)
        if self._weights is not None:
            set_weights(policy.q_net, self._weights)
            set_weights(policy.q_net_target, self._weights)
            self._weights = None
        # During training, the target network lags behind the Q-network, so it was saved with weights of its own.
        if self._learning:
            set_weights(policy.q_net_target, with_prefix(self._learning, "target/"))
            moments = {name: array for name, array in self._learning.items() if name[0].isdigit()}
            restore_optimizer(policy, moments)
        return policy

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Weights of the network by torch's names, without a copy."""
        if self._weights is not None:
            return self._weights
        from rlccfr.agents.q_networks import network_weights

        return network_weights(self.policy.q_net)

    def q_values(self, observation: np.ndarray) -> np.ndarray:
        """Return the Q-value of each choice, (actions,), for an observation, (size,).

        The network is evaluated without torch; the Q-values are the same bit for bit with any number of threads.
        """
        weights = self.weights
        values = observation
        for layer in self._layers:
            if layer > 0:
                values = np.maximum(values, 0)
            values = np.einsum("oi,i->o", weights[f"q_net.{layer}.weight"], values) + weights[f"q_net.{layer}.bias"]
        return values.astype(np.float64)

    def state(self) -> dict[str, np.ndarray]:
        """Return a copy of the network's weights, by name."""
        return {name: array.copy() for name, array in self.weights.items()}

    def learning(self) -> dict[str, np.ndarray]:
        """Return the training state except for the weights, by name; empty before training.

        It consists of the target network, the optimiser's moments, and the state of :attr:`generator`.
        """
        # Without a policy, nothing was learned since restore(), or at all.
        if "policy" not in vars(self):
            return dict(self._learning)
        from rlccfr.agents.q_networks import network_weights, optimizer_state

        moments = optimizer_state(self.policy)
        if not moments:
            return {}
        target = {f"target/{name}": array.copy() for name, array in network_weights(self.policy.q_net_target).items()}
        return moments | target | {"draws": np.array(json.dumps(self.generator.bit_generator.state))}

    def restore(self, state: Mapping[str, np.ndarray], learning: Mapping[str, np.ndarray] | None = None) -> None:
        """Restore the weights that :meth:`state` returned.

        Args:
            state: weights by name.
            learning: training state that :meth:`learning` returned, so that learning continues as if it had never
                stopped. Without it, the optimiser and the generator start from scratch. If it has no target network,
                the target network starts with the weights in ``state``.

        Raises:
            RLCCFRError: the arrays have other names, shapes or types.
        """
        learning = dict(learning or {})
        if learning:
            learning = {f"target/{name}": array for name, array in state.items()} | learning
        self._check_shapes(state, learning)
        vars(self).pop("policy", None)  # made again at the next use
        self.loss = math.nan
        self._weights = {name: array.copy() for name, array in state.items()}
        self._learning = learning
        self.generator = np.random.default_rng(self._seeds[1])
        if learning:
            self.generator.bit_generator.state = json.loads(str(learning["draws"]))

    def _check_shapes(self, state: Mapping[str, np.ndarray], learning: Mapping[str, np.ndarray]) -> None:
        """Check that arrays for :meth:`restore` fit this network.

        Raises:
            RLCCFRError: an array is missing or unknown, or has another shape or type.
        """
        weight_shapes: dict[str, tuple[int, ...]] = {}
        for layer, (inputs, outputs) in zip(self._layers, pairwise(self._sizes), strict=True):
            weight_shapes |= {f"q_net.{layer}.weight": (outputs, inputs), f"q_net.{layer}.bias": (outputs,)}
        learning_shapes: dict[str, tuple[int, ...]] = {}
        if learning:
            learning_shapes["draws"] = ()
            for number, (name, shape) in enumerate(weight_shapes.items()):  # torch numbers parameters in this order
                learning_shapes |= {f"{number}/exp_avg": shape, f"{number}/exp_avg_sq": shape, f"{number}/step": ()}
                learning_shapes[f"target/{name}"] = shape
        first_weights = state.get(f"q_net.{self._layers[0]}.weight")
        if first_weights is not None and first_weights.ndim == 2 and first_weights.shape[1] != self._sizes[0]:
            raise RLCCFRError(
                "the saved networks of the team do not fit: their observations have "
                f"{first_weights.shape[1]} numbers, and those here {self._sizes[0]}; train a new team"
            )
        for arrays, shapes in ((state, weight_shapes), (learning, learning_shapes)):
            for name in sorted(arrays.keys() | shapes.keys()):
                array = arrays.get(name)
                kind = np.str_ if name == "draws" else np.float32
                if array is None or array.shape != shapes.get(name) or array.dtype.type != kind:
                    raise RLCCFRError(
                        f"the saved networks of the team do not fit: {name} is missing or wrong; train a new team"
                    )

    def adopt(self, source: Selector, source_indices: Mapping[int, int], initial_value: float) -> None:
        """Take over the network of another selector, which may have fewer choices in another order.

        Args:
            source: the other selector, with the same hidden layers.
            source_indices: index of each shared choice in the other selector, by its index in this one.
            initial_value: initial Q-value of the choices that the other selector does not have.
        """
        state = source.state()
        weight_name = f"q_net.{self._layers[-1]}.weight"
        bias_name = f"q_net.{self._layers[-1]}.bias"
        weight = np.zeros((self.actions, state[weight_name].shape[1]), dtype=np.float32)
        bias = np.full(self.actions, initial_value, dtype=np.float32)
        for index, source_index in source_indices.items():
            weight[index] = state[weight_name][source_index]
            bias[index] = state[bias_name][source_index]
        # The hidden layers are unchanged: what they have learned about observations also serves the new choices.
        self.restore(state | {weight_name: weight, bias_name: bias})


def with_prefix(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
