"""Peers whose iterations are driven from Python: OpenSpiel's CFR+ in JAX, and noregret's CFR+."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import Any

from scipy import sparse

import rlccfr
from benchmarks.compiled import spiel, tree
from rlccfr.games.symmetry import payoff_matrix


def has_jax() -> bool:
    """Return whether JAX and chex are installed, which OpenSpiel's solver needs."""
    return all(importlib.util.find_spec(name) is not None for name in ("jax", "chex"))


def has_noregret() -> bool:
    """Return whether noregret is installed."""
    return importlib.util.find_spec("noregret") is not None


def jax_cfr(name: str) -> Callable[[int], None]:
    """Return iterations of OpenSpiel's CFR+ in JAX, on one thread and in 32 bits, as by default."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    import jax
    from open_spiel.python.jax.cfr.jax_cfr import JaxCFR

    solver = JaxCFR(spiel(name))

    def run(count: int) -> None:
        solver.multiple_steps(count)
        jax.block_until_ready(solver.regrets)

    return run


def noregret_cfr(name: str) -> Callable[[int], None]:
    """Return iterations of noregret's CFR+ on the compiled game."""
    from noregret.games import TwoPlayerZeroSumExtensiveFormGame
    from noregret.regret_minimizers import CounterfactualRegretMinimizationPlus

    game = tree(name)
    processes = [_process(game, player) for player in (0, 1)]
    payoff, split, size = payoff_matrix(game.view), game.sequences_of(0).stop, game.num_sequences
    rows, columns = [size, *range(split)], [size + 1, *range(split, size)]  # noregret counts the empty sequence first
    form = TwoPlayerZeroSumExtensiveFormGame(processes, sparse.csr_array(payoff[rows][:, columns]))
    first, second = (CounterfactualRegretMinimizationPlus(process) for process in processes)

    def run(count: int) -> None:
        for _ in range(count):
            second.observe_utility(form.column_utility(first.next_strategy()))
            first.observe_utility(form.row_utility(second.next_strategy()))

    second.next_strategy()  # observations and strategies take turns
    return run


def _process(game: rlccfr.GameTree, player: int) -> Any:
    """Return a player's decisions as noregret's tree: after each sequence, a signal selects the next infoset."""
    from noregret.utilities import TreeFormSequentialDecisionProcess as Process

    view, empty = game.view, game.num_sequences + player
    infosets = game.infosets_of(player)
    above = {int(parent) for parent in view.parent[infosets]} | {empty}
    kinds, moves = {f"after {empty}": Process.NodeType.OBSERVATION_POINT}, {(): f"after {empty}"}
    for infoset in range(infosets.start, infosets.stop):
        here = f"infoset {infoset}"
        moves[f"after {int(view.parent[infoset])}", here] = here
        kinds[here] = Process.NodeType.DECISION_POINT
        sequences = game.infoset_sequences(infoset)
        for k in range(sequences.start, sequences.stop):
            kind = Process.NodeType.OBSERVATION_POINT if k in above else Process.NodeType.END_OF_THE_DECISION_PROCESS
            moves[here, str(k)], kinds[f"after {k}"] = f"after {k}", kind
    return Process(moves, kinds)
