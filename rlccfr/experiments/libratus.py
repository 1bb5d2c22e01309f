"""The river subgames 3 and 4 of Libratus, which DDCFR's and APCFR+'s papers call HUNL subgames.

For each subgame, a file of Libratus's authors has the board, the pot and each player's reach with each hand. The code
of DDCFR's paper reads the files with two errors: the ranges are swapped, and some cards are misread. So each subgame is
included twice: once with these errors, as in DDCFR's published results, and once without them, as in the authors' file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from rlccfr.experiments.curves import curve_of, with_horizon
from rlccfr.experiments.experiment import Case, Row
from rlccfr.experiments.pages import table
from rlccfr.experiments.pokerrl import BIG_BLIND, MISREAD, MisreadRules, PlainRiver
from rlccfr.experiments.public_files import PublicFile
from rlccfr.games.public.ranges import SMALLEST_WEIGHT
from rlccfr.games.public.subgame import DEFAULTS, Subgame, SubgameRules
from rlccfr.limits import uniform_exploitability
from rlccfr.solver import Solver

_ADDRESS = (
    "https://raw.githubusercontent.com/Sandholm-Lab/LibratusEndgames/0e3adfa9979f6f7c139ed932a028b0509f39ae00/"
    "subgame{}.txt"
)
_DIGESTS = {
    3: "6d256c0c22e731e4ea80d4ff2a883929b7fa2a6b0bc0c2dcbf83a43bcfc842ab",
    4: "8478d7a5ec13b91459fc2a626ceed6941c5a4069666a01e11de730cb3d6d5366",
}
FILES = {
    number: PublicFile(f"libratus-subgame{number}.txt", _ADDRESS.format(number), digest)
    for number, digest in _DIGESTS.items()
}
"""The subgames' files, keyed by the subgames' numbers. They have no licence, so they are not part of this library."""

STACK = 20_000
"""Chips of each player before the hand: 200 big blinds."""

BETS = {"bets": "50%, 100%, a", "raises": "100%, a", "min_bet": BIG_BLIND}
"""Bet sizes in both papers."""


class Tables(NamedTuple):
    """A way to read a subgame's file.

    Attributes:
        number: number of the subgame, 3 or 4.
        swapped: whether the file's second range acts first.
        misread: whether cards are misread when hands are compared.
    """

    number: int
    swapped: bool
    misread: bool


AS_PUBLISHED = {f"HUNL-{number} as published": Tables(number, True, True) for number in FILES}
CORRECTED = {f"HUNL-{number} right tables": Tables(number, False, False) for number in FILES}
RIVERS = {**AS_PUBLISHED, **CORRECTED}
"""How a subgame's file is read for each game, keyed by the games' titles."""

MEASURE = "NashConv / 2 in big blinds"
"""The measure of the papers' code, which is also used here on these games.

Payoffs are in big blinds of 100 chips. The weights of each range add up to 1, and a pair of hands that share a card
counts as a payoff of 0.
"""

EVIDENCE = "tables/"
"""Prefix of the keys of the cases that show which tables lead to the published figures."""

COMPARED = (1, 2, 3, 5, 10, 30)
"""Numbers of iterations after which CFR's exploitability is compared with the published one."""

PUBLISHED_CFR = {
    3: (27.8167554, 20.7712408, 15.0911145, 10.1213922, 5.2906946, 2.0662349),
    4: (38.4311938, 33.3556298, 26.2771332, 19.6645935, 11.7874530, 3.9471390),
}
"""CFR's exploitability after the iterations :data:`COMPARED`, keyed by the subgame's number, from the results that come
with DDCFR's code. The average policy after one iteration is the uniform policy."""


class Endgame(NamedTuple):
    """The content of a subgame's file.

    Attributes:
        board: the board's cards.
        pot: chips in the pot.
        ranges: the range of the player out of position and that of the player in position, as strings.
    """

    board: str
    pot: int
    ranges: tuple[str, str]


def endgame_of(text: str) -> Endgame:
    """Return the content of a file from its text.

    The weights of each range are divided by the largest. Hands are left out if their weight is then below
    :data:`~rlccfr.games.public.ranges.SMALLEST_WEIGHT`.
    """
    fields = dict(line.removeprefix("-").split(" ", 1) for line in text.splitlines() if line.startswith("-"))
    # The file's numbers follow this order of cards, and of pairs of cards, without naming the hands.
    deck = [rank + suit for rank in "23456789TJQKA" for suit in "shdc"]
    hands = [first + second for first, second in combinations(deck, 2)]
    reach = [float(number) for number in fields["reach"].split()]
    return Endgame(
        fields["board"].strip(),
        int(fields["pot"]),
        # The first half of the numbers is one player's reach, the second half the other's.
        (_range_of(hands, reach[: len(hands)]), _range_of(hands, reach[len(hands) :])),
    )


def _range_of(hands: Sequence[str], reach: Sequence[float]) -> str:
    """Return hands with their reach as the string of a range."""
    largest = max(reach)
    weights = [number / largest for number in reach]
    kept = [f"{hand}:{weight!r}" for hand, weight in zip(hands, weights, strict=True) if weight >= SMALLEST_WEIGHT]
    return ",".join(kept)


def rules_by(tables: Tables) -> SubgameRules:
    """Return the rules of a river subgame.

    Args:
        tables: which subgame's file to read, and how.

    Raises:
        RLCCFRError: the file is not on this machine, and can't be downloaded.
    """
    endgame = endgame_of(FILES[tables.number].read())
    first, second = reversed(endgame.ranges) if tables.swapped else endgame.ranges
    arguments = {
        **DEFAULTS, **BETS, "board": endgame.board, "pot": endgame.pot, "stack": STACK - endgame.pot // 2, "oop": first,
        "ip": second,
    }  # fmt: skip
    return MisreadRules.of(arguments) if tables.misread else SubgameRules.of(arguments)


@cache
def river(title: str) -> Subgame:
    """Return a game of :data:`RIVERS` by its title.

    Raises:
        RLCCFRError: the game's file is not on this machine, and can't be downloaded.
    """
    return rules_by(RIVERS[title]).build(title)


def in_big_blinds(game: Subgame) -> float:
    """Return the factor that turns this library's exploitability, in chips per deal, into :data:`MEASURE`."""
    share_of_pairs = 1.0 / (game.pair_probability * game.mass[0].sum() * game.mass[1].sum())
    return float(share_of_pairs / BIG_BLIND)


def curve(title: str, rule: str, iterations: int, only_end: bool) -> list[Row]:
    """Return the curve of an update rule on a game of :data:`RIVERS` by exact passes.

    Args:
        only_end: whether to measure only the final policy.

    Returns:
        Rows as :func:`~rlccfr.experiments.curves.curve_of` returns them, with :data:`MEASURE` as the exploitability.
    """
    game = river(title)
    factor = in_big_blinds(game)
    rows = curve_of(Solver(game, with_horizon(rule, iterations)), iterations, only_end)
    return [{**row, "exploitability": factor * row["exploitability"]} for row in rows]


def curve_case(title: str, rule: str, iterations: int, key: str, *, only_end: bool = False) -> Case:
    """Return the case of a curve on a game of :data:`RIVERS`."""
    return Case(key, partial(curve, title, rule, iterations, only_end), (FILES[RIVERS[title].number],))


def readings(number: int) -> list[Row]:
    """Return the exploitability of the uniform policy, in :data:`MEASURE`, for each way to read a subgame's file."""
    rows = []
    for swapped in (False, True):
        for misread in (False, True):
            game = rules_by(Tables(number, swapped, misread)).build()
            value = in_big_blinds(game) * uniform_exploitability(game)
            rows.append({"number": number, "swapped": swapped, "misread": misread, "value": value})
    return rows


def order(number: int) -> list[Row]:
    """Return CFR's exploitability on a game as published, after each number of iterations in :data:`COMPARED`.

    It is computed by :class:`PlainRiver`, which makes updates in the order of the published code. Each row also has the
    published figure.
    """
    solved = PlainRiver(rules_by(Tables(number, swapped=True, misread=True)))
    rows = []
    for iteration in range(1, COMPARED[-1] + 1):
        solved.iterate()
        if iteration in COMPARED:
            published = PUBLISHED_CFR[number][COMPARED.index(iteration)]
            rows.append({
                "number": number, "iterations": iteration, "value": solved.exploitability, "published": published
            })  # fmt: skip
    return rows


def evidence_cases() -> list[Case]:
    """Return the cases that show which tables lead to the published figures."""
    return [
        Case(f"{EVIDENCE}{measure.__name__}/{number}", partial(measure, number), (file,))
        for number, file in FILES.items()
        for measure in (readings, order)
    ]


def is_evidence(rows: pd.DataFrame) -> pd.Series:
    """Return for each row of an experiment whether it belongs to :func:`evidence_cases`."""
    of_evidence: pd.Series = rows["case"].str.startswith(EVIDENCE)
    return of_evidence


def section(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the page's lines on how the published tables differ from the right ones, and how that was found.

    Args:
        rows: rows of :func:`evidence_cases`.
    """
    misread = ", ".join(f"{card} as {other}" for card, other in MISREAD.items())
    yield from (
        "",
        "## The river subgames: two errors in the published tables",
        "",
        "HUNL-3 and HUNL-4 are the endgames 3 and 4 of Libratus, from the files that its authors published: "
        f"{' and '.join(file.address for file in FILES.values())}. These have no licence, so the library does not "
        "contain them: `rlccfr reproduce` downloads them once. The first bet is half of the pot, the pot or all-in, "
        f"and a raise is the pot or all-in. The measure is {MEASURE} of {BIG_BLIND:g} chips. It is a sum over all "
        "pairs of hands, not divided by the share of pairs that can be dealt. Hands with less than "
        "a billionth of the largest weight in their range are left out.",
        "",
        "The code of DDCFR's paper, and that of PDCFR+'s, has two errors, so their games are not these endgames:",
        "",
        "- *The ranges are swapped.* A file's first range is that of the player who acts first. The code gives it to "
        "seat 0, and lets seat 1 act first.",
        "- *Six cards are misread where hands are compared.* The dictionary `id_2d_to_str_dict` in the copy of PokerRL "
        "has two keys for each card, (rank, suit) and (suit, rank). Where both numbers are below 4, different cards "
        f"have the same key, and the later entry stays: {misread}. Whether hands share a card is decided correctly, "
        "so a misread hand can hold a card twice: 4d 3s counts as 3s 3s. On HUNL-4, whose board has three spades, the "
        "published figures fit if such a flush loses to all other hands.",
        "",
        "How this was found: the exploitability of the uniform policy does not depend on an algorithm, and the "
        "published one is reached only with both errors.",
        "",
    )
    readings_of_files = rows[rows["case"].str.startswith(f"{EVIDENCE}readings")]
    errors = [
        " and ".join(["ranges swapped"] * bool(swapped) + ["cards misread"] * bool(misread)) or "right tables"
        for swapped, misread in zip(readings_of_files["swapped"], readings_of_files["misread"], strict=True)
    ]
    published = [{"tables": "published", "number": number, "value": PUBLISHED_CFR[number][0]} for number in FILES]
    uniform = pd.concat([pd.DataFrame(published), readings_of_files.assign(tables=errors)])
    yield from _evidence(uniform, "tables", {"value": "uniform policy"}, ".5f")
    yield from (
        "",
        "With both errors, CFR also has the published curve. For this check, CFR is written a second time, with "
        "matrices and in the order of the published code: the player who acts second is updated first, and a policy "
        "enters its average before it is updated. All other figures on this page are those of the engine, which "
        "updates the first player first, and adds policies to averages after their updates.",
        "",
    )
    curves = rows[rows["case"].str.startswith(f"{EVIDENCE}order")]
    curves = curves.assign(**{"iterations of CFR": curves["iterations"].astype(int)})
    yield from _evidence(curves, "iterations of CFR", {"published": "published", "value": "here"}, "#.7g")
    yield from (
        "",
        "With *right tables*, ranges and cards are as in the files. Published figures can only be compared with the "
        "games as published.",
    )


def _evidence(rows: pd.DataFrame, key: str, columns: Mapping[str, str], digits: str) -> Iterator[str]:
    """Yield a table of evidence, with a line for each value of a column and with all subgames side by side.

    Args:
        rows: rows of :func:`readings` or :func:`order`, each with its subgame's ``number``.
        key: the column whose values begin the lines, in the order in which they come.
        columns: the columns that are shown for each subgame, with their titles.
        digits: format of the numbers.
    """
    figures = rows.set_index([key, "number"])
    lines: list[tuple[object, ...]] = [
        (each, *(f"{figures[column][each, number]:{digits}}" for number in FILES for column in columns))
        for each in rows[key].unique().tolist()
    ]
    yield from table((key, *(f"HUNL-{number}, {title}" for number in FILES for title in columns.values())), lines)
