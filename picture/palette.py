"""Colours of categories, which pictures and pages share; nothing is drawn here."""

from itertools import cycle

from ..model.workload.workload import KINDS

CATEGORIES = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#7a4fb5", "#8a5a2b", "#5f6b00", "#a3195b", "#3d5a80", "#6c757d"),
)
"""Colours of categories; colour-blind readers tell the first six apart (Okabe & Ito)."""

_COMMON = ("all-reduce", "message", "all-gather", "reduce-scatter", "all-to-all", "broadcast")

COLOR_OF_KIND = dict(zip(dict.fromkeys((*_COMMON, *KINDS)), cycle(CATEGORIES), strict=False))
"""The colour of each kind of a workload's calls, in every picture and page; the last repeat."""
