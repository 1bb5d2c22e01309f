"""``rlccfr solve``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import (
    Interrupted,
    Iterations,
    Json,
    MaxHistories,
    Nodes,
    Seconds,
    Seed,
    budget,
    load,
    print_json,
    print_table,
    progress,
    stderr,
)
from rlccfr.cli.training_display import solving
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.games.flat_tree import GameTree
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
        Path | None,
        typer.Option(help="Go on from this file if it is there; written now and then, at the end and on Ctrl-C."),
    ] = None,
    checkpoint_every: Annotated[float, typer.Option(help="Seconds between two writings of the checkpoint.")] = 60.0,
    policy: Annotated[Path | None, typer.Option(help="Write the average policy to this CSV file.")] = None,
    curve: Annotated[Path | None, typer.Option(help="Write the convergence curve to this CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the convergence curve: .png, .svg, .pdf.")] = None,
    max_histories: MaxHistories = None,
    json: Json = False,
) -> None:
    """Solve a game with one algorithm.

    Prints how far the average policy is from an equilibrium. In short runs the speed is mostly that of stopping for
    the convergence curve.
    """
    from rlccfr.files import require_writable

    limit = budget(iterations, seconds, nodes)
    if not checkpoint_every > 0:
        raise RLCCFRError(f"--checkpoint-every must be a positive number, not {checkpoint_every}")
    outputs = [path for path in (checkpoint, policy, curve) if path is not None]
    for path in outputs:
        require_writable(path)
    if plot is not None:
        from rlccfr.pictures import checked_picture, save

        checked_picture(plot)
    components: dict[str, Any] = {"update_rule": update_rule, "sampler": sampler, "abstraction": abstraction}
    options = {"seed": seed, "averaging": averaging, "simultaneous": simultaneous, "walks": walks}
    solver = _solver(load(game, max_histories), components, options, checkpoint)
    interrupted = False
    try:
        with progress(f"solving {game}", solving(solver)) as report:
            if checkpoint is not None:
                report = _saving(solver, checkpoint, checkpoint_every, report)
            result = solver.run(**{limit["unit"]: limit["amount"]}, progress=report)
    except KeyboardInterrupt:  # an engine call has ended: the tables are whole
        interrupted, result = True, solver.result()
    try:
        if checkpoint is not None:
            solver.save(checkpoint)
        if policy is not None:
            _write_csv(policy, solver.average_policy().to_frame())
        if curve is not None:
            _write_csv(curve, result.curve)
        if plot is not None:
            save(result.plot(label=" x ".join(part["id"] for part in _specs(solver).values())), plot)
    finally:  # a full disk must not cost the figures, nor a closed pipe the files
        facts = _facts(solver, result, interrupted)
        if json:
            print_json(facts)
        else:
            _print(facts)
    if interrupted:
        kept = f"; {checkpoint} has it all, and the same command adds another budget to it" if checkpoint else ""
        raise Interrupted(f"interrupted after {result.iterations:,} iterations{kept}")


def _saving(
    solver: Solver, checkpoint: Path, seconds: float, report: Callable[[float], None]
) -> Callable[[float], None]:
    """What reports progress and, once so many seconds have passed since the last time, writes the checkpoint."""
    last = time.monotonic()

    def called(share: float) -> None:
        nonlocal last
        report(share)
        if time.monotonic() - last < seconds:
            return
        try:
            solver.save(checkpoint)
        except CheckpointError as error:  # a full disk is no reason to end the run
            stderr.print(f"warning: {error}", highlight=False, markup=False)
        last = time.monotonic()

    return called


def _solver(tree: GameTree, components: dict[str, Any], options: dict[str, Any], checkpoint: Path | None) -> Solver:
    from rlccfr.solver import Solver

    fresh = Solver(tree, **components, **options)
    if options["walks"] != 1 and (fresh.update_rule.learns or fresh.abstraction.learns):
        raise ComponentError("--walks is for components without models; give those with them traversals of their own")
    if checkpoint is None or not checkpoint.exists():
        return fresh
    saved = Solver.load(checkpoint)
    there, wanted = _settings(saved), _settings(fresh)
    differing = [name for name in wanted if wanted[name] != there[name]]
    if differing:
        raise CheckpointError(
            f"{checkpoint} is of a run with another {' and '.join(differing)}; name another --checkpoint"
        )
    return saved


def _settings(solver: Solver) -> dict[str, Any]:
    return {
        "game": solver.game.content_hash,
        **_specs(solver),
        "seed": solver.seed,
        "averaging": solver.averaging,
        "simultaneous": solver.simultaneous,
        "number of walks": solver.walks,
    }


def _specs(solver: Solver) -> dict[str, dict[str, Any]]:
    parts = {"update_rule": solver.update_rule, "sampler": solver.sampler, "abstraction": solver.abstraction}
    return {axis: part.spec for axis, part in parts.items()}


def _write_csv(path: Path, frame: pd.DataFrame) -> None:
    from rlccfr.files import write_atomically

    write_atomically(path, frame.to_csv(index=False).encode(), RLCCFRError)


def _facts(solver: Solver, result: RunResult, interrupted: bool) -> dict[str, Any]:
    values = solver.values()
    return {
        "game": solver.game.name,
        **_specs(solver),
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
