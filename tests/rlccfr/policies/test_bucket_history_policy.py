"""What policies of hold'em in buckets are not asked, and not combined with."""

import pytest

import rlccfr

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

PLAIN = "holdem(rounds=2,ranks=4,suits=2,private=1,flop=1)"
NAME = PLAIN.replace(")", ",buckets=3)")
OTHER = PLAIN.replace(")", ",buckets=2)")


def uniform(name):
    game = rlccfr.load_game(name)
    return game.form.part("policy").uniform(game)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda policy: policy.at(0, 99, 0), "nobody acts at node 99 of round 0: game.node"),
        (lambda policy: policy.at(7, 0, 0), "nobody acts at node 0 of round 7: game.node"),
        (lambda policy: policy.at(0, 0, 99), "the bucket history must be from 0 to 2, not 99"),
        (lambda policy: policy.at(0, 0, "5c"), "the bucket history must be a non-negative integer, not '5c'"),
        (lambda policy: policy.action_probabilities("cc/c", 1.5), "the bucket history must be a non-negative integer"),
        (lambda policy: policy.action_probabilities("cc/c", "2c"), "nobody acts after 'cc/c' .* the cards dealt after"),
        (lambda policy: policy.action_probabilities("cc/5d/c", 0), "give the actions f, c and r of each round"),
        (lambda policy: policy.action_probabilities("c/5d", "2c"), "has the cards of 1 deals, but 0 come before"),
        (
            lambda policy: policy.action_probabilities("", "Ah"),
            "'Ah' is not a card of the deck; a card is one of 2345 and",
        ),
        (lambda policy: policy.action_probabilities("cc/5d5d/c", "2c"), "'5d5d' has a card twice: name each card once"),
        (lambda policy: policy.action_probabilities("cc/5d/c", "5d"), "is not a hand and a board: the numbers"),
        (lambda policy: policy.action_probabilities(0, "2c"), "a path must be a string such as 'cc/rc/', not 0"),
        (lambda policy: policy.game.node(0), "a path must be a string such as 'cc/rc/', not 0"),
        (lambda policy: policy.card_exploitability(boards=2, seed=-1), "seed must be a non-negative integer, not -1"),
        (lambda policy: policy.to_openspiel(), r"OpenSpiel has no policies: save the policy as \.npz"),
        (lambda policy: rlccfr.solve_exactly(policy.game), r"use rlccfr\.solve\(game\), which iterates"),
    ],
)
def test_bad_questions_get_one_line(ask, message):
    with pytest.raises(rlccfr.RLCCFRError, match=message) as caught:
        ask(uniform(NAME))
    assert "\n" not in str(caught.value)


def test_only_policies_of_one_game_share_a_table():
    """Entries of one game lie elsewhere in tables of another, also beyond their end."""
    for first, second in ((NAME, OTHER), (OTHER, NAME), (NAME, PLAIN)):
        with pytest.raises(rlccfr.PolicyError, match="must be for the same game, in the same version"):
            uniform(first).seated_with(uniform(second))


def test_policies_need_a_game_and_not_its_name(tmp_path):
    policy = uniform(NAME)
    policy.save(tmp_path / "policy.npz")
    for make in (
        lambda: type(policy)(NAME, policy.table),
        lambda: type(policy).load(tmp_path / "policy.npz", NAME),
    ):
        with pytest.raises(TypeError, match=r"game must come from rlccfr\.load_game"):
            make()
