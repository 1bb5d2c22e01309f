"""Catalogs as text: ``tabular``, ``tabular + my_rule``, or ``dcfr(alpha=1|1.5|2) + cfr_plus + external``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import product

from rlccfr.catalog import Catalog, Cell
from rlccfr.components.text import parse
from rlccfr.errors import RLCCFRError, brief, choices, nearest
from rlccfr.games.names import GameName, as_name, form_named
from rlccfr.registry import REGISTRIES, registries_with, unknown

SEPARATOR = re.compile(r"\+\s*(?=[^\W\d])(?![^(]*\))")
"""A plus sign between components: outside brackets, with a name after it. Other plus signs belong to names (CFR+)."""

NAMED: Mapping[str, Callable[[], Catalog]] = {
    "paper": Catalog.paper,
    "tabular": Catalog.tabular,
    "extended": Catalog.extended,
    "extended-tabular": Catalog.extended_tabular,
    "schedules": Catalog.schedules,
    "public": Catalog.public,
    "buckets": Catalog.buckets,
}
"""Functions that make the catalogs, by name."""

NONE = "none"
"""The id that stands for no sampler and for no abstraction."""


def catalog_from_text(text: str) -> Catalog:
    """Return the catalog that a string describes.

    The string lists components, and may begin with the name of a catalog. Without such a name, the catalog has only the
    listed components. If no sampler is listed, the sampler is ``none``, and likewise for abstractions; a listed
    ``none`` is added to both. A hyperparameter may have several values, ``dcfr(alpha=1|2)``; each value then gives a
    component.

    Raises:
        RLCCFRError: a component is unknown or appears twice, or there is no update rule.

    Examples:
        >>> catalog = catalog_from_text("dcfr(alpha=1|2) + CFR+ + external + none")
        >>> catalog.update_rules
        ('dcfr(alpha=1)', 'dcfr(alpha=2)', 'cfr_plus')
        >>> catalog.samplers, catalog.abstractions
        (('external', 'none'), ('none',))
        >>> catalog_from_text("tabular + pcfr_plus").shape
        (9, 7, 2)
    """
    first, *others = (part.strip() for part in SEPARATOR.split(text))
    if first in NAMED:
        return NAMED[first]().plus(*_by_axis(others))
    # A word that is nearly a catalog's name, and no component's, is a misspelt catalog.
    if nearest(first, NAMED) and not registries_with(first):
        raise RLCCFRError(f"unknown catalog {first!r}; {choices(first, NAMED)}")
    listed = [first, *others]
    # A sampler and an abstraction have the id none, so it belongs to no single axis.
    rules, samplers, abstractions = _by_axis([part for part in listed if part != NONE])
    if not rules:
        raise RLCCFRError(
            f"the catalog {text!r} has no update rule: list one, as in 'cfr_plus + external', or begin with the name "
            f"of a catalog ({', '.join(NAMED)})"
        )
    for ids in (samplers, abstractions):
        if not ids or NONE in listed:
            ids.append(NONE)
    return Catalog(tuple(rules), tuple(samplers), tuple(abstractions))


def text_of(algorithms: Collection[Cell]) -> str | None:
    """Return the text that lists the components of some algorithms.

    None is returned if its catalog would be another one, or if a component is not loaded.

    Examples:
        >>> text_of(list(catalog_from_text("dcfr + CFR+ + external + none")))
        'cfr_plus + dcfr + external + none'
        >>> text_of([Cell("cfr", "none", "none"), Cell("dcfr", "external", "none")]) is None
        True
    """
    axes = [sorted(set(ids)) for ids in zip(*algorithms, strict=True)]
    ids = [*axes[0], *(id for id in axes[1] + axes[2] if id != NONE)]
    if any(NONE in axis and len(axis) > 1 for axis in axes):
        ids.append(NONE)
    text = " + ".join(ids)
    try:
        catalog = catalog_from_text(text)
    except RLCCFRError:  # a component of the user's own, which is not loaded
        return None
    return text if set(catalog) == set(algorithms) else None


def default_catalog(games: Sequence[GameName]) -> str:
    """Return the name of the catalog whose algorithms are measured on games if the user names no catalog.

    It depends on the form in which the games are represented, such as a tree of histories or a public tree.

    Args:
        games: the games, at least one.

    Raises:
        GameError: a parameter in a game's name is given twice, or is not a whole number.
        RLCCFRError: the games have different defaults, or there is no catalog for a game's form.

    Examples:
        >>> default_catalog(["kuhn"]), default_catalog(["holdem"]), default_catalog(["texas_holdem(buckets=5)"])
        ('paper', 'public', 'buckets')
    """
    games_by_catalog: dict[str, GameName] = {}
    for game in games:
        form = form_named(as_name(game))
        if not form.catalogs:
            raise RLCCFRError(
                f"{brief(game)} is represented {form.title}, for which there is no catalog: list algorithms, as in "
                f"--catalog {form.instead.get('catalogs', 'cfr_plus')!r}"
            )
        games_by_catalog.setdefault(form.catalogs[0], game)
    if len(games_by_catalog) > 1:
        defaults = " and ".join(f"{name!r} for {brief(game)}" for name, game in games_by_catalog.items())
        raise RLCCFRError(
            f"the default catalog is {defaults}: name one with --catalog, or name only games with the same default"
        )
    return next(iter(games_by_catalog))


def _by_axis(specs: Sequence[str]) -> list[list[str]]:
    """Return components by their axis: update rules, samplers, abstractions.

    Raises:
        ComponentError: an unknown component.
    """
    by_axis: list[list[str]] = [[], [], []]
    for spec in (single for listed in specs for single in _each_value(listed)):
        id = parse(spec)["id"]
        registries = registries_with(id)
        if not registries:
            raise unknown(id)
        by_axis[REGISTRIES.index(registries[0])].append(spec)
    return by_axis


def _each_value(spec: str) -> list[str]:
    """Return ``dcfr(alpha=1)`` and ``dcfr(alpha=2)`` for ``dcfr(alpha=1|2)``, and a component without ``|`` as it is.

    If several hyperparameters have several values, all combinations are returned. A string that is not a component is
    returned unchanged; :func:`rlccfr.components.text.parse` then raises an error for it.
    """
    id, bracket, arguments = spec.partition("(")
    if not bracket or "|" not in arguments:
        return [spec]
    try:
        call = ast.parse(f"f({arguments}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: thousands of brackets or signs
        return [spec]
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        return [spec]
    settings = []
    for keyword in call.keywords:
        settings.append([f"{keyword.arg}={ast.unparse(value)}" for value in _values(keyword.value)])
    return [f"{id}({', '.join(combination)})" for combination in product(*settings)]


def _values(expression: ast.expr) -> list[ast.expr]:
    """Return the values that are separated by ``|`` in an expression; without ``|``, the expression itself."""
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.BitOr):
        return [*_values(expression.left), *_values(expression.right)]
    return [expression]
