"""A writer of games, optionally with a policy, to Gambit's files of extensive games.

Gambit has no file format for strategies. A policy is written into the file's comment, in the form in which Gambit's own
command-line tools print one: ``NE`` and the probabilities of all actions, by player, infoset and action.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from rlccfr.game import ZERO_SUM
from rlccfr.games.flat_tree import GameTree
from rlccfr.games.gambit.files import is_of_file
from rlccfr.games.gambit.reader import distinct
from rlccfr.games.openspiel_policies import edge_names
from rlccfr.games.records import CHANCE, TERMINAL

LONGEST = 100
"""Largest number of characters of a fraction that is read from a profile."""


def to_efg(tree: GameTree, comment: str = "", nodes: str | None = None) -> str:
    """Return the text of a Gambit file of a game.

    Args:
        comment: text that Gambit keeps with the game.
        nodes: result of :func:`nodes_of`, if it is available; by default it is computed.
    """
    head = f'EFG 2 R {_quoted(tree.name)} {{ "player 0" "player 1" }}\n{_quoted(comment)}\n\n'
    return head + (nodes_of(tree) if nodes is None else nodes)


def nodes_of(tree: GameTree) -> str:
    """Return the part of a file that describes the nodes.

    Payoffs are written as the shortest decimals that are read back as the same numbers. Chance probabilities are
    written as fractions that sum to 1.
    """
    action_names = edge_names(tree)
    infoset_numbers = _infoset_numbers(tree)
    infoset_labels = _labels(_infoset_names(tree))
    outcome_numbers = dict[float, int]()  # by payoff
    utility = tree.utility
    opponent = tree.opponent_payoffs
    lines: list[str] = []
    for history in preorder(tree):
        record = tree.histories[history]
        if record["actor"] == TERMINAL:
            # Terminals with equal payoffs share an outcome, which is named by its payoff.
            payoff = float(utility[history])
            number = outcome_numbers.setdefault(payoff, len(outcome_numbers) + 1)
            opponent_payoff = -payoff if opponent == ZERO_SUM else opponent.at(payoff)
            lines.append(f't "" {number} "{payoff!r}" {{ {payoff!r}, {opponent_payoff!r} }}')
            continue
        first_child = int(record["first_child"])
        children = slice(first_child, first_child + int(record["num_children"]))
        actions = [_quoted(name) for name in _labels(action_names[children])]
        if record["actor"] == CHANCE:
            chances = fractions(tree.probability[children].tolist())
            moves = " ".join(f"{action} {chance}" for action, chance in zip(actions, chances, strict=True))
            event = len(lines) + 1  # each chance node is an event of its own
            lines.append(f'c "" {event} "" {{ {moves} }} 0')
        else:
            infoset = int(record["infoset"])
            player = record["actor"] + 1
            label = _quoted(infoset_labels[infoset])
            lines.append(f'p "" {player} {infoset_numbers[infoset]} {label} {{ {" ".join(actions)} }} 0')
    return "\n".join(lines) + "\n"


def profile(tree: GameTree, probabilities: np.ndarray) -> str:
    """Return a policy, (m,), as the string that Gambit prints, with each player's infosets in the file's order."""
    ordered = probabilities[_sequence_order(tree)]
    return ",".join(["NE", *map(repr, ordered.tolist())])


def read_profile(tree: GameTree, text: str) -> np.ndarray:
    """Return the probabilities, (m,), in a string that :func:`profile` returned.

    Raises:
        ValueError: the string is not a policy of this game.
    """
    head, *numbers = re.split(r"\s*,\s*", text.strip())
    if head != "NE" or len(numbers) != tree.num_sequences:
        raise ValueError(f"a profile is NE and {tree.num_sequences:,} probabilities, separated by commas")
    probabilities = np.empty(tree.num_sequences)
    probabilities[_sequence_order(tree)] = list(map(_number, numbers))
    return probabilities


def fractions(chances: list[float]) -> list[Fraction]:
    """Return probabilities as fractions that sum to exactly 1.

    They are read back as the given probabilities, with one possible exception. If no fractions with small denominators
    fit, the fraction of the largest probability is adjusted for the rounding errors of all, so it may be read back
    slightly changed.
    """
    small = [Fraction(chance).limit_denominator(10**6) for chance in chances]
    if sum(small) == 1 and [float(fraction) for fraction in small] == chances:
        return small
    # Each double is exactly a fraction, but doubles may not sum to exactly 1.
    exact = [Fraction(chance) for chance in chances]
    largest = max(range(len(exact)), key=exact.__getitem__)
    exact[largest] += 1 - sum(exact)
    return exact


def preorder(tree: GameTree) -> Iterator[int]:
    """Yield all histories, each before those below it, siblings in the order of their actions."""
    pending = [0]
    first_child = tree.histories["first_child"]
    num_children = tree.histories["num_children"]
    while pending:
        history = pending.pop()
        yield history
        first = int(first_child[history])
        pending.extend(range(first + int(num_children[history]) - 1, first - 1, -1))


def _infoset_numbers(tree: GameTree) -> np.ndarray:
    """Return each infoset's number in the file, (n,): from 1 for each player, in the order of first appearance."""
    numbers = np.zeros(tree.num_infosets, np.int64)
    num_met = [0, 0]
    for history in preorder(tree):
        record = tree.histories[history]
        player = record["actor"]
        if player < CHANCE and not numbers[record["infoset"]]:
            num_met[player] += 1
            numbers[record["infoset"]] = num_met[player]
    return numbers


def _infoset_names(tree: GameTree) -> Sequence[str]:
    """Return the names of the infosets: their keys or, in a game from a Gambit file, the labels in that file."""
    if not is_of_file(tree.openspiel_name):
        return tree.infoset_keys
    return [key.partition(": ")[2] or key for key in tree.infoset_keys]


def _sequence_order(tree: GameTree) -> np.ndarray:
    """Return all sequences, (m,), ordered by player and then by their infosets' numbers in the file."""
    is_second_player = np.arange(tree.num_infosets) >= tree.view.infoset_begin[1]
    infosets = np.lexsort((_infoset_numbers(tree), is_second_player))
    first_sequence = tree.view.first_sequence.astype(np.int64)
    sequences = [np.arange(first_sequence[infoset], first_sequence[infoset + 1]) for infoset in infosets]
    return np.concatenate([np.zeros(0, np.int64), *sequences])


def _number(text: str) -> float:
    """Return a decimal or a fraction as a float.

    Raises:
        ValueError: it is not a number, or is a fraction of more than :data:`LONGEST` characters.
    """
    if "/" not in text:
        return float(text)
    if len(text) > LONGEST:
        raise ValueError(f"a fraction has {len(text):,} characters")
    return float(Fraction(text))


def _labels(names: Sequence[str]) -> list[str]:
    """Return names as labels that Gambit accepts: distinct, in printable ASCII, with single spaces between words.

    A repeated name gets a number at its end.
    """
    return distinct([re.sub(r"[^ -~]", "?", " ".join(text.split())) for text in names])


def _quoted(text: str) -> str:
    """Return a string in quotation marks, with slashes instead of backslashes.

    Gambit's format can't represent a backslash before a quotation mark.
    """
    return '"' + text.replace("\\", "/").replace('"', '\\"') + '"'
