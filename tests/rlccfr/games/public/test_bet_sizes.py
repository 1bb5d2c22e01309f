"""Bet sizes: the grammar, amounts by hand, thresholds, and streets of betting."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import rlccfr
from rlccfr.games.public.bet_sizes import BetRules, Facing, amounts_of, parsed_sizes, sizes_by_street
from rlccfr.games.public.betting import RoundEnd, no_limit_round
from rlccfr.games.public.records import FOLD

RULES = BetRules(
    pot=200, stack=900, sizes=(), add_allin=Fraction(0), force_allin=Fraction(0), merging=Fraction(0),
    commit=Fraction(1), min_bet=1, chip=Fraction(1),
)  # fmt: skip
FIRST = Facing(pot=200, bet=0, increase=0, most=900, streets=2)
AFTER_BET = Facing(pot=440, bet=120, increase=120, most=900, streets=2)


def amounts(text: str, facing: Facing, **thresholds: str) -> list[int]:
    sizes = parsed_sizes(text, "sizes", raises=facing.bet > 0)
    exact = {name: Fraction(threshold) for name, threshold in thresholds.items()}
    return amounts_of(replace(RULES, **exact), sizes, facing)


@pytest.mark.parametrize(
    ("text", "facing", "expected"),
    [
        ("60%", FIRST, [120]),
        ("60", FIRST, [120]),
        ("33.3%", FIRST, [67]),  # 66.6
        ("0.25%", FIRST, [1]),  # half a chip goes upwards
        ("e", FIRST, [216]),  # pots of 200, 632.4, 2000: 108.1 % of the pot on both streets
        ("2e", FIRST, [216]),
        ("1e", FIRST, [900]),
        ("3e", FIRST, [115]),
        ("2e80%", FIRST, [160]),
        ("100c", FIRST, [100]),
        ("a", FIRST, [900]),
        ("a450%, 50%", FIRST, [100, 900]),
        ("a449%, 50%", FIRST, [100]),
        ("500%", FIRST, [900]),
        ("60%, e, a", FIRST, [120, 216, 900]),
        ("50%, 100c", FIRST, [100]),
        ("2.5x", AFTER_BET, [300]),
        ("50%", AFTER_BET, [340]),
        ("200c", AFTER_BET, [320]),
        ("1.5x", AFTER_BET, [240]),  # the least raise goes up as much as the bet
        ("1e", AFTER_BET, [900]),
        ("", AFTER_BET, []),
    ],
)
def test_amounts_by_hand(text, facing, expected):
    assert amounts(text, facing) == expected


def test_thresholds_by_hand():
    near = replace(FIRST, most=300)
    assert amounts("50%", near, add_allin="1.5") == [100, 300]  # 300 is at most 1.5 times 200
    assert amounts("50%", near, add_allin="1.4") == [100]
    assert amounts("", near, add_allin="1.5") == []
    # After a bet of 200 and a call, 100 chips are left for a pot of 600.
    assert amounts("100%", near, force_allin="1/6") == [300]
    assert amounts("100%", near, force_allin="0.16") == [200]
    assert amounts("100%", FIRST, commit="0.2") == [900]
    assert amounts("100%", FIRST, commit="0.23") == [200]
    # 603 of 900 chips are exactly 67 %, and 602 are less.
    assert amounts("603c", FIRST, commit="0.67") == [900]
    assert amounts("602c", FIRST, commit="0.67") == [602]
    # In per cent of the pot: (100 + 100) / (100 + 85) = 1.08 is below 1.1, and (100 + 100) / (100 + 80) = 1.11 is not.
    assert amounts("100%, 85%", FIRST, merging="0.1") == [200]
    assert amounts("100%, 80%", FIRST, merging="0.1") == [160, 200]
    # Each size is compared with the next larger one that is kept: 100 %, 91 % and 83 % are close in a row.
    assert amounts("100%, 91%, 83%", FIRST, merging="0.05") == [166, 200]


def test_small_chips_and_smallest_bets():
    sizes = parsed_sizes("33%, 2.5c", "bets", raises=False)
    cents = replace(RULES, pot=500, stack=2000, chip=Fraction(1, 100))
    facing = Facing(pot=500, bet=0, increase=0, most=2000, streets=1)
    assert amounts_of(cents, sizes, facing) == [165, 250]
    assert amounts_of(replace(cents, min_bet=200), sizes, facing) == [200, 250]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("50", "2x", 5), "donk of the flop must be a string of sizes, such as '33%, 75%', not 5"),
        (("big", "", None), "bets of the flop: 'big' is not a size; sizes are like '33%'"),
        (("2x", "", None), "bets of the flop: '2x' is not a size of a first bet, since only raises are multiples"),
        (("50%", "1x", None), "raises of the flop: '1x' is not a size, since a raise must be to more than the bet"),
        (("0%", "", None), "bets of the flop: '0%' has the number 0; leave this size out"),
        (("4e", "", None), "bets of the flop: '4e' is not a size, since geometric bets are for one to three streets"),
        ((("50%", "50%", "50%"), "", None), "bets of the flop has 3 strings; give one, or one for each player"),
        (("50%", ["2x", "a"], None), "raises of the flop is a list: write one string"),
        (({"preflop": "50%"}, "", None), "streets are flop, turn, river"),
        (("50%", "", {"rivers": "50%"}), "donk has an unknown street 'rivers'"),
    ],
)
def test_bad_sizes_are_refused_in_one_line(arguments, message):
    with pytest.raises(rlccfr.GameError, match=message) as error:
        sizes_by_street(*arguments)
    assert "\n" not in str(error.value)


def moves_of(tree, node: int) -> list[str]:
    first = tree.first_child[node]
    return tree.moves[first : first + tree.counts[node]]


def test_a_street_of_betting_by_hand():
    sizes = sizes_by_street("50%", ("", "2x, a"), {"river": "a"})
    rules = replace(RULES, pot=20, stack=30, sizes=sizes)
    tree = no_limit_round(rules, 1, RoundEnd(0))
    assert moves_of(tree, 0) == ["c", "b10"]
    after_bet = tree.moves.index("b10")
    assert moves_of(tree, after_bet) == ["f", "c", "r20", "a"]
    raised = tree.moves.index("r20")
    assert moves_of(tree, raised) == ["f", "c"]  # the player out of position never raises
    folds = [tree.payoffs[node] for node in range(tree.size) if tree.kinds[node] == FOLD]
    # Half of the pot is lost, and what was put in: by player 1 at once, by player 0 after a check, and after its bet.
    assert sorted(folds) == [-20, -20, -10, 10]
    assert tree.payoffs[tree.first_child[after_bet]] == 10  # player 1 loses its half of the pot
    ends = {(end.spent, end.bettor) for end in tree.ends.values()}
    assert ends == {(0, -1), (10, 0), (10, 1), (20, 1), (30, 1)}


def test_donk_sizes_follow_the_opponents_bet():
    rules = replace(RULES, pot=20, stack=30, sizes=sizes_by_street("50%", "", {"river": "a"}))
    after = {bettor: moves_of(no_limit_round(rules, 2, RoundEnd(10, bettor)), 0) for bettor in (-1, 0, 1)}
    assert after == {-1: ["c", "a"], 0: ["c", "a"], 1: ["c", "a"]}  # half of 40 is all that is left
    rules = replace(rules, stack=100)
    after = {bettor: moves_of(no_limit_round(rules, 2, RoundEnd(10, bettor)), 0) for bettor in (-1, 0, 1)}
    assert after == {-1: ["c", "b20"], 0: ["c", "b20"], 1: ["c", "a"]}


def test_nobody_acts_after_an_all_in():
    rules = replace(RULES, pot=20, stack=30, sizes=sizes_by_street("50%", "", None))
    tree = no_limit_round(rules, 2, RoundEnd(30, 1))
    assert tree.size == 1
    assert tree.ends[0].spent == 30


def test_too_many_moves_are_refused(monkeypatch):
    monkeypatch.setattr("rlccfr.games.public.betting.MOST_NODES", 100)
    rules = replace(RULES, pot=20, stack=3000, sizes=sizes_by_street("1c, 2c, 3c", "2x, 3x, 4x", None))
    with pytest.raises(rlccfr.GameError, match="more than 100 nodes: use fewer bet sizes"):
        no_limit_round(rules, 2, RoundEnd(0))
