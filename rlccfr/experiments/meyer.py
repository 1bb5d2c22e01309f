"""Samplers between external and outcome sampling (Meyer 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.components import Sampler
from rlccfr.experiments.deep_cfr import BASE
from rlccfr.experiments.experiment import NO_STAND_IN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, draw, ends_of, grouped, interval, table
from rlccfr.games.names import load_game
from rlccfr.policy import Policy
from rlccfr.registry import samplers
from rlccfr.solver import Solver

TABLE_ITERATIONS = 2**10
"""Number of iterations of Table 5.1."""

EXPLORATION = (0.0, 0.25, 0.5, 0.75, 1.0)
TABLE = {
    "outcome": "outcome",
    "linear mix": f"mixed_linear(horizon={TABLE_ITERATIONS})",
    "linear mix per node": f"mixed_linear(horizon={TABLE_ITERATIONS},per_node=True)",
    "half-life 8": "mixed_exponential(half_life=8.0)",
    "half-life 1024": "mixed_exponential(half_life=1024.0)",
    "locus": f"mixed_locus(horizon={TABLE_ITERATIONS})",
}
"""Samplers of Table 5.1; each runs with all shares of exploration in :data:`EXPLORATION`."""

PUBLISHED = {"outcome": (2.22, 2.22, 2.20, 2.34, 2.37), "linear mix per node": (1.48, 1.58, 1.65, 1.67, 1.73)}
"""Rows of Meyer's Table 5.1: the exploitability for each share in :data:`EXPLORATION`."""

SHARES = ((1024.0, 2**12, ".338"), (8.0, 2**12, ".0027"), (16.0, 2**16, ".00034"))
"""Half-life and number of iterations of exponential mixes, and Meyer's figure for their share of external sampling."""

CURVES = {
    "external": "external",
    "outcome": "outcome",
    "linear mix": "mixed_linear(horizon={horizon})",
    "linear mix per node": "mixed_linear(horizon={horizon},per_node=True)",
    "half-life 8": "mixed_exponential(half_life=8.0)",
    "half-life 1024": "mixed_exponential(half_life=1024.0)",
    "locus, second half": "mixed_locus(horizon={horizon},half_life=1e12,visits=1e12)",
    "locus, half-life 1024": "mixed_locus(horizon=1000000000,half_life=1024.0,visits=1e12)",
    "locus, half-life 8": "mixed_locus(horizon=1000000000,half_life=8.0,visits=1e12)",
    "locus, 100 visits": "mixed_locus(horizon=1000000000,half_life=1e12,visits=100.0)",
}
"""Samplers of the curves; each locus (section 5.3) has only one of the three criteria, as in Figure 5.4."""

GAMES = {"kuhn": 2**8, "leduc": 2**12}
"""Games of the curves, and their numbers of iterations."""

HISTORIES = (60_000, 100_000)
"""Numbers of histories after which samplers are compared on Leduc."""

HISTORIES_SEEDS = 100

DRAMATIC = 0.5
"""Ratio of exploitabilities below which an improvement counts as dramatic; the source names no number."""

COMPARED = ("external", "outcome", "linear mix", "half-life 8", "half-life 1024", "locus, second half")
"""The samplers of :data:`CURVES` that the thesis's headline claims are about."""

DICE = "liars_dice(numdice=1,dice_sides=6,bidding_rule=reset-face)"
SKIPS: Mapping[str, Mapping[str, Any]] = {
    "every fit": {},
    "linear, network kept": {"retrain": "linear"},
    "linear, 20 steps on the newest data": {"retrain": "linear", "skipped_steps": 20},
    "halving, network kept": {"retrain": "exponential"},
    "halving, 20 steps on the newest data": {"retrain": "exponential", "skipped_steps": 20},
}
"""Settings of Deep CFR: how the probability of a new fit falls, and what is done if the fit is skipped."""

EXTERNAL_COST = 10
"""How often a history in an external walk counts in Figure 6.1, as in the source; one on a single path counts once."""

ONE_BY_ONE = 500
"""Number of first iterations that are made one by one; later, a mix of half-life 16 hardly ever walks externally."""

LIKELY = 0.85
"""Probability above which an action counts as strongly preferred."""

LIKELY_ITERATIONS = 2**16


def on_policy(sampler: str, exploration: float) -> Sampler:
    """Return a sampler with a share of exploration, which may be 0.

    The registry does not allow a share of 0, which is Meyer's on-policy sampling. With a share of 0, estimates are
    biased: where only one action is drawn, an action of probability 0 is never sampled.
    """
    return replace(samplers.resolve(sampler), exploration=exploration, id="")


def reached(sampler: str, exploration: float, seeds: int) -> list[Row]:
    """Return the exploitability of CFR on Leduc after :data:`TABLE_ITERATIONS` iterations, for each seed."""
    game = load_game("leduc")
    exploring = on_policy(sampler, exploration)
    rows: list[Row] = []
    for seed in range(seeds):
        run = Solver(game, "cfr", exploring, seed=seed).run(iterations=TABLE_ITERATIONS, curve=False)
        rows.append({"exploitability": run.exploitability})
    return rows


def curve_sampler(sampler: str, horizon: int) -> Sampler:
    """Return a sampler of :data:`CURVES`; where it draws the traverser's actions, it does so on-policy."""
    return samplers.resolve(sampler) if sampler == "external" else on_policy(sampler.format(horizon=horizon), 0.0)


def curve(game: str, sampler: str, iterations: int, seed: int) -> list[Row]:
    """Return the exploitability of the average and of the current policy, at powers of 2 from 8 iterations on."""
    solver = Solver(load_game(game), "cfr", curve_sampler(sampler, iterations), seed=seed)
    rows: list[Row] = []
    done = 0
    for power in range(3, iterations.bit_length()):
        result = solver.run(iterations=2**power - done, curve=False)
        done = 2**power
        average = solver.average_policy().exploitability()
        current = solver.current_policy().exploitability()
        rows.append({"histories": result.nodes_touched, "exploitability": average, "current": current})
    return rows


def after_histories(sampler: str, horizon: int, counts: Sequence[int], seed: int) -> list[Row]:
    """Return CFR's exploitability on Leduc once each number of histories in ``counts`` has been touched."""
    solver = Solver(load_game("leduc"), "cfr", curve_sampler(sampler, horizon), seed=seed)
    rows: list[Row] = []
    touched = 0
    for count in counts:
        result = solver.run(nodes=count - touched, curve=False)
        touched = result.nodes_touched
        rows.append({"histories": count, "touched": touched, "exploitability": result.exploitability})
    return rows


def likely(iterations: int, seed: int) -> list[Row]:
    """Return the share of Leduc's infosets at which the average policy plays an action with probability above LIKELY.

    The average policy is that of CFR with external sampling.
    """
    game = load_game("leduc")
    solver = Solver(game, "cfr", "external", seed=seed)
    solver.run(iterations=iterations, curve=False)
    largest = np.maximum.reduceat(solver.average_policy().probabilities, game.view.first_sequence[:-1])
    return [{"share": float(np.mean(largest > LIKELY))}]


@cache
def touched_by_outcome(iterations: int) -> int:
    """Return how many histories outcome sampling touches on Liar's dice in a number of iterations."""
    solver = Solver(load_game(DICE), "cfr", on_policy("outcome", 0.0))
    return solver.run(iterations=iterations, curve=False).nodes_touched


def dice(sampler: str, outcomes: int, external_cost: int, seed: int) -> list[Row]:
    """Return the exploitability on Liar's dice after as many histories as outcome sampling touches.

    A run does not tell which iterations of a mix walk externally, so the first ones are made one by one. An iteration
    that touches more histories than two paths can have has walked externally.

    Args:
        sampler: name of the sampler.
        outcomes: number of iterations of outcome sampling; the run touches as many histories as these iterations.
        external_cost: how often a history in an external walk counts.
        seed: seed of the run.
    """
    game = load_game(DICE)
    budget = touched_by_outcome(outcomes)
    solver = Solver(game, "cfr", curve_sampler(sampler, outcomes), seed=seed)
    if sampler == "external":
        budget //= external_cost
    elif sampler != "outcome":
        touched = 0
        for _ in range(min(ONE_BY_ONE, outcomes // 2)):
            total = solver.run(iterations=1, curve=False).nodes_touched
            if total - touched > 2 * (game.depth + 1):
                budget -= (external_cost - 1) * (total - touched)
            touched = total
        budget -= touched
    result = solver.run(nodes=budget, curve=False)
    return [{"exploitability": result.exploitability, "iterations": result.iterations}]


def skipping(settings: Mapping[str, Any], iterations: int, seed: int) -> list[Row]:
    """Return the exploitability that Deep CFR reaches on Leduc if some of its fits are skipped."""
    rule = {"id": "deep_cfr", **settings, "retrain_horizon": max(iterations // 2, 1)}
    result = Solver(load_game("leduc"), rule, "external", seed=seed).run(iterations=iterations, curve=False)
    return [{"exploitability": result.exploitability, "seconds": result.cpu_seconds}]


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one."""
    seeds, outcomes = (3, 2**13) if quick else (20, 2**16)
    # Table 5.1: exploration, after equal numbers of iterations.
    all_cases = [
        Case(f"table/{name}/{exploration:g}", partial(reached, sampler, exploration, seeds))
        for name, sampler in TABLE.items()
        for exploration in (EXPLORATION[::2] if quick else EXPLORATION)
    ]
    # Curves of all samplers, and the headline claims after equal numbers of histories.
    all_cases += [
        Case(f"curve/{game}/{name}/{seed}", partial(curve, game, sampler, iterations, seed))
        for game, iterations in GAMES.items()
        for name, sampler in CURVES.items()
        for seed in range(1 if quick else 10)
    ]
    all_cases += [
        Case(f"histories/{name}/{seed}", partial(after_histories, CURVES[name], GAMES["leduc"], HISTORIES, seed))
        for name in COMPARED
        for seed in range(seeds if quick else HISTORIES_SEEDS)
    ]
    all_cases += [
        Case(f"likely/{seed}", partial(likely, 2_000 if quick else LIKELY_ITERATIONS, seed))
        for seed in range(1 if quick else 5)
    ]
    # Figure 6.1, on Liar's dice.
    all_cases += [
        Case(f"dice/{name}/{seed}", partial(dice, sampler, outcomes, EXTERNAL_COST, seed))
        for name, sampler in (*list(CURVES.items())[:2], ("half-life 16", "mixed_exponential(half_life=16.0)"))
        for seed in range(1 if quick else 10)
    ]
    # Deep CFR that skips some of its fits.
    all_cases += [
        Case(f"skips/{name}/{seed}", partial(skipping, {**BASE, **settings}, 6 if quick else 100, seed))
        for name, settings in SKIPS.items()
        for seed in range(1 if quick else 3)
    ]
    return all_cases


def share(half_life: float, iterations: int) -> float:
    """Return the share of external sampling in the iterations of an exponential mix, from t = 1 as in Meyer's sum."""
    mix = samplers.resolve({"id": "mixed_exponential", "half_life": half_life})
    rows = mix.schedule(2, iterations)  # the sampler's own t counts from 0
    assert mix.mixture is not None
    return float(np.mean([mix.mixture(None, None, 0.0, row) for row in rows]))


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the fields of their cases' keys: ``part``, ``game``, ``name`` and ``seed``.

    The column ``seed`` has the last field, which is the seed or, in Table 5.1, a share of exploration.
    """
    keys = rows["case"].str.split("/")
    return rows.assign(part=keys.str[0], game=keys.str[1], name=keys.str[-2], seed=keys.str[-1])


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the source's claims by the rows of a full run."""
    rows = parsed(rows)
    on_dice = grouped(rows[rows["part"] == "dice"], "name")
    mix = Ratio.of(on_dice["half-life 16",], on_dice["outcome",])
    return [
        *exploration_claims(rows[rows["part"] == "table"]),
        *headline_claims(rows[rows["part"] == "histories"]),
        Claim(
            "On Liar's dice, the mix of half-life 16 is well below outcome sampling",
            {"Liar's dice": Finding(mix.below_one, len(on_dice["outcome",]))},
            f"ratio {mix}",
            NO_STAND_IN,
        ),
    ]


def exploration_claims(rows: pd.DataFrame) -> Iterator[Claim]:
    """Judge the source's claims about exploration on Leduc (Table 5.1)."""
    reached_by = grouped(rows, "name", "seed")  # the column "seed" has the share of exploration
    seeds = len(reached_by["outcome", "0"])
    mixed = {
        exploration: Ratio.of(reached_by["linear mix per node", exploration], reached_by["outcome", exploration])
        for exploration in ("0", "1")
    }
    yield Claim(
        "After as many iterations, the linear mix per node is better than outcome sampling",
        {f"Leduc (exploration {exploration})": Finding(ratio.below_one, seeds) for exploration, ratio in mixed.items()},
        ", ".join(f"exploration {exploration}: ratio {ratio}" for exploration, ratio in mixed.items()),
        NO_STAND_IN,
    )
    less = Ratio.of(reached_by["linear mix per node", "0"], reached_by["linear mix per node", "1"])
    yield Claim(
        "Less exploration is better in the linear mix per node",
        {"Leduc": Finding(less.below_one, seeds)},
        f"none to full: ratio {less}",
        NO_STAND_IN,
    )
    least = Ratio.of(reached_by["outcome", "0"], reached_by["outcome", "0.5"])
    yield Claim(
        "In outcome sampling alone, less exploration than about 0.5 is no better",
        {"Leduc": Finding(least.equals_one, seeds)},
        f"none to 0.5: ratio {least}",
        NO_STAND_IN,
    )


def headline_claims(rows: pd.DataFrame) -> Iterator[Claim]:
    """Judge the thesis's headline claims, by the exploitability on Leduc after equal numbers of histories."""
    halves = "A half-life of 8 improves dramatically on outcome sampling (here: halves it)"
    for name, base, said, bound in (
        ("linear mix", "external", "The linear mix matches external sampling", None),
        ("locus, second half", "external", "The locus in the second half matches external sampling", None),
        ("half-life 8", "outcome", halves, DRAMATIC),
        ("half-life 1024", "outcome", "A half-life of 1024 improves on outcome sampling", 1.0),
    ):
        findings = {}
        figures = []
        seeds = rows.loc[rows["name"] == name, "seed"].nunique()
        for count, ratio in versus(rows, name, base).items():
            # Samplers match if their ratio is 1. One improves on the other if the ratio is below a bound.
            verdict = ratio.equals_one if bound is None else ratio.below(bound)
            findings[f"Leduc ({count:,} histories)"] = Finding(verdict, seeds)
            figures.append(f"ratio {ratio} after {count:,}")
        yield Claim(f"{said}, after as many histories", findings, ", ".join(figures), NO_STAND_IN)


def versus(rows: pd.DataFrame, name: str, base: str) -> dict[int, Ratio]:
    """Return, by number of histories, the mean ratio of one sampler's exploitability to another's, paired by seed."""
    reached_by = by_histories(rows)
    return {count: Ratio.of(reached_by[name, str(count)], reached_by[base, str(count)]) for count in HISTORIES}


def by_histories(rows: pd.DataFrame) -> dict[tuple[str, ...], list[float]]:
    """Return the exploitabilities in the order of seeds, keyed by sampler and number of histories."""
    return grouped(rows.assign(histories=rows["histories"].astype(int)), "name", "histories")


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    rows = parsed(rows)
    yield from table_5_1(rows[rows["part"] == "table"])
    yield from ("", "## Share of external sampling in exponential mixes", "")
    yield from table(
        ("half-life", "iterations", "here", "Meyer"),
        [(f"{life:g}", f"{count:,}", f"{share(life, count):.3g}", published) for life, count, published in SHARES],
    )
    shares = rows.loc[rows["part"] == "likely", "share"]
    yield from (
        "",
        f"After {2_000 if quick else LIKELY_ITERATIONS:,} iterations of external sampling on Leduc, "
        f"{interval(100 * shares)} % of the infosets have an action of probability above {LIKELY} in the average "
        "policy; Meyer has 23.7 %, but his definition was not available.",
    )
    yield from same_histories(rows[rows["part"] == "histories"])
    for game, iterations in GAMES.items():
        runs = rows[(rows["part"] == "curve") & (rows["game"] == game)].rename(columns={"name": "sampler"})
        for what, text in (("exploitability", "average policy"), ("current", "current policy")):
            yield from ("", f"## {game}, {iterations:,} iterations, {text}", "")
            yield from curves(
                runs.assign(exploitability=runs[what]), folder / f"meyer-{game}-{what}.svg", f"{game}, {text}"
            )
    yield from liars_dice(rows[rows["part"] == "dice"], quick)
    yield from deep(rows[rows["part"] == "skips"])


def curves(rows: pd.DataFrame, picture: Path, title: str) -> Iterator[str]:
    """Yield a picture of curves, and a table of their ends."""
    draw(rows, "histories", "sampler", picture, title)
    yield from (
        f"![Exploitability]({picture.name})",
        "",
        "Each locus (section 5.3) has only one of the three criteria, as in Figure 5.4.",
        "",
    )
    ends = ends_of(rows, "sampler")
    histories = grouped(ends, "sampler", value="histories")
    yield from table(
        ("sampler", "exploitability", "histories"),
        [
            (name, interval(values), f"{np.mean(histories[name,]):,.0f}")
            for (name,), values in grouped(ends, "sampler").items()
        ],
    )


def same_histories(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's section on the comparison after equal numbers of histories."""
    seeds = rows["seed"].nunique()
    yield from (
        "",
        "## leduc, after equal numbers of histories",
        "",
        f"Exploitability once a run has touched this many histories: the mean over {seeds} seeds with half the width "
        f"of its 95 % interval. The traverser's actions are drawn on-policy, and horizons are {GAMES['leduc']:,} "
        "iterations. Ratios are paired by seed.",
        "",
    )
    reached_by = by_histories(rows)
    lines = []
    for name in COMPARED:
        cells: list[object] = [interval(reached_by[name, str(count)]) for count in HISTORIES]
        for base in ("outcome", "external"):
            ratios = versus(rows, name, base)
            cells += ["-" if name == base else ratios[count] for count in HISTORIES]
        lines.append((name, *cells))
    columns = [
        *(f"{count:,} histories" for count in HISTORIES),
        *(f"ratio to {base}, {count:,}" for base in ("outcome", "external") for count in HISTORIES),
    ]
    yield from table(("sampler", *columns), lines)


def table_5_1(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's section on Meyer's Table 5.1."""
    uniform = Policy.uniform(load_game("leduc")).exploitability()
    reached_by = grouped(rows, "name", "seed")  # the column "seed" has the share of exploration
    seeds = len(next(iter(reached_by.values())))
    columns = list(dict.fromkeys(rows["seed"]))
    lines = []
    for name in TABLE:
        lines.append((name, *(interval(reached_by[name, column]) for column in columns)))
        if name in PUBLISHED:
            published = dict(zip((f"{exploration:g}" for exploration in EXPLORATION), PUBLISHED[name], strict=True))
            lines.append((f"{name}, Meyer", *(f"{published[column]:.2f}" for column in columns)))
    yield from (
        "## Table 5.1: exploration",
        "",
        f"CFR on Leduc, {TABLE_ITERATIONS:,} iterations of one walk a player. Exploitability as the mean over "
        f"{seeds} seeds with half the width of its 95 % interval; the uniform policy has {uniform:.3g}. A column is "
        "a share of exploration. With 0, estimates are biased, because an action of probability 0 is not sampled again "
        "where one action is drawn.",
        "",
    )
    yield from table(("sampler", *columns), lines)


def liars_dice(rows: pd.DataFrame, quick: bool) -> Iterator[str]:
    """Yield the page's section on Meyer's Figure 6.1."""
    yield from (
        "",
        "## Figure 6.1: Liar's dice",
        "",
        "Exploitability with one die of six sides each, after as many histories as "
        f"{2**13 if quick else 2**16:,} iterations of outcome sampling touch. In Meyer's figure, the mix is well below "
        f"outcome sampling. As there, a history that is met in an external walk counts {EXTERNAL_COST} times.",
        "",
    )
    ends: Sequence[tuple[str, str, str]] = [
        (str(name), interval(runs["exploitability"]), f"{runs['iterations'].mean():,.0f}")
        for name, runs in rows.groupby("name", sort=False)
    ]
    yield from table(("sampler", "exploitability", "iterations"), ends)


def deep(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's section on Deep CFR."""
    yield from (
        "",
        "## Deep CFR with skipped fits, on Leduc",
        "",
        "The probability of a fit falls linearly to 0 at half of the run, or halves with each half of it. The settings "
        "are those of the page on Deep CFR.",
        "",
    )
    seconds = grouped(rows, "name", value="seconds")
    yield from table(
        ("", "exploitability", "CPU seconds"),
        [(name, interval(values), interval(seconds[name,])) for (name,), values in grouped(rows, "name").items()],
    )


EXPERIMENT = Experiment(
    "meyer", "Samplers between external and outcome sampling",
    "Meyer, Toward Generality: Building Better Counterfactual Regret Minimization for Imperfect Information Games, "
    "Harvard bachelor's thesis, 2021",
    cases, page, claims,
)  # fmt: skip
