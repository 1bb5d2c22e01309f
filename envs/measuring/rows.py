"""Rows of a table of measurements: reading and checking them."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.catalog import AXES, Cell
from rlccfr.envs.measuring.identity import definitions
from rlccfr.envs.measuring.record import (
    COLUMNS,
    FINGERPRINT,
    NESTED,
    STATUSES,
    fingerprint,
    plain,
    to_frame,
    to_measurement,
)
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.shorter_budgets import COLUMN
from rlccfr.envs.measuring.store import Store, StoreError
from rlccfr.errors import RLCCFRError, brief, first_line, what_failed
from rlccfr.files import none_for_nan
from rlccfr.games.names import openspiel_name
from rlccfr.result import CurvePoint

REQUIRED = (
    "game", *AXES, "budget_unit", "budget_amount",
    "exploitability", "uniform_exploitability", "throughput", "reference_throughput",
)  # fmt: skip
"""The columns that a table must have; the others of :data:`rlccfr.envs.measuring.record.COLUMNS` have defaults."""

LEAST = {
    "exploitability": -1e-9,  # rounding may give a value slightly below 0
    "uniform_exploitability": -1e-9,
    "throughput": math.ulp(0.0),
    "reference_throughput": math.ulp(0.0),
}
"""Smallest possible value of each measured number; none is NaN or infinite."""


def load_results(source: pd.DataFrame | Store | str | Path) -> pd.DataFrame:
    """Return recorded runs as a DataFrame, one row per run.

    The columns ``curve_iteration``, ``curve_exploitability`` and so on have the runs' curves, as lists.

    Args:
        source: a store, its directory, or a Parquet file of :meth:`Store.compact` or ``rlccfr sweep --compact``. A
            DataFrame is returned as it is.

    Raises:
        StoreError: there is nothing to read, or the file is damaged or no longer holds what was written.
    """
    if isinstance(source, pd.DataFrame):
        return source
    if isinstance(source, Store):
        return to_frame(source.records(), curves=True)
    path = Path(source)
    if path.is_dir():
        frame = load_results(Store(path, create=False))
        if frame.empty:
            raise StoreError(f"there are no measurements in {path}; name a Parquet file or a store's directory")
        return frame
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise StoreError(f"there is no table at {path}; name a Parquet file or a store's directory") from None
    except OSError as error:
        raise StoreError(f"can't read {path} ({error.strerror}); check its permissions") from None
    try:
        frame = pd.read_parquet(io.BytesIO(data))
        has_changed = FINGERPRINT in frame.attrs and frame.attrs[FINGERPRINT] != fingerprint(frame)
    except MemoryError as error:  # a damaged file may ask for any amount
        raise StoreError(
            f"out of memory while reading {path} ({first_line(error)}); free some memory or, if the file is damaged, "
            "write it again with compact()"
        ) from None
    except Exception as error:  # the errors of pyarrow and pandas for damaged files have no common base
        raise StoreError(
            f"{path} is not a whole table ({what_failed(error)}); write it again with compact()"
        ) from error
    if has_changed:
        raise StoreError(
            f"{path} is not a whole table: its content has changed; write it again with compact() (if you changed the "
            f"frame on purpose, delete its attrs[{FINGERPRINT!r}] first)"
        )
    return frame


def checked(row: Mapping[Any, Any], number: int) -> dict[str, Any]:
    """Return the complete record that a row of a table describes, after a check of its values.

    Args:
        number: number of the row, for the error message.

    Raises:
        RLCCFRError: a value of the wrong type, or a number that can't have been measured.
    """
    try:
        record = _record(row, number)
        Budget(record["budget_unit"], record["budget_amount"])
        measured = to_measurement(record)
        out_of_range = [name for name, least in LEAST.items() if not least <= getattr(measured, name) < math.inf]
    except (ArithmeticError, AttributeError, LookupError, RLCCFRError, TypeError, ValueError) as error:
        raise RLCCFRError(f"row {number} of the table is not a measurement: {first_line(error)}") from None
    if out_of_range and measured.ok:
        name = out_of_range[0]
        raise RLCCFRError(f"row {number} of the table is not a measurement: its {name} is {getattr(measured, name)!r}")
    return record


def _record(row: Mapping[Any, Any], number: int) -> dict[str, Any]:
    """Return the complete record of a table's row; nested fields are parsed, and absent fields have their defaults."""
    values = {name: plain(value) for name, value in row.items()}
    if not isinstance(values["game"], str):
        raise RLCCFRError(f"the game must be a string, not {values['game']!r}")
    algorithm = Cell.of(values)
    record: dict[str, Any] = dict.fromkeys(COLUMNS) | {
        "cell_id": f"row-{number}", "status": "ok", "error": "", "traceback": "", "segments": 1, "seed": 0,
        "deterministic": False, "openspiel_name": openspiel_name(values["game"]),
    }  # fmt: skip
    record |= {name: value for name, value in values.items() if name in COLUMNS and value is not None}
    record |= {name: json.loads(record[name]) for name in NESTED if isinstance(record[name], str)}
    record["cells"] = record["cells"] or [list(algorithm)]
    record["components"] = record["components"] or [definitions(Cell(*ids)) for ids in record["cells"]]
    record |= {name: int(record[name]) for name in ("segments", "seed")}
    record["measured_at"] = _date_text(record["measured_at"])
    if record["status"] not in STATUSES:
        raise RLCCFRError(f"its status is {record['status']!r}, not one of {', '.join(STATUSES)}")
    record["curve"] = _curve(values, record["status"] == "ok")
    return record


def _date_text(value: Any) -> str | None:
    """Return the date of a measurement as text in ISO 8601; None if it is not known."""
    text = value.isoformat() if isinstance(value, date) else value
    if text in (None, ""):
        return None
    try:
        datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise RLCCFRError(
            f"its measured_at must be a date such as '2026-01-31T12:00:00+00:00', not {brief(value)}"
        ) from None
    return str(text)


def age(record: Mapping[str, Any]) -> datetime:
    """Return the time of a checked record's measurement, to compare records; the earliest time if it is not known."""
    if record["measured_at"] is None:
        return datetime.min.replace(tzinfo=UTC)
    when = datetime.fromisoformat(record["measured_at"])
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)


def _curve(values: Mapping[str, Any], is_ok: bool) -> dict[str, list[float | None]]:
    """Return the curve in a table's row.

    Args:
        values: values of the row.
        is_ok: whether the run succeeded, so that results are read off its curve.

    Raises:
        RLCCFRError: the curve's columns have unequal lengths, or a result can't be read off the curve.
    """
    # As in a store, None stands for a number that is not finite. Only failed runs and current policies may have it.
    curve: dict[str, list[float | None]] = {
        name: [none_for_nan(number) for number in values.get(f"curve_{name}") or []] for name in CurvePoint._fields
    }
    points = len(curve["exploitability"])
    if not curve["exploitability_current"]:  # no result is read off this column, so a table may lack it
        curve["exploitability_current"] = [None] * points
    for name, column in curve.items():
        if len(column) != points:
            raise RLCCFRError(f"its curve_{name} has {len(column)} points, but its curve_exploitability {points}")
    if not is_ok:
        return curve
    # All columns at once, because a table has thousands of curves.
    names = (*COLUMN.values(), "exploitability")
    numbers = np.array([curve[name] for name in names], dtype=float)
    is_possible = np.isfinite(numbers)
    is_possible[:-1] &= numbers[:-1] >= 0
    is_possible[-1] &= numbers[-1] >= LEAST["exploitability"]
    if not is_possible.all():
        axis, point = np.argwhere(~is_possible)[0]
        raise RLCCFRError(f"its curve_{names[axis]} has the point {float(numbers[axis, point])!r}")
    falls = (numbers[:-1, 1:] < numbers[:-1, :-1]).any(axis=1)
    if falls.any():
        raise RLCCFRError(f"its curve_{names[int(np.argmax(falls))]} must ascend")
    return curve
