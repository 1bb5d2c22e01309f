"""Ablations of Deep CFR on Leduc, and exact passes on flop hold'em, the game of its paper (Brown et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from rlccfr.experiments.experiment import NO_STAND_IN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, draw, ends_of, grouped, interval, table, verdict_of, with_fields
from rlccfr.games.names import load_game
from rlccfr.policy import Policy
from rlccfr.solver import Solver

GAMES = {"leduc": 3, "leduc(ranks=5,suits=2,raises=2)": 1}
"""Games and their numbers of seeds; the second has 55,361 histories."""

BASE: Mapping[str, Any] = {
    "hidden": 64, "layers": 3, "traversals": 400, "train_steps": 200, "batch_size": 512, "retrain_from_scratch": True,
    "train_every": 1, "average": "value_networks",
}  # fmt: skip
"""Settings of the run called the base, with which ablations are compared.

Its average policy is the exact average of all value networks' policies, so that no error of a policy network is added.
"""

SMALL = 10_000
"""Capacity, in rows, of a reservoir that is small enough to fill up during a run."""

ABLATIONS: Mapping[str, tuple[str, Mapping[str, Any], str]] = {
    "base": ("deep_lcfr", {}, ""),
    "card network": ("deep_lcfr", {"model": "cards"}, "the source's network"),
    "unweighted": ("deep_cfr", {}, "slower, the same end"),
    "fine-tuned": ("deep_lcfr", {"retrain_from_scratch": False}, "50 % worse at the end"),
    "uniform fallback": ("deep_lcfr", {"fallback": "uniform"}, "50 % worse"),
    "small reservoir": ("deep_lcfr", {"memory": SMALL}, "the comparison for the next line"),
    "small window": ("deep_lcfr", {"memory": SMALL, "full_memory": "window"}, "worsens once full"),
    "a quarter of the walks": ("deep_lcfr", {"traversals": 100}, "slower, the same end"),
    "four times the walks": ("deep_lcfr", {"traversals": 1600}, "faster, the same end"),
    "a quarter of the steps": ("deep_lcfr", {"train_steps": 50}, "a higher plateau"),
    "width 8": ("deep_lcfr", {"hidden": 8}, "higher"),
    "width 16": ("deep_lcfr", {"hidden": 16}, "higher"),
    "width 128": ("deep_lcfr", {"hidden": 128}, "lower, up to a point"),
}
"""For each ablation: the update rule, the settings that differ from the base's, and what Brown et al. found on flop
hold'em."""

SAID = {
    "fine-tuned": "Fitting from scratch is better than fine-tuning",
    "uniform fallback": "The best action is the better fallback",
    "small window": "A reservoir is better than a window",
    "a quarter of the steps": "Fewer steps end higher",
    "width 8": "A narrow network ends higher",
    "width 128": "A wide network ends lower",
}
"""The source's claims about ablations, keyed by ablation."""

DIRECTIONS = {**dict.fromkeys(SAID, "above_one"), "width 128": "below_one"}
"""For each ablation with a claim: the property of :class:`Ratio` that judges it.

The claim says that the ratio of exploitabilities (:func:`worse`) is above 1, or below 1.
"""

ITERATIONS = 300
DEEP_CFR, NFSP = 37, 47
"""Exploitability of Deep CFR and of NFSP on flop hold'em, in thousandths of a big blind per game, as published."""


def spec(name: str) -> dict[str, Any]:
    """Return the update rule of an ablation."""
    rule, settings, _ = ABLATIONS[name]
    return {"id": rule, **BASE, **settings}


def curve(game: str, rule: Mapping[str, Any], iterations: int, seed: int) -> list[Row]:
    """Run a rule with external sampling, and return the points of its curve."""
    solver = Solver(load_game(game), rule, "external", seed=seed)
    points = solver.run(iterations=iterations).points
    return [
        {"iterations": point.iteration, "exploitability": point.exploitability, "seconds": point.cpu_seconds}
        for point in points
        if point.iteration
    ]


def flop(game: str, target: str) -> list[Row]:
    """Return the iterations and CPU seconds that exact passes need to reach a target, such as ``"37mbb"``."""
    result = Solver(load_game(game), "dcfr_plus").run(until=target)
    return [{"target": target, "iterations": result.iterations, "seconds": result.cpu_seconds}]


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one."""
    if quick:
        names = ("base", "fine-tuned", "uniform fallback")
        runs = [Case(f"leduc/{name}/0", partial(curve, "leduc", spec(name), 8, 0)) for name in names]
        return [*runs, Case("flop", partial(flop, "holdem(ranks=6,suits=2)", "1mbb"))]
    runs = [
        Case(f"{game}/{name}/{seed}", partial(curve, game, spec(name), ITERATIONS, seed))
        for game, seeds in GAMES.items()
        for name in (ABLATIONS if seeds > 1 else ("base", "unweighted", "fine-tuned", "width 16"))
        for seed in range(seeds)
    ]
    return [*runs, Case("flop", partial(flop, "flop_holdem", f"{DEEP_CFR}mbb"))]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of runs with networks, with columns for the fields of their cases' keys.

    The columns are ``game``, ``ablation`` and ``seed``. The exact run on flop hold'em is left out.
    """
    return with_fields(rows[rows["case"] != "flop"], "game", "ablation", "seed")


def last(rows: pd.DataFrame, value: str = "exploitability") -> dict[str, list[float]]:
    """Return a column's values at the ends of the runs on one game, in the order of seeds, keyed by ablation."""
    return {name: values for (name,), values in grouped(ends_of(rows, "ablation"), "ablation", value=value).items()}


def worse(name: str, ends: Mapping[str, Sequence[float]]) -> Ratio:
    """Return the ratio of an ablation's exploitability to the base's; for the small window, to the small reservoir's.

    Args:
        name: the ablation.
        ends: exploitabilities at the ends of the runs, in the order of seeds, keyed by ablation.
    """
    return Ratio.of(ends[name], ends["small reservoir" if name == "small window" else "base"])


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the source's claims about ablations, by runs on Leduc, and the library's own about flop hold'em."""
    runs = parsed(rows)
    ends = last(runs[runs["game"] == "leduc"])
    on_ablations = [
        Claim(
            f"On flop hold'em: {SAID[name]} ({name})",
            {"Leduc": Finding(getattr(worse(name, ends), verdict), len(ends[name]))},
            f"ratio {worse(name, ends)}",
            "Leduc for flop hold'em, and smaller networks",
        )
        for name, verdict in DIRECTIONS.items()
        if name in ends
    ]
    exact_run = rows[rows["case"] == "flop"].iloc[0]
    return [
        *on_ablations,
        Claim(
            "(not said there) Exact passes reach Deep CFR's 37 mbb/g within 60 CPU seconds",
            {"flop hold'em": Finding(verdict_of(exact_run["seconds"] < 60), 0)},
            f"{exact_run['seconds']:.3g} CPU seconds until {exact_run['target']}",
            NO_STAND_IN,
        ),
    ]


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    base = ", ".join(f"{name}={value!r}" for name, value in BASE.items())
    yield from (
        "The published ablations are on flop hold'em, with networks and walks that would not fit into an hour on two "
        f"cores. Here they are on Leduc: linear weights, external sampling, and the settings `{base}`. The base's "
        "networks are plain layers over information state tensors; the card network is that of the source's appendix "
        "C. A ratio above 1 means that a line ends higher than the base. Runs are paired by seed; intervals are "
        "Student's 95 % intervals.",
    )
    for number, (game, runs) in enumerate(parsed(rows).groupby("game", sort=False)):
        yield from ablations(str(game), runs, folder / f"deep-cfr-{number}.svg")
    exact_run = rows[rows["case"] == "flop"].iloc[0]
    target = str(exact_run["target"]).removesuffix("mbb")
    where = "a small hold'em" if quick else "flop hold'em"
    yield from (
        "",
        "## Flop hold'em, by exact passes",
        "",
        f"There Deep CFR reached {DEEP_CFR} mbb/g, and NFSP {NFSP}. On {where}, `dcfr_plus` by exact passes over the "
        f"public tree reaches {target} mbb/g after {exact_run['iterations']:,.0f} iterations, in "
        f"{exact_run['seconds']:.3g} CPU seconds on one core.",
    )


def ablations(game: str, rows: pd.DataFrame, picture: Path) -> Iterator[str]:
    """Yield the page's section on one game."""
    draw(rows, "iterations", "ablation", picture, game)
    ends = last(rows)
    seconds = last(rows, "seconds")
    uniform = Policy.uniform(load_game(game)).exploitability()
    yield from ("", f"## `{game}`", "", f"![Exploitability against iterations]({picture.name})", "")
    yield f"Exploitability after {rows['iterations'].max():,.0f} iterations; the uniform policy has {uniform:.3g}."
    yield ""
    lines = []
    for name, values in ends.items():
        ratio = "-" if name == "base" else worse(name, ends)
        *_, said = ABLATIONS[name]
        lines.append((name, interval(values), ratio, interval(seconds[name]), said))
    yield from table(("", "exploitability", "ratio to the base", "CPU seconds", "said of flop hold'em"), lines)
    if "small window" in ends:
        yield from ("", "The ratio of the small window is to the small reservoir.")


EXPERIMENT = Experiment(
    "deep-cfr", "Deep CFR: what its parts are worth",
    "Brown, Lerer, Gross and Sandholm, Deep counterfactual regret minimization, ICML 2019", cases, page, claims,
)  # fmt: skip
