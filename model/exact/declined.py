"""The refusal of what arithmetic cannot say of a run."""

from __future__ import annotations


class Declined(Exception):
    """A run that has to be simulated; the message says why: "flits meet at node 3, port 1"."""
