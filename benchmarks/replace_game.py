"""``python -m benchmarks.replace_game GAME STORE``: replace the shipped runs of one game by new ones.

Algorithms are compared within a game, so all runs of a game must be of one processor. A game can therefore be measured
again by itself, on another machine: sweep it as `make measure` does, into a store of its own. Teams and pages that
depend on the game are made again by `make measure`.
"""

from __future__ import annotations

import sys
import tempfile

from benchmarks.teams import say
from rlccfr.agents import shipped
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.measuring.table import TableEvaluator


def main(game: str, source: str) -> None:
    """Write the shipped measurements again, with a store's runs of the game.

    Args:
        game: name of a game that the package has measured.
        source: directory of the store, or a file of `rlccfr sweep --compact`.

    Raises:
        SystemExit: the source lacks an algorithm that the package has measured on the game, or has several processors.
    """
    path = shipped.path(shipped.MEASURED)
    before = TableEvaluator(load_results(path))
    runs = load_results(source)
    after = TableEvaluator(runs[runs["game"] == game])
    for catalog in shipped.part_of(game).catalogs:
        if lacking := after.lacking(game, catalog):
            sys.exit(f"error: {source} has no run of {lacking} on {game}")
    processors = {after.record(cell_id)["processor"] for cell_id in after.ids()}
    if len(processors) != 1:
        sys.exit(f"error: {source} has runs of {game} by {' and '.join(sorted(processors))}; one must have made all")
    with tempfile.TemporaryDirectory() as folder:
        kept = Store(folder)
        for table, is_kept in ((before, False), (after, True)):
            for cell_id in table.ids():
                record = table.record(cell_id)
                if (record["game"] == game) == is_kept:
                    kept.put(record)
        kept.compact(path, small=True)
    say(f"{path.name}: {len(after):,} runs of {game} by {processors.pop()}, before {len(before):,} runs in all")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m benchmarks.replace_game GAME STORE")
    main(*sys.argv[1:])
