"""``rlccfr explore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlccfr.cli.checks import at_least, file_to_write
from rlccfr.cli.console import load
from rlccfr.cli.options import GameOfFile
from rlccfr.cli.progress import progress


def explore(
    policy: Annotated[str, typer.Argument(help="A policy that `rlccfr solve --policy` wrote, or a run that it saved.")],
    page: Annotated[
        Path, typer.Argument(callback=file_to_write(".html", ".htm"), help="The page to write, such as leduc.html.")
    ],
    game: GameOfFile = None,
    start: Annotated[
        str, typer.Option("--from", help="Path of the page's first point in hold'em or Bluff, such as rc/KhQd2c/.")
    ] = "",
    most: Annotated[
        int, typer.Option(callback=at_least(1), help="Most states on the page, in hold'em or Bluff.")
    ] = 200_000,
) -> None:
    """Write a page on which to walk through a game in a browser.

    At each point of the game, the page shows the possible moves. For each state of the player to move, it shows what
    the policy does, what the state is worth, and what each action would gain. The page is one file, and loads nothing
    from a network. A page on hold'em or Bluff holds at most --most states; with --from, it starts elsewhere.
    """
    from rlccfr.cli.policies.named import policy_of
    from rlccfr.explorer.pages import write_page
    from rlccfr.files import require_writable

    require_writable(page)
    tree = None if game is None else load(game)
    explored = policy_of(policy, tree)
    limit = "" if explored.game.form.has_histories else f", of at most {most:,} states"
    with progress(f"writing {page}{limit}"):
        size = write_page(explored, page, start=start, most=most)
    print(f"{page}: open it in a browser ({size})")
    if not size.whole:
        print("The page does not hold the whole game: --from starts it elsewhere, and --most takes more states.")
