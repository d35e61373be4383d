"""Build scripts: what the binding knows about the C library, read from its headers.

Run by CMake as ``python -m pythnn._build``; not part of the installed package.
"""
