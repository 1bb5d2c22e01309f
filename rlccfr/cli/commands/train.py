"""``rlccfr train``."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from rlccfr.cli.checks import at_least
from rlccfr.cli.command import check_only, option, rare
from rlccfr.cli.console import RUNS, Interrupted, called, load, print_json, quoted
from rlccfr.cli.options import Json, Seed, SeveralBudgets, StorePath, TrainingOptions, Weights
from rlccfr.cli.progress import progress
from rlccfr.cli.team_directory import new_directory, team_command
from rlccfr.errors import RLCCFRError
from rlccfr.files import held

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

CONTROL_OPTIONS = {"games", "control", "rounds", "members", "workers", "seed", "out", "fresh", "json"}
"""Parameters of the command that may be given with ``--control``."""


@dataclass(frozen=True)
class TeamOptions(TrainingOptions):
    """Training of a team."""

    segments: int = rare(1, "Algorithms per run, picked one after another. [1]", callback=at_least(1))


@dataclass(frozen=True)
class ControlOptions:
    """Training of a controller."""

    TITLE: ClassVar[str] = "A controller instead"
    control: bool = option(False, "Train a controller: it chooses settings during runs.", "--control")
    rounds: int | None = option(None, "Rounds of 20 runs each. [20,000, which take an hour]", callback=at_least(1))
    members: int | None = option(None, "Members of the ensemble. [as in the shipped controller]", callback=at_least(1))
    workers: int | None = option(None, "Number of processes. [one per physical core]", callback=at_least(0))

    @property
    def settings(self) -> dict[str, Any]:
        """The numbers that were given, by name."""
        numbers = {"rounds": self.rounds, "members": self.members, "workers": self.workers}
        return {name: value for name, value in numbers.items() if value is not None}


@dataclass(frozen=True)
class DirectoryOptions:
    """Where a training run is kept."""

    TITLE: ClassVar[str] = ""
    out: Path | None = option(
        None, "Directory of the training run. [runs/kuhn-1-second and the like; runs/control for a controller]"
    )
    fresh: bool = option(False, "Replace what is in the directory.", "--fresh")


def train(
    context: typer.Context,
    budgets: SeveralBudgets,
    weights: Weights,
    training: TeamOptions,
    control: ControlOptions,
    directory: DirectoryOptions,
    games: Annotated[
        list[str] | None, typer.Argument(help="The games to train on, names or OpenSpiel strings.")
    ] = None,
    seed: Seed = 0,
    store: StorePath = RUNS / "store",
    json: Json = False,
) -> None:
    """Train a team of three DQN selectors, or a controller.

    The team learns what to pick for each game, budget and preset. The picks are printed; `rlccfr recommend --team`
    shows them again. Ctrl-C keeps what was learned; the same command continues from there.
    """
    if control.control:
        check_only(context, "--control", CONTROL_OPTIONS, "trains a controller")
        _train_controller(games, control.settings, directory, seed, json)
        return
    if control.settings:
        raise RLCCFRError(
            f"only --control takes {', '.join(f'--{name}' for name in control.settings)}: "
            "give --control, or leave them out"
        )
    if not games:
        raise RLCCFRError("name the games to train on, such as kuhn, or train a controller with --control")
    settings = _team_settings(games, budgets, weights, training)
    for game in games:
        load(game)  # before torch, since a name may be misspelt
    out = directory.out or new_directory(games, settings["budget"], weights.names, weights.scale)
    with held(out):  # held before the team in it is loaded or replaced
        with progress("starting"):  # torch takes a moment
            team = _team(out, directory.fresh, seed, store, settings)
        _train_team(team, games, training.evaluations, out)
    _print_recommendations(team, games[0], out, json)


def _team_settings(
    games: list[str], budgets: SeveralBudgets, weights: Weights, training: TeamOptions
) -> dict[str, Any]:
    """Return the arguments of :class:`rlccfr.agents.SelectorTeam` that say what a team learns."""
    return {
        "games": games,
        "budget": budgets.amounts(),
        "preset": weights.names,
        "scale": weights.scale,
        "segments": training.segments,
        "catalog": training.catalog_for(games),
        "engine_seeds": training.engine_seeds or [0],
    }


def _team(out: Path, fresh: bool, seed: int, store: Path, settings: dict[str, Any]) -> SelectorTeam:
    """Return the directory's team, or a new one if there is none or ``fresh`` is set.

    Raises:
        RLCCFRError: the directory holds a team with other settings.
    """
    from rlccfr.agents.team.team import SelectorTeam
    from rlccfr.agents.team.team_file import FILE_NAME

    # Made even if a team was saved: two teams give their settings in the same form, in which they can be compared.
    new_team = SelectorTeam(**settings, evaluator=store, seed=seed)
    if fresh:
        (out / FILE_NAME).unlink(missing_ok=True)
    if not (out / FILE_NAME).exists():
        return new_team
    saved_team = SelectorTeam.load(out, evaluator=store)
    new_settings = {**vars(new_team.env.episodes), "seed": new_team.seed}
    saved_settings = {**vars(saved_team.env.episodes), "seed": saved_team.seed}
    differing = [name for name in new_settings if name != "evaluator" and new_settings[name] != saved_settings[name]]
    if differing:
        raise RLCCFRError(
            f"{out} holds a team that was trained with other settings ({', '.join(differing)}); name another --out, or "
            "replace the team with --fresh"
        )
    return saved_team


def _train_team(team: SelectorTeam, games: Sequence[str], evaluations: int, out: Path) -> None:
    """Train a team, which saves itself and its log as it goes."""
    from rlccfr.cli.training_display import TrainingView

    view = TrainingView()
    try:
        with progress(f"training on {', '.join(games)}", view) as report:
            team.train(evaluations, progress=report, callback=view.saw, log_dir=out)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted after {team.evaluations} of {evaluations} evaluations, kept in {out}; "
            "the same command continues from there"
        ) from None


def _print_recommendations(team: SelectorTeam, game: str, out: Path, json: bool) -> None:
    """Print what a team recommends for each game, budget and preset that it was trained on, and how to ask it again."""
    with progress("measuring the recommendations"):
        situations = itertools.product(team.env.games, team.env.budgets, team.env.presets)
        recommendations = [team.recommend(*situation) for situation in situations]
    if json:
        print_json([recommendation.to_row() for recommendation in recommendations])
        return
    for recommendation in recommendations:
        print(recommendation)
    print(f"{team.evaluations} algorithms measured; the team is in {out}")
    print(f"ask it: {team_command(game, out)}")


def _train_controller(
    games: Sequence[str] | None, settings: dict[str, Any], directory: DirectoryOptions, seed: int, json: bool
) -> None:
    """Train a controller, and print where it is.

    Args:
        games: the games to train on; by default those of the shipped controller.
        settings: the values of ``rounds``, ``members`` and ``workers``, without those that were not given.
        directory: where to keep the training run, by default in ``runs/control``.
        seed: seed of the training run.
        json: whether to print JSON.
    """
    out = directory.out or RUNS / "control"
    for game in games or ():
        load(game)
    with progress("starting"):  # torch takes a moment
        from rlccfr.agents.control.directory import CONTROLLER, holds_controller
        from rlccfr.agents.control.train import MEMBERS, ROUNDS, train_controller
    rounds = settings.get("rounds", ROUNDS)
    members = settings.get("members", MEMBERS)
    if games:
        training_games = "1 game" if len(games) == 1 else f"{len(games)} games"
    else:
        training_games = "the shipped controller's games"
    try:
        with progress(f"training a controller on {training_games}") as report:
            train_controller(games or None, out, **settings, seed=seed, fresh=directory.fresh, progress=report)
    except KeyboardInterrupt:
        # Rounds are saved every minute, so nothing may have been saved yet.
        if not holds_controller(out):
            raise Interrupted("interrupted before anything was saved; training is saved every minute") from None
        resuming = "the same command without --fresh" if directory.fresh else "the same command"
        raise Interrupted(
            f"interrupted; {resuming} continues from there, and --controller {quoted(str(out / 'member-0'))} uses what "
            "the first member has learned so far"
        ) from None
    file = out / CONTROLLER
    if json:
        print_json({"controller": str(file), "members": members, "rounds": rounds})
        return
    trained = "1 member" if members == 1 else f"{members} members"
    print(f"{trained} trained for {rounds:,} rounds; the controller is {file}")
    print(f"use it: {' '.join(called())} solve GAME --controller {quoted(str(file))}")
