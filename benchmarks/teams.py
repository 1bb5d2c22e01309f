"""``python -m benchmarks.teams``: trains the teams that the package ships, on the measurements that it ships.

Written to agents/data: a team for each of the paper's games, one for all of them, and one for other games, trained on
the small members of the families, with what it is worth on others. The families' measurements are a sweep of all of
catalog/games.py in runs/families, where teams go that were trained without a family, to be judged on its members. A
team that is there is kept; remove its file to train it again.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.generalisation import judged
from rlccfr.agents.pretraining import train_on_table
from rlccfr.agents.team import SelectorTeam
from rlccfr.agents.team_file import FILE_NAME
from rlccfr.catalog import Catalog
from rlccfr.catalog.games import FAMILIES, TEST, TRAIN
from rlccfr.envs.measurement import Budget
from rlccfr.envs.reward import PRESETS
from rlccfr.envs.table import TableEvaluator

MEASURED = Path("runs") / "families"
ITERATIONS = 1_000
"""The paper's budget, beside the seconds."""

BETWEEN = tuple(Budget("seconds", amount) for amount in (0.03, 0.3))
"""Budgets that no team has met."""


def main() -> None:
    """Train what is missing."""
    for game in shipped.GAMES:
        train(shipped.DATA / f"team-{game}.npz", shipped.results, shipped.catalog(), [game])
    train(shipped.DATA / "team-all.npz", shipped.results, shipped.catalog(), shipped.GAMES)
    train(shipped.DATA / "team.npz", lambda: TableEvaluator(MEASURED), shipped.tabular(), TRAIN)
    if not (shipped.DATA / shipped.GENERALISATION).exists():
        generalise()


def generalise() -> None:
    """Judge the team for unseen games, and for each family that it was trained on one that has never met it."""
    results = TableEvaluator(MEASURED)

    def rows(team: SelectorTeam, games: Sequence[str], without: str) -> pd.DataFrame:
        say(f"judging a team{' without ' * bool(without)}{without} on {len(games)} games")
        budgets = (*shipped.BUDGETS, *BETWEEN)
        return judged(team, results, games, budgets, list(PRESETS.values())).assign(without=without)

    found = [rows(shipped.team(), TEST, "")]
    for family in FAMILIES:
        if family.train:
            path = MEASURED / f"team-without-{family.name}.npz"
            others = [game for game in TRAIN if game not in family.train]
            train(path, lambda: results, shipped.tabular(), others)
            found.append(rows(SelectorTeam.load(path), (*family.train, *family.test), family.name))
    pd.concat(found).to_csv(shipped.DATA / shipped.GENERALISATION, index=False, float_format="%.6g")


def train(path: Path, table: Callable[[], TableEvaluator], catalog: Catalog, games: Sequence[str]) -> None:
    """One team, unless its file is there."""
    if path.exists():
        return
    begin = time.monotonic()
    team = train_on_table(table(), catalog, games, (*shipped.BUDGETS, Budget("iterations", ITERATIONS)))
    save(team, path)
    took, size = time.monotonic() - begin, path.stat().st_size
    say(f"{path.name}: {team.evaluations:,} evaluations, {took:.0f} s, {size:,} bytes")


def save(team: SelectorTeam, path: Path) -> None:
    """Its Q-networks alone, under a name of its own."""
    path.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        team.save(folder, experience=False)
        (Path(folder) / FILE_NAME).replace(path)


def say(text: str) -> None:
    """On the way."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
