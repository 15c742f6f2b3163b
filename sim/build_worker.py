"""A process of its own that runs Verilator and the compiler and can be stopped whole.

They are called as cocotb's own runner calls them, which brings all of cocotb and pytest along.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cocotb_tools import config

MOST_COMPILERS = 4
"""At once: one alone takes up to a gigabyte of memory."""
MAKEFILE, WHOLE_MAKEFILE = "Vtop.mk", "whole.mk"
QUICK = "OPT_FAST=-O1"
"""A word for make. Above -O1 a small network takes half again as long to compile, and is a tenth
faster."""
WHOLE = """\
include {makefile}
.PHONY: whole
ifeq ($(VM_PARALLEL_BUILDS),1)
# Of a large design there are files enough for all processors.
whole: {everything}
else
# All in one file: what a small design takes to compile is above all Verilator's headers.
PARTS := $(wildcard $(addsuffix *.cpp,$(dir $(VM_HIER_LIBS))) $(VM_PREFIX)*.cpp) {main}
whole: whole.o $(VK_GLOBAL_OBJS)
	$(LINK) $(LDFLAGS) $^ $(LOADLIBES) $(LDLIBS) $(LIBS) -o {program}
whole.o: whole.cpp
	$(CXX) $(OPT_FAST) $(CXXFLAGS) $(CPPFLAGS) -c -o $@ $<
whole.cpp:
	printf '#undef VL_PCH_INCLUDED\\n#include "%s"\\n' $(PARTS) > $@
endif
"""
"""How a simulator is compiled, for make."""


class Build:
    """The commands that compile the simulator of the module ``top``, and their environment.

    They name links in ``links`` instead of folders whose names make cannot read.
    """

    def __init__(
        self,
        top: str,
        sources: Sequence[str],
        folder: Path,
        options: Sequence[str],
        links: Path,
        *,
        waves: bool = False,
        quick: bool = False,
    ) -> None:
        self._links = links
        self.environment = dict(os.environ)
        self._folder = self._plain(folder.parent) / folder.name
        main = self._plain(config.share_dir) / "lib" / "verilator" / "verilator.cpp"
        places = [Path(source) for source in sources]
        named = [str(self._plain(place.parent) / place.name) for place in places]
        libraries = self._plain(config.libs_dir)
        linked = f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator"
        verilate = [self._verilator(), "-cc", "--exe", "--vpi", *("-Mdir", str(self._folder))]
        verilate += [*("--top-module", top), *("--prefix", "Vtop"), *("-o", top)]
        verilate += [*("-LDFLAGS", linked), *(["--trace"] if waves else []), *options]
        verilate += [*("--timescale", "1ns/1ns"), str(main), *named]
        # What makes the tile too has a makefile of its own.
        hierarchical = "--hierarchical" in options
        everything = "hier_build" if hierarchical else top
        text = WHOLE.format(makefile=MAKEFILE, everything=everything, main=main, program=top)
        (folder / WHOLE_MAKEFILE).write_text(text)
        compilers = min(MOST_COMPILERS, os.cpu_count() or 1)
        make = ["make", "whole", *("-j", str(compilers)), *("-C", str(self._folder))]
        make += [*("-f", WHOLE_MAKEFILE), f"VM_TRACE={int(waves)}", *([QUICK] if quick else [])]
        # Verilator's makefile refuses by this name, which make itself finds out behind the link.
        make.append(f"CURDIR={self._folder}")
        self.commands = [verilate, make]

    def run(self) -> None:
        """Compile the simulator; exit if that fails."""
        for command in self.commands:
            status = subprocess.call(command, cwd=self._folder, env=self.environment)
            if status:
                sys.exit(status)

    def _verilator(self) -> str:
        """The program, to be called by a name that it can read itself."""
        root = self.environment.get("VERILATOR_ROOT")
        if root is None or is_plain(root):
            return "verilator"
        self.environment["VERILATOR_ROOT"] = str(self._plain(Path(root)))
        # The script around the program finds out where it is, and cannot read that. It would also
        # give it all the stack that there is.
        _, most = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (most, most))
        return f"{self.environment['VERILATOR_ROOT']}/bin/verilator_bin"

    def _plain(self, folder: Path) -> Path:
        """The folder itself, or a link to it where its name has a space or the like."""
        if is_plain(folder):
            return folder
        for link in self._links.iterdir():
            if link.readlink() == folder:
                return link
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
    quick: bool = False,
) -> None:
    """Compile the simulator of the module ``top``; exit if that fails.

    Compiled ``quick``, it is a little slower.
    """
    with tempfile.TemporaryDirectory(prefix="eyecast-") as links:
        Build(top, sources, folder, options, Path(links), waves=waves, quick=quick).run()


def main() -> None:
    """``builder TOP BUILD_FOLDER OPTIONS HOW SOURCE...``; status 0 if the simulator is built.

    ``OPTIONS`` are Verilator's, as a list in JSON; ``HOW`` has the word waves, quick, or neither.
    """
    top, folder, listed, how, *sources = sys.argv[1:]
    options = json.loads(listed)
    build(top, sources, Path(folder), options, waves=how == "waves", quick=how == "quick")


if __name__ == "__main__":
    main()
