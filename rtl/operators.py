"""Operators of a network in hardware (docs/router.md, section 19).

An operator of a user's own is a component with the signature :class:`OperatorPorts`, which takes
new words in every cycle. ``Operator(…, component=…)`` of the network's configuration makes one from
the width of a word.
"""

from collections.abc import Callable

from amaranth.hdl import Module, Mux, Value
from amaranth.lib.wiring import In, Out, Signature

from ..model.network.operators import Operator

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
"""Results of the operators for an old and an arriving word, in the same cycle."""


NEUTRAL_AT_ZERO = frozenset({"add", "max", "or", "xor"})
"""Operators that give the arriving word if the old word is 0."""


class OperatorPorts(Signature):
    """Two words in, one word out; the directions are the operator's.

    Members
    -------
    there, coming : In(width)
        The word that is there and the one that comes, in every cycle.
    result : Out(width)
        What becomes of those of as many cycles ago as the operator's latency says; in every cycle,
        whatever came before.

    """

    def __init__(self, width: int) -> None:
        super().__init__({"there": In(width), "coming": In(width), "result": Out(width)})


def combined(m: Module, name: str, operator: Operator, there: Value, coming: Value) -> Value:
    """The result of an operator, as many cycles late as its latency says.

    ``name`` is that of the submodule of an operator of a user's own. Raises :class:`TypeError`
    where its component has other ports than :class:`OperatorPorts`, or there is none.
    """
    if operator.built_in:
        return BUILT_IN[operator.name](there, coming)
    if operator.component is None:
        raise TypeError(f"operator {operator.name} has no component")
    component = operator.component(len(there))
    ports = OperatorPorts(len(there))
    if component.signature.members != ports.members:
        raise TypeError(f"operator {operator.name} has other ports than {ports.members}")
    m.submodules[name] = component
    m.d.comb += [component.there.eq(there), component.coming.eq(coming)]
    return component.result
