"""``rlccfr solve``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.catalog import AXES
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

    from rlccfr.catalog import Cell
    from rlccfr.games.flat_tree import GameTree
    from rlccfr.result import RunResult
    from rlccfr.solver import Solver

COMPONENT_HELP = "Id from `rlccfr catalog`, with hyperparameters if you like: "


def solve(
    game: Annotated[str, typer.Argument(help="kuhn, leduc, royal, goofspiel or an OpenSpiel string.")],
    update_rule: Annotated[str, typer.Option(help=COMPONENT_HELP + '"dcfr(gamma=3)".')] = "cfr_plus",
    sampler: Annotated[str, typer.Option(help=COMPONENT_HELP + '"outcome(exploration=0.4)".')] = "none",
    abstraction: Annotated[str, typer.Option(help=COMPONENT_HELP + "cfr_br.")] = "none",
    then: Annotated[
        list[str] | None,
        typer.Option(help='Switch to "dcfr x external x none" for an equal share of the budget; may be repeated.'),
    ] = None,
    iterations: Iterations = None,
    seconds: Seconds = None,
    nodes: Nodes = None,
    seed: Seed = 0,
    averaging: Annotated[str, typer.Option(help="matching, or pre as in OpenSpiel (exact passes).")] = "matching",
    simultaneous: Annotated[bool, typer.Option(help="Update both players at once, not in alternation.")] = False,
    walks: Annotated[int, typer.Option(help="Walks per player and iteration.")] = 1,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="File to resume from if it exists; written now and then, at the end and on Ctrl-C."),
    ] = None,
    checkpoint_every: Annotated[float, typer.Option(help="Seconds between two writings of the checkpoint.")] = 60.0,
    policy: Annotated[Path | None, typer.Option(help="Write the average policy: .csv, .json, .npz.")] = None,
    curve: Annotated[Path | None, typer.Option(help="Write the convergence curve to this CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the convergence curve: .png, .svg, .pdf.")] = None,
    max_histories: MaxHistories = None,
    json: Json = False,
) -> None:
    """Solve a game with one algorithm.

    Prints how far the average policy is from an equilibrium. In short runs most of the time goes
    into the convergence curve.
    """
    from rlccfr.catalog import Cell
    from rlccfr.files import require_writable

    limit = budget(iterations, seconds, nodes)
    cells = [Cell(update_rule, sampler, abstraction), *map(_parsed, then or [])]
    _check_segments(cells, limit, checkpoint)
    if not checkpoint_every > 0:
        raise RLCCFRError(f"--checkpoint-every must be a positive number, not {checkpoint_every}")
    outputs = [path for path in (checkpoint, policy, curve) if path is not None]
    for path in outputs:
        require_writable(path)
    if policy is not None:
        from rlccfr.policy_file import checked_path

        checked_path(policy)
    if plot is not None:
        from rlccfr.pictures import checked_picture, save

        checked_picture(plot)
    options = {"seed": seed, "averaging": averaging, "simultaneous": simultaneous, "walks": walks}
    solver = _solver(load(game, max_histories), cells[0], options, checkpoint)
    interrupted = False
    try:
        with progress(f"solving {game}", solving(solver)) as report:
            if checkpoint is not None:
                report = _saving(solver, checkpoint, checkpoint_every, report)
            result = _run(solver, cells, limit, report)
    except KeyboardInterrupt:  # it is raised between engine calls, so the tables are whole
        interrupted, result = True, solver.result()
    try:
        if checkpoint is not None:
            solver.save(checkpoint)
        if policy is not None:
            solver.average_policy().save(policy)
        if curve is not None:
            _write_csv(curve, result.curve)
        if plot is not None:
            save(result.plot(label=_title(cells)), plot)
    finally:  # a full disk must not lose the results, nor a closed pipe the files
        facts = _facts(solver, cells, result, interrupted)
        if json:
            print_json(facts)
        else:
            _print(facts, _title(cells))
    if interrupted:
        kept = f"; {checkpoint} has it all, and the same command adds another budget to it" if checkpoint else ""
        raise Interrupted(f"interrupted after {result.iterations:,} iterations{kept}")


def _saving(
    solver: Solver, checkpoint: Path, seconds: float, report: Callable[[float], None]
) -> Callable[[float], None]:
    """Return a function that reports progress, and writes the checkpoint every ``seconds`` seconds."""
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


def _parsed(text: str) -> Cell:
    """Return the algorithm that a string names, in the form that ``recommend`` prints."""
    from rlccfr.catalog import Cell

    parts = [part.strip() for part in text.split(" x ")]
    if len(parts) != len(AXES) or not all(parts):
        raise RLCCFRError(f'--then takes "UPDATE_RULE x SAMPLER x ABSTRACTION", not {text!r}')
    return Cell(*parts)


def _check_segments(cells: list[Cell], limit: dict[str, Any], checkpoint: Path | None) -> None:
    """Refuse algorithms that can't run one after another, before the first one runs."""
    if len(cells) == 1:
        return
    from rlccfr.envs.episode import parse_budget
    from rlccfr.envs.measuring.identity import why_unavailable
    from rlccfr.envs.measuring.request import check_segments

    if checkpoint is not None:
        raise RLCCFRError("a checkpoint holds a run of one algorithm: leave out --checkpoint or --then")
    check_segments(parse_budget(limit), len(cells))
    for cell in cells:
        if reason := why_unavailable(cell):
            raise ComponentError(f"{cell} can't run: {reason}")


def _run(solver: Solver, cells: list[Cell], limit: dict[str, Any], report: Callable[[float], None]) -> RunResult:
    """Spend the budget; several algorithms get equal shares, like the segments of an environment."""
    if len(cells) == 1:
        return solver.run(**{limit["unit"]: limit["amount"]}, progress=report)
    from rlccfr.envs.episode import parse_budget
    from rlccfr.envs.measuring.request import changes, segment_budget

    whole, result, done = parse_budget(limit), None, 0

    def report_segment(share: float) -> None:
        report((done + share) / len(cells))

    for done, cell in enumerate(cells):
        if result is not None:
            solver.switch(**changes(cells[done - 1], cell))
        result = solver.run(**segment_budget(whole, len(cells), done, result), progress=report_segment)
    assert result is not None
    return result


def _title(cells: list[Cell]) -> str:
    return ", then ".join(" x ".join(part.partition("(")[0] for part in cell) for cell in cells)


def _solver(tree: GameTree, cell: Cell, options: dict[str, Any], checkpoint: Path | None) -> Solver:
    from rlccfr.solver import Solver

    fresh = Solver(tree, *cell, **options)
    if options["walks"] != 1 and (fresh.update_rule.learns or fresh.abstraction.learns):
        raise ComponentError(
            "--walks is for components without models; set the others' hyperparameter traversals instead"
        )
    if checkpoint is None or not checkpoint.exists():
        return fresh
    saved = Solver.load(checkpoint)
    there, wanted = _settings(saved), _settings(fresh)
    differing = [name for name in wanted if wanted[name] != there[name]]
    if differing:
        raise CheckpointError(
            f"{checkpoint} belongs to a run with another {' and '.join(differing)}; name another --checkpoint"
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


def _facts(solver: Solver, cells: list[Cell], result: RunResult, interrupted: bool) -> dict[str, Any]:
    values = solver.values()
    return {
        "game": solver.game.name,
        **_specs(solver),
        "segments": [cell._asdict() for cell in cells],
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


def _print(facts: dict[str, Any], algorithm: str) -> None:
    first, second = facts["value"]
    rows = [
        ("exploitability", facts["exploitability"], "NashConv / 2 of the average policy"),
        ("NashConv", facts["nash_conv"], "sum of both players' gains from best responses"),
        ("value of player 0", first, f"of player 1: {second:.4g}"),
        ("iterations", facts["iterations"], f"{facts['throughput']:,.0f} per engine CPU second"),
        ("engine CPU seconds", facts["cpu_seconds"], "excluding loading, compiling and measuring"),
        ("histories touched", facts["nodes_touched"], ""),
    ]
    print_table(("", "", ""), rows, title=f"{facts['game']}: {algorithm}" + (", interrupted" * facts["interrupted"]))
