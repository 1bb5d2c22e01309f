"""The folder of compiled kernels: outside of the package, and named after everything that they are made from.

What Numba writes beside the sources would outlive the package, and Numba compares a kernel with its own file only, not
with those whose functions are merged into it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.serialize import dumps

from rlccfr.errors import RLCCFRError
from rlccfr.files import write_atomically

PACKAGE = Path(__file__).parent.parent
UNUSED_DAYS = 30
"""Days after which the folder of other sources is dropped."""


def kernel_folder() -> Path:
    """Return the folder of this package's kernels, which exists and can be written."""
    folder = writable_base(getattr(config, "CACHE_DIR", "")) / f"kernels-{digest_of_sources(PACKAGE)}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def digest_of_sources(package: Path) -> str:
    """Return a hash of everything that decides what the kernels are compiled to, except for the processor."""
    digest = hashlib.sha256()
    for path in (*sorted((package / "kernels").rglob("*.py")), package / "games" / "flat_tree.py"):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    versions = (sys.implementation.cache_tag, *map(version, ("numba", "llvmlite", "numpy")))
    digest.update(repr(versions).encode())
    return digest.hexdigest()[:16]


@cache
def writable_base(told: str) -> Path:
    """Return the first folder that can be written: the one told by ``NUMBA_CACHE_DIR``, the user's, a temporary one.

    ``RLCCFR_CACHE`` is for games alone, so that a process may have games of its own and share the kernels.
    """
    from platformdirs import user_cache_path

    for folder in (*([Path(told)] if told else []), user_cache_path("rlccfr")):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return _temporary_base()


def _temporary_base() -> Path:
    """Return this user's folder among the temporary ones, or a new one where somebody else could write to that.

    What lies there is unpickled.
    """
    user = getattr(os, "getuid", lambda: 0)()
    folder = Path(tempfile.gettempdir()) / f"rlccfr-{user}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        private = not hasattr(os, "getuid") or (found.st_uid == user and not found.st_mode & 0o022)
        if stat.S_ISDIR(found.st_mode) and private:
            return folder
    return Path(tempfile.mkdtemp(prefix="rlccfr-"))


def drop_unused(folder: Path) -> None:
    """Mark a folder of kernels as used, and drop its neighbours that were not used for ``UNUSED_DAYS``."""
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    with contextlib.suppress(OSError):  # another process may be dropping the same ones
        os.utime(folder)
        for other in folder.parent.iterdir():
            ours = re.fullmatch(r"kernels-[0-9a-f]{16}", other.name) and other != folder
            if ours and other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)


class KernelCache(FunctionCache):
    """Numba's cache of one function's compiled forms, one file each, in :func:`kernel_folder`."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())


class _Files(IndexDataCacheFile):
    """The files of one function's compiled forms, each named after what it is compiled for.

    Numba's own keep an index beside them, of which processes that compile at the same time lose entries.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        super().__init__(cache_path, filename_base, source_stamp)
        self._name = filename_base

    def load(self, key: Any) -> Any:
        """Return what was saved under a key; None if nothing was, or the file is damaged."""
        try:
            found, data = pickle.loads(self._path(key).read_bytes())
        except Exception:  # unpickling raises anything
            return None
        return data if found == key else None

    def save(self, key: Any, data: Any) -> None:
        """Write one file; where that fails, the next process compiles again."""
        with contextlib.suppress(RLCCFRError):
            write_atomically(self._path(key), dumps((key, data)), RLCCFRError)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(f"{self._source_stamp}\0{key!r}".encode()).hexdigest()[:16]
        return Path(self._cache_path) / f"{self._name}.{digest}.nbc"


class _Locator(InTreeCacheLocator):
    """Tells Numba where a function's compiled forms lie, and what they are made from."""

    def get_cache_path(self) -> str:
        return str(kernel_folder())

    def get_source_stamp(self) -> str:
        """Return a hash of the function's own file: the folder's name says nothing about the catalog's."""
        return hashlib.sha256(Path(self._py_file).read_bytes()).hexdigest()


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  (Numba's own is a list, too)


KernelCache._impl_class = _Implementation
