"""Blends: each player's least exploitable mixture of its average policies over parts of a run.

The average policy weighs iterations by a formula. Other weights of the same iterations are often far less exploitable,
and they can be computed: exploitability is the mean of two numbers, each of which is a convex function of one player's
mixture alone. So the last half of a run is cut into windows, and at its end each player mixes its averages over these
and over the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rlccfr.engine.evaluation import evaluated
from rlccfr.engine.reduced import pass_cost
from rlccfr.engine.stepper import CHUNK
from rlccfr.errors import BudgetError
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.kernels.blending.blend_layout import BLEND, BOUND, CUTS, FOUND, LEAST, Blend
from rlccfr.kernels.blending.centre import improve
from rlccfr.kernels.blending.cuts import fill_payoffs, fill_reach
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import GAME, SCRATCH, Game, scratch_for

WINDOWS = (64, 32, 16, 8)
"""Numbers of windows; the largest is used that the run's time and the memory allow."""

SHARE = 0.2
"""Largest share of the predicted time of a run that the search for its blends may add."""

SEARCH = 120.0
"""Nanoseconds of the search per cube of the number of windows, apart from passes."""

TRY = 1.0
"""Nanoseconds of one try per window and sequence."""

MEMORY = 2**30
"""Bytes of windows and payoffs at most, unless the least number of windows needs more."""

NEAR = 0.02
"""The search ends when no blend can be less exploitable by more than this share."""

LEAST_ERROR = 1e-14
"""Exploitability that is not told from rounding, as a share of the range of payoffs."""


class Blender:
    """The windows of one run, and the blends made of them.

    Args:
        form: the sequence form that the run's passes run over.
        utility_range: the game's largest payoff less its smallest.

    Attributes:
        horizon: number of iterations that the run is meant to have; 0 until that is known, and no window begins.
        windows: largest number of windows.
    """

    def __init__(self, form: SequenceForm, utility_range: float) -> None:
        self.form, self.horizon, self.windows = form, 0, WINDOWS[-1]
        self._least = LEAST_ERROR * utility_range
        self._game, self._scratch = handle_of(Game.of(form), GAME), handle_of(scratch_for(form), SCRATCH)
        self._ends, self._reaches = np.zeros(0, np.int64), np.zeros((0, form.num_sequences + 2))
        self._begun, self._before, self._decay = -1, np.zeros(form.num_sequences), 1.0
        self._blended, self._values, self._sums = -1, np.full(2, np.inf), np.zeros(form.num_sequences)

    def aim(self, iterations: int) -> None:
        """Learn how many iterations the run is meant to have in all; windows of its first half are dropped.

        Raises:
            BudgetError: that is open.
        """
        if not iterations:
            raise BudgetError("blends are made when a budget is used up: leave out the target, or blend")
        self.horizon, self.windows = iterations, windows_for(self.form, iterations)
        late = self._ends > iterations // 2
        if not late.all():
            self._ends, self._reaches = self._ends[late], self._reaches[late]

    def room(self, done: int) -> int:
        """Return the number of iterations until the next window begins, after ``done`` iterations."""
        half = self.horizon // 2
        if not self.horizon:
            return CHUNK
        if done < half:
            return half - done
        last = self.horizon - half
        number = (done - half) * self.windows // last + 1
        return max(half + -(-number * last // self.windows) - done, 1)

    def passed(self, done: int, decays: np.ndarray, sums: np.ndarray) -> None:
        """Note that iterations have been done; end a window and begin the next one if that is due.

        Args:
            done: number of iterations done in all.
            decays: (iterations,) factors by which they multiplied the policy sums.
            sums: (m,) policy sums.
        """
        for decay in decays.tolist():  # one by one, so that it does not matter how calls are cut
            self._decay *= decay
        half = self.horizon // 2
        if not self.horizon or done < half:
            return
        per = (self.horizon - half) / self.windows
        if self._begun < half or (done - half) // per > (self._begun - half) // per:
            self._close(done, sums)
            self._begun, self._before, self._decay = done, sums.copy(), 1.0

    def _close(self, done: int, sums: np.ndarray) -> None:
        """End the present window, if one has begun."""
        if not 0 <= self._begun < done:
            return
        while len(self._ends) >= self.windows:
            pairs = len(self._ends) // 2 * 2
            merged = (self._reaches[0:pairs:2] + self._reaches[1:pairs:2]) / 2
            self._reaches = np.vstack([merged, self._reaches[pairs:]])
            self._ends = np.append(self._ends[1:pairs:2], self._ends[pairs:])
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
        self._close(done, sums)
        self._begun, self._before, self._decay = done, sums.copy(), 1.0
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
        values = blend.found[:, LEAST] + np.array([-value, value])
        for player in np.flatnonzero(values < self._values):
            own = self.form.sequences_of(player)
            self._sums[own] = blend.best[player] @ reaches[:, :-2][:, own]
            self._values[player] = values[player]
        self._blended = done

    def better(self, done: int, sums: np.ndarray) -> np.ndarray:
        """Return policy sums: each player's blend, or ``sums`` where no blend is less exploitable.

        Args:
            done: number of iterations done.
            sums: (m,) policy sums.
        """
        if self._blended < 0 or not np.isfinite(sums).all():  # blends must not hide an overflow
            return sums
        found = self._sums.copy()
        if self._blended < done:
            values = evaluated(self.form, self.form.normalised(sums))
            for player in range(2):
                if values[2 - player] < self._values[player]:
                    own = self.form.sequences_of(player)
                    found[own] = sums[own]
        return found

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
        if search <= SHARE * iterations * pass_ and 3 * 8 * count * size <= MEMORY:
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
    found[:, LEAST], found[:, BOUND], found[:, CUTS] = np.inf, -np.inf, 0
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
