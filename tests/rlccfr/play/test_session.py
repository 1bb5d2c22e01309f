"""A session asks kindly, keeps the score, and tells what the policy does."""

from __future__ import annotations

import numpy as np
import pytest

import rlccfr
from rlccfr.play.public_table import PublicTable
from rlccfr.play.session import Session
from rlccfr.play.tables import CompiledTable


@pytest.fixture
def kuhn():
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"))
    solver.run(iterations=100)
    return solver.average_policy()


def session(policy, answers, seed=0, table=CompiledTable, game="kuhn_poker"):
    """Return a session with given answers, and the list of its lines."""
    lines, left = [], iter(answers)

    def ask(prompt):
        lines.append(prompt)
        answer = next(left, None)
        if answer is None:
            raise EOFError
        return answer

    dealing, moving = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
    made = Session(lambda: table(policy, dealing), ask, lines.append, game, "chips", moving)
    return made, lines


def test_games_are_played_and_scored(kuhn):
    made, lines = session(kuhn, ["1"] * 100)
    made.play(10, None)
    assert len(made.payoffs) == 10
    assert [line for line in lines if line.startswith("Game")] == [
        f"Game {number}: you are player {(number - 1) % 2}." for number in range(1, 11)
    ]
    count, mean = len(made.payoffs), np.mean(made.payoffs)
    assert made.score().startswith(f"{sum(made.payoffs):+g} chips after {count} games; {mean:+.3g} ± ")


def test_both_payoffs_are_told_where_they_do_not_add_up_to_0():
    game = rlccfr.matrix_game([[3, 1]], [[1, 3]])
    made, lines = session(rlccfr.Policy.uniform(game), ["1"], game=game.openspiel_name)
    made.play(1, 1)
    assert [line for line in lines if "Score" in line] == [
        "You get 1, and the policy gets 3. Score: +1 chips after 1 game."
    ]


def told_moves(policy, seat, game, answer="1"):
    """Return the lines in one game that tell of the policy's moves."""
    made, lines = session(policy, [answer] * 100, game=game)
    made.play(1, seat)
    return [line for line in lines if line.startswith(f"  Player {1 - seat}")]


def test_moves_that_the_person_does_not_see_are_not_told():
    """In Goofspiel, player 0's bid of a round is made first, but hidden until player 1 bids; cards tell no bids."""
    goofspiel = rlccfr.load_game("goofspiel")
    lines = told_moves(rlccfr.Policy.uniform(goofspiel), 1, goofspiel.openspiel_name)
    assert set(lines) == {"  Player 0 moves, and you do not see how"}
    pennies = rlccfr.matrix_game([[1, -1], [-1, 1]])
    lines = told_moves(rlccfr.Policy.uniform(pennies), 1, pennies.openspiel_name)
    assert lines == ["  Player 0 moves, and you do not see how"]


def test_moves_that_the_person_sees_are_told(kuhn):
    assert told_moves(kuhn, 1, "kuhn_poker")[0] in ("  Player 0: Pass", "  Player 0: Bet")


def test_the_interval_is_students():
    made, _ = session(None, [])
    made.payoffs = [1.0, -1.0, 2.0, 0.0] * 4
    error = 2.131450 * np.std(made.payoffs, ddof=1) / 4  # the 97.5 % quantile of t with 15 degrees of freedom
    assert made.score() == f"+8 chips after 16 games; +0.5 ± {error:.2g} per game (95 %)"


def test_few_games_tell_too_little_for_an_interval():
    made, _ = session(None, [])
    made.payoffs = [1.0]
    assert made.score() == "+1 chips after 1 game"
    made.payoffs = [1.0] * 9
    assert made.score() == "+9 chips after 9 games"


@pytest.mark.parametrize("answer", ["1", "pass", "PASS", "p", "Pas"])
def test_a_move_has_a_number_and_a_name(kuhn, answer):
    made, lines = session(kuhn, [answer] * 3)
    made.play(1, 0)
    assert len(made.payoffs) == 1
    assert not any("no move here" in line for line in lines)


@pytest.mark.parametrize("answer", ["", "3", "0", "-1", "x", "9" * 30, "１²", "\x1b[A"])
def test_mistakes_are_taken_kindly(kuhn, answer):
    made, lines = session(kuhn, [answer, "1", "1"])
    made.play(1, 0)
    assert sum("That is not a move here: type a number from 1 to 2" in line for line in lines) == 1
    assert len(made.payoffs) == 1


def test_help_score_and_advice_are_given_on_request(kuhn):
    made, lines = session(kuhn, ["?", "=", "!", "bet", "=", "!", "quit"])
    made.play(None, 0)
    assert any("make that move" in line for line in lines)
    assert "  Score: no game is over yet." in lines
    assert "  You have not made a decision yet." in lines
    told = lines[lines.index("  Score: no game is over yet.") :]
    assert any(line.startswith("    Bet: ") and line.endswith("% (your move)") for line in told)
    assert any(line.startswith("    Pass: ") and line.endswith("%") for line in told)


def test_advice_names_its_decision(kuhn):
    made, lines = session(kuhn, ["bet", "!", "quit"])
    made.play(None, 0)
    card = next(line for line in lines if "│" in line).split()[1]
    assert len(made.payoffs) == 1  # so the prompt is one of game 2
    assert f"  At your last decision, in game 1 ({card}, moves: none yet), the policy's probabilities are:" in lines


def test_advice_in_a_game_without_cards_names_the_game_alone():
    policy = rlccfr.Policy.uniform(rlccfr.load_game("matrix_rps"))
    made, lines = session(policy, ["1", "!", "quit"], game="matrix_rps")
    made.play(None, 0)
    assert "  At your last decision, in game 1, the policy's probabilities are:" in lines
    assert not any("Terminal" in line for line in lines)  # OpenSpiel's text at the end


@pytest.mark.parametrize("answers", [[], ["q"], ["1", "1", "quit"], ["EXIT"]])
def test_the_person_may_leave_at_any_time(kuhn, answers):
    made, _ = session(kuhn, answers)
    made.play(None, 0)
    assert len(made.payoffs) <= 2


def test_a_seed_gives_the_same_games(kuhn):
    first, again, other = (session(kuhn, ["1"] * 40, seed=seed) for seed in (0, 0, 1))
    for made, _ in (first, again, other):
        made.play(10, None)
    assert first[1] == again[1] != other[1]


@pytest.mark.parametrize(("answers", "told"), [(["q"], 1), (["1", "1", "1"], 0), (["1", "1", "2", "x", "q"], 0)])
def test_the_score_is_told_once(kuhn, answers, told):
    made, lines = session(kuhn, answers)
    made.play(1, 0)
    assert sum(line.startswith("Score:") for line in lines) == told
    assert sum("Score:" in line for line in lines) == 1


def test_a_new_board_is_told():
    policy = rlccfr.PublicPolicy.uniform(rlccfr.load_game("holdem(ranks=4,suits=2,private=1,flop=1)"))
    made, lines = session(policy, ["c"] * 10, table=PublicTable, game=policy.game.name)
    made.play(3, 1)
    flops = [number for number, line in enumerate(lines) if line.startswith("  The board is ")]
    assert flops
    assert all("call" in lines[number - 1] or "check" in lines[number - 1] for number in flops)
