"""Blends: each player's least exploitable mixture of its average policies over windows of a run.

The average policy weighs iterations by a formula. Other weights often give a far less exploitable policy. Good weights
can be computed: exploitability is the mean of two numbers, and each is a convex function of one player's mixture alone.
So the last half of a run is cut into windows. At the run's end, each player mixes its averages over the windows and its
average over the whole run. On the way to a target, the end is not known: blends are made when they are likely to reach
the target, and again whenever the run has grown by a quarter.

The search for a mixture consists of *tries*. In each, a player tries one mixture, and learns the opponent's value of a
best response to it.

The protocol :class:`Mixer` hides all that depends on the form of a game.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from rlccfr.engine.stepper import CHUNK
from rlccfr.interrupts import uninterrupted
from rlccfr.kernels.blending.blend_layout import (
    BLEND_SEARCH,
    LEAST_VALUE,
    LOWER_BOUND,
    NUM_CUTS,
    PROGRESS_SIZE,
    BlendSearch,
)
from rlccfr.kernels.blending.centre import improve
from rlccfr.kernels.handles import handle_of, prepare_handles

WINDOWS = (64, 32, 16, 8)
"""Possible numbers of windows; a run uses the largest that its time and the memory allow, or else the smallest."""

SHARE = 0.2
"""Largest time that searches for blends may add to a run, as a share of the run's predicted time."""

SEARCH_TIME = 120.0
"""Nanoseconds that choosing weights takes in a search, divided by the cube of the number of windows."""

MEMORY_LIMIT = 2**30
"""Largest number of bytes that windows and a search may take, unless even the fewest windows need more."""

FIRST_TRY = 200
"""Number of iterations after which a run whose length is not fixed may make its first blends."""

GROWTH = 1.25
"""Factor by which the iterations of a run must grow between two searches for blends, if its length is not fixed."""

USUAL_GAIN = 10.0
"""On the way to a target, blends are made only when the exploitability is at most this multiple of the target."""

RELATIVE_GAP = 0.02
"""The search ends once a better blend could lower the least NashConv found so far by at most this share of it."""

LEAST_TRIES = 3
"""A search is left out if time allows fewer tries than this; the first try is the run's average itself."""

BELOW_TARGET = 1 - 1e-9
"""A search ends when a blend's exploitability is at most this share of the target; it is below 1 to cover rounding."""

VALUES_KEPT = 4
"""Number of pairs of policies whose values are kept: the run's averages, the last mixtures, and the two pairs in which
one player has its average and the other its mixture."""

Source = tuple[str, int]
"""Where a player's policy comes from, such as the run's average or the mixture of a search, and after how many
iterations."""

NO_SOURCE: Source = ("none", 0)
"""Source of a player's blend before the first one, or of one that was read from a file."""

Respond = Callable[[int, np.ndarray, np.ndarray], float]
"""Function ``(player, weights, cut)`` that responds to the mixture of a player's plans with ``weights``, (K,).

It returns the opponent's value of a best response, and writes the response's payoff against each of the plans, (K,),
into ``cut``. The opponent's value of the average policies is subtracted from all of these."""


class Mixer(Protocol):
    """What a search for blends must know about a form of games: plans, their mixtures, and best responses to these.

    A *plan* of policies holds, for each sequence, the player's own reach of the sequence. The plan of a mixture is the
    mixture of the plans, since reach is linear in a mixture's weights, whereas action probabilities are not (von
    Stengel, "Efficient computation of behavior strategies", GEB 1996). A plan can also serve as policy sums.

    Attributes:
        size: number of entries of a plan; the first m belong to the sequences.
        dtype: type of a plan's numbers.
        iteration_time: predicted nanoseconds of an iteration.
        least_gap: difference in NashConv up to which two policies may differ only by rounding.
        memory_limit: number of bytes that windows and a search may take, unless even the fewest windows need more.
    """

    size: int
    dtype: np.dtype
    iteration_time: float
    least_gap: float
    memory_limit: int

    def search_time(self, count: int, tries: int) -> float:
        """Predict the nanoseconds of a search with ``tries`` tries among ``count`` plans, without choosing weights."""

    def most_tries(self, count: int, nanoseconds: float) -> int:
        """Return the largest number of tries for which a search among ``count`` plans may take ``nanoseconds``."""

    def bytes_for(self, count: int) -> int:
        """Return the bytes that ``count`` windows and a search among them take."""

    def fill_plan(self, sums: np.ndarray, plan: np.ndarray) -> None:
        """Set ``plan``, (size,), to the plan of the policies proportional to ``sums``, (m,)."""

    def mix(self, player: int, weights: np.ndarray, plans: np.ndarray, sums: np.ndarray) -> None:
        """Set a player's entries of policy sums, (m,), to the mixture of plans, (K, size), with ``weights``, (K,)."""

    def values(self, sums: np.ndarray) -> tuple[float, float, float]:
        """Return player 0's value of the policies of ``sums``, and each player's value of a best response to them."""

    def responder(self, plans: np.ndarray, average_value: float) -> Respond:
        """Return a function that responds to mixtures of plans, (K, size).

        Args:
            average_value: player 0's value of the run's average policies. It is subtracted from player 0's payoffs and
                added to player 1's, so that differences are not lost in rounding.
        """


class Blender:
    """The windows of one run, and the blends made of them.

    A run's average policy is a weighted sum over its iterations. Each window's share of that sum is a policy of its
    own; a blend is a mixture of these policies and of the run's average.

    Args:
        mixer: mixes policies of the game's form, whose tables have m entries.
        done: number of iterations done.
        sums: (m,) policy sums.

    Attributes:
        horizon: number of iterations that the run is meant to have or, if its length is not fixed, after which blends
            may be made next; 0 at first. No window begins before the horizon is known.
        windows: largest number of windows that are kept.
        blended_at: number of iterations after which the last blends were made; -1 before the first.
    """

    def __init__(self, mixer: Mixer, done: int, sums: np.ndarray) -> None:
        self.horizon = 0
        self.windows = WINDOWS[-1]
        self._mixer = mixer
        prepare_handles(BLEND_SEARCH)  # now, because the run's end makes such a handle, and its time counts
        # Of each window that has ended: the iteration at which it ended, and the plan of its average policies. The row
        # after the last window's is free for the run's average.
        self._ends = np.zeros(0, np.int64)  # (windows,)
        self._plans = np.zeros((self.windows + 1, mixer.size), mixer.dtype)
        # The last blends: after how many iterations, each player's best-response value, and their policy sums.
        self.blended_at = -1
        self._blend_values = np.full(2, np.inf)
        self._blend_sums = np.zeros(len(sums), mixer.dtype)
        # Whose policy each player's blend is, and the last values that were measured, by both players' sources.
        self._blend_sources: list[Source] = [NO_SOURCE, NO_SOURCE]
        self._known_values: dict[tuple[Source, Source], tuple[float, float, float]] = {}
        self._search_time = 0.0  # predicted nanoseconds of all searches so far
        self.begin_window(done, sums)

    def begin_window(self, done: int, sums: np.ndarray) -> None:
        """Begin a window after ``done`` iterations, when the policy sums are ``sums``, (m,)."""
        self._window_begin = done
        self._sums_before = sums.copy()
        self._decay = 1.0  # factor by which the window's iterations have multiplied ``_sums_before``

    def set_horizon(self, iterations: int, done: int) -> None:
        """Set how many iterations the run is meant to have in all, and drop the windows of its first half.

        Args:
            iterations: number of iterations; 0 if it is not fixed, as on the way to a target. The horizon is then the
                number of iterations after which blends may be made next.
            done: number of iterations done.
        """
        if not iterations:
            next_try = max(FIRST_TRY, math.ceil(GROWTH * done))
            iterations = min(self.horizon, next_try) if done < self.horizon else next_try
        if iterations == self.horizon:
            return
        self.horizon = iterations
        self.windows = windows_for(self._mixer, iterations - max(self.blended_at, 0))
        self._drop(int(np.count_nonzero(self._ends <= iterations // 2)))  # they are sorted
        if self.windows >= len(self._plans):
            plans = np.zeros((self.windows + 1, self._mixer.size), self._mixer.dtype)
            plans[: len(self._ends)] = self._plans[: len(self._ends)]
            self._plans = plans

    def _drop(self, number: int, first: int = 0) -> None:
        """Drop ``number`` windows, beginning with the one with index ``first``."""
        count = len(self._ends)
        self._ends = np.delete(self._ends, slice(first, first + number))
        for window in range(first + number, count if number else 0):  # one by one, since plans may be large
            self._plans[window - number] = self._plans[window]

    def _window_of(self, done: int) -> int:
        """Return the index of the window in progress after ``done`` iterations; negative in the run's first half."""
        half = self.horizon // 2
        return (done - half) * self.windows // (self.horizon - half)

    def iterations_to_next_window(self, done: int) -> int:
        """Return how many more iterations to run before the next window begins, if ``done`` have been run.

        No window begins before the horizon is known; until then, return the largest number of iterations of one call.
        """
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
            exploitability: exploitability of the average policy, or of the last blends.
            target: exploitability to reach.
        """
        return done >= self.horizon > 0 and target < exploitability <= USUAL_GAIN * target

    def note_decays(self, decays: np.ndarray) -> None:
        """Record the factors, (iterations,), by which the iterations since the last call multiplied the policy sums."""
        for decay in decays.tolist():  # one by one, so that rounding does not depend on how many come in a call
            self._decay *= decay

    def is_due(self, done: int) -> bool:
        """Return whether a new window is due after ``done`` iterations."""
        return self.horizon > 0 and self._window_of(done) > max(self._window_of(self._window_begin), -1)

    def start_next_window(self, done: int, sums: np.ndarray) -> None:
        """End the present window if it lies in the run's last half, and begin the next one.

        Args:
            done: number of iterations done.
            sums: (m,) policy sums.
        """
        if self._window_begin >= self.horizon // 2:
            self._end_window(done, sums)
        self.begin_window(done, sums)

    def _end_window(self, done: int, sums: np.ndarray) -> None:
        """End the present window. If too many have ended, first merge the two neighbours of the least total length.

        A window's length is its number of iterations.
        """
        while len(self._ends) >= self.windows:
            lengths = np.maximum(np.diff(self._ends, prepend=self.horizon // 2), 1)
            first = int(np.argmin(lengths[:-1] + lengths[1:]))
            share = float(lengths[first] / (lengths[first] + lengths[first + 1]))
            # The longer window gets the larger weight, as in an average over both.
            self._plans[first + 1] *= 1 - share
            self._plans[first + 1] += share * self._plans[first]
            self._drop(1, first)
        # What the window added: the sums now, less what is left of the sums before it.
        window_sums = sums - self._decay * self._sums_before
        np.maximum(window_sums, 0.0, out=window_sums)
        self._mixer.fill_plan(window_sums, self._plans[len(self._ends)])
        self._ends = np.append(self._ends, done)

    def make_blends(self, done: int, sums: np.ndarray, target: float | None = None) -> bool:
        """Make each player's blend of the windows' averages and of the run's average.

        If no iteration has been run since the last blends, nothing is done.

        Args:
            done: number of iterations done.
            sums: (m,) policy sums.
            target: exploitability at which the search may stop; None to search for the least one.

        Returns:
            Whether a search was made, so that the players' blends may have changed. No search is made without windows,
            or if the time that is left allows fewer than :data:`LEAST_TRIES` tries.
        """
        if self.blended_at == done:
            return False
        # The window in progress ends early, so that the blends can use its iterations.
        if self._window_begin < done:
            with uninterrupted():
                self._end_window(done, sums)
                self.begin_window(done, sums)
        # The run's own average is mixed, too; its plan takes the free row after the windows'.
        count = len(self._ends) + 1
        # All searches share one budget of time, which grows with the run.
        time_left = SHARE * done * self._mixer.iteration_time - self._search_time
        tries = min(tries_for(count), self._mixer.most_tries(count, time_left))
        if count == 1 or tries < LEAST_TRIES or not np.isfinite(sums).all():
            return False
        plans = self._plans[:count]
        self._mixer.fill_plan(sums, plans[-1])
        average_values = self._values_of_average(done, sums)
        best = self._searched(plans, average_values[0], tries, target)
        best_sums = np.zeros_like(self._blend_sums)
        for player in range(2):
            self._mixer.mix(player, best[player], plans, best_sums)
        # A blend is measured as any policy is, so that rounding in the search can't make a worse one look better.
        mixture = ("mixture", done)
        best_values = self._measured((mixture, mixture), best_sums)
        with uninterrupted():
            self._take_better(sums, average_values, ("average", done))
            self._take_better(best_sums, best_values, mixture)
            self.blended_at = done
        return True

    def _take_better(self, sums: np.ndarray, values: tuple[float, float, float], source: Source) -> None:
        """Replace each player's blend by the given policy if the policy is less exploitable than the blend so far.

        Args:
            sums: (m,) policy sums.
            values: what :meth:`Mixer.values` returns for them.
            source: whose policies they are.
        """
        for player in range(2):
            opponent_response = values[2 - player]
            if opponent_response < self._blend_values[player]:
                self._mixer.mix(player, np.ones(1), sums[None], self._blend_sums)
                self._blend_values[player] = opponent_response
                self._blend_sources[player] = source

    def _searched(self, plans: np.ndarray, average_value: float, tries: int, target: float | None) -> np.ndarray:
        """Search for both players' least exploitable mixtures, and return the weights of the best found, (2, K).

        Args:
            plans: (K, size) plans of the policies to be mixed; the plan of the run's average comes last.
            average_value: player 0's value of the run's average policies.
            tries: largest number of tries.
            target: exploitability at which the search may stop, or None.
        """
        count = len(plans)
        search = new_search(count)
        handle = handle_of(search, BLEND_SEARCH)
        respond = self._mixer.responder(plans, average_value)
        for _ in range(tries):
            # Each try adds a cut, which may raise the lower bound on the value of every mixture.
            for player in range(2):
                if search.progress[player, LEAST_VALUE] <= search.progress[player, LOWER_BOUND]:
                    continue  # no mixture is better than the player's best one
                cut = search.cuts[player, int(search.progress[player, NUM_CUTS])]
                value = respond(player, search.weights[player], cut)
                improve(handle, player, value)
            nash_conv = search.progress[:, LEAST_VALUE].sum()
            gap = nash_conv - search.progress[:, LOWER_BOUND].sum()
            if gap <= max(RELATIVE_GAP * nash_conv, self._mixer.least_gap):
                break
            if target is not None:
                is_reached = nash_conv <= 2 * target * BELOW_TARGET
                is_out_of_reach = search.progress[:, LOWER_BOUND].sum() > 2 * target
                if is_reached or is_out_of_reach:
                    break
        self._search_time += self._mixer.search_time(count, int(search.progress[:, NUM_CUTS].max()))
        return search.best

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
        players = self._players_without_blend(done, sums)
        if len(players) == 2:
            return sums
        if self.blended_at == done:
            return self._blend_sums
        better_sums = self._blend_sums.copy()
        for player in players:
            self._mixer.mix(player, np.ones(1), sums[None], better_sums)
        return better_sums

    def values(self, done: int, sums: np.ndarray) -> tuple[float, float, float]:
        """Return what :meth:`Mixer.values` returns for the sums of :meth:`better`; recent results are kept.

        Args:
            done, sums: as for :meth:`better`.
        """
        first, second = self._blend_sources
        players = self._players_without_blend(done, sums)
        average = ("average", done)
        sources = (average if 0 in players else first, average if 1 in players else second)
        return self._measured(sources, sums if sources in self._known_values else self.better(done, sums))

    def _players_without_blend(self, done: int, sums: np.ndarray) -> list[int]:
        """Return the players whose average policy is less exploitable than their blend, or who have no blend.

        Args:
            done, sums: as for :meth:`better`.
        """
        if self.blended_at < 0 or not np.isfinite(sums).all():  # blends must not hide an overflow
            return [0, 1]
        if self.blended_at == done:
            return []
        values = self._values_of_average(done, sums)  # player 0's value, then each player's best response
        return [player for player in range(2) if values[2 - player] < self._blend_values[player]]

    def _values_of_average(self, done: int, sums: np.ndarray) -> tuple[float, float, float]:
        """Return what :meth:`Mixer.values` returns for the run's average, whose policy sums are ``sums``, (m,)."""
        average = ("average", done)
        return self._measured((average, average), sums)

    def _measured(self, sources: tuple[Source, Source], sums: np.ndarray) -> tuple[float, float, float]:
        """Return what :meth:`Mixer.values` returns, which takes seconds in large games; the last results are kept.

        Args:
            sources: whose policies the players have.
            sums: (m,) policy sums.
        """
        values = self._known_values.pop(sources, None) or self._mixer.values(sums)
        self._known_values[sources] = values  # the most recently used come last
        if len(self._known_values) > VALUES_KEPT:
            del self._known_values[next(iter(self._known_values))]
        return values

    def saved(self) -> dict[str, np.ndarray]:
        """Return the arrays that :meth:`restore` takes, by name."""
        window = [self._window_begin, self._decay]
        plan = [self.blended_at, self.horizon, self.windows, self._search_time]
        return {
            "window_ends": self._ends,
            "window_reaches": self._plans[: len(self._ends)],
            "window_before": self._sums_before,
            "blend": self._blend_sums,
            "blend_values": self._blend_values,
            "blend_state": np.array([*window, *plan]),
        }

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore the arrays that :meth:`saved` returned."""
        self._ends = saved["window_ends"]
        self._sums_before = saved["window_before"]
        self._blend_sums = saved["blend"]
        self._blend_values = saved["blend_values"]
        self._blend_sources = [NO_SOURCE, NO_SOURCE]
        self._known_values = {}
        # Files of earlier versions lack the number of windows and the time; their horizon is set again in any case.
        numbers = saved["blend_state"].tolist()
        window_begin, self._decay, blended_at, horizon, windows, self._search_time = [*numbers, self.windows, 0.0][:6]
        self._window_begin = int(window_begin)
        self.blended_at = int(blended_at)
        self.horizon = int(horizon)
        self.windows = int(windows)
        plans = saved["window_reaches"]
        self._plans = np.zeros((max(self.windows, len(plans)) + 1, self._mixer.size), self._mixer.dtype)
        self._plans[: len(plans)] = plans


def windows_for(mixer: Mixer, iterations: int) -> int:
    """Return the largest number in :data:`WINDOWS` that a run's time and the memory limit allow, or the smallest.

    Args:
        iterations: number of iterations whose predicted time limits that of the search.
    """
    time = SHARE * iterations * mixer.iteration_time
    for count in WINDOWS:
        search_time = mixer.search_time(count, tries_for(count)) + SEARCH_TIME * count**3
        if search_time <= time and mixer.bytes_for(count) <= mixer.memory_limit:
            return count
    return WINDOWS[-1]


def tries_for(count: int) -> int:
    """Return the largest number of tries of a search for mixtures of ``count`` policies."""
    return count + 16


def new_search(count: int) -> BlendSearch:
    """Return the state of a search before its first try; each player first tries the last policy alone.

    Args:
        count: number of policies.
    """
    weights = np.zeros((2, count))
    weights[:, -1] = 1.0
    tries = tries_for(count)
    progress = np.zeros((2, PROGRESS_SIZE))
    progress[:, LEAST_VALUE] = np.inf
    progress[:, LOWER_BOUND] = -np.inf
    return BlendSearch(
        weights=weights,
        best=weights.copy(),
        progress=progress,
        cuts=np.zeros((2, tries, count)),
        levels=np.zeros(tries),
        moves=np.zeros(tries),
        hessian=np.zeros((count + 1, count + 1)),
        steps=np.zeros((4, count + 1)),
    )
