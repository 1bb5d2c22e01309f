"""Pages on which a person walks through a game and sees what a policy does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlccfr.policy import Policy


def write_page(policy: Policy, path: str | Path, *, start: str = "", most: int = 200_000) -> None:
    """Write a page for a browser, on which a policy is explored.

    Args:
        policy: the policy.
        path: the file to write.
        start: path of the page's first point, for a game with a public tree; see :meth:`rlccfr.PublicGame.path`.
        most: number of states, for a game with a public tree, after which points further on are left out.

    Raises:
        GameError: no node has that path, or the game has no public tree.
        RLCCFRError: the file can't be written.
    """
    from rlccfr.explorer.page import write
    from rlccfr.explorer.public_points import all_points

    write(policy, Path(path), *all_points(policy, start, most))
