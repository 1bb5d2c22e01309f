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


BUNDLE_LANES = 8
"""Largest number of infosets in a bundle, and number of doubles in a 512-bit register."""

PAYOFF_LINES = np.dtype(
    [
        ("opponent", np.uint32),  # entry of the first line's sequence, or its index in line_entry
        ("lines", np.uint32),  # number of lines
        ("payoff", np.uint32),  # index of the first payoff; each line has BUNDLE_LANES of them
        ("listed", np.uint32),  # whether line_entry lists the lines' entries; else they follow the first one
        ("factor", np.float64),  # factor on the payoffs
    ]
)


class BundleView(NamedTuple):
    """A sequence form in bundles, as arrays; B bundles, E entries, and E / 8 actions of bundles.

    See :mod:`rlccfr.games.bundles`.
    """

    bundle_begin: np.ndarray  # (3,): player p's bundles are those from [p] up to, but not including, [p + 1]
    first: np.ndarray  # (B,): first entry; the entries of the next action begin BUNDLE_LANES later
    actions: np.ndarray  # (B,): number of actions
    parent: np.ndarray  # (B,): first entry of the lowest action above it that was a choice; E if there is none
    value: np.ndarray  # (B,): where its actions' values are while it is open; bundles of a level share places
    parent_value: np.ndarray  # (B,): where its own value is added; 0 if there is no action above it
    weights: np.ndarray  # (B,): where its rows of ``weight`` begin
    opened_begin: (
        np.ndarray
    )  # (B + 1,): bundles opened before bundle b is closed, from [b] to before [b + 1] of ``opened``
    opened: np.ndarray  # (B,)
    weight: np.ndarray  # rows of chance weights and of multiplicities by lanes, in turn; see SequenceView
    lines_begin: np.ndarray  # (E / 8 + 1,): lines that pay action e of a bundle, from [e] to before [e + 1]
    lines: np.ndarray  # of PAYOFF_LINES, one for each block that pays the action
    line_entry: np.ndarray  # entries of the opponent's sequences, where they do not follow one another
    payoff: np.ndarray  # payoffs to the paid player as in SequenceView, a row for each line; 0 in lanes that get none
