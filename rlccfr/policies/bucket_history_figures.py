"""Figures of a policy at each decision of hold'em in buckets: reach, values of actions, gains, and the list of states.

Each round has a tree of actions, and a betting line is what the players have done in the rounds before
(:mod:`rlccfr.games.bucket_histories.betting_lines`). The figures of a node of this tree are arrays over bucket
histories and betting lines. They come round by round, since the arrays of a late round are large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rlccfr.engine.bucket_histories.stepper import sweeps_of
from rlccfr.games.bucket_histories.game import BucketHistoryGame, Decision
from rlccfr.games.public.records import CHANCE, FOLD
from rlccfr.kernels.bucket_histories.passes import BEST
from rlccfr.policies.gains import LocalGains
from rlccfr.policies.listing import State

if TYPE_CHECKING:
    from rlccfr.policies.bucket_history_policy import BucketHistoryPolicy

HAND_AND_PATH = re.compile(r"(?:(\S*/\S*|[fcr]*)\s+)?((?:[2-9tjqka][cdhs])+)")
"""Pattern of a hand, or of a path of actions and a hand, in lower case; a path may include the cards dealt on it."""

OfNodes = list[np.ndarray]
"""An array, (bucket histories, betting lines), for each node of a round's tree."""


def reach_by_round(policy: BucketHistoryPolicy, player: int) -> Iterator[OfNodes]:
    """Yield, for each round, a player's own reach of each node with each of the player's bucket histories."""
    game = policy.game
    before = np.ones((1, 1), policy.table.dtype)
    for number, betting in enumerate(game.rounds):
        reach = [before[game.bucketing.above[number]]] * len(betting.nodes)
        decisions = {decision.node: decision for decision in _decisions(game, number, player)}
        ends = []
        for node, record in enumerate(betting.nodes):  # a node comes before its children
            if record["kind"] == CHANCE:
                ends.append(reach[node])
            shares = policy.shares(decisions[node]) if node in decisions else None
            for action, child in enumerate(betting.children(node)):
                reach[child] = reach[node] if shares is None else reach[node] * shares[:, action]
        yield reach
        before = np.concatenate(ends, axis=1)  # the lines of the next round


def values_by_round(policy: BucketHistoryPolicy, player: int, mode: int) -> Iterator[OfNodes]:
    """Yield, for each round, a player's counterfactual values of each node with each of the player's bucket histories.

    The values are weighted by the opponent's reach and by chance's.

    Args:
        policy: both players' policy.
        player: the player whose values these are.
        mode: MEAN if this player follows the policy, BEST if this player plays a best response.
    """
    game = policy.game
    leaves = sweeps_of(game, policy.table.dtype).values_at_leaves(policy.table, player, mode)
    for number, (betting, (folds, ends)) in enumerate(zip(game.rounds, leaves, strict=True)):
        lines = betting.num_lines
        payoffs = betting.fold_payoffs if player == 0 else -betting.fold_payoffs
        decisions = {decision.node: decision for decision in _decisions(game, number, player)}
        # A list of placeholders: every node is set below, children before their parents.
        values: OfNodes = [ends] * len(betting.nodes)
        for node in range(len(betting.nodes) - 1, -1, -1):
            record = betting.nodes[node]
            leaf = slice(record["leaf"] * lines, (record["leaf"] + 1) * lines)
            below = [values[child] for child in betting.children(node)]
            if record["kind"] == FOLD:
                # Values at folds are those of a payoff of 1.
                values[node] = folds[:, leaf] * payoffs[leaf].astype(folds.dtype)
            elif record["kind"] == CHANCE:
                values[node] = ends[:, leaf]
            elif record["kind"] != player:
                # The opponent's reach weighs the values already, so those after its actions are added up.
                values[node] = np.sum(below, axis=0)
            elif mode == BEST:
                values[node] = np.max(below, axis=0)
            else:
                values[node] = (policy.shares(decisions[node]) * np.stack(below, axis=1)).sum(axis=1)
        yield values


def gains_of_betting_paths(policy: BucketHistoryPolicy) -> LocalGains:
    """Return what players gain by best responses at each decision of hold'em in buckets, summed over bucket histories.

    They are gains in the abstract game: a best response knows the betting and its own bucket history, but no cards.
    """
    game = policy.game
    gains: dict[Decision, np.ndarray] = {}
    for player in (0, 1):
        rounds = zip(reach_by_round(policy, player), values_by_round(policy, player, BEST), strict=True)
        for number, (reach, values) in enumerate(rounds):
            for decision in _decisions(game, number, player):
                children = game.rounds[number].children(decision.node)
                action_values = np.stack([values[child] for child in children], axis=1)
                mean = (policy.shares(decision) * action_values).sum(axis=1)
                shortfall = np.maximum(action_values.max(axis=1) - mean, 0)  # rounding may leave less than 0
                gains[decision] = (reach[decision.node] * shortfall).sum(axis=0, dtype=float)
    places = [(decision, line) for decision in game.decisions for line in range(decision.shape[2])]

    def named(place: int) -> tuple[str, str]:
        decision, line = places[place]
        path = game.path(decision.round, decision.node, line)
        return path, game.path_in_words(path)

    players = np.array([decision.player for decision, _ in places])
    return LocalGains(players, np.concatenate([gains[decision] for decision in game.decisions]), named)


def states_of_bucket_histories(policy: BucketHistoryPolicy, needles: Sequence[str]) -> Iterator[State]:
    """Yield the states of a policy of hold'em in buckets whose texts or words contain all search strings.

    A state's text is the path of actions and the index of the bucket history; its words also name the buckets.

    Args:
        policy: the policy.
        needles: the search strings, in lower case. One with cards, such as ``cc/7h5d2c/r asks``, matches only the state
            of this hand on this board.

    Raises:
        GameError: the cards of a search string can't be dealt, or nobody acts after its actions.
    """
    game = policy.game
    places = {policy.place(path, hand) for path, hand in map(_path_and_hand, needles) if hand}
    texts = [needle for needle in needles if not _path_and_hand(needle)[1]]
    reach = zip(*(reach_by_round(policy, player) for player in (0, 1)), strict=True)
    for number, of_players in enumerate(reach):
        labels = game.bucketing.labels(number)
        met = game.matrices(policy.table.dtype).met[number]
        for decision in _decisions(game, number):
            rows = _matching(game, decision, labels, texts, places)
            for line, histories in rows:
                own_reach, opponent_reach = (
                    of_players[player][decision.node][:, line] for player in (decision.player, 1 - decision.player)
                )
                meeting = met if len(histories) == len(met) else met[histories]  # a copy of some rows
                likely = own_reach[histories] * (meeting @ opponent_reach)
                path = game.path(number, decision.node, line)
                letters = game.letters(number, decision.node)
                probabilities = policy.shares(decision, histories, [line])[:, :, 0]
                for place, history in enumerate(histories):
                    text = f"{path} {history}".strip()
                    words = f"{text} (buckets {labels[history]})"
                    yield State(
                        decision.player, text, words, letters, probabilities[place].tolist(), float(likely[place])
                    )


def _matching(
    game: BucketHistoryGame,
    decision: Decision,
    labels: Sequence[str],
    texts: Sequence[str],
    places: set[tuple[int, int, int, int]],
) -> Iterator[tuple[int, list[int]]]:
    """Yield the betting lines on which a decision has matching states, each with the bucket histories of these states.

    Args:
        labels: names of the buckets of each bucket history.
        texts: search strings that a state's text or words must contain.
        places: (round, node, betting line, bucket history) of the states to find; empty if any may match. A state has
            one place, so two or more places match no state.
    """
    num_histories, _, num_lines = decision.shape
    lines: Sequence[int] = range(num_lines)
    candidates: Sequence[int] = range(num_histories)
    if places:
        here = (decision.round, decision.node)
        if len(places) > 1 or next(iter(places))[:2] != here:  # a state is at one place
            return
        lines = [next(iter(places))[2]]
        candidates = [next(iter(places))[3]]
    for line in lines:
        path = game.path(decision.round, decision.node, line)
        not_in_path = [text for text in texts if text not in path]
        histories = [
            history
            for history in candidates
            if all(text in f"{path} {history} (buckets {labels[history]})".strip() for text in not_in_path)
        ]
        if histories:
            yield line, histories


def _path_and_hand(needle: str) -> tuple[str, str]:
    """Return the path and the hand in a search string with cards; two empty strings for any other."""
    match = HAND_AND_PATH.fullmatch(needle.strip())
    return ("", "") if match is None else (match[1] or "", match[2])


def _decisions(game: BucketHistoryGame, number: int, player: int | None = None) -> list[Decision]:
    """Return the decisions of a round, of both players or of one."""
    return [d for d in game.decisions if d.round == number and player in (None, d.player)]
