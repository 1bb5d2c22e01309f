"""Files of table policies: NumPy's format, and CSV tables for reading, which can't be loaded again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlccfr.archives import has_format, write_archive
from rlccfr.errors import CheckpointError, RLCCFRError
from rlccfr.files import write_atomically, written_atomically
from rlccfr.policies.policy_file import damaged, of_another_game, read_policy_archive

if TYPE_CHECKING:
    from rlccfr.policies.table_policy import TablePolicy

FORMAT = "rlccfr-public-policy-1"
"""Name and version of the format, in a file's header; it dates from when only public-tree games had such files."""

MOST_ROWS = 2_000_000
"""Largest number of table entries for which a policy can be written as CSV."""


def checked_table_path(path: Path, game: Any) -> Path:
    """Return a path after checking that a policy of a game can be written to it.

    Raises:
        RLCCFRError: the suffix does not name a format, or the game is too large for the format.
    """
    suffixes = (".npz", ".csv") if game.num_sequences <= MOST_ROWS else (".npz",)
    if path.suffix not in suffixes:
        raise RLCCFRError(
            f"a policy of {game.name!r} is written as {' or '.join(suffixes)}, not as {path.suffix or repr(path.name)}"
        )
    return path


def save_table_policy(policy: TablePolicy, path: Path) -> None:
    """Write a policy to a file; see :meth:`TablePolicy.save`."""
    if checked_table_path(path, policy.game).suffix == ".csv":
        write_atomically(path, policy.to_frame().to_csv(index=False).encode())
        return
    header = {"format": FORMAT, "game": policy.game.full_name, "game_hash": policy.game.content_hash}
    with written_atomically(path) as file:
        write_archive(file, {"header": np.array(json.dumps(header)), "table": policy.table})


def is_table_policy(path: Path) -> bool:
    """Return whether a file can be read and its header is that of a table policy."""
    return has_format(path, FORMAT)


def load_table_policy(path: Path, game: Any = None) -> Any:
    """Read a policy from a file; see :meth:`TablePolicy.load`."""
    from rlccfr.game import checked_game, policy_class
    from rlccfr.games.names import load_game

    name, content_hash, table = _read(path)
    policy_game = load_game(name) if game is None else checked_game(game)
    if content_hash != policy_game.content_hash:
        raise of_another_game(path, name, policy_game)
    return policy_class(policy_game)(policy_game, table)


def _read(path: Path) -> tuple[str, str, np.ndarray]:
    """Return the name of the game, its content hash, and the policy's table, (m,)."""
    if path.suffix == ".csv":
        raise CheckpointError(f"{path} is a table for reading, which can't be loaded; give the .npz file of the policy")
    header, arrays = read_policy_archive(path, FORMAT, "hold'em or Bluff policy")
    try:
        return header["game"], header["game_hash"], arrays["table"]
    except KeyError as error:
        raise damaged(path, error) from error
