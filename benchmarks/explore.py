"""``python -m benchmarks.explore > docs/explore.md``: how long pages take to open and to answer a click in Chromium.

It also draws docs/pictures/explore.png, the page that the README shows.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.markdown import table
from rlccfr.envs.measuring.provenance import processor_model
from rlccfr.explorer.pages import write_page
from rlccfr.games.names import load_game
from rlccfr.solver import Solver

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "explore.png"
GAMES = {"leduc": 500, "royal": 100, "holdem(ranks=7)": 20}
"""For each game, the iterations of the policy that is shown."""

SIZE = (1200, 860)
OPENINGS, CLICKS = 5, 40
"""Number of times that a page is opened, and number of clicks on it."""

OPENED = "return document.body.dataset.point !== undefined"
CLICKED = """
const done = arguments[arguments.length - 1], before = document.body.dataset.point, begin = performance.now();
const moves = [...document.querySelectorAll("#moves button")], back = document.querySelector("#path button");
const button = moves.length ? moves[arguments[0] % moves.length] : back;
const watch = new MutationObserver(() => {
  if (document.body.dataset.point === before) return;
  watch.disconnect();
  requestAnimationFrame(() => done(performance.now() - begin));
});
watch.observe(document.body, {attributes: true});
button.click();
"""


def main() -> None:
    """Print the page, and draw the picture."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for game, iterations in GAMES.items():
            solver = Solver(load_game(game), "dcfr_plus")
            solver.run(iterations=iterations)
            path = Path(folder) / "page.html"
            write_page(solver.average_policy(), path)
            rows.append((game, solver.game.num_infosets, path.stat().st_size / 1e6, *timed(path, game == "leduc")))
    print(
        "# How fast the pages of `rlccfr explore` are\n\n"
        f"Written by `python -m benchmarks.explore` on {processor_model()}, in headless Chromium; not edited by "
        "hand.\n\nOpening ends when the first point is shown; a click ends with the next frame. The page on hold'em "
        "has the 200,000 states nearest to the start. [Look at a policy](howto/look-at-a-policy.md) says how to make "
        "such pages.\n"
    )
    names = ["game", "infosets", "MB", "opens in s (median)", "a click in ms (median)", "slowest click in ms"]
    print("\n".join(table(pd.DataFrame(rows, columns=names))))


def timed(page: Path, drawn: bool) -> tuple[float, float, float]:
    """Return the median time to open a page in seconds, and the median and the longest time of a click in ms."""
    with driver() as browser:
        openings = []
        for _ in range(OPENINGS):
            browser.get("about:blank")
            browser.get(page.as_uri())
            while not browser.execute_script(OPENED):
                pass
            shown = "return performance.getEntriesByName('shown')[0]?.startTime ?? performance.now()"
            openings.append(browser.execute_script(shown) / 1000)
        clicks = [browser.execute_async_script(CLICKED, number) for number in range(CLICKS)]
        if drawn:
            browser.get(page.as_uri())
            browser.execute_script("[...document.querySelectorAll('#moves button')][1].click()")
            browser.execute_async_script("setTimeout(arguments[0], 500)")
            browser.save_screenshot(str(PICTURE))
    return statistics.median(openings), statistics.median(clicks), max(clicks)


def driver() -> Any:
    """Return Selenium's driver of a headless Chromium."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("headless=new", "no-sandbox", "disable-gpu", f"window-size={SIZE[0]},{SIZE[1]}"):
        options.add_argument(f"--{flag}")
    found = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    found.set_window_size(*SIZE)
    return found


if __name__ == "__main__":
    main()
