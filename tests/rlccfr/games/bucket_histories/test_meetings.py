"""Buckets and meetings: beside the merged public tree, beside a count of all deals by hand, and kept on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb, prod

import numpy as np
import pytest

import rlccfr
from rlccfr.errors import GameError
from rlccfr.games.bucket_histories import boards as boards_module
from rlccfr.games.bucket_histories import meetings as meetings_module
from rlccfr.games.bucket_histories import strengths as strengths_module
from rlccfr.games.bucket_histories.bucketing import Bucketing, bucketing_of
from rlccfr.games.bucket_histories.meetings import meetings_between, meetings_of
from rlccfr.games.merging.hands import rounds_by_cards, rows_of
from rlccfr.games.merging.pairs import numbered, pairs_of
from rlccfr.games.merging.percentiles import equity_buckets
from rlccfr.games.public.cards import strengths
from rlccfr.games.public.deals import Deck
from rlccfr.games.public.names import rules_of

NAMES = (
    "holdem(rounds=4,ranks=5,suits=2,private=1,flop=1)",
    "holdem(rounds=4,ranks=4,suits=3,private=1,flop=2)",
    "holdem(rounds=3,ranks=6,suits=2,private=2,flop=2)",
    "holdem(rounds=4,ranks=5,suits=2,private=2,flop=3)",
)

TINY = ((Deck(3, 2, 1), (0, 1, 1)), (Deck(4, 2, 1), (0, 2, 1)), (Deck(3, 2, 2), (0, 1)), (Deck(4, 1, 1), (0,)))

load = cache(rlccfr.load_game)


def bucketing_for(name: str, buckets: int) -> Bucketing:
    rules = rules_of(name)
    return bucketing_of(rules.deck, rules.board, buckets)


def in_round(meetings, matrix: np.ndarray, number: int) -> np.ndarray:
    """Return a matrix over pairs of histories of the last round, summed over those that continue an earlier pair."""
    for above in meetings.above[:number:-1]:
        starts = np.flatnonzero(np.diff(above, prepend=-1))
        matrix = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    return matrix


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_buckets_and_pairs_are_those_of_the_merged_public_tree(name):
    game = load(name)
    rounds = rounds_by_cards(game)
    for buckets in (2, 3, 5):
        bucketing = bucketing_for(name, buckets)
        meetings = meetings_of(bucketing)
        expected_buckets = equity_buckets(game, buckets)
        for number, deals in enumerate(rounds):
            expected = expected_buckets[rows_of(game, deals)]
            found = [
                bucketing.histories_of(
                    game.deals[deal].deck.hands[game.deals[deal].firsts],
                    np.tile(game.deals[deal].board, (game.deals[deal].rows, 1)),
                )[:, number]
                for deal in deals
            ]
            assert np.array_equal(np.concatenate(found), expected)
        number_of_row, parents = numbered(game, expected_buckets)
        uses = np.ones((len(rounds), 2), np.int64)
        before = np.ones(1)
        for number, pairs in enumerate(pairs_of(game, number_of_row, parents, uses)):
            rows = rows_of(game, rounds[number])
            bucket = np.zeros(pairs.num_buckets, np.int64)
            bucket[number_of_row[rows]] = expected_buckets[rows]
            first, second = bucket[pairs.buckets].T
            half = pairs.half_probability * before[pairs.parent]
            before = pairs.probability * half[pairs.half]
            met = in_round(meetings, meetings.met, number) / meetings.met.sum()
            expected = np.zeros(met.shape)
            expected[first, second] = before
            assert np.abs(met - expected).max() <= 1e-12
        margins = meetings.won[first, second] / meetings.met[first, second]
        assert np.abs(margins - pairs.win_margin).max() <= 1e-12


class ByHand:
    """Bucket histories of a tiny deck, as they are defined, by fractions and loops over all deals."""

    def __init__(self, deck: Deck, new_cards: tuple[int, ...], buckets: int) -> None:
        self.deck = deck
        self.hands = [frozenset(hand) for hand in combinations(range(deck.size), deck.private)]
        self.boards: list[list[tuple[frozenset, ...]]] = [[()]]  # of each round, and before the first
        for cards in new_cards:
            self.boards.append(
                [
                    (*board, frozenset(new))
                    for board in self.boards[-1]
                    for new in combinations(sorted(set(range(deck.size)).difference(*board)), cards)
                ]
            )
        self.history: dict[tuple, tuple[int, ...]] = {(hand, ()): () for hand in self.hands}
        for boards in self.boards[1:]:
            groups: dict[tuple[int, ...], list[tuple]] = {}
            for board in boards:
                for hand in self.hands:
                    if not hand & frozenset().union(*board):
                        groups.setdefault(self.history[hand, board[:-1]], []).append((hand, board))
            for before, members in groups.items():
                values = [self.squared(hand, board) for hand, board in members]
                for member, value in zip(members, values, strict=True):
                    lower = sum(other < value for other in values)
                    middle = Fraction(2 * lower + values.count(value), 2 * len(values))
                    self.history[member] = (*before, min(int(middle * buckets), buckets - 1))

    @cache  # noqa: B019  (the object lives as long as one test)
    def strength(self, hand: frozenset, board: tuple[frozenset, ...]) -> int:
        cards = np.array([sorted(hand.union(*board))])
        return int(strengths(cards, self.deck.ranks, self.deck.suits)[0])

    @cache  # noqa: B019
    def squared(self, hand: frozenset, board: tuple[frozenset, ...]) -> Fraction:
        """Return the mean of HS^2 over the boards that may follow."""
        if len(board) < len(self.boards) - 1:
            following = [
                self.squared(hand, longer)
                for longer in self.boards[len(board) + 1]
                if longer[:-1] == board and not hand & longer[-1]
            ]
            return sum(following, Fraction(0)) / len(following)
        own = self.strength(hand, board)
        others = [self.strength(other, board) for other in self.hands if not other & hand.union(*board)]
        return Fraction(sum(2 * (own > other) + (own == other) for other in others), 2 * len(others)) ** 2

    def meetings(self, first: ByHand, second: ByHand) -> tuple[np.ndarray, np.ndarray]:
        """Return the deals of each pair of histories, and wins less losses, by loops over all of them."""
        numbers = [
            {history: k for k, history in enumerate(sorted({h for (_, b), h in side.history.items() if b in last}))}
            for side in (first, second)
            for last in [set(side.boards[-1])]
        ]
        met = np.zeros((len(numbers[0]), len(numbers[1])))
        won = np.zeros_like(met)
        for board in self.boards[-1]:
            for own in self.hands:
                for other in self.hands:
                    if len(frozenset().union(own, other, *board)) == 2 * self.deck.private + sum(map(len, board)):
                        pair = numbers[0][first.history[own, board]], numbers[1][second.history[other, board]]
                        margin = self.strength(own, board) - self.strength(other, board)
                        met[pair] += 1
                        won[pair] += (margin > 0) - (margin < 0)
        return met, won


@pytest.mark.parametrize(("deck", "new_cards"), TINY)
def test_meetings_are_those_counted_by_hand(deck, new_cards):
    by_hand = {buckets: ByHand(deck, new_cards, buckets) for buckets in (2, 3)}
    bucketings = {buckets: bucketing_of(deck, new_cards, buckets) for buckets in (2, 3)}
    for first, second in ((2, 2), (3, 3), (2, 3), (3, 2)):
        met, won = by_hand[first].meetings(by_hand[first], by_hand[second])
        between = meetings_between(bucketings[first], bucketings[second])
        assert np.array_equal(between.met, met)
        assert np.array_equal(between.won, won)
        assert [len(above) for above in between.opponent_above] == list(bucketings[second].num_histories)
        if first == second:
            same = meetings_of(bucketings[first])
            assert np.array_equal(same.met, met)
            assert np.array_equal(same.won, won)


def test_all_hands_on_a_board_have_the_histories_of_each():
    bucketing = bucketing_for(NAMES[3], 3)
    hands = bucketing.deck.hands
    board = np.array([7, 2, 4, 9, 0])
    for size in (0, 3, 4, 5):
        on_board = bucketing.histories_on(board[:size])
        one_by_one = bucketing.histories_of(hands[:, ::-1], np.tile(board[:size], (len(hands), 1)))
        assert np.array_equal(on_board.T, one_by_one)
        blocked = np.isin(hands, board[:size]).any(axis=1)
        assert ((on_board[-1] == -1) == blocked).all()


def test_permutations_of_suits_and_the_order_of_the_flop_change_no_history():
    bucketing = bucketing_for(NAMES[1], 3)
    rng = np.random.default_rng(1)
    cards = np.array([rng.permutation(12)[:5] for _ in range(200)])
    expected = bucketing.histories_of(cards[:, :1], cards[:, 1:])
    turned = cards // 3 * 3 + np.array([2, 0, 1])[cards % 3]
    assert np.array_equal(bucketing.histories_of(turned[:, :1], turned[:, 1:]), expected)
    assert np.array_equal(bucketing.histories_of(cards[:, :1], cards[:, [2, 1, 3, 4]]), expected)


def test_a_flop_of_the_whole_deck_does_not_overflow():
    """A whole deck's flops all follow one board, so the sums over pairs do not fit into 32 bits at once."""
    deck = Deck(13, 4, 2)
    meetings = meetings_of(bucketing_of(deck, (0, 1), 2))
    assert meetings.met.sum() == comb(52, 2) * comb(50, 2) * 48
    assert (meetings.met >= 0).all()


class Stopped(Exception):
    pass


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path))
    monkeypatch.setattr(boards_module, "LEAST_KEPT", 0)
    monkeypatch.setattr(meetings_module, "BOARDS_PER_CALL", 1)
    return tmp_path


def test_interrupted_work_continues_where_its_file_ends(kept, monkeypatch):
    bucketing = bucketing_for(NAMES[1], 3)
    expected = meetings_of(bucketing)
    for path in kept.glob("meetings-*"):
        path.unlink()
    monkeypatch.setattr(meetings_module, "SECONDS_BETWEEN_FILES", 0.0)
    monkeypatch.setattr(meetings_module, "WRITING", 1e9)
    shares: list[float] = []

    def stop(share: float) -> None:
        shares.append(share)
        if share > 0.5:
            raise Stopped

    with pytest.raises(Stopped):
        meetings_of(bucketing, stop)
    assert len(list(kept.glob("meetings-*"))) == 1
    first_shares = shares.copy()
    shares.clear()
    with pytest.raises(Stopped):  # at the first share, which is that of the interrupted call
        meetings_of(bucketing, stop)
    assert shares == first_shares[-1:]
    found = meetings_of(bucketing, shares.append)
    assert shares[-1] == 1.0
    assert np.array_equal(found.met, expected.met)
    assert np.array_equal(found.won, expected.won)
    assert len(list(kept.glob("meetings-*"))) == 1  # the finished one


def test_what_is_kept_is_read_again_and_what_is_damaged_is_not(kept, monkeypatch):
    bucketing = bucketing_for(NAMES[0], 3)
    expected = meetings_of(bucketing)
    kinds = ("strengths", "buckets", "meetings")
    assert all(len(list(kept.glob(f"{kind}-*.npz"))) == 1 for kind in kinds)
    monkeypatch.setattr(meetings_module, "_add_all", None)
    monkeypatch.setattr(strengths_module, "orders_of", None)
    again = bucketing_for(NAMES[0], 3)
    assert all(np.array_equal(*pair) for pair in zip(again.starts, bucketing.starts, strict=True))
    assert np.array_equal(meetings_of(again).met, expected.met)
    monkeypatch.undo()
    monkeypatch.setenv("RLCCFR_CACHE", str(kept))
    monkeypatch.setattr(boards_module, "LEAST_KEPT", 0)
    for path in kept.glob("*.npz"):
        path.write_bytes(path.read_bytes()[:-100])
    assert np.array_equal(meetings_of(bucketing_for(NAMES[0], 3)).won, expected.won)


def test_what_was_kept_before_keys_named_the_version_of_strengths_stays_valid(kept, monkeypatch):
    """Any later version of strengths has files of its own, of all that is computed from them."""
    meetings_of(bucketing_for(NAMES[0], 3))
    assert (kept / "buckets-ffac21473fa8c0fa.npz").exists()
    assert (kept / "meetings-dd05dfa5187697e2.npz").exists()
    monkeypatch.setattr(strengths_module, "FORMAT", "rlccfr-strengths-2")
    meetings_of(bucketing_for(NAMES[0], 3))
    assert all(len(list(kept.glob(f"{kind}-*.npz"))) == 2 for kind in ("strengths", "buckets", "meetings"))


def test_too_little_memory_is_told_in_one_line(monkeypatch):
    bucketing = bucketing_for(NAMES[0], 5)
    monkeypatch.setattr(strengths_module, "available_memory", lambda: 100)
    with pytest.raises(
        GameError, match=r"^the counts for pairs of 78 bucket histories need .* of memory, but only 1e-07 GB are"
    ):
        meetings_of(bucketing)
    # No other test has this deck, so its strengths are not in memory already.
    with pytest.raises(GameError, match=r"^the strengths of 12 hands need .*: use fewer ranks or rounds$"):
        bucketing_of(Deck(ranks=4, suits=3, private=1), (0, 1), 2)


def test_other_cards_do_not_meet():
    with pytest.raises(GameError, match="must be of the same deck and boards"):
        meetings_between(bucketing_for(NAMES[0], 2), bucketing_for(NAMES[1], 2))


def test_progress_is_told_up_to_the_end():
    shares: list[float] = []
    rules = rules_of(NAMES[0])
    bucketing_of(rules.deck, rules.board, 2, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.slow
def test_kernels_give_the_same_as_plain_python():
    deck, new_cards = TINY[1]
    bucketing = bucketing_of(deck, new_cards, 3)
    meetings = meetings_of(bucketing)
    code = (
        "from rlccfr.games.bucket_histories.bucketing import bucketing_of\n"
        "from rlccfr.games.bucket_histories.meetings import meetings_of\n"
        "from rlccfr.games.public.deals import Deck\n"
        f"bucketing = bucketing_of({deck!r}, {new_cards!r}, 3); meetings = meetings_of(bucketing)\n"
        "print((meetings.met.tolist(), meetings.won.tolist(), bucketing.histories_on([1, 4, 2]).tolist()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    assert run.returncode == 0, run.stderr
    expected = meetings.met.tolist(), meetings.won.tolist(), bucketing.histories_on([1, 4, 2]).tolist()
    assert run.stdout.strip() == repr(expected)


def num_deals(deck: Deck, new_cards: tuple[int, ...]) -> int:
    """Return the number of deals: ordered pairs of hands, and boards."""
    left = deck.size - 2 * deck.private - np.cumsum([0, *new_cards[:-1]])
    return deck.num_pairs * prod(comb(int(cards), new) for cards, new in zip(left, new_cards, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_meetings_are_symmetric_and_count_all_deals(name):
    bucketing = bucketing_for(name, 3)
    meetings = meetings_of(bucketing)
    assert meetings.met.sum() == num_deals(bucketing.deck, bucketing.boards.new_cards)
    assert np.array_equal(meetings.met, meetings.met.T)
    assert np.array_equal(meetings.won, -meetings.won.T)
    assert (np.abs(meetings.won) <= meetings.met).all()
    assert all((np.diff(above) >= 0).all() for above in meetings.above)
