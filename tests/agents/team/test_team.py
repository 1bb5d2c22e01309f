from __future__ import annotations

import copy
import csv
import pickle
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from holding import other_process_holding

from rlccfr import Policy, Solver, load_game
from rlccfr.agents import Hyperparameters, SelectorTeam, expand_team
from rlccfr.agents.team.learning import QLearning, Replay
from rlccfr.agents.team.training_log import TrainingLog
from rlccfr.catalog import AXES, Catalog, Cell
from rlccfr.envs.measuring.live import LiveEvaluator
from rlccfr.envs.observation import agents_rewards, reward_weights_of
from rlccfr.envs.reward import costs
from rlccfr.errors import CheckpointError, InUseError, RLCCFRError

UNIFORM = 0.4583
QUICK = Hyperparameters(hidden=(16,), settling=10, gradient_steps=4)


def quick(evaluator, catalog="paper", **kwargs):
    return SelectorTeam("kuhn", catalog=catalog, evaluator=evaluator, **({"hyperparameters": QUICK} | kwargs))


def weights(team):
    return {f"{axis}.{name}": a for axis, s in zip(AXES, team.selectors) for name, a in s.state().items()}


def same(first, second):
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.verify
def test_a_trained_team_finds_the_best_of_small_catalog(evaluator, small):
    team = SelectorTeam("kuhn", catalog=small, evaluator=evaluator, seed=1)
    team.train(12)
    pick = team.recommend()
    assert pick.cell == ("dcfr", "external", "none")
    assert pick.converged
    assert pick.exploitability == pytest.approx(0.4583e-7)
    assert str(pick).startswith(
        "kuhn, 1000 iterations, accuracy (e on a log scale): dcfr x external x none (exploitability 4.58e-08"
    )


@pytest.mark.verify
def test_one_team_learns_what_is_best_on_each_game(evaluator, small):
    team = SelectorTeam(["kuhn", "goofspiel"], catalog=small, evaluator=evaluator)
    team.train(30)
    assert team.recommend("kuhn").cell == ("dcfr", "external", "none")
    assert team.recommend("goofspiel").cell == ("lcfr", "external", "none")
    size = f"algorithms={len(small)}, evaluations=30"
    assert repr(team) == f"SelectorTeam('kuhn+goofspiel', '1000 iterations', 'accuracy', {size})"
    assert {situation.game for situation in team.experience.starts} == {"kuhn", "goofspiel"}
    assert sorted(len(team.experience.at(start)) for start in team.experience.starts) == [15, 15]


@pytest.mark.slow
def test_the_recommendation_is_the_q_networks_argmax_not_the_best_cell_seen(evaluator, small):
    team = quick(evaluator, small)
    team.train(12)
    with torch.no_grad():  # as if the first network had learned that the second rule is best
        team.selectors[0].policy.q_net.q_net[-1].bias += torch.tensor([0.0, 100.0, 0.0])
    pick = team.recommend()
    assert pick.cell.update_rule == "cfr"
    team.env.reset(options={"game": "kuhn"})
    for agent in range(3):
        picks = small.index(pick.cell)[:agent]
        assert int(np.argmax(team.q_values(team.env, picks))) == small.index(pick.cell)[agent]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("converging", [("dcfr", "none", "none"), None])
def test_the_same_question_has_the_same_answer(make_evaluator, small, seed, converging):
    """Also where more runs fail to converge than a question tries: it must not go on where the last one ended."""
    evaluator = make_evaluator(lambda game, cell: 1e-3 if cell == converging else UNIFORM)
    team = quick(evaluator, small, seed=seed)
    team.train(4)
    first = team.recommend()
    tried = len(evaluator.records)
    assert tried > 4
    assert [team.recommend() for _ in range(3)] == [first] * 3
    assert len(evaluator.records) == tried
    if converging is not None and converging in {request.cells[-1] for request in evaluator.records}:
        assert first.cell == converging


def test_an_algorithm_that_fails_with_one_seed_is_no_answer(make_evaluator, small):
    """Where many runs fail, those that are known to converge are asked for; known with one seed is not known."""
    half, whole = ("dcfr", "none", "none"), ("cfr", "none", "none")

    def exploitability(game, cell):
        return UNIFORM if tuple(cell) not in (half, whole) else 1e-3

    evaluator = make_evaluator(exploitability)
    team = quick(evaluator, small, engine_seeds=(0, 1), seed=4)  # its networks rank ten others higher
    for cell, seeds in ((half, (1,)), (whole, (0, 1))):
        for seed in seeds:
            request = team.env_for().request(small.cell(*small.index(Cell(*cell))))
            evaluator.measure(replace(request, seed=seed))
    evaluator.exploitability = lambda game, cell: exploitability(game, cell) if tuple(cell) == whole else UNIFORM
    first = team.recommend()
    assert first.converged
    assert first.cell == whole
    assert team.recommend() == first


def test_a_team_knows_a_game_by_all_its_names(evaluator, small):
    team = quick(evaluator, small)
    team.train(4)
    assert team.recommend("kuhn_poker") == team.recommend("kuhn")


def test_nothing_to_pick_from_is_refused(evaluator, small):
    with pytest.raises(RLCCFRError, match="name at least one"):
        quick(evaluator, small).pick(among=[])


def test_training_overwrites_neither_another_team_nor_another_file(evaluator, small, tmp_path):
    quick(evaluator, small).train(3, log_dir=tmp_path / "first")
    other = quick(evaluator, small, seed=2)
    other.train(1)  # in memory
    other.save(tmp_path / "own")
    other.train(2, log_dir=tmp_path / "own")  # where it was saved
    other.directory = None
    with pytest.raises(RLCCFRError, match="holds a trained team"):
        other.train(3, log_dir=tmp_path / "first")
    for content in (b"name,score\nalice,3\n", b"\xff\xfe"):
        (tmp_path / "training.csv").write_bytes(content)
        with pytest.raises(RLCCFRError, match="is not a log of a training run"):
            other.train(3, log_dir=tmp_path)
        assert (tmp_path / "training.csv").read_bytes() == content


@pytest.mark.verify
def test_one_team_learns_what_is_best_under_each_budget_and_preset(make_evaluator):
    """dcfr is best with many iterations, cfr with few; where speed counts, external sampling wins despite its error."""

    class Trading(type(make_evaluator())):
        def measure(self, request):
            found, cell = super().measure(request), request.cells[-1]
            short = request.budget.amount == 10
            wrong = (cell.update_rule == "cfr") != short, cell.sampler == "external"
            fast = 1e5 if cell.sampler == "external" else 1e3
            return replace(found, exploitability=UNIFORM * 10 ** (wrong[0] + wrong[1] - 4.0), throughput=fast)

    evaluator, catalog = Trading(), Catalog(("cfr", "dcfr"), ("none", "external"), ("none",))
    budgets = [{"unit": "iterations", "amount": amount} for amount in (10, 1000)]
    presets = ["accuracy", [[1, 0.9]] * 3]
    team = SelectorTeam("kuhn", budgets, preset=presets, catalog=catalog, evaluator=evaluator)
    team.train(8)
    assert team.evaluations == len(evaluator.records) == 8  # one per algorithm and budget, whatever the presets
    for budget, rule in zip(budgets, ("cfr", "dcfr"), strict=True):
        for preset, sampler in zip(presets, ("none", "external"), strict=True):
            assert team.pick(budget=budget, preset=preset) == (rule, sampler, "none")
            assert team.recommend("kuhn", budget, preset).cell == (rule, sampler, "none")


def test_rewards_are_each_agents_own(evaluator, small):
    team = quick(evaluator, small, preset="paper-kuhn")
    team.train(8)
    for situation, cell, outcome in team.experience:
        measured = evaluator.records[team_request(team, situation, cell)]
        assert outcome.costs == costs(measured)
        assert len(set(team.env.preset.rewards(outcome.costs))) == 3
        learned = agents_rewards(np.array([outcome.costs]), reward_weights_of(team.env.preset)[None])[0]
        assert learned == pytest.approx(team.env.preset.rewards(outcome.costs))
        assert learned.mean() == pytest.approx(team.env.step(small.flat(cell))[1])  # after a reset by team_request


def team_request(team, situation, cell):
    team.env.reset(options={"game": situation.game, "engine_seed": situation.engine_seed})
    return team.env.request(cell)


@pytest.mark.slow
@pytest.mark.parametrize("evaluations", [1, 7, 24])
def test_the_cap_on_evaluations_is_kept_exactly(evaluator, evaluations):
    team = quick(evaluator)
    team.train(evaluations)
    assert len(evaluator.records) == team.evaluations == evaluations
    team.train(evaluations)
    assert len(evaluator.records) == evaluations


def test_training_can_go_on_until_everything_is_measured(evaluator, small):
    team = quick(evaluator, small)
    team.train(5)
    team.train(1000)
    assert len(evaluator.records) == team.evaluations == len(small)


def test_several_segments_and_engine_seeds(evaluator, small):
    team = quick(evaluator, small, segments=2, engine_seeds=(0, 1))
    team.train(21)
    assert len(evaluator.records) == team.evaluations == 21
    assert {len(request.cells) for request in evaluator.records} == {1, 2}
    assert {request.seed for request in evaluator.records} == {0, 1}
    assert len(team.recommend().cells) == 2


@pytest.mark.slow
def test_two_segments_of_a_tiny_catalog_stop_at_the_cap(make_evaluator):
    tiny = Catalog(("cfr", "dcfr"), ("none",), ("none",))
    for cap in range(2, 8):
        evaluator = make_evaluator()
        team = quick(evaluator, tiny, segments=2)
        team.train(cap)
        assert len(evaluator.records) == team.evaluations == min(cap, 2 + 4)


def test_what_is_unavailable_is_neither_measured_nor_recommended(make_evaluator, own_components):
    from rlccfr.components import UpdateRule
    from rlccfr.registry import update_rules

    update_rules.register("test_exact_only_rule", source="this test")(lambda: UpdateRule(exact_only=True))
    catalog = Catalog(("test_exact_only_rule", "cfr"), ("external", "none"), ("none",))
    evaluator = make_evaluator(lambda game, cell: 1e-9 if cell.update_rule != "cfr" else 0.1)
    team = quick(evaluator, catalog)
    with torch.no_grad():
        team.selectors[1].policy.q_net.q_net[-1].bias += torch.tensor([100.0, 0.0])  # external sampling only
        team.selectors[0].policy.q_net.q_net[-1].bias += torch.tensor([100.0, 0.0])
    assert team.recommend().cell == ("test_exact_only_rule", "none", "none")
    team.train(100)
    assert {cell for _, cell, _ in team.experience} == {
        ("test_exact_only_rule", "none", "none"),
        ("cfr", "external", "none"),
        ("cfr", "none", "none"),
    }


@pytest.mark.slow
def test_the_same_seed_gives_the_same_team(make_evaluator, small):
    teams = [quick(make_evaluator(), small, seed=seed) for seed in (4, 4, 5)]
    for number, team in enumerate(teams):
        np.random.seed(number)
        torch.manual_seed(number)
        team.train(8)
    assert same(weights(teams[0]), weights(teams[1]))
    assert teams[0].recommend().cell == teams[1].recommend().cell
    assert not same(weights(teams[0]), weights(teams[2]))


def test_global_generators_and_threads_are_left_alone(evaluator, small):
    np.random.seed(3)
    torch.manual_seed(3)
    threads = torch.get_num_threads()
    expected = np.random.random(), float(torch.rand(1))
    np.random.seed(3)
    torch.manual_seed(3)
    quick(evaluator, small).train(4)
    assert (np.random.random(), float(torch.rand(1))) == expected
    assert torch.get_num_threads() == threads


def test_saving_and_loading_keeps_the_recommendation(evaluator, small, tmp_path):
    team = quick(evaluator, small, preset="paper-leduc", scale="linear", engine_seeds=(0, 1))
    team.train(9)
    assert team.save(tmp_path / "team") == tmp_path / "team" / "team.npz"
    for path in (tmp_path / "team", tmp_path / "team" / "team.npz"):
        loaded = SelectorTeam.load(path, evaluator=evaluator)
        assert same(weights(loaded), weights(team))
        assert loaded.recommend() == team.recommend()
        assert loaded.evaluations == 9
        assert loaded.env.preset == team.env.preset
        assert (loaded.env.preset.scale, loaded.env.engine_seeds) == ("linear", (0, 1))


def test_a_team_saved_without_experience_is_smaller_and_picks_the_same(evaluator, small, tmp_path):
    team = quick(evaluator, small, preset=["accuracy", "paper-kuhn"])
    team.train(9)
    whole, bare = team.save(tmp_path / "whole"), team.save(tmp_path / "bare", experience=False)
    assert bare.stat().st_size < whole.stat().st_size
    loaded = SelectorTeam.load(bare, evaluator=evaluator)
    for preset in ("accuracy", "paper-kuhn"):
        assert loaded.pick(preset=preset) == team.pick(preset=preset)
    assert (loaded.evaluations, loaded.cost) == (0, team.cost)
    loaded.train(3)  # continues from the networks that it has, on algorithms that are measured again
    assert (loaded.evaluations, loaded.cost[0]) == (3, 12)


@pytest.mark.slow
def test_a_loaded_team_goes_on(make_evaluator, small, tmp_path):
    team = quick(make_evaluator(), small)
    team.train(6)
    team.save(tmp_path)
    evaluator = make_evaluator()
    loaded = SelectorTeam.load(tmp_path, evaluator=evaluator)
    loaded.train(10)
    assert loaded.evaluations == 10
    assert len(evaluator.records) == 4  # only the new ones
    assert SelectorTeam.load(tmp_path).evaluations == 10


@pytest.mark.slow
def test_a_pickled_team_goes_on_alike(small):
    team = quick(LiveEvaluator(), small, budget={"unit": "iterations", "amount": 20})
    team.train(2)
    other = pickle.loads(pickle.dumps(team))
    assert same(weights(other), weights(team))
    other.train(4)
    assert (other.evaluations, team.evaluations) == (4, 2)


@pytest.mark.slow
def test_a_team_goes_on_in_its_directory(evaluator, small, tmp_path):
    team = quick(evaluator, small)
    team.train(2, log_dir=tmp_path)
    team.train(4)
    assert SelectorTeam.load(tmp_path).evaluations == 4
    SelectorTeam.load(tmp_path / "team.npz", evaluator=evaluator).train(6)  # as from the package, which is not ours
    freed = SelectorTeam.load(tmp_path, evaluator=evaluator)
    freed.directory = None
    freed.train(6)
    copied = copy.deepcopy(team)
    copied.train(6)
    assert SelectorTeam.load(tmp_path).evaluations == 4


@pytest.mark.slow
def test_a_team_goes_on_in_its_directory_from_another_one(evaluator, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quick(evaluator, small).train(2, log_dir="team")
    loaded = SelectorTeam.load("team", evaluator=evaluator)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    loaded.train(4)
    assert SelectorTeam.load(tmp_path / "team").evaluations == 4


def test_the_directory_of_another_team_is_refused(evaluator, small, tmp_path):
    first, second = quick(evaluator, small), quick(evaluator, small)
    first.train(2, log_dir=tmp_path / "first")
    second.train(3, log_dir=tmp_path / "second")
    with pytest.raises(RLCCFRError, match="second holds a trained team: load it with"):
        first.train(4, log_dir=tmp_path / "second")
    assert SelectorTeam.load(tmp_path / "second").evaluations == 3


@pytest.mark.slow
def test_a_team_without_experience_goes_on_in_its_directory(evaluator, small, tmp_path):
    team = quick(evaluator, small)
    team.train(3)
    team.save(tmp_path, experience=False)
    SelectorTeam.load(tmp_path, evaluator=evaluator).train(2)
    assert SelectorTeam.load(tmp_path).cost[0] == 5


@pytest.mark.parametrize(
    ("catalog", "message"),
    [
        (Catalog.paper(), "update_rule 'cfr_plus' is new"),
        ("paper", "update_rule 'cfr_plus' is new"),
        (Catalog(("dcfr", "cfr"), ("none", "external", "outcome"), ("cfr_br", "none")), "update_rule 'lcfr' is gone"),
        (
            Catalog(("dcfr", "cfr", "lcfr"), ("external", "none", "outcome"), ("cfr_br", "none")),
            "the samplers are in another order",
        ),
    ],
)
def test_loading_under_another_catalog_names_the_difference(evaluator, small, tmp_path, catalog, message):
    quick(evaluator, small).save(tmp_path)
    SelectorTeam.load(tmp_path, small, evaluator)
    with pytest.raises(CheckpointError, match=message) as caught:
        SelectorTeam.load(tmp_path, catalog, evaluator)
    assert "\n" not in str(caught.value)


def test_a_changed_definition_is_another_catalog(evaluator, small, tmp_path, monkeypatch):
    from dataclasses import replace

    from rlccfr.registry import update_rules

    quick(evaluator, small).save(tmp_path)
    changed = update_rules._entries | {"dcfr": replace(update_rules["dcfr"], version=99)}
    monkeypatch.setattr(update_rules, "_entries", changed)
    with pytest.raises(CheckpointError, match="the definition of update_rule 'dcfr' has changed"):
        SelectorTeam.load(tmp_path, evaluator=evaluator)


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "no_header", "missing_array", "other_format"])
def test_a_damaged_file_is_one_line(evaluator, small, tmp_path, damage):
    path = quick(evaluator, small).save(tmp_path)
    data = path.read_bytes()
    if damage in ("cut", "garbage", "empty"):
        path.write_bytes({"cut": data[: len(data) // 2], "garbage": b"not a team", "empty": b""}[damage])
    else:
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if damage == "no_header":
            del arrays["header"]
        elif damage == "missing_array":
            del arrays["sampler/q_net.0.weight"]
        else:
            arrays["header"] = np.array('{"format": "rlccfr-team-99"}')
        np.savez(path, **arrays)
    with pytest.raises(RLCCFRError) as caught:
        SelectorTeam.load(tmp_path, evaluator=evaluator)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_flipped_bit_is_noticed_or_harmless(evaluator, small, tmp_path):
    team = quick(evaluator, small, hyperparameters=Hyperparameters(hidden=(2,), batch_size=4, settling=1))
    team.train(3)
    path = team.save(tmp_path)
    data, generator = path.read_bytes(), np.random.default_rng(0)
    for at in generator.integers(len(data), size=150):
        path.write_bytes(data[:at] + bytes([data[at] ^ (1 << generator.integers(8))]) + data[at + 1 :])
        try:
            loaded = SelectorTeam.load(path, evaluator=evaluator)
        except RLCCFRError as error:
            assert "\n" not in str(error)  # noqa: PT017
            continue
        assert same(weights(loaded), weights(team))
        assert loaded.evaluations == team.evaluations


def test_no_file_is_an_error(tmp_path):
    with pytest.raises(CheckpointError, match="there is no team at"):
        SelectorTeam.load(tmp_path / "nowhere")


def test_an_expanded_team_keeps_its_picks_and_can_learn_of_more(evaluator, small):
    team = quick(evaluator, small)
    team.train(10)
    larger = Catalog(("cfr_plus", "lcfr", "cfr", "dcfr"), ("chance", "outcome", "none", "external"), ("none", "cfr_br"))
    grown = expand_team(team, larger)
    assert grown.recommend().cell == team.recommend().cell
    assert grown.evaluations == 10
    team.env.reset(options={"game": "kuhn"})
    grown.env.reset(options={"game": "kuhn"})
    for axis, (old, new) in enumerate(zip(team.selectors, grown.selectors)):
        observation = team.env.observe(("dcfr", "none")[:axis])
        before, after = old.q_values(observation), new.q_values(observation)
        for id, value in zip(larger.axes[axis], after):
            if id in small.axes[axis]:
                assert value == pytest.approx(before[small.axes[axis].index(id)], abs=1e-6)
            else:
                assert value == -2.0
    grown.train(14)
    assert {"cfr_plus"} <= {cell.update_rule for _, cell, _ in grown.experience}


def test_a_team_can_not_be_expanded_to_less(evaluator, small):
    with pytest.raises(RLCCFRError, match="lacks lcfr"):
        expand_team(quick(evaluator, small), Catalog(("dcfr", "cfr"), small.samplers, small.abstractions))


@pytest.mark.slow
def test_an_interrupted_training_goes_on_where_it_stopped(make_evaluator, small, tmp_path):
    evaluator = make_evaluator(interrupt_at=6)
    team = quick(evaluator, small)
    with pytest.raises(KeyboardInterrupt):
        team.train(12, log_dir=tmp_path)
    assert len(evaluator.records) == 5
    resumed = SelectorTeam.load(tmp_path, evaluator=evaluator)
    assert resumed.evaluations == 5
    resumed.train(12, log_dir=tmp_path)
    assert resumed.evaluations == len(evaluator.records) == 12
    with (tmp_path / "training.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["evaluations"]) for row in rows] == list(range(1, 13))
    assert SelectorTeam.load(tmp_path, evaluator=evaluator).recommend() == resumed.recommend()


@pytest.mark.slow
def test_a_killed_training_goes_on_as_if_it_had_not_been(make_evaluator, small, tmp_path, monkeypatch):
    """Each copy is the state on disk after a checkpoint, where the log may already have part of the next row."""
    save, saves = SelectorTeam.save, []

    def saved(team, path, **options):
        saves.append(save(team, path, **options))
        if len(saves) in (1, 4, 9, 12):
            shutil.copytree(path, tmp_path / f"killed-{len(saves)}")
        return saves[-1]

    left_alone, log = quick(make_evaluator(), small), tmp_path / "left-alone"
    with monkeypatch.context() as patch:
        patch.setattr(SelectorTeam, "save", saved)
        left_alone.train(12, log_dir=log)
    last = (log / "training.csv").read_text().splitlines()[-1]
    for number, begun in ((1, "2,kuhn,1000"), (4, ""), (9, last), (12, "")):
        folder = tmp_path / f"killed-{number}"
        with (folder / "training.csv").open("a") as file:
            file.write(begun)
        team = SelectorTeam.load(folder, evaluator=make_evaluator())
        assert team.evaluations == number
        team.train(12, log_dir=folder)
        assert same(weights(team), weights(left_alone))
        assert (folder / "training.csv").read_bytes() == (log / "training.csv").read_bytes()


def test_an_interrupt_between_segments_is_survived(make_evaluator, small, tmp_path):
    evaluator = make_evaluator(interrupt_at=4)  # the second segment of the second episode
    team = quick(evaluator, small, segments=2)
    with pytest.raises(KeyboardInterrupt):
        team.train(12, log_dir=tmp_path)
    resumed = SelectorTeam.load(tmp_path, evaluator=evaluator)
    resumed.train(12)
    assert resumed.evaluations == len(evaluator.records) == 12


def test_what_leads_to_nothing_measured_is_not_learned_from(make_evaluator, small):
    """The only episode is interrupted in its third segment, so there is nothing to learn from yet."""
    evaluator = make_evaluator(interrupt_at=3)
    team = quick(evaluator, small, segments=3)
    with pytest.raises(KeyboardInterrupt):
        team.train(12)
    before = weights(team)
    QLearning(Replay(team)).learn_round(1.0, 5)
    assert same(weights(team), before)
    team.train(12)
    assert team.evaluations == len(evaluator.records) == 12
    assert not same(weights(team), before)


def test_logs_and_progress(evaluator, small, tmp_path):
    shares, seen = [], []
    team = quick(evaluator, small)
    team.train(6, progress=shares.append, callback=seen.append, log_dir=tmp_path / "log")
    assert len(shares) == 6 + QUICK.settling
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    with (tmp_path / "log" / "training.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows == [{name: str(value) for name, value in row.items()} for row in seen]
    assert len(rows) == 6
    for row, (_, cell, outcome) in zip(rows, team.experience):
        assert tuple(row[axis] for axis in AXES) == cell
        assert float(row["mean_reward"]) == pytest.approx(team.env.preset.mean_reward(outcome.costs))
        assert (row["game"], row["budget"], row["preset"], row["scale"]) == (
            "kuhn", "1000 iterations", "accuracy", "log"
        )  # fmt: skip
        assert row["status"] == "ok"
        assert float(row["exploitability"]) > 0
        assert float(row["throughput"]) > 0
    assert any(path.name.startswith("events.out.tfevents") for path in (tmp_path / "log").iterdir())


def test_a_log_of_an_earlier_version_keeps_its_columns(tmp_path):
    (tmp_path / "training.csv").write_text("evaluations,game,mean_reward\n1,kuhn,0.5\n")
    with TrainingLog(tmp_path, evaluations=1) as log:
        log.write(2, {"evaluations": 2, "game": "kuhn", "status": "failed", "mean_reward": 0.0})
    assert (tmp_path / "training.csv").read_text().splitlines()[1:] == ["1,kuhn,0.5", "2,kuhn,0.0"]


def test_the_csv_needs_no_tensorboard(evaluator, small, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    quick(evaluator, small).train(2, log_dir=tmp_path)
    shown = sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("."))
    assert shown == ["team.npz", "training.csv"]


def test_a_new_training_does_not_cost_an_old_team(make_evaluator, small, tmp_path):
    quick(make_evaluator(), small).train(3, log_dir=tmp_path)
    kept = (tmp_path / "team.npz").read_bytes()
    with pytest.raises(RLCCFRError, match="holds a trained team"):
        quick(make_evaluator(), small).train(3, log_dir=tmp_path)
    assert (tmp_path / "team.npz").read_bytes() == kept
    assert len((tmp_path / "training.csv").read_text().splitlines()) == 4


def test_a_training_does_not_cost_a_controller(evaluator, small, tmp_path):
    (tmp_path / "controller.npz").touch()
    (tmp_path / "training.csv").write_text("number\n250\n")
    with pytest.raises(RLCCFRError, match="holds a controller, whose log would be lost"):
        quick(evaluator, small).train(2, log_dir=tmp_path)
    assert (tmp_path / "training.csv").read_text() == "number\n250\n"
    assert not (tmp_path / "team.npz").exists()


def test_interrupted_before_anything_was_measured_nothing_is_saved(make_evaluator, small, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        quick(make_evaluator(interrupt_at=1), small).train(3, log_dir=tmp_path)
    assert not (tmp_path / "team.npz").exists()


def test_a_numpy_seed_is_a_seed(evaluator, small, tmp_path):
    quick(evaluator, small, seed=np.int64(3)).train(2, log_dir=tmp_path)
    assert SelectorTeam.load(tmp_path).seed == 3


@pytest.mark.parametrize("evaluations", [float("nan"), 2.5, "24", True])
def test_evaluations_are_whole(evaluator, small, evaluations):
    with pytest.raises(RLCCFRError, match="evaluations must be"):
        quick(evaluator, small).train(evaluations)


@pytest.mark.verify
@pytest.mark.parametrize("seed", range(3))
def test_a_switch_that_pays_is_learned(make_evaluator, seed):
    """Only exact passes with any rule, followed by cfr, reach an exploitability of 1e-7.

    The value of a first pick includes that of the best second pick.
    """
    catalog = Catalog(("cfr", "dcfr", "lcfr"), ("external", "none"), ("none",))

    class Paying(type(make_evaluator())):
        def measure(self, request):
            first, *rest = request.cells
            x = 1e-2 if not rest else 1e-4 if first.sampler != "none" else 1e-7 if rest[0].update_rule == "cfr" else 0.4
            self.exploitability = lambda game, cell: x
            return super().measure(request)

    team = SelectorTeam("kuhn", catalog=catalog, evaluator=Paying(), segments=2, seed=seed)
    team.train(42)
    assert team.recommend().exploitability == 1e-7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"preset": "nonsense"}, "unknown preset"),
        ({"games": []}, "at least one"),
        ({"games": "kuhm"}, "kuhn"),
        ({"engine_seeds": []}, "engine_seeds"),
        ({"hyperparameters": {"hidden": (64,)}}, "hyperparameters must be"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    with pytest.raises(RLCCFRError, match=message):
        SelectorTeam(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"hidden": (0,)},
        {"hidden": 64},
        {"batch_size": 0},
        {"settling": -1},
        {"learning_rate": 0.0},
        {"epsilon": 1.5},
        {"gamma": -0.1},
    ],
)
def test_hyperparameters_out_of_range(arguments):
    with pytest.raises(RLCCFRError, match=next(iter(arguments))):
        Hyperparameters(**arguments)


def test_too_few_evaluations(evaluator, small):
    with pytest.raises(RLCCFRError, match="at least 2"):
        quick(evaluator, small, segments=2).train(1)


@pytest.mark.slow
def test_a_team_trains_on_the_engine(small):
    """The team learns from the same results as plain solvers give, and reports its pick's result."""
    uniform = Policy.uniform(load_game("kuhn")).exploitability()
    team = quick(LiveEvaluator(), small, budget={"unit": "iterations", "amount": 50}, preset="paper-kuhn")
    team.train(5)
    for _, cell, outcome in team.experience:
        result = Solver(load_game("kuhn"), *cell, seed=0).run(iterations=50)
        assert outcome.costs.units == pytest.approx(result.exploitability, rel=1e-12)
        assert outcome.costs.linear == pytest.approx(result.exploitability / uniform, rel=1e-12)
    pick = team.recommend()
    assert pick.exploitability == Solver(load_game("kuhn"), *pick.cell, seed=0).run(iterations=50).exploitability
    assert pick.throughput > 0
    assert team.experience.cpu_seconds > 0


@pytest.mark.slow
def test_a_team_is_carried_from_the_papers_catalog_to_the_extended_one(make_evaluator):
    team = quick(make_evaluator(lambda game, cell: 0.01 if cell.abstraction == "none" else 0.1))
    team.train(9)
    grown = expand_team(team, Catalog.extended())
    assert grown.recommend().cell == team.recommend().cell
    grown.train(22)
    tried = {cell for _, cell, _ in grown.experience}
    assert {cell.update_rule for cell in tried} == set(Catalog.extended().update_rules)
    assert {cell.sampler for cell in tried} == set(Catalog.extended().samplers)


def test_two_trainings_in_one_directory_are_refused(evaluator, small, tmp_path):
    team = quick(evaluator, small)
    with other_process_holding(tmp_path), pytest.raises(InUseError, match="in use by process"):
        team.train(2, log_dir=tmp_path)
    team.train(2, log_dir=tmp_path)
    assert SelectorTeam.load(tmp_path).evaluations == 2
