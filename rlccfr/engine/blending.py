"""Blends: each player's least exploitable mixture of its average policies over parts of a run.

The average policy weighs iterations by a formula. Other weights of the same iterations are often far less exploitable,
and they can be computed: exploitability is the mean of two numbers, each of which is a convex function of one player's
mixture alone. So the last half of a run is cut into windows, and at its end each player mixes its averages over these
and over the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlccfr.engine.evaluation import better_of, evaluated
from rlccfr.engine.reduced import pass_cost
from rlccfr.engine.stepper import CHUNK
from rlccfr.errors import BudgetError
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.kernels.blending.blend_layout import BLEND, BOUND, FOUND, LEAST, Blend
from rlccfr.kernels.blending.centre import improve
from rlccfr.kernels.blending.cuts import fill_payoffs, fill_reach
from rlccfr.kernels.handles import handle_of, prepare_handles
from rlccfr.kernels.layout import GAME, LEAST_ERROR, SCRATCH, Game, scratch_for

WINDOWS = (64, 32, 16, 8)
"""Numbers of windows; the largest is used that the run's time and the memory allow."""

SHARE = 0.2
"""Largest share of the predicted time of a run that the search for its blends may add."""

SEARCH = 120.0
"""Nanoseconds of the search per cube of the number of windows, apart from passes."""

TRY = 1.0
"""Nanoseconds of one try by both players per window and sequence of the game."""

ARRAYS = 4
"""Number of arrays of windows times sequences that a search needs at its peak."""

MEMORY = 2**30
"""Bytes of windows and payoffs at most, unless the least number of windows needs more."""

NEAR = 0.02
"""The search ends when no blend can be less exploitable by more than this share."""


class Blender:
    """The windows of one run, and the blends made of them.

    Args:
        form: the sequence form that the run's passes run over.
        utility_range: the game's largest payoff less its smallest.
        done: number of iterations done.
        sums: (m,) policy sums.

    Attributes:
        horizon: number of iterations that the run is meant to have; 0 until that is known. No window begins before.
        windows: largest number of windows.
    """

    def __init__(self, form: SequenceForm, utility_range: float, done: int, sums: np.ndarray) -> None:
        self.form, self.horizon, self.windows = form, 0, WINDOWS[-1]
        self._least = LEAST_ERROR * utility_range
        prepare_handles(BLEND)  # the end of a run makes one, and its time counts
        self._game, self._scratch = handle_of(Game.of(form), GAME), handle_of(scratch_for(form), SCRATCH)
        self._ends, self._reaches = np.zeros(0, np.int64), np.zeros((0, form.num_sequences + 2))
        self._blended, self._values, self._sums = -1, np.full(2, np.inf), np.zeros(form.num_sequences)
        self._begin(done, sums)

    def _begin(self, done: int, sums: np.ndarray) -> None:
        """Begin a window."""
        self._begun, self._before, self._decay = done, sums.copy(), 1.0

    def aim(self, iterations: int) -> None:
        """Learn how many iterations the run is meant to have in all; windows of its first half are dropped.

        Raises:
            BudgetError: the run has no budget, or one too large to plan for.
        """
        if not iterations:
            raise BudgetError("blends are made when a budget is used up: give a smaller one, and no target")
        if iterations == self.horizon:
            return
        self.horizon, self.windows = iterations, windows_for(self.form, iterations - max(self._blended, 0))
        late = self._ends > iterations // 2
        if not late.all():
            self._ends, self._reaches = self._ends[late], self._reaches[late]

    def _window_of(self, done: int) -> int:
        """Return the number of the last window that begins by ``done`` iterations; negative in the first half."""
        half = self.horizon // 2
        return (done - half) * self.windows // (self.horizon - half)

    def room(self, done: int) -> int:
        """Return the number of iterations until the next window begins, after ``done`` iterations."""
        half = self.horizon // 2
        if not self.horizon:
            return CHUNK
        following = max(self._window_of(done) + 1, 0)
        return max(half - (-following * (self.horizon - half)) // self.windows - done, 1)

    def note(self, decays: np.ndarray) -> None:
        """Note iterations by the factors, (iterations,), by which they multiplied the policy sums."""
        for decay in decays.tolist():  # one by one, so that it does not matter how calls are cut
            self._decay *= decay

    def is_due(self, done: int) -> bool:
        """Return whether a window begins after ``done`` iterations."""
        return self.horizon > 0 and self._window_of(done) > max(self._window_of(self._begun), -1)

    def turn(self, done: int, sums: np.ndarray) -> None:
        """End the present window if it lies in the run's last half, and begin the next one.

        Args:
            done: number of iterations done.
            sums: (m,) policy sums.
        """
        if self._begun >= self.horizon // 2:
            self._close(done, sums)
        self._begin(done, sums)

    def _close(self, done: int, sums: np.ndarray) -> None:
        """End the present window; if there are too many, the two shortest neighbours become one."""
        while len(self._ends) >= self.windows:
            lengths = np.maximum(np.diff(self._ends, prepend=self.horizon // 2), 1)
            first = int(np.argmin(lengths[:-1] + lengths[1:]))
            self._reaches[first + 1] = np.average(self._reaches[first : first + 2], axis=0, weights=lengths[first:][:2])
            self._ends, self._reaches = np.delete(self._ends, first), np.delete(self._reaches, first, axis=0)
        own = np.maximum(sums - self._decay * self._before, 0.0)
        self._ends = np.append(self._ends, done)
        self._reaches = np.vstack([self._reaches, self._reach(own)])

    def _reach(self, sums: np.ndarray) -> np.ndarray:
        """Return the own reach, (m + 2,), under the policies that sums are proportional to."""
        reach = np.zeros(self.form.num_sequences + 2)
        fill_reach(self._game, self.form.normalised(sums), reach)
        return reach

    def blend(self, done: int, sums: np.ndarray) -> None:
        """Make each player's blend of the windows' averages and of the run's own.

        Args:
            done: number of iterations done.
            sums: (m,) policy sums.
        """
        if self._begun < done:
            self._close(done, sums)
            self._begin(done, sums)
        if not len(self._ends) or not np.isfinite(sums).all():
            return
        reaches = np.vstack([self._reaches, self._reach(sums)])
        blend = blend_of(len(reaches), self.form.num_sequences)
        handle = handle_of(blend, BLEND)
        for number, reach in enumerate(reaches):
            fill_payoffs(self._game, self._scratch, handle, reach, number)
        value = evaluated(self.form, self.form.normalised(sums))[0]
        blend.payoffs[-2:] += np.array([[-value], [value]])  # cuts near 0, so that differences are not lost in rounding
        for _ in range(blend.cuts.shape[1]):
            for player in range(2):
                improve(self._game, handle, player)
            unknown = (blend.found[:, LEAST] - blend.found[:, BOUND]).sum()
            if unknown <= max(NEAR * blend.found[:, LEAST].sum(), self._least):
                break
        values, blended = blend.found[:, LEAST] + np.array([-value, value]), self._sums.copy()
        for player in range(2):
            if values[player] < self._values[player]:
                own = self.form.sequences_of(player)
                blended[own] = blend.best[player] @ reaches[:, own]
        self._blended, self._values, self._sums = done, np.minimum(values, self._values), blended

    def better(self, done: int, sums: np.ndarray) -> np.ndarray:
        """Return policy sums: each player's blend, or ``sums`` where no blend is less exploitable.

        Args:
            done: number of iterations done.
            sums: (m,) policy sums.
        """
        if self._blended < 0 or not np.isfinite(sums).all():  # blends must not hide an overflow
            return sums
        return self._sums if self._blended == done else better_of(self.form, self._sums, self._values, sums)

    def saved(self) -> dict[str, np.ndarray]:
        """Return by name what :meth:`restore` takes."""
        return {
            "window_ends": self._ends,
            "window_reaches": self._reaches,
            "window_before": self._before,
            "blend": self._sums,
            "blend_values": self._values,
            "blend_state": np.array([self._begun, self._decay, self._blended, self.horizon]),
        }

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`saved` returned."""
        self._ends, self._reaches = saved["window_ends"], saved["window_reaches"]
        self._before, self._sums, self._values = saved["window_before"], saved["blend"], saved["blend_values"]
        begun, decay, blended, horizon = saved["blend_state"]
        self._begun, self._decay = int(begun), float(decay)
        self._blended, self.horizon = int(blended), int(horizon)


def windows_for(form: SequenceForm, iterations: int) -> int:
    """Return the largest number of windows in the last half of a run."""
    pass_, size = pass_cost(form.view), form.num_sequences
    for count in WINDOWS:
        search = SEARCH * count**3 + count * pass_ + tries_for(count) * count * size * TRY
        if search <= SHARE * iterations * pass_ and ARRAYS * 8 * count * size <= MEMORY:
            return count
    return WINDOWS[-1]


def tries_for(count: int) -> int:
    """Return how many blends of so many policies a player tries at most."""
    return count + 16


def blend_of(count: int, sequences: int) -> Blend:
    """Return the state of a search before its first try; each player first tries the last policy alone.

    Args:
        count: number of policies.
        sequences: number of sequences of both players.
    """
    weights = np.zeros((2, count))
    weights[:, -1] = 1.0
    tries, found = tries_for(count), np.zeros((2, FOUND))
    found[:, LEAST], found[:, BOUND] = np.inf, -np.inf
    return Blend(
        payoffs=np.zeros((sequences + 2, count)),
        values=np.zeros((sequences + 2, count)),
        weights=weights,
        best=weights.copy(),
        found=found,
        cuts=np.zeros((2, tries, count)),
        levels=np.zeros(tries),
        moves=np.zeros(tries),
        hessian=np.zeros((count + 1, count + 1)),
        steps=np.zeros((4, count + 1)),
    )
