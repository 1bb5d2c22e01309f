"""Hold'em in buckets: an abstract game whose players know the betting and their own bucket histories.

A *bucket history* is the sequence of buckets that a player's hand has been in, one for each round. Players forget the
boards. So the abstract game is given by its betting and by two matrices over pairs of histories of the last round: how
often the players have them, and how much more often player 0 has the stronger hand. Once these are known, exact passes
need no boards.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rlccfr.errors import GameError, brief
from rlccfr.game import ZERO_SUM, Form, OpponentPayoffs
from rlccfr.games.bucket_histories.betting_lines import BettingRound
from rlccfr.games.bucket_histories.boards import Progress
from rlccfr.games.bucket_histories.bucketing import Bucketing
from rlccfr.games.bucket_histories.form import BUCKET_HISTORIES
from rlccfr.games.bucket_histories.meetings import PairMatrices, meetings_of
from rlccfr.games.public.cards import action_in_words
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
        big_blind: chips in the big blind.
    """

    name: str
    full_name: str
    rounds: tuple[BettingRound, ...]
    bucketing: Bucketing
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
    def _matrices(self) -> dict[np.dtype, PairMatrices]:
        return {}

    def matrices(self, dtype: np.dtype, progress: Progress | None = None) -> PairMatrices:
        """Return the probabilities of pairs of bucket histories, and the margins by which player 0 wins.

        They are computed once for each type. Both players have the same buckets, so the margins are antisymmetric, and
        the same matrices serve player 1 with its own histories as the rows.

        Args:
            dtype: type of their numbers.
            progress: function called repeatedly with the share of all deals that have been counted.

        Raises:
            GameError: they do not fit into memory.
        """
        if dtype not in self._matrices:
            self._matrices[dtype] = meetings_of(self.bucketing, progress).matrices(dtype)
        return self._matrices[dtype]

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
        return count_infosets(self.rounds, self.num_bucket_histories)

    @cached_property
    def num_sequences(self) -> int:
        """Number of a table's entries: pairs of an infoset and an action."""
        return count_sequences(self.rounds, self.num_bucket_histories)

    @cached_property
    def pass_size(self) -> int:
        """Number of bucket histories that a pass for one player meets: both players', summed over all public nodes."""
        return count_states(self.rounds, self.num_bucket_histories)

    @cached_property
    def utility_range(self) -> float:
        """Largest minus smallest payoff of player 0."""
        most = max(float(np.abs(betting.fold_payoffs).max(initial=0.0)) for betting in self.rounds)
        return 2.0 * max(most, float(self.rounds[-1].pots.max()))

    @property
    def is_large(self) -> bool:
        """Whether the game is so large that tables are in single precision by default, and evaluations take a while."""
        return self.num_sequences >= LARGE

    @property
    def dtype(self) -> np.dtype:
        """Type of a table's numbers by default."""
        return type_of_tables(self.num_sequences)

    def has_cards_and_betting_of(self, other: BucketHistoryGame) -> bool:
        """Return whether another game has the same cards and betting, so that policies of both can play each other."""
        same_cards = self.bucketing.boards == other.bucketing.boards
        return same_cards and self._digest_of_betting().digest() == other._digest_of_betting().digest()

    def _digest_of_betting(self) -> hashlib._Hash:
        """Return a digest of the rounds' trees and payoffs."""
        digest = hashlib.sha256()
        for betting in self.rounds:
            for field in betting.nodes.dtype.names or ():
                digest.update(np.ascontiguousarray(betting.nodes[field]).tobytes())
            digest.update(betting.fold_payoffs.tobytes())
            digest.update(betting.pots.tobytes())
        return digest

    @cached_property
    def content_hash(self) -> str:
        """Hash of the betting, the cards and the buckets, which also determine the matrices."""
        digest = self._digest_of_betting()
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
        *before, last = _checked_path(path).strip().split("/")
        for number, steps in enumerate(before):
            # The last round ends with a showdown, so nothing may follow it.
            if number + 1 == len(self.rounds):
                raise self._no_node(path)
            betting = self.rounds[number]
            node = self._follow(number, steps, path)
            if betting.nodes["kind"][node] != CHANCE:
                raise self._no_node(path)
            # A line's number is made of the end of this round and the line before the round; see :meth:`path`.
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
            node = next((child for child in betting.children(node) if betting.moves[child] == step), -1)
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
        return [betting.moves[child] for child in betting.children(node)]

    def path_in_words(self, path: str) -> str:
        """Return a path in words.

        Examples:
            >>> import rlccfr
            >>> game = rlccfr.load_game("holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets=2)")
            >>> game.path_in_words("rc/"), game.path_in_words("")
            ('raise, call; round 2', 'the start')
        """
        rounds = []
        for number, steps in enumerate(path.split("/")):
            node = 0
            words = []
            for step in steps:
                letters = self.letters(number, node)
                words.append(action_in_words(step, can_fold="f" in letters))
                node = self.rounds[number].children(node)[letters.index(step)]
            actions = ", ".join(words)
            rounds.append(f"round {number + 1}: {actions}".removesuffix(": ") if number else actions)
        return "; ".join(rounds) or "the start"

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
        return sizes_of(self.name, self.rounds, self.num_bucket_histories, self.big_blind)

    def __repr__(self) -> str:
        size = f"infosets={self.num_infosets:,}, sequences={self.num_sequences:,}"
        return f"{type(self).__name__}({self.name!r}, {size})"


def count_infosets(rounds: Sequence[BettingRound], histories: Sequence[int]) -> int:
    """Return the number of infosets of both players.

    Args:
        rounds: the betting of each round.
        histories: number of bucket histories in each round.
    """
    return sum(count * sum(betting.num_decisions) for betting, count in zip(rounds, histories, strict=True))


def count_sequences(rounds: Sequence[BettingRound], histories: Sequence[int]) -> int:
    """Return the number of a table's entries; for the arguments see :func:`count_infosets`."""
    return sum(count * sum(betting.columns) for betting, count in zip(rounds, histories, strict=True))


def count_states(rounds: Sequence[BettingRound], histories: Sequence[int]) -> int:
    """Return the number of bucket histories that a pass meets; see :attr:`BucketHistoryGame.pass_size`."""
    counted = zip(rounds, histories, strict=True)
    return sum(2 * count * betting.num_lines * len(betting.nodes) for betting, count in counted)


def sizes_of(name: str, rounds: Sequence[BettingRound], histories: Sequence[int], big_blind: float) -> dict[str, Any]:
    """Return a game's name and sizes; for the arguments see :func:`count_infosets`."""
    num_sequences = count_sequences(rounds, histories)
    return {
        "name": name,
        "bucket_histories": tuple(histories),
        "betting_lines": tuple(betting.num_lines for betting in rounds),
        "infosets": count_infosets(rounds, histories),
        "sequences": num_sequences,
        "states_per_pass": count_states(rounds, histories),
        "gigabytes_of_tables": 2 * type_of_tables(num_sequences).itemsize * num_sequences / 1e9,
        "big_blind": big_blind,
    }


def type_of_tables(num_sequences: int) -> np.dtype:
    """Return the type of a table's numbers by default: single precision if there are many."""
    return SINGLE if num_sequences >= LARGE else DOUBLE


def _checked_path(path: str) -> str:
    """Return the argument, which must be a string.

    Raises:
        GameError: it is not.
    """
    if not isinstance(path, str):
        raise GameError(f"a path must be a string such as 'cc/rc/', not {brief(path)}")
    return path


def split_path(path: str) -> tuple[str, list[str]]:
    """Split a path with cards into its actions and the cards dealt before each round after the first.

    Raises:
        GameError: the path is not a string.

    Examples:
        >>> split_path("cc/7h5d2c/rc/Ks/")
        ('cc/rc/', ['7h5d2c', 'Ks'])
    """
    parts = _checked_path(path).strip().split("/")
    return "/".join(parts[::2]), parts[1::2]
