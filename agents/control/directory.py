"""The directory of a controller's training."""

from __future__ import annotations

from pathlib import Path

from rlccfr.controller_file import FILE_NAME

CONTROLLER = FILE_NAME
"""Name of the controller's file in a training's directory."""

STATE = "training.npz"
"""Name of the file with all that a training needs to go on."""

LOG = "training.csv"
"""Name of the log's file."""

MEMBER = "member-"
"""Beginning of the name of a member's directory; its number follows."""


def holds_controller(directory: Path) -> bool:
    """Return whether a directory holds a training of a controller."""
    return (directory / CONTROLLER).exists() or any(directory.glob(f"{MEMBER}*/{STATE}"))


def remove_trainings(directory: Path) -> None:
    """Remove the files of all trainings in a directory."""
    for folder in (directory, *directory.glob(f"{MEMBER}*")):
        for name in (CONTROLLER, STATE, LOG):
            (folder / name).unlink(missing_ok=True)
