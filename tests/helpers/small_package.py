"""A small version of the shipped files, made as by ``python -m benchmarks.teams``.

The package then has measurements of Kuhn poker and Goofspiel, and its team for other games has learned on three small
games.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks import teams
from rlccfr.agents import shipped
from rlccfr.agents.shipped import unmeasured
from rlccfr.agents.team import pretraining
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.catalog import Catalog
from rlccfr.catalog.families import Family
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.sweeping.plan import Job, Limits, jobs
from rlccfr.envs.sweeping.worker import measure

SMALL = Catalog(("cfr", "lcfr", "dcfr", "ecfr"), ("external", "none"), ("none",))
GAMES = ("kuhn", "goofspiel")
BUDGETS = (Budget("iterations", 10), Budget("iterations", 100))
FAMILIES = (
    Family("kuhn", ("kuhn(cards=3)", "kuhn(cards=4)"), ("kuhn(cards=5)",), ("kuhn(cards=7)",)),
    Family("leduc", ("leduc(ranks=3,suits=1,raises=1)",), ()),
    Family("dark_hex", (), (), ("dark_hex(board_size=2)",)),
)
TRAIN = tuple(game for family in FAMILIES for game in family.train)
HELD_OUT = tuple(game for family in FAMILIES for game in family.held_out)
QUICK = Hyperparameters(hidden=(32,), batch_size=64, settling=10)


def runs(games: Iterable[str]) -> list[Job]:
    """Return the runs of every algorithm on these games, with three seeds each."""
    return jobs(dict.fromkeys(games, range(3)), SMALL, limits=Limits(iterations=100, seconds=0.0))


def sweep(path: Path, games: Iterable[str]) -> None:
    """Measure these games' runs into a store."""
    store = Store(path)
    for job in runs(games):
        store.put(measure(job))


@contextmanager
def small_package(folder: Path) -> Iterator[Path]:
    """Make the files in a folder, the working directory in the meantime, and yield the folder of the package's data.

    The settings are constants of modules, which are replaced here. Neither the package nor the command that fills it
    has a reason to take other settings.
    """
    replaced = {
        shipped: {
            "DATA": folder / "shipped",
            "GAMES": GAMES,
            "BUDGETS": BUDGETS,
            "catalog": lambda: SMALL,
            "tabular": lambda: SMALL,
        },
        pretraining: {"SETTINGS": QUICK, "LONGER": QUICK},
        teams: {
            "RESULTS": folder / "results",
            "FAMILIES": FAMILIES,
            "TRAIN": TRAIN,
            "BRIEF": Budget("iterations", 5),
            "BETWEEN": (Budget("iterations", 30),),
            "ITERATIONS": 50,
            "planned": lambda store: runs(GAMES),
            "members": lambda: runs((*TRAIN, *HELD_OUT)),
        },
    }
    with pytest.MonkeyPatch.context() as patch:
        for module, constants in replaced.items():
            for name, value in constants.items():
                patch.setattr(module, name, value)
        patch.chdir(folder)
        sweep(teams.SWEPT, (*GAMES, "kuhn(cards=4)"))
        sweep(teams.FAMILIES_SWEPT, (*TRAIN, *HELD_OUT))
        forget()
        teams.main()
        yield shipped.DATA
        forget()


def forget() -> None:
    """Empty the caches, so that files are read again."""
    for cached in (shipped.results, shipped.team, unmeasured.judgements, unmeasured.costs, teams.others):
        cached.cache_clear()
