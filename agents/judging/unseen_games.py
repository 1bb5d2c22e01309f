"""Judging of picks for games on which the chooser was not trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging.bench import Bench
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.recommendation_table import SBS, TEAM, VBS
from rlccfr.agents.judging.scores import bootstrap_interval
from rlccfr.catalog import Catalog, Cell
from rlccfr.catalog.families import family_of
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import Preset
from rlccfr.games.compiled_games import compiled

if TYPE_CHECKING:
    from rlccfr.agents.predicting.choosers import Chooser

VERSION = 4
"""Version of how picks are judged. Raise it when the same picks would be judged differently."""

HUNDREDFOLD = 100
"""Least size of a "hundredfold larger" game, in histories, as a multiple of the largest training game's size."""

TRAINED, MEMBER, FAMILY, LARGER = "training game", "unseen member", "unseen family", "hundredfold larger"
"""Kinds of games, from a chooser's point of view."""

PICK = "pick"
"""Name of the column with the regrets of a chooser's picks."""

ALL = "all"
"""Name for all kinds of games together."""

ENOUGH = 5
"""Least number of games to resample; with fewer, a bootstrap's interval is far too narrow."""

REPETITIONS = 20_000
"""Number of the bootstrap's resamples; with so many, the seed moves the ends of an interval by less than 0.0002."""


def kind_of(game: str, trained_on: Sequence[str]) -> str:
    """Return a game's kind: the first of :data:`TRAINED`, :data:`LARGER`, :data:`MEMBER` and :data:`FAMILY` that fits.

    A game is a :data:`MEMBER` if a training game is of its family.
    """
    training_trees = [compiled(name) for name in trained_on]
    if compiled(game).content_hash in {tree.content_hash for tree in training_trees}:
        return TRAINED
    if compiled(game).pass_size >= HUNDREDFOLD * max(tree.pass_size for tree in training_trees):
        return LARGER
    return MEMBER if family_of(game) in set(map(family_of, trained_on)) else FAMILY


def judged(
    chooser: Chooser,
    results: TableEvaluator,
    games: Sequence[str],
    budgets: Sequence[Budget],
    presets: Sequence[Preset],
) -> pd.DataFrame:
    """Return the regrets of a chooser's pick and of the single best (SBS), for each game, budget and reward weights.

    Regrets are with respect to the best algorithm of the game (VBS), by the judging runs (see :class:`Evidence`).

    Args:
        chooser: chooser that picks. The SBS is the single best algorithm of the chooser's games other than the game
            that is picked for; see :func:`rlccfr.agents.baselines.best.single_best`.
        results: measurements of the whole catalog on these games and on the chooser's games.
        games, budgets, presets: games, budgets and reward weights to pick for.

    Returns:
        Columns ``game``, ``kind`` (see :func:`kind_of`), ``histories``, ``budget`` and ``preset``; ``pick``, the regret
        of the chooser's pick, including the loss from spending a part of the budget on choosing; ``SBS``, the regret of
        the SBS; ``single_best``, the algorithm that is the SBS; and ``measuring``, the engine CPU seconds of the
        choosing runs of every algorithm on the game.

    Raises:
        MissingCellError: an algorithm was not measured, or was measured for less than a budget.
    """
    catalog = chooser.catalog
    rows = []
    for budget in budgets:
        training_evidence = {game: Evidence.measured(results, catalog, game, budget) for game in chooser.games}
        for game in games:
            # The game's own runs give the VBS; those of the chooser's other games give the SBS.
            evidence = {**training_evidence, game: Evidence.measured(results, catalog, game, budget)}
            kind = kind_of(game, chooser.games)
            for preset in presets:
                bench = Bench(Task(results, catalog, game, budget, preset), evidence)
                pick = chooser.pick(game, budget, preset)
                pick_regret = bench.row(TEAM, pick, 0, 0.0)["regret"]
                # That regret is of whole runs. What choosing has used up of the budget makes the run shorter.
                choosing_loss = _loss(bench.task, pick, chooser.left(budget))
                baselines = {row["method"]: row for row in bench.exhaustive_rows()}
                rows.append(
                    {
                        "game": game,
                        "kind": kind,
                        "histories": compiled(game).pass_size,
                        "budget": str(budget),
                        "preset": preset.name,
                        PICK: pick_regret + choosing_loss,
                        SBS: baselines[SBS]["regret"],
                        "single_best": str(Cell.of(baselines[SBS])),
                        "measuring": baselines[VBS]["cpu_seconds"],
                    }
                )
    return pd.DataFrame(rows)


def _loss(task: Task, cell: Cell, remaining: Budget) -> float:
    """Return how much mean reward an algorithm loses if only ``remaining`` is left of the task's budget.

    Both rewards are means over the algorithm's judging runs.
    """
    if remaining == task.budget:
        return 0.0
    catalog = Catalog(*((id,) for id in cell))  # this algorithm alone
    whole_runs = Evidence.measured(task.evaluator, catalog, task.game, task.budget).judging
    shorter_runs = Evidence.measured(task.evaluator, catalog, task.game, remaining).judging
    return task.rewards(whole_runs)[cell] - task.rewards(shorter_runs)[cell]


def mean_regrets(rows: pd.DataFrame) -> dict[str, float]:
    """Return the number of games, ``games``, and the mean regrets of picks, ``pick``, and of the single best, ``SBS``.

    Each game counts equally, however many rows it has.

    Args:
        rows: rows of :func:`judged`.
    """
    by_game = rows.groupby("game")[[PICK, SBS]].mean()
    return {"games": float(len(by_game)), PICK: float(by_game[PICK].mean()), SBS: float(by_game[SBS].mean())}


def summary(rows: pd.DataFrame, seed: int = 0) -> dict[str, dict[str, float]]:
    """Return mean regrets, and the picks' gain over the single best (SBS), for each kind of game and for all games.

    The gain is the SBS's mean regret minus that of the picks. It has a 95 % bootstrap interval if there are at least
    :data:`ENOUGH` games. Games are resampled as a whole, since budgets and reward weights on one game are not
    independent evidence. Games of one family are not fully independent either, so the interval is probably too narrow.

    Args:
        rows: rows of :func:`judged`.
        seed: seed of the bootstrap.

    Returns:
        By kind, and by :data:`ALL` for all games: the figures of :func:`mean_regrets`, ``gain``, and with an interval
        also ``gain from`` and ``gain to``. :data:`ALL` is left out if there is only one kind.
    """
    figures_by_kind = {}
    groups = list(rows.groupby("kind", sort=False))
    if len(groups) > 1:
        groups.append((ALL, rows))
    for kind, group in groups:
        gains = (group[SBS] - group[PICK]).groupby(group["game"]).mean().to_numpy()  # one per game
        figures = {**mean_regrets(group), "gain": float(gains.mean())}
        if len(gains) >= ENOUGH:
            figures["gain from"], figures["gain to"] = bootstrap_interval(
                [gains], lambda values: float(values.mean()), repetitions=REPETITIONS, seed=seed
            )
        figures_by_kind[str(kind)] = figures
    return figures_by_kind


def regrets_in_words(rows: pd.DataFrame, kind: str) -> str:
    """Return a sentence on the mean regrets of a chooser's picks, and of the single best (SBS), on games of one kind.

    Args:
        rows: rows of :func:`judged` for the games of this kind.
        kind: name of the kind.
    """
    if rows.empty:
        return f"the regret of such picks was not measured ({kind})"
    means = mean_regrets(rows)
    games = "one such game" if means["games"] == 1 else f"{means['games']:.0f} such games"
    return (
        f"on {games} ({kind}), averaged over budgets and weights, such picks had "
        f"{means[PICK]:.3f} less reward than the best algorithm, and the single best of the training games had "
        f"{means[SBS]:.3f} less"
    )
