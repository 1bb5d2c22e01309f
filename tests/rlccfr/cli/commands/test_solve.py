"""``rlccfr solve --against`` and ``rlccfr solve --lock``."""

from __future__ import annotations

import json

import pytest
from subgames import RIVER
from support import game

import rlccfr


@pytest.mark.slow
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
        (("--iterations", "5"), "--against finds best responses, so --iterations can't be given with it"),
        (("--update-rule", "dcfr"), "--against finds best responses, so --update-rule can't be given with it"),
    ],
)
def test_a_run_is_not_asked_for_as_well(run, arguments, message):
    code, out, err = run("solve", "kuhn", "--against", "uniform", *arguments)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message}")


LOCK = {"0": [0.5, 0.5], "2b": {"Bet": 1}}


@pytest.mark.parametrize(
    "way", [(), ("--exact",), ("--update-rule", "dcfr"), ("--iterations", "300"), ("--target", "1e-3", "--control")]
)
def test_every_way_to_solve_takes_a_lock(run, tmp_path, way):
    (tmp_path / "lock.json").write_text(json.dumps(LOCK))
    code, out, err = run("solve", "kuhn", "--lock", "lock.json", "--policy", "policy.csv", "--json", *way)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["locked_infosets"] == 2
    assert found["value"][0] == pytest.approx(rlccfr.solve("kuhn", lock=LOCK).value, abs=1e-3)
    assert found["exploitability"] < 2e-3
    policy = rlccfr.Policy.load(tmp_path / "policy.csv").to_frame()
    assert policy.query("infoset == '0'")["probability"].tolist() == [0.5, 0.5]
    assert policy.query("infoset == '2b'")["probability"].tolist() == [0.0, 1.0]
    _, table, _ = run("solve", "kuhn", "--lock", "lock.json", *way)
    assert "locked infosets" in table


def test_a_spot_and_a_players_saved_policy_are_locked(run, tmp_path):
    spot = rlccfr.subgame(**RIVER)
    (tmp_path / "lock.json").write_text(json.dumps({"b50": {"QQ": {"call": 1}}}))
    code, out, err = run(
        "solve", spot.full_name, "--lock", "lock.json", "--target", "1%", "--policy", "p.npz", "--json"
    )
    assert (code, json.loads(out)["locked_infosets"]) == (0, 3), err
    code, out, err = run("solve", spot.full_name, "--lock", "1=p.npz", "--target", "1%", "--json")
    assert code == 0, err
    response = rlccfr.PublicPolicy.load(tmp_path / "p.npz").values().best_response[0]
    assert json.loads(out)["value"][0] == pytest.approx(response, abs=0.02 * spot.pot)


def test_a_checkpoint_goes_on_only_with_its_lock(run, tmp_path):
    (tmp_path / "lock.json").write_text(json.dumps(LOCK))
    (tmp_path / "other.json").write_text(json.dumps({"0": [1, 0]}))
    command = ("solve", "kuhn", "--update-rule", "dcfr", "--iterations", "50", "--checkpoint", "run.npz", "--lock")
    assert run(*command, "lock.json")[0] == 0
    assert run(*command, "lock.json")[0] == 0
    assert rlccfr.Solver.load(tmp_path / "run.npz").result().iterations == 100
    for other in (("other.json",), ("0=other.json",)):
        code, _, err = run(*command, *other)
        assert code == 1
        assert "belongs to a run with another lock" in err
    assert "its lock differs" in run(*command[:-1])[2]
    assert run("show", "run.npz", "--find", "2b")[0] == 0
    assert run("match", "kuhn", "run.npz", "uniform")[0] == 0


def test_locks_hold_together(run, tmp_path):
    (tmp_path / "first.json").write_text(json.dumps({"0": LOCK["0"]}))
    (tmp_path / "second.json").write_text(json.dumps({"2b": LOCK["2b"]}))
    (tmp_path / "other.json").write_text(json.dumps({"0": [1, 0]}))
    locks = ("--lock", "0=first.json", "--lock", "second.json")
    code, out, err = run("solve", "kuhn", *locks, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["locked_infosets"] == 2
    assert json.loads(out)["value"][0] == pytest.approx(rlccfr.solve("kuhn", lock=LOCK).value, abs=1e-6)
    again = json.loads(run("solve", "kuhn", *locks, "--lock", "first.json", "--json")[1])
    assert again["value"] == json.loads(out)["value"]
    code, out, err = run("solve", "kuhn", *locks, "--lock", "other.json")
    assert (code, out) == (1, "")
    assert err == (
        "error: the lock fixes an infoset twice, at '0' in first.json and at '0' in other.json, with different "
        "probabilities: keep one of them\n"
    )
    code, out, err = run("solve", "kuhn", *locks, "--policy", "second.json")
    assert (code, err) == (
        1,
        "error: second.json is the lock, which would be overwritten: name another file to write\n",
    )


def test_a_name_of_both_players_is_locked_for_each(run, tmp_path):
    """In matching pennies, neither player knows anything, so that both have one infoset of the same name."""
    ends = [f't "" {number} "" {{ {payoff} {-payoff} }}' for number, payoff in enumerate((1, -1, -1, 1), 1)]
    second = ['p "" 2 1 "same" { "l" "r" } 0', *ends[:2], 'p "" 2 1 "same" { "l" "r" } 0', *ends[2:]]
    first = ['EFG 2 R "same" { "0" "1" } ""', 'p "" 1 1 "same" { "L" "R" } 0']
    (tmp_path / "pennies.efg").write_text("\n".join([*first, *second]))
    tree = rlccfr.load_game(tmp_path / "pennies.efg")
    for player in range(2):
        name = tree.infoset_keys[tree.infosets_of(player).start]
        (tmp_path / f"lock{player}.json").write_text(json.dumps({name: [0.75, 0.25]}))
    locks = ("--lock", "0=lock0.json", "--lock", "1=lock1.json")
    assert "fixes all decisions" in run("solve", "pennies.efg", *locks)[2]
    code, out, err = run("solve", "pennies.efg", *locks[:2], "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["value"] == pytest.approx([-0.5, 0.5], abs=1e-6)


def test_a_lock_is_what_against_takes_as_well(run, tmp_path):
    """The uniform policy, and the average policy of a run that was kept, with a lock or without."""
    tree = rlccfr.load_game("kuhn")
    uniform = rlccfr.Policy.uniform(tree)
    solver = rlccfr.Solver(tree, "dcfr", lock=LOCK)
    solver.run(iterations=20)
    solver.save(tmp_path / "run.npz")
    average = solver.average_policy()
    for name, policy in (("uniform", uniform), ("run.npz", average)):
        code, out, err = run("solve", "kuhn", "--lock", f"1={name}", "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["value"][0] == pytest.approx(policy.values().best_response[0], abs=1e-6)
        assert json.loads(run("solve", "kuhn", "--against", name, "--json")[1])["exploitability"] == pytest.approx(
            policy.exploitability()
        )
        assert "fixes all decisions of 'kuhn'" in run("solve", "kuhn", "--lock", name)[2]
    assert "is a run on 'kuhn', not on 'leduc'" in run("solve", "leduc", "--lock", "0=run.npz")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lock", "2=lock.json"), "--lock 2=lock.json names player 2: the players are 0 and 1"),
        (("--lock", "1=best"), "'best' is a best response to another policy"),
        (("--lock", "no.json"), "can't read the lock no.json"),
        (("--lock", "0=no.csv"), "can't read no.csv"),
        (("--lock", "1=lock.json"), "lock.json: 'kuhn' has no infoset of player 1 named '0'; it is the other player's"),
        (
            ("--lock", "lock.json", "--against", "uniform"),
            "--against finds best responses, so --lock can't be given with it",
        ),
        (("--lock", "lock.json", "--curve", "./lock.json"), "--curve is written as .csv"),
        (("--lock", "lock.json", "--policy", "./lock.json"), "lock.json is the lock, which would be overwritten"),
    ],
)
def test_what_is_no_lock_is_one_line(run, tmp_path, arguments, message):
    (tmp_path / "lock.json").write_text(json.dumps(LOCK))
    code, out, err = run("solve", "kuhn", *arguments)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
