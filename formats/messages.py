"""Messages of a workload whose sends and receives are operations of two ranks.

The k-th send and the k-th receive of the same two ranks and tag, in the order of their files, are
one message. The receive ends when it has begun and the message has arrived.
"""

from ..model.workload.workload import MESSAGE, Call, Rows
from .operations import End, Ends, Messages


class WorkloadMessages(Messages):
    """Sends and receives of a workload's rows, matched when all have been read."""

    def send(self, rows: Rows, ends: Ends, words: int, name: str, place: str) -> int:
        """Add the row of a send; return its number."""
        source, target, _ = ends
        key = (ends, len(self.sends[ends]))
        row = rows.take_part(source, key, Call(MESSAGE, (source, target), words, name))
        self.sends[ends].append(End(row, words, place))
        return row

    def receive(self, rows: Rows, ends: Ends, words: int, name: str, place: str) -> int:
        """Add the row of a receive; return its number."""
        row = rows.compute(ends[1], 0, name)
        self.receives[ends].append(End(row, words, place))
        return row

    def order(self, rows: Rows) -> None:
        """Put each receive after its send."""
        for send, receive in self.matched("words"):
            rows.after[receive.index].append(send.index)
