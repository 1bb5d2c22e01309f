"""Hold'em in buckets: an abstract game whose players know the betting and their own bucket histories.

A *bucket history* is the sequence of buckets that a player's hand has been in, one for each round. Players forget the
boards. So the abstract game is given by its betting and by two matrices over pairs of histories of the last round: how
often the players have them, and how much more often player 0 has the stronger hand. No board is ever dealt again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rlccfr.errors import GameError
from rlccfr.game import ZERO_SUM, Form, OpponentPayoffs
from rlccfr.games.bucket_histories.betting_lines import BettingRound
from rlccfr.games.bucket_histories.bucketing import Bucketing
from rlccfr.games.bucket_histories.form import BUCKET_HISTORIES
from rlccfr.games.bucket_histories.meetings import Meetings
from rlccfr.games.public.records import CHANCE, DOUBLE, SINGLE
from rlccfr.games.public.view import LARGE


@dataclass(frozen=True)
class Decision:
    """The table entries of one decision node of a round, for all bucket histories and betting lines.

    Attributes:
        round: the round's number, from 0.
        node: the node in the round's tree.
        player: the player who acts.
        first: first table entry.
        stride: number of entries from one history to the next.
        shape: number of histories, of actions, and of betting lines.
    """

    round: int
    node: int
    player: int
    first: int
    stride: int
    shape: tuple[int, int, int]

    def of(self, table: np.ndarray) -> np.ndarray:
        """Return the decision's entries of a table, (histories, actions, lines), as a view that may be changed."""
        # The entries of a history are (actions, lines); those of the next history begin ``stride`` entries later.
        item = table.itemsize
        strides = (self.stride * item, self.shape[2] * item, item)
        return np.lib.stride_tricks.as_strided(table[self.first :], self.shape, strides)


@dataclass(frozen=True, eq=False)
class BucketHistoryGame:
    """A hold'em game in buckets, made by :func:`rlccfr.load_game` and never changed afterwards.

    Table entries are ordered by round, player, history, decision, action and betting line.

    Attributes:
        name: the name by which it was loaded.
        full_name: the name with all parameters that matter.
        rounds: the betting of each round.
        bucketing: the buckets of all hands on all boards.
        meetings: how often bucket histories meet.
        big_blind: chips in the big blind.
    """

    name: str
    full_name: str
    rounds: tuple[BettingRound, ...]
    bucketing: Bucketing
    meetings: Meetings
    big_blind: float
    form: ClassVar[Form] = BUCKET_HISTORIES
    opponent_payoffs: ClassVar[OpponentPayoffs] = ZERO_SUM
    draws_chance: ClassVar[bool] = True
    pot: ClassVar[None] = None
    lock: ClassVar[None] = None

    @property
    def source(self) -> dict[str, str]:
        """The name by which the game is loaded again."""
        return {"name": self.full_name}

    @property
    def num_bucket_histories(self) -> tuple[int, ...]:
        """Number of bucket histories in each round."""
        return self.bucketing.num_histories

    @cached_property
    def probabilities(self) -> tuple[np.ndarray, ...]:
        """Probability of each pair of histories in each round, (histories, histories), in double precision."""
        total = self.meetings.met.sum()
        return tuple(deals / total for deals in deals_by_round(self.meetings))

    @cached_property
    def win_margins(self) -> np.ndarray:
        """Probability that player 0 has a history and wins against another one, less that it loses.

        It is (histories, histories) of the last round. The element of two histories is minus that of their exchange, so
        the same matrix serves player 1 with its own history first.
        """
        margins: np.ndarray = self.meetings.won / self.meetings.met.sum()
        return margins

    @cached_property
    def first_entries(self) -> np.ndarray:
        """First table entry of each round and player, (rounds, 2)."""
        sizes = [np.multiply(betting.columns, count) for betting, count in self._rounds_and_counts()]
        ends = np.cumsum(np.concatenate(sizes))
        return np.concatenate([[0], ends[:-1]]).reshape(-1, 2)

    def _rounds_and_counts(self) -> list[tuple[BettingRound, int]]:
        """Return each round with its number of bucket histories."""
        return list(zip(self.rounds, self.num_bucket_histories, strict=True))

    @cached_property
    def decisions(self) -> list[Decision]:
        """The decision nodes of all rounds."""
        decisions = []
        for number, (betting, num_histories) in enumerate(self._rounds_and_counts()):
            for node in np.flatnonzero(betting.nodes["kind"] < CHANCE).tolist():
                record = betting.nodes[node]
                player = int(record["kind"])
                decisions.append(
                    Decision(
                        round=number,
                        node=node,
                        player=player,
                        first=int(self.first_entries[number, player] + record["column"]),
                        stride=betting.columns[player],
                        shape=(num_histories, int(record["num_children"]), betting.num_lines),
                    )
                )
        return decisions

    @cached_property
    def num_infosets(self) -> int:
        """Number of infosets of both players."""
        return sum(count * sum(betting.num_decisions) for betting, count in self._rounds_and_counts())

    @cached_property
    def num_sequences(self) -> int:
        """Number of a table's entries: pairs of an infoset and an action."""
        return sum(count * sum(betting.columns) for betting, count in self._rounds_and_counts())

    @cached_property
    def pass_size(self) -> int:
        """Number of bucket histories that a pass for one player meets, of both players and at all public nodes."""
        return sum(2 * count * betting.num_lines * len(betting.nodes) for betting, count in self._rounds_and_counts())

    @cached_property
    def utility_range(self) -> float:
        """Largest minus smallest payoff of player 0."""
        most = max(float(np.abs(betting.fold_payoffs).max(initial=0.0)) for betting in self.rounds)
        return 2.0 * max(most, float(self.rounds[-1].pots.max()))

    @property
    def is_large(self) -> bool:
        """Whether tables are in single precision by default, and evaluating takes a while."""
        return self.num_sequences >= LARGE

    @property
    def dtype(self) -> np.dtype:
        """Type of a table's numbers by default."""
        return SINGLE if self.is_large else DOUBLE

    @cached_property
    def content_hash(self) -> str:
        """Hash of the betting, the cards and the buckets, which determine the matrices, too."""
        digest = hashlib.sha256()
        for betting in self.rounds:
            for field in betting.nodes.dtype.names or ():
                digest.update(np.ascontiguousarray(betting.nodes[field]).tobytes())
            digest.update(betting.fold_payoffs.tobytes())
            digest.update(betting.pots.tobytes())
        deck = self.bucketing.deck
        digest.update(repr((deck.ranks, deck.suits, deck.private, self.bucketing.boards.new_cards)).encode())
        for starts, first in zip(self.bucketing.starts, self.bucketing.first, strict=True):
            digest.update(np.ascontiguousarray(starts, np.int64).tobytes())
            digest.update(np.ascontiguousarray(first, np.int64).tobytes())
        return digest.hexdigest()[:16]

    def node(self, path: str) -> tuple[int, int, int]:
        """Return the decision that a path leads to: its round, its node there, and the betting line before it.

        A path has the actions of each round, with a slash after each round that is over: ``cr``, ``cc/rc/``.

        Raises:
            GameError: no player acts there.

        Examples:
            >>> import rlccfr
            >>> game = rlccfr.load_game("holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets=2)")
            >>> game.node("cc/c")
            (1, 1, 0)
        """
        line = 0
        *before, last = path.strip().split("/")
        for number, steps in enumerate(before):
            if number + 1 == len(self.rounds):
                raise self._no_node(path)
            betting = self.rounds[number]
            node = self._follow(number, steps, path)
            if betting.nodes["kind"][node] != CHANCE:
                raise self._no_node(path)
            line += int(betting.nodes["leaf"][node]) * betting.num_lines
        node = self._follow(len(before), last, path)
        if self.rounds[len(before)].nodes["kind"][node] >= CHANCE:
            raise self._no_node(path)
        return len(before), node, line

    def _follow(self, number: int, steps: str, path: str) -> int:
        """Return the node of a round's tree that some actions lead to."""
        betting = self.rounds[number]
        node = 0
        for step in steps:
            first_child = int(betting.nodes["first_child"][node])
            children = range(first_child, first_child + int(betting.nodes["num_children"][node]))
            node = next((child for child in children if betting.moves[child] == step), -1)
            if node < 0:
                raise self._no_node(path)
        return node

    def _no_node(self, path: str) -> GameError:
        """Return the error for a path that leads to no decision."""
        return GameError(
            f"nobody acts after {path!r} in {self.name!r}: give the actions f, c and r of each round, with a slash "
            "after a round that is over, as in 'cc/rc/'"
        )

    def letters(self, number: int, node: int) -> list[str]:
        """Return the letters of the actions at a node of a round's tree."""
        betting = self.rounds[number]
        first_child = int(betting.nodes["first_child"][node])
        return list(betting.moves[first_child : first_child + int(betting.nodes["num_children"][node])])

    def path(self, number: int, node: int, line: int) -> str:
        """Return the path to a node on a betting line; see :meth:`node`."""
        path = self.rounds[number].path(node)
        for earlier in reversed(range(number)):
            betting = self.rounds[earlier]
            end, line = divmod(line, betting.num_lines)
            is_end = (betting.nodes["kind"] == CHANCE) & (betting.nodes["leaf"] == end)
            path = f"{betting.path(int(np.flatnonzero(is_end)[0]))}/{path}"
        return path

    def sizes(self) -> dict[str, Any]:
        """Return the game's name and sizes; ``gigabytes_of_tables`` counts the tables of regrets and of policy sums."""
        return {
            "name": self.name,
            "bucket_histories": self.num_bucket_histories,
            "betting_lines": tuple(betting.num_lines for betting in self.rounds),
            "infosets": self.num_infosets,
            "sequences": self.num_sequences,
            "states_per_pass": self.pass_size,
            "gigabytes_of_tables": 2 * self.dtype.itemsize * self.num_sequences / 1e9,
            "big_blind": self.big_blind,
        }

    def __repr__(self) -> str:
        size = f"infosets={self.num_infosets:,}, sequences={self.num_sequences:,}"
        return f"{type(self).__name__}({self.name!r}, {size})"


def deals_by_round(meetings: Meetings) -> list[np.ndarray]:
    """Return how many deals give the players each pair of histories, for each round: (player 0's, player 1's).

    Those of an earlier round are sums over the histories that continue a pair.
    """
    deals = [meetings.met]
    opponent_rounds = meetings.above if meetings.opponent_above is None else meetings.opponent_above
    for above, opponent_above in zip(meetings.above[:0:-1], opponent_rounds[:0:-1], strict=True):
        deals.insert(0, summed_over_continuations(deals[0], _first_of_each(above), _first_of_each(opponent_above)))
    return deals


def summed_over_continuations(matrix: np.ndarray, begins: np.ndarray, opponent_begins: np.ndarray) -> np.ndarray:
    """Return a matrix over pairs of histories, summed for each pair of the round before that they continue.

    Args:
        matrix: (player 0's histories, player 1's).
        begins, opponent_begins: (histories of the round before,) the first continuation of each player's histories.
    """
    by_row = np.add.reduceat(matrix, begins, axis=0)
    sums: np.ndarray = np.add.reduceat(by_row, opponent_begins, axis=1)
    return sums


def _first_of_each(above: np.ndarray) -> np.ndarray:
    """Return the first continuation of each history of the round before; see :attr:`Meetings.above`."""
    return np.flatnonzero(np.diff(above, prepend=-1))
