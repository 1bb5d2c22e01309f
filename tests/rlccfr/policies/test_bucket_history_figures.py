"""Gains, reach and states of policies in buckets: beside plain Python, which goes through all pairs of histories."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import rlccfr
from rlccfr.games.public.records import CHANCE, FOLD
from rlccfr.policies.bucket_history_policy import BucketHistoryPolicy
from rlccfr.policies.listing import states

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

GAMES = [
    "holdem(rounds=3,ranks=3,suits=2,private=1,flop=1,buckets=2)",
    "holdem(rounds=2,raises=2,ranks=3,suits=2,private=2,flop=2,buckets=3)",
]


def random_policy(name, seed=1, dtype=float):
    game = rlccfr.load_game(name)
    entries = np.random.default_rng(seed).exponential(size=game.num_sequences) - 0.3
    return BucketHistoryPolicy(game, entries.astype(dtype))


def histories_by_round(game):
    """Return, for each history of the last round, the history in each round."""
    chains = [[history] for history in range(game.num_bucket_histories[-1])]
    for number in range(len(game.rounds) - 1, 0, -1):
        for chain in chains:
            chain.insert(0, int(game.bucketing.above[number][chain[0]]))
    return chains


def gains_in_plain_python(policy, player):
    """Return a player's gain at each path, by its definition; chance deals a pair of the last round's histories."""
    game = policy.game
    matrices = game.matrices(np.dtype(float))
    met, margins = matrices.met[-1], matrices.margins
    chains = histories_by_round(game)
    everyone = range(len(chains))
    gains = {}

    def likely(path, number, node, line):
        """Return the policy at a decision for each of the last round's histories."""
        return [policy.at(number, node, chains[h][number])[:, line].tolist() for h in everyone]

    def visit(number, node, line, path, own, others):
        """Return the player's counterfactual value of each history, if it plays a best response from here on."""
        betting = game.rounds[number]
        record = betting.nodes[node]
        leaf = int(record["leaf"]) * betting.num_lines + line
        if record["kind"] == FOLD:
            payoff = betting.fold_payoffs[leaf] * (1 if player == 0 else -1)
            return [payoff * sum(met[h, g] * others[g] for g in everyone) for h in everyone]
        if record["kind"] == CHANCE and number + 1 == len(game.rounds):
            return [betting.pots[leaf] * sum(margins[h, g] * others[g] for g in everyone) for h in everyone]
        if record["kind"] == CHANCE:
            return visit(number + 1, 0, leaf, f"{path}/", own, others)
        policies = likely(path, number, node, line)
        below = []
        for action, child in enumerate(betting.children(node)):
            taken = [shares[action] for shares in policies]
            reach = own, others
            if record["kind"] == player:
                reach = [own[h] * taken[h] for h in everyone], others
            else:
                reach = own, [others[g] * taken[g] for g in everyone]
            below.append(visit(number, child, line, path + betting.moves[child], *reach))
        if record["kind"] != player:
            return [sum(values[h] for values in below) for h in everyone]
        # The player can't tell apart the histories of the last round that continue one of this round.
        value_of = defaultdict(lambda: [0.0] * len(below))
        for h in everyone:
            for action, values in enumerate(below):
                value_of[chains[h][number]][action] += values[h]
        gain = 0.0
        for history, values in value_of.items():
            h = next(h for h in everyone if chains[h][number] == history)
            gain += own[h] * (max(values) - sum(np.multiply(policies[h], values)))
        gains[path] = gain
        best = {history: int(np.argmax(values)) for history, values in value_of.items()}
        return [below[best[chains[h][number]]][h] for h in everyone]

    ones = [1.0] * len(chains)
    visit(0, 0, 0, "", ones, ones)
    return gains


@pytest.mark.parametrize("name", GAMES)
def test_gains_are_those_of_plain_python_and_sum_to_the_players_gains(name):
    policy = random_policy(name)
    found = policy.gains_by_state()
    for player, total in enumerate(policy.values().gains):
        expected = gains_in_plain_python(policy, player)
        of_player = {gain.text: gain.gain for gain in found if gain.player == player}
        assert of_player == pytest.approx(expected, abs=1e-12)
        assert sum(of_player.values()) == pytest.approx(total, abs=1e-10)
    assert found[0].gain == max(gain.gain for gain in found)


def test_gains_in_single_precision_have_words():
    policy = random_policy(GAMES[0], dtype=np.float32)
    found = policy.gains_by_state()
    assert sum(gain.gain for gain in found) == pytest.approx(policy.nash_conv(), rel=1e-4)
    assert {gain.text: gain.words for gain in found}["cc/rc/c"] == "call, check; round 2: raise, call; round 3: check"


@pytest.mark.parametrize("name", GAMES)
def test_every_state_is_listed_with_its_reach(name):
    policy = random_policy(name)
    listed = list(states(policy))
    assert len(listed) == policy.game.num_infosets
    reach_of_path = defaultdict(float)
    arriving = {"": 1.0}  # probability that play arrives at each path, from the states of the path before
    for state in listed:
        path, _, history = state.text.rpartition(" ")
        assert dict(zip(state.actions, state.probabilities, strict=True)) == policy.action_probabilities(
            path, int(history)
        )
        reach_of_path[path] += state.reach
        for action, probability in zip(state.actions, state.probabilities, strict=True):
            for after in (path + action, f"{path}{action}/"):
                arriving[after] = arriving.get(after, 0.0) + state.reach * probability
    assert reach_of_path == pytest.approx({path: arriving[path] for path in reach_of_path}, abs=1e-12)


def test_states_are_found_by_path_bucket_player_and_cards():
    policy = random_policy(GAMES[0])
    by_cards = list(states(policy, ["cc/4d/C 2c"]))
    assert len(by_cards) == 1
    assert dict(zip(by_cards[0].actions, by_cards[0].probabilities, strict=True)) == policy.action_probabilities(
        "cc/4d/c", "2c"
    )
    assert {state.text for state in states(policy, ["2c"])} == {str(policy.game.bucketing.history_named("2c", []))}
    assert len(list(states(policy, ["2c", "2d"]))) == 1  # hands of one strength
    assert not list(states(policy, ["2c", "4c"]))  # the weakest and the strongest
    found = [state.words for state in states(policy, ["cc/cc/", "buckets 2/1/"], player=0)]
    assert found == [
        state.words
        for state in states(policy)
        if state.player == 0 and "cc/cc/" in state.text and "buckets 2/1/" in state.words
    ]
    assert found


@pytest.mark.parametrize(
    ("needle", "message"),
    [
        ("cc/4d4d/c 2c", "'4d4d' has a card twice"),
        ("cc/4d/c 4d", "is not a hand and a board"),
        ("cc/c 2c", "if you give a hand, the path must also contain the cards dealt after each round"),
        ("9c", "'9c' is not a card of the deck"),
    ],
)
def test_cards_that_can_not_be_dealt_get_one_line(needle, message):
    with pytest.raises(rlccfr.RLCCFRError, match=message) as caught:
        list(states(random_policy(GAMES[0]), [needle]))
    assert "\n" not in str(caught.value)
