"""What a request means: its game, its components' definitions, its identity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

from rlccfr.catalog import Cell
from rlccfr.components import Sampler
from rlccfr.envs.measurement import Budget, Request
from rlccfr.envs.provenance import engine_version, processor_model
from rlccfr.errors import BudgetError, ComponentError, RLCCFRError
from rlccfr.game_tree import CHANCE, GameTree
from rlccfr.games import load_game
from rlccfr.registry import Registry, abstractions, samplers, update_rules

REGISTRIES: tuple[Registry[Any], Registry[Any], Registry[Any]] = (update_rules, samplers, abstractions)


_compiled: dict[str, GameTree] = {}


def compiled(game: str, progress: Callable[[float], None] | None = None) -> GameTree:
    """The compiled game, once a process.

    Raises:
        GameError: as :func:`rlccfr.load_game`.
    """
    if game not in _compiled:
        _compiled[game] = load_game(game, progress=progress)
    return _compiled[game]


@cache
def uniform_exploitability(game: str) -> float:
    """Exploitability of the uniform policy, in the game's units."""
    from rlccfr.policy import Policy

    return Policy.uniform(compiled(game)).exploitability()


def definitions(cell: Cell) -> list[dict[str, Any]]:
    """Per component its id, its entry's version and its hyperparameters: what a measurement is of.

    Of components that are not the library's own, a digest of their source, too.

    Raises:
        ComponentError: an unknown id.
    """
    entries = [registry[id] for registry, id in zip(REGISTRIES, cell, strict=True)]
    return [
        {"id": e.id, "version": e.version, "hyperparameters": e.hyperparameters} | ({"code": e.code} if e.code else {})
        for e in entries
    ]


def is_deterministic(cells: Sequence[Cell], tree: GameTree) -> bool:
    """Whether a run draws nothing at random on this game, whatever its seed."""
    try:
        triples = [tuple(r.resolve(id) for r, id in zip(REGISTRIES, cell, strict=True)) for cell in cells]
    except Exception:  # a missing extra, a broken plug-in: nothing will run
        return False
    return all(
        not any(component.learns for component in triple) and (triple[1].exact or _draws_nothing(triple[1], tree))
        for triple in triples
    )


def _draws_nothing(sampler: Sampler, tree: GameTree) -> bool:
    players_all = sampler.opponent == "all" and sampler.traverser == "all"
    return players_all and (sampler.chance == "all" or not _has_chance(tree))


@lru_cache(maxsize=256)
def _has_chance(tree: GameTree) -> bool:
    return bool((tree.histories["num_children"][tree.histories["actor"] == CHANCE] > 1).any())


@cache
def why_unavailable(cell: Cell) -> str | None:
    """Why a triple can't run here (a missing extra, an unsound combination), or None if it can.

    Raises:
        ComponentError: an unknown id.
    """
    try:
        rule, sampler, _ = (registry.resolve(id) for registry, id in zip(REGISTRIES, cell, strict=True))
    except RLCCFRError:
        raise
    except Exception as error:  # a missing extra, or a broken plug-in
        return f"{type(error).__name__}: {error}"
    if rule.exact_only and not sampler.exact:
        return f"{cell.update_rule!r} is not sound with the estimates of {cell.sampler!r}"
    return None


def check(request: Request) -> None:
    """Refuse a request that no evaluator can answer.

    Raises:
        RLCCFRError: no triple, or more triples than segments.
        BudgetError: a budget that is too small to be split.
        ComponentError: an unknown id.
    """
    check_segments(request.budget, request.segments)
    if not 1 <= len(request.cells) <= request.segments:
        raise RLCCFRError(
            f"a request needs 1 to {request.segments} triples, one a segment so far, not {len(request.cells)}"
        )
    if isinstance(request.seed, bool) or not isinstance(request.seed, int) or request.seed < 0:
        raise ComponentError(f"an engine seed must be a non-negative integer, not {request.seed!r}")


def check_segments(budget: Budget, segments: int) -> None:
    """Refuse a number of segments that is not positive, or too large for the budget.

    Raises:
        BudgetError: see above.
    """
    if isinstance(segments, bool) or not isinstance(segments, int) or segments < 1:
        raise BudgetError(f"segments must be a positive integer, not {segments!r}")
    if budget.unit != "seconds" and budget.amount < segments:
        raise BudgetError(f"{budget} can't be split into {segments} segments; raise the budget or take fewer segments")


def due(budget: Budget, segments: int, finished: int) -> float:
    """What of the budget is spent after so many segments; whole units where they can't be split."""
    if budget.unit == "seconds":
        return budget.amount * finished / segments
    return int(budget.amount) * finished // segments


def cell_id(request: Request) -> str:
    """The name of a request's measurement on this machine: equal for runs that would give equal results.

    A hash of the components' definitions, game, budget, segments, seed (0 where nothing is drawn at random),
    engine version and processor model.
    """
    tree = compiled(request.game)
    key = {
        "components": [definitions(cell) for cell in request.cells],
        "game": tree.openspiel_name,
        "tree": tree.content_hash,
        "budget": [request.budget.unit, float(request.budget.amount)],
        "segments": request.segments,
        "seed": 0 if is_deterministic(request.cells, tree) else request.seed,
        "engine": engine_version(),
        "processor": processor_model(),
    }
    return hashlib.sha256(as_json(key).encode()).hexdigest()[:20]


def as_json(value: Any) -> str:
    """JSON with sorted keys: equal values give equal strings."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
