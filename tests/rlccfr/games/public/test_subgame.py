"""No-limit subgames: their trees, names and sizes, and what is refused."""

from __future__ import annotations

import pytest
from subgames import EXAMPLE, RIVER

import rlccfr
from benchmarks.flops import FAST
from rlccfr.engine.public.public_state import PublicState
from rlccfr.games.names import form_named, identity_of
from rlccfr.games.public import subgame as module
from rlccfr.games.public.records import CHANCE


def made(**changes) -> rlccfr.Subgame:
    return rlccfr.subgame(**{**RIVER, **changes})


def test_the_documented_turn_has_the_documented_actions():
    game = rlccfr.subgame(**EXAMPLE)
    assert game.letters(0) == ["c", "b120", "b216", "a"]
    bet = game.node("b120")
    assert game.letters(bet) == ["f", "c", "r300"]
    assert len(game.deal_at(bet).hands) == 250
    assert game.sizes()["sequences"] == 1_303_301
    assert game.pot == 200


def hands_of(game: rlccfr.Subgame, player: int) -> list[str]:
    deal = game.deal_at(0, player)
    return sorted(deal.hand_name(hand) for hand in deal.hands.tolist())


def test_hands_that_can_not_be_dealt_are_left_out():
    # The board blocks KdAd, and AhAs shares a card with each hand of player 1.
    game = made(oop="AdKd,AhAs,8c7c", ip="AhKc,AsKc", board="Kd9d6hQcJs")
    assert hands_of(game, 0) == ["8c7c"]
    assert hands_of(game, 1) == ["AhKc", "AsKc"]


def test_pairs_have_the_products_of_weights():
    # AhAs can't meet AhKh, so the pairs weigh 0.5 + 0.25 + 0.25.
    game = made(oop="AhAs:0.5,8d7d:0.25", ip="QdQh,AhKh")
    assert game.pair_probability == pytest.approx(1 / (0.5 + 0.25 + 0.25))
    weight = dict(zip(game.row_names(0), game.view.reach[:2].tolist(), strict=True))
    assert weight == {"8d7d": 0.25, "AsAh": 0.5}
    assert game.mass[0].tolist() == game.view.reach[:2].tolist()


@pytest.mark.slow
def test_suits_are_merged_only_where_board_and_ranges_stay():
    monotone = {"board": "Td9d6d", "bets": {"flop": "a"}, "stack": 20}
    merged = made(**monotone, oop="AA", ip="KK")
    assert [deal.rows for deal in (merged.deals[0], merged.second_deals[0])] == [2, 2]  # with the diamond and without
    assert made(**monotone, oop="AA", ip="KK,Kc2c").deals[0].rows == 4  # clubs differ from hearts and spades now
    assert made(**monotone, oop="AA,AhAs:0.5", ip="KK").deals[0].rows == 2  # the first item counts
    assert made(**monotone, oop="AhAs:0.5,AA", ip="KK").deals[0].rows == 4
    turns = [deal for deal in merged.deals if len(deal.board) == 4]
    assert sum(turn.orbit for turn in turns) == 49


def test_an_all_in_deals_the_other_boards_without_decisions():
    game = made(board="Td9d6h", oop="AhAs", ip="KhKs", bets={"flop": "a"}, stack=20)
    called = game.node("ac")
    nodes = game.view.nodes
    assert nodes["kind"][called] == CHANCE
    assert nodes["num_children"][called] == 45
    turn = int(nodes["first_child"][called])
    assert nodes["kind"][turn] == CHANCE
    assert nodes["num_children"][turn] == 44
    assert game.view.deals["share"].min() == pytest.approx(1 / (45 * 44))
    # Aces against kings over all boards, as their equity has it: the pot is 100, and 140 after an all-in.
    share = rlccfr.equity("AhAs", "KhKs", "Td9d6h").equity[0]
    half_pot = 50.0
    all_in = (share - 0.5) * 140
    check = (share - 0.5) * 100
    # Under the uniform policy, both fold to half of the all-ins; player 1's all-in follows a check.
    after_check = (check + (all_in - half_pot) / 2) / 2
    after_all_in = (half_pot + all_in) / 2
    value = rlccfr.PublicPolicy.uniform(game).values().game[0]
    assert value == pytest.approx((after_check + after_all_in) / 2, abs=1e-12)


def test_boards_that_leave_no_hand_are_not_dealt():
    game = made(board="Td9d6hQc", oop="AhAs", ip="KhKs", bets="")
    rivers = [deal for deal in game.deals if len(deal.board) == 5]
    assert len(rivers) == 48 - 4


def test_a_bet_of_exactly_the_committed_share_is_an_all_in():
    assert made(pot=200, stack=900, bets="603c", commit=0.67).letters(0) == ["c", "a"]
    assert made(pot=200, stack=900, bets="602c", commit=0.67).letters(0) == ["c", "b602"]


def test_paths_take_the_longest_size():
    game = made(bets="5%, 50%", pot=100, stack=1000)
    assert game.path(game.node("b50c")) == "b50c"
    assert game.path(game.node("b5c")) == "b5c"
    with pytest.raises(rlccfr.GameError, match="after the root, the next step is one of c, b5, b50"):
        game.node("b7")


def test_boards_in_paths_may_be_only_the_new_cards_and_in_any_order():
    turn = rlccfr.subgame("Td9d6hQc", pot=20, stack=40, oop="AA", ip="KK", bets="50%")
    node = turn.node("cc/KhQcTd9d6h/c")
    for cards in ("Kh", "Td9d6hQcKh", "Kh6h9dTdQc"):
        assert turn.node(f"cc/{cards}/c") == node
    assert turn.node("cc/Kh") == turn.node("cc/Kh/") == turn.node("cc/KhQcTd9d6h/")
    for cards in ("Qc", "KhQc", "", "Kx"):
        with pytest.raises(rlccfr.GameError, match=r"no node of .* has the path"):
            turn.node(f"cc/{cards}/c")
    holdem = rlccfr.load_game("holdem(ranks=4,suits=2,private=1,flop=2,rounds=2)")
    board = holdem.path(int(holdem.view.nodes["first_child"][holdem.node("cc")])).removeprefix("cc").strip("/")
    assert holdem.node(f"cc/{board[2:]}{board[:2]}/c") == holdem.node(f"cc/{board}/c")


def test_pairs_of_sizes_are_kept_by_side_in_names():
    game = made(bets={"river": ("33%", "75%")}, raises=("a", ""))
    assert game.arguments["bets"] == {"river": {"oop": "33%", "ip": "75%"}}
    assert game.arguments["raises"] == {"oop": "a", "ip": ""}
    again = rlccfr.load_game(game.full_name)
    assert again.full_name == game.full_name
    assert again.content_hash == game.content_hash
    assert [again.letters(0), again.letters(again.node("c"))] == [["c", "b33"], ["c", "b75"]]
    assert made(bets={"ip": "75%"}).letters(0) == ["c"]


def test_a_subgame_is_made_again_by_its_name():
    game = rlccfr.subgame(**EXAMPLE | {"board": "Td9d6hQc2c"})
    again = rlccfr.load_game(game.full_name)
    assert again.content_hash == game.content_hash
    assert form_named(game.full_name) is game.form
    assert identity_of(game.full_name) == identity_of(again.full_name)
    assert again.content_hash != rlccfr.subgame(**EXAMPLE | {"board": "Td9d6hQc2c", "stack": 800}).content_hash
    assert made(oop="AA").content_hash != made(oop="AA:0.5").content_hash


def test_the_size_is_known_before_anything_is_built():
    for arguments in (RIVER, EXAMPLE, RIVER | {"board": "Td9d6h", "bets": {"flop": "a", "river": "50%"}}):
        rules = module.SubgameRules.of({**module.DEFAULTS, **arguments})
        size = rules.size()
        game = rules.build()
        assert (size.nodes, size.infosets, size.sequences) == (game.num_nodes, game.num_infosets, game.num_sequences)
        tables = sum(table.nbytes for table in PublicState.at_start(game, 0, "int16").tables)
        assert size.least_bytes > tables


def test_too_large_a_game_is_refused_with_what_would_fit(monkeypatch):
    one_size = module.SubgameRules.of({**module.DEFAULTS, **EXAMPLE, "bets": "60%"}).size().least_bytes
    monkeypatch.setattr(module, "available_memory", lambda: one_size + 10)
    with pytest.raises(rlccfr.GameError, match=r"needs at least .* public nodes and .* with only the first size.*fits"):
        rlccfr.subgame(**EXAMPLE)
    counted = module.SubgameRules.of({**module.DEFAULTS, **EXAMPLE}).size(one_size)
    assert one_size < counted.least_bytes
    assert counted.sequences < 1_303_301  # counting has stopped
    monkeypatch.setattr(module, "available_memory", lambda: 1000)
    with pytest.raises(rlccfr.GameError, match="it needs too much: begin on a later street"):
        rlccfr.subgame(**EXAMPLE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"board": "Td9d"}, "has 2 cards; a subgame begins with three to five"),
        ({"board": "Td9d6hTd"}, "a card twice"),
        ({"board": "Td9d6x"}, "is not a card"),
        ({"board": 5}, "cards must be given as a string"),
        ({"oop": ""}, "has no hand"),
        ({"oop": "AA,KK:1e-14"}, "the range has 'KK:1e-14', whose weight is below 1e-09: leave the hands out"),
        ({"oop": "AA:2"}, "weight must be a number from 0 to 1"),
        ({"oop": "Td2d"}, "every hand of oop='Td2d' contains a card of the board"),
        ({"oop": "AhAs", "ip": "AhKh,AsKs"}, "can be dealt together with a hand of ip='AhKh,AsKs': all pairs share"),
        ({"pot": 0}, "pot must be a number above 0"),
        ({"pot": 2.5}, r"pot must be a multiple of the chip, 1, not 2\.5: set chip=0\.1$"),
        ({"pot": 10.005, "chip": 0.01}, r"the chip, 0\.01, not 10\.005: set chip=0\.001$"),
        ({"pot": 10, "chip": 3}, r"the chip, 3, not 10: set chip=1$"),
        ({"pot": float("nan")}, "pot must be"),
        ({"pot": "100"}, "pot must be"),
        ({"stack": -5}, "stack must be a number above 0"),
        ({"stack": 1e12}, "use a larger chip"),
        ({"chip": 0}, "chip must be a number above 0"),
        ({"merging": -1}, "merging must be a number of at least 0"),
        ({"commit": 2}, "commit must be a share of the stack"),
        ({"rake": 0.05}, "a game with rake is not zero-sum"),
        ({"bets": ["33%", "75%"]}, "bets of the flop is a list: write one string, .* or a pair for both players"),
        (
            {"bets": "33%", "min_bet": 50},
            "the first bet of 33 on the river is below the smallest bet, 50: use a larger size",
        ),
        ({"bets": "3c", "min_bet": 5}, "the first bet of 3 on the river is below the smallest bet, 5"),
        ({"bets": "huge"}, "bets of the flop: 'huge' is not a size; sizes are like"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(changes, message):
    with pytest.raises(rlccfr.GameError, match=message) as error:
        made(**changes)
    assert "\n" not in str(error.value)


def test_the_default_run_is_recommended_since_no_subgame_was_measured():
    game = made()
    for given in (game, game.full_name):
        found = rlccfr.recommend(given)
        assert (found.basis, found.cell[0]) == ("default", "controlled(controller='schedule')")
        assert "no game represented as a no-limit subgame was measured" in found.why
        assert "with blends at its end" in found.why
        assert "blends" not in rlccfr.recommend(given, {"unit": "iterations", "amount": 10}).why


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ('subgame{"board": "Td9d', "is not the whole name of a subgame"),
        ('subgame{"board": "Td9d6h"}', "has no pot"),
        (
            'subgame{"board": "Td9d6h", "pot": 1, "stack": 1, "oop": "AA", "ip": "KK", "bets": "a", "rakes": 1}',
            "has an unknown argument 'rakes'",
        ),
    ],
)
def test_bad_names_are_refused(name, message):
    with pytest.raises(rlccfr.GameError, match=message):
        rlccfr.load_game(name)


def test_the_flop_of_the_published_comparison_has_its_size():
    """The ranges of PioSOLVER's 3betpotFAST have a published equity; tables have 55 million rows."""
    size = module.SubgameRules.of({**module.DEFAULTS, **FAST}).size()
    assert size.infosets == 55_070_002
    assert size.sequences == 125_354_354
    assert rlccfr.equity(FAST["oop"], FAST["ip"], FAST["board"]).equity[0] == pytest.approx(0.55347, abs=1e-5)
