"""The C library's states: one for each thread and device, set up anew for each call."""

from __future__ import annotations

import threading

from .._errors import THNNArgumentError, THNNError
from .._state import State
from . import cupy
from .package import Package, load

__all__ = ["DeviceState", "state_of", "synchronize"]


class DeviceState:
    """A THCState on a device, which belongs to a thread."""

    def __init__(self, device: int) -> None:
        self.package = _with_memory()
        self.device = device
        create = self.package.native.pythnn_ownCudaState
        try:
            self.c = self.package.own("THCState *", create, device)
        except THNNArgumentError:
            raise
        except THNNError as error:
            raise THNNError(
                f"no usable GPU was found: {error}. nvidia-smi should show the GPU and a driver "
                f"that is new enough for {self.package.name.replace('_', '-')}"
            ) from error
        self.stream = 0
        self._from_cupy = False
        self._choices = (False, False)

    def prepare(self, stream: int | None, state: State | None = None) -> None:
        """Sets up the next call: CuPy's stream, where CuPy is imported, else this or the default.

        With `state` its choices hold.
        """
        from_cupy = cupy.imported() is not None
        wanted = cupy.current_stream(self.device) if from_cupy else stream or 0
        if wanted != self.stream:
            pointer = self.package.ffi.cast("void *", wanted)
            self.package.call("THCState_setStream", self.c, pointer)
            self.stream = wanted
        if from_cupy != self._from_cupy:
            self.package.native.pythnn_useAllocator(self.c, from_cupy)
            self._from_cupy = from_cupy
        choices = (state.check_indices, state.deterministic) if state else (False, False)
        if choices != self._choices:
            self.package.call("THCState_setCheckIndices", self.c, choices[0])
            self.package.call("THCState_setDeterministic", self.c, choices[1])
            self._choices = choices

    def order(self, earlier: int, later: int) -> None:
        """Has work on one stream wait for what has been queued on another."""
        if (earlier if earlier != 1 else 0) == (later if later != 1 else 0):
            return  # 0 and 1 are both the default stream
        first, second = (self.package.ffi.cast("void *", stream) for stream in (earlier, later))
        self.package.call("THCState_orderStreams", self.c, first, second)

    def synchronize(self) -> None:
        """Waits for the stream and raises what went wrong on it."""
        self.package.call("THCState_synchronize", self.c)


_loaded: list[Package] = []
_lock = threading.Lock()


def _with_memory() -> Package:
    """The package, with CuPy's memory offered to it once."""
    package = load()
    with _lock:
        if package not in _loaded:
            cupy.offer_memory(package)
            _loaded.append(package)
    return package


class _Thread(threading.local):
    def __init__(self) -> None:
        self.states: dict[int, DeviceState] = {}


_thread = _Thread()


def state_of(device: int, stream: int | None = None, choices: State | None = None) -> DeviceState:
    """The thread's state on a device, set up for a call.

    Raises THNNError when there is no such device.
    """
    state = _thread.states.get(device)
    if state is None:
        state = _thread.states[device] = DeviceState(device)
    state.prepare(stream, choices)
    return state


def synchronize() -> None:
    """Waits for the devices that this thread has used: :func:`pythnn.synchronize`."""
    for state in list(_thread.states.values()):
        state.prepare(state.stream)
        state.synchronize()
