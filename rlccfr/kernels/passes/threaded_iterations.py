"""Exact iterations by several threads, with the same results, bit for bit, as by one over infosets.

Each player's infosets are cut at a level. The few above it are left to the first thread. Below it, subtrees of both
players that share payoffs belong together, such as those below one public state; each thread has some of these
*components*. All that a component needs is above the cut or in the component, so threads wait for each other only
around the work above the cut. Each sum is added up by a single thread, in the order of ``exact_iterations``
(docs/adr/0021).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.kernels.handles import game_of, rule_of, run_of
from rlccfr.kernels.jit import inlined, released
from rlccfr.kernels.layout import (
    AVERAGE_DECAY,
    F8M,
    F8S,
    FLOOR,
    HANDLE,
    NEGATIVE_DISCOUNT,
    POSITIVE_DISCOUNT,
    PROCEDURE,
    UNSCALED,
    Findings,
    Scratch,
    Step,
)
from rlccfr.kernels.passes.barrier import wait_for_all
from rlccfr.kernels.passes.exact_iterations import update_row
from rlccfr.kernels.passes.rows import pass_up, settle_twins, unrolled
from rlccfr.kernels.passes.sequence_form import average_row, gradient_of_blocks, mass_of, reach_row
from rlccfr.kernels.regret_updates import copy_true_regrets, update_regrets


class Share(NamedTuple):
    """One thread's share of the work, and what the threads have in common; n is the number of infosets."""

    thread: int  # index of the thread; 0 for the first
    threads: int  # number of threads
    infosets: np.ndarray  # (2, 3), per player: the thread's first infoset, its first below the cut's level, and the end
    blocks: tuple[int, int]  # the thread's first block of payoffs, and the end
    top: np.ndarray  # (2, 2), per player: the first infoset above the cut, and the end
    cut_0: np.ndarray  # player 0's infosets at the cut's level, of all threads, in the order of a pass by one thread
    cut_1: np.ndarray  # player 1's likewise
    line_reach: np.ndarray  # the thread's own working memory; see Scratch
    leaf: np.ndarray  # likewise
    cut_value: np.ndarray  # (n,), common: counterfactual values of the infosets at the cut's level
    barrier: np.ndarray  # common; see wait_for_all


I8 = types.int64
I8S = types.int64[::1]
I8M = types.int64[:, ::1]
SHARE = types.NamedTuple((I8, I8, I8M, types.UniTuple(I8, 2), I8M, I8S, I8S, F8S, F8S, F8S, HANDLE), Share)


@unrolled
def update_cut_row(view, infoset, first, actions, tables, findings, step, rule, cut_value):
    """Update the regrets of an infoset at the cut's level; the first thread passes its value up later.

    See :func:`rlccfr.kernels.passes.exact_iterations.update_row`.
    """
    counterfactual_values = findings.gain
    settle_twins(view, first, first + actions, counterfactual_values)
    value = 0.0
    for k in range(first, first + actions):
        value += tables.policy[k] * counterfactual_values[k]
    cut_value[infoset] = value
    update_regrets(tables, first, first + actions, infoset, findings, value, step, rule)


@inlined
def copy_regrets_of(view, begin, end, tables, findings):
    """Copy the regrets of infosets ``begin`` to ``end - 1``, for rules that read them."""
    first, stop = view.first_sequence[begin], view.first_sequence[end]
    copy_true_regrets(tables.regret, first, stop, UNSCALED, findings.past_regret)


@inlined
def average_top(view, player, tables, reach, decay, column, share):
    """Set reach and policy sums of ``player`` above the cut; see ``reach_and_average_pass``."""
    reach[len(tables.policy) + player] = 1.0
    for infoset in range(share.top[player, 0], share.top[player, 1]):
        average_row(view, infoset, tables, reach, decay, 1.0, column)


@inlined
def average_share(view, player, tables, reach, decay, column, share):
    """Set reach and policy sums of ``player`` at the thread's own infosets; see ``reach_and_average_pass``."""
    for infoset in range(share.infosets[player, 0], share.infosets[player, 2]):
        average_row(view, infoset, tables, reach, decay, 1.0, column)


@inlined
def reach_phase(view, player, policy, reach, share):
    """Set reach of ``player``: the first thread sets it above the cut, then each thread at its own infosets."""
    if share.thread == 0:
        reach[len(policy) + player] = 1.0
        for infoset in range(share.top[player, 0], share.top[player, 1]):
            reach_row(view, infoset, policy, reach)
    wait_for_all(share.barrier, share.threads)
    for infoset in range(share.infosets[player, 0], share.infosets[player, 2]):
        reach_row(view, infoset, policy, reach)


@inlined
def clear_top(view, player, gradient, share):
    """Set the gradients of ``player`` above the cut to 0."""
    gradient[view.first_sequence[share.top[player, 0]] : view.first_sequence[share.top[player, 1]]] = 0.0
    gradient[len(gradient) - 2 + player] = 0.0


@inlined
def gradient_phase(view, player, scratch, uses_mass, share):
    """Set gradients at the leaves and, if the rule uses it, mass; see ``gradient_pass`` and ``mass_pass``."""
    begin, end = share.infosets[player, 0], share.infosets[player, 2]
    scratch.gradient[view.first_sequence[begin] : view.first_sequence[end]] = 0.0
    if uses_mass:
        mass_of(view, begin, end, scratch.reach, scratch.mass)
    gradient_of_blocks(view, player, scratch.reach, scratch, share.blocks[0], share.blocks[1])


@inlined
def update_phase(view, player, tables, findings, step, rule, share):
    """Update the regrets of the thread's infosets of ``player``, bottom up."""
    begin = share.infosets[player, 0]
    below_cut = share.infosets[player, 1]
    end = share.infosets[player, 2]
    if rule.flags.reads_regret:
        copy_regrets_of(view, begin, end, tables, findings)
    for infoset in range(end - 1, below_cut - 1, -1):
        update_row(view, infoset, tables, findings, step, rule)
    # Several threads may have infosets right below one sequence above the cut. The first thread adds up their values.
    for infoset in range(below_cut - 1, begin - 1, -1):
        update_cut_row(view, infoset, tables, findings, step, rule, share.cut_value)


@inlined
def update_top(view, player, tables, findings, step, rule, share, reach):
    """Pass the values at the cut up, and update a player's regrets above it."""
    first, end = share.top[player, 0], share.top[player, 1]
    if rule.flags.reads_regret:
        copy_regrets_of(view, first, end, tables, findings)
    if rule.flags.uses_mass:
        mass_of(view, first, end, reach, findings.mass)
    for infoset in share.cut_0 if player == 0 else share.cut_1:
        pass_up(view, infoset, share.cut_value[infoset], findings.gain)
    for infoset in range(end - 1, first - 1, -1):
        update_row(view, infoset, tables, findings, step, rule)


@released(types.void(HANDLE, HANDLE, HANDLE, PROCEDURE, F8M, types.int64, SHARE))
def threaded_iterations(game, run, rule, procedure, schedule, cost, share):
    """Run one thread's share of ``len(schedule) - 1`` iterations; all threads must call this at the same time.

    The order of the passes is that of :func:`exact_iterations`. Before the other threads read what the first thread
    writes above the cut, they wait for it. The first thread waits for the others' values before it passes them up.

    Args:
        game, run, rule, procedure, schedule, cost: as for :func:`exact_iterations`; the procedure must not ask for best
            responses.
    """
    _, view = game_of(game)
    rule = rule_of(rule)
    tables, _, _, counts, common = run_of(run)
    # The tables are common, since no two threads write to one entry; working memory for blocks is each thread's own.
    scratch = Scratch(
        common.reach, common.gradient, common.mass, common.response, common.response_reach,
        share.line_reach, share.leaf, common.past_regret,
    )  # fmt: skip
    findings = Findings(scratch.gradient, scratch.mass, scratch.past_regret)
    column = rule.flags.average_column
    simultaneous = procedure.simultaneous
    pre_averaging = procedure.pre_averaging
    for t in range(len(schedule) - 1):
        now = schedule[t]
        ahead = schedule[t + 1]
        decay = now[AVERAGE_DECAY]
        step = Step(now, ahead, now[FLOOR], (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT]), UNSCALED)
        if simultaneous or pre_averaging:
            if share.thread == 0:
                average_top(view, 0, tables, scratch.reach, decay, column, share)
                average_top(view, 1, tables, scratch.reach, decay, column, share)
            wait_for_all(share.barrier, share.threads)
            average_share(view, 0, tables, scratch.reach, decay, column, share)
            average_share(view, 1, tables, scratch.reach, decay, column, share)
        for player in range(2):
            # Above the cut: reach of the opponent, and gradients to which the threads are going to add.
            if share.thread == 0:
                if not (simultaneous or pre_averaging):
                    average_top(view, 1 - player, tables, scratch.reach, decay, column, share)
                clear_top(view, player, scratch.gradient, share)
            wait_for_all(share.barrier, share.threads)
            # Below the cut: a component reads nothing from another one, so each thread goes all the way up alone.
            if not (simultaneous or pre_averaging):
                average_share(view, 1 - player, tables, scratch.reach, decay, column, share)
            gradient_phase(view, player, scratch, rule.flags.uses_mass, share)
            update_phase(view, player, tables, findings, step, rule, share)
            wait_for_all(share.barrier, share.threads)
            # Above the cut again; other threads read the result only behind the next barrier.
            if share.thread == 0:
                update_top(view, player, tables, findings, step, rule, share, scratch.reach)
            if pre_averaging and not simultaneous:
                reach_phase(view, player, tables.policy, scratch.reach, share)
        if share.thread == 0:
            counts[0] += 1
            counts[1] += cost
