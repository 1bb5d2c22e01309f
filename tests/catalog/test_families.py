from __future__ import annotations

import pytest

import rlccfr
from rlccfr.catalog.families import FAMILIES, TEST, TRAIN, VALIDATION
from rlccfr.errors import GameError

HUNDREDFOLD = {
    "royal",
    "liars_dice(numdice=1,dice_sides=6,bidding_rule=reset-face)",
    "liars_dice(numdice=1,dice_sides=6,bidding_rule=reset-quantity)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1;2],num_shots=3)",
    "leduc(ranks=13,suits=2,raises=1)",
    "goofspiel(num_cards=7,imp_info=True,points_order=descending,returns_type=point_difference,num_turns=4)",
}


@pytest.mark.slow
def test_training_members_are_small_and_no_other_member_is_one_of_them():
    assert len(TRAIN) == len(set(TRAIN)) >= 30
    trees = [rlccfr.load_game(game) for game in TRAIN]
    largest = max(tree.num_histories for tree in trees)
    assert largest <= 2_900
    held_out = {game: rlccfr.load_game(game) for game in (*VALIDATION, *TEST)}
    hashes = [tree.content_hash for tree in (*trees, *held_out.values())]
    assert len(hashes) == len(set(hashes))
    assert {game for game, tree in held_out.items() if tree.num_histories >= 100 * largest} == HUNDREDFOLD
    assert any(not family.train for family in FAMILIES)


@pytest.mark.parametrize(("name", "same"), [("kuhn(cards=3)", "kuhn"), ("leduc(ranks=3, suits=2)", "leduc")])
def test_the_usual_member_of_a_family_is_the_game_itself(name, same):
    member, usual = rlccfr.load_game(name), rlccfr.load_game(same)
    assert (member.num_histories, member.num_infosets) == (usual.num_histories, usual.num_infosets)
    first, second = (rlccfr.Solver(tree, "dcfr").run(iterations=50) for tree in (member, usual))
    assert first.exploitability == pytest.approx(second.exploitability, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("leduc(ranks=2,suits=1)", "leduc deals 3 cards: ranks times suits must be at least that many"),
        ("kuhn(cards=14)", "cards of kuhn must be from 2 to 13, not 14"),
        ("leduc(cards=4)", "leduc has the parameters ranks, suits, raises, not 'cards'"),
        ("kuhn(cards)", "must be non-negative whole numbers"),
        ("kuhn(cards=4", "has no closing bracket"),
        ("kuhn(cards=-3)", "must be non-negative whole numbers"),
        ("leduc(ranks=3suits=2)", "must be non-negative whole numbers"),
        ("leduc(ranks=3,)", "must be non-negative whole numbers"),
        ("leduc(ranks=3,ranks=4)", "twice"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_one_line(name, message):
    with pytest.raises(GameError, match=message) as caught:
        rlccfr.load_game(name)
    assert "\n" not in str(caught.value)
