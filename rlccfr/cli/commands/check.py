"""``rlccfr check``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlccfr.cli.progress import progress
from rlccfr.errors import ComponentError, RLCCFRError, what_failed
from rlccfr.interrupts import raise_if_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def check(
    components: Annotated[
        list[str] | None,
        typer.Argument(
            help='Components, such as my_rule or "my_rule(power=1)". [all that --load or --plugins registered]',
            show_default=False,
        ),
    ] = None,
) -> None:
    """Check components of your own: `rlccfr --load my_rule.py check`.

    First, the functions of an update rule or sampler are called in Python, where an error names its line. Then runs are
    checked. They must stay finite, give the same numbers when stopped and continued, and converge on Kuhn poker to a
    hundredth of the uniform policy's exploitability within 200,000 exact iterations (with fitted models, to a half
    within 400; with buckets, within 2,000). Plain CFR's exploitability is printed beside the component's. A sampler's
    estimates must be unbiased. A check takes seconds per component, or minutes for a sampler whose estimates seem
    biased: they are drawn again, with more walks. The first failure of each component is printed; the exit code is
    then 1.
    """
    checks = list(_checks(components or []))
    if not checks:
        from rlccfr.plugins import loaded

        files = " and ".join(Path(file).name for file in loaded.files)
        if files:
            raise ComponentError(f"there is nothing to check: no component is registered by {files}")
        raise ComponentError("there is nothing to check: write --load FILE or --plugins before the command")
    # Continue after a failure: each component has its own line.
    num_failed = 0
    for component, run_check in checks:
        try:
            with progress(f"checking {component}"):
                convergence = run_check()
        except Exception as error:  # another author's code may raise anything
            raise_if_interrupt(error)
            num_failed += 1
            print(f"{component}: {error if isinstance(error, RLCCFRError) else what_failed(error)}")
        else:
            print(f"{component}: passes" + (f"; {convergence}" if convergence else ""))
    if num_failed:
        raise RLCCFRError(f"{num_failed} of {len(checks)} components fail")


def _checks(names: list[str]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the names and checks of components: of the named ones or, without names, of all but the library's own."""
    from rlccfr import testing
    from rlccfr.components.text import parse
    from rlccfr.registry import abstractions, samplers, unknown, update_rules

    checks: tuple[tuple[Any, Callable[[Any], object]], ...] = (
        (update_rules, testing.check_update_rule),
        (samplers, testing.check_sampler),
        (abstractions, testing.check_abstraction),
    )
    for id in (parse(name)["id"] for name in names):
        if not any(id in registry for registry, _ in checks):
            raise unknown(id)
    for registry, check_component in checks:
        for name in names or [entry.id for entry in registry if entry.code]:
            if parse(name)["id"] in registry:
                yield f"{registry.kind} {name}", partial(check_component, name)
