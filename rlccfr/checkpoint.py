"""Saved solvers: a NumPy archive of the tables, with a JSON header."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError
from rlccfr.files import write_atomically
from rlccfr.registry import abstractions, samplers, update_rules
from rlccfr.result import CurvePoint

if TYPE_CHECKING:
    from rlccfr.solver import Solver

FORMAT = "rlccfr-solver-1"


def save_solver(solver: Solver, path: Path) -> None:
    """Write a solver to a file; see :meth:`Solver.save`."""
    components = {
        "update_rule": solver.update_rule,
        "sampler": solver.sampler,
        "abstraction": solver.abstraction,
    }
    for kind, component in components.items():
        if not component.id:
            raise CheckpointError(f"the {kind} is not registered, so it can't be loaded again; register it first")
    header = {
        "format": FORMAT,
        "game": {
            "name": solver.game.name,
            "openspiel_name": solver.game.openspiel_name,
            "restore_recall": solver.game.restore_recall,
            "max_histories": solver.game.num_histories,
            "hash": solver.game.content_hash,
        },
        "components": {kind: component.spec for kind, component in components.items()},
        "versions": _versions(solver),
        "options": {
            "seed": solver.seed,
            "averaging": solver.averaging,
            "simultaneous": solver.simultaneous,
            "walks": solver.walks,
            "reduce": solver.reduce,
            "blend": solver.blend,
        },
        "cpu_seconds": solver._cpu_seconds,
        "curve": solver._curve,
    }
    buffer = io.BytesIO()
    arrays = {"header": np.array(json.dumps(header)), **solver._engine.saved()}
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    write_atomically(path, buffer.getvalue())


def load_solver(path: Path, kind: type[Solver], threads: int = 1) -> Solver:
    """Read a solver from a file; see :meth:`Solver.load`."""
    from rlccfr.games.openspiel import compile_game

    try:
        with np.load(path, allow_pickle=False) as archive:
            state = {name: archive[name] for name in archive.files}
        header = json.loads(str(state.pop("header")))
        if header["format"] != FORMAT:
            raise CheckpointError(f"{path} has format {header['format']!r}; this version reads {FORMAT!r}")
        spec = header["game"]
        expected = spec.pop("hash")
        game = compile_game(**spec)
        if game.content_hash != expected:
            raise CheckpointError(
                f"{path} was made for another version of {spec['name']!r}: the game, or its layout in this library, "
                "has changed since; start anew"
            )
        options = {"reduce": False, **header["options"], "threads": threads}  # older files do not say "reduce"
        solver = kind(game, **header["components"], **options)
        if header["versions"] != _versions(solver):
            raise CheckpointError(f"{path} was made with another version of its components; start anew")
        solver._engine.restore(state)
        solver._cpu_seconds = header["cpu_seconds"]
        solver._curve = [CurvePoint(*point) for point in header["curve"]]
    except ComponentError as error:
        raise CheckpointError(f"{path} can't be loaded: {error}; register the component first") from None
    except RLCCFRError:
        raise
    except (FileNotFoundError, IsADirectoryError):
        raise CheckpointError(f"there is no solver file at {path}; name one that Solver.save wrote") from None
    except PermissionError:
        raise CheckpointError(f"can't read {path}; check its permissions") from None
    except Exception as error:  # damaged archives fail in many modules, without a common base
        raise CheckpointError(f"{path} is not a complete solver file; start anew") from error
    return solver


def _versions(solver: Solver) -> list[int]:
    """Return the versions of the components' definitions."""
    return [
        update_rules[solver.update_rule.id].version,
        samplers[solver.sampler.id].version,
        abstractions[solver.abstraction.id].version,
    ]
