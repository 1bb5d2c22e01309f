"""Third-party components: loading their packages and files, and noticing changes of their definitions."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import inspect
import logging
import marshal
import runpy
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from rlccfr.errors import ComponentError, RLCCFRError, first_line, raised_in
from rlccfr.interrupts import raise_if_interrupt


@dataclass
class Loaded:
    """Plugins and files that a process has loaded; its worker processes load the same ones.

    Attributes:
        plugins: whether the installed plugins were loaded.
        files: absolute paths of the files that were loaded.
    """

    plugins: bool = False
    files: list[str] = field(default_factory=list)

    def again(self) -> None:
        """Load the same plugins and files in another process.

        Raises:
            RLCCFRError: a file does not exist or fails; see :func:`load_file`.
        """
        if self.plugins:
            load_plugins()
        for path in tuple(self.files):  # loading a file may add to them
            load_file(path)


loaded = Loaded()
log = logging.getLogger(__name__)

GROUP = "rlccfr.plugins"


def load_plugins() -> dict[str, str | None]:
    """Import the modules that installed packages name under the entry point group ``rlccfr.plugins``.

    Importing a module registers the components that it decorates. A module that fails is reported in one line and
    skipped, so that the other plugins still work.

    Returns:
        A dict from each plugin's name to None, or to the error's message if the plugin failed.
    """
    errors: dict[str, str | None] = {}
    loaded.plugins = True
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            entry.load()
            errors[entry.name] = None
        except (Exception, SystemExit) as error:  # another author's module may raise anything
            raise_if_interrupt(error)
            errors[entry.name] = f"{type(error).__name__}: {first_line(error)}"
            log.warning("the plugin %r is skipped: %s", entry.name, errors[entry.name])
    return errors


def load_file(path: str | Path) -> None:
    """Run a Python file, which registers the components that it decorates.

    Raises:
        ComponentError: the file does not exist, is not a Python file, or fails.
        RLCCFRError: the file raises an error of this library, which is passed on.
    """
    if not Path(path).exists():
        raise ComponentError(f"there is no file {path}; check the path")
    if Path(path).suffix != ".py":
        raise ComponentError(f"{path} can't be loaded: a file of components is a Python file, with the suffix .py")
    try:
        runpy.run_path(str(path))
    except RLCCFRError:
        raise
    except (Exception, SystemExit) as error:  # another author's file may raise anything
        raise_if_interrupt(error)
        raise ComponentError(
            f"{path} can't be loaded: {raised_in(error, {str(path)})}{_advice(path, error)}"
        ) from error
    loaded.files.append(str(Path(path).resolve()))


def _advice(path: str | Path, error: BaseException) -> str:
    """Return what to do if a file imports a module that stands beside it; "" for other errors."""
    folder = Path(path).resolve().parent
    is_beside = isinstance(error, ModuleNotFoundError) and (folder / f"{error.name}.py").is_file()
    return f"; to import from its folder, set PYTHONPATH={folder}" if is_beside else ""


def is_the_librarys(function: Callable[..., Any]) -> bool:
    """Return whether a function is defined in this package."""
    return getattr(function, "__module__", "").partition(".")[0] == __name__.partition(".")[0]


def is_registered_again(old: Callable[..., Any], new: Callable[..., Any]) -> bool:
    """Return whether a factory is the earlier one again: from a notebook's cell or a module that has been run again.

    In one file, it is so only on the same line; on another line, it is a second factory of that name, by mistake.
    """
    old_name, new_name = (getattr(factory, "__qualname__", "<locals>") for factory in (old, new))
    # A function inside another one may be defined many times, each time differently.
    if is_the_librarys(old) or old.__module__ != new.__module__ or old_name != new_name or "<locals>" in new_name:
        return False
    old_code, new_code = (getattr(inspect.unwrap(factory), "__code__", None) for factory in (old, new))
    if old_code is None or new_code is None:
        return False
    if old_code.co_filename != new_code.co_filename:
        return bool(new.__module__ == "__main__")  # an edited cell, which has another file name
    return bool(old_code.co_firstlineno == new_code.co_firstlineno)


def origin(factory: Callable[..., Any]) -> str:
    """Return the module of a plugin's factory, or the path of the file that defines any other factory.

    The path is ``""`` if there is no file, as in a notebook.
    """
    factory = inspect.unwrap(factory)
    module = getattr(factory, "__module__", "")
    if module.partition(".")[0] in {entry.module.partition(".")[0] for entry in entry_points(group=GROUP)}:
        return str(module)
    code = getattr(factory, "__code__", None)
    return str(Path(code.co_filename).resolve()) if code is not None and Path(code.co_filename).is_file() else ""


@cache
def source_digest(factory: Callable[..., Any]) -> str:
    """Return a digest of the code of a factory and of the functions in its component; see :func:`code_text`.

    Functions of the component that are defined in this library are left out.
    """
    functions: list[Callable[..., Any]] = [factory]
    inner = f"{getattr(factory, '__qualname__', '')}.<locals>."  # the factory's source contains these functions
    with contextlib.suppress(Exception):  # a broken factory is reported when it is used
        functions += [
            value
            for value in vars(factory()).values()
            if inspect.isfunction(value) and not is_the_librarys(value) and not value.__qualname__.startswith(inner)
        ]
    return hashlib.sha256("".join(map(code_text, functions)).encode()).hexdigest()[:16]


def code_text(function: Callable[..., Any]) -> str:
    """Return a function's code as a string that does not depend on comments, docstrings and formatting.

    Of the arguments of a decorator that registers a component, the string includes only the id. Two kinds of functions
    are exceptions. If a function's lines are only part of a statement, as the lines of a lambda may be, the string is
    these lines, unchanged. If the lines can't be found, as for a function typed at a prompt, the string is the compiled
    code, in hexadecimal.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    try:
        # From Python 3.13 on, the lines found for this name are those of the program that `python -c` runs.
        if code is not None and code.co_filename == "<string>":
            raise OSError("a function of a text that was executed")
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):  # typed at a prompt
        return marshal.dumps(code).hex()
    try:
        tree = ast.parse(source)
    except SyntaxError:  # part of a statement, for example a lambda in a call over several lines
        return source
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and any(keyword.arg == "source" for keyword in call.keywords):
                    call.keywords = []
    return ast.unparse(tree)
