"""The site check, a part of ``make site``: no link leads nowhere, and nothing in docs/_build needs a network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

from tests.helpers.browser import opened

SITE = Path(__file__).parent.parent / "docs" / "_build"
LINKS = {"a": "href", "img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}
"""Per tag that leads somewhere or loads something, the attribute that says what."""


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(), "html.parser")


@cache
def anchors(page: Path) -> set[str]:
    return {str(tag["id"]) for tag in parsed(page).find_all(id=True)}


def links() -> Iterator[tuple[Path, Tag, str]]:
    """Yield each page, tag and target in the site."""
    for page in sorted(SITE.rglob("*.html")):
        for tag in parsed(page).find_all(list(LINKS)):
            if tag.has_attr(LINKS[tag.name]):
                yield page, tag, str(tag[LINKS[tag.name]])


def is_there(page: Path, target: str) -> bool:
    parts = urlsplit(target)
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    wants_anchor = parts.fragment and path.suffix == ".html"
    return path.is_file() and (not wants_anchor or unquote(parts.fragment) in anchors(path))


def is_elsewhere(target: str) -> bool:
    parts = urlsplit(target)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def test_links_within_the_site_lead_somewhere():
    local = {(page, to) for page, _, to in links() if not (is_elsewhere(to) or to.startswith("data:"))}
    assert len(local) > 1000
    assert not [f"{page.relative_to(SITE)}: {target}" for page, target in sorted(local) if not is_there(page, target)]


def test_no_link_was_left_out():
    """MyST writes a link whose target it does not find as a span."""
    pages = sorted(SITE.rglob("*.html"))
    spans = [(page, span) for page in pages for span in parsed(page).select("span.xref.myst")]
    assert not [(page.name, span.text) for page, span in spans if not span.find_parent("a")]


def test_no_page_loads_anything_from_elsewhere():
    assert not {(page.name, to) for page, tag, to in links() if tag.name != "a" and is_elsewhere(to)}


def test_formulas_diagrams_and_search_work_in_a_browser_without_a_network():
    WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait
    with opened(SITE / "explanation.html") as driver:
        formulas = driver.find_elements("css selector", "math")
        assert len(formulas) >= 5
        assert all(formula.size["width"] > 5 and "\\" not in formula.text for formula in formulas)
        driver.get((SITE / "architecture.html").as_uri())
        assert driver.find_element("css selector", "svg[id^=mermaid]").size["width"] > 300
        assert not [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        driver.get((SITE / "search.html").as_uri() + "?q=exploitability")
        WebDriverWait(driver, 30).until(
            lambda page: len(page.find_elements("css selector", "#search-results li a")) > 5
        )
