# Every command sets up what it needs: CPython 3.11 to 3.14, make and a package index are enough.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PEERS := .venv-peers/.ready
# What the peers pin has wheels for CPython 3.10 to 3.12.
PEERS_PYTHON ?= $(PYTHON)
export NUMBA_CACHE_DIR ?= $(CURDIR)/.venv/numba-cache
export RAY_USAGE_STATS_ENABLED := 0

.PHONY: demo demo-s3 test drills bench check smoke wheel peers lock clean help

help:  ## what there is
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# uv is installed from the lock by pip, with its hash; uv installs the rest, trusting what the system trusts.
$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	awk '/^uv==/ {on = 1} on {print} on && !/\\$$/ {exit}' requirements.lock > .venv/uv.txt
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --disable-pip-version-check -r .venv/uv.txt
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/uv pip sync --quiet --system-certs --require-hashes --no-build-isolation requirements.lock
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(READY)

demo: $(READY)  ## perturb Forest Fires on a Ray of its own, verify it, show where the release and the report are
	$(BIN)/distanon run jobs/forest-fires.yaml --overwrite

demo-s3: $(READY)  ## the same for MAGIC, from and to a real S3 server on this machine
	rm -rf demo-s3
	DISTANON_INPUT=s3://input/magic.parquet DISTANON_OUTPUT=s3://releases/magic/ DISTANON_PRIVATE=s3://private/magic/ \
	  $(BIN)/python tests/s3_server.py --bucket input --bucket releases --bucket private \
	  --upload distanon/data/builtin/magic.parquet input/magic.parquet \
	  --download releases/magic demo-s3/release --download private/magic demo-s3/private \
	  --run $(BIN)/distanon run jobs/magic-s3.yaml
	@echo "downloaded to demo-s3/release and demo-s3/private/report.html"

$(PEERS): requirements-peers.lock | $(READY)
	rm -rf .venv-peers
	$(PEERS_PYTHON) -m venv --without-pip .venv-peers
	VIRTUAL_ENV=$(CURDIR)/.venv-peers $(BIN)/uv pip sync --quiet --system-certs --require-hashes --only-binary :all: requirements-peers.lock
	touch $(PEERS)

peers: $(PEERS)  ## the packages that distanon is compared with, in an environment of their own

test: $(READY)  ## every test that is not marked slow
	@$(MAKE) --no-print-directory peers || echo "the peers could not be installed: tests that ask them will skip"
	$(BIN)/python tests/side_by_side.py

drills: $(READY)  ## the slow tests and the seeded faults
	$(BIN)/python -m pytest -m slow

bench: $(READY)  ## ratios against named peers
	@for file in benchmarks/bench_*.py; do $(BIN)/python $$file --quick || exit 1; done

check: $(READY)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

smoke: $(READY)  ## the smallest jobs, as a user runs them
	@for spec in jobs/smoke/*.yaml; do \
	  $(BIN)/distanon run $$spec --overwrite --quiet || exit 1; done

wheel: $(READY)  ## build the wheel and import it from outside the tree
	rm -rf dist
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/uv build --quiet --wheel --no-build-isolation --out-dir dist .
	cd / && PYTHONPATH=$$(echo $(CURDIR)/dist/distanon-*.whl) $(CURDIR)/$(BIN)/python -P -c \
	  "import distanon, sys; assert '.whl' in distanon.__file__, distanon.__file__; print(distanon.__version__, 'from the wheel')"

lock: $(READY)  ## write requirements.lock anew
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --extra dev pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-emit-find-links requirements-peers.txt -o requirements-peers.lock

clean:  ## remove what the commands made
	rm -rf .venv .venv-peers demo demo-s3 dist
