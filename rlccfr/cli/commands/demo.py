"""``rlccfr demo``: a small example that trains a team live and judges its recommendation."""

from __future__ import annotations

import time

from rlccfr.cli.commands.compare import LEGEND, print_comparison
from rlccfr.cli.console import duration, load, progress

GAME, OTHERS = "kuhn", ("leduc", "goofspiel")
PRESET, ITERATIONS, EVALUATIONS = "paper-kuhn", 1000, 24


def demo() -> None:
    """Train a team live on Kuhn poker."""
    begin = time.monotonic()
    for game in (GAME, *OTHERS):
        load(game)
    with progress("starting"):
        import pandas as pd

        from rlccfr.agents.baselines.task import Task
        from rlccfr.agents.judging.bench import Bench
        from rlccfr.agents.judging.evidence import Evidence
        from rlccfr.agents.judging.exact_reference import exact_line
        from rlccfr.agents.team.team import SelectorTeam
        from rlccfr.catalog import AXES
        from rlccfr.envs.measuring.live import LiveEvaluator

        evaluator = LiveEvaluator()
        limit = {"unit": "iterations", "amount": ITERATIONS}
        # The paper's algorithms without networks: a user can wait while all of them are measured on three games.
        team = SelectorTeam(GAME, limit, preset=PRESET, catalog="tabular", evaluator=evaluator)
    print(
        f"Three DQN agents learn to pick a CFR algorithm for {GAME}: {ITERATIONS:,} iterations a run, weights "
        f"{PRESET}.\nThey may measure {EVALUATIONS} of the {len(team.catalog)} tabular algorithms."
    )
    with progress("training") as report:
        team.train(EVALUATIONS, progress=report)
    found = team.recommend()
    print("\nThe agents recommend (each has its own weights of error and speed; they learn the mean of the rewards)")
    for agent, axis, id, reward in zip("ABC", AXES, found.cell, found.rewards, strict=True):
        print(f"  {agent}  {axis.replace('_', ' '):12}  {id:17}  reward {reward:.3f}")
    print(
        f"  exploitability {found.exploitability:.3g}, throughput {found.throughput:,.0f} iterations/s, "
        f"mean reward {found.mean_reward:.3f}\n"
    )
    evidence, env = {}, team.env
    for game in (GAME, *OTHERS):
        with progress(f"measuring all {len(team.catalog)} on {game}, for comparison") as report:
            evidence[game] = Evidence.measured(evaluator, env.catalog, game, env.budget, progress=report)
    bench = Bench(Task(evaluator, env.catalog, GAME, env.budget, env.preset), evidence)
    print_comparison(f"{GAME}, {env.budget}, preset {PRESET}", pd.DataFrame(bench.rows(team)))
    print(
        f"VBS, the virtual best solver, is the best of all {len(team.catalog)}; SBS, the single best, is the best on "
        f"average over {' and '.join(OTHERS)}.\nRandom search measures {EVALUATIONS}, too: the median of 1,001 runs.\n"
        f"{LEGEND}\nregret: the VBS's reward minus the pick's.\n{exact_line(GAME, solve=True)} "
        f"{duration(time.monotonic() - begin)} in all.\n"
        "Next: source .venv/bin/activate; rlccfr solve leduc; rlccfr train leduc --seconds 1; rlccfr --help"
    )
