"""NumPy archives from untrusted sources: no code in them is run, and sizes are checked before memory is allocated."""

from __future__ import annotations

import contextlib
import io
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np

from rlccfr.errors import CheckpointError
from rlccfr.files import refuse_devices
from rlccfr.games.memory import available_memory, gigabytes

MOST_EXPANSION = 1032
"""Largest accepted ratio of the size of a part, a file in an archive, to its compressed size.

It is the largest ratio that deflate can reach; see https://zlib.net/zlib_tech.html.
"""

_LEAST = 2**16
"""Size in bytes that a part may always have, however small it is when compressed; also an array's longest header."""

_END = 22
"""Size in bytes of the record at the end of an archive without a comment. Bytes 10 and 11 hold the number of parts."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods that are accepted. With other methods, zipfile expands a whole block at once, however large."""

_READERS = {
    "rlccfr-policy": "rlccfr.Policy.load",
    "rlccfr-public-policy": "rlccfr.PublicPolicy.load",
    "rlccfr-network-policy": "rlccfr.NetworkPolicy.load",
    "rlccfr-solver": "rlccfr.Solver.load",
}
"""For messages: the function that reads each format, keyed by the format's name without its version."""

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@contextlib.contextmanager
def opened_archive(source: Path | io.BytesIO) -> Iterator[Mapping[str, np.ndarray]]:
    """Open an archive for a block of code.

    Args:
        source: path of the archive, or its bytes.

    Yields:
        The arrays by name; each array is read when it is accessed.

    Raises:
        OSError: the archive can't be read.
        ValueError: the number or the sizes of its parts are not as declared, a part is compressed but not by deflate,
            or an array holds Python objects.
        CheckpointError: its arrays take more memory than is available.
        Exception: the file is not an archive, or is damaged in another way; the errors of NumPy and zipfile have no
            common base.
    """
    with source.open("rb") if isinstance(source, Path) else contextlib.nullcontext(source) as file:
        if isinstance(source, Path):
            refuse_devices(file)
        size = file.seek(0, io.SEEK_END)
        with zipfile.ZipFile(file) as archive:
            _check(archive, size, source)
            _check_count(archive, file)
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            yield arrays


def read_archive(source: Path | io.BytesIO) -> dict[str, np.ndarray]:
    """Return all arrays of an archive; the errors are those of :func:`opened_archive`."""
    with opened_archive(source) as archive:
        return dict(archive)


def write_archive(file: BinaryIO, arrays: Mapping[str, np.ndarray], *, compress: bool = False) -> None:
    """Write arrays to an open file, in the format of NumPy's archives.

    ``np.savez`` is not used, because its older versions leave the archive open when the disk is full: Python then
    prints a second error later.

    Raises:
        OSError: the file can't be written.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)


def archive_of(arrays: Mapping[str, np.ndarray], *, compress: bool = False) -> bytes:
    """Return an archive of arrays, as :func:`write_archive` writes it."""
    buffer = io.BytesIO()
    write_archive(buffer, arrays, compress=compress)
    return buffer.getvalue()


def has_format(path: Path, wanted: str) -> bool:
    """Return whether a file can be read and is an archive whose JSON header names the format ``wanted``.

    Raises:
        CheckpointError: the archive's arrays take more memory than is available.
    """
    try:
        with opened_archive(path) as archive:
            return bool(json.loads(str(archive["header"]))["format"] == wanted)
    except CheckpointError:
        raise
    except Exception:  # a file that is not an archive lacks the format; the errors of reading one have no common base
        return False


def check_format(found: object, wanted: str, path: Path | str, kind: str) -> None:
    """Check that the header of a file names the format that this version reads.

    Args:
        found: the format that the header names.
        wanted: the format that this version reads, ending in a hyphen and a number.
        path: the file, for messages.
        kind: what the file should hold, such as ``"solver"``, for messages.

    Raises:
        CheckpointError: the file holds something else, or was written by another version.
    """
    name = str(found).rpartition("-")[0]
    if name != wanted.rpartition("-")[0]:
        remedy = f"name another file, or read this one by {_READERS[name]}" if name in _READERS else "name another file"
        raise CheckpointError(f"{path} is not a {kind} file, since its format is {found!r}: {remedy}")
    if found != wanted:
        raise CheckpointError(
            f"{path} has format {found!r}, but this version reads {wanted!r}: use the version that wrote the file"
        )


def _check(archive: zipfile.ZipFile, size: int, source: Path | io.BytesIO) -> None:
    """Check that the arrays of an archive can be as large as the archive declares, and fit into memory.

    Args:
        archive: the archive.
        size: its number of bytes.
        source: path of the archive, for messages, or its bytes.

    Raises:
        ValueError: a part can't be as large as declared.
        CheckpointError: the arrays take more memory than is available.
    """
    parts, left = archive.infolist(), available_memory()
    # Parts that overlap could declare far more data than the file has bytes for.
    if sum(part.compress_size for part in parts) > size:
        raise ValueError("its parts overlap")
    for part in parts:
        if part.compress_type not in _METHODS:
            raise ValueError(f"{part.filename} is compressed, but not by deflate")
        # Deflate can't expand a part further than this, so a larger size is a lie.
        if part.file_size > max(_LEAST, MOST_EXPANSION * part.compress_size):
            raise ValueError(f"{part.filename} can't be as large as it says")
        # NumPy allocates what an array's own header declares before it reads the data.
        with archive.open(part) as file:
            if _declared_size(file) != part.file_size:
                raise ValueError(f"{part.filename} is not as large as its header says")
    total = sum(part.file_size for part in parts)
    if left is not None and total > left:
        name = source if isinstance(source, Path) else "the archive"
        raise CheckpointError(
            f"{name} needs {gigabytes(total)} of memory, but only {gigabytes(left)} are available: free some memory"
        )


def _check_count(archive: zipfile.ZipFile, file: BinaryIO) -> None:
    """Check that an archive has as many parts as it declares; damage may hide some of them from zipfile.

    Raises:
        ValueError: a part is missing.
    """
    file.seek(-min(_END, file.seek(0, io.SEEK_END)), io.SEEK_END)
    end = file.read(_END)
    parts = len(archive.infolist()), 2**16 - 1  # the largest number of 16 bits also stands for any larger number
    if end.startswith(b"PK\5\6") and int.from_bytes(end[10:12], "little") not in parts:
        raise ValueError("it does not have as many parts as it says")


def _declared_size(file: IO[bytes]) -> int:
    """Return the number of bytes that an array's file should have according to its header.

    Raises:
        ValueError: the header can't be read, or the array holds Python objects or nothing.
    """
    begin = io.BytesIO(file.read(_LEAST))
    try:
        shape, _, dtype = _HEADERS[np.lib.format.read_magic(begin)](begin)
    except MemoryError:  # Python's parser raises it for thousands of brackets or signs
        raise ValueError("an array's header can't be read") from None
    if dtype.hasobject or not dtype.itemsize:
        raise ValueError("an array holds Python objects or nothing")
    return begin.tell() + math.prod(shape) * dtype.itemsize
