"""A form of games of your own in one file: matrix games, represented as their matrix and not as a tree of histories.

``python examples/own_form.py`` solves a game of 300 x 300 random payoffs by the update rules of the catalog, and prints
what share of the uniform policy's exploitability is left. See ``rlccfr/game.py`` for what a form must offer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import rlccfr
from rlccfr.components import Abstraction, Sampler, UpdateRule
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.engine.stepper import CHUNK, Stepper, StepperKind
from rlccfr.game import ZERO_SUM, Form, OpponentPayoffs
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, NEGATIVE_DISCOUNT, POSITIVE_DISCOUNT

MATRIX = Form(
    title="as a matrix",
    visited="payoffs read",
    has_histories=False,
    catalogs=("tabular",),
    policy=f"{__name__}:MatrixPolicy",
    run_tables=f"{__name__}:MatrixTables",
    steppers=f"{__name__}:STEPPERS",
    check_components=f"{__name__}:check_components",
)


class MatrixGame:
    """A game in which each player chooses once, without seeing the other's choice.

    Player 0's actions come first in every table.

    Args:
        name: name for people.
        payoffs: (rows, columns) player 0's payoff for each pair of actions.
    """

    form: ClassVar[Form] = MATRIX
    opponent_payoffs: ClassVar[OpponentPayoffs] = ZERO_SUM
    big_blind: ClassVar[None] = None
    pot: ClassVar[None] = None
    lock: ClassVar[None] = None
    draws_chance: ClassVar[bool] = False
    num_infosets: ClassVar[int] = 2

    def __init__(self, name: str, payoffs: np.ndarray) -> None:
        self.name = name
        self.full_name = name
        self.source = {"name": name}
        self.payoffs = payoffs
        self.num_sequences = sum(payoffs.shape)
        self.pass_size = payoffs.size
        self.utility_range = float(np.ptp(payoffs))
        self.content_hash = hashlib.sha256(payoffs.tobytes()).hexdigest()[:16]

    def sizes(self) -> dict[str, Any]:
        return {"name": self.name, "rows": self.payoffs.shape[0], "columns": self.payoffs.shape[1]}

    def of_player(self, player: int) -> slice:
        """Return the entries of a player's actions in a table."""
        rows = self.payoffs.shape[0]
        return slice(0, rows) if player == 0 else slice(rows, self.num_sequences)

    def action_values(self, policy: np.ndarray, player: int) -> np.ndarray:
        """Return what each action of a player is worth to it against the opponent's part of a policy, (m,)."""
        if player == 0:
            return self.payoffs @ policy[self.of_player(1)]
        return -(policy[self.of_player(0)] @ self.payoffs)


class MatrixPolicy(rlccfr.Policy):
    """A probability for each action of each player."""

    def __init__(self, game: MatrixGame, probabilities: np.ndarray) -> None:
        self.game: Any = game
        self.probabilities = probabilities

    @classmethod
    def uniform(cls, game: Any) -> MatrixPolicy:
        return cls.from_sums(game, np.zeros(game.num_sequences))

    @classmethod
    def from_sums(cls, game: Any, sums: np.ndarray) -> MatrixPolicy:
        return cls(game, np.concatenate([matched(sums[game.of_player(player)]) for player in (0, 1)]))

    def _centred_values(self) -> tuple[float, float, float, float]:
        first = self.game.action_values(self.probabilities, 0)
        second = self.game.action_values(self.probabilities, 1)
        value = float(self.probabilities[self.game.of_player(0)] @ first)
        return 0.0, value, float(first.max()), float(second.max())


def matched(numbers: np.ndarray) -> np.ndarray:
    """Return probabilities in proportion to the positive parts of numbers; uniform if none is positive."""
    positive = np.maximum(numbers, 0.0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(len(numbers), 1 / len(numbers))


@dataclass
class MatrixTables:
    """The tables of a run: regrets and policy sums, (m,) each."""

    game: MatrixGame
    regret: np.ndarray
    policy_sum: np.ndarray
    counts: np.ndarray  # iterations done and payoffs read
    merged: ClassVar[None] = None
    chosen_dtype: ClassVar[None] = None

    @classmethod
    def at_start(cls, game: Any, seed: int, dtype: str | None) -> MatrixTables:
        return cls(game, np.zeros(game.num_sequences), np.zeros(game.num_sequences), np.zeros(2, np.int64))

    @property
    def iteration(self) -> int:
        return int(self.counts[0])

    @property
    def nodes(self) -> int:
        return int(self.counts[1])

    def ready_for(self, binding: Binding) -> MatrixTables:
        return MatrixTables(self.game, self.regret.copy(), self.policy_sum.copy(), self.counts)

    def refresh(self, binding: Binding) -> None:
        np.maximum(self.regret, binding.rule.floor, out=self.regret)

    def true_regret(self) -> np.ndarray:
        return self.regret

    def saved(self) -> dict[str, np.ndarray]:
        return {"regret": self.regret, "policy_sum": self.policy_sum, "counts": self.counts}

    def restored(self, saved: Mapping[str, np.ndarray]) -> MatrixTables:
        for name, array in self.saved().items():
            array[...] = saved[name]  # in place, since the stepper holds these tables
        return self


def check_components(
    game: MatrixGame, rule: UpdateRule, sampler: Sampler, abstraction: Abstraction, options: RunOptions
) -> None:
    """Check that the tables support the components and options.

    Raises:
        ComponentError: the rule is more than a schedule, the passes are not exact, or an option would have no effect.
    """
    is_schedule = rule.is_plain and not (rule.average_weight or rule.simultaneous) and rule.output == "average"
    if not (is_schedule and sampler.exact) or abstraction.learns or abstraction.best_response:
        raise rlccfr.ComponentError(
            f"{game.name!r} is represented as a matrix: use cfr_plus, dcfr or lcfr without a sampler"
        )
    if (
        options.simultaneous
        or options.pre_averaging
        or options.blend
        or options.by_hand
        or options.walks > 1
        or options.dtype not in (None, "float64")
    ):
        raise rlccfr.ComponentError(f"{game.name!r} is represented as a matrix: leave out the options of its solver")


class MatrixStepper(Stepper[MatrixTables]):
    """Stepper that multiplies the matrix by policies, in alternation."""

    def advance(self, iterations: int, max_nodes: int) -> None:
        tables = self.state
        game = tables.game
        before = tables.nodes
        for _ in range(min(iterations, CHUNK)):
            schedule = self.binding.rows(tables.iteration + 1, 0)[0]
            for player in (0, 1):
                entries = game.of_player(player)
                policy = self.current_sums()
                values = game.action_values(policy, player)
                regret = tables.regret[entries]
                # Earlier regrets are discounted; then this iteration's are added, and the floor holds.
                regret *= np.where(regret > 0, schedule[POSITIVE_DISCOUNT], schedule[NEGATIVE_DISCOUNT])
                regret += values - policy[entries] @ values
                np.maximum(regret, schedule[FLOOR], out=regret)
                # The opponent's average gets the policy that this player has just met.
                policy_sum = tables.policy_sum[game.of_player(1 - player)]
                policy_sum *= schedule[AVERAGE_DECAY]
                policy_sum += policy[game.of_player(1 - player)]
                tables.counts[1] += game.pass_size
            tables.counts[0] += 1
            if tables.nodes - before >= max_nodes:
                return

    def average_sums(self) -> np.ndarray:
        return self.state.policy_sum

    def current_sums(self) -> np.ndarray:
        return MatrixPolicy.from_sums(self.state.game, self.state.regret).probabilities

    def average_value(self) -> tuple[float, float, float]:
        return MatrixPolicy.from_sums(self.state.game, self.average_sums())._centred_values()[1:]

    def current_value(self) -> tuple[float, float, float]:
        return MatrixPolicy.from_sums(self.state.game, self.current_sums())._centred_values()[1:]

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.state.regret).all() and np.isfinite(self.state.policy_sum).all())


STEPPERS = (StepperKind(lambda binding: True, f"{__name__}:MatrixStepper"),)


def main() -> None:
    """Solve a game by three rules, and print how far each has come."""
    game = MatrixGame("random 300 x 300", np.random.default_rng(0).normal(size=(300, 300)))
    uniform = MatrixPolicy.uniform(game).exploitability()
    for rule in ("cfr", "cfr_plus", "dcfr"):
        result = rlccfr.Solver(game, rule).run(iterations=1000)
        print(f"{rule}: {result.exploitability / uniform:.2%} of the uniform policy's exploitability")


if __name__ == "__main__":
    main()
