"""Best responses by hand and board, beside those counted out in plain Python."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import rlccfr
from rlccfr.engine.bucket_histories.card_responses import CardResponses
from rlccfr.games.public.cards import strengths
from rlccfr.games.public.records import CHANCE, FOLD
from rlccfr.policies.bucket_history_policy import BucketHistoryPolicy

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

NAMES = (
    "holdem(rounds=3,ranks=3,suits=2,private=1,flop=1,buckets=2)",
    "holdem(rounds=2,raises=2,ranks=3,suits=2,private=2,flop=1,buckets=2)",
    "holdem(rounds=2,raises=2,ranks=4,suits=2,private=1,flop=2,buckets=3)",
)


def random_policy(name, seed):
    game = rlccfr.load_game(name)
    return BucketHistoryPolicy(game, np.random.default_rng(seed).exponential(size=game.num_sequences) - 0.3)


class PlainResponse:
    """A player that follows a policy or, after the flop, responds to it, with one hand at a time."""

    def __init__(self, policy, player, flop, responds):
        self.policy = policy
        self.player = player
        self.flop = flop
        self.responds = responds
        self.deck = policy.game.bucketing.deck
        self.new_cards = policy.game.bucketing.boards.new_cards

    def value(self):
        """Return the value over all pairs of hands, given the flop."""
        left = sorted(set(range(self.deck.size)) - set(self.flop))
        pairs = [
            (hand, other)
            for hand in combinations(left, self.deck.private)
            for other in combinations(sorted(set(left) - set(hand)), self.deck.private)
        ]
        total = 0.0
        for hand in combinations(left, self.deck.private):
            weights = {other: 1 / len(pairs) for own, other in pairs if own == hand}
            total += self.value_at(hand, (), weights, 0, 0, 0)
        return total

    def history(self, hand, board, number):
        """Return a hand's history; that of the first round does not depend on the board, so any will do."""
        left = [card for card in range(self.deck.size) if card not in hand]
        known = board if number else tuple(left[: self.new_cards[1]])
        return self.policy.game.bucketing.histories_of([hand], [known])[0, number]

    def value_at(self, hand, board, weights, number, node, line):
        """Return the value with a hand at a node; ``weights`` has the probability of each of the opponent's hands."""
        betting = self.policy.game.rounds[number]
        record = betting.nodes[node]
        sign = 1 if self.player == 0 else -1
        leaf = record["leaf"] * betting.num_lines + line
        if record["kind"] == FOLD:
            return sum(weights.values()) * sign * betting.fold_payoffs[leaf]
        if record["kind"] == CHANCE and number + 1 == len(self.new_cards):
            others = np.array([other + board for other in weights])
            own = strengths(np.array([hand + board]), self.deck.ranks, self.deck.suits)[0]
            signs = np.sign(own - strengths(others, self.deck.ranks, self.deck.suits))
            return betting.pots[leaf] * float(signs @ np.array(list(weights.values())))
        if record["kind"] == CHANCE:
            return sum(
                self.value_at(hand, board + dealt, after, number + 1, 0, leaf)
                for dealt, after in self.dealt(hand, board, weights, number + 1)
            )
        children = range(record["first_child"], record["first_child"] + record["num_children"])
        if record["kind"] != self.player:
            likely = {
                other: self.policy.at(number, node, self.history(other, board, number))[:, line] for other in weights
            }
            return sum(
                self.value_at(hand, board, {o: w * likely[o][k] for o, w in weights.items()}, number, child, line)
                for k, child in enumerate(children)
            )
        values = [self.value_at(hand, board, weights, number, child, line) for child in children]
        if self.responds and number:
            return max(values)
        return float(self.policy.at(number, node, self.history(hand, board, number))[:, line] @ np.array(values))

    def dealt(self, hand, board, weights, number):
        """Yield the cards that a round deals, and the weights after it."""
        if number == 1:  # the flop is given
            yield self.flop, weights
            return
        left = sorted(set(range(self.deck.size)) - set(hand) - set(board))
        num_boards = len(list(combinations(range(len(left) - self.deck.private), self.new_cards[number])))
        for cards in combinations(left, self.new_cards[number]):
            yield cards, {o: w / num_boards for o, w in weights.items() if not set(o) & set(cards)}


@pytest.mark.parametrize("name", NAMES)
def test_gains_are_those_in_plain_python(name):
    policy = random_policy(name, 1)
    responses = CardResponses(policy.game, policy.table)
    deck = policy.game.bucketing.deck
    size = policy.game.bucketing.boards.sizes[1]
    for flop in list(combinations(range(deck.size), size))[:4]:
        expected = [
            PlainResponse(policy, player, flop, True).value() - PlainResponse(policy, player, flop, False).value()
            for player in range(2)
        ]
        assert responses.gains(flop) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "name",
    [
        "holdem(rounds=3,ranks=4,suits=2,private=1,flop=1,buckets=3)",
        "holdem(rounds=2,raises=2,ranks=4,suits=2,private=2,flop=2,buckets=4)",
    ],
)
def test_the_mean_gain_lies_below_the_exploitability_in_the_game_of_cards(name):
    """Runs on the compiled game with the same buckets have the same policy, and know that exploitability."""
    plain_name, _, buckets = name.removesuffix(")").rpartition(",")
    compiled = rlccfr.Solver(rlccfr.load_game(f"{plain_name})"), "cfr", abstraction=f"equity({buckets})", reduce=False)
    solver = rlccfr.Solver(rlccfr.load_game(name), "cfr")
    compiled.run(iterations=5, curve=False)
    solver.run(iterations=5, curve=False)
    policy = solver.average_policy()
    assert policy.exploitability() == pytest.approx(compiled.abstract_values().exploitability, abs=1e-12)
    responses = CardResponses(policy.game, policy.table)
    boards = policy.game.bucketing.boards
    flops = combinations(range(boards.deck.size), boards.sizes[1])
    bound = np.mean([sum(responses.gains(flop)) / 2 for flop in flops])
    assert 0 < bound <= compiled.values().exploitability + 1e-12
    drawn = policy.card_exploitability(boards=200, seed=1)
    assert drawn.value == pytest.approx(bound, abs=2 * drawn.error)


def test_bad_numbers_get_one_line():
    with pytest.raises(rlccfr.PolicyError, match="boards must be"):
        random_policy(NAMES[0], 1).card_exploitability(boards=1)
    with pytest.raises(rlccfr.PolicyError, match="has only one round, without a board"):
        random_policy("holdem(rounds=1,ranks=6,suits=2,buckets=2)", 1).card_exploitability()
