"""SD-CFR's average over value networks, compared with Deep CFR's average network (Steinberger 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.experiments.experiment import NO_STAND_IN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, draw, grouped, interval, table, verdict_of
from rlccfr.games.names import load_game
from rlccfr.policies.matches import distances, exact_match
from rlccfr.solver import Solver

SETTINGS: Mapping[str, Any] = {
    "hidden": 64, "layers": 3, "traversals": 1500, "train_steps": 750, "batch_size": 2048, "policy_steps": 50,
    "retrain_from_scratch": True, "train_every": 1,
}  # fmt: skip
WARM: Mapping[str, Any] = {"retrain_from_scratch": False}
"""How the source starts a value network: with the weights of an earlier one. Here, Adam's moments are kept, too."""

WARM_SEEDS = 3

QUICK: Mapping[str, Any] = {**SETTINGS, "traversals": 100, "train_steps": 20, "policy_steps": 10}
LARGE = "leduc(ranks=6,suits=2,raises=4)"
"""Stand-in for 5-card-flop hold'em, with 324,337 histories."""

LARGE_SETTINGS = {"memory": 50_000, "traversals": 1000, "train_steps": 200}
"""Settings on :data:`LARGE` that differ from those on Leduc."""

LARGE_ITERATIONS = 40
RESERVOIRS = (10, 30)
"""Numbers of value networks in a reservoir."""

PUBLISHED = {
    "mean": (0.012, 0.013, 0.052, 0.083, 0.113, 0.175),
    "deviation": (0.017, 0.018, 0.048, 0.075, 0.109, 0.206),
}
"""Steinberger's Table 1: distance between the two averages by depth, on his game, after 180 iterations."""

AVERAGES = {"Deep CFR": {"average": "network"}, "SD-CFR": {"average": "value_networks"}}
"""Settings of the two averages that are compared."""

STEP = 10
"""Number of iterations between points of the comparison."""

STARTS = {"leduc": "Leduc (from scratch)", "warm": "Leduc (warm start)"}
"""Names of the runs on Leduc, keyed by the first field of cases' keys; they differ in how value networks start."""

SUFFIXES = {"Leduc (from scratch)": "", "Leduc (warm start)": ", warm start"}
"""Suffixes of the averages' names, keyed by the names of runs in :data:`STARTS`."""

AVERAGE_NETWORK = "an average network of 50 steps after each fit, for 5,000 steps from scratch at each measurement"
HOLDEM = f"`{LARGE}` for 5-card-flop hold'em"


def solvers(game: str, seed: int, settings: Mapping[str, Any]) -> dict[str, Solver]:
    """Return a solver for each of the :data:`AVERAGES`; they share a seed, and so train the same value networks."""
    tree = load_game(game)
    return {
        name: Solver(tree, {"id": "deep_lcfr", **settings, **average}, "external", seed=seed)
        for name, average in AVERAGES.items()
    }


def both(game: str, iterations: int, settings: Mapping[str, Any], seed: int) -> list[Row]:
    """Return both averages' exploitability and the value of their match during a run, and their final distances."""
    # Both solvers train the same value networks, so that only the averages differ.
    both_solvers = solvers(game, seed, settings)
    rows: list[Row] = []
    for done in range(STEP, iterations + 1, STEP):
        averages = {}
        for name, solver in both_solvers.items():
            solver.run(iterations=STEP, curve=False)
            averages[name] = solver.average_policy()
            rows.append({"average": name, "iterations": done, "exploitability": averages[name].exploitability()})
        # Positive if SD-CFR's average wins, over both seats.
        value = exact_match(averages["SD-CFR"], averages["Deep CFR"]).value
        rows.append({"average": "match", "iterations": done, "value": value})
    by_depth = distances(averages["SD-CFR"], averages["Deep CFR"])
    return rows + [{"average": "distance", **dict(row)} for _, row in by_depth.iterrows()]


def sampled(iterations: int, settings: Mapping[str, Any], size: int, seed: int) -> list[Row]:
    """Return the exploitability of the average over a reservoir of ``size`` value networks."""
    rule = {"id": "deep_lcfr", **settings, "average": "value_networks", "kept_networks": size}
    solver = Solver(load_game("leduc"), rule, "external", seed=seed)
    rows: list[Row] = []
    for done in range(STEP, iterations + 1, STEP):
        solver.run(iterations=STEP, curve=False)
        exploitability = solver.average_policy().exploitability()
        rows.append({"average": f"{size} networks", "iterations": done, "exploitability": exploitability})
    return rows


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one."""
    if quick:
        return [
            Case("leduc/0", partial(both, "leduc", 20, QUICK, 0)),
            Case("warm/0", partial(both, "leduc", 20, {**QUICK, **WARM}, 0)),
            Case("kept/10/0", partial(sampled, 20, QUICK, 10, 0)),
        ]
    all_cases = [
        Case(f"{start}/{seed}", partial(both, "leduc", 100, settings, seed))
        for start, settings, seeds in (("leduc", SETTINGS, 5), ("warm", {**SETTINGS, **WARM}, WARM_SEEDS))
        for seed in range(seeds)
    ]
    all_cases += [
        Case(f"kept/{size}/{seed}", partial(sampled, 100, SETTINGS, size, seed))
        for size in RESERVOIRS
        for seed in (0, 1)
    ]
    return [*all_cases, Case("large/0", partial(both, LARGE, LARGE_ITERATIONS, {**SETTINGS, **LARGE_SETTINGS}, 0))]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the ``part`` and the ``seed`` in their cases' keys.

    The names of averages in runs with a warm start get a suffix.
    """
    keys = rows["case"].str.split("/")
    rows = rows.assign(part=keys.str[0], seed=keys.str[-1])
    warm = (rows["part"] == "warm") & rows["average"].isin(list(AVERAGES))
    return rows.assign(average=rows["average"].mask(warm, rows["average"] + ", warm start"))


def last(rows: pd.DataFrame) -> dict[str, list[float]]:
    """Return the exploitability at the end of the runs on Leduc, by average."""
    ends = rows[(rows["iterations"] == rows["iterations"].max()) & rows["exploitability"].notna()]
    return {name: values for (name,), values in grouped(ends, "average").items()}


def to_deep_cfr(ends: Mapping[str, list[float]]) -> dict[str, Ratio]:
    """Return the ratio of SD-CFR's exploitability to Deep CFR's for each way in which value networks start."""
    return {
        start: Ratio.of(ends[f"SD-CFR{suffix}"], ends[f"Deep CFR{suffix}"])
        for start, suffix in SUFFIXES.items()
        if f"SD-CFR{suffix}" in ends
    }


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the source's claims, and a claim of this library about warm starts."""
    rows = parsed(rows)
    small = rows[rows["part"].isin([*STARTS, "kept"])]
    reached = last(small)
    to_average_network = to_deep_cfr(reached)
    # The reservoirs have fewer seeds than SD-CFR from scratch, and are compared with its first seeds.
    reservoirs = {
        name: Ratio.of(values, reached["SD-CFR"][: len(values)])
        for name, values in reached.items()
        if "networks" in name
    }
    warm_starts = reached["SD-CFR, warm start"]
    warm = Ratio.of(warm_starts, reached["SD-CFR"][: len(warm_starts)])
    return [
        Claim(
            "SD-CFR ends below Deep CFR",
            {
                start: Finding(ratio.below_one, len(reached[f"SD-CFR{SUFFIXES[start]}"]))
                for start, ratio in to_average_network.items()
            },
            "ratio " + ", ".join(f"{ratio} ({start})" for start, ratio in to_average_network.items()),
            AVERAGE_NETWORK,
        ),
        Claim(
            "(not said there) A warm start of value networks, the source's, ends below starts from scratch",
            {"Leduc": Finding(warm.below_one, len(warm_starts))},
            f"ratio of SD-CFR's exploitability {warm}",
            NO_STAND_IN,
        ),
        Claim(
            "An average over a sample of the networks ends higher",
            {f"Leduc ({name})": Finding(ratio.above_one, len(reached[name])) for name, ratio in reservoirs.items()},
            ", ".join(f"{name}: ratio {ratio}" for name, ratio in reservoirs.items()),
            NO_STAND_IN,
        ),
        matches(rows),
        depths(rows),
    ]


def games(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, int]]:
    """Yield the name, the rows and the number of seeds of each group of runs whose averages were compared."""
    for part, name in (*STARTS.items(), ("large", f"`{LARGE}`")):
        runs = rows[rows["part"] == part]
        if len(runs):
            yield name, runs, runs["seed"].nunique()


def matches(rows: pd.DataFrame) -> Claim:
    """Judge the claim that SD-CFR's average wins the match throughout a run."""
    findings = {}
    figures = []
    for name, runs, seeds in games(rows):
        values = runs.loc[runs["average"] == "match", "value"]
        findings[name] = Finding(verdict_of(bool((values > 0).all())), seeds)
        figures.append(f"ahead at {(values > 0).sum()} of {len(values)} points ({name})")
    return Claim("SD-CFR wins the match throughout (hold'em)", findings, ", ".join(figures), HOLDEM)


def depths(rows: pd.DataFrame) -> Claim:
    """Judge the claim that distances grow with depth, by their means in the first and the second half of the depths."""
    findings = {}
    figures = []
    for name, runs, seeds in games(rows):
        by_depth = runs[runs["average"] == "distance"].groupby("depth")["mean"].mean().to_numpy()
        shallow, deep = (float(half.mean()) for half in np.array_split(by_depth, 2))
        findings[name] = Finding(verdict_of(deep > shallow), seeds)
        figures.append(f"{shallow:.3f} and {deep:.3f} ({name})")
    return Claim(
        "The two averages differ more at greater depth (hold'em)",
        findings,
        "in the first half of the depths and in the second: " + ", ".join(figures),
        f"{HOLDEM}, and total variation for a distance without a formula",
    )


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    rows = parsed(rows)
    settings = ", ".join(f"{name}={value!r}" for name, value in (QUICK if quick else SETTINGS).items())
    yield from (
        "Both averages come from the same value networks, which are trained with the settings "
        f"`{settings}` and linear weights. Deep CFR fits a further network to the policies that were played; SD-CFR "
        "keeps the value networks, and its average is exact.",
        "",
        "Steinberger starts each value network from an earlier one's weights. The lines named *warm start* do so, with "
        "`retrain_from_scratch=False`; the others train each value network from scratch, as Brown et al. do. "
        "Steinberger trains the average network from scratch at each measured iteration, for 5,000 steps; here it "
        "continues from its last weights after each iteration. His other games, a Leduc of 6,178,561 histories and a "
        "hold'em, do not fit into an hour.",
    )
    small = rows[rows["part"].isin([*STARTS, "kept"]) & rows["exploitability"].notna()]
    draw(small, "iterations", "average", folder / "sd-cfr.svg", "leduc")
    yield from ("", "## Leduc", "", "![Exploitability against iterations](sd-cfr.svg)", "")
    yield from ends(small)
    yield from (
        "",
        "Steinberger finds that an average over a reservoir of fewer networks than iterations reaches a plateau and "
        "oscillates.",
    )
    for name, runs, _ in games(rows):
        yield from ("", f"## Match and distance on {name}", "")
        if name == f"`{LARGE}`":
            changed = ", ".join(f"{key}={value:,}" for key, value in LARGE_SETTINGS.items())
            yield f"The settings differ here: `{changed}`, and {LARGE_ITERATIONS} iterations, with one seed."
            yield ""
        yield from match(runs)
        yield ""
        yield from distances_by_depth(runs[runs["average"] == "distance"])


def ends(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's lines on the exploitabilities at the end of the runs: a table, and ratios."""
    reached = last(rows)
    lines = [(name, len(values), interval(values)) for name, values in reached.items()]
    yield from table(("average", "seeds", f"exploitability after {rows['iterations'].max():,.0f} iterations"), lines)
    yield ""
    yield from (
        f"Paired by seed, SD-CFR's exploitability is {ratio} times Deep CFR's ({start})."
        for start, ratio in to_deep_cfr(reached).items()
    )


def match(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's line on the match between the two averages, which is computed exactly."""
    values = rows[rows["average"] == "match"]
    final = values[values["iterations"] == values["iterations"].max()]["value"]
    won = (values["value"] > 0).mean()
    yield (
        f"SD-CFR's average wins {interval(final)} a game against Deep CFR's after {values['iterations'].max():,.0f} "
        f"iterations, exactly computed over both seats, and is ahead at {won:.0%} of the points. In Steinberger's "
        "hold'em it wins throughout."
    )


def distances_by_depth(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's table of distances by depth."""
    yield (
        "Total variation between the two averages by depth, the number of earlier moves. Steinberger's figures are "
        "those of his hold'em, and he gives no formula for them; they grow with depth."
    )
    yield ""
    lines = []
    for depth, at_depth in rows.groupby(rows["depth"].astype(int)):
        measured = [f"{at_depth[figure].mean():.3f}" for figure in PUBLISHED]
        published = [dict(enumerate(values)).get(int(str(depth)), "-") for values in PUBLISHED.values()]
        lines.append((depth, *measured, *published))
    yield from table(("depth", "mean", "deviation", "published mean", "published deviation"), lines)


EXPERIMENT = Experiment(
    "sd-cfr", "SD-CFR beside Deep CFR: averages of networks",
    "Steinberger, Single deep counterfactual regret minimization, 2019", cases, page, claims,
)  # fmt: skip
