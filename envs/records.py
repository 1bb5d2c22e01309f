"""The record of one measurement: a flat, JSON-able dict; its curve is kept as columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.envs.cells import as_json, compiled, definitions, is_deterministic, uniform_exploitability
from rlccfr.envs.measurement import Measurement, Request, Status
from rlccfr.envs.provenance import engine_version, library_versions, processor_model
from rlccfr.result import CurvePoint

STATUSES: tuple[Status, ...] = ("ok", "failed", "timeout", "out_of_memory", "unavailable")
NUMBERS = ("exploitability", "nash_conv", "throughput", "reference_throughput", "throughput_again", "cpu_seconds")
COUNTS = ("nodes_touched", "iterations", "timed_runs")
NESTED = ("cells", "components", "libraries")
"""Columns that a frame holds as JSON."""

COLUMNS = (
    "cell_id", "status", "error", "traceback",
    "game", "openspiel_name", "game_hash",
    "update_rule", "sampler", "abstraction", "cells", "components",
    "budget_unit", "budget_amount", "segments", "seed", "deterministic",
    *NUMBERS[:2], "uniform_exploitability", *NUMBERS[2:], *COUNTS,
    "engine_version", "processor", "libraries", "measured_at",
)  # fmt: skip
"""A record's fields, besides ``curve``; ``update_rule`` to ``abstraction`` are the last segment's."""


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
    """A whole record; without ``numbers`` (those of :data:`NUMBERS` and :data:`COUNTS`) they are None and 0."""
    tree = compiled(request.game)
    deterministic = is_deterministic(request.cells, tree)
    last = request.cells[-1]
    record: dict[str, Any] = {
        "cell_id": cell_id,
        "status": status,
        "error": error,
        "traceback": traceback,
        "game": request.game,
        "openspiel_name": tree.openspiel_name,
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
    given = dict(numbers or {})
    record |= {name: given.get(name) for name in NUMBERS} | {name: given.get(name, 0) for name in COUNTS}
    return {name: record[name] for name in (*COLUMNS, "curve")}


def _finite(column: pd.Series[Any]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in column.tolist()]  # JSON has no NaN


def to_measurement(record: Mapping[str, Any]) -> Measurement:
    """What an evaluator answers from a record."""

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
    )


def with_frame(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its curve as a DataFrame."""
    curve = pd.DataFrame({name: record["curve"][name] for name in CurvePoint._fields})
    return {**record, "curve": curve}


def thinned(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with five points a decade of iterations in its curve, powers of ten among them, and its last."""
    iterations = np.asarray(record["curve"]["iteration"], dtype=float)
    if not len(iterations):
        return dict(record)
    grid = np.unique(np.round(10 ** (np.arange(0, 5 * np.log10(iterations[-1]) + 1) / 5)))
    kept = np.flatnonzero(np.isin(iterations, grid) | (np.arange(len(iterations)) == len(iterations) - 1))
    return {**record, "curve": {name: [column[k] for k in kept] for name, column in record["curve"].items()}}


def with_short_curves(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its curves' measured columns in single precision; the run's own numbers stay as they are."""
    measured = ("cpu_seconds", "exploitability", "exploitability_current")
    short = frame.copy()
    for name in (f"curve_{name}" for name in measured):
        short[name] = pd.Series([np.asarray(row, dtype=np.float32) for row in frame[name]], frame.index, dtype=object)
    return short


def to_frame(records: Iterable[Mapping[str, Any]], *, curves: bool = False) -> pd.DataFrame:
    """A row a record; nested fields are JSON strings, curves list columns ``curve_iteration``, ... where asked for."""
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
