"""The directory of a controller's training."""

from __future__ import annotations

from pathlib import Path

from rlccfr.controller_file import FILE_NAME

CONTROLLER, STATE, LOG = FILE_NAME, "training.npz", "training.csv"
"""Names of the files in a training's directory."""

MEMBER = "member-"
"""Beginning of the name of a member's directory; its number follows."""


def holds_controller(directory: Path) -> bool:
    """Return whether a directory holds a training of a controller."""
    return (directory / CONTROLLER).exists() or any(directory.glob(f"{MEMBER}*/{STATE}"))


def remove_trainings(directory: Path) -> None:
    """Remove the files of all trainings in a directory."""
    for place in (directory, *directory.glob(f"{MEMBER}*")):
        for name in (CONTROLLER, STATE, LOG):
            (place / name).unlink(missing_ok=True)
