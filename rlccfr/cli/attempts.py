"""What a run of ``rlccfr solve`` has led to, and the files that keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlccfr.cli.exact import solved
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.games.public.kinds import Game
    from rlccfr.policy import Policy
    from rlccfr.result import RunResult
    from rlccfr.solver import Solver


@dataclass(frozen=True)
class Attempt:
    """A run, and what came after it.

    Attributes:
        result: the run's totals.
        interrupted: whether Ctrl-C ended the run or the linear program.
        solution: the linear program's, if one was solved after the run.
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
            return replace(self, solution=solved(self.solver.game))
        except KeyboardInterrupt:
            return replace(self, interrupted=True)
        except MemoryError:
            return replace(self, failure=RLCCFRError("out of memory in the linear program; go on without --any"))
        except RLCCFRError as error:
            return replace(self, failure=error)

    @property
    def exploitability(self) -> float:
        return self.result.exploitability if self.solution is None else self.solution.exploitability

    @property
    def reached(self) -> bool:
        """Whether the target was reached; true if there is none."""
        return self.result.target is None or self.exploitability <= self.result.target


@dataclass(frozen=True)
class Outputs:
    """Files to write: the solver, its policy, its curve as a table and as a plot, its first decision as a picture."""

    checkpoint: Path | None
    policy: Path | None
    curve: Path | None
    plot: Path | None
    picture: Path | None

    def check(self) -> None:
        """Check that they can be written, before anything is run.

        Raises:
            RLCCFRError: one can't be.
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
        """Check that a game has them, before anything is run.

        Raises:
            RLCCFRError: its policy can't be written in that form, or its first decision can't be drawn.
        """
        from rlccfr.games.gambit.files import refuse_source
        from rlccfr.games.public.view import PublicGame

        if not isinstance(game, PublicGame):
            for path in (self.checkpoint, self.policy, self.curve, self.plot, self.picture):
                if path is not None:
                    refuse_source(path, game.openspiel_name)
        if isinstance(game, PublicGame):
            from rlccfr.policies.public_policy_file import checked_public_path

            if self.policy is not None:
                checked_public_path(self.policy, game)
        elif self.picture is not None:
            raise RLCCFRError(
                f"--picture draws hands of hold'em and rolls of Bluff, and {game.name!r} has neither: leave it out"
            )

    def write(self, solver: Solver, attempt: Attempt, title: str) -> None:
        """Write them.

        Raises:
            RLCCFRError: one can't be written.
        """
        if self.checkpoint is not None:
            solver.save(self.checkpoint)
        if self.policy is not None or self.picture is not None:
            self._write_policy(solver.average_policy() if attempt.solution is None else attempt.solution.policy)
        if self.curve is not None:
            from rlccfr.files import write_atomically

            write_atomically(self.curve, attempt.result.curve.to_csv(index=False).encode(), RLCCFRError)
        if self.plot is not None:
            from rlccfr.pictures import save

            save(attempt.result.plot(label=title), self.plot)

    def tell(self) -> None:
        """Print the files' names."""
        names = [str(path) for path in astuple(self) if path is not None]
        if names:
            print(f"written: {', '.join(names)}")

    def _write_policy(self, policy: Policy) -> None:
        """Write a policy, and the picture of its first decision."""
        if self.policy is not None:
            policy.save(self.policy)
        if self.picture is not None:
            from rlccfr.pictures import save
            from rlccfr.policies.public_policy import PublicPolicy

            assert isinstance(policy, PublicPolicy)  # checked before the run
            save(policy.plot_range(), self.picture)
