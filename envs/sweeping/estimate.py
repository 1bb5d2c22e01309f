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


class Cost(NamedTuple):
    """CPU seconds of one run."""

    iterating: float
    around: float  # making the solver, measuring its curve, and timing it


def cost_of(job: Job) -> Cost:
    """Return a run's cost, estimated from 1 % of its iterations after a warm-up of the same length.

    The warm-up is not counted, since models are slowest at first. The cost includes making the solver, measuring its
    curve at ten points per decade, and timing it again and beside plain CFR.
    """
    begin = time.process_time()
    solver = measured_solver(job.game, job.cell, job.seed)
    making = time.process_time() - begin
    count = math.ceil(SHARE * job.limits.iterations)
    first = solver.run(iterations=count, curve=False).cpu_seconds
    each = (solver.run(iterations=count, curve=False).cpu_seconds - first) / count
    begin = time.process_time()
    solver.exploitability()
    measuring = 2 * (time.process_time() - begin)  # the average policy's, and the current one's
    iterations = job.limits.iterations if job.learns else job.limits.goal(each)
    seconds = max(each * iterations, job.limits.seconds)
    points = POINTS_PER_DECADE * math.log10(max(seconds / each, iterations))
    timing = cost_of_comparing(seconds) + (0.0 if job.learns else seconds_again(seconds))
    return Cost(seconds, making + points * measuring + timing)


def total_cost(todo: Sequence[Job], progress: Callable[[float], None] | None = None) -> float:
    """Return the estimated CPU seconds of all runs, from a trial of 1 % of one run per algorithm and game.

    Args:
        progress: function called with the share of the trials that is done.
    """
    kinds = Counter((job.game, job.cell) for job in todo)
    one = {(job.game, job.cell): job for job in todo}
    total = 0.0
    for done, (kind, count) in enumerate(kinds.items(), start=1):
        try:
            total += count * sum(cost_of(one[kind]))
        except RLCCFRError:  # it can't run here; the sweep will record that
            continue
        except Exception:  # a broken plugin: assume the longest time allowed
            total += count * one[kind].limits.timeout
        if progress:
            progress(done / len(kinds))
    return total
