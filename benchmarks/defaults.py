"""Peers as their documentation uses them, by wall-clock time, with their own form of the game and number of threads.

Each contender runs in a process of its own. The other tables compare CPU time on one thread, on the same compiled game.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.compiled import spiel
from benchmarks.contenders import peer_process
from benchmarks.peers import environments
from benchmarks.peers.server import Job, answer
from benchmarks.processes import ProcessEndedError, answering

GAMES = {"leduc": "leduc_poker", "liars_dice": "liars_dice"}
SECONDS = 2.0

WAYS: dict[str, tuple[str, str, Callable[[str], list[str]]]] = {
    "rlccfr, one thread": ("", "", lambda game: [game]),
    "LiteEFG, its own file and threads": ("liteefg", "liteefg_as_documented", lambda game: [GAMES[game]]),
    "OpenSpiel in JAX, its own threads": ("openspiel-jax", "openspiel_jax", lambda game: [str(spiel(game)), "all"]),
}
"""The contenders: their environment and job, both empty for this engine, and the job's arguments for a game."""

NOT_INSTALLABLE = (
    "Not compared, because no package index has it: postflop-solver (Rust, for hold'em after the flop, of which its "
    "authors say that it surpasses a commercial solver). noregret's kernel for GPUs needs one (its authors say that it "
    "is up to four orders of magnitude faster than OpenSpiel)."
)


def rate(ask: Callable[[str], str]) -> float:
    """Return iterations per wall-clock second of a process: the best of three stretches, after a warm-up."""
    count = 1
    while (passed := float(ask(f"wall {count}"))) < SECONDS / 10:
        count *= 2
    count = max(1, round(count * SECONDS / passed))
    return count / min(float(ask(f"wall {count}")) for _ in range(3))


def measured(way: str, game: str) -> str:
    """Return a contender's rate on a game, or why there is none, in words."""
    environment, job, arguments = WAYS[way]
    try:
        if not environment:
            command = [sys.executable, "-m", "benchmarks.defaults", *arguments(game)]
            with answering(command, Path.cwd()) as ask:
                return f"{rate(ask):,.0f}"
        if reason := environments.why_missing(environment):
            return reason
        with peer_process(environment, job, arguments(game)) as ask:
            return f"{rate(ask):,.0f}"
    except ProcessEndedError as error:
        return f"failed ({error})"


def report() -> list[str]:
    """Return the table as Markdown."""
    lines = [f"| CFR+, iterations per second | {' | '.join(GAMES)} |", "|---|" + "---|" * len(GAMES)]
    for way in WAYS:
        lines.append(f"| {way} | {' | '.join(measured(way, game) for game in GAMES)} |")
    return [*lines, "", f"{os.cpu_count()} cores. {NOT_INSTALLABLE}"]


def serve(game: str) -> None:
    """Answer each line of the input, ``wall N``, by the seconds of N iterations of CFR+ by this engine."""
    import rlccfr

    solver = rlccfr.Solver(rlccfr.load_game(game), "cfr_plus")
    job = Job(lambda count: solver.run(iterations=count, curve=False))
    for line in sys.stdin:
        print(answer(job, line), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
