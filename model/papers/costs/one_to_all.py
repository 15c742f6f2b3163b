"""The cost of broadcast and scatter on a hypercube: Tables 4, 5 and 7 to 9 of 1986, sections 4, 5.

1986 is Johnsson & Ho; :mod:`.rows` explains terms and symbols.

``ROWS`` are our counts; :mod:`.printed` has the printed rows, and ``docs/errata.md`` says why some
differ. Notes on the tables:

* nRBRG, nRSBT and the n-port nESBT cut M into n parts: if n does not divide M, the parts differ by
  a word. (For example, one word by nRSBT uses one tree and takes n steps, also one-port.)
* The row of a one-port broadcast by TCBT needs n >= 3: for n = 2 the tree is a path with the source
  inside, and packets follow every 2 steps, not 3. For the same reason BRG, one-port, needs n >= 2.
* The bounds printed for the SBnT's one-port scatter contradict each other: at B_opt Table 7 has
  2n + ceil(2 log2(n) N / (N-1)) start-ups, Table 8 has 2n - 2. The latter are those of SBnT, while
  B_opt = (N-1)M/n and the 2n - 1 of section 5.1.5 are those of SBnTc. Our row is counted:
  :mod:`.balanced_tree`.
"""

from math import comb

from .balanced_tree import balanced_steps
from .rows import Cost, Number, Pipeline, Steps, by_step, ceil_div, pipelined


def _rotated_broadcast(n: int) -> Steps:
    """Count the active trees of one dimension: tree j starts in step j, so 1, 2 ... n ... 2, 1."""
    return Steps([*range(1, n), *range(n, 0, -1)], n)


def _rotated_scatter(n: int) -> Steps:
    """Count as in a broadcast; from step to step a tree moves half as many words.

    The scan of section 5.1.4 has 2^(n+1-n) where 2^(i+1-n) belongs in the words of step i >= n.
    """
    filling = [2**n - 2**i for i in reversed(range(n))]
    return Steps([*filling, *(2**i - 1 for i in range(n - 1, 0, -1))], n)


def _tcbt_scatter(n: int) -> Steps:
    """Count the other root's half, then the own child's tree, then both trees halved again.

    Section 5.1.3 has the sum, 2N - 2n - 1.
    """
    trees = [2**i - 1 for i in range(n - 2, 0, -1) for _ in range(2)]
    return Steps([2 ** (n - 1), 2 ** (n - 1) - 1, *trees])


def _tcbt_all_port_scatter(n: int) -> Steps:
    """Count farthest nodes first: N/4 twice, as the other root sends all on, then N/8 ... 1."""
    return Steps([2 ** (n - 2), *(2**i for i in range(n - 2, -1, -1))])


def _binomial_scatter(n: int) -> Steps:
    """Count the levels of the SBT's largest subtree, farthest nodes first (Lemma 5.1)."""
    return Steps([comb(n - 1, level) for level in reversed(range(n))])


def _balanced_scatter(n: int) -> Steps:
    """Count an n-th of each level of n rotated trees for each port, farthest nodes first."""
    return Steps([comb(n, level) for level in range(n, 0, -1)], n)


def _path_scatter(ports: str, place: str, period: int) -> Cost:
    """Return the row of a path, farthest node first; packets follow every ``period`` steps.

    If B >= M, a packet holds the words of one node, as larger packets save nothing. If B < M, each
    packet of the last M words takes one step: the source's neighbour does not send them on.
    """

    def start_ups(n: int, words: int, packet: Number) -> int:
        return _path_start_ups(n, words, min(words, packet), period)

    def transferred(n: int, words: int) -> int:
        return (period * ((1 << n) - 2) + 1) * words

    return Cost(
        collective="scatter",
        graph="brg",
        ports=ports,
        place=place,
        least_dimension=period,
        start_ups=start_ups,
        transferred=lambda n, words, packet: transferred(n, words),
        best_packet=lambda n, words, tau, tc: words,
        least_time=lambda n, words, tau, tc: (words * tc + tau) * transferred(n, 1),
    )


def _path_start_ups(n: int, words: int, packet: Number, period: int) -> int:
    """Count start-ups as Table 7 does."""
    packets = ceil_div(((1 << n) - 1) * words, packet)
    shorter = (period - 1) * int(words // packet)
    return max(period * packets - shorter, period * ((1 << n) - 2) + 1)


BROADCAST_ROWS: tuple[Cost, ...] = (
    pipelined("broadcast", "brg", "one-port", "Table 4", lambda n: Pipeline(2, 2**n - 3), 2),
    by_step("broadcast", "sbt", "one-port", "Table 4", lambda n: Steps([1] * n)),
    by_step("broadcast", "nrsbt", "one-port", "Table 4", _rotated_broadcast),
    pipelined("broadcast", "tcbt", "one-port", "Table 4", lambda n: Pipeline(3, 2 * n - 5), 3),
    pipelined("broadcast", "nesbt", "one-port", "Table 4", lambda n: Pipeline(1, n), 2),
    pipelined("broadcast", "brg", "full-duplex", "4.1.1", lambda n: Pipeline(1, 2**n - 2)),
    pipelined("broadcast", "tcbt", "full-duplex", "4.1.3", lambda n: Pipeline(2, 2 * n - 4), 2),
    pipelined("broadcast", "nesbt", "half-duplex", "4.1.5", lambda n: Pipeline(2, n - 1), 2),
    by_step("broadcast", "nrbrg", "n-port", "Table 5", lambda n: Steps([1] * (2**n - 1), n)),
    pipelined("broadcast", "brg", "n-port", "4.1.1", lambda n: Pipeline(1, 2**n - 2)),
    pipelined("broadcast", "sbt", "n-port", "Table 5", lambda n: Pipeline(1, n - 1)),
    by_step("broadcast", "nrsbt", "n-port", "Table 5", lambda n: Steps([1] * n, n)),
    pipelined("broadcast", "tcbt", "n-port", "Table 5", lambda n: Pipeline(1, n - 1), 2),
    pipelined("broadcast", "nesbt", "n-port", "Table 5", lambda n: Pipeline(1, n, n), 2),
)

SCATTER_ROWS: tuple[Cost, ...] = (
    _path_scatter("one-port", "Table 7", 2),
    by_step(
        "scatter", "sbt", "one-port", "Table 7", lambda n: Steps([2**i for i in range(n)][::-1])
    ),
    by_step("scatter", "nrsbt", "one-port", "Table 7", _rotated_scatter),
    by_step("scatter", "tcbt", "one-port", "Section 5.1.3", _tcbt_scatter, 2),
    by_step("scatter", "sbnt", "one-port", "counted", lambda n: balanced_steps(n).scatter),
    _path_scatter("full-duplex", "5.1.1", 1),
    by_step("scatter", "nrbrg", "n-port", "Table 7", lambda n: Steps([*range(2**n - 1, 0, -1)], n)),
    by_step("scatter", "sbt", "n-port", "Table 7", _binomial_scatter),
    by_step("scatter", "nrsbt", "n-port", "Table 7", _balanced_scatter),
    by_step("scatter", "tcbt", "n-port", "Table 7", _tcbt_all_port_scatter, 2),
    by_step("scatter", "sbnt", "n-port", "Table 7", _balanced_scatter),
)

ROWS: tuple[Cost, ...] = (*BROADCAST_ROWS, *SCATTER_ROWS)
