"""``rlccfr show`` lists what a policy does: on a terminal as a table, in a pipe by lines, for programs as JSON."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

import rlccfr


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Write a policy of Kuhn poker in every format, and a run."""
    folder = tmp_path_factory.mktemp("policies")
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"))
    solver.run(iterations=50)
    for suffix in ("csv", "json", "npz", "efg"):
        solver.average_policy().save(folder / f"kuhn.{suffix}")
    solver.save(folder / "run.npz")
    return folder, solver.average_policy()


@pytest.mark.slow
@pytest.mark.parametrize("file", ["kuhn.csv", "kuhn.json", "kuhn.npz", "kuhn.efg", "run.npz"])
def test_every_file_shows_the_policy(run, kept, file):
    folder, policy = kept
    code, out, err = run("show", str(folder / file), "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert [state["state"] for state in found] == list(policy.game.infoset_keys)
    assert [one for state in found for one in state["actions"].values()] == policy.probabilities.tolist()
    assert sum(state["reach"] for state in found if state["state"] in "012") == pytest.approx(1)


def test_a_pipe_gets_a_line_for_each_state(run, kept):
    folder, policy = kept
    code, out, _ = run("show", str(folder / "kuhn.csv"))
    rows = [line.split("\t") for line in out.splitlines()]
    assert code == 0
    assert [row[2] for row in rows] == list(policy.game.infoset_keys)
    assert rows[0][0] == "0"
    assert rows[0][3:] == [f"Pass {policy.probabilities[0]:.3f}", f"Bet {policy.probabilities[1]:.3f}"]


def test_texts_the_player_and_a_limit_narrow_it(run, kept):
    path = str(kept[0] / "kuhn.csv")
    assert [line.split("\t")[2] for line in run("show", path, "--find", "P", "--find", "0")[1].splitlines()] == [
        "0pb",
        "0p",
    ]
    assert [line.split("\t")[2] for line in run("show", path, "--find", "k, moves: pass")[1].splitlines()] == [
        "2pb",
        "2p",
    ]
    assert {line[0] for line in run("show", path, "--player", "1")[1].splitlines()} == {"1"}
    assert len(run("show", path, "--limit", "3")[1].splitlines()) == 3
    code, out, err = run("show", path, "--find", "king")
    assert (code, out) == (1, "")
    assert "no state contains 'king'; case does not matter" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "environment"),
    [
        pytest.param(80, {}, marks=pytest.mark.slow),
        (30, {}),
        pytest.param(80, {"NO_COLOR": "1"}, marks=pytest.mark.slow),
    ],
)
def test_a_terminal_gets_a_table(kept, columns, environment):
    out = on_a_terminal("show", str(kept[0] / "kuhn.csv"), "--limit", "5", columns=columns, **environment)
    assert all(word in out for word in ("reach", "state", "Bet", "0.3333", "moves:"))
    assert "These are the first 5 states: --find narrows them" in out
    assert ("\x1b[36m" in out or "\x1b[32m" in out or "\x1b[38" in out) == (not environment)


def test_a_game_with_a_public_tree_is_shown_by_paths_and_hands(run):
    code, out, _ = run("show", "uniform", "--game", "holdem(ranks=6,suits=2)", "--find", "cc/", "--limit", "2")
    rows = [line.split("\t") for line in out.splitlines()]
    assert code == 0
    assert len(rows) == 2
    assert all(row[2].startswith("cc/") and row[3:] == ["c 0.500", "r 0.500"] for row in rows)


@pytest.mark.slow
def test_a_terminal_says_why_reach_is_missing(kept):
    game = ("--game", "holdem(ranks=4,suits=2,private=1,flop=1)")
    assert "Reach is not computed" in on_a_terminal("show", "uniform", *game, "--limit", "2", columns=120)
    assert "Reach is not" not in on_a_terminal("show", str(kept[0] / "kuhn.csv"), columns=120)


def test_what_is_no_policy_is_one_line(run, tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n")
    for arguments, message in (
        ((tmp_path / "none.csv",), "there is no file"),
        ((tmp_path / "a.csv",), "not a complete policy file"),
        (("uniform",), "name the game with --game"),
        (("uniform", "--game", "nonsense"), "unknown game"),
    ):
        code, out, err = run("show", *map(str, arguments))
        assert (code, out) == (1, "")
        assert message in err
        assert err.count("\n") == 1


def on_a_terminal(*arguments, columns, **environment):
    """Return what a command writes to a terminal of some width."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "rlccfr", *arguments],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        parts.append(part)
    assert child.wait() == 0
    return b"".join(parts).decode()
