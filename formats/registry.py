"""The file formats by name, and recognition of a file's format.

A new format is a module and an entry here.
"""

from pathlib import Path

from ..model.base.errors import InvalidInput, one_of
from ..model.base.files import InputFile, input_name
from ..model.network.topology import Topology
from .anynet import BOOKSIM
from .chakra import CHAKRA
from .edge_list import EDGE_LIST
from .forestcoll import FORESTCOLL
from .format import Content, Format
from .goal import GOAL
from .graphml import GRAPHML
from .matrix_market import MATRIX_MARKET
from .msccl import MSCCL
from .mscclpp import MSCCLPP
from .node_link import NODE_LINK
from .noxim import NOXIM_LIST, NOXIM_TABLE
from .own import NETWORK, SCHEDULE, TRAFFIC
from .rounds import ROUNDS
from .workload_table import WORKLOAD

FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        SCHEDULE,
        NETWORK,
        TRAFFIC,
        WORKLOAD,
        ROUNDS,
        MSCCL,
        NODE_LINK,
        GRAPHML,
        MATRIX_MARKET,
        BOOKSIM,
        GOAL,
        CHAKRA,
        NOXIM_LIST,
        NOXIM_TABLE,
        EDGE_LIST,
        FORESTCOLL,
        MSCCLPP,
    )
}
"""Formats by name. A file that matches several has the first of them."""


def format_named(name: str, option: str) -> Format:
    """Return the format of this name; refuse an unknown name of ``option``."""
    if name not in FORMATS:
        raise InvalidInput.of(option, one_of(FORMATS), repr(name))
    return FORMATS[name]


def format_of(file: InputFile, content: Content | None = None) -> Format | None:
    """Recognise the format of ``file`` by its content and its suffix.

    Content that several formats may have is of the one with the suffix. A suffix that only one
    format has decides where content has no mark, such as a list of numbers. With ``content``, only
    formats with this content are tried. None if no format matches.
    """
    able = [
        each
        for each in FORMATS.values()
        if (each.reads if content is None else content in each.reads)
    ]
    alike = [each for each in able if each.looks(file.content)]
    named = [each for each in able if str(file.path).endswith(each.suffixes)]
    both = [each for each in alike if each in named]
    marked = [each for each in alike if each.marked]
    return next(iter((*both, *marked, *(named if len(named) == 1 else ()), *alike)), None)


def require_format_of(file: InputFile) -> Format:
    """Recognise the format of ``file``, or refuse it."""
    found = format_of(file)
    if found is None:
        names = one_of(name for name, each in FORMATS.items() if each.reads)
        raise InvalidInput(
            f"{input_name(file)}: format must be {names}, and it looks like none (--from names it)"
        )
    return found


def format_with(file: InputFile, content: Content, otherwise: Format) -> Format:
    """Recognise the format of a file that holds ``content``; unknown JSON is ``otherwise``.

    Raises :class:`.InvalidInput` if the file holds other content or matches no format.
    """
    found = format_of(file, content)
    if found is not None:
        return found
    other = format_of(file)
    if other is not None:
        held = " or ".join(sorted(other.reads))
        raise InvalidInput(f"{input_name(file)} must be a {content}, not a {held} ({other.title})")
    if not file.content.lstrip().startswith(b"{"):
        able = [each for each in FORMATS.values() if content in each.reads]
        suffixes = one_of(dict.fromkeys(suffix for each in able for suffix in each.suffixes))
        complaint = f"format must be {one_of(each.name for each in able)}, and it looks like none"
        raise InvalidInput(f"{input_name(file)}: {complaint} (a suffix names it: {suffixes})")
    return otherwise


def network_of_file(file: InputFile, form: Format | None = None) -> Topology:
    """Read the network of ``file``; ``form`` is its format, detected if None."""
    form = form or format_with(file, Content.NETWORK, NETWORK)
    assert form.read_network is not None
    return form.read_network(file)


def format_for(path: str | Path, content: Content) -> Format:
    """Return the format for writing ``content`` to a file of this name, or refuse the name."""
    able = [each for each in FORMATS.values() if content in each.writes]
    if not able:
        raise InvalidInput(f"a {content} must be run (eyecast run), as no format writes it")
    for each in able:
        if str(path).endswith(each.suffixes):
            return each
    suffixes = one_of(dict.fromkeys(suffix for each in able for suffix in each.suffixes))
    allowed = f"{suffixes} for a {content} (--to names another format)"
    raise InvalidInput.of(f"suffix of {path}", allowed, repr(Path(path).suffix))
