"""Pages of games with a public tree show the figures of the same games in OpenSpiel."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from public_games import cards_in, keys_of, merged_entries, openspiel_form, openspiel_keys, unmerged

import rlccfr
from rlccfr.explorer.points import ENDS, any_content, content
from rlccfr.explorer.public_points import public_points
from rlccfr.games.records import CHANCE
from rlccfr.policies.analysis import figures_of_histories, figures_of_infosets

RELATIVES = (
    "ranks=3,suits=2,private=1,flop=1",
    pytest.param("ranks=4,suits=2,private=2,flop=1", marks=pytest.mark.slow),
    "ranks=3,suits=3,private=2,flop=1,rounds=1,raises=2",
    "ranks=5,suits=1,private=1,flop=1,opening=2",
)
ALL = 10**9


def random_policy(game):
    return rlccfr.PublicPolicy(game, np.random.default_rng(0).exponential(size=game.num_sequences))


def shown(policy):
    """Return by the key of each table entry what the page shows: reach, value, probability and gain."""
    found, paths, reached = {}, [], []
    for point in public_points(policy, most=ALL):
        before = paths[point.parent] if point.parent >= 0 else ((), "")
        boards, moves = before
        if point.parent >= 0 and cards_in(point.move) and point.move[0] in "23456789TJQKA":
            boards, moves = (*boards, cards_in(point.move)), moves + "|"
        elif point.parent >= 0:
            moves += point.move[0]
        paths.append((boards, moves))
        reached.append(point.share * (reached[point.parent] if point.parent >= 0 else 1.0))
        for held in point.states:
            for action, (_, likely, gain) in enumerate(held.actions):
                key = (point.actor, cards_in(held.text), boards, moves, action)
                found[key] = (reached[-1] * held.share, held.value, likely, gain)
    return found


@pytest.mark.parametrize("parameters", RELATIVES)
def test_figures_are_those_of_the_compiled_game(parameters):
    game, whole = rlccfr.load_game(f"holdem({parameters})"), unmerged(parameters)
    policy = random_policy(game)
    entry = dict(zip(keys_of(whole), merged_entries(whole, game).tolist(), strict=True))
    tree = rlccfr.load_game(openspiel_form(parameters))
    entries = np.array([entry[key] for key in openspiel_keys(tree)])
    probabilities = policy.probabilities[entries]
    along = figures_of_histories(tree, probabilities)
    theirs = figures_of_infosets(tree, along)
    reach = np.bincount(entries, theirs.reach[tree.owner], game.num_sequences)  # of all that suits make the same
    ours = shown(policy)
    for number, key in enumerate(keys_of(game)):
        sequence = int(np.flatnonzero(entries == number)[0])
        infoset = tree.owner[sequence]
        figures = reach[number], theirs.value[infoset], probabilities[sequence], theirs.gain[sequence]
        assert ours[key] == pytest.approx(figures, abs=1e-12)
    assert len(ours) == game.num_sequences


@pytest.mark.slow
@pytest.mark.parametrize("name", ["holdem(ranks=4,suits=2,private=2,flop=1)", "bluff", "bluff(dice=1)"])
def test_shares_and_values_add_up(name):
    policy, below = random_policy(rlccfr.load_game(name)), defaultdict(list)
    found = list(public_points(policy, most=ALL))
    for point in found:
        below[point.parent].append(point)
    assert found[0].value == pytest.approx(policy.values().game[0])
    for number, point in enumerate(found):
        if point.actor == ENDS:
            assert not below[number]
            continue
        assert sum(one.share for one in below[number]) == pytest.approx(1)
        assert sum(one.share * one.value for one in below[number]) == pytest.approx(point.value)
        if point.actor != CHANCE:
            assert sum(held.share for held in point.states) == pytest.approx(1)
            assert sum(held.share for held in point.opponent_states) == pytest.approx(1)


@pytest.mark.slow
def test_little_gains_on_a_solved_game():
    solver = rlccfr.Solver(rlccfr.load_game("bluff"), "dcfr_plus")
    solver.run(iterations=2000)
    reached = []
    for point in public_points(solver.average_policy(), most=ALL):
        reached.append(point.share * (reached[point.parent] if point.parent >= 0 else 1.0))
        for held in point.states:
            weight = reached[-1] * held.share
            assert weight * max((gain for _, _, gain in held.actions if gain == gain), default=0.0) < 1e-4


@pytest.mark.slow
def test_a_page_begins_anywhere_and_ends_in_time():
    policy = random_policy(rlccfr.load_game("holdem(ranks=4,suits=2,private=2,flop=1)"))
    whole = list(public_points(policy, most=ALL))
    assert [point.move for point in whole[1:3]] == ["fold", "call"]
    part = list(public_points(policy, "c", most=ALL))
    call = next(point for point in whole if point.parent == 0 and point.move == "call")
    assert part[0].states == call.states
    assert part[0].value == pytest.approx(call.value)
    assert (part[0].parent, part[0].move, part[0].share) == (-1, "c", 1.0)
    short = list(public_points(policy, most=1))
    assert [len(point.states) for point in short[:2]] == [len(whole[0].states), 0]
    with pytest.raises(rlccfr.GameError, match="has the path 'x'"):
        public_points(policy, "x")


def test_points_beyond_the_limit_have_no_states():
    policy = random_policy(rlccfr.load_game("holdem(ranks=4,suits=2,private=2,flop=1)"))
    whole = list(public_points(policy, most=ALL))
    sizes = [len(point.states) + len(point.opponent_states) for point in whole]
    for most in (sizes[0], 200, sum(sizes) - 1, sum(sizes)):  # the last holds all
        part = list(public_points(policy, most=most))
        with_states = [point for point in part if point.states]
        assert with_states == [point for point in whole if point.states][: len(with_states)]
        assert sum(len(point.states) + len(point.opponent_states) for point in with_states) <= most
        assert (len(with_states) == sum(size > 0 for size in sizes)) == (most == sum(sizes))
        assert [point[:5] for point in part] == [point[:5] for point in whole[: len(part)]]


def test_a_subgame_shows_sizes_in_words_and_each_players_own_hands():
    game = rlccfr.subgame(
        "Td9d6hQc", pot=100, stack=120, oop="AA:0.5,8d7d,TT:0.25", ip="KhKd,8d7d,QJs:0.3", bets="50%", raises="a",
        donk={"river": "a"},
    )  # fmt: skip
    policy = random_policy(game)
    points = list(public_points(policy, most=ALL))
    first = points[0]
    assert first.value == pytest.approx(policy.values().game[0], abs=1e-9)
    assert [action[0] for action in first.states[0].actions] == ["check", "bet 50"]
    after_bet = next(point for point in points if point.move == "bet 50")
    assert [action[0] for action in after_bet.states[0].actions] == ["fold", "call", "all-in"]
    # Values by hand are those that a pass finds, and shares those of the pairs' weights.
    values = policy.values_by_hand(0)
    assert {state.text: state.value for state in first.states} == pytest.approx(values, abs=1e-9)
    share = {state.text: state.share for state in first.opponent_states}
    assert set(share) == set(policy.values_by_hand(1))
    weights = dict(zip(game.row_names(0), game.view.reach[: len(first.states)].tolist(), strict=True))
    meeting_8d7d = game.pair_probability * sum(weight for hand, weight in weights.items() if hand != "8d7d")
    assert share["8d7d"] == pytest.approx(meeting_8d7d, abs=1e-12)
    for point in points:
        if point.states and point.value == point.value:
            assert sum(state.share for state in point.states) == pytest.approx(1.0, abs=1e-9)
            mean = np.nansum([state.share * state.value for state in point.states if state.share > 0])
            assert mean == pytest.approx(point.value if point.actor == 0 else -point.value, abs=1e-8)
    page = any_content(policy, "", 1000)
    assert page.places.keys() >= {"fold", "check", "call", "all-in", "bet 50"}
    assert page.ranks == "AKQJT98765432"


def test_a_subgame_without_bets_has_the_words_of_no_limit():
    game = rlccfr.subgame("Td9d6hQcJs", pot=100, stack=120, oop="AA", ip="KK", bets="")
    page = any_content(rlccfr.PublicPolicy.uniform(game))
    assert page.places == {"fold": 0, "call": 1, "check": 1, "all-in": 2}
    assert [point.move for point in page.points] == ["", "check", "check"]


def test_any_policy_has_points():
    holdem = random_policy(rlccfr.load_game("holdem(ranks=4,suits=2,private=2,flop=1)"))
    found = any_content(holdem)
    assert found.ranks == "5432"
    assert next(iter(found.points)).actor == 0
    assert found.places == {"fold": 0, "call": 1, "check": 1, "raise": 2}
    kuhn = rlccfr.Policy.uniform(rlccfr.load_game("kuhn"))
    found = any_content(kuhn)
    assert (found.ranks, found.places, list(found.points)) == ("", {"Pass": 0, "Bet": 1}, list(content(kuhn).points))
    bluff = any_content(rlccfr.PublicPolicy.uniform(rlccfr.load_game("bluff"))).places
    assert sorted(bluff.values()) == list(range(13))  # 12 bids with two dice, and the call
    with pytest.raises(rlccfr.GameError, match="'kuhn' has no public tree"):
        any_content(kuhn, "c")
