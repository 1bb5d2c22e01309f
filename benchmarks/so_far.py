"""Keep an unfinished measurement under version control: ``python -m benchmarks.so_far save|load``.

`make measure` takes many CPU hours. ``save`` writes the runs that runs/ has so far to benchmarks/results, with the
points of their curves that are published; ``load``, with which `make measure` begins, copies them back to runs/, so
that sweeps continue from there on another machine. Runs of an earlier engine are ignored. A game that another processor
has measured completely counts as measured: algorithms are compared within a game, so one processor per game is enough.
A game that another processor has measured in part is measured again; but if only further seeds of algorithms close to
the best are missing, only these run here. Once the measurement is published, delete the files.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks import teams
from benchmarks.teams import FAMILIES_SWEPT, PUBLIC_SWEPT, RESULTS, SWEPT, say
from rlccfr.agents import shipped
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.sweeping.plan import Job

Plan = Callable[[Store], list[Job]]
KEPT: dict[Path, tuple[str, tuple[Budget, ...], Plan]] = {
    SWEPT: ("measured-so-far.parquet", (), teams.planned),
    FAMILIES_SWEPT: (
        "families-so-far.parquet",
        (teams.BRIEF, *teams.met(), *teams.BETWEEN),
        lambda store: teams.members(),
    ),
    PUBLIC_SWEPT: ("public-so-far.parquet", shipped.PUBLIC_BUDGETS, teams.on_public_trees),
}
"""For each store: its file, the budgets that must be readable off the curves (by default all), and its runs."""


def save(swept: Path, results: Path = RESULTS) -> None:
    """Write the runs of the plan that a store has to its file, if there are any.

    A run of another processor, which counts as done under an id of this machine, gets its original id back.
    """
    name, budgets, plan = KEPT[swept]
    store = Store(swept)
    with tempfile.TemporaryDirectory() as folder:
        kept = Store(folder)
        for job in plan(store):
            record = store.get(job.id)
            if record is not None:
                kept.put({**record, "cell_id": replace(job, processor=record["processor"]).id})
        if len(kept):
            kept.compact(results / name, small=True, budgets=budgets)
            say(f"{name}: {len(kept):,} runs")


def load(swept: Path, results: Path = RESULTS) -> None:
    """Put the runs that a store lacks into it, from its file if that is there."""
    name, _, plan = KEPT[swept]
    if not (results / name).exists():
        return
    store, table = Store(swept), TableEvaluator(load_results(results / name))
    own = {one for one in table.ids() if table.record(one)["processor"] == processor_model()}
    put(own, table, store)
    used: set[str] = set()
    while new := stand_ins(plan(store), table, store):  # a plan may depend on what has been measured
        for local, cell_id in new.items():
            store.put({**table.record(cell_id), "cell_id": local})
        used.update(new.values())
        say(f"{swept}: {len(new):,} runs of other processors count as done")
    put({one for one in table.ids() if one not in own | used}, table, store)
    say(f"{swept}: {len(store):,} runs with those from {name}")


def put(ids: set[str], table: TableEvaluator, store: Store) -> None:
    """Put those of a table's runs that a store lacks into the store."""
    for cell_id in ids:
        if store.get(cell_id) is None:
            store.put(table.record(cell_id))


def stand_ins(jobs: list[Job], table: TableEvaluator, store: Store) -> dict[str, str]:
    """Map ids here to ids in the table, for each game that another processor, and not this one, has measured in full.

    Runs of this machine's processor are replaced, so that a game has only one processor.
    """
    games, there = defaultdict(list), set(table.ids())
    for job in jobs:
        games[job.game].append(job)
    processors = {table.record(cell_id)["processor"] for cell_id in there}
    found: dict[str, str] = {}
    for runs in games.values():
        if all(store.get(job.id) is not None for job in runs):
            continue
        for processor in sorted(processors - {processor_model()}):
            others = {job.id: replace(job, processor=processor).id for job in runs}
            if there.issuperset(others.values()):
                found |= others
                break
    return found


if __name__ == "__main__":
    actions = {"save": save, "load": load}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        sys.exit("usage: python -m benchmarks.so_far save|load")
    for each in KEPT:
        actions[sys.argv[1]](each)
