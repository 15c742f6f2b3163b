"""Transmitting on binary trees and star trees (Ho, Hsu & Sung 1996, sections 3 and 4).

**Star trees.** The host sends to the centre in step 1. In step n + 1 the first n nodes of each arm
have the message; the rest of the arms is cut into intervals of 2n - 1, 2n - 3, ... nodes, to whose
middles the host sends in steps 2, 3, ... The odd numbers must be dealt out to the arms so that
each gets enough. Lemma 1 of the paper does so evenly for n a multiple of the number of arms::

    arms 3, n = 6     n^2 / 3 = 12:   11 + 1     9 + 3     7 + 5

**Where the paper claims too much.** Theorem 4 claims that (t, s) = (n + 1, n + 1) can be reached on
any star tree of p arms of length k, where n is the least integer with n^2 / p + n >= k. But Lemma 1
needs n to be a multiple of p. The claim is false for 3 arms of length 3: n is 2, the message of the
centre does not get to the three leaves in time, and only two sends are left for them. The search
(:mod:`.search`) proves that (3, s) is impossible there for any s, and that (4, 1) is the best.

**Lower bound** for star trees of p >= 2 arms, by counting; the paper has none. Let ball i have
radius r_i and its centre on an arm, x_i links from the tree's centre.

* If r_i < x_i, the ball lies on its own arm and holds at most 2 r_i + 1 nodes.
* All other balls hold the tree's centre, and reach r_i - x_i links or more along every arm. Let M
  be the largest r_i - x_i, and ball 1 a ball that has it. Together these balls hold the 1 + pM
  nodes within M links of the tree's centre. Each holds at most x_i + r_i - M more, on its own arm,
  which is at most 2 x_i <= 2 r_i.
* For ball 1, with M = r_1 - x_1 and p >= 2, 1 + pM + 2 x_1 is at most 1 + p r_1. Every other ball
  adds at most 2 r_i + 1.

So all 1 + pk nodes are held only if 1 + pk is at most the sum of 2 r_i + 1 over all balls, plus
(p - 2) r_1, where r_1 is at most t - 1. Also, a ball of a radius below k holds at most one leaf: if
t is at most k, the host sends p times or more.
"""

from collections.abc import Sequence
from math import isqrt

from ...base.errors import InvalidInput, require_range
from ...network.faults import with_faults
from ...network.named_graphs import star_tree, star_tree_size
from ...network.topology import Topology, line
from .lines import path_plan
from .plan import Plan, counted_time, counted_work, require_kind

_MOST_TRIES = 20_000
"""After this many cases the search for a way to deal out odd numbers ends, and a step is added."""


def corollary_2_plan(topology: Topology) -> Plan:
    """The plan of Theorem 2 and Corollary 2 for binary trees of 2^n - m nodes, m <= 2^(n - 1).

    For m = 1 and 2 the host sends to the root alone. Otherwise it sends to vertices 2, 6, 14, ...
    and last to the next vertex, the sister of the last of these. The paper's numbers of vertices
    are larger by one than ours.
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
    """Lower bounds on (t, s) for binary trees, as balls must hold all nodes of one level.

    A ball of radius r holds at most 2^r nodes of a level: all of them are below one node, at most r
    links above the level, and each link down doubles their number (proof of Theorem 2). The bounds
    are the larger of those for the two lowest levels.
    """
    height = topology.nodes.bit_length()
    lowest = topology.nodes + 1 - (1 << (height - 1))
    above = 1 << (height - 2) if height > 1 else 0
    powers = [1 << radius for radius in range(height)]
    time = max(counted_time(powers, lowest), counted_time(powers, above))
    return time, max(counted_work(powers, nodes, time) for nodes in (lowest, above, 1))


def odd_partition(parts: int, n: int) -> list[list[int]]:
    """Lemma 1: 1, 3, ..., 2n - 1 dealt out to ``parts`` lists, each with the sum n^2 / parts.

    The cases are those of the paper. Raises :class:`InvalidInput` unless ``parts`` divides ``n``
    and is less than ``n``.
    """
    require_range("parts of the odd numbers", parts, 1)
    if n % parts or n == parts or n < 1:
        raise InvalidInput.of("n of the odd numbers", f"a multiple of {parts}, and more", n)
    quotient = n // parts
    if quotient % 2 == 0:
        lists: list[list[int]] = [[] for _ in range(parts)]
    else:
        lists = _three_each(parts)
    # Deal the other odd numbers in runs of 2 * parts: the first and the last number of a run go to
    # one list, the second and the last but one to the next, and so on.
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

    The paper's n is the least integer with n^2 / arms + n >= length. If the number of arms does not
    divide n, or is equal to n, Lemma 1 gives no plan. The plan is then made for the next larger n
    with a plan, and its counted cost may be more than the paper claims. The paper has no star trees
    of one arm.
    """
    arms, length = _require_star(topology)
    require_range("arms of a star tree of the paper", arms, 2)
    least = _least_inner(arms, length)
    n = arms * max(-(-least // arms), 2)
    sends = _interval_sends(topology, odd_partition(arms, n), inner=n, first_step=2)
    return Plan(topology, ((1, 0), *sends), "Theorem 4", claim=(least + 1, least + 1))


def star_plan(topology: Topology) -> Plan:
    """Return the best plan found for star trees in which the host sends to the centre first.

    One or two arms are a line, and get the optimal plan for lines. If the tree is small enough,
    :mod:`.search` looks for plans between the lower bound and this plan.
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
    """Return the sends to the middles of intervals on the arms, (step, node) in order of steps.

    Arm *a* gets intervals of the lengths ``lists[a]``, one after the other, outwards from its first
    ``inner`` nodes. The host sends to the interval of length ``longest``, by default that of the
    longest one, in ``first_step``, and to an interval that is shorter by 2 one step later.
    Intervals beyond the arm's end are left out; a middle beyond it moves to the arm's last node.
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
    """Deal the fewest of 2n - 1, 2n - 3, ... so that each arm has the sum ``wanted`` or more."""
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
        """Return the list to which each number goes, from the number at ``place`` on."""
        wanted = self._wanted
        needed = sum(max(want, 0) for want in wanted)
        if not needed:
            return []
        self._tries -= 1
        if left < needed or self._tries < 0:
            return None
        number = self._numbers[place]
        # Try first the list that the number completes exactly, then the others, those that want
        # most first. Of lists that want the same, one is tried.
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
