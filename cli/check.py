"""``eyecast check``: a trace from any source, checked against the golden model."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ..model.base import processes
from ..model.base.errors import InvalidInput, like
from ..model.network.config import NetworkConfig, Timing
from ..model.network.config_file import identity
from ..model.network.network_text import SizeLimit
from ..model.program.any_program import manner
from ..model.run.trace import Trace
from .command import command
from .console import busy, print_checks, print_json, progress, say, say_written
from .options.collective import collective_options
from .options.hardware import timing_option
from .options.output import (
    json_option,
    output_option,
    report_option,
    require_output_files,
    require_seen,
)
from .options.schedule_file import ScheduleOptions, schedule_file_option
from .options.values import complete_files, file_option, option_names, recorded, refuse_beside
from .predict import Subject, program_file_option, subject_of, subject_options

if TYPE_CHECKING:
    from ..model.compare.recorded import RecordedCheck
    from ..waves.recorded_trace import RecordedRun

_CSV_HEADER = b"cycle,node,port,vc,kind,data"
_GZIP = b"\x1f\x8b"
_START = 200
"""Bytes of a file that tell what it is."""

_MEGABYTE = 1 << 20

_OF_A_PROGRAM = (
    *(name for name in option_names(collective_options) if name != "--ports"),
    *option_names(schedule_file_option, program_file_option, timing_option),
    *("--image", "--any-words"),
)
"""Options that only a prediction needs."""

Samples = Iterator[list[int]]
"""Values of signals, cycle by cycle."""


@dataclass(frozen=True)
class SignalOptions:
    """The signals of a recording: the path of the network, its clock, and a file of names."""

    scope: str | None
    clock: str
    names_file: str | None

    def paths(self, signals: Mapping[str, int]) -> Mapping[str, str]:
        """Read the paths of ``signals``, by their names in Eyecast."""
        path = self.names_file
        if path is None:
            return {}
        try:
            names = json.loads(Path(path).read_text())
        except (OSError, ValueError) as error:
            raise InvalidInput(f"{path} must be a JSON file: {error}") from error
        if not isinstance(names, dict) or not all(isinstance(each, str) for each in names.values()):
            raise InvalidInput(f"{path} must be a JSON object of names and paths")
        for name in names:
            if name not in signals:
                allowed = f"those of signals, such as {next(iter(signals))}"
                raise InvalidInput.of(f"names in {path}", allowed, like(name, signals))
        return names


signal_options = recorded(
    "names",
    SignalOptions,
    click.option(
        "--scope", metavar="PATH", help="Path of the module eyecast_network in the recording."
    ),
    click.option(
        "--clock",
        default="clk",
        show_default=True,
        help="Path of the network's clock signal in the waveform.",
    ),
    file_option(
        "--names",
        "names_file",
        help=(
            "JSON file with the paths of signals that have other names in the recording "
            "(Eyecast's name to your path)."
        ),
    ),
)


@command(
    "check",
    "eyecast check trace.vcd --mesh 4x4 --source 0,0",
    "eyecast check table.csv --program program.json --image image.csv",
)
@click.argument("trace_file", metavar="TRACE", shell_complete=complete_files)
@subject_options
@file_option(
    "--image",
    "image_file",
    help="The image (CSV) that the host had loaded; it gives the words of messages and the "
    "timing; needs --program.",
)
@click.option(
    "--no-program",
    is_flag=True,
    help="Check only the rules that hold for every run, whatever the program.",
)
@click.option("--any-words", is_flag=True, help="Do not check the words of messages.")
@timing_option
@signal_options
@output_option("the trace that was read (CSV)")
@report_option
@json_option
def check_command(
    trace_file: str,
    wanted: ScheduleOptions,
    image_file: str | None,
    no_program: bool,
    any_words: bool,
    timing: Timing,
    names: SignalOptions,
    output: str | None,
    report: str | None,
    as_json: bool,
) -> None:
    """Check the recorded flits of a run, from any source, against the cycle model.

    TRACE is a trace of Eyecast (CSV), a waveform of any simulator (VCD, also packed by gzip, or FST
    with fst2vcd on PATH), or a logic analyser's table (CSV, a column for each signal, a row for
    each cycle). The signals must have the names that they have in Eyecast's Verilog.

    The exit status is 0 only if the trace is as predicted and breaks no rule.
    """
    from ..model.compare.recorded import check_recorded, check_without_program, unknown_program
    from ..model.exact.arithmetic import predict

    shown: dict[str, Any]
    require_output_files(output, report)
    if no_program:
        refuse_beside("--no-program", _OF_A_PROGRAM, "no program is predicted")
        config = wanted.config(SizeLimit.PROGRAM)
        require_seen(report, config.topology)
        seen = _read(trace_file, config, names)
        found = check_without_program(config, seen.trace, whole=seen.whole)
        title = config.topology.label
        shown = {"title": title, "program": unknown_program(config)}
    else:
        subject = subject_of(wanted, timing, report)
        any_words |= wanted.program_file is not None and image_file is None
        if image_file is not None:
            subject, timing = _with_image(subject, image_file, wanted.program_file)
        program, config = subject.program, subject.program.config
        title = f"{subject.title}, {manner(program, timing)}"
        seen = _read(trace_file, config, names)
        with busy("predicting"):
            predicted = predict(program, subject.memory, timing=timing)
        found = check_recorded(
            program, predicted, seen.trace, any_words=any_words, whole=seen.whole
        )
        shown = {"title": subject.title, "program": program, "timing": timing}
        shown |= {"predicted": predicted, "schedule": subject.schedule}
    trace = seen.trace
    if output is not None:
        trace.write_csv(output)
    if report is not None:
        from ..report.reports import report_recorded

        with busy("writing the page"):
            report_recorded(trace=trace, found=found, **shown).write(report)
    if as_json:
        print_json(_json(found, trace), **wanted.facts(config.topology))
    else:
        _print(title, found, trace)
        say_written(output, report)
    if not found.agrees:
        raise RuntimeError("the trace is not as predicted" if found.checks else "a rule is broken")


def _with_image(subject: Subject, image: str, file: str | None) -> tuple[Subject, Timing]:
    """Return the program with the memories of ``image``, and the timing there."""
    from ..model.image.image_file import read_image

    if file is None:
        raise InvalidInput("--image needs --program FILE")
    refuse_beside("--image", ["--timing"], "the image has it already")
    read = read_image(image)
    if identity(read.config) != identity(subject.program.config):
        raise InvalidInput(f"{image} must be for the network of {file}")
    if not read.loads(subject.program):
        raise InvalidInput(f"{image} must load the program of {file}, it loads another one")
    return replace(subject, memory=read.memory), read.timing


def _read(path: str, config: NetworkConfig, names: SignalOptions) -> RecordedRun:
    """Read the run of a file. A trace of Eyecast (CSV) has only flits, and counts as complete."""
    from ..waves.recorded_table import table_samples
    from ..waves.recorded_trace import RecordedRun, recorded_run, recorded_signals, require_outputs
    from ..waves.recording import vcd_samples
    from ..waves.wanted import Wanted

    with _recording(path) as (file, tell):
        start = file.peek(_START)[:_START].strip()
        if start.startswith(_CSV_HEADER):
            refuse_beside(path, ["--scope", "--clock", "--names"], "a trace has no signals")
            with busy(f"reading {path}"):
                trace = Trace.read_csv(path, config.pieces)
                require_outputs(path, config, trace)
                return RecordedRun(trace)
        signals = recorded_signals(config)
        is_table = not (start.startswith(b"$") or ".vcd" in Path(path).suffixes)
        if is_table:
            refuse_beside(path, ["--clock"], "a table has a row for each cycle")
        else:
            signals[names.clock] = 1
        paths = names.paths(signals)
        absent = f"tile_{config.topology.nodes}"
        wanted = Wanted(signals, scope=names.scope, names=paths, absent=absent)
        with _reading(path, tell) as counted:
            if not is_table:
                return recorded_run(config, counted(vcd_samples(file, wanted)))
            lines = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
            return recorded_run(config, counted(table_samples(lines, wanted)))


@contextmanager
def _reading(path: str, tell: Callable[[], int] | None) -> Iterator[Callable[[Samples], Samples]]:
    """Show a progress bar in megabytes while the yielded function passes on samples.

    ``tell`` returns the position in the file. None for a pipe, which has no bar.
    """
    size = Path(path).stat().st_size // _MEGABYTE if tell else 0
    with progress(f"reading {path} (MB)", size, shown=tell is not None) as (_, advance):

        def counted(samples: Samples) -> Samples:
            shown = 0
            for sample in samples:
                yield sample
                while tell and tell() // _MEGABYTE > shown:
                    shown += 1
                    advance()

        yield counted


@contextmanager
def _recording(path: str) -> Iterator[tuple[BufferedReader, Callable[[], int] | None]]:
    """Open a recording; unpack it from gzip, or convert an FST file to VCD by fst2vcd.

    The function returns the position in the file. It is None for a pipe.
    """
    try:
        with Path(path).open("rb") as file:
            if path.endswith(".fst"):
                with _converted(path) as converted:
                    yield converted, None
            elif file.peek(2).startswith(_GZIP):
                with gzip.open(file) as unpacked:
                    yield cast(BufferedReader, unpacked), file.tell
            else:
                yield file, file.tell
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InvalidInput.of(f"trace {path}", "readable", why) from error


@contextmanager
def _converted(path: str) -> Iterator[BufferedReader]:
    """Convert an FST file to VCD by fst2vcd."""
    if shutil.which("fst2vcd") is None:
        raise InvalidInput("fst2vcd must be on PATH to read FST files, found none: install gtkwave")
    with processes.output_of(["fst2vcd", str(Path(path).absolute())]) as output:
        yield cast(BufferedReader, output)


def _json(found: RecordedCheck, trace: Trace) -> dict[str, object]:
    """Return the result of the check as JSON values."""
    difference = found.difference
    return {
        "agrees": found.agrees,
        "rows": len(trace),
        "checks": [check.to_json() for check in found.checks],
        "first_difference": None if difference is None else difference.describe(),
        "broken_rule": found.broken,
    }


def _print(title: str, found: RecordedCheck, trace: Trace) -> None:
    """Print the result of the check."""
    if found.checks:
        print_checks(title, found.checks, measured="trace")
    else:
        say(f"{title}: {len(trace)} rows, checked without a program")
    say("all rules hold" if found.broken is None else f"broken rule: {found.broken}")
    if found.difference is not None:
        say("first difference:", *found.difference.describe(("model", "trace")).splitlines())
