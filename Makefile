# The commands of the project. `make demo` and `make test` need nothing but a Python.
#
# PYTHON chooses the interpreter (CPython 3.11 to 3.13); each version has its own virtual
# environment, `.venv-3.11` and so on. An environment gets only the extras that a target
# needs; a stamp per extra re-creates it when pyproject.toml changes.

PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
ifeq ($(VERSION),)
$(error PYTHON=$(PYTHON) does not run; expected CPython 3.11, 3.12 or 3.13)
endif
VENV := .venv-$(VERSION)
BIN := $(VENV)/bin
LIBRARIES := $(VENV)-libraries
JOBS ?= 2
ISA ?= AVX2
CUDA ?= cuda13
HALF ?=
# The tests of a file run in one process: they share what they compile. Files with slow tests
# come first.
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --max-worker-restart 0 \
  --dist loadfile --no-loadscope-reorder
COMPUTING := $(addprefix tests/,laws compose conformance differential units/lax units/nn \
  units/numpy units/primitives units/random)
CALLING := $(addprefix tests/,first_hour guards retrace spec units/jit/versions) \
  $(wildcard tests/units/jit/test_*.py)
TIMED_ON_GPU := dispatch call_forms compiling engine eager loops
# Whether each public name has an explicit type. pyright looks for the package in the active
# environment.
VERIFYTYPES = VIRTUAL_ENV=$(abspath $(VENV)) PATH=$(abspath $(BIN)):$$PATH \
  $(BIN)/pyright --verifytypes imprint --ignoreexternal
# Many tests start a process: with bytecode it imports imprint in a third of the time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all test-isa test-audit test-gpu test-libraries check docs bench lint-fix clean

help:
	@echo 'make demo       real programs traced, compiled, cached and differentiated'
	@echo 'make test       half of the fast tests (ARGS="-k name" to choose among all)'
	@echo 'make test-all   every test: whole sweeps and long searches too'
	@echo 'make test-isa   the tests that compute, with fewer instructions (ISA=AVX2)'
	@echo 'make test-audit the tests of calls, with each hit traced again and compared'
	@echo 'make test-libraries   optax, flax and others as-jax (ARGS=short, or names)'
	@echo 'make test-gpu   tests and benchmarks, on a GPU (CUDA=cuda13 or cuda12)'
	@echo 'make check      format, lint, types, floors, sizes'
	@echo 'make docs       the documentation site, in site/; a broken link or signature fails'
	@echo 'make bench      imprint and JAX, a table of ratios (ARGS="dispatch")'
	@echo 'make lint-fix   format, and repair lint errors'
	@echo 'make clean      remove environments and caches'
	@echo 'PYTHON=...      the interpreter to use, now $(PYTHON) ($(VERSION))'
	@echo 'JOBS=...        how many processes test at once, now $(JOBS)'

demo: $(VENV)/demo.stamp
	$(BIN)/python -m examples $(ARGS)

# Every other test of each family, about six minutes: HALF=second runs the others, and `.ci/run`
# both. Chosen tests (ARGS) run all. `make check` runs the tests that read sources.
test: $(VENV)/test.stamp
	$(PYTEST) -m 'not exhaustive' --ignore=tests/meta $(or $(ARGS),--half=$(or $(HALF),first))

test-all: $(VENV)/test.stamp $(VENV)/docs.stamp
	$(PYTEST) --optimized $(ARGS)

# XLA uses no instructions beyond ISA (SSE4_2, AVX, AVX2, AVX512), as on an older CPU; on a CPU
# without these it changes nothing. HALF=first or second runs every other test of each family,
# or the others.
test-isa: $(VENV)/test.stamp
	$(if $(filter $(ISA),SSE4_2 AVX AVX2 AVX512),,$(error ISA=$(ISA) is unknown to XLA))
	XLA_FLAGS='$(XLA_FLAGS) --xla_cpu_max_isa=$(ISA)' \
	  $(PYTEST) --optimized -m 'not exhaustive' $(addprefix --half=,$(HALF)) $(ARGS) $(COMPUTING)

# Each call that hits is traced again, and it is an error if that gives another program. A
# sample: every other test of each family, without those marked `unaudited`.
test-audit: $(VENV)/test.stamp
	IMPRINT_AUDIT=1 $(PYTEST) -m 'not exhaustive and not unaudited' --half=first $(ARGS) $(CALLING)

# Published libraries as-jax, in an environment of their own. ARGS="short" runs programs of
# their documentation; without it their own suites run too, on JAX and on imprint: hours.
test-libraries: export JOBS := $(JOBS)
test-libraries: $(LIBRARIES)/$(if $(filter short,$(ARGS)),programs,suites).stamp
	$(LIBRARIES)/bin/python -m tests.libraries.run $(ARGS)

# The tests that compute, with the GPU as the default device. JAX, the reference, stays on the
# CPU, as it accepts no plug-in that is loaded already; so products have full precision. Then
# the benchmarks, both libraries on the GPU. Processes share its memory without preallocation.
test-gpu: export IMPRINT_DEFAULT_DEVICE = gpu
test-gpu: export XLA_PYTHON_CLIENT_PREALLOCATE = false
test-gpu: $(VENV)/test.stamp $(VENV)/bench.stamp $(VENV)/$(CUDA).stamp
	JAX_PLATFORMS=cpu NVIDIA_TF32_OVERRIDE=0 \
	  $(PYTEST) --optimized -m 'not exhaustive' $(ARGS) tests/gpu $(COMPUTING); \
	  tested=$$?; $(BIN)/python -m benchmarks $(TIMED_ON_GPU) && exit $$tested

check: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(VERIFYTYPES) > $(VENV)/types.txt || (cat $(VENV)/types.txt; false)
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/meta

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/docs.stamp
	$(BIN)/mkdocs build --quiet

bench: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks $(ARGS)

lint-fix: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv-* .pytest_cache .ruff_cache .hypothesis .asv site

# ---- environments ----

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/%.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

$(LIBRARIES)/suites.stamp: tests/libraries/requirements.txt
$(LIBRARIES)/programs.stamp: tests/libraries/programs/requirements.txt
$(LIBRARIES)/%.stamp:
	$(PYTHON) -m venv $(LIBRARIES)
	$(LIBRARIES)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@
