"""Bet sizes of no-limit hold'em, given as strings, and the bets and raises that they allow at a decision.

The grammar follows PioSOLVER's and postflop-solver's. Sizes are a list, separated by commas. An amount is always the
total that a player has put in on the street after the move: a bet or raise *to* so many chips.

======== ==========================================================================================================
Size     A bet, or a raise, to
======== ==========================================================================================================
60%      the opponent's chips on the street, plus 60 % of the pot after a call; ``%`` may be left out
2.5x     2.5 times the opponent's chips on the street; only for raises
100c     the opponent's chips on the street, plus 100 chips
2e       the share of the pot that, bet once on this street and once on the next, puts all chips in
e        the same over all streets that remain: 3e on the flop, 2e on the turn, 1e on the river
2e50%    the same, but at most 50 % of the pot
a        all chips
a500%    all chips, if those beyond a call are at most 500 % of the pot after that call; else the size is left out
======== ==========================================================================================================

An amount is rounded to whole chips; half a chip is rounded up. It is then raised to the least legal amount, or lowered
to the stack: a first bet is at least ``min_bet`` chips, and a raise adds at least as much as the bet or raise before
it. Then, in this order:

- An all-in is added if at least one size is listed and, after a call, the stack is at most ``add_allin`` times the pot.
- A bet or raise becomes an all-in if calling it would leave stacks of at most ``force_allin`` times the pot, or if the
  player would have put in at least the share ``commit`` of its stack at the start.
- If two sizes are X % and Y % of the pot, and X is larger, the smaller size is dropped if (100 + X) / (100 + Y) < 1 +
  ``merging``. The largest size is kept, and each other size is compared with the next larger one that is kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from rlccfr.errors import GameError, brief

STREETS = ("flop", "turn", "river")

SIDES = ("oop", "ip")

_PERCENT = re.compile(r"(\d+(?:\.\d+)?|\.\d+)%?")
_MULTIPLE = re.compile(r"(\d+(?:\.\d+)?|\.\d+)x")
_CHIPS = re.compile(r"(\d+(?:\.\d+)?|\.\d+)c")
_GEOMETRIC = re.compile(r"(\d*)e(?:(\d+(?:\.\d+)?)%)?")
_ALL_IN = re.compile(r"(?:a|allin|all-in)(?:(\d+(?:\.\d+)?)%)?")

EXAMPLE = "sizes are like '33%', '2.5x', '100c', 'e', '2e' or 'a', separated by commas"


@dataclass(frozen=True)
class BetSize:
    """One size of bets or raises.

    Attributes:
        kind: what the number counts: shares of the pot, multiples of the opponent's chips, chips, or streets of
            geometric bets; an all-in has no number.
        number: the size's number; 0 for an all-in, and for a geometric size over all streets that remain.
        most: largest share of the pot for a geometric size or an all-in; None if it has no limit.
    """

    kind: Literal["pot", "multiple", "chips", "geometric", "all-in"]
    number: Fraction = Fraction(0)
    most: Fraction | None = None


def parsed_sizes(text: Any, where: str, *, raises: bool) -> tuple[BetSize, ...]:
    """Return the sizes listed in a string; an empty string has none.

    Args:
        text: the sizes, in the grammar of the module's docstring.
        where: which sizes these are, such as ``bets of the flop``, for errors.
        raises: whether they are sizes of raises; only these may be multiples.

    Raises:
        GameError: ``text`` is not a string, or a size is not in the grammar.

    Examples:
        >>> from rlccfr.games.public.bet_sizes import parsed_sizes
        >>> [size.kind for size in parsed_sizes("60%, e, a", "bets", raises=False)]
        ['pot', 'geometric', 'all-in']
    """
    if not isinstance(text, str):
        raise GameError(f"{where} must be a string of sizes, such as '33%, 75%', not {brief(text)}")
    items = [item.strip() for item in text.replace(";", ",").split(",")]
    return tuple(_parsed_size(item, where, raises) for item in items if item)


def _parsed_size(text: str, where: str, raises: bool) -> BetSize:
    """Return the size that a string stands for.

    Raises:
        GameError: the string is not in the grammar, or its number is impossible, such as 0.
    """
    plain = text.lower().replace(" ", "")
    if all_in := _ALL_IN.fullmatch(plain):
        return BetSize("all-in", most=_positive(all_in[1], text, where) / 100 if all_in[1] else None)
    if percent := _PERCENT.fullmatch(plain):
        return BetSize("pot", _positive(percent[1], text, where) / 100)
    if multiple := _MULTIPLE.fullmatch(plain):
        if not raises:
            raise GameError(
                f"{where}: {text!r} is not a size of a first bet, since only raises are multiples of a bet; write a "
                "share of the pot"
            )
        number = _positive(multiple[1], text, where)
        if number <= 1:
            raise GameError(
                f"{where}: {text!r} is not a size, since a raise must be to more than the bet; write a larger "
                "multiple, such as 2x"
            )
        return BetSize("multiple", number)
    if chips := _CHIPS.fullmatch(plain):
        return BetSize("chips", _positive(chips[1], text, where))
    if geometric := _GEOMETRIC.fullmatch(plain):
        streets = Fraction(geometric[1] or 0)
        if geometric[1] and not 1 <= streets <= len(STREETS):
            raise GameError(
                f"{where}: {text!r} is not a size, since geometric bets are for one to three streets, as in '2e'"
            )
        return BetSize("geometric", streets, _positive(geometric[2], text, where) / 100 if geometric[2] else None)
    raise GameError(f"{where}: {text!r} is not a size; {EXAMPLE}")


def _positive(number: str, text: str, where: str) -> Fraction:
    """Return the number in a size, after checking that it is not 0.

    Args:
        number: the number, as written.
        text: the whole size, for the error.
        where: in which sizes it is, such as ``bets of the flop``, for the error.

    Raises:
        GameError: the number is 0.
    """
    fraction = Fraction(number)
    if not fraction:
        raise GameError(f"{where}: {text!r} has the number 0; leave this size out")
    return fraction


@dataclass(frozen=True)
class StreetSizes:
    """The bet sizes of one street.

    Attributes:
        bets: sizes of first bets, for the player out of position and for the one in position.
        raises: sizes of raises, for the same two players.
        donk: sizes of first bets of the player out of position if the opponent bet or raised last on the street
            before; None if these are the sizes in ``bets``.
    """

    bets: tuple[tuple[BetSize, ...], tuple[BetSize, ...]]
    raises: tuple[tuple[BetSize, ...], tuple[BetSize, ...]]
    donk: tuple[BetSize, ...] | None = None


def sizes_by_street(bets: Any, raises: Any, donk: Any) -> tuple[StreetSizes, ...]:
    """Return the sizes of the flop, the turn and the river.

    Args:
        bets, raises: a string for all streets and both players; a pair of strings, for the player out of position and
            the one in position, as a tuple or a dict with the keys ``"oop"`` and ``"ip"``; or a dict from streets to
            strings or pairs. A street, or a player, that a dict leaves out has no sizes.
        donk: a string, or a dict from streets to strings. None, or a street that the dict leaves out, means the same
            sizes as ``bets``.

    Raises:
        GameError: a street is unknown, a pair is given as a list, or a size is not in the grammar.
    """
    checked_bets = _by_street(bets, "bets")
    checked_raises = _by_street(raises, "raises")
    checked_donk = dict.fromkeys(STREETS, donk) if not isinstance(donk, Mapping) else _streets_of(donk, "donk")
    sizes = []
    for street in STREETS:
        bet_sizes = [parsed_sizes(text, f"bets of the {street}", raises=False) for text in checked_bets[street]]
        raise_sizes = [parsed_sizes(text, f"raises of the {street}", raises=True) for text in checked_raises[street]]
        donk_text = checked_donk.get(street)
        donk_sizes = None if donk_text is None else parsed_sizes(donk_text, f"donk of the {street}", raises=False)
        sizes.append(StreetSizes((bet_sizes[0], bet_sizes[1]), (raise_sizes[0], raise_sizes[1]), donk_sizes))
    return tuple(sizes)


def _by_street(sizes: Any, name: str) -> dict[str, tuple[Any, Any]]:
    """Return both players' strings for each street; see :func:`sizes_by_street`."""
    is_by_street = isinstance(sizes, Mapping) and not _is_by_side(sizes)
    by_street = _streets_of(sizes, name) if is_by_street else dict.fromkeys(STREETS, sizes)
    return {street: _pair_of(by_street.get(street, ""), f"{name} of the {street}") for street in STREETS}


def _is_by_side(sizes: Any) -> bool:
    """Return whether sizes are a dict whose keys are in :data:`SIDES`."""
    return isinstance(sizes, Mapping) and bool(sizes) and set(sizes) <= set(SIDES)


def _pair_of(sizes: Any, where: str) -> tuple[Any, Any]:
    """Return both players' strings on one street.

    Raises:
        GameError: they are a tuple that is not a pair; or a list, which could be meant as a pair or as several sizes.
    """
    if _is_by_side(sizes):
        return sizes.get("oop", ""), sizes.get("ip", "")
    if isinstance(sizes, list):
        raise GameError(
            f"{where} is a list: write one string, such as '33%, 75%', or a pair for both players: a tuple, or in JSON "
            '{"oop": "33%", "ip": "75%"}'
        )
    if not isinstance(sizes, tuple):
        return sizes, sizes
    if len(sizes) != 2:
        raise GameError(f"{where} has {len(sizes)} strings; give one, or one for each player")
    return sizes[0], sizes[1]


def plain_sizes(sizes: Any) -> Any:
    """Return sizes as they are written in JSON, which has no tuples: pairs become dicts with a key for each side."""
    if isinstance(sizes, Mapping):
        return {key: plain_sizes(value) for key, value in sizes.items()}
    return dict(zip(SIDES, sizes, strict=True)) if isinstance(sizes, tuple) else sizes


def _streets_of(sizes: Mapping[Any, Any], name: str) -> dict[Any, Any]:
    """Return a dict from streets to sizes, after checking its keys.

    Raises:
        GameError: a key is not a street.
    """
    unknown = [street for street in sizes if street not in STREETS]
    if unknown:
        raise GameError(f"{name} has an unknown street {brief(unknown[0])}; streets are {', '.join(STREETS)}")
    return dict(sizes)


@dataclass(frozen=True)
class BetRules:
    """Rules on how much players may bet in a subgame; all amounts are counted in smallest chips.

    Attributes:
        pot: chips in the pot at the subgame's start.
        stack: chips that each player has left at the start.
        sizes: bet sizes of the flop, the turn and the river.
        add_allin, force_allin, merging, commit: thresholds; see the module's docstring. They are fractions, so that
            comparisons are exact where an amount lies on a threshold.
        min_bet: smallest first bet of a street.
        chip: value of the smallest chip, in the units in which the user gave the pot and the stack.
    """

    pot: int
    stack: int
    sizes: tuple[StreetSizes, ...]
    add_allin: Fraction
    force_allin: Fraction
    merging: Fraction
    commit: Fraction
    min_bet: int
    chip: Fraction

    def with_one_size(self) -> BetRules:
        """Return the rules with only the first size of each list."""
        sizes = [
            StreetSizes(
                bets=(street.bets[0][:1], street.bets[1][:1]),
                raises=(street.raises[0][:1], street.raises[1][:1]),
                donk=None if street.donk is None else street.donk[:1],
            )
            for street in self.sizes
        ]
        return replace(self, sizes=tuple(sizes))

    def in_units(self, amount: int) -> float:
        """Convert an amount from smallest chips to the units in which the user gave the pot."""
        return float(amount * self.chip)


@dataclass(frozen=True)
class Facing:
    """What the player to act faces; amounts are in smallest chips.

    Attributes:
        pot: the pot after a call.
        bet: the opponent's chips on this street; 0 if there is no bet.
        increase: how much the last bet or raise on this street added; 0 if there is none.
        most: the amount of an all-in: the player's total on this street after it.
        streets: number of streets that remain, including this one.
    """

    pot: int
    bet: int
    increase: int
    most: int
    streets: int


def amounts_of(rules: BetRules, sizes: tuple[BetSize, ...], facing: Facing) -> list[int]:
    """Return the amounts to which a player may bet or raise, ascending; ``facing.most`` stands for an all-in.

    Args:
        rules: the subgame's rules.
        sizes: the sizes of bets or raises that the player may use here.
        facing: what the player faces; the opponent must not be all-in.
    """
    if not sizes:
        return []
    least = min(facing.bet + max(facing.increase, rules.min_bet), facing.most)
    amounts = {
        min(max(_amount_of(rules, size, facing), least), facing.most) for size in sizes if _applies(size, facing)
    }
    # The order of these steps is part of the rules; see the module's docstring.
    if facing.most - facing.bet <= rules.add_allin * facing.pot:
        amounts.add(facing.most)
    forced = {facing.most if _is_nearly_all_in(rules, facing, amount) else amount for amount in amounts}
    return _merged(sorted(forced, reverse=True), facing, rules.merging)


def _applies(size: BetSize, facing: Facing) -> bool:
    """Return whether a size is available here; an all-in above the size's limit, as in ``a500%``, is not."""
    if size.kind != "all-in" or size.most is None:
        return True
    return facing.most - facing.bet <= size.most * facing.pot


def _amount_of(rules: BetRules, size: BetSize, facing: Facing) -> int:
    """Return the amount of a size, rounded to whole chips but not yet raised or lowered to a legal amount."""
    if size.kind == "all-in":
        return facing.most
    if size.kind == "pot":
        return facing.bet + _rounded(size.number * facing.pot)
    if size.kind == "multiple":
        return _rounded(size.number * facing.bet)
    if size.kind == "chips":
        return facing.bet + _rounded(size.number / rules.chip)
    # A geometric bet: (1 + 2 share)^streets is the factor by which the pot grows until all chips are in.
    streets = int(size.number) or facing.streets
    growth = 1 + Fraction(2 * (facing.most - facing.bet), facing.pot)
    share = Fraction((float(growth) ** (1 / streets) - 1) / 2)
    if size.most is not None:
        share = min(share, size.most)
    return facing.bet + _rounded(share * facing.pot)


def _rounded(amount: Fraction) -> int:
    """Return the nearest whole number; halves are rounded up."""
    return math.floor(amount + Fraction(1, 2))


def _is_nearly_all_in(rules: BetRules, facing: Facing, amount: int) -> bool:
    """Return whether calling an amount would leave so little that the amount becomes an all-in."""
    pot_after_call = facing.pot + 2 * (amount - facing.bet)
    chips_left = facing.most - amount
    return chips_left <= rules.force_allin * pot_after_call or chips_left <= (1 - rules.commit) * rules.stack


def _merged(descending: list[int], facing: Facing, merging: Fraction) -> list[int]:
    """Return the amounts, ascending, without those that are too close to a larger one that is kept."""
    kept: list[int] = []
    for amount in descending:
        if kept and facing.pot + kept[-1] - facing.bet < (1 + merging) * (facing.pot + amount - facing.bet):
            continue
        kept.append(amount)
    return kept[::-1]


def checked_rules(rules: BetRules, first_street: int) -> BetRules:
    """Return the rules after checking that no first bet is below the smallest bet.

    Args:
        first_street: the street on which the game begins; sizes of earlier streets are not used.

    Raises:
        GameError: a first bet is below the smallest bet, although the player has more chips.
    """
    for street, sizes in list(zip(STREETS, rules.sizes, strict=True))[first_street:]:
        for size in (*sizes.bets[0], *sizes.bets[1], *(sizes.donk or ())):
            facing = Facing(pot=rules.pot, bet=0, increase=0, most=rules.stack, streets=1)
            amount = _amount_of(rules, size, facing)
            if size.kind in ("pot", "chips") and amount < min(rules.min_bet, rules.stack):
                raise GameError(
                    f"the first bet of {rules.in_units(amount):g} on the {street} is below the smallest bet, "
                    f"{rules.in_units(rules.min_bet):g}: use a larger size, or a smaller min_bet or chip"
                )
    return rules
