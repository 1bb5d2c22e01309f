"""Figures of ADR 17: speed with vectors of 256 bits compared with LLVM's own width, and how far processes differ.

Each process measures all samplers, because processes differ by where their memory lies.
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
SECONDS = 0.05
TIMES = 4


def rates(width: str) -> list[float]:
    """Return the nodes per CPU second of each game, rule and sampler.

    The process must not have compiled anything yet. Each rate is the fastest of several. Other work on the machine
    slows some of them; an effect of the process slows all.
    """
    jit.WIDTH = WIDTHS[width]
    from rlccfr import Solver, load_game

    found = []
    for game in map(load_game, GAMES):
        for rule in RULES:
            for sampler in SAMPLERS:
                solver = Solver(game, rule, sampler)
                ends = [solver.run(seconds=SECONDS, curve=False) for _ in range(1 + TIMES)]
                nodes = np.diff([end.nodes_touched for end in ends])
                found.append(float(max(nodes / np.diff([end.cpu_seconds for end in ends]))))
    return found


def measured() -> dict[str, np.ndarray]:
    """Return the rates by width, shape (processes, games, rules, samplers); the two widths take turns."""
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
    """Return the table as Markdown: ratios of geometric means, for samplers with Welch's 95 % interval over processes.

    The last columns have the fastest process over the slowest, for the rule and sampler that differ most between
    processes. For exact passes, which the width hardly touches, this says how quiet the machine was.
    """
    ours, own = (np.log(one) for one in found.values())
    sampled = SAMPLERS.index("none") + 1
    lines = [
        "| game | exact passes | samplers | fastest over slowest process, 256 bits | LLVM's own width | exact, both |",
        "|---|---|---|---|---|---|",
    ]
    for k, name in enumerate(GAMES):
        passes = [one[:, k, :, :sampled] for one in (ours, own)]
        exact = np.exp(passes[0].mean() - passes[1].mean())
        walks = [one[:, k, :, sampled:] for one in (ours, own)]
        means = [one.mean(axis=(1, 2)) for one in walks]
        low, high = np.exp(stats.ttest_ind(*means, equal_var=False).confidence_interval())
        gain = f"{np.exp(means[0].mean() - means[1].mean()):.2f} ({low:.2f} to {high:.2f})"
        apart = " | ".join(f"{np.exp(np.ptp(one, axis=0).max()):.2f}" for one in (*walks, np.concatenate(passes)))
        lines.append(f"| {name} | {exact:.2f} | {gain} | {apart} |")
    return lines


if __name__ == "__main__":
    print(json.dumps(rates(sys.argv[1])) if sys.argv[1:] else "\n".join(report(measured())))
