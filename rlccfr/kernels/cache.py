"""The folder of compiled kernels: it lies outside the package, and its name is a hash of all their sources.

Numba's default cache lies beside the sources and would outlive the package. It also notices changes only of a kernel's
own file, not of the files whose functions are merged into the kernel.
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
"""Days without use after which kernels compiled from other sources are deleted."""


def kernel_folder() -> Path:
    """Return the folder of this package's kernels; it exists and can be written to."""
    folder = writable_base(getattr(config, "CACHE_DIR", "")) / f"kernels-{digest_of_sources(PACKAGE)}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def digest_of_sources(package: Path) -> str:
    """Return a hash of all sources that are compiled into kernels, and of the versions of Python and the libraries.

    The processor is not part of it, because Numba's own key of each compiled form names the processor.
    """
    digest = hashlib.sha256()
    # The layouts of games, and the number of columns of a schedule, are compiled into kernels.
    layouts = ("games/flat_tree.py", "games/public/view.py", "components/schedules.py")
    compiled_in = [package / path for path in layouts]
    for path in (*sorted((package / "kernels").rglob("*.py")), *compiled_in):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    versions = (sys.implementation.cache_tag, *map(version, ("numba", "llvmlite", "numpy")))
    digest.update(repr(versions).encode())
    return digest.hexdigest()[:16]


@cache
def writable_base(told: str) -> Path:
    """Return the first writable folder of these: ``told``, the user's cache, a temporary folder.

    ``RLCCFR_CACHE`` applies to games only, so that processes with separate games can share the kernels.

    Args:
        told: value of ``NUMBA_CACHE_DIR``; "" if it is not set.
    """
    from platformdirs import user_cache_path

    for folder in (*([Path(told)] if told else []), user_cache_path("rlccfr")):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return _temporary_base()


def _temporary_base() -> Path:
    """Return this user's temporary folder, or a new one if other users could write to it.

    The folder must be private, because its files are unpickled.
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
    """Mark a folder of kernels as used, and delete its neighbours that have not been used for ``UNUSED_DAYS``."""
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    with contextlib.suppress(OSError):  # another process may be dropping the same ones
        os.utime(folder)
        for other in folder.parent.iterdir():
            ours = re.fullmatch(r"kernels-[0-9a-f]{16}", other.name) and other != folder
            if ours and other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)


class KernelCache(FunctionCache):
    """Numba's cache of one function's compiled forms, with one file per form in :func:`kernel_folder`."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())


class _Files(IndexDataCacheFile):
    """The files of one function's compiled forms, each named by a hash of its source, types and processor.

    Numba's own cache keeps an index file, which loses entries when several processes compile at the same time.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        super().__init__(cache_path, filename_base, source_stamp)
        self._name = filename_base

    def load(self, key: Any) -> Any:
        """Return the data saved under a key; None if there are none or the file is damaged."""
        try:
            found, data = pickle.loads(self._path(key).read_bytes())
        except Exception:  # unpickling a damaged file raises anything; the function is then compiled anew
            return None
        return data if found == key else None

    def save(self, key: Any, data: Any) -> None:
        """Write one file; if that fails, the next process compiles again."""
        with contextlib.suppress(RLCCFRError):
            write_atomically(self._path(key), dumps((key, data)), RLCCFRError)

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(f"{self._source_stamp}\0{key!r}".encode()).hexdigest()[:16]
        return Path(self._cache_path) / f"{self._name}.{digest}.nbc"


class _Locator(InTreeCacheLocator):
    """Location of a function's compiled forms, and the stamp of the source that they are made from."""

    def get_cache_path(self) -> str:
        return str(kernel_folder())

    def get_source_stamp(self) -> str:
        """Return a hash of the function's own file; the folder's name does not cover files of the catalog."""
        return hashlib.sha256(Path(self._py_file).read_bytes()).hexdigest()


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  (Numba's own is also a list)


KernelCache._impl_class = _Implementation
