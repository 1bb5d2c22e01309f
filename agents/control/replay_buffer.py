"""The replay buffer: the latest runs, from which agents draw the decisions that they learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rlccfr.components.controller import AGENTS, OBSERVATION
from rlccfr.envs.control.run import Episode

_ARRAYS_OF_RUNS = ("observations", "picks", "errors", "task")
"""Names of the buffer's arrays that have a row per run."""

LEAST_SPREAD = 0.1
"""Least value of :attr:`ReplayBuffer.spread`, the unit of rewards, in decades (powers of ten of exploitability)."""


class Transitions(NamedTuple):
    """A batch of b decisions, each with what followed within n decisions, or within fewer if the run ended earlier.

    Attributes:
        observations: (b, k) float32, what the agents saw: the k entries of
            :data:`rlccfr.components.controller.OBSERVATION`.
        picks: (b, 3) int64, index of the pick of each agent.
        rewards: (b,) float64, sum of the rewards of these n or fewer decisions, the batch's own decision included.
        later: (b, k) float32, what the agents saw after these decisions; meaningless if the run was over.
        over: (b,) bool, whether the run was over after these decisions.
    """

    observations: np.ndarray
    picks: np.ndarray
    rewards: np.ndarray
    later: np.ndarray
    over: np.ndarray


class ReplayBuffer:
    """The latest runs of several tasks: a task is a game and a number of iterations.

    The error of a run is log10 of the average policy's exploitability as a share of the uniform policy's. The reward of
    a decision is the fall of the error until the next decision, minus the fall between these decisions in an average
    run of the same task. The average error is a potential in the sense of Ng, Harada and Russell (Policy invariance
    under reward transformations, ICML 1999): subtracting it does not change which policies are best. Without the
    subtraction, differences between games would obscure the effects of picks. The unit of rewards is the standard
    deviation of the task's errors at the end of runs, so that tasks on which picks matter little count as much as other
    tasks. Differences from the average beyond a cap are compressed; this does change the relative weights of tasks.

    A sum of rewards over several decisions includes the effects of random picks, without a correction, as in most DQNs
    with n-step targets.

    Args:
        decisions: number of decisions in a run of each task.
        capacity: number of runs that the buffer holds.
        cap: see :class:`ControlHyperparameters`.

    Attributes:
        decisions: (tasks,) number of decisions in a run of each task. Below, d is the largest of them; in the rows of
            a run with fewer decisions, the remaining entries are zeros or an older run's.
        cap: as the argument.
        count: number of runs added so far, including those that were overwritten.
        observations: (capacity, d, k) float32, what the agents saw at each decision: the k entries of
            :data:`rlccfr.components.controller.OBSERVATION`.
        picks: (capacity, d, 3) int64, index of the pick of each agent.
        errors: (capacity, d + 1) error at each decision and at the run's end, in decades.
        task: (capacity,) int64, index of the run's task.
        average: (tasks, d + 1) mean error of each task's runs at each decision and at the end, in decades.
        spread: (tasks,) unit of each task's rewards, in decades.
        has_averages: whether ``average`` and ``spread`` have been computed from runs.
    """

    def __init__(self, decisions: Sequence[int], capacity: int, cap: float) -> None:
        most_decisions = max(decisions)
        self.decisions = np.array(decisions)
        self.cap = cap
        self.count = 0
        self.observations = np.zeros((capacity, most_decisions, len(OBSERVATION)), np.float32)
        self.picks = np.zeros((capacity, most_decisions, len(AGENTS)), np.int64)
        self.errors = np.zeros((capacity, most_decisions + 1))
        self.task = np.zeros(capacity, np.int64)
        self.average = np.zeros((len(decisions), most_decisions + 1))
        self.spread = np.ones(len(decisions))
        self.has_averages = False

    def __len__(self) -> int:
        return min(self.count, len(self.task))

    def add(self, task: int, episode: Episode) -> None:
        """Add a run, in place of the oldest if the buffer is full."""
        row = self.count % len(self.task)  # a ring: the oldest run is overwritten
        decision_count = len(episode.picks)
        self.task[row] = task
        self.observations[row, :decision_count] = episode.observations
        self.picks[row, :decision_count] = episode.picks
        self.errors[row, : decision_count + 1] = episode.errors
        self.count += 1

    def set_averages(self) -> None:
        """Compute each task's average errors, and the unit of its rewards, from the runs in the buffer."""
        for task in range(len(self.decisions)):
            task_errors = self.errors[: len(self)][self.task[: len(self)] == task]
            if len(task_errors):
                final_errors = task_errors[:, self.decisions[task]]
                self.average[task] = task_errors.mean(axis=0)
                self.spread[task] = max(final_errors.std(), LEAST_SPREAD)
        self.has_averages = True

    def difference(self, task: np.ndarray, errors: np.ndarray, decision: np.ndarray) -> np.ndarray:
        """Return errors minus their tasks' average errors, in units of the tasks' spread, (b,).

        Differences beyond the cap are compressed.

        Args:
            task: (b,) index of each error's task.
            errors: (b,) errors, in decades.
            decision: (b,) index of the decision at which the run had the error; the number of decisions at its end.
        """
        plain = (errors - self.average[task, decision]) / self.spread[task]
        excess = np.maximum(np.abs(plain) - self.cap, 0.0)
        compressed: np.ndarray = np.sign(plain) * (np.minimum(np.abs(plain), self.cap) + np.log1p(excess))
        return compressed

    def sample(self, size: int, n_steps: int, rng: np.random.Generator) -> Transitions:
        """Return decisions drawn with replacement: first a run, then one of the run's decisions, both uniformly.

        Args:
            size: number of decisions.
            n_steps: number of decisions over which rewards are summed; fewer where the run ends earlier.
            rng: generator of the draws.
        """
        # Runs are drawn first and then decisions, so that a long run counts no more than a short one.
        run = rng.integers(len(self), size=size)
        task = self.task[run]
        decision_count = self.decisions[task]
        decision = rng.integers(decision_count)
        end = np.minimum(decision + n_steps, decision_count)
        # The rewards of the decisions in between add up to the difference between both ends.
        before = self.difference(task, self.errors[run, decision], decision)
        after = self.difference(task, self.errors[run, end], end)
        return Transitions(
            observations=self.observations[run, decision],
            picks=self.picks[run, decision],
            rewards=before - after,
            # No observation follows the last decision; what stands here then is not used, since the run is over.
            later=self.observations[run, np.minimum(end, decision_count - 1)],
            over=end == decision_count,
        )

    def state(self) -> dict[str, np.ndarray]:
        """Return the runs in the buffer and the averages, by name."""
        arrays = {name: getattr(self, name)[: len(self)] for name in _ARRAYS_OF_RUNS}
        return arrays | {
            "average": self.average,
            "spread": self.spread,
            "count": np.array(self.count),
            "has_averages": np.array(self.has_averages),
        }

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`state` returned."""
        self.count = int(saved["count"])
        self.average[...] = saved["average"]
        self.spread[...] = saved["spread"]
        self.has_averages = bool(saved["has_averages"])
        for name in _ARRAYS_OF_RUNS:
            getattr(self, name)[: len(self)] = saved[name]
