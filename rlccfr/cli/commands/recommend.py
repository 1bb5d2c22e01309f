"""``rlccfr recommend``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import (
    RUNS,
    Iterations,
    Json,
    Nodes,
    ScaleName,
    Seconds,
    StorePath,
    budget,
    called,
    load,
    print_json,
    print_table,
    quoted,
)
from rlccfr.cli.progress import progress
from rlccfr.cli.team_directory import team_command, trained_directory
from rlccfr.errors import CheckpointError, RLCCFRError

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam
    from rlccfr.catalog import Cell
    from rlccfr.envs.measuring.request import Budget
    from rlccfr.envs.reward import Preset


LONGEST_PROGRAM = 600.0
"""Predicted CPU seconds up to which a linear program is worth mentioning."""


def recommend(
    game: Annotated[str, typer.Argument(help="A game's name or OpenSpiel string, trained on or not.")],
    iterations: Iterations = None,
    seconds: Seconds = None,
    nodes: Nodes = None,
    preset: Annotated[str | None, typer.Option(help="Weights of the reward. [accuracy, or a team's own]")] = None,
    scale: ScaleName = None,
    catalog: Annotated[
        str | None,
        typer.Option(
            help="Algorithms that the package chooses from: paper, tabular, extended-tabular or public. [all measured]"
        ),
    ] = None,
    team: Annotated[
        Path | None,
        typer.Option(
            help="Ask a team of your own: the directory that `rlccfr train` wrote.",
            show_default=False,
        ),
    ] = None,
    shipped: Annotated[bool, typer.Option("--shipped", hidden=True, help="Ask the package, the default.")] = False,
    measure: Annotated[
        str | None,
        typer.Option(help="Run the best few algorithms on the game for so long each, such as 10s; name the winner."),
    ] = None,
    store: StorePath = RUNS / "store",
    json: Json = False,
) -> None:
    """Say which algorithm to take for a game.

    The package answers from its measurements, and says how sure it is. The budget is one CPU second by default, or
    sixty on hold'em and Bluff. For a measured game, such as kuhn, leduc or holdem, the answer is the best measured
    algorithm, or with --catalog paper the pick of the game's team. For another game, it is the pick of the chooser that
    did best on games from which it had not learned, or of the best algorithm of the training games where that did
    better. For other games of hold'em and Bluff, it is the best algorithm of the measured games of hold'em.

    With --team, a team of your own picks an algorithm instead, and measures it, by default for the budget that the team
    was trained on. It keeps its measurements in --store.

    With --measure, the recommended algorithm and the best ones of other games run here, and the winner is named. These
    measurements, too, are kept in --store, and the same command does not repeat them.
    """
    has_budget = (iterations, seconds, nodes) != (None, None, None)
    race_seconds = None if measure is None else _seconds(measure)
    _refuse_contradictions(team, shipped, has_budget, race_seconds)
    limit = budget(iterations, seconds, nodes) if has_budget else None
    load(game)
    if team is not None:
        _refuse_catalog_of_team(team, catalog)
        _ask_team(team, game, limit, preset, scale, store, json)
        return
    from rlccfr.envs.episode import parse_preset

    weights = parse_preset(preset or "accuracy", scale)
    if race_seconds is not None:
        _race(game, race_seconds, weights, catalog, store, json)
    else:
        _ask_package(game, limit, weights, catalog, json)
    if not json and (directory := trained_directory(game, limit, preset, scale)) is not None:
        print(f"your team in {directory} knows the game, too: {team_command(game, directory)}")


def _seconds(text: str) -> float:
    """Return the number of seconds that a text such as ``10s`` or ``2.5`` stands for."""
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise RLCCFRError(f"--measure takes CPU seconds, such as 10s, not {text!r}")
    return seconds


def _refuse_contradictions(team: Path | None, shipped: bool, has_budget: bool, race_seconds: float | None) -> None:
    """Refuse options that ask both the package and a team, or give two budgets."""
    if race_seconds is not None and (team is not None or has_budget):
        raise RLCCFRError("--measure asks the package, and is a budget itself: leave out --team and other budgets")
    if shipped and team is not None:
        raise RLCCFRError("--shipped asks the package and --team a team of your own: give one of them")


def _refuse_catalog_of_team(team: Path, catalog: str | None) -> None:
    if catalog is not None:
        raise RLCCFRError(
            f"the team in {team} picks from the catalog that it was trained on: leave out --catalog, or --team to ask "
            "the package"
        )


def _ask_package(game: str, limit: dict[str, Any] | None, preset: Preset, catalog: str | None, json: bool) -> None:
    """Print what the package recommends from its measurements."""
    with progress("asking the package"):
        from rlccfr.agents.shipped.advice import recommend

        advice = recommend(game, limit, preset, catalog)
    if json:
        print_json(advice.to_row())
        return
    print(advice)
    _print_solve_command(game, [advice.cell], advice.budget)
    if advice.basis == "best measured":
        _print_evidence(game, advice.cell)
    _print_exact(game, advice.budget)


def _print_evidence(game: str, algorithm: Cell) -> None:
    """Print a command that shows the measurements of the first catalog that contains the algorithm."""
    from rlccfr.envs.episode import parse_catalog
    from rlccfr.games.public.names import is_public

    names = ("public",) if is_public(game) else ("paper", "extended-tabular")
    catalog = next(name for name in names if algorithm in set(parse_catalog(name).with_networks("sweep")))
    print(f"its measurements: {' '.join([*called(), 'insights', quoted(game)])} --catalog {catalog}")


def _race(game: str, seconds: float, preset: Preset, catalog: str | None, store: Path, json: bool) -> None:
    """Run the recommended algorithm and the best ones of other games, and print which has won.

    Args:
        game: name of the game.
        seconds: budget of each run, in CPU seconds.
        preset: weights of the reward.
        catalog: catalog of the algorithms that may run; by default all that were measured.
        store: directory that keeps the measurements.
        json: whether to print JSON.
    """
    from rlccfr.agents.shipped.advice import raced, recommend
    from rlccfr.envs.episode import parse_catalog
    from rlccfr.envs.measuring.compiled_games import compiled
    from rlccfr.envs.measuring.live import LiveEvaluator
    from rlccfr.envs.measuring.request import Budget

    with progress("running the best few") as report:
        evaluator = LiveEvaluator(store)
        algorithms = None if catalog is None else parse_catalog(catalog)
        advice_before = recommend(game, Budget("seconds", seconds), preset, catalog, evaluator)
        advice = raced(advice_before, seconds, evaluator, algorithms, report)
    if json:
        print_json(advice.to_row())
        return
    assert advice.race is not None
    table = advice.race.rename(columns={"cell": "algorithm", "throughput": "iterations/s"})
    if big_blind := compiled(game).big_blind:
        table.insert(2, "mbb/g", 1000 * table["exploitability"] / big_blind)
    print_table(tuple(table.columns), [list(row) for row in table.itertuples(index=False)])
    print(advice)
    _print_solve_command(game, [advice.cell], advice.budget)
    _print_exact(game, advice.budget)


def _team_in(directory: Path, game: str, store: Path) -> SelectorTeam:
    """Return the team in a directory; an error says that the package could be asked, too."""
    from rlccfr.agents.team.team import SelectorTeam

    try:
        if not directory.exists():
            raise CheckpointError(f"there is no team at {directory}; train one with `rlccfr train '{game}'`")
        return SelectorTeam.load(directory, evaluator=store)
    except CheckpointError as error:
        raise CheckpointError(f"{error}. Or ask the package: leave out --team") from None


def _ask_team(
    directory: Path,
    game: str,
    limit: dict[str, Any] | None,
    preset: str | None,
    scale: str | None,
    store: Path,
    json: bool,
) -> None:
    """Print what a team of the user's picks, and what speaks against relying on it.

    Raises:
        CheckpointError: there is no team in the directory, or it can't be read.
    """
    with progress("asking the team"):
        from rlccfr.agents.judging.caveats import caveats, situations
        from rlccfr.envs.episode import parse_preset

        team = _team_in(directory, game, store)
        weights = parse_preset(team.env.presets[0] if preset is None else preset, scale)
        recommendation = team.recommend(game, limit, weights)
        num_evaluations = team.cost[0]
        num_situations = situations(team)
        cautions = caveats(team, recommendation, weights)
    if json:
        about_team = {
            "team": str(directory),
            "evaluations": num_evaluations,
            "situations": num_situations,
            "caveats": cautions,
        }
        print_json(recommendation.to_row() | about_team)
        return
    print(recommendation)
    experience = f"{num_evaluations:,} evaluations over "
    experience += "1 situation" if num_situations == 1 else f"{num_situations:,} situations"
    print(f"picked by the team in {directory}, which has learned from {experience} (game, budget, weights)")
    for caution in cautions:
        print(f"caution: {caution}")
    _print_solve_command(game, recommendation.cells, recommendation.budget, team.env.engine_seeds[0])
    _print_exact(game, recommendation.budget)


def _print_exact(game: str, budget: Budget) -> None:
    """Say how soon a linear program would solve the game, and whether that is within a budget of seconds."""
    from rlccfr.engine.linear_program import predicted_time
    from rlccfr.envs.measuring.compiled_games import compiled
    from rlccfr.games.flat_tree import GameTree

    tree = compiled(game)
    if not isinstance(tree, GameTree):  # only compiled games have a linear program
        return
    predicted = predicted_time(tree)
    if predicted.seconds > LONGEST_PROGRAM:
        return
    is_within_budget = budget.unit == "seconds" and predicted.seconds <= budget.amount
    alternative = "better" if is_within_budget else "or"
    command = " ".join([*called(), "solve", quoted(game), "--exact"])
    print(
        f"{alternative} solve it exactly by a linear program, in about {predicted}, as predicted from its size: "
        f"{command}"
    )


def _print_solve_command(game: str, algorithms: Sequence[Cell], budget: Budget, seed: int = 0) -> None:
    """Print a command that runs the pick: the loaded components, each segment's algorithm, and the engine seed."""
    first, *later = algorithms
    words = [*called(), "solve", quoted(game)]
    for axis, component in first._asdict().items():
        words += [f"--{axis.replace('_', '-')}", quoted(component)]
    for algorithm in later:
        words += ["--then", quoted(str(algorithm))]
    amount = f"{budget.amount:.15g}" if budget.unit == "seconds" else str(int(budget.amount))
    words += [f"--{budget.unit}", amount]
    if seed:
        words.append(f"--seed {seed}")
    print(f"run it: {' '.join(words)}")
