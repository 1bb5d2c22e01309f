from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from support import SMALL_DICE

from rlccfr.agents import shipped
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.controller_file import save_controller
from rlccfr.envs import Budget, Cell, Request
from rlccfr.envs.measuring import identity as cells
from rlccfr.envs.measuring import live
from rlccfr.envs.measuring.identity import cell_id, is_deterministic, why_unavailable
from rlccfr.envs.measuring.live import LiveEvaluator
from rlccfr.envs.measuring.request import check, due
from rlccfr.envs.measuring.store import MissingCellError
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.measuring.timing import compare
from rlccfr.errors import RLCCFRError
from rlccfr.files import as_json
from rlccfr.games import openspiel
from rlccfr.games.compiled_games import compiled
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
    assert is_deterministic([CHANCE], goofspiel)  # the game has no chance nodes
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
    ("wrong", "message"),
    [
        (request(segments=1), "at least 1, and at most segments=1, not 0"),
        (request(EXACT, EXACT, segments=1), "at least 1, and at most segments=1, not 2"),
        (request(EXACT, segments=0), "segments must be a positive integer, not 0"),
        (request(EXACT, segments=101), "100 iterations can't be split into 101 segments"),
        (request(EXACT, seed=-1), "an engine seed must be a non-negative integer, not -1"),
    ],
)
def test_requests_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(RLCCFRError, match=message):
        check(wrong)


def test_why_unavailable(broken_rules):
    assert why_unavailable(EXACT) is None
    assert "pip install" in why_unavailable(Cell("test_extra", "none", "none"))
    assert "ZeroDivisionError" in why_unavailable(Cell("test_unmade", "none", "none"))
    assert why_unavailable(Cell("test_exact_only", "none", "none")) is None
    assert "needs exact passes" in why_unavailable(Cell("test_exact_only", "external", "none"))


def registered(stake, monkeypatch):
    """Register Kuhn poker for other stakes as a class of this module, replacing an earlier one of that name."""
    import pyspiel
    from open_spiel.python.games.kuhn_poker import _GAME_TYPE, KuhnPokerGame, KuhnPokerState

    class State(KuhnPokerState):
        def returns(self):
            return [stake * worth for worth in super().returns()]

    class Kuhn(KuhnPokerGame):
        def new_initial_state(self):
            return State(self)

    names = ("dynamics", "chance_mode", "information", "utility", "reward_model", "max_num_players", "min_num_players",
        "provides_information_state_string", "provides_information_state_tensor", "provides_observation_string",
        "provides_observation_tensor")  # fmt: skip
    monkeypatch.setattr(Kuhn, "__module__", __name__)
    pyspiel.register_game(pyspiel.GameType("test_kuhn", "a test", *(getattr(_GAME_TYPE, name) for name in names)), Kuhn)


def test_a_game_that_is_registered_again_is_compiled_anew(monkeypatch):
    """When a notebook cell is run again, the game that is registered now is measured."""
    registered(1, monkeypatch)
    evaluator, asked = LiveEvaluator(), request(EXACT, game="test_kuhn")
    first, tree = evaluator.measure(asked), compiled("test_kuhn")
    assert compiled("test_kuhn") is tree
    registered(7, monkeypatch)
    second = evaluator.measure(asked)
    assert second.cell_id != first.cell_id
    assert second.exploitability == pytest.approx(7 * first.exploitability)
    assert second.uniform_exploitability == pytest.approx(7 * first.uniform_exploitability)


def test_an_episode_whose_game_is_registered_again_begins_anew(monkeypatch):
    registered(1, monkeypatch)
    evaluator, whole = LiveEvaluator(), request(EXACT, SAMPLED, game="test_kuhn")
    before = LiveEvaluator().measure(whole)
    evaluator.measure(replace(whole, cells=whole.cells[:1]))
    registered(7, monkeypatch)
    assert evaluator.measure(whole).exploitability == pytest.approx(7 * before.exploitability)


@pytest.fixture
def trained(tmp_path):
    """Function that writes another controller to one file, and returns the algorithm that it steers."""

    def write(seed):
        save_controller(Controller.untrained(CHOICES, (8,), seed=seed), tmp_path / "mine.npz")
        return Cell(f"controlled(controller={str(tmp_path / 'mine.npz')!r})", "none", "none")

    return write


def test_a_controller_that_was_trained_again_is_measured_again(trained, tmp_path):
    evaluator, found = LiveEvaluator(tmp_path / "store"), []
    for seed in (1, 2):
        found.append(evaluator.measure(request(trained(seed))).exploitability)
    assert found[0] != found[1]
    for seed, value in zip((1, 2), found, strict=True):
        assert LiveEvaluator(tmp_path / "store").known(request(trained(seed)))
        assert evaluator.measure(request(trained(seed))).exploitability == value


def test_a_tables_answers_follow_the_controller_too(trained):
    evaluator, cell = LiveEvaluator(), trained(1)
    before = evaluator.measure(request(cell)).exploitability
    table = TableEvaluator(evaluator.frame().assign(curve=[{}]))
    assert table.measure(request(cell)).exploitability == before
    trained(2)
    with pytest.raises(MissingCellError):
        table.measure(request(cell))


def test_a_segment_does_not_go_on_from_another_controllers_run(trained):
    evaluator, cell = LiveEvaluator(), trained(1)
    whole = request(cell, EXACT)
    evaluator.measure(replace(whole, cells=(cell,)))
    trained(2)
    assert evaluator.measure(whole).exploitability == LiveEvaluator().measure(whole).exploitability


def test_a_controller_that_is_replaced_during_its_run_is_no_result(trained, monkeypatch, tmp_path):
    evaluator, cell = LiveEvaluator(tmp_path / "store"), trained(1)
    monkeypatch.setattr(live, "compare", lambda *arguments, **options: (trained(2), compare(*arguments, **options))[1])
    with pytest.raises(RLCCFRError, match="has changed during the run"):
        evaluator.measure(request(cell))
    assert len(evaluator.frame()) == len(evaluator.store) == 0


def test_controllers_are_told_apart_by_what_they_are(trained, tmp_path):
    cell = trained(1)
    (tmp_path / "copy.npz").write_bytes((tmp_path / "mine.npz").read_bytes())
    copied = Cell(cell.update_rule.replace("mine", "copy"), "none", "none")
    assert cells.definitions(cell)[0]["code"] == cells.definitions(copied)[0]["code"]
    shipped = [Cell(rule, "none", "none") for rule in ("controlled", "controlled(controller='shipped')")]
    assert cells.definitions(shipped[0]) == cells.definitions(shipped[1])
    assert "code" not in cells.definitions(shipped[0])[0]


def test_what_was_measured_is_still_what_it_was_called():
    """A changed definition makes the package forget its measurements: a hyperparameter that joins must be ``later``."""
    columns = ["update_rule", "sampler", "abstraction", "components"]
    rows = pd.read_parquet(shipped.path("paper.parquet"), columns=columns).drop_duplicates()
    # The rule ``scheduled`` was measured before it had all of its hyperparameters.
    measured = rows[~rows["update_rule"].str.startswith("scheduled")]
    assert len(measured) > 336
    for row in measured.itertuples():
        cell = Cell(row.update_rule, row.sampler, row.abstraction)
        assert row.components == as_json([cells.definitions(cell)]), cell


def test_openspiels_own_games_are_compiled_once(monkeypatch):
    tree = compiled("kuhn")
    monkeypatch.setattr(openspiel, "turn_based_game", None)
    assert compiled("kuhn") is tree


def test_a_hyperparameter_that_came_later_leaves_measurements_as_they_are_at_its_default():
    """Measurements of the paper's catalog were made before baselines could be keyed by history."""
    before = {"id": "variance_reduced", "version": 1, "hyperparameters": {"exploration": 0.6, "rate": 0.5}}
    cells_ = [Cell("cfr", sampler, "none") for sampler in ("variance_reduced", "variance_reduced(key='sequence')")]
    assert [cells.definitions(cell)[1] for cell in cells_] == [before, before]
    keyed = cells.definitions(Cell("cfr", "variance_reduced(key='history')", "none"))[1]
    assert keyed["hyperparameters"] == {**before["hyperparameters"], "key": "history"}
    assert cell_id(request(cells_[0])) != cell_id(request(Cell("cfr", "variance_reduced(key='history')", "none")))
