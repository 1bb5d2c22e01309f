"""Equities of ranges, beside published ones and a count by hand."""

from __future__ import annotations

import json
from math import comb

import numpy as np
import pytest

import rlccfr
from rlccfr.errors import GameError
from rlccfr.games.public.cards import card_sets, cards_named, strengths
from rlccfr.games.public.ranges import HOLDEM_DECK, range_weights
from rlccfr.kernels.public.hand_strength import fill_strengths


def test_strengths_are_those_of_the_cards_module():
    rng = np.random.default_rng(0)
    hands = HOLDEM_DECK.hands
    boards = [rng.choice(52, 5, replace=False) for _ in range(40)]
    boards += [cards_named(text) for text in ("AhKhQhJhTh", "2c3c4c5cAc", "7c7d7h7s2c", "7c7d7h2s2c", "5h6h7h8h9c")]
    found = np.zeros(len(hands), np.int64)
    for board in boards:
        fill_strengths(np.array(board), hands, found)
        possible = ~np.isin(hands, board).any(axis=1)
        sets = np.hstack([hands[possible], np.broadcast_to(board, (possible.sum(), 5))])
        assert np.array_equal(found[possible], strengths(sets, 13, 4))
        assert (found[~possible] == -1).all()


def counted(first: str, second: str, board: str) -> tuple[float, float]:
    """Return the first range's equity and the probability of a tie, by a loop over all pairs of hands and boards."""
    known = cards_named(board)
    won = tied = met = 0.0
    ranges = [range_weights(text) for text in (first, second)]
    for i, j in np.argwhere(ranges[0][:, None] * ranges[1] > 0):
        pair = [*HOLDEM_DECK.hands[i], *HOLDEM_DECK.hands[j]]
        if len({*pair, *known}) < 4 + len(known):
            continue
        weight = ranges[0][i] * ranges[1][j]
        missing = 5 - len(known)
        rest = card_sets(np.setdiff1d(np.arange(52), [*pair, *known]), missing) if missing else np.zeros((1, 0), int)
        boards = np.hstack([np.broadcast_to(np.array(known, int), (len(rest), len(known))), rest])
        own, other = (
            strengths(np.hstack([np.broadcast_to(hand, (len(boards), 2)), boards]), 13, 4)
            for hand in (pair[:2], pair[2:])
        )
        won += weight * (own > other).mean()
        tied += weight * (own == other).mean()
        met += weight
    return (won + tied / 2) / met, tied / met


@pytest.mark.parametrize(
    ("first", "second", "board"),
    [
        ("AhKh", "QQ,AKs", "Td9d6h"),
        ("99,AKs:0.3,7h6h", "T8s,99,AhKd:0.5", "Td9d6h2c"),
        ("AKo,JTs:0.25,22", "AKo,JTs", "QhQd2s3s4c"),
        ("55,A5s", "55,A5s", "5h5d2c"),
    ],
)
def test_equities_are_those_counted_by_hand(first, second, board):
    found = rlccfr.equity(first, second, board)
    share, tie = counted(first, second, board)
    assert found.equity == pytest.approx((share, 1 - share), abs=1e-12)
    assert found.tie == pytest.approx(tie, abs=1e-12)
    hand = next(iter(found.hands[0]))
    assert found.hands[0][hand] == pytest.approx(counted(hand, second, board)[0], abs=1e-12)
    assert found.weights[0][hand] == range_weights(first)[_index(hand)]


def _index(hand: str) -> int:
    return int(np.flatnonzero(range_weights(hand))[0])


def test_equities_before_the_flop_are_the_published_ones():
    found = rlccfr.equity("AcAs", "2h7d")  # github.com/GregorDeCillia/pokerstoveR
    wins, ties = 1_493_820, 2 * 3_118
    boards = comb(48, 5)
    assert found.equity[0] == pytest.approx((wins + ties / 2) / boards, abs=1e-12)
    assert found.tie == pytest.approx(ties / boards, abs=1e-12)


def test_suits_that_neither_board_nor_range_tells_apart_change_nothing():
    """Boards are merged by symmetry if ranges allow it; a hand that breaks the symmetry must leave the others' sums."""
    merged = rlccfr.equity("AKs,QQ", "JJ,T9s", "7h7d2c")
    split = rlccfr.equity("AKs,QQ,5s4s:0.000001", "JJ,T9s", "7h7d2c")
    for hand in merged.hands[0]:
        assert merged.hands[0][hand] == pytest.approx(split.hands[0][hand], abs=1e-12)


def test_wider_ranges_are_means_of_their_hands():
    found = rlccfr.equity("66+,A8s+", "random", "Td9d6h")
    weight = {
        hand: found.weights[0][hand] * sum(_may_meet(hand, other) for other in found.hands[1])
        for hand in found.hands[0]
    }
    mean = sum(weight[hand] * share for hand, share in found.hands[0].items()) / sum(weight.values())
    assert found.equity[0] == pytest.approx(mean, abs=1e-12)
    assert len(found.hands[1]) == comb(49, 2)


def _may_meet(first: str, second: str) -> bool:
    return not {first[:2], first[2:]} & {second[:2], second[2:]}


def test_hands_that_can_meet_nothing_are_left_out_whatever_rounding_leaves():
    board = "2c2d2h3s3c"
    blocked = "AhQh:0.13,AhJh:0.85,KhQh:0.76"
    with pytest.raises(GameError, match="no hand of 'AhKh' can be dealt together with"):
        rlccfr.equity("AhKh", blocked, board)
    found = rlccfr.equity("AhKh,8s8d", "AhQh:0.95,AhJh:0.54,KhQh:0.44,KhJh:0.27", board)
    assert list(found.hands[0]) == ["8s8d"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("AA", "KK", "Td9d"), "the board 'Td9d' has 2 cards; name none, or three to five"),
        (("AA", "KK", "Td9dTd"), "'Td9dTd' has a card twice"),
        (("AA", "KK", "Td9d1h"), "'1h' is not a card"),
        (("AA", "KK", "Td9d6"), "'6' is not a card"),
        (("AA", "KK", None), "cards must be given as a string, such as 'Td9d6h', not as None"),
        (("AhAd", "AhKh"), "no hand of 'AhAd' can be dealt together with a hand of 'AhKh'"),
        (("AhAd", "KK", "Ah9d6c"), "no hand of 'AhAd' can be dealt together with a hand of 'KK' on Ah9d6c"),
        (("AAA", "KK"), "the range has 'AAA'"),
    ],
)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(GameError) as error:
        rlccfr.equity(*arguments)
    assert message in str(error.value)


def test_the_command_prints_what_the_function_returns(run):
    code, out, err = run("equity", "AhKh", "QQ+,AKs", "--board", "Td9d6h", "--json")
    expected = rlccfr.equity("AhKh", "QQ+,AKs", "Td9d6h")
    printed = json.loads(out)
    assert (code, err) == (0, "")
    assert printed["equity"] == list(expected.equity)
    assert printed["hands"] == list(expected.hands)
    code, out, _ = run("equity", "AhKh", "QQ+,AKs", "--board", "Td9d6h", "--hands")
    assert [line.split()[0] for line in out.splitlines()[:3]] == ["range", "AhKh", "QQ+,AKs"]
    assert f"{expected.equity[0]:.4g}" in out
    assert "AcAd" in out or "AdAc" in out
    assert run("equity", "AhKh", "QQ+", "--board", "Td9d")[0] == 1


def test_on_a_whole_board_all_hands_meet():
    found = rlccfr.equity("random", "random", "Td9d6h2c3s")
    assert len(found.hands[0]) == comb(47, 2)
    assert found.equity == pytest.approx((0.5, 0.5), abs=1e-12)
