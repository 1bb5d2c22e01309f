"""The page is tried as a person tries it: in a browser, by clicks and by keys."""

from __future__ import annotations

import re

import pytest
from browser import opened

import rlccfr
from rlccfr.explorer.pages import write_page


def solved(name, iterations=100):
    solver = rlccfr.Solver(rlccfr.load_game(name), "dcfr_plus")
    solver.run(iterations=iterations)
    return solver.average_policy()


@pytest.fixture(scope="module")
def kuhn(tmp_path_factory):
    policy, path = solved("kuhn"), tmp_path_factory.mktemp("page") / "kuhn.html"
    write_page(policy, path)
    with opened(path) as driver:
        until(driver, lambda: point(driver) is not None)
        yield driver, policy


def until(driver, holds):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, 10, poll_frequency=0.02).until(lambda _: holds())


def point(driver):
    return driver.execute_script("return document.body.dataset.point")


def texts(driver, selector):
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(one => one.innerText.trim())", selector
    )


def go(driver, act):
    """Do something that leads to another point, and wait until it is shown."""
    before = point(driver)
    act()
    until(driver, lambda: point(driver) != before)


def move(driver, name):
    button = next(one for one in driver.find_elements("css selector", "#moves button") if one.text.startswith(name))
    go(driver, button.click)


def keys(driver, *pressed):
    from selenium.webdriver import ActionChains

    ActionChains(driver).send_keys(*pressed).perform()


def shown(probability):
    """Return a probability as the page shows it."""
    if probability >= 0.9995:
        return "100 %"
    return "< 0.1 %" if 0 < probability < 0.001 else f"{100 * probability:.1f} %"


def start(driver):
    if texts(driver, "#path button")[-1] != "Start":
        go(driver, driver.find_element("css selector", "#path button").click)


@pytest.mark.slow
def test_it_needs_nothing_else_and_reports_no_error(kuhn, tmp_path):
    driver, policy = kuhn
    text = driver.page_source
    assert not re.search(r"(src|href)=", text)
    assert "://" not in text.replace("http://www.w3.org", "")
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert f"{policy.exploitability():.4g}" in texts(driver, "#figures")[0]


@pytest.mark.slow
def test_it_begins_where_the_first_player_decides(kuhn):
    driver, policy = kuhn
    start(driver)
    assert texts(driver, "#who") == ["Player 0 moves"]
    assert texts(driver, "#path button") == ["Start"]
    rows = texts(driver, "#states tr")[1:]
    assert len(rows) == 3
    bets = {key: policy.probabilities[2 * number + 1] for number, key in enumerate(policy.game.infoset_keys)}
    for row in rows:
        assert shown(bets[str("JQK".index(row.split()[0]))]) in row
    values = [row.split(" %")[1].split()[0] for row in rows]
    assert all(re.fullmatch(r"\u2212?\d\.\d{4}", value) for value in values)
    bars = driver.find_elements("css selector", "#states .bar")
    assert len(bars) == 3
    assert texts(driver, "#worth") == ["Player 0's expected payoff is \u22120.0556 chips."]


def test_headers_stand_above_their_numbers_and_small_regrets_are_left_out(kuhn):
    driver, _ = kuhn
    start(driver)
    aligned = "return [...document.querySelectorAll(arguments[0])].map(one => getComputedStyle(one).textAlign)"
    headers = driver.execute_script(aligned, "#states th")
    assert headers == driver.execute_script(aligned, "#states tr:nth-child(2) td")
    assert headers == ["left", "right", "right", "left", "right", "right"]
    signs = driver.execute_script("return [0.1, -0.1, 0, index.small / 2, null].map(regretOf)")
    assert signs == ["+0.10", "\u22120.10", "", "", "\u2013"]


@pytest.mark.slow
def test_clicks_walk_through_the_game(kuhn):
    driver, _ = kuhn
    start(driver)
    move(driver, "Pass")
    assert texts(driver, "#who") == ["Player 1 moves"]
    assert [row.split()[0] for row in texts(driver, "#others tr")]
    move(driver, "Bet")
    assert texts(driver, "#path button") == ["Start", "Pass", "Bet"]
    assert {row.split()[0] for row in texts(driver, "#states tr")[1:]} == {"J", "Q", "K"}
    titles = driver.execute_script("return [...document.querySelectorAll('#states td.text')].map(one => one.title)")
    assert "K, moves: pass bet\n2pb" in titles
    move(driver, "Bet")
    assert texts(driver, "#who") == ["The game has ended"]
    assert texts(driver, "#moves button") == []
    go(driver, driver.find_elements("css selector", "#path button")[1].click)
    assert texts(driver, "#path button") == ["Start", "Pass"]


def test_keys_do_the_same(kuhn):
    from selenium.webdriver.common.keys import Keys

    driver, _ = kuhn
    start(driver)
    go(driver, lambda: keys(driver, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER))
    assert texts(driver, "#path button") == ["Start", "Bet"]
    go(driver, lambda: keys(driver, Keys.ARROW_UP, Keys.ARROW_RIGHT))
    assert texts(driver, "#path button") == ["Start", "Bet", "Bet"]
    go(driver, lambda: keys(driver, Keys.ARROW_LEFT))
    go(driver, lambda: keys(driver, Keys.BACKSPACE))
    assert texts(driver, "#path button") == ["Start"]
    go(driver, lambda: driver.execute_script("history.back()"))
    assert texts(driver, "#path button") == ["Start", "Bet"]


def test_texts_narrow_the_states_and_columns_sort_them(kuhn):
    from selenium.webdriver.common.keys import Keys

    driver, _ = kuhn
    start(driver)
    for text in ("2", "k"):  # as OpenSpiel writes it, and in words
        keys(driver, "/", text)
        until(driver, lambda: texts(driver, "#count") == ["1 of 3"])
        assert [row.split()[0] for row in texts(driver, "#states tr")[1:]] == ["K"]
        keys(driver, Keys.BACKSPACE, Keys.ESCAPE)
        until(driver, lambda: texts(driver, "#count") == ["3 of 3"])
    value = driver.find_elements("css selector", "#states th button")[2]
    value.click()
    assert [row.split()[0] for row in texts(driver, "#states tr")[1:]] == ["K", "Q", "J"]
    driver.find_elements("css selector", "#states th button")[2].click()
    assert [row.split()[0] for row in texts(driver, "#states tr")[1:]] == ["J", "Q", "K"]


@pytest.mark.slow
def test_an_action_has_one_colour(tmp_path):
    path = tmp_path / "leduc.html"
    write_page(solved("leduc", 2), path)

    def colours(driver):
        script = "return [...document.querySelectorAll('#legend .key')].map(one => one.style.background)"
        return dict(zip(texts(driver, "#legend > span"), driver.execute_script(script), strict=True))

    with opened(path) as driver:
        until(driver, lambda: point(driver) is not None)
        first = colours(driver)
        assert list(first) == ["Call", "Raise"]
        move(driver, "Raise")
        assert list(colours(driver)) == ["Fold", "Call", "Raise"]
        assert first.items() < colours(driver).items()


@pytest.mark.slow
def test_hands_have_a_grid(tmp_path):
    policy = solved("holdem(ranks=5,suits=4,private=2,flop=1)", 20)
    path = tmp_path / "holdem.html"
    write_page(policy, path, most=5_000)
    with opened(path) as driver:
        until(driver, lambda: point(driver) is not None)
        assert (
            f"Its exploitability is {1000 * policy.exploitability() / policy.game.big_blind:.4g} mbb/g"
            in texts(driver, "#figures")[0]
        )
        cells = texts(driver, "#grid button")
        assert len(cells) == 25
        # Before the flop, a state is a class of hands, as in the grid; afterwards suits tell hands apart.
        states = texts(driver, "#states td.text")
        assert sorted(states) == sorted(cells)
        titles = driver.execute_script("return [...document.querySelectorAll('#states td.text')].map(one => one.title)")
        assert "3d2c, and all hands like it" in titles
        assert cells[:3] == ["66", "65s", "64s"]
        before = len(texts(driver, "#states tr"))
        driver.find_elements("css selector", "#grid button")[1].click()
        until(driver, lambda: len(texts(driver, "#states tr")) < before)
        assert [row.split()[0] for row in texts(driver, "#states tr")[1:]] == ["65s"]
        move(driver, "raise")
        move(driver, "call")
        assert texts(driver, "#who") == ["Chance moves"]
        assert not driver.find_element("css selector", "#grid").is_displayed()
        go(driver, driver.find_element("css selector", "#path button").click)
        assert driver.find_element("css selector", "#grid").is_displayed()
        move(driver, "fold")
        assert texts(driver, "#who") == ["The game has ended"]
        assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.mark.slow
def test_hostile_texts_are_shown_and_not_run(tmp_path):
    efg = tmp_path / "hostile.efg"
    name = "</script><script>document.title='run'</script><img src=x onerror=\\\"document.title='run'\\\">"
    nodes = f'p "" 1 1 "{name}" {{ "{name}" "b" }} 0\nt "" 1 "" {{ 1 -1 }}\nt "" 2 "" {{ 0 0 }}\n'
    efg.write_text(f'EFG 2 R "t" {{ "a" "b" }}\n{nodes}')
    policy = rlccfr.Policy.uniform(rlccfr.load_game(str(efg)))
    path = tmp_path / "page.html"
    write_page(policy, path)
    with opened(path) as driver:
        until(driver, lambda: point(driver) is not None)
        assert "onerror" in texts(driver, "#moves button")[0]
        assert driver.title.startswith("A policy of")
