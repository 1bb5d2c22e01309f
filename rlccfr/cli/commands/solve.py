"""``rlccfr solve``."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.catalog import AXES
from rlccfr.cli.attempts import Attempt, Outputs, facts_of, nodes_title, print_facts, title_of
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
from rlccfr.cli.progress import progress, stderr
from rlccfr.cli.training_display import solving
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError
from rlccfr.files import held_file
from rlccfr.games.flat_tree import GameTree

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.game import Game
    from rlccfr.result import RunResult
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

    # Refuse what contradicts itself, before a game is compiled.
    if exact:
        check_only(context, "--exact", ALLOWED, "solves a linear program")
    if control or controller is not None:
        update_rule = _controlled_rule(context, controller)
    has_budget = exact or (iterations, seconds, nodes) != (None, None, None)
    limit = budget(iterations, seconds, nodes)
    algorithms = [Cell(update_rule, sampler, abstraction).canonical, *map(_parsed_algorithm, then or [])]
    _check_segments(algorithms, limit, checkpoint)
    _check_target(target, any_way, has_budget, len(algorithms), blend)
    _check_checkpoint_every(context, checkpoint, checkpoint_every)
    outputs = Outputs(checkpoint, policy, curve, plot, picture)
    outputs.check()
    if checkpoint is not None:
        context.with_resource(held_file(checkpoint))  # until the command ends

    tree = load(game, max_histories)
    outputs.check_for(tree)
    if exact or any_way:
        _require_linear_program(tree)
    if exact:
        solve_and_print(tree, seconds, policy, json)
        if not json:
            outputs.tell()
        return

    options: dict[str, Any] = {
        "seed": seed,
        "averaging": averaging,
        "simultaneous": simultaneous,
        "walks": walks,
        "reduce": reduce,
        "threads": threads,
        "blend": blend,
    }
    solver = _solver_for(tree, algorithms[0], options, checkpoint)
    with progress(f"solving {game}", solving(solver)) as report:
        if target is not None and not has_budget:
            report = _reporting_time_left(solver, target, report)
        if checkpoint is not None:
            report = _saving(solver, checkpoint, checkpoint_every, report)
        spendable = limit if target is None or has_budget else None
        attempt = _attempted(solver, algorithms, spendable, target, any_way, report)
    if any_way:  # after the run's progress bar, since the program has one of its own
        attempt = attempt.or_exactly()

    try:
        outputs.write(solver, attempt, title_of(algorithms))
    finally:  # a full disk must not lose the results, nor a closed pipe the files
        _print_results(tree, solver, algorithms, attempt, json)
    if not json:
        outputs.tell()
    _fail_if_cut_short(attempt, checkpoint, has_budget)


def _is_on_command_line(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _controlled_rule(context: typer.Context, file: Path | None) -> str:
    """Return the update rule whose settings a controller chooses: the one in a file, or the shipped one.

    Raises:
        RLCCFRError: an option contradicts it.
    """
    options = [name for name in ("--control", "--controller") if _is_on_command_line(context, name.strip("-"))]
    if len(options) > 1:
        raise RLCCFRError("--control is for the shipped controller: leave out --control or --controller")
    for parameter in ("update_rule", "then"):
        if _is_on_command_line(context, parameter):
            option = f"--{parameter.replace('_', '-')}"
            raise RLCCFRError(f"{options[0]} chooses the update rule's settings for the whole run: leave out {option}")
    return "controlled" if file is None else f"controlled(controller={str(file.resolve())!r})"


def _parsed_algorithm(text: str) -> Cell:
    """Return the algorithm that a string names, in the form that ``recommend`` prints.

    Raises:
        RLCCFRError: the string has another form, or names no component.
    """
    from rlccfr.catalog import Cell

    components = [component.strip() for component in text.split(" x ")]
    if len(components) != len(AXES) or not all(components):
        raise RLCCFRError(f'--then takes "UPDATE_RULE x SAMPLER x ABSTRACTION", not {text!r}')
    return Cell(*components).canonical


def _check_segments(algorithms: list[Cell], limit: dict[str, Any], checkpoint: Path | None) -> None:
    """Refuse algorithms that can't run one after another, before the first one runs."""
    if len(algorithms) == 1:
        return
    from rlccfr.envs.episode import parse_budget
    from rlccfr.envs.measuring.identity import why_unavailable
    from rlccfr.envs.measuring.request import check_segments

    if checkpoint is not None:
        raise RLCCFRError("a checkpoint holds a run of one algorithm: leave out --checkpoint or --then")
    check_segments(parse_budget(limit), len(algorithms))
    for algorithm in algorithms:
        if reason := why_unavailable(algorithm):
            raise ComponentError(f"{algorithm} can't run: {reason}")


def _check_target(target: str | None, any_way: bool, has_budget: bool, segments: int, blend: bool) -> None:
    """Refuse a text that is no target, and options that contradict a target or need one."""
    from rlccfr.limits import check_target

    if any_way and (target is None or has_budget):
        raise RLCCFRError("--any needs a --target, and takes no budget")
    if target is None:
        return
    if blend:
        raise RLCCFRError("blends are made when a budget is used up: leave out --target or --blend")
    if segments > 1:
        raise RLCCFRError("a target is for one algorithm: leave out --target or --then")
    check_target(target)


def _check_checkpoint_every(context: typer.Context, checkpoint: Path | None, seconds: float) -> None:
    """Refuse a time between two writings of the checkpoint that is not positive, or without a checkpoint."""
    if not seconds > 0:
        raise RLCCFRError(f"--checkpoint-every must be a positive number, not {seconds}")
    if checkpoint is None and _is_on_command_line(context, "checkpoint_every"):
        raise RLCCFRError("--checkpoint-every needs a --checkpoint to write")


def _require_linear_program(game: Game) -> None:
    from rlccfr.games.public.view import PublicGame

    if isinstance(game, PublicGame):
        raise RLCCFRError(f"{game.name!r} has a public tree, but no linear program: leave out --exact and --any")


def _solver_for(tree: GameTree, algorithm: Cell, options: dict[str, Any], checkpoint: Path | None) -> Solver:
    """Return the solver in a checkpoint if there is one, else a new solver.

    Raises:
        CheckpointError: the checkpoint belongs to another run.
        ComponentError: several walks are asked for, and the components fit models.
    """
    from rlccfr.solver import Solver

    new = Solver(tree, *algorithm, **options)
    if options["walks"] != 1 and any(component.learns for component in (new.update_rule, new.sampler, new.abstraction)):
        raise ComponentError(
            "--walks is for components without models; with models, set the hyperparameter traversals or preset"
        )
    if checkpoint is None or not checkpoint.exists():
        return new
    new_settings = _settings(new)
    del new  # its tables may take gigabytes
    saved = Solver.load(checkpoint, threads=options["threads"], game=tree)
    saved_settings = _settings(saved)
    differing = [name for name in new_settings if new_settings[name] != saved_settings[name]]
    if differing:
        raise CheckpointError(
            f"{checkpoint} belongs to a run with another {' and '.join(differing)}; name another --checkpoint"
        )
    message = f"resuming {checkpoint} after {saved.cpu_seconds:.3g} CPU seconds"
    stderr.print(message, highlight=False, markup=False, soft_wrap=True)
    return saved


def _settings(solver: Solver) -> dict[str, Any]:
    """Return what a checkpoint must have in common with a run that resumes it, by the names for error messages."""
    return {
        "game": solver.game.content_hash,
        **solver.specs,
        "seed": solver.seed,
        "averaging": solver.averaging,
        "simultaneous": solver.simultaneous,
        "number of walks": solver.walks,
        "choice of --blend": solver.blend,
    }


def _reporting_time_left(solver: Solver, target: str, report: Callable[..., None]) -> Callable[[float], None]:
    """Return a function that reports progress, and how long the target takes if the curve goes on as it does."""
    from rlccfr.limits import seconds_left, target_of

    target_exploitability = target_of(solver.game, target)

    def report_share(share: float) -> None:
        predicted = seconds_left(solver.points, target_exploitability)
        if predicted is None:
            report(share, left=math.nan)
            return
        passed_since = solver.cpu_seconds - solver.points[-1].cpu_seconds  # the prediction is as of the last point
        report(share, left=max(0.0, predicted - passed_since))

    return report_share


def _saving(
    solver: Solver, checkpoint: Path, seconds: float, report: Callable[[float], None]
) -> Callable[[float], None]:
    """Return a function that reports progress, and writes the checkpoint every ``seconds`` seconds."""
    last_saved = time.monotonic()

    def report_and_save(share: float) -> None:
        nonlocal last_saved
        report(share)
        if time.monotonic() - last_saved < seconds:
            return
        try:
            solver.save(checkpoint)
        except CheckpointError as error:  # a full disk is no reason to end the run
            stderr.print(f"warning: {error}", highlight=False, markup=False, soft_wrap=True)
        last_saved = time.monotonic()

    return report_and_save


def _attempted(
    solver: Solver,
    algorithms: list[Cell],
    limit: dict[str, Any] | None,
    target: str | None,
    any_way: bool,
    report: Callable[[float], None],
) -> Attempt:
    """Run for the budget or to the target; if ``any_way``, at most until a linear program is predicted to be sooner."""
    if target is None:
        assert limit is not None
        return Attempt.of(solver, None, lambda: _run_segments(solver, algorithms, limit, report))
    from rlccfr.engine.linear_program import predicted_time
    from rlccfr.limits import run_while_sooner, target_of

    target_exploitability = target_of(solver.game, target)
    if not any_way:
        budget_of_run = {} if limit is None else {limit["unit"]: limit["amount"]}
        return Attempt.of(
            solver,
            target_exploitability,
            lambda: solver.run(until=target_exploitability, progress=report, **budget_of_run),
        )
    program_seconds = predicted_time(solver.game).seconds
    return Attempt.of(
        solver,
        target_exploitability,
        lambda: run_while_sooner(solver, target_exploitability, program_seconds, report),
    )


def _run_segments(
    solver: Solver, algorithms: list[Cell], limit: dict[str, Any], report: Callable[[float], None]
) -> RunResult:
    """Spend the budget; several algorithms get equal shares, like the segments of an environment."""
    if len(algorithms) == 1:
        return solver.run(**{limit["unit"]: limit["amount"]}, progress=report)
    from rlccfr.envs.episode import parse_budget
    from rlccfr.envs.measuring.request import changes, segment_budget

    whole_budget = parse_budget(limit)
    result = None
    segment = 0

    def report_segment(share: float) -> None:
        report((segment + share) / len(algorithms))

    for segment, algorithm in enumerate(algorithms):
        if result is not None:
            solver.switch(**changes(algorithms[segment - 1], algorithm))
        limit_of_segment = segment_budget(whole_budget, len(algorithms), segment, result)
        result = solver.run(**limit_of_segment, progress=report_segment)
    assert result is not None
    return result


def _print_results(game: Game, solver: Solver, algorithms: list[Cell], attempt: Attempt, json: bool) -> None:
    """Print the facts of a run, and of the linear program after it if one was solved."""
    facts = facts_of(solver, algorithms, attempt)
    if attempt.solution is not None:
        assert isinstance(game, GameTree)  # checked before the run
        report_solution(game, attempt.solution, json, facts)
    elif json:
        print_json(facts)
    else:
        print_facts(facts, title_of(algorithms), nodes_title(game, algorithms))


def _fail_if_cut_short(attempt: Attempt, checkpoint: Path | None, has_budget: bool) -> None:
    """Raise what stopped the command, or that the target was not reached."""
    result = attempt.result
    if attempt.failure is not None:
        raise attempt.failure
    if attempt.interrupted:
        message = f"interrupted after {result.iterations:,} iterations"
        if checkpoint:
            resuming = "adds another budget to it" if has_budget or result.target is None else "goes on"
            message += f"; {checkpoint} has it all, and the same command {resuming}"
        raise Interrupted(message)
    if not attempt.reached:
        game = attempt.solver.game
        alternatives = f"another algorithm (`rlccfr recommend {quoted(game.name)}` names one)"
        if isinstance(game, GameTree):
            alternatives += ", or --exact"
        if has_budget:
            reason = "after the budget"
            advice = f"give a larger one, or {alternatives}"
        else:
            reason = "and ten times as much work has hardly lowered it"
            advice = f"take {alternatives}"
        raise RLCCFRError(
            f"the target {result.target:.4g} was not reached: the exploitability is {attempt.exploitability:.4g} "
            f"{reason}; {advice}"
        )
