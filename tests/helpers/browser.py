"""A browser for tests of pages, which are skipped where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
SIZE = (1300, 1400)
FLAGS = ("headless=new", "no-sandbox", "disable-gpu", "window-size=1300,1400", "disable-background-networking",
         "no-first-run", "disable-component-update", "disable-sync", "host-resolver-rules=MAP * ~NOTFOUND")  # fmt: skip


@contextmanager
def opened(page: Path, width: int | None = None) -> Iterator[Any]:
    """Open a page in Chromium, and yield Selenium's driver.

    Args:
        page: the page's file.
        width: width in pixels of a phone's screen; a window on a desktop, which can't be as narrow, by default.
    """
    if not (CHROMIUM and DRIVER):
        pytest.skip("there is no Chromium: install Debian's packages chromium and chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS:
        options.add_argument(f"--{flag}")
    if width is not None:
        screen = {"width": width, "height": SIZE[1], "pixelRatio": 1.0}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": screen})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    try:
        driver.set_window_size(*SIZE)
        driver.get(page.as_uri())
        yield driver
    finally:
        driver.quit()
