"""The records of a compiled game, as arrays that kernels read.

Kernels are compiled for these records, so this module has nothing else: after any change to it, all kernels are
compiled anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CHANCE = 2
TERMINAL = 3

HISTORY = np.dtype(
    [
        ("first_child", np.int32),  # a terminal has neither: there, these 8 bytes hold player 0's utility, a double
        ("first_sequence", np.int32),  # of the actor's infoset
        ("infoset", np.int32),
        ("num_children", np.int16),
        ("actor", np.int8),  # 0, 1, CHANCE or TERMINAL
        ("even", np.bool_),  # chance's outcomes are equally likely
    ],
    align=True,
)
"""One history, in 16 bytes; four such records fill a cache line. Walks mostly wait for cache lines to be loaded."""


def utility_of(histories: np.ndarray) -> np.ndarray:
    """Return a view, (histories,), of HISTORY records as utilities; only the entries of terminals mean anything."""
    utility: np.ndarray = histories.view(np.float64)[::2]
    return utility


LANES = 4
"""Number of doubles in a 256-bit register; lines of payoff blocks are padded with zeros to a multiple of it."""

BLOCK = np.dtype(
    [
        ("own", np.uint32),  # the block's own sequences: leaf[own:own_end]
        ("own_end", np.uint32),
        ("opponent", np.uint32),  # the opponent's sequences: one line each
        ("opponent_end", np.uint32),
        ("payoff", np.uint32),  # index of the first payoff; blocks that are equal up to a factor share payoffs
        ("stride", np.uint32),  # padded length of a line
        ("factor", np.float64),  # factor on the payoffs
    ]
)


class SequenceView(NamedTuple):
    """The sequence form as arrays; n infosets, m sequences (the two empty ones not counted)."""

    infoset_begin: np.ndarray  # (3,): player p's infosets are those from [p] up to, but not including, [p + 1]
    first_sequence: np.ndarray  # (n + 1,): infoset i's sequences likewise, from [i] to before [i + 1]
    parent: np.ndarray  # (n,): the owner's last sequence before the infoset
    chance_weight: np.ndarray  # (n,): sum of chance reach over the infoset's histories
    mass_begin: np.ndarray  # (n + 1,): infoset i's entries in the next two arrays likewise, from [i] to before [i + 1]
    mass_sequence: np.ndarray  # last sequence of the opponent before some of the infoset's histories
    mass_probability: np.ndarray  # sum of chance reach over these histories
    leaf_0: np.ndarray  # player 0's sequences that end in leaves, block after block
    leaf_1: np.ndarray
    blocks_0: np.ndarray  # of BLOCK: the payoff matrix in dense blocks, as player 0 reads it
    blocks_1: np.ndarray
    payoff_0: np.ndarray  # chance-weighted payoffs to player 0 over the block's factor; a line per sequence of player 1
    payoff_1: np.ndarray  # payoffs to player 1 likewise; a line per sequence of player 0
    multiplicity: np.ndarray  # quotients only, (n,): number of infosets that each one stands for below one parent
    twin: np.ndarray  # quotients with twins only, (m,): the infoset's first sequence in the same class
