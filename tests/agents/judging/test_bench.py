from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import permutations

import pytest

from benchmarks.baselines.joint import joint_dqn
from benchmarks.baselines.no_network import search_without_networks
from benchmarks.baselines.tpe import tpe_search
from rlccfr import plugins
from rlccfr.agents import Hyperparameters, SelectorTeam, TeamPlan, build_table
from rlccfr.agents.baselines.best import virtual_best
from rlccfr.agents.baselines.halving import successive_halving
from rlccfr.agents.baselines.random_cells import random_search
from rlccfr.agents.baselines.task import SearchResult, Task, measure_all
from rlccfr.agents.judging import bench
from rlccfr.agents.judging.bench import SEARCHES, Bench
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.judging.recommendation_table import COLUMNS
from rlccfr.catalog import Catalog, Cell
from rlccfr.cli.commands.compare import print_comparison
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.controller_file import save_controller
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import PRESETS, Preset, Weights
from rlccfr.errors import RLCCFRError

QUICK = Hyperparameters(hidden=(16,), settling=10, gradient_steps=4)
BUDGET = Budget("iterations", 1000)


@pytest.fixture
def table(evaluator, small):
    return build_table(
        ["kuhn", "leduc"], [BUDGET], preset=["accuracy", "paper-kuhn"], evaluator=evaluator, catalog=small,
        plan=TeamPlan(5, hyperparameters=QUICK),
    ).frame  # fmt: skip


def row(frame, **wanted):
    for name, value in wanted.items():
        frame = frame[frame[name] == value]
    assert len(frame) == 1
    return frame.iloc[0]


@pytest.mark.slow
def test_every_game_budget_preset_and_method_has_a_row(table):
    assert tuple(table.columns) == COLUMNS
    # Of the fixed algorithms, the small catalog has CFR, LCFR, DCFR and ES-MCCFR, but not ECFR.
    methods = ["team", "random search", "VBS", "SBS", "CFR", "LCFR", "DCFR", "ES-MCCFR"]
    for preset in ("accuracy", "paper-kuhn"):
        for game in ("kuhn", "leduc"):
            assert list(table[(table.game == game) & (table.preset == preset)].method) == methods


@pytest.mark.slow
def test_virtual_and_single_best(table):
    vbs = row(table, game="kuhn", preset="accuracy", method="VBS")
    assert tuple(vbs[["update_rule", "sampler", "abstraction"]]) == ("dcfr", "external", "none")
    assert (vbs.regret, vbs.normalised_score) == (0.0, 1.0)
    assert math.isnan(vbs.closed_gap)  # with one engine seed, an algorithm that draws at random has no standard error
    assert (vbs.evaluations, vbs.cpu_seconds) == (18, 9.0)
    sbs = row(table, game="kuhn", preset="accuracy", method="SBS")
    assert tuple(sbs[["update_rule", "sampler", "abstraction"]]) == ("lcfr", "external", "none")
    assert sbs.evaluations == 18


@pytest.mark.slow
def test_scores_of_a_fixed_algorithm(table, evaluator, small):
    # On the log scale e falls by 1/8 per decade, so regret in R̄ is the distance in decades divided by 8.
    cfr = row(table, game="kuhn", preset="accuracy", method="CFR")
    decades = math.log10(cfr.exploitability / row(table, game="kuhn", preset="accuracy", method="VBS").exploitability)
    assert cfr.regret == pytest.approx(decades / 8)
    assert cfr.evaluations == 0


@pytest.mark.slow
def test_team_and_random_search_make_equal_evaluations(table):
    for method in ("team", "random search"):
        picked = table[table.method == method]
        assert set(picked.evaluations) == {5}
        assert set(picked.cpu_seconds) == {2.5}


A_SEARCH = """
import random
from rlccfr.agents.baselines.task import SearchResult
from rlccfr.agents.judging.bench import SEARCHES

def search(task, *, evaluations, seed=0):
    measured = {cell: task.measure(cell) for cell in random.Random(seed).sample(task.available, evaluations)}
    rewards = task.rewards(measured)
    return SearchResult(max(rewards, key=rewards.get), measured)

SEARCHES["my search"] = search
"""


@pytest.mark.verify
def test_a_search_of_a_loaded_file_is_judged_beside_the_team(run, tmp_path, monkeypatch):
    """It has the team's number of evaluations, and a row wherever the table goes."""
    monkeypatch.setattr(plugins, "loaded", plugins.Loaded())
    monkeypatch.setattr(bench, "SEARCHES", {})
    (tmp_path / "my_search.py").write_text(A_SEARCH)
    command = ("--load", "my_search.py", "compare", "kuhn", "--catalog", "tabular", "--iterations", "20")
    command += ("--evaluations", "3", "--option", "exhaustive=no")
    (mine,) = [row for row in json.loads(run(*command, "--json")[1]) if row["method"] == "my search"]
    assert mine["evaluations"] == 3
    assert mine["exploitability"] > 0
    assert "my search" in run(*command, "--out", "table.csv")[1]
    assert ",my search," in (tmp_path / "table.csv").read_text()


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ("cfr", "the search 'mine' must return a SearchResult, not 'cfr'"),
        (SearchResult(Cell("hedge", "none", "none"), {}), "the search 'mine' picks Cell"),
    ],
)
def test_what_a_search_returns_is_checked(evaluator, small, monkeypatch, result, message):
    monkeypatch.setitem(SEARCHES, "mine", lambda task, **options: result)
    task = Task(evaluator, small, "kuhn", BUDGET, PRESETS["accuracy"])
    with pytest.raises(RLCCFRError, match=message):
        Bench(task, {}).search_rows(5, 0)


def test_the_size_of_the_tied_set_is_told(make_evaluator):
    """lcfr and dcfr are equal and cfr is worse; the rows of the pick and of the baselines have the same set."""
    catalog = Catalog(("cfr", "lcfr", "dcfr"), ("none",), ("none",))
    evaluator = make_evaluator(lambda game, cell: 1e-2 if cell.update_rule == "cfr" else 1e-3)
    frame = build_table(
        ["kuhn"], [BUDGET], evaluator=evaluator, catalog=catalog, plan=TeamPlan(3, hyperparameters=QUICK)
    ).frame
    assert set(frame["tied_set_size"]) == {2}
    assert dict(zip(frame["update_rule"], frame["in_tied_set"], strict=True))["cfr"] is False
    unmeasured = build_table(
        ["kuhn"], [BUDGET], evidence={}, evaluator=evaluator, catalog=catalog, plan=TeamPlan(3, hyperparameters=QUICK)
    ).frame
    assert unmeasured["tied_set_size"].isna().all()


def test_without_measuring_everything_there_is_no_regret(evaluator, small):
    frame = build_table(
        ["kuhn"], [BUDGET], evidence={}, evaluator=evaluator, catalog=small,
        plan=TeamPlan(4, hyperparameters=QUICK),
    ).frame  # fmt: skip
    assert "VBS" not in set(frame.method)
    assert frame.regret.isna().all()
    assert len(evaluator.records) < len(small)


def test_a_game_under_a_second_name_is_not_another_game(evaluator, small):
    def rows(*others):
        return build_table(
            ["kuhn"], [BUDGET], evaluator=evaluator, catalog=small, others=others, plan=TeamPlan(0)
        ).frame  # fmt: skip

    assert "SBS" not in set(rows("kuhn_poker").method)
    columns = ["update_rule", "sampler", "abstraction", "regret", "evaluations"]
    twice = row(rows("kuhn_poker", "leduc", "leduc_poker"), method="SBS")
    assert twice[columns].equals(row(rows("leduc"), method="SBS")[columns])


def test_random_search_draws_available_algorithms(make_evaluator):
    """The last iterate of rtcfr_plus has no guarantee with sampled values, so two of its algorithms can't run."""
    catalog = Catalog(("cfr", "rtcfr_plus"), ("none", "external", "outcome"), ("none",))
    evaluator = make_evaluator(lambda game, cell: 0.1 if cell.update_rule == "cfr" else 0.3)
    task = Task(evaluator, catalog, "kuhn", BUDGET, PRESETS["accuracy"])
    assert len(task.available) == 4
    judged = Bench(task, {"kuhn": Evidence.measured(evaluator, catalog, "kuhn", BUDGET)})
    (found,) = judged.random_rows(1, seed=0)  # the median of the searches, which draw one of the four
    assert found["update_rule"] == "cfr"
    scores = [judged.row("own", cell, 0, 0.0)["normalised_score"] for cell in task.available]
    assert sum(scores) == pytest.approx(0.0, abs=1e-9)  # the mean score of a random pick


BELOW_THE_SCALE = {"cfr": 3e-10, "dcfr": 1e-12, "lcfr": 2e-11}
"""Exploitabilities more than eight decades below the uniform policy's, all of which have the reward 1."""


@pytest.mark.parametrize("order", list(permutations(BELOW_THE_SCALE)))
def test_of_equal_rewards_the_least_exploitable_algorithm_is_the_best_in_any_order_of_the_catalog(
    make_evaluator, capsys, order
):
    evaluator = make_evaluator(lambda game, cell: BELOW_THE_SCALE[cell.update_rule])
    frame = build_table(
        ["kuhn"], [BUDGET], evaluator=evaluator, catalog=Catalog(order, ("none",), ("none",)), plan=TeamPlan(0)
    ).frame
    assert set(frame.reward) == {1.0}
    assert row(frame, method="VBS").update_rule == "dcfr"
    assert row(frame, method="VBS").regret == 0.0
    print_comparison("title", frame)
    methods = [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:] if line]
    assert methods == ["VBS", "DCFR", "LCFR", "CFR"]


@pytest.mark.parametrize("order", list(permutations(BELOW_THE_SCALE)))
def test_of_equal_exploitabilities_the_fastest_algorithm_is_the_best(make_evaluator, order):
    class Timed(make_evaluator):
        def measure(self, request):
            return replace(
                super().measure(request), throughput={"cfr": 1e3, "dcfr": 2e3, "lcfr": 3e3}[cell_of(request)]
            )

    evaluator = Timed(lambda game, cell: 1e-12)
    catalog = Catalog(order, ("none",), ("none",))
    task = Task(evaluator, catalog, "kuhn", BUDGET, PRESETS["accuracy"])
    runs = measure_all(evaluator, catalog, "kuhn", BUDGET)
    assert set(task.worths(runs).values()) == {(1.0, 1.0)}
    assert virtual_best(task.ranks(runs)).update_rule == "lcfr"


def cell_of(request):
    return request.cells[-1].update_rule


def test_a_failed_run_is_the_last_of_equal_worths(make_evaluator):
    class Failing(make_evaluator):
        def measure(self, request):
            measured = super().measure(request)
            if cell_of(request) == "cfr":
                return replace(measured, status="timeout", exploitability=math.nan, throughput=math.nan)
            return replace(measured, exploitability=measured.uniform_exploitability)

    evaluator = Failing()
    catalog = Catalog(("cfr", "dcfr"), ("none",), ("none",))
    task = Task(evaluator, catalog, "kuhn", BUDGET, PRESETS["accuracy"])
    runs = measure_all(evaluator, catalog, "kuhn", BUDGET)
    assert len(set(task.worths(runs).values())) == 1
    assert virtual_best(task.ranks(runs)).update_rule == "dcfr"


HASTY = Preset("hasty", (Weights(0.01, 1),) * 3, "log")
"""Reward weights under which the fastest algorithm has the highest reward, whatever it reaches."""


@pytest.fixture
def hasty_evaluator(make_evaluator):
    """Evaluator in which outcome sampling is fast and does not converge, and the others are slow and do."""

    class Hasty(make_evaluator):
        def measure(self, request):
            fast = request.cells[-1].sampler == "outcome"
            return replace(super().measure(request), throughput=1e6 if fast else 1e2)

    return Hasty(lambda game, cell: 0.4 if cell.sampler == "outcome" else 0.01)


def choices(evaluator, small, preset):
    """Return what each method picks that runs algorithms or learns from runs, with the worth of its pick."""
    task = Task(evaluator, small, "kuhn", BUDGET, preset)
    searches = (random_search, search_without_networks, tpe_search, successive_halving)
    found = {search.__name__: search(task, evaluations=len(small)).cell for search in searches}
    found["joint_dqn"] = joint_dqn(task, evaluations=len(small), hyperparameters=QUICK).cell
    frame = build_table(
        ["kuhn", "leduc"], [BUDGET], preset=preset, evaluator=evaluator, catalog=small,
        plan=TeamPlan(10, hyperparameters=QUICK),
    ).frame  # fmt: skip
    own = frame[(frame["game"] == "kuhn") & frame["method"].isin(["team", "random search", "VBS", "SBS"])]
    found |= {row["method"]: Cell.of(row) for row in own.to_dict("records")}
    team = SelectorTeam("kuhn", BUDGET, preset=preset, catalog=small, evaluator=evaluator, hyperparameters=QUICK)
    team.train(12)
    return found | {"recommended": team.recommend().cell, "picked": team.pick()}


@pytest.mark.slow
def test_nothing_recommends_what_has_not_converged(hasty_evaluator, small):
    picks = choices(hasty_evaluator, small, HASTY)
    assert len(picks) == 11
    assert {name: cell for name, cell in picks.items() if cell.sampler == "outcome"} == {}


@pytest.mark.slow
def test_if_the_weights_ask_for_speed_alone_it_is_recommended_and_told_first(hasty_evaluator, small):
    speed = Preset("speed", (Weights(0, 1),) * 3)
    picks = choices(hasty_evaluator, small, speed)
    assert {picks[name].sampler for name in ("random_search", "successive_halving", "VBS", "recommended")} == {
        "outcome"
    }


@pytest.mark.slow
def test_if_nothing_has_converged_the_best_of_all_is_recommended(make_evaluator, small):
    evaluator = make_evaluator(lambda game, cell: 0.1 if cell.sampler == "none" else 0.4)
    picks = choices(evaluator, small, PRESETS["accuracy"])
    assert picks["VBS"].sampler == picks["random_search"].sampler == "none"


@pytest.mark.parametrize(("best", "others"), [("mine", ["cfr"]), ("cfr", [])])
def test_a_controller_from_a_file_has_its_row_beside_the_best_of_the_others(make_evaluator, tmp_path, best, others):
    save_controller(Controller.untrained(CHOICES, (8,)), tmp_path / "mine.npz")
    mine = f"controlled(controller={str(tmp_path / 'mine.npz')!r})"
    evaluator = make_evaluator(lambda game, cell: 1e-4 if best in cell.update_rule else 1e-3)
    frame = build_table(
        ["kuhn"], [BUDGET], evaluator=evaluator, catalog=Catalog(("cfr", mine), ("none",), ("none",)),
        plan=TeamPlan(2, hyperparameters=QUICK),
    ).frame  # fmt: skip
    assert row(frame, method=f"best with {mine}").update_rule == mine
    assert list(frame[frame.method == "best of the others"].update_rule) == others
    assert best in row(frame, method="VBS").update_rule


def test_not_converged_and_progress(make_evaluator):
    catalog = Catalog(("cfr", "dcfr"), ("none",), ("none",))
    evaluator = make_evaluator(lambda game, cell: 0.4583 * (0.11 if cell.update_rule == "cfr" else 0.09))
    shares = []
    frame = build_table(
        ["kuhn"], [BUDGET], evaluator=evaluator, catalog=catalog, plan=TeamPlan(2, hyperparameters=QUICK),
        progress=shares.append,
    ).frame  # fmt: skip
    assert not row(frame, method="CFR").converged
    assert row(frame, method="DCFR").converged
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize(("factors", "reported"), [((1.0, 1.0), True), ((10.0, 0.2), False)])
def test_a_gap_within_the_noise_is_not_reported(make_evaluator, factors, reported):
    """On Kuhn dcfr beats the SBS, which is Leduc's best, cfr: under every seed, or only on average over the seeds."""

    class Noisy(type(make_evaluator())):
        def measure(self, request):
            measured = super().measure(request)
            noise = factors[request.seed] if request.cells[-1].update_rule == "cfr" else 1.0
            return replace(measured, exploitability=measured.exploitability * noise)

    evaluator = Noisy(lambda game, cell: 2e-4 if (cell.update_rule == "cfr") == (game == "kuhn") else 1.9e-4)
    catalog = Catalog(("cfr", "dcfr"), ("none",), ("none",))
    quiet = make_evaluator(evaluator.exploitability)  # the choosing runs and the runs on Leduc have no noise
    evidence = {
        game: Evidence(
            measure_all(quiet, catalog, game, BUDGET),
            measure_all(evaluator if game == "kuhn" else quiet, catalog, game, BUDGET, (0, 1)),
        )
        for game in ("kuhn", "leduc")
    }
    bench = Bench(Task(evaluator, catalog, "kuhn", BUDGET, PRESETS["accuracy"]), evidence)
    row = bench.row("x", Cell("dcfr", "none", "none"), 0, 0.0)
    assert row["normalised_score"] == pytest.approx(1.0)
    assert math.isnan(row["closed_gap"]) is not reported
