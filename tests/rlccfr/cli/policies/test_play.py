"""``rlccfr play``, as a person plays it: by an input that may end, break off or hold anything."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time

import pytest

import rlccfr


@pytest.fixture(scope="module")
def kuhn(tmp_path_factory):
    path = tmp_path_factory.mktemp("policies") / "kuhn.npz"
    rlccfr.solve_exactly(rlccfr.load_game("kuhn")).policy.save(path)
    return str(path)


def play(*arguments, answers="", **environment):
    return subprocess.run(
        [sys.executable, "-m", "rlccfr", "play", *arguments],
        input=answers,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.slow
def test_a_scripted_person_plays(kuhn):
    told = play("kuhn", "--against", kuhn, "--games", "2", "--seat", "0", answers="?\npass\n!\npass\npass\npass\n")
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.count("you are player 0") == 2
    assert "make that move" in told.stdout
    assert "Score: " in told.stdout.splitlines()[-2]
    again = play("kuhn", "--against", kuhn, "--games", "2", "--seat", "0", answers="?\npass\n!\npass\npass\npass\n")
    assert again.stdout == told.stdout


def test_without_a_policy_the_game_is_solved(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    code, out, _ = run("play", "kuhn", "--games", "1")
    assert code == 0
    assert "The other player's policy was solved just now; its exploitability is" in out


def test_a_game_of_equal_payoffs_is_played(tmp_path, run, monkeypatch):
    rlccfr.Policy.uniform(rlccfr.matrix_game([[2, 2], [2, 2]])).save(tmp_path / "equal.efg")
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    code, out, _ = run("play", str(tmp_path / "equal.efg"), "--games", "1")
    assert code == 0
    assert "its exploitability is 0." in out
    assert "You win 2." in out


@pytest.mark.slow
def test_an_input_that_is_closed_ends_the_session(kuhn):
    command = f"{sys.executable} -m rlccfr play kuhn --against {kuhn} <&-"
    told = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert "Score: no game is over yet." in told.stdout


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error(kuhn):
    command = f"yes 1 | {sys.executable} -m rlccfr play kuhn --against {kuhn} | head -3"
    told = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert told.stderr == ""


@pytest.mark.slow
def test_ctrl_c_tells_the_score(kuhn, heeds_ctrl_c):
    with subprocess.Popen(
        [sys.executable, "-m", "rlccfr", "play", "kuhn", "--against", kuhn],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        while "you are player" not in child.stdout.readline():
            pass
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate()
    assert child.returncode == 130
    assert err == "error: interrupted; score: no game is over yet\n"


@pytest.mark.slow
def test_other_encodings_get_plain_cards(kuhn):
    told = play("kuhn", "--against", kuhn, "--games", "1", PYTHONIOENCODING="ascii")
    assert told.returncode == 0
    assert "+----+" in told.stdout


@pytest.mark.slow
def test_a_files_control_characters_do_not_reach_the_terminal(tmp_path):
    path = tmp_path / "hostile.efg"
    nodes = 'p "" 1 1 "\x1b]0;x\x07" { "\x1b[2J" "b" } 0\nt "" 1 "" { 1 -1 }\nt "" 2 "" { 0 0 }\n'
    path.write_text(f'EFG 2 R "" {{ "a" "b" }}\n{nodes}')
    told = play(str(path), "--against", "uniform", "--games", "1", "--seat", "0", answers="1\n")
    assert told.returncode == 0
    assert "[2J" in told.stdout
    assert not {"\x1b", "\x07"} & set(told.stdout)


def test_what_can_not_be_played_is_one_line(run, kuhn):
    for arguments, message in (
        (("nonsense",), "unknown game"),
        (("leduc", "--against", kuhn), "is a policy of 'kuhn', not of 'leduc'"),
        (("kuhn", "--against", "none.npz"), "there is no file none.npz"),
    ):
        code, _, err = run("play", *arguments)
        assert code == 1
        assert message in err
        assert err.count("\n") == 1


def test_holdem_in_buckets_is_played_with_real_cards(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("!\nc\nc\nc\nc\nc\nc\nc\nc\n"))
    name = "holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets=2)"
    code, out, err = run("play", name, "--against", "uniform", "--games", "2", "--seat", "0")
    assert (code, err) == (0, "")
    assert "What player 1 knew:" in out
    assert "chips" in out


def test_a_policy_of_other_buckets_plays_by_its_own(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("!\nc\nc\nc\nc\nc\nc\n"))
    plain = "holdem(rounds=2,ranks=4,suits=2,private=1,flop=1,buckets={})"
    other = rlccfr.load_game(plain.format(3))
    rlccfr.BucketHistoryPolicy.uniform(other).save("three.npz")
    code, out, err = run("play", plain.format(2), "--against", "three.npz", "--games", "1", "--seat", "0")
    assert (code, err) == (0, "")
    assert "What player 1 knew:" in out
