"""Colour refinement of the sequence form: the infosets and sequences whose values must be equal.

The sequences and the infosets are the nodes of a graph. Two nodes keep the same colour as long as they *see* the same.
A sequence sees the colour of its infoset, the colours of the infosets that follow it, and its payoffs, each with the
colour of the opponent's sequence. An infoset sees the colour of its parent sequence, the colours of its actions'
sequences, and the chance reach of its histories, each with the colour of the opponent's sequence. Colours are refined
until none of them splits. The classes, each of which has the nodes of one colour, are then an equitable partition
(Grohe, Kersting, Mladenov, Selman, "Dimension reduction via colour refinement", ESA 2014); docs/adr/0020 has the proof
of what this means for CFR.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from rlccfr.games.flat_tree import Classes
from rlccfr.games.records import SequenceView

RELATIVE = 1e-12
"""Neighbouring numbers in ascending order count as equal if they differ by at most this share of the lower one.
"""

ABSOLUTE = 1e-15
"""Numbers, and differences of numbers, count as 0 if they are at most this share of the largest number."""

MOST_ROUNDS = 200
"""Number of rounds after which a game counts as having no symmetry; only games of several hundred moves need more."""

SEED = 20260
"""Seed of the random numbers that stand for colours."""


class _Edges(NamedTuple):
    """The edges from each node to the nodes that it sees, grouped by the node that sees."""

    seen: np.ndarray  # (edges,): the node that is seen
    weight: np.ndarray  # (edges,) uint64: random weight, equal for edges of one kind with equal numbers on them
    seers: np.ndarray  # (seers,): the nodes that see any node, ascending
    begin: np.ndarray  # (seers,): where the edges of each of these nodes begin


def payoff_matrix(view: SequenceView, player: int = 0) -> sparse.csr_array:
    """Return a player's payoffs, (m + 2, m + 2), weighted by chance.

    Rows are player 0's sequences, columns player 1's; the two empty sequences come last.
    """
    blocks, payoff = (view.blocks_0, view.payoff_0) if player == 0 else (view.blocks_1, view.payoff_1)
    leaves = (view.leaf_0, view.leaf_1)
    own_begin = blocks["own"].astype(np.int64)
    opponent_begin = blocks["opponent"].astype(np.int64)
    width = blocks["own_end"].astype(np.int64) - own_begin
    height = blocks["opponent_end"].astype(np.int64) - opponent_begin

    # A block has a row for each of the opponent's sequences, and a column for each of the player's.
    size = width * height
    block = np.repeat(np.arange(len(size)), size)
    place_in_block = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    line, column = np.divmod(place_in_block, width[block])
    entries = payoff[blocks["payoff"][block] + line * blocks["stride"][block] + column] * blocks["factor"][block]
    own_sequence = leaves[player][own_begin[block] + column].astype(np.int64)
    opponent_sequence = leaves[1 - player][opponent_begin[block] + line].astype(np.int64)
    pairs = (own_sequence, opponent_sequence) if player == 0 else (opponent_sequence, own_sequence)
    shape = (int(view.first_sequence[-1]) + 2,) * 2
    matrix = sparse.coo_array((entries, pairs), shape).tocsr()
    matrix.eliminate_zeros()
    return matrix


def without_residues(payoff: sparse.csr_array, factor: float) -> sparse.csr_array:
    """Return a matrix without the entries that differ from 0 only by rounding.

    Args:
        payoff: the matrix.
        factor: factor on :data:`ABSOLUTE`; see :func:`rlccfr.games.payoff_sizes.tolerance_factor`.
    """
    cleaned = payoff.copy()
    sizes = np.abs(cleaned.data)
    cleaned.data[sizes <= factor * ABSOLUTE * sizes.max(initial=0.0)] = 0.0
    cleaned.eliminate_zeros()
    return cleaned


def refine(view: SequenceView, payoff: sparse.csr_array, factor: float = 1.0) -> Classes:
    """Return classes of a game's infosets and sequences; the members of a class must have equal values.

    Colours are random numbers of 64 bits, and a node's next colour depends on a weighted sum, modulo 2^64, of the
    colours that it sees. Nodes that see different things get equal sums with a probability of less than 2^-50;
    :func:`rlccfr.games.quotient.quotient` checks the classes.

    Args:
        view: the sequence form, of n infosets and m sequences.
        payoff: result of :func:`payoff_matrix`.
        factor: factor on :data:`ABSOLUTE` for payoffs; see :func:`rlccfr.games.payoff_sizes.tolerance_factor`.
    """
    num_infosets = len(view.parent)
    num_sequences = int(view.first_sequence[-1])
    random = np.random.default_rng(SEED)
    edges = _edges(view, without_residues(payoff, factor), factor, random)

    # At first a node's colour is its kind: sequences of either player, the two empty ones, and infosets by their
    # player and number of actions. Nodes are numbered in that order.
    num_actions = _counts(view.first_sequence)
    is_second_player = np.arange(num_infosets) >= view.infoset_begin[1]
    kind = np.concatenate(
        [np.repeat(is_second_player, num_actions), [2, 3], 4 + 2 * num_actions + is_second_player],
    )
    colour = np.unique(kind, return_inverse=True)[1]
    num_colours = 0
    for _ in range(MOST_ROUNDS):
        previous_num_colours = num_colours
        num_colours = int(colour.max()) + 1
        if num_colours == previous_num_colours:
            break
        code = random.integers(0, 2**64, num_colours, dtype=np.uint64)
        sight = np.zeros(len(colour), np.uint64)  # a hash of what each node sees
        sight[edges.seers] = np.add.reduceat(code[colour[edges.seen]] * edges.weight, edges.begin)
        colour = _split_colours(colour, sight)
    else:
        colour = np.arange(len(colour))
    return Classes(by_first(colour[num_sequences + 2 :]), by_first(colour[: num_sequences + 2]))


def _edges(view: SequenceView, payoff: sparse.csr_array, factor: float, random: np.random.Generator) -> _Edges:
    """Return all edges of the graph, whose nodes are the sequences, followed by the infosets."""
    num_infosets = len(view.parent)
    num_sequences = payoff.shape[0] - 2
    infoset = num_sequences + 2 + np.arange(num_infosets)
    sequence = np.arange(num_sequences)
    owner = np.repeat(infoset, _counts(view.first_sequence))
    parent = view.parent.astype(np.int64)

    # Edges of the tree, in both directions; all edges of one kind have the same weight.
    tree_edges = [(owner, sequence), (sequence, owner), (infoset, parent), (parent, infoset)]
    tree_weights = random.integers(0, 2**64, len(tree_edges), dtype=np.uint64) | np.uint64(1)
    # Edges with numbers on them: payoffs, in both directions, and chance's reach.
    entries = payoff.tocoo()
    payoff_weights = _weights(entries.data, random, factor * ABSOLUTE)
    mass_owner = np.repeat(infoset, _counts(view.mass_begin))
    mass_weights = _weights(view.mass_probability, random)

    seer = [*(seer for seer, _ in tree_edges), entries.row, entries.col, mass_owner]
    seen = [*(seen for _, seen in tree_edges), entries.col, entries.row, view.mass_sequence.astype(np.int64)]
    weight = [np.full(len(nodes), w) for (nodes, _), w in zip(tree_edges, tree_weights, strict=True)]
    weight += [payoff_weights, payoff_weights, mass_weights]
    all_seers = np.concatenate(seer).astype(np.int64)
    order = np.argsort(all_seers, kind="stable")
    seers, begin = np.unique(all_seers[order], return_index=True)
    return _Edges(np.concatenate(seen).astype(np.int64)[order], np.concatenate(weight)[order], seers, begin)


def _counts(begin: np.ndarray) -> np.ndarray:
    """Return the lengths of consecutive ranges; ``begin`` holds their starts, then the end of the last one."""
    counts: np.ndarray = np.diff(begin.astype(np.int64))
    return counts


def _weights(numbers: np.ndarray, random: np.random.Generator, absolute: float = ABSOLUTE) -> np.ndarray:
    """Return a random odd weight for each number; numbers that are equal up to rounding get equal weights.

    Args:
        numbers: the numbers.
        random: generator of the weights.
        absolute: share of the largest number that counts as rounding, whatever the numbers.
    """
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    tolerance = np.maximum(RELATIVE * np.abs(ascending[:-1]), absolute * np.abs(numbers).max(initial=0.0))
    with np.errstate(over="ignore"):  # a difference above the largest double becomes infinite, and is a step
        is_step = np.diff(ascending) > tolerance
    group = np.concatenate([[0], np.cumsum(is_step)])[: len(numbers)]
    group_weight = random.integers(0, 2**64, len(numbers) + 1, dtype=np.uint64) | np.uint64(1)
    weights = np.empty(len(numbers), np.uint64)
    weights[order] = group_weight[group]
    return weights


def _split_colours(colour: np.ndarray, sight: np.ndarray) -> np.ndarray:
    """Return new colours, (nodes,), counted from 0: one for each distinct pair of a colour and a hash.

    Args:
        colour: (nodes,) the colour of each node.
        sight: (nodes,) a hash of what each node sees.
    """
    order = np.lexsort((sight, colour))
    is_new = (np.diff(colour[order]) != 0) | (sight[order][1:] != sight[order][:-1])
    new_colour = np.empty_like(colour)
    new_colour[order] = np.concatenate([[0], np.cumsum(is_new)])[: len(colour)]
    return new_colour


def by_first(colour: np.ndarray) -> np.ndarray:
    """Renumber colours in order of their first members."""
    _, first, colour_number = np.unique(colour, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[colour_number].astype(np.int32)
