"""Helpers that several tests share."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

import rlccfr
from rlccfr import reference
from rlccfr.engine.blending import Blender
from rlccfr.games.flat_tree import GameTree
from rlccfr.kernels.layout import AVERAGE_DECAY

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""Number of cores that this process may use."""

SMALL_DICE = "liars_dice(numdice=1,dice_sides=3)"
FORGETFUL = (  # universal_poker whose information states forget the order of two public cards
    "universal_poker(betting=limit,numPlayers=2,numRounds=3,blind=1 1,raiseSize=2 4 4,firstPlayer=1 1 1,"
    "maxRaises=1 1 1,numSuits=2,numRanks=2,numHoleCards=1,numBoardCards=0 1 1)"
)


@cache
def game(name: str, restore_recall: bool | None = None) -> GameTree:
    """Return a compiled game, which is compiled once per process."""
    return rlccfr.load_game(name, restore_recall=restore_recall)


def random_policy(tree: GameTree, seed: int) -> rlccfr.Policy:
    """Return a policy with random probabilities, about a third of them 0."""
    rng = np.random.default_rng(seed)
    weights = rng.random(tree.num_sequences) * (rng.random(tree.num_sequences) > 0.3)
    return rlccfr.Policy.from_sums(tree, weights)


def rows(tree: GameTree, table: np.ndarray) -> dict[str, np.ndarray]:
    """Return a table over sequences in the reference's form: rows by player and information state."""
    second = int(tree.view.infoset_begin[1])
    return {f"{int(i >= second)} {key}": table[tree.infoset_sequences(i)] for i, key in enumerate(tree.infoset_keys)}


def assert_rows_equal(tree: GameTree, table: np.ndarray, theirs: dict[str, Sequence[float]]) -> None:
    """Check a table over sequences against the reference's, up to rounding."""
    for key, row in rows(tree, table).items():
        assert row == pytest.approx(np.array(theirs[key]), abs=1e-12), key


# The functions below are the tests' only access to the engine's internals; tests/test_structure.py checks this.


def regrets(solver: rlccfr.Solver) -> np.ndarray:
    """Return cumulative regrets, (m,), the newest with weight 1."""
    return solver._engine.state.true_regret()


def policy_sums(solver: rlccfr.Solver) -> np.ndarray:
    """Return the weighted sum of the players' reach-weighted policies, (m,), the newest with weight 1."""
    return solver._engine.state.true_policy_sum()


def assert_alike(one: rlccfr.Solver, other: rlccfr.Solver) -> bool:
    """Check that two runs have the same tables but for rounding.

    If none of an infoset's regrets is positive but for rounding, rounding decides its policy; this is a tie.

    Returns:
        Whether there is no tie, so that the runs' next iterations must be the same, too.
    """
    for table in (regrets, policy_sums):
        np.testing.assert_allclose(table(one), table(other), rtol=1e-10, atol=1e-12)
    tree, regret = one.game, regrets(other)
    tied = np.maximum.reduceat(np.abs(regret), tree.view.first_sequence[:-1]) < 1e-12
    positive = np.maximum.reduceat(regret, tree.view.first_sequence[:-1])
    tied |= np.abs(positive) < 1e-12
    decided = ~np.repeat(tied, np.diff(tree.view.first_sequence))
    policies = [solver.current_policy().probabilities[decided] for solver in (one, other)]
    np.testing.assert_allclose(*policies, rtol=1e-10, atol=1e-12)
    return not tied.any()


def blender_of(solver: rlccfr.Solver) -> Blender:
    """Return what makes the blends of a run of exact passes."""
    return solver._engine.stepper.blender


def set_policy_sums(solver: rlccfr.Solver, sequences: slice, value: float) -> None:
    """Overwrite some of the policy sums of a run over a whole game."""
    solver._engine.state.tables.policy_sum[sequences] = value


def engine_state(solver: rlccfr.Solver) -> dict[str, np.ndarray]:
    """Return by name everything that the next iteration depends on, except the components."""
    return solver._engine.saved()


def rule_tables(solver: rlccfr.Solver) -> dict[str, np.ndarray]:
    """Return the update rule's own tables by name, each (m,)."""
    return solver._engine.state.own_arrays()


def random_word(solver: rlccfr.Solver) -> int:
    """Return the state of the walks' random numbers."""
    return int(solver._engine.state.rng[0])


def place(
    solver: rlccfr.Solver,
    iteration: int,
    regret: np.ndarray | None = None,
    policy: np.ndarray | None = None,
    policy_sum: np.ndarray | None = None,
    random_word: int | None = None,
) -> None:
    """Put a new solver into a state after an iteration.

    Args:
        iteration: number of iterations that count as done.
        regret: (m,) cumulative regrets, by default as they are: 0 in a new solver.
        policy: (m,) current policy, by default that of regret matching on the regrets.
        policy_sum: (m,) weighted sum of policies, by default as it is: 0 in a new solver.
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
    solver._engine.stepper.restore(solver._engine.stepper.saved())


def place_public(solver: rlccfr.Solver, iteration: int, regret: np.ndarray) -> None:
    """Put a new solver of a game without histories into a state after an iteration, with the regrets given, (m,)."""
    state = solver._engine.state
    state.counts[0] = iteration
    if isinstance(state.game, rlccfr.PublicGame):  # whose tables leave out a factor
        regret = regret / np.repeat(state.game.scale, state.game.rows * state.game.actions)
    state.tables.regret[:] = regret
    if len(state.tables.policy):
        state.tables.policy[:] = np.maximum(state.tables.regret, 0)


def abstract_game(solver: rlccfr.Solver) -> GameTree:
    """Return the compiled game of buckets over which a run's tables lie."""
    return solver._engine.state.game


def public_sums(solver: rlccfr.Solver) -> np.ndarray:
    """Return what the average policy of a public-tree game is proportional to, (m,)."""
    return solver._engine.state.tables.policy_sum


def settle_public(solver: rlccfr.Solver) -> None:
    """Apply the discounts that are pending in a run over a public tree."""
    solver._engine.state.settle()


def place_both(ours: rlccfr.Solver, theirs: reference.CFR, iteration: int, regret: np.ndarray) -> None:
    """Put a new solver and the reference after the same iteration, with the same regrets (m,)."""
    place(ours, iteration, regret)
    theirs.iteration = iteration
    for key, row in rows(ours.game, regret).items():
        theirs.regrets[key] = list(row)
        theirs.policy[key] = reference.regret_matching(list(row))


def disturb(solver: rlccfr.Solver, noise: np.ndarray) -> None:
    """Add noise to the cumulative regrets; the current policy stays as it is."""
    solver._engine.state.tables.regret[:] += noise
    solver._engine.stepper.restore({})


def is_reduced(solver: rlccfr.Solver) -> bool:
    """Return whether exact passes run over the quotient of the solver's game."""
    return getattr(solver._engine.stepper, "_quotient", None) is not None


def is_bundled(solver: rlccfr.Solver) -> bool:
    """Return whether a run's passes go over bundles of infosets."""
    return getattr(solver._engine.stepper, "_bundled", None) is not None


def without_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the passes of new solvers go over infosets."""
    for stepper in ("exact.ExactStepper", "controlled.ControlledStepper"):
        monkeypatch.setattr(f"rlccfr.engine.{stepper}._may_bundle", False)


def has_crew(solver: rlccfr.Solver) -> bool:
    """Return whether several threads share the exact passes."""
    stepper = solver._engine.stepper
    workers = stepper._bundled.workers if is_bundled(solver) else None
    return workers is not None or stepper._crew is not None


def has_quick_walks(solver: rlccfr.Solver) -> bool:
    """Return whether the kernel for external and outcome sampling runs the walks, not the general kernel."""
    return type(solver._engine.stepper).__name__ == "QuickStepper"


def without_quick_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the general kernel run all walks of solvers made from now on."""
    from rlccfr.engine import engine

    kinds = tuple(kind for kind in engine.STEPPERS if not kind.path.endswith("QuickStepper"))
    monkeypatch.setattr(engine, "STEPPERS", kinds)


def learners(solver: rlccfr.Solver) -> Sequence:
    """Return the two players' models and reservoirs; the solver's policies come from models."""
    return solver._engine.stepper.players


def model_policies(solver: rlccfr.Solver, player: int, regrets: np.ndarray, next_row: np.ndarray) -> np.ndarray:
    """Return a player's policies at its sequences, which follow from a model's values and a schedule's row."""
    return solver._engine.stepper._phases.policies(player, regrets, next_row)


def pending_increment(solver: rlccfr.Solver) -> np.ndarray:
    """Return the increment, (m,), that an unfinished iteration of learning has yet to add to the policy sum."""
    return solver._engine.stepper._phases.increment


def weak_internals(solver: rlccfr.Solver) -> tuple[weakref.ref, weakref.ref]:
    """Return weak references to the objects that hold a solver's tables and its models."""
    return weakref.ref(solver._engine), weakref.ref(solver._engine.stepper)


def control_memory(solver: rlccfr.Solver) -> dict[str, float]:
    """Return what a controlled run remembers of its decisions, by name."""
    from rlccfr.kernels.control.control_layout import DECIDED_HORIZON, HORIZON, NUM_DECISIONS, SEEN_AT

    state = solver._engine.stepper.control.state
    entries = {"horizon": HORIZON, "decisions": NUM_DECISIONS, "seen_at": SEEN_AT, "decided": DECIDED_HORIZON}
    return {name: float(state[entry]) for name, entry in entries.items()}


def iterate(solver: rlccfr.Solver, iterations: int) -> None:
    """Run some iterations without telling a controller where the run ends."""
    end = solver._engine.iteration + iterations
    while (rest := end - solver._engine.iteration) > 0:
        solver._engine.advance(rest, 2**62)


def run_part(solver: rlccfr.Solver, iterations: int, horizon: int) -> None:
    """Run the first iterations of a run that is meant to have ``horizon``."""
    solver._engine.stepper.set_horizon(horizon)
    iterate(solver, iterations - solver._engine.iteration)


def finish(solver: rlccfr.Solver) -> None:
    """End a run as its last call of :meth:`rlccfr.Solver.run` does, without further iterations."""
    solver._finish(solver._engine.stepper.finish)


def sums_on_public_tree(solver: rlccfr.Solver, order: np.ndarray) -> np.ndarray:
    """Return a run's policy sums over a compiled game, (m,), as passes over its public tree have them.

    Over a compiled game they have a factor for each infoset, which is chance's share in its reach.

    Args:
        solver: the run, which blends.
        order: (m,) the solver's sequence of each table entry of the public tree.
    """
    mixer = blender_of(solver)._mixer
    plan = np.zeros(mixer.size)
    mixer.fill_plan(policy_sums(solver), plan)
    total = 0.0  # what the sums at an infoset that is reached for certain add up to
    for decay in solver.update_rule.schedule(1, solver._engine.iteration)[:-1, AVERAGE_DECAY].tolist():
        total = decay * total + 1.0
    return total * plan[order]


def tell_blender(blender: Blender, solver: rlccfr.Solver, horizon: int, order: np.ndarray) -> None:
    """Tell a blender of a game's public tree of the last iteration over the compiled game.

    Args:
        horizon: number of iterations that the run is meant to have.
        order: see :func:`sums_on_public_tree`.
    """
    done = solver._engine.iteration
    blender.set_horizon(horizon, done - 1)
    blender.note_decays(solver.update_rule.schedule(done, 0)[:, AVERAGE_DECAY])
    if blender.is_due(done):
        blender.start_next_window(done, sums_on_public_tree(solver, order))


def decisions_of(solver: rlccfr.Solver) -> list[tuple[int, float]]:
    """Return a list to which a controlled run will append its decisions: iterations done, and the horizon seen."""
    stepper, made = solver._engine.stepper, []
    advance = stepper.advance

    def one_by_one(iterations: int, max_nodes: int) -> None:
        """Advance an iteration at a time, so that no decision is missed."""
        end = stepper.state.nodes + max_nodes
        for _ in range(iterations):
            if stepper.state.nodes >= end:
                return
            before = control_memory(solver)["decisions"]
            advance(1, max_nodes)
            now = control_memory(solver)
            if now["decisions"] > before:
                made.append((int(now["seen_at"]), now["decided"]))

    stepper.advance = one_by_one
    return made


def engine_stepper(solver: rlccfr.Solver):
    """Return the stepper of a run."""
    return solver._engine.stepper


def learned_rows(solver: rlccfr.Solver):
    """Return a function of a player that returns the rows and gains of its newest walks."""
    newest: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for player, learner in enumerate(solver._engine.stepper._advantages):

        def observe(rows, target, rng, weights=None, player=player, original=learner.observe):
            newest[player] = rows.copy(), target.copy()
            original(rows, target, rng, weights)

        learner.observe = observe
    return lambda player: newest[player]


def walked_advantages(solver: rlccfr.Solver, player: int, rows: np.ndarray) -> np.ndarray:
    """Return what a player's network says of rows."""
    return solver._engine.stepper._advantages[player].predict(rows)
