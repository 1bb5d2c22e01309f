"""``rlccfr explore``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rlccfr.cli.checks import at_least, file_to_write
from rlccfr.cli.console import load
from rlccfr.cli.options import GameOfFile
from rlccfr.cli.progress import progress, stderr

if TYPE_CHECKING:
    from rlccfr.explorer.pages import PredictedSize


LARGE_PAGE = 50e6
"""Bytes above which a page's predicted size is printed before it is written, since browsers open it slowly."""


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
        int, typer.Option(callback=at_least(1), help="Largest number of states on the page, in hold'em or Bluff.")
    ] = 200_000,
) -> None:
    """Write a page on which to walk through a game in a browser.

    At each point of the game, the page shows the possible moves. For each state of the player to move, it shows what
    the policy does, what the state is worth, and what each action would gain. The page is one file, and loads nothing
    from a network. A page on hold'em or Bluff has at most --most states; with --from, it starts at a later point.
    """
    from rlccfr.cli.policies.named import policy_of
    from rlccfr.explorer.pages import predicted_size, write_page
    from rlccfr.files import require_writable

    require_writable(page)
    tree = None if game is None else load(game)
    explored = policy_of(policy, tree)
    predicted = predicted_size(explored, start=start, most=most)
    if predicted.num_bytes > LARGE_PAGE:
        shown = shlex.join([policy, *([] if game is None else ["--game", game])])
        _say_large(page, predicted, shown, has_limit=not explored.game.form.has_histories)
    limit = "" if explored.game.form.has_histories else f", of at most {most:,} states"
    with progress(f"writing {page}{limit}"):
        size = write_page(explored, page, start=start, most=most)
    print(f"{page}: open it in a browser ({size})")
    if not size.whole:
        print("The page does not show the whole game: --from starts it elsewhere, and a larger --most adds states.")


def _say_large(page: Path, predicted: PredictedSize, shown: str, *, has_limit: bool) -> None:
    """Before a large page is written, print how large it will be, and how to make it smaller.

    Args:
        page: the page.
        predicted: its predicted size.
        shown: the policy and its game, as arguments of ``rlccfr show``.
        has_limit: whether the page can begin elsewhere and have fewer states.
    """
    if has_limit:
        fitting = int(LARGE_PAGE / predicted.num_bytes * predicted.states)
        advice = f"--most {fitting} makes it {LARGE_PAGE / 1e6:.0f} MB, and --from starts it further down"
    else:
        advice = f"it shows the whole game; `rlccfr show {shown} --find TEXT` shows only some states"
    message = f"{page} will have {predicted}, which a browser opens slowly: {advice}"
    stderr.print(message, highlight=False, markup=False, soft_wrap=True)
