"""The runs of a sweep: each algorithm of a catalog on each game, once per engine seed if it draws at random."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.identity import definitions, is_deterministic
from rlccfr.envs.measuring.provenance import engine_version, processor_model
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.errors import BudgetError, whole_number
from rlccfr.files import as_json
from rlccfr.games.compiled_games import compiled
from rlccfr.registry import REGISTRIES

FURTHER = 10_000
"""Number of iterations to which `make measure` continues quick runs: the paper's larger budget."""

PATIENCE = 60.0
"""Largest number of engine CPU seconds that a run of :attr:`Limits.further` iterations may take."""

LEAST_MEGABYTES = 64
"""Least memory of a run, in megabytes; with less, a worker dies without an error while it loads the kernels."""


@dataclass(frozen=True)
class Limits:
    """The least length of a run, and its limits of time and memory.

    Attributes:
        iterations: least number of iterations.
        seconds: least number of engine CPU seconds; if this and ``further`` are 0, all results of a run except its
            times are reproducible.
        further: number of iterations to which a tabular run continues if these take at most :data:`PATIENCE` engine CPU
            seconds in all; 0 to run no further.
        timeout: CPU seconds after which a run is stopped.
        megabytes: memory that a run may allocate in addition to what its process has at the start; at least 64.

    Raises:
        BudgetError: ``iterations`` is not a positive whole number, or another limit is out of range.
    """

    iterations: int = 1_000
    seconds: float = 1.0
    further: int = 0
    timeout: float = 1_800.0
    megabytes: int = 4_096

    def __post_init__(self) -> None:
        whole_number(self.iterations, "iterations", 1, BudgetError)
        whole_number(self.further, "further", 0, BudgetError)
        if not self.timeout > 0:
            raise BudgetError(f"timeout must be positive, not {self.timeout!r}")
        if not self.megabytes >= LEAST_MEGABYTES:
            raise BudgetError(
                f"megabytes must be at least {LEAST_MEGABYTES}, which a worker's libraries need, not {self.megabytes!r}"
            )
        if not 0 <= self.seconds < math.inf:
            raise BudgetError(f"seconds must be at least 0 and finite, not {self.seconds!r}")
        for name in ("seconds", "timeout"):  # so that 1 and 1.0 give a run the same id
            object.__setattr__(self, name, float(getattr(self, name)))

    def goal(self, each: float) -> int:
        """Return the number of iterations to which a run continues if each takes ``each`` engine CPU seconds."""
        if self.further * each <= PATIENCE:
            return max(self.iterations, self.further)
        return self.iterations


@dataclass(frozen=True)
class Job:
    """One run: an algorithm on a game with a seed, planned for a processor, by default this machine's.

    A worker on another machine records the run under the same id, although the worker's processor may differ.

    Attributes:
        game: name of the game.
        cell: the algorithm.
        seed: engine seed.
        limits: least length of the run, and its limits of time and memory.
        processor: name of the processor, a part of the id.
    """

    game: str
    cell: Cell
    seed: int
    limits: Limits
    processor: str = field(default_factory=processor_model)

    @property
    def learns(self) -> bool:
        """Whether the algorithm fits models."""
        return any(registry.resolve(id).learns for registry, id in zip(REGISTRIES, self.cell, strict=True))

    def request(self, iterations: int | None = None) -> Request:
        """Return the request that the run answers, with a budget in iterations.

        Args:
            iterations: number of iterations that the run performed; by default ``limits.iterations``.
        """
        budget = Budget("iterations", iterations or self.limits.iterations)
        return Request(self.game, (self.cell,), budget, seed=self.seed)

    @property
    def id(self) -> str:
        """Id of the run's record; runs have equal ids if they would give equal results on the job's processor."""
        tree = compiled(self.game)
        limits = self.limits
        # Further iterations are included only if they have an effect: runs with equal results have equal ids.
        further = [limits.further] if limits.further > limits.iterations and not self.learns else []
        key = {
            "components": definitions(self.cell),
            "game": tree.full_name,
            "tree": tree.content_hash,
            "run": [limits.iterations, limits.seconds, *further],
            "seed": self.seed,
            "engine": engine_version(),
            "processor": self.processor,
        }
        return hashlib.sha256(as_json(key).encode()).hexdigest()[:20]


def jobs(
    games: Mapping[str, Sequence[int]],
    catalog: Catalog,
    model_seeds: Sequence[int] = (0, 1),
    limits: Limits | None = None,
) -> list[Job]:
    """Return all runs of a sweep, game by game in the catalog's order.

    Args:
        games: engine seeds of the tabular runs, by game; an algorithm that draws nothing at random has only seed 0.
        model_seeds: engine seeds of the runs that fit models; those that are not among a game's seeds are left out.
        limits: limits of each run; :class:`Limits` by default.

    Raises:
        GameError: an unknown game.
    """
    limits = limits or Limits()
    planned = []
    for game, seeds in games.items():
        tree = compiled(game)
        for algorithm in catalog:
            run_seeds = seeds
            if is_deterministic((algorithm,), tree):
                run_seeds = (0,)
            elif Job(game, algorithm, 0, limits).learns:
                run_seeds = [seed for seed in model_seeds if seed in seeds]
            planned += [Job(game, algorithm, seed, limits) for seed in run_seeds]
    return planned
