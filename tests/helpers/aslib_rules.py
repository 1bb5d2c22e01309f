"""The rules of ASlib's format, as checks of a scenario on disk.

They were written from the specification (format.md at https://github.com/coseal/aslib-spec), since ASlib's own checker
is not on PyPI. ``tests/envs/measuring/test_aslib.py`` runs that one, too, where it is installed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import arff
import yaml

RUN_STATUS = {"ok", "timeout", "memout", "not_applicable", "crash", "other"}
STEP_STATUS = {"ok", "timeout", "memout", "presolved", "crash", "unknown", "other"}
TABLES = ("feature_values", "feature_runstatus", "feature_costs", "algorithm_runs", "cv")
TEXTS = ("description.txt", "readme.txt", "citation.bib")

FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "scenario_id": str,
    "performance_measures": list,
    "maximize": list,
    "performance_type": list,
    "algorithm_cutoff_time": (int, float, str),
    "algorithm_cutoff_memory": (int, float, str),
    "features_cutoff_time": (int, float, str),
    "features_cutoff_memory": (int, float, str),
    "number_of_feature_steps": int,
    "feature_steps": dict,
    "default_steps": list,
    "features_deterministic": list,
    "features_stochastic": list,
    "metainfo_algorithms": dict,
}
"""Fields of the description and their types; the values of cut-offs are numbers or a question mark."""


class Table(NamedTuple):
    """A table: its relation, its columns with their types, and its rows."""

    relation: str
    columns: list[tuple[str, Any]]
    rows: list[list[Any]]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        index = [column for column, _ in self.columns].index(name)
        return [row[index] for row in self.rows]


def faults(folder: Path) -> list[str]:
    """Return what is wrong with a scenario; an empty list if it keeps all rules."""
    missing = [name for name in (*TEXTS, *(f"{table}.arff" for table in TABLES)) if not (folder / name).is_file()]
    if missing:
        return [f"{name} is missing" for name in missing]
    found = [f"{path.name} is not ASCII" for path in folder.iterdir() if not path.read_bytes().isascii()]
    about = yaml.safe_load((folder / "description.txt").read_text())
    found += _faults_of_description(about)
    if found:
        return found
    tables = {name: _read(folder / f"{name}.arff") for name in TABLES}
    for name, table in tables.items():
        if table.relation != f"{name.upper()}_{about['scenario_id']}":
            found.append(f"{name}: the relation is {table.relation}")
        third = [] if name != "algorithm_runs" else ["algorithm"]
        first = ["instance_id", "repetition", *third]
        if [column for column, _ in table.columns][: len(first)] != first:
            found.append(f"{name}: the columns must begin with {', '.join(first)}")
    return found or [*_faults_of_features(about, tables), *_faults_of_runs(about, tables["algorithm_runs"], tables)]


def _read(path: Path) -> Table:
    content = arff.loads(path.read_text())
    return Table(content["relation"], content["attributes"], content["data"])


def _faults_of_description(about: Any) -> Iterator[str]:
    for name, kind in FIELDS.items():
        if not isinstance(about.get(name), kind):
            yield f"description: {name} is {about.get(name)!r}"
            return
    measures = about["performance_measures"]
    if not len(measures) == len(about["maximize"]) == len(about["performance_type"]):
        yield "description: measures, maximize and types differ in number"
    if not all(isinstance(flag, bool) for flag in about["maximize"]):
        yield "description: maximize must have Booleans"
    if not set(about["performance_type"]) <= {"runtime", "solution_quality"}:
        yield "description: a type is neither runtime nor solution_quality"
    if any(isinstance(about[name], str) and about[name] != "?" for name in FIELDS if "cutoff" in name):
        yield "description: a cut-off is neither a number nor a question mark"
    steps = about["feature_steps"]
    provided = {feature for step in steps.values() for feature in step["provides"]}
    deterministic, stochastic = set(about["features_deterministic"]), set(about["features_stochastic"])
    if len(steps) != about["number_of_feature_steps"] or not set(about["default_steps"]) <= set(steps):
        yield "description: the steps do not agree"
    if provided != deterministic | stochastic or deterministic & stochastic:
        yield "description: each feature must be provided, and be deterministic or stochastic"
    for algorithm, known in about["metainfo_algorithms"].items():
        if not (isinstance(known.get("configuration"), str) and isinstance(known.get("deterministic"), bool)):
            yield f"description: {algorithm} lacks configuration or deterministic"


def _faults_of_features(about: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterator[str]:
    values = tables["feature_values"]
    steps = list(about["feature_steps"])
    provided = {feature for step in about["feature_steps"].values() for feature in step["provides"]}
    if {column for column, _ in values.columns[2:]} != provided:
        yield "feature_values: the columns are not the features of the description"
    runs_of_features = [tuple(row[:2]) for row in values.rows]
    yield from _faults_of_repetitions("feature_values", runs_of_features)
    for name in ("feature_runstatus", "feature_costs"):
        if [tuple(row[:2]) for row in tables[name].rows] != runs_of_features:
            yield f"{name}: instances and repetitions are not those of feature_values"
        if [column for column, _ in tables[name].columns[2:]] != steps:
            yield f"{name}: the columns are not the steps of the description"
    if any(not set(kind) <= STEP_STATUS for _, kind in tables["feature_runstatus"].columns[2:]):
        yield "feature_runstatus: an unknown status"
    for costs, status in zip(tables["feature_costs"].rows, tables["feature_runstatus"].rows, strict=False):
        if any(cost is None and state == "ok" for cost, state in zip(costs[2:], status[2:], strict=False)):
            yield f"feature_costs: {costs[0]} has no cost"
    instances = set(values.column("instance_id"))
    folds = tables["cv"]
    if set(folds.column("instance_id")) != instances:
        yield "cv: the instances are not those of feature_values"
    yield from _faults_of_repetitions("cv", [tuple(row[:2]) for row in folds.rows])
    numbers = {int(fold) for fold in folds.column("fold")}
    if numbers != set(range(1, len(numbers) + 1)):
        yield "cv: the folds are not numbered from 1 on"


def _faults_of_runs(about: Mapping[str, Any], runs: Table, tables: Mapping[str, Table]) -> Iterator[str]:
    measures = about["performance_measures"]
    names = [column for column, _ in runs.columns]
    if names[3:] != [*measures, "runstatus"] or any(kind != "NUMERIC" for _, kind in runs.columns[3:-1]):
        yield "algorithm_runs: the columns are not the measures of the description"
    if not set(runs.columns[-1][1]) <= RUN_STATUS:
        yield "algorithm_runs: an unknown status"
    if any(None in row for row in runs.rows):
        yield "algorithm_runs: a value is missing"
    if set(runs.column("algorithm")) != set(about["metainfo_algorithms"]):
        yield "algorithm_runs: the algorithms are not those of the description"
    instances = set(tables["feature_values"].column("instance_id"))
    if {(row[0], row[2]) for row in runs.rows} != {(i, a) for i in instances for a in about["metainfo_algorithms"]}:
        yield "algorithm_runs: an algorithm lacks a run on an instance"
    yield from _faults_of_repetitions("algorithm_runs", [((row[0], row[2]), row[1]) for row in runs.rows])


def _faults_of_repetitions(name: str, runs: list[tuple[Any, ...]]) -> Iterator[str]:
    """Yield what is wrong with pairs of a key and the number of a repetition: they must count from 1 on."""
    numbers = defaultdict(list)
    for key, repetition in runs:
        numbers[key].append(repetition)
    for key, repetitions in numbers.items():
        if repetitions != list(range(1, len(repetitions) + 1)):
            yield f"{name}: the repetitions of {key} are {repetitions}"
