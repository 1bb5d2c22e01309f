from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import rlccfr
from rlccfr.catalog import Catalog, make
from rlccfr.catalog.deep import deep_rule
from rlccfr.components import ZERO, Sampler, UpdateRule
from rlccfr.components.text import parse
from rlccfr.envs import Cell
from rlccfr.envs.game_features import component_features
from rlccfr.envs.measuring.identity import definitions, why_unavailable
from rlccfr.games.merging.cache import merged_game
from rlccfr.registry import abstractions, update_rules


def discounts(rule, t):
    return update_rules.resolve(rule).schedule(t, 0)[0]


def test_schedules_by_hand():
    """The columns are positive and negative discount, floor, average decay and prediction."""
    assert discounts("cfr", 7) == pytest.approx([1, 1, -np.inf, 1, 0])
    assert discounts("cfr_plus", 4) == pytest.approx([1, 1, 0, 3 / 4, 0])
    assert discounts("lcfr", 4) == pytest.approx([3 / 4, 3 / 4, -np.inf, 3 / 4, 0])
    assert discounts("lcfr_plus", 4) == pytest.approx([3 / 4, 3 / 4, 0, 3 / 4, 0])
    assert discounts("dcfr", 5) == pytest.approx([8 / 9, 1 / 2, -np.inf, (4 / 5) ** 2, 0])
    assert discounts("dcfr_plus", 5)[[0, 2, 3]] == pytest.approx([8 / 9, 0, (4 / 5) ** 4])
    assert discounts({"id": "dcfr_plus", "c": 1.5}, 5)[0] == pytest.approx(8 / 9.5)


@pytest.mark.parametrize("rule", ["lcfr", "dcfr", "dcfr_plus", "lcfr_plus"])
def test_the_first_iteration_discounts_all_and_has_no_nan(rule):
    """d(0, e) = 0, also for e = 0, where 0^0 would give 1/2."""
    row = discounts(rule, 1)
    assert row[0] == 0
    assert not np.isnan(row).any()


def test_weights_are_in_units_of_the_newest():
    """Linear CFR's decay gives weights t in units of the newest: the sum over s of s/t."""
    t = np.arange(1, 50)
    decays = update_rules.resolve("lcfr").schedule(1, 48)[:, 0]
    weights = [np.prod(decays[s:]) for s in t]  # weight of iteration s at the end
    assert weights == pytest.approx(t / 49)


def test_hyperparameters_are_kept_with_the_component():
    rule = make("dcfr", gamma=3)
    assert rule.spec == {"id": "dcfr", "alpha": 1.5, "beta": 0.0, "gamma": 3.0}
    assert update_rules.resolve(rule.spec).schedule(1, 9) == pytest.approx(rule.schedule(1, 9))


def test_a_component_is_made_from_one_string_too():
    assert make("dcfr(gamma=3.0)", alpha=2.0).spec == make("dcfr", gamma=3.0, alpha=2.0).spec


def test_components_as_strings():
    assert parse("none") == {"id": "none"}
    assert parse("dcfr(alpha=2, beta=0.5)") == {"id": "dcfr", "alpha": 2, "beta": 0.5}
    assert update_rules.resolve("dcfr(gamma=3)").spec == make("dcfr", gamma=3.0).spec
    for text in ("dcfr(3)", "dcfr(", "dcfr(gamma=open('x'))", "dcfr(**{})"):
        with pytest.raises(rlccfr.ComponentError, match="a component looks like"):
            update_rules.resolve(text)


@pytest.mark.parametrize("schedule", [lambda t: 0.5 if t > 3 else 1.0, lambda t: "fast"])
def test_a_schedule_that_is_none_is_one_line(schedule):
    with pytest.raises(rlccfr.ComponentError, match="must turn an array of iterations"):
        UpdateRule(positive_discount=schedule).schedule(1, 5)


def test_a_schedule_may_be_a_number():
    assert UpdateRule(positive_discount=0.5).schedule(1, 2)[:, 0] == pytest.approx([0.5] * 3)


def test_every_entry_is_documented():
    for entry in update_rules:
        assert entry.source
        assert entry.summary.endswith(".")


def test_ids_shared_by_kinds_are_not_guessed():
    with pytest.raises(rlccfr.ComponentError, match="both a sampler and an abstraction"):
        make("none")
    with pytest.raises(rlccfr.ComponentError, match="did you mean 'external'"):
        make("externl")


def test_an_id_can_be_taken_once():
    with pytest.raises(rlccfr.ComponentError, match="registered already"):
        update_rules.register("cfr", source="here")(lambda: None)


CELL = """
from rlccfr.components import UpdateRule, always
from rlccfr.components.update_rule import Momentum
from rlccfr.registry import update_rule

@update_rule("test_cell", source="here")
def test_cell(power: float = 1.0) -> UpdateRule:
    \"\"\"A rule of a notebook's cell.\"\"\"
    return UpdateRule({fields})
"""


def test_a_cell_that_is_run_again_replaces_its_rule():
    """What is kept by id, such as features and what can't be measured, is computed anew."""
    momentum = "momentum=Momentum(weight=always(0.5), memory=always(0.9)), floor=0.0, exact_only=True"
    cells = [CELL.format(fields=fields) for fields in ("floor=0.0", momentum, momentum)]
    rows, reasons = [], []
    try:
        for number, cell in enumerate(cells):
            exec(compile(cell, f"cell {number}", "exec"), {"__name__": "__main__"})
            rows.append(component_features(0, "test_cell"))
            reasons.append(why_unavailable(Cell("test_cell", "none", "rcfr")))
        with pytest.raises(rlccfr.ComponentError, match="'test_cell' is registered already; choose another id"):
            exec(compile("\n\n" + cells[2], "cell 2", "exec"), {"__name__": "__main__"})
    finally:
        update_rules._entries.pop("test_cell")
    assert not np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[1], rows[2])
    assert reasons[0] is None
    assert "needs tables" in reasons[1]


BUCKETS = """
import numpy as np
from rlccfr.components import Abstraction
from rlccfr.registry import abstraction

@abstraction("test_buckets", source="here")
def test_buckets() -> Abstraction:
    \"\"\"Buckets of a notebook's cell.\"\"\"
    merges = {merges}

    def buckets(game):
        infosets = np.arange(game.num_infosets)
        return np.where(infosets < 3, 0, infosets) if merges else infosets

    return Abstraction(buckets=buckets)
"""


def test_a_cell_that_is_run_again_replaces_its_buckets_on_a_game_that_had_the_others():
    kuhn = rlccfr.load_game("kuhn(cards=4)")
    merged = []
    try:
        for merges in (False, True):
            exec(compile(BUCKETS.format(merges=merges), f"cell {merges}", "exec"), {"__name__": "__main__"})
            merged.append(merged_game(kuhn, *buckets_of("test_buckets")).tree.num_infosets)
    finally:
        abstractions._entries.pop("test_buckets")
    assert merged == [kuhn.num_infosets, kuhn.num_infosets - 2]


def buckets_of(id):
    component = abstractions.resolve(id)
    return component.buckets, component.key


def local_rule():
    """Return a factory that is defined anew at each call."""

    def factory(power: float = 1.0):
        return UpdateRule()

    return factory


@pytest.mark.parametrize("factories", [(local_rule(), local_rule()), (partial(local_rule()), partial(local_rule()))])
def test_other_callables_than_functions_of_a_module_do_not_replace_each_other(factories):
    first, second = factories
    update_rules.register("test_twice", source="here")(first)
    try:
        with pytest.raises(rlccfr.ComponentError, match="registered already"):
            update_rules.register("test_twice", source="here")(second)
    finally:
        update_rules._entries.pop("test_twice")


def test_an_error_in_a_factory_is_one_line_with_its_place():
    def failing(steps: int = 0):
        return UpdateRule(floor=1 / steps)

    update_rules.register("test_failing", source="here")(failing)
    try:
        with pytest.raises(
            rlccfr.ComponentError,
            match=r"^the factory of 'test_failing' fails: ZeroDivisionError: .* \(line \d+ of test_update_rules.py\)$",
        ):
            update_rules.resolve("test_failing")
    finally:
        update_rules._entries.pop("test_failing")


def test_a_users_rule_works_from_its_definition_alone():
    """The rule is Hedge by a function of its own, registered from outside the library."""
    from rlccfr.components import UpdateRule, always

    def hedge(row, state, parameters, utility_range):
        top = row.max()
        total = 0.0
        for a in range(len(row)):
            row[a] = np.exp(parameters[0] * (row[a] - top))
            total += row[a]
        for a in range(len(row)):
            row[a] /= total

    rule = UpdateRule(policy_map=hedge, parameters=(always(0.5),))
    tree = rlccfr.load_game("kuhn")
    for sampler in ("none", "external"):
        result = rlccfr.Solver(tree, rule, sampler).run(iterations=5_000)
        assert result.exploitability < 0.1 * rlccfr.Policy.uniform(tree).exploitability()


def test_a_function_that_numba_refuses_is_named_in_one_line():
    from rlccfr.components import UpdateRule

    def broken(row, state, parameters, utility_range):
        row.no_such_method()

    with pytest.raises(rlccfr.ComponentError, match="broken") as error:
        rlccfr.Solver(rlccfr.load_game("kuhn"), UpdateRule(policy_map=broken))
    assert "\n" not in str(error.value)


def test_the_papers_catalog():
    catalog = Catalog.paper()
    assert catalog.shape == (16, 7, 3)
    assert len(list(catalog)) == len(set(catalog)) == len(catalog) == 336
    assert Catalog.tabular().shape == (8, 7, 2)
    assert set(Catalog.tabular()) < set(catalog) < set(Catalog.extended())
    for index, cell in enumerate(catalog):
        assert catalog.ravel(*catalog.index(cell)) == index
        assert catalog.cell(*catalog.unravel(index)) == cell


def test_catalogs_are_told_apart():
    paper = Catalog.paper()
    smaller = Catalog(paper.update_rules[:3], paper.samplers, paper.abstractions)
    assert paper.content_hash == Catalog.paper().content_hash != smaller.content_hash
    with pytest.raises(rlccfr.ComponentError, match="the update rule 'cfr' is in the catalog twice"):
        Catalog(("cfr", "cfr"), paper.samplers, paper.abstractions)
    for spec in ("dcfr(alpha=1.5)", "dcfr(gamma=2,alpha=1.50)"):  # the defaults, in other words
        with pytest.raises(rlccfr.ComponentError, match=r"'dcfr' is in the catalog twice, as 'dcfr' and as 'dcfr\("):
            Catalog(("dcfr", spec), paper.samplers, paper.abstractions)
    with pytest.raises(rlccfr.ComponentError, match="did you mean"):
        Catalog(("cfrr",), paper.samplers, paper.abstractions)
    with pytest.raises(rlccfr.ComponentError, match="not in this catalog"):
        smaller.index(rlccfr.catalog.Cell("dcfr", "none", "none"))
    with pytest.raises(IndexError):
        paper.unravel(336)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (lambda power: UpdateRule(), "'power' needs a default"),
        (lambda pow=1.0: UpdateRule(), "bounds= names 'power', which is not a hyperparameter"),
    ],
)
def test_what_cannot_be_a_component_is_refused_when_it_is_registered(factory, message):
    with pytest.raises(rlccfr.ComponentError, match=message):
        update_rules.register("test_refused", source="a test", bounds={"power": (0.0, 1.0)})(factory)
    with pytest.raises(rlccfr.ComponentError, match="later= names 'power', which is not a hyperparameter"):
        update_rules.register("test_refused", source="a test", later=("power",))(UpdateRule)
    assert "test_refused" not in update_rules


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda power=1.0: UpdateRule(), "must take networks"),
        (lambda networks, hidden=3: UpdateRule(), "'hidden' is a setting of the networks"),
    ],
)
def test_a_deep_rule_takes_networks_and_names_of_its_own(function, message):
    with pytest.raises(rlccfr.ComponentError, match=message):
        deep_rule("test_refused", source="a test")(function)


def test_a_factory_must_return_what_it_promises(own_components):
    update_rules.register("test_nothing", source="a test")(lambda: None)
    deep_rule("test_plain", source="a test")(lambda networks: UpdateRule())
    update_rules.register("test_misspelt", source="a test")(lambda: UpdateRule(positive_discont=1.0))
    update_rules.register("test_sampler", source="a test")(lambda rate=0.0: Sampler(baseline_rate=rate))
    for id, message in (
        ("test_nothing", "must return an UpdateRule, not a NoneType"),
        ("test_sampler", "must return an UpdateRule, not a Sampler"),
        ("test_misspelt", "fails: .*unexpected keyword argument 'positive_discont'"),
        ("test_plain", "a deep rule needs networks"),
    ):
        with pytest.raises(rlccfr.ComponentError, match=message):
            update_rules[id].make()


@pytest.mark.parametrize(
    ("field", "schedule", "message"),
    [
        ("positive_discount", lambda t: -0.5, "positive_discount of the rule is -0.5 at iteration 1"),
        ("average_decay", lambda t: 1 / (t - 1), "average_decay of the rule is inf at iteration 1"),
        ("prediction", lambda t: t / 0, "prediction of the rule is inf"),
        ("negative_discount", lambda t: np.ones(3), r"shape \(1,\)"),
        ("positive_discount", math.sqrt, "use NumPy's functions"),
    ],
)
def test_schedules_say_which_of_them_is_wrong_and_where(field, schedule, message):
    with pytest.raises(rlccfr.ComponentError, match=message) as error:
        rlccfr.Solver(rlccfr.load_game("kuhn"), UpdateRule(**{field: schedule})).run(iterations=1)
    assert "\n" not in str(error.value)


def test_a_schedule_may_end_after_what_is_asked_for():
    table = np.linspace(0.5, 1, 101)
    rule = UpdateRule(positive_discount=lambda t: table[t.astype(int) - 1])
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), rule)
    for iterations in (1, 19, 80):
        assert solver.run(iterations=iterations).exploitability >= 0
    with pytest.raises(rlccfr.ComponentError, match="positive_discount"):
        solver.run(iterations=1)


@pytest.mark.parametrize("exact", [True, False])
def test_where_the_prediction_is_nothing_the_rule_is_plain(exact):
    """This holds whatever the next discount is, on the path that only predicts and on the general one."""
    never = {"positive_discount": lambda t: np.where(t == 5, 0.0, 1.0), "prediction": lambda t: 0 * t}
    plain = {**never, "prediction": ZERO}
    sampler = "none" if exact else "external"
    rules = (plain, never, {**never, "fallback": "argmax"}) if exact else (plain, never)
    policies = []
    for settings in rules:
        solver = rlccfr.Solver(rlccfr.load_game("kuhn"), UpdateRule(**settings), sampler)
        solver.run(iterations=4)
        policies.append(solver.current_policy().probabilities)
    for other in policies[1:]:
        assert other == pytest.approx(policies[0], abs=1e-12)


def test_a_catalog_may_fix_hyperparameters():
    """They replace the defaults and are part of what is measured and hashed."""
    fixed = Catalog(("dcfr(gamma=3.0)", "dcfr", "deep_cfr(preset='sweep')"), ("none",), ("none",))
    other = Catalog(("dcfr(gamma=4.0)", *fixed.update_rules[1:]), ("none",), ("none",))
    assert fixed.content_hash != other.content_hash
    entry = update_rules["dcfr(gamma=3.0)"]
    assert entry.hyperparameters == {"alpha": 1.5, "beta": 0.0, "gamma": 3.0}
    assert entry.make().spec == make("dcfr", gamma=3.0).spec
    assert entry.make(gamma=5.0).hyperparameters["gamma"] == 5.0
    assert definitions(fixed.cell(2, 0, 0))[0]["hyperparameters"]["preset"] == "sweep"
    for wrong, message in (("dcfr(gama=1.0)", "did you mean 'gamma'"), ("dcfr(gamma=-1.0)", "gamma must lie in")):
        with pytest.raises(rlccfr.ComponentError, match=message):
            Catalog((wrong,), ("none",), ("none",))
