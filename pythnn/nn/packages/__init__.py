"""The classes of smaller packages, which well-known models are made of."""

from __future__ import annotations

from collections.abc import Callable

from ..object.object import AnyObject, register

__all__ = ["register_in"]


def register_in(package: str) -> Callable[[AnyObject], AnyObject]:
    """Makes a class known as ``package.Name``; it stays in its own Python module."""

    def named(cls: AnyObject) -> AnyObject:
        module = cls.__module__
        register(f"{package}.{cls.__name__}")(cls)
        cls.__module__ = module
        return cls

    return named
