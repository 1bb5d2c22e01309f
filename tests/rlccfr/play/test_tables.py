"""Games in play are the games: the mean payoff of many is the policy's value, and cards are dealt fairly."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support import random_policy

import rlccfr
from rlccfr.play.bucket_history_table import BucketHistoryTable
from rlccfr.play.public_table import PublicTable
from rlccfr.play.state_table import StateTable
from rlccfr.play.tables import CompiledTable


def play_out(table, rng):
    """Play a game by the policy, and return its payoff to player 0."""
    while table.actor is not None:
        likely = table.probabilities()
        assert likely.sum() == pytest.approx(1)
        assert len(table.actions()) == len(likely)
        assert table.known(table.actor)
        table.take(int(rng.choice(len(likely), p=likely / likely.sum())))
    return table.payoffs()[0]


def passive(table):
    """Return the number of the action that calls, or checks where there is no bet."""
    (number,) = (number for number, name in enumerate(table.actions()) if name in ("call", "check"))
    return number


@pytest.mark.slow
def test_networks_are_played_against_through_openspiels_states():
    game = rlccfr.load_game("kuhn", form="generated")
    run = rlccfr.Solver(game, "deep_lcfr(hidden=16, traversals=50, train_every=1)", "external")
    run.run(iterations=2)
    check_mean(run.average_policy(), StateTable, 2000)


def test_a_move_that_the_other_player_does_not_see_is_not_shown():
    for name, is_seen in (("phantom_ttt", False), ("leduc", True)):
        policy = rlccfr.NetworkPolicy.uniform(rlccfr.load_game(name, form="generated"))
        table = StateTable(policy, np.random.default_rng(0))
        assert {table.shows(action) for action in range(len(table.actions()))} == {is_seen}


def check_mean(policy, made, games):
    rng = np.random.default_rng(1)
    payoffs = [play_out(made(policy, rng), rng) for _ in range(games)]
    error = np.std(payoffs) / games**0.5
    assert np.mean(payoffs) == pytest.approx(policy.values().game[0], abs=4 * error)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel", "liars_dice(numdice=1,dice_sides=3)"])
def test_compiled_games_have_their_values(name):
    check_mean(random_policy(rlccfr.load_game(name), 0), CompiledTable, 2000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["holdem(ranks=4,suits=2,private=2,flop=1)", "holdem(ranks=3,suits=3,private=1,flop=2)", "bluff(dice=1)"]
)
def test_games_with_a_public_tree_have_their_values(name):
    game = rlccfr.load_game(name)
    policy = rlccfr.PublicPolicy(game, np.random.default_rng(0).exponential(size=game.num_sequences))
    check_mean(policy, PublicTable, 2000)


@pytest.mark.slow
def test_a_subgame_deals_its_ranges_and_has_its_value():
    game = rlccfr.subgame(
        "TdJd6d2d", pot=20, stack=30, oop="AA:0.5,8d7d,KQ:0.1", ip="KK,8d7d,5c4c:0.25", bets="50%, a", raises="2.5x"
    )
    policy = rlccfr.PublicPolicy(game, np.random.default_rng(0).exponential(size=game.num_sequences))
    check_mean(policy, PublicTable, 2000)
    rng = np.random.default_rng(2)
    tables = [PublicTable(policy, rng) for _ in range(2000)]
    assert {table.known(0).split("Board: ")[1].split()[0] for table in tables} == {"JdTd6d2d"}
    assert tables[0].actions() == ["check", "bet 10", "all-in"]
    hands = Counter(tuple(table.known(player).split()[1] for player in (0, 1)) for table in tables)
    # Pairs have the products of weights: 8d7d against a pair of kings 1, aces against 5c4c 0.5 x 0.25.
    often, seldom = hands["8d7d", "KsKh"], hands["AsAh", "5c4c"]
    chance = game.pair_probability * 2000
    assert often == pytest.approx(chance, abs=4 * chance**0.5)
    assert seldom == pytest.approx(chance / 8, abs=4 * (chance / 8) ** 0.5)
    assert ("8d7d", "8d7d") not in hands


@pytest.mark.slow
def test_all_cards_are_dealt_alike():
    policy = rlccfr.PublicPolicy.uniform(rlccfr.load_game("holdem(ranks=3,suits=3,private=1,flop=2)"))
    rng, cards, boards = np.random.default_rng(0), Counter(), Counter()
    for _ in range(3000):
        table = PublicTable(policy, rng)
        cards[table.known(0).split()[1]] += 1
        while table.actor is not None and "Board" not in table.known(0):
            table.take(passive(table))
        board = table.known(0).split("Board: ")[1].split()[0]
        boards.update([board[:2], board[2:4]])
        assert table.known(0).split()[1] not in board
    assert len(cards) == len(boards) == 9
    for count in cards.values():
        assert count == pytest.approx(3000 / 9, abs=4 * (3000 / 9) ** 0.5)
    for count in boards.values():
        assert count == pytest.approx(6000 / 9, abs=4 * (6000 / 9) ** 0.5)


def test_the_stronger_hand_wins():
    policy = rlccfr.PublicPolicy.uniform(rlccfr.load_game("holdem(ranks=4,suits=2,private=1,flop=1)"))
    ranks, rng, met = "2345", np.random.default_rng(0), Counter()
    for _ in range(300):
        table = PublicTable(policy, rng)
        while table.actor is not None:
            table.take(passive(table))
        own, other = (table.known(player).split()[1][0] for player in (0, 1))
        board = table.known(0).split("Board: ")[1][0]
        strengths = [(rank == board, ranks.index(rank)) for rank in (own, other)]
        expected = np.sign((strengths[0] > strengths[1]) - (strengths[0] < strengths[1]))
        assert np.sign(table.payoffs()[0]) == expected
        met[int(expected)] += 1
    assert set(met) == {-1, 0, 1}


def test_one_checks_where_there_is_no_bet():
    policy = rlccfr.PublicPolicy.uniform(rlccfr.load_game("holdem(ranks=4,suits=2,private=1,flop=1)"))
    table = PublicTable(policy, np.random.default_rng(0))
    assert table.actions() == ["fold", "call", "raise"]
    table.take(1)
    assert table.actions() == ["check", "raise"]
    table.take(0)
    assert "Moves: call check |" in table.known(0)


BETTING = "rounds=3,raises=2,ranks=4,suits=2,private=1,flop=1"


@pytest.mark.parametrize(
    "new_table",
    [
        lambda: PublicTable(
            rlccfr.PublicPolicy.uniform(rlccfr.load_game(f"holdem({BETTING})")), np.random.default_rng(0)
        ),
        pytest.param(
            lambda: BucketHistoryTable(
                rlccfr.BucketHistoryPolicy.uniform(rlccfr.load_game(f"holdem({BETTING},buckets=2)")),
                np.random.default_rng(0),
            ),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_pot_has_the_blinds_and_all_bets(new_table):
    """Blinds are 1 and 2 chips; bets are 2 chips in the first round and 4 later."""
    table = new_table()
    for move, pot in (
        *(("raise", 3), ("call", 6)),
        *(("check", 8), ("raise", 8), ("raise", 12), ("call", 20)),
        *(("raise", 24), ("call", 28)),
    ):
        assert table.actor is not None
        assert f"  Pot: {pot}  " in table.known(table.actor), move
        table.take(list(table.actions()).index(move))
    assert table.actor is None
    assert "Pot" not in table.known(0)


def test_the_pot_of_a_spot_is_its_pot_and_all_bets():
    spot = rlccfr.subgame("Td9d6hQcJs", pot=10, stack=20, oop="AA", ip="KK", bets="50%,a")
    table = PublicTable(rlccfr.PublicPolicy.uniform(spot), np.random.default_rng(0))
    assert "  Pot: 10  " in table.known(0)
    table.take(1)
    assert "  Pot: 15  " in table.known(1)


@pytest.mark.parametrize(("name", "end"), [("kuhn", "pp"), ("leduc", "[Round1: 1 1][Round2: 1 1]")])
def test_all_moves_are_known_at_the_end(name, end):
    policy = rlccfr.Policy.uniform(rlccfr.load_game(name))
    table = CompiledTable(policy, np.random.default_rng(0))
    while table.actor is not None:
        table.take(0)
    assert all(table.known(player).endswith(end) for player in (0, 1))
