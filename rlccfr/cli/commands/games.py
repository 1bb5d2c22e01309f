"""``rlccfr games``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.console import load, print_json, print_table
from rlccfr.cli.options import GameOptions, Json
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.games.flat_tree import GameTree
    from rlccfr.games.public.kinds import Game
    from rlccfr.games.public.view import PublicGame


def games(
    options: GameOptions,
    game: Annotated[str | None, typer.Argument(help="Compile this game and print its size.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List OpenSpiel's own too; some are too large.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw this game's tree, if it is small: .png, .svg, .pdf.")] = None,
    json: Json = False,
) -> None:
    """List the games, or describe one.

    Any two-player zero-sum OpenSpiel string is a game, for example "liars_dice(numdice=1,dice_sides=4)".
    """
    if plot is not None and game is None:
        raise RLCCFRError("--plot draws one game: name it")
    if game is None:
        _list_games(every, json)
        return
    tree = load(game, options.max_histories)
    if plot is not None:
        _draw(tree, plot)
    _describe(tree, json)


def _draw(tree: Game, path: Path) -> None:
    """Draw a game's tree to a file."""
    from rlccfr.games.public.view import PublicGame
    from rlccfr.pictures import checked_picture, draw_tree, save

    if isinstance(tree, PublicGame):
        raise RLCCFRError(f"{tree.name!r} has a public tree and no tree of histories to draw: leave out --plot")
    save(draw_tree(tree), checked_picture(path))


def _list_games(every: bool, json: bool) -> None:
    """Print the named games, those with a public tree and the random ones; if ``every``, OpenSpiel's, too."""
    from rlccfr.games.names import NAMED_GAMES, RANDOM_KINDS
    from rlccfr.games.public.names import LISTED

    rows: list[dict[str, str | None]] = [
        {"name": named.name, "openspiel": named.openspiel_name, "description": named.description}
        for named in NAMED_GAMES.values()
    ]
    rows += [{"name": name, "openspiel": None, "description": text} for name, text in LISTED.items()]
    seeded = {f"random_{kind}": text for kind, text in RANDOM_KINDS.items()}
    rows += [{"name": name, "openspiel": name, "description": text} for name, text in seeded.items()]
    if every:
        from rlccfr.games.openspiel import solvable_names

        rows += [
            {"name": name, "openspiel": name, "description": text}
            for name, text in solvable_names().items()
            if name not in NAMED_GAMES | seeded
        ]
    if json:
        print_json(rows)
    else:
        print_table(("game", "description"), [(row["name"], row["description"]) for row in rows])


def _describe(tree: Game, json: bool) -> None:
    """Print a game's size."""
    from rlccfr.games.public.view import PublicGame

    facts = _facts_of_public(tree) if isinstance(tree, PublicGame) else _facts(tree)
    if json:
        print_json(facts)
    else:
        print_table(("", tree.name), list(facts.items())[1:])


def _facts_of_public(game: PublicGame) -> dict[str, Any]:
    """Return facts about a public-tree game."""
    from rlccfr.policies.public_policy import PublicPolicy

    return {
        "name": game.name,
        "public_nodes": game.num_nodes,
        "infosets": game.num_infosets,
        "sequences": game.num_sequences,
        "depth": game.depth,
        "max_actions": int(game.actions.max()),
        "utility_range": game.utility_range,
        "big_blind": game.big_blind,
        "gigabytes_of_tables": 2 * game.dtype.itemsize * game.num_sequences / 1e9,
        "uniform_exploitability": PublicPolicy.uniform(game).exploitability(),
    }


def _facts(tree: GameTree) -> dict[str, Any]:
    """Return facts about a compiled game."""
    import numpy as np

    from rlccfr.policy import Policy

    return {
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
