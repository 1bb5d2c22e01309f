"""Walks through OpenSpiel's states: estimates beside exact ones, for external and robust sampling, and played games."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyspiel
import pytest

import rlccfr
from rlccfr.engine.walked.walk import played_games, sampled_walks
from rlccfr.testing import smallest_p

LEVEL = 1e-3
"""Level of significance for all quantities of a test together."""

BATCHES = 40
WALKS = 500


class RandomPolicy:
    """A random policy of each row, which depends on the row's bytes alone."""

    def __init__(self, game: rlccfr.GeneratedGame) -> None:
        self.walks = game.walks
        self._of_row: dict[bytes, np.ndarray] = {}

    def __call__(self, player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        return np.stack([self.at(row, mask) for row, mask in zip(rows, legal, strict=True)]) if len(rows) else legal

    def at(self, row: np.void, legal: np.ndarray) -> np.ndarray:
        key = row.tobytes()
        if key not in self._of_row:
            numbers = np.random.default_rng(list(key)).random(len(legal)) ** 2 * legal
            self._of_row[key] = numbers / numbers.sum()
        return self._of_row[key]


class Expected:
    """What walks should find, by visiting all of OpenSpiel's states."""

    def __init__(self, game: rlccfr.GeneratedGame, policy: RandomPolicy, traverser: int, size: int) -> None:
        self._walks = game.walks
        self._policy = policy
        self._traverser = traverser
        self._size = size
        self.gains: dict[bytes, np.ndarray] = defaultdict(lambda: np.zeros(game.walks.num_actions))
        self.increments: dict[bytes, np.ndarray] = defaultdict(lambda: np.zeros(game.walks.num_actions))
        self.value = self._visit(game.openspiel_game.new_initial_state(), 1.0)

    def _visit(self, state: pyspiel.State, met: float) -> float:
        """Return the traverser's value of a state; ``met`` is the probability that a walk meets it."""
        if state.is_terminal():
            return state.returns()[self._traverser]
        if state.is_chance_node():
            return sum(p * self._visit(state.child(outcome), met * p) for outcome, p in state.chance_outcomes())
        row = self._walks.row_of(state)
        actions = state.legal_actions()
        played = self._policy.at(row, self._walks.legal(row.reshape(1))[0])
        if state.current_player() != self._traverser:
            self.increments[row.tobytes()] += met * played
            return sum(played[action] * self._visit(state.child(action), met * played[action]) for action in actions)
        share = min(self._size, len(actions)) / len(actions) if self._size else 1.0
        values = {action: self._visit(state.child(action), met * share) for action in actions}
        mean = sum(played[action] * value for action, value in values.items())
        for action, value in values.items():
            self.gains[row.tobytes()][action] += met * (value - mean)
        return mean


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("name", ["kuhn", "goofspiel", "leduc(ranks=2)"])
def test_estimates_are_unbiased(name, size):
    game = rlccfr.load_game(name, form="generated")
    policy = RandomPolicy(game)
    for traverser in (0, 1):
        expected = Expected(game, policy, traverser, size)
        batches = []
        for seed in range(BATCHES):
            data = sampled_walks(game.walks, traverser, policy, WALKS, np.random.default_rng([seed, traverser]), size)
            batches.append(_flat(data.value.mean(), *_summed(data), expected))
        p, tested = smallest_p(np.array(batches), _flat(expected.value, expected.gains, expected.increments, expected))
        assert p > LEVEL / 18
        assert tested > 5


def _summed(data) -> tuple[dict[bytes, np.ndarray], dict[bytes, np.ndarray]]:
    """Return the mean gains and increments per walk, by row."""
    gains: dict[bytes, np.ndarray] = {}
    increments: dict[bytes, np.ndarray] = {}
    for found, rows, numbers in (
        (gains, data.traverser_rows, data.gains),
        (increments, data.opponent_rows, data.opponent_policies),
    ):
        for row, number in zip(rows, numbers, strict=True):
            found[row.tobytes()] = found.get(row.tobytes(), 0.0) + number / WALKS
    return gains, increments


def _flat(value: float, gains: dict, increments: dict, expected: Expected) -> np.ndarray:
    """Return weighted sums over rows: most rows are met too rarely for a test of their own."""
    numbers = [value]
    for found, all_rows in ((gains, expected.gains), (increments, expected.increments)):
        assert found.keys() <= all_rows.keys()
        weights = np.random.default_rng(7).random((4, len(all_rows)))
        table = np.array([found.get(row, np.zeros_like(all_rows[row])) for row in sorted(all_rows)])
        numbers.extend((weights @ table).ravel())
    return np.array(numbers)


def test_the_mean_of_played_games_is_the_policys_value():
    game = rlccfr.load_game("leduc", form="generated")
    policy = RandomPolicy(game)
    payoffs = played_games(game.walks, policy, 20_000, np.random.default_rng(1))
    value = rlccfr.Policy(game.tree, game.tabulated(policy)).values().game[0]
    assert abs(payoffs.mean() - value) < 4 * payoffs.std() / len(payoffs) ** 0.5
