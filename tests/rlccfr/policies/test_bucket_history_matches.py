"""Matches in hold'em in buckets: beside games counted out by hand, and between different numbers of buckets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import rlccfr
from rlccfr.errors import PolicyError
from rlccfr.games.public.cards import strengths
from rlccfr.games.public.records import CHANCE, FOLD
from rlccfr.play.bucket_history_table import BucketHistoryTable
from rlccfr.policies.bucket_history_policy import BucketHistoryPolicy
from rlccfr.policies.matches import exact_match, played_match

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

ONE_CARD = "holdem(rounds=3,ranks=3,suits=2,private=1,flop=1"
TWO_CARDS = "holdem(rounds=2,raises=2,ranks=3,suits=2,private=2,flop=2"


def in_buckets(name, buckets):
    return rlccfr.load_game(f"{name},buckets={buckets})")


def random_policy(name, buckets, seed, dtype=float):
    game = in_buckets(name, buckets)
    entries = np.random.default_rng(seed).exponential(size=game.num_sequences) - 0.3
    return BucketHistoryPolicy(game, entries.astype(dtype))


def all_boards(cards, new_cards):
    """Yield all boards in the order in which rounds deal them; the cards of one round in ascending order."""
    if not new_cards:
        yield ()
        return
    for dealt in combinations(cards, new_cards[0]):
        rest = [card for card in cards if card not in dealt]
        yield from (dealt + later for later in all_boards(rest, new_cards[1:]))


def payoff_of_deal(players, histories, sign, number=0, node=0, line=0):
    """Return player 0's expected payoff in one deal, by walking through all betting in plain Python.

    Args:
        players: both players' policies.
        histories: each player's bucket history in each round.
        sign: 1 if player 0's hand is stronger, -1 if player 1's is, 0 for a tie.
    """
    rounds = players[0].game.rounds
    record = rounds[number].nodes[node]
    leaf = record["leaf"] * rounds[number].num_lines + line
    if record["kind"] == FOLD:
        return rounds[number].fold_payoffs[leaf]
    if record["kind"] == CHANCE and number == len(rounds) - 1:
        return sign * rounds[number].pots[leaf]
    if record["kind"] == CHANCE:
        return payoff_of_deal(players, histories, sign, number + 1, 0, leaf)
    player = record["kind"]
    likely = players[player].at(number, node, histories[player][number])[:, line]
    children = range(record["first_child"], record["first_child"] + record["num_children"])
    return sum(
        probability * payoff_of_deal(players, histories, sign, number, child, line)
        for probability, child in zip(likely, children, strict=True)
    )


def value_by_hand(first, second):
    """Return player 0's mean payoff over all deals."""
    bucketing = first.game.bucketing
    deck = bucketing.deck
    payoffs = []
    for hand in combinations(range(deck.size), deck.private):
        for other in combinations(sorted(set(range(deck.size)) - set(hand)), deck.private):
            left = sorted(set(range(deck.size)) - set(hand) - set(other))
            for board in all_boards(left, bucketing.boards.new_cards[1:]):
                own, others = strengths(np.array([hand + board, other + board]), deck.ranks, deck.suits)
                histories = [
                    player.game.bucketing.histories_of([cards], [board])[0].tolist()
                    for player, cards in ((first, hand), (second, other))
                ]
                payoffs.append(payoff_of_deal((first, second), histories, np.sign(own - others)))
    return np.mean(payoffs)


@pytest.mark.parametrize(("name", "first", "second"), [(ONE_CARD, 2, 3), (TWO_CARDS, 3, 2), (TWO_CARDS, 1, 4)])
def test_payoffs_are_those_of_all_deals(name, first, second):
    one = random_policy(name, first, 1)
    other = random_policy(name, second, 2)
    found = one.against(other)
    assert found.seats == pytest.approx((value_by_hand(one, other), -value_by_hand(other, one)), abs=1e-12)
    assert other.against(one).value == pytest.approx(-found.value, abs=1e-12)


def test_within_one_game_the_passes_are_those_of_the_game():
    one, other = (random_policy(ONE_CARD, 2, seed) for seed in (1, 2))
    assert one.against(other).seats[0] == pytest.approx(value_by_hand(one, other), abs=1e-12)
    assert one.against(other).seats[0] == one.seated_with(other).values().game[0]


def test_finer_buckets_in_both_precisions_meet():
    one = random_policy(ONE_CARD, 2, 1, np.float32)
    other = random_policy(ONE_CARD, 3, 2)
    doubled = BucketHistoryPolicy(one.game, one.table.astype(float))
    assert one.against(other).seats == doubled.against(other).seats


@pytest.mark.parametrize(("name", "first", "second"), [(ONE_CARD, 2, 3), (TWO_CARDS, 2, 2)])
def test_games_played_out_have_the_exact_payoffs_as_their_mean(name, first, second):
    one = random_policy(name, first, 1)
    other = random_policy(name, second, 2)
    exact = exact_match(one, other)
    found = played_match(one, other, one.game, pairs=100_000, seed=1)
    assert found.pairs == 100_000
    # The half-width is 1.96 standard errors.
    assert found.value == pytest.approx(exact.value, abs=2 * found.error)
    assert found.seats == pytest.approx(exact.seats, abs=6 * found.error)
    assert found == played_match(one, other, one.game, pairs=100_000, seed=1)


def test_the_same_cards_in_both_games_take_the_luck_out():
    """A policy that plays against itself without drawing any action wins nothing over a pair."""
    game = in_buckets(ONE_CARD, 3)
    always = BucketHistoryPolicy(game, random_policy(ONE_CARD, 3, 1).best_response().table)
    found = played_match(always, always, game, pairs=1000)
    assert (found.value, found.error) == (0.0, 0.0)
    assert found.seats[0] == -found.seats[1] != 0.0


def test_other_cards_and_other_betting_are_refused_in_one_line():
    one = random_policy(ONE_CARD, 2, 1)
    for other in (random_policy(TWO_CARDS, 2, 1), random_policy(f"{ONE_CARD},raises=3", 2, 1)):
        for meet in (exact_match, lambda a, b: played_match(a, b, a.game, pairs=2)):
            with pytest.raises(PolicyError, match="the cards or the betting differ") as caught:
                meet(one, other)
            assert "\n" not in str(caught.value)
    with pytest.raises(PolicyError, match="which is not in buckets: use a policy of the first game"):
        one.against(rlccfr.Policy.uniform(rlccfr.load_game("kuhn")))


@pytest.mark.parametrize(("name", "buckets"), [(ONE_CARD, 2), (TWO_CARDS, 3)])
def test_games_at_the_table_have_the_policys_value(name, buckets):
    policy = random_policy(name, buckets, 1)
    rng = np.random.default_rng(2)
    payoffs = []
    for _ in range(2000):
        table = BucketHistoryTable(policy, rng)
        while (actor := table.actor) is not None:
            likely = table.probabilities()
            assert len(table.actions()) == len(likely)
            assert table.known(actor).startswith("Cards: ")
            table.take(int(rng.choice(len(likely), p=likely / likely.sum())))
        payoffs.append(table.payoffs()[0])
        assert table.payoffs()[1] == -payoffs[-1]
    error = np.std(payoffs) / len(payoffs) ** 0.5
    assert np.mean(payoffs) == pytest.approx(policy.values().game[0], abs=4 * error)


def test_policies_are_asked_by_cards():
    policy = random_policy(TWO_CARDS, 3, 1)
    bucketing = policy.game.bucketing
    history = bucketing.histories_of([[0, 5]], [[1, 4]])[0, -1]  # 4d2c on 4c2d
    assert policy.action_probabilities("cc/4c2d/c", "2c4d") == policy.action_probabilities("cc/c", history)
    assert policy.action_probabilities("r", "2c4d") == policy.action_probabilities(
        "r", bucketing.history_named("4d2c", [])
    )


@pytest.mark.parametrize(
    ("path", "hand", "message"),
    [
        ("cc/4c2d/c", "2c", "is not a hand and a board: the numbers of cards must be 2/2, and no card may come twice"),
        ("cc/4c/c", "2c4d", "is not a hand and a board"),
        ("cc/4c2c/c", "2c4d", "is not a hand and a board"),
        ("cc/4c9h/c", "2c4d", "'9h' is not a card of the deck; a card is one of 234 and one of cd, such as 4c"),
        ("cc/4c2/c", "2c4d", "'2' is not a card of the deck"),
        ("cc/c", "2c4d", "nobody acts after 'cc/c' .*: if you give a hand, the path must also contain the cards"),
        ("c/4c2d", "2c4d", "has the cards of 1 deals, but 0 come before the decision: give the cards of each round"),
    ],
)
def test_wrong_cards_get_one_line(path, hand, message):
    with pytest.raises(rlccfr.GameError, match=message) as caught:
        random_policy(TWO_CARDS, 3, 1).action_probabilities(path, hand)
    assert "\n" not in str(caught.value)
