"""What stands in front of every function: it settles at import what a call would have to find out.

:func:`function` makes of a body, which works on arrays that fit, the function that users call. Its
signature says which arguments are arrays, its shapes are given to the decorator. From these a test
is generated that takes the common case, arrays of numpy that fit, straight to the body. All else,
and whatever the body or the C library refuses, goes through :meth:`Front.slow`, which converts what
can be converted and blames an argument of the function for the rest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .._calls import describe
from .._errors import THNNArgumentError
from .._generator import Generator
from .._tensor import Tensor
from ._arrays import Unfit, integer, number
from ._blame import translated
from ._convert import INT64, REALS, as_ints, as_reals, written
from ._nested import are_plain, as_tuples, leaves, rebuilt
from ._places import placed
from ._plans import KEYS, Plans
from ._shapes import Shapes

__all__ = ["function"]

P = ParamSpec("P")
R = TypeVar("R")

_OF_SAMPLES = frozenset(
    {"after", "cell", "gates", "grad_after", "grad_output", "grid", "hidden", "indices", "output"}
    | {"samples", "scale", "slopes", "state", "storage", "target", "x"}
)
"""Arguments that have an entry for each sample of a batch."""
_MAY_LACK = "tuple[Real | None, Real | None]"
"""A pair of arrays, either of which may be None."""
_STAND_IN = 2
"""Size that a dimension without elements has while the rest of a call is checked; even for glu."""


def function(
    *,
    below: dict[str, str | tuple[str, ...]] | None = None,
    per_sample: Sequence[int | tuple[int, int]] | None = None,
    index_base: int = 1,
    statistics: bool = False,
    takes_empty: bool = False,
    **shapes: str,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Makes a function of a body that works on arrays of one real type that fit.

    Parameters
    ----------
    shapes : by argument, such as ``"[batch] planes height width"`` (see :class:`Shapes`)
    below : for arguments with indices, the size that all of them are below; or one for each column
    per_sample : which results have an entry for each sample, along their first axis or another one;
        by default all of a forward function, the first of a backward one
    index_base : where the C function counts indices from
    statistics : whether training needs a sample
    takes_empty : whether the body knows what to do with arrays without elements
    """

    def make(body: Callable[P, R]) -> Callable[P, R]:
        front = Front(body, Shapes(shapes))
        front.below, front.index_base = below or {}, index_base
        front.statistics, front.takes_empty = statistics, takes_empty
        if per_sample is not None:
            front.per_sample = per_sample
        return front.compiled()

    return make


class Front:
    """A body and what is known of its arguments."""

    below: dict[str, str | tuple[str, ...]]
    index_base: int
    statistics: bool
    takes_empty: bool

    def __init__(self, body: Callable[..., Any], shapes: Shapes) -> None:
        self.body = body
        self.name = f"functional.{body.__name__}"
        self.signature = inspect.signature(body)
        self.parameters = list(self.signature.parameters.values())
        self.positions = {p.name: i for i, p in enumerate(self.parameters, 1)}
        self.kinds = {
            p.name: str(p.annotation).removesuffix(" | None")
            for p in self.parameters
            if str(p.annotation).startswith(("Real", "Indices", "Written", "Nested", "tuple[Real"))
        }
        self.optional = {p.name for p in self.parameters if str(p.annotation).endswith("| None")}
        self.shapes = shapes
        self.plans = Plans(body, self.parameters, self.kinds)
        self.per_sample: Sequence[int | tuple[int, int]] | None = (
            (0,) if body.__name__.endswith("_backward") else None
        )

    # ---- The common case

    def compiled(self) -> Callable[..., Any]:
        """The function that users call."""
        passed = ", ".join(
            f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else p.name for p in self.parameters
        )
        every = "".join(f"{p.name}, " for p in self.parameters)
        source = f"""\
def {self.body.__name__}({self._parameters()}):
    plan = key = None
    try:{self._holding()}
        key = ({self.plans.key})
        plan = plan_of(key)
        if plan is not None:
            found = plan({self.plans.arrays})
            if found is not None:
                return found
    except Exception:
        pass  # no common call
    if {self._condition()}:
        try:
            found = body({passed})
        except Exception:
            pass  # slow finds out what is wrong
        else:
            if plan is None and key is not None:
                learn(key, ({every}))
            return found
    return slow(({every}))
"""
        scope: dict[str, Any] = {
            "Generator": Generator,
            "are_plain": are_plain,
            "body": self.body,
            "defaults": {p.name: p.default for p in self.parameters},
            "int64": INT64,
            "learn": self.plans.learn,
            "ndarray": np.ndarray,
            "plan_of": self.plans.found.get,
            "reals": REALS,
            "slow": self.slow,
            **KEYS,
        }
        exec(compile(source, f"<pythnn.{self.name}>", "exec"), scope)  # noqa: S102
        made: Callable[..., Any] = scope[self.body.__name__]
        return update_wrapper(made, self.body)

    def _holding(self) -> str:
        """Code that keeps what a plan knows by address, whoever closes the state meanwhile."""
        states = [p.name for p in self.parameters if p.annotation == "State | None"]
        return "".join(f"\n        held = {n} and {n}._c" for n in states)

    def _parameters(self) -> str:
        text, starred = [], False
        for parameter in self.parameters:
            if parameter.kind is parameter.KEYWORD_ONLY and not starred:
                text.append("*")
                starred = True
            has_default = parameter.default is not parameter.empty
            default = f"=defaults[{parameter.name!r}]" if has_default else ""
            text.append(parameter.name + default)
        return ", ".join(text)

    def _condition(self) -> str:
        """Whether all arrays are numpy's, of the right types, with elements, and in shape."""
        conditions = []
        first = ""
        for name, kind in self.kinds.items():
            like_first = f"is {first}.dtype" if first else "in reals"
            if kind == "Nested":
                conditions.append(f"type({name}) in (tuple, list)")
                conditions.append(f"are_plain({name}, {first}.dtype)")
                continue
            if kind.startswith("tuple"):
                both = [f"type({name}) is tuple and len({name}) == 2"]
                for entry in (f"{name}[0]", f"{name}[1]"):
                    is_one = f"type({entry}) is ndarray and {entry}.dtype {like_first}"
                    is_one += f" and {entry}.size"
                    both.append(f"({entry} is None or {is_one})" if kind == _MAY_LACK else is_one)
                text = " and ".join(both)
                conditions.append(f"({name} is None or {text})" if name in self.optional else text)
                continue
            dtype = "is int64"
            if kind != "Indices":
                dtype = like_first
                if name not in self.optional:  # one that is None has no type
                    first = first or name
            fits = [f"type({name}) is ndarray", f"{name}.dtype {dtype}", f"{name}.size"]
            fits += self.shapes.conditions(name)
            text = " and ".join(fits)
            conditions.append(f"({name} is None or {text})" if name in self.optional else text)
        conditions += filter(None, map(_setting, self.parameters))
        return " and ".join(conditions) or "True"

    # ---- All other cases

    def slow(self, values: tuple[Any, ...]) -> Any:
        """Calls the body with what arguments can be made of, or says which one does not fit."""
        given = {p.name: value for p, value in zip(self.parameters, values, strict=True)}
        for name, kind in self.kinds.items():
            if kind == "Nested":
                given[name] = as_tuples(given[name])
            elif kind.startswith("tuple") and isinstance(given[name], list):
                given[name] = tuple(given[name])
        try:
            with placed(self, given):
                self._convert_settings(given)
                self._convert(given)
                sizes = self.shapes.bind(given)
                self._check_indices(given, sizes)
                return _arrays(self._call(given))
        except Unfit as unfit:
            error: Exception = self.refuse(unfit.argument, unfit.wanted, unfit.found)
        except Exception as raised:
            found = translated(self, raised)
            if found is raised:
                raise
            error = found
        raise error

    def refuse(self, argument: str, wanted: str, found: str) -> THNNArgumentError:
        """The error about an argument, or about an entry of one."""
        position = self.positions[argument.partition("[")[0]]
        return THNNArgumentError.expected(self.name, position, argument, wanted, found)

    def _convert_settings(self, given: dict[str, Any]) -> None:
        """Makes Python's own of numbers and flags, and raises for what is none.

        Sizes of axes are for the body.
        """
        for parameter in self.parameters:
            name, kind = parameter.name, str(parameter.annotation)
            value = given[name]
            if value is None and kind.endswith("| None"):
                continue
            kind = kind.removesuffix(" | None")
            if kind == "bool":
                if not isinstance(value, (bool, np.bool_)):
                    raise Unfit(name, "True or False", repr(value))
                given[name] = bool(value)
            elif kind == "str" and not isinstance(value, str):
                raise Unfit(name, "a string", describe(value))
            elif kind == "Generator" and not isinstance(value, Generator):
                raise Unfit(name, "a Generator", describe(value))
            elif kind == "int":
                given[name] = integer(name, value)
            elif kind == "float":
                given[name] = number(name, "a number", value)

    def _convert(self, given: dict[str, Any]) -> None:
        names = [name for name in self.kinds if not (given[name] is None and name in self.optional)]
        reals: dict[str, Any] = {}
        nested = []
        for name in names:
            kind, value = self.kinds[name], given[name]
            if kind.startswith("tuple"):
                if not isinstance(value, (tuple, list)) or len(value) != 2:
                    raise Unfit(name, "a pair of arrays", describe(value))
                nested.append(name)
                reals |= {
                    f"{name}[{i}]": entry
                    for i, entry in enumerate(value)
                    if entry is not None or kind != _MAY_LACK
                }
            elif kind == "Nested":
                if not isinstance(value, tuple):
                    raise Unfit(name, "arrays in tuples", describe(value))
                nested.append(name)
                reals |= dict(leaves(name, value))
            elif kind == "Indices":
                given[name] = as_ints(name, value)
            else:
                if kind == "Written":
                    written(name, value)
                reals[name] = value
        arrays = as_reals(reals)
        for name in nested:
            if self.kinds[name] == "Nested":
                owned = [array for path, array in arrays.items() if path.startswith(f"{name}[")]
                given[name] = rebuilt(given[name], iter(owned))
            else:
                given[name] = tuple(arrays.get(f"{name}[{i}]") for i in range(2))
        for name, array in arrays.items():
            if not name.endswith("]") and self.kinds[name] != "Written":
                given[name] = array

    def _check_indices(self, given: dict[str, Any], sizes: dict[str, int]) -> None:
        """On the CPU; on a device the kernels notice indices that are out of range."""
        for name, size in self.below.items():
            indices = given[name]
            if not isinstance(indices, np.ndarray) or not indices.size:
                continue
            names = (size,) if isinstance(size, str) else size
            limits = np.array([sizes[n] if n in sizes else given.get(n, 0) for n in names])
            wrong = (indices < 0) | (indices >= limits)
            if given.get("ignore_index") is not None:
                wrong &= indices != given["ignore_index"]
            if wrong.any():
                place = tuple(int(i) for i in np.argwhere(wrong)[0])
                limit = limits[place[-1] if len(names) > 1 else 0]
                where = f" at {list(place)}" if place else ""
                raise Unfit(name, f"indices from 0 to {limit - 1}", f"{indices[place]}{where}")

    def _call(self, given: dict[str, Any]) -> Any:
        """Calls the body; of an empty batch, with samples that stand in for the missing ones."""
        empty = [n for n in self.kinds if n in _OF_SAMPLES and getattr(given[n], "size", 1) == 0]
        if not empty or self.takes_empty:
            return self._body(given)
        name = "x" if "x" in empty else empty[0]
        shape = tuple(given[name].shape)
        cut = self._cut(name, shape)
        if self.statistics and given["training"]:
            raise Unfit(name, "samples to take the mean of", f"shape {shape}")
        stand_ins: dict[str, Any] = {n: _filled(given[n]) for n in empty}
        added: dict[int, Any] = {}
        if isinstance(given.get("add_to"), Mapping):
            stand_ins["add_to"] = {
                n: _filled(a) if getattr(a, "size", 1) == 0 else a
                for n, a in given["add_to"].items()
            }
            added = {id(stand_ins["add_to"][n]): a for n, a in given["add_to"].items()}
        found = self._body({**given, **stand_ins})
        if isinstance(found, float) or getattr(found, "ndim", 1) == 0:
            if given.get("average"):
                raise Unfit(name, "elements to average over", f"shape {shape}")
            return found * 0
        if not isinstance(found, tuple):
            return found if self.per_sample == () else found[cut]
        cuts = range(len(found)) if self.per_sample is None else self.per_sample
        axes = dict(entry if isinstance(entry, tuple) else (entry, 0) for entry in cuts)
        return tuple(
            one[(slice(None),) * axes[i] + cut]
            if i in axes and one is not None and id(one) not in added
            else added.get(id(one), one)
            for i, one in enumerate(found)
        )

    def _cut(self, name: str, shape: tuple[int, ...]) -> tuple[slice, ...]:
        """What takes the elements out of a result that stood in for missing ones."""
        if self.shapes.of_any_shape(name):
            return tuple(slice(0, 0) if n == 0 else slice(None) for n in shape)
        if self.shapes.has_batch(name, shape) and 0 not in shape[1:]:
            return (slice(0, 0),)
        batch = ", or 0 samples in a batch" if self.shapes.has_batch(name) else ""
        raise Unfit(name, f"sizes from 1 on{batch}", f"shape {shape}")

    def _body(self, given: dict[str, Any]) -> Any:
        """Numbers come after arrays in signatures; keywords are what they are called."""
        arguments = [given[p.name] for p in self.parameters if p.kind is not p.KEYWORD_ONLY]
        named = {p.name: given[p.name] for p in self.parameters if p.kind is p.KEYWORD_ONLY}
        return _arrays(self.body(*arguments, **named))


def _setting(parameter: inspect.Parameter) -> str:
    """Whether a number, a flag or a choice is one; empty for other arguments."""
    name, kind = parameter.name, str(parameter.annotation)
    text = {
        "bool": f"({name} is True or {name} is False)",
        "int": f"type({name}) is int",
        "float": f"type({name}) in (float, int)",
        "str": f"type({name}) is str",
        "Generator": f"type({name}) is Generator",
    }.get(kind.removesuffix(" | None"), "")
    return f"({name} is None or {text})" if text and kind.endswith("| None") else text


def _filled(array: Any) -> Any:
    """Zeros in the shape of an array, but with elements."""
    from ._arrays import zeros

    return zeros([n or _STAND_IN for n in array.shape], array)


def _arrays(found: Any) -> Any:
    """Results as arrays: on a device the C library makes Tensors."""
    if type(found) is tuple:  # not what is kept for a backward function, which has a class
        return tuple(map(_arrays, found))
    return found.array() if isinstance(found, Tensor) else found
