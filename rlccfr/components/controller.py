"""Controllers: networks that choose an update rule's settings during a run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from rlccfr.errors import ComponentError

AGENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "discounting": ("alpha", "beta", "floor"),
        "averaging": ("gamma",),
        "prediction": ("optimism", "momentum", "memory", "power"),
    }
)
"""Names of a controller's agents, in the order in which they pick settings, with the settings that each agent picks.

The settings are hyperparameters of the update rule ``scheduled``. ``floor`` is 1 for a floor at 0, and 0 for no floor.
An infinite ``alpha`` or ``beta`` stands for no discount. Each agent sees the picks of the earlier agents.
"""

SHIPPED = "shipped"
"""Name of the controller with trained networks that comes with the package."""

SCHEDULE = "schedule"
"""Name of the controller in the package whose picks depend only on a run's length and progress."""

CONTROLLER_NAMES = (SHIPPED, SCHEDULE)
"""Names of the controllers that come with the package; other controllers are read from files."""

SETTINGS = tuple(name for names in AGENTS.values() for name in names)
OF_RUN = (
    "iterations", "horizon", "share", "error", "slope", "earlier_slope", "current", "zeros", "distance", "growth",
    "start",
    *(f"last_{name}" for name in SETTINGS),
)  # fmt: skip
PROGRESS = ("iterations", "horizon", "share")
"""Names of the entries of an observation that tell a run's length and progress.

The controller :data:`SCHEDULE` depends on no other entries.
"""

OF_GAME = ("mean_actions", "most_actions", "depth", "chance", "ends")
OBSERVATION = OF_RUN + OF_GAME
"""Names of the 24 entries of an observation: those about the run, then those about the game.

:mod:`rlccfr.kernels.control.observe` defines them.
"""

CHOICES: tuple[np.ndarray, ...] = (
    np.array(
        [
            (np.inf, 0.0, 1.0),
            *((alpha, 0.0, 1.0) for alpha in (1.0, 1.5, 2.5)),
            *((alpha, 0.0, 0.0) for alpha in (1.0, 1.5, 2.5, 4.0)),
            (1.75, -0.75, 0.0),
            (2.5, -2.0, 0.0),
            (2.5, 0.5, 0.0),
            (np.inf, np.inf, 0.0),
        ]
    ),
    np.array([[0.0], [1.0], [2.0], [3.5], [6.0], [10.0], [20.0], [40.0]]),
    np.array(
        [
            *((optimism, 0.0, 0.0, 1.0) for optimism in (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)),
            (0.0, 0.0, 0.0, 1.5),
            (0.2, 0.0, 0.0, 1.5),
            *((0.0, momentum, 0.85, 1.0) for momentum in (0.25, 0.5, 1.0)),
            *((0.0, momentum, 0.85, 1.5) for momentum in (0.25, 0.5, 1.0)),
            (0.0, 0.5, 0.95, 1.5),
            (0.0, 0.5, 0.85, 2.0),
        ]
    ),
)
"""Each agent's choices in the controllers that this library trains; shapes as for ``choices`` of :class:`Controller`.
"""

Layer = tuple[np.ndarray, np.ndarray]
"""Weights, (inputs, outputs), and biases, (outputs,)."""

Networks = tuple[tuple[Layer, ...], ...]
"""The layers of each agent's network; a ReLU follows every layer but the last."""


@dataclass(frozen=True, eq=False, repr=False)
class Controller:
    """Three agents, each of which picks some of the update rule's settings for the next segment of a run.

    An agent has a Q-value for each of its choices and picks the choice with the largest. A controller has one or more
    members, each with a network for each agent. Members are trained separately. An agent's Q-values are means over the
    members, so that errors of single networks on unseen games partly cancel.

    Args:
        choices: for each of the :data:`AGENTS` an array with one choice per row, (number of its choices, number of its
            settings).
        members: networks of each member; all members have the same shapes. The inputs of an agent's network are the
            observation, and one number for each choice of each earlier agent: 1 for the pick, 0 for the other choices.

    Raises:
        ComponentError: the shapes do not fit together, or a weight or bias is not finite.
    """

    choices: tuple[np.ndarray, ...]
    members: tuple[Networks, ...]

    def __post_init__(self) -> None:
        numbers = {len(self.choices), *map(len, self.members)}
        if not self.members or numbers != {len(AGENTS)}:
            raise ComponentError(f"a controller needs choices and networks for each of {', '.join(AGENTS)}")
        for (agent, settings), choices in zip(AGENTS.items(), self.choices, strict=True):
            if choices.shape[1:] != (len(settings),):
                raise ComponentError(f"a choice for {agent} must be {len(settings)} numbers: {', '.join(settings)}")
        shapes = [self._sizes(networks) for networks in self.members]
        if any(shape != shapes[0] for shape in shapes):
            raise ComponentError("all members' networks must have the same shapes")
        if not all(np.isfinite(array).all() for networks in self.members for array in _arrays(networks)):
            raise ComponentError("a network has weights or biases that are not finite: train it again")

    def _sizes(self, networks: Networks) -> list[list[int]]:
        """Check the layers of each agent's network, and return their sizes, that of the input first.

        Raises:
            ComponentError: the layers do not fit together.
        """
        num_inputs = len(OBSERVATION)
        all_sizes = []
        for agent, choices, network in zip(AGENTS, self.choices, networks, strict=True):
            sizes = [num_inputs, *(len(bias) for _, bias in network)]
            fits = [weights.shape for weights, _ in network] == list(pairwise(sizes))
            if not fits or sizes[-1] != len(choices) or len(network) != len(networks[0]):
                raise ComponentError(
                    f"the layers of the network for {agent} have the sizes {sizes}; they must begin with {num_inputs} "
                    f"inputs, fit together, end with {len(choices)} choices, and be as many as for "
                    f"{next(iter(AGENTS))}: {len(networks[0])}"
                )
            all_sizes.append(sizes)
            num_inputs += len(choices)  # the next agent sees this one's pick
        return all_sizes

    @classmethod
    def untrained(
        cls, choices: tuple[np.ndarray, ...], hidden: tuple[int, ...] = (64, 64), seed: int = 0
    ) -> Controller:
        """Return a controller of one member with random weights, of variance 1 / (a layer's inputs), and biases of 0.

        Args:
            choices: each agent's choices.
            hidden: sizes of the hidden layers of every network.
            seed: seed of the weights.
        """
        rng = np.random.default_rng(seed)
        num_inputs = len(OBSERVATION)
        networks = []
        for agent_choices in choices:
            sizes = [num_inputs, *hidden, len(agent_choices)]
            network = [(rng.normal(size=pair) / np.sqrt(pair[0]), np.zeros(pair[1])) for pair in pairwise(sizes)]
            networks.append(tuple(network))
            # The next agent also sees this one's pick, as one number per choice.
            num_inputs += len(agent_choices)
        return cls(choices, (tuple(networks),))

    @classmethod
    def together(cls, controllers: Sequence[Controller]) -> Controller:
        """Return one controller that has the members of several controllers.

        Raises:
            ComponentError: the controllers' choices or their networks' shapes differ.
        """
        first = controllers[0]
        for controller in controllers:
            pairs = zip(first.choices, controller.choices, strict=True)
            if not all(np.array_equal(first_choices, choices) for first_choices, choices in pairs):
                raise ComponentError("controllers to be joined must have the same choices")
        return cls(first.choices, tuple(networks for controller in controllers for networks in controller.members))

    def __repr__(self) -> str:
        return f"Controller(choices={self.counts}, members={len(self.members)}, layers={self.layers[0]})"

    @property
    def has_momentum(self) -> bool:
        """Whether a choice has momentum, or a power of regret matching other than 1."""
        picked_settings = dict(zip(AGENTS["prediction"], self.choices[-1].T, strict=True))
        return bool(picked_settings["momentum"].any() or (picked_settings["power"] != 1.0).any())

    @cached_property
    def observes_run(self) -> bool:
        """Whether picks depend on the run's results or on the game, not only on the entries :data:`PROGRESS`."""
        hidden_entries = [index for index, name in enumerate(OBSERVATION) if name not in PROGRESS]
        first_layers = [network[0] for networks in self.members for network in networks]
        return any(weights[hidden_entries].any() for weights, _ in first_layers)

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of choices of each agent."""
        return tuple(len(choices) for choices in self.choices)

    @property
    def layers(self) -> list[list[int]]:
        """Sizes of the layers of each agent's networks, that of the input first."""
        return self._sizes(self.members[0])

    def with_weights(self, flat: np.ndarray) -> Controller:
        """Return a controller of the same shapes with the weights and biases of ``flat``, (k,).

        Args:
            flat: all weights and biases in the order of :meth:`flat_weights`.
        """
        arrays = [array for networks in self.members for array in _arrays(networks)]
        ends = np.cumsum([array.size for array in arrays])[:-1]
        pieces = zip(np.split(flat, ends), arrays, strict=True)
        new_arrays = (piece.reshape(array.shape) for piece, array in pieces)
        # The new arrays are taken in the order of the present ones, two for each layer.
        members = tuple(
            tuple(tuple((next(new_arrays), next(new_arrays)) for _ in network) for network in networks)
            for networks in self.members
        )
        return Controller(self.choices, members)

    def flat_weights(self) -> np.ndarray:
        """Return all weights and biases, (k,): member by member, agent by agent, layer by layer."""
        arrays = [array.ravel() for networks in self.members for array in _arrays(networks)]
        return np.concatenate(arrays).astype(np.float64)

    @cached_property
    def digest(self) -> str:
        """Hash of the choices, the layers' sizes, and the weights and biases in single precision, as in files."""
        text = repr((self.layers, [choices.tolist() for choices in self.choices]))
        return hashlib.sha256(text.encode() + self.single_weights.tobytes()).hexdigest()[:16]

    @cached_property
    def single_weights(self) -> np.ndarray:
        """The array of :meth:`flat_weights` in single precision, (k,). Runs share it: copy it before changing it."""
        return self.flat_weights().astype(np.float32)


def _arrays(networks: Networks) -> Iterator[np.ndarray]:
    """Yield the networks' weights and biases, network by network and layer by layer."""
    return (array for network in networks for layer in network for array in layer)
