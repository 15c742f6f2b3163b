"""The router of a network with circuits (docs/router.md, section 23).

::

    link in ──► input register ──┬──► crossbar ──► link out
                                 └──► operators ──► sum register ──► crossbar

Each cycle has a setting, which says what every output takes. The router decodes it one cycle
earlier.
"""

from amaranth.hdl import C, Cat, Module, Signal, Value
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .arbiter import number_of
from .crossbar import CrossbarMux
from .join import Join
from .link import WordLink
from .run_table import exceeds, setting_layout
from .technology import PLAIN, Technology


class CircuitRouter(Component):
    """A router with a register per input port, whose outputs follow a setting.

    Used by :class:`.CircuitTile`.

    Members
    -------
    setting : In
        What each output takes in the next cycle.
    inputs : array of WordLink, In
        By port number. The word of input 0 comes from a register of the interface: it can leave in
        this cycle. A word that arrives by a link can leave in the next one.
    outputs : array of WordLink, Out
        By port number.
    sum_leaves : Out(1)
        Only with operators: high in a cycle in which a sum leaves by output 0.
    lost_word, missing_word, bad_route : Out(1)
        High in a cycle in which the router sees the cause of that flag. Not valid in reset.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        self._ports = range(config.topology.ports)
        super().__init__(
            {
                "setting": In(setting_layout(config)),
                "inputs": In(WordLink(config)).array(config.topology.ports),
                "outputs": Out(WordLink(config)).array(config.topology.ports),
                **({"sum_leaves": Out(1)} if config.operators else {}),
                "lost_word": Out(1),
                "missing_word": Out(1),
                "bad_route": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Register the inputs, decode the setting, and switch the outputs."""
        m = Module()
        codes, ports = self.setting.codes, self._ports
        valid, words = self._elaborate_inputs(m)
        taken = Cat(Cat(codes[o] == 1 + i for o in ports if o != i).any() for i in ports)
        names_sum = Cat(codes[port] == 1 + port for port in ports)
        bad: Value = Cat(exceeds(codes[port], len(ports)) for port in ports).any()
        # Bit o of ``leaving``: a sum leaves by output o in the next cycle.
        leaving, result = Signal(len(ports)), C(0, self._config.flit_width)
        if self._config.operators:
            m.submodules.join = join = Join(self._config)
            self._connect_join(m, join, valid, words)
            m.d.comb += leaving.eq(self._names_sum(m, names_sum) & join.made.replicate(len(ports)))
            taken |= join.names
            meets = Cat(leaving[port] & self._takes(port).any() for port in ports)
            bad |= join.bad | (~join.joins & names_sum.any()) | meets.any()
            result = join.result
        else:
            bad |= names_sum.any()
        for port in ports:
            self._elaborate_output(m, port, leaving[port], valid, words, result)
        named = Signal(len(ports))
        m.d.sync += [named.eq(taken), self.bad_route.eq(bad)]
        m.d.comb += [
            self.lost_word.eq((valid & ~named).any()),
            self.missing_word.eq((named & ~valid).any()),
        ]
        return m

    def _elaborate_inputs(self, m: Module) -> tuple[Signal, list[Value]]:
        """Return which input registers hold a word, and the words."""
        valid, words = Signal(len(self._ports)), [self.inputs[0].word]
        arrived = Signal(len(self._ports) - 1)
        for port in self._ports[1:]:
            word = Signal(self._config.flit_width, name=f"word_{port}", reset_less=True)
            m.d.sync += [arrived[port - 1].eq(self.inputs[port].valid)]
            m.d.sync += [word.eq(self.inputs[port].word)]
            words.append(word)
        m.d.comb += valid.eq(Cat(self.inputs[0].valid, arrived))
        return valid, words

    def _takes(self, output: int) -> Value:
        """Return which of the other inputs an output takes in the next cycle, ascending."""
        code = self.setting.codes[output]
        return Cat(code == 1 + port for port in self._ports if port != output)

    def _connect_join(self, m: Module, join: Join, valid: Signal, words: list[Value]) -> None:
        m.d.comb += [join.setting.eq(self.setting), join.valid.eq(valid)]
        m.d.comb += [join.words[port].eq(word) for port, word in enumerate(words)]

    def _names_sum(self, m: Module, in_next_cycle: Value) -> Signal:
        """Return the outputs that take the words joined in this cycle, in the next one."""
        names_sum = Signal(len(self._ports), name="names_sum")
        m.d.sync += names_sum.eq(in_next_cycle)
        return names_sum

    def _elaborate_output(
        self, m: Module, port: int, leaving: Value, valid: Signal, words: list[Value], result: Value
    ) -> None:
        """Send the word of the input that an output takes, or the sum before it."""
        others = [other for other in self._ports if other != port]
        values = [words[other] for other in others]
        held = Cat(valid[other] for other in others)
        takes = self._takes(port) & (~leaving).replicate(len(others))
        if self._config.operators:
            values, held, takes = [*values, result], Cat(held, 1), Cat(takes, leaving)
        chosen = Signal(len(values), name=f"chosen_{port}")
        number = Signal(range(len(values)), name=f"number_{port}", reset_less=True)
        m.d.sync += [chosen.eq(takes), number.eq(number_of(takes))]
        m.submodules[f"crossbar_{port}"] = crossbar = CrossbarMux(
            self._config.flit_width, len(values), 1, technology=self._technology
        )
        output = self.outputs[port]
        m.d.comb += [crossbar.values[place].eq(value) for place, value in enumerate(values)]
        m.d.comb += [
            crossbar.grant.eq(chosen),
            crossbar.wins.eq(chosen),
            crossbar.group.eq(number),
            crossbar.candidates.eq(-1),
            output.word.eq(crossbar.value),
            output.valid.eq((chosen & held).any()),
        ]
        if self._config.operators and port == 0:
            m.d.comb += self.sum_leaves.eq(chosen[-1])
