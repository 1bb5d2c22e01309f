"""What documents show is run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.py")), ids=lambda path: path.name)
def test_notebooks_run(path, tmp_path, monkeypatch):
    """Each in a process of its own: one registers a component that others need not meet."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    run_in(tmp_path, str(path))


def test_the_readmes_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_the_readmes_commands_exist():
    from rlccfr.cli import app

    known = {command.callback.__name__ for command in app.registered_commands}
    assert set(re.findall(r"^rlccfr (\w+)", README, re.MULTILINE)) == known


def test_the_components_page_is_the_registrys(capsys):
    from rlccfr.cli import main

    with pytest.raises(SystemExit):
        main(["catalog", "--markdown"])
    assert (ROOT / "docs" / "components.md").read_text() == capsys.readouterr().out


def test_contributings_walk(tmp_path):
    """A rule written to a file is seen, solved with, checked, and chosen by an environment."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rule, use = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "my_rule.py").write_text(rule)
    for line in re.findall(r"^rlccfr (.*)$", text, re.MULTILINE):
        done = run_in(tmp_path, "-m", "rlccfr", *shlex.split(line))
        assert "root_cfr" in done.stdout
    (tmp_path / "use.py").write_text(use)
    assert float(run_in(tmp_path, "use.py").stdout.splitlines()[-1]) < 0.1


def run_in(folder, *arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)


def test_links_lead_somewhere():
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert target.startswith("http") or (path.parent / target).exists(), f"{path.name}: {target}"
