"""The choice of a CFR algorithm as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Unpack

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from rlccfr.catalog import AXES, Cell
from rlccfr.controller_schedule import array_of
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
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.identity import why_unavailable
from rlccfr.envs.measuring.request import Request
from rlccfr.envs.observation import Progress, observation_space, observe
from rlccfr.envs.rendering import as_picture, as_text
from rlccfr.envs.reset_options import drawn_episode
from rlccfr.envs.reward import Costs, Preset, costs
from rlccfr.errors import RLCCFRError, brief, whole_number
from rlccfr.files import none_for_nan
from rlccfr.games.compiled_games import compiled, measured_name, uniform_exploitability, uniform_in_units
from rlccfr.games.names import as_name


class SelectorEnv(gym.Env[np.ndarray, Any]):
    """``rlccfr/Selector-v0``: an episode solves one game; each step picks the algorithm for one of its segments.

    An algorithm is a triple of update rule, sampler and abstraction from ``catalog``. An episode begins with a new
    solver at the uniform policy. Each step runs one segment of the budget; the solver's tables (regrets and average
    policy) stay from segment to segment.

    **Action.** ``MultiDiscrete``, shape (3,), of indices into the catalog.

    ===== ============ ==========================
    Index Meaning      Values
    ===== ============ ==========================
    0     update rule  0 .. catalog.shape[0] - 1
    1     sampler      0 .. catalog.shape[1] - 1
    2     abstraction  0 .. catalog.shape[2] - 1
    ===== ============ ==========================

    **Observation.** ``Box`` of float32 in [-1, 1], shape (119,). :data:`rlccfr.envs.observation.FEATURE_NAMES` names
    each number. Before the first segment, numbers 26 and 28 to 32 are 0.

    ========== ================================================================================== =======
    Index      Meaning                                                                            Range
    ========== ================================================================================== =======
    0 - 11     the game (:class:`rlccfr.envs.GameFeatures`)                                       [0, 1]
    12         exploitability of the uniform policy, on a logarithmic scale                       [0, 1]
    13         amount of the episode's budget, on a logarithmic scale                             [0, 1]
    14 - 16    unit of the budget: iterations, seconds, nodes (one of the three is 1)             {0, 1}
    17 - 22    reward weights alpha and beta of each agent                                        [0, 1]
    23 - 25    scale of e: log, linear, units (one of the three is 1)                             {0, 1}
    26         segments done, as a share of all segments                                          [0, 1]
    27         one segment, as a share of the episode                                             (0, 1]
    28         1 if a segment is done                                                             {0, 1}
    29         1 if the run has failed                                                            {0, 1}
    30         error cost e after the last segment, always on the log scale                       [0, 1]
    31         change of that e over the last segment                                             [-1, 1]
    32         speed cost s since the episode's start                                             [0, 1]
    33 - 75    components picked earlier in the current segment (in this environment none, so 0)  [-1, 1]
    76 - 118   components of the previous segment; 0 before the first                             [-1, 1]
    ========== ================================================================================== =======

    **Reward.** R̄ after each segment: the mean of R = 1 - (alpha e + beta s) over the three agents, each with its own
    weights (:func:`rlccfr.envs.reward.reward`).

    ====== ==============================================================================================
    Symbol Meaning
    ====== ==============================================================================================
    e      error cost of the average policy at the segment's end, on the preset's scale
           (:class:`rlccfr.envs.reward.Costs`)
    s      speed cost of the throughput since the episode's start (:func:`rlccfr.envs.reward.speed_cost`)
    ====== ==============================================================================================

    An algorithm that can't run raises no error: e is then the uniform policy's, s is 1, and ``info["status"]`` says
    why.

    **End of the episode.** The episode terminates after its last segment, even if its run has failed before, and is
    never truncated.

    **Options of reset.** Each option that is not set is drawn; a value that is set must be one that can be drawn.

    =============== ============================================================ ==================
    Option          Value                                                        Drawn from
    =============== ============================================================ ==================
    ``game``        name of the game                                             ``games``
    ``engine_seed`` seed of the engine                                           ``engine_seeds``
    ``budget``      ``Budget``, or ``{"unit": "iterations", "amount": 1000}``    ``budget``
    ``preset``      ``Preset``, its name, or its weights as numbers              ``preset``
    =============== ============================================================ ==================

    **Info.** ``reset`` returns the episode's ``game``, ``engine_seed``, ``budget``, ``preset`` and ``scale``. ``step``
    returns JSON scalars. If the run failed, measured numbers are None, and counts are 0.

    ================================================= =============================================================
    Key                                               Meaning
    ================================================= =============================================================
    ``game``                                          name of the game
    ``update_rule``, ``sampler``, ``abstraction``     ids of the picked components
    ``status``                                        ``"ok"``, or the kind of failure
    ``cell_id``                                       id of the measurement's record
    ``iterations``, ``nodes_touched``                 counts since the episode's start
    ``exploitability``, ``nash_conv``                 of the average policy, in the game's units
    ``throughput``                                    iterations per engine CPU second since the episode's start
    ``speed``                                         throughput as a multiple of plain CFR's
    ``cpu_seconds``                                   engine CPU seconds since the episode's start
    ``scale``, ``error_cost``, ``speed_cost``         scale of e, e on this scale, and s
    ``reward_update_rule``, ``reward_sampler``,       R of the three agents
    ``reward_abstraction``
    ================================================= =============================================================

    The full record, with its curve, is ``env.unwrapped.evaluator.result(info["cell_id"])``.

    Args:
        games: a name that :func:`rlccfr.load_game` accepts, or several, from which each episode draws one; or an
            ``EpisodeSpec``.
        budget: budget of an episode, or a list of budgets, from which each episode draws one. The default is 1,000
            iterations, or the budgets of the specification.
        options: :class:`rlccfr.envs.EpisodeOptions`.
        render_mode: ``"ansi"`` for text, or ``"rgb_array"`` for the convergence curve; by default nothing is rendered.

    Attributes:
        games, budgets, presets, engine_seeds: all values that an episode may draw.
        segments: number of segments of an episode.
        catalog: algorithms to pick from.
        evaluator: source of measurements.
        episodes: all of the above, as an ``EpisodeSpec``.
        game, budget, preset, engine_seed: values of the current episode.

    Raises:
        RLCCFRError: an invalid argument.
        TypeError: an unknown argument.

    Examples:
        >>> import gymnasium
        >>> budget = {"unit": "iterations", "amount": 100}
        >>> env = gymnasium.make("rlccfr:rlccfr/Selector-v0", games="kuhn", budget=budget)
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, info["game"]
        ((119,), 'kuhn')
        >>> action = env.unwrapped.catalog.index(Cell("cfr_plus", "none", "none"))
        >>> observation, reward, terminated, truncated, info = env.step(action)
        >>> terminated, info["update_rule"], info["iterations"], round(info["exploitability"], 4)
        (True, 'cfr_plus', 100, 0.001)
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
        self.episodes = EpisodeSpec.parse(games, budget, **options)
        self.games = self.episodes.games
        self.contents = {game: measured_name(game) for game in self.games}  # a game's file may change later
        self.budgets = self.episodes.budgets
        self.segments = self.episodes.segments
        self.presets = self.episodes.presets
        self.catalog = self.episodes.catalog
        self.engine_seeds = self.episodes.engine_seeds
        self.evaluator = self.episodes.evaluator
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = self._action_space()

        # The episode's settings; reset() draws them again.
        self.game = self.games[0]
        self.budget = self.budgets[0]
        self.preset = self.presets[0]
        self.engine_seed = self.engine_seeds[0]
        self._has_begun = False
        self._history: list[tuple[Cell, Measurement, float]] = []  # algorithm, measurement and reward of each segment
        self._progress = Progress(segments=self.segments)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: seed of the draws; with None, the earlier random stream continues.
            options: any of ``{"game": ..., "engine_seed": ..., "budget": ..., "preset": ...}``; missing options are
                drawn.

        Returns:
            The first observation, and a dict of the episode's game, engine seed, budget, preset and scale of e.

        Raises:
            RLCCFRError: an unknown option, or a value that this environment can't draw.
        """
        super().reset(seed=seed)
        choices: dict[str, Sequence[Any]] = {
            "game": self.games, "engine_seed": self.engine_seeds, "budget": self.budgets, "preset": self.presets
        }  # fmt: skip
        parsers: dict[str, Callable[[Any], Any]] = {
            "game": as_name,
            "engine_seed": partial(whole_number, name="engine_seed", least=0, failure=RLCCFRError),
            "budget": parse_budget,
            "preset": self._named_preset,
        }
        drawn = drawn_episode(choices, options, self.np_random, parsers)
        self.game = drawn["game"]
        self.budget = drawn["budget"]
        self.preset = drawn["preset"]
        self.engine_seed = drawn["engine_seed"]
        self._has_begun = True
        self._history = []
        self._progress = Progress(segments=self.segments)
        self._begin_segment()
        # ``info`` holds JSON scalars, so budget and preset become text.
        as_scalars = {"budget": str(self.budget), "preset": self.preset.name, "scale": self.preset.scale}
        return self._observation(), drawn | as_scalars

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Run one segment with the picked algorithm.

        Returns:
            The next observation, the reward, whether the episode has terminated, False (it is never truncated), and
            ``info``.

        Raises:
            RLCCFRError: an action out of range, or an episode that is over or has not begun.
            MissingCellError: the evaluator is a table that lacks the measurement.
        """
        if not self._has_begun or len(self._history) >= self.segments:
            reason = "is over" if self._has_begun else "has not begun"
            raise RLCCFRError(f"the episode {reason}: call reset() first")
        # The request has the algorithms of all segments so far; the evaluator continues the run or looks up the result.
        algorithm = self._algorithm(action)
        measured = self.evaluator.measure(self.request(algorithm))
        run_costs = costs(measured)
        agents_rewards = self.preset.rewards(run_costs)
        reward = self._reward(agents_rewards)
        self._advance(algorithm, measured, run_costs, reward)

        # Costs and the three agents' rewards are reported, however the step's reward is computed.
        error_cost = run_costs.error(self.preset.scale)
        info = {"game": self.game, **_scalars(measured), **algorithm._asdict()}
        info |= {"scale": self.preset.scale, "error_cost": error_cost, "speed_cost": run_costs.speed}
        info |= {f"reward_{axis}": value for axis, value in zip(AXES, agents_rewards, strict=True)}

        terminated = len(self._history) >= self.segments
        if not terminated:
            self._begin_segment()
        return self._observation(), reward, terminated, False, info

    def observe(self, picks: Sequence[str] = ()) -> np.ndarray:
        """Return what an agent sees before its pick in the current segment.

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

    def request(self, algorithm: Cell) -> Request:
        """Return the request that picking ``algorithm`` now would send to the evaluator."""
        earlier_algorithms = [earlier for earlier, _, _ in self._history]
        return Request(self.game, (*earlier_algorithms, algorithm), self.budget, self.segments, self.engine_seed)

    def action_masks(self) -> np.ndarray:
        """Return which components can run: bool, shape (sum(catalog.shape),), one axis after the other.

        A component can run if at least one algorithm with it can run, that is, if
        :func:`~rlccfr.envs.measuring.identity.why_unavailable` is None for the algorithm.
        """
        available = self._available().reshape(self.catalog.shape)
        return np.concatenate([available.any(axis=(1, 2)), available.any(axis=(0, 2)), available.any(axis=(0, 1))])

    def render(self) -> Any:
        """Return the episode as a string or an image, (height, width, 3) of uint8; None without a ``render_mode``."""
        heading = f"{self.game}, {self.budget}, {self.segments} segment(s), reward weights {self.preset}"
        if self.render_mode == "ansi":
            return as_text(heading, self._history)
        if self.render_mode == "rgb_array":
            title = self.game
            record = None
            if self._history:
                algorithm, measured, _ = self._history[-1]
                title = f"{self.game}: {algorithm}"
                record = self.evaluator.result(measured.cell_id)
            return as_picture(title, record, uniform_exploitability(self.game))
        return None

    def _named_preset(self, value: PresetLike) -> Preset:
        """Return the reward weights that a user names for an episode.

        A string is first looked up among the names of this environment's presets, which may be the user's own.

        A name or numbers do not determine the scale of e. If a preset of this environment has the same name and
        weights, the preset's scale is used; otherwise, the default scale of the name or numbers.
        """
        if isinstance(value, str):
            for preset in self.presets:
                if preset.name == value:
                    return preset
        named = parse_preset(value)
        if isinstance(value, Preset):
            return named
        for preset in self.presets:
            if (preset.name, preset.weights) == (named.name, named.weights):
                return preset
        return named

    def _action_space(self) -> spaces.Space[Any]:
        return spaces.MultiDiscrete(list(self.catalog.shape))

    def _algorithm(self, action: Any) -> Cell:
        """Return the algorithm behind an action.

        Raises:
            RLCCFRError: the action is not three indices, or one is out of range.
        """
        indices = array_of(action)
        are_integers = np.issubdtype(indices.dtype, np.integer)
        if not are_integers or indices.shape != (3,) or not self.action_space.contains(indices.astype(np.int64)):
            raise RLCCFRError(f"an action must be three indices below {self.catalog.shape}, not {brief(action)}")
        rule, sampler, abstraction = (int(index) for index in indices)
        return self.catalog.cell(rule, sampler, abstraction)

    def _reward(self, rewards: tuple[float, float, float]) -> float:
        """Return the reward of a step, computed from the rewards R of agents A, B and C."""
        return sum(rewards) / len(rewards)

    def _begin_segment(self) -> None:
        """Prepare a decision; in a stage environment, the partners pick here."""

    def _observation(self) -> np.ndarray:
        """Return the observation before the next pick, or after the episode's end."""
        return self.observe()

    def _available(self) -> np.ndarray:
        """Return which algorithms can run, as in :meth:`action_masks`: bool by flat index, shape (len(catalog),)."""
        return np.array([why_unavailable(cell) is None for cell in self.catalog])

    def _advance(self, algorithm: Cell, measured: Measurement, run_costs: Costs, reward: float) -> None:
        """Record a finished segment in the episode's history and progress."""
        self._history.append((algorithm, measured, reward))
        self._progress = Progress(
            segment=len(self._history),
            segments=self.segments,
            previous=algorithm,
            log_error_cost=run_costs.log,
            log_error_slope=run_costs.log - self._progress.log_error_cost,
            speed_cost=run_costs.speed,
            failed=not measured.ok,
        )


class SelectorFlatEnv(SelectorEnv):
    """``rlccfr/SelectorFlat-v0``: :class:`SelectorEnv` with one ``Discrete`` space of algorithms, as DQN needs.

    **Action.** ``Discrete``; the algorithm's flat index in the catalog, in which the abstraction varies fastest.
    ``catalog.ravel`` computes the flat index from three indices, and ``catalog.unravel`` is the inverse.

    ========================= ============================================
    Value                     Meaning
    ========================= ============================================
    0 .. ``len(catalog) - 1`` ``catalog.cell(*catalog.unravel(action))``
    ========================= ============================================

    Observation, reward, end of the episode, options of ``reset``, ``info`` and arguments are those of
    :class:`SelectorEnv`.

    Examples:
        >>> env = SelectorFlatEnv("kuhn")
        >>> env.action_space
        Discrete(336)
        >>> action = env.catalog.ravel(0, 1, 2)
        >>> env.catalog.cell(*env.catalog.unravel(action)) == env.catalog.cell(0, 1, 2)
        True
    """

    def action_masks(self) -> np.ndarray:
        """Return which algorithms can run: bool by flat index, shape (len(catalog),)."""
        return self._available()

    def _action_space(self) -> spaces.Space[Any]:
        return spaces.Discrete(len(self.catalog))

    def _algorithm(self, action: Any) -> Cell:
        index = checked_index(action, len(self.catalog), "; catalog.ravel() makes one index of three")
        return self.catalog.cell(*self.catalog.unravel(index))


def checked_index(action: Any, count: int, hint: str = "") -> int:
    """Return the action as an int, after checking that it is below ``count``.

    Args:
        action: a number, or an array of one number.
        count: number of actions.
        hint: end of the error's message.

    Raises:
        RLCCFRError: the action is not one index, or is out of range.
    """
    index = array_of(action)
    if index.size != 1 or not np.issubdtype(index.dtype, np.integer) or not 0 <= int(index.item()) < count:
        raise RLCCFRError(f"an action must be one index below {count}, not {brief(action)}{hint}")
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
