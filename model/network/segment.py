"""Straight parts of a route."""

from typing import NamedTuple


class Segment(NamedTuple):
    """One straight part of a route: leave by ``port`` for ``hops`` hops, on VC ``vc``."""

    port: int
    hops: int
    vc: int
