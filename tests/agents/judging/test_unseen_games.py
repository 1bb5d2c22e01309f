from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from rlccfr.agents.judging.unseen_games import judged, kind_of, regrets_in_words, summary
from rlccfr.catalog import Catalog, Cell
from rlccfr.catalog.families import TRAIN
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS

BUDGET = Budget("iterations", 100)
CATALOG = Catalog(("cfr", "dcfr"), ("none",), ("none",))
UNIFORM = 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "kind"),
    [
        ("kuhn(cards=7)", "unseen member"),
        ("leduc", "unseen member"),
        ("leduc_poker", "unseen member"),
        ("leduc(ranks=4,suits=2,raises=1)", "unseen member"),
        ("leduc(ranks=4, suits=1, raises=1)", "training game"),
        ("kuhn", "training game"),
        ("dark_hex(board_size=2)", "unseen family"),
        ("royal", "hundredfold larger"),
    ],
)
def test_kinds_of_games(game, kind):
    assert kind_of(game, TRAIN) == kind


@pytest.mark.slow
def test_a_family_that_was_left_out_is_unseen():
    assert kind_of("kuhn(cards=7)", [game for game in TRAIN if not game.startswith("kuhn")]) == "unseen family"


def table(exploitabilities):
    rows = [
        {
            "game": game, **Cell(rule, "none", "none")._asdict(), "budget_unit": "iterations", "budget_amount": 100.0,
            "deterministic": True, "exploitability": x, "uniform_exploitability": UNIFORM, "throughput": 1e3,
            "reference_throughput": 1e3, "cpu_seconds": 2.0,
        }
        for game, pair in exploitabilities.items()
        for rule, x in zip(CATALOG.update_rules, pair, strict=True)
    ]  # fmt: skip
    return TableEvaluator(pd.DataFrame(rows))


def test_regret_of_the_pick_and_of_the_single_best_of_the_games_learned_from():
    """On the training game cfr is best. On the tested game the pick, dcfr, is better by four of 8 decades."""
    results = table({"kuhn(cards=3)": (1e-4, 1e-3), "kuhn(cards=7)": (1e-1, 1e-5)})
    cell = Cell("dcfr", "none", "none")
    team = SimpleNamespace(games=("kuhn(cards=3)",), catalog=CATALOG, pick=lambda *_: cell, left=lambda budget: budget)
    (row,) = judged(team, results, ["kuhn(cards=7)"], [BUDGET], [PRESETS["accuracy"]]).to_dict("records")
    assert row == {
        "game": "kuhn(cards=7)", "kind": "unseen member", "histories": 386, "budget": "100 iterations",
        "preset": "accuracy", "pick": 0.0, "SBS": pytest.approx(4 / 8),
        "single_best": "cfr x none x none", "measuring": 4.0,
    }  # fmt: skip


@pytest.mark.slow
def test_the_summary_takes_games_as_wholes():
    rows = pd.DataFrame(
        [
            {"game": game, "kind": kind, "preset": preset, "pick": pick, "SBS": single}
            for game, kind, pick, single in (
                *((f"a{number}", "unseen member", 0.1, 0.1 + 0.1 * number) for number in range(5)),
                ("b", "hundredfold larger", 0.2, 0.1),
            )
            for preset in ("x", "y")
        ]
    )
    found = summary(rows)
    assert found["unseen member"]["games"] == 5
    assert found["unseen member"]["gain"] == pytest.approx(0.2)
    # The mean of five draws from 0, 0.1, 0.2, 0.3 and 0.4 has standard deviation 0.1 * sqrt(2 / 5).
    assert found["unseen member"]["gain to"] == pytest.approx(0.2 + 1.96 * 0.1 * math.sqrt(2 / 5), abs=0.015)
    assert found["unseen member"]["gain from"] == pytest.approx(0.2 - 1.96 * 0.1 * math.sqrt(2 / 5), abs=0.015)
    assert found["hundredfold larger"]["gain"] == pytest.approx(-0.1)
    assert "gain from" not in found["hundredfold larger"]  # a single game gives no interval
    assert found["all"]["games"] == 6
    assert found["all"]["gain"] == pytest.approx(0.9 / 6)
    assert "all" not in summary(rows[rows["kind"] == "unseen member"])
    members = rows[rows["kind"] == "unseen member"]
    assert "on 5 such games" in regrets_in_words(members, "unseen member")
    assert "0.100 less reward than the best" in regrets_in_words(members, "unseen member")
    assert regrets_in_words(members[:0], "unseen family") == "the regret of such picks was not measured (unseen family)"
