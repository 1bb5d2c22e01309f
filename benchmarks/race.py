"""CPU seconds to a given exploitability: this engine's best algorithm against each peer's best.

Only iterations are timed, not the evaluations between them. A peer runs until it reaches the exploitability, or until
it has taken :data:`CAP` times as long as this engine. In the second case, only a lower bound on the ratio is known.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import rlccfr
from benchmarks.compiled import spiel, tree
from benchmarks.contenders import peer_process
from benchmarks.peers import environments, game_files
from benchmarks.processes import Ask, ProcessEndedError
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


@contextmanager
def peers(game: str) -> Iterator[tuple[list[Racer], dict[str, str]]]:
    """Start the peers' racers for a block of code; also yield why others are left out, by their names.

    LiteEFG's have the averages that its own command lines use. OpenSpiel has none on Royal, where it solves and
    evaluates another game.
    """
    file = str(game_files.for_liteefg(game))
    jobs = [
        ("LiteEFG", baseline, "liteefg", "liteefg", [file, baseline, "Enumerate", average])
        for baseline, average in (
            ("CFRplus", "linear-avg-iterate"), ("PCFR", "linear-avg-iterate"), ("DCFR", "last-iterate"),
        )
    ]  # fmt: skip
    if game != "royal":
        solver = ["CFRPlusSolver", "evaluate_and_update_policy"]
        jobs.append(("OpenSpiel", solver[0], "openspiel", "openspiel", [str(spiel(game)), *solver]))
    with ExitStack() as stack:
        racers = []
        failed = {}
        for name, algorithm, environment, job, arguments in jobs:
            if reason := environments.why_missing(environment):
                failed[name] = reason
                continue
            ask = stack.enter_context(peer_process(environment, job, arguments))
            try:
                ask("cpu 0")  # it waits until the peer has read the game
                racers.append(_racer(name, algorithm, ask))
            except ProcessEndedError as error:
                failed[f"{name} {algorithm}"] = str(error)
        yield racers, failed


def _racer(name: str, algorithm: str, ask: Ask) -> Racer:
    """Return a racer that runs in a peer's process."""
    return Racer(name, algorithm, lambda count: float(ask(f"cpu {count}")), lambda: float(ask("exploitability")))


@dataclass
class Run:
    """A racer and its progress.

    Attributes:
        found: CPU seconds until each of :data:`EXPLOITABILITIES`, infinite before it is reached.
        done: number of iterations so far.
        spent: CPU seconds so far.
        failed: why racers could not go on, by their names; the run adds itself if its process ends.
    """

    racer: Racer
    failed: dict[str, str] = field(default_factory=dict)
    found: list[float] = field(default_factory=lambda: [math.inf] * len(EXPLOITABILITIES))
    done: int = 0
    spent: float = 0.0

    def until(self, cap: float) -> list[float]:
        """Continue until every exploitability is reached or ``cap`` CPU seconds are spent; return ``found``."""
        while self.spent < cap and math.inf in self.found:
            count = max(1, round(self.done * (GROWTH - 1)))
            try:
                self.spent += self.racer.advance(count)
                exploitability = self.racer.exploitability()
            except ProcessEndedError as error:
                self.failed[f"{self.racer.name} {self.racer.algorithm}"] = str(error)
                self.spent = math.inf
                break
            self.done += count
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
    with peers(game) as (racers, failed):
        runs = [Run(racer, failed) for racer in racers]
        for run in runs:
            run.until(CAP * max(scouts[rule][index] for index, rule in enumerate(best)))
            for index, rule in enumerate(best):
                again[index].append(Run(ours(game, rule)).until(math.inf)[index])
        medians = [statistics.median(seconds) for seconds in again]
        for run in runs:  # this engine's first time may have been unusually short
            run.until(CAP * max(medians))
    records = [_record(game, index, best[index], again[index], runs) for index in range(len(EXPLOITABILITIES))]
    return [record | {"failed": failed} for record in records]


def _record(game: str, index: int, algorithm: str, seconds: Sequence[float], peers: Sequence[Run]) -> dict[str, Any]:
    median = statistics.median(seconds)
    times = [min(peer.found[index], peer.spent) for peer in peers if math.isfinite(peer.spent)]
    ratio = min(times, default=math.nan) / median  # without a peer that ran, the ratio is not known
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
