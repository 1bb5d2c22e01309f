"""``rlccfr demo``: a small example that trains a team live and judges its recommendation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlccfr.cli.commands.compare import LEGEND, print_comparison
from rlccfr.cli.console import RUNS, Evaluations, Seed, load
from rlccfr.cli.progress import duration, progress
from rlccfr.errors import RLCCFRError, whole_number
from rlccfr.files import require_writable

if TYPE_CHECKING:
    from rlccfr.catalog import Cell

GAMES = ("kuhn", "leduc", "goofspiel")
GAME, PRESET, EVALUATIONS = "kuhn", "paper-kuhn", 24  # as in `make demo`, which benchmarks repeat
ITERATIONS = 1000


def demo(
    game: Annotated[str, typer.Argument(help=f"The game to train on: {_listed(GAMES)}.")] = GAME,
    evaluations: Evaluations = EVALUATIONS,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Directory for the pages.")] = RUNS / "demo",
) -> None:
    """Train a team live on a small game, and judge its recommendation by the runs of all algorithms."""
    from rlccfr.games.names import short_name

    begin = time.monotonic()
    game = short_name(game)
    if game not in GAMES:
        raise RLCCFRError(f"the demo trains on {_listed(GAMES)}, not on {game!r}; for other games, use `rlccfr train`")
    whole_number(evaluations, "evaluations", 1, RLCCFRError)
    policy_page, report_page = out / f"{game}.html", out / "report.html"
    for page in (policy_page, report_page):
        require_writable(page)
    others, preset = [other for other in GAMES if other != game], f"paper-{game}"
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
        f"{team.env.preset}.\nThey may measure {evaluations} of the {len(team.catalog)} tabular algorithms."
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
    print_comparison(f"{game}, {env.budget}, preset {env.preset}", pd.DataFrame(bench.rows(team)))
    print(
        f"VBS, the virtual best solver, is the best of all {len(team.catalog)}; SBS, the single best, is the best on "
        f"average over {' and '.join(others)}.\n"
        f"Random search measures {team.evaluations}, too: the median of 1,001 runs.\n"
        f"{LEGEND}\nregret: the VBS's reward minus the pick's.\n{exact_line(game, solve=True)} "
        f"{duration(time.monotonic() - begin)} in all.\n"
        "Next: source .venv/bin/activate; rlccfr solve leduc; rlccfr train leduc --seconds 1; rlccfr --help"
    )
    with progress("writing pages"):
        pages = {
            "the recommended algorithm's policy": _policy_page(game, found.cell, policy_page),
            "all measurements on it": _report(game, report_page),
        }
    for what, written in pages.items():
        if written is not None:
            print(f"In a browser, {what}: {written.resolve().as_uri()}")


def _listed(games: Sequence[str]) -> str:
    return f"{', '.join(games[:-1])} or {games[-1]}"


def _policy_page(game: str, cell: Cell, path: Path) -> Path:
    """Run the recommended algorithm, and write the page on which its policy is explored."""
    from rlccfr.explorer.pages import write_page
    from rlccfr.games.names import load_game
    from rlccfr.solver import Solver

    solver = Solver(load_game(game), *cell)
    solver.run(iterations=ITERATIONS, curve=False)
    write_page(solver.average_policy(), path)
    return path


def _report(game: str, path: Path) -> Path | None:
    """Write the report of the package's measurements on the game; None if the extra for reports is not installed."""
    from rlccfr.cli.commands.table import write_shipped_report

    try:
        write_shipped_report(game, path)
    except RLCCFRError:
        return None
    return path
