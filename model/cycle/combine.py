"""Operators of compiled loops, one word at a time: docs/router.md, section 19.

The built-in operators are written out here. A custom operator is compiled separately and called by
its address, so a new one does not recompile the loop.

The loops of a network with wide words combine numbers of words: they only note which
(:mod:`.pieces`), and :data:`combine_noted` makes the words after the run.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from numba import cfunc, njit, types
from numba.core.errors import NumbaError

from ..base.arrays import Words
from ..base.errors import InvalidInput
from ..base.loops import Int, address_called, compiled_loop, index, inlined, spill
from ..network.config import NetworkConfig
from ..network.operators import Operator

ADD, MIN, MAX, MIN_SIGNED, MAX_SIGNED, AND, OR, XOR, OWN, NOTED = range(10)
"""Codes of the operators in ``Network.operators``.

``OWN`` is any custom operator, ``NOTED`` any operator that combines numbers of words.
"""

NOTES = 3
"""Columns of the noted combinations: the number of the word there, of the coming one, operator."""

_CODES = {
    "add": ADD,
    "min": MIN,
    "max": MAX,
    "min-signed": MIN_SIGNED,
    "max-signed": MAX_SIGNED,
    "and": AND,
    "or": OR,
    "xor": XOR,
}

_WORD_FUNCTION = types.uint64(types.uint64, types.uint64, types.uint64)


class OperatorColumns(NamedTuple):
    """The operators of a network as :class:`Operators` has them, shape (operators,) each."""

    operators: npt.NDArray[np.int64]
    own_operators: npt.NDArray[np.int64]
    lane_widths: npt.NDArray[np.int64]
    flit_width: int


def operator_columns(config: NetworkConfig) -> OperatorColumns:
    """Return the operators of a network with words, or pieces of words, of up to 64 bits."""
    widths = [each.lane_width or config.flit_width for each in config.operators]
    return OperatorColumns(
        np.array([_CODES.get(each.function, OWN) for each in config.operators], dtype=np.int64),
        _own_addresses(config.operators),
        np.array(widths, dtype=np.int64),
        config.narrow_width,
    )


def _own_addresses(operators: Sequence[Operator]) -> npt.NDArray[np.int64]:
    """Return the addresses of the compiled custom operators, shape (operators,); 0 if built in.

    Raises :class:`.InvalidInput` for a custom operator that has no meaning, or one that Numba
    cannot compile.
    """
    addresses = [0 if each.built_in else _word_function(each).address for each in operators]
    return np.array(addresses, dtype=np.int64)


def _word_function(operator: Operator) -> Any:
    """Compile a custom operator to a C function of two words and their width in bits."""
    if operator.meaning is None:
        allowed = "given with its meaning, which no file has"
        raise InvalidInput.of(f"operator {operator.name}", allowed, "without")
    try:
        compiled, result = _compiled(operator.meaning)
    except NumbaError as error:
        allowed = "one that Numba can compile for three uint64"
        why = str(error).strip().splitlines()[0]
        raise InvalidInput.of(f"meaning of operator {operator.name}", allowed, why) from error
    if not isinstance(result, types.Integer):
        raise operator.makes_no_word(str(result))
    return compiled


@cache
def _compiled(meaning: Callable[[Any, Any, Any], Any]) -> tuple[Any, types.Type]:
    """Compile a meaning; return the C function and the result type before C converts it.

    The cache keeps the function alive, because the loops hold only its address.
    """
    plain = getattr(meaning, "py_func", meaning)
    typed = njit(error_model="numpy")(plain)
    typed.compile(_WORD_FUNCTION.args)
    return cfunc(_WORD_FUNCTION, error_model="numpy")(plain), typed.nopython_signatures[
        0
    ].return_type


class Operators(Protocol):
    """The operators of a network, as loops read them: :class:`.Network` and others have them."""

    @property
    def operators(self) -> npt.NDArray[np.int64]:
        """Code of each operator."""

    @property
    def own_operators(self) -> npt.NDArray[np.int64]:
        """Address of each compiled custom operator; 0 if built in."""

    @property
    def lane_widths(self) -> npt.NDArray[np.int64]:
        """Bits of a lane of each operator."""

    @property
    def flit_width(self) -> int:
        """Bits of a word."""


class NotingOperators(Operators, Protocol):
    """The operators of a network whose loop may combine numbers of words."""

    @property
    def notes(self) -> Words:
        """Row n has the :data:`NOTES` of word n; row 0 begins with the number of the next word."""


@inlined
def combined(net: NotingOperators, operator: Int, there: np.uint64, coming: np.uint64) -> np.uint64:
    """Combine the word in memory with the arriving word by operator number ``operator``, from 0."""
    if net.operators[index(operator)] == NOTED:
        return _noted(net, operator, there, coming)
    return _combined_word(net, operator, there, coming)


@inlined
def _noted(net: NotingOperators, operator: Int, there: np.uint64, coming: np.uint64) -> np.uint64:
    """Note a combination of two words that have numbers; return the number of the result."""
    number = net.notes[0, 0]
    net.notes[0, 0] = number + np.uint64(1)
    row = index(number)
    net.notes[row, 0], net.notes[row, 1], net.notes[row, 2] = there, coming, operator
    return np.uint64(number)


@inlined
def _combined_word(net: Operators, operator: Int, there: np.uint64, coming: np.uint64) -> np.uint64:
    """Combine two words, lane by lane."""
    width = net.lane_widths[index(operator)]
    if width == net.flit_width:
        return _combined_lane(net, operator, there, coming, width)
    ones = np.uint64(2**64 - 1) >> np.uint64(64 - width)
    result = np.uint64(0)
    for place in range(0, net.flit_width, width):
        low = np.uint64(place)
        lane = _combined_lane(net, operator, there >> low & ones, coming >> low & ones, width)
        result |= lane << low
    return result


@inlined
def _combined_lane(
    net: Operators, operator: Int, there: np.uint64, coming: np.uint64, width: Int
) -> np.uint64:
    """Combine two lanes of ``width`` bits."""
    code = net.operators[index(operator)]
    unused = np.uint64(64 - width)
    # Shift the lanes to the top of 64 bits: their signs become the signs of the int64s.
    less = np.int64(coming << unused) < np.int64(there << unused)
    if code == ADD:
        result = there + coming
    elif code == MIN:
        result = min(there, coming)
    elif code == MAX:
        result = max(there, coming)
    elif code == MIN_SIGNED:
        result = coming if less else there
    elif code == MAX_SIGNED:
        result = there if less else coming
    elif code == AND:
        result = there & coming
    elif code == OR:
        result = there | coming
    elif code == XOR:
        result = there ^ coming
    else:
        bits = np.uint64(width)
        result = address_called(net.own_operators[index(operator)], there, coming, bits)
    return np.uint64(result << unused >> unused)


@compiled_loop
def combine_noted(columns: OperatorColumns, notes: Words, words: Words) -> None:
    """Make the last ``words``, shape (numbers, pieces), of which there are ``notes``."""
    net = spill(columns)
    for number in range(len(words) - len(notes), len(words)):
        there, coming, operator = notes[number - len(words) + len(notes)]
        for piece in range(words.shape[1]):
            words[number, piece] = _combined_word(
                net, np.int64(operator), words[there, piece], words[coming, piece]
            )
