# Every target works from a fresh clone; all but clean need only Python >= 3.11 and Java 17 or 21.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

NO_JVM := not broker and not spark and not stack and not cdc
FAST := -m 'not deep and $(NO_JVM)'
BOTH := -m '$(NO_JVM)'
DEEP := -m 'deep and $(NO_JVM)' --hypothesis-profile=deep
SLOW := -m '(broker or spark or stack or cdc) and not ordeal' --durations=20 \
	--ignore=tests/stack/test_crashes.py --ignore=tests/stack/test_random_chain.py --ignore=tests/stack/test_cdc_killed.py \
	--ignore=tests/stack/test_steady.py
# Tests at a time; each worker needs some 7 s to import everything, and of the slow ones 4 GB: more help on more cores.
WORKERS ?= 2
# Tests start some hundred Python processes: they share bytecode, whatever the caller's environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test test-fast test-deep test-slow thorough coverage fuzz cdc ordeal soak check bench peers clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("tidewire needs Python 3.11 or newer, found " + sys.version.split()[0] + "; set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,demo]'
	$(BIN)/tidewire doctor --setup
	@touch $(STAMP)

demo: setup
	$(BIN)/tidewire demo flights

test: test-fast test-deep test-slow

# No JVM: the quick tier, without the dear property tests, which are marked `deep`.
test-fast: setup
	$(BIN)/python -m pytest $(FAST) -n $(WORKERS) --dist worksteal

# The dear property tests, with as many examples as the others have: machines and chains against their twins.
test-deep: setup
	$(BIN)/python -m pytest $(DEEP) -n $(WORKERS) --dist worksteal

# What starts a broker, Spark, a whole stack, or PostgreSQL with Debezium where that is installed; file by file.
test-slow: setup
	$(BIN)/python -m pytest $(SLOW) -n $(WORKERS) --dist loadfile

# Fast and deep tests with all the examples of the property tests, drawn anew in each run.
thorough: setup
	$(BIN)/python -m pytest $(BOTH) -n $(WORKERS) --dist worksteal --hypothesis-profile=thorough

# Which lines and branches fast and deep tests reach, as they are in `make test`; htmlcov/index.html shows them.
coverage: setup
	$(BIN)/python -m pytest $(BOTH) -n $(WORKERS) --dist worksteal --hypothesis-profile=deep --cov --cov-report=term:skip-covered --cov-report=html

# Every parser of outside bytes, for MINUTES each; a finding is shown in its smallest form.
fuzz: MINUTES ?= 5
fuzz: setup
	$(BIN)/python -m tests.fuzz $(MINUTES)

# A real PostgreSQL (Debian: apt-get install postgresql) and Debezium: what they publish, which `make test` has, too,
# and then minutes of SIGKILL on all between 60,000 statements and the answers. Without PostgreSQL it skips, and says so.
cdc: setup
	$(BIN)/python -m pytest -m cdc -rs tests/stack/test_cdc.py tests/stack/test_cdc_killed.py

# Minutes of SIGKILL on a whole stack, then the verification; and the files in which tests are marked `ordeal`, whole,
# as each is the story of one stack.
ordeal: setup
	$(BIN)/python -m pytest tests/stack/test_crashes.py tests/stack/test_random_chain.py tests/stack/test_steady.py
	$(BIN)/python -m pytest $(shell grep -rl 'mark\.ordeal' tests --include='test_*.py' | sort)

# A whole stack for MINUTES: 1,000 publications/s, 100,000 subscriptions coming and going, a SIGKILL every minute.
soak: MINUTES ?= 60
soak: setup
	$(BIN)/python -m tests.soak --minutes $(MINUTES)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m benchmarks

# Other engines on the same questions (docs/peers.md); fetches theirs with pip, builds the Rust ones with cargo where
# there is one, all in ~/.cache/tidewire/peers.
peers: setup
	$(BIN)/python -m benchmarks.peers $(if $(QUICK),--quick)

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .numba_cache htmlcov .coverage
