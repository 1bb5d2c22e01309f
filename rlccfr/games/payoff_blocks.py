"""The payoff matrix as dense blocks; blocks that are equal up to a factor are stored once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rlccfr.errors import GameError
from rlccfr.games.records import BLOCK, LANES

DENSE_FILL = 0.25
"""Least share of non-zero entries in a connected part of the payoff matrix that is stored dense.

For a dense entry, 8 bytes are read; for a sparse one 12 to 16, and an indirection is added. So both cost the same when
a third to a quarter of the entries are non-zero.
"""

ROUNDING = 1e-13
"""Largest difference between payoffs that count as equal, as a share of the block's largest payoff.

It is also the largest difference between chance probabilities that count as equal.
"""

MOST_PAYOFFS = int(np.iinfo(BLOCK["payoff"]).max)
"""Largest number of payoffs in all blocks together that a block's record can address."""


def payoff_blocks(
    payoff: sparse.csr_array, second: np.ndarray | None = None, factor: float = 1.0
) -> dict[str, np.ndarray]:
    """Cut the payoff matrix into dense blocks.

    Rows and columns that share entries form connected parts, which are small and nearly full in most games. A part
    that is mostly zeros is cut into one block per row instead, so that its zeros take no memory.

    Args:
        payoff: (m + 2, m + 2) payoffs to player 0, weighted by chance; a row per sequence of player 0.
        second: payoffs to player 1, in the order of ``payoff.data``; by default the negatives of player 0's.
        factor: factor on :data:`ROUNDING`; see :func:`rlccfr.games.payoff_sizes.tolerance_factor`.

    Returns:
        The fields of :class:`SequenceView` from ``leaf_0`` to ``payoff_1``, by name.

    Raises:
        GameError: the blocks take more numbers than the engine can address.
    """
    entries = payoff.tocoo()
    division = _divide_among_blocks(entries)
    entry_block = division.entry_block
    num_blocks = int(division.row_block.max(initial=-1)) + 1
    leaf_0, begin_0, place_0 = _by_block(division.rows, division.row_block, num_blocks, entry_block, entries.row)
    leaf_1, begin_1, place_1 = _by_block(division.columns, division.column_block, num_blocks, entry_block, entries.col)
    rounding = factor * ROUNDING
    blocks_0, payoff_0 = _payoff_lines(entry_block, begin_0, begin_1, place_0, place_1, entries.data, rounding)
    payoffs_to_1 = -entries.data if second is None else second
    blocks_1, payoff_1 = _payoff_lines(entry_block, begin_1, begin_0, place_1, place_0, payoffs_to_1, rounding)
    return {
        "leaf_0": leaf_0.astype(np.uint32),
        "leaf_1": leaf_1.astype(np.uint32),
        "blocks_0": blocks_0,
        "blocks_1": blocks_1,
        "payoff_0": payoff_0,
        "payoff_1": payoff_1,
    }


class _Division(NamedTuple):
    """The payoff matrix, of e entries, divided among blocks."""

    rows: np.ndarray  # (r,): player 0's sequences that have payoffs
    row_block: np.ndarray  # (r,): the block of each of them
    columns: np.ndarray  # (c,): player 1's sequences that have payoffs, once for each block that they are in
    column_block: np.ndarray  # (c,): that block
    entry_block: np.ndarray  # (e,): the block of each entry


def _divide_among_blocks(entries: sparse.coo_array) -> _Division:
    """Divide the entries of the payoff matrix, (m + 2, m + 2), among blocks."""
    size = entries.shape[0]

    # Rows and columns are nodes of a graph, and entries its edges; its components are the connected parts.
    edges = (entries.row, entries.col + size)
    graph = sparse.coo_array((np.ones(entries.nnz), edges), (2 * size, 2 * size))
    _, component = connected_components(graph, directed=False)
    entry_component = component[entries.row]
    rows = np.unique(entries.row)
    columns = np.unique(entries.col)
    row_component = component[rows]
    column_component = component[columns + size]
    num_components = component.max() + 1
    num_rows = np.bincount(row_component, minlength=num_components)
    num_columns = np.bincount(column_component, minlength=num_components)
    num_entries = np.bincount(entry_component, minlength=num_components)
    is_sparse = num_entries < DENSE_FILL * (num_rows * num_columns)

    # A dense part is one block with the part's id; in other parts each row is a block with its own id. A column of a
    # dense part is in one block; a column of a sparse part is in the block of each row in which it has an entry.
    row_block = np.where(is_sparse[row_component], num_components + np.arange(len(rows)), row_component)
    entry_block = row_block[np.searchsorted(rows, entries.row)]
    dense_columns = ~is_sparse[column_component]
    sparse_entries = is_sparse[entry_component]
    columns = np.concatenate([columns[dense_columns], entries.col[sparse_entries]])
    column_block = np.concatenate([column_component[dense_columns], entry_block[sparse_entries]])

    # Blocks are renumbered without gaps.
    ids, row_block = np.unique(row_block, return_inverse=True)
    return _Division(rows, row_block, columns, np.searchsorted(ids, column_block), np.searchsorted(ids, entry_block))


def _by_block(
    sequences: np.ndarray,
    sequence_block: np.ndarray,
    num_blocks: int,
    entry_block: np.ndarray,
    entry_sequence: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort one player's sequences by their blocks.

    A sequence may be in several blocks, so an entry is found by its pair (block, sequence).

    Args:
        sequences: the player's sequences that have payoffs, once for each block that they are in.
        sequence_block: the block of each of them.
        entry_block: (entries,) block of each entry of the payoff matrix.
        entry_sequence: (entries,) the player's sequence of each entry.

    Returns:
        The sequences in order of their blocks; (blocks + 1,) where each block begins; and (entries,) the index of each
        entry's sequence within its block.
    """
    order = np.lexsort((sequences, sequence_block))
    leaf = sequences[order]
    leaf_block = sequence_block[order]
    begin = np.concatenate([[0], np.cumsum(np.bincount(leaf_block, minlength=num_blocks))])
    size = int(sequences.max(initial=0)) + 1
    place = np.searchsorted(leaf_block * size + leaf, entry_block * size + entry_sequence) - begin[entry_block]
    return leaf, begin, place


def _payoff_lines(
    entry_block: np.ndarray,
    own_begin: np.ndarray,
    opponent_begin: np.ndarray,
    own_place: np.ndarray,
    opponent_place: np.ndarray,
    payoffs: np.ndarray,
    rounding: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a player's blocks, (blocks,) of type BLOCK, and their payoffs.

    Payoffs are stored block by block, with one row per sequence of the opponent.

    Args:
        entry_block: (entries,) block of each entry of the payoff matrix.
        own_begin: (blocks + 1,) where each block's sequences of the player begin.
        opponent_begin: (blocks + 1,) where each block's sequences of the opponent begin.
        own_place: (entries,) index of the player's sequence within the block.
        opponent_place: (entries,) index of the opponent's sequence within the block.
        payoffs: (entries,) the player's payoffs.

    Raises:
        GameError: the blocks take more numbers than the engine can address.
    """
    stride = -(-np.diff(own_begin) // LANES) * LANES  # lengths of rows, rounded up to whole registers
    begin = np.concatenate([[0], np.cumsum(stride * np.diff(opponent_begin))])
    if begin[-1] > MOST_PAYOFFS:
        raise GameError(
            f"the game's payoff matrix takes {begin[-1]:,} numbers, more than the engine can address; choose a "
            "smaller game"
        )
    lines = np.zeros(int(begin[-1]))
    lines[begin[entry_block] + opponent_place * stride[entry_block] + own_place] = payoffs
    factor, shared_begin, lines = _shared_lines(lines, begin, rounding)
    blocks = np.zeros(len(stride), BLOCK)
    blocks["own"] = own_begin[:-1]
    blocks["own_end"] = own_begin[1:]
    blocks["opponent"] = opponent_begin[:-1]
    blocks["opponent_end"] = opponent_begin[1:]
    blocks["payoff"] = shared_begin
    blocks["stride"] = stride
    blocks["factor"] = factor
    return blocks, lines


def _shared_lines(payoff: np.ndarray, begin: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Store blocks that are equal up to a factor only once.

    In poker, for example, blocks for the same cards after different betting are equal up to a factor.

    Args:
        payoff: payoffs, block after block.
        begin: (blocks + 1,) index at which each block's payoffs begin; the last entry is their end.

    Returns:
        (blocks,) each block's factor, which is its payoff of largest absolute value; (blocks,) the index at which its
        payoffs, divided by the factor, begin among the stored payoffs; and the stored payoffs.
    """
    length = np.diff(begin)
    factor = np.empty(len(length))
    shared_begin = np.empty(len(length), np.int64)
    stored: list[np.ndarray] = []
    num_stored = 0
    for block_length in np.unique(length):  # only blocks of one length can be equal
        blocks = np.flatnonzero(length == block_length)
        rows = payoff[begin[blocks][:, None] + np.arange(block_length)]
        # Of payoffs that are the largest up to rounding, the first is taken, so that equal blocks have equal factors.
        sizes = np.abs(rows)
        largest = np.argmax(sizes >= (1 - rounding) * sizes.max(axis=1, keepdims=True), axis=1)
        factor[blocks] = rows[np.arange(len(rows)), largest]
        rows /= factor[blocks][:, None]
        first_equal, number = _distinct(rows, rounding)
        shared_begin[blocks] = num_stored + block_length * number
        stored.append(rows[first_equal].ravel())
        num_stored += block_length * len(first_equal)
    return factor, shared_begin, np.concatenate(stored) if stored else payoff


def _distinct(rows: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the first index of each group of rows that are equal up to rounding, and each row's group."""
    numbers: dict[bytes, int] = {}
    rounded = np.round(rows / rounding) + 0.0  # turns -0.0 into 0.0, which has other bytes
    number = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rounded])
    return np.unique(number, return_index=True)[1], number
