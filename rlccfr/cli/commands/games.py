"""``rlccfr games``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.checks import file_to_write
from rlccfr.cli.console import load, print_json, print_table
from rlccfr.cli.options import GameOptions, Json
from rlccfr.errors import RLCCFRError

if TYPE_CHECKING:
    from rlccfr.game import Game


def games(
    options: GameOptions,
    game: Annotated[str | None, typer.Argument(help="Compile this game and print its size.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List OpenSpiel's own games, too; some are too large.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(callback=file_to_write(), help="Draw this game's tree, if it is small: .png, .svg, .pdf."),
    ] = None,
    json: Json = False,
) -> None:
    """List the games, or describe one.

    Any two-player zero-sum OpenSpiel string is a game, for example "liars_dice(numdice=1,dice_sides=4)".
    """
    if plot is not None and game is None:
        raise RLCCFRError("--plot draws one game: name the game")
    if game is None:
        _list_games(every, json)
        return
    facts = _facts_before_loading(game) if plot is None and options.max_histories is None else None
    if facts is not None:
        _print_facts(facts, json)
        return
    tree = load(game, options.max_histories)
    if plot is not None:
        _draw(tree, plot)
    _describe(tree, json)


def _draw(tree: Game, path: Path) -> None:
    """Draw a game's tree to a file."""
    from rlccfr.games.flat_tree import checked_tree
    from rlccfr.pictures import checked_picture, draw_tree, save

    save(draw_tree(checked_tree(tree, "--plot")), checked_picture(path))


def _list_games(every: bool, json: bool) -> None:
    """Print the named games, the games with a public tree, the random games, and the games that users registered.

    Loaded files and plugins register games. If ``every``, all games of OpenSpiel that can be solved are printed, too.
    """
    from rlccfr.games.names import NAMED_GAMES, RANDOM_KINDS
    from rlccfr.games.public.names import LISTED
    from rlccfr.plugins import loaded

    rows: list[dict[str, str | None]] = [
        {"name": named.name, "openspiel": named.openspiel_name, "description": named.description}
        for named in NAMED_GAMES.values()
    ]
    rows += [{"name": name, "openspiel": None, "description": text} for name, text in LISTED.items()]
    seeded = {f"random_{kind}": text for kind, text in RANDOM_KINDS.items()}
    rows += [{"name": name, "openspiel": name, "description": text} for name, text in seeded.items()]
    if every or loaded.files or loaded.plugins:
        from rlccfr.games.openspiel import games_not_shipped, solvable_names

        further = solvable_names() if every else games_not_shipped()
        rows += [
            {"name": name, "openspiel": name, "description": text}
            for name, text in further.items()
            if name not in NAMED_GAMES | seeded
        ]
    if json:
        print_json(rows)
    else:
        print_table(("game", "description"), [(row["name"], row["description"]) for row in rows])


def _facts_before_loading(game: str) -> dict[str, Any] | None:
    """Return a game's sizes without loading it, if its form knows them and loading it takes long; else None."""
    from rlccfr.games.names import form_named

    form = form_named(game)
    facts: dict[str, Any] | None = form.part("sizes_before_loading")(game) if form.sizes_before_loading else None
    return None if facts is None else {**facts, "uniform_exploitability": None}


def _describe(tree: Game, json: bool) -> None:
    """Print a game's size."""
    from rlccfr.game import policy_class

    uniform = policy_class(tree).uniform(tree)
    exploitability = uniform.exploitability() if uniform.has_values else None
    _print_facts({**tree.sizes(), "uniform_exploitability": exploitability}, json)


def _print_facts(facts: dict[str, Any], json: bool) -> None:
    """Print a game's name and sizes; None stands for what is not known."""
    if json:
        print_json(facts)
    else:
        known = {name: "not known" if value is None else value for name, value in facts.items()}
        print_table(("", facts["name"]), list(known.items())[1:])
