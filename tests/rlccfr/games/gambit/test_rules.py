"""Games of Gambit's files are solved like OpenSpiel's own; what has no zero-sum form is refused."""

from __future__ import annotations

import copy
import json
import re
import sys
from fractions import Fraction
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability

import rlccfr
from rlccfr.games.compiled_games import compiled
from rlccfr.games.gambit.rules import Gambit
from rlccfr.games.gambit.writer import to_efg

MATCHING = """EFG 2 R "Matching pennies" {{ "first" "second" }}
p "" 1 1 "first's" {{ "heads" "tails" }} 0
p "" 2 1 "second's" {{ "heads" "tails" }} 0
t "" 1 "same" {{ {same} }}
t "" 2 "other" {{ {other} }}
p "" 2 1 0
t "" 2
t "" 3 "tails" {{ {tails} }}
"""


def write(folder, **payoffs):
    path = folder / "matching, (its) 100%.efg"  # no character is special
    path.write_text(MATCHING.format(**{"same": "1 -1", "other": "-1 1", "tails": "1 -1", **payoffs}))
    return str(path)


def test_a_file_is_a_game(tmp_path):
    name = write(tmp_path, tails="3 -3")
    game = rlccfr.load_game(name)
    assert (game.name, game.num_histories, game.num_infosets) == (name, 7, 2)
    assert game.infoset_keys == ("player 0, infoset 1: first's", "player 1, infoset 1: second's")
    solution = rlccfr.solve_exactly(game)
    assert solution.value == pytest.approx(1 / 3)  # (1·3 − 1·1) / (1 + 3 + 1 + 1)
    frame = solution.policy.to_frame()
    assert frame["probability"].tolist() == pytest.approx([2 / 3, 1 / 3, 2 / 3, 1 / 3])
    assert exploitability.exploitability(
        pyspiel.load_game(game.openspiel_name), solution.policy.to_openspiel()
    ) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    "payoffs",
    [
        {"same": "1 0", "other": "0 1", "tails": "1 0"},  # constant-sum
        {"same": "1 0", "other": "-1 0.5", "tails": "1 0"},  # on another scale
        {"same": "1 5", "other": "1 5", "tails": "1 5"},
    ],
)
def test_strictly_competitive_games_get_the_first_players_payoffs(tmp_path, payoffs):
    game = rlccfr.load_game(write(tmp_path, **payoffs))
    first = {float(one.split()[0]) for one in payoffs.values()}
    assert set(game.utility[game.histories["num_children"] == 0]) == first
    for one in payoffs.values():
        own, other = map(float, one.split())
        assert game.opponent_payoffs.at(own) == pytest.approx(other)


@pytest.mark.parametrize(
    "payoffs",
    [
        {"same": "1 1", "other": "-1 -1", "tails": "1 1"},
        {"same": "1 -1", "other": "-1 1", "tails": "0 1"},
        {"same": "1 -1", "other": "1 0", "tails": "1 0"},
        {"same": "1.0000001 -1", "other": "1 -1.0000002", "tails": "0 0"},
        {"same": "1 -1", "other": "2 10", "tails": "-1000000000000000 1000000000000000"},
        {"same": "1000000000 -1000000000", "other": "-1000000000 1000000000.5", "tails": "0 0"},
    ],
)
def test_other_games_are_refused_by_name(tmp_path, payoffs):
    with pytest.raises(rlccfr.GameError, match=r"100%\.efg is not zero-sum, even after a change of scale") as caught:
        rlccfr.load_game(write(tmp_path, **payoffs))
    assert "\n" not in str(caught.value)
    ends = [tuple(map(float, one)) for one in re.findall(r"\(([-+.e\d]+), ([-+.e\d]+)\)", str(caught.value))]
    assert len(set(ends)) == len(ends) >= 2
    assert set(ends) <= {tuple(map(float, one.split())) for one in payoffs.values()}


def test_a_scale_beyond_doubles_is_refused(tmp_path):
    with pytest.raises(rlccfr.GameError, match="beyond the range of doubles"):
        rlccfr.load_game(write(tmp_path, same="1e-300 -1e300", other="0 0", tails="0 0"))


def test_payoffs_rounded_to_a_few_digits_are_on_a_line(tmp_path):
    name = write(tmp_path, same="0.3333333333333 0.6666666666667", other="0.7 0.3", tails="1 0")
    assert rlccfr.load_game(name).opponent_payoffs == pytest.approx((1, 1))


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("--policy", "is the file that the game was read from: write to another file"),
        ("--checkpoint", "is the file that the game was read from: write to another file"),
        ("--curve", "--curve is written as .csv, not as '.efg'"),
    ],
)
def test_the_games_own_file_is_not_written_over(tmp_path, run, output, message):
    name = write(tmp_path)
    text = Path(name).read_bytes()
    code, _, err = run("solve", name, "--iterations", "5", output, name)
    assert (code, Path(name).read_bytes()) == (1, text)
    assert message in err
    game = rlccfr.load_game(name)
    with pytest.raises(rlccfr.GameError, match="the file that the game was read from"):
        rlccfr.Policy.uniform(game).save(name)


def test_a_changed_file_is_another_game(tmp_path):
    name = write(tmp_path)
    game = rlccfr.load_game(name)
    write(tmp_path, tails="3 -3")
    with pytest.raises(rlccfr.GameError, match="has changed since the game was loaded; load it again"):
        Gambit(file=quote(name), digest="x0")
    assert rlccfr.load_game(name).content_hash != game.content_hash


def test_a_changed_file_is_compiled_again(tmp_path):
    name = write(tmp_path)
    game = compiled(name)
    assert compiled(name) is game
    write(tmp_path, tails="3 -3")
    assert compiled(name).utility.max() == 3


def test_states_share_the_rules(tmp_path):
    """OpenSpiel copies each state with all it holds; copying the rules took minutes on Leduc."""
    rules = pyspiel.load_game(rlccfr.load_game(write(tmp_path)).openspiel_name).rules
    assert copy.deepcopy(rules) is rules


def test_imperfect_recall_is_refused(tmp_path):
    path = tmp_path / "forgetful.efg"
    ends = "".join(f't "" {k} "{k}" {{ {k} -{k} }}\n' for k in range(1, 5))
    first, second = ends.splitlines()[:2], ends.splitlines()[2:]
    below = 'p "" 1 2 "later" { "l" "r" } 0\n'
    text = 'EFG 2 R "" { "a" "b" }\np "" 1 1 "" { "l" "r" } 0\n'
    path.write_text(text + below + "\n".join(first) + "\n" + below + "\n".join(second) + "\n")
    with pytest.raises(rlccfr.GameError, match=r"^'[^(]*forgetful\.efg' has imperfect recall"):
        rlccfr.load_game(str(path))
    with pytest.raises(rlccfr.GameError, match=r"^'[^(]*forgetful\.efg' has more than 5 histories"):
        rlccfr.load_game(str(path), max_histories=5)


def wide(folder, outcomes, chances):
    """Write a file in which one move of chance has many outcomes, with a decision of each player after each of them."""
    path = folder / f"wide {outcomes}.efg"
    deals = " ".join(f'"{k}" {chances(k)}' for k in range(outcomes))
    lines = ['EFG 2 R "" { "a" "b" }', f'c "" 1 "deal" {{ {deals} }} 0']
    for k in range(outcomes):
        lines.append(f'p "" 1 {k % 10 + 1} "a{k % 10}" {{ "bet" "check" }} 0')
        lines.append(f'p "" 2 {k % 7 + 1} "b{k % 7}" {{ "call" "fold" }} 0')
        lines += [f't "" {k + 2} "{k}" {{ {k} {-k} }}', 't "" 1 "fold" { 1 -1 }', 't "" 0']
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_loading_takes_time_in_proportion_to_chances_outcomes(tmp_path):
    """Each probability is looked at a few times, however many outcomes there are, and so is each node."""
    rlccfr.load_game(wide(tmp_path, 5, lambda k: "1/5"))  # what is done once per process is not counted
    counts = []
    for outcomes in (50, 500):
        name = wide(tmp_path, outcomes, lambda k, outcomes=outcomes: f"1/{outcomes}")
        calls = 0

        def counted(frame, event, argument):
            nonlocal calls
            calls += event == "call"

        sys.setprofile(counted)
        try:
            tree = rlccfr.load_game(name)
        finally:
            sys.setprofile(None)
        counts.append(calls)
        assert tree.num_histories == 1 + 5 * outcomes
        assert np.diff(tree.probability[1 : 1 + outcomes]).max(initial=0) == 0
    assert counts[1] < 11 * counts[0]


@pytest.mark.parametrize(
    "chances",
    [
        ["1/3"] * 3,
        [".333333"] * 3,
        ["0.1", "0.2", "0.7"],
        ["1e-300", "1"],
        ["123456789/987654321", "864197532/987654321"],
    ],
)
def test_probabilities_are_the_nearest_doubles(tmp_path, chances):
    numbers = [Fraction(one) for one in chances]
    tree = rlccfr.load_game(wide(tmp_path, len(chances), chances.__getitem__))
    deals = tree.probability[1 : 1 + len(chances)]
    assert deals.tolist() == [float(one / sum(numbers)) for one in numbers]


def test_refusals_name_the_file_as_people_write_it(tmp_path, monkeypatch):
    path = tmp_path / "not zero-sum.efg"
    Path(write(tmp_path, same="1 1")).rename(path)
    monkeypatch.chdir(tmp_path)
    for folder in (".", str(tmp_path)):
        with pytest.raises(rlccfr.GameError, match=r"^not zero-sum\.efg is not zero-sum"):
            rlccfr.load_game(f"{folder}/{path.name}")


def test_a_command_takes_a_file(tmp_path, run):
    code, out, _ = run("solve", write(tmp_path), "--iterations", "10")
    assert code == 0
    assert "exploitability" in out


@pytest.mark.parametrize("method", [("--exact",), ("--iterations", "4000")])
def test_solve_tells_both_players_own_payoffs(tmp_path, run, method):
    name = write(tmp_path, same="5 3", other="1 5", tails="5 3")  # player 1 gets 5.5 - payoff / 2
    facts = json.loads(run("solve", name, *method, "--json")[1])
    assert facts["value"] == pytest.approx((3, 4), abs=1e-2)
    assert facts["best_response_value"] == pytest.approx((3, 4), abs=1e-2)
    assert re.search("value of player 0 .* of player 1: 4", run("solve", name, *method)[1])


def test_a_game_is_known_by_its_file(tmp_path, monkeypatch):
    name = rlccfr.load_game(write(tmp_path)).openspiel_name
    assert rlccfr.load_game(name).name == write(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert rlccfr.load_game(name).name == Path(write(tmp_path)).name


def test_a_byte_order_mark_is_passed_over(tmp_path):
    plain, marked = Path(write(tmp_path)), tmp_path / "marked.efg"
    marked.write_text(plain.read_text(), encoding="utf-8-sig")
    assert rlccfr.load_game(str(marked)).content_hash == rlccfr.load_game(str(plain)).content_hash


def test_an_environment_takes_files(tmp_path):
    from rlccfr.envs import SelectorFlatEnv

    env = SelectorFlatEnv(games=[write(tmp_path)], catalog="tabular")
    env.reset(seed=0)
    _, reward, *_ = env.step(0)
    assert np.isfinite(reward)


def test_kuhn_is_the_same_game(tmp_path):
    kuhn = rlccfr.load_game("kuhn")
    path = tmp_path / "kuhn.efg"
    path.write_text(to_efg(kuhn))
    again = rlccfr.load_game(str(path))
    results = [rlccfr.Solver(game, update_rule="dcfr").run(iterations=100) for game in (kuhn, again)]
    assert results[0].exploitability == pytest.approx(results[1].exploitability, rel=1e-12)


def test_a_large_payoff_hides_no_wrong_sum(tmp_path):
    path = tmp_path / "penalty.efg"
    for second, sound in ((2, False), (-2, True)):
        ends = f't "" 1 "" {{ 10000000000 -10000000000 }}\nt "" 2 "" {{ 2 {second} }}\nt "" 3 "" {{ 3 -3 }}\n'
        path.write_text(f'EFG 2 R "" {{ "A" "B" }}\np "" 1 1 "" {{ "a" "b" "c" }} 0\n{ends}')
        if sound:
            assert rlccfr.load_game(path).num_histories == 4
        else:
            with pytest.raises(rlccfr.GameError, match="is not zero-sum"):
                rlccfr.load_game(path)
