from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
import warnings
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_for_sb3
from stable_baselines3.common.env_util import make_vec_env

import rlccfr
from rlccfr.catalog import Catalog
from rlccfr.envs import (
    FEATURE_NAMES,
    PRESETS,
    Budget,
    Cell,
    LiveEvaluator,
    MissingCellError,
    Request,
    SelectorEnv,
    SelectorFlatEnv,
    SelectorStageEnv,
    Store,
    TableEvaluator,
)
from rlccfr.envs.episode import parse_preset
from rlccfr.envs.reward import Preset, costs, mean_reward
from rlccfr.errors import RLCCFRError

IDS = ("rlccfr/Selector-v0", "rlccfr/SelectorFlat-v0", "rlccfr/SelectorStage-v0")
IDS_AND_SEGMENTS = [
    (IDS[0], 1), *((id, 2) for id in IDS), *(pytest.param(id, 1, marks=pytest.mark.slow) for id in IDS[1:])
]  # fmt: skip
SHORT = {"unit": "iterations", "amount": 20}
SMALL = {"update_rules": ["cfr", "dcfr"], "samplers": ["external", "none"], "abstractions": ["none"]}
OUT_OF_RANGE = object()

INFO = {
    "exploitability", "nash_conv", "throughput", "cpu_seconds", "nodes_touched", "iterations", "status",
    "update_rule", "sampler", "abstraction", "cell_id", "reward_update_rule", "reward_sampler", "reward_abstraction",
}  # fmt: skip


@pytest.fixture(scope="module")
def evaluator():
    """One evaluator for all tests of this module, so that each run is measured once."""
    return LiveEvaluator()


@pytest.mark.slow
@pytest.mark.parametrize(("id", "segments"), IDS_AND_SEGMENTS)
def test_a_pickled_environment_goes_on_alike(id, segments):
    env = gym.make(id, budget=SHORT, segments=segments, catalog=SMALL, games=["kuhn"], evaluator=LiveEvaluator())
    env.reset(seed=0)
    env.step(env.action_space.sample())
    other = pickle.loads(pickle.dumps(env))
    assert [one.unwrapped.evaluator.frame().shape[0] for one in (env, other)] == [1, 1]
    if segments == 1:
        assert env.reset()[1] == other.reset()[1]
    action = env.action_space.sample()
    errors = [one.step(action)[4]["exploitability"] for one in (env, other)]
    assert errors[0] == errors[1]
    assert env.unwrapped.np_random.random() == other.unwrapped.np_random.random()


@pytest.mark.slow
@pytest.mark.parametrize(("id", "segments"), IDS_AND_SEGMENTS)
def test_the_checkers_have_nothing_to_say(id, segments, evaluator):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env = gym.make(id, budget=SHORT, segments=segments, catalog=SMALL, games=["kuhn"], evaluator=evaluator)
        check_env(env.unwrapped)
        check_for_sb3(env.unwrapped, skip_render_check=False)
    ours = [str(warning.message) for warning in caught if not issubclass(warning.category, DeprecationWarning)]
    assert ours == []  # only RLCCFR's own warnings count


@pytest.mark.parametrize("id", IDS)
def test_ids_are_found_by_module_and_by_registry(id):
    assert gym.make(f"rlccfr.envs:{id}", budget=SHORT).unwrapped.spec.id == id
    assert isinstance(gym.spec(id).entry_point, str)
    kwargs = {"games": "kuhn", "budget": SHORT, "catalog": SMALL, "engine_seeds": [0, 1], "preset": "accuracy"}
    spec = gym.make(id, **json.loads(json.dumps(kwargs))).spec
    assert gym.make(gym.envs.registration.EnvSpec.from_json(spec.to_json())).unwrapped.catalog.shape == (2, 2, 1)


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium; gymnasium.make('rlccfr:rlccfr/SelectorFlat-v0')",
        *(
            pytest.param(code, marks=pytest.mark.slow)
            for code in (
                "import rlccfr, gymnasium; gymnasium.make('rlccfr:rlccfr/SelectorFlat-v0')",
                "import rlccfr, gymnasium; gymnasium.make('rlccfr/SelectorFlat-v0')",
                "import sys; sys.argv[0] = 'rlccfr'; import gymnasium, rlccfr; gymnasium.make('rlccfr/Selector-v0')",
                "import gymnasium, rlccfr; gymnasium.register_envs(rlccfr); gymnasium.make('rlccfr/Selector-v0')",
            )
        ),
    ],
)
def test_ids_are_found_as_gymnasium_documents_it(code):
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("id", IDS[:2])
def test_a_constant_action_equals_the_plain_solver(id, evaluator):
    env = gym.make(id, budget=SHORT, engine_seeds=3, segments=2, evaluator=evaluator).unwrapped
    cell = Cell("lcfr_plus", "external", "cfr_br")
    action = env.catalog.index(cell)
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), *cell, seed=3)
    env.reset(seed=0)
    for segment in range(2):
        observation, reward, terminated, truncated, info = env.step(
            env.catalog.ravel(*action) if id == IDS[1] else np.array(action)
        )
        result = solver.run(10)
        assert info["exploitability"] == result.exploitability
        assert info["nodes_touched"] == result.nodes_touched
        assert info["iterations"] == result.iterations
        assert (terminated, truncated) == (segment == 1, False)
        assert (info["update_rule"], info["sampler"], info["abstraction"]) == cell
        assert info.keys() >= INFO
        assert json.loads(json.dumps(info)) == info
        rewards = [info[f"reward_{axis}"] for axis in Cell._fields]
        assert reward == pytest.approx(sum(rewards) / 3)
        assert observation in env.observation_space
    assert len(evaluator.result(info["cell_id"])["curve"]) > 3
    with pytest.raises(RLCCFRError, match="call reset"):
        env.step(env.action_space.sample())


@pytest.mark.parametrize("id", IDS)
def test_an_episode_begins_with_a_reset(id, evaluator):
    env = gym.make(id, budget=SHORT, catalog=SMALL, games=["kuhn"], evaluator=evaluator).unwrapped
    with pytest.raises(RLCCFRError, match=r"the episode has not begun: call reset\(\) first"):
        env.step(env.action_space.sample())


def test_a_single_index_out_of_range_is_named(evaluator):
    for env, hint in (
        (
            SelectorFlatEnv(catalog=SMALL, evaluator=evaluator),
            "below 4, not 9; catalog.ravel() makes one index of three",
        ),
        (SelectorStageEnv("sampler", catalog=SMALL, evaluator=evaluator), "below 2, not 9"),
    ):
        env.reset()
        with pytest.raises(RLCCFRError, match=f"{re.escape(hint)}$"):
            env.step(9)


def test_rewards_are_computed_from_the_measurement(evaluator):
    env = SelectorEnv(budget=SHORT, preset="paper-leduc", scale="linear", evaluator=evaluator)
    env.reset(seed=0)
    cell = Cell("dcfr", "none", "none")
    measured = evaluator.measure(env.request(cell))
    _, reward, _, _, info = env.step(env.catalog.index(cell))
    assert reward == mean_reward(measured, replace(PRESETS["paper-leduc"], scale="linear"))
    e = measured.exploitability / measured.uniform_exploitability
    s = 1 / (1 + measured.throughput / measured.reference_throughput)
    assert info["reward_sampler"] == pytest.approx(1 - (0.4 * e + 0.9 * s))
    assert info["speed"] == measured.throughput / measured.reference_throughput
    assert (info["scale"], info["error_cost"], info["speed_cost"]) == ("linear", pytest.approx(e), pytest.approx(s))


@pytest.mark.slow
def test_what_cannot_run_costs_everything(broken_rules, tmp_path):
    catalog = {"update_rules": ["cfr", "test_fails", "test_extra", "test_exact_only"], "samplers": ["external"]}
    env = SelectorEnv(
        budget=SHORT, preset="accuracy", catalog=catalog | {"abstractions": ["none"]}, evaluator=str(tmp_path)
    )
    for rule, status in ((1, "failed"), (2, "unavailable"), (3, "unavailable")):
        env.reset()
        _, reward, terminated, _, info = env.step([rule, 0, 0])
        assert (reward, terminated, info["status"]) == (0.0, True, status)
        assert (info["exploitability"], info["speed"]) == (None, None)
        assert (info["error_cost"], info["speed_cost"]) == (1.0, 1.0)
        assert json.loads(json.dumps(info, allow_nan=False)) == info
        env.render_mode = "ansi"
        assert status in env.render()
        env.render_mode = "rgb_array"
        assert env.render().ndim == 3
    assert env.action_masks().tolist() == [True, True, False, False, True, True]
    assert len(Store(tmp_path)) == 1


def test_masks(broken_rules):
    catalog = Catalog(("cfr", "test_exact_only"), ("external", "none"), ("none",))
    flat = gym.make(IDS[1], catalog=catalog).unwrapped
    assert flat.action_masks().tolist() == [True, True, False, True]
    assert gym.make(IDS[0], catalog=catalog).unwrapped.action_masks().tolist() == [True] * 5
    stage = gym.make(IDS[2], catalog=catalog, stage="sampler", partners={"update_rule": "test_exact_only"}).unwrapped
    stage.reset(seed=0)
    assert stage.action_masks().tolist() == [False, True]
    assert SelectorEnv().action_masks().all()


def test_a_seed_decides_game_and_engine_seed(evaluator):
    def drawn(env, seed):
        first = env.reset(seed=seed)[1]
        return [first, *(env.reset()[1] for _ in range(20))]

    kwargs = {"games": ["kuhn", "leduc"], "engine_seeds": (0, 1, 2), "evaluator": evaluator}
    episodes = drawn(SelectorEnv(**kwargs), 5)
    assert episodes == drawn(SelectorEnv(**kwargs), 5)
    assert episodes != drawn(SelectorEnv(**kwargs), 6)
    assert {episode["game"] for episode in episodes} == {"kuhn", "leduc"}
    assert {episode["engine_seed"] for episode in episodes} == {0, 1, 2}
    env = SelectorEnv(**kwargs)
    drawn = env.reset(options={"game": "leduc", "engine_seed": 2})[1]
    assert drawn == {
        "game": "leduc", "engine_seed": 2, "budget": "1000 iterations", "preset": "accuracy", "scale": "log"
    }  # fmt: skip
    for wrong in ({"game": "goofspiel"}, {"engine_seed": 3}, {"seed": 1}):
        with pytest.raises(RLCCFRError, match="options"):
            env.reset(options=wrong)


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("options", ["x", 3, ["game"], [("game", "kuhn")]])
def test_options_that_are_no_dict_are_refused_in_one_line(id, options):
    with pytest.raises(RLCCFRError, match=r"reset\(\) takes options as a dict, as in {'game': 'kuhn'}, not"):
        gym.make(id).reset(options=options)


@pytest.mark.parametrize(
    ("id", "name", "hint"),
    [
        (IDS[0], "game", "did you mean 'games'"),
        (IDS[1], "budgets", "did you mean 'budget'"),
        (IDS[0], "rendermode", "did you mean 'render_mode'"),
        (IDS[2], "partner", "did you mean 'partners'"),
        (IDS[2], "xyz", "known: games, budget, render_mode, stage, partners, segments, preset"),
    ],
)
def test_a_misspelt_argument_is_told_with_the_nearest(id, name, hint):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'; {hint}"):
        gym.make(id, **{name: "kuhn"})


def test_agents_see_one_pick_after_the_other(evaluator):
    env = SelectorEnv(budget=SHORT, evaluator=evaluator)
    start, _ = env.reset(seed=0)
    np.testing.assert_array_equal(env.observe(), start)
    seen = [env.observe(("dcfr", "external")[:count]) for count in range(3)]
    assert len({vector.tobytes() for vector in seen}) == 3


def test_progress_is_seen(evaluator):
    from rlccfr.envs import FEATURE_NAMES

    env = SelectorEnv(budget=SHORT, segments=2, evaluator=evaluator)
    env.reset(seed=0)
    seen = dict(zip(FEATURE_NAMES, env.step([0, 6, 1])[0], strict=True))
    assert seen["progress.segment_share"] == 0.5
    assert seen["progress.error_slope"] == pytest.approx(seen["progress.error_cost"] - 1)
    assert 0 < seen["progress.speed_cost"] < 1
    assert seen["previous.sampler.exact"] == 1


@pytest.mark.parametrize("axis", range(3))
def test_a_stage_is_one_agents_turn(axis, evaluator):
    stage = Cell._fields[axis]
    others = [name for name in Cell._fields if name != stage]
    fixed = Cell("dcfr", "external", "cfr_br")
    partners = {name: getattr(fixed, name) for name in others}
    env = gym.make(IDS[2], stage=stage, partners=partners, budget=SHORT, evaluator=evaluator).unwrapped
    assert env.action_space.n == env.catalog.shape[axis]
    observation, _ = env.reset(seed=0)
    np.testing.assert_array_equal(observation, env.observe(fixed[:axis]))
    _, reward, terminated, _, info = env.step(0)
    assert terminated
    assert reward == info[f"reward_{stage}"]
    assert info[stage] == env.catalog.axes[axis][0]
    assert all(info[name] == partners[name] for name in others)


def test_random_partners_differ_and_are_seeded(evaluator):
    def partners(seed):
        env = gym.make(IDS[2], stage="abstraction", budget=SHORT, evaluator=evaluator).unwrapped
        picks = []
        for episode in range(12):
            env.reset(seed=seed if episode == 0 else None)
            picks.append(env._partners_algorithm[:2])
        return picks

    assert partners(1) == partners(1)
    assert len(set(partners(1))) > 6


def test_a_catalog_may_leave_nothing_to_run(broken_rules):
    catalog = Catalog(("test_exact_only",), ("external", "none"), ("none",))
    env = gym.make(IDS[2], stage="abstraction", catalog=catalog).unwrapped
    for seed in range(4):
        env.reset(seed=seed)
        assert env._partners_algorithm.sampler == "none"  # never the sampler with which the rule is unsound
    with pytest.raises(RLCCFRError, match="can run here"):
        gym.make(IDS[2], stage="abstraction", catalog=catalog, partners={"sampler": "external"})


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"games": "kuhm"}, "did you mean 'kuhn'"),
        ({"games": []}, "at least one"),
        ({"games": 3}, "games must be"),
        ({"budget": 1000}, "a budget must have the form"),
        ({"budget": {"unit": "hours", "amount": 1}}, "hours"),
        ({"budget": {"unit": "seconds", "amount": "1"}}, "must be a number"),
        ({"budget": {"unit": "iterations", "amount": 0}}, "positive"),
        ({"segments": 0}, "segments must be"),
        ({"segments": 1.5}, "segments must be"),
        ({"segments": 2000}, "can't be split"),
        ({"preset": "paper-chess"}, "unknown preset"),
        ({"preset": "0.7,0.3,0.5"}, "a pair .alpha, beta. such as .0.7,0.3., or three pairs"),
        ({"preset": "1 0 1 0"}, "a pair .alpha, beta. such as .0.7,0.3., or three pairs"),
        ({"preset": (0.7, 0.3, 0.5)}, "a pair .alpha, beta. such as .0.7,0.3., or three pairs"),
        ({"preset": [[1, 0], [1, 0]]}, "three pairs"),
        ({"preset": [[0, 0], [1, 0], [1, 0]]}, "can't both be 0"),
        ({"scale": "cubic"}, "'log', 'linear' or 'units'"),
        ({"catalog": "tabluar"}, "did you mean 'tabular'"),
        ({"catalog": {"update_rules": ["cfr"]}}, "catalog must be"),
        ({"catalog": SMALL | {"samplers": ["externl"]}}, "did you mean 'external'"),
        *(
            ({"catalog": SMALL | {"samplers": ids}}, "a dict with a list of ids")
            for ids in (None, 1, [None], ["none", 1])
        ),
        ({"engine_seeds": ()}, "engine_seeds"),
        ({"engine_seeds": (-1,)}, "engine_seeds"),
        ({"evaluator": 3}, "evaluator must be"),
        ({"evaluator": __file__}, "is a file"),
        ({"render_mode": "video"}, "render_mode"),
        ({"stage": "rule"}, "stage must be"),
        ({"partners": {"update_rule": "cfr"}}, "partners pick for"),
        ({"partners": ["cfr_plus", "none"]}, "partners must be a dict such as"),
        ({"partners": {"sampler": "none_such"}}, "must be 'random' or one of"),
    ],
)
def test_wrong_arguments_are_one_line(kwargs, match):
    from rlccfr.envs import SelectorStageEnv

    with pytest.raises(RLCCFRError, match=match) as error:
        SelectorStageEnv(**kwargs)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("action", [OUT_OF_RANGE, -1, 0.5, [1, 2], [[1, 2], 3], np.zeros((40, 40)), "cfr"])
def test_an_action_out_of_range_is_one_line(action, evaluator):
    for id, count in zip(IDS, (336, 336, 16), strict=True):
        env = gym.make(id, budget=SHORT, evaluator=evaluator).unwrapped
        env.reset(seed=0)
        bad = count if action is OUT_OF_RANGE else action
        with pytest.raises(RLCCFRError, match="an action must be") as error:
            env.step(bad)
        assert "\n" not in str(error.value)


def test_an_engine_seed_is_an_integer_of_python(evaluator):
    env = SelectorEnv(budget=SHORT, engine_seeds=(0, 1), evaluator=evaluator)
    for wrong in (True, 1.0, "1"):
        with pytest.raises(RLCCFRError, match="engine_seed must be a non-negative integer, not"):
            env.reset(options={"engine_seed": wrong})
    _, info = env.reset(options={"engine_seed": np.int64(1)})
    assert json.loads(json.dumps(info))["engine_seed"] == 1
    assert env.step([0, 0, 0])[4]["status"] == "ok"


def test_arguments_may_be_objects(evaluator):
    env = SelectorEnv(
        budget=Budget("nodes", 500), catalog=Catalog(("cfr",), ("none",), ("none",)), preset=PRESETS["accuracy"]
    )
    assert env.budget == Budget("nodes", 500)
    assert SelectorEnv(preset=[[1, 0], [0.5, 0.5], [0, 1]]).preset.weights[1] == (0.5, 0.5)
    assert SelectorEnv().evaluator is SelectorEnv().evaluator  # environments share what was measured
    assert SelectorEnv(evaluator=evaluator).evaluator is evaluator


def test_an_episode_draws_one_of_several_budgets_and_presets(evaluator):
    budgets, presets = [SHORT, {"unit": "nodes", "amount": 500}], ["accuracy", "paper-kuhn", [[1, 0.5]] * 3]
    env = SelectorEnv(budget=budgets, preset=presets, catalog=SMALL, evaluator=evaluator)
    drawn = set()
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        drawn.add((info["budget"], info["preset"]))
        numbers = dict(zip(FEATURE_NAMES, observation, strict=True))
        assert numbers["budget.nodes"] == (info["budget"] == "500 nodes")
        assert numbers["weights.update_rule.beta"] == np.float32(env.preset.weights[0].beta)
    names = {"accuracy", "paper-kuhn", "(1, 0.5) (1, 0.5) (1, 0.5)"}
    assert drawn == {(budget, preset) for budget in ("20 iterations", "500 nodes") for preset in names}
    env.reset(options={"budget": budgets[1], "preset": presets[2]})
    _, reward, _, _, info = env.step([0, 0, 0])
    assert info["nodes_touched"] >= 500
    paid = costs(env.evaluator.measure(Request("kuhn", (env.catalog.cell(0, 0, 0),), Budget("nodes", 500))))
    assert reward == pytest.approx(1 - (paid.log + 0.5 * paid.speed))
    for wrong in ({"budget": {"unit": "nodes", "amount": 501}}, {"preset": "paper-royal"}, {"colour": "red"}):
        with pytest.raises(RLCCFRError, match=r"reset\(\) takes the options game \('kuhn'\); .* preset \('accuracy'"):
            env.reset(options=wrong)


def test_the_name_of_any_preset_can_be_fed_back(evaluator):
    mine = Preset("mine", PRESETS["accuracy"].weights, "linear")
    own_speed = replace(PRESETS["paper-kuhn"], name="paper-speed")
    for presets in ([mine, own_speed], "0.1234567, 0.3", [[1 / 3, 0.7]] * 3, ["accuracy", "0.7 0.3"]):
        env = SelectorEnv(budget=SHORT, preset=presets, evaluator=evaluator)
        for preset in env.presets:
            info = env.reset(options={"preset": preset})[1]
            assert env.reset(options={"preset": info["preset"]})[1]["preset"] == preset.name
            assert env.preset == preset
            if preset not in (mine, own_speed):
                assert parse_preset(info["preset"]) == preset  # in another environment, too
    assert parse_preset("0.7, 0.30").name == "(0.7, 0.3) (0.7, 0.3) (0.7, 0.3)"
    assert parse_preset((1, 1e-05)).name == "(1, 1e-05) (1, 1e-05) (1, 1e-05)"


def test_an_episode_from_a_table_runs_nothing(evaluator, monkeypatch):
    live_env = SelectorEnv(budget=SHORT, catalog=SMALL, evaluator=evaluator)
    rewards = {}
    for cell in live_env.catalog:
        live_env.reset()
        rewards[cell] = live_env.step(live_env.catalog.index(cell))[1]
    monkeypatch.setattr("rlccfr.solver.Solver", None)
    env = SelectorEnv(budget=SHORT, catalog=SMALL, evaluator=TableEvaluator(evaluator.frame()))
    for cell, reward in rewards.items():
        env.reset()
        assert env.step(env.catalog.index(cell))[1] == reward
    longer = SelectorEnv(budget={"unit": "iterations", "amount": 21}, evaluator=env.evaluator)
    longer.reset()
    with pytest.raises(MissingCellError):
        longer.step([0, 0, 0])


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("id", IDS)
def test_gymnasium_vectors(id, mode, evaluator):
    autoreset = gym.vector.AutoresetMode.SAME_STEP if mode == "same_step" else gym.vector.AutoresetMode.NEXT_STEP
    envs = gym.make_vec(
        id, num_envs=3, vector_kwargs={"autoreset_mode": autoreset}, budget=SHORT, catalog=SMALL, evaluator=evaluator
    )
    observations, _ = envs.reset(seed=0)
    assert observations in envs.observation_space
    for step in range(4):
        observations, rewards, terminated, truncated, info = envs.step(envs.action_space.sample())
        assert observations in envs.observation_space
        assert not truncated.any()
        if mode == "same_step":  # every step is an episode
            assert terminated.all()
            assert (info["final_info"]["status"] == "ok").all()
            assert (rewards < 1).all()
        else:  # every second step is a reset
            assert terminated.all() == (step % 2 == 0)
    envs.close()


def test_sb3_vectors(evaluator):
    kwargs = {"budget": SHORT, "catalog": SMALL, "evaluator": evaluator}
    envs = make_vec_env(IDS[1], n_envs=2, seed=0, env_kwargs=kwargs)
    envs.reset()
    _, rewards, dones, infos = envs.step(np.array([0, 3]))
    assert dones.all()
    assert infos[1]["update_rule"] == "dcfr"
    assert infos[0]["episode"]["r"] == pytest.approx(rewards[0], abs=1e-5)


def test_rendering(evaluator):
    env = SelectorEnv(budget=SHORT, segments=2, evaluator=evaluator, render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step([0, 6, 2])
    after = env.render()
    assert before.shape == after.shape == (400, 640, 3)
    assert before.dtype == np.uint8
    assert (before != after).any()
    env.render_mode = "ansi"
    text = env.render()
    assert "cfr x none x none" in text
    assert len(text.splitlines()) == 2
    assert SelectorEnv().render() is None


def test_a_catalog_with_hyperparameters_is_chosen_from():
    catalog = Catalog(("dcfr(gamma=3.0)", "deep_cfr(preset='sweep')"), ("none",), ("none",))
    env = SelectorEnv(budget={"unit": "iterations", "amount": 20}, catalog=catalog)
    env.reset(seed=0)
    info = env.step([0, 0, 0])[4]
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), {"id": "dcfr", "gamma": 3.0})
    assert info["exploitability"] == solver.run(iterations=20).exploitability
    env.reset(seed=0)
    info = env.step([1, 0, 0])[4]
    assert (info["status"], info["update_rule"]) == ("ok", "deep_cfr(preset='sweep')")


@pytest.mark.parametrize("value", [(0.7, 0.3), "0.7,0.3", [(0.7, 0.3)] * 3, "0.7 0.3 " * 3, "(0.7, 0.3) " * 3])
def test_weights_of_ones_own(value):
    preset = parse_preset(value)
    assert preset.weights == ((0.7, 0.3),) * 3
    assert parse_preset(preset.name) == preset
    (again,) = SelectorEnv("kuhn", preset=value).presets
    assert again == preset
