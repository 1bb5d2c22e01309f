"""What one player learns in the course of a run: by a rule with networks, or by a regressor of regrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rlccfr.components import Abstraction, UpdateRule
from rlccfr.kernels.layout import NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT
from rlccfr.networks.averages import AverageModel, PlayedModels
from rlccfr.networks.inputs import inputs_of
from rlccfr.networks.learners import ENTRY_STEPS, Advantages, State, prefixed, unprefixed
from rlccfr.networks.models import make_model

if TYPE_CHECKING:
    from rlccfr.engine import Engine

_SEEDS = {"advantages": 0, "average": 2, "regressor": 3}  # advantages take two


def _seed(engine: Engine, what: str) -> int:
    return 4 * engine.seed + _SEEDS[what]


class DeepPlayer:
    """Advantages, and the average policy, by models; see :class:`rlccfr.approximation.Networks`."""

    def __init__(self, engine: Engine, rule: UpdateRule, abstraction: Abstraction, player: int) -> None:
        assert rule.networks is not None
        self._engine, self._rule, self._networks = engine, rule, rule.networks
        self._sequences = engine.game.sequences_of(player)
        inputs = inputs_of(engine.game, player, per_sequence=abstraction.regressor is not None)
        self._advantages = Advantages(engine.game, player, rule, inputs, _seed(engine, "advantages"))
        self._model: AverageModel | None = None
        if self._networks.average == "network":
            self._model = AverageModel(engine.game, player, self._networks, inputs, _seed(engine, "average"))
        self.played: PlayedModels | None = None

    def average(self, increment: np.ndarray, decay: float) -> None:
        """The increments (m,) of one iteration's average."""
        if self._model is not None:
            self._model.observe(increment, decay)
        elif self._networks.average == "value_networks":
            if self.played is None:
                self.played = PlayedModels(self._engine.policy[self._sequences])
            self.played.play(decay)

    def observe(self, mass: np.ndarray, gain: np.ndarray, now: np.ndarray) -> None:
        """One iteration's masses (n,) and instantaneous regrets (m,)."""
        self._advantages.observe(mass, gain, now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT])

    def learn(self, iteration: int, row: np.ndarray) -> np.ndarray | None:
        """(player's sequences,) from which the next policies follow; None where they are to stay."""
        if iteration % self._networks.train_every:
            return None
        self._advantages.learn()
        if self.played is not None:
            self.played.add(self._advantages.snapshot())
        return self._advantages.rows()

    def learn_average(self, iteration: int) -> None:
        """Fit the model of the average policy, once an iteration's increments are known."""
        if self._model is not None and iteration % self._networks.train_every == 0:
            self._model.learn()

    def enter(self, mass: np.ndarray) -> np.ndarray:
        """Take over from tables; ``mass`` (n,) is what the average policy gives an iteration."""
        engine, rule = self._engine, self._rule
        weight = past_weight(rule, engine.iteration)
        # No advantage exceeds the payoff range, so no mass is smaller than this, whatever its estimate.
        least = np.maximum.reduceat(np.abs(engine.regret), engine.game.view.first_sequence[:-1])
        least /= engine.game.utility_range or 1.0
        nothing = np.zeros_like(engine.regret)
        mean = [engine.rule_arrays.get(name, nothing) for name in self._networks.mean_arrays]
        self._advantages.enter(np.maximum(weight * mass, least), engine.regret, weight, *mean)
        if self._model is not None:
            self._model.observe(engine.policy_sum, 1.0)
            self._model.learn(entering=True)
        return self._advantages.rows()

    def average_sums(self) -> np.ndarray | None:
        """(player's sequences,) in proportion to the average policy; None if the table has it."""
        return self._model.sums() if self._model is not None else None

    def rows_of(self, number: int) -> np.ndarray | None:
        """The rows of a model that was played; None of what was played before the first."""
        assert self.played is not None
        return self._advantages.rows_of(self.played.snapshots[number - 1]) if number else None

    def state(self) -> State:
        model = {} if self._model is None else prefixed("average", self._model.state())
        played = {} if self.played is None else prefixed("played", self.played.state())
        return prefixed("advantages", self._advantages.state()) | model | played

    def restore(self, state: State) -> None:
        self._advantages.restore(unprefixed("advantages", state))
        if self._model is not None:
            self._model.restore(unprefixed("average", state))
        if played := unprefixed("played", state):
            self.played = PlayedModels(played["first"])
            self.played.restore(played)


class RegressionPlayer:
    """Regrets by a regressor; see :class:`rlccfr.components.Abstraction`."""

    def __init__(self, engine: Engine, rule: UpdateRule, abstraction: Abstraction, player: int) -> None:
        assert abstraction.regressor is not None
        self._engine, self._floor, self._bootstrap = engine, rule.floor, abstraction.bootstrap
        self._sequences = engine.game.sequences_of(player)
        inputs = inputs_of(engine.game, player, per_sequence=True)
        self._seed = [_seed(engine, "regressor"), player]
        self._model = make_model(inputs, abstraction.regressor, self._seed)
        infosets = engine.game.infosets_of(player)
        self._weight = np.ones(infosets.stop - infosets.start)

    def average(self, increment: np.ndarray, decay: float) -> None:
        """Nothing: the table has it."""

    def observe(self, mass: np.ndarray, gain: np.ndarray, now: np.ndarray) -> None:
        """Nothing: the regrets have it."""

    def learn(self, iteration: int, row: np.ndarray) -> np.ndarray:
        """(player's sequences,) fitted to the regrets (m,) from which a table's policies would follow."""
        return self._fitted(row[self._sequences], iteration)

    def learn_average(self, iteration: int) -> None:
        """Nothing: the table has it."""

    def enter(self, mass: np.ndarray) -> np.ndarray:
        """Take over from the regrets as they are."""
        return self._fitted(self._engine.regret[self._sequences], self._engine.iteration, ENTRY_STEPS)

    def _fitted(self, row: np.ndarray, iteration: int, steps: int | None = None) -> np.ndarray:
        regret = self._engine.regret[self._sequences]  # the row, but for a prediction
        scale = np.abs(row).max(initial=0.0) or 1.0
        self._model.fit(row / scale, self._weight, [*self._seed, iteration], steps)
        fitted = self._model.predict() * scale
        if self._bootstrap:
            self._engine.regret[self._sequences] = np.maximum(regret + fitted - row, self._floor)
        return fitted

    def average_sums(self) -> None:
        """The table has them."""

    def state(self) -> State:
        return self._model.state()

    def restore(self, state: State) -> None:
        self._model.restore(state)


Player = DeepPlayer | RegressionPlayer


def make_player(engine: Engine, rule: UpdateRule, abstraction: Abstraction, player: int) -> Player:
    """A rule with networks takes a regressor as the form of its networks."""
    kind = DeepPlayer if rule.networks is not None else RegressionPlayer
    return kind(engine, rule, abstraction, player)


def past_weight(rule: UpdateRule, iterations: int) -> float:
    """The weights together that positive regrets of so many past iterations have, the newest's being 1."""
    discounts = rule.schedule(1, iterations)[1:iterations, POSITIVE_DISCOUNT]  # of iterations 2, 3, ...
    with np.errstate(divide="ignore"):
        logs = np.log(discounts)
    return 1.0 + float(np.exp(np.cumsum(logs[::-1])).sum())
