"""The page on steering: ``python -m benchmarks.control_page`` writes docs/control.md and its pictures.

The tables come from benchmarks/results/control.csv, which ``python -m benchmarks.control`` and ``python -m
benchmarks.trees`` fill. The pictures, the comparison with DDCFR and the costs are measured anew.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import rlccfr
from benchmarks import blending, control, control_pictures, overhead
from rlccfr.agents.control.games import FILE as GAMES
from rlccfr.catalog.scheduled import DATA
from rlccfr.controller_file import training_of
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.experiments.ddcfr import MAX_HISTORIES, PUBLISHED

PAGE = Path(__file__).parents[1] / "docs" / "control.md"
HORIZONS = (1000, 100, 10_000)


def training() -> Iterator[str]:
    """Yield how the shipped controller was trained."""
    about, games = training_of(DATA / "controller.npz"), pd.read_csv(GAMES)
    log = pd.read_csv(DATA / "training.csv")
    *most_horizons, last_horizon = (f"{int(horizon):,} ({share:.0%})" for horizon, share in about["horizons"])
    horizons = f"{', '.join(most_horizons)} or {last_horizon}"
    splits = [games[games["split"] == split] for split in ("train", "validation", "test")]
    largest = splits[0]["histories"].max()
    sizes = [int((splits[2]["histories"] >= times * largest).sum()) for times in (10, 100)]
    yield (
        f"Three DQN agents learned from {log['runs'].max():,} live runs of {len(about['games'])} games. The largest "
        f"game has {largest:,} histories. The runs had {horizons} iterations. Such a training takes "
        f"{about['cpu_seconds'] / about['members']:,.0f} CPU seconds; `rlccfr train --control` repeats it. The agents "
        f"pick by the means of the Q-values of {about['members']} training{'s' * (about['members'] > 1)}."
    )
    yield ""
    yield (
        f"Variants were compared on {len(splits[1])} validation games. The {len(splits[2])} test games were named "
        f"before any controller ran on one. {sizes[0]} of them are at least ten times as large as any training game, "
        f"and {sizes[1]} a hundred times (`agents/control/data/games.csv`)."
    )
    yield ""
    yield "![The training](control-training.svg)"


def comparison() -> Iterator[str]:
    """Yield the tables of the test games, with the controller that was measured last.

    Raises:
        RLCCFRError: none was measured on all of them.
    """
    controller = control.last_measured("test", HORIZONS[0])
    if controller != control.shipped():
        yield ""
        yield (
            f"**These tables are of an earlier controller** ({controller}), whose choices had no momentum. The shipped "
            f"controller ({control.shipped()}) has not been measured on the test games yet; `python -m "
            "benchmarks.control test 1000` does it."
        )
    for horizon in HORIZONS:
        rows = control.measured("test", horizon, controller)
        if len(rows):
            yield from ("", f"### {horizon:,} iterations", "", *control.report(rows))


def blended() -> Iterator[str]:
    """Yield the comparison of runs with blends, which takes another look at the test games."""
    yield (
        "A steered run can end with blends ([decision 24](adr/0024-blends.md)), which are predicted to lengthen it by "
        "at most a fifth. Here all other algorithms get as many CPU seconds as the blended run took. This is a second "
        "look at the same test games, after the tables above; nothing was chosen by it (`python -m "
        "benchmarks.blending test`)."
    )
    yield ""
    yield from blending.report(blending.last_measured("test", HORIZONS[0]))


def beside_ddcfr() -> list[dict[str, Any]]:
    """Return a row for each of DDCFR's games: the published exploitability and that reached here."""
    rows = []
    for title, known in PUBLISHED.items():
        game, here = rlccfr.load_game(known.game, max_histories=MAX_HISTORIES), []
        for given in ({"update_rule": "dcfr"}, {"control": "shipped"}):
            solver = rlccfr.Solver(game, **given)  # type: ignore[arg-type]
            here.append(max(solver.run(iterations=1000, curve=False).exploitability, 1e-16))
        rows.append(
            {
                "game": title,
                "histories": game.num_histories,
                "DCFR, published": known.dcfr,
                "DCFR, here": here[0],
                "DDCFR, published": known.ddcfr,
                "controller": here[1],
                "ratio to DDCFR": math.nan if known.differs else known.ddcfr / here[1],
            }
        )
    return rows


def published() -> Iterator[str]:
    """Yield the comparison with DDCFR's published figures."""
    rows = beside_ddcfr()
    yield f"| {' | '.join(rows[0])} |"
    yield "|" + "---|" * len(rows[0])
    for row in rows:
        yield f"| {' | '.join(f'{value:.3g}' if isinstance(value, float) else str(value) for value in row.values())} |"


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (
        "# Steering runs: what the controller gains",
        "",
        f"Written by `python -m benchmarks.control_page` on {processor_model()}; not edited by hand.",
        "",
        "[Steer a run](howto/steer-a-run.md) says how to use the controller, and [decision "
        "22](adr/0022-three-agents-steer-a-run.md) how it is built.",
        "",
        "## How it was trained",
        "",
        *training(),
        "",
        "## Test games",
        "",
        "Each fixed algorithm gets as many CPU seconds as the steered run took, deciding and observing included, and "
        "makes at least as many iterations. The fixed algorithms are all tabular update rules except `scheduled`, with "
        "exact passes; three sampled algorithms; and two against best responses. The best in hindsight is chosen "
        "for each game after all have run. All other ways to steer make as many iterations, without a limit on time; "
        "the trees learned from a seventh of the controller's runs. In all steered runs, each player keeps the best of "
        "four average policies in the last eighth of the run; `controlled, last average` is the controller without "
        "that. An exploitability below 1e-14 of the range of payoffs counts as 1e-14 of it.",
        *comparison(),
        "",
        "### 1,000 iterations, with blends",
        "",
        *blended(),
        "",
        "## DDCFR's games",
        "",
        "DDCFR learned, by evolution, a network that sets the three exponents of DCFR during a run. Exploitability "
        "after 1,000 iterations, as published with its code, and here:",
        "",
        *published(),
        "",
        "The two columns of DCFR show whether the game and the measure agree; small differences come from the order of "
        "updates. They do not agree on Battleship-2: its tree has the same number of nodes, but the published figures "
        "differ from the first iteration on. So it has no ratio. DDCFR's two other games, river subgames of hold'em, "
        "are too large to build here. Leduc is a validation game.",
        "",
        "## What it does",
        "",
        "Exploitability over iterations, of the steered run and of fixed rules:",
        "",
        "![Exploitability over iterations](control.svg)",
        "",
        "What the agents picked in these runs, at each decision:",
        "",
        "![Picks](control-picks.svg)",
        "",
        "## What steering costs",
        "",
        *overhead.report(),
    )


def main() -> None:
    """Write the page and its pictures."""
    text = "\n".join(page()) + "\n"
    control_pictures.draw(PAGE.parent)
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
