"""Sampling of single paths: the variance of its estimates, and the effect of baselines (ESCHER, DREAM, VR-MCCFR)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from rlccfr.catalog.network_settings import network_settings
from rlccfr.components import Sampler
from rlccfr.experiments.experiment import NO_STAND_IN, OPEN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import MUCH, Ratio, draw, ends_of, grouped, interval, table
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
"""Samplers, keyed by their kind of baselines."""

SAMPLED = {
    "outcome sampling": ("cfr", "outcome"),
    "baselines of histories": ("cfr", "variance_reduced(key='history')"),
    "ESCHER, table": ("cfr", "escher"),
    "ESCHER, network": ("cfr", "escher(value='network')"),
    "DREAM's baselines": ("cfr", "dream"),
}
"""Plain CFR's update rule and samplers, keyed by the names of their curves."""

DEEP = {
    "outcome sampling": ("deep_lcfr", "outcome"),
    "DREAM": ("deep_lcfr", "dream"),
    "Deep ESCHER": ("deep_lcfr", "escher(value='network')"),
}
"""A deep update rule and samplers, keyed by the names of their curves."""

ITERATIONS = 100
"""Number of iterations after which variances are estimated."""

PLUS_ITERATIONS = 100_000
"""Number of iterations after which CFR+ is compared with CFR."""

QUICK_ITERATIONS = 20
"""As :data:`ITERATIONS`, in a quick run."""

QUICK_PLUS_ITERATIONS = 5_000
"""As :data:`PLUS_ITERATIONS`, in a quick run."""

QUICK_PRESET = "sweep"
"""Named settings of networks in a quick run."""

VARIANCE_WALKS = 20_000
"""Number of walks of each player from which a variance is estimated."""

SCHMID = ("histories", "sequences")
"""Kinds of baselines with which CFR+ is judged; the first kind is that of Schmid et al."""

STAND_IN = "Battleship 2x2 for Battleship; Dark Hex 2x2 for Dark Hex 4 and 5 and Phantom tic-tac-toe"
SOURCE = (
    "McAleer, Farina, Lanctot and Sandholm, ESCHER, ICLR 2023; Steinberger, Lerer and Brown, DREAM, 2020; Schmid, "
    "Burch, Lanctot, Moravcik, Kadlec and Bowling, Variance reduction in Monte Carlo CFR using baselines, AAAI 2019"
)
WALKS = network_settings("fast").traversals
"""Number of walks of each player in an iteration."""

SCALES = {"weighted": True, "not weighted": False}
"""Whether estimates of each kind are divided by the probability of the traverser's draws; this decides their scale."""

KINDS = {
    "ESCHER": "not weighted",
    "ablation 1": "not weighted",
    "ablation 2": "weighted",
    "DREAM": "weighted",
    "outcome sampling": "weighted",
}
"""Kind of the estimates of each of :data:`ESTIMATORS`: a key of :data:`SCALES`."""

BATCH = 200
"""Number of walks whose estimates are in memory at once."""


def estimator(name: str, preset: str) -> Sampler:
    """Return the sampler of one of :data:`ESTIMATORS`; ``preset`` names the settings of the sampler's networks."""
    if name == "outcome sampling":
        return samplers.resolve("outcome")
    if name in ("DREAM", "ablation 1"):
        dream = samplers.resolve({"id": "dream", "preset": preset})
        if name == "DREAM":
            return dream
        # Ablation 1 has a fixed sampling policy, and its estimates are not divided by that policy's reach.
        return replace(dream, exploration=1.0, explores="sequences", weighted=False, id="")
    return samplers.resolve({"id": "escher", "value": "network", "preset": preset, "weighted": name == "ablation 2"})


def variance(game: str, name: str, seed: int, iterations: int, walks: int, preset: str) -> list[Row]:
    """Return the mean variance of an estimator's regrets at visited infosets, after a run of CFR with this estimator.

    Args:
        game: name of the game.
        name: one of :data:`ESTIMATORS`.
        seed: seed of the run, and of the walks.
        iterations: number of iterations before the variance is estimated.
        walks: number of walks of each player from which the variance is estimated.
        preset: named settings of networks.
    """
    tree = load_game(game)
    sampler = estimator(name, preset)
    # A sampler with a network makes as many walks per iteration as its preset says; the others are given that number.
    walks_per_iteration = network_settings(preset).traversals
    solver = Solver(tree, "cfr", sampler, seed=seed, walks=walks_per_iteration if sampler.network is None else 1)
    solver.run(iterations=iterations, curve=False)

    # From here on the policies and networks are fixed. Each batch holds the estimates of single walks.
    num_actions = np.diff(tree.view.first_sequence)
    visits = np.zeros(tree.num_infosets)
    sums = np.zeros(tree.num_sequences)
    squares = np.zeros(tree.num_sequences)
    for player in (0, 1):
        for batch in range(walks // BATCH):
            estimates = Estimates.now(solver, player, batches=BATCH, walks=1, seed=seed * 1_000_003 + batch)
            visits += (estimates.mass > 0).sum(0)
            sums += estimates.regrets.sum(0)
            squares += (estimates.regrets**2).sum(0)

    # A variance needs two visits. Only walks that visit an infoset count; in the others, its regrets are 0.
    visited_often = visits > 1
    count = np.repeat(np.where(visited_often, visits, 2.0), num_actions)
    per_sequence = (squares - sums**2 / count) / (count - 1)
    per_sequence = np.maximum(per_sequence, np.finfo(float).eps * squares / count)  # rounding may make it negative
    # The mean over the actions of an infoset, and then over all visits.
    per_infoset = np.add.reduceat(per_sequence, tree.view.first_sequence[:-1]) / num_actions
    return [{"variance": float(np.average(per_infoset[visited_often], weights=visits[visited_often]))}]


def scale(game: str, weighted: bool) -> list[Row]:
    """Return the mean square of the regrets that walks estimate with exact values under the uniform policy.

    Args:
        game: name of the game.
        weighted: whether estimates are divided by the probability of the traverser's draws.
    """
    tree = load_game(game)
    sampler = samplers.resolve({"id": "escher", "value": "oracle", "weighted": weighted})
    solver = Solver(tree, "cfr", sampler, seed=0)
    squares = 0.0
    count = 0
    for player in (0, 1):
        estimates = Estimates.now(solver, player, batches=BATCH, walks=1)
        squares += float((estimates.regrets**2).sum())
        # Only visited infosets count: at all others, a walk's regrets are 0.
        count += int(np.repeat(estimates.mass > 0, np.diff(tree.view.first_sequence), axis=1).sum())
    return [{"square": squares / count}]


def reached(rule: str, sampler: str, iterations: int, seed: int) -> list[Row]:
    """Return the exploitability of a run on Leduc after a number of iterations."""
    solver = Solver(load_game("leduc"), rule, sampler, seed=seed)
    return [{"exploitability": solver.run(iterations=iterations, curve=False).exploitability}]


def curve(rule: str, sampler: str, nodes: int, seed: int) -> list[Row]:
    """Return the points of an algorithm's curve on Leduc, from 1,000 touched histories on.

    All samplers make the same number of walks per iteration.
    """
    # A rule or sampler that fits a model takes the number of walks per iteration from its settings.
    fits_models = rule != "cfr" or samplers.resolve(sampler).learns
    solver = Solver(load_game("leduc"), rule, sampler, seed=seed, walks=1 if fits_models else WALKS)
    solver.run(nodes=nodes)
    return [
        {"histories": point.nodes, "exploitability": point.exploitability, "seconds": point.cpu_seconds}
        for point in solver.points
        if point.nodes >= 1_000
    ]


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one."""
    games = list(GAMES)[:1] + list(GAMES)[-1:] if quick else list(GAMES)
    seeds, iterations, walks, preset = (
        (1, QUICK_ITERATIONS, 2_000, QUICK_PRESET) if quick else (3, ITERATIONS, VARIANCE_WALKS, "fast")
    )
    # Variances of all estimators, and the scale of the estimates, which bounds their rounding errors.
    all_cases = [
        Case(f"variance/{game}/{name}/{seed}", partial(variance, GAMES[game], name, seed, iterations, walks, preset))
        for game in games
        for name in ESTIMATORS
        for seed in range(seeds)
    ]
    all_cases += [
        Case(f"scale/{game}/{kind}/0", partial(scale, GAMES[game], weighted))
        for game in games
        for kind, weighted in SCALES.items()
    ]
    # Whether baselines make CFR+ usable under sampling.
    plus_iterations = QUICK_PLUS_ITERATIONS if quick else PLUS_ITERATIONS
    all_cases += [
        Case(f"plus/{name}/{rule}/{seed}", partial(reached, rule, sampler, plus_iterations, seed))
        for name, sampler in BASELINES.items()
        for rule in ("cfr", "cfr_plus")
        for seed in range(2 if quick else 10)
    ]
    # Convergence, with values of histories from tables and from networks.
    for kind, algorithms in (("tables", SAMPLED), ("networks", DEEP)):
        all_cases += [
            Case(f"{kind}/{name}/{seed}", partial(curve, *algorithm, 200_000 if quick else 20_000_000, seed))
            for name, algorithm in algorithms.items()
            for seed in range(1 if quick else 3)
        ]
    return all_cases


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    rows = parsed(rows)
    yield from variances(rows[rows["part"].isin(["variance", "scale"])], quick)
    yield from plus(rows[rows["part"] == "plus"], quick)
    uniform = Policy.uniform(load_game("leduc")).exploitability()
    for kind, text in (("tables", "plain CFR"), ("networks", "deep rules, with the settings `fast`")):
        curves = rows[rows["part"] == kind].rename(columns={"name": "sampler"})
        draw(curves, "histories", "sampler", folder / f"escher-{kind}.svg", f"Leduc, {text}")
        yield from ("", f"## Leduc, {text}", "", f"![Exploitability against histories](escher-{kind}.svg)", "")
        yield (
            f"Exploitability at the end of the runs, with {WALKS} walks per player in each iteration; the uniform "
            f"policy has {uniform:.3g}. With networks, the averages of tabular rules use the policies' exact reach, "
            "and passes that carry values up the tree count as histories."
        )
        yield ""
        ends = ends_of(curves, "sampler")
        seconds = grouped(ends, "sampler", value="seconds")
        lines = [
            (name, interval(values), interval(seconds[name,])) for (name,), values in grouped(ends, "sampler").items()
        ]
        yield from table(("sampler", "exploitability", "CPU seconds"), lines)


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the fields of their cases' keys: ``part``, ``name``, ``other`` and ``seed``.

    If a key has only three fields, ``other`` is empty.
    """
    keys = []
    for key in rows["case"].str.split("/"):
        *fields, seed = key
        keys.append((*fields, *[""] * (3 - len(fields)), seed))
    columns = zip(*keys, strict=True)
    return rows.assign(**dict(zip(("part", "name", "other", "seed"), columns, strict=True)))


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the sources' claims by the rows of a full run."""
    rows = parsed(rows)
    plus_rows = rows[rows["part"] == "plus"]
    ratios = plus_ratios(plus_rows)
    seeds = {name: len(values) for (name, _), values in grouped(plus_rows, "name", "other").items()}
    return [
        variance_claim(rows, "DREAM", "ESCHER's estimates vary less than DREAM's by orders of magnitude", MUCH),
        variance_claim(rows, "ablation 1", "Ablation 1 varies more than ESCHER", 1.0),
        variance_claim(rows, "ablation 2", "Ablation 2 varies more than ESCHER", 1.0),
        Claim(
            "With baselines, CFR+ beats CFR under sampling",
            {f"Leduc (baselines of {kind})": Finding(ratios[kind].below_one, seeds[kind]) for kind in SCHMID},
            ", ".join(f"ratio {ratios[kind]} with baselines of {kind}" for kind in SCHMID),
            "baselines of sequences are this library's",
        ),
        Claim(
            "Without baselines, CFR beats CFR+",
            {"Leduc": Finding(ratios["none"].above_one, seeds["none"])},
            f"ratio {ratios['none']}",
            NO_STAND_IN,
        ),
    ]


class Beside(NamedTuple):
    """ESCHER's variance compared with another estimator's, on one game.

    Attributes:
        ratio: mean ratio of ESCHER's variance to the other's, paired by seed; an upper bound if ESCHER's variance is
            no larger than its rounding error.
        zero: whether ESCHER's variance is no larger than its rounding error, for every seed.
        both_zero: whether both variances are no larger than their rounding errors, for every seed.
    """

    ratio: Ratio
    zero: bool
    both_zero: bool

    def __str__(self) -> str:
        if self.both_zero:
            return "both 0 up to rounding"
        return "ESCHER's 0 up to rounding" if self.zero else str(self.ratio)


def variance_claim(rows: pd.DataFrame, rival: str, said: str, bound: float) -> Claim:
    """Judge, game by game, whether the ratio of ESCHER's variance to another estimator's is below a bound."""
    comparisons = beside(rows, rival)
    findings = {}
    for game, comparison in comparisons.items():
        seeds = rows.loc[(rows["part"] == "variance") & (rows["name"] == game), "seed"].nunique()
        findings[game] = Finding(OPEN if comparison.both_zero else comparison.ratio.below(bound), seeds)
    figures = ", ".join(f"{comparison} on {game}" for game, comparison in comparisons.items())
    return Claim(said, findings, f"ratio of ESCHER's variance to that of {rival}: {figures}", STAND_IN)


def beside(rows: pd.DataFrame, rival: str) -> dict[str, Beside]:
    """Return, by game, the comparison of ESCHER's variance with another estimator's.

    A variance that is no larger than its rounding error may really be 0, and is replaced by the rounding error. If
    ESCHER's variance is that small, the ratio is therefore an upper bound. If both variances are that small for a seed,
    this seed's ratio is 1.
    """
    spreads = grouped(rows[rows["part"] == "variance"], "name", "other", value="variance")
    errors = rounding(rows)
    comparisons = {}
    for game in dict.fromkeys(game for game, _ in spreads):
        # Variances, one per seed, and the bounds on their rounding errors.
        escher = np.array(spreads[game, "ESCHER"])
        escher_error = errors[game, KINDS["ESCHER"]]
        rivals = np.array(spreads[game, rival])
        rival_error = errors[game, KINDS[rival]]
        zero = escher <= escher_error
        both_zero = zero & (rivals <= rival_error)
        ratio = Ratio.of(
            np.where(both_zero, 1.0, np.maximum(escher, escher_error)),
            np.where(both_zero, 1.0, np.maximum(rivals, rival_error)),
        )
        comparisons[game] = Beside(ratio, bool(zero.all()), bool(both_zero.all()))
    return comparisons


def rounding(rows: pd.DataFrame) -> dict[tuple[str, ...], float]:
    """Return a bound on the rounding error of a variance, by game and kind of estimates.

    The relative error of a sum of n squares in double precision is at most n times the machine epsilon.
    """
    scales = rows[rows["part"] == "scale"]
    errors = scales.assign(error=np.finfo(float).eps * VARIANCE_WALKS * scales["square"])
    return {key: value for key, (value,) in grouped(errors, "name", "other", value="error").items()}


def plus_ratios(rows: pd.DataFrame) -> dict[str, Ratio]:
    """Return the ratio of CFR+'s exploitability to CFR's for each kind of baselines."""
    reached_by = grouped(rows, "name", "other")
    return {
        name: Ratio.of(reached_by[name, "cfr_plus"], values)
        for (name, rule), values in reached_by.items()
        if rule == "cfr"
    }


def variances(rows: pd.DataFrame, quick: bool) -> Iterator[str]:
    """Yield the page's section on the variance of estimates."""
    iterations, preset = (QUICK_ITERATIONS, QUICK_PRESET) if quick else (ITERATIONS, "fast")
    walks = network_settings(preset).traversals
    yield from (
        "## Variance of the estimates",
        "",
        "These are the regrets that single walks estimate, at the infosets that a walk visits: their variance, as the "
        "mean over actions and over visits. Policies and networks are those that CFR with the same estimator has "
        f"reached: {iterations} iterations of {walks} walks a player, with the network settings `{preset}`. DREAM's "
        "network gives baselines; ESCHER's gives the values themselves. Ablation 1 is DREAM's estimate times the reach "
        "of the fixed sampling policy, ablation 2 is ESCHER's divided by it. The published figures are those of "
        "McAleer et al. (ICLR 2023). Their definition was not available, so only orders of magnitude and the order of "
        "the estimators can be compared. If all walks give the same estimate, the figure is rounding error, written as "
        "0: it is no larger than the machine epsilon times the number of walks times the mean square of the same kind "
        "of estimate with exact values under the uniform policy. "
        "Phantom tic-tac-toe and Dark Hex 4 and 5 are too large for a compiled tree.",
        "",
    )
    # A variance that is no larger than its rounding error is shown as 0.
    spreads = rows[rows["part"] == "variance"]
    errors = rounding(rows)
    rounding_errors = [
        errors[str(game), KINDS[str(name)]] for game, name in spreads[["name", "other"]].itertuples(index=False)
    ]
    rounded = spreads.assign(variance=spreads["variance"].where(spreads["variance"] > rounding_errors, 0.0))
    by_game = grouped(rounded, "name", "other", value="variance")
    lines: list[tuple[str, ...]] = [
        (f"{game}, here", *(interval(by_game[game, name]) for name in ESTIMATORS))
        for game in dict.fromkeys(game for game, _ in by_game)
    ]
    lines += [(f"{game}, published", *values) for game, values in PUBLISHED.items()]
    yield from table(("game", *ESTIMATORS), lines)


def plus(rows: pd.DataFrame, quick: bool) -> Iterator[str]:
    """Yield the page's section on CFR+ under sampling."""
    iterations = QUICK_PLUS_ITERATIONS if quick else PLUS_ITERATIONS
    yield from (
        "",
        "## CFR+ with baselines",
        "",
        f"Exploitability on Leduc after {iterations:,} iterations of one walk a player, over the same seeds. Schmid et "
        "al. (AAAI 2019) say that baselines allow CFR+ to be used with sampling. A ratio below 1 means that CFR+ is "
        "better.",
        "",
    )
    reached_by = grouped(rows, "name", "other")
    lines = [
        (name, interval(reached_by[name, "cfr"]), interval(reached_by[name, "cfr_plus"]), ratio)
        for name, ratio in plus_ratios(rows).items()
    ]
    yield from table(("baselines of", "cfr", "cfr_plus", "ratio"), lines)


EXPERIMENT = Experiment("escher", "One path: variance, baselines and values of histories", SOURCE, cases, page, claims)
