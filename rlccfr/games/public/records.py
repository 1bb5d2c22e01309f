"""The records of a public tree, as arrays that kernels read.

Kernels are compiled for these records, so this module has nothing else: after any change to it, they are compiled anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Kinds of a node: 0 and 1 are decisions of the players; those after CHANCE are terminals.
CHANCE = 2

FOLD = 3
"""Terminal with a payoff that private states do not change, except that two of them may exclude each other."""

SHOWDOWN = 4
"""Terminal at which the stronger private state wins the payoff."""

MATRIX = 5
"""Terminal with a matrix of payoffs, each times the probability of the pair of private states."""

DICE = 6
"""Terminal after a call in Bluff: ``table`` is the last bid, and ``payoff`` is 1 if player 0 made it, or -1."""

SINGLE = np.dtype(np.float32)
DOUBLE = np.dtype(np.float64)
SHORT = np.dtype(np.int16)

SMALLEST = 1e-35
"""Sums of positive parts below this count as 0, in single and in double precision."""

CARDS = 256
"""Number of different cards at most."""

NODE = np.dtype(
    [
        # A decision's first table entry, a MATRIX's first payoff, or the first of ``outcomes`` at the first chance.
        ("table", np.int64),
        ("payoff", np.float64),  # FOLD: player 0's utility; SHOWDOWN: the winner's; DICE: see there
        ("first_child", np.int32),
        ("deal", np.int32),
        ("num_children", np.int16),
        ("kind", np.int8),  # the player that acts, or one of the constants above
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
        ("share", np.float64),  # probability of one such board, given any private states that allow it
    ],
    align=True,
)


class PublicView(NamedTuple):
    """The public tree as arrays. Node 0 is the root; a node's children are neighbours, and come after it.

    A *row* is a private state of a deal, or several that symmetry makes equal. Hands are sorted by strength. So the
    hands of a row are neighbours, and the rows of a group of equal strength, too. Ranges are given by their end,
    counted from the deal's first entry. Players who may hold the same hands share all these entries.
    """

    nodes: np.ndarray  # of NODE
    deals: np.ndarray  # of DEAL
    above: np.ndarray  # for each row of a deal, the row of the deal before that it comes from
    weight: np.ndarray  # share of this row's value in the value of the row before, times the outcome's probability
    payoffs: np.ndarray  # player 0's: matrices, (its rows, player 1's rows); or for DICE, if it wins and if it loses
    hand_end: np.ndarray  # for each row, the end of its hands
    hands: np.ndarray  # (hands, 2): two cards, which exclude all other hands with one of them
    firsts: np.ndarray  # (rows, 2): the cards of each row's first hand
    group_end: np.ndarray  # for each group of equal strength, the end of its rows
    outcomes: np.ndarray  # (outcomes, 2): those of the first chance on each path: its node, and the number of the child
    matches: np.ndarray  # (rows of both players, faces): number of a roll's dice that count for each face
    reach: np.ndarray  # (root's rows of player 0, then those of player 1): reach at the root, a range's weights, or 1
    same: np.ndarray  # for each row, the opponent's row that has the row's first hand, or -1
    # Locked games only, see rlccfr/games/public/locked_game.py: the first entry of ``lock`` at each node, or -1, ...
    lock_start: np.ndarray = np.zeros(0, np.int64)
    lock: np.ndarray = np.zeros(0)  # ... and, in a table's order, the probabilities that are fixed, -1 in other rows
