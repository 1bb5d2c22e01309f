"""The public view of a compiled game, if only chance hides anything in it.

Histories belong to one public node if both players have seen the same. Outcomes of chance are told apart by both
players if no infoset of either holds histories below two of them. Actions must be seen by both.
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
    """A compiled game by its public tree.

    Attributes:
        sequence: (m,) the compiled game's sequence of each table entry.
    """

    public: PublicGame
    sequence: np.ndarray


@dataclass(eq=False)
class _Deal:
    """Histories that both players tell apart from all others, right after chance's moves.

    Attributes:
        above: (histories, 2) each player's row of the deal before.
        probability: (histories,) product of chance's probabilities on the way.
        rows: for each player (histories,) row, once a decision of theirs was met; None before.
    """

    above: np.ndarray
    probability: np.ndarray
    rows: list[np.ndarray | None]

    def settled(self) -> np.ndarray:
        """Return each player's rows, (histories, 2); a player without decisions keeps the rows of the deal before."""
        own = [self.above[:, i] if row is None else row for i, row in enumerate(self.rows)]
        return np.stack([np.unique(row, return_inverse=True)[1].reshape(-1) for row in own], axis=1)


class PublicTree:
    """The public tree of a compiled game: its nodes, and the histories that belong to each.

    Attributes:
        nodes: kind, number of children, first child and deal of each node.
        deals: what both players tell apart right after chance's moves.
        members: histories of each node, in the order of its deal.

    Raises:
        GameError: players hide more than what chance has dealt them.
    """

    def __init__(self, game: GameTree) -> None:
        self.game = game
        self.value, self.decides = _values(game)
        self.nodes: list[tuple[int, int, int, int]] = []
        self.deals = [_Deal(np.zeros((1, 2), np.int64), np.ones(1), [None, None])]
        self.members: list[np.ndarray] = []
        waiting = deque([(np.zeros(1, np.int64), 0, 0)])
        self.depth, met = 0, 1
        while waiting:
            histories, deal, depth = waiting.popleft()
            self.depth = max(self.depth, depth)
            self.members.append(histories)
            kind = self._kind(histories)
            children = [] if kind == MATRIX else self._children(kind, histories, deal)
            self.nodes.append((kind, len(children), met, deal))
            met += len(children)
            waiting.extend((child, below, depth + 1) for child, below in children)

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
        return GameError(
            f"{self.game.name!r} has no public tree: a player hides an action, or who acts depends on hidden things"
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
        """Learn a player's rows of a deal from a decision, or check that it tells the same histories apart.

        Raises:
            GameError: it does not.
        """
        row = np.unique(infosets, return_inverse=True)[1].reshape(-1)
        known = self.deals[deal].rows[player]
        if known is None:
            self.deals[deal].rows[player] = row
        elif len(np.unique(np.stack([known, row]), axis=1).T) != known.max() + 1 or row.max() != known.max():
            raise self._hidden()

    def _outcomes(self, records: np.ndarray, deal: int) -> list[tuple[np.ndarray, int]]:
        """Return the public outcomes of chance: the histories and the new deal of each."""
        counts = records["num_children"].astype(np.int64)
        origin = np.repeat(np.arange(len(records)), counts)
        children = ranges(records["first_child"], counts)
        before = self.deals[deal]
        rows, found = before.settled()[origin], []
        probability = before.probability[origin] * self.game.probability[children]
        for own in self._told_apart(children):
            self.deals.append(_Deal(rows[own], probability[own], [None, None]))
            found.append((children[own], len(self.deals) - 1))
        return found

    def _told_apart(self, histories: np.ndarray) -> list[np.ndarray]:
        """Return indices of the histories in groups that share no infoset below; those without decisions are one."""
        labels, infosets = [], []
        frontier, label = histories, np.arange(len(histories))
        while len(frontier):
            records = self.game.histories[frontier]
            acts = records["actor"] < CHANCE
            labels.append(label[acts])
            infosets.append(records["infoset"][acts].astype(np.int64))
            counts = np.where(self.decides[frontier], records["num_children"], 0).astype(np.int64)
            frontier = ranges(records["first_child"], counts)
            label = np.repeat(label, counts)
        ends = np.flatnonzero(~self.decides[histories])
        links = np.concatenate([*infosets, np.full(len(ends), self.game.num_infosets)])
        of = np.concatenate([*labels, ends])
        size = len(histories) + self.game.num_infosets + 1
        graph = coo_array((np.ones(len(of), np.int8), (of, len(histories) + links)), shape=(size, size))
        group = connected_components(graph, directed=False)[1][: len(histories)]
        return [np.flatnonzero(group == one) for one in np.unique(group)]

    def settled(self) -> list[np.ndarray]:
        """Return both players' rows of each deal, (histories, 2)."""
        return [deal.settled() for deal in self.deals]

    def result(self) -> DerivedGame:
        """Return the game with all nodes.

        Raises:
            GameError: an infoset belongs to two public nodes.
        """
        settled = self.settled()
        deals = np.zeros(len(self.deals), DEAL)
        deals["rows"] = [rows.max(axis=0) + 1 for rows in settled]
        deals["share"] = 1.0
        ends = np.cumsum(deals["rows"].reshape(-1)).reshape(-1, 2)
        deals["edge"] = ends - deals["rows"]
        above = np.zeros(ends[-1, 1], np.int32)
        for deal, rows, edge in zip(self.deals, settled, deals["edge"].tolist(), strict=True):
            for player in range(2):
                above[edge[player] + rows[:, player]] = deal.above[:, player]
        nodes = np.zeros(len(self.nodes), NODE)
        for name, column in zip(
            ("kind", "num_children", "first_child", "deal"), zip(*self.nodes, strict=True), strict=True
        ):
            nodes[name] = column
        nodes["table"] = tables_of(nodes["kind"], nodes["num_children"], nodes["deal"], deals["rows"])
        payoffs = self._payoffs(nodes, settled)
        return DerivedGame(check_public(self._game(nodes, deals, above, payoffs)), self.sequences(settled))

    def _payoffs(self, nodes: np.ndarray, settled: list[np.ndarray]) -> np.ndarray:
        """Return the matrices of the terminals, each entry summed over histories, and set their places in the nodes."""
        found, begin = [], 0
        for node in np.flatnonzero(nodes["kind"] == MATRIX).tolist():
            deal, histories = int(nodes["deal"][node]), self.members[node]
            rows = settled[deal]
            matrix = np.zeros(rows.max(axis=0) + 1)
            np.add.at(matrix, (rows[:, 0], rows[:, 1]), self.deals[deal].probability * self.value[histories])
            nodes["table"][node] = begin
            found.append(matrix.reshape(-1))
            begin += matrix.size
        return np.concatenate(found)

    def sequences(self, settled: list[np.ndarray]) -> np.ndarray:
        """Return the compiled game's sequence of each table entry.

        Args:
            settled: what the method of this name returns.

        Raises:
            GameError: a sequence belongs to two entries, or to none.
        """
        found = [np.zeros(0, np.int64)]
        for (kind, count, _, deal), members in zip(self.nodes, self.members, strict=True):
            if kind < CHANCE:
                own = settled[deal][:, kind]
                first = np.zeros(own.max() + 1, np.int64)
                first[own] = self.game.histories["first_sequence"][members]
                found.append((first + np.arange(count)[:, None]).reshape(-1))
        sequence = np.concatenate(found)
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
        )
        mass = (np.ones(1), np.ones(1))
        return PublicGame(self.game.name, view, 1.0, mass, self.game.utility_range, self.depth)


def _values(game: GameTree) -> tuple[np.ndarray, np.ndarray]:
    """Return player 0's expected utility of histories below which nobody acts, and which others there are.

    Returns:
        Utilities, (histories,), and whether somebody acts at or below each history, (histories,).
    """
    histories, value = game.histories, game.utility.copy()
    decides = histories["actor"] < tree_records.CHANCE
    levels = [np.zeros(1, np.int64)]
    while len(levels[-1]):
        records = histories[levels[-1]]
        counts = np.where(records["actor"] == tree_records.TERMINAL, 0, records["num_children"]).astype(np.int64)
        levels.append(ranges(records["first_child"], counts))
    for level in levels[-2::-1]:
        own = level[histories["actor"][level] != tree_records.TERMINAL]
        records = histories[own]
        counts = records["num_children"].astype(np.int64)
        begin, below = np.cumsum(counts) - counts, ranges(records["first_child"], counts)
        if len(own):
            value[own] = np.add.reduceat(game.probability[below] * value[below], begin)
            decides[own] |= np.logical_or.reduceat(decides[below], begin)
    return value, decides


def derived(game: GameTree) -> DerivedGame:
    """Return a compiled game by its public tree, with a matrix of payoffs at each terminal.

    Raises:
        GameError: players hide more than what chance has dealt them.
    """
    return PublicTree(game).result()
