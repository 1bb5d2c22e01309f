"""Mistakes of form on the command line are answered in one line, before anything slow is imported."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest
import typer

from rlccfr.cli import app

NUMBERS = [
    ("solve kuhn --iterations 1e3", "--iterations takes a whole number, not '1e3': write 1000"),
    ("solve kuhn --iterations=1,000", "--iterations takes a whole number, not '1,000': write 1000"),
    ("solve kuhn --iterations 10k", "--iterations takes a whole number, not '10k': write 10000"),
    ("solve kuhn --iterations 1.5", "--iterations takes a whole number, such as 1000, not '1.5'"),
    ("solve kuhn --iterations 10.000", "--iterations takes a whole number, not '10.000': write 10 or 10000, since "),
    ("solve kuhn --iterations 10.000k", "--iterations takes a whole number, not '10.000k': write 10000 or 10000000, "),
    ("solve kuhn --iterations 10.500", "--iterations takes a whole number, not '10.500': write 10500"),
    ("solve kuhn --iterations 1.000.000", "--iterations takes a whole number, not '1.000.000': write 1000000"),
    ("solve kuhn --iterations 1.500,0", "--iterations takes a whole number, not '1.500,0': write 1500"),
    ("solve kuhn --iterations 1'500", '--iterations takes a whole number, not "1\'500": write 1500'),
    ("solve kuhn --iterations 1,500'000", '--iterations takes a whole number, such as 1000, not "1,500\'000"'),
    ("results table kuhn --iterations 10.000", "--iterations takes a whole number, not '10.000': write 10 or 10000"),
    ("solve kuhn --iterations 1000,000", "--iterations takes a whole number, such as 1000, not '1000,000'"),
    ("solve kuhn --iterations 1,000,000", "--iterations takes a whole number, not '1,000,000': write 1000000"),
    ("solve kuhn --iterations 1.5k", "--iterations takes a whole number, not '1.5k': write 1500"),
    ("solve kuhn --iterations many", "--iterations takes a whole number, such as 1000, not 'many'"),
    ("solve kuhn --option walks=1e3", "--option walks takes a whole number, not '1e3': write 1000"),
    ("solve kuhn --option max_histories=1e6", "--option max-histories takes a whole number, not '1e6': write 1000000"),
    ("solve kuhn --option=walks=x", "--option walks takes a whole number, such as 1000, not 'x'"),
    ("match kuhn uniform uniform --pairs 1e6", "--pairs takes a whole number, not '1e6': write 1000000"),
    ("solve kuhn --seconds 1s", "--seconds takes a number, not '1s': write 1"),
    ("solve kuhn --seconds 2min", "--seconds takes a number, not '2min': write 120"),
    ("solve kuhn --seconds 0,5", "--seconds takes a number, not '0,5': write 0.5"),
    ("solve kuhn --seconds 0,500", "--seconds takes a number, not '0,500': write 0.5"),
    ("solve kuhn --seconds 1000,500", "--seconds takes a number, not '1000,500': write 1000.5"),
    ("solve kuhn --seconds 1,500.5", "--seconds takes a number, not '1,500.5': write 1500.5"),
    (
        "solve kuhn --seconds 1,500",
        "--seconds takes a number, not '1,500': write 1.5 or 1500, since its separator may ",
    ),
    ("solve kuhn --seconds 1.000,5", "--seconds takes a number, not '1.000,5': write 1000.5"),
    ("solve kuhn --seconds soon", "--seconds takes a number, such as 0.5, not 'soon'"),
    ("train kuhn --seconds 1 --seconds 2s", "--seconds takes a number, not '2s': write 2"),
]
EXTRA_WORDS = [
    ("solve kuhn 1000", "`rlccfr solve` takes GAME, not also '1000': write --iterations 1000, or --seconds 1000"),
    ("solve kuhn 1,500", "`rlccfr solve` takes GAME, not also '1,500': write --iterations 1500, or --seconds 1500"),
    (
        "solve kuhn 10.000",
        "`rlccfr solve` takes GAME, not also '10.000': write --iterations 10, or --iterations 10000",
    ),
    ("solve kuhn 100 200", "`rlccfr solve` takes GAME, not also '100 200'; see `rlccfr solve --help`"),
    ("solve kuhn leduc", "`rlccfr solve` takes GAME, not also 'leduc': run it once for each game"),
    ("solve kuhn nothing", "`rlccfr solve` takes GAME, not also 'nothing'; see `rlccfr solve --help`"),
    ("solve kuhn \u2014iterations 100", "'\u2014iterations' begins with a dash of another kind: write --iterations"),
    ("solve kuhn iterations=100", "`rlccfr solve` takes GAME, not also 'iterations=100': write --iterations"),
    ("solve kuhn walks=3", "`rlccfr solve` takes GAME, not also 'walks=3': write --option walks"),
    ("results report page.html kuhn", "`rlccfr results report` takes [OUT], not also 'kuhn': write --game kuhn"),
]
OPTIONS = [
    ("solve -u cfr", "`rlccfr solve` has no option -u; see `rlccfr solve --help`"),
    ("solve kuhn --iteration 5", "`rlccfr solve` has no option --iteration; did you mean --iterations? see "),
    (
        "solve kuhn --max_histories 5",
        "`rlccfr solve` has no option --max_histories; did you mean --max-histories? see ",
    ),
    ("solve kuhn -iterations 5", "there is no option '-iterations'; write --iterations, with two dashes"),
    ("solve kuhn --load x.py", "`rlccfr solve` has no option --load; write --load FILE before the command"),
    ("solve kuhn --plugins", "`rlccfr solve` has no option --plugins; write --plugins before the command"),
]
COMMANDS = [
    ("kuhn", "there is no command 'kuhn'; to solve the game: rlccfr solve kuhn"),
    ("Leduc(ranks=4)", "there is no command 'Leduc(ranks=4)'; to solve the game: rlccfr solve 'Leduc(ranks=4)'"),
    ("liars_dice", "there is no command 'liars_dice'; to solve the game: rlccfr solve liars_dice"),
    ("leduc.npz", "there is no command 'leduc.npz'; to show a policy: rlccfr show leduc.npz"),
    ("slove kuhn", "there is no command 'slove'; did you mean `rlccfr solve`?"),
    ("tabel", "there is no command 'tabel'; did you mean `rlccfr results table`?"),
    ("curves", "there is no command 'curves'; did you mean `rlccfr results curves`?"),
    ("results tabel", "there is no command 'tabel'; did you mean `rlccfr results table`?"),
    ("quux", "there is no command 'quux'; `rlccfr --help` lists the commands"),
    ("help quux", "there is no command 'quux'; `rlccfr --help` lists the commands"),
]
ARGUMENTS = [
    ("solve", "GAME is missing: write rlccfr solve GAME; see `rlccfr solve --help`"),
    ("match k.csv uniform", "SECOND is missing: write rlccfr match GAME FIRST SECOND, the game first; see "),
]


@pytest.mark.parametrize(("line", "answer"), [*NUMBERS, *EXTRA_WORDS, *OPTIONS, *COMMANDS, *ARGUMENTS])
def test_a_mistake_of_form_is_answered_with_the_right_form(run, line, answer):
    code, out, err = run(*line.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {answer}")


def test_spaces_may_separate_thousands(run):
    assert "'1 500': write 1500" in run("solve", "kuhn", "--iterations", "1 500")[2]
    assert "'1 500': write --iterations 1500" in run("solve", "kuhn", "1 500")[2]


def commands_of(group, path=()):
    """Yield each command of a group, with the words that call it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, (*path, name))
        else:
            yield (*path, name), command


def is_whole(command, parameter):
    """Return whether a parameter's type has ``int`` in it; commands' arguments are all texts."""
    declared = inspect.signature(command.callback, eval_str=True).parameters.get(parameter.name)
    return declared is not None and re.search(r"\bint\b", str(declared.annotation)) is not None


@pytest.mark.slow
def test_no_whole_number_is_read_off_a_number_with_a_point(run):
    """Some versions of Typer read 10.000 as 10."""
    options = [
        (path, parameter.opts[0])
        for path, command in commands_of(typer.main.get_command(app))
        for parameter in command.params
        if is_whole(command, parameter)
    ]
    assert {("solve", "--iterations"), ("train", "--iterations"), ("solve", "--walks")} <= {
        (path[-1], option) for path, option in options
    }
    for path, option in options:
        code, out, err = run(*path, option, "10.000")
        assert (code, out) == (2, ""), (path, option)
        assert "takes a whole number, not '10.000': write 10 or 10000" in err, (path, option, err)


def test_what_is_no_mistake_of_form_keeps_its_message(run):
    assert run("solve", "kuhn", "--iterations")[::2] == (2, "error: Option '--iterations' requires an argument.\n")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("solve kuhn --seed -1", "--seed must be a non-negative integer, not -1"),
        ("solve kuhn --threads 0", "--threads must be a positive integer, not 0"),
        ("solve kuhn --option walks=0", "--option walks must be a positive integer, not 0"),
        ("train kuhn --evaluations 0", "--evaluations must be a positive integer, not 0"),
        ("train kuhn --iterations 5 --iterations 0", "--iterations must be a positive integer, not 0"),
        ("sweep kuhn --workers -1", "--workers must be a non-negative integer, not -1"),
        ("show k.csv --player 2", "--player must be 0 or 1, not 2"),
    ],
)
def test_a_number_out_of_range_is_refused_as_by_the_library(run, line, answer):
    assert run(*line.split()) == (1, "", f"error: {answer}\n")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("solve kuhn --curve curve.json", "--curve is written as .csv, not as '.json'"),
        (
            "solve kuhn --policy nowhere/k.csv",
            "can't write nowhere/k.csv: there is no folder nowhere; make it, or name ",
        ),
        (
            "solve kuhn --checkpoint nowhere/k.npz",
            "can't write nowhere/k.npz: there is no folder nowhere; make it, or ",
        ),
        ("solve kuhn --option picture=nowhere/k.png", "can't write nowhere/k.png: there is no folder nowhere; make it"),
        ("games kuhn --plot nowhere/k.png", "can't write nowhere/k.png: there is no folder nowhere; make it"),
        ("explore k.npz kuhn", "PAGE is written as .html or .htm, not as 'kuhn'; name a game with --game"),
        ("results report kuhn", "OUT is written as .html or .htm, not as 'kuhn'; name a game with --game"),
        ("results report page.pdf", "OUT is written as .html or .htm, not as '.pdf'"),
        ("results table --out nowhere/t.csv", "can't write nowhere/t.csv: there is no folder nowhere; make it"),
    ],
)
def test_a_file_that_can_not_be_written_is_refused_at_once(run, tmp_path, line, answer):
    code, out, err = run(*line.split())
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(f"error: {answer}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [("-h",), ("help",), ("solve", "-h"), ("help", "results", "table")])
def test_help_is_found_by_its_usual_names(run, words):
    plain_words = [word for word in words if word not in ("-h", "help")]
    assert run(*words) == run(*plain_words, "--help")


@pytest.mark.slow
def test_mistakes_are_answered_before_slow_imports():
    code = "import sys; from rlccfr.cli import main\ntry: main(sys.argv[1:])\nfinally: print({*sys.modules} & {*%r})"
    slow_modules = ["torch", "numba", "pandas", "sklearn"]
    for line, _ in (NUMBERS[0], EXTRA_WORDS[0], EXTRA_WORDS[1], OPTIONS[0], ARGUMENTS[1], ("solve kuhn --seed -1", "")):
        words = [sys.executable, "-c", code % slow_modules, *line.split()]
        output = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        assert output == "set()\n", line
