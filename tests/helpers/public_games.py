"""Public-tree games beside the same games in other forms."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
from support import place_public, regrets

import rlccfr
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.cards import SUITS
from rlccfr.games.public.derived import DerivedGame, derived
from rlccfr.games.public.names import PUBLIC, rules_of
from rlccfr.games.public.records import FOLD, MATRIX, SHOWDOWN
from rlccfr.games.public.view import PublicGame

RELATIVES = (
    # parameters of holdem(...), which differ in all that they can
    "ranks=3,suits=2,private=1,flop=1",
    "ranks=4,suits=2,private=1,flop=1,raises=2",
    "ranks=5,suits=1,private=1,flop=1,opening=2",
    "ranks=3,suits=3,private=1,flop=1,bet=2,later=3",
    "ranks=3,suits=2,private=1,flop=2,raises=2",
    "ranks=4,suits=1,private=1,flop=1,raises=3",
    "ranks=6,suits=1,private=1,flop=1",
    "ranks=2,suits=4,private=1,flop=1,raises=2",
    "ranks=3,suits=2,private=1,flop=3",
    "ranks=6,suits=2,private=1,flop=1,rounds=1,raises=3",
    "ranks=13,suits=1,private=1,flop=1,rounds=1,raises=2",
    "ranks=4,suits=2,private=2,flop=1",
    "ranks=6,suits=1,private=2,flop=1",
    "ranks=7,suits=1,private=2,flop=3,rounds=1",
    "ranks=3,suits=3,private=2,flop=1,rounds=1,raises=2",
    "ranks=4,suits=2,private=2,flop=2",
    "ranks=3,suits=2,private=2,flop=1,raises=2",
    "ranks=7,suits=1,private=2,flop=3",
    "ranks=4,suits=2,private=2,flop=3",
    "ranks=6,suits=1,private=1,flop=1,rounds=3",
    "ranks=4,suits=2,private=1,flop=5",
    "ranks=7,suits=1,private=1,flop=5,raises=2",
)


def openspiel_form(parameters: str) -> str:
    """Return OpenSpiel's name of a game ``holdem(PARAMETERS)``."""
    return rules_of(f"holdem({parameters})").openspiel_name()


@cache
def derived_game(name: str) -> DerivedGame:
    """Return the public tree of an OpenSpiel game, which is made once per process."""
    return derived(rlccfr.load_game(name, restore_recall="numRounds=3" in name, max_histories=4_000_000))


def keys_of(game: PublicGame) -> list[tuple]:
    """Return for each table entry of a hold'em game what its player sees, and the number of the action."""
    found, names = [], game.deals
    for place, node in enumerate(game.decisions.tolist()):
        deal, actor = names[game.view.nodes["deal"][node]], int(game.view.nodes["kind"][node])
        moves = re.sub(r"/[^/]*/", "|", game.path(node))
        boards = re.findall(r"/([^/]*)/", game.path(node))
        firsts = [cards_in(deal.hand_name(hand)) for hand in deal.firsts.tolist()]
        for action in range(int(game.actions[place])):
            found += [(actor, hand, tuple(map(cards_in, boards)), moves, action) for hand in firsts]
    return found


def cards_in(text: str) -> frozenset[str]:
    """Return the cards that a text names."""
    return frozenset(re.findall("..", text))


def with_matrices(game: PublicGame) -> PublicGame:
    """Return a game with unmerged suits in which each terminal has a matrix of payoffs, made pair by pair."""
    nodes, payoffs, begin = game.view.nodes.copy(), [], 0
    for node in np.flatnonzero(np.isin(nodes["kind"], (FOLD, SHOWDOWN))).tolist():
        deal = game.deals[nodes["deal"][node]]
        hands = [set(deal.deck.hands[hand].tolist()) for hand in deal.firsts.tolist()]
        group = np.searchsorted(deal.group_end, np.arange(deal.rows), side="right")
        matrix = np.zeros((deal.rows, deal.rows))
        for i, j in combinations(range(deal.rows), 2):
            if not hands[i] & hands[j]:
                sign = 1.0 if nodes["kind"][node] == FOLD else np.sign(float(group[i] - group[j]))
                other = sign if nodes["kind"][node] == FOLD else -sign
                matrix[i, j], matrix[j, i] = sign * nodes["payoff"][node], other * nodes["payoff"][node]
        nodes["kind"][node], nodes["table"][node] = MATRIX, begin
        payoffs.append(matrix.reshape(-1))
        begin += matrix.size
    view = game.view._replace(nodes=nodes, payoffs=np.concatenate(payoffs))
    return PublicGame(game.name, view, game.pair_probability, game.mass, game.utility_range, game.depth)


def unmerged(parameters: str) -> PublicGame:
    """Return a game ``holdem(PARAMETERS)`` in which nothing is merged that permutations of suits leave the same."""
    games, parts = PUBLIC["holdem"], [part.split("=") for part in parameters.split(",")]
    rules = games.rules(games.values({name: int(value) for name, value in parts}))
    return replace(rules, deck=replace(rules.deck, merged=False)).build("unmerged")


def merged_entries(whole: PublicGame, merged: PublicGame) -> np.ndarray:
    """Return for each table entry of a game the one that it has become in the game with merged suits."""
    places = {key: number for number, key in enumerate(keys_of(merged))}
    suits = SUITS[: whole.deals[0].deck.suits]
    tables = [str.maketrans(suits, "".join(order)) for order in permutations(suits)]

    def place(key: tuple) -> int:
        actor, hand, boards, moves, action = key
        for table in tables:
            own, *others = (frozenset(card.translate(table) for card in cards) for cards in (hand, *boards))
            if (found := places.get((actor, own, tuple(others), moves, action))) is not None:
                return found
        raise AssertionError(f"{key} is nowhere")

    return np.array([place(key) for key in keys_of(whole)])


def openspiel_keys(tree: GameTree) -> list[tuple]:
    """Return for each sequence of OpenSpiel's game of at most two rounds what :func:`keys_of` returns."""
    found = []
    for infoset, key in enumerate(tree.infoset_keys):
        fields = dict(re.findall(r"\[(\w+):? ?([^\]]*)\]", key))
        sequences = tree.infoset_sequences(infoset)
        boards = (cards_in(fields["Public"]),) if fields["Public"] else ()
        for action in range(sequences.stop - sequences.start):
            found.append((int(fields["Player"]), cards_in(fields["Private"]), boards, fields["Sequences"], action))
    return found


def assert_same_iterations(native: PublicGame, public: DerivedGame, order: np.ndarray) -> None:
    """Check that two iterations over a game equal those over the public view of its compiled form.

    Args:
        order: (m,) the native game's table entry of each of the compiled game's sequences.
    """
    start, there = 100 * (1 + np.random.default_rng(0).random(len(order))), np.empty(len(order))
    there[order] = start
    ours, theirs = rlccfr.Solver(native, "pdcfr_plus"), rlccfr.Solver(public.public, "pdcfr_plus")
    place_public(ours, 3, there)
    place_public(theirs, 3, start[public.sequence])
    for solver in (ours, theirs):
        solver.run(iterations=2, curve=False)
    assert regrets(ours)[order][public.sequence] == pytest.approx(regrets(theirs), abs=1e-12)
    assert ours.values().best_response == pytest.approx(theirs.values().best_response, abs=1e-12)
