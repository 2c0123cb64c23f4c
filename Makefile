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

.PHONY: help run install passkeys simulator test test-engine test-all test-system coverage test-postgresql weight check format bench mutants demo docs image pictures wheels release lock fuzz losses kills kills-postgresql stress clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

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

install: $(EVERYTHING) ## create .venv with everything, `publisher` included

run: $(RUN) ## start the site on http://$(HOST):$(PORT); installs only what a blog needs
	@$(BIN)/publisher serve --host $(HOST) --port $(PORT)

demo: $(RUN) ## fill the instance folder with a believable blog
	@$(BIN)/python -m publisher demo

passkeys: $(PASSKEYS) ## install the further package that logging in with a passkey needs

simulator: $(SIMULATOR) ## install the further packages that `publisher simulate` needs

# Tests also wait, so there is one of their processes more than cores; who is done takes of another's.
PARALLEL := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist worksteal

test: $(EVERYTHING) ## run the tests of a small change: minutes, no browser, no servers
	@$(BIN)/python -m pytest $(PARALLEL) -m "not system"

test-engine: $(EVERYTHING) ## run the engine's tests of a small change on a blog without any part
	@PUBLISHER_PARTS=none $(BIN)/python -m pytest $(PARALLEL) -m "not system" $(addprefix tests/,blog cli \
		exchange operations publishing serving storage web test_content.py test_parts.py)

test-all: test test-system ## run the whole test suite; tests of programs not installed here are skipped

test-system: $(EVERYTHING) ## run the tests that `make test` leaves out: browsers, servers, whole programs
	@$(BIN)/python -m pytest $(PARALLEL) -m system

coverage: $(EVERYTHING) ## print the branch coverage of each room by the tests of a small change
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -q -n auto -m "not system"
	@$(BIN)/coverage combine -q
	@$(BIN)/python scripts/coverage_by_room.py

mutants: $(BENCH) ## change core and feeds at random, MUTANTS (100) times, SEED (1), and see which changes no test notices
	@$(BIN)/python scripts/mutants.py $${MUTANTS:-100} $${SEED:-1}

fuzz: $(EVERYTHING) ## fuzz whatever reads strangers' input, for FUZZ_SECONDS (60); FUZZ_ONLY=markdown,river FUZZ_SEED=1
	@$(BIN)/python -m tests.fuzz

# On PostgreSQL run the tests of rooms that have SQL of their own or rely on its transactions, and the
# tests across rooms that open a database; rules, documents and pages in a browser meet no other one.
# Left out here: two start servers of their own wherever they run (storage/test_postgresql.py serves
# a site of two machines), of some all SQL is in other tests, in the rest no database is part of the
# claim: rules, documents, the wire, processes as such, what a command imports or a page shows.
ON_ANY_DATABASE := parts/river/fetching/test_machines.py storage/test_postgresql.py storage/test_connections.py storage/test_bucket.py \
	parts/readers/test_real_readers.py parts/readers/test_forecast.py parts/river/test_simulated.py feed_reading \
	parts/river/test_our_publisher.py \
	$(addprefix other_feeds/test_,stamp.py stamp_recipes.py) $(addprefix cli/test_,light.py simulation.py) \
	$(addprefix parts/importing/test_,confined_reading.py html_to_markdown.py) \
	blog/test_markdown.py serving/test_stopping.py web/test_blog_clients.py web/test_rights.py \
	$(addprefix parts/,micropub/test_standard_cases.py micropub/test_kept_properties.py \
	xml_rpc/test_xml_rpc.py readers/test_worth.py) \
	$(addprefix parts/readers/test_,fairness.py nasty_mixes.py telling_apart.py verdicts.py) \
	$(addprefix operations/test_,http.py http_hosts.py nginx.py rebinding.py serve.py serve_http.py \
	tls.py unit.py waiting.py)
WITHOUT_DATABASE := $(addprefix tests/test_,ablation.py architecture.py civil_dates.py container.py \
	day_in_the_life.py docs.py how_tos.py packaging.py parity.py same_figures.py second_set.py tutorial.py)
# Of other files: what reads a log or an export, and what is sent.
NOT_ON_POSTGRESQL := $(addprefix --deselect=tests/,parts/river/polls/test_missed_items.py::test_a_busy_feed_is_had_whole \
	parts/readers/access_logs/test_intake.py::test_a_hundred_thousand_lines_cost_little \
	parts/readers/test_served.py::test_hostile_agents_over_the_wire \
	web/studio/test_moving.py::test_what_cannot_be_read_is_said)
WITH_DATABASE ?= $(filter-out $(WITHOUT_DATABASE),$(wildcard tests/test_*.py)) $(addprefix tests/,blog cli \
	exchange operations other_feeds parts publishing serving storage web)

test-postgresql: $(EVERYTHING) ## run the tests that use a database on a temporary PostgreSQL server; WITH_DATABASE=tests/browser for others
	@$(BIN)/python -m tests.postgres $(PARALLEL) $(addprefix --ignore=tests/,$(ON_ANY_DATABASE)) $(NOT_ON_POSTGRESQL) $(WITH_DATABASE)

losses: $(EVERYTHING) ## write with two browsers while network, login and server fail: STEPS (20000), SEED (1), EPISODE
	@$(BIN)/python -m tests.losses --steps $${STEPS:-20000} --seed $${SEED:-1} --episode $${EPISODE:-0}

kills: $(EVERYTHING) ## test recovery: kill -9 at random moments, KILLS (200) times
	@KILLS=$${KILLS:-200} $(BIN)/python -m pytest -q tests/operations/test_kills.py

kills-postgresql: $(EVERYTHING) ## test machines that share PostgreSQL: 50 killed, 20 frozen, 10 restarts (KILLS, FREEZES, RESTARTS)
	@KILLS=$${KILLS:-50} FREEZES=$${FREEZES:-20} RESTARTS=$${RESTARTS:-10} $(BIN)/python -m pytest -q -s tests/parts/river/fetching/test_machines.py

weight: $(EVERYTHING) ## print the lines of code and of tests of each class and room
	@$(BIN)/python scripts/weight.py

check: $(EVERYTHING) ## run ruff and mypy, strict; bandit; the lock files; a word of each change; no class of code much heavier
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/bandit --quiet -ll --recursive publisher scripts
	@$(BIN)/python scripts/check_locks.py
	@$(BIN)/python scripts/check_changes.py
	@$(BIN)/python scripts/weight.py --check >/dev/null

# Hashes for every system's files; the address of a package registry is not written into them.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url

lock: ## update requirements/*.txt from pyproject.toml (needs uv; UPGRADE=--upgrade for newer versions)
	@$(LOCK) $(UPGRADE) --extra fast --extra river --extra passkeys --extra old-passwords --extra math --extra rst --extra postgres --extra s3 --extra sim --extra dask --extra dev pyproject.toml -o requirements/test.txt
	@$(LOCK) $(UPGRADE) --constraints requirements/test.txt pyproject.toml -o requirements/deploy.txt
	@$(LOCK) $(UPGRADE) --constraints requirements/test.txt --extra fast --extra river --extra passkeys --extra old-passwords --extra math --extra postgres --extra s3 pyproject.toml -o requirements/image.txt

format: $(EVERYTHING) ## format the code with ruff
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

stress: $(EVERYTHING) ## start and stop the application a thousand times while it is polled
	@STRESS_LIVES=1000 $(BIN)/python -m pytest -q tests/serving/test_stopping.py

bench: $(BENCH) ## measure speed and size, each with its baseline in the same run
	@$(BIN)/python -m bench

pictures: $(EVERYTHING) ## update docs/pictures/*.png from the demo blog (needs Chromium)
	@$(BIN)/python scripts/pictures.py

wheels: $(RUN) ## build dist/publisher_blog-*.whl, dynamic_ttl-*.whl and publisher_reader_test-*.whl
	@$(BIN)/python -m pip wheel --quiet --no-deps -w dist .
	@$(BIN)/python scripts/build_wheels.py dist
	@ls dist/*.whl

release: $(EVERYTHING) ## gather changes/ into CHANGELOG.md, build the wheels, serve from one in a bare environment
	@$(BIN)/towncrier build --yes --date "$$(LC_ALL=C date '+%-d %B %Y')"
	@$(MAKE) --no-print-directory wheels
	@$(BIN)/python scripts/try_wheel.py dist

docs: $(DOCS) ## build the documentation as a site, with search, in build/docs; a broken link is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo build/docs/index.html

image: ## build the container image `publisher` (needs podman or docker)
	@engine=$$(command -v podman || command -v docker) || { echo "make image needs podman or docker" >&2; exit 1; }; \
	BUILDAH_FORMAT=docker $$engine build --tag publisher --file Containerfile .

clean: ## remove what can be rebuilt (never the instance folder)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build *.egg-info
