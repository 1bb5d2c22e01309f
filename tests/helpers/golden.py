"""Outputs that may change only together with a declared version: see tests/test_versions.py.

``python -m tests.helpers.golden`` records the outputs whose version was raised, and reports all others that differ.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rlccfr
from benchmarks.methods import METHODS, digest_of_runs
from rlccfr.agents import Hyperparameters, SelectorTeam, shipped
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging import unseen_games as generalisation
from rlccfr.agents.judging.evidence import ChoosingRuns
from rlccfr.agents.team import learning
from rlccfr.catalog import Catalog
from rlccfr.components import SHARED_CHANCE
from rlccfr.envs import PRESETS, Budget, SelectorEnv
from rlccfr.envs.measuring import provenance
from rlccfr.games.cache import FORMAT as LAYOUT
from rlccfr.registry import abstractions, samplers, update_rules

KEPT = Path(__file__).with_name("golden.json")
CLOSE = 1e-6
"""Relative difference within which numbers are equal: processors round differently in the last digits."""

SECOND = Budget("seconds", 1.0)


class Golden(NamedTuple):
    """A declared version, and the output that it stands for."""

    version: str | int
    compute: Callable[[], Any]


def goldens() -> dict[str, Golden]:
    """Return everything that declares a version, by name."""
    found = {
        "engine": Golden(provenance.ENGINE_VERSION, engine_runs),
        "layout of games": Golden(LAYOUT, layouts),
        "environment": Golden(on_measurements("rlccfr/Selector-v0"), episodes),
        "judging": Golden(on_measurements(generalisation.VERSION), judgements),
        "learning": Golden(on_measurements(learning.VERSION), trained_teams),
    }
    for kind, registry in (("update rule", update_rules), ("sampler", samplers), ("abstraction", abstractions)):
        for entry in registry:
            if entry.code == "":  # the library's own: another test may have registered others
                found[f"{kind} {entry.id}"] = Golden(entry.version, lambda kind=kind, id=entry.id: component(kind, id))
    for name, method in METHODS.items():
        if name == "team":
            continue  # "learning" is its output, with less training
        found[f"method {name}"] = Golden(on_measurements(method.version), lambda name=name: choice(name))
    return found


def on_measurements(version: str | int) -> str:
    """Return a declared version with a digest of the shipped measurements, on which the output also depends."""
    return f"{version}, measurements {digest_of_runs(shipped.path(shipped.MEASURED), shipped.GAMES)}"


@cache
def tree(game: str) -> rlccfr.GameTree:
    return rlccfr.load_game(game)


def run(game: str, cell: tuple[str, str, str], iterations: int, **options: Any) -> list[float]:
    """Return the exploitability of the average and of the current policy after a run, and the histories touched."""
    solver = rlccfr.Solver(tree(game), *cell, seed=7, **options)
    result = solver.run(iterations=iterations, curve=False)
    return [result.exploitability, solver.current_policy().exploitability(), result.nodes_touched]


def engine_runs() -> list[list[float]]:
    """Return the results of each kind of iteration, and of each option of a solver."""
    return [
        run("leduc", ("cfr_plus", "none", "none"), 50),
        run("leduc", ("pcfr_plus", "none", "cfr_br"), 20),
        run("leduc", ("dcfr", "none", "none"), 20, averaging="pre"),
        run("goofspiel", ("cfr", "none", "none"), 20, simultaneous=True),
        run("leduc", ("cfr", "external", "none"), 200),
        run("leduc", ("lcfr_plus", "outcome", "none"), 200),
        run("kuhn", ("cfr", "outcome", "none"), 50, walks=5),
        run("goofspiel", ("ecfr", "probing", "cfr_br"), 20),
        run("kuhn", ("deep_dcfr(model='table',preset='sweep')", "external", "none"), 20),
    ]


def component(kind: str, id: str) -> list[list[float]]:
    """Return the results of a component with plain ones on two games.

    Models are tables, because networks depend on the version of PyTorch.
    """
    rule, sampler, abstraction, second = "dcfr", "external", "none", "goofspiel"
    if kind == "update rule":
        rule, sampler = id, "none"
        if update_rules[id].make().learns:
            rule = f"{id}(model='table',preset='sweep')"
    elif kind == "sampler":
        sampler = id
        if samplers[id].make().chance in SHARED_CHANCE:
            second = "leduc"  # Goofspiel has no public tree
    else:
        abstraction, sampler = id, "none"
        if abstractions[id].make().learns:
            abstraction = f"{id}(model='table')"
        if abstractions[id].make().buckets is not None:
            second = "leduc"  # Goofspiel has neither hands nor suits
    return [run("kuhn", (rule, sampler, abstraction), 30), run(second, (rule, sampler, abstraction), 20)]


def layouts() -> list[str]:
    """Return content hashes of compiled games."""
    games = ("kuhn", "leduc", "goofspiel", "liars_dice(numdice=1,dice_sides=3)", "kuhn(cards=5)")
    return [tree(game).content_hash for game in games]


def episodes() -> list[Any]:
    """Return observations and rewards of an environment that reads recorded measurements."""
    found: list[Any] = []
    for preset in ("accuracy", "paper-leduc"):
        env = SelectorEnv("leduc", {"unit": "seconds", "amount": 0.1}, preset=preset, catalog=shipped.catalog(),
                          evaluator=shipped.results("leduc"))  # fmt: skip
        observation, _ = env.reset(seed=0)
        found.append(observation.tolist())
        for action in ((0, 0, 2), (5, 2, 0), (12, 4, 2)):
            env.reset(seed=0)
            observation, reward, *_ = env.step(np.array(action))
            found += [observation.tolist(), reward]
    return found


@cache
def task(game: str, choosing: bool = True) -> Task:
    results = shipped.results(game)
    return Task(ChoosingRuns(results) if choosing else results, shipped.catalog(), game, SECOND, PRESETS["accuracy"])


def choice(method: str) -> list[Any]:
    """Return the algorithm that a method chooses for Kuhn poker, and the method's evaluations and CPU seconds."""
    cell, spent, seconds = METHODS[method].choose(task("kuhn"), 20, 1)
    return [*cell, spent, seconds]


def trained_teams() -> list[Any]:
    """Return the algorithms that a team measures, in order, and its picks.

    Q-values are left out, because they depend on the version of PyTorch.
    """
    small = Catalog(("cfr", "dcfr", "cfr_plus"), ("none", "external"), ("none", "cfr_br"))
    team = SelectorTeam("kuhn", {"unit": "seconds", "amount": 1.0}, preset=("accuracy", "paper-kuhn"), catalog=small,
                        evaluator=ChoosingRuns(shipped.results("kuhn")), seed=3,
                        hyperparameters=Hyperparameters(settling=10, gradient_steps=10))  # fmt: skip
    team.train(8)
    measured = [list(cell) for _, cell, _ in team.experience]
    return [measured, *(list(team.pick(preset=preset)) for preset in ("accuracy", "paper-kuhn"))]


class ByTeam:
    """A team as a chooser for games that it has not learned from."""

    def __init__(self, team: SelectorTeam) -> None:
        self.pick, self.catalog, self.games, self.budgets = team.pick, team.catalog, team.env.games, team.env.budgets

    def left(self, budget: Budget) -> Budget:
        return budget


def judgements() -> list[Any]:
    """Return the regrets of a shipped team's picks."""
    asked = ["leduc"], [SECOND], [PRESETS["accuracy"]]
    rows = generalisation.judged(ByTeam(shipped.team("kuhn")), shipped.results(), *asked)
    return [[row[name] for name in ("kind", "pick", "SBS", "single_best")] for row in rows.to_dict("records")]


def alike(first: Any, second: Any) -> bool:
    """Return whether two outputs are equal, numbers within :data:`CLOSE`."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, float) or isinstance(second, float):
        return math.isclose(first, second, rel_tol=CLOSE, abs_tol=1e-12)
    return first == second


def kept() -> dict[str, dict[str, Any]]:
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def differing() -> Iterator[str]:
    """Record outputs of raised versions, and yield the names of outputs that differ at the same version."""
    old, new = kept(), {}
    for name, golden in goldens().items():
        output = json.loads(json.dumps(golden.compute()))
        before = old.get(name)
        if before is None or before["version"] != golden.version:
            new[name] = {"version": golden.version, "output": output}
            continue
        new[name] = before
        if not alike(before["output"], output):
            yield name
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(one)}" for name, one in new.items())
    KEPT.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    wrong = list(differing())
    sys.exit(f"these changed, but not their versions: {', '.join(wrong)}" if wrong else 0)
