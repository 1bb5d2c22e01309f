"""Components by the names that the literature gives them."""

from __future__ import annotations

import pytest
from support import game

import rlccfr
from rlccfr.catalog import Catalog, Cell, make
from rlccfr.components import UpdateRule
from rlccfr.envs.episode import parse_catalog
from rlccfr.errors import ComponentError
from rlccfr.registry import REGISTRIES, abstractions, plain_name, samplers, update_rule, update_rules

IN_THE_LITERATURE = {
    update_rules: {
        "cfr": ("CFR", "vanilla", "Vanilla CFR"),
        "cfr_plus": ("CFR+", "cfr+", "CFRplus", "cfr-plus", "Cfr Plus"),
        "lcfr": ("LCFR", "linear", "linear_cfr", "Linear CFR"),
        "lcfr_plus": ("lcfr+", "linear cfr+"),
        "dcfr": ("DCFR", "discounted"),
        "dcfr_plus": ("dcfr+", "DCFR+"),
        "pcfr_plus": ("PCFR+", "predictive CFR+"),
        "hs_pcfr_plus": ("HS-PCFR+",),
        "sapcfr_plus": ("SAPCFR+",),
        "deep_cfr": ("DeepCFR", "deep-cfr", "Deep CFR"),
        "deep_dcfr_plus": ("DeepDCFR+",),
    },
    samplers: {
        "external": ("ES", "es", "external_sampling", "ES-MCCFR", "es_mccfr"),
        "outcome": ("os", "outcome sampling", "os-mccfr"),
        "chance": ("cs", "chance-sampling"),
        "average_strategy": ("AS",),
        "variance_reduced": ("VR-MCCFR",),
        "public_chance": ("pcs", "public chance sampling"),
        "opponent_public_chance": ("OPCS",),
        "self_public_chance": ("spcs",),
        "dream": ("DREAM",),
        "escher": ("Escher",),
    },
    abstractions: {"cfr_br": ("CFR-BR", "cfrbr"), "rcfr": ("RCFR",), "kmeans": ("k-means",)},
}


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_names_of_the_literature_stand_for_the_component(registry):
    for id, names in IN_THE_LITERATURE[registry].items():
        for name in names:
            assert name in registry
            assert registry[name].id == registry.canonical(name) == registry.resolve(name).id == id


def test_a_name_stands_for_one_component():
    """An id may be shared by kinds, as ``none`` is; an alias may not, nor may the name of several components."""
    ids = {entry.id for registry in REGISTRIES for entry in registry}
    holders: dict[str, set[tuple[str, str]]] = {}
    for registry in REGISTRIES:
        for entry in registry:
            for name in (entry.id, *entry.aliases):
                holders.setdefault(plain_name(name), set()).add((registry.kind, entry.id))
        for name in registry.families:
            holders.setdefault(name, set()).update({(registry.kind, "one"), (registry.kind, "another")})
    shared = {name for name, components in holders.items() if len(components) > 1}
    families = {name for registry in REGISTRIES for name in registry.families}
    assert shared == families | {"none"}
    assert not families & set(map(plain_name, ids))


def test_components_that_a_name_may_stand_for_exist():
    for registry in REGISTRIES:
        for name, specs in registry.families.items():
            assert specs, name
            for spec in specs:
                registry.resolve(spec)


def test_tables_and_records_have_ids():
    solver = rlccfr.Solver(game("kuhn"), "CFR+(gamma=2)", "ES", {"id": "CFR-BR"})
    assert [spec["id"] for spec in solver.specs.values()] == ["cfr_plus", "external", "cfr_br"]
    assert make("DCFR+", gamma=3.0).id == make("Dcfr+ (gamma=3.0)").id == "dcfr_plus"
    cell = Cell("CFR+ (gamma=2)", "os", "cfr-br")
    assert str(cell.canonical) == "cfr_plus(gamma=2) x outcome x cfr_br"
    catalog = Catalog(("CFR", "cfr+"), ("none", "ES"), ("None",))
    assert catalog == Catalog(("cfr", "cfr_plus"), ("none", "external"), ("none",))
    assert catalog.index(Cell("CFR+", "ES", "none")) == catalog.index(("CFR+", "ES", "none")) == (1, 1, 0)
    with pytest.raises(ComponentError, match=r"an algorithm has 3 ids \(update_rule, sampler, abstraction\), not 2"):
        catalog.index(("CFR+", "ES"))
    with pytest.raises(ComponentError, match="the update rule 'cfr_plus' is in the catalog twice"):
        Catalog(("cfr_plus", "CFR+"), ("none",), ("none",))


def test_the_canonical_text_of_a_component_keeps_its_hyperparameters():
    for text in ("dcfr", "dcfr(gamma = 3)", "deep_cfr(preset='sweep')"):
        assert update_rules.canonical(text) == text  # stores compare texts
    assert update_rules.canonical("DCFR(gamma = 3)") == "dcfr(gamma = 3)"


@pytest.mark.parametrize(
    ("text", "rules", "sampler"),
    [
        ("tabular + pcfr+", ("pcfr_plus",), ()),
        ("tabular+PCFR+", ("pcfr_plus",), ()),
        ("tabular + PCFR+ + pdcfr+", ("pcfr_plus", "pdcfr_plus"), ()),
        ("tabular+pcfr++pdcfr+", ("pcfr_plus", "pdcfr_plus"), ()),
        ("tabular + pcfr+(gamma=1e+1) + dream", ("pcfr_plus(gamma=1e+1)",), ("dream",)),
        ("tabular+ hedge + PCS", ("hedge",), ("public_chance",)),
        ("tabular + controlled(controller='a+b')", None, ()),
        ("tabular +hs_dcfr", ("hs_dcfr",), ()),
    ],
)
def test_a_plus_sign_separates_components_or_belongs_to_a_name(text, rules, sampler):
    if rules is None:
        with pytest.raises(ComponentError, match=r"a\+b"):
            parse_catalog(text)
        return
    tabular = Catalog.tabular()
    assert parse_catalog(text).update_rules == tabular.update_rules + rules
    assert parse_catalog(text).samplers == tabular.samplers + sampler


@pytest.mark.parametrize(
    ("registry", "name", "message"),
    [
        (
            update_rules,
            "es",
            r"^'es' is a sampler \(external\), not an update rule: name it as the sampler \(",
        ),
        (
            update_rules,
            "CFR-BR",
            r"is an abstraction \(cfr_br\), not an update rule: name it as the abstraction",
        ),
        (
            samplers,
            "cfr+",
            r"is an update rule \(cfr_plus\), not a sampler: .* \(--update-rule cfr_plus\)$",
        ),
        (
            abstractions,
            "external",
            r"^'external' is a sampler, not an abstraction: .* \(--sampler external\)$",
        ),
        (samplers, "MCCFR", "use --sampler external, outcome, .* or public_chance$"),
        (update_rules, "mccfr", "use --sampler external"),
        (update_rules, "sd-cfr", r"""use --update-rule "deep_cfr\(average='value_networks'\)"$"""),
        (samplers, "external_samplin", "did you mean 'external'"),
        (samplers, "opponent public chance samplng", "did you mean 'opponent_public_chance'"),
        (update_rules, "discountd", "did you mean 'dcfr'"),
        (update_rules, "cfr_pls", "did you mean 'cfr_plus'"),
    ],
)
def test_other_names_are_told_for_what_they_are(registry, name, message):
    with pytest.raises(ComponentError, match=message):
        registry.resolve(name)


@pytest.mark.parametrize("name", ["pcfr", "pdcfr", "xcfr+", "PAPCFR+", "hs_cfr", "deep_pcfr+"])
def test_no_other_variant_of_cfr_is_suggested_for_one(name):
    """A letter or a plus sign makes another algorithm."""
    with pytest.raises(ComponentError, match=r"known: cfr, ") as error:
        update_rules.resolve(name)
    assert "did you mean" not in str(error.value)


def test_components_of_others_have_aliases_too(own_components):
    @update_rule("test_root", source="here", aliases=("Root CFR+", "root"))
    def test_root() -> UpdateRule:
        """A rule."""
        return UpdateRule()

    assert update_rules["ROOT-CFR+"].id == update_rules["root"].id == "test_root"
    assert update_rules["test_root"].aliases == ("Root CFR+", "root")


@pytest.mark.parametrize(
    ("id", "aliases", "message"),
    [
        ("cfrplus", (), "the name 'cfrplus' is taken by the update rule 'cfr_plus'"),
        ("test_taken", ("Vanilla",), "the name 'Vanilla' is taken by the update rule 'cfr'"),
        ("test_taken", ("OS",), "the name 'OS' is taken by the sampler 'outcome'"),
        ("test_taken", "root", "aliases must be a sequence of names"),
        ("test_taken", ("",), "aliases must be a sequence of names"),
    ],
)
def test_names_can_be_taken_once(id, aliases, message):
    with pytest.raises(ComponentError, match=message):
        update_rule(id, source="here", aliases=aliases)(UpdateRule)
    assert "test_taken" not in update_rules
