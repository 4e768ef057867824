"""The command ``laxity``: the same program."""

import sys

from . import _laxity


def main() -> int:
    """Runs the command line; returns the exit code."""
    return _laxity.command(["laxity", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
