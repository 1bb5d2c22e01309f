"""Compiled games on disk, so that a large game is compiled only once per machine."""

from __future__ import annotations

import contextlib
import hashlib
import os
from importlib.metadata import version
from pathlib import Path

import numpy as np

from rlccfr.archives import archive_of, read_archive
from rlccfr.errors import RLCCFRError
from rlccfr.files import write_atomically
from rlccfr.game import ZERO_SUM
from rlccfr.games.flat_tree import Classes, GameTree
from rlccfr.games.records import BLOCK, HISTORY, SequenceView
from rlccfr.interrupts import raise_if_interrupt

FORMAT = "rlccfr-game-5"
"""Version of the compiler's output; it is raised when the output or the checks of games change.

Names of files also depend on the arrays' layout."""

MOST_BYTES = 2_000_000_000
"""Largest total size of the kept games; beyond it, the least recently used are deleted."""

LEAST_HISTORIES = 20_000
"""Smallest number of histories of a game that is kept; smaller games compile too fast to be worth a file."""

_VIEW = "view_"
_CLASSES = "classes_"


def cache_folder() -> Path:
    """Return the folder of kept games: ``$RLCCFR_CACHE``, or the user's cache folder."""
    if folder := os.environ.get("RLCCFR_CACHE"):
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("rlccfr")


def find_game(openspiel_name: str, restore_recall: bool) -> GameTree | None:
    """Return the kept game of an OpenSpiel string, or None if there is no complete file from this OpenSpiel version.

    Player 1's payoffs and the big blind are not kept: the returned game has those of a zero-sum game without blinds,
    which the caller replaces.
    """
    try:
        arrays = read_archive(_path(openspiel_name, restore_recall))
        view = {name: arrays.pop(f"{_VIEW}{name}") for name in SequenceView._fields}
        classes = Classes(**{name: arrays.pop(f"{_CLASSES}{name}") for name in Classes._fields})
        keys = arrays.pop("infoset_keys").tobytes().decode().split("\0")[:-1]
        arrays["histories"] = arrays["histories"].view(HISTORY)  # a file does not store the records' alignment
        depth = int(arrays.pop("depth"))
        content_hash = str(arrays.pop("content_hash"))
        tree = GameTree(
            name=openspiel_name,
            openspiel_name=openspiel_name,
            restore_recall=restore_recall,
            view=SequenceView(**view),
            infoset_keys=tuple(keys),
            depth=depth,
            classes=classes,
            opponent_payoffs=ZERO_SUM,
            big_blind=None,
            **arrays,  # the remaining arrays have the names of a tree's fields
        )
    except Exception as error:  # missing, damaged or old: the game is compiled again
        raise_if_interrupt(error)
        return None
    if tree.content_hash != content_hash or len(keys) != tree.num_infosets:
        return None
    with contextlib.suppress(OSError):
        os.utime(_path(openspiel_name, restore_recall))  # so that games in use are deleted last
    return tree


def keep_game(tree: GameTree) -> None:
    """Write a large game to the cache, if the cache can be written to.

    A game that OpenSpiel reads from a file is not kept, since the file may change.

    Args:
        tree: a game that OpenSpiel ships. Other games must not be kept: their file would still be found by the same
            string after the game's code has changed.
    """
    is_small = tree.num_histories < LEAST_HISTORIES
    is_from_file = "filename=" in tree.openspiel_name
    if is_small or is_from_file or any("\0" in key for key in tree.infoset_keys):
        return
    arrays = {
        "histories": tree.histories,
        "probability": tree.probability,
        "edge_action": tree.edge_action,
        "sequence_action": tree.sequence_action,
        "infoset_keys": np.frombuffer("".join(f"{key}\0" for key in tree.infoset_keys).encode(), np.uint8),
        "depth": np.array(tree.depth),
        "content_hash": np.array(tree.content_hash),
        **{f"{_VIEW}{name}": array for name, array in tree.view._asdict().items()},
        **{f"{_CLASSES}{name}": array for name, array in tree.classes._asdict().items()},
    }
    try:
        write_atomically(_path(tree.openspiel_name, tree.restore_recall), archive_of(arrays), RLCCFRError)
    except RLCCFRError:
        return
    _forget_older()
    _keep_within(MOST_BYTES)


def kept_games() -> list[Path]:
    """Return the files of all kept games, the most recently used first."""
    files = [(path.stat().st_mtime, path) for path in cache_folder().glob("game-*.npz")]
    return [path for _, path in sorted(files, reverse=True)]


def _keep_within(most_bytes: int) -> None:
    """Delete the least recently used games, until the remaining games take at most this many bytes."""
    size = 0
    with contextlib.suppress(OSError):  # another process may delete the same ones
        for path in kept_games():
            size += path.stat().st_size
            if size > most_bytes:
                path.unlink()


def _forget_older() -> None:
    """Delete games of other layouts and OpenSpiel versions, since a game can take hundreds of megabytes."""
    for path in cache_folder().glob("game-*.npz"):
        if not path.name.startswith(_prefix()):
            with contextlib.suppress(OSError):
                path.unlink()


def _path(openspiel_name: str, restore_recall: bool) -> Path:
    return cache_folder() / f"{_prefix()}{_digest(openspiel_name, str(restore_recall))}.npz"


def _prefix() -> str:
    """Return the prefix of the files that this version can read."""
    layout = repr((HISTORY.descr, BLOCK.descr, SequenceView._fields))
    return f"game-{_digest(FORMAT, layout, version('open_spiel'))}-"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
