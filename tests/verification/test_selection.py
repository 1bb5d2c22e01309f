"""Choices judged against the truth: 336 algorithms measured on four games, and choosers on games they never met."""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pandas as pd
import pytest

from benchmarks import never_met, teams
from benchmarks.choosers import BY_HALVING
from benchmarks.methods import METHODS, at_a_hundred, bench, choices, judged
from benchmarks.selection import LEAST
from rlccfr.agents import SelectorTeam, shipped
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging.bench import Bench
from rlccfr.agents.judging.evidence import ChoosingRuns, Evidence
from rlccfr.agents.judging.recommendation_table import SBS
from rlccfr.agents.judging.unseen_games import ALL, LARGER, MEMBER, PICK, TRAINED, kind_of, summary
from rlccfr.agents.shipped import unmeasured
from rlccfr.agents.team.pretraining import train_on_table
from rlccfr.catalog import Catalog, Cell
from rlccfr.catalog.families import TEST, TRAIN, VALIDATION
from rlccfr.envs.episode import EpisodeSpec
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.reward import PRESETS
from rlccfr.envs.sweeping.plan import Job, Limits, jobs
from rlccfr.envs.sweeping.worker import measure, prepare

pytestmark = pytest.mark.verify


def test_every_run_of_the_measurement_is_there(figures):
    """The shipped measurement has each catalog's runs with each seed and no others; the table tells how they ended."""
    table = shipped.results()
    catalogs = (shipped.catalog(), Catalog.extended_tabular().plus(teams.JOINING), Catalog.schedules())
    rows, missing = [], []
    for game in shipped.GAMES:
        seeds = range(3 if game == "royal" else 5)
        planned = {(job.cell, job.seed) for catalog in catalogs for job in jobs({game: seeds}, catalog)}
        lacking = {(cell, seed) for cell, seed in planned if seed not in table.seeds(game, cell)}
        missing += [(game, *run) for run in lacking]
        statuses = [table.run(game, cell, seed)["status"] for cell, seed in planned - lacking]
        rows.append({"game": game, "runs": len(planned), **pd.Series(statuses).value_counts().to_dict()})
    figures("The measurement that comes with the package", rows)
    assert not missing
    frame = table.frame()
    assert set(frame["game"]) == set(shipped.GAMES)
    assert len(set(frame["engine_version"])) == len(set(frame["processor"])) == 1
    further = len(table) - sum(row["runs"] for row in rows)  # further seeds of models that are close to the best
    later = frame[frame["seed"] > 1]
    cells = zip(later["game"], *(later[axis] for axis in Cell._fields), strict=True)
    assert further == sum(Job(game, Cell(*cell), 0, Limits()).learns for game, *cell in cells)


def test_shipped_teams_pick_what_is_best(figures):
    rows = []
    for game in shipped.GAMES:
        trained = shipped.team(game)
        untrained = SelectorTeam(
            game, shipped.BUDGETS, preset=tuple(PRESETS.values()), catalog=shipped.catalog(), seed=1,
            hyperparameters=trained.hyperparameters, evaluator=ChoosingRuns(shipped.results()),
        )  # fmt: skip
        for budget in shipped.BUDGETS:
            for preset in PRESETS:
                judge = bench(game, preset, budget)
                found = {
                    name: judge.row(name, team.pick(game, budget, preset), 0, 0.0)
                    for name, team in (("trained", trained), ("untrained", untrained))
                }
                pick, other = found["trained"], found["untrained"]
                rows.append(
                    {"game": game, "budget": str(budget), "preset": preset,
                     "pick": str(Cell(*(pick[axis] for axis in Cell._fields))), "regret": pick["regret"],
                     "tied": pick["in_tied_set"], "untrained": other["regret"], "untrained tied": other["in_tied_set"]}
                )  # fmt: skip
    figures(
        "Picks of the shipped teams among 336 measured algorithms", rows,
        "Regret in the mean reward, by the judging seeds; a deterministic algorithm has one run, and is judged by its "
        f"second timing. It must be at most {LEAST}, or the pick tied with the best.",
        picks_missed(rows),
    )  # fmt: skip
    assert not [row for row in rows if row["regret"] > LEAST and not row["tied"]]
    for _, own in pd.DataFrame(rows).groupby("game"):  # an untrained team fails this
        assert ((own["untrained"] > LEAST) & ~own["untrained tied"].astype(bool)).any()
        assert own["untrained"].mean() > max(LEAST, own["regret"].mean())


def picks_missed(rows):
    missed = sum(row["regret"] > LEAST and not row["tied"] for row in rows)
    return f"{missed} of {len(rows)} picks have a regret above {LEAST} and are not tied with the best, none allowed"


@pytest.mark.parametrize("game", shipped.GAMES)
def test_a_hundred_evaluations_of_336(game, figures):
    """Choices that the same code made before on the same measurements are used again; the others are made now."""
    with ThreadPoolExecutor(1) as executor:
        rows = judged(choices(at_a_hundred([game]), executor))
    means = rows.pivot_table(index="preset", columns="method", values="regret")
    figures(
        f"A hundred evaluations of 336 algorithms on {game}, one CPU second: mean regret over ten seeds",
        means.reset_index()[["preset", *METHODS]].to_dict("records"),
        summary=team_beside(means),
    )
    team = means["team"].mean()
    assert all(team <= means[method].mean() for method in BESIDE_THE_TEAM)


BESIDE_THE_TEAM = ("random search", "successive halving", "joint DQN")


def team_beside(means):
    methods = ", ".join(f"{method} {means[method].mean():.3g}" for method in BESIDE_THE_TEAM)
    return f"the team's mean regret is {means['team'].mean():.3g}, gate at most that of each of: {methods}"


PREDICTIVE = {"pcfr_plus", "pdcfr_plus", "hs_pcfr_plus"}
DISCOUNTED = {"dcfr", "dcfr_plus", "hs_dcfr"}
THOUSAND = Budget("iterations", 1000)


@pytest.mark.parametrize(
    ("game", "kind"), [("kuhn", PREDICTIVE), ("goofspiel", PREDICTIVE), ("leduc", DISCOUNTED), ("royal", DISCOUNTED)]
)
def test_the_extended_catalog_has_what_the_peers_show(game, kind, figures):
    """After 1,000 iterations a team picks predictive rules on Kuhn and Goofspiel, discounted rules on the others."""
    catalog, preset = Catalog.extended_tabular(), PRESETS["accuracy"]
    team = train_on_table(EpisodeSpec.parse(game, budget=THOUSAND, catalog=catalog, evaluator=shipped.results()))
    evidence = {game: Evidence.measured(shipped.results(), catalog, game, THOUSAND)}
    judge = Bench(Task(shipped.results(), catalog, game, THOUSAND, preset), evidence)
    row = judge.row("team", team.pick(game, THOUSAND, preset), 0, 0.0)
    best = next(one for one in judge.exhaustive_rows() if one["method"] == "VBS")
    shown = (*Cell._fields, "exploitability", "regret", "in_tied_set")
    figures(
        f"The extended catalog's {len(catalog)} tabular algorithms on {game}, 1,000 iterations, under accuracy",
        [{"who": who, **{name: one[name] for name in shown}} for who, one in (("team", row), ("best of all", best))],
    )
    assert row["update_rule"] in kind


@pytest.mark.alone
def test_ten_runs_again(figures):
    """Ten shipped runs, drawn at random and made twice, have the same exploitability, and their speed within 25 %.

    The two new runs agree bit for bit. So do the new and the shipped run of an algorithm that draws nothing, if the
    processor is the same.
    """
    frame = shipped.results().frame()
    same = set(frame["processor"]) == {processor_model()}
    rows = []
    for _, run in frame[frame["status"] == "ok"].sample(10, random_state=0).iterrows():
        cell = Cell(*(run[axis] for axis in Cell._fields))
        job = Job(run["game"], cell, int(run["seed"]), Limits(int(run["iterations"]), 0.0, timeout=math.inf))
        row = {"game": run["game"], "cell": str(cell), "seed": run["seed"], "draws nothing": bool(run["deterministic"])}
        for when, one in (
            ("shipped", run),
            ("again", in_a_process_of_its_own(job)),
            ("twice", in_a_process_of_its_own(job)),
        ):
            row[when] = one["exploitability"]
            row[f"speed {when}"] = one["throughput"] / one["reference_throughput"]
        rows.append(row)
    near = near_in_speed(rows)
    where = "the same processor as" if same else "another processor than"
    note = f"On {where} the shipped measurement; {len(near)} of {len(rows)} speeds are within 25 % of the shipped ones."
    figures("Ten runs of the shipped measurement, repeated", rows, note, speeds_near(rows))
    for row in rows:
        assert row["twice"] == row["again"]
        assert row["speed twice"] == pytest.approx(row["speed again"], rel=0.25)
        assert row["again"] == (
            row["shipped"] if same and row["draws nothing"] else pytest.approx(row["shipped"], rel=1e-6)
        )
    assert len(near) == len(rows)


def near_in_speed(rows):
    return [row for row in rows if row["speed again"] == pytest.approx(row["speed shipped"], rel=0.25)]


def speeds_near(rows):
    return f"{len(near_in_speed(rows))} of {len(rows)} speeds are within 25 % of the shipped ones, gate all"


def in_a_process_of_its_own(job):
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=prepare) as pool:
        return pool.submit(measure, job).result()


@pytest.mark.parametrize(("which", "games"), [("all", (*VALIDATION, *TEST)), ("for test", TEST)])
def test_games_never_met(figures, which, games):
    """What `recommend` asks has learned from small games, and is compared with the SBS of these."""
    rows = of_the_best_chooser(games)
    found = summary(rows)
    shown = [{"kind": kind, **one} for kind, one in found.items()]
    title = f"Regret of {BY_HALVING} on games that it has not learned from, {which}"
    figures(title, shown, summary=gains_of(shown))
    for kind in (MEMBER, LARGER):
        assert found[kind][PICK] <= found[kind][SBS]
    together = summary(rows[rows["kind"].isin([MEMBER, LARGER])])[ALL]
    assert found[ALL]["gain from"] > 0
    assert together["gain from"] > 0


def gains_of(rows):
    gains = ", ".join(f"{row['gain']:.2g} on {row['kind']}" for row in rows if row["kind"] in (MEMBER, LARGER, ALL))
    low = next(row["gain from"] for row in rows if row["kind"] == ALL)
    return f"gain over the single best: {gains}; gate 0. 95 % interval over all from {low:.2g}, gate above 0"


def test_regret_in_decades_is_at_most_a_third_of_the_single_bests(figures):
    """In decades of exploitability, on test games; choosers that do not answer users are told beside."""
    rows = never_met.in_decades()
    figures("Regret in decades of exploitability on test games", rows.to_dict("records"), summary=decades_of(rows))
    ratios = rows.set_index("chooser")["ratio"]
    assert ratios[BY_HALVING] <= never_met.THIRD


def test_under_each_preset_the_regret_is_at_most_a_third_of_the_single_bests(figures):
    rows = never_met.under_each_preset(BY_HALVING)
    title = f"Regret of {BY_HALVING} on test games, under each of the reward weights on its own scale"
    sure = int((rows["gain from"] > 0).sum())
    words = (
        f"at most {rows['ratio'].max():.3g} times the single best's, gate {never_met.THIRD:.2g}; interval of the gain"
    )
    figures(title, rows.to_dict("records"), summary=f"{words} above 0 under {sure} of {len(rows)}, gate all")
    assert (rows["ratio"] <= never_met.THIRD).all()
    assert (rows["gain from"] > 0).all()


def decades_of(rows):
    chooser = BY_HALVING
    ratio = rows.set_index("chooser")["ratio"][chooser]
    return f"{ratio:.3g} times the single best's with {chooser}, gate {never_met.THIRD:.2g}"


def test_without_a_whole_family_choosers_are_no_worse_than_the_single_best(figures):
    rows = never_met.families()
    title = "Regret on the held-out games of families that were left out"
    figures(title, rows.to_dict("records"), summary=families_lost(rows))
    assert (rows[BY_HALVING] <= rows[SBS]).all()


def families_lost(rows):
    chooser = BY_HALVING
    lost = rows.loc[rows[chooser] > rows[SBS], "without"]
    return f"{chooser} is worse than the single best where these families were left out: {', '.join(lost)}; gate: none"


def of_the_best_chooser(games):
    """Return the judgements of what `recommend` asks on these games, under the headline budgets."""
    assert TRAINED not in {kind_of(game, TRAIN) for game in games}
    rows = unmeasured.rows_of(BY_HALVING)
    assert set(rows["game"]) == {*VALIDATION, *TEST}
    return rows[rows["game"].isin(games)]
