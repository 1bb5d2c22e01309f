"""Names of hold'em games in buckets, their sizes, and what is refused."""

import re

import numpy as np
import pytest

import rlccfr
from rlccfr.games.bucket_histories import names
from rlccfr.games.bucket_histories.betting_lines import betting_rounds
from rlccfr.games.bucket_histories.boards import Boards
from rlccfr.games.bucket_histories.meetings import are_kept, meetings_of
from rlccfr.games.names import identity_of
from rlccfr.games.public.names import rules_of
from rlccfr.games.public.records import CHANCE

SMALL = "holdem(rounds=3,ranks=4,suits=2,private=1,flop=1,buckets=3)"


@pytest.mark.parametrize(
    ("buckets", "infosets"), [(5, 3_624_290), (8, 23_551_424), (10, 57_337_080), (12, 118_671_936)]
)
def test_texas_holdem_has_the_published_numbers_of_infosets(buckets, infosets):
    """Of the paper on public chance sampling, Table 1."""
    rounds = betting_rounds(rules_of("texas_holdem"))
    assert sum(buckets ** (k + 1) * sum(betting.num_decisions) for k, betting in enumerate(rounds)) == infosets


def test_paths_lead_to_decisions_and_back():
    game = rlccfr.load_game(SMALL)
    seen = set()
    for decision in game.decisions:
        for line in range(decision.shape[2]):
            path = game.path(decision.round, decision.node, line)
            assert game.node(path) == (decision.round, decision.node, line)
            seen.add(path)
    assert len(seen) == sum(sum(betting.num_decisions) for betting in game.rounds)
    assert game.letters(*game.node("cr")[:2]) == ["f", "c"]  # one raise in all


def test_payoffs_of_lines_are_those_of_the_public_tree():
    """Chips at folds and showdowns, by the actions that lead there."""
    game = rlccfr.load_game(SMALL)
    whole = rlccfr.load_game(SMALL.replace(",buckets=3", ""))
    nodes = whole.view.nodes
    payoffs = {
        re.sub("/[^/]*/", "/", whole.path(node)): nodes["payoff"][node]
        for node in np.flatnonzero(nodes["kind"] > CHANCE).tolist()
    }
    found = {}
    for number, betting in enumerate(game.rounds):
        last = number + 1 == len(game.rounds)
        for node in np.flatnonzero(betting.nodes["kind"] >= CHANCE).tolist():
            is_end = betting.nodes["kind"][node] == CHANCE
            if is_end and not last:
                continue
            of_leaf = (betting.pots if is_end else betting.fold_payoffs).reshape(-1, betting.num_lines)
            for line in range(betting.num_lines):
                found[game.path(number, node, line)] = of_leaf[betting.nodes["leaf"][node], line]
    assert found == payoffs


def test_tables_are_cut_into_decisions_without_gaps():
    game = rlccfr.load_game(SMALL)
    table = np.zeros(game.num_sequences)
    for decision in game.decisions:
        decision.of(table)[:] += 1
    assert (table == 1).all()


def test_rows_of_matrices_are_probabilities_of_hands():
    """Player 0's margins are those of its histories, which add up to those of the histories before."""
    game = rlccfr.load_game(SMALL)
    matrices = game.matrices(np.dtype(float))
    for before, after, above in zip(matrices.met, matrices.met[1:], game.bucketing.above[1:], strict=False):
        assert np.allclose(before.sum(axis=1), np.bincount(above, after.sum(axis=1)))
    for matrix in matrices.met:
        assert matrix.sum() == pytest.approx(1)
        assert np.array_equal(matrix, matrix.T)
    assert np.array_equal(matrices.margins, -matrices.margins.T)


def test_names_with_equal_rules_are_one_game():
    assert identity_of(SMALL) == identity_of("holdem(buckets=3, flop=1,private=1,suits=2,ranks=4,rounds=3,raises=1)")
    assert identity_of(SMALL) != identity_of(SMALL.replace("buckets=3", "buckets=2"))
    assert identity_of(SMALL) != identity_of(SMALL.replace(",buckets=3", ""))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (SMALL.replace("buckets=3", "buckets=0"), "from 1 to 8, the number of hands"),
        (SMALL.replace("buckets=3", "buckets=9"), "from 1 to 8, the number of hands"),
        (SMALL.replace("rounds=3", "rounds=5"), "rounds of holdem must be from 1 to 4, not 5"),
        ("bluff(buckets=2)", "only hold'em's hands are put in buckets"),
        ("holdem(buckets=2,buckets=3)", "gives a parameter twice"),
        ("holdem(bucket=2)", "has the parameters rounds, .*, buckets, not 'bucket'"),
        ("texas_holdem(rounds=3,buckets=2)", "has only the parameter buckets: leave out 'rounds'"),
        ("texas_holdem(buckets=two)", r"must be non-negative whole numbers, as in 'texas_holdem\(buckets=5\)'"),
    ],
)
def test_bad_names_get_one_line(name, message):
    with pytest.raises(rlccfr.GameError, match=message) as caught:
        rlccfr.load_game(name)
    assert "\n" not in str(caught.value)


def test_what_does_not_fit_is_refused_before_it_is_computed(monkeypatch):
    monkeypatch.setattr(names, "available_memory", lambda: 10**9)
    monkeypatch.setattr(names, "bucketing_of", None)
    message = "up to 20,736 bucket histories and 118,671,936 infosets, .* only 1 GB are available: use fewer buckets"
    with pytest.raises(rlccfr.GameError, match=message):
        rlccfr.load_game("texas_holdem(buckets=12)")


def test_the_whole_game_is_refused_with_advice():
    with pytest.raises(rlccfr.GameError, match="put hands in buckets"):
        rlccfr.load_game("texas_holdem")


def test_sizes_are_known_before_the_tables_are(monkeypatch):
    name = "holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets=2)"
    assert names.sizes_before_loading(name) is None  # it is loaded at once
    monkeypatch.setattr(names, "LEAST_KEPT", 0)
    found = names.sizes_before_loading(name)
    assert not found.pop("tables_are_kept")
    assert found.pop("counts").startswith("at most")
    assert found == rlccfr.load_game(name).sizes()
    monkeypatch.setattr(names, "are_kept", lambda *_: True)
    assert names.sizes_before_loading(name) is None


def test_counts_are_found_under_the_key_by_which_they_are_kept(monkeypatch):
    game = rlccfr.load_game(SMALL)
    deck = game.bucketing.deck
    board = game.bucketing.boards.new_cards
    monkeypatch.setattr(Boards, "are_many", True)
    assert not are_kept(deck, board, 3)
    meetings_of(game.bucketing)
    assert are_kept(deck, board, 3)
    assert not are_kept(deck, board, 2)
