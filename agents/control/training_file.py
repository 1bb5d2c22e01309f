"""A training on disk: the controller as it is, and all that the training needs to go on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rlccfr.agents.control.directory import CONTROLLER, LOG, MEMBER, STATE
from rlccfr.agents.control.training import ControlTraining
from rlccfr.agents.team.team_file import FILE_NAME as TEAM_FILE
from rlccfr.archives import archive_of, read_archive
from rlccfr.components.controller import Controller
from rlccfr.controller_file import save_controller
from rlccfr.errors import CheckpointError, RLCCFRError, what_failed
from rlccfr.files import write_atomically


def save_training(training: ControlTraining, directory: Path) -> None:
    """Write the controller and the training's state.

    Raises:
        CheckpointError: a file can't be written.
    """
    _save_controller([training], directory)
    arrays = {"settings": np.array(json.dumps(training.settings)), **training.state()}
    write_atomically(directory / STATE, archive_of(arrays))


def save_members(trainings: Sequence[ControlTraining], directory: Path) -> None:
    """Write the controller of several trainings that have ended, and their logs as one.

    Raises:
        CheckpointError: a file can't be written.
    """
    _save_controller(trainings, directory)
    paths = [directory / f"{MEMBER}{number}" / LOG for number in range(len(trainings))]
    logs = {number: pd.read_csv(path) for number, path in enumerate(paths) if path.exists() and path.stat().st_size}
    if logs:
        joint_log = pd.concat(logs, names=["member"]).reset_index("member")
        write_atomically(directory / LOG, joint_log.to_csv(index=False).encode())


def _save_controller(trainings: Sequence[ControlTraining], directory: Path) -> None:
    """Write one controller with the networks of all trainings, and how it was trained."""
    about = trainings[0].settings | {
        "members": len(trainings),
        "rounds_done": min(training.done for training in trainings),
        "cpu_seconds": round(sum(training.cpu_seconds for training in trainings)),
    }
    controller = Controller.together([training.controller for training in trainings])
    save_controller(controller, directory / CONTROLLER, about)


def refuse_others(directory: Path, fresh: bool) -> None:
    """Refuse a directory that holds a team, or unless ``fresh`` a training by an earlier version of the package.

    Raises:
        RLCCFRError: it does.
    """
    if (directory / TEAM_FILE).exists():
        raise RLCCFRError(f"{directory} holds a team, whose log would be lost; name another directory (--out)")
    if (directory / STATE).exists() and not fresh:
        raise RLCCFRError(
            f"{directory} holds a training by an earlier version; name another directory (--out), or replace it by "
            "fresh (--fresh)"
        )


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
        saved = read_archive(path)
        settings = json.loads(str(saved.pop("settings")))
    except CheckpointError:
        raise
    except Exception as error:  # damaged archives fail in many modules, without a common base
        raise _damaged(path, error) from error
    expected = json.loads(json.dumps(training.settings))  # with the types that JSON makes of them, as in the file
    different = [name for name in expected if expected[name] != settings.get(name)]
    if different:
        raise RLCCFRError(
            f"{directory} holds a training with other settings ({', '.join(different)}); name another directory "
            "(--out), or replace this one (--fresh)"
        )
    try:
        training.restore(saved)
    except Exception as error:  # an array is missing, or is another training's
        raise _damaged(path, error) from error
    return True


def _damaged(path: Path, error: Exception) -> CheckpointError:
    """Return the error about a file that can't be restored."""
    return CheckpointError(
        f"{path} is not a whole training file ({what_failed(error)}); remove it, or name another directory"
    )
