"""``rlccfr reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlccfr.cli.console import RUNS, Interrupted, progress
from rlccfr.experiments import EXPERIMENTS, load_experiment

CLAIMS = "claims"


def reproduce(
    paper: Annotated[
        str, typer.Argument(help=f"Experiment: {', '.join(EXPERIMENTS)}; or claims, a page of all that was found.")
    ] = "rlccfr",
    quick: Annotated[bool, typer.Option(help="Run a small part, in about a minute.")] = False,
    out: Annotated[Path, typer.Option(help="Directory for the page and its pictures.")] = RUNS / "experiments",
    store: Annotated[Path, typer.Option(help="Directory that keeps measured cases, to go on later.")] = RUNS
    / "experiments",
) -> None:
    """Run a published experiment again, and write a page about it.

    The page has the protocol, what is found here with intervals, and the published figures beside. A full run takes up
    to an hour. It may be stopped, and goes on where it stopped.
    """
    if paper == CLAIMS:
        from rlccfr.experiments.running import write_claims

        print(write_claims(store, out).read_text(), end="")
        return
    wanted = load_experiment(paper)
    with progress(f"reproducing {paper}") as report:
        from rlccfr.experiments.running import kept_at, measure, write_page

        try:
            rows = measure(wanted, store, quick, report)
        except KeyboardInterrupt:
            kept = kept_at(wanted, store, quick)
            raise Interrupted(f"interrupted; {kept} keeps what was measured, and the same command goes on") from None
        page = write_page(wanted, rows, out, quick)
    print(page.read_text(), end="")
    print(f"\nThis page is {page}; its pictures are beside it.")
