"""The structure of the code: imports go one way, heavy ones are late, and the engine names no algorithm."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import metadata
from pathlib import Path

import imports
import pytest
from imports import LAYERS, ROOT

import rlccfr

TOP_FOLDERS = ("rlccfr", "catalog", "envs", "agents", "notebooks", "tests")


MODULES, GRAPH = imports.modules(), imports.graph()

LATE = {
    (
        "rlccfr.registry",
        "rlccfr.catalog",
    ): "the registry loads the catalog by name, so that the engine need not know it",
    ("rlccfr.registration", "rlccfr.envs"): "importing the package and Gymnasium registers the environments",
    ("rlccfr.policy", "rlccfr.policies.matches"): "Policy.against plays a match",
    ("rlccfr.policy", "rlccfr.policies.policy_file"): "Policy.save and Policy.load know all formats",
    ("rlccfr.policies.table_policy", "rlccfr.policies.table_policy_file"): "TablePolicy.save and .load, likewise",
    ("rlccfr.policies.public_policy", "rlccfr.policies.range_pictures"): "PublicPolicy.plot_range draws itself",
    ("rlccfr.games.walked.generated_game", "rlccfr.games.names"): "generated(NAME) is the game NAME in another form",
    ("rlccfr.solver", "rlccfr.checkpoint"): "Solver.save and Solver.load write and read all of a run",
    ("rlccfr.solver", "rlccfr.limits"): "Solver.run keeps its limits, which are a subject of their own",
    ("rlccfr.agents.team.team", "rlccfr.agents.team.team_file"): "SelectorTeam.save and SelectorTeam.load",
    ("rlccfr.agents.team.team", "rlccfr.agents.team.learning"): "SelectorTeam.train needs torch, and a team does not",
}
"""Imports that close a circle, and the reason for each: a method of a class that another module carries out."""

FORMS = {
    "rlccfr.games.flat_tree": "COMPILED",
    "rlccfr.games.public.view": "PUBLIC_TREE",
    "rlccfr.games.public.subgame": "SUBGAME",
    "rlccfr.games.bucket_histories.form": "BUCKET_HISTORIES",
    "rlccfr.games.walked.generated_form": "GENERATED",
}
"""The module and the name of each form of games."""


def parts_of_forms() -> set[tuple[str, str]]:
    """Return the modules that forms name, as a registry does, so that games need not know what serves them."""
    return {
        (module, path.partition(":")[0])
        for module, name in FORMS.items()
        for path in vars(getattr(importlib.import_module(module), name)).values()
        if isinstance(path, str)
    }


ASKING = {
    "rlccfr/games/flat_tree.py": "checked_tree refuses what has no histories, and tells the type checker",
    "rlccfr/engine/binding.py": "draws that histories share exist where there are histories",
    "rlccfr/engine/responding.py": "a best response to buckets is computed in the game itself",
    "rlccfr/engine/stepper.py": "so is the value of a policy of buckets",
    "rlccfr/games/merging/hands.py": "hands are read from cards, or from infosets",
    "rlccfr/games/merging/symmetric.py": "a public tree's suits are merged already",
    "rlccfr/kernels/layout.py": "a quotient has no histories",
}
"""Modules that ask which form a game, a policy or merged infosets have, and the reason for each."""

CLASSES_OF_FORMS = {
    *("GameTree", "Policy", "RunState", "BucketedGame"),
    *("PublicGame", "PublicPolicy", "PublicState"),
    *("BucketHistoryGame", "BucketHistoryPolicy", "BucketHistoryTables"),
    *("GeneratedGame", "NetworkPolicy", "WalkedTables"),
}

RENAMED = {
    "rlccfr/games/openspiel.py": "what OpenSpiel raises says no more than its first line",
}
"""Modules that rename an error of any class and drop it, and the reason for each."""

MOST_LINES = 500
MOST_FUNCTION_LINES = 60
MOST_PARAMETERS = 8


def layer_of(module: str) -> str:
    """Return the layer that a module belongs to."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else "rlccfr"


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_follow_the_arrow(layer):
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    for module, imported in GRAPH.items():
        on_top = module == "rlccfr.__main__" or module.split(".")[1:2] in (["cli"], ["experiments"])
        if layer_of(module) == layer and not on_top:
            excused = LATE.keys() | parts_of_forms()
            extra = {one for one in imported if layer_of(one) not in allowed and (module, one) not in excused}
            assert not extra, f"{module} imports {extra}"


def test_no_imports_form_a_circle():
    excused = LATE.keys() | parts_of_forms()
    edges = {module: {one for one in found if (module, one) not in excused} for module, found in GRAPH.items()}
    tuple(TopologicalSorter(edges).static_order())  # raises CycleError, which names the circle


def test_late_imports_that_are_allowed_are_there():
    assert all(imported in GRAPH[module] for module, imported in LATE)


def test_few_places_ask_which_form_a_game_has():
    """All others go by :class:`rlccfr.game.Game` and :class:`rlccfr.game.Form`; see docs/architecture.md."""
    asking = []
    for path in MODULES.values():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                names = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                if names & CLASSES_OF_FORMS:
                    asking.append(str(path.relative_to(ROOT)))
    assert set(asking) <= ASKING.keys()
    assert len(asking) <= 10


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_factory(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function makes a component; its parameters are then the component's hyperparameters."""
    called = [one.func for one in function.decorator_list if isinstance(one, ast.Call)]
    return any(isinstance(one, ast.Name) and one.id in {"abstraction", "sampler", "update_rule"} for one in called)


FRONT_DOORS = {
    "rlccfr.solver.__init__",
    "rlccfr.agents.control.train.train_controller",
    "rlccfr.games.public.subgame.subgame",
    "rlccfr.solving.solve",
}
"""Functions with more parameters: each is an option of a run or a game, and one call with all is what users want."""


def test_functions_are_short_and_take_few_parameters():
    """Commands may have more parameters: each is an argument, an option or a group of options. Kernels are exempt."""
    modules = [name for name in MODULES if ".kernels" not in name]
    for module, function in ((name, function) for name in modules for function in functions(MODULES[name])):
        where = f"{module}.{function.name}"
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        parameters = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        count = len([one for one in parameters if one not in ("self", "cls")])
        command = ".cli." in module
        assert lines <= MOST_FUNCTION_LINES, f"{where} has {lines} lines"
        free = command or is_factory(function) or where in FRONT_DOORS
        assert count <= MOST_PARAMETERS or free, f"{where} has {count} parameters"


def broad_handlers(tree: ast.AST) -> Iterator[ast.ExceptHandler]:
    """Yield the handlers that catch errors of any class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)} if node.type else {None}
            if names & {None, "Exception", "BaseException"}:
                yield node


def test_no_error_of_any_class_is_renamed_and_dropped():
    """Whoever catches an error that it does not know passes it on, chains it, or says why it may be passed over."""
    for path in MODULES.values():
        source = path.read_text()
        for handler in broad_handlers(ast.parse(source)):
            place = f"{path.relative_to(ROOT)}:{handler.lineno}"
            raised = [node for node in ast.walk(handler) if isinstance(node, ast.Raise)]
            dropping = [node for node in raised if isinstance(node.cause, ast.Constant)]  # from None
            assert not dropping or str(path.relative_to(ROOT)) in RENAMED, f"{place} drops an error of any class"
            commented = "#" in source.splitlines()[handler.lineno - 1]
            assert raised or commented, f"{place} does not say why it catches every error"


def test_files_are_short():
    long = {name: count for name, path in MODULES.items() if (count := path.read_text().count("\n")) > MOST_LINES}
    assert not long


def test_kernels_and_engine_name_no_algorithm():
    from rlccfr.registry import abstractions, samplers, update_rules

    ids = {e.id for r in (update_rules, samplers, abstractions) for e in r} - {"none", "chance", "outcome"}
    for path in [*(ROOT / "rlccfr/kernels").rglob("*.py"), *(ROOT / "rlccfr/engine").glob("*.py")]:
        strings = {n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)}
        assert not ids & strings, path.name


def test_numba_stays_in_the_kernels():
    for path in [p for layer in LAYERS for p in (ROOT / layer).rglob("*.py")]:
        if "kernels" not in path.parts:
            assert "import numba" not in path.read_text().replace("    import numba", "")
            assert "from numba" not in path.read_text(), path.name


def test_every_folder_of_the_library_is_packaged():
    """An editable installation has folders that are not listed, and a wheel would lack them."""
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "rlccfr").rglob("__init__.py")}
    assert {".".join(folder.parts) for folder in folders} <= set(packages)


def test_one_module_of_the_tests_reaches_into_the_engine():
    """A change inside the engine then needs a change in only one file of the tests."""
    inside = re.compile(r"[.]_engine\b")
    reaching = {path.name for path in (ROOT / "tests").glob("**/*.py") if inside.search(path.read_text())}
    assert reaching == {"support.py"}


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("rlccfr", ("numpy", "numba", "torch", "pandas", "pyspiel", "gymnasium")),
        ("rlccfr.catalog", ("numba", "torch", "pyspiel")),
        ("rlccfr.envs", ("torch", "stable_baselines3")),
        ("rlccfr.agents", ("torch", "stable_baselines3")),
        ("rlccfr.cli", ("numpy", "numba", "torch", "pandas", "pyspiel", "gymnasium", "matplotlib")),
    ],
)
def test_imports_are_light(module, forbidden):
    code = f"import sys, {module}; print(' '.join(m for m in {forbidden!r} if m in sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == []


def test_folders_of_tests_are_those_of_the_packages():
    """Tests mirror folders; within a folder, a file of tests is named by its subject."""
    for package in (ROOT / "tests").iterdir():
        if package.name in ("rlccfr", "catalog", "envs", "agents", "benchmarks"):
            for path in package.rglob("test_*.py"):
                folder = path.parent.relative_to(ROOT / "tests")
                assert (ROOT / folder).is_dir(), f"no folder {folder} of the packages is tested by {path.name}"


@pytest.mark.parametrize("folder", TOP_FOLDERS)
def test_the_promised_folders_stand_at_the_top(folder):
    assert (ROOT / folder).is_dir()
    assert not (ROOT / folder).is_symlink()


def test_the_version_is_told_alike_everywhere():
    assert f"\nversion: {rlccfr.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {rlccfr.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert metadata.version("rlccfr") == rlccfr.__version__
