"""A training on disk: the controller as it is, and all that the training needs to go on."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np

from rlccfr.agents.control.training import ControlTraining
from rlccfr.controller_file import save_controller
from rlccfr.errors import CheckpointError, RLCCFRError
from rlccfr.files import write_atomically

CONTROLLER, STATE = "controller.npz", "training.npz"
"""Names of the two files in a training's directory."""


def save_training(training: ControlTraining, directory: Path) -> None:
    """Write the controller and the training's state.

    Raises:
        CheckpointError: a file can't be written.
    """
    about = training.settings | {"rounds_done": training.done, "cpu_seconds": round(training.cpu_seconds)}
    save_controller(training.controller, directory / CONTROLLER, about)
    buffer = io.BytesIO()
    np.savez(buffer, settings=np.array(json.dumps(training.settings)), **training.state())  # type: ignore[arg-type]
    write_atomically(directory / STATE, buffer.getvalue())


def resume_training(training: ControlTraining, directory: Path) -> bool:
    """Restore the state that a training with the same settings left in a directory.

    Returns:
        Whether there was one.

    Raises:
        RLCCFRError: the directory holds a training with other settings, or one that can't be read.
    """
    path = directory / STATE
    if not path.exists():
        return False
    try:
        with np.load(path, allow_pickle=False) as archive:
            saved = {name: archive[name] for name in archive.files}
        settings = json.loads(str(saved.pop("settings")))
    except Exception as error:  # damaged archives fail in many modules, without a common base
        raise CheckpointError(f"{path} is not a whole training file; remove it, or name another directory") from error
    wanted = json.loads(json.dumps(training.settings))
    differing = [name for name in wanted if wanted[name] != settings.get(name)]
    if differing:
        raise RLCCFRError(
            f"{directory} holds a training with other settings ({', '.join(differing)}); name another directory with "
            "--out, or replace it with --fresh"
        )
    training.restore(saved)
    return True
