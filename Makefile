# Every target works from a fresh clone; all but clean need only Python >= 3.11 and Java 17 or 21.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup demo test ordeal check bench peers clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("tidewire needs Python 3.11 or newer, found " + sys.version.split()[0] + "; set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,demo]'
	$(BIN)/tidewire doctor --setup
	@touch $(STAMP)

demo: setup
	$(BIN)/tidewire demo flights

test: setup
	$(BIN)/python -m pytest -m 'not broker and not spark and not stack' --cov --cov-report=term:skip-covered
	$(BIN)/python -m pytest -m 'broker or spark or stack' --ignore=tests/stack/test_crashes.py

# Minutes of SIGKILL on a whole stack, then the verification.
ordeal: setup
	$(BIN)/python -m pytest tests/stack/test_crashes.py

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m benchmarks

# Other engines on the same questions (docs/peers.md); fetches theirs with pip into ~/.cache/tidewire/peers.
peers: setup
	$(BIN)/python -m benchmarks.peers $(if $(QUICK),--quick)

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .numba_cache htmlcov .coverage
