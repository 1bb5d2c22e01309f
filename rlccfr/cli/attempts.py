"""What a run of ``rlccfr solve`` has led to: its facts, how they are printed, and the files that keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlccfr.cli.console import print_table
from rlccfr.cli.exact import solved
from rlccfr.errors import RLCCFRError
from rlccfr.games.flat_tree import GameTree
from rlccfr.registry import abstractions

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.game import Game
    from rlccfr.policy import Policy
    from rlccfr.result import RunResult
    from rlccfr.solver import Solver


LONGEST_TITLE = 80
"""Longest title in characters."""

OPTIONAL_FACTS = (
    ("in mbb/g", "mbb", "thousandths of a big blind per game"),
    (
        "inside the abstraction",
        "exploitability_abstract",
        "the same, with best responses of one policy per bucket",
    ),
)
"""Title, name and meaning of facts that not all runs have."""


@dataclass(frozen=True)
class Attempt:
    """A run, and what came after it.

    Attributes:
        solver: the solver that ran.
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
        """Exploitability of the linear program's policy if there is one, else of the run's average policy."""
        return self.result.exploitability if self.solution is None else self.solution.exploitability

    @property
    def reached(self) -> bool:
        """Whether the target was reached; true if there is none."""
        return self.result.target is None or self.exploitability <= self.result.target


def title_of(algorithms: list[Cell]) -> str:
    """Return the algorithms of a run, one after another, without hyperparameters if that is too long for a line."""
    title = ", then ".join(str(algorithm) for algorithm in algorithms)
    if len(title) <= LONGEST_TITLE:
        return title
    without_hyperparameters = [
        " x ".join(component.partition("(")[0] for component in algorithm) for algorithm in algorithms
    ]
    return ", then ".join(without_hyperparameters)


def facts_of(solver: Solver, algorithms: list[Cell], attempt: Attempt) -> dict[str, Any]:
    """Return the facts of a finished run, by name."""
    values = solver.values()
    result = attempt.result
    payoffs = solver.game.opponent_payoffs
    big_blind = solver.game.big_blind
    return {
        "game": solver.game.name,
        "method": "iterations",
        **solver.specs,
        "segments": [algorithm._asdict() for algorithm in algorithms],
        "seed": solver.seed,
        "exploitability": result.exploitability,
        "exploitability_abstract": result.exploitability_abstract,
        "nash_conv": result.nash_conv,
        "mbb": None if big_blind is None else 1000 * result.exploitability / big_blind,
        "value": payoffs.of_both(values.game[0]),
        "best_response_value": payoffs.of_best_responses(values.best_response),
        "iterations": result.iterations,
        "nodes_touched": result.nodes_touched,
        "cpu_seconds": result.cpu_seconds,
        "throughput": result.throughput,
        "unfinished": result.unfinished,
        "target": result.target,
        "reached": result.reached if result.target is not None else None,
        "interrupted": attempt.interrupted,
    }


def nodes_title(game: Game, algorithms: list[Cell]) -> str:
    """Return what ``nodes_touched`` counts in a run: histories, or over a public tree private states, or both."""
    if isinstance(game, GameTree):
        return "histories touched"
    used = [abstractions.resolve(algorithm.abstraction) for algorithm in algorithms]
    over_buckets = {abstraction.buckets is not None and not abstraction.responds for abstraction in used}
    if len(over_buckets) > 1:
        return "histories touched and private states met"
    return "histories touched" if over_buckets == {True} else "private states met"


def print_facts(facts: dict[str, Any], algorithm: str, nodes_touched: str) -> None:
    """Print facts as a table.

    Args:
        facts: the facts, from :func:`facts_of`.
        algorithm: name of the algorithm or algorithms.
        nodes_touched: what ``nodes_touched`` counts.
    """
    first_value, second_value = facts["value"]
    target = "" if facts["target"] is None else f"; the target was {facts['target']:.4g}"
    unfinished = ", and walks of one that is not finished" if facts["unfinished"] else ""
    rows = [
        ("exploitability", facts["exploitability"], f"NashConv / 2 of the average policy{target}"),
        *((title, facts[name], meaning) for title, name, meaning in OPTIONAL_FACTS if facts[name] is not None),
        ("NashConv", facts["nash_conv"], "sum of both players' gains from best responses"),
        ("value of player 0", first_value, f"of player 1: {second_value:.4g}"),
        ("iterations", facts["iterations"], f"{facts['throughput']:,.0f} per engine CPU second{unfinished}"),
        ("engine CPU seconds", facts["cpu_seconds"], "excluding loading, compiling and measuring"),
        (nodes_touched, facts["nodes_touched"], ""),
    ]
    title = f"{facts['game']}: {algorithm}"
    if facts["interrupted"]:
        title += ", interrupted"
    print_table(("", "", ""), rows, title=title)


@dataclass(frozen=True)
class Outputs:
    """Files to write; None for those that are not wanted.

    Attributes:
        checkpoint: the solver.
        policy: its average policy, or the linear program's.
        curve: its convergence curve as a table.
        plot: the curve as a plot.
        picture: the first decision, drawn.
    """

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

        for path in (self.checkpoint, self.policy, self.curve, self.plot, self.picture):
            if path is not None:
                refuse_source(path, game.full_name)
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
