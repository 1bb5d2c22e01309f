"""Runs one peer's algorithm on one game: ``server.py JOB ARGUMENT...``, by the Python of the peer's environment.

It answers each line of its input by a number: ``cpu N`` by the CPU seconds of N further iterations, ``wall N`` by their
wall-clock seconds, and ``exploitability`` by that of the average policy. It imports nothing of this project, which is
not installed there.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Step = Callable[[int], Any]


class Job(NamedTuple):
    """An algorithm on a game.

    Attributes:
        step: function that runs a number of iterations.
        exploitability: function that evaluates the average policy; None if it is not needed.
    """

    step: Step
    exploitability: Callable[[], float] | None = None


def repeated(step: Callable[[], Any]) -> Step:
    """Return a function that calls ``step`` a number of times."""

    def run(count: int) -> None:
        for _ in range(count):
            step()

    return run


def openspiel(game: str, solver: str, method: str, *arguments: str) -> Job:
    """Return one of OpenSpiel's solvers in C++.

    Args:
        game: OpenSpiel's string for the game.
        solver: the solver's class.
        method: its method for one iteration.
        arguments: further whole numbers for the solver.
    """
    import pyspiel

    loaded = pyspiel.load_game(game)
    running_solver = getattr(pyspiel, solver)(loaded, *map(int, arguments))

    def exploitability() -> float:
        return float(pyspiel.exploitability(loaded, running_solver.average_policy()))

    return Job(repeated(getattr(running_solver, method)), exploitability)


def openspiel_exploitability(game: str) -> Job:
    """Return OpenSpiel's evaluation, in C++, of the uniform policy."""
    import pyspiel

    loaded = pyspiel.load_game(game)
    policy = pyspiel.UniformRandomPolicy(loaded)
    return Job(repeated(lambda: pyspiel.exploitability(loaded, policy)))


def openspiel_jax(game: str, threads: str) -> Job:
    """Return iterations of OpenSpiel's CFR+ in JAX, in 32 bits, as by default; ``threads`` is ``one`` or ``all``."""
    one_thread = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["XLA_FLAGS"] = one_thread if threads == "one" else ""
    import jax
    import pyspiel
    from open_spiel.python.jax.cfr.jax_cfr import JaxCFR

    solver = JaxCFR(pyspiel.load_game(game))

    def run(count: int) -> None:
        solver.multiple_steps(count)
        jax.block_until_ready(solver.regrets)

    return Job(run)


def liteefg(file: str, baseline: str, traverse: str, average: str) -> Job:
    """Return iterations of one of LiteEFG's graphs, on one thread.

    Args:
        file: file with the game.
        baseline: module of the graph.
        traverse: how iterations traverse the game, such as ``Enumerate``.
        average: which average is evaluated, such as ``linear-avg-iterate``.
    """
    import LiteEFG

    LiteEFG.set_threads(1)
    graph = importlib.import_module(f"LiteEFG.baselines.{baseline}").graph()
    env = LiteEFG.FileEnv(file, traverse_type=traverse)
    env.set_graph(graph)
    # DCFR's graph computes its average itself; that average is then the strategy whose last iterate is evaluated.
    strategy = graph.current_strategy("average-iterate") if average == "last-iterate" else graph.current_strategy()

    def step() -> None:
        graph.update_graph(env)
        env.update_strategy(strategy)

    return Job(repeated(step), lambda: sum(env.exploitability(strategy, average)) / 2)


def liteefg_exploitability(file: str) -> Job:
    """Return LiteEFG's evaluation of its policy after one iteration."""
    import LiteEFG

    LiteEFG.set_threads(1)
    graph = importlib.import_module("LiteEFG.baselines.CFRplus").graph()
    env = LiteEFG.FileEnv(file, traverse_type="Enumerate")
    env.set_graph(graph)
    graph.update_graph(env)
    env.update_strategy(graph.current_strategy())
    return Job(repeated(lambda: env.exploitability(graph.current_strategy(), "default")))


def liteefg_as_documented(game: str) -> Job:
    """Return CFR+ by LiteEFG on the file that it writes for OpenSpiel's game, with its own number of threads."""
    os.environ["HOME"] = os.getcwd()  # LiteEFG keeps its files there; the benchmark deletes this folder
    import LiteEFG
    import pyspiel
    from LiteEFG.baselines import CFRplus

    graph = CFRplus.graph()
    env = LiteEFG.OpenSpielEnv(pyspiel.load_game(game), traverse_type="Enumerate")
    env.set_graph(graph)

    def step() -> None:
        graph.update_graph(env)
        env.update_strategy(graph.current_strategy())

    return Job(repeated(step))


def noregret(file: str, kernel: str) -> Job:
    """Return noregret's CFR+ with one of its kernels, such as ``FloatingPointKernel``; players update in turn."""
    # The package mkl puts its library beside the environment's Python, where sparse_dot_mkl does not look.
    libraries = sorted(Path(sys.prefix).glob("lib/libmkl_rt.so*"))
    if libraries:
        os.environ.setdefault("MKL_RT", str(libraries[0]))
    from noregret.games import TwoPlayerZeroSumExtensiveFormGame
    from noregret.regret_minimizers import CounterfactualRegretMinimizationPlus

    arithmetic = getattr(importlib.import_module("noregret.kernels"), kernel)()
    with open(file, "rb") as source:
        game = TwoPlayerZeroSumExtensiveFormGame.loads(arithmetic, source.read())
    players = [CounterfactualRegretMinimizationPlus(arithmetic, polytope) for polytope in game.sequence_form_polytopes]
    strategies = [player.output() for player in players]
    payoffs = game.payoffs

    def step() -> None:
        players[0].observe(payoffs @ strategies[1])
        strategies[0] = players[0].output()
        # The library's own product negates the matrix at each call; this one negates the vector, which is faster.
        players[1].observe(-(strategies[0] @ payoffs))
        strategies[1] = players[1].output()

    def exploitability() -> float:
        return float(game.exploitability(*(player.average_strategy for player in players)))

    return Job(repeated(step), exploitability)


def nashbench(game: str, arguments: str) -> Job:
    """Return nashbench's evaluation of the uniform policy; ``arguments`` is JSON of the game's arguments."""
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    import nashbench as library
    from nashbench import games, policy

    loaded = games.make(game, **json.loads(arguments))
    return Job(repeated(lambda: library.exploitability(loaded, policy.uniform_random)))


JOBS: dict[str, Callable[..., Job]] = {
    function.__name__: function
    for function in (
        openspiel, openspiel_exploitability, openspiel_jax, liteefg, liteefg_exploitability, liteefg_as_documented,
        noregret, nashbench,
    )
}  # fmt: skip


def answer(job: Job, line: str) -> float:
    """Return the answer to a line of the input."""
    question, *count = line.split()
    if question == "exploitability":
        assert job.exploitability is not None
        return job.exploitability()
    clock = time.process_time if question == "cpu" else time.perf_counter
    begin = clock()
    job.step(int(count[0]))
    return max(clock() - begin, 1e-9)


def main() -> None:
    """Answer all lines of the input. What peers print goes to standard error, also from C++."""
    answers = io.TextIOWrapper(os.fdopen(os.dup(1), "wb"), write_through=True)
    os.dup2(2, 1)
    job = JOBS[sys.argv[1]](*sys.argv[2:])
    for line in sys.stdin:
        print(answer(job, line), file=answers, flush=True)


if __name__ == "__main__":
    main()
