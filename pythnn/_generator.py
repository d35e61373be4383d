"""Random numbers."""

from __future__ import annotations

import operator
from typing import Any

from ._closing import Closing
from ._errors import THNNArgumentError, THNNError
from ._library import ffi, lib, native, own

__all__ = ["Generator"]


class Generator(Closing):
    """A Mersenne twister (MT19937) with Torch7's sequences.

    Parameters
    ----------
    seed : int or None
        From 0 to 2**64 - 1, of which the low 32 bits count; None takes one from the system.

    Not safe to share between threads. A closed generator is refused by every call.
    """

    __slots__ = ("__weakref__", "_c")

    _c: Any

    def __init__(self, seed: int | None = None) -> None:
        self._c = own("THGenerator *", native.pythnn_ownGenerator)
        if seed is not None:
            self.manual_seed(seed)

    def _open(self) -> Any:
        if self._c is None:
            raise THNNError("the Generator is closed")
        return self._c

    def manual_seed(self, seed: int) -> None:
        """Starts the sequence of this seed."""
        try:
            number = operator.index(seed)
        except TypeError:
            number = -1
        if isinstance(seed, bool) or not 0 <= number < 2**64:
            raise THNNArgumentError.expected(
                "Generator", 1, "seed", "an int from 0 to 2**64 - 1", repr(seed)
            )
        lib.THRandom_manualSeed(self._open(), number)

    @property
    def seed(self) -> int:
        """The seed that the sequence started from."""
        return int(lib.THRandom_initialSeed(self._open()))

    def random(self) -> int:
        """32 random bits."""
        return int(lib.THRandom_random(self._open()))

    def uniform(self, a: float = 0.0, b: float = 1.0) -> float:
        """A number from [a, b)."""
        return float(lib.THRandom_uniform(self._open(), a, b))

    def normal(self, mean: float = 0.0, stdv: float = 1.0) -> float:
        """A normally distributed number; `stdv` must be positive."""
        return float(lib.THRandom_normal(self._open(), mean, stdv))

    def bernoulli(self, p: float = 0.5) -> bool:
        """True with probability `p`."""
        return bool(lib.THRandom_bernoulli(self._open(), p))

    def to_bytes(self) -> bytes:
        """The state: what a generator goes on from, and nothing else."""
        return bytes(ffi.buffer(self._open()))

    @classmethod
    def from_bytes(cls, content: bytes) -> Generator:
        """A generator that goes on from a state; ValueError for other bytes."""
        return _restore(content)

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._c is None

    def close(self) -> None:
        """Frees the generator, once no call uses it any more."""
        self._c = None

    def __copy__(self) -> Generator:
        other = type(self)(0)
        lib.THGenerator_copy(other._c, self._open())
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Generator:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.to_bytes(),))

    def __repr__(self) -> str:
        return "Generator(closed)" if self._c is None else f"Generator(seed={self.seed})"


def _restore(content: bytes) -> Generator:
    loaded = ffi.new("THGenerator *")
    if len(content) != ffi.sizeof("THGenerator"):
        raise ValueError("not the state of a Generator")
    ffi.buffer(loaded)[:] = content
    fresh = (loaded.left, loaded.next) == (1, 0)
    if not lib.THGenerator_isValid(loaded) or not (fresh or loaded.left + loaded.next == 625):
        raise ValueError("not the state of a Generator")
    generator = Generator(0)
    lib.THGenerator_copy(generator._c, loaded)
    return generator
