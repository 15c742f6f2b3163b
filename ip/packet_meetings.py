"""Programs in which packets meet at an output of a router."""

from collections.abc import Iterator, Sequence, Set
from itertools import permutations, product

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.program.program import Program
from .draft import Draft
from .packet_fields import fitting_rows
from .ways import Link, Place, end_of, links_into, places_of, way_to


def before(config: NetworkConfig, place: Place) -> Iterator[tuple[str, int, list[int], list[int]]]:
    """Yield what packets from inputs to an output can do, alone and when they meet.

    Each is a point, the VC of the output, the inputs of its packets, and the VCs by which an input
    has its packets one after the other.
    """
    vcs = range(config.vcs)
    for vc in vcs:
        at = f"at output {place.out}, VC {vc}"
        if at_once(config, place):
            yield f"two packets at once {at}", vc, [], [vc]
        for entry, _ in _after_pauses(config, place):
            yield kept_turn(entry, vc), vc, [], [vc]
        for pair in () if config.contention_free else sorted(place.pairs):
            for one, two in (pair, pair[::-1]):
                yield f"{one} before {two} {at}", vc, [one, two], [vc]
        for entry in place.ways:
            yield f"turn {entry} to {place.out}", vc, [entry], [vc]
            if place.out:
                yield f"turn {entry} to {place.out} on VC {vc}", vc, [entry], [vc]
            waits = place.out and not config.contention_free
            for one, two in permutations(vcs if waits else (), 2):
                yield f"VC {one} before {two} of input {entry} {at}", vc, [entry], [one, two]


def meetings(config: NetworkConfig, left: Set[str]) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs in which packets of all links of a router meet at one output, for each output.

    Each link sends several packets, of other lengths each time, so that every order of turns comes.
    Before that, one packet of each link comes in the same cycle. What is still ``left`` then has
    programs of its own.
    """
    places = [*places_of(config.topology, all_port=config.all_port)]
    for place in places:
        where = f"at output {place.out} of node {place.router}"
        ways = [*place.ways.values()]
        if len(ways) < 2 or config.contention_free:
            continue
        for vc in range(config.vcs):
            draft = _crowd(config, place, ([], ways), (vc, [vc]), (1, 99))
            yield f"Packets at once {where}", False, draft.program()
        # Of three that send long packets through an output, two always wait for their turn.
        orders = [[*ways, *_own(config, place)], ways[::-1], *map(list, permutations(ways, 2))]
        for vc, links in product(range(config.vcs), orders):
            yield f"Packets that meet {where}", False, _meeting(config, place, links, vc).program()
    for place in places:
        own, ways = _own(config, place), [*place.ways.values()]
        for point, vc, entries, order in before(config, place):
            these = [place.ways[entry] for entry in entries]
            others = [way for way in ways if way not in these]
            crowds = [(own, ways), ([], ways)]
            crowds += [
                (long, these) for long in ([], own, others, these[1:], [*others, *own, *own])
            ]
            for crowd, words, steps in product(
                crowds if entries else (), (99, 0), {1, config.steps}
            ):
                if point in left:
                    draft = _crowd(config, place, crowd, (vc, order), (steps, words))
                    yield f"Packets for {point}", False, draft.program()
            if point.startswith("two packets at once ") and point in left:
                draft = Draft(config)
                for way, step in at_once(config, place):
                    draft.send(way, _link(place), (vc, vc), step, 1)
                yield f"Packets for {point}", False, draft.program()
        for (entry, ways), vc in product(_after_pauses(config, place), range(config.vcs)):
            draft = Draft(config)
            for way, step in zip(ways, (1, 2, 2), strict=True):
                draft.send(way, None, (vc, vc), step, 1)
            draft.receives[place.router].append((3, 0))
            yield f"Packets for {kept_turn(entry, vc)}", True, draft.program()


def in_first_turns(config: NetworkConfig, left: Set[str]) -> Iterator[tuple[str, bool, Program]]:
    """Yield the programs of :func:`first_turns` for the points that are still ``left``."""
    for place in places_of(config.topology, all_port=config.all_port):
        for point, program in first_turns(config, place):
            if point in left:
                yield f"Packets for {point}", False, program


def taking_turns(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs in which short and long packets wait at an output, for each output.

    Several packets of an input wait behind each other, and those of another one beside them. In a
    second program, short packets wait at every input until a long one leaves the next router. In a
    third one, packets of two inputs alternate while further ones of both wait.
    """
    for place in places_of(config.topology, all_port=config.all_port):
        ways = [*place.ways.values(), *_own(config, place)]
        if len(ways) < 2 or config.contention_free:
            continue
        for vc in range(config.vcs):
            draw, draft = np.random.default_rng((29, place.out, vc)), Draft(config)
            most = min(config.steps, len(ways) * fitting_rows(config))
            for step in range(1, most + 1):
                length = int(draw.choice([0, 0, 1, 2 * config.depth]))
                way = ways[int(draw.integers(len(ways)))]
                draft.send(way, _link(place), (vc, vc), step, length)
            yield f"Packets that take turns at output {place.out}", False, draft.program()
            blocking = _blocking_ways(config, place)
            most = min(config.steps, 2 * fitting_rows(config)) if blocking else 0
            draft = Draft(config)
            for step in range(1, most + 1):
                turn, at = divmod(step - 1, 2 * len(ways) + 1)
                if at:
                    arriving = (at + turn) % config.vcs
                    draft.send(ways[at % len(ways)], _link(place), (arriving, vc), step, 0)
                else:
                    draft.send(blocking[0], None, (vc, vc), step, 99)
            if most:
                name = f"Packets that wait behind output {place.out} of node {place.router}"
                yield name, False, draft.program()
            for pair in sorted(place.pairs) if config.steps > 1 else ():
                draft = _alternating(config, place, [place.ways[entry] for entry in pair], vc)
                yield f"Packets that alternate at output {place.out}", False, draft.program()


def _alternating(config: NetworkConfig, place: Place, ways: Sequence[list[Link]], vc: int) -> Draft:
    """Return a program of packets that come over two ways as fast as they can, a message by each.

    Packets of one flit alternate with longer ones, so that a small buffer holds more than one.
    """
    draft, most = Draft(config), fitting_rows(config) - 1
    for number, (step, way) in product(range(most), enumerate(ways, 1)):
        more = number + 1 < most
        draft.send(way, _link(place), (vc, vc), step, number % 2, continued=more)
    return draft


def _blocking_ways(config: NetworkConfig, place: Place) -> list[list[Link]]:
    """Return ways by which a packet comes to the node behind an output by another link."""
    if not place.out:
        return []
    there, _ = end_of(config.topology, (place.router, place.out))
    if there in config.topology.switches:
        return []
    links = [link for link in links_into(config.topology, there) if link[0] != place.router]
    return [way for way in (way_to(config.topology, link) for link in links) if way]


def first_turns(config: NetworkConfig, place: Place) -> Iterator[tuple[str, Program]]:
    """Yield programs whose first packets at an output come at once, on VC 0 and on another VC.

    Each has its point. After a reset it is the turn of VC 0. Its packet is the longer one: at the
    end of the run it is the turn of another VC. If both have the same step and target, the run
    fails with the second one; a further step keeps it from an end before that.
    """
    ways = at_once(config, place, own=True)
    for vc in range(1, config.vcs if ways else 1):
        draft = Draft(config)
        for (way, step), on, words in zip(ways, (0, vc), (2, 0), strict=True):
            draft.send(way, _link(place), (on, on), step, words)
        (first, *others), *further = draft.receives.values()
        if not others and not further:
            draft.receives = {at: [first, (2, first[1])] for at in draft.receives}
        program = draft.program()
        if program.steps <= config.steps:
            yield first_turn(place.out, vc), program


def first_turn(out: int, vc: int) -> str:
    """Return the point of the first packets of an output, which come at once on two VCs."""
    return f"VC 0 and VC {vc} at once, first at output {out}"


def at_once(
    config: NetworkConfig, place: Place, *, own: bool = False
) -> list[tuple[list[Link], int]]:
    """Return two ways by which packets reach an output in one cycle, and their steps, if any do.

    A step takes a cycle, so that a packet of a later one can come over a shorter way. A node with
    one port sends a packet after the other. One of the ways may be that of the router's ``own``
    node, which has no link.
    """
    ways = [*place.ways.values(), *(_own(config, place) if own else ())]
    for one, other in () if config.contention_free else permutations(ways, 2):
        is_same = not config.all_port and one and other and one[0][0] == other[0][0]
        two = way_to(config.topology, other[-1], besides=one[0][0]) if is_same else other
        if is_same and not two:
            continue
        cycles = [
            sum(int(config.registers_of_links[link]) + 1 for link in way) for way in (one, two)
        ]
        early = cycles[0] - cycles[1]
        if abs(early) < config.steps:
            return [(one, 1 + max(0, -early)), (two, 1 + max(0, early))]
    return []


def kept_turn(entry: int, vc: int) -> str:
    """Return the point of an output to a node whose turn a packet of an input moves.

    After a pause, packets of this input and of another one come in the same cycle.
    """
    return f"the turn after input {entry} stays in a pause at output 0, VC {vc}"


def _after_pauses(config: NetworkConfig, place: Place) -> list[tuple[int, list[list[Link]]]]:
    """Return inputs, and the ways of a packet before a pause and of the two packets behind it.

    A barrier makes the pause, and then both packets start in one cycle; their words tell which one
    comes first. The second one makes the run fail; a third step keeps it from an end before that.
    """
    pair = [way for way, step in at_once(config, place) if step == 1]
    if place.out or len(pair) < 2 or config.steps < 3:
        return []
    return [(end_of(config.topology, way[-1])[1], [way, *pair]) for way in pair]


def _link(place: Place) -> Link | None:
    """Return the link of an output; None if the output is that to the node."""
    return (place.router, place.out) if place.out else None


def _own(config: NetworkConfig, place: Place) -> list[list[Link]]:
    """Return the way of no link by which a router's own node sends to an output."""
    return [[]] if place.out and place.router in config.topology.working_nodes else []


def _meeting(config: NetworkConfig, place: Place, ways: Sequence[list[Link]], vc: int) -> Draft:
    """Return a program whose packets come over some ways, in turn, to an output's ``vc``."""
    draft = Draft(config)
    out = _link(place)
    for step in range(1, min(config.steps, 4 * config.vcs * len(ways)) + 1):
        arriving = (step - 1) // len(ways) % config.vcs if out else vc
        length = 2 * config.depth + 4 + step % 3
        if len(ways) == 2 and step % 2 == 0:
            # Several short packets of a link wait behind a long one of the other.
            length = min(1, config.depth - 1)
        draft.send(ways[step % len(ways)], out, (arriving, vc), step, length)
    return draft


def _crowd(
    config: NetworkConfig,
    place: Place,
    ways: tuple[Sequence[list[Link]], Sequence[list[Link]]],
    vcs: tuple[int, Sequence[int]],
    limits: tuple[int, int],
) -> Draft:
    """Return a program whose packets come over ways together, and so for further VCs.

    Before those that come over the second ``ways``, a long packet comes over each of the first.
    ``vcs`` are the VC from the output on and those before it, ``limits`` the most steps, and words
    of a packet. Packets share the last step, and the run fails with the second one of it; otherwise
    a second step without a packet keeps it from an end.
    """
    (steps, most), (vc, order) = limits, vcs
    draft = Draft(config)
    out = _link(place)
    packets = [(way, order[0], 99) for way in ways[0]]
    packets += [(way, arriving, most) for arriving, way in product(order, ways[1])]
    for number, (way, arriving, words) in enumerate(packets, 1):
        draft.send(way, out, (arriving, vc), min(number, steps), words)
    if steps < config.steps:
        for receives in draft.receives.values():
            receives.append((steps + 1, receives[-1][1]))
    return draft
