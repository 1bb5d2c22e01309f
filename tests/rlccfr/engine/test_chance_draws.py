from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from support import game, has_quick_walks

import rlccfr
from rlccfr.components import SHARED_CHANCE, Sampler
from rlccfr.engine import chance_draws
from rlccfr.engine.chance_draws import shared_draws
from rlccfr.games.public.labels import chance_labels
from rlccfr.registry import samplers


def by(chance: str) -> Sampler:
    return Sampler(chance=chance, opponent="all")


def test_each_traverser_has_the_labels_of_its_draws():
    tree = game("leduc")
    labels = dict(zip((None, 0, 1), chance_labels(tree, (None, 0, 1)), strict=True))
    for chance, drawn in (("public", (None, None)), ("opponent", (1, 0)), ("own", (0, 1))):
        found = shared_draws(tree, by(chance))
        for traverser, player in enumerate(drawn):
            after = np.flatnonzero(labels[player].label >= 0)
            mine, theirs = found.label[traverser, after], labels[player].label[after]
            np.testing.assert_array_equal(found.probability[mine], labels[player].probability[theirs])
            for draw in np.unique(found.draw[traverser][found.draw[traverser] >= 0]):
                row = slice(found.first_label[draw], found.first_label[draw + 1])
                assert found.cumulative[row] == pytest.approx(np.cumsum(found.probability[row]))
                assert found.cumulative[row][-1] == pytest.approx(1)


@pytest.mark.slow
def test_draws_are_computed_once_for_each_game_while_it_lives(monkeypatch):
    tree, calls = rlccfr.load_game("kuhn"), []
    compute = chance_draws.chance_labels
    monkeypatch.setattr(chance_draws, "chance_labels", lambda *given: calls.append(None) or compute(*given))
    assert shared_draws(tree, by("own")) is shared_draws(tree, by("own"))
    assert len(calls) == 1
    alive = weakref.ref(tree)
    del tree
    gc.collect()
    assert alive() is None


def test_other_samplers_need_no_public_tree():
    tree = game("goofspiel")
    for made in (Sampler(), by("all"), Sampler(exact=True, chance="public")):
        assert not shared_draws(tree, made).draw.size


@pytest.mark.parametrize("chance", SHARED_CHANCE)
def test_games_without_a_public_tree_are_refused_in_one_line(chance):
    entry = next(entry.id for entry in samplers if entry.make().chance == chance)
    for made, name in ((entry, entry), (by(chance), "chance=")):
        with pytest.raises(rlccfr.ComponentError) as refused:
            rlccfr.Solver(game("goofspiel"), "cfr", made)
        told = str(refused.value)
        assert name in told
        assert "'goofspiel' has no public tree" in told
        assert told.endswith("use sampler='chance' instead")
        assert "\n" not in told


def test_a_refused_switch_changes_nothing():
    solver = rlccfr.Solver(game("goofspiel"), "cfr", "external")
    with pytest.raises(rlccfr.ComponentError, match="has no public tree"):
        solver.switch(sampler="public_chance")
    assert solver.sampler.id == "external"
    solver.run(iterations=2)


@pytest.mark.parametrize("chance", SHARED_CHANCE)
def test_the_quick_kernels_do_not_serve(chance):
    assert not has_quick_walks(rlccfr.Solver(game("kuhn"), "cfr", Sampler(chance=chance)))
