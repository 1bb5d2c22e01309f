"""Keep a measurement under version control until it is whole: ``python -m benchmarks.so_far save|load``.

`make measure` takes many CPU hours. ``save`` writes the runs that runs/ has so far to benchmarks/results, with the
points of their curves that are published; ``load``, with which `make measure` begins, gives them back to runs/, so that
sweeps go on from there on another machine. The runs keep their ids, so runs of an earlier engine count for nothing.
Once the measurement is published, delete the files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.teams import BETWEEN, BRIEF, FAMILIES_SWEPT, RESULTS, SWEPT, met, say
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.measuring.table import TableEvaluator

KEPT = {
    SWEPT: ("measured-so-far.parquet", ()),
    FAMILIES_SWEPT: ("families-so-far.parquet", (BRIEF, *met(), *BETWEEN)),
}
"""For each store its file, and the budgets that must be readable off the curves; by default all."""


def save(swept: Path, results: Path = RESULTS) -> None:
    """Write a store's runs to its file, if there are any."""
    name, budgets = KEPT[swept]
    store = Store(swept)
    if len(store):
        store.compact(results / name, small=True, budgets=budgets)
        say(f"{name}: {len(store):,} runs")


def load(swept: Path, results: Path = RESULTS) -> None:
    """Put the runs that a store lacks into it, from its file if that is there."""
    path = results / KEPT[swept][0]
    if not path.exists():
        return
    store, table = Store(swept), TableEvaluator(load_results(path))
    lacking = [cell_id for cell_id in table.ids() if store.get(cell_id) is None]
    for cell_id in lacking:
        store.put(table.record(cell_id))
    say(f"{swept}: {len(lacking):,} runs from {path.name}")


if __name__ == "__main__":
    actions = {"save": save, "load": load}
    if len(sys.argv) != 2 or sys.argv[1] not in actions:
        sys.exit("usage: python -m benchmarks.so_far save|load")
    for each in KEPT:
        actions[sys.argv[1]](each)
