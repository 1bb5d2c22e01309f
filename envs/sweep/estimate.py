"""How long a sweep would take, from a hundredth of each run."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.sweep.plan import Job
from rlccfr.result import POINTS_PER_DECADE
from rlccfr.solver import Solver

SHARE = 0.01


class Cost(NamedTuple):
    """CPU seconds of one run."""

    iterating: float
    around: float  # making the solver, and measuring its curve


def cost_of(job: Job) -> Cost:
    """From a hundredth of its iterations, after as many that do not count: models are slowest at first.

    To which come making the solver, and measuring its curve at ten points a decade.
    """
    begin = time.process_time()
    solver = Solver(compiled(job.game), *job.cell, seed=job.seed)
    making = time.process_time() - begin
    count = math.ceil(SHARE * job.limits.iterations)
    first = solver.run(iterations=count, curve=False).cpu_seconds
    each = (solver.run(iterations=count, curve=False).cpu_seconds - first) / count
    begin = time.process_time()
    solver.exploitability()
    measuring = 2 * (time.process_time() - begin)  # the average policy's, and the current one's
    seconds = max(each * job.limits.iterations, job.limits.seconds)
    points = POINTS_PER_DECADE * math.log10(max(seconds / each, job.limits.iterations))
    return Cost(seconds, making + points * measuring)
