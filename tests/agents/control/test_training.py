"""Training on live runs, its files, and the commands."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import rlccfr
from benchmarks.new_games import FILE as NEW_TEST_GAMES
from rlccfr.agents import train_controller
from rlccfr.agents.control import train as module
from rlccfr.agents.control.collecting import Task, collect
from rlccfr.agents.control.directory import CONTROLLER, LOG, STATE, holds_controller
from rlccfr.agents.control.games import FILE, control_games
from rlccfr.agents.control.hyperparameters import ControlHyperparameters
from rlccfr.agents.control.train import resume_training, save_training
from rlccfr.agents.control.training import ControlTraining
from rlccfr.archives import archive_of
from rlccfr.catalog import Cell
from rlccfr.catalog.scheduled import DATA
from rlccfr.components.controller import AGENTS, CHOICES, OBSERVATION, Controller
from rlccfr.controller_file import load_controller, save_controller, training_of
from rlccfr.controller_schedule import picks_of
from rlccfr.envs.measuring.identity import why_unavailable
from rlccfr.errors import CheckpointError, ComponentError, RLCCFRError

QUICK = ControlHyperparameters(hidden=(16,), batch_size=64, runs_per_round=10, steps_per_round=4, warm_up=4)
SHIPPED = DATA / "controller.npz"
GAMES = ("kuhn", "leduc(ranks=2,suits=2,raises=1)")


def training(rounds: int = 12, seed: int = 0) -> ControlTraining:
    return ControlTraining(GAMES, rounds, horizons={30: 1.0, 60: 2.0}, hyperparameters=QUICK, seed=seed)


def weights(of: ControlTraining) -> np.ndarray:
    return of.controller.flat_weights()


@pytest.mark.slow
def test_the_number_of_parts_does_not_matter():
    one, other, another = training(), training(), training(seed=1)
    one.run()
    other.run(parts=3)
    another.run()
    assert np.array_equal(weights(one), weights(other))
    assert not np.array_equal(weights(one), weights(another))
    assert not np.array_equal(weights(one), weights(training()))


@pytest.mark.slow
def test_worker_processes_leave_the_same_controller(tmp_path):
    short = {"members": 2, "rounds": 8, "horizons": {30: 1.0}, "hyperparameters": QUICK}
    alone = train_controller(GAMES, workers=1, **short)
    together = train_controller(GAMES, tmp_path, workers=2, **short)
    assert np.array_equal(alone.flat_weights(), together.flat_weights())
    about = training_of(tmp_path / CONTROLLER)
    assert (about["members"], about["rounds_done"]) == (2, 8)
    own = [load_controller(tmp_path / f"member-{number}" / CONTROLLER) for number in range(2)]
    kept = load_controller(tmp_path / CONTROLLER)
    assert np.array_equal(Controller.together(own).flat_weights(), kept.flat_weights())
    assert not np.array_equal(own[0].flat_weights(), own[1].flat_weights())


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [7, 10])
def test_a_training_goes_on_from_its_file(tmp_path, stopped):
    """Stopped before networks are averaged, and after."""

    class Stop(Exception):
        pass

    def stop(found):
        if found.number == stopped:
            raise Stop

    whole, first, second = training(), training(), training()
    whole.run()
    with pytest.raises(Stop):
        first.run(callback=stop)
    save_training(first, tmp_path)
    assert resume_training(second, tmp_path)
    assert second.done == stopped
    second.run()
    assert np.array_equal(weights(whole), weights(second))
    assert second.cpu_seconds > first.cpu_seconds
    with pytest.raises(RLCCFRError, match=r"other settings \(rounds, seed\)"):
        resume_training(training(13, seed=2), tmp_path)
    (tmp_path / STATE).write_bytes(b"PK")
    with pytest.raises(CheckpointError, match="not a complete training file"):
        resume_training(training(), tmp_path)


def test_the_result_is_the_mean_of_the_last_networks():
    of, seen = training(), []
    of.run(callback=lambda _: seen.append(of.agents.current.flat_weights()))
    assert weights(of) == pytest.approx(np.mean(seen[-3:], axis=0), abs=1e-12)
    last = replace(QUICK, average_from=1.0)
    other = ControlTraining(GAMES, 12, horizons={30: 1.0, 60: 2.0}, hyperparameters=last)
    other.run()
    assert np.array_equal(weights(other), other.agents.current.flat_weights())
    assert np.array_equal(other.controller.with_weights(weights(of)).flat_weights(), weights(of))


@pytest.mark.slow
def test_members_are_trained_one_after_another(tmp_path):
    """A second member goes on from what the directory has; fewer members leave what is there."""
    short = {"rounds": 8, "horizons": {30: 1.0}, "hyperparameters": QUICK, "workers": 1}
    first = train_controller(GAMES, tmp_path, members=1, **short)
    shares = []
    both = train_controller(GAMES, tmp_path, members=2, progress=shares.append, **short)
    assert shares == pytest.approx([0.5 + number / 16 for number in range(1, 9)])
    assert np.array_equal(both.flat_weights()[: len(first.flat_weights())], first.flat_weights())
    assert len(train_controller(GAMES, tmp_path, members=1, **short).members) == 1
    assert (tmp_path / "member-1" / STATE).exists()
    (tmp_path / STATE).write_bytes(b"of an earlier version")
    with pytest.raises(RLCCFRError, match="of an earlier version of rlccfr; choose another directory"):
        train_controller(GAMES, tmp_path, members=1, **short)
    train_controller(GAMES, tmp_path, members=1, fresh=True, **short)
    assert not (tmp_path / STATE).exists()
    assert not (tmp_path / "member-1" / STATE).exists()


@pytest.mark.slow
def test_training_pays():
    """Agents that have trained on Kuhn for some seconds steer it better than nearly all that have not."""
    long = ControlHyperparameters(hidden=(32,), batch_size=128, runs_per_round=20, warm_up=100)
    of = ControlTraining(["kuhn"], 150, horizons={100: 1.0}, hyperparameters=long)
    tasks, free = [Task("kuhn", 100)], [None]
    before = [
        collect(tasks, (32,), Controller.untrained(CHOICES, (32,), seed).flat_weights(), free).episodes[0].errors[-1]
        for seed in range(20)
    ]
    of.run()
    after = collect(tasks, (32,), of.controller.flat_weights(), free).episodes[0].errors[-1]
    assert sum(after < error for error in before) >= 19


def test_the_log_has_the_validation_games_if_the_games_are_the_shipped_ones(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOG_EVERY", 2)
    monkeypatch.setattr(module, "control_games", lambda split: GAMES if split == "train" else ("kuhn",))
    train_controller(None, tmp_path, members=2, rounds=5, horizons={30: 1.0}, hyperparameters=QUICK, workers=1)
    log = pd.read_csv(tmp_path / LOG)
    assert log["member"].tolist() == [0, 0, 0, 1, 1, 1]
    assert log["number"].tolist() == [2, 4, 5] * 2
    assert log["runs"].tolist() == [20, 40, 50] * 2
    assert (log["validation"] > 0).all()
    assert log[log["member"] == 1]["cpu_seconds"].is_monotonic_increasing


def test_a_controller_file_is_read_as_written(tmp_path):
    members = [Controller.untrained(CHOICES, (8,), seed=seed) for seed in (6, 7)]
    controller, path = Controller.together(members), tmp_path / "one.npz"
    save_controller(controller, path, {"rounds": 3})
    assert np.array_equal(load_controller(path).flat_weights(), controller.flat_weights().astype(np.float32))
    assert training_of(path) == {"rounds": 3}
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), control=path)
    first = solver.run(iterations=40).exploitability
    solver.save(tmp_path / "run.npz")
    loaded = rlccfr.Solver.load(tmp_path / "run.npz")
    assert loaded.run(iterations=60).exploitability == solver.run(iterations=60).exploitability != first
    save_controller(Controller.untrained(CHOICES, (8,), seed=2), path, {})
    with pytest.raises(CheckpointError, match="controller has changed"):
        rlccfr.Solver.load(tmp_path / "run.npz")
    steered = rlccfr.Solver(rlccfr.load_game("kuhn"), control=controller)
    steered.switch(update_rule={"id": "controlled", "controller": str(path)})
    before = steered.update_rule.controller
    save_controller(Controller.untrained(CHOICES, (8,), seed=3), path, {"retrained": True})
    steered.switch(update_rule={"id": "controlled", "controller": str(path)})
    assert steered.update_rule.controller is not before
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(CheckpointError, match="not a complete controller file"):
        load_controller(path)
    (tmp_path / "member-0").mkdir()
    save_controller(controller, tmp_path / "member-0" / CONTROLLER)
    for name, message in (
        (tmp_path / "none.npz", rf"no controller file .* 'schedule' or a file .* such as \S+member-0.{CONTROLLER}"),
        ("x" * 5000, "can't read"),
    ):
        with pytest.raises(ComponentError, match=message):
            rlccfr.Solver(rlccfr.load_game("kuhn"), control=name)


def test_a_file_of_a_controller_that_knows_no_momentum_is_still_read(tmp_path):
    new_names = {"last_momentum", "last_memory", "last_power"}
    is_known = np.array([name not in new_names for name in OBSERVATION])
    rng = np.random.default_rng(3)
    choices = (CHOICES[0][:5], CHOICES[1][:4], np.array([[0.0], [0.3], [1.0]]))
    header = {"format": "rlccfr-controller-2", "observation": list(np.array(OBSERVATION)[is_known]), "training": {}}
    arrays = {"header": np.array(json.dumps(header))}
    num_inputs = int(is_known.sum())
    for agent, agent_choices in zip(AGENTS, choices, strict=True):
        arrays[f"{agent}/choices"] = agent_choices
        for layer, sizes in enumerate(((num_inputs, 6), (6, len(agent_choices)))):
            arrays[f"{agent}/0/{layer}/weights"] = rng.normal(size=sizes).astype(np.float32)
            arrays[f"{agent}/0/{layer}/biases"] = rng.normal(size=sizes[1]).astype(np.float32)
        num_inputs += len(agent_choices)
    (tmp_path / "earlier.npz").write_bytes(archive_of(arrays))

    controller = load_controller(tmp_path / "earlier.npz")
    assert not controller.has_momentum
    assert controller.choices[2].tolist() == [[0.0, 0.0, 0.0, 1.0], [0.3, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]]
    for observation in rng.normal(size=(50, len(OBSERVATION))):
        inputs = observation[is_known]
        expected = []
        for agent, agent_choices in zip(AGENTS, choices, strict=True):
            hidden = np.maximum(inputs @ arrays[f"{agent}/0/0/weights"] + arrays[f"{agent}/0/0/biases"], 0)
            values = hidden @ arrays[f"{agent}/0/1/weights"] + arrays[f"{agent}/0/1/biases"]
            expected.append(int(values.argmax()))
            inputs = np.concatenate([inputs, np.eye(len(agent_choices))[expected[-1]]])
        assert picks_of(controller, observation).tolist() == expected


def test_a_controller_without_a_file_can_be_written_to_one(tmp_path):
    controller = Controller.untrained(CHOICES, (8,))
    assert repr(controller) == f"Controller(choices=(12, 8, 17), members=1, layers={controller.layers[0]})"
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), control=controller)
    with pytest.raises(CheckpointError, match=r"not in a file.*save_controller"):
        solver.save(tmp_path / "run.npz")
    save_controller(controller, tmp_path / "own.npz")
    assert training_of(tmp_path / "own.npz") == {}
    with pytest.raises(ComponentError, match="'shipped', 'schedule', a controller's file or a Controller, not 3"):
        rlccfr.Solver(rlccfr.load_game("kuhn"), control=3)


def test_a_team_and_a_controller_have_directories_of_their_own(tmp_path):
    (tmp_path / "team.npz").write_bytes(b"")
    with pytest.raises(RLCCFRError, match="holds a team, whose log would be lost"):
        train_controller("kuhn", tmp_path, members=1, rounds=5, workers=1, fresh=True)
    (tmp_path / "team.npz").rename(tmp_path / CONTROLLER)
    assert holds_controller(tmp_path)


def test_a_controller_and_an_update_rule_exclude_each_other():
    with pytest.raises(ComponentError, match="not both"):
        rlccfr.Solver(rlccfr.load_game("kuhn"), "dcfr", control="shipped")


def test_the_games_are_hard_and_in_one_split_only():
    splits = {split: control_games(split) for split in ("train", "larger", "validation", "test")}
    assert len({game for games in splits.values() for game in games}) == sum(map(len, splits.values()))
    assert len(splits["train"]) >= 700
    assert len(splits["validation"]) >= 30
    assert len(splits["test"]) >= 60
    listed = pd.read_csv(FILE)
    known = listed[listed["split"] != "test"]
    assert (known["hardness"] > 1e-8).all()
    largest = listed[listed["split"] == "train"]["histories"].max()
    assert (listed[listed["split"] == "larger"]["histories"].between(largest, 60_000)).all()
    assert not set(splits["larger"]) & set(pd.read_csv(NEW_TEST_GAMES)["game"])
    sizes = listed[listed["split"] == "test"]["histories"]
    assert (sizes >= 10 * largest).sum() >= 30
    assert (sizes >= 100 * largest).sum() >= 10


def test_nothing_to_train_on_is_named():
    with pytest.raises(RLCCFRError, match="name at least one game"):
        ControlTraining([], 3)
    with pytest.raises(RLCCFRError, match="rounds must be a positive integer"):
        ControlTraining(["kuhn"], 0)
    with pytest.raises(RLCCFRError, match=r"games must be given by name or file, .*matrix.*game\.efg"):
        train_controller([rlccfr.matrix_game([[1, -1], [-1, 1]])], rounds=3)
    for wrong, message in (
        ({"horizons": {}}, "horizons must map numbers of iterations to shares"),
        ({"horizons": 100}, "horizons must map numbers of iterations to shares"),
        ({"horizons": {100.5: 1.0}}, "a horizon must be a positive integer"),
        ({"horizons": {100: 0}}, "the share of horizon 100 must be a positive number"),
        ({"hyperparameters": {"hidden": (8,)}}, "hyperparameters must be a ControlHyperparameters"),
        ({"seed": "x"}, "seed must be a non-negative integer"),
        ({"workers": -1}, "workers must be a non-negative integer"),
    ):
        with pytest.raises(RLCCFRError, match=message):
            train_controller("kuhn", rounds=3, **wrong)
    with pytest.raises(RLCCFRError, match="hidden must be the widths"):
        ControlHyperparameters(hidden=64)
    with pytest.raises(RLCCFRError, match="learning begins after 2 rounds, since the first 16 runs are random"):
        training(rounds=2)


def test_learning_begins_right_after_the_rounds_that_end_the_warm_up():
    options = {"horizons": {30: 1.0, 60: 2.0}, "hyperparameters": replace(QUICK, runs_per_round=8)}
    with pytest.raises(RLCCFRError, match="learning begins after 2 rounds, since the first 16 runs are random"):
        ControlTraining(GAMES, 2, **options)
    rounds = []
    ControlTraining(GAMES, 3, **options).run(callback=rounds.append)
    assert [finished.loss != 0 for finished in rounds] == [False, False, True]
    # Two of three rounds are done when the third one draws its runs.
    assert [finished.epsilon for finished in rounds] == [1, 1, QUICK.epsilon_at(2 / 3)]


def command(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "rlccfr", *arguments], capture_output=True, text=True)


@pytest.mark.verify
def test_commands(tmp_path):
    out = tmp_path / "one"
    train = ("train", "--control", "kuhn", "--rounds", "5", "--members", "1", "--workers", "1", "--out", str(out))
    trained = json.loads(command(*train, "--json").stdout)
    assert trained == {"controller": str(out / CONTROLLER), "members": 1, "rounds": 5}
    controller = ("--controller", str(out / CONTROLLER))
    solved = json.loads(command("solve", "kuhn", *controller, "--iterations", "50", "--json").stdout)
    assert solved["iterations"] == 50
    solved = json.loads(command("solve", "kuhn", "--controller", str(out), "--iterations", "50", "--json").stdout)
    assert solved["iterations"] == 50
    assert json.loads(command("solve", "kuhn", "--control", "--iterations", "50", "--json").stdout)["iterations"] == 50
    for arguments, message in (
        (("solve", "kuhn", "--control", "--update-rule", "dcfr", "--iterations", "9"), "leave out --update-rule"),
        (
            ("solve", "kuhn", "--controller", str(out / CONTROLLER), "--control", "--iterations", "9"),
            "leave out --control",
        ),
        (("solve", "kuhn", "--controller", "none.npz", "--iterations", "9"), "there is no controller file"),
        (
            ("solve", "kuhn", "--control", "--then", "dcfr x none x none", "--iterations", "9"),
            "leave out `--option then=...`",
        ),
        (("train", "kuhn", "--out", str(out)), "holds a controller, whose log would be lost"),
        (
            ("train", "--control", "--evaluations", "9"),
            "--control trains a controller, so --evaluations can't be given with it",
        ),
        (("train",), "name the games to train on"),
        (("train", "kuhn", "--rounds", "3"), "only --control takes --rounds"),
        ((*train[:4], "0", *train[5:]), "rounds must be a positive integer, not 0"),
        (("solve", "kuhn", "--controller", str(tmp_path), "--iterations", "9"), "there is no controller file"),
        ((*train[:4], "6", *train[5:]), "other settings (rounds)"),
    ):
        failed = command(*arguments)
        assert failed.returncode == 1
        assert message in failed.stderr
        assert "Traceback" not in failed.stderr


def test_a_sweep_does_not_measure_a_controller():
    cell = Cell("controlled", "none", "none")
    assert "plans for its budget" in why_unavailable(cell)


def test_the_shipped_controller_is_what_training_makes_by_default():
    about = training_of(SHIPPED)
    assert about["games"] == list(control_games("train"))
    assert about["rounds_done"] == about["rounds"] == module.ROUNDS
    assert about["members"] == len(load_controller(SHIPPED).members) == module.MEMBERS
    assert {int(horizon): share for horizon, share in about["horizons"]} == dict(module.HORIZONS)
    assert SHIPPED.stat().st_size < 1_000_000
    assert about["cpu_seconds"] < 6 * 3600
