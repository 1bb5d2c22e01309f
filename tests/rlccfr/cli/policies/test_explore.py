"""``rlccfr explore`` writes a page, and nothing over a policy."""

from __future__ import annotations

import re

import rlccfr


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


def test_a_page_that_is_not_the_whole_game_says_so(run, tmp_path):
    code, out, _ = run("explore", "uniform", "page.html", "--game", "holdem(ranks=5,suits=2)", "--most", "100")
    assert code == 0
    assert "--from starts it elsewhere, and --most takes more states" in out
