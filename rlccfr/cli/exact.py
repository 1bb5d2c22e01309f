"""``rlccfr solve`` by a linear program: from the start, or once that is predicted to be sooner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rlccfr.cli.console import print_json, print_table, progress
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.games.flat_tree import GameTree
    from rlccfr.result import RunResult
    from rlccfr.solver import Solver

ALLOWED = {"game", "exact", "seconds", "policy", "max_histories", "json"}
"""Parameters of ``rlccfr solve`` that mean something beside ``--exact``."""

LEAST_STRETCH = 0.01
"""CPU seconds of the first stretch of a run, after which its time to the target is predicted."""


def check_alone(context: typer.Context) -> None:
    """Refuse options that a linear program has no use for.

    Raises:
        RLCCFRError: one is given beside ``--exact``.
    """
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in ALLOWED and source is not None and source.name == "COMMANDLINE":
            option = name.replace("_", "-")
            raise RLCCFRError(f"--exact solves a linear program, which takes no --{option}: leave out one of them")


def solve_and_print(tree: GameTree, seconds: float | None, policy: Path | None, json: bool) -> None:
    """Solve a game by a linear program, write its policy, and print the facts."""
    solution = solved(tree, seconds)
    try:
        if policy is not None:
            solution.policy.save(policy)
    finally:  # a full disk must not lose the results
        report_solution(tree, solution, json)


def solved(tree: GameTree, seconds: float | None = None) -> ExactSolution:
    """Solve a game by a linear program, with a progress bar."""
    from rlccfr.engine.linear_program import predicted_time, solve_exactly

    with progress(f"solving {tree.name}: a linear program, predicted {predicted_time(tree)}") as report:
        return solve_exactly(tree, seconds=seconds, progress=report)


def report_solution(
    tree: GameTree, solution: ExactSolution, json: bool, earlier: Mapping[str, Any] | None = None
) -> None:
    """Print an exact solution's facts.

    Args:
        earlier: facts of the run before it, if there was one.
    """
    values = solution.policy.values()
    facts: dict[str, Any] = {
        "game": tree.name,
        "method": "linear program",
        "exploitability": values.exploitability,
        "nash_conv": values.nash_conv,
        "value": values.game,
        "best_response_value": values.best_response,
        "cpu_seconds": solution.cpu_seconds,
        "run_before": earlier,
    }
    if json:
        print_json(facts)
        return
    rows = [
        ("exploitability", facts["exploitability"], "NashConv / 2, measured by best responses"),
        ("value of player 0", values.game[0], f"of player 1: {values.game[1]:.4g}"),
        ("CPU seconds", solution.cpu_seconds, "of building and solving the program"),
    ]
    if earlier is not None:
        spent, left = earlier["cpu_seconds"], earlier["exploitability"]
        rows.append(
            ("before it", spent, f"engine CPU seconds of iterations, which left an exploitability of {left:.3g}")
        )
    print_table(("", "", ""), rows, title=f"{tree.name}: linear program")


def reach(
    solver: Solver, target: str, limit: Mapping[str, Any] | None, any_way: bool, report: Callable[[float], None]
) -> RunResult:
    """Run to a target; if ``any_way``, at most until a linear program is predicted to be sooner.

    This is predicted after stretches that double in length.

    Args:
        limit: budget as of :func:`rlccfr.cli.console.budget`, or None.
    """
    from rlccfr.engine.linear_program import predicted_time
    from rlccfr.limits import seconds_left, target_of

    goal = target_of(solver.game, target)
    if not any_way:
        most = {} if limit is None else {limit["unit"]: limit["amount"]}
        return solver.run(until=goal, progress=report, **most)
    by_program = predicted_time(solver.game).seconds
    stretch = max(LEAST_STRETCH, by_program / 10)
    while True:
        result = solver.run(until=goal, seconds=stretch)
        if result.reached or by_program < seconds_left(result.points, goal):
            return result
        stretch = max(stretch, result.cpu_seconds)


def missed(result: RunResult, limited: bool) -> str:
    """Return what to say of a run that ended above its target."""
    reached = f"the target {result.target:.4g} was not reached: the exploitability is {result.exploitability:.4g}"
    if limited:
        return f"{reached} after the budget; give a larger one, another algorithm, or --exact"
    return f"{reached}, and ten times as many iterations have hardly lowered it; take another algorithm, or --exact"
