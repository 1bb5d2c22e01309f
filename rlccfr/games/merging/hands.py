"""Buckets of hands, round by round: in a compiled game, or in a public tree of cards.

Hands are split by percentiles (:mod:`rlccfr.games.merging.percentiles`) or by k-means
(:mod:`rlccfr.games.merging.kmeans`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlccfr.errors import ComponentError
from rlccfr.game import Game
from rlccfr.games.flat_tree import checked_tree
from rlccfr.games.locked_tree import LockedTree
from rlccfr.games.merging.rounds import (
    NONE,
    Splitter,
    expected_over_boards,
    hand_strengths,
    rounds_of,
    split_within,
)
from rlccfr.games.public.masses import row_masses, rows_above
from rlccfr.games.public.records import NODE
from rlccfr.games.public.view import PublicGame

Feature = Callable[[np.ndarray], np.ndarray]
"""Function from the strengths of hands after the last public card, (hands,), to their features, (hands, k)."""


def hand_buckets(game: Game, name: str, feature: Feature, splitter: Splitter) -> np.ndarray:
    """Split the hands of each round by features, within the buckets of the round before.

    Args:
        name: name of the component that needs the buckets, for errors.
        feature: function from hand strengths to features; before the last public card, features are means over the
            cards that may still come.
        splitter: function that splits hands by their features, and returns their buckets.

    Returns:
        For a compiled game the bucket of each infoset, (n,). For a public-tree game the bucket of each private state
        in its round, in the order of the view's ``above``.

    Raises:
        ComponentError: the game has no public tree or no showdowns, or is a public-tree game with a lock.
    """
    if isinstance(game, PublicGame):
        return _by_cards(game, name, feature, splitter)
    tree = checked_tree(game, f"the abstraction {name!r}")
    if isinstance(tree, LockedTree):  # some of its betting is by chance nodes, so buckets come from the unlocked game
        of_kept: np.ndarray = hand_buckets(tree.lock.game, name, feature, splitter)[tree.kept_infosets]
        return of_kept
    rounds = rounds_of(tree, name)
    last_features = [[feature(strengths) for strengths in of_players] for of_players in hand_strengths(rounds, name)]
    return rounds.split(expected_over_boards(rounds, last_features, name), splitter)


def refuse_lock(game: PublicGame) -> None:
    """Raise an error for a locked game: all hands of a bucket share a policy, but a lock may fix only some of them.

    Raises:
        ComponentError: the game has a lock.
    """
    if game.lock is not None:
        raise ComponentError(
            f"{game.name!r} with a lock can't have buckets, since the lock may fix single hands of a bucket: use "
            "abstraction='none', or leave out the lock"
        )


def _by_cards(game: PublicGame, name: str, feature: Feature, splitter: Splitter) -> np.ndarray:
    """Return the bucket of each private state of a public tree, (rows,); both players have the same buckets.

    Buckets are numbered within each round.
    """
    refuse_lock(game)
    if not game.deals:
        raise ComponentError(f"{name!r} needs a game with showdowns, as in poker, but {game.name!r} has none; {NONE}")
    rounds = rounds_by_cards(game)
    mass = row_masses(game, 0)
    above = rows_above(game, 0)
    features = _expected_features(game, rounds, feature, mass, above)
    bucket = np.zeros(len(mass), np.int64)
    for deals in rounds:
        rows = rows_of(game, deals)
        if rows.start:
            bucket_before = bucket[np.concatenate([above[deal] for deal in deals])]
        else:  # the first round, before which all hands are alike
            bucket_before = np.zeros(rows.stop, np.int64)
        bucket[rows] = split_within(bucket_before, features[rows], mass[rows], splitter)
    return bucket


def _expected_features(
    game: PublicGame, rounds: list[range], feature: Feature, mass: np.ndarray, above: list[np.ndarray]
) -> np.ndarray:
    """Return the features of each hand, (rows, k); on incomplete boards, they are means over the cards that may come.

    Args:
        rounds: the deals of each round.
        feature: function from hand strengths to features.
        mass: (rows,) weight of each hand in a mean.
        above: for each deal, (rows of the deal,): the row from which each row comes; it belongs to the deal before.
    """
    strengths = _strengths(game, rounds[-1])
    features = np.zeros((len(mass), feature(strengths[:1]).shape[1]))
    features[rows_of(game, rounds[-1])] = feature(strengths)
    # From the last round back: the features of a hand are the mean over the hands that it becomes, weighted by mass.
    for deals in rounds[:0:-1]:
        rows = rows_of(game, deals)
        rows_before = np.concatenate([above[deal] for deal in deals])
        np.add.at(features, rows_before, mass[rows, None] * features[rows])
        total = np.bincount(rows_before, mass[rows], len(mass))
        features[total > 0] /= total[total > 0, None]
    return features


def rounds_by_cards(game: PublicGame) -> list[range]:
    """Return the deals of each round of a card game."""
    cards = [len(deal.board) for deal in game.deals]
    ends = np.flatnonzero(np.diff(cards, append=-1)) + 1
    return [range(begin, end) for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]


def deal_nodes(deals: range) -> np.ndarray:
    """Return one node record per deal, with only the field ``deal`` set, for kernels that take nodes."""
    nodes = np.zeros(len(deals), NODE)
    nodes["deal"] = deals
    return nodes


def rows_of(game: PublicGame, deals: range) -> slice:
    """Return player 0's rows of some neighbouring deals, as a slice of the view's ``above``."""
    first = game.view.deals[deals[0]]
    last = game.view.deals[deals[-1]]
    return slice(int(first["edge"][0]), int(last["edge"][0] + last["rows"][0]))


def _strengths(game: PublicGame, deals: range) -> np.ndarray:
    """Return the hand strength of each row of some neighbouring deals.

    It is P(win) + P(tie) / 2 against a uniformly random compatible hand.
    """
    from rlccfr.kernels.public.buckets import fill_strengths, workspace_size

    strengths = np.zeros(len(game.view.above))
    vectors = np.zeros(workspace_size(int(game.view.deals["rows"].max())))
    fill_strengths(game.view, deal_nodes(deals), vectors, strengths)
    return strengths[rows_of(game, deals)]
