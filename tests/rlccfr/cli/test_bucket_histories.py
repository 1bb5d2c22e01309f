"""What commands do not do with hold'em in buckets: each refusal is one line that says what to do instead."""

import json
import re
from pathlib import Path

import pytest

import rlccfr

pytestmark = pytest.mark.slow  # the kernels of these tests take long to compile

PLAIN = "holdem(rounds=2,ranks=4,suits=2,private=1,flop=1)"
NAME = PLAIN.replace(")", ",buckets=3)")
OTHER = PLAIN.replace(")", ",buckets=2)")

BY_NAME = "set the buckets in the game's name"
OF_ANOTHER_GAME = "is a policy of .*buckets=.*, not of .*: name that game, or another file"
SOLVE = "`rlccfr solve` makes by default"
SMALL_RUN = ("--iterations", "1")

REFUSED = [
    (("show", "three.npz", "--find", "cc/5d5d/c 2c"), "'5d5d' has a card twice: name each card once"),
    (("explore", "three.npz", "page.html", "--from", "rf"), "nobody acts after 'rf'"),
    (("recommend", NAME, "--catalog", "paper"), f"leave out catalog.* {SOLVE}"),
    (("recommend", NAME, "--measure", "1s"), f"leave out measure.* {SOLVE}"),
    (("results", "insights", NAME), "`rlccfr sweep` measures"),
    (("compare", NAME, "--iterations", "10"), "`rlccfr solve`.* `rlccfr sweep`"),
    (("train", NAME, "--iterations", "10"), "`rlccfr solve`.* `rlccfr sweep`"),
    (("train", NAME, "--control"), "a controller needs a game's histories.*: choose another game"),
    (("games", NAME, "--plot", "tree.png"), "needs a game's histories.*: choose another game"),
    (("play", NAME.replace("ranks=4", "ranks=5"), "--against", "two.npz"), "the cards or the betting differ: name"),
    (("play", NAME, "--against", "whole.npz"), "can't play .*: name a policy of that game"),
    (("play", PLAIN, "--against", "two.npz"), OF_ANOTHER_GAME),
    (("match", OTHER, "three.npz", "uniform"), OF_ANOTHER_GAME),
    (("match", PLAIN, "whole.npz", "three.npz"), OF_ANOTHER_GAME),
    (("match", NAME, "three.npz", "whole.npz"), "which is not in buckets: use a policy of the first game"),
    (("match", "kuhn", "three.npz", "uniform"), "name another file, or read this one by rlccfr.PublicPolicy.load"),
    (("solve", NAME, "--lock", "three.npz"), "lock a game that is small enough for a public tree"),
    (("solve", NAME, "--exact"), "leave out --exact"),
    (("solve", NAME, "--control"), "no controller steers a run: leave it out"),
    (("solve", NAME, "--abstraction", "equity(buckets=5)"), BY_NAME),
    (("solve", NAME, "--abstraction", "kmeans"), BY_NAME),
    (("solve", NAME, "--abstraction", "cfr_br"), "use abstraction='none' instead of 'cfr_br'"),
    (("solve", NAME, "--option", "blend=yes", *SMALL_RUN), "leave out blend=True"),
    (("solve", NAME, "--option", "dtype=int16", *SMALL_RUN), "use dtype='float32' instead of 'int16'"),
    (("solve", NAME, "--option", "picture=a.png", *SMALL_RUN), "leave it out"),
    (("solve", NAME, "--policy", "a.json", *SMALL_RUN), r"is written as \.npz or \.csv"),
    (("solve", NAME.replace("=3", "=0")), "must be from 1 to 8, the number of hands"),
    (("solve", NAME.replace("=3", "=9")), "must be from 1 to 8, the number of hands"),
    (("solve", NAME.replace("rounds=2", "rounds=5")), "rounds of holdem must be from 1 to 4"),
    (("solve", "texas_holdem"), r"in buckets by loading 'texas_holdem\(buckets=5\)'"),
    (
        ("solve", "holdem(rounds=4)", "--abstraction", "equity(buckets=5)"),
        r"'holdem\(rounds=4,buckets=5\)', which merges the same hands as the abstraction equity\(buckets=5\)",
    ),
]


@pytest.fixture
def files(run):
    """Write a policy of each game into the directory in which commands run."""
    for name, file in ((NAME, "three.npz"), (OTHER, "two.npz"), (PLAIN, "whole.npz")):
        game = rlccfr.load_game(name)
        rlccfr.Solver(game).average_policy().save(file)


def test_refusals_say_what_to_do(run, files):
    for arguments, message in REFUSED:
        code, out, err = run(*arguments)
        assert (code, out, err.count("\n")) == (1, "", 1), (arguments, out, err)
        assert re.search(message, err), (arguments, err)


def test_a_policy_is_shown_and_explored(run, files):
    code, out, _ = run("show", "three.npz", "--find", "cc/5d/c 2c", "--json")
    (state,) = json.loads(out)
    policy = rlccfr.BucketHistoryPolicy.load("three.npz")
    assert state["actions"] == policy.action_probabilities("cc/5d/c", "2c")
    assert 0 < state["reach"] < 1
    lines = run("show", "three.npz", "--find", "cc/", "--player", "1")[1].splitlines()
    assert {line.split("\t")[0] for line in lines} == {"1"}
    code, out, _ = run("explore", "three.npz", "page.html", "--from", "cc/")
    assert code == 0
    assert Path("page.html").stat().st_size > 10_000
    code, out, _ = run("solve", NAME, "--against", "uniform")
    assert code == 0
    assert "Where most is gained" in out


@pytest.mark.parametrize(
    ("seconds", "algorithm"), [(0.05, "dcfr x none x none"), (1e-9, "lcfr x public_chance x none")]
)
def test_the_run_that_solve_makes_is_recommended(run, seconds, algorithm):
    code, out, _ = run("recommend", NAME, "--seconds", str(seconds))
    assert code == 0
    assert f"{algorithm}\n" in out
    assert "`rlccfr reproduce texas`" in out
    assert f'run it: rlccfr solve "{NAME}" --seconds {seconds:g}' in out
    game = rlccfr.load_game(NAME)
    solver = rlccfr.solve(game, seconds=seconds).solver
    assert f"{solver.update_rule.id} x {solver.sampler.id} x none" == algorithm


def test_a_comparison_is_refused_before_anything_is_measured(run):
    run("compare", NAME, "--iterations", "10", "--store", "store")
    assert not list(Path("store").rglob("*.json"))


def test_sizes_of_large_games_are_told_without_loading_them(run, monkeypatch):
    monkeypatch.setattr("rlccfr.cli.commands.games.load", lambda *_: pytest.fail("the game was loaded"))
    code, out, _ = run("games", "texas_holdem(buckets=12)", "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["infosets"] == 118_671_936
    assert facts["uniform_exploitability"] is None
    assert not facts["tables_are_kept"]
    assert "at most, if no bucket is empty" in run("games", "texas_holdem(buckets=12)")[1]
