"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of what is at `path` when the block ends.

    Until then, and for good where the block raises or the process ends, the old file stays as it
    is, and so does memory that is mapped from it. The new one gets its permissions. A link goes on
    pointing where it points. What is no ordinary file, such as a pipe, is written to directly, and
    so is a file in a folder that takes no new ones.

    Raises
    ------
    OSError
        The file cannot be written: there is no such folder, no right to, no space.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".pythnn-{secrets.token_hex(8)}.tmp")
    made = _new_file(Path(path), target, beside)
    if made is None:
        with Path(path).open("wb") as file:
            yield file
        return
    try:
        with made as file:
            yield file
            file.flush()
            _copy_permissions(target, file.fileno())
            os.fsync(file.fileno())
            if os.fstat(file.fileno()).st_nlink == 0:  # it has no name yet
                os.link(f"/proc/self/fd/{file.fileno()}", beside, src_dir_fd=file.fileno())
        _put_in_place(beside, target)
    finally:
        beside.unlink(missing_ok=True)
    _keep_names_of(target.parent)


def _new_file(path: Path, target: Path, beside: Path) -> BinaryIO | None:
    """An empty file beside another; None where the other has to be opened itself."""
    if not _is_replaceable(path):
        return None
    if target.exists():
        os.close(os.open(target, os.O_WRONLY))  # raises where the old file must not be changed
    try:
        return os.fdopen(_descriptor(beside), "w+b")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None  # opening it raises the same, with its name, unless it can be overwritten
    except OSError as error:
        error.filename = str(path)
        raise


def _is_replaceable(path: Path) -> bool:
    """Whether a path is that of an ordinary file, or of one to be made.

    /dev/stdout and other names of open files are not: whoever opened the file keeps the old one.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            return False
    while True:
        if Path(os.path.realpath(path.parent)).is_relative_to("/proc"):
            return False
        if not path.is_symlink():
            return True
        path = path.parent / path.readlink()


def _descriptor(path: Path) -> int:
    """A new file; where the system can do it, one that gets this name later.

    Of such a file nothing is left, however the process ends.
    """
    nameless = getattr(os, "O_TMPFILE", 0)
    if nameless and Path("/proc/self/fd").is_dir():  # which is where it gets the name
        with suppress(OSError):  # of file systems that cannot; else the next call raises the same
            return os.open(path.parent, nameless | os.O_RDWR, 0o666)
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)


def _copy_permissions(source: Path, file: int) -> None:
    """Gives a file the owner and the permissions of another, if there is that."""
    try:
        old, new = source.stat(), os.fstat(file)
    except FileNotFoundError:
        return
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(PermissionError):  # only root gives files away
            os.fchown(file, old.st_uid, old.st_gid)
    os.fchmod(file, stat.S_IMODE(old.st_mode))


def _put_in_place(beside: Path, target: Path) -> None:
    try:
        beside.replace(target)
    except OSError as error:
        if error.errno not in (errno.EBUSY, errno.EACCES, errno.EPERM):
            raise
        # A file that is mounted by itself, as in containers, or that is another user's in a shared
        # folder, can only be overwritten.
        with beside.open("rb") as made, target.open("wb") as old:
            shutil.copyfileobj(made, old)


def _keep_names_of(folder: Path) -> None:
    """Writes a folder's names to the disk, where the file system can."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
