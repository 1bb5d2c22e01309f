"""The code, commands and links in the documents work, and their tables agree with their sources."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

import rlccfr
from benchmarks import readme
from benchmarks.targets import ratio_row
from rlccfr.catalog import Catalog
from rlccfr.envs.reward import PRESETS

ROOT = Path(__file__).parent.parent
README, OVERVIEW = ((ROOT / name).read_text() for name in ("README.md", "docs/overview.md"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.py"))


def blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


GENERATED = {"component", "notebooks", "texts"}
"""Folders of docs that are made with the site."""

DOCUMENTS = [path for path in sorted(ROOT.glob("docs/**/*.md")) if not GENERATED & set(path.parts)]
PAGES = [path for path in (ROOT / "README.md", *DOCUMENTS) if blocks(path)]


LONG_NOTEBOOKS = {"02", "04", "06", "07", "08", "09"}
"""Beginnings of the names of notebooks that run for half a minute or longer; the long suite runs them."""


def marked(path):
    mark = pytest.mark.verify if path.name[:2] in LONG_NOTEBOOKS else pytest.mark.slow
    return pytest.param(path, marks=mark, id=path.name)


@pytest.mark.parametrize("path", [marked(path) for path in NOTEBOOKS])
def test_notebooks_run(path, tmp_path, monkeypatch):
    """Each notebook runs in its own process, since one registers a component that the others must not see."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    run_in(tmp_path, str(path))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_rendered_notebooks_are_the_sources(path):
    """The notebooks are rendered by ``make notebooks``; all their cells were run and none failed."""
    jupytext = pytest.importorskip("jupytext")
    source, rendered = jupytext.read(path), jupytext.read(path.with_suffix(".ipynb"))
    assert [cell.source for cell in source.cells] == [cell.source for cell in rendered.cells]
    code = [cell for cell in rendered.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not any(output.output_type == "error" for cell in code for output in cell.outputs)


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_pages_python_runs(path, tmp_path, monkeypatch):
    """The blocks of a page run from top to bottom, as a reader would paste them."""
    for word, package in (("sb3_contrib", "sb3_contrib"), ("dac_benchmark", "dacbench")):
        if word in path.read_text() and importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    monkeypatch.setenv("MPLBACKEND", "agg")
    (tmp_path / "page.py").write_text("\n".join(blocks(path)))
    run_in(tmp_path, "page.py")


def test_no_page_shows_code_in_a_language_that_no_test_runs():
    languages = {  # of all pages but ADRs
        language
        for path in DOCUMENTS
        if "adr" not in path.parts and path.name != "commands.md"
        for language in re.findall(r"^```(\S*)[^\n]*\n.*?^```$", path.read_text(), re.DOTALL | re.MULTILINE)
    }
    assert languages <= {"python", "text", "mermaid", "{toctree}", "{eval-rst}"}


@pytest.mark.verify
def test_the_overviews_commands_run(tmp_path):
    """The commands run in order, in a folder of their own."""
    lines = re.findall(r"^rlccfr .*$", OVERVIEW, re.MULTILINE)
    assert lines
    for line in lines:
        assert run_in(tmp_path, "-m", *shlex.split(line, comments=True)).stdout


@pytest.mark.slow
def test_the_agent_in_one_file_learns(tmp_path):
    done = run_in(tmp_path, str(ROOT / "examples" / "dqn.py"), "--timesteps", "60", "--iterations", "10")
    assert re.fullmatch(r"kuhn: \S+ x \S+ x \S+, reward 0\.\d+", done.stdout.splitlines()[-1])


def test_the_readme_is_one_screen():
    assert len(README.splitlines()) <= 70
    for link in re.findall(r"\]\(([^)#:]+)", README):
        assert (ROOT / link).exists(), link


@pytest.mark.slow
def test_a_policy_plays_openspiels_own_players(tmp_path):
    lines = run_in(tmp_path, str(ROOT / "examples" / "openspiel_bot.py")).stdout.splitlines()
    payoffs = {line.split(":")[0].removeprefix("mean payoff against "): float(line.split()[-1]) for line in lines[1:]}
    assert payoffs["uniform"] > 0.1
    assert abs(payoffs["best response"]) < 0.15  # nothing beats an equilibrium but by chance


@pytest.mark.slow
def test_a_form_of_ones_own_is_solved_by_the_catalogs_rules(tmp_path):
    lines = run_in(tmp_path, str(ROOT / "examples" / "own_form.py")).stdout.splitlines()
    left = {line.split(":")[0]: float(line.split()[1].rstrip("%")) for line in lines}
    assert left["cfr"] < 1
    assert max(left["cfr_plus"], left["dcfr"]) < 0.1


@pytest.mark.slow
def test_a_game_of_ones_own_is_solved_listed_and_takes_parameters(tmp_path):
    """One-card poker with three cards is Kuhn poker, of value -1/18; with five, its value is -1/15."""
    file = ROOT / "examples" / "own_game.py"
    assert run_in(tmp_path, str(file)).stdout.startswith("my_one_card(cards=5): value -0.0667, exploitability ")
    rows = json.loads(run_in(tmp_path, "-m", "rlccfr", "--load", str(file), "games", "--json").stdout)
    assert rows[-1] == {"name": "my_one_card", "openspiel": "my_one_card", "description": "My one-card poker"}
    names = [row["name"] for row in rows]
    assert len(names) == len(set(names))
    assert "liars_dice" not in names
    solve = ("-m", "rlccfr", "--load", str(file), "solve", "my_one_card", "--target", "1e-6", "--json")
    assert json.loads(run_in(tmp_path, *solve).stdout)["value"][0] == pytest.approx(-1 / 18, abs=1e-5)


@pytest.mark.slow
def test_the_overviews_recommendations_are_the_tables(run):
    (shown,) = re.findall(r"```text\n(game .*?)\n```", OVERVIEW, re.DOTALL)
    code, out, _ = run("results", "table", "--seconds", "1")
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [line.split() for line in shown.splitlines()]


def test_the_benchmarks_page_has_the_rates_of_the_newest_results():
    page = (ROOT / "docs" / "benchmarks.md").read_text().splitlines()
    rows = [ratio_row(record) for record in readme.newest()["rows"] if "peer" in record]
    assert rows == [line for line in page if line in set(rows)]
    assert readme.newest()["date"] in page[2]


@pytest.mark.parametrize("name", ["speeds", "choosing", "package", pytest.param("runs", marks=pytest.mark.slow)])
def test_the_overviews_figures_are_those_of_the_committed_results(name):
    """Filled by ``python -m benchmarks.readme``."""
    assert readme.filled(OVERVIEW, {name: readme.PLACES[name]}) == OVERVIEW


def test_the_readmes_evidence_is_that_of_the_committed_results():
    assert readme.filled(README, readme.SHORT) == README


def test_the_overviews_counts_are_the_catalogs():
    times = " \N{MULTIPLICATION SIGN} "
    paper, tabular, extended = Catalog.paper(), Catalog.tabular(), Catalog.extended()
    shapes = {catalog: times.join(map(str, catalog.shape)) for catalog in (paper, tabular, extended)}
    kinds = zip(paper.shape, ("update rules", "samplers", "abstractions"), strict=True)
    for text in (
        *(f'["{count} {kind}"]' for count, kind in kinds),
        f"{shapes[paper]} = {len(paper)} algorithms",
        f"({shapes[tabular]})",
        f"({shapes[extended]})",
        f'catalog="tabular",  # {len(tabular)} algorithms; "paper" has all {len(paper)},',
    ):
        assert text in OVERVIEW


def test_the_readmes_counts_are_the_catalogs():
    """What runs on hold'em is counted in the table of docs/overview.md."""
    text = " ".join(README.split())
    assert f"{len(Catalog.paper())} combinations of update rule, sampler and abstraction" in text
    assert f"catalog of {len(Catalog.public())} algorithms runs on limit hold'em" in text


def test_the_overviews_commands_exist():
    from rlccfr.cli import COMMANDS, RESULTS

    known = {command.__name__ for command in COMMANDS} | {f"results {command.__name__}" for command in RESULTS}
    assert set(re.findall(r"^rlccfr ((?:results )?\w+)", OVERVIEW, re.MULTILINE)) == known
    assert set(re.findall(r"^rlccfr ((?:results )?\w+)", README, re.MULTILINE)) <= known


def test_the_documents_name_commands_and_options_as_the_help_does():
    """Old names of commands, and rare options given otherwise than by ``--option``, are for old scripts."""
    from typer.main import get_command

    from rlccfr.cli import RESULTS, app
    from rlccfr.cli.command import rare_options

    moved = "|".join(command.__name__ for command in RESULTS)
    commands = get_command(app).commands.values()
    rare = "|".join(sorted({name for command in commands for name, _ in rare_options(command)}))
    old = re.compile(rf"rlccfr (?:--load \S+ )?(?:{moved})\b|[`\s]--(?:no-)?(?:{rare})[`\s=]")
    pages = [*ROOT.glob("*.md"), *(page for page in DOCUMENTS if page.name != "commands.md"), *NOTEBOOKS]
    found = [f"{page.name}: {match}" for page in pages for match in old.findall(page.read_text())]
    told_of_change = ["CHANGELOG.md: rlccfr table", "CHANGELOG.md: `--walks "]
    assert [place for place in found if place not in told_of_change] == []


def test_the_citation_file_is_valid():
    """It has the keys that the Citation File Format 1.2.0 requires, and this version."""
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == rlccfr.__version__
    assert all({"type", "title", "authors"} <= set(reference) for reference in cited["references"])
    for people in (cited["authors"], *(reference["authors"] for reference in cited["references"])):
        assert people
        assert all({"name"} <= set(one) or {"family-names"} <= set(one) for one in people)


@pytest.mark.slow
def test_the_components_page_is_the_registrys(capsys):
    from rlccfr.cli import main

    with pytest.raises(SystemExit):
        main(["catalog", "--markdown"])
    assert (ROOT / "docs" / "components.md").read_text() == capsys.readouterr().out


@pytest.mark.verify
def test_contributings_walk(tmp_path):
    """A rule, a sampler or an abstraction in a file is seen, solved with, checked, and chosen by an environment."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    rule, use, mapped, regularised, sampler, abstraction = blocks
    (tmp_path / "my_rule.py").write_text(rule)
    (tmp_path / "my_sampler.py").write_text(sampler)
    (tmp_path / "my_abstraction.py").write_text(abstraction)
    names = {"my_rule": "root_cfr", "my_sampler": "young_first", "my_abstraction": "own_moves"}
    for line in re.findall(r"^rlccfr (.*)$", text, re.MULTILINE):
        done = run_in(tmp_path, "-m", "rlccfr", *shlex.split(line))
        # A sweep counts runs: 112 of the tabular catalog's algorithms, and 14 with the new rule.
        own = next(name for file, name in names.items() if file in line)
        assert ("126" if " sweep " in line else own) in done.stdout
    (tmp_path / "mapped.py").write_text(mapped)
    assert "squared_cfr: passes" in run_in(tmp_path, "-m", "rlccfr", "--load", "mapped.py", "check").stdout
    (tmp_path / "regularised.py").write_text(regularised)
    assert "even_cfr_plus: passes" in run_in(tmp_path, "-m", "rlccfr", "--load", "regularised.py", "check").stdout
    (tmp_path / "use.py").write_text(use)
    assert float(run_in(tmp_path, "use.py").stdout.splitlines()[-1]) < 0.1


def run_in(folder, *arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)


def test_links_lead_somewhere():
    for path in [*ROOT.glob("*.md"), *DOCUMENTS]:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert target.startswith("http") or (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_formats_of_files_are_those_that_are_written_and_read():
    """The page on stability promises that files in these formats can be read."""
    page = (ROOT / "docs" / "stability.md").read_text()
    told = set(re.findall(r"`(rlccfr-[a-z-]+-\d+)`", page))
    # Tables for buckets are kept in the cache folder, and made again if they can't be read.
    paths = [path for path in ROOT.glob("[a-z]*/**/*.py") if not {"bucket_histories", "tests"} & set(path.parts)]
    written = "".join(path.read_text() for path in paths if ".venv" not in path.parts)
    assert told == set(re.findall(r'^\w*FORMAT\w* = "(rlccfr-[a-z-]+-\d+)"', written, re.MULTILINE))


def of_the_page_on_spots(beginning):
    """Return the text block with this beginning on the page on spots."""
    page = (ROOT / "docs" / "howto" / "solve-a-spot.md").read_text()
    return next(block for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if block.startswith(beginning))


def test_the_lock_on_the_page_on_spots_is_a_lock_of_the_spot_there(tmp_path):
    path = tmp_path / "spot.txt"
    path.write_text(of_the_page_on_spots("set_board"))
    lock = json.loads(of_the_page_on_spots("{"))
    solver = rlccfr.Solver(rlccfr.load_game(str(path)), "dcfr", lock=lock)
    assert solver.run(iterations=1).iterations == 1


def test_the_whole_catalog_of_public_trees_runs_on_spots(tmp_path):
    """The README and the overview say so."""
    path = tmp_path / "spot.txt"
    path.write_text(of_the_page_on_spots("set_board"))
    spot = rlccfr.load_game(str(path))
    for algorithm in Catalog.public():
        rlccfr.Solver(spot, *algorithm)  # what does not run is refused here


def test_the_named_weights_are_told():
    text = (ROOT / "docs" / "explanation.md").read_text()
    rows = re.findall(r"^\| `(.*?)` \| (.*) \| (.*), (.*) \| (.*), (.*) \| (.*), (.*) \|$", text, re.MULTILINE)
    told = {name: (scale, list(map(float, numbers))) for name, scale, *numbers in rows}
    assert told == {name: (preset.scale, list(chain(*preset.weights))) for name, preset in PRESETS.items()}


@pytest.mark.parametrize("name", ["verification", "reliability"])
def test_failures_stand_on_top_of_a_page_of_one_screen(name):
    page = (ROOT / "docs" / f"{name}.md").read_text()
    lines = (ROOT / "benchmarks" / "results" / f"{name}.jsonl").read_text().splitlines()
    results = [json.loads(line) for line in lines]
    failed = [result for result in results if not result["passed"]]
    head, _, modules = page.partition("\n## All checks\n")
    assert f"{len(results) - len(failed)} checks passed, {len(failed)} failed." in head
    assert head.count("\n- ") == len(failed)
    assert all(f"(`{result['test']}`)" in head for result in failed)
    counts = [list(map(int, row)) for row in re.findall(r"` \| (\d+) \| (\d+) \|", modules)]
    assert [sum(column) for column in zip(*counts, strict=True)] == [len(results) - len(failed), len(failed)]
    assert len(page.splitlines()) <= 80
