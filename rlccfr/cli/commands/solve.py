"""``rlccfr solve``."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.attempts import Attempt, Outputs
from rlccfr.cli.checkpointing import saving, solver_for
from rlccfr.cli.console import (
    Interrupted,
    Iterations,
    Json,
    MaxHistories,
    Nodes,
    Seconds,
    Seed,
    budget,
    check_only,
    load,
    print_json,
    quoted,
)
from rlccfr.cli.exact import ALLOWED, report_solution, solve_and_print
from rlccfr.cli.progress import progress
from rlccfr.cli.segments import check_segments, parsed, run_segments
from rlccfr.cli.solved import counted_by, facts_of, print_facts, title_of
from rlccfr.cli.training_display import solving
from rlccfr.errors import RLCCFRError
from rlccfr.files import held_file
from rlccfr.games.flat_tree import GameTree

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.solver import Solver

COMPONENT_HELP = "Id or other name from `rlccfr catalog`, with hyperparameters if you like: "


def solve(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="A name from `rlccfr games`, or an OpenSpiel string.")],
    update_rule: Annotated[str, typer.Option(help=COMPONENT_HELP + '"dcfr(gamma=3)".')] = "cfr_plus",
    sampler: Annotated[str, typer.Option(help=COMPONENT_HELP + '"outcome(exploration=0.4)".')] = "none",
    abstraction: Annotated[str, typer.Option(help=COMPONENT_HELP + "cfr_br.")] = "none",
    control: Annotated[
        bool, typer.Option("--control", help="Let the shipped controller choose the update rule's settings.")
    ] = False,
    controller: Annotated[
        Path | None,
        typer.Option(
            help="Let the controller in this file or directory choose them, one that `rlccfr train --control` wrote."
        ),
    ] = None,
    then: Annotated[
        list[str] | None,
        typer.Option(help='Switch to "dcfr x external x none" for an equal share of the budget; may be repeated.'),
    ] = None,
    iterations: Iterations = None,
    seconds: Seconds = None,
    nodes: Nodes = None,
    target: Annotated[
        str | None,
        typer.Option(
            help='Stop at this exploitability: 1e-6, "1e-6x" for a share of the uniform policy\'s, or "10mbb" for '
            "thousandths of a big blind."
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Solve a linear program, for small games; --seconds limits it by the clock."),
    ] = False,
    any_way: Annotated[
        bool, typer.Option("--any", help="Solve a linear program if that is predicted to reach the target sooner.")
    ] = False,
    seed: Seed = 0,
    averaging: Annotated[str, typer.Option(help="matching, or pre as in OpenSpiel (exact passes).")] = "matching",
    simultaneous: Annotated[bool, typer.Option(help="Update both players at once, not in alternation.")] = False,
    walks: Annotated[int, typer.Option(help="Walks per player and iteration.")] = 1,
    threads: Annotated[
        int, typer.Option(help="Threads for exact passes over large games; the results are the same.")
    ] = 1,
    reduce: Annotated[
        bool, typer.Option(help="Let exact passes use the game's symmetry, where that is faster.")
    ] = True,
    blend: Annotated[
        bool, typer.Option("--blend", help="End with each player's best mixture of the last half's average policies.")
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            "--save",
            help="File to resume from if it exists; written now and then, at the end and on Ctrl-C. One command at a "
            "time may have it.",
        ),
    ] = None,
    checkpoint_every: Annotated[float, typer.Option(help="Seconds between two writings of the checkpoint.")] = 60.0,
    policy: Annotated[Path | None, typer.Option(help="Write the average policy: .csv, .json, .npz, .efg.")] = None,
    curve: Annotated[Path | None, typer.Option(help="Write the convergence curve to this CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the convergence curve: .png, .svg, .pdf.")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the first decision by the player's hand or roll, in hold'em and Bluff.")
    ] = None,
    max_histories: MaxHistories = None,
    json: Json = False,
) -> None:
    """Solve a game with one algorithm, or exactly.

    Prints how far the average policy is from an equilibrium. Without a budget or a target, the run has 1,000
    iterations. In short runs most of the time goes into the convergence curve. `rlccfr recommend` names an algorithm
    that is likely to do better on the game than the default one.
    """
    from rlccfr.catalog import Cell
    from rlccfr.games.public.view import PublicGame

    if exact:
        check_only(context, "--exact", ALLOWED, "solves a linear program")
    if control or controller is not None:
        update_rule = _controlled(context, controller)
    limited = exact or (iterations, seconds, nodes) != (None, None, None)
    limit = budget(iterations, seconds, nodes)
    cells = [Cell(update_rule, sampler, abstraction).canonical, *map(parsed, then or [])]
    check_segments(cells, limit, checkpoint)
    _check_target(target, any_way, limited, len(cells), blend)
    if not checkpoint_every > 0:
        raise RLCCFRError(f"--checkpoint-every must be a positive number, not {checkpoint_every}")
    if checkpoint is None and _given(context, "checkpoint_every"):
        raise RLCCFRError("--checkpoint-every needs a --checkpoint to write")
    outputs = Outputs(checkpoint, policy, curve, plot, picture)
    outputs.check()
    if checkpoint is not None:
        context.with_resource(held_file(checkpoint))  # until the command ends
    tree = load(game, max_histories)
    outputs.check_for(tree)
    if (exact or any_way) and isinstance(tree, PublicGame):
        raise RLCCFRError(f"{tree.name!r} has a public tree, but no linear program: leave out --exact and --any")
    if exact:
        solve_and_print(tree, seconds, policy, json)
        if not json:
            outputs.tell()
        return
    options: dict[str, Any] = {"seed": seed, "averaging": averaging, "simultaneous": simultaneous}
    options |= {"walks": walks, "reduce": reduce, "threads": threads, "blend": blend}
    solver = solver_for(tree, cells[0], options, checkpoint)
    with progress(f"solving {game}", solving(solver)) as report:
        if target is not None and not limited:
            report = _towards(solver, target, report)
        if checkpoint is not None:
            report = saving(solver, checkpoint, checkpoint_every, report)
        attempt = _attempted(solver, cells, limit if target is None or limited else None, target, any_way, report)
    if any_way:  # after the run's progress bar, since the program has one of its own
        attempt = attempt.or_exactly()
    try:
        outputs.write(solver, attempt, title_of(cells))
    finally:  # a full disk must not lose the results, nor a closed pipe the files
        facts = facts_of(solver, cells, attempt)
        if attempt.solution is not None:
            report_solution(tree, attempt.solution, json, facts)
        elif json:
            print_json(facts)
        else:
            print_facts(facts, title_of(cells), counted_by(tree, cells))
    if not json:
        outputs.tell()
    _fail_if_cut_short(attempt, checkpoint, limited)


def _controlled(context: typer.Context, file: Path | None) -> str:
    """Return the update rule whose settings a controller chooses: the one in a file, or the shipped one.

    Raises:
        RLCCFRError: an option contradicts it.
    """
    given = [name for name in ("--control", "--controller") if _given(context, name.strip("-"))]
    if len(given) > 1:
        raise RLCCFRError("--control is for the shipped controller: leave out --control or --controller")
    for option in ("update_rule", "then"):
        if _given(context, option):
            name = f"--{option.replace('_', '-')}"
            raise RLCCFRError(f"{given[0]} chooses the update rule's settings for the whole run: leave out {name}")
    return "controlled" if file is None else f"controlled(controller={str(file.resolve())!r})"


def _towards(solver: Solver, target: str, report: Callable[..., None]) -> Callable[[float], None]:
    """Return a function that reports progress, and how long the target takes if the curve goes on as it does."""
    from rlccfr.limits import seconds_left, target_of

    goal = target_of(solver.game, target)

    def called(share: float) -> None:
        left = seconds_left(solver.points, goal)
        if left is not None:  # as predicted at the last point, less what has passed since
            left = max(0.0, left - (solver.cpu_seconds - solver.points[-1].cpu_seconds))
        report(share, left=math.nan if left is None else left)

    return called


def _given(context: typer.Context, option: str) -> bool:
    """Return whether an option was given on the command line."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _check_target(target: str | None, any_way: bool, limited: bool, segments: int, blend: bool) -> None:
    """Refuse a target that is none, and options that contradict a target or need one."""
    from rlccfr.limits import check_target

    if any_way and (target is None or limited):
        raise RLCCFRError("--any needs a --target, and takes no budget")
    if target is not None and blend:
        raise RLCCFRError("blends are made when a budget is used up: leave out --target or --blend")
    if target is not None and segments > 1:
        raise RLCCFRError("a target is for one algorithm: leave out --target or --then")
    if target is not None:
        check_target(target)


def _attempted(
    solver: Solver,
    cells: list[Cell],
    limit: dict[str, Any] | None,
    target: str | None,
    any_way: bool,
    report: Callable[[float], None],
) -> Attempt:
    """Run for the budget or to the target; if ``any_way``, at most until a linear program is predicted to be sooner."""
    if target is None:
        assert limit is not None
        return Attempt.of(solver, None, lambda: run_segments(solver, cells, limit, report))
    from rlccfr.engine.linear_program import predicted_time
    from rlccfr.limits import run_while_sooner, target_of

    goal = target_of(solver.game, target)
    if not any_way:
        most = {} if limit is None else {limit["unit"]: limit["amount"]}
        return Attempt.of(solver, goal, lambda: solver.run(until=goal, progress=report, **most))
    by_program = predicted_time(solver.game).seconds
    return Attempt.of(solver, goal, lambda: run_while_sooner(solver, goal, by_program, report))


def _fail_if_cut_short(attempt: Attempt, checkpoint: Path | None, limited: bool) -> None:
    """Raise what stopped the command, or that the target was not reached."""
    result = attempt.result
    if attempt.failure is not None:
        raise attempt.failure
    if attempt.interrupted:
        more = "adds another budget to it" if limited or result.target is None else "goes on"
        kept = f"; {checkpoint} has it all, and the same command {more}" if checkpoint else ""
        raise Interrupted(f"interrupted after {result.iterations:,} iterations{kept}")
    if not attempt.reached:
        game = attempt.solver.game
        other = f"another algorithm (`rlccfr recommend {quoted(game.name)}` names one)"
        other += ", or --exact" if isinstance(game, GameTree) else ""
        ways = f"give a larger one, or {other}" if limited else f"take {other}"
        why = "after the budget" if limited else "and ten times as much work has hardly lowered it"
        raise RLCCFRError(
            f"the target {result.target:.4g} was not reached: the exploitability is {attempt.exploitability:.4g} "
            f"{why}; {ways}"
        )
