"""Blends: each player's least exploitable mixture of its average policies over windows of a run.

The average policy weighs iterations by a formula. Other weights of the same iterations are often far less exploitable.
Good weights can be computed: exploitability is the mean of two numbers, and each is a convex function of one player's
mixture alone. So the last half of a run is cut into windows. At the run's end, each player mixes its averages over the
windows and its average over the whole run. On the way to a target, the end is not known: blends are tried when they are
likely to reach the target, and again whenever the run has grown by a quarter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from rlccfr.engine.evaluation import better_of, evaluated
from rlccfr.engine.reduced import pass_cost
from rlccfr.engine.stepper import CHUNK
from rlccfr.games.flat_tree import SequenceForm
from rlccfr.kernels.blending.blend_layout import BLEND, LEAST_VALUE, LOWER_BOUND, PROGRESS_SIZE, Blend
from rlccfr.kernels.blending.centre import improve
from rlccfr.kernels.blending.cuts import fill_payoffs, fill_reach
from rlccfr.kernels.handles import handle_of, prepare_handles
from rlccfr.kernels.layout import GAME, LEAST_ERROR, SCRATCH, Game, scratch_for

WINDOWS = (64, 32, 16, 8)
"""Numbers of windows; the largest is used that the run's time and the memory allow."""

SHARE = 0.2
"""Largest share of the predicted time of a run that the search for its blends may add."""

SEARCH_TIME = 120.0
"""Nanoseconds of the search per cube of the number of windows, apart from passes."""

TRY_TIME = 1.0
"""Nanoseconds of one try by both players per window and sequence of the game."""

SEARCH_ARRAYS = 4
"""Number of arrays of windows times sequences that a search needs at its peak."""

MEMORY_LIMIT = 2**30
"""Bytes of windows and payoffs at most, unless the least number of windows needs more."""

FIRST_TRY = 200
"""Number of iterations after which a run of open length may try its first blends."""

GROWTH = 1.25
"""Factor by which the iterations of a run of open length must grow from one try to the next."""

USUAL_GAIN = 10.0
"""On the way to a target, blends are tried where the exploitability is at most this multiple of the target."""

RELATIVE_GAP = 0.02
"""The search ends when no blend can be less exploitable by more than this share of the best one found."""


class Blender:
    """The windows of one run, and the blends made of them.

    A run's average policy is a weighted sum over its iterations. Each window's share of that sum is a policy of its
    own; a blend is a mixture of these policies and of the run's average.

    Args:
        form: the sequence form that the run's passes run over, with m sequences.
        utility_range: the game's largest payoff less its smallest.
        done: number of iterations done.
        sums: (m,) policy sums.

    Attributes:
        horizon: number of iterations that the run is meant to have or, if its length is open, after which blends may be
            tried next; 0 at first. No window begins before the horizon is known.
        windows: largest number of windows.
    """

    def __init__(self, form: SequenceForm, utility_range: float, done: int, sums: np.ndarray) -> None:
        self.form = form
        self.horizon = 0
        self.windows = WINDOWS[-1]
        self._least_exploitability = LEAST_ERROR * utility_range
        prepare_handles(BLEND)  # the end of a run makes one, and its time counts
        self._game = handle_of(Game.of(form), GAME)
        self._scratch = handle_of(scratch_for(form), SCRATCH)
        # Of each window that has ended: the iteration at which it ended, and the reach under its average policy.
        self._ends = np.zeros(0, np.int64)  # (windows,)
        self._reaches = np.zeros((0, form.num_sequences + 2))  # (windows, m + 2)
        # The last blends: after how many iterations, each player's best-response value, and their policy sums.
        self._blended_at = -1
        self._blend_values = np.full(2, np.inf)
        self._blend_sums = np.zeros(form.num_sequences)
        self._begin_window(done, sums)

    def _begin_window(self, done: int, sums: np.ndarray) -> None:
        self._window_begin = done
        self._sums_before = sums.copy()
        self._decay = 1.0  # factor that the window's iterations have put on ``_sums_before``

    def aim(self, iterations: int, done: int) -> None:
        """Learn how many iterations the run is meant to have in all; windows of its first half are dropped.

        Args:
            iterations: their number; 0 if that is open, as on the way to a target. The horizon then is the next try.
            done: number of iterations done.
        """
        if not iterations:
            next_try = max(FIRST_TRY, math.ceil(GROWTH * done))
            iterations = min(self.horizon, next_try) if done < self.horizon else next_try
        if iterations == self.horizon:
            return
        self.horizon = iterations
        self.windows = windows_for(self.form, iterations - max(self._blended_at, 0))
        late = self._ends > iterations // 2
        if not late.all():
            self._ends = self._ends[late]
            self._reaches = self._reaches[late]

    def _window_of(self, done: int) -> int:
        """Return the index of the last window that has begun after ``done`` iterations; negative in the first half."""
        half = self.horizon // 2
        return (done - half) * self.windows // (self.horizon - half)

    def room(self, done: int) -> int:
        """Return the number of iterations until the next window begins, after ``done`` iterations."""
        if not self.horizon:
            return CHUNK
        half = self.horizon // 2
        next_window = max(self._window_of(done) + 1, 0)
        next_begin = half - (-next_window * (self.horizon - half)) // self.windows  # rounded up
        return max(next_begin - done, 1)

    def is_worth_trying(self, done: int, exploitability: float, target: float) -> bool:
        """Return whether blends made now, on the way to a target, are likely to reach it.

        Args:
            done: number of iterations done.
            exploitability: of the average policy, or of the last blends.
            target: exploitability to reach.
        """
        return done >= self.horizon > 0 and target < exploitability <= USUAL_GAIN * target

    def note(self, decays: np.ndarray) -> None:
        """Note some iterations, given the factors, (iterations,), by which they multiplied the policy sums."""
        for decay in decays.tolist():  # one by one, so that it does not matter how calls are cut
            self._decay *= decay

    def is_due(self, done: int) -> bool:
        """Return whether a window begins after ``done`` iterations."""
        return self.horizon > 0 and self._window_of(done) > max(self._window_of(self._window_begin), -1)

    def turn(self, done: int, sums: np.ndarray) -> None:
        """End the present window if it lies in the run's last half, and begin the next one.

        Args:
            done: number of iterations done.
            sums: (m,) policy sums.
        """
        if self._window_begin >= self.horizon // 2:
            self._end_window(done, sums)
        self._begin_window(done, sums)

    def _end_window(self, done: int, sums: np.ndarray) -> None:
        """End the present window. If there are too many, merge the two neighbours whose total length is shortest."""
        while len(self._ends) >= self.windows:
            lengths = np.maximum(np.diff(self._ends, prepend=self.horizon // 2), 1)
            first = int(np.argmin(lengths[:-1] + lengths[1:]))
            pair = slice(first, first + 2)
            self._reaches[first + 1] = np.average(self._reaches[pair], axis=0, weights=lengths[pair])
            self._ends = np.delete(self._ends, first)
            self._reaches = np.delete(self._reaches, first, axis=0)
        # What the window added: the sums now, less what is left of the sums before it.
        window_sums = np.maximum(sums - self._decay * self._sums_before, 0.0)
        self._ends = np.append(self._ends, done)
        self._reaches = np.vstack([self._reaches, self._reach_of(window_sums)])

    def _reach_of(self, sums: np.ndarray) -> np.ndarray:
        """Return each player's reach of its sequences, (m + 2,), under the policies that ``sums`` is proportional to.

        Mixtures of policies are means of their reaches, not of their probabilities.
        """
        reach = np.zeros(self.form.num_sequences + 2)
        fill_reach(self._game, self.form.normalised(sums), reach)
        return reach

    def blend(self, done: int, sums: np.ndarray) -> None:
        """Make each player's blend of the windows' averages and of the run's average, unless it has just been made.

        Args:
            done: number of iterations done.
            sums: (m,) policy sums.
        """
        if self._blended_at == done:
            return
        if self._window_begin < done:
            self._end_window(done, sums)
            self._begin_window(done, sums)
        if not len(self._ends) or not np.isfinite(sums).all():
            return
        reaches = np.vstack([self._reaches, self._reach_of(sums)])
        average_value = evaluated(self.form, self.form.normalised(sums))[0]
        blend = self._searched(reaches, average_value)
        # The search has subtracted the average policies' value; add it again, from each opponent's point of view.
        response_values = blend.progress[:, LEAST_VALUE] + np.array([-average_value, average_value])
        blend_sums = self._blend_sums.copy()
        for player in range(2):
            if response_values[player] < self._blend_values[player]:
                sequences = self.form.sequences_of(player)
                blend_sums[sequences] = blend.best[player] @ reaches[:, sequences]
        self._blended_at = done
        self._blend_values = np.minimum(response_values, self._blend_values)
        self._blend_sums = blend_sums

    def _searched(self, reaches: np.ndarray, average_value: float) -> Blend:
        """Search for both players' least exploitable mixtures, and return the final state of the search.

        Args:
            reaches: (K, m + 2) reaches of the policies to be mixed; the run's average comes last.
            average_value: player 0's value of the run's average policies.
        """
        blend = blend_of(len(reaches), self.form.num_sequences)
        handle = handle_of(blend, BLEND)
        for number, reach in enumerate(reaches):
            fill_payoffs(self._game, self._scratch, handle, reach, number)
        # The empty sequences' payoffs lie about 0 then, so that differences are not lost in rounding.
        blend.payoffs[-2:] += np.array([[-average_value], [average_value]])
        # Each try adds a cut, which raises the bound below which no mixture can come.
        most_tries = blend.cuts.shape[1]
        for _ in range(most_tries):
            for player in range(2):
                improve(self._game, handle, player)
            gap = (blend.progress[:, LEAST_VALUE] - blend.progress[:, LOWER_BOUND]).sum()
            if gap <= max(RELATIVE_GAP * blend.progress[:, LEAST_VALUE].sum(), self._least_exploitability):
                break
        return blend

    @property
    def exploitability(self) -> float:
        """Exploitability of the players' best blends so far, in the game's units; infinite before the first."""
        return float(self._blend_values.mean())

    def better(self, done: int, sums: np.ndarray) -> np.ndarray:
        """Return policy sums, (m,): each player's blend, or ``sums`` where no blend is less exploitable.

        Args:
            done: number of iterations done.
            sums: (m,) policy sums.
        """
        if self._blended_at < 0 or not np.isfinite(sums).all():  # blends must not hide an overflow
            return sums
        if self._blended_at == done:
            return self._blend_sums
        return better_of(self.form, self._blend_sums, self._blend_values, sums)

    def saved(self) -> dict[str, np.ndarray]:
        """Return by name what :meth:`restore` takes."""
        return {
            "window_ends": self._ends,
            "window_reaches": self._reaches,
            "window_before": self._sums_before,
            "blend": self._blend_sums,
            "blend_values": self._blend_values,
            "blend_state": np.array([self._window_begin, self._decay, self._blended_at, self.horizon, self.windows]),
        }

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`saved` returned."""
        self._ends = saved["window_ends"]
        self._reaches = saved["window_reaches"]
        self._sums_before = saved["window_before"]
        self._blend_sums = saved["blend"]
        self._blend_values = saved["blend_values"]
        window_begin, decay, blended_at, horizon, *windows = saved["blend_state"].tolist()
        self._window_begin = int(window_begin)
        self._decay = decay
        self._blended_at = int(blended_at)
        self.horizon = int(horizon)
        if windows:  # files of earlier versions have none; their horizon is told anew
            self.windows = int(windows[0])


def windows_for(form: SequenceForm, iterations: int) -> int:
    """Return the largest number of windows in the last half of a run that its time and the memory limit allow."""
    pass_time = pass_cost(form.view)
    size = form.num_sequences
    for count in WINDOWS:
        search_time = SEARCH_TIME * count**3 + count * pass_time + tries_for(count) * count * size * TRY_TIME
        if search_time <= SHARE * iterations * pass_time and SEARCH_ARRAYS * 8 * count * size <= MEMORY_LIMIT:
            return count
    return WINDOWS[-1]


def tries_for(count: int) -> int:
    """Return the largest number of blends that a player tries, from the number of policies."""
    return count + 16


def blend_of(count: int, sequences: int) -> Blend:
    """Return the state of a search before its first try; each player first tries the last policy alone.

    Args:
        count: number of policies.
        sequences: number of sequences of both players.
    """
    weights = np.zeros((2, count))
    weights[:, -1] = 1.0
    tries = tries_for(count)
    progress = np.zeros((2, PROGRESS_SIZE))
    progress[:, LEAST_VALUE] = np.inf
    progress[:, LOWER_BOUND] = -np.inf
    return Blend(
        payoffs=np.zeros((sequences + 2, count)),
        values=np.zeros((sequences + 2, count)),
        weights=weights,
        best=weights.copy(),
        progress=progress,
        cuts=np.zeros((2, tries, count)),
        levels=np.zeros(tries),
        moves=np.zeros(tries),
        hessian=np.zeros((count + 1, count + 1)),
        steps=np.zeros((4, count + 1)),
    )
