"""Classes of infosets and sequences, against a refinement in plain Python that compares all that a node sees."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pyspiel
import pytest
from random_games import PlantedGame, RandomGame
from support import game

import rlccfr
from rlccfr.games import symmetry
from rlccfr.games.flat_tree import Classes
from rlccfr.games.quotient import quotient
from rlccfr.games.symmetry import payoff_matrix, refine

TWO_ROUNDS = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=2 2,"
    "numSuits=2,numRanks=4,numHoleCards=1,numBoardCards=0 1)"
)
BATTLESHIP = "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2)"


def plain_classes(tree):
    """Return the classes of infosets and sequences as lists, refined with multisets of rounded numbers."""
    view, size, payoff = tree.view, tree.num_sequences, payoff_matrix(tree.view).tocoo()
    paid = [[] for _ in range(size + 2)]
    for row, column, value in zip(payoff.row, payoff.col, payoff.data):
        paid[row].append((round(value, 12), column))
        paid[column].append((round(value, 12), row))
    met = [
        [
            (round(view.mass_probability[k], 12), view.mass_sequence[k])
            for k in range(view.mass_begin[i], view.mass_begin[i + 1])
        ]
        for i in range(tree.num_infosets)
    ]
    actions = [range(*tree.infoset_sequences(i).indices(size)) for i in range(tree.num_infosets)]
    owner = {k: i for i, own in enumerate(actions) for k in own}
    below = [[i for i in range(tree.num_infosets) if view.parent[i] == k] for k in range(size + 2)]
    infoset = [(i >= view.infoset_begin[1], len(actions[i])) for i in range(tree.num_infosets)]
    sequence = [0] * size + [1, 2]
    while True:
        seen_by_infosets = [
            (
                infoset[i],
                sequence[view.parent[i]],
                counted(sequence[k] for k in actions[i]),
                counted((p, sequence[k]) for p, k in met[i]),
            )
            for i in range(tree.num_infosets)
        ]
        seen_by_sequences = [
            (
                sequence[k],
                infoset[owner[k]] if k in owner else None,
                counted((value, sequence[other]) for value, other in paid[k]),
                counted(infoset[i] for i in below[k]),
            )
            for k in range(size + 2)
        ]
        before = len(set(infoset)), len(set(sequence))
        infoset, sequence = numbered(seen_by_infosets), numbered(seen_by_sequences)
        if before == (len(set(infoset)), len(set(sequence))):
            return infoset, sequence


def counted(colours):
    return frozenset(Counter(colours).items())


def numbered(seen):
    """Return the number of each of these among the distinct ones, by first occurrence."""
    numbers = {}
    return [numbers.setdefault(one, len(numbers)) for one in seen]


@pytest.mark.parametrize(
    "name",
    [
        "kuhn",
        "goofspiel",
        "leduc",
        "dark_hex(board_size=2)",
        BATTLESHIP,
        pytest.param(TWO_ROUNDS, marks=pytest.mark.slow),
    ],
)
def test_the_classes_are_those_of_a_plain_refinement(name):
    tree = game(name)
    assert tuple(map(list, tree.classes)) == tuple(plain_classes(tree))


@pytest.mark.parametrize(
    ("name", "infosets"),
    [("kuhn", 12), ("leduc", 288), ("dark_hex(board_size=2)", 52), (BATTLESHIP, 7), (TWO_ROUNDS, 504)],
)
def test_the_numbers_of_classes_of_named_games(name, infosets):
    assert game(name).classes.infoset.max() + 1 == infosets


def test_leducs_classes_are_the_infosets_of_leduc_without_suits():
    """OpenSpiel's variant shows ranks only; its infosets are what suits can't tell apart."""
    without = pyspiel.load_game("leduc_poker(suit_isomorphism=True)")
    assert game("leduc").classes.infoset.max() + 1 == len(information_states(without))


def information_states(spiel):
    found, stack = set(), [spiel.new_initial_state()]
    while stack:
        state = stack.pop()
        if not state.is_chance_node() and not state.is_terminal():
            found.add((state.current_player(), state.information_state_string()))
        stack += [] if state.is_terminal() else [state.child(action) for action in state.legal_actions()]
    return found


def test_planted_copies_have_the_classes_of_one(tmp_path):
    for seed in range(20):
        one = rlccfr.load_game(RandomGame(Random(seed)).write(tmp_path / f"one-{seed}.efg"))
        planted = rlccfr.load_game(PlantedGame(Random(seed)).write(tmp_path / f"planted-{seed}.efg"))
        assert planted.num_infosets == 3 * one.num_infosets, seed
        assert planted.classes.infoset.max() == one.classes.infoset.max(), seed
        assert planted.classes.sequence.max() == one.classes.sequence.max(), seed


@pytest.mark.parametrize("hidden", [(), (0,), (1,)])
def test_random_games_have_the_classes_of_a_plain_refinement(hidden, tmp_path):
    for seed in range(20):
        tree = rlccfr.load_game(PlantedGame(Random(seed), hidden=hidden).write(tmp_path / f"{seed}.efg"))
        assert tuple(map(list, tree.classes)) == tuple(plain_classes(tree)), seed


def test_leaves_that_cancel_but_for_rounding_pay_nothing():
    """The copy whose leaves sum to 7e-18 and the one whose leaves are 0 are alike."""
    view = game("kuhn").view
    payoff = payoff_matrix(view)
    disturbed = payoff.copy()
    empty = disturbed.tolil()
    empty[0, 0] = 1e-17 * abs(payoff).max()
    assert [list(part) for part in refine(view, empty.tocsr())] == [list(part) for part in refine(view, payoff)]


def test_a_game_of_very_many_rounds_counts_as_without_symmetry(monkeypatch):
    monkeypatch.setattr(symmetry, "MOST_ROUNDS", 2)
    view = game("leduc").view
    found = refine(view, payoff_matrix(view))
    assert list(found.infoset) == list(range(len(view.parent)))
    assert quotient(view, payoff_matrix(view), found).num_infosets == len(view.parent)


def wrong_classes():
    """Yield, on Leduc, partitions that are not equitable, with the reason."""
    tree = game("leduc")
    infoset, sequence = tree.classes
    yield "two classes of infosets joined", infoset // 2, sequence
    joined = sequence.copy()
    first, second = (tree.infoset_sequences(i).start for i in (0, 2))
    joined[joined == joined[second]] = joined[first]
    yield "sequences with other payoffs joined", infoset, joined
    split = infoset.copy()
    split[np.flatnonzero(infoset == infoset[-1])[-1]] = infoset.max() + 1
    yield "a member left out", split, sequence
    yield "all alike", np.zeros_like(infoset), np.zeros_like(sequence)


def test_a_partition_that_is_not_equitable_gives_no_quotient():
    view = game("leduc").view
    for reason, infoset, sequence in wrong_classes():
        assert quotient(view, payoff_matrix(view), Classes(infoset, sequence)) is None, reason


def test_a_kept_game_has_the_classes_of_the_compiled_one(tmp_path, monkeypatch):
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path))
    name = (
        "universal_poker(betting=limit,numPlayers=2,numRounds=2,blind=1 1,raiseSize=2 4,firstPlayer=1 1,maxRaises=2 2,"
    )
    trees = [rlccfr.load_game(f"{name}numSuits=2,numRanks=5,numHoleCards=1,numBoardCards=0 1)") for _ in range(2)]
    assert list(tmp_path.iterdir())
    for one, other in zip(trees[0].classes, trees[1].classes, strict=True):
        assert np.array_equal(one, other)


def test_payoffs_that_differ_by_rounding_are_equal_and_others_are_not():
    from rlccfr.games.symmetry import _weights

    random = np.random.default_rng(0)
    third = _weights(np.array([1 / 3, 1.0 - 2 / 3, 1 / 3 + 1e-9, -1 / 3, 0.0]), random)
    assert len(set(third)) == 4
    assert third[0] == third[1]
