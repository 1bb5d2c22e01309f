"""Exact passes by several threads: how the work is divided, and who does it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rlccfr.engine.binding import Binding
from rlccfr.engine.reduced import COSTS, pass_cost, payoffs_of
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.games.quotient import Quotient
from rlccfr.games.symmetry import by_first
from rlccfr.kernels.jit import UNJITTED
from rlccfr.kernels.layout import block_sizes
from rlccfr.kernels.passes.barrier import WORDS
from rlccfr.kernels.passes.threaded_iterations import Share, threaded_iterations

LEAST_COST = 100_000.0
"""Predicted nanoseconds of an iteration from which threads pay; they wait for each other four times in each."""

APART = 16
"""Doubles between memory of different threads: two cache lines, since processors fetch lines in pairs."""


class Crew:
    """Threads that share the exact passes over a quotient.

    Attributes:
        form: the quotient renumbered: of each player, first the infosets above the cuts, then each thread's.
        sequences: (M,) for each of the quotient's sequences, the one of ``form`` that it is.
    """

    def __init__(self, quotient: Quotient, threads: int) -> None:
        division = divided(quotient, threads)
        self.form = quotient.rearranged(division.order, np.argsort(division.blocks, kind="stable"))
        self.sequences = np.argsort(self.form.member)  # a quotient's own members ascend
        self._shares = division.shares(self.form, threads)
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="rlccfr")

    def run(self, game: Any, run: Any, binding: Binding, schedule: np.ndarray, cost: int) -> None:
        """Run iterations over ``form``; see :func:`rlccfr.kernels.passes.exact_iterations.exact_iterations`."""
        common = (game, run, binding.rule_handle, binding.procedure, schedule, cost)
        others = [self._pool.submit(partial(threaded_iterations, *common, share)) for share in self._shares[1:]]
        threaded_iterations(*common, self._shares[0])
        for other in others:
            other.result()


def crew_for(quotient: Quotient, binding: Binding) -> Crew | None:
    """Return threads for a binding; None where one does it.

    That is so if the binding asks for one, if it passes best responses in between, or if an iteration is short.
    """
    threads = binding.options.threads
    if threads == 1 or binding.procedure.best_response or UNJITTED or pass_cost(quotient.view) < LEAST_COST:
        return None
    return Crew(quotient, threads)


def divided(form: SequenceForm, threads: int) -> Division:
    """Divide infosets and blocks of payoffs among threads.

    The cuts are those with the least predicted time, of all whose levels differ by at most one between the players.
    """
    work, levels = _Work.of(form), _levels(form)
    deepest = int(levels.max(initial=0))
    cuts = [(one, one + more) for one in range(deepest + 1) for more in (-1, 0, 1) if 0 <= one + more <= deepest]
    divisions = [Division.of(form, work, levels, cut, threads) for cut in cuts or [(0, 0)]]
    return min(divisions, key=lambda division: division.time)


def _alone(size: int) -> np.ndarray:
    """Return zeros, (size,), that share no cache line with another array.

    Two threads that write to one line, each at its own place, wait for each other at each access.
    """
    return np.zeros(size + 2 * APART)[APART : APART + size]


class _Work(NamedTuple):
    """A sequence form's blocks and their cost: which sequences each block pays, and predicted nanoseconds."""

    block: np.ndarray  # of each pair of a block and a sequence in it
    sequence: np.ndarray
    of_block: np.ndarray  # (blocks,)
    of_infoset: np.ndarray  # (n,)

    @classmethod
    def of(cls, form: SequenceForm) -> _Work:
        view = form.view
        pairs = [_places(view.blocks_0, view.leaf_0), _places(view.blocks_1, view.leaf_1)]
        sequence, payoff, block, _ = COSTS
        return cls(
            block=np.concatenate([one for one, _ in pairs]),
            sequence=np.concatenate([one for _, one in pairs]),
            of_block=payoff * (payoffs_of(view.blocks_0) + payoffs_of(view.blocks_1)) + 2.0 * block,
            of_infoset=sequence * np.diff(view.first_sequence.astype(float)),
        )


def _places(blocks: np.ndarray, leaf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the block and the sequence of each place of a player's leaves."""
    width = blocks["own_end"].astype(np.int64) - blocks["own"]
    block = np.repeat(np.arange(len(blocks)), width)
    offset = np.arange(len(block)) - np.repeat(np.cumsum(width) - width, width)
    return block, leaf[blocks["own"].astype(np.int64)[block] + offset].astype(np.int64)


class Division(NamedTuple):
    """Which thread has which infosets and blocks."""

    player: np.ndarray  # (n,): of each infoset
    infosets: np.ndarray  # (n,): thread of each infoset; -1 above the cuts
    at_cut: np.ndarray  # (n,): whether the infoset is at its player's cut
    blocks: np.ndarray  # (blocks,): thread of each block
    time: float  # predicted nanoseconds of an iteration

    @classmethod
    def of(cls, form: SequenceForm, work: _Work, levels: np.ndarray, cut: tuple[int, int], threads: int) -> Division:
        """Divide a form that is cut at a level of each player's infosets."""
        player = (np.arange(form.num_infosets) >= form.view.infoset_begin[1]).astype(np.int64)
        level = np.array(cut)[player]
        below = levels >= level
        component = _components(form, work, levels, level)
        of_infoset, of_block = component[: form.num_infosets], component[form.num_infosets :]
        count = int(component.max(initial=0)) + 1
        weight = np.bincount(of_infoset[below], work.of_infoset[below], minlength=count)
        weight += np.bincount(of_block, work.of_block, minlength=count)
        share, loads = np.empty(count, np.int64), np.zeros(threads)
        for one in np.argsort(-weight, kind="stable"):  # the largest first, each to the least loaded thread
            share[one] = loads.argmin()
            loads[share[one]] += weight[one]
        time = float(work.of_infoset[~below].sum() + loads.max())
        return cls(player, np.where(below, share[of_infoset], -1), levels == level, share[of_block], time)

    @property
    def order(self) -> np.ndarray:
        """The infosets, (n,): of each player, those above the cut, then each thread's, otherwise as before."""
        return np.lexsort((self.infosets, self.player))

    def shares(self, form: SequenceForm, threads: int) -> list[Share]:
        """Return each thread's share of a form that has the order of this division."""
        place, (most_lines, widest) = np.argsort(self.order), block_sizes(form)
        cuts = [place[np.flatnonzero(self.at_cut & (self.player == player))[::-1]] for player in (0, 1)]
        value, barrier = _alone(form.num_infosets), _alone(WORDS).view(np.int64)

        def ends(player: int, *wanted: np.ndarray) -> list[int]:
            """Return a player's first infoset, and for each mask that number plus the player's infosets in the mask."""
            first = int(form.view.infoset_begin[player])
            return [first, *(first + int((mask & (self.player == player)).sum()) for mask in wanted)]

        def own(thread: int, player: int) -> list[int]:
            """Return a row of ``Share.own``."""
            before, mine = self.infosets < thread, self.infosets == thread
            return ends(player, before, before | (mine & self.at_cut), before | mine)[1:]

        return [
            Share(
                thread=thread,
                threads=threads,
                own=np.array([own(thread, player) for player in (0, 1)], np.int64),
                blocks=(int((self.blocks < thread).sum()), int((self.blocks <= thread).sum())),
                top=np.array([ends(player, self.infosets < 0) for player in (0, 1)], np.int64),
                cut_0=cuts[0],
                cut_1=cuts[1],
                line_reach=_alone(most_lines),
                leaf=_alone(widest),
                value=value,
                barrier=barrier,
            )
            for thread in range(threads)
        ]


def _components(form: SequenceForm, work: _Work, levels: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the component of each infoset and each block, numbered by first members.

    A component has whole subtrees below the cut, the blocks that pay their sequences, and the subtrees of the other
    player whose reach they read.
    """
    view, count, size = form.view, form.num_infosets, form.num_sequences
    owner, parent = form.owner, view.parent.astype(np.int64)
    below = np.append(levels >= level, [False, False])  # infosets, and the empty sequences' place
    owner = np.append(owner, [count, count + 1])
    inner = np.flatnonzero(levels > level)
    masses: np.ndarray = np.diff(view.mass_begin.astype(np.int64))
    infoset_of_mass = np.repeat(np.arange(count), masses)
    met = owner[view.mass_sequence.astype(np.int64)]
    read = below[infoset_of_mass] & below[met]
    blocks = count + 2
    # A sequence above the cut or an empty one has one place of its own, so that all blocks that pay it stay together.
    places = blocks + len(work.of_block)
    node = np.where(below[owner[work.sequence]], owner[work.sequence], places + work.sequence)
    edges = [
        (inner, owner[parent[inner]]),
        (blocks + work.block, node),
        (infoset_of_mass[read], met[read]),
    ]
    rows, columns = (np.concatenate([edge[side] for edge in edges]) for side in (0, 1))
    total = places + size + 2
    graph = sparse.coo_array((np.ones(len(rows), np.int8), (rows, columns)), (total, total))
    label = connected_components(graph, directed=False)[1]
    wanted = np.concatenate([label[:count], label[blocks:places]])
    return by_first(wanted)


def _levels(form: SequenceForm) -> np.ndarray:
    """Return the number of the owner's earlier infosets on the way to each infoset, (n,)."""
    owner, parent = form.owner, form.view.parent.astype(np.int64)
    above = np.where(parent < form.num_sequences, owner[np.minimum(parent, max(len(owner) - 1, 0))], -1)
    levels = np.zeros(form.num_infosets, np.int64)
    while not np.array_equal(further := np.where(above >= 0, levels[above] + 1, 0), levels):
        levels = further
    return levels
