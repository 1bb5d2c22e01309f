"""Training of a controller on a list of games, with the files that it writes: the controller, its state and a log."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rlccfr.agents.control.collecting import Task, collect
from rlccfr.agents.control.directory import CONTROLLER, LOG, MEMBER, STATE, remove_trainings
from rlccfr.agents.control.games import control_games
from rlccfr.agents.control.hyperparameters import ControlHyperparameters
from rlccfr.agents.control.training import ControlTraining, Round
from rlccfr.agents.team.team_file import FILE_NAME as TEAM_FILE
from rlccfr.archives import archive_of, read_archive
from rlccfr.components.controller import Controller
from rlccfr.controller_file import save_controller
from rlccfr.envs.sweeping.pool import Pool, physical_cores
from rlccfr.errors import CheckpointError, RLCCFRError, what_failed, whole_number
from rlccfr.files import held, write_atomically
from rlccfr.games.names import GameName
from rlccfr.interrupts import uninterrupted

HORIZONS: Mapping[int, float] = {30: 0.05, 100: 0.2, 300: 0.25, 1000: 0.4, 3000: 0.07, 10_000: 0.03}
"""Numbers of iterations of the runs that the shipped controller was trained on, each with its share of the runs."""

ROUNDS = 20_000
"""Number of rounds with which the shipped controller was trained."""

MEMBERS = 1
"""Number of members of the shipped controller, each of which is trained separately."""

LOG_EVERY = 250
"""Number of rounds between two rows of the log; each row has the result on the validation games."""

SAVE_EVERY = 60.0
"""Seconds of wall-clock time after which training is saved, even between rows of the log."""

GUARD = 'scripts must call train_controller below `if __name__ == "__main__":`, or with workers=1'
"""What to do about a script that would start workers again in each worker."""


def train_controller(
    games: GameName | Sequence[GameName] | None = None,
    out: str | Path | None = None,
    *,
    members: int = MEMBERS,
    rounds: int = ROUNDS,
    horizons: Mapping[int, float] = HORIZONS,
    seed: int = 0,
    hyperparameters: ControlHyperparameters | None = None,
    workers: int = 0,
    fresh: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Controller:
    """Train a controller; :class:`rlccfr.Solver` accepts the controller or its file as ``control``.

    The same arguments give the same controller, whatever the number of workers. After Ctrl-C, a call with the same
    arguments continues from the last saved round.

    Args:
        games: names or files of the games to train on; None for those that the shipped controller was trained on.
        out: directory to write to; None to write nothing. Each member has a subdirectory with its controller, state and
            log so far. Whenever a member is finished, one controller of all finished members, and their logs, are
            written to the directory itself.
        members: number of members: separately trained networks whose mean Q-values decide.
        rounds: number of rounds of each member's training; a round has 20 runs by default.
        horizons: for each number of iterations of a run, the share of the runs that have it.
        seed: seed of the first member's networks and draws; the other members have the next seeds.
        hyperparameters: hyperparameters of each member's training; None for the defaults.
        workers: number of processes that make the runs; 0 for one per physical core, 1 to make them in this process.
        fresh: whether to replace an earlier training run in the directory.
        progress: function that is called repeatedly with the share of the training that is done.

    Raises:
        RLCCFRError: an argument is invalid; or the directory can't be written, is in use, or has another training run.
    """
    directory = None if out is None else Path(out)
    names = _training_games(games)
    whole_number(seed, "seed", 0, RLCCFRError)
    whole_number(workers, "workers", 0, RLCCFRError)
    if workers != 1 and getattr(multiprocessing.current_process(), "_inheriting", False):  # as the library's own check
        raise RLCCFRError(GUARD)
    whole_number(members, "members", 1, RLCCFRError)
    trainings = [
        ControlTraining(names, rounds, horizons=horizons, hyperparameters=hyperparameters, seed=seed + member)
        for member in range(members)
    ]
    with nullcontext() if directory is None else held(directory), _worker_pool(workers) as (pool, parts):
        if directory is not None:
            refuse_others(directory, fresh)
            if fresh:
                remove_trainings(directory)
        for number, training in enumerate(trainings):
            member_directory = None if directory is None else directory / f"{MEMBER}{number}"
            if member_directory is not None:
                resume_training(training, member_directory)
            member_progress = partial(_report_member, progress, number, members) if progress else None
            _run(training, TrainingLog(training, member_directory), (pool, parts), member_progress)
            if directory is not None:
                save_members(trainings[: number + 1], directory)
    return Controller.together([training.controller for training in trainings])


def _training_games(games: GameName | Sequence[GameName] | None) -> Sequence[GameName]:
    """Return the games to train on: one, several, or by default those of the shipped controller."""
    if games is None:
        return control_games("train")
    if isinstance(games, (str, os.PathLike)):
        return (games,)
    return games


def _report_member(progress: Callable[[float], None], number: int, members: int, share: float) -> None:
    """Report the share of the whole training that is done, given the share of member ``number``."""
    progress((number + share) / members)


def _run(
    training: ControlTraining,
    log: TrainingLog,
    workers: tuple[Pool | None, int],
    progress: Callable[[float], None] | None,
) -> None:
    """Complete a training run, and pass each round to its log."""

    def after_round(finished_round: Round) -> None:
        log.note(finished_round)
        if progress:
            progress(finished_round.number / training.rounds)

    training.run(*workers, after_round)


@contextmanager
def _worker_pool(workers: int) -> Iterator[tuple[Pool | None, int]]:
    """Yield a pool of worker processes and their number, or None and 1 if this process makes the runs.

    The worker processes end with the block.
    """
    count = workers or max(len(physical_cores()), 1)
    if count == 1:
        yield None, 1
        return
    pool = Pool(count)
    try:
        yield pool, count
    except BrokenProcessPool:
        raise RLCCFRError(f"a worker process has ended unexpectedly; {GUARD}") from None
    finally:
        # Killed, not left to finish: after an error or Ctrl-C, nobody needs the runs that are still being made.
        pool.kill()


class TrainingLog:
    """The log of a training run, which also writes the run's other files.

    Args:
        training: the training run.
        directory: directory to write to; None to write nothing.
    """

    def __init__(self, training: ControlTraining, directory: Path | None) -> None:
        self._training = training
        self._directory = directory
        self._rounds_since_row: list[Round] = []
        on_shipped_games = training.games == control_games("train")
        self._validation_games = control_games("validation") if on_shipped_games else ()
        self._saved_at = time.monotonic()

    def note(self, finished_round: Round) -> None:
        """Note a finished round, and write what is due.

        A row of the log is due after every :data:`LOG_EVERY` rounds and after the last round. Controller and state are
        written with each row, and in between whenever :data:`SAVE_EVERY` seconds have passed since they were written.
        """
        self._rounds_since_row.append(finished_round)
        if self._directory is None:
            return
        number = finished_round.number
        row_due = number % LOG_EVERY == 0 or number == self._training.rounds
        if not row_due and time.monotonic() - self._saved_at < SAVE_EVERY:
            return
        row = self._row(finished_round) if row_due else None
        with uninterrupted():  # so that the log and the state agree on the rounds done
            save_training(self._training, self._directory)
            if row is not None:
                _append(self._directory / LOG, row, fresh=number <= LOG_EVERY)
        self._saved_at = time.monotonic()

    def _row(self, finished_round: Round) -> dict[str, Any]:
        """Return a row of the log: the round, means over the rounds since the last row, and the validation result."""
        means = {
            column: float(np.mean([getattr(past_round, column) for past_round in self._rounds_since_row]))
            for column in ("decades", "loss")
        }
        self._rounds_since_row = []
        row = finished_round._asdict() | means | {"validation": self._validation_decades()}
        return {column: round(value, 4) if isinstance(value, float) else value for column, value in row.items()}

    def _validation_decades(self) -> float | None:
        """Return the mean fall of log10 of the exploitability in 1,000 iterations on the validation games.

        Return None if there are no validation games.
        """
        if not self._validation_games:
            return None
        tasks = [Task(game, 1000) for game in self._validation_games]
        no_forced_picks = [None] * len(tasks)
        hidden = self._training.hyperparameters.hidden
        collected = collect(tasks, hidden, self._training.controller.flat_weights(), no_forced_picks)
        return -float(np.mean([episode.errors[-1] for episode in collected.episodes]))


def _append(path: Path, row: Mapping[str, Any], fresh: bool) -> None:
    """Append a row to a CSV file, or start a new file."""
    fresh = fresh or not path.exists()
    with path.open("w" if fresh else "a", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        if fresh:
            writer.writeheader()
        writer.writerow(row)


def save_training(training: ControlTraining, directory: Path) -> None:
    """Write the controller and the training's state.

    Raises:
        CheckpointError: a file can't be written.
    """
    _save_controller([training], directory)
    arrays = {"settings": np.array(json.dumps(training.settings)), **training.state()}
    write_atomically(directory / STATE, archive_of(arrays))


def save_members(trainings: Sequence[ControlTraining], directory: Path) -> None:
    """Write the finished members as one controller, and their logs as one log.

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
    """Write one controller with the networks of all members, and how it was trained."""
    about = trainings[0].settings | {
        "members": len(trainings),
        "rounds_done": min(training.done for training in trainings),
        "cpu_seconds": round(sum(training.cpu_seconds for training in trainings)),
    }
    controller = Controller.together([training.controller for training in trainings])
    save_controller(controller, directory / CONTROLLER, about)


def refuse_others(directory: Path, fresh: bool) -> None:
    """Check that a directory holds no team and, unless ``fresh``, no training run of an earlier version of the package.

    Raises:
        RLCCFRError: the directory holds one of these.
    """
    if (directory / TEAM_FILE).exists():
        raise RLCCFRError(f"{directory} holds a team, whose log would be lost; choose another directory (--out)")
    if (directory / STATE).exists() and not fresh:
        raise RLCCFRError(
            f"{directory} holds a training run of an earlier version of rlccfr; choose another directory (--out), or "
            "replace the training run (--fresh)"
        )


def resume_training(training: ControlTraining, directory: Path) -> bool:
    """Restore the state that a training run with the same settings left in a directory.

    Returns:
        Whether there was such a state.

    Raises:
        RLCCFRError: the directory holds a training run with other settings, or one that can't be read.
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
    expected = json.loads(json.dumps(training.settings))  # with JSON's types, as in the file
    different = [name for name in expected if expected[name] != settings.get(name)]
    if different:
        raise RLCCFRError(
            f"{directory} holds a training run with other settings ({', '.join(different)}); choose another directory "
            "(--out), or replace this training run (--fresh)"
        )
    try:
        training.restore(saved)
    except Exception as error:  # an array is missing, or belongs to another training run
        raise _damaged(path, error) from error
    return True


def _damaged(path: Path, error: Exception) -> CheckpointError:
    """Return the error for a file that can't be restored."""
    return CheckpointError(
        f"{path} is not a complete training file ({what_failed(error)}); remove it, or choose another directory"
    )
