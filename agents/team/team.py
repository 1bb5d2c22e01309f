"""Three selectors that pick an algorithm together: update rule, then sampler, then abstraction."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rlccfr.agents.team.experience import Experience, Situation
from rlccfr.agents.team.exploration import Triple, greedy_triple
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.agents.team.recommendation import Recommendation
from rlccfr.agents.team.selector import Selector
from rlccfr.catalog import AXES, Catalog, Cell
from rlccfr.envs.episode import (
    BudgetLike,
    Budgets,
    CatalogLike,
    EpisodeOptions,
    EpisodeSpec,
    Games,
    PresetLike,
)
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement
from rlccfr.envs.measuring.request import Request
from rlccfr.envs.observation import OBSERVATION_SIZE
from rlccfr.envs.reward import rewards
from rlccfr.envs.selector import SelectorEnv, SelectorFlatEnv
from rlccfr.errors import RLCCFRError, whole_number
from rlccfr.files import held
from rlccfr.games.names import GameName, as_name, identity_of
from rlccfr.pictures import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TRIES = 10
"""Largest number of new algorithms that a recommendation measures in search of one that converges."""


class SelectorTeam:
    """Three Stable-Baselines3 DQNs that pick in turn and share each measurement.

    At each decision, agent A picks the update rule, B the sampler knowing A's pick, and C the abstraction knowing both.
    The algorithm is measured once, and all agents learn from the measurement, by default the mean of their rewards. A
    recommendation is the greedy triple: in turn, each agent's choice with the largest Q-value. It need not be the best
    algorithm that was measured. An algorithm that is known not to converge under the budget is not recommended, unless
    the reward weights ask for speed alone, or all algorithms are known not to converge.

    An evaluation is one algorithm measured in one situation: a game, an engine seed, a budget, and the algorithms of
    the episode's earlier segments. Playing the algorithm again in that situation, or rewarding it under other weights,
    costs nothing.

    Args:
        games, budget, options: episodes to train on, as for :class:`rlccfr.envs.SelectorEnv`. The agents see the game,
            the budget and the reward weights, so one team learns to pick for several of each.
        seed: seed of all randomness in the team: initial weights, exploration, and batches to learn from.
        hyperparameters: hyperparameters of the networks and of training.

    Raises:
        RLCCFRError: an invalid argument, or no algorithm of the catalog can run here.
        TypeError: an unknown option.
    """

    def __init__(
        self,
        games: Games | EpisodeSpec = "kuhn",
        budget: Budgets | None = None,
        *,
        seed: int = 0,
        hyperparameters: Hyperparameters | None = None,
        **options: Unpack[EpisodeOptions],
    ) -> None:
        self.env = SelectorFlatEnv(games, budget, **options)
        self.available = self.env.action_masks().reshape(self.catalog.shape)
        if not self.available.any():
            raise RLCCFRError("no algorithm of this catalog can run here: install the extras that its components need")
        self.seed = whole_number(seed, "seed", 0, RLCCFRError)
        self.hyperparameters = hyperparameters if hyperparameters is not None else Hyperparameters()
        if not isinstance(self.hyperparameters, Hyperparameters):
            raise RLCCFRError(f"hyperparameters must be Hyperparameters(...), not {hyperparameters!r}")
        # Streams of their own: what one selector draws does not depend on how much the others or the team draw.
        *selector_seeds, own_seed = np.random.SeedSequence(self.seed).generate_state(4)
        self.selectors = tuple(
            Selector(OBSERVATION_SIZE, actions, self.hyperparameters, int(selector_seed))
            for actions, selector_seed in zip(self.catalog.shape, selector_seeds, strict=True)
        )
        self.generator = np.random.default_rng(int(own_seed))
        self.experience = Experience()
        self.forgotten = (0, 0.0)
        """Number of evaluations, and their engine CPU seconds, in experience that was not saved with the team."""
        self.settled = 0
        """Rounds of learning since the last measured episode, not counting the round right after it."""
        self.directory: Path | None = None
        """Directory in which training continues: the one that training last wrote to, or that the team was loaded
        from. Set it to None to write nothing more there."""
        self.saved_in: Path | None = None
        """Directory to which the team was last saved whole; it may be trained there, too."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of a copy. It has no directory, because only one team may train in a directory."""
        return {**vars(self), "directory": None, "saved_in": None}

    def __repr__(self) -> str:
        env = self.env
        names = [preset.name for preset in env.presets]
        learned_on = ("+".join(map(str, values)) for values in (env.games, env.budgets, names))
        size = f"algorithms={len(self.catalog):,}, evaluations={self.cost[0]:,}"
        return f"SelectorTeam({', '.join(map(repr, learned_on))}, {size})"

    @property
    def catalog(self) -> Catalog:
        """The algorithms to choose from."""
        return self.env.catalog

    @property
    def evaluations(self) -> int:
        """Number of evaluations in the experience; :attr:`cost` also counts those that were not saved with the team."""
        return len(self.experience)

    @property
    def cost(self) -> tuple[int, float]:
        """Number of evaluations that the team has learned from, and their engine CPU seconds."""
        evaluations, seconds = self.forgotten
        return evaluations + len(self.experience), seconds + self.experience.cpu_seconds

    def train(
        self,
        evaluations: int = 24,
        *,
        progress: Callable[[float], None] | None = None,
        callback: Callable[[Mapping[str, float | int | str]], None] | None = None,
        log_dir: str | Path | None = None,
    ) -> None:
        """Train up to a total number of evaluations; a stopped or loaded team continues, in its directory.

        Args:
            evaluations: total number of evaluations after which training ends, including those of earlier calls. If
                fewer are possible, it ends after all of these.
            progress: function called after each episode, and after each further round of learning, with the approximate
                share of the time that has passed.
            callback: function called after each measured episode with its row of ``training.csv``: the measurement,
                the rewards, and the losses and greedy picks after learning from it.
            log_dir: directory for ``training.csv``, TensorBoard's files and the checkpoint ``team.npz``, which is
                written after each measured episode and when training ends or is interrupted. By default, the directory
                of an earlier call, or the one that the team was loaded from; without either, nothing is written.

        Raises:
            RLCCFRError: fewer than one evaluation, or too few for one whole episode; or ``log_dir`` holds a controller,
                or another team (load that team to continue its training).
            MissingCellError: the team's evaluator is a table that lacks a measurement.
            InUseError: another process trains in ``log_dir``.
        """
        from rlccfr.agents.team.learning import Training
        from rlccfr.agents.team.team_file import refuse_others
        from rlccfr.agents.team.training_log import TrainingLog
        from rlccfr.networks.torch_state import one_thread  # only training needs these slow imports

        segments = self.env.segments
        evaluations = whole_number(evaluations, "evaluations", segments, RLCCFRError)  # at least one per segment
        directory = self.directory if log_dir is None else Path(log_dir)
        with held(directory) if directory else nullcontext():
            if directory is not None:
                refuse_others(self, directory)
            try:
                with one_thread(), TrainingLog(directory, self.evaluations, callback) as log:
                    training = Training(self, min(evaluations, self._possible_evaluations), log)
                    while training.share_done < 1.0:
                        measured = training.step()
                        if directory and measured:
                            self.save(directory)
                        if progress:
                            progress(training.progress)
            finally:  # also when interrupted: what was measured and learned is kept
                if directory and self.evaluations:
                    self.save(directory)
                    self.directory = directory.resolve()

    def recommend(
        self, game: GameName | None = None, budget: BudgetLike | None = None, preset: PresetLike | None = None
    ) -> Recommendation:
        """Return the greedy triple of the Q-networks for each segment, with the measurement of the episode.

        The episode is measured with the team's first engine seed. Unless the reward weights ask for speed alone, its
        algorithm is rejected if a known run of it, with any of the team's engine seeds, did not converge; the networks
        are then asked for another one. After :data:`MOST_TRIES` rejections, they choose among the algorithms that are
        known to converge, or among all if there are none. So the same question has the same answer before and after
        the runs are known.

        Args:
            game, budget, preset: game, budget and reward weights to pick for, whether trained on or not; by default the
                team's first.

        Raises:
            GameError: an unknown game.
            MissingCellError: the team's evaluator is a table that lacks the measurement.
            RLCCFRError: an invalid budget, or invalid reward weights.
        """
        env = self.env_for(game, budget, preset)
        rejected: set[Cell] = set()

        def untried(cell: Cell, earlier: tuple[Cell, ...]) -> bool:
            # What the evaluator alone knows is tried, too: else a question would begin where the last one ended.
            return cell not in rejected and all(self._converged(env, cell, earlier, experience_only=True))

        def known_to_converge(cell: Cell, earlier: tuple[Cell, ...]) -> bool:
            runs = list(self._converged(env, cell, earlier))
            return bool(runs) and all(runs)

        while True:
            suits = untried if len(rejected) < MOST_TRIES else known_to_converge
            cells, measurement = self._greedy_episode(env, suits)
            if env.preset.speed_alone or known_to_converge(cells[-1], tuple(cells[:-1])):
                break
            if cells[-1] in rejected:  # none is known to converge, so the networks chose among all
                break
            rejected.add(cells[-1])
        earned = rewards(measurement, env.preset)
        return Recommendation(env.game, env.budget, env.preset, tuple(cells), measurement, earned)

    def _greedy_episode(
        self, env: SelectorEnv, suits: Callable[[Cell, tuple[Cell, ...]], bool]
    ) -> tuple[list[Cell], Measurement]:
        """Return each segment's greedy algorithm, the last one among those that suit, and the measurement."""
        env.reset(options={"engine_seed": env.engine_seeds[0]})
        cells = []
        done = False
        while not done:
            cell = self.catalog.cell(*self.greedy(env, self._candidates(env, suits)))
            request = env.request(cell)
            done = env.step(self.catalog.flat(cell))[2]
            cells.append(cell)
        measurement = env.evaluator.measure(request)  # just measured, so it comes from memory
        return cells, measurement

    def pick(
        self,
        game: GameName | None = None,
        budget: BudgetLike | None = None,
        preset: PresetLike | None = None,
        among: Collection[Cell] | None = None,
    ) -> Cell:
        """Return the greedy triple of the Q-networks for an episode's first segment; nothing is measured.

        Args:
            game, budget, preset: as for :meth:`recommend`.
            among: algorithms of the catalog to pick from, at least one; by default, all that can run, except those that
                are known not to converge.

        Raises:
            GameError: an unknown game.
            RLCCFRError: an invalid budget, or invalid reward weights.
        """
        env = self.env_for(game, budget, preset)
        env.reset()
        if among is not None and not among:
            raise RLCCFRError("among has no algorithm: name at least one, or leave it out")
        if among is None:
            return self.catalog.cell(*self.greedy(env, self.recommendable(env)))
        allowed = np.zeros(self.catalog.shape, np.bool_)
        for cell in among:
            allowed[self.catalog.index(cell)] = True
        return self.catalog.cell(*self.greedy(env, allowed))

    def ranked(
        self, game: GameName | None = None, budget: BudgetLike | None = None, preset: PresetLike | None = None
    ) -> list[Cell]:
        """Return the algorithms that can run, the one with the largest Q-value first; nothing is measured.

        By default, all agents' Q-values estimate the mean reward; the lowest of the three is used. So an algorithm is
        ranked low if one agent does not know its component, as after :func:`expand_team`.

        Args:
            game, budget, preset: as for :meth:`recommend`.

        Raises:
            GameError: an unknown game.
            RLCCFRError: an invalid budget, or invalid reward weights.
        """
        env = self.env_for(game, budget, preset)
        env.reset()
        values = np.empty(self.catalog.shape)
        values[:] = self.q_values(env)[:, None, None]
        for rule in range(values.shape[0]):
            values[rule] = np.minimum(values[rule], self.q_values(env, (rule,))[:, None])
            for sampler in range(values.shape[1]):
                values[rule, sampler] = np.minimum(values[rule, sampler], self.q_values(env, (rule, sampler)))
        triples = np.argwhere(self.available)
        order = np.argsort(-values[self.available], kind="stable")  # equal ones keep the catalog's order
        return [self.catalog.cell(*map(int, triple)) for triple in triples[order]]

    def greedy(self, env: SelectorEnv, among: np.ndarray | None = None) -> Triple:
        """Return the greedy triple at an environment's current decision.

        Args:
            among: bool array of the catalog's shape, true for the algorithms to choose from; by default those that can
                run.
        """
        return greedy_triple(lambda picks: self.q_values(env, picks), self.available if among is None else among)

    def recommendable(self, env: SelectorEnv) -> np.ndarray:
        """Return which algorithms may be recommended at an environment's current decision.

        The result is a bool array of the catalog's shape. Only the end of an episode shows whether a run converges, so
        in earlier segments, all algorithms that can run may be recommended.
        """
        return self._candidates(env, lambda cell, earlier: all(self._converged(env, cell, earlier)))

    def _candidates(self, env: SelectorEnv, suits: Callable[[Cell, tuple[Cell, ...]], bool]) -> np.ndarray:
        """Return a bool array: which algorithms suit as an episode's last, given the earlier ones; or all, if none do.

        Before the last segment, and where the reward weights ask for speed alone, all that can run are candidates.
        """
        earlier = env.request(next(iter(self.catalog))).cells[:-1]
        if env.preset.speed_alone or len(earlier) + 1 < env.segments:
            return self.available
        candidates = self.available.copy()
        for index in np.argwhere(self.available):
            candidates[tuple(index)] = suits(self.catalog.cell(*map(int, index)), earlier)
        return candidates if candidates.any() else self.available

    def _converged(
        self, env: SelectorEnv, cell: Cell, earlier: tuple[Cell, ...], experience_only: bool = False
    ) -> Iterator[bool]:
        """Yield whether a run of an algorithm has converged, for each of the team's engine seeds with a known run."""
        for engine_seed in env.engine_seeds:
            situation = Situation(env.game, engine_seed, env.budget, earlier)
            outcome = self.experience.at(situation).get(cell)
            if outcome is not None:
                yield outcome.costs.converged
                continue
            request = Request(env.game, (*earlier, cell), env.budget, env.segments, engine_seed)
            if not experience_only and env.evaluator.known(request):
                yield env.evaluator.measure(request).converged

    def q_values(self, env: SelectorEnv, picks: tuple[int, ...] = ()) -> np.ndarray:
        """Return the Q-values, shape (choices,), of the agent whose turn it is at an environment's current decision.

        Args:
            picks: action indices of the earlier agents: none for agent A, one for B, two for C.
        """
        ids = [self.catalog.axes[axis][index] for axis, index in enumerate(picks)]
        return self.selectors[len(picks)].q_values(env.observe(ids))

    def plot(
        self,
        game: GameName | None = None,
        budget: BudgetLike | None = None,
        preset: PresetLike | None = None,
        axes: Axes | None = None,
    ) -> Axes:
        """Draw the agents' mean Q-value of every algorithm.

        Each agent values an algorithm by the component on its own axis, given that the earlier agents have picked the
        algorithm's components on theirs. Rows are update rules; columns are pairs of sampler and abstraction. The frame
        marks the team's pick.

        Args:
            game, budget, preset: as for :meth:`recommend`.
            axes: axes to draw on; by default those of a new figure.
        """
        env = self.env_for(game, budget, preset)
        env.reset()
        return _draw_q_values(self, env, axes)

    def save(self, path: str | Path, *, experience: bool = True) -> Path:
        """Write the team to ``team.npz`` in a directory, whole or not at all; return the file's path.

        Networks, experience, optimisers and random states are saved. Training that continues from a file written
        between two episodes therefore learns the same, bit for bit, as training that never stopped, if it measures the
        same.

        Args:
            experience: whether to save what further learning needs; without it, the file has only the Q-networks, which
                suffice to pick.

        Raises:
            CheckpointError: the file can't be written.
        """
        from rlccfr.agents.team.team_file import save_team

        file = save_team(self, Path(path), experience)
        if experience:
            self.saved_in = Path(path).resolve()
        return file

    @classmethod
    def load(
        cls, path: str | Path, catalog: CatalogLike | None = None, evaluator: str | Path | Evaluator | None = None
    ) -> SelectorTeam:
        """Read a saved team.

        Args:
            path: the directory, in which :meth:`train` then continues; or the file in it, which stays unchanged.
            catalog: catalog to choose from, by default the saved one; :func:`expand_team` makes a team for a larger
                one.
            evaluator: as for the constructor; name the store again to reuse its measurements.

        Raises:
            CheckpointError: there is no team, the file is damaged, the team was trained on another catalog, or one of
                its components is not registered or has changed; the message names the difference.
        """
        from rlccfr.agents.team.team_file import load_team

        return load_team(Path(path), cls, catalog, evaluator)

    def env_for(
        self, game: GameName | None = None, budget: BudgetLike | None = None, preset: PresetLike | None = None
    ) -> SelectorFlatEnv:
        """Return an environment with the team's catalog and evaluator for one game, budget and reward weights.

        Args:
            game, budget, preset: as for :meth:`recommend`.

        Raises:
            GameError: an unknown game.
            RLCCFRError: an invalid budget, or invalid reward weights.
        """
        env = self.env
        options = env.episodes.options
        options["preset"] = env.presets[0] if preset is None else preset
        return SelectorFlatEnv(
            env.games[0] if game is None else self._own_name(game),
            env.budgets[0] if budget is None else budget,
            **options,
        )

    def _own_name(self, game: GameName) -> GameName:
        """Return the name by which the team has learned on a game; the given name if it has not."""
        identity = identity_of(as_name(game))
        return next((own for own in self.env.games if identity_of(own) == identity), game)

    @property
    def _possible_evaluations(self) -> int:
        """Number of sequences of algorithms that can begin an episode, over all games, engine seeds and budgets."""
        env = self.env
        algorithms = int(self.available.sum())
        beginnings: int = sum(algorithms ** (segment + 1) for segment in range(env.segments))
        return beginnings * len(env.games) * len(env.engine_seeds) * len(env.budgets)


def _draw_q_values(team: SelectorTeam, env: SelectorFlatEnv, axes: Axes | None) -> Axes:
    """Draw the picture of :meth:`SelectorTeam.plot` at an environment's current decision."""
    shape = team.catalog.shape
    mean_values = np.empty(shape)
    rule_values = team.q_values(env)
    for rule in range(shape[0]):
        sampler_values = team.q_values(env, (rule,))
        for sampler in range(shape[1]):
            abstraction_values = team.q_values(env, (rule, sampler))
            mean_values[rule, sampler] = (rule_values[rule] + sampler_values[sampler] + abstraction_values) / len(AXES)
    mean_values[~team.available] = np.nan
    axes = axes if axes is not None else new_axes(2.5 + 0.3 * shape[1] * shape[2], 2.5 + 0.3 * shape[0])
    image = axes.imshow(mean_values.reshape(shape[0], -1), cmap="viridis", aspect="auto")
    rules, samplers, abstractions = ([id.split("(")[0] for id in ids] for ids in team.catalog.axes)
    axes.set_yticks(range(shape[0]), rules)
    columns = [f"{sampler}, {abstraction}" for sampler in samplers for abstraction in abstractions]
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    rule, sampler, abstraction = team.greedy(env, team.recommendable(env))
    axes.plot(sampler * shape[2] + abstraction, rule, "s", markersize=13, markerfacecolor="none", markeredgecolor="red",
              markeredgewidth=2)  # fmt: skip
    title = f"{env.game}, {env.budget}, {env.preset.name}: Q-values and the pick"
    axes.set_title("\n".join(textwrap.wrap(title, 45, break_long_words=True)))
    axes.figure.colorbar(image, ax=axes, label="mean Q-value of the three agents")
    return axes
