"""What runs a network: this library in two ways, and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pythnn

__all__ = ["FLOAT32_ONLY", "INFERENCE", "TRAINING", "Runner", "our_training", "ours"]

Runner = Callable[[Any], Any]
"""Computes the outputs of a network for an input; a table is a list, of arrays all of them."""
Maker = Callable[[Any, Any, int], Runner]
"""Makes a runner of a model of ours, for inputs like an example, with a number of threads."""

RATE = 1e-3
"""How far a training step goes down the gradient."""


def ours(model: Any, x: Any, threads: int) -> Runner:
    """A program of this library."""
    pythnn.set_num_threads(threads)
    return pythnn.compile(model, x)


def modules(model: Any, x: Any, threads: int) -> Runner:  # noqa: ARG001 (the form of all)
    """Modules of this library, called one by one."""
    pythnn.set_num_threads(threads)
    runner: Runner = model.forward
    return runner


def _tables(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list) else [given]


def _outputs(found: Any) -> Any:
    """PyTorch's outputs as arrays."""
    if isinstance(found, (list, tuple)):
        return [one.detach().numpy() for one in found]
    return found.detach().numpy()


def pytorch(model: Any, x: Any, threads: int) -> Runner:  # noqa: ARG001
    """PyTorch's modules, called one by one."""
    import torch

    from .pytorch import module_of

    torch.set_num_threads(threads)
    peer = module_of(model).eval()

    def run(given: Any) -> Any:
        with torch.inference_mode():
            return _outputs(peer(*map(torch.from_numpy, _tables(given))))

    return run


def pytorch_compiled(model: Any, x: Any, threads: int) -> Runner:
    """PyTorch's compiler, with parameters that it may change."""
    import torch

    from .pytorch import module_of

    torch.set_num_threads(threads)
    torch._inductor.config.freezing = True
    torch._dynamo.reset()
    peer = torch.compile(module_of(model).eval())

    def run(given: Any) -> Any:
        with torch.no_grad():
            return _outputs(peer(*map(torch.from_numpy, _tables(given))))

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
    names = [one.name for one in session.get_inputs()]

    def run(given: Any) -> Any:
        found = session.run(None, dict(zip(names, _tables(given), strict=True)))
        return found if len(found) > 1 else found[0]

    return run


def openvino(model: Any, x: Any, threads: int) -> Runner:
    """OpenVINO, on the same file, in full precision."""
    import openvino as runtime

    settings = {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }  # fmt: skip
    read = runtime.Core().read_model(_file(model, x))
    read.reshape({i: list(np.shape(one)) for i, one in enumerate(_tables(x))})
    request = runtime.Core().compile_model(read, "CPU", settings).create_infer_request()

    def run(given: Any) -> Any:
        found = list(request.infer(_tables(given)).values())
        return found if len(found) > 1 else found[0]

    return run


INFERENCE: dict[str, Maker] = {
    "modules": modules,
    "PyTorch": pytorch,
    "PyTorch compiled": pytorch_compiled,
    "onnxruntime": onnxruntime,
    "OpenVINO": openvino,
}
FLOAT32_ONLY = ("onnxruntime", "OpenVINO")
"""Those that run the file, whose numbers are of float32."""


# ---- Training steps


def _slopes(outputs: Any) -> Any:
    """Gradients of outputs, the same for all sides and, with numbers of float32, for all types."""
    numbers = np.random.default_rng(3)
    if isinstance(outputs, list):
        return [_drawn(numbers, one) for one in outputs]
    return _drawn(numbers, outputs)


def _drawn(numbers: np.random.Generator, like: Any) -> Any:
    return numbers.standard_normal(like.shape).astype(np.float32).astype(like.dtype)


def our_training(model: Any, x: Any, threads: int) -> Runner:
    """A step of this library: forward, backward and down the gradient."""
    pythnn.set_num_threads(threads)
    model = model.clone()
    model.training()
    slopes = _slopes(model.clone().forward(x))

    def run(given: Any) -> Any:
        model.zeroGradParameters()
        output = model.forward(given)
        model.backward(given, slopes)
        model.updateParameters(RATE)
        return output

    return run


def pytorch_training(model: Any, x: Any, threads: int) -> Runner:
    """The same step of PyTorch's modules and its optimiser."""
    import torch

    from .pytorch import module_of

    torch.set_num_threads(threads)
    with torch.inference_mode(False), torch.enable_grad():
        peer = module_of(model).train()
    optimizer = torch.optim.SGD(peer.parameters(), RATE)
    trained = model.clone()
    trained.training()
    slopes = [torch.from_numpy(one) for one in _tables(_slopes(trained.forward(x)))]

    def run(given: Any) -> Any:
        with torch.inference_mode(False), torch.enable_grad():
            optimizer.zero_grad()
            found = peer(*map(torch.from_numpy, _tables(given)))
            outputs = list(found) if isinstance(found, (list, tuple)) else [found]
            torch.autograd.backward(outputs, [
                slope.reshape(one.shape) for slope, one in zip(slopes, outputs, strict=True)
            ])  # fmt: skip
            optimizer.step()
            return _outputs(found)

    return run


TRAINING: dict[str, Maker] = {"PyTorch": pytorch_training}
