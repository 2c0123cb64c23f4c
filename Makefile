# The workflow, as a file you can run. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8000
STAMP := $(VENV)/.installed

.PHONY: help run install test check format bench demo clean
.DEFAULT_GOAL := help

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing (a minute or so, once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[sim,dev]'
	@touch $(STAMP)

install: $(STAMP) ## create .venv with everything, `publisher` included

run: $(STAMP) ## start the site on http://$(HOST):$(PORT)
	@$(BIN)/publisher serve --host $(HOST) --port $(PORT)

test: $(STAMP) ## the whole test suite; what this machine lacks is skipped, with the reason
	@$(BIN)/python -m pytest -n auto

check: $(STAMP) ## ruff and mypy, strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(STAMP) ## let ruff arrange the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(STAMP) ## measure speed and size, each with its baseline in the same run
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@$(BIN)/python -m bench

demo: $(STAMP) ## fill a believable blog in the instance folder
	@$(BIN)/python -m publisher demo

clean: ## remove what can be made again (never the instance folder)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build *.egg-info
