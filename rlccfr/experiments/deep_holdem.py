"""Deep CFR on flop hold'em, the game of its paper, beside external sampling with a table (Brown et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.engine.walked.walk import external_walks
from rlccfr.experiments.experiment import NO_STAND_IN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, draw, interval, table, verdict_of
from rlccfr.game import policy_class
from rlccfr.games.names import load_game
from rlccfr.games.walked.holdem import HoldemWalks
from rlccfr.solver import Solver

GAME = "flop_holdem"
QUICK_GAME = "holdem(ranks=6,suits=2)"

BASE: dict[str, Any] = {"id": "deep_lcfr", "preset": "holdem", "model": "cards"}
"""The rule: Deep CFR with linear weights."""

QUICK: dict[str, Any] = {"hidden": 16, "traversals": 1000, "train_steps": 60, "policy_steps": 60, "batch_size": 512}

VARIANTS: dict[str, dict[str, Any]] = {
    "base": {},
    "unweighted": {"id": "deep_cfr"},
    "from scratch": {"retrain_from_scratch": True},
    "uniform fallback": {"fallback": "uniform"},
    "width 32": {"hidden": 32},
    "a third of the steps": {"train_steps": 200},
    "plain layers": {"model": "mlp"},
}
"""Settings of each variant that differ from the base's."""

SEEDS = 3
ITERATIONS = (1, 2, 3, 5, 10)
"""Iterations after which the base is evaluated; variants are evaluated after the first :data:`SHORT` of them."""

SHORT = 4

HISTORIES = (16e6, 100e6, 400e6)
"""Numbers of histories after which the table is evaluated."""

WALKS = 4096
"""Number of walks per player in an iteration with a table."""

PUBLISHED = 37
"""Exploitability of Deep CFR on flop hold'em, in thousandths of a big blind per game, after its last iteration."""


def deep(game: str, settings: dict[str, Any], iterations: tuple[int, ...], seed: int) -> list[Row]:
    """Run a rule with networks, and return its exploitability after each number of iterations in ``iterations``."""
    loaded: Any = load_game(game)
    solver = Solver(loaded, {**BASE, **settings}, "external", seed=seed)
    rows: list[Row] = []
    for number in iterations:
        result = solver.run(iterations=number - (int(rows[-1]["iterations"]) if rows else 0), curve=False)
        rows.append(
            {
                "iterations": number,
                "histories": result.nodes_touched,
                "CPU seconds": result.cpu_seconds,
                "exploitability": 1000.0 * result.exploitability / loaded.big_blind,
            }
        )
    return rows


def tabular(game: str, histories: tuple[float, ...], seed: int) -> list[Row]:
    """Run external sampling with a table and linear weights, and return its exploitability.

    Args:
        game: name of the game.
        histories: numbers of histories; the policy is evaluated at the first iteration that reaches each of them.
        seed: seed of the run.
    """
    loaded: Any = load_game(game)
    walks = HoldemWalks(loaded)
    regrets, sums = np.zeros((2, loaded.num_sequences), loaded.dtype)

    def policies(player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        positive = np.where(legal, np.maximum(regrets[walks.entries(rows)], 0.0), 0.0)
        total = positive.sum(axis=1, keepdims=True)
        uniform = legal / legal.sum(axis=1, keepdims=True)
        matched: np.ndarray = np.where(total > 0, positive / np.where(total > 0, total, 1.0), uniform)
        return matched

    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    iteration = num_met = 0
    for most in histories:
        while num_met < most:
            iteration += 1
            for player in (0, 1):
                found = external_walks(walks, player, policies, WALKS, rng)
                num_met += found.num_states
                # Adding iteration t with weight t equals discounting the past, up to a factor.
                for target, known, added in (
                    (regrets, found.own_rows, found.gains),
                    (sums, found.opponent_rows, found.opponent_policies),
                ):
                    legal = walks.legal(known)
                    np.add.at(target, walks.entries(known)[legal], iteration * added[legal])
        policy = policy_class(loaded).from_sums(loaded, sums)
        rows.append(
            {
                "iterations": iteration,
                "histories": num_met,
                "exploitability": 1000.0 * policy.exploitability() / loaded.big_blind,
            }
        )
    return rows


def cases(quick: bool) -> list[Case]:
    """Return all cases."""
    if quick:
        runs = [("base", 0), ("uniform fallback", 0)]
        found = [
            Case(f"deep/{name}/{seed}", partial(deep, QUICK_GAME, {**QUICK, **VARIANTS[name]}, (1, 3), seed))
            for name, seed in runs
        ]
        return [*found, Case("table/linear weights/0", partial(tabular, QUICK_GAME, (2e5, 5e5), 0))]
    found = [Case(f"deep/base/{seed}", partial(deep, GAME, {}, ITERATIONS, seed)) for seed in range(SEEDS)]
    found += [Case(f"table/linear weights/{seed}", partial(tabular, GAME, HISTORIES, seed)) for seed in range(SEEDS)]
    return found + [
        Case(f"deep/{name}/0", partial(deep, GAME, settings, ITERATIONS[:SHORT], 0))
        for name, settings in VARIANTS.items()
        if settings
    ]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the fields of the case's key."""
    rows = rows.copy()
    rows[["kind", "variant", "seed"]] = rows["case"].str.split("/", expand=True).to_numpy()
    return rows


def savings(rows: pd.DataFrame) -> list[float]:
    """Return, for each seed, how many times as many histories the table meets as the network until it is as good.

    The table's last point decides; where a network's first point is better, the true factor is larger.
    """
    ends = rows[rows["kind"] == "table"].groupby("seed").tail(1).set_index("seed")
    factors = []
    for seed, run in rows[(rows["kind"] == "deep") & (rows["variant"] == "base")].groupby("seed"):
        end = ends.loc[seed] if seed in ends.index else ends.iloc[0]
        better = run[run["exploitability"] <= end["exploitability"]]
        factors.append(float(end["histories"] / better["histories"].min()) if len(better) else 0.0)
    return factors


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the source's claims."""
    runs = parsed(rows)
    factors = savings(runs)
    base = runs[(runs["kind"] == "deep") & (runs["variant"] == "base")]
    last = base.groupby("seed").tail(1)
    return [
        Claim(
            "Deep CFR meets orders of magnitude fewer histories than external sampling with a table",
            {"flop hold'em": Finding(verdict_of(min(factors) >= 10), len(factors))},
            "at least " + ", ".join(f"{factor:.3g}" for factor in factors) + " times fewer, by seed",
            NO_STAND_IN,
        ),
        Claim(
            f"Deep CFR reaches {PUBLISHED} mbb/g",
            {"flop hold'em": Finding(verdict_of(bool((last["exploitability"] <= PUBLISHED).all())), len(last))},
            f"{interval(last['exploitability'])} mbb/g after {last['iterations'].max()} iterations",
            "ten iterations for 450, fewer walks and steps, a narrower network",
        ),
    ]


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the page."""
    runs = parsed(rows)
    name = QUICK_GAME if quick else GAME
    uniform: Any = policy_class(load_game(name)).uniform(load_game(name))
    big_blind = uniform.game.big_blind
    yield from (
        f"Deep CFR with linear weights, `deep_lcfr(preset='holdem',model='cards')`, on `{name}`. Each iteration has "
        "30,000 walks per player and a fit of 600 steps, and then 200 steps for the network of the average policy, "
        "all on one thread. Networks are not as wide as the source's, and continue from their last weights. The table "
        f"has linear weights, too, and {WALKS:,} walks per player in an iteration. Exploitability is exact, in "
        "thousandths of a big blind per game (mbb/g); that of the uniform policy is "
        f"{1000 * uniform.exploitability() / big_blind:,.0f}. The source ends at {PUBLISHED}.",
        "",
        "## By histories",
        "",
        "![Exploitability against histories](deep-holdem.svg)",
        "",
    )
    main = runs[runs["variant"].isin(["base", "linear weights"])].copy()
    main["algorithm"] = np.where(main["kind"] == "deep", "Deep CFR", "external sampling with a table")
    draw(main, "histories", "algorithm", folder / "deep-holdem.svg", "mbb/g")
    lines = []
    for (algorithm, iteration), points in main.groupby(["algorithm", "iterations"]):
        seconds = points["CPU seconds"]
        lines.append(
            (
                algorithm,
                f"{iteration:,}",
                f"{points['histories'].mean() / 1e6:,.1f} million",
                "-" if seconds.isna().all() else f"{seconds.mean():,.0f}",
                interval(points["exploitability"]),
            )
        )
    yield from table(("", "iterations", "histories", "CPU seconds", "mbb/g"), lines)
    yield from variants(runs)


def variants(runs: pd.DataFrame) -> Iterator[str]:
    """Yield the section on variants, one seed each, beside the base's run with the same seed."""
    short = runs[(runs["kind"] == "deep") & (runs["seed"] == "0")]
    least = int(short.groupby("variant")["iterations"].max().min())
    ends = short[short["iterations"] == least]
    base = float(ends.loc[ends["variant"] == "base", "exploitability"].iloc[0])
    yield from ("", "## Variants", "", f"After {least} iterations, one seed each.", "")
    lines = [
        (row["variant"], f"{row['exploitability']:.3g}", str(Ratio.of([row["exploitability"]], [base])))
        for row in ends.to_dict("records")
    ]
    yield from table(("", "mbb/g", "ratio to the base"), lines)


EXPERIMENT = Experiment(
    "deep-holdem", "Deep CFR on flop hold'em",
    "Brown, Lerer, Gross and Sandholm, Deep counterfactual regret minimization, ICML 2019 (Figures 2 to 4)",
    cases, page, claims,
)  # fmt: skip
