"""Compilation of loops over many arrays, with helpers that Numba lacks."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core.cgutils import alloca_once_value, gep_inbounds
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, models, register_model

from .compiled import compiled

Function = TypeVar("Function", bound=Callable[..., Any])
Int: TypeAlias = int | np.integer[Any]


def compiled_loop(function: Function) -> Function:
    """Compile ``function``, and keep the result for the next process.

    No function compiled here makes an array, so Numba's reference counts of arrays are switched
    off (``_nrt``): with dozens of arrays they would take forty times as long as the work.
    """
    return compiled(function, _nrt=False)


def inlined(function: Function) -> Function:
    """Compile ``function`` into its callers."""
    result: Function = njit(forceinline=True, error_model="numpy", _nrt=False)(function)
    return result


class _Spilled(types.Type):  # type: ignore[misc]
    """The type of :func:`spill`'s result: the address of a named tuple of type ``values``."""

    def __init__(self, values: Any) -> None:
        self.values = values
        super().__init__(name=f"spilled {values}")


@register_model(_Spilled)  # type: ignore[untyped-decorator]
class _Address(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, held: _Spilled) -> None:
        super().__init__(manager, held, manager[held.values].get_value_type().as_pointer())


@infer_getattr  # type: ignore[untyped-decorator]
class _SpilledFields(AttributeTemplate):  # type: ignore[misc]
    key = _Spilled

    def generic_resolve(self, held: _Spilled, name: str) -> Any:
        return dict(zip(held.values.fields, held.values, strict=True)).get(name)


@lower_getattr_generic(_Spilled)  # type: ignore[untyped-decorator]
def _load_field(_: Any, builder: Any, held: _Spilled, address: Any, name: str) -> Any:
    return _load(builder, gep_inbounds(builder, address, 0, held.values.fields.index(name)))


def _load(builder: Any, address: Any) -> Any:
    """Load each number of a value by itself, so that the compiler drops the unused ones."""
    kind = address.type.pointee
    if not isinstance(kind, ir.Aggregate):
        return builder.load(address)
    value = ir.Constant(kind, ir.Undefined)
    for place in range(len(kind)):
        value = builder.insert_value(
            value, _load(builder, gep_inbounds(builder, address, 0, place)), place
        )
    return value


@intrinsic  # type: ignore[untyped-decorator]
def spill(_: Any, values: Any) -> Any:
    """Put a named tuple into memory, and return its address to pass to functions.

    These tuples hold dozens of arrays, so hundreds of numbers. Passing the numbers to many small
    functions makes Numba compile four times as long. When all is compiled into one function, the
    compiler sees through the address, and the machine code is the same.
    """

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return alloca_once_value(builder, arguments[0])

    return _Spilled(values)(values), code


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(_: Any, word: Any) -> Any:
    """Return the index of the lowest 1 bit of ``word``, an int64 that is not 0."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_: Any, array: Any, place: Any) -> Any:
    """Fetch an element of an array into the cache; ``place`` may lie outside of the array."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        # For a write, into all levels of the cache, data.
        how = [ir.Constant(number, each) for each in (1, 3, 1)]
        builder.call(function, [builder.bitcast(builder.gep(data, [arguments[1]]), byte), *how])
        return context.get_dummy_value()

    return types.void(array, types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def address_called(_: Any, address: Any, there: Any, coming: Any, bits: Any) -> Any:
    """Call the C function at ``address``: three uint64 arguments, a uint64 result."""

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = ir.FunctionType(word, [word, word, word]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], function), arguments[1:])

    word = types.uint64
    return word(types.int64, word, word, word), code


@intrinsic  # type: ignore[untyped-decorator]
def lanes_of(_: Any, network: Any) -> Any:
    """Return the lanes of each node of a ``Network``: its field ``lanes``, or 1 if that is None.

    Numba therefore compiles two versions. The version for None, which nearly all networks use, has
    no loops over lanes and runs faster.
    """
    place = network.values.fields.index("lanes")
    known = isinstance(network.values[place], types.NoneType)

    def code(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        one = ir.Constant(ir.IntType(64), 1)
        return one if known else builder.load(gep_inbounds(builder, arguments[0], 0, place))

    return types.int64(network), code


@inlined
def index(number: Int) -> np.int64:
    """Return an index that the compiler knows to be >= 0, so it adds no code for negative ones."""
    return np.int64(np.uint32(number))


@inlined
def field(word: np.uint64, low: Int, width: Int) -> np.int64:
    """Return the ``width`` bits of ``word`` from bit ``low`` upwards."""
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    return np.int64((word >> np.uint64(low)) & mask)
