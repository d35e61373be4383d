"""What modules and criterions have in common: fields, files, copies, names."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike

from ... import t7
from ..._copying import Nestable
from ..._errors import THNNArgumentError
from ..._plain import is_masked, is_ndarray, plain
from ..._tensor import Storage, Tensor
from .calling import BEING_MADE, EXCHANGING, checked_arguments, exchanging
from .fields import Fields, is_held, reusable
from .misspelt import check_new_field
from .old_files import added_fields, rename_fields
from .registry import registry
from .types import TypeCache, Typed, device_of_type, dtype_of_type
from .values import (
    LongStorage,
    array_module,
    describe,
    holds_tensors,
    is_array,
    to_arrays,
    to_tensors,
)
from .walks import ONCE, bounded_text, once

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Object", "register", "registry"]

_PLAIN = frozenset((bool, int, float, str))
"""Types of values that are fields as they are."""
AnyObject = TypeVar("AnyObject", bound="type[Object]")


@overload
def register(cls: AnyObject) -> AnyObject: ...
@overload
def register(cls: str) -> Callable[[AnyObject], AnyObject]: ...
def register(cls: Any) -> Any:
    """Makes a class known under its Torch name, ``nn.`` and the name of the class.

    ``@register("inn.MeanPooling")`` gives it another name.
    """
    if isinstance(cls, str):

        def register_as(named: AnyObject) -> AnyObject:
            named._torch_name = cls
            return register(named)

        return register_as
    registry[cls.typename()] = cls
    if cls.__module__.startswith("pythnn."):
        cls.__module__ = "pythnn.nn"
    return cls


class Object(Nestable, Typed):
    """Anything that Lua Torch would save under a class name of ``nn``.

    Its attributes are the fields of the Lua class. Tensors live in ``self.tensors``: there a layer
    finds them as Tensors, while as attributes of the object itself they are arrays.
    Assigning an array to an attribute copies it into the tensor that is there, which stays where
    it is, in the flat storage of ``getParameters`` or shared with other modules.
    """

    tensors: Any
    """All tensors and lists of tensors, as Tensors."""
    _results: ClassVar[tuple[str, ...]] = ("output", "gradInput")
    """Fields that assignment replaces."""
    _of_fixed_type: ClassVar[tuple[str, ...]] = ()
    """Tensors whose elements stay what they are when the type changes, such as indices."""
    _emptied_by_type: ClassVar[dict[str, Any]] = {}
    """Fields that a change of type empties: a tensor by its dtype, a table by None."""
    _torch_name: ClassVar[str]

    def __new__(cls, *arguments: Any, **named: Any) -> Self:  # noqa: ARG004
        """An object without fields."""
        self = super().__new__(cls)
        self.__dict__["tensors"] = Fields()
        return self

    def __init_subclass__(cls, kernel: bool = False, **options: Any) -> None:
        """Lets the methods take arrays as well as Tensors.

        With `kernel`, the class's own methods work on Tensors, else on arrays.
        """
        super().__init_subclass__(**options)
        known = cls.__module__.startswith("pythnn.")
        for name in EXCHANGING:
            if name in cls.__dict__:
                setattr(cls, name, exchanging(cls.__dict__[name], kernel, known))
        for name in ONCE:
            if name in cls.__dict__:
                setattr(cls, name, once(cls.__dict__[name]))
        if "__repr__" in cls.__dict__:
            cls.__repr__ = bounded_text(cls.__repr__, known)  # type: ignore[method-assign]
        if "__init__" in cls.__dict__:
            cls.__init__ = checked_arguments(cls.__init__, known)  # type: ignore[method-assign]

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__.get("tensors")
        if fields is not None and name in fields.__dict__:
            return to_arrays(fields.__dict__[name])
        raise AttributeError(f"{self.typename()} has no field '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if type(value) in _PLAIN and name in self.__dict__ and name not in self._results:
            self.__dict__[name] = value
            return
        if is_ndarray(value) and not is_masked(value):
            value = plain(value)
        fields = self.tensors.__dict__
        held = fields.get(name)
        if held is None and name not in self.__dict__ and name not in fields:
            self._add_field(name, value)
        if (
            isinstance(held, Tensor)
            and held.size
            and name not in self._results
            and value is not None
        ):
            self._copy_into(name, held, value)
        elif name in self._results or not is_array(value):
            self.assign(name, value)
        else:
            self.assign(name, value.copy())

    def _add_field(self, name: str, value: Any) -> None:
        """Raises MisspeltFieldError when a field was meant that there is.

        Classes of users, and methods that make objects, may have fields of any names.
        """
        if BEING_MADE not in self.__dict__ and type(self).__module__.startswith("pythnn."):
            check_new_field(self, [*self.__dict__, *self.tensors.__dict__], name, value)

    def _copy_into(self, name: str, held: Tensor, value: Any) -> None:
        """Copies numbers into a field; shapes are the same, but for dimensions of size 1."""
        shape = _shape_of(value)
        if shape is None or _without_ones(shape) != _without_ones(held.shape):
            raise THNNArgumentError(
                f"{self.typename()}: field '{name}': expected numbers of shape {held.shape} (assign"
                " None first to give it another shape), found "
                + (describe(value) if shape is None else f"shape {shape}"),
                function=self.typename(),
                argument=name,
            )
        held.copy_from(value)

    def __delattr__(self, name: str) -> None:
        if self.tensors.__dict__.pop(name, self) is self:
            super().__delattr__(name)

    def assign(self, name: str, value: Any) -> None:
        """Makes a value the field itself, without copying."""
        fields = self.tensors.__dict__
        if name in self._results or name in fields or holds_tensors(value):
            fields[name] = to_tensors(value)
            self.__dict__.pop(name, None)
        else:
            self.__dict__[name] = value

    def field(self, name: str) -> Any:
        """A field as it is stored, tensors as Tensors; None when there is none."""
        fields = self.tensors.__dict__
        if name in fields:
            return fields[name]
        own = self.__dict__
        return own[name] if name in own else getattr(type(self), name, None)

    def result(self, name: str, like: Any) -> Tensor:
        """The Tensor of a field, to be resized and written: with the dtype `like` or that of it.

        It is a new one when somebody may still look at the old one's memory.
        """
        held = self.tensors.__dict__.get(name)
        if type(like) is type(held) is Tensor and like._kind == held._kind and not held.is_exported:
            return held  # as between modules in most calls
        if isinstance(like, (list, np.ndarray, float, int)):
            found = f"an array of {like.dtype}" if isinstance(like, np.ndarray) else describe(like)
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "a float32 or float64 array", found
            )
        if isinstance(like, Tensor):
            tensor = reusable(held, like.dtype, like.device)
        else:
            tensor = reusable(held, np.dtype(like), device_of_type(self._type))
        if tensor is not held:
            self.assign(name, tensor)
        return tensor

    def results(self, name: str, likes: list[Tensor]) -> list[Tensor]:
        """The Tensors of a table to be written, each with the type and shape of its `like`.

        They are new ones where somebody may still look at the memory of the old.
        """
        held = self.tensors.__dict__.get(name)
        held = held if isinstance(held, list) and len(held) == len(likes) else [None] * len(likes)
        found = []
        for one, like in zip(held, likes, strict=True):
            is_like = type(one) is type(like) is Tensor and one._kind == like._kind
            tensor = one if is_like and not one.is_exported else reusable(one, like.dtype)
            tensor._call("resizeAs", like._open())
            found.append(tensor)
        setattr(self.tensors, name, found)
        return found

    def room(self, name: str, like: Any, shape: Any = None) -> Any:
        """An array to write the values of a field to, with `like`'s type and, by default, shape.

        What :meth:`result` is to Tensors.
        """
        size = like.shape if shape is None else shape
        if not isinstance(like, np.ndarray):
            self.assign(name, array_module(like).empty(size, like.dtype))
            return getattr(self, name)
        return self.result(name, like.dtype).resize(size or 1).numpy().reshape(size)

    def rooms(self, name: str, likes: list[Any]) -> list[Any]:
        """Arrays to write the entries of a table to, each with the type and shape of its `like`."""
        if not all(isinstance(like, np.ndarray) for like in likes):
            made = [array_module(like).empty_like(like) for like in likes]
            self.assign(name, made)
            return made
        held = self.tensors.__dict__.get(name)
        held = held if isinstance(held, list) and len(held) == len(likes) else [None] * len(likes)
        found = [reusable(one, like.dtype) for one, like in zip(held, likes, strict=True)]
        setattr(self.tensors, name, found)
        return [
            tensor.resize(like.shape).numpy().reshape(like.shape)
            for tensor, like in zip(found, likes, strict=True)
        ]

    def _as_tensors(self, result: Any) -> Any:
        """What a method returned as Tensors: the field's own where it is one."""
        if isinstance(result, Tensor):
            return result
        for name in self._results:
            held = self.tensors.__dict__.get(name)
            if is_held(held, result):
                return held
        return to_tensors(result)

    def clear(self, *names: str) -> None:
        """Empties the tensors and lists of these names."""
        for name in names:
            held = self.field(name)
            if isinstance(held, Tensor):
                self.assign(name, Tensor(dtype=held.dtype, device=held.device))
            elif isinstance(held, list):
                self.assign(name, [])

    # ---- Saving

    @classmethod
    def _from_fields(cls, fields: dict[str, Any]) -> Self:
        """An object with these fields, as they come from a .t7 file."""
        self = cls.__new__(cls)
        self._set_fields(fields)
        return self

    def _set_fields(self, fields: dict[str, Any]) -> None:
        """Takes the fields over; whole numbers become ints, and storages of int64 LongStorages.

        Old files are brought up to date. What would take the place of a method is left out.
        """
        classes = [c.typename() for c in type(self).__mro__ if issubclass(c, Object)]
        fields = dict(fields)
        rename_fields(classes, fields)
        for name, value in added_fields(classes, fields).items():
            if not hasattr(type(self), name):  # else the class knows what None means
                fields[name] = value
        for name, value in fields.items():
            if name == "tensors" or callable(getattr(type(self), name, None)):
                continue
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            elif isinstance(value, Storage) and value.dtype == np.int64:
                value = LongStorage(value.numpy().tolist())
            self.assign(name, value)
        self.__dict__[BEING_MADE] = True
        self._upgrade()
        del self.__dict__[BEING_MADE]

    def _upgrade(self) -> None:
        """Brings fields of old files up to date."""

    def _own_fields(self) -> dict[str, Any]:
        """All fields, tensors as Tensors; not what takes the place of a method."""
        fields = {**self.__dict__, **self.tensors.__dict__}
        del fields["tensors"]
        return {
            name: value
            for name, value in fields.items()
            if value is not None and not callable(getattr(type(self), name, None))
        }

    def _to_fields(self) -> dict[str, Any]:
        """All fields as Lua has them."""
        return self._own_fields()

    def write(self, file: Any) -> None:
        """Saves the object: ``pythnn.save(file, self)``."""
        t7.save(file, self)

    def read(self, file: Any) -> Self:
        """Takes over the fields of an object of the same class in a .t7 file; returns itself."""
        found = t7.load(file)
        if type(found) is not type(self):
            raise THNNArgumentError.expected(
                f"{self.typename()}.read", 1, "file", f"a {self.typename()}", type(found).__name__
            )
        self.__dict__.clear()
        self.__dict__.update(found.__dict__)
        return self

    # ---- Names, copies, types

    @classmethod
    def typename(cls) -> str:
        """The Torch name of the class: ``nn.Linear``."""
        name: str = cls.__dict__.get("_torch_name") or f"nn.{cls.__name__}"
        return name

    def clone(self) -> Self:
        """A deep copy."""
        return copy.deepcopy(self)

    @overload
    def type(self, type: None = None, tensorCache: TypeCache | None = None) -> str: ...
    @overload
    def type(self, type: DTypeLike, tensorCache: TypeCache | None = None) -> Self: ...
    def type(self, type: Any = None, tensorCache: TypeCache | None = None) -> Any:
        """Converts all tensors, those of whole numbers too; returns the object.

        `type` is ``torch.FloatTensor``, ``torch.DoubleTensor`` or a dtype; or with
        ``torch.CudaTensor`` (float32) or ``torch.CudaDoubleTensor``, all tensors move to CuPy's
        current device. Without it the result is the name of the type that the object has.
        """
        if type is None:
            return self._type
        cache = tensorCache or TypeCache(type)
        if self in cache.objects:
            return self
        cache.objects.add(self)
        for name, value in self.__dict__.items():
            if name != "tensors":
                self.__dict__[name] = cache.convert(value)
        for name, value in self.tensors.__dict__.items():
            converted = cache.convert(value, name in self._of_fixed_type)
            setattr(self.tensors, name, converted)
        for name, dtype in self._emptied_by_type.items():
            setattr(self.tensors, name, [] if dtype is None else cache.empty(dtype))
        object.__setattr__(self, "_type", cache.name)  # a property of criterions
        if not cache.depth:
            cache.convert_rest()
        return self

    def float(self) -> Self:
        """Converts to float32 in the CPU's memory; returns the object."""
        return self.type("torch.FloatTensor")

    def double(self) -> Self:
        """Converts to float64 in the CPU's memory; returns the object."""
        return self.type("torch.DoubleTensor")

    def cuda(self) -> Self:
        """Converts to float32 on CuPy's current device; returns the object."""
        return self.type("torch.CudaTensor")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of the object's tensors."""
        return dtype_of_type(self._type)

    def __repr__(self) -> str:
        return self.typename()


def _shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of an array, a Tensor, a list of numbers or a number; None of anything else."""
    if isinstance(value, Tensor) or is_array(value):
        return tuple(value.shape)
    try:
        array = np.asarray(value)
    except (ValueError, Warning):  # rows of different lengths, of which old numpy warns
        return None
    return array.shape if array.dtype.kind in "fiub" else None


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [size for size in shape if size != 1]
