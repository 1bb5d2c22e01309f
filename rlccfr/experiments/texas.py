"""Limit Texas hold'em in buckets: chance sampling, public chance sampling, exact passes, and matches.

The sources are Johanson, Bard, Lanctot, Gibson and Bowling (AAMAS 2012), Figures 3 and 4, and Brown, Lerer, Gross and
Sandholm (ICML 2019), Table 1. The tables of cards are computed when a game is first loaded; this takes about 12
CPU minutes for 8 buckets, and most of an hour for 12 buckets. They are kept in the user's cache folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.experiments.experiment import NO_STAND_IN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, cell, draw, ends_of, grouped, interval, table, verdict_of, with_fields
from rlccfr.games.names import load_game
from rlccfr.policies.matches import exact_match, played_match
from rlccfr.solver import Solver

GAME = "texas_holdem(buckets={})"
QUICK_GAME = "holdem(rounds=4,raises=2,ranks=5,suits=2,private=1,flop=1,buckets={})"

ALGORITHMS: dict[str, dict[str, Any]] = {
    "exact passes": {"sampler": "none"},
    "PCS": {"sampler": "public_chance"},
    "PCS, a row for each hand": {"sampler": "public_chance", "by_hand": True},
    "CS": {"sampler": "chance"},
}
"""Arguments of the solver for each curve; the rule is vanilla CFR, as in the source."""

TIMES = {5: (3.0, 10.0, 30.0, 60.0), 8: (10.0, 40.0, 160.0), 10: (40.0, 160.0), 12: (40.0, 160.0)}
"""For each number of buckets, the CPU seconds at which policies are evaluated."""

SEEDS = {5: 5, 8: 1, 10: 1, 12: 1}
"""For each number of buckets, the number of seeds of an algorithm that draws at random."""

RULES = {
    5: [
        *((rule, "none") for rule in ("cfr", "cfr_plus", "lcfr", "dcfr", "dcfr_plus")),
        *((rule, "none") for rule in ("pcfr_plus", "hs_pcfr_plus", "momentum_dcfr")),
        *((rule, "public_chance") for rule in ("lcfr", "dcfr", "cfr_plus")),
    ],
    8: [("dcfr_plus", "none"), ("dcfr", "none"), ("lcfr", "public_chance"), ("dcfr", "public_chance")],
}
"""For each number of buckets, the rules and samplers that are compared; vanilla CFR with PCS is among the curves."""

RULE_TIMES = {5: (10.0, 60.0), 8: (40.0, 160.0)}

LONG_RULES = {
    5: [("dcfr", "none"), ("dcfr_plus", "none")],
    8: [("dcfr_plus", "none"), ("lcfr", "public_chance")],
}
"""For each number of buckets, the rules and samplers that also run for :data:`LONG_TIME`."""

LONG_TIME = 600.0
"""CPU seconds of the longer runs."""

FLOPS = 4
"""Number of flops on which opponents that see the cards respond to a policy; each takes about 200 CPU seconds."""

OPPONENTS = ((5, 3), (8, 5), (10, 8), (12, 10))
MATCH_SECONDS = 160.0
PAIRS = 20_000_000
"""Number of pairs of games in a match; the 95 % interval of the match is then within 1 mbb/g of its value."""


def curve(game: str, rule: str, options: dict[str, Any], times: tuple[float, ...], seed: int) -> list[Row]:
    """Run a solver, and return its exploitability, in thousandths of a big blind, after each number of CPU seconds.

    Args:
        game: the game's name.
        rule: the update rule.
        options: further arguments of the solver.
        times: CPU seconds at which to evaluate the average policy, ascending.
        seed: seed of the draws.
    """
    loaded = load_game(game)
    solver = Solver(loaded, rule, seed=seed, **options)
    rows: list[Row] = []
    for seconds in times:
        spent = rows[-1]["CPU seconds"] if rows else 0.0
        # The last iteration may have run past this time already, but a budget must be positive.
        result = solver.run(seconds=max(seconds - spent, 0.01), curve=False)
        rows.append(
            {
                "CPU seconds": result.cpu_seconds,
                "iterations": result.iterations,
                "exploitability": in_mbb(result.exploitability, loaded),
            }
        )
    return rows


def in_mbb(payoff: float, game: Any) -> float:
    """Return a payoff in thousandths of a big blind."""
    return 1000.0 * payoff / float(game.big_blind)


def match(name: str, first: int, second: int, seconds: float, pairs: int) -> list[Row]:
    """Solve a game with two numbers of buckets for the same CPU seconds, and let the policies play.

    Args:
        name: the game's name, with a place for the number of buckets.
        first, second: numbers of buckets.
        seconds: CPU seconds of each run of public chance sampling with linear weights.
        pairs: number of pairs of games.

    Returns:
        A row with the first policy's mean payoff, in mbb/g, and the half-width of its 95 % interval.
    """
    policies = []
    for buckets in (first, second):
        solver = Solver(load_game(name.format(buckets)), "lcfr", "public_chance")
        solver.run(seconds=seconds, curve=False)
        policies.append(solver.average_policy())
    own, other = policies
    game = own.game
    found = played_match(own, other, game, pairs)
    return [{"value": in_mbb(found.value, game), "error": in_mbb(found.error, game)}]


def exact(name: str, first: int, second: int, target: str) -> list[Row]:
    """Solve a game with two numbers of buckets by exact passes, and return the first policy's payoff, in mbb/g.

    Args:
        name: the game's name, with a place for the number of buckets.
        first, second: numbers of buckets.
        target: exploitability that both runs reach.
    """
    policies = []
    for buckets in (first, second):
        solver = Solver(load_game(name.format(buckets)), "dcfr_plus")
        solver.run(until=target, curve=False)
        policies.append(solver.average_policy())
    own, other = policies
    return [{"value": in_mbb(exact_match(own, other).value, own.game), "error": 0.0}]


def bound(game: str, target: str, flops: int, seed: int) -> list[Row]:
    """Solve a game by exact passes, and return what opponents that see the cards gain on each drawn flop, in mbb/g.

    Args:
        game: the game's name.
        target: exploitability that the run reaches.
        flops: number of flops.
        seed: seed of the flops.
    """
    loaded = load_game(game)
    solver = Solver(loaded, "dcfr_plus")
    solver.run(until=target, curve=False)
    policy: Any = solver.average_policy()
    return [{"value": in_mbb(gain, loaded)} for gain in policy.card_exploitability(flops, seed).gains]


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one; exact passes draw nothing at random, and have one seed."""
    name = QUICK_GAME if quick else GAME
    found = []
    for buckets, times in ({2: (0.1, 0.3), 3: (0.1, 0.3)} if quick else TIMES).items():
        for algorithm, options in ALGORITHMS.items():
            num_seeds = 1 if quick or algorithm == "exact passes" else SEEDS[buckets]
            for seed in range(num_seeds):
                measure = partial(curve, name.format(buckets), "cfr", options, times, seed)
                found.append(Case(f"curve/{buckets}/{algorithm}/{seed}", measure))
    for buckets, runs in ({2: RULES[5]} if quick else RULES).items():
        times = (0.1, 0.3) if quick else RULE_TIMES[buckets]
        for rule, sampler in runs:
            measure = partial(curve, name.format(buckets), rule, {"sampler": sampler}, times, 0)
            found.append(Case(f"rule/{buckets}/{rule} x {sampler}/0", measure))
    for buckets, runs in ({2: LONG_RULES[5]} if quick else LONG_RULES).items():
        times = (0.5,) if quick else (LONG_TIME,)
        for rule, sampler in runs:
            measure = partial(curve, name.format(buckets), rule, {"sampler": sampler}, times, 0)
            found.append(Case(f"long/{buckets}/{rule} x {sampler}/0", measure))
    found += [
        Case(
            f"match/{first}/{second}/0",
            partial(match, name, first, second, 0.1 if quick else MATCH_SECONDS, 1000 if quick else PAIRS),
        )
        for first, second in ([(3, 2)] if quick else OPPONENTS)
    ]
    first, second = (3, 2) if quick else OPPONENTS[0]
    found.append(Case(f"exact/{first}/{second}/0", partial(exact, name, first, second, "20mbb" if quick else "2mbb")))
    measure = partial(bound, name.format(first), "20mbb" if quick else "2mbb", 2 if quick else FLOPS, 0)
    found.append(Case(f"bound/{first}/flops/0", measure))
    return found


def parsed(rows: pd.DataFrame, part: str) -> pd.DataFrame:
    """Return the rows of one part of the experiment, with columns for the fields of their cases' keys.

    The columns are ``part``, ``first``, ``second`` and ``seed``; ``first`` is a number of buckets.
    """
    return with_fields(rows[rows["case"].str.startswith(f"{part}/")], "part", "first", "second", "seed")


def finding(ratio: Ratio, seeds: int) -> Finding:
    """Return the verdict on the claim that a ratio is above 1; with one seed, the ratio itself decides."""
    return Finding(ratio.above_one if seeds > 1 else verdict_of(ratio.mean > 1), seeds)


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the sources' claims by the ends of the runs."""
    reached = grouped(ends_of(parsed(rows, "curve"), "first", "second"), "first", "second")
    numbers = list(dict.fromkeys(number for number, _ in reached))
    forms = {"a row for each bucket history": "PCS", "a row for each hand": "PCS, a row for each hand"}
    seeds = {number: len(reached[number, "PCS"]) for number in numbers}
    # The ratio of CS's exploitability to PCS's, and its inverse.
    faster = {
        (number, form): Ratio.of(reached[number, "CS"], reached[number, name])
        for number in numbers
        for form, name in forms.items()
    }
    smallest, *larger = numbers
    slower = {form: Ratio.of(reached[smallest, name], reached[smallest, "CS"]) for form, name in forms.items()}
    won = {
        f"{row['first']} against {row['second']} buckets": (row["value"] - row["error"], row["value"], row["error"])
        for row in parsed(rows, "match").to_dict("records")
    }
    return [
        Claim(
            "CS converges more quickly than PCS in the smallest abstraction of limit Texas hold'em (Figure 3a)",
            {f"{smallest} buckets, {form}": finding(ratio, seeds[smallest]) for form, ratio in slower.items()},
            "ratio of PCS's exploitability to CS's: " + "; ".join(f"{form}: {ratio}" for form, ratio in slower.items()),
            NO_STAND_IN,
        ),
        Claim(
            "PCS converges more quickly than CS in the larger abstractions (Figures 3b to 3d)",
            {
                f"{number} buckets, {form}": finding(ratio, seeds[number])
                for (number, form), ratio in faster.items()
                if number in larger
            },
            "ratio of CS's exploitability to PCS's: "
            + "; ".join(
                f"{number} buckets, {form}: {ratio}" for (number, form), ratio in faster.items() if number in larger
            ),
            NO_STAND_IN,
        ),
        Claim(
            "In head-to-head play, the finer abstraction wins (Figure 4; Table 1 of Brown et al., ICML 2019)",
            {pair: Finding(verdict_of(low > 0), 1) for pair, (low, _, _) in won.items()},
            "mbb/g: " + "; ".join(f"{pair}: {value:.3g} ± {error:.2g}" for pair, (_, value, error) in won.items()),
            "public chance sampling with linear weights for the sources' solvers, other numbers of buckets",
        ),
    ]


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    yield from (
        "Limit Texas hold'em has four rounds. In each round, the hands of a bucket are split into n buckets by their "
        "E[HS²], and players remember their earlier buckets, as in the source. Chance sampling "
        "(CS) draws both hands and the board; public chance sampling (PCS) draws the board. The source passes over all "
        "hands on the board. This library passes over their bucket histories, which makes the same updates by fewer "
        "operations; both are shown. Exact passes draw nothing. The rule is `cfr`, on one thread.",
        "",
        "Exploitability is that of the average policy in the abstract game, in thousandths of a big blind per game "
        "(mbb/g). It is exact; of several seeds, it is the geometric mean. Times are in engine CPU seconds, without "
        "those of tables and of evaluations; where an iteration took much longer than a column says, its time is in "
        "brackets. The paper's figures are plots without printed values, so only their order is compared.",
    )
    for number, (buckets, curves) in enumerate(parsed(rows, "curve").groupby("first", sort=False)):
        picture = f"texas-{number}.svg"
        draw(curves, "CPU seconds", "second", folder / picture, f"{buckets} buckets, in mbb/g")
        yield from ("", f"## {buckets} buckets", "", f"![Exploitability against CPU seconds]({picture})", "")
        yield from by_time(curves, "second")
    yield from ("", "## Which rule", "", "The sampler `none` stands for exact passes.")
    for buckets, runs in parsed(rows, "rule").groupby("first", sort=False):
        yield from ("", f"With {buckets} buckets:", "")
        yield from by_time(runs, "second")
    for buckets, runs in parsed(rows, "long").groupby("first", sort=False):
        yield from ("", f"With {buckets} buckets, the foremost in a longer run:", "")
        yield from by_time(runs, "second")
    yield from (
        "",
        "## Head to head",
        "",
        "Both policies of a row were solved for the same CPU seconds by public chance sampling with linear weights "
        "(`lcfr`), after which a finer abstraction is further from its equilibrium. Every deal is played twice, with "
        "seats exchanged; the interval is one of 95 %. The last row has "
        "policies of exact passes by `dcfr_plus`, and its value is exact.",
        "",
    )
    played = pd.concat([parsed(rows, "match"), parsed(rows, "exact")])
    yield from table(
        ("buckets", "against", "mbb/g"),
        [
            (
                row["first"],
                row["second"],
                f"{row['value']:.3g} ± {row['error']:.2g}" if row["error"] else f"{row['value']:.4g}, exact",
            )
            for row in played.to_dict("records")
        ],
    )
    bounds = parsed(rows, "bound")
    yield from (
        "",
        "## Opponents that see the cards",
        "",
        f"Against a policy of exact passes with {bounds['first'].iloc[0]} buckets, both players' best responses by "
        f"hand and board were found below {len(bounds)} drawn flops; before the flop, they play the policy. On average "
        f"they gain {interval(bounds['value'])} mbb/g, with an interval of 95 %. The mean over all flops is a lower "
        "bound of the policy's exploitability in the game of cards.",
    )


LATE = 1.25
"""Ratio of a run's time to the time of a table's column above which the cell also gives the run's time."""


def by_time(rows: pd.DataFrame, column: str) -> Iterator[str]:
    """Yield a table of exploitabilities: a row for each algorithm, a column for each time.

    Args:
        rows: points of runs; all runs have the same number of points.
        column: the column with the algorithm.
    """
    rows = rows.copy()
    # The k-th points of all runs share a column, although iterations end at slightly different times.
    rows["place"] = rows.groupby("case").cumcount()
    seconds = rows.groupby("place")["CPU seconds"].median()
    by_place = [rows[column], rows["place"]]
    means = np.exp(np.log(rows["exploitability"]).groupby(by_place, sort=False).mean()).unstack()
    spent = rows["CPU seconds"].groupby(by_place, sort=False).mean().unstack()
    iterations = rows.groupby("case").tail(1).groupby(column)["iterations"].mean()
    best = means.min().tolist()
    yield from table(
        ("", *(f"{time:.3g} s" for time in seconds), "iterations"),
        [
            (name, *map(timed, means.loc[name], best, spent.loc[name], seconds), f"{iterations[name]:,.0f}")
            for name in means.index.tolist()
        ],
    )


def timed(value: float, best: float, spent: float, seconds: float) -> str:
    """Return a cell of a table whose columns are times; the run's time follows in brackets if it is much longer."""
    return cell(value, best) + (f" ({spent:,.0f} s)" if spent > LATE * seconds else "")


EXPERIMENT = Experiment(
    "texas", "Limit Texas hold'em in buckets",
    "Johanson, Bard, Lanctot, Gibson and Bowling, Efficient Nash equilibrium approximation through Monte Carlo "
    "counterfactual regret minimization, AAMAS 2012 (Figures 3 and 4); Brown, Lerer, Gross and Sandholm, Deep "
    "counterfactual regret minimization, ICML 2019 (Table 1)",
    cases, page, claims,
)  # fmt: skip
