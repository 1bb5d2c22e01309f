"""The records of a public tree, as arrays that kernels read.

Kernels are compiled for these records, and are compiled again after any change to this module. So it contains nothing
else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Kinds of a node: 0 and 1 are decisions of the players; those after CHANCE are terminals.
CHANCE = 2

FOLD = 3
"""Terminal whose payoff is the same for all pairs of private states that do not exclude each other."""

SHOWDOWN = 4
"""Terminal at which the stronger private state wins the payoff."""

MATRIX = 5
"""Terminal with a matrix of payoffs, each multiplied by the probability of its pair of private states."""

DICE = 6
"""Terminal after a call in Bluff: ``table`` is the last bid; ``payoff`` is 1 if player 0 made it, and -1 otherwise."""

SINGLE = np.dtype(np.float32)
DOUBLE = np.dtype(np.float64)
SHORT = np.dtype(np.int16)

SMALLEST = 1e-35
"""Sums of regrets' positive parts below this number count as 0, in single and in double precision."""

CARDS = 256
"""Largest number of different cards."""

NODE = np.dtype(
    [
        # At decisions the first table entry, at MATRIX the first payoff, at the first chance node on a path its first
        # entry of ``outcomes``.
        ("table", np.int64),
        ("payoff", np.float64),  # at FOLD player 0's utility, at SHOWDOWN the winner's; for DICE, see above
        ("first_child", np.int32),
        ("deal", np.int32),
        ("num_children", np.int16),
        ("kind", np.int8),  # the player who acts, or one of the constants above
    ],
    align=True,
)

DEAL = np.dtype(
    [
        ("rows", np.int32, 2),  # number of each player's private states
        ("edge", np.int64, 2),  # each player's first entry of ``above`` and ``weight``
        ("row", np.int64, 2),  # each player's first entry of ``hand_end``, ``firsts`` and ``same``
        ("hand", np.int64, 2),  # each player's first entry of ``hands``
        ("group", np.int64, 2),  # each player's first entry of ``group_end``
        ("groups", np.int32),  # number of groups of equal strength, some of them without rows of one of the players
        ("share", np.float64),  # probability of this board without its images, given private states that allow it
    ],
    align=True,
)


class PublicView(NamedTuple):
    """The public tree as arrays. Node 0 is the root; a node's children have consecutive indices above its own.

    A *row* is a private state of a deal, or several that symmetry makes equal. Hands are sorted by strength, so that
    the hands of a row are adjacent, and so are the rows of equal strength. Such ranges of hands or rows are given by
    their ends, counted from the deal's first entry. Players who may hold the same hands share all these entries.
    """

    nodes: np.ndarray  # of NODE
    deals: np.ndarray  # of DEAL
    above: np.ndarray  # for each row of a deal, the row that it comes from in the deal before
    weight: np.ndarray  # weight of this row's value in the value of the row that it comes from
    payoffs: np.ndarray  # player 0's: matrices, (its rows, player 1's rows); for DICE, if it wins and if it loses
    hand_end: np.ndarray  # for each row, the end of its hands
    hands: np.ndarray  # (hands, 2): two cards; hands that share a card exclude each other
    firsts: np.ndarray  # (rows, 2): the cards of each row's first hand
    group_end: np.ndarray  # for each group of equal strength, the end of its rows
    outcomes: np.ndarray  # (outcomes, 2): node, and index of the child; only of the first chance node on each path
    matches: np.ndarray  # (rows of both players, faces): how many of a roll's dice count for each face
    reach: np.ndarray  # at the root's rows of player 0, then at those of player 1: a range's weights, or 1
    same: np.ndarray  # for each row, the opponent's row that contains the row's first hand, or -1
    # The next two are empty unless the game is locked; see rlccfr/games/public/locked_game.py.
    lock_start: np.ndarray = np.zeros(0, np.int64)  # (nodes,) index in ``lock`` of a node's first entry, or -1
    lock: np.ndarray = np.zeros(0)  # probabilities of locked nodes, in a table's order; -1 in rows that are not locked
