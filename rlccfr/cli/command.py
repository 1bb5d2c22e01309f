"""How commands take their options: in groups, and rare ones by ``--option NAME=VALUE``.

A command's function takes a dataclass for each group of options, so that the function stays short and several commands
can share a group. The dataclass's fields are made by :func:`option`, and :func:`add_command` passes them to Typer. The
help shows the dataclass's ``TITLE`` above the group. If ``TITLE`` is empty, the help shows the group's options among
the options that belong to no group.

A field that few users need is made by :func:`rare`. The help leaves this field out, so that the help fits on a screen.
Users set the field by ``--option walks=5``, which does what the hidden ``--walks 5`` does.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import field, fields, is_dataclass
from functools import wraps
from itertools import zip_longest
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from rlccfr.errors import RLCCFRError, nearest

RARE = "rare"
"""Title of the options that the help leaves out."""

RARE_OPTION = "--option"
"""The option that sets rare options."""

OPTION = "option"
"""Key of an option in its field's metadata."""


def option(default: Any, help: str, *names: str, **settings: Any) -> Any:
    """Return a field that is an option of a command.

    Args:
        default: its default value.
        help: what the option does.
        names: names on the command line, as ``typer.Option`` takes them; by default the field's name.
        settings: further arguments of ``typer.Option``.
    """
    return field(default=default, metadata={OPTION: typer.Option(*names, help=help, **settings)})


def rare(default: Any, help: str, *names: str, **settings: Any) -> Any:
    """Return a field that is a rare option, which one user in fifty needs; ``--option help`` shows its ``help``."""
    return option(default, help, *names, hidden=True, rich_help_panel=RARE, **settings)


def check_only(context: typer.Context, option: str, allowed: Collection[str], takes: str) -> None:
    """Check that only options that are allowed together with ``option`` were given.

    Args:
        context: the command's context.
        option: the option that was given.
        allowed: parameters of the command that may be given beside it.
        takes: what the option does, such as "solves a linear program", for the error.

    Raises:
        RLCCFRError: an option that is not allowed was given.
    """
    for parameter in context.command.params:
        if parameter.name not in allowed and is_on_command_line(context, parameter.name or ""):
            name = shown_name(parameter)
            raise RLCCFRError(f"{option} {takes}, so {name} can't be given with it: leave out one of them")


def is_on_command_line(context: typer.Context, parameter: str) -> bool:
    """Return whether a parameter, named as in the function, was given on the command line."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


class Command(TyperCommand):
    """A command whose help lists its options in titled groups, and leaves out rare ones, which ``--option`` sets."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line in which ``--option`` may stand for hidden options."""
        self._refuse_points_in_whole_numbers(args, ctx)
        options = {_name(parameter): parameter for parameter in self.params if _is_rare(parameter)}
        if not options or ctx.resilient_parsing:  # a shell that completes a line may have half of it
            return super().parse_args(ctx, args)
        # Click reads the hidden options themselves, so their checks and messages hold for both forms.
        try:
            return super().parse_args(ctx, _with_options_written_out(args, options, ctx))
        except typer.BadParameter as error:
            if error.param is not None and _is_rare(error.param):
                error.param_hint = shown_name(error.param)
            raise

    def _refuse_points_in_whole_numbers(self, words: Sequence[str], context: Any) -> None:
        """Check that no whole number on a command line has a decimal point; some versions of Typer read 10.000 as 10.

        Raises:
            BadParameter: a number has a decimal point.
        """
        command: Any = self
        parameters = inspect.signature(command.callback, eval_str=True).parameters
        for parameter in command.params:
            if parameter.name not in parameters or not _has_whole_numbers(parameters[parameter.name].annotation):
                continue
            for text in values_of(parameter.opts, words):
                if "." in text:
                    raise typer.BadParameter(f"{text!r} is not a valid integer", ctx=context, param=parameter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options in groups; those without a group come last."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        ungrouped = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:  # it is hidden
                continue
            names, meaning = record  # "<list[int]>" says to programmers what "<int> ..." says to all
            record = re.sub(r"<list\[(\w+)\]>", r"<\1> ...", names), meaning
            title = "Arguments" if parameter.param_type_name == "argument" else _title(parameter)
            if title:
                sections.setdefault(title, []).append(record)
            else:
                ungrouped.append(record)
        sections["Further options" if len(sections) > 1 else "Options"] = ungrouped
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _has_whole_numbers(kind: Any) -> bool:
    """Return whether a parameter's type is int, or one such as ``list[int] | None`` that is made of it."""
    return kind is int or any(map(_has_whole_numbers, get_args(kind)))


def add_command(
    app: typer.Typer, function: Callable[..., None], kind: type[Command] = Command, *, hidden: bool = False
) -> None:
    """Add a command.

    Args:
        app: the commands to add it to.
        function: what it does; its name is the command's. Parameters that are dataclasses are groups of options.
        kind: class of the command.
        hidden: whether the list of commands leaves it out.
    """
    app.command(cls=kind, hidden=hidden)(_with_options_spread(function))


def values_of(names: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the values that a command line gives to an option, also by ``--option NAME=VALUE``."""
    settings = (*names, *(name.lstrip("-") for name in names), *(f"--option={name.lstrip('-')}" for name in names))
    values = []
    for word, next_word in zip_longest(words, words[1:]):
        name, equals, value = word.rpartition("=")
        if equals and name.replace("_", "-") in settings:
            values.append(value)
        elif word in names and next_word is not None:
            values.append(next_word)
    return values


def _title(parameter: Any) -> str:
    """Return the title of an option's group; empty for an option without a group."""
    return getattr(parameter, "rich_help_panel", None) or ""


def rare_options(command: Any) -> list[tuple[str, str]]:
    """Return the name and the meaning of each rare option of a Click command."""
    return sorted((_name(parameter), parameter.help) for parameter in command.params if _is_rare(parameter))


def _is_rare(parameter: Any) -> bool:
    return _title(parameter) == RARE


def _name(parameter: Any) -> str:
    """Return an option's name without dashes before it."""
    name: str = parameter.opts[0]
    return name.removeprefix("--")


def shown_name(parameter: Any) -> str:
    """Return the name of an option, or of an argument, as a message shows it."""
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper()
    return f"{RARE_OPTION} {_name(parameter)}" if _is_rare(parameter) else str(parameter.opts[0])


def _with_options_written_out(arguments: list[str], options: Mapping[str, Any], context: Any) -> list[str]:
    """Return a command line in which each ``--option NAME=VALUE`` is replaced by the hidden option that it sets."""
    written_out: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":  # what follows are arguments
            return [*written_out, word, *words]
        name, equals, setting = word.partition("=")
        if name != RARE_OPTION:
            written_out.append(word)
            continue
        if not equals:
            setting = next(words, "")
        if setting == "help":
            _print_rare_options(context)
        written_out += _hidden_option(setting, options)
    return written_out


def _print_rare_options(context: Any) -> None:
    """Print the rare options of a command, and exit."""
    formatter = context.make_formatter()
    with formatter.section(f"{RARE_OPTION} NAME=VALUE may be repeated, and takes"):
        formatter.write_dl(rare_options(context.command))
    typer.echo(formatter.getvalue(), nl=False)
    raise typer.Exit


def _hidden_option(setting: str, options: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line that set a hidden option.

    Args:
        setting: as in ``walks=5``.
        options: the command's rare options by name.

    Raises:
        BadParameter: the setting has another form, names no option, or gives a switch a value other than yes or no.
    """
    given_name, equals, value = setting.partition("=")
    name = given_name.strip().replace("_", "-")
    if name not in options:
        near = nearest(name, options)
        guess = f"did you mean {near!r}? The" if near else "the"
        message = f"unknown name {given_name!r}; {guess} names are {', '.join(sorted(options))}"
        raise typer.BadParameter(message, param_hint=RARE_OPTION)
    if not equals:
        raise typer.BadParameter(f"{setting!r} has no value: write {name}=VALUE", param_hint=RARE_OPTION)
    hidden = options[name]
    if not hidden.is_flag:
        return [f"{hidden.opts[0]}={value}"]
    if value not in ("yes", "no"):
        raise typer.BadParameter(f"{name} must be yes or no, not {value!r}", param_hint=RARE_OPTION)
    return list(hidden.opts[:1] if value == "yes" else hidden.secondary_opts[:1])


def _with_options_spread(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command's function as Typer reads it, with a parameter for each field of its groups of options."""
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
            parameters += _fields_as_parameters(parameter.annotation)
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    options = [member.metadata[OPTION] for group in groups.values() for member in fields(group)]
    has_rare = any(map(_is_rare, options))
    if has_rare:
        help = "A rare option: `--option help` lists them."
        parameters.append(_parameter("option", str, None, typer.Option(RARE_OPTION, metavar="NAME=VALUE", help=help)))

    # Typer calls this with a value per option, and the function is to get them in its groups.
    @wraps(function)
    def command(**values: Any) -> None:
        if has_rare:
            del values["option"]  # its values have become those of hidden options
        for name, group in groups.items():
            values[name] = group(**{member.name: values.pop(member.name) for member in fields(group)})
        function(**values)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def _fields_as_parameters(group: Any) -> list[inspect.Parameter]:
    """Return a parameter for each field of a dataclass; an option without a title gets the dataclass's ``TITLE``."""
    types = get_type_hints(group)
    parameters = []
    for member in fields(group):
        declared = copy(member.metadata[OPTION])
        declared.rich_help_panel = declared.rich_help_panel or group.TITLE
        parameters.append(_parameter(member.name, types[member.name], member.default, declared))
    return parameters


def _parameter(name: str, kind: Any, default: Any, option: Any) -> inspect.Parameter:
    """Return a parameter from which Typer makes an option."""
    annotation = Annotated[kind, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
