"""How methods of choosing compare: each with so many evaluations, on what was measured, over several seeds.

A method sees the runs that one may choose by; what it chose is judged on the others, beside the best of all cells.
Choices are kept in runs/methods.jsonl, so that what was stopped goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rlccfr.agents import shipped
from rlccfr.agents.baselines import Task, random_search
from rlccfr.agents.comparison import Bench, trained_team
from rlccfr.agents.evidence import ChoosingRuns, Evidence
from rlccfr.agents.halving import successive_halving
from rlccfr.agents.joint import joint_dqn
from rlccfr.agents.tpe import tpe_search
from rlccfr.catalog import Cell
from rlccfr.envs.measurement import Budget
from rlccfr.envs.reward import PRESETS

KEPT = Path("runs") / "methods.jsonl"
SECOND = Budget("seconds", 1.0)
HUNDRED = 100


class Trial(NamedTuple):
    """One choice: by a method with a seed, for a game and a preset, after so many evaluations."""

    game: str
    preset: str
    method: str
    evaluations: int
    seed: int


def _team(task: Task, evaluations: int, seed: int) -> tuple[Cell, float]:
    team = trained_team(task, evaluations, seed)
    return team.pick(), team.cost[1]


def _search(search: Callable[..., Any]) -> Callable[[Task, int, int], tuple[Cell, float]]:
    def choose(task: Task, evaluations: int, seed: int) -> tuple[Cell, float]:
        found = search(task, evaluations=evaluations, seed=seed)
        return found.cell, found.cpu_seconds

    return choose


METHODS: dict[str, Callable[[Task, int, int], tuple[Cell, float]]] = {
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
    """What the method chose, and the CPU seconds of what it measured."""
    task = Task(ChoosingRuns(shipped.results()), shipped.catalog(), trial.game, SECOND, PRESETS[trial.preset])
    cell, seconds = METHODS[trial.method](task, trial.evaluations, trial.seed)
    return {**trial._asdict(), **cell._asdict(), "cpu_seconds": seconds}


def choices(trials: Sequence[Trial], executor: Executor, kept: Path = KEPT) -> list[dict[str, Any]]:
    """Of all these trials, those read from a file that were made before."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text().splitlines() if kept.exists() else []
    found = {Trial(*(row[name] for name in Trial._fields)): row for row in map(json.loads, lines)}
    todo = [trial for trial in trials if trial not in found]
    with kept.open("a") as file:
        for trial, row in zip(todo, executor.map(choose, todo), strict=True):
            found[trial] = row
            print(json.dumps(row), file=file, flush=True)
    return [found[trial] for trial in trials]


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
