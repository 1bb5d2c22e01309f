from __future__ import annotations

import pytest

from rlccfr.catalog import Catalog, Cell
from rlccfr.catalog.deep import deep_rule, learned
from rlccfr.catalog.facts import facts
from rlccfr.components import Abstraction, Guarantee, Sampler, UpdateRule, always
from rlccfr.errors import ComponentError
from rlccfr.registry import abstractions, samplers, update_rules


@pytest.mark.slow
def test_every_cell_is_described():
    for cell in Catalog.extended():
        known = facts(cell)
        assert known.reason
        learns = cell.update_rule.startswith("deep_") or cell.abstraction == "rcfr"
        assert known.deterministic == (cell.sampler == "none" and not learns)
        assert known.cost.startswith("tree" if cell.sampler == "none" else "walk")
        assert ("fit" in known.cost) == learns == (known.needs == ("torch",))
        assert (known.guarantee == "conditional on fit") <= learns
        assert (known.guarantee == "none") or "20" in known.reason  # a year, so it is published


def test_some_by_hand():
    assert facts(Cell("cfr_plus", "none", "cfr_br")).guarantee == "deterministic"
    assert facts(Cell("cfr", "outcome", "none")).guarantee == "high probability"
    assert facts(Cell("cfr", "external", "cfr_br")).guarantee == "none"
    assert facts(Cell("ecfr", "none", "none")).guarantee == "none"
    assert facts(Cell("dcfr", "external", "none")).cost == "walk"
    assert facts(Cell("deep_cfr", "external", "none")) == (
        "conditional on fit", "Brown et al. 2019 (Deep CFR), theorem 1", False, "walk + fit", ("torch",)
    )  # fmt: skip
    assert facts(Cell("cfr_plus", "none", "rcfr")).guarantee == "conditional on fit"
    assert facts(Cell("cfr", "external", "rcfr")).guarantee == "none"
    assert facts(Cell("deep_lcfr", "external", "none")).guarantee == "none"
    with pytest.raises(ComponentError):
        facts(Cell("cfr", "nothing", "none"))


NOTHING = ("none", "no theorem on record")


def rule(id, **more):
    update_rules.register(id, source="a test", **more)(lambda decay=1.0: UpdateRule(average_decay=always(decay)))


@pytest.mark.parametrize("sampler", ["none", "external"])
@pytest.mark.parametrize("abstraction", ["none", "cfr_br", "rcfr"])
@pytest.mark.parametrize("id", ["test_mine", "ecfr_mine", "hs_dcfr_mine"])
def test_nothing_is_claimed_of_a_strangers_rule(own_components, id, sampler, abstraction):
    rule(id)
    assert facts(Cell(id, sampler, abstraction))[:2] == NOTHING


@pytest.mark.parametrize("sampler", ["none", "external"])
@pytest.mark.parametrize("id", ["deep_ecfr_mine", "deep_hedge"])
def test_nothing_is_claimed_of_a_strangers_deep_rule(own_components, id, sampler):
    """This holds even if the rest of its id, after the prefix, is a tabular rule of the library."""
    deep_rule(id, source="a test")(lambda networks: learned(UpdateRule(), networks))
    assert facts(Cell(id, sampler, "none"))[:2] == NOTHING


def test_nothing_is_claimed_of_a_strangers_sampler_or_abstraction(own_components):
    samplers.register("test_walk", source="a test")(lambda: Sampler(opponent="all"))
    samplers.register("test_all", source="a test")(lambda: Sampler(exact=True))
    abstractions.register("test_answer", source="a test")(lambda: Abstraction(best_response=True))
    for cell in (("cfr", "test_walk", "none"), ("deep_cfr", "test_walk", "none"), ("cfr", "test_all", "none"),
                 ("cfr", "none", "test_answer"), ("deep_cfr", "external", "test_answer")):  # fmt: skip
        assert facts(cell)[:2] == NOTHING


def test_a_strangers_theorem_is_told_for_what_it_is_of(own_components):
    rule("test_exact", guarantee=Guarantee(exact="A. Stranger 2020"))
    rule("test_both", guarantee=Guarantee(exact="A. Stranger 2020", sampled="B. Stranger 2021"))
    assert facts(("test_exact", "none", "none"))[:2] == ("deterministic", "A. Stranger 2020")
    assert facts(("test_exact", "none", "cfr_br")).reason == (
        "A. Stranger 2020; with best responses, Johanson et al. 2012"
    )
    assert facts(("test_exact", "external", "none"))[:2] == NOTHING
    assert facts(("test_both", "external", "none"))[:2] == ("high probability", "B. Stranger 2021")
    deep_rule("test_deep", source="a test", guarantee=Guarantee(exact_fit="test_both"))(
        lambda networks: learned(UpdateRule(), networks)
    )
    assert facts(("test_deep", "none", "none"))[:2] == (
        "conditional on fit", "with an exact fit it is test_both: A. Stranger 2020"
    )  # fmt: skip
    deep_rule("test_lost", source="a test", guarantee=Guarantee(exact_fit="nowhere"))(
        lambda networks: learned(UpdateRule(), networks)
    )
    assert facts(("test_lost", "none", "none"))[:2] == NOTHING
