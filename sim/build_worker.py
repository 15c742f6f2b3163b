"""A process that runs Verilator and the compiler, so that they can be stopped together.

It calls them as cocotb's own runner does, without importing all of cocotb and pytest.
"""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cocotb_tools import config

from ..model.base.processes import call

VERILATOR_OPTIONS = [
    "-O3",
    *("--x-assign", "fast", "--x-initial", "fast"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style"),
]
"""Verilator's options for every simulator, of a network or a board."""
QUICK_LEVEL = "-O1"
"""Optimization level of the compiler. ``-O2``: a small network compiles half as long again and runs
a tenth faster. ``-O0``: ready a second sooner, but loads and runs take twice as long."""
MOST_COMPILERS = 4
"""Compilers at once; each takes up to a gigabyte of memory."""
MAKEFILE, WHOLE_MAKEFILE = "Vtop.mk", "whole.mk"
WHOLE = """\
include {makefile}
.PHONY: whole
PARTS := $(wildcard $(addsuffix *.cpp,$(dir $(VM_HIER_LIBS))) $(VM_PREFIX)*.cpp) {main}
ifeq ($(shell test `cat $(PARTS) | wc -c` -gt {large} && echo large),large)
# There are files enough for all processors.
whole: {everything}
else
# All in one file: what a small design takes to compile is above all Verilator's headers.
whole: whole.o $(VK_GLOBAL_OBJS)
	$(LINK) $(LDFLAGS) $^ $(LOADLIBES) $(LDLIBS) $(LIBS) -o {program}
whole.o: whole.cpp
	$(CXX) $(OPT_FAST) $(CXXFLAGS) $(CPPFLAGS) -c -o $@ $<
whole.cpp:
	printf '#undef VL_PCH_INCLUDED\\n#include "%s"\\n' $(PARTS) > $@
endif
"""
"""Makefile of a simulator."""
LARGE = 8_000_000
"""Bytes of C++ above which a design is compiled file by file. One file takes half the processor
time, but only one processor can compile it."""


class Build:
    """The commands that compile the simulator of the module ``top``, and their environment.

    They use links in ``links`` for folders whose names make cannot read. The names of ``folder``
    and of the sources' folders must be readable, because Verilator resolves links to them.
    """

    def __init__(
        self,
        top: str,
        sources: Sequence[Path],
        folder: Path,
        options: Sequence[str],
        links: Path,
        *,
        waves: bool = False,
        level: str = "-O2",
    ) -> None:
        self._links, self._folder = links, folder
        self.environment = dict(os.environ)
        main = self._plain(config.share_dir) / "lib" / "verilator" / "verilator.cpp"
        libraries = self._plain(config.libs_dir)
        linked = f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator"
        self._make_verilator_plain()
        verilate = ["verilator", "-cc", "--exe", "--vpi", *("-Mdir", str(folder))]
        verilate += [*("--top-module", top), *("--prefix", "Vtop"), *("-o", top)]
        verilate += [*("-LDFLAGS", linked), *(["--trace"] if waves else []), *options]
        verilate += [*("--timescale", "1ns/1ns"), str(main), *map(str, sources)]
        # A hierarchical build has its own makefile, with a target for all parts.
        everything = "hier_build" if "--hierarchical" in options else top
        text = WHOLE.format(
            makefile=MAKEFILE, everything=everything, large=LARGE, main=main, program=top
        )
        (folder / WHOLE_MAKEFILE).write_text(text)
        compilers = min(MOST_COMPILERS, os.cpu_count() or 1)
        make = ["make", "whole", *("-j", str(compilers)), *("-C", str(folder))]
        make += [*("-f", WHOLE_MAKEFILE), f"VM_TRACE={int(waves)}", f"OPT_FAST={level}"]
        self.commands = [verilate, make]

    def run(self) -> None:
        """Compile the simulator; exit if that fails."""
        for command in self.commands:
            status = call(command, self._folder, self.environment)
            if status:
                sys.exit(status)

    def _make_verilator_plain(self) -> None:
        """Copy Verilator if make cannot read its path: Verilator would resolve a link to it."""
        root = self.environment.get("VERILATOR_ROOT")
        if root is not None and not is_plain(root):
            copy = shutil.copytree(root, self._links / "verilator")
            self.environment["VERILATOR_ROOT"] = str(copy)
            places = (str(copy / "bin"), self.environment["PATH"])
            self.environment["PATH"] = os.pathsep.join(places)

    def _plain(self, folder: Path) -> Path:
        """Return the folder, or a link to it if make cannot read its name."""
        if is_plain(folder):
            return folder
        link = self._links / str(len(list(self._links.iterdir())))
        link.symlink_to(folder, target_is_directory=True)
        return link


def is_plain(folder: str | Path) -> bool:
    """Tell whether a folder's name has only letters, digits and ``_./+-``, which make can read."""
    return re.fullmatch(r"[\w./+-]+", str(folder)) is not None


def build(
    top: str,
    sources: Sequence[str],
    folder: Path,
    options: Sequence[str],
    *,
    waves: bool = False,
    level: str = "-O2",
) -> None:
    """Compile the simulator of the module ``top``; exit if that fails.

    ``level`` is the compiler's optimization level. Sources lie beside ``folder``.
    """
    with tempfile.TemporaryDirectory(prefix="eyecast-") as name:
        links, work = Path(name) / "links", folder
        links.mkdir()
        if not is_plain(folder):
            work = Path(name) / "beside" / folder.name
            shutil.copytree(folder.parent, work.parent)
        named = [work.parent / Path(source).name for source in sources]
        Build(top, named, work, options, links, waves=waves, level=level).run()
        if work != folder:
            shutil.copy(work / top, folder)


def main() -> None:
    """Run ``build_worker TOP BUILD_FOLDER OPTIONS LEVEL WAVES SOURCE...``; exit 0 if it is built.

    ``OPTIONS`` are Verilator's, as a list in JSON.
    """
    top, folder, listed, level, waves, *sources = sys.argv[1:]
    options = json.loads(listed)
    build(top, sources, Path(folder), options, waves=waves == "waves", level=level)


if __name__ == "__main__":
    main()
