"""Transmitting on binary trees and star trees (Ho, Hsu & Sung 1996, sections 3 and 4).

**Star trees.** The host sends to the centre in step 1. In step n + 1 the first n nodes of each arm
have the message; the rest of the arms is cut into intervals of 2n - 1, 2n - 3, ... nodes, to whose
middles the host sends in steps 2, 3, ... The odd numbers must be dealt out to the arms so that
each gets enough. Lemma 1 of the paper does so evenly for n a multiple of the number of arms::

    arms 3, n = 6     n^2 / 3 = 12:   11 + 1     9 + 3     7 + 5

**What is less than the paper says.** Theorem 4 claims for any star tree of p arms and length k that
(n + 1, n + 1) can be reached, n the least integer with n^2 / p + n >= k, but Lemma 1 needs n to be
a multiple of p. It cannot be reached with 3 arms of length 3: n = 2, and what the centre leaves are
the three leaves, for which there are two sends. The search (:mod:`.search`) proves that
(3, s) is impossible there for any s, and (4, 1) the best.

**Lower bound** for star trees of p >= 2 arms, by counting, which the paper leaves out. Let ball i
have radius r_i and its centre on an arm x_i links from the tree's. If r_i < x_i it holds at most
2 r_i + 1 nodes. All others hold the tree's centre and reach out on every arm at least r_i - x_i
links; let M be the most of these, of ball 1. Together they hold 1 + pM nodes, and what they hold
beyond M on their own arms: at most x_i + r_i - M <= 2 x_i <= 2 r_i each. With M = r_1 - x_1 and
p >= 2 all balls hold at most 1 + p r_1 and the others' 2 r_i + 1 each, which is (p - 2) r_1 more
than 2 r_i + 1 for all of them. So 1 + pk <= that, with r_1 = t - 1. And of the leaves, a ball of a
radius below k holds one at most: in k steps or less the host sends p times or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from ...base.errors import InvalidInput, require_range
from ...network.faults import with_faults
from ...network.named_graphs import star_tree, star_tree_size
from ...network.topology import Topology, line
from .lines import path_plan
from .plan import Plan, counted_time, counted_work, require_kind

_MOST_TRIES = 20_000
"""Cases after which dealing out odd numbers is given up, and one step more is taken."""


def corollary_2_plan(topology: Topology) -> Plan:
    """The plan of Theorem 2 and Corollary 2 for binary trees of 2^n - m nodes, m <= 2^(n - 1).

    To the root alone for m = 1 and 2; else to vertices 2, 6, 14, ..., the last of them and its
    sister, in the paper's numbers, which are larger by one.
    """
    require_kind(topology, "binary-tree")
    height = topology.nodes.bit_length()
    missing = (1 << height) - topology.nodes
    if missing <= 2:
        return Plan.of_centres(topology, [0], "Corollary 2", claim=(height, 1))
    sends = height - ((missing - 1).bit_length() - 1)
    vertices = [2]
    while len(vertices) < sends - 1:
        vertices.append(2 * (vertices[-1] + 1))
    vertices.append(vertices[-1] + 1)
    centres = [vertex - 1 for vertex in vertices]
    return Plan.of_centres(topology, centres, "Corollary 2", claim=(height - 1, sends))


def binary_tree_bound(topology: Topology) -> tuple[int, int]:
    """Lower bounds on (t, s) for binary trees: nodes of one level that balls must hold.

    No ball of radius r holds more than 2^r nodes of a level: from the node in the middle of its way
    to the lowest of them, which is r links above at most, there is a choice at each link down.
    (Proof of Theorem 2.) The two lowest levels count, each for itself.
    """
    height = topology.nodes.bit_length()
    lowest = topology.nodes + 1 - (1 << (height - 1))
    above = 1 << (height - 2) if height > 1 else 0
    powers = [1 << radius for radius in range(height)]
    time = max(counted_time(powers, lowest), counted_time(powers, above))
    return time, max(counted_work(powers, nodes, time) for nodes in (lowest, above, 1))


def odd_partition(parts: int, n: int) -> list[list[int]]:
    """Lemma 1: 1, 3, ..., 2n - 1 dealt out to ``parts`` lists, each with the sum n^2 / parts.

    The cases are the paper's. Raises :class:`InvalidInput` unless ``parts`` divides ``n`` and is
    less.
    """
    require_range("parts of the odd numbers", parts, 1)
    if n % parts or n == parts or n < 1:
        raise InvalidInput.of("n of the odd numbers", f"a multiple of {parts}, and more", n)
    quotient = n // parts
    if quotient % 2 == 0:
        lists: list[list[int]] = [[] for _ in range(parts)]
    else:
        lists = _three_each(parts)
    # The others in runs of 2 * parts odd numbers, of which the first and the last go together.
    for begin in range(6 * parts * (quotient % 2), 2 * n, 4 * parts):
        for k, numbers in enumerate(lists, start=1):
            numbers += [begin + 2 * k - 1, begin + 4 * parts - (2 * k - 1)]
    return lists


def _three_each(p: int) -> list[list[int]]:
    """Case 2 of Lemma 1, n = 3p: the lists D_1, D_2, ... of the paper."""
    if p % 2 == 0:
        half = range(1, p // 2 + 1)
        pairs = [[3 * p + 2 * i - 1, 6 * p - (2 * i - 1)] for i in half]
        return pairs + [
            [2 * i - 1, 2 * p - 2 * i + 1, 2 * p + 2 * i - 1, 5 * p - 2 * i + 1] for i in half
        ]
    middle = 2 * ((p + 1) // 2)
    return [
        [2 * i - 1, 2 * p + middle - i, 6 * p - i]
        if i % 2
        else [2 * i - 1, 4 * p - i + 1, 4 * p + middle - i - 1]
        for i in range(1, p + 1)
    ]


def theorem_3_lines_plan(parts: int, n: int) -> Plan:
    """Theorem 3, first half: ``parts`` separate lines of n^2 / parts nodes each, in n steps.

    The network is a star tree without its centre. Raises :class:`InvalidInput` as
    :func:`odd_partition` does.
    """
    lists = odd_partition(parts, n)
    lines = with_faults(star_tree(parts, n * n // parts), [0])
    sends = _interval_sends(lines, lists, inner=0, first_step=1)
    return Plan(lines, tuple(sends), "Theorem 3", claim=(n, n))


def theorem_4_plan(topology: Topology) -> Plan:
    """Return the plan of Theorems 3 and 4 for star trees; its claim is that of Theorem 4.

    The paper's n is the least integer with n^2 / arms + n >= length. Where the number of arms does
    not divide it, or is equal, Lemma 1 gives no plan; n is then the next for which it does, and
    what is counted may be more than is claimed. The paper has no star trees of one arm.
    """
    arms, length = _require_star(topology)
    require_range("arms of a star tree of the paper", arms, 2)
    least = _least_inner(arms, length)
    n = arms * max(-(-least // arms), 2)
    sends = _interval_sends(topology, odd_partition(arms, n), inner=n, first_step=2)
    return Plan(topology, ((1, 0), *sends), "Theorem 4", claim=(least + 1, least + 1))


def star_plan(topology: Topology) -> Plan:
    """The best plan for star trees that sends to the centre first, as far as odd numbers are dealt.

    Two arms or one make a line, and have the optimal plan for it. What is between the lower bound
    and this plan is for :mod:`.search`, where the tree is small enough.
    """
    arms, length = _require_star(topology)
    if arms <= 2:
        order = [*range(length, 0, -1), 0, *range(length + 1, topology.nodes)]
        middles = path_plan(line(topology.nodes)).sends
        centres = [order[middle] for _, middle in middles]
        return Plan.of_centres(topology, centres, "intervals")
    n = star_bound(arms, length)[0] - 1
    while (lists := _dealt(n, arms, length - n)) is None:
        n += 1
    sends = _interval_sends(topology, lists, inner=n, first_step=2, longest=2 * n - 1)
    return Plan(topology, ((1, 0), *sends), "intervals")


def star_bound(arms: int, length: int) -> tuple[int, int]:
    """Lower bounds on (t, s) for star trees, see the top of this module; one arm is a line too."""
    nodes, branches = 1 + arms * length, max(arms - 2, 0)
    time = 1
    while time * time + branches * (time - 1) < nodes:
        time += 1
    time = max(time, min(arms, length + 1))
    paths = nodes - branches * (time - 1)
    work = counted_work([2 * r + 1 for r in range(time)], paths, time)
    return time, max(work, arms if time <= length else 1)


def _least_inner(arms: int, length: int) -> int:
    """Return the paper's px, rounded up: the least n with n^2 / arms + n >= length."""
    n = (isqrt(arms * arms + 4 * arms * length) - arms) // 2
    return n if n * n + arms * n >= arms * length else n + 1


def _interval_sends(
    topology: Topology,
    lists: Sequence[Sequence[int]],
    *,
    inner: int,
    first_step: int,
    longest: int | None = None,
) -> list[tuple[int, int]]:
    """(step, node) of the sends to the middles of intervals, laid outwards on the arms, in order.

    Arm *a* gets intervals of the lengths ``lists[a]`` behind its first ``inner`` nodes. The
    interval of ``longest``, by default the longest of all, is for ``first_step``, each shorter one
    for a step later. Intervals beyond the arm's end are left out, middles moved onto it.
    """
    _, length = star_tree_size(topology)
    longest = longest or max(map(max, lists))
    sends = []
    for arm, sizes in enumerate(lists):
        begin = inner + 1
        for size in sizes:
            if begin <= length:
                place = min(begin + size // 2, length)
                sends.append((first_step + (longest - size) // 2, arm * length + place))
            begin += size
    return sorted(sends)


def _dealt(n: int, arms: int, wanted: int) -> list[list[int]] | None:
    """The fewest of 2n - 1, 2n - 3, ..., dealt out so that each arm gets ``wanted`` or more."""
    if wanted <= 0:
        return [[] for _ in range(arms)]
    for count in range(arms, n + 1):
        numbers = [2 * n - 1 - 2 * place for place in range(count)]
        if sum(numbers) >= arms * wanted:
            lists = _Dealing(numbers, [wanted] * arms).lists()
            if lists is not None:
                return lists
    return None


class _Dealing:
    """The search for a way to deal ``numbers``, descending, to lists with the sums ``wanted``."""

    def __init__(self, numbers: list[int], wanted: list[int]) -> None:
        self._numbers = numbers
        self._wanted = wanted
        self._tries = _MOST_TRIES

    def lists(self) -> list[list[int]] | None:
        """Return the lists, or None if there are none or the tries are used up."""
        chosen = self._deal(0, sum(self._numbers))
        if chosen is None:
            return None
        lists: list[list[int]] = [[] for _ in self._wanted]
        for number, to in zip(self._numbers, chosen, strict=False):
            lists[to].append(number)
        return lists

    def _deal(self, place: int, left: int) -> list[int] | None:
        """To which list each number goes, from that at ``place`` on."""
        wanted = self._wanted
        needed = sum(max(want, 0) for want in wanted)
        if not needed:
            return []
        self._tries -= 1
        if left < needed or self._tries < 0:
            return None
        number = self._numbers[place]
        # What it fits exactly first, then whoever wants most; the same want is tried once.
        options = {want: to for to, want in enumerate(wanted) if want > 0}
        for want in sorted(options, key=lambda want: (want != number, -want)):
            wanted[options[want]] -= number
            rest = self._deal(place + 1, left - number)
            wanted[options[want]] += number
            if rest is not None:
                return [options[want], *rest]
        return None


def _require_star(topology: Topology) -> tuple[int, int]:
    require_kind(topology, "star-tree")
    return star_tree_size(topology)
