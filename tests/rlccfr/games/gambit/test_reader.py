"""Gambit's files are read as their format's description says, and every fault is named with its line."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rlccfr.errors import GameError
from rlccfr.games.gambit import files, reader
from rlccfr.games.gambit.reader import CHANCE, TERMINAL, parse
from rlccfr.games.traversal import MOST_MOVES

GAME = """EFG 2 R "A \\"game\\"" { "first" "second" } "with
a comment"
c "root" 1 "coin" { "heads" 1/4 "tails" .75 } 1 "ante" { 1, -1 }
p "" 1 7 "mine" { "up" "down" } 0
t "" 2 "won" { 2 -2 }
t "" 3 "" { -1.5e1, 15 }
p "" 1 7 0
t "" 2
t "" 0
"""


def test_a_file_is_read():
    game = parse(GAME, "a.efg")
    root, first, won, lost, second, again, nothing = game.nodes
    assert game.comment == "with\na comment"
    assert (root.actor, root.described.numbers) == (CHANCE, (Fraction(1, 4), Fraction(3, 4)))
    assert (root.children, first.children, second.children) == ([1, 4], [2, 3], [5, 6])
    assert (first.actor, first.set, first.described.label, first.described.actions) == (0, 7, "mine", ("up", "down"))
    assert second.described is first.described
    assert won.actor == TERMINAL
    # The ante, an outcome at the root, counts on every path.
    assert [node.payoffs for node in (won, lost, again, nothing)] == [(3, -3), (-14, 14), (3, -3), (1, -1)]


def test_probabilities_may_be_rounded():
    thirds = '{ "x" 0.333333 "y" .333333 "z" 0.333333 }'
    ends = 't "" 0\n' * 3
    game = parse(f'EFG 2 R "" {{ "a" "b" }}\nc "" 1 "" {thirds} 0\n{ends}', "a.efg")
    assert len(game.nodes) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("EFG 2", "NFG 1", "line 1: 'EFG' is expected, not 'NFG'"),
        ('"second"', '"second" "third"', "line 1: the game has 3 players; only two-player games are solved"),
        ('c "root"', 'x "root"', "line 3: a node must begin with c, p or t, not with 'x'"),
        ("1/4", "1/0", "line 3: a number such as 0.25 or 1/4 is expected, not '1/0'"),
        ("1/4", "inf", "is expected, not 'inf'"),
        ("1/4", "1e999", "'1e999' is too large"),
        ("1/4", "1e9999", "is expected, not '1e9999'"),
        (".75", ".5", "line 3: the probabilities of event 1 must be at least 0 and sum to 1"),
        ('p "" 1 7 "mine"', 'p "" 3 7 "mine"', "line 4: a whole number from 1 to 2 is expected, not '3'"),
        ('p "" 1 7 "mine"', 'p "" 1 -7 "mine"', "a whole number from 1 to 1,000,000,000 is expected, not '-7'"),
        ('{ "up" "down" }', "{ }", "infoset 7 of player 1 has no actions"),
        ('p "" 1 7 0', 'p "" 1 8 0', "line 7: infoset 8 of player 1 is not described where it first appears"),
        ('p "" 1 7 0', 'p "" 1 7 "" { "a" "b" } 0', "line 7: infoset 7 of player 1 had other actions before"),
        ('t "" 2\n', 't "" 2 "won" { 3 -3 }\n', "outcome 2 had other payoffs before"),
        ('t "" 2\n', 't "" 9\n', "outcome 9 is not described where it first appears"),
        ('t "" 2\n', 't "" 2 "lost" { 2 -2 }\n', "line 8: outcome 2 was named 'won' before, and is named 'lost' here"),
        (
            't "" 2\n',
            't "" 2 { 2 -2 }\n',
            "line 8: the name of outcome 2 in quotation marks is missing before its list of",
        ),
        ('t "" 0\n', 't "" 0 "" { 1 -1 }\n', "line 9: outcome 0 means no payoffs"),
        ('t "" 0\n', 't "" 0 "" { 0 0 }\n', "line 9: outcome 0 means no payoffs"),
        (
            'p "" 1 7 0',
            'p "" 1 7 "other" { "up" "down" } 0',
            "line 7: infoset 7 of player 1 was named 'mine' before, and is named 'other' here",
        ),
        (
            'p "" 1 7 0',
            'p "" 1 7 "mine" { "down" "up" } 0',
            "line 7: infoset 7 of player 1 had its actions in another order before",
        ),
        ('p "" 1 7 0', 'p "" 1 7 { "up" "down" } 0', "line 7: the name of infoset 7 of player 1 in quotation marks is"),
        (
            '"mine" {',
            "{",
            "line 4: the name of infoset 7 of player 1 in quotation marks is missing before its list of act",
        ),
        ('"coin" {', "{", "line 3: the name of event 1 in quotation marks is missing before its list of actions"),
        ("{ 2 -2 }", "{ 2 -2 0 }", "line 5: an outcome has two payoffs, not 3"),
        ('t "" 0\n', "", "line 8: the file ends too soon"),
        ('t "" 0\n', 't "" 0\nt "" 0\n', "line 10: 't' comes after the last node"),
        ('t "" 0\n', 't "" 0 "open\n', "line 9: a quotation mark is not closed"),
        (GAME, "", "line 1: the file ends too soon"),
    ],
)
def test_faults_are_named_with_their_lines(old, new, message):
    assert old in GAME
    with pytest.raises(GameError) as caught:
        parse(GAME.replace(old, new), "a.efg")
    assert str(caught.value).startswith("a.efg, line ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


EVENTS = """EFG 2 R "" { "a" "b" }
c "" 1 "first" { "x" 1/2 "y" 1/2 } 0
c "" 2 "second" { "l" 1/4 "r" 3/4 } 0
t "" 0
t "" 0
c "" 2 AGAIN 0
t "" 0
t "" 0
"""


@pytest.mark.parametrize(
    ("again", "message"),
    [
        ("", None),
        ('"second" { "l" 0.25 "r" 0.75 }', None),
        ('"third" { "l" 1/4 "r" 3/4 }', "line 6: event 2 was named 'second' before, and is named 'third' here"),
        ('"second" { "l" 1/4 "m" 3/4 }', "line 6: event 2 had other actions before"),
        ('"second" { "l" 3/4 "r" 1/4 }', "line 6: event 2 had other probabilities before"),
    ],
)
def test_what_is_said_of_an_event_again_must_agree(again, message):
    text = EVENTS.replace("AGAIN", again)
    if message is None:
        assert len(parse(text, "a.efg").nodes) == 7
    else:
        with pytest.raises(GameError, match=message):
            parse(text, "a.efg")


@pytest.mark.parametrize("again", ["", '"mine" { "up" "down" }', '"other" { "up" "down" }', '"mine" { "down" "up" }'])
def test_gambit_judges_repeated_descriptions_alike(again, tmp_path):
    pygambit = pytest.importorskip("pygambit", reason="pip install 'rlccfr[gambit]'")
    path = tmp_path / "a.efg"
    path.write_text(GAME.replace('p "" 1 7 0', f'p "" 1 7 {again} 0'))

    def refused(read):
        try:
            read()
        except (GameError, ValueError):
            return True
        return False

    assert refused(lambda: parse(path.read_text(), "a.efg")) == refused(lambda: pygambit.read_efg(str(path)))


@pytest.mark.parametrize("names", [[str(k) for k in range(20_000)], ["deal"] * 20_000, [""] * 20_000])
def test_many_names_are_told_apart_in_linear_time(names):
    """Trying each number for each name would take a minute where all names are equal."""
    assert len(set(reader.distinct(names))) == len(names)


def test_blanks_at_the_end_cost_nothing():
    assert len(parse(GAME + " " * 10**6, "a.efg").nodes) == 7


def test_names_that_are_taken_or_empty_get_numbers():
    named = GAME.replace('"up" "down"', '"up" "up" ""')
    whole = named.replace('t "" 2 "won"', 't "" 0\nt "" 2 "won"').replace('p "" 1 7 0\n', 'p "" 1 7 0\nt "" 0\n')
    assert parse(whole, "a.efg").nodes[1].described.actions == ("up", "up (2)", "2")


def test_a_path_may_be_as_long_as_in_other_games_and_no_longer():
    def chain(length):
        moves = "".join(f'p "" 1 {k} "" {{ "go" }} 0\n' for k in range(1, length + 1))
        return f'EFG 2 R "" {{ "a" "b" }}\n{moves}t "" 0\n'

    assert len(parse(chain(MOST_MOVES), "a.efg").nodes) == MOST_MOVES + 1
    with pytest.raises(GameError, match="paths of more than 10,000 moves; games with such long paths are not solved"):
        parse(chain(200_000), "a.efg")


def damaged(seed: int) -> str:
    """Return the game's text with a few characters changed, missing or repeated."""
    draws = np.random.default_rng(seed)
    text = list(GAME)
    for _ in range(int(draws.integers(1, 6))):
        at = int(draws.integers(len(text)))
        match draws.integers(3):
            case 0:
                text[at] = chr(int(draws.integers(32, 127)))
            case 1:
                del text[at : at + int(draws.integers(1, 20))]
            case 2:
                text[at:at] = text[: int(draws.integers(20))]
    return "".join(text)


def test_damaged_files_are_read_or_refused_in_one_line():
    for seed in range(200):
        fault = ""
        try:
            parse(damaged(seed), "a.efg")
        except GameError as error:
            fault = str(error)
        assert "\n" not in fault, seed


def test_files_that_can_not_be_read_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.efg"
    with pytest.raises(GameError, match=r"there is no file .*a\.efg"):
        files.read(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(GameError, match="is not UTF-8 text"):
        files.read(path)
    with pytest.raises(GameError, match="can't read"):
        files.read(tmp_path)
    monkeypatch.setattr(files, "LARGEST", 1)
    with pytest.raises(GameError, match="has 2 bytes; files of at most 1 bytes can be read"):
        files.read(path)
