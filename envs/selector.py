"""The choice of a CFR algorithm as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Unpack

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlccfr.catalog import AXES, Cell
from rlccfr.envs.episode import (
    Budgets,
    EpisodeOptions,
    EpisodeSpec,
    Games,
    PresetLike,
    check_option_names,
    parse_budget,
    parse_preset,
)
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.compiled_games import compiled, uniform_exploitability, uniform_in_units
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.identity import why_unavailable
from rlccfr.envs.measuring.request import Request
from rlccfr.envs.observation import Progress, observation_space, observe
from rlccfr.envs.rendering import as_picture, as_text
from rlccfr.envs.reset_options import drawn_episode
from rlccfr.envs.reward import Preset, costs
from rlccfr.errors import RLCCFRError
from rlccfr.files import none_for_nan
from rlccfr.games.names import as_name


class SelectorEnv(gym.Env[np.ndarray, Any]):
    """``rlccfr/Selector-v0``: an episode solves one game; each step picks the algorithm for one of its segments.

    Action: ``MultiDiscrete([update rules, samplers, abstractions])``, indices into ``catalog``. Observation:
    :data:`rlccfr.envs.observation.FEATURE_NAMES`. Reward: R̄, the mean of the three agents' R. Its e is that of the
    average policy at the segment's end, on the preset's scale; its s is that of the throughput since the episode's
    start. The episode terminates after its last segment. An algorithm that can't run raises no error: e is the uniform
    policy's, s is 1, and ``info["status"]`` says why.

    ``info`` holds JSON scalars: the algorithm, what was measured, ``speed`` (throughput as a multiple of plain CFR's),
    ``scale`` of e, ``error_cost`` and ``speed_cost`` (e and s), and the agents' rewards. If the run failed, what was
    measured is None, and counts are 0. The full record, with its curve, is
    ``env.unwrapped.evaluator.result(info["cell_id"])``.

    Args:
        games: a name that :func:`rlccfr.load_game` takes, or several, from which each episode draws one. It may also
            be an ``EpisodeSpec``.
        budget: budget of an episode, or a list of budgets, from which each episode draws one. The default is 1,000
            iterations, or the budgets of the specification.
        options: :class:`rlccfr.envs.EpisodeOptions`.
        render_mode: ``"ansi"`` for text, or ``"rgb_array"`` for the convergence curve; by default nothing is rendered.

    Raises:
        RLCCFRError: an invalid argument.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1}  # type: ignore[misc]
    arguments: ClassVar[tuple[str, ...]] = ("games", "budget", "render_mode")
    """Names of the arguments besides the options of episodes."""

    def __init__(
        self,
        games: Games | EpisodeSpec = "kuhn",
        budget: Budgets | None = None,
        *,
        render_mode: str | None = None,
        **options: Unpack[EpisodeOptions],
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise RLCCFRError(f"render_mode must be None, 'ansi' or 'rgb_array', not {render_mode!r}")
        check_option_names(options, self.arguments)
        self.episodes = spec = EpisodeSpec.parse(games, budget, **options)
        self.games, self.budgets, self.segments = spec.games, spec.budgets, spec.segments
        self.presets, self.catalog = spec.presets, spec.catalog
        self.engine_seeds, self.evaluator = spec.engine_seeds, spec.evaluator
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = self._action_space()
        self.game, self.engine_seed = self.games[0], self.engine_seeds[0]
        self.budget, self.preset = self.budgets[0], self.presets[0]
        self._begun = False
        self._history: list[tuple[Cell, Measurement, float]] = []
        self._progress = Progress(segments=self.segments)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: seed of the draws; with None, the earlier random stream continues.
            options: any of ``{"game": ..., "engine_seed": ..., "budget": ..., "preset": ...}``; the others are drawn.

        Returns:
            The first observation, and a dict of the episode's game, engine seed, budget, preset and scale of e.

        Raises:
            RLCCFRError: an unknown option, or a value that this environment does not have.
        """
        super().reset(seed=seed)
        choices: dict[str, Sequence[Any]] = {
            "game": self.games, "engine_seed": self.engine_seeds, "budget": self.budgets, "preset": self.presets
        }  # fmt: skip
        parsers: dict[str, Callable[[Any], Any]] = {
            "game": as_name,
            "budget": parse_budget,
            "preset": self._named_preset,
        }
        drawn = drawn_episode(choices, options, self.np_random, parsers)
        self.game, self.engine_seed = drawn["game"], drawn["engine_seed"]
        self.budget, self.preset = drawn["budget"], drawn["preset"]
        self._begun, self._history = True, []
        self._progress = Progress(segments=self.segments)
        self._begin_segment()
        told = {"budget": str(self.budget), "preset": self.preset.name, "scale": self.preset.scale}
        return self._observation(), drawn | told

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Run one segment with the picked algorithm.

        Returns:
            The next observation, the reward, whether the episode has terminated, False (it is never truncated), and
            ``info``.

        Raises:
            RLCCFRError: an action out of range, or an episode that is over or has not begun.
            MissingCellError: the evaluator is a table that lacks the measurement.
        """
        if not self._begun or len(self._history) >= self.segments:
            raise RLCCFRError(f"the episode {'is over' if self._begun else 'has not begun'}: call reset() first")
        cell = self._cell(action)
        measured = self.evaluator.measure(self.request(cell))
        paid = costs(measured)
        each = self.preset.rewards(paid)
        mine = self._reward(each)
        self._advance(cell, measured, mine)
        info = {"game": self.game, **_scalars(measured), **cell._asdict()}
        info |= {"scale": self.preset.scale, "error_cost": paid.error(self.preset.scale), "speed_cost": paid.speed}
        info |= {f"reward_{axis}": value for axis, value in zip(AXES, each, strict=True)}
        terminated = len(self._history) >= self.segments
        if not terminated:
            self._begin_segment()
        return self._observation(), mine, terminated, False, info

    def observe(self, picks: Sequence[str] = ()) -> np.ndarray:
        """Return what an agent sees before its pick in the present segment.

        Args:
            picks: ids picked in this segment so far, in the order update rule, sampler, abstraction: none for agent A,
                one for B, two for C.

        Returns:
            New float32 array of shape (OBSERVATION_SIZE,); see :func:`rlccfr.envs.observation.observe`.

        Raises:
            ComponentError: an unknown id among the picks.
        """
        features = GameFeatures.of(compiled(self.game))
        return observe(features, uniform_in_units(self.game), self.budget, self.preset, self._progress, picks)

    def request(self, cell: Cell) -> Request:
        """Return the request that picking ``cell`` now would send to the evaluator."""
        cells = (*(earlier for earlier, _, _ in self._history), cell)
        return Request(self.game, cells, self.budget, self.segments, self.engine_seed)

    def action_masks(self) -> np.ndarray:
        """Return which indices of an action can run here: bool, shape (sum(catalog.shape),), one axis after the other.

        An index can run if some algorithm with it can.
        """
        allowed = self._available().reshape(self.catalog.shape)
        return np.concatenate([allowed.any(axis=tuple({0, 1, 2} - {axis})) for axis in range(3)])

    def render(self) -> Any:
        """Return a string or an image (height, width, 3) of uint8, as ``render_mode`` asks; None without one."""
        heading = f"{self.game}, {self.budget}, {self.segments} segment(s), reward weights {self.preset}"
        if self.render_mode == "ansi":
            return as_text(heading, self._history)
        if self.render_mode == "rgb_array":
            last = self._history[-1] if self._history else None
            record = self.evaluator.result(last[1].cell_id) if last else None
            title = f"{self.game}: {last[0]}" if last else self.game
            return as_picture(title, record, uniform_exploitability(self.game))
        return None

    def _named_preset(self, value: PresetLike) -> Preset:
        """Return reward weights; a name or numbers stand for those of the environment, on the scale that these have."""
        asked = parse_preset(value)
        if isinstance(value, Preset):
            return asked
        return next((one for one in self.presets if (one.name, one.weights) == (asked.name, asked.weights)), asked)

    def _action_space(self) -> spaces.Space[Any]:
        return spaces.MultiDiscrete(list(self.catalog.shape))

    def _cell(self, action: Any) -> Cell:
        """Return the algorithm behind an action."""
        indices = np.asarray(action)
        whole = np.issubdtype(indices.dtype, np.integer)
        if not whole or indices.shape != (3,) or not self.action_space.contains(indices.astype(np.int64)):
            raise RLCCFRError(f"an action is three indices below {self.catalog.shape}, not {action!r}")
        rule, sampler, abstraction = (int(index) for index in indices)
        return self.catalog.cell(rule, sampler, abstraction)

    def _reward(self, rewards: tuple[float, float, float]) -> float:
        return sum(rewards) / len(rewards)

    def _begin_segment(self) -> None:
        """Prepare a decision; in a stage environment, the partners pick here."""

    def _observation(self) -> np.ndarray:
        return self.observe()

    def _available(self) -> np.ndarray:
        """Return which algorithms can run here: bool by flat index, shape (len(catalog),)."""
        return np.array([why_unavailable(cell) is None for cell in self.catalog])

    def _advance(self, cell: Cell, measured: Measurement, mine: float) -> None:
        self._history.append((cell, measured, mine))
        paid = costs(measured)
        self._progress = Progress(
            segment=len(self._history),
            segments=self.segments,
            previous=cell,
            error_cost=paid.log,
            error_slope=paid.log - self._progress.error_cost,
            speed_cost=paid.speed,
            failed=not measured.ok,
        )


class SelectorFlatEnv(SelectorEnv):
    """``rlccfr/SelectorFlat-v0``: :class:`SelectorEnv` with one ``Discrete`` space of algorithms, as DQN needs.

    An action is :meth:`Catalog.ravel` of three indices; the abstraction varies fastest.
    """

    def action_masks(self) -> np.ndarray:
        """Return which algorithms can run here: bool, shape (len(catalog),)."""
        return self._available()

    def _action_space(self) -> spaces.Space[Any]:
        return spaces.Discrete(len(self.catalog))

    def _cell(self, action: Any) -> Cell:
        hint = "; catalog.ravel() makes one of three"
        return self.catalog.cell(*self.catalog.unravel(checked_index(action, len(self.catalog), hint)))


def checked_index(action: Any, count: int, hint: str = "") -> int:
    """Return the action as an int.

    Args:
        hint: end of the error's message.

    Raises:
        RLCCFRError: the action is not one index, or is out of range.
    """
    index = np.asarray(action)
    if index.size != 1 or not np.issubdtype(index.dtype, np.integer) or not 0 <= int(index.item()) < count:
        raise RLCCFRError(f"an action is one index below {count}, not {action!r}{hint}")
    return int(index.item())


def _scalars(measured: Measurement) -> dict[str, Any]:
    """Return the measurement for ``info``, with None for NaN, which JSON does not have."""
    names = ("exploitability", "nash_conv", "throughput", "speed", "cpu_seconds")
    numbers = {name: getattr(measured, name) for name in names}
    return {
        "status": measured.status,
        "cell_id": measured.cell_id,
        "iterations": measured.iterations,
        "nodes_touched": measured.nodes_touched,
        **{name: none_for_nan(value) for name, value in numbers.items()},
    }
