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
        tree: the game.
        solution: its solution.
        json: whether to print JSON.
        earlier: facts of the run before it, if there was one.
    """
    target = None if earlier is None else earlier["target"]
    facts: dict[str, Any] = {
        "game": tree.name,
        "method": "linear program",
        "exact": solution.exact,
        "caveat": solution.caveat or None,
        "rational": solution.rational,
        "exploitability": solution.exploitability,
        "nash_conv": 2 * solution.exploitability,
        "value": tree.opponent_payoffs.of_both(solution.value),
        "best_response_value": tree.opponent_payoffs.of_best_responses(solution.best_response),
        "cpu_seconds": solution.cpu_seconds,
        "target": target,
        "reached": None if target is None else solution.exploitability <= target,
        "run_before": earlier,
    }
    if json:
        print_json(facts)
        return
    measured = "NashConv / 2, measured by best responses"
    if solution.rational:
        measured += " in rational numbers"
    rows = [
        ("exploitability", solution.exploitability, measured),
        ("value of player 0", solution.value, f"of player 1: {tree.opponent_payoffs.at(solution.value):.4g}"),
        ("CPU seconds", solution.cpu_seconds, "of building and solving the program"),
    ]
    if earlier is not None:
        meaning = f"CPU seconds of iterations, which left an exploitability of {earlier['exploitability']:.3g}"
        rows.append(("before it", earlier["cpu_seconds"], meaning))
    print_table(("", "", ""), rows, title=f"{tree.name}: linear program")
    print(_exactness(solution))
    print("At infosets that equilibrium play never reaches, the policy's probabilities are one choice of many.")


def _exactness(solution: ExactSolution) -> str:
    """Return one sentence that says whether a solution is exact, or why not."""
    from rlccfr.engine.exactness import EXACT

    if solution.caveat:
        return f"{solution.caveat[0].upper()}{solution.caveat[1:]}."
    return f"Exact: the exploitability is at most {EXACT:g} of the payoffs' range."
