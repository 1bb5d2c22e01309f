"""Controllers on disk: a NumPy archive, without pickles, of networks and choices; and the rules that they steer."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlccfr.archives import archive_of, check_format, read_archive
from rlccfr.components import UpdateRule
from rlccfr.components.controller import AGENTS, OBSERVATION, Controller, Layer
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError, what_failed
from rlccfr.files import write_atomically
from rlccfr.registry import update_rules

FORMAT = "rlccfr-controller-2"
FILE_NAME = "controller.npz"
"""Name of the file in the directory of a training."""


def save_controller(controller: Controller, path: str | Path, training: Mapping[str, Any] | None = None) -> None:
    """Write a controller to a file, whole or not at all.

    Args:
        training: how it was trained, ready for JSON; None if that is not known.

    Raises:
        CheckpointError: the file can't be written.
    """
    header = {"format": FORMAT, "observation": OBSERVATION, "training": dict(training or {})}
    arrays = {"header": np.array(json.dumps(header))}
    arrays |= {f"{agent}/choices": choices for agent, choices in zip(AGENTS, controller.choices, strict=True)}
    for member, networks in enumerate(controller.members):
        for agent, network in zip(AGENTS, networks, strict=True):
            for number, (weights, biases) in enumerate(network):
                arrays[f"{agent}/{member}/{number}/weights"] = weights.astype(np.float32)
                arrays[f"{agent}/{member}/{number}/biases"] = biases.astype(np.float32)
    write_atomically(Path(path), archive_of(arrays, compress=True))


def file_of(path: Path) -> Path:
    """Return a controller's file, given by itself or by the directory of the training."""
    return path / FILE_NAME if os.path.isdir(path) else path  # Path.is_dir fails for names that are too long


def load_controller(path: str | Path) -> Controller:
    """Read a controller.

    Args:
        path: the file, or the directory of a training.

    Raises:
        CheckpointError: the file is missing, damaged or of another kind, or was made for other observations.
    """
    return _read(file_of(Path(path)))[0]


def training_of(path: Path) -> dict[str, Any]:
    """Return how a controller in a file was trained.

    Raises:
        CheckpointError: as for :func:`load_controller`.
    """
    return _read(file_of(path))[1]


def _read(path: Path) -> tuple[Controller, dict[str, Any]]:
    try:
        arrays = read_archive(path)
        header = json.loads(str(arrays.pop("header")))
        check_format(header["format"], FORMAT, path, "controller")
        if tuple(header["observation"]) != OBSERVATION:
            raise CheckpointError(
                f"the controller in {path} sees other numbers than this version shows; train it again"
            )
        choices = tuple(arrays[f"{agent}/choices"] for agent in AGENTS)
        count = len({name.split("/")[1] for name in arrays} - {"choices"})
        members = tuple(tuple(_network(arrays, f"{agent}/{member}") for agent in AGENTS) for member in range(count))
        return Controller(choices, members), header["training"]
    except RLCCFRError:
        raise
    except FileNotFoundError:
        parts = sorted(path.parent.glob(f"*/{FILE_NAME}"))  # of a training that has not ended
        such = f"such as {parts[0]}, " if parts else ""
        raise CheckpointError(
            f"there is no controller file at {path}; name one that `rlccfr train --control` wrote, {such}or shipped"
        ) from None
    except OSError as error:
        raise CheckpointError(f"can't read {path}: {error.strerror or error}") from None
    except Exception as error:  # damaged archives fail in many modules, without a common base
        raise CheckpointError(
            f"{path} is not a whole controller file ({what_failed(error)}); name one that `rlccfr train --control` "
            "wrote"
        ) from error


def _network(arrays: Mapping[str, np.ndarray], place: str) -> tuple[Layer, ...]:
    depth = sum(name.startswith(f"{place}/") and name.endswith("/weights") for name in arrays)
    parts = ("weights", "biases")
    return tuple(tuple(arrays[f"{place}/{k}/{part}"].astype(float) for part in parts) for k in range(depth))  # type: ignore[misc]


def rule_or_control(rule: Any, control: str | Path | Controller | None) -> UpdateRule:
    """Return an update rule, or the one whose settings a controller chooses.

    Args:
        rule: what :meth:`Registry.resolve` takes.
        control: what :func:`rule_of` takes; None for ``rule``.

    Raises:
        ComponentError: both are given, or there is no such component or file, or it holds no controller.
    """
    if control is None:
        return update_rules.resolve(rule)
    if rule != "cfr_plus":
        raise ComponentError("give an update rule, or a controller that chooses its settings, not both")
    return rule_of(control)


def rule_of(control: str | Path | Controller) -> UpdateRule:
    """Return the update rule whose settings a controller chooses.

    Args:
        control: ``"shipped"``, a file or the directory of a training, or the controller itself.

    Raises:
        ComponentError: there is no such file, or it holds no controller.
    """
    if not isinstance(control, str | Path | Controller):
        raise ComponentError(f"control must be 'shipped', a controller's file or a Controller, not {control!r}")
    if isinstance(control, Controller):
        return UpdateRule.controlled_by(control)
    if control == "shipped":
        name = str(control)
    else:
        name = str(Path(control).resolve())
        try:
            load_controller(name)  # the registry's error would name the rule, which nobody typed
        except RLCCFRError as error:
            raise ComponentError(str(error)) from None
    return update_rules.resolve({"id": "controlled", "controller": name})
