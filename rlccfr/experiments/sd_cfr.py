"""SD-CFR's average of value networks beside Deep CFR's average network (Steinberger 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.experiments.experiment import Case, Claim, Experiment, Row
from rlccfr.experiments.pages import OPEN, Ratio, all_of, draw, grouped, interval, table, told
from rlccfr.games.names import load_game
from rlccfr.policies.matches import distances, exact_match
from rlccfr.solver import Solver

SETTINGS: Mapping[str, Any] = {
    "hidden": 64, "layers": 3, "traversals": 1500, "train_steps": 750, "batch_size": 2048, "policy_steps": 50,
    "retrain_from_scratch": True, "train_every": 1,
}  # fmt: skip
QUICK: Mapping[str, Any] = {**SETTINGS, "traversals": 100, "train_steps": 20, "policy_steps": 10}
LARGE, LARGE_SETTINGS = "leduc(ranks=6,suits=2,raises=4)", {"memory": 50_000, "traversals": 1000, "train_steps": 200}
"""Stand-in for 5-card-flop hold'em, with 324,337 histories, and its settings other than Leduc's."""

LARGE_ITERATIONS = 40
KEPT = (10, 30)
PUBLISHED = {
    "mean": (0.012, 0.013, 0.052, 0.083, 0.113, 0.175),
    "deviation": (0.017, 0.018, 0.048, 0.075, 0.109, 0.206),
}
"""Steinberger's Table 1: distance of the two averages by depth, on his game, after 180 iterations."""

AVERAGES = {"Deep CFR": {"average": "network"}, "SD-CFR": {"average": "value_networks"}}
STEP = 10
"""Number of iterations between points of the comparison."""


def solvers(game: str, seed: int, settings: Mapping[str, Any]) -> dict[str, Solver]:
    """Return a solver for each average; with the same seed, both train the same value networks."""
    tree = load_game(game)
    return {
        name: Solver(tree, {"id": "deep_lcfr", **settings, **average}, "external", seed=seed)
        for name, average in AVERAGES.items()
    }


def both(game: str, iterations: int, settings: Mapping[str, Any], seed: int) -> list[Row]:
    """Return the exploitability of both averages, the value of their match, and at the end their distances."""
    found = solvers(game, seed, settings)
    rows: list[Row] = []
    for done in range(STEP, iterations + 1, STEP):
        averages = {}
        for name, solver in found.items():
            solver.run(iterations=STEP, curve=False)
            averages[name] = solver.average_policy()
            rows.append({"average": name, "iterations": done, "exploitability": averages[name].exploitability()})
        value = exact_match(averages["SD-CFR"], averages["Deep CFR"]).value
        rows.append({"average": "match", "iterations": done, "value": value})
    apart = distances(averages["SD-CFR"], averages["Deep CFR"])
    return rows + [{"average": "distance", **dict(row)} for _, row in apart.iterrows()]


def sampled(iterations: int, settings: Mapping[str, Any], kept: int, seed: int) -> list[Row]:
    """Return the exploitability of the average over a reservoir of value networks."""
    rule = {"id": "deep_lcfr", **settings, "average": "value_networks", "kept_networks": kept}
    solver = Solver(load_game("leduc"), rule, "external", seed=seed)
    rows: list[Row] = []
    for done in range(STEP, iterations + 1, STEP):
        solver.run(iterations=STEP, curve=False)
        exploitability = solver.average_policy().exploitability()
        rows.append({"average": f"{kept} networks", "iterations": done, "exploitability": exploitability})
    return rows


def cases(quick: bool) -> list[Case]:
    """Return all cases."""
    if quick:
        return [
            Case("leduc/0", partial(both, "leduc", 20, QUICK, 0)),
            Case("kept/10/0", partial(sampled, 20, QUICK, 10, 0)),
        ]
    found = [Case(f"leduc/{seed}", partial(both, "leduc", 100, SETTINGS, seed)) for seed in range(5)]
    found += [
        Case(f"kept/{kept}/{seed}", partial(sampled, 100, SETTINGS, kept, seed)) for kept in KEPT for seed in (0, 1)
    ]
    return [*found, Case("large/0", partial(both, LARGE, LARGE_ITERATIONS, {**SETTINGS, **LARGE_SETTINGS}, 0))]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the parts of the cases' keys."""
    keys = rows["case"].str.split("/")
    return rows.assign(part=keys.str[0], seed=keys.str[-1])


def last(rows: pd.DataFrame) -> dict[str, list[float]]:
    """Return the exploitability at the end of the runs on Leduc, by average."""
    ends = rows[(rows["iterations"] == rows["iterations"].max()) & rows["exploitability"].notna()]
    return {name: values for (name,), values in grouped(ends, "average").items()}


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge what the source says."""
    rows = parsed(rows)
    small = rows[rows["part"].isin(["leduc", "kept"])]
    found = last(small)
    times = Ratio.of(found["SD-CFR"], found["Deep CFR"])
    kept = {name: Ratio.of(of, found["SD-CFR"][: len(of)]) for name, of in found.items() if "networks" in name}
    values = rows[(rows["average"] == "match") & (rows["part"] == "large")]["value"]
    deeper = {}
    for part, of in rows[rows["average"] == "distance"].groupby("part", sort=False):
        by_depth = of.groupby("depth")["mean"].mean().to_numpy()
        shallow, deep = (float(half.mean()) for half in np.array_split(by_depth, 2))
        deeper[str(part)] = (shallow, deep)
    return [
        Claim("SD-CFR ends below Deep CFR", times.below_one, f"ratio {times}"),
        Claim(
            "An average over a sample of the networks ends higher", all_of(one.above_one for one in kept.values()),
            ", ".join(f"{name}: ratio {one}" for name, one in kept.items()),
        ),
        Claim(
            "SD-CFR wins the match throughout, on the large game",
            told(bool((values > 0).all())) if len(values) else OPEN,
            f"ahead at {(values > 0).sum()} of {len(values)} points",
        ),
        Claim(
            "The two averages differ more at greater depth",
            all_of(told(deep > first) for first, deep in deeper.values()),
            "in the first half of the depths and in the second: "
            + ", ".join(f"{first:.3f} and {deep:.3f} ({part})" for part, (first, deep) in deeper.items()),
        ),
    ]  # fmt: skip


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the page."""
    rows = parsed(rows)
    settings = ", ".join(f"{name}={value!r}" for name, value in (QUICK if quick else SETTINGS).items())
    yield from (
        "Both averages come from the same value networks, which are trained with the settings "
        f"`{settings}` and linear weights. Deep CFR fits a further network to the policies that were played; SD-CFR "
        "keeps the value networks, and its average is exact. Steinberger trains the average network from scratch at "
        "each measured iteration, for 5,000 steps; here it continues from its last weights after each iteration. His "
        "other games, a Leduc of 6,178,561 histories and a hold'em, do not fit an hour.",
    )
    own = rows[rows["part"].isin(["leduc", "kept"]) & rows["exploitability"].notna()]
    draw(own, "iterations", "average", folder / "sd-cfr.svg", "leduc")
    yield from ("", "## Leduc", "", "![Exploitability against iterations](sd-cfr.svg)", "")
    yield from ends(own)
    yield from (
        "",
        "Steinberger finds that an average over a reservoir of fewer networks than iterations reaches a plateau and "
        "oscillates.",
    )
    for part, name in (("leduc", "Leduc"), ("large", LARGE)):
        of = rows[rows["part"] == part]
        if len(of):
            yield from ("", f"## Match and distance on {name}", "")
            if part == "large":
                others = ", ".join(f"{key}={value:,}" for key, value in LARGE_SETTINGS.items())
                yield from (f"Here the settings are others: `{others}`, and {LARGE_ITERATIONS} iterations.", "")
            yield from match(of)
            yield ""
            yield from apart(of[of["average"] == "distance"])


def ends(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the table of exploitabilities at the end of the runs."""
    found = last(rows)
    shown = [(name, len(of), interval(of)) for name, of in found.items()]
    yield from table(("average", "seeds", f"exploitability after {rows['iterations'].max():,.0f} iterations"), shown)
    yield ""
    yield f"SD-CFR's is {Ratio.of(found['SD-CFR'], found['Deep CFR'])} times Deep CFR's, seed by seed."


def match(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what the exact match of the two averages gives."""
    values = rows[rows["average"] == "match"]
    final = values[values["iterations"] == values["iterations"].max()]["value"]
    won = (values["value"] > 0).mean()
    yield (
        f"SD-CFR's average wins {interval(final)} a game against Deep CFR's after {values['iterations'].max():,.0f} "
        f"iterations, exactly computed over both seats, and is ahead at {won:.0%} of the points. In Steinberger's "
        "hold'em it wins throughout."
    )


def apart(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the table of distances by depth."""
    yield (
        "Total variation between the two averages by depth, the number of moves before. Steinberger's figures are of "
        "his hold'em, without the formula; they grow with depth."
    )
    yield ""
    shown = []
    for depth, of in rows.groupby(rows["depth"].astype(int)):
        here = [f"{of[what].mean():.3f}" for what in PUBLISHED]
        published = [dict(enumerate(values)).get(int(str(depth)), "-") for values in PUBLISHED.values()]
        shown.append((depth, *here, *published))
    yield from table(("depth", "mean", "deviation", "published mean", "published deviation"), shown)


EXPERIMENT = Experiment(
    "sd-cfr", "SD-CFR beside Deep CFR: averages of networks",
    "Steinberger, Single deep counterfactual regret minimization, 2019", cases, page, claims,
)  # fmt: skip
