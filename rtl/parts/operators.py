"""Operators of a network in hardware (docs/router.md, section 19).

A custom operator is a component with the signature :class:`OperatorPorts`, which takes new words in
every cycle. ``component`` of an :class:`.Operator` in the network's configuration makes it from the
width of a word. An operator with lanes has one such component for each lane, of the lane's width.
"""

from collections.abc import Callable

from amaranth.hdl import Cat, Module, Mux, Value
from amaranth.lib.wiring import In, Out, Signature

from ...model.network.operators import Operator

Combine = Callable[[Value, Value], Value]

BUILT_IN: dict[str, Combine] = {
    "add": lambda there, coming: (there + coming)[: len(there)],
    "min": lambda there, coming: Mux(coming < there, coming, there),
    "max": lambda there, coming: Mux(coming > there, coming, there),
    "min-signed": lambda there, coming: Mux(coming.as_signed() < there.as_signed(), coming, there),
    "max-signed": lambda there, coming: Mux(coming.as_signed() > there.as_signed(), coming, there),
    "and": lambda there, coming: there & coming,
    "or": lambda there, coming: there | coming,
    "xor": lambda there, coming: there ^ coming,
}
"""The built-in operators by name: each returns its result of a stored and an arriving word."""


NEUTRAL_AT_ZERO = frozenset({"add", "max", "or", "xor"})
"""Operators whose result is the arriving word if the stored word is 0."""


class OperatorPorts(Signature):
    """Two words in, one word out; the directions are the operator's.

    Members
    -------
    there, coming : In(width)
        The stored word and the arriving word, new in every cycle.
    result : Out(width)
        The result of the two words that came as many cycles ago as the operator's latency. It must
        not depend on other words.

    """

    def __init__(self, width: int) -> None:
        super().__init__({"there": In(width), "coming": In(width), "result": Out(width)})


def combined(m: Module, name: str, operator: Operator, there: Value, coming: Value) -> Value:
    """Return the result of an operator, as many cycles late as its latency.

    ``name`` names the submodule of a custom operator; with lanes, the lane's number follows. Raises
    :class:`TypeError` if a custom operator has no component, or its component has other ports than
    :class:`OperatorPorts`.
    """
    width = operator.lane_width
    if not width:
        return _combined_lane(m, name, operator, there, coming)
    return Cat(
        _combined_lane(
            m,
            f"{name}_{lane}",
            operator,
            there.word_select(lane, width),
            coming.word_select(lane, width),
        )
        for lane in range(len(there) // width)
    )


def _combined_lane(m: Module, name: str, operator: Operator, there: Value, coming: Value) -> Value:
    """Return the result of an operator for one lane, or for words that have no lanes."""
    if operator.built_in:
        return BUILT_IN[operator.function](there, coming)
    if operator.component is None:
        raise TypeError(f"operator {operator.name} has no component")
    component = operator.component(len(there))
    ports = OperatorPorts(len(there))
    if component.signature.members != ports.members:
        raise TypeError(f"operator {operator.name} has other ports than {ports.members}")
    m.submodules[name] = component
    m.d.comb += [component.there.eq(there), component.coming.eq(coming)]
    return component.result
