"""Threads, forks, signals, memory, and the process around: what must not go wrong there."""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import signal
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.memory import counting_memory

from pythnn import State, Tensor, THNNError, lib, thnn

CONVOLUTION = (None, None, 3, 3, 1, 1, 1, 1)


def run(code, *, expect=0, **environment):
    """Runs Python code in a process of its own; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def problem():
    random = np.random.default_rng(0)
    x = random.normal(size=(2, 3, 16, 16)).astype(np.float32)
    w = random.normal(size=(4, 3, 3, 3)).astype(np.float32)
    y = np.empty((2, 4, 16, 16), np.float32)
    thnn.SpatialConvolutionMM_updateOutput(None, x, y, w, None, *CONVOLUTION)
    return x, w, y


# ---- Threads


@pytest.mark.parametrize("make", [np.asarray, Tensor])
def test_threads_share_inputs(make):
    x, w, expected = problem()
    shared_x, shared_w = make(x), make(w)

    def use(n):
        y = Tensor(dtype=np.float32)
        with State(threads=1 + n % 3) as state:
            for _ in range(10):
                thnn.SpatialConvolutionMM_updateOutput(
                    state, shared_x, y, shared_w, None, *CONVOLUTION
                )
                np.testing.assert_array_equal(y.numpy(), expected)
                with pytest.raises(THNNError):
                    thnn.SpatialConvolutionMM_updateOutput(
                        state, shared_w, y, shared_x, None, *CONVOLUTION
                    )
        return n

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(use, range(16))) == list(range(16))


def test_calls_let_other_threads_run():
    """The GIL is released: Python runs while a long call does."""
    import threading

    x = np.zeros((8, 32, 64, 64), np.float32)
    w = np.zeros((32, 32, 3, 3), np.float32)
    y = np.empty_like(x)
    done = threading.Event()

    def long_call():
        for _ in range(3):
            thnn.SpatialConvolutionMM_updateOutput(None, x, y, w, None, *CONVOLUTION)
        done.set()

    thread = threading.Thread(target=long_call)
    thread.start()
    turns = 0
    while not done.is_set():
        turns += 1
        done.wait(0.0002)
    thread.join()
    assert turns > 3


def test_tensor_closed_during_calls():
    """Memory stays until the call that uses it has ended."""
    x, w, expected = problem()

    def use():
        t = Tensor(x)
        with ThreadPoolExecutor(1) as pool:
            y = Tensor(dtype=np.float32)
            call = pool.submit(
                thnn.SpatialConvolutionMM_updateOutput, None, t, y, Tensor(w), None, *CONVOLUTION
            )
            t.close()
            try:
                call.result()
            except THNNError as error:
                assert "closed" in str(error)
            else:
                np.testing.assert_array_equal(y.numpy(), expected)

    for _ in range(50):
        use()


# ---- Forks and signals

FORK = """
import os, sys
import numpy as np
import pythnn
from pythnn import Tensor, thnn

x = np.random.default_rng(0).normal(size=(4, 8, 32, 32)).astype(np.float32)
w = np.random.default_rng(1).normal(size=(8, 8, 3, 3)).astype(np.float32)

def convolve():
    y = Tensor(dtype=np.float32)
    thnn.SpatialConvolutionMM_updateOutput(
        None, x, y, Tensor(w), None, None, None, 3, 3, 1, 1, 1, 1
    )
    return y.numpy()

pythnn.set_num_threads(2)
before = convolve()
child = os.fork()
if child == 0:
    same = (convolve() == before).all()
    try:
        thnn.Threshold_updateOutput(None, x, w, 0.0, 0.0, False)
        same = False
    except pythnn.THNNArgumentError:
        pass
    os._exit(0 if same else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert (convolve() == before).all()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_child_can_call():
    run(FORK)


FORKED_MASKS = """
import os
import numpy as np
from pythnn import functional

def mask():
    return functional.dropout(np.ones(64), 0.5)[1].tobytes()

mask()
readable, writable = os.pipe()
child = os.fork()
if child == 0:
    os.write(writable, mask())
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
of_child = os.read(readable, 64 * 8)
assert len(of_child) == 64 * 8 and of_child != mask()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_child_draws_other_masks():
    run(FORKED_MASKS)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
def test_interrupts():
    """Wherever KeyboardInterrupt strikes: no crash, right results, no memory lost."""
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    strided = np.zeros((4, 8), np.float32)[:3, ::2]
    tensor = Tensor(x)
    frozen = x.copy()
    frozen.flags.writeable = False
    interrupts = 0

    def calls():
        y = np.empty_like(x)
        thnn.Threshold_updateOutput(None, x, y, 0.0, 0.0, False)
        thnn.Threshold_updateOutput(None, x[:, ::-1], strided, 0.0, 0.0, False)
        thnn.Threshold_updateOutput(None, tensor, Tensor(dtype=np.float32), 0.0, 0.0, False)
        tensor.narrow(0, 1, 2).numpy()
        Tensor.from_numpy(x)
        with pytest.raises(THNNError):
            thnn.Threshold_updateOutput(None, x, frozen, 0.0, 0.0, False)

    def interrupt(_signal, _frame):
        raise KeyboardInterrupt

    calls()
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        with counting_memory() as memory:
            for n in range(300):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 1e-5 + n * 1e-6)
                    while True:
                        calls()
                except KeyboardInterrupt:
                    interrupts += 1
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            gc.collect()
            assert memory.live == 0
    finally:
        signal.signal(signal.SIGALRM, old)
    assert interrupts == 300
    y = np.empty_like(x)
    thnn.Threshold_updateOutput(None, x, y, 0.0, 0.0, False)
    np.testing.assert_array_equal(y, np.maximum(x, 0))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
def test_calls_within_calls():
    """A signal handler that makes calls of its own, also failing ones, between any two steps."""
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    other = np.ones((5, 2))
    handled = 0
    ending = False

    def handler(_signal, _frame):
        nonlocal handled
        handled += 1
        y = np.empty_like(other)
        thnn.Threshold_updateOutput(None, other[:, ::-1], y, 0.0, 0.0, False)
        assert (y == 1).all()
        with pytest.raises(THNNError):
            thnn.Threshold_updateOutput(None, other, x, 0.0, 0.0, False)
        if not ending:
            signal.setitimer(signal.ITIMER_REAL, 1e-4)

    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-4)
        for _ in range(3000):
            y = np.empty((4, 3), np.float32)
            thnn.Threshold_updateOutput(None, x.T, y, 0.0, 0.0, False)
            np.testing.assert_array_equal(y, np.maximum(x.T, 0))
    finally:
        # A handler that runs after the timer was stopped must not start it again: the signal's
        # default action would end the process.
        ending = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert handled > 10


# ---- Memory


def arguments():
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    y = np.empty_like(x)
    wide = np.zeros((3, 8), np.float32)
    return x, y, wide


def use(x, y, wide):
    tensor, out = Tensor(x), Tensor(dtype=np.float32)
    for source in (x, x[:, ::-1], wide[:, ::2], tensor):
        for target in (y, wide[:, ::2], y[::-1], out):
            thnn.Threshold_updateOutput(None, source, target, 0.0, 0.0, False)
    thnn.Threshold_updateOutput(None, x, None, 0.0, 0.0, True)
    thnn.Threshold_updateOutput(None, x[:, ::-1], x[:, ::-1], 0.0, 0.0, True)
    thnn.Threshold_updateOutput(None, tensor, out, 0.0, 0.0, True)
    for bad in (None, wide, y.astype(np.float64), [1], Tensor(dtype=np.int64), x[0]):
        for source in (x, tensor):
            with pytest.raises(THNNError):
                thnn.Threshold_updateOutput(None, source, bad, 0.0, 0.0, False)


def test_calls_leak_nothing():
    made = arguments()
    use(*made)
    references = [sys.getrefcount(a) for a in made]
    with counting_memory() as memory:
        for _ in range(20):
            use(*made)
        gc.collect()
        assert memory.live == 0
    assert [sys.getrefcount(a) for a in made] == references


def test_calls_leak_no_python_memory():
    made = arguments()
    use(*made)
    gc.collect()
    tracemalloc.start()
    try:
        sizes = []
        for _ in range(5):
            for _ in range(50):
                use(*made)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
        # The interpreter's free lists fill up; one object per call would be 30 kB per round.
        assert min(np.diff(sizes)) < 4000
    finally:
        tracemalloc.stop()


def test_many_shapes():
    """Layouts are remembered, but not for ever."""
    from pythnn._calls import host

    for n in range(1, 6000):
        thnn.Threshold_updateOutput(None, np.ones(n % 90 + 1), np.ones(n % 90 + 1), 0.0, 0.0, False)
        x = np.ones((1, n))
        thnn.Threshold_updateOutput(None, x, x.copy(), 0.0, 0.0, False)
    assert len(host.layouts) <= 4096


# ---- Limits

FEW_THREADS = """
import os, resource, sys, threading
import numpy as np
from pythnn import State, Tensor, thnn
x = np.random.default_rng(0).normal(size=(4, 3, 32, 32)).astype(np.float32)
w = np.random.default_rng(1).normal(size=(5, 3, 3, 3)).astype(np.float32)
def results(threads):
    with State(threads=threads, minimum_work=1) as state:
        y, z = Tensor(dtype=np.float32), Tensor(dtype=np.float32)
        thnn.Tanh_updateOutput(state, x, y)
        thnn.SpatialConvolutionMM_updateOutput(state, x, z, w, None, None, None, 3, 3, 1, 1, 1, 1)
        return y.numpy().tobytes(), z.numpy().tobytes()
wanted, limited, wrong = results(1), threading.Event(), []
def call():
    limited.wait()
    for threads in (1, 2, 16, 3, 16, 64, 2, 64, 16, 3, 16, 3, 16, 2, 16, 64):
        if results(threads) != wanted:
            wrong.append(threads)
callers = [threading.Thread(target=call) for _ in range(3)]
for caller in callers:
    caller.start()
if sys.argv[1] == "memory":
    used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[2]) << 20),) * 2)
else:
    if os.geteuid() == 0:
        os.setuid(20_000 + os.getpid() % 40_000)  # whose processes are counted alone
    resource.setrlimit(resource.RLIMIT_NPROC, (4 + int(sys.argv[2]),) * 2)
limited.set()
for caller in callers:
    caller.join()
call()
print("the same" if not wrong else wrong)
"""


@pytest.mark.parametrize("left", [0, 1, 3, 20, 40])
@pytest.mark.parametrize("limit", ["processes", "memory"])
def test_no_more_threads(limit, left):
    """With few threads to be had, or none, calls take those; so do several callers at a time."""
    code = f"import sys; sys.argv[1:] = [{limit!r}, '{left}']\n{FEW_THREADS}"
    assert run(code, OPENBLAS_NUM_THREADS="1") == "the same\n"


SMALL_STACK = """
import sys, threading
import numpy as np
from pythnn import State, Tensor, thnn
rng = np.random.default_rng(0)
def normal(*shape):
    return rng.standard_normal(shape).astype(sys.argv[1])
def call(function, *arguments):
    getattr(thnn, function)(state, *arguments)
def new():
    return Tensor(dtype=np.dtype(sys.argv[1]))
state = State(threads=1)
x, w, bias, y, g = normal(2, 40, 30), normal(20, 90), normal(20), new(), normal(2, 38, 20)
X, W, G = normal(4, 6553), normal(100, 6553), normal(4, 100)
image, grid, maps = normal(2, 3, 9, 9), normal(2, 20, 20, 2), normal(2, 3, 20, 20)
rows = normal(200, 5)
indices, pooled = Tensor(dtype=np.int64), new()
def calls():
    call("TemporalConvolution_updateOutput", x, y, w, bias, 3, 1, 30, 20)
    call("TemporalConvolution_updateGradInput", x, g, y, w, 3, 1)
    call("TemporalConvolution_accGradParameters", x, g, w, bias, 3, 1, 1.0)
    call("Linear_updateOutput", X, y, W, None, None)
    call("Linear_updateOutput", X[:1], y, W, None, None)
    call("Linear_updateGradInput", X, G, y, W)
    call("Linear_updateGradInput", X[:1], G[:1], y, W)
    call("Linear_accGradParameters", X, G, None, W, None, W, None, None, 1.0)
    call("SpatialGridSamplerBilinear_updateGradInput", image, new(), grid, new(), maps)
    call("SpatialMaxPooling_updateOutput", image, pooled, indices, 2, 2, 2, 2, 0, 0, False)
    call("SpatialMaxPooling_updateGradInput", image, pooled, y, indices, 2, 2, 2, 2, 0, 0, False)
    call("SpatialMaxUnpooling_updateOutput", pooled, y, indices, 9, 9)
    call("SoftMax_updateOutput", rows, y)
    call("SoftMax_updateGradInput", rows, rows, new(), y)
threading.stack_size(int(sys.argv[2]) << 10)
thread = threading.Thread(target=calls)
thread.start()
thread.join()
print("done")
"""


@pytest.mark.parametrize("real", ["float32", "float64"])
def test_small_stacks(real):
    """What calls need beside a few pages of the stack is memory of the plan."""
    code = f"import sys; sys.argv[1:] = [{real!r}, '192']\n{SMALL_STACK}"
    assert run(code) == "done\n"


# ---- The process


@pytest.fixture(scope="module")
def foreign(tmp_path_factory, compiler):
    """The folder of a Torch7 whose functions, all that pythnn has and more, end the process."""
    folder = tmp_path_factory.mktemp("foreign")
    functions = [n for n in dir(lib) if n.startswith(("TH", "_TH")) and n != "THDefaultAllocator"]
    functions += ["THSetErrorHandler", "THSetArgErrorHandler", "THGetErrorHandler", "_THError"]
    functions += ["THNN_planStart", "THNN_planAcquire", "THNN_State_check"]
    text = "#include <stdlib.h>\nchar THDefaultAllocator[64];\n"
    text += "".join(f"void {name}(void) {{ abort(); }}\n" for name in dict.fromkeys(functions))
    (folder / "foreign.c").write_text(text)
    for library in ("libTH.so.0", "libTHNN.so"):
        output = str(folder / library)
        command = [compiler, "-shared", "-fPIC", f"-Wl,-soname,{library}", "-o", output]
        subprocess.run([*command, str(folder / "foreign.c")], check=True)
    return folder


FOREIGN = """
import ctypes, sys
for name in "libTH.so.0", "libTHNN.so":
    ctypes.CDLL(name, getattr(ctypes, sys.argv[1]))  # they are really found first
import numpy as np
from pythnn import Tensor, THNNError, nn, thnn
x, y = Tensor(np.array([-1, 2], np.float32)), Tensor(dtype=np.float32)
thnn.Threshold_updateOutput(None, x, y, 0.0, 0.0, False)
print(y.tolist())
try:
    thnn.Threshold_updateOutput(None, x, None, 0.0, 0.0, False)
except THNNError:
    nn.SpatialConvolution(1, 2, 3, 3).forward(np.ones((1, 5, 5)))
    print(nn.LogSoftMax().forward(np.zeros(1)))
"""


@pytest.mark.parametrize("mode", ["RTLD_LOCAL", "RTLD_GLOBAL", "LD_PRELOAD"])
def test_foreign_libth_comes_first(foreign, mode):
    """A Torch7 is never called: not first on LD_LIBRARY_PATH, for all libraries, or before all."""
    environment = {"LD_LIBRARY_PATH": str(foreign)}
    if mode == "LD_PRELOAD":
        environment[mode] = f"{foreign}/libTH.so.0:{foreign}/libTHNN.so"
    code = f"import sys; sys.argv[1:] = ['{mode.replace('LD_PRELOAD', 'RTLD_GLOBAL')}']\n{FOREIGN}"
    assert run(code, **environment) == "[0.0, 2.0]\n[0.]\n"


def test_no_name_is_exported():
    """Nor does the package take over the calls of a Torch7 that is loaded after it."""
    extension = ctypes.CDLL(importlib.import_module("pythnn._cffi").__file__)
    assert hasattr(extension, "PyInit__cffi")
    for name in ("THFloatTensor_new", "THAlloc", "THNN_FloatAbs_updateOutput", "_THError"):
        assert not hasattr(extension, name)


def test_import_brings_little():
    code = """
import sys
import numpy
before = set(sys.modules)
import pythnn
heavy = {"cffi", "click", "rich", "ctypes", "cupy", "torch", "json", "pythnn.thnn", "pythnn._cli"}
print(sorted(heavy & (set(sys.modules) - before)))
"""
    assert run(code) == "[]\n"


def test_interpreter_ends_with_tensors_alive():
    code = """
import numpy as np, pythnn
from pythnn import Generator, State, Tensor, thnn
keep = [Tensor(np.ones(3)), Tensor.from_numpy(np.ones(3)), State(), Generator(1)]
keep.append(keep)
array = keep[1].numpy()
class Late:
    def __del__(self):
        thnn.Threshold_updateOutput(None, keep[0], keep[1], 0.0, 0.0, True)
late = Late()
print("end")
"""
    assert run(code) == "end\n"


def test_errors_never_end_the_process():
    """Every function of pythnn.lib with NULL first, and every kernel with nothing at all."""
    code = """
from pythnn import THNNError, ffi, lib, thnn
from pythnn._library import native
count = 0
for name in dir(lib):
    guarded = getattr(native, "call_" + name, None) or getattr(native, "value_" + name, None)
    if guarded is None or not name.startswith("THNN_"):
        continue
    kinds = ffi.typeof(guarded).args
    values = [ffi.NULL if k.kind == "pointer" else False if k.cname == "_Bool" else 0
              for k in kinds]
    if any(k.kind == "pointer" and k.item.kind != "struct" for k in kinds):
        continue  # raw addresses: im2col and its like
    try:
        getattr(lib, name)(*values)
    except THNNError as error:
        assert str(error)
        count += 1
print(count >= 2 * len(thnn.__all__))
"""
    assert run(code) == "True\n"
