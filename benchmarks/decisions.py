"""The cost of choosing: a decision by Stable-Baselines3, a decision by the team, and a round of learning."""

from __future__ import annotations

import time

from benchmarks.alternation import timed
from rlccfr.agents import SelectorTeam
from rlccfr.agents.team.learning import QLearning, Replay
from rlccfr.networks.torch_state import one_thread

EVALUATIONS = 24
DECISIONS = 1_000


def report() -> list[str]:
    """Return the table of CPU microseconds as Markdown, for Kuhn with the default networks."""
    team = SelectorTeam("kuhn", {"unit": "iterations", "amount": 10})
    team.train(EVALUATIONS)
    observation = team.env.observe([])
    selector = team.selectors[0]
    learner = QLearning(Replay(team))
    rounds = team.hyperparameters.settling
    steps = team.hyperparameters.gradient_steps

    def predict(count: int) -> None:
        for _ in range(count):
            selector.policy.predict(observation, deterministic=True)

    def look_up(count: int) -> None:
        for _ in range(count):
            selector.q_values(observation)

    def learn(count: int) -> None:
        for _ in range(count):
            learner.learn_round(0.5, steps)

    with one_thread():
        rows = [
            ("one decision by `DQNPolicy.predict`", timed(predict, DECISIONS) / DECISIONS),
            ("the same by `Selector.q_values`", timed(look_up, DECISIONS) / DECISIONS),
            (f"a round of learning, {steps} gradient steps of each agent", timed(learn, rounds) / rounds),
        ]
    team.settled = 0  # so that it learns once more, and measures nothing
    begin = time.process_time()
    team.train(EVALUATIONS)
    rows.append(("a round of `SelectorTeam.train`", (time.process_time() - begin) / rounds))
    return ["| | CPU us |", "|---|---|", *(f"| {title} | {1e6 * seconds:.0f} |" for title, seconds in rows)]


if __name__ == "__main__":
    print("\n".join(report()))
