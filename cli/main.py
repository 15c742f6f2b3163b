"""The ``eyecast`` command group: its commands, and its error messages.

Help and error messages must be fast. So a command's module is imported only for that command, and
slow imports (simulator tools, compiled cycle model, plots) happen where they are needed.
"""

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from ..model.base.errors import InvalidInput, like, printable
from ..model.base.version import __version__
from .options.values import in_options

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


COMMANDS = {
    "algorithms": "List the algorithms, with their networks and steps.",
    "asic": "Measure a network's parts in a library of standard cells.",
    "bitstream": "Build a network for an FPGA board, and check it by simulation.",
    "board-run": "Run a schedule on an FPGA board, and check it against the model.",
    "boards": "List the FPGA boards, and the networks built for them.",
    "cache": "List the kept simulators and bitstreams, or remove them.",
    "certify": "Check the certificate of a program, independently of the compiler.",
    "check": "Check the recorded flits of a run against the cycle model.",
    "chip": "Run a C program on a chip with a core at every node.",
    "compare": "Compare all algorithms for a collective.",
    "completion": "Print the script for shell completion.",
    "convert": "Convert a file from or to another tool's format.",
    "demo": "Run two broadcasts on the simulated hardware, and draw them.",
    "doctor": "List the installed and the missing tools.",
    "explore": "Open a page on which you change parameters and see the run.",
    "image": "Make one image of several programs, for a host that loads them.",
    "ip": "Write a network and a program as a package for a chip.",
    "paper": "Print the tables of a paper beside Eyecast's values.",
    "predict": "Predict the cycles of every step with the cycle model.",
    "program": "Compile a schedule to tables that say what each node sends.",
    "run": "Predict the time of a workload of computations and collectives.",
    "schedule": "Make a schedule, prove it, and compare it with lower bounds.",
    "show": "Draw which node sends to which in each step.",
    "sweep": "Run many combinations of parameters, and write one table.",
    "traffic": "Send packets without a schedule: throughput and latency.",
    "transmit": "Plan to which node a host sends in each step.",
    "verify": "Run a schedule on simulated hardware, and check it against the model.",
    "verilog": "Write a network as Verilog.",
}
"""Every command by name, with its line in the help; the module has the command's name."""


def main() -> None:
    """Run the command line; print every expected failure as one line on standard error."""
    try:
        # SIGTERM, like an interruption, stops the started processes.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if sys.stdout is None:
            _fail("standard output must be open, not closed", FAILED)
        if isinstance(sys.stdout, TextIOWrapper):
            # A terminal without × and – shows a question mark there.
            sys.stdout.reconfigure(errors="replace")
        for name in ("write", "flush"):
            setattr(sys.stdout, name, _naming_standard_output(getattr(sys.stdout, name)))
        # Tools need PATH; by default it has the system's folders.
        os.environ.setdefault("PATH", os.defpath)
        status = cli.main(prog_name="eyecast", standalone_mode=False)
        # Flush here, so that a write error is reported here and not by the interpreter at exit.
        sys.stdout.flush()
    except click.UsageError as error:
        help_hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        _fail(error.format_message().rstrip(".") + help_hint, BAD_INPUT)
    except click.ClickException as error:
        _fail(error.format_message(), BAD_INPUT)
    except InvalidInput as error:
        _fail(in_options(error), BAD_INPUT)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", INTERRUPTED)
    except MemoryError as error:
        _fail(f"out of memory: {error}" if str(error) else "out of memory", FAILED)
    except OSError as error:
        # Redirect standard output: exit would flush the unwritten text, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        # A closed pipe needs no message: its reader has stopped reading.
        status = FAILED if isinstance(error, BrokenPipeError) else _fail(_said(error), FAILED)
    except RuntimeError as error:
        _fail(str(error), FAILED)
    sys.exit(status)


def _said(error: OSError) -> str:
    """Return an error as one line that begins with its path."""
    path = error.filename2 or error.filename
    return str(error) if path is None else f"{path}: {error.strerror}"


def _naming_standard_output(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``method`` such that its :class:`OSError` names standard output."""

    def call(*arguments: Any) -> Any:
        try:
            return method(*arguments)
        except OSError as error:
            error.filename = "standard output"
            raise

    return call


def _fail(message: str, status: int) -> NoReturn:
    # The message may quote any value; print it as one line.
    click.echo(f"eyecast: {printable(message)}", err=True)
    # Unfinished hardware descriptions are dropped, and Amaranth would warn about each part.
    warnings.simplefilter("ignore")
    sys.exit(status)


class _Commands(click.Group):
    """The command group; an unknown command is refused with the list of commands."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        word = name.replace("-", "_")
        command: click.Command = getattr(import_module(f".{word}", __package__), f"{word}_command")
        return command

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            raise InvalidInput.of("command", ", ".join(COMMANDS), like(args[0], COMMANDS))
        return super().resolve_command(ctx, args)

    def make_context(self, *arguments: Any, **extra: Any) -> click.Context:
        with _no_line_before():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _no_line_before():
            return super().invoke(ctx)


@contextmanager
def _no_line_before() -> Iterator[None]:
    """Keep click from printing an empty line on Ctrl-C, except on a terminal, which shows ^C."""
    try:
        yield
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            raise
        raise click.Abort from None


def _present_name(name: str) -> str:
    """Return the name of an option that is typed; say so if it has a new one."""
    if name != "flits":
        return name
    click.echo("eyecast: --flits is now called --words", err=True)
    return "words"


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "token_normalize_func": _present_name,
    },
)
@click.version_option(__version__)
@click.pass_context
def cli(context: click.Context) -> None:
    """Plan how the nodes of a chip exchange data, prove the plan, and run it on router hardware.

    \b
    eyecast schedule --mesh 8x8 --source 0,0            who sends to whom in which step
    eyecast show     --mesh 8x8 --source 0,0            the schedule as a picture
    eyecast explore                                     a page to change a network
    eyecast program  --mesh 8x8 --source 0,0 -o p.json  what each node sends, as a table
    eyecast predict  --mesh 8x8 --source 0,0            the cycles of a run, predicted
    eyecast verify   --mesh 8x8 --source 0,0            a simulated run, against the prediction
    eyecast compare  --mesh 8x8 --source 0,0            all algorithms, side by side
    eyecast algorithms                                  networks and steps of each algorithm
    eyecast certify  p.json certificate.json            a program, checked word for word
    eyecast check    trace.vcd --mesh 8x8 --source 0,0  your own simulator's run, checked
    eyecast verilog  --mesh 8x8 -o network.v            the network for your own flow
    eyecast traffic  --torus 8x8 --vcs 2 --rate 0.2     random traffic, latency and throughput
    eyecast run      layers.csv --mesh 4x4              a workload: compute and collectives
    eyecast sweep grid.toml -o table.parquet            a grid of parameters, on all cores
    eyecast transmit --diagonal-mesh 45                 fastest plan of a host with few sends
    eyecast convert  all-gather.xml s.json --mesh 4x4   files of other tools
    eyecast paper    cang-wu-1998 -o figures            a paper's tables and figures beside ours
    eyecast chip     jacobi.c --mesh 4x4                C on a chip with a core at every node
    eyecast boards, bitstream, board-run                the network on an FPGA board
    eyecast asic     --mesh 4x4 --vcs 2                 area, time, energy in standard cells
    eyecast image    a.json b.json -o chip.csv          what a host writes to load programs
    eyecast cache                                       built results, and their size
    eyecast demo, doctor, completion                    first look; tools; shell completion
    """  # noqa: D301 - click wants the control character itself
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
