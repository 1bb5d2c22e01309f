"""The folder of compiled kernels. It lies outside the package, and has a subfolder for each module of kernels.

Numba's default cache lies beside the sources and would outlive the package. It also notices changes only of a kernel's
own file, not of the files whose functions are merged into the kernel. Here, the name of a module's folder is a hash of
all that is compiled into its kernels: the module, the modules of kernels that it imports, and so on. So after a change
of one module, only this module and those that import it are compiled again.
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
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.serialize import dumps

from rlccfr.errors import RLCCFRError
from rlccfr.files import write_atomically

PACKAGE = Path(__file__).parent.parent
FOLLOWED = ("kernels", "catalog")
"""Folders whose modules have functions that are compiled into other modules' kernels.

:func:`sources_of` also follows the imports of these modules.
"""

LAYOUTS = ("games/records.py", "games/public/records.py", "components/schedules.py", "components/controller.py")
"""Other modules whose constants are compiled into kernels: records, columns of schedules, a controller's settings."""

IMPORT = re.compile(r"^[ \t]*from[ \t]+(rlccfr[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)

UNUSED_DAYS = 30
"""Days without use after which a folder of kernels is deleted."""

LONGEST_WAIT = 300.0
"""Seconds for which a process waits while another one compiles the same kernel; then it compiles the kernel itself."""


def kernels_folder() -> Path:
    """Return the folder of all compiled kernels of this user; it exists and can be written to."""
    folder = writable_base(getattr(config, "CACHE_DIR", "")) / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def folder_of(file: Path) -> Path:
    """Return the folder of a module's compiled kernels.

    Args:
        file: the module's file, in this package or not.
    """
    return kernels_folder() / digest_of_sources(file)


@cache
def digest_of_sources(file: Path, package: Path = PACKAGE) -> str:
    """Return a hash of all sources compiled into a module's kernels, and of the versions of Python and the libraries.

    The hash does not depend on the processor, because Numba's own key of each compiled form names the processor.
    """
    digest = hashlib.sha256()
    for source in sorted(sources_of(file, package)):
        name = source.relative_to(package) if source.is_relative_to(package) else Path(source.name)
        digest.update(name.as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    versions = (sys.implementation.cache_tag, *map(version, ("numba", "llvmlite", "numpy")))
    digest.update(repr(versions).encode())
    return digest.hexdigest()[:16]


@cache
def sources_of(file: Path, package: Path = PACKAGE) -> frozenset[Path]:
    """Return the files that are compiled into a module's kernels: the module, and what it imports, directly or not.

    Files of LAYOUTS count, but what they import does not. Imports are found by a search of the text, since parsing it
    would take longer than loading the kernels.
    """
    sources = {file}
    unread = [file]
    while unread:
        for imported in _imported_files(unread.pop(), package):
            path = imported.relative_to(package)
            is_followed = path.parts[0] in FOLLOWED
            if imported in sources or not (is_followed or path.as_posix() in LAYOUTS):
                continue
            sources.add(imported)
            if is_followed:
                unread.append(imported)
    return frozenset(sources)


@cache
def _imported_files(file: Path, package: Path) -> tuple[Path, ...]:
    """Return the files of the package's modules that a file imports."""
    return tuple(_files_named(file.read_text(encoding="utf-8"), package))


def _files_named(text: str, package: Path) -> Iterator[Path]:
    for dotted, names in IMPORT.findall(text):
        if dotted == __name__:  # nothing of this module is compiled
            continue
        path = package.joinpath(*dotted.split(".")[1:])
        if path.with_suffix(".py").is_file():
            yield path.with_suffix(".py")
            continue
        if (path / "__init__.py").is_file():
            yield path / "__init__.py"
        for name in re.findall(r"\w+", names):  # a name imported from a folder may be a module in it
            if (path / f"{name}.py").is_file():
                yield path / f"{name}.py"


@cache
def writable_base(numba_folder: str) -> Path:
    """Return the first of these folders that can be written to: ``numba_folder``, the user's cache, a temporary folder.

    ``RLCCFR_CACHE`` applies to games only, so that processes with separate games can share the kernels.

    Args:
        numba_folder: value of ``NUMBA_CACHE_DIR``; "" if it is not set.
    """
    from platformdirs import user_cache_path

    folders = [user_cache_path("rlccfr")]
    if numba_folder:
        folders.insert(0, Path(numba_folder))
    for folder in folders:
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
        status = folder.lstat()  # not stat(): a link may lead to a folder of somebody else
        is_private = not hasattr(os, "getuid") or (status.st_uid == user and not status.st_mode & 0o022)
        if stat.S_ISDIR(status.st_mode) and is_private:
            return folder
    return Path(tempfile.mkdtemp(prefix="rlccfr-"))


def drop_unused() -> None:
    """Delete folders of kernels that have not been used for ``UNUSED_DAYS``, including those of earlier versions."""
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    folder = kernels_folder()
    with contextlib.suppress(OSError):  # another process may be dropping the same ones
        # Earlier versions had one folder for all kernels, beside this one.
        earlier = (path for path in folder.parent.iterdir() if re.fullmatch(r"kernels-[0-9a-f]{16}", path.name))
        present = (path for path in folder.iterdir() if re.fullmatch(r"[0-9a-f]{16}", path.name))
        for path in (*earlier, *present):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path, ignore_errors=True)


@cache
def _mark_as_used(folder: Path) -> None:
    """Set the modification time of a folder to now, once per process."""
    with contextlib.suppress(OSError):
        os.utime(folder)


_held_locks: set[str] = set()
"""Paths of the locks that this process holds, each on a compiled form that it is making or has failed to make."""


class KernelCache(FunctionCache):
    """Numba's cache of one function's compiled forms, with one file per form in the folder of :func:`folder_of`.

    A form is the function as it is compiled for one set of argument types.

    Two processes that need the same form at once compile it once: the second waits for the first.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._files = _Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())
        self._cache_file = self._files
        self._locks: dict[Any, FileLock] = {}
        _mark_as_used(Path(self._cache_path))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled form, perhaps after waiting for another process; None if this process must compile it."""
        loaded = super().load_overload(sig, target_context)
        if loaded is not None or not self._acquired(sig, target_context):
            return loaded
        loaded = super().load_overload(sig, target_context)  # another process may have written it meanwhile
        if loaded is not None:
            self._release(sig)
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a compiled form, and let the processes that wait for it continue."""
        try:
            super().save_overload(sig, data)
        finally:
            self._release(sig)

    def _acquired(self, sig: Any, target_context: Any) -> bool:
        """Wait until no other process compiles a form; return whether this process now holds the lock to compile it.

        If compiling fails, the lock is held until this process ends, since others would fail in the same way. If this
        process tries again, it does not wait for its own lock.
        """
        path = f"{self._files.path_of(self._index_key(sig, target_context.codegen()))}.lock"
        if path in _held_locks:
            return False
        lock = FileLock(path, timeout=LONGEST_WAIT)
        try:
            lock.acquire()
        except (Timeout, OSError, NotImplementedError):  # a file system without locks, or a process that hangs
            return False
        self._locks[sig] = lock
        _held_locks.add(path)
        return True

    def _release(self, sig: Any) -> None:
        lock = self._locks.pop(sig, None)
        if lock is not None:
            lock.release()
            _held_locks.discard(lock.lock_file)


class _Files(IndexDataCacheFile):
    """The files of one function's compiled forms, each named by a hash of its types and processor.

    Numba's own cache keeps an index file, which loses entries when several processes compile at the same time.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        super().__init__(cache_path, filename_base, source_stamp)
        self._name = filename_base

    def load(self, key: Any) -> Any:
        """Return the data saved under a key; None if there are none or the file is damaged."""
        try:
            saved_key, data = pickle.loads(self.path_of(key).read_bytes())
        except Exception:  # unpickling a damaged file raises anything; the function is then compiled again
            return None
        return data if saved_key == key else None

    def save(self, key: Any, data: Any) -> None:
        """Write the data of a key to its file; if that fails, the next process compiles again."""
        with contextlib.suppress(RLCCFRError):
            write_atomically(self.path_of(key), dumps((key, data)), RLCCFRError)

    def path_of(self, key: Any) -> Path:
        """Return the path of the file for a key, which stands for one compiled form of a function."""
        digest = hashlib.sha256(f"{self._source_stamp}\0{key!r}".encode()).hexdigest()[:16]
        return Path(self._cache_path) / f"{self._name}.{digest}.nbc"


class _Locator(InTreeCacheLocator):
    """Location of a function's compiled forms, and the stamp of the sources that they are made from."""

    def get_cache_path(self) -> str:
        return str(folder_of(Path(self._py_file)))

    def get_source_stamp(self) -> str:
        """Return the hash of the sources, which also names the folder."""
        return digest_of_sources(Path(self._py_file))


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  (Numba's own is also a list)


KernelCache._impl_class = _Implementation
