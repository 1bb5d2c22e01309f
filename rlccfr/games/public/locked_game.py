"""Locks on public trees: the policy in some rows is a part of the game.

The locked game has the same tree and the same tables. In the locked rows, the lock's probabilities are used instead of
the tables', and a best response has no choice.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rlccfr.errors import GameError, PolicyError, brief
from rlccfr.games.public.cards import RANKS, SUITS
from rlccfr.games.public.ranges import HOLDEM_DECK, range_weights
from rlccfr.games.public.records import CHANCE, DOUBLE
from rlccfr.games.public.view import PublicGame, ranges
from rlccfr.locks import Fixed, Lock, distribution, is_number


class PublicLocks:
    """Reader of locks on a game with a public tree; see :class:`rlccfr.locks.LockReader`.

    A decision is named by its path. For each decision, a lock has one distribution for all private states, or a mapping
    from ranges, hands or rolls to distributions. Hands that share a row are locked together, since the game does not
    distinguish them.

    Args:
        game: the game.
    """

    def __init__(self, game: PublicGame) -> None:
        self._game = game

    def names(self, player: int) -> Iterator[str]:
        self._game.require_names()
        for node in self._game.decisions.tolist():
            if self._game.view.nodes["kind"][node] == player:
                yield self._game.path(node)

    def fixed(self, name: str, decision_policy: Any, player: int | None) -> Iterator[Fixed]:
        game = self._game
        game.require_names()
        try:
            node = game.node(name)
        except GameError as error:
            raise PolicyError(str(error)) from None
        actor = int(game.view.nodes["kind"][node])
        line = f"after {name!r}" if name else "at the root"
        if actor >= CHANCE:
            raise PolicyError(f"nobody acts {line} in {game.name!r}, so nothing can be locked there")
        if player is not None and actor != player:
            raise PolicyError(
                f"{line}, player {actor} acts, but the lock is for player {player}: leave this decision out"
            )
        num_rows = int(game.view.deals["rows"][game.view.nodes["deal"][node], actor])
        if not self._is_by_hand(node, decision_policy, line):
            yield self._fixed(node, np.arange(num_rows), decision_policy, line)
            return
        for hands, by_action in decision_policy.items():
            where = f"{line} with {brief(hands)}"
            yield self._fixed(node, self._rows(node, hands, where), by_action, where)

    def _is_by_hand(self, node: int, decision_policy: Any, line: str) -> bool:
        """Return whether a lock has a distribution for each of some hands at a decision, rather than one for all.

        In a lock's mapping, hands have distributions, and actions have numbers. A name with a value that is neither is
        taken to be an action if there is an action of that name, so that the error message names the right mistake.

        Raises:
            PolicyError: some of the names are actions, and others are hands.
        """
        if not isinstance(decision_policy, Mapping) or not decision_policy:
            return False
        actions = {*self._game.letters(node), *self._game.action_words(node)}
        by_action: list[Any] = []
        by_hand: list[Any] = []
        for name, value in decision_policy.items():
            is_distribution = isinstance(value, (Mapping, list, tuple, np.ndarray))
            is_action = is_number(value) or (name in actions and not is_distribution)
            (by_action if is_action else by_hand).append(name)
        if by_action and by_hand:
            raise PolicyError(
                f"{line}, a lock has either probabilities of actions, such as {brief(by_action[0])}, or distributions "
                f"for hands, such as {brief(by_hand[0])}, and not both"
            )
        return bool(by_hand)

    def _fixed(self, node: int, rows: np.ndarray, by_action: Any, where: str) -> Fixed:
        """Return what a lock fixes in some rows of a decision: the same distribution in each row."""
        game = self._game
        letters = game.letters(node)
        words = game.action_words(node)

        def place_of(action: Hashable) -> int | None:
            names = letters if action in letters else words
            return names.index(action) if action in names else None

        probabilities = distribution(by_action, len(letters), place_of, lambda: letters, where)
        record = game.view.nodes[node]
        stride = int(game.view.deals["rows"][record["deal"], record["kind"]])
        # A decision's entries are ordered by actions, then by rows.
        entries = int(record["table"]) + stride * np.arange(len(letters))[:, None] + rows
        return Fixed(where, entries.reshape(-1), np.repeat(probabilities, len(rows)))

    def _rows(self, node: int, text: Any, where: str) -> np.ndarray:
        """Return the rows, ascending, of private states that are named in a string.

        Raises:
            PolicyError: ``text`` is not a string, can't be read, or names no private state that the player can have.
        """
        game = self._game
        if not isinstance(text, str):
            raise PolicyError(f"{where}, hands or rolls must be given as a string, not as {brief(text)}")
        if game.private_names:
            names = game.row_names(node)
            rolls = [roll.strip() for roll in text.split(",")]
            unknown = next((roll for roll in rolls if roll not in names), None)
            if unknown is not None:
                raise PolicyError(f"{where}, nobody rolls {unknown!r}; the rolls are {', '.join(names)}")
            return np.unique([names.index(roll) for roll in rolls])
        deal = game.deal_at(node)
        deck = deal.deck
        try:
            # Ranges are written for the whole deck and two cards; hands of other decks are named one by one.
            if (deck.ranks, deck.suits, deck.private) != (len(RANKS), len(SUITS), HOLDEM_DECK.private):
                player = int(game.view.nodes["kind"][node])
                return np.unique([deal.row_named(hand.strip(), player) for hand in text.split(",")])
            weights = range_weights(text)
        except GameError as error:
            raise PolicyError(f"{where}, {error}") from None
        if not np.isin(weights, (0.0, 1.0)).all():
            raise PolicyError(f"{where}, a lock's hands have no weights: write QQ, not QQ:0.5")
        rows = deal.row_of_hand[np.flatnonzero(weights[deck.hand_numbers])]
        # Hands outside the player's range are not in the deck; hands with a card of the board have no row (-1).
        if not (rows >= 0).any():
            raise PolicyError(f"{where}, the player holds none of these hands")
        return np.unique(rows[rows >= 0])

    def of_policy(self, policy: Any, players: tuple[int, ...]) -> Iterator[Fixed]:
        game = self._game
        if policy.game.content_hash != game.content_hash:
            raise PolicyError(
                f"the lock is a policy of {policy.game.name!r}; it must be a policy of this version of {game.name!r}"
            )
        probabilities = type(policy)(game, policy.table.astype(DOUBLE)).probabilities
        kinds = game.view.nodes["kind"][game.decisions]
        for player in players:
            is_players = kinds == player
            sizes = (game.rows * game.actions)[is_players]
            entries = ranges(game.view.nodes["table"][game.decisions[is_players]], sizes)
            yield Fixed(f"by a policy of player {player}", entries, probabilities[entries])

    def of_file(self, path: Path, players: tuple[int, ...]) -> Iterator[Fixed]:
        from rlccfr.game import policy_class

        yield from self.of_policy(policy_class(self._game).load(path, self._game), players)

    @staticmethod
    def count(lock: Lock) -> int:
        tables = _LockedTables(lock)
        return int((lock.entries < tables.first + tables.rows).sum())

    @staticmethod
    def locked_game(lock: Lock) -> PublicGame:
        game: PublicGame = lock.game
        tables = _LockedTables(lock)
        view = game.view._replace(lock_start=tables.starts, lock=tables.probabilities)
        return replace(game, view=view, lock=lock)

    @staticmethod
    def completed(lock: Lock, policy: Any) -> Any:
        """See :meth:`Lock.completed`.

        A table only has to be proportional to a policy, so probabilities can be stored in it as they are.
        """
        table = policy.table.copy()
        table[lock.entries] = lock.probabilities
        return type(policy)(lock.game, table)


class _LockedTables:
    """The locked decisions of a public tree, with their probabilities in the layout that kernels read.

    Attributes:
        first, rows: (k,) for each locked entry, the first table entry and the number of rows of its decision.
    """

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        game: PublicGame = lock.game
        self._game = game
        first_entries = game.view.nodes["table"][game.decisions]
        self._place = np.searchsorted(first_entries, lock.entries, side="right") - 1
        self.first = first_entries[self._place]
        self.rows = game.rows[self._place]

    @cached_property
    def _decisions(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices of the locked decisions in ``game.decisions``, and where each one's probabilities begin and end."""
        places = np.unique(self._place)
        sizes = (self._game.rows * self._game.actions)[places]
        return places, np.cumsum(np.append(0, sizes))

    @property
    def starts(self) -> np.ndarray:
        """Index in :attr:`probabilities` of each node's first probability, (nodes,); -1 at nodes without a lock."""
        places, begin = self._decisions
        starts = np.full(self._game.num_nodes, -1)
        starts[self._game.decisions[places]] = begin[:-1]
        return starts

    @property
    def probabilities(self) -> np.ndarray:
        """The locked decisions' probabilities, one decision after another; -1 in rows that are not locked."""
        places, begin = self._decisions
        probabilities = np.full(int(begin[-1]), -1.0)
        offsets = begin[np.searchsorted(places, self._place)] + self._lock.entries - self.first
        probabilities[offsets] = self._lock.probabilities
        return probabilities
