"""A network for card games: one branch for cards, one for bets (Brown et al. 2019, appendix C).

The features differ from the source: they are the columns of OpenSpiel's information state tensors. Each card's column
has one embedding. The source adds embeddings of rank and suit, which the tensors do not separate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from rlccfr.networks.batches import Batches
from rlccfr.networks.inputs import Inputs
from rlccfr.networks.network_state import restored_adam, set_rate, set_weights, state_of, weights_of
from rlccfr.networks.perceptron import LARGEST_GRADIENT
from rlccfr.networks.settings import Approximator


class Branches(nn.Module):
    """The network: separate branches read cards and bets, and are then joined.

    Args:
        cards: columns of each group of cards; see :class:`rlccfr.networks.inputs.Inputs`.
        columns: number of columns of the inputs.
        width: width of all layers.
        outputs: number of outputs.
    """

    def __init__(self, cards: Sequence[np.ndarray], columns: int, width: int, outputs: int) -> None:
        super().__init__()
        self._card_columns = [torch.from_numpy(group) for group in cards]
        self._bet_columns = torch.from_numpy(np.setdiff1d(np.arange(columns), np.concatenate(cards)))
        # A group's embedding is the sum of its cards', a linear function of the group's columns.
        self.embeddings = nn.ModuleList(nn.Linear(len(group), width, bias=False) for group in cards)
        self.cards = nn.ModuleList(nn.Linear(n * width, width) for n in (len(cards), 1, 1))
        self.bets = nn.ModuleList(nn.Linear(n, width) for n in (len(self._bet_columns), width))
        self.joined = nn.ModuleList(nn.Linear(n * width, width) for n in (2, 1, 1))
        self.head = nn.Linear(width, outputs)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, matrix: torch.Tensor) -> torch.Tensor:
        """Return the outputs, (rows, outputs), for rows of inputs, (rows, columns)."""
        groups = zip(self._card_columns, self.embeddings, strict=True)
        cards = torch.cat([embedding(matrix[:, columns]) for columns, embedding in groups], 1)
        for layer in self.cards:
            cards = torch.relu(layer(cards))
        bets = torch.relu(self.bets[0](matrix[:, self._bet_columns]))
        bets = torch.relu(self.bets[1](bets) + bets)
        joined = torch.relu(self.joined[0](torch.cat([cards, bets], 1)))
        for layer in self.joined[1:]:
            joined = torch.relu(layer(joined) + joined)
        outputs: torch.Tensor = self.head(normalised(joined))
        return outputs


def normalised(values: torch.Tensor) -> torch.Tensor:
    """Shift and scale each row of a matrix to mean 0 and standard deviation 1."""
    mean = values.mean(1, keepdim=True)
    standard_deviation = values.std(1, keepdim=True)
    return (values - mean) / (standard_deviation + 1e-6)


class CardNetwork:
    """A model with a :class:`Branches` network, trained by Adam on the weighted squared error; see :class:`Model`."""

    def __init__(self, inputs: Inputs, settings: Approximator, seed: Sequence[int]) -> None:
        self._inputs = inputs
        self._settings = settings
        self._batches = Batches(inputs, settings.batch_size, torch.device("cpu"))
        self._matrix = torch.from_numpy(inputs.matrix)
        self._begin(seed)

    def _begin(self, seed: Sequence[int]) -> None:
        """Make a network with new weights."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(np.random.SeedSequence([*seed, 0]).generate_state(1)[0]))
            self._network = self._new_network()
        self._adam = torch.optim.Adam(self._network.parameters(), lr=self._settings.learning_rate)

    def _new_network(self) -> Branches:
        inputs = self._inputs
        return Branches(inputs.cards, inputs.matrix.shape[1], self._settings.hidden, inputs.num_outputs)

    def predict(self, weights: np.ndarray | None = None) -> np.ndarray:
        network = self._network
        if weights is not None:
            network = self._new_network()
            set_weights(network, weights)
        with torch.inference_mode():
            output = network(self._matrix).numpy()
        return np.asarray(output.reshape(-1)[self._inputs.position], np.float64)

    def weights(self) -> np.ndarray:
        return weights_of(self._network)

    def fit(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], times: int = 1, steps: int = 0) -> None:
        if not steps:
            if self._settings.from_scratch:
                self._begin(seed)
            steps = self._settings.steps_of_fit(times)
        for step, (matrix, goal, scale) in enumerate(self._batches.of(target, weight, seed, steps)):
            set_rate(self._adam, self._settings.rate_at(step, steps))
            self._adam.zero_grad()
            (scale * (self._network(matrix) - goal) ** 2).sum().div(2).backward()
            nn.utils.clip_grad_norm_(self._network.parameters(), LARGEST_GRADIENT)
            self._adam.step()

    def state(self) -> dict[str, np.ndarray]:
        return state_of(self._network, self._adam)

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self._adam = restored_adam(self._network, self._settings.learning_rate, state)
