"""Cards are drawn in signs that the terminal has, and every game's states are shown."""

from __future__ import annotations

import pytest

import rlccfr
from rlccfr.games.words import described, drawn, in_words, move_in_words, payoff_unit, plain


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "unit"),
    [("kuhn", "chips"), ("royal", "chips"), ("holdem(ranks=4,suits=2,rounds=1)", "chips"), ("goofspiel", "points")],
)
def test_payoffs_are_chips_in_poker(game, unit):
    assert payoff_unit(rlccfr.load_game(game)) == unit


@pytest.mark.parametrize(
    ("game", "text", "lines"),
    [
        ("kuhn_poker", "2pb", ["│ K  │", "moves: pass bet"]),
        ("leduc_poker", "[Observer: 0][Private: 5][Round 1][Player: 0][Pot: 2][Money: 99 99][Round1: ][Round2: ]",
         ["│ K♥ │", "pot: 2", "moves: none yet"]),
        ("leduc_poker", "[Observer: 0][Private: 0][Round 2][Player: 0][Pot: 6][Money: 97 97][Public: 3]"
         "[Round1: 2 1][Round2: 1]", ["│ J♠ │   │ Q♥ │", "card     board", "moves: raise call | call"]),
        ("leduc_poker(suit_isomorphism=True)", "[Observer: 0][Private: 1][Round 1][Pot: 2][Round1: ][Round2: ]",
         ["│ Q  │"]),
        ("leduc_poker(suit_isomorphism=true)", "[Observer: 0][Private: 1][Round 1][Pot: 2][Round1: ][Round2: ]",
         ["│ Q  │"]),
        ("holdem(ranks=4)", "Cards: AsKd  Board: 2c  Moves: raise call |",
         ["│ A♠ │ │ K♦ │   │ 2♣ │", "Moves: raise call |"]),
        ("universal_poker(x=1)", "[Round 1][Player: 0][Pot: 6][Money: 9 9][Private: 4c][Public: 4d][Sequences: rc|c]",
         ["│ 4♣ │   │ 4♦ │", "pot: 6", "moves: raise call | call"]),
        ("universal_poker(x=1)", "[Private: 4c][Public: ][Sequences: r1200]", ["│ 4♣ │", "moves: raise 1200"]),
        ("goofspiel", "P0 hand: 1 2\nP0 bids: 3", ["P0 hand: 1 2", "P0 bids: 3"]),
        ("other", "[A: 1][B: ]", ["A: 1"]),
    ],
)  # fmt: skip
def test_states_are_described(game, text, lines):
    assert set(lines) <= set(described(game, text))


@pytest.mark.parametrize(
    ("game", "text", "line"),
    [
        ("kuhn_poker", "2", "K, moves: none yet"),
        ("leduc_poker", "[Private: 0][Pot: 6][Public: 3][Round1: 2 1][Round2: 1]",
         "J♠, board Q♥, pot: 6, moves: raise call | call"),
        ("holdem(ranks=4)", "Cards: AsKd  Board: 2c  Moves: raise call |", "A♠ K♦, board 2♣, Moves: raise call |"),
        ("other", "[A: 1][B: ]", "[A: 1][B: ]"),
    ],
)  # fmt: skip
def test_states_have_one_line(game, text, line):
    assert in_words(game, text) == line


@pytest.mark.parametrize(
    ("game", "name", "words"),
    [
        ("kuhn_poker", "Deal:2", "K"),
        ("leduc_poker", "Chance outcome:3", "Q♥"),
        ("leduc_poker(suit_isomorphism=True)", "Chance outcome:1", "Q"),
        ("universal_poker(x=1)", "player=-1 move=Deal 4s", "4♠"),
        ("universal_poker(x=1)", "player=0 move=AllIn", "AllIn"),
        ("other", "Deal:1", "Deal:1"),
    ],
)
def test_moves_are_named(game, name, words):
    assert move_in_words(game, name) == words


@pytest.mark.parametrize(
    "name", ["kuhn", "leduc", pytest.param("royal", marks=pytest.mark.slow), "goofspiel", "dark_hex(board_size=2)"]
)
def test_every_state_of_a_game_has_lines(name):
    game = rlccfr.load_game(name)
    for key in game.infoset_keys[:: max(1, game.num_infosets // 200)]:
        found = described(game.openspiel_name, key)
        assert found
        assert all("\n" not in line for line in found)


def test_other_encodings_get_plain_signs():
    assert [plain(line, "ascii") for line in drawn(["A♠", "T♥"])] == [
        "+----+ +----+", "| As | | Th |", "+----+ +----+",
    ]  # fmt: skip
    assert plain("é ♠", "ascii") == "? s"
    assert plain("é ♠", "utf-8") == "é ♠"
    assert plain("♠", "no such encoding") == "s"
