"""Exact iterations by several threads, with the same results, bit for bit, as by one.

Each player's infosets are cut at a level. The few above it are left to the first thread. Below it, subtrees of both
players that share payoffs belong together, such as those below one public state; each thread has some of these
*components*. All that a component needs is above the cut or in the component, so threads wait for each other only
around the work above the cut. One thread adds up each sum, in the order of ``exact_iterations``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.kernels.fold import fold, keep_regret
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
    Findings,
    Scratch,
    Step,
)
from rlccfr.kernels.passes.barrier import wait_for_all
from rlccfr.kernels.passes.exact_iterations import ONE, update_row
from rlccfr.kernels.passes.rows import pass_up, settle_twins, unrolled
from rlccfr.kernels.passes.sequence_form import average_row, gradient_of_blocks, mass_of, reach_row


class Share(NamedTuple):
    """One thread's share of the work, and what the threads have in common."""

    thread: int  # 0 for the first
    threads: int
    subtrees_0: np.ndarray  # (k, 2): ranges of player 0's infosets below the cut, ascending
    subtrees_1: np.ndarray
    blocks: np.ndarray  # (k, 2): ranges of blocks, ascending
    top: np.ndarray  # (2, 3): each player's first infoset, the first at the cut's level, and the first after this level
    line_reach: np.ndarray  # the thread's own part of Scratch
    leaf: np.ndarray
    value: np.ndarray  # (n,), common: values of infosets at the cut's level
    barrier: np.ndarray  # common


I8M = types.int64[:, ::1]
SHARE = types.NamedTuple((types.int64, types.int64, I8M, I8M, I8M, I8M, F8S, F8S, F8S, HANDLE), Share)


@unrolled
def cut_row(view, infoset, first, actions, tables, findings, step, rule, value):
    """Fold an infoset at the cut's level; its value is passed up later, by the first thread."""
    gradient, total = findings.gain, 0.0
    settle_twins(view, first, first + actions, gradient)
    for k in range(first, first + actions):
        total += tables.policy[k] * gradient[k]
    value[infoset] = total
    fold(tables, first, first + actions, infoset, findings, total, step, rule)


@inlined
def keep_range(view, begin, end, tables, findings):
    """Copy the regrets of infosets ``begin`` to ``end``, for rules that read them."""
    keep_regret(tables.regret, view.first_sequence[begin], view.first_sequence[end], ONE, findings.past_regret)


@inlined
def average_top(view, player, tables, reach, decay, column, share):
    """Set reach and policy sums of ``player`` above the cut; see ``reach_and_average_pass``."""
    reach[len(tables.policy) + player] = 1.0
    for infoset in range(share.top[player, 0], share.top[player, 1]):
        average_row(view, infoset, tables, reach, decay, 1.0, column)


@inlined
def average_subtrees(view, tables, reach, decay, column, subtrees):
    """Do the same in a thread's subtrees."""
    for r in range(len(subtrees)):
        for infoset in range(subtrees[r, 0], subtrees[r, 1]):
            average_row(view, infoset, tables, reach, decay, 1.0, column)


@inlined
def reach_phase(view, player, policy, reach, share, subtrees):
    """Set reach of ``player``: the first thread above the cut, then each thread in its subtrees."""
    if share.thread == 0:
        reach[len(policy) + player] = 1.0
        for infoset in range(share.top[player, 0], share.top[player, 1]):
            reach_row(view, infoset, policy, reach)
    wait_for_all(share.barrier, share.threads)
    for r in range(len(subtrees)):
        for infoset in range(subtrees[r, 0], subtrees[r, 1]):
            reach_row(view, infoset, policy, reach)


@inlined
def clear_top(view, player, gradient, share):
    """Set the gradients of ``player`` above the cut to 0."""
    gradient[view.first_sequence[share.top[player, 0]] : view.first_sequence[share.top[player, 1]]] = 0.0
    gradient[len(gradient) - 2 + player] = 0.0


@inlined
def gradient_phase(view, player, scratch, uses_mass, share, subtrees):
    """Set gradients at the leaves and, if the rule uses it, mass; see ``gradient_pass`` and ``mass_pass``."""
    for r in range(len(subtrees)):
        begin, end = subtrees[r, 0], subtrees[r, 1]
        scratch.gradient[view.first_sequence[begin] : view.first_sequence[end]] = 0.0
        if uses_mass:
            mass_of(view, begin, end, scratch.reach, scratch.mass)
    for r in range(len(share.blocks)):
        gradient_of_blocks(view, player, scratch.reach, scratch, share.blocks[r, 0], share.blocks[r, 1])


@inlined
def update_phase(view, player, tables, findings, step, rule, share, subtrees):
    """Fold a player's regrets bottom up in a thread's subtrees."""
    after = share.top[player, 2]
    if rule.flags.reads_regret:
        for r in range(len(subtrees)):
            keep_range(view, subtrees[r, 0], subtrees[r, 1], tables, findings)
    for r in range(len(subtrees) - 1, -1, -1):
        for infoset in range(subtrees[r, 1] - 1, subtrees[r, 0] - 1, -1):
            if infoset < after:
                cut_row(view, infoset, tables, findings, step, rule, share.value)
            else:
                update_row(view, infoset, tables, findings, step, rule)


@inlined
def update_top(view, player, tables, findings, step, rule, share, reach):
    """Pass the values at the cut up, and fold a player's regrets above it."""
    first, cut, after = share.top[player, 0], share.top[player, 1], share.top[player, 2]
    if rule.flags.reads_regret:
        keep_range(view, first, cut, tables, findings)
    if rule.flags.uses_mass:
        mass_of(view, first, cut, reach, findings.mass)
    for infoset in range(after - 1, cut - 1, -1):
        pass_up(view, infoset, share.value[infoset], findings.gain)
    for infoset in range(cut - 1, first - 1, -1):
        update_row(view, infoset, tables, findings, step, rule)


@released(types.void(HANDLE, HANDLE, HANDLE, PROCEDURE, F8M, types.int64, SHARE))
def threaded_iterations(game, run, rule, procedure, schedule, cost, share):
    """Run one thread's share of ``len(schedule) - 1`` iterations; all threads must call this at the same time.

    Args:
        game, run, rule, procedure, schedule, cost: as for :func:`exact_iterations`; no best responses.
    """
    _, view = game_of(game)
    rule = rule_of(rule)
    tables, _, _, counts, common = run_of(run)
    scratch = Scratch(
        common.reach, common.gradient, common.mass, common.response, common.response_reach,
        share.line_reach, share.leaf, common.past_regret,
    )  # fmt: skip
    findings, column = Findings(scratch.gradient, scratch.mass, scratch.past_regret), rule.flags.average_column
    simultaneous, pre = procedure.simultaneous, procedure.pre_averaging
    for t in range(len(schedule) - 1):
        now, ahead = schedule[t], schedule[t + 1]
        decay = now[AVERAGE_DECAY]
        step = Step(now, ahead, now[FLOOR], (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT]), ONE)
        if simultaneous or pre:
            if share.thread == 0:
                average_top(view, 0, tables, scratch.reach, decay, column, share)
                average_top(view, 1, tables, scratch.reach, decay, column, share)
            wait_for_all(share.barrier, share.threads)
            average_subtrees(view, tables, scratch.reach, decay, column, share.subtrees_0)
            average_subtrees(view, tables, scratch.reach, decay, column, share.subtrees_1)
        for player in range(2):
            own, other = (share.subtrees_0, share.subtrees_1) if player == 0 else (share.subtrees_1, share.subtrees_0)
            if share.thread == 0:
                if not (simultaneous or pre):
                    average_top(view, 1 - player, tables, scratch.reach, decay, column, share)
                clear_top(view, player, scratch.gradient, share)
            wait_for_all(share.barrier, share.threads)
            if not (simultaneous or pre):
                average_subtrees(view, tables, scratch.reach, decay, column, other)
            gradient_phase(view, player, scratch, rule.flags.uses_mass, share, own)
            update_phase(view, player, tables, findings, step, rule, share, own)
            wait_for_all(share.barrier, share.threads)
            if share.thread == 0:
                update_top(view, player, tables, findings, step, rule, share, scratch.reach)
            if pre and not simultaneous:
                reach_phase(view, player, tables.policy, scratch.reach, share, own)
        if share.thread == 0:
            counts[0] += 1
            counts[1] += cost
