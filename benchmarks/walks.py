"""The cost of a walk per node, and the part of it that is spent waiting for memory.

Each game is measured as it is, and with chance always dealing the same cards. In the second case, walks compute the
same, but on histories and tables that stay in the processor's first-level caches.
"""

from __future__ import annotations

import dataclasses

import numpy as np

import rlccfr
from benchmarks.compiled import GAMES, tree
from rlccfr.games.records import CHANCE

TARGETS = {"leduc": 15, "royal": 30}
NODES = 2_000_000


def one_deal(game: rlccfr.GameTree) -> rlccfr.GameTree:
    """Return the game in which chance always takes its first outcome."""
    histories, probability = game.histories.copy(), game.probability.copy()
    dealt = histories["actor"] == CHANCE
    for first, count in zip(histories["first_child"][dealt], histories["num_children"][dealt], strict=True):
        probability[first : first + count] = np.arange(count) == 0
    histories["even"] = False
    return dataclasses.replace(game, histories=histories, probability=probability)


def nanoseconds(game: rlccfr.GameTree, sampler: str) -> float:
    """Return the CPU nanoseconds per node of the fastest of five runs."""
    solver = rlccfr.Solver(game, "cfr", sampler)
    before, found = solver.run(nodes=NODES, curve=False), []
    for _ in range(5):
        after = solver.run(nodes=NODES, curve=False)
        found.append((after.cpu_seconds - before.cpu_seconds) / (after.nodes_touched - before.nodes_touched))
        before = after
    return 1e9 * min(found)


def report() -> list[str]:
    """Return the table as Markdown."""
    lines = [
        "| game | external, ns per node | target | always one deal | outcome, ns per node |",
        "|---|---|---|---|---|",
    ]
    for name in GAMES:
        game = tree(name)
        same = f"{nanoseconds(one_deal(game), 'external'):.1f}" if (game.histories["actor"] == CHANCE).any() else ""
        external, outcome = (f"{nanoseconds(game, sampler):.1f}" for sampler in ("external", "outcome"))
        lines.append(f"| {name} | {external} | {TARGETS.get(name, '')} | {same} | {outcome} |")
    return lines


if __name__ == "__main__":
    print("\n".join(report()))
