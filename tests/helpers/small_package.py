"""A small version of the shipped files, made as by ``python -m benchmarks.teams``.

The package then has measurements of Kuhn poker, Goofspiel and two games with a public tree, and its choosers for other
games have learned on three small games.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks import teams
from rlccfr.agents import shipped
from rlccfr.agents.shipped import race, unmeasured
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
PUBLIC = Catalog(("cfr", "cfr_plus"), ("none", "public_chance"), ("none", "cfr_br"))
PUBLIC_GAMES = ("holdem(ranks=3,suits=2,private=1,flop=1)", "bluff")
PUBLIC_SETTINGS = {"PUBLIC_GAMES": PUBLIC_GAMES, "PUBLIC_BUDGETS": BUDGETS, "public_catalog": lambda: PUBLIC}
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


def public_runs(store: Store) -> list[Job]:
    """Return the runs on the games with a public tree: two seeds of each algorithm that draws at random."""
    return jobs(dict.fromkeys(PUBLIC_GAMES, range(2)), PUBLIC, limits=Limits(iterations=100, seconds=0.0))


def sweep(path: Path, planned: Iterable[Job]) -> None:
    """Measure runs into a store."""
    store = Store(path)
    for job in planned:
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
            **PUBLIC_SETTINGS,
        },
        pretraining: {"SETTINGS": QUICK},
        teams: {
            "RESULTS": folder / "results",
            "FAMILIES": FAMILIES,
            "TRAIN": TRAIN,
            "BRIEF": Budget("iterations", 5),
            "BETWEEN": (Budget("iterations", 30),),
            "ITERATIONS": 50,
            "planned": lambda store: runs(GAMES),
            "on_public_trees": public_runs,
            "members": lambda: runs((*TRAIN, *HELD_OUT)),
        },
    }
    with pytest.MonkeyPatch.context() as patch:
        for module, constants in replaced.items():
            for name, value in constants.items():
                patch.setattr(module, name, value)
        patch.chdir(folder)
        sweep(teams.SWEPT, runs((*GAMES, "kuhn(cards=4)")))
        sweep(teams.PUBLIC_SWEPT, public_runs(Store(teams.PUBLIC_SWEPT)))
        sweep(teams.FAMILIES_SWEPT, runs((*TRAIN, *HELD_OUT)))
        forget()
        teams.main()
        yield shipped.DATA
        forget()


@contextmanager
def public_package(folder: Path) -> Iterator[None]:
    """Make the measurements of games with a public tree in a folder, which is the package's data in the meantime."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"DATA": folder, **PUBLIC_SETTINGS}.items():
            patch.setattr(shipped, name, value)
        store = Store(folder / "runs")
        sweep(store.path, public_runs(store))
        store.compact(folder / shipped.PUBLIC_MEASURED, small=True, budgets=BUDGETS)
        forget()
        yield
        forget()


def forget() -> None:
    """Empty the caches, so that files are read again."""
    for cached in (
        shipped.results,
        shipped.public_results,
        shipped.load_team,
        unmeasured.judgements,
        unmeasured.costs,
        unmeasured.prior,
        race.winners_on_record,
        teams.others,
    ):
        cached.cache_clear()
