"""``rlccfr recommend``: an answer from the package's measurements, from runs here, or from a team of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from rlccfr.cli.command import option, rare
from rlccfr.cli.console import RUNS, called, load, print_json, print_table, quoted
from rlccfr.cli.options import SCALE, Json, OneBudget, StorePath
from rlccfr.cli.progress import progress
from rlccfr.cli.team_directory import team_command, trained_directory
from rlccfr.errors import CheckpointError, RLCCFRError

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.agents.team.team import SelectorTeam
    from rlccfr.catalog import Cell
    from rlccfr.engine.linear_program import PredictedTime
    from rlccfr.envs.measuring.request import Budget
    from rlccfr.envs.reward import Preset


LONGEST_PROGRAM = 600.0
"""Predicted CPU seconds up to which a linear program is worth mentioning."""


@dataclass(frozen=True)
class BudgetOptions(OneBudget):
    """The budget and the reward weights that an algorithm is recommended for."""

    TITLE: ClassVar[str] = "What the algorithm must be good at"
    iterations: int | None = option(None, "Budget in iterations.")
    seconds: float | None = option(None, "Budget in CPU seconds. [1; 60 if the game is not compiled; a team's own]")
    preset: str | None = option(None, "Weights of the reward. [accuracy; a team's own]")
    scale: str | None = rare(None, SCALE)

    def amount_or_none(self) -> dict[str, Any] | None:
        """Return the budget, or None if none was given."""
        return self.amount() if self.is_given else None

    def weights(self, default: str | Preset = "accuracy") -> Preset:
        """Return the weights of the reward."""
        from rlccfr.envs.episode import parse_preset

        return parse_preset(default if self.preset is None else self.preset, self.scale)


@dataclass(frozen=True)
class AnswerOptions:
    """Who recommends: the package, by its measurements or by runs made now, or a team of the user's."""

    TITLE: ClassVar[str] = "Who answers [the package, from its measurements]"
    measure: str | None = option(None, "Run the best few here, for this long in all: 10s.")
    team: Path | None = option(None, "A team of your own: the directory of `rlccfr train`.")
    catalog: str | None = option(
        None, "Let the package choose from: paper, tabular, extended-tabular or public. [all measured]"
    )
    shipped: bool = option(False, "The package itself, as by default.", "--shipped", hidden=True)


@dataclass(frozen=True)
class Answer:
    """A recommendation.

    Attributes:
        row: the answer for a program to read.
        text: the answer for users to read.
        algorithms: the recommended algorithms, one for each segment of a run.
        budget: the budget that they are recommended for.
        seed: seed of the run that the recommendation was measured by.
        is_measured: whether the package has measured the algorithm on the game.
        is_default: whether `rlccfr solve` makes this run if no algorithm is named.
        runs: table of the runs that decided, if there were any.
    """

    row: dict[str, Any]
    text: str
    algorithms: Sequence[Cell]
    budget: Budget
    seed: int = 0
    is_measured: bool = False
    is_default: bool = False
    runs: pd.DataFrame | None = None

    def print_for(self, game: str) -> None:
        """Print the recommendation, and a command that runs the algorithm."""
        if self.runs is not None:
            print_table(tuple(self.runs.columns), [list(row) for row in self.runs.itertuples(index=False)])
        print(self.text)
        print(f"run it: {self._solve_command(game)}")
        if self.is_measured:
            print(f"its measurements: {_insights_command(game, self.algorithms[0])}")
        predicted = _program_time(game)
        if predicted is not None:
            is_within_budget = self.budget.unit == "seconds" and predicted.seconds <= self.budget.amount
            print(
                f"{'better' if is_within_budget else 'or'} solve it exactly by a linear program, in about {predicted}, "
                f"as predicted from its size: {_exact_command(game)}"
            )

    def row_for(self, game: str) -> dict[str, Any]:
        """Return the answer for a program to read, with a command that runs the algorithm, and one for exactness.

        The latter is None, and so are its predicted seconds, if there is no linear program, or it takes long.
        """
        predicted = _program_time(game)
        exactly: dict[str, Any] = {"exact_command": None, "exact_seconds": None}
        if predicted is not None:
            exactly = {"exact_command": _exact_command(game), "exact_seconds": predicted.seconds}
        return {**self.row, "command": self._solve_command(game), **exactly}

    def _solve_command(self, game: str) -> str:
        """Return a command that runs the pick: the loaded components, each segment's algorithm, and the engine seed."""
        first, *later = self.algorithms
        words = [*called(), "solve", quoted(game)]
        for axis, component in () if self.is_default else first._asdict().items():
            words += [f"--{axis.replace('_', '-')}", quoted(component)]
        for algorithm in later:
            words += ["--option", f"then={quoted(str(algorithm))}"]
        is_time = self.budget.unit == "seconds"
        amount = f"{self.budget.amount:.15g}" if is_time else str(int(self.budget.amount))
        words += [f"--{self.budget.unit}", amount]
        if self.seed:
            words.append(f"--seed {self.seed}")
        return " ".join(words)


def recommend(
    game: Annotated[str, typer.Argument(help="A game's name or OpenSpiel string, trained on or not.")],
    budget: BudgetOptions,
    answer: AnswerOptions,
    store: StorePath = RUNS / "store",
    json: Json = False,
) -> None:
    """Say which algorithm to use for a game, and how sure that is.

    For a measured game, such as kuhn, leduc or holdem, the answer is the best measured algorithm or, with --catalog
    paper, the pick of the game's team. For another game, the answer comes from the method that chose best on games held
    out from its training: it is a learned chooser's pick, or the best algorithm of the training games. Where no game of
    the same form was measured, the answer is the run that `rlccfr solve` makes by default.

    With --measure, the answer is the winner of a few runs here. With --team, the answer is your team's pick, which is
    measured. Both options keep their measurements in --store, and do not repeat them.
    """
    race_seconds = None if answer.measure is None else _seconds(answer.measure)
    _check_together(budget, answer)
    limit = budget.amount_or_none()
    load(game)  # before any other work, since the name may be misspelt

    if answer.team is not None:
        _refuse_catalog_of_team(answer.team, answer.catalog)
        recommendation = _team_answer(game, answer.team, limit, budget, store)
    elif race_seconds is not None:
        recommendation = _race_answer(game, race_seconds, budget.weights(), answer.catalog, store)
    else:
        recommendation = _package_answer(game, limit, budget.weights(), answer.catalog)

    if json:
        print_json(recommendation.row_for(game))
        return
    recommendation.print_for(game)
    if answer.team is None:
        _print_trained_team(game, limit, budget)


def _seconds(text: str) -> float:
    """Return the number of seconds that a string such as ``10s`` or ``2.5`` stands for."""
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise RLCCFRError(f"--measure takes CPU seconds, such as 10s, not {text!r}")
    return seconds


def _check_together(budget: BudgetOptions, answer: AnswerOptions) -> None:
    """Check that the options do not ask both the package and a team, and give at most one budget."""
    if answer.measure is not None and (answer.team is not None or budget.is_given):
        raise RLCCFRError(
            "--measure runs algorithms that the package chooses, and is itself the budget: leave out --team and all "
            "other budgets"
        )
    if answer.shipped and answer.team is not None:
        raise RLCCFRError("--shipped asks the package and --team a team of your own: give one of them")


def _refuse_catalog_of_team(team: Path, catalog: str | None) -> None:
    if catalog is not None:
        raise RLCCFRError(
            f"the team in {team} picks from the catalog that it was trained on: leave out --catalog, or leave out "
            "--team to ask the package"
        )


def _package_answer(game: str, limit: dict[str, Any] | None, weights: Preset, catalog: str | None) -> Answer:
    """Return what the package recommends from its measurements."""
    with progress("asking the package"):
        from rlccfr.agents.shipped.advice import recommend

        advice = recommend(game, limit, weights, catalog)
    return Answer(
        advice.to_row(),
        str(advice),
        [advice.cell],
        advice.budget,
        is_measured=advice.basis == "best measured",
        is_default=advice.basis == "default",
    )


def _race_answer(game: str, seconds: float, weights: Preset, catalog: str | None, store: Path) -> Answer:
    """Run the recommended algorithm and the best algorithms of other games, and return which has won.

    Args:
        game: name of the game.
        seconds: CPU seconds of all runs together.
        weights: weights of the reward.
        catalog: catalog of the algorithms that may run; by default all that were measured.
        store: directory that keeps the measurements.
    """
    from rlccfr.agents.shipped.advice import raced, recommend
    from rlccfr.agents.shipped.race import RUNNERS, final_seconds
    from rlccfr.envs.episode import parse_catalog
    from rlccfr.envs.measuring.live import LiveEvaluator
    from rlccfr.envs.measuring.request import Budget
    from rlccfr.games.compiled_games import compiled

    with progress("running the best few") as report:
        evaluator = LiveEvaluator(store, keep_runs=RUNNERS)
        algorithms = None if catalog is None else parse_catalog(catalog)
        # The package's own recommendation takes part in the race.
        advice_before = recommend(game, Budget("seconds", final_seconds(seconds)), weights, catalog, evaluator)
        advice = raced(advice_before, seconds, evaluator, algorithms, report)
    assert advice.race is not None
    runs = advice.race.rename(columns={"cell": "algorithm", "throughput": "iterations/s"})
    if big_blind := compiled(game).big_blind:
        runs.insert(3, "mbb/g", 1000 * runs["exploitability"] / big_blind)
    return Answer(advice.to_row(), str(advice), [advice.cell], advice.budget, runs=runs)


def _team_answer(
    game: str, directory: Path, limit: dict[str, Any] | None, budget: BudgetOptions, store: Path
) -> Answer:
    """Return the pick of a user's team, and the reasons not to rely on it.

    Raises:
        CheckpointError: there is no team in the directory, or it can't be read.
    """
    with progress("asking the team"):
        from rlccfr.agents.judging.caveats import caveats, situations

        team = _team_in(directory, game, store)
        weights = budget.weights(default=team.env.presets[0])
        recommendation = team.recommend(game, limit, weights)
        num_evaluations = team.cost[0]
        num_situations = situations(team)
        cautions = caveats(team, recommendation, weights)
    about_team = {
        "team": str(directory),
        "evaluations": num_evaluations,
        "situations": num_situations,
        "caveats": cautions,
    }
    experience = f"{num_evaluations:,} evaluations over "
    experience += "1 situation" if num_situations == 1 else f"{num_situations:,} situations"
    lines = [
        str(recommendation),
        f"picked by the team in {directory}, which has learned from {experience} (game, budget, weights)",
        *(f"caution: {caution}" for caution in cautions),
    ]
    return Answer(
        recommendation.to_row() | about_team,
        "\n".join(lines),
        recommendation.cells,
        recommendation.budget,
        seed=team.env.engine_seeds[0],
    )


def _team_in(directory: Path, game: str, store: Path) -> SelectorTeam:
    """Return the team in a directory; the message of an error adds that the package answers without ``--team``."""
    from rlccfr.agents.team.team import SelectorTeam

    # The user may have meant the package, which needs no team.
    try:
        if not directory.exists():
            raise CheckpointError(f"there is no team at {directory}; train one with `rlccfr train '{game}'`")
        return SelectorTeam.load(directory, evaluator=store)
    except CheckpointError as error:
        raise CheckpointError(f"{error}. Or leave out --team, to ask the package") from None


def _print_trained_team(game: str, limit: dict[str, Any] | None, budget: BudgetOptions) -> None:
    """Print which of the user's teams knows the game, if any does."""
    directory = trained_directory(game, limit, budget.preset, budget.scale)
    if directory is not None:
        print(f"your team in {directory} knows the game, too: {team_command(game, directory)}")


def _insights_command(game: str, algorithm: Cell) -> str:
    """Return a command that shows the measurements of the first catalog that contains the algorithm."""
    from rlccfr.envs.episode import parse_catalog
    from rlccfr.games.names import form_named

    # `results insights` reads one catalog, and by default the paper's.
    names = form_named(game).catalogs
    catalog = next(name for name in names if algorithm in set(parse_catalog(name).with_networks("sweep")))
    return f"{' '.join([*called(), 'results', 'insights', quoted(game)])} --catalog {catalog}"


def _program_time(game: str) -> PredictedTime | None:
    """Return how long a linear program for the game is predicted to take; None if there is none, or it takes long."""
    from rlccfr.engine.linear_program import predicted_time
    from rlccfr.games.compiled_games import compiled

    tree: Any = compiled(game)
    if not tree.form.has_histories:  # it has no linear program
        return None
    predicted = predicted_time(tree)
    return predicted if predicted.seconds <= LONGEST_PROGRAM else None


def _exact_command(game: str) -> str:
    """Return the command that solves a game by a linear program."""
    return " ".join([*called(), "solve", quoted(game), "--exact"])
