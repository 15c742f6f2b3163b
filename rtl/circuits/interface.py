"""The network interface of a node of a network with circuits (docs/router.md, section 23).

::

    host ──► entries ──► run table
    host ──► message memory ◄──► lanes ◄──► router
    router, lanes, run table ──► flags, finished

In a switch only the entries, the flags and ``finished`` are left.
"""

import enum
from collections.abc import Mapping

from amaranth.hdl import C, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib.wiring import Component, In, Member, Out, connect, flipped

from ...model.network.config import SIGNATURE_BITS, NetworkConfig, bits_for
from ..parts.host_map import HostSpace, StatusWord
from ..parts.host_port import HostPort, node_bits
from ..parts.link import WordLink
from ..parts.memory_ports import WordWrite
from ..parts.message import LoadedMessage, SharedMessage
from ..parts.run_entry import entry_bits, entry_words, word_bits
from ..parts.status import carried_out, gathered, host_writes, status_answer, words_of
from ..parts.table import PROGRAM_BITS
from ..parts.technology import PLAIN, Technology
from ..parts.tile_port import TilePort, connect_access
from .lane import CircuitLane, lane_suffixes
from .run_table import PLACES, CurrentRun


class CircuitFlag(enum.IntEnum):
    """Bit numbers of a node's sticky flags in a network with circuits."""

    LOST_WORD = 0
    PARITY = 1
    MISSING_WORD = 2
    BAD_ROUTE = 3
    SEND_AND_RECEIVE = 5
    BAD_ROW = 6
    BAD_WRITE = 7


class CircuitInterface(Component):
    """Reads the words that a node sends, writes those that it receives, and answers the host.

    Used by :class:`.CircuitTile`. A ``switch`` neither reads nor writes words, and has no members
    for that.

    Members
    -------
    node : In
        The node's number; constant.
    half_duplex : In(1)
        High: a node that sends and receives in the same cycle sets a flag. Constant during a run.
    run : In(CurrentRun)
        The current entry of the run table.
    entry : Out(WordWrite)
        Entries that the host writes; without programs in reset only.
    injection : Out(WordLink)
        Input register 0 of the router: the word that was read two cycles before. In an all-port
        network each lane has one: ``injection_1``, ``injection_2``, …
    ejection : In(WordLink)
        The word that leaves by output 0 of the router; all-port: ``ejection_1``, …
    sum_leaves : In(lanes)
        Only with operators: bit by lane, that word is a sum. Valid while the lane's
        ``ejection.valid`` is high.
    lost_word, missing_word, bad_route : In(1)
        Causes of flags that the router sees in this cycle. Ignored in reset.
    router_signature : In(32)
        Signature of what the router has sent before this cycle; 0 bits wide without signatures.
    host : In(HostPort)
        Loads and reads; see :class:`.HostPort`.
    tile : In(TilePort)
        Only with tile ports: the tile's port.
    program : In(4)
        Only with tile ports: the number of the program.
    held : Out(1)
        Only with tile ports: the tile's ``hold`` of the last cycle, in reset too.
    finished : Out(1)
        High when the node has done its runs and has written every word. Low while ``flagged`` is
        high.
    flagged : Out(1)
        High from the cycle after the cause of a flag until reset.
    damaged : Out(1)
        Only with parity: high while a damaged word is shown to the tile or the host, in reset too.

    """

    def __init__(
        self, config: NetworkConfig, *, switch: bool = False, technology: Technology = PLAIN
    ) -> None:
        self._config = config
        self._switch = switch
        self._technology = technology
        super().__init__(
            {
                "node": In(node_bits(config)),
                **({} if switch else {"half_duplex": In(1)}),
                "run": In(CurrentRun(config)),
                "entry": Out(WordWrite(bits_for(config.table_words - 1), entry_bits(config))),
                **({} if switch else self._members_of_lanes()),
                "lost_word": In(1),
                "missing_word": In(1),
                "bad_route": In(1),
                "router_signature": In(SIGNATURE_BITS if config.signature else 0),
                "host": In(HostPort(config)),
                "finished": Out(1),
                "flagged": Out(1),
                **({} if switch else self._members_of_others()),
            }
        )

    def _members_of_lanes(self) -> dict[str, Member]:
        config, lanes = self._config, lane_suffixes(self._config)
        return {
            **{f"injection{lane}": Out(WordLink(config)) for lane in lanes},
            **{f"ejection{lane}": In(WordLink(config)) for lane in lanes},
            **({"sum_leaves": In(config.lanes)} if config.operators else {}),
        }

    def _members_of_others(self) -> dict[str, Member]:
        """Return the members for the tile, and for damage that it or the host sees."""
        config = self._config
        return {
            **(self._members_of_tile() if config.tile_ports else {}),
            **({"damaged": Out(1)} if config.parity else {}),
        }

    def _members_of_tile(self) -> dict[str, Member]:
        return {"tile": In(TilePort(self._config)), "program": In(PROGRAM_BITS), "held": Out(1)}

    def elaborate(self, _platform: object) -> Module:
        """Build the message memory with the lanes, flags, and the host's answers."""
        m, config = Module(), self._config
        causes: dict[CircuitFlag, Value] = {
            CircuitFlag.LOST_WORD: self.lost_word,
            CircuitFlag.MISSING_WORD: self.missing_word,
            CircuitFlag.BAD_ROUTE: self.bad_route,
        }
        if self._switch:
            selected = self._elaborate_selected(m)
            causes[CircuitFlag.BAD_ROW] = self.run.overrun
            damaged = []
        else:
            lanes = self._elaborate_lanes(m)
            message = self._elaborate_message(m, lanes)
            selected = message.selected
            causes |= self._causes_of(lanes)
            damaged = [self.damaged, *(lane.damaged for lane in lanes)] if config.parity else []
            if config.tile_ports:
                self._elaborate_tile(m, lanes)
        if config.parity:
            causes[CircuitFlag.PARITY] = Cat(self.run.damaged, *damaged).any()
        self._elaborate_entries(m, selected)
        self._elaborate_finished(m)
        status = self._elaborate_status(m, self._elaborate_flags(m, causes), selected)
        m.d.comb += (self.host.read_data if self._switch else message.status).eq(status)
        return m

    def _elaborate_selected(self, m: Module) -> Signal:
        """Return 1 in the cycle that carries out an access of the host to a switch."""
        if self._config.programs:
            return carried_out(m, self.host, self.node)
        selected = Signal()
        m.d.comb += selected.eq(self.host.node == self.node)
        return selected

    def _elaborate_entries(self, m: Module, selected: Value) -> None:
        """Write an entry when the host has written the last of its words."""
        config, host = self._config, self.host
        written = host_writes(config, host, selected, HostSpace.TABLE)
        whole, entry = gathered(m, host, written, entry_words(config), "entry_word")
        m.d.comb += [
            self.entry.enable.eq(whole),
            self.entry.address.eq(host.address[word_bits(config) :]),
            self.entry.word.eq(entry),
        ]

    def _elaborate_lanes(self, m: Module) -> list[CircuitLane]:
        """Add the lanes, and connect them to the run table and the router."""
        config, run, lanes = self._config, self.run, []
        for number, suffix in enumerate(lane_suffixes(config)):
            m.submodules[f"lane{suffix}"] = lane = CircuitLane(config)
            connect(m, lane.injection, flipped(getattr(self, f"injection{suffix}")))
            connect(m, flipped(getattr(self, f"ejection{suffix}")), lane.ejection)
            m.d.comb += lane.sends.eq(run.sends[number])
            for name in PLACES:
                m.d.comb += getattr(lane, name).eq(getattr(run, name)[number])
            if config.tile_ports:
                m.d.comb += lane.receive_last.eq(run.receive_last)
            if config.operators:
                m.d.comb += lane.sum_leaves.eq(self.sum_leaves[number])
            lanes.append(lane)
        return lanes

    def _elaborate_message(
        self, m: Module, lanes: list[CircuitLane]
    ) -> LoadedMessage | SharedMessage:
        """Add the memory between the lanes and the host; the first lane shares its ports."""
        config = self._config
        kind = SharedMessage if config.programs else LoadedMessage
        m.submodules.message = message = kind(config, technology=self._technology)
        connect(m, flipped(self.host), message.host)
        m.d.comb += message.node.eq(self.node)
        for number, lane in enumerate(lanes):
            connect(m, lane.read, message.reads[number])
            connect(m, lane.write, message.writes[number])
            if config.operators:
                connect(m, lane.stored, message.reads_to_combine[number])
        if config.programs:
            m.d.comb += message.fetches.eq(lanes[0].fetches)
            if config.operators:
                m.d.comb += message.stores.eq(lanes[0].write.enable)
        if config.parity:
            m.d.comb += self.damaged.eq(message.damaged)
        if config.tile_ports:
            connect_access(m, self.tile, message.tile)
        return message

    def _causes_of(self, lanes: list[CircuitLane]) -> dict[CircuitFlag, Value]:
        """Return the causes of flags that only a node with an interface has."""
        sent = Cat(lane.injection.valid for lane in lanes).any()
        received = Cat(lane.ejection.valid for lane in lanes).any()
        return {
            CircuitFlag.SEND_AND_RECEIVE: self.half_duplex & sent & received,
            CircuitFlag.BAD_ROW: Cat(lane.bad_read for lane in lanes).any() | self.run.overrun,
            CircuitFlag.BAD_WRITE: Cat(lane.written.fails for lane in lanes).any(),
        }

    def _elaborate_flags(self, m: Module, causes: Mapping[CircuitFlag, Value]) -> Signal:
        """Set each flag at the end of its cause's cycle; return them."""
        flags = Signal(max(CircuitFlag) + 1)
        for flag, cause in causes.items():
            with m.If(cause):
                m.d.sync += flags[flag].eq(1)
        m.d.comb += self.flagged.eq(flags.any())
        return flags

    def _elaborate_finished(self, m: Module) -> None:
        """Raise ``finished`` when the words of the last run have been written."""
        ended = Signal(5 if self._config.operators else 3)
        m.d.sync += ended.eq(Cat(self.run.ended, ended))
        m.d.comb += self.finished.eq(ended[-1] & ~self.flagged)

    def _elaborate_tile(self, m: Module, lanes: list[CircuitLane]) -> None:
        """Tell the tile of a word that ends a run: of several lanes, that of the lowest."""
        arrived = Signal(name="arrived_now")
        address = Signal(self._config.address_bits, name="arrived_address")
        held = Signal(name="held_now", reset_less=True)
        m.d.sync += [arrived.eq(0), address.eq(0), held.eq(self.tile.hold)]
        for lane in reversed(lanes):
            with m.If(lane.written.stores & lane.written.last):
                m.d.sync += [arrived.eq(1), address.eq(lane.written.address)]
        runs = ~ResetSignal()
        m.d.comb += [
            self.held.eq(held),
            self.tile.arrived.eq(arrived & runs),
            self.tile.arrived_address.eq(Mux(runs, address, 0)),
            self.tile.finished.eq(self.finished & runs),
            self.tile.running.eq(runs),
            self.tile.program.eq(self.program),
        ]

    def _elaborate_status(self, m: Module, flags: Signal, selected: Value) -> Signal:
        """Return the status word at the host's address, a cycle later; 0 if it asks for none."""
        run, signature = self.run, words_of(self._config, self.router_signature)
        words = {
            StatusWord.FLAGS: flags,
            StatusWord.STEP: run.number,
            StatusWord.SENDER_STATE: Cat(run.begun & ~run.ended, C(0, 1), run.ended),
            **dict(enumerate(signature, int(StatusWord.ARRIVED))),
        }
        return status_answer(m, self._config, self.host, words, selected)
