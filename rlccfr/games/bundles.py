"""Bundles: infosets that passes update side by side, one in each lane of a vector register.

In a game with private information, the infosets of one public state have the same actions, and the same bets or bids
follow. The passes then do the same work for each private card or die. So up to eight of a player's infosets make a
*bundle*. They have equally many actions, and each has a *lane* of the bundle. The infosets below one action of a bundle
are in bundles, too, and each is in the lane of the infoset above it. So reach goes down, and values go up, lane by
lane, without an index for each infoset.

Tables over bundles have an *entry* for each action and lane of a bundle, action after action. Lanes without an infoset
have entries, too, whose weights and payoffs are 0. Bundles are in depth-first order, parents before children.

Passes over bundles (:mod:`rlccfr.kernels.passes.bundled_iterations`) compute the same numbers as passes over infosets,
but for rounding: below one action, they may add infosets in another order. Every game can be cut into bundles. They
save time only where their lanes are filled; see :data:`LEAST_FILL`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rlccfr.games.flat_tree import SequenceForm
from rlccfr.games.records import BUNDLE_LANES, PAYOFF_LINES, BundleView

LEAST_FILL = 0.3
"""Least share of lanes with an infoset for which passes run over bundles.

With three infosets in each bundle, as in Kuhn poker, passes over bundles are faster; with one, they are slower
(``python -m benchmarks.bundles``).
"""

MOST_CUT_PAYOFFS = 2**24
"""Largest number of payoffs, in all blocks together, of a form that is cut; this takes up to 100 bytes for each."""

_bundles: WeakKeyDictionary[SequenceForm, Bundles | None] = WeakKeyDictionary()
"""Results of :func:`bundles_of`, by form."""


@dataclass(frozen=True, eq=False)
class Bundles:
    """A sequence form of m sequences, cut into bundles with E entries.

    Attributes:
        view: the arrays that kernels read.
        entry: (m,) the entry of each sequence.
        num_entries: E.
        num_values: length of the array in which values of actions are kept; see ``BundleView.value``.
        level: (B,) number of bundles above each bundle.
        last: (B,) the last bundle below each bundle; the bundle itself if there is none.
    """

    view: BundleView
    entry: np.ndarray
    num_entries: int
    num_values: int
    level: np.ndarray
    last: np.ndarray

    def bundled(self, table: np.ndarray) -> np.ndarray:
        """Return a table over the form's sequences, (m, ...), as one over entries, (E, ...), with 0 in empty lanes."""
        entries = aligned_zeros(self.num_entries, *table.shape[1:])
        entries[self.entry] = table
        return entries


def aligned_zeros(*shape: int) -> np.ndarray:
    """Return zeros of a shape, in memory that begins with a cache line.

    So the lanes that a register loads are in one line.
    """
    size = math.prod(shape)
    numbers = np.zeros(size + BUNDLE_LANES)
    offset = -numbers.ctypes.data // numbers.itemsize % BUNDLE_LANES
    return numbers[offset : offset + size].reshape(shape)


def _aligned(numbers: np.ndarray) -> np.ndarray:
    """Return a copy of numbers that begins with a cache line."""
    copy = aligned_zeros(*numbers.shape)
    copy[...] = numbers
    return copy


def bundles_of(form: SequenceForm) -> Bundles | None:
    """Return a form's bundles, which are computed at first use; None if passes over them would save no time.

    A quotient with twin actions is not cut into bundles.
    """
    if form not in _bundles:
        _bundles[form] = _cut(form)
    return _bundles[form]


def _cut(form: SequenceForm) -> Bundles | None:
    """Return a form's bundles; None if it is not cut."""
    if not form.num_infosets or len(form.view.twin) or _num_payoffs(form) > MOST_CUT_PAYOFFS:
        return None
    places = _placed(form)
    is_filled = form.num_infosets >= LEAST_FILL * BUNDLE_LANES * places.num_bundles
    return _bundles_at(form, places) if is_filled else None


def _num_payoffs(form: SequenceForm) -> int:
    """Return the number of payoffs in all blocks together, counting those that blocks share once for each block."""
    blocks = form.view.blocks_0
    columns = blocks["own_end"].astype(np.int64) - blocks["own"]
    lines = blocks["opponent_end"].astype(np.int64) - blocks["opponent"]
    return int((columns * lines).sum())


class _Places(NamedTuple):
    """Where the n infosets of a form are among its B bundles, which are not in order yet."""

    bundle: np.ndarray  # (n,): number of each infoset's bundle
    lane: np.ndarray  # (n,)
    num_bundles: int


def _placed(form: SequenceForm) -> _Places:
    """Put each infoset into a bundle and a lane, level by level.

    Infosets go into one bundle if they are below the same action of a bundle, have equally many actions, have the same
    label (:func:`_labels`), and are in different lanes.
    """
    view = form.view
    num_sequences = form.num_sequences
    owner = form.owner
    first_sequence = view.first_sequence.astype(np.int64)
    parent = view.parent.astype(np.int64)
    num_actions = np.diff(first_sequence)
    most_actions = int(num_actions.max())
    label = _labels(form)
    bundle = np.zeros(form.num_infosets, np.int64)
    lane = np.zeros(form.num_infosets, np.int64)
    num_bundles = 0
    levels = form.infoset_levels
    for level in range(int(levels.max()) + 1):
        infosets = np.flatnonzero(levels == level)
        above = parent[infosets]
        if level == 0:  # an infoset's lane is its number among those with the same label
            above_action = above - num_sequences  # a number per player
            group = _numbered(above_action, num_actions[infosets], label[infosets])
            number = _numbers_within(group)
            level_lane = number % BUNDLE_LANES
            # Infosets beyond the last lane go into further bundles, which ``duplicate`` numbers.
            duplicate = number // BUNDLE_LANES
        else:
            infoset_above = owner[above]
            above_action = bundle[infoset_above] * most_actions + above - first_sequence[infoset_above]
            level_lane = lane[infoset_above]
            group = _numbered(above_action, num_actions[infosets], label[infosets])
            # Infosets of one group that would share a lane need different bundles.
            duplicate = _numbers_within(group * BUNDLE_LANES + level_lane)
        numbers = _numbered(group, duplicate) if duplicate.any() else group
        bundle[infosets] = num_bundles + numbers
        lane[infosets] = level_lane
        num_bundles += int(numbers.max()) + 1
    return _Places(bundle, lane, num_bundles)


def _labels(form: SequenceForm) -> np.ndarray:
    """Return a label for each infoset, (n,), that infosets of one public state share.

    Two infosets of a player share a label if the same action, by its number, is paid in one block of payoffs, or if
    infosets below them share a label.
    """
    view = form.view
    num_infosets = form.num_infosets
    num_sequences = form.num_sequences
    owner = form.owner
    action = np.arange(num_sequences) - view.first_sequence.astype(np.int64)[owner]
    most_actions = int(action.max()) + 1
    parent = view.parent.astype(np.int64)
    has_parent = np.flatnonzero(parent < num_sequences)
    num_blocks = len(view.blocks_0)

    # Nodes of a graph: the infosets, then a node for each player, block and number of an action.
    block_rows: list[np.ndarray] = []
    block_columns: list[np.ndarray] = []
    first_node = num_infosets
    for blocks, leaf in ((view.blocks_0, view.leaf_0), (view.blocks_1, view.leaf_1)):
        width = blocks["own_end"].astype(np.int64) - blocks["own"]
        sequence = leaf.astype(np.int64)
        is_real = sequence < num_sequences  # not the empty one
        block = np.repeat(np.arange(num_blocks), width)[is_real]
        sequence = sequence[is_real]
        block_rows.append(owner[sequence])
        block_columns.append(first_node + block * most_actions + action[sequence])
        first_node += num_blocks * most_actions
    above = np.zeros(0, np.int64)
    first_above = np.zeros(0, np.int64)
    num_labels = first_node + 1
    while True:
        links = (np.concatenate([*block_rows, above]), np.concatenate([*block_columns, first_above]))
        graph = sparse.coo_array((np.ones(len(links[0]), np.int8), links), (first_node, first_node))
        count, label = connected_components(graph, directed=False)
        if count == num_labels:
            infoset_label: np.ndarray = label[:num_infosets]
            return infoset_label
        num_labels = count
        # The infosets above those of one label are linked to the first of them. Labels only grow together, so these
        # links take the place of the last round's.
        above = owner[parent[has_parent]]
        below = label[has_parent]
        first = np.full(count, num_infosets)
        np.minimum.at(first, below, above)
        first_above = first[below]


def _numbered(*columns: np.ndarray) -> np.ndarray:
    """Return numbers from 0 on, without gaps, that are equal where all columns are; the columns hold whole numbers."""
    number = np.unique(columns[0], return_inverse=True)[1]
    for column in columns[1:]:
        number = np.unique(number * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return number


def _numbers_within(group: np.ndarray) -> np.ndarray:
    """Return each entry's number, from 0 on, among the entries that are equal to it."""
    order = np.argsort(group, kind="stable")
    sorted_group = group[order]
    first = np.searchsorted(sorted_group, sorted_group)
    number = np.empty(len(group), np.int64)
    number[order] = np.arange(len(group)) - first
    return number


def _bundles_at(form: SequenceForm, places: _Places) -> Bundles:
    """Return the bundles of a form whose infosets have these places."""
    view = form.view
    owner = form.owner
    num_sequences = form.num_sequences
    first_sequence = view.first_sequence.astype(np.int64)
    # 1. Number the bundles in depth-first order.
    tree = _BundleTree.of(form, places)
    bundle = tree.position[places.bundle]
    # 2. Give each sequence its entry.
    first_entry = BUNDLE_LANES * np.concatenate([[0], np.cumsum(tree.actions)])
    num_entries = int(first_entry[-1])
    action = np.arange(num_sequences) - first_sequence[owner]
    entry = first_entry[bundle[owner]] + BUNDLE_LANES * action + places.lane[owner]
    reach_entry = _reach_entries(form, entry, num_entries)
    # 3. In depth-first order, only one bundle of each level is open at a time. So bundles of a level keep the values of
    # their actions in one place. The first BUNDLE_LANES places belong to the empty sequences.
    parent = view.parent.astype(np.int64)[tree.infoset]
    most_actions = np.zeros(int(tree.level.max()) + 1, np.int64)
    np.maximum.at(most_actions, tree.level, tree.actions)
    level_value = BUNDLE_LANES * (1 + np.concatenate([[0], np.cumsum(most_actions)]))
    value = level_value[tree.level]
    has_parent = parent < num_sequences
    above = np.where(has_parent, parent, 0)
    parent_value = np.where(has_parent, value[bundle[owner[above]]] + BUNDLE_LANES * action[above], 0)
    # 4. Weights by lane; equal rows are stored once.
    weight, row = np.unique(_weight_rows(form, bundle, places), axis=0, return_inverse=True)
    # 5. A bundle is opened before the last bundle below it is closed. Of those opened together, parents come first.
    opened = np.argsort(tree.last, kind="stable")
    # 6. The payoffs of both players.
    paid_0, paid_1 = (_lines_of_player(form, player, reach_entry, entry) for player in (0, 1))
    paid_1.lines["payoff"] += len(paid_0.payoff)
    paid_1.lines["opponent"] += paid_1.lines["listed"] * np.uint32(len(paid_0.line_entry))
    paid_action = np.concatenate([paid_0.action, paid_1.action])  # player 0's entries come first
    arrays = BundleView(
        bundle_begin=np.array([0, tree.num_bundles_0, places.num_bundles], np.uint32),
        first=first_entry[:-1].astype(np.uint32),
        actions=tree.actions.astype(np.uint32),
        parent=(reach_entry[parent] // BUNDLE_LANES * BUNDLE_LANES).astype(np.uint32),
        value=value.astype(np.uint32),
        parent_value=parent_value.astype(np.uint32),
        weights=(2 * BUNDLE_LANES * row.ravel()).astype(np.uint32),
        opened_begin=np.searchsorted(tree.last[opened], np.arange(places.num_bundles + 1)).astype(np.uint32),
        opened=opened.astype(np.uint32),
        weight=_aligned(weight.ravel()),
        lines_begin=np.searchsorted(paid_action, np.arange(num_entries // BUNDLE_LANES + 1)).astype(np.uint32),
        lines=np.concatenate([paid_0.lines, paid_1.lines]),
        line_entry=np.concatenate([paid_0.line_entry, paid_1.line_entry]).astype(np.uint32),
        payoff=_aligned(np.concatenate([paid_0.payoff, paid_1.payoff])),
    )
    return Bundles(
        view=arrays,
        entry=entry,
        num_entries=num_entries,
        num_values=int(level_value[-1]),
        level=tree.level,
        last=tree.last,
    )


def _reach_entries(form: SequenceForm, entry: np.ndarray, num_entries: int) -> np.ndarray:
    """Return the entry at which each sequence's reach is, (m + 2,).

    The reach of an action that is an infoset's only one is that of the infoset, so it has no place of its own.

    Args:
        entry: (m,) the entry of each sequence.
    """
    first_sequence = form.view.first_sequence.astype(np.int64)
    parent = form.view.parent.astype(np.int64)
    reach_entry = np.append(entry, [num_entries, num_entries])
    is_only = np.diff(first_sequence) == 1
    levels = form.infoset_levels
    for level in range(int(levels.max()) + 1):  # from the root down
        infosets = np.flatnonzero(is_only & (levels == level))
        reach_entry[first_sequence[infosets]] = reach_entry[parent[infosets]]
    return reach_entry


def _weight_rows(form: SequenceForm, bundle: np.ndarray, places: _Places) -> np.ndarray:
    """Return each bundle's chance weights, then its multiplicities, by lanes, (B, 2 BUNDLE_LANES).

    Args:
        bundle: (n,) the bundle of each infoset, in depth-first order.
    """
    multiplicity = form.view.multiplicity
    rows = np.zeros((places.num_bundles, 2, BUNDLE_LANES))
    rows[bundle, 0, places.lane] = form.view.chance_weight
    rows[bundle, 1, places.lane] = multiplicity if len(multiplicity) else 1.0
    return rows.reshape(-1, 2 * BUNDLE_LANES)


class _BundleTree(NamedTuple):
    """The tree of B bundles; all arrays but ``position`` are in depth-first order, player 0's bundles first."""

    position: np.ndarray  # (B,): place in this order, by the number in _Places
    infoset: np.ndarray  # (B,): the bundle's first infoset
    actions: np.ndarray  # (B,): number of actions
    level: np.ndarray  # (B,)
    last: np.ndarray  # (B,): place of the last bundle below it, or its own place if there is none
    num_bundles_0: int  # number of player 0's bundles

    @classmethod
    def of(cls, form: SequenceForm, places: _Places) -> _BundleTree:
        """Order bundles depth-first; bundles below the same bundle are in the order of their first infosets."""
        num_sequences = form.num_sequences
        infoset = np.unique(places.bundle, return_index=True)[1]
        level = form.infoset_levels[infoset]
        parent_sequence = form.view.parent.astype(np.int64)[infoset]
        owner = np.append(form.owner, [-1, -1])
        infoset_above = owner[parent_sequence]
        # The bundle above; for first bundles, one of two numbers that no bundle has, by player.
        above = np.where(
            infoset_above >= 0, places.bundle[infoset_above], places.num_bundles + parent_sequence - num_sequences
        )
        # Sizes of subtrees, from the deepest level up.
        by_level = [np.flatnonzero(level == number) for number in range(level.max() + 1)]
        size = np.concatenate([np.ones(places.num_bundles, np.int64), [0, 0]])
        for bundles in by_level[::-1]:
            np.add.at(size, above[bundles], size[bundles])
        # Positions, from the top down: a bundle comes after the one above it and the subtrees of earlier siblings.
        position = np.zeros(places.num_bundles + 2, np.int64)
        position[-2:] = -1, size[-2] - 1
        for bundles in by_level:
            siblings = bundles[np.lexsort((infoset[bundles], above[bundles]))]
            sizes_before = np.cumsum(size[siblings]) - size[siblings]
            parents = above[siblings]
            first_sibling = np.searchsorted(parents, parents)
            position[siblings] = position[parents] + 1 + sizes_before - sizes_before[first_sibling]
        order = np.argsort(position[:-2])
        num_actions = np.diff(form.view.first_sequence.astype(np.int64))
        return cls(
            position=position[:-2],
            infoset=infoset[order],
            actions=num_actions[infoset[order]],
            level=level[order],
            last=np.arange(places.num_bundles) + size[:-2][order] - 1,
            num_bundles_0=int(size[-2]),
        )


class _PaidLines(NamedTuple):
    """The lines of payoffs to one player's actions of bundles."""

    action: np.ndarray  # (r,): the paid action of a bundle, as its first entry over BUNDLE_LANES; ascending
    lines: np.ndarray  # (r,) of type PAYOFF_LINES
    line_entry: np.ndarray  # see BundleView
    payoff: np.ndarray


def _lines_of_player(form: SequenceForm, player: int, reach_entry: np.ndarray, entry: np.ndarray) -> _PaidLines:
    """Return the lines of payoffs to a player.

    A block of payoffs is cut by the paid actions, each of which has columns in some of the lanes. Lines keep their
    order, so that sums over lines round as they do in passes over infosets.

    Args:
        reach_entry: (m + 2,) where each sequence's reach is.
        entry: (m,) the entry of each sequence.
    """
    view = form.view
    blocks, payoff = (view.blocks_0, view.payoff_0) if player == 0 else (view.blocks_1, view.payoff_1)
    own_leaf, opponent_leaf = (view.leaf_0, view.leaf_1) if player == 0 else (view.leaf_1, view.leaf_0)
    num_columns = blocks["own_end"].astype(np.int64) - blocks["own"]
    num_lines = blocks["opponent_end"].astype(np.int64) - blocks["opponent"]
    # 1. Columns lie in the order of their blocks, in games and quotients. Those of the empty sequence are left out,
    # since their payoffs change no regrets. A *part* is what one block pays to one action of a bundle.
    column_entry = np.append(entry, [-1, -1])[own_leaf]
    is_real = column_entry >= 0
    column_block = np.repeat(np.arange(len(blocks)), num_columns)[is_real]
    column_place = places_within(num_columns)[is_real]
    column_entry = column_entry[is_real]
    keys = column_entry // BUNDLE_LANES * len(blocks) + column_block
    parts, column_part = np.unique(keys, return_inverse=True)
    part_action, part_block = np.divmod(parts, len(blocks))
    # 2. Payoffs of each part: a row of BUNDLE_LANES lanes for each of its lines.
    part_lines = num_lines[part_block]
    first_row = np.concatenate([[0], np.cumsum(part_lines)])
    rows = np.zeros((int(first_row[-1]), BUNDLE_LANES))
    lines_of_column = num_lines[column_block]
    line = places_within(lines_of_column)
    column = np.repeat(np.arange(len(column_block)), lines_of_column)
    block = column_block[column]
    at = blocks["payoff"].astype(np.int64)[block] + blocks["stride"].astype(np.int64)[block] * line
    rows[first_row[column_part[column]] + line, column_entry[column] % BUNDLE_LANES] = payoff[at + column_place[column]]
    # 3. A record for each part. Its lines are listed unless their entries follow one another.
    line_entry = reach_entry[opponent_leaf]
    line_block = np.repeat(np.arange(len(blocks)), num_lines)
    breaks = np.diff(line_entry) != 1
    is_listed = np.zeros(len(blocks), np.uint32)
    is_listed[line_block[1:][breaks & (np.diff(line_block) == 0)]] = 1
    first_line = blocks["opponent"].astype(np.int64)
    lines = np.zeros(len(parts), PAYOFF_LINES)
    lines["opponent"] = np.where(is_listed, first_line, line_entry[first_line])[part_block]
    lines["lines"] = part_lines
    lines["listed"] = is_listed[part_block]
    lines["factor"] = blocks["factor"][part_block]
    lines["payoff"], stored = _stored_once(rows, first_row[:-1], part_lines)
    listed_entry = line_entry if is_listed.any() else np.zeros(0, np.int64)
    return _PaidLines(part_action, lines, listed_entry, stored)


def places_within(counts: np.ndarray) -> np.ndarray:
    """Return the numbers 0 to c - 1 for each count c, one after another."""
    ends = np.cumsum(counts)
    places: np.ndarray = np.arange(int(counts.sum())) - np.repeat(ends - counts, counts)
    return places


def _stored_once(rows: np.ndarray, begin: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Store equal runs of rows once.

    Args:
        rows: (r, BUNDLE_LANES)
        begin: (runs,) first row of each run.
        length: (runs,) number of rows of each run.

    Returns:
        (runs,) the index at which each run's numbers begin among the stored numbers; and the stored numbers.
    """
    index = np.zeros(len(begin), np.int64)
    stored: list[np.ndarray] = [np.zeros(0)]
    num_stored = 0
    for rows_of_run in np.unique(length):
        runs = np.flatnonzero(length == rows_of_run)
        numbers = rows[begin[runs][:, None] + np.arange(rows_of_run)].reshape(len(runs), -1)
        as_bytes = np.ascontiguousarray(numbers).view(np.dtype((np.void, numbers.itemsize * numbers.shape[1])))
        _, first_equal, number = np.unique(as_bytes.ravel(), return_index=True, return_inverse=True)
        index[runs] = num_stored + numbers.shape[1] * number.ravel()
        stored.append(numbers[first_equal].ravel())
        num_stored += numbers[first_equal].size
    return index, np.concatenate(stored)
