"""Options of the test run."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs the tests away from the sources, whose package a subprocess would import."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("elsewhere"))
        yield


def pytest_collection_finish() -> None:
    """Takes 20,000 collected tests out of the garbage collector's sight.

    Tests that count what is left collect garbage first, which would look through all of them.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def compiler() -> str:
    """A C compiler's path. Whoever has built the library has one: without it these tests fail."""
    names = [os.environ.get("CC"), "cc", "gcc", "clang"]
    found = next(filter(None, (shutil.which(name) for name in names if name)), None)
    assert found, "no C compiler on PATH: set CC to the one that has built the library"
    return found
