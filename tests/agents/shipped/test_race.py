"""A race runs the recommended algorithm beside the best of other games, and names the winner."""

from __future__ import annotations

import json
import math
from collections import Counter

import pytest

import rlccfr
from rlccfr.agents.shipped import race as racing
from rlccfr.agents.shipped import unmeasured
from rlccfr.agents.shipped.race import race, runners
from rlccfr.catalog import Catalog, Cell
from rlccfr.envs import Budget, LiveEvaluator
from rlccfr.envs.reward import PRESETS

ACCURACY = PRESETS["accuracy"]
SLOW = Cell("cfr", "outcome", "none")
SECOND = Budget("seconds", 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["leduc(ranks=4)", "bluff"])
def test_the_favourite_runs_beside_different_ones(game):
    found = runners(game, SLOW, SECOND, ACCURACY)
    assert found[0] == SLOW
    assert len(set(found)) == len(found) == racing.RUNNERS
    if game == "bluff":  # no team has learned from such games, so only the sampler limits who follows the favourite
        assert max(Counter(cell.sampler for cell in found[1:]).values()) <= racing.ALIKE


@pytest.mark.slow
def test_those_that_did_best_elsewhere_run():
    found = runners("leduc(ranks=4)", SLOW, SECOND, ACCURACY)
    means = unmeasured.mean_worths(SECOND, ACCURACY)
    winners = racing._winners(SECOND, ACCURACY)
    assert found[1:3] == winners[: racing.WINNERS]
    assert winners[0] == rlccfr.recommend("leduc").cell  # among them are algorithms that the means do not know
    assert winners[0] not in means
    favourites = unmeasured.prior().team.ranked("leduc(ranks=4)", SECOND, ACCURACY)[: racing.FAVOURITES]
    assert set(favourites) <= set(found)
    fast = PRESETS["paper-speed"]
    assert unmeasured.mean_worths(SECOND, fast) != means  # the weights count


@pytest.mark.slow
def test_the_best_reward_comes_first(monkeypatch):
    others = [Cell("cfr", "none", "none"), Cell("dcfr", "none", "none"), Cell("cfr", "external", "none")]
    cells, shares = [SLOW, *others], []
    monkeypatch.setattr(racing, "runners", lambda *_: cells)
    result = race("kuhn(cards=4)", SLOW, 0.02, ACCURACY, LiveEvaluator(keep_runs=4), progress=shares.append)
    table = result.table
    assert list(table) == ["cell", "seconds", "exploitability", "throughput", "reward", "converged"]
    assert table["seconds"].is_monotonic_decreasing
    assert table["seconds"].iloc[0] == table["seconds"].iloc[1] == pytest.approx(racing.final_seconds(0.02))
    for _, rows in table.groupby("seconds"):
        ranks = list(zip(rows["converged"], rows["reward"], strict=True))
        assert ranks == sorted(ranks, reverse=True)
    assert set(table["cell"]) == set(cells)
    assert result.default_exploitability < 0.01
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.slow
def test_a_catalog_leaves_the_default_run_out():
    catalog, shares = Catalog(("cfr",), ("none",), ("none",)), []
    result = race(
        "kuhn(cards=4)", Cell("cfr", "none", "none"), 0.01, ACCURACY, LiveEvaluator(), within=catalog,
        progress=shares.append,
    )  # fmt: skip
    assert math.isnan(result.default_exploitability)
    assert shares[-1] == pytest.approx(1.0)


def test_what_can_not_run_leaves_the_race(monkeypatch):
    broken, sound = Cell("hedge", "public_chance", "none"), Cell("cfr", "none", "none")
    monkeypatch.setattr(racing, "runners", lambda *_: [broken, sound])
    assert race("bluff(dice=1)", broken, 0.01, ACCURACY, LiveEvaluator()).table["cell"].tolist() == [sound]
    monkeypatch.setattr(racing, "runners", lambda *_: [broken])
    with pytest.raises(rlccfr.RLCCFRError, match=r"no algorithm of the race could run on .*: hedge x public_chance"):
        race("bluff(dice=1)", broken, 0.01, ACCURACY, LiveEvaluator())


@pytest.mark.slow
def test_python_recommends_the_winner():
    plain = rlccfr.recommend("kuhn(cards=4)")
    assert plain.race is None
    found = rlccfr.recommend("kuhn(cards=4)", measure=0.02)
    assert found.basis == "raced"
    assert found.cell == found.race.iloc[0]["cell"]
    assert found.figures["exploitability"] == found.race.iloc[0]["exploitability"]
    assert found.budget.amount == pytest.approx(racing.final_seconds(0.02))
    assert (
        "the best of 8 algorithms that ran on this game for at most 0.02 CPU seconds in all, the last of them for"
        in str(found)
    )
    json.dumps(found.to_row(), allow_nan=False)


def test_a_race_needs_one_budget():
    for wrong in (-1, "0.02s", float("nan")):
        with pytest.raises(rlccfr.RLCCFRError):
            rlccfr.recommend("kuhn(cards=4)", measure=wrong)
    with pytest.raises(rlccfr.RLCCFRError, match="measure sets the budget"):
        rlccfr.recommend("kuhn(cards=4)", SECOND, measure=0.02)


@pytest.mark.slow
def test_a_catalog_holds_for_the_race():
    catalog = Catalog(("cfr", "cfr_plus"), ("none",), ("none",))
    found = runners("leduc(ranks=4)", Cell("cfr", "none", "none"), SECOND, ACCURACY, catalog)
    assert set(found) == set(catalog)


@pytest.mark.slow
def test_the_command_shows_the_race(run):
    code, out, _ = run("recommend", "kuhn(cards=4)", "--measure", "0.02s")
    assert code == 0
    assert "algorithm" in out.splitlines()[0]
    assert len(out.split("kuhn(cards=4), 0.00")[0].splitlines()) == 9
    assert "in as much time, the iterations of `rlccfr solve --seconds` reached" in out
    assert "run it: rlccfr solve" in out
    again = run("recommend", "kuhn(cards=4)", "--measure", "0.02s")[1]
    assert again.partition(";")[0] == out.partition(";")[0]  # kept, and not measured again
    rows = json.loads(run("recommend", "kuhn(cards=4)", "--measure", "0.02", "--json")[1])["race"]
    assert [set(row) for row in rows] == [
        {"update_rule", "sampler", "abstraction", "seconds", "exploitability", "throughput", "reward", "converged"}
    ] * 8


@pytest.mark.slow
def test_a_race_on_poker_tells_thousandths_of_a_big_blind(run):
    out = run("recommend", "holdem(ranks=4,suits=2,private=1,flop=1)", "--measure", "0.02s")[1]
    header, first = (line.split() for line in out.splitlines()[:2])
    assert header == ["algorithm", "seconds", "exploitability", "mbb/g", "iterations/s", "reward", "converged"]
    exploitability, mbb = map(float, first[-5:-3])
    assert mbb == pytest.approx(1000 * exploitability / rlccfr.load_game("holdem").big_blind, rel=0.01)


def test_the_command_refuses_other_budgets(run):
    for arguments in (("--measure", "x"), ("--measure", "0"), ("--measure", "1s", "--seconds", "1")):
        code, _, err = run("recommend", "kuhn", *arguments)
        assert code == 1
        assert "--measure" in err
