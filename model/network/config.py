"""The configuration of a network, which the cycle model and the RTL share.

It holds the formats of packet headers (:mod:`.header`) and of table rows (:mod:`.table_format`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from .exclusions import require_compatible
from .header import HeaderFormat
from .operators import Operator, as_operators, operator_names
from .table_format import HEADER_COUNT_BITS, Fields, TableFormat
from .topology import Topology

MOST_DEPTH = 16
"""Most flits of a buffer."""

MOST_VCS = 8
"""Most virtual channels of a link."""

MOST_MEMORY_WORDS = 1 << 16
"""Most words of the message memory, and of the table memory, of a node."""


MOST_PROGRAMS = 15
"""Most programs that a controller keeps at the same time."""


class Timing(StrEnum):
    """Ways in which the steps of nodes follow each other (docs/router.md, section 4)."""

    BARRIER = "barrier"
    SELF_TIMED = "self-timed"

    @classmethod
    def named(cls, text: str) -> Timing:
        """Return the timing with this name; raise :class:`.InvalidInput` for any other name."""
        for timing in cls:
            if timing == text:
                return timing
        raise InvalidInput.unknown("timing", cls, text)


TIMINGS = tuple(Timing)
"""All timings."""

PIECE_BITS = 64
"""Bits of each piece of a wide word (docs/router.md, section 25)."""

PARITY_SHARE = 32
"""Bits of a wide word that have a parity bit (docs/router.md, section 25)."""

MOST_PIECES = 8
"""Most pieces of a word."""

SIGNATURE_BITS = 32
"""Width of a node's signature."""


def bits_for(largest: int) -> int:
    """Return the bits that hold every number from 0 to ``largest``."""
    return largest.bit_length()


@dataclass(frozen=True)
class Parameter:
    """Metadata of a field of :class:`NetworkConfig`, besides its default.

    The checks, the command-line options, the files and the tests' draws are made from them.

    limits
        Least and largest value of a number; None for a flag and for names.
    help
        Help of the command-line option, with ``{}`` for the limits; "" for a parameter without an
        option, which other choices determine.
    for_traffic
        True if ``eyecast traffic`` has the option too.
    for_runs
        False if only ``eyecast verilog`` has the option; in runs, the task decides it.
    in_every_file
        True if files state the parameter even if it has its default.
    names
        True for a list of names, separated by commas in options and sweeps.
    """

    limits: tuple[int, int] | None = None
    help: str = ""
    for_traffic: bool = True
    in_every_file: bool = False
    for_runs: bool = True
    names: bool = False

    @property
    def kind(self) -> type[bool] | type[int] | type[str]:
        """The type of its values in options: flag, number or text."""
        if self.names:
            return str
        return bool if self.limits is None else int

    @property
    def of_runs(self) -> bool:
        """Tell whether a user who runs something may choose the parameter."""
        return bool(self.help) and self.for_runs

    @property
    def help_text(self) -> str:
        """The help of the option, with its limits filled in."""
        return self.help.format(*self.limits or ())


def _number(
    default: int,
    limits: tuple[int, int],
    help_text: str,
    *,
    for_traffic: bool = True,
    in_every_file: bool = False,
) -> int:
    """Return a field that is an integer within ``limits``."""
    parameter = Parameter(limits, help_text, for_traffic, in_every_file)
    return field(default=default, metadata={"parameter": parameter})


def _flag(help_text: str = "", *, for_runs: bool = True) -> bool:
    """Return a field that is false by default."""
    parameter = Parameter(None, help_text, for_traffic=False, for_runs=for_runs)
    return field(default=False, metadata={"parameter": parameter})


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """All properties fixed when a network is built; docs/router.md says what each part does.

    A new parameter needs one field here, its type for Python users, and hardware that uses it.
    """

    topology: Topology
    """The nodes and links."""

    vcs: int = _number(
        1,
        (1, MOST_VCS),
        "Virtual channels (buffers that share the wires) of each link, {} to {}; by "
        "default as many as needed.",
        in_every_file=True,
    )
    """Virtual channels per link."""

    depth: int = _number(
        2,
        (1, MOST_DEPTH),
        "Flits that the buffer of each virtual channel holds, {} to {}.",
        in_every_file=True,
    )
    """Flits that an input buffer holds per VC. A credit takes 2R + 2 cycles to return over R link
    registers; a smaller depth cannot keep a link busy."""

    flit_width: int = _number(
        32,
        (8, MOST_PIECES * PIECE_BITS),
        "Bits that a link carries in a cycle, {} to {}; from 64 on a multiple of 64.",
        in_every_file=True,
    )
    """Bits of data in a flit and in a word of memory. Timed rows need at least 16, because a word
    holds a refusal pattern of 16 bits. From 64 on, a multiple of 64."""

    message_words: int = _number(
        256,
        (2, MOST_MEMORY_WORDS),
        "Words that each node's message memory holds; by default as many as needed.",
        in_every_file=True,
    )
    """Words of message memory in each node."""

    table_words: int = _number(
        64,
        (2, MOST_MEMORY_WORDS),
        "Words that each node's table memory holds; by default as many as needed.",
        in_every_file=True,
    )
    """Words of table memory in each node; a row takes one or more of them."""

    link_registers: int = _number(
        0, (0, 3), "Registers that every link has, {} to {}; each delays flits by a cycle."
    )
    """Registers on every link between routers."""

    barrier_registers: int = _number(
        0,
        (0, 7),
        "Registers between the nodes and the barrier, {} to {}; they allow a faster clock.",
        for_traffic=False,
    )
    """Registers between all nodes and the barrier, both ways together. With barrier timing, each
    adds a cycle to every step. In a large network they allow a faster clock."""

    steps: int = _number(
        15,
        (1, (1 << 12) - 1),
        "Largest step number that the hardware can count; by default as large as needed.",
        for_traffic=False,
        in_every_file=True,
    )
    """The largest step number that a row may carry."""

    timed_rows: bool = _flag(
        "Let table rows state a cycle before which they must not begin, as traffic needs.",
        for_runs=False,
    )
    """Rows may state the first cycle in which they begin; traffic consists of such rows."""

    signature: bool = _flag(
        "Give every node a 32-bit checksum of the flits that its router sends.",
        for_runs=False,
    )
    """Every node has a CRC of 32 bits over the flits that its router sends, and their cycles."""

    contention_free: bool = _flag(
        "Build routers without buffers and arbitration; two flits that meet set an error flag."
    )
    """Routers have no buffers, credits or arbitration: for programs in which no two flits meet."""

    all_port: bool = _flag()
    """A node has an injection and an ejection port for every link, instead of one of each."""

    programs: int = _number(
        0,
        (0, MOST_PROGRAMS),
        "Number of programs that a controller keeps, starts and watches, {} to {}; 0 "
        "builds no controller.",
        for_traffic=False,
    )
    """Programs that are resident at the same time, which a controller starts and watches. Without
    a controller (0), programs are loaded during reset."""

    tile_ports: bool = _flag(
        "Give the processor of each node a port to the node's message memory; needs programs."
    )
    """The logic that computes at a node has its own port to the node's message memory."""

    parity: bool = _flag("Add a parity bit to every word of memory; needs programs.")
    """Every word of memory has a parity bit, which is checked at each read."""

    operators: tuple[Operator, ...] = field(
        default=(),
        metadata={
            "parameter": Parameter(
                help="Operators by which nodes combine arriving words with their own: add,max "
                "and others.",
                for_traffic=False,
                names=True,
            )
        },
    )
    """Operators by which a packet can be combined with the words at its target. A name may stand
    for a built-in operator, and a text of names with commas for the whole list."""

    streams: bool = _flag("Let nodes send the words of a message on while the others still arrive.")
    """Rows may forward words while they arrive, and addresses may wrap in windows."""

    circuits: bool = _flag(
        "Let tables say what routers do in each cycle: words have no headers and never wait."
    )
    """Routers follow a table of runs instead of headers (docs/router.md, section 23)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "operators", as_operators(self.operators))
        for name, parameter in PARAMETERS.items():
            if parameter.limits is not None:
                require_range(name.replace("_", " "), getattr(self, name), *parameter.limits)
        require_range("ports per node", self.topology.ports, 2, 63)
        require_compatible(self)
        self._require_pieces_and_lanes()
        if self.circuits:
            # Words have no headers, and tables no rows; the host reads the current entry's number.
            self._require_flit_width("the number of an entry", bits_for(self.table_words))
        else:
            self._require_flit_width("a route segment", self.header.slot_bits)
            self._require_flit_width(self._delivery_words(), self.header.delivery_bits)
            self._require_flit_width("the message length", self.length_bits)

    def _require_pieces_and_lanes(self) -> None:
        """Raise :class:`.InvalidInput` for a word that is no row of pieces, or of lanes."""
        width = self.flit_width
        if width > PIECE_BITS and width % PIECE_BITS:
            allowed = f"up to {PIECE_BITS}, or a multiple of {PIECE_BITS}"
            raise InvalidInput.of("flit width", allowed, width)
        for operator in self.operators:
            if self.pieces > 1 and not operator.lane_width:
                allowed = f"one with lanes, such as {operator.name}:32, for words of {width} bits"
                raise InvalidInput.of("operator", allowed, operator.name)
            if operator.lane_width and width % operator.lane_width:
                allowed = f"a multiple of {operator.lane_width}, the lanes of {operator.name}"
                raise InvalidInput.of("flit width", allowed, width)

    def _delivery_words(self) -> str:
        """Name the fields of a delivery, for an error."""
        further = (("operator", self.operator_bits), ("window", self.window_bits))
        names = ["port", "step", "address", *(name for name, bits in further if bits)]
        return f"the delivery ({', '.join(names)})"

    def _require_flit_width(self, what: str, bits: int) -> None:
        if bits > self.narrow_width:
            raise InvalidInput.of(
                "flit width", f"at least {bits}, which {what} takes here", self.flit_width
            )

    @cached_property
    def header(self) -> HeaderFormat:
        """The format of header flits."""
        return HeaderFormat(
            flit_width=self.narrow_width,
            deliver_code=self.topology.ports,
            port_bits=bits_for(self.topology.ports),
            hop_bits=bits_for(self.topology.longest_run - 1),
            vc_bits=bits_for(self.vcs - 1),
            step_bits=self.step_bits,
            address_bits=self.address_bits,
            operator_bits=self.operator_bits,
            window_bits=self.window_bits,
        )

    @cached_property
    def table(self) -> TableFormat:
        """The format of the control words of a table row."""
        fields: Fields = (
            ("step", self.step_bits),
            ("header_flits", HEADER_COUNT_BITS),
            ("source_address", self.address_bits),
            ("length", self.length_bits),
            ("start", self.start_bits),
        )
        if self.streams:
            fields += (
                ("stream", self.stream_bits),
                ("lead", self.length_bits),
                ("window", self.window_bits),
            )
        return TableFormat(self.narrow_width, fields)

    def display_value(self, name: str) -> int | str:
        """Return a parameter's value as options and tables show it: number, flag or names."""
        if PARAMETERS[name].names:
            return operator_names(getattr(self, name))
        value: int = getattr(self, name)
        return value

    @cached_property
    def registers_of_links(self) -> npt.NDArray[np.int64]:
        """Registers of the link that leaves by each port: shape (nodes, ports); 0 in column 0."""
        return self.topology.registers_of(self.link_registers)

    @property
    def link_rates(self) -> npt.NDArray[np.int64]:
        """Least cycles between two flits on each link: shape (nodes, ports); 1 in column 0."""
        return self.topology.rates

    @property
    def differing_links(self) -> bool:
        """True if the topology gives the registers or the rate of any link."""
        return self.topology.links_differ

    @property
    def pieces(self) -> int:
        """Pieces of a word: one of up to 64 bits, or more, of 64 bits each."""
        return -(-self.flit_width // PIECE_BITS)

    @property
    def further_pieces(self) -> int:
        """Pieces of a word besides the first one."""
        return self.pieces - 1

    @property
    def piece_bits(self) -> int:
        """Width of the number of a piece, in addresses of the host; 0 if words have one."""
        return bits_for(self.further_pieces)

    def words_shape(self, *shape: int) -> tuple[int, ...]:
        """Return the shape of an array of words: the last axis of wide ones are their pieces."""
        return (*shape, self.pieces) if self.further_pieces else shape

    @property
    def narrow_width(self) -> int:
        """Bits of headers, of table words and of the host's words; the contract's H."""
        return min(self.flit_width, PIECE_BITS)

    @property
    def parity_bits(self) -> int:
        """Parity bits of a word of the message memory: one, of a wide word one for 32 bits each."""
        of_word = self.flit_width // PARITY_SHARE if self.further_pieces else 1
        return of_word if self.parity else 0

    @property
    def step_bits(self) -> int:
        """Width of a step number."""
        return bits_for(self.steps)

    @property
    def address_bits(self) -> int:
        """Width of an address in the message memory."""
        return bits_for(self.message_words - 1)

    @property
    def length_bits(self) -> int:
        """Width of a message length in words, 0 to ``message_words``."""
        return bits_for(self.message_words)

    @property
    def operator_bits(self) -> int:
        """Width of a delivery's operator: 0 replaces, and each operator has two further values."""
        return bits_for(2 * len(self.operators))

    @property
    def operator_latency(self) -> int:
        """Cycles that the slowest operator takes; the hardware gives every operator as many."""
        return max((operator.latency for operator in self.operators), default=0)

    @property
    def further_vcs(self) -> int:
        """Virtual channels of a link besides the first one."""
        return self.vcs - 1

    @property
    def switches(self) -> int:
        """Number of nodes without a network interface."""
        return len(self.topology.switches)

    @property
    def stream_bits(self) -> int:
        """Width of the number of the lane whose packet a row streams; 0 without streams."""
        return bits_for(self.lanes) if self.streams else 0

    @property
    def most_window(self) -> int:
        """The number w of the largest window: 2 ** w words are half of the address range."""
        return self.address_bits - 1 if self.streams else 0

    @property
    def window_bits(self) -> int:
        """Width of the number of a window; 0 without windows."""
        return bits_for(self.most_window)

    @property
    def busy_depth(self) -> int:
        """Least depth that keeps every link busy: the flits until an entry of a buffer is reused.

        docs/router.md, sections 9 and 24.
        """
        return int((-(-(2 * self.registers_of_links[:, 1:] + 2) // self.link_rates[:, 1:])).max())

    @property
    def mask_words(self) -> int:
        """Words of a mask with one bit for each step number."""
        return -(-(1 << self.step_bits) // self.narrow_width)

    @property
    def leading_words(self) -> int:
        """Words of ``expected`` in front of each table; 0 without a controller."""
        return self.mask_words if self.programs else 0

    @property
    def write_delay(self) -> int:
        """Cycles from when a word leaves the network to the cycle at whose end it is written.

        docs/router.md, sections 19 and 23.
        """
        return int(self.circuits) + (1 + self.operator_latency if self.operators else 0)

    @property
    def lanes(self) -> int:
        """Injection ports of a node, and ejection ports: the same number."""
        return self.topology.ports - 1 if self.all_port else 1

    @property
    def waits_for_tiles(self) -> bool:
        """True if a run starts only when no tile holds its node: with circuits and tile ports."""
        return self.circuits and self.tile_ports

    @property
    def signature_words(self) -> int:
        """Words of a signature; 0 without signatures."""
        return -(-SIGNATURE_BITS // self.narrow_width) if self.signature else 0

    @property
    def start_bits(self) -> int:
        """Width of a row's start; 0 without timed rows."""
        return min(self.flit_width, 32) if self.timed_rows else 0


PARAMETERS: dict[str, Parameter] = {
    each.name: each.metadata["parameter"]
    for each in fields(NetworkConfig)
    if "parameter" in each.metadata
}
"""Metadata of each parameter, by name; every field of a network except its topology is one."""

DEFAULTS: dict[str, Any] = {
    each.name: each.default for each in fields(NetworkConfig) if each.name in PARAMETERS
}
"""Default value of each parameter, by name."""
