"""Graphs of modules: nngraph's gModule, built here and read from files."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_sums, difference_limit

import pythnn
from pythnn import THNNArgumentError, THNNError, nn
from pythnn.t7 import T7Error, Table, TorchObject

RNG = np.random.default_rng(3)


def values(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def residual() -> Any:
    """One input, used twice."""
    x = nn.Identity()()
    return nn.gModule([x], [nn.CAddTable()([nn.Tanh()(nn.Linear(4, 4)(x)), x])])


def two_by_two() -> Any:
    """Two inputs, two outputs, one of them used inside; entries of a table."""
    a, b = nn.Identity()(), nn.Identity()()
    total = nn.CAddTable()([nn.Linear(4, 6)(a), nn.Tanh()(nn.Linear(4, 6)(b))])
    left, right = nn.SplitTable(1, 1)(nn.View(2, 3).setNumInputDims(1)(total)).split(2)
    return nn.gModule([a, b], [nn.CMulTable()([left, right]), total])


def cell(size: int = 3) -> Any:
    """A recurrent cell with gates: input, state and memory in, state and memory out."""
    x, h, c = nn.Identity()(), nn.Identity()(), nn.Identity()()
    sums = nn.CAddTable()([nn.Linear(4, 4 * size)(x), nn.Linear(size, 4 * size)(h)])
    gates = nn.SplitTable(1, 2)(nn.Reshape(4, size)(sums)).split(4)
    i, f, o = (nn.Sigmoid()(gate) for gate in gates[:3])
    memory = nn.CAddTable()([nn.CMulTable()([f, c]), nn.CMulTable()([i, nn.Tanh()(gates[3])])])
    return nn.gModule([x, h, c], [nn.CMulTable()([o, nn.Tanh()(memory)]), memory])


def unused_entry() -> Any:
    """A table of which one entry is not used."""
    x = nn.Identity()()
    first, _ = nn.ConcatTable().add(nn.Linear(4, 2)).add(nn.Linear(4, 3))(x).split(2)
    return nn.gModule([x], [nn.Sigmoid()(first)])


def whole_and_entry() -> Any:
    """A table that is used as a whole and by its entries, one of them twice."""
    x = nn.Identity()()
    table = nn.ConcatTable().add(nn.Linear(4, 3)).add(nn.Tanh())(x)
    first, _ = table.split(2)
    return nn.gModule([x], [nn.JoinTable(2)(table), nn.Exp()(first), nn.Sigmoid()(first)])


INPUTS: dict[Callable[[], Any], Any] = {
    residual: values(5, 4),
    two_by_two: [values(5, 4), values(5, 4)],
    cell: [values(5, 4), values(5, 3), values(5, 3)],
    unused_entry: values(5, 4),
    whole_and_entry: values(5, 4),
}
graphs = pytest.mark.parametrize("make", INPUTS, ids=lambda make: make.__name__)


def flat(value: Any) -> list[Any]:
    return [leaf for entry in value for leaf in flat(entry)] if isinstance(value, list) else [value]


def example(make: Callable[[], Any]) -> tuple[Any, Any, Any]:
    """A graph, an input, and a gradient for its output."""
    pythnn.manual_seed(5)
    graph, given = make(), copy.deepcopy(INPUTS[make])
    output = graph.forward(given)
    weights = [np.random.default_rng(7).standard_normal(leaf.shape) for leaf in flat(output)]
    return graph, given, weights if isinstance(output, list) else weights[0]


def loss(graph: Any, given: Any, gradient: Any) -> float:
    outputs = flat(graph.forward(given))
    return sum(float((o * g).sum()) for o, g in zip(outputs, flat(gradient), strict=True))


def same(found: Any, wanted: Any) -> None:
    for one, other in zip(flat(found), flat(wanted), strict=True):
        np.testing.assert_array_equal(one, other)


# ---- Computing


@graphs
def test_gradients_are_those_of_the_function(make: Callable[[], Any]) -> None:
    graph, given, gradient = example(make)
    graph.zeroGradParameters()
    found = copy.deepcopy(graph.backward(given, gradient))
    parameters, gradients = graph.parameters()
    pairs = [*zip(flat(given), flat(found), strict=True), *zip(parameters, gradients, strict=True)]
    step = 1e-6
    # The loss is a sum of some dozens of products, of numbers whose products are few.
    limit = difference_limit(2**6, 2**6, step)
    for array, slope in pairs:
        for index in np.ndindex(array.shape):
            kept = array[index]
            array[index] = kept + step
            above = loss(graph, given, gradient)
            array[index] = kept - step
            below = loss(graph, given, gradient)
            array[index] = kept
            assert abs(slope[index] - (above - below) / (2 * step)) <= limit


def test_a_graph_computes_what_containers_compute() -> None:
    graph, given, gradient = example(residual)
    _, linear, tanh, _ = graph.modules
    branch = nn.Sequential().add(linear.clone()).add(tanh.clone())
    model = nn.Sequential().add(nn.ConcatTable().add(branch).add(nn.Identity()))
    model.add(nn.CAddTable())
    for one in (graph, model):
        one.zeroGradParameters()
    same(graph.forward(given), model.forward(given))
    same(graph.backward(given, gradient, 0.5), model.backward(given, gradient, 0.5))
    same(graph.parameters()[1], model.parameters()[1])
    graph.backwardUpdate(given, gradient, 0.1)
    model.backwardUpdate(given, gradient, 0.1)
    same(graph.parameters()[0], model.parameters()[0])


def test_gradients_of_a_module_are_left_alone() -> None:
    """Where gradients add up, they do so in memory of their own."""
    graph, given, gradient = example(residual)
    before = gradient.copy()
    graph.backward(given, gradient)
    same(gradient, before)
    same(graph.modules[3].gradInput[1], before)


def test_a_graph_is_a_module() -> None:
    inner, given, gradient = example(residual)
    x = nn.Identity()()
    outer = nn.gModule([x], [nn.Linear(4, 2)(inner(inner_input := nn.Linear(4, 4)(x)))])
    assert inner_input.module is outer.modules[1]
    model = nn.Sequential().add(outer).add(nn.Tanh())
    assert model.forward(given).shape == (5, 2)
    assert len(model.findModules("nn.Linear")[0]) == 3
    flattened, slopes = model.getParameters()
    model.zeroGradParameters()
    model.backward(given, gradient[:, :2])
    assert np.abs(slopes).max() > 0
    flattened[:] = 0
    same(model.forward(given), np.zeros((5, 2)))


def test_element_types_copies_and_modes() -> None:
    graph, given, gradient = example(cell)
    graph.backward(given, gradient)
    wanted = copy.deepcopy(graph.forward(given))
    for other in (graph.clone(), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        same(other.forward(given), wanted)
        other.modules[3].weight = np.zeros_like(other.modules[3].weight)
        assert np.abs(flat(other.forward(given))[0] - wanted[0]).max() > 1e-3
    same(graph.forward(given), wanted)
    shared = graph.clone("weight", "bias")
    graph.modules[3].weight = np.zeros_like(graph.modules[3].weight)
    same(shared.forward(given), graph.forward(given))
    graph.evaluate()
    assert not any(module.train for module in graph.modules)
    graph.clearState()
    assert graph.modules[3].output.size == 0
    with pytest.raises(THNNError, match=r"nn\.gModule: backward needs a call of forward before it"):
        graph.updateGradInput(given, gradient)
    graph.float()
    assert graph.forward([a.astype(np.float32) for a in given])[0].dtype == np.float32
    with pytest.raises(THNNError, match="needs a call of updateGradInput"):
        shared.accGradParameters(given, gradient)


def test_replaced_modules_compute() -> None:
    graph, given, _ = example(residual)
    graph.replace(lambda module: nn.Abs() if isinstance(module, nn.Tanh) else module)
    weight, bias = graph.modules[1].weight, graph.modules[1].bias
    wanted = np.abs(given @ weight.T + bias) + given
    magnitudes = np.abs(given) @ np.abs(weight.T) + np.abs(bias) + np.abs(given)
    assert_sums(graph.forward(given), wanted, given.shape[-1], magnitudes)


def test_text() -> None:
    pythnn.manual_seed(5)
    assert repr(two_by_two()).splitlines() == [
        "nn.gModule {",
        "  (1): nn.Identity <- input[1]",
        "  (2): nn.Identity <- input[2]",
        "  (3): nn.Linear(4 -> 6) <- (1)",
        "  (4): nn.Linear(4 -> 6) <- (2)",
        "  (5): nn.Tanh <- (4)",
        "  (6): nn.CAddTable <- {(3), (5)}",
        "  (7): nn.View(2, 3) <- (6)",
        "  (8): nn.SplitTable <- (7)",
        "  (9): nn.CMulTable <- {(8)[1], (8)[2]}",
        "  output <- {(9), (6)}",
        "}",
    ]
    x = nn.Identity()()
    many = nn.gModule([x], [nn.CAddTable()([nn.Tanh()(x) for _ in range(20)])])
    assert "(22): nn.CAddTable <- {20 values}" in repr(many)


# ---- Mistakes


def test_mistakes_in_building() -> None:
    x = nn.Identity()()
    with pytest.raises(THNNArgumentError, match=r"#1 'inputs': expected a list of nodes"):
        nn.gModule(x, [x])
    with pytest.raises(THNNArgumentError, match=r"#2 'outputs': .* found a list with a Linear"):
        nn.gModule([x], [nn.Linear(2, 2)])
    with pytest.raises(THNNArgumentError, match=r"#1 'inputs': .* found one of them twice"):
        nn.gModule([x, x], [nn.Tanh()(x)])
    with pytest.raises(THNNArgumentError, match=r"#1 'inputs': .* nodes without inputs"):
        nn.gModule([nn.Tanh()(x)], [nn.Tanh()(x)])
    with pytest.raises(THNNError, match=r"none of the graph's inputs: nn\.Tanh"):
        nn.gModule([x], [nn.CAddTable()([x, nn.Tanh()()])])


def test_mistakes_in_calls_name_the_module() -> None:
    graph = two_by_two()
    with pytest.raises(THNNArgumentError, match=r"nn\.gModule.* expected a table of 2, found a fl"):
        graph.forward(values(5, 4))
    with pytest.raises(THNNArgumentError, match=r"in module 4 of nn\.gModule: Linear_updateOutput"):
        graph.forward([values(5, 4), values(5, 7)])
    x = nn.Identity()()
    _, second = nn.SplitTable(1)(x).split(2)
    short = nn.gModule([x], [nn.Tanh()(second)])
    with pytest.raises(THNNArgumentError, match=r"a table with an entry 2, found a table of 1"):
        short.forward(values(1, 4))


# ---- Files


def run_as_nngraph_does(graph: Any, given: Any) -> Any:
    """The output by the fields of a file: each node hands its output to its children."""
    found: dict[int, dict[int, Any]] = {}

    def hand_over(node: Any, value: Any) -> None:
        place = 1
        while place in node["children"]:
            data = node["children"][place]["data"]
            found.setdefault(id(data), {})[data["mapindex"][node["data"]]] = value
            place += 1

    many = graph["nInputs"] > 1
    found[id(graph["innode"]["data"])] = dict(enumerate(given if many else [given], 1))
    for node in graph["forwardnodes"]:
        data = node["data"]
        taken = [value for _, value in sorted(found[id(data)].items())]
        if "selectindex" in data:
            hand_over(node, taken[0][data["selectindex"] - 1])
            continue
        value = taken[0] if len(taken) == 1 else taken
        hand_over(node, data["module"].forward(value) if "module" in data else value)
    outputs = [value for _, value in sorted(found[id(graph["outnode"]["data"])].items())]
    return outputs if 2 in graph["outnode"]["children"] else outputs[0]


@graphs
def test_files_have_the_graph_as_nngraph_keeps_it(make: Callable[[], Any], tmp_path: Path) -> None:
    graph, given, _ = example(make)
    wanted = copy.deepcopy(graph.forward(given))
    pythnn.save(tmp_path / "graph.t7", graph)
    fields = as_in_file(graph)
    same(run_as_nngraph_does(fields, given), wanted)
    raw = pythnn.load(tmp_path / "graph.t7", classes=False)
    assert raw.torch_class == "nn.gModule"
    assert {node.torch_class for node in raw.forwardnodes} == {"nngraph.Node"}
    assert raw.fg.torch_class == raw.bg.torch_class == "graph.Graph"
    for node in raw.backwardnodes:  # those of the other direction have the same data
        assert any(node["data"] is twin["data"] for twin in raw.forwardnodes)
    assert len(raw.forwardnodes) == len(raw.backwardnodes) == len(graph.graph.steps)


def as_in_file(graph: Any) -> TorchObject:
    return TorchObject("nn.gModule", graph._to_fields())


@graphs
def test_files_give_the_same_graph(make: Callable[[], Any], tmp_path: Path) -> None:
    graph, given, gradient = example(make)
    pythnn.save(tmp_path / "graph.t7", graph)
    read = pythnn.load(tmp_path / "graph.t7")
    assert read.graph == graph.graph
    assert repr(read) == repr(graph)
    same(read.forward(given), graph.forward(given))
    same(read.backward(given, gradient), graph.backward(given, gradient))


def saved(fields: TorchObject, tmp_path: Path) -> Any:
    pythnn.save(tmp_path / "graph.t7", fields)
    return pythnn.load(tmp_path / "graph.t7")


def test_graphs_of_old_versions(tmp_path: Path) -> None:
    """Without the modules in a list of their own, the number of inputs, or an order."""
    for make in (two_by_two, residual):
        graph, given, _ = example(make)
        fields = as_in_file(graph)
        for name in ("modules", "nInputs", "forwardnodes", "backwardnodes", "verbose"):
            del fields[name]
        read = saved(fields, tmp_path)
        assert len(read.modules) == len(graph.modules)
        same(read.forward(given), graph.forward(given))
        fields = as_in_file(graph)
        fields["forwardnodes"].reverse()
        same(saved(fields, tmp_path).forward(given), graph.forward(given))


def test_what_ran_before_saving_is_no_matter(tmp_path: Path) -> None:
    """Lua leaves inputs and gradients of the last call in the nodes."""
    graph, given, _ = example(residual)
    fields = as_in_file(graph)
    for node in fields["forwardnodes"]:
        node["data"]["input"] = [values(5, 4)]
        node["data"]["gradOutput"] = [values(5, 4)]
    same(saved(fields, tmp_path).forward(given), graph.forward(given))


def test_notes_at_nodes_are_kept(tmp_path: Path) -> None:
    x = nn.Identity()().annotate(name="image")
    graph = nn.gModule([x], [nn.Tanh()(x).annotate(name="squashed", graphAttributes={"a": 1})])
    pythnn.save(tmp_path / "graph.t7", graph)
    notes = [step.annotations for step in pythnn.load(tmp_path / "graph.t7").graph.steps]
    assert {"name": "image"} in notes
    assert {"name": "squashed"} in notes


def test_a_module_of_an_unknown_class_says_so(tmp_path: Path) -> None:
    graph, given, _ = example(residual)
    fields = as_in_file(graph)
    for node in fields["forwardnodes"]:
        if isinstance(node["data"].get("module"), nn.Tanh):
            node["data"]["module"] = TorchObject("Squash", {"factor": 1})
    del fields["modules"]
    read = saved(fields, tmp_path)
    with pytest.raises(AttributeError, match=r"Squash.* register"):
        read.forward(given)


def circle(fields: TorchObject) -> None:
    nodes = fields["forwardnodes"]
    data = nodes[2]["data"]
    data["mapindex"] = Table([(1, nodes[3]["data"])])
    nodes[3]["data"]["mapindex"] = Table([(1, data)])


def no_end(fields: TorchObject) -> None:
    del fields["outnode"]


def end_without_data(fields: TorchObject) -> None:
    fields["outnode"] = 3


def numbers_for_nodes(fields: TorchObject) -> None:
    fields["forwardnodes"][3]["data"]["mapindex"] = [1, 2]


def entry_of_nothing(fields: TorchObject) -> None:
    fields["forwardnodes"][0]["data"]["selectindex"] = 1


def entry_zero(fields: TorchObject) -> None:
    fields["forwardnodes"][2]["data"]["selectindex"] = 0


def start_elsewhere(fields: TorchObject) -> None:
    fields["innode"] = TorchObject("nngraph.Node", {"data": {"mapindex": []}, "children": []})


@pytest.mark.parametrize(
    "damage",
    [
        circle,
        no_end,
        end_without_data,
        numbers_for_nodes,
        entry_of_nothing,
        entry_zero,
        start_elsewhere,
    ],
    ids=lambda damage: damage.__name__,
)
def test_fields_that_make_no_graph(damage: Callable[[TorchObject], None], tmp_path: Path) -> None:
    fields = as_in_file(residual())
    damage(fields)
    with pytest.raises(T7Error, match=r"the fields of nn\.gModule do not fit"):
        saved(fields, tmp_path)


def test_a_long_chain(tmp_path: Path) -> None:
    """Nothing goes along the graph by recursion."""
    x = node = nn.Identity()()
    for _ in range(3000):
        node = nn.AddConstant(1)(node)
    graph = nn.gModule([x], [node])
    pythnn.save(tmp_path / "graph.t7", graph)
    for one in (graph, graph.clone(), pythnn.load(tmp_path / "graph.t7")):
        same(one.forward(np.zeros(2)), np.full(2, 3000.0))
        same(one.backward(np.zeros(2), np.ones(2)), np.ones(2))


def test_annotations_are_shown_and_found() -> None:
    x = nn.Identity()().annotate(name="given")
    y = nn.Tanh()(nn.Linear(3, 2)(x).annotate(name="layer", tag=7, _stack="of Lua"))
    graph = nn.gModule([x], [y])
    text = repr(graph)
    assert "nn.Linear(3 -> 2) <- (1) [name: layer, tag: 7]" in text
    assert "nn.Tanh <- (2)\n" in text
    assert "of Lua" not in text
    named = {node.annotations.get("name"): node for node in graph.forwardnodes}
    assert named["layer"].module is graph.get(2)
    assert named["layer"].inputs[0].module is graph.get(1)


def test_entries_that_are_selected_give_back_their_gradients() -> None:
    """One of them twice, one not at all; each SelectTable has a table for its own gradient."""
    node = nn.Identity()()
    parts = nn.SplitTable(2)(node)
    select = [nn.SelectTable(1), nn.SelectTable(-1), nn.SelectTable(3)]
    net = nn.gModule([node], [layer(parts) for layer in select])
    x = np.random.default_rng(5).standard_normal((2, 3))
    first, last, again = net.forward(x)
    np.testing.assert_array_equal([first, last, again], [x[:, 0], x[:, 2], x[:, 2]])
    slopes = [np.array([1.0, 2]), np.array([3.0, 4]), np.array([50.0, 60])]
    given = [slope.copy() for slope in slopes]
    for _ in range(2):
        wanted = np.stack([slopes[0], np.zeros(2), slopes[1] + slopes[2]], 1)
        np.testing.assert_array_equal(net.backward(x, slopes), wanted)
    np.testing.assert_array_equal(slopes, given)
    np.testing.assert_array_equal(select[1].gradInput, [np.zeros(2), np.zeros(2), slopes[1]])
