"""Which update rule reaches targets soonest on a kind of games: ``python -m benchmarks.soonest_rules LIST``.

Each tabular rule that runs on a game runs there once by exact passes, until its average policy has reached the finest
target. The engine's CPU seconds to each target are read off the run's curve, with linear interpolation of logarithms
between its points; the time of measuring the curve is not counted. A run ends when it has taken longer than
:data:`LONGEST` times the soonest rule so far. The rules of :data:`FIRST` begin, so that this happens early. The command
prints a table in Markdown.

The lists are

- ``spots-train``, ``spots-validation`` and ``spots-test``: no-limit spots (:mod:`benchmarks.spots`);
- ``fine-spots-validation`` and ``fine-spots-test``: the smaller of these spots, with targets of up to six decades below
  the uniform policy's exploitability, as on other games;
- ``trees-validation`` and ``trees-test``: other public trees (:mod:`benchmarks.public_steering`);
- ``trees-larger`` and ``trees-largest``: larger validation trees, on which only the rules of :data:`FOR_LARGER` run,
  on the largest to targets of up to five decades;
- ``without-chance``: compiled games without chance (:mod:`benchmarks.default_laws`);
- ``validation``: the validation games with chance of :mod:`benchmarks.default`, but for the largest.

On all lists but the first three, which are older, the point of ``scheduled`` that the default runs to fine targets runs
as well (:mod:`benchmarks.points`). Rules are chosen by ``spots-train``, ``without-chance`` and the lists of validation
games, but for ``spots-validation``, which confirms a choice; the test lists judge it. Times are kept in
benchmarks/results/soonest-rules.parquet, and what is there is not measured again.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rlccfr
from benchmarks import spots
from benchmarks.control import fixed_rules
from benchmarks.default import games_of as validation_games
from benchmarks.default import load
from benchmarks.default_laws import WITHOUT_CHANCE
from benchmarks.markdown import table
from benchmarks.public_steering import LARGER_TREES, LARGEST_TREES, TREES
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.experiments.curves import with_horizon
from rlccfr.files import write_atomically
from rlccfr.games.target_runs import FINE_TARGETS_RULE
from rlccfr.limits import uniform_exploitability

FILE = Path(__file__).parent / "results" / "soonest-rules.parquet"

PER_CENT_OF_POT = (1.0, 0.5, 0.1, 0.02)
"""Targets on spots, the coarsest first."""

FINE_SPOTS = ("fine-spots-validation", "fine-spots-test")
"""Lists of spots with the targets of other games."""

MOST_FINE_ENTRIES = 100_000
"""Most entries of the tables of a spot in these lists."""

SHARES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Targets on other games: shares of the uniform policy's exploitability, the coarsest first."""

FIRST = ("dcfr", "momentum_dcfr", "pdcfr_plus")
"""Rules that run before the others."""

FURTHER_TREES = {"trees-larger": LARGER_TREES, "trees-largest": LARGEST_TREES}
"""Larger validation trees by list."""

FOR_LARGER = (FINE_TARGETS_RULE, "dcfr", "dcfr_plus")
"""Rules that run on the lists of larger trees, the first one first."""

HORIZON = 1000
"""Horizon of the rules that have one, in iterations."""

LONGEST = 3.0
"""Multiple of the soonest rule's time after which a run is stopped; larger ratios count as this."""

LIMIT = 120.0
"""Most engine CPU seconds of a run, until a rule has reached the finest target."""

LIMIT_OF_LARGEST = 300.0
"""The same on the list ``trees-largest``."""

LISTS = (
    *(f"spots-{split}" for split in spots.SPLITS),
    *FINE_SPOTS,
    *(f"trees-{split}" for split in TREES),
    *FURTHER_TREES,
    "without-chance",
    "validation",
)

LARGE, LARGEST = 10_000, 500_000
"""Numbers of histories from which a game of the list ``validation`` counts as large, and up to which games run."""


def games_of(name: str) -> list[dict[str, Any]]:
    """Return a row for each game of a list, small spots first: its group in the tables, and its name."""
    if name == "without-chance":
        return [{"group": "without chance", "game": game} for game in WITHOUT_CHANCE]
    if name in FURTHER_TREES:
        return [{"group": "larger trees", "game": game} for game in FURTHER_TREES[name]]
    if name.startswith("trees-"):
        return [{"group": "public trees", "game": game} for game in TREES[name.removeprefix("trees-")]]
    if name == "validation":
        games = [load(game) for game in validation_games("validation")]
        games = [game for game in games if game.num_histories <= LARGEST]
        with_chance = [game for game in games if game.num_chance_nodes > 0]
        return [
            {"group": "large" if game.num_histories >= LARGE else "small", "game": game.name} for game in with_chance
        ]
    rows = pd.read_csv(spots.FILE)
    if name in FINE_SPOTS:
        rows = rows[rows["entries"] <= MOST_FINE_ENTRIES]
    split = name.rpartition("-")[2]
    rows = rows[rows["split"] == split].rename(columns={"street": "group"}).sort_values("entries")
    return rows[["group", "game"]].to_dict("records")  # type: ignore[return-value]


def targets_of(game: Any, name: str) -> Mapping[float, float]:
    """Return a game's targets in its units, by their values in :data:`PER_CENT_OF_POT` or :data:`SHARES`.

    Args:
        game: the game.
        name: its list.
    """
    if game.pot is not None and name not in FINE_SPOTS:
        return {target: target / 100 * game.pot for target in PER_CENT_OF_POT}
    uniform = uniform_exploitability(game)
    shares = SHARES[:-1] if name == "trees-largest" else SHARES
    return {share: share * uniform for share in shares}


def seconds_to_targets(points: Sequence[Any], targets: Sequence[float]) -> Iterator[float]:
    """Yield the engine CPU seconds at which a curve reaches each target, infinite where it ends before.

    Args:
        points: the curve's points in the order of time.
        targets: in the game's units.
    """
    for target in targets:
        reached = [k for k, point in enumerate(points) if point.exploitability <= target]
        if not reached:
            yield math.inf
            continue
        after = points[reached[0]]
        before = points[reached[0] - 1] if reached[0] else after
        if before is after or before.cpu_seconds <= 0.0:
            yield after.cpu_seconds
            continue
        errors = np.log([max(after.exploitability, np.finfo(float).tiny), before.exploitability])
        times = np.log([after.cpu_seconds, before.cpu_seconds])
        yield float(np.exp(np.interp(math.log(target), errors, times)))


def rules_of(name: str) -> tuple[str, ...]:
    """Return the rules that run on the games of a list, in this order."""
    if name in FURTHER_TREES:
        return FOR_LARGER
    fixed = (*FIRST, *(rule for rule in fixed_rules() if rule not in FIRST))
    # The point was not known when rules were compared on these spots.
    return fixed if name.startswith("spots-") else (FINE_TARGETS_RULE, *fixed)


def measured(
    game: Any, targets: Mapping[float, float], rules: Sequence[str], limit: float = LIMIT
) -> Iterator[dict[str, Any]]:
    """Yield a row per rule and target: the engine CPU seconds to it, and the iterations of the whole run.

    Args:
        game: the game.
        targets: see :func:`targets_of`.
        rules: the rules, in the order in which they run.
        limit: most engine CPU seconds of a run, until a rule has reached the finest target.
    """
    for rule in rules:
        try:
            solver = rlccfr.Solver(game, with_horizon(rule, HORIZON))
        except rlccfr.ComponentError:
            continue
        result = solver.run(until=min(targets.values()), seconds=limit)
        if result.reached:
            limit = min(limit, LONGEST * result.cpu_seconds)
        seconds = seconds_to_targets(result.points, list(targets.values()))
        for target, found in zip(targets, seconds, strict=True):
            yield {"rule": rule, "target": target, "seconds": found, "iterations": result.iterations}


def recorded() -> pd.DataFrame:
    """Return the file's rows."""
    return pd.read_parquet(FILE) if FILE.exists() else pd.DataFrame(columns=["list", "game"])


def measure(name: str) -> pd.DataFrame:
    """Measure the games of a list that are not in the file yet; return the list's rows."""
    games = games_of(name)
    for rule in fixed_rules():  # loads the kernels
        try:
            rlccfr.Solver(rlccfr.load_game(games[0]["game"]), with_horizon(rule, 10)).run(iterations=2)
        except rlccfr.ComponentError:
            continue
    for about in games:
        before = recorded()
        if about["game"] in set(before[before["list"] == name]["game"]):
            continue
        game = load(about["game"])
        common = {"list": name, **about, "processor": processor_model()}
        limit = LIMIT_OF_LARGEST if name == "trees-largest" else LIMIT
        rows = pd.DataFrame([common | row for row in measured(game, targets_of(game, name), rules_of(name), limit)])
        rows = pd.concat([before, rows], ignore_index=True) if len(before) else rows
        write_atomically(FILE, rows.to_parquet(index=False))
        print(f"{name}, {about['group']}: {about['game'][:80]}", file=sys.stderr, flush=True)
    rows = recorded()
    return rows[rows["list"] == name]


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how many times as long as the soonest rule each rule takes, by group, game and target, a column each."""
    seconds = rows.pivot_table(index=["group", "game", "target"], columns="rule", values="seconds", dropna=False)
    seconds = seconds.fillna(math.inf)
    soonest = seconds.min(axis=1)
    # If no rule reached a target, none was sooner than another.
    known = seconds[np.isfinite(soonest)]
    return known.div(soonest[known.index], axis=0).clip(upper=LONGEST)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per rule, the soonest first: geometric means of :func:`ratios`, overall and by group and target."""
    logs = np.log(ratios(rows))
    groups = {f"{group}, {target:g}": part for (group, target), part in logs.groupby(["group", "target"])}
    means = pd.DataFrame({"all": logs.mean(), **{title: part.mean() for title, part in groups.items()}})
    means = np.exp(means).round(2).sort_values("all")
    means.insert(1, "worst", np.exp(logs.max()).round(2).reindex(means.index))
    return means.reset_index(names="rule")


def beside_dcfr(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per target and rule: its time as a multiple of DCFR's, as a geometric mean over games, and at most.

    Decision 55 (docs/adr) compares rules with DCFR, which had served such trees.
    """
    seconds = rows.pivot_table(index=["game", "target"], columns="rule", values="seconds")
    logs = np.log(seconds.div(seconds["dcfr"], axis=0).drop(columns="dcfr")).groupby("target")
    columns = {"mean": logs.mean(), "largest": logs.max()}
    return np.exp(pd.concat(columns, axis=1).stack("rule", future_stack=True)).round(2).reset_index()


def main() -> None:
    """Measure what is not measured yet, and print the list's table."""
    parser = argparse.ArgumentParser("python -m benchmarks.soonest_rules")
    parser.add_argument("list", choices=LISTS)
    name = parser.parse_args().list
    rows = measure(name)
    print("\n".join(table(summary(rows))))
    if name == "trees-largest":
        print("\nas a multiple of the time of dcfr:\n")
        print("\n".join(table(beside_dcfr(rows))))


if __name__ == "__main__":
    main()
