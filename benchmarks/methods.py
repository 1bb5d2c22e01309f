"""Comparison of methods of choosing, at equal numbers of evaluations, on recorded runs and over several seeds.

A method sees the runs with the choosing seeds. Its choice is compared with the best algorithm by the runs with the
judging seeds. A deterministic algorithm has one run, which is judged by its second timing. Choices are kept in
benchmarks/results, so that an interrupted comparison can be resumed. A choice is made again if it was based on other
measurements or on another version of its method.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.baselines import joint, no_network, tpe
from benchmarks.baselines.informed_search import informed_search
from rlccfr.agents import shipped
from rlccfr.agents.baselines import halving, random_cells
from rlccfr.agents.baselines.halving import Halving
from rlccfr.agents.baselines.task import SearchResult, Task
from rlccfr.agents.judging.bench import Bench, TeamPlan, trained_team
from rlccfr.agents.judging.evidence import ChoosingRuns, Evidence
from rlccfr.agents.team import informed, learning
from rlccfr.catalog import Catalog, Cell
from rlccfr.cli.commands import demo
from rlccfr.envs.measuring.record import fingerprint
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.reward import PRESETS

KEPT = Path(__file__).parent / "results" / "methods.jsonl"
SECOND = Budget("seconds", 1.0)
HUNDRED = 100
DEMO_BUDGET = Budget("iterations", demo.ITERATIONS)
"""Budget of `make demo`."""


class Trial(NamedTuple):
    """One choice: by a method with a seed, for a game and reward weights, after a number of evaluations.

    Attributes:
        setting: name of a catalog and a budget, a key of :func:`settings`.
    """

    game: str
    preset: str
    method: str
    evaluations: int
    seed: int
    setting: str = "paper"


def settings() -> dict[str, tuple[Catalog, Budget]]:
    """Return the catalog and the budget of each setting: the paper's, with one second, and those of `make demo`."""
    return {"paper": (shipped.catalog(), SECOND), "demo": (shipped.tabular(), DEMO_BUDGET)}


Choice = tuple[Cell, float, float]
"""An algorithm, the number of evaluations spent on choosing it, and their engine CPU seconds."""


def _team(task: Task, evaluations: int, seed: int) -> Choice:
    team = trained_team(task, TeamPlan(evaluations, seed))
    return team.pick(), *team.cost


def _search(search: Callable[..., SearchResult | Halving]) -> Callable[[Task, int, int], Choice]:
    def choose(task: Task, evaluations: int, seed: int) -> Choice:
        found = search(task, evaluations=evaluations, seed=seed)
        return found.cell, found.spent if isinstance(found, Halving) else found.evaluations, found.cpu_seconds

    return choose


class Method(NamedTuple):
    """A function of a task, a number of evaluations and a seed that chooses an algorithm, and its declared version."""

    choose: Callable[[Task, int, int], Choice]
    version: int


METHODS = {
    "team": Method(_team, learning.VERSION),
    "informed team": Method(_search(informed_search), informed.VERSION),
    "random search": Method(_search(random_cells.random_search), random_cells.VERSION),
    "successive halving": Method(_search(halving.successive_halving), halving.VERSION),
    "joint DQN": Method(_search(joint.joint_dqn), joint.VERSION),
    "TPE": Method(_search(tpe.tpe_search), tpe.VERSION),
    "no network": Method(_search(no_network.search_without_networks), no_network.VERSION),
}
"""The methods that are compared. A new baseline is a module in :mod:`benchmarks.baselines` and a line here."""


def at_a_hundred(games: Sequence[str] = shipped.GAMES, seeds: int = 10) -> list[Trial]:
    """Return the trials of each method on each game, under ``accuracy`` and the paper's weights for the game."""
    return [
        Trial(game, preset, method, HUNDRED, seed)
        for game in games
        for preset in ("accuracy", f"paper-{game}")
        for method in METHODS
        for seed in range(seeds)
    ]


def as_the_demo(seeds: int = 10) -> list[Trial]:
    """Return the trials of each method with the game, weights, evaluations and setting of `make demo`."""
    return [
        Trial(demo.GAME, demo.PRESET, method, demo.EVALUATIONS, seed, "demo")
        for method in METHODS
        for seed in range(seeds)
    ]


def choose(trial: Trial) -> dict[str, Any]:
    """Return a trial as a row: the method's choice, its number of evaluations, their CPU seconds and its basis."""
    catalog, budget = settings()[trial.setting]
    task = Task(ChoosingRuns(shipped.results()), catalog, trial.game, budget, PRESETS[trial.preset])
    cell, spent, seconds = METHODS[trial.method].choose(task, trial.evaluations, trial.seed)
    rests_on = basis(trial.method, trial.game)
    return {**trial._asdict(), **cell._asdict(), "spent": spent, "cpu_seconds": seconds, **rests_on}


def choices(trials: Sequence[Trial], executor: Executor, kept: Path = KEPT) -> list[dict[str, Any]]:
    """Return the choices of all trials, in their order; earlier choices are read from a file, new ones are added."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    text = kept.read_text() if kept.exists() else ""
    # A line that does not end like a row was not written completely.
    rows = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    found = {_trial(row): row for row in rows if _is_current(row)}
    futures = {executor.submit(choose, trial): trial for trial in trials if trial not in found}
    with kept.open("a") as file:
        file.write("\n" if text and not text.endswith("\n") else "")
        try:
            for future in as_completed(futures):
                row = found[futures[future]] = future.result()
                print(json.dumps(row), file=file, flush=True)
        finally:  # if one fails, do not wait for the others
            for future in futures:
                future.cancel()
    return [found[trial] for trial in trials]


def _trial(row: Mapping[str, Any]) -> Trial:
    """Return the trial of a kept row; the oldest rows have no setting."""
    return Trial(**{name: row[name] for name in Trial._fields if name in row})


def basis(method: str, game: str) -> dict[str, str | int]:
    """Return what a choice is based on: a digest of the shipped runs on the game, and the method's version."""
    measured = digest_of_runs(shipped.path(shipped.MEASURED), (game,))
    return {"measurements": measured, "version": METHODS[method].version}


@cache
def digest_of_runs(table: Path, games: tuple[str, ...]) -> str:
    """Return a hash of the runs of some games, which new runs of other games do not change."""
    runs = _runs_of(table)
    return fingerprint(runs[runs["game"].isin(games)].sort_values("cell_id", ignore_index=True))[:16]


@cache
def _runs_of(table: Path) -> pd.DataFrame:
    return load_results(table)


def _is_current(row: Mapping[str, Any]) -> bool:
    return row["method"] in METHODS and basis(row["method"], row["game"]).items() <= row.items()


@cache
def bench(game: str, preset: str, budget: Budget, setting: str = "paper") -> Bench:
    """Return a bench that judges by the shipped measurements, among the algorithms of a setting."""
    catalog, _ = settings()[setting]
    return Bench(
        Task(shipped.results(), catalog, game, budget, PRESETS[preset]), {game: _evidence(game, budget, setting)}
    )


@cache
def _evidence(game: str, budget: Budget, setting: str) -> Evidence:
    return Evidence.measured(shipped.results(), settings()[setting][0], game, budget)


def judged(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return the choices with their ``regret``, ``normalised_score``, ``in_tied_set`` and ``tied_set_size``."""
    names = ("regret", "normalised_score", "in_tied_set", "tied_set_size")
    judgements = []
    for row in rows:
        setting = _trial(row).setting
        judge = bench(row["game"], row["preset"], settings()[setting][1], setting)
        judgements.append(judge.row(row["method"], Cell.of(row), row["evaluations"], row["cpu_seconds"]))
    return pd.DataFrame(
        [row | {name: judgement[name] for name in names} for row, judgement in zip(rows, judgements, strict=True)]
    )
