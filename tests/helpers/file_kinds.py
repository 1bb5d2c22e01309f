"""One file of each kind that the library reads, and what reading it gives: for tests that damage them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from support import engine_state

import rlccfr
from rlccfr.agents import ControlHyperparameters, Hyperparameters, SelectorTeam
from rlccfr.agents.control.train import resume_training, save_training
from rlccfr.agents.control.training import ControlTraining
from rlccfr.agents.predicting.measured_costs import MeasuredCosts
from rlccfr.catalog import Catalog, Cell
from rlccfr.controller_file import load_controller
from rlccfr.envs import LiveEvaluator, Store, TableEvaluator
from rlccfr.envs.measuring.record import fingerprint
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.rows import load_results
from rlccfr.errors import RLCCFRError
from rlccfr.experiments import running
from rlccfr.experiments.experiment import Case, Experiment
from rlccfr.games import cache

Said = dict[str, np.ndarray]

PUBLIC = "holdem(ranks=3,suits=2,private=1,flop=1)"
ROUNDED = 1.01e-5
LARGE = "liars_dice(numdice=1,dice_sides=5)"
BUDGET = Budget("iterations", 5)


class Kind(NamedTuple):
    """A kind of file.

    Attributes:
        make: function that writes a file into an empty directory, and returns its path.
        says: function that reads it, and returns what it holds.
        tolerance: how far numbers in a damaged file may be from what they were. Policies as text may be edited and
            rounded, so their probabilities have to sum to 1 only within this.
        is_input: whether the file is a person's or another program's, so that a change may make it another valid one.
        is_slow: whether reading it takes tens of milliseconds.
    """

    make: Callable[[Path], Path]
    says: Callable[[Path], Said]
    tolerance: float = 0.0
    is_input: bool = False
    is_slow: bool = False

    @property
    def note(self) -> str:
        """What a reader of the figures has to know."""
        if self.is_input:
            return "A change may make another valid game of it: these are the other numbers."
        rounded = f"Probabilities may be rounded here, so a change of at most {self.tolerance:.0e} counts as none."
        return rounded if self.tolerance else ""


def solver(update_rule: str, game: str = "kuhn", sampler: str = "external", *, is_slow: bool = False) -> Kind:
    def make(folder: Path) -> Path:
        made = rlccfr.Solver(rlccfr.load_game(game), update_rule, sampler)
        made.run(iterations=5)
        made.save(folder / "solver.npz")
        return folder / "solver.npz"

    def says(path: Path) -> Said:
        loaded = rlccfr.Solver.load(path)
        return {**engine_state(loaded), "points": np.array(loaded.points), "seconds": np.array(loaded.cpu_seconds)}

    return Kind(make, says, is_slow=is_slow)


def policy(suffix: str, tolerance: float = 0.0) -> Kind:
    def make(folder: Path) -> Path:
        made = rlccfr.Solver(rlccfr.load_game("kuhn"), "dcfr", "external", seed=1)
        made.run(iterations=10)
        made.average_policy().save(folder / f"policy.{suffix}")
        return folder / f"policy.{suffix}"

    return Kind(make, lambda path: {"all": rlccfr.Policy.load(path).probabilities}, tolerance)


def public_policy(folder: Path) -> Path:
    game = rlccfr.load_game(PUBLIC)
    rlccfr.PublicPolicy(game, np.random.default_rng(0).random(game.num_sequences)).save(folder / "public.npz")
    return folder / "public.npz"


def team(folder: Path) -> Path:
    small = Hyperparameters(hidden=(4,), batch_size=4, settling=1)
    made = SelectorTeam("kuhn", BUDGET, catalog="tabular", hyperparameters=small)
    made.train(3)
    return made.save(folder)


def team_says(path: Path) -> Said:
    loaded = SelectorTeam.load(path)
    for selector in loaded.selectors:
        _ = selector.policy  # makes the networks, from which learning continues
    found = {
        f"{number}/{name}": array
        for number, selector in enumerate(loaded.selectors)
        for name, array in (selector.state() | selector.learning()).items()
    }
    return found | loaded.experience.to_arrays()


def control_training() -> ControlTraining:
    return ControlTraining(["kuhn"], 2, hyperparameters=ControlHyperparameters(hidden=(4,)))


def training(folder: Path) -> Path:
    save_training(control_training(), folder)
    return folder / "training.npz"


def training_says(path: Path) -> Said:
    restored = control_training()
    resume_training(restored, path.parent)
    return restored.state()


def controller(folder: Path) -> Path:
    training(folder)
    return folder / "controller.npz"


def controller_says(path: Path) -> Said:
    found = load_controller(path)
    layers = [array for networks in found.members for network in networks for layer in network for array in layer]
    return {str(number): array for number, array in enumerate([*found.choices, *layers])}


def table(folder: Path) -> Path:
    for rule in ("cfr", "dcfr"):
        request = Request("kuhn", (Cell(rule, "none", "none"),), BUDGET)
        LiveEvaluator(folder / "store").measure(request)
    return Store(folder / "store").compact(folder / "table.parquet")


def table_says(path: Path) -> Said:
    TableEvaluator(path)
    return {"all": np.array(fingerprint(load_results(path)))}


def record(folder: Path) -> Path:
    table(folder)
    return min((folder / "store").glob("*.json"))


def record_says(path: Path) -> Said:
    found = Store(path.parent).get(path.stem)
    if found is None:  # the file was set aside, and a sweep measures the run again
        path.with_name(path.name + ".corrupt").unlink()
        raise RLCCFRError("set aside")
    return {"all": np.array(repr(found))}


def costs(folder: Path) -> Path:
    draws = np.random.default_rng(0)
    catalog = Catalog(("cfr", "dcfr"), ("none",), ("none",))
    features, uniform, measured = draws.random((2, 5)), draws.random(2), draws.random((1, 2, 2, 2))
    MeasuredCosts(catalog, ("kuhn", "leduc"), (BUDGET,), features, uniform, measured).save(folder / "costs.npz")
    return folder / "costs.npz"


def costs_says(path: Path) -> Said:
    found = MeasuredCosts.load(path)
    return {"names": np.array(repr(found[:3])), "features": found.features, "costs": found.costs}


def kept_game(folder: Path) -> Path:
    cache.keep_game(rlccfr.load_game(LARGE))
    return max(cache.cache_folder().glob("game-*.npz"), key=lambda path: path.stat().st_mtime_ns)


def kept_game_says(path: Path) -> Said:
    found = cache.find_game(LARGE, False)
    if found is None:
        raise RLCCFRError("compiled anew")
    return {"hash": np.array(found.content_hash), "keys": np.array(found.infoset_keys)}


def figure() -> list[dict[str, float]]:
    return [{"figure": 1.25}]


EXPERIMENT = Experiment("damaged", "", "", lambda _: [Case("one", partial(figure))], lambda *_: iter([]), lambda _: [])


def cases(folder: Path) -> Path:
    running.measure(EXPERIMENT, folder, False)
    return running.cases_file(EXPERIMENT, folder, False)


def cases_say(path: Path) -> Said:
    found = running.stored(EXPERIMENT, path.parent)
    if found is None:
        raise RLCCFRError("measured again")
    return {"all": np.array(repr(found.to_dict("records")))}


def gambit_game(folder: Path) -> Path:
    return policy("efg").make(folder)


def gambit_game_says(path: Path) -> Said:
    game = rlccfr.load_game(str(path))
    return {"hash": np.array(game.content_hash)}


KINDS = {
    "checkpoint of a run": solver("ecfr"),
    "checkpoint of a run with networks": solver("deep_cfr(preset='sweep')", is_slow=True),
    "checkpoint of a run on a public tree": solver("dcfr", PUBLIC, "none"),
    "policy, CSV": policy("csv", ROUNDED),
    "policy, JSON": policy("json", ROUNDED),
    "policy, NumPy": policy("npz"),
    "policy, Gambit": policy("efg", ROUNDED),
    "policy on a public tree": Kind(
        public_policy, lambda path: {"all": np.asarray(rlccfr.PublicPolicy.load(path).table)}
    ),
    "game, Gambit": Kind(gambit_game, gambit_game_says, is_input=True),
    "kept game": Kind(kept_game, kept_game_says, is_slow=True),
    "record of a store": Kind(record, record_says),
    "table of measurements": Kind(table, table_says, is_slow=True),
    "cases of an experiment": Kind(cases, cases_say),
    "team": Kind(team, team_says, is_slow=True),
    "controller": Kind(controller, controller_says),
    "training of a controller": Kind(training, training_says),
    "costs that a chooser learns from": Kind(costs, costs_says),
}
