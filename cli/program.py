"""``eyecast program``: a schedule as the injection tables of a network."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click
import numpy as np

from ..model.base.errors import InvalidInput
from ..model.base.files import write_atomically
from ..model.certificate.certificate import certificate_json
from ..model.collectives.notes import schedule_title
from ..model.network.config import Timing
from ..model.network.network_text import SizeLimit, node_in_words
from ..model.network.node_names import node_name
from ..model.program.any_program import AnyProgram
from ..model.program.checks import require_loadable
from ..model.program.circuits.program import CircuitProgram, entry_words
from ..model.program.circuits.run_table import run_table
from ..model.program.deadlock import certify
from ..model.program.file import write_program
from ..model.program.node_table import node_table
from ..model.program.program import Program
from .command import command
from .console import busy, print_json, print_table, say, say_written
from .image import image_files, image_of
from .options.collective import schedule_facts
from .options.hardware import force_option, made_room, require_no_deadlock, timing_option
from .options.output import json_option, output_option, require_output_files
from .options.schedule_file import ScheduleOptions, compiled_options
from .options.values import file_option, integer_option, recorded, was_typed

if TYPE_CHECKING:
    from ..model.image.image import Image
    from ..model.program.compiler import Compiled


@dataclass(frozen=True)
class ImageOptions:
    """The file of an image, and the number and the address of the program in it."""

    image: str | None
    number: int
    base: int

    @property
    def files(self) -> list[str]:
        """The files of the image; none without an image."""
        if self.image is None:
            for name in ("number", "base"):
                if was_typed(name):
                    raise InvalidInput(f"--{name} needs --image FILE")
            return []
        return image_files(self.image, "image")

    def made(self, compiled: Compiled, timing: Timing) -> Image | None:
        """Return the image of a program; None without an image."""
        if self.image is None:
            return None
        for name in ("number", "base"):
            if was_typed(name) and not compiled.program.config.programs:
                raise InvalidInput(f"--{name} needs --programs")
        return image_of(compiled, timing, number=self.number, base=self.base)


image_options = recorded(
    "image",
    ImageOptions,
    file_option(
        "--image",
        help=(
            "Write the words that load the program through the host port here (CSV); a .json "
            "file beside it has the facts that a host needs."
        ),
    ),
    integer_option("--number", 0, "Number by which a host starts the program; needs --programs."),
    integer_option(
        "--base", 0, "Address at which the table memories keep the program; needs --programs."
    ),
    heading="Output",
)


@command(
    "program",
    "eyecast program --mesh 4x4 --source 0,0 --node 2,2",
    "eyecast program --mesh 4x4 --source 0,0 -o program.json --image image.csv",
)
@compiled_options
@force_option
@output_option("the program (JSON)")
@image_options
@file_option(
    "--certificate",
    help=("Write a certificate (JSON) here, which eyecast certify checks against the file of -o."),
)
@click.option(
    "--node",
    "node_text",
    metavar="X,Y",
    help="Print the table of packets that this node sends, with the memory words that encode it.",
)
@click.option(
    "--all", "all_nodes", is_flag=True, help="Print the table of packets that each node sends."
)
@timing_option
@json_option
def program_command(
    wanted: ScheduleOptions,
    force: bool,
    output: str | None,
    image: ImageOptions,
    certificate: str | None,
    node_text: str | None,
    all_nodes: bool,
    timing: Timing,
    as_json: bool,
) -> None:
    """Compile a schedule to tables that say what each node sends.

    With --circuits, the tables say what each router does in each cycle. The file of --image also
    has a random message, and the expected memories after a run with the given timing. The
    certificate of --certificate is valid for this timing.
    """
    image_files = image.files
    if was_typed("timing") and not image_files and certificate is None:
        raise InvalidInput("--timing needs --image FILE or --certificate FILE")
    if certificate is not None and output is None:
        raise InvalidInput("--certificate needs -o FILE, the program that it is about")
    require_output_files(output, certificate, *image_files)
    with busy("generating, checking, compiling"):
        require = _require_loadable if image_files else certify
        found = wanted.answer(SizeLimit.PROGRAM, timing=timing, require_program=require)
        (compiled,) = wanted.compiled([found])
        program, config = compiled.program, compiled.program.config
        require_no_deadlock(program, force=force)
        shown = _shown_nodes(program, node_text, all_nodes)
        made = image.made(compiled, timing)
        certified = certificate_json(compiled, timing) if certificate is not None else ""
    measures = _program_measures(program)
    if output is not None:
        write_program(program, output)
    if certificate is not None:
        write_atomically(certificate, certified)
    if made is not None:
        made.write(*image_files)
    if as_json:
        tables = {"tables": _tables_json(program, shown)} if shown else {}
        facts = wanted.facts(config.topology)
        print_json({**schedule_facts(found), **measures, **tables}, **facts)
        return
    for node in shown:
        _print_node(program, node)
    most = config.table_words
    limits = {"entries": most, "rows": None, "table_words": most, "steps": config.steps}
    print_table(
        schedule_title(found.schedule),
        ("most of any node", "program", "network's limit"),
        [(name.replace("_", " "), value, limits.get(name)) for name, value in measures.items()],
    )
    if room := made_room(wanted.hardware, config):
        say(f"for a network with {room}")
    say_written(output, certificate, *image_files)


def _require_loadable(program: Program) -> None:
    """Refuse a program that may deadlock or that no host can load."""
    certify(program)
    require_loadable(program)


def _shown_nodes(program: AnyProgram, text: str | None, every: bool) -> list[int]:
    """Return the nodes whose tables are printed."""
    topology = program.config.topology
    if text is not None and every:
        raise InvalidInput("--node must be left out with --all")
    if every:
        return [node for node in range(topology.nodes) if node not in topology.switches]
    if text is None:
        return []
    node = node_in_words(topology, text, "--node")
    topology.require_interface("--node", node)
    return [node]


def _print_node(program: AnyProgram, node: int) -> None:
    """Print the injection table of a node, or its run table."""
    name = node_name(program.config.topology, node)
    if isinstance(program, CircuitProgram):
        print_table(
            f"node {name}",
            ("cycles", "outputs", "join", "reads", "writes", "table words"),
            [tuple(asdict(line).values()) for line in run_table(program, node)],
        )
        return
    received = ", ".join(map(str, program.receives[node])) or "none"
    print_table(
        f"node {name}, receives in steps: {received}",
        ("step", "words", "to", "words there", "route", "VC", "remarks", "table words"),
        [tuple(asdict(line).values()) for line in node_table(program, node)],
    )


def _tables_json(program: AnyProgram, nodes: list[int]) -> list[dict[str, object]]:
    """Return the tables of some nodes as JSON values."""
    if isinstance(program, CircuitProgram):
        tables = ((node, run_table(program, node)) for node in nodes)
        return [{"node": node, "rows": [asdict(line) for line in lines]} for node, lines in tables]
    return [
        {
            "node": node,
            "receives": list(program.receives[node]),
            "rows": [asdict(line) for line in node_table(program, node)],
        }
        for node in nodes
    ]


def _program_measures(program: AnyProgram) -> dict[str, int]:
    """Return the largest use of the tables by any node."""
    if isinstance(program, CircuitProgram):
        return {
            "entries": int(program.table_sizes.max()),
            "entry_words": entry_words(program.config),
        }
    return {
        "rows": int(np.diff(program.first_row).max()),
        "table_words": int(program.table_sizes.max()),
        "header_flits": int(program.header_flits.max(initial=0)),
        "steps": program.steps,
    }
