"""The list of generated spots."""

from __future__ import annotations

from itertools import islice

import pandas as pd

import rlccfr
from benchmarks import spots


def test_the_list_is_what_the_seeds_draw():
    listed = pd.read_csv(spots.FILE)
    assert not listed["game"].duplicated().any()
    for (split, street), rows in listed.groupby(["split", "street"]):
        first_seed, numbers = spots.SPLITS[split]
        assert len(rows) == numbers[street]
        assert rows["seed"].between(first_seed, first_seed + 99_999).all()
        assert (rows["entries"] <= spots.MOST_ENTRIES[street]).all()
        drawn = list(islice(spots.spots(split, street), 1))
        assert drawn == rows.head(1).to_dict("records")


def test_a_listed_spot_is_a_game_of_its_size():
    listed = pd.read_csv(spots.FILE)
    row = listed[listed["street"] == "river"].iloc[0]
    game = rlccfr.load_game(row["game"])
    assert (game.full_name, game.num_sequences) == (row["game"], row["entries"])
    assert rlccfr.Solver(game, "dcfr").run(until="1%").exploitability <= 0.01 * game.pot
