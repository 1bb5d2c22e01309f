"""The payoff matrix as dense blocks; blocks that are equal up to a factor are stored once."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rlccfr.errors import GameError
from rlccfr.games.records import BLOCK, LANES

DENSE_FILL = 0.25
"""Least share of entries other than 0 in a connected part of the payoff matrix that is stored dense.

A dense entry moves 8 bytes; a sparse one moves 12 to 16 and takes an indirection. So both cost the same at a share of
a third to a quarter.
"""

ROUNDING = 1e-13
"""Largest difference between payoffs that count as equal, as a share of the block's largest payoff.

It is also the largest difference between probabilities of chance that count as equal.
"""


MOST_PAYOFFS = int(np.iinfo(BLOCK["payoff"]).max)


def payoff_blocks(payoff: sparse.csr_array, second: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Cut the payoff matrix into dense blocks.

    Rows and columns that share entries form connected parts, which are small and nearly full in most games. A part
    that is mostly zeros is cut into one block per row instead, so that its zeros take no memory.

    Args:
        payoff: (m + 2, m + 2) payoffs to player 0, weighted by chance; a row per sequence of player 0.
        second: payoffs to player 1, entry by entry of ``payoff``; by default what player 0 loses.

    Returns:
        The fields of :class:`SequenceView` from ``leaf_0`` on, by name.

    Raises:
        GameError: the blocks take more numbers than the engine can address.
    """
    coo = payoff.tocoo()
    size = payoff.shape[0]
    graph = sparse.coo_array((np.ones(coo.nnz), (coo.row, coo.col + size)), (2 * size, 2 * size))
    _, label = connected_components(graph, directed=False)
    part = label[coo.row]
    rows, row_part = np.unique(coo.row), label[np.unique(coo.row)]
    columns, column_part = np.unique(coo.col), label[np.unique(coo.col) + size]
    parts = label.max() + 1
    area = np.bincount(row_part, minlength=parts) * np.bincount(column_part, minlength=parts)
    is_sparse = np.bincount(part, minlength=parts) < DENSE_FILL * area

    # A dense part is one block with the part's id; in other parts each row is a block with its own id.
    row_block = np.where(is_sparse[row_part], parts + np.arange(len(rows)), row_part)
    block = row_block[np.searchsorted(rows, coo.row)]
    dense = ~is_sparse[column_part]
    split = is_sparse[part]
    columns = np.concatenate([columns[dense], coo.col[split]])
    column_block = np.concatenate([column_part[dense], block[split]])
    ids, row_block = np.unique(row_block, return_inverse=True)
    block, column_block = np.searchsorted(ids, block), np.searchsorted(ids, column_block)
    leaf_0, begin_0, place_0 = _by_block(rows, row_block, len(ids), block, coo.row)
    leaf_1, begin_1, place_1 = _by_block(columns, column_block, len(ids), block, coo.col)
    blocks_0, payoff_0 = _payoff_lines(block, begin_0, begin_1, place_0, place_1, coo.data)
    second = -coo.data if second is None else second
    blocks_1, payoff_1 = _payoff_lines(block, begin_1, begin_0, place_1, place_0, second)
    return {
        "leaf_0": leaf_0.astype(np.uint32),
        "leaf_1": leaf_1.astype(np.uint32),
        "blocks_0": blocks_0,
        "blocks_1": blocks_1,
        "payoff_0": payoff_0,
        "payoff_1": payoff_1,
    }


def _by_block(
    sequences: np.ndarray, block_of: np.ndarray, num_blocks: int, entry_block: np.ndarray, entry: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sequences in order of their blocks, the start of each block, and each entry's place within its block.

    A sequence may be in several blocks, so an entry is found by its pair (block, sequence).
    """
    order = np.lexsort((sequences, block_of))
    leaf, block = sequences[order], block_of[order]
    begin = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=num_blocks))])
    size = int(sequences.max(initial=0)) + 1
    place = np.searchsorted(block * size + leaf, entry_block * size + entry) - begin[entry_block]
    return leaf, begin, place


def _payoff_lines(
    block: np.ndarray, own: np.ndarray, opponent: np.ndarray, place: np.ndarray, line: np.ndarray, data: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return a player's blocks and payoffs; ``own`` and ``opponent`` say where each block's sequences begin."""
    stride = -(-np.diff(own) // LANES) * LANES
    begin = np.concatenate([[0], np.cumsum(stride * np.diff(opponent))])
    if begin[-1] > MOST_PAYOFFS:
        raise GameError(f"the game's payoff matrix takes {begin[-1]:,} numbers, more than the engine can address")
    payoff = np.zeros(int(begin[-1]))
    payoff[begin[block] + line * stride[block] + place] = data
    factor, shared, payoff = _shared_lines(payoff, begin)
    blocks = np.zeros(len(stride), BLOCK)
    blocks["own"], blocks["own_end"] = own[:-1], own[1:]
    blocks["opponent"], blocks["opponent_end"] = opponent[:-1], opponent[1:]
    blocks["payoff"], blocks["stride"], blocks["factor"] = shared, stride, factor
    return blocks, payoff


def _shared_lines(payoff: np.ndarray, begin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Store blocks that are equal up to a factor only once.

    In poker, for example, blocks for the same cards after different betting are equal up to a factor.

    Args:
        begin: (blocks + 1,) place where each block's payoffs begin; the last entry is their end.

    Returns:
        Each block's factor, which is its payoff of largest absolute value; the place where its payoffs, divided by the
        factor, begin; and the payoffs that are kept.
    """
    length = np.diff(begin)
    factor, shared, kept, size = np.empty(len(length)), np.empty(len(length), np.int64), [], 0
    for entries in np.unique(length):
        blocks = np.flatnonzero(length == entries)
        rows = payoff[begin[blocks][:, None] + np.arange(entries)]
        sizes = np.abs(rows)
        largest = np.argmax(sizes > (1 - ROUNDING) * sizes.max(axis=1, keepdims=True), axis=1)
        factor[blocks] = rows[np.arange(len(rows)), largest]
        rows /= factor[blocks][:, None]
        first, of_row = _distinct(rows)
        shared[blocks] = size + entries * of_row
        kept.append(rows[first].ravel())
        size += entries * len(first)
    return factor, shared, np.concatenate(kept) if kept else payoff


def _distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of rows that differ beyond rounding, and for each row the number of the one that it equals."""
    numbers: dict[bytes, int] = {}
    rounded = np.round(rows / ROUNDING) + 0.0  # turns -0.0 into 0.0, which has other bytes
    of_row = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rounded])
    return np.unique(of_row, return_index=True)[1], of_row
