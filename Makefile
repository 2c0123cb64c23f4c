# The tasks of running and developing Publisher; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8000
# Compiled code is kept, whatever the environment says: tests start hundreds of programs, and each
# would compile all of it again, which is a third of its start.
export PYTHONDONTWRITEBYTECODE :=
PIP := PYTHONUNBUFFERED=1 $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off

# One stamp file for each set of packages, so that running a blog does not install the rest.
RUN := $(VENV)/.run
SIMULATOR := $(VENV)/.simulator
PASSKEYS := $(VENV)/.passkeys
BENCH := $(VENV)/.bench
DOCS := $(VENV)/.docs
EVERYTHING := $(VENV)/.everything

# $(call install,purpose,extras): pip's lines become one line of progress; its errors are shown.
define install
@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
@echo "Installing what $(1) (once)"
@{ $(PIP) -e '.$(2)' 2>&1 || echo "ERROR: pip stopped"; } | { n=0; bad=0; \
	while read -r word name rest; do case "$$word" in \
	Collecting|Processing) n=$$((n + 1)); name=$${name##*/}; \
		printf '\r  %d packages, now %-32.32s' $$n "$$name";; \
	Installing) test "$$name" != collected || printf '\r  %d packages, unpacking them %-24s' $$n "";; \
	ERROR:*|error:*) bad=1; printf '\n  %s %s %s' "$$word" "$$name" "$$rest";; \
	esac; done; printf '\n'; exit $$bad; }
@touch $@
endef

.PHONY: help help-all run install passkeys simulator test test-libraries test-engine test-newer test-all test-system coverage test-postgresql weight check format bench mutants demo docs image pictures wheels release lock fuzz losses kills kills-postgresql stress clean
.DEFAULT_GOAL := help

help: ## list what is used often; `make help-all` lists the rest too
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

help-all: help
	@grep -hE '^[a-z-]+:.*#: ' $(MAKEFILE_LIST) | sed -E 's/:.*#: /\t/' | expand -t 18

$(RUN): pyproject.toml
	$(call install,a blog needs: about a minute and 170 MB)
	@$(BIN)/python -m pip uninstall --quiet --yes setuptools 2>/dev/null # old Pythons put it there

$(SIMULATOR): pyproject.toml
	$(call install,the simulator needs: a minute or two and 400 MB more,[sim])
	@touch $(RUN)

$(PASSKEYS): pyproject.toml
	$(call install,passkeys need,[passkeys])
	@touch $(RUN)

$(BENCH): pyproject.toml $(EVERYTHING)
	$(call install,the measurements need,[bench])

$(DOCS): pyproject.toml
	$(call install,the documentation's site needs,[docs])

$(EVERYTHING): pyproject.toml
	$(call install,developing needs: some minutes and 800 MB,[fast$(,)river$(,)passkeys$(,)old-passwords$(,)math$(,)rst$(,)postgres$(,)s3$(,)sim$(,)dask$(,)dev])
	@touch $(RUN) $(SIMULATOR) $(PASSKEYS)

, := ,

install: $(EVERYTHING) ## create .venv with everything that developing needs

run: $(RUN) ## start the site on http://127.0.0.1:8000 (HOST=, PORT=)
	@$(BIN)/publisher serve --host $(HOST) --port $(PORT)

demo: $(RUN) ## fill the instance folder with a believable blog
	@$(BIN)/python -m publisher demo

passkeys: $(PASSKEYS) ## install what logging in with a passkey needs

simulator: $(SIMULATOR) ## install what large runs of `publisher simulate` need

# Tests also wait, so there is one of their processes more than cores; who is done takes of another's.
PARALLEL := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist worksteal

# Libraries know no blog (scripts/weight.py has the list), and so do the sets of timelines; the
# parity of both needs the simulator's compiled code, as they do.
LIBRARIES := $(addprefix tests/,access_logs dynamic_ttl feed_reading http_server other_feeds \
	reader_test simulator test_ablation.py test_parity.py test_same_figures.py test_second_set.py)
BLOG = $(filter-out $(LIBRARIES) tests/__pycache__,$(patsubst %/,%,$(wildcard tests/*/ tests/test_*.py)))

test: $(EVERYTHING) ## the quick tests of the engine and its parts: three minutes
	@$(BIN)/python -m pytest $(PARALLEL) -m "not system" $(BLOG)

test-libraries: $(EVERYTHING) ## the quick tests of what knows no blog
	@$(BIN)/python -m pytest $(PARALLEL) -m "not system" $(LIBRARIES)

test-engine: $(EVERYTHING) ## the engine's tests on a blog without any part
	@PUBLISHER_PARTS=none $(BIN)/python -m pytest $(PARALLEL) -m "not system" $(addprefix tests/,blog cli \
		exchange operations publishing serving storage web test_content.py test_parts.py)

test-newer: #: the same in another environment, of another Python: NEWER=FOLDER
	@$(MAKE) --no-print-directory VENV=$(NEWER) test-engine

test-all: test test-libraries test-engine test-system test-postgresql ## all of these; what needs a program that is not here is skipped

test-system: $(EVERYTHING) ## the tests with browsers, servers and whole programs
	@$(BIN)/python -m pytest $(PARALLEL) -m system

coverage: $(EVERYTHING) #: print the branch coverage of each room
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -q -n auto -m "not system"
	@$(BIN)/coverage combine -q
	@$(BIN)/python scripts/coverage_by_room.py

mutants: $(BENCH) #: change a ROOM (core), or FILES of it, at random, MUTANTS (100) times, SEED (1): what does no test notice?
	@$(BIN)/python scripts/mutants.py $${MUTANTS:-100} $${SEED:-1} $${ROOM:-core} '$(FILES)'

fuzz: $(EVERYTHING) #: fuzz whatever reads strangers' input: FUZZ_SECONDS (60), FUZZ_ONLY=markdown,river, FUZZ_SEED
	@$(BIN)/python -m tests.fuzz

# Of the rooms that use a database, all but the tests with the marker `any_database`.
WITH_DATABASE ?= $(addprefix tests/,test_content.py test_parts.py blog cli exchange operations \
	other_feeds parts publishing serving storage web)

test-postgresql: $(EVERYTHING) ## the tests that use a database, on a PostgreSQL server of their own
	@$(BIN)/python -m tests.postgres $(PARALLEL) $(WITH_DATABASE)

losses: $(EVERYTHING) #: write with two browsers while network, login and server fail: STEPS (20000), SEED (1), EPISODE
	@$(BIN)/python -m tests.losses --steps $${STEPS:-20000} --seed $${SEED:-1} --episode $${EPISODE:-0}

kills: $(EVERYTHING) #: kill -9 at random moments, KILLS (200) times
	@KILLS=$${KILLS:-200} $(BIN)/python -m pytest -q tests/operations/test_kills.py

kills-postgresql: $(EVERYTHING) #: kill (50), freeze (20), restart (10) machines that share PostgreSQL: KILLS, FREEZES, RESTARTS
	@KILLS=$${KILLS:-50} FREEZES=$${FREEZES:-20} RESTARTS=$${RESTARTS:-10} $(BIN)/python -m pytest -q -s tests/parts/river/fetching/test_machines.py

weight: $(EVERYTHING) #: print the lines of code and of tests of each class and room
	@$(BIN)/python scripts/weight.py

check: $(EVERYTHING) ## ruff, mypy, bandit, lock files, fragments of changes/, weight
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/bandit --quiet -ll --recursive publisher scripts
	@$(BIN)/python scripts/check_locks.py
	@$(BIN)/python scripts/check_changes.py
	@$(BIN)/python scripts/weight.py --check >/dev/null

# Hashes for every system's files; the address of a package registry is not written into them.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url

lock: #: update requirements/*.txt from pyproject.toml (needs uv; UPGRADE=--upgrade)
	@$(LOCK) $(UPGRADE) --extra fast --extra river --extra passkeys --extra old-passwords --extra math --extra rst --extra postgres --extra s3 --extra sim --extra dask --extra dev pyproject.toml -o requirements/test.txt
	@$(LOCK) $(UPGRADE) --constraints requirements/test.txt pyproject.toml -o requirements/deploy.txt
	@$(LOCK) $(UPGRADE) --constraints requirements/test.txt --extra fast --extra river --extra passkeys --extra old-passwords --extra math --extra postgres --extra s3 pyproject.toml -o requirements/image.txt

format: $(EVERYTHING) ## format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

stress: $(EVERYTHING) #: start and stop the application a thousand times while it is polled
	@STRESS_LIVES=1000 $(BIN)/python -m pytest -q tests/serving/test_stopping.py

bench: $(BENCH) ## measure speed and size, each beside its baseline: an hour
	@$(BIN)/python -m bench

pictures: $(EVERYTHING) #: update docs/pictures/*.png from the demo blog (needs Chromium)
	@$(BIN)/python scripts/pictures.py

wheels: $(RUN) ## build dist/*.whl: publisher_blog, dynamic_ttl, publisher_reader_test
	@$(BIN)/python -m pip wheel --quiet --no-deps -w dist .
	@$(BIN)/python scripts/build_wheels.py dist
	@ls dist/*.whl

release: $(EVERYTHING) ## gather changes/ into CHANGELOG.md, build the wheels, serve from one
	@$(BIN)/towncrier build --yes --date "$$(LC_ALL=C date '+%-d %B %Y')"
	@$(MAKE) --no-print-directory wheels
	@$(BIN)/python scripts/try_wheel.py dist

docs: $(DOCS) ## build the documentation as a site in build/docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo build/docs/index.html

image: ## build the container image `publisher` (needs podman or docker)
	@engine=$$(command -v podman || command -v docker) || { echo "make image needs podman or docker" >&2; exit 1; }; \
	BUILDAH_FORMAT=docker $$engine build --tag publisher --file Containerfile .

clean: ## remove what can be rebuilt (never the instance folder)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build *.egg-info
