"""No-limit subgames, written a second time: hands evaluated card by card, betting as a recursion, solved as a program.

Nothing here is shared with the library. A game is walked pair of hands by pair of hands and board by board. Its
sequence form is solved by a linear program (Koller, Megiddo and von Stengel, 1996).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import floor
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, hstack

RANKS = "23456789TJQKA"
DECK = [rank + suit for rank in RANKS for suit in "cdhs"]
STREETS = {3: "flop", 4: "turn", 5: "river"}


@cache
def strength(cards: frozenset[str]) -> tuple:
    """Return what seven cards are worth, as a tuple that is larger for a stronger hand."""
    return max(strength_of_five(five) for five in combinations(cards, 5))


def strength_of_five(cards: tuple[str, ...]) -> tuple:
    ranks = sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    counted = sorted(Counter(ranks).items(), key=lambda item: (-item[1], -item[0]))
    shape = tuple(count for _, count in counted)
    order = tuple(rank for rank, _ in counted)
    is_flush = len({card[1] for card in cards}) == 1
    is_straight = shape == (1,) * 5 and ranks[0] - ranks[4] == 4
    if order == (12, 3, 2, 1, 0):
        is_straight, order = True, (3, 2, 1, 0, -1)
    kinds = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1, (1,) * 5: 0}
    if is_straight or is_flush:
        return (8 if is_straight and is_flush else 5 if is_flush else 4, order)
    return (kinds[shape], order)


def cards_in(text: str) -> tuple[str, ...]:
    return tuple(text[k : k + 2] for k in range(0, len(text), 2))


def hands_in(text: str) -> dict[tuple[str, ...], float]:
    """Return the hands of a range of single hands and of pairs, such as ``AhKd:0.5,QQ``, with their weights."""
    hands: dict[tuple[str, ...], float] = {}
    for item in text.split(","):
        name, _, weight = item.partition(":")
        if len(name) == 2:
            members = list(combinations([card for card in DECK if card[0] == name[0]], 2))
        else:
            members = [cards_in(name)]
        for hand in members:
            hands[hand] = float(weight or 1)
    return hands


@dataclass
class PlainSubgame:
    """A subgame by its arguments for :func:`rlccfr.subgame`, of which it knows sizes like 50%, 2.5x, 100c and a.

    Attributes:
        infosets: for each player, the sequences of each infoset, and the sequence before it, in the order met.
        payoffs: player 0's payoff times the chance of it, by the players' sequences.
    """

    arguments: dict[str, Any]
    infosets: tuple[dict, dict] = field(default_factory=lambda: ({}, {}))
    num_sequences: list[int] = field(default_factory=lambda: [1, 1])
    payoffs: Counter = field(default_factory=Counter)

    def __post_init__(self) -> None:
        board = cards_in(self.arguments["board"])
        pairs = [
            (first, second, weight * other_weight)
            for first, weight in hands_in(self.arguments["oop"]).items()
            for second, other_weight in hands_in(self.arguments["ip"]).items()
            if len({*first, *second, *board}) == 4 + len(board)
        ]
        mass = sum(weight for *_, weight in pairs)
        for first, second, weight in pairs:
            self.street((first, second), board, weight / mass, (0, 0), 0, False)

    def street(self, hands, board, chance, before, spent, ip_led) -> None:
        """Walk on from a street's start, where each player has put in ``spent``."""
        if spent == self.arguments["stack"]:
            self.after_street(hands, board, chance, before, spent, False)
        else:
            self.act(hands, board, chance, before, [spent, spent], spent, 0, "", 0, ip_led)

    def act(self, hands, board, chance, before, spent, start, actor, moves, raised_by, ip_led) -> None:
        """Walk on from a decision; ``raised_by`` is by how much the last bet or raise went up."""
        pot, stack = self.arguments["pot"], self.arguments["stack"]
        other = 1 - actor
        owed = spent[other] - spent[actor]
        choices: list[tuple[str, int]] = []
        if owed:
            choices.append(("fold", 0))
        choices.append(("call", spent[other]))
        if spent[other] < stack:
            choices += [("to", amount) for amount in self.amounts(board, spent, start, actor, raised_by, ip_led)]
        for (kind, amount), sequence in self.sequences(hands, board, before, actor, (board, start, moves), choices):
            after = (sequence, before[1]) if actor == 0 else (before[0], sequence)
            if kind == "fold":
                lost = Fraction(pot, 2) + spent[actor]
                self.payoffs[after] += chance * float(lost if actor == 1 else -lost)
            elif kind == "to":
                now = list(spent)
                now[actor] = amount
                self.act(
                    hands, board, chance, after, now, start, other, f"{moves}{amount},", amount - spent[other], ip_led
                )
            elif owed or (actor == 1 and not owed):
                self.after_street(hands, board, chance, after, spent[other], bool(owed) and actor == 0)
            else:
                self.act(hands, board, chance, after, spent, start, other, f"{moves}check,", 0, ip_led)

    def after_street(self, hands, board, chance, before, spent, ip_led) -> None:
        if len(board) == 5:
            won = Fraction(self.arguments["pot"], 2) + spent
            first, second = (strength(frozenset((*hand, *board))) for hand in hands)
            self.payoffs[before] += chance * float(won) * ((first > second) - (first < second))
            return
        left = [card for card in DECK if card not in {*hands[0], *hands[1], *board}]
        for card in left:
            self.street(hands, (*board, card), chance / len(left), before, spent, ip_led)

    def sizes(self, board, actor, faces_bet, ip_led) -> list[str]:
        street = STREETS[len(board)]
        donk = self.arguments.get("donk")
        donk = donk.get(street) if isinstance(donk, dict) else donk
        sizes = self.arguments["raises" if faces_bet else "bets"]
        if not faces_bet and actor == 0 and ip_led and donk is not None:
            sizes = donk
        sizes = sizes.get(street, "") if isinstance(sizes, dict) else sizes
        sizes = sizes if isinstance(sizes, str) else sizes[actor]
        return [size for size in sizes.replace(" ", "").split(",") if size]

    def amounts(self, board, spent, start, actor, raised_by, ip_led) -> list[int]:
        """Return the chips that the player may have put in after a bet or raise, ascending."""
        stack, other = self.arguments["stack"], 1 - actor
        called_pot = self.arguments["pot"] + 2 * spent[other]
        bet = spent[other] - start
        found = set()
        for size in self.sizes(board, actor, spent[other] > spent[actor], ip_led):
            number = Fraction(size.rstrip("%xca") or 0)
            to = {
                "%": bet + number / 100 * called_pot,
                "x": number * bet,
                "c": bet + number,
                "a": Fraction(stack - start),
            }[size[-1]]
            legal = max(floor(to + Fraction(1, 2)), bet + max(raised_by, 1))
            found.add(min(start + legal, stack))
        return sorted(found)

    def sequences(self, hands, board, before, actor, public, choices):
        """Return the choices, each with its sequence; without a choice, the player's sequence stays."""
        if len(choices) == 1:
            return [(choices[0], before[actor])]
        shown = frozenset(public[0][:3]), *public[0][3:]
        key = hands[actor], shown, *public[1:], before[actor]
        if key not in self.infosets[actor]:
            first = self.num_sequences[actor]
            self.num_sequences[actor] += len(choices)
            self.infosets[actor][key] = range(first, first + len(choices)), before[actor]
        return list(zip(choices, self.infosets[actor][key][0], strict=True))

    def matrix(self):
        """Return player 0's payoffs by the players' sequences, as a sparse matrix."""
        rows, columns = zip(*self.payoffs, strict=True)
        return coo_matrix((list(self.payoffs.values()), (rows, columns)), shape=self.num_sequences).tocsr()

    def constraints(self, player: int):
        """Return the matrix E of E x = e: an infoset's sequences share the probability of the sequence before."""
        rows, columns, values = [0], [0], [1.0]
        for number, (sequences, before) in enumerate(self.infosets[player].values(), 1):
            rows += [number] * (len(sequences) + 1)
            columns += [*sequences, before]
            values += [1.0] * len(sequences) + [-1.0]
        return coo_matrix((values, (rows, columns)), shape=(len(self.infosets[player]) + 1, self.num_sequences[player]))

    def value(self) -> float:
        """Return player 0's value of the game, by a linear program: max p_0 with E x = e, F' p <= A' x, x >= 0."""
        own, opponents = self.constraints(0), self.constraints(1)
        num_own, num_values = own.shape[1], opponents.shape[0]
        equal = hstack([own, coo_matrix((own.shape[0], num_values))]).tocsr()
        at_most = hstack([-self.matrix().T, opponents.T]).tocsr()
        result = linprog(
            c=-np.eye(1, num_own + num_values, num_own)[0],
            A_ub=at_most,
            b_ub=np.zeros(at_most.shape[0]),
            A_eq=equal,
            b_eq=np.eye(1, own.shape[0])[0],
            bounds=[(0, None)] * num_own + [(None, None)] * num_values,
            method="highs",
        )
        assert result.status == 0
        return -float(result.fun)

    def uniform_plan(self, player: int) -> np.ndarray:
        plan = np.ones(self.num_sequences[player])
        for sequences, before in self.infosets[player].values():
            plan[list(sequences)] = plan[before] / len(sequences)
        return plan

    def uniform_values(self) -> tuple[float, float, float]:
        """Return player 0's value of the uniform policy, and each player's value of a best response to it."""
        matrix = self.matrix()
        plans = self.uniform_plan(0), self.uniform_plan(1)
        return (
            float(plans[0] @ (matrix @ plans[1])),
            self.best_value(0, matrix @ plans[1]),
            self.best_value(1, -(matrix.T @ plans[0])),
        )

    def best_value(self, player: int, gains: np.ndarray) -> float:
        """Return the value of a best response, from what each of a player's sequences gets by itself."""
        gains = gains.copy()
        for sequences, before in reversed(self.infosets[player].values()):
            gains[before] += max(gains[sequence] for sequence in sequences)
        return float(gains[0])


SPREADS = (
    # bets, raises and donk bets; the pot is 20
    ("50%", "2.5x", None),
    ("100%, a", "", {"river": ""}),
    ({"turn": "75%", "river": ("30%", "12c")}, ("a", "3x"), {"river": "a"}),
    ({"flop": "a", "turn": "", "river": "50%"}, "", None),
)


def drawn_range(rng: np.random.Generator, pool: list[str], hands: int) -> str:
    """Return a range of some hands from few cards, so that hands block each other."""
    drawn = sorted({tuple(sorted(rng.permutation(pool)[:2].tolist())) for _ in range(hands)})
    return ",".join(f"{first}{second}:{rng.choice([0.25, 0.5, 1])}" for first, second in drawn)


def generated(seed: int, street: str, hands: int) -> dict[str, Any]:
    """Return the arguments of a small subgame, which depend on the seed alone.

    Args:
        street: where it begins.
        hands: number of hands in each range; every third seed has pairs instead, on a board of one suit.
    """
    rng = np.random.default_rng([seed, len(street)])
    num_cards = {"flop": 3, "turn": 4, "river": 5}[street]
    if seed % 3 == 2:  # all permutations of the three other suits leave the board and the ranges as they are
        board = [rank + "s" for rank in rng.permutation(list(RANKS))[:num_cards]]
        ranges = [",".join(f"{2 * rank}:{rng.choice([0.25, 0.5, 1])}" for rank in rng.permutation(list(RANKS))[:2])]
        ranges.append(",".join(f"{2 * rank}:{rng.choice([0.25, 1])}" for rank in rng.permutation(list(RANKS))[:1]))
    else:
        cards = rng.permutation(DECK).tolist()
        board = cards[:num_cards]
        pool = cards[num_cards : num_cards + 3 * hands]
        ranges = [drawn_range(rng, pool, hands) for _ in range(2)]
        while not any(set(first).isdisjoint(second) for first in hands_in(ranges[0]) for second in hands_in(ranges[1])):
            ranges[1] = drawn_range(rng, pool, hands)
    bets, raises, donk = SPREADS[seed % len(SPREADS)]
    if street == "flop":  # anything more has too many infosets for a linear program
        bets, raises, donk = {"flop": "a", "river": "a" if seed % 2 else ""}, "", None
    return {
        "board": "".join(board), "pot": 20, "stack": [13, 30, 45][seed % 3], "oop": ranges[0], "ip": ranges[1],
        "bets": bets, "raises": raises, "donk": donk,
    }  # fmt: skip
