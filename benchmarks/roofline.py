"""What the machine could do: bytes and operations that an exact iteration must move, against measured limits."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numba import njit

from rlccfr.game_tree import GameTree


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
    """Bandwidth of a sum over as many bytes as the game has, and the rate of multiply-adds in registers."""
    numbers = np.ones(max(int(working_set / 8), 1024))
    bandwidth = _best(lambda: _sum(numbers), 8 * len(numbers), seconds)
    lanes, repeats = _aligned(64), 20_000
    rate = _best(lambda: _multiply_add(lanes, repeats), 2 * 64 * repeats, seconds)
    return Machine(bandwidth, rate)


def _aligned(length: int) -> np.ndarray:
    """Ones from the start of a cache line: a vector across two of them takes three times as long."""
    numbers = np.ones(length + 7)
    first = -numbers.ctypes.data // 8 % 8
    return numbers[first : first + length]


def _best(run, amount: float, seconds: float) -> float:
    """The highest rate of several runs: a limit is not an average."""
    run()
    best, begin = 0.0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        run()
        best = max(best, amount / (time.perf_counter() - start))
    return best


@njit(fastmath=True, cache=True)
def _sum(numbers):
    total = 0.0
    for k in range(len(numbers)):
        total += numbers[k]
    return total


@njit(fastmath=True, cache=True)
def _multiply_add(lanes, repeats):
    for _ in range(repeats):
        for k in range(64):
            lanes[k] = lanes[k] * 0.999999 + 1e-6
    return lanes[0]
