"""Games by OpenSpiel's states: nothing is compiled, so any size will do."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyspiel

from rlccfr.errors import GameError
from rlccfr.game import Form, OpponentPayoffs
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.names import NAMED_GAMES, form_named, load_game, openspiel_name
from rlccfr.games.openspiel import big_blind_of, declared_sum, named_failures, opponent_payoffs_of, turn_based_game
from rlccfr.games.openspiel_policies import states_of
from rlccfr.games.walked.generated_form import GENERATED, PREFIX
from rlccfr.games.walked.playouts import played_out
from rlccfr.games.walked.state_walks import StateWalks

MOST_COMPILED = 1_000_000
"""Largest number of histories of a game that is also compiled, so that values of policies are exact."""


class GeneratedGame:
    """A game by OpenSpiel's states; see :class:`rlccfr.game.Game`.

    Its sizes are not known. The attributes ``num_infosets`` and ``num_sequences`` count what random playouts have met.

    Args:
        inner_name: the game's name without ``generated(...)``.

    Attributes:
        inner_name: see above.
        name, full_name: names by which :func:`rlccfr.load_game` loads the game.
        playouts: what random playouts have met; see :class:`rlccfr.games.walked.playouts.Playouts`.
        walks: the game for walks in step.
        opponent_payoffs: how player 1's payoffs follow from player 0's.
        big_blind: chips in the big blind of poker; else None.

    Raises:
        GameError: the game can't be loaded or played, has perfect information or no tensors, or breaks a claim.

    Examples:
        >>> import rlccfr
        >>> game = rlccfr.load_game("phantom_ttt", form="generated")
        >>> game.walks.num_actions, game.tree is None
        (9, True)
        >>> rlccfr.load_game("generated(kuhn)").tree.num_infosets
        12
    """

    form: Form = GENERATED
    pot: None = None
    lock: None = None

    def __init__(self, inner_name: str) -> None:
        self.inner_name = inner_name
        self.name = self.full_name = f"{PREFIX}{inner_name})"
        spiel_name = openspiel_name(inner_name)
        self.openspiel_name = spiel_name
        self.openspiel_game = _playable_game(spiel_name, inner_name)
        utility_sum = declared_sum(self.openspiel_game, inner_name)
        with named_failures(self.openspiel_game, inner_name):
            self.playouts = played_out(self.openspiel_game, inner_name, utility_sum)
            self.walks = StateWalks(self.openspiel_game, inner_name, utility_sum, self.playouts)
        self.opponent_payoffs: OpponentPayoffs = opponent_payoffs_of(self.openspiel_game, inner_name, spiel_name)
        self.big_blind: float | None = big_blind_of(self.openspiel_game)

    @property
    def source(self) -> Mapping[str, Any]:
        """What a file stores to load the game again."""
        return {"name": self.full_name}

    @cached_property
    def content_hash(self) -> str:
        """Hash of the game's kind and sizes, and of what random playouts have met; spellings of its name are alike."""
        return hashlib.sha256(f"{kind_of(self.openspiel_game)} {self.playouts.digest}".encode()).hexdigest()

    @property
    def num_infosets(self) -> int:
        """Number of infosets that random playouts have met."""
        return self.playouts.num_infosets

    @property
    def num_sequences(self) -> int:
        """Number of these infosets' actions."""
        return self.playouts.num_sequences

    @property
    def pass_size(self) -> int:
        """Stand-in for the number of histories, which is not known: the number of infosets met."""
        return self.num_infosets

    @property
    def utility_range(self) -> float:
        """Largest minus smallest payoff of player 0 that OpenSpiel declares."""
        return float(self.openspiel_game.max_utility() - self.openspiel_game.min_utility())

    @property
    def draws_chance(self) -> bool:
        """Whether playouts have met a chance node with more than one outcome."""
        return self.playouts.draws_chance

    @cached_property
    def tree(self) -> GameTree | None:
        """The compiled game, by which values of policies are exact; None if it is too large or has imperfect recall."""
        try:
            tree: GameTree = load_game(self.inner_name, max_histories=MOST_COMPILED)
        except GameError:
            return None
        return tree

    @cached_property
    def _infoset_rows(self) -> np.ndarray:
        """What the player who acts knows at each infoset of :attr:`tree`, (n,)."""
        assert self.tree is not None
        records = self.tree.histories
        decisions = np.flatnonzero(records["infoset"] >= 0)
        first_places = np.unique(records["infoset"][decisions], return_index=True)[1]
        # An infoset's first history stands for it.
        infoset_of = {int(decisions[place]): infoset for infoset, place in enumerate(first_places.tolist())}
        rows = np.empty(self.tree.num_infosets, self.walks.row_type)
        for history, state in states_of(self.tree):
            if history in infoset_of:
                rows[infoset_of[history]] = self.walks.row_of(state)
        return rows

    def tabulated(self, policies: Callable[[int, np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the probabilities of both players' policies in :attr:`tree`, (m,), which must not be None.

        Args:
            policies: function of a player, rows and their legal actions, (rows, actions), that returns policies.
        """
        assert self.tree is not None
        tree = self.tree
        numbers = np.repeat(np.arange(tree.num_infosets), np.diff(tree.view.first_sequence))
        probabilities = np.empty(tree.num_sequences)
        for player in (0, 1):
            infosets = tree.infosets_of(player)
            sequences = tree.sequences_of(player)
            rows = self._infoset_rows[infosets]
            played = policies(player, rows, self.walks.legal(rows))
            probabilities[sequences] = played[numbers[sequences] - infosets.start, tree.sequence_action[sequences]]
        return probabilities

    def sizes(self) -> dict[str, Any]:
        """Return the game's name and sizes, some of them estimated by playouts."""
        blinds = {} if self.big_blind is None else {"big_blind": self.big_blind}
        return {
            "name": self.name,
            "openspiel": self.openspiel_name,
            "infosets_met": self.num_infosets,
            "infosets_that_share_a_tensor": self.playouts.num_merged,
            "infosets_with_something_forgotten": self.playouts.num_forgetful,
            "actions": self.walks.num_actions,
            "numbers_in_a_tensor": self.walks.num_columns,
            "bytes_of_a_row": self.walks.row_type.itemsize,
            "histories_per_external_walk": self.playouts.histories_per_walk(),
            "utility_range": self.utility_range,
            **blinds,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return generated_game, (self.full_name,)

    def __copy__(self) -> GeneratedGame:
        return self

    def __deepcopy__(self, memo: Any) -> GeneratedGame:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, actions={self.walks.num_actions})"


def kind_of(game: Any) -> tuple[Any, ...]:
    """Return values that are equal for all objects of one OpenSpiel game, however its name is spelled."""
    sizes = game.num_distinct_actions(), game.information_state_tensor_size(), game.max_game_length()
    return game.get_type().short_name, *sizes, game.min_utility(), game.max_utility()


def _playable_game(spiel_name: str, name: str) -> Any:
    """Return OpenSpiel's turn-based game of a string.

    Raises:
        GameError: it can't be loaded, has perfect information, or has no information state tensors.
    """
    game = turn_based_game(spiel_name, NAMED_GAMES, name)
    kind = game.get_type()
    if kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION:
        raise GameError(
            f"{name!r} has perfect information and needs no CFR: search it, for example by OpenSpiel's minimax or MCTS"
        )
    if not (kind.provides_information_state_tensor and game.information_state_tensor_size()):
        raise GameError(f"{name!r} has no information state tensors, which networks read: choose another game")
    return game


def is_generated(name: Any) -> bool:
    """Return whether a name stands for a game by its states."""
    return isinstance(name, str) and name.startswith(PREFIX) and name.endswith(")")


def generated_game(name: str, progress: Callable[[float], None] | None = None) -> GeneratedGame:
    """Load a game by its states, such as ``generated(phantom_ttt)``.

    Args:
        name: the game's name.
        progress: not used, since loading takes some seconds at most.

    Raises:
        GameError: see :class:`GeneratedGame`.
    """
    return GeneratedGame(_inner(name))


def identity_of_generated(name: str) -> object:
    """Return a value that is equal for all names of the same game by its states."""
    return "generated", openspiel_name(_inner(name))


def _inner(name: str) -> str:
    """Return the name of the game itself.

    Raises:
        GameError: it is represented in another way than by OpenSpiel.
    """
    inner = name[len(PREFIX) : -1]
    form = form_named(inner)
    if not form.has_histories:
        raise GameError(f"{inner!r} is represented {form.title}, not in OpenSpiel: load it by that name alone")
    return inner
