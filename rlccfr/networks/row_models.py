"""Models that map rows to a number for each action: networks over hands or tensors, and a table for comparison.

A row is what a player knows at a decision; see :class:`rlccfr.games.walked.walked_game.WalkedGame`. No model depends on
how many infosets the game has.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import nn

from rlccfr.games.walked.state_walks import StateWalks
from rlccfr.networks.hand_networks import HandBranches, HandInputs, HandNetwork, HandPerceptron
from rlccfr.networks.network_state import restored_adam, set_rate, set_weights, state_of, weights_of
from rlccfr.networks.perceptron import LARGEST_GRADIENT, Perceptron
from rlccfr.networks.settings import Approximator

Data = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows (n,), the targets of their actions (n, actions), and their weights (n,)."""

MOST_ROWS = 2**15
"""Largest number of rows that a network reads at once; more would not fit into the processor's cache."""


class Source(Protocol):
    """The data of a fit."""

    def drawn(self, size: int, rng: np.random.Generator) -> Data:
        """Return ``size`` rows, drawn uniformly with replacement; or all distinct rows, if they fit into a batch."""

    def whole(self) -> Data:
        """Return all rows."""


class RowModel(Protocol):
    """A function from rows to a number for each action."""

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return predictions, (rows, actions) float32."""

    def begin(self, seed: Sequence[int]) -> None:
        """Discard what has been learned, and start from new weights that are drawn with a seed."""

    def train(self, source: Source, first: int, end: int, seed: Sequence[int]) -> None:
        """Take the training steps with numbers ``first`` to ``end - 1`` of a fit.

        Args:
            source: the fit's data.
            seed: seed of the fit's draws.
        """

    def frozen(self) -> RowModel:
        """Return a copy that later training does not change."""

    def state(self) -> dict[str, np.ndarray]:
        """Return all that the next step depends on."""

    def restore(self, state: dict[str, np.ndarray]) -> None: ...

    @property
    def settings(self) -> Approximator:
        """Settings of the model."""

    def parameters(self) -> dict[str, np.ndarray]:
        """Return all that predictions depend on, for the file of a policy."""

    def restore_parameters(self, parameters: dict[str, np.ndarray]) -> None:
        """Restore what :meth:`parameters` returned, for predictions only; training needs :meth:`restore`."""


class RowTable:
    """A table, which fits the weighted means of all targets; rows without data keep their values, 0 at first."""

    def __init__(self, num_actions: int, settings: Approximator) -> None:
        self.settings = settings
        self._keys = np.zeros(0, "S1")
        self._values = np.zeros((0, num_actions), np.float32)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        values = np.zeros((len(rows), self._values.shape[1]), np.float32)
        if not len(self._keys):
            return values
        keys = keys_of(rows)
        # For a key above all others, ``searchsorted`` returns the index after the last one.
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        is_known = self._keys[places] == keys
        values[is_known] = self._values[places[is_known]]
        return values

    def begin(self, seed: Sequence[int]) -> None:
        self._keys = self._keys[:0]
        self._values = self._values[:0]

    def train(self, source: Source, first: int, end: int, seed: Sequence[int]) -> None:
        if first > 0:  # the first step fits all targets
            return
        rows, target, weight = source.whole()
        distinct_rows, means, _ = merged_data(rows, target, weight)
        keys = keys_of(distinct_rows)
        is_kept = ~np.isin(self._keys, keys)
        all_keys = np.concatenate([self._keys[is_kept], keys])
        values = np.concatenate([self._values[is_kept], means])
        order = np.argsort(all_keys)
        self._keys = all_keys[order]
        self._values = values[order]

    def frozen(self) -> RowTable:
        return copy.copy(self)

    def state(self) -> dict[str, np.ndarray]:
        return {"keys": self._keys, "values": self._values}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self._keys = state["keys"]
        self._values = state["values"]

    parameters = state
    restore_parameters = restore


def keys_of(rows: np.ndarray) -> np.ndarray:
    """Return a key for each row, (rows,): a string of the row's bytes, equal only for equal rows."""
    # Comparisons of such strings ignore zeros at their ends. All have one length, so different rows still differ.
    return np.ascontiguousarray(rows).view(f"S{rows.dtype.itemsize}")


def merged_data(rows: np.ndarray, target: np.ndarray, weight: np.ndarray) -> Data:
    """Return the distinct rows, their weighted mean targets (float32), and their total weights.

    Rows that occur only with the weight 0 are left out: under strong discounts, the weights of old data become 0.

    Args:
        rows: (n,) rows.
        target: (n, actions) their targets.
        weight: (n,) their weights.
    """
    counts = weight != 0
    if not counts.all():
        rows = rows[counts]
        target = target[counts]
        weight = weight[counts]
    _, first_places, numbers = np.unique(keys_of(rows), return_index=True, return_inverse=True)
    totals = np.bincount(numbers, weight)
    means = [np.bincount(numbers, weight * column) / totals for column in target.T]
    return rows[first_places], np.stack(means, axis=1).astype(np.float32), totals


Legal = Callable[[np.ndarray], np.ndarray]
"""Function from rows to an array, (rows, actions), that tells which actions are legal."""


class HandModel:
    """A network over hands and lines, trained by Adam on the weighted squared error.

    Args:
        inputs: what the network reads.
        settings: settings of the model.
        legal: function that tells which actions are legal; the outputs of other actions are not trained.
        seed: seed of the first weights.
    """

    def __init__(self, inputs: HandInputs, settings: Approximator, legal: Legal, seed: Sequence[int]) -> None:
        self.settings = settings
        self._inputs = inputs
        self._legal = legal
        self._cards = torch.from_numpy(inputs.cards)
        self._lines = torch.from_numpy(inputs.lines)
        self.begin(seed)

    def begin(self, seed: Sequence[int]) -> None:
        # The weights follow from the seed alone, and PyTorch's global generator stays as it was.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(np.random.SeedSequence([*seed, 0]).generate_state(1)[0]))
            self._network = self._new_network()
        self._adam = self._new_adam()

    def _new_adam(self) -> torch.optim.Adam:
        return torch.optim.Adam(self._network.parameters(), lr=self.settings.learning_rate)

    def _new_network(self) -> HandNetwork:
        if self.settings.kind == "cards":
            return HandBranches(self._inputs, self.settings.hidden)
        return HandPerceptron(self._inputs, self.settings.hidden, self.settings.layers)

    def _outputs(self, rows: np.ndarray) -> torch.Tensor:
        """Return the network's outputs, (rows, actions), for a training step."""
        line = torch.from_numpy(rows["line"].astype(np.int64))
        cards = self._cards[torch.from_numpy(rows["hand"].astype(np.int64))].int()
        codes = self._network.codes_of_cards(cards) + self._network.codes_of_lines(self._lines)[line]
        return self._network.outputs(codes)

    @torch.inference_mode()
    def predict(self, rows: np.ndarray) -> np.ndarray:
        hands, place = np.unique(rows["hand"], return_inverse=True)
        codes_of_cards = self._codes_of_hands(hands)
        codes_of_lines = self._network.codes_of_lines(self._lines)
        outputs = np.empty((len(rows), self._inputs.num_actions), np.float32)
        lines = torch.from_numpy(rows["line"].astype(np.int64))
        hand_of_row = torch.from_numpy(place)
        for begin in range(0, len(rows), MOST_ROWS):
            part = slice(begin, begin + MOST_ROWS)
            codes = codes_of_cards[hand_of_row[part]] + codes_of_lines[lines[part]]
            outputs[part] = self._network.outputs(codes).numpy()
        return outputs

    def _codes_of_hands(self, hands: np.ndarray) -> torch.Tensor:
        """Return the codes, (hands, width), of hands that are given by their indices, (hands,)."""
        numbers = torch.from_numpy(hands.astype(np.int64))
        parts = torch.split(numbers, MOST_ROWS)
        return torch.cat([self._network.codes_of_cards(self._cards[part].int()) for part in parts])

    def train(self, source: Source, first: int, end: int, seed: Sequence[int]) -> None:
        num_steps = self.settings.steps_of_fit(1)
        for step in range(first, end):
            set_rate(self._adam, self.settings.rate_at(step, num_steps))
            rows, target, weight = source.drawn(self.settings.batch_size, np.random.default_rng([*seed, 1, step]))
            legal = torch.from_numpy(self._legal(rows).astype(np.float32))
            errors = (self._outputs(rows) - torch.from_numpy(target)) * legal
            scale = torch.from_numpy(weight / len(rows))
            self._adam.zero_grad()
            loss = (scale[:, None] * errors**2).sum().div(2)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self._network.parameters(), LARGEST_GRADIENT)
            self._adam.step()

    def frozen(self) -> HandModel:
        twin = copy.copy(self)
        twin._network = copy.deepcopy(self._network)
        twin._adam = twin._new_adam()
        return twin

    def snapshot(self) -> np.ndarray:
        """Return a one-dimensional copy of the network's weights."""
        return weights_of(self._network)

    def at_snapshot(self, snapshot: np.ndarray) -> HandModel:
        """Return a copy of this model with the weights that it had when a snapshot was taken."""
        twin = self.frozen()
        set_weights(twin._network, snapshot)
        return twin

    def state(self) -> dict[str, np.ndarray]:
        return state_of(self._network, self._adam)

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self._adam = restored_adam(self._network, self.settings.learning_rate, state)

    def parameters(self) -> dict[str, np.ndarray]:
        return {"weights": self.snapshot()}

    def restore_parameters(self, parameters: dict[str, np.ndarray]) -> None:
        set_weights(self._network, parameters["weights"])


class TensorInputs(NamedTuple):
    """The inputs of networks for a game represented by OpenSpiel's states.

    Attributes:
        features: function from rows to a network's inputs, (rows, columns) float32.
        num_columns: number of columns.
        num_actions: number of outputs.
    """

    features: Callable[[np.ndarray], np.ndarray]
    num_columns: int
    num_actions: int


class TensorModel:
    """ReLU layers over information state tensors.

    Args:
        inputs: what the network reads.
        settings: settings of the model.
        legal: function that tells which actions are legal; the outputs of other actions are not trained.
        seed: seed of the first weights.
    """

    def __init__(self, inputs: TensorInputs, settings: Approximator, legal: Legal, seed: Sequence[int]) -> None:
        self.settings = settings
        self._inputs = inputs
        self._legal = legal
        self._network = Perceptron(inputs.num_columns, inputs.num_actions, settings, seed)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        outputs = np.empty((len(rows), self._inputs.num_actions), np.float32)
        for begin in range(0, len(rows), MOST_ROWS):
            part = slice(begin, begin + MOST_ROWS)
            outputs[part] = self._network.outputs(self._on_device(self._inputs.features(rows[part])))
        return outputs

    def begin(self, seed: Sequence[int]) -> None:
        self._network.begin(seed)

    @torch.inference_mode()
    def train(self, source: Source, first: int, end: int, seed: Sequence[int]) -> None:
        last: Data | None = None
        num_steps = self.settings.steps_of_fit(1)
        for step in range(first, end):
            data = source.drawn(self.settings.batch_size, np.random.default_rng([*seed, 1, step]))
            if data is not last:  # if there are few rows, all batches are the same object
                tensors = self._tensors(*data)
                last = data
            matrix, goal, scale = tensors
            self._network.step(matrix, goal, scale, self.settings.rate_at(step, num_steps))

    def _tensors(self, rows: np.ndarray, target: np.ndarray, weight: np.ndarray) -> tuple[torch.Tensor, ...]:
        """Return what a training step needs: inputs, targets and the weight of each output, (rows, actions)."""
        scale = self._legal(rows) * (weight / np.float32(len(rows)))[:, None]
        return tuple(self._on_device(array) for array in (self._inputs.features(rows), target, scale))

    def _on_device(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self._network.device)

    def frozen(self) -> TensorModel:
        return self.at_snapshot(self.snapshot())

    def snapshot(self) -> np.ndarray:
        """Return a one-dimensional copy of the network's weights."""
        return self._network.weights()

    def at_snapshot(self, snapshot: np.ndarray) -> TensorModel:
        """Return a copy of this model with the weights that it had when a snapshot was taken."""
        twin = TensorModel(self._inputs, self.settings, self._legal, [0])
        twin._network.set_weights(snapshot)
        return twin

    def state(self) -> dict[str, np.ndarray]:
        return self._network.state()

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self._network.restore(state)

    def parameters(self) -> dict[str, np.ndarray]:
        return {"weights": self.snapshot()}

    def restore_parameters(self, parameters: dict[str, np.ndarray]) -> None:
        self._network.set_weights(parameters["weights"])


def new_tensor_model(walks: StateWalks, settings: Approximator, seed: Sequence[int]) -> RowModel:
    """Return a new model of the settings' kind for a game that OpenSpiel's states represent.

    Args:
        walks: the game.
        settings: settings of the model.
        seed: seed of the first weights.
    """
    if settings.kind == "table":
        return RowTable(walks.num_actions, settings)
    inputs = TensorInputs(walks.features, walks.num_columns, walks.num_actions)
    return TensorModel(inputs, settings, walks.legal, seed)
