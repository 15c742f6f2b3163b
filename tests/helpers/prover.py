"""Proofs about hardware, by Yosys and ABC from the extra ``prove``."""

from importlib.util import find_spec

import pytest

from eyecast.proofs.engines import WHEEL

needs_pyosys = pytest.mark.skipif(
    WHEEL is None or find_spec("pysat") is None,
    reason="pyosys and python-sat must be installed: pip install '.[prove]'",
)
