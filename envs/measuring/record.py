"""The record of one measurement: a dict that can be written as JSON; its curve is a dict of columns."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.catalog import AXES
from rlccfr.envs.measuring.evaluator import Measurement, Status
from rlccfr.envs.measuring.identity import definitions, is_deterministic
from rlccfr.envs.measuring.provenance import engine_version, library_versions, processor_model
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.shorter_budgets import COLUMN
from rlccfr.files import as_json, none_for_nan
from rlccfr.games.compiled_games import compiled, uniform_exploitability
from rlccfr.result import CurvePoint

STATUSES: tuple[Status, ...] = ("ok", "failed", "timeout", "out_of_memory", "unavailable")
NUMBERS = ("exploitability", "nash_conv", "throughput", "reference_throughput", "throughput_again", "cpu_seconds")
COUNTS = ("nodes_touched", "iterations", "timed_runs")
FINGERPRINT = "fingerprint"
"""Name of the attribute that holds a frame's :func:`fingerprint` in a file."""

SMALL = "small"
"""Name of the attribute that tells whether the curves in a file are :func:`thinned`."""

MEASURED_ALONG = ("curve_cpu_seconds", "curve_exploitability", "curve_exploitability_current")
"""Columns of a curve that hold measured numbers; the others hold counts."""

FIRST_SECONDS = 1e-3
"""CPU seconds of the first point that a sweep adds to a tabular run's curve; ten such points per decade follow."""

NESTED = ("cells", "components", "libraries")
"""Columns that a frame holds as JSON strings."""

COLUMNS = (
    "cell_id", "status", "error", "traceback",
    "game", "openspiel_name", "game_hash",
    *AXES, "cells", "components",
    "budget_unit", "budget_amount", "segments", "seed", "deterministic",
    *NUMBERS[:2], "uniform_exploitability", *NUMBERS[2:], *COUNTS,
    "engine_version", "processor", "libraries", "measured_at",
)  # fmt: skip
"""Fields of a record besides ``curve``; ``update_rule`` to ``abstraction`` are the last segment's."""


def make_record(
    request: Request,
    cell_id: str,
    status: Status,
    *,
    numbers: Mapping[str, float | None] | None = None,
    curve: pd.DataFrame | None = None,
    error: str = "",
    traceback: str = "",
) -> dict[str, Any]:
    """Return a complete record; what ``numbers`` lacks becomes None if it is in :data:`NUMBERS`, 0 if a count."""
    tree = compiled(request.game)
    deterministic = is_deterministic(request.cells, tree)
    last = request.cells[-1]
    record: dict[str, Any] = {
        "cell_id": cell_id,
        "status": status,
        "error": error,
        "traceback": traceback,
        "game": request.game,
        "openspiel_name": tree.full_name,
        "game_hash": tree.content_hash,
        **last._asdict(),
        "cells": [list(cell) for cell in request.cells],
        "components": [definitions(cell) for cell in request.cells],
        "budget_unit": request.budget.unit,
        "budget_amount": float(request.budget.amount),
        "segments": request.segments,
        "seed": 0 if deterministic else request.seed,
        "deterministic": deterministic,
        "uniform_exploitability": uniform_exploitability(request.game),
        "engine_version": engine_version(),
        "processor": processor_model(),
        "libraries": library_versions(),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "curve": {name: [] if curve is None else _finite(curve[name]) for name in CurvePoint._fields},
    }
    measured = dict(numbers or {})
    record |= {name: measured.get(name) for name in NUMBERS} | {name: measured.get(name, 0) for name in COUNTS}
    return {name: record[name] for name in (*COLUMNS, "curve")}


def _finite(column: pd.Series[Any]) -> list[float | None]:
    """Return a column's values, with None for NaN and infinities, which JSON does not have."""
    return [none_for_nan(value) for value in column.tolist()]


def to_measurement(record: Mapping[str, Any], unit: float = 1.0) -> Measurement:
    """Return the measurement of a record.

    Args:
        unit: unit of the game's exploitability in rewards, as for :class:`Measurement`.
    """

    def number(name: str) -> float:
        value = record.get(name)
        return math.nan if value is None else float(value)

    def count(name: str) -> int:
        value = number(name)
        return int(value) if math.isfinite(value) else 0

    return Measurement(
        cell_id=record["cell_id"],
        status=record["status"],
        exploitability=number("exploitability"),
        nash_conv=number("nash_conv"),
        uniform_exploitability=number("uniform_exploitability"),
        throughput=number("throughput"),
        reference_throughput=number("reference_throughput"),
        cpu_seconds=number("cpu_seconds"),
        nodes_touched=count("nodes_touched"),
        iterations=count("iterations"),
        unit=unit,
    )


def with_frame(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record with its curve as a DataFrame."""
    curve = pd.DataFrame({name: record["curve"][name] for name in CurvePoint._fields})
    return {**record, "curve": curve}


def thinned(record: Mapping[str, Any], budgets: Sequence[Budget] = ()) -> dict[str, Any]:
    """Return the record with about a third of its curve's points, and without a traceback.

    The points that are kept are five per decade of iterations and of CPU seconds, and the last point. The points just
    before and after each power of ten of CPU seconds are kept, too, so that results under such a budget do not change.

    Args:
        budgets: budgets whose results can then be read off the curve. If there are any, only the points that these
            results need, and the last point, are kept.
    """
    without_traceback = {**record, "traceback": ""}
    curve = {name: np.asarray(values, dtype=float) for name, values in record["curve"].items()}
    iterations = curve["iteration"]
    seconds = curve["cpu_seconds"]
    if not len(iterations):
        return without_traceback
    is_kept = np.zeros(len(iterations), np.bool_)
    if budgets:
        # Results under seconds are also read off at the speed of the second timing.
        second_throughput = record["throughput_again"]
        speed_ratio = second_throughput / record["throughput"] if second_throughput else 1.0
        amounts = [(budget.unit, budget.amount) for budget in budgets]
        amounts += [("seconds", speed_ratio * amount) for unit, amount in amounts if unit == "seconds"]
        # A result between two points needs both.
        points_after = np.array([np.searchsorted(curve[COLUMN[unit]], amount) for unit, amount in amounts])
        points = np.concatenate([points_after, points_after - 1])
    else:
        is_kept |= np.isin(iterations, np.round(_five_a_decade(1.0, iterations[-1])))
        times = _five_a_decade(FIRST_SECONDS, seconds[-1])
        # The first point after each time; and, for powers of ten (every fifth), also the last one before it.
        points = np.searchsorted(seconds, np.concatenate([times, times[::5]]))
        points[len(times) :] -= 1
    is_kept[np.clip(points, 0, len(is_kept) - 1)] = True
    is_kept[-1] = True
    kept_points = np.flatnonzero(is_kept)
    thinned_curve = {name: [column[k] for k in kept_points] for name, column in record["curve"].items()}
    return {**without_traceback, "curve": thinned_curve}


def _five_a_decade(least: float, most: float) -> np.ndarray:
    """Return five numbers per decade, evenly spaced on a logarithmic scale, from ``least`` to ``most``."""
    return np.asarray(least * 10 ** (np.arange(0, 5 * np.log10(max(most / least, 1.0)) + 1) / 5))


def with_short_curves(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its curves' measured columns in single precision; other numbers keep their precision."""
    shortened = frame.copy()
    for name in MEASURED_ALONG:
        curves = [np.asarray(curve, dtype=np.float32) for curve in frame[name]]
        shortened[name] = pd.Series(curves, frame.index, dtype=object)
    return shortened


def fingerprint(frame: pd.DataFrame) -> str:
    """Return a hash of a frame's content; it stays the same if the frame is written to Parquet and read back."""
    digest = hashlib.sha256()
    for name in frame.columns:
        digest.update(name.encode())
        if name.startswith("curve_"):
            # Parquet gives lists back as arrays, and None as NaN, so curves are hashed as doubles.
            curves = [np.asarray(curve, dtype=float) for curve in frame[name]]
            # The lengths come first: the same numbers, divided otherwise among the curves, are other content.
            digest.update(as_json([len(curve) for curve in curves]).encode())
            digest.update(b"".join(curve.tobytes() for curve in curves))
        else:
            digest.update(as_json([plain(value) for value in frame[name]]).encode())
    return digest.hexdigest()


def plain(value: Any) -> Any:
    """Return the value in Python's own types, with None for a DataFrame's missing values."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    return None if value is pd.NA or value is pd.NaT or value != value else value


def to_frame(records: Iterable[Mapping[str, Any]], *, curves: bool = False) -> pd.DataFrame:
    """Return a DataFrame with one row per record; nested fields are JSON strings.

    Args:
        curves: whether to add the curves, as columns of lists: ``curve_iteration``, ``curve_nodes``, ...
    """
    rows = []
    for record in records:
        row = {name: as_json(record[name]) if name in NESTED else record[name] for name in COLUMNS}
        if curves:
            row |= {f"curve_{name}": record["curve"][name] for name in CurvePoint._fields}
        rows.append(row)
    columns = [*COLUMNS, *(f"curve_{name}" for name in CurvePoint._fields if curves)]
    frame = pd.DataFrame(rows, columns=columns)
    floats = dict.fromkeys((*NUMBERS, "uniform_exploitability", "budget_amount"), float)
    return frame.astype(floats)
