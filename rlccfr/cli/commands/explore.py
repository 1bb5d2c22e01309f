"""``rlccfr explore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlccfr.cli.console import GameOfFile, load, progress


def explore(
    policy: Annotated[str, typer.Argument(help="A policy that `rlccfr solve --policy` wrote, or a run that it saved.")],
    page: Annotated[Path, typer.Argument(help="The page to write, such as leduc.html.")],
    game: GameOfFile = None,
) -> None:
    """Write a page for a browser, on which you walk through the game and see what a policy does.

    At each point of the game the page shows the moves that lead on, and for each state of the player who moves what the
    policy does there, what it is worth, and what each action would gain. It is one file, and loads nothing from a
    network.
    """
    from rlccfr.cli.policies import policy_of
    from rlccfr.explorer.page import write_page
    from rlccfr.explorer.points import points
    from rlccfr.files import require_writable

    require_writable(page)
    tree = None if game is None else load(game)
    with progress(f"writing {page}"):
        found = policy_of(policy, tree)
        write_page(found, page, points(found))
    print(f"{page}: open it in a browser")
