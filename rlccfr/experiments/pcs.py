"""Public chance sampling, its variants, and exact passes (Johanson et al. 2012)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from rlccfr.experiments.experiment import NO_STAND_IN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, cell, draw, ends_of, grouped, table, verdict_of, with_fields
from rlccfr.games.names import load_game
from rlccfr.solver import Solver

RULE = "cfr"
SAMPLERS = {
    "exact passes": "none",
    "PCS": "public_chance",
    "OPCS": "opponent_public_chance",
    "SPCS": "self_public_chance",
    "CS": "chance",
}


class Runs(NamedTuple):
    """The runs on a game.

    Attributes:
        game: the game's name.
        seconds: CPU seconds of each run.
        samplers: the samplers, by their names in :data:`SAMPLERS`.
        seeds: number of seeds of each sampler; exact passes draw nothing at random, and have one run.
    """

    game: str
    seconds: float
    samplers: tuple[str, ...] = tuple(SAMPLERS)
    seeds: int = 5


LARGEST = "Bluff(2,2)"
GAMES = {
    "[2-1] hold'em": Runs("holdem", 20.0),
    "[2-4] hold'em": Runs("holdem(raises=4)", 40.0),
    "Bluff(2,1)": Runs("bluff(dice=2)", 30.0),
    LARGEST: Runs("bluff(dice=2,opponent_dice=2)", 200.0, ("exact passes", "PCS", "CS"), seeds=3),
}
"""The runs on each game, by the game's title."""

QUICK = {
    "hold'em with 6 ranks of 2 suits": Runs("holdem(ranks=6,suits=2)", 1.0, seeds=1),
    "Bluff(1,1)": Runs("bluff", 1.0, seeds=1),
}
TIMES = (0.3, 1.0, 3.0, 10.0, 20.0, 60.0, 200.0)
"""CPU seconds after which the page compares exploitabilities."""


def curve(game: str, sampler: str, seconds: float, seed: int) -> list[Row]:
    """Run CFR with a sampler for some CPU seconds, and return the points of its curve."""
    solver = Solver(load_game(game), RULE, sampler, seed=seed)
    solver.run(seconds=seconds)
    return [
        {"CPU seconds": point.cpu_seconds, "exploitability": point.exploitability}
        for point in solver.points
        if point.iteration
    ]


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one."""
    return [
        Case(f"{title}/{name}/{seed}", partial(curve, runs.game, SAMPLERS[name], runs.seconds, seed))
        for title, runs in (QUICK if quick else GAMES).items()
        for name in runs.samplers
        for seed in range(1 if name == "exact passes" else runs.seeds)
    ]


def at(points: pd.DataFrame, seconds: float) -> float:
    """Return a run's exploitability after some CPU seconds, interpolated between its points on logarithmic axes.

    The result is NaN if the time is before the first point, or more than about 10 % after the last point.
    """
    log_seconds = np.log(points["CPU seconds"])
    log_exploitability = np.log(points["exploitability"])
    x = np.log(seconds)
    # A run may end a little before its budget is used up.
    right = np.nan if x > log_seconds.max() + 0.1 else None
    return float(np.exp(np.interp(x, log_seconds, log_exploitability, left=np.nan, right=right)))


def means(runs: pd.DataFrame) -> list[float]:
    """Return the geometric mean over seeds of the exploitability at each of :data:`TIMES`."""
    by_seed = [run for _, run in runs.groupby("seed")]
    return [float(np.exp(np.mean([np.log(at(run, time)) for run in by_seed]))) for time in TIMES]


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the fields of their cases' keys: ``game``, ``sampler`` and ``seed``."""
    return with_fields(rows, "game", "sampler", "seed")


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the source's claims by the ends of the runs."""
    reached = grouped(ends_of(parsed(rows), "game", "sampler"), "game", "sampler")
    games = list(dict.fromkeys(game for game, _ in reached))
    holdem = [game for game in games if "hold'em" in game]
    faster = {game: Ratio.of(reached[game, "CS"], reached[game, "PCS"]) for game in games}
    slower = {
        (game, sampler): Ratio.of(reached[game, sampler], reached[game, "CS"])
        for game in holdem
        for sampler in ("OPCS", "SPCS")
    }
    exact = {game: np.mean(reached[game, "exact passes"]) < np.mean(reached[game, "PCS"]) for game in games}
    seeds = {game: len(reached[game, "PCS"]) for game in games}
    stand_in = NO_STAND_IN if LARGEST in games else f"smaller games for {LARGEST}"
    return [
        Claim(
            "PCS converges faster than CS on [2-1] and [2-4] hold'em and on Bluff(2,2)",
            {game: Finding(ratio.above_one, seeds[game]) for game, ratio in faster.items()},
            "ratio of CS's exploitability to PCS's: " + ", ".join(f"{game}: {ratio}" for game, ratio in faster.items()),
            stand_in,
        ),
        Claim(
            "OPCS and SPCS are slower than CS on hold'em",
            {f"{game} ({sampler})": Finding(ratio.above_one, seeds[game]) for (game, sampler), ratio in slower.items()},
            "ratio to CS: " + ", ".join(f"{game}, {sampler}: {ratio}" for (game, sampler), ratio in slower.items()),
            NO_STAND_IN,
        ),
        Claim(
            "(not said there) Exact passes of this engine are ahead of PCS at the end of the runs",
            {game: Finding(verdict_of(bool(ahead)), seeds[game]) for game, ahead in exact.items()},
            f"on {sum(exact.values())} of {len(games)} games",
            NO_STAND_IN,
        ),
    ]


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    rows = parsed(rows)
    yield from (
        f"The update rule is `{RULE}`, on one thread. Exact passes visit all boards and private states. Public chance "
        "sampling (PCS) draws a public outcome at each chance node. OPCS also draws the opponent's private state, SPCS "
        "the player's own, and CS both (Johanson, Bard, Lanctot, Gibson and Bowling, AAMAS 2012). A number is the "
        "exploitability of the average policy, as the geometric mean over seeds. Times are in engine CPU seconds; a "
        "dash means that the run has no point before or after that time.",
        "",
        "In the figures of that paper, PCS converges fastest on [2-1] and [2-4] hold'em, and OPCS and SPCS are slower "
        "than CS; on Bluff with two dice each, Bluff(2,2), PCS is far ahead of CS. The paper has no exact passes. Its "
        "matches against an equilibrium of Bluff(2,2) are not played here.",
        "",
        "Figure 3 of that paper, on abstractions of limit Texas hold'em, has [a page of its own](texas.md).",
    )
    for number, (title, game_rows) in enumerate(rows.groupby("game", sort=False)):
        name = f"pcs-{number}.svg"
        draw(game_rows, "CPU seconds", "sampler", folder / name, str(title))
        by_sampler = {sampler: means(runs) for sampler, runs in game_rows.groupby("sampler", sort=False)}
        # Columns for the times that at least one run reaches; the best of each is bold.
        times = [k for k in range(len(TIMES)) if any(np.isfinite(values[k]) for values in by_sampler.values())]
        best = {k: np.nanmin([values[k] for values in by_sampler.values()]) for k in times}
        processors = " and ".join(game_rows["processor"].unique())
        yield from (
            "",
            f"## {title}",
            "",
            f"![Exploitability against CPU seconds]({name})",
            "",
            f"On {processors}; number of seeds of each sampler: {game_rows['seed'].nunique()}.",
            "",
        )
        yield from table(
            ("", *(f"{TIMES[k]:g} s" for k in times)),
            [(sampler, *(cell(values[k], best[k]) for k in times)) for sampler, values in by_sampler.items()],
        )


EXPERIMENT = Experiment(
    "pcs", "Drawing chance, or passing over all of it",
    "Johanson, Bard, Lanctot, Gibson and Bowling, Efficient Nash equilibrium approximation through Monte Carlo "
    "counterfactual regret minimization, AAMAS 2012",
    cases, page, claims,
)  # fmt: skip
