"""What several tests need."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

import rlccfr
from rlccfr.games.flat_tree import GameTree

if TYPE_CHECKING:
    from rlccfr.kernels.walks.walk_layout import WalkTables

SMALL_DICE = "liars_dice(numdice=1,dice_sides=3)"
FORGETFUL = (  # universal_poker whose information states forget the order of two public cards
    "universal_poker(betting=limit,numPlayers=2,numRounds=3,blind=1 1,raiseSize=2 4 4,firstPlayer=1 1 1,"
    "maxRaises=1 1 1,numSuits=2,numRanks=2,numHoleCards=1,numBoardCards=0 1 1)"
)


@cache
def game(name: str, restore_recall: bool | None = None) -> GameTree:
    """A compiled game, once a process."""
    return rlccfr.load_game(name, restore_recall=restore_recall)


def random_policy(tree: GameTree, seed: int) -> rlccfr.Policy:
    """A policy with probabilities at random, about a third of them 0."""
    rng = np.random.default_rng(seed)
    weights = rng.random(tree.num_sequences) * (rng.random(tree.num_sequences) > 0.3)
    return rlccfr.Policy.from_sums(tree, weights)


def rows(tree: GameTree, table: np.ndarray) -> dict[str, np.ndarray]:
    """A table over sequences as the reference keeps it: by player and information state."""
    second = int(tree.view.infoset_begin[1])
    return {f"{int(i >= second)} {key}": table[tree.infoset_sequences(i)] for i, key in enumerate(tree.infoset_keys)}


# What follows is the only access of the tests to the engine's internals; tests/test_structure.py sees to that.


def regrets(solver: rlccfr.Solver) -> np.ndarray:
    """(m,) cumulative regrets, the newest with weight 1."""
    return solver._engine.state.true_regret()


def policy_sums(solver: rlccfr.Solver) -> np.ndarray:
    """(m,) weighted sum of the players' reach-weighted policies, the newest with weight 1."""
    return solver._engine.state.true_policy_sum()


def engine_state(solver: rlccfr.Solver) -> dict[str, np.ndarray]:
    """Everything that the next iteration depends on, but for the components, by name."""
    return solver._engine.saved()


def rule_tables(solver: rlccfr.Solver) -> dict[str, np.ndarray]:
    """The update rule's own tables, (m,) each, by name."""
    return solver._engine.state.own_arrays()


def random_word(solver: rlccfr.Solver) -> int:
    """The state of the walks' random numbers."""
    return int(solver._engine.state.rng[0])


def place(
    solver: rlccfr.Solver,
    iteration: int,
    regret: np.ndarray | None = None,
    policy: np.ndarray | None = None,
    policy_sum: np.ndarray | None = None,
    random_word: int | None = None,
) -> None:
    """Put a new solver after an iteration.

    Args:
        regret: (m,) cumulative regrets, by default 0.
        policy: (m,) current policy, by default what regret matching makes of the regrets.
        policy_sum: (m,) weighted sum of policies, by default 0.
        random_word: state of the walks' random numbers, by default that of the solver's seed.
    """
    state = solver._engine.state
    state.counts[0] = iteration
    if regret is not None:
        state.tables.regret[:] = regret
    if policy is None:
        policy = rlccfr.Policy.from_sums(solver.game, np.maximum(state.tables.regret, 0)).probabilities
    state.tables.policy[:] = policy
    if policy_sum is not None:
        state.tables.policy_sum[:] = policy_sum
    if random_word is not None:
        state.rng[0] = random_word


def disturb(solver: rlccfr.Solver, noise: np.ndarray) -> None:
    """Add to the cumulative regrets; the current policy stays as it is."""
    solver._engine.state.tables.regret[:] += noise


def has_quick_walks(solver: rlccfr.Solver) -> bool:
    """Whether the kernel for external and outcome sampling runs the walks, not the general one."""
    return type(solver._engine.stepper).__name__ == "QuickStepper"


def without_quick_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the general kernel run all walks of solvers made from now on."""
    from rlccfr.engine import steppers

    kinds = tuple(kind for kind in steppers.STEPPERS if not kind.path.endswith("QuickStepper"))
    monkeypatch.setattr(steppers, "STEPPERS", kinds)


_walk_tables: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def walk_tables(solver: rlccfr.Solver) -> WalkTables:
    """Return the tables that a walk from a solver's policies reads and writes: the same at each call."""
    from rlccfr.engine.walks import walk_tables

    stepper = solver._engine.stepper
    if stepper not in _walk_tables:
        _walk_tables[stepper] = walk_tables(stepper.state, stepper.binding)
    return _walk_tables[stepper]


def walk_arguments(solver: rlccfr.Solver) -> tuple:
    """Return the walk kernel's arguments of the solver's sampler."""
    from rlccfr.engine.walks import walk_parameters
    from rlccfr.kernels.walks.walk_layout import frames_for

    engine = solver._engine
    parameters = walk_parameters(engine.state, engine.stepper.binding)
    return *parameters, walk_tables(solver), frames_for(solver.game), engine.state.rng


def learners(solver: rlccfr.Solver) -> Sequence:
    """The two players' models and memories, where policies come from models."""
    return solver._engine.stepper.players


def model_policies(solver: rlccfr.Solver, player: int, row: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """A player's policies at its sequences that follow from a model's values and a schedule's row."""
    return solver._engine.stepper._phases.policies(player, row, ahead)


def pending_increment(solver: rlccfr.Solver) -> np.ndarray:
    """(m,) what an unfinished iteration of learning has yet to add to the policy sum."""
    return solver._engine.stepper._phases.increment


def weak_internals(solver: rlccfr.Solver) -> tuple[weakref.ref, weakref.ref]:
    """Weak references to what holds a solver's tables, and its models."""
    return weakref.ref(solver._engine), weakref.ref(solver._engine.stepper)
