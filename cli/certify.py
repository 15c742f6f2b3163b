"""``eyecast certify``: the certificate of a program, checked independently of the compiler."""

import json

import click
import msgspec

from ..model.base.errors import InvalidInput, require_range
from ..model.base.files import InputFile
from ..model.base.json_file import Header, decode_versioned, read_json
from ..model.network.config import Timing
from .command import command
from .console import print_json, say
from .options.output import json_option
from .options.run import LONGEST_HOLD
from .options.values import complete_files

PACKETS, CIRCUITS = 1, 2
"""Versions of programs and of certificates: of packets, and of circuits."""


@command(
    "certify",
    "eyecast certify program.json certificate.json",
    "eyecast certify program.json certificate.json --json",
)
@click.argument("program", shell_complete=complete_files)
@click.argument("certificate", shell_complete=complete_files)
@click.option(
    "--late",
    type=int,
    help=(
        "Also print the most cycles of a run in which each tile keeps its node from sending for up "
        "to this many cycles at the start. Only for programs in which no two packets of a step "
        "need one output."
    ),
)
@json_option
def certify_command(program: str, certificate: str, late: int | None, as_json: bool) -> None:
    """Check the certificate of a program.

    A certificate, which "eyecast program --certificate" writes, says what a program computes. For
    packets, the checker proves that no packets wait for each other in a circle, and follows the
    value of every word. For circuits, the checker follows every word through the tables of all
    nodes. The checker shares no code with the compiler and the cycle model.

    The exit status is 0 only if the certificate holds.
    """
    from ..model.certificate import circuit_checker, packet_checker

    files = InputFile.read(program), InputFile.read(certificate)
    texts = files[0].content, files[1].content
    if late is not None:
        require_range("--late", late, 0, LONGEST_HOLD)
    version = _version(*files)
    try:
        if version == PACKETS:
            found = packet_checker.check(*texts, fixed_order=late is not None)
        else:
            found = {"cycles": circuit_checker.check(*texts)}
    except (circuit_checker.MalformedError, packet_checker.MalformedError) as error:
        raise InvalidInput(f"{program}, {certificate}: {error}") from error
    except (circuit_checker.RefusedError, packet_checker.RefusedError) as error:
        raise RuntimeError(f"the certificate does not hold: {error}") from error
    if late is not None:
        found |= _late(files[0], texts[1], version, late)
    if as_json:
        print_json({"holds": True, **found})
        return
    say("the certificate holds:", *(f"  {line}" for line in _lines(version, found)))


def _version(program: InputFile, certificate: InputFile) -> int:
    """Return the version of a program's file and its certificate; refuse files of other forms."""
    from ..model.certificate.file import CircuitFile, PacketFile

    names = {PACKETS: "packets", CIRCUITS: "circuits"}

    def version_of(text: bytes, name: str) -> int:
        return decode_versioned(text, name, tuple(names), Header).version

    def version_of_whole(text: bytes) -> int:
        version = version_of(text, "eyecast-certificate")
        msgspec.json.decode(text, type=PacketFile if version == PACKETS else CircuitFile)
        return version

    programs = read_json(program, lambda text: version_of(text, "eyecast-program"))
    version = read_json(certificate, version_of_whole)
    if version != programs:
        raise InvalidInput.of(
            f"{certificate.path}: certificate",
            f"one of {names[programs]}, as {program.path} is",
            f"one of {names[version]}",
        )
    return version


def _late(program: InputFile, certificate: bytes, version: int, late: int) -> dict[str, int]:
    """Return the cycles of a program on time, and at most if each tile may be late."""
    from ..model.cycle.lateness import lateness
    from ..model.program.file import read_program
    from ..model.program.program import Program

    read = read_program(program)
    if version != PACKETS or not isinstance(read, Program):
        raise InvalidInput("--late needs a program of packets: circuits start with the last tile")
    if not read.config.tile_ports:
        raise InvalidInput("--late needs a program for a network with --tile-ports")
    cycles = lateness(read, Timing.named(json.loads(certificate)["timing"]), late)
    return {"on_time": cycles.on_time, "worst": cycles.worst}


def _lines(version: int, found: dict[str, int]) -> tuple[str, ...]:
    """Say what a certificate shows."""
    if version == CIRCUITS:
        return (
            "each output takes one input a cycle, and a run-table entry expects each arriving word",
            "each owed word is the result of all its values",
            f"the run takes {found['cycles']} cycles",
        )
    packets, channels, words = (
        f"{found[name]:,} {one if found[name] == 1 else one + 's'}"
        for name, one in (("packets", "packet"), ("channels", "channel"), ("words", "owed word"))
    )
    late: tuple[str, ...] = ()
    if "worst" in found:
        parts = f"{found['parts']:,} parts of it do not move each other by a cycle"
        on_time, worst = f"{found['on_time']:,}", f"{found['worst']:,}"
        late = (
            f"the run takes {on_time} cycles, and at most {worst} with late tiles",
            *((parts,) if found["parts"] > 1 else ()),
        )
    return (
        f"the routes of {packets} rise in an order of {channels}, so none locks",
        "each node expects exactly the packets that arrive, so each step ends",
        f"{words} {'is' if found['words'] == 1 else 'are'} the result of all values that are owed",
        *_timed(found),
        *late,
    )


def _timed(found: dict[str, int]) -> tuple[str, ...]:
    """Say what a certificate shows of timed rows."""
    if "cycles" not in found:
        return ()
    cycles = f"{found['cycles']:,}"
    return (f"no two flits want an output in one cycle, and the run takes {cycles} cycles",)
