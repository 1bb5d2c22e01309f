"""The facts of a finished run, and how they are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlccfr.cli.attempts import Attempt
from rlccfr.cli.console import print_table
from rlccfr.games.flat_tree import GameTree
from rlccfr.registry import abstractions

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.games.public.kinds import Game
    from rlccfr.solver import Solver

LINE = 80
"""Longest title in characters."""

SOMETIMES = (
    ("in mbb/g", "mbb", "thousandths of a big blind per game"),
    (
        "inside the abstraction",
        "exploitability_abstract",
        "the same, with best responses of one policy per bucket",
    ),
)
"""Title, name and meaning of facts that not all runs have."""


def title_of(cells: list[Cell]) -> str:
    """Return the algorithms of a run, one after another, without hyperparameters if that is too long for a line."""
    whole = ", then ".join(str(cell) for cell in cells)
    if len(whole) <= LINE:
        return whole
    return ", then ".join(" x ".join(part.partition("(")[0] for part in cell) for cell in cells)


def facts_of(solver: Solver, cells: list[Cell], attempt: Attempt) -> dict[str, Any]:
    """Return the facts of a finished run, by name."""
    values, result = solver.values(), attempt.result
    payoffs = solver.game.opponent_payoffs
    return {
        "game": solver.game.name,
        "method": "iterations",
        **solver.specs,
        "segments": [cell._asdict() for cell in cells],
        "seed": solver.seed,
        "exploitability": result.exploitability,
        "exploitability_abstract": result.exploitability_abstract,
        "nash_conv": result.nash_conv,
        "mbb": None if solver.game.big_blind is None else 1000 * result.exploitability / solver.game.big_blind,
        "value": payoffs.of_both(values.game[0]),
        "best_response_value": payoffs.of_best_responses(values.best_response),
        "iterations": result.iterations,
        "nodes_touched": result.nodes_touched,
        "cpu_seconds": result.cpu_seconds,
        "throughput": result.throughput,
        "unfinished": result.unfinished,
        "target": result.target,
        "reached": result.reached if result.target is not None else None,
        "interrupted": attempt.interrupted,
    }


def counted_by(game: Game, cells: list[Cell]) -> str:
    """Return what ``nodes_touched`` counts in a run: histories, or over a public tree private states, or both."""
    if isinstance(game, GameTree):
        return "histories touched"
    used = [abstractions.resolve(cell.abstraction) for cell in cells]
    over_buckets = {one.buckets is not None and not one.responds for one in used}
    if len(over_buckets) > 1:
        return "histories touched and private states met"
    return "histories touched" if over_buckets == {True} else "private states met"


def print_facts(facts: dict[str, Any], algorithm: str, counted: str) -> None:
    """Print facts as a table.

    Args:
        counted: what ``nodes_touched`` counts.
    """
    first, second = facts["value"]
    target = "" if facts["target"] is None else f"; the target was {facts['target']:.4g}"
    unfinished = ", and walks of one that is not finished" if facts["unfinished"] else ""
    rows = [
        ("exploitability", facts["exploitability"], f"NashConv / 2 of the average policy{target}"),
        *((title, facts[name], meaning) for title, name, meaning in SOMETIMES if facts[name] is not None),
        ("NashConv", facts["nash_conv"], "sum of both players' gains from best responses"),
        ("value of player 0", first, f"of player 1: {second:.4g}"),
        ("iterations", facts["iterations"], f"{facts['throughput']:,.0f} per engine CPU second{unfinished}"),
        ("engine CPU seconds", facts["cpu_seconds"], "excluding loading, compiling and measuring"),
        (counted, facts["nodes_touched"], ""),
    ]
    print_table(("", "", ""), rows, title=f"{facts['game']}: {algorithm}" + (", interrupted" * facts["interrupted"]))
