"""The command line, for ``python -m rlccfr`` and the script ``rlccfr``."""

import os
import sys

LEAST_BYTES = 600_000_000
"""Bytes of address space that the libraries and a small game need."""

BYTES_PER_CORE = 90_000_000
"""Further bytes that OpenBLAS needs for each core. With less than the sum, OpenBLAS loops forever, or LLVM aborts."""


def main() -> None:
    """Run the command line; Ctrl-C and a lack of memory print one line, even during the import."""
    if low := low_limit():
        print(f"error: {low}", file=sys.stderr)
        sys.exit(1)
    try:
        from rlccfr.cli import main as run
    except BaseException as error:
        from rlccfr.errors import is_out_of_memory
        from rlccfr.interrupts import is_interrupt, settle_interrupt

        if is_out_of_memory(error):
            print("error: out of memory while the libraries were loaded; free some memory", file=sys.stderr)
            sys.exit(1)
        if not is_interrupt(error):
            raise
        print("error: interrupted", file=sys.stderr)
        settle_interrupt()
        sys.exit(130)
    run()


def low_limit() -> str | None:
    """Return a message about a memory limit that is too low for the libraries to load; None if no limit is too low.

    The limits are those that ``ulimit -v`` and ``ulimit -d`` set, on systems that have them.
    """
    try:
        import resource
    except ImportError:  # Windows
        return None
    least = LEAST_BYTES + BYTES_PER_CORE * (os.cpu_count() or 1)
    for option, limit in (("v", resource.RLIMIT_AS), ("d", resource.RLIMIT_DATA)):
        allowed = resource.getrlimit(limit)[0]
        if 0 <= allowed < least:
            return (
                f"ulimit -{option} allows {allowed / 1e9:.2g} GB of memory, but the libraries need {least / 1e9:.2g} "
                f"GB: raise it, for example by `ulimit -{option} unlimited`"
            )
    return None


if __name__ == "__main__":
    main()
