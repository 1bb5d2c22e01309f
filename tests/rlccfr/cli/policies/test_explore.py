"""``rlccfr explore`` writes a page, and nothing over a policy."""

from __future__ import annotations

import re

import numpy as np

import rlccfr
from rlccfr.cli.policies import explore
from rlccfr.explorer import pages


def test_a_page_is_written(run, tmp_path):
    path = tmp_path / "kuhn.npz"
    rlccfr.Policy.uniform(rlccfr.load_game("kuhn")).save(path)
    code, out, err = run("explore", str(path), str(tmp_path / "kuhn.html"))
    assert (code, err) == (0, "")
    assert re.search(r"kuhn.html: open it in a browser \(\d+ points, \d+ states, 0.0\d+ MB\)\n$", out)
    assert "A policy of kuhn" in (tmp_path / "kuhn.html").read_text()


def test_what_can_not_be_explored_is_one_line(run, tmp_path):
    path = tmp_path / "kuhn.npz"
    rlccfr.Policy.uniform(rlccfr.load_game("kuhn")).save(path)
    before = path.read_bytes()
    for arguments, message in (
        ((path, path), "PAGE is written as .html or .htm, not as '.npz'"),
        ((tmp_path / "none.npz", tmp_path / "a.html"), "there is no file"),
        ((path, tmp_path / "a.html", "--from", "c"), "has no public tree"),
        (("uniform", tmp_path / "a.html"), "name the game with --game"),
        (("uniform", tmp_path / "a.html", "--game", "bluff", "--from", "x"), "no node of 'bluff' has the path 'x'"),
    ):
        code, out, err = run("explore", *map(str, arguments))
        assert (code, out) == (1, "")
        assert message in err
        assert err.count("\n") == 1
    assert path.read_bytes() == before
    assert not (tmp_path / "a.html").exists()


def test_how_large_a_large_page_will_be_is_said_before_it_is_written(run, tmp_path, monkeypatch):
    """A full disk leaves only what was said before."""

    def fail(*arguments, **options):
        raise rlccfr.RLCCFRError("not written")

    monkeypatch.setattr(pages, "write_page", fail)
    for game, options, states in (
        ("leduc", (), 1_872),
        ("bluff", (), 49_152),
        ("bluff", ("--most", "40000"), 40_000),
    ):
        kind = rlccfr.game.policy_class(rlccfr.load_game(game))
        predicted = pages.predicted_size(kind.uniform(rlccfr.load_game(game)), most=states)
        monkeypatch.setattr(explore, "LARGE_PAGE", predicted.num_bytes)
        assert run("explore", "uniform", "page.html", "--game", game, *options)[2] == "error: not written\n"
        monkeypatch.setattr(explore, "LARGE_PAGE", predicted.num_bytes / 2)
        first, second = run("explore", "uniform", "page.html", "--game", game, *options)[2].splitlines()
        assert first.startswith(f"page.html will have some {predicted.num_bytes / 1e6:.2g} MB, for {states:,} states, ")
        if game == "leduc":
            shown = re.search("`rlccfr (show .*) --find TEXT`", first)[1].split()
            assert run(*shown, "--find", "Round 2")[0] == 0
        else:
            assert f"--most {states // 2} makes it" in first
        assert second == "error: not written"


def test_the_page_holds_as_many_states_as_the_advice_says(run, tmp_path, monkeypatch):
    game = rlccfr.load_game("holdem(ranks=5,suits=2)")
    rlccfr.PublicPolicy(game, np.random.default_rng(0).random(game.num_sequences)).save(tmp_path / "policy.npz")
    monkeypatch.setattr(explore, "LARGE_PAGE", 0.4e6)
    code, _, err = run("explore", "policy.npz", "page.html")
    assert code == 0
    most = re.search(r"--most (\d+) makes it", err)[1]
    code, _, err = run("explore", "policy.npz", "page.html", "--most", most)
    assert (code, err) == (0, "")
    assert 0.2e6 < (tmp_path / "page.html").stat().st_size < 0.8e6


def test_a_page_that_is_not_the_whole_game_says_so(run, tmp_path):
    code, out, _ = run("explore", "uniform", "page.html", "--game", "holdem(ranks=5,suits=2)", "--most", "100")
    assert code == 0
    assert "--from starts it elsewhere, and a larger --most adds states" in out
