"""The contenders: this engine and peers from PyPI, each with a description of one of its iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyspiel

import rlccfr
from benchmarks import lite, python_peers
from benchmarks.compiled import spiel, tree
from benchmarks.scipy_cfr import SparseCFRPlus

Step = Callable[[int], None]
"""Function that runs a given number of iterations."""


class Contender(NamedTuple):
    """One implementation of one row of the table.

    Attributes:
        iteration: description of one of its iterations.
        make: function that returns the contender's step for one of the benchmark's games, by name; it is not timed.
        without: games that are left out because they take minutes to prepare.
    """

    name: str
    iteration: str
    make: Callable[[str], Step]
    without: tuple[str, ...] = ()


def ours(rule: str, sampler: str = "none", iteration: str = "both players in turn") -> Contender:
    """Return this engine, used through its public interface."""

    def make(name: str) -> Step:
        solver = rlccfr.Solver(tree(name), rule, sampler, seed=0)
        return lambda n: solver.run(iterations=n, curve=False) and None

    return Contender("rlccfr", iteration, make)


def repeated(step: Callable[[], Any]) -> Step:
    """Return a step that calls ``step`` once per iteration."""

    def run(n: int) -> None:
        for _ in range(n):
            step()

    return run


def openspiel(solver: str, method: str, iteration: str, *arguments: int) -> Contender:
    """Return one of OpenSpiel's solvers in C++."""

    def make(name: str) -> Step:
        return repeated(getattr(getattr(pyspiel, solver)(spiel(name), *arguments), method))

    return Contender("OpenSpiel", iteration, make)


def liteefg(baseline: str, iteration: str, traverse: str = "Enumerate") -> Contender:
    """Return a contender that iterates one of LiteEFG's graphs."""

    def make(name: str) -> Step:
        env, graph = lite.environment(name, baseline, traverse)

        def step() -> None:
            graph.update_graph(env)
            env.update_strategy(graph.current_strategy())

        return repeated(step)

    return Contender("LiteEFG", iteration, make)


def sparse() -> Contender:
    """Return CFR+ with SciPy's sparse matrices; it performs the same iterations as this engine."""

    def make(name: str) -> Step:
        return repeated(SparseCFRPlus(tree(name)).iterate)

    return Contender("SciPy", "both players in turn, by sparse products and sums per level", make)


def our_exploitability() -> Contender:
    """Return this engine's evaluation of the uniform policy."""

    def make(name: str) -> Step:
        return repeated(rlccfr.Policy.uniform(tree(name)).exploitability)

    return Contender("rlccfr", "values and best responses of both players", make)


def their_exploitability() -> Contender:
    """Return OpenSpiel's evaluation of the uniform policy, in C++."""

    def make(name: str) -> Step:
        policy = pyspiel.UniformRandomPolicy(spiel(name))
        return repeated(lambda: pyspiel.exploitability(spiel(name), policy))

    return Contender("OpenSpiel", "best responses of both players", make)


def lite_exploitability() -> Contender:
    """Return LiteEFG's evaluation of its policy after one iteration."""

    def make(name: str) -> Step:
        env, graph = lite.environment(name, "CFRplus", "Enumerate")
        graph.update_graph(env)
        env.update_strategy(graph.current_strategy())
        return repeated(lambda: env.exploitability(graph.current_strategy(), "default"))

    return Contender("LiteEFG", "best responses of both players", make)


ALTERNATING, WALKS = "both players in turn", "one walk for each player"
AT_ONCE = "a walk for each player, both from the same policies"
ROWS: dict[str, list[Contender]] = {
    "CFR+, exact": [
        ours("cfr_plus"),
        openspiel("CFRPlusSolver", "evaluate_and_update_policy", ALTERNATING),
        liteefg("CFRplus", ALTERNATING),
        Contender("OpenSpiel in JAX", ALTERNATING, python_peers.jax_cfr, without=("royal",)),
        Contender("noregret", ALTERNATING, python_peers.noregret_cfr),
    ],
    "DCFR, exact": [ours("dcfr"), liteefg("DCFR", ALTERNATING)],
    "PCFR+, exact": [ours("pcfr_plus"), liteefg("PCFR", ALTERNATING)],
    "CFR+, beside SciPy": [ours("cfr_plus"), sparse()],
    "external sampling": [
        ours("cfr", "external", WALKS),
        openspiel("ExternalSamplingMCCFRSolver", "run_iteration", WALKS, 1),
        liteefg("CFR", AT_ONCE, "External"),
    ],
    "outcome sampling": [
        ours("cfr", "outcome", WALKS),
        openspiel("OutcomeSamplingMCCFRSolver", "run_iteration", WALKS),
        liteefg("OS_MCCFR", WALKS, "Outcome"),
    ],
    "exploitability": [our_exploitability(), their_exploitability(), lite_exploitability()],
}
"""Contenders of each row of the table, this engine first."""


def installed(contender: Contender) -> bool:
    """Return whether a contender can run here."""
    needed = {
        "LiteEFG": lite.is_installed,
        "OpenSpiel in JAX": python_peers.has_jax,
        "noregret": python_peers.has_noregret,
    }
    return contender.name not in needed or needed[contender.name]()
