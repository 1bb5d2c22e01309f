"""``rlccfr games``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlccfr.cli.console import Json, MaxHistories, load, print_json, print_table
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.games.flat_tree import GameTree


def games(
    game: Annotated[str | None, typer.Argument(help="Compile this game and print its size.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List OpenSpiel's own too; some are too large.")] = False,
    max_histories: MaxHistories = None,
    plot: Annotated[Path | None, typer.Option(help="Draw this game's tree, if it is small: .png, .svg, .pdf.")] = None,
    json: Json = False,
) -> None:
    """List the games, or describe one.

    Any two-player zero-sum OpenSpiel string is a game, for example "liars_dice(numdice=1,dice_sides=4)".
    """
    if plot is not None and game is None:
        raise RLCCFRError("--plot draws one game: name it")
    if game is not None:
        tree = load(game, max_histories)
        if plot is not None:
            from rlccfr.pictures import checked_picture, save

            save(tree.plot(), checked_picture(plot))
        _describe(tree, json)
        return
    from rlccfr.games.names import NAMED_GAMES

    rows = [{"name": g.name, "openspiel": g.openspiel_name, "description": g.description} for g in NAMED_GAMES.values()]
    if every:
        from rlccfr.games.openspiel import solvable_names

        rows += [
            {"name": name, "openspiel": name, "description": text}
            for name, text in solvable_names().items()
            if name not in NAMED_GAMES
        ]
    if json:
        print_json(rows)
    else:
        print_table(("game", "description"), [(row["name"], row["description"]) for row in rows])


def _describe(tree: GameTree, json: bool) -> None:
    import numpy as np

    from rlccfr.policy import Policy

    facts = {
        "name": tree.name,
        "openspiel": tree.openspiel_name,
        "histories": tree.num_histories,
        "infosets": tree.num_infosets,
        "sequences": tree.num_sequences,
        "depth": tree.depth,
        "max_actions": int(np.diff(tree.view.first_sequence).max(initial=0)),
        "utility_range": tree.utility_range,
        "uniform_exploitability": Policy.uniform(tree).exploitability(),
    }
    if json:
        print_json(facts)
    else:
        print_table(("", tree.name), list(facts.items())[1:])
