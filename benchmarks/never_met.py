"""How well the package's choosers pick for games that they have not learned from: a section of docs/selection.md."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks import simpler
from benchmarks.choosers import BY_HALVING, NAMES, RUNGS, SHARE
from benchmarks.markdown import table
from rlccfr.agents import shipped
from rlccfr.agents.judging.recommendation_table import SBS
from rlccfr.agents.judging.unseen_games import ALL, LARGER, MEMBER, PICK, REPETITIONS, summary
from rlccfr.agents.shipped import unmeasured
from rlccfr.envs.reward import DECADES

THIRD = 1 / 3
"""Goal for the ratio of a chooser's regret to that of the SBS, in decades of exploitability on test games."""


def section() -> Iterator[str]:
    """Yield the section's lines."""
    best = BY_HALVING
    yield from ("## Games never met", "")
    yield (
        f"Here a chooser picks one of {len(shipped.tabular())} algorithms for a game of which it has learned nothing: "
        f"by the game's features, or then by halving: the {RUNGS[0]} algorithms with the best predictions run in "
        f"{SHARE:.0%} of the budget, the winner's run goes on, and what the pick loses by the others' runs counts as "
        "regret. The single best algorithm of the training games (SBS) is what one would take without a chooser. Mean "
        "regret over games, budgets and reward weights:"
    )
    yield ""
    yield from table(compared())
    yield (
        "\n`rlccfr recommend` picks by features alone, since these picks have less regret on validation games than the "
        "SBS under each of the reward weights. With `--measure`, it runs a larger race, of eight algorithms within the "
        "time that you give, which is not judged here. On test games, by reward weights, with halving:"
    )
    yield ""
    by_preset = under_each_preset(best)
    yield from table(by_preset)
    small = int((by_preset["ratio"] <= THIRD).sum())
    sure = int((by_preset["gain from"] > 0).sum())
    yield (
        f"\nThe ratio is at most {THIRD:.2f} under {small} of {len(by_preset)} weights, and the interval of the gain "
        f"is above 0 under {sure}. In decades of exploitability, under the weights `accuracy`, on test games:"
    )
    yield ""
    ratios = in_decades()
    without_family = families()
    yield from table(ratios)
    reached = ratios.set_index("chooser").loc[best, "ratio"] <= THIRD
    yield (
        f"\nThe aim, a ratio of at most {THIRD:.2f}, is {'reached' if reached else 'missed'}. When a whole family is "
        "left out, on its held-out games:"
    )
    yield ""
    yield from table(without_family)
    no_worse = int((without_family[best] <= without_family[SBS]).sum())
    yield f"\nThe pick by {best} is no worse than the SBS on {no_worse} of {len(without_family)} families."
    yield from alone(best)


def under_each_preset(name: str) -> pd.DataFrame:
    """Return a chooser's mean regret on test games, that of the SBS, and the gain, by reward weights."""
    rows = unmeasured.rows_of(name)
    figures = []
    for preset, judgements in rows[rows["member"] == "test"].groupby("preset", sort=False):
        alike = summary(judgements.assign(kind=ALL))[ALL]
        means = {PICK: alike[PICK], SBS: alike[SBS], "ratio": alike[PICK] / alike[SBS]}
        gains = {"gain": alike["gain"], "gain from": -np.inf, "gain to": np.inf}  # no interval: nothing is sure
        gains |= {column: alike[column] for column in gains if column in alike}
        figures.append({"reward weights": preset, **means, **gains})
    return pd.DataFrame(figures)


def compared() -> pd.DataFrame:
    """Return the mean regrets of all choosers and of the SBS on validation and test games."""
    rows = []
    for name in NAMES:
        judgements = unmeasured.rows_of(name)
        by_game = judgements.groupby(["member", "game"])[[PICK, SBS]].mean().groupby("member").mean()
        rows.append({"chooser": name, **by_game[PICK]})
    return pd.DataFrame([*rows, {"chooser": SBS, **by_game[SBS]}])[["chooser", "validation", "test"]]


def in_decades() -> pd.DataFrame:
    """Return the regrets of the choosers and of the SBS on test games, in decades of exploitability."""
    rows = []
    for name in NAMES:
        judgements = unmeasured.rows_of(name)
        judgements = judgements[(judgements["member"] == "test") & (judgements["preset"] == "accuracy")]
        by_game = DECADES * judgements.groupby("game")[[PICK, SBS]].mean()
        pick = by_game[PICK].to_numpy()
        single = by_game[SBS].to_numpy()
        low, high = ratio_interval(pick, single)
        ratio = pick.mean() / single.mean() if single.mean() > 0 else np.inf
        means = {"decades": pick.mean(), "decades of the SBS": single.mean(), "ratio": ratio}
        rows.append({"chooser": name, **means, "ratio from": low, "ratio to": high})
    return pd.DataFrame(rows)


def ratio_interval(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return the bounds of the 95 % bootstrap interval, over games, of the ratio of two means."""
    drawn = np.random.default_rng(0).integers(len(first), size=(REPETITIONS, len(first)))
    with np.errstate(divide="ignore", invalid="ignore"):  # the SBS may be the best on all games drawn
        low, high = np.percentile(first[drawn].mean(axis=1) / second[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def families() -> pd.DataFrame:
    """Return the mean regrets, on a family's held-out games, of choosers that learned nothing about the family."""
    rows = unmeasured.judgements()
    rows = rows[(rows["without"] != "") & rows["budget"].isin(list(map(str, shipped.BUDGETS)))]
    by_game = rows.groupby(["without", "picked by", "game"], sort=False)[[PICK, SBS]].mean()
    means = by_game.groupby(["without", "picked by"], sort=False).mean()
    regrets = means[PICK].unstack("picked by")
    regrets[SBS] = means[SBS].groupby("without").first()
    return regrets[[*NAMES, SBS]].reset_index()


def alone(name: str) -> Iterator[str]:
    """Yield the lines on one chooser: by game, by kind of game, and by circumstance."""
    judgements = unmeasured.rows_of(name)
    yield (
        f"\nFor {name}, by game. *measuring* is the engine CPU seconds that it takes to measure all algorithms "
        "instead. All are means over budgets and reward weights:"
    )
    yield ""
    columns = ["kind", "member", "game", "histories"]
    yield from table(judgements.groupby(columns, sort=False)[[PICK, SBS, "measuring"]].mean().reset_index())
    yield from ("", "By kind of game, with the gain over the SBS and a bootstrap's 95 % interval of it over games:", "")
    yield from table(_summarised(judgements))
    together = summary(judgements[judgements["kind"].isin([MEMBER, LARGER])].assign(kind=ALL))[ALL]
    interval = (together.get("gain from", -np.inf), together.get("gain to", np.inf))
    verdict = "reached" if interval[0] > 0 else "missed"
    yield (
        "\nOn unseen members of known families and on hundredfold larger games together, the mean regret is "
        f"{together[PICK]:.4f} and the SBS's {together[SBS]:.4f}. The gain is {together['gain']:.4f}, with the "
        f"interval {interval[0]:.4f} to {interval[1]:.4f}. The aim, an interval above 0, is {verdict}."
    )
    yield from simpler.by_circumstance(judgements)
    yield from (
        "",
        "By kind again, for test games alone. Validation games were looked at while it was decided how to learn. Test "
        "games were named before any of them was measured ([decision 16](adr/0016-learning-for-unseen-games.md)):",
        "",
    )
    yield from table(_summarised(judgements[judgements["member"] == "test"]))


def _summarised(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the figures of each kind of game as a row."""
    return pd.DataFrame([{"kind": kind, **figures} for kind, figures in summary(rows).items()])
