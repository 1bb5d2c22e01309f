"""Measurements as a scenario of ASlib, a format that programs for algorithm selection read.

The format is that of Bischl et al., ASlib: a benchmark library for algorithm selection, Artificial Intelligence 237,
2016, as specified at https://github.com/coseal/aslib-spec.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr import __version__
from rlccfr.catalog import Catalog, Cell
from rlccfr.catalog.citations import cite
from rlccfr.envs.game_features import GameFeatures
from rlccfr.envs.measuring.evaluator import Measurement
from rlccfr.envs.measuring.identity import is_deterministic
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.measuring.table import TableEvaluator, names_of
from rlccfr.errors import RLCCFRError, whole_number
from rlccfr.files import write_atomically
from rlccfr.games.compiled_games import measured_name
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.names import load_game
from rlccfr.policy import EXACT
from rlccfr.registry import REGISTRIES

ERROR = "log10_error"
"""Performance measure to be minimised: log10 of the exploitability as a share of the uniform policy's."""

SPEED = "speed"
"""Performance measure to be maximised: throughput as a multiple of plain CFR's."""

LEAST = 1e-15
"""Least exploitability in a scenario, as a share of the uniform policy's; smaller ones are raised to it."""

DESCRIPTION = "description.txt"

STEP = "structure"
"""Name of the only feature step (in ASlib, a group of features): the features of a game's tree."""

RUN_STATUS = {"ok": "ok", "failed": "crash", "timeout": "timeout", "out_of_memory": "memout", "unavailable": "other"}
"""ASlib's word for each status of a run."""

FEATURE_STATUS = ("ok", "timeout", "memout", "presolved", "crash", "other")
"""ASlib's words for the status of a feature step."""

Rows = list[list[Any]]

Columns = list[tuple[str, Any]]
"""Names of a table's columns, each with its type in ARFF or with the list of its possible values."""


def write_aslib(
    source: TableEvaluator | pd.DataFrame | Store | str | Path,
    directory: str | Path,
    budget: Budget,
    catalog: Catalog,
    *,
    games: Sequence[str] | None = None,
    folds: int = 10,
    seed: int = 0,
) -> Path:
    """Write measurements as an ASlib scenario, a directory of text files, whose instances are games.

    A failed run gets the uniform policy's exploitability and speed 0. The cost of features is the CPU time of loading
    the game, from the cache where possible, and of computing its features.

    Args:
        source: measurements, as for :class:`TableEvaluator`.
        directory: directory to write to; its last part is the scenario's name. An earlier scenario there is replaced.
        budget: budget of every run.
        catalog: the algorithms.
        games: the games; by default all that were measured.
        folds: number of folds of the cross-validation, at most the number of games.
        seed: seed of the assignment to folds.

    Returns:
        The directory.

    Raises:
        MissingCellError: a measurement of an algorithm on a game is missing, or is shorter than the budget.
        RLCCFRError: fewer than two games; a number out of range; the directory has no name, or holds other files; or
            the extra ``aslib`` is not installed.
        CheckpointError: a file can't be written.
    """
    dump = _dump()
    directory = _checked(Path(directory))
    table = source if isinstance(source, TableEvaluator) else TableEvaluator(source)
    # Each game once, even if it has two names.
    names = table.games if games is None else games
    games = list({measured_name(game): game for game in names}.values())
    if len(games) < 2:
        raise RLCCFRError("a scenario needs at least two games")
    folds = min(whole_number(folds, "folds", 2, RLCCFRError), len(games))
    rng = np.random.default_rng(whole_number(seed, "seed", 0, RLCCFRError))
    splits = rng.permutation(np.arange(len(games)) % folds) + 1
    trees, feature_values, feature_costs = _features(games)
    runs = [row for game in games for cell in catalog for row in _runs(table, game, cell, budget)]
    scenario = directory.resolve().name
    stochastic = {cell for cell in catalog if not all(is_deterministic((cell,), tree) for tree in trees)}
    # The description comes first, because it marks the directory as a scenario's.
    files = {DESCRIPTION: _description(scenario, budget, catalog, stochastic)}
    tables = _tables(games, runs, feature_values, feature_costs, splits)
    for name, (columns, rows) in tables.items():
        files[f"{name}.arff"] = dump(_relation(name, scenario, columns, rows))
    files["readme.txt"] = _readme(budget, table, games, catalog)
    files["citation.bib"] = cite(*catalog)
    for name, text in files.items():
        write_atomically(directory / name, text.encode())
    return directory


def _tables(
    games: Sequence[str], runs: Rows, feature_values: Rows, feature_costs: Rows, splits: np.ndarray
) -> dict[str, tuple[Columns, Rows]]:
    """Return the columns and the rows of each ARFF file, by file name.

    Each row begins with instance and repetition; the columns leave these two out.

    Args:
        games: the instances.
        runs: rows of :func:`_runs`.
        feature_values: rows of feature values, from :func:`_features`.
        feature_costs: rows of the features' costs, from :func:`_features`.
        splits: (number of games,) fold of the cross-validation that each game is in, counted from 1.
    """
    algorithm_columns: Columns = [
        ("algorithm", "STRING"), (ERROR, "NUMERIC"), (SPEED, "NUMERIC"), ("runstatus", _factors(RUN_STATUS))
    ]  # fmt: skip
    return {
        "algorithm_runs": (algorithm_columns, runs),
        "feature_values": ([(name, "NUMERIC") for name in GameFeatures._fields], feature_values),
        "feature_costs": ([(STEP, "NUMERIC")], feature_costs),
        "feature_runstatus": ([(STEP, list(FEATURE_STATUS))], [[game, 1, "ok"] for game in games]),
        "cv": ([("fold", "NUMERIC")], [[game, 1, int(split)] for game, split in zip(games, splits, strict=True)]),
    }


def _relation(name: str, scenario: str, columns: Columns, rows: Rows) -> dict[str, Any]:
    """Return a table in the form that liac-arff expects."""
    attributes = [("instance_id", "STRING"), ("repetition", "NUMERIC"), *columns]
    return {"relation": f"{name.upper()}_{scenario}", "attributes": attributes, "data": rows}


def _dump() -> Callable[[Mapping[str, Any]], str]:
    """Return the function that converts a table to text in ARFF.

    Raises:
        RLCCFRError: the extra is not installed.
    """
    try:
        import arff
    except ImportError as error:
        raise RLCCFRError("an ASlib scenario needs the extra: pip install 'rlccfr[aslib]'") from error
    dump: Callable[[Mapping[str, Any]], str] = arff.dumps
    return dump


def _checked(directory: Path) -> Path:
    """Return a directory, after a check that a scenario may be written to it.

    Raises:
        RLCCFRError: the directory has no name, or has files other than a scenario's.
    """
    if not directory.resolve().name:
        raise RLCCFRError(f"{directory} has no name for the scenario to take: give a directory with a name")
    if directory.is_dir() and any(directory.iterdir()) and not (directory / DESCRIPTION).exists():
        raise RLCCFRError(f"{directory} holds other files; name a new directory for the scenario")
    return directory


def _factors(statuses: Mapping[str, str]) -> list[str]:
    """Return the values that a status may have in a file."""
    return [*dict.fromkeys(statuses.values()), "not_applicable"]


def _name(cell: Cell) -> str:
    """Return an algorithm's name in a scenario: its components, joined by slashes."""
    return "/".join(cell)


def _configuration(cell: Cell) -> str:
    """Return an algorithm with all hyperparameters: ``"dcfr(alpha=1.5,beta=0.0,gamma=2.0) x external x none"``."""
    components = []
    for registry, spec in zip(REGISTRIES, cell, strict=True):
        component = registry.resolve(spec)
        values = ",".join(f"{name}={value!r}" for name, value in component.hyperparameters.items())
        components.append(f"{component.id}({values})" if values else component.id)
    return " x ".join(components)


def _runs(table: TableEvaluator, game: str, cell: Cell, budget: Budget) -> Rows:
    """Return a row for each engine seed: instance, repetition, algorithm, the two measures and the status."""
    rows = []
    for repetition, seed in enumerate(table.seeds(game, cell) or (0,), 1):
        measured = table.measure(Request(game, (cell,), budget, seed=seed))
        rows.append([game, repetition, _name(cell), *_measures(measured)])
    return rows


def _measures(measured: Measurement) -> tuple[float, float, str]:
    """Return the two performance measures of a run, and its status in ASlib's words."""
    if not measured.ok:
        return 0.0, 0.0, RUN_STATUS[measured.status]
    if measured.uniform_exploitability > EXACT:
        share = max(measured.exploitability / measured.uniform_exploitability, LEAST)
    else:  # the uniform policy is an equilibrium up to rounding, and a run that has left it has no share of it
        share = 1.0 if measured.exploitability > EXACT else LEAST
    return round(math.log10(share), 6), float(f"{measured.speed:.6g}"), "ok"


def _features(games: Sequence[str]) -> tuple[list[GameTree], Rows, Rows]:
    """Return the games, the rows of feature values, and the rows of the CPU seconds that the features took."""
    trees = list[GameTree]()
    values = Rows()
    costs = Rows()
    GameFeatures.of(load_game(games[0]))  # so that the first game's cost does not include imports
    for game in games:
        begin = time.process_time()
        tree = load_game(game)
        features = GameFeatures.of(tree)
        seconds = time.process_time() - begin
        trees.append(tree)
        costs.append([game, 1, round(seconds, 6)])
        values.append([game, 1, *(round(float(value), 6) for value in features)])
    return trees, values, costs


def _description(scenario: str, budget: Budget, catalog: Catalog, stochastic: set[Cell]) -> str:
    """Return the text of the description; the format is YAML, of which JSON is a subset.

    ``metainfo_algorithms`` is not in the specification, but programs that read scenarios expect it in place of
    ``algorithms_deterministic`` and ``algorithms_stochastic``.
    """
    features = list(GameFeatures._fields)
    about = {
        "scenario_id": scenario,
        "performance_measures": [ERROR, SPEED],
        "maximize": [False, True],
        "performance_type": ["solution_quality", "solution_quality"],
        # In this format, "?" stands for a limit that is not known or does not exist.
        "algorithm_cutoff_time": budget.amount if budget.unit == "seconds" else "?",
        "algorithm_cutoff_memory": "?",
        "features_cutoff_time": "?",
        "features_cutoff_memory": "?",
        "algorithms_deterministic": [_name(cell) for cell in catalog if cell not in stochastic],
        "algorithms_stochastic": [_name(cell) for cell in catalog if cell in stochastic],
        "metainfo_algorithms": {
            _name(cell): {
                "configuration": _configuration(cell),
                "deterministic": cell not in stochastic,
                "version": __version__,
            }
            for cell in catalog
        },
        "number_of_feature_steps": 1,
        "feature_steps": {STEP: {"provides": features}},
        "default_steps": [STEP],
        "features_deterministic": features,
        "features_stochastic": [],
    }
    return json.dumps(about, indent=2) + "\n"


def _readme(budget: Budget, table: TableEvaluator, games: Sequence[str], catalog: Catalog) -> str:
    """Return a description of the scenario for readers, in the order of the specification's list."""
    names = {measured_name(game) for game in games}
    algorithms = set(catalog)
    records = [
        record
        for record in map(table.record, table.ids())
        if names_of(record) & names and Cell.of(record) in algorithms
    ]
    processors = sorted({str(record["processor"]) for record in records})
    engines = sorted({str(record["engine_version"]) for record in records})
    return f"""\
Written by rlccfr {__version__}; citation.bib has what to cite.

Origin. Each run was made by the engine of rlccfr (version and revision {", ".join(engines)}), on one thread of
{", ".join(processors)}.

Problem. An instance is a two-player zero-sum game with imperfect information, named as in OpenSpiel or in rlccfr
(`rlccfr games`). An algorithm looks for a Nash equilibrium, with a budget of {budget}.

Performance. {ERROR}: log10 of the exploitability of the average policy, as a share of the uniform policy's; no value is
below {math.log10(LEAST):g}. {SPEED}: iterations per CPU second, as a multiple of those of plain CFR on the same game.

Algorithms. All are variants of counterfactual regret minimization. A name consists of update rule, sampler and
abstraction; `rlccfr catalog NAME` names the source of each. The configurations in description.txt are their
hyperparameters. A repetition is an engine seed. The number of repetitions differs between games, since an algorithm
that draws nothing at random on a game has one.

Runs that failed. They have the uniform policy's exploitability and speed 0. The status is timeout for runs
that took too long, memout for runs that needed too much memory, crash for runs that ended with an error, and other for
algorithms that need a package that was not installed. Runs that ended normally can be worse than the uniform policy.
Nothing is missing.

Features. They describe the game's tree (rlccfr.envs.GameFeatures), and are computed in one step, without random draws
and without limits. Their cost is the CPU time, in seconds, of loading the game, from the cache if it is there, and of
computing its features.

Splits. The folds of the cross-validation in cv.arff were drawn at random, and differ in size by at most one game.
"""
