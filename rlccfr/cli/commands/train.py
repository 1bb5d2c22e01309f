"""``rlccfr train``."""

from __future__ import annotations

import itertools
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
    check_only,
    load,
    print_json,
)
from rlccfr.cli.control import ALLOWED, train_and_print
from rlccfr.cli.progress import progress
from rlccfr.cli.team_directory import new_directory, team_command
from rlccfr.cli.training_display import TrainingView
from rlccfr.errors import RLCCFRError
from rlccfr.files import held

if TYPE_CHECKING:
    from rlccfr.agents.team.team import SelectorTeam


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
    given = {"rounds": rounds, "members": members, "workers": workers}
    settings = {name: value for name, value in given.items() if value is not None}
    if control:
        check_only(context, "--control", ALLOWED, "trains a controller")
        train_and_print(games, out or RUNS / "control", settings, seed, fresh, json)
        return
    if settings:
        raise RLCCFRError(f"only --control takes {', '.join(f'--{name}' for name in settings)}")
    if not games:
        raise RLCCFRError("name the games to train on, such as kuhn; or train a controller with --control")
    limits = budgets(iterations, seconds, nodes)
    for game in games:
        load(game)
    out = out or new_directory(games, limits, presets or ["accuracy"], scale)
    with held(out):  # held before the team in it is loaded or replaced
        with progress("starting"):  # torch takes a moment
            team = _team(
                out, fresh, seed, store,
                {
                    "games": games, "budget": limits, "preset": presets or ["accuracy"], "scale": scale,
                    "segments": segments, "catalog": catalog, "engine_seeds": engine_seeds or [0],
                },
            )  # fmt: skip
        try:
            view = TrainingView()
            with progress(f"training on {', '.join(games)}", view) as report:
                team.train(evaluations, progress=report, callback=view.saw, log_dir=out)
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted after {team.evaluations} of {evaluations} evaluations, kept in {out}; "
                "the same command goes on from there"
            ) from None
    with progress("measuring the recommendations"):
        found = [team.recommend(*one) for one in itertools.product(team.env.games, team.env.budgets, team.env.presets)]
    if json:
        print_json([one.to_row() for one in found])
        return
    for one in found:
        print(one)
    print(f"{team.evaluations} algorithms measured; the team is in {out}")
    print(f"ask it: {team_command(games[0], out)}")


def _team(out: Path, fresh: bool, seed: int, store: Path, settings: dict[str, Any]) -> SelectorTeam:
    """Return the directory's team, or a new one if there is none or ``fresh`` is set.

    Raises:
        RLCCFRError: the directory holds a team with other settings.
    """
    from rlccfr.agents.team.team import SelectorTeam
    from rlccfr.agents.team.team_file import FILE_NAME

    new = SelectorTeam(**settings, evaluator=store, seed=seed)
    if fresh:
        (out / FILE_NAME).unlink(missing_ok=True)
    if not (out / FILE_NAME).exists():
        return new
    old = SelectorTeam.load(out, evaluator=store)
    wanted, there = ({**vars(team.env.episodes), "seed": team.seed} for team in (new, old))
    differing = [name for name in wanted if name != "evaluator" and wanted[name] != there[name]]
    if differing:
        raise RLCCFRError(
            f"{out} holds a team trained with another {' and '.join(differing)}; name another --out, or replace it "
            "with --fresh"
        )
    return old
