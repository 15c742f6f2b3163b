"""Compiled loops that deal routes to layers (:mod:`.route_layers`)."""

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.compiled import compiled

_FREE, _BARRED, _NEW, _TAKEN = range(4)
"""States of a turn in a layer: _BARRED would close a circle, _NEW is of the path being added."""


@compiled
def deal(
    first: Numbers,
    turns: Numbers,
    link: Numbers,
    following: Numbers,
    ahead: Numbers,
    states: npt.NDArray[np.int8],
    layers: Numbers,
) -> bool:
    """Set the layer of each path; tell whether there are enough layers."""
    for path in range(len(layers)):
        own = turns[first[path] : first[path + 1]]
        layer = 0
        while not joins(own, link, following, ahead, states[layer]):
            layer += 1
            if layer == len(states):
                return False
        layers[path] = layer
    return True


@compiled
def joins(
    turns: Numbers,
    link: Numbers,
    following: Numbers,
    ahead: Numbers,
    state: npt.NDArray[np.int8],
) -> bool:
    """Take all ``turns`` of a path into the layer of ``state``, or none; tell which.

    A turn that closes a circle by itself is barred, because a layer never loses a turn.
    """
    for turn in turns:
        if state[turn] == _BARRED:
            return False
    alone = True
    for turn in turns:
        if state[turn] != _FREE:
            continue
        if _leads(following, ahead, state, following[turn], link[turn]):
            for added in turns:
                if state[added] == _NEW:
                    state[added] = _FREE
            if alone:
                state[turn] = _BARRED
            return False
        state[turn] = _NEW
        alone = False
    for turn in turns:
        state[turn] = _TAKEN
    return True


@compiled
def _leads(
    following: Numbers, ahead: Numbers, state: npt.NDArray[np.int8], start: int, end: int
) -> bool:
    """Tell whether the layer's turns lead from one link to another."""
    reached = np.zeros(len(ahead), np.bool_)
    waiting = np.empty(len(ahead), np.int64)
    waiting[0], count = start, 1
    while count:
        count -= 1
        at = waiting[count]
        if at == end:
            return True
        for turn in range(ahead[at], ahead[at + 1]):
            if state[turn] >= _NEW and not reached[following[turn]]:
                reached[following[turn]] = True
                waiting[count] = following[turn]
                count += 1
    return False
