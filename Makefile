# make demo      the roller-crank mechanism: files for ParaView and plots in ./out
# make test      lint, format, types, documentation and tests
# make validate  the same with the long tests
# make bench     speed, compared with other programs: BENCH="--quick" or names of cases, see docs/benchmarks.md
# make wheel     a wheel with machine code for this version of Python, in dist
# make docs      documentation in docs/_build/html
# make clean     remove everything that make made
#
# The environment .venv is made on first use. PYTHON=python3.12 make test chooses the interpreter it is made with.

PYTHON ?= python3
WORKERS ?= 2
RUN := .venv/bin/python
# matrices are small here: threads of BLAS only wait for each other
export OPENBLAS_NUM_THREADS ?= 1
# processes that tests start would translate all Python sources again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test checked translated lint validate bench docs wheel clean
.DELETE_ON_ERROR:

demo: .venv/ready
	mkdir -p out
	cd out && ../$(RUN) ../examples/roller_crank.py
	@echo
	@echo "made in $(CURDIR)/out; ParaView opens the .vtkhdf files:"
	@cd out && ls -1 roller_crank_*

# lint and documentation in parallel, each on one processor; then the tests on all. Lint ends first: meanwhile the
# modules of the tests are translated, which each worker would do for itself
checked: .venv/ready-docs
	$(MAKE) --no-print-directory -j2 translated docs

translated: lint
	$(RUN) -m pytest --collect-only --quiet --quiet > /dev/null || true  # errors are those of the tests

# a file goes to one worker: what its tests share, and the kernels that it is the first to need, are made once
test: checked
	$(RUN) -m pytest -n $(WORKERS) --dist loadfile -m "not slow"

validate: checked
	$(RUN) -m pytest -n $(WORKERS)

lint: .venv/ready
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

# peers that cannot be installed are reported in their rows
bench: .venv/ready .venv-peers/ready
	$(RUN) benchmarks/bench.py $(BENCH)

docs: .venv/ready-docs
	$(RUN) -m sphinx -q -W --keep-going -j $(WORKERS) -b html docs docs/_build/html
	@echo docs/_build/html/index.html

wheel: .venv/ready
	rm -rf build
	$(RUN) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/wheel .
	$(RUN) -m fem_mbs.compiled.pack build/wheel/fem_mbs-*.whl dist --jobs $(WORKERS)

.venv/ready: setup.cfg pyproject.toml .ci/packages
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "Python 3.10 or newer is needed; name one: make PYTHON=python3.12 …"; exit 1; }
	PYTHON="$(PYTHON)" .ci/packages
	$(PYTHON) -m venv .venv
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".[pictures,test]"
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".[sparse]" || \
		echo "Going on without scikit-sparse: it could not be built"
	touch $@

.venv/ready-docs: .venv/ready
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

# one by one: what cannot be installed here keeps no other from it
.venv-peers/ready: benchmarks/peers/requirements.txt
	$(PYTHON) -m venv .venv-peers
	grep -v '^#' $< | while read -r peer; do \
		.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check "$$peer" || echo "without $$peer"; \
	done
	touch $@

clean:
	rm -rf .venv .venv-peers out build dist docs/_build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
