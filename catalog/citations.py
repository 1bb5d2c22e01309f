"""BibTeX for algorithms and runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from rlccfr.components import Component, UpdateRule
from rlccfr.errors import ComponentError, brief
from rlccfr.registry import REGISTRIES, Entry, unknown

if TYPE_CHECKING:
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.solver import Solver

PAPER = "keshavarzi-combining"
"""Key of the paper whose system this library builds."""

EXACT = ("vonstengel1996efficient", "koller1996efficient")
"""Keys of the works that define exact solutions."""

_ESCAPED = {ord(sign): rf"\{sign}" for sign in "#%&_$"} | {
    ord(sign): text
    for sign, text in (
        ("^", r"\^{}"),
        ("~", r"\~{}"),
        ("\\", r"\textbackslash{}"),
        ("{", r"\textbraceleft{}"),  # BibTeX counts the braces of "\{", too
        ("}", r"\textbraceright{}"),
    )
}
"""LaTeX code of each character that LaTeX would not print as it is."""


class Work(NamedTuple):
    """A published work.

    Attributes:
        key: its BibTeX key.
        phrase: phrase by which components' sources name this work; empty if there is none.
        bibtex: its BibTeX entry.
    """

    key: str
    phrase: str
    bibtex: str


def cite(*things: str | Component | Sequence[Any] | Solver | ExactSolution) -> str:
    """Return BibTeX for algorithms or runs: the works that define them, this library, and the paper that it builds on.

    Args:
        things: ids of components, such as ``"dcfr"`` or ``"dcfr(gamma=3)"``; components; triples of ids or components,
            also as ``"dcfr x external x none"``; solvers; or exact solutions. Without arguments, only the library and
            the paper are cited.

    Raises:
        ComponentError: an id is unknown, or an argument is none of these.

    Examples:
        >>> import rlccfr
        >>> print(rlccfr.cite("dcfr").splitlines()[0])
        @inproceedings{brown2019discounted,
    """
    entries = {work.key: work.bibtex for work in _works(things) if work.key != PAPER}  # the paper always comes last
    return "\n\n".join([*entries.values(), _library(), _work(PAPER).bibtex]) + "\n"


def works_of(entry: Entry[Any]) -> list[Work]:
    """Return the works that a component's source names; for a rule derived from another rule, those of the other rule.

    If the source names no work, return an entry with the source's text, or nothing if the source is this library.
    """
    # A rule that is derived from another rule cites the works of the other rule.
    if base := re.match(r"derived here from (\w+)", entry.source):
        return works_of(_entry(base[1]))
    named_works = [work for work in works() if work.phrase and work.phrase in entry.source]
    if named_works or entry.source.startswith("this library"):
        return named_works
    # A third-party component, whose source is not among the library's references.
    title, note = (text.translate(_ESCAPED) for text in (entry.id, entry.source))
    return [Work(entry.id, "", f"@misc{{{entry.id},\n  title = {{{title}}},\n  note = {{{note}}}\n}}")]


@cache
def works() -> tuple[Work, ...]:
    """Return all works in the library's file of references."""
    text = (files("rlccfr.catalog") / "data" / "references.bib").read_text(encoding="utf-8")
    all_works = []
    for entry in re.findall(r"^@\w+\{.*?^\}$", text, re.MULTILINE | re.DOTALL):
        key = re.match(r"@\w+\{([^,]+),", entry)
        assert key is not None
        # The field "named" is this library's own; users get the entry without it.
        phrase = re.search(r"^  named = \{(.*)\},\n", entry, re.MULTILINE)
        if phrase is None:
            all_works.append(Work(key[1], "", entry))
        else:
            all_works.append(Work(key[1], phrase[1], entry.replace(phrase[0], "")))
    return tuple(all_works)


def _work(key: str) -> Work:
    return next(work for work in works() if work.key == key)


def _works(things: Sequence[Any]) -> Iterator[Work]:
    """Yield the works that define the arguments of :func:`cite`.

    Raises:
        ComponentError: as in :func:`cite`.
    """
    from rlccfr.engine.linear_program import ExactSolution
    from rlccfr.solver import Solver

    for cited in things:
        if isinstance(cited, Solver):
            yield from _works((cited.update_rule, cited.sampler, cited.abstraction))
        elif isinstance(cited, ExactSolution):
            yield from map(_work, EXACT)
        elif isinstance(cited, UpdateRule) and cited.controller is not None:
            # A rule that was made from a controller itself has no id by which to find its entry.
            yield from works_of(_entry("controlled"))
        elif isinstance(cited, Component) and cited.id:
            yield from works_of(_entry(cited.id))
        elif isinstance(cited, str):
            for id in cited.split(" x "):
                yield from works_of(_entry(id))
        elif isinstance(cited, (tuple, list)):
            yield from _works(cited)
        else:
            name = cited.title if isinstance(cited, Component) else brief(cited)
            raise ComponentError(f"can't cite {name}: give ids, registered components, solvers or exact solutions")


def _entry(id: str) -> Entry[Any]:
    """Return the entry of a component of any kind.

    Raises:
        ComponentError: there is no such component.
    """
    name = id.strip()
    for registry in REGISTRIES:
        if name.partition("(")[0] in registry:
            return registry[name]
    raise unknown(name)


def _library() -> str:
    from rlccfr import __version__

    return (
        f"@misc{{rlccfr,\n  author = {{{{The RLCCFR developers}}}},\n  title = {{{{RLCCFR}}}},\n"
        f"  note = {{Python package, version {__version__}}}\n}}"
    )
