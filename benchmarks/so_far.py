"""Keep a measurement under version control until it is whole: ``python -m benchmarks.so_far save|load``.

`make measure` takes many CPU hours. ``save`` writes the runs that runs/ has so far to benchmarks/results, with the
points of their curves that are published; ``load``, with which `make measure` begins, gives them back to runs/, so that
sweeps go on from there on another machine. Runs of an earlier engine count for nothing. A game that another processor
has measured in whole counts as measured: algorithms are compared within a game, so one processor per game is enough.
A game that another processor has measured in part is measured again. Once the measurement is published, delete the
files.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
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
"""For each store its file, the budgets that must be readable off the curves (by default all), and its runs."""


def save(swept: Path, results: Path = RESULTS) -> None:
    """Write a store's runs to its file, if there are any."""
    name, budgets, _ = KEPT[swept]
    store = Store(swept)
    if len(store):
        store.compact(results / name, small=True, budgets=budgets)
        say(f"{name}: {len(store):,} runs")


def load(swept: Path, results: Path = RESULTS) -> None:
    """Put the runs that a store lacks into it, from its file if that is there."""
    name, _, plan = KEPT[swept]
    if not (results / name).exists():
        return
    store, table = Store(swept), TableEvaluator(load_results(results / name))
    standing: dict[str, str] = {}
    while new := stand_ins(plan(store), table).items() - standing.items():  # a plan may depend on what is measured
        standing |= dict(new)
        put({local: cell_id for cell_id, local in new}, table, store)
        say(f"{swept}: {len(new):,} runs of other processors count as done")
    put({cell_id: cell_id for cell_id in table.ids() if cell_id not in standing}, table, store)
    say(f"{swept}: {len(store):,} runs with those from {name}")


def stand_ins(jobs: list[Job], table: TableEvaluator) -> dict[str, str]:
    """Return the runs of games that another processor has measured in whole: their ids there, with those here."""
    games, there = defaultdict(list), set(table.ids())
    for job in jobs:
        games[job.game].append(job)
    processors = {table.record(cell_id)["processor"] for cell_id in there}
    found: dict[str, str] = {}
    for runs in games.values():
        for processor in sorted(processors - {processor_model()}):
            others = {replace(job, processor=processor).id: job.id for job in runs}
            if there.issuperset(others):
                found |= others
                break
    return found


def put(ids: Mapping[str, str], table: TableEvaluator, store: Store) -> None:
    """Put the runs that a store lacks into it; ``ids`` has their ids in the store, with those in the table."""
    for own, cell_id in ids.items():
        if store.get(own) is None:
            store.put({**table.record(cell_id), "cell_id": own})


if __name__ == "__main__":
    actions = {"save": save, "load": load}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        sys.exit("usage: python -m benchmarks.so_far save|load")
    for each in KEPT:
        actions[sys.argv[1]](each)
