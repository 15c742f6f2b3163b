"""The ``eyecast`` command, which is ``python -m eyecast`` too."""

import os
import signal


def _leave(_number: int, _frame: object) -> None:
    """End at once: nothing has been begun yet."""
    os.write(2, b"eyecast: interrupted\n")
    os._exit(130)


def main() -> None:
    """Load the command line, which takes a moment, and run it."""
    from . import cli_group, waiting  # noqa: PLC0415 - loaded where an interruption is answered

    waiting.show_notices()
    cli_group.main()


# As early as can be: an exception in the middle of an import is told in many words.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)

if __name__ == "__main__":
    main()
