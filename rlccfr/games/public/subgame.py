"""No-limit hold'em from a known board on: a *subgame*, which players call a spot.

Each player holds a hand of its range; a pair of hands is dealt in proportion to the product of its weights. Player 0 is
out of position and acts first on every street. A player's payoff is what it gets of the pot, less the chips that it has
put in since the start, less half of the pot at the start. So the game is zero-sum. Add half of the pot at the start to
compare payoffs with the expected values that other programs print.

If a permutation of suits changes neither the board nor the ranges, hands and boards that differ only by it are merged.
After an all-in that is called, all further boards are dealt, without decisions.

Source: sizes and thresholds are defined as in the documentation of PioSOLVER and postflop-solver.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from numbers import Rational, Real
from typing import Any, ClassVar

import numpy as np

from rlccfr.errors import GameError, brief
from rlccfr.game import Form
from rlccfr.games.memory import available_memory, gigabytes
from rlccfr.games.public.bet_sizes import BetRules, checked_rules, plain_sizes, sizes_by_street
from rlccfr.games.public.betting import Round, RoundEnd, no_limit_round
from rlccfr.games.public.card_tree import CardTree, Dealt, Level, levels_from
from rlccfr.games.public.cards import cards_named, names_of
from rlccfr.games.public.claims import check_public
from rlccfr.games.public.deals import Deal, RangeDeck
from rlccfr.games.public.ranges import (
    HOLDEM_DECK,
    meets_any,
    possible_weights,
    range_symmetries,
    range_weights,
)
from rlccfr.games.public.records import SHOWDOWN
from rlccfr.games.public.subgame_size import SubgameSize
from rlccfr.games.public.view import PUBLIC_TREE, PublicGame
from rlccfr.games.target_runs import ON_SPOTS

PREFIX = "subgame"
"""Beginning of subgames' full names, before a JSON object of all arguments."""

DEFAULTS: Mapping[str, Any] = {
    "board": "", "pot": 0, "stack": 0, "oop": "", "ip": "", "bets": "", "raises": "", "donk": None, "add_allin": 0.0,
    "force_allin": 0.0, "merging": 0.0, "commit": 1.0, "min_bet": None, "chip": 1,
}  # fmt: skip
"""Arguments of :func:`subgame` that a full name or a file may have, with their defaults."""

REQUIRED = ("board", "pot", "stack", "oop", "ip", "bets")
"""Arguments that must be given."""

RAKE_ADVICE = "a game with rake is not zero-sum, and this library does not solve it: leave rake out"

START_CARDS = (3, 4, 5)
"""Numbers of cards that a board may have at the start."""

LARGEST_AMOUNT = 10**9
"""Largest amount in smallest chips; floats hold such numbers and their halves exactly."""

SUBGAME = replace(
    PUBLIC_TREE,
    title="as a no-limit subgame",
    merge="",
    features="",
    catalogs=("schedules",),
    short_run={"update_rule": "dcfr_plus"},
    least_passes=200,
    target_runs=ON_SPOTS,
    chosen_by="on test spots, the schedule was the best within a budget, but dcfr_plus where few passes fit into it",
)
"""The form of no-limit subgames: public trees in which each player has its own hands, with weights.

It supports neither buckets, which assume that all hands are equally likely, nor the features from which learned agents
choose components, since they have learned from games with uniform deals. DCFR+ reaches targets soonest on training
spots, and as soon as DCFR on test spots (``python -m benchmarks.soonest_rules spots-train``). Within a budget, runs
under the shipped schedule are best unless the budget is small: on validation spots, DCFR+ is ahead after 100 passes and
behind after 300 (docs/public-steering.md).
"""


def full_name_of(arguments: Mapping[str, Any]) -> str:
    """Return the full name of the subgame with these arguments; equal arguments have equal names."""
    return PREFIX + json.dumps(dict(arguments))


@dataclass(frozen=True, eq=False, repr=False)
class Subgame(PublicGame):
    """A no-limit subgame, made by :func:`rlccfr.subgame`.

    It has the attributes of a :class:`rlccfr.PublicGame` and those below. ``deals`` has player 0's hands.

    Attributes:
        arguments: the arguments with which :func:`rlccfr.subgame` makes the same game.
        second_deals: (deals,) like ``deals``, but with player 1's hands.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    second_deals: tuple[Deal, ...] = ()
    form: ClassVar[Form] = SUBGAME

    @property
    def full_name(self) -> str:
        """The name under which results on the subgame are stored; :func:`rlccfr.load_game` accepts it."""
        return full_name_of(self.arguments)

    @property
    def source(self) -> dict[str, str]:
        """The name from which the game can be built again."""
        return {"name": self.full_name}

    def sizes(self) -> dict[str, Any]:
        """Return the game's name and sizes, with the pot instead of a big blind."""
        sizes = super().sizes()
        del sizes["big_blind"]
        return {**sizes, "pot": self.pot}

    def dealt_to(self, player: int) -> tuple[Deal, ...]:
        """Return each of the view's deals with a player's hands."""
        return self.second_deals if player else self.deals

    def _hashed_arrays(self) -> Iterator[np.ndarray]:
        """Yield all of the view's arrays, one field after another."""
        for array in self.view:
            for name in array.dtype.names or ((),):
                yield array[name]


def subgame(
    board: str,
    *,
    pot: float,
    stack: float,
    oop: str,
    ip: str,
    bets: Any,
    raises: Any = "",
    donk: Any = None,
    add_allin: float = 0.0,
    force_allin: float = 0.0,
    merging: float = 0.0,
    commit: float = 1.0,
    min_bet: float | None = None,
    chip: float = 1,
    rake: float = 0,
) -> Subgame:
    """Return a no-limit hold'em subgame: a board, two ranges, a pot, stacks and bet sizes.

    Args:
        board: three to five cards, such as ``"Td9d6hQc"``; the game begins on the flop, the turn or the river.
        pot: chips in the pot at the start.
        stack: chips that each player has left at the start; the smaller one if the stacks differ.
        oop, ip: ranges of the player out of position, player 0, and of the one in position, player 1; see
            :mod:`rlccfr.games.public.ranges`. Hands that can't be dealt are left out.
        bets: sizes of first bets; see :mod:`rlccfr.games.public.bet_sizes`. A string for all streets and both players;
            a pair of strings, ``(oop, ip)``; or a dict from ``"flop"``, ``"turn"`` and ``"river"`` to strings or pairs.
        raises: sizes of raises, in the same form; without any, nobody can raise.
        donk: sizes of first bets of the player out of position if the other player bet or raised last on the street
            before: a string, or a dict from streets to strings; by default the same as ``bets``.
        add_allin, force_allin, merging, commit: thresholds; see :mod:`rlccfr.games.public.bet_sizes`.
        min_bet: smallest first bet in chips; by default the smallest chip.
        chip: value of the smallest chip; amounts must be multiples of it.
        rake: must be 0, since a game with rake is not zero-sum.

    Returns:
        The game; ``game.sizes()`` has the memory that tables need, and ``game.pot`` the pot.

    Raises:
        GameError: an argument is invalid, no two hands of the ranges can be dealt together, or the game does not fit
            into memory.

    Examples:
        >>> import rlccfr
        >>> game = rlccfr.subgame("Td9d6hQcJs", pot=100, stack=100, oop="AA,KK:0.5,87s", ip="QQ-99,AKs", bets="50%, a")
        >>> rlccfr.Solver(game, "dcfr").run(until="0.1%").exploitability <= 0.1
        True
        >>> game.letters(0)
        ['c', 'b50', 'a']
    """
    arguments = {
        "board": board, "pot": pot, "stack": stack, "oop": oop, "ip": ip, "bets": bets, "raises": raises, "donk": donk,
        "add_allin": add_allin, "force_allin": force_allin, "merging": merging, "commit": commit, "min_bet": min_bet,
        "chip": chip,
    }  # fmt: skip
    if _number(rake, "rake", least=0.0):
        raise GameError(RAKE_ADVICE)
    return SubgameRules.of(arguments).build()


def _number(value: Any, name: str, least: float, *, above: bool = False) -> Fraction:
    """Return a number as the fraction that its decimal digits stand for.

    Args:
        least: least value.
        above: whether the number must be above ``least``.

    Raises:
        GameError: the value is not a number, or is too small.
    """
    is_number = isinstance(value, (Real, Rational, np.number)) and not isinstance(value, bool)
    number = float(value) if is_number else np.nan
    if not np.isfinite(number) or number < least or (above and number <= least):
        wanted = f"a number above {least:g}" if above else f"a number of at least {least:g}"
        raise GameError(f"{name} must be {wanted}, not {brief(value)}")
    return Fraction(str(value)) if isinstance(value, (int, float)) else Fraction(number)


def _share(value: Any, name: str) -> Fraction:
    """Return a number above 0 and at most 1 as a fraction.

    Raises:
        GameError: the value is not such a number.
    """
    share = _number(value, name, least=0.0, above=True)
    if share > 1:
        raise GameError(f"{name} must be a share of the stack, at most 1, not {brief(value)}")
    return share


def _chips(value: Any, name: str, chip: Fraction) -> int:
    """Return an amount as a number of smallest chips.

    Raises:
        GameError: the amount is not a positive multiple of the smallest chip, or is too large.
    """
    number = _number(value, name, least=0.0, above=True) / chip
    if number.denominator != 1:
        # The largest power of ten, such as 0.01, of which both the amount and the chip are multiples.
        fitting = next((digits for digits in range(10) if _are_multiples((number * chip, chip), digits)), None)
        advice = "use another amount" if fitting is None else f"set chip={Decimal(1).scaleb(-fitting):f}"
        raise GameError(f"{name} must be a multiple of the chip, {float(chip):g}, not {brief(value)}: {advice}")
    if number > LARGEST_AMOUNT:
        raise GameError(f"{name} is more than {LARGEST_AMOUNT:,} smallest chips: use a larger chip")
    return int(number)


def _are_multiples(amounts: Iterable[Fraction], digits: int) -> bool:
    """Return whether all amounts have at most ``digits`` decimal digits."""
    return all((amount * 10**digits).denominator == 1 for amount in amounts)


@dataclass(frozen=True, eq=False)
class SubgameRules:
    """The checked rules of a subgame.

    Attributes:
        arguments: the arguments of :func:`subgame`, as they are written in JSON.
        board: cards of the board.
        weights: (2, 1326) each player's weight of each hand; 0 for hands that can't be dealt.
        betting: pot, stack, bet sizes and thresholds, in smallest chips.
    """

    arguments: Mapping[str, Any]
    board: list[int]
    weights: np.ndarray
    betting: BetRules

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> SubgameRules:
        """Return the rules for the arguments of :func:`subgame`.

        Raises:
            GameError: an argument is invalid.
        """
        board = cards_named(arguments["board"])
        if len(board) not in START_CARDS:
            raise GameError(
                f"the board {arguments['board']!r} has {len(board)} cards; a subgame begins with three to five, such "
                "as 'Td9d6h'"
            )
        chip = _number(arguments["chip"], "chip", least=0.0, above=True)
        min_bet = arguments["min_bet"]
        betting = BetRules(
            pot=_chips(arguments["pot"], "pot", chip),
            stack=_chips(arguments["stack"], "stack", chip),
            sizes=sizes_by_street(arguments["bets"], arguments["raises"], arguments["donk"]),
            add_allin=_number(arguments["add_allin"], "add_allin", least=0.0),
            force_allin=_number(arguments["force_allin"], "force_allin", least=0.0),
            merging=_number(arguments["merging"], "merging", least=0.0),
            commit=_share(arguments["commit"], "commit"),
            min_bet=1 if min_bet is None else _chips(min_bet, "min_bet", chip),
            chip=chip,
        )
        first_street = len(board) - START_CARDS[0]
        plain_lists = {name: plain_sizes(arguments[name]) for name in ("bets", "raises")}
        # Written to JSON and read again, so that a call and a file give the game one full name.
        plain_arguments = json.loads(json.dumps({**arguments, **plain_lists}, default=float))
        return cls(plain_arguments, board, _weights(arguments, board), checked_rules(betting, first_street))

    @property
    def full_name(self) -> str:
        """The name under which results on the subgame are stored; equal arguments have equal names."""
        return full_name_of(self.arguments)

    @property
    def first_street(self) -> int:
        """The street on which the game begins: 0 is the flop."""
        return len(self.board) - START_CARDS[0]

    @cached_property
    def levels(self) -> list[Level]:
        """The deals of each street."""
        permutations = range_symmetries(self.board, self.weights)
        decks = [
            RangeDeck(HOLDEM_DECK.ranks, HOLDEM_DECK.suits, HOLDEM_DECK.private, held=np.flatnonzero(weights))
            for weights in self.weights
        ]
        first = [Deal(deck, np.array(self.board), permutations, orbit=1, share=1.0) for deck in decks]
        num_further = START_CARDS[-1] - len(self.board)
        return levels_from((first[0], first[1]), [1] * num_further, _following)

    def round_of(self, number: int, start: RoundEnd) -> Round:
        """Return the betting of a street; it is built once for each number and start.

        Args:
            number: index of the street; 0 is the street on which the game begins.
            start: the end of the street before.
        """
        key = number, start
        if key not in self._rounds:
            self._rounds[key] = no_limit_round(self.betting, self.first_street + number, start)
        return self._rounds[key]

    @cached_property
    def _rounds(self) -> dict[tuple[int, RoundEnd], Round]:
        return {}

    def size(self, most_bytes: float = math.inf) -> SubgameSize:
        """Return how large the game is, without building its nodes.

        Args:
            most_bytes: once the parts counted so far need more bytes than this, counting stops, and their size is
                returned. Counting the whole of a game that does not fit into memory may take long.
        """
        dealt = [deal for level in self.levels for pair in level.deals for deal in pair]
        of_deals = SubgameSize(0, 0, 0, sum(deal.rows for deal in dealt), sum(len(deal.hands) for deal in dealt))
        return of_deals + self._size_from(0, RoundEnd(0), most_bytes - of_deals.least_bytes)

    def _size_from(self, number: int, start: RoundEnd, most_bytes: float) -> SubgameSize:
        """Return the size of the nodes and tables from a street on; it is computed once for each number and start.

        Args:
            number, start: see :meth:`round_of`. The street's betting is not kept, since all streets may not fit into
                memory.
            most_bytes: see :meth:`size`.
        """
        key = number, start
        if key in self._sizes:
            return self._sizes[key]
        tree = no_limit_round(self.betting, self.first_street + number, start)
        size = SubgameSize.of_round(tree, len(self.levels[number].deals), self._rows_of_streets[number])
        for end in tree.ends.values() if number + 1 < len(self.levels) else ():
            if size.least_bytes > most_bytes:
                break
            size += self._size_from(number + 1, end, most_bytes)
        if size.least_bytes <= most_bytes:
            self._sizes[key] = size
        return size

    @cached_property
    def _sizes(self) -> dict[tuple[int, RoundEnd], SubgameSize]:
        return {}

    @cached_property
    def _rows_of_streets(self) -> list[tuple[int, int]]:
        """For each street, the numbers of both players' rows, summed over all boards."""
        return [
            (sum(first.rows for first, _ in level.deals), sum(second.rows for _, second in level.deals))
            for level in self.levels
        ]

    def build(self, name: str | None = None) -> Subgame:
        """Build the game.

        Args:
            name: the game's name; by default ``subgame`` and the board.

        Raises:
            GameError: it does not fit into memory.
        """
        board_name = "".join(names_of(np.array([card]), HOLDEM_DECK.suits) for card in self.board)
        name = name or f"{PREFIX} {board_name}"
        self._require_memory(name)
        half_pot = self.betting.pot / 2
        chip = float(self.betting.chip)
        tree = CardTree(self.levels, self.round_of, RoundEnd(0), dead=half_pot, chip=chip)
        sides = self.levels[0].deals[0]
        # A row's hands have equal weights, since only symmetries of the ranges merge hands; the first stands for all.
        reach = [
            weights[deal.deck.hand_numbers[deal.firsts]] for weights, deal in zip(self.weights, sides, strict=True)
        ]
        payoffs = tree.nodes["payoff"]
        # At a showdown either player may win, so these payoffs count with both signs.
        most_lost = float(payoffs[tree.nodes["kind"] == SHOWDOWN].max(initial=0.0))
        return check_public(
            Subgame(
                name=name,
                view=tree.view((reach[0], reach[1])),
                # Weights need not sum to 1, so the mass of all possible pairs normalises them.
                pair_probability=1 / self._mass_of_pairs(),
                mass=(sides[0].sizes * reach[0], sides[1].sizes * reach[1]),
                utility_range=float(payoffs.max() - min(payoffs.min(), -most_lost)),
                depth=tree.depth,
                pot=self.betting.in_units(self.betting.pot),
                moves=tree.moves,
                deals=tree.deals(0),
                second_deals=tree.deals(1),
                arguments=self.arguments,
            )
        )

    def _mass_of_pairs(self) -> float:
        """Return the sum of the products of weights over all pairs of hands that share no card."""
        hands = HOLDEM_DECK.hands
        first, second = self.weights
        held = np.zeros((len(hands), HOLDEM_DECK.size))
        np.put_along_axis(held, hands, 1.0, axis=1)
        # All hands, less those with the first and those with the second card. The same hand was then subtracted twice,
        # so it is added once.
        met = second.sum() - held @ (second @ held) + second
        return float(first @ met)

    def _require_memory(self, name: str) -> None:
        """Check that the game's tree fits into memory together with tables of 16-bit numbers.

        Whether tables of larger numbers fit is checked when a run begins.

        Raises:
            GameError: the tree and such tables do not fit; the message says which smaller game would.
        """
        available = available_memory()
        if available is None:
            return
        size = self.size(available)
        if size.least_bytes <= available:
            return
        smaller = replace(self, betting=self.betting.with_one_size()).size(available)
        if smaller.least_bytes <= available:
            needed = gigabytes(smaller.least_bytes)
            advice = f"with only the first size of each list it needs {needed}, which fits with dtype='int16'"
        else:
            advice = (
                "even with only the first size of each list it needs too much: begin on a later street, or use "
                "narrower ranges"
            )
        raise GameError(
            f"{name!r} needs at least {gigabytes(size.least_bytes)} of memory for {size.nodes:,} public nodes and "
            f"{size.sequences:,} table entries of 16 bits, but only {gigabytes(available)} are available; {advice}"
        )


def _weights(arguments: Mapping[str, Any], board: list[int]) -> np.ndarray:
    """Return both players' weights of the hands that can be dealt, (2, 1326).

    Raises:
        GameError: a range can't be read, or no two hands of the ranges can be dealt together.
    """
    weights = np.stack([possible_weights(range_weights(arguments[side]), board) for side in ("oop", "ip")])
    for side, side_weights in zip(("oop", "ip"), weights, strict=True):
        if not side_weights.any():
            raise GameError(f"every hand of {side}={brief(arguments[side])} contains a card of the board")
    may_meet = meets_any(HOLDEM_DECK.hands, weights)
    if not may_meet.any():
        raise GameError(
            f"no hand of oop={brief(arguments['oop'])} can be dealt together with a hand of "
            f"ip={brief(arguments['ip'])}: all pairs share a card"
        )
    return np.where(may_meet, weights, 0.0)


def _following(dealt: Dealt, cards: int) -> Iterable[Dealt]:
    """Yield the deals after ``cards`` more board cards; boards that leave a player without a hand are not dealt."""
    first, second = dealt
    for deal in first.following(cards):
        opponents = replace(deal, deck=second.deck)
        if deal.has_hands and opponents.has_hands:
            yield deal, opponents
