"""XML files of other tools, read without entities and network; refusals name line and element."""

import re
from collections.abc import Iterable
from typing import Any

from ..model.base.errors import InvalidInput, one_of
from ..model.base.files import InputFile, input_name
from .notes import say

LARGEST_XML = 1 << 25
"""Most bytes of an XML file: its elements take about twenty times as much memory."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")
_SHOWN = 60
"""Most characters of a value in an error message."""

Element = Any
"""An element of lxml, which has no types."""


def root_name(head: bytes) -> str:
    """Return the name of the first element of an XML text, or ""."""
    found = re.search(rb"<([A-Za-z_][\w.-]*)", re.sub(rb"(?s)<!--.*?-->", b"", head))
    return found[1].decode() if found else ""


class XmlFile:
    """An XML file whose elements are read one by one.

    ``root`` is its first element. Every refusal is an :class:`.InvalidInput` with file, line and
    element.
    """

    def __init__(self, file: InputFile) -> None:
        self.name = input_name(file)
        self.root = self._parsed(file.content)
        self._file = file
        self._unknown: dict[str, None] = {}

    def _parsed(self, content: bytes) -> Element:
        from lxml import etree  # noqa: PLC0415 - takes long to import, and few commands need it

        if len(content) > LARGEST_XML:
            raise InvalidInput.of(f"bytes of {self.name}", f"at most {LARGEST_XML}", len(content))
        for forbidden, what in ((b"<!DOCTYPE", "a DOCTYPE"), (b"<!ENTITY", "an ENTITY")):
            place = content.find(forbidden)
            if place >= 0:
                line = content.count(b"\n", 0, place) + 1
                raise InvalidInput(f"{self.name}, line {line}: XML must be without {what}")
        parser = etree.XMLParser(
            encoding="utf-8",
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            return etree.fromstring(content, parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            complaint = str(error).split(", line ")[0].replace("\n", " ")
            raise InvalidInput(f"{self.name}, line {line}: must be XML: {complaint}") from error

    def refusal(self, element: Element, complaint: str) -> InvalidInput:
        """Return the error about an element."""
        return InvalidInput(
            f"{self.name}, line {element.sourceline}: <{element.tag[:_SHOWN]}>: {complaint}"
        )

    def children(self, element: Element, *names: str) -> list[Element]:
        """Return the child elements; refuse other names than ``names``, and text."""
        found = list(element)
        for child in found:
            if child.tag not in names:
                raise self.refusal(child, f"must be a <{one_of(names)}>")
        for text in (element.text, *(child.tail for child in found)):
            if text and text.strip():
                raise self.refusal(element, f"must hold no text, not {_shown(text.strip())}")
        return found

    def require_empty(self, element: Element) -> None:
        """Require that ``element`` holds neither elements nor text."""
        for child in element:
            raise self.refusal(child, f"must not be in a <{element.tag}>")
        self.children(element)

    def require_attributes(
        self, element: Element, required: Iterable[str], optional: Iterable[str] = ()
    ) -> None:
        """Require all ``required`` attributes; remember others that are not ``optional``."""
        required, given = set(required), set(element.attrib)
        for name in sorted(required - given):
            raise self.refusal(element, f"must have {name}")
        for name in sorted(given - required - set(optional)):
            self._unknown[f"{name[:_SHOWN]} of <{element.tag}>"] = None

    def say_unknown(self) -> None:
        """Log the unknown attributes in one notice; their owner's programs ignore them, too."""
        if self._unknown:
            say(self._file, f"passed over, as they move nothing: {', '.join(self._unknown)}")

    def text(self, element: Element, name: str, allowed: Iterable[str]) -> str:
        """Return the attribute ``name``; refuse a value that is not in ``allowed``."""
        allowed = tuple(allowed)
        value: str = element.attrib[name]
        if value not in allowed:
            raise self.refusal(element, f"{name} must be {one_of(allowed)}, not {_shown(value)}")
        return value

    def integer(self, element: Element, name: str, low: int, high: int) -> int:
        """Return the integer attribute ``name``; refuse a value outside ``low`` to ``high``."""
        value: str = element.attrib[name]
        if not _INTEGER.fullmatch(value) or not low <= int(value) <= high:
            raise self.refusal(element, f"{name} must be {low} to {high}, not {_shown(value)}")
        return int(value)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")
