from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "helpers"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--figures", help="folder for the figures that verification tests record; tests with one are done")


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Callable[..., None]:
    """``figures(title, rows, note)`` keeps a table (a list of dicts) for docs/verification.md."""
    folder = request.config.getoption("--figures")
    name = request.node.name

    def keep(title: str, rows: list[dict], note: str = "") -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            record = {"test": request.node.nodeid, "title": title, "note": note, "rows": rows}
            (Path(folder) / f"{name}.json").write_text(json.dumps(record))

    if folder and (Path(folder) / f"{name}.json").exists():
        pytest.skip("its figures are recorded already; remove them to run it again")
    return keep
