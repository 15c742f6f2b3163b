"""Proofs that a time or an amount of work is too small, and a check of these proofs.

The question is that of :mod:`.plan`: can balls of radii t - 1, ..., t - s, one of each, cover all
nodes? A :class:`Certificate` says no. The check uses only the certificate's entries. It shares no
code with the search, and counts distances again in another way.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput
from ...network.topology import NO_LINK, Topology

BY_COUNT, SEEN = -1, -2
"""Entries that are no node."""

_Nodes = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Certificate:
    """A proof that no ``sends`` sends reach all nodes in ``time`` steps.

    ``entries`` are a walk through all cases, depth first. Each case is a set of uncovered nodes and
    the radii that are left, at first all nodes and time - 1 down to time - sends:

    * :data:`BY_COUNT`: the largest balls of these radii together cover less than is uncovered;
    * :data:`SEEN`: the same case has been refuted before;
    * a node: it is uncovered, and some ball must cover it. All that can, but those that cover
      only a part of what another ball of the same radius does, are cases of their own. They
      follow by radius, the largest first; then by how many uncovered nodes they cover, the most
      first; then by their centre, the lowest first.
    """

    time: int
    sends: int
    entries: tuple[int, ...]


def check_certificate(topology: Topology, certificate: Certificate) -> None:
    """Raise :class:`InvalidInput` that names the first entry which proves nothing."""
    covers = _reach(topology, certificate.time)
    healthy = np.ones(topology.nodes, dtype=bool)
    healthy[list(topology.faulty_nodes)] = False
    radii = tuple(range(certificate.time - 1, certificate.time - 1 - certificate.sends, -1))
    refuted: set[tuple[bytes, tuple[int, ...]]] = set()
    entries = iter(enumerate(certificate.entries))
    # A case to be refuted, or (marked by None) one all of whose cases have been.
    waiting: list[tuple[_Nodes, tuple[int, ...], bool]] = [(healthy, radii, False)]
    while waiting:
        uncovered, left, done = waiting.pop()
        if done:
            refuted.add((uncovered.tobytes(), left))
            continue
        place, entry = next(entries, (len(certificate.entries), None))
        _require_entry(covers, refuted, uncovered, left, place, entry)
        if entry is not None and entry >= 0:
            waiting.append((uncovered, left, True))
            cases = [
                (uncovered & ~covers[radius][centre], tuple(r for r in left if r != radius), False)
                for radius in left
                for centre in _centres(covers[radius], uncovered, entry)
            ]
            waiting.extend(reversed(cases))
    for place, _ in entries:
        raise InvalidInput.of("certificate", f"{place} entries long", len(certificate.entries))


def _require_entry(
    covers: list[_Nodes],
    refuted: set[tuple[bytes, tuple[int, ...]]],
    uncovered: _Nodes,
    left: tuple[int, ...],
    place: int,
    entry: int | None,
) -> None:
    """Require that ``entry`` holds in the case of ``uncovered`` and the radii ``left``."""
    if entry == BY_COUNT:
        most = sum(int(covers[radius][:, uncovered].sum(axis=1).max()) for radius in left)
        holds = most < int(uncovered.sum())
        allowed = f"by count only where balls cover less than {uncovered.sum()} nodes"
        found: object = most
    elif entry == SEEN:
        holds = (uncovered.tobytes(), left) in refuted
        allowed, found = "seen only where the case is refuted", "a new case"
    else:
        holds = entry is not None and 0 <= entry < uncovered.size and bool(uncovered[entry])
        allowed, found = "an uncovered node", "missing" if entry is None else entry
    if not holds:
        raise InvalidInput.of(f"entry {place} of the certificate", allowed, found)


def _centres(covers: _Nodes, uncovered: _Nodes, node: int) -> Iterator[int]:
    """Yield the centres of the balls that cover ``node`` and as much else as any, in order."""
    centres = np.flatnonzero(covers[:, node])
    pieces = covers[np.ix_(centres, np.flatnonzero(uncovered))]
    sizes = pieces.sum(axis=1)
    order = np.lexsort((centres, -sizes))
    kept: list[int] = []
    for place in order:
        if not any((pieces[place] <= pieces[other]).all() for other in kept):
            kept.append(int(place))
            yield int(centres[place])


def _reach(topology: Topology, steps: int) -> list[_Nodes]:
    """Pairs of nodes within r links, for r from 0: shapes (nodes, nodes), from and to, bool."""
    step = np.eye(topology.nodes, dtype=bool)
    begins, ports = np.nonzero(topology.neighbor != NO_LINK)
    step[begins, topology.neighbor[begins, ports]] = True
    reach = [np.eye(topology.nodes, dtype=bool)]
    for _ in range(1, steps):
        # As integers: the product of two tables of truth values is slow.
        reach.append((reach[-1].astype(np.float32) @ step.astype(np.float32)) > 0)
    return reach
