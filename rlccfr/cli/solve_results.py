"""How ``rlccfr solve`` prints the result of a run or of a linear program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rlccfr.cli.console import print_json, print_table
from rlccfr.cli.solve_run import Attempt, algorithm_of
from rlccfr.files import none_for_nan

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.game import Game
    from rlccfr.solution import Solution

LONGEST_TITLE = 80
"""Largest number of characters of a title."""

OPTIONAL_FACTS = (
    ("in mbb/g", "mbb", "thousandths of a big blind per game"),
    ("of the current policy", "exploitability_current", "NashConv / 2 of the last policy alone, not averaged"),
    (
        "inside the abstraction",
        "exploitability_abstract",
        "NashConv / 2 with best responses that play one policy per bucket",
    ),
    ("locked infosets", "locked_infosets", "where --lock has fixed the policy"),
)
"""Title, name and meaning of facts that not all runs have."""


def title_of(algorithms: list[Cell]) -> str:
    """Return the algorithms of a run, one after another; hyperparameters are left out if the line would be too long."""
    title = ", then ".join(str(algorithm) for algorithm in algorithms)
    if len(title) <= LONGEST_TITLE:
        return title
    without_hyperparameters = [
        " x ".join(component.partition("(")[0] for component in algorithm) for algorithm in algorithms
    ]
    return ", then ".join(without_hyperparameters)


def print_found(solution: Solution, json: bool) -> None:
    """Print a solution by :func:`rlccfr.solve`: a linear program's facts or a run's, with what was done and why."""
    reasons = {"why": solution.why, "cpu_seconds_by_part": solution.cpu_seconds}
    attempt = None
    algorithms = []
    if solution.solver is not None and solution.result is not None:
        attempt = Attempt(solution.solver, solution.result, solution.interrupted)
        algorithms = [algorithm_of(solution.solver)]
    if solution.method == "linear program":
        assert solution.program is not None
        earlier = None if attempt is None else _facts_of(attempt, algorithms)
        print_solution(solution.game, solution.program, json, earlier, target=solution.target, reasons=reasons)
    else:
        assert attempt is not None
        print_run(attempt, algorithms, json, reasons)


def print_run(attempt: Attempt, algorithms: list[Cell], json: bool, reasons: Mapping[str, Any] | None = None) -> None:
    """Print the facts of a run, and of the linear program after it if one was solved.

    Args:
        attempt: the run.
        algorithms: its algorithms.
        json: whether to print JSON.
        reasons: further facts: ``why``, and CPU seconds by part.
    """
    game = attempt.solver.game
    facts = _facts_of(attempt, algorithms) | dict(reasons or {})
    if attempt.solution is not None:
        print_solution(game, attempt.solution, json, facts)
    elif json:
        print_json(facts)
    else:
        _print_facts(facts, title_of(algorithms), _nodes_title(game, algorithms))


def _facts_of(attempt: Attempt, algorithms: list[Cell]) -> dict[str, Any]:
    """Return the facts of a finished run, by name."""
    solver = attempt.solver
    values = solver.values()
    result = attempt.result
    payoffs = solver.game.opponent_payoffs
    return {
        "game": solver.game.name,
        "method": "iterations",
        **solver.specs,
        "segments": [algorithm._asdict() for algorithm in algorithms],
        "seed": solver.seed,
        "output": solver.update_rule.output,
        "locked_infosets": _locked_infosets(solver.game),
        "exploitability": none_for_nan(result.exploitability),
        "exploitability_current": none_for_nan(result.exploitability_current),
        "exploitability_abstract": result.exploitability_abstract,
        "nash_conv": none_for_nan(result.nash_conv),
        "mbb": none_for_nan(in_blinds(solver.game, result.exploitability)),
        "value": [none_for_nan(value) for value in payoffs.of_both(values.game[0])],
        "best_response_value": [none_for_nan(value) for value in payoffs.of_best_responses(values.best_response)],
        "iterations": result.iterations,
        "nodes_touched": result.nodes_touched,
        "cpu_seconds": result.cpu_seconds,
        "blending_seconds": solver.blending_seconds,
        "throughput": result.throughput,
        "unfinished": result.unfinished,
        "target": result.target,
        "reached": result.reached if result.target is not None else None,
        "interrupted": attempt.interrupted,
    }


def in_blinds(game: Game, exploitability: float) -> float | None:
    """Return an exploitability in thousandths of a big blind; None in a game without blinds."""
    return None if game.big_blind is None else 1000 * exploitability / game.big_blind


def optional_rows(facts: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    """Return a row, of title, value and meaning, for each of :data:`OPTIONAL_FACTS` that the facts have."""
    # If the result is the current policy, its exploitability is in the table's first row already.
    told = "exploitability_current" if facts.get("output") == "current" else None
    return [
        (title, facts[name], meaning)
        for title, name, meaning in OPTIONAL_FACTS
        if facts.get(name) is not None and name != told
    ]


def _locked_infosets(game: Game) -> int | None:
    """Return the number of infosets whose policy a lock fixes; None without a lock."""
    return None if game.lock is None else game.lock.num_infosets


def _nodes_title(game: Game, algorithms: list[Cell]) -> str:
    """Return what ``nodes_touched`` counts in a run, which may go over the game and over buckets in turn.

    Runs over buckets, and walks that teach networks, touch histories, whatever the form of the game.
    """
    from rlccfr.games.flat_tree import COMPILED
    from rlccfr.registry import abstractions, update_rules

    visited = set()
    for algorithm in algorithms:
        abstraction = abstractions.resolve(algorithm.abstraction)
        over_buckets = abstraction.buckets is not None and not abstraction.responds
        touches_histories = over_buckets or update_rules.resolve(algorithm.update_rule).learns
        visited.add(COMPILED.visited if touches_histories else game.form.visited)
    return " and ".join(sorted(visited))


def _print_facts(facts: dict[str, Any], algorithm: str, nodes_touched: str) -> None:
    """Print facts as a table.

    Args:
        facts: the facts, from :func:`_facts_of`.
        algorithm: name of the algorithm or algorithms.
        nodes_touched: what ``nodes_touched`` counts.
    """
    target = "" if facts["target"] is None else f"; the target was {facts['target']:.4g}"
    unfinished = ", and part of an unfinished one" if facts["unfinished"] else ""
    blending = f"; blends took {facts['blending_seconds']:.3g}" if facts["blending_seconds"] else ""
    rows = [
        *_value_rows(facts, target),
        ("iterations", facts["iterations"], f"{facts['throughput']:,.0f} per engine CPU second{unfinished}"),
        ("engine CPU seconds", facts["cpu_seconds"], f"excluding loading, compiling and measuring{blending}"),
        (nodes_touched, facts["nodes_touched"], ""),
    ]
    title = f"{facts['game']}: {algorithm}"
    if facts["interrupted"]:
        title += ", interrupted"
    print_table(("", "", ""), rows, title=title)
    _print_why(facts)


def _value_rows(facts: Mapping[str, Any], target: str) -> list[tuple[str, Any, str]]:
    """Return rows on a policy's exploitability and values, or one row that says that they are not known."""
    if facts["exploitability"] is None:
        remedy = "`rlccfr solve --against` bounds it, and `rlccfr match --pairs` compares policies"
        return [("exploitability", "-", f"not known, since the game can't be compiled; {remedy}")]
    first_value, second_value = facts["value"]
    return [
        ("exploitability", facts["exploitability"], f"NashConv / 2 of the {facts['output']} policy{target}"),
        *optional_rows(facts),
        ("NashConv", facts["nash_conv"], "sum of both players' gains from best responses"),
        ("value of player 0", first_value, f"of player 1: {second_value:.4g}"),
    ]


def _print_why(facts: Mapping[str, Any]) -> None:
    """Print what was done and why, if the command chose the way."""
    if "why" in facts:
        print(f"Done by {facts['why']}.")


def print_solution(
    tree: Any,
    solution: ExactSolution,
    json: bool,
    earlier: Mapping[str, Any] | None = None,
    *,
    target: float | None = None,
    reasons: Mapping[str, Any] | None = None,
) -> None:
    """Print an exact solution's facts.

    Args:
        tree: the game.
        solution: its solution.
        json: whether to print JSON.
        earlier: facts of the run before it, if there was one.
        target: target of the command; by default that of the run before.
        reasons: further facts: ``why``, and CPU seconds by part.
    """
    if earlier is not None:
        target = earlier["target"]
    facts: dict[str, Any] = {
        "game": tree.name,
        "method": "linear program",
        "exact": solution.exact,
        "caveat": solution.caveat or None,
        "rational": solution.rational,
        "locked_infosets": _locked_infosets(tree),
        "exploitability": solution.exploitability,
        "nash_conv": 2 * solution.exploitability,
        "mbb": in_blinds(tree, solution.exploitability),
        "value": tree.opponent_payoffs.of_both(solution.value),
        "best_response_value": tree.opponent_payoffs.of_best_responses(solution.best_response),
        "cpu_seconds": solution.cpu_seconds,
        "target": target,
        "reached": None if target is None else solution.exploitability <= target,
        "run_before": earlier,
        **(reasons or {}),
    }
    if json:
        print_json(facts)
        return
    measure = "NashConv / 2, measured by best responses"
    if solution.rational:
        measure += " in rational numbers"
    rows = [
        ("exploitability", solution.exploitability, measure),
        *optional_rows(facts),
        ("value of player 0", solution.value, f"of player 1: {tree.opponent_payoffs.at(solution.value):.4g}"),
        ("CPU seconds", solution.cpu_seconds, "of building and solving the program"),
    ]
    if earlier is not None:
        meaning = f"their CPU seconds; they left an exploitability of {earlier['exploitability']:.3g}"
        rows.append(("iterations before", earlier["cpu_seconds"], meaning))
    print_table(("", "", ""), rows, title=f"{tree.name}: linear program")
    print(_exactness(solution))
    print("At infosets that equilibrium play never reaches, the policy is one of many that would do.")
    _print_why(facts)


def _exactness(solution: ExactSolution) -> str:
    """Return one sentence that says whether a solution is exact, or why not."""
    from rlccfr.engine.exactness import EXACT

    if solution.caveat:
        return f"{solution.caveat[0].upper()}{solution.caveat[1:]}."
    return f"Exact: the exploitability is at most {EXACT:g} of the payoffs' range."
