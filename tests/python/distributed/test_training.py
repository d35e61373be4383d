"""Training by several processes: the same bits for any number of them, and none that hangs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support import mpi

from pythnn import THNNArgumentError, THNNError, distributed, nn
from pythnn.distributed import _tree

HERE = Path(__file__).parent
PROCESSES = (1, 2, 3, 4)
with_mpi = pytest.mark.skipif(mpi.missing() is not None, reason=str(mpi.missing()))

# ---- The tree


def by_definition(shards: int, level: int, index: int) -> str:
    """The node of the tree as a formula."""
    if level == 0:
        return str(index)
    left = by_definition(shards, level - 1, 2 * index)
    if (2 * index + 1) << (level - 1) >= shards:
        return left
    return f"({left}+{by_definition(shards, level - 1, 2 * index + 1)})"


@pytest.mark.parametrize("shards", [*range(1, 18), 23, 32, 33])
def test_partial_sums_add_up_to_one_tree(shards: int) -> None:
    wanted = by_definition(shards, (shards - 1).bit_length(), 0)
    for processes in (*range(1, 10), 31, 40):
        total = _tree.TreeSum(shards, lambda left, right: f"({left}+{right})")
        seen: list[int] = []
        for process in range(processes):
            own = _tree.share(shards, process, processes)
            partial = _tree.TreeSum(shards, lambda left, right: f"({left}+{right})")
            for shard in own:
                partial.push((0, shard), str(shard))
            assert tuple(partial.nodes) == _tree.nodes_of(shards, process, processes)
            assert len(partial.nodes) <= 2 * max(len(own), 1).bit_length()
            for node, value in zip(partial.nodes, partial.values, strict=True):
                total.push(node, value)
            seen += own
        assert seen == list(range(shards))
        assert total.values == [wanted]


# ---- Bits


@with_mpi
def test_bits_are_the_same_for_any_number_of_processes(tmp_path: Path) -> None:
    for processes in PROCESSES:
        mpi.run(processes, HERE / "training.py", tmp_path)
    trained = {processes: np.load(tmp_path / f"{processes}.npz") for processes in PROCESSES}
    assert len(trained[1].files) == 13
    for name in trained[1].files:
        wanted = trained[1][name]
        assert np.isfinite(wanted).all()
        for processes in PROCESSES[1:]:
            found = trained[processes][name]
            if name == "any_order":
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
            else:
                assert found.tobytes() == wanted.tobytes(), (name, processes)


# ---- Failures


@with_mpi
@pytest.mark.parametrize(
    ("how", "processes", "message"),
    [
        ("raises", 3, "ValueError: sample 17 is damaged"),
        ("raises_first", 2, "OSError: no such file: images.npz"),
        ("raises_between", 3, "OSError: no such file: batch-1.npz"),
        ("exits", 2, "process 1 of 2 failed: SystemExit: 3"),
        ("leaves", 2, "process 1 of 2 has ended, while process 0 waits for it"),
        ("killed", 4, ""),
        ("killed_between", 2, ""),
    ],
)
def test_a_process_that_fails_ends_the_others(how: str, processes: int, message: str) -> None:
    status, printed = mpi.ended(processes, HERE / "failing.py", how)
    assert status != 0
    assert message in printed
    assert "trained" not in printed


@with_mpi
def test_errors_that_are_caught_do_no_harm() -> None:
    """What one process raises, and what is not the same in all, is raised in all."""
    printed = mpi.run(2, HERE / "failing.py", "caught")
    for message in (
        "1: sample 17 is damaged",
        "0: distributed.gradients: process 1 of 2 failed: ValueError: sample 17 is damaged",
        "expected a function that returns a number or None, found one that returns str",
        "the processes differ in shards: 6 in process 0 of 2, 5 in process 1; give all",
        "the processes differ in elements of gradients and statistics: 8 in process 0 of 2, 16 in",
        "the processes differ in a draw from the random generator",
        "1: distributed.broadcast: argument #1 'module': expected float64 of (2, 3), as in the",
        "0: distributed.checkpoint: process 1 of 2 failed: THNNArgumentError: distributed.check",
    ):
        assert message in printed
    assert printed.count("trained: 6.0") == 2


# ---- Arguments, and what is missing

WRONG = """
gradients(3, net, [1], len): 'comm': expected a communicator
gradients(None, 3, [1], len): 'module': expected an nn.Module, found int
gradients(None, net, [], len): 'shards': expected a sequence with at least one, found none
gradients(None, net, iter([1]), len): 'shards': expected a sequence with at least one, found list_it
gradients(None, net, [1], 3): 'evaluate': expected a function of a shard, found int
gradients(None, net, [1], lambda _: 'x'): 'evaluate': expected a function
broadcast(net, root=1): 'root': expected a process from 0 to 0, found 1
scatter(None, [[1, 2], [3]], 2): 'data': expected as many samples
scatter(None, numpy.array([None]), 2): 'data': expected arrays of numbers
scatter(None, [], 2): 'data': expected arrays of numbers
own_shards(None, -1): 'shards': expected a number of shards, found -1
checkpoint(None, 'x.t7', net, model=3): 'more': expected other names
resume(None, 'model.t7', net): 'path': expected a file of distributed.checkpoint
resume(None, 'other.t7', net): 'module': expected one of the saved make
resume(None, 'larger.t7', net): 'module': expected one of the saved make
"""


@with_mpi
def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    code = """
import sys
import numpy
import pythnn
from pythnn import nn
from pythnn.distributed import *
net = nn.Linear(2, 2)
pythnn.save("model.t7", net)
checkpoint(None, "other.t7", nn.Sequential(net))
checkpoint(None, "larger.t7", nn.Linear(2, 3))
for line in sys.argv[1].strip().splitlines():
    try:
        eval(line.partition("): ")[0] + ")")
    except pythnn.THNNArgumentError as error:
        print(str(error).splitlines()[0])
"""
    command = [sys.executable, "-c", code, WRONG]
    done = subprocess.run(
        command, cwd=tmp_path, env=mpi.environment(), capture_output=True, text=True, check=True
    )
    lines = WRONG.strip().splitlines()
    for line, printed in zip(lines, done.stdout.splitlines(), strict=True):
        call, _, message = line.partition("): ")
        assert message in printed, call
        assert printed.startswith(f"distributed.{call.partition('(')[0]}: argument #")


def test_without_mpi4py_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    net = nn.Linear(2, 2)
    for use in (
        distributed.world,
        lambda: distributed.broadcast(net),
        lambda: distributed.gradients(None, net, [1], len),
    ):
        with pytest.raises(THNNError, match=r"pip install '\.\[mpi\]'") as caught:
            use()
        assert not isinstance(caught.value, THNNArgumentError)


def test_nothing_is_imported_before_it_is_used() -> None:
    code = """
import sys
import pythnn
print([name for name in sys.modules if "distributed" in name or "mpi4py" in name])
import pythnn.distributed
print([name for name in sys.modules if name.split(".")[0] in ("mpi4py", "ray", "dask")])
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert printed == b"[]\n[]\n"
