"""The command line, ``rlccfr``: its commands, and how a command line begins and ends.

Each command imports what it needs when it runs, so that ``--help`` does not wait for torch.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from rlccfr import __version__
from rlccfr.cli.command import Command, add_command
from rlccfr.cli.commands import (
    aslib,
    catalog,
    check,
    cite,
    compare,
    curves,
    demo,
    doctor,
    equity,
    games,
    insights,
    recommend,
    reproduce,
    solve,
    sweep,
    table,
    train,
)
from rlccfr.cli.console import Interrupted
from rlccfr.cli.mistakes import explained
from rlccfr.cli.policies import explore, match, play, show
from rlccfr.errors import RLCCFRError, first_line, is_out_of_memory
from rlccfr.interrupts import raise_if_interrupt, settle_interrupt, when_held

WITHOUT_OLD_NAMES = "1.1"
"""The first version without the commands' old names; docs/stability.md says when names may go."""


class Group(TyperGroup):
    """A group of commands; hidden commands work, but are not listed anywhere."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names to list in the help and the reference, and to complete in a shell."""
        return [name for name in super().list_commands(ctx) if not self.commands[name].hidden]


class MovedCommand(Command):
    """A command of ``rlccfr results``, under the name that it had before, which goes with :data:`WITHOUT_OLD_NAMES`."""

    def invoke(self, ctx: Any) -> Any:
        """Say the new name, and run the command."""
        new_name = f"rlccfr results {self.name}"
        print(
            f"`rlccfr {self.name}` is now `{new_name}`; the old name works until version {WITHOUT_OLD_NAMES}",
            file=sys.stderr,
        )
        return super().invoke(ctx)


app = typer.Typer(
    name="rlccfr",
    cls=Group,
    help="Find the CFR algorithm that solves an imperfect-information game best and fastest.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},  # commands inherit them
)
results = typer.Typer(
    name="results", help="Show or write measurements: the package's, or yours.", rich_markup_mode=None
)
COMMANDS: tuple[Callable[..., None], ...] = (
    solve.solve,
    recommend.recommend,
    show.show,
    explore.explore,
    play.play,
    match.match,
    games.games,
    equity.equity,
    catalog.catalog,
    train.train,
    compare.compare,
    sweep.sweep,
    reproduce.reproduce,
    check.check,
    cite.cite,
    doctor.doctor,
    demo.demo,
)
MOVED: tuple[Callable[..., None], ...] = (table.table, table.report, insights.insights, aslib.aslib)
RESULTS: tuple[Callable[..., None], ...] = (table.table, table.report, curves.curves, insights.insights, aslib.aslib)

for command in COMMANDS:
    add_command(app, command)
for command in RESULTS:
    add_command(results, command)
for command in MOVED:
    add_command(app, command, MovedCommand, hidden=True)
app.add_typer(results)


@results.callback(invoke_without_command=True)
def _results(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


FIRST_STEPS = """\
First steps:
  rlccfr doctor                        what this installation has and lacks
  rlccfr solve leduc --policy leduc.npz
  rlccfr explore leduc.npz leduc.html  a page to walk through the game
  rlccfr recommend leduc               which CFR algorithm to use for a game
  rlccfr demo                          a team is trained, in about two minutes
"""

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended, as in a shell."""

COMPLETING = "_RLCCFR_COMPLETE"
"""Environment variable by which a shell asks for completions."""

USAGE_ERROR: type[Any] = typer.BadParameter.__mro__[1]
"""UsageError of the Click that the installed Typer uses."""


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"rlccfr {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
    plugins: bool = typer.Option(False, "--plugins", help="Load the components of installed plugins."),
    load: list[Path] = typer.Option((), "--load", help="First run a file that registers components."),  # noqa: B008
) -> None:
    if plugins or load:
        from rlccfr.plugins import load_file, load_plugins

        if plugins:
            load_plugins()
        for path in load:
            load_file(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command line and exit with 0, 1 for an error, 2 for wrong usage, or 130 for Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:  # as in git
        words = [*words[1:], "--help"]
    _mend_streams()
    when_held[:] = [_say_held]
    try:
        if not words and not os.environ.get(COMPLETING):
            print(FIRST_STEPS)
        code = _run(words or ["--help"])
        if code == INTERRUPTED:
            _fail("interrupted", code)
        sys.stdout.flush()  # a full disk may show only now
    except Interrupted as error:
        code = _fail(str(error), INTERRUPTED)
    except RLCCFRError as error:
        code = _fail(str(error), 1)
    except USAGE_ERROR as error:
        code = _fail(explained(error, words), 2)
    except MemoryError:
        code = _fail("out of memory; choose a smaller game or budget, or free some memory", 1)
    except (KeyboardInterrupt, typer.Abort):  # some versions of Typer raise, others return the code
        code = _fail("interrupted", INTERRUPTED)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) or (error.name or "").startswith("rlccfr"):
            raise  # a fault of ours
        code = _fail(f"can't load a library ({first_line(error)}); free some memory, or install it again", 1)
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        _discard_output()
        code = 0
    except OSError as error:
        _discard_output()
        action = "write the output" if error.filename is None else f"open {error.filename}"
        code = _fail(f"can't {action} ({error.strerror or first_line(error)}); check space and permissions", 1)
    if code == INTERRUPTED:
        settle_interrupt()
    sys.exit(code if isinstance(code, int) else 0)


def _run(arguments: list[str]) -> Any:
    """Run a command line and return its result.

    Raises:
        KeyboardInterrupt: Ctrl-C has caused an error.
        MemoryError: memory was refused, and a library has raised an error of another kind.
    """
    try:
        return app(arguments, prog_name="rlccfr", standalone_mode=False)
    except Exception as error:
        raise_if_interrupt(error)
        if is_out_of_memory(error):
            raise MemoryError from error
        raise


def _say_held() -> None:
    """Say why Ctrl-C seems to do nothing, and what to do about it."""
    with suppress(OSError, RuntimeError):  # stderr may be full, or in the middle of a line
        print(
            "the run ends after this iteration; a second Ctrl-C aborts the iteration, and loses the run",
            file=sys.stderr,
        )


def _fail(message: str, code: int) -> int:
    """Print an error on one line of stderr, and return the exit code."""
    with suppress(OSError):  # stderr may be full, too
        print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _mend_streams() -> None:
    """Replace closed streams with the null device, and let the others replace characters that they can't encode."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _null_stream(number))
        elif isinstance(stream, io.TextIOWrapper) and stream.errors != "backslashreplace":
            stream.reconfigure(errors="replace")


def _null_stream(number: int) -> io.TextIOWrapper:
    """Return a stream to the null device.

    The stream has the descriptor ``number`` if that is free, because C++ libraries write to this descriptor.
    """
    descriptor = os.open(os.devnull, os.O_RDWR)
    if descriptor != number and _is_free(number):
        os.dup2(descriptor, number)
        os.close(descriptor)
        descriptor = number
    os.set_inheritable(descriptor, True)  # otherwise workers would find it closed
    return open(descriptor, "w")


def _is_free(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def _discard_output() -> None:
    """Discard what stdout still holds, so that Python does not report the error again at exit."""
    with suppress(OSError, ValueError):  # a stream without a descriptor, such as a test's
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
        os.close(null_device)
