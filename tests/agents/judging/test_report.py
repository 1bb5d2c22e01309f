from __future__ import annotations

import base64
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from browser import opened

import rlccfr
from rlccfr.agents.judging.bench import TeamPlan, build_table
from rlccfr.agents.judging.evidence import judging_part
from rlccfr.agents.judging.report import write_report
from rlccfr.agents.team.hyperparameters import Hyperparameters
from rlccfr.catalog import AXES, Catalog, Cell
from rlccfr.envs.episode import parse_preset
from rlccfr.envs.measuring.record import to_frame
from rlccfr.envs.measuring.request import Budget
from rlccfr.envs.measuring.table import TableEvaluator
from rlccfr.envs.reward import PRESETS
from rlccfr.envs.sweeping.plan import Limits, jobs
from rlccfr.envs.sweeping.worker import measure
from rlccfr.policies.public_policy import PublicPolicy

pytestmark = pytest.mark.slow  # the fixture sweeps and trains


pytest.importorskip("plotly", reason="the report needs the extra rlccfr[report]")
CATALOG = Catalog(("cfr", "dcfr"), ("external", "none"), ("cfr_br", "none"))
BUDGETS = [Budget("iterations", 10), Budget("iterations", 100)]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return a report of two games without CFR-BR with DCFR on Goofspiel, the table, and all measurements."""
    planned = jobs({"kuhn": range(3), "goofspiel": range(3)}, CATALOG, limits=Limits(iterations=100, seconds=0.0))
    table = TableEvaluator(to_frame([measure(job) for job in planned], curves=True))
    found = build_table(
        ["kuhn", "goofspiel"],
        BUDGETS,
        preset=["accuracy", "paper-kuhn"],
        evaluator=table,
        catalog=CATALOG,
        plan=TeamPlan(3, hyperparameters=Hyperparameters(hidden=(8,), settling=1, gradient_steps=1)),
    )
    frame = to_frame([table.record(id) for id in table.ids()], curves=True)
    gone = (frame["game"] == "goofspiel") & (frame["update_rule"] == "dcfr") & (frame["abstraction"] == "cfr_br")
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, TableEvaluator(frame[~gone]), CATALOG, found, BUDGETS)
    return path, found, table


def test_the_page_needs_nothing_else(page):
    text = page[0].read_text()
    assert "<!--" not in text.split("<script>")[0] + text.split("</script>")[-1]
    assert "src=" not in text.split("<script>")[0]
    assert text.split("<script>")[0].count("<tr") == 1 + len(page[1].picks) == 9


def test_a_deterministic_algorithms_speed_is_its_second_timings(page):
    path, _, table = page
    data = json.loads(path.read_text().split("const DATA = ")[1].split(";</script>")[0])
    for sampler, timings in (("none", ["throughput_again"]), ("external", ["throughput", "throughput"])):
        cell = Cell("cfr", sampler, "none")
        runs = [table.run("kuhn", cell, seed) for seed in judging_part(table.seeds("kuhn", cell))]
        speeds = [run[name] / run["reference_throughput"] for run, name in zip(runs, timings, strict=True)]
        shown = data["games"]["kuhn"]["cells"][CATALOG.flat(cell)]
        assert shown["speed"][-1] == pytest.approx(speeds, rel=1e-3)


def test_the_page_shows_what_policies_of_holdem_play_first(page, tmp_path):
    _, found, table = page
    policies = [PublicPolicy.uniform(rlccfr.load_game(name)) for name in ("holdem(ranks=4,suits=2)", "bluff")]
    text = write_report(tmp_path / "page.html", table, CATALOG, found, BUDGETS, policies).read_text()
    _, *shown = text.split("<script>")[0].split("<h2>The first decision on ")
    assert [part.split("</h2>")[0] for part in shown] == ["holdem(ranks=4,suits=2)", "bluff"]
    for part, own in zip(shown, policies, strict=True):
        assert f"exploitability is {own.exploitability():.4g}." in part
        image = base64.b64decode(part.split("base64,")[1].split('"')[0])
        assert ElementTree.fromstring(image).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.fixture(scope="module")
def browser(page) -> Iterator:
    with opened(page[0]) as driver:
        yield driver


def at_cell(browser, rule, column):
    """Move the mouse over a cell of the heatmap, which has two rows and four columns."""
    from selenium.webdriver import ActionChains

    area = browser.find_element("css selector", "#heatmap .nsewdrag")
    size = area.size
    across, down = ((column + 0.5) / 4 - 0.5) * size["width"], ((rule + 0.5) / 2 - 0.5) * size["height"]
    return ActionChains(browser).move_to_element_with_offset(area, round(across), round(down))


def choose(browser, id, text):
    from selenium.webdriver.support.ui import Select

    Select(browser.find_element("id", id)).select_by_visible_text(str(PRESETS.get(text, text)))


def text_of(browser, selector):
    from selenium.webdriver.support.ui import WebDriverWait

    found = WebDriverWait(browser, 10).until(lambda driver: driver.find_elements("css selector", selector))
    return " ".join(element.text for element in found)


def drawn(browser):
    pictures = "['heatmap', 'front', 'curves']"
    return browser.execute_script(f"return JSON.stringify({pictures}.map(id => [$(id).data[0].z, $(id).data[0].x]))")


def rows_shown(browser):
    """Return the rows of the picks' table that are shown, and the games of the shaded ones."""
    rows = [row for row in browser.find_elements("css selector", ".wide tbody tr") if row.is_displayed()]
    texts = [[cell.text for cell in row.find_elements("tag name", "td")] for row in rows]
    return texts, [text[0] for row, text in zip(rows, texts, strict=True) if row.get_attribute("class") == "selected"]


def test_the_picks_shown_are_those_for_the_selected_budget_and_weights(browser):
    choose(browser, "game", "goofspiel")
    choose(browser, "budget", "10 iterations")
    choose(browser, "preset", "paper-kuhn")
    rows, shaded = rows_shown(browser)
    assert [row[:3] for row in rows] == [[game, "10 iterations", "paper-kuhn"] for game in ("kuhn", "goofspiel")]
    assert shaded == ["goofspiel"]
    browser.find_element("id", "every").click()
    rows, shaded = rows_shown(browser)
    assert (len(rows), shaded) == (8, ["goofspiel"] * 4)
    browser.find_element("id", "every").click()
    assert len(rows_shown(browser)[0]) == 2
    choose(browser, "preset", "accuracy")


def test_the_star_is_at_the_teams_pick(browser, page):
    choose(browser, "game", "kuhn")
    choose(browser, "budget", "10 iterations")
    picks = page[1].picks
    (pick,) = picks[(picks["game"] == "kuhn") & (picks["budget"] == "10 iterations") & (picks["preset"] == "accuracy")][
        list(AXES)
    ].itertuples(index=False)
    star = browser.execute_script("const {x, y} = $('heatmap').data[1]; return [...y, ...x]")
    assert star == [pick.update_rule, f"{pick.sampler} x {pick.abstraction}"]


def test_the_table_has_words_for_people_and_fits_its_place(browser, page):
    headers = [header.text for header in browser.find_elements("css selector", ".wide th")]
    assert headers[:7] == ["game", "budget", "weights", "scale of e", "update rule", "sampler", "abstraction"]
    assert not any("_" in header for header in headers)
    assert headers[-2:] == ["among the best", "converged"]
    picks = page[1].picks
    known = {"yes", "no", "-", *(f"one of {size}" for size in picks["tied_set_size"].dropna())}
    assert {row[-2] for row in rows_shown(browser)[0]} <= known
    long = ["goofspiel", "0.01 seconds", parse_preset("0.7,0.3").name, "units", "deep_ecfr_plus(preset='sweep')",
        "variance_reduced", "cfr_br", "1.966e-08", "4,715,198", "0.9521", "0.9209", "-0.0008712", "one of 120",
        "not converged"]  # fmt: skip
    fill = "const row = document.querySelector('.wide tbody tr:not([hidden])'); "
    fill += "arguments[0].forEach((text, i) => { row.cells[i].textContent = text; }); "
    wide = "const box = document.querySelector('.wide'); return box.scrollWidth - box.clientWidth"
    assert len(long) == len(headers)
    assert browser.execute_script(fill + wide, long) == 0


def test_nothing_runs_off_a_narrow_screen(page):
    too_wide = """return [...document.querySelectorAll("body *")].filter(one => !one.closest(".wide")
      && one.getBoundingClientRect().right > innerWidth + 1).map(one => `${one.tagName}#${one.id}.${one.className}`)"""
    with opened(page[0], width=420) as driver:
        assert driver.execute_script("return innerWidth") == 420
        assert driver.execute_script(too_wide) == []
        assert driver.execute_script("return document.documentElement.scrollWidth") == 420


def test_every_row_of_a_hundred_has_its_name(page, tmp_path):
    """The page's table lacks these rules, so all cells are grey, but the rows are there."""
    _, found, table = page
    rules = tuple(f"dcfr(alpha={alpha})" for alpha in range(1, 99))
    catalog = Catalog(("cfr", *rules, "dcfr(gamma=3)"), CATALOG.samplers, CATALOG.abstractions)
    picks = found.frame.assign(update_rule="cfr")
    path = write_report(tmp_path / "page.html", table, catalog, replace(found, frame=picks), BUDGETS)
    with opened(path) as driver:
        labels = driver.execute_script(
            "return [...document.querySelectorAll('#heatmap .ytick text')].map(t => t.textContent)"
        )
        assert sorted(labels) == sorted(catalog.update_rules)
        assert driver.execute_script("return $('heatmap').clientHeight") > 100 * 12


def test_names_in_the_heatmap_leave_out_settings_that_tell_nothing_apart(browser):
    short = browser.execute_script("return shortNames(['cfr', 'deep_cfr(a=1)', 'dcfr(a=1)', 'dcfr(a=2)', 'dcfr'])")
    assert short == ["cfr", "deep_cfr", "dcfr(a=1)", "dcfr(a=2)", "dcfr"]


def lines_drawn(browser):
    """Return the names of the curves, that of the recommended algorithm as the others."""
    return [line.removeprefix("recommended: ") for line in text_of(browser, "#curves .legend").splitlines()]


def test_hovering_shows_figures_and_a_click_the_curve_and_its_command(browser, page):
    choose(browser, "game", "kuhn")
    choose(browser, "budget", "100 iterations")
    rule, name = next(  # the curve of the team's pick is drawn without a click
        (rule, f"{CATALOG.update_rules[rule]} x external x cfr_br")
        for rule in range(2)
        if f"{CATALOG.update_rules[rule]} x external x cfr_br" not in lines_drawn(browser)
    )
    at_cell(browser, rule, 0).perform()
    assert name in text_of(browser, "#heatmap .hoverlayer").replace("\n", " ")
    at_cell(browser, rule, 0).click().perform()
    shown = text_of(browser, "#cell")
    assert shown.startswith(f"{name} on kuhn, 100 iterations: exploitability ")
    command = f'--update-rule "{CATALOG.update_rules[rule]}" --sampler "external" --abstraction "cfr_br"'
    assert f"rlccfr solve 'kuhn' {command}" in shown
    assert "--iterations 100 --seed 1" in shown
    assert name in lines_drawn(browser)
    browser.find_element("id", "clear").click()
    assert name not in lines_drawn(browser)


def test_the_command_that_it_shows_gives_the_figure_that_it_shows(browser, tmp_path):
    choose(browser, "game", "kuhn")
    choose(browser, "budget", "10 iterations")
    at_cell(browser, 0, 3).click().perform()
    shown = text_of(browser, "#cell")
    call = shlex.split(shown.split("Repeat one of these runs: ")[1])
    done = subprocess.run(
        [sys.executable, "-m", "rlccfr", *call[1:], "--json"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    figure = float(shown.split("exploitability ")[1].split(",")[0])
    assert json.loads(done.stdout)["exploitability"] == pytest.approx(figure, rel=5e-3)


def test_what_was_not_measured_says_so(browser):
    choose(browser, "game", "goofspiel")
    choose(browser, "budget", "100 iterations")
    at_cell(browser, 1, 2).click().perform()
    assert text_of(browser, "#cell") == "dcfr x none x cfr_br on goofspiel, 100 iterations: no result"
    choose(browser, "game", "kuhn")
    assert text_of(browser, "#cell").startswith("dcfr x none x cfr_br on kuhn, 100 iterations: exploitability")


def test_other_games_budgets_weights_and_units_redraw_the_pictures(browser):
    choose(browser, "game", "goofspiel")
    before = drawn(browser)
    for id, text in (
        ("budget", "10 iterations"),
        ("preset", "paper-kuhn"),
        ("over", "iterations"),
        ("shown", "exploitability"),
    ):
        choose(browser, id, text)
        after = drawn(browser)
        assert after != before, id
        before = after
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors


def test_the_rewards_on_the_page_are_the_tables(browser, page):
    choose(browser, "shown", "mean reward")
    assert "mean" in text_of(browser, "#heatmap .infolayer")
    for game in ("kuhn", "goofspiel"):
        for preset in ("accuracy", "paper-kuhn"):
            choose(browser, "game", game)
            choose(browser, "budget", "100 iterations")
            choose(browser, "preset", preset)
            pick = (
                page[1].picks.query(f"game == '{game}' and preset == '{preset}' and budget == '100 iterations'").iloc[0]
            )
            row = CATALOG.update_rules.index(pick.update_rule)
            column = 2 * CATALOG.samplers.index(pick.sampler) + CATALOG.abstractions.index(pick.abstraction)
            shown = browser.execute_script(f"return $('heatmap').data[0].z[{row}][{column}]")
            assert shown == pytest.approx(pick.reward, abs=1e-3)
