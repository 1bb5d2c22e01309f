"""``python -m rlccfr``, as the script ``rlccfr``, is the command line."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C is one line even while it is being imported."""
    try:
        from rlccfr.cli import main as run
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
