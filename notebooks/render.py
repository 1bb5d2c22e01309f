"""``python notebooks/render.py [NAMES]``: runs the notebooks and writes each with its outputs beside its source."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import jupytext
from nbclient import NotebookClient

HERE = Path(__file__).parent


def render(source: Path) -> Path:
    """Write a notebook's ``.ipynb``; it runs in a folder of its own.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell did.
    """
    notebook = jupytext.read(source)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, record_timing=False, resources={"metadata": {"path": folder}}).execute()
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # not a new one each time
    target = source.with_suffix(".ipynb")
    jupytext.write(notebook, target)
    return target


def main(names: list[str]) -> None:
    """All of them, or those named."""
    for source in sorted(HERE.glob("[0-9]*.py")):
        if not names or source.stem in names:
            print(render(source), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
