"""CPU seconds to a given exploitability: this engine's best algorithm against each peer's best.

Only iterations are timed, not the evaluations between them. A peer runs until it reaches the exploitability, or until
it has taken :data:`CAP` times as long as this engine. In the second case, only a lower bound on the ratio is known.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import pyspiel

import rlccfr
from benchmarks import lite
from benchmarks.alternation import timed
from benchmarks.compiled import spiel, tree
from benchmarks.targets import SHARE

GAMES = ("leduc", "liars_dice", "royal")
EXPLOITABILITIES = (1e-3, 1e-4)
TARGET, CAP = 50, 60
GROWTH = 1.1
"""Factor on the number of iterations from one evaluation to the next, so that a time is right to within a tenth."""


class Racer(NamedTuple):
    """One algorithm of one implementation on one game."""

    name: str
    algorithm: str
    advance: Callable[[int], float]  # by a number of iterations; returns their CPU seconds
    exploitability: Callable[[], float]


RULES = ("cfr_plus", "dcfr", "dcfr_plus", "pcfr_plus")
"""Update rules of this engine that are known to be fast with exact passes."""


def ours(game: str, rule: str) -> Racer:
    """Return a racer for one of :data:`RULES`, before its first iteration."""
    solver = rlccfr.Solver(tree(game), rule)
    return Racer("rlccfr", rule, partial(engine_seconds, solver), solver.exploitability)


def engine_seconds(solver: rlccfr.Solver, iterations: int) -> float:
    """Return the engine CPU seconds of further iterations, without the evaluation at the end of a run."""
    before = solver.result().cpu_seconds
    return solver.run(iterations=iterations, curve=False).cpu_seconds - before


def liteefgs(game: str) -> list[Racer]:
    """Return LiteEFG's racers, with the averages that its own command lines use; none if it is not installed."""
    racers: list[Racer] = []
    if not lite.is_installed():
        return racers
    for baseline, average in (("CFRplus", "linear-avg-iterate"), ("PCFR", "linear-avg-iterate"), ("DCFR", None)):
        env, graph = lite.environment(game, baseline, "Enumerate")
        kept = graph.current_strategy() if average else graph.current_strategy("average-iterate")

        def step(n: int, env: Any = env, graph: Any = graph, kept: Any = kept) -> None:
            for _ in range(n):
                graph.update_graph(env)
                env.update_strategy(kept)

        def exploitability(env: Any = env, kept: Any = kept, average: str = average or "last-iterate") -> float:
            return sum(env.exploitability(kept, average)) / 2

        racers.append(Racer("LiteEFG", baseline, partial(timed, step), exploitability))
    return racers


def openspiels(game: str) -> list[Racer]:
    """Return OpenSpiel's CFR+ in C++; none on Royal, where OpenSpiel solves and evaluates another game."""
    if game == "royal":
        return []
    solver = pyspiel.CFRPlusSolver(spiel(game))

    def step(n: int) -> None:
        for _ in range(n):
            solver.evaluate_and_update_policy()

    def exploitability() -> float:
        return pyspiel.exploitability(spiel(game), solver.average_policy())  # type: ignore[no-any-return]

    return [Racer("OpenSpiel", "CFRPlusSolver", partial(timed, step), exploitability)]


@dataclass
class Run:
    """A racer and its progress.

    Attributes:
        found: CPU seconds until each of :data:`EXPLOITABILITIES`, infinite before it is reached.
        done: number of iterations so far.
        spent: CPU seconds so far.
    """

    racer: Racer
    found: list[float] = field(default_factory=lambda: [math.inf] * len(EXPLOITABILITIES))
    done: int = 0
    spent: float = 0.0

    def until(self, cap: float) -> list[float]:
        """Continue until every exploitability is reached or ``cap`` CPU seconds are spent; return ``found``."""
        while self.spent < cap and math.inf in self.found:
            count = max(1, round(self.done * (GROWTH - 1)))
            self.spent += self.racer.advance(count)
            self.done += count
            exploitability = self.racer.exploitability()
            self.found = [
                self.spent if known == math.inf and exploitability <= target else known
                for known, target in zip(self.found, EXPLOITABILITIES, strict=True)
            ]
        return self.found


def race(game: str) -> list[dict[str, Any]]:
    """Return one record per exploitability; this engine's time is the median of several runs, one after each peer."""
    scouts = {rule: Run(ours(game, rule)).until(60.0) for rule in RULES}
    best = [min(RULES, key=lambda rule: scouts[rule][index]) for index in range(len(EXPLOITABILITIES))]
    again: list[list[float]] = [[] for _ in EXPLOITABILITIES]
    peers = [Run(racer) for racer in [*openspiels(game), *liteefgs(game)]]
    for peer in peers:
        peer.until(CAP * max(scouts[rule][index] for index, rule in enumerate(best)))
        for index, rule in enumerate(best):
            again[index].append(Run(ours(game, rule)).until(math.inf)[index])
    medians = [statistics.median(seconds) for seconds in again]
    for peer in peers:  # this engine's first time may have been unusually short
        peer.until(CAP * max(medians))
    return [_record(game, index, best[index], again[index], peers) for index in range(len(EXPLOITABILITIES))]


def _record(game: str, index: int, algorithm: str, seconds: Sequence[float], peers: Sequence[Run]) -> dict[str, Any]:
    median = statistics.median(seconds)
    ratio = min(min(peer.found[index], peer.spent) for peer in peers) / median
    reached = {f"{peer.racer.name} {peer.racer.algorithm}": peer.found[index] for peer in peers}
    return {
        "row": "seconds to an exploitability", "game": game, "exploitability": EXPLOITABILITIES[index],
        "target": TARGET, "rlccfr": median, "runs": list(seconds), "algorithm": algorithm,
        "peers": {name: None if spent == math.inf else spent for name, spent in reached.items()},
        "ratio": ratio, "missed": not ratio >= SHARE * TARGET,
    }  # fmt: skip


def markdown(records: Sequence[dict[str, Any]]) -> list[str]:
    """Return the table of the races among the records, as lines of Markdown."""
    lines = [
        "",
        "## CPU seconds to an exploitability",
        "",
        f"Each library runs its best algorithm. A peer is stopped after {CAP} times this engine's time. The time shown "
        "for this engine is the median of several runs, one after each peer.",
        "",
        "| game | exploitability | rlccfr, CPU s | by | fastest peer, CPU s | ratio | target |",
        "|---|---|---|---|---|---|---|",
    ]
    for record in records:
        if "exploitability" in record:
            reached = {name: spent for name, spent in record["peers"].items() if spent is not None}
            peer = min(reached, key=reached.__getitem__, default=None)
            theirs, sign = (f"{peer}: {reached[peer]:.3g}", "") if peer else ("none got there", "> ")
            mark = " **missed**" if record["missed"] else ""
            lines.append(
                f"| {record['game']} | {record['exploitability']:g} | {record['rlccfr']:.3g} | {record['algorithm']} | "
                f"{theirs} | {sign}{record['ratio']:.3g} | {record['target']}{mark} |"
            )
    return lines
