"""The control of one run as a Gymnasium environment, whose steps are the segments of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlccfr.components.controller import CHOICES, OBSERVATION, Controller
from rlccfr.envs.control.run import ControlRun
from rlccfr.envs.rendering import as_run_picture
from rlccfr.envs.reset_options import drawn_episode
from rlccfr.errors import RLCCFRError, brief, whole_number
from rlccfr.games.compiled_games import compiled_tree
from rlccfr.games.names import GameName, as_name
from rlccfr.policy import Policy

LARGEST = 4.0
"""Largest absolute value of an entry of an observation."""

USE = "a controller"
"""What a game is needed for, in error messages."""


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """Return the values of an iterable as a tuple; anything else, also a string or a mapping, is a single value."""
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        return tuple(value)
    return (value,)


class ControlEnv(gym.Env[np.ndarray, np.ndarray]):
    """``rlccfr/Control-v0``: an episode is one run of exact passes; each step sets the update rule for a segment.

    The update rule is ``scheduled``, whose hyperparameters three agents set. Segments end at horizon / 2^k iterations
    for all k >= 1 for which this is at least 4, at three quarters and seven eighths of the horizon, and at its end.

    **Action.** ``MultiDiscrete([12, 8, 17])``, shape (3,), of indices into
    :data:`rlccfr.components.controller.CHOICES`.

    ===== =============== ====================================== =========================================
    Index Agent           Sets                                   Values
    ===== =============== ====================================== =========================================
    0     ``discounting`` ``alpha``, ``beta`` and ``floor``      12 triples
    1     ``averaging``   ``gamma``, the exponent of averaging   0, 1, 2, 3.5, 6, 10, 20, 40
    2     ``prediction``  ``optimism``, the prediction's weight; 17 quadruples
                          ``momentum``, ``memory``, ``power``
    ===== =============== ====================================== =========================================

    **Observation.** ``Box`` of float32 in [-4, 4], shape (24,), named by
    :data:`rlccfr.components.controller.OBSERVATION`; ``log`` is the logarithm to base 10.

    ===== ================= =============================================================================== =======
    Index Name              Meaning                                                                         Range
    ===== ================= =============================================================================== =======
    0     ``iterations``    log(1 + iterations done) / 4                                                    [0, 4]
    1     ``horizon``       log(horizon) / 4                                                                [0, 4]
    2     ``share``         iterations done / horizon                                                       [0, 1]
    3     ``error``         log(exploitability of the average policy / that of the uniform policy) / 4      [-4, 4]
    4     ``slope``         change of that logarithm per doubling of iterations, since the last observation [-2, 2]
    5     ``earlier_slope`` ``slope`` at the last observation                                               [-2, 2]
    6     ``current``       log(exploitability of the current policy / that of the average policy) / 2      [-1, 1]
    7     ``zeros``         share of zeros in the current policy                                            [0, 1]
    8     ``distance``      4 times the mean absolute difference of the two policies' probabilities         [0, 4]
    9     ``growth``        change of log(sum of positive regrets) per doubling of iterations               [-2, 2]
    10    ``start``         log(exploitability of the uniform policy / range of payoffs) / 2                [-4, 4]
    11    ``last_alpha``    alpha / (alpha + 2) in the segment just run; 11 to 18 are 0 before the first    [0, 1]
    12    ``last_beta``     beta / 2; 1 if there is no discount of negative regrets                         [-1, 1]
    13    ``last_floor``    1 if regrets have a floor at 0                                                  {0, 1}
    14    ``last_gamma``    log(1 + gamma)                                                                  [0, 4]
    15    ``last_optimism`` optimism                                                                        [0, 1]
    16    ``last_momentum`` weight of the momentum                                                          [0, 1]
    17    ``last_memory``   memory of the momentum                                                          [0, 1]
    18    ``last_power``    power of regret matching, less 1                                                [0, 1]
    19    ``mean_actions``  mean number of actions n of an infoset, n / (n + 4)                             [0, 1]
    20    ``most_actions``  largest number of actions n of an infoset, n / (n + 4)                          [0, 1]
    21    ``depth``         depth n of the game, n / (n + 10)                                               [0, 1]
    22    ``chance``        chance nodes, as a share of the histories that are not terminal                 [0, 1]
    23    ``ends``          terminal histories, as a share of all histories                                 [0, 1]
    ===== ================= =============================================================================== =======

    **Reward.** The decades by which the segment lowers the exploitability of the average policy: log10 before less
    log10 after. The rewards of an episode add up to the decades of the whole run, from the uniform policy on.

    **End of the episode.** The episode terminates with the run, after ``horizon`` iterations, and is never truncated.

    **Options of reset.** Each option that is not set is drawn; a value that is set must be one that can be drawn.

    =========== ======================== ===========
    Option      Value                    Drawn from
    =========== ======================== ===========
    ``game``    name of the game         ``games``
    ``horizon`` number of iterations     ``horizon``
    =========== ======================== ===========

    **Info.** ``reset`` returns ``game`` and ``horizon``. ``step`` returns JSON scalars.

    =============================================== =====================================================
    Key                                             Meaning
    =============================================== =====================================================
    ``game``                                        name of the game
    ``iterations``                                  iterations done
    ``exploitability``                              exploitability of the average policy, in the game's units
    ``alpha``, ``beta``, ``floor``, ``gamma``,      settings of the last segment; ``alpha`` is None for no
    ``optimism``, ``momentum``, ``memory``,         discount, and ``beta`` is None with a floor or for no discount
    ``power``
    =============================================== =====================================================

    The run's CPU seconds, including those of observing, are ``env.unwrapped.run.cpu_seconds``;
    ``env.unwrapped.average_policy()`` is the run's average policy; ``env.unwrapped.schedule()`` is a controller that
    repeats the picks.

    Args:
        games: a name that :func:`rlccfr.load_game` accepts, or several, from which each episode draws one.
        horizon: number of iterations of a run, or several, from which each episode draws one.
        render_mode: ``"ansi"`` for text, or ``"rgb_array"`` for a picture of the run's convergence and of the settings
            so far; by default nothing is rendered.

    Attributes:
        games, horizons: all values that an episode may draw.
        run: run of the current episode, a :class:`rlccfr.envs.control.run.ControlRun`; None before the first reset.

    Raises:
        RLCCFRError: there is no game, controllers do not support a game, or a number of iterations is not a positive
            integer.

    Examples:
        >>> env = ControlEnv("kuhn", horizon=16)
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, info
        ((24,), {'game': 'kuhn', 'horizon': 16})
        >>> observation, reward, terminated, truncated, info = env.step(np.array([3, 2, 1]))
        >>> info["iterations"], info["alpha"], info["gamma"], info["optimism"], terminated
        (4, 2.5, 2.0, 0.1, False)
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1}  # type: ignore[misc]

    def __init__(
        self,
        games: GameName | Sequence[GameName] = "leduc",
        horizon: int | Sequence[int] = 1000,
        *,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise RLCCFRError(f"render_mode must be None, 'ansi' or 'rgb_array', not {render_mode!r}")
        self.render_mode = render_mode
        self.games = tuple(as_name(game) for game in _as_tuple(games))
        self.horizons = tuple(whole_number(count, "horizon", 1, RLCCFRError) for count in _as_tuple(horizon))
        if not all(isinstance(game, str) for game in self.games):
            raise RLCCFRError(f"games must be names, as in ['kuhn', 'leduc'], not {brief(games)}")
        if not self.games or not self.horizons:
            raise RLCCFRError("games and horizon must each have at least one value")
        for game in self.games:
            compiled_tree(game, USE)
        # The controller's networks are never used: each step sets all picks.
        self._controller = Controller.untrained(CHOICES, hidden=())
        self.action_space = spaces.MultiDiscrete(list(self._controller.counts))
        self.observation_space = spaces.Box(-LARGEST, LARGEST, (len(OBSERVATION),), np.float32)
        self.run: ControlRun | None = None
        self._runs: dict[tuple[str, int], ControlRun] = {}
        self._points: list[tuple[int, float]] = []  # iterations and exploitability, at the start and after each segment
        self._settings: list[dict[str, float | bool | None]] = []  # of each segment

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin a run.

        Args:
            seed: seed of the draws; with None, the earlier random stream continues.
            options: ``{"game": ..., "horizon": ...}``; a missing option is drawn.

        Returns:
            The first observation, and a dict of the run's game and horizon.

        Raises:
            RLCCFRError: an unknown option, or a value that this environment can't draw.
        """
        super().reset(seed=seed)
        parsers: dict[str, Callable[[Any], Any]] = {
            "game": as_name,
            "horizon": partial(whole_number, name="horizon", least=1, failure=RLCCFRError),
        }
        drawn = drawn_episode({"game": self.games, "horizon": self.horizons}, options, self.np_random, parsers)
        game = drawn["game"]
        horizon = drawn["horizon"]
        # The tables of a run are reused in a later episode with the same game and length.
        tree = compiled_tree(game, USE)
        run = self._runs.get((game, horizon))
        if run is None or run.game is not tree:  # the first one, or the name now stands for another game
            run = self._runs[game, horizon] = ControlRun(tree, self._controller, horizon)
        self.run = run
        self.run.restart()
        observation = self._observation()
        self._points = [(0, self.run.exploitability)]
        self._settings = []
        return observation, drawn

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Run one segment under the settings picked.

        Returns:
            The next observation, the reward, whether the run is over, False (it is never truncated), and ``info``.

        Raises:
            RLCCFRError: an action out of range, or a run that is over or has not begun.
        """
        run = self.run
        if run is None or run.iteration >= run.horizon:
            reason = "has not begun" if run is None else "is over"
            raise RLCCFRError(f"the run {reason}: call reset() first")
        error_before = run.error
        run.step(action)
        observation = self._observation()
        self._points.append((run.iteration, run.exploitability))
        self._settings.append(run.settings)
        info = {"game": run.game.name, "iterations": run.iteration, "exploitability": run.exploitability}
        terminated = run.iteration == run.horizon
        # The reward is the number of decades by which the segment has lowered the exploitability.
        return observation, error_before - run.error, terminated, False, info | run.settings

    def average_policy(self) -> Policy:
        """Return the run's average policy so far; it is the policy that converges to an equilibrium.

        Raises:
            RLCCFRError: no run has begun.
        """
        if self.run is None:
            raise RLCCFRError("the run has not begun: call reset() first")
        return self.run.average_policy()

    def schedule(self) -> Controller:
        """Return a controller that repeats the picks that were made so far in the episode.

        ``Solver(game, control=controller)`` then repeats the run. The controller's picks depend only on the share of
        the run that is done, so it can also be used for other lengths and games; see
        :func:`rlccfr.controller_schedule.follow_schedule`.

        Raises:
            RLCCFRError: no segment has been run.
        """
        if self.run is None or not self.run.iteration:
            raise RLCCFRError("no segment has been run: call reset() and step() first")
        return self.run.schedule()

    def render(self) -> Any:
        """Return the run as a line of text (``"ansi"``) or an image, (height, width, 3) of uint8 (``"rgb_array"``).

        Return None if ``render_mode`` is None, or if it is ``"ansi"`` before the first run.
        """
        run = self.run
        if self.render_mode == "rgb_array":
            if run is None:
                return as_run_picture("no run has begun", self._points, self._settings, 1)
            heading = f"{run.game.name}, {_progress(run)}"
            return as_run_picture(heading, self._points, self._settings, run.horizon)
        if self.render_mode is None or run is None:
            return None
        settings = [f"{name}={value}" for name, value in run.settings.items()] if run.iteration else []
        return ", ".join([run.game.name, _progress(run), f"exploitability {run.exploitability:.3g}", *settings])

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, with only the current run; other runs are made again when needed."""
        return {**vars(self), "_runs": {key: run for key, run in self._runs.items() if run is self.run}}

    def _observation(self) -> np.ndarray:
        assert self.run is not None
        return self.run.observe().astype(np.float32)


def _progress(run: ControlRun) -> str:
    return f"{run.iteration:,} of {run.horizon:,} iterations"
