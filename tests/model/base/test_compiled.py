"""Kept machine code."""

import subprocess
import sys

PROGRAM = """
import sys
from eyecast.model.base.compiled import compiled

@compiled
def successor(number):
    return number + 1

print(successor(1), "numba.np.arraymath" in sys.modules)
"""


def test_kept_code_is_loaded_without_what_the_compiler_needs(tmp_path):
    """An update of Numba may change how it looks for kept code (`model/base/compiled.py`)."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    runs = [subprocess.check_output([sys.executable, program], text=True) for _ in range(2)]
    assert [run.split() for run in runs] == [["2", "True"], ["2", "False"]]
