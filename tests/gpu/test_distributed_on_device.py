"""Training by several processes, with modules on a device: the same bits for any number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import mpi


@pytest.mark.skipif(mpi.missing() is not None, reason=str(mpi.missing()))
def test_bits_are_the_same_for_any_number_of_processes(tmp_path: Path) -> None:
    for processes in (1, 2, 3):
        mpi.run(processes, Path(__file__).parent / "training_by_processes.py", tmp_path)
    found = [np.load(tmp_path / f"{processes}.npy") for processes in (1, 2, 3)]
    assert np.isfinite(found[0]).all()
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
