"""Cost of a collective on a hypercube: one row of the tables of Johnsson & Ho.

S. L. Johnsson and C.-T. Ho, "Spanning Graphs for Optimum Broadcasting and Personalized
Communication in Hypercubes", YALEU/DCS/TR-500, November 1986, called *1986* in the modules of this
package. A hypercube of dimension n has N = 2^n nodes; M is the *words* (their elements) that a
source has for all (broadcast, all-gather) or for each node (scatter, all-to-all: their personalized
communication); B the *packet*, the most words that one start-up moves; τ a start-up's time and t_c
a word's. What they call a routing cycle is a step here. All times are

    T = start-ups · τ + transferred · t_c,

both summed over the steps: the packets that the busiest send of the step needs, and its words.

Ports (section 2, and section 4.1 for the last two): *one-port*, a node exchanges with one
neighbour; *n-port*, all ports at once; *half-duplex*, a send or a receive; *full-duplex*, a send
and a receive on any two ports.

Nearly all rows are of two kinds, for which this module has constructors:

* **By step**: step *i* moves a share of M, as one message of as many packets as it takes. T is a
  sum over the steps, least with packets for the largest share.
* **Pipelined**: the packets follow each other through a graph. T has packets before and behind;
  small ones fill the graph sooner, large ones cost fewer start-ups: the optimum has square roots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, pi, sqrt

from ....base.errors import InvalidInput, require_range

Number = int | float | Fraction
"""Integers and fractions are exact; floats come from square roots and logarithms."""

PORTS = ("one-port", "n-port", "half-duplex", "full-duplex")

HOLDS = ("=", "<=", "~")
"""Kinds of rows: what the steps cost, an upper bound of it, or near to it."""


def ceil_div(number: Number, divisor: Number) -> int:
    """Return the least integer that is not below ``number / divisor``."""
    return int(-(-number // divisor))


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One row of a table.

    collective, graph, ports
        What it is the cost of: ``"scatter"`` by ``"sbt"``, ``"one-port"``.
    place
        Where it stands: "Table 7", "Section 4.1.1".
    start_ups, transferred
        Of (n, M, B): start-ups, and words on the critical path.
    best_packet, least_time
        Of (n, M, τ, t_c): B_opt and T_min, as printed. Pipelined rows take packets for divisible,
        so that B_opt may be above M or below 1 (:meth:`best_possible`), and T_min below what any
        packet reaches (:meth:`best_whole_packet`).
    holds
        One of ``HOLDS``.
    least_dimension
        The least n for which the row holds.
    pipelined
        Whether packets follow each other: then the words transferred depend on B.
    largest_packet
        Of (n, M): the most words that a packet of a pipelined row can have; M, or its n-th part.
    """

    collective: str
    graph: str
    ports: str
    place: str
    start_ups: Callable[[int, int, Number], Number]
    transferred: Callable[[int, int, Number], Number]
    best_packet: Callable[[int, int, Number, Number], Number]
    least_time: Callable[[int, int, Number, Number], Number]
    holds: str = "="
    least_dimension: int = 1
    pipelined: bool = False
    largest_packet: Callable[[int, int], Number] = lambda n, words: words

    def time(self, n: int, words: int, packet: Number, tau: Number, tc: Number) -> Number:
        """Return T for packets of ``packet`` words, in the unit of ``tau`` and ``tc``.

        Raises :class:`.InvalidInput` for a dimension below ``least_dimension``, and where words,
        packet or times are not positive (the times: negative).
        """
        self._require(n, words, tau, tc)
        if packet <= 0:
            raise InvalidInput.of("packet", "above 0", packet)
        return self.start_ups(n, words, packet) * tau + self.transferred(n, words, packet) * tc

    def possible(self, n: int, words: int, packet: Number) -> Number:
        """Return the packet nearest to ``packet`` that the row can have: of a word to the message.

        A row by step may be given any: a packet larger than its step is as large as the step.
        """
        return max(1, min(packet, self.largest_packet(n, words))) if self.pipelined else packet

    def best_possible(self, n: int, words: int, tau: Number, tc: Number) -> tuple[Number, Number]:
        """Return B_opt and T_min; of a pipelined row, for B_opt of one word to the whole message.

        Where B_opt is outside, the nearest packet is taken, and T with it: T falls up to B_opt and
        rises from there on. Raises :class:`.InvalidInput` as :meth:`time`.
        """
        self._require(n, words, tau, tc)
        best = self.best_packet(n, words, tau, tc)
        possible = self.possible(n, words, best)
        if possible == best:
            return best, self.least_time(n, words, tau, tc)
        return possible, self.time(n, words, possible, tau, tc)

    def best_whole_packet(self, n: int, words: int, tau: Number, tc: Number) -> tuple[int, Number]:
        """Return the packet of 1, 2, 3 ... words with the least T, the smallest of equals, and T.

        A pipelined row has no packets above M. Raises :class:`.InvalidInput` as :meth:`time`.
        """
        self._require(n, words, tau, tc)
        most = words if self.pipelined else ceil(self.best_packet(n, words, tau, tc))
        times = ((self.time(n, words, packet, tau, tc), packet) for packet in range(1, most + 1))
        least, packet = min(times)
        return packet, least

    def _require(self, n: int, words: int, tau: Number, tc: Number) -> None:
        require_range(f"dimension for {self.graph}, {self.ports}", n, self.least_dimension)
        require_range("words", words, 1)
        for name, time in (("start-up time", tau), ("time of a word", tc)):
            if time < 0:
                raise InvalidInput.of(name, "0 or more", time)


@dataclass(frozen=True)
class Steps:
    """The shares of M that the steps of a row move: ``numerators[i] / denominator`` in step i."""

    numerators: Sequence[int]
    denominator: int = 1

    def start_ups(self, words: int, packet: Number) -> int:
        """Start-ups of all steps together."""
        whole = packet * self.denominator
        return sum(ceil_div(share * words, whole) for share in self.numerators)

    def transferred(self, words: int) -> Fraction:
        """Words of all steps together."""
        return Fraction(sum(self.numerators) * words, self.denominator)

    def largest(self, words: int) -> Fraction:
        """Words of the step that moves most: with packets of these a step has one start-up."""
        return Fraction(max(self.numerators) * words, self.denominator)

    def words(self, words: int) -> tuple[Fraction, ...]:
        """Words of each step, the first first."""
        return tuple(Fraction(share * words, self.denominator) for share in self.numerators)


@dataclass(frozen=True, kw_only=True)
class StepCost(Cost):
    """A row by step: ``steps`` of n gives what its steps move."""

    steps: Callable[[int], Steps]


def by_step(
    collective: str,
    graph: str,
    ports: str,
    place: str,
    steps: Callable[[int], Steps],
    least_dimension: int = 1,
) -> StepCost:
    """A row whose steps move ``steps(n)``, each as one message."""
    return StepCost(
        collective=collective,
        graph=graph,
        ports=ports,
        place=place,
        least_dimension=least_dimension,
        steps=steps,
        start_ups=lambda n, words, packet: steps(n).start_ups(words, packet),
        transferred=lambda n, words, packet: steps(n).transferred(words),
        best_packet=lambda n, words, tau, tc: steps(n).largest(words),
        least_time=lambda n, words, tau, tc: (
            steps(n).transferred(words) * tc + len(steps(n).numerators) * tau
        ),
    )


@dataclass(frozen=True)
class Pipeline:
    """Packets through a graph: ``period`` steps from one to the next, and ``fill`` steps more.

    M is cut into ``trees`` equal parts, which go side by side. So ceil(M / (trees B)) packets
    follow each other, and T = (period · packets + fill) τ + (period · M / trees + fill · B) t_c.
    The last packet may be shorter: at least ``period`` steps move nothing else.
    """

    period: int
    fill: int
    trees: int = 1

    def start_ups(self, words: int, packet: Number) -> int:
        """Start-ups of all packets together."""
        return self.period * ceil_div(words, packet * self.trees) + self.fill

    def transferred(self, words: int, packet: Number) -> Number:
        """Words on the critical path."""
        return Fraction(self.period * words, self.trees) + self.fill * packet

    def best_packet(self, words: int, tau: Number, tc: Number) -> Number:
        """Packet at which the derivative of T by B is zero, as though packets were divisible.

        Without a fill, or with words that take no time, nothing speaks against one packet.
        """
        if not self.fill or not tc:
            return Fraction(words, self.trees)
        return sqrt(self.period * words * tau / (self.trees * self.fill * tc))

    def least_time(self, words: int, tau: Number, tc: Number) -> Number:
        """Return T at the best packet."""
        if not self.fill or not tc:  # one packet, which no square root has a say in
            return (self.period + self.fill) * tau + Fraction(self.period * words, self.trees) * tc
        return (sqrt(self.period * words * tc / self.trees) + sqrt(self.fill * tau)) ** 2


def pipelined(
    collective: str,
    graph: str,
    ports: str,
    place: str,
    pipeline: Callable[[int], Pipeline],
    least_dimension: int = 1,
) -> Cost:
    """A row whose packets go through ``pipeline(n)``."""
    return Cost(
        collective=collective,
        graph=graph,
        ports=ports,
        place=place,
        least_dimension=least_dimension,
        pipelined=True,
        start_ups=lambda n, words, packet: pipeline(n).start_ups(words, packet),
        transferred=lambda n, words, packet: pipeline(n).transferred(words, packet),
        best_packet=lambda n, words, tau, tc: pipeline(n).best_packet(words, tau, tc),
        least_time=lambda n, words, tau, tc: pipeline(n).least_time(words, tau, tc),
        largest_packet=lambda n, words: Fraction(words, pipeline(n).trees),
    )


def with_stirling_packet(row: StepCost, place: str) -> StepCost:
    """The row with B_opt as the tables have it where the largest step is a binomial.

    That is NM / sqrt(2 pi (n-1)) for the SBT (Lemma 5.1) and else sqrt(2/pi) NM / n^(3/2), which
    are Stirling's approximations, from above: packets that suffice, but not the smallest. (The
    scan has 2NM / (pi n^(3/2)) under one root in Table 19, and sqrt(2/n) for sqrt(2/pi) in sections
    6.2 and 7.1.)
    """

    def best_packet(n: int, words: int, tau: Number, tc: Number) -> float:
        if row.graph == "sbt":
            return (1 << n) * words / sqrt(2 * pi * (n - 1))
        return sqrt(2 / pi) * (1 << n) * words / sqrt(n) ** 3

    return replace(row, place=place, holds="~", best_packet=best_packet, least_dimension=2)
