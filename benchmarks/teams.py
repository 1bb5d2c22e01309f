"""``python -m benchmarks.teams``: writes what the package ships, from what `make measure` has measured.

Written to agents/data: the runs of the paper's games, without what else runs/sweep may hold; a team for each of these
games and one for all of them, trained on those runs; and one for other games, trained on the small members of the
families, with what it is worth on others. The families' measurements are in runs/families, where teams go that were
trained without a family, to be judged on its members. What is there is kept as long as the runs and the learning
that it came from are the same, which runs/made-from.json tells.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from benchmarks.methods import digest
from rlccfr.agents import shipped
from rlccfr.agents.generalisation import judged
from rlccfr.agents.pretraining import train_on_table
from rlccfr.agents.team import SelectorTeam
from rlccfr.agents.team_file import FILE_NAME
from rlccfr.catalog import Catalog
from rlccfr.catalog.games import FAMILIES, TEST, TRAIN
from rlccfr.checkpoint import write_atomically
from rlccfr.envs.measurement import Budget
from rlccfr.envs.reward import PRESETS
from rlccfr.envs.store import Store
from rlccfr.envs.sweep.close import close_calls
from rlccfr.envs.sweep.plan import Job, jobs
from rlccfr.envs.table import TableEvaluator

SWEPT = Path("runs") / "sweep"
MEASURED = Path("runs") / "families"
MADE_FROM = Path("runs") / "made-from.json"
ITERATIONS = 1_000
"""The paper's budget, beside the seconds."""

BETWEEN = tuple(Budget("seconds", amount) for amount in (0.03, 0.3))
"""Budgets that no team has met."""

CLOSE = 0.05
"""As `make measure` has it."""


def main() -> None:
    """Write what is missing, or was made from something else."""
    store = Store(SWEPT)
    ids = {job.id for job in planned(store)} & set(store.ids())
    measured = shipped.DATA / shipped.MEASURED
    made(measured, names(ids).hex(), lambda path: store.compact(path, small=True, ids=ids))
    own = digest(measured.read_bytes())
    for game in shipped.GAMES:
        made(shipped.DATA / f"team-{game}.npz", own, learned(shipped.results, shipped.catalog(), [game]))
    made(shipped.DATA / "team-all.npz", own, learned(shipped.results, shipped.catalog(), shipped.GAMES))
    families = digest(names(Store(MEASURED).ids()))
    made(shipped.DATA / "team.npz", families, learned(others, shipped.tabular(), TRAIN))
    made(shipped.DATA / shipped.GENERALISATION, families, generalise)


def planned(store: Store) -> list[Job]:
    """The runs of `make measure` on the paper's games, further seeds of models that come close among them."""
    found: list[Job] = []
    for game in shipped.GAMES:
        seeds = range(3 if game == "royal" else 5)
        first = jobs({game: seeds}, shipped.catalog())
        found += first + close_calls(first, store, seeds, CLOSE)
        found += jobs({game: seeds}, Catalog.extended_tabular())
    return found


@cache
def others() -> TableEvaluator:
    """The families' measurements."""
    return TableEvaluator(MEASURED)


def generalise(path: Path) -> None:
    """Judge the team for unseen games, and for each family that it was trained on one that has never met it."""

    def rows(team: SelectorTeam, games: Sequence[str], without: str) -> pd.DataFrame:
        say(f"judging a team{' without ' * bool(without)}{without} on {len(games)} games")
        budgets = (*shipped.BUDGETS, *BETWEEN)
        return judged(team, others(), games, budgets, list(PRESETS.values())).assign(without=without)

    found = [rows(shipped.team(), TEST, "")]
    for family in FAMILIES:
        if family.train:
            left_out = MEASURED / f"team-without-{family.name}.npz"
            games = [game for game in TRAIN if game not in family.train]
            made(left_out, digest(names(Store(MEASURED).ids())), learned(others, shipped.tabular(), games))
            found.append(rows(SelectorTeam.load(left_out), (*family.train, *family.test), family.name))
    text = pd.concat(found).to_csv(index=False, float_format="%.6g")
    write_atomically(path, text.encode())


def learned(table: Callable[[], TableEvaluator], catalog: Catalog, games: Sequence[str]) -> Callable[[Path], None]:
    """What trains a team and writes its Q-networks to a file."""

    def write(path: Path) -> None:
        begin = time.monotonic()
        team = train_on_table(table(), catalog, games, (*shipped.BUDGETS, Budget("iterations", ITERATIONS)))
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            team.save(folder, experience=False)
            (Path(folder) / FILE_NAME).replace(path)
        say(f"{path.name}: {team.cost[0]:,} runs, {time.monotonic() - begin:.0f} s, {path.stat().st_size:,} bytes")

    return write


def made(path: Path, source: str, write: Callable[[Path], object]) -> None:
    """Have a file written unless it is there and was made from the same."""
    known = json.loads(MADE_FROM.read_text()) if MADE_FROM.exists() else {}
    if path.exists() and known.get(path.name) == source:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path)
    write_atomically(MADE_FROM, json.dumps({**known, path.name: source}, indent=1).encode())


def names(ids: Iterable[str]) -> bytes:
    """A hash of runs by their ids, which tell all that they depend on."""
    return hashlib.sha256(" ".join(sorted(ids)).encode()).digest()


def say(text: str) -> None:
    """On the way."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
