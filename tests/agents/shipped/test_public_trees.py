"""What the package says of games with a public tree, by a small version of its measurements."""

from __future__ import annotations

from statistics import fmean

import pytest
from small_package import BUDGETS, PUBLIC, PUBLIC_GAMES, SMALL, public_package

from rlccfr.agents import shipped
from rlccfr.agents.baselines.best import single_best, virtual_best
from rlccfr.agents.baselines.task import Task
from rlccfr.agents.judging.evidence import Evidence
from rlccfr.agents.shipped.advice import recommend
from rlccfr.envs.reward import PRESETS
from rlccfr.errors import GameError, RLCCFRError

pytestmark = pytest.mark.slow

SMALL_HOLDEM = PUBLIC_GAMES[0]


@pytest.fixture(scope="module", autouse=True)
def data(tmp_path_factory):
    with public_package(tmp_path_factory.mktemp("data")):
        yield


def worths(game, part, preset="accuracy"):
    task = Task(shipped.public_results(), PUBLIC, game, BUDGETS[-1], PRESETS[preset])
    evidence = Evidence.measured(task.evaluator, PUBLIC, game, BUDGETS[-1])
    return task.worths(getattr(evidence, part))


def test_a_measured_game_is_known_by_all_of_its_names():
    assert shipped.name_of("holdem(flop=1,private=1,suits=2,ranks=3,raises=1)") == SMALL_HOLDEM
    assert shipped.name_of("bluff(dice=1)") == "bluff"
    assert shipped.name_of("holdem(ranks=3)") is None
    assert shipped.name_of("kuhn_poker") == "kuhn"
    with pytest.raises(GameError, match="'dices'"):
        shipped.name_of("bluff(dices=1)")


def test_the_best_measured_algorithm_is_named_for_the_longest_budget():
    found = recommend("bluff(dice=1)")
    chosen = worths("bluff", "choosing")
    assert found.budget == BUDGETS[-1]
    assert chosen[found.cell] == max(chosen.values())
    assert found.basis == "best measured"
    assert f"the best of {len(PUBLIC)} algorithms measured for {BUDGETS[-1]}" in found.why
    assert "`--catalog paper`" not in found.why


@pytest.mark.parametrize("preset", ["accuracy", "paper-leduc", "paper-speed"])
def test_another_game_gets_the_best_on_average_with_the_regret_of_such_picks(preset):
    found = recommend("holdem(ranks=3,private=1,suits=2,flop=2)", preset=preset)
    chosen = {game: worths(game, "choosing", preset) for game in PUBLIC_GAMES}
    assert found.cell == single_best(chosen, "")
    assert found.basis == "single best"
    short = []
    for game, other in zip(PUBLIC_GAMES, reversed(PUBLIC_GAMES), strict=True):
        judged = worths(game, "judging", preset)
        own, elsewhere = (judged[virtual_best(chosen[name])].reward for name in (game, other))
        short.append(own - elsewhere)
    assert f"has on average {fmean(short):.3g} less reward than the game's own best" in found.why
    assert "; chosen as for" not in found.why


def test_a_longer_budget_gets_the_answer_for_the_nearest():
    beyond = recommend("holdem(ranks=4,private=1,suits=2,flop=2)", {"unit": "iterations", "amount": 10**6})
    assert "; chosen as for 100 iterations, the nearest to 1000000 iterations" in beyond.why
    assert beyond.cell == recommend("holdem(ranks=4,private=1,suits=2,flop=2)").cell


def test_catalogs_without_what_runs_there_are_refused():
    with pytest.raises(RLCCFRError, match=r"has no run of .*; it has the catalog public"):
        recommend("bluff", catalog=SMALL)
    with pytest.raises(RLCCFRError, match="the package picks from the catalog public"):
        recommend("holdem(ranks=3,private=1,suits=2,flop=2)", catalog="paper")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("results", "table", "kuhn", "bluff"),
            "'kuhn' and 'bluff' were measured with different algorithms and budgets",
        ),
        (("results", "table", "holdem(ranks=3)"), f"is not among the measured games, {', '.join(PUBLIC_GAMES)}"),
        (("results", "table", "bluff", "--catalog", "tabular"), "it has the catalog public"),
    ],
)
def test_what_can_not_be_answered_is_one_line(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert message in err
