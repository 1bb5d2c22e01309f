"""Training a controller from a list of games to a file."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from rlccfr.agents.control.collecting import Task, collect
from rlccfr.agents.control.games import control_games
from rlccfr.agents.control.hyperparameters import ControlHyperparameters
from rlccfr.agents.control.training import ControlTraining, Round
from rlccfr.agents.control.training_file import CONTROLLER, STATE, resume_training, save_training
from rlccfr.components.controller import Controller
from rlccfr.envs.sweeping.cores import physical_cores
from rlccfr.envs.sweeping.pool import Pool
from rlccfr.files import held
from rlccfr.interrupts import uninterrupted

HORIZONS: Mapping[int, float] = {30: 0.05, 100: 0.2, 300: 0.25, 1000: 0.4, 3000: 0.07, 10_000: 0.03}
"""Numbers of iterations of the runs that the shipped controller was trained on, with their shares."""

ROUNDS = 45_000
LOG_EVERY = 250
"""Rounds between two rows of the log, each of which has the validation games' result."""

SAVE_EVERY = 60.0
"""Seconds by the clock after which a training is saved, even between rows."""

LOG = "training.csv"


def train_controller(
    games: Sequence[str] | None = None,
    out: str | Path | None = None,
    *,
    rounds: int = ROUNDS,
    horizons: Mapping[int, float] = HORIZONS,
    seed: int = 0,
    hyperparameters: ControlHyperparameters | None = None,
    workers: int = 0,
    fresh: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Controller:
    """Train a controller, which :class:`rlccfr.Solver` takes as ``control``, like its file.

    The same arguments give the same controller, whatever the number of workers. After Ctrl-C, a call with the same
    arguments goes on from the last saved round.

    Args:
        games: names of the games to train on; None for those that the shipped controller was trained on.
        out: directory of the controller, the log and the training's state; None to write nothing.
        rounds: number of rounds; each has 20 runs by default.
        horizons: for each number of iterations of a run, the share of the runs that have it.
        seed: seed of the networks and of all draws.
        workers: number of processes that make the runs; 0 for one per physical core, 1 to make them in this process.
        fresh: whether to replace a training in the directory.
        progress: function that is called repeatedly with the share of the training that is done.

    Raises:
        RLCCFRError: an argument is invalid; the directory can't be written, is in use, or holds a training with other
            arguments.
    """
    training = ControlTraining(
        control_games("train") if games is None else games,
        rounds,
        horizons=horizons,
        seed=seed,
        hyperparameters=hyperparameters,
    )
    directory = None if out is None else Path(out)
    with nullcontext() if directory is None else held(directory), _pool(workers) as (pool, parts):
        if directory is not None and fresh:
            for name in (CONTROLLER, STATE, LOG):
                (directory / name).unlink(missing_ok=True)
        if directory is not None:
            resume_training(training, directory)
        log = _Log(training, directory)

        def after(found: Round) -> None:
            log.note(found)
            if progress:
                progress(found.number / training.rounds)

        training.run(pool, parts, after)
    return training.controller


@contextmanager
def _pool(workers: int) -> Iterator[tuple[Pool | None, int]]:
    """Yield worker processes, or None for this process, and their number; they have ended afterwards."""
    count = workers or max(len(physical_cores()), 1)
    if count == 1:
        yield None, 1
        return
    pool = Pool(count)
    try:
        yield pool, count
    finally:
        pool.kill()


class _Log:
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
        free = [np.array(-1)] * len(tasks)
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
