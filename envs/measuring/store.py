"""Measurements on disk: a directory with one JSON file per measurement, each written atomically."""

from __future__ import annotations

import io
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rlccfr.envs.measuring.record import (
    COLUMNS,
    FINGERPRINT,
    MEASURED_ALONG,
    SMALL,
    STATUSES,
    fingerprint,
    thinned,
    to_frame,
    with_short_curves,
)
from rlccfr.envs.measuring.request import Budget
from rlccfr.errors import RLCCFRError
from rlccfr.files import checksum, write_atomically
from rlccfr.result import CurvePoint

log = logging.getLogger(__name__)

CELL_ID = re.compile(r"[0-9a-f]{20}(-once)?")
"""The form of the ids of measurements and of a sweep's runs, which are the names of a store's files."""

OPENING = b'{"checksum":'
"""The first bytes of a record's file, by which a record with an id of another form is recognised."""


class StoreError(RLCCFRError):
    """The error for a store that can't be read or written."""


class MissingCellError(RLCCFRError, KeyError):
    """The error for a measurement that is not on record."""

    __str__ = Exception.__str__  # KeyError's would print the message in quotes


class Store:
    """A directory of records, each in a file named by its cell id.

    Several processes may write to one store, since each record has its own file. A damaged record is reported in one
    line and counted as missing; its file is renamed to ``*.corrupt``, unless the store was opened with
    ``create=False``. Other files in the directory are left alone, also JSON files of the user's own.

    Args:
        path: directory of the store.
        create: whether to make the directory if it is missing; if False, a missing directory is an error, and no file
            is renamed.

    Attributes:
        path: directory of the store.

    Raises:
        StoreError: the path is a file, is missing, or can't be written.

    Examples:
        >>> import tempfile
        >>> from rlccfr.envs import Budget, Cell, LiveEvaluator, Request
        >>> request = Request("kuhn", (Cell("cfr", "none", "none"),), Budget("iterations", 10))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = Store(folder)
        ...     measured = LiveEvaluator(store).measure(request)
        ...     print(store.get(measured.cell_id)["iterations"], len(store))
        10 1
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        self._may_rename = create
        if self.path.exists() and not self.path.is_dir():
            raise StoreError(f"the store {self.path} is a file; name a directory")
        if create:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"can't make the store {self.path} ({error.strerror}); name another path") from None
            if not os.access(self.path, os.W_OK | os.X_OK):
                raise StoreError(f"the store {self.path} can't be written; check its permissions or name another path")
        elif not self.path.is_dir():
            raise StoreError(f"there is no store at {self.path}; check the path")

    def get(self, cell_id: str) -> dict[str, Any] | None:
        """Return the record with an id; None if the store has no such record, or if its file is damaged.

        Raises:
            StoreError: the system can't read the file.
        """
        path = self._file(cell_id)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"can't read {path} ({error.strerror}); check its permissions") from None
        try:
            return _decode(data, cell_id)
        except ValueError as error:
            if _is_record(path):  # and not a file of the user's own
                self._set_aside(path, error)
            return None

    def put(self, record: Mapping[str, Any]) -> None:
        """Write a record in place of any earlier one with its ``cell_id``.

        Raises:
            StoreError: the file can't be written.
        """
        write_atomically(self._file(record["cell_id"]), _encode(record), StoreError)

    def discard(self, cell_id: str) -> None:
        """Delete a record, if there is one, so that it is measured again."""
        self._file(cell_id).unlink(missing_ok=True)

    def missing(self, wanted: Iterable[str]) -> list[str]:
        """Return the wanted cell ids without a readable record, each once: those that are left to measure."""
        return [cell_id for cell_id in dict.fromkeys(wanted) if self.get(cell_id) is None]

    def ids(self) -> list[str]:
        """Return the cell ids of all records, sorted; a record's file may be damaged."""
        return sorted(path.stem for path in self.path.glob("*.json") if _is_record(path))

    def records(self) -> Iterator[dict[str, Any]]:
        """Return an iterator over the readable records, in the order of their cell ids."""
        return (record for cell_id in self.ids() if (record := self.get(cell_id)) is not None)

    def frame(self) -> pd.DataFrame:
        """Return every record as a row without its curve; nested fields are JSON strings."""
        return to_frame(self.records())

    def compact(
        self,
        path: str | Path | None = None,
        *,
        small: bool = False,
        budgets: Sequence[Budget] = (),
        ids: Iterable[str] | None = None,
    ) -> Path:
        """Write records to one Parquet file, with curves as list columns; return its path.

        Args:
            path: path of the file, by default ``measurements.parquet`` in the store. The store's other files are kept.
            small: whether to write fewer points of each curve, in single precision, for publishing (see
                :func:`thinned`).
            budgets: with ``small``, the budgets whose results can then be read off the curves; by default, enough
                points for every budget are kept.
            ids: cell ids of the records to write, if they exist; by default all.

        Raises:
            StoreError: the file can't be written.
        """
        target = self.path / "measurements.parquet" if path is None else Path(path)
        # Generators, so that the records with their curves are not in memory twice.
        records: Iterable[dict[str, Any]] = self.records()
        if ids is not None:
            records = (record for id in sorted(set(ids)) if (record := self.get(id)) is not None)
        if small:
            records = (thinned(record, budgets) for record in records)
        frame = to_frame(records, curves=True)
        if small:
            frame = with_short_curves(frame)
        # Numbers of a curve compress best when their bytes of equal significance lie together.
        buffer = io.BytesIO()
        frame.attrs |= {FINGERPRINT: fingerprint(frame), SMALL: small}
        frame.to_parquet(
            buffer, index=False, compression="zstd", compression_level=19 if small else 3,
            use_dictionary=False, use_byte_stream_split=[f"{name}.list.element" for name in MEASURED_ALONG],
        )  # fmt: skip
        write_atomically(target, buffer.getvalue(), StoreError)
        return target

    def _file(self, cell_id: str) -> Path:
        return self.path / f"{cell_id}.json"

    def _set_aside(self, path: Path, error: Exception) -> None:
        """Warn of a damaged file, and rename it if the store may rename files."""
        if not self._may_rename:
            log.warning("%s is damaged (%s); it counts as missing", path, error)
            return
        new_path = path.with_name(path.name + ".corrupt")
        try:
            path.rename(new_path)
            log.warning("%s is damaged (%s); set aside as %s, to be measured again", path, error, new_path.name)
        except OSError:  # the store is read-only, or another process was faster
            log.warning("%s is damaged (%s); to be measured again", path, error)

    def __len__(self) -> int:
        return len(self.ids())

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, {len(self):,} cells)"


def _is_record(path: Path) -> bool:
    """Return whether a file is a record, even a damaged one: it has an id as its name, or it begins like a record."""
    if path.name.startswith("."):  # an unfinished file
        return False
    if CELL_ID.fullmatch(path.stem):
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(OPENING)) == OPENING
    except OSError:  # a directory, or a file that may not be read
        return False


def _encode(record: Mapping[str, Any]) -> bytes:
    """Return the bytes of a record's file."""
    body = dict(record)
    return json.dumps({"checksum": checksum(body), **body}, allow_nan=False, default=str).encode()


def _decode(data: bytes, cell_id: str) -> dict[str, Any]:
    """Return the record in a file's bytes.

    Raises:
        ValueError: the record is damaged; the message says how.
    """
    record = json.loads(data)  # JSONDecodeError and UnicodeDecodeError are ValueErrors
    if not isinstance(record, dict):
        raise ValueError("not a record")
    if record.pop("checksum", None) != checksum(record):
        raise ValueError("its checksum does not match")
    missing_fields = {*COLUMNS, "curve"} - record.keys()
    if missing_fields:
        raise ValueError(f"it has no {min(missing_fields)!r}")
    if record["cell_id"] != cell_id or record["status"] not in STATUSES:
        raise ValueError("it belongs to another measurement, or has an unknown status")
    if set(CurvePoint._fields) - record["curve"].keys():
        raise ValueError("its curve is incomplete")
    return record
