"""Runs of ``rlccfr solve`` that a checkpoint keeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlccfr.cli.progress import stderr
from rlccfr.errors import CheckpointError, ComponentError

if TYPE_CHECKING:
    from rlccfr.catalog import Cell
    from rlccfr.games.flat_tree import GameTree
    from rlccfr.solver import Solver


def saving(
    solver: Solver, checkpoint: Path, seconds: float, report: Callable[[float], None]
) -> Callable[[float], None]:
    """Return a function that reports progress, and writes the checkpoint every ``seconds`` seconds."""
    last = time.monotonic()

    def called(share: float) -> None:
        nonlocal last
        report(share)
        if time.monotonic() - last < seconds:
            return
        try:
            solver.save(checkpoint)
        except CheckpointError as error:  # a full disk is no reason to end the run
            stderr.print(f"warning: {error}", highlight=False, markup=False, soft_wrap=True)
        last = time.monotonic()

    return called


def solver_for(tree: GameTree, cell: Cell, options: dict[str, Any], checkpoint: Path | None) -> Solver:
    """Return the solver in a checkpoint if there is one, else a new solver.

    Raises:
        CheckpointError: the checkpoint belongs to another run.
        ComponentError: several walks are asked for, and the components fit models.
    """
    from rlccfr.solver import Solver

    fresh = Solver(tree, *cell, **options)
    if options["walks"] != 1 and any(part.learns for part in (fresh.update_rule, fresh.sampler, fresh.abstraction)):
        raise ComponentError(
            "--walks is for components without models; with models, set the hyperparameter traversals or preset"
        )
    if checkpoint is None or not checkpoint.exists():
        return fresh
    wanted = _settings(fresh)
    del fresh  # its tables may take gigabytes
    saved = Solver.load(checkpoint, threads=options["threads"], game=tree)
    there = _settings(saved)
    differing = [name for name in wanted if wanted[name] != there[name]]
    if differing:
        raise CheckpointError(
            f"{checkpoint} belongs to a run with another {' and '.join(differing)}; name another --checkpoint"
        )
    words = f"resuming {checkpoint} after {saved.cpu_seconds:.3g} CPU seconds"
    stderr.print(words, highlight=False, markup=False, soft_wrap=True)
    return saved


def _settings(solver: Solver) -> dict[str, Any]:
    return {
        "game": solver.game.content_hash,
        **solver.specs,
        "seed": solver.seed,
        "averaging": solver.averaging,
        "simultaneous": solver.simultaneous,
        "number of walks": solver.walks,
        "choice of --blend": solver.blend,
    }
