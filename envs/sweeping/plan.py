"""What a sweep measures: each algorithm of a catalog on each game, once for each seed that makes a difference."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.identity import definitions, is_deterministic
from rlccfr.envs.measuring.provenance import engine_version, processor_model
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.errors import BudgetError, whole_number
from rlccfr.files import as_json
from rlccfr.registry import REGISTRIES

LEAST_MEGABYTES = 64
"""With less, loading the kernels aborts a worker, which can then neither measure a run nor say why."""


@dataclass(frozen=True)
class Limits:
    """How long a run lasts, and what it may take.

    Attributes:
        iterations: at least so many.
        seconds: at least so many engine CPU seconds, too; with 0 a run's numbers, times apart, are the same each time.
        timeout: CPU seconds after which a run is given up.
        megabytes: that a run may allocate beyond what its process holds when it begins.

    Raises:
        BudgetError: a limit that is not positive, or negative seconds.
    """

    iterations: int = 1_000
    seconds: float = 1.0
    timeout: float = 1_800.0
    megabytes: int = 4_096

    def __post_init__(self) -> None:
        whole_number(self.iterations, "iterations", 1, BudgetError)
        if not self.timeout > 0:
            raise BudgetError(f"timeout must be positive, not {self.timeout!r}")
        if not self.megabytes >= LEAST_MEGABYTES:
            raise BudgetError(
                f"megabytes must be at least {LEAST_MEGABYTES}, which a worker's libraries need, not {self.megabytes!r}"
            )
        if not 0 <= self.seconds < math.inf:
            raise BudgetError(f"seconds must be at least 0 and finite, not {self.seconds!r}")


@dataclass(frozen=True)
class Job:
    """One run: an algorithm on a game with a seed."""

    game: str
    cell: Cell
    seed: int
    limits: Limits

    @property
    def learns(self) -> bool:
        """Whether models are fitted."""
        return any(registry.resolve(id).learns for registry, id in zip(REGISTRIES, self.cell, strict=True))

    def request(self, iterations: int | None = None) -> Request:
        """What the run is a measurement of: solving for as many iterations as it made, or was to make at least."""
        budget = Budget("iterations", iterations or self.limits.iterations)
        return Request(self.game, (self.cell,), budget, seed=self.seed)

    @property
    def id(self) -> str:
        """The name of the run's record: equal for runs that would give equal results on this machine."""
        tree = compiled(self.game)
        key = {
            "components": definitions(self.cell),
            "game": tree.openspiel_name,
            "tree": tree.content_hash,
            "run": [self.limits.iterations, self.limits.seconds],
            "seed": self.seed,
            "engine": engine_version(),
            "processor": processor_model(),
        }
        return hashlib.sha256(as_json(key).encode()).hexdigest()[:20]


def jobs(
    games: Mapping[str, Sequence[int]],
    catalog: Catalog,
    model_seeds: Sequence[int] = (0, 1),
    limits: Limits | None = None,
) -> list[Job]:
    """All runs of a sweep, the catalog's order within each game.

    Args:
        games: for each game the engine seeds of its tabular runs; a run that draws nothing at random has seed 0 alone.
        model_seeds: of runs that fit models; those that the game has too.

    Raises:
        GameError: an unknown game.
    """
    limits, found = limits or Limits(), []
    for game, seeds in games.items():
        tree = compiled(game)
        for cell in catalog:
            first = Job(game, cell, 0, limits)
            wanted = seeds
            if is_deterministic((cell,), tree):
                wanted = (0,)
            elif first.learns:
                wanted = [seed for seed in model_seeds if seed in seeds]
            found += [Job(game, cell, seed, limits) for seed in wanted]
    return found
