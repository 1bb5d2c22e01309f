"""Exact iterations over bundles by several threads, with the same results, bit for bit, as by one.

The work is divided as in :mod:`rlccfr.kernels.passes.threaded_iterations`: each player's bundles are cut at a level;
the first thread has those above it; and each thread has some of the subtrees that begin at the cut. Subtrees of both
players that share payoffs have one thread, so threads wait for each other only around the work above the cut. Each sum
is added up by a single thread, in the order of ``bundled_iterations`` (docs/adr/0021).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rlccfr.games.records import BUNDLE_LANES
from rlccfr.kernels.handles import bundle_view_of, flags_of, run_of
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
    Step,
)
from rlccfr.kernels.passes.barrier import wait_for_all
from rlccfr.kernels.passes.bundled_iterations import (
    open_bundle,
    pass_bundle_up,
    reach_of_bundle,
    reach_of_bundles,
    update_bundle,
)
from rlccfr.kernels.passes.lanes import NONE, load, store

BEGIN = 0
"""Column of a subtree's first bundle, which is at the cut."""

END = 1
"""Column of the bundle after a subtree's last one."""


class BundleShare(NamedTuple):
    """One thread's share of the bundles, and what the threads have in common; B is the number of bundles.

    A subtree is a row [BEGIN, END]. A bundle above the cut stands among the subtrees as a row with END 0.
    """

    thread: int  # index of the thread; 0 for the first
    threads: int  # number of threads
    subtrees_0: np.ndarray  # (., 2): player 0's subtrees that the thread has, in depth-first order
    subtrees_1: np.ndarray  # player 1's likewise
    top_0: np.ndarray  # (., 2): player 0's bundles above the cut, and its subtrees of all threads, in depth-first order
    top_1: np.ndarray  # player 1's likewise
    values: np.ndarray  # the thread's own working memory: values of the actions of open bundles
    cut_value: np.ndarray  # (8 B,), common: by lanes, the values that bundles at the cut pass up
    barrier: np.ndarray  # common; see wait_for_all


I8 = types.int64
I8M = types.int64[:, ::1]
BUNDLE_SHARE = types.NamedTuple((I8, I8, I8M, I8M, I8M, I8M, F8S, F8S, HANDLE), BundleShare)


@inlined
def reach_of_top(view, player, tables, reach, decay, averages, flags, share):
    """Set reach, and perhaps sums, at a player's bundles above the cut; see ``reach_of_bundles``."""
    top = share.top_0 if player == 0 else share.top_1
    for row in range(len(top)):
        if top[row, END] == 0:
            reach_of_bundle(view, top[row, BEGIN], tables, reach, decay, averages, flags)


@inlined
def reach_of_share(view, player, tables, reach, decay, averages, flags, share):
    """Set reach, and perhaps sums, at the thread's own bundles of a player; see ``reach_of_bundles``."""
    subtrees = share.subtrees_0 if player == 0 else share.subtrees_1
    for row in range(len(subtrees)):
        reach_of_bundles(view, subtrees[row, BEGIN], subtrees[row, END], tables, reach, decay, averages, flags)


@inlined
def update_share(view, player, tables, movement, reach, step, flags, share):
    """Update the regrets of the thread's own bundles of a player, bottom up; see ``update_bundles``.

    The values of the bundles at the cut are written to ``share.cut_value``. Several threads may have bundles below one
    action above the cut, so the first thread adds up their values.
    """
    subtrees = share.subtrees_0 if player == 0 else share.subtrees_1
    for row in range(len(subtrees) - 1, -1, -1):
        begin = subtrees[row, BEGIN]
        for bundle in range(subtrees[row, END] - 1, begin - 1, -1):
            for k in range(np.int64(view.opened_begin[bundle]), np.int64(view.opened_begin[bundle + 1])):
                opened = np.int64(view.opened[k])
                if opened >= begin:  # those above the cut are opened by the first thread
                    open_bundle(view, opened, reach, share.values)
            bundle_value = update_bundle(view, bundle, tables, movement, share.values, step, flags)
            if bundle == begin:
                store(share.cut_value, BUNDLE_LANES * bundle, bundle_value)
            else:
                pass_bundle_up(view, bundle, bundle_value, share.values)


@inlined
def update_top(view, player, tables, movement, reach, step, flags, share):
    """Pass the values at the cut up, and update a player's regrets above it."""
    top = share.top_0 if player == 0 else share.top_1
    store(share.values, 0, NONE)  # the values of the empty sequences, which nothing reads
    for row in range(len(top) - 1, -1, -1):
        bundle = top[row, BEGIN]
        is_above_cut = top[row, END] == 0
        # The bundle before whose update others are opened: the last of a subtree, or the bundle itself above the cut.
        last = bundle if is_above_cut else top[row, END] - 1
        for k in range(np.int64(view.opened_begin[last]), np.int64(view.opened_begin[last + 1])):
            opened = np.int64(view.opened[k])
            if is_above_cut or opened < bundle:
                open_bundle(view, opened, reach, share.values)
        if is_above_cut:
            bundle_value = update_bundle(view, bundle, tables, movement, share.values, step, flags)
        else:
            bundle_value = load(share.cut_value, BUNDLE_LANES * bundle)
        pass_bundle_up(view, bundle, bundle_value, share.values)


@released(types.void(HANDLE, HANDLE, F8S, HANDLE, PROCEDURE, F8M, types.int64, BUNDLE_SHARE))
def threaded_bundled_iterations(bundles, run, movement, rule, procedure, schedule, cost, share):
    """Run one thread's share of ``len(schedule) - 1`` iterations; all threads must call this at the same time.

    Args:
        bundles, run, movement, rule, procedure, schedule, cost: as for
            :func:`rlccfr.kernels.passes.bundled_iterations.bundled_iterations`.
    """
    view = bundle_view_of(bundles)
    flags = flags_of(rule)
    tables, _, _, counts, scratch = run_of(run)
    reach = scratch.reach
    averages_first = procedure.simultaneous or procedure.pre_averaging
    for t in range(len(schedule) - 1):
        now = schedule[t]
        decay = now[AVERAGE_DECAY]
        step = Step(now, schedule[t + 1], now[FLOOR], (now[POSITIVE_DISCOUNT], now[NEGATIVE_DISCOUNT]), UNSCALED)
        if averages_first:
            if share.thread == 0:
                for player in range(2):
                    reach_of_top(view, player, tables, reach, decay, True, flags, share)
            wait_for_all(share.barrier, share.threads)
            for player in range(2):
                reach_of_share(view, player, tables, reach, decay, True, flags, share)
        for player in range(2):
            # Above the cut: reach of the opponent.
            if share.thread == 0 and not averages_first:
                reach_of_top(view, 1 - player, tables, reach, decay, True, flags, share)
            wait_for_all(share.barrier, share.threads)
            # Below the cut, subtrees read nothing of another thread's, so each thread goes all the way up alone.
            if not averages_first:
                reach_of_share(view, 1 - player, tables, reach, decay, True, flags, share)
            update_share(view, player, tables, movement, reach, step, flags, share)
            wait_for_all(share.barrier, share.threads)
            # Above the cut again; other threads read the result only behind the next barrier.
            if share.thread == 0:
                update_top(view, player, tables, movement, reach, step, flags, share)
            if procedure.pre_averaging and not procedure.simultaneous:
                if share.thread == 0:
                    reach_of_top(view, player, tables, reach, decay, False, flags, share)
                wait_for_all(share.barrier, share.threads)
                # The first thread may begin the next iteration meanwhile. It then writes the reach above the cut, which
                # the others read here, once more, with the same numbers.
                reach_of_share(view, player, tables, reach, decay, False, flags, share)
        if share.thread == 0:
            counts[0] += 1
            counts[1] += cost
