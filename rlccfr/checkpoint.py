"""Saved solvers: a NumPy archive of the tables, with a JSON header."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlccfr.archives import archive_of, check_format, has_format, opened_archive, write_archive
from rlccfr.components import UpdateRule
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError, what_failed
from rlccfr.files import discard_leftovers, not_held_by_others, written_atomically
from rlccfr.game import Game, checked_game, without_lock
from rlccfr.locks import Lock
from rlccfr.registry import abstractions, samplers, update_rules
from rlccfr.result import CurvePoint

if TYPE_CHECKING:
    from rlccfr.solver import Solver

FORMAT = "rlccfr-solver-1"
"""Name and version of the format, in a file's header."""

MOST_COMPRESSED = 2**28
"""Largest number of bytes of a solver's tables for which the file is compressed.

Compression takes about 30 times as long as writing.
"""


LOCK_ENTRIES = "lock_entries"
"""Name of the array of a lock's table entries in a file."""

LOCK_PROBABILITIES = "lock_probabilities"
"""Name of the array of their probabilities."""


def is_solver(path: Path) -> bool:
    """Return whether a file can be read and its header is that of a saved solver."""
    return has_format(path, FORMAT)


def saved_run(path: Path, game: Game) -> dict[str, Any] | None:
    """Return a saved run's components, and whether the run blends, as arguments of :class:`rlccfr.Solver`.

    Args:
        path: the file, which need not exist.
        game: the game, with or without a lock.

    Returns:
        The arguments; None if the file is not a saved run on this game, or can't be read. :func:`load_solver` says what
        is wrong with such a file.
    """
    if not (path.exists() and is_solver(path)):
        return None
    with opened_archive(path) as archive:
        header = json.loads(str(archive["header"]))
    try:
        if header["game"]["hash"] != without_lock(game).content_hash:
            return None
        return {**_components(header), "blend": header["options"].get("blend", False)}  # older files lack the option
    except (KeyError, TypeError):  # a damaged header
        return None


def unloadable(path: Path | None, error: ComponentError) -> CheckpointError:
    """Return the error for a saved run whose components can't be made here."""
    advice = "register the component first, or continue in the folder where the run began"
    return CheckpointError(f"{path} can't be loaded: {error}; {advice}")


def _components(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specs of a saved run's components, by kind, as they are written today."""
    components: dict[str, Any] = header["components"]
    rule = components["update_rule"]
    if "preset" in rule:  # in files without the hyperparameter final_rate, a deep rule's learning rate was constant
        rule = {"final_rate": 1.0, **rule}
    return components | {"update_rule": rule}


def save_solver(solver: Solver, path: Path) -> None:
    """Write a solver to a file; see :meth:`Solver.save`."""
    arrays = _arrays(solver)
    is_large = sum(array.nbytes for array in arrays.values()) > MOST_COMPRESSED
    discard_leftovers(path)
    with not_held_by_others(path), written_atomically(path) as file:
        write_archive(file, arrays, compress=not is_large)


def reduced(solver: Solver) -> tuple[Any, ...]:
    """Return the value of ``Solver.__reduce__``, from which ``pickle`` and ``copy`` restore the solver.

    Raises:
        CheckpointError: a component has no id.
    """
    return _restored, (type(solver), archive_of(_arrays(solver)), solver.threads, solver.game)


def _restored(kind: type[Solver], data: bytes, threads: int, game: Game) -> Solver:
    return _read(io.BytesIO(data), "the solver", kind, threads, game)


def _arrays(solver: Solver) -> dict[str, np.ndarray]:
    """Return a solver's tables by name, with a header that describes its game, components and options.

    Raises:
        CheckpointError: a component has no id.
    """
    components = {
        "update_rule": solver.update_rule,
        "sampler": solver.sampler,
        "abstraction": solver.abstraction,
    }
    for kind, component in components.items():
        if isinstance(component, UpdateRule) and component.controller is not None and not component.id:
            raise CheckpointError(
                "the controller is not in a file, so it can't be loaded again: save it with "
                "rlccfr.controller_file.save_controller, and pass the file as control="
            )
        if not component.id:
            raise CheckpointError(
                f"the {kind.replace('_', ' ')} is not registered, so it can't be loaded again; register it first"
            )
    lock = solver.game.lock
    game = without_lock(solver.game)
    header = {
        "format": FORMAT,
        "game": {**game.source, "hash": game.content_hash},
        "components": {kind: component.spec for kind, component in components.items()},
        "versions": _versions(solver),
        "buckets": solver._engine.buckets,
        "options": {
            "seed": solver.seed,
            "averaging": solver.averaging,
            "simultaneous": solver.simultaneous,
            "walks": solver.walks,
            "reduce": solver.reduce,
            "blend": solver.blend,
            "dtype": solver._engine.dtype,
            "by_hand": solver.by_hand,
            "current": solver.current,
        },
        "cpu_seconds": solver._cpu_seconds,
        "blending_seconds": solver._blending_seconds,
        "curve": solver._curve,
    }
    fixed = {} if lock is None else {LOCK_ENTRIES: lock.entries, LOCK_PROBABILITIES: lock.probabilities}
    return {"header": np.array(json.dumps(header)), **fixed, **solver._engine.saved()}


def load_solver(path: Path, kind: type[Solver], threads: int = 1, game: Game | None = None) -> Solver:
    """Read a solver from a file; see :meth:`Solver.load`."""
    if game is not None:
        checked_game(game)
    if threads != 1:
        from rlccfr.engine.binding import checked_threads

        checked_threads(threads)
    try:
        return _read(path, str(path), kind, threads, game)
    except ComponentError as error:
        raise unloadable(path, error) from None
    except RLCCFRError:
        raise
    except (FileNotFoundError, IsADirectoryError):
        raise CheckpointError(f"there is no solver file at {path}; name one that Solver.save wrote") from None
    except PermissionError:
        raise CheckpointError(f"can't read {path}; check its permissions") from None
    except Exception as error:  # damaged archives fail in many modules, without a common base
        if isinstance(error, MemoryError) and _is_whole(path):  # a damaged file may declare arrays of any size
            raise CheckpointError(f"out of memory while loading {path}, which is complete; free some memory") from error
        if not _is_archive(path):
            raise CheckpointError(f"{path} is not a saved run; name another file, such as run.npz") from error
        cause = what_failed(error)
        raise CheckpointError(f"{path} is not a complete solver file ({cause}); start a new run") from error


def _is_archive(path: Path) -> bool:
    """Return whether a file begins like an archive; True for a device or a pipe, which is not read."""
    if not path.is_file():
        return True
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _read(source: Path | io.BytesIO, name: str, kind: type[Solver], threads: int, game: Game | None) -> Solver:
    """Read a solver.

    Args:
        source: path of the file, or its bytes.
        name: name of the source in messages.
        kind: class of the solver.
        threads: number of threads for exact passes.
        game: a game that may be the solver's; see :func:`_locked_as`.

    Raises:
        CheckpointError: the solver was saved in another format, or its game, components or buckets have changed since.
    """
    with opened_archive(source) as archive:
        header = json.loads(str(archive["header"]))
        check_format(header["format"], FORMAT, name, "solver")
        options = {"reduce": False, **header["options"], "threads": threads}  # older files do not say "reduce"
        solver = kind(_locked_as(archive, header["game"], name, game), **_components(header), **options)
        if header["versions"] != _versions(solver):
            raise CheckpointError(f"{name} was made with another version of its components; start a new run")
        if header.get("buckets") != solver._engine.buckets:  # they may depend on another library's version
            raise CheckpointError(f"{name} was made with buckets that differ from those computed now; start a new run")
        solver._engine.restore(archive)
    solver._cpu_seconds = header["cpu_seconds"]
    solver._blending_seconds = header.get("blending_seconds", 0.0)  # files of earlier versions lack it
    solver._curve = [CurvePoint(*point) for point in header["curve"]]
    return solver


def _is_whole(path: Path) -> bool:
    """Return whether each part of an archive matches its checksum; the archive is read in small pieces."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except Exception:  # an archive that can't be read to its end is not whole, whatever the error
        return False


def _game_of(spec: dict[str, Any], name: str, candidate: Game | None) -> Game:
    """Return a saved run's game: ``candidate`` if it has the same content, which saves time; else load the game.

    Args:
        spec: the saved description of the game; this function removes the hash from it.
        name: name of the saved run in messages.
        candidate: a game that may be the run's; None to load the game.

    Raises:
        CheckpointError: the game has changed since the run was saved.
    """
    from rlccfr.games.names import load_game
    from rlccfr.games.openspiel import compile_game

    content_hash = spec.pop("hash")
    game_name = spec["name"]
    if candidate is not None and candidate.content_hash == content_hash:
        return candidate
    if candidate is not None and candidate.name != game_name:
        raise CheckpointError(f"{name} is a run on {game_name!r}, not on {candidate.name!r}; name that game, or none")
    game: Game = compile_game(**spec) if "openspiel_name" in spec else load_game(game_name)
    if game.content_hash != content_hash:
        raise CheckpointError(
            f"{name} was made for another version of {game_name!r}: the game, or its layout in this library, has "
            "changed since; start a new run"
        )
    return game


def _locked_as(saved: Mapping[str, np.ndarray], spec: dict[str, Any], name: str, candidate: Game | None) -> Game:
    """Return a saved run's game with the run's lock, if it has one; see :func:`_game_of`.

    Args:
        saved: the arrays of the saved run, by name.
        spec, name: see :func:`_game_of`.
        candidate: a game that may be the run's, with or without the lock. If it is the run's, it is used, which saves
            time. None to load the game.

    Raises:
        CheckpointError: the candidate has another lock, or the game has changed.
    """
    game = _game_of(spec, name, None if candidate is None else without_lock(candidate))
    lock = Lock(game, saved[LOCK_ENTRIES], saved[LOCK_PROBABILITIES]) if LOCK_ENTRIES in saved else None
    # The run's tables belong to the game with this lock, so a candidate with another lock can't be used.
    if candidate is not None and candidate.lock is not None:
        if lock is None or not lock.same_as(candidate.lock):
            how = "without a" if lock is None else "with another"
            raise CheckpointError(f"{name} belongs to a run {how} lock; start a new run")
        return candidate
    if lock is None:
        return game
    locked_game: Game = lock.locked_game()
    return locked_game


def _versions(solver: Solver) -> list[int]:
    """Return the versions of the definitions of update rule, sampler and abstraction."""
    return [
        update_rules[solver.update_rule.id].version,
        samplers[solver.sampler.id].version,
        abstractions[solver.abstraction.id].version,
    ]
