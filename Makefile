# Every target sets up what it needs: a virtual environment in .venv with the library and its tools.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STRICT ?= OFF
WHEEL := build/wheel
LIBRARY := CMakeLists.txt pyproject.toml $(shell find core src -type f -not -name '*.pyc')
# Real data sets for tests, experiments and benchmarks, where a folder of them lies beside the project.
export STRUCTLEARN_DATA ?= $(abspath $(wildcard ../shared/data))

.PHONY: demo test check-all lint types sanitize bench-smoke docs dist clean

demo: $(VENV)/.library
	$(BIN)/python examples/digit_sequences.py demo.png

test: $(VENV)/.library
	$(BIN)/pytest -n auto --dist worksteal tests docs README.md --pyargs structlearn -m "not slow"

check-all: $(VENV)/.library
	$(BIN)/pytest -n auto tests docs README.md --pyargs structlearn --cov=structlearn --cov-report=term

lint: $(VENV)/.lint
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.library $(VENV)/.lint
	$(BIN)/mypy

# The kernels once more, under the address and undefined-behaviour sanitizers, with samples of the edited files and of the
# abuses: what checks data, every structure with every decoder, and what is special to some; without what is all Python or
# trains for long. Python itself is not instrumented, so the runtime is preloaded and leaks of the interpreter are not its business.
SANITIZED = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so) $$(gcc -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 .venv-sanitize/bin/
KERNEL_TESTS = core data waist inference abilities/test_decoders.py solvers/kernel solvers/test_n_slack.py solvers/test_stepping.py \
    $(addprefix models/,test_partial.py alignment chain clustering dependency grammar matching multiclass multilabel ranking segments) \
    $(addprefix models/own/,test_composed.py test_composed_check.py test_hypergraph_model.py)
sanitize: .venv-sanitize/.library
	$(SANITIZED)pytest -n auto --dist worksteal -m "not slow" $(addprefix tests/,$(KERNEL_TESTS)) -q -p no:cacheprovider \
	    --ignore=tests/models/chain/test_pair_weights.py
	$(SANITIZED)python -W ignore -m tests.fuzz.fuzz_model_files --count 100
	$(SANITIZED)python -W ignore -m tests.abuse.run --every 401

# Any bytes against everything that reads files; model files that were edited on purpose, with limits of memory and time and
# then under the sanitizers; and whatever estimators can be given, under the sanitizers, too. What it finds belongs into
# tests/fuzz/test_contract.py, tests/persistence/test_hostile_files.py and the tests of the validators.
FUZZ_SECONDS ?= 600
FUZZ_FILES ?= 10000
FUZZ_ABUSES ?= 6
.PHONY: fuzz
fuzz: $(VENV)/.fuzz .venv-sanitize/.library
	mkdir -p build/fuzz
	$(BIN)/python -m tests.fuzz.fuzz_formats -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/ build/fuzz
	$(BIN)/python -W ignore -m tests.fuzz.fuzz_model_files --count $(FUZZ_FILES)
	$(SANITIZED)python -W ignore -m tests.fuzz.fuzz_model_files --count $(FUZZ_FILES)
	$(SANITIZED)python -W ignore -m tests.abuse.run --every $(FUZZ_ABUSES)

# The race against the rivals, which have an environment of their own; it writes docs/benchmarks.md.
.PHONY: bench
bench: .venv-bench/.library
	.venv-bench/bin/python benchmarks/race.py --output docs

bench-smoke: .venv-bench/.library
	.venv-bench/bin/python benchmarks/race.py --smoke

# The race of graph inference, whose rivals have an environment of their own, too; it writes docs/graph_benchmarks.md.
.PHONY: bench-graphs
bench-graphs: .venv-graphs/.library
	.venv-graphs/bin/python benchmarks/graphs/race.py --output docs/graph_benchmarks.md

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

dist: $(VENV)/.dist
	rm -rf dist
	$(BIN)/python -m build -q
	ls dist

clean:
	rm -rf .venv .venv-sanitize .venv-bench .venv-graphs build dist docs/_build .coverage

$(VENV)/.pip:
	@echo "Setting up $(VENV): this takes a minute or two, once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade "pip>=25.1"
	touch $@

# Compiled once, for the tests and for the race.
$(WHEEL)/.built: $(VENV)/.pip $(LIBRARY)
	rm -rf $(WHEEL)
	$(BIN)/pip wheel -q . --no-deps -w $(WHEEL) -C cmake.define.STRUCTLEARN_STRICT=$(STRICT)
	touch $@

# The tools of the tests are fetched while the compiler works. Whoever else needs the wheel waits for this.
$(VENV)/.library: $(VENV)/.pip $(LIBRARY)
	$(MAKE) --no-print-directory --jobs=2 $(WHEEL)/.built $(VENV)/.tools
	$(BIN)/pip install -q $(WHEEL)/*.whl --group test
	$(BIN)/pip install -q --no-deps --force-reinstall $(WHEEL)/*.whl
	touch $@

$(VENV)/.tools: $(VENV)/.pip pyproject.toml
	$(BIN)/pip install -q --group test
	touch $@

$(VENV)/.lint: $(VENV)/.pip pyproject.toml
	$(BIN)/pip install -q --group lint
	touch $@

$(VENV)/.docs: $(VENV)/.library
	$(BIN)/pip install -q --group docs
	touch $@

$(VENV)/.fuzz: $(VENV)/.library
	$(BIN)/pip install -q "atheris>=3"
	touch $@

$(VENV)/.dist: $(VENV)/.pip
	$(BIN)/pip install -q build
	touch $@

.venv-sanitize/.library: $(LIBRARY)
	$(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/pip install -q --upgrade "pip>=25.1"
	.venv-sanitize/bin/pip install -q . --group test \
	    -C cmake.define.STRUCTLEARN_SANITIZE=ON -C cmake.define.STRUCTLEARN_STRICT=ON -C build-dir=build/sanitize
	touch $@

.venv-bench/.library: $(VENV)/.library
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install -q --upgrade "pip>=25.1"
	.venv-bench/bin/pip install -q "$$(ls $(WHEEL)/*.whl)[plot]" python-crfsuite
	.venv-bench/bin/pip install -q --no-deps --force-reinstall $(WHEEL)/*.whl
	touch $@

.venv-graphs/.library: $(VENV)/.library
	$(PYTHON) -m venv .venv-graphs
	.venv-graphs/bin/pip install -q --upgrade "pip>=25.1"
	.venv-graphs/bin/pip install -q "$$(ls $(WHEEL)/*.whl)" PyMaxflow gco-wrapper pytoulbar2 pgmpy ortools
	.venv-graphs/bin/pip install -q --no-deps --force-reinstall $(WHEEL)/*.whl
	touch $@
