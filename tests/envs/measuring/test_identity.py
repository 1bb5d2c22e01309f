from __future__ import annotations

from dataclasses import replace

import pytest
from support import SMALL_DICE

from rlccfr.envs import Budget, Cell, Request
from rlccfr.envs.measuring import identity as cells
from rlccfr.envs.measuring.compiled_games import compiled
from rlccfr.envs.measuring.identity import cell_id, is_deterministic, why_unavailable
from rlccfr.envs.measuring.request import check, due
from rlccfr.errors import RLCCFRError
from rlccfr.registry import update_rules

EXACT = Cell("cfr_plus", "none", "none")
SAMPLED = Cell("cfr_plus", "external", "none")
CHANCE = Cell("cfr_plus", "chance", "none")


def request(*triples, **changes):
    return replace(Request("kuhn", triples, Budget("iterations", 100), segments=len(triples)), **changes)


def test_what_draws_nothing_is_deterministic():
    kuhn, goofspiel, dice = compiled("kuhn"), compiled("goofspiel"), compiled(SMALL_DICE)
    assert is_deterministic([EXACT], kuhn)
    assert not is_deterministic([SAMPLED], goofspiel)
    assert is_deterministic([CHANCE], goofspiel)  # no chance nodes
    assert not is_deterministic([CHANCE], dice)
    assert not is_deterministic([EXACT, SAMPLED], kuhn)


def test_a_deterministic_cell_has_one_id_for_all_seeds():
    assert cell_id(request(EXACT)) == cell_id(request(EXACT, seed=7))
    assert cell_id(request(SAMPLED)) != cell_id(request(SAMPLED, seed=7))


@pytest.mark.parametrize(
    "other",
    [
        request(EXACT),
        request(SAMPLED, game="leduc"),
        request(SAMPLED, budget=Budget("iterations", 101)),
        request(SAMPLED, budget=Budget("nodes", 100)),
        request(SAMPLED, segments=2),
        request(SAMPLED, SAMPLED),
    ],
)
def test_different_requests_have_different_ids(other):
    assert cell_id(request(SAMPLED)) != cell_id(other)


def test_the_id_changes_with_definition_engine_and_processor(monkeypatch):
    before = cell_id(request(SAMPLED))
    assert cell_id(request(SAMPLED)) == before
    with monkeypatch.context() as patch:
        patch.setattr(cells, "processor_model", lambda: "another")
        assert cell_id(request(SAMPLED)) != before
    with monkeypatch.context() as patch:
        patch.setattr(cells, "engine_version", lambda: "another")
        assert cell_id(request(SAMPLED)) != before
    with monkeypatch.context() as patch:
        patch.setitem(update_rules._entries, "cfr_plus", replace(update_rules["cfr_plus"], version=2))
        assert cell_id(request(SAMPLED)) != before
    assert cell_id(request(SAMPLED)) == before


def test_a_name_and_its_openspiel_string_are_one_game():
    assert cell_id(request(SAMPLED)) == cell_id(request(SAMPLED, game="kuhn_poker"))


def test_shares_are_whole_and_add_up():
    budget = Budget("iterations", 1000)
    shares = [due(budget, 3, index + 1) - due(budget, 3, index) for index in range(3)]
    assert shares == [333, 333, 334]
    assert all(isinstance(part, int) for part in shares)
    assert due(Budget("seconds", 1.0), 4, 2) == 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        request(),
        request(EXACT, EXACT, segments=1),
        request(EXACT, segments=0),
        request(EXACT, segments=101),
        request(EXACT, seed=-1),
    ],
)
def test_requests_that_make_no_sense_are_refused(wrong):
    with pytest.raises(RLCCFRError):
        check(wrong)


def test_why_unavailable(broken_rules):
    assert why_unavailable(EXACT) is None
    assert "pip install" in why_unavailable(Cell("test_extra", "none", "none"))
    assert "ZeroDivisionError" in why_unavailable(Cell("test_unmade", "none", "none"))
    assert why_unavailable(Cell("test_exact_only", "none", "none")) is None
    assert "not sound" in why_unavailable(Cell("test_exact_only", "external", "none"))
