# Needs Python 3.11 or newer, make and a shell; each target first sets up what it needs. Start with `make help`.

VENV ?= .venv
PEERS_VENV ?= .venv-peers
# The interpreter for a new environment; unset, the first of python3, python3.14 .. python3.11 that is recent enough.
export PYTHON
# Two workers: so many cores has the smallest machine that we care for. PYTEST='-n 0 -k odds' for one part of it.
PYTEST ?= -n 2
# More for `fairroll serve`; ports and keys are settings of the environment (see `fairroll serve --help`).
SERVE ?=
BENCH ?=

BIN = $(VENV)/bin

.PHONY: help serve test setup lint types arrows proto proto-check pytest fuzz bench lock format clean
# Output of the checks in order, whatever -j says.
.NOTPARALLEL:

help:
	@echo 'make serve    start the service (with keys for development on first start)'
	@echo 'make test     all checks: lint, types, arrows, contract, tests'
	@echo 'make lint | types | arrows | proto-check | pytest     one of them'
	@echo 'make format   let ruff write the code as it likes it'
	@echo 'make proto    generate service/fairroll/v1 from proto/'
	@echo 'make bench    measure, against peers and bare primitives'
	@echo 'make fuzz     the property tests, the long odds, bad input and the whole document, for long'
	@echo 'make lock     write the lock files anew (UPGRADE=1: with newer versions)'
	@echo 'make clean    remove environments and caches'

serve:
	@sh tools/venv.sh $(VENV) server
	@exec $(BIN)/fairroll serve $(SERVE)

# pytest last: its summary closes the output.
test: lint types arrows proto-check pytest

setup:
	@sh tools/venv.sh $(VENV) dev

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

arrows: setup
	$(BIN)/lint-imports

proto-check: setup
	$(BIN)/python tools/proto.py --lint
	$(BIN)/python tools/proto.py --check

pytest: setup
	@sh tools/venv.sh $(PEERS_VENV) peers
	$(BIN)/python -m pytest $(PYTEST)

fuzz: setup
	FAIRROLL_LONG=1 $(BIN)/python -m pytest $(PYTEST) --timeout 0 tests/property tests/rules/systems tests/service/test_abuse.py tests/service/test_schemathesis.py

proto: setup
	$(BIN)/python tools/proto.py

format: setup
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: setup
	@sh tools/venv.sh $(PEERS_VENV) peers
	PEERS_PYTHON=$(PEERS_VENV)/bin/python $(BIN)/python -m bench $(BENCH)

lock: setup
	sh tools/lock.sh $(BIN)/uv $(if $(UPGRADE),--upgrade)

clean:
	rm -rf $(VENV) $(PEERS_VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .grimp_cache
