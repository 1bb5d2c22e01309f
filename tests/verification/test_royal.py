"""Royal, compared with the plain reference: OpenSpiel's solvers play another game there, one that forgets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyspiel
import pytest
from reference_rules import TabularReference, discounted_sum
from support import game, place, policy_sums, regrets

import rlccfr
from rlccfr.games.records import CHANCE, TERMINAL
from rlccfr.reference import infoset_of, regret_matching


def in_order(state) -> str:
    """Return the key of a state's infoset, with the first public card before it: OpenSpiel sorts the public cards."""
    cards = [action for action, actor in zip(state.history(), movers(state), strict=True) if actor < 0]
    return f"{cards[2:3]} {infoset_of(state)}"


def movers(state) -> list[int]:
    return [step.player for step in state.full_history()]


def infosets_of(tree: rlccfr.GameTree, key: Callable) -> dict[str, int]:
    """Return the compiled infoset of each key by walking both trees side by side; one key is one infoset."""
    found: dict[str, int] = {}

    def visit(state, node: int) -> None:
        here = tree.histories[node]
        if here["actor"] == TERMINAL:
            assert state.is_terminal()
            return
        if here["actor"] != CHANCE:
            assert found.setdefault(key(state), int(here["infoset"])) == here["infoset"]
        for k, action in enumerate(state.legal_actions()):
            visit(state.child(action), int(here["first_child"]) + k)

    visit(pyspiel.load_game(tree.openspiel_name).new_initial_state(), 0)
    assert len(found) == len(set(found.values())) == tree.num_infosets
    return found


@pytest.mark.verify
def test_an_iteration_on_royal_is_the_references(figures):
    """Two rules make an iteration each from random regrets. None is 0: at rows of zeros, rounding would decide."""
    tree = game("royal")
    infosets, differences = infosets_of(tree, in_order), []
    for rule, discount, floor, gamma in (
        ("cfr_plus", (1.0, 1.0), 0.0, 1.0),
        ("dcfr", (3**1.5 / (3**1.5 + 1), 0.5), -np.inf, 2.0),
    ):
        theirs = TabularReference(
            pyspiel.load_game_as_turn_based(tree.openspiel_name),
            new_regrets=lambda R, r, t, d=discount, f=floor: discounted_sum(R, r, lambda _: d, t, f),
            gamma=gamma,
            infoset_of=in_order,
        )
        ours = rlccfr.Solver(tree, rule)
        start = np.random.default_rng(1).normal(size=tree.num_sequences)
        start = np.abs(start) if floor == 0.0 else start
        theirs.iteration = 3
        place(ours, 3, start)
        for key, infoset in infosets.items():
            theirs.regrets[key] = list(start[tree.infoset_sequences(infoset)])
            theirs.policy[key] = regret_matching(theirs.regrets[key])
        theirs.iterate()
        ours.run(iterations=1, curve=False)
        for title, mine, expected in (
            ("regrets", regrets(ours), theirs.regrets),
            ("policy sums", policy_sums(ours), theirs.policy_sums),
        ):
            table = np.full(tree.num_sequences, np.nan)
            for key, infoset in infosets.items():
                table[tree.infoset_sequences(infoset)] = expected[key]
            differences.append({"rule": rule, "table": title, "largest difference": float(np.abs(mine - table).max())})
    figures("One iteration on Royal from random regrets, compared with the plain reference", differences)
    assert all(row["largest difference"] < 1e-12 for row in differences)
