"""Meyer's Table 5.1, reproduced: samplers between external and outcome sampling on Leduc, after 2^10 iterations.

    python benchmarks/meyer.py > docs/meyer.md

The table has the exploitability (NashConv / 2) of CFR's average policy: its mean over 20 seeds, and half of Student's
95 % interval.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import stats

import rlccfr

ITERATIONS, SEEDS = 2**10, 20
EXPLORATION = (0.05, 0.2, 0.4, 0.6, 0.8, 1.0)
SAMPLERS = {
    "outcome": ("outcome", {}),
    "linear mix": ("mixed_linear", {"horizon": ITERATIONS}),
    "linear mix per node": ("mixed_linear", {"horizon": ITERATIONS, "per_node": True}),
    "half-life 8": ("mixed_exponential", {"half_life": 8.0}),
    "half-life 16": ("mixed_exponential", {"half_life": 16.0}),
    "half-life 1024": ("mixed_exponential", {"half_life": 1024.0}),
    "half-life 1024 per node": ("mixed_exponential", {"half_life": 1024.0, "per_node": True}),
    "locus": ("mixed_locus", {"horizon": ITERATIONS}),
}
MEYER = {"outcome": "2.20 to 2.37", "linear mix per node": "1.48 to 1.73"}
"""Meyer's figures over explorations from 0 to 1, as far as they are at hand."""


def measured(id: str, settings: dict, exploration: float) -> tuple[float, float]:
    """Return the mean exploitability over seeds, and half of its 95 % interval."""
    game = rlccfr.load_game("leduc")
    sampler = {"id": id, "exploration": exploration, **settings}
    found = [
        rlccfr.Solver(game, "cfr", sampler, seed=seed).run(iterations=ITERATIONS, curve=False).exploitability
        for seed in range(SEEDS)
    ]
    return float(np.mean(found)), float(stats.t.ppf(0.975, SEEDS - 1) * stats.sem(found))


def main() -> None:
    """Print the table as Markdown."""
    uniform = rlccfr.Policy.uniform(rlccfr.load_game("leduc")).exploitability()
    print("# Samplers between external and outcome sampling\n")
    print("Written by `python benchmarks/meyer.py`; not edited by hand. The table has the exploitability of CFR on")
    print(f"Leduc poker after {ITERATIONS:,} iterations of one walk per player: the mean over {SEEDS} seeds ±")
    print(f"half of the 95 % interval. The uniform policy has {uniform:.2f}.\n")
    print("Meyer's figures (Table 5.1 of his thesis) are over explorations from 0 to 1. With exploration 0, actions of")
    print("probability 0 are never seen again, so that estimates are biased; here 0.05 takes its place.\n")
    print(f"| sampler | {' | '.join(f'exploration {value}' for value in EXPLORATION)} | Meyer |")
    print("|---" * (len(EXPLORATION) + 2) + "|")
    for name, (id, settings) in SAMPLERS.items():
        cells = [measured(id, settings, exploration) for exploration in EXPLORATION]
        row = " | ".join(f"{mean:.2f} ± {half:.2f}" for mean, half in cells)
        print(f"| {name} | {row} | {MEYER.get(name, '')} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
