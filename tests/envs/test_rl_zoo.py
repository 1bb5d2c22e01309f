"""RL Zoo's hyperparameters in examples/rl_zoo suit the environments that they are for."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import pytest
import stable_baselines3
from stable_baselines3.common.utils import set_random_seed

yaml = pytest.importorskip("yaml")
FILES = sorted((Path(__file__).parents[2] / "examples" / "rl_zoo").glob("*.yml"))


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_agent_trains_by_them(path, tmp_path):
    set_random_seed(0)
    for id, settings in yaml.safe_load(path.read_text()).items():
        settings["policy_kwargs"] = eval(settings["policy_kwargs"])  # as RL Zoo does
        kind, steps = getattr(stable_baselines3, path.stem.upper()), int(settings.pop("n_timesteps"))
        env = gymnasium.make(f"rlccfr:{id}", games=["kuhn"], catalog="tabular", evaluator=tmp_path / "store")
        if "learning_starts" in settings:
            assert settings.pop("learning_starts") < steps
            settings["learning_starts"] = 10
        model = kind(env=env, seed=0, **settings)
        model.learn(40)
        assert model.num_timesteps >= 40
        action, _ = model.predict(env.reset(seed=0)[0], deterministic=True)
        assert env.action_space.contains(action if action.ndim else int(action))


def test_both_kinds_of_actions_have_a_file():
    assert [path.stem for path in FILES] == ["dqn", "ppo"]
