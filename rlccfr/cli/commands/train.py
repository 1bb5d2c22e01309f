"""``rlccfr train``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import (
    RUNS,
    CatalogName,
    Evaluations,
    Interrupted,
    Json,
    PresetNames,
    ScaleName,
    Seed,
    SeveralIterations,
    SeveralNodes,
    SeveralSeconds,
    StorePath,
    budgets,
    called,
    check_only,
    load,
    print_json,
    quoted,
)
from rlccfr.cli.progress import progress
from rlccfr.cli.team_directory import new_directory, team_command
from rlccfr.cli.training_display import TrainingView
from rlccfr.errors import RLCCFRError
from rlccfr.files import held

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam

CONTROL_OPTIONS = {"games", "control", "rounds", "members", "workers", "seed", "out", "fresh", "json"}
"""Parameters of the command that may be given with ``--control``."""


def train(
    context: typer.Context,
    games: Annotated[
        list[str] | None, typer.Argument(help="The games to train on, names or OpenSpiel strings.")
    ] = None,
    iterations: SeveralIterations = None,
    seconds: SeveralSeconds = None,
    nodes: SeveralNodes = None,
    presets: PresetNames = None,
    scale: ScaleName = None,
    catalog: CatalogName = "paper",
    evaluations: Evaluations = 24,
    segments: Annotated[
        int, typer.Option(help="Decisions per episode; with more than 1, algorithms change during a run.")
    ] = 1,
    engine_seeds: Annotated[
        list[int] | None, typer.Option("--engine-seed", help="Engine seed of the runs; may be repeated.")
    ] = None,
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Directory of the team, its log and TensorBoard's files. [runs/GAMES, then the budget, the weights "
            "and their scale unless they are the defaults, as in runs/kuhn-1-second; runs/control for a controller]"
        ),
    ] = None,
    store: StorePath = RUNS / "store",
    fresh: Annotated[bool, typer.Option("--fresh", help="Replace what is in the directory.")] = False,
    control: Annotated[
        bool, typer.Option("--control", help="Train a controller, which chooses a rule's settings during a run.")
    ] = False,
    rounds: Annotated[
        int | None,
        typer.Option(help="Rounds of a controller's training, of 20 runs each. [45,000: hours]", show_default=False),
    ] = None,
    members: Annotated[
        int | None,
        typer.Option(
            help="A controller's trainings, which decide together. [as for the shipped one]", show_default=False
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that train a controller. [one per physical core]", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Train a team of three DQN selectors, or a controller.

    The default budget is 1,000 iterations. For `accuracy`, which weighs error alone, prefer --seconds. With several
    games, budgets or presets the team learns what to pick for each. An algorithm is measured at most once per game,
    budget, engine seed and sequence of earlier picks in the episode, and the measurement serves all presets. The
    command prints the recommendations; `rlccfr recommend --team` asks the team again. Ctrl-C keeps what was measured
    and learned; the same command resumes, up to the number of evaluations.

    With --control, three DQN agents learn to steer runs. Without games, these are the games that the shipped controller
    was trained on. Ctrl-C keeps the last saved round; the same command resumes.
    """
    if control:
        check_only(context, "--control", CONTROL_OPTIONS, "trains a controller")
    numbers = {"rounds": rounds, "members": members, "workers": workers}
    control_settings = {name: value for name, value in numbers.items() if value is not None}
    if control:
        _train_controller(games, out or RUNS / "control", control_settings, seed, fresh, json)
        return
    if control_settings:
        raise RLCCFRError(f"only --control takes {', '.join(f'--{name}' for name in control_settings)}")
    if not games:
        raise RLCCFRError("name the games to train on, such as kuhn; or train a controller with --control")
    limits = budgets(iterations, seconds, nodes)
    for game in games:
        load(game)
    out = out or new_directory(games, limits, presets or ["accuracy"], scale)
    settings = {
        "games": games,
        "budget": limits,
        "preset": presets or ["accuracy"],
        "scale": scale,
        "segments": segments,
        "catalog": catalog,
        "engine_seeds": engine_seeds or [0],
    }
    with held(out):  # held before the team in it is loaded or replaced
        with progress("starting"):  # torch takes a moment
            team = _team(out, fresh, seed, store, settings)
        _train_team(team, games, evaluations, out)
    _print_recommendations(team, games[0], out, json)


def _team(out: Path, fresh: bool, seed: int, store: Path, settings: dict[str, Any]) -> SelectorTeam:
    """Return the directory's team, or a new one if there is none or ``fresh`` is set.

    Raises:
        RLCCFRError: the directory holds a team with other settings.
    """
    from rlccfr.agents.team.team import SelectorTeam
    from rlccfr.agents.team.team_file import FILE_NAME

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
            f"{out} holds a team trained with another {' and '.join(differing)}; name another --out, or replace it "
            "with --fresh"
        )
    return saved_team


def _train_team(team: SelectorTeam, games: Sequence[str], evaluations: int, out: Path) -> None:
    """Train a team, which saves itself and its log as it goes."""
    view = TrainingView()
    try:
        with progress(f"training on {', '.join(games)}", view) as report:
            team.train(evaluations, progress=report, callback=view.saw, log_dir=out)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted after {team.evaluations} of {evaluations} evaluations, kept in {out}; "
            "the same command goes on from there"
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
    games: Sequence[str] | None, out: Path, settings: Mapping[str, Any], seed: int, fresh: bool, json: bool
) -> None:
    """Train a controller, and print where it is.

    Args:
        games: the games to train on; by default those of the shipped controller.
        out: directory of the training.
        settings: those of ``rounds``, ``members`` and ``workers`` that were given.
        seed: seed of the training.
        fresh: whether to replace a training in the directory.
        json: whether to print JSON.
    """
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
            train_controller(games or None, out, **settings, seed=seed, fresh=fresh, progress=report)
    except KeyboardInterrupt:
        if not holds_controller(out):
            raise Interrupted("interrupted before anything was saved, which is done every minute") from None
        resuming = "the same command without --fresh" if fresh else "the same command"
        raise Interrupted(
            f"interrupted; {resuming} goes on, and --controller {quoted(str(out / 'member-0'))} uses what the "
            "first member has learned so far"
        ) from None
    file = out / CONTROLLER
    if json:
        print_json({"controller": str(file), "members": members, "rounds": rounds})
        return
    trainings = "1 training" if members == 1 else f"{members} trainings"
    print(f"{trainings} of {rounds:,} rounds; the controller is {file}")
    print(f"use it by: {' '.join(called())} solve GAME --controller {quoted(str(file))}")
