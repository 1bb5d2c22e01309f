"""The contenders: this engine and peers from PyPI, each with a description of one of its iterations.

A peer runs in a process of its own, in its own environment; see :mod:`benchmarks.peers`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import rlccfr
from benchmarks.alternation import Step, Timer, timed
from benchmarks.compiled import GAMES, spiel, tree
from benchmarks.peers import environments, game_files
from benchmarks.peers.server import repeated
from benchmarks.processes import Ask, answering
from benchmarks.scipy_cfr import SparseCFRPlus

SERVER = Path(__file__).parent / "peers" / "server.py"

Arguments = Callable[[str], list[str]]
"""Function from one of the benchmark's games, by name, to the arguments of a peer's job."""


class Contender(NamedTuple):
    """One implementation of one row of the table.

    Attributes:
        iteration: description of one of its iterations.
        timer: function that starts the contender on one of the benchmark's games, by name, for a block of code.
        environment: the peer's environment; empty for what runs in this process.
        without: games that are left out: the peer lacks them, or prepares for minutes.
    """

    name: str
    iteration: str
    timer: Callable[[str], AbstractContextManager[Timer]]
    environment: str = ""
    without: tuple[str, ...] = ()


@contextmanager
def peer_process(environment: str, job: str, arguments: list[str]) -> Iterator[Ask]:
    """Start a peer's process for a block of code; see ``peers/server.py``.

    Args:
        environment: the peer's environment.
        job: name of one of the server's jobs.
        arguments: the job's arguments.
    """
    command = [str(environments.python_of(environment)), str(SERVER), job, *arguments]
    with answering(command, game_files.folder()) as ask:
        yield ask


def peer(
    name: str, iteration: str, environment: str, job: str, arguments: Arguments, without: tuple[str, ...] = ()
) -> Contender:
    """Return a contender that runs one of the jobs of ``peers/server.py``."""

    @contextmanager
    def timer(game: str) -> Iterator[Timer]:
        with peer_process(environment, job, arguments(game)) as ask:
            yield lambda count: float(ask(f"cpu {count}"))

    return Contender(name, iteration, timer, environment, without)


def in_this_process(name: str, iteration: str, make: Callable[[str], Step]) -> Contender:
    """Return a contender that runs in this process.

    Args:
        make: function that returns its step for one of the benchmark's games; making it is not timed.
    """

    @contextmanager
    def timer(game: str) -> Iterator[Timer]:
        yield partial(timed, make(game))

    return Contender(name, iteration, timer)


def ours(rule: str, sampler: str = "none", iteration: str = "both players in turn") -> Contender:
    """Return this engine, used through its public interface."""

    def make(game: str) -> Step:
        solver = rlccfr.Solver(tree(game), rule, sampler, seed=0)
        return lambda count: solver.run(iterations=count, curve=False) and None

    return in_this_process("rlccfr", iteration, make)


def our_exploitability() -> Contender:
    """Return this engine's evaluation of the uniform policy."""

    def make(game: str) -> Step:
        return repeated(rlccfr.Policy.uniform(tree(game)).exploitability)

    return in_this_process("rlccfr", "values and best responses of both players", make)


def sparse() -> Contender:
    """Return CFR+ with SciPy's sparse matrices; it performs the same iterations as this engine."""

    def make(game: str) -> Step:
        return repeated(SparseCFRPlus(tree(game)).iterate)

    return in_this_process("SciPy", "both players in turn, by sparse products and sums per level", make)


def openspiel(solver: str, method: str, iteration: str, *arguments: int) -> Contender:
    """Return one of OpenSpiel's solvers in C++."""
    numbers = list(map(str, arguments))
    return peer(
        "OpenSpiel", iteration, "openspiel", "openspiel", lambda game: [str(spiel(game)), solver, method, *numbers]
    )


def liteefg(baseline: str, iteration: str, traverse: str = "Enumerate") -> Contender:
    """Return a contender that iterates one of LiteEFG's graphs."""

    def arguments(game: str) -> list[str]:
        return [str(game_files.for_liteefg(game)), baseline, traverse, "linear-avg-iterate"]

    return peer("LiteEFG", iteration, "liteefg", "liteefg", arguments)


def noregret(kernel: str) -> Contender:
    """Return noregret's CFR+ with one of its kernels, on the compiled game."""
    name = f"noregret, {kernel.removesuffix('Kernel')}"
    return peer(name, ALTERNATING, "noregret", "noregret", lambda game: [str(game_files.for_noregret(game)), kernel])


def nashbench() -> Contender:
    """Return nashbench's evaluation of the uniform policy, on its own form of the games that it has."""
    arguments = {
        "kuhn": ("kuhn_poker", {}),
        "leduc": ("leduc_poker", {}),
        "liars_dice": ("liars_dice", {"numdice": 1, "dice_sides": 6}),
    }
    without = tuple(game for game in GAMES if game not in arguments)

    def of_game(game: str) -> list[str]:
        name, parameters = arguments[game]
        return [name, json.dumps(parameters)]

    return peer("nashbench", "best responses of both players", "nashbench", "nashbench", of_game, without)


ALTERNATING = "both players in turn"
WALKS = "one walk for each player"
AT_ONCE = "a walk for each player, both from the same policies"
RESPONSES = "best responses of both players"
ROWS: dict[str, list[Contender]] = {
    "CFR+, exact": [
        ours("cfr_plus"),
        openspiel("CFRPlusSolver", "evaluate_and_update_policy", ALTERNATING),
        liteefg("CFRplus", ALTERNATING),
        peer(
            "OpenSpiel in JAX", ALTERNATING, "openspiel-jax", "openspiel_jax", lambda game: [str(spiel(game)), "one"],
            without=("royal",),
        ),
        noregret("FloatingPointKernel"),
        noregret("MKLKernel"),
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
    "exploitability": [
        our_exploitability(),
        peer("OpenSpiel", RESPONSES, "openspiel", "openspiel_exploitability", lambda game: [str(spiel(game))]),
        peer(
            "LiteEFG", RESPONSES, "liteefg", "liteefg_exploitability", lambda game: [str(game_files.for_liteefg(game))]
        ),
        nashbench(),
    ],
}  # fmt: skip
"""Contenders of each row of the table, this engine first. noregret's kernel for GPUs is left out."""
