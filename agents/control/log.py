"""The log of a training of a controller."""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlccfr.agents.control.collecting import Task, collect
from rlccfr.agents.control.directory import LOG
from rlccfr.agents.control.games import control_games
from rlccfr.agents.control.training import ControlTraining, Round
from rlccfr.agents.control.training_file import save_training
from rlccfr.interrupts import uninterrupted

LOG_EVERY = 250
"""Rounds between two rows of the log, each of which has the validation games' result."""

SAVE_EVERY = 60.0
"""Seconds by the clock after which a training is saved, even between rows."""


class Log:
    """The log of a training, and the writing of its files."""

    def __init__(self, training: ControlTraining, directory: Path | None) -> None:
        self._training, self._directory, self._rounds = training, directory, list[Round]()
        on_shipped_games = training.games == control_games("train")
        self._validation = control_games("validation") if on_shipped_games else ()
        self._saved = time.monotonic()

    def note(self, found: Round) -> None:
        """Note a round; now and then, write a row, and more often the files."""
        self._rounds.append(found)
        if self._directory is None:
            return
        row_due = found.number % LOG_EVERY == 0 or found.number == self._training.rounds
        if not row_due and time.monotonic() - self._saved < SAVE_EVERY:
            return
        row = self._row(found) if row_due else None
        with uninterrupted():
            save_training(self._training, self._directory)
            if row is not None:
                _append(self._directory / LOG, row, fresh=found.number <= LOG_EVERY)
        self._saved = time.monotonic()

    def _row(self, found: Round) -> dict[str, Any]:
        """Return the means over the rounds since the last row, and the result on the validation games."""
        means = {name: float(np.mean([getattr(one, name) for one in self._rounds])) for name in ("decades", "loss")}
        self._rounds = []
        row = found._asdict() | means | {"validation": self._validated()}
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()}

    def _validated(self) -> float | None:
        """Return the mean fall of log10 of the exploitability on the validation games, in 1,000 iterations."""
        if not self._validation:
            return None
        training = self._training
        tasks = [Task(game, 1000) for game in self._validation]
        free = [None] * len(tasks)
        found = collect(tasks, training.hyperparameters.hidden, training.controller.flat_weights(), free)
        return -float(np.mean([episode.errors[-1] for episode in found.episodes]))


def _append(path: Path, row: Mapping[str, Any], fresh: bool) -> None:
    """Append a row to a CSV file, or begin the file anew."""
    fresh = fresh or not path.exists()
    with path.open("w" if fresh else "a", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        if fresh:
            writer.writeheader()
        writer.writerow(row)
