"""``rlccfr solve``."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import (
    Interrupted,
    Iterations,
    Json,
    Nodes,
    Seconds,
    Seed,
    budget,
    load,
    print_json,
    print_table,
    progress,
)
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.result import RunResult
    from rlccfr.solver import Solver

COMPONENT_HELP = "An id of `rlccfr catalog`, with hyperparameters if need be: "


def solve(
    game: Annotated[str, typer.Argument(help="kuhn, leduc, royal, goofspiel or an OpenSpiel string.")],
    update_rule: Annotated[str, typer.Option(help=COMPONENT_HELP + '"dcfr(gamma=3)".')] = "cfr_plus",
    sampler: Annotated[str, typer.Option(help=COMPONENT_HELP + '"outcome(exploration=0.4)".')] = "none",
    abstraction: Annotated[str, typer.Option(help=COMPONENT_HELP + "cfr_br.")] = "none",
    iterations: Iterations = None,
    seconds: Seconds = None,
    nodes: Nodes = None,
    seed: Seed = 0,
    averaging: Annotated[str, typer.Option(help="matching, or pre as in OpenSpiel (exact passes).")] = "matching",
    simultaneous: Annotated[bool, typer.Option(help="Update both players at once, not in alternation.")] = False,
    walks: Annotated[int, typer.Option(help="Walks of each player an iteration.")] = 1,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Go on from this file if it is there; written at the end and on Ctrl-C.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="Write the average policy to this CSV file.")] = None,
    curve: Annotated[Path | None, typer.Option(help="Write the convergence curve to this CSV file.")] = None,
    json: Json = False,
) -> None:
    """Solve a game with one algorithm, and print how good the average policy is."""
    limit = budget(iterations, seconds, nodes)
    components = {
        "update_rule": parse_component(update_rule),
        "sampler": parse_component(sampler),
        "abstraction": parse_component(abstraction),
    }
    options = {"seed": seed, "averaging": averaging, "simultaneous": simultaneous, "walks": walks}
    solver = _solver(game, components, options, checkpoint)
    interrupted = False
    try:
        with progress(f"solving {game}") as report:
            result = solver.run(**{limit["unit"]: limit["amount"]}, progress=report)
    except KeyboardInterrupt:  # an engine call has ended: the tables are whole
        interrupted, result = True, solver.result()
    if checkpoint is not None:
        solver.save(checkpoint)
    if policy is not None:
        _write_csv(policy, solver.average_policy().to_frame())
    if curve is not None:
        _write_csv(curve, result.curve)
    facts = _facts(solver, result, interrupted)
    if json:
        print_json(facts)
    else:
        _print(facts)
    if interrupted:
        kept = f"; {checkpoint} has it all, and the same command goes on" if checkpoint else ""
        raise Interrupted(f"interrupted after {result.iterations:,} iterations{kept}")


def parse_component(text: str) -> dict[str, Any]:
    """``"dcfr(gamma=3)"`` as ``{"id": "dcfr", "gamma": 3}``.

    Raises:
        ComponentError: not of that form.
    """
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Name):
            return {"id": call.id}
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            return {"id": call.func.id, **{str(k.arg): ast.literal_eval(k.value) for k in call.keywords}}
    except (SyntaxError, ValueError):
        pass
    raise ComponentError(f'a component looks like dcfr or "dcfr(alpha=1.5, gamma=2)", not {text!r}')


def _solver(game: str, components: dict[str, Any], options: dict[str, Any], checkpoint: Path | None) -> Solver:
    tree = load(game)
    from rlccfr.solver import Solver

    fresh = Solver(tree, **components, **options)
    if checkpoint is None or not checkpoint.exists():
        return fresh
    saved = Solver.load(checkpoint)
    if repr(_settings(saved)) != repr(_settings(fresh)):
        raise CheckpointError(f"{checkpoint} is of another run ({saved!r}); name another --checkpoint")
    return saved


def _settings(solver: Solver) -> list[Any]:
    parts = [part.spec for part in (solver.update_rule, solver.sampler, solver.abstraction)]
    return [solver.game.content_hash, *parts, solver.seed, solver.averaging, solver.simultaneous, solver.walks]


def _write_csv(path: Path, frame: pd.DataFrame) -> None:
    from rlccfr.checkpoint import write_atomically

    write_atomically(path, frame.to_csv(index=False).encode(), RLCCFRError)


def _facts(solver: Solver, result: RunResult, interrupted: bool) -> dict[str, Any]:
    values = solver.values()
    parts = {"update_rule": solver.update_rule, "sampler": solver.sampler, "abstraction": solver.abstraction}
    return {
        "game": solver.game.name,
        **{axis: part.spec for axis, part in parts.items()},
        "seed": solver.seed,
        "exploitability": result.exploitability,
        "nash_conv": result.nash_conv,
        "value": values.game,
        "best_response_value": values.best_response,
        "iterations": result.iterations,
        "nodes_touched": result.nodes_touched,
        "cpu_seconds": result.cpu_seconds,
        "throughput": result.throughput,
        "interrupted": interrupted,
    }


def _print(facts: dict[str, Any]) -> None:
    cell = " x ".join(facts[axis]["id"] for axis in ("update_rule", "sampler", "abstraction"))
    first, second = facts["value"]
    rows = [
        ("exploitability", facts["exploitability"], "NashConv / 2 of the average policy"),
        ("NashConv", facts["nash_conv"], "what both gain together by best responses"),
        ("value of player 0", first, f"of player 1: {second:.4g}"),
        ("iterations", facts["iterations"], f"{facts['throughput']:,.0f} per engine CPU second"),
        ("engine CPU seconds", facts["cpu_seconds"], "loading, compiling and measuring left out"),
        ("histories touched", facts["nodes_touched"], ""),
    ]
    print_table(("", "", ""), rows, title=f"{facts['game']}: {cell}" + (", interrupted" * facts["interrupted"]))
