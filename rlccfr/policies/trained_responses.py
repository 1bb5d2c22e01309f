"""Lower bounds on an exploitability that is not known exactly, by opponents that are trained against the policy.

A best response gains at least as much as any opponent that was trained. So the mean payoff of trained opponents, from
games that neither trained nor chose them, is an unbiased estimate of a lower bound. How close the bound is depends on
the training, so the bound is reported with the training's budget, and several opponents are trained for each seat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from rlccfr.engine.walked.walk import drawn_actions, played_games
from rlccfr.errors import PolicyError, whole_number
from rlccfr.games.walked.state_walks import LARGEST_FEATURE, StateWalks
from rlccfr.networks.row_policies import RowPolicies
from rlccfr.networks.torch_state import contained_randomness, one_thread

ENVIRONMENTS = 8
"""Number of games that an opponent plays at once while it is trained."""

MOST_GAMES = 1_000
"""Number of successive games without a decision of the trained seat after which training ends."""

PPO_SETTINGS: dict[str, Any] = {
    "n_steps": 256,
    "batch_size": 256,
    "n_epochs": 4,
    "learning_rate": 1e-3,
    "gamma": 1.0,
    "ent_coef": 0.01,
    "policy_kwargs": {"net_arch": [128, 128]},
}
"""Settings of Stable-Baselines3's PPO; there is no discount, since all payoffs come at the end."""


class TrainedBound(NamedTuple):
    """An estimate of a lower bound on a policy's exploitability, in the game's units.

    Attributes:
        value: the estimate: half of the sum of the two payoffs in ``seats``.
        error: half-width of its 95 % interval.
        seats: mean payoff of the best opponent in each seat, in the zero-sum game.
        steps: training steps of each opponent, a multiple of 2,048.
        opponents: number of opponents that were trained for each seat.
        games: number of games from which the payoff of the best opponent in each seat was measured.
    """

    value: float
    error: float
    seats: tuple[float, float]
    steps: int
    opponents: int
    games: int


class SeatNeverDecidesError(Exception):
    """Raised if a seat has made no decision in many games against a policy, so that there is nothing to train."""


class ResponseEnv(gym.Env[np.ndarray, int]):
    """A seat in a game against a fixed policy; an episode is a game, and its payoff is the reward at the end.

    An illegal action is replaced by the next legal one, in cyclic order of their numbers.

    Args:
        walks: the game.
        policies: the fixed policies.
        seat: the seat, 0 or 1.
    """

    def __init__(self, walks: StateWalks, policies: RowPolicies, seat: int) -> None:
        self._walks = walks
        self._policies = policies
        self._seat = seat
        self._states: Any = None  # the present state, once a game has begun
        self._drawn: Any = None  # the policies that are followed in the present game
        self.observation_space = gym.spaces.Box(-LARGEST_FEATURE, LARGEST_FEATURE, (walks.num_columns,), np.float32)
        self.action_space = gym.spaces.Discrete(walks.num_actions)  # type: ignore[assignment]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        for _ in range(MOST_GAMES):  # a game that ends before the seat decides is not an episode
            self._states = self._walks.begin(1, self.np_random)
            self._drawn = self._policies.drawn(1, self.np_random)
            self._let_other_move()
            if self._states.actors[0] == self._seat:
                return self._observation(), {}
        raise SeatNeverDecidesError

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        legal = self._walks.legal(self._row())
        self._move(int(next_legal(np.array([action]), legal)[0]))
        self._let_other_move()
        if self._states.actors[0] == self._seat:
            return self._observation(), 0.0, False, False, {}
        payoff = float(self._walks.payoffs(self._states, np.zeros(1, np.int64))[0])
        return np.zeros(self._walks.num_columns, np.float32), payoff if self._seat == 0 else -payoff, True, False, {}

    def _let_other_move(self) -> None:
        other = 1 - self._seat
        while self._states.actors[0] == other:
            row = self._row()
            played = self._drawn(other, row, self._walks.legal(row), np.zeros(1, np.int64))
            self._move(int(drawn_actions(played, self.np_random)[0]))

    def _move(self, action: int) -> None:
        self._states = self._walks.children(self._states, np.zeros(1, np.int64), np.array([action]), self.np_random)

    def _row(self) -> np.ndarray:
        return self._walks.rows(self._states, np.zeros(1, np.int64))

    def _observation(self) -> np.ndarray:
        observation: np.ndarray = self._walks.features(self._row())[0]
        return observation


def next_legal(actions: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return actions, (rows,), each illegal one replaced by the next legal one in cyclic order of their numbers.

    Args:
        actions: (rows,) actions.
        legal: (rows, actions) whether each action is legal.
    """
    num_actions = legal.shape[1]
    distance = (np.arange(num_actions) - actions[:, None]) % num_actions
    nearest: np.ndarray = np.where(legal, distance, num_actions).argmin(axis=1)
    return nearest


def trained_bound(
    policy: Any,
    steps: int = 40_000,
    opponents: int = 3,
    games: int = 4_000,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> TrainedBound:
    """Estimate a lower bound on a policy's exploitability; see :meth:`rlccfr.NetworkPolicy.trained_bound`."""
    whole_number(steps, "steps", 1, PolicyError)
    whole_number(opponents, "opponents", 1, PolicyError)
    whole_number(games, "games", 2, PolicyError)
    whole_number(seed, "seed", 0, PolicyError)
    per_update = ENVIRONMENTS * int(PPO_SETTINGS["n_steps"])
    steps = -(-steps // per_update) * per_update  # PPO takes whole updates
    means = []
    variance = 0.0
    for seat in (0, 1):
        best_mean = -np.inf
        best: Callable[[np.ndarray], np.ndarray] | None = None
        for number in range(opponents):
            seeds = np.random.SeedSequence([seed, seat, number]).generate_state(2)
            done = (seat * opponents + number) / (2 * opponents)
            opponent = _trained(policy, seat, steps, int(seeds[0]), progress, done, 1 / (2 * opponents))
            mean = _payoffs(policy, seat, opponent, games, int(seeds[1])).mean()
            if mean > best_mean:
                best_mean, best = mean, opponent
        assert best is not None
        # The best opponent is judged in other games than those that trained and chose it.
        judge = np.random.SeedSequence([seed, seat, opponents]).generate_state(1)
        payoffs = _payoffs(policy, seat, best, games, int(judge[0]))
        means.append(float(payoffs.mean()))
        variance += float(payoffs.var(ddof=1)) / games
    error = 1.96 * variance**0.5 / 2
    return TrainedBound(sum(means) / 2, error, (means[0], means[1]), steps, opponents, games)


def _trained(
    policy: Any,
    seat: int,
    steps: int,
    seed: int,
    progress: Callable[[float], None] | None,
    done: float,
    share: float,
) -> Callable[[np.ndarray], np.ndarray]:
    """Train an opponent; return the function from features (rows, columns) to its actions, (rows,).

    Args:
        done: fraction of the whole work that is already done, for ``progress``.
        share: this training run's fraction of the whole work.
    """
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    def new_environment() -> ResponseEnv:
        return ResponseEnv(policy.game.walks, policy.policies, seat)

    def report(variables: dict[str, Any], _: dict[str, Any]) -> bool:
        if progress is not None:
            progress(done + share * min(1.0, variables["self"].num_timesteps / steps))
        return True

    with contained_randomness(), one_thread():
        try:
            environments = DummyVecEnv([new_environment] * ENVIRONMENTS)
            model = PPO("MlpPolicy", environments, seed=seed % 2**31, device="cpu", **PPO_SETTINGS)
            model.learn(steps, callback=report)
        except SeatNeverDecidesError:  # all opponents do equally well
            return lambda features: np.zeros(len(features), np.int64)
    return lambda features: np.asarray(model.predict(features, deterministic=True)[0])


def _payoffs(policy: Any, seat: int, opponent: Callable[[np.ndarray], np.ndarray], games: int, seed: int) -> np.ndarray:
    """Play games between an opponent and a policy; return the opponent's payoffs, (games,), in the zero-sum game."""
    walks = policy.game.walks
    rng = np.random.default_rng(seed)
    drawn = policy.policies.drawn(games, rng)

    def seated(player: int, rows: np.ndarray, legal: np.ndarray, games_of_rows: np.ndarray) -> np.ndarray:
        played: np.ndarray
        if player != seat or not len(rows):
            played = drawn(player, rows, legal, games_of_rows)
        else:
            played = np.eye(walks.num_actions)[next_legal(opponent(walks.features(rows)), legal)]
        return played

    with one_thread():
        payoffs = played_games(walks, seated, games, rng)
    own_payoffs: np.ndarray = payoffs if seat == 0 else -payoffs
    return own_payoffs
