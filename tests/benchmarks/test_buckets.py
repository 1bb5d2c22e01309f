"""The page on buckets of hands."""

from __future__ import annotations

import pytest

from benchmarks import buckets

SMALL = "holdem(ranks=4,suits=2,private=1,flop=1)"


@pytest.mark.slow
def test_the_page_has_a_table_per_game_and_map(monkeypatch):
    monkeypatch.setattr(buckets, "GAMES", {"small": SMALL})
    monkeypatch.setattr(buckets, "LARGE", SMALL)
    monkeypatch.setattr(buckets, "BUCKETS", (1, 2))
    monkeypatch.setattr(buckets, "INSIDE", 50)
    monkeypatch.setattr(buckets, "AGAINST", 5)
    lines = list(buckets.page())
    assert sum(line.startswith("| exploitability, mbb/g |") for line in lines) == 2
    inside, abstract, against = lines[lines.index("| buckets | 1 | 2 |") + 2 :][:3]
    inside, abstract, against = (list(map(float, line.split("|")[2:4])) for line in (inside, abstract, against))
    assert all(lost < real for lost, real in zip(abstract, inside, strict=True))
    assert all(value > 0 for value in against)
