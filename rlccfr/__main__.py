"""The command line, for ``python -m rlccfr`` and the script ``rlccfr``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C prints one line, even during the import."""
    try:
        from rlccfr.cli import main as run
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
