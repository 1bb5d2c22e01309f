"""The benchmark of DACBench: its protocol, and that its runs are those of ``rlccfr/Control-v0``."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from itertools import product
from types import ModuleType

import numpy as np
import pytest
from gymnasium import spaces
from support import game

from rlccfr.agents.control.games import control_games
from rlccfr.catalog.scheduled import controller_named
from rlccfr.components.controller import AGENTS, CHOICES, Controller
from rlccfr.controller_schedule import follow_schedule
from rlccfr.envs import ControlEnv
from rlccfr.envs.control.run import ControlRun, marks_of
from rlccfr.errors import RLCCFRError

MODULE = "rlccfr.agents.control.dac_benchmark"
HORIZON = 40


@pytest.fixture(scope="module")
def dac() -> ModuleType:
    if importlib.util.find_spec("dacbench") is None:
        pytest.skip("DACBench is not installed: pip install 'rlccfr[dac]'")
    return importlib.import_module(MODULE)


@pytest.fixture
def benchmark(dac, tmp_path):
    """A benchmark of two small games."""
    (tmp_path / "games.csv").write_text("game\nkuhn\nmatrix_rps\n")
    benchmark = dac.ControlBenchmark(
        config={"instance_set_path": tmp_path / "games.csv", "test_set_path": "validation"}
    )
    benchmark.set_horizon(HORIZON)
    return benchmark


def test_without_dacbench_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dacbench", None)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    with pytest.raises(RLCCFRError, match=r"pip install 'rlccfr\[dac\]'"):
        importlib.import_module(MODULE)


def test_a_dacbench_that_fails_to_import_is_named_as_the_cause(monkeypatch):
    def fail(name):
        raise RuntimeError("operator torchvision::nms does not exist")

    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    import_module = importlib.import_module
    monkeypatch.setattr(
        importlib, "import_module", lambda name: fail(name) if name == "dacbench" else import_module(name)
    )
    with pytest.raises(RLCCFRError, match="DACBench can't be imported: operator torchvision::nms does not exist"):
        import_module(MODULE)


def test_the_space_has_a_category_for_each_choice(dac, benchmark):
    space = benchmark.config.config_space
    for (number, agent), choices in zip(enumerate(AGENTS), CHOICES, strict=True):
        categories = space[f"{number}_{agent}"].choices
        assert len(set(categories)) == len(choices)
        for category, choice in zip(categories, choices, strict=True):
            assert [float(setting.partition("=")[2]) for setting in category.split(",")] == choice.tolist()
    control = ControlEnv("kuhn", HORIZON)
    env = benchmark.get_environment()
    assert isinstance(env.action_space, spaces.MultiDiscrete)
    assert env.action_space.nvec.tolist() == control.action_space.nvec.tolist()  # in the agents' order
    assert env.observation_space == control.observation_space


def test_an_episode_is_one_of_the_environment(benchmark):
    env = benchmark.get_environment()
    assert env.n_steps == len(marks_of(HORIZON))
    rng = np.random.default_rng(0)
    for name in ("matrix_rps", "kuhn", "matrix_rps"):  # DACBench goes round the instances, and begins with the second
        control = ControlEnv(name, HORIZON)
        state, info = env.reset()
        expected, _ = control.reset()
        assert (env.instance.game, info) == (name, {})
        terminated = False
        while not terminated:
            assert np.array_equal(state, expected)
            action = [int(rng.integers(len(choices))) for choices in CHOICES]
            state, reward, terminated, truncated, info = env.step(action)
            expected, their_reward, their_end, _, their_info = control.step(np.array(action))
            assert (reward, terminated, truncated) == (their_reward, their_end, False)
            assert info == {name: their_info[name] for name in ("iterations", "exploitability")}
        assert env.c_step == env.n_steps


def test_instances_are_the_controllers_games(dac):
    benchmark = dac.ControlBenchmark()
    benchmark.read_instance_set()
    benchmark.read_instance_set(test=True)
    assert {instance.game for instance in benchmark.config.instance_set.values()} == set(control_games("train"))
    assert [instance.game for instance in benchmark.config.test_set.values()] == list(control_games("test"))
    assert {instance.horizon for instance in benchmark.config.instance_set.values()} == {dac.HORIZON}


def test_a_test_set_is_switched_to_and_back(benchmark):
    env = benchmark.get_environment()
    env.use_test_set()
    env.reset()
    assert env.instance.game in control_games("validation")
    env.use_training_set()
    env.reset(options={"instance_id": 0})
    assert env.instance.game == "kuhn"


def test_a_configuration_survives_json_and_files(dac, tmp_path):
    benchmark = dac.ControlBenchmark(config={"instance_set_path": "validation"})
    benchmark.set_horizon(300)
    benchmark.set_seed(17)
    benchmark.get_environment()  # reads the instances
    benchmark.save_config(tmp_path / "benchmark.json")
    assert json.loads((tmp_path / "benchmark.json").read_text())["horizon"] == 300
    for restored in (
        dac.ControlBenchmark.from_json(benchmark.to_json()),
        dac.ControlBenchmark.from_json((tmp_path / "benchmark.json").read_text()),
    ):
        assert restored.get_environment().n_steps == len(marks_of(300))
        assert restored == benchmark


def test_a_configuration_with_a_path_survives_json(dac, benchmark):
    benchmark.get_environment()
    restored = dac.ControlBenchmark.from_json(benchmark.to_json())
    assert restored.get_environment().instance_set == benchmark.config.instance_set


def test_a_file_names_games_and_iterations(dac, tmp_path):
    file = tmp_path / "games.csv"
    file.write_text("game,horizon\nkuhn,20\nleduc,\n")
    benchmark = dac.ControlBenchmark(config={"instance_set_path": str(file), "test_set_path": str(file)})
    benchmark.set_horizon(100)
    env = benchmark.get_environment()
    assert env.instance_set == {0: dac.ControlInstance("kuhn", 20), 1: dac.ControlInstance("leduc", 100)}
    assert env.n_steps == len(marks_of(100))
    for content, message in (
        ("name\nkuhn\n", "a column named game"),
        ("game\n", "a column named game"),
        ("game,horizon\nkuhn,many\n", "numbers of iterations"),
        ("game,horizon\nkuhn,-5\n", r"a horizon in .*games.csv must be a positive integer, not -5"),
        ("game\nk\xfchn\n", "not a CSV file in UTF-8"),
    ):
        file.write_text(content, encoding="latin-1")
        with pytest.raises(RLCCFRError, match=message):
            benchmark.read_instance_set()
    benchmark.config.instance_set_path = "training"
    with pytest.raises(RLCCFRError, match=r"can't read instances from training.*train, validation, test"):
        benchmark.read_instance_set()


def test_wrong_uses_are_refused(benchmark):
    with pytest.raises(RLCCFRError, match="horizon"):
        benchmark.set_horizon(0)
    with pytest.raises(RLCCFRError, match="horizon must be a positive integer, not 0"):
        type(benchmark)(config={"horizon": 0}).get_environment()
    env = benchmark.get_environment()
    with pytest.raises(RLCCFRError, match=r"call reset\(\) first"):
        env.step([0, 0, 0])
    env.reset()
    with pytest.raises(RLCCFRError, match="three indices"):
        env.step([10, 0, 0])


def test_agents_take_turns_in_the_form_for_several(benchmark):
    benchmark.config.multi_agent = True
    env = benchmark.get_environment()
    assert env.reset() is None
    for name in env.hp_names:
        env.register_agent(name)
    before = env.last()[0]
    for pick, moved in zip((5, 2, 0), (False, False, True), strict=True):
        env.step(pick)
        assert np.array_equal(env.last()[0], before) != moved
    control = ControlEnv("matrix_rps", HORIZON)
    control.reset()
    assert env.last()[1] == control.step(np.array([5, 2, 0]))[1]


def test_dacbenchs_own_runs_and_baselines_take_it(dac, benchmark, monkeypatch, tmp_path):
    """What DACBench's tests ask of its benchmarks: its runner, its baselines with their logs, and equal runs."""
    from dacbench import benchmarks, run_baselines
    from dacbench.agents import GenericAgent, StaticAgent
    from dacbench.logger import load_logs, log2dataframe
    from dacbench.runner import run_benchmark

    path = benchmark.config.instance_set_path

    class Small(dac.ControlBenchmark):
        def get_benchmark(self, seed=0):
            self.config = dac.ControlBenchmark(config={"instance_set_path": path, "test_set_path": path}).config
            self.set_horizon(HORIZON)
            self.set_seed(seed)
            return self.get_environment()

    monkeypatch.setattr(benchmarks, "Small", Small, raising=False)
    run_baselines.run_random(tmp_path, "Small", 3, [42], 2)
    run_baselines.run_static(tmp_path, "Small", np.array([3, 2, 1]), 3, [42])
    for folder in ("random_fixed2_42", "static_[3 2 1]_42"):
        logs = log2dataframe(load_logs(tmp_path / "Small" / folder / "PerformanceTrackingWrapper.jsonl"))
        assert len(logs) == 3
        assert (logs["seed"] == 42).all()

    ends = []
    point = follow_schedule([0.0], [(3, 2, 1)])
    for _, kind in product(range(2), ("static", "generic")):
        env = Small().get_benchmark(seed=1)
        agent = StaticAgent(env, [3, 2, 1]) if kind == "static" else GenericAgent(env, dac.controller_policy(point))
        ends.append((run_benchmark(env, agent, 2), env.control.run.exploitability))
    assert len(set(ends)) == 1


def test_a_controller_is_a_policy(dac, benchmark):
    shipped = controller_named("shipped")
    env = benchmark.get_environment()
    state, _ = env.reset(options={"instance_id": 0})
    policy = dac.controller_policy(shipped)
    terminated, picks = False, []
    while not terminated:
        action = policy(env, state)
        picks.append(action.tolist())
        state, _, terminated, _, _ = env.step(action)
    expected = ControlRun(game("kuhn"), shipped, HORIZON).episode().picks
    for agent, choices in enumerate(shipped.choices):
        made = [CHOICES[agent][pick[agent]].tolist() for pick in picks]
        assert made == choices[expected[:, agent]].tolist()
    with pytest.raises(RLCCFRError, match="must be a Controller"):
        dac.controller_policy("shipped")
    with pytest.raises(RLCCFRError, match="choices that rlccfr/Control-v0 lacks"):
        dac.controller_policy(Controller.untrained((CHOICES[0] + 0.25, *CHOICES[1:]), ()))
