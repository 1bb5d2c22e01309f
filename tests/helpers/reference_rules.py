"""The predictive rules, the scheduled ones and Hedge in plain Python, from the definitions in their papers.

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
"""

from __future__ import annotations

from math import exp, log, sqrt

from reference import Reference, match


def discount(k: float, exponent: float) -> float:
    """Return D(k, exponent)."""
    return k**exponent / (k**exponent + 1) if k > 0 else 0.0


def payoffs(state) -> set[float]:
    """Return player 0's returns at the ends below a state."""
    if state.is_terminal():
        return {state.player_return(0)}
    return set().union(*(payoffs(state.child(action)) for action in state.legal_actions()))


class Averaging(Reference):
    """CFR with weights w_t in the average; other rules are subclasses."""

    def weight(self, t: int) -> float:
        """Return w_t, up to a factor."""
        return 1.0

    def regrets(self, R: list[float], r: list[float], t: int) -> list[float]:
        """Return R^t, given R^{t-1} and r^t."""
        return [a + b for a, b in zip(R, r)]

    def matched(self, R: list[float], r: list[float], t: int) -> list[float]:
        """Return the numbers that x^{t+1} matches: it is in proportion to their positive parts, given R^t and r^t."""
        return R

    def next_policy(self, R: list[float], r: list[float], t: int) -> list[float]:
        """Return x^{t+1}, given R^t and r^t. Ties are refused: rounding would decide between pure and uniform."""
        numbers = self.matched(R, r, t)
        assert abs(max(numbers)) > 1e-9 or not any(numbers), f"a tie in iteration {t}: take another start"
        return match(numbers)

    def average_weight(self) -> float:
        return self.weight(self.t)

    def _update(self, key: str, instant: list[float], mass: float) -> None:
        self.regret[key] = self.regrets(self.regret[key], instant, self.t)
        self.policy[key] = self.next_policy(self.regret[key], instant, self.t)


class PredictiveCFRPlus(Averaging):
    def weight(self, t):
        return t**2

    def regrets(self, R, r, t):
        return [max(a + b, 0.0) for a, b in zip(R, r)]

    def matched(self, R, r, t):
        return [a + b for a, b in zip(R, r)]


class PredictiveDiscountedCFRPlus(Averaging):
    def weight(self, t):
        return t**5

    def regrets(self, R, r, t):
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
    def regrets(self, R, r, t):
        alpha, beta = self.exponent(1, 4, t - 1), self.exponent(-1, -3, t - 1)
        return [discount(t - 1, alpha if a > 0 else beta) * a + b for a, b in zip(R, r)]


class Hedge(Averaging):
    def __init__(self, game) -> None:
        super().__init__(game)
        found = payoffs(game.new_initial_state())
        self.length = max(found) - min(found)

    def next_policy(self, R, r, t):
        eta = sqrt(8 * log(len(R)) / (t + 1)) / self.length
        weights = [exp(eta * a) for a in R]
        return [w / sum(weights) for w in weights]


RULES = {
    "pcfr_plus": PredictiveCFRPlus,
    "pdcfr_plus": PredictiveDiscountedCFRPlus,
    f"hs_pcfr_plus(horizon={Scheduled.horizon})": ScheduledPredictiveCFRPlus,
    f"hs_dcfr(horizon={Scheduled.horizon})": ScheduledDiscountedCFR,
    "hedge": Hedge,
}
"""The reference of each update rule of the extended catalog."""
