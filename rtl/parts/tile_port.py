"""The port by which a tile uses its node's message memory (docs/router.md, section 17)."""

from amaranth.hdl import C, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib.wiring import Component, In, Member, Out, PureInterface, Signature

from ...model.network.config import NetworkConfig
from .table import PROGRAM_BITS


def _arrival(config: NetworkConfig) -> dict[str, Member]:
    """Return the members that say what has arrived."""
    if config.circuits:
        return {"arrived_address": In(config.address_bits)}
    return {name: In(config.step_bits) for name in ("arrived_step", "step")}


class PacketArrival(Signature):
    """The end of a packet; the directions are the receiver's.

    Members
    -------
    valid : Out(1)
        High in the cycle in which a packet's tail arrives.
    step : Out(step_bits)
        The step in the packet's header flit. Valid while ``valid`` is 1, and while a word of the
        packet arrives.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__({"valid": Out(1), "step": Out(config.step_bits)})


class MessageAccess(Signature):
    """A tile's access to its node's message memory; the directions are the tile's.

    Members
    -------
    write_valid, write_address, write_data : Out
        High while the tile has a word to write; the word's address; the word.
    write_ready : In(1)
        High in a cycle in which the node takes the word to write, if there is one. As
        ``read_ready``, it depends on no other member in the same cycle.
    read_valid, read_address : Out
        High while the tile has a word to read; the word's address.
    read_ready : In(1)
        High in a cycle in which the node takes the request to read, if there is one.
    read_answered, read_data : In
        High in the cycle after a request was taken; the word, valid then.
    read_damaged : In(1)
        Only with parity: high if the word shown is not the word that was written.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                "write_valid": Out(1),
                "write_ready": In(1),
                "write_address": Out(config.address_bits),
                "write_data": Out(config.flit_width),
                "read_valid": Out(1),
                "read_ready": In(1),
                "read_address": Out(config.address_bits),
                "read_answered": In(1),
                "read_data": In(config.flit_width),
                **({"read_damaged": In(1)} if config.parity else {}),
            }
        )


class TilePort(Signature):
    """A tile's access to its node's message memory and state; the directions are the tile's.

    Members
    -------
    write_valid, write_ready, … : Out, In
        As for :class:`MessageAccess`.
    hold : Out(1)
        High to keep the node, in the next cycle, from beginning a row and from ending its step.
        With circuits: high to keep all nodes from starting.
    arrived, arrived_step : In
        High for one cycle after a packet of a step has arrived; its step.
    step : In(step_bits)
        The node's step, in every cycle.
    arrived_address : In(address_bits)
        Only with circuits, which have no steps: while ``arrived`` is high, the address of the last
        word of a run, written in the last cycle; otherwise 0.
    finished : In(1)
        High when the node has done its part of the program.
    running : In(1)
        High while the core is not in reset.
    program : In(4)
        The number of the program that is running or has run.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                **MessageAccess(config).members,
                "hold": Out(1),
                "arrived": In(1),
                **_arrival(config),
                "finished": In(1),
                "running": In(1),
                "program": In(PROGRAM_BITS),
            }
        )


def connect_access(m: Module, tile: PureInterface, access: PureInterface) -> None:
    """Connect the message memory's members of a tile's port to ``access``, and its answers back."""
    for name, member in access.signature.members.items():
        here, there = getattr(tile, name), getattr(access, name)
        m.d.comb += there.eq(here) if member.flow == In else here.eq(there)


class Doorbell(Component):
    """Tells the tile of arrived packets, one per cycle. Used by :class:`.NetworkInterface`.

    Members
    -------
    arrivals : array of PacketArrival, In
        The end of a packet at each lane, as for :class:`.Receiver`.
    arrived, step : Out
        ``arrived`` and ``arrived_step`` of :class:`TilePort`. If several packets wait, the one of
        the lowest lane comes first, and of a lane the one of the lowest step.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(
            {
                "arrivals": In(PacketArrival(config)).array(config.lanes),
                "arrived": Out(1),
                "step": Out(config.step_bits),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the output register and, for several lanes, a bit for each lane and step."""
        m = Module()
        # ``arrived`` is low in reset, and so high in the cycle after reset at the earliest.
        arrived, step = Signal(name="arrived"), Signal(self._config.step_bits, name="step")
        if self._config.lanes == 1:
            (arrival,) = self.arrivals
            m.d.sync += [arrived.eq(arrival.valid & (arrival.step != 0)), step.eq(arrival.step)]
        else:
            first = self._elaborate_waiting(m)
            m.d.sync += [arrived.eq(first.any()), step.eq(self._step_of(first))]
        m.d.comb += [self.arrived.eq(arrived & ~ResetSignal()), self.step.eq(step)]
        return m

    def _elaborate_waiting(self, m: Module) -> Signal:
        """Return the first waiting packet, one-hot by lane and step, and take it from the queue."""
        steps = 1 << self._config.step_bits
        waiting = Signal(len(self.arrivals) * steps)
        rings, first = Signal.like(waiting), Signal.like(waiting)
        for lane, arrival in enumerate(self.arrivals):
            # No step has the number 0.
            now = Cat(C(0, 1), *(arrival.step == step for step in range(1, steps)))
            m.d.comb += rings[lane * steps : (lane + 1) * steps].eq(
                waiting[lane * steps : (lane + 1) * steps] | Mux(arrival.valid, now, 0)
            )
        m.d.comb += first.eq(rings & -rings)
        m.d.sync += waiting.eq(rings & ~first)
        return first

    def _step_of(self, first: Signal) -> Value:
        """Return the step's number of a packet that is one-hot by lane and step."""
        bits = self._config.step_bits
        return Cat(
            Cat(first[place] for place in range(len(first)) if place >> bit & 1).any()
            for bit in range(bits)
        )
