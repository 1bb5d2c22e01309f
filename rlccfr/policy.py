"""Behaviour policies of both players, and their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from rlccfr.errors import PolicyError, whole_number
from rlccfr.game import checked_game
from rlccfr.games.flat_tree import GameTree

if TYPE_CHECKING:
    import pandas as pd

    from rlccfr.policies.matches import Match


ROUNDING = 1e-12
"""How far rounding errors may take a NashConv below 0, as a multiple of the largest best-response value (at least 1).
"""

SUM_ROUNDING = 1e-12
"""How far the sum of an infoset's probabilities may be from 1 before they are normalised."""

MOST_BOT_SEED = 2**32 - 1
"""Largest seed of the random numbers of OpenSpiel's bots."""

EXACT = 1e-15
"""An exploitability of at most this share of the range of payoffs is 0 up to rounding.

Logarithmic axes begin at this number.
"""


def nash_conv_of(first: float, second: float) -> float:
    """Return NashConv, the sum of the values of both players' best responses; a negative rounding error becomes 0.

    The values of the policy itself need not be subtracted, since they add up to 0 in a zero-sum game.
    """
    nash_conv = first + second
    least = -ROUNDING * max(1.0, abs(first), abs(second))
    return 0.0 if least < nash_conv < 0 else nash_conv


class Values(NamedTuple):
    """Values of a policy, one per player, in the zero-sum game in which player 1 loses what player 0 gets.

    If the game itself is not zero-sum, the attribute ``opponent_payoffs`` of the game has player 1's own payoffs.

    Attributes:
        game: value of the policy against itself, to each player, in the game's units.
        best_response: each player's value of a best response to the opponent's policy, in the game's units.
        gains: what each player gains by a best response to the opponent's policy, in units of player 0's payoffs.
        nash_conv: sum of both players' gains from best responses; 0 in a Nash equilibrium. A large constant in all
            payoffs costs neither this nor ``gains`` any precision, but it costs ``game`` and ``best_response`` some.
    """

    game: tuple[float, float]
    best_response: tuple[float, float]
    gains: tuple[float, float]
    nash_conv: float

    @classmethod
    def of(cls, value: float, first: float, second: float, centre: float = 0.0) -> Values:
        """Return the values of a policy.

        Args:
            value: the policy's value to player 0.
            first: value of a best response of player 0.
            second: value of a best response of player 1.
            centre: constant in all payoffs to player 0 that the three values leave out.
        """
        return cls(
            game=(value + centre, -(value + centre)),
            best_response=(first + centre, second - centre),
            gains=(first - value, second + value),
            nash_conv=nash_conv_of(first, second),
        )

    @property
    def exploitability(self) -> float:
        """NashConv / 2, in the game's units."""
        return self.nash_conv / 2


class StateGain(NamedTuple):
    """What a player gains at one of its states by a best response; see :meth:`Policy.gains_by_state`.

    Attributes:
        player: 0 or 1, the player who acts there.
        text: OpenSpiel's information state string of the state; in a public-tree game, the path of public actions and
            cards, which both players know.
        words: the content of ``text``, in words that are easy to read.
        gain: what the player gains there, in units of player 0's payoffs.
    """

    player: int
    text: str
    words: str
    gain: float


@cache
def _evaluation() -> Any:
    """Return the evaluation module, imported at first use because it loads Numba.

    The module is cached, because Python is slow to look it up again.
    """
    from rlccfr.engine import evaluation

    return evaluation


class Policy:
    """Action probabilities of both players at every infoset of a compiled game.

    Args:
        game: the compiled game.
        probabilities: shape (game.num_sequences,) array, which sums to 1 over each infoset's sequences; the numbers
            are copied, and normalised if they were rounded.

    Attributes:
        game: the compiled game.
        probabilities: (m,) float64, probability of the last action of each of the game's m sequences.

    Raises:
        PolicyError: the shape is wrong, or the numbers are not probabilities.

    Examples:
        >>> import rlccfr
        >>> game = rlccfr.load_game("kuhn")
        >>> policy = rlccfr.Policy.uniform(game)
        >>> round(policy.exploitability(), 4)
        0.4583
        >>> policy.to_frame().head(2)
           player infoset  action  probability
        0       0       0       0          0.5
        1       0       0       1          0.5
    """

    draws_ranges: ClassVar[bool] = False
    """Whether ``plot_range`` can draw what a player does with each hand or roll."""
    plays_other_games: ClassVar[bool] = False
    """Whether the opponent's policy may be for another game, one with the same cards in other buckets."""

    def __init__(self, game: GameTree, probabilities: npt.ArrayLike):
        checked_game(game)
        self.game = game
        try:
            self.probabilities = np.array(probabilities, np.float64, order="C")
        except (TypeError, ValueError):
            raise PolicyError(f"a policy of {game.name!r} must be an array of numbers") from None
        if self.probabilities.shape != (game.num_sequences,):
            shape = self.probabilities.shape
            raise PolicyError(f"a policy of {game.name!r} must have the shape ({game.num_sequences},), not {shape}")
        game.check_policy(self.probabilities)
        # Values of best responses are exact only for sums of 1. Numbers that were rounded for a file sum to nearly 1.
        if np.abs(game.row_sums(self.probabilities) - 1.0).max(initial=0.0) > SUM_ROUNDING:
            self.probabilities = game.normalised(self.probabilities)

    @classmethod
    def are_values_known(cls, game: Any) -> bool:
        """Return whether values and exploitability can be computed in a game; False if the game is too large."""
        return True

    @property
    def has_values(self) -> bool:
        """Whether the policy's values and exploitability can be computed; see :meth:`are_values_known`."""
        return self.are_values_known(self.game)

    @classmethod
    def uniform(cls, game: GameTree) -> Policy:
        """Return the policy that takes all legal actions with the same probability."""
        checked_game(game)
        return cls(game, game.uniform_policy())

    @classmethod
    def from_sums(cls, game: GameTree, sums: np.ndarray) -> Policy:
        """Return the policy proportional to ``sums``, shape (m,); it is uniform at infosets whose sums are 0."""
        return cls(game, game.normalised(sums))

    @classmethod
    def from_openspiel(cls, game: GameTree, policy: Any) -> Policy:
        """Convert a policy of OpenSpiel's to this library's class, to measure or compare it.

        Args:
            game: the compiled game.
            policy: one of OpenSpiel's forms:

                - an object of its C++ side, such as ``solver.average_policy()`` of a ``pyspiel.CFRSolver``; the solver
                  must still exist, because OpenSpiel's policy reads its tables;
                - an ``open_spiel.python.policy.Policy``, or any object with its method ``action_probabilities``; a
                  policy of a simultaneous game is accepted, too;
                - a function from a state to a dict ``{action: probability}``, or to pairs ``(action, probability)``;
                - a mapping from each information state to such a dict, to such pairs, or to one action;
                - a list of two policies in such forms, for player 0 and for player 1: best responses and the solutions
                  of OpenSpiel's linear programs cover only one player's states.

        Raises:
            TypeError: ``game`` does not come from :func:`rlccfr.load_game`.
            PolicyError: the policy does not know the game's states, fails, or gives numbers that are not probabilities.
        """
        from rlccfr.games.flat_tree import checked_tree
        from rlccfr.games.policy_reader import from_openspiel

        return cls(game, from_openspiel(checked_tree(game, "a policy of OpenSpiel's"), policy))

    def __repr__(self) -> str:
        size = f"infosets={self.game.num_infosets:,}, sequences={self.game.num_sequences:,}"
        return f"{type(self).__name__}({self.game.name!r}, {size})"

    @property
    def tabulated(self) -> Policy:
        """The policy as a table over infosets; a policy given by networks is converted to one."""
        return self

    def values(self) -> Values:
        """Return the exact values of the policy and of best responses to it."""
        centre, value, first, second = self._centred_values()
        return Values.of(value, first, second, centre)

    def against(self, other: Policy) -> Match:
        """Return the exact expected payoffs of this policy against another one, in both seats.

        >>> import rlccfr
        >>> uniform = rlccfr.Policy.uniform(rlccfr.load_game("kuhn"))
        >>> uniform.against(uniform).seats
        (0.125, -0.125)

        Policies of hold'em in different numbers of buckets can play each other.

        Raises:
            PolicyError: the other policy is for another game, or another version of the game.
        """
        from rlccfr.policies.matches import exact_match

        return exact_match(self, other)

    def best_response(self, player: int | None = None) -> Policy:
        """Return a best response to the policy, as a policy.

        Of equally good actions, the response takes the first. At infosets that the opponent and chance never reach, all
        actions are equally good, so the response takes the first one there.

        Args:
            player: the player who responds, 0 or 1; the other player keeps this policy, so that the values of the
                returned policy are those of the response. By default, both players respond to this policy.

        >>> import rlccfr
        >>> policy = rlccfr.Policy.uniform(rlccfr.load_game("kuhn"))
        >>> [round(value, 4) for value in policy.values().best_response]
        [0.5, 0.4167]
        >>> policy.best_response(0).values().game
        (0.5, -0.5)

        Raises:
            PolicyError: there is no such player.
        """
        if player not in (None, 0, 1):
            raise PolicyError(f"player must be 0, 1, or None for both, not {player!r}")
        response = self._best_responses()
        if player is None:
            return response
        return response.seated_with(self) if player == 0 else self.seated_with(response)

    def _best_responses(self) -> Policy:
        """Return the policy of both players' best responses to this one."""
        return type(self)(self.game, _evaluation().best_responses_to(self.game, self.probabilities))

    def gains_by_state(self, most: int | None = None) -> list[StateGain]:
        """Return where each player would gain by a best response to the opponent's policy, the largest gains first.

        A player's gain at a state is what its policy loses by its choice of actions there, compared with the best
        actions. The player comes to the state by its own policy, and plays a best response after it. A player's gains
        sum to its entry of ``values().gains``. States are infosets, public nodes in games with a public tree, or paths
        of actions in hold'em in buckets (:mod:`rlccfr.policies.gains`).

        Args:
            most: largest number of states to return; by default all.

        Raises:
            GameError: the game's form has no such gains.
            PolicyError: the game's private states have no names, or ``most`` is not a positive whole number.

        Examples:
            >>> import rlccfr
            >>> policy = rlccfr.Policy.uniform(rlccfr.load_game("kuhn"))
            >>> [(gain.player, gain.text, round(gain.gain, 4)) for gain in policy.gains_by_state(2)]
            [(1, '2b', 0.25), (0, '2pb', 0.125)]
            >>> round(sum(gain.gain for gain in policy.gains_by_state()) / 2, 4)
            0.4583
        """
        if most is not None:
            whole_number(most, "most", 1, PolicyError)
        largest: list[StateGain] = self.game.form.part("gains")(self).largest(most)
        return largest

    def value_against(self, other: Policy, progress: Callable[[float], None] | None = None) -> float:
        """Return player 0's expected payoff if it plays this policy, and player 1 another one.

        Args:
            other: player 1's policy.
            progress: function called repeatedly with the fraction done, where the computation takes long.

        Raises:
            PolicyError: the other policy is for another game, or another version of the game.
        """
        from rlccfr.policies.matches import check_same_game

        check_same_game(self, other.tabulated)
        return self.seated_with(other.tabulated).values().game[0]

    def require_plays(self, game: Any) -> None:
        """Check that the policy can play a game: its own, or another one if :attr:`plays_other_games`.

        Raises:
            PolicyError: it can't.
        """
        if self.game is not game and self.game.content_hash != game.content_hash:
            raise PolicyError(
                f"a policy of {self.game.name!r} can't play {game.name!r}: name a policy of that game, or play this "
                "policy's game"
            )

    def unlocked(self) -> Policy:
        """Return a policy of a locked game as a policy of the unlocked game, which follows the lock where it applies.

        A policy of a game without a lock is returned as it is; see :mod:`rlccfr.locks`.
        """
        lock = self.game.lock
        if lock is None:
            return self
        policy: Policy = lock.completed(self)
        return policy

    def seated_with(self, other: Policy) -> Policy:
        """Return the policy that plays like this one in player 0's seat, and like ``other`` in player 1's seat.

        Raises:
            PolicyError: the policies are for different games.
        """
        from rlccfr.policies.matches import check_same_game

        check_same_game(self, other)
        probabilities = other.probabilities.copy()
        sequences = self.game.sequences_of(0)
        probabilities[sequences] = self.probabilities[sequences]
        return type(self)(self.game, probabilities)

    def nash_conv(self) -> float:
        """Return the sum of both players' gains from best responses, in the game's units."""
        _, _, first, second = self._centred_values()
        return nash_conv_of(first, second)

    def exploitability(self) -> float:
        """Return NashConv / 2, in the game's units."""
        return self.nash_conv() / 2

    def _centred_values(self) -> tuple[float, float, float, float]:
        """Return a constant that is subtracted from all payoffs, and three values of the policy after the subtraction.

        The three are the policy's value to player 0, and the values of player 0's and player 1's best responses. They
        are more precise without the constant.
        """
        return _evaluation().centred_values(self.game, self.probabilities)  # type: ignore[no-any-return]

    def to_openspiel(self) -> Any:
        """Return an ``open_spiel.python.policy.Policy`` whose ``game`` is the turn-based game.

        A policy of a locked game follows the lock where it applies. If recall was restored (as in ``royal``), OpenSpiel
        reports a different exploitability, because its best responses lack the restored recall.
        """
        from rlccfr.games.openspiel_policies import to_openspiel

        policy = self.unlocked()
        return to_openspiel(policy.game, policy.probabilities)

    def to_bot(self, player: int, seed: int = 0) -> Any:
        """Return a bot that plays the policy, for OpenSpiel's tournaments and evaluators.

        Args:
            player: the seat that the bot takes, 0 or 1.
            seed: seed of its draws.

        Raises:
            PolicyError: there is no such player, the seed is not a whole number of at least 0, or the game is not
                OpenSpiel's.

        >>> import rlccfr
        >>> policy = rlccfr.Policy.uniform(rlccfr.load_game("kuhn"))
        >>> bot = policy.to_bot(player=0)
        >>> type(bot).__name__, bot.player_id()
        ('PolicyBot', 0)
        """
        if player not in (0, 1):
            raise PolicyError(f"player must be 0 or 1, not {player!r}")
        whole_number(seed, "seed", 0, PolicyError)
        if seed > MOST_BOT_SEED:
            raise PolicyError(f"the seed of a bot must be at most {MOST_BOT_SEED:,}, not {seed:,}")
        from open_spiel.python.bots.policy import PolicyBot

        return PolicyBot(player, np.random.RandomState(seed), self.to_openspiel())

    def save(self, path: str | Path) -> None:
        """Write the policy to a file, whole or not at all, in the format of its suffix: .csv, .json, .npz or .efg.

        CSV and JSON give OpenSpiel's name of each action beside its number. A Gambit file, .efg, has the game itself,
        and the policy in its comment. :meth:`load` reads back the same probabilities.

        Raises:
            RLCCFRError: the suffix does not name a format.
            CheckpointError: the file can't be written.
        """
        from rlccfr.policies.policy_file import save_policy

        save_policy(self.unlocked(), Path(path))

    @classmethod
    def check_path(cls, path: Path, game: GameTree) -> None:
        """Check that a policy of a game can be written to a path.

        Raises:
            RLCCFRError: the suffix does not name a format, or the game is not stored as a tree of histories.
        """
        from rlccfr.games.flat_tree import checked_tree
        from rlccfr.policies.policy_file import checked_path

        checked_tree(game, "a file of its policy")
        checked_path(path)

    @classmethod
    def load(cls, path: str | Path, game: GameTree | None = None) -> Policy:
        """Read a saved policy.

        Args:
            path: file whose suffix names its format; see :meth:`save`.
            game: the compiled game that the policy is for; by default it is loaded by the name in the file.

        Raises:
            RLCCFRError: the suffix does not name a format.
            TypeError: ``game`` is not a compiled game.
            CheckpointError: the file is missing or damaged, or its policy is for another game or version of the game.
            GameError: the game that the file names can't be loaded.
            PolicyError: the numbers are not probabilities.
        """
        from rlccfr.policies.policy_file import load_policy

        return load_policy(Path(path), cls, game)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per infoset and action: player, infoset, action, probability.

        ``infoset`` is OpenSpiel's information state string, and ``action`` is OpenSpiel's number of the action.
        """
        import pandas as pd

        counts = np.diff(self.game.view.first_sequence)
        infoset = np.repeat(np.arange(self.game.num_infosets), counts)
        return pd.DataFrame(
            {
                "player": (infoset >= self.game.view.infoset_begin[1]).astype(int),
                "infoset": [self.game.infoset_keys[i] for i in infoset],
                "action": self.game.sequence_action,
                "probability": self.probabilities,
            }
        )
