"""The join of a router: two inputs become a sum (docs/router.md, section 23).

::

    input registers ──► first ───┬──► operator ──► sum register
                    ──► second ──┘
"""

from amaranth.hdl import C, Cat, Module, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from ..parts.operators import combined
from .run_table import exceeds, joins, setting_layout


class Join(Component):
    """The operators of a router and its sum register. Used by :class:`.CircuitRouter`.

    Members
    -------
    setting : In
        The setting of the next cycle.
    valid : In(ports)
        One bit per input port: its register holds a word in this cycle.
    words : In
        The words, by input port. Valid while the bit of ``valid`` is set.
    joins : Out(1)
        High while the setting of the next cycle joins inputs.
    names : Out(ports)
        The inputs that are joined in the next cycle.
    bad : Out(1)
        High while that setting has an operator or an input that the network has not.
    made : Out(1)
        High in a cycle in which two words are joined.
    result : Out(flit_width)
        The sum register. Valid in the cycle after one in which ``made`` is high.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        ports = config.topology.ports
        super().__init__(
            {
                "setting": In(setting_layout(config)),
                "valid": In(ports),
                "words": In(data.ArrayLayout(config.flit_width, ports)),
                "joins": Out(1),
                "names": Out(ports),
                "bad": Out(1),
                "made": Out(1),
                "result": Out(config.flit_width),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Choose the two words, and combine them."""
        m = Module()
        setting, ports = self.setting, self._config.topology.ports
        first_named, first_valid, first = self._elaborate_operand(m, "first")
        second_named, second_valid, second = self._elaborate_operand(m, "second")
        beyond = exceeds(setting.first, ports) | exceeds(setting.second, ports)
        m.d.comb += [
            self.joins.eq(joins(self._config, setting)),
            self.names.eq(first_named | second_named),
            self.bad.eq(
                exceeds(setting.operator, len(self._config.operators)) | self.joins & beyond
            ),
            self.made.eq(first_valid & second_valid),
        ]
        operator = Signal.like(setting.operator, name="operator")
        m.d.sync += operator.eq(setting.operator)
        result = Signal(self._config.flit_width)
        with m.Switch(operator):
            for place, each in enumerate(self._config.operators):
                with m.Case(place + 1):
                    m.d.comb += result.eq(combined(m, f"own_{place}", each, first, second))
        m.d.sync += self.result.eq(result)
        return m

    def _elaborate_operand(self, m: Module, name: str) -> tuple[Value, Value, Value]:
        """Return an operand: its input in the next cycle, whether it has a word now, the word."""
        code, ports = self.setting[name], range(self._config.topology.ports)
        named = Cat(self.joins & (code == 1 + port) for port in ports)
        chosen = Signal(len(ports), name=name)
        m.d.sync += chosen.eq(named)
        word: Value = C(0, self._config.flit_width)
        for port in ports:
            word |= self.words[port] & chosen[port].replicate(self._config.flit_width)
        return named, (chosen & self.valid).any(), word
