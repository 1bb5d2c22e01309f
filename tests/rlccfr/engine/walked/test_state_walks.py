"""Walks through OpenSpiel's states: estimates beside exact ones, for external and robust sampling, and played games."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial

import numpy as np
import pyspiel
import pytest

import rlccfr
from rlccfr.components import Sampler
from rlccfr.engine.walked.paths import path_walks, value_walks
from rlccfr.engine.walked.walk import played_games, sampled_walks
from rlccfr.games.walked.state_walks import States
from rlccfr.testing import smallest_p

GAMES = ("kuhn", pytest.param("goofspiel", marks=pytest.mark.slow), "leduc(ranks=2)")

LEVEL = 1e-3
"""Level of significance for all quantities of a test together."""

BATCHES = 24
WALKS = 150


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


Shares = Callable[[np.ndarray], np.ndarray]
"""Function of the traverser's policy at a decision, (legal actions,), that returns the expected weight with which a
walk takes each action: the probability that it does, times what data below then weigh."""


def subset(size: int) -> Shares:
    """Return the shares of walks that take a subset of actions; 0 stands for all."""
    return lambda played: np.full(len(played), min(size, len(played)) / len(played) if size else 1.0)


class Expected:
    """What walks should find, by visiting all of OpenSpiel's states.

    Args:
        shares: expected weights of the traverser's actions in the data of gains.
        average_shares: those in the data of increments; by default ``shares``.
    """

    def __init__(
        self,
        game: rlccfr.GeneratedGame,
        policy: RandomPolicy,
        traverser: int,
        shares: Shares,
        average_shares: Shares | None = None,
    ) -> None:
        self._walks = game.walks
        self._policy = policy
        self._traverser = traverser
        self._shares = shares
        self._average_shares = average_shares or shares
        self.gains: dict[bytes, np.ndarray] = defaultdict(lambda: np.zeros(game.walks.num_actions))
        self.increments: dict[bytes, np.ndarray] = defaultdict(lambda: np.zeros(game.walks.num_actions))
        self.value = self._visit(game.openspiel_game.new_initial_state(), np.ones(2))

    def _visit(self, state: pyspiel.State, met: np.ndarray) -> float:
        """Return the traverser's value of a state.

        Args:
            met: expected weights with which a walk meets it, in the data of gains and in those of increments.
        """
        if state.is_terminal():
            return state.returns()[self._traverser]
        if state.is_chance_node():
            return sum(p * self._visit(state.child(outcome), met * p) for outcome, p in state.chance_outcomes())
        row = self._walks.row_of(state)
        actions = state.legal_actions()
        played = self._policy.at(row, self._walks.legal(row.reshape(1))[0])
        if state.current_player() != self._traverser:
            self.increments[row.tobytes()] += met[1] * played
            return sum(played[action] * self._visit(state.child(action), met * played[action]) for action in actions)
        shares = np.stack([self._shares(played[actions]), self._average_shares(played[actions])], axis=1)
        values = {
            action: self._visit(state.child(action), met * share) for action, share in zip(actions, shares, strict=True)
        }
        mean = sum(played[action] * value for action, value in values.items())
        for action, value in values.items():
            self.gains[row.tobytes()][action] += met[0] * (value - mean)
        return mean


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("name", GAMES)
def test_estimates_are_unbiased(name, size):
    game = rlccfr.load_game(name, form="generated")
    policy = RandomPolicy(game)
    for traverser in (0, 1):
        expected = Expected(game, policy, traverser, subset(size))
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
        (gains, data.traverser_rows, data.gains * data.traverser_weights[:, None]),
        (increments, data.opponent_rows, data.opponent_policies * data.opponent_weights[:, None]),
    ):
        for row, number in zip(rows, numbers, strict=True):
            found[row.tobytes()] = found.get(row.tobytes(), 0.0) + number / WALKS
    return gains, increments


class ExactValues:
    """Player 0's values of all actions at all histories; a function of rows of histories."""

    def __init__(self, game: rlccfr.GeneratedGame, policy: RandomPolicy) -> None:
        self._walks = game.walks
        self._policy = policy
        self._of_history: dict[bytes, np.ndarray] = {}
        self._visit(game.openspiel_game.new_initial_state(), -1)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        rows = rows.copy()
        rows["action"] = 0
        return np.array([self._of_history[row.tobytes()] for row in rows]).reshape(len(rows), self._walks.num_actions)

    def _visit(self, state: pyspiel.State, last: int) -> float:
        """Return the value of a state, to which an action of a player led; -1 if none did."""
        if state.is_terminal():
            return state.returns()[0]
        if state.is_chance_node():
            return sum(p * self._visit(state.child(outcome), -1) for outcome, p in state.chance_outcomes())
        values = np.zeros(self._walks.num_actions)
        for action in state.legal_actions():
            values[action] = self._visit(state.child(action), action)
        only = States([state], np.array([state.current_player()]), np.array([last]))
        row = self._walks.histories(only, np.zeros(1, np.int64), np.zeros(1, np.int64))
        known = self._of_history.setdefault(row.tobytes(), values)
        np.testing.assert_allclose(known, values)
        legal = self._walks.legal(self._walks.row_of(state).reshape(1))[0]
        return float(self._policy.at(self._walks.row_of(state), legal) @ values)


def some_values(rows: np.ndarray, num_actions: int) -> np.ndarray:
    """Return numbers that depend on histories alone, and have nothing to do with their values."""
    numbers = rows["first"].astype(float).sum(axis=1) - rows["second"].astype(float).sum(axis=1)
    return np.sin(numbers[:, None] + np.arange(num_actions))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("values", ["none", "any", "exact", "replaced"])
@pytest.mark.parametrize("name", GAMES)
def test_estimates_along_one_path_are_unbiased(name, values, weighted):
    """Baselines may be any numbers; values that take the place of payoffs must be exact.

    Without weights, only regrets depend on the traverser's draws; the increments of the average do not.
    """
    game = rlccfr.load_game(name, form="generated")
    policy = RandomPolicy(game)
    exact = ExactValues(game, policy) if values in ("exact", "replaced") else None
    functions = {"none": None, "any": lambda rows: some_values(rows, game.walks.num_actions)}
    exploration = 0.5
    # The engine's settings; how values are found is up to the test.
    sampler = Sampler(
        traverser="one",
        exploration=exploration,
        values="oracle" if values == "replaced" else None,
        baseline="oracle" if values != "replaced" else "sequence",
        baseline_rate=0.0 if values == "replaced" else 0.5,
        weighted=weighted,
    )

    def shares(played: np.ndarray) -> np.ndarray:
        if weighted:  # weights undo the draws
            return np.ones(len(played))
        return (1 - exploration) * played + exploration / len(played)

    for traverser in (0, 1):
        expected = Expected(game, policy, traverser, shares, average_shares=subset(0))
        batches = []
        for seed in range(BATCHES):
            rng = np.random.default_rng([seed, traverser])
            data = path_walks(
                game.walks,
                traverser,
                policy,
                WALKS,
                rng,
                sampler,
                functions.get(values, exact),
            )
            batches.append(_flat(data.value.mean(), *_summed(data), expected))
        p, tested = smallest_p(np.array(batches), _flat(expected.value, expected.gains, expected.increments, expected))
        assert p > LEVEL / 48
        assert tested > 5


@pytest.mark.slow
def test_uniform_draws_need_no_weights():
    """Without weights of regrets, as in ESCHER, the average has no weights, either; see path_walks."""
    game = rlccfr.load_game("leduc", form="generated")
    policy = RandomPolicy(game)
    for exploration in (1.0, 0.5):
        sampler = Sampler(traverser="one", exploration=exploration, values="oracle", weighted=False)
        values = ExactValues(game, policy)
        data = path_walks(game.walks, 0, policy, WALKS, np.random.default_rng(0), sampler, values)
        assert (data.traverser_weights == 1).all()
        assert (data.opponent_weights == 1).all() == (exploration == 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAMES)
def test_targets_of_exact_values_are_these_values(name):
    """Where chance does not move between two decisions, each target is exact; elsewhere, their mean is."""
    game = rlccfr.load_game(name, form="generated")
    policy = RandomPolicy(game)
    exact = ExactValues(game, policy)
    data = value_walks(game.walks, policy, 5_000, np.random.default_rng(0), 0.5, exact)
    expected = exact(data.rows)[np.arange(len(data.rows)), data.rows["action"]]
    if name != "leduc(ranks=2)":
        np.testing.assert_allclose(data.targets, expected, atol=1e-12)
    errors = data.targets - expected
    assert abs(errors.mean()) <= 4 * errors.std() / len(errors) ** 0.5 + 1e-12


def test_targets_correct_wrong_values():
    """From values of 0, targets are much nearer to the exact values than 0 is."""
    game = rlccfr.load_game("kuhn", form="generated")
    policy = RandomPolicy(game)
    exact = ExactValues(game, policy)

    def zero(rows: np.ndarray) -> np.ndarray:
        return np.zeros((len(rows), game.walks.num_actions))

    data = value_walks(game.walks, policy, 5_000, np.random.default_rng(0), 0.5, zero)
    expected = exact(data.rows)[np.arange(len(data.rows)), data.rows["action"]]
    assert np.mean((data.targets - expected) ** 2) < 0.5 * np.mean(expected**2)


def _flat(value: float, gains: dict, increments: dict, expected: Expected) -> np.ndarray:
    """Return weighted sums over rows: most rows are met too rarely for a test of their own."""
    numbers = [value]
    for found, all_rows in ((gains, expected.gains), (increments, expected.increments)):
        assert found.keys() <= all_rows.keys()
        weights = np.random.default_rng(7).random((4, len(all_rows)))
        table = np.array([found.get(row, np.zeros_like(all_rows[row])) for row in sorted(all_rows)])
        numbers.extend((weights @ table).ravel())
    return np.array(numbers)


@pytest.mark.slow
def test_the_mean_of_played_games_is_the_policys_value():
    game = rlccfr.load_game("leduc", form="generated")
    policy = RandomPolicy(game)
    payoffs = played_games(
        game.walks, lambda player, rows, legal, _: policy(player, rows, legal), 20_000, np.random.default_rng(1)
    )
    table = np.concatenate([game.player_table(player, partial(policy, player)) for player in (0, 1)])
    value = rlccfr.Policy(game.tree, table).values().game[0]
    assert abs(payoffs.mean() - value) < 4 * payoffs.std() / len(payoffs) ** 0.5
