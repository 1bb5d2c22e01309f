"""Training a controller from a list of games to a file."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from rlccfr.agents.control.directory import MEMBER, remove_trainings
from rlccfr.agents.control.games import control_games
from rlccfr.agents.control.hyperparameters import ControlHyperparameters
from rlccfr.agents.control.log import Log
from rlccfr.agents.control.training import ControlTraining, Round
from rlccfr.agents.control.training_file import refuse_others, resume_training, save_members
from rlccfr.components.controller import Controller
from rlccfr.envs.sweeping.cores import physical_cores
from rlccfr.envs.sweeping.pool import Pool
from rlccfr.errors import RLCCFRError, whole_number
from rlccfr.files import held
from rlccfr.games.names import GameName

HORIZONS: Mapping[int, float] = {30: 0.05, 100: 0.2, 300: 0.25, 1000: 0.4, 3000: 0.07, 10_000: 0.03}
"""Numbers of iterations of the runs that the shipped controller was trained on, with their shares."""

ROUNDS, MEMBERS = 45_000, 1
"""Rounds of a training of the shipped controller, and number of such trainings."""


GUARD = 'scripts must call train_controller below `if __name__ == "__main__":`, or with workers=1'
"""What to do about a script that starts workers whenever it is run."""


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
    """Train a controller, which :class:`rlccfr.Solver` takes as ``control``, like its file.

    The same arguments give the same controller, whatever the number of workers. After Ctrl-C, a call with the same
    arguments goes on from the last saved round.

    Args:
        games: names or files of the games to train on; None for those that the shipped controller was trained on.
        out: directory to write to; None to write nothing. It gets the controller and the log whenever a member's
            training ends, and has a directory per member with its controller and its state so far.
        members: number of trainings, whose networks decide together.
        rounds: number of rounds of each training; a round has 20 runs by default.
        horizons: for each number of iterations of a run, the share of the runs that have it.
        seed: seed of the first member's networks and draws; the next members have the next seeds.
        workers: number of processes that make the runs; 0 for one per physical core, 1 to make them in this process.
        fresh: whether to replace a training in the directory.
        progress: function that is called repeatedly with the share of the training that is done.

    Raises:
        RLCCFRError: an argument is invalid; the directory can't be written, is in use, or holds a training with other
            arguments.
    """
    directory = None if out is None else Path(out)
    names = control_games("train") if games is None else (games,) if isinstance(games, (str, os.PathLike)) else games
    whole_number(seed, "seed", 0, RLCCFRError)
    whole_number(workers, "workers", 0, RLCCFRError)
    if workers != 1 and getattr(multiprocessing.current_process(), "_inheriting", False):  # as the library's own check
        raise RLCCFRError(GUARD)
    plan = partial(ControlTraining, names, rounds, horizons=horizons, hyperparameters=hyperparameters)
    trainings = [plan(seed=seed + member) for member in range(whole_number(members, "members", 1, RLCCFRError))]
    with nullcontext() if directory is None else held(directory), _pool(workers) as (pool, parts):
        if directory is not None:
            refuse_others(directory, fresh)
            if fresh:
                remove_trainings(directory)
        for number, training in enumerate(trainings):
            place = None if directory is None else directory / f"{MEMBER}{number}"
            if place is not None:
                resume_training(training, place)
            share = partial(_share, progress, number, members) if progress else None
            _run(training, Log(training, place), (pool, parts), share)
            if directory is not None:
                save_members(trainings[: number + 1], directory)
    return Controller.together([training.controller for training in trainings])


def _share(progress: Callable[[float], None], number: int, members: int, share: float) -> None:
    """Report the share of all trainings from that of one."""
    progress((number + share) / members)


def _run(
    training: ControlTraining, log: Log, workers: tuple[Pool | None, int], progress: Callable[[float], None] | None
) -> None:
    """Run a training to its end; note each round."""

    def after(found: Round) -> None:
        log.note(found)
        if progress:
            progress(found.number / training.rounds)

    training.run(*workers, after)


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
    except BrokenProcessPool:
        raise RLCCFRError(f"a worker process has ended; {GUARD}") from None
    finally:
        pool.kill()
