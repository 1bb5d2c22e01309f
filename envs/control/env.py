"""Steering one run: an environment whose steps are the segments of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlccfr.components.controller import CHOICES, OBSERVATION, Controller
from rlccfr.envs.control.run import ControlRun
from rlccfr.envs.measuring.compiled_games import compiled_tree
from rlccfr.envs.rendering import as_run_picture
from rlccfr.envs.reset_options import drawn_episode
from rlccfr.errors import RLCCFRError, brief, whole_number
from rlccfr.games.names import GameName, as_name
from rlccfr.policy import Policy

LARGEST = 4.0
"""Largest absolute value of an entry of an observation."""


def _several(values: Any) -> tuple[Any, ...]:
    """Return an iterable's values; anything else alone, and a mapping, too."""
    return tuple(values) if isinstance(values, Iterable) and not isinstance(values, Mapping) else (values,)


class ControlEnv(gym.Env[np.ndarray, np.ndarray]):
    """``rlccfr/Control-v0``: an episode is one run of exact passes; each step sets the update rule for a segment.

    Segments end at doublings of the iterations, and at three quarters and seven eighths of the run. Action:
    ``MultiDiscrete([discounts, averaging exponents, weights of the prediction])``, indices into
    :data:`rlccfr.components.controller.CHOICES`. Observation: :data:`rlccfr.components.controller.OBSERVATION`. Reward:
    the decades by which the segment lowers the exploitability of the average policy, so that an episode's sum is that
    of the whole run. The episode terminates with the run.

    ``info`` holds JSON scalars: game, iterations, exploitability, and the settings of the last segment. The run's CPU
    seconds, with observing included, are ``env.unwrapped.run.cpu_seconds``; ``env.unwrapped.average_policy()`` is its
    average policy.

    Args:
        games: a name that :func:`rlccfr.load_game` takes, or several, from which each episode draws one.
        horizon: number of iterations of a run, or several, from which each episode draws one.
        render_mode: ``"ansi"`` for text, or ``"rgb_array"`` for a picture of the run's convergence and of the settings
            so far; by default nothing is rendered.

    Raises:
        RLCCFRError: no game, one that can't be steered, or a number of iterations that is not a positive integer.
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
        self.games = tuple(map(as_name, (games,) if isinstance(games, str) else _several(games)))
        given = (horizon,) if isinstance(horizon, str) else _several(horizon)
        self.horizons = tuple(whole_number(one, "horizon", 1, RLCCFRError) for one in given)
        if not all(isinstance(game, str) for game in self.games):
            raise RLCCFRError(f"games must be names, as in ['kuhn', 'leduc'], not {brief(games)}")
        if not self.games or not self.horizons:
            raise RLCCFRError("name at least one game and one number of iterations")
        for game in self.games:
            compiled_tree(game, "a controller")
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
            options: ``{"game": ..., "horizon": ...}`` or one of them; the others are drawn.

        Raises:
            RLCCFRError: an unknown option, or a value that this environment does not have.
        """
        super().reset(seed=seed)
        drawn = drawn_episode(
            {"game": self.games, "horizon": self.horizons}, options, self.np_random, {"game": as_name}
        )
        key = drawn["game"], drawn["horizon"]
        if key not in self._runs:
            self._runs[key] = ControlRun(compiled_tree(key[0], "a controller"), self._controller, key[1])
        self.run = self._runs[key]
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
            RLCCFRError: an action out of range, or a run that is over.
        """
        run = self.run
        if run is None or run.iteration >= run.horizon:
            raise RLCCFRError(f"the run {'has not begun' if run is None else 'is over'}: call reset() first")
        before = run.error
        run.step(action)
        observation = self._observation()
        self._points.append((run.iteration, run.exploitability))
        self._settings.append(run.settings)
        info = {"game": run.game.name, "iterations": run.iteration, "exploitability": run.exploitability}
        return observation, before - run.error, run.iteration == run.horizon, False, info | run.settings

    def average_policy(self) -> Policy:
        """Return the run's average policy so far; it is the policy that converges to an equilibrium.

        Raises:
            RLCCFRError: no run has begun.
        """
        if self.run is None:
            raise RLCCFRError("the run has not begun: call reset() first")
        return self.run.average_policy()

    def render(self) -> Any:
        """Return a line on the run or an image (height, width, 3) of uint8, as ``render_mode`` asks; None without one.

        Before the first run there is an image, but no line.
        """
        run = self.run
        if self.render_mode == "rgb_array":
            heading = (
                "no run has begun"
                if run is None
                else f"{run.game.name}, {run.iteration:,} of {run.horizon:,} iterations"
            )
            return as_run_picture(heading, self._points, self._settings, 1 if run is None else run.horizon)
        if self.render_mode is None or run is None:
            return None
        settings = [f"{name}={value}" for name, value in run.settings.items()] if run.iteration else []
        done = f"{run.iteration:,} of {run.horizon:,} iterations"
        return ", ".join([run.game.name, done, f"exploitability {run.exploitability:.3g}", *settings])

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without runs that are not going on, which are made again when they are needed."""
        return {**vars(self), "_runs": {key: run for key, run in self._runs.items() if run is self.run}}

    def _observation(self) -> np.ndarray:
        assert self.run is not None
        return self.run.observe().astype(np.float32)
