"""What ADR 17 claims: speed with vectors of 256 bits beside the width that LLVM takes, and how far processes differ.

Each process measures all samplers on its own: where it has its memory is what made one differ from the next.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy import stats

from rlccfr.kernels import jit

GAMES = ("kuhn", "goofspiel", "leduc", "royal")
RULES = ("cfr", "cfr_plus")
SAMPLERS = ("none", "chance", "external", "outcome", "probing", "average_strategy", "variance_reduced")
WIDTHS = {"256 bits": jit.WIDTH, "LLVM's own": ""}
PROCESSES = 10
SECONDS = 0.2


def rates(width: str) -> list[float]:
    """Nodes per CPU second, of each game, rule and sampler in turn: in this process, with nothing compiled before."""
    jit.WIDTH = WIDTHS[width]
    from rlccfr import Solver, load_game

    found = []
    for game in map(load_game, GAMES):
        for rule in RULES:
            for sampler in SAMPLERS:
                solver = Solver(game, rule, sampler)
                before = solver.run(seconds=SECONDS / 4, curve=False)
                after = solver.run(seconds=SECONDS, curve=False)
                nodes = after.nodes_touched - before.nodes_touched
                found.append(nodes / (after.cpu_seconds - before.cpu_seconds))
    return found


def measured() -> dict[str, np.ndarray]:
    """Of each width, (processes, games, rules, samplers); the two in turn."""
    found: dict[str, list[list[float]]] = {width: [] for width in WIDTHS}
    with tempfile.TemporaryDirectory() as caches:
        for process in range(1 + PROCESSES):
            for number, width in enumerate(WIDTHS):
                begin = time.perf_counter()
                ran = subprocess.run(
                    [sys.executable, "-m", "benchmarks.widths", width],
                    check=True,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "NUMBA_CACHE_DIR": f"{caches}/{number}"},
                )
                print(f"{width}: {time.perf_counter() - begin:.0f} s", file=sys.stderr)
                if process > 0:  # the first one compiles
                    found[width].append(json.loads(ran.stdout))
    shape = (PROCESSES, len(GAMES), len(RULES), len(SAMPLERS))
    return {width: np.array(rows).reshape(shape) for width, rows in found.items()}


def report(found: dict[str, np.ndarray]) -> list[str]:
    """The table as Markdown: geometric means beside one another; of the sampler that differs most, the fastest process
    beside the slowest.
    """
    ours, own = found.values()
    gain = stats.gmean(ours, 0) / stats.gmean(own, 0)
    sampled = SAMPLERS.index("none") + 1
    lines = [
        "| game | exact passes | samplers | the most | fastest process beside slowest, 256 bits | LLVM's own |",
        "|---|---|---|---|---|---|",
    ]
    for k, name in enumerate(GAMES):
        apart = [(one[:, k].max(0) / one[:, k].min(0))[:, sampled:].max() for one in (ours, own)]
        exact, walks = gain[k, :, :sampled], gain[k, :, sampled:]
        means = (stats.gmean(exact, axis=None), stats.gmean(walks, axis=None), walks.max(), *apart)
        lines.append(f"| {name} | " + " | ".join(f"{one:.2f}" for one in means) + " |")
    return lines


if __name__ == "__main__":
    print(json.dumps(rates(sys.argv[1])) if sys.argv[1:] else "\n".join(report(measured())))
