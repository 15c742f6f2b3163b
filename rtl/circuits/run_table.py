"""The run table of a node: which entry is current (docs/router.md, section 23).

::

    host ──► memory ──► read ──► ahead ──► current ──► interface, in cycle c
                                                └──► setting ──► router, for cycle c + 2

The memory has an output register, ``ahead``. All stages up to the current entry move on together,
in the last cycle of each run. So an entry can follow an entry of one cycle at once.
"""

from amaranth.hdl import C, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Member, Out, Signature

from ...model.network.config import NetworkConfig, bits_for
from ..parts.memory_ports import WordWrite, is_damaged, stored
from ..parts.run_entry import BY_LANE, DURATION_BITS, entry_bits, entry_fields
from ..parts.table import ProgramPlace
from ..parts.technology import PLAIN, Technology

SETTING = ("codes", "ejections", "first", "second", "operator")
"""Fields of an entry that the router follows."""

PLACES = ("send_address", "receive", "receive_address")
"""Fields of an entry that the interface follows."""


def _layout(config: NetworkConfig, *names: str) -> data.StructLayout:
    """Return the layout of the fields of an entry among ``names``, in the order of the entry."""
    return data.StructLayout(
        {
            name: data.ArrayLayout(width, count) if name in ("codes", *BY_LANE) else width
            for name, (count, width) in entry_fields(config).items()
            if name in names
        }
    )


def entry_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of an entry."""
    return _layout(config, *entry_fields(config))


def setting_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of the fields that the router follows."""
    return _layout(config, *SETTING)


def exceeds(field: Value, most: int) -> Value:
    """Return 1 if a field is greater than ``most``."""
    return C(0) if most == (1 << len(field)) - 1 else field > most


def joins(config: NetworkConfig, setting: data.View) -> Value:
    """Return 1 if a setting joins two inputs: if its operator is one of the network."""
    return setting.operator.any() & ~exceeds(setting.operator, len(config.operators))


def code_of(config: NetworkConfig, setting: data.View, output: int) -> Value:
    """Return the code of an output port; an all-port network has none for port 0."""
    code: Value = setting.codes[output - config.all_port]
    return code


class CurrentRun(Signature):
    """Signals from a run table to the network interface, with the table's directions.

    Members
    -------
    sends : Out(lanes)
        Bit by lane: high in a cycle in which the current entry reads a word of the message memory.
    send_address : Out
        By lane: the address of that word. Valid while the lane's bit of ``sends`` is high.
    receive : Out
        By lane: the field of the entry that was current in the last cycle. Valid from cycle 3 on.
    receive_address : Out
        By lane: the address for a word of that entry and cycle. Valid from cycle 3 on.
    number : Out
        The number of the current entry; 0 in cycles 0 and 1.
    begun : Out(1)
        High from cycle 2 on.
    ended : Out(1)
        High from the first cycle in which the end entry is current, or in which there is no entry.
    overrun : Out(1)
        High while there is no entry, because the table has no end.
    receive_last : Out(1)
        Only with tile ports: the last cycle was the last one of a run. Valid from cycle 3 on.
    damaged : Out(1)
        Only with parity: high in the first cycle in which a damaged entry is current.

    """

    def __init__(self, config: NetworkConfig) -> None:
        fields = entry_layout(config).members
        super().__init__(
            {
                "sends": Out(config.lanes),
                **{name: Out(fields[name]) for name in PLACES},
                "number": Out(bits_for(config.table_words)),
                "begun": Out(1),
                "ended": Out(1),
                "overrun": Out(1),
                **({"receive_last": Out(1)} if config.tile_ports else {}),
                **({"damaged": Out(1)} if config.parity else {}),
            }
        )


class RunTable(Component):
    """A table of runs, which the host writes and which tells router and interface what to do.

    Used by :class:`.CircuitTile`.

    Members
    -------
    write : In(WordWrite)
        Entries from the host. Without programs only in reset, and a cycle of reset without a write
        follows them; with programs never one of the program that runs.
    base, end : In
        Only with programs: the number of the running program's first entry, and the number after
        its last one. Constant from the last cycle of reset on.
    run : Out(CurrentRun)
        The current entry.
    setting : Out
        What the router does in the next cycle: the setting of the entry that was current in the
        last cycle. All fields are 0 if none was, or the end entry.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        super().__init__(
            {
                "write": In(WordWrite(bits_for(config.table_words - 1), entry_bits(config))),
                **(self._members_of_programs() if config.programs else {}),
                "run": Out(CurrentRun(config)),
                "setting": Out(setting_layout(config)),
            }
        )

    def _members_of_programs(self) -> dict[str, Member]:
        place = ProgramPlace(self._config).members
        return {name: place[name].flip() for name in ("base", "end")}

    def elaborate(self, _platform: object) -> Module:
        """Build the memory, the stages behind it, and the count of the cycles of a run."""
        m = Module()
        last = Signal()
        # Bit 0 is set from cycle 1 on, bit 1 from cycle 2 on.
        begun = Signal(2)
        advance = Signal()
        m.d.comb += [advance.eq(~begun[1] | last), self.run.begun.eq(begun[1])]
        m.d.sync += begun.eq(Cat(1, begun))
        ahead, damaged = self._elaborate_memory(m, advance)
        runs_out = self._elaborate_number(m, last, begun)
        follows = begun[0] & ~runs_out
        active = self._elaborate_duration(m, ahead, advance, last, follows)
        m.d.comb += self.run.ended.eq(begun[1] & ~active)
        self._elaborate_current(m, ahead, advance, active)
        if self._config.parity:
            m.d.sync += self.run.damaged.eq(advance & follows & damaged)
        if self._config.tile_ports:
            m.d.sync += self.run.receive_last.eq(last)
        return m

    def _elaborate_memory(self, m: Module, advance: Signal) -> tuple[data.View, Value]:
        """Return the entry after the current one, in the output register of the memory.

        The second value is 1 if that entry is damaged. The first entry is read in the last cycle of
        reset, so one cycle of reset is enough.
        """
        config = self._config
        m.submodules.run_memory = memory = Memory(
            shape=entry_bits(config) + config.parity,
            depth=config.table_words,
            init=[],
            attrs=self._technology.memory_attributes,
        )
        write_port, read_port = memory.write_port(), memory.read_port()
        first = self.base if config.programs else 0
        address = Signal(range(config.table_words), init=1, reset_less=config.programs > 0)
        ahead = Signal(entry_layout(config), reset_less=True)
        m.d.comb += [
            write_port.addr.eq(self.write.address),
            write_port.data.eq(stored(self.write.word, parity=config.parity)),
            write_port.en.eq(self.write.enable),
            read_port.addr.eq(Mux(ResetSignal(), first, address)),
            read_port.en.eq(advance | ResetSignal()),
        ]
        damaged: Value = C(0)
        if config.parity:
            damaged = Signal(reset_less=True, name="ahead_damaged")
        with m.If(advance):
            m.d.sync += [address.eq(address + 1), ahead.eq(read_port.data)]
            if config.parity:
                m.d.sync += damaged.eq(is_damaged(read_port.data))
        if config.programs:
            with m.If(ResetSignal()):
                m.d.sync += address.eq(first + 1)
        return ahead, damaged

    def _elaborate_number(self, m: Module, last: Signal, begun: Signal) -> Value:
        """Count the entries; return 1 if no entry follows the current one in the next cycle."""
        number = Signal.like(self.run.number)
        overrun = Signal()
        final = self._config.table_words - 1
        if self._config.programs:
            final = self.end - 1
        runs_out = last & (number == final)
        m.d.comb += [self.run.number.eq(number), self.run.overrun.eq(overrun)]
        with m.If(last):
            m.d.sync += [number.eq(number + 1), overrun.eq(runs_out)]
        if self._config.programs:
            with m.If(begun[0] & ~begun[1]):
                m.d.sync += number.eq(self.base)
        return runs_out

    def _elaborate_duration(
        self, m: Module, ahead: data.View, advance: Signal, last: Signal, follows: Value
    ) -> Signal:
        """Set ``last`` in the last cycle of each run; return 1 while a run is current.

        ``follows`` is 1 if the entry ahead is one of the table.
        """
        left = Signal(DURATION_BITS, reset_less=True)
        active = Signal()
        with m.If(advance):
            m.d.sync += [
                left.eq(ahead.duration),
                active.eq(follows & ahead.duration.any()),
                last.eq(follows & (ahead.duration == 1)),
            ]
        with m.Else():
            m.d.sync += [left.eq(left - 1), last.eq(active & (left == 2))]
        return active

    def _elaborate_current(
        self, m: Module, ahead: data.View, advance: Signal, active: Signal
    ) -> None:
        """Keep the current entry, with the addresses of this cycle, and the setting behind it."""
        config, run = self._config, self.run
        setting = Signal(setting_layout(config), reset_less=True, name="current_setting")
        send_address = Signal.like(run.send_address, reset_less=True)
        receive_address = Signal.like(run.receive_address, reset_less=True)
        receive = Signal.like(run.receive, reset_less=True)
        late_address, late_receive = Signal.like(receive_address), Signal.like(receive)
        late_setting = Signal(setting_layout(config), name="late_setting")
        fields = setting_layout(config).members
        with m.If(advance):
            m.d.sync += [setting[name].eq(ahead[name]) for name in fields]
            m.d.sync += [
                send_address.eq(ahead.send_address),
                receive_address.eq(ahead.receive_address),
                receive.eq(ahead.receive),
            ]
        with m.Else():
            for address in (send_address, receive_address):
                m.d.sync += [each.eq(each + 1) for each in address]
        with m.If(active):
            m.d.sync += late_setting.eq(setting)
        with m.Else():
            m.d.sync += late_setting.eq(0)
        m.d.sync += [late_address.eq(receive_address), late_receive.eq(receive)]
        sends = Cat(self._reads(setting, lane) for lane in range(config.lanes))
        m.d.comb += [
            run.sends.eq(active.replicate(config.lanes) & sends),
            run.send_address.eq(send_address),
            run.receive.eq(late_receive),
            run.receive_address.eq(late_address),
            self.setting.eq(late_setting),
        ]

    def _reads(self, setting: data.View, lane: int) -> Value:
        """Return 1 if a setting names the input of a lane; its code is 1."""
        config = self._config
        outputs = [1 + lane] if config.all_port else range(1, config.topology.ports)
        reads = Cat(code_of(config, setting, output) == 1 for output in outputs)
        if not config.operators or lane:
            return reads.any()
        operands = (setting.first == 1) | (setting.second == 1)
        return reads.any() | joins(config, setting) & operands
