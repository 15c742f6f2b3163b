"""The combiner: an arriving word and a stored word become one word (docs/router.md, section 19).

::

    cycle t             cycle t + 1                            cycle t + 1 + latency
    arriving word ──► register ─────► operator ──► … registers ──► memory
    its address ──► memory ──► stored word ─┘ ▲                      │
                                              └──── kept, if hit ◄───┘

In the names of signals, ``there`` is the stored word and ``coming`` the arriving word.
"""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Member, Out, Signature

from ...model.network.config import NetworkConfig, bits_for
from .memory_ports import WordRead, WordWrite
from .operators import NEUTRAL_AT_ZERO, combined
from .technology import PLAIN, Technology


def may_hit(config: NetworkConfig) -> bool:
    """Tell whether a word may arrive in the cycle in which its stored word is written.

    It may not if all words arrive on one VC without latency and no host writes during the run: a
    packet's words have successive addresses, and a head flit comes between two packets.
    """
    alone = config.vcs == config.lanes == 1 and not config.operator_latency
    return not alone or config.programs > 0 or config.address_bits == 1


def reads_ahead(config: NetworkConfig, technology: Technology) -> bool:
    """Tell whether the stored word is read when the flit before the arriving word comes.

    Its address is known at that time if all flits are of one VC.
    """
    return bool(config.operators) and technology.look_ahead and not may_hit(config)


class PlaceAhead(Signature):
    """The address of the next stored word; the directions are the receiver's.

    Members
    -------
    enable : Out(1)
        A flit arrives in this cycle.
    source : Out(address_bits)
        The ``source`` of :class:`ArrivingWord` for the next flit, if that flit is of the same
        packet. Valid while ``enable`` is 1.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__({"enable": Out(1), "source": Out(config.address_bits)})


class ArrivingWord(Signature):
    """A payload flit that leaves the network; the directions are the receiver's.

    Members
    -------
    leaves : Out(1)
        High in a cycle in which a payload flit for an address in the message memory arrives.
    enable : Out(1)
        High in the same cycle, if the word must be written.
    address, word : Out
        As for :class:`.WordWrite`. Valid while ``leaves`` is 1.
    operator : Out
        0 if the word replaces the stored word; n if operator n - 1 of the network's list combines
        both. Valid while ``enable`` is 1.
    source : Out(address_bits)
        The address of the stored word. Valid while ``enable`` is 1.
    ahead : Out(PlaceAhead)
        Only with ``ahead``, which has no ``source``: the address of the next stored word.

    """

    def __init__(self, config: NetworkConfig, *, ahead: bool = False) -> None:
        source = (
            {"ahead": Out(PlaceAhead(config))} if ahead else {"source": Out(config.address_bits)}
        )
        super().__init__(
            {
                "leaves": Out(1),
                "enable": Out(1),
                "address": Out(config.address_bits),
                "word": Out(config.flit_width),
                "operator": Out(bits_for(len(config.operators))),
                **source,
            }
        )


class NextWord(Signature):
    """The next payload flit of a packet that has begun to arrive; directions are a receiver's.

    Members
    -------
    combines : Out(1)
        High while a packet is arriving on this VC and its next word will be combined.
    source : Out(address_bits)
        The address of the stored word for that word. Valid while ``combines`` is 1.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__({"combines": Out(1), "source": Out(config.address_bits)})


class Combiner(Component):
    """Writes each arriving word, or an operator's result of the arriving and the stored word.

    Used by :class:`.NetworkInterface`. A stored word includes every word that arrived before, and
    those that lower lanes get in the same cycle. D is the greatest latency of the operators.

    Members
    -------
    words : array of ArrivingWord, In
        The word that arrives at each lane in this cycle.
    reads : array of WordRead, Out
        Reads of the stored words in the message memory, for the next words with
        :func:`reads_ahead`. If the word is written in the same cycle, the read's answer is ignored.
    writes : array of WordWrite, Out
        Writes to the message memory, 1 + D cycles after the word's arrival. If several lanes write
        one address in the same cycle, only the highest lane writes.
    host_word : In(width)
        Only in a network without programs: in reset, the word of ``writes[0]``.
    stores : Out(lanes)
        High while a word of that lane is written, or a higher lane writes to the same address.
    combines : Out(lanes)
        High while the word that arrives at the lane is combined.
    stored : array of WordWrite, In
        All writes to the message memory in this cycle: ``writes``, and those of the host and the
        tile if they share a port.
    damaged : Out(lanes)
        Only with parity: high if the stored word that is combined is not the word written there.
    next_words : array of NextWord, In
        Only with D > 0: the next word of each VC.
    accept : Out(1)
        Only with D > 0: high unless a next word needs a word still on its way to the memory.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        self._reads_ahead = ahead = reads_ahead(config, technology)
        bits, width, lanes = config.address_bits, config.flit_width, config.lanes
        read = WordRead(bits, width, parity=config.parity, enabled=ahead)
        super().__init__(
            {
                "words": In(ArrivingWord(config, ahead=ahead)).array(lanes),
                "reads": Out(read).array(lanes),
                "writes": Out(WordWrite(bits, width)).array(lanes),
                **({} if config.programs else {"host_word": In(width)}),
                "stores": Out(lanes),
                "combines": Out(lanes),
                "stored": In(WordWrite(bits, width)).array(lanes),
                **({"damaged": Out(lanes)} if config.parity else {}),
                **self._members_of_waiting(),
            }
        )

    def _members_of_waiting(self) -> dict[str, Member]:
        """Return the members that only a network with slow operators has."""
        if not self._config.operator_latency:
            return {}
        return {"next_words": In(NextWord(self._config)).array(self._config.vcs), "accept": Out(1)}

    def elaborate(self, _platform: object) -> Module:
        """Build a pipeline for each lane; higher lanes use the results of lower lanes."""
        m = Module()
        results: list[Value] = []
        for lane, (word, write) in enumerate(zip(self.words, self.writes, strict=True)):
            m.d.comb += self.combines[lane].eq(word.enable & word.operator.any())
            if self._reads_ahead:
                there = self._elaborate_there_ahead(m)
            else:
                there = self._elaborate_there(m, lane, results)
            came = self._registered(m, word)
            results.append(self._result(m, lane, there, came))
            stages = self._stages(m, came)
            m.d.comb += [
                self.stores[lane].eq(stages[-1].enable),
                write.enable.eq(stages[-1].enable & ~self._is_overtaken(m, lane)),
                write.address.eq(stages[-1].address),
                write.word.eq(results[lane]),
            ]
            if self._config.operator_latency:
                self._elaborate_accept(m, stages[:-1])
        return m

    def _registered(self, m: Module, word) -> data.View:
        """Return the word that arrived in the last cycle."""
        names = ("leaves", "enable", "address", "word", "operator")
        members = ArrivingWord(self._config).members
        layout = data.StructLayout({name: members[name].shape for name in names})
        came = Signal(layout)
        for name in names:
            m.d.sync += came[name].eq(getattr(word, name))
        return came

    def _stages(self, m: Module, came: data.View) -> list[data.View]:
        """Return the addresses of words under way, from the latest to the word written now."""
        layout = data.StructLayout({"leaves": 1, "enable": 1, "address": self._config.address_bits})
        stages = [came]
        for stage in range(1, self._config.operator_latency + 1):
            later = Signal(layout, name=f"stage_{stage}")
            for name, _ in layout:
                m.d.sync += later[name].eq(stages[-1][name])
            stages.append(later)
        return stages

    def _elaborate_there(self, m: Module, lane: int, lower: list[Value]) -> Value:
        """Return the stored word for the word that arrived in the last cycle.

        The first that exists: the result of a lower lane whose word arrived in the same cycle; the
        word written during the memory's read; the word read from the memory.
        """
        word, there = self.words[lane], self.reads[lane].word
        m.d.comb += self.reads[lane].address.eq(word.source)
        hits: list[Value] = []
        if may_hit(self._config):
            hits = [self._hits(store, word.source) for store in self.stored]
            kept = Signal(self._config.flit_width, name=f"kept_{lane}", reset_less=True)
            for store, hit in zip(self.stored, hits, strict=True):
                with m.If(hit):
                    m.d.sync += kept.eq(store.word)
            is_kept = Signal(name=f"is_kept_{lane}")
            m.d.sync += is_kept.eq(Cat(hits).any())
            there = Mux(is_kept, kept, there)
            for below, result in enumerate(lower):
                other = self.words[below]
                was_hit = Signal(name=f"hits_{below}_of_{lane}")
                hits.append(self._hits(other, word.source))
                m.d.sync += was_hit.eq(hits[-1])
                there = Mux(was_hit, result, there)
        if self._config.parity:
            looks = Signal(name=f"looks_{lane}")
            m.d.sync += looks.eq(self.combines[lane] & ~Cat(hits).any())
            m.d.comb += self.damaged[lane].eq(looks & self.reads[lane].damaged)
        return there

    def _hits(self, written: Any, place: Value) -> Value:
        """Tell whether ``written`` writes to that address."""
        return written.enable & (written.address == place)

    def _elaborate_there_ahead(self, m: Module) -> Value:
        """Return the stored word, read when the flit before arrived; 0 if it is not combined.

        ::

            flit before       word         next cycle
            address ──► memory ──► register ──► operator ──► memory
            hit? ──► kept ──────► kept longer ──┘

        A hit is a write to that address in the cycle of the read. A word written after the read was
        carried by the flit before: it is of the same packet, and has another address.
        """
        word, read, stored = self.words[0], self.reads[0], self.stored[0]
        there, kept, kept_longer = (
            Signal(self._config.flit_width, name=name, reset_less=True)
            for name in ("read_ahead", "kept", "kept_longer")
        )
        hit, was_hit, combines = Signal(name="hit"), Signal(name="was_hit"), word.operator.any()
        m.d.comb += [read.address.eq(word.ahead.source), read.enable.eq(word.ahead.enable)]
        with m.If(word.ahead.enable):
            m.d.sync += [hit.eq(self._hits(stored, word.ahead.source)), kept.eq(stored.word)]
        m.d.sync += [
            there.eq(Mux(combines, read.word, 0)),
            kept_longer.eq(kept),
            was_hit.eq(hit & combines),
        ]
        # 0 in reset: the host's word then passes the operator unchanged, as an arriving word.
        return Mux(ResetSignal(), 0, Mux(was_hit, kept_longer, there))

    def _result(self, m: Module, lane: int, there: Value, came: data.View) -> Value:
        """Return the word that a lane writes, 1 + D cycles after arrival; in reset, the host's."""
        config, latency = self._config, self._config.operator_latency
        replacing = Signal(config.flit_width, name=f"replacing_{lane}")
        operator = Signal.like(came.operator, name=f"operator_{lane}")
        written, there_now = (
            Signal(config.flit_width, name=f"{name}_{lane}") for name in ("written", "there")
        )
        m.d.comb += [
            there_now.eq(there),
            replacing.eq(self._later(m, came.word, latency)),
            operator.eq(self._later(m, came.operator, latency)),
        ]
        if not (config.programs or lane):
            # The host's word replaces the arriving word, so that no gate follows the carry chain.
            with m.If(ResetSignal()):
                m.d.comb += [replacing.eq(self.host_word), operator.eq(0)]
            operator = self._kept(m, operator)
        coming = came.word if latency else replacing
        results = []
        for place, each in enumerate(config.operators):
            result = combined(m, f"own_{place}_{lane}", each, there_now, coming)
            results.append(self._later(m, result, latency - each.latency))
        replaced = self._replaced(results, replacing)
        with m.Switch(operator):
            for place, result in enumerate(results):
                if result is not replaced:
                    with m.Case(place + 1):
                        m.d.comb += written.eq(result)
            with m.Default():
                m.d.comb += written.eq(replaced)
        return written

    def _replaced(self, results: list[Value], replacing: Signal) -> Value:
        """Return the arriving word: the result of an operator with 0, or the word itself."""
        if self._reads_ahead:
            for operator, result in zip(self._config.operators, results, strict=True):
                if operator.built_in and operator.function in NEUTRAL_AT_ZERO:
                    return result
        return replacing

    def _kept(self, m: Module, value: Signal) -> Signal:
        """Return ``value`` through cells that synthesis keeps as inputs of the next gates."""
        if self._technology.kept_cell is None:
            return value
        kept = Signal.like(value)
        for place, (bit, kept_bit) in enumerate(zip(value, kept, strict=True)):
            m.submodules[f"kept_{place}"] = self._technology.kept_cell(bit, kept_bit)
        return kept

    def _later(self, m: Module, value: Value, cycles: int) -> Value:
        """Return ``value``, this many cycles late."""
        for _ in range(cycles):
            register = Signal(len(value), reset_less=True)
            m.d.sync += register.eq(value)
            value = register
        return value

    def _is_overtaken(self, m: Module, lane: int) -> Value:
        """Tell whether a higher lane writes to the same address in this cycle."""
        word = self.words[lane]
        overtaken = Signal(name=f"overtaken_{lane}")
        higher = self.words[lane + 1 :]
        m.d.sync += overtaken.eq(
            Cat(other.enable & (other.address == word.address) for other in higher).any()
        )
        return overtaken

    def _elaborate_accept(self, m: Module, on_the_way: list[data.View]) -> None:
        """Accept no flit if a VC's next word needs a word still on its way to the memory."""
        waits = [
            next_word.combines & word.leaves & (word.address == next_word.source)
            for next_word in self.next_words
            for word in on_the_way
        ]
        m.d.comb += self.accept.eq(~Cat(waits).any())
