"""``rlccfr demo``: a small example that trains a team live and judges its recommendation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlccfr.cli.checks import at_least
from rlccfr.cli.commands.compare import LEGEND, print_comparison
from rlccfr.cli.console import RUNS, load
from rlccfr.cli.options import EVALUATIONS as EVALUATIONS_HELP
from rlccfr.cli.options import Seed
from rlccfr.cli.progress import duration, progress
from rlccfr.errors import RLCCFRError
from rlccfr.files import require_writable

if TYPE_CHECKING:
    from rlccfr.agents.team.recommendation import Recommendation
    from rlccfr.agents.team.team import SelectorTeam
    from rlccfr.catalog import Cell
    from rlccfr.envs.measuring.live import LiveEvaluator

GAMES = ("kuhn", "leduc", "goofspiel")
"""Games that the demo can train on; all are measured, since the single best solver (SBS) needs several games."""

# As in `make demo`; a benchmark repeats these.
GAME = "kuhn"
PRESET = "paper-kuhn"
EVALUATIONS = 24

ITERATIONS = 1000
"""Budget of each run."""


def demo(
    game: Annotated[str, typer.Argument(help=f"The game to train on: {_listed(GAMES)}.")] = GAME,
    evaluations: Annotated[int, typer.Option(help=EVALUATIONS_HELP, callback=at_least(1))] = EVALUATIONS,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Directory for the pages.")] = RUNS / "demo",
) -> None:
    """Train a team on a small game, and judge what it recommends.

    The team learns from runs that it makes itself, and is judged by the runs of all algorithms.
    """
    from rlccfr.games.names import short_name

    begin = time.monotonic()
    game = short_name(game)
    if game not in GAMES:
        raise RLCCFRError(f"the demo trains on {_listed(GAMES)}, not on {game!r}; for other games, use `rlccfr train`")
    policy_page = out / f"{game}.html"
    report_page = out / "report.html"
    for page in (policy_page, report_page):
        require_writable(page)
    for name in GAMES:  # all, since the SBS is the best on average over the others
        load(name)
    with progress("starting"):  # torch takes a moment
        evaluator, team = _new_team(game, seed)
    _train(team, game, evaluations)
    recommendation = team.recommend()
    _print_recommendation(recommendation)
    _judge(team, game, evaluator)
    print(
        f"{duration(time.monotonic() - begin)} in all.\n"
        "Next: source .venv/bin/activate; rlccfr solve leduc; rlccfr train leduc --seconds 1; rlccfr --help"
    )
    with progress("writing pages"):
        _write_policy_page(game, recommendation.cell, policy_page)
        has_report = _write_report(game, report_page)
    print(f"In a browser, the recommended algorithm's policy: {policy_page.resolve().as_uri()}")
    if has_report:
        print(f"In a browser, all measurements on it: {report_page.resolve().as_uri()}")


def _listed(games: Sequence[str]) -> str:
    return f"{', '.join(games[:-1])} or {games[-1]}"


def _new_team(game: str, seed: int) -> tuple[LiveEvaluator, SelectorTeam]:
    """Return an evaluator, and an untrained team for a game; the evaluator makes the team's measurements."""
    from rlccfr.agents.team.team import SelectorTeam
    from rlccfr.envs.measuring.live import LiveEvaluator

    evaluator = LiveEvaluator()
    limit = {"unit": "iterations", "amount": ITERATIONS}
    # The paper's algorithms without networks: a user can wait while all of them are measured on three games.
    team = SelectorTeam(game, limit, preset=f"paper-{game}", catalog="tabular", evaluator=evaluator, seed=seed)
    return evaluator, team


def _train(team: SelectorTeam, game: str, evaluations: int) -> None:
    print(
        f"Three DQN agents learn to pick a CFR algorithm for {game}: {ITERATIONS:,} iterations a run, weights "
        f"{team.env.preset}.\nThey may measure {evaluations} of the {len(team.catalog)} tabular algorithms."
    )
    with progress("training") as report:
        team.train(evaluations, progress=report)


def _print_recommendation(recommendation: Recommendation) -> None:
    """Print the components that the agents pick, and what they achieve together."""
    from rlccfr.catalog import AXES

    print("\nThe agents recommend (each has its own weights of error and speed; they learn the mean of the rewards)")
    for agent, axis, id, reward in zip("ABC", AXES, recommendation.cell, recommendation.rewards, strict=True):
        print(f"  {agent}  {axis.replace('_', ' '):12}  {id:17}  reward {reward:.3f}")
    print(
        f"  exploitability {recommendation.exploitability:.3g}, throughput {recommendation.throughput:,.0f} "
        f"iterations/s, mean reward {recommendation.mean_reward:.3f}\n"
    )


def _judge(team: SelectorTeam, game: str, evaluator: LiveEvaluator) -> None:
    """Measure all algorithms on the demo's games, and print how the pick for ``game`` compares with the baselines."""
    import pandas as pd

    from rlccfr.agents.baselines.task import Task
    from rlccfr.agents.judging.bench import Bench
    from rlccfr.agents.judging.evidence import Evidence
    from rlccfr.agents.judging.exact_reference import exact_line
    from rlccfr.agents.judging.recommendation_table import RANDOM

    env = team.env
    # VBS and SBS need every algorithm's run on every game.
    evidence = {}
    for name in GAMES:
        with progress(f"measuring all {len(team.catalog)} on {name}, for comparison") as report:
            evidence[name] = Evidence.measured(evaluator, env.catalog, name, env.budget, progress=report)
    bench = Bench(Task(evaluator, env.catalog, game, env.budget, env.preset), evidence)
    comparison = pd.DataFrame(bench.rows(team))
    print_comparison(f"{game}, {env.budget}, preset {env.preset}", comparison)
    random_search = ""
    if RANDOM in set(comparison["method"]):  # a search that would measure every algorithm has no row
        random_search = (
            f"Random search measures {team.evaluations} algorithms, too; its row is the median of 1,001 searches.\n"
        )
    other_games = [name for name in GAMES if name != game]
    print(
        f"VBS, the virtual best solver, is the best of all {len(team.catalog)}; SBS, the single best, is the best on "
        f"average over {' and '.join(other_games)}.\n{random_search}"
        f"{LEGEND}\nregret: the VBS's reward minus the pick's.\n{exact_line(game, solve=True)}",
        end=" ",
    )


def _write_policy_page(game: str, algorithm: Cell, path: Path) -> None:
    """Run the recommended algorithm, and write the page on which its policy is explored."""
    from rlccfr.explorer.pages import write_page
    from rlccfr.games.names import load_game
    from rlccfr.solver import Solver

    solver = Solver(load_game(game), *algorithm)
    solver.run(iterations=ITERATIONS, curve=False)
    write_page(solver.average_policy(), path)


def _write_report(game: str, path: Path) -> bool:
    """Write the report of the package's measurements on the game; False if the extra for reports is not installed."""
    from rlccfr.cli.commands.table import write_shipped_report

    try:
        write_shipped_report(game, path)
    except RLCCFRError:
        return False
    return True
