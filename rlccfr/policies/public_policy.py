"""Policies of both players in a public-tree game."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rlccfr.errors import GameError, PolicyError
from rlccfr.games.public.cards import ByHand
from rlccfr.games.public.view import PublicGame
from rlccfr.policies.table_policy import TablePolicy, shares_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class PublicPolicy(TablePolicy):
    """A policy of both players in a public-tree game; see :class:`rlccfr.policies.table_policy.TablePolicy`."""

    game: PublicGame
    draws_ranges: ClassVar[bool] = True

    @cached_property
    def probabilities(self) -> np.ndarray:  # type: ignore[override]
        """Action probabilities, (m,), in the order of the game's tables."""
        game = self.game
        probabilities = np.empty_like(self.table)
        first_entries = game.view.nodes["table"][game.decisions]
        # Decisions with equal numbers of actions and rows are normalised together.
        shapes = np.unique(np.stack([game.actions, game.rows], axis=1), axis=0).tolist()
        for num_actions, num_rows in shapes:
            has_shape = (game.actions == num_actions) & (game.rows == num_rows)
            entries = first_entries[has_shape][:, None] + np.arange(num_actions * num_rows)
            tables = self.table[entries].reshape(-1, num_actions, num_rows)
            probabilities[entries] = shares_of(tables).reshape(entries.shape)
        return probabilities

    def at(self, node: int) -> np.ndarray:
        """Return the action probabilities at a decision, shape (actions, rows); a row is a private state.

        Args:
            node: index of a public node.

        Raises:
            PolicyError: no player acts at the node.
        """
        places = np.flatnonzero(self.game.decisions == node)
        if not len(places):
            raise PolicyError(
                f"nobody acts at node {node} of {self.game.name!r}: use a player's decision, such as game.node('')"
            )
        return self._at(int(places[0]))

    def action_probabilities(self, node: int, private: str) -> dict[str, float]:
        """Return a player's policy with one hand or roll: the probability of each action, keyed by its letters.

        Args:
            node: index of a public node at which a player acts, for example from ``game.node("rc/KhQd2c/")``.
            private: the hand or roll, such as ``AsKs``, in either order of its cards, or ``25``.

        Raises:
            PolicyError: no player acts at the node, or the game's private states have no names.
            GameError: the player can't have this hand or roll.
        """
        game = self.game
        probabilities = self.at(node)
        game.require_names()
        if game.deals:
            player = int(game.view.nodes["kind"][node])
            row = game.deal_at(node, player).row_named(private, player)
        elif private in (names := game.row_names(node)):
            row = names.index(private)
        else:
            raise GameError(f"{private!r} is not a possible roll; the rolls are {', '.join(names)}")
        return dict(zip(game.letters(node), probabilities[:, row].tolist(), strict=True))

    def values_by_hand(self, player: int) -> dict[str, float]:
        """Return a player's expected payoff with each possible hand or roll if both players follow the policy.

        A hand may be looked up with its cards in either order. In a subgame of no-limit hold'em, the payoff plus half
        of the pot, ``game.pot / 2``, is the expected value that other programs show.

        Args:
            player: 0 or 1; in a subgame, 0 is out of position.

        Raises:
            PolicyError: the game's private states have no names, or there is no such player.

        Examples:
            >>> import rlccfr
            >>> game = rlccfr.subgame("2c3d4h8s9s", pot=10, stack=10, oop="AA,QQ", ip="KK", bets="a")
            >>> solver = rlccfr.Solver(game, "dcfr")
            >>> _ = solver.run(until="0.01%")
            >>> values = solver.average_policy().values_by_hand(1)
            >>> round(values["KhKd"], 3), round(values["KdKh"], 3)
            (-2.5, -2.5)
        """
        game = self.game
        game.require_names()
        if player not in (0, 1):
            raise PolicyError(f"player must be 0 or 1, not {player!r}")
        from rlccfr.engine.public.evaluation import root_row_values

        row_values = root_row_values(game, player, self.table)
        if game.private_names:
            return dict(zip(game.private_names[player], row_values.tolist(), strict=True))
        deal = game.deal_at(0, player)
        hands = deal.hands.tolist()
        value_of_hand = np.repeat(row_values, deal.sizes).tolist()
        return ByHand({deal.hand_name(hand): value for hand, value in zip(hands, value_of_hand, strict=True)})

    def _at(self, place: int) -> np.ndarray:
        """Return the action probabilities, (actions, rows), at the decision ``game.decisions[place]``."""
        game = self.game
        num_actions = int(game.actions[place])
        num_rows = int(game.rows[place])
        first_entry = int(game.view.nodes["table"][game.decisions[place]])
        entries = self.table[first_entry : first_entry + num_actions * num_rows]
        probabilities: np.ndarray = shares_of(entries.reshape(1, num_actions, num_rows))[0]
        return probabilities

    def _best_responses(self) -> PublicPolicy:
        """See :meth:`Policy._best_responses`."""
        from rlccfr.engine.public.evaluation import public_responses_to

        return type(self)(self.game, public_responses_to(self.game, self.table))

    def seated_with(self, other: PublicPolicy) -> PublicPolicy:  # type: ignore[override]
        """See :meth:`Policy.seated_with`."""
        from rlccfr.policies.matches import check_same_game

        check_same_game(self, other)
        game = self.game
        table = other.table.astype(np.promote_types(self.table.dtype, other.table.dtype))
        first_entries = game.view.nodes["table"][game.decisions]
        sizes = game.actions * game.rows
        is_player_0 = game.view.nodes["kind"][game.decisions] == 0
        for entry, size in zip(first_entries[is_player_0].tolist(), sizes[is_player_0].tolist(), strict=True):
            table[entry : entry + size] = self.table[entry : entry + size]
        return type(self)(game, table)

    def _computed_values(self) -> tuple[float, float, float]:
        """See :meth:`TablePolicy._computed_values`."""
        from rlccfr.engine.public.evaluation import public_values

        return public_values(self.game, self.table)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per infoset and action: player, infoset, action, probability.

        ``infoset`` is the path of the public node, followed by a private state. It stands for all private states that
        symmetry makes equivalent to it there. The table is meant for small games.
        """
        import pandas as pd

        game = self.game
        tables = []
        for place, node in enumerate(game.decisions.tolist()):
            player = int(game.view.nodes["kind"][node])
            path = game.path(node)
            infosets = [f"{path} {name}".strip() for name in game.row_names(node)]
            for action, probabilities in zip(game.letters(node), self._at(place), strict=True):
                columns = {"player": player, "infoset": infosets, "action": action, "probability": probabilities}
                tables.append(pd.DataFrame(columns))
        return pd.concat(tables, ignore_index=True)

    def plot_range(self, node: int = 0, axes: Axes | None = None) -> Axes:
        """Draw what a player does at a public node; see :func:`rlccfr.policies.range_pictures.draw_range`."""
        from rlccfr.policies.range_pictures import draw_range

        return draw_range(self, node, axes)
