"""The controller beside fixed algorithms, on games never met: ``python -m benchmarks.control SPLIT HORIZON``.

For each game of a split (validation or test), every fixed algorithm runs as long as the controller does, in CPU seconds
with deciding and observing inside, and at least as many iterations. A row per contender and game goes to
benchmarks/results/control.csv; games that are there already, with the same controller, are not run again. Then the
table is printed.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rlccfr
from benchmarks import steering
from benchmarks.control_games import MOST_TEST
from rlccfr.agents.control.games import FILE as GAMES
from rlccfr.agents.control.games import control_games
from rlccfr.catalog.scheduled import controller_named
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.envs.control.run import ControlRun
from rlccfr.errors import RLCCFRError
from rlccfr.files import write_atomically
from rlccfr.kernels.layout import LEAST_ERROR
from rlccfr.registry import update_rules

FILE = Path(__file__).parent / "results" / "control.csv"
REPEATS = 3
"""Runs of which the shortest is taken as a contender's time, if a run takes less than a second."""

PROCESSES = 2
"""Number of games that are measured at a time."""

MOST_GREEDY = 200_000
"""Most histories of a game on which greedy choices are tried, which take 290 runs."""

BEST_POINT = f"best of {len(steering.POINTS)} points, in hindsight"
OURS, LAST, DRAWS = "controlled", "controlled, last average", 5
"""The contender that the others are compared with, the same without its choice among average policies at the end, and
the number of random runs of which the mean is taken."""

FEW = 8
"""Fewest games for which an interval is told; a bootstrap of fewer is far too narrow."""

KEYS = ["split", "horizon", "controller", "game"]
"""Columns that tell measurements apart; the controller is a digest of its weights."""

SAMPLED = ("lcfr x external x none", "dcfr_plus x external x none", "pcfr_plus x chance x none")
AGAINST_BEST = ("cfr_plus x none x cfr_br", "dcfr x none x cfr_br")


def fixed_algorithms(horizon: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tabular algorithms that may be the best in hindsight, with their components.

    They are all update rules by exact passes except for ``scheduled``, those of :data:`SAMPLED`, and those of
    :data:`AGAINST_BEST`. Rules that know their horizon are told it.
    """
    for entry in update_rules:
        if entry.id in (OURS, "scheduled") or entry.make().learns:
            continue
        given = {"horizon": horizon} if "horizon" in entry.hyperparameters else {}
        yield entry.id, {"update_rule": {"id": entry.id, **given}}
    for name in (*SAMPLED, *AGAINST_BEST):
        rule, sampler, abstraction = name.split(" x ")
        yield name, {"update_rule": rule, "sampler": sampler, "abstraction": abstraction}


def timed(game: rlccfr.GameTree, horizon: int, components: dict[str, Any]) -> tuple[float, rlccfr.Solver]:
    """Return the CPU seconds of a run of ``horizon`` iterations, the least of some, and the last run's solver."""
    seconds: list[float] = []
    while True:
        solver = rlccfr.Solver(game, **components)
        solver.run(iterations=horizon, curve=False)
        seconds.append(solver.cpu_seconds)
        if seconds[0] > 1.0 or len(seconds) == REPEATS:
            return min(seconds), solver


def decades(solver: rlccfr.Solver) -> float:
    """Return log10 of a run's exploitability as a share of the uniform policy's."""
    reached = max(solver.exploitability(), LEAST_ERROR * solver.game.utility_range)
    return float(np.log10(reached / rlccfr.Policy.uniform(solver.game).exploitability()))


def contenders(game: rlccfr.GameTree, horizon: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each contender: iterations, CPU seconds, and log10 of the exploitability over the uniform's."""
    budget, solver = timed(game, horizon, {"control": "shipped"})
    yield {"contender": OURS, "iterations": horizon, "seconds": budget, "error": decades(solver)}
    for name, components in fixed_algorithms(horizon):
        if components.get("sampler", "none") == "none":
            seconds, solver = timed(game, horizon, components)
            more = int(horizon * (budget / seconds - 1.0))
            if more > 0:
                solver.run(iterations=more, curve=False)
        else:
            solver = rlccfr.Solver(game, **components)
            solver.run(seconds=budget, curve=False)
        result = solver.result()
        about = {"iterations": result.iterations, "seconds": result.cpu_seconds}
        yield {"contender": name, **about, "error": decades(solver)}
    for name, found in steered(game, horizon):
        yield {"contender": name, "iterations": horizon, "seconds": np.nan, "error": found}


def steered(game: rlccfr.GameTree, horizon: int) -> Iterator[tuple[str, float]]:
    """Yield contenders that steer runs for as many iterations, with the mean of their errors.

    They are the controller without its choice among average policies at the end, and ways that have not learned or that
    have learned one schedule, with that choice.
    """
    yield LAST, float(ControlRun(game, controller_named("shipped"), horizon).episode().errors[-1])
    run, rng = ControlRun(game, Controller.untrained(CHOICES), horizon, keep=True), np.random.default_rng(0)
    untrained = [Controller.untrained(CHOICES, seed=seed).flat_weights() for seed in range(DRAWS)]
    yield "untrained networks", float(np.mean([run.episode(None, one).errors[-1] for one in untrained]))
    counts = [len(own) for own in CHOICES]
    draws = [np.stack([rng.integers(count, size=len(run.marks)) for count in counts], 1) for _ in range(DRAWS)]
    yield "random picks", float(np.mean([run.episode(one).errors[-1] for one in draws]))
    yield BEST_POINT, steering.best_point(game, horizon)
    if steering.SCHEDULE.exists():
        schedule = np.array(json.loads(steering.SCHEDULE.read_text())["schedule"])
        yield "one learned schedule", steering.follow(game, schedule, horizon, keep=True)
    if game.num_histories <= MOST_GREEDY:
        yield "greedy choices", steering.greedy(game, horizon)


def recorded() -> pd.DataFrame:
    """Return all rows of the file."""
    if not FILE.exists():
        return pd.DataFrame(columns=[*KEYS, "contender"])
    return pd.read_csv(FILE, dtype={"controller": str})


def shipped() -> str:
    """Return the digest of the shipped controller."""
    weights = controller_named("shipped").flat_weights()
    return hashlib.sha256(weights.tobytes()).hexdigest()[:8]


def last_measured(split: str, horizon: int) -> str:
    """Return the digest of the controller that was measured last on all games of a split.

    Raises:
        RLCCFRError: none has been.
    """
    rows = recorded()
    rows = rows[(rows["split"] == split) & (rows["horizon"] == horizon) & (rows["contender"] == OURS)]
    games = set(control_games(split))  # type: ignore[arg-type]
    whole = [digest for digest, own in rows.groupby("controller", sort=False)["game"] if games <= set(own)]
    if not whole:
        raise RLCCFRError(
            f"no controller is measured on all {len(games)} {split} games: run "
            f"`python -m benchmarks.control {split} {horizon}`"
        )
    return shipped() if shipped() in whole else whole[-1]


def identity(split: str, horizon: int, controller: str | None = None) -> dict[str, Any]:
    """Return the columns that identify the measurements of a split with a controller, by default the shipped one."""
    return {"split": split, "horizon": horizon, "controller": controller or shipped()}


def measured(split: str, horizon: int, controller: str | None = None) -> pd.DataFrame:
    """Return the rows of a split with a controller, by default the shipped one, that are in the file."""
    rows = recorded()
    return rows[(rows[KEYS[:3]] == pd.Series(identity(split, horizon, controller))).all(axis=1)]


def add(split: str, horizon: int, game: rlccfr.GameTree, found: list[dict[str, Any]]) -> pd.DataFrame:
    """Add rows for a game to the file, in place of those of the same contenders; return them."""
    own = pd.DataFrame(
        [identity(split, horizon) | {"game": game.name, "histories": game.num_histories} | one for one in found]
    )
    before = recorded()
    rows = pd.concat([before, own], ignore_index=True) if len(before) else own
    rows = rows.drop_duplicates([*KEYS, "contender"], keep="last")
    write_atomically(FILE, rows.to_csv(index=False, float_format="%.5g").encode())
    return own


def trial(name: str, horizon: int) -> list[dict[str, Any]]:
    """Return the rows of all contenders on a game."""
    return list(contenders(rlccfr.load_game(name, max_histories=MOST_TEST), horizon))


def measure(split: str, horizon: int, workers: Executor | None = None) -> pd.DataFrame:
    """Measure all contenders on a split's games that are not in the file yet; return the split's rows.

    Args:
        workers: processes for the games; None for this one.
    """
    rows = measured(split, horizon)
    done = set(rows.loc[rows["contender"] == OURS, "game"])
    games = [name for name in control_games(split) if name not in done]  # type: ignore[arg-type]
    for name, found in trials(games, horizon, workers):
        game = rlccfr.load_game(name, max_histories=MOST_TEST)
        print(summary(add(split, horizon, game, found)), file=sys.stderr, flush=True)
    return measured(split, horizon)


def trials(names: Sequence[str], horizon: int, workers: Executor | None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each game's name and rows, with workers as soon as they are there, so that no interrupt loses them."""
    if workers is None:
        yield from ((name, trial(name, horizon)) for name in names)
        return
    futures = {workers.submit(trial, name, horizon): name for name in names}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


def summary(rows: pd.DataFrame) -> str:
    """Return a line about one game."""
    errors = rows.set_index("contender")["error"]
    best = errors[fixed(rows)].idxmin()
    return f"{errors[best] - errors[OURS]:6.2f} decades below {best} ({errors[best]:.2f}): {rows['game'].iloc[0]}"


def fixed(rows: pd.DataFrame) -> list[str]:
    """Return the fixed algorithms among the contenders."""
    names = {name for name, _ in fixed_algorithms(int(rows["horizon"].iloc[0]))}
    return [name for name in rows["contender"].unique() if name in names]


def interval(gains: np.ndarray) -> tuple[float, float]:
    """Return the bounds of the mean's 95 % bootstrap interval over games."""
    draws = np.random.default_rng(0).choice(gains, (100_000, len(gains))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)


def report(rows: pd.DataFrame) -> list[str]:
    """Return the comparison as Markdown."""
    errors = rows.pivot_table(index="game", columns="contender", values="error")
    fixed_ones = fixed(rows)
    best_once, hindsight = errors[fixed_ones].mean().idxmin(), errors[fixed_ones].min(axis=1)
    others = {
        "best fixed algorithm of each game, in hindsight": hindsight,
        f"best fixed algorithm on average over these games, {best_once}": errors[best_once],
        **{name: errors[name] for name in errors if name not in (*fixed_ones, OURS)},
    }
    family = errors.index.str.split("(").str[0]
    sizes = sizes_of(rows).reindex(errors.index)
    gains = {name: (other - errors[OURS]).dropna() for name, other in others.items()}
    if LAST in errors:
        gains["best fixed algorithm of each game, beside the controller's last average"] = hindsight - errors[LAST]
    return [
        f"{len(errors)} games, {int(rows['horizon'].iloc[0]):,} iterations. A ratio above 1 says that the controller's "
        "exploitability is lower; a game counts as won or lost beyond a factor of 1.01.",
        "",
        *table("against", gains),
        "",
        "Against the best fixed algorithm of each game, in hindsight, by family and by size:",
        "",
        *table("games", {
            str(name): own
            for groups in (family, sizes)
            for name, own in (hindsight - errors[OURS]).groupby(groups, observed=True)
        }),
    ]  # fmt: skip


def sizes_of(rows: pd.DataFrame) -> pd.Series:
    """Return for each game how large it is beside the largest training game, in words."""
    histories = rows.groupby("game")["histories"].first()
    largest = int(pd.read_csv(GAMES).query("split == 'train'")["histories"].max())
    bounds = [0, 10 * largest, 100 * largest, np.inf]
    titles = [f"less than 10 times as large as any training game ({largest:,} histories)", "10 to 100 times", "more"]
    return pd.cut(histories, bounds, labels=titles, right=False)


def table(title: str, gains: dict[str, pd.Series]) -> list[str]:
    """Return a Markdown table with a row for each series of gains in decades."""
    lines = [
        f"| {title} | games | geometric mean of the ratios | 95 % | won | lost | worst game | best game |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, gain in gains.items():
        (low, high), tie = interval(gain.to_numpy()), np.log10(1.01)
        between = f"{10**low:.2f} to {10**high:.2f}" if len(gain) >= FEW else "-"
        lines.append(
            f"| {name} | {len(gain)} | {10 ** gain.mean():.2f} | {between} "
            f"| {(gain > tie).sum()} | {(gain < -tie).sum()} | {10 ** gain.min():.3g} | {10 ** gain.max():.3g} |"
        )
    return lines


def main(split: str, horizon: int) -> None:
    """Measure what is not measured yet, and print the table."""
    with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as workers:
        print("\n".join(report(measure(split, horizon, workers))))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
