"""The examples in docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
import re

import imports
import pytest

WITH_EXAMPLES = [
    name for name, path in imports.modules().items() if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE)
]


@pytest.mark.slow
@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
