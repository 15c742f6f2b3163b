"""A process of its own that runs Verilator and the compiler and can be stopped whole.

They are called as cocotb's own runner calls them, which brings all of cocotb and pytest along.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cocotb_tools import config

VERILATOR_OPTIONS = [
    "-O3",
    *("--x-assign", "fast", "--x-initial", "fast"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style"),
]
"""Options of every simulator, of a network and of a board."""
QUICK_LEVEL = "-O1"
"""Of the compiler's optimization. With -O2 a small network takes half again as long to compile, and
is a tenth faster; with -O0 it is ready a second sooner, and takes twice as long to load and run."""
MOST_COMPILERS = 4
"""At once: one alone takes up to a gigabyte of memory."""
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
"""How a simulator is compiled, for make."""
LARGE = 8_000_000
"""Bytes of C++, beyond which a design is compiled file by file. In one file it takes half as much
of the processors' time, but two processors do not share the work."""


class Build:
    """The commands that compile the simulator of the module ``top``, and their environment.

    They name links in ``links`` instead of folders whose names make cannot read. That of ``folder``
    and those of the sources it must be able to read: Verilator follows links to them.
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
        # What makes the tile too has a makefile of its own.
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
            status = subprocess.call(command, cwd=self._folder, env=self.environment)
            if status:
                sys.exit(status)

    def _make_verilator_plain(self) -> None:
        """Give Verilator a name that it can read itself: a copy, as it follows links to itself."""
        root = self.environment.get("VERILATOR_ROOT")
        if root is not None and not is_plain(root):
            copy = shutil.copytree(root, self._links / "verilator")
            self.environment["VERILATOR_ROOT"] = str(copy)
            places = (str(copy / "bin"), self.environment["PATH"])
            self.environment["PATH"] = os.pathsep.join(places)

    def _plain(self, folder: Path) -> Path:
        """The folder itself, or a link to it where its name has a space or the like."""
        if is_plain(folder):
            return folder
        link = self._links / str(len(list(self._links.iterdir())))
        link.symlink_to(folder, target_is_directory=True)
        return link


def is_plain(folder: str | Path) -> bool:
    """Tell whether make can read the name of a folder: a space takes a name apart there."""
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

    ``level`` is the compiler's of optimization. Sources lie beside ``folder``.
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
    """``build_worker TOP BUILD_FOLDER OPTIONS LEVEL WAVES SOURCE...``; status 0 if it is built.

    ``OPTIONS`` are Verilator's, as a list in JSON.
    """
    top, folder, listed, level, waves, *sources = sys.argv[1:]
    options = json.loads(listed)
    build(top, sources, Path(folder), options, waves=waves == "waves", level=level)


if __name__ == "__main__":
    main()
