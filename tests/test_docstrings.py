"""The examples in docstrings run and print what they say, and docstrings have their sections in one order."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import re

import imports
import pytest

WITH_EXAMPLES = [
    name for name, path in imports.modules().items() if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE)
]


EXTRAS = {"rlccfr.agents.control.dac_benchmark": "dacbench"}
"""Modules that can't be imported without an extra, and what the extra installs."""


@pytest.mark.slow
@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_run(module, tmp_path, monkeypatch):
    if module in EXTRAS and importlib.util.find_spec(EXTRAS[module]) is None:
        pytest.skip(f"{EXTRAS[module]} is not installed")
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "Examples")
"""Names of a docstring's sections, in their order."""


def test_sections_are_in_one_order():
    heading = re.compile(r"^(Args|Attributes|Returns|Yields|Raises|Examples?):$", re.MULTILINE)
    for path in imports.modules().values():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                sections = heading.findall(ast.get_docstring(node) or "")
                assert set(sections) <= set(SECTIONS), f"{path}:{node.lineno}"
                assert sections == sorted(sections, key=SECTIONS.index), f"{path}:{node.lineno}"
