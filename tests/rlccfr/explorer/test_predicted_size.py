"""The size of a page is predicted before it is written."""

from __future__ import annotations

import numpy as np
import pytest
from support import game

import rlccfr
from rlccfr.errors import GameError
from rlccfr.explorer.pages import predicted_size, write_page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start", "most"),
    [
        ("leduc", "", 1),
        ("leduc(ranks=6,suits=2)", "", 1),
        ("goofspiel(num_cards=5,imp_info=True,points_order=descending)", "", 1),
        ("holdem(ranks=5,suits=2)", "", 200_000),
        ("holdem(ranks=5,suits=2)", "", 10_000),
        ("holdem(ranks=5,suits=2)", "rc", 200_000),
    ],
)
def test_the_predicted_size_is_about_that_of_the_page(tmp_path, name, start, most):
    """A limit has no effect on a compiled game, whose page holds all of it."""
    tree = game(name) if "holdem" not in name else rlccfr.load_game(name)
    entries = np.random.default_rng(0).random(tree.num_sequences)
    is_public = not tree.form.has_histories
    policy = rlccfr.PublicPolicy(tree, entries) if is_public else rlccfr.Policy(tree, tree.normalised(entries))
    predicted = predicted_size(policy, start=start, most=most)
    size = write_page(policy, tmp_path / "page.html", start=start, most=most)
    assert predicted.states == pytest.approx(size.states, rel=0.25)
    template = (tmp_path / "page.html").read_text().index('id="index"')
    assert size.num_bytes / 2 < predicted.num_bytes + template < 2 * size.num_bytes


def test_a_start_that_is_no_path_is_refused():
    with pytest.raises(GameError, match="has the path 'x'"):
        predicted_size(rlccfr.PublicPolicy.uniform(rlccfr.load_game("bluff")), start="x")
