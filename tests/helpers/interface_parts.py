"""State and outputs of a network interface, for :mod:`helpers.whole_interface`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from eyecast.model.network.config import NetworkConfig


@dataclass
class Packet:
    """A packet that leaves port 0, with the fields of its delivery."""

    step: int
    address: int
    operator: int = 0
    window: int = 0


@dataclass
class Leaving:
    """The output of an ejection port in a cycle."""

    vc: int
    delivery: Packet | None
    """High for a header flit."""
    word: int
    tail: bool


@dataclass
class Row:
    """A row under way: its fields, and the number of injected flits and words."""

    fields: Mapping[str, int]
    flits: list[int]
    sent: int = 0

    @property
    def headers(self) -> int:
        return self.fields["header_flits"]


@dataclass
class Lane:
    """A sender and a receiver, with their state."""

    config: NetworkConfig
    table: Sequence[int]
    """Words of the program; with a controller, ``expected`` precedes the rows."""
    words: int
    """Words of the program before the region *beyond*."""
    ports: range
    state: str = "control"
    place: int = 0
    control: list[int] = field(default_factory=list)
    row: Row = field(default_factory=lambda: Row({}, []))
    credits: list[int] = field(default_factory=list)
    waited: bool = False
    expected: int = 0
    arrived: int = 0
    come: int = 0
    come_before: int = 0
    packets: dict[int, Packet] = field(default_factory=dict)
    receiver: dict[int, str] = field(default_factory=dict)

    @property
    def word(self) -> int:
        """Return the table word that the sender reads."""
        return self.table[self.place] if self.place < len(self.table) else 0

    @property
    def vc(self) -> int:
        header = self.config.header
        return self.row.flits[0] >> header.port_bits + header.hop_bits & (1 << header.vc_bits) - 1

    def take_control_word(self) -> None:
        """Keep a control word; after the last one, set the row's fields and header flits."""
        self.control.append(self.word)
        self.place += 1
        if len(self.control) == self.config.table.control_words:
            table = self.config.table
            fields = {
                name: self.control[word] >> low & (1 << width) - 1
                for (name, width), (word, low) in zip(table.fields, table.positions, strict=True)
            }
            flits = max(1, fields["header_flits"])
            self.row = Row(fields, list(self.table[self.place : self.place + flits]))
            self.row.flits += [0] * (flits - len(self.row.flits))
            self.control = []

    def address(self, word: int) -> int:
        """Return the address of a payload word of the row."""
        window = self.row.fields.get("window", 0)
        return after(self.row.fields["source_address"], word, window)

    def is_bad(self, step: int) -> bool:
        """Tell whether the row is bad, for the reasons of section 22."""
        config, fields = self.config, self.row.fields
        window, length, source = fields.get("window", 0), fields["length"], fields["source_address"]
        beyond = source + length > config.message_words
        if window:
            last = source | (1 << window) - 1
            beyond = length > 1 << window or last >= config.message_words
        port = self.row.flits[0] & (1 << config.header.port_bits) - 1
        return (
            fields["header_flits"] == 0
            or step > fields["step"]
            or port not in self.ports
            or self.vc >= config.vcs
            or beyond
            or fields.get("stream", 0) > config.lanes
            or window > config.address_bits - 1
        )


def after(address: int, words: int, window: int) -> int:
    """Return the address ``words`` words after another one, in its window."""
    if not window:
        return address + words
    size = 1 << window
    return address // size * size + (address + words) % size


@dataclass
class Later:
    """Events at the end of this cycle or of a later one."""

    cycle: int
    effect: Callable[[], None]
    writes: Lane | None = None
    """The lane whose receiver writes a word."""
    ends: int = 0
    """The step of the packet that ends; 0 if no packet of a step ends."""


@dataclass
class Seen:
    """The outputs of an interface in a cycle."""

    states: list[str]
    injected: list[tuple[int, int, bool, bool] | None]
    """VC, data, head mark and tail mark at each lane."""
    over: bool
    finished: bool
    flags: frozenset[str]
    """Flags set at the start of the cycle."""
    step: int
    accept: bool
    stalled_before: int
    """The senders' stalled flits, up to the previous cycle."""
    arrived: list[int]
    read_free: bool
    write_free: bool
    """High while the network leaves a memory port to host and tile."""
    ends: list[int]
    """Steps of packets that end at the end of the cycle."""
