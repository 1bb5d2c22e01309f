"""Files of controllers: each is a NumPy archive, without pickles, of a controller's networks and choices.

The shipped controller is found by :func:`rlccfr.catalog.scheduled.controller_named`.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlccfr.archives import archive_of, check_format, read_archive
from rlccfr.components.controller import AGENTS, CONTROLLER_NAMES, OBSERVATION, Controller, Layer
from rlccfr.errors import CheckpointError, RLCCFRError, brief, what_failed
from rlccfr.files import write_atomically

FORMAT = "rlccfr-controller-3"
FORMAT_WITHOUT_MOMENTUM = "rlccfr-controller-2"
"""Format of earlier files, which are still read: their controllers were trained before momentum was added."""

FILE_NAME = "controller.npz"
"""Name of the controller's file in the directory of a training run."""


def save_controller(controller: Controller, path: str | Path, training: Mapping[str, Any] | None = None) -> None:
    """Write a controller to a file, whole or not at all.

    Args:
        controller: the controller; its weights are saved in single precision.
        path: the file.
        training: how the controller was trained, ready for JSON; None if that is not known.

    Raises:
        CheckpointError: the file can't be written.
    """
    header = {"format": FORMAT, "observation": OBSERVATION, "training": dict(training or {})}
    arrays = {"header": np.array(json.dumps(header))}
    arrays |= {f"{agent}/choices": choices for agent, choices in zip(AGENTS, controller.choices, strict=True)}
    for member, networks in enumerate(controller.members):
        for agent, network in zip(AGENTS, networks, strict=True):
            for layer, (weights, biases) in enumerate(network):
                arrays[f"{agent}/{member}/{layer}/weights"] = weights.astype(np.float32)
                arrays[f"{agent}/{member}/{layer}/biases"] = biases.astype(np.float32)
    write_atomically(Path(path), archive_of(arrays, compress=True))


def file_of(path: Path) -> Path:
    """Return the file of a controller.

    Args:
        path: the file itself, or the directory of a training run.
    """
    return path / FILE_NAME if os.path.isdir(path) else path  # Path.is_dir fails for names that are too long


def load_controller(path: str | Path) -> Controller:
    """Read a controller.

    Args:
        path: the file, or the directory of a training run.

    Raises:
        CheckpointError: the file is missing, damaged or of another kind, or its controller was trained on other
            observations.
    """
    return _read(file_of(Path(path)))[0]


def not_a_controller(control: object) -> str:
    """Return the message for an object that was given as a controller but is not one."""
    names = ", ".join(map(repr, CONTROLLER_NAMES))
    message = f"control must be {names}, a controller's file or a Controller, not {brief(control)}"
    if type(control).__module__.startswith(("stable_baselines3.", "sb3_contrib.")):
        message += "; rlccfr.agents.controller_from_sb3 converts an agent to a Controller"
    return message


def training_of(path: Path) -> dict[str, Any]:
    """Return how the controller in a file was trained: what was passed to :func:`save_controller` as ``training``.

    Raises:
        CheckpointError: as for :func:`load_controller`.
    """
    return _read(file_of(path))[1]


def _read(path: Path) -> tuple[Controller, dict[str, Any]]:
    """Return the controller in a file, and how it was trained.

    Raises:
        CheckpointError: as for :func:`load_controller`.
    """
    try:
        arrays = read_archive(path)
        header = json.loads(str(arrays.pop("header")))
        observation = tuple(header["observation"])
        # Controllers from before momentum was added are converted; they make the same picks.
        if header["format"] == FORMAT_WITHOUT_MOMENTUM and set(observation) < set(OBSERVATION):
            arrays = _with_momentum(arrays, observation)
            observation = OBSERVATION
        else:
            check_format(header["format"], FORMAT, path, "controller")
        if observation != OBSERVATION:
            raise CheckpointError(
                f"the controller in {path} was trained on other observations than this version's; train it again"
            )
        choices = tuple(arrays[f"{agent}/choices"] for agent in AGENTS)
        num_members = len({name.split("/")[1] for name in arrays} - {"choices"})
        members = tuple(
            tuple(_network(arrays, f"{agent}/{member}") for agent in AGENTS) for member in range(num_members)
        )
        return Controller(choices, members), header["training"]
    except RLCCFRError:
        raise
    except FileNotFoundError:
        unfinished = sorted(path.parent.glob(f"*/{FILE_NAME}"))  # members of a training run that has not ended
        example = f", such as {unfinished[0]}" if unfinished else ""
        raise CheckpointError(
            f"there is no controller file at {path}; give {', '.join(map(repr, CONTROLLER_NAMES))} or a file that "
            f"`rlccfr train --control` wrote{example}"
        ) from None
    except OSError as error:
        raise CheckpointError(f"can't read {path}: {error.strerror or error}") from None
    except Exception as error:  # damaged archives fail in many modules, without a common base
        if _is_agent_of_sb3(path):
            raise CheckpointError(
                f"{path} is an agent of Stable-Baselines3; load it with that library, and convert it to a controller "
                "by rlccfr.agents.controller_from_sb3"
            ) from error
        raise CheckpointError(
            f"{path} is not a complete controller file ({what_failed(error)}); name one that `rlccfr train --control` "
            "wrote"
        ) from error


def _with_momentum(arrays: Mapping[str, np.ndarray], observation: Sequence[str]) -> dict[str, np.ndarray]:
    """Convert the arrays of a controller without momentum to the current format; its picks stay the same.

    The converted networks ignore the new entries of an observation. Each choice of the agent ``prediction`` gets the
    values that stand for no momentum.

    Args:
        arrays: the arrays of a file in the earlier format, by name.
        observation: names of the entries of the observations that the controller was trained on.
    """
    present = dict(arrays)
    agent = "prediction"
    choices = arrays[f"{agent}/choices"]
    no_momentum = {"momentum": 0.0, "memory": 0.0, "power": 1.0}
    missing = [no_momentum[name] for name in AGENTS[agent][choices.shape[1] :]]
    present[f"{agent}/choices"] = np.hstack([choices, np.tile(missing, (len(choices), 1))])
    # In a network's inputs, the picks of earlier agents follow the observation.
    known = [OBSERVATION.index(name) for name in observation]
    for name, weights in arrays.items():
        if name.endswith("/0/weights"):
            num_picks = len(weights) - len(observation)
            rows = [*known, *range(len(OBSERVATION), len(OBSERVATION) + num_picks)]
            present[name] = np.zeros((len(OBSERVATION) + num_picks, weights.shape[1]), weights.dtype)
            present[name][rows] = weights
    return present


def _is_agent_of_sb3(path: Path) -> bool:
    """Return whether a file was written by the ``save`` method of an algorithm of Stable-Baselines3."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "_stable_baselines3_version" in archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):  # ValueError: a damaged name in the archive
        return False


def _network(arrays: Mapping[str, np.ndarray], prefix: str) -> tuple[Layer, ...]:
    """Return the layers of a network, in double precision; the names of its arrays begin with ``prefix``."""
    num_layers = sum(name.startswith(f"{prefix}/") and name.endswith("/weights") for name in arrays)
    return tuple(
        (arrays[f"{prefix}/{layer}/weights"].astype(float), arrays[f"{prefix}/{layer}/biases"].astype(float))
        for layer in range(num_layers)
    )
