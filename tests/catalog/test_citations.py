"""Every component has BibTeX that a bibliography takes."""

from __future__ import annotations

import re

import pytest

import rlccfr
from rlccfr.catalog.citations import EXACT, works, works_of
from rlccfr.components import UpdateRule
from rlccfr.components.controller import CHOICES, Controller
from rlccfr.registry import REGISTRIES, update_rules

FIELD = re.compile(r"^  (\w+) = \{(.*)\},?$")


def entries(text):
    """Return the fields of each entry by its key, after the rules that BibTeX has: braces pair, keys are unique."""
    found = {}
    for block in text.strip().split("\n\n"):
        head, *lines, last = block.split("\n")
        kind, key = re.fullmatch(r"@(\w+)\{([\w-]+),", head).groups()
        assert last == "}"
        assert kind in {"inproceedings", "article", "book", "mastersthesis", "misc"}
        assert key not in found
        found[key] = {}
        for number, line in enumerate(lines):
            name, value = FIELD.fullmatch(line).groups()
            assert line.endswith(",") == (number < len(lines) - 1)
            depth = 0
            for sign in value:
                depth += {"{": 1, "}": -1}.get(sign, 0)
                assert depth >= 0
            assert depth == 0
            found[key][name] = value
    return found


def test_every_component_is_cited():
    for entry in (entry for registry in REGISTRIES for entry in registry):
        found = entries(rlccfr.cite(entry.id))
        assert list(found)[-2:] == ["rlccfr", "keshavarzi-combining"], entry.id
        assert entry.id not in found  # the library's own components name works
        assert entry.source.startswith("this library") or len(found) > 2, entry.id
        for fields in found.values():
            assert "title" in fields, entry.id
            assert "named" not in fields, entry.id


def test_every_work_is_some_components():
    cited = {work.key for registry in REGISTRIES for entry in registry for work in works_of(entry)}
    assert cited == {work.key for work in works()} - {*EXACT}


def test_an_algorithm_cites_each_work_once():
    keys = ["brown2019discounted", "lanctot2009monte", "zinkevich2007regret", "rlccfr", "keshavarzi-combining"]
    assert sorted(entries(rlccfr.cite("dcfr(gamma=3) x chance x none"))) == sorted(keys)
    assert rlccfr.cite(("dcfr", "chance", "none")) == rlccfr.cite("dcfr", "chance", "none")
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), "dcfr", "chance")
    assert rlccfr.cite(solver) == rlccfr.cite("dcfr", "chance", "none")
    assert rlccfr.cite(solver.update_rule) == rlccfr.cite("dcfr")
    controller = Controller.untrained(CHOICES, (4,))
    assert rlccfr.cite(rlccfr.Solver(solver.game, control=controller).update_rule) == rlccfr.cite("controlled")
    assert list(entries(rlccfr.cite())) == ["rlccfr", "keshavarzi-combining"]


def test_a_rule_of_ones_own_is_cited_by_its_source(own_components):
    @update_rules.register("mine_too", source=r"Somebody & others {2026, 50 % of t^3, $1 #2 ~x \y")
    def mine() -> UpdateRule:
        """Mine."""
        return UpdateRule()

    assert entries(rlccfr.cite("mine_too"))["mine_too"] == {
        "title": r"mine\_too",
        "note": r"Somebody \& others \textbraceleft{}2026, 50 \% of t\^{}3, \$1 \#2 \~{}x \textbackslash{}y",
    }


def test_exact_solutions_are_cited_and_other_things_refused():
    tree = rlccfr.load_game("kuhn")
    assert list(entries(rlccfr.cite(rlccfr.solve_exactly(tree))))[:2] == list(EXACT)
    for thing in (rlccfr.Policy.uniform(tree), 3, UpdateRule(), {"id": "dcfr"}):
        with pytest.raises(rlccfr.ComponentError, match=r"can't cite .*: give ids, registered components, solvers"):
            rlccfr.cite(thing)


@pytest.mark.parametrize("name", ["nonsense", "", "dcfr x nonsense x none", "dcfr(gamma=x)"])
def test_what_is_no_component_is_refused(name):
    with pytest.raises(rlccfr.ComponentError):
        rlccfr.cite(name)


def test_the_command_prints_it(run, tmp_path):
    assert run("cite", "dcfr", "external", "none")[1] == rlccfr.cite("dcfr", "external", "none")
    solver = rlccfr.Solver(rlccfr.load_game("kuhn"), "dcfr")
    solver.save(tmp_path / "run.npz")
    assert run("cite", str(tmp_path / "run.npz"))[1] == rlccfr.cite(solver)
    assert run("cite")[1] == rlccfr.cite()
    code, out, err = run("cite", "externl")
    assert (code, out) == (1, "")
    assert "unknown component 'externl'; did you mean 'external'?" in err
