"""Controlled runs beside fixed rules, on games that nothing was learned from: ``python -m benchmarks.control SPLIT``.

The controlled, or steered, run is that of :func:`rlccfr.solve`: by the package's schedule, with blends if it is long
enough. On each game of a split, at each of :data:`HORIZONS`, it sets the CPU seconds, including those of deciding and
blending. In the same time, every fixed rule runs without blends, and so do the rules of :data:`BLENDED` with them; in
runs of milliseconds, their blends take longer than is planned for, to their advantage. Other
ways to steer make as many iterations, without a limit on time: the trained networks, and ways that have learned
nothing.

A single number of iterations gives a noisy figure. So each figure is the mean of log10 of the exploitability, as a
share of the uniform policy's, over three numbers of iterations near a horizon. A share below 1e-9 counts as 1e-9, since
rounding dominates there.

SPLIT is ``validation`` (games by which variants may be chosen, see :mod:`benchmarks.new_games`) or ``test`` (the new
test games). Games that are in benchmarks/results/control.parquet with the same controller are not run again. At the
end, the tables are printed.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import rlccfr
from benchmarks import every_rule, new_games, steering
from benchmarks.control_games import MOST_TEST
from benchmarks.markdown import table
from rlccfr.agents.control.collecting import LEAST_LOG_SHARE
from rlccfr.agents.control.games import FILE as GAMES
from rlccfr.agents.control.games import control_games
from rlccfr.catalog.scheduled import controller_named
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.engine.blending import SHARE
from rlccfr.errors import RLCCFRError
from rlccfr.experiments.curves import with_horizon
from rlccfr.files import write_atomically
from rlccfr.games.flat_tree import COMPILED
from rlccfr.games.names import form_named
from rlccfr.limits import uniform_exploitability
from rlccfr.registry import update_rules

FILE = Path(__file__).parent / "results" / "control.parquet"
HORIZONS = (100, 1000, 5000)
BLENDED = ("cfr_plus", "dcfr", "dcfr_plus", "pcfr_plus", "pdcfr_plus", "vad_cfr", "momentum_dcfr")
"""Rules that are also run with blends."""

REPEATS = 3
"""Number of runs of which the shortest gives the steered run's time, if a run takes less than a second."""

PROCESSES = 2
"""Number of games that are measured at a time."""

CONTROL: str = COMPILED.best_run["control"]
"""The controller of steered runs."""

OURS, WITHOUT = "steered, blended", "steered"
NETWORKS, UNTRAINED, RANDOM = "trained networks", "untrained networks", "random picks"
POINT = "point "
"""First word of the names of contenders that keep one of the points of :mod:`benchmarks.steering`."""

HINDSIGHT = "best fixed rule of each game, in hindsight"
BLENDED_HINDSIGHT = f"best of {len(BLENDED)} blended rules of each game, in hindsight"
BEST_POINT = f"best of {len(steering.POINTS)} points of each game, in hindsight"
MEAN_POINT = "best point on average over these games"

DRAWS = 3
"""Number of untrained networks, and of random runs, that are averaged."""

LONGEST_UNLEARNED = 1000
"""Largest horizon at which points, untrained networks and random picks are run; together they are 54 runs."""

FEW = 8
"""Least number of games for which an interval is given; with fewer, a bootstrap interval is far too narrow."""

TIE = np.log10(1.01)
"""Decades within which two exploitabilities count as equal."""

KEYS = ["split", "controller", "game"]
"""Columns that identify a measurement; ``controller`` is a digest of the controllers."""


def games_of(split: str) -> tuple[str, ...]:
    """Return the names of a split's compiled games.

    Raises:
        RLCCFRError: there is no such split.
    """
    if split == "validation":
        return (*control_games("validation"), *control_games("test"))  # results on the latter are known
    if split == "test":
        return tuple(name for name in new_games.names() if form_named(name) is COMPILED)
    raise RLCCFRError(f"split must be validation or test, not {split!r}")


def fixed_rules() -> list[str]:
    """Return the ids of the rules that may be the best in hindsight: all tabular rules without a controller."""
    return [rule for rule in every_rule.rules() if not rule.startswith("controlled")]


class Comparison:
    """Steered runs and fixed rules on one game.

    Args:
        game: the game.
        horizons: numbers of iterations of steered runs.
    """

    def __init__(self, game: Any, horizons: Sequence[int]) -> None:
        self.game = game
        self.horizons = horizons
        self._uniform = uniform_exploitability(game)
        # CPU seconds of the steered and blended run, by its number of iterations.
        self._budgets: dict[int, float] = {}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each contender and horizon: iterations and CPU seconds at the horizon, and the mean error.

        Rules that do not run on the game are left out.
        """
        for horizon in self.horizons:
            ours = [self._steered(iterations) for iterations in nearby(horizon)]
            self._budgets |= {iterations: seconds for iterations, seconds, _ in ours}
            yield _row(OURS, horizon, ours)
        per_iteration = every_rule.seconds_per_iteration(self.game, f"controlled(controller={CONTROL!r})")
        for horizon in self.horizons:
            without = [
                self._run({"control": CONTROL}, self._iterations(iterations, per_iteration))
                for iterations in nearby(horizon)
            ]
            yield _row(WITHOUT, horizon, without)
        for rule in fixed_rules():
            try:
                rlccfr.Solver(self.game, rule)
            except rlccfr.ComponentError:
                continue
            yield from self._rule_rows(rule)

    def _steered(self, iterations: int) -> tuple[int, float, float]:
        """Return the iterations, CPU seconds and error of the steered run with blends, by the shortest of some runs."""
        seconds: list[float] = []
        while True:
            solver = rlccfr.Solver(self.game, control=CONTROL, blend=iterations >= self.game.form.least_blended)
            solver.run(iterations=iterations, curve=False)
            seconds.append(solver.cpu_seconds)
            if seconds[0] > 1.0 or len(seconds) == REPEATS:
                return iterations, min(seconds), self._error(solver)

    def _rule_rows(self, rule: str) -> Iterator[dict[str, Any]]:
        """Yield a fixed rule's rows: without blends, and with them if it is in :data:`BLENDED`."""
        per_iteration = every_rule.seconds_per_iteration(self.game, rule)
        in_time = {
            budgeted: self._iterations(budgeted, per_iteration)
            for horizon in self.horizons
            for budgeted in nearby(horizon)
        }
        runs: dict[int, tuple[int, float, float]] = {}
        if "horizon" in update_rules[rule].hyperparameters:
            for budgeted, iterations in in_time.items():
                runs[budgeted] = self._run({"update_rule": with_horizon(rule, iterations)}, iterations)
        else:  # one run passes through all numbers of iterations
            solver = rlccfr.Solver(self.game, rule)
            done = 0
            for budgeted, iterations in sorted(in_time.items(), key=lambda pair: pair[1]):
                if iterations > done:
                    solver.run(iterations=iterations - done, curve=False)
                    done = iterations
                runs[budgeted] = (done, solver.cpu_seconds, self._error(solver))
        for horizon in self.horizons:
            yield _row(rule, horizon, [runs[budgeted] for budgeted in nearby(horizon)])
        if rule not in BLENDED:
            return
        for horizon in self.horizons:
            blended = []
            for budgeted in nearby(horizon):
                # Blends are predicted to lengthen a run by at most SHARE.
                iterations = max(int(self._budgets[budgeted] / per_iteration / (1 + SHARE)), 1)
                components = {"update_rule": with_horizon(rule, iterations), "blend": True}
                blended.append(self._run(components, iterations))
            yield _row(f"{rule}, blended", horizon, blended)

    def _iterations(self, budgeted: int, per_iteration: float) -> int:
        """Return the number of iterations that a rule makes in the time of a steered run; at least as many as that run.

        Args:
            budgeted: iterations of the steered run.
            per_iteration: CPU seconds of the rule's iteration.
        """
        return max(budgeted, int(self._budgets[budgeted] / per_iteration))

    def _run(self, components: dict[str, Any], iterations: int) -> tuple[int, float, float]:
        """Return the iterations, CPU seconds and error of a run."""
        solver = rlccfr.Solver(self.game, **components)
        solver.run(iterations=iterations, curve=False)
        return iterations, solver.cpu_seconds, self._error(solver)

    def _error(self, solver: rlccfr.Solver) -> float:
        """Return log10 of a run's exploitability as a share of the uniform policy's."""
        share = solver.exploitability() / self._uniform
        return float(np.log10(max(share, 10.0**LEAST_LOG_SHARE)))


class CompiledComparison(Comparison):
    """All contenders on one compiled game: those of :class:`Comparison`, and other ways to steer."""

    def rows(self) -> Iterator[dict[str, Any]]:
        yield from super().rows()
        for horizon in self.horizons:
            yield from self._steered_otherwise(horizon)

    def _steered_otherwise(self, horizon: int) -> Iterator[dict[str, Any]]:
        """Yield the rows of trained networks, and of ways to steer that have learned nothing, at equal iterations."""
        trained = controller_named("shipped")
        errors = {NETWORKS: [steering.last_error(steering.new_run(self.game, trained, its)) for its in nearby(horizon)]}
        if horizon <= LONGEST_UNLEARNED:
            for iterations in nearby(horizon):
                for name, error in self._unlearned(iterations):
                    errors.setdefault(name, []).append(error)
        for name, errors_nearby in errors.items():
            yield _row(name, horizon, [(horizon, np.nan, error) for error in errors_nearby])

    def _unlearned(self, iterations: int) -> Iterator[tuple[str, float]]:
        """Yield the errors of ways to steer that have learned nothing, after a number of iterations."""
        run = steering.new_run(self.game, Controller.untrained(CHOICES), iterations)
        weights = [Controller.untrained(CHOICES, seed=seed).flat_weights() for seed in range(DRAWS)]
        yield UNTRAINED, float(np.mean([steering.last_error(run, None, drawn) for drawn in weights]))
        rng = np.random.default_rng(0)
        counts = [len(choices) for choices in CHOICES]
        picks = [np.stack([rng.integers(count, size=len(run.marks)) for count in counts], axis=1) for _ in range(DRAWS)]
        yield RANDOM, float(np.mean([steering.last_error(run, drawn) for drawn in picks]))
        point_errors = steering.point_errors(self.game, iterations)
        for point, error in zip(steering.POINTS.tolist(), point_errors, strict=True):
            yield POINT + "-".join(map(str, point)), error


def nearby(horizon: int) -> list[int]:
    """Return the numbers of iterations near a horizon at which runs are judged."""
    return [round(share * horizon) for share in steering.NEARBY]


def _row(contender: str, horizon: int, runs: Sequence[tuple[int, float, float]]) -> dict[str, Any]:
    """Return a contender's row at a horizon.

    Args:
        runs: iterations, CPU seconds and error near the horizon, one for each of ``steering.NEARBY``.
    """
    iterations, seconds, _ = runs[steering.NEARBY.index(1.0)]
    error = float(np.mean([error for _, _, error in runs]))
    return {"contender": contender, "horizon": horizon, "iterations": iterations, "seconds": seconds, "error": error}


def recorded() -> pd.DataFrame:
    """Return all rows of the file."""
    if not FILE.exists():
        return pd.DataFrame(columns=[*KEYS, "histories", "contender", "horizon", "iterations", "seconds", "error"])
    return pd.read_parquet(FILE)


def shipped() -> str:
    """Return a digest of the two controllers that are measured: that of steered runs, and the trained networks."""
    digests = [controller_named(name).digest for name in (CONTROL, "shipped")]
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:8]


def measured(split: str) -> pd.DataFrame:
    """Return the file's rows of a split with the current controllers."""
    rows = recorded()
    return rows[(rows["split"] == split) & (rows["controller"] == shipped())]


def missing(split: str) -> list[str]:
    """Return the games of a split on which the current controllers have not been measured."""
    done = set(measured(split)["game"])
    return [name for name in games_of(split) if name not in done]


def trial(name: str) -> list[dict[str, Any]]:
    """Return the rows of all contenders on a game."""
    comparison = CompiledComparison(rlccfr.load_game(name, max_histories=MOST_TEST), HORIZONS)
    return [{"histories": comparison.game.num_histories} | row for row in comparison.rows()]


def measure(split: str, workers: Executor | None = None) -> pd.DataFrame:
    """Measure all contenders on a split's games that are not in the file yet; return the split's rows.

    Args:
        workers: processes for the games; None for this one.
    """
    for name, rows_of_game in trials(missing(split), workers):
        about = {"split": split, "controller": shipped(), "game": name}
        rows = pd.DataFrame([about | row for row in rows_of_game])
        before = recorded()
        all_rows = pd.concat([before, rows], ignore_index=True) if len(before) else rows
        small = dict.fromkeys(("seconds", "error"), np.float32)
        write_atomically(FILE, all_rows.astype(small).to_parquet(index=False))
        print(summary(rows), file=sys.stderr, flush=True)
    return measured(split)


def trials(names: Sequence[str], workers: Executor | None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each game's name and rows as soon as they are ready, so that an interrupt does not lose them."""
    if workers is None:
        yield from ((name, trial(name)) for name in names)
        return
    futures = {workers.submit(trial, name): name for name in names}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


def summary(rows: pd.DataFrame) -> str:
    """Return a line on one game: how many decades the best fixed rule is above the steered run, by horizon."""
    errors = rows.pivot_table(index="horizon", columns="contender", values="error")
    gains = errors[fixed(rows)].min(axis=1) - errors[OURS]
    return f"{' '.join(f'{gain:6.2f}' for gain in gains)}  {rows['game'].iloc[0]}"


def fixed(rows: pd.DataFrame) -> list[str]:
    """Return the fixed rules among the contenders."""
    names = set(fixed_rules())
    return [name for name in rows["contender"].unique() if name in names]


def interval(gains: np.ndarray) -> tuple[float, float]:
    """Return the bounds of the mean's 95 % bootstrap interval over games."""
    draws = np.random.default_rng(0).choice(gains, (100_000, len(gains))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)


def gains_at(rows: pd.DataFrame, horizon: int) -> dict[str, pd.Series]:
    """Return, by rival, how many decades its error is above that of steered runs, for each game.

    Args:
        rows: rows of a split.
    """
    errors = rows[rows["horizon"] == horizon].pivot_table(index="game", columns="contender", values="error")
    fixed_ones = fixed(rows)
    best_once = errors[fixed_ones].mean().idxmin()
    blended = [name for name in errors if name.endswith(", blended") and name != OURS]
    rivals = {
        HINDSIGHT: errors[fixed_ones].min(axis=1),
        f"best fixed rule on average over these games, {best_once}": errors[best_once],
        BLENDED_HINDSIGHT: errors[blended].min(axis=1),
        **{name: errors[name] for name in [*blended, WITHOUT, NETWORKS, UNTRAINED, RANDOM] if name in errors},
    }
    points = [name for name in errors if name.startswith(POINT)]
    if points:
        rivals[BEST_POINT] = errors[points].min(axis=1)
        rivals[MEAN_POINT] = errors[errors[points].mean().idxmin()]
    return {name: (error - errors[OURS]).dropna() for name, error in rivals.items()}


def report(rows: pd.DataFrame, horizon: int) -> list[str]:
    """Return the comparison at a horizon as Markdown.

    Args:
        rows: rows of a split.
    """
    gains = gains_at(rows, horizon)
    hindsight = gains[HINDSIGHT]
    family = hindsight.index.str.split("(").str[0]
    sizes = sizes_of(rows).reindex(hindsight.index)
    groups = {
        str(name): group for grouping in (family, sizes) for name, group in hindsight.groupby(grouping, observed=True)
    }
    return [
        *table(gain_table("against", gains)),
        "",
        f"Against the {HINDSIGHT}, by family and by size:",
        "",
        *table(gain_table("group", groups)),
    ]


def sizes_of(rows: pd.DataFrame) -> pd.Series:
    """Return, for each game, a description of its size relative to that of the largest training game."""
    histories = rows.groupby("game")["histories"].first()
    largest = int(pd.read_csv(GAMES).query("split == 'train'")["histories"].max())
    bounds = [0, 10 * largest, 100 * largest, np.inf]
    titles = [f"less than 10 times as large as any training game ({largest:,} histories)", "10 to 100 times", "more"]
    return pd.cut(histories, bounds, labels=titles, right=False)


def gain_table(title: str, gains: dict[str, pd.Series]) -> pd.DataFrame:
    """Return a row for each series of gains, in decades: the geometric mean of the ratio, and how the ratio varies."""
    lines = []
    for name, gain in gains.items():
        low, high = interval(gain.to_numpy())
        lines.append(
            {
                title: name,
                "games": len(gain),
                "geometric mean of the ratios": f"{10 ** gain.mean():.2f}",
                "95 %": f"{10**low:.2f} to {10**high:.2f}" if len(gain) >= FEW else "-",
                "won": int((gain > TIE).sum()),
                "lost": int((gain < -TIE).sum()),
                "worst game": f"{10 ** gain.min():.3g}",
                "best game": f"{10 ** gain.max():.3g}",
            }
        )
    return pd.DataFrame(lines)


def main() -> None:
    """Measure what is not measured yet, and print the tables."""
    (split,) = sys.argv[1:]
    with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn")) as workers:
        rows = measure(split, workers)
    for horizon in HORIZONS:
        print("\n".join([f"## {horizon:,} iterations", "", *report(rows, horizon), ""]))


if __name__ == "__main__":
    main()
