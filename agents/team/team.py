"""Three selectors that pick an algorithm together: update rule, then sampler, then abstraction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from rlccfr.agents.team.experience import Experience
from rlccfr.agents.team.exploration import Triple, greedy_triple
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.agents.team.recommendation import Recommendation
from rlccfr.agents.team.selector import Selector
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.episode import (
    BudgetLike,
    Budgets,
    CatalogLike,
    EpisodeOptions,
    EpisodeSpec,
    Games,
    PresetLike,
)
from rlccfr.envs.measuring.evaluator import Evaluator
from rlccfr.envs.observation import OBSERVATION_SIZE
from rlccfr.envs.reward import rewards
from rlccfr.envs.selector import SelectorEnv, SelectorFlatEnv
from rlccfr.errors import RLCCFRError, whole_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rlccfr.agents.team.training import Plan


class SelectorTeam:
    """Three Stable-Baselines3 DQNs that pick in turn, with a coordinator that lets them share each measurement.

    For each decision agent A picks the update rule, B the sampler knowing A's pick, C the abstraction knowing both;
    the cell is measured once; each agent gets its own reward and learns. A recommendation is the greedy triple of
    the Q-networks, never the best cell seen.

    An evaluation is a distinct cell measured (where there are several segments, engine seeds or budgets: a distinct
    beginning of an episode). Playing a measured cell again costs none, and neither does what it is worth under other
    weights.

    Args:
        games, budget, options: of the episodes to train on, as :class:`rlccfr.envs.SelectorEnv` takes them. Of several
            games, budgets or presets the agents see which it is, so one team learns to pick for each.
        seed: of everything random in the team: weights, exploration, what is sampled from memories.
        hyperparameters: of the networks and of training.

    Raises:
        RLCCFRError: an argument that makes no sense, or a catalog of which nothing can run here.
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
            raise RLCCFRError("nothing in this catalog can run here: install the extras that its components need")
        self.seed = seed = whole_number(seed, "seed", 0, RLCCFRError)
        self.hyperparameters = hyperparameters if hyperparameters is not None else Hyperparameters()
        if not isinstance(self.hyperparameters, Hyperparameters):
            raise RLCCFRError(f"hyperparameters must be Hyperparameters(...), not {hyperparameters!r}")
        seeds = np.random.SeedSequence(seed).generate_state(4)
        self.selectors = tuple(
            Selector(OBSERVATION_SIZE, actions, self.hyperparameters, int(own))
            for actions, own in zip(self.catalog.shape, seeds[:3], strict=True)
        )
        self.generator = np.random.default_rng(int(seeds[3]))
        self.experience = Experience()
        self.forgotten = (0, 0.0)
        """Evaluations and CPU seconds of experience that was not saved with the team."""
        self.settled = 0
        """Rounds of learning since the last new cell, beyond the one that follows it."""

    @property
    def catalog(self) -> Catalog:
        """What there is to choose from."""
        return self.env.catalog

    @property
    def evaluations(self) -> int:
        """Distinct cells measured in training, as far as the experience was kept."""
        return len(self.experience)

    @property
    def cost(self) -> tuple[int, float]:
        """Evaluations that the team has learned from, and the engine CPU seconds that they took."""
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
        """Train until so many evaluations have been made in all; a team that was stopped or loaded goes on.

        Args:
            evaluations: the cap, with what was measured in earlier calls; all cells if there are fewer.
            progress: called after each episode and each further round of learning with about the share of the time.
            callback: called after each measured episode with its row of ``training.csv``: what was measured, its
                rewards, the losses and the greedy picks after learning of it.
            log_dir: for ``training.csv``, TensorBoard's files and the checkpoint ``team.npz``, which is written
                after each measured episode and when training ends or is interrupted.

        Raises:
            RLCCFRError: fewer than one evaluation, or too few for one whole episode; or ``log_dir`` holds a team while
                this one has learned nothing yet: load that one to go on with it.
        """
        from rlccfr.agents.team.selector_dqn import single_threaded  # what only training needs takes seconds to import
        from rlccfr.agents.team.team_file import refuse_to_replace
        from rlccfr.agents.team.training import Training
        from rlccfr.agents.team.training_log import TrainingLog

        plan = self._plan(evaluations)
        directory = Path(log_dir) if log_dir is not None else None
        if directory is not None and not self.evaluations:
            refuse_to_replace(directory)
        try:
            with single_threaded(), TrainingLog(directory, self.evaluations, callback) as log:
                training = Training(self, plan, log)
                while training.share_done < 1.0:
                    measured = training.step()
                    if directory and measured:
                        self.save(directory)
                    if progress:
                        progress(training.progress)
        finally:  # also when interrupted: what was measured and learned is kept
            if directory and self.evaluations:
                self.save(directory)

    def recommend(
        self, game: str | None = None, budget: BudgetLike | None = None, preset: PresetLike | None = None
    ) -> Recommendation:
        """The greedy triple of the Q-networks, and its measurement.

        Args:
            game, budget, preset: to pick for, trained on or not; by default the first of the team's.

        Raises:
            GameError: an unknown game.
            RLCCFRError: a budget or preset that makes no sense.
        """
        env = self._env_for(game, budget, preset)
        env.reset(options={"engine_seed": env.engine_seeds[0]})
        done, cells = False, []
        while not done:
            cell = self.catalog.cell(*self.greedy(env))
            request = env.request(cell)
            done = env.step(self.catalog.flat(cell))[2]
            cells.append(cell)
        measurement = env.evaluator.measure(request)  # just measured, so from memory
        earned = rewards(measurement, env.preset, env.scale)
        return Recommendation(env.game, env.budget, env.preset.name, tuple(cells), measurement, earned)

    def pick(self, game: str | None = None, budget: BudgetLike | None = None, preset: PresetLike | None = None) -> Cell:
        """As :meth:`recommend`, but nothing is measured: the first segment's triple."""
        env = self._env_for(game, budget, preset)
        env.reset()
        return self.catalog.cell(*self.greedy(env))

    def greedy(self, env: SelectorEnv) -> Triple:
        """The greedy triple at the present decision of an environment, among what can run here."""
        return greedy_triple(lambda picks: self.q_values(env, picks), self.available)

    def q_values(self, env: SelectorEnv, picks: tuple[int, ...] = ()) -> np.ndarray:
        """Q-values, shape (choices,), of the agent whose turn it is after some picks of the present decision.

        Args:
            picks: action indices: none for agent A, one for B, two for C.
        """
        ids = [self.catalog.axes[axis][index] for axis, index in enumerate(picks)]
        return self.selectors[len(picks)].q_values(env.observe(ids))

    def plot(
        self,
        game: str | None = None,
        budget: BudgetLike | None = None,
        preset: PresetLike | None = None,
        axes: Axes | None = None,
    ) -> Axes:
        """Draw what the agents expect of every algorithm: see :func:`rlccfr.agents.team.q_picture.draw_q_values`.

        Args:
            game, budget, preset: as of :meth:`recommend`.
        """
        from rlccfr.agents.team.q_picture import draw_q_values

        env = self._env_for(game, budget, preset)
        env.reset()
        return draw_q_values(self, env, axes)

    def save(self, path: str | Path, *, experience: bool = True) -> Path:
        """Write the team to ``team.npz`` in a directory, whole or not at all; returns the file's path.

        Networks, experience, optimisers and random states are kept: a training that goes on from a file that was
        written between two episodes learns bit by bit what one never stopped does, if it measures the same.

        Args:
            experience: leave it out for a team that is to pick, not to learn: a file of its Q-networks alone.
        """
        from rlccfr.agents.team.team_file import save_team

        return save_team(self, Path(path), experience)

    @classmethod
    def load(
        cls, path: str | Path, catalog: CatalogLike | None = None, evaluator: str | Path | Evaluator | None = None
    ) -> SelectorTeam:
        """Read a saved team.

        Args:
            path: the directory, or the file in it.
            catalog: the one that it is to choose from, by default the saved one; :func:`expand_team` makes a team
                for another.
            evaluator: as on construction; name the store again to meet its measurements.

        Raises:
            CheckpointError: there is none, it is damaged, or it was trained on another catalog; the message names
                the difference.
        """
        from rlccfr.agents.team.team_file import load_team

        return load_team(Path(path), cls, catalog, evaluator)

    def _env_for(self, game: str | None, budget: BudgetLike | None, preset: PresetLike | None) -> SelectorFlatEnv:
        env = self.env
        options = env.episodes.options
        options["preset"] = env.presets[0] if preset is None else preset
        return SelectorFlatEnv(
            env.games[0] if game is None else game, env.budgets[0] if budget is None else budget, **options
        )

    def _plan(self, evaluations: int) -> Plan:
        from rlccfr.agents.team.training import Plan

        segments = self.env.segments
        evaluations = whole_number(evaluations, "evaluations", segments, RLCCFRError)  # at least one a segment
        cells = int(self.available.sum())
        beginnings = sum(cells ** (segment + 1) for segment in range(segments))
        starts = len(self.env.games) * len(self.env.engine_seeds) * len(self.env.budgets)
        return Plan(min(evaluations, beginnings * starts), self.hyperparameters.settling)
