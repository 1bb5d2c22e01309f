"""Rates of several contenders, measured in alternation, so that other work on the machine affects all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import stats

from benchmarks.processes import ProcessEndedError

Step = Callable[[int], None]
"""Function that runs a given number of iterations."""

Timer = Callable[[int], float]
"""Function that runs a given number of iterations and returns the CPU seconds that they took."""


class ContenderFailedError(Exception):
    """A contender's process ended while it was timed.

    Attributes:
        name: the contender's name.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


class Rates(NamedTuple):
    """Iterations per CPU second of each contender, by its name, shape (rounds,) each."""

    per_second: dict[str, np.ndarray]

    def mean(self, name: str) -> float:
        """Return a contender's geometric mean; :meth:`ratio` is the ratio of two such means."""
        return float(np.exp(np.log(self.per_second[name]).mean()))

    def ratio(self, name: str, other: str) -> tuple[float, float, float]:
        """Return how many times as fast as ``other`` a contender is.

        Returns:
            The geometric mean over rounds, and the ends of its 95 % interval by Student's t-distribution.
        """
        logs = np.log(self.per_second[name] / self.per_second[other])
        half = stats.t.ppf(0.975, len(logs) - 1) * stats.sem(logs)
        return tuple(float(np.exp(logs.mean() + shift)) for shift in (0.0, -half, half))  # type: ignore[return-value]


def alternate(steps: Mapping[str, Step], seconds: float, rounds: int) -> Rates:
    """Return the rates of contenders that run in turn, each of them for about ``seconds`` CPU seconds per round."""
    return alternate_timers({name: partial(timed, step) for name, step in steps.items()}, seconds, rounds)


def alternate_timers(timers: Mapping[str, Timer], seconds: float, rounds: int) -> Rates:
    """Do as :func:`alternate`, with functions that measure their own times, because they run in other processes.

    Raises:
        ContenderFailedError: a contender's process has ended.
    """
    timers = {name: partial(_call_timer, name, timer) for name, timer in timers.items()}
    counts = {name: _calibrated(timer, seconds) for name, timer in timers.items()}
    for name, timer in timers.items():  # a round that does not count: some solvers speed up as their tables fill
        timer(counts[name])
    found: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(rounds):
        for name, timer in timers.items():
            found[name].append(counts[name] / timer(counts[name]))
    return Rates({name: np.array(rates) for name, rates in found.items()})


def _call_timer(name: str, timer: Timer, count: int) -> float:
    """Call a contender's timer.

    Raises:
        ContenderFailedError: its process has ended.
    """
    try:
        return timer(count)
    except ProcessEndedError as error:
        raise ContenderFailedError(name, str(error)) from None


def timed(step: Step, count: int) -> float:
    """Return the CPU seconds that ``count`` iterations take on all threads together."""
    begin = time.process_time()
    step(count)
    return max(time.process_time() - begin, 1e-9)


def _calibrated(timer: Timer, seconds: float) -> int:
    """Return a number of iterations that takes about ``seconds``; the first ones also serve as a warm-up."""
    timer(1)
    count = 1
    while (spent := timer(count)) < seconds / 4:
        count *= 4 if spent < seconds / 40 else 2
    return max(1, round(count * seconds / spent))
