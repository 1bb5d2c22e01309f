"""A flop of no-limit hold'em on up to 64 threads, predicted from what one thread of this machine measures.

Threads share the outcomes of the first chance node on each path. One thread times each outcome, and what comes before
and after all of them. From that follows how long a pass takes on any number of threads that each take the next outcome
when they are free. The memory traffic is counted, and compared with what a core of this machine reads.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks import flops
from benchmarks.roofline import measured_machine
from rlccfr.components.schedules import SCHEDULE_COLUMNS
from rlccfr.engine.public.public_crew import PublicCrew, current
from rlccfr.engine.public.public_state import PublicState
from rlccfr.kernels.public.public_iterations import begin_pass, end_pass, pass_below
from rlccfr.kernels.public.sweep import UPDATE

FLOP = "3betpotFAST"
THREADS = (1, 2, 4, 8, 16, 32, 64)
ROUNDS = 3
"""Timed iterations; the least time of each outcome counts."""

ENTRIES_MOVED = 5
"""Entries of tables that an iteration reads or writes for each sequence.

It reads the regret twice, for the owner's update and for the opponent's, and the policy sum once; it writes both once.
"""

BEYOND_CACHES = 5e8
"""Bytes of an array that no cache holds."""


class Iteration(NamedTuple):
    """The parts of an iteration on one thread, which has a pass for each player."""

    serial: float  # seconds before and after the outcomes
    outcomes: tuple[np.ndarray, ...]  # (outcomes,) seconds of each outcome, for each pass
    bytes: float  # read and written, of the tables


def measured_iteration() -> Iteration:
    """Time the parts of an iteration."""
    game: Any = flops.load(FLOP)
    state = PublicState.at_start(game, 0, None)
    tables = state.tables
    crew = PublicCrew(game, state.dtype, 2)
    workspace, shared = crew._workspaces[0], crew._outcomes
    row = {"positive_discount": 1.0, "average_decay": 1.0}  # CFR+ without weights
    rows = np.array([[row.get(column, 0.0) for column in SCHEDULE_COLUMNS]] * 2, state.dtype)
    num_outcomes = len(game.view.outcomes)
    serial = np.full(2, np.inf)
    outcomes = np.full((2, num_outcomes), np.inf)
    for _ in range(ROUNDS + 1):  # the first one waits for memory
        for player in range(2):
            arguments = (game.view, player, current(tables), tables, workspace, shared, rows, UPDATE)
            begun = time.thread_time()
            begin_pass(*arguments)
            around = time.thread_time() - begun
            for number in range(num_outcomes):
                begun = time.thread_time()
                pass_below(*arguments, number, number + 1)
                outcomes[player, number] = min(outcomes[player, number], time.thread_time() - begun)
            begun = time.thread_time()
            end_pass(*arguments)
            serial[player] = min(serial[player], around + time.thread_time() - begun)
    moved = ENTRIES_MOVED * game.num_sequences * tables.regret.itemsize
    return Iteration(float(serial.sum()), tuple(outcomes), float(moved))


def duration(times: Sequence[float], threads: int) -> float:
    """Return how long threads take that each take the next piece of work when they are free.

    Examples:
        >>> duration([3.0, 1.0, 1.0, 1.0], 2)
        3.0
    """
    free = [0.0] * threads
    for seconds in times:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


def report() -> list[str]:
    """Return the section as Markdown."""
    iteration = measured_iteration()
    one = iteration.serial + sum(float(times.sum()) for times in iteration.outcomes)
    bandwidth = measured_machine(BEYOND_CACHES).bytes_per_second
    serial_share = iteration.serial / one
    milliseconds = iteration.outcomes[0] * 1e3
    lines = [
        f"An iteration on {FLOP} takes {one:.2f} s on one thread, of which {serial_share:.2%} can't be shared. "
        f"Each of {len(milliseconds)} outcomes of the turn takes {milliseconds.min():.2g} to "
        f"{milliseconds.max():.2g} ms in one pass. "
        f"An iteration reads and writes {iteration.bytes / 1e9:.2f} GB of tables; one core of this machine reads "
        f"{bandwidth / 1e9:.1f} GB/s. On a machine whose memory gives less than the last column, memory sets the pace.",
        "",
        "| threads | times as fast as one | GB/s of tables |",
        "|---|---|---|",
    ]
    for threads in THREADS:
        seconds = iteration.serial + sum(duration(times.tolist(), threads) for times in iteration.outcomes)
        lines.append(f"| {threads} | {one / seconds:.1f} | {iteration.bytes / seconds / 1e9:.1f} |")
    return lines


if __name__ == "__main__":
    print("\n".join(report()))
