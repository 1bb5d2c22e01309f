"""``rlccfr recommend``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rlccfr.cli.console import RUNS, Iterations, Json, Nodes, Seconds, StorePath, budget, load, print_json, progress
from rlccfr.cli.train import default_directory
from rlccfr.errors import CheckpointError


def recommend(
    game: Annotated[str, typer.Argument(help="A game's name or OpenSpiel string, trained on or not.")],
    team: Annotated[Path | None, typer.Option(help="Directory that `rlccfr train` wrote. [runs/GAME]")] = None,
    iterations: Iterations = None,
    seconds: Seconds = None,
    nodes: Nodes = None,
    store: StorePath = RUNS / "store",
    json: Json = False,
) -> None:
    """Print what a trained team picks for a game.

    Also what that reaches there, measured. The budget is the one that the team was trained on, unless another is given.
    """
    directory = team or default_directory([game])
    if not directory.exists():
        raise CheckpointError(
            f"there is no team at {directory}; train one with `rlccfr train {game}`, or name one with --team"
        )
    limit: dict[str, Any] | None = None
    if (iterations, seconds, nodes) != (None, None, None):
        limit = budget(iterations, seconds, nodes)
    load(game)
    with progress("asking the team"):
        from rlccfr.agents.team import SelectorTeam

        found = SelectorTeam.load(directory, evaluator=store).recommend(game, limit)
    if json:
        print_json(found.to_row())
        return
    print(found)
    rule, sampler, abstraction = found.cell
    print(
        f"run it: rlccfr solve '{game}' --update-rule {rule} --sampler {sampler} --abstraction {abstraction} "
        f"--{found.budget.unit} {found.budget.amount:g}"
    )
