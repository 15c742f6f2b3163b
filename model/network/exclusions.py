"""The rules between parameters of a network: which excludes which (docs/router.md, section 0).

The checks of :class:`.NetworkConfig`, their errors and the matrix on that page are made from
one table, :data:`EXCLUDES`.
"""

from typing import NamedTuple

from ..base.errors import InvalidInput

REFUSAL_CYCLES = 16
"""Bits of a pattern of refusal, one for each cycle; the pattern is one word and repeats."""

LEAST_CONTROLLED_WIDTH = 32
"""Least flit width of a network with a controller, whose registers are words of 32 bits."""


class Exclusion(NamedTuple):
    """A limit that one parameter sets to another.

    given
        The parameter that sets the limit, unless it is 0, false or empty.
    limited
        The parameter, or the property of :class:`.NetworkConfig`, that has the limit.
    least
        Least value of ``limited``: a number, or the name of the property that gives it. None:
        ``limited`` must be 0, false or empty.
    """

    given: str
    limited: str
    least: int | str | None = None

    def require(self, config: object) -> None:
        """Raise :class:`.InvalidInput` if a :class:`.NetworkConfig` breaks the rule."""
        value = getattr(config, self.limited)
        if not getattr(config, self.given) or self._allows(config, value):
            return
        name, network = _NAMES.get(self.limited, _words(self.limited)), _network(self.given)
        if self.least is not None:
            allowed = f"at least {self._least(config)} in {network}"
        elif self.limited in _COUNTED:
            parameter, most = _COUNTED[self.limited]
            name, allowed = _words(parameter), f"{most} in {network}"
            value = getattr(config, parameter)
        elif isinstance(value, int) and not isinstance(value, bool):
            allowed = f"0 in {network}"
        else:
            allowed, value = f"left out of {network}", "given"
        raise InvalidInput.of(name, allowed, value)

    def _least(self, config: object) -> int:
        least: int = getattr(config, self.least) if isinstance(self.least, str) else self.least or 0
        return least

    def _allows(self, config: object, value: int) -> bool:
        return not value if self.least is None else value >= self._least(config)


EXCLUDES = (
    Exclusion("timed_rows", "flit_width", REFUSAL_CYCLES),
    Exclusion("contention_free", "timed_rows"),
    Exclusion("contention_free", "depth", "busy_depth"),
    Exclusion("all_port", "timed_rows"),
    Exclusion("all_port", "signature"),
    Exclusion("all_port", "contention_free"),
    Exclusion("tile_ports", "programs", 1),
    Exclusion("parity", "programs", 1),
    Exclusion("programs", "timed_rows"),
    Exclusion("programs", "flit_width", LEAST_CONTROLLED_WIDTH),
    Exclusion("timed_rows", "operators"),
    Exclusion("timed_rows", "streams"),
    Exclusion("all_port", "operator_latency"),
    Exclusion("contention_free", "operator_latency"),
    Exclusion("contention_free", "differing_links"),
    Exclusion("circuits", "differing_links"),
    Exclusion("circuits", "further_vcs"),
    Exclusion("circuits", "timed_rows"),
    Exclusion("circuits", "contention_free"),
    Exclusion("circuits", "streams"),
    Exclusion("circuits", "operator_latency"),
)
"""All rules, in the order of checking; the first broken rule is reported."""

IDLE_IN_CIRCUITS = ("depth", "steps")
"""Parameters that change nothing in a network with circuits (docs/router.md, section 23)."""

_NAMES = {
    "differing_links": "links that differ",
    "operator_latency": "latency of operators",
}
_COUNTED = {"further_vcs": ("vcs", "1")}
"""Properties that count what a parameter has beyond one: the parameter, and what is allowed."""

_NETWORKS = {"contention_free": "a contention-free network", "all_port": "an all-port network"}


def _words(name: str) -> str:
    """Return the name of a parameter as errors write it."""
    return name.replace("_", " ")


def _network(given: str) -> str:
    """Return the name of a network with the parameter ``given``, as errors write it."""
    return _NETWORKS.get(given, f"a network with {_words(given)}")


def require_compatible(config: object) -> None:
    """Raise :class:`.InvalidInput` if a network breaks a rule of :data:`EXCLUDES`."""
    for exclusion in EXCLUDES:
        exclusion.require(config)


def incompatible(name: str) -> list[str]:
    """Return the parameters that a network with ``name`` must leave out."""
    pairs = [{each.given, each.limited} for each in EXCLUDES if each.least is None]
    return [other for pair in pairs if name in pair for other in pair - {name}]
