# Everything lives in .venv; the first target that needs it makes it. PYTHON names another interpreter of 3.11 or later.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
READY := .venv/ready

.PHONY: setup ledger test check lint clean lock

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: no Python of 3.11 or later on the PATH; install one, or say PYTHON=/path/to/python" >&2; exit 2; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

ledger: setup
	$(BIN)/feedback-ledger build

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/feedback-ledger check

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Pins every package that setup installs, without addresses.
lock: setup
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --group dev --extra local --extra sandbox --extra edge --no-header --no-annotate \
		--no-emit-index-url --output-file requirements.lock pyproject.toml

clean:
	rm -rf .venv .ledger .pytest_cache .mypy_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
