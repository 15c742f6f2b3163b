# Each target installs what it needs in .venv; none needs root.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := build/demo

# Processes must be able to write bytecode; otherwise each compiles all its imports again.
export PYTHONDONTWRITEBYTECODE :=

BOARDS_READY := $(VENV)/.boards-ready
TESTS_READY := $(VENV)/.tests-ready
COMPILED := $(VENV)/.compiled
CHECKS_READY := $(VENV)/.checks-ready
DOCS_READY := $(VENV)/.docs-ready
PAGES := build/docs

.PHONY: demo types asic test test-all test-slow soak fuzz mutants prove bench boards bitstream bench-boards bench-algorithms bench-collectives bench-fpga bench-report docs docs-links pictures lint format clean help

help:
	@echo "make demo      8x8 broadcasts from the corner and from an eye, on the hardware"
	@echo "make test      the tests;  make test-all  the slow ones too;  make lint  ruff and mypy"
	@echo "make test-slow SLOW_MINUTES=45    as many of the slow tests as fit, the proofs first"
	@echo "make soak      drawn networks, traffic and schedules, model against hardware, ten minutes"
	@echo "make fuzz      damaged commands and files, each answered as promised"
	@echo "make mutants   one changed place at a time, and the test that notices it"
	@echo "make prove     components of the hardware for all time, as a table"
	@echo "make bench     how fast the model and the simulated hardware are, as a table"
	@echo "make bitstream BOARD=icebreaker NETWORK='--mesh 2x2 --flit-width 16'"
	@echo "make asic      area, time and energy of networks in standard cells;  LIBERTY=FILE"
	@echo "make bench-fpga  what a router takes of an FPGA;  make bench-boards  and whole networks"
	@echo "make bench-collectives  cycles beside cost formulas and lower bounds"
	@echo "make bench-algorithms  the fastest algorithms of some cases, which eyecast algorithms lists"
	@echo "make bench-report  size and speed of the page that --report writes, in a browser"
	@echo "make docs      the guides and the reference as pages, in $(PAGES)/html"
	@echo "make docs-links  whether what the pages link to elsewhere is still there"
	@echo "make pictures  the pictures of the README and of runs in the docs, by a browser"
	@echo "make clean     remove what was built"

# uv, if it is there, takes a fifth of pip's time. Neither compiles bytecode, which takes ten
# seconds: Python compiles each module it imports.
INSTALL := $(if $(shell command -v uv),uv pip install --quiet --python $(BIN)/python,\
  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python must be 3.11 or newer, not $$($(PYTHON) --version)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	@$(MAKE) --no-print-directory types
	@touch $@

# An editable install hides its types: mypy and editors find them by these links, as a package of
# stubs. They also see a new module, but a new folder needs this target again.
types:
	@stubs=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/eyecast-stubs \
	  && mkdir -p "$$stubs" && ln -sfn "$(CURDIR)"/*/ "$$stubs" \
	  && ln -sfn "$(CURDIR)/__init__.py" "$$stubs/__init__.pyi"

# Further packages for the tests and the linter.
$(TESTS_READY): $(READY)
	$(INSTALL) --editable '.[dev]'
	@touch $@

# Numba's compiled code, built once; otherwise each process of the tests compiles it for itself.
$(COMPILED): $(TESTS_READY) cli/precompile.py $(shell find model -name "*.py")
	$(BIN)/python -m eyecast.cli.precompile
	@touch $@

# The FPGA tools, over 100 MB; no other target needs them.
$(BOARDS_READY): $(TESTS_READY)
	$(INSTALL) --editable '.[dev,boards]'
	@touch $@

# Further packages for the slow tests: readers of the files that Eyecast writes for other programs,
# and Playwright, which drives the machine's browser.
$(CHECKS_READY): $(BOARDS_READY)
	$(INSTALL) --editable '.[dev,checks,browser,notebooks,prove,sweep,chip,certify]'
	@touch $@

# The tools that build pages from docs/ and from docstrings.
$(DOCS_READY): $(TESTS_READY)
	$(INSTALL) --editable '.[dev,docs]'
	@touch $@

# It compiles the one function that it needs, while it builds the simulator.
demo: $(READY)
	$(BIN)/eyecast demo -o $(DEMO)

# One process per core takes test files in turn; several tests share one build.
test: $(COMPILED)
	$(BIN)/python -m pytest -n auto --dist worksteal

test-all: $(CHECKS_READY) $(COMPILED)
	$(BIN)/python -m pytest -n auto --dist worksteal -m ''

# The slow tests, the proofs of boards first. After SLOW_MINUTES the remaining tests are skipped and
# reported as skipped. Processes take tests one by one, so that the order is kept.
SLOW_MINUTES ?= 45
test-slow: $(CHECKS_READY) $(COMPILED)
	$(BIN)/python -m pytest -n auto --dist load --maxschedchunk 1 \
	  -m slow --slow-minutes $(SLOW_MINUTES)

# Random networks, traffic and schedules for SOAK_MINUTES; continues the last run.
SOAK_MINUTES ?= 10
soak: $(COMPILED)
	$(BIN)/python bench/soak.py --minutes $(SOAK_MINUTES)

# Damaged commands and files; continues the last run.
FUZZ_CASES ?= 100000
fuzz: $(COMPILED)
	$(BIN)/python bench/fuzz.py --cases $(FUZZ_CASES)

# Mutants of the code, each with its nearest tests; continues the last run.
mutants: $(COMPILED)
	$(BIN)/python bench/mutants.py

# Proofs of components, for all time; their invariants are kept in build/proofs.
prove: $(TESTS_READY)
	$(BIN)/python -m eyecast.proofs

boards: $(BOARDS_READY)

BOARD ?= icebreaker
NETWORK ?= --mesh 2x2 --flit-width 16
bitstream: $(BOARDS_READY)
	$(BIN)/eyecast bitstream --board $(BOARD) $(NETWORK)

# Area, time and energy of networks in libraries of standard cells; kept in asic/measured.json.
# Debian's opensta and qflow-tech-osu018 must be installed.
asic: $(CHECKS_READY) $(COMPILED)
	$(BIN)/python bench/asic.py $(LIBERTY)

# A router's FPGA resources and frequency; kept in bench/fpga.json.
bench-fpga: $(BOARDS_READY)
	$(BIN)/python bench/fpga.py

# Resources and frequency of networks on each board.
bench-boards: $(BOARDS_READY)
	$(BIN)/python bench/boards.py

# Speed of the cycle model and of the simulated hardware, as a table.
bench: $(COMPILED)
	$(BIN)/python bench/speed.py

# Size of the page, time to open it, and frames per second while it plays, in a browser.
bench-report: $(CHECKS_READY) $(COMPILED)
	$(BIN)/python bench/report.py

# The fastest algorithms of some cases; kept in the package, in ten minutes of CPU time.
bench-algorithms: $(COMPILED)
	$(BIN)/python bench/algorithms.py

# Cycles of all collectives on a hypercube, beside the papers' formula with fitted times; and the
# cycles of the fastest algorithms beside the lower bound.
bench-collectives: $(COMPILED)
	$(BIN)/python bench/collectives.py
	$(BIN)/python bench/wires.py

# Cycles of short messages with packets and with circuits, beside the lower bound.
bench-circuits: $(COMPILED)
	$(BIN)/python bench/wires.py --circuits

# Every warning fails, for example a missing name, file or heading. After a failure all pages are
# built anew, because a kept page does not warn again.
docs: $(DOCS_READY)
	$(BIN)/sphinx-build --quiet --nitpicky --fail-on-warning --keep-going \
	  -d $(PAGES)/parsed docs $(PAGES)/html || { rm -rf $(PAGES); exit 1; }
	@echo "$(PAGES)/html/index.html"

# This target sends requests to other servers, so no other target depends on it.
docs-links: $(DOCS_READY)
	$(BIN)/sphinx-build --quiet -b linkcheck -d $(PAGES)/parsed docs $(PAGES)/links

# A moving picture of a run's page, light and dark, and drawings of runs; a guide has the program.
pictures: $(CHECKS_READY) $(COMPILED)
	$(BIN)/python docs/moving_picture.py
	cd docs/live && $(CURDIR)/$(BIN)/eyecast run layers.csv --mesh 4x4 -o ../workload.svg
	cd docs/live && $(CURDIR)/$(BIN)/eyecast show --mesh 2x2 --schedule halving.csv --words 64 --as lanes -o ../lanes.svg
	sed -n '/`sums.c`:$$/,/^```$$/p' docs/guides/chip.md | sed '1,/^```c$$/d; /^```$$/d' > build/sums.c
	cd build && $(CURDIR)/$(BIN)/eyecast chip sums.c --mesh 2x2 -o ../docs/chip.svg

lint: $(TESTS_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@# mypy finds the package by its folder's name, and this folder may have any.
	@mkdir -p build/types && ln -sfn ../.. build/types/eyecast
	cd build/types && MYPYPATH=. ../../$(BIN)/mypy --config-file ../../pyproject.toml eyecast

format: $(TESTS_READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf build $(VENV) *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
