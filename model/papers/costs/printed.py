"""Tables 1 to 19 of Johnsson & Ho as printed, formula by formula.

Signs that the scan has lost are restored; ``docs/errata.md`` lists them, and the formulas that are
wrong. The formulas are data: nothing here is counted. Table 18 gives only the order of SBT's T_min.
"""

from dataclasses import dataclass

from .formula import Formula
from .rows import Number


@dataclass(frozen=True)
class Printed:
    """A printed row: start-ups and words of T, B_opt and T_min; its methods are those of a cost."""

    start_up_formula: Formula
    word_formula: Formula
    packet_formula: Formula
    time_formula: Formula | None

    def start_ups(self, n: int, words: int, packet: Number) -> Number:
        """Return the start-ups of T."""
        return self.start_up_formula(n=n, M=words, B=packet)

    def transferred(self, n: int, words: int, packet: Number) -> Number:
        """Return the words of T."""
        return self.word_formula(n=n, M=words, B=packet)

    def best_packet(self, n: int, words: int, tau: Number, tc: Number) -> Number:
        """Return B_opt."""
        return self.packet_formula(n=n, M=words, tau=tau, tc=tc)

    def least_time(self, n: int, words: int, tau: Number, tc: Number) -> Number | None:
        """Return T_min; None if the paper gives only its order."""
        if self.time_formula is None:
            return None
        return self.time_formula(n=n, M=words, tau=tau, tc=tc)


TABLES = {
    ("broadcast", "one-port"): (4, 4),
    ("broadcast", "n-port"): (5, 5),
    ("scatter", "one-port"): (7, 8),
    ("scatter", "n-port"): (7, 9),
    ("all-gather", "one-port"): (11, 12),
    ("all-gather", "n-port"): (13, 14),
    ("all-to-all", "one-port"): (15, 16),
    ("all-to-all", "n-port"): (17, 18),
}
"""The tables of T, and of B_opt and T_min, of each collective and number of ports."""

_ROWS = """
broadcast one-port
 brg   | 2*ceil(M/B) + N - 3 | 2*M + (N - 3)*B
       | sqrt(2*M*tau/((N - 3)*tc)) | (sqrt(2*M*tc) + sqrt((N - 3)*tau))**2
 sbt   | ceil(M/B)*n | M*n | M | n*(M*tc + tau)
 nrsbt | 2*S(i, 1, n - 1, ceil(M*i/(n*B))) + ceil(M/B) | n*M | M | n*M*tc + (2*n - 1)*tau
 tcbt  | 3*ceil(M/B) + 2*n - 5 | 3*M + (2*n - 5)*B
       | sqrt(3*M*tau/((2*n - 5)*tc)) | (sqrt(3*M*tc) + sqrt((2*n - 5)*tau))**2
 nesbt | ceil(M/B) + n | M + n*B | sqrt(M*tau/(n*tc)) | (sqrt(M*tc) + sqrt(n*tau))**2
broadcast n-port
 nrbrg | ceil(M/(n*B))*(N - 1) | M*(N - 1)/n | M/n | (M/n*tc + tau)*(N - 1)
 sbt   | ceil(M/B) + n - 1 | M + (n - 1)*B
       | sqrt(M*tau/((n - 1)*tc)) | (sqrt(M*tc) + sqrt((n - 1)*tau))**2
 nrsbt | ceil(M/(n*B))*n | M | M/n | M*tc + n*tau
 tcbt  | ceil(M/B) + n - 1 | M + (n - 1)*B
       | sqrt(M*tau/((n - 1)*tc)) | (sqrt(M*tc) + sqrt((n - 1)*tau))**2
 nesbt | ceil(M/(B*n)) + n | M/n + n*B | 1/n*sqrt(M*tau/tc) | (sqrt(M*tc/n) + sqrt(n*tau))**2
scatter one-port
 brg   | max(2*ceil((N - 1)*M/B) - floor(M/B), 2*N - 3) | (2*N - 3)*M
       | M | (2*N - 3)*M*tc + (2*N - 3)*tau
 sbt   | S(i, 0, n - 1, ceil(2**i*M/B)) | (N - 1)*M | N*M/2 | (N - 1)*M*tc + n*tau
 nrsbt | S(i, 1, n - 1, ceil(M*(N - 2**i)/(n*B))) + S(i, 1, n, ceil(M*(2**i - 1)/(n*B)))
       | M*(N - 1) | (N - 1)*M/n | (N - 1)*M*tc + (2*n - 1)*tau
 tcbt  | 2*S(i, 1, n - 1, ceil((2**i - 1)*M/B)) | (2*N - 2*n - 1)*M
       | N*M/2 | (2*N - 2*n - 1)*M*tc + (2*n - 2)*tau
 sbnt  | n*ceil(N*M/(n*B)) + ceil(2*N*log(n)*M/(n*B)) | N*(1 + 2*log(n)/n)*M
       | (N - 1)*M/n | N*(1 + 2*log(n)/n)*M*tc + (2*n - 2)*tau
scatter n-port
 nrbrg | S(i, 1, N - 1, ceil(i*M/(n*B))) | N*(N - 1)*M/(2*n)
       | (N - 1)*M/n | N*(N - 1)*M/(2*n)*tc + (N - 1)*tau
 sbt   | S(i, 0, n - 1, ceil(C(n - 1, i)*M/B)) | N*M/2
       | N*M/sqrt(2*pi*(n - 1)) | N*M/2*tc + n*tau
 nrsbt | S(i, 0, n - 1, ceil(C(n, i)*M/(n*B))) | (N - 1)*M/n
       | sqrt(2/pi)*N*M/n**(3/2) | (N - 1)*M/n*tc + n*tau
 tcbt  | ceil(N*M/(4*B)) + S(i, 2, n, ceil(N*M/(2**i*B))) | (3*N/4 - 1)*M
       | N*M/4 | (3/4*N - 1)*M*tc + n*tau
 sbnt  | S(i, 0, n - 1, ceil(C(n, i)*M/(n*B))) | (N - 1)*M/n
       | sqrt(2/pi)*N*M/n**(3/2) | (N - 1)*M/n*tc + n*tau
all-gather one-port
 brg   | ceil(M/B)*(N - 1) | (N - 1)*M | M | (N - 1)*M*tc + (N - 1)*tau
 sbt   | S(i, 0, n - 1, ceil(2**i*M/B)) | (N - 1)*M | N*M/2 | (N - 1)*M*tc + n*tau
 nrsbt | S(i, 0, n - 1, ceil((2**(i + 1) - 1)*M/(n*B)))
         + S(i, n, 2*n - 2, ceil((N - 2**(i - n + 1))*M/(n*B)))
       | (N - 1)*M | (N - 1)*M/n | (N - 1)*M*tc + (2*n - 1)*tau
 nesbt | S(i, 0, n - 1, ceil(2**i*M/(n*B)))
         + S(i, n, 2*n - 1, ceil((N - 1 - 2**(i - n))*M/(n*B)))
       | (N - 1)*M | (N - 2)*M/n | (N - 1)*M*tc + 2*n*tau
 sbnt  | max(2*n - 1, (N - 1)*M/B) | (N - 1)*M | (N - 1)*M/n | (N - 1)*M*tc + (2*n - 1)*tau
all-gather n-port
 nrbrg | ceil(M/(n*B))*(N - 1) | (N - 1)*M/n | M/n | (N - 1)*M/n*tc + (N - 1)*tau
 sbt   | S(i, 0, n - 1, ceil(C(n - 1, i)*M/B)) | N*M/2
       | N*M/sqrt(2*pi*(n - 1)) | N*M/2*tc + n*tau
 nrsbt | S(i, 1, n, ceil(C(n, i)*M/(n*B))) | (N - 1)*M/n
       | sqrt(2/pi)*N*M/n**(3/2) | (N - 1)*M/n*tc + n*tau
 nesbt | S(i, 2, n, ceil(C(n, i)*M/(n*B))) + ceil(M/(n*B)) + ceil((n - 1)*M/(n*B)) | (N - 1)*M/n
       | sqrt(2/pi)*N*M/n**(3/2) | (N - 1)*M/n*tc + (n + 1)*tau
 sbnt  | S(i, 1, n, ceil(C(n, i)*M/(n*B))) | (N - 1)*M/n
       | sqrt(2/pi)*N*M/n**(3/2) | (N - 1)*M/n*tc + n*tau
all-to-all one-port
 brg   | S(i, 1, N - 1, ceil(i*M/B)) | (N - 1)*N*M/2
       | (N - 1)*M | (N - 1)*N*M/2*tc + (N - 1)*tau
 sbt   | ceil(N*M/(2*B))*n | n*N*M/2 | N*M/2 | n*N*M/2*tc + n*tau
 nrsbt | S(i, 0, n - 1, ceil((i + 1)*N*M/(2*n*B)))
         + S(i, n, 2*n - 2, ceil((2*n - i - 1)*N*M/(2*n*B)))
       | n*N*M/2 | N*M/2 | n*N*M/2*tc + (2*n - 1)*tau
 nesbt | S(i, 0, n - 1, ceil(((i + 2)*N/2 - 1)*M/(n*B)))
         + S(i, 1, n, ceil((i*N/2 - 1)*M/(n*B)))
       | (N/(2*n) + N - 2)*M
       | M/n*(N*(n - 1)/2 - 1) | (n*N/2 + N - 2)*M*tc + 2*n*tau
 sbnt  | max(2*n - 1, n*N*M/(2*B)) | n*N*M/2 | N*M/2 | n*N*M/2*tc + (2*n - 1)*tau
all-to-all n-port
 nrbrg | S(i, 1, N - 1, ceil(i*M/(n*B))) | (N - 1)*N*M/(2*n)
       | (N - 1)*M/n | (N - 1)*N*M/(2*n)*tc + (N - 1)*tau
 sbt   | S(l, 0, floor((n - 1)/2), ceil(C(2*l, l)*2**(n - 2*l - 1)*M/B))
         + S(l, floor((n + 1)/2), n - 1, ceil(C(n - 1, l)*M/B))
       | (S(l, 0, floor((n - 1)/2), C(2*l, l)*2**(n - 2*l - 1))
         + S(l, floor((n + 1)/2), n - 1, C(n - 1, l)))*M
       | N*M/2 |
 nrsbt | ceil(N*M/(2*n*B))*n | N*M/2 | N*M/(2*n) | N*M/2*tc + n*tau
 nesbt | S(i, 2, n, ceil(S(j, i, n, C(n, j))*M/(n*B)))
         + ceil((N - 2)*M/(n*B)) + ceil((N - 1)*M/(n*B))
       | (N/2 + (N - 2)/n)*M | (N - 1)*M/n | (N/2 + (N - 2)/n)*M*tc + (n + 1)*tau
 sbnt  | S(i, 1, n, ceil(S(j, i, n, C(n, j))*M/(n*B))) | N*M/2
       | (N - 1)*M/n | N*M/2*tc + n*tau
"""
"""Tables 4, 5, 7 to 9 and 11 to 18: graph, start-ups, words, B_opt, T_min."""


def _rows() -> dict[tuple[str, str, str], Printed]:
    rows = {}
    collective, ports = "", ""
    joined = _ROWS.replace("\n         ", " ").replace("\n       |", "|")
    for line in filter(None, joined.splitlines()):
        if not line.startswith(" "):
            collective, ports = line.split()
            continue
        graph, *formulas = (cell.strip() for cell in line.split("|"))
        start_ups, words, packet = map(Formula, formulas[:3])
        time = Formula(formulas[3]) if formulas[3] else None
        rows[collective, graph, ports] = Printed(start_ups, words, packet, time)
    return rows


PRINTED: dict[tuple[str, str, str], Printed] = _rows()
"""The printed rows by collective, graph and ports."""

SECTION_5_1_5 = Formula("ceil((N - 1)*M/(n*B))")
"""Start-ups of the SBnT's n-port scatter in the text; Table 7 has another formula."""

LINK_LOADS = {
    "brg": ("2**(n - d - 1)", "", "", "N/2**(d + 1) - ceil((l - 2**d + 1)/2**(d + 1))"),
    "nrbrg": ("(N - 1)/n", "1/n", "(N - l - 1)/n", "(N - l - 1)/n"),
    "sbt": ("2**d", "C(d, l)", "C(d, l)*2**(n - d - 1)", "C(n - d - 1, l)*2**d"),
    **dict.fromkeys(
        ("nrsbt", "sbnt"),
        ("(N - 1)/n", "C(n, l + 1)/n", *2 * ("S(i, l + 1, n, C(n, i))/n",)),
    ),
    "nesbt": ("(N - 1)/n", "C(n, l)/n", *2 * ("S(i, l, n, C(n, i))/n",)),
}
"""Table 1: Ew_d, ew_ld, sw_ld and rw_ld; nESBT's are for l >= 2. BRG's ew_ld is "0 or 1"."""

PROPAGATION = {
    "brg": ("N - 1", "N - 1"),
    "sbt": ("n", "n"),
    "nrsbt": ("n", "n"),
    "tcbt": ("2*n - 2", "n"),
    "nesbt": ("n + 1", "n + 1"),
}
"""Table 2: steps of a broadcast of one packet, one-port and n-port."""

STEPS_PER_PACKET = {
    "brg": ("2", "1"),
    "sbt": ("n", "1"),
    "nrsbt": ("n", "1"),
    "tcbt": ("3", "1"),
    "nesbt": ("1", "1/n"),
}
"""Table 3: steps of a broadcast for each further packet, one-port and n-port."""

RATIOS = {
    ("one-port", "sbt"): ("n/(n + 1)", "n", "1", "n"),
    ("one-port", "nrsbt"): ("n/(n + 1)", "n", "1", "n"),
    ("one-port", "tcbt"): ("(2*n - 2)/(n + 1)", "3", "2", "3"),
    ("n-port", "sbt"): ("n/(n + 1)", "n", "1", "n"),
    ("n-port", "nrsbt"): ("n/(n + 1)", "n", "1", "n"),
    ("n-port", "tcbt"): ("n/(n + 1)", "n", "1", "n"),
}
"""Table 6: T divided by T of nESBT: with one packet; with M/B far above n; at B_opt, with nτ far
above M t_c; and far below it (n-port: n²τ). The last two are limits for large n."""

LEAST_ALL_GATHER_START_UPS = {
    "brg": "N - 1",
    "sbt": "n",
    "nesbt": "2*n",
    "nrsbt": "2*n - 1",
    "sbnt": "2*n - 1",
    "tcbt": "2*n - 2",
}
"""Table 10: least start-ups, one-port, also of an all-to-all; for the TCBT a lower bound."""

_BALANCED = "sqrt(2/pi)*N*M/n**(3/2)"
SUMMARY = (
    ("broadcast", "one-port", "M = 1", "sbt", "1", "n*(tc + tau)"),
    ("broadcast", "n-port", "M <= n", "nrsbt", "1", "n*(tc + tau)"),
    ("broadcast", "one-port", "M > 1", "nesbt", "sqrt(M*tau/(n*tc))", ""),
    ("broadcast", "n-port", "M > n", "nesbt", "1/n*sqrt(M*tau/tc)", ""),
    ("scatter", "one-port", "", "sbt", "N*M/2", ""),
    ("scatter", "n-port", "", "nrsbt, sbnt", _BALANCED, ""),
    ("all-gather", "one-port", "", "sbt", "N*M/2", ""),
    ("all-gather", "n-port", "", "nrsbt, sbnt", _BALANCED, ""),
    ("all-to-all", "one-port", "", "sbt", "N*M/2", ""),
    ("all-to-all", "n-port", "", "sbnt", "(N - 1)*M/n", ""),
    ("all-to-all", "n-port", "", "nesbt", "N*M/(2*n)", "N*M/2*tc + n*tau"),
)
"""Table 19: collective, ports, M, the graphs of the least T_min, B_opt, and T_min. T_min is that of
the graph's row in Tables 4 to 18 where this has none."""

ROTATED_LOAD = Formula("(N - 1)*2**(n/k - 1)/(2**(n/k) - 1)")
REFLECTED_LOAD = Formula("(N - 1)*(2**(2*n/k - 1) + 1)/(2**(2*n/k) - 1)")
"""The most words on a link with k rotated trees, and with k/2 of them and their reflections
(section 5.1.4), for k = M mod n even. The scan has lost the exponents' bars."""
