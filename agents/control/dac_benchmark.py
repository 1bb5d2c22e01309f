"""A benchmark of steering runs for DACBench, the library of benchmarks for dynamic algorithm configuration.

DACBench is described by Eimer et al., DACBench: a benchmark library for dynamic algorithm configuration, IJCAI 2021.
This module needs the extra: ``pip install 'rlccfr[dac]'``. Nothing else in the package imports it.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import math
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import numpy as np

from rlccfr.agents.control.games import Split, control_games
from rlccfr.components.controller import AGENTS, CHOICES, OBSERVATION, Controller
from rlccfr.controller_schedule import picks_of
from rlccfr.envs.control.env import LARGEST, ControlEnv
from rlccfr.envs.control.run import marks_of
from rlccfr.errors import RLCCFRError, brief, first_line, whole_number

OPTIONAL = ("torch", "torchvision", "smac")
"""Packages whose presence makes DACBench import one of its optional benchmarks."""


def _import_dacbench() -> None:
    """Import DACBench.

    DACBench 0.5.6 needs torchvision wherever it finds PyTorch, which this package requires, and OmegaConf wherever it
    finds SMAC. If torchvision or OmegaConf is missing or broken, DACBench is imported as if none of :data:`OPTIONAL`
    were installed. It then lacks its own benchmarks of SGD and of Bayesian optimisation.

    Raises:
        RLCCFRError: DACBench is not installed, or can't be imported even without these packages.
    """
    find_spec = importlib.util.find_spec

    def without_optional(name: str, package: str | None = None) -> Any:
        return None if name in OPTIONAL else find_spec(name, package)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # DACBench warns of its own benchmarks that are not installed
        with suppress(ImportError, RuntimeError):  # torchvision raises the latter if built for another PyTorch
            importlib.import_module("dacbench")
            return
        try:
            with mock.patch.object(importlib.util, "find_spec", without_optional):
                importlib.import_module("dacbench")
        except (ImportError, RuntimeError) as error:
            if getattr(error, "name", None) == "dacbench":
                reason = "a DACBench benchmark needs the extra: pip install 'rlccfr[dac]'"
            else:
                reason = f"DACBench can't be imported: {first_line(error)}"
            raise RLCCFRError(reason) from error


_import_dacbench()

from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace  # noqa: E402
from dacbench import AbstractMADACEnv  # noqa: E402
from dacbench.abstract_benchmark import AbstractBenchmark, objdict  # noqa: E402

HORIZON = 1000
"""Default number of iterations of a run; see :meth:`ControlBenchmark.set_horizon`."""

INFO = {
    "identifier": "CFR",
    "name": "Settings of counterfactual regret minimization during a run",
    "reward": "Decades (powers of ten) by which the exploitability of the average policy falls in a segment of the run",
    "state_description": list(OBSERVATION),
}
"""The benchmark's info, in DACBench's terms."""


def configuration_space() -> ConfigurationSpace:
    """Return the space of a step's settings as a ConfigSpace, with one categorical hyperparameter per agent.

    Names begin with the agent's number, because ConfigSpace sorts by name. The category at an index is the choice at
    that index in :data:`rlccfr.components.controller.CHOICES`.

    Examples:
        >>> configuration_space()["1_averaging"].choices
        ('gamma=0', 'gamma=1', 'gamma=2', 'gamma=3.5', 'gamma=6', 'gamma=10', 'gamma=20', 'gamma=40')
    """
    space = ConfigurationSpace()
    for number, ((agent, settings), choices) in enumerate(zip(AGENTS.items(), CHOICES, strict=True)):
        categories = [
            ",".join(f"{name}={value:g}" for name, value in zip(settings, choice, strict=True)) for choice in choices
        ]
        space.add(CategoricalHyperparameter(f"{number}_{agent}", categories))
    return space


def _defaults() -> objdict:
    """Return the default configuration of the benchmark; its entries have DACBench's names."""
    return objdict(
        config_space=configuration_space(),
        observation_space_class="Box",
        observation_space_type=np.float32,
        observation_space_args=np.outer([-LARGEST, LARGEST], np.ones(len(OBSERVATION), np.float32)),
        reward_range=(-math.inf, math.inf),
        cutoff=len(marks_of(HORIZON)),
        horizon=HORIZON,
        seed=0,
        multi_agent=False,
        instance_set_path="train",
        test_set_path="test",
        benchmark_info=INFO,
    )


@dataclass(frozen=True)
class ControlInstance:
    """An instance of the benchmark.

    Attributes:
        game: name of the game.
        horizon: number of iterations of a run.
    """

    game: str
    horizon: int


class ControlBenchmark(AbstractBenchmark):  # type: ignore[misc]
    """Steering a run of CFR, as a benchmark of DACBench.

    An instance is a game and a number of iterations. An episode is one run, in which each step picks the settings of a
    segment. Actions, states and rewards are those of ``rlccfr/Control-v0`` (:class:`rlccfr.envs.ControlEnv`); the
    configuration space names the actions. The sets of instances are the games of the shipped controller: ``"train"``
    (704), ``"validation"`` (34) and ``"test"`` (64, of which 32 are large). A further set is ``"larger"`` (146).

    Besides the entries of every DACBench benchmark, the configuration has these:

    ===================== ==================================================================================
    Entry                 Meaning
    ===================== ==================================================================================
    ``instance_set_path`` the name of a set, such as ``"train"``, or a CSV file with a column ``game``
                          and, if runs differ in length, a column ``horizon``
    ``test_set_path``     the same for the test set
    ``horizon``           number of iterations of a run, unless a file gives it; see :meth:`set_horizon`
    ``cutoff``            number of decisions of the longest run; computed from the instances
    ===================== ==================================================================================

    Args:
        config_path: a JSON file that :meth:`save_config` wrote.
        config: entries that replace the defaults.

    Examples:
        >>> benchmark = ControlBenchmark()
        >>> benchmark.set_horizon(100)
        >>> env = benchmark.get_environment()
        >>> state, info = env.reset(options={"instance_id": 0})
        >>> state, reward, terminated, truncated, info = env.step([5, 2, 0])
        >>> reward > 0, sorted(info)
        (True, ['exploitability', 'iterations'])
    """

    config: Any

    def __init__(self, config_path: str | Path | None = None, config: Mapping[str, Any] | None = None) -> None:
        super().__init__(config_path, None if config is None else objdict(config))
        self.config = objdict({**_defaults(), **(self.config or {})})
        # JSON has no single precision, and Gymnasium warns about double precision.
        self.config.observation_space_args = np.asarray(self.config.observation_space_args, np.float32)

    def get_environment(self) -> Any:
        """Return an environment with the current configuration."""
        if "instance_set" not in self.config:
            self.read_instance_set()
        if "test_set" not in self.config:
            self.read_instance_set(test=True)
        instances = [*self.config.instance_set.values(), *self.config.test_set.values()]
        # Instances have horizons of their own, so the largest number of steps follows from them, not from the default.
        self.config.cutoff = max(len(marks_of(horizon)) for horizon in {instance.horizon for instance in instances})
        env = ControlDACEnv(self.config)
        for wrap in self.wrap_funcs:
            env = wrap(env)
        return env

    def get_benchmark(self, seed: int = 0) -> Any:
        """Return the environment in its standard form: runs of 1,000 iterations on the games of ``"train"``."""
        self.config = objdict({**_defaults(), "seed": seed})
        return self.get_environment()

    def serialize_config(self) -> dict[str, Any]:
        """Return the configuration, ready for JSON, with the paths of the instances instead of the instances."""
        serialized: dict[str, Any] = super().serialize_config()
        serialized.pop("test_set", None)
        for key in ("instance_set_path", "test_set_path"):
            serialized[key] = str(serialized[key])
        return serialized

    def set_horizon(self, horizon: int) -> None:
        """Set the number of iterations of a run, and drop the instances that were read.

        Raises:
            RLCCFRError: ``horizon`` is not a positive integer.
        """
        self.config.horizon = whole_number(horizon, "horizon", 1, RLCCFRError)
        self.config.cutoff = len(marks_of(self.config.horizon))
        for key in ("instance_set", "test_set"):
            self.config.pop(key, None)

    def read_instance_set(self, test: bool = False) -> None:
        """Read the instances, and put them into the configuration's entry ``instance_set`` or ``test_set``.

        The entry ``instance_set_path`` or ``test_set_path`` says which set or file is read.

        Args:
            test: whether to read the test instances.

        Raises:
            RLCCFRError: there is neither a set of this name nor such a file, the file has no games, or a horizon is not
                a positive integer.
        """
        path = self.config["test_set_path" if test else "instance_set_path"]
        horizon = whole_number(self.config.horizon, "horizon", 1, RLCCFRError)
        tasks = _instances(str(path), horizon)
        self.config["test_set" if test else "instance_set"] = dict(enumerate(tasks))


def _instances(path: str, horizon: int) -> list[ControlInstance]:
    """Return the instances of a set.

    Args:
        path: name of a set, or a CSV file.
        horizon: number of iterations where the file has none.

    Raises:
        RLCCFRError: as in :meth:`ControlBenchmark.read_instance_set`.
    """
    if path in get_args(Split):
        return [ControlInstance(game, horizon) for game in control_games(path)]
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        splits = ", ".join(get_args(Split))
        raise RLCCFRError(
            f"can't read instances from {path}: {error.strerror}; give a CSV file, or one of {splits}"
        ) from None
    except (UnicodeDecodeError, csv.Error):
        raise RLCCFRError(f"{path} is not a CSV file in UTF-8") from None
    if not rows or not all(row.get("game") for row in rows):
        raise RLCCFRError(f"{path} must have a column named game, and a game in each row")
    try:
        instances = [ControlInstance(row["game"], int(row.get("horizon") or horizon)) for row in rows]
    except ValueError:
        raise RLCCFRError(f"the column horizon of {path} must hold whole numbers of iterations") from None
    for instance in instances:
        whole_number(instance.horizon, f"a horizon in {path}", 1, RLCCFRError)
    return instances


class ControlDACEnv(AbstractMADACEnv):  # type: ignore[misc]
    """The environment of :class:`ControlBenchmark`.

    The ``info`` of a step has numbers only: the iterations done and the exploitability of the average policy. The game
    is ``env.instance.game``. An episode terminates with its run, and is never truncated.

    Attributes:
        control: the run of the current instance, as a :class:`rlccfr.envs.ControlEnv`; None before the first reset.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        self.control: ControlEnv | None = None
        self._prepared: ControlInstance | None = None  # the instance of ``control``

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, float]]:
        """Begin a run of the next instance, or of ``options["instance_id"]``.

        Returns:
            The state, and an empty dict.
        """
        super().reset_(seed=seed, options=options)
        if self.control is None or self._prepared != self.instance:
            self._prepared = self.instance
            self.control = ControlEnv(self.instance.game, self.instance.horizon)
        state, _ = self.control.reset()
        return state, {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, float]]:
        """Run one segment.

        Args:
            action: (3,) index of each agent's choice.

        Returns:
            State, reward, whether the run is over, False, and a dict with ``iterations`` and ``exploitability``.

        Raises:
            RLCCFRError: ``action`` is out of range, or the run is over or has not begun.
        """
        if self.control is None:
            raise RLCCFRError("the run has not begun: call reset() first")
        super().step_()
        state, reward, terminated, truncated, info = self.control.step(np.asarray(action))
        numbers = {name: info[name] for name in ("iterations", "exploitability")}
        return state, reward, terminated, truncated, numbers


def controller_policy(controller: Controller) -> Callable[[Any, np.ndarray], np.ndarray]:
    """Return a controller as DACBench's ``GenericAgent`` needs it: a function of environment and state.

    Raises:
        RLCCFRError: ``controller`` is not a controller, or has a choice that the environment does not have.

    Examples:
        >>> from dacbench.agents import GenericAgent
        >>> from rlccfr.catalog.scheduled import controller_named
        >>> agent = GenericAgent(None, controller_policy(controller_named("shipped")))
        >>> agent.act(np.zeros(24, np.float32), 0.0).shape
        (3,)
    """
    if not isinstance(controller, Controller):
        raise RLCCFRError(f"controller must be a Controller, not {brief(controller)}")
    # Actions index the environment's choices, whose order may differ from that of the controller's choices.
    places = [_places(choices, of_agent) for choices, of_agent in zip(controller.choices, CHOICES, strict=True)]

    def policy(env: Any, state: np.ndarray) -> np.ndarray:
        picks = picks_of(controller, state)
        return np.array([of_agent[pick] for of_agent, pick in zip(places, picks, strict=True)])

    return policy


def _places(choices: np.ndarray, of_environment: np.ndarray) -> np.ndarray:
    """Return the index of each of a controller's choices among the environment's choices for an agent, (choices,).

    Args:
        choices: (choices, settings) the controller's choices for the agent.
        of_environment: (environment's choices, settings) the environment's choices for the agent.

    Raises:
        RLCCFRError: the environment lacks one of the controller's choices.
    """
    is_same = (choices[:, None] == of_environment).all(axis=2)
    if not is_same.any(axis=1).all():
        raise RLCCFRError("the controller has choices that rlccfr/Control-v0 lacks: use a controller trained there")
    places: np.ndarray = is_same.argmax(axis=1)
    return places
