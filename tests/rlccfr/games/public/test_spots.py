"""Files of subgames in the formats of other programs."""

from __future__ import annotations

import json

import pytest

import rlccfr
from rlccfr.games.names import form_named, identity_of
from rlccfr.games.public.spots import read_spot

TEXAS_SOLVER = """\
set_pot 10
set_effective_stack 95
set_board Qs,Jh,2h,5c

set_range_oop AA,KK:0.5,QJs
set_range_ip JJ,AKs
set_bet_sizes oop,turn,bet,50,100
set_bet_sizes oop,turn,raise,60
set_bet_sizes oop,river,donk,33.5
set_bet_sizes oop,river,bet,50
set_bet_sizes ip,turn,bet,75
set_bet_sizes ip,river,allin
set_allin_threshold 0.67
build_tree
set_thread_num 8
set_accuracy 0.5
start_solve
dump_result output_result.json
"""

PIO = """\
#TreeBuilding#V2
#Range0#AA,KK:0.5,QJs
#Range1#JJ,AKs
#Board#Qs Jh 2h 5c
#Pot#100
#EffectiveStacks#950
#AllinThreshold#67
#AddAllinOnlyIfLessThanThisTimesThePot#500
#MinimumBetsize#0
#ForceOOPBet#False
#Cap#0
#CapEnabled#False
#CapMode#NoLimit
#RemovedLines#
#TurnConfig.BetSize#33, 75
#TurnConfig.RaiseSize#3x
#TurnConfig.AddAllin#True
#TurnConfig.DonkBetSize#
#RiverConfig.BetSize#65
#RiverConfig.DonkBetSize#20c
#TurnConfigIP.BetSize#65
#RiverConfigIP.BetSize#e
#RiverConfigIP.AddAllin#False
#Rake.Enabled#False
"""

RIVER = {
    "board": ["Ks", "Th", "7s", "4d", "2s"],
    "pot": 1000,
    "stack": 9500,
    "bet_sizes": [0.5, 1.0],
    "include_all_in": True,
    "max_raises": 1000,
    "players": [
        {"hands": ["AsKd", "AhAd"], "weights": [2.0, 1.0]},
        {"hands": ["QsQd"], "weights": [1.0]},
    ],
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes a file into the current folder, and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str, name: str = "spot.txt") -> str:
        (tmp_path / name).write_text(text)
        return name

    return write


def test_texas_solvers_commands(written):
    name = written(TEXAS_SOLVER)
    assert read_spot(name) == {
        "chip": 0.01, "pot": 10, "stack": 95, "board": "Qs,Jh,2h,5c", "oop": "AA,KK:0.5,QJs", "ip": "JJ,AKs",
        "commit": 0.67,
        "bets": {"flop": ("", ""), "turn": ("50%,100%", "75%"), "river": ("50%", "a")},
        "raises": {"flop": ("", ""), "turn": ("60%", ""), "river": ("", "a")},
        "donk": {"flop": "", "turn": "", "river": "33.5%"},
    }  # fmt: skip
    game = rlccfr.load_game(name)
    assert game.name == name
    assert game.letters(0) == ["c", "b5", "b10"]
    assert game.letters(game.node("b5")) == ["f", "c"]
    assert game.letters(game.node("cb7.5")) == ["f", "c", "r22.5"]  # 7.5, and 60 % of the pot of 25 after a call
    river = game.path(int(game.view.nodes["first_child"][game.node("cb7.5c")]))
    assert game.letters(game.node(river)) == ["c", "b8.38"]  # 33.5 % of 25 after a call of the other's bet
    assert form_named(name).title == "as a no-limit subgame"
    assert identity_of(name) == game.full_name


def test_pios_script_lines(written):
    name = written(PIO)
    assert read_spot(name) == {
        "oop": "AA,KK:0.5,QJs", "ip": "JJ,AKs", "board": "Qs Jh 2h 5c", "pot": 100, "stack": 950, "commit": 0.67,
        "bets": {"flop": ("", ""), "turn": ("33,75,a500%", "65"), "river": ("65", "e")},
        "raises": {"flop": ("", ""), "turn": ("3x,a500%", ""), "river": ("", "")},
        "donk": {"flop": "", "turn": "", "river": "20c"},
    }  # fmt: skip
    game = rlccfr.load_game(name)
    assert game.letters(0) == ["c", "b33", "b75"]  # all-in is more than 500 % of the pot
    assert game.letters(game.node("cb65")) == ["f", "c", "r195", "a"]  # 885 more into a pot of 230


def test_of_texas_solvers_lines_with_the_same_beginning_the_last_one_counts(written):
    arguments = read_spot(written(TEXAS_SOLVER + "set_bet_sizes ip,river,bet,75\nset_bet_sizes oop,turn,bet,30\n"))
    assert arguments["bets"]["turn"] == ("30%", "75%")
    assert arguments["bets"]["river"] == ("50%", "75%,a")  # an all-in is a line of its own


def test_sizes_in_texas_solvers_lines_may_be_in_the_librarys_grammar(written):
    arguments = read_spot(
        written(TEXAS_SOLVER + "set_bet_sizes ip,turn,bet,75%,e\nset_bet_sizes oop,turn,raise,2.5x\n")
    )
    assert arguments["bets"]["turn"] == ("50%,100%", "75%,e")
    assert arguments["raises"]["turn"] == ("2.5x", "")


def test_an_all_in_of_texas_solvers_is_a_bet_a_raise_and_a_donk_bet(written):
    arguments = read_spot(written(TEXAS_SOLVER + "set_bet_sizes oop,river,allin\nset_bet_sizes oop,turn,allin\n"))
    assert arguments["bets"]["river"] == ("50%,a", "a")
    assert arguments["raises"]["river"] == ("a", "a")
    assert arguments["donk"] == {"flop": "", "turn": "a", "river": "33.5%,a"}


def test_texas_solver_leaves_hands_of_tiny_weight_out(written):
    text = TEXAS_SOLVER.replace("AA,KK:0.5,QJs", "AA,KK:0.005,QQ:0.0051,JJ:x")
    assert read_spot(written(text))["oop"] == "AA,QQ:0.0051,JJ:x"


def test_texas_solvers_defaults_are_not_taken_over(written):
    name = written(TEXAS_SOLVER.replace("set_allin_threshold 0.67\n", ""))
    assert "commit" not in read_spot(name)
    assert rlccfr.load_game(name).arguments["commit"] == 1.0


def test_a_rake_that_is_off_or_0_is_passed_over(written):
    off = PIO.replace("#TreeBuilding#V2", "#Rake.Fraction#0.05\n#Rake.Cap#3")
    assert read_spot(written(off)) == read_spot(written(PIO, "plain.txt"))
    no_share = PIO.replace("#Rake.Enabled#False", "#Rake.Fraction#0\n#Rake.Cap#3")
    assert read_spot(written(no_share)) == read_spot("plain.txt")


def test_noam_browns_river(written):
    name = written(json.dumps(RIVER), "river.json")
    arguments = read_spot(name)
    assert arguments["oop"] == "AsKd:1.0,AhAd:0.5"
    assert arguments["bets"] == arguments["raises"] == "50%,100%,a"
    game = rlccfr.load_game(name)
    assert game.letters(0) == ["c", "b500", "b1000", "a"]
    assert game.row_names(0) == ["AsKd", "AhAd"]
    assert rlccfr.Solver(game, "dcfr").run(until="1%").reached


def test_a_hand_that_a_river_file_lists_twice_has_both_weights(written):
    player = {"hands": ["AsKd", "AhAd", "KdAs"], "weights": [1.0, 1.0, 3.0]}
    arguments = read_spot(written(json.dumps(RIVER | {"players": [player, RIVER["players"][1]]}), "river.json"))
    assert arguments["oop"] == "AsKd:1.0,AhAd:0.25"


def test_a_river_file_that_says_nothing_of_the_all_in_has_it(written):
    spec = {key: value for key, value in RIVER.items() if key not in ("include_all_in", "max_raises")}
    assert read_spot(written(json.dumps(spec), "river.json"))["bets"] == "50%,100%,a"
    spec["include_all_in"] = False
    assert read_spot(written(json.dumps(spec), "river.json"))["bets"] == "50%,100%"


def test_the_librarys_own_json(written):
    game = rlccfr.subgame("Td9d6hQcJs", pot=10, stack=20, oop="AA", ip="KK,54s", bets=("50%", "a"))
    name = written(json.dumps(dict(game.arguments)), "own.json")
    assert rlccfr.load_game(name).content_hash == game.content_hash


def test_the_librarys_own_json_may_say_that_there_is_no_rake(written):
    spec = dict(rlccfr.subgame("Td9d6hQcJs", pot=10, stack=20, oop="AA", ip="KK", bets="a").arguments)
    assert rlccfr.load_game(written(json.dumps(spec | {"rake": 0}), "own.json")).arguments == spec
    with pytest.raises(rlccfr.GameError, match=r"'raked.json' has a rake; a game with rake is not zero-sum"):
        rlccfr.load_game(written(json.dumps(spec | {"rake": 0.05}), "raked.json"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("hello\n", "line 1 of spot.txt is 'hello', which is in no known format"),
        (TEXAS_SOLVER.replace("build_tree", "build tree"), "line 14 of spot.txt is 'build tree'"),
        (
            TEXAS_SOLVER.replace("set_accuracy 0.5", "set_raise_limit 3"),
            "line 16 of spot.txt has the command set_raise_limit",
        ),
        (
            TEXAS_SOLVER.replace("set_bet_sizes ip,turn", "set_bet_size ip,turn"),
            "line 11 of spot.txt has the command set_bet_size: did you mean set_bet_sizes?",
        ),
        (
            TEXAS_SOLVER.replace("set_accuracy 0.5", "set_rake 5"),
            "line 16 of spot.txt has the command set_rake: a game with rake is not zero-sum",
        ),
        (TEXAS_SOLVER.replace("raise,60", "raise,half"), "line 8 of spot.txt: 'half' is not a size"),
        (TEXAS_SOLVER.replace("set_pot 10", "set_pot ten"), "line 1 of spot.txt has 'ten' instead of a number"),
        (TEXAS_SOLVER.replace("oop,turn,raise,60", "oop,turn,raise"), "line 8 of spot.txt has the sizes"),
        (TEXAS_SOLVER.replace("ip,turn,bet", "btn,turn,bet"), "line 11 of spot.txt has the sizes"),
        (
            TEXAS_SOLVER.replace("set_board Qs,Jh,2h,5c\n", ""),
            "'spot.txt' has no board: add a line with `set_board` .TexasSolver. or `#Board#` .PioSOLVER.",
        ),
        (PIO.replace("#ForceOOPBet#False", "#ForceOOPBet#True"), "line 10 of spot.txt sets ForceOOPBet to 'True'"),
        (PIO.replace("#Rake.Enabled#False", "#Rake.Enabled#True"), "line 24 of spot.txt sets Rake.Enabled to 'True'"),
        (
            PIO.replace("#Rake.Enabled#False", "#Rake.Fraction#0.05"),
            "line 24 of spot.txt sets a rake, but a game with rake is not zero-sum: add #Rake.Enabled#False",
        ),
        (PIO.replace("#CapEnabled#False", "Cap"), "line 12 of spot.txt is 'Cap', which is in no known format"),
        ("{\n 'board': 1}", "line 2 of spot.txt is not JSON"),
        (json.dumps(RIVER | {"max_raises": 2}), "limits max_raises, which this library does not support"),
        (
            json.dumps(RIVER | {"max_raises": 20, "bet_sizes": [0.05]}),
            "limits max_raises, which this library does not support",
        ),
        (json.dumps(RIVER | {"oop_first_bets": [0.5]}), "sets oop_first_bets, but this library does not support it"),
        (json.dumps(RIVER | {"rake": 0.05}), "sets rake, but a game with rake is not zero-sum"),
        (json.dumps(RIVER)[:-1] + ', "pot": 99}', "in spot.txt, the key 'pot' is repeated: leave one out"),
        (json.dumps(RIVER | {"players": [1, 2]}), "is not a spot of Noam Brown's river solver"),
        (json.dumps({"board": "Td9d6h"}), "'spot.txt' has no pot"),
    ],
)
def test_files_that_do_not_fit_are_refused_with_their_line(text, message, written):
    with pytest.raises(rlccfr.GameError, match=message) as error:
        rlccfr.load_game(written(text))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_refused(written):
    with pytest.raises(rlccfr.GameError, match=r"there is no file missing.txt; name a subgame's file"):
        rlccfr.load_game("missing.txt")


def test_a_file_that_has_changed_is_read_again(written):
    from rlccfr.games.compiled_games import compiled

    name = written(TEXAS_SOLVER)
    first = compiled(name)
    assert compiled(name) is first
    written(TEXAS_SOLVER.replace("set_pot 10", "set_pot 12"))
    assert compiled(name).pot == 12


def test_a_spot_is_solved_from_the_command_line(run, written):
    name = written(TEXAS_SOLVER.replace(",5c\n", ",5c,5d\n"))
    code, out, _ = run("solve", name, "--target", "0.5%", "--policy", "policy.npz")
    assert code == 0
    assert "the target was 0.05" in out
    policy = rlccfr.PublicPolicy.load("policy.npz")
    assert policy.exploitability() <= 0.05
    assert "b5 " in run("show", "policy.npz")[1]
    assert "infosets" in run("games", name)[1]
    code, _, err = run("solve", name, "--target", "0.5%", "--sampler", "external")
    assert code == 1
    assert err.count("\n") == 1
    assert "sampler='public_chance'" in err
