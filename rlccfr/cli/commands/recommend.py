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
    from rlccfr.catalog import Cell
    from rlccfr.envs.measuring.request import Budget
    from rlccfr.envs.reward import Preset


LONGEST = 600.0
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
    race = None if measure is None else _seconds(measure)
    if race is not None and (team is not None or (iterations, seconds, nodes) != (None, None, None)):
        raise RLCCFRError("--measure asks the package, and is a budget itself: leave out --team and other budgets")
    if shipped and team is not None:
        raise RLCCFRError("--shipped asks the package and --team a team of your own: give one of them")
    limit: dict[str, Any] | None = None
    if (iterations, seconds, nodes) != (None, None, None):
        limit = budget(iterations, seconds, nodes)
    load(game)
    if team is not None and catalog is not None:
        raise RLCCFRError(
            f"the team in {team} picks from the catalog that it was trained on: leave out --catalog, or --team to ask "
            "the package"
        )
    if team is not None:
        try:
            _ask(team, game, limit, preset, scale, store, json)
        except CheckpointError as error:
            raise CheckpointError(f"{error}. Or ask the package: leave out --team") from None
        return
    from rlccfr.envs.episode import parse_preset

    weights = parse_preset(preset or "accuracy", scale)
    if race is not None:
        _race(game, race, weights, catalog, store, json)
    else:
        _advise(game, limit, weights, catalog, json)
    if not json and (directory := trained_directory(game, limit, preset, scale)) is not None:
        print(f"your team in {directory} knows the game, too: {team_command(game, directory)}")


def _advise(game: str, limit: dict[str, Any] | None, preset: Preset, catalog: str | None, json: bool) -> None:
    with progress("asking the package"):
        from rlccfr.agents.shipped.advice import recommend

        found = recommend(game, limit, preset, catalog)
    if json:
        print_json(found.to_row())
        return
    print(found)
    _print_call(game, [found.cell], found.budget)
    if found.basis == "best measured":
        _print_evidence(game, found.cell)
    _print_exact(game, found.budget)


def _print_evidence(game: str, cell: Cell) -> None:
    """Print a command that shows the measurements of the first catalog that contains the algorithm."""
    from rlccfr.envs.episode import parse_catalog
    from rlccfr.games.public.names import is_public

    names = ("public",) if is_public(game) else ("paper", "extended-tabular")
    catalog = next(name for name in names if cell in set(parse_catalog(name).with_networks("sweep")))
    print(f"its measurements: {' '.join([*called(), 'insights', quoted(game)])} --catalog {catalog}")


def _seconds(text: str) -> float:
    """Return the number of seconds that a text such as ``10s`` or ``2.5`` stands for."""
    try:
        found = float(text.removesuffix("s"))
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise RLCCFRError(f"--measure takes CPU seconds, such as 10s, not {text!r}")
    return found


def _race(game: str, seconds: float, preset: Preset, catalog: str | None, store: Path, json: bool) -> None:
    from rlccfr.agents.shipped.advice import raced, recommend
    from rlccfr.envs.episode import parse_catalog
    from rlccfr.envs.measuring.compiled_games import compiled
    from rlccfr.envs.measuring.live import LiveEvaluator
    from rlccfr.envs.measuring.request import Budget

    with progress("running the best few") as report:
        runs = LiveEvaluator(store)
        within = None if catalog is None else parse_catalog(catalog)
        advice = recommend(game, Budget("seconds", seconds), preset, catalog, runs)
        found = raced(advice, seconds, runs, within, report)
    if json:
        print_json(found.to_row())
        return
    assert found.race is not None
    shown = found.race.rename(columns={"cell": "algorithm", "throughput": "iterations/s"})
    if big_blind := compiled(game).big_blind:
        shown.insert(2, "mbb/g", 1000 * shown["exploitability"] / big_blind)
    print_table(tuple(shown.columns), [list(row) for row in shown.itertuples(index=False)])
    print(found)
    _print_call(game, [found.cell], found.budget)
    _print_exact(game, found.budget)


def _ask(
    directory: Path,
    game: str,
    limit: dict[str, Any] | None,
    preset: str | None,
    scale: str | None,
    store: Path,
    json: bool,
) -> None:
    if not directory.exists():
        raise CheckpointError(f"there is no team at {directory}; train one with `rlccfr train '{game}'`")
    with progress("asking the team"):
        from rlccfr.agents.judging.caveats import caveats, situations
        from rlccfr.agents.team.team import SelectorTeam
        from rlccfr.envs.episode import parse_preset

        asked = SelectorTeam.load(directory, evaluator=store)
        weights = parse_preset(asked.env.presets[0] if preset is None else preset, scale)
        found, learned_from, met = asked.recommend(game, limit, weights), asked.cost[0], situations(asked)
        against = caveats(asked, found, weights)
    if json:
        about = {"team": str(directory), "evaluations": learned_from, "situations": met, "caveats": against}
        print_json(found.to_row() | about)
        return
    print(found)
    over = "1 situation" if met == 1 else f"{met:,} situations"
    learned = f"has learned from {learned_from:,} evaluations over {over} (game, budget, weights)"
    print(f"picked by the team in {directory}, which {learned}")
    for line in against:
        print(f"caution: {line}")
    _print_call(game, found.cells, found.budget, asked.env.engine_seeds[0])
    _print_exact(game, found.budget)


def _print_exact(game: str, budget: Budget) -> None:
    """Say how soon a linear program would solve the game, and whether that is within a budget of seconds."""
    from rlccfr.engine.linear_program import predicted_time
    from rlccfr.envs.measuring.compiled_games import compiled
    from rlccfr.games.public.view import PublicGame

    tree = compiled(game)
    if isinstance(tree, PublicGame):  # it has no linear program here
        return
    predicted = predicted_time(tree)
    if predicted.seconds > LONGEST:
        return
    within = budget.unit == "seconds" and predicted.seconds <= budget.amount
    call = " ".join([*called(), "solve", quoted(game), "--exact"])
    way = "better" if within else "or"
    print(f"{way} solve it exactly by a linear program, in about {predicted}, as predicted from its size: {call}")


def _print_call(game: str, cells: Sequence[Cell], budget: Budget, seed: int = 0) -> None:
    """Print a command that runs the pick: the loaded components, each segment's algorithm, and the engine seed."""
    first, *others = cells
    words = [*called(), "solve", quoted(game)]
    for axis, id in first._asdict().items():
        words += [f"--{axis.replace('_', '-')}", quoted(id)]
    for cell in others:
        words += ["--then", quoted(str(cell))]
    whole = budget.unit != "seconds"
    words += [
        f"--{budget.unit}",
        str(int(budget.amount)) if whole else f"{budget.amount:.15g}",
        *([f"--seed {seed}"] if seed else []),
    ]
    print(f"run it: {' '.join(words)}")
