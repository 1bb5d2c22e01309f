"""What ``rlccfr solve`` runs: an algorithm or several, from a checkpoint or not, and a linear program."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlccfr.cli.progress import progress, stderr
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.game import Game
    from rlccfr.games.flat_tree import GameTree
    from rlccfr.policy import Policy
    from rlccfr.result import RunResult
    from rlccfr.solver import Solver


@dataclass(frozen=True)
class Attempt:
    """A run, and what came after it.

    Attributes:
        solver: the solver that ran.
        result: the run's totals.
        interrupted: whether Ctrl-C ended the run or the linear program.
        solution: the linear program's solution, if one was solved after the run.
        failure: error of a linear program that could not be solved.
    """

    solver: Solver
    result: RunResult
    interrupted: bool = False
    solution: ExactSolution | None = None
    failure: RLCCFRError | None = None

    @classmethod
    def of(cls, solver: Solver, target: float | None, run: Callable[[], RunResult]) -> Attempt:
        """Run a solver and return the attempt, even if Ctrl-C ends the run.

        Ctrl-C takes effect only between engine calls, so the solver's tables are whole.
        """
        try:
            return cls(solver, run())
        except KeyboardInterrupt:
            return cls(solver, replace(solver.result(), target=target), interrupted=True)

    def or_exactly(self) -> Attempt:
        """Solve a linear program if the run has not reached its target; the run is kept whatever happens."""
        if self.interrupted or self.result.reached:
            return self
        try:
            return replace(self, solution=solve_by_linear_program(self.solver.game))
        except KeyboardInterrupt:
            return replace(self, interrupted=True)
        except MemoryError:
            return replace(self, failure=RLCCFRError("out of memory in the linear program; run without --any"))
        except RLCCFRError as error:
            return replace(self, failure=error)

    @property
    def exploitability(self) -> float:
        """Exploitability of the linear program's policy if there is one, else of the run's average policy."""
        return self.result.exploitability if self.solution is None else self.solution.exploitability

    @property
    def reached(self) -> bool:
        """Whether the target was reached; true if there is none."""
        return self.result.target is None or self.exploitability <= self.result.target

    def policy(self) -> Policy:
        """Return the linear program's policy if there is one, else the run's average policy."""
        return self.solver.average_policy() if self.solution is None else self.solution.policy


def locked_by(game: Game, locks: Sequence[str] | None, written: Sequence[Path]) -> Any:
    """Return a game with all of the locks that ``--lock`` names.

    Args:
        game: the game.
        locks: files or ``uniform``; ``0=lock.json`` locks only player 0's decisions.
        written: files that the command will write.

    Raises:
        RLCCFRError: a lock can't be read, does not fit the game, differs from another, or would be overwritten.
    """
    from rlccfr.locks import locked

    return locked(game, [_lock_named(text, game, written) for text in locks]) if locks else game


def _lock_named(text: str, game: Game, written: Sequence[Path]) -> Any:
    """Return one lock of ``--lock``, in a form that :func:`rlccfr.locks.locked` takes.

    Raises:
        RLCCFRError: it names a player who does not exist, would be overwritten, or is a run that can't be read.
    """
    from rlccfr.cli.policies.named import UNIFORM, is_best, is_run, policy_of

    player, equals, name = text.partition("=")
    is_for_one = bool(equals) and player.isdecimal() and not Path(text).exists()
    if not is_for_one:
        name = text
    elif player not in ("0", "1"):
        raise RLCCFRError(f"--lock {text} names player {player}: the players are 0 and 1")
    path = Path(name)
    if path.resolve() in [other.resolve() for other in written]:
        raise RLCCFRError(f"{path} is the lock, which would be overwritten: name another file to write")
    # A JSON table, or a policy at only some decisions, is not a policy: the lock's reader reads these itself.
    lock = policy_of(name, game) if name == UNIFORM or is_best(name) or is_run(name) else path
    return {int(player): lock} if is_for_one else lock


def default_run(
    game: Game,
    target: str | None,
    seconds: float | None,
    iterations: int | None,
    dtype: str | None,
    checkpoint: Path | None,
) -> tuple[Cell, bool]:
    """Return the algorithm that :func:`rlccfr.solve` would run if it had to iterate, and whether the run blends.

    Unlike there, a target counts even if it is predicted to be out of the budget's reach.

    A saved run continues with its own algorithm, since another algorithm may be the best for another budget.

    Args:
        game: the game.
        target, seconds, iterations: the target and the budget, where they are given.
        dtype: type of the tables' numbers, if the user has chosen one.
        checkpoint: the file of a run, which need not exist yet.
    """
    from rlccfr.catalog import Cell
    from rlccfr.checkpoint import saved_run, unloadable
    from rlccfr.limits import target_of, uniform_exploitability

    saved = None if checkpoint is None else saved_run(checkpoint, game)
    if saved is not None:
        blends = saved.pop("blend")
        try:
            return _algorithm_with(saved), blends
        except ComponentError as error:
            raise unloadable(checkpoint, error) from None
    arguments = game.form.default_run(game, math.inf if seconds is None else seconds, iterations, dtype)
    if target is not None:
        decades = math.log10(max(uniform_exploitability(game) / target_of(game, target), 1.0))
        run = game.form.run_to(game, decades, dtype)
        # A steered run must know its length, which only rlccfr.solve predicts; the best run within budgets replaces it.
        if run is not None and "control" not in run.arguments:
            arguments = dict(run.arguments)
    return Cell.of_run(arguments), bool(arguments.get("blend"))


def rule_under(controller: Path) -> str:
    """Return the update rule whose settings are chosen by a controller, given by the controller's name or file."""
    from rlccfr.components.controller import CONTROLLER_NAMES

    name = str(controller)
    return f"controlled(controller={name if name in CONTROLLER_NAMES else str(controller.resolve())!r})"


def named_or_default(named: Sequence[str | None], game: Game | None) -> Cell:
    """Return an algorithm that has the default component on each axis for which the user names none.

    The default components are those of the game's best run if that depends on the game, else CFR+ by exact passes. A
    controller is never among them, because it would not take most samplers and abstractions.

    Args:
        named: the component that the user names on each axis, or None.
        game: the game, if it is known.

    Raises:
        ComponentError: a name is not a component's.
    """
    from rlccfr.catalog import Cell

    default = Cell("cfr_plus", "none", "none")
    if game is not None and game.form.best_run_function and "control" not in game.form.best_run:
        default = Cell.of_run(game.form.best_run_of(game))
    ids = (default_id if id is None else id for id, default_id in zip(named, default, strict=True))
    return Cell(*ids).canonical


def algorithm_of(solver: Solver) -> Cell:
    """Return the algorithm that a solver runs."""
    return _algorithm_with(solver.specs)


def _algorithm_with(specs: Mapping[str, Mapping[str, Any]]) -> Cell:
    """Return the algorithm with the given specs, by axis."""
    from rlccfr.catalog import Cell

    return Cell(**{axis: _written(**spec) for axis, spec in specs.items()}).canonical


def _written(id: str, **hyperparameters: Any) -> str:
    """Return a component as the command line takes it, with the hyperparameters that it was given."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in hyperparameters.items())
    return f"{id}({arguments})" if arguments else id


def solver_for(tree: GameTree, algorithm: Cell, options: dict[str, Any], checkpoint: Path | None) -> Solver:
    """Return the solver in a checkpoint if there is one, else a new solver.

    Args:
        tree: the game.
        algorithm: the algorithm.
        options: further arguments of the solver; without a seed (None), a run in a checkpoint keeps its own.
        checkpoint: the file of a run, which need not exist yet.

    Raises:
        CheckpointError: the checkpoint belongs to another run.
        ComponentError: several walks are asked for, and the components fit models.
    """
    from rlccfr.solver import Solver

    # Made even if there is a checkpoint: it checks the options and has the settings to compare.
    with _without_warnings_of_notices():
        new = Solver(tree, *algorithm, **options | {"seed": options["seed"] or 0})
    if new.notice:
        stderr.print(new.notice, highlight=False, markup=False, soft_wrap=True)
    if options["walks"] != 1 and any(component.learns for component in (new.update_rule, new.sampler, new.abstraction)):
        raise ComponentError(
            "--option walks is for components without models; with models, set the hyperparameter traversals or preset"
        )
    if checkpoint is None or not checkpoint.exists():
        return new
    new_settings = _settings(new)
    del new  # its tables may take gigabytes
    with _without_warnings_of_notices():
        saved = Solver.load(checkpoint, threads=options["threads"], game=tree)
    saved_settings = _settings(saved)
    # Without a seed or --option dtype, a run keeps the checkpoint's; only hold'em and Bluff have a choice of dtype.
    if options["seed"] is None:
        new_settings["seed"] = saved.seed
    saved_settings["dtype"] = saved.dtype
    new_settings["dtype"] = options["dtype"] if saved.dtype is not None and options["dtype"] else saved.dtype
    if differing := [name for name in new_settings if new_settings[name] != saved_settings[name]]:
        differences = " and ".join(_difference(name, saved_settings[name]) for name in differing)
        raise CheckpointError(
            f"{checkpoint} belongs to another run: its {differences}; give these settings, or another --checkpoint"
        )
    saved.current = options["current"]  # this changes no iteration
    message = f"resuming {checkpoint} after {saved.cpu_seconds:.3g} CPU seconds"
    stderr.print(message, highlight=False, markup=False, soft_wrap=True)
    return saved


@contextmanager
def _without_warnings_of_notices() -> Iterator[None]:
    """Hold back the warning of a solver that runs without blends, since its notice is printed as a line."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* runs without blends", RuntimeWarning)
        yield


def _difference(name: str, value: Any) -> str:
    """Return in words that a setting of a saved run has another value; a hash is left out."""
    if name in ("game", "lock"):
        return f"{name} differs"
    return f"{name} is {_written(**value) if isinstance(value, Mapping) else value}"


def _settings(solver: Solver) -> dict[str, Any]:
    """Return the settings that a run must share with the checkpoint that it resumes.

    The keys are the settings' names in error messages.
    """
    from rlccfr.game import without_lock

    return {
        "game": without_lock(solver.game).content_hash,
        # A locked game's hash covers the lock, too.
        "lock": None if solver.game.lock is None else solver.game.content_hash,
        **solver.specs,
        "seed": solver.seed,
        "averaging": solver.averaging,
        "simultaneous": solver.simultaneous,
        "number of walks": solver.walks,
        "choice of --option blend": solver.blend,
        "choice of --option by-hand": solver.by_hand,
    }


def reporting_time_left(solver: Solver, target: str, report: Callable[..., None]) -> Callable[[float], None]:
    """Return a function that reports progress, and the time left until the target if the curve continues as it is."""
    from rlccfr.limits import seconds_left, target_of

    target_exploitability = target_of(solver.game, target)

    def report_share(share: float) -> None:
        predicted = seconds_left(solver.points, target_exploitability)
        if predicted is None:
            report(share, seconds_left=math.nan)
            return
        passed_since = solver.cpu_seconds - solver.points[-1].cpu_seconds  # the prediction is as of the last point
        report(share, seconds_left=max(0.0, predicted - passed_since))

    return report_share


def saving(
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


def attempted(
    solver: Solver,
    algorithms: list[Cell],
    budget: dict[str, Any] | None,
    target: str | None,
    any_way: bool,
    report: Callable[[float], None],
) -> Attempt:
    """Run for the budget or to the target; if ``any_way``, at most until a linear program is predicted to be sooner."""
    if target is None:
        assert budget is not None
        return Attempt.of(solver, None, lambda: _run_segments(solver, algorithms, budget, report))
    from rlccfr.engine.linear_program import predicted_time
    from rlccfr.limits import ProgramWatch, target_of

    target_exploitability = target_of(solver.game, target)
    if not any_way:
        limit = {} if budget is None else {budget["unit"]: budget["amount"]}
        return Attempt.of(
            solver,
            target_exploitability,
            lambda: solver.run(until=target_exploitability, progress=report, **limit),
        )
    watch = ProgramWatch(solver, target_exploitability, predicted_time(solver.game).seconds)
    return Attempt.of(
        solver,
        target_exploitability,
        lambda: solver.run(until=target_exploitability, progress=report, stop=watch),
    )


def _run_segments(
    solver: Solver, algorithms: list[Cell], budget: dict[str, Any], report: Callable[[float], None]
) -> RunResult:
    """Spend the budget; several algorithms get equal shares, like the segments of an environment."""
    if len(algorithms) == 1:
        return solver.run(**{budget["unit"]: budget["amount"]}, progress=report)
    from rlccfr.envs.episode import parse_budget
    from rlccfr.envs.measuring.request import changes, segment_budget

    whole_budget = parse_budget(budget)
    result = None
    segment = 0

    def report_segment(share: float) -> None:
        report((segment + share) / len(algorithms))

    for segment, algorithm in enumerate(algorithms):
        if result is not None:
            solver.switch(**changes(algorithms[segment - 1], algorithm))
        # What a segment may spend depends on what those before it have spent.
        limit = segment_budget(whole_budget, len(algorithms), segment, result)
        result = solver.run(**limit, progress=report_segment)
    assert result is not None
    return result


def solve_by_linear_program(tree: GameTree, seconds: float | None = None) -> ExactSolution:
    """Solve a game by a linear program, with a progress bar."""
    from rlccfr.engine.linear_program import predicted_time, solve_exactly

    with progress(f"solving {tree.name}: a linear program, predicted {predicted_time(tree)}") as report:
        return solve_exactly(tree, seconds=seconds, progress=report)
