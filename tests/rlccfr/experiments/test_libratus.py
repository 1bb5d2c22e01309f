"""Libratus's rivers: how files are read, the errors of the published tables, and the measure."""

from __future__ import annotations

import hashlib
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from plain_subgames import cards_in, strength

import rlccfr
from rlccfr.experiments import ddcfr, libratus
from rlccfr.experiments.libratus import Tables
from rlccfr.experiments.pokerrl import MISREAD, MisreadDeal, PlainRiver
from rlccfr.experiments.public_files import PublicFile
from rlccfr.games.public.cards import cards_named, suit_permutations
from rlccfr.games.public.deals import RangeDeck
from rlccfr.games.public.ranges import HOLDEM_DECK
from rlccfr.limits import uniform_exploitability

HANDS = [
    first + second for first, second in combinations([rank + suit for rank in "23456789TJQKA" for suit in "shdc"], 2)
]
RANGES = (
    {"3h5h": 0.25, "4dAh": 0.5, "4d3s": 0.5, "QcQd": 0.1, "6s2d": 0.05, "5s5d": 1e-12},
    {"4hAc": 0.2, "AhAc": 0.3, "3h3d": 0.4, "8s9s": 0.1, "2d2c": 0.3, "QcTc": 0.01},
)
BOARD = "JsKs5cQs7d"


def text_of(board=BOARD, pot=3750, ranges=RANGES):
    """Return a file in the format of Libratus's."""
    reach = [str(weights.get(hand, weights.get(hand[2:] + hand[:2], 0.0))) for weights in ranges for hand in HANDS]
    return f"-round 4\n-board {board}\n-pot {pot}\n-reach {' '.join(reach)}\n"


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Put a small file in the place of the one with the number 4."""
    monkeypatch.setenv("RLCCFR_CACHE", str(tmp_path))
    file = PublicFile("small.txt", "http://127.0.0.1:9/small.txt", hashlib.sha256(text_of().encode()).hexdigest())
    file.path.write_text(text_of())
    monkeypatch.setitem(libratus.FILES, 4, file)
    libratus.river.cache_clear()
    yield
    libratus.river.cache_clear()


def test_the_first_and_last_numbers_are_those_of_2s2h_and_of_AdAc():
    endgame = libratus.endgame_of(text_of(ranges=({"2s2h": 0.5, "KhKd": 0.25}, {"AdAc": 0.125})))
    assert endgame == (BOARD, 3750, ("2s2h:1.0,KhKd:0.5", "AdAc:1.0"))
    assert "5s5d" not in libratus.endgame_of(text_of()).ranges[0]  # its weight is too small to count


def test_the_right_tables_are_those_of_the_file(small):
    game = libratus.river("HUNL-4 right tables")
    first, second = libratus.endgame_of(text_of()).ranges
    same = rlccfr.subgame(
        BOARD, pot=3750, stack=18_125, oop=first, ip=second, bets="50%, 100%, a", raises="100%, a", min_bet=100
    )
    assert game.content_hash == same.content_hash
    assert libratus.river("HUNL-4 as published").content_hash != same.content_hash


def test_cards_are_misread_as_the_dictionary_says():
    """Filled as in PokerRL's copy: each card by (rank, suit), then by (suit, rank), suit by suit."""
    named = {}
    cards = {(rank, suit): "23456789TJQKA"[rank] + "hdsc"[suit] for suit in range(4) for rank in range(13)}
    for (rank, suit), card in cards.items():
        named[rank, suit] = card
        named[suit, rank] = card
    misread = {card: named[place] for place, card in cards.items() if named[place] != card}
    assert misread == MISREAD


def deal(board, hands):
    numbers = [next(k for k, held in enumerate(HOLDEM_DECK.hands.tolist()) if held == sorted(cards_named(hand)))
               for hand in hands]  # fmt: skip
    deck = RangeDeck(13, 4, 2, held=np.sort(numbers))
    return MisreadDeal(deck, np.array(cards_named(board)), suit_permutations(13, 4)[:1], orbit=1, share=1.0)


def test_hands_are_compared_as_if_misread_cards_were_others():
    """Hands without a card twice, by an evaluator that shares nothing with the library."""
    board = "4s8hTc9h2h"
    hands = ["3hAd", "4hAc", "5hKd", "KcQd", "3dQd", "AhKh", "5d6c", "4d6d"]
    dealt = deal(board, hands)
    by_name = {dealt.hand_name(int(hand)): value for hand, value in zip(dealt.hands, dealt.row_strengths, strict=True)}
    expected = {
        name: strength(frozenset([*cards_in(board), *(MISREAD.get(card, card) for card in cards_in(name))]))
        for name in by_name
    }
    assert len(by_name) == len(hands)
    for one, other in combinations(by_name, 2):
        assert np.sign(by_name[one] - by_name[other]) == (expected[one] > expected[other]) - (
            expected[one] < expected[other]
        ), (one, other)


def test_a_card_twice_counts_as_a_pair_but_not_in_a_flush():
    dealt = deal(BOARD, ["4d3s", "3d2d", "5s4c", "4d4c", "Ah9h"])
    order = [dealt.hand_name(int(hand)) for hand in dealt.hands]
    assert order[:2] == ["4d3s", "3d2d"]  # 3s3s is below a high card; 5s4c is a pair of fours, as 3s4c is not
    assert order.index("5s4c") > order.index("Ah9h")


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("misread", [False, True])
def test_the_measure_is_that_of_matrices(small, swapped, misread):
    """In CFR with matrices, the average after one iteration is the uniform policy."""
    rules = libratus.rules_by(Tables(4, swapped, misread))
    solved = PlainRiver(rules)
    solved.iterate()
    game = rules.build()
    expected = libratus.in_big_blinds(game) * uniform_exploitability(game)
    assert solved.exploitability == pytest.approx(expected, rel=1e-9)
    for _ in range(300):
        solved.iterate()
    reached = rlccfr.Solver(game, "dcfr").run(iterations=300).exploitability * libratus.in_big_blinds(game)
    assert 0.0 <= reached < solved.exploitability < 0.1 * expected
    readings = {(row["swapped"], row["misread"]): row["value"] for row in libratus.readings(4)}
    assert readings[swapped, misread] == pytest.approx(expected, rel=1e-12)


def test_a_curve_has_the_papers_unit(small):
    (end,) = libratus.curve("HUNL-4 as published", "dcfr", 50, True)
    game = libratus.river("HUNL-4 as published")
    reached = rlccfr.Solver(game, "dcfr").run(iterations=50).exploitability
    assert end["exploitability"] == pytest.approx(libratus.in_big_blinds(game) * reached, rel=1e-12)
    assert [row["iterations"] for row in libratus.order(4)] == list(libratus.COMPARED)


def test_the_page_tells_the_errors_and_has_no_controller_on_rivers(tmp_path, monkeypatch):
    """With the figures of the published tables in the place of runs."""
    rows = [
        {"case": case.key, "iterations": ddcfr.ITERATIONS // factor, "exploitability": 1e-3 * factor}
        for case in ddcfr.cases(False)
        if not case.key.startswith(libratus.EVIDENCE)
        for factor in (2, 1)
    ]
    rows += [
        {"case": f"{libratus.EVIDENCE}readings/{number}", "number": number, "swapped": swapped, "misread": misread,
         "value": 20.0 + number + swapped + 2 * misread}
        for number in libratus.FILES for swapped in (False, True) for misread in (False, True)
    ]  # fmt: skip
    rows += [
        {"case": f"{libratus.EVIDENCE}order/{number}", "number": number, "iterations": iteration, "value": published,
         "published": published}
        for number, curve in libratus.PUBLISHED_CFR.items()
        for iteration, published in zip(libratus.COMPARED, curve, strict=True)
    ]  # fmt: skip
    monkeypatch.setattr(ddcfr, "draw", lambda *_: None)
    lines = list(ddcfr.page(pd.DataFrame(rows), tmp_path, False))
    (published,) = [line for line in lines if line.startswith("| HUNL-3 as published")]
    (right,) = [line for line in lines if line.startswith("| HUNL-3 right tables")]
    assert published.startswith("| HUNL-3 as published | 0.0027 | 0.00196 | 0.001 |")
    assert published.endswith("| - | - |")
    assert right.startswith("| HUNL-3 right tables | - | - | 0.001 |")
    assert "| ranges swapped and cards misread | 26.00000 | 27.00000 |" in lines
    assert "| 30 | 2.066235 | 2.066235 | 3.947139 | 3.947139 |" in lines
    judged = {claim.said: claim for claim in ddcfr.claims(pd.DataFrame(rows))}
    controller = judged["(not said there) The library's controller beats DDCFR"]
    assert not set(libratus.RIVERS) & set(controller.findings)


def test_the_tables_of_evidence_have_a_line_for_each_reading_and_number_of_iterations():
    rows = [
        {"case": f"tables/readings/{number}", "number": number, "swapped": swapped, "misread": misread,
         "value": number + (0.25 if swapped else 0.0) + (0.125 if misread else 0.0)}
        for number in libratus.FILES
        for swapped, misread in product((False, True), repeat=2)
    ]  # fmt: skip
    rows += [
        {"case": f"tables/order/{number}", "number": number, "iterations": iterations, "value": number / iterations,
         "published": published}
        for number, curve in libratus.PUBLISHED_CFR.items()
        for iterations, published in zip(libratus.COMPARED, curve, strict=True)
    ]  # fmt: skip
    lines = [line for line in libratus.section(pd.DataFrame(rows)) if line.startswith("|")]
    assert lines[:7] == [
        "| tables | HUNL-3, uniform policy | HUNL-4, uniform policy |",
        "|---|---|---|",
        "| published | 27.81676 | 38.43119 |",
        "| right tables | 3.00000 | 4.00000 |",
        "| cards misread | 3.12500 | 4.12500 |",
        "| ranges swapped | 3.25000 | 4.25000 |",
        "| ranges swapped and cards misread | 3.37500 | 4.37500 |",
    ]
    assert lines[7] == "| iterations of CFR | HUNL-3, published | HUNL-3, here | HUNL-4, published | HUNL-4, here |"
    assert lines[9] == "| 1 | 27.81676 | 3.000000 | 38.43119 | 4.000000 |"
    assert lines[-1] == "| 30 | 2.066235 | 0.1000000 | 3.947139 | 0.1333333 |"
    assert len(lines) == 9 + len(libratus.COMPARED)
