"""The messages of Chakra's execution traces, with the fields used here.

Field numbers and types are those of ``schema/protobuf/et_def.proto`` in mlcommons/chakra; protobuf
skips other fields. Each message in a file follows its length: one GlobalMetadata, then a Node for
each operation.
"""

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

from ..model.base.errors import InvalidInput
from ..model.base.files import InputFile, input_name

VERSION = "1.0.2-chakra.0.0.4"
"""Schema version in written traces."""

MEMORY_LOAD, MEMORY_STORE, COMPUTATION, SEND, RECEIVE, COLLECTIVE = range(2, 8)
"""Types of nodes; 1 is metadata, and 0 is invalid."""

_INTEGERS = {
    "int32": 7,
    "int64": 9,
    "uint32": 11,
    "uint64": 13,
    "sint32": 15,
    "sint64": 17,
    "fixed32": 19,
    "fixed64": 21,
    "sfixed32": 23,
    "sfixed64": 25,
}
"""Integer types of an attribute's value, with their field numbers."""

_VALUES = {**_INTEGERS, "bool": 27, "string": 29}
_PACKAGE = "eyecast_chakra"
_ATTRIBUTE = "AttributeProto"
_FIELDS: dict[str, tuple[tuple[str, int, str], ...]] = {
    _ATTRIBUTE: (
        ("name", 1, "string"),
        *((f"{kind}_val", number, kind) for kind, number in _VALUES.items()),
    ),
    "GlobalMetadata": (("attr", 2, _ATTRIBUTE),),
    "Node": (
        ("id", 1, "uint64"),
        ("name", 2, "string"),
        ("type", 3, "int32"),
        ("ctrl_deps", 4, "uint64"),
        ("data_deps", 5, "uint64"),
        ("duration_micros", 7, "uint64"),
        ("attr", 10, _ATTRIBUTE),
    ),
}
"""Name, number and type of the fields of each message."""

_REPEATED = ("attr", "ctrl_deps", "data_deps")

INTEGER_FIELDS = frozenset(f"{kind}_val" for kind in _INTEGERS)

Message = Any
"""A protobuf message; its fields are attributes."""


class Protobuf:
    """Protobuf's message classes, with reading and writing of length-prefixed messages.

    Raises :class:`InvalidInput` with the install command if protobuf is missing.
    """

    def __init__(self) -> None:
        try:
            from google.protobuf import message, message_factory, proto  # noqa: PLC0415 - optional
        except ImportError as error:
            installed = "installed (pip install 'eyecast[chakra]')"
            raise InvalidInput.of("protobuf, for Chakra traces,", installed, "missing") from error
        self._proto, self._errors = proto, (message.DecodeError, OverflowError, ValueError)
        pool = _pool()
        self.attribute, self.metadata, self.node = (
            message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
            for name in _FIELDS
        )

    def nodes(self, file: InputFile) -> Iterator[Message]:
        """Yield the nodes of a file after its metadata; refuse an incomplete message."""
        content, count = BytesIO(file.content), 0
        while True:
            kind = self.node if count else self.metadata
            try:
                message = self._proto.parse_length_prefixed(kind, content)
            except self._errors as error:
                place = f"{input_name(file)}, message {count}, before byte {content.tell()}"
                raise InvalidInput(f"{place}: must be a whole message of Chakra's") from error
            if message is None:
                return
            if count:
                yield message
            count += 1

    def content(self, messages: Iterable[Message]) -> bytes:
        """Return the content of a file of ``messages``."""
        content = BytesIO()
        for message in messages:
            self._proto.serialize_length_prefixed(message, content)
        return content.getvalue()


def _pool() -> Any:
    """Return the message descriptions in protobuf's form."""
    from google.protobuf import descriptor_pb2, descriptor_pool  # noqa: PLC0415 - optional

    file = descriptor_pb2.FileDescriptorProto(name=_PACKAGE, package=_PACKAGE, syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for message_name, fields in _FIELDS.items():
        message = file.message_type.add(name=message_name)
        for name, number, kind in fields:
            field = message.field.add(name=name, number=number)
            field.label = kinds.LABEL_REPEATED if name in _REPEATED else kinds.LABEL_OPTIONAL
            if kind in _FIELDS:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                field.type = kinds.Type.Value(f"TYPE_{kind.upper()}")
            if name.endswith("_val"):
                field.oneof_index = 0
    file.message_type[0].oneof_decl.add(name="value")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool
