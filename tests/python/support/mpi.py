"""Programs of several processes, under mpiexec."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from .documents import ROOT

sys.path.append(str(ROOT))  # behind the installed package

from benchmarks.scaling import launcher

__all__ = ["ended", "environment", "missing", "run"]

TIMEOUT = 120  # seconds after which a program counts as hanging; the slowest takes some


@lru_cache
def missing() -> str | None:
    """Why there can be no processes of MPI; None where there can. With PYTHNN_REQUIRE_MPI=1 that is
    an error."""
    reason = _reason()
    if reason and os.environ.get("PYTHNN_REQUIRE_MPI") == "1":
        raise RuntimeError(f"PYTHNN_REQUIRE_MPI=1, but there is {reason}")
    return reason


def _reason() -> str | None:
    if importlib.util.find_spec("mpi4py") is None:
        return "no mpi4py: pip install '.[mpi]'"
    if launcher() is None:
        return "no mpiexec: pip install mpich"
    loading = [sys.executable, "-c", "from mpi4py import MPI"]
    done = subprocess.run(loading, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"no MPI for mpi4py: {done.stderr[-200:]}"


def environment() -> dict[str, str]:
    """That of a program whose processes are more than the cores, with a thread each."""
    more_than_cores = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",  # who waits gives the core away
    }
    return {**os.environ, **more_than_cores, "OMP_NUM_THREADS": "1"}


def ended(processes: int, *command: str | Path) -> tuple[int, str]:
    """The exit status of a Python program under mpiexec, and all that it printed.

    It fails when the program does not end.
    """
    started = subprocess.Popen(
        [str(launcher()), "-n", str(processes), sys.executable, *map(str, command)],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        printed, _ = started.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        started.send_signal(signal.SIGTERM)  # which mpiexec passes on
        printed, _ = started.communicate()
        raise AssertionError(f"{command} hangs:\n{printed}") from None
    return started.returncode, printed


def run(processes: int, *command: str | Path) -> str:
    """What a Python program under mpiexec prints; it must succeed."""
    status, printed = ended(processes, *command)
    assert status == 0, printed
    return printed
