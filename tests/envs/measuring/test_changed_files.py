"""A Gambit file that changes is another game, for tables, environments and teams as for solvers."""

from __future__ import annotations

import pytest

from rlccfr.agents import Hyperparameters, SelectorTeam
from rlccfr.envs import Budget, Cell, ControlEnv, LiveEvaluator, Request, TableEvaluator
from rlccfr.errors import CheckpointError

CFR = Cell("cfr", "none", "none")
BUDGET = Budget("iterations", 3)


@pytest.fixture
def game(tmp_path):
    """Return a function that writes a game with a given payoff, and returns the file's name."""

    def write(payoff: int, path=tmp_path / "game.efg") -> str:
        path.write_text(
            'EFG 2 R "game" { "0" "1" }\n'
            'p "" 1 1 "a" { "left" "right" } 0\n'
            'p "" 2 1 "b" { "left" "right" } 0\n'
            f't "" 1 "" {{ {payoff} {-payoff} }}\n'
            't "" 2 "" { -1 1 }\n'
            'p "" 2 1 "b" { "left" "right" } 0\n'
            't "" 3 "" { -1 1 }\n'
            't "" 4 "" { 2 -2 }\n'
        )
        return str(path)

    return write


def test_a_table_does_not_answer_for_another_content(game, tmp_path):
    name = game(1)
    store = tmp_path / "store"
    request = Request(name, (CFR,), BUDGET)
    measured = LiveEvaluator(store).measure(request)
    assert TableEvaluator(store).measure(request) == measured
    game(50)
    assert not TableEvaluator(store).known(request)
    assert LiveEvaluator(store).measure(request).exploitability > 2 * measured.exploitability
    game(1)
    assert TableEvaluator(store).measure(request) == measured


def test_a_table_answers_for_the_same_content_at_another_place(game, tmp_path):
    store = tmp_path / "store"
    measured = LiveEvaluator(store).measure(Request(game(1), (CFR,), BUDGET))
    moved = game(1, tmp_path / "moved.efg")
    assert TableEvaluator(store).measure(Request(moved, (CFR,), BUDGET)).exploitability == measured.exploitability


def test_an_environment_of_one_run_reads_the_file_again(game):
    env = ControlEnv(game(1), horizon=10)
    env.reset(seed=0)
    before = env.run.exploitability
    game(50)
    env.reset(seed=0)
    assert env.run.exploitability > 10 * before


def test_a_team_is_not_loaded_for_another_content(game, tmp_path):
    name = game(1)
    quick = Hyperparameters(hidden=(4,), settling=1, gradient_steps=1)
    team = SelectorTeam(name, BUDGET, catalog="cfr + dcfr", hyperparameters=quick)
    team.train(1)
    team.save(tmp_path / "team")
    assert SelectorTeam.load(tmp_path / "team").env.games == (name,)
    game(50)
    with pytest.raises(CheckpointError, match=r"game\.efg has changed since the team was trained on it: restore"):
        SelectorTeam.load(tmp_path / "team")
