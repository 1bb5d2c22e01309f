"""``rlccfr solve`` by a linear program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlccfr.cli.console import print_json, print_table
from rlccfr.cli.progress import progress

if TYPE_CHECKING:
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.games.flat_tree import GameTree

ALLOWED = {"game", "exact", "seconds", "policy", "max_histories", "json"}
"""Parameters of ``rlccfr solve`` that may be given with ``--exact``."""


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
    target = None if earlier is None else earlier["target"]
    facts: dict[str, Any] = {
        "game": tree.name,
        "method": "linear program",
        "exploitability": values.exploitability,
        "nash_conv": values.nash_conv,
        "value": values.game,
        "best_response_value": values.best_response,
        "cpu_seconds": solution.cpu_seconds,
        "target": target,
        "reached": None if target is None else values.exploitability <= target,
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
        rows.append(("before it", spent, f"CPU seconds of iterations, which left an exploitability of {left:.3g}"))
    print_table(("", "", ""), rows, title=f"{tree.name}: linear program")
    print("At infosets that equilibrium play never reaches, the policy's probabilities are one choice of many.")
