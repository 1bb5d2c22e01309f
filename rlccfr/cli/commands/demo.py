"""``rlccfr demo``: a small example that trains a team live and judges its recommendation."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlccfr.cli.commands.compare import LEGEND, print_comparison
from rlccfr.cli.console import RUNS, Evaluations, Seed, load
from rlccfr.cli.progress import duration, progress
from rlccfr.errors import RLCCFRError
from rlccfr.files import require_writable

if TYPE_CHECKING:
    from rlccfr.catalog import Cell

GAMES = ("kuhn", "leduc", "goofspiel")
ITERATIONS = 1000


def demo(
    game: Annotated[str, typer.Argument(help=f"The game to train on: {', '.join(GAMES)}.")] = "kuhn",
    evaluations: Evaluations = 24,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Directory of the pages.")] = RUNS / "demo",
) -> None:
    """Train a team live on a small game, and judge its recommendation by the runs of all algorithms."""
    if game not in GAMES:
        raise RLCCFRError(f"the demo is on one of {', '.join(GAMES)}, not on {game!r}; for another game: rlccfr train")
    begin, others, preset = time.monotonic(), [other for other in GAMES if other != game], f"paper-{game}"
    require_writable(out / f"{game}.html")
    for one in GAMES:
        load(one)
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
        team = SelectorTeam(game, limit, preset=preset, catalog="tabular", evaluator=evaluator, seed=seed)
    print(
        f"Three DQN agents learn to pick a CFR algorithm for {game}: {ITERATIONS:,} iterations a run, weights "
        f"{preset}.\nThey may measure {evaluations} of the {len(team.catalog)} tabular algorithms."
    )
    with progress("training") as report:
        team.train(evaluations, progress=report)
    found = team.recommend()
    print("\nThe agents recommend (each has its own weights of error and speed; they learn the mean of the rewards)")
    for agent, axis, id, reward in zip("ABC", AXES, found.cell, found.rewards, strict=True):
        print(f"  {agent}  {axis.replace('_', ' '):12}  {id:17}  reward {reward:.3f}")
    print(
        f"  exploitability {found.exploitability:.3g}, throughput {found.throughput:,.0f} iterations/s, "
        f"mean reward {found.mean_reward:.3f}\n"
    )
    evidence, env = {}, team.env
    for one in GAMES:
        with progress(f"measuring all {len(team.catalog)} on {one}, for comparison") as report:
            evidence[one] = Evidence.measured(evaluator, env.catalog, one, env.budget, progress=report)
    bench = Bench(Task(evaluator, env.catalog, game, env.budget, env.preset), evidence)
    print_comparison(f"{game}, {env.budget}, preset {preset}", pd.DataFrame(bench.rows(team)))
    print(
        f"VBS, the virtual best solver, is the best of all {len(team.catalog)}; SBS, the single best, is the best on "
        f"average over {' and '.join(others)}.\nRandom search measures {evaluations}, too: the median of 1,001 runs.\n"
        f"{LEGEND}\nregret: the VBS's reward minus the pick's.\n{exact_line(game, solve=True)} "
        f"{duration(time.monotonic() - begin)} in all.\n"
        "Next: source .venv/bin/activate; rlccfr solve leduc; rlccfr train leduc --seconds 1; rlccfr --help"
    )
    with progress("writing pages"):
        pages = {
            "the recommended algorithm's policy": _policy_page(game, found.cell, out),
            "all measurements on it": _report(game, out),
        }
    for what, page in pages.items():
        if page is not None:
            print(f"In a browser, {what}: {page.resolve().as_uri()}")


def _policy_page(game: str, cell: Cell, folder: Path) -> Path:
    """Run the recommended algorithm, and write the page on which its policy is explored."""
    from rlccfr.explorer.pages import write_page
    from rlccfr.games.names import load_game
    from rlccfr.solver import Solver

    solver = Solver(load_game(game), *cell)
    solver.run(iterations=ITERATIONS, curve=False)
    path = folder / f"{game}.html"
    write_page(solver.average_policy(), path)
    return path


def _report(game: str, folder: Path) -> Path | None:
    """Write the report of the package's measurements on the game; None if the extra for reports is not installed."""
    from rlccfr.cli.commands.table import write_shipped_report

    path = folder / "report.html"
    try:
        write_shipped_report(game, path)
    except RLCCFRError:
        return None
    return path
