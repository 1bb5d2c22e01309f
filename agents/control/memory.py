"""The runs that agents learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rlccfr.components.controller import AGENTS, OBSERVATION
from rlccfr.envs.control.run import Episode

_RUNS = ("observations", "picks", "errors", "task")
"""Names of the arrays that have a row per run."""

LEAST_SPREAD = 0.1
"""Least unit of a task's rewards, in decades."""


class Transitions(NamedTuple):
    """Decisions, each with what followed until ``n`` decisions later or until the run's end.

    Attributes:
        observations: (b, k) what the agents saw: the entries of OBSERVATION.
        picks: (b, 3) what they picked.
        rewards: (b,) sum of the rewards since.
        later: (b, k) what they saw then.
        over: (b,) whether the run was over then.
    """

    observations: np.ndarray
    picks: np.ndarray
    rewards: np.ndarray
    later: np.ndarray
    over: np.ndarray


class RunMemory:
    """The latest runs, for each of several tasks: a task is a game and a number of iterations.

    The reward of a decision is the fall of log10 of the exploitability until the next one, less what runs of the same
    task fall by on average. That is a potential in the sense of Ng, Harada and Russell (Policy invariance under reward
    transformations, ICML 1999): it changes no best policy. Without it, the differences between games would drown those
    between picks. The unit is the standard deviation of the task's errors at the end of runs, so that tasks on which
    picks matter little count as much as the others. Differences from the average beyond a cap are compressed, which
    changes the weights of tasks.

    Rewards of several steps count the random picks among them, as those of most DQNs with such targets do.

    Args:
        decisions: number of decisions in a run of each task.
        capacity: number of runs that are remembered.
        cap: see :class:`ControlHyperparameters`.
    """

    def __init__(self, decisions: Sequence[int], capacity: int, cap: float) -> None:
        most = max(decisions)
        self.decisions, self.cap, self.count = np.array(decisions), cap, 0
        self.observations = np.zeros((capacity, most, len(OBSERVATION)), np.float32)
        self.picks = np.zeros((capacity, most, len(AGENTS)), np.int64)
        self.errors = np.zeros((capacity, most + 1))
        self.task = np.zeros(capacity, np.int64)
        self.average, self.spread = np.zeros((len(decisions), most + 1)), np.ones(len(decisions))
        self.has_averages = False

    def __len__(self) -> int:
        return min(self.count, len(self.task))

    def add(self, task: int, episode: Episode) -> None:
        """Remember a run, in place of the oldest if the memory is full."""
        at, number = self.count % len(self.task), len(episode.picks)
        self.task[at] = task
        self.observations[at, :number], self.picks[at, :number] = episode.observations, episode.picks
        self.errors[at, : number + 1] = episode.errors
        self.count += 1

    def set_averages(self) -> None:
        """Take the potential and the unit of each task's rewards from the runs remembered so far."""
        for task in range(len(self.decisions)):
            own = self.errors[: len(self)][self.task[: len(self)] == task]
            if len(own):
                self.average[task] = own.mean(axis=0)
                self.spread[task] = max(own[:, self.decisions[task]].std(), LEAST_SPREAD)
        self.has_averages = True

    def difference(self, task: np.ndarray, errors: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return errors less the average ones of their tasks at decision ``at``, in units of the tasks' spread.

        Beyond the cap they are compressed.
        """
        plain = (errors - self.average[task, at]) / self.spread[task]
        beyond = np.maximum(np.abs(plain) - self.cap, 0.0)
        compressed: np.ndarray = np.sign(plain) * (np.minimum(np.abs(plain), self.cap) + np.log1p(beyond))
        return compressed

    def sample(self, size: int, n_steps: int, rng: np.random.Generator) -> Transitions:
        """Return decisions drawn with replacement."""
        run = rng.integers(len(self), size=size)
        task = self.task[run]
        count = self.decisions[task]
        at = rng.integers(count)
        end = np.minimum(at + n_steps, count)
        before = self.difference(task, self.errors[run, at], at)
        after = self.difference(task, self.errors[run, end], end)
        over = end == count
        later = self.observations[run, np.minimum(end, count - 1)]
        return Transitions(self.observations[run, at], self.picks[run, at], before - after, later, over)

    def state(self) -> dict[str, np.ndarray]:
        """Return the runs remembered and the averages, by name."""
        found = {name: getattr(self, name)[: len(self)] for name in _RUNS}
        return found | {
            "average": self.average, "spread": self.spread, "count": np.array(self.count),
            "has_averages": np.array(self.has_averages),
        }  # fmt: skip

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`state` returned."""
        self.count, self.average[...], self.spread[...] = int(saved["count"]), saved["average"], saved["spread"]
        self.has_averages = bool(saved["has_averages"])
        for name in _RUNS:
            getattr(self, name)[: len(self)] = saved[name]
