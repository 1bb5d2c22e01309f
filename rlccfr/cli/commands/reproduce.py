"""``rlccfr reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlccfr.cli.console import RUNS, Interrupted
from rlccfr.cli.progress import progress
from rlccfr.errors import RLCCFRError
from rlccfr.experiments import EXPERIMENTS, load_experiment

CLAIMS = "claims"


def reproduce(
    paper: Annotated[
        str, typer.Argument(help=f"Experiment: {', '.join(EXPERIMENTS)}; or claims, a page of all that was found.")
    ] = "rlccfr",
    quick: Annotated[bool, typer.Option(help="Run a small part, in about a minute.")] = False,
    out: Annotated[Path, typer.Option(help="Directory for the page and its pictures.")] = RUNS / "experiments",
    store: Annotated[Path, typer.Option(help="Directory that keeps measured cases, for later runs.")] = RUNS
    / "experiments",
) -> None:
    """Run a published experiment again, and write a page about it.

    The page has the protocol, the results here with intervals beside the published figures, and verdicts on the
    source's claims. A full run may take an hour. If it is stopped, the same command continues from there.
    """
    if paper == CLAIMS:
        if quick:
            raise RLCCFRError("claims are judged by full runs: leave out --quick")
        from rlccfr.experiments.running import write_claims

        print(write_claims(store, out).read_text(), end="")
        return
    experiment = load_experiment(paper)
    with progress(f"reproducing {paper}") as report:
        from rlccfr.experiments.running import measure, page_of, write_page

        page_of(experiment, out, quick)  # raises an error if the page can't be written, before an hour's work
        try:
            rows = measure(experiment, store, quick, report)
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted; {store} keeps the cases that were measured; the same command continues from there"
            ) from None
        page = write_page(experiment, rows, out, quick)
    print(page.read_text(), end="")
    print(f"\nThis page is {page}; its pictures are beside it.")
