"""Deep CFR on flop hold'em, the game of its paper: beside a table and NFSP, and with other settings.

Source: Brown et al., ICML 2019.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rlccfr.engine.walked.walk import sampled_walks
from rlccfr.experiments.experiment import NO_STAND_IN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.nfsp_holdem import WIDTHS, nfsp
from rlccfr.experiments.pages import Ratio, draw, interval, table, verdict_of, with_fields
from rlccfr.experiments.policy_gradients import AGENTS
from rlccfr.game import policy_class
from rlccfr.games.names import load_game
from rlccfr.games.walked.holdem import HoldemWalks
from rlccfr.solver import Solver

GAME = "flop_holdem"
QUICK_GAME = "holdem(ranks=6,suits=2)"

BASE: dict[str, Any] = {"id": "deep_lcfr", "preset": "holdem", "model": "cards"}
"""The rule: Deep CFR with linear weights."""

QUICK: dict[str, Any] = {"hidden": 16, "traversals": 1000, "train_steps": 60, "policy_steps": 60, "batch_size": 512}

CONSTANT: dict[str, Any] = {"final_rate": 1.0}
"""Setting of the runs whose learning rate stays the same; by default, it falls to 0 during each fit."""

SEEDS = (1, 2, 3)
"""Seeds of the runs with a falling learning rate. Seed 0 is left out, since a run with it led to the falling rate."""

ITERATIONS = (1, 2, 3, 5, 10, 20, 30, 40)
"""Iterations after which these runs are evaluated."""

CONSTANT_SEEDS = (0, 1, 2)
CONSTANT_ITERATIONS = (1, 2, 3, 5, 10)
"""Seeds of the runs with a constant learning rate, and iterations after which these runs are evaluated."""

CONSTANT_LONG = (20, 30, 40)
"""Iterations after which one longer run with a constant learning rate is evaluated."""

GOAL = 100
"""Exploitability, in mbb/g, below which a run should get within :data:`MINUTES`."""

MINUTES = 30
"""CPU minutes of the engine, without evaluations."""

ABLATED_ITERATIONS = (3, 5, 10)
"""Iterations after which runs with another setting are evaluated."""

ABLATED_SEEDS = (1, 2)
"""Seeds of these runs."""


class Ablation(NamedTuple):
    """A run with another setting.

    Attributes:
        settings: settings that are added to :data:`BASE`, or replace settings there.
        said: what the source's Figure 4 shows.
        claim: the claim that is judged here.
        verdict: property of :class:`Ratio` that judges the claim by the ratio of exploitabilities, this setting's to
            the usual ones'.
    """

    settings: Mapping[str, Any]
    said: str
    claim: str
    verdict: str = "above_one"


ABLATIONS: Mapping[str, Ablation] = {
    "uniform weights": Ablation({"id": "deep_cfr"}, "slower, the same end", "Linear weights are faster"),
    "new weights": Ablation(
        {"retrain_from_scratch": True}, "better at the end", "Fitting from scratch is better", "below_one"
    ),
    "uniform fallback": Ablation({"fallback": "uniform"}, "50 % worse", "The best action is the better fallback"),
    "a quarter of the steps": Ablation({"train_steps": 150}, "a higher plateau", "Fewer steps are worse"),
    "width 32": Ablation({"hidden": 32}, "higher", "A narrower network is worse"),
}
"""Runs with another setting than the usual ones, by name."""

QUICK_ABLATIONS = ("new weights", "uniform fallback")

HISTORIES = (16e6, 100e6, 400e6)
"""Numbers of touched histories after which the run with a table is evaluated."""

WALKS = 4096
"""Number of walks per player in an iteration with a table."""

NFSP_SETTINGS: Mapping[str, Any] = {
    **AGENTS["NFSP"],
    "optimizer_str": "adam",
    "rl_learning_rate": 0.001,
    "sl_learning_rate": 0.001,
    # Counted in a player's steps as a best response, of which there are some 200,000 in 600,000 games.
    "epsilon_decay_duration": 150_000,
    "epsilon_decay_schedule_str": "linear",
}
"""Settings of OpenSpiel's NFSP.

With OpenSpiel's default, SGD with a rate of 0.01, the policy was more exploitable after 200,000 games on
:data:`QUICK_GAME` (one seed).
"""

NFSP_GAMES = (10_000, 30_000, 100_000, 300_000, 600_000)
"""Numbers of games that NFSP has played when it is evaluated."""

QUICK_NFSP_GAMES = (500, 2_000)

COLUMNS = ("", "iterations", "histories", "CPU seconds", "seeds", "mbb/g")

PUBLISHED = 37
"""Exploitability of Deep CFR on flop hold'em, in thousandths of a big blind per game, after its last iteration."""

PUBLISHED_NFSP = 47
"""Exploitability of NFSP there, in the same unit."""


def deep(game: str, settings: dict[str, Any], iterations: tuple[int, ...], seed: int) -> list[Row]:
    """Run a rule with networks, and return its exploitability, in mbb/g, after each number of iterations.

    Args:
        game: name of the game.
        settings: settings of the rule that are added to :data:`BASE`, or replace settings there.
        iterations: numbers of iterations, ascending.
        seed: seed of the run.
    """
    loaded: Any = load_game(game)
    solver = Solver(loaded, {**BASE, **settings}, "external", seed=seed)
    rows: list[Row] = []
    for number in iterations:
        # The run continues, so only the iterations since the last row are made.
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
    """Run external sampling with a table and linear weights, and return its exploitability in mbb/g.

    Args:
        game: name of the game.
        histories: numbers of histories, ascending; the average policy is evaluated after the first iteration that
            reaches each of them.
        seed: seed of the run.
    """
    loaded: Any = load_game(game)
    walks = HoldemWalks(loaded)
    regrets, sums = np.zeros((2, loaded.num_sequences), loaded.dtype)

    def policies(player: int, rows: np.ndarray, legal: np.ndarray) -> np.ndarray:
        # Regret matching, for all of these infosets at once.
        positive = np.where(legal, np.maximum(regrets[walks.entries(rows)], 0.0), 0.0)
        total = positive.sum(axis=1, keepdims=True)
        uniform = legal / legal.sum(axis=1, keepdims=True)
        # The inner np.where prevents a division by 0; its result is not used there.
        matched: np.ndarray = np.where(total > 0, positive / np.where(total > 0, total, 1.0), uniform)
        return matched

    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    iteration = num_met = 0
    for most in histories:
        while num_met < most:
            iteration += 1
            for player in (0, 1):
                data = sampled_walks(walks, player, policies, WALKS, rng)
                num_met += data.num_states
                # Adding iteration t with weight t equals discounting the past, up to a factor.
                for target, rows_met, added in (
                    (regrets, data.traverser_rows, data.gains),
                    (sums, data.opponent_rows, data.opponent_policies),
                ):
                    legal = walks.legal(rows_met)
                    np.add.at(target, walks.entries(rows_met)[legal], iteration * added[legal])
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
    """Return the cases of a full run, or of a quick one."""
    if quick:
        constant = QUICK | CONSTANT
        return [
            *(Case(f"deep/falling/{seed}", partial(deep, QUICK_GAME, QUICK, (1, 3), seed)) for seed in (1, 2)),
            Case("deep/constant/0", partial(deep, QUICK_GAME, constant, (1, 3), 0)),
            Case("table/linear weights/0", partial(tabular, QUICK_GAME, (2e5, 5e5), 0)),
            Case("agents/NFSP/1", partial(nfsp, QUICK_GAME, QUICK_NFSP_GAMES, 1, **NFSP_SETTINGS)),
            *(
                Case(
                    f"ablation/{name}/{seed}",
                    partial(deep, QUICK_GAME, {**QUICK, **ABLATIONS[name].settings}, (3,), seed),
                )
                for name in QUICK_ABLATIONS
                for seed in ABLATED_SEEDS
            ),
        ]
    return [
        *(Case(f"deep/falling/{seed}", partial(deep, GAME, {}, ITERATIONS, seed)) for seed in SEEDS),
        *(
            Case(f"deep/constant/{seed}", partial(deep, GAME, CONSTANT, CONSTANT_ITERATIONS, seed))
            for seed in CONSTANT_SEEDS
        ),
        Case("deep/constant, longer/0", partial(deep, GAME, CONSTANT, CONSTANT_LONG, 0)),
        Case("table/linear weights/0", partial(tabular, GAME, HISTORIES, 0)),
        *(Case(f"agents/NFSP/{seed}", partial(nfsp, GAME, NFSP_GAMES, seed, **NFSP_SETTINGS)) for seed in SEEDS),
        *(
            Case(f"ablation/{name}/{seed}", partial(deep, GAME, dict(ablation.settings), ABLATED_ITERATIONS, seed))
            for seed in ABLATED_SEEDS
            for name, ablation in ABLATIONS.items()
        ),
    ]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the fields of their cases' keys: ``kind``, ``setting`` and ``seed``."""
    return with_fields(rows, "kind", "setting", "seed")


def savings(runs: pd.DataFrame) -> list[float]:
    """Return, for each seed, how many times fewer histories the networks need to reach the table's last exploitability.

    If the networks are already better at their first point, the true factor is larger. If they are never as good, the
    factor is 0.
    """
    end = runs[runs["kind"] == "table"].iloc[-1]
    factors = []
    for _, run in runs[runs["setting"] == "falling"].groupby("seed"):
        better = run[run["exploitability"] <= end["exploitability"]]
        factors.append(float(end["histories"] / better["histories"].min()) if len(better) else 0.0)
    return factors


def ratio_of(runs: pd.DataFrame, name: str) -> Ratio:
    """Return the ratio of an ablation's exploitabilities to those with the usual settings, paired by seed."""
    iterations = min(ABLATED_ITERATIONS[-1], runs.loc[runs["setting"] == name, "iterations"].max())
    at_end = runs[runs["iterations"] == iterations].set_index(["setting", "seed"])["exploitability"]
    ablated = at_end[name]
    return Ratio.of(ablated, at_end["falling"][ablated.index])


def below_goal(runs: pd.DataFrame) -> str:
    """Return a sentence on how many runs with a falling rate are below :data:`GOAL` within :data:`MINUTES`."""
    falling = runs[runs["setting"] == "falling"]
    reached = falling[(falling["exploitability"] < GOAL) & (falling["CPU seconds"] <= 60 * MINUTES)]
    seconds = reached.groupby("seed")["CPU seconds"].min()
    times = ", ".join(f"{time:,.0f}" for time in seconds)
    return (
        f"Of {falling['seed'].nunique()} runs, {len(seconds)} are below {GOAL} mbb/g within {MINUTES} CPU minutes"
        f"{f', after {times} CPU seconds' if times else ''}; runs are evaluated only after the iterations in the table."
    )


def beside_nfsp(runs: pd.DataFrame) -> Claim:
    """Judge whether Deep CFR is less exploitable than NFSP is at its end, by CPU seconds and by histories."""
    ends = runs[runs["setting"] == "NFSP"].groupby("seed").tail(1).set_index("seed")
    ratios = {
        "equal CPU seconds": ratio_within(runs, ends, "CPU seconds"),
        "equal histories": ratio_within(runs, ends, "histories"),
    }
    figures = ", ".join(f"{ratio} at {condition}" for condition, ratio in ratios.items())
    return Claim(
        f"Deep CFR is less exploitable than NFSP ({PUBLISHED} and {PUBLISHED_NFSP} mbb/g at their ends)",
        {f"flop hold'em, {name}": Finding(ratio.below_one, len(ends)) for name, ratio in ratios.items()},
        f"ratio of Deep CFR's mbb/g to NFSP's {interval(ends['exploitability'])}: {figures}",
        "OpenSpiel's NFSP, in Python; far fewer games and iterations, narrower networks",
    )


def ratio_within(runs: pd.DataFrame, ends: pd.DataFrame, measure: str) -> Ratio:
    """Return the ratio of Deep CFR's exploitabilities to those of other runs at their ends, paired by seed.

    Args:
        runs: all runs.
        ends: last rows of the other runs, by seed.
        measure: the column by which the runs are compared. Of each run of Deep CFR, the last row counts at which the
            column is at most as large as at the other run's end. A run without such a row is left out; without any,
            the ratio is NaN.
    """
    pairs = []
    for seed, end in ends.iterrows():
        is_run = (runs["setting"] == "falling") & (runs["seed"] == seed)
        within = runs.loc[is_run & (runs[measure] <= end[measure]), "exploitability"].tolist()
        if within:
            pairs.append((within[-1], end["exploitability"]))
    return Ratio.of(*zip(*pairs, strict=True)) if pairs else Ratio(np.nan, np.nan, np.nan)


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the source's claims by the rows of a full run."""
    runs = parsed(rows)
    factors = savings(runs)
    networks = runs[runs["setting"] == "falling"]
    last = networks[networks["iterations"] == networks["iterations"].max()]
    return [
        Claim(
            "Deep CFR meets orders of magnitude fewer histories than external sampling with a table",
            {"flop hold'em": Finding(verdict_of(min(factors) >= 10), len(factors))},
            "at least " + ", ".join(f"{factor:.3g}" for factor in factors) + " times fewer, by seed",
            NO_STAND_IN,
        ),
        Claim(
            f"Deep CFR reaches {PUBLISHED} mbb/g on flop hold'em",
            {"flop hold'em": Finding(verdict_of(bool((last["exploitability"] <= PUBLISHED).all())), len(last))},
            f"{interval(last['exploitability'])} mbb/g after {last['iterations'].max()} iterations",
            f"{last['iterations'].max()} iterations for 450, fewer training steps, a narrower network",
        ),
        beside_nfsp(runs),
        *(
            Claim(
                f"{ablation.claim} (varied: {name})",
                {"flop hold'em": Finding(getattr(ratio_of(runs, name), ablation.verdict), len(ABLATED_SEEDS))},
                f"ratio {ratio_of(runs, name)} after {ABLATED_ITERATIONS[-1]} iterations",
                "the first ten iterations, fewer training steps, narrower networks",
            )
            for name, ablation in ABLATIONS.items()
            if (runs["setting"] == name).any()  # a quick run has only some
        ),
    ]


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    runs = parsed(rows)
    game: Any = load_game(QUICK_GAME if quick else GAME)
    uniform = 1000 * policy_class(game).uniform(game).exploitability() / game.big_blind
    size = "a few walks and steps" if quick else "30,000 walks per player, fits of 600 steps, and 200 for the average"
    yield from (
        f"Deep CFR with linear weights, `deep_lcfr(preset='holdem',model='cards')`, on `{game.name}`: an iteration has "
        f"{size}. Its networks are narrower than the source's, and continue from their last weights. In each fit, the "
        "learning rate falls to 0; beside it are runs with a constant rate (`final_rate=1`), as in the source. The "
        f"table has linear weights, too, and {WALKS:,} walks per player in an iteration. NFSP is OpenSpiel's "
        f"implementation in PyTorch, with Adam and networks of {len(WIDTHS)} layers of {WIDTHS[0]} units; it is "
        "written in Python, and its line has numbers of games, not of iterations. All runs are on one thread. "
        "Exploitability is exact, in thousandths of a big blind per game (mbb/g); that of the uniform policy is "
        f"{uniform:,.0f}. The source ends at {PUBLISHED}, and its NFSP at {PUBLISHED_NFSP}.",
        "",
        "![Exploitability against histories](deep-holdem.svg)",
        "",
    )
    if not quick:
        yield from (below_goal(runs), "")
    names = {"falling": "Deep CFR", "NFSP": "NFSP", "linear weights": "external sampling with a table"}
    ablated = runs[runs["kind"] == "ablation"]
    main_runs = runs[runs["kind"] != "ablation"].copy()
    main_runs["algorithm"] = main_runs["setting"].map(names).fillna("Deep CFR, constant learning rate")
    draw(main_runs, "histories", "algorithm", folder / "deep-holdem.svg", "mbb/g")
    yield from table(("", "iterations or games", *COLUMNS[2:]), lines_of(main_runs, "algorithm"))
    yield from ablations(main_runs[main_runs["setting"] == "falling"], ablated, folder / "deep-holdem-parts.svg")


def ablations(usual: pd.DataFrame, ablated: pd.DataFrame, picture: Path) -> Iterator[str]:
    """Yield the lines of the section on ablations, and draw its picture.

    Args:
        usual: runs with the usual settings.
        ablated: runs with another setting.
        picture: path of the picture.
    """
    yield from (
        "",
        "## What its parts are worth",
        "",
        "Each line changes one setting of the runs with a falling learning rate. The ratio compares exploitabilities "
        "after the last iteration of the line's runs, paired by seed, with Student's 95 % interval. The source's runs "
        "are longer, so what it says of their end is not tried here.",
        "",
        f"![Exploitability against histories]({picture.name})",
        "",
    )
    compared = pd.concat([usual.replace({"setting": {"falling": "usual settings"}}), ablated])
    compared = compared[compared["iterations"] <= ablated["iterations"].max()]
    draw(compared, "histories", "setting", picture, "mbb/g")
    yield from table(COLUMNS, lines_of(ablated, "setting"))
    yield ""
    runs = pd.concat([usual, ablated])
    ratios = [(name, ratio_of(runs, name), ABLATIONS[name].said) for name in ablated["setting"].unique()]
    yield from table(("", "ratio", "said in the source"), ratios)


def lines_of(runs: pd.DataFrame, label: str) -> list[tuple[Any, ...]]:
    """Return the lines of a table of runs: a label, iterations or games, histories, CPU seconds, seeds and mbb/g.

    Args:
        runs: the runs.
        label: name of the column with the labels.
    """
    lines = []
    for (name, iterations), points in runs.groupby([label, "iterations"], sort=False):
        seconds = points["CPU seconds"]
        lines.append(
            (
                name,
                f"{iterations:,}",
                f"{points['histories'].mean() / 1e6:,.1f} million",
                "-" if seconds.isna().all() else f"{seconds.mean():,.0f}",
                len(points),
                interval(points["exploitability"]),
            )
        )
    return lines


EXPERIMENT = Experiment(
    "deep-holdem", "Deep CFR on flop hold'em",
    "Brown, Lerer, Gross and Sandholm, Deep counterfactual regret minimization, ICML 2019 (Figures 2 to 4)",
    cases, page, claims,
)  # fmt: skip
