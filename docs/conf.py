"""Sphinx's settings. They also write the pages that Sphinx reads: one per component, the commands, the notebooks."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from typer.main import get_command

import rlccfr
from rlccfr.catalog import Catalog
from rlccfr.cli import app
from rlccfr.cli.command import rare_options
from rlccfr.cli.commands.catalog import as_text
from rlccfr.registry import abstractions, samplers, update_rules

HERE = Path(__file__).parent
NOTEBOOK = r"\]\((\.\./)+notebooks/"
TEXTS = ("CONTRIBUTING", "CHANGELOG")
TEXT = rf"\]\((\.\./)+({'|'.join(TEXTS)})\.md"

project, author = "RLCCFR", "the RLCCFR developers"
project_copyright = f"2026, {author}"
version = release = rlccfr.__version__
sys.path.insert(0, str(HERE))
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "bundled"]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "jupyter_execute"]
html_theme, html_title = "furo", f"RLCCFR {version}"
nb_execution_mode = "off"  # the notebooks have their outputs; the tests run their sources
myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_heading_anchors = 3
myst_fence_as_directive = ["mermaid"]
napoleon_use_ivar = True
autodoc_member_order, autodoc_typehints = "bysource", "description"
autodoc_default_options = {"members": True, "show-inheritance": True}
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository that are not part of the site


def generate() -> None:
    """Write the pages that are not kept in the repository."""
    notebooks, components, texts = HERE / "notebooks", HERE / "component", HERE / "texts"
    for folder in (notebooks, components, texts):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for notebook in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        shutil.copy(notebook, notebooks)
    shutil.copy(HERE.parent / "notebooks" / "README.md", notebooks)
    for name in TEXTS:
        (texts / f"{name}.md").write_text((HERE.parent / f"{name}.md").read_text().replace("](docs/", "](/"))
    names = []
    for registry, ids in zip((update_rules, samplers, abstractions), Catalog.extended().axes, strict=True):
        for id in ids:
            name = f"{registry.kind.replace(' ', '-')}-{id}"
            names.append(name)
            (components / f"{name}.md").write_text(as_text(registry.kind, registry[id], "# ") + "\n")
    page = ["# Component by component", "", "One page each.", "", "```{toctree}", ":maxdepth: 1", "", *names, "```", ""]
    (components / "index.md").write_text("\n".join(page))
    words = [sys.executable, "-m", "typer", "rlccfr.cli", "utils", "docs", "--name", "rlccfr", "--title", "Commands"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    (HERE / "reference" / "commands.md").write_text(f"{text}\n{rare_options_section()}")


def rare_options_section() -> str:
    """Return a section with the options that the help leaves out, by command."""
    group: Any = get_command(app)
    commands = {f"rlccfr {name}": command for name, command in group.commands.items() if not command.hidden}
    commands |= {f"rlccfr results {name}": command for name, command in commands.pop("rlccfr results").commands.items()}
    lines = ["## Rare options, by `--option NAME=VALUE`", ""]
    for name, command in commands.items():
        if options := rare_options(command):
            lines += [f"### `{name} --option`", "", *(f"* `{option}`: {meaning}" for option, meaning in options), ""]
    return "\n".join(lines)


generate()


def setup(app: Sphinx) -> None:
    """Make links to what is copied lead to the copies; in the repository they lead to the originals."""

    def lead_to_copies(app: Sphinx, page: str, source: list[str]) -> None:
        source[0] = re.sub(TEXT, r"](/texts/\2.md", re.sub(NOTEBOOK, "](/notebooks/", source[0]))

    app.connect("source-read", lead_to_copies)
