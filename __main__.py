"""The ``eyecast`` command, which is ``python -m eyecast`` too."""

import gc
import os
import signal


def _leave(_number: int, _frame: object) -> None:
    """End at once: nothing has been begun yet."""
    os.write(2, b"eyecast: interrupted\n")
    os._exit(130)


def main() -> None:
    """Load the command line, which takes a moment, and run it."""
    # Loaded where an interruption is answered.
    from .cli import interruption  # noqa: PLC0415
    from .cli import main as command_line  # noqa: PLC0415

    interruption.show_notices()
    try:
        command_line.main()
    finally:
        # Python would look for lost objects once more, which takes a tenth of a short run.
        gc.freeze()


# Modules make many objects that stay. To look for lost ones after every 700 slows a short run.
gc.set_threshold(200_000, 50, 100)

# NumPy reads this when it is first imported. Its threads would take longer than the small products.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# As early as can be: an exception in the middle of an import is told in many words.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)

if __name__ == "__main__":
    main()
