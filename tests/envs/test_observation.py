from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from support import SMALL_DICE

from rlccfr.catalog import AXES, Catalog
from rlccfr.components import SHARED_CHANCE, Abstraction, Sampler, UpdateRule, always
from rlccfr.envs import FEATURE_NAMES, OBSERVATION_SIZE, PRESETS, Budget, Cell, GameFeatures, Progress, observe
from rlccfr.envs.game_features import COMPONENT_FEATURES, component_features
from rlccfr.envs.observation import (
    observation_space,
    reward_weights_of,
    uniform_feature,
    with_weights,
)
from rlccfr.envs.reward import SCALES
from rlccfr.errors import ComponentError
from rlccfr.games.compiled_games import compiled, uniform_in_units
from rlccfr.registry import abstractions, samplers, update_rules

BUDGET = Budget("iterations", 1000)
PRESET = PRESETS["paper-kuhn"]


def seen(game="kuhn", budget=BUDGET, preset=PRESET, progress=None, picks=()):
    progress = Progress() if progress is None else progress
    return observe(GameFeatures.of(compiled(game)), uniform_in_units(game), budget, preset, progress, picks)


def named(vector, prefix):
    return {name: value for name, value in zip(FEATURE_NAMES, vector, strict=True) if name.startswith(prefix)}


def test_an_observation_is_a_fresh_vector_in_its_space():
    space = observation_space()
    assert np.isfinite([space.low, space.high]).all()
    assert len(set(FEATURE_NAMES)) == OBSERVATION_SIZE
    first, second = seen(), seen()
    assert first is not second
    assert not np.shares_memory(first, second)
    first[:] = 0
    np.testing.assert_array_equal(second, seen())
    progress = Progress(2, 3, Cell("dcfr", "outcome", "cfr_br"), 0.2, -0.5, 0.9, False)
    for vector in (seen(), seen(progress=progress, picks=("cfr", "probing", "none")), seen("leduc")):
        assert vector.dtype == np.float32
        assert vector.shape == (OBSERVATION_SIZE,)
        assert space.contains(vector)


@pytest.mark.parametrize("axis", range(3))
def test_entries_of_the_catalog_are_distinct(axis):
    ids = Catalog.paper().axes[axis]
    features = {id: component_features(axis, id) for id in ids}
    for a, b in combinations(ids, 2):
        assert np.abs(features[a] - features[b]).max() > 0.01, (a, b)


def test_buckets_are_told_apart_and_from_none():
    made = ("none", "cfr_br", "suits", "equity", "equity(buckets=8)", "equity(respond=True)")
    found = [component_features(2, abstractions.resolve(one)) for one in made]
    assert all(not np.array_equal(one, other) for one, other in combinations(found, 2))
    assert [one[1] for one in found[:2]] == [0.0, 1.0]
    assert all(0 < one[1] < 1 for one in found[2:])


def test_samplers_that_draw_other_parts_of_chance_are_distinct():
    found = {chance: component_features(1, Sampler(chance=chance)) for chance in ("all", "one", *SHARED_CHANCE)}
    for a, b in combinations(found, 2):
        assert np.abs(found[a] - found[b]).max() > 0.01, (a, b)


def test_all_triples_give_distinct_observations():
    vectors = {seen(picks=cell).tobytes() for cell in Catalog.paper()}
    assert len(vectors) == len(Catalog.paper())


def test_every_component_has_features_in_range():
    for axis, registry in enumerate((update_rules, samplers, abstractions)):
        for entry in registry:
            features = component_features(axis, entry.id)
            assert features.shape == (len(COMPONENT_FEATURES[axis]),)
            assert np.abs(features).max() <= 1
            assert features[0] == 1


def test_exponents_are_read_off_the_schedules():
    def rule(id, **hyperparameters):
        vector = component_features(0, update_rules[id].make(**hyperparameters))
        return dict(zip(COMPONENT_FEATURES[0], vector, strict=True))

    # CFR+ weights by t^gamma, LCFR discounts by (t-1)/t; e is shown as e / (1 + e).
    for gamma in (0.0, 1.0, 3.0):
        assert rule("cfr_plus", gamma=gamma)["averaging_early"] == pytest.approx(gamma / (1 + gamma))
        assert rule("cfr_plus", gamma=gamma)["averaging_late"] == pytest.approx(gamma / (1 + gamma), abs=1e-4)
    assert rule("lcfr")["negative_discount_late"] == pytest.approx(0.5, abs=1e-4)
    assert rule("cfr")["positive_discount_late"] == 0
    assert rule("cfr_plus")["floor_is_finite"] == 1
    assert rule("cfr")["floor_is_finite"] == 0
    assert rule("dcfr")["negative_discount_late"] > 0.99  # halved at every iteration
    assert rule("ecfr")["reweights"] == rule("ecfr")["uses_mass"] == 1
    assert rule("ecfr", mode="published")["exact_only"] == 1


def test_components_of_users_need_no_id():
    rule = UpdateRule(positive_discount=always(0.0), floor=-3.0, prediction=always(1.0), fallback="argmax")
    vector = seen(picks=(rule, Sampler(chance="all", exploration=0.25), Abstraction(best_response=True)))
    picked = named(vector, "pick.")
    assert picked["pick.update_rule.positive_discount_late"] == 1
    assert picked["pick.update_rule.floor"] == -0.75
    assert picked["pick.update_rule.prediction_early"] == 0.5
    assert picked["pick.update_rule.argmax_fallback"] == 1
    assert picked["pick.sampler.exploration"] == 0.25
    assert picked["pick.sampler.samples_chance"] == 0
    assert picked["pick.abstraction.best_response"] == 1


def test_picks_appear_one_by_one():
    cell = Cell("dcfr", "outcome", "cfr_br")
    for count in range(4):
        vector = seen(picks=cell[:count])
        for axis, name in enumerate(AXES):
            block = named(vector, f"pick.{name}.")
            assert block[f"pick.{name}.known"] == (axis < count)
            assert any(block.values()) == (axis < count)
    with pytest.raises(ComponentError):
        seen(picks=("no such rule",))


def test_unknown_is_zero_with_a_flag():
    before = named(seen(), "progress.")
    assert before["progress.measured"] == 0
    assert before["progress.error_cost"] == before["progress.speed_cost"] == 0
    assert not any(named(seen(), "previous.").values())
    progress = Progress(1, 2, Cell("cfr", "none", "none"), 0.25, -0.75, 0.5)
    after = named(seen(progress=progress), "progress.")
    assert after == {
        "progress.segment_share": 0.5,
        "progress.share_of_one_segment": 0.5,
        "progress.measured": 1,
        "progress.failed": 0,
        "progress.error_cost": 0.25,
        "progress.error_slope": -0.75,
        "progress.speed_cost": 0.5,
    }
    assert named(seen(progress=progress), "previous.")["previous.sampler.exact"] == 1


@pytest.mark.parametrize("id", ["test_extra", "test_unmade", "test_fails"])
def test_a_component_that_cannot_be_made_is_known_but_blank(broken_rules, id):
    features = component_features(0, id)
    assert features[0] == 1
    assert not features[1:].any()


def test_game_budget_and_weights_are_seen():
    games = ("kuhn", "leduc", "goofspiel", SMALL_DICE)
    assert len({seen(game).tobytes() for game in games}) == len(games)
    kuhn = GameFeatures.of(compiled("kuhn"))
    assert kuhn.histories == pytest.approx(np.log10(1 + 58) / 8)
    assert kuhn.infosets_0 == pytest.approx(np.log10(1 + 6) / 8)
    assert kuhn.mean_actions == pytest.approx(2 / 6)
    assert kuhn.chance_share == pytest.approx(4 / 28)  # the deals of the first and second card; 24 decisions
    assert GameFeatures.of(compiled("goofspiel")).chance_share == 0
    budgets = (
        BUDGET,
        Budget("iterations", 10_000),
        Budget("seconds", 0.1),
        Budget("seconds", 10),
        Budget("nodes", 1000),
    )
    assert len({seen(budget=budget).tobytes() for budget in budgets}) == len(budgets)
    assert len({seen(preset=preset).tobytes() for preset in PRESETS.values()}) == len(PRESETS)
    assert seen(preset=replace(PRESET, name="renamed")).tobytes() == seen().tobytes()


def test_the_scale_of_e_and_the_uniform_policys_exploitability_are_seen():
    by_scale = {scale: named(seen(preset=replace(PRESET, scale=scale)), "weights.scale.") for scale in SCALES}
    for scale, flags in by_scale.items():
        assert flags == {f"weights.scale.{one}": one == scale for one in SCALES}
    # From 0 to 1, the feature covers eight decades, with 1 in the middle.
    assert [uniform_feature(uniform) for uniform in (1e-3, 1.0, 1e2)] == pytest.approx([0.125, 0.5, 0.75])
    assert (uniform_feature(0.0), uniform_feature(1e-9), uniform_feature(1e9)) == (0.0, 0.0, 1.0)
    royal = replace(PRESETS["paper-royal"], scale="linear")
    changed = with_weights(np.stack([seen(), seen("leduc")]), reward_weights_of(royal))
    np.testing.assert_array_equal(changed, [seen(preset=royal), seen("leduc", preset=royal)])
