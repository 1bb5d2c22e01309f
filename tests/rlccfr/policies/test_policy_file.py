"""Policies are read back exactly as they were written, and files of other games are refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from support import SMALL_DICE, game

import rlccfr

FORMATS = ("csv", "json", "npz", "efg")


def policy_of(name):
    game = rlccfr.load_game(name)
    draws = np.random.default_rng(0).exponential(size=game.num_sequences)
    draws[::7] = 0.0
    return rlccfr.Policy.from_sums(game, draws)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", ["kuhn", "leduc", SMALL_DICE, "python_kuhn_poker", "dark_hex(board_size=2)"])
def test_a_policy_is_read_back_bit_for_bit(tmp_path, name, suffix):
    policy = policy_of(name)
    path = tmp_path / "new" / f"policy.{suffix}"
    policy.save(path)
    again = rlccfr.Policy.load(path, rlccfr.load_game(name))
    assert np.array_equal(again.probabilities, policy.probabilities)
    assert again.exploitability() == policy.exploitability()


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(
    "name", ["kuhn", pytest.param("royal", marks=pytest.mark.slow), "leduc(ranks=2,suits=2,raises=1)"]
)
def test_a_file_names_its_game(tmp_path, name, suffix):
    policy = rlccfr.Policy.uniform(rlccfr.load_game(name))
    path = tmp_path / f"policy.{suffix}"
    policy.save(path)
    again = rlccfr.Policy.load(path)
    assert again.game.content_hash == policy.game.content_hash
    assert np.array_equal(again.probabilities, policy.probabilities)


def test_a_table_of_an_older_version_needs_its_game(tmp_path):
    path, policy = tmp_path / "policy.csv", policy_of("kuhn")
    policy.save(path)
    pd.read_csv(path, dtype=str).drop(columns="game").to_csv(path, index=False)
    assert np.array_equal(rlccfr.Policy.load(path, policy.game).probabilities, policy.probabilities)
    with pytest.raises(rlccfr.CheckpointError, match="does not name its game: pass the game"):
        rlccfr.Policy.load(path)


def test_a_gambit_file_holds_its_game_where_the_name_is_unknown(tmp_path):
    """Matrix games are known only to the process that made them."""
    policy = rlccfr.Policy(rlccfr.matrix_game([[1, -1], [-1, 2]]), [0.25, 0.75, 0.5, 0.5])
    for suffix in ("csv", "json", "efg"):
        path = tmp_path / f"policy.{suffix}"
        policy.save(path)
        path.write_text(path.read_text().replace(policy.game.openspiel_name, "matrix_of_another_process()"))
        if suffix == "efg":
            assert rlccfr.Policy.load(path).exploitability() == policy.exploitability()
        else:
            with pytest.raises(rlccfr.CheckpointError, match="is a policy of a matrix game, which has no name"):
                rlccfr.Policy.load(path)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_game_with_restored_recall_is_found_by_its_hash(tmp_path, suffix):
    policy = rlccfr.Policy.uniform(rlccfr.load_game("leduc(ranks=2,suits=2,raises=1)", restore_recall=True))
    policy.save(tmp_path / f"policy.{suffix}")
    assert rlccfr.Policy.load(tmp_path / f"policy.{suffix}").game.content_hash == policy.game.content_hash


def test_where_recall_was_restored_infosets_share_a_text(tmp_path):
    game = rlccfr.load_game("leduc(ranks=2,suits=2,raises=1)", restore_recall=True)
    policy = rlccfr.Policy.uniform(game)
    for suffix in FORMATS:
        policy.save(tmp_path / f"policy.{suffix}")
        assert np.array_equal(
            rlccfr.Policy.load(tmp_path / f"policy.{suffix}", game).probabilities, policy.probabilities
        )


def test_actions_have_names_beside_numbers(tmp_path):
    policy = policy_of("leduc")
    policy.save(tmp_path / "policy.csv")
    policy.save(tmp_path / "policy.json")
    frame = pd.read_csv(tmp_path / "policy.csv")
    assert list(frame) == ["player", "infoset", "action", "action_name", "probability", "game_hash", "game"]
    assert set(zip(frame["action"], frame["action_name"], strict=True)) == {(0, "Fold"), (1, "Call"), (2, "Raise")}
    saved = json.loads((tmp_path / "policy.json").read_text())
    assert (saved["game"], saved["game_hash"]) == ("leduc_poker", policy.game.content_hash)
    named = [(action["action"], action["name"]) for one in saved["infosets"] for action in one["actions"]]
    assert named == list(zip(frame["action"], frame["action_name"], strict=True))


def test_names_are_those_of_every_history(tmp_path):
    from rlccfr.games.openspiel_policies import edge_names, sequence_names

    game = rlccfr.load_game("goofspiel(num_cards=3,imp_info=True,points_order=descending)")
    names, edges = sequence_names(game), edge_names(game)
    for number, record in enumerate(game.histories):
        if record["actor"] < 2:
            first = record["first_child"]
            at = game.infoset_sequences(int(record["infoset"]))
            assert names[at] == edges[first : first + record["num_children"]], number


@pytest.mark.parametrize("suffix", FORMATS)
def test_another_version_of_a_game_is_refused(tmp_path, suffix):
    path = tmp_path / f"policy.{suffix}"
    policy_of("leduc(ranks=2,suits=2,raises=1)").save(path)
    other = rlccfr.load_game("leduc(ranks=2,suits=2,raises=2)")
    with pytest.raises(
        rlccfr.CheckpointError, match=r"is a policy of 'universal_poker.*', not of 'leduc\(ranks=2,suits=2,ra"
    ):
        rlccfr.Policy.load(path, other)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("damage", ["cut", "empty", "other"])
def test_what_is_not_whole_is_refused_in_one_line(tmp_path, suffix, damage):
    path, policy = tmp_path / f"policy.{suffix}", policy_of("kuhn")
    policy.save(path)
    data = path.read_bytes()
    path.write_bytes({"cut": data[: len(data) // 2], "empty": b"", "other": b"a,b\n1,2\n"}[damage])
    with pytest.raises(rlccfr.RLCCFRError) as caught:
        rlccfr.Policy.load(path, policy.game)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_of_other_infosets_and_numbers_that_are_no_policy_are_refused(tmp_path):
    path, policy = tmp_path / "policy.csv", policy_of("kuhn")
    policy.save(path)
    frame = pd.read_csv(path)
    frame.iloc[::-1].to_csv(path, index=False)
    with pytest.raises(rlccfr.CheckpointError, match="must be exactly those of 'kuhn', in the game's order"):
        rlccfr.Policy.load(path, policy.game)
    frame.assign(probability=0.7).to_csv(path, index=False)
    with pytest.raises(rlccfr.PolicyError, match="sum to 1"):
        rlccfr.Policy.load(path, policy.game)


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_names_of_actions_that_contradict_their_numbers_are_refused(tmp_path, suffix):
    path, policy = tmp_path / f"policy.{suffix}", policy_of("kuhn")
    policy.save(path)
    text = path.read_text()
    path.write_text(text.replace("Pass", "Bet"))
    with pytest.raises(rlccfr.CheckpointError, match="calls action 0 at '0' 'Bet', but its name is 'Pass'"):
        rlccfr.Policy.load(path, policy.game)
    with pytest.raises(rlccfr.CheckpointError, match="calls action 0 at"):
        rlccfr.Solver(policy.game, lock={1: path})
    if suffix == "json":
        path.write_text(text.replace('"infoset": "0"', '"infoset": ["0"]'))
        with pytest.raises(rlccfr.CheckpointError, match="is not a complete policy file"):
            rlccfr.Policy.load(path, policy.game)
    # Names that no action has do not count, and a file need not have names.
    for other in ("", "Fold", "null"):
        named = text.replace('"Pass"', other) if other == "null" and suffix == "json" else text.replace("Pass", other)
        path.write_text(named)
        assert np.array_equal(rlccfr.Policy.load(path, policy.game).probabilities, policy.probabilities)


def test_other_suffixes_and_missing_files_are_refused(tmp_path):
    policy = policy_of("kuhn")
    for refused in (policy.save, lambda path: rlccfr.Policy.load(path, policy.game)):
        with pytest.raises(rlccfr.RLCCFRError, match=r"file ends with .csv, .json, .npz, .efg, not with '.txt'"):
            refused(tmp_path / "policy.txt")
    with pytest.raises(rlccfr.CheckpointError, match="No such file"):
        rlccfr.Policy.load(tmp_path / "policy.npz", policy.game)


def test_a_file_in_python_would_not_be_run(tmp_path):
    path = tmp_path / "policy.npz"
    np.savez(path, header=np.array([print], dtype=object), action=[0], probability=[1.0])
    with pytest.raises(rlccfr.CheckpointError, match="not a complete policy file"):
        rlccfr.Policy.load(path, rlccfr.load_game("kuhn"))


def test_another_kind_of_file_is_told_as_one(tmp_path):
    path, small = tmp_path / "a.npz", rlccfr.load_game("bluff(dice=1)")
    rlccfr.PublicPolicy.uniform(small).save(path)
    message = r"is not a compiled-game policy file, .* 'rlccfr-public-policy-1': .* by rlccfr\.PublicPolicy\.load"
    with pytest.raises(rlccfr.CheckpointError, match=message):
        rlccfr.Policy.load(path)
    rlccfr.Policy.uniform(game("kuhn")).save(path)
    message = r"is not a hold'em or Bluff policy file, .* 'rlccfr-policy-1': .* by rlccfr\.Policy\.load"
    with pytest.raises(rlccfr.CheckpointError, match=message):
        rlccfr.PublicPolicy.load(path, small)


def test_a_gambit_file_without_a_policy_is_told(tmp_path):
    path = tmp_path / "kuhn.efg"
    rlccfr.Policy.uniform(game("kuhn")).save(path)
    path.write_text(path.read_text().replace("NE,", ""))
    with pytest.raises(rlccfr.CheckpointError, match="is not a complete policy file"):
        rlccfr.Policy.load(path)
    path.write_text(path.read_text().replace("rlccfr-policy", "by hand"))
    with pytest.raises(rlccfr.CheckpointError, match="has a game but no policy"):
        rlccfr.Policy.load(path)


@pytest.mark.parametrize(
    "name", ["holdem(ranks=3,suits=2,private=1,flop=1)", pytest.param("bluff(dice=1)", marks=pytest.mark.slow)]
)
def test_a_table_without_its_game_and_a_row_cut_short_are_told(name, tmp_path):
    path = tmp_path / "a.csv"
    rlccfr.PublicPolicy.uniform(rlccfr.load_game(name)).save(path)
    with pytest.raises(rlccfr.CheckpointError, match=r"for hold'em and Bluff, give the policy's .npz file"):
        rlccfr.Policy.load(path)
    rlccfr.Policy.uniform(game("kuhn")).save(path)
    path.write_text(path.read_text()[:-5])
    with pytest.raises(rlccfr.CheckpointError, match="its rows name different games; the last row may be cut short"):
        rlccfr.Policy.load(path)


def test_wrong_probabilities_are_told_with_file_and_infoset(tmp_path):
    path = tmp_path / "kuhn.csv"
    rlccfr.Policy.uniform(game("kuhn")).save(path)
    lines = path.read_text().splitlines()
    lines[3] = lines[3].replace(",0.5,", ",0.7,")
    path.write_text("\n".join(lines))
    with pytest.raises(
        rlccfr.PolicyError, match=r"kuhn\.csv: probabilities must .* infoset 1 sum to 1\.2, and the least is 0\.5$"
    ):
        rlccfr.Policy.load(path)
