"""CPU seconds to a given exploitability: this engine's best algorithm against each peer's best.

Only iterations are timed, not the evaluations between them. A peer runs until it is there, or until it has taken
:data:`CAP` times as long as this engine, which then is a lower bound of the ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import pyspiel

import rlccfr
from benchmarks.contenders import lite_environment, lite_is_installed, spiel, tree
from benchmarks.targets import SHARE
from benchmarks.timing import timed

GAMES = ("leduc", "liars_dice", "royal")
EXPLOITABILITIES = (1e-3, 1e-4)
TARGET, CAP = 50, 60
GROWTH = 1.1
"""Of the iterations between two evaluations, so that a time is right to a tenth."""


class Racer(NamedTuple):
    """One algorithm of one implementation on one game."""

    name: str
    algorithm: str
    advance: Callable[[int], float]  # by so many iterations; returns the CPU seconds that they took
    exploitability: Callable[[], float]


def ours(game: str) -> list[Racer]:
    """This engine's exact algorithms that are known to be fast."""
    racers = []
    for rule in ("cfr_plus", "dcfr", "dcfr_plus", "pcfr_plus"):
        solver = rlccfr.Solver(tree(game), rule)

        racers.append(Racer("rlccfr", rule, partial(engine_seconds, solver), solver.exploitability))
    return racers


def engine_seconds(solver: rlccfr.Solver, iterations: int) -> float:
    """CPU seconds in the engine that so many more iterations take; a run evaluates at its end besides."""
    before = solver.result().cpu_seconds
    return solver.run(iterations=iterations, curve=False).cpu_seconds - before


def liteefgs(game: str) -> list[Racer]:
    """LiteEFG's, with the averages that its own command lines take."""
    racers = []
    for baseline, average in (("CFRplus", "linear-avg-iterate"), ("PCFR", "linear-avg-iterate"), ("DCFR", None)):
        env, graph = lite_environment(game, baseline, "Enumerate")
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
    """OpenSpiel's CFR+ in C++."""
    solver = pyspiel.CFRPlusSolver(spiel(game))

    def step(n: int) -> None:
        for _ in range(n):
            solver.evaluate_and_update_policy()

    def exploitability() -> float:
        return pyspiel.exploitability(spiel(game), solver.average_policy())  # type: ignore[no-any-return]

    return [Racer("OpenSpiel", "CFRPlusSolver", partial(timed, step), exploitability)]


def seconds_to(racer: Racer, targets: Sequence[float], cap: float) -> list[float | None]:
    """CPU seconds until each exploitability, None where ``cap`` seconds were not enough."""
    found: list[float | None] = [None] * len(targets)
    done, spent = 0, 0.0
    while spent < cap and None in found:
        count = max(1, round(done * (GROWTH - 1)))
        spent += racer.advance(count)
        done += count
        exploitability = racer.exploitability()
        found = [spent if f is None and exploitability <= t else f for f, t in zip(found, targets, strict=True)]
    return found


def race(game: str) -> list[dict[str, Any]]:
    """One record for each exploitability."""
    seconds = [(racer.algorithm, seconds_to(racer, EXPLOITABILITIES, 60.0)) for racer in ours(game)]
    peers = openspiels(game) + (liteefgs(game) if lite_is_installed() else [])
    records = []
    for index, target in enumerate(EXPLOITABILITIES):
        best, algorithm = min((found[index], name) for name, found in seconds if found[index] is not None)
        records.append({
            "row": "seconds to an exploitability", "game": game, "exploitability": target, "target": TARGET,
            "rlccfr": best, "algorithm": algorithm, "peers": {},
        })  # fmt: skip
    cap = CAP * max(record["rlccfr"] for record in records)
    for racer in peers:
        found = seconds_to(racer, EXPLOITABILITIES, cap)
        for record, spent in zip(records, found, strict=True):
            record["peers"][f"{racer.name} {racer.algorithm}"] = spent
    for record in records:
        reached = [spent for spent in record["peers"].values() if spent is not None]
        record["ratio"] = min(reached, default=cap) / record["rlccfr"]
        record["missed"] = record["ratio"] < SHARE * TARGET
    return records


def markdown(records: Sequence[dict[str, Any]]) -> list[str]:
    """The table of the records that are a race's."""
    lines = [
        "",
        "## CPU seconds to an exploitability",
        "",
        f"The best algorithm of each; a peer is stopped after {CAP} times this engine's time.",
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
