"""The public tree of a compiled game in which only chance hides anything.

Histories belong to one public node if they agree in all that both players have seen. Both players distinguish two
groups of chance outcomes if no infoset of either player has histories below both groups. Both players must see all
actions.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from rlccfr.errors import GameError
from rlccfr.games import records as tree_records
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.public.claims import check_public
from rlccfr.games.public.nodes import number_outcomes, tables_of
from rlccfr.games.public.records import CHANCE, DEAL, MATRIX, NODE, PublicView
from rlccfr.games.public.view import PublicGame, ranges


@dataclass(frozen=True, eq=False)
class DerivedGame:
    """A compiled game in the form of a public tree.

    Attributes:
        public: the game as a public tree.
        sequence: (m,) for each table entry of ``public``, the index of its sequence in the compiled game.
    """

    public: PublicGame
    sequence: np.ndarray


@dataclass(eq=False)
class _Deal:
    """A group of histories right after chance moves; both players can tell it from all other groups.

    Attributes:
        above: (histories, 2) each player's row at the previous deal.
        probability: (histories,) product of the probabilities of all chance outcomes so far.
        rows: for each player, the histories' rows, (histories,); None until a decision of this player has been met.
    """

    above: np.ndarray
    probability: np.ndarray
    rows: list[np.ndarray | None]

    def settled(self) -> np.ndarray:
        """Return both players' rows, (histories, 2); a player without decisions keeps the rows of the previous deal."""
        rows = [self.above[:, player] if row is None else row for player, row in enumerate(self.rows)]
        return np.stack([np.unique(row, return_inverse=True)[1].reshape(-1) for row in rows], axis=1)


class PublicTree:
    """The public tree of a compiled game: its nodes, and the histories that belong to each.

    Attributes:
        nodes: kind, number of children, first child and deal of each node.
        deals: groups of histories right after chance moves; both players can tell each group from all others.
        members: histories of each node, in the order of the histories of the node's deal.
        value: (histories,) player 0's expected utility where nobody acts any more; meaningless elsewhere.
        decides: (histories,) whether somebody acts at or below each history.
        depth: number of edges on the longest path.

    Raises:
        GameError: players hide more than what chance has dealt them.
    """

    def __init__(self, game: GameTree) -> None:
        self.game = game
        self.value, self.decides = _values(game)
        self.nodes: list[tuple[int, int, int, int]] = []
        self.deals = [_Deal(np.zeros((1, 2), np.int64), np.ones(1), [None, None])]
        self.members: list[np.ndarray] = []
        self.depth = 0
        # Breadth first, so that a node's children are neighbours.
        waiting = deque([(np.zeros(1, np.int64), 0, 0)])  # histories, deal and depth of each node
        num_met = 1
        while waiting:
            histories, deal, depth = waiting.popleft()
            self.depth = max(self.depth, depth)
            self.members.append(histories)
            kind = self._kind(histories)
            children = [] if kind == MATRIX else self._children(kind, histories, deal)
            self.nodes.append((kind, len(children), num_met, deal))
            num_met += len(children)
            waiting.extend((child_histories, child_deal, depth + 1) for child_histories, child_deal in children)

    def _kind(self, histories: np.ndarray) -> int:
        """Return the kind of a public node.

        Raises:
            GameError: its histories are not of one kind.
        """
        if not self.decides[histories].any():
            return MATRIX
        actors = np.where(self.decides[histories], self.game.histories["actor"][histories], tree_records.TERMINAL)
        if (actors != actors[0]).any():
            raise self._hidden()
        return int(actors[0])

    def _hidden(self) -> GameError:
        if self.game.lock is not None:
            return GameError(
                f"{self.game.name!r} has no public tree, since the lock fixes only some private states of a public "
                "node: lock each decision for all private states, or for none"
            )
        return GameError(
            f"{self.game.name!r} has no public tree: a player hides an action, or hidden information decides who acts"
        )

    def _children(self, kind: int, histories: np.ndarray, deal: int) -> list[tuple[np.ndarray, int]]:
        """Return the histories and the deal of each child of a public node."""
        records = self.game.histories[histories]
        if kind == CHANCE:
            return self._outcomes(records, deal)
        count = int(records["num_children"][0])
        self._see(kind, records["infoset"], deal)
        return [(records["first_child"] + action, deal) for action in range(count)]

    def _see(self, player: int, infosets: np.ndarray, deal: int) -> None:
        """Set a player's rows of a deal from a decision's infosets; if they are set already, check that these agree.

        Raises:
            GameError: the infosets do not distinguish the same histories as the rows.
        """
        row = np.unique(infosets, return_inverse=True)[1].reshape(-1)
        earlier_row = self.deals[deal].rows[player]
        if earlier_row is None:
            self.deals[deal].rows[player] = row
            return
        # Both distinguish the same histories if their rows correspond one to one.
        num_pairs = np.unique(np.stack([earlier_row, row]), axis=1).shape[1]
        if num_pairs != earlier_row.max() + 1 or row.max() != earlier_row.max():
            raise self._hidden()

    def _outcomes(self, records: np.ndarray, deal: int) -> list[tuple[np.ndarray, int]]:
        """Return the public outcomes at a chance node: the histories and the new deal of each."""
        counts = records["num_children"].astype(np.int64)
        origin = np.repeat(np.arange(len(records)), counts)
        children = ranges(records["first_child"], counts)
        deal_before = self.deals[deal]
        above = deal_before.settled()[origin]
        probability = deal_before.probability[origin] * self.game.probability[children]
        outcomes = []
        for group in self._public_outcomes(children):
            self.deals.append(_Deal(above[group], probability[group], [None, None]))
            outcomes.append((children[group], len(self.deals) - 1))
        return outcomes

    def _public_outcomes(self, histories: np.ndarray) -> list[np.ndarray]:
        """Split histories into the smallest groups such that no infoset has histories at or below two groups.

        All histories without decisions at or below them are in one group.

        Args:
            histories: children of a chance node's histories.

        Returns:
            The indices of each group's histories in ``histories``.
        """
        # A graph whose nodes are the given histories and all infosets. An edge joins a history to each infoset that has
        # a history at or below it.
        edge_histories = []
        edge_infosets = []
        frontier = histories
        label = np.arange(len(histories))  # which of the given histories each one is at or below
        while len(frontier):
            records = self.game.histories[frontier]
            is_decision = records["actor"] < CHANCE
            edge_histories.append(label[is_decision])
            edge_infosets.append(records["infoset"][is_decision].astype(np.int64))
            counts = np.where(self.decides[frontier], records["num_children"], 0).astype(np.int64)
            frontier = ranges(records["first_child"], counts)
            label = np.repeat(label, counts)
        # Histories without decisions are joined by one more node, which does not stand for an infoset.
        without_decisions = np.flatnonzero(~self.decides[histories])
        of_history = np.concatenate([*edge_histories, without_decisions])
        of_infoset = np.concatenate([*edge_infosets, np.full(len(without_decisions), self.game.num_infosets)])
        size = len(histories) + self.game.num_infosets + 1
        edges = (of_history, len(histories) + of_infoset)
        graph = coo_array((np.ones(len(of_history), np.int8), edges), shape=(size, size))
        component = connected_components(graph, directed=False)[1][: len(histories)]
        return [np.flatnonzero(component == group) for group in np.unique(component)]

    def settled(self) -> list[np.ndarray]:
        """Return both players' rows of each deal, (histories, 2)."""
        return [deal.settled() for deal in self.deals]

    def result(self) -> DerivedGame:
        """Return the public-tree game, with the index of each table entry's sequence in the compiled game.

        Raises:
            GameError: an infoset belongs to two public nodes.
        """
        settled = self.settled()
        deals = np.zeros(len(self.deals), DEAL)
        deals["rows"] = [rows.max(axis=0) + 1 for rows in settled]
        deals["share"] = 1.0
        # Rows are numbered deal by deal, player 0's before player 1's.
        ends = np.cumsum(deals["rows"].reshape(-1)).reshape(-1, 2)
        deals["edge"] = ends - deals["rows"]
        above = np.zeros(ends[-1, 1], np.int32)
        for deal, rows, edge in zip(self.deals, settled, deals["edge"].tolist(), strict=True):
            for player in range(2):
                # All histories of a row come from one row of the deal before, so any of them may be written last.
                above[edge[player] + rows[:, player]] = deal.above[:, player]
        kind, num_children, first_child, deal_of_node = zip(*self.nodes, strict=True)
        nodes = np.zeros(len(self.nodes), NODE)
        nodes["kind"] = kind
        nodes["num_children"] = num_children
        nodes["first_child"] = first_child
        nodes["deal"] = deal_of_node
        nodes["table"] = tables_of(nodes["kind"], nodes["num_children"], nodes["deal"], deals["rows"])
        # At terminals this sets ``table``, which the line above has set to 0.
        payoffs = self._payoffs(nodes, settled)
        return DerivedGame(check_public(self._game(nodes, deals, above, payoffs)), self.sequences(settled))

    def _payoffs(self, nodes: np.ndarray, settled: list[np.ndarray]) -> np.ndarray:
        """Return the payoff matrices of the terminals, one after another, and set in ``nodes`` where each begins.

        A matrix has, for each pair of rows, the sum over histories of chance's probability times player 0's utility.
        """
        matrices = []
        begin = 0
        for node in np.flatnonzero(nodes["kind"] == MATRIX).tolist():
            deal = int(nodes["deal"][node])
            rows = settled[deal]
            matrix = np.zeros(rows.max(axis=0) + 1)
            weighted_value = self.deals[deal].probability * self.value[self.members[node]]
            np.add.at(matrix, (rows[:, 0], rows[:, 1]), weighted_value)
            nodes["table"][node] = begin
            matrices.append(matrix.reshape(-1))
            begin += matrix.size
        return np.concatenate(matrices)

    def sequences(self, settled: list[np.ndarray]) -> np.ndarray:
        """Return, for each table entry, the index of its sequence in the compiled game.

        Args:
            settled: what :meth:`settled` returns.

        Raises:
            GameError: a sequence belongs to two entries, or to none.
        """
        tables = [np.zeros(0, np.int64)]
        for (kind, num_children, _, deal), members in zip(self.nodes, self.members, strict=True):
            if kind < CHANCE:
                rows = settled[deal][:, kind]
                first_sequence = np.zeros(rows.max() + 1, np.int64)
                first_sequence[rows] = self.game.histories["first_sequence"][members]
                tables.append((first_sequence + np.arange(num_children)[:, None]).reshape(-1))
        sequence = np.concatenate(tables)
        if len(sequence) != self.game.num_sequences or len(np.unique(sequence)) < len(sequence):
            raise self._hidden()
        return sequence

    def _game(self, nodes: np.ndarray, deals: np.ndarray, above: np.ndarray, payoffs: np.ndarray) -> PublicGame:
        """Return the game with these nodes and deals."""
        outcomes = number_outcomes(nodes)
        view = PublicView(
            nodes=nodes,
            deals=deals,
            above=above,
            weight=np.ones(len(above)),
            payoffs=payoffs,
            hand_end=np.zeros(0, np.int32),
            hands=np.zeros((0, 2), np.uint8),
            firsts=np.zeros((0, 2), np.uint8),
            group_end=np.zeros(0, np.int32),
            outcomes=outcomes,
            matches=np.zeros((0, 1), np.uint8),
            reach=np.ones(int(deals["rows"][0].sum())),
            same=np.zeros(0, np.int32),
        )
        return PublicGame(
            name=self.game.name,
            view=view,
            pair_probability=1.0,
            mass=(np.ones(1), np.ones(1)),
            utility_range=self.game.utility_range,
            depth=self.depth,
        )


def _values(game: GameTree) -> tuple[np.ndarray, np.ndarray]:
    """Return player 0's expected utility at histories after which nobody acts, and a mask of the other histories.

    Returns:
        Utilities, (histories,), which are meaningless at the other histories, and whether somebody acts at or below
        each history, (histories,).
    """
    histories = game.histories
    value = game.utility.copy()
    decides = histories["actor"] < tree_records.CHANCE
    levels = [np.zeros(1, np.int64)]
    while len(levels[-1]):
        records = histories[levels[-1]]
        counts = np.where(records["actor"] == tree_records.TERMINAL, 0, records["num_children"]).astype(np.int64)
        levels.append(ranges(records["first_child"], counts))
    for level in levels[-2::-1]:  # from the deepest one up; the last list is empty
        inner = level[histories["actor"][level] != tree_records.TERMINAL]
        if not len(inner):
            continue
        records = histories[inner]
        counts = records["num_children"].astype(np.int64)
        begin = np.cumsum(counts) - counts
        children = ranges(records["first_child"], counts)
        value[inner] = np.add.reduceat(game.probability[children] * value[children], begin)
        decides[inner] |= np.logical_or.reduceat(decides[children], begin)
    return value, decides


def derived(game: GameTree) -> DerivedGame:
    """Return the public tree of a compiled game, with a payoff matrix at each terminal.

    Raises:
        GameError: players hide more than what chance has dealt them.
    """
    return PublicTree(game).result()
