"""A file that can't be read is told with the error that reading it raised, which no message puts aside."""

from __future__ import annotations

import json

import numpy as np
import pytest
from file_kinds import KINDS

from rlccfr.errors import RLCCFRError

REFUSED = [
    "checkpoint of a run",
    "policy, CSV",
    "policy, JSON",
    "policy, NumPy",
    "policy on a public tree",
    "table of measurements",
    "team",
    "controller",
    "training of a controller",
    "costs that a chooser learns from",
]
"""The kinds of file that are refused if they are damaged; the others are made again, or are a person's own text."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.slow) if KINDS[kind].is_slow else kind for kind in REFUSED]
)
def test_a_file_that_is_refused_is_told_with_the_error_of_reading_it(kind, tmp_path):
    path = KINDS[kind].make(tmp_path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    with pytest.raises(RLCCFRError, match=r"is not a (whole|complete) .*\(\w+: .*\)") as caught:
        KINDS[kind].says(path)
    cause = caught.value.__cause__
    assert cause is not None
    assert type(cause).__name__ in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["checkpoint of a run", "policy, NumPy"])
def test_a_header_that_lacks_an_entry_is_told_with_its_name(kind, tmp_path):
    path = KINDS[kind].make(tmp_path)
    np.savez(path, header=np.array(json.dumps({})))
    with pytest.raises(RLCCFRError, match=r"\(KeyError: 'format'\)"):
        KINDS[kind].says(path)
