"""The ``eyecast`` command, which is ``python -m eyecast`` too."""

import sys


def main() -> None:
    """Load the command line, which takes a moment, and run it."""
    try:
        from . import cli, waiting  # noqa: PLC0415 - loaded where an interruption is answered
    except KeyboardInterrupt:
        sys.stderr.write("eyecast: interrupted\n")
        sys.exit(130)
    waiting.show_notices()
    cli.main()


if __name__ == "__main__":
    main()
