"""Games represented by OpenSpiel's states: played through OpenSpiel without being compiled, so they may be of any size.

Small ones are compiled as well, so that values of policies are exact.
"""

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
from rlccfr.games.names import NAMED_GAMES, check_not_taken, form_named, load_game, openspiel_name
from rlccfr.games.openspiel import big_blind_of, declared_sum, named_failures, opponent_payoffs_of, turn_based_game
from rlccfr.games.openspiel_policies import states_of
from rlccfr.games.public.holdem import Holdem
from rlccfr.games.public.names import rules_of
from rlccfr.games.public.view import PUBLIC_TREE
from rlccfr.games.walked.generated_form import GENERATED, PREFIX
from rlccfr.games.walked.playouts import played_out
from rlccfr.games.walked.state_walks import StateWalks

MOST_COMPILED = 1_000_000
"""Largest number of histories of a game that is also compiled, so that values of policies are exact."""


class GeneratedGame:
    """A game represented by OpenSpiel's states; see :class:`rlccfr.game.Game`.

    The game's true sizes are not known. ``num_infosets`` and ``num_sequences`` count only what random playouts have
    met.

    Args:
        inner_name: the game's name without ``generated(...)``.

    Attributes:
        inner_name: see above.
        name, full_name: names by which :func:`rlccfr.load_game` loads the game.
        playouts: what random playouts have met; see :class:`rlccfr.games.walked.playouts.Playouts`.
        walks: the game for walks that move in step; see :class:`rlccfr.games.walked.state_walks.StateWalks`.
        opponent_payoffs: how player 1's payoffs follow from player 0's.
        big_blind: chips in the big blind of poker; else None.

    Raises:
        GameError: the game can't be loaded or played, has perfect information, has no information state tensors or
            tensors that differ within an infoset, or breaks a claim (:mod:`rlccfr.games.claims`).

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
        check_not_taken(inner_name)
        spiel_name = _openspiel_name(inner_name)
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
        """Hash of OpenSpiel's game, however its name is spelled, and of what random playouts have met."""
        return hashlib.sha256(f"{kind_of(self.openspiel_game)} {self.playouts.digest}".encode()).hexdigest()

    @property
    def num_infosets(self) -> int:
        """Number of infosets that random playouts have met."""
        return self.playouts.num_infosets

    @property
    def num_sequences(self) -> int:
        """Number of actions at the infosets that random playouts have met, added up."""
        return self.playouts.num_sequences

    @property
    def pass_size(self) -> int:
        """Number of infosets that random playouts have met; the number of histories is not known."""
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
        """The compiled game, which gives policies exact values; None if it is too large or has imperfect recall."""
        # A public tree has no histories, but OpenSpiel's string for the same game is compiled.
        is_compiled = form_named(self.inner_name).has_histories
        name = self.inner_name if is_compiled else self.openspiel_name
        try:
            tree: GameTree = load_game(name, max_histories=MOST_COMPILED)
        except GameError:
            return None
        return tree

    @cached_property
    def _infoset_rows(self) -> np.ndarray:
        """The row of the player who acts at each infoset of :attr:`tree`, (infosets,) of type ``walks.row_type``."""
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

    def player_table(self, player: int, policies: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return a player's probability of each of its sequences in :attr:`tree`; ``tree`` must not be None.

        Args:
            player: the player.
            policies: function ``(rows, legal)`` that returns the probabilities of actions, (rows, actions). ``legal``,
                (rows, actions), says which actions are legal.
        """
        assert self.tree is not None
        tree = self.tree
        numbers = np.repeat(np.arange(tree.num_infosets), np.diff(tree.view.first_sequence))
        infosets = tree.infosets_of(player)
        sequences = tree.sequences_of(player)
        rows = self._infoset_rows[infosets]
        played = policies(rows, self.walks.legal(rows))
        probabilities: np.ndarray = played[numbers[sequences] - infosets.start, tree.sequence_action[sequences]]
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


def same_games(first: Any, second: Any) -> bool:
    """Return whether two of OpenSpiel's games are the same, however their names are spelled."""
    return kind_of(first) == kind_of(second) and first.get_parameters() == second.get_parameters()


def kind_of(game: Any) -> tuple[Any, ...]:
    """Return the kind, the sizes and the range of payoffs of one of OpenSpiel's games; other games may share them."""
    sizes = game.num_distinct_actions(), game.information_state_tensor_size(), game.max_game_length()
    return game.get_type().short_name, *sizes, game.min_utility(), game.max_utility()


def _playable_game(spiel_name: str, name: str) -> Any:
    """Return the turn-based OpenSpiel game that a string stands for.

    Args:
        spiel_name: the OpenSpiel string.
        name: the game's name, for errors.

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
        raise GameError(
            f"{name!r} has no information state tensors, which networks read: load the game without generated(...), "
            "or, in a game of your own, provide the tensors"
        )
    return game


def generated_game(name: str, progress: Callable[[float], None] | None = None) -> GeneratedGame:
    """Load a game that is represented by OpenSpiel's states, such as ``generated(phantom_ttt)``.

    Args:
        name: the game's name.
        progress: not used, since loading takes some seconds at most.

    Raises:
        GameError: see :class:`GeneratedGame`.
    """
    return GeneratedGame(_inner(name))


def identity_of_generated(name: str) -> object:
    """Return a value that is equal for all names ``generated(...)`` of the same game."""
    return "generated", _openspiel_name(_inner(name))


def _inner(name: str) -> str:
    """Return the name inside ``generated(...)``."""
    return name[len(PREFIX) : -1]


def _openspiel_name(inner_name: str) -> str:
    """Return the string by which OpenSpiel loads the game with a name; hold'em is one of OpenSpiel's games, too.

    Raises:
        GameError: OpenSpiel has no such game.
    """
    form = form_named(inner_name)
    if form.has_histories:
        return openspiel_name(inner_name)
    rules = rules_of(inner_name) if form is PUBLIC_TREE else None
    if isinstance(rules, Holdem):
        return rules.openspiel_name()
    raise GameError(
        f"OpenSpiel can't play {inner_name!r}, which is represented {form.title}: load it by that name alone, without "
        "generated(...)"
    )
