"""A race runs the recommended algorithm beside the best of other games, and names the winner."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import rlccfr
from rlccfr.agents.shipped import race as racing
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
    assert max(Counter(cell.sampler for cell in found).values()) <= racing.ALIKE + racing.WINNERS


@pytest.mark.slow
def test_those_that_did_best_elsewhere_run():
    found = runners("leduc(ranks=4)", SLOW, SECOND, ACCURACY)
    means = racing._mean_worths(SECOND, ACCURACY)
    winners = racing._winners(SECOND, ACCURACY)
    assert found[1:3] == winners[: racing.WINNERS]
    assert winners[0] == rlccfr.recommend("leduc").cell  # among them are algorithms that the means do not know
    assert winners[0] not in means
    others = [cell for cell in means if cell.sampler == found[3].sampler]
    assert found[3] == max(others, key=means.__getitem__)
    fast = PRESETS["paper-speed"]
    assert racing._mean_worths(SECOND, fast) != means  # the weights count


@pytest.mark.slow
def test_the_best_reward_comes_first(monkeypatch):
    others = [Cell("cfr", "none", "none"), Cell("dcfr", "none", "none"), Cell("cfr", "external", "none")]
    cells, shares = [SLOW, *others], []
    monkeypatch.setattr(racing, "runners", lambda *_: cells)
    table = race("kuhn(cards=4)", SLOW, 0.02, ACCURACY, LiveEvaluator(), progress=shares.append)
    assert list(table) == ["cell", "seconds", "exploitability", "throughput", "reward", "converged"]
    assert table["seconds"].tolist() == [0.005, 0.005, 0.0025, 0.0025]
    for rows in (table[: racing.FINALISTS], table[racing.FINALISTS :]):
        ranks = list(zip(rows["converged"], rows["reward"], strict=True))
        assert ranks == sorted(ranks, reverse=True)
    assert set(table["cell"]) == set(cells)
    assert shares == pytest.approx([0.125, 0.25, 0.375, 0.5, 0.75, 1.0])


def test_what_can_not_run_leaves_the_race(monkeypatch):
    broken, sound = Cell("hedge", "public_chance", "none"), Cell("cfr", "none", "none")
    monkeypatch.setattr(racing, "runners", lambda *_: [broken, sound])
    assert race("bluff(dice=1)", broken, 0.01, ACCURACY, LiveEvaluator())["cell"].tolist() == [sound]
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
    assert found.budget == Budget("seconds", 0.005)
    assert "the best of 8 algorithms that ran on this game for 0.02 CPU seconds in all, the last of them for" in str(
        found
    )
    json.dumps(found.to_row(), allow_nan=False)


def test_a_race_needs_one_budget():
    for wrong in (-1, "0.02s", float("nan")):
        with pytest.raises(rlccfr.RLCCFRError):
            rlccfr.recommend("kuhn(cards=4)", measure=wrong)
    with pytest.raises(rlccfr.RLCCFRError, match="measure is a budget itself"):
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
    assert len(out.split("kuhn(cards=4), 0.005 seconds")[0].splitlines()) == 9
    assert "run it: rlccfr solve" in out
    assert run("recommend", "kuhn(cards=4)", "--measure", "0.02s")[1] == out  # kept, and not measured again
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
