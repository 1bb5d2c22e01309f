"""The benchmark's SciPy solver computes what the engine does: it is a fair opponent and takes no shortcut."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support import game, policy_sums, regrets

import rlccfr

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
from benchmarks.scipy_cfr import SparseCFRPlus


@pytest.mark.parametrize(("name", "iterations"), [("kuhn", 100), ("goofspiel", 5), ("leduc", 5)])
def test_sparse_matrices_give_the_engines_iterates(name, iterations):
    tree = game(name)
    sparse, solver = SparseCFRPlus(tree), rlccfr.Solver(tree, "cfr_plus")
    for _ in range(iterations):
        sparse.iterate()
    solver.run(iterations=iterations, curve=False)
    assert sparse.regret == pytest.approx(regrets(solver), abs=1e-9)
    assert sparse.policy_sum == pytest.approx(policy_sums(solver), abs=1e-9)
