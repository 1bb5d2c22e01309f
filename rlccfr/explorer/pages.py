"""Writing of a page for any policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rlccfr.explorer.page import write
from rlccfr.explorer.public_points import MOST_STATES, any_content

if TYPE_CHECKING:
    from rlccfr.policy import Policy


def write_page(policy: Policy, path: str | Path, *, start: str = "", most: int = MOST_STATES) -> None:
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
    write(policy, Path(path), any_content(policy, start, most))
