"""The page on the default: ``python -m benchmarks.default_page`` writes docs/default.md.

The figures come from benchmarks/results/default.csv, which ``python -m benchmarks.default test`` fills.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import default, new_games
from benchmarks.markdown import table
from rlccfr.agents.control.games import FILE as CONTROL_GAMES
from rlccfr.files import write_atomically

PAGE = Path(__file__).parents[1] / "docs" / "default.md"

BEST = "best rule"
PUBLIC = "public trees"
SIZES = (0, 1_000, 10_000, 100_000, 10**9)
"""Numbers of histories between which games are grouped."""

WORST = 10
"""Number of the slowest pairs of a game and a target that are listed."""


def page(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's lines.

    Args:
        rows: the measurements of the test games.
    """
    missing = [name for name in default.games_of("test") if name not in set(rows["game"])]
    ratios = default.ratios(rows).clip(1 / default.LONGEST, default.LONGEST)
    named = set(new_games.names()) & set(rows["game"])
    yield "# The default beside every fixed rule"
    yield ""
    yield "Written by `python -m benchmarks.default_page`; not edited by hand."
    yield ""
    yield (
        f"`rlccfr.solve(game, until=...)` and every fixed rule ran to {len(default.TARGETS)} targets on "
        f"{rows['game'].nunique()} test games. {len(named)} of them were named before any of them was run "
        "(`benchmarks/new_games.py`); the gates are judged on these. The others are the paper's, and larger public "
        "trees. The times are CPU "
        "seconds of the process from the loaded game to the policy: "
        "predicting, iterating, blending and measuring. A first round names the finalists of each target: "
        "`rlccfr.solve`, its rivals by name, and the three soonest rules. They then take turns, and the shortest of up "
        f"to {default.ROUNDS} turns counts. A ratio counts as at most {default.LONGEST:g} and at least its inverse. "
        "Targets are shares of the uniform policy's exploitability."
    )
    yield ""
    yield (
        "A reservation: six settings of the default followed looks at the test games, which had shown where it was "
        "slow: a limit of size, that runs without chance have a rule of their own, which rule that is, how clearly a "
        "linear program must be sooner, that a schedule steers runs to fine targets in the largest games, and that "
        "large public trees have rules of their own. They were chosen on other games ([decision "
        "40](adr/0040-the-default-way-to-solve.md)). The training games that the last two gates name are those of "
        "controllers, of up to 6,381 histories; the rule for fine targets was searched for on larger ones as well, of "
        "up to 60,000 ([decision "
        "55](adr/0055-a-point-of-scheduled-to-fine-targets.md))."
    )
    yield ""
    yield (
        "On public trees, a fixed rule's first run continues from each target to the next finer one, until it takes "
        f"{default.CONTINUED_OVER_BEST:g} times as long as the soonest rule, or {default.PUBLIC_LIMIT:g} s. That the "
        "default runs a point of `scheduled` to fine targets there was decided on eleven other trees ([decision "
        "55](adr/0055-a-point-of-scheduled-to-fine-targets.md)). By then, the earlier default's times on these trees "
        "had been seen, but no rival's."
    )
    yield ""
    yield (
        "On the games without chance, and to targets of 1e-5 and finer on those of at least 500,000 histories, the "
        "default was changed after the first round; there, it took turns again with the finalists (`--again`)."
    )
    yield ""
    yield (
        "That public trees of at least 2 million sequences have rules of their own was decided on three other trees "
        "after `holdem` had been judged ([decision 55](adr/0055-a-point-of-scheduled-to-fine-targets.md)). There, the "
        "new default took turns again with the finalists."
    )
    yield ""
    yield (
        "On `bluff(dice=2)`, the first round and the turns to 1e-2 and 1e-3 were made on another processor than the "
        "turns to finer targets. The turns to one target are always made on one processor."
    )
    if missing:
        yield ""
        yield f"Not measured yet: {', '.join(f'`{name}`' for name in missing)}."
    yield from ("", "## By rival", "")
    yield (
        "How many times as long as `rlccfr.solve` a rival takes: geometric means over games, of each game's mean over "
        "targets, with 95 % bootstrap intervals over games. The *best rule* is chosen for each game and target after "
        "all of them have run, which no program could do. The *recommended* rule is what `rlccfr recommend` names."
    )
    yield from ("", *table(default.summary(rows).round(2)))
    yield from ("", default.predictions(rows))
    yield from ("", "## Gates", "", *table(pd.DataFrame(gates(rows[rows["game"].isin(named)]))))
    yield from ("", "## By kind of game", "", *table(_by_kind(rows, named)))
    yield from ("", "## By target", "", *table(_means(ratios, ratios.index.get_level_values("share"), "target")))
    histories = rows.groupby("game")["histories"].first()
    sizes = pd.cut(histories, [-1, *SIZES], labels=[PUBLIC, *_size_labels()])
    of_rows = pd.CategoricalIndex(sizes.loc[ratios.index.get_level_values("game")])
    yield from ("", "## By size of the game", "", *table(_means(ratios, of_rows, "histories")))
    yield from ("", "## Where the best rule is ahead most", "", *table(_worst(rows, ratios)))


def gates(rows: pd.DataFrame) -> Iterator[dict[str, str]]:
    """Yield a row for each gate: what was required, before any test game was run, and what was found."""
    means = default.summary(rows).set_index("rival")
    ratios = default.ratios(rows).clip(1 / default.LONGEST, default.LONGEST)

    def gate(wanted: str, found: float, least: float) -> dict[str, str]:
        return {"gate": wanted, "found": f"{found:.2f}", "met": "yes" if found >= least else "**no**"}

    mean = "times as long as ours"
    yield gate("the best rule takes at least as long (geometric mean)", means.loc[BEST, mean], 1.0)
    yield gate("the best rule takes at least 1.5 times as long, for new schedules", means.loc[BEST, mean], 1.5)
    yield gate("the best rule takes at least 0.4 times as long on every game and target", ratios[BEST].min(), 0.4)
    yield gate("CFR+ takes at least 4 times as long (geometric mean)", means.loc[default.PLAIN, mean], 4.0)
    recommended = ratios[default.RECOMMENDED].min()
    yield gate("the recommended rule takes at least 0.91 times as long on every game and target", recommended, 1 / 1.1)
    within = default.share_within_twice(rows)
    yield gate("of our times, 0.9 are within a factor of 2 of their predictions", within, 0.9)
    trained = pd.read_csv(CONTROL_GAMES).query("split == 'train'")["histories"].max()
    histories = rows.groupby("game")["histories"].first()
    for factor in (10, 100):
        names = set(histories.index[histories >= factor * trained])
        logs = np.log(ratios[BEST]).groupby("game").mean()
        found = float(np.exp(logs[logs.index.isin(names)].mean()))
        larger = f"{len(names)} games at least {factor} times larger than any training game"
        yield gate(f"the best rule takes at least as long on the {larger}", found, 1.0)


def _means(ratios: pd.DataFrame, by: np.ndarray | pd.Index, name: str) -> pd.DataFrame:
    """Return the geometric means of ratios by group."""
    groups = pd.Series(by, index=ratios.index, name=name)
    means = np.exp(np.log(ratios).groupby(groups, sort=True, observed=True).mean())
    means.insert(0, "runs", groups.value_counts().reindex(means.index))
    words = [f"{group:g}" if isinstance(group, float) else str(group) for group in means.index]
    return means.round(2).set_axis(pd.Index(words, name=name)).reset_index()


def _by_kind(rows: pd.DataFrame, named: set[str]) -> pd.DataFrame:
    """Return how many times as long as ours each rival takes, and the least ratio, by kind of test game.

    Args:
        rows: the measurements of the test games.
        named: the games that were named before any of them was run.
    """
    public = set(rows.loc[rows["histories"] == 0, "game"])
    kinds = {
        "compiled, named before any was run": named - public,
        "the paper's": set(default.PAPER),
        PUBLIC: public,
    }
    lines = []
    for kind, games in kinds.items():
        of_kind = rows[rows["game"].isin(games)]
        if of_kind.empty:
            continue
        ratios = default.ratios(of_kind).clip(1 / default.LONGEST, default.LONGEST)
        means = np.exp(np.log(ratios).groupby("game").mean().mean())
        figures = {rival: f"{means[rival]:.2f} ({ratios[rival].min():.2f})" for rival in ratios.columns}
        lines.append({"games, mean (least)": kind, "number": of_kind["game"].nunique(), **figures})
    return pd.DataFrame(lines)


def _size_labels() -> list[str]:
    """Return the titles of the groups of games by size."""
    inner = [f"{low:,} to {high:,}" for low, high in pairwise(SIZES[1:-1])]
    return [f"up to {SIZES[1]:,}", *inner, f"more than {SIZES[-2]:,}"]


def _worst(rows: pd.DataFrame, ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the games and targets at which the best rule leads most: what ran, how long, and which rule was best."""
    by_name = rows.set_index(["game", "share", "contender"])["seconds"].sort_index()
    ours = rows[rows["contender"] == default.OURS].set_index(["game", "share"])
    lines = []
    for game, share in ratios[BEST].nsmallest(WORST).index:
        of_pair = by_name[game, share].drop([default.OURS, default.STEERED, default.RECOMMENDED], errors="ignore")
        run = ours.loc[(game, share)]
        lines.append(
            {
                "game": f"`{game}`",
                "target": f"{share:g}",
                "our way": run["method"],
                "our seconds": f"{run['seconds']:.3g}",
                "predicted": f"{run['predicted']:.3g}",
                "best rule": of_pair.idxmin(),
                "its seconds": f"{of_pair.min():.3g}",
            }
        )
    return pd.DataFrame(lines)


def main() -> None:
    """Write the page."""
    rows = default.recorded().query("split == 'test'")
    write_atomically(PAGE, ("\n".join(page(rows)) + "\n").encode())


if __name__ == "__main__":
    main()
