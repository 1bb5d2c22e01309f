"""Policies of both players in hold'em in buckets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rlccfr.errors import GameError, PolicyError, brief, whole_number
from rlccfr.games.bucket_histories.game import BucketHistoryGame, Decision, split_path
from rlccfr.policies.matches import check_same_game
from rlccfr.policies.table_policy import TablePolicy, shares_of
from rlccfr.policy import Policy

if TYPE_CHECKING:
    import pandas as pd

ALL = slice(None)
"""Index of all bucket histories, or of all betting lines."""


class LowerBound(NamedTuple):
    """An estimate of a lower bound on a policy's exploitability, in the game's units.

    Attributes:
        value: the estimate, which is the mean of ``gains``.
        error: half-width of its 95 % interval.
        gains: for each drawn flop, the mean of the two players' gains by best responses below it.
    """

    value: float
    error: float
    gains: tuple[float, ...]


class BucketHistoryPolicy(TablePolicy):
    """A policy of both players in hold'em in buckets; see :class:`rlccfr.policies.table_policy.TablePolicy`.

    Examples:
        >>> import rlccfr
        >>> game = rlccfr.load_game("holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets=2)")
        >>> solver = rlccfr.Solver(game, "dcfr_plus")
        >>> solver.run(iterations=1000).exploitability < 1e-3
        True
        >>> solver.average_policy().action_probabilities("c", 0)["r"] < 0.5  # with the weaker bucket
        True
    """

    game: BucketHistoryGame
    plays_other_games: ClassVar[bool] = True

    @cached_property
    def probabilities(self) -> np.ndarray:  # type: ignore[override]
        """Action probabilities, (m,), in the order of the game's tables."""
        probabilities = np.empty_like(self.table)
        for decision in self.game.decisions:
            decision.of(probabilities)[:] = self.shares(decision)
        return probabilities

    def at(self, number: int, node: int, history: int) -> np.ndarray:
        """Return the action probabilities at a decision with a bucket history, (actions, betting lines).

        Args:
            number: the round's number, from 0.
            node: the decision in the round's tree; see :meth:`BucketHistoryGame.node`.
            history: index of the player's bucket history in that round.

        Raises:
            PolicyError: there is no such decision or history.
        """
        decision = next((d for d in self.game.decisions if (d.round, d.node) == (number, node)), None)
        if decision is None:
            raise PolicyError(
                f"nobody acts at node {brief(node)} of round {brief(number)}: game.node('cc/rc/') returns a decision's "
                "round and node"
            )
        num_histories = self.game.num_bucket_histories[number]
        if whole_number(history, "the bucket history", 0, PolicyError) >= num_histories:
            raise PolicyError(f"the bucket history must be from 0 to {num_histories - 1}, not {history}")
        probabilities: np.ndarray = self.shares(decision, slice(history, history + 1))[0]
        return probabilities

    def shares(
        self, decision: Decision, histories: slice | list[int] = ALL, lines: slice | list[int] = ALL
    ) -> np.ndarray:
        """Return the action probabilities of some bucket histories and betting lines, (histories, actions, lines)."""
        return shares_of(decision.of(self.table)[histories][:, :, lines])

    def action_probabilities(self, path: str, private: int | str) -> dict[str, float]:
        """Return a player's policy at a decision: the probability of each action, keyed by its letter.

        Args:
            path: the actions that lead to the decision; if a hand is given, also the cards dealt between them.
            private: the hand, such as ``AsKs``, or the index of the player's bucket history in that round.

        Raises:
            GameError: no player acts there, or the hand and the board can't be dealt.
            PolicyError: there is no such history.

        Examples:
            >>> import rlccfr
            >>> game = rlccfr.load_game("holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets=2)")
            >>> policy = rlccfr.BucketHistoryPolicy.uniform(game)
            >>> policy.action_probabilities("cc/c", 0)
            {'c': 0.5, 'r': 0.5}
            >>> policy.action_probabilities("cc/5d/c", "2c") == policy.action_probabilities("cc/c", 0)
            True
        """
        number, node, line, history = self.place(path, private)
        probabilities = self.at(number, node, history)[:, line]
        return dict(zip(self.game.letters(number, node), probabilities.tolist(), strict=True))

    def place(self, path: str, private: int | str) -> tuple[int, int, int, int]:
        """Return where a decision lies: its round, its node there, the betting line before it, the bucket history.

        Args:
            path, private: see :meth:`action_probabilities`.

        Raises:
            GameError: no player acts there, or the hand and the board can't be dealt.
        """
        game = self.game
        if isinstance(private, str):
            actions, board = split_path(path)
            try:
                number, node, line = game.node(actions)
            except GameError:
                raise GameError(
                    f"nobody acts after {path!r} in {game.name!r}: if you give a hand, the path must also contain the "
                    "cards dealt after each round, as in 'cc/7h5d2c/r'"
                ) from None
            if len(board) != number:
                raise GameError(
                    f"{path!r} has the cards of {len(board)} deals, but {number} come before the decision: give the "
                    "cards of each round between slashes, as in 'cc/7h5d2c/r'"
                )
            return number, node, line, game.bucketing.history_named(private, board)
        return *game.node(path), private

    def _best_responses(self) -> BucketHistoryPolicy:
        """See :meth:`Policy._best_responses`."""
        from rlccfr.engine.bucket_histories.stepper import sweeps_of

        return type(self)(self.game, sweeps_of(self.game, self.table.dtype).responses(self.table))

    def card_exploitability(
        self, boards: int = 10, seed: int = 0, progress: Callable[[float], None] | None = None
    ) -> LowerBound:
        """Estimate a lower bound on the policy's exploitability by opponents that use their real cards.

        ``exploitability()`` assumes opponents that know only their bucket histories. Here, boards of the second round
        (flops) are drawn. Below each of them, both players' best responses, which depend on the hand and the board, are
        computed; before the flop, the responding player follows the policy. With the cards of Texas hold'em, a flop
        takes some minutes.

        Args:
            boards: number of flops to draw, at least 2.
            seed: seed of the draws.
            progress: function called with the fraction of boards that is done.

        Raises:
            PolicyError: the game has only one round, ``boards`` is not a whole number of at least 2, or ``seed`` is not
                a whole number of at least 0.

        Examples:
            >>> import rlccfr
            >>> game = rlccfr.load_game("holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets=2)")
            >>> bound = rlccfr.BucketHistoryPolicy.uniform(game).card_exploitability(boards=5)
            >>> bound.value > bound.error > 0
            True
        """
        whole_number(boards, "boards", 2, PolicyError)
        whole_number(seed, "seed", 0, PolicyError)
        if len(self.game.rounds) < 2:
            raise PolicyError(
                f"{self.game.name!r} has only one round, without a board: use exploitability(), which is exact"
            )
        from scipy import stats

        from rlccfr.engine.bucket_histories.card_responses import CardResponses

        responses = CardResponses(self.game, self.table)
        rng = np.random.default_rng(seed)
        gains = []
        for number in range(boards):
            # Half of both players' gains, as an exploitability is.
            gains.append(sum(responses.gains(self.game.bucketing.boards.drawn_flop(rng))) / 2)
            if progress is not None:
                progress((number + 1) / boards)
        # Few flops are drawn, so the interval is that of Student's t distribution, not of the normal one.
        error = float(stats.t.ppf(0.975, boards - 1) * stats.sem(gains))
        return LowerBound(float(np.mean(gains)), error, tuple(gains))

    def seated_with(self, other: BucketHistoryPolicy) -> BucketHistoryPolicy:  # type: ignore[override]
        """Return the policy that plays like this one in player 0's seat, and like ``other`` in player 1's seat.

        Raises:
            PolicyError: the other policy is for another game; for policies with different buckets, use :meth:`against`.
        """
        check_same_game(self, other)
        table = other.table.astype(np.promote_types(self.table.dtype, other.table.dtype))
        for decision in self.game.decisions:
            if decision.player == 0:
                decision.of(table)[:] = decision.of(self.table)
        return type(self)(self.game, table)

    def value_against(self, other: Policy, progress: Callable[[float], None] | None = None) -> float:
        """See :meth:`Policy.value_against`; the other policy's game may have different buckets."""
        if self.game.content_hash == other.game.content_hash:
            return super().value_against(other)
        from rlccfr.policies.bucket_history_matches import value_between

        return value_between(self, other, progress)  # type: ignore[arg-type]

    def require_plays(self, game: Any) -> None:
        """See :meth:`Policy.require_plays`; the game may have other buckets than the policy."""
        if game.form is not self.game.form:
            super().require_plays(game)
        elif not self.game.has_cards_and_betting_of(game):
            raise PolicyError(
                f"a policy of {self.game.name!r} can't play {game.name!r}, since the cards or the betting differ: name "
                "a policy of a game that differs in buckets alone"
            )

    def _computed_values(self) -> tuple[float, float, float]:
        """See :meth:`TablePolicy._computed_values`."""
        from rlccfr.engine.bucket_histories.stepper import sweeps_of

        return sweeps_of(self.game, self.table.dtype).values(self.table)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per infoset and action: player, infoset, action, probability.

        ``infoset`` is the path of actions, followed by the index of the bucket history. The table is meant for small
        games.
        """
        import pandas as pd

        game = self.game
        tables = []
        for decision in game.decisions:
            probabilities = self.shares(decision)
            num_histories, _, num_lines = decision.shape
            paths = [game.path(decision.round, decision.node, line) for line in range(num_lines)]
            # Lines vary fastest, as they do in the probabilities of an action.
            infosets = [f"{path} {history}".strip() for history in range(num_histories) for path in paths]
            for action, letter in enumerate(game.letters(decision.round, decision.node)):
                columns = {
                    "player": decision.player,
                    "infoset": infosets,
                    "action": letter,
                    "probability": probabilities[:, action].reshape(-1),
                }
                tables.append(pd.DataFrame(columns))
        return pd.concat(tables, ignore_index=True)
