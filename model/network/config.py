"""The one frozen description of a network that the cycle model and the RTL share.

What travels in it has formats of its own: ``header`` (:mod:`.header`) and ``table``
(:mod:`.table_format`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..base.errors import InvalidInput, require_range
from .header import HeaderFormat
from .table_format import HEADER_COUNT_BITS, TableFormat
from .topology import Topology

REFUSAL_CYCLES = 16
"""A pattern of refusal, one word, has a bit for each of so many cycles, and repeats after them."""

MOST_VCS = 8
"""Virtual channels of a link at most."""

MOST_MEMORY_WORDS = 1 << 16
"""Words of the largest message memory, and of the largest table, that a node may have."""

TIMINGS = ("barrier", "self-timed")
"""How the steps of nodes may go on (docs/router.md, section 4)."""

SIGNATURE_BITS = 32
"""Width of a node's signature."""


def bits_for(largest: int) -> int:
    """Bits that hold every number from 0 to ``largest``."""
    return largest.bit_length()


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Everything that is fixed when a network is built; docs/router.md says what each part does.

    topology
        The nodes and links.
    vcs
        Virtual channels per link, 1 to 8.
    depth
        Flits that an input buffer holds per VC, 1 to 16. A credit takes 2R + 2 cycles to come back
        over R link registers, so that depth is the least that keeps a link busy.
    flit_width
        Bits of data in a flit and in a word of memory, 8 to 64; with timed rows 16 to 64, as a word
        holds a pattern of refusal of 16 bits.
    message_words
        Words of message memory in each node.
    table_words
        Words of table memory in each node; a row takes one or more of them.
    steps
        The largest step number that a row may carry.
    link_registers
        Registers on every link between routers, 0 to 3.
    barrier_registers
        Registers between all nodes and the barrier, there and back, 0 to 7: so many cycles a step
        starts later with barrier timing. In a large network they make the clock faster.
    timed_rows
        Rows may say the first cycle in which they begin: what traffic is made of.
    signature
        Every node folds what its router sends, and when, into 32 bits.
    contention_free
        Routers have no buffers, credits or arbitration: for programs in which no two flits meet.
    all_port
        A node has an injection and an ejection port for every link, instead of one of each.
    """

    topology: Topology
    vcs: int = 1
    depth: int = 2
    flit_width: int = 32
    message_words: int = 256
    table_words: int = 64
    steps: int = 15
    link_registers: int = 0
    barrier_registers: int = 0
    timed_rows: bool = False
    signature: bool = False
    contention_free: bool = False
    all_port: bool = False

    def __post_init__(self) -> None:
        require_range("vcs", self.vcs, 1, MOST_VCS)
        require_range("depth", self.depth, 1, 16)
        require_range("flit width", self.flit_width, 8, 64)
        require_range("message words", self.message_words, 2, MOST_MEMORY_WORDS)
        require_range("table words", self.table_words, 2, MOST_MEMORY_WORDS)
        require_range("steps", self.steps, 1, (1 << 12) - 1)
        require_range("link registers", self.link_registers, 0, 3)
        require_range("barrier registers", self.barrier_registers, 0, 7)
        require_range("ports per node", self.topology.ports, 2, 63)
        if self.timed_rows and self.flit_width < REFUSAL_CYCLES:
            allowed = f"at least {REFUSAL_CYCLES} in a network with timed rows"
            raise InvalidInput.of("flit width", allowed, self.flit_width)
        if self.contention_free:
            self._require_no_waiting()
        if self.all_port:
            self._require_one_timing()
        self._require_flit_width("a route segment", self.header.slot_bits)
        self._require_flit_width("the delivery (port, step, address)", self.header.delivery_bits)
        self._require_flit_width("the message length", self.length_bits)

    def _require_no_waiting(self) -> None:
        """Refuse flits that may wait without buffers, of which the model has ``depth``."""
        if self.timed_rows:
            raise InvalidInput.of("timed rows", "left out of a contention-free network", "given")
        if self.depth < 2 * self.link_registers + 2:
            allowed = f"at least {2 * self.link_registers + 2} in a contention-free network"
            raise InvalidInput.of("depth", allowed, self.depth)

    def _require_one_timing(self) -> None:
        """Refuse what is not there in networks with a port for every link."""
        for name in ("timed_rows", "signature", "contention_free"):
            if getattr(self, name):
                parameter = name.replace("_", " ")
                raise InvalidInput.of(parameter, "left out of an all-port network", "given")

    def _require_flit_width(self, what: str, bits: int) -> None:
        if bits > self.flit_width:
            raise InvalidInput.of(
                "flit width", f"at least {bits}, which {what} takes here", self.flit_width
            )

    @cached_property
    def header(self) -> HeaderFormat:
        """The format of header flits."""
        return HeaderFormat(
            flit_width=self.flit_width,
            deliver_code=self.topology.ports,
            port_bits=bits_for(self.topology.ports),
            hop_bits=bits_for(self.topology.longest_run - 1),
            vc_bits=bits_for(self.vcs - 1),
            step_bits=self.step_bits,
            address_bits=self.address_bits,
        )

    @cached_property
    def table(self) -> TableFormat:
        """The format of the control words of a table row."""
        fields = (
            ("step", self.step_bits),
            ("header_flits", HEADER_COUNT_BITS),
            ("source_address", self.address_bits),
            ("length", self.length_bits),
            ("start", self.start_bits),
        )
        return TableFormat(self.flit_width, fields)

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
    def mask_words(self) -> int:
        """Words that hold one bit per step number."""
        return -(-(1 << self.step_bits) // self.flit_width)

    @property
    def lanes(self) -> int:
        """Injection ports of a node, and ejection ports."""
        return self.topology.ports - 1 if self.all_port else 1

    @property
    def signature_words(self) -> int:
        """Words that a signature takes; 0 where there is none."""
        return -(-SIGNATURE_BITS // self.flit_width) if self.signature else 0

    @property
    def start_bits(self) -> int:
        """Width of a row's start; 0 where rows have none."""
        return min(self.flit_width, 32) if self.timed_rows else 0
