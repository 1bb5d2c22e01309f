"""Check that runs with a component converge on Kuhn poker; see :mod:`rlccfr.testing`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from rlccfr.components import Abstraction, Component
from rlccfr.games.names import load_game
from rlccfr.policy import Policy
from rlccfr.solver import Solver
from rlccfr.testing.functions import ConformanceError

LONG = 200_000
"""Number of exact iterations that must reach a hundredth of the uniform policy's exploitability.

CFR's bound falls as 1 / sqrt(T). The slowest sound rule of the catalog, Hedge, reaches half of that hundredth. A rule
that is stuck, such as one that always mixes its policy with the uniform one, may look well after fewer iterations.
"""


class Convergence(NamedTuple):
    """Exploitability on Kuhn of a run with a component, and of plain CFR, after the same numbers of iterations."""

    iterations: tuple[int, ...]
    reached: tuple[float, ...]
    plain: tuple[float, ...]

    def __str__(self) -> str:
        found = [f"{one:.3g} after {count:,}" for one, count in zip(self.reached, self.iterations, strict=True)]
        return (
            f"exploitability on Kuhn: {' and '.join(found)} iterations; "
            f"plain CFR: {' and '.join(f'{one:.3g}' for one in self.plain)}"
        )


def check_convergence(parts: Mapping[str, Any]) -> Convergence:
    """Check the exploitability that exact runs with a component reach, and return it.

    It must be at most a hundredth of the uniform policy's after :data:`LONG` iterations. Fitted models and buckets
    approximate and so need not come near 0. With them, it must be at most a half, after :func:`fewer` iterations.

    Raises:
        ConformanceError: it is larger.
    """
    made = next(part for part in parts.values() if isinstance(part, Component))
    approximates = made.learns or (isinstance(made, Abstraction) and made.buckets is not None)
    iterations = (fewer(2000, parts),) if approximates else (2000, LONG)
    share, said = (1 / 2, "a half") if approximates else (1 / 100, "a hundredth")
    found = Convergence(iterations, _reached(parts, iterations), _reached({"update_rule": "cfr"}, iterations))
    uniform = Policy.uniform(load_game("kuhn")).exploitability()
    if found.reached[-1] > share * uniform:
        raise ConformanceError(
            f"{made.title} does not converge: {found}; {iterations[-1]:,} iterations must reach {said} of the uniform "
            f"policy's {uniform:.3g}"
        )
    return found


def fewer(iterations: int, parts: Mapping[str, Any]) -> int:
    """Return ``iterations``, or a fifth if models are fitted: such iterations cost more and achieve more."""
    fits = any(isinstance(part, Component) and part.learns for part in parts.values())
    return iterations // 5 if fits else iterations


def _reached(parts: Mapping[str, Any], iterations: tuple[int, ...]) -> tuple[float, ...]:
    solver = Solver(load_game("kuhn"), **parts)
    steps = (end - begin for begin, end in zip((0, *iterations), iterations, strict=False))
    return tuple(solver.run(iterations=step, curve=False).exploitability for step in steps)
