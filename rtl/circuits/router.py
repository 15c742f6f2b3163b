"""The router of a network with circuits (docs/router.md, section 23).

::

    link in ──► input register ──┬──► crossbar ──► link out
                                 └──► operators ──► sum register ──► crossbar

Each cycle has a setting, which says what every output takes. The router decodes it one cycle
earlier.

In an all-port network each lane of the interface has an input and an output of its own, in place of
port 0: the register of lane l, which only output l takes, and ejection l, which takes input l.
"""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from ..parts.arbiter import number_of
from ..parts.assertions import Assertions, asserted
from ..parts.crossbar import CrossbarMux
from ..parts.link import WordLink, router_ports
from ..parts.technology import PLAIN, Technology
from .join import Join
from .run_table import code_of, exceeds, joins, setting_layout


@asserted
class CircuitRouter(Component):
    """A router with a register per input port, whose outputs follow a setting.

    Used by :class:`.CircuitTile`. A ``switch`` has no lanes: its inputs from there never hold a
    word, and a setting that lets a word leave there sets a flag.

    Members
    -------
    setting : In
        What each output takes in the next cycle.
    inputs : array of WordLink, In
        In the order of :func:`.router_ports`. The word of a lane comes from a register of the
        interface: it can leave in this cycle. A word that arrives by a link can leave in the next
        one.
    outputs : array of WordLink, Out
        In the order of :func:`.router_ports`.
    sum_leaves : Out(lanes)
        Only with operators and an interface: bit by lane, high in a cycle in which a sum leaves for
        it.
    lost_word, missing_word, bad_route : Out(1)
        High in a cycle in which the router sees the cause of that flag. Not valid in reset.

    """

    def __init__(
        self, config: NetworkConfig, *, switch: bool = False, technology: Technology = PLAIN
    ) -> None:
        self._config = config
        self._switch = switch
        self._technology = technology
        # Port numbers of the registers, and of the outputs: a switch has registers of lanes, too.
        self._inputs = router_ports(config)
        self._outputs = router_ports(config, switch=switch)
        sum_leaves = {"sum_leaves": Out(config.lanes)} if config.operators and not switch else {}
        super().__init__(
            {
                "setting": In(setting_layout(config)),
                "inputs": In(WordLink(config)).array(len(self._outputs)),
                "outputs": Out(WordLink(config)).array(len(self._outputs)),
                **sum_leaves,
                "lost_word": Out(1),
                "missing_word": Out(1),
                "bad_route": Out(1),
            }
        )

    def assertions(self, check: Assertions) -> None:
        """State that a word leaves if the output takes its input, or a sum, and nothing else."""
        config, lanes = self._config, self._config.lanes
        setting = data.View(setting_layout(config), check.before(self.setting.as_value()))
        own = [] if self._switch else [*self.inputs[:lanes]]
        links = self.inputs[len(own) :]
        valid = [each.valid for each in own] or [C(0)] * lanes
        valid += [check.before(each.valid) for each in links]
        words = [each.word for each in own] or [C(0, config.flit_width)] * lanes
        words += [check.before(each.word) for each in links]
        made: Value = C(0)
        if config.operators:
            joined = [valid[0], *valid[lanes:]]
            operands = [
                Cat((code == 1 + port) & held for port, held in enumerate(joined)).any()
                for code in (setting.first, setting.second)
            ]
            made = check.before(joins(config, setting) & operands[0] & operands[1])
        for place, (number, output) in enumerate(zip(self._outputs, self.outputs, strict=True)):
            taken, of_sum = self._stated(setting, place, number)
            sums = made & check.before(of_sum)
            goes = Cat(each & valid[at] for at, each in taken.items()).any() & ~sums
            word: Value = C(0, config.flit_width)
            for at, each in taken.items():
                word |= Mux(each, words[at], 0)
            check.ensures(f"word_if_taken_{place}", output.valid == (goes | sums))
            check.ensures(f"word_of_its_input_{place}", ~goes | (output.word == word))

    def _stated(
        self, setting: data.View, place: int, number: int
    ) -> tuple[dict[int, Value], Value]:
        """Return by input whether section 23 gives it to an output, and whether it gives the sum.

        :meth:`_takes` decodes the same for the circuit; the two are written apart.
        """
        config = self._config
        if config.all_port and number == 0:
            ejection = setting.ejections[place]
            return {config.lanes + place: ejection == 1}, ejection == 2
        code = code_of(config, setting, number)
        links = (port for port in range(1, config.topology.ports) if port != number)
        taken = {config.lanes - 1 + port: code == 1 + port for port in links}
        if number:
            taken[number - 1 if config.all_port else 0] = code == 1
        return taken, code == 1 + number

    def elaborate(self, _platform: object) -> Module:
        """Register the inputs, decode the setting, and switch the outputs."""
        m = Module()
        outputs = range(len(self._outputs))
        valid, words = self._elaborate_inputs(m)
        takes = [self._takes(output) for output in outputs]
        taken = Cat(
            Cat(each[place] for each in takes if place in each).any()
            for place in range(len(self._inputs))
        )
        names_sum = Cat(self._names_sum(output) for output in outputs)
        bad = self._bad_setting()
        # Bit o of ``leaving``: a sum leaves by output o in the next cycle.
        leaving, result = Signal(len(outputs)), C(0, self._config.flit_width)
        if self._config.operators:
            m.submodules.join = join = Join(self._config)
            self._connect_join(m, join, valid, words)
            late = self._late(m, names_sum)
            m.d.comb += leaving.eq(late & join.made.replicate(len(outputs)))
            lanes = self._config.lanes
            taken |= Cat(join.names[0], C(0, lanes - 1), join.names[1:])
            takes_any = [Cat(self._takes(output).values()).any() for output in outputs]
            meets = Cat(leaving[output] & takes_any[output] for output in outputs)
            bad |= join.bad | (~join.joins & names_sum.any()) | meets.any()
            result = join.result
        else:
            bad |= names_sum.any()
        for output in outputs:
            self._elaborate_output(m, output, leaving[output], valid, words, result)
        named = Signal(len(self._inputs))
        m.d.sync += [named.eq(taken), self.bad_route.eq(bad)]
        m.d.comb += [
            self.lost_word.eq((valid & ~named).any()),
            self.missing_word.eq((named & ~valid).any()),
        ]
        return m

    def _elaborate_inputs(self, m: Module) -> tuple[Signal, list[Value]]:
        """Return which input registers hold a word, and the words."""
        config, lanes = self._config, self._config.lanes
        valid = Signal(len(self._inputs))
        if self._switch:
            words: list[Value] = [C(0, config.flit_width)] * lanes
            sent, links = C(0, lanes), self.inputs
        else:
            words = [self.inputs[lane].word for lane in range(lanes)]
            sent = Cat(self.inputs[lane].valid for lane in range(lanes))
            links = self.inputs[lanes:]
        arrived = Signal(len(links))
        for place, link in enumerate(links):
            word = Signal(config.flit_width, name=f"word_{1 + place}", reset_less=True)
            m.d.sync += [arrived[place].eq(link.valid)]
            m.d.sync += [word.eq(link.word)]
            words.append(word)
        m.d.comb += valid.eq(Cat(sent, arrived))
        return valid, words

    def _takes(self, output: int) -> dict[int, Value]:
        """Return by input whether an output takes it in the next cycle, ascending.

        These are all inputs that the output can take; both are indices.
        """
        config, number, setting = self._config, self._outputs[output], self.setting
        if number == 0 and config.all_port:
            return {config.lanes + output: setting.ejections[output] == 1}
        code = code_of(config, setting, number)
        own = number - 1 if config.all_port else 0
        others = [port for port in range(config.topology.ports) if port != number]
        return {port - 1 + config.lanes if port else own: code == 1 + port for port in others}

    def _names_sum(self, output: int) -> Value:
        """Return 1 if an output takes the sum of the words that are joined in the next cycle."""
        config, number = self._config, self._outputs[output]
        if number or not config.all_port:
            return code_of(config, self.setting, number) == 1 + number
        return self.setting.ejections[output] == 2 if config.operators else C(0)

    def _bad_setting(self) -> Value:
        """Return 1 if a code is none, or if a switch has one for an output to an interface."""
        config, setting = self._config, self.setting
        ports = config.topology.ports
        ejections = list(setting.ejections) if config.all_port else []
        codes = range(1 if config.all_port else 0, ports)
        bad = [exceeds(code_of(config, setting, port), ports) for port in codes]
        if not self._switch:
            bad += [exceeds(each, 2) for each in ejections if config.operators]
        elif config.all_port:
            bad.append(Cat(ejections).any())
        else:
            bad[0] = code_of(config, setting, 0).any()
        return Cat(bad).any()

    def _connect_join(self, m: Module, join: Join, valid: Signal, words: list[Value]) -> None:
        """Connect the inputs that can be joined: of the lanes only the first."""
        lanes = self._config.lanes
        m.d.comb += [join.setting.eq(self.setting), join.valid.eq(Cat(valid[0], valid[lanes:]))]
        joined = [words[0], *words[lanes:]]
        m.d.comb += [join.words[port].eq(word) for port, word in enumerate(joined)]

    def _late(self, m: Module, in_next_cycle: Value) -> Signal:
        """Return the outputs that take the words joined in this cycle, in the next one."""
        names_sum = Signal(len(self._outputs), name="names_sum")
        m.d.sync += names_sum.eq(in_next_cycle)
        return names_sum

    def _elaborate_output(
        self,
        m: Module,
        output: int,
        leaving: Value,
        valid: Signal,
        words: list[Value],
        result: Value,
    ) -> None:
        """Send the word of the input that an output takes, or the sum before it."""
        inputs = self._takes(output)
        values = [words[place] for place in inputs]
        held = Cat(valid[place] for place in inputs)
        takes = Cat(inputs.values()) & (~leaving).replicate(len(inputs))
        if self._config.operators:
            values, held, takes = [*values, result], Cat(held, 1), Cat(takes, leaving)
        chosen = Signal(len(values), name=f"chosen_{output}")
        number = Signal(range(len(values)), name=f"number_{output}", reset_less=True)
        m.d.sync += [chosen.eq(takes), number.eq(number_of(takes))]
        m.submodules[f"crossbar_{output}"] = crossbar = CrossbarMux(
            self._config.flit_width, len(values), 1, technology=self._technology
        )
        link = self.outputs[output]
        m.d.comb += [crossbar.values[place].eq(value) for place, value in enumerate(values)]
        m.d.comb += [
            crossbar.grant.eq(chosen),
            crossbar.wins.eq(chosen),
            crossbar.group.eq(number),
            crossbar.candidates.eq(-1),
            link.word.eq(crossbar.value),
            link.valid.eq((chosen & held).any()),
        ]
        if self._config.operators and self._outputs[output] == 0:
            m.d.comb += self.sum_leaves[output].eq(chosen[-1])
