from __future__ import annotations

import io
import json
import math

import matplotlib as mpl
import pandas as pd
import pytest

from rlccfr.agents import RecommendationTable
from rlccfr.agents.judging.recommendation_table import COLUMNS
from rlccfr.errors import RLCCFRError

mpl.use("agg")
ROWS = [
    ("kuhn", "1000 iterations", "accuracy", "log", "team", "dcfr", "none", "none", 1.23456e-5, 2109079.0, 1.5, 0.75,
     0.0, 1.0, 1.0, True, 45, True, 24, 1.5),
    ("a|b", "1 seconds", "accuracy", "log", "CFR", "cfr", "none", "none", 0.5, 12.345678, 0.25, 0.1, math.nan, math.nan,
     math.nan, False, 45, False, 0, 0.0),
]  # fmt: skip


@pytest.fixture
def table():
    return RecommendationTable(pd.DataFrame(ROWS, columns=list(COLUMNS)))


def test_picks_are_the_teams_rows(table):
    assert list(table.picks.game) == ["kuhn"]


def test_markdown(table):
    header, rule, first, second = table.to_markdown().splitlines()
    assert header.startswith("| game | budget | preset | scale | method | update_rule |")
    assert rule == "| " + " | ".join(["---"] * len(COLUMNS)) + " |"
    assert "| 1.235e-05 | 2,109,079 | 1.5 | 0.75 | 0 | 1 | 1 | yes | 45 | yes | 24 | 1.5 |" in first
    assert second.startswith(r"| a\|b |")
    assert "| - | - | - | no | 45 | not converged | 0 | 0 |" in second
    untold = RecommendationTable(table.frame.assign(in_tied_set=[None, True], tied_set_size=[None, 45]))
    assert "| 1 | - | - | yes | 24 |" in untold.to_markdown().splitlines()[2]


def test_csv_keeps_the_numbers(table):
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(table.to_csv())), table.frame)


def test_html_is_one_table_with_escaped_text(table):
    text = RecommendationTable(table.frame.assign(game=["kuhn", "<b>"])).to_html()
    assert text.count("<tr") == 3
    assert "not converged" in text
    assert "&lt;b&gt;" in text


def test_latex_escapes_text_and_writes_powers_of_ten(table):
    rows = RecommendationTable(table.frame.assign(game=["kuhn", r"50% #1 a\b{c}_~^&$"])).to_latex().splitlines()
    assert rows[:2] == [r"\begin{tabular}{lllllllrrrrr}", r"\toprule"]
    assert rows[2].startswith("game & budget & preset & method & update rule & ")
    assert r" & $1.235 \cdot 10^{-5}$ & 2,109,079 & 1.5 & 0.75 & 0 \\" in rows[4]
    assert rows[5].startswith(
        r"50\% \#1 a\textbackslash{}b\{c\}\_\textasciitilde{}\textasciicircum{}\&\$ & 1 seconds & "
    )
    assert rows[6:] == [r"\bottomrule", r"\end{tabular}"]
    assert all(row.count(" & ") == 11 for row in rows[4:6])


def test_rows_are_plain_json(table):
    rows = json.loads(table.to_json())
    assert rows == table.to_rows()
    assert set(rows[0]) == set(COLUMNS)
    assert rows[0]["exploitability"] == 1.23456e-5
    assert rows[0]["converged"] is True
    assert rows[1]["regret"] is None
    tiny = RecommendationTable(table.frame.assign(exploitability=3.2345678901e-14))
    assert json.loads(tiny.to_json())[0]["exploitability"] == 3.2345678901e-14


@pytest.mark.parametrize("suffix", [".md", ".csv", ".html", ".json", ".tex"])
def test_write_goes_by_the_suffix(table, tmp_path, suffix):
    path = table.write(tmp_path / "new" / f"table{suffix}")
    names = {".md": "markdown", ".csv": "csv", ".html": "html", ".json": "json", ".tex": "latex"}
    text = getattr(table, f"to_{names[suffix]}")()
    assert path.read_text().rstrip("\n") == text.rstrip("\n")


def test_an_unknown_suffix_is_an_error(table, tmp_path):
    with pytest.raises(RLCCFRError, match=r"\.md, \.csv"):
        table.write(tmp_path / "table.xlsx")


def test_regrets_have_a_line_for_each_question_and_a_mark_for_each_method():
    rows = [
        {"game": "kuhn", "budget": budget, "preset": "accuracy", "method": method, "regret": regret}
        for budget in ("10 iterations", "20 iterations")
        for method, regret in (("team", 0.01), ("VBS", 0.0), ("CFR", 0.3), ("DCFR", float("nan")))
    ]
    axes = RecommendationTable(pd.DataFrame(rows, columns=list(COLUMNS))).plot()
    assert axes.get_title() == "Shortfall of each method's pick from the best algorithm"
    assert [line.get_label() for line in axes.lines] == ["team", "VBS", "CFR"]
    assert axes.lines[1].get_xdata().tolist() == [1e-4, 1e-4]
    assert len(axes.get_yticklabels()) == 2
