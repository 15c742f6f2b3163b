"""Messages of a workload whose sends and receives are operations of two ranks.

The k-th send and the k-th receive of the same two ranks and tag, in the order of their files, are
one message. The receive ends when it has begun and the message has arrived.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from ..model.base.errors import InvalidInput
from ..model.workload.workload import MESSAGE, Call, Rows

Ends = tuple[int, int, int]
"""Source, target and tag."""


@dataclass(frozen=True)
class _End:
    """A send or a receive: its row, the words, and its place in a file."""

    row: int
    words: int
    place: str


@dataclass
class Messages:
    """Sends and receives, matched when all have been read."""

    sends: defaultdict[Ends, list[_End]] = field(default_factory=lambda: defaultdict(list))
    receives: defaultdict[Ends, list[_End]] = field(default_factory=lambda: defaultdict(list))

    def send(self, rows: Rows, ends: Ends, words: int, name: str, place: str) -> int:
        """Add the row of a send; return its number."""
        source, target, _ = ends
        key = (ends, len(self.sends[ends]))
        row = rows.take_part(source, key, Call(MESSAGE, (source, target), words, name))
        self.sends[ends].append(_End(row, words, place))
        return row

    def receive(self, rows: Rows, ends: Ends, words: int, name: str, place: str) -> int:
        """Add the row of a receive; return its number."""
        row = rows.compute(ends[1], 0, name)
        self.receives[ends].append(_End(row, words, place))
        return row

    def match(self, rows: Rows) -> None:
        """Put each receive after its send; refuse one alone, and two lengths of one message."""
        for ends in sorted(self.sends.keys() | self.receives.keys()):
            sent, received = self.sends[ends], self.receives[ends]
            source, target, tag = ends
            what = f"message {source} -> {target} of tag {tag}"
            common = min(len(sent), len(received))
            for alone, missing in ((sent[common:], "receive"), (received[common:], "send")):
                if alone:
                    raise InvalidInput(f"{alone[0].place}: {what} has no {missing}")
            for one, other in zip(sent, received, strict=True):
                if one.words != other.words:
                    complaint = f"must have the {one.words} words that are sent, not {other.words}"
                    raise InvalidInput(f"{other.place}: {what} {complaint}")
                rows.after[other.row].append(one.row)
