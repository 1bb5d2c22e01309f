"""A network for card games: one branch for cards, one for bets (Brown et al. 2019, appendix C).

Differs from the source in the features: they are the columns of OpenSpiel's information state tensors. A card's
embedding is that of its column, without parts of its rank and suit, which the tensors do not tell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from rlccfr.networks.batches import Batches
from rlccfr.networks.inputs import Inputs
from rlccfr.networks.settings import Approximator

LARGEST_GRADIENT = 1.0
"""Norm to which gradients are clipped, as in Brown et al. 2019."""


class Branches(nn.Module):
    """The network: cards and bets are read apart, then joined."""

    def __init__(self, cards: Sequence[np.ndarray], columns: int, width: int, outputs: int) -> None:
        super().__init__()
        known = np.concatenate(cards)
        self._cards = [torch.from_numpy(group) for group in cards]
        self._bets = torch.from_numpy(np.setdiff1d(np.arange(columns), known))
        # A group's embedding is the sum of its cards', a linear function of the group's columns.
        self.embeddings = nn.ModuleList(nn.Linear(len(group), width, bias=False) for group in cards)
        self.cards = nn.ModuleList(nn.Linear(n * width, width) for n in (len(cards), 1, 1))
        self.bets = nn.ModuleList(nn.Linear(n, width) for n in (len(self._bets), width))
        self.joined = nn.ModuleList(nn.Linear(n * width, width) for n in (2, 1, 1))
        self.head = nn.Linear(width, outputs)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, matrix: torch.Tensor) -> torch.Tensor:
        """Return the outputs for rows of inputs."""
        groups = zip(self._cards, self.embeddings, strict=True)
        cards = torch.cat([embedding(matrix[:, columns]) for columns, embedding in groups], 1)
        for layer in self.cards:
            cards = torch.relu(layer(cards))
        bets = torch.relu(self.bets[0](matrix[:, self._bets]))
        bets = torch.relu(self.bets[1](bets) + bets)
        joined = torch.relu(self.joined[0](torch.cat([cards, bets], 1)))
        for layer in self.joined[1:]:
            joined = torch.relu(layer(joined) + joined)
        mean, spread = joined.mean(1, keepdim=True), joined.std(1, keepdim=True)
        outputs: torch.Tensor = self.head((joined - mean) / (spread + 1e-6))
        return outputs


class CardNetwork:
    """A model by :class:`Branches`, trained by Adam on the weighted squared error; see :class:`Model`."""

    def __init__(self, inputs: Inputs, settings: Approximator, seed: Sequence[int]) -> None:
        self._inputs, self._settings = inputs, settings
        self._batches = Batches(inputs, settings.batch_size, torch.device("cpu"))
        self._matrix = torch.from_numpy(inputs.matrix)
        self._begin(seed)

    def _begin(self, seed: Sequence[int]) -> None:
        """Make a network with new weights."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(np.random.SeedSequence([*seed, 0]).generate_state(1)[0]))
            self._network = self._new()
        self._adam = torch.optim.Adam(self._network.parameters(), lr=self._settings.learning_rate)

    def _new(self) -> Branches:
        inputs = self._inputs
        return Branches(inputs.cards, inputs.matrix.shape[1], self._settings.hidden, inputs.num_outputs)

    def predict(self, weights: np.ndarray | None = None) -> np.ndarray:
        network = self._network
        if weights is not None:
            network = self._new()
            nn.utils.vector_to_parameters(torch.from_numpy(weights), network.parameters())
        with torch.inference_mode():
            output = network(self._matrix).numpy()
        return np.asarray(output.reshape(-1)[self._inputs.position], np.float64)

    def weights(self) -> np.ndarray:
        return np.asarray(nn.utils.parameters_to_vector(self._network.parameters()).detach().numpy().copy())

    def fit(self, target: np.ndarray, weight: np.ndarray, seed: Sequence[int], times: int = 1, steps: int = 0) -> None:
        new = self._settings.from_scratch and not steps
        if new:
            self._begin(seed)
        steps = steps or self._settings.train_steps * (1 if new else times)
        for matrix, goal, scale in self._batches.of(target, weight, seed, steps):
            self._adam.zero_grad()
            (scale * (self._network(matrix) - goal) ** 2).sum().div(2).backward()
            nn.utils.clip_grad_norm_(self._network.parameters(), LARGEST_GRADIENT)
            self._adam.step()

    def state(self) -> dict[str, np.ndarray]:
        moments = {name: [self._adam.state[one].get(name) for one in self._network.parameters()] for name in _MOMENTS}
        none = [torch.zeros_like(one) for one in self._network.parameters()]
        steps = next((int(one["step"]) for one in self._adam.state.values()), 0)
        found = {name: found if steps else none for name, found in moments.items()}
        kept = {name: nn.utils.parameters_to_vector(one).numpy().copy() for name, one in found.items()}
        return {"weights": self.weights(), **kept, "steps": np.array([steps])}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        parameters = list(self._network.parameters())
        nn.utils.vector_to_parameters(torch.from_numpy(state["weights"].copy()), parameters)
        self._adam = torch.optim.Adam(parameters, lr=self._settings.learning_rate)
        at = 0
        for one in parameters if state["steps"][0] else []:
            part = slice(at, at + one.numel())
            at += one.numel()
            self._adam.state[one] = {
                "step": torch.tensor(float(state["steps"][0])),
                **{name: torch.from_numpy(state[name][part].copy()).view_as(one) for name in _MOMENTS},
            }


_MOMENTS = ("exp_avg", "exp_avg_sq")
