"""An evaluator that runs nothing: it answers from recorded measurements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rlccfr.catalog import Cell
from rlccfr.envs.measuring.evaluator import Evaluator, Measurement
from rlccfr.envs.measuring.identity import definitions, from_file
from rlccfr.envs.measuring.record import to_frame, to_measurement
from rlccfr.envs.measuring.request import Budget, Request, check
from rlccfr.envs.measuring.rows import REQUIRED, age, checked, load_results
from rlccfr.envs.measuring.shorter_budgets import COLUMN, covers, read_off
from rlccfr.envs.measuring.store import MissingCellError, Store
from rlccfr.errors import RLCCFRError
from rlccfr.files import as_json
from rlccfr.games.compiled_games import measured_name, unit_of
from rlccfr.games.gambit.files import is_file
from rlccfr.games.public.spots import is_spot_file
from rlccfr.result import CurvePoint


class TableEvaluator(Evaluator):
    """An evaluator that answers from a table of measurements.

    Selectors train on a table in seconds, and on the same numbers everywhere. The table may come from another engine
    version or processor, but must have the same definitions of components. Of several measurements of one request, the
    newest by ``measured_at`` counts; one without a date counts as the oldest. If a request has no measurement, a longer
    run's curve gives the result (:mod:`rlccfr.envs.measuring.shorter_budgets`). If an algorithm's newest run failed and
    no other run is long enough, the algorithm counts as failed under any budget, since its speed is not known.

    Args:
        source: a DataFrame, a Parquet file (from :meth:`Store.compact`), a store, or a store's directory.

    Raises:
        RLCCFRError: there is nothing to read, a required column is missing, or a row is not a measurement; the message
            names the row.

    Examples:
        >>> import pandas as pd
        >>> run = {
        ...     "game": "kuhn", "update_rule": "cfr", "sampler": "none", "abstraction": "none",
        ...     "budget_unit": "iterations", "budget_amount": 100, "exploitability": 0.01,
        ...     "uniform_exploitability": 0.458, "throughput": 1000.0, "reference_throughput": 1000.0,
        ... }
        >>> table = TableEvaluator(pd.DataFrame([run]))
        >>> table.measure(Request("kuhn", (Cell("cfr", "none", "none"),), Budget("iterations", 100))).exploitability
        0.01
    """

    def __init__(self, source: pd.DataFrame | Store | str | Path) -> None:
        frame = load_results(source)
        missing_columns = [name for name in REQUIRED if name not in frame]
        if missing_columns:
            raise RLCCFRError(f"the table has no column {missing_columns[0]!r}; it needs {', '.join(REQUIRED)}")
        # From the oldest to the newest; records without a date count as the oldest.
        records = sorted((checked(row, number) for number, row in enumerate(frame.to_dict("records"))), key=age)
        self._by_id = {record["cell_id"]: record for record in records}
        self._read_off: dict[str, dict[str, Any]] = {}  # by id, for ``result``
        self._definitions: dict[Cell, str] = {}  # definitions of each algorithm's components, as JSON
        # A run is a game, algorithms and a seed, None if nothing is drawn; see _run_of. Later records replace earlier
        # ones or come after them, so that the newest counts.
        self._by_key: dict[tuple[Any, ...], dict[str, Any]] = {}  # by run and budget
        self._runs: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)  # of one segment, by run
        self._seeds: dict[tuple[Any, ...], set[int | None]] = defaultdict(set)  # by game and algorithms
        for record in records:
            for game in names_of(record):
                budget, run = _key_of(record, game)
                self._by_key[*run, *budget] = record
                if record["segments"] == 1:
                    self._runs[run].append(record)
                    self._seeds[run[:2]].add(run[2])

    def measure(self, request: Request) -> Measurement:
        """Return the recorded measurement.

        Raises:
            MissingCellError: the table does not have the measurement; the message names it.
            RLCCFRError: an invalid request.
        """
        check(request)
        record = self._record_for(request)
        if record is None:
            triples = ", then ".join(str(cell) for cell in request.cells)
            raise MissingCellError(
                f"the table has no measurement of {triples} on {request.game!r} under {request.budget} "
                f"in {request.segments} segment(s) with engine seed {request.seed}; measure it with a LiveEvaluator"
            )
        return to_measurement(record, unit_of(request.game))

    def known(self, request: Request) -> bool:
        """Return whether the table has the measurement."""
        check(request)
        return self._record_for(request) is not None

    def result(self, cell_id: str) -> dict[str, Any]:
        """Return the full record, with its ``curve`` as a DataFrame (empty if the table has no curves).

        Raises:
            MissingCellError: no measurement has that id.
        """
        record = self._by_id.get(cell_id) or self._read_off.get(cell_id)
        if record is None:
            raise MissingCellError(f"the table has no measurement with the id {cell_id!r}")
        return {**record, "curve": pd.DataFrame(record["curve"], columns=list(CurvePoint._fields))}

    def seeds(self, game: str, cell: Cell) -> tuple[int, ...]:
        """Return the engine seeds of an algorithm's runs, sorted; (0,) if the runs draw nothing, () without runs."""
        seeds = self._seeds.get(self._run_of(game, (cell,), None)[:2], set())
        if None in seeds:
            return (0,)
        return tuple(sorted(seed for seed in seeds if seed is not None))

    def lacking(self, game: str, catalog: Iterable[Cell]) -> Cell | None:
        """Return the first algorithm of a catalog that has no run on a game; None if all have one."""
        return next((cell for cell in catalog if not self.seeds(game, cell)), None)

    def run(self, game: str, cell: Cell, seed: int) -> dict[str, Any]:
        """Return the record of an algorithm's longest run with a seed; its curve has the results for shorter budgets.

        Only runs with the engine version and the processor of the newest run count.

        Raises:
            MissingCellError: there is no run.
        """
        # A run that draws nothing at random is stored without a seed, and answers for any seed.
        keys = [self._run_of(game, (cell,), run_seed) for run_seed in (seed, None)]
        records = [record for key in keys for record in self._runs.get(key, ())]
        if not records:
            raise MissingCellError(f"the table has no run of {cell} on {game!r} with engine seed {seed}; measure it")
        # Speeds and results of different engines or processors can't be compared.
        newest = records[-1]
        comparable = [
            record
            for record in records
            if record["engine_version"] == newest["engine_version"] and record["processor"] == newest["processor"]
        ]
        return max(comparable, key=lambda record: record["iterations"] or 0)

    def ends_before(self, game: str, cells: Iterable[Cell], budget: Budget) -> list[float]:
        """Return where those runs of some algorithms end that do not cover a budget, in its unit; 0 without a curve."""
        return [
            max(self.run(game, cell, seed)["curve"][COLUMN[budget.unit]], default=0.0)
            for cell in cells
            for seed in self.seeds(game, cell)
            if not self.known(Request(game, (cell,), budget, seed=seed))
        ]

    def run_again(self, game: str, cell: Cell) -> dict[str, Any] | None:
        """Return the record of an algorithm's run with seed 0, at the speed of its second timing.

        The iterations are the same; the throughput and the curve's CPU seconds are those of the second timing. Return
        None if the run failed, was timed only once, or was recorded without a curve.

        Raises:
            MissingCellError: there is no run.
        """
        run = self.run(game, cell, 0)
        second_throughput = run["throughput_again"]
        if run["status"] != "ok" or not second_throughput or not run["curve"]["cpu_seconds"]:
            return None
        # The same iterations took another time: the curve's CPU seconds are stretched by the ratio of the two speeds.
        seconds = [spent * run["throughput"] / second_throughput for spent in run["curve"]["cpu_seconds"]]
        return {**run, "throughput": second_throughput, "curve": {**run["curve"], "cpu_seconds": seconds}}

    def timed_again(self, game: str, cell: Cell, budget: Budget) -> Measurement | None:
        """Return the measurement under a budget, read off the record of :meth:`run_again`; None without such a record.

        If the second timing makes the run shorter than a budget in seconds, the result is the one at the run's end.

        Raises:
            MissingCellError: there is no run.
        """
        run = self.run_again(game, cell)
        return None if run is None else to_measurement(read_off(run, budget), unit_of(game))

    @property
    def games(self) -> list[str]:
        """Names of the measured games, as the table records them."""
        return list(dict.fromkeys(record["game"] for record in self._by_id.values()))

    def ids(self) -> list[str]:
        """Return the ids of the table's measurements."""
        return list(self._by_id)

    def record(self, cell_id: str) -> dict[str, Any]:
        """Return the record of a measurement, in the form in which a store keeps records.

        Raises:
            KeyError: no measurement has that id.
        """
        return self._by_id[cell_id]

    def frame(self) -> pd.DataFrame:
        """Return every record as a row, without its curve."""
        return to_frame(self._by_id.values())

    def _record_for(self, request: Request) -> dict[str, Any] | None:
        """Return the record that answers a request; None if the table has no answer.

        The answer is the first of these that exists: the request's own record, if its run succeeded; a result read off
        a longer run's curve; the request's own failed record; the algorithm's newest run, if it failed.
        """
        budget = request.budget.unit, float(request.budget.amount), request.segments
        for seed in (request.seed, None):
            run = self._run_of(request.game, request.cells, seed)
            exact_record = self._by_key.get((*run, *budget))
            if exact_record is not None and exact_record["status"] == "ok":
                return exact_record
            records = self._runs.get(run, ())
            usable_records = [record for record in records if covers(record, request.budget)]
            if exact_record is None and not usable_records:
                # If the newest run failed, the algorithm counts as failed.
                usable_records = [record for record in records[-1:] if record["status"] != "ok"]
            if usable_records and request.segments == 1:
                # Kept, so that its id can be looked up, and a repeated request finds it at once.
                record = read_off(usable_records[-1], request.budget)
                self._by_key[*run, *budget] = record
                self._read_off[record["cell_id"]] = record
                return record
            if exact_record is not None:
                return exact_record
        return None

    def _run_of(self, game: str, cells: Sequence[Cell], seed: int | None) -> tuple[str, str, int | None]:
        """Return the key of a run: game, components with their definitions, and seed."""
        for cell in cells:
            if cell not in self._definitions or from_file(cell):  # looking up definitions is slow
                self._definitions[cell] = as_json(definitions(cell))
        return measured_name(game), f"[{','.join(self._definitions[cell] for cell in cells)}]", seed

    def __len__(self) -> int:
        return len(self._by_id)

    def __deepcopy__(self, memo: dict[int, Any]) -> TableEvaluator:
        return self  # it never changes, and Gymnasium copies keyword arguments

    def __repr__(self) -> str:
        return f"TableEvaluator({len(self):,} measurements)"


def names_of(record: Mapping[str, Any]) -> set[str]:
    """Return the names under which a record's game is found.

    The file of a game may have changed since the run. Such a game is found only by its full name, which contains a
    digest of the content.
    """
    full_name = measured_name(record["openspiel_name"])
    is_from_file = is_file(record["game"]) or is_spot_file(record["game"])
    return {full_name} if is_from_file else {full_name, measured_name(record["game"])}


def _key_of(record: Mapping[str, Any], game: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the keys of a record's budget and run; the seed is None if nothing is drawn at random."""
    budget = record["budget_unit"], float(record["budget_amount"]), int(record["segments"])
    return budget, (game, as_json(record["components"]), None if record["deterministic"] else int(record["seed"]))
