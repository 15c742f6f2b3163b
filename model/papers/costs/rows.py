"""Rows of the tables of Johnsson & Ho: each is the cost of a collective on a hypercube.

S. L. Johnsson and C.-T. Ho, "Spanning Graphs for Optimum Broadcasting and Personalized
Communication in Hypercubes", YALEU/DCS/TR-500, November 1986, called *1986* in the modules of this
package. A hypercube of dimension n has N = 2^n nodes. M are the *words* (the paper's elements) that
a source has for all nodes together (broadcast, all-gather) or for each node (scatter, all-to-all:
the paper's personalized communication). B is the *packet*, the most words that one start-up moves;
τ is the time of a start-up and t_c that of a word. A step is the paper's routing cycle. All times
are T = start-ups · τ + transferred · t_c, both summed over the steps: the packets of the step's
busiest send, and its words.

Ports (section 2; the last two section 4.1): *one-port*, a node exchanges with one neighbour;
*n-port*, all ports at the same time; *half-duplex*, a send or a receive; *full-duplex*, a send and
a receive on any two ports.

Nearly all rows are of two kinds, for which this module has constructors:

* **By step**: step *i* moves a share of M as one message of one or more packets. T is a sum over
  the steps; it is least if a packet holds the largest share.
* **Pipelined**: the packets follow each other through a graph. Small packets fill the graph sooner,
  large ones need fewer start-ups: the optimum has square roots.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt

from ...base.errors import InvalidInput, require_range

Number = int | float | Fraction
"""Integers and fractions are exact; floats come from square roots and logarithms."""

PORTS = ("one-port", "n-port", "half-duplex", "full-duplex")


def ceil_div(number: Number, divisor: Number) -> int:
    """Return the least integer that is not below ``number / divisor``."""
    return int(-(-number // divisor))


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One row of a table.

    collective, graph, ports
        For example ``"scatter"`` by ``"sbt"``, ``"one-port"``.
    place
        The row's place in the paper: "Table 7", "Section 4.1.1".
    start_ups, transferred
        Functions of (n, M, B): start-ups, and words on the critical path.
    best_packet, least_time
        Functions of (n, M, τ, t_c): B_opt and T_min, as printed. Pipelined rows treat packets as
        divisible, so B_opt may be above M or below 1 (:meth:`best_possible`), and T_min below the
        time with any whole packet (:meth:`best_whole_packet`).
    least_dimension
        The least n for which the row holds.
    pipelined
        Whether packets follow each other: then the words transferred depend on B.
    largest_packet
        A function of (n, M): the most words of a pipelined row's packet; M, or its n-th part.
    """

    collective: str
    graph: str
    ports: str
    place: str
    start_ups: Callable[[int, int, Number], Number]
    transferred: Callable[[int, int, Number], Number]
    best_packet: Callable[[int, int, Number, Number], Number]
    least_time: Callable[[int, int, Number, Number], Number]
    least_dimension: int = 1
    pipelined: bool = False
    largest_packet: Callable[[int, int], Number] = lambda n, words: words

    def time(self, n: int, words: int, packet: Number, tau: Number, tc: Number) -> Number:
        """Return T for packets of ``packet`` words, in the unit of ``tau`` and ``tc``.

        Raises :class:`.InvalidInput` for a dimension below ``least_dimension``, for words or a
        packet that are not positive, and for negative times.
        """
        self._require(n, words, tau, tc)
        if packet <= 0:
            raise InvalidInput.of("packet", "above 0", packet)
        return self.start_ups(n, words, packet) * tau + self.transferred(n, words, packet) * tc

    def possible(self, n: int, words: int, packet: Number) -> Number:
        """Return the possible packet nearest to ``packet``, from one word to the whole message.

        For a row by step every packet is possible; it is cut to the words of each step.
        """
        return max(1, min(packet, self.largest_packet(n, words))) if self.pipelined else packet

    def best_possible(self, n: int, words: int, tau: Number, tc: Number) -> tuple[Number, Number]:
        """Return B_opt and T_min; in a pipelined row, B_opt is one word to the whole message.

        If the row's B_opt is outside this range, return the nearest packet and its T: T falls up to
        B_opt and rises after it. Raises :class:`.InvalidInput` as :meth:`time`.
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
        """Return the start-ups of all steps together."""
        whole = packet * self.denominator
        return sum(ceil_div(share * words, whole) for share in self.numerators)

    def transferred(self, words: int) -> Fraction:
        """Return the words of all steps together."""
        return Fraction(sum(self.numerators) * words, self.denominator)

    def largest(self, words: int) -> Fraction:
        """Return the words of the largest step; with such packets each step has one start-up."""
        return Fraction(max(self.numerators) * words, self.denominator)

    def words(self, words: int) -> tuple[Fraction, ...]:
        """Return the words of each step, in order."""
        return tuple(Fraction(share * words, self.denominator) for share in self.numerators)


@dataclass(frozen=True, kw_only=True)
class StepCost(Cost):
    """A row by step; ``steps(n)`` are the shares of M that its steps move."""

    steps: Callable[[int], Steps]


def by_step(
    collective: str,
    graph: str,
    ports: str,
    place: str,
    steps: Callable[[int], Steps],
    least_dimension: int = 1,
) -> StepCost:
    """Return a row whose steps move the shares ``steps(n)``, each as one message."""
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
    """Packets through a graph, one every ``period`` steps, and ``fill`` steps more for the last.

    M is cut into ``trees`` equal parts, which move at the same time. So ceil(M / (trees B)) packets
    follow each other, and T = (period · packets + fill) τ + (period · M / trees + fill · B) t_c.
    The last packet may be shorter: at least ``period`` steps move only this one.
    """

    period: int
    fill: int
    trees: int = 1

    def start_ups(self, words: int, packet: Number) -> int:
        """Return the start-ups of all packets together."""
        return self.period * ceil_div(words, packet * self.trees) + self.fill

    def transferred(self, words: int, packet: Number) -> Number:
        """Return the words on the critical path."""
        return Fraction(self.period * words, self.trees) + self.fill * packet

    def best_packet(self, words: int, tau: Number, tc: Number) -> Number:
        """Return the packet at which dT/dB is zero, with packets treated as divisible.

        If ``fill`` or ``tc`` is 0, one packet is best.
        """
        if not self.fill or not tc:
            return Fraction(words, self.trees)
        return sqrt(self.period * words * tau / (self.trees * self.fill * tc))

    def least_time(self, words: int, tau: Number, tc: Number) -> Number:
        """Return T at the best packet."""
        if not self.fill or not tc:  # one packet: no square root
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
    """Return a row whose packets go through ``pipeline(n)``."""
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
