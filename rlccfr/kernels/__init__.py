"""The compiled part of the engine; the only place where Numba is used.

Importing a submodule compiles it once on a fresh machine; later processes load it from the cache.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).parent


def prepare_cache() -> None:
    """Drop what was compiled from older sources; say why the first use takes a while where nothing is left.

    Numba compares a kernel with its own file only, not with those whose functions are merged into it.
    """
    sources = (*HERE.rglob("*.py"), HERE.parent / "games" / "flat_tree.py")
    newest = max(path.stat().st_mtime for path in sources)
    kept = False
    for index in _indices(sources):
        with contextlib.suppress(OSError):  # another process was faster, or the folder can't be written
            if index.stat().st_mtime < newest:
                index.unlink()
            else:
                kept = kept or index.name.startswith("sampled_iterations.")
    if not kept:
        print("rlccfr: compiling its kernels, once on this machine (about half a minute)", file=sys.stderr)


def _indices(sources: Iterable[Path]) -> Iterator[Path]:
    """Yield the index files of everything that was compiled from these sources."""
    for path in sources:
        folder = _cache_folder()
        yield from (folder.rglob if folder != HERE else path.parent.joinpath("__pycache__").glob)(f"{path.stem}.*.nbi")


def _cache_folder() -> Path:
    """Return the folder of compiled kernels: beside the sources, unless Numba is told another or they are read-only."""
    from numba import config
    from numba.misc.appdirs import AppDirs

    if told := getattr(config, "CACHE_DIR", ""):
        return Path(told)
    return HERE if os.access(HERE, os.W_OK) else Path(AppDirs("numba", False).user_cache_dir)
