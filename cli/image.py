"""``eyecast image``: several programs as one image of a network with a controller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput
from ..model.base.files import input_name, is_special
from ..model.network.config import Timing
from ..model.program.file import read_program
from ..model.program.memory.layout import held_words
from ..model.program.payload import empty_memory
from .command import command
from .console import busy, print_json, print_table, say_written
from .options.hardware import refuse_with_circuits, timing_option
from .options.output import json_option, require_output_files
from .options.values import complete_files, file_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..model.image.image import Image, Result
    from ..model.image.programs import ProgramsImage
    from ..model.program.any_program import AnyProgram
    from ..model.program.compiler import Compiled


@command(
    "image",
    "eyecast image a.json b.json -o chip.csv",
    "eyecast image program.json -o chip.csv",
)
@click.argument("programs", nargs=-1, required=True, shell_complete=complete_files)
@file_option(
    *("-o", "--output"),
    required=True,
    help=(
        "Write the words that load the programs through the host port here (CSV); a .json file "
        "beside it has the facts that a host needs."
    ),
)
@timing_option
@json_option
def image_command(programs: tuple[str, ...], output: str, timing: Timing, as_json: bool) -> None:
    """Make one image of program files, for a network that keeps several programs.

    The programs get numbers from 0 in the given order, and lie in memory in this order. All
    programs must be for the same network with the same options (--programs, --message-words,
    --table-words, --steps ...). The image has no words of messages.
    """
    paths = image_files(output, "-o")
    require_output_files(*paths)
    with busy("reading, predicting"):
        made = [read_program(path) for path in programs]
        if made[0].config.circuits:
            refuse_with_circuits()
        for path, program in zip(programs, made, strict=True):
            if not program.config.programs:
                raise InvalidInput(f"{input_name(path)} must be made with --programs, to be kept")
        image = programs_image(made, timing)
    image.write(*paths)
    if as_json:
        listed = {"programs": image.description()["programs"]}
        print_json(listed, network=made[0].config.topology.label)
        return
    columns = zip(programs, image.entries, image.predicted, strict=True)
    print_table(
        f"{made[0].config.topology.label}, {timing} timing",
        ("number", "program", "base", "words", "cycles", "limit"),
        [
            (entry.number, name, *entry.slot, run.cycles, entry.limit)
            for name, entry, run in columns
        ],
    )
    say_written(*paths)


def image_files(image: str, option: str) -> list[str]:
    """Return the two files of the image that ``option`` names: the CSV and the JSON beside it."""
    path = Path(image)
    if path.suffix.lower() == ".json":
        raise InvalidInput.of(option, "a file that does not end in .json", image)
    if is_special(path):
        raise InvalidInput.of(option, "a file, which another is written beside", image)
    return [image, str(path.with_suffix(".json"))]


def programs_image(programs: Sequence[AnyProgram], timing: Timing) -> ProgramsImage:
    """Return the image of programs of one network, with their predictions."""
    from ..model.compare.case import watchdog
    from ..model.exact.arithmetic import predict
    from ..model.image.programs import ProgramsImage

    predicted = [predict(each, empty_memory(each.config), timing=timing) for each in programs]
    limits = [watchdog(each) for each in predicted]
    return ProgramsImage(programs=programs, timing=timing, predicted=predicted, limits=limits)


def image_of(compiled: Compiled, timing: Timing, *, number: int = 0, base: int = 0) -> Image:
    """Return the image of a program, with a payload and a prediction."""
    from ..model.compare.case import Case, watchdog
    from ..model.image.image import Image

    case = Case.of(compiled, timing=timing, seed=0)
    config = case.program.config
    return Image(
        program=case.program,
        timing=timing,
        loads=case.payload.loads(config),
        predicted=case.predicted,
        known=held_words(compiled.schedule, compiled.layout),
        results=[*_results(compiled)],
        number=number,
        base=base,
        limit=watchdog(case.predicted) if config.programs else 0,
    )


def _results(compiled: Compiled) -> Iterator[Result]:
    """Yield the memory address of every result of a reduction, for each node that is owed one."""
    from ..model.image.image import Result

    schedule, layout, _ = compiled
    blocks, everyone = schedule.blocks, schedule.topology.working_nodes.tolist()
    for block, (operator, owed) in enumerate(zip(blocks.operator, blocks.owed, strict=True)):
        if operator is None:
            continue
        for node in everyone if owed is None else owed:
            address, words = layout.address(node, block), int(blocks.words[block])
            yield Result(node, address, words, operator)
