"""Peers as their documentation uses them, by wall-clock time, with their own form of the game and number of threads.

Each peer runs in a process of its own. The other tables compare CPU time on one thread, on the same compiled game.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import pyspiel

from benchmarks import lite, python_peers

GAMES = {"leduc": "leduc_poker", "liars_dice": "liars_dice"}
SECONDS = 2.0

Step = Callable[[int], object]


def ours(game: str) -> Step:
    """Return CFR+ by this engine, on one thread."""
    import rlccfr

    solver = rlccfr.Solver(rlccfr.load_game(game), "cfr_plus")
    return lambda count: solver.run(iterations=count, curve=False)


def liteefg(game: str) -> Step:
    """Return CFR+ by LiteEFG, on the file that it writes for OpenSpiel's game."""
    os.environ["HOME"] = tempfile.mkdtemp()  # LiteEFG keeps its files there
    with contextlib.redirect_stdout(io.StringIO()):
        import LiteEFG
        from LiteEFG.baselines import CFRplus

        graph = CFRplus.graph()
        env = LiteEFG.OpenSpielEnv(pyspiel.load_game(GAMES[game]), traverse_type="Enumerate")
        env.set_graph(graph)

    def run(count: int) -> None:
        for _ in range(count):
            graph.update_graph(env)
            env.update_strategy(graph.current_strategy())

    return run


def jax(game: str) -> Step:
    """Return CFR+ by OpenSpiel in JAX."""
    os.environ["XLA_FLAGS"] = ""
    return python_peers.jax_cfr(game)


WAYS: dict[str, tuple[Callable[[str], Step], Callable[[], bool]]] = {
    "rlccfr, one thread": (ours, lambda: True),
    "LiteEFG, its own file and threads": (liteefg, lite.is_installed),
    "OpenSpiel in JAX, its own threads": (jax, python_peers.has_jax),
}
NOT_INSTALLABLE = (
    "Not compared, because no package index has them: postflop-solver (Rust, for hold'em after the flop, of which its "
    "authors say that it surpasses a commercial solver) and noregret's kernels for GPUs (of which its authors say that "
    "they are up to four orders of magnitude faster than OpenSpiel)."
)


def rate(way: str, game: str) -> float:
    """Return iterations per wall-clock second: the best of three stretches, after a warm-up."""
    step, count = WAYS[way][0](game), 1
    while (passed := _clocked(step, count)) < SECONDS / 10:
        count *= 2
    count = max(1, round(count * SECONDS / passed))
    return count / min(_clocked(step, count) for _ in range(3))


def _clocked(step: Step, count: int) -> float:
    begin = time.perf_counter()
    step(count)
    return time.perf_counter() - begin


def report() -> list[str]:
    """Return the table as Markdown."""
    lines = [f"| CFR+, iterations per second | {' | '.join(GAMES)} |", "|---|" + "---|" * len(GAMES)]
    for way, (_, installed) in WAYS.items():
        if not installed():
            continue
        found = []
        for game in GAMES:
            command = [sys.executable, "-m", "benchmarks.defaults", way, game]
            found.append(
                float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1])
            )
        lines.append(f"| {way} | {' | '.join(f'{one:,.0f}' for one in found)} |")
    return [*lines, "", f"{os.cpu_count()} cores. {NOT_INSTALLABLE}"]


if __name__ == "__main__":
    print(rate(*sys.argv[1:]))
