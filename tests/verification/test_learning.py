"""Deep rules: what they reach, what they cost, and OpenSpiel's Deep CFR beside."""

from __future__ import annotations

import time

import numpy as np
import pytest
from support import game

import rlccfr
from rlccfr.catalog import make
from rlccfr.catalog.catalog import DEEP_RULES
from rlccfr.networks.models import one_thread

ITERATIONS = 1_000
SEEDS = 5


def runs(name: str, rule, sampler: str, iterations: int, seeds: int = SEEDS) -> list[rlccfr.RunResult]:
    return [
        rlccfr.Solver(game(name), rule, sampler, seed=seed).run(iterations=iterations, curve=False)
        for seed in range(seeds)
    ]


def row(results: list[rlccfr.RunResult], **what) -> dict:
    found = [result.exploitability for result in results]
    return what | {
        "exploitability, mean": float(np.mean(found)),
        "lowest": min(found),
        "highest": max(found),
        "CPU seconds": float(np.mean([result.cpu_seconds for result in results])),
    }


@pytest.mark.verify
@pytest.mark.parametrize("sampler", ["external", "none"])
def test_deep_rules_on_kuhn(sampler, figures):
    rows = [row(runs("kuhn", rule, sampler, ITERATIONS), **{"update rule": rule, "limit": 0.03}) for rule in DEEP_RULES]
    figures(f"Deep rules on Kuhn, {sampler}, default preset", rows, f"{ITERATIONS:,} iterations, {SEEDS} seeds.")
    assert all(row["exploitability, mean"] <= 0.03 for row in rows)


@pytest.mark.verify
def test_deep_cfr_on_leduc(figures):
    """The paper's settings train for a second an iteration, so that they get fewer iterations and seeds."""
    rows = [
        row(runs("leduc", make("deep_cfr", preset=preset), "external", iterations, seeds),
            preset=preset, iterations=iterations, seeds=seeds, **{"limit": limit, "limit of CPU seconds": seconds})
        for preset, iterations, seeds, limit, seconds in (
            ("sweep", ITERATIONS, SEEDS, np.inf, 8.0),
            ("fast", ITERATIONS, SEEDS, 0.30, 30.0),
            ("paper", 150, 3, 0.15, np.inf),
        )
    ]  # fmt: skip
    figures("deep_cfr on Leduc, external sampling", rows)
    assert all(row["exploitability, mean"] <= row["limit"] for row in rows)
    assert all(row["CPU seconds"] <= row["limit of CPU seconds"] for row in rows)


@pytest.mark.verify
def test_deep_rules_on_leduc(figures):
    rows = [
        row(runs("leduc", rule, sampler, ITERATIONS, 2), **{"update rule": rule, "sampler": sampler})
        for rule in DEEP_RULES
        for sampler in ("external", "none")
    ]
    figures("Deep rules on Leduc, default preset", rows, f"{ITERATIONS:,} iterations, 2 seeds.")
    uniform = rlccfr.Policy.uniform(game("leduc")).exploitability()
    assert all(row["exploitability, mean"] < 0.5 * uniform for row in rows)


TRAVERSALS, BATCH, STEPS = 40, 256, 20
THEIR_ITERATIONS = 20


def openspiels(seed: int) -> tuple[float, float]:
    """Exploitability and CPU seconds of OpenSpiel's Deep CFR in PyTorch; with no batch size it trains on empty rows."""
    import pyspiel
    from open_spiel.python import policy
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.pytorch import deep_cfr

    spiel = pyspiel.load_game("leduc_poker")
    solver = deep_cfr.DeepCFRSolver(
        spiel,
        policy_network_layers=(64, 64),
        advantage_network_layers=(64, 64),
        num_iterations=THEIR_ITERATIONS,
        num_traversals=TRAVERSALS,
        learning_rate=1e-3,
        batch_size_advantage=BATCH,
        batch_size_strategy=BATCH,
        advantage_network_train_steps=STEPS,
        policy_network_train_steps=STEPS * THEIR_ITERATIONS,
        seed=seed,
    )
    begin = time.thread_time()
    with one_thread():
        solver.solve()
    seconds = time.thread_time() - begin
    found = policy.tabular_policy_from_callable(spiel, solver.action_probabilities)
    return exploitability.nash_conv(spiel, found) / 2, seconds


@pytest.mark.verify
def test_deep_cfr_beside_openspiels(figures):
    """As many traversals and training steps of batches as large, the same layers, weights anew at each iteration."""
    rule = make(
        "deep_cfr", hidden=64, layers=2, traversals=TRAVERSALS, train_steps=STEPS, policy_steps=STEPS,
        batch_size=BATCH, learning_rate=1e-3, retrain_from_scratch=True, train_every=1,
    )  # fmt: skip
    theirs = [openspiels(seed) for seed in range(SEEDS)]
    ours = runs("leduc", rule, "external", THEIR_ITERATIONS)
    seconds = float(np.mean([one[1] for one in theirs]))
    rows = [
        row(ours, what="rlccfr"),
        {
            "what": "OpenSpiel, PyTorch",
            "exploitability, mean": float(np.mean([one[0] for one in theirs])),
            "lowest": min(one[0] for one in theirs),
            "highest": max(one[0] for one in theirs),
            "CPU seconds": seconds,
        },
    ]
    ratio = seconds / rows[0]["CPU seconds"]
    note = f"{THEIR_ITERATIONS} iterations of {TRAVERSALS} traversals and {STEPS} steps a player, batches of {BATCH}, "
    figures("deep_cfr beside OpenSpiel's Deep CFR on Leduc", rows, note + f"{SEEDS} seeds; {ratio:.0f} times as fast.")
    assert ratio >= 20
    assert rows[0]["exploitability, mean"] <= rows[1]["exploitability, mean"]
