"""Monte Carlo CFR with as few histories as CFR touches in its first iteration (Lanctot et al. 2009)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from rlccfr.experiments.experiment import NO_STAND_IN, Case, Claim, Experiment, Finding, Row
from rlccfr.experiments.pages import Ratio, draw, grouped, table, with_fields
from rlccfr.games.names import load_game
from rlccfr.policy import Policy
from rlccfr.solver import Solver

GAMES = (
    "liars_dice(numdice=1,dice_sides=6)",
    "goofspiel(num_cards=5,imp_info=True,points_order=descending)",
    "leduc(ranks=12,suits=2,raises=2)",
    "royal",
)
QUICK = ("leduc(ranks=4)",)

SAMPLERS = ("external", "outcome", "chance", "average_strategy", "public_chance")
"""Samplers that are tried; public chance sampling needs a game in which only chance hides anything."""

EXACT = "CFR"

SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Numbers of histories at which samplers are compared, as shares of those that CFR touches in an iteration."""

AXIS = "histories, as a multiple of those of an iteration of CFR"

ITERATIONS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000)
"""Iterations after which CFR is evaluated, to see which of them the samplers have reached."""

SEEDS = 10


def sampled(game: str, sampler: str, shares: tuple[float, ...], seed: int) -> list[Row]:
    """Return CFR's exploitability with a sampler once each number of histories has been touched.

    Args:
        game: name of the game.
        sampler: id of the sampler.
        shares: numbers of histories, as shares of those that CFR touches in an iteration, ascending.
        seed: seed of the run.
    """
    tree = load_game(game)
    per_iteration = Solver(tree, "cfr", reduce=False).run(iterations=1, curve=False).nodes_touched
    solver = Solver(tree, "cfr", sampler, seed=seed)
    rows: list[Row] = []
    touched = 0
    for share in shares:
        # The run continues, so only the histories since the last row are touched.
        result = solver.run(nodes=max(1, round(share * per_iteration) - touched), curve=False)
        touched = result.nodes_touched
        rows.append({"share": share, "iterations": result.iterations, "exploitability": result.exploitability})
    return rows


def exact(game: str, iterations: tuple[int, ...]) -> list[Row]:
    """Return the exploitability of CFR without sampling after each number of iterations, ascending."""
    solver = Solver(load_game(game), "cfr", reduce=False)
    rows: list[Row] = []
    for count in iterations:
        result = solver.run(iterations=count - (int(rows[-1]["iterations"]) if rows else 0), curve=False)
        rows.append({"share": float(count), "iterations": count, "exploitability": result.exploitability})
    return rows


def cases(quick: bool) -> list[Case]:
    """Return the cases of a full run, or of a quick one; CFR draws nothing at random, and has one run."""
    all_cases = []
    for game in QUICK if quick else GAMES:
        all_cases.append(Case(f"{game}/{EXACT}/0", partial(exact, game, ITERATIONS[:5] if quick else ITERATIONS)))
        # In Goofspiel, the players' bids hide something, too.
        samplers = [name for name in SAMPLERS if not (name == "public_chance" and "goofspiel" in game)]
        all_cases += [
            Case(f"{game}/{sampler}/{seed}", partial(sampled, game, sampler, SHARES, seed))
            for sampler in samplers
            for seed in range(2 if quick else SEEDS)
        ]
    return all_cases


def parsed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with columns for the fields of their cases' keys: ``game``, ``sampler`` and ``seed``."""
    return with_fields(rows, "game", "sampler", "seed")


def claims(rows: pd.DataFrame) -> list[Claim]:
    """Judge the claim by the policies once samplers have touched as many histories as an iteration of CFR."""
    runs = parsed(rows)
    after_one = runs[runs["share"] == 1.0]
    reached = grouped(after_one, "game", "sampler")
    games = list(dict.fromkeys(game for game, _ in reached))
    judged = []
    for sampler, name in (("external", "external sampling"), ("outcome", "outcome sampling")):
        ratios = {
            game: Ratio.of(reached[game, sampler], reached[game, EXACT] * len(reached[game, sampler])) for game in games
        }
        judged.append(
            Claim(
                f"After as many histories as the first iteration of CFR touches, {name} is less exploitable than CFR",
                {game: Finding(ratio.below_one, len(reached[game, sampler])) for game, ratio in ratios.items()},
                "ratio of exploitabilities: " + ", ".join(f"{game}: {ratio}" for game, ratio in ratios.items()),
                NO_STAND_IN,
            )
        )
    return judged


def as_good_as(exploitability: float, exact_run: pd.DataFrame) -> str:
    """Return after how many iterations CFR is at most as exploitable, of the numbers at which it was evaluated."""
    reached = exact_run[exact_run["exploitability"] <= exploitability]
    return f"{reached['iterations'].min():,}" if len(reached) else f"more than {exact_run['iterations'].max():,}"


def page(rows: pd.DataFrame, folder: Path, quick: bool) -> Iterator[str]:
    """Yield the lines of the experiment's page in Markdown, and draw its pictures into ``folder``."""
    runs = parsed(rows)
    seeds = runs.loc[runs["sampler"] != EXACT, "seed"].nunique()
    counts = ", ".join(f"{count:,}" for count in sorted(runs.loc[runs["sampler"] == EXACT, "iterations"].unique()))
    yield from (
        "CFR visits every history in each iteration, while a sampler walks many times meanwhile. Here, samplers run "
        "until they have touched as many histories as one iteration of CFR, without merging what is symmetric. A "
        "number is the exploitability of the average policy as a share of the uniform policy's: the geometric mean "
        f"over {seeds} seeds. The last column says after how many iterations CFR is as good as the sampler; it was "
        f"evaluated after {counts}. All runs have the update rule `cfr`, one walk per player in an iteration, and one "
        "thread. The claim is one that is made in talks about these samplers.",
    )
    for number, (game, of_game) in enumerate(runs.groupby("game", sort=False)):
        picture = f"first-iteration-{number}.svg"
        draw(of_game.rename(columns={"share": AXIS}), AXIS, "sampler", folder / picture, str(game))
        exact_run = of_game[of_game["sampler"] == EXACT]
        uniform = Policy.uniform(load_game(str(game))).exploitability()
        after_first = float(exact_run["exploitability"].iloc[0]) / uniform
        yield from (
            "",
            f"## `{game}`",
            "",
            f"![Exploitability against histories]({picture})",
            "",
            f"After one iteration, CFR is at {after_first:.3g} of the uniform policy's exploitability, {uniform:.3g}.",
            "",
        )
        lines = []
        for sampler, of_sampler in of_game[of_game["sampler"] != EXACT].groupby("sampler", sort=False):
            logs = np.log(of_sampler["exploitability"]).groupby(of_sampler["share"]).mean()
            end = float(np.exp(logs[SHARES[-1]]))
            iterations = of_sampler.loc[of_sampler["share"] == SHARES[-1], "iterations"].mean()
            shares = [f"{np.exp(logs[share]) / uniform:.3g}" for share in SHARES]
            lines.append((sampler, *shares, f"{iterations:,.0f}", as_good_as(end, exact_run)))
        heads = [f"{share:.0%} of an iteration" for share in SHARES]
        yield from table(("sampler", *heads, "its iterations by then", "as good as CFR after"), lines)


EXPERIMENT = Experiment(
    "first-iteration", "Monte Carlo CFR before CFR has finished an iteration",
    "Lanctot, Waugh, Zinkevich and Bowling, Monte Carlo sampling for regret minimization in extensive games, NIPS 2009",
    cases, page, claims,
)  # fmt: skip
