"""The roofline: the bytes and operations of an exact iteration, against measured limits of the machine."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numba import njit

from rlccfr.games.flat_tree import SequenceForm

SIDE = 384
"""Side of the matrices: large enough to reach the core's limit, small enough for its cache."""


class Work(NamedTuple):
    """Bytes and operations of one iteration of both players."""

    bytes: float
    operations: float


class Machine(NamedTuple):
    """Rates that one core reaches."""

    bytes_per_second: float
    operations_per_second: float

    def seconds(self, work: Work) -> float:
        """Return the least time that the work takes, by the stricter limit."""
        return max(work.bytes / self.bytes_per_second, work.operations / self.operations_per_second)


def work_of(game: SequenceForm) -> Work:
    """Return the least that an iteration of alternating CFR+ must read, write and compute.

    Bytes per player: its payoffs (those that blocks share count once), and the opponent's reach for each line. Bytes
    per sequence of an infoset with a choice: regrets are read twice and written once, and reach is written. Bytes per
    sequence: sums of policies are read and written. Values and policies can stay in registers, and indices can be
    shared by the infosets of a public state, so neither counts. Numbers are doubles.
    Operations: a multiply-add for each payoff of each block, and a dozen for each sequence.
    """
    view = game.view
    payoffs = len(view.payoff_0) + len(view.payoff_1)
    lines = len(view.leaf_0) + len(view.leaf_1)
    num_actions = np.diff(view.first_sequence.astype(np.int64))
    choices = int(num_actions[num_actions > 1].sum())
    moved = 8 * (payoffs + lines + 4 * choices + 2 * game.num_sequences)
    entries = sum(
        int((blocks["stride"] * (blocks["opponent_end"] - blocks["opponent"])).sum())
        for blocks in (view.blocks_0, view.blocks_1)
    )
    operations = 2 * entries + 12 * game.num_sequences
    return Work(moved, operations)


def measured_machine(working_set: float, seconds: float = 0.3) -> Machine:
    """Measure the bandwidth of a sum over ``working_set`` bytes, and the rate of multiply-adds in a matrix product."""
    numbers = np.ones(max(int(working_set / 8), 1024))
    times = max(1, int(1e7 / len(numbers)))
    bandwidth = _best(lambda: _sum(numbers, times), 8 * len(numbers) * times, seconds)
    matrix = np.ones((SIDE, SIDE))
    rate = _best(lambda: matrix @ matrix, 2 * SIDE**3, seconds)
    return Machine(bandwidth, rate)


def _best(run, amount: float, seconds: float) -> float:
    """Return the highest rate of several runs, since a limit is not an average; CPU time makes it one core's."""
    run()
    best, begin = 0.0, time.process_time()
    while time.process_time() - begin < seconds:
        start = time.process_time()
        run()
        best = max(best, amount / (time.process_time() - start))
    return best


@njit(fastmath=True, cache=True)
def _sum(numbers, times):
    total = 0.0
    for repeat in range(times):
        numbers[repeat % len(numbers)] = 1.0  # so that each sum differs from the previous one
        for k in range(len(numbers)):
            total += numbers[k]
    return total
