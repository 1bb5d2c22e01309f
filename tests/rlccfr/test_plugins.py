"""Components of a Python file on the command line: repeatedly, in every order, and in a sweep's workers."""

from __future__ import annotations

import json
import runpy
import shlex
import subprocess
import sys
from importlib.metadata import EntryPoint
from itertools import chain

import pytest

from rlccfr.catalog import Catalog
from rlccfr.catalog.catalog import MORE_RULES
from rlccfr.errors import ComponentError
from rlccfr.plugins import GROUP, code_text, load_file, origin
from rlccfr.registry import REGISTRIES, update_rules

PAPER = Catalog.paper()

MINE = '''
from rlccfr.components import UpdateRule
from rlccfr.registry import update_rule

def milder(instant_regret, mass, state, parameters, utility_range):
    for a in range(len(instant_regret)):
        instant_regret[a] *= 0.5

@update_rule("test_mine", source="a test")
def test_mine():
    """CFR with all regrets halved, which changes nothing."""
    return UpdateRule(reweight=milder)
'''


@pytest.fixture
def call(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)

    def run(*arguments):
        done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


SOLVE = ("solve", "kuhn", "--update-rule", "test_mine", "--iterations", "50", "--json")
IMPORT = """
import mine, rlccfr
print(rlccfr.Solver(rlccfr.load_game("kuhn"), "test_mine").run(iterations=50).exploitability)
"""


@pytest.mark.slow
def test_what_was_compiled_for_one_use_harms_no_other(call):
    loaded = ("-m", "rlccfr", "--load", "mine.py", *SOLVE)
    found = {json.loads(call(*loaded))["exploitability"] for _ in range(2)}
    found |= {float(call("-c", IMPORT)) for _ in range(2)}
    found |= {json.loads(call(*loaded))["exploitability"]}
    assert len(found) == 1


@pytest.mark.slow
def test_a_sweep_measures_what_was_loaded(call):
    sweep = ("sweep", "kuhn", "--catalog", "tabular + test_mine", "--seeds", "1", "--seconds", "0", "--iterations", "3")
    out = call("-m", "rlccfr", "--load", "mine.py", *sweep, "--no-pilot", "--workers", "1", "--json")
    assert json.loads(out) == {"kuhn": {"ok": 9 * 7 * 2}}


@pytest.mark.slow
def test_the_command_that_recommend_prints_loads_what_was_loaded(call):
    rlccfr = ("-m", "rlccfr", "--plugins", "--load", "mine.py")
    call(*rlccfr, "train", "kuhn", "--catalog", "tabular + test_mine", "--evaluations", "3", "--iterations", "20")
    ask = ("recommend", "kuhn", "--team", "runs/kuhn-20-iterations")
    found = json.loads(call(*rlccfr, *ask, "--json"))
    line, exactly = call(*rlccfr, *ask).splitlines()[-2:]
    assert exactly.endswith('rlccfr --plugins --load "mine.py" solve "kuhn" --exact')
    assert line.startswith('run it: rlccfr --plugins --load "mine.py" solve "kuhn" --update-rule ')
    again = json.loads(call("-m", *shlex.split(line.removeprefix("run it: ")), "--json"))
    assert again["exploitability"] == found["exploitability"]


DEFINITION = """
import json, mine
from rlccfr.envs import Cell
from rlccfr.envs.measuring.identity import definitions
print(json.dumps(definitions(Cell("test_mine", "none", "cfr_br"))))
"""


@pytest.mark.slow
def test_what_was_measured_of_a_changed_function_is_another_measurement(call, tmp_path):
    before = json.loads(call("-c", DEFINITION))
    assert [set(one) for one in before] == [
        {"id", "version", "hyperparameters", "code"},
        *[{"id", "version", "hyperparameters"}] * 2,
    ]
    found = []
    for changed in (
        MINE + "# a remark below\n",
        MINE.replace("*= 0.5", "*=    0.5  # a half"),
        MINE.replace("all regrets", "them"),
        MINE.replace('"""CFR with all regrets halved, which changes nothing."""', ""),
        MINE.replace("def test_mine():", "def test_mine(\n):"),
        MINE.replace("a test", "a journal"),
        MINE.replace("*= 0.5", "*= 0.25"),
        MINE.replace("len(instant_regret)", "len(instant_regret) - 1"),
        MINE.replace("UpdateRule(reweight=milder)", "UpdateRule(reweight=milder, floor=0.0)"),
    ):
        assert changed != MINE
        (tmp_path / "mine.py").write_text(changed)
        found.append(json.loads(call("-c", DEFINITION)) == before)
    assert found == [True] * 6 + [False] * 3


DEEP = '''
from rlccfr.catalog.deep import deep_rule, learned
from rlccfr.components import UpdateRule

@deep_rule("test_deep", source="a test")
def test_deep(networks, power: float = 1.0):
    """CFR with networks."""
    return learned(UpdateRule(average_decay=lambda t: ((t - 1) / t) ** power), networks)
'''


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [("CFR with", "Plain CFR with", True), ("a test", "a journal", True), ("(t - 1) / t", "(t - 1) / (t + 1)", False)],
)
def test_a_deep_rule_is_known_by_the_function_that_its_author_wrote(tmp_path, old, new, same):
    digests = []
    for source in (DEEP, DEEP.replace(old, new)):
        path = tmp_path / f"mine{len(digests)}.py"
        path.write_text(source)
        runpy.run_path(str(path))
        digests.append(update_rules._entries.pop("test_deep").code)
    assert all(digests)
    assert (digests[0] == digests[1]) == same


def test_the_librarys_own_components_are_known_by_their_versions_alone():
    own = [entry for registry in REGISTRIES for entry in registry if entry.id in {*MORE_RULES, *chain(*PAPER.axes)}]
    assert len(own) > 30
    assert {entry.code for entry in own} == {""}


def test_functions_of_every_kind_have_a_source():
    """A function that was typed at a prompt, and one whose lines are only part of a statement."""
    digests = []
    for power in (1, 1, 2):
        typed: dict = {}
        exec(f"def typed(t):\n    return t**{power}", typed)
        digests.append(code_text(typed["typed"]))
    assert digests[0] == digests[1] != digests[2]
    parts = {
        "part": lambda t: t,  # a line that is no statement of its own is taken as it stands
    }
    assert code_text(parts["part"]).startswith('"part": lambda t: t,  # a line')


def test_the_origin_of_a_component_is_its_file_or_its_plug_in(tmp_path, monkeypatch):
    path = tmp_path / "mine.py"
    path.write_text(DEEP)
    factory = runpy.run_path(str(path))["test_deep"]
    update_rules._entries.pop("test_deep")
    assert origin(factory) == str(path)
    factory.__wrapped__.__module__ = "some_plugin.rules"
    assert origin(factory) == str(path)
    found = [EntryPoint("some", "some_plugin", GROUP)]
    monkeypatch.setattr("rlccfr.plugins.entry_points", lambda group: found)
    assert origin(factory) == "some_plugin.rules"
    path.unlink()
    monkeypatch.setattr("rlccfr.plugins.entry_points", lambda group: [])
    assert origin(factory) == ""


REGISTERED = "from rlccfr.registry import sampler\n@sampler({})\ndef one():\n    pass\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("policy.csv", "player\n0\n", "is a Python file, with the suffix .py"),
        ("mine.py", "x = 1\ny = undefined\n", r"NameError: name 'undefined' is not defined \(line 2 of mine.py\)"),
        ("mine.py", "import no_such_module\n", r"no_such_module' \(line 1 of mine.py\)"),
        ("mine.py", "x = (\n", r"SyntaxError: .* \(mine.py, line 1\)"),
        (
            "mine.py",
            REGISTERED.replace("({})", ""),
            r'a sampler has no id; register it with @sampler\("id", source="where its definition comes from"\)',
        ),
        (
            "mine.py",
            REGISTERED.format("'one'"),
            r"sampler 'one' has no source; register it with @sampler\(.*, source=.where its definition comes from",
        ),
        ("mine.py", REGISTERED.format("'one', source=' '"), "sampler 'one' has no source"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line_with_its_place(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ComponentError, match=message) as error:
        load_file(tmp_path / name)
    assert "\n" not in str(error.value)


def test_a_file_that_imports_a_module_beside_it_is_told_how(tmp_path):
    (tmp_path / "my_numbers_beside.py").write_text("SPEED = 3\n")
    (tmp_path / "mine.py").write_text("from my_numbers_beside import SPEED\n")
    with pytest.raises(
        ComponentError, match=f"No module named .*; to import from its folder, set PYTHONPATH={tmp_path}"
    ):
        load_file(tmp_path / "mine.py")
