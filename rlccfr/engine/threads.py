"""Exact passes by several threads: how the work is divided, and who does it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from rlccfr.engine.binding import Binding
from rlccfr.engine.reduced import pass_cost
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.kernels.jit import UNJITTED
from rlccfr.kernels.passes.barrier import WORDS
from rlccfr.kernels.passes.threaded_iterations import Share, threaded_iterations

LEAST_COST = 100_000.0
"""Predicted nanoseconds of an iteration from which threads pay; they wait for each other eight times in each."""

PARTS = 4
"""Least number of subtrees per thread, so that their sizes can be evened out."""


class Crew:
    """Threads that share the exact passes over one game or quotient."""

    def __init__(self, form: SequenceForm, threads: int) -> None:
        self._shares = shares_of(form, threads)
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="rlccfr")

    def run(self, game: Any, run: Any, binding: Binding, schedule: np.ndarray, cost: int) -> None:
        """Run iterations; see :func:`rlccfr.kernels.passes.exact_iterations.exact_iterations`."""
        common = (game, run, binding.rule_handle, binding.procedure, schedule, cost)
        others = [self._pool.submit(partial(threaded_iterations, *common, share)) for share in self._shares[1:]]
        threaded_iterations(*common, self._shares[0])
        for other in others:
            other.result()


def crew_for(form: SequenceForm, binding: Binding) -> Crew | None:
    """Return threads for a binding; None where one does it.

    That is so if the binding asks for one, if it passes best responses in between, or if an iteration is short.
    """
    threads = binding.options.threads
    if threads == 1 or binding.procedure.best_response or UNJITTED or pass_cost(form.view) < LEAST_COST:
        return None
    return Crew(form, threads)


def shares_of(form: SequenceForm, threads: int) -> list[Share]:
    """Divide a game's infosets and payoff blocks among threads, about evenly by sequences and by payoffs."""
    view, first = form.view, form.view.first_sequence.astype(np.int64)
    levels = _levels(form)
    tops, subtrees, blocks = [], [], []
    for player in (0, 1):
        begin, end = (int(view.infoset_begin[player + k]) for k in (0, 1))
        own = levels[begin:end]
        wanted = PARTS * threads
        counts = np.bincount(own, minlength=1)
        level = int(np.argmax(counts >= wanted)) if (counts >= wanted).any() else int(np.argmax(counts))
        cut, after = begin + int((own < level).sum()), begin + int((own <= level).sum())
        tops.append((begin, cut, after))
        subtrees.append(_subtrees(form, cut, after, end, threads))
        blocks.append(_block_ranges(view, player, threads))
    slices = [
        np.linspace(first[begin], first[end], threads + 1).astype(np.int64)
        for begin, end in ((int(view.infoset_begin[p]), int(view.infoset_begin[p + 1])) for p in (0, 1))
    ]
    widest, most_lines = _sizes(form)
    value, barrier = np.zeros(form.num_infosets), np.zeros(WORDS, np.int64)
    return [
        Share(
            thread=thread,
            threads=threads,
            subtrees_0=subtrees[0][thread],
            subtrees_1=subtrees[1][thread],
            blocks=np.array([of_player[thread : thread + 2] for of_player in blocks]),
            top=np.array(tops),
            slices=np.array([of_player[thread : thread + 2] for of_player in slices]),
            line_reach=np.zeros(most_lines),
            leaf=np.zeros(widest),
            value=value,
            barrier=barrier,
        )
        for thread in range(threads)
    ]


def _sizes(form: SequenceForm) -> tuple[int, int]:
    """Return the largest stride and the largest number of lines of a block."""
    blocks = np.concatenate([form.view.blocks_0, form.view.blocks_1])
    lines = blocks["opponent_end"] - blocks["opponent"]
    return int(blocks["stride"].max(initial=0)), int(lines.max(initial=0))


def _levels(form: SequenceForm) -> np.ndarray:
    """Return the number of the owner's earlier infosets on the way to each infoset, (n,)."""
    owner, parent = form.owner, form.view.parent.astype(np.int64)
    above = np.where(parent < form.num_sequences, owner[np.minimum(parent, max(len(owner) - 1, 0))], -1)
    levels = np.zeros(form.num_infosets, np.int64)
    while (further := np.where(above >= 0, levels[above] + 1, 0)).tolist() != levels.tolist():
        levels = further
    return levels


def _subtrees(form: SequenceForm, cut: int, after: int, end: int, threads: int) -> list[np.ndarray]:
    """Return each thread's ranges of infosets, (k, 2), below and including those from ``cut`` to ``after``."""
    first, parent, owner = form.view.first_sequence.astype(np.int64), form.view.parent.astype(np.int64), form.owner
    root = np.arange(cut, end)
    for infoset in range(after, end):  # parents come first
        root[infoset - cut] = root[owner[parent[infoset]] - cut]
    weight = np.bincount(root - cut, np.diff(first)[cut:end], minlength=after - cut)
    share = np.minimum(threads * (np.cumsum(weight) - weight / 2) / max(weight.sum(), 1), threads - 1).astype(np.int64)
    of_infoset = share[root - cut]
    changes = np.flatnonzero(np.diff(of_infoset)) + 1
    ranges = np.column_stack([np.append(0, changes), np.append(changes, len(root))])[: len(root)] + cut
    return [ranges[of_infoset[ranges[:, 0] - cut] == thread] for thread in range(threads)]


def _block_ranges(view: Any, player: int, threads: int) -> np.ndarray:
    """Return where each thread's blocks begin, (threads + 1,); no own sequence is in blocks of two threads."""
    blocks, leaf = (view.blocks_0, view.leaf_0) if player == 0 else (view.blocks_1, view.leaf_1)
    count = len(blocks)
    of_place = np.repeat(np.arange(count), blocks["own_end"].astype(np.int64) - blocks["own"])
    width = np.bincount(of_place, minlength=count)
    offset = np.arange(len(of_place)) - np.repeat(np.cumsum(width) - width, width)
    sequence = leaf[blocks["own"].astype(np.int64)[of_place] + offset].astype(np.int64)
    spans = np.zeros(count + 1, np.int64)  # number of sequences in blocks on both sides of each place
    first, last = np.full(int(sequence.max(initial=0)) + 1, count), np.zeros(int(sequence.max(initial=0)) + 1, np.int64)
    np.minimum.at(first, sequence, of_place)
    np.maximum.at(last, sequence, of_place)
    met = np.unique(sequence)
    np.add.at(spans, first[met] + 1, 1)
    np.add.at(spans, last[met] + 1, -1)
    free = np.flatnonzero(np.cumsum(spans) == 0)
    lines = blocks["opponent_end"].astype(np.int64) - blocks["opponent"]
    work = np.concatenate([[0], np.cumsum(blocks["stride"] * lines + 8)])
    wanted = np.linspace(0, work[-1], threads + 1)
    cuts = free[np.abs(work[free][:, None] - wanted).argmin(axis=0)]
    cuts[0], cuts[-1] = 0, count
    return np.maximum.accumulate(cuts)
