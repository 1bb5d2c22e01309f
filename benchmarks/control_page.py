"""The page on controlled runs: ``python -m benchmarks.control_page`` writes docs/control.md and its pictures.

The tables of the test games come from benchmarks/results/control.parquet, which ``python -m benchmarks.control test``
fills. The pictures, the comparisons on ten games and with DDCFR, and the costs are measured again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import rlccfr
from benchmarks import control, control_pictures, every_rule, new_games, overhead, steering
from benchmarks.markdown import table
from rlccfr.agents.control.games import FILE as GAMES
from rlccfr.catalog.scheduled import DATA, NAMED_CONTROLLERS
from rlccfr.components.controller import SCHEDULE, SETTINGS
from rlccfr.controller_file import training_of
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.errors import RLCCFRError
from rlccfr.experiments.curves import with_horizon
from rlccfr.experiments.ddcfr import MAX_HISTORIES, PUBLISHED
from rlccfr.games.flat_tree import COMPILED

PAGE = Path(__file__).parents[1] / "docs" / "control.md"
LEAST_RATIOS: dict[int, dict[str, float]] = {
    100: {control.HINDSIGHT: 0.9},
    1000: {control.HINDSIGHT: 1.5, "vad_cfr, blended": 1.5},
    5000: {control.HINDSIGHT: 1.5, "vad_cfr, blended": 1.5},
}
"""The gates, set before any run on a test game: the least ratios of a rival's exploitability to the steered run's."""

WORST_AT, WORST_RATIO = 1000, 0.5
"""The horizon at which the interval of the first gate must lie above 1, and the least ratio on any game there."""

DEFAULT = "schedule, blended"
RIVALS: dict[str, dict[str, Any]] = {
    "schedule": {"control": "schedule"},
    "networks, blended": {"control": "shipped", "blend": True},
    "vad_cfr": {"update_rule": "vad_cfr"},
    "vad_cfr, blended": {"update_rule": "vad_cfr", "blend": True},
    "momentum_dcfr": {"update_rule": "momentum_dcfr"},
    "momentum_dcfr, blended": {"update_rule": "momentum_dcfr", "blend": True},
    "ddcfr_schedule": {"update_rule": "ddcfr_schedule"},
}
ROUNDING = 1e-13
"""Exploitability below which numbers are not distinguished."""

TEN_GAMES = {
    title: every_rule.GAMES[title]
    for title in (
        "Leduc", "Leduc, 5 ranks", "Leduc, 9 ranks", "Leduc, 13 ranks", "Liar's dice, 5 faces", "Liar's dice, 6 faces",
        "Goofspiel, 5 cards, by points", "Royal",
    )
} | {"Battleship-3": PUBLISHED["Battleship-3"].game, "Big Leduc": PUBLISHED["Big Leduc"].game}  # fmt: skip


def training() -> Iterator[str]:
    """Yield how the networks were trained."""
    about, games = training_of(DATA / "controller.npz"), pd.read_csv(GAMES)
    log = pd.read_csv(DATA / "training.csv")
    *most_horizons, last_horizon = (f"{int(horizon):,} ({share:.0%})" for horizon, share in about["horizons"])
    horizons = f"{', '.join(most_horizons)} or {last_horizon}"
    largest = games.query("split == 'train'")["histories"].max()
    histories = pd.read_csv(new_games.FILE).query("form == 'compiled'")["histories"]
    sizes = [int((histories >= times * largest).sum()) for times in (10, 100)]
    yield (
        f"Three DQN agents learned from {log['runs'].max():,} live runs of {len(about['games'])} games. The largest "
        f"game has {largest:,} histories. The runs had {horizons} iterations. Such a training takes "
        f"{about['cpu_seconds'] / about['members']:,.0f} CPU seconds; `rlccfr train --control` repeats it. The agents "
        f"pick by the means of the Q-values of {about['members']} training{'s' * (about['members'] > 1)}."
    )
    yield ""
    yield (
        f"Variants were compared on {len(control.games_of('validation'))} validation games. The {len(histories)} test "
        f"games were named before any controller ran on one. {sizes[0]} of them are at least ten times as large as any "
        f"training game, and {sizes[1]} a hundred times (`benchmarks/results/new-games.csv`)."
    )
    yield ""
    yield "![The training](control-training.svg)"


def search() -> Iterator[str]:
    """Yield how the schedule was found, and what it is."""
    schedules: dict[str, Any] = training_of(NAMED_CONTROLLERS[SCHEDULE])["schedules"]
    generations = [schedules[horizon]["generations"] for horizon in sorted(schedules, key=int)]
    of_each = f"{generations[0]} each" if len(set(generations)) == 1 else f"{_listed(generations)}, in this order"
    yield (
        f"For runs of {_listed(sorted(map(int, schedules)))} iterations, CMA-ES searched for {steering.NUM_GENES} "
        "numbers: alpha, gamma, optimism and momentum at the first decision, at the middle one and at the last, with a "
        "straight line in between, and a constant beta and power. A run of another length follows the schedule of the "
        f"nearest of these. The searches had generations of {steering.POPULATION} schedules, {of_each}. "
        f"Each generation was judged by what runs end with, on {steering.GAMES} games: half of "
        "them from the training games, half from a list of 146 larger ones, up to 60,000 histories. `python -m "
        "benchmarks.steering HORIZON` repeats a search."
    )
    rows = []
    for horizon in sorted(schedules, key=int):
        for knot, values in zip(("start", "middle", "end"), schedules[horizon]["schedule"], strict=True):
            of_settings = dict(zip(SETTINGS, values, strict=True))
            rows.append({"iterations": f"{int(horizon):,}", "at": knot} | {
                name: f"{of_settings[name]:.2f}" for name in steering.BOUNDS
            })  # fmt: skip
    yield from ("", *table(pd.DataFrame(rows)))


def _listed(numbers: Iterable[int]) -> str:
    """Return at least two numbers in words: "100, 300 and 1,000"."""
    *most, last = (f"{number:,}" for number in numbers)
    return f"{', '.join(most)} and {last}"


def comparison() -> Iterator[str]:
    """Yield the tables of the test games.

    Raises:
        RLCCFRError: no steered run has been measured on them.
    """
    rows = control.measured("test")
    if not len(rows):
        raise RLCCFRError("steered runs have not been measured: run `python -m benchmarks.control test`")
    if missing := control.missing("test"):
        yield ""
        yield (
            f"**{len(missing)} of the {len(control.games_of('test'))} games are not measured yet**: "
            f"{', '.join(f'`{name}`' for name in missing)}."
        )
    yield from ("", *table(pd.DataFrame(gates(rows))))
    for horizon in control.HORIZONS:
        yield from ("", f"### {horizon:,} iterations", "", *control.report(rows, horizon))


def gates(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a row for each gate on the exploitability at equal CPU seconds: what was required, and what was reached.

    Args:
        rows: rows of the test games.
    """
    for horizon in control.HORIZONS:
        gains = control.gains_at(rows, horizon)
        for rival, least in LEAST_RATIOS[horizon].items():
            ratio = 10 ** gains[rival].mean()
            yield gate(horizon, rival, f"at least {least}", ratio, ratio >= least)
        if horizon == WORST_AT:
            low, _ = control.interval(gains[control.HINDSIGHT].to_numpy())
            worst = gains[control.HINDSIGHT].min()
            yield gate(horizon, f"{control.HINDSIGHT}: lower end of the interval", "above 1", 10**low, low > 0)
            at_least = f"at least {WORST_RATIO}"
            yield gate(horizon, f"{control.HINDSIGHT}: worst game", at_least, 10**worst, 10**worst >= WORST_RATIO)
        for rival in (control.UNTRAINED, control.RANDOM, control.MEAN_POINT):
            if rival not in gains:
                continue
            # What the rival itself reaches, compared with the best fixed rule of each game.
            ratio = 10 ** (gains[control.HINDSIGHT] - gains[rival]).mean()
            least = LEAST_RATIOS[horizon][control.HINDSIGHT]
            yield gate(horizon, f"{rival}, beside the {control.HINDSIGHT}", f"below {least}", ratio, ratio < least)


def gate(horizon: int, about: str, asked: str, reached: float, met: bool) -> dict[str, str]:
    """Return a gate's row: its subject, what was required, and what was reached."""
    verdict = "met" if met else "**missed**"
    return {"iterations": f"{horizon:,}", "against": about, "gate": asked, "reached": f"{reached:.3g}", "": verdict}


def ten_games() -> list[dict[str, Any]]:
    """Return a row for each game of :data:`TEN_GAMES`: the exploitability that the default and its rivals reach."""
    rows = []
    for title, name in TEN_GAMES.items():
        game = rlccfr.load_game(name, max_histories=MAX_HISTORIES)
        row: dict[str, Any] = {"game": title}
        for contender, components in {DEFAULT: dict(COMPILED.best_run), **RIVALS}.items():
            logs = []
            for iterations in control.nearby(1000):
                solver = rlccfr.Solver(game, **_told(components, iterations))
                reached = solver.run(iterations=iterations, curve=False).exploitability
                logs.append(math.log10(max(reached, ROUNDING)))
            row[contender] = 10 ** (sum(logs) / len(logs))
        rows.append(row | {"times the best": row[DEFAULT] / min(row[contender] for contender in RIVALS)})
    return rows


def _told(components: dict[str, Any], iterations: int) -> dict[str, Any]:
    """Return components whose update rule knows its number of iterations, if it has a parameter for it."""
    if "update_rule" not in components:
        return components
    return components | {"update_rule": with_horizon(components["update_rule"], iterations)}


def beside_the_best() -> Iterator[str]:
    """Yield the table of the ten games."""
    rows = ten_games()
    yield (
        "Exploitability at 1,000 iterations: the geometric mean over three numbers of iterations nearby. Times are not "
        "compared here."
    )
    yield ""
    yield from figures_table(rows)
    near = sum(row["times the best"] <= 1.2 for row in rows)
    worst = max(row["times the best"] for row in rows)
    verdict = "met" if near >= 8 and worst <= 2 else "**missed**"
    yield ""
    yield (
        f"Gate: the default is best or within 1.2 times of the best column on eight of the ten, and never worse than "
        f"twice. Reached: {near} of {len(rows)}, and {worst:.3g} times at worst: {verdict}."
    )


def figures_table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield rows as a Markdown table, numbers with three digits."""
    yield f"| {' | '.join(rows[0])} |"
    yield "|" + "---|" * len(rows[0])
    for row in rows:
        yield f"| {' | '.join(f'{value:.3g}' if isinstance(value, float) else str(value) for value in row.values())} |"


def beside_ddcfr() -> list[dict[str, Any]]:
    """Return a row for each of DDCFR's games: the published exploitability, and the one reached here."""
    rows = []
    for title, known in PUBLISHED.items():
        game, here = rlccfr.load_game(known.game, max_histories=MAX_HISTORIES), []
        ways = ({"update_rule": "dcfr"}, {"control": "shipped"}, {"control": SCHEDULE}, dict(COMPILED.best_run))
        for given in ways:
            solver = rlccfr.Solver(game, **given)  # type: ignore[arg-type]
            here.append(max(solver.run(iterations=1000, curve=False).exploitability, 1e-16))
        rows.append(
            {
                "game": title,
                "histories": game.num_histories,
                "DCFR, published": known.dcfr,
                "DCFR, here": here[0],
                "DDCFR, published": known.ddcfr,
                "networks": here[1],
                "schedule": here[2],
                "schedule, blended": here[3],
                "DDCFR to schedule": math.nan if known.differs else known.ddcfr / here[2],
            }
        )
    return rows


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield from (
        "# Steering runs: what schedules and networks gain",
        "",
        f"Written by `python -m benchmarks.control_page` on {processor_model()}; not edited by hand.",
        "",
        "[Steer a run](howto/steer-a-run.md) says how to use them, [decision 22](adr/0022-three-agents-steer-a-run.md) "
        "how the networks are built, and [decision 46](adr/0046-a-schedule-in-place-of-networks.md) why `rlccfr.solve` "
        "follows a schedule in their place. What it takes is what is judged here.",
        "",
        "## The schedule",
        "",
        *search(),
        "",
        "## The networks",
        "",
        *training(),
        "",
        "## Test games",
        "",
        "A steered run ends as `rlccfr.solve` ends it, with blends ([decision 24](adr/0024-blends.md)) from "
        f"{COMPILED.least_blended} iterations on. "
        "Every fixed rule gets as many CPU seconds, with deciding, observing and blending counted, and "
        "makes at least as many iterations; so do seven rules with blends of their own. The fixed rules are all "
        "tabular ones except `scheduled`. The best in hindsight is chosen for each game after all have run. Ways to "
        "steer, by the trained networks or by what has learned nothing, make as many iterations, without a limit on "
        "time.",
        "",
        "Each figure of a game is a mean over three numbers of iterations (0.8, 1 and 1.25 times the one at the head), "
        "since one run is a noisy witness. A ratio above 1 says that the steered run's exploitability is lower; a game "
        "counts as won or lost beyond a factor of 1.01. An exploitability below 1e-9 of the uniform policy's counts as "
        "1e-9 of it. `python -m benchmarks.control test` measures all of this. The time to a target is on [the page of "
        "the default](default.md).",
        *comparison(),
        "",
        "## Ten games",
        "",
        *beside_the_best(),
        "",
        "## DDCFR's games",
        "",
        "DDCFR learned, by evolution, a network that sets the three exponents of DCFR during a run. Exploitability "
        "after 1,000 iterations, as published with its code, and here:",
        "",
        *figures_table(beside_ddcfr()),
        "",
        "The two columns of DCFR show whether the game and the measure agree; small differences come from the order of "
        "updates. They do not agree on Battleship-2: its tree has the same number of nodes, but the published figures "
        "differ from the first iteration on. So it has no ratio. DDCFR's two other games are river subgames of "
        "hold'em, on which controllers do not run; [another page](experiments/ddcfr.md) has them. Leduc is a "
        "validation game.",
        "",
        "## What it does",
        "",
        "Exploitability over iterations, of the steered run and of fixed rules:",
        "",
        "![Exploitability over iterations](control.svg)",
        "",
        "What the networks picked in runs on these games, at each decision:",
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
