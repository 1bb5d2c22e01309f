"""An estimate of a sweep's duration from 1 % of each run."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rlccfr.envs.measuring.timing import cost_of_comparing, measured_solver
from rlccfr.envs.sweeping.plan import Job
from rlccfr.envs.sweeping.worker import seconds_again
from rlccfr.errors import RLCCFRError
from rlccfr.result import POINTS_PER_DECADE

SHARE = 0.01
"""Share of a run's iterations that is run for the estimate."""


class Cost(NamedTuple):
    """CPU seconds of one run.

    Attributes:
        iterating: CPU seconds of the iterations.
        around: CPU seconds of everything else: making the solver, measuring the curve, and further timings.
    """

    iterating: float
    around: float


def cost_of(job: Job) -> Cost:
    """Return a run's cost, estimated from 1 % of its iterations after a warm-up of the same length.

    The warm-up does not count in the estimate, since models are slowest at first. The cost includes making the solver,
    measuring the curve at ten points per decade, timing the run again, and timing plain CFR for comparison.
    """
    begin = time.process_time()
    solver = measured_solver(job.game, job.cell, job.seed)
    making = time.process_time() - begin

    # A trial, after a warm-up of the same length.
    trial = math.ceil(SHARE * job.limits.iterations)
    warm_up = solver.run(iterations=trial, curve=False).cpu_seconds
    seconds_per_iteration = (solver.run(iterations=trial, curve=False).cpu_seconds - warm_up) / trial

    # A point of the curve takes two evaluations: of the average policy, and of the current one.
    begin = time.process_time()
    solver.exploitability()
    seconds_per_point = 2 * (time.process_time() - begin)

    # The run lasts for its least iterations or its least seconds, whichever takes longer.
    iterations = job.limits.iterations if job.learns else job.limits.goal(seconds_per_iteration)
    seconds = max(seconds_per_iteration * iterations, job.limits.seconds)
    points = POINTS_PER_DECADE * math.log10(max(seconds / seconds_per_iteration, iterations))
    timing = cost_of_comparing(seconds) + (0.0 if job.learns else seconds_again(seconds))
    return Cost(seconds, making + points * seconds_per_point + timing)


def total_cost(todo: Sequence[Job], progress: Callable[[float], None] | None = None) -> float:
    """Return the estimated CPU seconds of all runs, from a trial of 1 % of one run per algorithm and game.

    Args:
        todo: the runs.
        progress: function called with the share of the trials that are done.
    """
    # Runs that differ only in their seed cost the same.
    counts = Counter((job.game, job.cell) for job in todo)
    example = {(job.game, job.cell): job for job in todo}
    total = 0.0
    for tried, (kind, count) in enumerate(counts.items(), start=1):
        try:
            total += count * sum(cost_of(example[kind]))
        except RLCCFRError:  # the algorithm can't run here; the sweep will record that
            continue
        except Exception:  # a broken plugin: assume the longest time allowed
            total += count * example[kind].limits.timeout
        if progress:
            progress(tried / len(counts))
    return total
