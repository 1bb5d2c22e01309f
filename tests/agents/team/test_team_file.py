"""A saved team knows other authors' components by their source, and names those that are not there."""

from __future__ import annotations

import json
import textwrap

import numpy as np
import pytest

from rlccfr.agents.team import SelectorTeam
from rlccfr.agents.team.team_file import FILE_NAME
from rlccfr.catalog import Catalog
from rlccfr.errors import CheckpointError
from rlccfr.plugins import load_file
from rlccfr.registry import update_rules

RULE = '''
from rlccfr.components import UpdateRule
from rlccfr.registry import update_rule

@update_rule("test_stranger", source="a test")
def test_stranger(power: float = 1.0):
    """Plain CFR."""
    return UpdateRule(average_decay=lambda t: ((t - 1) / t) ** power)
'''
CATALOG = Catalog(("cfr", "dcfr"), ("none", "external"), ("none",))


@pytest.fixture
def register(tmp_path, monkeypatch):
    """Function that writes a file with the given source and loads it in place of the one before."""
    monkeypatch.setattr("rlccfr.plugins.loaded.files", [])

    def write(source):
        update_rules._entries.pop("test_stranger", None)
        path = tmp_path / "mine.py"
        path.write_text(textwrap.dedent(source))
        load_file(path)
        return path

    yield write
    update_rules._entries.pop("test_stranger", None)


@pytest.fixture
def saved(register, evaluator, tmp_path):
    """Folder of a team whose catalog includes a rule from a file."""
    register(RULE)
    team = SelectorTeam(catalog=CATALOG.plus(["test_stranger(power=2)"]), evaluator=evaluator)
    team.save(tmp_path / "team")
    return tmp_path / "team"


@pytest.mark.parametrize("source", [RULE, f"# a remark\n{RULE}", RULE.replace("Plain CFR", "CFR as it is")])
def test_the_same_code_is_loaded_whatever_is_said_of_it(saved, register, evaluator, source):
    register(source)
    assert SelectorTeam.load(saved, evaluator=evaluator).catalog == CATALOG.plus(["test_stranger(power=2)"])


def test_another_source_is_refused_by_the_components_name(saved, register, evaluator):
    register(RULE.replace("(t - 1) / t", "(t - 1) / (t + 1)"))
    with pytest.raises(CheckpointError) as caught:
        SelectorTeam.load(saved, evaluator=evaluator)
    assert str(caught.value) == (
        "the source or file of update_rule 'test_stranger(power=2)' has changed since the team in "
        f"{saved / FILE_NAME} was trained: undo the change, or train the team again with `rlccfr train` and --fresh"
    )


STRANGER = "update_rule 'test_stranger(power=2)'"


def change(saved, alter):
    """Write the team's file again with an altered header."""
    with np.load(saved / FILE_NAME) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["header"]))
    alter(header["catalog"])
    np.savez(saved / FILE_NAME, **(arrays | {"header": np.array(json.dumps(header))}))


@pytest.mark.parametrize(
    ("origin", "told", "option"),
    [
        ("{folder}/mine.py", " of {folder}/mine.py", "--load {folder}/mine.py"),
        ("{folder}/gone.py", " of {folder}/gone.py", "--load FILE"),
        ("some_plugin.rules", " of some_plugin.rules", "--plugins"),
        ("", "", "--load FILE"),
    ],
)
def test_a_component_that_is_not_registered_is_named_with_what_loads_it(
    saved, evaluator, tmp_path, origin, told, option
):
    if origin != "{folder}/mine.py":  # which is what the team itself has kept
        change(saved, lambda catalog: catalog["origins"].update({STRANGER: origin.format(folder=tmp_path)}))
    update_rules._entries.pop("test_stranger")
    with pytest.raises(CheckpointError) as caught:
        SelectorTeam.load(saved, evaluator=evaluator)
    assert str(caught.value) == (
        f"{saved / FILE_NAME} picks among components that are not registered: {STRANGER}"
        f"{told.format(folder=tmp_path)}. Load the code that registers them with "
        f"`rlccfr {option.format(folder=tmp_path)} ...`, or import it in Python"
    )


def test_a_component_of_a_newer_library_is_named_with_the_way_out(saved, evaluator):
    change(saved, lambda catalog: catalog["origins"].pop(STRANGER))
    update_rules._entries.pop("test_stranger")
    with pytest.raises(CheckpointError) as caught:
        SelectorTeam.load(saved, evaluator=evaluator)
    assert str(caught.value) == (
        f"{saved / FILE_NAME} picks among components that this version of rlccfr does not have: {STRANGER}. Install "
        "the version that trained the team, or a newer one"
    )


def test_a_component_whose_hyperparameters_are_others_now_is_named_with_the_team(saved, register, evaluator):
    register(RULE.replace("power", "exponent"))
    with pytest.raises(CheckpointError, match=r"team.npz can't be loaded here: 'test_stranger' has no hyperparameter"):
        SelectorTeam.load(saved, evaluator=evaluator)


def test_a_team_that_was_saved_without_digests_is_loaded(saved, evaluator):
    """The teams that come with the package have none."""
    change(saved, lambda catalog: [catalog.pop(name) for name in ("code", "origins")])
    assert SelectorTeam.load(saved, evaluator=evaluator).catalog.update_rules[-1] == "test_stranger(power=2)"


@pytest.mark.slow
def test_recommend_names_the_team_the_component_and_the_ways_out(run, register, evaluator):
    mine = register(RULE)
    SelectorTeam(catalog=CATALOG.plus(["test_stranger"]), evaluator=evaluator).save("runs/kuhn")
    update_rules._entries.pop("test_stranger")
    message = (
        f"error: runs/kuhn/{FILE_NAME} picks among components that are not registered: update_rule 'test_stranger' of "
        f"{mine}. Load the code that registers them with `rlccfr --load {mine} ...`, or import it in Python. Or leave "
        "out --team, to ask the package"
    )
    ask = ("recommend", "kuhn", "--team", "runs/kuhn")
    assert run(*ask) == (1, "", f"{message}\n")
    assert run("--load", str(mine), *ask, "--iterations", "10")[0] == 0
