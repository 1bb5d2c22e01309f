"""Writing of games, with a policy if there is one, as Gambit's files of extensive games.

Gambit has no file format for strategies. A policy stands in the file's comment, in the form in which Gambit's own
command-line tools print one: ``NE`` and the probabilities of all actions, by player, infoset and action.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from rlccfr.games.flat_tree import ZERO_SUM, GameTree
from rlccfr.games.gambit.files import is_of_file
from rlccfr.games.gambit.reader import distinct
from rlccfr.games.openspiel_policies import edge_names
from rlccfr.games.records import CHANCE, TERMINAL

LONGEST = 100
"""Largest number of signs of a fraction in a profile."""


def to_efg(tree: GameTree, comment: str = "", nodes: str | None = None) -> str:
    """Return the text of a Gambit file of a game.

    Args:
        comment: text that Gambit keeps with the game.
        nodes: what :func:`nodes_of` returns, if that is at hand.
    """
    head = f'EFG 2 R {_quoted(tree.name)} {{ "player 0" "player 1" }}\n{_quoted(comment)}\n\n'
    return head + (nodes_of(tree) if nodes is None else nodes)


def nodes_of(tree: GameTree) -> str:
    """Return the part of a file that describes the nodes.

    Payoffs are written as the shortest decimals that are read back alike. Probabilities of chance are written as
    fractions that sum to 1.
    """
    names = edge_names(tree)
    numbers, outcomes, labels = _numbers(tree), dict[float, int](), _labels(_infoset_names(tree))
    lines: list[str] = []
    utility = tree.utility
    opponent = tree.opponent_payoffs
    for history in preorder(tree):
        record = tree.histories[history]
        if record["actor"] == TERMINAL:
            payoff = float(utility[history])
            number = outcomes.setdefault(payoff, len(outcomes) + 1)
            opponent_payoff = -payoff if opponent == ZERO_SUM else opponent.at(payoff)
            lines.append(f't "" {number} "{payoff!r}" {{ {payoff!r}, {opponent_payoff!r} }}')
            continue
        first = int(record["first_child"])
        below = slice(first, first + int(record["num_children"]))
        actions = [_quoted(name) for name in _labels(names[below])]
        if record["actor"] == CHANCE:
            chances = fractions(tree.probability[below].tolist())
            moves = " ".join(f"{action} {chance}" for action, chance in zip(actions, chances, strict=True))
            lines.append(f'c "" {len(lines) + 1} "" {{ {moves} }} 0')
        else:
            infoset = int(record["infoset"])
            who = f"{record['actor'] + 1} {numbers[infoset]} {_quoted(labels[infoset])}"
            lines.append(f'p "" {who} {{ {" ".join(actions)} }} 0')
    return "\n".join(lines) + "\n"


def profile(tree: GameTree, probabilities: np.ndarray) -> str:
    """Return a policy, (m,), in the form that Gambit prints: each player's infosets in the file's order."""
    numbers = [repr(one) for at in _order(tree) for one in probabilities[tree.infoset_sequences(at)].tolist()]
    return ",".join(["NE", *numbers])


def read_profile(tree: GameTree, text: str) -> np.ndarray:
    """Return the probabilities, (m,), that :func:`profile` made a text of.

    Raises:
        ValueError: the text is none of this game.
    """
    head, *numbers = re.split(r"\s*,\s*", text.strip())
    if head != "NE" or len(numbers) != tree.num_sequences:
        raise ValueError(f"a profile is NE and {tree.num_sequences:,} probabilities, separated by commas")
    places = [
        sequence
        for at in _order(tree)
        for sequence in range(*tree.infoset_sequences(at).indices(tree.num_sequences)[:2])
    ]
    probabilities = np.empty(tree.num_sequences)
    probabilities[places] = list(map(_number, numbers))
    return probabilities


def fractions(chances: list[float]) -> list[Fraction]:
    """Return fractions that sum to exactly 1 and are read back as the given probabilities.

    Small fractions are found if there are any. Else the largest probability may change by its rounding.
    """
    small = [Fraction(one).limit_denominator(10**6) for one in chances]
    if sum(small) == 1 and [float(one) for one in small] == chances:
        return small
    exact = [Fraction(one) for one in chances]
    largest = max(range(len(exact)), key=exact.__getitem__)
    exact[largest] += 1 - sum(exact)
    return exact


def preorder(tree: GameTree) -> Iterator[int]:
    """Yield all histories, each before those below it, siblings in the order of their actions."""
    pending = [0]
    first, count = tree.histories["first_child"], tree.histories["num_children"]
    while pending:
        history = pending.pop()
        yield history
        pending.extend(range(int(first[history]) + int(count[history]) - 1, int(first[history]) - 1, -1))


def _numbers(tree: GameTree) -> np.ndarray:
    """Return each infoset's number in the file, from 1 per player, in the order of first appearance."""
    numbers, seen = np.zeros(tree.num_infosets, np.int64), [0, 0]
    for history in preorder(tree):
        record = tree.histories[history]
        if record["actor"] < CHANCE and not numbers[record["infoset"]]:
            seen[record["actor"]] += 1
            numbers[record["infoset"]] = seen[record["actor"]]
    return numbers


def _infoset_names(tree: GameTree) -> Sequence[str]:
    """Return the keys of the infosets; of a game from a Gambit file, the labels that the file gave."""
    if not is_of_file(tree.openspiel_name):
        return tree.infoset_keys
    return [key.partition(": ")[2] or key for key in tree.infoset_keys]


def _order(tree: GameTree) -> list[int]:
    """Return the infosets by player and by number in the file."""
    second = np.arange(tree.num_infosets) >= tree.view.infoset_begin[1]
    found: list[int] = np.lexsort((_numbers(tree), second)).tolist()
    return found


def _number(text: str) -> float:
    """Return a decimal or a fraction as a float; a fraction of more signs than any that is written is refused."""
    if "/" not in text:
        return float(text)
    if len(text) > LONGEST:
        raise ValueError(f"a fraction has {len(text):,} signs")
    return float(Fraction(text))


def _labels(names: Sequence[str]) -> list[str]:
    """Return names as labels that Gambit takes: distinct, in printable ASCII, with single spaces inside alone.

    A name that is taken gets a number behind it.
    """
    return distinct([re.sub(r"[^ -~]", "?", " ".join(text.split())) for text in names])


def _quoted(text: str) -> str:
    """Return a text in quotation marks; Gambit has no way to write a backslash before one."""
    return '"' + text.replace("\\", "/").replace('"', '\\"') + '"'
