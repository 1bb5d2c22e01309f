"""The environment whose steps are the segments of one run."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RenderCollection
from stable_baselines3.common.env_checker import check_env as check_for_sb3
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv
from support import game, without_bundles

import rlccfr
from rlccfr.components.controller import CHOICES, OBSERVATION
from rlccfr.envs import ControlEnv
from rlccfr.envs.control.run import ControlRun, marks_of
from rlccfr.errors import RLCCFRError


def test_the_checkers_have_nothing_to_say():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env = gym.make("rlccfr/Control-v0", games=["kuhn", "leduc"], horizon=(20, 60))
        check_env(env.unwrapped)
        check_for_sb3(env.unwrapped)
    ours = [str(warning.message) for warning in caught if not issubclass(warning.category, DeprecationWarning)]
    assert ours == []


def test_rewards_are_the_decades_that_a_run_gains(monkeypatch):
    without_bundles(monkeypatch)  # the fixed rule's passes go over infosets, as those of the controlled run
    env = ControlEnv("leduc", horizon=300)
    observation, info = env.reset(seed=1)
    assert info == {"game": "leduc", "horizon": 300}
    total, picks, iterations, terminated = 0.0, (3, 2, 1), [], False
    while not terminated:
        assert observation in env.observation_space
        observation, reward, terminated, truncated, info = env.step(np.array(picks))
        assert not truncated
        total += reward
        iterations.append(info["iterations"])
    assert iterations == [*marks_of(300)[1:], 300]
    settings = {"alpha": 2.5, "beta": None, "gamma": 2.0, "optimism": 0.1, "floor": True}
    settings |= {"momentum": 0.0, "memory": 0.0, "power": 1.0}
    assert {name: info[name] for name in settings} == settings
    solver = rlccfr.Solver(rlccfr.load_game("leduc"), {"id": "scheduled", **settings})
    exploitability = solver.run(iterations=300).exploitability
    assert info["exploitability"] == pytest.approx(exploitability)
    assert total == pytest.approx(np.log10(rlccfr.Policy.uniform(solver.game).exploitability() / exploitability))
    assert 0 < env.run.cpu_seconds < 10
    json.dumps(info, allow_nan=False)
    with pytest.raises(RLCCFRError, match="call reset"):
        env.step(np.array(picks))


def test_runs_do_not_depend_on_earlier_ones():
    env = ControlEnv(["kuhn", "leduc"], horizon=64)

    def run(game: str) -> list[float]:
        env.reset(options={"game": game})
        env.action_space.seed(3)
        return [env.step(env.action_space.sample())[1] for _ in marks_of(64)]

    first = run("leduc")
    run("kuhn")
    assert run("leduc") == first


def test_games_and_horizons_are_drawn_by_the_seed():
    env = ControlEnv(["kuhn", "leduc"], horizon=(10, 20))
    draws = [env.reset(seed=seed)[1] for seed in (0, 0, 1, 2, 3, 4)]
    assert draws[0] == draws[1]
    assert len({tuple(draw.values()) for draw in draws}) > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ControlEnv([]), "games and horizon must each have at least one value"),
        (lambda: ControlEnv("kuhn", horizon=0), "horizon must be a positive integer"),
        (lambda: ControlEnv("kuhn").reset(options={"game": "leduc"}), "not game='leduc'"),
        (lambda: ControlEnv("kuhn").reset(options={"seed": 1}), "takes the options game"),
        (lambda: ControlEnv("kuhn").step(np.zeros(3, int)), "has not begun: call reset"),
        (lambda: ControlEnv("kuhn").average_policy(), "has not begun: call reset"),
        (lambda: ControlEnv(3), "games must be names, as in .*, not 3"),
        (lambda: ControlEnv(None), "games must be names, as in .*, not None"),
        (lambda: ControlEnv([game("kuhn")]), "games must be names"),
        (lambda: ControlEnv(["kuhn", "kuhm"]), "unknown game 'kuhm'; did you mean 'kuhn'"),
        (lambda: ControlEnv("kuhn_poker(players=3)"), "has 3 players"),
        (lambda: ControlEnv("flop_holdem"), "needs a game's histories"),
        (lambda: ControlEnv({"kuhn": 1}), "games must be names"),
        (lambda: ControlEnv("kuhn", horizon={100: 1.0}), "horizon must be a positive integer, not {100: 1.0}"),
        (
            lambda: ControlEnv("kuhn", render_mode="video"),
            "must be None, 'ansi' or 'rgb_array', not 'video'",
        ),
        (lambda: ControlEnv("kuhn", horizon=1.5), "horizon must be a positive integer, not 1.5"),
        (lambda: ControlEnv("kuhn", horizon="100"), "horizon must be a positive integer, not '100'"),
        (
            lambda: ControlEnv("kuhn", 1).reset(options={"horizon": True}),
            "horizon must be a positive integer, not True",
        ),
        (lambda: ControlEnv("kuhn", 8).reset(options={"horizon": 8.0}), "horizon must be .* integer, not 8.0"),
        (lambda: ControlEnv("kuhn").reset(options=3), "takes options as a dict, as in .*, not 3"),
        (lambda: ControlEnv("kuhn").reset(options="x"), "takes options as a dict, as in .*, not 'x'"),
        (lambda: ControlEnv("kuhn").reset(options={"game": np.arange(2)}), r"not game=array\(\[0, 1\]\)"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(RLCCFRError, match=message):
        call()


def test_the_policy_is_that_of_the_run():
    env = ControlEnv("kuhn", horizon=20)
    env.reset(seed=0)
    terminated = False
    while not terminated:
        *_, terminated, _, info = env.step(np.array([1, 2, 0]))
    assert env.average_policy().exploitability() == pytest.approx(info["exploitability"])


def test_rendering():
    env = gym.make("rlccfr/Control-v0", games=["kuhn"], horizon=20, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "kuhn, 0 of 20 iterations, exploitability 0.458"
    *_, info = env.step(np.array([1, 2, 0]))
    assert env.render().startswith(f"kuhn, 5 of 20 iterations, exploitability {info['exploitability']:.3g}, alpha=1.0")
    assert ControlEnv("kuhn").render() is None


@pytest.mark.slow
def test_pictures_of_a_run_are_the_frames_of_a_film():
    env = RenderCollection(gym.make("rlccfr/Control-v0", games=["kuhn"], horizon=8_000, render_mode="rgb_array"))
    assert env.unwrapped.render().shape == (400, 640, 3)  # even before the first run
    env.reset(seed=0)
    for _ in marks_of(8_000):  # more segments than the picture has columns
        env.step(np.array([3, 2, 1]))
    frames = env.render()
    assert len(frames) == len(marks_of(8_000)) + 1
    assert {(frame.shape, frame.dtype) for frame in frames} == {((400, 640, 3), np.dtype(np.uint8))}
    assert all((earlier != later).any() for earlier, later in pairwise(frames))
    assert env.metadata["render_fps"] > 0


@pytest.mark.parametrize("kind", [DummyVecEnv, pytest.param(SubprocVecEnv, marks=pytest.mark.slow)])
def test_stable_baselines3_makes_and_renders_several(kind):
    envs = make_vec_env(
        "rlccfr:rlccfr/Control-v0", 2, seed=0, vec_env_cls=kind, env_kwargs={"games": ["kuhn"], "horizon": 20}
    )
    try:
        assert envs.render_mode == "rgb_array"
        envs.reset()
        envs.step(np.array([[3, 2, 1], [0, 0, 0]]))
        assert [image.shape for image in envs.get_images()] == [(400, 640, 3)] * 2
        assert envs.render().dtype == np.uint8
    finally:
        envs.close()


def test_an_action_out_of_range_is_named():
    env = ControlEnv("kuhn")
    env.reset()
    with pytest.raises(RLCCFRError, match="discounting below 12, averaging below 8, prediction below 17"):
        env.step(np.array([12, 0, 0]))
    assert [len(own) for own in CHOICES] == [12, 8, 17]
    assert env.observation_space.shape == (len(OBSERVATION),)


def goes_on(env: gym.Env) -> list[object]:
    """Return what the rest of a run gives under picks of a fixed seed."""
    rng, found, terminated = np.random.default_rng(0), [], False
    while not terminated:
        observation, reward, terminated, _, info = env.step(rng.integers((10, 8, 7)))
        found += [observation.tolist(), reward, info]
    return found


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("steps", [0, 1, 4, 7])
def test_a_copy_goes_on_alike_and_apart(copied, steps):
    env = gym.make("rlccfr/Control-v0", games=["kuhn", "leduc"], horizon=100)
    env.reset(seed=0, options={"game": "leduc"})
    for k in range(steps):
        env.step(np.array([k, 2, 1]))
    other = copied(env)
    assert other.unwrapped.run.cpu_seconds == env.unwrapped.run.cpu_seconds
    if steps < 7:
        assert goes_on(other) == goes_on(env)
    policies = [one.unwrapped.average_policy().probabilities for one in (env, other)]
    assert np.array_equal(*policies)
    assert [env.reset()[1] for _ in range(5)] == [other.reset()[1] for _ in range(5)]


def test_an_episodes_schedule_repeats_its_run_in_a_solver():
    env = ControlEnv("leduc", horizon=100)
    with pytest.raises(RLCCFRError, match="no segment has been run"):
        env.schedule()
    env.reset(seed=0)
    with pytest.raises(RLCCFRError, match="no segment has been run"):
        env.schedule()
    env.action_space.seed(1)
    terminated, picks = False, []
    while not terminated:
        picks.append(env.action_space.sample().tolist())
        *_, terminated, _, info = env.step(np.array(picks[-1]))
        if len(picks) == 3:
            env = copy.deepcopy(env)
            assert env.run.schedule().digest == env.schedule().digest
    schedule = env.schedule()
    repeated = ControlRun(game("leduc"), schedule, 100)
    assert repeated.episode().picks.tolist() == picks
    assert repeated.exploitability == info["exploitability"]
    # A solver's run keeps each player's best of four average policies, of which the last is one.
    solver = rlccfr.Solver(game("leduc"), control=schedule)
    assert solver.run(iterations=100).exploitability <= info["exploitability"] * (1 + 1e-9)
