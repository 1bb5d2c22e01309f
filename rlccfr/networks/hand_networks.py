"""Networks for hold'em that read the index of a hand and the index of a line of betting.

So they need no matrix of all infosets. Both kinds of network compute two vectors, called codes, one from the cards and
one from the line of betting. They add the two codes and pass the sum through further layers. A code is computed once
for each distinct hand, and once for each line, of which there are few. The sum of two linear functions is a linear
function of both inputs side by side, so this is the same network with fewer operations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.functional import embedding_bag, linear

from rlccfr.networks.card_network import normalised


class HandInputs(NamedTuple):
    """Tables of a hold'em game from which these networks look up their inputs.

    Attributes:
        cards: (hands, cards) int16: for each hand with its board, an index for each card: round x deck + card, where
            deck is the number of cards in the deck, and round is the round, counted from 0, in which the card is dealt.
            Cards that are not yet dealt have the index ``num_rounds`` x deck.
        lines: (lines, columns) float32 features of each line of betting.
        ranks, suits: size of the deck; a card is rank x suits + suit.
        num_rounds: number of rounds.
        num_actions: number of outputs, one for each action.
    """

    cards: np.ndarray
    lines: np.ndarray
    ranks: int
    suits: int
    num_rounds: int
    num_actions: int

    @property
    def deck(self) -> int:
        """Number of cards in the deck."""
        return self.ranks * self.suits


class HandNetwork(nn.Module):
    """Base of the networks that read hands and lines of betting.

    Args:
        inputs: what the network reads.
        width: width of its layers.
    """

    def __init__(self, inputs: HandInputs, width: int) -> None:
        super().__init__()
        self.num_rounds = inputs.num_rounds
        self.width = width

    def codes_of_cards(self, cards: torch.Tensor) -> torch.Tensor:
        """Return the codes, (hands, width), of hands given as rows of :attr:`HandInputs.cards`."""
        raise NotImplementedError

    def codes_of_lines(self, lines: torch.Tensor) -> torch.Tensor:
        """Return the codes, (lines, width), of lines of betting given as rows of :attr:`HandInputs.lines`."""
        raise NotImplementedError

    def outputs(self, codes: torch.Tensor) -> torch.Tensor:
        """Return the outputs, (rows, actions), for codes, (rows, width), each the sum of a hand's and a line's code."""
        raise NotImplementedError


class HandPerceptron(HandNetwork):
    """ReLU layers; the inputs, each 0 or 1, are one for each card in each round, and the features of the line."""

    def __init__(self, inputs: HandInputs, width: int, layers: int) -> None:
        super().__init__(inputs, width)
        num_cards = inputs.num_rounds * inputs.deck
        fan_in = num_cards + inputs.lines.shape[1]
        # The range from which PyTorch draws the weights of a linear layer with so many inputs.
        bound = fan_in**-0.5
        self.cards = nn.Parameter(torch.empty(num_cards, width).uniform_(-bound, bound))
        self.lines = nn.Linear(inputs.lines.shape[1], width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(layers - 1))
        self.head = nn.Linear(width, inputs.num_actions)

    def codes_of_cards(self, cards: torch.Tensor) -> torch.Tensor:
        return embedding_bag(cards, _with_no_card(self.cards), mode="sum")

    def codes_of_lines(self, lines: torch.Tensor) -> torch.Tensor:
        codes: torch.Tensor = self.lines(lines)
        return codes

    def outputs(self, codes: torch.Tensor) -> torch.Tensor:
        values = torch.relu(codes)
        for layer in self.hidden:
            values = torch.relu(layer(values))
        outputs: torch.Tensor = self.head(values)
        return outputs


class HandBranches(HandNetwork):
    """The network of Brown et al. 2019, appendix C: a branch for cards, one for bets, and layers that join them.

    The embedding of a group of cards, which are dealt in one round, is the sum of its cards' embeddings. A card's
    embedding is the sum of three embeddings: of the card, of its rank and of its suit. The features of bets differ from
    the source. There, the feature of a bet is its size as a fraction of the pot; here, each action has two features,
    whether it happened and whether it was a bet. In limit games, the size follows from the actions.
    """

    def __init__(self, inputs: HandInputs, width: int) -> None:
        super().__init__(inputs, width)
        rank, suit = np.divmod(np.arange(inputs.deck), inputs.suits)
        # Tables of indices, not parameters: they are neither trained nor saved.
        self._card = torch.arange(inputs.deck)
        self._rank = torch.from_numpy(rank)
        self._suit = torch.from_numpy(suit)
        self.card_embeddings = nn.ModuleList(nn.Embedding(inputs.deck, width) for _ in range(inputs.num_rounds))
        self.rank_embeddings = nn.ModuleList(nn.Embedding(inputs.ranks, width) for _ in range(inputs.num_rounds))
        self.suit_embeddings = nn.ModuleList(nn.Embedding(inputs.suits, width) for _ in range(inputs.num_rounds))
        self.first_of_cards = nn.Linear(inputs.num_rounds * width, width)
        self.cards = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.bets = nn.ModuleList(nn.Linear(n, width) for n in (inputs.lines.shape[1], width))
        self.first_of_joined = nn.Linear(2 * width, width)
        self.joined = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.head = nn.Linear(width, inputs.num_actions)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def codes_of_cards(self, cards: torch.Tensor) -> torch.Tensor:
        # The first layer is linear in the embeddings, so each card's share of it is computed once per card.
        shares = []
        for number, weight in enumerate(torch.split(self.first_of_cards.weight, self.width, 1)):
            embeddings = (
                self.card_embeddings[number](self._card)
                + self.rank_embeddings[number](self._rank)
                + self.suit_embeddings[number](self._suit)
            )
            shares.append(linear(embeddings, weight))
        table = _with_no_card(torch.cat(shares))
        values = torch.relu(embedding_bag(cards, table, mode="sum") + self.first_of_cards.bias)
        for layer in self.cards:
            values = torch.relu(layer(values))
        return linear(values, self.first_of_joined.weight[:, : self.width])

    def codes_of_lines(self, lines: torch.Tensor) -> torch.Tensor:
        values = torch.relu(self.bets[0](lines))
        values = torch.relu(self.bets[1](values) + values)
        return linear(values, self.first_of_joined.weight[:, self.width :], self.first_of_joined.bias)

    def outputs(self, codes: torch.Tensor) -> torch.Tensor:
        values = torch.relu(codes)
        for layer in self.joined:
            values = torch.relu(layer(values) + values)
        outputs: torch.Tensor = self.head(normalised(values))
        return outputs


def _with_no_card(table: torch.Tensor) -> torch.Tensor:
    """Return a table of vectors with a further row of zeros, for cards that are not yet dealt."""
    return torch.cat([table, torch.zeros(1, table.shape[1])])
