"""``rlccfr solve``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from rlccfr.cli.checks import at_least, file_to_write
from rlccfr.cli.command import check_only, is_on_command_line, option, rare
from rlccfr.cli.console import Interrupted, load, quoted
from rlccfr.cli.options import GameOptions, Json, OneBudget, RunSeed, parsed_algorithm
from rlccfr.cli.progress import progress
from rlccfr.cli.solve_results import print_found, print_run, print_solution, title_of
from rlccfr.cli.solve_run import (
    Attempt,
    algorithm_of,
    attempted,
    default_run,
    locked_by,
    named_or_default,
    reporting_time_left,
    rule_under,
    saving,
    solve_by_linear_program,
    solver_for,
)
from rlccfr.errors import ComponentError, RLCCFRError
from rlccfr.files import held_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rlccfr.catalog import Cell
    from rlccfr.game import Game
    from rlccfr.games.flat_tree import GameTree
    from rlccfr.result import RunResult
    from rlccfr.solver import Solver

EXACT_OPTIONS = {"game", "exact", "lock", "seconds", "policy", "max_histories", "json"}
"""Parameters of the command that may be given with ``--exact``."""

AGAINST_OPTIONS = {"game", "against", "policy", "max_histories", "json"}
"""Parameters of the command that may be given with ``--against``."""


@dataclass(frozen=True)
class AlgorithmOptions:
    """What to run."""

    TITLE: ClassVar[str] = "Algorithm, by components from `rlccfr catalog` [the fastest way]"
    update_rule: str | None = option(None, 'Such as "dcfr(gamma=3)". [cfr_plus]')
    sampler: str | None = option(None, 'Such as "outcome(exploration=0.4)". [none]')
    abstraction: str | None = option(None, "Such as cfr_br. [none]")
    control: bool = option(False, "Let the shipped controller choose the rule's settings.", "--control")
    controller: Path | None = option(None, "Use schedule, or a file of `rlccfr train --control`.")
    then: list[str] | None = rare(None, 'Next algorithm: "dcfr x external x none"; may be repeated.')

    @property
    def is_given(self) -> bool:
        """Whether the user named any part of an algorithm."""
        return self != AlgorithmOptions()

    def algorithms(self, context: typer.Context, game: Game | None = None) -> list[Cell]:
        """Return the algorithms of the run, in the order in which they take over from one another.

        Args:
            context: the command's context.
            game: the game, if it is known. If the default run depends on the game, components that are not named are
                those of its default run.

        Raises:
            RLCCFRError: an option contradicts another, or names no component.
        """
        update_rule = self._controlled_rule(context) if self.control or self.controller else self.update_rule
        first = named_or_default((update_rule, self.sampler, self.abstraction), game)
        return [first, *(parsed_algorithm(text, "--option then") for text in self.then or [])]

    def _controlled_rule(self, context: typer.Context) -> str:
        """Return the update rule whose settings a controller chooses: the shipped controller, or one in a file.

        Raises:
            RLCCFRError: both controllers are given, or an option that names an update rule.
        """
        options = [f"--{name}" for name in ("control", "controller") if is_on_command_line(context, name)]
        if len(options) > 1:
            raise RLCCFRError("--control uses the shipped controller and --controller your own: leave out one of them")
        for name, shown in (("update_rule", "--update-rule"), ("then", "`--option then=...`")):
            if is_on_command_line(context, name):
                raise RLCCFRError(f"{options[0]} steers the update rule for the whole run: leave out {shown}")
        return "controlled" if self.controller is None else rule_under(self.controller)


@dataclass(frozen=True)
class StopOptions(OneBudget):
    """When to stop."""

    TITLE: ClassVar[str] = "When to stop"
    target: str | None = option(None, "Stop at this exploitability: 1e-6, 1e-6x (uniform's), 10mbb, 0.5% (of the pot).")
    exact: bool = option(False, "Solve a linear program; --seconds limits it.", "--exact")
    any_way: bool = option(False, "Iterate, or solve a linear program if that looks faster.", "--any")
    against: str | None = option(None, "Only find best responses to this policy or saved run.")

    @property
    def has_budget(self) -> bool:
        """Whether something other than a target ends the run."""
        return self.exact or self.is_given

    def or_default(self, game: Game) -> StopOptions:
        """Return these options, with the default target and budget if neither a target nor a budget was given."""
        if self.target is not None or self.is_given:
            return self
        from rlccfr.limits import DEFAULT_SECONDS, default_target

        target = default_target(game)
        return replace(self, target=None if target is None else str(target), seconds=DEFAULT_SECONDS)


@dataclass(frozen=True)
class FileOptions:
    """Files to write; None for a file that is not wanted."""

    TITLE: ClassVar[str] = "Files to write"
    policy: Path | None = option(None, "The average policy: .csv, .json, .npz, .efg.", callback=file_to_write())
    checkpoint: Path | None = option(
        None, "The run, to resume later; also kept on Ctrl-C.", "--checkpoint", "--save", callback=file_to_write()
    )
    checkpoint_every: float = rare(60.0, "Seconds between two writes of the checkpoint. [60]")
    curve: Path | None = option(None, "The convergence curve as a table: .csv.", callback=file_to_write(".csv"))
    plot: Path | None = option(None, "The convergence curve, drawn: .png, .svg, .pdf.", callback=file_to_write())
    picture: Path | None = rare(None, "Picture of the first decision, in hold'em and Bluff.", callback=file_to_write())

    @property
    def need_a_curve(self) -> bool:
        """Whether one of the wanted files shows a convergence curve; a linear program has no such curve."""
        return (self.curve, self.plot) != (None, None)

    @property
    def paths(self) -> list[Path]:
        """Paths of the files that are wanted."""
        files = (self.checkpoint, self.policy, self.curve, self.plot, self.picture)
        return [path for path in files if path is not None]

    def check(self) -> None:
        """Check that the files can be written, before anything is run.

        Raises:
            RLCCFRError: a file can't be written.
        """
        from rlccfr.files import require_writable

        for path in (self.checkpoint, self.policy, self.curve):
            if path is not None:
                require_writable(path)
        if self.policy is not None:
            from rlccfr.policies.policy_file import checked_path

            checked_path(self.policy)
        for path in (self.plot, self.picture):
            if path is not None:
                from rlccfr.pictures import checked_picture

                checked_picture(path)

    def check_for(self, game: Game) -> None:
        """Check that the files can be written for a game, before anything is run.

        Raises:
            RLCCFRError: a file is the one from which the game was read, the game's policy can't be written in the
                file's format, the game has no curve, or its first decision can't be drawn.
        """
        from rlccfr.game import policy_class
        from rlccfr.games.gambit.files import refuse_source

        # The game may have been read from a file, which the command must not overwrite.
        for path in self.paths:
            refuse_source(path, game.full_name)
        if self.policy is not None:
            policy_class(game).check_path(self.policy, game)
        if self.plot is not None and not policy_class(game).are_values_known(game):
            raise RLCCFRError(
                f"exploitability is not known in {game.name!r}, so no curve can be drawn: leave out --plot"
            )
        if self.picture is not None and not policy_class(game).draws_ranges:
            raise RLCCFRError(
                f"--option picture draws hands of hold'em and rolls of Bluff, and {game.name!r} has neither: leave it "
                "out"
            )

    def write(self, attempt: Attempt, title: str) -> None:
        """Write the files.

        Args:
            attempt: what the command did.
            title: title of the plot.

        Raises:
            RLCCFRError: a file can't be written.
        """
        if self.checkpoint is not None:
            attempt.solver.save(self.checkpoint)
        if self.policy is not None or self.picture is not None:
            self.write_policy(attempt.policy())
        self.write_curve(attempt.result, title, current=bool(attempt.solver.current))

    def write_curve(self, result: RunResult | None, title: str, *, current: bool = False) -> None:
        """Write the curve of a run as a table and as a plot, if they are wanted.

        Args:
            result: the run's result; None if there was no run, and then nothing is written.
            title: title of the plot.
            current: whether the plot has the current policy, too.
        """
        if self.curve is not None and result is not None:
            from rlccfr.files import write_atomically

            write_atomically(self.curve, result.curve.to_csv(index=False).encode(), RLCCFRError)
        if self.plot is not None and result is not None:
            from rlccfr.pictures import save

            save(result.plot(label=title, current=current), self.plot)

    def write_policy(self, policy: Any) -> None:
        """Write a policy, and a picture of its first decision, if they are wanted."""
        if self.policy is not None:
            policy.save(self.policy)
        if self.picture is not None:
            from rlccfr.pictures import save

            save(policy.plot_range(), self.picture)

    def print_names(self) -> None:
        """Print the files' names."""
        if self.paths:
            print(f"written: {', '.join(map(str, self.paths))}")


@dataclass(frozen=True)
class SolverOptions:
    """Further arguments of :class:`rlccfr.Solver`, by their names there."""

    TITLE: ClassVar[str] = ""
    threads: int = option(1, "Threads of passes; results stay the same.", callback=at_least(1))
    averaging: str = rare("matching", "pre: average policies before any update. [matching]")
    simultaneous: bool = rare(False, "yes: update both players at once. [no]")
    walks: int = rare(1, "Walks per player and iteration. [1]", callback=at_least(1))
    reduce: bool = rare(True, "no: exact passes ignore the game's symmetry. [yes]")
    blend: bool | None = rare(
        None,
        "yes: at the end, mix averages of the run's last half. [no]",
        "--blend/--no-blend",
    )
    dtype: str | None = rare(None, "Numbers in public trees' tables: int16, float32, float64.")
    by_hand: bool = rare(False, "yes: public_chance in buckets has a row per hand. [no]")
    current: bool | None = rare(
        None,
        "yes: measure the current policy, too. [yes for curves]",
        "--current/--no-current",
    )

    @property
    def choose_the_run(self) -> bool:
        """Whether the user gave an option that would change the best measured run."""
        given = (self.averaging, self.simultaneous, self.walks, self.blend, self.by_hand)
        return given != ("matching", False, 1, None, False)

    @property
    def need_a_run(self) -> bool:
        """Whether the user gave an option that only applies to runs, not to a linear program."""
        return (self.reduce, self.dtype, self.current) != (True, None, None)


def solve(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="A name from `rlccfr games`, or an OpenSpiel string.")],
    compiling: GameOptions,
    algorithm: AlgorithmOptions,
    stop: StopOptions,
    files: FileOptions,
    options: SolverOptions,
    lock: Annotated[
        list[str] | None, typer.Option(help="Decisions to fix; 0=FILE: player 0's; may be repeated.")
    ] = None,
    seed: RunSeed = None,
    json: Json = False,
) -> None:
    """Solve a game, and print how close to an equilibrium that is.

    If you name no algorithm, the fastest is chosen, or a --checkpoint continues with its own. The default target is
    1e-6x, within a minute.
    """
    # Find contradictions between options before a game is compiled, which may take minutes.
    if stop.exact:
        check_only(context, "--exact", EXACT_OPTIONS, "solves a linear program")
    if stop.against is not None:
        check_only(context, "--against", AGAINST_OPTIONS, "finds best responses")
    is_free = not algorithm.is_given and not options.choose_the_run
    _check_together(context, algorithm.algorithms(context), stop, files)

    tree = locked_by(load(game, compiling.max_histories), lock, files.paths)
    _check_for_game(tree, stop, files)
    algorithms = algorithm.algorithms(context, tree)
    if stop.exact:
        _solve_exactly(tree, stop.seconds, files, json)
        return
    if stop.against is not None:
        _respond(tree, stop.against, files, json)
        return
    needs_a_solver = files.checkpoint is not None or options.need_a_run or stop.any_way or stop.nodes is not None
    if is_free and not needs_a_solver:
        _solve_soonest(game, tree, stop, files, options.threads, json)
        return

    until = stop.or_default(tree) if is_free else stop
    if is_free:
        limits = (until.target, until.seconds, until.iterations)
        algorithms[0], blends = default_run(tree, *limits, options.dtype, files.checkpoint)
        options = replace(options, blend=blends)
    arguments = vars(options) | {"blend": bool(options.blend), "seed": seed}
    solver = solver_for(tree, algorithms[0], arguments, files.checkpoint)
    attempt = _run(game, solver, algorithms, until, files)

    try:
        files.write(attempt, title_of(algorithms))
    finally:  # results are printed even if the disk is full; files are written even if the pipe is closed
        print_run(attempt, algorithms, json)
    if not json:
        files.print_names()
    if stop.target is None:  # missing the default target is not a failure
        attempt = replace(attempt, result=replace(attempt.result, target=None))
    _fail_if_cut_short(attempt, until.has_budget, files.checkpoint)


def _check_together(context: typer.Context, algorithms: list[Cell], stop: StopOptions, files: FileOptions) -> None:
    """Check that options do not contradict each other, and hold the checkpoint's file until the command ends.

    This comes before a game is compiled.

    Raises:
        RLCCFRError: two options contradict each other, or an option does not accept its value.
    """
    budget = stop.amount()
    if len(algorithms) > 1:
        _check_segments(algorithms, budget, files.checkpoint)
    _check_target(stop, len(algorithms))
    if not files.checkpoint_every > 0:
        raise RLCCFRError(f"--option checkpoint-every must be a positive number, not {files.checkpoint_every}")
    if files.checkpoint is None and is_on_command_line(context, "checkpoint_every"):
        raise RLCCFRError("--option checkpoint-every needs a --checkpoint to write")
    files.check()
    if files.checkpoint is not None:
        context.with_resource(held_file(files.checkpoint))


def _check_segments(algorithms: list[Cell], budget: dict[str, Any], checkpoint: Path | None) -> None:
    """Check that algorithms can run one after another, before the first one runs."""
    from rlccfr.envs.episode import parse_budget
    from rlccfr.envs.measuring.identity import why_unavailable
    from rlccfr.envs.measuring.request import check_segments

    if checkpoint is not None:
        raise RLCCFRError("a checkpoint holds the run of one algorithm: leave out --checkpoint or `--option then=...`")
    check_segments(parse_budget(budget), len(algorithms))
    for algorithm in algorithms:
        if reason := why_unavailable(algorithm):
            raise ComponentError(f"{algorithm} can't run: {reason}")


def _check_target(stop: StopOptions, segments: int) -> None:
    """Check the target, and the options that contradict a target or need one."""
    from rlccfr.limits import check_target

    if stop.any_way and (stop.target is None or stop.has_budget):
        raise RLCCFRError("--any needs a --target, and takes no budget")
    if stop.target is None:
        return
    if segments > 1:
        raise RLCCFRError("a target is for one algorithm: leave out --target or `--option then=...`")
    check_target(stop.target)


def _check_for_game(game: Game, stop: StopOptions, files: FileOptions) -> None:
    """Check that the files can be written for the game, and that it has a linear program if one is to be solved."""
    files.check_for(game)
    if (stop.exact or stop.any_way) and not game.form.has_histories:
        raise RLCCFRError(
            f"{game.name!r} is represented {game.form.title}, for which there is no linear program: leave out --exact "
            "and --any"
        )


def _solve_soonest(name: str, game: Game, stop: StopOptions, files: FileOptions, threads: int, json: bool) -> None:
    """Solve a game in the way that is predicted to be fastest, write its policy, and print the results."""
    from rlccfr.solving import solve

    solvers: list[Solver] = []

    def display() -> RenderableType:
        from rlccfr.cli.training_display import solving

        return solving(solvers[0])() if solvers else ""

    with progress(f"solving {name}", display) as report:
        solution = solve(
            game,
            until=stop.target,
            seconds=stop.seconds,
            iterations=stop.iterations,
            threads=threads,
            curve=files.need_a_curve,
            progress=report,
            begun=solvers.append,
        )
    try:
        files.write_policy(solution.policy)
        title = solution.method if solution.solver is None else title_of([algorithm_of(solution.solver)])
        files.write_curve(solution.result, title)
    finally:  # results are printed even if the disk is full
        print_found(solution, json)
    if not json:
        files.print_names()
    if solution.interrupted:
        raise Interrupted("interrupted; the policy is the one found so far")
    if stop.target is not None and not solution.reached:
        advice = " after the budget; give a larger one, or another target" if stop.is_given else "; give another target"
        raise RLCCFRError(
            f"the target {solution.target:.4g} was not reached: the exploitability is {solution.exploitability:.4g}"
            f"{advice}"
        )


def _solve_exactly(tree: GameTree, seconds: float | None, files: FileOptions, json: bool) -> None:
    """Solve a game by a linear program, write its policy, and print the results."""
    solution = solve_by_linear_program(tree, seconds)
    try:
        if files.policy is not None:
            solution.policy.save(files.policy)
    finally:  # results are printed even if the disk is full
        print_solution(tree, solution, json)
    if not json:
        files.print_names()


def _respond(game: Game, name: str, files: FileOptions, json: bool) -> None:
    """Find best responses to a policy, or train opponents; see :func:`rlccfr.cli.responses.respond`."""
    from rlccfr.cli.responses import respond

    respond(game, name, files.policy, json)
    if not json:
        files.print_names()


def _run(game: str, solver: Solver, algorithms: list[Cell], stop: StopOptions, files: FileOptions) -> Attempt:
    """Run for the budget or to the target; with ``--any``, solve a linear program if the target was not reached."""
    from rlccfr.cli.training_display import solving

    budget = stop.amount() if stop.target is None or stop.is_given else None
    with progress(f"solving {game}", solving(solver)) as report:
        if stop.target is not None and budget is None:
            report = reporting_time_left(solver, stop.target, report)
        if files.checkpoint is not None:
            report = saving(solver, files.checkpoint, files.checkpoint_every, report)
        attempt = attempted(solver, algorithms, budget, stop.target, stop.any_way, report)
    # This comes after the run's progress bar has ended, since the linear program has one of its own.
    return attempt.or_exactly() if stop.any_way else attempt


def _fail_if_cut_short(attempt: Attempt, has_budget: bool, checkpoint: Path | None) -> None:
    """Raise the error that stopped the run, or an error if the run was interrupted or missed its target."""
    result = attempt.result
    if attempt.failure is not None:
        raise attempt.failure
    if attempt.interrupted:
        message = f"interrupted after {result.iterations:,} iterations"
        if checkpoint:
            resuming = "continues for a new budget" if has_budget or result.target is None else "continues from there"
            message += f"; {checkpoint} has the whole run, and the same command {resuming}"
        raise Interrupted(message)
    if not attempt.reached:
        game = attempt.solver.game
        alternatives = "another algorithm"
        if game.form.features:  # `rlccfr recommend` needs these
            alternatives += f" (`rlccfr recommend {quoted(game.name)}` names one)"
        if game.form.has_histories:
            alternatives += ", or --exact"
        if has_budget:
            reason = "after the budget"
            advice = f"give a larger budget, or use {alternatives}"
        else:
            reason = "and ten times as much work has hardly lowered it"
            advice = f"use {alternatives}"
        raise RLCCFRError(
            f"the target {result.target:.4g} was not reached: the exploitability is {attempt.exploitability:.4g} "
            f"{reason}; {advice}"
        )
