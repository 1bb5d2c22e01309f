"""Sampling one path: variance of its estimates, and what baselines are worth (ESCHER, DREAM, VR-MCCFR)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from rlccfr.catalog.network_settings import network_settings
from rlccfr.components import Sampler
from rlccfr.experiments.experiment import Case, Claim, Experiment, Row
from rlccfr.experiments.pages import MUCH, Ratio, all_of, draw, ends_of, grouped, interval, table
from rlccfr.games.names import load_game
from rlccfr.policy import Policy
from rlccfr.registry import samplers
from rlccfr.solver import Solver
from rlccfr.testing.estimates import Estimates

GAMES = {
    "Leduc": "leduc",
    "Liar's dice": "liars_dice(numdice=1,dice_sides=6,bidding_rule=reset-face)",
    "Battleship 2x2": "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2],num_shots=3)",
    "Dark Hex 2x2": "dark_hex(board_size=2)",
}
ESTIMATORS = ("ESCHER", "ablation 1", "ablation 2", "DREAM", "outcome sampling")
PUBLISHED = {
    "Leduc": ("5.3", "-", "330", "280", "2,200"),
    "Battleship": ("1.4", "-", "710", "1,200", "2,400"),
    "Liar's dice": (".90", "-", "78", "400", "1,200"),
    "Phantom tic-tac-toe": (".26", "41", "1.4e7", "4.6e7", "-"),
    "Dark Hex 4": (".18", "130", "3.1e8", "2.8e8", "-"),
    "Dark Hex 5": (".13", "330", "2.0e5", "5.3e8", "-"),
}
"""Variances that McAleer et al. (ICLR 2023) print, in the order of :data:`ESTIMATORS`."""

BASELINES = {
    "none": "outcome",
    "sequences": "variance_reduced",
    "histories": "variance_reduced(key='history')",
}
SAMPLED = {
    "outcome sampling": ("cfr", "outcome"),
    "baselines of histories": ("cfr", "variance_reduced(key='history')"),
    "ESCHER, table": ("cfr", "escher"),
    "ESCHER, network": ("cfr", "escher(value='network')"),
    "DREAM's baselines": ("cfr", "dream"),
}
DEEP = {
    "outcome sampling": ("deep_lcfr", "outcome"),
    "DREAM": ("deep_lcfr", "dream"),
    "Deep ESCHER": ("deep_lcfr", "escher(value='network')"),
}
ITERATIONS, PLUS_ITERATIONS = 100, 100_000
SOURCE = (
    "McAleer, Farina, Lanctot and Sandholm, ESCHER, ICLR 2023; Steinberger, Lerer and Brown, DREAM, 2020; Schmid, "
    "Burch, Lanctot, Moravcik, Kadlec and Bowling, Variance reduction in Monte Carlo CFR using baselines, AAAI 2019"
)
WALKS = network_settings("fast").traversals
BATCH = 200
"""Number of walks whose estimates are held at once."""


def estimator(name: str, preset: str) -> Sampler:
    """Return the sampler of one of :data:`ESTIMATORS`, with network settings by name."""
    if name == "outcome sampling":
        return samplers.resolve("outcome")
    if name in ("DREAM", "ablation 1"):
        made = samplers.resolve({"id": "dream", "preset": preset})
        return made if name == "DREAM" else replace(made, exploration=1.0, explores="sequences", weighted=False, id="")
    return samplers.resolve({"id": "escher", "value": "network", "preset": preset, "weighted": name == "ablation 2"})


def variance(game: str, name: str, seed: int, iterations: int, walks: int, preset: str) -> list[Row]:
    """Return the mean variance of an estimator's regrets at infosets visited, after iterations of CFR with it."""
    tree, sampler = load_game(game), estimator(name, preset)
    walks_each = network_settings(preset).traversals  # as many as samplers with a network have
    solver = Solver(tree, "cfr", sampler, seed=seed, walks=walks_each if sampler.network is None else 1)
    solver.run(iterations=iterations, curve=False)
    actions = np.diff(tree.view.first_sequence)
    visits, sums, squares = (np.zeros(size) for size in (tree.num_infosets, tree.num_sequences, tree.num_sequences))
    for player in (0, 1):
        for batch in range(walks // BATCH):
            found = Estimates.now(solver, player, batches=BATCH, walks=1, seed=seed * 1_000_003 + batch)
            visits += (found.mass > 0).sum(0)
            sums += found.regrets.sum(0)
            squares += (found.regrets**2).sum(0)
    often = visits > 1
    each = np.repeat(np.where(often, visits, 2.0), actions)
    spread = (squares - sums**2 / each) / (each - 1)  # of visits alone: elsewhere the regrets are 0
    spread = np.maximum(spread, np.finfo(float).eps * squares / each)  # rounding alone may make it negative
    parts = np.add.reduceat(spread, tree.view.first_sequence[:-1]) / actions
    return [{"variance": float(np.average(parts[often], weights=visits[often]))}]


def reached(rule: str, sampler: str, iterations: int, seed: int) -> list[Row]:
    """Return the exploitability of a run on Leduc."""
    solver = Solver(load_game("leduc"), rule, sampler, seed=seed)
    return [{"exploitability": solver.run(iterations=iterations, curve=False).exploitability}]


def curve(rule: str, sampler: str, nodes: int, seed: int) -> list[Row]:
    """Return the points of a run on Leduc whose numbers of histories touched are at least 1,000.

    All samplers make as many walks in an iteration.
    """
    models = rule != "cfr" or samplers.resolve(sampler).learns
    solver = Solver(load_game("leduc"), rule, sampler, seed=seed, walks=1 if models else WALKS)
    solver.run(nodes=nodes)
    return [
        {"histories": point.nodes, "exploitability": point.exploitability, "seconds": point.cpu_seconds}
        for point in solver.points
        if point.nodes >= 1_000
    ]


def cases(quick: bool) -> list[Case]:
    """Return all cases."""
    games = list(GAMES)[:1] + list(GAMES)[-1:] if quick else list(GAMES)
    seeds, iterations, walks, preset = (1, 20, 2_000, "sweep") if quick else (3, ITERATIONS, 20_000, "fast")
    found = [
        Case(f"variance/{game}/{name}/{seed}", partial(variance, GAMES[game], name, seed, iterations, walks, preset))
        for game in games
        for name in ESTIMATORS
        for seed in range(seeds)
    ]
    found += [
        Case(f"plus/{name}/{rule}/{seed}", partial(reached, rule, sampler, 5_000 if quick else PLUS_ITERATIONS, seed))
        for name, sampler in BASELINES.items()
        for rule in ("cfr", "cfr_plus")
        for seed in range(2 if quick else 10)
    ]
    for kind, algorithms in (("tables", SAMPLED), ("networks", DEEP)):
        found += [
            Case(f"{kind}/{name}/{seed}", partial(curve, *algorithm, 200_000 if quick else 20_000_000, seed))
            for name, algorithm in algorithms.items()
            for seed in range(1 if quick else 3)
        ]
    return found


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the page."""
    rows = parsed(rows)
    yield from variances(rows[rows["part"] == "variance"])
    yield from plus(rows[rows["part"] == "plus"])
    uniform = Policy.uniform(load_game("leduc")).exploitability()
    for part, text in (("tables", "plain CFR"), ("networks", "deep rules, with the settings `fast`")):
        own = rows[rows["part"] == part].rename(columns={"name": "sampler"})
        draw(own, "histories", "sampler", folder / f"escher-{part}.svg", f"Leduc, {text}")
        yield from ("", f"## Leduc, {text}", "", f"![Exploitability against histories](escher-{part}.svg)", "")
        yield (
            f"At the end of the runs, of {WALKS} walks a player in each iteration; the uniform policy has "
            f"{uniform:.3g}. With networks, the averages of tabular rules use the policies' exact reach, and passes "
            "that carry values up the tree count as histories."
        )
        yield ""
        last = ends_of(own, "sampler")
        seconds = grouped(last, "sampler", value="seconds")
        ends = [
            (name, interval(values), interval(seconds[name,])) for (name,), values in grouped(last, "sampler").items()
        ]
        yield from table(("sampler", "exploitability", "CPU seconds"), ends)


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the parts of the cases' keys: ``part``, ``name``, ``other`` (perhaps "") and ``seed``."""
    keys = [(*parts[:-1], *[""] * (4 - len(parts)), parts[-1]) for parts in rows["case"].str.split("/")]
    return rows.assign(**dict(zip(("part", "name", "other", "seed"), zip(*keys, strict=True), strict=True)))


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge what the sources say."""
    rows = parsed(rows)
    spreads = grouped(rows[rows["part"] == "variance"], "name", "other", value="variance")
    games = list(dict.fromkeys(game for game, _ in spreads))
    beside = {
        name: {game: Ratio.of(spreads[game, "ESCHER"], spreads[game, name]) for game in games}
        for name in ("DREAM", "ablation 1", "ablation 2")
    }
    ratios = plus_ratios(rows[rows["part"] == "plus"])
    return [
        Claim(
            "ESCHER's estimates vary less than DREAM's by orders of magnitude",
            all_of(one.below(MUCH) for one in beside["DREAM"].values()),
            "ratio: " + ", ".join(f"{one} on {game}" for game, one in beside["DREAM"].items()),
        ),
        *(
            Claim(
                f"{name.capitalize()} varies more than ESCHER",
                all_of(one.below_one for one in beside[name].values()),
                "ratio of ESCHER's variance to it: "
                + ", ".join(f"{one} on {game}" for game, one in beside[name].items()),
            )
            for name in ("ablation 1", "ablation 2")
        ),
        Claim(
            "With baselines, CFR+ beats CFR under sampling",
            ratios["histories"].below_one,
            f"ratio {ratios['histories']} with baselines of histories, {ratios['sequences']} with those of sequences",
        ),
        Claim("Without baselines, CFR beats CFR+", ratios["none"].above_one, f"ratio {ratios['none']}"),
    ]


def plus_ratios(rows: pd.DataFrame) -> dict[str, Ratio]:
    """Return the ratio of CFR+'s exploitability to CFR's for each kind of baselines."""
    found = grouped(rows, "name", "other")
    return {name: Ratio.of(found[name, "cfr_plus"], values) for (name, rule), values in found.items() if rule == "cfr"}


def variances(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the section on the variance of estimates."""
    yield from (
        "## Variance of the estimates",
        "",
        "These are the regrets that single walks estimate, at the infosets that a walk visits: their variance, as the "
        "mean over actions and over visits. Policies and networks are those that CFR with the same estimator has "
        f"reached: {ITERATIONS} iterations of {WALKS} walks a player, with the network settings `fast`. DREAM's "
        "network gives baselines; ESCHER's gives the values themselves. Ablation 1 is DREAM's estimate times the reach "
        "of the fixed sampling policy, ablation 2 is ESCHER's divided by it. The published figures are those of "
        "McAleer et al. (ICLR 2023). Their definition is not at hand, so that orders of magnitude can be compared, and "
        "the order of the estimators. If all walks give the same estimate, the figure is rounding error. "
        "Phantom tic-tac-toe and Dark Hex 4 and 5 are too large for a compiled tree.",
        "",
    )
    found = grouped(rows, "name", "other", value="variance")
    shown: list[tuple[str, ...]] = [
        (f"{game}, here", *(interval(found[game, name]) for name in ESTIMATORS))
        for game in dict.fromkeys(game for game, _ in found)
    ]
    shown += [(f"{game}, published", *values) for game, values in PUBLISHED.items()]
    yield from table(("game", *ESTIMATORS), shown)


def plus(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the section on CFR+ under sampling."""
    yield from (
        "",
        "## CFR+ with baselines",
        "",
        f"Exploitability on Leduc after {PLUS_ITERATIONS:,} iterations of one walk a player, over the same seeds. "
        "Schmid et al. (AAAI 2019) say that baselines are what lets CFR+ be used with sampling. A ratio below 1 means "
        "that CFR+ is better.",
        "",
    )
    found = grouped(rows, "name", "other")
    shown = [
        (name, *(interval(found[name, rule]) for rule in ("cfr", "cfr_plus")), times)
        for name, times in plus_ratios(rows).items()
    ]
    yield from table(("baselines of", "cfr", "cfr_plus", "ratio"), shown)


EXPERIMENT = Experiment("escher", "One path: variance, baselines and values of histories", SOURCE, cases, page, claims)
