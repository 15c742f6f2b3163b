"""Programs: tables of rows that prove themselves."""

from ..base.errors import require_range
from .checks import check_program
from .node_table import TableLine, node_table
from .table import RowTable


class Program(RowTable):
    """The rows of every node of a network. ``check()`` proves that the network carries them out.

    The columns are those of :class:`.RowTable`.
    """

    def check(self) -> None:
        """Raise :class:`.InvalidInput` for the first row that the network cannot carry out.

        The rules are those of :func:`.check_program`.
        """
        check_program(self)

    def table(self, node: int) -> list[TableLine]:
        """Return the injection table of ``node`` as text: a line for each of its rows.

        Raises :class:`.InvalidInput` for a node that is not in the network.
        """
        require_range("node", node, 0, self.nodes - 1)
        return node_table(self, node)
