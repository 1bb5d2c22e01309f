from __future__ import annotations

import re
from pathlib import Path

import pytest
from holding import other_process_holding


@pytest.mark.parametrize("more", [(), ("--fresh",)])
def test_a_second_training_in_one_directory_is_refused_and_changes_nothing(run, more):
    Path("team").mkdir()
    Path("team/team.npz").write_bytes(b"of the first")
    with other_process_holding(Path("team")) as process:
        before = {path.name: path.read_bytes() for path in Path("team").iterdir()}
        code, out, err = run("train", "kuhn", "--catalog", "tabular", "--out", "team", *more)
        assert {path.name: path.read_bytes() for path in Path("team").iterdir()} == before
    assert (code, out) == (1, "")
    assert re.fullmatch(f"error: team is in use by process {process.pid} on .*; wait until it ends, or name .*\n", err)
