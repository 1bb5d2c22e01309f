"""What the machine could do: bytes and operations that an exact iteration must move, against measured limits."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numba import njit

from rlccfr.games.flat_tree import GameTree

SIDE = 384
"""Of the matrices: large enough to reach what the core can do, small enough for its cache."""


class Work(NamedTuple):
    """Of one iteration of both players."""

    bytes: float
    operations: float


class Machine(NamedTuple):
    """What one core reaches."""

    bytes_per_second: float
    operations_per_second: float

    def seconds(self, work: Work) -> float:
        """The least that the work takes: whichever limit binds."""
        return max(work.bytes / self.bytes_per_second, work.operations / self.operations_per_second)


def work_of(game: GameTree) -> Work:
    """What alternating CFR+ must read and write at least once, as doubles and 32-bit indices.

    For each player: its payoffs (those that blocks share once), the opponent's reach for each line and the gradient
    for each of its leaf sequences; for each sequence gradient, regret and policy read, regret, policy, reach and
    average written, the average read; for each infoset its first sequence, parent and chance weight, twice. A
    multiply-add for each payoff of each block, and a dozen operations for each sequence.
    """
    view = game.view
    payoffs = len(view.payoff_0) + len(view.payoff_1)
    leaves = 3 * (len(view.leaf_0) + len(view.leaf_1))  # index, reach or gradient, and back
    moved = 8 * payoffs + 8 * leaves + 8 * 9 * game.num_sequences + 2 * 16 * game.num_infosets
    entries = sum(
        int((blocks["stride"] * (blocks["opponent_end"] - blocks["opponent"])).sum())
        for blocks in (view.blocks_0, view.blocks_1)
    )
    operations = 2 * entries + 12 * game.num_sequences
    return Work(moved, operations)


def measured_machine(working_set: float, seconds: float = 0.3) -> Machine:
    """Bandwidth of a sum over as many bytes as the game has, and the rate of multiply-adds in a product of matrices."""
    numbers = np.ones(max(int(working_set / 8), 1024))
    times = max(1, int(1e7 / len(numbers)))
    bandwidth = _best(lambda: _sum(numbers, times), 8 * len(numbers) * times, seconds)
    matrix = np.ones((SIDE, SIDE))
    rate = _best(lambda: matrix @ matrix, 2 * SIDE**3, seconds)
    return Machine(bandwidth, rate)


def _best(run, amount: float, seconds: float) -> float:
    """The highest rate of several runs, by CPU time, so of one core: a limit is not an average."""
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
        numbers[repeat % len(numbers)] = 1.0  # so that no sum is that of the time before
        for k in range(len(numbers)):
            total += numbers[k]
    return total
