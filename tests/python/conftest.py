"""Options of the test run."""

from __future__ import annotations

import gc
import os
import sys
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import processes
from support.compiling import c_compiler

processes.import_numpy()

NUMBERS = {
    *(
        "test_bits",
        "test_blas",
        "test_convolution",
        "test_digits",
        "test_extra_modules",
        "test_fourier",
        "test_functional",
    ),
    *("test_generated", "test_golden", "test_layer_normalisation", "test_layers_defined"),
    *("test_nn", "test_nn_criterions", "test_nn_every_class", "test_nn_fields", "test_nn_graph"),
    *("test_nn_inputs", "test_nn_layers", "test_nn_other_packages", "test_nn_recorded"),
    *("test_nn_scenarios", "test_nngraph_recorded", "test_normalising", "test_onnx"),
    *("test_onnx_networks", "test_optim", "test_plane_convolution", "test_pointwise"),
    *("test_pooled_indices", "test_pooling", "test_products", "test_recurrent"),
    *("test_recurrent_layers", "test_recurrent_steps", "test_resampling", "test_rnn_recorded"),
    *("test_seeds_layers", "test_state"),
    *("test_superres", "test_t7_models", "test_t7_old", "test_unfolded", "test_windows_defined"),
    "test_frames",
    "test_winograd",
}
"""Files whose results depend on the instruction set or on BLAS's kernels; .ci/levels runs them at
others than the machine's. Tests that do so themselves have ``each_level`` in their names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-in",
        type=int,
        default=1,
        metavar="N",
        help="of the cases of each test, run the first and one in N of the others, chosen by name",
    )
    parser.addoption(
        "--at-once",
        type=int,
        default=1,
        metavar="N",
        help="run each test in N threads at once, with the same fixtures",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test in as many threads as ``--at-once`` says; all start together."""
    count = pyfuncitem.config.getoption("--at-once")
    if count == 1:
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    start = threading.Barrier(count)

    def run(_: int) -> None:
        start.wait()
        pyfuncitem.obj(**given)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(run, range(count)))
    return True


def pytest_configure(config: pytest.Config) -> None:
    """Lets failures be short wherever the tests run. Where one of these variables says that nobody
    sits before the screen, pytest writes out how compared bytes differ: for those of an array of a
    megabyte, this takes hours."""
    for name in ("CI", "BUILD_NUMBER"):
        os.environ.pop(name, None)
    processes.one_in = config.getoption("--one-in")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests of those files; leaves out cases as ``--one-in`` says."""
    for item in items:
        if item.path.stem in NUMBERS and "each_level" not in item.name:
            item.add_marker(pytest.mark.numbers)
    every = config.getoption("--one-in")
    if every > 1:
        known: set[str] = set()
        chosen, left_out = [], []
        for item in items:
            test = item.nodeid.partition("[")[0]
            # Counted through, cases of two types would often be of one.
            skipped = test in known and zlib.crc32(item.nodeid.encode()) % every
            (left_out if skipped else chosen).append(item)
            known.add(test)
        config.hook.pytest_deselected(items=left_out)
        items[:] = chosen


@pytest.fixture(scope="session", autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs the tests away from the sources, whose package a subprocess would import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("elsewhere"))
        yield


@pytest.fixture(autouse=True)
def nothing_measured() -> Iterator[None]:
    """What one test measures of convolutions is not there for the next one in its process."""
    yield
    if functional := sys.modules.get("pythnn.functional"):
        functional.convolution_times.clear()


def pytest_collection_finish() -> None:
    """Takes 20,000 collected tests out of the garbage collector's sight.

    Tests that count what is left collect garbage first, which would look through all of them.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def compiler() -> str:
    """A C compiler's path. Whoever has built the library has one: without it these tests fail."""
    return c_compiler()
