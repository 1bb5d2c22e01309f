"""``rlccfr cite``."""

from __future__ import annotations

from typing import Annotated

import typer


def cite(
    names: Annotated[
        list[str] | None, typer.Argument(help="Components of an algorithm, or a file with a run. [the library alone]")
    ] = None,
) -> None:
    """Print BibTeX for what you used.

    For example, `rlccfr cite dcfr external none`, or `rlccfr cite run.npz`.
    """
    from rlccfr.catalog.citations import cite as bibtex
    from rlccfr.cli.policies.named import is_run, run_of

    print(bibtex(*(run_of(name) if is_run(name) else name for name in names or ())), end="")
