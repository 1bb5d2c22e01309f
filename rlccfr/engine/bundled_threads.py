"""How exact passes over bundles are divided among threads; see :mod:`rlccfr.kernels.passes.threaded_bundles`.

Each player's bundles are cut at a level. The first thread has the few bundles above the cut. Below it, the bundles fall
into subtrees, each of which begins at the cut. Subtrees of both players belong together if the payoffs to one of them
are weighted with the reach of the other, as below one public state. Each thread has some of these *components*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rlccfr.engine.reduced import BUNDLED_COSTS
from rlccfr.engine.workers import assigned, padded_zeros, pairs_of_cuts
from rlccfr.games.bundles import Bundles, aligned_zeros, places_within
from rlccfr.games.records import BUNDLE_LANES
from rlccfr.kernels.passes.barrier import WORDS

if TYPE_CHECKING:
    from rlccfr.kernels.passes.threaded_bundles import BundleShare


class BundleDivision(NamedTuple):
    """Which thread has which subtrees of bundles."""

    cut: tuple[int, int]  # the level of each player's cut
    begin: np.ndarray  # (k,): first bundle of each subtree below the cuts, ascending
    thread: np.ndarray  # (k,): thread of each subtree
    time: float  # predicted nanoseconds of an iteration

    def shares(self, bundles: Bundles, threads: int) -> list[BundleShare]:
        """Return each thread's share of the bundles."""
        from rlccfr.kernels.passes.threaded_bundles import BundleShare  # here, since it compiles kernels

        cut_value = aligned_zeros(BUNDLE_LANES * len(bundles.level))
        unshared = 2 * BUNDLE_LANES  # two cache lines after each thread's values; see PADDING
        barrier = padded_zeros(WORDS).view(np.int64)
        subtrees = np.stack([self.begin, bundles.last[self.begin] + 1], axis=1)
        is_player_1 = self.begin >= bundles.view.bundle_begin[1]
        top_0, top_1 = (self._top(bundles, player, subtrees[is_player_1 == player]) for player in (0, 1))
        return [
            BundleShare(
                thread=thread,
                threads=threads,
                subtrees_0=subtrees[(self.thread == thread) & ~is_player_1],
                subtrees_1=subtrees[(self.thread == thread) & is_player_1],
                top_0=top_0,
                top_1=top_1,
                values=aligned_zeros(bundles.num_values + unshared)[: bundles.num_values],
                cut_value=cut_value,
                barrier=barrier,
            )
            for thread in range(threads)
        ]

    def _top(self, bundles: Bundles, player: int, subtrees: np.ndarray) -> np.ndarray:
        """Return ``BundleShare.top_0`` or ``BundleShare.top_1``, from the player's subtrees."""
        first, end = bundles.view.bundle_begin[player : player + 2].astype(np.int64)
        above_cut = first + np.flatnonzero(bundles.level[first:end] < self.cut[player])
        rows = np.concatenate([subtrees, np.stack([above_cut, np.zeros_like(above_cut)], axis=1)])
        return np.ascontiguousarray(rows[np.argsort(rows[:, 0])])


def divided_bundles(bundles: Bundles, threads: int) -> BundleDivision:
    """Divide bundles among threads.

    Among the pairs of cuts whose levels differ by at most 1, the pair with the least predicted time is chosen.
    """
    time = _bundle_times(bundles)
    links = _payoff_links(bundles)
    cuts = pairs_of_cuts(int(bundles.level.max()))
    divisions = [_divided_at(bundles, time, links, cut, threads) for cut in cuts]
    return min(divisions, key=lambda division: division.time)


def _bundle_times(bundles: Bundles) -> np.ndarray:
    """Return the predicted nanoseconds of each bundle in an iteration, (B,)."""
    action_cost, line_cost = BUNDLED_COSTS
    actions = bundles.view.actions.astype(np.int64)
    lines_before = np.concatenate([[0], np.cumsum(bundles.view.lines["lines"], dtype=np.int64)])
    first_action = np.concatenate([[0], np.cumsum(actions)])
    lines = np.diff(lines_before[bundles.view.lines_begin[first_action].astype(np.int64)])
    times: np.ndarray = action_cost * actions + line_cost * lines
    return times


def _payoff_links(bundles: Bundles) -> np.ndarray:
    """Return each pair of a bundle and an opponent's bundle whose reach weights its payoffs, as rows, (pairs, 2)."""
    view = bundles.view
    lines = view.lines
    num_lines = lines["lines"].astype(np.int64)
    # The opponent's entries whose reach weights the lines, and the bundles that the lines pay.
    entry = lines["opponent"].astype(np.int64).repeat(num_lines) + places_within(num_lines)
    is_listed = lines["listed"].astype(bool).repeat(num_lines)
    entry[is_listed] = view.line_entry[entry[is_listed]]
    lines_of_action: np.ndarray = np.diff(view.lines_begin.astype(np.int64))
    paid_action = np.repeat(np.arange(len(lines_of_action)), lines_of_action)
    first = view.first.astype(np.int64)
    paid = np.searchsorted(first, BUNDLE_LANES * paid_action, side="right") - 1
    is_real = entry < bundles.num_entries  # not an empty sequence
    read = np.searchsorted(first, entry[is_real], side="right") - 1
    return np.unique(np.stack([paid.repeat(num_lines)[is_real], read], axis=1), axis=0)


def _divided_at(
    bundles: Bundles, time: np.ndarray, links: np.ndarray, cut: tuple[int, int], threads: int
) -> BundleDivision:
    """Divide bundles that are cut at given levels.

    Args:
        time: (B,) predicted time of each bundle.
        links: what :func:`_payoff_links` returns.
        cut: the level of each player's cut.
        threads: number of threads.
    """
    is_player_1 = np.arange(len(bundles.level)) >= bundles.view.bundle_begin[1]
    cut_level = np.array(cut)[is_player_1.astype(np.int64)]
    below_cut = bundles.level >= cut_level
    begin = np.flatnonzero(bundles.level == cut_level)
    # In depth-first order, a bundle below the cut belongs to the subtree that began last.
    subtree = np.searchsorted(begin, np.arange(len(bundles.level)), side="right") - 1
    linked = subtree[links[below_cut[links].all(axis=1)]]
    graph = sparse.coo_array((np.ones(len(linked), np.int8), (linked[:, 0], linked[:, 1])), (len(begin), len(begin)))
    num_components, component = connected_components(graph, directed=False)
    component_time = np.bincount(component[subtree[below_cut]], time[below_cut], minlength=num_components)
    thread, loads = assigned(component_time, threads)
    return BundleDivision(
        cut=cut,
        begin=begin,
        thread=thread[component],
        time=float(time[~below_cut].sum() + loads.max()),
    )
