"""Colour refinement of the sequence form: the infosets and sequences whose values must be equal.

Two nodes keep the same colour as long as they see the same. A sequence sees the colour of its infoset, the colours of
the infosets that follow it, and its payoffs, each with the colour of the opponent's sequence. An infoset sees the
colour of its parent sequence, the colours of its actions' sequences, and its histories' chances, each with the colour
of the opponent's sequence. Colours are refined until none of them splits. The classes are then an equitable partition
(Grohe, Kersting, Mladenov, Selman, "Dimension reduction via colour refinement", ESA 2014); docs/adr/0020 has the
proof of what this means for CFR.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from rlccfr.games.flat_tree import Classes
from rlccfr.games.records import SequenceView

RELATIVE, ABSOLUTE = 1e-12, 1e-15
"""Neighbours in sorted order count as equal if they differ by at most RELATIVE times the lower one's size.

Numbers of at most ABSOLUTE times the largest one count as 0, and smaller differences as none.
"""

MOST_ROUNDS = 200
"""Number of rounds after which a game counts as without symmetry; only games of several hundred moves need more."""

SEED = 20260


class _Edges(NamedTuple):
    """What each node sees, grouped by the node that sees."""

    seen: np.ndarray
    weight: np.ndarray  # random; one per kind of edge and number on it
    nodes: np.ndarray  # those that see anything
    begin: np.ndarray  # where the edges of each of them begin


def payoff_matrix(view: SequenceView, player: int = 0) -> sparse.csr_array:
    """Return a player's payoffs, (m + 2, m + 2), weighted by chance.

    Rows are player 0's sequences, columns player 1's; the two empty sequences come last.
    """
    blocks, payoff = (view.blocks_0, view.payoff_0) if player == 0 else (view.blocks_1, view.payoff_1)
    leaves = (view.leaf_0, view.leaf_1)
    begin, end, first, last = (blocks[name].astype(np.int64) for name in ("own", "own_end", "opponent", "opponent_end"))
    width = end - begin
    size = width * (last - first)
    block = np.repeat(np.arange(len(size)), size)
    line, column = np.divmod(np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size), width[block])
    value = payoff[blocks["payoff"][block] + line * blocks["stride"][block] + column] * blocks["factor"][block]
    own, opponent = leaves[player][begin[block] + column], leaves[1 - player][first[block] + line]
    places = (own, opponent) if player == 0 else (opponent, own)
    shape = (int(view.first_sequence[-1]) + 2,) * 2
    found = sparse.coo_array((value, tuple(place.astype(np.int64) for place in places)), shape).tocsr()
    found.eliminate_zeros()
    return found


def without_residues(payoff: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix without the entries that are 0 but for rounding."""
    found = payoff.copy()
    sizes = np.abs(found.data)
    found.data[sizes <= ABSOLUTE * sizes.max(initial=0.0)] = 0.0
    found.eliminate_zeros()
    return found


def refine(view: SequenceView, payoff: sparse.csr_array) -> Classes:
    """Return the classes of a game's sequence form.

    Colours are random numbers of 64 bits, and a node's next colour is a sum over what it sees, modulo 2^64. Two
    different sums are equal with a probability of less than 2^-50; :func:`rlccfr.games.quotient.quotient` checks the
    classes.

    Args:
        payoff: result of :func:`payoff_matrix`.
    """
    num_infosets, num_sequences = len(view.parent), int(view.first_sequence[-1])
    random = np.random.default_rng(SEED)
    edges = _edges(view, without_residues(payoff), random)
    actions = _counts(view.first_sequence)
    second = np.arange(num_infosets) >= view.infoset_begin[1]
    kind = np.concatenate([np.repeat(second, actions), [2, 3], 4 + 2 * actions + second])
    colour, count = np.unique(kind, return_inverse=True)[1], 0
    for _ in range(MOST_ROUNDS):
        if (now := int(colour.max()) + 1) == count:
            break
        count = now
        code = random.integers(0, 2**64, count, dtype=np.uint64)
        seen = np.zeros(len(colour), np.uint64)
        seen[edges.nodes] = np.add.reduceat(code[colour[edges.seen]] * edges.weight, edges.begin)
        colour = _joined(colour, seen)
    else:
        colour = np.arange(len(colour))
    return Classes(by_first(colour[num_sequences + 2 :]), by_first(colour[: num_sequences + 2]))


def _edges(view: SequenceView, payoff: sparse.csr_array, random: np.random.Generator) -> _Edges:
    """Return all edges of the sequence form as a graph: sequences first, then infosets."""
    num_infosets, num_sequences = len(view.parent), payoff.shape[0] - 2
    infoset = num_sequences + 2 + np.arange(num_infosets)
    own, sequence = np.repeat(infoset, _counts(view.first_sequence)), np.arange(num_sequences)
    parent = view.parent.astype(np.int64)
    entries = payoff.tocoo()
    meeting = np.repeat(infoset, _counts(view.mass_begin))
    kinds = [(own, sequence), (sequence, own), (infoset, parent), (parent, infoset)]
    seer = [one for one, _ in kinds] + [entries.row, entries.col, meeting]
    seen = [other for _, other in kinds] + [entries.col, entries.row, view.mass_sequence.astype(np.int64)]
    weights = random.integers(0, 2**64, len(kinds), dtype=np.uint64) | np.uint64(1)
    weight = [np.full(len(one), w) for (one, _), w in zip(kinds, weights, strict=True)]
    paid = _weights(entries.data, random)
    weight += [paid, paid, _weights(view.mass_probability, random)]
    seers = np.concatenate(seer).astype(np.int64)
    order = np.argsort(seers, kind="stable")
    nodes, begin = np.unique(seers[order], return_index=True)
    return _Edges(np.concatenate(seen).astype(np.int64)[order], np.concatenate(weight)[order], nodes, begin)


def _counts(begin: np.ndarray) -> np.ndarray:
    """Return the lengths of consecutive ranges; ``begin`` holds their starts, then the end of the last one."""
    counts: np.ndarray = np.diff(begin.astype(np.int64))
    return counts


def _weights(numbers: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a random odd weight for each number; numbers that are equal up to rounding get the same one."""
    order = np.argsort(numbers, kind="stable")
    rising = numbers[order]
    least = np.maximum(RELATIVE * np.abs(rising[:-1]), ABSOLUTE * np.abs(numbers).max(initial=0.0))
    with np.errstate(over="ignore"):  # of a difference above the largest double, which is no rounding
        steps = np.diff(rising) > least
    of_rising = np.concatenate([[0], np.cumsum(steps)])[: len(numbers)]
    weight = random.integers(0, 2**64, len(numbers) + 1, dtype=np.uint64) | np.uint64(1)
    found = np.empty(len(numbers), np.uint64)
    found[order] = weight[of_rising]
    return found


def _joined(colour: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Give each distinct pair of a colour and what it sees a new colour, counted from 0."""
    order = np.lexsort((seen, colour))
    new = (np.diff(colour[order]) != 0) | (seen[order][1:] != seen[order][:-1])
    found = np.empty_like(colour)
    found[order] = np.concatenate([[0], np.cumsum(new)])[: len(colour)]
    return found


def by_first(colour: np.ndarray) -> np.ndarray:
    """Number colours anew, in order of their first members."""
    _, first, of_each = np.unique(colour, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[of_each].astype(np.int32)
