"""The engine's speed: an algorithm's iterations per second, compared with those of plain CFR on the same game."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rlccfr.catalog import Cell
from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.game import Game
from rlccfr.games.compiled_games import compiled
from rlccfr.garbage import collector_paused
from rlccfr.result import RunResult

if TYPE_CHECKING:  # loading the engine's kernels takes time, and a team that only picks does not need them
    from rlccfr.engine.engine import Engine
    from rlccfr.solver import Solver

LEAST_SECONDS = 0.02
"""Least duration of a timing, in engine CPU seconds; a shorter run is repeated."""

ROUNDS = 3
"""Number of timings of a short run: odd, so that there is a median."""

REPEAT_BELOW = 0.5
"""Engine CPU seconds; a shorter run is timed again, without the stops for its curve, which may take tens of ms."""


def measured_solver(game: str, cell: Cell, seed: int) -> Solver:
    """Return a new solver for a measurement, with the default options."""
    from rlccfr.solver import Solver

    return Solver(compiled(game), *cell, seed=seed)


class Timed(NamedTuple):
    """A number of iterations, and the engine CPU seconds that they took.

    Attributes:
        iterations: number of iterations; a fraction where it is an estimate.
        seconds: engine CPU seconds.
    """

    iterations: float
    seconds: float

    @property
    def throughput(self) -> float:
        """Iterations per engine CPU second."""
        return self.iterations / self.seconds

    def plus(self, other: Timed) -> Timed:
        """Return the sum of two timings."""
        return Timed(self.iterations + other.iterations, self.seconds + other.seconds)


NO_TIME = Timed(0, 0.0)


def timed_advance(engine: Engine, iterations: int) -> Timed:
    """Call the engine for at most ``iterations`` iterations; return the iterations it ran and their CPU seconds."""
    with collector_paused():
        begin = time.thread_time()
        done = engine.advance(iterations, sys.maxsize)
        return Timed(done, time.thread_time() - begin)


SPACING = 0.1
"""Least CPU time between slices of plain CFR during a run, as a share of the run's CPU time so far."""

SHARE = 0.2
"""Largest CPU time of the slices of plain CFR during a run, as a share of the run's CPU time."""


class Part(NamedTuple):
    """A stretch of a run with one algorithm: its components, and the number of iterations."""

    update_rule: UpdateRule
    sampler: Sampler
    abstraction: Abstraction
    iterations: int


PLAIN = (UpdateRule(), Sampler(exact=True), Abstraction())
"""Components of plain CFR, with which each run is compared.

Its passes go over infosets, also where those of a measured run go over bundles of them. So speeds stay comparable with
those that were measured before there were bundles.
"""


class ReferenceClock:
    """Plain CFR (exact, no abstraction) on one game, run in slices between parts of the runs that it is compared with.

    Attributes:
        tree: the game.
    """

    def __init__(self, tree: Game) -> None:
        from rlccfr.engine.engine import Engine, RunOptions

        self.tree = tree
        self._engine = Engine(tree, 0, RunOptions(reduce=True, bundles=False))
        self._engine.bind(*PLAIN)
        # A first guess of the speed, from one iteration with warm caches.
        self._engine.advance(1, sys.maxsize)
        self._iterations_per_second = 1 / max(timed_advance(self._engine, 1).seconds, 1e-6)

    def slice(self, seconds: float = LEAST_SECONDS) -> Timed:
        """Run for at least ``seconds`` CPU seconds, and return the iterations done and their CPU seconds.

        All slices continue one run, since the cost of an exact pass hardly depends on the tables.
        """
        from rlccfr.engine.engine import CHUNK

        total = NO_TIME
        while total.seconds < seconds:
            # Each call aims at the whole slice, by the speed so far, because starting a call takes time.
            limit = max(1, min(CHUNK, int(self._iterations_per_second * seconds)))
            total = total.plus(timed_advance(self._engine, limit))
            self._iterations_per_second = total.throughput
        return total

    def alike(self, parts: Sequence[Part], seconds: float = LEAST_SECONDS) -> Timed:
        """Time plain CFR in the same way as a short run's second timing: on new tables, in calls of the same lengths.

        The lengths must be the same because starting a call takes time. If plain CFR needs more than ``seconds`` for
        the run's iterations, the starts hardly matter, and a slice takes the place of the calls.
        """
        plain = [Part(*PLAIN, part.iterations) for part in parts]
        if sum(part.iterations for part in plain) > self._iterations_per_second * seconds:
            return self.slice(seconds)
        return time_again(self.tree, plain, 0, seconds, bundles=False)[1]


class Beside:
    """Plain CFR, run in slices before and during another run, to compare the speeds of the two.

    Slices are spread over the run, since the load on the machine varies. Each slice gives the speed of plain CFR for
    the stretch of the run since the previous slice.

    Args:
        slice: function that runs a slice of plain CFR.

    Attributes:
        total: iterations and seconds of the first slice; plus, for each stretch so far, its seconds and the iterations
            that plain CFR would have done in them.
    """

    def __init__(self, slice: Callable[[], Timed]) -> None:
        self._slice = slice
        self._last_slice = slice()
        self.total = self._last_slice
        self._compared_until = 0.0  # engine CPU seconds of the run at the last slice

    def go_on(self, seconds: float) -> None:
        """Run another slice if one is due, after the run has taken ``seconds`` engine CPU seconds."""
        # Slices are rare enough to cost little, and a long run has few of them.
        stretch = seconds - self._compared_until
        if stretch >= max(self._last_slice.seconds / SHARE, SPACING * seconds):
            self._last_slice = self._slice()
            self._compared_until = seconds
            self.total = self.total.plus(Timed(stretch * self._last_slice.throughput, stretch))


class Timing(NamedTuple):
    """The speed of a run, and the speed of plain CFR to compare it with.

    Attributes:
        runs: number of runs that were timed.
        cpu_seconds: engine CPU seconds per run.
        throughput: iterations per engine CPU second.
        reference_throughput: throughput of plain CFR.
        reference: new timing of plain CFR, to be added to the earlier timings.
    """

    runs: int
    cpu_seconds: float
    throughput: float
    reference_throughput: float
    reference: Timed


def compare(
    result: RunResult,
    before: Timed,
    clock: ReferenceClock,
    parts: Sequence[Part],
    seed: int,
    seconds: float = LEAST_SECONDS,
    *,
    repeat: bool = True,
) -> Timing:
    """Return the speed of a run, and the speed of plain CFR to compare it with.

    A run of at least :data:`REPEAT_BELOW` seconds is compared with slices of plain CFR before, during and after it. A
    shorter run is timed again on new tables, in several rounds; each round times the run, then plain CFR. The round
    with the median ratio of the two speeds counts, since other work may disturb a round.

    Args:
        result: result of the run.
        before: iterations and seconds of plain CFR in all slices so far.
        clock: plain CFR on the run's game.
        parts: the run's stretches with one algorithm each.
        seed: the run's seed.
        seconds: CPU seconds of a slice.
        repeat: whether short runs are timed again.
    """
    if result.cpu_seconds >= REPEAT_BELOW or not repeat:
        last_slice = clock.slice(seconds)
        reference = before.plus(last_slice)
        throughput = result.iterations / max(result.cpu_seconds, 1e-9)
        return Timing(1, result.cpu_seconds, throughput, reference.throughput, last_slice)

    # Each round has the number of runs, their timing, and plain CFR's timing.
    rounds = [(*time_again(clock.tree, parts, seed), clock.alike(parts, seconds)) for _ in range(ROUNDS)]
    rounds.sort(key=lambda timings: timings[1].throughput / timings[2].throughput)
    _, median_timed, median_reference = rounds[ROUNDS // 2]

    # The time of a run follows from all rounds.
    num_runs = sum(runs for runs, _, _ in rounds)
    iterations = sum(timed.iterations for _, timed, _ in rounds)
    cpu_seconds = sum(timed.seconds for _, timed, _ in rounds)
    return Timing(
        runs=num_runs,
        cpu_seconds=result.iterations * cpu_seconds / iterations,
        throughput=median_timed.throughput,
        reference_throughput=median_reference.throughput,
        reference=median_reference,
    )


def cost_of_comparing(seconds: float) -> float:
    """Return the approximate CPU seconds that comparing a run of ``seconds`` CPU seconds with plain CFR takes."""
    slices = LEAST_SECONDS + SHARE * seconds
    rounds = ROUNDS * (max(seconds, LEAST_SECONDS) + LEAST_SECONDS) if seconds < REPEAT_BELOW else 0.0
    return slices + rounds


def time_again(
    tree: Game, parts: Sequence[Part], seed: int, seconds: float = LEAST_SECONDS, *, bundles: bool = True
) -> tuple[int, Timed]:
    """Repeat a run on new tables until making tables and running have taken ``seconds`` CPU seconds in all.

    A run's first iteration does not count. It makes the tables and touches them for the first time, which takes as long
    as a hundred iterations on Kuhn poker, and as long as several iterations in a large game. If the first part has only
    one iteration, it gets a second one.

    Args:
        bundles: see :class:`rlccfr.engine.binding.RunOptions`.

    Returns:
        Number of repetitions; and the iterations that count, with the engine CPU seconds that they took.
    """
    from rlccfr.engine.engine import Engine, RunOptions

    runs = 0
    total = NO_TIME
    start = time.thread_time()
    while not runs or time.thread_time() - start < seconds:
        engine = Engine(tree, seed, RunOptions(reduce=True, bundles=bundles))
        for part in parts:
            engine.bind(part.update_rule, part.sampler, part.abstraction)
            iterations_left = part.iterations
            if not engine.iteration:  # the first iteration makes the tables
                iterations_left = max(1, iterations_left - engine.advance(1, sys.maxsize))
            while iterations_left:
                timed = timed_advance(engine, iterations_left)
                total = total.plus(timed)
                iterations_left -= int(timed.iterations)
        runs += 1
    return runs, total
