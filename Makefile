# Everything a newcomer needs: `make demo` and `make test` set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: demo demo-book demo-feature test programs check format bench translate diagrams clean

# The main job, with no key and no model: a plan of ten tasks with the shell agent.
demo: $(VENV)/.base
	@sh examples/demo.sh $(abspath $(BIN))/segue

# A book of four chapters, written, judged and revised: no key and no model either.
demo-book: $(VENV)/.base
	@sh examples/demo-book.sh $(abspath $(BIN))/segue

# A feature from design to merge, with a scripted developer that makes mistakes and hits a limit.
demo-feature: $(VENV)/.base
	@sh examples/demo-feature.sh $(abspath $(BIN))/segue

$(VENV)/.base: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Segue needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Installing Segue into $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(STAMP): $(VENV)/.base
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# What the tests need besides Python: terminals are real, so are the agents (npm) and the browser.
programs:
	@sh scripts/programs.sh tmux npm git chromium bwrap

# The checks and three parts of tests, side by side: each is run to its end, and all that failed is
# listed at the end. The real agents are installed into a cache outside of this folder (SEGUE_TEST_CACHE).
test: $(STAMP) programs
	@$(BIN)/python scripts/test.py

check: $(STAMP)
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/diagrams.py --check
	$(BIN)/python scripts/translate.py --check

format: $(STAMP)
	$(BIN)/ruff check --fix -q src tests benchmarks scripts
	$(BIN)/ruff format -q src tests benchmarks scripts

# The state diagrams in docs/architecture.md, drawn from the tables.
diagrams: $(STAMP)
	$(BIN)/python scripts/diagrams.py

# Collect the texts of the code into the catalogues, and compile them.
translate: $(STAMP)
	$(BIN)/python scripts/translate.py

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) .cache build dist
