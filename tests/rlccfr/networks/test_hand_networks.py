from __future__ import annotations

import numpy as np
import pytest
import torch

import rlccfr
from rlccfr.engine.walked.holdem_stepper import hand_inputs
from rlccfr.games.walked.holdem import HoldemWalks
from rlccfr.networks.hand_networks import HandBranches, HandInputs, HandPerceptron

WIDTH = 8


@pytest.fixture(scope="module")
def walks() -> HoldemWalks:
    return HoldemWalks(rlccfr.load_game("holdem(rounds=3,ranks=4,suits=2,private=2,flop=2)"))


@pytest.fixture(scope="module")
def inputs(walks) -> HandInputs:
    return hand_inputs(walks)


def test_cards_are_those_of_the_hand_and_the_board(walks, inputs):
    game = walks.game
    deck = game.deals[0].deck.size
    for number, deal in enumerate(game.deals):
        edge = int(game.view.deals["edge"][number, 0])
        for row, name in enumerate(game.row_names(0, 0) if number == 0 else [deal.hand_name(h) for h in deal.firsts]):
            cards = inputs.cards[edge + row].tolist()
            hand = [card for card in cards if card < deck]
            board = [card % deck for card in cards if deck <= card < inputs.num_rounds * deck]
            assert sorted(hand) == sorted(deal.deck.hands[deal.firsts[row]].tolist()), name
            assert board == deal.board.tolist()
            rounds = [card // deck for card in cards if deck <= card < inputs.num_rounds * deck]
            assert rounds == [1, 1, 2][: len(deal.board)]


def test_lines_have_features_of_their_own(inputs):
    assert len(np.unique(inputs.lines, axis=0)) == len(inputs.lines)


def test_the_sum_of_codes_gives_the_network_of_the_source(inputs):
    """The network of Brown et al., appendix C, computed as it is printed: embeddings, concatenation, layers."""
    torch.manual_seed(0)
    network = HandBranches(inputs, WIDTH)
    torch.nn.init.normal_(network.head.weight)
    deck = inputs.ranks * inputs.suits
    hands = torch.arange(0, len(inputs.cards), 7)
    lines = torch.arange(len(hands)) % len(inputs.lines)
    groups = torch.zeros(len(hands), inputs.num_rounds, WIDTH)
    for place, hand in enumerate(hands.tolist()):
        for card in inputs.cards[hand].tolist():
            if card < inputs.num_rounds * deck:
                number, card_of_deck = divmod(card, deck)
                groups[place, number] += (
                    network.card_embeddings[number].weight[card_of_deck]
                    + network.rank_embeddings[number].weight[card_of_deck // inputs.suits]
                    + network.suit_embeddings[number].weight[card_of_deck % inputs.suits]
                )
    x = torch.relu(network.first_of_cards(groups.reshape(len(hands), -1)))
    for layer in network.cards:
        x = torch.relu(layer(x))
    y = torch.relu(network.bets[0](torch.from_numpy(inputs.lines)[lines]))
    y = torch.relu(network.bets[1](y) + y)
    z = torch.relu(network.first_of_joined(torch.cat([x, y], 1)))
    for layer in network.joined:
        z = torch.relu(layer(z) + z)
    expected = network.head((z - z.mean(1, keepdim=True)) / (z.std(1, keepdim=True) + 1e-6))
    cards = torch.from_numpy(inputs.cards)[hands].int()
    codes = network.codes_of_cards(cards) + network.codes_of_lines(torch.from_numpy(inputs.lines))[lines]
    torch.testing.assert_close(network.outputs(codes), expected, rtol=1e-4, atol=1e-5)


def test_the_perceptron_reads_each_card_as_a_column_of_its_own(inputs):
    torch.manual_seed(0)
    network = HandPerceptron(inputs, WIDTH, layers=3)
    num_cards = inputs.num_rounds * inputs.ranks * inputs.suits
    hands = torch.arange(0, len(inputs.cards), 7)
    lines = torch.arange(len(hands)) % len(inputs.lines)
    columns = torch.zeros(len(hands), num_cards + 1)
    columns.scatter_(1, torch.from_numpy(inputs.cards)[hands].long(), 1.0)
    x = columns[:, :num_cards] @ network.cards + network.lines(torch.from_numpy(inputs.lines)[lines])
    x = torch.relu(x)
    for layer in network.hidden:
        x = torch.relu(layer(x))
    cards = torch.from_numpy(inputs.cards)[hands].int()
    codes = network.codes_of_cards(cards) + network.codes_of_lines(torch.from_numpy(inputs.lines))[lines]
    torch.testing.assert_close(network.outputs(codes), network.head(x), rtol=1e-4, atol=1e-5)
