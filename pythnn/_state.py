"""Per-call choices and the number of threads."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Literal, TypeAlias, get_args

from ._closing import Closing
from ._errors import THNNArgumentError, THNNError
from ._library import lib, native, own

__all__ = [
    "ALGORITHM_NAMES",
    "CUDNN_NAMES",
    "RESULTS",
    "State",
    "get_num_threads",
    "set_num_threads",
    "synchronize",
]

Algorithm = Literal["auto", "gemm", "direct", "winograd", "winograd4", "fft", "fft_tiling"]
CudnnAlgorithm = Literal[
    "cudnn",
    "cudnn_implicit_gemm",
    "cudnn_implicit_precomp_gemm",
    "cudnn_gemm",
    "cudnn_direct",
    "cudnn_fft",
    "cudnn_fft_tiling",
    "cudnn_winograd",
    "cudnn_winograd_nonfused",
    "cudnn_algo_0",
    "cudnn_algo_1",
    "cudnn_algo_3",
]
Method = Literal["guess_once", "guess_on_shape_change", "time_once", "time_on_shape_change"]
Choice = Literal[Algorithm, CudnnAlgorithm, Method]
Choices: TypeAlias = Choice | tuple[Choice, Choice, Choice] | Mapping[str, Choice]

Accuracy: TypeAlias = Literal["standard", "high"]
UseCudnn: TypeAlias = bool | Literal["auto"]
Precision = Literal["as_input", "float32", "float64"]

RESULTS = ("output", "grad_input", "grad_weight")
"""What a convolution computes: an algorithm can be chosen for each."""
CUDNN_NAMES: tuple[str, ...] = get_args(CudnnAlgorithm)
"""cuDNN, which chooses by itself, and its algorithms."""
_NAMES: tuple[str, ...] = get_args(Choice)

_ACCURACIES: tuple[Accuracy, ...] = ("standard", "high")

_ALGORITHMS: dict[str, int] = {
    "auto": native.THNN_CONVOLUTION_AUTO,
    "gemm": native.THNN_CONVOLUTION_GEMM,
    "direct": native.THNN_CONVOLUTION_DIRECT,
    "winograd": native.THNN_CONVOLUTION_WINOGRAD,
    "winograd4": native.THNN_CONVOLUTION_WINOGRAD4,
    "fft_tiling": native.THNN_CONVOLUTION_FFT_TILING,
}
ALGORITHM_NAMES = {value: name for name, value in _ALGORITHMS.items()}
_INT_MAX = 2**31 - 1
_SERIALS = count()


def _integer(function: str, position: int, name: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise THNNArgumentError.expected(function, position, name, "an int", type(value).__name__)
    number = int(value.__index__())
    if not least <= number <= most:
        raise THNNArgumentError.expected(
            function, position, name, f"an int from {least} to {most}", str(number)
        )
    return number


def _choices(value: object) -> tuple[Choice, Choice, Choice] | None:
    """A choice for each result, or None where one is none."""
    given: Any = value
    if isinstance(value, str):
        given = (value,) * len(RESULTS)
    elif isinstance(value, Mapping):
        if not set(value) <= set(RESULTS):
            return None
        given = tuple(value.get(result, "auto") for result in RESULTS)
    if not isinstance(given, (tuple, list)) or len(given) != len(RESULTS):
        return None
    return tuple(given) if all(isinstance(c, str) and c in _NAMES for c in given) else None


class State(Closing):
    """Choices for the calls that it is passed to, as their first argument.

    Parameters
    ----------
    threads : int or None
        Threads that a call may use; None for the library's setting (:func:`set_num_threads`).
    minimum_work : float or None
        Arithmetic operations or memory accesses that make another thread worth waking; by default
        32768. Calls below twice as much stay on the calling thread.
    workspace_limit : int or None
        Scratch memory per thread in bytes; at least 64 KiB, by default 8 MiB.
    convolution : str, or three of them, or a dict
        The algorithm of convolutions: "auto", "gemm", "direct", "winograd", "winograd4" or
        "fft_tiling", for all results, or one each for output, gradient of the input and gradient of
        the weight; a dict has the keys "output", "grad_input" and "grad_weight", of which those
        left out are "auto". "auto" takes the one that is expected to be the fastest. Winograd's are
        for kernels of 3x3, also dilated or with taps in depth, with stride 1: "winograd" computes
        2x2 results at a time, "winograd4" 4x4, with fewer multiplications and larger errors.
        "winograd" is also for three frames (output and gradInput), "winograd4" also for kernels of
        5x5 and of 2x2, with errors of the same size. Both are also for stride 2 with about twice as
        many taps, 3x3 to 6x6 ("winograd" not for gradients of weights of 3x3 and 4x4). "fft_tiling"
        multiplies Fourier transforms of tiles of 16x16, with errors about as small as those of sums
        of products: for kernels of up to 14x14, times the stride, not dilated and without a depth,
        and for 2 to 14 frames. These are "auto" for the rest, but for :mod:`pythnn.functional`,
        which refuses a name that does not apply. There, instead of an algorithm, this can say how
        to choose one: "guess_once" and "time_once" choose at the first call and keep to it where it
        applies, "guess_on_shape_change" and "time_on_shape_change" for each geometry. The former of
        each pair go by expected costs, the latter measure what applies. On a GPU "gemm" is the
        library's own, "cudnn" is what cuDNN chooses, and its algorithms have "cudnn" before their
        names, such as "cudnn_implicit_gemm"; "direct", "winograd", "fft" and "fft_tiling" are
        cuDNN's of these names, of which the CPU does not have "fft". Elsewhere than in
        :mod:`pythnn.functional` all names but those of the CPU's algorithms are "auto".
    deterministic : bool
        Refuse what is not deterministic: on a GPU, some of cuDNN's algorithms, which are taken by
        name only. All else is deterministic.
    check_indices : bool
        On a GPU: check index values before the work, which waits for the device. By default the
        kernels check them, and the next call or :func:`synchronize` raises. On the CPU they are
        always checked before.
    use_cudnn : "auto", True or False
        On a GPU: whether cuDNN computes what :mod:`pythnn.functional` has of convolution, pooling,
        softmax and batch normalisation. "auto": where it is installed and can; True: always, or
        else an error says what is missing. On the CPU it means nothing.
    precision : "as_input", "float32" or "float64"
        The type in which convolutions of :mod:`pythnn.functional` add up: that of the arrays, or at
        least this one. With "float64", arrays of float32 are computed as float64 and rounded.
    accuracy : "standard" or "high"
        "high" does without algorithms whose errors are several times those of sums of products:
        "winograd4" on the CPU.
    reproducible : bool or None
        Give the same bits on every processor with fused multiply-adds (x86-64 from AVX2 on,
        aarch64), for the same arguments and choices: sums have one order, algorithms are chosen by
        sizes alone, without measuring, and no BLAS library is called. None: what the environment
        variable ``THNN_REPRODUCIBLE`` said when the library was loaded, which is also about calls
        without a State; without it, False. On a GPU it means nothing.

    Use one state per thread. It may be closed, also by leaving a ``with`` block; a closed state is
    refused by every call. Raises THNNArgumentError for values out of range.
    """

    __slots__ = (
        "__weakref__",
        "_c",
        "_check_indices",
        "_convolution",
        "_once",
        "_precision",
        "_serial",
        "_use_cudnn",
        "_with",
    )

    _c: Any
    _check_indices: bool
    _convolution: tuple[Choice, Choice, Choice]
    _precision: Precision
    _use_cudnn: UseCudnn
    _serial: int
    """Changes with every setting; no other state has the same one."""
    _once: dict[str, str]
    """Algorithms that were chosen once, by result."""
    _with: dict[str, State]
    """The same choices with one algorithm for all results."""

    def __init__(
        self,
        *,
        threads: int | None = None,
        minimum_work: float | None = None,
        workspace_limit: int | None = None,
        convolution: Choices = "auto",
        deterministic: bool = False,
        check_indices: bool = False,
        use_cudnn: UseCudnn = "auto",
        precision: Precision = "as_input",
        accuracy: Accuracy = "standard",
        reproducible: bool | None = None,
    ) -> None:
        self._c = own("THNNState *", native.pythnn_ownState)
        self._once, self._with = {}, {}
        self.threads = threads
        if minimum_work is not None:
            self.minimum_work = minimum_work
        if workspace_limit is not None:
            self.workspace_limit = workspace_limit
        self.convolution = convolution
        self.deterministic = deterministic
        self.check_indices = check_indices
        self.use_cudnn = use_cudnn
        self.precision = precision
        self.accuracy = accuracy
        if reproducible is not None:
            self.reproducible = reproducible

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        super().__setattr__("_serial", next(_SERIALS))

    def _open(self) -> Any:
        if self._c is None:
            raise THNNError("the State is closed")
        return self._c

    @property
    def threads(self) -> int | None:
        """Threads that a call may use; None for the library's setting."""
        return lib.THNN_State_threads(self._open()) or None

    @threads.setter
    def threads(self, value: int | None) -> None:
        number = 0 if value is None else _integer("State", 1, "threads", value, 1, _INT_MAX)
        lib.THNN_State_setThreads(self._open(), number)
        self._with.clear()

    @property
    def minimum_work(self) -> float:
        """Operations that make another thread worth waking."""
        return float(lib.THNN_State_minimumWork(self._open()))

    @minimum_work.setter
    def minimum_work(self, value: float) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            found = type(value).__name__
            raise THNNArgumentError.expected("State", 2, "minimum_work", "a float", found)
        lib.THNN_State_setMinimumWork(self._open(), float(value))
        self._with.clear()

    @property
    def workspace_limit(self) -> int:
        """Scratch memory per thread, in bytes."""
        return int(lib.THNN_State_workspaceLimit(self._open()))

    @workspace_limit.setter
    def workspace_limit(self, value: int) -> None:
        number = _integer("State", 3, "workspace_limit", value, 64 << 10, 2**63 - 1)
        lib.THNN_State_setWorkspaceLimit(self._open(), number)
        self._with.clear()

    @property
    def convolution(self) -> Choices:
        """The algorithm of convolutions, or how to choose one: one for all results, or three."""
        self._open()
        first = self._convolution[0]
        return first if self._convolution == (first,) * len(RESULTS) else self._convolution

    @convolution.setter
    def convolution(self, value: Choices) -> None:
        choices = _choices(value)
        if choices is None:
            names = ", ".join(map(repr, _NAMES))
            wanted = f"one of {names}, or three for {', '.join(RESULTS)}"
            raise THNNArgumentError.expected("State", 4, "convolution", wanted, repr(value))
        state = self._open()
        for result, choice in enumerate(choices):
            algorithm = _ALGORITHMS.get(choice, native.THNN_CONVOLUTION_AUTO)
            lib.THNN_State_setConvolutionAlgorithmOf(state, result, algorithm)
        self._convolution = choices
        self._once.clear()

    def _with_algorithm(self, name: Algorithm) -> State:
        """A state with the same choices, but this algorithm for all results of convolutions."""
        found = self._with.get(name)
        if found is None:
            found = self._with[name] = State(
                threads=self.threads,
                minimum_work=self.minimum_work,
                workspace_limit=self.workspace_limit,
                convolution=name,
                deterministic=self.deterministic,
                check_indices=self.check_indices,
                use_cudnn=self.use_cudnn,
                precision=self.precision,
                accuracy=self.accuracy,
                reproducible=self.reproducible,
            )
        return found

    @property
    def deterministic(self) -> bool:
        """Whether what is not deterministic is refused."""
        return bool(lib.THNN_State_deterministic(self._open()))

    @deterministic.setter
    def deterministic(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise THNNArgumentError.expected(
                "State", 5, "deterministic", "a bool", type(value).__name__
            )
        lib.THNN_State_setDeterministic(self._open(), value)
        self._with.clear()

    @property
    def check_indices(self) -> bool:
        """Whether index values are checked before the work, on a GPU too."""
        self._open()
        return self._check_indices

    @check_indices.setter
    def check_indices(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise THNNArgumentError.expected(
                "State", 6, "check_indices", "a bool", type(value).__name__
            )
        self._check_indices = value
        self._with.clear()

    @property
    def use_cudnn(self) -> UseCudnn:
        """Whether cuDNN computes, on a GPU: "auto", True or False."""
        self._open()
        return self._use_cudnn

    @use_cudnn.setter
    def use_cudnn(self, value: UseCudnn) -> None:
        if not isinstance(value, bool) and not (isinstance(value, str) and value == "auto"):
            raise THNNArgumentError.expected(
                "State", 7, "use_cudnn", "'auto', True or False", repr(value)
            )
        self._use_cudnn = value
        self._with.clear()

    @property
    def precision(self) -> Precision:
        """The type in which convolutions add up."""
        self._open()
        return self._precision

    @precision.setter
    def precision(self, value: Precision) -> None:
        if not isinstance(value, str) or value not in get_args(Precision):
            names = ", ".join(map(repr, get_args(Precision)))
            raise THNNArgumentError.expected(
                "State", 8, "precision", f"one of {names}", repr(value)
            )
        self._precision = value
        self._with.clear()

    @property
    def accuracy(self) -> Accuracy:
        """Which errors are accepted: "standard", or "high" to do without "winograd4"."""
        return _ACCURACIES[int(lib.THNN_State_accuracy(self._open()))]

    @accuracy.setter
    def accuracy(self, value: Accuracy) -> None:
        if value not in _ACCURACIES:
            wanted = " or ".join(map(repr, _ACCURACIES))
            raise THNNArgumentError.expected("State", 9, "accuracy", wanted, repr(value))
        lib.THNN_State_setAccuracy(self._open(), _ACCURACIES.index(value))
        self._with.clear()

    @property
    def reproducible(self) -> bool:
        """Whether results are the same bits on every processor with fused multiply-adds."""
        return bool(lib.THNN_State_reproducible(self._open()))

    @reproducible.setter
    def reproducible(self, value: bool) -> None:
        if not isinstance(value, bool):
            found = type(value).__name__
            raise THNNArgumentError.expected("State", 10, "reproducible", "a bool", found)
        if value and not lib.THNN_simdReproduces():
            wanted = "False on instruction sets without fused multiply-adds"
            raise THNNArgumentError.expected("State", 10, "reproducible", wanted, "True")
        lib.THNN_State_setReproducible(self._open(), value)
        self._with.clear()

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._c is None

    def close(self) -> None:
        """Frees the state, once no call uses it any more."""
        self._c = None

    def __repr__(self) -> str:
        if self._c is None:
            return "State(closed)"
        return (
            f"State(threads={self.threads}, minimum_work={self.minimum_work}, "
            f"workspace_limit={self.workspace_limit}, convolution={self.convolution!r}, "
            f"deterministic={self.deterministic}, check_indices={self.check_indices}, "
            f"use_cudnn={self.use_cudnn!r}, precision={self.precision!r}, "
            f"accuracy={self.accuracy!r}, reproducible={self.reproducible})"
        )


def set_num_threads(threads: int) -> None:
    """Sets how many threads a call may use, unless its State says otherwise.

    Results do not depend on it. Raises THNNArgumentError unless `threads` is an int from 1 on.
    """
    lib.THSetNumThreads(_integer("set_num_threads", 1, "threads", threads, 1, _INT_MAX))


def get_num_threads() -> int:
    """How many threads a call may use: OMP_NUM_THREADS or the process's cores, until set."""
    return int(lib.THGetNumThreads())


def synchronize() -> None:
    """Waits for what this thread has queued on GPUs, and raises what went wrong there.

    With CuPy that is the work on its current streams. Raises THNNError for an index out of range
    in an earlier call; does nothing where no GPU was used.
    """
    import sys

    states = sys.modules.get(f"{__package__}._cuda.state")
    if states is not None:
        states.synchronize()
