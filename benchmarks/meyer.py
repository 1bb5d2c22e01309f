"""Meyer's Table 5.1, reproduced: samplers between external and outcome sampling on Leduc, after 2^10 iterations.

    python benchmarks/meyer.py > docs/meyer.md

The table has the exploitability (NashConv / 2) of CFR's average policy: its mean over 20 seeds, and the half-width of
Student's 95 % confidence interval.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import stats

import rlccfr

ITERATIONS, SEEDS = 2**10, 20
EXPLORATION = (0.05, 0.25, 0.5, 0.75, 1.0)
"""Meyer's values, except for 0.05. His 0 gives biased estimates: actions of probability 0 are never sampled again."""

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
MEYER = {"outcome": (2.22, 2.22, 2.20, 2.34, 2.37), "linear mix per node": (1.48, 1.58, 1.65, 1.67, 1.73)}
"""Meyer's figures for explorations of 0, 0.25, 0.5, 0.75 and 1."""


def measured(id: str, settings: dict, exploration: float) -> tuple[float, float]:
    """Return the mean exploitability over seeds, and the half-width of its 95 % confidence interval."""
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
    print(f"Written by `python benchmarks/meyer.py`: Leduc poker, CFR, {ITERATIONS:,} iterations of one walk a player,")
    print(
        f"exploitability as mean ± half of the 95 % interval over {SEEDS} seeds. The uniform policy has {uniform:.2f}."
    )
    print(
        "Rows marked Meyer are Table 5.1 of his thesis (Toward Generality: Building Better Counterfactual Regret\n"
        "Minimization for Imperfect Information Games, Harvard, 2021). His first column is exploration 0, on-policy.\n"
        "Estimates are then biased, because actions of probability 0 are never sampled again; so ours is 0.05.\n"
    )
    print(f"| sampler | {' | '.join(f'exploration {value}' for value in EXPLORATION)} |")
    print("|---" * (len(EXPLORATION) + 1) + "|")
    for name, (id, settings) in SAMPLERS.items():
        cells = [measured(id, settings, exploration) for exploration in EXPLORATION]
        print(f"| {name} | {' | '.join(f'{mean:.2f} ± {half:.2f}' for mean, half in cells)} |")
        if name in MEYER:
            print(f"| {name}, Meyer | {' | '.join(f'{value:.2f}' for value in MEYER[name])} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
