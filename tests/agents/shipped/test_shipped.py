"""A small version of the shipped files, made as by ``python -m benchmarks.teams`` and queried as by users."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pandas as pd
import pytest
from small_package import BUDGETS, FAMILIES, HELD_OUT, PUBLIC_GAMES, SMALL, TRAIN, runs, small_package

from benchmarks import methods, selection, simpler, teams
from benchmarks.choosers import NAMES
from rlccfr.agents import shipped
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging.evidence import Evidence, choosing_part
from rlccfr.agents.shipped import unmeasured
from rlccfr.agents.shipped.advice import _better_extended, _rank_in_words, recommend
from rlccfr.agents.team import pretraining
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs.episode import EpisodeSpec
from rlccfr.envs.measuring.request import Budget, Request
from rlccfr.envs.measuring.rows import load_results
from rlccfr.envs.measuring.store import Store
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS
from rlccfr.envs.sweeping.worker import measure
from rlccfr.errors import RLCCFRError

pytestmark = pytest.mark.slow  # the fixture sweeps and trains


@pytest.fixture(scope="module", autouse=True)
def data(tmp_path_factory):
    """Folder of the package's data."""
    with small_package(tmp_path_factory.mktemp("data")) as folder:
        yield folder


@pytest.mark.verify
def test_teams_are_small_files_that_know_budgets_and_weights(data):
    assert {path.name for path in data.iterdir()} == {
        "paper.parquet", "public.parquet", "team-kuhn.npz", "team-goofspiel.npz", "team-all.npz", "team-public.npz",
        "costs.npz", "generalisation.parquet", "winners.json", "team-start.npz",
    }  # fmt: skip
    team = shipped.team("kuhn")
    assert team.evaluations == 0
    assert team.cost[0] == len(SMALL)  # one of three engine seeds is for choosing; one run answers all budgets
    assert set(team.env.budgets) == {*BUDGETS, Budget("iterations", 50)}
    assert [preset.name for preset in team.env.presets] == list(PRESETS)
    assert team.env.games == ("kuhn",)
    assert shipped.team("all").env.games == shipped.GAMES
    assert unmeasured.costs().games == TRAIN
    assert set(unmeasured.costs().budgets) == {*team.env.budgets, teams.BRIEF}


def test_only_runs_of_the_plan_are_shipped(data):
    assert set(shipped.results().frame()["game"]) == set(shipped.GAMES)


def test_what_is_there_is_made_again_if_it_came_from_something_else(data, monkeypatch):
    written = []
    monkeypatch.setattr(teams, "write_team", lambda train, path: written.append(path.name))
    monkeypatch.setattr(teams, "generalise", lambda path: written.append(path.name))
    teams.main()
    assert written == []
    record = teams.RESULTS / teams.MADE_FROM
    made_from = json.loads(record.read_text())
    record.write_text(json.dumps(made_from | {"team-kuhn.npz": "other runs"}))
    teams.main()
    assert written == ["team-kuhn.npz"]


def test_measurements_stay_where_their_runs_are_not(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # a folder without sweeps; of the families it has one run
    Store(teams.FAMILIES_SWEPT).put(measure(runs(HELD_OUT)[0]))
    written = (data / shipped.MEASURED, data / shipped.PUBLIC_MEASURED, teams.RESULTS / teams.MEASURED)
    before = {path: path.read_bytes() for path in written}
    teams.main()
    assert all(path.read_bytes() == content for path, content in before.items())
    assert capsys.readouterr().err.count("stays as it is") == 3


def test_a_table_for_few_budgets_tells_the_same_of_them(data):
    whole = TableEvaluator(Store(teams.FAMILIES_SWEPT))
    for job in runs(HELD_OUT):
        for budget in (teams.BRIEF, *BUDGETS, *teams.BETWEEN):
            request = Request(job.game, (job.cell,), budget, seed=job.seed)
            found, expected = teams.others().measure(request), whole.measure(request)
            assert found.exploitability == pytest.approx(expected.exploitability, rel=1e-6)
            assert (found.iterations, found.nodes_touched) == (expected.iterations, expected.nodes_touched)
    points = [len(curve) for curve in load_results(teams.RESULTS / teams.MEASURED)["curve_iteration"]]
    assert 2 <= max(points) <= 2 * len({teams.BRIEF, *BUDGETS, *teams.BETWEEN, Budget("iterations", 50)}) + 1


def test_a_team_trained_on_a_table_sees_no_run_that_judges(data, monkeypatch):
    seen = set()
    answer = TableEvaluator.measure

    def watched(table, request):
        found = answer(table, request)
        seen.add((request.cells[0], request.seed))
        return found

    monkeypatch.setattr(TableEvaluator, "measure", watched)
    pretraining.train_on_table(EpisodeSpec.parse("kuhn", budget=BUDGETS, catalog=SMALL, evaluator=shipped.results()))
    assert {cell for cell, _ in seen} == set(SMALL)
    assert all(seed in choosing_part(shipped.results().seeds("kuhn", cell)) for cell, seed in seen)


def test_a_measured_game_is_answered_with_the_best_that_was_measured(data):
    found = recommend("kuhn_poker", BUDGETS[1])
    evidence = Evidence.measured(shipped.results(), SMALL, "kuhn", BUDGETS[1])
    assert (found.basis, found.game) == ("best measured", "kuhn_poker")
    assert evidence.choosing[found.cell][0].exploitability == min(
        run.exploitability for runs in evidence.choosing.values() for run in runs
    )
    judged = [run.exploitability for run in evidence.judging[found.cell]]
    assert found.figures["exploitability"] == pytest.approx(sum(judged) / len(judged))
    assert found.to_row()["regret"] is None
    longer = recommend("kuhn", Budget("iterations", 1000))
    assert (longer.cell, longer.figures) == (found.cell, {})
    assert longer.why.endswith(
        "; chosen as for 100 iterations, the nearest to 1000 iterations that all of them ran for"
    )


def test_what_was_not_measured_can_not_be_chosen_from(data):
    with pytest.raises(RLCCFRError, match="the package has no run of cfr x chance x cfr_br"):
        recommend("kuhn", BUDGETS[1], catalog="tabular")
    other = Catalog(("cfr", "lcfr"), ("external", "none"), ("none",))
    assert recommend("kuhn", BUDGETS[1], catalog=other).why.startswith("the best of 4 algorithms measured for 100 ")
    with pytest.raises(RLCCFRError, match="the game was not measured"):
        recommend("kuhn(cards=6)", BUDGETS[1], catalog=other)
    assert recommend("kuhn(cards=6)", BUDGETS[1], catalog=SMALL).cell == recommend("kuhn(cards=6)", BUDGETS[1]).cell


def test_of_the_papers_catalog_the_games_team_picks(data):
    def advise_paper(game, budget):
        return recommend(game, budget, catalog=SMALL)

    found = advise_paper("kuhn_poker", BUDGETS[1])
    assert (found.basis, found.game) == ("measured", "kuhn_poker")
    assert found.cell in set(SMALL)
    assert found.figures["exploitability"] > 0
    place = _rank_in_words(found.figures["in_tied_set"], found.figures["tied_set_size"])
    assert found.why.startswith(f"measured after {BUDGETS[1]}: of 8 algorithms it {place}; regret ")
    longer_ago = advise_paper("kuhn", BUDGETS[-1]).figures
    longer = advise_paper("kuhn", Budget("iterations", 1000))
    assert (longer.budget, longer.figures) == (Budget("iterations", 1000), {})
    assert longer.cell == advise_paper("kuhn", BUDGETS[-1]).cell
    assert longer.why.startswith("measured after 100 iterations: of 8 algorithms it ")
    nearest = "the nearest to 1000 iterations that the team was trained with"
    assert longer.why.endswith(f"; picked as for 100 iterations, {nearest}")
    assert advise_paper("kuhn", Budget("iterations", 30)).figures["exploitability"] > 0
    shorter = advise_paper("kuhn", Budget("iterations", 5))
    assert shorter.figures["exploitability"] > longer_ago["exploitability"]
    assert "picked as for 10 iterations" in shorter.why
    assert "not trained with budgets in seconds" in advise_paper("kuhn", Budget("seconds", 1e-4)).why


@pytest.mark.parametrize(
    ("sampler", "words"),
    [("none", "by a second timing of its only run"), ("external", "on runs other than those it was chosen by")],
)
def test_advice_says_by_which_run_a_pick_is_judged(data, monkeypatch, sampler, words):
    cell = Cell("dcfr", sampler, "none")
    monkeypatch.setattr(type(shipped.team("kuhn")), "pick", lambda *asked: cell)
    found = recommend("kuhn", BUDGETS[1], catalog=SMALL)
    assert f"regret {found.figures['regret']:.3g} {words}; exploitability" in found.why
    runs = [shipped.results().run("kuhn", cell, seed) for seed in ((0,) if sampler == "none" else (1, 2))]
    name = "throughput_again" if sampler == "none" else "throughput"
    assert found.figures["throughput"] == pytest.approx(sum(run[name] for run in runs) / len(runs))


@pytest.mark.parametrize(
    ("tied", "size", "words"),
    [
        (True, 1, "is the best"),
        (True, 45, "is one of 45 that are tied for the best"),
        (False, 2, "is not the best"),
    ],
)
def test_advice_says_among_how_many_a_pick_is_tied(tied, size, words):
    assert _rank_in_words(tied, size) == words


def test_choosers_without_a_family_are_judged_on_it(data):
    rows = pd.read_parquet(data / shipped.GENERALISATION)
    judged = {which: set(group["game"]) for which, group in rows.groupby(["without", "picked by"])}
    assert judged == {  # the other families hold out or train on nothing
        (without, name): set(games)
        for without, games in (("", HELD_OUT), ("kuhn", FAMILIES[0].held_out))
        for name in NAMES
    }
    assert set(rows[rows["without"] != ""]["kind"]) == {"unseen family"}
    assert set(rows["budget"]) == {"10 iterations", "30 iterations", "100 iterations"}


def test_what_a_larger_catalog_has_is_told_where_it_is_better(data, monkeypatch):
    task = Task(shipped.results("kuhn"), SMALL, "kuhn", BUDGETS[1], PRESETS["accuracy"])
    pick = Cell("cfr", "external", "none")
    assert _better_extended(task, {"reward": -1.0}) == ""  # the best of all is in the paper's catalog, too
    monkeypatch.setattr(shipped, "catalog", lambda: [pick])
    reward = task.rewards(Evidence.measured(task.evaluator, SMALL, "kuhn", BUDGETS[1]).judging)
    best = max(reward, key=reward.__getitem__)
    found = _better_extended(task, {"reward": reward[best] - 0.25})
    assert found.startswith(f"; beyond these, {best} of the extended catalog reached ")
    assert found.endswith(", with 0.25 more reward")
    assert _better_extended(task, {"reward": reward[best] + 0.25}) == ""
    assert _better_extended(task, {}) == ""


@pytest.fixture
def regrets(monkeypatch):
    """Set the regrets of choosers and of the single best."""
    rows = unmeasured.judgements()

    def change(**columns):
        nonlocal rows
        rows = rows.assign(**columns)
        monkeypatch.setattr(unmeasured, "judgements", lambda: rows)
        return rows

    return change


def test_any_other_game_is_answered_from_its_features(regrets):
    regrets(pick=0.1, SBS=0.1)
    one, other = (
        ("kuhn(cards=6)", "one such game (unseen member)"),
        ("dark_hex(board_size=2)", "2 such games (unseen family)"),
    )
    for game, games in (one, other):
        found = recommend(game, BUDGETS[0], "paper-kuhn")
        assert (found.basis, found.figures) == ("features", {})
        assert f"on {games}" in found.why
    assert "was not measured (training game)" in recommend("kuhn(cards=4)", BUDGETS[0]).why


def test_where_the_single_best_was_better_it_is_the_advice(regrets):
    rows = regrets(pick=0.1, SBS=0.05)
    same = rows[(rows["without"] == "") & (rows["budget"] == str(BUDGETS[1])) & (rows["preset"] == "accuracy")]
    found = recommend("kuhn(cards=6)", BUDGETS[1])
    assert (found.basis, str(found.cell)) == ("single best", same["single_best"].iloc[0])
    assert found.why.startswith(
        "the single best of the training games: on one such game (unseen member), averaged over"
    )
    for other in ([(0.5, 0.5)] * 3, replace(PRESETS["accuracy"], scale="units")):  # on which nothing is recorded
        assert recommend("kuhn(cards=6)", BUDGETS[1], other).basis == "features"
    regrets(member="test")
    assert recommend("kuhn(cards=6)", BUDGETS[1]).basis == "features"


@pytest.mark.parametrize("validated", [True, False])
def test_advice_is_chosen_by_validation_games_and_quotes_test_games(regrets, validated):
    """The chooser is better only on validation games or only on test games, and the single best on the others."""
    members = regrets()["member"]
    better, worse = members.map(lambda member: 0.1 if (member == "validation") == validated else 0.3), 0.2
    regrets(pick=better, SBS=worse)
    found = recommend("kuhn(cards=6)", BUDGETS[1])
    assert found.basis == ("features" if validated else "single best")
    told = 0.3 if validated else 0.1
    assert f"averaged over budgets and weights, such picks had {told:.3f} less reward than" in found.why


def test_the_prior_is_asked_and_the_budget_nearest_to_those_that_it_has_met(regrets):
    regrets(pick=0.1, SBS=0.2)
    found = recommend("kuhn(cards=6)", BUDGETS[1])
    first = shipped.load_team(shipped.START).ranked("kuhn(cards=6)", BUDGETS[1], PRESETS["accuracy"])[0]
    assert (found.basis, found.cell) == ("features", first)
    assert found.why.startswith("picked from the game's features by the DQN team: on one such game")
    longer = recommend("kuhn(cards=6)", Budget("iterations", 10_000))
    assert longer.why.endswith(
        "; picked as for 100 iterations, the nearest to 10000 iterations that the DQN team was trained with"
    )


def test_a_prior_that_loses_under_one_preset_is_not_asked(regrets):
    presets = regrets(SBS=0.2)["preset"]
    regrets(pick=presets.map(lambda name: 0.3 if name == "paper-speed" else 0.0))
    assert not unmeasured.never_loses()
    assert recommend("kuhn(cards=6)", BUDGETS[1]).basis == "single best"


def test_that_picks_come_from_tabular_alone_is_said_unless_just_that_catalog_is_asked(regrets):
    regrets(pick=0.1, SBS=0.2)
    # The choosers of these tests have learned from the small catalog.
    told = [recommend("kuhn(cards=6)", BUDGETS[1], catalog=asked).why for asked in (None, "tabular", SMALL)]
    assert ["only from the catalog tabular" in why for why in told] == [True, True, False]


def test_for_budgets_in_a_unit_that_was_not_measured_the_answer_is_that_for_the_longest(regrets):
    regrets(pick=0.1, SBS=0.2)
    found = recommend("kuhn(cards=6)", Budget("nodes", 1000))
    assert (found.basis, found.cell) == ("features", recommend("kuhn(cards=6)", BUDGETS[1]).cell)
    assert found.why.endswith("; the DQN team was not trained with budgets in nodes; picked as for 100 iterations")


def test_recommend_answers_at_once_and_says_how_sure_it_is(run, tmp_path, regrets):
    regrets(pick=0.1, SBS=0.1)
    row = json.loads(run("recommend", "kuhn", "--iterations", "100", "--json")[1])
    assert row["basis"] == "best measured"
    assert row["in_tied_set"] in (True, False)
    code, out, err = run("recommend", "kuhn(cards=7)", "--iterations", "1000000")
    assert (code, err) == (0, "")
    assert "picked from the game's features by the DQN team" in out
    assert "--iterations 1000000" in out
    assert not list(tmp_path.iterdir())  # nothing was run or written


def test_the_table_and_the_report_of_what_is_shipped(run, tmp_path):
    rows = json.loads(run("table", "--json")[1])
    assert {(row["game"], row["budget"]) for row in rows} == {
        (game, str(budget)) for game in shipped.GAMES for budget in BUDGETS
    }
    assert {"team", "VBS", "SBS", "CFR"} <= {row["method"] for row in rows}
    team = next(row for row in rows if row["method"] == "team")
    assert team["evaluations"] == shipped.team("kuhn").cost[0]
    assert "kuhn " in run("table", "kuhn_poker")[1]
    assert run("report", "page.html", "--game", "kuhn", "--iterations", "10")[0] == 0
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_insights_of_what_is_shipped(run):
    (found,) = json.loads(run("insights", "kuhn", "--json")[1])
    assert found["budget"] == {"unit": "iterations", "amount": 100}
    assert {row["component"] for row in found["effects"]} == {*SMALL.update_rules, *SMALL.samplers, *SMALL.abstractions}
    assert sum(row["effect"] * row["cells"] for row in found["effects"]) == pytest.approx(0)
    text = run("insights", "kuhn", "--iterations", "10", "--preset", "paper-kuhn")[1]
    scale = "(e in the game's units)"
    for words in (
        f"kuhn, 10 iterations, preset paper-kuhn {scale}: effects",
        "not beaten in exploitability",
        "soonest at",
    ):
        assert words in text


def test_selection_is_written_up(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(methods, "SECOND", BUDGETS[1])
    monkeypatch.setattr(methods, "HUNDRED", 4)
    monkeypatch.setattr(methods, "DEMO_BUDGET", BUDGETS[1])
    monkeypatch.setattr(simpler, "FIGURES", tmp_path / "selection.json")
    monkeypatch.setattr(selection, "LADDER", (4, 8))
    monkeypatch.setattr(selection, "LADDER_SEEDS", 1)
    monkeypatch.setattr(selection, "PICTURE", tmp_path / "selection.svg")
    for slow in ("team", "joint DQN"):
        monkeypatch.delitem(methods.METHODS, slow)
    for cached in (methods.bench, methods._evidence):
        cached.cache_clear()
    hundred, rungs = methods.at_a_hundred(shipped.GAMES, seeds=2), selection.rungs()
    with ThreadPoolExecutor(1) as executor:
        (first, again) = (methods.choices(hundred, executor, tmp_path / "kept.jsonl") for _ in range(2))
        ladder = methods.judged(methods.choices(rungs, executor, tmp_path / "kept.jsonl"))
        demo = methods.judged(methods.choices(methods.as_the_demo(2), executor, tmp_path / "kept.jsonl"))
    assert first == again
    made = {*hundred, *rungs, *methods.as_the_demo(2)}
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == len(made)
    every = ladder[(ladder["evaluations"] == 8) & (ladder["method"] == "random search")]
    assert (every["regret"].abs() < 0.2).all()  # it measures all algorithms, but with one run each
    selection.report(methods.judged(first), ladder, demo)
    text = capsys.readouterr().out
    for words in (
        "# Selection",
        "## What to take",
        "## 4 evaluations of 336",
        "## 24 evaluations of 8, as in `make demo`",
        "## Games never met",
        "By reward weights, over all",
        "By budget, over all",
    ):
        assert words in text
    kept = json.loads((tmp_path / "selection.json").read_text())
    assert kept["demo"]["no network"] == round(demo[demo["method"] == "no network"]["normalised_score"].mean(), 4)
    assert set(kept["ladder"]["no network"]) == {"4", "8"}
    assert [one["reward weights"] for one in kept["unseen games"]["preset"]] == list(PRESETS)
    assert [one["budget"] for one in kept["unseen games"]["budget"]] == list(map(str, BUDGETS))
    assert "<!-- share of choices above it, 4 evaluations -->" in (tmp_path / "selection.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("results", "table", "leduc"), "'leduc' is not among the measured games, kuhn, goofspiel"),
        (("results", "table", "--iterations", "1000"), "for 1000 iterations; the shortest run reached only 100: give"),
        (("results", "table", "--catalog", "tabular"), "it has the catalogs paper, tabular and extended-tabular"),
        (("results", "report", "/dev/null/page.html"), "can't write"),
        (("reproduce", "zinkevich"), "'zinkevich' is not an experiment; choose one of ddcfr"),
    ],
)
def test_what_can_not_be_answered_is_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert message in err


def test_a_package_without_its_data_says_what_to_do(data, monkeypatch, tmp_path):
    monkeypatch.setattr(shipped, "DATA", tmp_path)
    for cached in (shipped.load_team, shipped.results, shipped.public_results):
        cached.cache_clear()
    with pytest.raises(RLCCFRError, match=r"has no paper.parquet; make measurements of your own"):
        recommend("kuhn")
    with pytest.raises(RLCCFRError, match=r"has no team-kuhn.npz; make measurements of your own"):
        recommend("kuhn", catalog=SMALL)


def test_the_table_asks_one_team_for_all_games_with_a_public_tree(run):
    code, out, _ = run("table", *PUBLIC_GAMES)
    assert code == 0
    picks = [line.removeprefix("not converged").split() for line in out.splitlines()[1:]]
    assert [(line[0], " ".join(line[1:3])) for line in picks] == [
        (game, str(budget)) for budget in BUDGETS for game in PUBLIC_GAMES
    ]
    team = shipped.team("bluff")
    assert team.env.games == PUBLIC_GAMES
    first = team.pick(PUBLIC_GAMES[0], BUDGETS[0], PRESETS["accuracy"])
    assert picks[0][5:8] == list(first)


def test_the_papers_figures_are_drawn(data, tmp_path):
    from rlccfr.agents.judging.reproduction import PANELS, draw

    path = tmp_path / "figure.svg"
    pick = shipped.team("kuhn").pick("kuhn", BUDGETS[-1], PANELS[0].preset)
    draw(PANELS[0], shipped.results(), SMALL, pick, path)
    drawn = path.read_text()
    for text in ("Figure 2: kuhn, weights paper-kuhn", "iterations", "exploitability (NashConv / 2)", "ES-MCCFR"):
        assert f"<!-- {text} -->" in drawn
