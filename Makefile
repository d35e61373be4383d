# The commands of the project. Everything is set up in .venv and build/; nothing else is touched.
#   make demo       trains a network on handwritten digits and runs it from its .t7 file, then the
#                   super-resolution example on a real photograph
#   make test       builds, then runs ctest and pytest
#   make test-all   also what takes long: every float, aarch64 under emulation and its wheel, musl, races
#                   between threads, every CUDA architecture, the wheel for CUDA, and that pythnn's wheel can be
#                   built again, byte for byte
#   make coverage   the statements of thnn/ that the tests run
#   make lint       the order of folders, ruff, mypy, clang-format
#   make docs       the documentation, into build/docs
#   make bench      against PyTorch, in the same process; ARGS=--check compares with the guard
#   make clean      removes .venv and build/

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD := build/dev
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# The machine's own settings must not choose BLAS kernels for another processor.
unexport OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export PATH := $(abspath $(BIN)):$(PATH)

PACKAGE_SOURCES := pyproject.toml CMakeLists.txt \
    $(shell find thnn pythnn cmake -type f -not -path '*/__pycache__/*' 2>/dev/null)
TEST_SOURCES := $(shell find tests/c tests/cuda -type f -not -path '*/__pycache__/*' 2>/dev/null)
IN_PLACE := --no-build-isolation --config-settings=build-dir=$(BUILD) \
    --config-settings=cmake.define.THNN_WERROR=ON

.PHONY: demo test test-all accuracy coverage lint docs bench bench-networks clean build

$(BIN)/python:
	@echo "Making an environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip

# What a build needs; without build isolation, so that unchanged files are not compiled again.
$(VENV)/tools.stamp: $(BIN)/python pyproject.toml
	$(BIN)/python packaging/install.py "What the build needs" \
	    'scikit-build-core>=0.11' 'cffi>=1.17.1' 'scipy-openblas32>=0.3.30' 'cmake>=3.26' ninja
	touch $@

# The library and the package. The tests are built in the same folder, from the same objects.
$(VENV)/package.stamp: $(VENV)/tools.stamp $(PACKAGE_SOURCES)
	$(BIN)/python packaging/install.py "pythnn" $(IN_PLACE) '.[demo]'
	touch $@

$(VENV)/build.stamp: $(VENV)/tools.stamp $(PACKAGE_SOURCES) $(TEST_SOURCES)
	$(BIN)/python packaging/install.py "pythnn and its tests" $(IN_PLACE) \
	    --config-settings=cmake.define.THNN_TESTS=ON '.[test,demo]'
	touch $(VENV)/package.stamp $@

build: $(VENV)/build.stamp

demo: $(VENV)/package.stamp
	$(BIN)/python examples/digits.py --output demo-output
	$(BIN)/pythnn inspect demo-output/digits.t7 --input 1x8x8
	$(BIN)/pythnn run demo-output/digits.t7 demo-output/digits --labels demo-output/labels.txt --top 2
	$(BIN)/python examples/superres.py --output demo-output

# Threads sleep rather than spin when they wait: tests have more of them than there are cores, and
# the machine may be busy with other things.
demo test test-all: export OMP_WAIT_POLICY := passive

test: build
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)
	$(BIN)/pytest -n $(JOBS) --dist worksteal

test-all: test accuracy
	.ci/aarch64
	.ci/wheels
	.ci/emulated
	.ci/musl
	.ci/threads
	CUDA_ARCHITECTURES=all .ci/cuda
	PYTHNN_TWICE=1 .ci/check_wheel
	.ci/check_cuda_wheel

coverage: build
	.ci/coverage

# The elementary functions at every float.
accuracy: build
	ctest --test-dir $(BUILD) -C All -R every_float --output-on-failure

# The package is installed by now, so that these bring only what its extras name.
$(VENV)/lint.stamp: $(VENV)/build.stamp
	$(BIN)/python -m pip install --quiet 'pythnn[lint]'
	touch $@

lint: $(VENV)/lint.stamp
	$(BIN)/python tests/layout.py
	ruff check .
	ruff format --check .
	mypy
	$(BIN)/pytest -q tests/python/package/test_build.py tests/python/nn/test_nn_types.py -k type_checker
	clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp')

$(VENV)/docs.stamp: $(VENV)/package.stamp
	$(BIN)/python -m pip install --quiet 'pythnn[docs,onnx]' 'pytest>=8'
	touch $@

docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build -q -W --keep-going -b html docs build/docs
	PYTHNN_DOCS=$(abspath build/docs) $(BIN)/pytest -q tests/python/package/test_reference.py

$(VENV)/bench.stamp: $(VENV)/build.stamp
	$(BIN)/python -m pip install --quiet 'pythnn[bench]'
	touch $@

bench: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks $(ARGS)

bench-networks: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.networks $(ARGS)

clean:
	rm -rf $(VENV) build demo-output
