"""An evaluator that runs the engine once per distinct request."""

from __future__ import annotations

import math
import traceback
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from rlccfr.envs.measuring.evaluator import Evaluator, Measurement, Status
from rlccfr.envs.measuring.identity import cell_id, from_file
from rlccfr.envs.measuring.record import make_record, to_frame, to_measurement, with_frame
from rlccfr.envs.measuring.request import Budget, Request, changes, check, segment_budget
from rlccfr.envs.measuring.store import MissingCellError, Store
from rlccfr.envs.measuring.timing import (
    LEAST_SECONDS,
    NO_TIME,
    Part,
    ReferenceClock,
    Timed,
    compare,
    measured_solver,
)
from rlccfr.errors import BrokenComponentError, BudgetError, ComponentError, RLCCFRError, whole_number
from rlccfr.game import Game
from rlccfr.games.compiled_games import compiled, unit_of
from rlccfr.interrupts import raise_if_interrupt
from rlccfr.result import RunResult

if TYPE_CHECKING:
    from rlccfr.solver import Solver

TIMED_ONCE = "-once"
"""Suffix of the ids of records whose runs were timed only once."""

MOST_LIVE = 8
"""Largest number of unfinished episodes whose solvers are kept, so that their next segment continues the run."""


@dataclass
class _Run:
    """An episode so far.

    Attributes:
        solver: solver of all segments.
        parts: stretches with one algorithm each.
        segments: number of segments done.
        reference: iterations and seconds of plain CFR, summed over the slices with which the run's speed is compared.
        result: result at the end of the last segment; None before the first.
    """

    solver: Solver
    parts: list[Part] = field(default_factory=list)
    segments: int = 0
    reference: Timed = NO_TIME
    result: RunResult | None = None


class LiveEvaluator(Evaluator):
    """An evaluator that runs the engine; it answers a repeated request from memory or from the store.

    A failed run raises no error: its record has the status and the traceback. A missing extra or an unsound combination
    is ``"unavailable"`` and is not written to the store, so that installing the extra helps.

    Args:
        store: directory that keeps the measurements; None keeps them for this object's lifetime only.
        reference_seconds: engine CPU seconds of each slice of plain CFR that a run is compared with. A value
            below 0.02 counts as 0.02.
        retry_failed: whether to repeat measurements whose record in the store has a status other than ``"ok"``.
        keep_runs: number of runs of one segment whose solvers are kept, so that a request for the same run under a
            larger budget continues where the run ended, as in successive halving. If it is not 0, each run is timed
            only once, which is less exact, so its record has an id of its own.

    Attributes:
        store: the store; None if measurements are kept in memory only.
        reference_seconds: as the argument, at least 0.02.
        retry_failed, keep_runs: as the arguments.

    Raises:
        StoreError: the store's path is a file, or can't be written.
        BudgetError: ``reference_seconds`` is not positive and finite.

    Examples:
        >>> from rlccfr.envs import Budget, Cell
        >>> evaluator = LiveEvaluator()
        >>> cell = Cell("cfr_plus", "none", "none")
        >>> measured = evaluator.measure(Request("kuhn", (cell,), Budget("iterations", 100)))
        >>> measured.status, measured.iterations, round(measured.exploitability, 3)
        ('ok', 100, 0.001)
    """

    def __init__(
        self,
        store: str | Path | Store | None = None,
        *,
        reference_seconds: float = LEAST_SECONDS,
        retry_failed: bool = False,
        keep_runs: int = 0,
    ) -> None:
        self.store = store if isinstance(store, Store) or store is None else Store(store)
        if not (math.isfinite(reference_seconds) and reference_seconds > 0):
            raise BudgetError(f"reference_seconds must be positive and finite, not {reference_seconds!r}")
        self.reference_seconds = max(reference_seconds, LEAST_SECONDS)
        self.retry_failed = retry_failed
        self.keep_runs = whole_number(keep_runs, "keep_runs", 0, BudgetError)
        self._records: dict[str, dict[str, Any]] = {}  # by id
        self._unwritten: set[str] = set()  # ids of records that the store does not have yet
        self._clocks: dict[Game, ReferenceClock] = {}
        self._live: OrderedDict[tuple[str, int], _Run] = OrderedDict()  # by id of the last segment and engine seed
        self._kept_runs: OrderedDict[tuple[str, int], _Run] = OrderedDict()  # see _run_key

    def measure(self, request: Request) -> Measurement:
        """Return the measurement at the end of the request's last segment.

        Under a budget of iterations or nodes, all numbers except times are bitwise those of a :class:`rlccfr.Solver`
        with its default options. Between segments, only the components that change are switched.

        A run shorter than half a second is timed again on new tables: three times for at least 20 ms each, without the
        stops that the curve needs. After each of these timings, plain CFR is timed: in runs of as many iterations, or
        for a slice of ``reference_seconds`` if such a run would take longer. The pair of timings with the median ratio
        of speeds gives ``throughput`` and ``reference_throughput``. The first iteration of a run, which makes the
        tables, does not count in either. ``cpu_seconds`` is computed from the mean time per iteration over all
        repetitions; under a budget of seconds, it is the time of the run itself.

        Raises:
            RLCCFRError: an invalid request, such as one with an unknown game or id; or a controller's file that was
                replaced during the run.
            StoreError: the store can't be read or written.
        """
        check(request)
        # Different spellings of the same components share a measurement.
        request = replace(request, cells=tuple(cell.canonical for cell in request.cells))
        cell = self._id_of(request)
        record = self._recall(cell)
        if record is None:
            record = self._failed_before(request, cell) or self._attempt(request, cell)
            # The id was computed from the controller's file before the run; the run may have read a newer file.
            if any(map(from_file, request.cells)) and self._id_of(request) != cell:
                raise RLCCFRError("the controller's file has changed during the run: measure a copy of the file")
            record = self._keep_first(cell, record)
        self._write(record)
        return to_measurement(record, unit_of(request.game))

    def known(self, request: Request) -> bool:
        """Return whether ``measure`` would answer without running anything."""
        check(request)
        return self._recall(self._id_of(request)) is not None

    def result(self, cell_id: str) -> dict[str, Any]:
        """Return the record (see :mod:`rlccfr.envs.measuring.record`), with its ``curve`` as a DataFrame.

        Raises:
            MissingCellError: no measurement has that id.
        """
        record = self._recall(cell_id)
        if record is None:
            raise MissingCellError(f"no measurement has the id {cell_id!r}; ids are in frame()['cell_id']")
        return with_frame(record)

    def frame(self) -> pd.DataFrame:
        """Return every record, from the store and from memory, as a row without its curve."""
        stored = {record["cell_id"]: record for record in self.store.records()} if self.store is not None else {}
        return to_frame((stored | self._records).values())

    def _id_of(self, request: Request) -> str:
        """Return the id of a request's record."""
        return f"{cell_id(request)}{TIMED_ONCE if self.keep_runs else ''}"

    def _recall(self, cell: str) -> dict[str, Any] | None:
        """Return a record from this object or the store; None if neither has it."""
        if cell not in self._records and (record := self._stored(cell)) is not None:
            self._records[cell] = record
        return self._records.get(cell)

    def _keep_first(self, cell: str, record: dict[str, Any]) -> dict[str, Any]:
        """Keep a record in memory and return it; if another process has stored one meanwhile, take that one instead."""
        earlier = self._stored(cell)
        self._records[cell] = record if earlier is None else earlier
        if earlier is None:
            self._unwritten.add(cell)
        return self._records[cell]

    def _write(self, record: Mapping[str, Any]) -> None:
        """Put a record into the store unless the store has it; if that fails, the next request for it tries again."""
        if self.store is not None and record["cell_id"] in self._unwritten and record["status"] != "unavailable":
            self.store.put(record)
        self._unwritten.discard(record["cell_id"])

    def _stored(self, cell: str) -> dict[str, Any] | None:
        """Return a record from the store; None if there is none, or if its run failed and is to be repeated."""
        record = self.store.get(cell) if self.store is not None else None
        if record is not None and record["status"] != "ok" and self.retry_failed:
            return None
        return record

    def _failed_before(self, request: Request, cell: str) -> dict[str, Any] | None:
        """Return a failed record if an earlier segment failed, since another run would fail, too; else None."""
        for count in range(1, len(request.cells)):
            record = self._recall(self._id_of(replace(request, cells=request.cells[:count])))
            if record is not None and record["status"] != "ok":
                error = f"segment {count}: {record['error']}"
                return make_record(request, cell, record["status"], error=error, traceback=record["traceback"])
        return None

    def _attempt(self, request: Request, cell: str) -> dict[str, Any]:
        """Run a request and return its record, even if it fails."""
        failure: tuple[Status, Exception]
        try:
            return self._measured(request, cell)
        except MemoryError as error:
            failure = "out_of_memory", error
        except BrokenComponentError as error:
            failure = "failed", error
        except (ImportError, ComponentError) as error:
            failure = "unavailable", error
        except Exception as error:  # a component's failure is a result, not the end of a sweep
            failure = "failed", error
        status, caught = failure
        raise_if_interrupt(caught)
        text = "".join(traceback.format_exception(caught))
        return make_record(request, cell, status, error=f"{type(caught).__name__}: {caught}", traceback=text)

    def _measured(self, request: Request, cell: str) -> dict[str, Any]:
        """Run a request and return its record; a failure raises its error."""
        run = self._advance(request)
        result = run.result
        assert result is not None
        if not math.isfinite(result.exploitability):
            raise ArithmeticError(f"the average policy's exploitability is {result.exploitability}")
        clock = self._clock(request.game)
        is_repeated = not self.keep_runs
        timing = compare(
            result, run.reference, clock, run.parts, request.seed, self.reference_seconds, repeat=is_repeated
        )
        # The next segment is compared with plain CFR's speed over all slices so far.
        run.reference = run.reference.plus(timing.reference)
        self._keep(request, cell, run)
        numbers = {
            "exploitability": result.exploitability,
            "nash_conv": result.nash_conv,
            "throughput": timing.throughput,
            "reference_throughput": timing.reference_throughput,
            "cpu_seconds": result.cpu_seconds if request.budget.unit == "seconds" else timing.cpu_seconds,
            "nodes_touched": result.nodes_touched,
            "iterations": result.iterations,
            "timed_runs": timing.runs,
        }
        return make_record(request, cell, "ok", numbers=numbers, curve=result.curve)

    def _advance(self, request: Request) -> _Run:
        """Run the segments that are left, on the solver that is kept from the previous segment if there is one."""
        previous_id = self._id_of(replace(request, cells=request.cells[:-1])) if len(request.cells) > 1 else ""
        # Removed, not only looked up: an interrupted run must not be continued.
        run = self._live.pop((previous_id, request.seed), None) or self._shorter_run(request)
        if run is None or run.solver.game is not compiled(request.game):  # the name now stands for another game
            run = _Run(measured_solver(request.game, request.cells[0], request.seed))
        for index in range(run.segments, len(request.cells)):
            # Plain CFR is timed before each segment, since the load on the machine varies.
            run.reference = run.reference.plus(self._clock(request.game).slice(self.reference_seconds))
            _switch(run, request, index)
            iterations_before = run.result.iterations if run.result else 0
            run.result = run.solver.run(**segment_budget(request.budget, request.segments, index, run.result))
            stretch = run.parts[-1]
            iterations = stretch.iterations + run.result.iterations - iterations_before
            run.parts[-1] = stretch._replace(iterations=iterations)
            run.segments += 1
        return run

    def _shorter_run(self, request: Request) -> _Run | None:
        """Return a kept run of the request's algorithm under a smaller budget, to be continued; None without one."""
        if not self.keep_runs or request.segments > 1:
            return None
        run = self._kept_runs.get(_run_key(request))
        if run is None or run.result is None or run.solver.update_rule.controller is not None:
            return None  # a controller planned for another horizon
        spent = {
            "iterations": run.result.iterations,
            "seconds": run.result.cpu_seconds,
            "nodes": run.result.nodes_touched,
        }
        if spent[request.budget.unit] >= request.budget.amount:
            return None
        del self._kept_runs[_run_key(request)]  # an interrupted run must not be continued
        run.segments = 0  # its only segment continues
        return run

    def _clock(self, game: str) -> ReferenceClock:
        """Return the game's :class:`ReferenceClock`, which times plain CFR for comparison."""
        tree = compiled(game)
        if tree not in self._clocks:
            self._clocks[tree] = ReferenceClock(tree)
        return self._clocks[tree]

    def _keep(self, request: Request, cell: str, run: _Run) -> None:
        """Keep the solver of an unfinished episode for its next segment, or of a run that may be continued.

        If there are more than MOST_LIVE or ``keep_runs`` solvers, the oldest one is dropped.
        """
        if len(request.cells) < request.segments:
            self._live[cell, request.seed] = run
            while len(self._live) > MOST_LIVE:
                self._live.popitem(last=False)
        elif self.keep_runs and request.segments == 1:
            self._kept_runs[_run_key(request)] = run
            while len(self._kept_runs) > self.keep_runs:
                self._kept_runs.popitem(last=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, without solvers and clocks, which are made again when needed."""
        return {**vars(self), "_clocks": {}, "_live": OrderedDict(), "_kept_runs": OrderedDict()}

    def __deepcopy__(self, memo: dict[int, Any]) -> LiveEvaluator:
        return self  # Gymnasium copies keyword arguments; the copies should share the measurements

    def __repr__(self) -> str:
        return f"LiveEvaluator(store={self.store!r}, measured={len(self._records):,})"


def _run_key(request: Request) -> tuple[str, int]:
    """Return a run's key, which is the same under all budgets in one unit: an id and the engine seed."""
    return cell_id(replace(request, budget=Budget(request.budget.unit, 1))), request.seed


def _switch(run: _Run, request: Request, index: int) -> None:
    """Switch to the components of segment ``index``; components that do not change are kept."""
    solver = run.solver
    changed = changes(request.cells[index - 1], request.cells[index]) if index else {}
    if changed:
        solver.switch(**changed)
    if changed or not run.parts:
        run.parts.append(Part(solver.update_rule, solver.sampler, solver.abstraction, 0))


@cache
def shared_evaluator(store: str | None = None) -> LiveEvaluator:
    """Return the evaluator that this process's environments share: one for each store, and one without a store."""
    return LiveEvaluator(store)
