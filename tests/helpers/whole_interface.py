"""A network interface by the tables of docs/router.md, section 22, cycle by cycle.

The page decides which row of a table applies, and the row's actions. The meanings of the page's
words are written here, without the hardware's sources or the cycle model.
"""

from collections.abc import Callable, Sequence

from eyecast.model.network.config import NetworkConfig

from .combiner_bench import MEANINGS
from .interface_parts import Lane, Later, Leaving, Packet, Row, Seen, after
from .router_page import cells, section

STATES = ("control", "ready", "header", "payload", "ended", "failed", "expect")
"""States of a sender, by the numbers of section 4."""
CONTROL, READY, HEADER, PAYLOAD, ENDED, _, EXPECT = STATES

State = list[tuple[str, str, str]]
"""Condition, action and next state of each row of a state."""


def states_of(heading: str) -> dict[str, State]:
    """Return the rows of the first table below a heading, by state, in order."""
    states: dict[str, State] = {}
    for state, *row in cells(section(heading).replace("`", "")):
        if state[0] == "*":
            condition, action, after = row
            states.setdefault(state.strip("*"), []).append((condition, action, after.strip("*")))
    return states


SENDER = states_of("### Sender, all variants")
RECEIVER = states_of("### Receiver, all variants")


class Interface:
    """A network interface that carries out the page's tables."""

    def __init__(
        self,
        config: NetworkConfig,
        tables: Sequence[Sequence[int]],
        expected: Sequence[int],
        memory: Sequence[int],
        *,
        words: int,
        barrier: bool,
        half_duplex: bool,
        awaited: int = 0,
        refusal: int = 0,
    ) -> None:
        self.config = config
        links = range(1, config.topology.ports)
        self.lanes = [
            Lane(config, table, words, links[number : number + 1] if config.all_port else links)
            for number, table in enumerate(tables)
        ]
        for lane, mask in zip(self.lanes, expected, strict=True):
            lane.credits = [config.depth] * config.vcs
            lane.state = EXPECT if config.programs else CONTROL
            # With a controller ``expected`` is in the table.
            lane.expected = 0 if config.programs else mask
            lane.receiver = dict.fromkeys(range(config.vcs), "between")
        self.memory, self.memory_before = list(memory), list(memory)
        self.barrier, self.half_duplex = barrier, half_duplex
        self.awaited, self.refusal, self.received = awaited, refusal, 0
        self.cycle, self.step, self.hold = 0, 1, False
        self.stalled = 0
        self.flags: frozenset[str] = frozenset()
        self.delay = 1 + config.operator_latency if config.operators else 0
        self.later: list[Later] = []
        self.left: list[tuple[int, int]] = []
        self.rows_seen: set[tuple[str, str, str]] = set()

    # ---- A cycle --------------------------------------------------------------------------------

    def cycle_of(self, advance: bool, leaving: Sequence[Leaving | None]) -> Seen:
        """Carry out a cycle up to its end; :meth:`end` then changes the state."""
        self.causes: set[str] = set()
        self.effects: list[Callable[[], None]] = []
        self.written: list[tuple[Lane, int]] = []
        over, finished = self._over(), self._finished()
        states = [lane.state for lane in self.lanes]
        accept = self.accepts()
        self.rises = advance if self.barrier else over and not finished
        stalled, injected = 0, []
        for lane in self.lanes:
            flit, waited = self._send(lane)
            injected.append(flit)
            stalled += waited
        reads = self._reads(leaving)
        for lane, each in zip(self.lanes, leaving, strict=True):
            self._receive(lane, each)
        writes = any(each.writes is self.lanes[0] for each in self._due())
        before, self.stalled = self.stalled, self.stalled + stalled
        return Seen(
            states,
            injected,
            over,
            finished,
            self.flags,
            self.step,
            accept,
            before,
            [lane.arrived for lane in self.lanes],
            not reads,
            not writes,
            [each.ends for each in self._due() if each.ends],
        )

    def _due(self) -> list[Later]:
        return [each for each in self.later if each.cycle == self.cycle]

    def end(
        self,
        credits: Sequence[Sequence[int]],
        *,
        hold: bool,
        causes: Sequence[str],
        tile_write: tuple[int, int] | None = None,
    ) -> None:
        """End the cycle; ``credits`` are, by lane, the VCs that get a credit back."""
        for effect in self.effects:
            effect()
        self.memory_before = list(self.memory)
        for lane in self.lanes:
            lane.come_before = lane.come
        for each in self._due():
            each.effect()
        self.later = [each for each in self.later if each.cycle > self.cycle]
        if tile_write is not None:
            address, word = tile_write
            self.memory[address] = word
        for lane, vcs in zip(self.lanes, credits, strict=True):
            for vc in vcs:
                lane.credits[vc] += 1
            if self.rises:
                lane.come = 0
        if self.rises:
            self.step = (self.step + 1) % (1 << self.config.step_bits)
        self.flags |= {*self.causes, *causes}
        self.hold = hold
        self.left = [each for each in self.left if each[0] > self.cycle - 8]
        self.cycle += 1

    def _reads(self, leaving: Sequence[Leaving | None]) -> bool:
        """Tell whether the network needs the read port of lane 1 in this cycle (section 17)."""
        lane, flit = self.lanes[0], leaving[0]
        due = lane.state == READY and lane.row.fields["step"] == self.step
        offers = (due and not self.flags and not self.hold) or lane.state in (HEADER, PAYLOAD)
        combines = (
            flit is not None and flit.delivery is None and self._combines(lane.packets[flit.vc])
        )
        return offers or combines

    def _over(self) -> bool:
        sent = all(
            lane.state == ENDED or (lane.state == READY and lane.row.fields["step"] > self.step)
            for lane in self.lanes
        )
        received = not any((lane.expected & ~lane.arrived) >> self.step & 1 for lane in self.lanes)
        return not self.flags and not self.hold and sent and received

    def _finished(self) -> bool:
        return (
            not self.flags
            and all(lane.state == ENDED for lane in self.lanes)
            and not any(lane.expected & ~lane.arrived for lane in self.lanes)
            and self.received >= self.awaited
        )

    def accepts(self) -> bool:
        """Tell whether the interface accepts a flit in this cycle."""
        if self.refusal >> self.cycle % 16 & 1:
            return False
        latency, (lane, *_) = self.config.operator_latency, self.lanes
        recent = {address for cycle, address in self.left if cycle >= self.cycle - latency}
        return not any(
            state == "within" and self._combines(packet) and self._there(packet) in recent
            for state, packet in ((lane.receiver[vc], each) for vc, each in lane.packets.items())
        )

    def _combines(self, packet: Packet) -> bool:
        return packet.operator > 0 and self._can_be_written(packet)

    # ---- Sender ---------------------------------------------------------------------------------

    def _holds(self, lane: Lane, condition: str) -> bool:
        """Tell whether a condition of the sender's table holds."""
        config, row = self.config, lane.row
        conditions: dict[str, Callable[[], bool]] = {
            "otherwise": lambda: True,
            "beyond": lambda: config.programs > 0 and lane.place >= lane.words,
            "last word of expected": lambda: lane.place == config.mask_words - 1,
            "end row": lambda: not lane.control and not lane.word & (1 << config.step_bits) - 1,
            "last control word": lambda: len(lane.control) == config.table.control_words - 1,
            "held": lambda: bool(self.flags) or self.hold,
            "bad row": lambda: lane.is_bad(self.step),
            "not due": lambda: (
                row.fields["step"] > self.step or row.fields["start"] > self.cycle + 1
            ),
            "no credit": lambda: not config.contention_free and lane.credits[lane.vc] == 0,
            "header flits follow": lambda: row.sent < row.headers - 1,
            "payload follows": lambda: row.sent < row.headers + row.fields["length"] - 1,
            "not there": lambda: self._not_there(row),
        }
        return conditions[condition]()

    def _not_there(self, row: Row) -> bool:
        stream = row.fields.get("stream", 0)
        if not stream:
            return False
        word, come = row.sent - row.headers, self.lanes[stream - 1].come_before
        return word >= row.fields["lead"] and word - row.fields["lead"] >= come

    def _send(self, lane: Lane) -> tuple[tuple[int, int, bool, bool] | None, bool]:
        """Carry out a sender's cycle; return its injected flit, and whether it was stalled."""
        row = next(row for row in SENDER[lane.state] if self._holds(lane, row[0]))
        self.rows_seen.add((lane.state, *row[:2]))
        _, action, after_it = row
        flit, stalls = None, False
        match action:
            case "nothing" | "wait":
                lane.waited = False
            case "wait, stalled":
                stalls = True
            case "set bad_row":
                self.causes.add("bad_row")
            case "load the word" if lane.state == EXPECT:
                self.effects.append(self._load_expected(lane))
            case "load the word":
                self.effects.append(lane.take_control_word)
            case "begin, inject a header flit":
                self._begin(lane)
                flit = self._inject(lane)
            case "inject a header flit" | "inject a payload word":
                flit = self._inject(lane)
            case _:
                raise AssertionError(f"the page has an action {action!r}")
        has_waited, lane.waited = lane.waited and flit is not None, stalls
        self.effects.append(lambda: setattr(lane, "state", after_it))
        return flit, has_waited

    def _load_expected(self, lane: Lane) -> Callable[[], None]:
        def load() -> None:
            lane.expected |= lane.word << lane.place * self.config.flit_width
            lane.place += 1

        return load

    def _begin(self, lane: Lane) -> None:
        receives = any(each.expected >> self.step & 1 for each in self.lanes)
        if self.half_duplex and receives and not lane.row.fields.get("stream", 0):
            self.causes.add("send_and_receive")

    def _inject(self, lane: Lane) -> tuple[int, int, bool, bool]:
        row, config = lane.row, self.config
        head = row.sent < row.headers
        words = row.flits if head else self.memory_before
        data = words[row.sent if head else lane.address(row.sent - row.headers)]
        tail = row.sent == row.headers + row.fields["length"] - 1

        def leave() -> None:
            row.sent += 1
            lane.place += head
            if not config.contention_free:
                lane.credits[lane.vc] -= 1

        self.effects.append(leave)
        return lane.vc, data, head, tail

    # ---- Receiver -------------------------------------------------------------------------------

    def _there(self, packet: Packet) -> int:
        """Return the address of x, the stored word, for the packet's next word."""
        across = packet.operator > 0 and packet.operator % 2 == 0
        return packet.address ^ (across << self.config.address_bits - 1)

    def _can_be_written(self, packet: Packet) -> bool:
        most = self.config.message_words
        return (
            packet.address < most
            and self._there(packet) < most
            and packet.operator <= 2 * len(self.config.operators)
        )

    def _receive(self, lane: Lane, flit: Leaving | None) -> None:
        """Carry out a receiver's cycle, for each VC."""
        for vc in range(self.config.vcs):
            here = flit if flit is not None and flit.vc == vc else None
            packet = lane.packets.get(vc)
            cannot = here is not None and packet is not None and not self._can_be_written(packet)
            holds = {
                "no flit": here is None,
                "header and tail": here is not None and here.delivery is not None and here.tail,
                "header": here is not None and here.delivery is not None,
                "tail, cannot be written": here is not None and here.tail and cannot,
                "tail": here is not None and here.tail,
                "cannot be written": cannot,
                "otherwise": True,
            }
            state = lane.receiver[vc]
            condition, actions, after_it = next(row for row in RECEIVER[state] if holds[row[0]])
            self.rows_seen.add((state, condition, actions))
            for action in actions.split(", "):
                if here is not None:
                    self._act(lane, vc, here, action)
            self.effects.append(
                lambda vc=vc, after_it=after_it: lane.receiver.__setitem__(vc, after_it)
            )

    def _act(self, lane: Lane, vc: int, flit: Leaving, action: str) -> None:
        """Carry out the action of a row of the receiver's table."""
        if action == "read the delivery":
            assert flit.delivery is not None
            lane.packets[vc] = flit.delivery
            return
        packet = lane.packets[vc]
        address, there, step = packet.address, self._there(packet), packet.step
        due = self.cycle + self.delay
        match action:
            case "set bad_write":
                self.later.append(Later(due, lambda: self.causes.add("bad_write")))
            case "write the word":
                operator = packet.operator

                def write() -> None:
                    self._write(lane, address, there, operator, flit.word, step)

                self.later.append(Later(due, write, writes=lane))
            case "end the packet":
                self.later.append(Later(due, lambda: self._end_packet(lane, step), ends=step))
                return
            case _:
                raise AssertionError(f"the page has an action {action!r}")
        self.left.append((self.cycle, address))
        packet.address = after(address, 1, packet.window)

    def _write(
        self, lane: Lane, address: int, there: int, operator: int, word: int, step: int
    ) -> None:
        if operator:
            name = self.config.operators[(operator - 1) // 2].name
            word = MEANINGS[name](self.memory[there], word)
        self.memory[address] = word
        lane.come += step == self.step

    def _end_packet(self, lane: Lane, step: int) -> None:
        if step == 0:
            if self.config.timed_rows:
                if self.received == self.awaited:
                    self.causes.add("unexpected_receive")
                self.received += 1
            return
        missing = (lane.expected & ~lane.arrived) >> step & 1
        if not missing or (self.barrier and step != self.step):
            self.causes.add("unexpected_receive")
        lane.arrived |= 1 << step
