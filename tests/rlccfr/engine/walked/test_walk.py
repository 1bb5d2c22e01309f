"""Walks in step: their estimates beside exact ones, and the histories that they meet beside a count by hand."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import rlccfr
from rlccfr.engine.public.evaluation import public_action_values
from rlccfr.engine.walked.tabulated import tabulated
from rlccfr.engine.walked.walk import sampled_walks
from rlccfr.games.public.masses import row_masses
from rlccfr.games.public.records import CHANCE
from rlccfr.games.walked.holdem import HoldemWalks
from rlccfr.policies.public_policy import PublicPolicy
from rlccfr.testing import smallest_p

GAMES = (
    "holdem(ranks=6,suits=2)",
    "holdem(rounds=3,ranks=4,suits=2,private=1,flop=1)",
    "holdem(rounds=1,ranks=4,suits=3,raises=2)",
    "holdem(ranks=3,suits=3,private=1,flop=2,raises=2)",
)
LEVEL = 1e-3
"""Level of significance for all entries of all games together."""

BATCHES = 40
WALKS = 2000
SUMS = 4


def by_row(walks: HoldemWalks, table: np.ndarray) -> np.ndarray:
    """Return a table of a game as an array (hands, lines, actions), as networks know its entries."""
    game = walks.game
    found = np.zeros((len(walks.cards), len(walks.line_moves), walks.num_actions))
    for node in game.decisions.tolist():
        record = game.view.nodes[node]
        first, hand = int(record["table"]), int(game.view.deals["edge"][record["deal"], record["kind"]])
        rows = int(game.view.deals["rows"][record["deal"], record["kind"]])
        columns = [walks.actions.index(letter) for letter in game.letters(node)]
        entries = table[first : first + rows * len(columns)].reshape(len(columns), rows)
        for column, of_action in zip(columns, entries, strict=True):
            found[hand : hand + rows, walks.line[node], column] = of_action
    return found


@pytest.fixture(params=GAMES)
def setting(request):
    """Return a game for walks, and a random policy of it."""
    game = rlccfr.load_game(request.param)
    table = np.random.default_rng(3).random(game.num_sequences) ** 3
    return HoldemWalks(game), PublicPolicy.from_sums(game, table)


def test_a_table_by_rows_is_written_back_as_it_was(setting):
    walks, policy = setting
    rows = by_row(walks, policy.probabilities)
    np.testing.assert_array_equal(
        tabulated(walks, lambda player, known, legal: rows[known["hand"], known["line"]]), policy.probabilities
    )


@pytest.mark.slow
@pytest.mark.parametrize("player", [0, 1])
def test_estimates_are_unbiased(setting, player):
    walks, policy = setting
    probabilities = by_row(walks, policy.probabilities)

    def policies(player, rows, legal):
        return probabilities[rows["hand"], rows["line"]]

    # Most hands are met too rarely for a test of their own, so sums over hands with random weights are tested.
    weights = np.random.default_rng(4).random((SUMS, len(walks.cards)))
    batches = []
    for seed in range(BATCHES):
        data = sampled_walks(walks, player, policies, WALKS, np.random.default_rng([seed, player]))
        gains, increments = np.zeros((2, *probabilities.shape))
        np.add.at(gains, (data.traverser_rows["hand"], data.traverser_rows["line"]), data.gains / WALKS)
        met = data.opponent_rows["hand"], data.opponent_rows["line"]
        np.add.at(increments, met, data.opponent_policies / WALKS)
        batches.append(summed(data.value.mean(), gains, increments, weights))
    expected = summed(policy.values().game[player], *exact(walks, policy, player), weights)
    p, tested = smallest_p(np.array(batches), expected)
    assert p > LEVEL / (2 * len(GAMES))
    assert tested > 20


def summed(value: float, gains: np.ndarray, increments: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return a value, and weighted sums over hands of arrays (hands, lines, actions), one after another."""
    return np.concatenate([[value], *(np.tensordot(weights, array, 1).ravel() for array in (gains, increments))])


def exact(walks: HoldemWalks, policy: PublicPolicy, player: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a player's regrets and the opponent's increments of the average, (hands, lines, actions) each."""
    game = walks.game
    # A row's value is that of one hand on one board; its mass counts how many hands and boards it stands for.
    mass = game.pair_probability * row_masses(game, player)
    values = by_row(walks, public_action_values(game, policy.probabilities, [player])) * mass[:, None, None]
    probabilities = by_row(walks, policy.probabilities)
    gains = values - (values * probabilities).sum(axis=2, keepdims=True)
    gains[~(values != 0).any(axis=2)] = 0.0
    is_legal = np.zeros(probabilities.shape, bool)
    is_legal[:, walks.legal_actions] = True
    return np.where(is_legal, gains, 0.0), reached(walks, policy, 1 - player) * probabilities


def reached(walks: HoldemWalks, policy: PublicPolicy, player: int) -> np.ndarray:
    """Return the probability that chance and a player lead to each of its rows, (hands, lines, 1)."""
    game = walks.game
    nodes = game.view.nodes
    mass = row_masses(game, player) * game.pair_probability
    deck = game.deals[0].deck
    found = np.zeros((len(walks.cards), len(walks.line_moves), 1))

    def visit(node: int, reach: np.ndarray) -> None:
        record = nodes[node]
        edge = int(game.view.deals["edge"][record["deal"], player])
        first, count = int(record["first_child"]), int(record["num_children"])
        if record["kind"] == CHANCE:
            for child in range(first, first + count):
                child_edge = int(game.view.deals["edge"][nodes["deal"][child], player])
                rows = int(game.view.deals["rows"][nodes["deal"][child], player])
                visit(child, reach[game.view.above[child_edge : child_edge + rows]])
            return
        if record["kind"] == player:
            # A mass counts the player's hands, not those that the other player may hold beside them.
            num_unseen = deck.size - deck.private - len(game.deals[record["deal"]].board)
            num_pairs = mass[edge : edge + len(reach)] * comb(num_unseen, deck.private)
            found[edge : edge + len(reach), walks.line[node], 0] = reach * num_pairs
            for place, played in enumerate(policy.at(node)):
                visit(first + place, reach * played)
        elif record["kind"] < CHANCE:
            for child in range(first, first + count):
                visit(child, reach)

    visit(0, np.ones(int(game.view.deals["rows"][0, player])))
    return found


def test_as_many_histories_are_met_as_expected():
    walks = HoldemWalks(rlccfr.load_game(GAMES[0]))
    nodes = walks.game.view.nodes

    def expected(node: int, traverser: int) -> float:
        """Return how many histories a walk meets at and below a node if policies are uniform, whatever the cards."""
        kind = int(nodes["kind"][node])
        first, count = int(nodes["first_child"][node]), int(nodes["num_children"][node])
        below = [expected(child, traverser) for child in range(first, first + count)]
        if kind == CHANCE:  # the betting is the same on all boards
            return below[0]
        return 1 + (sum(below) if kind == traverser else sum(below) / max(count, 1))

    def uniform(player, rows, legal):
        return legal / legal.sum(axis=1, keepdims=True)

    for player in (0, 1):
        data = sampled_walks(walks, player, uniform, 100_000, np.random.default_rng(player))
        assert data.num_states / 100_000 == pytest.approx(expected(0, player), rel=0.01)
