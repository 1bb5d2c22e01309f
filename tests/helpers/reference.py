"""The plain reference: the engine in plain Python, with dictionaries and recursion on OpenSpiel's states.

It is slow and simple, and shares no code with the library. The kernels are tested against it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import exp

import pyspiel

Table = dict[str, list[float]]


def match(regrets: list[float], weights: list[float] | None = None) -> list[float]:
    """Return the policy of regret matching, with each positive regret times its weight."""
    weights = weights or [1.0] * len(regrets)
    positive = [max(r, 0.0) * w for r, w in zip(regrets, weights)]
    total = sum(positive)
    return [p / total for p in positive] if total > 0 else [1 / len(regrets)] * len(regrets)


def information(state) -> str:
    """Return the key of a state's infoset: the player to move, and OpenSpiel's information state."""
    return f"{state.current_player()} {state.information_state_string()}"


def plain(regrets, instant, discount=lambda t: (1.0, 1.0), t=1, floor=float("-inf")):
    """Return the regrets max(D R + r, floor)."""
    positive, negative = discount(t)
    return [max(R * (positive if R > 0 else negative) + r, floor) for R, r in zip(regrets, instant)]


class Reference:
    """CFR with alternating updates, averaged in the library's "matching" way.

    Args:
        game: turn-based OpenSpiel game.
        fold: function (regrets, instant, t) -> regrets.
        gamma: exponent of the average's weights t^gamma.
        best_response: whether to play against best responses (CFR-BR).
        kappa: None, or ECFR's exponent with ``payoff_range``.
        key: function from a state to the key of its infoset.
    """

    def __init__(
        self,
        game,
        fold: Callable = plain,
        gamma: float = 0.0,
        best_response: bool = False,
        kappa: float | None = None,
        payoff_range: float = 1.0,
        key: Callable = information,
    ) -> None:
        self.game, self.fold, self.gamma, self.key = game, fold, gamma, key
        self.best_response, self.kappa, self.payoff_range = best_response, kappa, payoff_range
        self.regret: Table = {}
        self.policy: Table = {}
        self.policy_sum: Table = {}
        self.advantage: Table = {}  # ECFR: sums of regrets, and of mass
        self.mass: dict[str, float] = defaultdict(float)
        self.t = 0
        self._collect(game.new_initial_state())

    def _collect(self, state) -> None:
        if state.is_terminal():
            return
        if not state.is_chance_node():
            key, count = self.key(state), len(state.legal_actions())
            for table in (self.regret, self.policy_sum, self.advantage):
                table[key] = [0.0] * count
            self.policy[key] = [1 / count] * count
        for action in state.legal_actions():
            self._collect(state.child(action))

    def iterate(self) -> None:
        """Make one iteration: update both players in turn."""
        self.t += 1
        for key, sums in self.policy_sum.items():
            self.policy_sum[key] = [s * ((self.t - 1) / self.t) ** self.gamma for s in sums]
        if self.best_response:
            replies = [best_response(self.game, self.policy, player, self.key) for player in (0, 1)]
            for player in (0, 1):
                self._average(self.game.new_initial_state(), player, self.average_weight(), 1.0)
        for player in (0, 1):
            opponent = replies[1 - player] if self.best_response else self.policy
            if not self.best_response:
                self._average(self.game.new_initial_state(), 1 - player, self.average_weight(), 1.0)
            instant: Table = {}
            mass: dict[str, float] = defaultdict(float)
            self._walk(self.game.new_initial_state(), player, opponent, 1.0, instant, mass)
            for key, regrets in instant.items():
                self._update(key, regrets, mass[key])

    def average_weight(self) -> float:
        """Return this iteration's factor on the weight t^gamma; subclasses override it."""
        return 1.0

    def _average(self, state, player: int, own: float, chance: float) -> None:
        if state.is_terminal():
            return
        if state.is_chance_node():
            for action, probability in state.chance_outcomes():
                self._average(state.child(action), player, own, chance * probability)
            return
        key = self.key(state)
        for k, action in enumerate(state.legal_actions()):
            if state.current_player() == player:
                self.policy_sum[key][k] += chance * own * self.policy[key][k]
                self._average(state.child(action), player, own * self.policy[key][k], chance)
            else:
                self._average(state.child(action), player, own, chance)

    def _walk(self, state, player, opponent, weight, instant, mass) -> float:
        """Return the value to ``player``; ``weight`` is the reach of the opponent and of chance."""
        if state.is_terminal():
            return state.player_return(player)
        if state.is_chance_node():
            return sum(
                p * self._walk(state.child(a), player, opponent, weight * p, instant, mass)
                for a, p in state.chance_outcomes()
            )
        key = self.key(state)
        if state.current_player() != player:
            return sum(
                p * self._walk(state.child(a), player, opponent, weight * p, instant, mass)
                for a, p in zip(state.legal_actions(), opponent[key])
            )
        values = [self._walk(state.child(a), player, opponent, weight, instant, mass) for a in state.legal_actions()]
        value = sum(p * v for p, v in zip(self.policy[key], values))
        row = instant.setdefault(key, [0.0] * len(values))
        for k, v in enumerate(values):
            row[k] += weight * (v - value)
        mass[key] += weight
        return value

    def _weights(self, key: str) -> list[float]:
        if self.kappa is None or self.mass[key] == 0:
            return [1.0] * len(self.regret[key])
        means = [a / self.mass[key] / self.payoff_range for a in self.advantage[key]]
        return [exp(self.kappa * min(max(m, -1.0), 1.0)) for m in means]

    def _update(self, key: str, instant: list[float], mass: float) -> None:
        weighted = [w * r for w, r in zip(self._weights(key), instant)]
        self.advantage[key] = [a + r for a, r in zip(self.advantage[key], instant)]
        self.mass[key] += mass
        self.regret[key] = self.fold(self.regret[key], weighted, t=self.t)
        self.policy[key] = match(self.regret[key], self._weights(key))


def best_response(game, policy: Table, player: int, key_of: Callable) -> Table:
    """Return a pure best response of ``player`` as a policy over its infosets; a tie goes to the first action."""
    histories = defaultdict(list)

    def collect(state, weight: float) -> None:
        if state.is_terminal():
            return
        if state.is_chance_node():
            for a, p in state.chance_outcomes():
                collect(state.child(a), weight * p)
            return
        key = key_of(state)
        mine = state.current_player() == player
        if mine:
            histories[key].append((state, weight))
        for k, a in enumerate(state.legal_actions()):
            collect(state.child(a), weight if mine else weight * policy[key][k])

    choice: dict[str, int] = {}

    def value(state) -> float:
        if state.is_terminal():
            return state.player_return(player)
        if state.is_chance_node():
            return sum(p * value(state.child(a)) for a, p in state.chance_outcomes())
        key = key_of(state)
        if state.current_player() != player:
            return sum(p * value(state.child(a)) for a, p in zip(state.legal_actions(), policy[key]))
        return value(state.child(state.legal_actions()[best(key)]))

    def best(key: str) -> int:
        if key not in choice:
            count = len(histories[key][0][0].legal_actions())
            gains = [sum(w * value(s.child(s.legal_actions()[k])) for s, w in histories[key]) for k in range(count)]
            choice[key] = gains.index(max(gains))
        return choice[key]

    collect(game.new_initial_state(), 1.0)
    return {key: [float(k == best(key)) for k in range(len(s[0][0].legal_actions()))] for key, s in histories.items()}


def exploitability(game, policy: Table, key: Callable = information) -> float:
    """Return half the sum of both players' gains by best responses; the values of their policies cancel."""

    def value(state, player: int, profile: tuple[Table, Table]) -> float:
        if state.is_terminal():
            return state.player_return(player)
        if state.is_chance_node():
            return sum(p * value(state.child(a), player, profile) for a, p in state.chance_outcomes())
        row = profile[state.current_player()][key(state)]
        return sum(p * value(state.child(a), player, profile) for a, p in zip(state.legal_actions(), row) if p > 0)

    replies = [best_response(game, policy, player, key) for player in (0, 1)]
    root = game.new_initial_state()
    return (value(root, 0, (replies[0], policy)) + value(root, 1, (policy, replies[1]))) / 2


def load(name: str):
    """Load a turn-based OpenSpiel game."""
    return pyspiel.load_game_as_turn_based(name)
