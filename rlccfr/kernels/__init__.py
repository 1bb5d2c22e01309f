"""The compiled part of the engine; the only place where Numba is used.

Importing a submodule compiles it once on a fresh machine; later processes load it from the cache.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def prepare_cache() -> None:
    """Drop what was compiled from older sources; say why the first use takes a while where nothing is left.

    Numba compares a kernel with its own file only, not with those whose functions are merged into it.
    """
    sources = (*HERE.glob("*.py"), HERE.parent / "game_tree.py")
    newest = max(path.stat().st_mtime for path in sources)
    folder = _cache_folder()
    for index in (index for path in sources for index in folder.rglob(f"{path.stem}.*.nbi")):
        with contextlib.suppress(OSError):  # another process was faster, or the folder can't be written
            if index.stat().st_mtime < newest:
                index.unlink()
    if not any(folder.rglob("sampled.sampled_iterations-*.nbi")):
        print("rlccfr: compiling its kernels, once on this machine (about half a minute)", file=sys.stderr)


def _cache_folder() -> Path:
    """Where Numba keeps these kernels: where it is told to, beside them, or with the user where that is read-only."""
    from numba import config
    from numba.misc.appdirs import AppDirs

    if told := getattr(config, "CACHE_DIR", ""):
        return Path(told)
    return HERE / "__pycache__" if os.access(HERE, os.W_OK) else Path(AppDirs("numba", False).user_cache_dir)
