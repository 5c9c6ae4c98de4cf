# `make demo` and `make test` do all the set-up on a fresh machine with python3 >= 3.11.
PYTHON ?= python3
# Tests mostly wait for real programs, so more of them run at once than there are cores.
TESTS_AT_ONCE ?= 5
AT_ONCE := -n $(TESTS_AT_ONCE) --dist loadfile --no-loadscope-reorder
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test-unit test test-slow fault coverage lint bench notebooks docs emulator wheel release-check clean

$(VENV)/core: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Burstlens needs Python 3.11 or newer; PYTHON=python3.12 make ... names another")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[movie,serve]'
	touch $@

$(VENV)/dev: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(VENV)/docs: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

demo: $(VENV)/core
	$(BIN)/burstlens demo

# Pure Python: no process, no browser, no batch system.
test-unit: $(VENV)/dev
	$(BIN)/python -m pytest $(AT_ONCE) -m 'not integration'

# With real processes: runs, kills, servers, the emulated libdatawarp.
test: $(VENV)/dev
	$(BIN)/python -m pytest $(AT_ONCE) -m 'not slow and not fault and not bench'

# With a browser, Slurm, ParaView, builds; other tests that take minutes.
test-slow: $(VENV)/dev
	$(BIN)/python -m pytest $(AT_ONCE) -m 'slow and not fault'

# Kills, and faults injected at every call: hours. FAULT_SEED=N draws others; docs/reliability.md.
fault: $(VENV)/dev
	$(BIN)/python -m pytest -m fault

# Coverage of the code by `make test`, in all its processes: .coverage/html/index.html has each line.
coverage: $(VENV)/dev
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest $(AT_ONCE) -m 'not slow and not fault and not bench'
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report --skip-covered --sort=cover

node_modules/.lint: package-lock.json
	@command -v npm >/dev/null || { echo "make lint needs Node.js 20 or newer with npm; make lint-python does without" >&2; exit 1; }
	npm ci
	touch $@

.PHONY: lint-python lint-javascript
lint: lint-python lint-javascript

lint-python: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lint-javascript: node_modules/.lint
	node_modules/.bin/biome check --error-on-warnings
	node_modules/.bin/tsc

# ONLY=large,batches measures these parts alone.
bench: $(VENV)/dev
	$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY))

# Run the notebooks again and keep their outputs.
notebooks: $(VENV)/dev
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace \
	  --ExecutePreprocessor.record_timing=False --ExecutePreprocessor.store_widget_state=False \
	  notebooks/*.ipynb

# The documentation as a site, in site/: a broken link fails.
docs: $(VENV)/docs
	$(BIN)/python tools/docs_site.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# An emulated libdatawarp with its header and pkg-config file: make emulator PREFIX=/some/dir
emulator:
	@$(MAKE) --no-print-directory -C emulator PREFIX="$(if $(PREFIX),$(shell realpath -m -- "$(PREFIX)"))"

wheel: $(VENV)/dev
	$(BIN)/python -m build --wheel --no-isolation

# The sdist and the wheel, checked, in dist/: the demo runs from the wheel in a bare environment.
release-check: $(VENV)/dev
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) dist build site node_modules .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
