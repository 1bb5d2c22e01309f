"""The directory in which a controller is trained."""

from __future__ import annotations

from pathlib import Path

from rlccfr.controller_file import FILE_NAME

CONTROLLER = FILE_NAME
"""Name of the controller's file."""

STATE = "training.npz"
"""Name of the file with all that is needed to continue training."""

LOG = "training.csv"
"""Name of the log's file."""

MEMBER = "member-"
"""Beginning of the name of the subdirectory of a member (separately trained networks); its number follows."""


def holds_controller(directory: Path) -> bool:
    """Return whether a directory has a controller, or the saved state of an unfinished training run."""
    return (directory / CONTROLLER).exists() or any(directory.glob(f"{MEMBER}*/{STATE}"))


def remove_trainings(directory: Path) -> None:
    """Remove the files of all training runs in a directory."""
    for folder in (directory, *directory.glob(f"{MEMBER}*")):
        for name in (CONTROLLER, STATE, LOG):
            (folder / name).unlink(missing_ok=True)
