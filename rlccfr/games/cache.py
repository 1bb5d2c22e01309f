"""The cache on disk: compiled games, and tables for hold'em in buckets, so that a machine computes each only once."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np

from rlccfr.archives import archive_of, read_archive, write_archive
from rlccfr.errors import RLCCFRError
from rlccfr.files import write_atomically, written_atomically
from rlccfr.game import ZERO_SUM
from rlccfr.games.flat_tree import Classes, GameTree
from rlccfr.games.records import BLOCK, HISTORY, SequenceView
from rlccfr.interrupts import raise_if_interrupt

FORMAT = "rlccfr-game-5"
"""Version of cached games; it is raised when the compiler's output or the checks of games change.

The names of cached files depend on it and on the arrays' layout, so files of other versions are not read.
"""

MOST_BYTES = 5_000_000_000
"""Largest total size in bytes of the cached files; beyond it, the least recently used are deleted."""

TABLES = ("strengths", "buckets", "meetings")
"""Kinds of tables for hold'em in buckets; the names of their files begin with these. See games/bucket_histories/."""

LEAST_HISTORIES = 20_000
"""Smallest number of histories of a game that is cached; smaller games compile too fast to be worth a file."""

_VIEW = "view_"
_CLASSES = "classes_"


def cache_folder() -> Path:
    """Return the folder of the cache: ``$RLCCFR_CACHE``, or the user's cache folder for this library."""
    if folder := os.environ.get("RLCCFR_CACHE"):
        return Path(folder)
    from platformdirs import user_cache_path

    return user_cache_path("rlccfr")


def find_game(openspiel_name: str, restore_recall: bool) -> GameTree | None:
    """Return the cached game of an OpenSpiel string, or None if there is no complete file from this OpenSpiel version.

    The file contains neither player 1's payoffs nor the big blind. So the returned game is zero-sum and has no big
    blind, until the caller sets both.
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
            centre=0.0,
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

    A game that OpenSpiel reads from a file is not cached, since the file may change.

    Args:
        tree: a game that OpenSpiel ships. Other games must not be cached, since the cached game would still be found by
            the same string after the game's code has changed.
    """
    is_small = tree.num_histories < LEAST_HISTORIES
    is_from_file = "filename=" in tree.openspiel_name
    # Keys are stored as one text, in which a zero byte ends each of them.
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
    # A cache that can't be written to costs only time.
    try:
        write_atomically(_path(tree.openspiel_name, tree.restore_recall), archive_of(arrays), RLCCFRError)
    except RLCCFRError:
        return
    _forget_older()
    _keep_within(MOST_BYTES)


def find_arrays(kind: str, parts: tuple[str, ...]) -> dict[str, np.ndarray] | None:
    """Return cached tables by name, or None if there is no such file or it is damaged.

    Args:
        kind: one of :data:`TABLES`.
        parts: strings that distinguish these tables from others of their kind; one of them is the format's version.
    """
    path = _path_of_arrays(kind, parts)
    try:
        arrays = read_archive(path)
    except Exception as error:  # missing or damaged: the tables are computed again
        raise_if_interrupt(error)
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return arrays


def are_arrays_kept(kind: str, parts: tuple[str, ...]) -> bool:
    """Return whether there is a file of these tables in the cache, without reading it; see :func:`find_arrays`."""
    return _path_of_arrays(kind, parts).exists()


def keep_arrays(
    kind: str, parts: tuple[str, ...], arrays: Mapping[str, np.ndarray], replaces: tuple[str, ...] | None = None
) -> None:
    """Write tables to the cache, if the cache can be written to; see :func:`find_arrays`.

    Args:
        kind, parts: see :func:`find_arrays`.
        arrays: the tables, by name.
        replaces: ``parts`` of other tables of this kind, which are deleted once these tables are written.
    """
    try:
        with written_atomically(_path_of_arrays(kind, parts), RLCCFRError) as file:
            write_archive(file, arrays)
    except RLCCFRError:
        return
    if replaces is not None:
        forget_arrays(kind, replaces)
    _keep_within(MOST_BYTES)


def forget_arrays(kind: str, parts: tuple[str, ...]) -> None:
    """Delete cached tables, if there are any; see :func:`find_arrays`."""
    with contextlib.suppress(OSError):
        _path_of_arrays(kind, parts).unlink(missing_ok=True)


def kept_files() -> list[Path]:
    """Return the files of all cached games and tables, the most recently used first."""
    folder = cache_folder()
    paths = [path for kind in ("game", *TABLES) for path in folder.glob(f"{kind}-*.npz")]
    return sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True)


def _keep_within(most_bytes: int) -> None:
    """Delete the least recently used files until the others fit into this many bytes; the last one used stays."""
    size = 0
    with contextlib.suppress(OSError):  # another process may delete the same ones
        for number, path in enumerate(kept_files()):
            with_file = size + path.stat().st_size
            if number and with_file > most_bytes:
                path.unlink()
            else:
                size = with_file


def _forget_older() -> None:
    """Delete cached games that this version cannot read, since a game can take hundreds of megabytes."""
    for path in cache_folder().glob("game-*.npz"):
        if not path.name.startswith(_prefix()):
            with contextlib.suppress(OSError):
                path.unlink()


def _path(openspiel_name: str, restore_recall: bool) -> Path:
    return cache_folder() / f"{_prefix()}{_digest(openspiel_name, str(restore_recall))}.npz"


def _path_of_arrays(kind: str, parts: tuple[str, ...]) -> Path:
    return cache_folder() / f"{kind}-{_digest(*parts)}.npz"


def _prefix() -> str:
    """Return the prefix of the files that this version can read."""
    layout = repr((HISTORY.descr, BLOCK.descr, SequenceView._fields))
    return f"game-{_digest(FORMAT, layout, version('open_spiel'))}-"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
