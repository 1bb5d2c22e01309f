"""A parser of Gambit's files of extensive games.

Source of the format: Gambit's documentation, "The extensive game (.efg) file format".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from rlccfr.errors import GameError, brief
from rlccfr.games.traversal import MOST_MOVES

LARGEST_NUMBER = 10**300
"""Largest absolute value of a number; the range of doubles ends soon after it."""

ROUNDED = 1e-5
"""Largest difference allowed between a sum of probabilities and 1, since files may round them to six decimals."""

CHANCE, TERMINAL = -1, -2
"""Values of ``Node.actor`` at nodes where no player moves."""

# A string in quotation marks, a bracket or comma, or a word; otherwise, the last group is a quotation mark that is not
# closed.
_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([{},])|([^\s{},"]+)|(\S))', re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)")


@dataclass
class Described:
    """Description of an infoset, a chance event or an outcome; where a file repeats it, both must be equal.

    Attributes:
        label: its name.
        actions: names of the actions; empty for an outcome.
        numbers: the probabilities of an event's actions, or the payoffs of an outcome; empty for an infoset.
    """

    label: str
    actions: tuple[str, ...] = ()
    numbers: tuple[Fraction, ...] = ()


@dataclass
class Node:
    """A node of the game's tree.

    Attributes:
        actor: 0 or 1, CHANCE or TERMINAL.
        set: the file's number of the node's infoset or chance event; 0 at a terminal node.
        described: the file's description of that infoset or event.
        payoffs: both players' payoffs, summed over the outcomes on the path to the node, the node's own included.
        children: indices of the nodes directly below, in the order of the actions.
    """

    actor: int
    set: int
    described: Described
    payoffs: tuple[Fraction, Fraction]
    children: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Extensive:
    """A game as its file describes it: the nodes in the file's order, the root first, and the file's comment."""

    nodes: Sequence[Node]
    comment: str


def distinct(names: Sequence[str]) -> list[str]:
    """Return distinct names: an empty name becomes its index in the list, a repeated name gets a number at its end."""
    labels = dict[str, None]()
    last_number = dict[str, int]()  # last number tried for each name, so that many equal names take linear time
    for place, name in enumerate(names):
        stem = name or str(place)
        label = stem
        while label in labels:
            last_number[stem] = last_number.get(stem, 1) + 1
            label = f"{stem} ({last_number[stem]})"
        labels[label] = None
    return list(labels)


def parse(text: str, name: str) -> Extensive:
    """Return the game that a file's text describes.

    Args:
        text: the text.
        name: the file's name, for messages.

    Raises:
        GameError: the text breaks the format's rules; the message names the line.
    """
    try:
        return _Parser(text.rstrip()).game()
    except _Fault as fault:
        raise GameError(f"{name}, line {fault.line}: {fault}") from None


def comment_of(text: str, name: str) -> tuple[str, str]:
    """Return the comment of a file's text, and the text of the nodes, which is not parsed.

    Raises:
        GameError: the text before the nodes breaks the format's rules.
    """
    try:
        parser = _Parser(text.rstrip())
        return parser.comment(), parser.rest()
    except _Fault as fault:
        raise GameError(f"{name}, line {fault.line}: {fault}") from None


class _Fault(Exception):
    """A breach of the format's rules, or of this library's limits, with the number of its line."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


class _Parser:
    """A parser of a tree whose nodes are listed in prefix order, with a stack instead of recursion."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0  # where the last token that was read begins
        self._next_position = 0  # where the next token begins
        self._tokens = self._scan()
        self._next = next(self._tokens, "")
        self._sets: dict[tuple[int, int], Described] = {}
        self._outcomes: dict[int, Described] = {0: Described("", numbers=(Fraction(0), Fraction(0)))}

    def game(self) -> Extensive:
        """Read the whole text.

        Raises:
            _Fault: it breaks the format's rules.
        """
        comment = self.comment()
        nodes = [self._node((Fraction(0), Fraction(0)))]
        path = [0]  # numbers of the nodes from the root to the one whose children are being read
        while path:
            parent = nodes[path[-1]]
            if len(parent.children) == len(parent.described.actions):
                path.pop()
                continue
            if len(path) > MOST_MOVES:
                raise self._refusal(
                    f"the game has paths of more than {MOST_MOVES:,} moves; games with such long paths are not solved"
                )
            parent.children.append(len(nodes))
            path.append(len(nodes))
            nodes.append(self._node(parent.payoffs))
        if extra := self._word():
            raise self._fault(f"{brief(extra)} comes after the last node")
        return Extensive(nodes, comment)

    def comment(self) -> str:
        """Read the text before the nodes, and return the file's comment."""
        for word in ("EFG", "2"):
            self._expect(word)
        if self._word() not in ("R", "D"):
            raise self._fault("'R' must follow 'EFG 2'")
        self._string("the game's title")
        players = self._list()
        if len(players) != 2:
            raise self._refusal(f"the game has {len(players)} players; only two-player games are solved")
        return self._string("a comment") if self._next.startswith('"') else ""

    def rest(self) -> str:
        """Return the text from the next token on."""
        return self._text[self._next_position :]

    def _node(self, payoffs: tuple[Fraction, Fraction]) -> Node:
        """Read one node.

        Args:
            payoffs: payoffs summed over the path to the node's parent.
        """
        kind = self._word()
        if kind not in ("c", "p", "t"):
            raise self._fault(f"a node must begin with c, p or t, not with {brief(kind)}")
        self._string("the node's name")
        actor = TERMINAL
        number = 0
        described = Described("")
        if kind != "t":
            actor = CHANCE if kind == "c" else self._whole(1, 2) - 1
            number = self._whole(1)
            described = self._set(actor, number)
        gained = self._outcome()
        return Node(actor, number, described, (payoffs[0] + gained[0], payoffs[1] + gained[1]))

    def _set(self, actor: int, number: int) -> Described:
        """Return the description of an infoset or a chance event, given here or where it first appeared.

        Where a file repeats a description, both must be equal: one number must not stand for two things.
        """
        what = f"event {number}" if actor == CHANCE else f"infoset {number} of player {actor + 1}"
        earlier = self._sets.get((actor, number))
        if not self._is_described(what, "actions"):
            if earlier is None:
                raise self._fault(f"{what} is not described where it first appears")
            return earlier
        label = self._string("a name")
        names, probabilities = self._events() if actor == CHANCE else (self._list(), list[Fraction]())
        described = Described(label, tuple(distinct(names)), tuple(probabilities))
        if not names:
            raise self._fault(f"{what} has no actions")
        if earlier is not None:
            if earlier.actions != described.actions:
                reordered = sorted(earlier.actions) == sorted(described.actions)
                raise self._fault(
                    f"{what} had {'its actions in another order' if reordered else 'other actions'} before"
                )
            if earlier.numbers != described.numbers:
                raise self._fault(f"{what} had other probabilities before")
            self._check_label(what, earlier, described)
        total = math.fsum(map(float, probabilities))
        if actor == CHANCE and (any(p < 0 for p in probabilities) or abs(total - 1) > ROUNDED):
            raise self._fault(f"the probabilities of {what} must be at least 0 and sum to 1; their sum is {total:.6g}")
        # The first description stays, so that all nodes of an infoset share one object.
        return self._sets.setdefault((actor, number), described)

    def _outcome(self) -> tuple[Fraction, Fraction]:
        """Read the outcome at the end of a node's description, and return its payoffs.

        Where a file describes an outcome again, both descriptions must be equal.
        """
        number = self._whole(0)
        what = f"outcome {number}"
        earlier = self._outcomes.get(number)
        if self._is_described(what, "payoffs"):
            if number == 0:
                raise self._fault("outcome 0 means no payoffs: give the outcome another number, or omit its payoffs")
            described = Described(self._string("a name"), numbers=tuple(self._payoffs()))
            if earlier is not None:
                if earlier.numbers != described.numbers:
                    raise self._fault(f"{what} had other payoffs before")
                self._check_label(what, earlier, described)
            earlier = self._outcomes.setdefault(number, described)
        if earlier is None:
            raise self._fault(f"{what} is not described where it first appears")
        first, second = earlier.numbers
        return first, second

    def _is_described(self, what: str, contents: str) -> bool:
        """Return whether a description comes next.

        Args:
            what: the infoset, event or outcome that would be described, for the error.
            contents: what its description lists in braces, for the error.
        """
        if self._next == "{":
            self._word()
            raise self._fault(f"the name of {what} in quotation marks is missing before its list of {contents}")
        return self._next.startswith('"')

    def _check_label(self, what: str, earlier: Described, described: Described) -> None:
        if earlier.label != described.label:
            raise self._fault(
                f"{what} was named {brief(earlier.label)} before, and is named {brief(described.label)} here"
            )

    def _payoffs(self) -> list[Fraction]:
        """Read an outcome's payoffs in braces, with or without commas."""
        self._expect("{")
        payoffs = []
        while self._next != "}":
            payoffs.append(self._number())
            if self._next == ",":
                self._word()
        self._expect("}")
        if len(payoffs) != 2:
            raise self._fault(f"an outcome has two payoffs, not {len(payoffs)}")
        return payoffs

    def _events(self) -> tuple[list[str], list[Fraction]]:
        """Read the names and probabilities of chance outcomes in braces."""
        self._expect("{")
        names = []
        probabilities = []
        while self._next != "}":
            names.append(self._string("an action's name"))
            probabilities.append(self._number())
        self._expect("}")
        return names, probabilities

    def _list(self) -> list[str]:
        """Read names in braces."""
        self._expect("{")
        names = []
        while self._next != "}":
            names.append(self._string("a name"))
        self._expect("}")
        return names

    def _string(self, what: str) -> str:
        token = self._word()
        if not token.startswith('"'):
            raise self._fault(f"{what} in quotation marks is missing before {brief(token)}")
        return token[1:-1].replace('\\"', '"')

    def _whole(self, least: int, most: int = 10**9) -> int:
        """Read a whole number."""
        token = self._word()
        if not (token.isascii() and token.isdigit() and len(token) < 11 and least <= int(token) <= most):
            raise self._fault(f"a whole number from {least} to {most:,} is expected, not {brief(token)}")
        return int(token)

    def _number(self) -> Fraction:
        token = self._word()
        if len(token) > 100 or not _NUMBER.fullmatch(token) or re.search(r"/0+$", token):
            raise self._fault(f"a number such as 0.25 or 1/4 is expected, not {brief(token)}")
        number = Fraction(token)
        if abs(number) > LARGEST_NUMBER:
            raise self._fault(f"{brief(token)} is too large")
        return number

    def _expect(self, word: str) -> None:
        token = self._word()
        if token != word:
            raise self._fault(f"{word!r} is expected, not {brief(token)}")

    def _word(self) -> str:
        """Return the next token and advance; the token at the end is the empty string."""
        token = self._next
        self._position = self._next_position
        self._next = next(self._tokens, "")
        return token

    def _scan(self) -> Iterator[str]:
        """Yield the tokens, and record where each begins."""
        for match in _TOKEN.finditer(self._text):
            group = match.lastindex or 0
            self._next_position = match.start(group)
            if match[4]:
                self._position = self._next_position
                raise self._fault("a quotation mark is not closed")
            yield match[group]
        self._next_position = len(self._text)

    def _fault(self, what: str) -> _Fault:
        """Return the error for a fault at the last token."""
        ended = self._position == len(self._text)
        rule = "the file ends too soon" if ended else what
        return self._refusal(f"{rule}; see Gambit's description of .efg files")

    def _refusal(self, what: str) -> _Fault:
        """Return the error for a game that this library does not solve, at the last token."""
        return _Fault(self._text.count("\n", 0, self._position) + 1, what)
