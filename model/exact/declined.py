"""The exception for runs that arithmetic cannot predict."""


class Declined(Exception):
    """A run that must be simulated; the message says why: "flits meet at node 3, port 1"."""
