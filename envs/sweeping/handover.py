"""The handover of a sweep from another machine: its runs count as done and get this machine's ids."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.curve import covers
from rlccfr.envs.measuring.provenance import engine_version
from rlccfr.envs.measuring.record import SMALL
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.store import Store, StoreError
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.sweeping.plan import Job


def take_over(path: str | Path, planned: Iterable[Job], store: Store) -> int:
    """Copy the runs that a store lacks from a file that :meth:`Store.compact` wrote; return their number.

    A run is copied under its id in the file. A planned run also counts as done if another processor performed it with
    the same engine, game, seed and components for at least as long; its record names that processor. A failed run from
    another processor never stands in for a planned one, which is then performed here. A failed run with the id of a
    planned one is copied, and is repeated only with ``retry_failed``.

    Args:
        path: the file.
        planned: runs of this machine's sweep.
        store: store of this machine's sweep.

    Raises:
        StoreError: the file is missing or damaged, or was written small, with shortened curves.
    """
    frame = load_results(path)
    if frame.attrs.get(SMALL):
        raise StoreError(f"{path} has curves cut short for publishing; write it without --small to go on from it")
    table = TableEvaluator(frame)
    copied = 0
    # The runs of the file under their own ids.
    for cell_id in table.ids():
        if store.get(cell_id) is None:
            store.put(table.record(cell_id))
            copied += 1
    # Runs of another processor once more, under the ids that this sweep gives them.
    for job in planned:
        if store.get(job.id) is None and (record := _equivalent_run(job, table)) is not None:
            store.put({**record, "cell_id": job.id})
            copied += 1
    return copied


def _equivalent_run(job: Job, table: TableEvaluator) -> dict[str, Any] | None:
    """Return the record of another machine's run that can take the place of a job's run; None if there is none."""
    if job.seed not in table.seeds(job.game, job.cell):
        return None
    record = table.run(job.game, job.cell, job.seed)
    if record["engine_version"] != engine_version() or record["game_hash"] != compiled(job.game).content_hash:
        return None
    if not covers(record, Budget("iterations", job.limits.iterations)):
        return None
    if job.limits.seconds and not covers(record, Budget("seconds", job.limits.seconds)):
        return None
    return record
