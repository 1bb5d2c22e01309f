"""The identity of a request: its components' definitions, whether it draws at random, whether it can run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any

from rlccfr.catalog import Cell
from rlccfr.components import Sampler
from rlccfr.components.combination import why_incompatible
from rlccfr.components.controller import CONTROLLER_NAMES, SHIPPED
from rlccfr.envs.measuring.provenance import TIMING_VERSION, engine_version, processor_model
from rlccfr.envs.measuring.request import Request
from rlccfr.errors import BrokenComponentError, RLCCFRError
from rlccfr.files import as_json
from rlccfr.game import Game
from rlccfr.games.compiled_games import compiled
from rlccfr.registry import REGISTRIES, Entry


def definitions(cell: Cell) -> list[dict[str, Any]]:
    """Return the id, version and hyperparameters of each component, which define what is measured.

    A third-party component also has a digest of its source. A component with a controller from a file also has a digest
    of the controller's networks and choices.

    Raises:
        ComponentError: an unknown id.
    """
    entries = [registry[id] for registry, id in zip(REGISTRIES, cell, strict=True)]
    return [_definition(entry) for entry in entries]


def _definition(entry: Entry[Any]) -> dict[str, Any]:
    """Return what defines one component."""
    definition = {"id": entry.id, "version": entry.version, "hyperparameters": entry.defining}
    digest = unversioned(entry)
    return {**definition, "code": digest} if digest else definition


def from_file(cell: Cell) -> bool:
    """Return whether an algorithm names a controller, so that its definition may change with the controller's file."""
    return "controller=" in cell.update_rule


def unversioned(entry: Entry[Any]) -> str:
    """Return a digest of what has no version number in a component: third-party code, or a controller's file.

    Return ``""`` if a component has neither.
    """
    if entry.overrides.get("controller", SHIPPED) in CONTROLLER_NAMES:
        return entry.code
    controller = getattr(entry.make(), "controller", None)
    return entry.code + ("" if controller is None else controller.digest)


def is_deterministic(cells: Sequence[Cell], tree: Game) -> bool:
    """Return whether a run draws nothing at random on this game, whatever its seed."""
    try:
        algorithms = [
            tuple(registry.resolve(id) for registry, id in zip(REGISTRIES, cell, strict=True)) for cell in cells
        ]
    except Exception:  # a missing extra, a broken plugin: nothing will run
        return False
    for components in algorithms:
        _, sampler, _ = components
        if any(component.learns for component in components):
            return False
        if not (sampler.exact or _draws_nothing(sampler, tree)):
            return False
    return True


def _draws_nothing(sampler: Sampler, tree: Game) -> bool:
    """Return whether a sampler's walks visit the whole tree of a game, although the sampler is not ``exact``."""
    visits_all_actions = sampler.opponent == "all" and sampler.traverser == "all"
    return visits_all_actions and (sampler.chance == "all" or not tree.draws_chance)


def why_unavailable(cell: Cell) -> str | None:
    """Return why an algorithm can't be measured here, or None if it can.

    Reasons are a missing extra, a broken component, a controller, and components that can't be combined.

    Raises:
        ComponentError: an unknown id.
    """
    return _why_unavailable(cell, tuple(registry.revision for registry in REGISTRIES))


@cache
def _why_unavailable(cell: Cell, revisions: tuple[int, ...]) -> str | None:
    """Return :func:`why_unavailable` of an algorithm, for registries with these revisions."""
    try:
        rule, sampler, abstraction = (registry.resolve(id) for registry, id in zip(REGISTRIES, cell, strict=True))
    except BrokenComponentError as error:
        return str(error)
    except RLCCFRError:
        raise
    except Exception as error:  # a missing extra, or a broken plugin
        return f"{type(error).__name__}: {error}"
    if rule.controller is not None:
        return f"{cell.update_rule!r} plans for its budget, but shorter budgets are read off the curves of longer runs"
    return why_incompatible(rule, sampler, abstraction)


def cell_id(request: Request) -> str:
    """Return the id of a request's measurement on this machine.

    It is a hash of the components' definitions, game, budget, segments, seed (0 if nothing is drawn at random), engine
    version, timing version and processor model.
    """
    tree = compiled(request.game)
    key = {
        "components": [definitions(cell) for cell in request.cells],
        "game": tree.full_name,
        "tree": tree.content_hash,
        "budget": [request.budget.unit, float(request.budget.amount)],
        "segments": request.segments,
        "seed": 0 if is_deterministic(request.cells, tree) else request.seed,
        "engine": engine_version(),
        "timing": TIMING_VERSION,
        "processor": processor_model(),
    }
    return hashlib.sha256(as_json(key).encode()).hexdigest()[:20]
