"""How methods of choosing compare: each with so many evaluations, on what was measured, over several seeds.

A method sees the runs that one may choose by; what it chose is judged on the others, beside the best of all cells.
Choices are kept in benchmarks/results, so that what was stopped goes on; those made on other measurements, or by other
code, are made anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines import SearchResult, Task, random_search
from rlccfr.agents.comparison import Bench, trained_team
from rlccfr.agents.evidence import ChoosingRuns, Evidence
from rlccfr.agents.halving import Halving, successive_halving
from rlccfr.agents.joint import joint_dqn
from rlccfr.agents.tpe import tpe_search
from rlccfr.catalog import Cell
from rlccfr.envs.measurement import Budget
from rlccfr.envs.reward import PRESETS

CHOOSING = (
    *(f"agents/{name}" for name in (
        "baselines", "comparison", "evidence", "experience", "exploration", "halving", "hyperparameters", "induction",
        "joint", "selector", "selector_dqn", "team", "tpe", "training",
    )),
    *(f"envs/{name}" for name in ("features", "observation", "read_off", "reward", "selector", "table")),
)  # fmt: skip
"""Modules that say what a method chooses."""

KEPT = Path(__file__).parent / "results" / "methods.jsonl"
SECOND = Budget("seconds", 1.0)
HUNDRED = 100


class Trial(NamedTuple):
    """One choice: by a method with a seed, for a game and a preset, after so many evaluations."""

    game: str
    preset: str
    method: str
    evaluations: int
    seed: int


Choice = tuple[Cell, float, float]
"""A cell, the evaluations that it took, and their engine CPU seconds."""


def _team(task: Task, evaluations: int, seed: int) -> Choice:
    team = trained_team(task, evaluations, seed)
    return team.pick(), *team.cost


def _search(search: Callable[..., SearchResult | Halving]) -> Callable[[Task, int, int], Choice]:
    def choose(task: Task, evaluations: int, seed: int) -> Choice:
        found = search(task, evaluations=evaluations, seed=seed)
        return found.cell, found.spent if isinstance(found, Halving) else found.evaluations, found.cpu_seconds

    return choose


METHODS: dict[str, Callable[[Task, int, int], Choice]] = {
    "team": _team,
    "random search": _search(random_search),
    "successive halving": _search(successive_halving),
    "joint DQN": _search(joint_dqn),
    "TPE": _search(tpe_search),
}


def at_a_hundred(games: Sequence[str] = shipped.GAMES, seeds: int = 10) -> list[Trial]:
    """Each method on each game, under ``accuracy`` and the paper's weights for the game."""
    return [
        Trial(game, preset, method, HUNDRED, seed)
        for game in games
        for preset in ("accuracy", f"paper-{game}")
        for method in METHODS
        for seed in range(seeds)
    ]


def choose(trial: Trial) -> dict[str, Any]:
    """What the method chose, and what it measured for that."""
    task = Task(ChoosingRuns(shipped.results()), shipped.catalog(), trial.game, SECOND, PRESETS[trial.preset])
    cell, spent, seconds = METHODS[trial.method](task, trial.evaluations, trial.seed)
    return {**trial._asdict(), **cell._asdict(), "spent": spent, "cpu_seconds": seconds, "basis": basis()}


def choices(trials: Sequence[Trial], executor: Executor, kept: Path = KEPT) -> list[dict[str, Any]]:
    """Of all these trials, those read from a file that were made before."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    text = kept.read_text() if kept.exists() else ""
    # A line that does not end like a row is one whose writing was interrupted.
    rows = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    found = {Trial(*(row[name] for name in Trial._fields)): row for row in rows if row["basis"] == basis()}
    futures = {executor.submit(choose, trial): trial for trial in trials if trial not in found}
    with kept.open("a") as file:
        file.write("\n" if text and not text.endswith("\n") else "")
        try:
            for future in as_completed(futures):
                row = found[futures[future]] = future.result()
                print(json.dumps(row), file=file, flush=True)
        finally:  # where one failed the others are not waited for
            for future in futures:
                future.cancel()
    return [found[trial] for trial in trials]


@cache
def basis() -> str:
    """A hash of what a choice rests on: the shipped measurements, and how methods choose."""
    return digest(shipped.path(shipped.MEASURED).read_bytes())


def digest(measurements: bytes, *more: str) -> str:
    """A hash of measurements and of the code that learns from them.

    Args:
        more: modules that it depends on beside :data:`CHOOSING`.
    """
    found = hashlib.sha256(measurements)
    for name in (*CHOOSING, *more):
        found.update((Path(__file__).parent.parent / f"{name}.py").read_bytes())
    return found.hexdigest()[:16]


@cache
def bench(game: str, preset: str, budget: Budget) -> Bench:
    """Judges by the shipped measurements."""
    return Bench(
        Task(shipped.results(), shipped.catalog(), game, budget, PRESETS[preset]),
        {game: _evidence(game, budget)},
    )


@cache
def _evidence(game: str, budget: Budget) -> Evidence:
    return Evidence.measured(shipped.results(), shipped.catalog(), game, budget)


def judged(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Choices with their ``regret``, ``normalised_score`` and ``in_tied_set`` beside."""
    names = ("regret", "normalised_score", "in_tied_set")
    judgements = [
        bench(row["game"], row["preset"], SECOND).row(
            row["method"], Cell(*(row[axis] for axis in Cell._fields)), row["evaluations"], row["cpu_seconds"]
        )
        for row in rows
    ]
    return pd.DataFrame(
        [row | {name: judgement[name] for name in names} for row, judgement in zip(rows, judgements, strict=True)]
    )
