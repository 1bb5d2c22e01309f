"""``rlccfr solve --against``."""

from __future__ import annotations

import json

import pytest
from support import game

import rlccfr


@pytest.mark.parametrize("name", ["kuhn", "holdem(ranks=3,suits=2,private=1,flop=1)"])
def test_best_responses_to_a_policy_are_written_and_told(run, tmp_path, name):
    file = tmp_path / "best.npz"
    code, out, err = run("solve", name, "--against", "uniform", "--policy", str(file), "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    tree = game(name)
    uniform = rlccfr.game.policy_class(tree).uniform(tree)
    assert found["exploitability"] == pytest.approx(uniform.exploitability())
    assert sum(found["gain"]) == pytest.approx(2 * uniform.exploitability())
    assert [state["gain"] for state in found["gains_by_state"]] == [gain.gain for gain in uniform.gains_by_state(10)]
    response = type(uniform).load(file, tree)
    assert response.against(uniform).seats == pytest.approx(found["best_response_value"])


def test_gains_are_in_each_players_own_payoffs(run, tmp_path):
    """Player 1 of this game gets three times what player 0 loses."""
    file = tmp_path / "scaled.efg"
    file.write_text(
        'EFG 2 R "scaled" { "one" "two" } ""\n'
        'p "" 1 1 "" { "a" "b" } 0\n'
        'p "" 2 1 "" { "l" "r" } 0\nt "" 1 "" { 1, -3 }\nt "" 2 "" { -1, 3 }\n'
        'p "" 2 1 "" { "l" "r" } 0\nt "" 3 "" { -1, 3 }\nt "" 4 "" { 2, -6 }\n'
    )
    code, out, _ = run("solve", str(file), "--against", "uniform", "--json")
    found = json.loads(out)
    assert code == 0
    # Against an even choice, player 0 gets 0 by a and 1/2 by b; player 1 loses 0 by l and 3/2 by r.
    assert found["value"] == pytest.approx([0.25, -0.75])
    assert found["gain"] == pytest.approx([0.25, 0.75])
    assert {state["player"]: state["gain"] for state in found["gains_by_state"]} == pytest.approx({0: 0.25, 1: 0.75})


def test_the_states_where_most_is_gained_are_named(run):
    lines = [line.split() for line in run("solve", "kuhn", "--against", "uniform")[1].splitlines()]
    heading = lines.index(["player", "gain", "share", "state"])
    assert lines[heading + 1] == ["1", "0.25", "46.2%", "K,", "moves:", "bet"]
    assert len(lines) == heading + 11  # ten states


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--iterations", "5"), "--against finds best responses, which takes no --iterations"),
        (("--update-rule", "dcfr"), "--against finds best responses, which takes no --update-rule"),
    ],
)
def test_a_run_is_not_asked_for_as_well(run, arguments, message):
    code, out, err = run("solve", "kuhn", "--against", "uniform", *arguments)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message}")
