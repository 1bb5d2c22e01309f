"""Exact passes over infosets by several threads: how the work is divided, and who does it.

An infoset's level is the number of its player's infosets on the way to it. Each player's infosets are cut at a level.
The first thread does the few infosets above the cut. Below the cut, the tree falls into components, such as the
subtrees below one public state, which share no payoffs; each thread has some of these. So threads wait for each other
only around the work above the cut; see :mod:`rlccfr.kernels.passes.threaded_iterations`.

How many threads a run may have is checked by :func:`rlccfr.engine.binding.checked_threads`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rlccfr.engine.binding import Binding
from rlccfr.engine.reduced import COSTS, pass_cost, payoffs_of
from rlccfr.engine.workers import Workers, assigned, padded_zeros, pairs_of_cuts
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.games.quotient import Quotient
from rlccfr.games.symmetry import by_first
from rlccfr.kernels.jit import UNJITTED
from rlccfr.kernels.layout import Procedure, block_sizes
from rlccfr.kernels.passes.barrier import WORDS
from rlccfr.kernels.passes.threaded_iterations import Share, threaded_iterations

LEAST_COST = 100_000.0
"""Threads are used if one thread is predicted to take at least this many nanoseconds for an iteration.

In a shorter iteration, threads would lose too much time: they wait for each other at least four times.
"""


class Crew:
    """Threads that share the exact passes over a quotient.

    Attributes:
        form: the quotient, renumbered player by player: first the infosets above the cut, then thread by thread the
            infosets of each thread.
        sequences: (M,) index in ``form`` of each of the quotient's sequences.
    """

    def __init__(self, quotient: Quotient, threads: int) -> None:
        division = divided(quotient, threads)
        # Each thread's infosets and blocks become consecutive; a stable sort keeps sums in order, bit for bit.
        self.form = quotient.rearranged(division.order, np.argsort(division.blocks, kind="stable"))
        self.sequences = np.argsort(self.form.member)  # a quotient's own members ascend
        self._workers = Workers(division.shares(self.form, threads))

    def run(self, game: Any, run: Any, rule: Any, procedure: Procedure, schedule: np.ndarray, cost: int) -> None:
        """Run iterations over ``form``; see :func:`rlccfr.kernels.passes.exact_iterations.exact_iterations`."""
        self._workers.run(partial(threaded_iterations, game, run, rule, procedure, schedule, cost))


def crew_for(quotient: Quotient, binding: Binding) -> Crew | None:
    """Return a crew for a binding; None if one thread does everything.

    One thread does everything if the binding asks for one, if iterations contain best responses, if the kernels are not
    compiled, or if an iteration is short.
    """
    threads = binding.options.threads
    if threads == 1 or binding.procedure.best_response or UNJITTED or pass_cost(quotient.view) < LEAST_COST:
        return None
    return Crew(quotient, threads)


def divided(form: SequenceForm, threads: int) -> Division:
    """Divide infosets and blocks of payoffs among threads.

    Each player has a level at which its infosets are cut. Among the pairs of levels that differ by at most 1, the pair
    with the least predicted time is chosen.
    """
    work = _Work.of(form)
    levels = form.infoset_levels
    cuts = pairs_of_cuts(int(levels.max(initial=0)))
    divisions = [Division.of(form, work, levels, cut, threads) for cut in cuts]
    return min(divisions, key=lambda division: division.time)


class _Work(NamedTuple):
    """The sequences that each block pays, that is, has payoffs for; and the predicted time of each block and infoset.

    The sequences are listed as P pairs (block, sequence).
    """

    block: np.ndarray  # (P,)
    sequence: np.ndarray  # (P,)
    block_time: np.ndarray  # (blocks,): predicted nanoseconds
    infoset_time: np.ndarray  # (n,): predicted nanoseconds

    @classmethod
    def of(cls, form: SequenceForm) -> _Work:
        view = form.view
        block_of_0, sequence_of_0 = _block_sequences(view.blocks_0, view.leaf_0)
        block_of_1, sequence_of_1 = _block_sequences(view.blocks_1, view.leaf_1)
        sequence_cost, payoff_cost, block_cost, _ = COSTS
        num_payoffs = payoffs_of(view.blocks_0) + payoffs_of(view.blocks_1)
        return cls(
            block=np.concatenate([block_of_0, block_of_1]),
            sequence=np.concatenate([sequence_of_0, sequence_of_1]),
            block_time=payoff_cost * num_payoffs + 2.0 * block_cost,  # each player passes over each block
            infoset_time=sequence_cost * np.diff(view.first_sequence.astype(float)),
        )


def _block_sequences(blocks: np.ndarray, leaf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of a block of a player and a sequence that the block pays, as two arrays."""
    width = blocks["own_end"].astype(np.int64) - blocks["own"]
    block = np.repeat(np.arange(len(blocks)), width)
    offset = np.arange(len(block)) - np.repeat(np.cumsum(width) - width, width)
    return block, leaf[blocks["own"].astype(np.int64)[block] + offset].astype(np.int64)


class Division(NamedTuple):
    """Which thread has which infosets and blocks."""

    player: np.ndarray  # (n,): owner of each infoset
    infosets: np.ndarray  # (n,): thread of each infoset; -1 above the cuts
    at_cut: np.ndarray  # (n,): whether the infoset is at its player's cut
    blocks: np.ndarray  # (blocks,): thread of each block
    time: float  # predicted nanoseconds of an iteration

    @classmethod
    def of(cls, form: SequenceForm, work: _Work, levels: np.ndarray, cut: tuple[int, int], threads: int) -> Division:
        """Divide the work on a form among threads; each player's infosets are cut at a given level.

        Args:
            levels: (n,) level of each infoset.
            cut: the level of each player's cut.
        """
        player = (np.arange(form.num_infosets) >= form.view.infoset_begin[1]).astype(np.int64)
        cut_level = np.array(cut)[player]
        below_cut = levels >= cut_level
        component = _components(form, work, levels, cut_level)
        infoset_component = component[: form.num_infosets]
        block_component = component[form.num_infosets :]
        # The time of each component is that of its infosets and of its blocks.
        num_components = int(component.max(initial=0)) + 1
        time = np.bincount(infoset_component[below_cut], work.infoset_time[below_cut], minlength=num_components)
        time += np.bincount(block_component, work.block_time, minlength=num_components)
        thread, loads = assigned(time, threads)
        return cls(
            player=player,
            infosets=np.where(below_cut, thread[infoset_component], -1),
            at_cut=levels == cut_level,
            blocks=thread[block_component],
            # One thread does the top while the others wait; then all wait for the thread with the most work.
            time=float(work.infoset_time[~below_cut].sum() + loads.max()),
        )

    @property
    def order(self) -> np.ndarray:
        """Infosets in their new order, (n,): for each player those above the cut, then the others thread by thread."""
        return np.lexsort((self.infosets, self.player))

    def shares(self, form: SequenceForm, threads: int) -> list[Share]:
        """Return each thread's share of a form whose infosets and blocks have the order of this division."""
        place = np.argsort(self.order)
        most_lines, widest_block = block_sizes(form)
        # A pass goes from the last infoset up, and so do the infosets at the cut.
        cut_0, cut_1 = (place[np.flatnonzero(self.at_cut & (self.player == player))[::-1]] for player in (0, 1))
        cut_value = padded_zeros(form.num_infosets)
        barrier = padded_zeros(WORDS).view(np.int64)
        return [
            Share(
                thread=thread,
                threads=threads,
                infosets=np.array([self._thread_bounds(form, thread, player) for player in (0, 1)], np.int64),
                blocks=(int((self.blocks < thread).sum()), int((self.blocks <= thread).sum())),
                top=np.array([self._top_bounds(form, player) for player in (0, 1)], np.int64),
                cut_0=cut_0,
                cut_1=cut_1,
                line_reach=padded_zeros(most_lines),
                leaf=padded_zeros(widest_block),
                cut_value=cut_value,
                barrier=barrier,
            )
            for thread in range(threads)
        ]

    def _top_bounds(self, form: SequenceForm, player: int) -> list[int]:
        """Return a row of ``Share.top``: where a player's infosets above the cut begin, and where they end."""
        return [int(form.view.infoset_begin[player]), self._end_of(form, player, self.infosets < 0)]

    def _thread_bounds(self, form: SequenceForm, thread: int, player: int) -> list[int]:
        """Return a row of ``Share.infosets``, for a thread and a player.

        It says where the thread's infosets at the level of the cut begin, where its deeper infosets begin, and where
        these end.
        """
        before = self.infosets < thread  # the top's and earlier threads'
        threads_own = self.infosets == thread
        return [
            self._end_of(form, player, before),
            self._end_of(form, player, before | (threads_own & self.at_cut)),
            self._end_of(form, player, before | threads_own),
        ]

    def _end_of(self, form: SequenceForm, player: int, mask: np.ndarray) -> int:
        """Return where the player's infosets in a mask, (n,), end; they must come first in the player's new order."""
        return int(form.view.infoset_begin[player]) + int((mask & (self.player == player)).sum())


def _components(form: SequenceForm, work: _Work, levels: np.ndarray, cut_level: np.ndarray) -> np.ndarray:
    """Return the component of each infoset and of each block, (n + blocks,), numbered in the order of first members.

    A component consists of whole subtrees of infosets below the cut, of the blocks that pay these infosets' sequences,
    and of the other player's subtrees whose reach these infosets read.

    Args:
        levels: (n,) level of each infoset.
        cut_level: (n,) level of the cut of each infoset's owner.
    """
    view = form.view
    num_infosets = form.num_infosets
    parent = view.parent.astype(np.int64)
    # Nodes of a graph: infosets and the two empty sequences' owners, blocks, and last a node for each sequence.
    first_block = num_infosets + 2
    first_sequence = first_block + len(work.block_time)
    num_nodes = first_sequence + form.num_sequences + 2
    owner = np.append(form.owner, [num_infosets, num_infosets + 1])
    below_cut = np.append(levels >= cut_level, [False, False])
    # Below the cut, an infoset belongs to the infoset before it.
    inner = np.flatnonzero(levels > cut_level)
    # A block belongs to the infosets that it pays. A sequence above the cut, or an empty one, stands for itself, so
    # that all blocks that pay it stay together: one thread adds them up.
    payee = owner[work.sequence]
    paid_node = np.where(below_cut[payee], payee, first_sequence + work.sequence)
    # An infoset's mass reads the reach of the opponent's sequences.
    num_masses: np.ndarray = np.diff(view.mass_begin.astype(np.int64))
    mass_infoset = np.repeat(np.arange(num_infosets), num_masses)
    mass_owner = owner[view.mass_sequence.astype(np.int64)]
    reads = below_cut[mass_infoset] & below_cut[mass_owner]
    rows = np.concatenate([inner, first_block + work.block, mass_infoset[reads]])
    columns = np.concatenate([owner[parent[inner]], paid_node, mass_owner[reads]])
    graph = sparse.coo_array((np.ones(len(rows), np.int8), (rows, columns)), (num_nodes, num_nodes))
    label = connected_components(graph, directed=False)[1]
    return by_first(np.concatenate([label[:num_infosets], label[first_block:first_sequence]]))
