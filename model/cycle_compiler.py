"""How the cycle model's functions are compiled, and what Numba does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])
Int: TypeAlias = int | np.integer[Any]


def compiled(function: Function) -> Function:
    """Compile ``function``, and keep the result for the next process.

    Nothing compiled here makes an array, so Numba's counting of references to arrays is left out
    (``_nrt``): with dozens of arrays it would take forty times as long as the work.
    """
    result: Function = njit(cache=True, error_model="numpy", _nrt=False)(function)
    return result


def inlined(function: Function) -> Function:
    """Compile ``function`` into its callers: the tuples of arrays are dear to hand over."""
    result: Function = njit(forceinline=True, error_model="numpy", _nrt=False)(function)
    return result


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(_: Any, word: Any) -> Any:
    """Place of the lowest bit that is set in ``word``, an int64 that is not 0."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def lanes_of(_: Any, network: Any) -> Any:
    """The lanes of each node of a ``Network``: its field, or 1 where that is None.

    It is so compiled twice. The networks that are not all-port, nearly all, have no loops over
    lanes then, which would make them slower.
    """
    place = network.fields.index("lanes")
    known = isinstance(network[place], types.NoneType)

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        one = ir.Constant(ir.IntType(64), 1)
        return one if known else builder.extract_value(arguments[0], place)

    return types.int64(network), code


@inlined
def index(number: Int) -> np.int64:
    """Make an index that is seen not to be negative, so that no array is counted from its end."""
    return np.int64(np.uint32(number))


@inlined
def field(word: np.uint64, low: Int, width: Int) -> np.int64:
    """Extract the ``width`` bits of ``word`` from bit ``low`` upwards."""
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    return np.int64((word >> np.uint64(low)) & mask)
