"""The cost of choosing: a decision by Stable-Baselines3, its gradient steps, and what the coordinator adds to them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from types import SimpleNamespace

from benchmarks.alternation import timed
from rlccfr.agents import SelectorTeam
from rlccfr.agents.team.selector import Selector
from rlccfr.agents.team.selector_dqn import single_threaded

EVALUATIONS, DECISIONS = 24, 1_000


def report() -> list[str]:
    """Return the table of CPU microseconds as Markdown, for Kuhn with the default networks."""
    team = SelectorTeam("kuhn", {"unit": "iterations", "amount": 10})
    team.train(EVALUATIONS)
    observation, model = team.env.observe([]), team.selectors[0].model

    def predict(count: int) -> None:
        for _ in range(count):
            model.predict(observation, deterministic=True)

    def look_up(count: int) -> None:
        for _ in range(count):
            team.selectors[0].q_values(observation)

    with single_threaded():
        rows = [(title, timed(step, DECISIONS) / DECISIONS) for title, step in (
            ("one decision by `DQN.predict`", predict), ("the same by `Selector.q_values`", look_up),
        )]  # fmt: skip
    team.settled = 0  # so that it learns once more, and measures nothing
    with _clocked("q_values") as deciding, _clocked("learn") as learning:
        begin = time.process_time()
        team.train(EVALUATIONS)
        whole = time.process_time() - begin
    rounds, steps = team.hyperparameters.settling, team.hyperparameters.gradient_steps
    rows += [
        (f"a round of learning, {steps} gradient steps of each agent", learning.seconds / rounds),
        ("its evaluations of Q-values, for all that was measured at once", deciding.seconds / rounds),
        ("the rest of the round, the coordinator", (whole - learning.seconds - deciding.seconds) / rounds),
    ]  # fmt: skip
    return ["| | CPU us |", "|---|---|", *(f"| {title} | {1e6 * seconds:.0f} |" for title, seconds in rows)]


@contextlib.contextmanager
def _clocked(method: str) -> Iterator[SimpleNamespace]:
    """Yield counters of the CPU seconds that one method of all selectors takes, and of its calls."""
    spent, original = SimpleNamespace(seconds=0.0, calls=0), getattr(Selector, method)

    def clocked(self: Selector, *arguments: object) -> object:
        begin = time.process_time()
        try:
            return original(self, *arguments)
        finally:
            spent.seconds += time.process_time() - begin
            spent.calls += 1

    setattr(Selector, method, clocked)
    try:
        yield spent
    finally:
        setattr(Selector, method, original)


if __name__ == "__main__":
    print("\n".join(report()))
