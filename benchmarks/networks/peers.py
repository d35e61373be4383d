"""What runs a network: this library in two ways, and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pythnn

__all__ = ["PEERS", "Runner", "ours"]

Runner = Callable[[Any], Any]
"""Computes the output of a network for an input, both as arrays."""


def ours(model: Any, x: Any, threads: int) -> Runner:
    """A program of this library."""
    pythnn.set_num_threads(threads)
    return pythnn.compile(model, x)


def modules(model: Any, x: Any, threads: int) -> Runner:  # noqa: ARG001 (the form of all)
    """Modules of this library, called one by one."""
    pythnn.set_num_threads(threads)
    runner: Runner = model.forward
    return runner


def pytorch(model: Any, x: Any, threads: int) -> Runner:  # noqa: ARG001
    """PyTorch's modules, called one by one."""
    import torch

    from .pytorch import module_of

    torch.set_num_threads(threads)
    peer = module_of(model).eval()

    def run(given: Any) -> Any:
        with torch.inference_mode():
            return peer(torch.from_numpy(given)).numpy()

    return run


def pytorch_compiled(model: Any, x: Any, threads: int) -> Runner:
    """PyTorch's compiler, with parameters that it may change."""
    import torch

    from .pytorch import module_of

    torch.set_num_threads(threads)
    torch._inductor.config.freezing = True
    peer = torch.compile(module_of(model).eval())

    def run(given: Any) -> Any:
        with torch.no_grad():
            return peer(torch.from_numpy(given)).numpy()

    run(x)
    return run


def _file(model: Any, x: Any) -> bytes:
    """The network as an ONNX file."""
    from pythnn import onnx

    file: bytes = onnx.to_onnx(model, x, dynamic_size=False).SerializeToString()
    return file


def onnxruntime(model: Any, x: Any, threads: int) -> Runner:
    """onnxruntime, on the file that pythnn.onnx writes."""
    import onnxruntime as runtime

    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    session = runtime.InferenceSession(_file(model, x), options, ["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda given: session.run(None, {name: given})[0]


def openvino(model: Any, x: Any, threads: int) -> Runner:
    """OpenVINO, on the same file, in full precision."""
    import openvino as runtime

    settings = {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }  # fmt: skip
    read = runtime.Core().read_model(_file(model, x))
    read.reshape({read.input(0): list(np.shape(x))})
    request = runtime.Core().compile_model(read, "CPU", settings).create_infer_request()
    return lambda given: request.infer([given])[0]


PEERS: dict[str, Callable[[Any, Any, int], Runner]] = {
    "modules": modules,
    "PyTorch": pytorch,
    "PyTorch compiled": pytorch_compiled,
    "onnxruntime": onnxruntime,
    "OpenVINO": openvino,
}
