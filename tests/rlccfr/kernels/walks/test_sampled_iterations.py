from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
import support
from support import game, has_quick_walks, policy_sums, regrets, without_quick_walks

import rlccfr
from rlccfr.components import UpdateRule
from rlccfr.engine.binding import Binding, RunOptions
from rlccfr.engine.state import RunState
from rlccfr.engine.walks import new_walk_state
from rlccfr.kernels.handles import handle_of
from rlccfr.kernels.layout import AVERAGE_DECAY, FLOOR, NEGATIVE_DISCOUNT, PARAMETERS, POSITIVE_DISCOUNT
from rlccfr.kernels.walks import scales
from rlccfr.kernels.walks.estimates import add_walks
from rlccfr.kernels.walks.walk_layout import UNVISITED, WALK_STATE

UNJITTED = """
import json, sys, warnings
sys.path.insert(0, sys.argv[2])
warnings.simplefilter("ignore")  # NumPy warns where the generator's words wrap around, as they should
import rlccfr
from support import policy_sums, regrets
found = {}
for cell in json.loads(sys.argv[1]):
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), *cell, seed=4)
    result = solver.run(iterations=12)
    found[" ".join(cell)] = [list(regrets(solver)), list(policy_sums(solver))]
print(json.dumps(found))
"""

FEW_ROWS = "deep_lcfr(preset='sweep', traversals=5, memory=9, train_every=2)"
CELLS = [
    ("cfr", "none", "none"),
    ("dcfr", "none", "cfr_br"),
    ("ecfr", "none", "none"),
    ("ecfr_plus", "external", "none"),
    ("dcfr", "chance", "none"),
    ("lcfr", "outcome", "cfr_br"),
    ("cfr_plus", "probing", "none"),
    ("dcfr_plus", "average_strategy", "none"),
    ("cfr", "variance_reduced", "none"),
    ("dcfr", "public_chance", "none"),
    ("cfr", "opponent_public_chance", "cfr_br"),
    ("cfr_plus", "self_public_chance", "none"),
    ("pcfr_plus", "none", "rcfr"),
    ("pdcfr_plus", "external", "none"),
    (FEW_ROWS, "outcome", "none"),
    ("deep_ecfr_plus(preset='sweep')", "average_strategy", "cfr_br"),
]


@pytest.mark.slow
def test_compiled_kernels_equal_their_python():
    """The interpreter runs every kernel with the same random words, so the walks are the same."""
    out = subprocess.run(
        [sys.executable, "-c", UNJITTED, json.dumps(CELLS), str(Path(support.__file__).parent)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    interpreted = json.loads(out)
    for cell in CELLS:
        solver = rlccfr.Solver(game("kuhn"), *cell, seed=4)
        solver.run(iterations=12)
        regret, policy_sum = interpreted[" ".join(cell)]
        assert regrets(solver) == pytest.approx(np.array(regret), abs=1e-13), cell
        assert policy_sums(solver) == pytest.approx(np.array(policy_sum), abs=1e-13), cell


def weigh_by_regret(instant_regret, mass, state, parameters, utility_range, regret):
    """W = 1 + mass R / (1 + |R|) / 2, of the R before this iteration."""
    for a in range(len(regret)):
        instant_regret[a] *= 1.0 + 0.5 * min(mass, 1.0) * regret[a] / (1.0 + abs(regret[a]))


BY_REGRET = UpdateRule(positive_discount=0.95, negative_discount=0.6, reweight=weigh_by_regret)


def whole_table_run(solver: rlccfr.Solver, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    """Make the same walks with discounts applied to the whole table at every iteration, in NumPy."""
    tree, state = solver.game, RunState.at_start(solver.game, solver.seed)
    binding = Binding.of(tree, solver.update_rule, solver.sampler, solver.abstraction, RunOptions(), 0)
    walk_state = new_walk_state(state, binding)
    handle = handle_of(walk_state, WALK_STATE)
    regret, policy_sum = np.zeros(tree.num_sequences), np.zeros(tree.num_sequences)
    tables = walk_state.tables
    first = tree.view.first_sequence
    for t in range(1, iterations + 1):
        row = solver.update_rule.schedule(t, 0)[0]
        for player in (0, 1):
            mine, other = tree.sequences_of(player), tree.sequences_of(1 - player)
            policy_sum[other] *= row[AVERAGE_DECAY]
            tables.policy_sum[:] = 0
            parameters = solver.sampler.schedule(t, 1)[0]
            add_walks(
                state.game_handle,
                handle,
                binding.sampling_handle,
                parameters,
                state.rng,
                player,
                binding.procedure,
                True,
            )
            policy_sum += tables.policy_sum
            for infoset in np.flatnonzero(tables.mass != UNVISITED) if solver.update_rule.reweight else ():
                here = slice(first[infoset], first[infoset + 1])
                told = tables.mass[infoset], np.zeros((0, 0)), row[PARAMETERS:], tree.utility_range, regret[here]
                solver.update_rule.reweight(tables.gain[here], *told)
            factor = np.where(regret[mine] > 0, row[POSITIVE_DISCOUNT], row[NEGATIVE_DISCOUNT])
            regret[mine] = np.maximum(regret[mine] * factor + tables.gain[mine], row[FLOOR])
            # Only visited infosets get a new policy; elsewhere it would be the same up to rounding.
            for infoset in np.flatnonzero(tables.mass != UNVISITED):
                here = slice(first[infoset], first[infoset + 1])
                positive = np.maximum(regret[here], 0)
                total = positive.sum()
                tables.policy[here] = positive / total if total > 0 else 1 / len(positive)
            tables.gain[:] = 0
            tables.mass[:] = UNVISITED
            tables.num_visited[:] = tree.view.infoset_begin[:2]
    return regret, policy_sum


@pytest.mark.parametrize(
    ("rule", "sampler"),
    list(zip(["cfr", "lcfr", "dcfr", "dcfr_plus", BY_REGRET], cycle(["external", "outcome", "average_strategy"]))),
)
def test_running_scales_equal_whole_table_discounts(rule, sampler, monkeypatch):
    """The run has more halvings than a double's exponent can hold, so the scales are renewed on the way."""
    iterations = 1500
    ours = rlccfr.Solver(game("kuhn"), rule, sampler, seed=2)
    ours.run(iterations=iterations)
    regret, policy_sum = whole_table_run(rlccfr.Solver(game("kuhn"), rule, sampler, seed=2), iterations)
    scale = np.abs(regret).max()
    assert regrets(ours) == pytest.approx(regret, abs=1e-9 * scale)
    assert policy_sums(ours) == pytest.approx(policy_sum, abs=1e-9 * policy_sum.max())
    if rule in ("dcfr", BY_REGRET):
        assert iterations > np.log2(scales.LARGEST_SCALE)


@pytest.mark.parametrize("kernel", ["quick", "general"])
@pytest.mark.parametrize("seed", range(5))
def test_regrets_of_unvisited_infosets_are_discounted_too(seed, kernel, monkeypatch):
    """The walks of an iteration on Kuhn meet at most three infosets: two of player 0's and one of player 1's."""
    if kernel == "general":
        without_quick_walks(monkeypatch)
    tree = game("kuhn")
    solver = rlccfr.Solver(tree, "dcfr", "outcome", seed=seed)
    assert has_quick_walks(solver) == (kernel == "quick")
    solver.run(iterations=19)
    before = regrets(solver)
    solver.run(iterations=1)
    after = regrets(solver)
    discounted = before * np.where(before > 0, 19**1.5 / (19**1.5 + 1), 1 / 2)  # d(t-1, 1.5) and d(t-1, 0)
    rows = [tree.infoset_sequences(infoset) for infoset in range(tree.num_infosets)]
    unvisited = [row for row in rows if after[row] == pytest.approx(discounted[row], rel=1e-12)]
    assert len(unvisited) >= len(rows) - 3
    assert sum((before[row] < 0).any() for row in unvisited) >= 3
