"""``python -m benchmarks.teams``: trains the teams that the package ships, on the measurements that it ships.

Written to agents/data: a team for each of the paper's games, one for all of them, and one for other games, trained on
the small members of the families, with what it is worth on others. The families' measurements are a sweep of all of
catalog/games.py in runs/families. A team that is there is kept; remove its file to train it again.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rlccfr.agents import shipped
from rlccfr.agents.generalisation import judged, summary
from rlccfr.agents.pretraining import train_on_table
from rlccfr.agents.team import SelectorTeam
from rlccfr.agents.team_file import FILE_NAME
from rlccfr.catalog import Catalog
from rlccfr.catalog.games import TEST, TRAIN
from rlccfr.envs.measurement import Budget
from rlccfr.envs.reward import PRESETS
from rlccfr.envs.table import TableEvaluator

FAMILIES = Path("runs") / "families"
ITERATIONS = 1_000
"""The paper's budget, beside the seconds."""


def main() -> None:
    """Train what is missing."""
    for game in shipped.GAMES:
        train(shipped.DATA / f"team-{game}.npz", shipped.results, shipped.catalog(), [game])
    train(shipped.DATA / "team-all.npz", shipped.results, shipped.catalog(), shipped.GAMES)
    train(shipped.DATA / "team.npz", lambda: TableEvaluator(FAMILIES), shipped.tabular(), TRAIN)
    if not (shipped.DATA / shipped.GENERALISATION).exists():
        say("judging the team for unseen games")
        rows = judged(shipped.team(), TableEvaluator(FAMILIES), TEST, shipped.BUDGETS, list(PRESETS.values()))
        rows.to_csv(FAMILIES / "generalisation.csv", index=False)
        (shipped.DATA / shipped.GENERALISATION).write_text(json.dumps(summary(rows), indent=1) + "\n")


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
