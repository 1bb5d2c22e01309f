"""Judges the default by the CPU seconds to a target, everything included: ``python -m benchmarks.default SPLIT``.

On each game of a split, :func:`rlccfr.solve` runs to each of :data:`TARGETS`, and so does every fixed rule by exact
passes. The seconds are those of the process, from the loaded game to the policy: predicting, iterating, blending and
measuring. What is computed once for each game, such as its quotient and the costs of its passes, is not counted, since
short runs are repeated. A rule's run ends when it has taken longer than the best rule so far, since only the best rule
in hindsight counts; the runs of CFR+ and of the rule that ``rlccfr recommend`` names continue. On public trees, where
runs are long, a rule does not begin anew for each target, but continues to the next one (:func:`continued_run`).

The speed of a machine changes within seconds, and the best of many times is the luckiest. So these first times only
select the finalists for each target: ``rlccfr.solve``, its rivals by name, and the fastest rules. The finalists take
turns, and only the times of these turns count.

Games that are in benchmarks/results/default.csv are not measured again, and what an interrupted command has measured of
a game is kept by :mod:`benchmarks.unfinished`. After a change of the default, ``--again GAME`` runs the default anew on
some of the games in the file, and lets it take turns again with the finalists there.

SPLIT is ``validation`` (the lists that the laws were fitted to, see :mod:`benchmarks.new_games` and
:mod:`benchmarks.default_laws`) or ``test`` (the new test games).
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

import rlccfr
from benchmarks import new_games, unfinished
from benchmarks.control import fixed_rules
from benchmarks.control_games import MOST_TEST
from benchmarks.markdown import table
from rlccfr.agents.control.games import control_games
from rlccfr.experiments.curves import with_horizon
from rlccfr.files import write_atomically
from rlccfr.game import policy_class
from rlccfr.games.flat_tree import COMPILED
from rlccfr.games.names import form_named
from rlccfr.limits import least_target
from rlccfr.result import RunResult

FILE = Path(__file__).parent / "results" / "default.csv"
TARGETS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Targets as shares of the uniform policy's exploitability."""

Result = TypeVar("Result")

OURS = "rlccfr.solve"
STEERED = "steered and blended"
RECOMMENDED = "recommended"
PLAIN = "cfr_plus"
PAPER = ("kuhn", "leduc", "royal", "goofspiel")
PUBLIC_TREES = ("flop_holdem", "holdem", "bluff(dice=2)")

LIMIT = 60.0
"""Most CPU seconds of a run on a compiled game."""

PUBLIC_LIMIT = 600.0
"""Most CPU seconds of a run on a public tree."""

REPEATS = 3
"""Largest number of runs of which the shortest counts."""

LONG_ENOUGH = 0.3
"""CPU seconds after which a run is not repeated."""

FINALISTS = 3
"""Largest number of rules that take turns with ``rlccfr.solve``, besides its rivals by name."""

ROUNDS = 5
"""Largest number of turns of each finalist, of which the shortest counts."""

LONG_TURNS = 10.0
"""CPU seconds of all finalists after which no further round begins."""

OVER_BEST = 1.5
"""Multiple of the best first time so far to a target after which a rule is stopped."""

CONTINUED_OVER_BEST = 2.0
"""The same on public trees, where a run that is stopped has no times to finer targets either.

On the lists ``trees-validation`` and ``trees-test`` of :mod:`benchmarks.soonest_rules`, it would have stopped one rule
that then was the soonest to a finer target.
"""

LONGEST = 12.0
"""Multiple of our time after which a run is stopped; larger ratios count as this."""

REPETITIONS = 10_000
"""Bootstrap samples of games behind an interval."""


def games_of(split: str) -> tuple[str, ...]:
    """Return the names of a split's games."""
    if split == "test":
        return (*new_games.names(), *PAPER, *PUBLIC_TREES)
    names = (*control_games("validation"), *control_games("test"))
    return tuple(name for name in names if name not in PAPER)


def load(name: str) -> Any:
    """Return a game, which may be larger than is compiled by default."""
    is_public = form_named(name) is not COMPILED
    return rlccfr.load_game(name) if is_public else rlccfr.load_game(name, max_histories=MOST_TEST)


def timed_solutions(game: Any, uniform: float) -> Iterator[dict[str, Any]]:
    """Yield a row per target: the CPU seconds of ``rlccfr.solve``, what was predicted, and what it did."""
    for share in TARGETS:
        target = target_of(game, share, uniform)
        seconds, solution = timed(lambda target=target: rlccfr.solve(game, until=target, seconds=_limit(game)))
        yield {
            "contender": OURS,
            "share": share,
            "seconds": seconds if solution.reached else math.inf,
            "predicted": solution.predicted_seconds,
            "method": solution.method,
            "iterations": solution.result.iterations if solution.result is not None else 0,
        }


def timed_run(
    game: Any,
    uniform: float,
    name: str,
    limits: Mapping[float, float],
    longest: Mapping[float, float] | None = None,
    **components: Any,
) -> Iterator[dict[str, Any]]:
    """Yield a row per target: the CPU seconds of a run to it, infinite if the run missed it.

    Args:
        limits: most CPU seconds of a run by target, the coarsest first.
        longest: CPU seconds by target; if a run misses a target in this time, no runs to the next ones are made. By
            default, the limits.
    """
    missed = False
    longest = limits if longest is None else longest
    for share, most_seconds in limits.items():
        row = {"contender": name, "share": share, "seconds": math.inf, "iterations": 0}
        if not missed:
            target = target_of(game, share, uniform)
            seconds, result = timed(lambda target=target, limit=most_seconds: _run(game, target, limit, components))
            missed = not result.reached and most_seconds >= longest[share]
            if result.reached:
                row |= {"seconds": seconds, "iterations": result.iterations}
        yield row


def continued_run(
    game: Any, uniform: float, name: str, limits: Mapping[float, float], **components: Any
) -> Iterator[dict[str, Any]]:
    """Yield a row per target: the CPU seconds of one run that continues from each target to the next finer one.

    They are infinite for the first target that the run misses within its limit, and for all finer ones.

    Args:
        limits: most CPU seconds from the start of the run by target, the coarsest first.
    """
    begin = time.process_time()
    solver = rlccfr.Solver(game, **components)
    has_reached_all = True
    for share, limit in limits.items():
        row = {"contender": name, "share": share, "seconds": math.inf, "iterations": 0}
        if has_reached_all:
            result = _continued(solver, target_of(game, share, uniform), begin, limit)
            has_reached_all = result.reached
            if result.reached:
                row |= {"seconds": time.process_time() - begin, "iterations": result.iterations}
        yield row


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the CPU seconds of some work, the fewest of several attempts if it is short, and its result."""
    best = math.inf
    total = 0.0
    for _ in range(REPEATS):
        begin = time.process_time()
        result = work()
        seconds = time.process_time() - begin
        best = min(best, seconds)
        total += seconds
        if total > LONG_ENOUGH:
            break
    return best, result


def _run(game: Any, target: float, limit: float, components: Mapping[str, Any]) -> RunResult:
    """Run an algorithm to a target, or for ``limit`` CPU seconds, measuring included."""
    begin = time.process_time()
    return _continued(rlccfr.Solver(game, **components), target, begin, limit)


def _continued(solver: rlccfr.Solver, target: float, begin: float, limit: float) -> RunResult:
    """Continue a run to a target, or until the process has taken ``limit`` CPU seconds from the time ``begin`` on."""
    seconds = max(limit - (time.process_time() - begin), 1e-3)  # a budget must be positive
    result = solver.run(until=target, seconds=seconds, curve=False, stop=lambda: time.process_time() - begin > limit)
    solver.average_policy()  # what rlccfr.solve returns as well
    return result


def target_of(game: Any, share: float, uniform: float) -> float:
    """Return a target in the game's units, but at least what can be distinguished from rounding."""
    return max(share * uniform, least_target(game))


def _limit(game: Any) -> float:
    return LIMIT if game.form.has_histories else PUBLIC_LIMIT


def measured(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a game: for each target, one for each finalist and for each rival that misses the target."""
    game = load(name)
    uniform = policy_class(game).uniform(game).exploitability()
    prepare(game, uniform)
    rows = unfinished.kept(name, OURS, lambda: timed_solutions(game, uniform))
    longest = {row["share"]: min(_limit(game), max(LONGEST * row["seconds"], 0.05)) for row in rows}
    rivals: dict[str, dict[str, Any]] = {
        PLAIN: {"update_rule": PLAIN},
        RECOMMENDED: recommended(name, rows[-1]["seconds"]),
        STEERED: dict(game.form.best_run),
    }
    continues = not game.form.has_histories
    for rival, components in rivals.items():
        # A steered run plans its length, so it can't be continued to the next target.
        run = continued_run if continues and "control" not in components else timed_run
        rows += unfinished.kept(name, rival, partial(run, game, uniform, rival, longest, **components))
    over_best = CONTINUED_OVER_BEST if continues else OVER_BEST
    best = dict.fromkeys(TARGETS, math.inf)
    if continues:  # on other games, the rules are compared without CFR+ first
        best |= {row["share"]: row["seconds"] for row in rows if row["contender"] == PLAIN}
    run_rule = continued_run if continues else partial(timed_run, longest=longest)
    fixed_rules = dict(rules(game))
    for rule, components in fixed_rules.items():
        limits = {share: min(longest[share], max(over_best * best[share], 0.05)) for share in TARGETS}
        for row in unfinished.kept(name, rule, partial(run_rule, game, uniform, rule, limits, **components)):
            best[row["share"]] = min(best[row["share"]], row["seconds"])
            rows.append(row)
    for share in TARGETS:
        rows_to_target = [row for row in rows if row["share"] == share]
        finals = partial(final, game, target_of(game, share, uniform), rows_to_target, rivals | fixed_rules)
        yield from unfinished.kept(name, f"finals to {share:g}", finals)


def final(
    game: Any, target: float, rows: Sequence[dict[str, Any]], contenders: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a target's finalists, with the times of their turns, and of rivals that miss the target.

    Args:
        target: in the game's units.
        rows: the first times of all contenders to this target.
        contenders: the components of each contender except ours.
    """
    by_name = {row["contender"]: row for row in rows}
    names = {OURS, PLAIN, RECOMMENDED, STEERED}
    soonest = sorted((row["seconds"], name) for name, row in by_name.items() if name not in names - {PLAIN})
    names |= {name for _, name in soonest[:FINALISTS]}
    in_turns = [name for name in by_name if name in names and math.isfinite(by_name[name]["seconds"])]
    limit = _limit(game)
    seconds = dict.fromkeys(in_turns, math.inf)
    begin = time.process_time()
    for _ in range(ROUNDS):
        for name in in_turns:
            turn = time.process_time()
            if name == OURS:
                has_reached = rlccfr.solve(game, until=target, seconds=limit).reached
            else:
                has_reached = _run(game, target, limit, contenders[name]).reached
            if has_reached:
                seconds[name] = min(seconds[name], time.process_time() - turn)
        if time.process_time() - begin > LONG_TURNS:
            break
    for name in by_name:
        if name in names:
            yield by_name[name] | {"seconds": seconds.get(name, math.inf)}


def prepare(game: Any, uniform: float) -> None:
    """Compute what is computed once for each game and not counted, by a solution that needs no iterations."""
    rlccfr.solve(game, until=uniform, seconds=LIMIT)


def rules(game: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the fixed rules by exact passes that run on a game."""
    for rule in fixed_rules():
        if rule == PLAIN:
            continue
        components = {"update_rule": with_horizon(rule, 1000)}
        try:
            rlccfr.Solver(game, **components)
        except rlccfr.ComponentError:
            continue
        yield rule, components


def recommended(name: str, seconds: float) -> dict[str, Any]:
    """Return the components that ``rlccfr recommend`` names for a game and a budget of some seconds."""
    advice = rlccfr.recommend(name, budget={"unit": "seconds", "amount": min(max(seconds, 0.01), 1.0)})
    return advice.cell._asdict()


def recorded() -> pd.DataFrame:
    """Return the file's rows."""
    return pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=["split", "game"])


def measure(split: str, only: Sequence[str] = ()) -> pd.DataFrame:
    """Measure the games of a split that are not in the file yet; return the split's rows.

    Args:
        split: the split's name.
        only: games to measure, in this order; empty for all.
    """
    rlccfr.solve("kuhn")  # so that neither imports nor kernels are counted
    rlccfr.solve("kuhn", curve=True)
    done = set(recorded().query("split == @split")["game"])
    for name in only or games_of(split):
        if name in done:
            continue
        about = {"split": split, "game": name, "histories": getattr(load(name), "num_histories", 0)}
        rows = pd.DataFrame([about | row for row in measured(name)])
        before = recorded()
        table_of_all = pd.concat([before, rows], ignore_index=True) if len(before) else rows
        write_atomically(FILE, table_of_all.to_csv(index=False, float_format="%.5g").encode())
        unfinished.forget(name)
        print(name, ratios(rows)["best rule"].round(2).tolist(), file=sys.stderr, flush=True)
    return recorded().query("split == @split")


def measure_again(split: str, names: Sequence[str]) -> None:
    """Run ``rlccfr.solve`` anew on some games of the file; it takes turns again with the finalists there."""
    for name in names:
        before = recorded()
        is_replaced = (before["split"] == split) & (before["game"] == name)
        earlier = before[is_replaced]
        game = load(name)
        uniform = policy_class(game).uniform(game).exploitability()
        prepare(game, uniform)
        again = f"{name} again"
        ours = unfinished.kept(again, OURS, partial(timed_solutions, game, uniform))
        others = earlier[earlier["contender"] != OURS].drop(columns=["predicted", "method"]).to_dict("records")
        contenders = {PLAIN: {"update_rule": PLAIN}, RECOMMENDED: recommended(name, ours[-1]["seconds"])}
        contenders |= {STEERED: dict(game.form.best_run), **dict(rules(game))}
        rows: list[dict[str, Any]] = []
        for share in TARGETS:
            to_target = [row for row in [*ours, *others] if row["share"] == share]
            finals = partial(final, game, target_of(game, share, uniform), to_target, contenders)
            rows += unfinished.kept(again, f"finals to {share:g}", finals)
        about = {"split": split, "game": name, "histories": getattr(game, "num_histories", 0)}
        table_of_all = pd.concat([before[~is_replaced], pd.DataFrame([about | row for row in rows])], ignore_index=True)
        write_atomically(FILE, table_of_all.to_csv(index=False, float_format="%.5g").encode())
        unfinished.forget(again)
        print(name, file=sys.stderr, flush=True)


def ratios(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, by game and target, how many times as long as ours the best rule, CFR+ and the recommended rule take."""
    seconds = rows.pivot_table(
        index=["game", "share"], columns="contender", values="seconds", aggfunc="min", dropna=False
    )
    fixed = seconds.drop(columns=[OURS, STEERED, RECOMMENDED])
    ours = seconds[OURS]
    return pd.DataFrame(
        {
            "best rule": fixed.min(axis=1) / ours,
            PLAIN: seconds[PLAIN] / ours,
            RECOMMENDED: seconds[RECOMMENDED] / ours,
            STEERED: seconds[STEERED] / ours,
        }
    )


def interval(logs: Sequence[float]) -> tuple[float, float, float]:
    """Return a geometric mean and the bounds of its 95 % bootstrap interval over games."""
    values = np.asarray(logs)
    drawn = np.random.default_rng(0).integers(len(values), size=(REPETITIONS, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return math.exp(values.mean()), math.exp(low), math.exp(high)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per rival: how many times as long it takes, as a geometric mean over games, and the extremes."""
    clipped = ratios(rows).clip(1 / LONGEST, LONGEST)
    lines = []
    for rival in clipped.columns:
        logs = np.log(clipped[rival]).groupby("game").mean().dropna()
        if len(logs) < 2:
            continue
        mean, low, high = interval(logs.tolist())
        worst = clipped[rival].idxmin()
        lines.append(
            {
                "rival": rival,
                "games": len(logs),
                "times as long as ours": mean,
                "95 % from": low,
                "95 % to": high,
                "worst": clipped[rival].min(),
                "where": f"{worst[0]} at {worst[1]:g}",
            }
        )
    return pd.DataFrame(lines)


def predictions(rows: pd.DataFrame) -> str:
    """Return in one sentence how often our time was within a factor of 2 of the prediction."""
    runs = ((rows["contender"] == OURS) & rows["predicted"].notna()).sum()
    return f"The time was within a factor of 2 of the prediction in {share_within_twice(rows):.0%} of {runs} runs."


def share_within_twice(rows: pd.DataFrame) -> float:
    """Return the share of our times that are within a factor of 2 of their predictions."""
    ours = rows[(rows["contender"] == OURS) & rows["predicted"].notna()]
    ratio = ours["seconds"] / ours["predicted"]
    return float(((ratio >= 0.5) & (ratio <= 2.0)).mean())


SAMPLED_GAMES = ("leduc(ranks=13,suits=2,raises=2)", "royal", "liars_dice(numdice=1,dice_sides=7)", "holdem(ranks=7)")
"""Large games on which few passes fit into a short budget."""

SHORT_BUDGETS = (0.01, 0.03, 0.1, 0.3)
"""CPU seconds."""


def beside_sampling() -> pd.DataFrame:
    """Return exploitabilities, as shares of the uniform policy's, of exact passes and of samplers after short runs."""
    rows = []
    for name in SAMPLED_GAMES:
        game = load(name)
        uniform = policy_class(game).uniform(game).exploitability()
        sampled = [("lcfr", "external"), ("dcfr_plus", "external"), ("lcfr", "outcome")]
        if not game.form.has_histories:
            sampled = [("pdcfr_plus", "public_chance"), ("lcfr", "public_chance")]
        for seconds in SHORT_BUDGETS:
            exact = rlccfr.Solver(game, "pcfr_plus")
            row = {"game": name, "seconds": seconds, "exact": exact.run(seconds=seconds, curve=False).exploitability}
            for rule, sampler in sampled:
                result = rlccfr.Solver(game, rule, sampler).run(seconds=seconds, curve=False)
                row["best sampler"] = min(row.get("best sampler", math.inf), result.exploitability)
            row |= {way: row[way] / uniform for way in ("exact", "best sampler")}
            rows.append(row | {"passes": exact.result().iterations})
    return pd.DataFrame(rows)


def main() -> None:
    """Measure what is not measured yet, and print the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("split", nargs="?", choices=("validation", "test"), default="test")
    parser.add_argument("--sampling", action="store_true", help="compare exact passes with samplers in short runs")
    parser.add_argument("--again", nargs="+", metavar="GAME", help="run the default anew on games of the file")
    parser.add_argument("--only", nargs="+", metavar="GAME", default=(), help="measure only these games of the split")
    given = parser.parse_args()
    if unknown := sorted({*given.only, *(given.again or ())} - set(games_of(given.split))):
        parser.error(f"the split {given.split} has no game {unknown[0]!r}")
    if given.sampling:
        print("\n".join(table(beside_sampling())))
        return
    if given.again:
        measure_again(given.split, given.again)
    rows = measure(given.split, given.only)
    print("\n".join(table(summary(rows))))
    print()
    print(predictions(rows))


if __name__ == "__main__":
    main()
