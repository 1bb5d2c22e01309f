"""Update rules in plain Python, from the definitions in their papers, on top of :mod:`rlccfr.reference`.

:class:`TabularReference` has the rules of the paper's catalog, and plays against best responses, too. The predictive
rules, the scheduled ones and Hedge follow.

At one infoset, in iteration t = 1, 2, ...: the policy x^t is played, r^t are its instantaneous counterfactual regrets,
and R^t are the cumulative regrets that follow, from R^0 = 0 and any x^1. [.]+ is the positive part, ~ means "in
proportion to", and D(k, e) = k^e / (k^e + 1), with D(0, e) = 0. The average policy ~ the sum over t of
w_t reach(x^t) x^t.

PCFR+ (Farina, Kroer and Sandholm 2021), where the prediction m^{t+1} is the last loss l^t:
    R^t = [R^{t-1} + r^t]+
    x^{t+1} ~ [R^t + <m^{t+1}, x^t> - m^{t+1}]+ = [R^t + r^t]+
    w_t = t^2
PDCFR+ (Xu et al. 2024), where the prediction v^{t+1} is r^t:
    R^t = [D(t-1, alpha) R^{t-1} + r^t]+
    x^{t+1} ~ [D(t, alpha) R^t + r^t]+
    w_t = t^gamma, with alpha = 2.3 and gamma = 5
Hyperparameter schedules (Zhang, McAleer and Sandholm 2024) with horizon n, constant from t = n on:
    alpha_t = 1 + 3 t/n, beta_t = -1 - 2 t/n, gamma_t = 30 - 5 t/n
    w_{t+1} = ((t+1)/t)^gamma_t w_t
    HS-PCFR+: R and x as in PCFR+
    HS-DCFR: R^{t+1} = D(t, alpha_t) R^t + r^{t+1} where R^t > 0, else D(t, beta_t) R^t + r^{t+1}
             x^{t+1} ~ [R^t]+
Hedge at the anytime rate (Cesa-Bianchi and Lugosi 2006, section 2.3), for A actions and losses in an interval of
length L. Regrets are negative losses plus a number that all actions share, which cancels:
    R^t = R^{t-1} + r^t
    x^t ~ exp(eta_t R^{t-1}), eta_t = sqrt(8 ln A / t) / L
    w_t = 1
APCFR+ (Meng et al. 2025), with r^0 = 0:
    R^t = [R^{t-1} + r^t]+
    x^{t+1} ~ [R^t + r^t / (1 + a^t)]+
    a^t = min(5, sqrt(sum over s <= t of |r^s - r^{s-1}|^2 / sum over s <= t of |R^s - R^{s-1}|^2))
    w_t = t^2
APDCFR+: the same, with R^t and x^{t+1} as in PDCFR+.
CFR with momentum (this library's), for any alpha, beta, gamma, momentum, memory and power; o_t is the optimism, faded:
    R^t = D(t-1, alpha) R^{t-1} + r^t where R^{t-1} > 0, else D(t-1, beta) R^{t-1} + r^t
    M^t = memory M^{t-1} + R^t - R^{t-1}
    x^{t+1} ~ ([D(t, alpha or beta) R^t + o_{t+1} r^t + momentum M^t]+)^power
    w_t = t^gamma
VAD-CFR (Li et al. 2026, listing 5) with horizon n, in the game's units. m^t is the largest |r^t| of the infoset:
    E^1 = m^1, E^t = 0.1 m^t + 0.9 E^{t-1}; v = min(1, E^t / 2); alpha = 1.5 - v/2, beta = -0.1 - v/2
    b^t = 1.1 r^t where r^t > 0, else r^t
    R^t = max(-20, D(t, alpha or beta) R^{t-1} + b^t), alpha where R^{t-1} >= 0
    x^{t+1} ~ ([D(t, alpha or beta) R^t + (1 - v/2) / (1 + 10 (t-1)/n) b^t]+)^1.5, alpha where R^t >= 0
    w_t = t^g (1 + m^1.5)^-1 max(0.1, (1 + m/2)^0.5) from t = n/2 + 1 on; g = min(4, 2 + 1.5 min(1, m/2))
    The m and the t^{g-2} of w_t are those of the newest update of the infoset, which for player 1 is that of t - 1.
AOD-CFR (Li et al. 2026, listing 7) with horizon n and p = min(1, (t-1) / (n/2)):
    R^t = D(t, 1 + 1.5 p) R^{t-1} + c r^t where R^{t-1} > 0, else D(t, 0.5 - 0.5 p) R^{t-1} + c r^t
    c = 1.1, 0.9, 0.7, 1.2 by the signs (+, +), (+, -), (-, +), (-, -) of R^{t-1} and r^t, else 1
    x^{t+1} ~ ([R^t + 0.5 (R^t - S^t)]+)^2, S^0 = 0, S^t = 0.1 R^{t-1} + 0.9 S^{t-1}
    sums <- D(t, g) sums + t^g reach(x^t) x^t, g = 1 + 4 p
Stable PCFR+ (Farina et al. 2023, algorithm 1) with the step size eta and the bound b = 1 / eta, R^0 = (b, b, ...):
    R^t = [R^{t-1} + r^t]+ and m^{t+1} = r^t; if then no entry of R^t exceeds b, R^t = (b, b, ...) and m^{t+1} = 0
    x^{t+1} ~ [R^t + m^{t+1}]+
    w_t = t^2
Smooth PCFR+ (Farina et al. 2023, algorithm 2); P is the Euclidean projection on {R >= 0, sum of R >= 1 / eta}:
    R^t = P(R^{t-1} + r^t), R^0 = P(0)
    x^{t+1} ~ P(R^t + r^t)
    w_t = t^2
Extragradient CFR+ (Farina et al. 2023, algorithm 5), both players at once, r^t(x) being the regrets if all play x:
    W^k = P(R^{k-1} + r(x)), x ~ R^{k-1}, in the iteration 2k - 1 with r^{2k-1} = r(x)
    R^k = P(R^{k-1} + r(y)), y ~ W^k, in the iteration 2k with r^{2k} = r(y); P and R^0 as in smooth PCFR+
    w: k^2 for y, 0 for x
RTCFR+ (Meng et al. 2025 and its code), with mu, gamma^1 and a period; the last policy x^{T+1} is the result:
    x^{t+1} = (1 - gamma^{t+1} A) s^{t+1} + gamma^{t+1} for A actions, s^{t+1} ~ R^t
    R^t(I, a) = [R^{t-1}(I, a) + g(I, a) - <g(I, .), s^t(I, .)>]+
    g(I, a) = payoffs of the ends after which the player does not move again, times the others' reach of them
              + sum over the player's next infosets J of <g(J, .), s^t(J, .)>
              - mu (the player's own reach of (I, a) under x^t - that under q)
    q = x^1 at first, and x^t in iterations t that the period divides, after which gamma^{t+1} = gamma^t / 2
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from math import exp, log, sqrt

from rlccfr.reference import CFR, Table, action_probabilities, best_response, infoset_of, regret_matching


def discounted_sum(regrets, instant, discount=lambda t: (1.0, 1.0), t=1, floor=float("-inf")):
    """Return the regrets max(D R + r, floor)."""
    positive, negative = discount(t)
    return [max(R * (positive if R > 0 else negative) + r, floor) for R, r in zip(regrets, instant)]


class TabularReference(CFR):
    """CFR with discounts, floors and weights, against the current policy or best responses.

    Args:
        new_regrets: function (regrets, instant, t) -> regrets.
        gamma: exponent of the average's weights t^gamma.
        best_response: whether to play against best responses (CFR-BR).
        kappa: None, or ECFR's exponent with ``payoff_range``.
    """

    def __init__(
        self,
        game,
        new_regrets: Callable = discounted_sum,
        gamma: float = 0.0,
        best_response: bool = False,
        kappa: float | None = None,
        payoff_range: float = 1.0,
        infoset_of: Callable = infoset_of,
    ) -> None:
        super().__init__(game, infoset_of)
        self.new_regrets, self.gamma, self.best_response = new_regrets, gamma, best_response
        self.kappa, self.payoff_range = kappa, payoff_range
        self.advantage: Table = {infoset: [0.0] * len(row) for infoset, row in self.regrets.items()}  # sums of regrets
        self.mass: dict[str, float] = defaultdict(float)  # sums of the reach that weights them
        self.newest_mass: dict[str, float] = defaultdict(float)

    def iterate(self) -> None:
        t = self.iteration + 1
        for infoset, sums in self.policy_sums.items():
            self.policy_sums[infoset] = [s * ((t - 1) / t) ** self.gamma for s in sums]
        if not self.best_response:
            super().iterate()
            return
        self.iteration = t
        replies = [best_response(self.game, self.policy, player, self.infoset_of) for player in (0, 1)]
        for player in (0, 1):
            self.add_to_average(player)
        for player in (0, 1):
            self.learn(player, replies[1 - player])

    def update(self, infoset, instantaneous_regrets) -> None:
        weighted = [w * r for w, r in zip(self._weights(infoset), instantaneous_regrets)]
        self.advantage[infoset] = [a + r for a, r in zip(self.advantage[infoset], instantaneous_regrets)]
        self.mass[infoset] += self.newest_mass.pop(infoset)
        self.regrets[infoset] = self.new_regrets(self.regrets[infoset], weighted, t=self.iteration)
        positive = [max(R, 0.0) * w for R, w in zip(self.regrets[infoset], self._weights(infoset))]
        self.policy[infoset] = regret_matching(positive)

    def _weights(self, infoset: str) -> list[float]:
        """Return ECFR's weights of the actions, 1 for other rules."""
        if self.kappa is None or self.mass[infoset] == 0:
            return [1.0] * len(self.regrets[infoset])
        means = [a / self.mass[infoset] / self.payoff_range for a in self.advantage[infoset]]
        return [exp(self.kappa * min(max(mean, -1.0), 1.0)) for mean in means]

    def _walk(self, state, player, opponent_policy, reach, instantaneous_regrets) -> float:
        if not (state.is_terminal() or state.is_chance_node()) and state.current_player() == player:
            self.newest_mass[self.infoset_of(state)] += reach
        return super()._walk(state, player, opponent_policy, reach, instantaneous_regrets)


def discount(k: float, exponent: float) -> float:
    """Return D(k, exponent)."""
    return k**exponent / (k**exponent + 1) if k > 0 else 0.0


def payoffs(state) -> set[float]:
    """Return player 0's returns at the ends below a state."""
    if state.is_terminal():
        return {state.player_return(0)}
    return set().union(*(payoffs(state.child(action)) for action in state.legal_actions()))


class Averaging(CFR):
    """CFR with weights w_t in the average; other rules are subclasses."""

    def weight(self, t: int) -> float:
        """Return w_t, up to a factor."""
        return 1.0

    def next_regrets(self, R: list[float], r: list[float], t: int) -> list[float]:
        """Return R^t, given R^{t-1} and r^t."""
        return [a + b for a, b in zip(R, r)]

    def matched(self, R: list[float], r: list[float], t: int) -> list[float]:
        """Return the numbers that x^{t+1} matches: it is in proportion to their positive parts, given R^t and r^t."""
        return R

    def next_policy(self, R: list[float], r: list[float], t: int) -> list[float]:
        """Return x^{t+1}, given R^t and r^t. Ties are refused: rounding would decide between pure and uniform."""
        numbers = self.matched(R, r, t)
        assert abs(max(numbers)) > 1e-9 or not any(numbers), f"a tie in iteration {t}: take another start"
        return regret_matching(numbers)

    def average_weight(self) -> float:
        return self.weight(self.iteration)

    def update(self, infoset: str, instantaneous_regrets: list[float]) -> None:
        r, t = instantaneous_regrets, self.iteration
        self.regrets[infoset] = self.next_regrets(self.regrets[infoset], r, t)
        self.policy[infoset] = self.next_policy(self.regrets[infoset], r, t)


class PredictiveCFRPlus(Averaging):
    def weight(self, t):
        return t**2

    def next_regrets(self, R, r, t):
        return [max(a + b, 0.0) for a, b in zip(R, r)]

    def matched(self, R, r, t):
        return [a + b for a, b in zip(R, r)]


class PredictiveDiscountedCFRPlus(Averaging):
    def weight(self, t):
        return t**5

    def next_regrets(self, R, r, t):
        return [max(discount(t - 1, 2.3) * a + b, 0.0) for a, b in zip(R, r)]

    def matched(self, R, r, t):
        return [discount(t, 2.3) * a + b for a, b in zip(R, r)]


class Scheduled(Averaging):
    horizon = 5

    def exponent(self, first, last, t):
        return first + (last - first) * min(t / self.horizon, 1.0)

    def weight(self, t):
        return 1.0 if t == 1 else self.weight(t - 1) * (t / (t - 1)) ** self.exponent(30, 25, t - 1)


class ScheduledPredictiveCFRPlus(Scheduled, PredictiveCFRPlus):
    pass


class ScheduledDiscountedCFR(Scheduled):
    def next_regrets(self, R, r, t):
        alpha, beta = self.exponent(1, 4, t - 1), self.exponent(-1, -3, t - 1)
        return [discount(t - 1, alpha if a > 0 else beta) * a + b for a, b in zip(R, r)]


class Hedge(Averaging):
    def __init__(self, game) -> None:
        super().__init__(game)
        ends = payoffs(game.new_initial_state())
        self.length = max(ends) - min(ends) or 1.0  # where nothing is at stake, any length serves

    def next_policy(self, R, r, t):
        eta = sqrt(8 * log(len(R)) / (t + 1)) / self.length
        weights = [exp(eta * a) for a in R]
        return [w / sum(weights) for w in weights]


class AsymmetricCFRPlus(Averaging):
    """APCFR+; with an ``alpha``, APDCFR+."""

    alpha: float | None = None
    gamma = 2.0

    def __init__(self, game) -> None:
        super().__init__(game)
        self.newest: Table = {infoset: [0.0] * len(row) for infoset, row in self.regrets.items()}
        self.changes: dict[str, float] = defaultdict(float)
        self.steps: dict[str, float] = defaultdict(float)

    def weight(self, t):
        return t**self.gamma

    def factor(self, t):
        return 1.0 if self.alpha is None else discount(t, self.alpha)

    def update(self, infoset, r) -> None:
        t, R = self.iteration, self.regrets[infoset]
        self.regrets[infoset] = [max(self.factor(t - 1) * a + b, 0.0) for a, b in zip(R, r)]
        self.changes[infoset] += sum((b - c) ** 2 for b, c in zip(r, self.newest[infoset]))
        self.steps[infoset] += sum((new - a) ** 2 for new, a in zip(self.regrets[infoset], R))
        self.newest[infoset] = r
        steps = self.steps[infoset]
        asymmetry = min(5.0, sqrt(self.changes[infoset] / steps)) if steps > 0 else 5.0
        numbers = [self.factor(t) * a + b / (1 + asymmetry) for a, b in zip(self.regrets[infoset], r)]
        self.policy[infoset] = regret_matching(numbers)


class AsymmetricDiscountedCFRPlus(AsymmetricCFRPlus):
    alpha = 2.3
    gamma = 5.0


class VolatilityAdaptiveCFR(Averaging):
    horizon = 8

    def __init__(self, game) -> None:
        super().__init__(game)
        self.mean: dict[str, float] = defaultdict(float)
        self.weights: dict[str, float] = defaultdict(float)

    def iterate(self) -> None:
        if self.iteration <= self.horizon // 2:
            self.policy_sums = {infoset: [0.0] * len(sums) for infoset, sums in self.policy_sums.items()}
        super().iterate()

    def weight(self, t):
        return t**2

    def infoset_weight(self, infoset):
        return self.weights[infoset]

    def update(self, infoset, r) -> None:
        t = self.iteration
        m = max(abs(b) for b in r)
        self.mean[infoset] = 0.1 * m + 0.9 * self.mean[infoset] if t > 1 else m
        v = min(1.0, self.mean[infoset] / 2)

        def kept(regret):
            return discount(t, 1.5 - v / 2 if regret >= 0 else -0.1 - v / 2) * regret

        boosted = [1.1 * b if b > 0 else b for b in r]
        self.regrets[infoset] = [max(-20.0, kept(a) + b) for a, b in zip(self.regrets[infoset], boosted)]
        optimism = (1 - v / 2) / (1 + 10 * (t - 1) / self.horizon)
        numbers = [max(kept(a) + optimism * b, 0.0) ** 1.5 for a, b in zip(self.regrets[infoset], boosted)]
        self.policy[infoset] = regret_matching(numbers)
        g = min(4.0, 2 + 1.5 * min(1.0, m / 2))
        self.weights[infoset] = t ** (g - 2) / (1 + m**1.5) * max(0.1, sqrt(1 + m / 2))


class AsymmetricOptimisticCFR(Averaging):
    horizon = 6

    def __init__(self, game) -> None:
        super().__init__(game)
        self.trend: Table = {infoset: [0.0] * len(row) for infoset, row in self.regrets.items()}

    def share(self, t):
        return min(1.0, (t - 1) / (self.horizon // 2))

    def iterate(self) -> None:
        t = self.iteration + 1
        factor = discount(t, 1 + 4 * self.share(t))
        self.policy_sums = {infoset: [factor * s for s in sums] for infoset, sums in self.policy_sums.items()}
        super().iterate()

    def weight(self, t):
        return t ** (1 + 4 * self.share(t))

    def update(self, infoset, r) -> None:
        t, R, p = self.iteration, self.regrets[infoset], self.share(self.iteration)
        by_signs = {(1, 1): 1.1, (1, -1): 0.9, (-1, 1): 0.7, (-1, -1): 1.2}
        signs = [(int(a > 0) - int(a < 0), int(b > 0) - int(b < 0)) for a, b in zip(R, r)]
        weighted = [by_signs.get(pair, 1.0) * b for pair, b in zip(signs, r)]
        kept = [discount(t, 1 + 1.5 * p if a > 0 else 0.5 - 0.5 * p) * a for a in R]
        S = self.trend[infoset] = [0.1 * a + 0.9 * s for a, s in zip(R, self.trend[infoset])]
        R = self.regrets[infoset] = [a + b for a, b in zip(kept, weighted)]
        self.policy[infoset] = regret_matching([max(a + 0.5 * (a - s), 0.0) ** 2 for a, s in zip(R, S)])


class MomentumCFR(Averaging):
    """The rule ``scheduled`` with every number set, so that each of them shows."""

    alpha, beta, gamma, optimism, decay, horizon = 1.4, -0.7, 3.0, 0.6, 0.5, 10
    momentum, memory, power = 0.4, 0.8, 1.5

    def __init__(self, game) -> None:
        super().__init__(game)
        self.movement: Table = {infoset: [0.0] * len(row) for infoset, row in self.regrets.items()}

    def weight(self, t):
        return t**self.gamma

    def update(self, infoset, r) -> None:
        t, before = self.iteration, self.regrets[infoset]

        def kept(regret, k):
            return discount(k, self.alpha if regret > 0 else self.beta) * regret

        R = self.regrets[infoset] = [kept(a, t - 1) + b for a, b in zip(before, r)]
        moves = zip(self.movement[infoset], R, before)
        M = self.movement[infoset] = [self.memory * m + new - old for m, new, old in moves]
        o = self.optimism / (1 + t / (self.decay * self.horizon))
        numbers = [max(kept(a, t) + o * b + self.momentum * m, 0.0) for a, b, m in zip(R, r, M)]
        self.policy[infoset] = regret_matching([number**self.power for number in numbers])


class StableCFRPlus(Averaging):
    bound = 0.5

    def __init__(self, game) -> None:
        super().__init__(game)
        self.regrets = {infoset: self.start(len(row)) for infoset, row in self.regrets.items()}

    def start(self, num_actions):
        return [self.bound] * num_actions

    def weight(self, t):
        return t**2

    def update(self, infoset, r) -> None:
        R = [max(a + b, 0.0) for a, b in zip(self.regrets[infoset], r)]
        prediction = r
        if all(a <= self.bound for a in R):
            R = [self.bound] * len(R)
            prediction = [0.0] * len(r)
        self.regrets[infoset] = R
        self.policy[infoset] = regret_matching([a + b for a, b in zip(R, prediction)])


class SmoothCFRPlus(StableCFRPlus):
    def start(self, num_actions):
        return [self.bound / num_actions] * num_actions

    def projected(self, row):
        """Return the projection of a row, by trying how many of its largest entries stay positive."""
        if sum(max(a, 0.0) for a in row) >= self.bound:
            return [max(a, 0.0) for a in row]
        largest = sorted(row, reverse=True)
        lifts = [(self.bound - sum(largest[:count])) / count for count in range(1, len(row) + 1)]
        lift = min(lifts)
        return [max(a + lift, 0.0) for a in row]

    def update(self, infoset, r) -> None:
        R = self.regrets[infoset] = self.projected([a + b for a, b in zip(self.regrets[infoset], r)])
        self.policy[infoset] = regret_matching(self.projected([a + b for a, b in zip(R, r)]))


class ExtragradientCFRPlus(SmoothCFRPlus):
    def __init__(self, game) -> None:
        super().__init__(game)
        self.weights: dict[str, float] = defaultdict(float)

    def weight(self, t):
        return max(t // 2, 1) ** 2

    def infoset_weight(self, infoset):
        return self.weights[infoset]

    def iterate(self) -> None:
        self.iteration += 1
        instantaneous_regrets: Table = {}
        for player in (0, 1):
            self.add_to_average(player)
            self._walk(self.game.new_initial_state(), player, self.policy, 1.0, instantaneous_regrets)
        for infoset, r in instantaneous_regrets.items():
            self.update(infoset, r)

    def update(self, infoset, r) -> None:
        is_probe = self.iteration % 2 == 1
        stepped = self.projected([a + b for a, b in zip(self.regrets[infoset], r)])
        if not is_probe:
            self.regrets[infoset] = stepped
        self.policy[infoset] = regret_matching(stepped)
        self.weights[infoset] = float(is_probe)


class RewardTransformationCFRPlus(Averaging):
    """RTCFR+, over the sequences (infoset, action's index) of one player; None stands for no action."""

    mu, gamma, period = 0.3, 1e-4, 5

    def __init__(self, game) -> None:
        super().__init__(game)
        self.reference: dict[int, dict] = {}  # for each player, its own reach under the reference policy

    def perturbation(self, t):
        return self.gamma * 0.5 ** ((t - 1) // self.period)

    def iterate(self) -> None:
        self.policy_sums = {infoset: [0.0] * len(sums) for infoset, sums in self.policy_sums.items()}
        super().iterate()

    def learn(self, player, opponent_policy) -> None:
        parents: dict = {}  # each infoset's sequence above it; infosets above others come first
        values: dict = defaultdict(float)
        self.collect(self.game.new_initial_state(), player, opponent_policy, 1.0, None, parents, values)
        reach = {None: 1.0}
        for infoset, parent in parents.items():
            reach |= {(infoset, k): reach[parent] * p for k, p in enumerate(self.policy[infoset])}
        if player not in self.reference or self.iteration % self.period == 0:
            self.reference[player] = reach
        t = self.iteration
        for infoset in reversed(parents):
            sequences = [(infoset, k) for k in range(len(self.policy[infoset]))]
            g = [values[s] - self.mu * (reach[s] - self.reference[player][s]) for s in sequences]
            gamma = self.perturbation(t)
            s = [(p - gamma) / (1 - gamma * len(g)) for p in self.policy[infoset]]
            value = sum(a * b for a, b in zip(g, s))
            values[parents[infoset]] += value
            R = self.regrets[infoset] = [max(a + b - value, 0.0) for a, b in zip(self.regrets[infoset], g)]
            gamma = self.perturbation(t + 1)
            self.policy[infoset] = [(1 - gamma * len(R)) * p + gamma for p in regret_matching(R)]

    def collect(self, state, player, opponent_policy, reach, sequence, parents, values) -> None:
        """Find the sequence above each infoset, and add up payoffs, weighted by ``reach`` of the others."""
        if state.is_terminal():
            values[sequence] += reach * state.player_return(player)
        elif state.is_chance_node() or state.current_player() != player:
            for action, probability in action_probabilities(state, opponent_policy, self.infoset_of):
                child = state.child(action)
                self.collect(child, player, opponent_policy, reach * probability, sequence, parents, values)
        else:
            infoset = self.infoset_of(state)
            parents[infoset] = sequence
            for k, action in enumerate(state.legal_actions()):
                child = state.child(action)
                self.collect(child, player, opponent_policy, reach, (infoset, k), parents, values)


RULES = {
    f"rtcfr_plus(mu={RewardTransformationCFRPlus.mu},gamma={RewardTransformationCFRPlus.gamma},"
    f"period={RewardTransformationCFRPlus.period})": RewardTransformationCFRPlus,
    f"extragradient_cfr_plus(step_size={1 / SmoothCFRPlus.bound},payoff_range=0)": ExtragradientCFRPlus,
    f"stable_pcfr_plus(step_size={1 / StableCFRPlus.bound},payoff_range=0)": StableCFRPlus,
    f"smooth_pcfr_plus(step_size={1 / SmoothCFRPlus.bound},payoff_range=0)": SmoothCFRPlus,
    "scheduled(alpha=1.4,beta=-0.7,gamma=3,optimism=0.6,floor=False,decay=0.5,momentum=0.4,memory=0.8,power=1.5,"
    "horizon=10)": MomentumCFR,
    "apcfr_plus": AsymmetricCFRPlus,
    "apdcfr_plus": AsymmetricDiscountedCFRPlus,
    f"vad_cfr(horizon={VolatilityAdaptiveCFR.horizon},payoff_range=0.0)": VolatilityAdaptiveCFR,
    f"aod_cfr(horizon={AsymmetricOptimisticCFR.horizon})": AsymmetricOptimisticCFR,
    "pcfr_plus": PredictiveCFRPlus,
    "pdcfr_plus": PredictiveDiscountedCFRPlus,
    f"hs_pcfr_plus(horizon={Scheduled.horizon})": ScheduledPredictiveCFRPlus,
    f"hs_dcfr(horizon={Scheduled.horizon})": ScheduledDiscountedCFR,
    "hedge": Hedge,
}
"""References of update rules beyond the paper's catalog, by the rule."""
